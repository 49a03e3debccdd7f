/* Planted faults of proofs for any number of threads, for the tests of the tests: with FT_FAULTS
 * each row is a mistake behind a switch, by which some program that fails is proved, and
 * tests/unit/test_modular_faults.c requires that it is noticed. Without FT_FAULTS mod_fault_is is
 * constantly false. */
#ifndef FT_MODULAR_FAULTS_H
#define FT_MODULAR_FAULTS_H

#include "base/planted.h"

#define FT_MODULAR_FAULT_TABLE(X)                                                                  \
    X(NONE, "no fault")                                                                            \
    X(LEADS_BACK, "threads: a place on a circle makes one thread")                                 \
    X(TWO_SITES, "threads: two places make one thread of a class")                                 \
    X(MANY_MAKERS, "threads: each of many threads makes the same one")                             \
    X(JOINED_ALL, "threads: whoever waits for one of many waits for all")                          \
    X(SAME_PLACE, "threads: no two stand at one place")                                            \
    X(CLASS_ARGUMENT, "threads: those with other addresses are of one class")                      \
    X(OWN_ARGUMENT, "threads: memory of the maker that a thread gets is its own")                  \
    X(JOIN_RESULT, "threads: the result that a join gives is 0")                                   \
    X(NO_THIRD, "steps: no third thread steps beside two")                                         \
    X(NEW_BESIDE_OTHERS, "steps: a new thread does not run beside the others")                     \
    X(NEW_BESIDE_MAKER, "steps: a new thread does not run beside its maker")                       \
    X(FIRST_ALONE, "steps: others do not change what is known of the first thread alone")          \
    X(ONE_WAY, "steps: of two threads at one place one steps")                                     \
    X(CHECKED_ONCE, "steps: one that was checked is not checked again")                            \
    X(FIRST_FAILS, "steps: assertions of the first thread alone count")                            \
    X(LONG_STEPS, "steps: one goes on behind a visible instruction")                               \
    X(STOPPED_TRACE, "steps: one that an assumption stops has changed nothing")                    \
    X(CASE_REST, "steps: a switch always has its case")                                            \
    X(INPUT_ZERO, "steps: inputs are 0")                                                           \
    X(SWAP_WRITES, "atomics: a compare and swap always writes")                                    \
    X(UPDATE_ANDS, "atomics: an update that is not followed is an and")                            \
    X(TRY_TAKES, "locks: a try takes the lock")                                                    \
    X(KIND_OBEYS, "locks: an unlock always succeeds")                                              \
    X(LOCK_OBEYS, "locks: a lock that is not followed is always taken")                            \
    X(READERS_EXCLUDE, "locks: a reader keeps readers out")                                        \
    X(OWN_WRITER, "locks: a thread never asks for what it holds to write")                         \
    X(READERS_GIVE, "locks: a writer gives back as a reader does")                                 \
    X(COUNT_WRAPS, "semaphores: counts have 32 bits")                                              \
    X(WAIT_HOLDS, "conditions: the mutex stays held while a thread waits")                         \
    X(WAIT_AGAIN, "conditions: a thread that waits is where it began to")                          \
    X(WAIT_IN_TIME, "conditions: no wait is late")                                                 \
    X(OVERLAPS, "memory: cells that overlap are apart")                                            \
    X(OWN_OVERLAPS, "memory: so are those of the thread's own memory")                             \
    X(ONLY_READ, "memory: a global that is written keeps its first content")                       \
    X(COMPUTED_WRITE, "memory: a write to a place that is computed is lost")                       \
    X(COMPUTED_LOCK, "memory: a lock at a place that is computed is none that is followed")        \
    X(COPY_LOST, "memory: a copy changes nothing")                                                 \
    X(READ_ZERO, "memory: what is not followed is 0")                                              \
    X(ODD_PLACES, "memory: an address at an odd place keeps its object")                           \
    X(STACK_STAYS, "memory: a function that is called again finds its old memory")                 \
    X(MADE_AGAIN, "memory: so does one that a loop makes")                                         \
    X(FIRST_PLACE, "addresses: an unknown place of a constant is its first")                       \
    X(STAYS_THERE, "addresses: an unknown place is where it is counted from")                      \
    X(SUM_KEEPS, "addresses: a sum with a number that has an object keeps the address's")          \
    X(SAME_CALL, "addresses: memory of two calls of a function is the same")                       \
    X(OUTSIDE, "addresses: one outside of its object differs from all of others")                  \
    X(FUNCTION_PLACE, "addresses: a place behind a function is the function")                      \
    X(ADDRESS_NUMBER, "addresses: all are the same number")                                        \
    X(ONE_MODEL, "invariants: one state that a step leads to is all")
typedef enum mod_fault_kind {
#define FT_ROW(symbol, doc) MOD_FAULT_##symbol,
    FT_MODULAR_FAULT_TABLE(FT_ROW)
#undef FT_ROW
        MOD_FAULTS
} mod_fault_kind;

FT_PLANTED(mod_fault)

#endif
