/* Range propagation over a transaction sequence graph (Ganai and Wang §4.2): the values that each
 * event reads and writes in any schedule of the trace's events, under the model ctp.
 *
 * A state holds the ranges of all shared variables and of every thread's locals. From the starts of
 * the threads it is carried along one transaction after the other, each behind at most one switch,
 * as many times as the graph has transactions; where several states meet they are joined. There is
 * no fixpoint: a schedule executes each transaction at most once.
 *
 * *Positions*: with d transactions done, a state also has for each thread the interval of its
 * boundary index. The indices add up to d, a switch leads to a node only where its index is in the
 * interval, and two threads are only where the lattice lets them be.
 *
 * Results are by event: what it reads, what it writes, what it assigns to locals, the value of its
 * condition. They hold for every event of every schedule, also one that ends in a deadlock. Nothing
 * is said of a variable at a place: equivalent schedules may differ there. */
#ifndef FT_INTERVALS_RANGES_H
#define FT_INTERVALS_RANGES_H

#include "reduce/intervals/evaluate.h"
#include "reduce/intervals/graph.h"

typedef enum ft_propagation {
    FT_PROPAGATE_CARRIED,    /* the paper's: locals are part of the state */
    FT_PROPAGATE_CUMULATIVE, /* a node's locals are all that its thread brought there so far */
    FT_PROPAGATE_POSITIONS   /* with positions; locals are carried, and met with those */
} ft_propagation;

typedef struct ft_ranges_options {
    ft_propagation kind;
    uint32_t lookahead; /* B: transactions of a path before states are joined; at least 1 */
    bool no_reach;      /* positions are not compared with the lattice */
    bool nodes;         /* keep the ranges of nodes */
    uint64_t work;      /* events and variables that are looked at, at most; 0: no limit */
    double deadline;    /* in ft_now_ms; 0: none */
} ft_ranges_options;

typedef struct ft_ranges {
    const ft_graph *graph;
    const ft_problem *problem;
    const ft_range_domain *domain;
    uint32_t n_slots;
    ft_sort *sorts;        /* per slot */
    uint32_t *shared_slot; /* [shared] FT_NO_SLOT: no event has it */
    uint32_t **local_slot; /* per thread of the graph: [locals] */
    ft_map events;         /* event -> first of its ranges in `values` */
    FT_VEC(ft_range)
    values;                         /* of an event: by access, by assignment, its condition, and
                                       the symbols of an assertion's */
    FT_VEC(ft_range) probes;        /* by probe */
    FT_VEC(ft_range) probe_symbols; /* of the first probe, by symbol */
    ft_term_ranges terms;
    uint32_t n_terms;    /* that the pool had */
    ft_range *at_node;   /* [nodes * slots], if wanted; empty: never there */
    uint64_t work, runs; /* runs: executions of a transaction */
    uint32_t steps;      /* of the propagation */
} ft_ranges;

/* NULL: it would be more work than that, by an estimate or in fact, or take longer. probes: those
 * of the steps. */
ft_ranges *ft_ranges_new(const ft_graph *graph, const ft_probe *probes, uint32_t n_probes,
                         const ft_ranges_options *options);
void ft_ranges_free(ft_ranges *ranges); /* accepts NULL */

/* Of event e, of which the graph has steps (ft_stepping_has). Empty: no schedule executes it. */
ft_range ft_ranges_access(const ft_ranges *ranges, uint32_t e, uint32_t access);
ft_range ft_ranges_assignment(const ft_ranges *ranges, uint32_t e, uint32_t assignment);
ft_range ft_ranges_condition(const ft_ranges *ranges, uint32_t e); /* its guard; any: it has none */
/* Of an assertion: the number-th symbol of its condition (ft_term_symbols), where it is next. */
ft_range ft_ranges_symbol(const ft_ranges *ranges, uint32_t assertion, uint32_t number);

/* The metric (Ganai and Wang §4.3): bits of the ranges of locals and of shared variables right
 * behind the events that assign them, and of all shared variables where a transaction begins.
 * Needs the ranges of nodes. */
void ft_ranges_metric(const ft_ranges *ranges, uint64_t *local_bits, uint64_t *global_bits);

#endif
