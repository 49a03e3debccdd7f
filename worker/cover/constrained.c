#include "cover/constrained.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "cover/faults.h"
#include "cover/walk.h"
#include "schedules/dynamic.h"

/* ---- paths ---- */

void cover_path_drop(path *p)
{
    ft_sym_free(p->m);
    free(p->bound);
    free(p->parted);
    ft_vec_release(&p->terms);
    ft_vec_release(&p->touches);
    ft_vec_release(&p->visits);
}

#define COPY_VEC(to, from)                                                                         \
    do {                                                                                           \
        (to)->data = NULL;                                                                         \
        (to)->len = (to)->cap = 0;                                                                 \
        ft_vec_reserve((to), (from)->len + 1);                                                     \
        if ((from)->len) memcpy((to)->data, (from)->data, (from)->len * sizeof *(from)->data);     \
        (to)->len = (from)->len;                                                                   \
    } while (0)

static const ft_epoch *epoch_of(const walking *w)
{
    return &w->f->set->epochs.data[w->f->epoch];
}

path cover_path_copy(const walking *w, const path *from)
{
    path p = *from;
    size_t n = (w->f->schedule->objects.len + 1) * sizeof *p.bound;
    p.m = ft_sym_copy(from->m);
    p.bound = ft_alloc(n);
    memcpy(p.bound, from->bound, n);
    if (from->parted) {
        size_t schedules = (epoch_of(w)->schedules.len + 1) * sizeof *p.parted;
        p.parted = ft_alloc(schedules);
        memcpy(p.parted, from->parted, schedules);
    }
    COPY_VEC(&p.terms, &from->terms);
    COPY_VEC(&p.touches, &from->touches);
    COPY_VEC(&p.visits, &from->visits);
    return p;
}

/* ---- what a step does ---- */

static void note_access(walking *w, const ft_sym_note *note)
{
    uint32_t own = w->names[note->thread];
    if (own == FT_NO_ID || ft_sym_object_made(w->at->m, note->object).constant) return;
    bool atomic = w->operation == note->thread + 1;
    uint32_t done = w->at->done[own];
    cover_touch t = {.thread = own,
                     .object = note->object,
                     .from = done,
                     .to = atomic ? done : done + 1,
                     .at = note->at,
                     .n = note->n,
                     .term = note->term,
                     .writes = note->writes,
                     .atomic = atomic,
                     .place = w->places[note->thread]};
    ft_vec_push(&w->at->touches, t);
}

/* Marks the loops that the thread leaves by coming to the instruction. */
static void note_rounds(walking *w, const ft_sym_note *note)
{
    for (size_t i = 0; i < w->rounds.len; i++) {
        const cover_round *r = &w->rounds.data[i];
        if (r->thread != note->thread || note->depth > r->depth) continue;
        bool inside = note->depth == r->depth && note->place.function == r->function &&
                      r->inside[note->place.instruction];
        if (!inside) w->at->outside |= UINT32_C(1) << i;
    }
}

static void follow(void *follower, const ft_sym_state *state, const ft_sym_note *note)
{
    walking *w = follower;
    (void)state;
    if (note->kind == FT_SYM_AT) note_rounds(w, note);
    if (note->kind == FT_SYM_AT) { /* the operation at hand is over */
        w->places[note->thread] = note->place;
        w->operation = 0;
    }
    if (note->kind == FT_SYM_ARM) ft_vec_push(&w->at->terms, note->term);
    if (note->kind == FT_SYM_ACCESS) note_access(w, note);
}

/* ---- does the operation match the node? ---- */

static uint64_t whole_cell(const ft_node *node, uint64_t at)
{
    bool atomic = node->kind >= FT_NODE_ATOMIC_LOAD && node->kind <= FT_NODE_ATOMIC_SWAP;
    return atomic ? at & ~UINT64_C(7) : at;
}

