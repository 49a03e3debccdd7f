/* The function that the hooks of accesses call and that a folder above them defines. */
#ifndef FT_RECORD_ACCESSES_NEEDS_H
#define FT_RECORD_ACCESSES_NEEDS_H

#include "state/thread.h"

#pragma GCC visibility push(hidden)

/* sync/once.c: the thread reads 1 at that address, by the code at `pc`. If it is the guard of
 * a static object, the first such read of a thread is the event that passes the guard, and later
 * ones are not events; false: it is not a guard. */
bool ft_rt_guard_passed(const ft_rt_thread *self, const volatile void *address, const void *pc);

#pragma GCC visibility pop

#endif
