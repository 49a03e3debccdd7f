/* The kernel's interface to signal actions. The C library's hides the signal of the ticks, and
 * brings a return of its own. */
#ifndef FT_RECORD_REWINDING_SIGNALS_H
#define FT_RECORD_REWINDING_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum { FT_RT_MASK_SIZE = 8, FT_RT_RESTORER = 0x04000000 };

typedef struct ft_rt_kernel_action {
    void (*handler)(int, siginfo_t *, void *);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
} ft_rt_kernel_action;

void ft_rt_syscalls_return(void); /* a restorer whose system call is not reported (syscalls.h) */

#pragma GCC visibility pop

#endif