/* The object's name, of heap and stack objects up to the #. */
static void name_object(const walking *w, const path *p, uint32_t object, ft_strbuf *name)
{
    ft_sym_made made = ft_sym_object_made(p->m, object);
    if (made.symbol == FT_NO_SYMBOL) ft_strbuf_puts(name, made.heap ? "heap:" : "stack:");
    if (made.thread != FT_NO_ID) cover_world_thread_name(w->f->world, made.thread, name);
    if (made.symbol == FT_NO_SYMBOL)
        ft_strbuf_puts(name, "#");
    else
        ft_strbuf_printf(name, "@%s", ft_program_symbol_name(w->f->world->program, made.symbol));
}

static bool binds(const walking *w, path *p, const ft_node *node, uint32_t number, uint64_t address)
{
    uint32_t object;
    if (!ft_sym_object_around(p->m, address, &object)) return false;
    uint64_t at = whole_cell(node, address - ft_sym_object_made(p->m, object).base);
    if (p->bound[number].is) return p->bound[number].object == object && p->bound[number].at == at;
    for (size_t i = 0; i < w->f->schedule->objects.len; i++)
        if (p->bound[i].is && p->bound[i].object == object && p->bound[i].at == at) return false;
    ft_strbuf head = {0};
    name_object(w, p, object, &head);
    const char *name = ft_schedule_text_of(w->f->set, w->f->schedule->objects.data[number]);
    const char *plus = strrchr(name, '+');
    bool made = head.text[head.len - 1] == '#';
    bool fits = plus && strncmp(name, head.text, head.len) == 0 &&
                (made || name + head.len == plus) && strtoull(plus + 1, NULL, 10) == at;
    ft_strbuf_release(&head);
    if (!fits) return false;
    p->bound[number].is = true;
    p->bound[number].object = object;
    p->bound[number].at = at;
    return true;
}

static bool is_at_place(const walking *w, const path *p, const ft_node *node, uint32_t thread,
                        const ft_sym_place *place)
{
    if (node->function == FT_NO_ID) return true;
    if (node->file != FT_NO_ID) {
        ft_position at = ft_sym_position(p->m, thread);
        if (at.file == FT_NO_FILE || at.line != node->line || at.column != node->column ||
            strcmp(w->f->world->program->files.names[at.file],
                   ft_schedule_text_of(w->f->set, node->file)) != 0)
            return false;
    }
    return place->function != FT_NO_SYMBOL && node->instruction == place->instruction &&
           strcmp(ft_program_symbol_name(w->f->world->program, place->function),
                  ft_schedule_text_of(w->f->set, node->function)) == 0;
}

static bool ends_process(const ft_sym_operation *o)
{
    return o->code == FT_CODE_EXIT || o->code == FT_CODE_FAIL;
}

static bool is_kind(const ft_node *node, const ft_sym_operation *o)
{
    ft_node_kind kind;
    if (o->code == FT_CODES) return node->kind == FT_NODE_BEGIN;
    if (o->code == FT_CODE_FAIL) return node->kind == FT_NODE_EXIT;
    return ft_node_kind_of(o->code, o->second, &kind) && kind == node->kind;
}

static bool is_peer(const walking *w, const path *p, const ft_node *node, uint32_t thread,
                    const ft_sym_operation *o)
{
    if (node->kind == FT_NODE_CREATE)
        return w->numbers[node->peer] ==
               cover_world_child(w->f->world, thread, p->created[thread] + 1);
    if (node->kind != FT_NODE_JOIN && node->kind != FT_NODE_DETACH) return true;
    return o->object == w->numbers[node->peer];
}

static bool matches(const walking *w, path *p, const ft_node *node, uint32_t thread,
                    const ft_sym_operation *o)
{
    return is_kind(node, o) && is_at_place(w, p, node, thread, &o->place) &&
           is_peer(w, p, node, thread, o) &&
           (node->object == FT_NO_ID || binds(w, p, node, node->object, o->object)) &&
           (node->other == FT_NO_ID || binds(w, p, node, node->other, o->other));
}

