/* Which schedules a program takes under a set, found before it runs. Where a selector depends on
 * what a loop computes (program/loops.h), the schedule of an epoch is known only when the loop has
 * been left, so a native program cannot select it when the epoch begins. The interpreter can go
 * ahead: a program without data races does the same under the set as the interpreter does.
 *
 * The threads take turns, and the process ends only when no thread can do anything else. Inputs are
 * known by name alone, and each has one value in the whole run. */
#ifndef FT_SCHEDULES_FORESEE_H
#define FT_SCHEDULES_FORESEE_H

#include "program/interpret/interpreter.h"
#include "schedules/schedules.h"

/* The value of every input of that name. */
typedef uint64_t (*ft_foresee_value)(void *context, const char *name);

typedef struct ft_foreseen {
    uint32_t epoch;
    uint32_t schedule; /* in the epoch's; FT_NO_SCHEDULE: none covers the state, and none follows */
} ft_foreseen;
typedef FT_VEC(ft_foreseen) ft_foreseen_path;

typedef struct ft_foresee_options {
    ft_foresee_value value;
    void *context;
    uint64_t most; /* instructions of the whole run, and of operations a thousandth; 0: a billion */
} ft_foresee_options;

/* Appends the schedules of the run's epochs, in their order; the first is the entry's. A run that
 * leaves its schedule ends there: its last schedule is the one that it left. FT_LIMIT: the run is
 * longer. FT_INPUT: it comes to a point where what decides between two schedules is never known;
 * the path is as it was. */
ft_status ft_schedules_foresee(const ft_program *program, const ft_schedule_set *set,
                               const ft_foresee_options *options, ft_foreseen_path *path,
                               ft_error *err) FT_MUST_CHECK;

#endif
