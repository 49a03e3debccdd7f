/* Is an execution, in the interpreter, where an epoch begins? The threads stand at its places, and
 * the state is one that the epoch describes: its cells and registers have that content, its
 * synchronisation objects are as it says, and all else is as at the program's start. It reads the
 * content of places, too, which selectors depend on.
 *
 * Objects of the heap and the stack are found by the addresses that known cells hold, and stack
 * objects also by the register that has their address. One that nothing leads to is not looked at.
 */
#ifndef FT_SCHEDULES_ARRIVAL_H
#define FT_SCHEDULES_ARRIVAL_H

#include "program/interpret/interpreter.h"
#include "schedules/schedules.h"

typedef struct ft_arrival {
    const ft_schedule_set *set;
    uint32_t epoch; /* in the set */
    const ft_program *program;
    const ft_interpreter *interpreter;
    uint32_t threads[FT_SCHEDULE_THREADS]; /* by thread of the epoch: that of the interpreter */
    uint64_t *objects;                     /* by object of the epoch: its address; 0: not found */
} ft_arrival;

/* Finds the epoch's objects. All that is given outlives it. */
void ft_arrival_init(ft_arrival *arrival, const ft_program *program, const ft_schedule_set *set,
                     uint32_t epoch, const ft_interpreter *interpreter, const uint32_t *threads);
void ft_arrival_release(ft_arrival *arrival);

/* The content of a place of the state; false: there is no such place. */
bool ft_arrival_read(const ft_arrival *arrival, const char *place, uint8_t width, uint64_t *bits);

/* Does the epoch describe the state? FT_INPUT: it does not, the error says where. Inputs that its
 * `init` has are asked for by `value`. */
ft_status ft_arrival_check(const ft_arrival *arrival, ft_schedule_value value, void *context,
                           ft_error *err) FT_MUST_CHECK;
/* The epoch's selector, as ft_schedule_select: unknowns are read, inputs are asked for. */
ft_status ft_arrival_select(const ft_arrival *arrival, ft_schedule_value value, void *context,
                            uint32_t *schedule, ft_error *err) FT_MUST_CHECK;

#endif