/* ---- dynamic inputs ---- */

static void find_known(const walking *w, const path *p, bool *known)
{
    const ft_schedule_set *set = w->f->set;
    for (size_t i = 0; i < set->inputs.len; i++) {
        const ft_schedule_input *in = &set->inputs.data[i];
        known[i] = !in->dynamic || cover_fault_is(COVER_FAULT_UNREAD);
        if (known[i] || in->epoch != w->f->epoch) continue;
        uint32_t thread = cover_world_thread(w->f->world, ft_schedule_text_of(set, in->thread));
        known[i] = thread != FT_NO_ID &&
                   ft_sym_reads(p->m, thread, ft_schedule_text_of(set, in->name)) >= in->n;
    }
}

/* When the other schedule is possible on the path, by what was read. */
static ft_term when_possible(walking *w, const path *p, uint32_t other)
{
    bool *known = ft_calloc(w->f->set->inputs.len + 1, sizeof *known);
    find_known(w, p, known);
    ft_term possible = w->f->possible(w->f->context, other, known);
    free(known);
    return possible;
}

/* When the other schedule, which has not that node of the thread, is possible on the path;
 * FT_NO_TERM: it has parted before, or has the node as well. */
static ft_term when_other(walking *w, const path *p, uint32_t other, uint32_t thread,
                          uint32_t number)
{
    const ft_schedule *s = &epoch_of(w)->schedules.data[other];
    if (p->parted[other] || s == w->f->schedule ||
        ft_schedules_agree(w->f->schedule, s, thread, number))
        return FT_NO_TERM;
    return when_possible(w, p, other);
}

static void part_from(walking *w, path *p, uint32_t node, uint32_t other, ft_term possible)
{
    p->parted[other] = true;
    w->f->part(w->f->context, &(cover_parting){node, other, possible, p->terms.data, p->terms.len});
}

/* The thread's node of that number is next (or none is left): which schedules part here? */
static void part(walking *w, path *p, uint32_t node, uint32_t thread, uint32_t number)
{
    for (uint32_t i = 0; p->parted && i < epoch_of(w)->schedules.len; i++) {
        ft_term possible = when_other(w, p, i, thread, number);
        if (possible == FT_NO_TERM) continue;
        part_from(w, p, node, i, possible);
    }
}

static uint32_t name_of(const walking *w, uint32_t node)
{
    return w->f->schedule->threads.data[w->f->schedule->nodes.data[node].thread];
}

static void part_at(walking *w, path *p, const ft_node *node)
{
    uint32_t number = (uint32_t)(node - w->f->schedule->nodes.data);
    if (node->kind == FT_NODE_EXIT && w->f->set->prefix) return;
    part(w, p, number, name_of(w, number), w->order.number[number]);
}

/* Is no other schedule possible that does not have the node? */
static bool is_decided(walking *w, path *p, uint32_t node)
{
    for (uint32_t i = 0; i < epoch_of(w)->schedules.len; i++) {
        ft_term possible = when_other(w, p, i, name_of(w, node), w->order.number[node]);
        if (possible != FT_NO_TERM && ft_sym_ask(p->m, possible) != FT_ANSWER_UNSAT) return false;
    }
    return true;
}

/* A thread that has no node left stands still, until no schedule is possible that has one. */
static void part_at_end(walking *w, path *p)
{
    const ft_epoch *e = epoch_of(w);
    for (uint32_t i = 0; p->parted && i < e->schedules.len; i++)
        for (uint32_t t = 0; t < e->schedules.data[i].threads.len && !p->parted[i]; t++) {
            uint32_t thread = e->schedules.data[i].threads.data[t], n = 1;
            while (ft_schedule_node_of(w->f->schedule, thread, n) != FT_NO_ID) n++;
            part(w, p, FT_NO_ID, thread, n);
        }
    /* and the next epoch begins when it is decided which */
    for (uint32_t i = 0; p->parted && i < e->schedules.len; i++)
        if (!p->parted[i] && !ft_schedules_go_on_alike(w->f->schedule, &e->schedules.data[i]))
            part_from(w, p, FT_NO_ID, i, when_possible(w, p, i));
}

