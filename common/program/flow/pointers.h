/* What addresses of a program may point to, and what follows from it: the functions that a call may
 * reach, the objects that a function may write, whether it may synchronise.
 *
 * The analysis knows no order of instructions and no calling context (Andersen: Program Analysis
 * and Specialization for the C Programming Language, chapter 4), and no fields. An *abstract
 * object* is a global, a function, or all objects that one `stack` or `alloc` makes (one call of a
 * function that does nothing but return an `alloc`, such as malloc's model, counts as an `alloc`).
 * A value may point to what the operands that it is computed from may point to, whatever the width,
 * so addresses that pass through integers or byte by byte are followed. One thing is assumed: an
 * address that was not computed from an object's address accesses no object (C 6.3.2.3).
 *
 * Functions are named by their index in the program, instructions by their number in the function.
 */
#ifndef FT_PROGRAM_FLOW_POINTERS_H
#define FT_PROGRAM_FLOW_POINTERS_H

#include "program/flow/graph.h"

#define FT_ABSTRACT_TABLE(X)                                                                       \
    X(GLOBAL, "an object of the program; index: which")                                            \
    X(FUNCTION, "a function; index: which")                                                        \
    X(STACK, "what the instruction of the function makes")                                         \
    X(HEAP, "likewise, on the heap")
typedef enum ft_abstract_kind {
#define FT_ROW(symbol, meaning) FT_ABSTRACT_##symbol,
    FT_ABSTRACT_TABLE(FT_ROW)
#undef FT_ROW
        FT_ABSTRACT_KINDS
} ft_abstract_kind;

typedef struct ft_abstract {
    uint8_t kind; /* ft_abstract_kind */
    uint32_t index;
    uint32_t function, instruction; /* of STACK and HEAP */
} ft_abstract;

/* Facts of a function, those of its callees included. */
typedef struct ft_effects {
    bool synchronises;        /* may carry out a visible instruction */
    bool releases;            /* may carry out one after which others may see its writes */
    bool creates;             /* may create a thread */
    bool may_end;             /* may end the thread or the process, or fail */
    bool recursive;           /* may call itself */
    uint64_t *reads, *writes; /* abstract objects */
    uint64_t *callees;        /* functions, the function itself included */
} ft_effects;

typedef struct ft_flow ft_flow;

/* The program is valid and outlives the analysis. */
ft_flow *ft_flow_new(const ft_program *program);
void ft_flow_free(ft_flow *flow); /* accepts NULL */

const ft_program *ft_flow_program(const ft_flow *flow);
const ft_graph *ft_flow_graph(const ft_flow *flow, uint32_t function);
const ft_effects *ft_flow_effects(const ft_flow *flow, uint32_t function);

uint32_t ft_flow_abstracts(const ft_flow *flow); /* how many there are */
uint32_t ft_flow_words(const ft_flow *flow);     /* of a set of them */
const ft_abstract *ft_flow_abstract(const ft_flow *flow, uint32_t abstract);
/* The abstract object of a STACK, an ALLOC, or a call that counts as one; FT_NO_ABSTRACT: none. */
#define FT_NO_ABSTRACT UINT32_MAX
uint32_t ft_flow_made_by(const ft_flow *flow, uint32_t function, uint32_t instruction);
uint32_t ft_flow_global(const ft_flow *flow, uint32_t symbol); /* of an object or a function */

/* The abstract objects that the operand may point to. Valid as long as the analysis. */
const uint64_t *ft_flow_points_to(const ft_flow *flow, uint32_t function,
                                  const ft_operand *operand);
const uint64_t *ft_flow_content(const ft_flow *flow, uint32_t abstract); /* what is stored there */
/* The functions that a CALL, CALL_AT, CREATE or ONCE may reach, ascending; n of them. */
const uint32_t *ft_flow_targets(const ft_flow *flow, uint32_t function, uint32_t instruction,
                                uint32_t *n);
/* The abstract objects that the instruction itself may read or write; `bits` is overwritten. */
void ft_flow_accesses(const ft_flow *flow, uint32_t function, uint32_t instruction, bool writes,
                      uint64_t *bits);
/* Does the instruction itself let other threads see what its thread wrote? */
bool ft_code_releases(ft_code code);

#endif
