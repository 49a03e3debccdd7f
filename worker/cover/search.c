#include "cover/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "cover/constrained.h"
#include "cover/faults.h"
#include "cover/graph.h"
#include "cover/invariants.h"
#include "cover/slice.h"
#include "cover/translate.h"
#include "program/binary.h"
#include "symbolic/epoch.h"

/* A node of the selector while it grows. */
typedef struct growing {
    ft_term term; /* of the world; FT_NO_TERM: a leaf */
    uint32_t yes, no, schedule;
    ft_term condition; /* of a leaf with a schedule */
    bool never;        /* no run comes here */
} growing;
typedef FT_VEC(growing) growing_nodes;

/* Where a schedule has ended for some of its inputs. So many are kept. */
enum { LANDINGS = 2000 };
typedef struct landing {
    uint32_t schedule;
    ft_term condition;
    ft_sym_state *arrival;
} landing;

/* An epoch. */
typedef struct stretch {
    char *key;           /* of its arrivals; of the entry "" */
    ft_sym_state *begin; /* NULL: the entry */
    bool stale;          /* it is to be searched, maybe again */
    growing_nodes nodes;
    FT_VEC(ft_schedule) schedules;
    FT_VEC(uint32_t) next; /* by schedule: the epoch that follows; FT_NO_ID: none */
    FT_VEC(landing) landings;
    ft_term init; /* holds wherever it begins (invariants.h); FT_NO_TERM: nothing is known */
    uint64_t entries, discarded, open, searches;
    ft_status why;
    char reason[480];
    uint32_t number; /* in the set; FT_NO_ID: no schedule leads there any more */
} stretch;

/* A leaf that is to be explored, under the conditions of the way to it. */
typedef struct task {
    uint32_t node;
    ft_term *conditions;
    size_t n;
} task;

typedef struct searching {
    cover_world world;
    cover_translation translation;
    cover_trace trace;
    uint64_t max_entries, entries; /* in all epochs */
    FT_VEC(stretch) epochs;
    uint32_t at, max_epochs; /* at: the epoch at hand */
    uint32_t named;          /* schedules that have a name */
    size_t landings;         /* of all epochs; more than are kept: some were not */
    bool ordered, gives_up;  /* gives_up: at the first leaf that is left */
    growing_nodes nodes;     /* its selector */
    FT_VEC(task) tasks;
    ft_intern bodies; /* of schedules, as bytes: equal ones are merged */
    cover_search_counts *counts;
} searching;

static stretch *at_hand(const searching *s)
{
    return &s->epochs.data[s->at];
}

/* ---- terms ---- */

static ft_term apply(searching *s, ft_op op, const ft_term *kids, uint32_t n)
{
    ft_term made = FT_NO_TERM;
    ft_status status = ft_term_apply(s->world.pool, op, kids, n, NULL, &made, NULL);
    assert(status == FT_OK);
    (void)status;
    return made;
}

static ft_term negated(searching *s, ft_term term)
{
    return apply(s, FT_OP_NOT, &term, 1);
}

static ft_term all_of(searching *s, const ft_term *all, size_t n)
{
    if (!n) return ft_term_literal(s->world.pool, (ft_value){FT_BOOL_SORT, 1});
    return n == 1 ? all[0] : apply(s, FT_OP_AND, all, (uint32_t)n);
}

/* Not all of them hold; FT_NO_TERM: there are none. */
static ft_term excluded(searching *s, const cover_terms *kept)
{
    if (!kept->len) return FT_NO_TERM;
    return negated(s, all_of(s, kept->data, kept->len));
}

/* ---- entries ---- */

static uint32_t add_node(searching *s)
{
    ft_vec_push(&s->nodes, (growing){.term = FT_NO_TERM, .schedule = FT_NO_SCHEDULE});
    return (uint32_t)s->nodes.len - 1;
}

static void add_task(searching *s, uint32_t node, const cover_terms *conditions, ft_term last)
{
    task t = {.node = node, .n = conditions->len + (last != FT_NO_TERM)};
    t.conditions = ft_alloc((t.n + 1) * sizeof *t.conditions);
    if (conditions->len)
        memcpy(t.conditions, conditions->data, conditions->len * sizeof *t.conditions);
    if (last != FT_NO_TERM) t.conditions[t.n - 1] = last;
    ft_vec_push(&s->tasks, t);
}

static void leave_open(searching *s, const ft_error *err)
{
    stretch *e = at_hand(s);
    if (e->open++) return;
    e->why = err->code;
    snprintf(e->reason, sizeof e->reason, "%s", err->message);
}