/* ---- leaves ---- */

/* Could only threads of the set let the blocked thread go on? */
static bool waits_for_set(const path *p, uint32_t t, uint64_t set, uint64_t alive)
{
    ft_sym_operation o;
    if (!ft_sym_stands_before(p->m, t, &o)) return false;
    uint64_t others = alive & ~set;
    if (o.code == FT_CODE_JOIN) return o.object < FT_SYM_THREADS && !(others >> o.object & 1);
    bool wait = o.code == FT_CODE_WAIT || o.code == FT_CODE_TIMED_WAIT;
    bool mutex = o.code == FT_CODE_LOCK || (wait && !o.waits);
    bool lock = o.code == FT_CODE_WRITE_LOCK || o.code == FT_CODE_READ_LOCK;
    if (!mutex && !lock) return !others;
    ft_sym_object x = ft_sym_object_at(p->m, wait ? o.other : o.object);
    uint64_t holders = x.readers | (x.owner ? UINT64_C(1) << (x.owner - 1) : 0);
    return !(holders & others);
}

/* A set of blocked threads that only its members, or threads that have ended, could wake. One that
 * goes round for ever is not blocked. */
static bool deadlocks(const path *p)
{
    uint64_t set = 0, alive = 0, variants[FT_SYM_THREADS];
    ft_sym_operation o;
    for (uint32_t t = 0; t < ft_sym_thread_count(p->m); t++) {
        if (!ft_sym_stands_before(p->m, t, &o)) continue;
        alive |= UINT64_C(1) << t;
        if (!o.circles && !ft_sym_choices(p->m, t, variants)) set |= UINT64_C(1) << t;
    }
    for (bool changed = true; changed && set;) {
        changed = false;
        for (uint32_t t = 0; t < FT_SYM_THREADS; t++) {
            if (!(set >> t & 1) || waits_for_set(p, t, set, alive)) continue;
            set &= ~(UINT64_C(1) << t);
            changed = true;
        }
    }
    return set != 0;
}

static void call_leaf(walking *w, path *p, cover_leaf *leaf)
{
    leaf->terms = p->terms.data;
    leaf->n_terms = p->terms.len;
    leaf->touches = p->touches.data;
    leaf->n_touches = p->touches.len;
    w->leaves++;
    w->f->leaf(w->f->context, leaf);
}

static void wrong_leaf(walking *w, path *p, cover_leaf_kind kind, const ft_sym_place *place)
{
    cover_leaf leaf = {.kind = kind, .node = p->node, .place = *place};
    call_leaf(w, p, &leaf);
}

/* The threads that stand before the end of the process; the error of one that fails. */
static bool exits(const walking *w, path *p, cover_leaf *leaf)
{
    bool any = false;
    ft_sym_operation o;
    for (uint32_t t = 0; t < w->f->schedule->threads.len; t++) {
        uint32_t thread = w->numbers[t];
        if (!p->stopped[t] || !ft_sym_stands_before(p->m, thread, &o)) continue;
        any = true;
        if (o.code != FT_CODE_FAIL || leaf->fails) continue;
        ft_sym_state *end = ft_sym_copy(p->m);
        cover_step(w->f->world, end, thread, 0);
        leaf->fails = true;
        leaf->error = *ft_sym_error_of(end);
        ft_sym_free(end);
    }
    return any;
}

