/* Planted faults of the interval analysis, for the tests of the tests: with FT_FAULTS each row is a
 * mistake behind a switch, and tests/unit/test_intervals_faults.c requires that the comparison with
 * brute force notices it. Without FT_FAULTS ft_interval_fault_is is constantly false. */
#ifndef FT_RANGES_FAULTS_H
#define FT_RANGES_FAULTS_H

#include "base/planted.h"

#define FT_INTERVAL_FAULT_TABLE(X)                                                                 \
    X(NONE, "no fault")                                                                            \
    X(BLIND, "a read conflicts with no write")                                                     \
    X(NO_FALLBACK, "where no transaction pair is feasible, none is taken")                         \
    X(NO_ENDS, "a pair with no conflict left gets no transactions up to the ends")                 \
    X(PAIRWISE, "three threads: switches of the pairs alone")                                      \
    X(LOOSE, "a larger rectangle is taken whatever happens inside it")                             \
    X(ARM_LOCKS, "a lock that is taken in an arm is held whether the arm is taken or not")         \
    X(STOP_INSIDE, "a condition that may fail is in one step with what others contend for")        \
    X(NO_CUT, "no boundary after an event that another thread waits for")                          \
    X(NEXT_SWITCH, "a switch needs the next two steps of the other thread to be reachable")        \
    X(STRONG_ARM, "events of an arm are executed whether the arm is taken or not")                 \
    X(ONE_ARM, "behind an if there is the state of one arm")                                       \
    X(SHORT, "the propagation ends one transaction early")                                         \
    X(LAST_STEP, "ranges are those of the last step alone")                                        \
    X(STEP_LOCALS, "a thread's locals are those of the step before")                               \
    X(BLOCKED_INSIDE, "a transaction that cannot be finished has no ranges")                       \
    X(POSITIONS, "positions add up to one less than the depth")                                    \
    X(CLAMP, "an overflow ends at the largest value")                                              \
    X(JOIN_HIGH, "a join keeps the upper bound of the first range")                                \
    X(MEET_HIGH, "a meet ends one too low")                                                        \
    X(REFINE_STRICT, "x <= c is taken for x < c")                                                  \
    X(REFINE_NOT, "a condition that fails is taken for one that holds")                            \
    X(MUL_CORNERS, "a product has two of its four corners")                                        \
    X(UNSIGNED, "a signed comparison compares unsigned bounds")                                    \
    X(SHIFT, "a right shift keeps its lower bound")                                                \
    X(READ_AFTER, "a read's range is recorded behind the event's own write")                       \
    X(NARROW_RESULT, "a result is kept in one bit less than its range needs")                      \
    X(NARROW_SIGN, "the bits that are not kept are zero, whatever the sign is")                    \
    X(NARROW_COMPARE, "values are compared in one bit less than they need")                        \
    X(NUMBER_WRAPS, "a sum that may wrap is an Int's")                                             \
    X(NUMBER_VIEW, "an unsigned Int is taken for the signed one")

typedef enum ft_interval_fault_kind {
#define FT_ROW(symbol, doc) FT_INTERVAL_FAULT_##symbol,
    FT_INTERVAL_FAULT_TABLE(FT_ROW)
#undef FT_ROW
        FT_INTERVAL_FAULTS
} ft_interval_fault_kind;

FT_PLANTED(ft_interval_fault)

#endif
