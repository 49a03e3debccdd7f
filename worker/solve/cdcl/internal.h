/* Internals of the solver (cdcl.h): cdcl.c stores variables and constraints, propagate.c keeps the
 * trail, analyse.c learns from conflicts, heap.c ranks variables, search.c decides and answers,
 * invariants.c checks them in FT_CHECKED builds. */
#ifndef FT_SOLVE_CDCL_INTERNAL_H
#define FT_SOLVE_CDCL_INTERNAL_H

#include "base/memory.h"
#include "solve/cdcl/cdcl.h"
#include "solve/cdcl/order_graph.h"

typedef uint32_t ft_code; /* a literal: twice its variable, plus one if negative; 0: none */
#define FT_NOT(p)      ((p) ^ 1u)
#define FT_VARIABLE(p) ((p) >> 1)
#define FT_NEGATIVE(p) (((p)&1u) != 0)

/* Why a literal is true: a clause, the other literal of a binary clause, a limit, or nothing. */
#define FT_BY_BINARY 0x40000000u
#define FT_BY_LIMIT  0x80000000u
#define FT_BY_NONE   UINT32_MAX

/* A clause in the arena: a header of FT_HEAD words, then its literals; the first two are watched.
 * The support is a negative literal of a variable that is not an order atom; as long as it is not
 * false the clause needs no decision. */
enum { FT_SIZE, FT_GLUE, FT_SUPPORT, FT_NEXT_SUPPORTED, FT_HEAD };
#define FT_GLUE_ORIGINAL 0u /* not learnt: never dropped */

typedef struct ft_cdcl_watcher {
    uint32_t clause;
    ft_code blocker; /* another literal of the clause: where it is true, the clause is skipped */
} ft_cdcl_watcher;

typedef struct ft_watch_list {
    ft_cdcl_watcher *data;
    uint32_t len, cap;
} ft_watch_list;

typedef struct ft_cdcl_link { /* a binary clause or a limit, in a list by literal */
    uint32_t what, next;
} ft_cdcl_link;

typedef struct ft_cdcl_limit { /* at most k of these literals */
    uint32_t first, count, k, holding;
} ft_cdcl_limit;

typedef struct ft_level {
    uint32_t trail, edges, pending, head;
} ft_level;

typedef struct ft_cdcl_atom {
    uint32_t a, b; /* both 0: not an order atom */
} ft_cdcl_atom;

struct ft_cdcl {
    /* per variable */
    uint32_t n_variables; /* variable 0 is unused, 1 is true */
    size_t variables_cap;
    uint32_t *level, *reason, *position; /* position on the trail */
    double *activity;
    int8_t *phase;    /* the last value */
    uint32_t *focus;  /* number of the search in which it was last part of a conflict */
    uint32_t *heaped; /* place in the heap plus one; 0: not in it */
    uint8_t *seen;    /* scratch of the analysis */
    uint8_t *used;    /* in some constraint */
    int8_t *model;
    ft_cdcl_atom *atom;
    uint32_t *supported; /* first clause whose support is the negative literal */
    /* per literal */
    int8_t *value;          /* 1 true, -1 false, 0 open */
    ft_watch_list *watches; /* clauses that watch the negation: visited when this becomes true */
    uint32_t *implied;      /* binary clauses: first link; what = the literal implied */
    uint32_t *limited;      /* limits: first link */

    FT_VEC(uint32_t) arena;
    FT_VEC(uint32_t) learnt; /* clauses, oldest first */
    FT_VEC(ft_cdcl_link) binaries;
    FT_VEC(ft_cdcl_link) limit_links;
    FT_VEC(ft_cdcl_limit) limits;
    FT_VEC(ft_code) limit_literals;

    FT_VEC(ft_code) trail;
    FT_VEC(ft_level) levels;      /* levels.data[i] opened level i + 1 */
    uint32_t propagated, ordered; /* literals of the trail that are done; ordered <= propagated */
    /* Clauses without a support that holds; each one before `head` has a true literal. */
    FT_VEC(uint32_t) pending;
    uint32_t head;

    FT_VEC(uint32_t) heap; /* by activity: variables of this search's conflicts, if open */
    uint32_t search;       /* the same as long as the assumptions are */
    uint64_t search_began; /* conflicts before it */

    ft_order_graph *graph; /* NULL: no order */
    bool impossible;       /* unsatisfiable whatever is assumed */