/* All that makes two schedules different, as bytes. */
static void body_of(const ft_schedule *x, ft_strbuf *body)
{
    ft_strbuf_printf(body, "%u/", x->end);
    for (size_t i = 0; i < x->nodes.len; i++) {
        const ft_node *n = &x->nodes.data[i];
        ft_strbuf_printf(body, "%u %u %u %u %u %u %u %u %u %u %u", n->kind, n->timed_out,
                         x->threads.data[n->thread],
                         n->object == FT_NO_ID ? FT_NO_ID : x->objects.data[n->object],
                         n->other == FT_NO_ID ? FT_NO_ID : x->objects.data[n->other],
                         n->peer == FT_NO_ID ? FT_NO_ID : x->threads.data[n->peer], n->function,
                         n->instruction, n->file, n->line, n->column);
        for (uint32_t k = 0; k < n->n_edges; k++)
            ft_strbuf_printf(body, ",%u", x->edges.data[n->edges + k]);
        ft_strbuf_puts(body, ";");
    }
}

/* Schedules that end at different epochs are different. */
static void add_arrival(const searching *s, const ft_sym_state *m, ft_strbuf *body)
{
    uint32_t threads[FT_SYM_THREADS], n = ft_sym_match(m, s->ordered, threads);
    ft_sym_state *arrival = NULL;
    ft_error err = FT_ERROR_INIT;
    if (ft_sym_arrive(m, threads, n, &arrival, &err) != FT_OK) return;
    for (uint32_t i = 0; i < n; i++) ft_strbuf_printf(body, "%u ", threads[i]);
    ft_sym_key(arrival, body);
    ft_sym_free(arrival);
}

/* The number of the path's schedule, an equal one's if there is one. */
static uint32_t add_schedule(searching *s, ft_sym_state *m, ft_schedule_end end)
{
    ft_schedule made;
    ft_strbuf body = {0};
    if (end == FT_SCHEDULE_EPOCH) add_arrival(s, m, &body);
    cover_graph_schedule(&s->world, m, &s->trace, end, s->translation.set, &made);
    body_of(&made, &body);
    uint32_t known = s->bodies.len, number = ft_intern_add(&s->bodies, body.text, body.len);
    ft_strbuf_release(&body);
    if (number < known) {
        ft_schedule_release(&made);
        return number;
    }
    ft_vec_push(&at_hand(s)->schedules, made);
    ft_vec_push(&at_hand(s)->next, FT_NO_ID);
    return number;
}

/* ---- one path ---- */

static bool is_premature(const searching *s, ft_schedule_end end)
{
    if (end == FT_SCHEDULE_DISCARDED) return true;
    if (end == FT_SCHEDULE_BLOCKED && s->trace.endless) return true;
    return s->world.control.prefix && cover_is_premature(&s->trace);
}

/* The slice of the path at hand. A path that never ends has all its decisions: what it would have
 * synchronised behind its loop is not known. */
static void slice(const searching *s, const ft_sym_state *m, cover_terms *kept)
{
    kept->len = 0;
    if (!s->trace.endless) {
        cover_slice(m, &s->trace, kept);
        return;
    }
    ft_map seen = {0};
    for (size_t i = 0; i < s->trace.terms.len; i++) {
        bool fresh;
        ft_map_slot(&seen, s->trace.terms.data[i], 1, &fresh);
        if (fresh) ft_vec_push(kept, s->trace.terms.data[i]);
    }
    ft_map_release(&seen);
}

/* Executes a path under the conditions, one that ends, and not the process before others where some
 * input allows that: classes of inputs that do are excluded one after the other. Then `kept` has
 * its slice. */
