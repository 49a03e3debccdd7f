/* A random trace and the interval analyses of it that are compared with its states. */
#ifndef INTERVAL_SUBJECT_H
#define INTERVAL_SUBJECT_H

#include "interval_oracle.h"

enum { INTERVAL_PROBES = 2, INTERVAL_WORK = 2000000 };

typedef struct interval_counts {
    uint64_t traces, analyses, left_out, values, stuck, branches, threads[8];
    uint64_t kinds[FT_EVENT_KINDS]; /* traces that have an event of the kind */
} interval_counts;

static inline uint64_t interval_number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

/* How one analysis is made. */
typedef struct interval_way {
    ft_mat_kind kind;
    ft_propagation propagation;
    uint32_t lookahead;
    bool whole, no_reach, dummy;
} interval_way;

static inline bool interval_analyse(const ft_machine *machine, const ft_problem *problem,
                                    const interval_way *way, const ft_probe *probes,
                                    uint32_t n_probes, interval_counts *counts, char *why,
                                    size_t size)
{
    const ft_stepping_options cut = {.whole = way->whole,
                                     .dummy = way->dummy,
                                     .probes = probes,
                                     .n_probes = n_probes,
                                     .most = 1000};
    const ft_transactions_options pairs = {.kind = way->kind, .work = INTERVAL_WORK};
    const ft_ranges_options walk = {.kind = way->propagation,
                                    .lookahead = way->lookahead,
                                    .no_reach = way->no_reach,
                                    .work = INTERVAL_WORK};
    ft_stepping *steps = ft_stepping_new(problem, &cut);
    ft_transactions *t = ft_transactions_new(steps, &pairs);
    ft_graph *g = t ? ft_graph_new(t) : NULL;
    ft_ranges *r = g ? ft_ranges_new(g, probes, n_probes, &walk) : NULL;
    interval_check check = {
        .machine = machine, .steps = steps, .ranges = r, .probes = probes, .n_probes = n_probes};
    const ft_monitor none = FT_NO_MONITOR;
    if (r) ft_explore(machine, &none, false, interval_visit, &check);
    counts->analyses += r != NULL;
    counts->left_out += r == NULL;
    counts->values += check.values;
    ft_ranges_free(r);
    ft_graph_free(g);
    ft_transactions_free(t);
    ft_stepping_free(steps);
    if (!check.wrong[0]) return true;
    snprintf(why, size, "graph %d, propagation %d, lookahead %u%s%s%s: %s", (int)way->kind,
             (int)way->propagation, way->lookahead, way->whole ? ", unsliced" : "",
             way->no_reach ? ", without the lattice" : "", way->dummy ? ", with a dummy" : "",
             check.wrong);
    return false;
}

/* The engine's way, and two at random. */
static inline bool interval_compare_ways(const ft_machine *machine, const ft_problem *problem,
                                         ft_random *random, const ft_probe *probes,
                                         uint32_t n_probes, interval_counts *counts, char *why,
                                         size_t size)
{
    interval_way way = {FT_MAT_FEASIBLE, FT_PROPAGATE_POSITIONS, 1, false, false, false};
    for (int k = 0; k < 3; k++) {
        if (!interval_analyse(machine, problem, &way, probes, n_probes, counts, why, size))
            return false;
        way = (interval_way){.kind = (ft_mat_kind)ft_random_below(random, 3),
                             .propagation = (ft_propagation)ft_random_below(random, 3),
                             .lookahead = 1 + ft_random_below(random, 3),
                             .whole = ft_random_percent(random, 30),
                             .no_reach = ft_random_percent(random, 30),
                             .dummy = ft_random_percent(random, 30)};
    }
    return true;
}

static inline void interval_count(const ft_machine *machine, interval_counts *counts)
{
    const ft_trace *trace = machine->trace;
    bool seen[FT_EVENT_KINDS] = {false}, stuck = false;
    for (uint32_t e = 0; e < trace->n_events; e++) {
        seen[trace->kind[e]] = true;
        stuck |= ft_trace_is_blocked(trace, e);
    }
    for (int k = 0; k < FT_EVENT_KINDS; k++) counts->kinds[k] += seen[k];
    counts->stuck += stuck;
    counts->branches += trace->n_paths > 0;
    counts->threads[machine->n_threads < 8 ? machine->n_threads : 7]++;
    counts->traces++;
}

/* Conditions from the trace's own assertions and properties, before random events. */
static inline uint32_t interval_probes(ft_trace *trace, uint64_t seed, ft_random *random,
                                       ft_probe *probes)
{
    ft_oracle_property properties[3];
    uint32_t n = ft_generate_properties(trace, seed, properties, 3), count = 0;
    for (uint32_t k = 0; k < n && count < INTERVAL_PROBES; k++)
        if (properties[k].kind == FT_ORACLE_ASSERTION_AT && properties[k].event != FT_NO_EVENT &&
            ft_random_percent(random, 50))
            probes[count++] = (ft_probe){properties[k].event, properties[k].condition};
    return count;
}

/* False: a range misses a value, and `why` says which. */
static inline bool interval_compare_seed(uint64_t seed, interval_counts *counts, char *why,
                                         size_t size)
{
    ft_grade grade = ft_generate_grade(seed);
    if (grade != FT_GRADE_SYMBOLIC && grade != FT_GRADE_MIXED) return true;
    ft_trace *trace = ft_generate(seed);
    ft_order *order = ft_order_new(trace);
    ft_run *run = ft_run_new(trace);
    ft_problem problem = {.trace = trace, .order = order, .run = run, .model = FT_MODEL_CTP};
    ft_machine *machine = ft_calloc(1, sizeof *machine);
    ft_probe probes[INTERVAL_PROBES];
    ft_random random;
    ft_random_init(&random, seed);
    uint32_t n_probes = interval_probes(trace, seed, &random, probes);
    ft_machine_init(machine, trace, FT_MODEL_CTP, FT_WAKEUPS_SPURIOUS);
    interval_count(machine, counts);
    bool fine =
        interval_compare_ways(machine, &problem, &random, probes, n_probes, counts, why, size);
    free(machine);
    ft_run_free(run);
    ft_order_free(order);
    ft_trace_free(trace);
    return fine;
}

#endif
