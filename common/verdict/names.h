/* The vocabulary of Foretell's results: checks, models, verdicts, reasons, one table each. Names
 * are part of formats and of the API; descriptions go into documentation and explanations. This
 * header includes none of trace or term, so that the server may use it. */
#ifndef FT_VERDICT_NAMES_H
#define FT_VERDICT_NAMES_H

#include <stdbool.h>

#define FT_CHECK_TABLE(X)                                                                          \
    X(RACE, "race", "two conflicting accesses of different threads, both next")                    \
    X(ATOMICITY, "atomicity", "an access of another thread between two of one transaction")        \
    X(ASSERTION, "assertion", "an assertion of the trace that another schedule makes false")       \
    X(LOCK, "lock",                                                                                \
      "a lock taken twice by its holder, or released by a thread that does not hold it")           \
    X(DEADLOCK, "deadlock", "threads that wait for each other, or for a wake-up that cannot come") \
    X(ORDER, "order", "use before initialisation, use after free, double free")                    \
    X(FAILURE, "failure",                                                                          \
      "the run itself crashed, hung or ended with an exit code that is an error")                  \
    X(PROPERTY, "property", "a property that the job states")                                      \
    X(CERTIFICATE, "certificate", "a certificate of a schedule set that does not hold")            \
    X(CONTEXT, "context", "threads that are at the places of a context together")

/* The value that a read of a witness's member must return (docs/models.md; Wang et al. §4, §7.1).
 * Each model has at least the violations of those before it. */
#define FT_MODEL_TABLE(X)                                                                          \
    X(OBSERVED, "observed", "the write it read from in the observed run")                          \
    X(MAXIMAL, "maximal", "the value it returned in the observed run")                             \
    X(CTP, "ctp", "what the symbolic program computes")                                            \
    X(CONTROL, "control",                                                                          \
      "any value: only synchronisation orders events, so that findings are possible ones")

#define FT_VERDICT_TABLE(X)                                                                        \
    X(VIOLATION, "violation", "a witness schedule was found and checked")                          \
    X(SAFE, "safe", "proved: no reordering of this run's events has it")                           \
    X(BOUNDED, "bounded", "no violation within the context bound")                                 \
    X(UNKNOWN, "unknown",                                                                          \
      "undecided: the reason names the exhausted budget or the missing information")               \
    X(ERROR, "error", "Foretell failed: the reason says why")

/* The pass or limit that decided a candidate. The first group refutes (safe), the second accepts
 * (violation), the third does neither. */
#define FT_REASON_TABLE(X)                                                                         \
    X(LOCKSET, "lockset", "both accesses hold the same lock")                                      \
    X(ATOMIC_SECTION, "atomic-section",                                                            \
      "a lock is held from the first access to the last, and at the remote access")                \
    X(MUST_HAPPEN_BEFORE, "must-happen-before",                                                    \
      "fork, join, hard edges or reads-from edges order them")                                     \
    X(CLOSURE, "closure", "every prefix with one access has the other in its past")                \
    X(CONSTANT, "constant", "the condition holds in every schedule")                               \
    X(CAUSALITY, "causality", "the order that it needs closes a cycle of causality")               \
    X(STANDSTILL, "standstill", "wherever all other threads wait, the thread can go on")           \
    X(EXCLUSION, "exclusion", "semaphore counts, or values read under a lock, exclude it")         \
    X(INTERVAL, "interval", "the ranges of the values that the condition reads make it true")      \
    X(UNSAT, "unsat", "no feasible prefix reaches it (solver)")                                    \
    X(MIXED, "mixed", "every event pair of the group was refuted, by several passes")              \
    X(REORDERED, "reordered", "a prefix in observed order reaches it")                             \
    X(DELAYED, "delayed", "the observed run with one thread delayed reaches it")                   \
    X(SAT, "sat", "the solver found a feasible prefix")                                            \
    X(EXPLORED, "explored", "the executions of the program were explored")                         \
    X(BOUND, "bound", "a bound of the exploration cut executions")                                 \
    X(DATA_RACE, "data-race", "a data race may have outcomes that were not explored")              \
    X(LEFT_OPEN, "left-open", "executions were left open: the reason says why")                    \
    X(OBSERVED_RUN, "observed-run", "it happened in the observed run itself")                      \
    X(BUDGET, "budget", "the time or memory budget ran out")                                       \
    X(TOO_LARGE, "too-large", "it is too large for the solver at any budget")                      \
    X(BEYOND_SOLVER, "beyond-solver", "the solver that the job names does not support its values") \
    X(BROKEN_TRACE, "broken-trace", "the observed order itself violates the semantics")            \
    X(UNKNOWN_VALUE, "unknown-value", "it depends on a value that the trace does not have")        \
    X(WITNESS_REJECTED, "witness-rejected", "the independent checker rejected the witness")        \
    X(WORKER_DIED, "worker-died", "the worker died repeatedly during its analysis")                \
    X(DAMAGED, "damaged", "it was a violation; its stored witness is damaged")