static ft_status run_path(searching *s, const task *t, ft_schedule_end *end, ft_sym_state **m,
                          cover_terms *kept, ft_error *err)
{
    enum { TRIES = 200 };
    cover_terms conditions = {0}, first = {0};
    ft_status status = FT_OK;
    bool has_first = false;
    for (size_t i = 0; i < t->n; i++) ft_vec_push(&conditions, t->conditions[i]);
    for (int tries = 0;; tries++) {
        ft_error own = FT_ERROR_INIT;
        status = cover_run(&s->world, at_hand(s)->begin, conditions.data, conditions.len, &s->trace,
                           end, m, &own);
        s->counts->paths++;
        if (status != FT_OK && has_first) { /* none is left: the first it is */
            conditions.len = t->n;
            for (size_t i = 0; i < first.len; i++) ft_vec_push(&conditions, first.data[i]);
            own = FT_ERROR_INIT;
            status = cover_run(&s->world, at_hand(s)->begin, conditions.data, conditions.len,
                               &s->trace, end, m, &own);
            has_first = false;
            tries = TRIES;
        }
        if (status != FT_OK) {
            *err = own;
            break;
        }
        slice(s, *m, kept);
        if (tries >= TRIES || !is_premature(s, *end)) break;
        ft_term other = excluded(s, kept);
        if (other == FT_NO_TERM) break;
        for (size_t i = 0; i < kept->len && !has_first; i++) ft_vec_push(&first, kept->data[i]);
        has_first = true;
        ft_vec_push(&conditions, other);
        ft_sym_free(*m);
        *m = NULL;
    }
    ft_vec_release(&conditions);
    ft_vec_release(&first);
    return status;
}

/* The path's leaf at the end of its conditions; the other sides are tasks. */
static uint32_t grow(searching *s, const task *t, const cover_terms *kept)
{
    cover_terms conditions = {0};
    uint32_t node = t->node;
    ft_sym_state *asked = ft_sym_new(s->world.world);
    for (size_t i = 0; i < t->n; i++) {
        ft_vec_push(&conditions, t->conditions[i]);
        (void)ft_sym_assume(asked, t->conditions[i]);
    }
    for (size_t i = 0; i < kept->len; i++) {
        ft_term other = negated(s, kept->data[i]);
        if (ft_sym_ask(asked, other) == FT_ANSWER_UNSAT) continue;
        uint32_t yes = add_node(s), no = add_node(s);
        s->nodes.data[node].term = kept->data[i];
        s->nodes.data[node].yes = yes;
        s->nodes.data[node].no = no;
        add_task(s, no, &conditions, other);
        ft_vec_push(&conditions, kept->data[i]);
        (void)ft_sym_assume(asked, kept->data[i]);
        node = yes;
    }
    s->nodes.data[node].condition = all_of(s, conditions.data, conditions.len);
    ft_sym_free(asked);
    ft_vec_release(&conditions);
    return node;
}

static ft_status check_time(const searching *s, ft_error *err)
{
    if (!s->world.should_stop || !s->world.should_stop(s->world.context)) return FT_OK;
    return ft_error_set(err, FT_BUDGET, "the time is used up");
}

static void explore(searching *s, const task *t)
{
    ft_error err = FT_ERROR_INIT;
    ft_schedule_end end;
    ft_sym_state *m = NULL;
    cover_terms kept = {0};
    ft_status status = FT_OK;
    if (s->gives_up && at_hand(s)->open) return;
    if (s->entries >= s->max_entries)
        status = ft_error_set(&err, FT_LIMIT, "more entries than are looked for");
    if (status == FT_OK) status = check_time(s, &err);
    if (status == FT_OK) status = run_path(s, t, &end, &m, &kept, &err);
    if (status == FT_OK) {
        uint32_t node = grow(s, t, &kept);
        s->nodes.data[node].schedule = add_schedule(s, m, end);
        at_hand(s)->entries += end != FT_SCHEDULE_DISCARDED;
        at_hand(s)->discarded += end == FT_SCHEDULE_DISCARDED;
        s->entries += end != FT_SCHEDULE_DISCARDED;
    } else if (status != FT_NOT_FOUND) {
        leave_open(s, &err);
    }
    ft_sym_free(m);
    ft_vec_release(&kept);
}

/* ---- arrivals ---- */

typedef struct arriving {
    searching *s;
    uint32_t schedule;
    ft_term condition; /* the inputs that take it */
    bool any;
    uint32_t next;
    uint32_t threads[FT_SYM_THREADS], n_threads; /* by thread of the next epoch: of the world */
    ft_error *err;
    ft_status status;
} arriving;

static uint32_t epoch_of_key(const searching *s, const char *key)
{
    for (uint32_t i = 1; i < s->epochs.len; i++)
        if (strcmp(s->epochs.data[i].key, key) == 0) return i;
    return FT_NO_ID;
}

