/* Rewinding: run after run of the program inside one process, without making one for a run.
 *
 *   if ((why = ft_rt_rewinding_start(&calls)))   // at the first choice, on the first thread's
 * stack
 *       ...;                                     // it cannot be had; nothing has changed
 *   ...                                          // here begins each run
 *   ft_rt_rewinding_end();                       // here each run ends, in any thread
 *
 * Threads are contexts of one kernel thread (contexts.h). A run that ends goes over to the
 * *explorer*, which has a stack of its own in kept memory (kept.h): it calls `ended`, copies the
 * memory of the first choice back (snapshot.h), calls `next` and lets the next run begin. So the
 * runtime's state falls into two halves: the model's is in ordinary memory and rewound; the
 * search's and the log's is in kept or shared memory.
 *
 * A run that crashes ends too: its signal is taken on a stack of the explorer's. A run may leave
 * something in the kernel that no copying of memory takes back: a mapping, a descriptor, a handler.
 * Whoever sees it calls ft_rt_rewinding_spoil; `next` then has the process replaced by a fresh copy
 * of the one that stands at the first choice. The run itself was right.
 *
 * Imports: libc, raw. */
#ifndef FT_RECORD_REWINDING_H
#define FT_RECORD_REWINDING_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "rewinding/contexts.h"

#pragma GCC visibility push(hidden)

typedef struct ft_rt_rewinding_calls {
    /* Both on the explorer's stack. ended: a run is over, and its memory is still there. next: the
     * memory is as at the first choice, and a run begins when it returns. spoilt: what the last run
     * left behind; it then ends the process. */
    void (*ended)(void);
    void (*next)(const char *spoilt);
    /* A signal would have ended the process; the run ends when it returns. It may change kept and
     * shared memory alone. */
    void (*crashed)(int number, const siginfo_t *info);
    /* The program has run for that long and *moves has not changed: on the stack of the running
     * thread, wherever it is. It returns, or ends the run. */
    void (*hung)(void);
    const uint32_t *const *moves; /* where to look, of the run at hand */
    uint32_t patience_ms;         /* of processor time */
    uint32_t reserve;             /* threads that a run makes without the kernel */
    bool track;                   /* false: written pages are not tracked (for tests) */
} ft_rt_rewinding_calls;

/* NULL, once for each run; or why it cannot be had. Called by the process's only thread. */
const char *ft_rt_rewinding_start(const ft_rt_rewinding_calls *calls);
bool ft_rt_rewinds(void); /* has it been started? Then threads are contexts */
/* The first thread's context. */
ft_rt_context *ft_rt_rewinding_first(void);
void ft_rt_rewinding_end(void) __attribute__((noreturn));

/* The run at hand leaves something behind; the first reason counts. A text that lasts. */
void ft_rt_rewinding_spoil(const char *why);
bool ft_rt_rewinding_in_run(void); /* else the explorer goes on, if it has been started */
uint64_t
ft_rt_rewinding_cost(void); /* of a rewind, in nanoseconds: the least so far; 0: none yet */

/* Checks in a forked child that contexts and rewinding work with this C library: NULL, or what does
 * not. */
const char *ft_rt_rewinding_test(void);

#pragma GCC visibility pop

#endif