/* Does the thread go round for ever? */
static bool is_endless(const path *p, uint32_t thread)
{
    ft_sym_operation o;
    return thread < ft_sym_thread_count(p->m) && ft_sym_stands_before(p->m, thread, &o) &&
           o.circles;
}

static bool could_go_on(const path *p)
{
    uint64_t variants[FT_SYM_THREADS];
    for (uint32_t t = 0; t < ft_sym_thread_count(p->m); t++)
        if (ft_sym_choices(p->m, t, variants)) return true;
    return false;
}

/* The thread's first node that is not done; NULL: there is none. */
static const ft_node *next_node(const walking *w, const path *p, uint32_t t, uint32_t *number)
{
    const ft_schedule *s = w->f->schedule;
    for (*number = 0; *number < s->nodes.len; ++*number)
        if (s->nodes.data[*number].thread == t && w->order.number[*number] == p->done[t] + 1)
            return &s->nodes.data[*number];
    return NULL;
}

/* The thread has ended in the epoch: is that its last node, or its next one, which is not ready? */
static bool has_end(const walking *w, const path *p, uint32_t t)
{
    const ft_schedule *s = w->f->schedule;
    for (size_t i = 0; i < s->nodes.len; i++)
        if (s->nodes.data[i].thread == t && s->nodes.data[i].kind == FT_NODE_END)
            return w->order.number[i] <= p->done[t] + 1;
    return false;
}

/* Threads whose nodes are left: they may end the process, or stand where their next node says; and
 * one ends by a node. False: one does not. */
static bool check_rest(walking *w, path *p)
{
    ft_sym_operation o;
    for (uint32_t t = 0; t < w->f->schedule->threads.len; t++) {
        uint32_t thread = w->numbers[t], number;
        if (p->stopped[t] || thread >= ft_sym_thread_count(p->m)) continue;
        if (!ft_sym_stands_before(p->m, thread, &o)) {
            if (!p->done[t] || has_end(w, p, t)) continue;
            cover_leaf leaf = {.kind = COVER_LEAF_DIVERGES, .node = FT_NO_ID, .thread = t};
            return call_leaf(w, p, &leaf), false;
        }
        if (o.circles) continue;
        const ft_node *node = next_node(w, p, t, &number);
        if (node && matches(w, p, node, thread, &o)) continue;
        if (w->f->set->prefix && ends_process(&o)) {
            p->stopped[t] = true;
        } else if (node) {
            p->node = number;
            wrong_leaf(w, p, COVER_LEAF_DIVERGES, &o.place);
            return false;
        }
    }
    return true;
}

/* Threads whose nodes are used up, and that could go on. */
static bool is_open(const walking *w, const path *p)
{
    uint64_t variants[FT_SYM_THREADS];
    for (uint32_t t = 0; t < ft_sym_thread_count(p->m); t++) {
        uint32_t own = w->names[t], number;
        bool used_up = own == FT_NO_ID || !next_node(w, p, own, &number);
        if (used_up && ft_sym_choices(p->m, t, variants)) return true;
    }
    return false;
}

/* A thread goes round for ever: that is the process's own, unless only the schedule keeps another
 * thread from ending the process. */
static void judge_endless(const walking *w, const path *p, cover_leaf *leaf)
{
    ft_sym_operation o;
    bool ends = false, any = false;
    for (uint32_t t = 0; t < ft_sym_thread_count(p->m); t++) {
        if (!ft_sym_stands_before(p->m, t, &o)) continue;
        ends |= ends_process(&o);
        if (!o.circles || any) continue;
        any = true;
        leaf->thread = w->names[t];
        leaf->place = o.place;
    }
    if (any && !ends) leaf->kind = is_open(w, p) ? COVER_LEAF_OPEN : COVER_LEAF_ENDLESS;
}

static bool stands(const path *p)
{
    ft_sym_operation o;
    for (uint32_t t = 0; t < ft_sym_thread_count(p->m); t++)
        if (ft_sym_stands_before(p->m, t, &o)) return true;
    return false;
}