/* The epoch that begins with the arrival. */
static uint32_t join(searching *s, const ft_sym_state *arrival)
{
    ft_strbuf key = {0};
    ft_sym_key(arrival, &key);
    uint32_t known = epoch_of_key(s, key.text);
    if (known == FT_NO_ID) {
        known = (uint32_t)s->epochs.len;
        ft_sym_state *begin = ft_sym_copy(arrival);
        ft_sym_begin(begin);
        ft_vec_push(&s->epochs, (stretch){.key = ft_strdup(key.text),
                                          .begin = begin,
                                          .stale = true,
                                          .number = FT_NO_ID});
    } else {
        stretch *e = &s->epochs.data[known];
        if (!cover_fault_is(COVER_FAULT_NO_WIDENING) && ft_sym_widen(e->begin, arrival))
            e->stale = true;
    }
    ft_strbuf_release(&key);
    return known;
}

static bool is_bound_alike(const arriving *a, const uint32_t *threads, uint32_t n)
{
    return a->n_threads == n && memcmp(a->threads, threads, n * sizeof *threads) == 0;
}

/* Keeps the arrival, or frees it where there are too many. */
static void land(const arriving *a, const cover_leaf *leaf, ft_sym_state *arrival)
{
    ft_term condition[2] = {a->condition, all_of(a->s, leaf->terms, leaf->n_terms)};
    if (++a->s->landings > LANDINGS) return ft_sym_free(arrival);
    ft_vec_push(&at_hand(a->s)->landings,
                (landing){a->schedule, all_of(a->s, condition, 2), arrival});
}

static void arrive(arriving *a, const cover_leaf *leaf)
{
    const ft_sym_state *m = leaf->state;
    uint32_t threads[FT_SYM_THREADS], n = ft_sym_match(m, a->s->ordered, threads);
    ft_sym_state *arrival = NULL;
    if (a->status == FT_OK) a->status = ft_sym_arrive(m, threads, n, &arrival, a->err);
    if (a->status != FT_OK) return;
    uint32_t next = join(a->s, arrival);
    land(a, leaf, arrival);
    if (a->any && (next != a->next || !is_bound_alike(a, threads, n)))
        a->status = ft_error_set(a->err, FT_UNSUPPORTED,
                                 "the same schedule leads to states of different kinds, which "
                                 "differ by more than numbers");
    a->any = true;
    a->next = next;
    a->n_threads = n;
    memcpy(a->threads, threads, sizeof threads);
}

static void on_leaf(void *context, const cover_leaf *leaf)
{
    const arriving *a = context;
    if (cover_fault_is(COVER_FAULT_DROPPED_SIDES) && a->any) return;
    if (leaf->kind == COVER_LEAF_OPEN) arrive(context, leaf);
}

/* The inputs that take the schedule at hand. */
static ft_term condition_of(searching *s, uint32_t schedule)
{
    cover_terms all = {0};
    for (size_t i = 0; i < s->nodes.len; i++) {
        const growing *n = &s->nodes.data[i];
        if (n->term == FT_NO_TERM && n->schedule == schedule) ft_vec_push(&all, n->condition);
    }
    ft_term any = all.len > 1 ? apply(s, FT_OP_OR, all.data, (uint32_t)all.len) : all.data[0];
    ft_vec_release(&all);
    return any;
}

/* The schedule's threads as those of the next epoch. */
static void bind(searching *s, const arriving *a)
{
    ft_schedule_set *set = s->translation.set;
    ft_schedule *x = &at_hand(s)->schedules.data[a->schedule];
    for (uint32_t i = 0; i < a->n_threads; i++) {
        ft_strbuf name = {0};
        uint32_t k = 0;
        cover_world_thread_name(&s->world, a->threads[i], &name);
        uint32_t text = ft_schedule_text(set, name.text);
        while (k < x->threads.len && x->threads.data[k] != text) k++;
        if (k == x->threads.len) ft_vec_push(&x->threads, text);
        ft_vec_push(&x->bound, k);
        ft_strbuf_release(&name);
    }
    at_hand(s)->next.data[a->schedule] = a->next;
}

/* Nothing covers the schedule's inputs any more. */
static void uncover(searching *s, uint32_t schedule, const ft_error *err)
{
    for (size_t i = 0; i < s->nodes.len; i++) {
        growing *n = &s->nodes.data[i];
        if (n->term != FT_NO_TERM || n->schedule != schedule) continue;
        n->schedule = FT_NO_SCHEDULE;
        leave_open(s, err);
        at_hand(s)->entries--;
        s->entries--;
    }
}

