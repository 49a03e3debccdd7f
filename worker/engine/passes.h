/* Passes: every way to settle a claim, as a table. The engine, the statistics, --explain, the tests
 * and docs/engine.md all go by its rows.
 *
 * A pass has one effect:
 *   REFUTES  proves that no schedule reaches the claim
 *   ACCEPTS  finds a schedule that does, which the checker then executes
 *   DECIDES  may do either: a solver over an encoding
 *   NARROWS  answers nothing, but says what the encodings may assume
 * and a stage, in which the engine walks the rows from top to bottom, so cheap ones come first:
 *   MODEL    once for a model, before the plan (engine.c)
 *   GROUP    before the first claim of each group (group.c)
 *   RUN      for each claim of the group, until one is found in the observed run (group.c)
 *   JUDGE    for each claim, until it is refuted, accepted or left to the solver (group.c)
 *   SOLVE    for each claim that was left (claim.c)
 *
 * A row is asked of a claim if it serves the claim's kind, the model and the trace, and if the pass
 * has had as many claims of the group before as it wants (`from`). `share` is the percentage of
 * the time left to the claim that one question of the pass may take, where it can ask again: a
 * window before the next larger one, the shared encoding before one of the claim's own cone.
 *
 * To add a pass: add a row where its cost belongs and a function of its effect in
 * passes.c (a claim's) or claim.c (SOLVE); what it has to know of the trace and keep is a row of
 * analyses.h. tests/unit/test_passes.c then compares it with the oracle, tests/unit/test_faults.c
 * requires that this comparison notices if it answers wrongly, and docs/passes.sh writes it into
 * docs/engine.md. */
#ifndef FT_ENGINE_PASSES_H
#define FT_ENGINE_PASSES_H

#include "engine/analyses.h"

/* Sets of kinds of claims and of models. */
#define FT_CLAIMS_ALL    ((1u << FT_CLAIM_KINDS) - 1)
#define FT_CLAIMS_STUCK  (1u << FT_CLAIM_STUCK)
#define FT_CLAIMS_BLOCK  (1u << FT_CLAIM_ATOMICITY)
#define FT_CLAIMS_UNINIT (1u << FT_CLAIM_UNINITIALISED)
#define FT_CLAIMS_TERM   (1u << FT_CLAIM_ASSERTION | 1u << FT_CLAIM_CONDITION)
#define FT_MODELS_ALL    ((1u << FT_MODELS) - 1)
#define FT_MODELS_CTP    (1u << FT_MODEL_CTP)

/* Which traces a pass serves. symbol, doc */
#define FT_TRACES_TABLE(X)                                                                         \
    X(ANY, "any")                                                                                  \
    X(CONDITIONS, "with condition variables")                                                      \
    X(SMALL, "up to 3,000 events")                                                                 \
    X(LONG, "longer ones")
typedef enum ft_traces {
#define FT_ROW(symbol, doc) FT_TRACES_##symbol,
    FT_TRACES_TABLE(FT_ROW)
#undef FT_ROW
        FT_TRACE_SETS
} ft_traces;

/*  symbol, name, stage, effect, reason (FT_REASONS: none), claims, models, traces, from, share,
 *  file, doc */
