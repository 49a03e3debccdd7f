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

/* What a run has. */
typedef struct ft_constrained_given {
    uint64_t (*value)(void *context, const char *name); /* of the input of that name */
    void *context;
    const char *program; /* the file with the program that the set is of, or its source; NULL: it is
                            not given */
} ft_constrained_given;

/* Reads the text of a set, and selects. FT_INPUT: it is malformed, or of another program. Where it
 * needs what loops compute, the interpreter executes the program, to find which schedules the run
 * takes (schedules/foresee.h): FT_USAGE: the program is not given; else the errors of that, and of
 * ft_lowering_read. `value` is asked by ft_constrained_make, too. */
ft_status ft_constrained_open(const char *text, size_t length, const ft_constrained_given *given,
                              ft_constrained_set **set, ft_error *err) FT_MUST_CHECK;
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
