#include "reduce/intervals/steps.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "ranges/faults.h"

/* Pairs of accesses that are looked at, at most: contention is quadratic in a variable's accesses.
 */
enum { MOST_PAIRS = 4000000 };

typedef struct access {
    uint32_t object, event;
    bool changes;
} access;

typedef struct building {
    ft_stepping *s;
    const ft_stepping_options *options;
    const ft_trace *trace;
    const ft_order *order;
    uint32_t *last;          /* [threads] places of the thread that are analysed */
    FT_VEC(access) accesses; /* of all threads, by object and thread */
    uint8_t *contended;      /* [events] */
    uint8_t *source;         /* [events] another thread waits for it */
    ft_map needs;            /* event -> slice of `vectors` */
    FT_VEC(uint32_t) vectors;
    uint64_t pairs;
} building;

/* ---- objects --------------------------------------------------------------------------------- */

/* The first object of each class behind the shared variables. */
static uint32_t object_of(const ft_trace *t, ft_object_class class, uint32_t number)
{
    const uint32_t sizes[FT_OBJECT_CLASSES] = {
        [FT_OBJECT_VARIABLE] = t->shared.len,      [FT_OBJECT_LOCK] = t->locks.len,
        [FT_OBJECT_SEMAPHORE] = t->semaphores.len, [FT_OBJECT_CONDITION] = t->conditions.len,
        [FT_OBJECT_BARRIER] = t->barriers.len,     [FT_OBJECT_ONCE] = t->onces.len,
    };
    uint32_t base = 0;
    for (int c = 0; c < (int)class; c++) base += sizes[c];
    return base + number;
}

static const bool IS_CONTENDED_CLASS[FT_OBJECT_CLASSES] = {
    [FT_OBJECT_LOCK] = true,    [FT_OBJECT_SEMAPHORE] = true, [FT_OBJECT_CONDITION] = true,
    [FT_OBJECT_BARRIER] = true, [FT_OBJECT_ONCE] = true,
};

/* Two readers of a read-write lock do not hinder each other. */
static bool is_shared_hold(const building *b, uint32_t e)
{
    if (b->trace->kind[e] == FT_EVENT_ACQUIRE_SHARED) return true;
    uint32_t section = b->order->section_of[e];
    return section != FT_NO_SECTION && b->order->sections.data[section].shared;
}

static void add_event(building *b, uint32_t e)
{
    const ft_trace *t = b->trace;
    ft_access scratch;
    uint32_t count;
    const ft_access *found = ft_trace_accesses(t, e, &scratch, &count);
    for (uint32_t i = 0; i < count; i++)
        ft_vec_push(&b->accesses, (access){found[i].variable, e, found[i].write});
    ft_object_class class = ft_event_kind_object(t->kind[e]);
    if (IS_CONTENDED_CLASS[class])
        ft_vec_push(&b->accesses,
                    (access){object_of(t, class, t->object[e]), e, !is_shared_hold(b, e)});
}

static int by_object(const void *x, const void *y)
{
    const access *a = x, *b = y;
    if (a->object != b->object) return a->object < b->object ? -1 : 1;
    return (a->event > b->event) - (a->event < b->event);
}

/* ---- needs ----------------------------------------------------------------------------------- */

static bool is_hard_target(const building *b, uint32_t e, const uint32_t **sources, uint32_t *n)
{
    *n = ft_order_hard_sources(b->order, e, sources);
    return *n > 0;
}

static void mark_sources(building *b)
{
    const uint32_t *sources;
    uint32_t n;
    for (uint32_t e = 0; e < b->trace->n_events; e++) {
        if (!is_hard_target(b, e, &sources, &n)) continue;
        for (uint32_t i = 0; i < n; i++)
            if (b->trace->thread[sources[i]] != b->trace->thread[e]) b->source[sources[i]] = 1;
    }
}

static void take_greater(uint32_t *into, const uint32_t *from, uint32_t n)
{
    for (uint32_t t = 0; t < n; t++)
        if (from[t] > into[t]) into[t] = from[t];
}

static uint32_t keep_vector(building *b, const uint32_t *vector, uint32_t n)
{
    uint32_t first = (uint32_t)b->vectors.len;
    for (uint32_t t = 0; t < n; t++) ft_vec_push(&b->vectors, vector[t]);
    return first;
}

/* Places of each thread that are done before an event: along the hard order, through all threads.
 * Kept for sources, and for what waits; neither stands in an arm. */