#define FT_PASS_TABLE(X)                                                                           \
    X(SLICE, "slice", MODEL, NARROWS, FT_REASONS, ALL, CTP, ANY, 0, 100, "problem/slice.c",        \
      "reads whose value cannot matter need no source")                                            \
    X(EDGES, "causality-edges", GROUP, NARROWS, FT_REASONS, ALL, ALL, ANY, 0, 100,                 \
      "encode/causal.c", "order that every schedule with the claim has")                           \
    X(OBSERVED, "observed-run", RUN, ACCEPTS, FT_REASON_OBSERVED_RUN, ALL, ALL, ANY, 0, 100,       \
      "witness/prefix.c", "the run itself, or the run up to where it was blocked")                 \
    X(STUCK, "stuck", JUDGE, REFUTES, FT_REASON_STANDSTILL, STUCK, ALL, ANY, 0, 100,               \
      "proofs/stuck/stuck.c", "no final state has the thread wait forever")                        \
    X(EXCLUSION_FIRST, "exclusion-first", JUDGE, REFUTES, FT_REASON_EXCLUSION, ALL, ALL, ANY, 16,  \
      100, "proofs/exclusion.c",                                                                   \
      "as exclusion, before causality: a graph for each of many claims costs more")                \
    X(CAUSALITY, "causality", JUDGE, REFUTES, FT_REASON_CAUSALITY, ALL, ALL, ANY, 0, 100,          \
      "causality/causality.c", "a cycle of the claim, hard order, locks, wake-ups and tied reads") \
    X(WRITTEN, "written-before", JUDGE, REFUTES, FT_REASON_CLOSURE, UNINIT, ALL, ANY, 0, 100,      \
      "causality/needs.c", "what the read needs contains a write of its variable")                 \
    X(CLOSURE, "closure", JUDGE, REFUTES, FT_REASON_CLOSURE, ALL, ALL, ANY, 0, 100,                \
      "witness/prefix.c", "every prefix that reaches the claim contains its own events")           \
    X(SWAP, "failing-swap", JUDGE, REFUTES, FT_REASON_EXCLUSION, BLOCK, ALL, ANY, 0, 100,          \
      "causality/needs.c", "a compare-and-swap that has to write never finds what it expects")     \
    X(EXCLUSION, "exclusion", JUDGE, REFUTES, FT_REASON_EXCLUSION, ALL, ALL, ANY, 0, 100,          \
      "proofs/exclusion.c", "flags, counts or units of semaphores keep the threads apart")         \
    X(APART, "monitor-states", JUDGE, REFUTES, FT_REASON_EXCLUSION, ALL, ALL, CONDITIONS, 0, 100,  \
      "proofs/stuck/coexistence.c", "no state of a lock has both threads at their places")         \
    X(CHAIN, "chain", JUDGE, REFUTES, FT_REASON_CONSTANT, TERM, CTP, ANY, 0, 100,                  \
      "values/chain.c", "increments that commute leave one value")                                 \
    X(DOMAIN, "domain", JUDGE, REFUTES, FT_REASON_CONSTANT, TERM, CTP, ANY, 0, 100,                \
      "values/domain.c", "all values that can flow into the condition satisfy it")                 \
    X(SCHEDULE, "schedule", JUDGE, ACCEPTS, FT_REASON_REORDERED, ALL, ALL, ANY, 0, 100,            \
      "witness/schedule.c", "the least schedule of a race or triplet in a plain trace")            \
    X(PREFIX, "prefix", JUDGE, ACCEPTS, FT_REASON_REORDERED, ALL, ALL, ANY, 0, 100,                \
      "witness/prefix.c", "the least prefix in observed order; where `schedule` serves no claim")  \
    X(INTERVAL, "interval", JUDGE, REFUTES, FT_REASON_INTERVAL, TERM, CTP, ANY, 0, 100,            \
      "reduce/intervals/intervals.c",                                                              \
      "bounds of values, by mutual exclusion and program order, satisfy the condition")            \
    X(WINDOWS, "windows", SOLVE, DECIDES, FT_REASONS, ALL, ALL, LONG, 0, 50, "reduce/window.c",    \
      "the end of the run, from a cut that moves back")                                            \
    X(VALUES, "values", SOLVE, NARROWS, FT_REASONS, ALL, ALL, ANY, 0, 100, "values/domain.c",      \
      "the finite set of values that a read can have; not for `--solver z3`")                      \
    X(INTERVAL_VALUES, "interval-values", SOLVE, NARROWS, FT_REASONS, TERM, CTP, ANY, 0, 100,      \
      "values/domain.c", "sets that are any, or too large, cut to the ranges of their reads")      \
    X(INTERVAL_SOURCES, "interval-sources", SOLVE, NARROWS, FT_REASONS, TERM, CTP, ANY, 0, 100,    \
      "reduce/intervals/intervals.c",                                                              \
      "writes whose range does not meet the read's are no sources")                                \
    X(ORDER, "order", SOLVE, DECIDES, FT_REASONS, ALL, ALL, ANY, 0, 25, "solve/cdcl/cdcl.c",       \
      "the default encoding, by the project's own solver")                                         \
    X(DELAY, "delay", SOLVE, ACCEPTS, FT_REASON_DELAYED, ALL, ALL, ANY, 0, 100, "witness/delay.c", \
      "the run with one thread delayed, where values are too many for the own solver")             \
    X(INTERVAL_BOUNDS, "interval-bounds", SOLVE, NARROWS, FT_REASONS, TERM, CTP, ANY, 0, 100,      \
      "encode/cssa.c", "bounds of reads as constraints for Z3")                                    \
    X(INTERVAL_INTEGERS, "interval-integers", SOLVE, NARROWS, FT_REASONS, TERM, CTP, ANY, 0, 100,  \
      "reduce/intervals/numbers.c", "bit-vectors that cannot wrap as integers for Z3")             \
    X(INTERVAL_WIDTHS, "interval-widths", SOLVE, NARROWS, FT_REASONS, TERM, CTP, ANY, 0, 100,      \
      "solve/session_bits.c", "bit-vectors in the bits that their ranges need, for Z3")            \
    X(Z3, "z3", SOLVE, DECIDES, FT_REASONS, ALL, ALL, ANY, 0, 25, "solve/session_z3.c",            \
      "the default encoding, by Z3")                                                               \
    X(LITERAL, "literal", SOLVE, DECIDES, FT_REASONS, ALL, ALL, SMALL, 0, 100, "encode/literal.c", \
      "the literal encoding, by Z3; of a job that asks for it, any trace")

