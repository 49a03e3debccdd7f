/* The inside of modular.h: where threads stand, and what a step from there does.
 *
 * A *location* is a point before which a thread lets others go on (a visible instruction, or the
 * head of a loop), with the calls that lead there. Pointers of its registers and of its own memory
 * belong to the location; its numbers are *slots*, variables of the invariants. A *step* goes from
 * a location to the next one: at most one visible instruction, or an atomic section, and what
 * follows it in the thread alone. It has an outcome for each way through it.
 *
 * Terms are over symbols: of a global cell, of a slot of the thread in a *role* (0: the one that
 * steps; 1 and 2: others), and fresh ones, which may have any value. All numbers are bit-vectors; a
 * symbol of one bit is a Bool in the pool.
 *
 * An object is *open* where it is not followed: a read of it gives any value. An object becomes
 * open when it is accessed at a place of it that is not known; the steps are then made anew. A
 * number that was made of an address is any number: a read there gives any value, and a program
 * that writes there is refused. So is the sum of an address and a number that may have an object,
 * which has none. So nothing but a known address leads to an object that is followed.
 *
 * A count (of a semaphore, of readers) that is UINT32_MAX stands for itself and for all larger
 * ones.
 */
#ifndef FT_MODULAR_STEPS_H
#define FT_MODULAR_STEPS_H

#include "modular/faults.h"
#include "program/program.h"
#include "term/term.h"

#define MOD_NOWHERE UINT32_MAX /* no location, class or function */

enum { MOD_ROLES = 3, MOD_WIDTHS = 65 };

/* ---- values */

typedef enum mod_kind {
    MOD_NOTHING,  /* not assigned */
    MOD_NUMBER,   /* term: a BitVec */
    MOD_ADDRESS,  /* of the object `index`, at `offset` */
    MOD_FUNCTION, /* symbol `index`, and so many bytes behind it */
    MOD_THREAD    /* the one thread of the class `index` */
} mod_kind;

typedef struct mod_value {
    uint8_t kind; /* mod_kind */
    bool bare;    /* a NUMBER that surely has no object (instruction.h) */
    uint32_t index;
    uint64_t offset;
    ft_term term;
} mod_value;

typedef enum mod_origin { MOD_GLOBAL, MOD_CONSTANT, MOD_BY_THREAD, MOD_STACK, MOD_HEAP } mod_origin;

typedef struct mod_object {
    uint32_t origin;                       /* mod_origin */
    uint32_t symbol;                       /* of a global, a constant, or by thread */
    uint32_t function, instruction, depth; /* STACK, HEAP: where it is made */
    uint64_t size;
    bool open;
} mod_object;

/* What a cell holds: bytes, or the state of a synchronisation object at that address. */
typedef enum mod_content { MOD_BYTES, MOD_MUTEX, MOD_COUNT, MOD_WRITER, MOD_READERS } mod_content;

typedef struct mod_cell {
    uint32_t object;
    uint64_t offset;
    uint8_t width, content; /* content: mod_content */
    uint64_t initial;       /* of a global's cell */
} mod_cell;

/* ---- locations */

typedef struct mod_frame {
    const ft_function *f;
    uint32_t block, at; /* the next instruction: in the block */
    uint32_t result;    /* the register of the caller that gets what is returned */
    mod_value *regs;
} mod_frame;

typedef struct mod_local {
    mod_cell cell;
    mod_value value;
} mod_local;

typedef struct mod_update {
    uint32_t cell;
    ft_term term;
} mod_update;

typedef FT_VEC(ft_term) mod_terms;

/* A thread on its way. */
typedef struct mod_run {
    uint32_t class;
    FT_VEC(mod_frame) frames;
    FT_VEC(mod_local) locals;
    FT_VEC(mod_update) updates;
    ft_term guard; /* Bool; FT_NO_TERM: true */
    bool section;  /* within an atomic section */
    bool moved;    /* its visible instruction is behind it */
    bool waking;   /* a wait has released its mutex */
    uint32_t fresh;
    uint32_t joined, created; /* a class; an entry; MOD_NOWHERE */
    ft_term argument;         /* of the thread that it creates, or FT_NO_TERM */
} mod_run;

typedef struct mod_outcome {
    ft_term guard; /* Bool; FT_NO_TERM: true */
    uint32_t target;
    bool fails;      /* an assertion fails: there is no target */
    mod_terms slots; /* of the target */
    FT_VEC(mod_update) updates;
    uint32_t joined, created;
    ft_term argument;
} mod_outcome;

