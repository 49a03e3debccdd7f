/* Annotations: calls by which the program or its instrumentation informs the recorder.
 *
 * annotate.c: assertions, transactions, orders and regions to ignore (foretell/annotate.h).
 * tsan_interface.c: the same by the names of ThreadSanitizer's interface. symbolic.c: terms over
 * the values read, from programs that are built with --symbolic.
 *
 * Imports: accesses, exploring, libc, log, raw, replay, scheduling, state, common/trace. */
#ifndef FT_RECORD_ANNOTATIONS_H
#define FT_RECORD_ANNOTATIONS_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* ---- annotate.c: an order by the address `what`. FT_RAW_CHANNEL_OUT: earlier events come before
 * those after each later FT_RAW_CHANNEL_IN of that address. */
void ft_rt_meet(const volatile void *what, uint64_t direction, const void *pc);

/* ---- symbolic.c */
bool ft_sym_built(void); /* was any part of the program built with --symbolic? */
void ft_sym_start(void); /* terms are recorded from now on */

#pragma GCC visibility pop

#endif
