/* Execution of a transaction over ranges: part of the propagation (ranges.c). */
#ifndef FT_INTERVALS_EXECUTE_H
#define FT_INTERVALS_EXECUTE_H

#include "reduce/intervals/ranges.h"

/* The state along a path. */
typedef struct ft_range_state {
    ft_range *slots;      /* by slot */
    uint32_t *low, *high; /* per thread: its boundary index */
    uint32_t *visited;    /* per thread: the node where this path left it, UINT32_MAX: not yet */
} ft_range_state;

/* An if that is open: the state of the arm that is not executed just now. */
typedef struct ft_open_arm {
    ft_range *other;
    bool other_alive;
} ft_open_arm;

typedef struct ft_executor {
    ft_ranges *r;
    const ft_stepping *steps;
    const ft_probe *probes;
    ft_evaluation evaluation;
    FT_VEC(ft_open_arm) open;
    FT_VEC(ft_range) results; /* of an event's assignments */
    ft_range *spare;          /* [slots] */
    bool discard;             /* nothing is recorded */
    bool alive;               /* the arm at hand can be executed */
} ft_executor;

void ft_executor_init(ft_executor *x, ft_ranges *r, const ft_probe *probes);
void ft_executor_release(ft_executor *x);
/* Thread i executes step p; slots are changed. False: no state gets past it. Between the first and
 * the last step of a transaction, ifs stay open. */
bool ft_executor_step(ft_executor *x, uint32_t i, uint32_t p, ft_range *slots);
/* The transaction ends: arms that are open are joined. False: no state gets there. */
bool ft_executor_close(ft_executor *x, ft_range *slots);

#endif
