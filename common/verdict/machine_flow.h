/* The machine on a trace that is being read: its tables grow, and it has the events of the current
 * block only. Functions that look at other events must not be called: ft_machine_next,
 * ft_machine_executed, ft_machine_ended, and ft_machine_ready for joins, edges, barriers and once
 * objects. */
#ifndef FT_VERDICT_MACHINE_FLOW_H
#define FT_VERDICT_MACHINE_FLOW_H

#include "verdict/machine.h"

/* The capacity of each of the machine's tables. */
typedef struct ft_machine_room {
    uint32_t threads, shared, locks, semaphores, edges, conditions, blocks;
} ft_machine_room;

/* Makes room for the trace's tables as they are now: before the first event, between blocks, and
 * before the machine is freed. *room: as the last call left it, at first ft_machine_room_of. */
ft_machine_room ft_machine_room_of(const ft_trace *trace);
void ft_machine_grow(ft_machine *machine, ft_machine_room *room);

/* Forgets the signals and broadcasts of a condition variable that can no longer wake a waiter,
 * given the threads that wait on it. */
void ft_machine_forget_notices(ft_machine *machine, uint32_t condition, const uint32_t *waiters,
                               size_t n_waiters);
size_t ft_machine_count_notices(const ft_machine *machine, uint32_t condition);

#endif