/* Where the schedule's threads stand at its end, for all inputs that take it. */
static void follow_schedule(searching *s, uint32_t schedule)
{
    ft_error err = FT_ERROR_INIT;
    arriving a = {
        .s = s, .schedule = schedule, .condition = condition_of(s, schedule), .err = &err};
    const ft_schedule *x = &at_hand(s)->schedules.data[schedule];
    cover_following f = {.world = &s->world,
                         .set = s->translation.set,
                         .schedule = x,
                         .begin = at_hand(s)->begin,
                         .condition = a.condition,
                         .leaf = on_leaf,
                         .context = &a};
    ft_status status = check_time(s, &err);
    if (status == FT_OK) status = cover_follow_all(&f, &err);
    if (status == FT_OK) status = a.status;
    if (status == FT_OK && s->epochs.len > s->max_epochs)
        status = ft_error_set(&err, FT_LIMIT, "more epochs than are looked for");
    if (status == FT_OK && a.any)
        bind(s, &a);
    else if (status != FT_OK)
        uncover(s, schedule, &err);
}

/* ---- epochs ---- */

static void forget_epoch(searching *s)
{
    stretch *e = at_hand(s);
    for (size_t i = 0; i < e->schedules.len; i++) ft_schedule_release(&e->schedules.data[i]);
    for (size_t i = 0; i < e->landings.len; i++) ft_sym_free(e->landings.data[i].arrival);
    s->landings -= e->landings.len;
    s->entries -= e->entries;
    e->schedules.len = e->next.len = e->nodes.len = e->landings.len = 0;
    e->entries = e->discarded = e->open = 0;
    e->stale = false;
    e->searches++;
    s->counts->searches++;
    ft_intern_release(&s->bodies);
    s->bodies = (ft_intern){0};
    s->nodes.len = 0;
}

static void search_epoch(searching *s)
{
    enum { MOST = 100 };
    forget_epoch(s);
    ft_error err = FT_ERROR_INIT;
    const ft_sym_state *begin = at_hand(s)->begin;
    cover_world_begin(&s->world, begin ? ft_sym_thread_count(begin) : 1);
    add_task(s, add_node(s), &(cover_terms){0}, FT_NO_TERM);
    if (at_hand(s)->searches > MOST) {
        ft_error_set(&err, FT_LIMIT, "an epoch's beginning changes again and again");
        leave_open(s, &err);
        free(s->tasks.data[--s->tasks.len].conditions);
    }
    while (s->tasks.len) {
        task t = s->tasks.data[--s->tasks.len];
        explore(s, &t);
        free(t.conditions);
    }
    for (uint32_t i = 0; i < at_hand(s)->schedules.len; i++)
        if (at_hand(s)->schedules.data[i].end == FT_SCHEDULE_EPOCH) follow_schedule(s, i);
    stretch *e = at_hand(s);
    for (size_t i = 0; i < s->nodes.len; i++) ft_vec_push(&e->nodes, s->nodes.data[i]);
}

static void search_epochs(searching *s)
{
    ft_vec_push(&s->epochs, (stretch){.key = ft_strdup(""), .stale = true, .number = FT_NO_ID});
    for (s->at = 0; s->at < s->epochs.len;) {
        if (at_hand(s)->stale) search_epoch(s);
        for (s->at = 0; s->at < s->epochs.len && !at_hand(s)->stale;) s->at++;
    }
}

/* ---- states that no run comes to ---- */

/* Marks the epochs that schedules lead to. */
static void find_reached(const searching *s, bool *reached)
{
    reached[0] = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < s->epochs.len; i++) {
            const stretch *e = &s->epochs.data[i];
            for (size_t k = 0; reached[i] && k < e->next.len; k++) {
                if (e->next.data[k] == FT_NO_ID || reached[e->next.data[k]]) continue;
                changed = reached[e->next.data[k]] = true;
            }
        }
    }
}

typedef FT_VEC(cover_passage) passages;
typedef FT_VEC(cover_claim) claims;

static void list_passages(const searching *s, const bool *reached, passages *all)
{
    for (uint32_t i = 0; i < s->epochs.len; i++) {
        const stretch *e = &s->epochs.data[i];
        for (size_t k = 0; reached[i] && k < e->landings.len; k++) {
            const landing *l = &e->landings.data[k];
            uint32_t next = e->next.data[l->schedule];
            if (next != FT_NO_ID)
                ft_vec_push(all, (cover_passage){i, next, l->condition, l->arrival});
        }
    }
}

/* Leaves of later epochs, in the order in which take_claims finds them again. */
static bool is_claim(const bool *reached, uint32_t epoch, const growing *n)
{
    return epoch && reached[epoch] && n->term == FT_NO_TERM && n->schedule != FT_NO_SCHEDULE;
}

