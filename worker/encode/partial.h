/* Internals of the partial-order encoding, shared by its three files: partial.c builds the base,
 * linearise.c turns a model into a schedule or into lemmas, claims.c encodes claims.
 *
 * Variables: reached(e), its thread is past e; member(e), it executed e (the same as reached except
 * in arms, where an event whose path does not hold is passed over, Wang et al. §8); an order atom
 * for each pair of events of different threads that the hard order leaves open (false: the observed
 * order); from(r, w) for each read and each write that it may read.
 *
 * Eager constraints: reached events are closed under program order, and an event is passed over
 * together with those before it; members are closed under hard order and sources; each read of a
 * member has a source; waits for a semaphore have distinct tokens; members are enabled; the session
 * keeps the order acyclic. Lazy constraints, added when a schedule breaks them (or at the start,
 * where values are computed and these constraints are few): no other write between a read and its
 * source, and sections of one lock do not overlap. */
#ifndef FT_ENCODE_PARTIAL_H
#define FT_ENCODE_PARTIAL_H

#include "encode/cssa.h"
#include "encode/decide.h"

typedef struct ft_source {
    uint32_t write; /* event, FT_NO_EVENT: the initial value */
    ft_lit from;
} ft_source;

typedef struct ft_read {
    uint32_t event, access, variable;
    uint32_t first, count; /* slice of sources */
    uint32_t chosen;       /* in the current model: index in sources, UINT32_MAX: not a member */
} ft_read;

/* premise[0..] all true => one of the alternatives is. An alternative with `gate` is the literal
 * gate (which implies the order and more); the order a -> b is what the schedule must respect. */
typedef struct ft_lemma {
    ft_lit premise[3];
    uint32_t n_premises, n_alternatives;
    struct {
        ft_lit gate;
        uint32_t a, b;
    } alternative[2];
} ft_lemma;

typedef struct ft_atom { /* a and b: events, a < b */
    ft_lit reversed;     /* b is executed before a */
    uint32_t a, b;
} ft_atom;

typedef struct ft_bound ft_bound; /* bound.c */

/* While `literal` is true, the schedule has a before b. */
typedef struct ft_asked {
    ft_lit literal;
    uint32_t a, b;
} ft_asked;

/* A cond-wake or failed attempt is executed only if one of its ways is true (sync.c). */
typedef struct ft_way {
    uint32_t event;
    uint32_t by; /* the signal that wakes it, the acquire that makes it fail */
    ft_lit taken;
} ft_way;

typedef struct ft_token { /* wait takes post's unit; post FT_NO_EVENT: an initial unit */
    uint32_t wait, post;
    ft_lit match;
} ft_token;

/* A read that a claim adds for the time of its query. */
typedef struct ft_ghost_read {
    uint32_t variable;
    uint32_t at; /* event at whose place it reads, FT_NO_EVENT: after all members */
    ft_expr value;
    uint32_t first, count; /* slice of ghost_sources */
    uint32_t chosen;
} ft_ghost_read;

typedef struct ft_query {
    ft_lit active;       /* true only while this query is asked */
    uint32_t extra;      /* event executed though not a member (t_r departing), FT_NO_EVENT */
    ft_lit extra_writes; /* its writes take place */
    FT_VEC(ft_ghost_read) reads;
    FT_VEC(ft_source) sources; /* write == extra: the departing event's value */
    FT_VEC(ft_lit) assumptions;
    uint32_t next; /* ASSERTION, CONDITION: the claim's event, FT_NO_EVENT */
    bool impossible;
    bool given_up; /* too large to be encoded: the answer is unknown */
    bool avoid_unknown;
    bool bounded; /* to `bound` context switches */
    uint32_t bound;
    uint32_t first_limit; /* assumptions from here on are the bound */
} ft_query;

struct ft_decider {
    const ft_problem *problem;
    uint8_t *cone; /* owned copy, NULL: all */
    ft_session *session;
    ft_cssa *cssa;
    ft_lit avoid;    /* no member reads an unknown value; FT_LIT_TRUE: none can */
    ft_lit *member;  /* per event; FT_LIT_FALSE outside the cone */
    ft_lit *reached; /* likewise; `member` itself where the trace has no branches */
    ft_map atoms;    /* earlier << 32 | later -> literal, true: reversed */
    FT_VEC(ft_atom) atom_list;
    ft_bound *bound; /* NULL until a query has one */
    FT_VEC(ft_read) reads;
    FT_VEC(ft_source) sources;
    FT_VEC(ft_token) tokens;
    FT_VEC(ft_way) ways;
    FT_VEC(ft_asked) asked;
    ft_map gates; /* a << 32 | b -> ft_partial_gate's literal */
    FT_VEC(ft_lemma) lemmas;
    ft_map lemma_seen;
    uint32_t *writer_first;       /* [shared + 1] slices of writers */
    uint32_t *writers;            /* events that write the variable, in observed order */
    uint32_t *read_first;         /* [n_events + 1] slices of reads by event */
    struct ft_schedule *schedule; /* scratch of linearise.c */
    uint32_t events;
    ft_lit *units_out; /* per semaphore, ft_units_all_out's literal; 0: not asked yet */
    ft_decided_by name;
    bool base_beyond;  /* the session gave up on part of the base; */
    bool beyond;       /* on part of it or of the query at hand */
    ft_decider *by_z3; /* for queries beyond this session; NULL: not yet */
};

