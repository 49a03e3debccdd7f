/* Chains of epochs: inputs with which a run under a set comes from the program's entry to a later
 * epoch, in a state in which a condition holds.
 *
 * Certificates of a later epoch begin with all states that the epoch describes (certify.h), also
 * with those that no run has there (notes on Bergan, §4: a witness that is not confirmed). The
 * search goes backward by weakest preconditions. A path of a schedule that goes on in the epoch
 * leads there with the condition if its decisions hold, if the epoch describes the state behind
 * it, and if the condition holds for the contents of that state. That is a condition of the
 * schedule's own epoch, and so on, breadth first, up to the entry, whose conditions are about
 * inputs alone. A condition is left out if it implies those that were met in its epoch before:
 * whatever leads there was or will be looked at.
 *
 * Inputs are named as from the entry: by thread, and which of the thread's values of the name. */
#ifndef FT_COVER_REACH_H
#define FT_COVER_REACH_H

#include "cover/run.h"

/* The value of an input: the n-th (from 0) that the thread reads of the name in the whole run. */
typedef struct cover_given {
    const char *thread, *name; /* thread: "0.1" */
    uint32_t n;
    uint8_t width;
    uint64_t bits;
} cover_given;

typedef enum cover_reached {
    COVER_REACHED, /* `run` took the inputs */
    COVER_NEVER,   /* no run under the set has the condition there */
    COVER_OPEN     /* something was left out, or `run` took no inputs */
} cover_reached;

typedef struct cover_goal {
    uint32_t epoch;    /* a later one */
    ft_term condition; /* over its unknowns and inputs: of cover_reach_import */
    /* Tries inputs that solve a chain; true: the search is over. The strings last for the call. */
    bool (*run)(void *context, const cover_given *given, size_t n);
    void *context;
} cover_goal;

typedef struct cover_reach cover_reach;
/* Program and set outlive it; terms are added to the set's pool. It has a world of its own, under
 * these options. FT_INPUT: an epoch of the set is not one of the program. */
ft_status cover_reach_new(const ft_program *program, ft_schedule_set *set,
                          const cover_world_options *options, cover_reach **reach,
                          ft_error *err) FT_MUST_CHECK;
void cover_reach_free(cover_reach *reach); /* accepts NULL */
/* A condition of the epoch at hand of the world, as the search's own. */
ft_term cover_reach_import(cover_reach *reach, const cover_world *world, ft_term condition);
/* Schedules are followed when a goal first needs them, and kept for the next ones. */
cover_reached cover_reach_search(cover_reach *reach, const cover_goal *goal);

#endif
