/* Planted faults of states that meet, for the tests of the tests: with FT_FAULTS each row is a
 * mistake behind a switch, and tests/unit/test_cover_faults.c requires that a proof of merged paths
 * shows it. Without FT_FAULTS meet_fault_is is constantly false. */
#ifndef FT_SYMBOLIC_MEET_FAULTS_H
#define FT_SYMBOLIC_MEET_FAULTS_H

#include "base/planted.h"

#define FT_MEET_FAULT_TABLE(X)                                                                     \
    X(NONE, "no fault")                                                                            \
    X(FIRST_CONTENT, "merging: content is that of the first way")                                  \
    X(FIRST_CONDITIONS, "merging: the conditions of the first way stay")                           \
    X(FIRST_BRANCH, "merging: a branch is stood before as on the first way")                       \
    X(KNOWN, "merging: where conditions are many, content is that of the first way")               \
    X(FIRST_ROUND, "loops: memory stays as in the first round")
typedef enum meet_fault_kind {
#define FT_ROW(symbol, doc) MEET_FAULT_##symbol,
    FT_MEET_FAULT_TABLE(FT_ROW)
#undef FT_ROW
        MEET_FAULTS
} meet_fault_kind;

FT_PLANTED(meet_fault)

#endif