/* Threads that could go on and that the schedule has no node for. */
static uint64_t idle_threads(const walking *w, const path *p)
{
    uint64_t idle = 0, variants[FT_SYM_THREADS];
    for (uint32_t t = 0; t < ft_sym_thread_count(p->m); t++)
        if (ft_sym_choices(p->m, t, variants) && (w->names[t] == FT_NO_ID || !p->done[w->names[t]]))
            idle |= UINT64_C(1) << t;
    return idle;
}

static void end_path(walking *w, path *p)
{
    cover_leaf leaf = {.kind = COVER_LEAF_GOOD, .node = FT_NO_ID, .place = {FT_NO_SYMBOL, 0}};
    if (!check_rest(w, p)) return;
    bool ends = exits(w, p, &leaf);
    if (!ends && stands(p)) part_at_end(w, p);
    leaf.deadlocks = deadlocks(p);
    if (p->left && !(ends && w->f->set->prefix))
        leaf.kind = COVER_LEAF_STUCK;
    else if (!ends && could_go_on(p))
        leaf.kind = COVER_LEAF_OPEN;
    if (!ends) judge_endless(w, p, &leaf);
    if (leaf.kind == COVER_LEAF_OPEN) {
        leaf.state = p->m;
        leaf.idle = idle_threads(w, p);
    }
    call_leaf(w, p, &leaf);
}

/* ---- steps ---- */

/* Puts a copy of the path aside for each arm of the thread's branch but the last, which it takes.
 */
static void fork_at(walking *w, path *p, uint32_t thread)
{
    uint64_t variants[FT_SYM_THREADS];
    uint32_t n = ft_sym_choices(p->m, thread, variants), kept = 0;
    for (uint32_t i = 0; i < n; i++)
        if (ft_sym_may_take(p->m, thread, variants[i])) variants[kept++] = variants[i];
    for (uint32_t i = 0; i + 1 < kept; i++) {
        path other = cover_path_copy(w, p);
        w->at = &other;
        cover_step(w->f->world, other.m, thread, variants[i]);
        ft_vec_push(&w->paths, other);
    }
    w->at = p;
    cover_step(w->f->world, p->m, thread, kept ? variants[kept - 1] : 0);
}

/* The first thread that stands before a branch, or before what schedules do not order. */
static bool has_inner_step(const path *p, uint32_t *thread, bool *branches)
{
    ft_sym_operation o;
    uint64_t variants[FT_SYM_THREADS];
    for (*thread = 0; *thread < ft_sym_thread_count(p->m); ++*thread) {
        if (!ft_sym_stands_before(p->m, *thread, &o)) continue;
        *branches = o.arms > 0;
        if (*branches) return true;
        bool free = o.code == FT_CODE_FENCE || o.code == FT_CODE_YIELD;
        if (free && ft_sym_choices(p->m, *thread, variants)) return true;
    }
    return false;
}

static bool variant_of(const walking *w, const path *p, const ft_node *node, uint32_t thread,
                       uint64_t *variant)
{
    uint64_t variants[FT_SYM_THREADS];
    uint32_t n = ft_sym_choices(p->m, thread, variants);
    *variant = node->timed_out;
    if (node->kind == FT_NODE_SIGNAL && node->peer != FT_NO_ID)
        *variant = w->numbers[node->peer] + 1;
    if (node->kind == FT_NODE_CREATE) return *variant = w->numbers[node->peer] + 1, n > 0;
    for (uint32_t i = 0; i < n; i++)
        if (variants[i] == *variant) return true;
    return false;
}

static bool is_ready(const walking *w, const path *p, const ft_node *node)
{
    const ft_schedule *s = w->f->schedule;
    for (uint32_t i = 0; i < node->n_edges; i++) {
        uint32_t other = s->edges.data[node->edges + i];
        if (p->done[s->nodes.data[other].thread] < w->order.number[other]) return false;
    }
    return p->done[node->thread] + 1 == w->order.number[p->node];
}