static void list_claims(const searching *s, const bool *reached, claims *all)
{
    for (uint32_t i = 0; i < s->epochs.len; i++)
        for (size_t k = 0; k < s->epochs.data[i].nodes.len; k++) {
            const growing *n = &s->epochs.data[i].nodes.data[k];
            if (is_claim(reached, i, n))
                ft_vec_push(all, (cover_claim){.epoch = i, .condition = n->condition});
        }
}

/* A choice of which one side is never taken is none, and a schedule that no leaf takes is left out.
 */
static void drop_never(stretch *e)
{
    uint32_t *kept = ft_calloc(e->schedules.len + 1, sizeof *kept), n = 0;
    for (size_t i = e->nodes.len; i-- > 0;) {
        growing *g = &e->nodes.data[i];
        if (g->term == FT_NO_TERM) continue;
        const growing *yes = &e->nodes.data[g->yes], *no = &e->nodes.data[g->no];
        if (!yes->never && !no->never) continue;
        *g = yes->never ? *no : *yes;
    }
    for (size_t i = 0; i < e->nodes.len; i++)
        if (e->nodes.data[i].schedule != FT_NO_SCHEDULE && !e->nodes.data[i].never)
            kept[e->nodes.data[i].schedule] = 1;
    for (size_t i = 0; i < e->schedules.len; i++) {
        if (!kept[i]) {
            ft_schedule_release(&e->schedules.data[i]);
            continue;
        }
        e->schedules.data[n] = e->schedules.data[i];
        e->next.data[n] = e->next.data[i];
        kept[i] = n++;
    }
    e->schedules.len = e->next.len = n;
    for (size_t i = 0; i < e->nodes.len; i++) {
        growing *g = &e->nodes.data[i];
        if (g->schedule != FT_NO_SCHEDULE)
            g->schedule = g->never ? FT_NO_SCHEDULE : kept[g->schedule];
    }
    free(kept);
}

static void take_claims(searching *s, const bool *reached, const claims *all, const ft_term *init)
{
    size_t at = 0;
    for (uint32_t i = 0; i < s->epochs.len; i++) {
        stretch *e = &s->epochs.data[i];
        bool any = false;
        e->init = init[i];
        for (size_t k = 0; k < e->nodes.len; k++) {
            growing *n = &e->nodes.data[k];
            if (!is_claim(reached, i, n)) continue;
            n->never = all->data[at++].never;
            any |= n->never;
            bool counts = e->schedules.data[n->schedule].end != FT_SCHEDULE_DISCARDED;
            e->entries -= n->never && counts;
            e->discarded -= n->never && !counts;
        }
        if (any) drop_never(e);
    }
    assert(at == all->len);
}

/* Leaves out what only states take that no run comes to. */
static void drop_unreachable(searching *s)
{
    bool *reached = ft_calloc(s->epochs.len, sizeof *reached);
    ft_term *init = ft_calloc(s->epochs.len, sizeof *init);
    passages all = {0};
    claims leaves = {0};
    find_reached(s, reached);
    list_passages(s, reached, &all);
    list_claims(s, reached, &leaves);
    cover_invariants v = {.world = &s->world,
                          .n_epochs = (uint32_t)s->epochs.len,
                          .passages = all.data,
                          .n_passages = all.len,
                          .claims = leaves.data,
                          .n_claims = leaves.len,
                          .init = init};
    bool whole = leaves.len && s->landings <= LANDINGS;
    if (whole && cover_invariants_find(&v)) take_claims(s, reached, &leaves, init);
    ft_vec_release(&all);
    ft_vec_release(&leaves);
    free(reached);
    free(init);
}

/* ---- the set ---- */

typedef struct pending {
    uint32_t node, parent;
    bool is_no;
} pending;

/* The tree in the order of the text form: a choice, its yes, its no. */
static void add_choices(searching *s, const stretch *from, ft_epoch *epoch)
{
    FT_VEC(pending) open = {0};
    ft_vec_push(&open, (pending){0, FT_NO_ID, false});
    while (open.len) {
        pending at = open.data[--open.len];
        const growing *n = &from->nodes.data[at.node];
        uint32_t own = (uint32_t)epoch->choices.len;
        ft_choice c = {.term = FT_NO_TERM, .schedule = n->schedule};
        if (n->term != FT_NO_TERM) {
            c.term = cover_to_set(&s->translation, n->term);
            c.schedule = FT_NO_SCHEDULE;
            ft_vec_push(&open, (pending){n->no, own, true});
            ft_vec_push(&open, (pending){n->yes, own, false});
        }
        ft_vec_push(&epoch->choices, c);
        if (at.parent == FT_NO_ID) continue;
        ft_choice *parent = &epoch->choices.data[at.parent];
        if (at.is_no)
            parent->no = own;
        else
            parent->yes = own;
    }
    ft_vec_release(&open);
}

