#include "cover/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "cover/graph.h"
#include "cover/slice.h"
#include "cover/translate.h"
#include "program/binary.h"

/* A node of the selector while it grows. */
typedef struct growing {
    ft_term term; /* of the world; FT_NO_TERM: a leaf */
    uint32_t yes, no, schedule;
} growing;

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
    uint64_t max_entries;
    FT_VEC(growing) nodes;
    FT_VEC(task) tasks;
    ft_intern bodies; /* of schedules, as bytes: equal ones are merged */
    ft_epoch epoch;
    cover_search_counts *counts;
} searching;

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

/* Not all of them hold; FT_NO_TERM: there are none. */
static ft_term excluded(searching *s, const cover_terms *kept)
{
    if (!kept->len) return FT_NO_TERM;
    ft_term all = kept->data[0];
    if (kept->len > 1) all = apply(s, FT_OP_AND, kept->data, (uint32_t)kept->len);
    return negated(s, all);
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
    if (s->counts->open++) return;
    s->counts->why = err->code;
    snprintf(s->counts->reason, sizeof s->counts->reason, "%s", err->message);
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

/* The number of the path's schedule, an equal one's if there is one. */
static uint32_t add_schedule(searching *s, ft_sym_state *m, ft_schedule_end end)
{
    ft_schedule made;
    ft_strbuf body = {0};
    cover_graph_schedule(&s->world, m, &s->trace, end, s->translation.set, &made);
    body_of(&made, &body);
    uint32_t known = s->bodies.len, number = ft_intern_add(&s->bodies, body.text, body.len);
    ft_strbuf_release(&body);
    if (number < known) {
        ft_schedule_release(&made);
        return number;
    }
    char name[16];
    snprintf(name, sizeof name, "s%u", number + 1);
    made.name = ft_schedule_text(s->translation.set, name);
    ft_vec_push(&s->epoch.schedules, made);
    return number;
}

/* ---- one path ---- */

static bool is_premature(const searching *s, ft_schedule_end end)
{
    if (end == FT_SCHEDULE_DISCARDED || s->trace.endless) return true;
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
        status = cover_run(&s->world, conditions.data, conditions.len, &s->trace, end, m, &own);
        s->counts->paths++;
        if (status != FT_OK && has_first) { /* none is left: the first it is */
            conditions.len = t->n;
            for (size_t i = 0; i < first.len; i++) ft_vec_push(&conditions, first.data[i]);
            own = FT_ERROR_INIT;
            status = cover_run(&s->world, conditions.data, conditions.len, &s->trace, end, m, &own);
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
    ft_sym_free(asked);
    ft_vec_release(&conditions);
    return node;
}

static void explore(searching *s, const task *t)
{
    ft_error err = FT_ERROR_INIT;
    ft_schedule_end end;
    ft_sym_state *m = NULL;
    cover_terms kept = {0};
    ft_status status = FT_OK;
    if (s->counts->entries >= s->max_entries)
        status = ft_error_set(&err, FT_LIMIT, "more entries than are looked for");
    if (s->world.should_stop && s->world.should_stop(s->world.context))
        status = ft_error_set(&err, FT_BUDGET, "the time is used up");
    if (status == FT_OK) status = run_path(s, t, &end, &m, &kept, &err);
    if (status == FT_OK) {
        uint32_t node = grow(s, t, &kept);
        s->nodes.data[node].schedule = add_schedule(s, m, end);
        s->counts->entries += end != FT_SCHEDULE_DISCARDED;
        s->counts->discarded += end == FT_SCHEDULE_DISCARDED;
    } else if (status != FT_NOT_FOUND) {
        leave_open(s, &err);
    }
    ft_sym_free(m);
    ft_vec_release(&kept);
}

/* ---- the set ---- */

typedef struct pending {
    uint32_t node, parent;
    bool is_no;
} pending;

/* The tree in the order of the text form: a choice, its yes, its no. */
static void add_choices(searching *s)
{
    FT_VEC(pending) open = {0};
    ft_vec_push(&open, (pending){0, FT_NO_ID, false});
    while (open.len) {
        pending at = open.data[--open.len];
        const growing *n = &s->nodes.data[at.node];
        uint32_t own = (uint32_t)s->epoch.choices.len;
        ft_choice c = {.term = FT_NO_TERM, .schedule = n->schedule};
        if (n->term != FT_NO_TERM) {
            c.term = cover_to_set(&s->translation, n->term);
            c.schedule = FT_NO_SCHEDULE;
            ft_vec_push(&open, (pending){n->no, own, true});
            ft_vec_push(&open, (pending){n->yes, own, false});
        }
        ft_vec_push(&s->epoch.choices, c);
        if (at.parent == FT_NO_ID) continue;
        ft_choice *parent = &s->epoch.choices.data[at.parent];
        if (at.is_no)
            parent->no = own;
        else
            parent->yes = own;
    }
    ft_vec_release(&open);
}

static void release(searching *s)
{
    for (size_t i = 0; i < s->tasks.len; i++) free(s->tasks.data[i].conditions);
    ft_vec_release(&s->tasks);
    ft_vec_release(&s->nodes);
    ft_intern_release(&s->bodies);
    cover_trace_release(&s->trace);
    cover_translation_release(&s->translation);
    cover_world_release(&s->world);
}

ft_status cover_search(const ft_program *program, const cover_search_options *options,
                       ft_schedule_set **set, cover_search_counts *counts, ft_error *err)
{
    FT_REQUIRE(program && options && set && counts);
    searching s = {.max_entries = options->max_entries ? options->max_entries : 10000,
                   .counts = counts};
    char hash[FT_DIGEST_HEX + 1];
    *counts = (cover_search_counts){0};
    cover_world_init(&s.world, program, &options->world);
    s.translation = (cover_translation){.world = &s.world, .set = ft_schedule_set_new()};
    ft_schedule_set *made = s.translation.set;
    made->prefix = options->world.prefix;
    ft_program_hash(program, hash);
    made->program = ft_schedule_text(made, hash);
    s.epoch.name = ft_schedule_text(made, "entry");
    add_task(&s, add_node(&s), &(cover_terms){0}, FT_NO_TERM);
    while (s.tasks.len) {
        task t = s.tasks.data[--s.tasks.len];
        explore(&s, &t);
        free(t.conditions);
    }
    add_choices(&s);
    ft_vec_push(&made->epochs, s.epoch);
    for (size_t i = 0; i < s.epoch.schedules.len; i++)
        counts->schedules += s.epoch.schedules.data[i].end != FT_SCHEDULE_DISCARDED;
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
