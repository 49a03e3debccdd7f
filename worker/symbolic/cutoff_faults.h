/* Planted faults of the states that cutoffs compare, for the tests of the tests: with FT_FAULTS
 * each row is a mistake behind a switch, and the comparison with brute force must notice it.
 * Without FT_FAULTS ft_sym_fault_is is constantly false. */
#ifndef FT_SYMBOLIC_CUTOFF_FAULTS_H
#define FT_SYMBOLIC_CUTOFF_FAULTS_H

#include "base/planted.h"

#define FT_SYM_FAULT_TABLE(X)                                                                      \
    X(NONE, "no fault")                                                                            \
    X(NO_ORDER, "which accesses may still race is not part of a state")                            \
    X(NO_CONDITIONS, "conditions on inputs are not part of a state")                               \
    X(NO_MEMORY, "memory is not part of a state")                                                  \
    X(NO_REGISTERS, "registers and places of threads are not part of a state")                     \
    X(NOT_CONFIRMED, "states of one fingerprint count as equal")                                   \
    X(CUT_UNJUDGED, "races are not looked for in executions that come to no end")
typedef enum ft_sym_fault_kind {
#define FT_ROW(symbol, doc) FT_SYM_FAULT_##symbol,
    FT_SYM_FAULT_TABLE(FT_ROW)
#undef FT_ROW
        FT_SYM_FAULTS
} ft_sym_fault_kind;

FT_PLANTED(ft_sym_fault)

#endif
