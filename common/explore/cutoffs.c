#include "explore/cutoffs.h"

#include <stdlib.h>

#include "base/contract.h"
#include "base/map.h"
#include "explore/names.h"

/* A weight is 2^40 and 20 bits of the label's hash. */
enum { SIZE_BITS = 40, LABEL_BITS = 20 };

enum { NOT_ASKED = 0, NOT_KNOWN = UINT32_MAX }; /* of record.state */

typedef struct record {
    uint64_t own, print; /* what the event's thread changed so far; of the state behind its causes
                          */
    uint64_t own_weight, weight; /* likewise */
    uint64_t label;
    uint32_t layer;
    uint32_t next;  /* the next older event with that print */
    uint32_t asked; /* the newest event with that print when it was last compared with them */
    uint32_t state; /* the number + 1 of its name */
    bool is_known, is_spoilt, is_cutoff;
    bool asked_start; /* compared with the initial state */
} record;

typedef struct placed {
    uint32_t layer, event;
    uint64_t label;
} placed;

typedef FT_VEC(placed) layers;

struct ft_x_cutoffs {
    const ft_unfolding *u;
    const ft_x_executor *executor;
    FT_VEC(record) records;      /* by event; [0]: the initial state */
    ft_map by_print;             /* -> newest event */
    ft_x_names names;            /* of states */
    FT_VEC(uint32_t) list;       /* scratch */
    FT_VEC(ft_x_pick) picks;     /* scratch */
    layers a, b;                 /* scratch */
    FT_VEC(uint64_t) of_a, of_b; /* scratch: labels */
    ft_status status;            /* of naming */
    ft_error err;
};

ft_x_cutoffs *ft_x_cutoffs_new(const ft_unfolding *u, const ft_x_executor *executor)
{
    FT_REQUIRE(executor->state);
    ft_x_cutoffs *x = ft_calloc(1, sizeof *x);
    x->u = u;
    x->executor = executor;
    x->err = (ft_error)FT_ERROR_INIT;
    ft_vec_push(&x->records, (record){.is_known = true});
    return x;
}

void ft_x_cutoffs_free(ft_x_cutoffs *x)
{
    if (!x) return;
    ft_vec_release(&x->records);
    ft_map_release(&x->by_print);
    ft_x_names_release(&x->names);
    ft_vec_release(&x->list);
    ft_vec_release(&x->picks);
    ft_vec_release(&x->a);
    ft_vec_release(&x->b);
    ft_vec_release(&x->of_a);
    ft_vec_release(&x->of_b);
    free(x);
}

size_t ft_x_cutoffs_bytes(const ft_x_cutoffs *x)
{
    return x->records.cap * sizeof(record) + x->by_print.cap * (2 * sizeof(uint64_t) + 1) +
           ft_x_names_bytes(&x->names);
}

static record *record_of(ft_x_cutoffs *x, uint32_t e)
{
    while (x->records.len <= e) ft_vec_push(&x->records, (record){0});
    return &x->records.data[e];
}

/* ---- what is known of an event */

static uint64_t label_of(const ft_x_cutoffs *x, uint32_t e)
{
    ft_x_action a = ft_unfolding_action(x->u, e);
    if (x->executor->label) return x->executor->label(x->executor->context, &a);
    const ft_x_operation *o = &a.operation;
    const uint64_t words[] = {(uint64_t)o->kind << 32 | a.thread,
                              (uint64_t)o->object << 32 | o->other,
                              (uint64_t)o->value,
                              (uint64_t)o->value2,
                              a.variant,
                              a.outcome};
    return ft_hash_bytes(words, sizeof words, 13);
}

static uint64_t weight_of(uint64_t label)
{
    return (UINT64_C(1) << SIZE_BITS) + (label >> (64 - LABEL_BITS));
}

/* The print, weight and layer of [e]; its causes are known. Is something in it spoilt? */
static bool add_up(ft_x_cutoffs *x, uint32_t e, record *r)
{
    bool spoilt = false;
    ft_configuration causes = ft_unfolding_causes(x->u, e);
    causes.last[ft_unfolding_thread(x->u, e)] = ft_unfolding_before(x->u, e);
    r->print = r->own;
    r->weight = r->own_weight;
    for (uint32_t t = 0; t < FT_X_THREADS; t++) {
        uint32_t last = causes.last[t];
        if (!last) continue;
        const record *l = record_of(x, last);
        spoilt = spoilt || l->is_spoilt || !l->is_known;
        if (l->layer > r->layer) r->layer = l->layer;
        if (t == ft_unfolding_thread(x->u, e)) continue;
        r->print ^= l->own;
        r->weight += l->own_weight;
    }
    r->layer++;
    return spoilt;
}

