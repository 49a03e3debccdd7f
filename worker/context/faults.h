/* Planted faults of the passes, for the tests of the tests: with FT_FAULTS each row is a mistake
 * behind a switch, and the comparison with brute force must notice it. Without FT_FAULTS
 * ctx_fault_is is constantly false. */
#ifndef FT_CONTEXT_FAULTS_H
#define FT_CONTEXT_FAULTS_H

#include "base/planted.h"

#define FT_CONTEXT_FAULT_TABLE(X)                                                                  \
    X(NONE, "no fault")                                                                            \
    X(DIES_AT_ACQUIRE, "shared definitions die at acquires, not at releases")                      \
    X(DIES_AT_UNLOCK, "shared definitions die at unlocks and waits alone")                         \
    X(INSIDE_WAIT, "at a place inside a wait the release has not happened")                        \
    X(SAME_SYMBOL, "symbols are named by the statement alone, not by the thread")                  \
    X(NO_OWNER, "a location that one thread uses keeps definitions in another")                    \
    X(LATE_WRITE, "memory is conflict-free though a create may come before the write")             \
    X(NO_ALIAS, "a store kills only what is at the same address")                                  \
    X(MEET_UNION, "a definition of one way alone reaches the place")                               \
    X(MAY_IS_MUST, "may-held locks are taken for held")                                            \
    X(MAY_RELEASE, "a lock that one way releases is not held on the other")                        \
    X(HELD_IN_WAIT, "the mutex is held inside of the wait")                                        \
    X(ENDED_FREE, "ended threads leave no lock locked")                                            \
    X(ROUNDS_UNCOUNTED, "threads pass a barrier equally often, however many use it")               \
    X(ROUNDS_INSIDE, "a woken thread has not passed the barrier")                                  \
    X(CREATED_LATER, "a create that comes behind the place counts as one that is never")           \
    X(ONE_THREAD, "a function is that of one thread, however often it is created")                 \
    X(JOINED_SOMETIMES, "a thread that one way alone joins has ended")                             \
    X(JOINED_EARLY, "a thread that waits in a join is behind it")                                  \
    X(ONCE_BEFORE, "a thread that stands before a once is behind it")                              \
    X(TRIED_IS_HELD, "a lock that was tried is held, whatever came of it")                         \
    X(COUNTS_CHECKING, "an error-checking mutex counts how often it is locked")                    \
    X(RETURNS_AT_ONCE, "on paths no thread goes on before main returns")                           \
    X(ONCE_DONE, "on paths every once has been done")                                              \
    X(ONE_READER, "on paths a lock that is held to read is not had by another reader")             \
    X(GIVEN_BACK, "on paths one unlock gives back a mutex that is held twice")                     \
    X(NEVER_LATE, "on paths a timed wait ends by a signal alone")                                  \
    X(NO_CALLER, "on paths the return of a recursive function ends the thread")                    \
    X(FIRST_WAITER, "on paths a signal wakes the thread with the lowest number")                   \
    X(FOUND_FREE, "on paths a lock that nothing is known of is free")                              \
    X(FOUND_ENOUGH, "on paths a semaphore that nothing is known of is not 0")                      \
    X(BARRIER_ALONE, "on paths the last that arrives at a barrier goes on alone")                  \
    X(OLD_VALUE, "on paths a load finds what was there at the context")
typedef enum ctx_fault_kind {
#define FT_ROW(symbol, doc) CTX_FAULT_##symbol,
    FT_CONTEXT_FAULT_TABLE(FT_ROW)
#undef FT_ROW
        CTX_FAULTS
} ctx_fault_kind;

FT_PLANTED(ctx_fault)

#endif
