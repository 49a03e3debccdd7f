/* A random trace and the interval analyses of it that are compared with its states. */
#ifndef INTERVAL_SUBJECT_H
#define INTERVAL_SUBJECT_H

#include "interval_oracle.h"

enum { INTERVAL_PROBES = 2, INTERVAL_WORK = 2000000 };

/* What the traces had; each counts traces. symbol, words */
#define INTERVAL_MET_TABLE(X)                                                                      \
    X(TWO, "two threads")                                                                          \
    X(THREE, "three threads")                                                                      \
    X(FOUR, "four threads")                                                                        \
    X(NESTED, "nested locks")                                                                      \
    X(SEMAPHORES, "semaphores")                                                                    \
    X(CONDITIONS, "condition waits")                                                               \
    X(READERS, "sections of readers")                                                              \
    X(FORK_INSIDE, "a fork behind an access")                                                      \
    X(JOIN_INSIDE, "a join before an access")                                                      \
    X(BRANCHES, "branches")                                                                        \
    X(LOCK_IN_ARM, "a lock taken in an arm")                                                       \
    X(NESTED_FOUR, "nested locks and four threads")                                                \
    X(SEMAPHORES_FOUR, "semaphores and four threads")                                              \
    X(CONDITIONS_NESTED, "condition waits and nested locks")                                       \
    X(BRANCHES_READERS, "branches and sections of readers")                                        \
    X(BRANCHES_CONDITIONS, "branches and condition waits")                                         \
    X(BRANCHES_SEMAPHORES, "branches and semaphores")                                              \
    X(DEADLOCK, "a run that ends with threads that wait for locks")                                \
    X(STUCK, "a run that ends with threads that wait for anything")                                \
    X(BOOL, "Bool")                                                                                \
    X(INT, "Int")                                                                                  \
    X(BITS, "BitVec")                                                                              \
    X(NARROW, "BitVec of up to 8 bits")                                                            \
    X(WIDE, "BitVec 32")                                                                           \
    X(WIDEST, "BitVec 64")                                                                         \
    X(UNSIGNED, "unsigned comparisons")                                                            \
    X(SIGNED, "signed comparisons")
typedef enum interval_met {
#define FT_ROW(symbol, words) INTERVAL_MET_##symbol,
    INTERVAL_MET_TABLE(FT_ROW)
#undef FT_ROW
        INTERVAL_METS
} interval_met;

typedef struct interval_counts {
    uint64_t traces, analyses, left_out, values;
    uint64_t met[INTERVAL_METS];
} interval_counts;

static inline const char *interval_words(interval_met met)
{
    static const char *const words[INTERVAL_METS] = {
#define FT_ROW(symbol, words) [INTERVAL_MET_##symbol] = words,
        INTERVAL_MET_TABLE(FT_ROW)
#undef FT_ROW
    };
    return words[met];
}

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

static inline void interval_count_sort(ft_sort sort, bool *met)
{
    met[INTERVAL_MET_BOOL] |= sort.kind == FT_SORT_BOOL;
    met[INTERVAL_MET_INT] |= sort.kind == FT_SORT_INT;
    if (sort.kind != FT_SORT_BITVEC) return;
    met[INTERVAL_MET_BITS] = true;
    met[INTERVAL_MET_NARROW] |= sort.width <= 8;
    met[INTERVAL_MET_WIDE] |= sort.width == 32;
    met[INTERVAL_MET_WIDEST] |= sort.width == 64;
}

static inline void interval_count_terms(const ft_trace *trace, bool *met)
{
    for (uint32_t v = 0; v < trace->shared.len; v++)
        interval_count_sort(trace->shared_info[v].sort, met);
    for (ft_term t = 1; t <= ft_term_pool_count(trace->terms); t++) {
        ft_op op = ft_term_get(trace->terms, t).op;
        met[INTERVAL_MET_UNSIGNED] |= op >= FT_OP_BVULT && op <= FT_OP_BVUGE;
        met[INTERVAL_MET_SIGNED] |= op >= FT_OP_BVSLT && op <= FT_OP_BVSGE;
    }
}