/* Numbers the epochs that schedules lead to, the entry first. */
static void number_epochs(searching *s)
{
    FT_VEC(uint32_t) open = {0};
    ft_vec_push(&open, 0);
    s->epochs.data[0].number = 0;
    for (size_t i = 0; i < open.len; i++) {
        const stretch *e = &s->epochs.data[open.data[i]];
        for (size_t k = 0; k < e->next.len; k++) {
            stretch *next = e->next.data[k] == FT_NO_ID ? NULL : &s->epochs.data[e->next.data[k]];
            if (!next || next->number != FT_NO_ID) continue;
            next->number = (uint32_t)open.len;
            ft_vec_push(&open, e->next.data[k]);
        }
    }
    s->counts->epochs = open.len;
    ft_vec_release(&open);
}

static uint32_t name_of_epoch(searching *s, uint32_t number)
{
    char name[24] = "entry";
    if (number) snprintf(name, sizeof name, "e%u", number);
    return ft_schedule_text(s->translation.set, name);
}

static void add_schedules(searching *s, stretch *from, ft_epoch *epoch)
{
    for (size_t i = 0; i < from->schedules.len; i++) {
        char name[24];
        ft_schedule x = from->schedules.data[i];
        snprintf(name, sizeof name, "s%u", ++s->named);
        x.name = ft_schedule_text(s->translation.set, name);
        if (x.end == FT_SCHEDULE_EPOCH && from->next.data[i] == FT_NO_ID) {
            x.end = FT_SCHEDULE_BLOCKED; /* no entry takes it */
        } else if (x.end == FT_SCHEDULE_EPOCH) {
            x.next = name_of_epoch(s, s->epochs.data[from->next.data[i]].number);
        }
        ft_vec_push(&epoch->schedules, x);
        s->counts->schedules += x.end != FT_SCHEDULE_DISCARDED;
    }
    from->schedules.len = 0;
}

static void add_counts(searching *s, const stretch *e)
{
    s->counts->entries += e->entries;
    s->counts->discarded += e->discarded;
    if (e->open && !s->counts->open) {
        s->counts->why = e->why;
        memcpy(s->counts->reason, e->reason, sizeof e->reason);
    }
    s->counts->open += e->open;
}

static void add_epoch(searching *s, stretch *e)
{
    ft_schedule_set *set = s->translation.set;
    ft_epoch epoch = {.name = name_of_epoch(s, e->number)};
    cover_translation_release(&s->translation);
    s->translation = (cover_translation){.world = &s->world, .set = set, .epoch = e->number};
    cover_world_begin(&s->world, e->begin ? ft_sym_thread_count(e->begin) : 1);
    if (e->begin) {
        ft_term init = ft_sym_write_epoch(e->begin, set, e->number, &epoch);
        if (init && e->init) init = all_of(s, (ft_term[2]){init, e->init}, 2);
        if (!init) init = e->init;
        if (init) epoch.init = cover_to_set(&s->translation, init);
    }
    add_choices(s, e, &epoch);
    add_schedules(s, e, &epoch);
    ft_vec_push(&set->epochs, epoch);
    add_counts(s, e);
}

static void add_markers(searching *s)
{
    ft_schedule_set *set = s->translation.set;
    const ft_program *p = s->world.program;
    for (size_t i = 0; i < s->world.markers.all.len; i++) {
        const cover_marker *m = &s->world.markers.all.data[i];
        const ft_function *f = &p->functions.data[m->function];
        const ft_position *at = &f->instructions.data[m->instruction].position;
        ft_schedule_place place = {.function =
                                       ft_schedule_text(set, ft_program_symbol_name(p, f->symbol)),
                                   .instruction = m->instruction,
                                   .file = FT_NO_ID};
        if (at->file != FT_NO_FILE) {
            place.file = ft_schedule_text(set, p->files.names[at->file]);
            place.line = at->line;
            place.column = at->column;
        }
        ft_vec_push(&set->markers, place);
    }
}

static void make_set(searching *s)
{
    number_epochs(s);
    if (s->counts->epochs > 1) add_markers(s);
    for (uint32_t number = 0; number < s->counts->epochs; number++)
        for (size_t i = 0; i < s->epochs.len; i++)
            if (s->epochs.data[i].number == number) add_epoch(s, &s->epochs.data[i]);
}

