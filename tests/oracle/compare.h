/* The engine against the oracle on the trace of one seed. */
#ifndef FT_TEST_COMPARE_H
#define FT_TEST_COMPARE_H

#include "oracle/oracle.h"

/* What to compare; each may find a mismatch of its own. */
typedef enum ft_comparison {
    FT_COMPARE_EVENTS,    /* per event: violated claims, counts, properties */
    FT_COMPARE_LONG,      /* per event, the trace taken for a long one (ft_engine_take_for_long) */
    FT_COMPARE_LOCATIONS, /* per location: a group is violated if and only if a claim of it is */
    FT_COMPARE_LITERAL,   /* per event, with the literal encoding; a timeout is counted */
    FT_COMPARE_SOLVER,    /* per event, each solver alone; ours may leave computed values open */
    FT_COMPARE_DECIDE,    /* ft_engine_decide on every claim */
    FT_COMPARE_INCLUSION, /* the oracle's own answers: observed in maximal in ctp in control */
    FT_COMPARE_REORDER,   /* ctp verdicts of another feasible order of the same events */
    FT_COMPARE_CHECKER,   /* the oracle's schedules, and mutants of them, before the checker */
    FT_COMPARE_WAKEUPS,   /* per event, with the other two options of wake-ups */
    FT_COMPARE_BOUND,     /* per event, within a context bound, and with `auto` */
    FT_COMPARE_IGNORED,   /* per event, without the candidates at one location */
    FT_COMPARISONS
} ft_comparison;

/* Shapes of branches (Wang et al. §8) that the compared traces must have. */
#define FT_SHAPE_TABLE(X)                                                                          \
    X(ELSE, "if with an else")                                                                     \
    X(NO_ELSE, "if without one")                                                                   \
    X(NESTED, "if in an arm")                                                                      \
    X(UNCLOSED, "if whose thread ends before the end-if")                                          \
    X(READS_SHARED, "if whose condition reads shared variables")                                   \
    X(READS_NONE, "if whose condition reads none")                                                 \
    X(TRY_TAKEN, "try-lock in an arm of the run")                                                  \
    X(TRY_PASSED, "try-lock in an arm passed over")                                                \
    X(PHI_TAKEN, "local assigned in an arm of the run")                                            \
    X(PHI_PASSED, "local assigned in an arm passed over")
typedef enum ft_shape {
#define FT_ROW(symbol, name) FT_SHAPE_##symbol,
    FT_SHAPE_TABLE(FT_ROW)
#undef FT_ROW
        FT_SHAPES
} ft_shape;

typedef struct ft_comparison_stats {
    uint64_t traces, reordered;
    uint64_t samples[FT_CHECKS][2];     /* traces under a model, or properties: safe, violated */
    uint64_t claims[FT_CLAIM_KINDS][2]; /* likewise each candidate, by kind */
    uint64_t once_cycles[2][2];         /* of the cycles those through a once object, without a join
                                           and with one */
    uint64_t kinds[FT_EVENT_KINDS];     /* events */
    uint64_t blocked[FT_EVENT_KINDS];   /* of these: what a thread waited for at the end */
    uint64_t branching, shapes[FT_SHAPES];
    uint64_t in_arm[FT_EVENT_KINDS][2];        /* events in arms: of the run, passed over */
    uint64_t passed_claims[FT_CLAIM_KINDS][2]; /* candidates with an event that was passed over:
                                                  safe, violated */
    uint64_t bounded_properties[4]; /* compared under a bound, by ft_oracle_property_kind */
    uint64_t
        open; /* answers left open for want of a value, where terms may read what nobody knows */
    uint64_t literal, literal_timeouts;   /* claims asked of the literal encoding */
    uint64_t lifted, bounded, not_lifted; /* claims under a bound: proved for all bounds; bounded;
                                             of these without any witness */
} ft_comparison_stats;

/* True when all comparisons in `wanted` (bits) agree under every model that the trace supports;
 * else `why` says what differs, with the seed and the trace. stats may be NULL. */
bool ft_compare_seed(uint64_t seed, unsigned wanted, ft_comparison_stats *stats, ft_strbuf *why);
/* Likewise for a trace of one's own, without properties. */
bool ft_compare_trace(ft_trace *trace, unsigned wanted, ft_strbuf *why);

#endif
