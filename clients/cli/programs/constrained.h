/* Constrained runs (`foretell run`): a native program follows the schedules of a set
 * (schedules/schedules.h) that its inputs, and in later epochs its state, select. */
#ifndef FT_CLI_CONSTRAINED_H
#define FT_CLI_CONSTRAINED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/strbuf.h"

/* A set and the schedule that was selected for its entry. */
typedef struct ft_constrained_set ft_constrained_set;

/* The value of an input of the program; false: not known. */
typedef bool (*ft_constrained_value)(void *context, const char *name, uint64_t *value);

/* Reads the text of a set, and selects. FT_INPUT: it is malformed. `value` is asked by
 * ft_constrained_make, too. */
ft_status ft_constrained_open(const char *text, size_t length, ft_constrained_value value,
                              void *context, ft_constrained_set **set, ft_error *err) FT_MUST_CHECK;
void ft_constrained_close(ft_constrained_set *set); /* accepts NULL */

/* The schedule's name; NULL: none covers the inputs. */
const char *ft_constrained_name(const ft_constrained_set *set);
bool ft_constrained_is_stuck(const ft_constrained_set *set); /* it ends with threads that wait */

typedef struct ft_constrained_way {
    bool stops;      /* a run that leaves the schedule is ended; else it goes on freely */
    uint64_t delays; /* a seed: the runtime makes random delays; 0: none */
} ft_constrained_way;

/* Appends the content of the file (record/raw/constrained.h) by which the program, a file built
 * with foretell-cc -g from the set's source, follows the schedule, which there is, and those of the
 * epochs behind it. FT_INPUT: it has no debug information, no code for one of the places, or no
 * variable that a selector needs. */
ft_status ft_constrained_make(const ft_constrained_set *set, const char *program,
                              ft_constrained_way way, ft_strbuf *out, ft_error *err) FT_MUST_CHECK;

/* Of the file after a run with delays: did every operation come behind those that its schedule
 * wants before it? */
bool ft_constrained_kept(char *file);
/* Appends how the run went: the meaning of its outcome, and where it left the schedule. */
void ft_constrained_print(const ft_constrained_set *set, char *file, ft_strbuf *out);

#endif
