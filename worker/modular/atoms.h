/* Invariants of pairs of locations: conjunctions of comparisons.
 *
 * An invariant that was not reached is false. The first state that it takes in makes it all the
 * atoms that hold there; each further one takes away those that do not hold. */
#ifndef FT_MODULAR_ATOMS_H
#define FT_MODULAR_ATOMS_H

#include "modular/steps.h"

/* Columns: symbol; x and y are the sides, of equal width. */
#define MOD_RELATION_TABLE(X)                                                                      \
    X(EQ) /* x = y */                                                                              \
    X(NE)                                                                                          \
    X(ULE) /* x <= y, unsigned */                                                                  \
    X(UGE)                                                                                         \
    X(SLE)                                                                                         \
    X(SGE)                                                                                         \
    X(AFTER) /* x = y + 1 */                                                                       \
    X(BEFORE)
typedef enum mod_relation {
#define FT_ROW(symbol) MOD_##symbol,
    MOD_RELATION_TABLE(FT_ROW)
#undef FT_ROW
        MOD_RELATIONS
} mod_relation;

typedef struct mod_variable {
    uint8_t who; /* 0: a global's cell; 1, 2: a slot of the first, of the second location */
    uint8_t width;
    uint32_t index;
} mod_variable;

typedef struct mod_atom {
    uint8_t relation; /* mod_relation */
    bool constant;    /* y is `bits` */
    uint32_t x, y;    /* in the invariant's variables */
    uint64_t bits;
} mod_atom;

typedef struct mod_invariant {
    bool reached;
    uint32_t version; /* grows whenever it becomes weaker */
    FT_VEC(mod_variable) variables;
    FT_VEC(mod_atom) atoms;
    FT_VEC(uint32_t) needed; /* the atoms that imply the others */
} mod_invariant;

typedef struct mod_constants {
    FT_VEC(uint64_t) of[MOD_WIDTHS]; /* by width */
    bool is_signed, is_unsigned;     /* numbers are compared so */
} mod_constants;

/* The numbers of the program, of first contents, conditions and assignments, and how it compares.
 */
void mod_constants_init(mod_constants *c, const modular *m);
void mod_constants_release(mod_constants *c);

/* Variables of a pair of locations; second: MOD_NOWHERE for one alone. */
void mod_invariant_init(mod_invariant *v, const modular *m, uint32_t first, uint32_t second);
void mod_invariant_release(mod_invariant *v);
/* Takes in the state with these values, by variable. False: it is in already. */
bool mod_invariant_take(mod_invariant *v, const mod_constants *c, const uint64_t *values);
/* The atom over the terms of its variables. */
ft_term mod_atom_term(modular *m, const mod_invariant *v, const mod_atom *a, const ft_term *terms);

#endif
