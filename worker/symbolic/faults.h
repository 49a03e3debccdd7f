/* Planted faults of symbolic states and of the executor over them, for the tests of the tests: with
 * FT_FAULTS each row is a mistake behind a switch, and tests/unit/test_symbolic_faults.c requires
 * that the comparison with brute force notices it. Without FT_FAULTS sym_fault_is is constantly
 * false. */
#ifndef FT_SYMBOLIC_FAULTS_H
#define FT_SYMBOLIC_FAULTS_H

#include "base/planted.h"

#define FT_SYMBOLIC_FAULT_TABLE(X)                                                                 \
    X(NONE, "no fault")                                                                            \
    X(SHARED_PAGE, "memory: a page that states share is written in place")                         \
    X(SHARED_CONTENT, "memory: an object's pages that states share are replaced in place")         \
    X(LOST_POINTEES, "memory: the copy of a page forgets which objects its addresses mean")        \
    X(OLD_POINTEE, "memory: an address that is overwritten keeps its object")                      \
    X(OLD_TERM, "memory: a number that overwrites a term leaves the term")                         \
    X(BYTE_ORDER, "memory: the bytes of terms are joined in the other order")                      \
    X(FIRST_PLACE, "memory: a load at an unknown place reads the first one")                       \
    X(STRONG_STORE, "memory: a store at an unknown place writes the first one")                    \
    X(PLACES_APART, "memory: unknown places are taken for twice as far apart")                     \
    X(COPY_OVERLAPS, "memory: a copy may overlap")                                                 \
    X(ANY_PLACE, "bounds: an access may end a byte behind its object")                             \
    X(OPEN_SIZE, "bounds: an object whose size inputs decide has the largest one")                 \
    X(UNKNOWN_INSIDE, "bounds: an unknown place is inside")                                        \
    X(FREED, "lifetime: freed objects may be used")                                                \
    X(FREED_TWICE, "lifetime: an object may be freed twice")                                       \
    X(FREED_PART, "lifetime: an address inside of an object frees it")                             \
    X(STACK_STAYS, "lifetime: a return leaves the objects of its stack")                           \
    X(CONSTANT, "lifetime: constants may be written")                                              \
    X(FIRST_OBJECT, "pointers: of two objects that an address may mean, the first")                \
    X(SAME_FUNCTION, "pointers: a call by an unknown pointer calls the first")                     \
    X(ALL_CAUSES, "causes: conditions of other threads count before they are causes")              \
    X(NO_CAUSES, "causes: no condition is known to a thread")                                      \
    X(FEASIBLE, "arms: an arm that excludes the others' conditions is taken")                      \
    X(LAST_ARM, "arms: the last open one is left out")                                             \
    X(OLD_INPUTS, "arms: inputs at hand stay when an arm is taken that they do not satisfy")       \
    X(UNCOUNTED, "arms: values of which only a few are tried are not counted")                     \
    X(DIRECT_SLICE, "path: a slice has the conditions on the same inputs alone")                   \
    X(EMPTY_SLICE, "path: a slice has no other condition")                                         \
    X(SHORT_MASK, "path: of a condition's inputs the first counts")                                \
    X(ANY_MODEL, "path: a question is answered by a model that does not satisfy it")               \
    X(ANY_CORE, "path: a core that has one of its conditions in the question answers it")          \
    X(SAME_QUESTION, "path: questions that have as many conditions are the same")                  \
    X(UNSIGNED_LESS, "values: signed comparison of terms is unsigned")                             \
    X(OR_EQUAL, "values: at most is less than")                                                    \
    X(NO_SIGN, "values: sign extension of terms is zero extension")                                \
    X(HIGH_PART, "values: a truncation of a term keeps the bits above")                            \
    X(LOGICAL_SHIFT, "values: an arithmetic shift of a term is a logical one")                     \
    X(SHIFT_FAR, "values: a shift may be as far as the width")                                     \
    X(DIVIDES_ZERO, "values: a term may be divided by 0")                                          \
    X(DIVIDES_LEAST, "values: the least number may be divided by -1")                              \
    X(SUM_NUMBER, "values: of a sum of a sum the outer number counts")                             \
    X(OTHER_CHOICE, "values: the parts of a select are exchanged")                                 \
    X(TRUTH_XOR, "values: or of truth values is exclusive")                                        \
    X(NAND_IS_AND, "values: an atomic nand is an and")                                             \
    X(SIGNED_MAX, "values: an atomic signed maximum is unsigned")                                  \
    X(SWITCH_REST, "switch: the rest includes the cases")                                          \
    X(ASSUMED, "run: an assumption that fails goes on")                                            \
    X(ASSERTED, "run: an assertion on inputs holds")                                               \
    X(ANY_EXIT, "run: an exit code that inputs decide is the expected one")                        \
    X(HELD_TWICE, "mutex: another thread may take it while it is held")                            \
    X(TRY_TAKES, "mutex: a try at a held one takes it")                                            \
    X(RETAKE_FREES, "mutex: a recursive one is free at its first unlock")                          \
    X(STRANGER, "mutex: a thread unlocks another's")                                               \
    X(CHECKING, "mutex: a checking one is a recursive one")                                        \
    X(TIMED_WAITS, "mutex: a timed lock takes a held one")                                         \
    X(READERS_EXCLUDE, "read-write lock: a reader keeps readers out")                              \
    X(WRITER_ENTERS, "read-write lock: a writer enters beside readers")                            \
    X(READ_AGAIN, "read-write lock: one unlock gives back all that a reader took")                 \
    X(WAIT_HOLDS, "condition: the mutex stays held while a thread waits")                          \
    X(WAIT_FREE, "condition: a wait returns without the mutex")                                    \
    X(SPURIOUS, "condition: a wait returns by itself")                                             \
    X(SIGNAL_LOST, "condition: a signal wakes no thread")                                          \
    X(BROADCAST_ONE, "condition: a broadcast wakes one thread")                                    \
    X(SEM_BELOW, "semaphore: it is taken at 0")                                                    \
    X(SEM_KEEPS, "semaphore: a post is lost where the count is 1")                                 \
    X(SEM_ZERO, "semaphore: it begins at 0")                                                       \
    X(BARRIER_EARLY, "barrier: the first thread passes")                                           \
    X(BARRIER_RESULT, "barrier: every thread is the last one")                                     \
    X(ONCE_TWICE, "once: it runs for every thread")                                                \
    X(JOIN_EARLY, "threads: a join does not wait")                                                 \
    X(JOIN_RESULT, "threads: a join's result is 0")                                                \
    X(JOIN_TWICE, "threads: a thread may be joined twice")                                         \
    X(DETACHED, "threads: a detached thread may be joined")                                        \
    X(INIT_USED, "objects: one that is in use may be initialised")                                 \
    X(DESTROY_USED, "objects: one that is in use may be destroyed")                                \
    X(SWAP_ALWAYS, "atomics: a compare and swap always writes")                                    \
    X(UPDATE_NEW, "atomics: an update returns the value after it")                                 \
    X(NO_DOUBTS, "races: unknown places do not race")                                              \
    X(DOUBT_PAIRS, "races: two unknown places do not race with each other")                        \
    X(DOUBT_READS, "races: reads of others do not count")                                          \
    X(MARK_VALUES, "polls: registers are no part of where a thread was")
typedef enum sym_fault_kind {
#define FT_ROW(symbol, doc) SYM_FAULT_##symbol,
    FT_SYMBOLIC_FAULT_TABLE(FT_ROW)
#undef FT_ROW
        SYM_FAULTS
} sym_fault_kind;

FT_PLANTED(sym_fault)

#endif
