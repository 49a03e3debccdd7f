/* Contexts: a set of threads of a program, each at a place in its middle, over memory that nobody
 * has seen (Bergan: Avoiding State-Space Explosion in Multithreaded Programs, chapter 2; where the
 * dissertation's rules are unsound, repaired ones).
 *
 * Two questions. Can the threads be at their places at the same moment? What can they do from
 * there? The state at the context is over-approximated: what data flow finds to hold on every path
 * from the program's entry, and symbols for the rest. So `never` is a proof, while an answer that
 * something is possible means no more than that it was not refuted.
 *
 * Each pass below is sound by itself and can be left out, which makes answers weaker and never
 * stronger. All rely on this: the program has no data race; an address that was not computed from
 * an object's address accesses no object; accesses are aligned to their width.
 *
 * A place at a blocking operation has three readings: before it; inside, where the thread waits;
 * woken, and not yet through. Inside a wait the thread does not hold the mutex.
 *
 * Imports: symbolic, common/base, common/program, common/program/flow, common/program/interpret,
 * common/report, common/verdict. */
#ifndef FT_CONTEXT_CONTEXT_H
#define FT_CONTEXT_CONTEXT_H

#include "base/status.h"
#include "base/strbuf.h"
#include "program/program.h"

enum { FT_CONTEXT_THREADS = 16, FT_CONTEXT_POINTS = 16, FT_CONTEXT_WAYS = 4096 };

/* symbol, name, what it finds (docs/contexts.md has the rules) */
#define FT_CONTEXT_PASS_TABLE(X)                                                                   \
    X(DEFINITIONS, "definitions", "values that reach the place on every path")                     \
    X(CONFLICT_FREE, "conflict-free", "memory that other threads do not change")                   \
    X(CONDITIONS, "conditions", "branches that every path to the place takes")                     \
    X(MAY_HELD, "may-held", "locks that a thread may hold: others are free")                       \
    X(MUST_HELD, "must-held", "locks that a thread holds: two threads never hold the same")        \
    X(COUNTS, "barrier-counts", "how many threads a barrier expects")                              \
    X(ARRIVED, "barrier-arrived", "as many have arrived at a barrier as wait there")               \
    X(MATCHING, "barrier-matching", "threads that use a barrier have passed it equally often")     \
    X(CREATION, "creation", "threads that do not exist yet, or exist once")                        \
    X(JOINED, "joined", "threads that another one has joined: they have ended")                    \
    X(ONCE, "once", "functions that are called once: by one thread, and before others go on")
typedef enum ft_context_pass {
#define FT_ROW(symbol, name, meaning) FT_CONTEXT_##symbol,
    FT_CONTEXT_PASS_TABLE(FT_ROW)
#undef FT_ROW
        FT_CONTEXT_PASSES
} ft_context_pass;
const char *ft_context_pass_name(ft_context_pass pass);
bool ft_context_pass_named(const char *name, ft_context_pass *pass);

#define FT_CONTEXT_READING_TABLE(X)                                                                \
    X(BEFORE, "before", "the operation has not begun")                                             \
    X(WAITING, "waiting", "the thread waits in the operation")                                     \
    X(WOKEN, "woken", "the thread has been woken and has not gone on")
typedef enum ft_context_reading {
#define FT_ROW(symbol, name, meaning) FT_CONTEXT_##symbol,
    FT_CONTEXT_READING_TABLE(FT_ROW)
#undef FT_ROW
        FT_CONTEXT_READINGS
} ft_context_reading;
const char *ft_context_reading_name(ft_context_reading reading);
bool ft_context_reading_named(const char *name, ft_context_reading *reading);

/* Before an instruction of a function, both by their index. */
typedef struct ft_context_point {
    uint32_t function, instruction;
} ft_context_point;

#define FT_NO_CALL UINT32_MAX

/* A thread that is at one of the points; owned by the caller. */
typedef struct ft_context_thread {
    const char *name;
    ft_context_point points[FT_CONTEXT_POINTS];
    /* The call that leads to the point, if only one counts: the library's functions have one place
     * for all lines that call them. function FT_NO_CALL: any. */
    ft_context_point calls[FT_CONTEXT_POINTS];
    uint32_t n;
    uint8_t reading; /* ft_context_reading: of the instruction at the points, if it blocks */
} ft_context_thread;

typedef struct ft_context_options {
    ft_context_thread threads[FT_CONTEXT_THREADS];
    uint32_t n;
    uint32_t without;                   /* a bit for each pass that is left out */
    bool others;                        /* threads that are not named may exist */
    bool fifo;                          /* a signal wakes the first waiter, not any */
    uint32_t steps;                     /* branches of a path; 0: no paths are asked for */
    bool fixed_only;                    /* only paths without forks of the scheduler */
    uint64_t most;                      /* paths; 0: 100,000 */
    uint32_t solver_ms;                 /* of a question; 0: 2000 */
    bool (*should_stop)(void *context); /* may be NULL */
    void *context;
} ft_context_options;

/* Paths from the context. */
typedef struct ft_context_paths {
    uint64_t paths;                 /* different ones */
    uint64_t deadlocks;             /* ends at which a thread waits and none can go on */
    uint64_t failures;              /* ends with a failed assertion or access */
    uint64_t cut;                   /* ends because of the steps */
    uint64_t steps;                 /* steps that threads did, on all paths */
    bool complete;                  /* every path up to the steps */
    bool moves[FT_CONTEXT_THREADS]; /* did the thread do a step on some path? */
    ft_context_point failed;        /* of the first failure */
    char failure[160];
} ft_context_paths;

typedef struct ft_context_answer {
    bool never;                  /* proved; else not refuted */
    uint32_t passes;             /* that the proof needs, a bit each */
    char reason[600];            /* of `never`: those of the ways that were refuted */
    uint64_t ways, refuted;      /* calls that lead to the places, and those that cannot be */
    bool too_many;               /* ways that were not looked at: not refuted */
    ft_context_paths fixed, all; /* without and with forks of the scheduler; of the ways that are
                                    not refuted */
} ft_context_answer;

typedef struct ft_context ft_context;
/* The program is valid and outlives the context. The options are copied; what they point to
 * outlives it too. */
ft_context *ft_context_new(const ft_program *program, const ft_context_options *options);
void ft_context_free(ft_context *context); /* accepts NULL */
void ft_context_answer_all(ft_context *context, ft_context_answer *answer);

#endif
