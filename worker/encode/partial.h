/* Internals of the partial-order encoding, shared by its three files: partial.c builds the base,
 * linearise.c turns a model into a schedule or into lemmas, claims.c asks the claims.
 *
 * Variables: member(e); an order atom per pair of events of different threads that the hard order
 * leaves open (false: the observed order); from(r, w) for each read and each write that it may
 * read. Eager: membership is closed (program order, hard order, sources), each member read has a
 * source, semaphore waits have distinct tokens, members are enabled; the order is kept acyclic by
 * the session. Lazy, added when a schedule breaks them (where values are computed and they are few:
 * beforehand): no other write between a read and its source, sections of one lock apart. */
#ifndef FT_ENCODE_PARTIAL_H
#define FT_ENCODE_PARTIAL_H

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

typedef struct ft_token { /* wait takes post's unit; post FT_NO_EVENT: an initial unit */
    uint32_t wait, post;
    ft_lit match;
} ft_token;

/* What a claim adds for the time of its query. */
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
    bool impossible;
    bool avoid_unknown;
} ft_query;

struct ft_decider {
    const ft_problem *problem;
    uint8_t *cone; /* owned copy, NULL: all */
    ft_session *session;
    ft_cssa *cssa;
    ft_lit *member; /* per event; FT_LIT_FALSE outside the cone */
    ft_map atoms;   /* earlier << 32 | later -> literal, true: reversed */
    FT_VEC(ft_read) reads;
    FT_VEC(ft_source) sources;
    FT_VEC(ft_token) tokens;
    FT_VEC(ft_lemma) lemmas;
    ft_map lemma_seen;
    uint32_t *writer_first;       /* [shared + 1] slices of writers */
    uint32_t *writers;            /* events that write the variable, in observed order */
    uint32_t *read_first;         /* [n_events + 1] slices of reads by event */
    struct ft_schedule *schedule; /* scratch of linearise.c */
    uint32_t events;
};

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

typedef enum ft_linear { FT_LINEAR_DONE, FT_LINEAR_REFINED } ft_linear;
/* Turns the session's model into a schedule: DONE fills order (members and the extra event, in
 * execution order); REFINED added at least one lemma that excludes the model. */
ft_linear ft_linearise(ft_decider *d, ft_query *query, const uint32_t **order, uint32_t *count);
struct ft_schedule *ft_schedule_new(const ft_decider *d);
void ft_schedule_free(struct ft_schedule *schedule);

#endif