static void add(ft_x_cutoffs *x, uint32_t e, uint64_t own)
{
    bool inserted;
    uint32_t before = ft_unfolding_before(x->u, e);
    record made = {.own = own, .is_known = true, .label = label_of(x, e)};
    made.own_weight = weight_of(made.label) + (before ? record_of(x, before)->own_weight : 0);
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

static void list_causes(ft_x_cutoffs *x, uint32_t e)
{
    ft_configuration causes = {{0}};
    if (e) causes = ft_unfolding_causes(x->u, e);
    size_t n = ft_unfolding_list(x->u, &causes, NULL, 0);
    ft_vec_reserve(&x->list, n + 1);
    x->list.len = n;
    ft_unfolding_list(x->u, &causes, x->list.data, n);
}

/* ---- the order */

static int by_layer(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    if (x->layer != y->layer) return x->layer < y->layer ? -1 : 1;
    return (x->event > y->event) - (x->event < y->event);
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void list_layers(ft_x_cutoffs *x, uint32_t e, layers *to)
{
    list_causes(x, e);
    to->len = 0;
    for (size_t i = 0; i < x->list.len; i++) {
        const record *r = record_of(x, x->list.data[i]);
        ft_vec_push(to, (placed){r->layer, x->list.data[i], r->label});
    }
    qsort(to->data, to->len, sizeof *to->data, by_layer);
}

static bool has_same_labels(ft_x_cutoffs *x)
{
    x->of_a.len = x->of_b.len = 0;
    for (size_t i = 0; i < x->a.len; i++) {
        ft_vec_push(&x->of_a, x->a.data[i].label);
        ft_vec_push(&x->of_b, x->b.data[i].label);
    }
    qsort(x->of_a.data, x->of_a.len, sizeof(uint64_t), by_number);
    qsort(x->of_b.data, x->of_b.len, sizeof(uint64_t), by_number);
    for (size_t i = 0; i < x->a.len; i++)
        if (x->of_a.data[i] != x->of_b.data[i]) return false;
    return true;
}

static uint64_t weight_of_layer(const layers *all, uint32_t layer)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < all->len; i++)
        if (all->data[i].layer == layer) sum += weight_of(all->data[i].label);
    return sum;
}

/* Of configurations that weigh the same, the one that does more at first: that is met first as
 * well, as a rule. Where their labels are not the same, or layers that differ weigh the same,
 * neither. */
static bool has_fuller_layer(ft_x_cutoffs *x, uint32_t a, uint32_t b)
{
    size_t i = 0;
    list_layers(x, a, &x->a);
    list_layers(x, b, &x->b);
    if (x->a.len != x->b.len || !has_same_labels(x)) return false;
    while (i < x->a.len && x->a.data[i].event == x->b.data[i].event) i++;
    if (i == x->a.len) return false;
    uint32_t one = x->a.data[i].layer, other = x->b.data[i].layer;
    uint32_t layer = one < other ? one : other;
    return weight_of_layer(&x->a, layer) > weight_of_layer(&x->b, layer);
}

bool ft_x_cutoffs_precedes(ft_x_cutoffs *x, uint32_t a, uint32_t b)
{
    uint64_t one = record_of(x, a)->weight, other = record_of(x, b)->weight;
    return one != other ? one < other : has_fuller_layer(x, a, b);
}

/* ---- states */

/* The number + 1 of the state behind [e]. */
static uint32_t state_of(ft_x_cutoffs *x, uint32_t e)
{
    ft_x_name name;
    bool known = false;
    if (record_of(x, e)->state != NOT_ASKED || x->status != FT_OK) return record_of(x, e)->state;
    list_causes(x, e);
    x->picks.len = 0;
    for (size_t i = 0; i < x->list.len; i++) {
        ft_x_action a = ft_unfolding_action(x->u, x->list.data[i]);
        ft_vec_push(&x->picks, (ft_x_pick){.thread = a.thread, .variant = a.variant});
    }
    x->status = x->executor->state(x->executor->context, x->picks.data, x->picks.len, &name, &known,
                                   &x->err);
    if (x->status != FT_OK || !known) return record_of(x, e)->state = NOT_KNOWN;
    uint32_t *number = ft_x_names_slot(&x->names, name);
    if (!*number) *number = (uint32_t)x->names.len;
    return record_of(x, e)->state = *number;
}

static bool is_same(ft_x_cutoffs *x, uint32_t e, uint32_t other)
{
    uint32_t state = state_of(x, e);
    return state != NOT_ASKED && state != NOT_KNOWN && state == state_of(x, other);
}

/* FT_X_NO_EVENT is the initial state, which comes before all. */
static bool compare(ft_x_cutoffs *x, uint32_t e)
{
    const record *r = record_of(x, e);
    uint64_t newest = 0, print = r->print;
    uint32_t asked = r->asked;
    if (!print && !r->asked_start && is_same(x, e, FT_X_NO_EVENT)) return true;
    (void)ft_map_get(&x->by_print, print, &newest);
    for (uint32_t other = (uint32_t)newest; other && other != asked;) {
        bool is_usable = other != e && !record_of(x, other)->is_spoilt;
        if (is_usable && ft_x_cutoffs_precedes(x, other, e) && is_same(x, e, other)) return true;
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