/* Which signals may wake a waiter of a condition variable in another schedule. */
#define FT_WAKEUPS_TABLE(X)                                                                        \
    X(ANY, "any", "a signal wakes any one waiter")                                                 \
    X(OBSERVED, "observed", "a waiter is woken by the signal that woke it in the observed run")    \
    X(SPURIOUS, "spurious", "a waiter may wake without a signal, as POSIX allows")

/* Which solver decides the subproblems that the passes leave. */
#define FT_SOLVER_TABLE(X)                                                                         \
    X(AUTO, "auto", "Foretell's own solver where it applies, else Z3")                             \
    X(Z3, "z3", "Z3's SMT core")                                                                   \
    X(ORDER, "order", "Foretell's own solver: orders, and values of small sets")

/* The solver and encoding that gave the answer. */
#define FT_DECIDER_TABLE(X)                                                                        \
    X(ORDER, "order", "Foretell's own solver, over the default encoding")                          \
    X(Z3, "z3", "Z3, over the default encoding")                                                   \
    X(LITERAL, "literal", "Z3, over the literal encoding")

typedef enum ft_check {
#define FT_ROW(symbol, name, doc) FT_CHECK_##symbol,
    FT_CHECK_TABLE(FT_ROW)
#undef FT_ROW
        FT_CHECKS
} ft_check;
/* A job's list of checks may name those before it; the others come with what the job asks. */
#define FT_CHECKS_NAMED FT_CHECK_PROPERTY
typedef enum ft_model {
#define FT_ROW(symbol, name, doc) FT_MODEL_##symbol,
    FT_MODEL_TABLE(FT_ROW)
#undef FT_ROW
        FT_MODELS
} ft_model;
typedef enum ft_verdict {
#define FT_ROW(symbol, name, doc) FT_VERDICT_##symbol,
    FT_VERDICT_TABLE(FT_ROW)
#undef FT_ROW
        FT_VERDICTS
} ft_verdict;
typedef enum ft_reason {
#define FT_ROW(symbol, name, doc) FT_REASON_##symbol,
    FT_REASON_TABLE(FT_ROW)
#undef FT_ROW
        FT_REASONS
} ft_reason;

typedef enum ft_solver {
#define FT_ROW(symbol, name, doc) FT_SOLVER_##symbol,
    FT_SOLVER_TABLE(FT_ROW)
#undef FT_ROW
        FT_SOLVERS
} ft_solver;

typedef enum ft_decided_by {
#define FT_ROW(symbol, name, doc) FT_DECIDED_BY_##symbol,
    FT_DECIDER_TABLE(FT_ROW)
#undef FT_ROW
        FT_DECIDERS
} ft_decided_by;

typedef enum ft_wakeups {
#define FT_ROW(symbol, name, doc) FT_WAKEUPS_##symbol,
    FT_WAKEUPS_TABLE(FT_ROW)
#undef FT_ROW
        FT_WAKEUPS_KINDS
} ft_wakeups;

/* The name of a value, and the value of a name; false: the name is not in the table. */
const char *ft_check_name(ft_check check);
bool ft_check_parse(const char *name, ft_check *check);
const char *ft_model_name(ft_model model);
bool ft_model_parse(const char *name, ft_model *model);
const char *ft_verdict_name(ft_verdict verdict);
bool ft_verdict_parse(const char *name, ft_verdict *verdict);
const char *ft_reason_name(ft_reason reason);
const char *ft_reason_doc(ft_reason reason);
bool ft_reason_parse(const char *name, ft_reason *reason);
const char *ft_wakeups_name(ft_wakeups wakeups);
bool ft_wakeups_parse(const char *name, ft_wakeups *wakeups);
const char *ft_solver_name(ft_solver solver);
bool ft_solver_parse(const char *name, ft_solver *solver);
const char *ft_decided_by_name(ft_decided_by decider);

#endif
