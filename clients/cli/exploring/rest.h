/* An exploration that was interrupted, as a file from which another process goes on (--resume).
 *
 * The file has what the search does not meet again: the part at hand and its subtrees that are open
 * (explore/subtree.h), what the parts before it came to, and the numbers that threads have. What
 * was seen in the program (failures, races, ...) is not written down: the runs that showed it are,
 * and are made again. */
#ifndef FT_CLI_EXPLORING_REST_H
#define FT_CLI_EXPLORING_REST_H

#include "exploring/exploring.h"

/* The parts of an exploration, in their order. */
typedef enum ft_stage {
    FT_STAGE_SYNC,   /* synchronisation alone */
    FT_STAGE_ROUNDS, /* more rounds of loops; begins again */
    FT_STAGE_PLAIN   /* accesses of races are points too */
} ft_stage;

/* Embedded: zero-initialise. */
typedef struct ft_rest {
    uint64_t stage;         /* ft_stage */
    ft_run_setting setting; /* of the part at hand; n 0: it has not begun */
    ft_x_rest plan;         /* of the part at hand */
    ft_x_outcome sync;      /* of the first part, where it has ended */
    char *lingering;        /* ft_explored_part of that part; NULL: none */
    uint64_t runs;
    FT_VEC(uint64_t) points;
    FT_VEC(ft_exploring_thread) threads;
    FT_VEC(ft_kept_run) kept;
    FT_VEC(ft_native_output_name) outputs; /* of runs that pass */
} ft_rest;

void ft_rest_release(ft_rest *rest);

/* Of the program, its arguments and the options that decide what its runs are; heap. */
char *ft_rest_digest(const ft_options *options);
/* *found false: there is no such file. FT_USAGE: it is not of this exploration. */
ft_status ft_rest_load(const char *path, const char *digest, ft_rest *rest, bool *found,
                       ft_error *err) FT_MUST_CHECK;
/* Replaces the file. */
ft_status ft_rest_save(const char *path, const char *digest, const ft_rest *rest,
                       ft_error *err) FT_MUST_CHECK;

#endif
