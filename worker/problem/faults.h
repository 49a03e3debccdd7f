/* Planted encoder faults, for the tests of the tests: with FT_FAULTS the engine is built with each
 * of these mistakes behind a switch, and the differential test must catch every one. Without it
 * ft_fault_is is constantly false and the compiler drops them. */
#ifndef FT_PROBLEM_FAULTS_H
#define FT_PROBLEM_FAULTS_H

#include <stdbool.h>

#define FT_FAULT_TABLE(X)                                                                          \
    X(NONE, "no fault")                                                                            \
    X(NO_BETWEEN, "a read may be separated from its write by another write")                       \
    X(NO_MUTEX, "sections of one lock may overlap")                                                \
    X(OPEN_SECTION, "a section may begin though an earlier one is not closed in the prefix")       \
    X(NO_JOIN, "a join needs nothing of its child")                                                \
    X(NO_TOKEN, "two waits may take the same semaphore token")                                     \
    X(NO_GUARD, "members need not satisfy their guards")                                           \
    X(LOST_INITIAL, "no read may read the initial value")                                          \
    X(OWN_READ_BOUND, "a final event's own reads obey the model (wrong safe)")                     \
    X(BLIND_SWAP, "a final compare-and-swap writes whatever it finds")                             \
    X(FORGETFUL, "what a remote rmw writes is unknown though it finds what it found in the run")   \
    X(FAILED_SWAP, "a remote compare-and-swap that failed reads though it would succeed")          \
    X(NO_DEPARTURE, "t_r may not depart from the model (wrong safe)")                              \
    X(OVER_PRUNED, "a source two writes back is pruned as overwritten without must-happen-before") \
    X(NO_RW, "a shared section conflicts with nothing")                                            \
    X(NO_SIGNAL, "a cond-wake needs no signal")                                                    \
    X(SIGNAL_TWICE, "one signal may wake two waiters")                                             \
    X(NO_BARRIER, "a barrier-leave needs its own arrival alone")                                   \
    X(TRY_FREE, "a failed attempt needs nobody to hold the lock")                                  \
    X(BOUND_OFF, "a context bound is not applied")                                                 \
    X(FREE_BRANCH, "an if takes either arm, whatever its condition")                               \
    X(NO_PHI, "behind an end-if a local is what the last arm assigned")                            \
    X(PASSED_HIDES, "a write that is passed over hides what is before it (wrong safe)")            \
    X(PASSED_BLOCKS, "a join needs its child's last event even where it is passed over")           \
    X(PASSED_RUNS, "what is passed over is executed all the same")                                 \
    X(PASSED_HOLDS, "a lock that is taken in an arm passed over is held (wrong safe)")             \
    X(OFF_PATH, "t_c may be in an arm that is not taken")

typedef enum ft_fault_kind {
#define FT_ROW(symbol, doc) FT_FAULT_##symbol,
    FT_FAULT_TABLE(FT_ROW)
#undef FT_ROW
        FT_FAULT_KINDS
} ft_fault_kind;

#ifdef FT_FAULTS
extern ft_fault_kind ft_fault;
extern unsigned ft_fault_refused; /* witnesses of the solver that the checker refused */
static inline bool ft_fault_is(ft_fault_kind kind)
{
    return ft_fault == kind;
}
/* Any is: analyses that could hide it stand aside. */
static inline bool ft_fault_any(void)
{
    return ft_fault != FT_FAULT_NONE;
}
#else
static inline bool ft_fault_is(ft_fault_kind kind)
{
    (void)kind;
    return false;
}
static inline bool ft_fault_any(void)
{
    return false;
}
#endif

#endif