static void find_needs(building *b)
{
    const uint32_t n = b->order->n_threads;
    uint32_t *now = ft_calloc((size_t)n * n + 1, sizeof *now);
    const uint32_t *sources;
    uint32_t count;
    for (uint32_t e = 0; e < b->trace->n_events; e++) {
        uint32_t t = b->trace->thread[e], *mine = now + (size_t)t * n;
        bool target = is_hard_target(b, e, &sources, &count);
        for (uint32_t i = 0; target && i < count; i++) {
            uint64_t first;
            if (ft_map_get(&b->needs, sources[i], &first))
                take_greater(mine, b->vectors.data + first, n);
            if (mine[b->trace->thread[sources[i]]] < b->order->position[sources[i]] + 1)
                mine[b->trace->thread[sources[i]]] = b->order->position[sources[i]] + 1;
        }
        if (target || b->source[e]) ft_map_put(&b->needs, e, keep_vector(b, mine, n));
    }
    free(now);
}

/* ---- contention ------------------------------------------------------------------------------ */

static bool is_open(const building *b, const access *x, const access *y)
{
    if (x->event == FT_NO_EVENT) return false;
    if (y->event == FT_NO_EVENT) return true; /* a probe, which anything may come before */
    if (b->trace->thread[x->event] == b->trace->thread[y->event]) return false;
    if (!x->changes && !y->changes) return false;
    if (ft_interval_fault_is(FT_INTERVAL_FAULT_BLIND) && x->changes != y->changes) return false;
    return !ft_order_before(b->order, x->event, y->event) &&
           !ft_order_before(b->order, y->event, x->event);
}

static bool is_contended(const building *b, const access *x)
{
    return x->event == FT_NO_EVENT || b->contended[x->event];
}

static bool find_contention(building *b)
{
    const access *a = b->accesses.data;
    size_t n = b->accesses.len;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && a[end].object == a[i].object; end++) continue;
        for (size_t x = i; x < end; x++)
            for (size_t y = i; y < end && !is_contended(b, &a[x]); y++) {
                if (++b->pairs > MOST_PAIRS) return false;
                if (is_open(b, &a[x], &a[y])) b->contended[a[x].event] = 1;
            }
    }
    return true;
}

/* ---- threads --------------------------------------------------------------------------------- */

static const bool IS_ORDER_ONLY[FT_EVENT_KINDS] = {
    [FT_EVENT_FORK] = true,     [FT_EVENT_JOIN] = true,     [FT_EVENT_BEGIN] = true,
    [FT_EVENT_END] = true,      [FT_EVENT_TX_BEGIN] = true, [FT_EVENT_TX_END] = true,
    [FT_EVENT_EDGE_OUT] = true, [FT_EVENT_EDGE_IN] = true,
};

static uint32_t event_at(const ft_order *order, uint32_t thread, uint32_t place)
{
    return order->thread_events[order->thread_start[thread] + place];
}

/* Up to the end of the cone, or to an event that no schedule executes. */
static uint32_t analysed(const building *b, uint32_t thread)
{
    uint32_t n = b->order->thread_start[thread + 1] - b->order->thread_start[thread];
    for (uint32_t k = 0; k < n; k++) {
        uint32_t e = event_at(b->order, thread, k);
        if (b->options->cone && !b->options->cone[e]) return k;
        if (ft_problem_never(b->s->problem, e) && ft_trace_path(b->trace, e) == 0) return k;
    }
    return n;
}

static bool is_needed(const building *b, uint32_t thread)
{
    for (uint32_t k = 0; k < b->last[thread]; k++)
        if (!IS_ORDER_ONLY[b->trace->kind[event_at(b->order, thread, k)]]) return true;
    return false;
}

static void choose_threads(building *b)
{
    ft_stepping *s = b->s;
    uint32_t n = b->order->n_threads;
    s->index = ft_alloc((n + 1) * sizeof *s->index);
    s->threads = ft_calloc((size_t)n + 1, sizeof *s->threads);
    for (uint32_t t = 0; t < n; t++) {
        b->last[t] = analysed(b, t);
        s->index[t] = is_needed(b, t) ? s->n_threads : UINT32_MAX;
        if (s->index[t] != UINT32_MAX) s->threads[s->n_threads++].thread = t;
    }
}

