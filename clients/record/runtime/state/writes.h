/* A thread's accesses that are not completely in the log yet: they wait for its next hook.
 *
 * The compiler's hook stands before the access. A write's value is therefore read at the thread's
 * next hook, when the write has happened. */
#ifndef FT_RECORD_WRITES_H
#define FT_RECORD_WRITES_H

#include <stdint.h>

enum { FT_RT_COPY = 256 }; /* bytes */

/* A plain write without a record so far: a range, or one outside of eight aligned bytes. The usual
 * write has its record already, without the value (ft_rt_late). */
typedef struct ft_rt_pending {
    uintptr_t address;
    uint64_t size; /* 0: none */
    uint32_t site;
    unsigned size_code; /* of the site */
} ft_rt_pending;

/* A plain write whose record stands in the log behind the mark and lacks its value. */
typedef struct ft_rt_late {
    uint64_t *value;   /* where its value belongs, NULL: none */
    uintptr_t address; /* of the written memory */
    uint32_t size;     /* a read of that size may be its copy's (ft_rt_held); 0: none may be */
    unsigned size_code;
    uint64_t *held; /* the record of that read; `value` has the content at its hook. NULL: none */
} ft_rt_late;

/* A read that may come before the pending write. gcc compiles the copy of a structure to: write
 * hook, read hook of the same size, copy. Such a read hook does not show which access comes first,
 * so the read is held until the next hook, where the content of the written memory shows it. Reads
 * above FT_RT_COPY are taken for copies. */
typedef struct ft_rt_held {
    uintptr_t address;
    uint64_t size; /* 0: none */
    uint32_t site;
    unsigned size_code;
    uint64_t value;                    /* of the memory read, at its hook; up to eight bytes */
    uint64_t before;                   /* of the memory of the pending write, at that hook */
    unsigned char content[FT_RT_COPY]; /* the same of other sizes */
    unsigned char content_before[FT_RT_COPY];
} ft_rt_held;

/* An atomic read of one byte that found 0. Compiled C++ reads the guard of a function's static
 * object like this before it calls __cxa_guard_acquire; then the two are one event. The thread's
 * next hook decides which it was (sync/once.c). */
typedef struct ft_rt_look {
    uintptr_t address; /* 0: none */
    const void *pc;
} ft_rt_look;

#endif
