/* Planted faults of the search and of certificates, for the tests of the tests: with FT_FAULTS each
 * row is a mistake behind a switch, and tests/unit/test_cover_faults.c requires that the comparison
 * with brute force notices it. Without FT_FAULTS cover_fault_is is constantly false. */
#ifndef FT_COVER_FAULTS_H
#define FT_COVER_FAULTS_H

#include "base/planted.h"

#define COVER_FAULT_TABLE(X)                                                                       \
    X(NONE, "no fault")                                                                            \
    X(NO_CONTROL, "slice: nothing depends on a branch by control")                                 \
    X(NO_WRITE, "slice: what a side may write does not count")                                     \
    X(NO_SYNC, "slice: that a side may synchronise does not count")                                \
    X(NO_ATTEMPT, "slice: the operation at which a thread stands does not count")                  \
    X(NO_OBJECT, "slice: which object an operation is about does not count")                       \
    X(STRONG_STORE, "slice: a store writes where it does on this path, for all inputs")            \
    X(READ_HERE, "slice: a load at an unknown place reads the first one")                          \
    X(RETURN_EXITS, "slice: a thread's return ends the process")                                   \
    X(EXIT_UNKEPT, "slice: a branch to the process's end is not kept")                             \
    X(USUAL_EDGES, "edges: operations on a condition are not ordered")                             \
    X(ROUNDS, "edges: rounds of a barrier are not ordered")                                        \
    X(NO_LOCK_EDGES, "edges: a lock does not come behind the unlock before")                       \
    X(NO_EXIT_EDGES, "edges: without prefixes the end waits for nothing")                          \
    X(NO_CALL_WRITE, "slice: what a function writes that a side calls does not count")             \
    X(NO_CALL_SYNC, "slice: that a function synchronises which a side calls does not count")       \
    X(NO_FAIL, "slice: without prefixes, that a side may fail does not count")                     \
    X(TRIVIAL, "markers: no loop has one")                                                         \
    X(NO_WIDENING, "epochs: the first arrival stands for all")                                     \
    X(DROPPED_SIDES, "epochs: only the explored path arrives")                                     \
    X(COVERS, "certificate: every input is covered")                                               \
    X(FOLLOWS, "certificate: a path that leaves the schedule is good")                             \
    X(FIRST_PATH, "certificate: races of the first path alone")                                    \
    X(ORDERED, "certificate: all operations on an object are ordered")                             \
    X(NEVER_STUCK, "certificate: no threads wait for each other")                                  \
    X(CLOSED, "certificate: a schedule that ends early is one")                                    \
    X(ENDS, "certificate: every loop ends")                                                        \
    X(AGREE, "certificate: schedules part where they like")                                        \
    X(INSIDE, "certificate: every arrival has the content that the next epoch knows")              \
    X(KEYS, "certificate: every arrival stands as the next epoch says")                            \
    X(PROGRESS, "certificate: a thread may stay behind for ever")                                  \
    X(UNREAD, "certificate: every input is known from the beginning")                              \
    X(FIRST_WAY, "merging: the conditions of the second way are left out")                         \
    X(LOST_TOUCHES, "merging: what the second way accesses is left out")                           \
    X(LOST_ROUNDS, "merging: what rounds of a loop access is left out")                            \
    X(LAST_PLACE, "merging: of the places that rounds access the last one counts")                 \
    X(LOOPS_END, "merging: every loop ends")
typedef enum cover_fault_kind {
#define FT_ROW(symbol, doc) COVER_FAULT_##symbol,
    COVER_FAULT_TABLE(FT_ROW)
#undef FT_ROW
        COVER_FAULTS
} cover_fault_kind;

FT_PLANTED(cover_fault)

#endif
