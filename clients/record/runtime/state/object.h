/* Synchronisation objects as the runtime models them (sync/objects.c has the table of them). */
#ifndef FT_RECORD_OBJECT_H
#define FT_RECORD_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "raw/raw.h"

struct ft_rt_thread;

/* A robust mutex: usable; its owner has ended; the next owner has been told; that owner unlocked it
 * without making it consistent. */
typedef enum ft_rt_health { FT_RT_SOUND, FT_RT_ABANDONED, FT_RT_TOLD, FT_RT_LOST } ft_rt_health;

typedef struct ft_rt_object {
    uintptr_t address;
    ft_raw_class class;
    uint32_t id;
    uint32_t kind; /* mutex: PTHREAD_MUTEX_*; rwlock: FT_RAW_RWLOCK_*; barrier: its count */
    struct ft_rt_thread *owner; /* of a mutex, or of an rwlock held for writing; else NULL */
    uint32_t count;      /* mutex depth, readers, semaphore's count, arrivals, 1: once is done */
    uint32_t writers;    /* rwlock: threads that wait to write */
    uint32_t generation; /* barrier: rounds that are full */
    bool robust;
    ft_rt_health health;
    uint64_t *passed; /* once: one bit for each thread that has passed it; NULL: none has */
} ft_rt_object;

#endif
