/* Shared by the files of terms/: nodes, marks and the access at hand. */
#ifndef FT_RECORD_TERMS_INTERNAL_H
#define FT_RECORD_TERMS_INTERNAL_H

#include "base/map.h"
#include "maker/terms/symbolic_memory.h"
#include "maker/terms/terms.h"

enum { FT_WIDTHS = 65 }; /* one bit is Bool, others are bit vectors */

/* The result of one operation of the program: its value in the run, and perhaps a term. */
typedef struct ft_node {
    ft_term term; /* over the thread's locals; FT_NO_TERM: a constant, the value */
    uint8_t width;
    uint64_t value;
} ft_node;

/* Marks that TERMS records set for a thread's next accesses. */
typedef struct ft_marks {
    uint32_t read, update, compare; /* the node that is its result, 0: no mark */
    bool copy, store, fill, check;
    ft_sym_operation operation; /* of the update */
    ft_node stored, operand, expected, desired, condition;
    ft_node pointer; /* the address of the next access; no width: no mark */
} ft_marks;

typedef struct ft_actor {
    FT_VEC(ft_node) nodes;      /* by number; [0] is none */
    FT_VEC(uint64_t) values;    /* by local: the value that the thread assigned */
    uint32_t locals[FT_WIDTHS]; /* so many of each width are in use */
    ft_marks marks;
    FT_VEC(uint32_t)
    read_from;                /* by local: where in `sources` the cells are that it is read from, 0:
                                 it was not read */
    FT_VEC(uint64_t) sources; /* addresses, each list behind its length */
    ft_lane_list copied;
    uint64_t pc;
} ft_actor;

/* A cell that the access at hand may reach (passes/pointer_targets.h). */
typedef struct ft_terms_target {
    uint64_t address;
    uint32_t variable;
    ft_term is; /* the address is this one */
} ft_terms_target;

/* The access at hand. */
typedef struct ft_terms_access {
    const ft_raw_record *record;
    ft_lane_list lanes;  /* by byte */
    FT_VEC(bool) shared; /* by byte: it lies in a shared cell */
    bool symbolic;       /* has a mark */
    bool written;        /* an update whose event is appended already */
    /* those that it may reach, first the one of the run; 0: its address is held to that of the run
     */
    uint32_t n_targets;
    ft_node pointer;
    ft_terms_target targets[FT_TERMS_TARGETS];
} ft_terms_access;

struct ft_terms {
    ft_builder *builder;
    ft_term_pool *pool;
    ft_record_terms *summary;
    ft_terms_surroundings around;
    ft_lanes *lanes;
    FT_VEC(ft_actor) actors;
    FT_VEC(uint32_t) ids[FT_WIDTHS]; /* locals of that width, in the builder */
    FT_VEC(uint8_t) depths;          /* by term */
    FT_VEC(uint32_t) sizes;          /* by term, as a tree; saturates */
    ft_map held;                     /* thread << 32 | term: an assume holds it to its value */
    ft_map assumed;                  /* the same: it is assumed */
    uint32_t spread;                 /* targets of events so far, beside those of the run */
    ft_terms_place place;            /* of the event at hand */
    ft_actor *actor;                 /* whose it is */
    ft_terms_access access;
};

/* ---- nodes.c: terms */
/* For FT_CHECK: the term has the sort of the width, and the value fits into it. */
bool ft_node_is_sound(const ft_terms *t, ft_node node);
ft_node ft_node_constant(unsigned width, uint64_t value);
ft_term ft_node_term(ft_terms *t, ft_node node); /* of a constant: its literal */
ft_node ft_node_binary(ft_terms *t, ft_sym_operation operation, unsigned width, ft_node a,
                       ft_node b);
ft_node ft_node_cast(ft_terms *t, ft_sym_operation operation, unsigned from, unsigned to,
                     ft_node a);
ft_node ft_node_choice(ft_terms *t, unsigned width, ft_node c, ft_node a, ft_node b);
ft_node ft_node_index(ft_terms *t, ft_node base, ft_node index, uint64_t stride);
ft_node ft_node_of_lanes(ft_terms *t, const ft_lane *lanes, uint32_t n);
ft_lane ft_node_lane(const ft_terms *t, ft_node node, uint32_t byte);
/* The same value by a term with room for an operator more before it gets a name. */
ft_node ft_node_small(ft_terms *t, ft_node node);
ft_node ft_node_local(ft_terms *t, unsigned width, uint64_t value, ft_symbol *symbol); /* new */

/* ---- targets.c: accesses by computed addresses */
/* At the beginning of an access: finds its targets, or holds its address to that of the run. */
void ft_terms_find_targets(ft_terms *t);
/* It has none after all: holds the address. Before the access's event. */
void ft_terms_drop_targets(ft_terms *t);
/* The local is read from the targets, or from the one cell. */
void ft_terms_keep_sources(ft_terms *t, ft_symbol local, uint64_t cell);
/* The content of the target that the address is. */
ft_term ft_terms_read_targets(ft_terms *t);
/* The content behind an access to the content `old`. */
typedef ft_term ft_terms_change(ft_terms *t, ft_term old);
/* Fills one assignment for each target: the changed content where the address is that one, else the
 * old one. Returns how many. */
uint32_t ft_terms_change_targets(ft_terms *t, ft_terms_change *change, ft_assignment *to);
/* Appends the access's event. */
void ft_terms_assign_targets(ft_terms *t, ft_term guard, const ft_assignment *assignments,
                             uint32_t n);

/* ---- terms.c: events */
void ft_terms_assign(ft_terms *t, ft_term guard, const ft_assignment *assignments, uint32_t n,
                     uint32_t hook, uint8_t flags);
/* Appends an assume that the condition comes out as it did: `holds`. */
void ft_terms_assume(ft_terms *t, ft_node condition, bool holds);
void ft_terms_hold(ft_terms *t, ft_node node, ft_sym_reason reason);
bool ft_terms_is_held(const ft_terms *t, ft_term term);
/* Does the term evaluate to the value, over the values that the reads returned? */
bool ft_terms_agrees(ft_terms *t, ft_term term, uint64_t value);
/* It does not: holds its reads to their values, and counts it. */
void ft_terms_disagrees(ft_terms *t, ft_term term);
void ft_terms_enter(ft_terms *t, ft_terms_place place);

#endif