typedef struct mod_location {
    uint32_t class;
    bool ended; /* no step leads from it */
    mod_run run;
    FT_VEC(uint8_t) widths; /* of its slots */
    FT_VEC(mod_outcome) outcomes;
} mod_location;

/* The threads that begin at one entry; 0 is the first thread. */
typedef struct mod_class {
    uint32_t entry; /* a location */
    uint32_t sites; /* steps that create one */
    bool many;      /* there may be two */
} mod_class;

typedef struct mod_symbol {
    uint8_t width;
} mod_symbol;

typedef struct modular {
    const ft_program *program;
    ft_term_pool *pool;
    ft_intern object_keys;
    FT_VEC(mod_object) objects;
    bool anew;              /* an object became open */
    FT_VEC(mod_cell) cells; /* of globals */
    ft_map by_symbol;       /* kind, role, width, number -> symbol */
    FT_VEC(mod_symbol) symbols;
    ft_intern location_keys, class_keys;
    FT_VEC(mod_location) locations;
    FT_VEC(mod_class) classes;
    uint8_t *fixed; /* by symbol: a global that is only read */
    ft_map live;    /* function, block -> registers that are live at its begin: in `sets` */
    FT_VEC(uint64_t *) sets;
    FT_VEC(mod_run) pending; /* of the step at hand */
    uint32_t at;             /* its location */
    uint32_t fuel;
    double until;        /* by mod_now */
    const char *refused; /* the program has this, which is not followed; NULL */
} modular;

/* All steps of all locations that may be reached; false: refused. Frees nothing of `m` but what
 * mod_release frees. */
bool mod_make_steps(modular *m);
void mod_release(modular *m);
double mod_now(void); /* seconds of a clock that does not go back */

/* ---- terms (values.c) */

ft_term mod_literal(modular *m, uint8_t width, uint64_t bits);
ft_term mod_apply(modular *m, ft_op op, ft_term a, ft_term b); /* b: FT_NO_TERM for one operand */
ft_term mod_choose(modular *m, ft_term truth, ft_term a, ft_term b);
ft_term mod_cell_term(modular *m, uint32_t cell);
ft_term mod_slot_term(modular *m, uint32_t role, uint8_t width, uint32_t slot);
ft_term mod_fresh(modular *m, mod_run *run, uint8_t width);
/* The Bool of a number of one bit, and the reverse. */
ft_term mod_truth(modular *m, ft_term bit);
ft_term mod_bit(modular *m, ft_term truth);
ft_term mod_low(modular *m, ft_term a, uint8_t width); /* its low bits */
bool mod_is_literal(const modular *m, ft_term term, uint64_t *bits);
/* A number of the value; of an address: any. */
ft_term mod_number(modular *m, mod_run *run, mod_value v, uint8_t width);
mod_value mod_of(ft_term term);   /* it may have an object */
mod_value mod_bare(ft_term term); /* it has none */
bool mod_divides(ft_code code);   /* 0 as its second operand is an error */
/* The result of an instruction that computes; NOTHING: the thread goes no further (an error). A
 * divisor that is a term is assumed not to be 0. */
mod_value mod_compute(modular *m, mod_run *run, const ft_instruction *in, const mod_value *v,
                      const uint8_t *widths);
void mod_assume(modular *m, mod_run *run, ft_term truth);

/* ---- memory (places.c) */

mod_value mod_symbol_value(modular *m, uint32_t symbol, uint64_t addend);
void mod_find_fixed(modular *m);

uint32_t mod_object_of(modular *m, const mod_object *object);
void mod_open(modular *m, uint32_t object);
/* Is it an address of a global that is followed? */
bool mod_is_shared(const modular *m, mod_value address);
/* False: an error, or the program is refused. */
bool mod_load(modular *m, mod_run *run, mod_value address, uint8_t width, mod_value *value);
bool mod_store(modular *m, mod_run *run, mod_value address, uint8_t width, mod_value value);
/* The term of a synchronisation object, 32 bits; NULL: it is not followed. */
bool mod_sync_get(modular *m, mod_run *run, mod_value address, mod_content content, ft_term *term);
void mod_sync_put(modular *m, mod_run *run, mod_value address, mod_content content, ft_term term);

/* ---- where threads stand (locations.c) */

uint32_t mod_location_of(modular *m, mod_run *run, mod_terms *slots); /* slots: its numbers there */
uint32_t mod_end_of(modular *m, uint32_t class);
/* The class of threads that begin with that function and argument, and its entry. */
uint32_t mod_class_of(modular *m, const ft_function *f, mod_value argument);
mod_run mod_copy(const mod_run *run);
void mod_run_release(mod_run *run);
void mod_refuse(modular *m, const char *why);

#endif
