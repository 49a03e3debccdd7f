/* The C library beneath the hooks: its real functions, its allocator, messages and memory.
 *
 * Each hook stands in front of a function of the C library and calls it by FT_REAL. The runtime
 * itself never calls malloc or stdio: it maps its memory (ft_rt_map) and prints by the system call
 * (ft_rt_say). Mappings of the runtime lie far from those of the program, so that the program's
 * addresses are the same recorded and replayed.
 *
 * Imports: raw, state. */
#ifndef FT_RECORD_LIBC_H
#define FT_RECORD_LIBC_H

#include <stdbool.h>
#include <stddef.h>

#include "libc/weak.h"

#pragma GCC visibility push(hidden)

/* ---- real.c: the functions that the hooks stand in front of */
typedef struct ft_rt_real_one {
    const char *name;
    void *at; /* NULL: not looked up yet */
} ft_rt_real_one;

#define FT_REAL(function)                                                                          \
    ({                                                                                             \
        static ft_rt_real_one real_one                                                             \
            __attribute__((section("ft_real"), used)) = {#function, NULL};                         \
        if (!real_one.at) real_one.at = ft_rt_real(#function);                                     \
        (__typeof__(&function))real_one.at;                                                        \
    })
/* Looks up all of them. Called before the program has a second thread: later the dynamic linker's
 * lock may be held by a thread that waits for the baton. */
void ft_rt_real_start(void);
void *ft_rt_real(const char *name); /* ends the process if no library has it */
bool ft_rt_is_own(const void *pc);  /* is pc code of the C or the C++ library? */

/* Prints "foretell: text" on standard error, without stdio. */
void ft_rt_say(const char *text);

/* The address at which the runtime maps its next `size` bytes. */
void *ft_rt_away(size_t size);
/* Zeroed pages, never returned; ends the process if there are none. */
void *ft_rt_map(size_t size);

/* ---- allocator.c: the C library's own allocator. All memory of the program comes from it, even
 * if another allocator is loaded. */
typedef struct ft_rt_allocator {
    void *(*malloc)(size_t size);
    void *(*calloc)(size_t n, size_t size);
    void *(*realloc)(void *memory, size_t size);
    void *(*memalign)(size_t alignment, size_t size);
    void (*free)(void *memory);
    size_t (*size_of)(void *memory); /* usable size of a block; this one is found last */
} ft_rt_allocator;
extern ft_rt_allocator ft_rt_own_allocator;
const ft_rt_allocator *ft_rt_find_allocator(void);

static inline const ft_rt_allocator *ft_rt_libc(void)
{
    return ft_rt_own_allocator.size_of ? &ft_rt_own_allocator : ft_rt_find_allocator();
}

#pragma GCC visibility pop

#endif
