#include "explore/cutoffs.h"

#include <stdlib.h>

#include "base/contract.h"
#include "base/map.h"

typedef struct record {
    uint64_t own;   /* what the event's thread changed so far */
    uint64_t print; /* of the state behind its causes */
    uint32_t size;  /* of its causes */
    uint32_t next;  /* the next older event with that print */
    uint32_t asked; /* the newest event with that print when it was last compared with them */
    bool is_known, is_spoilt, is_cutoff;
    bool asked_start; /* compared with the initial state */
} record;

typedef FT_VEC(ft_x_pick) picks;

struct ft_x_cutoffs {
    const ft_unfolding *u;
    const ft_x_executor *executor;
    FT_VEC(record) records; /* by event */
    ft_map by_print;        /* -> newest event */
    FT_VEC(uint32_t) list;  /* scratch */
    ft_status status;       /* of comparing */
    ft_error err;
};

ft_x_cutoffs *ft_x_cutoffs_new(const ft_unfolding *u, const ft_x_executor *executor)
{
    FT_REQUIRE(executor->same);
    ft_x_cutoffs *x = ft_calloc(1, sizeof *x);
    x->u = u;
    x->executor = executor;
    x->err = (ft_error)FT_ERROR_INIT;
    return x;
}

void ft_x_cutoffs_free(ft_x_cutoffs *x)
{
    if (!x) return;
    ft_vec_release(&x->records);
    ft_map_release(&x->by_print);
    ft_vec_release(&x->list);
    free(x);
}

size_t ft_x_cutoffs_bytes(const ft_x_cutoffs *x)
{
    return x->records.cap * sizeof(record) + x->by_print.cap * (2 * sizeof(uint64_t) + 1);
}

static record *record_of(ft_x_cutoffs *x, uint32_t e)
{
    while (x->records.len <= e) ft_vec_push(&x->records, (record){0});
    return &x->records.data[e];
}

/* The print and size of [e]; its causes are known. Is something in it spoilt? */
static bool add_up(ft_x_cutoffs *x, uint32_t e, record *r)
{
    ft_configuration causes = ft_unfolding_causes(x->u, e);
    bool spoilt = false;
    for (uint32_t t = 0; t < FT_X_THREADS; t++) {
        uint32_t last = causes.last[t];
        if (!last) continue;
        const record *l = last == e ? r : record_of(x, last);
        r->print ^= l->own;
        r->size += ft_unfolding_depth(x->u, last) + 1;
        spoilt = spoilt || l->is_spoilt || !(l->is_known || last == e);
    }
    return spoilt;
}

static void add(ft_x_cutoffs *x, uint32_t e, uint64_t own)
{
    bool inserted;
    record made = {.own = own, .is_known = true};
    made.is_spoilt = add_up(x, e, &made);
    if (!made.is_spoilt) {
        uint64_t *newest = ft_map_slot(&x->by_print, made.print, 0, &inserted);
        made.next = (uint32_t)*newest;
        *newest = e;
    }
    *record_of(x, e) = made;
}

/* What a step changes must be the event's, in every run; where it is not, it says nothing. */
void ft_x_cutoffs_note(ft_x_cutoffs *x, const uint32_t *events, const ft_x_run *run)
{
    for (size_t i = 0; i < run->prints.len && i < run->steps.len; i++) {
        uint32_t before = ft_unfolding_before(x->u, events[i]);
        uint64_t own = (before ? record_of(x, before)->own : 0) ^ run->prints.data[i];
        record *r = record_of(x, events[i]);
        if (!r->is_known)
            add(x, events[i], own);
        else if (r->own != own)
            r->is_spoilt = true;
    }
}

static void take_causes(ft_x_cutoffs *x, uint32_t e, picks *to)
{
    ft_configuration causes = ft_unfolding_causes(x->u, e);
    size_t n = ft_unfolding_list(x->u, &causes, NULL, 0);
    ft_vec_reserve(&x->list, n + 1);
    ft_unfolding_list(x->u, &causes, x->list.data, n);
    for (size_t i = 0; i < n; i++) {
        ft_x_action a = ft_unfolding_action(x->u, x->list.data[i]);
        ft_vec_push(to, (ft_x_pick){.thread = a.thread, .variant = a.variant});
    }
}

/* FT_X_NO_EVENT: the initial state. */
static bool is_same(ft_x_cutoffs *x, uint32_t e, uint32_t other)
{
    picks a = {0}, b = {0};
    bool same = false;
    take_causes(x, e, &a);
    if (other) take_causes(x, other, &b);
    if (x->status == FT_OK)
        x->status =
            x->executor->same(x->executor->context, a.data, a.len, b.data, b.len, &same, &x->err);
    ft_vec_release(&a);
    ft_vec_release(&b);
    return x->status == FT_OK && same;
}

static bool compare(ft_x_cutoffs *x, uint32_t e)
{
    const record *r = record_of(x, e);
    uint64_t newest = 0, print = r->print;
    uint32_t size = r->size, asked = r->asked;
    if (!print && !r->asked_start && is_same(x, e, FT_X_NO_EVENT)) return true;
    (void)ft_map_get(&x->by_print, print, &newest);
    for (uint32_t other = (uint32_t)newest; other && other != asked;) {
        const record *o = record_of(x, other);
        if (o->size < size && !o->is_spoilt && is_same(x, e, other)) return true;
        other = record_of(x, other)->next;
    }
    record_of(x, e)->asked = (uint32_t)newest;
    record_of(x, e)->asked_start = true;
    return false;
}

ft_status ft_x_cutoffs_status(const ft_x_cutoffs *x, ft_error *err)
{
    if (x->status != FT_OK) *err = x->err;
    return x->status;
}

bool ft_x_cutoffs_has(ft_x_cutoffs *x, uint32_t e)
{
    const record *r = record_of(x, e);
    if (!r->is_known || r->is_spoilt || r->is_cutoff) return r->is_cutoff;
    bool is = compare(x, e);
    record_of(x, e)->is_cutoff = is;
    return is;
}
