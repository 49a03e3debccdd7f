#include "problem/slice.h"

#include <stdlib.h>
#include <string.h>

#include "problem/problem.h"

/* A term whose symbols are needed if its target is: a definition of a shared variable, or of a
 * local in one thread. */
typedef struct flow {
    uint32_t next; /* of the same target, UINT32_MAX */
    uint32_t thread;
    ft_term term;
} flow;

struct ft_slice {
    const ft_trace *trace;
    uint8_t *needed; /* per target: shared variables, then the locals of each thread */
    uint32_t *first; /* per target: its first flow, UINT32_MAX: none */
    FT_VEC(flow) flows;
    FT_VEC(uint32_t) pending; /* targets found needed, their flows not followed yet */
    bool open;                /* is_closed: it is not */
    uint32_t thread;          /* the thread whose locals the term at hand names */
};

static uint32_t target_of(const ft_slice *s, uint32_t thread, ft_symbol symbol)
{
    if (!FT_SYM_IS_LOCAL(symbol)) return FT_SYM_INDEX(symbol);
    return s->trace->shared.len + thread * s->trace->locals.len + FT_SYM_INDEX(symbol);
}

static size_t n_targets(const ft_slice *s)
{
    return s->trace->shared.len + (size_t)s->trace->threads.len * s->trace->locals.len;
}

static void need(void *context, ft_symbol symbol)
{
    ft_slice *s = context;
    uint32_t target = target_of(s, s->thread, symbol);
    assert(target < n_targets(s));
    if (s->needed[target]) return;
    s->needed[target] = 1;
    ft_vec_push(&s->pending, target);
}

static void need_term(ft_slice *s, uint32_t thread, ft_term term)
{
    s->thread = thread;
    if (term != FT_NO_TERM) ft_term_symbols(s->trace->terms, term, need, s);
}

/* ---- the first needs, and the data flow ---- */

static void add_action(ft_slice *s, uint32_t e, const ft_action *action)
{
    uint32_t thread = s->trace->thread[e];
    bool conditional = ft_event_conditional(s->trace, e);
    need_term(s, thread, action->guard);
    for (uint32_t i = 0; i < action->n_assignments; i++) {
        uint32_t target = target_of(s, thread, action->assignments[i].target);
        ft_vec_push(&s->flows, (flow){s->first[target], thread, action->assignments[i].term});
        s->first[target] = (uint32_t)s->flows.len - 1;
        if (conditional) need_term(s, thread, action->assignments[i].term);
    }
}

/* A plain read has a value that it must return. */
static void add_plain(ft_slice *s, uint32_t e)
{
    ft_access scratch;
    uint32_t count;
    const ft_access *accesses = ft_trace_accesses(s->trace, e, &scratch, &count);
    for (uint32_t i = 0; i < count; i++)
        if (!accesses[i].write) need(s, FT_SYM_SHARED(accesses[i].variable));
}

static void add_events(ft_slice *s)
{
    for (uint32_t e = 0; e < s->trace->n_events; e++) {
        const ft_action *action = ft_trace_action(s->trace, e);
        if (action)
            add_action(s, e, action);
        else
            add_plain(s, e);
    }
}

static void follow(ft_slice *s)
{
    while (s->pending.len > 0) {
        uint32_t target = s->pending.data[--s->pending.len];
        for (uint32_t f = s->first[target]; f != UINT32_MAX; f = s->flows.data[f].next)
            need_term(s, s->flows.data[f].thread, s->flows.data[f].term);
    }
}

static void find_unneeded(void *context, ft_symbol symbol)
{
    ft_slice *s = context;
    s->open |= !s->needed[target_of(s, s->thread, symbol)];
}

/* Every symbol of a term that flows into a needed target is needed. */
static bool is_closed(ft_slice *s)
{
    s->open = s->pending.len > 0;
    for (size_t target = 0; target < n_targets(s); target++)
        for (uint32_t f = s->first[target]; f != UINT32_MAX; f = s->flows.data[f].next) {
            s->thread = s->flows.data[f].thread;
            if (s->needed[target] && s->flows.data[f].term != FT_NO_TERM)
                ft_term_symbols(s->trace->terms, s->flows.data[f].term, find_unneeded, s);
        }
    return !s->open;
}

/* ---- the interface ---- */

ft_slice *ft_slice_new(const ft_trace *trace, ft_model model, const ft_term *conditions,
                       uint32_t n_conditions)
{
    FT_REQUIRE(trace && (conditions || n_conditions == 0));
    if (model != FT_MODEL_CTP) return NULL;
    ft_slice *s = ft_calloc(1, sizeof *s);
    s->trace = trace;
    size_t targets = n_targets(s);
    s->needed = ft_calloc(targets + 1, 1);
    s->first = ft_alloc((targets + 1) * sizeof *s->first);
    memset(s->first, 0xff, (targets + 1) * sizeof *s->first);
    add_events(s);
    for (uint32_t i = 0; i < n_conditions; i++)
        for (uint32_t t = 0; t < trace->threads.len; t++) need_term(s, t, conditions[i]);
    follow(s);
    FT_CHECK(is_closed(s));
    return s;
}

void ft_slice_free(ft_slice *s)
{
    if (!s) return;
    free(s->needed);
    free(s->first);
    ft_vec_release(&s->flows);
    ft_vec_release(&s->pending);
    free(s);
}

typedef struct search {
    ft_symbol wanted;
    bool found;
} search;

static void look(void *context, ft_symbol symbol)
{
    search *s = context;
    s->found = s->found || symbol == s->wanted;
}

static bool reads(const ft_trace *trace, ft_term term, uint32_t variable)
{
    search s = {.wanted = FT_SYM_SHARED(variable)};
    if (term != FT_NO_TERM) ft_term_symbols(trace->terms, term, look, &s);
    return s.found;
}

bool ft_slice_needs(const ft_slice *s, uint32_t e, uint32_t variable)
{
    const ft_action *action = s ? ft_trace_action(s->trace, e) : NULL;
    if (!action || ft_event_conditional(s->trace, e)) return true;
    for (uint32_t i = 0; i < action->n_assignments; i++) {
        const ft_assignment *set = &action->assignments[i];
        if (s->needed[target_of(s, s->trace->thread[e], set->target)] &&
            reads(s->trace, set->term, variable))
            return true;
    }
    return false;
}

void ft_slice_count(const ft_slice *s, uint64_t *all, uint64_t *needed)
{
    FT_REQUIRE(all && needed);
    *all = *needed = 0;
    for (uint32_t e = 0; s && e < s->trace->n_events; e++) {
        ft_access scratch;
        uint32_t count;
        const ft_access *accesses = ft_trace_accesses(s->trace, e, &scratch, &count);
        for (uint32_t i = 0; i < count; i++) {
            if (accesses[i].write) continue;
            ++*all;
            *needed += ft_slice_needs(s, e, accesses[i].variable);
        }
    }
    assert(*needed <= *all);
}