static void add_probe_read(void *context, ft_symbol symbol)
{
    building *b = context;
    if (!FT_SYM_IS_LOCAL(symbol))
        ft_vec_push(&b->accesses, (access){FT_SYM_INDEX(symbol), FT_NO_EVENT, false});
}

static void list_accesses(building *b)
{
    for (uint32_t i = 0; i < b->s->n_threads; i++) {
        uint32_t t = b->s->threads[i].thread;
        for (uint32_t k = 0; k < b->last[t]; k++) add_event(b, event_at(b->order, t, k));
    }
    for (uint32_t k = 0; k < b->options->n_probes; k++)
        ft_term_symbols(b->trace->terms, b->options->probes[k].term, add_probe_read, b);
    if (b->accesses.len)
        qsort(b->accesses.data, b->accesses.len, sizeof *b->accesses.data, by_object);
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Its thread may end there, with all that came before it done. */
static bool may_stop(const building *b, uint32_t e)
{
    const ft_trace *t = b->trace;
    if (ft_interval_fault_is(FT_INTERVAL_FAULT_STOP_INSIDE)) return false;
    if (t->kind[e] == FT_EVENT_IF)
        return ft_problem_may_be_undefined(t->terms, ft_trace_action(t, e)->guard);
    return t->kind[e] == FT_EVENT_READ || t->kind[e] == FT_EVENT_RMW ||
           ft_event_conditional(t, e) || ft_problem_never(b->s->problem, e);
}

static bool starts(const building *b, uint32_t thread, uint32_t place)
{
    const uint32_t *sources;
    uint32_t n, e = event_at(b->order, thread, place);
    if (place == 0 || b->options->whole || b->contended[e] || may_stop(b, e)) return true;
    return is_hard_target(b, e, &sources, &n) || b->source[event_at(b->order, thread, place - 1)];
}

static int by_value(const void *x, const void *y)
{
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    return (a > b) - (a < b);
}

/* Sorts the tail of `list` and drops a read beside a change of the same object. */
static uint32_t sort_tail(uint32_t *list, uint32_t n)
{
    uint32_t kept = 0;
    if (n) qsort(list, n, sizeof *list, by_value);
    for (uint32_t i = 0; i < n; i++) {
        if (kept && list[kept - 1] >> 1 == list[i] >> 1)
            list[kept - 1] |= list[i];
        else
            list[kept++] = list[i];
    }
    return kept;
}

static void add_step_accesses(building *b, ft_step *step, uint32_t e)
{
    size_t before = b->accesses.len;
    if (!b->contended[e] && !b->options->whole) return;
    add_event(b, e);
    for (size_t i = before; i < b->accesses.len; i++)
        ft_vec_push(&b->s->accesses, b->accesses.data[i].object << 1 | b->accesses.data[i].changes);
    b->accesses.len = before;
    step->n_accesses = sort_tail(b->s->accesses.data + step->first_access,
                                 (uint32_t)b->s->accesses.len - step->first_access);
    b->s->accesses.len = step->first_access + step->n_accesses;
}

/* A section that is open for certain: its acquire is on every path, and so is a release of it if
 * the section ends. */
static bool is_certain_section(const building *b, const ft_section *section)
{
    return ft_trace_path(b->trace, section->acquire) == 0 ||
           ft_interval_fault_is(FT_INTERVAL_FAULT_ARM_LOCKS);
}

/* Locks held behind each step. */
static void find_held(building *b, uint32_t i)
{
    ft_step_thread *t = &b->s->threads[i];
    FT_VEC(ft_section) own = {0};
    for (size_t k = 0; k < b->order->sections.len; k++) {
        const ft_section *section = &b->order->sections.data[k];
        if (section->thread == t->thread && is_certain_section(b, section))
            ft_vec_push(&own, *section);
    }
    for (uint32_t k = 0; k < t->n; k++) {
        ft_step *step = &t->steps[k];
        uint32_t end = step->first + step->count;
        step->first_held = (uint32_t)b->s->held.len;
        for (size_t o = 0; o < own.len; o++) {
            const ft_section *section = &own.data[o];
            bool open =
                b->order->position[section->acquire] < end &&
                (section->release == FT_NO_EVENT || b->order->position[section->release] >= end);
            if (open) ft_vec_push(&b->s->held, section->lock << 1 | section->shared);
        }
        step->n_held = (uint32_t)b->s->held.len - step->first_held;
        if (step->n_held)
            qsort(b->s->held.data + step->first_held, step->n_held, sizeof *b->s->held.data,
                  by_value);
    }
    ft_vec_release(&own);
}

/* The probes of an event, each a step. */
static void add_probes(building *b, ft_step_thread *t, uint32_t place, uint32_t e)
{
    for (uint32_t k = 0; k < b->options->n_probes; k++) {
        if (b->options->probes[k].event != e) continue;
        ft_step step = {.first = place, .first_access = (uint32_t)b->s->accesses.len, .probe = k};
        size_t before = b->accesses.len;
        ft_term_symbols(b->trace->terms, b->options->probes[k].term, add_probe_read, b);
        for (size_t i = before; i < b->accesses.len; i++)
            ft_vec_push(&b->s->accesses, b->accesses.data[i].object << 1);
        b->accesses.len = before;
        step.n_accesses = sort_tail(b->s->accesses.data + step.first_access,
                                    (uint32_t)b->s->accesses.len - step.first_access);
        b->s->accesses.len = step.first_access + step.n_accesses;
        ft_vec_push(&t->list, step);
    }
}

static void cut_steps(building *b, uint32_t i)
{
    ft_step_thread *t = &b->s->threads[i];
    for (uint32_t k = 0; k < b->last[t->thread]; k++) {
        uint32_t e = event_at(b->order, t->thread, k);
        size_t before = t->list.len;
        add_probes(b, t, k, e);
        if (t->list.len > before || starts(b, t->thread, k)) {
            ft_step fresh = {
                .first = k, .first_access = (uint32_t)b->s->accesses.len, .probe = FT_NO_PROBE};
            ft_vec_push(&t->list, fresh);
        }
        ft_step *step = &t->list.data[t->list.len - 1];
        step->count++;
        step->cut |= b->source[e] && !ft_interval_fault_is(FT_INTERVAL_FAULT_NO_CUT);
        b->s->n_contended += b->contended[e];
        add_step_accesses(b, step, e);
    }
    if (b->options->dummy) {
        uint32_t object = object_of(b->trace, FT_OBJECT_CLASSES, 0);
        ft_step end = {.first = b->last[t->thread],
                       .first_access = (uint32_t)b->s->accesses.len,
                       .n_accesses = 1,
                       .probe = FT_NO_PROBE};
        ft_vec_push(&b->s->accesses, object << 1 | 1);
        ft_vec_push(&t->list, end);
    }
    t->n = (uint32_t)t->list.len;
    t->steps = t->list.data;
}

/* The steps of thread j that hold its first `places` events. */
static uint32_t steps_within(const ft_step_thread *t, uint32_t places)
{
    uint32_t low = 0, high = t->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (t->steps[middle].first < places)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void count_needs(building *b, uint32_t i)
{
    ft_stepping *s = b->s;
    ft_step_thread *t = &s->threads[i];
    t->needs = ft_calloc((size_t)t->n * s->n_threads + 1, sizeof *t->needs);
    for (uint32_t k = 0; k < t->n; k++) {
        uint32_t *mine = t->needs + (size_t)k * s->n_threads;
        if (k) memcpy(mine, mine - s->n_threads, s->n_threads * sizeof *mine);
        for (uint32_t place = t->steps[k].first; place < t->steps[k].first + t->steps[k].count;
             place++) {
            uint64_t first;
            if (!ft_map_get(&b->needs, event_at(b->order, t->thread, place), &first)) continue;
            for (uint32_t j = 0; j < s->n_threads; j++) {
                uint32_t places = b->vectors.data[first + s->threads[j].thread];
                uint32_t need = j == i ? 0 : steps_within(&s->threads[j], places);
                if (need > mine[j]) mine[j] = need;
                if (need) t->waits = s->threads[j].waits = true;
            }
        }
    }
}

static void release_building(building *b)
{
    free(b->last);
    free(b->contended);
    free(b->source);
    ft_vec_release(&b->accesses);
    ft_map_release(&b->needs);
    ft_vec_release(&b->vectors);
}

static bool build(building *b)
{
    uint64_t n = 0;
    choose_threads(b);
    list_accesses(b);
    if (!find_contention(b)) return false;
    mark_sources(b);
    find_needs(b);
    b->accesses.len = 0;
    for (uint32_t i = 0; i < b->s->n_threads; i++) {
        cut_steps(b, i);
        n += b->s->threads[i].n;
        if (n > b->options->most) return false;
    }
    for (uint32_t i = 0; i < b->s->n_threads; i++) {
        find_held(b, i);
        count_needs(b, i);
    }
    return true;
}

ft_stepping *ft_stepping_new(const ft_problem *problem, const ft_stepping_options *options)
{
    FT_REQUIRE(problem && options);
    ft_stepping *s = ft_calloc(1, sizeof *s);
    building b = {.s = s, .options = options, .trace = problem->trace, .order = problem->order};
    s->problem = problem;
    b.last = ft_calloc((size_t)b.order->n_threads + 1, sizeof *b.last);
    b.contended = ft_calloc((size_t)b.trace->n_events + 1, 1);
    b.source = ft_calloc((size_t)b.trace->n_events + 1, 1);
    bool whole = build(&b);
    release_building(&b);
    if (!whole) {
        ft_stepping_free(s);
        return NULL;
    }
    FT_CHECK(ft_stepping_are_sound(s));
    return s;
}

void ft_stepping_free(ft_stepping *s)
{
    if (!s) return;
    for (uint32_t i = 0; i < s->n_threads; i++) {
        ft_vec_release(&s->threads[i].list);
        free(s->threads[i].needs);
    }
    free(s->threads);
    free(s->index);
    ft_vec_release(&s->accesses);
    ft_vec_release(&s->held);
    free(s);
}

/* ---- questions ------------------------------------------------------------------------------- */

static bool is_ordered(const ft_stepping *s, uint32_t i, uint32_t p, uint32_t j, uint32_t q)
{
    return s->threads[i].needs[(size_t)p * s->n_threads + j] > q ||
           s->threads[j].needs[(size_t)q * s->n_threads + i] > p;
}

/* Two lists that ascend have an entry of one object, or lock, where `apart` says that they clash.
 */
static bool clash(const uint32_t *a, uint32_t n, const uint32_t *b, uint32_t m, bool if_both)
{
    for (uint32_t i = 0, k = 0; i < n && k < m;) {
        uint32_t x = a[i] >> 1, y = b[k] >> 1;
        if (x < y)
            i++;
        else if (y < x)
            k++;
        else if (if_both ? !(a[i] & b[k] & 1) : (a[i] | b[k]) & 1)
            return true;
        else
            i++, k++;
    }
    return false;
}

bool ft_stepping_conflict(const ft_stepping *s, uint32_t i, uint32_t p, uint32_t j, uint32_t q)
{
    const ft_step *a = &s->threads[i].steps[p], *b = &s->threads[j].steps[q];
    assert(i != j && p < s->threads[i].n && q < s->threads[j].n);
    if (!clash(s->accesses.data + a->first_access, a->n_accesses,
               s->accesses.data + b->first_access, b->n_accesses, false))
        return false;
    return !is_ordered(s, i, p, j, q);
}

bool ft_stepping_compatible(const ft_stepping *s, uint32_t i, uint32_t p, uint32_t j, uint32_t q)
{
    if (p == 0 || q == 0) return true;
    const ft_step *a = &s->threads[i].steps[p - 1], *b = &s->threads[j].steps[q - 1];
    return !clash(s->held.data + a->first_held, a->n_held, s->held.data + b->first_held, b->n_held,
                  true);
}

uint32_t ft_stepping_event(const ft_stepping *s, uint32_t i, uint32_t place)
{
    return event_at(s->problem->order, s->threads[i].thread, place);
}

bool ft_stepping_has(const ft_stepping *s, uint32_t e)
{
    uint32_t i = s->index[s->problem->trace->thread[e]];
    if (i == UINT32_MAX || s->threads[i].n == 0) return false;
    const ft_step *last = &s->threads[i].steps[s->threads[i].n - 1];
    return s->problem->order->position[e] < last->first + last->count;
}

bool ft_stepping_are_sound(const ft_stepping *s)
{
    for (uint32_t i = 0; i < s->n_threads; i++) {
        const ft_step_thread *t = &s->threads[i];
        for (uint32_t k = 0; k < t->n; k++) {
            const ft_step *step = &t->steps[k];
            if (k && t->steps[k - 1].first + t->steps[k - 1].count != step->first) return false;
            if (step->first_access + step->n_accesses > s->accesses.len) return false;
            if (step->first_held + step->n_held > s->held.len) return false;
            for (uint32_t j = 0; j < s->n_threads; j++)
                if (t->needs[(size_t)k * s->n_threads + j] > s->threads[j].n) return false;
        }
    }
    return true;
}
