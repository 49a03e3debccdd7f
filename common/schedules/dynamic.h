/* Dynamic inputs, and the schedule trees that they make of a set (Bergan 3.2.1, 3.6.2).
 *
 * A dynamic input is not known when its epoch begins, but from when its thread has read it; which
 * of its thread's values it is is counted from the epoch's begin. Until
 * then several schedules are *possible*: those that the selector can take, whatever the inputs are
 * that are not known. Whoever runs a program under the set lets a thread take an operation when all
 * possible schedules agree on it: that it is the thread's next node, with the same nodes before it.
 * Else the thread waits until enough is known. So a set with dynamic inputs is a tree: schedules
 * part where an input that decides between them has been read.
 *
 * Names are compared: texts of one set are equal if their numbers are. */
#ifndef FT_SCHEDULES_DYNAMIC_H
#define FT_SCHEDULES_DYNAMIC_H

#include "schedules/schedules.h"

/* Has the epoch a dynamic input? */
bool ft_schedule_is_tree(const ft_schedule_set *set, uint32_t epoch);

/* By schedule of the epoch: can its selector take it? `value` knows what is known. FT_NOT_FOUND:
 * an input that is not dynamic is not known; the error names it. */
ft_status ft_schedule_possible(const ft_schedule_set *set, uint32_t epoch, ft_schedule_value value,
                               void *context, bool *possible, ft_error *err) FT_MUST_CHECK;

/* The condition on known inputs under which the schedule is possible; known: by input of the set.
 * A Bool term of the set's pool. */
ft_term ft_schedule_possible_condition(ft_schedule_set *set, uint32_t epoch, uint32_t schedule,
                                       const bool *known);

/* The node of that number, from 1, of the thread of that name (a text); FT_NO_ID: none. */
uint32_t ft_schedule_node_of(const ft_schedule *schedule, uint32_t thread, uint32_t number);
/* Have two schedules of one set the same node there, or both none? */
bool ft_schedules_agree(const ft_schedule *a, const ft_schedule *b, uint32_t thread,
                        uint32_t number);
/* Do two schedules of one epoch go on in the same epoch, with the same threads, or both in none? */
bool ft_schedules_go_on_alike(const ft_schedule *a, const ft_schedule *b);

#endif