ft_decider *ft_partial_open(const ft_problem *problem, const uint8_t *cone, ft_session_kind kind);
ft_session_kind ft_partial_z3_kind(const ft_problem *problem);

bool ft_partial_in(const ft_decider *d, uint32_t e);
/* "a is executed before b", folded where the hard order decides; a != b. */
ft_lit ft_partial_before(ft_decider *d, uint32_t a, uint32_t b);
void ft_partial_clause(ft_decider *d, const ft_lit *literals, uint32_t count);
/* Adds the lemma once; returns whether it was new. */
bool ft_partial_lemma(ft_decider *d, const ft_lemma *lemma);
/* "No other write between": `other` executed => before `write` (none: the initial value) or after
 * `reader` (none: it reads at the end). */
ft_lemma ft_partial_between(const ft_decider *d, ft_lit from, uint32_t write, uint32_t reader,
                            uint32_t other);
/* "Sections of one lock apart": closed before the other's acquire. Returns whether it was new. */
bool ft_partial_keep_apart(ft_decider *d, uint32_t section, uint32_t other);

/* A literal that implies: the section is closed, before the event of another thread unless that is
 * FT_NO_EVENT. */
ft_lit ft_partial_closed(ft_decider *d, const ft_section *section, uint32_t event);

void ft_partial_implies(ft_decider *d, ft_lit premise, ft_lit conclusion);
/* A literal that implies a before b, and makes the schedule follow it; FT_LIT_FALSE where the hard
 * order excludes it. No constraint implies the literal. */
ft_lit ft_partial_gate(ft_decider *d, uint32_t a, uint32_t b);
/* Encodes the tokens of a semaphore wait outside the cone. */
void ft_partial_late_wait(ft_decider *d, uint32_t wait);

/* sync.c: conditions and failed attempts. */
void ft_partial_sync(ft_decider *d);
/* Encodes the ways of an event outside the cone. */
void ft_partial_late_ways(ft_decider *d, uint32_t e);
/* Must e have a way? Not where its own thread's events or `wakeups` make it possible without one.
 */
bool ft_partial_has_ways(const ft_decider *d, uint32_t e);

/* ---- a claim's query (claims.c) ---- */

/* e is next in its thread after the last step. */
void ft_query_next(ft_decider *d, ft_query *query, uint32_t e);
/* bound.c: assumes that the schedule has at most query->bound context switches. Call it after every
 * other assumption and once query->extra is known. */
void ft_bound_assume(ft_decider *d, ft_query *query, const ft_claim *claim);
bool ft_bound_in_core(const ft_decider *d, const ft_query *query); /* after UNSAT */
/* The event's segment in the model of a bounded query: executed events in the order of their
 * segments, each in program order, are the schedule. */
uint32_t ft_bound_segment(const ft_decider *d, uint32_t e);
void ft_bound_atom(ft_decider *d, const ft_atom *atom); /* a new atom */
void ft_bound_free(ft_bound *bound);                    /* accepts NULL */
/* causal.c: adds the order that the causality graph derives for the claim (problem->causality). */
void ft_query_causality(ft_decider *d, ft_query *query, const ft_claim *claim, bool departing);
/* cube.c: assumes problem->cube, as far as this decider's events have its choices. */
void ft_query_cube(ft_decider *d, ft_query *query);
/* stuck.c: STUCK of claim.h. */
void ft_query_stuck(ft_decider *d, ft_query *query, uint32_t e);

typedef enum ft_linear { FT_LINEAR_DONE, FT_LINEAR_REFINED } ft_linear;
/* Turns the session's model into a schedule: DONE fills order (members and the extra event, in
 * execution order); REFINED added at least one lemma that excludes the model. */
ft_linear ft_linearise(ft_decider *d, ft_query *query, const uint32_t **order, uint32_t *count);
struct ft_schedule *ft_schedule_new(const ft_decider *d);
void ft_schedule_free(struct ft_schedule *schedule);

#endif