/* False: the path ends here. */
static bool do_node(walking *w, path *p, const ft_node *node)
{
    uint32_t thread = w->numbers[node->thread];
    ft_sym_operation o = {.code = FT_CODES, .place = {FT_NO_SYMBOL, 0}};
    uint64_t variant;
    bool exists = thread < ft_sym_thread_count(p->m);
    bool stands = exists && ft_sym_stands_before(p->m, thread, &o);
    if (node->kind == FT_NODE_END) { /* it came with the step before */
        if (stands && w->f->set->prefix && ends_process(&o))
            return p->stopped[node->thread] = p->left = true;
        if (!exists || stands || p->done[node->thread] == 0)
            return wrong_leaf(w, p, COVER_LEAF_DIVERGES, &o.place), false;
        part_at(w, p, node);
        return p->done[node->thread]++, true;
    }
    if (!stands || !matches(w, p, node, thread, &o)) {
        if (!stands || !w->f->set->prefix || !ends_process(&o))
            return wrong_leaf(w, p, COVER_LEAF_DIVERGES, &o.place), false;
        return p->stopped[node->thread] = p->left = true;
    }
    part_at(w, p, node);
    if (node->kind == FT_NODE_EXIT) return p->done[node->thread]++, p->stopped[node->thread] = true;
    if (!variant_of(w, p, node, thread, &variant))
        return wrong_leaf(w, p, COVER_LEAF_STUCK, &o.place), false;
    p->done[node->thread]++;
    if (node->kind == FT_NODE_CREATE) p->created[thread]++;
    w->operation = thread + 1;
    w->places[thread] = o.place;
    cover_step(w->f->world, p->m, thread, variant);
    w->operation = 0;
    return true;
}

ft_status cover_path_check(walking *w, const path *p, bool *infeasible)
{
    ft_sym_end end = ft_sym_end_of(p->m);
    *infeasible = end == FT_SYM_INFEASIBLE;
    if (end == FT_SYM_STOPPED || end == FT_SYM_UNSUPPORTED)
        return ft_error_set(w->err, FT_LIMIT, "%s", ft_sym_error_of(p->m)->message);
    if (ft_sym_is_unknown(p->m))
        return ft_error_set(w->err, FT_BUDGET, "the solver does not answer in its time");
    const cover_world *world = w->f->world;
    if (world->should_stop && world->should_stop(world->context))
        return ft_error_set(w->err, FT_BUDGET, "the time is used up");
    uint64_t most = w->f->max_leaves ? w->f->max_leaves : 20000;
    if (w->leaves + w->paths.len > most)
        return ft_error_set(w->err, FT_LIMIT, "a schedule has more than %" PRIu64 " paths", most);
    return FT_OK;
}

/* With dynamic inputs: a node that is decided, if there is one, as a runtime waits with others. */
static void choose_node(walking *w, path *p)
{
    const ft_schedule *s = w->f->schedule;
    uint32_t first = FT_NO_ID, n = (uint32_t)s->nodes.len;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t t = s->nodes.data[i].thread;
        if (w->order.number[i] <= p->done[t]) continue;
        p->node = i;
        if (p->stopped[t] || is_endless(p, w->numbers[t]) || !is_ready(w, p, &s->nodes.data[i]))
            continue;
        if (is_decided(w, p, i)) return;
        if (first == FT_NO_ID) first = i;
    }
    p->node = first == FT_NO_ID ? n : first;
    for (uint32_t i = 0; i < n && first == FT_NO_ID; i++)
        p->left |= w->order.number[i] > p->done[s->nodes.data[i].thread];
}

/* Puts the thread's ways to its next operations aside. */
static ft_status merge_at(walking *w, path *p, uint32_t thread)
{
    path own = cover_path_copy(w, p);
    return cover_merge_ways(w, &own, thread, &w->paths);
}