static void release(searching *s)
{
    for (size_t i = 0; i < s->tasks.len; i++) free(s->tasks.data[i].conditions);
    for (size_t i = 0; i < s->epochs.len; i++) {
        stretch *e = &s->epochs.data[i];
        for (size_t k = 0; k < e->schedules.len; k++) ft_schedule_release(&e->schedules.data[k]);
        for (size_t k = 0; k < e->landings.len; k++) ft_sym_free(e->landings.data[k].arrival);
        ft_vec_release(&e->landings);
        free(e->key);
        ft_sym_free(e->begin);
        ft_vec_release(&e->nodes);
        ft_vec_release(&e->schedules);
        ft_vec_release(&e->next);
    }
    ft_vec_release(&s->epochs);
    ft_vec_release(&s->tasks);
    ft_vec_release(&s->nodes);
    ft_intern_release(&s->bodies);
    cover_trace_release(&s->trace);
    cover_translation_release(&s->translation);
    cover_world_release(&s->world);
}

static ft_status search(const ft_program *program, const cover_search_options *options, bool epochs,
                        ft_schedule_set **set, cover_search_counts *counts, ft_error *err)
{
    searching s = {.max_entries = options->max_entries ? options->max_entries : 10000,
                   .max_epochs = options->max_epochs ? options->max_epochs : 500,
                   .ordered = options->ordered,
                   .gives_up = options->gives_up,
                   .counts = counts};
    char hash[FT_DIGEST_HEX + 1];
    cover_world_options world = options->world;
    world.epochs = epochs;
    *counts = (cover_search_counts){0};
    cover_world_init(&s.world, program, &world);
    s.translation = (cover_translation){.world = &s.world, .set = ft_schedule_set_new()};
    ft_schedule_set *made = s.translation.set;
    made->prefix = options->world.prefix;
    ft_program_hash(program, hash);
    made->program = ft_schedule_text(made, hash);
    search_epochs(&s);
    drop_unreachable(&s);
    make_set(&s);
    ft_sym_counts asked = ft_sym_world_counts(s.world.world);
    counts->questions = asked.questions;
    counts->solved = asked.solved;
    release(&s);
    ft_status status = ft_schedule_set_validate(made, err);
    if (status == FT_OK && !counts->entries && counts->open && counts->why != FT_BUDGET)
        status = ft_error_set(err, FT_UNSUPPORTED, "%s", counts->reason);
    if (status == FT_OK)
        *set = made;
    else
        ft_schedule_set_free(made);
    return status;
}

bool cover_has_markers(const ft_program *program)
{
    FT_REQUIRE(program);
    ft_flow *flow = ft_flow_new(program);
    cover_markers markers;
    cover_markers_init(&markers, flow);
    bool any = markers.all.len > 0;
    cover_markers_release(&markers);
    ft_flow_free(flow);
    return any;
}

ft_status cover_search_few(const ft_program *program, const cover_search_options *options,
                           ft_schedule_set **set, cover_search_counts *counts, ft_error *err)
{
    enum { FEW_ENTRIES = 200, FEW_OPERATIONS = 100 };
    FT_REQUIRE(program && options && set && counts);
    ft_error own = FT_ERROR_INIT;
    cover_search_options few = *options;
    ft_schedule_set *made = NULL;
    few.gives_up = true;
    if (!few.max_entries || few.max_entries > FEW_ENTRIES) few.max_entries = FEW_ENTRIES;
    if (!few.world.max_operations || few.world.max_operations > FEW_OPERATIONS)
        few.world.max_operations = FEW_OPERATIONS;
    ft_status status = search(program, &few, false, &made, counts, &own);
    if (status == FT_OK && !counts->open) return *set = made, FT_OK;
    ft_schedule_set_free(made);
    return ft_error_set(err, FT_NOT_FOUND, "%s", status == FT_OK ? counts->reason : own.message);
}

ft_status cover_search(const ft_program *program, const cover_search_options *options,
                       ft_schedule_set **set, cover_search_counts *counts, ft_error *err)
{
    FT_REQUIRE(program && options && set && counts);
    bool marked = options->epochs != COVER_EPOCHS_ONE && cover_has_markers(program);
    ft_error own = FT_ERROR_INIT;
    if (marked && options->epochs == COVER_EPOCHS_AUTO &&
        cover_search_few(program, options, set, counts, &own) == FT_OK)
        return FT_OK;
    return search(program, options, marked, set, counts, err);
}
