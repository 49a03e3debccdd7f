/* Proofs for any number of threads: no assertion of a program fails, however many threads it makes,
 * however often its loops go round, and whatever its inputs are.
 *
 * The method is thread-modular verification at level 2 (Flanagan and Qadeer: Thread-Modular Model
 * Checking, SPIN 2003, is level 1; Hoenicke, Majumdar and Podelski: Thread Modularity at Many
 * Levels, POPL 2017). For each two threads, one standing at location A and one at location B, it
 * infers an invariant over the globals and the locals of both. A step of one of the two, or of any
 * third thread that fits the invariants of both pairs, must keep it. An invariant is a conjunction
 * of *atoms* (comparisons of two variables, or of a variable and a constant of the program). It
 * begins as false and loses each atom that a state which the solver gives falsifies, until no step
 * leads out of any (Flanagan and Leino: Houdini, FME 2001).
 *
 *   steps.h    locations of threads, and their steps as terms
 *   atoms.h    invariants of pairs
 *   prove.c    the fixpoint
 *
 * Whatever is not followed exactly is followed too widely: memory that is addressed by computed
 * places holds any value, a barrier lets threads pass at any moment, and an error other than a
 * failed assertion, which ends the process, may be followed by more. So a proof holds for the
 * program, and no proof means nothing.
 *
 * Imports: solve, common/term, common/program, common/program/flow, common/base. */
#ifndef FT_MODULAR_MODULAR_H
#define FT_MODULAR_MODULAR_H

#include "base/strbuf.h"
#include "program/program.h"

typedef struct ft_modular_options {
    double seconds; /* then it gives up */
} ft_modular_options;

typedef enum ft_modular_answer {
    FT_MODULAR_PROVED,  /* no assertion fails */
    FT_MODULAR_REFUSED, /* the program has what is not followed */
    FT_MODULAR_OPEN     /* no invariant was found, or none in time */
} ft_modular_answer;

/* The program is valid. `why`: how large the proof is, or where it ended; appended. */
ft_modular_answer ft_modular_prove(const ft_program *program, const ft_modular_options *options,
                                   ft_strbuf *why);

#endif
