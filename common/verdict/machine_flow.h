/* The machine on a trace that goes by: its tables grow, and its events are those that it has now.
 * What asks for others must not be asked: ft_machine_next, ft_machine_executed, ft_machine_ended,
 * and ft_machine_ready of joins, edges, barriers and once objects. */
#ifndef FT_VERDICT_MACHINE_FLOW_H
#define FT_VERDICT_MACHINE_FLOW_H

#include "verdict/machine.h"

/* For how much of each table the machine has room. */
typedef struct ft_machine_room {
    uint32_t threads, shared, locks, semaphores, edges, conditions, blocks;
} ft_machine_room;

/* Makes room for the trace's tables as they are; before the first event, between others, and before
 * the machine is freed. *room: as the last call left it, at first that of a machine just made. */
ft_machine_room ft_machine_room_of(const ft_trace *trace);
void ft_machine_grow(ft_machine *machine, ft_machine_room *room);

/* Forgets signals and broadcasts of a condition variable that can serve nobody any more, given the
 * threads that wait on it. */
void ft_machine_forget_notices(ft_machine *machine, uint32_t condition, const uint32_t *waiters,
                               size_t n_waiters);
size_t ft_machine_count_notices(const ft_machine *machine, uint32_t condition);

#endif
