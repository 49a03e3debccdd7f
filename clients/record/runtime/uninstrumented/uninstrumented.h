/* Uninstrumented code: models of library functions, whose own code has no hooks.
 *
 * The program's calls are linked to these functions (wrapper/wrapped.h). Each records the ranges
 * that the real function reads and writes, then calls it. containers.c reimplements the parts of
 * C++ containers that lie in libstdc++, and is compiled with hooks itself.
 *
 * Imports: accesses, exploring, inputs, libc, log, memory, process, raw, replay, scheduling, state,
 * common/trace. */
#ifndef FT_RECORD_UNINSTRUMENTED_H
#define FT_RECORD_UNINSTRUMENTED_H

#include "accesses/accesses.h"
#include "exploring/exploring.h"

#define CODE __builtin_return_address(0)

/* Declares and defines the function behind --wrap=name; REAL is the C library's. */
#define WRAP(result, name, parameters)                                                             \
    result __real_##name parameters;                                                               \
    result __wrap_##name parameters;                                                               \
    result __wrap_##name parameters

/* The runtime's own calls come here too, but not of code that explored threads run. */
static inline bool is_programs(void)
{
    if (__builtin_expect(ft_rt_exploring, 0)) return ft_rt_x_self != NULL;
    return ft_rt_self && !ft_rt_self->inside;
}

static inline void reads(const void *memory, size_t size, const void *pc)
{
    if (is_programs()) ft_rt_read_range(memory, size, pc);
}

static inline void writes(void *memory, size_t size, const void *pc)
{
    if (is_programs()) ft_rt_write_range(memory, size, pc);
}

static inline size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

#endif