typedef enum ft_pass_id {
#define FT_ROW(symbol, name, stage, effect, reason, claims, models, traces, from, share, file,     \
               doc)                                                                                \
    FT_PASS_##symbol,
    FT_PASS_TABLE(FT_ROW)
#undef FT_ROW
        FT_PASSES
} ft_pass_id;

typedef enum ft_pass_stage {
    FT_STAGE_MODEL,
    FT_STAGE_GROUP,
    FT_STAGE_RUN,
    FT_STAGE_JUDGE,
    FT_STAGE_SOLVE
} ft_pass_stage;

typedef enum ft_pass_effect {
    FT_EFFECT_NARROWS,
    FT_EFFECT_REFUTES,
    FT_EFFECT_ACCEPTS,
    FT_EFFECT_DECIDES
} ft_pass_effect;

typedef struct ft_pass {
    const char *name, *file, *doc;
    ft_pass_stage stage;
    ft_pass_effect effect;
    ft_reason reason;        /* of what it decides; FT_REASONS: none of its own */
    unsigned claims, models; /* sets */
    ft_traces traces;
    uint32_t from;  /* asked from this claim of a group on, counted from 0 */
    uint32_t share; /* percent */
} ft_pass;

/* Counts of a pass's questions and answers. */
typedef struct ft_pass_tally {
    uint64_t asked, decided;
    uint64_t left_out; /* questions that the pass did not look at, because of a limit of its own */
    ft_intervals_cut limit; /* of the last of them */
    double ms;
} ft_pass_tally;

/* For contracts: the rows are in the order of their stages, each has the function of its effect,
 * and a reason where what it decides has one. */
bool ft_passes_are_sound(void);

const ft_pass *ft_pass_get(ft_pass_id pass);

/* A job may leave it out (its member "without"): passes that refute or narrow, but for those that
 * other passes rely on. */
bool ft_pass_is_optional(ft_pass_id pass);

#ifdef FT_FAULTS
/* A planted fault: this pass refutes every claim that it serves. */
#define FT_NO_PASS (-1)
extern int ft_pass_fault;
#endif

/* Does the pass serve the claim, as far as its row says? The model is the problem's. */
bool ft_pass_serves(ft_pass_id pass, const ft_analyses *analyses, const ft_claim *claim);

/* Asks a pass of effect REFUTES that serves the claim. cycle (may be NULL): the explanation, of
 * CAUSALITY alone. */
bool ft_pass_refutes_claim(ft_pass_id pass, ft_analyses *analyses, const ft_claim *claim,
                           ft_causality_edges *cycle);
/* Adds the ranges by which INTERVAL has just refuted the claim: "x in [0,5], a in [1,2]". */
void ft_pass_explain_interval(ft_analyses *analyses, const ft_claim *claim, ft_strbuf *out);

#endif
