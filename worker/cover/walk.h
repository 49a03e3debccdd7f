/* The inside of constrained.h: paths of a walk along a schedule, for constrained.c and merge.c
 * alone. */
#ifndef FT_COVER_WALK_H
#define FT_COVER_WALK_H

#include "cover/constrained.h"

/* How often a path has stood before a branch that leaves a loop. */
typedef struct cover_visit {
    uint32_t thread, depth, function, instruction, n;
    size_t conditions; /* of the state, at the first time */
} cover_visit;

/* A path so far. Threads are numbers of the world, but for `done` and `stopped`. */
typedef struct path {
    ft_sym_state *m;
    uint32_t node;                      /* the next one in the schedule's order */
    uint32_t done[FT_SCHEDULE_THREADS]; /* by thread of the schedule */
    bool stopped[FT_SCHEDULE_THREADS];  /* it stands before the process's end */
    bool left;                          /* a node was left out */
    uint32_t created[FT_SYM_THREADS];
    struct {
        bool is;
        uint32_t object;
        uint64_t at;
    } * bound;    /* by object of the schedule */
    bool *parted; /* by schedule of the epoch; NULL: no input is dynamic */
    FT_VEC(ft_term) terms;
    FT_VEC(cover_touch) touches;
    FT_VEC(cover_visit) visits;
    uint32_t outside; /* bits of the walk's loops that the path has left */
} path;
typedef FT_VEC(path) cover_paths;

/* A loop whose rounds are explored: the frame in which it is, and its instructions. */
typedef struct cover_round {
    uint32_t thread, depth, function;
    const bool *inside; /* by instruction of the function */
} cover_round;

typedef struct walking {
    const cover_following *f;
    ft_schedule_order order;
    uint32_t numbers[FT_SCHEDULE_THREADS]; /* by thread of the schedule: its number in the world */
    uint32_t names[FT_SYM_THREADS];        /* the other way; FT_NO_ID: none */
    cover_paths paths;
    path *at;           /* the path at hand, which the follower adds to */
    uint32_t operation; /* thread of the world + 1 that carries out an operation at hand; 0: none */
    ft_sym_place places[FT_SYM_THREADS]; /* where each thread is */
    FT_VEC(cover_round) rounds;          /* of loops in loops */
    uint64_t leaves;
    ft_error *err;
} walking;

void cover_path_drop(path *p);
path cover_path_copy(const walking *w, const path *from);
/* May the path go on? *infeasible: no inputs lead there. FT_LIMIT, FT_BUDGET: something is left
 * out. */
ft_status cover_path_check(walking *w, const path *p, bool *infeasible) FT_MUST_CHECK;

/* All ways of the thread, which stands before a branch, to its next operations, or to its end: the
 * path, which it takes over, goes to `out` as one path for each set of ways that are alike
 * (symbolic/meet.h). FT_LIMIT: they cannot be told, or are too many. */
ft_status cover_merge_ways(walking *w, path *p, uint32_t thread, cover_paths *out) FT_MUST_CHECK;

#endif