static ft_status walk(walking *w, path *p)
{
    const ft_schedule *s = w->f->schedule;
    ft_status status;
    bool infeasible, branches;
    uint32_t thread;
    w->at = p;
    while ((status = cover_path_check(w, p, &infeasible)) == FT_OK && !infeasible) {
        if (ft_sym_is_discarded(p->m))
            return call_leaf(w, p, &(cover_leaf){.kind = COVER_LEAF_DISCARDED, .node = FT_NO_ID}),
                   FT_OK;
        if (has_inner_step(p, &thread, &branches)) {
            if (branches && w->f->merges) return merge_at(w, p, thread);
            if (branches)
                fork_at(w, p, thread);
            else
                cover_step(w->f->world, p->m, thread, 0);
            continue;
        }
        if (p->parted) choose_node(w, p);
        if (p->node == s->nodes.len) return end_path(w, p), FT_OK;
        const ft_node *node = &s->nodes.data[p->node];
        if (p->stopped[node->thread] || is_endless(p, w->numbers[node->thread]) ||
            !is_ready(w, p, node))
            p->left = true;
        else if (!do_node(w, p, node))
            return FT_OK;
        p->node++; /* but where it is chosen */
    }
    return status;
}

/* ---- the whole ---- */

static bool name_threads(walking *w)
{
    const ft_schedule *s = w->f->schedule;
    for (int i = 0; i < FT_SYM_THREADS; i++) w->names[i] = FT_NO_ID;
    for (uint32_t i = 0; i < s->threads.len; i++) {
        w->numbers[i] =
            cover_world_thread(w->f->world, ft_schedule_text_of(w->f->set, s->threads.data[i]));
        if (w->numbers[i] == FT_NO_ID) return false;
        w->names[w->numbers[i]] = i;
    }
    return true;
}

static ft_status begin(walking *w)
{
    ft_sym_operation o;
    const ft_sym_state *begin = w->f->begin;
    path first = {.m = begin ? ft_sym_copy(begin) : ft_sym_new(w->f->world->world)};
    for (uint32_t t = 0; t < ft_sym_thread_count(first.m); t++)
        if (ft_sym_stands_before(first.m, t, &o)) w->places[t] = o.place;
    first.bound = ft_calloc(w->f->schedule->objects.len + 1, sizeof *first.bound);
    if (w->f->part && ft_schedule_is_tree(w->f->set, w->f->epoch))
        first.parted = ft_calloc(epoch_of(w)->schedules.len + 1, sizeof *first.parted);
    ft_answer answer = ft_sym_assume(first.m, w->f->condition);
    if (answer == FT_ANSWER_SAT) {
        ft_vec_push(&w->paths, first);
        return FT_OK;
    }
    cover_path_drop(&first);
    if (answer == FT_ANSWER_UNSAT) return FT_OK;
    return ft_error_set(w->err, FT_BUDGET, "the solver does not answer in its time");
}

ft_status cover_follow_all(const cover_following *following, ft_error *err)
{
    FT_REQUIRE(following && following->leaf);
    walking w = {.f = following, .err = err};
    if (!name_threads(&w)) return ft_error_set(err, FT_LIMIT, "a schedule has too many threads");
    ft_schedule_order_init(&w.order, following->schedule);
    following->world->follow = follow;
    following->world->follower = &w;
    ft_status status = begin(&w);
    while (status == FT_OK && w.paths.len) {
        path p = w.paths.data[--w.paths.len];
        status = walk(&w, &p);
        cover_path_drop(&p);
    }
    following->world->follow = NULL;
    for (size_t i = 0; i < w.paths.len; i++) cover_path_drop(&w.paths.data[i]);
    ft_vec_release(&w.paths);
    ft_vec_release(&w.rounds);
    ft_schedule_order_release(&w.order);
    return status;
}