/* One thread's events, in its order. */
static inline void interval_count_thread(const ft_machine *machine, uint32_t t, bool *met)
{
    const ft_trace *trace = machine->trace;
    uint32_t held = 0;
    bool accessed = false, joined = false, forked = false;
    for (uint32_t k = 0; k < machine->length[t]; k++) {
        uint32_t e = machine->events[t][k], count;
        ft_event_kind kind = (ft_event_kind)trace->kind[e];
        ft_access scratch;
        ft_trace_accesses(trace, e, &scratch, &count);
        bool shared = kind == FT_EVENT_ACQUIRE_SHARED;
        bool takes = shared || kind == FT_EVENT_ACQUIRE;
        met[INTERVAL_MET_NESTED] |= takes && held > 0;
        met[INTERVAL_MET_LOCK_IN_ARM] |= takes && ft_trace_path(trace, e);
        met[INTERVAL_MET_READERS] |= shared;
        held += takes;
        if (kind == FT_EVENT_RELEASE && held) held--;
        met[INTERVAL_MET_SEMAPHORES] |= kind == FT_EVENT_WAIT;
        met[INTERVAL_MET_CONDITIONS] |= kind == FT_EVENT_COND_WAIT;
        met[INTERVAL_MET_BRANCHES] |= kind == FT_EVENT_IF;
        forked |= kind == FT_EVENT_FORK && accessed;
        joined |= kind == FT_EVENT_JOIN;
        met[INTERVAL_MET_JOIN_INSIDE] |= joined && count > 0;
        accessed |= count > 0;
    }
    met[INTERVAL_MET_FORK_INSIDE] |= forked;
}

typedef struct interval_ends {
    const ft_machine *machine;
    bool stuck, deadlock;
} interval_ends;

/* Nobody can go on, and somebody has not ended. */
static inline void interval_visit_end(void *context, const ft_exploration *all, uint32_t number)
{
    interval_ends *ends = context;
    const ft_monitor none = FT_NO_MONITOR;
    ft_state state = all->nodes.data[number].state, next[FT_MACHINE_BRANCHES];
    uint32_t waiting = 0, for_locks = 0;
    for (uint32_t t = 0; t < ends->machine->n_threads; t++) {
        if (state.pos[t] >= ends->machine->length[t]) continue;
        uint8_t kind = ends->machine->trace->kind[ends->machine->events[t][state.pos[t]]];
        waiting += ft_event_kind_waits((ft_event_kind)kind);
        for_locks += kind == FT_EVENT_ACQUIRE || kind == FT_EVENT_ACQUIRE_SHARED;
        if (ft_machine_step(ends->machine, &none, &state, t, next)) return;
    }
    ends->stuck |= waiting > 0;
    ends->deadlock |= for_locks > 1;
}

static inline void interval_count(const ft_machine *machine, interval_counts *counts)
{
    bool met[INTERVAL_METS] = {false};
    const ft_monitor none = FT_NO_MONITOR;
    interval_ends ends = {.machine = machine};
    for (uint32_t t = 0; t < machine->n_threads; t++) interval_count_thread(machine, t, met);
    interval_count_terms(machine->trace, met);
    if (counts->traces % 8 == 0) ft_explore(machine, &none, false, interval_visit_end, &ends);
    met[INTERVAL_MET_TWO] = machine->n_threads == 2;
    met[INTERVAL_MET_THREE] = machine->n_threads == 3;
    met[INTERVAL_MET_FOUR] = machine->n_threads >= 4;
    met[INTERVAL_MET_NESTED_FOUR] = met[INTERVAL_MET_NESTED] && met[INTERVAL_MET_FOUR];
    met[INTERVAL_MET_SEMAPHORES_FOUR] = met[INTERVAL_MET_SEMAPHORES] && met[INTERVAL_MET_FOUR];
    met[INTERVAL_MET_CONDITIONS_NESTED] = met[INTERVAL_MET_CONDITIONS] && met[INTERVAL_MET_NESTED];
    met[INTERVAL_MET_BRANCHES_READERS] = met[INTERVAL_MET_BRANCHES] && met[INTERVAL_MET_READERS];
    met[INTERVAL_MET_BRANCHES_CONDITIONS] =
        met[INTERVAL_MET_BRANCHES] && met[INTERVAL_MET_CONDITIONS];
    met[INTERVAL_MET_BRANCHES_SEMAPHORES] =
        met[INTERVAL_MET_BRANCHES] && met[INTERVAL_MET_SEMAPHORES];
    met[INTERVAL_MET_STUCK] = ends.stuck;
    met[INTERVAL_MET_DEADLOCK] = ends.deadlock;
    for (int k = 0; k < INTERVAL_METS; k++) counts->met[k] += met[k];
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
