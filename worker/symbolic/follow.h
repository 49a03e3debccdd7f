/* For those who follow a symbolic state instruction by instruction (cover): notes of what a step
 * does, and the state's objects and inputs by name.
 *
 * A note AT comes before each instruction, also one that is visible, and again when the instruction
 * is done anew because it stood before a branch (then OPEN came in between). The notes of what it
 * decides and accesses follow. */
#ifndef FT_SYMBOLIC_FOLLOW_H
#define FT_SYMBOLIC_FOLLOW_H

#include "solve/session.h"
#include "symbolic/state.h"

typedef enum ft_sym_note_kind {
    FT_SYM_AT,     /* the thread comes to an instruction, `depth` calls deep, from 1 */
    FT_SYM_OPEN,   /* it stands before a branch, and does the instruction anew behind it */
    FT_SYM_ARM,    /* the condition `term` holds from here on, or held anyway; not a literal */
    FT_SYM_ACCESS, /* of n bytes at `at`, or at the unknown place `term`, of the object */
    FT_SYM_MADE,   /* the object is new */
    FT_SYM_LOOP,   /* the instruction leaves a loop that is taken as a function, number `object` */
    FT_SYM_TARGET  /* control goes on at the function's target number `target` */
} ft_sym_note_kind;

typedef struct ft_sym_note {
    ft_sym_note_kind kind;
    uint32_t thread, depth, object, target;
    bool writes;
    uint64_t at, n;
    ft_term term; /* FT_NO_TERM: none */
    ft_sym_place place;
} ft_sym_note;

ft_term_pool *ft_sym_world_pool(ft_sym_world *world);

/* An open input: the n-th value (from 0) that the thread reads of the name. */
typedef struct ft_sym_name {
    const char *name;
    uint32_t thread, n;
    uint8_t width;
    bool loop; /* a cell of a loop, by its name (program/loops.h) */
} ft_sym_name;
ft_sym_name ft_sym_world_input(const ft_sym_world *world, ft_symbol symbol);
uint32_t ft_sym_world_inputs(const ft_sym_world *world); /* symbols are below this */
/* The symbol of the input or cell; the program has to have one of that name. FT_NO_ID: it has not.
 */
ft_symbol ft_sym_world_symbol(ft_sym_world *world, uint32_t thread, const char *name, uint32_t n,
                              uint8_t width);

/* Adds a condition, of which every step is a cause; inputs at hand satisfy it. UNSAT, UNKNOWN: none
 * is left, or found, and nothing is added. */
ft_answer ft_sym_assume(ft_sym_state *state, ft_term condition);
/* Can the condition hold beside those of the state? */
ft_answer ft_sym_ask(ft_sym_state *state, ft_term condition);
uint32_t ft_sym_steps(const ft_sym_state *state, uint32_t thread); /* that the thread has taken */
/* How many values of the input the thread has read. */
uint32_t ft_sym_reads(const ft_sym_state *state, uint32_t thread, const char *name);
uint64_t ft_sym_input_at_hand(const ft_sym_state *state, ft_symbol symbol);

/* Where the source has what the thread stands before: of the innermost call that has a place there
 * (models of the library have none). file FT_NO_FILE: nowhere. */
ft_position ft_sym_position(const ft_sym_state *state, uint32_t thread);

/* The object of that number: of a global its symbol; else the thread that made it, unless it is
 * older than the epoch (epoch.h). */
typedef struct ft_sym_made {
    uint32_t symbol; /* FT_NO_SYMBOL: `stack` or `alloc` made it */
    uint32_t thread; /* that made it, or whose own global it is; FT_NO_ID: it is shared */
    bool heap, constant;
    uint64_t base, size;
} ft_sym_made;
ft_sym_made ft_sym_object_made(const ft_sym_state *state, uint32_t object);
/* The object around the address, freed ones too; false: none. */
bool ft_sym_object_around(const ft_sym_state *state, uint64_t address, uint32_t *object);

#endif