    FT_VEC(ft_code) conflict; /* all false */
    FT_VEC(ft_code) lesson;   /* the learnt clause, its asserting literal first */
    FT_VEC(ft_code) why;      /* scratch: one reason */
    FT_VEC(ft_code) stack;
    FT_VEC(uint32_t) marked; /* variables to unmark */
    FT_VEC(uint64_t) level_seen;
    uint64_t level_stamp;
    double bump;

    FT_VEC(ft_code) assumptions; /* of the last check: level i + 1 holds the i-th */
    FT_VEC(ft_lit) core;
    uint32_t model_size;
    uint64_t work, next_cleaning, next_reduction, reductions;
    uint32_t cleaned;   /* facts known at the last cleaning */
    uint64_t conflicts; /* in all checks so far */
};

static inline ft_code ft_code_of(ft_lit literal)
{
    return literal > 0 ? (ft_code)literal << 1 : (ft_code)-literal << 1 | 1u;
}

static inline ft_lit ft_lit_of(ft_code p)
{
    return FT_NEGATIVE(p) ? -(ft_lit)FT_VARIABLE(p) : (ft_lit)FT_VARIABLE(p);
}

static inline bool ft_is_atom(const ft_cdcl *s, uint32_t variable)
{
    return s->atom[variable].a != s->atom[variable].b;
}

/* May the literal be a support, true unless a clause needs its variable? */
static inline bool ft_is_default(const ft_cdcl *s, ft_code p)
{
    return FT_NEGATIVE(p) && !ft_is_atom(s, FT_VARIABLE(p));
}

static inline uint32_t ft_current_level(const ft_cdcl *s)
{
    return (uint32_t)s->levels.len;
}

/* cdcl.c */
/* Stores and watches a clause of two or more literals, the first two fit to be watched. Returns
 * the reason with which it implies its first literal. */
uint32_t ft_cdcl_attach(ft_cdcl *s, const ft_code *literals, uint32_t count, uint32_t glue);
/* Drops clauses that are satisfied at level 0, and with `reduce` the worse half of the learnt ones.
 * At level 0, everything propagated. */
void ft_cdcl_clean(ft_cdcl *s, bool reduce);

/* propagate.c */
void ft_cdcl_assign(ft_cdcl *s, ft_code p, uint32_t reason);
bool ft_cdcl_propagate(ft_cdcl *s); /* false: s->conflict is filled */
void ft_cdcl_open_level(ft_cdcl *s);
void ft_cdcl_back(ft_cdcl *s, uint32_t level);
/* p is watched in the clause. */
void ft_cdcl_watch(ft_cdcl *s, ft_code p, ft_cdcl_watcher w);
/* Gives the clause a support, or makes it pending. */
void ft_cdcl_support(ft_cdcl *s, uint32_t clause);

/* heap.c: the variables in the conflicts of the present search. */
void ft_cdcl_heap_clear(ft_cdcl *s);
void ft_cdcl_heap_bump(ft_cdcl *s, uint32_t variable);   /* it was part of a conflict */
void ft_cdcl_heap_reopen(ft_cdcl *s, uint32_t variable); /* it has lost its value */
uint32_t ft_cdcl_heap_pop(ft_cdcl *s); /* the most active open variable, 0: none */

/* analyse.c */
/* Derives s->lesson from s->conflict; returns the level to backtrack to. *glue: its LBD. Not at
 * level 0. */
uint32_t ft_cdcl_analyse(ft_cdcl *s, uint32_t *glue);
/* p is an assumption that is false: stores p and the assumptions that imply its negation in
 * s->core. */
void ft_cdcl_explain_assumption(ft_cdcl *s, ft_code p);

/* invariants.c: for FT_CHECK. */
/* Between steps: trail, levels, heap, limits, watches and order graph agree with each other. */
bool ft_cdcl_is_sound(const ft_cdcl *s);
/* The model satisfies the assumptions and every clause, limit and order atom that is stored. */
bool ft_cdcl_model_holds(const ft_cdcl *s);
bool ft_cdcl_core_is_assumed(const ft_cdcl *s); /* every literal of the core was assumed */
/* Every literal of the lesson is false, the first alone at the current level. */
bool ft_cdcl_lesson_asserts(const ft_cdcl *s);

#endif
