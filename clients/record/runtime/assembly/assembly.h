/* Inline assembly: accesses of instructions that no compiler hook sees.
 *
 * The assembler foretell-as (clients/record/assembler) puts calls around such instructions. Between
 * the two calls around a write the thread has the baton and is inside.
 *
 * Imports: accesses, inputs, libc, log, raw, replay, scheduling, state, common/trace. */
#ifndef FT_RECORD_ASSEMBLY_H
#define FT_RECORD_ASSEMBLY_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* The write of inline assembly that the calling thread is between the two calls of. */
typedef struct ft_rt_at_hand {
    uintptr_t address; /* 0: none */
    unsigned kind, size_code;
    bool plain;        /* not an atomic access */
    const void *pc;    /* return address of the call before it */
    int64_t before[2]; /* the memory's content then, by eight bytes */
} ft_rt_at_hand;
/* For the handler of a fault. take: the write has not happened; put: the instruction is tried
 * again, unless (false) the handler changed `context` so that the program goes on elsewhere. */
ft_rt_at_hand ft_rt_take_at_hand(void);
bool ft_rt_put_at_hand(ft_rt_at_hand taken, const void *context);
/* Is the calling thread, with that context, between the call before a read of inline assembly and
 * the read? The memory must not change there: the log has its value already. */
bool ft_rt_reads(const void *context);

#pragma GCC visibility pop

#endif
