#include "explore/extensions.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "explore/configurations.h"

/* The events of a thread with a history H: H is all that they depend on. */
typedef struct answer {
    uint32_t first, n; /* in found */
} answer;

/* A thread's events in C. */
typedef struct chain {
    size_t first, n; /* in `chained` */
    size_t until;    /* of those: the first that is behind the place at hand */
} chain;

struct ft_extensions {
    ft_unfolding *u;
    ft_configurations histories;
    ft_map by_question; /* number of H and thread -> answer */
    FT_VEC(uint32_t)
    by_before; /* by event: the answer + 1 to its causes and thread; 0: not asked */
    FT_VEC(answer) answers;
    FT_VEC(uint32_t) found;
    const uint32_t *events; /* C's, causes first */
    size_t n_events;
    size_t fresh;             /* the first of them that is new */
    FT_VEC(uint32_t) chained; /* the same by thread, in order */
    FT_VEC(uint32_t) indices; /* and where each is in `events` */
    chain chains[FT_X_THREADS];
    FT_VEC(uint32_t) pool;   /* scratch: of `events`, for the place at hand */
    FT_VEC(uint32_t) joined; /* of the pool: those that make the history at hand */
    bool generic;
    bool (*should_stop)(void *context);
    void *context;
    uint64_t work; /* looks at events, as it is asked after so many */
    bool stopped;
};

ft_extensions *ft_extensions_new(ft_unfolding *u, bool generic, bool (*should_stop)(void *context),
                                 void *context)
{
    ft_extensions *x = ft_calloc(1, sizeof *x);
    x->u = u;
    x->generic = generic;
    x->should_stop = should_stop;
    x->context = context;
    return x;
}

bool ft_extensions_stopped(const ft_extensions *x)
{
    return x->stopped;
}

static bool is_stopped(ft_extensions *x, size_t work)
{
    enum { EVERY_SO_MUCH = 1 << 20 };
    x->work += work;
    if (x->work < EVERY_SO_MUCH || x->stopped || !x->should_stop) return x->stopped;
    x->work = 0;
    x->stopped = x->should_stop(x->context);
    return x->stopped;
}

void ft_extensions_free(ft_extensions *x)
{
    if (!x) return;
    ft_map_release(&x->by_question);
    ft_vec_release(&x->by_before);
    ft_vec_release(&x->answers);
    ft_configurations_release(&x->histories);
    ft_vec_release(&x->found);
    ft_vec_release(&x->chained);
    ft_vec_release(&x->indices);
    ft_vec_release(&x->pool);
    ft_vec_release(&x->joined);
    free(x);
}

/* The events of the thread that the configuration enables, whole or in part their history. */
static uint32_t enabled_of(ft_unfolding *u, const ft_configuration *c, const ft_x_state *state,
                           uint32_t thread, uint32_t events[FT_X_THREADS])
{
    bool known;
    ft_x_choice choices[FT_X_THREADS];
    ft_x_operation operation = ft_unfolding_pending(u, c, thread, &known);
    if (!known) return 0;
    uint32_t n = ft_x_choices(state, thread, &operation, choices);
    for (uint32_t i = 0; i < n; i++) {
        ft_x_action a = {.operation = operation,
                         .thread = (uint16_t)thread,
                         .variant = choices[i].variant,
                         .outcome = choices[i].outcome};
        events[i] = ft_unfolding_event(u, c, &a);
    }
    return n;
}

size_t ft_extensions_enabled(ft_unfolding *u, const ft_configuration *c, uint32_t *events,
                             size_t room)
{
    size_t n = 0;
    ft_x_state state = ft_unfolding_state(u, c);
    for (uint32_t t = 0; t < ft_unfolding_threads(u); t++) {
        uint32_t found[FT_X_THREADS];
        uint32_t of = enabled_of(u, c, &state, t, found);
        for (uint32_t i = 0; i < of; i++, n++)
            if (n < room) events[n] = found[i];
    }
    if (n || state.exited) return n;
    uint32_t late[FT_X_THREADS];
    n = ft_unfolding_late(u, c, late);
    for (size_t i = 0; i < n && i < room; i++) events[i] = late[i];
    return n;
}

/* Has the process ended behind it? Its end is its thread's last event. */
static bool has_exited(const ft_unfolding *u, const ft_configuration *h)
{
    for (uint32_t t = 0; t < ft_unfolding_threads(u); t++)
        if (h->last[t] && ft_unfolding_operation(u, h->last[t])->kind == FT_X_EXIT) return true;
    return false;
}

/* No state is needed where the operation is enabled in all. */
static uint32_t enabled_behind(ft_unfolding *u, const ft_configuration *h, uint32_t thread,
                               uint32_t events[FT_X_THREADS])
{
    bool known;
    ft_x_action a = {.thread = (uint16_t)thread};
    a.operation = ft_unfolding_pending(u, h, thread, &known);
    if (!known || a.operation.kind == FT_X_NONE) return 0;
    if (ft_x_is_always_enabled((ft_x_kind)a.operation.kind) && !has_exited(u, h)) {
        events[0] = ft_unfolding_event(u, h, &a);
        return 1;
    }
    ft_x_state state = ft_unfolding_state(u, h);
    return enabled_of(u, h, &state, thread, events);
}

static uint32_t ask_anew(ft_extensions *x, const ft_configuration *h, uint32_t thread)
{
    uint32_t events[FT_X_THREADS];
    answer a = {.first = (uint32_t)x->found.len};
    uint32_t n = enabled_behind(x->u, h, thread, events);
    for (uint32_t i = 0; i < n; i++)
        if (ft_unfolding_is_history(x->u, events[i], h)) ft_vec_push(&x->found, events[i]);
    a.n = (uint32_t)x->found.len - a.first;
    assert(a.n <= n);
    ft_vec_push(&x->answers, a);
    return (uint32_t)x->answers.len - 1;
}

/* The index of the answer. */
static uint32_t ask(ft_extensions *x, const ft_configuration *h, uint32_t thread)
{
    bool inserted;
    uint64_t key =
        (uint64_t)ft_configurations_add(&x->histories, h, ft_unfolding_threads(x->u), NULL) << 32 |
        thread;
    uint32_t at = (uint32_t)*ft_map_slot(&x->by_question, key, x->answers.len, &inserted);
    if (inserted) (void)ask_anew(x, h, thread);
    return at;
}

/* The same, of the causes of an event of the thread. */
static uint32_t ask_behind(ft_extensions *x, const ft_configuration *causes, uint32_t before,
                           uint32_t thread)
{
    FT_CHECK(ft_unfolding_thread(x->u, before) == thread);
    while (x->by_before.len <= before) ft_vec_push(&x->by_before, 0);
    if (!x->by_before.data[before]) x->by_before.data[before] = ask_anew(x, causes, thread) + 1;
    return x->by_before.data[before] - 1;
}

/* ---- events in C: those of a thread have ascending numbers, so one of them is among the causes of
 * an event of C if the thread's last one there is it or a later one */

static void list_chains(ft_extensions *x, const ft_configuration *c)
{
    size_t at = 0;
    for (uint32_t t = 0; t < ft_unfolding_threads(x->u); t++) {
        size_t n = c->last[t] ? ft_unfolding_depth(x->u, c->last[t]) + 1 : 0;
        x->chains[t] = (chain){.first = at, .n = n, .until = n};
        at += n;
    }
    assert(at == x->n_events);
    ft_vec_reserve(&x->chained, at + 1);
    ft_vec_reserve(&x->indices, at + 1);
    for (size_t i = 0; i < x->n_events; i++) {
        uint32_t e = x->events[i];
        size_t to = x->chains[ft_unfolding_thread(x->u, e)].first + ft_unfolding_depth(x->u, e);
        x->chained.data[to] = e;
        x->indices.data[to] = (uint32_t)i;
    }
}

/* How many events of a thread there are up to the last one. */
static size_t up_to(const ft_extensions *x, uint32_t last)
{
    return last ? (size_t)ft_unfolding_depth(x->u, last) + 1 : 0;
}

static bool is_in_causes(const ft_extensions *x, uint32_t a, uint32_t b)
{
    bool is = ft_unfolding_last_cause(x->u, b, ft_unfolding_thread(x->u, a)) >= a;
    FT_CHECK(is == ft_unfolding_is_cause(x->u, a, b));
    return is;
}

/* The first event of the thread in C that is dependent on f, whose causes C has, and not one of
 * them. */
static uint32_t first_conflict(const ft_extensions *x, uint32_t thread, uint32_t f,
                               const ft_x_action *action)
{
    const chain *of = &x->chains[thread];
    uint32_t last = thread == action->thread ? ft_unfolding_before(x->u, f)
                                             : ft_unfolding_last_cause(x->u, f, thread);
    for (size_t i = up_to(x, last); i < of->n; i++) {
        uint32_t e = x->chained.data[of->first + i];
        ft_x_action a = ft_unfolding_action(x->u, e);
        if (ft_x_dependent(action, &a)) return e;
    }
    return FT_X_NO_EVENT;
}

/* A conflicting extension: remembers its immediate conflicts in C. Those behind another conflict
 * are not wanted: with the causes of such an event f is excluded already. */
static void note_conflicts(ft_extensions *x, const ft_configuration *c, uint32_t f)
{
    uint32_t firsts[FT_X_THREADS], n = ft_unfolding_threads(x->u), found = 0;
    ft_x_action a = ft_unfolding_action(x->u, f);
    for (uint32_t t = 0; t < n; t++) {
        firsts[t] = first_conflict(x, t, f, &a);
        found += firsts[t] != FT_X_NO_EVENT;
    }
    (void)c;
    FT_CHECK((found != 0) == !ft_unfolding_fits(x->u, c, f));
    for (uint32_t t = 0; t < n && found; t++) {
        if (!firsts[t]) continue;
        bool immediate = true;
        for (uint32_t s = 0; s < n && immediate; s++)
            immediate = s == t || !firsts[s] || !is_in_causes(x, firsts[s], firsts[t]);
        if (immediate) ft_unfolding_conflict(x->u, firsts[t], f);
    }
}

/* A place of a thread in C. */
typedef struct place {
    const ft_configuration *c;
    uint32_t thread;
    uint32_t later;        /* the thread's event there; FT_X_NO_EVENT: C has none */
    uint32_t before;       /* and the one before it; FT_X_NO_EVENT: there is none */
    ft_configuration base; /* its causes, where there is anything new */
} place;

/* Is one of the events that make H among the causes of e? Then H with e is made by e alone. */
static bool is_above(const ft_extensions *x, uint32_t e)
{
    for (size_t i = 0; i < x->joined.len; i++)
        if (is_in_causes(x, x->joined.data[i], e)) return true;
    return false;
}

static void meet(ft_extensions *x, const place *p, uint32_t f)
{
    FT_CHECK((f == p->later) == ft_unfolding_holds(x->u, p->c, f));
    if (f != p->later) note_conflicts(x, p->c, f);
}

static void meet_all(ft_extensions *x, const place *p, const ft_configuration *h)
{
    bool is_base = p->before && !x->joined.len;
    uint32_t at = is_base ? ask_behind(x, h, p->before, p->thread) : ask(x, h, p->thread);
    for (uint32_t i = 0; i < x->answers.data[at].n; i++)
        meet(x, p, x->found.data[x->answers.data[at].first + i]);
}

/* H, and H with the causes of more of the pool from its k-th event on. Each history is made by its
 * last events of the pool alone, so that it comes once. */
static void grow(ft_extensions *x, const place *p, const ft_configuration *h, size_t k)
{
    if (is_stopped(x, x->pool.len + FT_X_THREADS)) return;
    meet_all(x, p, h);
    for (; k < x->pool.len; k++) {
        uint32_t e = x->pool.data[k];
        bool has = h->last[ft_unfolding_thread(x->u, e)] >= e;
        FT_CHECK(has == ft_unfolding_holds(x->u, h, e));
        if (has || is_above(x, e)) continue;
        ft_configuration more = *h;
        ft_unfolding_join(x->u, &more, e);
        ft_vec_push(&x->joined, e);
        grow(x, p, &more, k + 1);
        x->joined.len--;
    }
}

/* ---- fast forms of the rule: they leave out what it would find nothing by */

/* An operation that needs its mutex is blocked in every history in which the last event on that is
 * one behind which somebody else holds it. Events on one mutex follow each other, but for attempts
 * that fail, behind which it is held: so e is the last one wherever it is one of those that make
 * the history. Nothing is enabled behind the end of the process. (For `acq` and `w2` the notes, §2,
 * have the rest of the same: e is a release, or a wait that begins.) */
static bool is_in_vain(const ft_extensions *x, const place *p, const ft_x_operation *o, uint32_t e)
{
    uint32_t mutex, owner, its;
    const ft_x_operation *its_own = ft_unfolding_operation(x->u, e);
    if (its_own->kind == FT_X_EXIT) return o->kind != FT_X_BRANCH;
    if (o->kind != FT_X_LOCK && o->kind != FT_X_WAKE) return false;
    if (o->kind == FT_X_LOCK && (o->value & FT_X_EARLY)) return false; /* an attempt */
    if (!ft_x_mutex_of(o, &mutex) || !ft_x_mutex_of(its_own, &its) || mutex != its) return false;
    if (!ft_unfolding_owner(x->u, e, &owner) || !owner) return false;
    return o->kind == FT_X_WAKE || owner != p->thread + 1;
}

/* Does each event of the pool alone, with what is before the place, enable a LOCK? */
static bool is_each_a_release(const ft_extensions *x, const place *p, const ft_x_operation *o)
{
    uint32_t mutex, owner, its;
    if (!p->before || o->kind != FT_X_LOCK || o->value || !ft_x_mutex_of(o, &mutex)) return false;
    for (size_t i = 0; i < x->pool.len; i++) {
        ft_x_action a = ft_unfolding_action(x->u, x->pool.data[i]);
        if (!ft_x_mutex_of(&a.operation, &its) || its != mutex || ft_x_is_late(&a)) return false;
        if (!ft_unfolding_owner(x->u, x->pool.data[i], &owner) || owner) return false;
    }
    return true;
}

static void lock_behind_each(ft_extensions *x, const place *p, const ft_x_operation *o)
{
    ft_x_action a = {.operation = *o, .thread = (uint16_t)p->thread};
    meet_all(x, p, &p->base);
    for (size_t i = 0; i < x->pool.len && !is_stopped(x, FT_X_THREADS); i++) {
        ft_configuration h = p->base;
        ft_unfolding_join(x->u, &h, x->pool.data[i]);
        meet(x, p, ft_unfolding_event_of(x->u, &h, &a));
    }
}

/* ---- places */

/* Of another thread's events that are no causes of the place, those that do not have the place's
 * event among their causes: from the first to before `until`. */
static size_t beside(ft_extensions *x, const place *p, uint32_t thread)
{
    chain *of = &x->chains[thread];
    size_t first = p->before ? up_to(x, ft_unfolding_last_cause(x->u, p->before, thread)) : 0;
    while (p->later && of->until > first) {
        uint32_t e = x->chained.data[of->first + of->until - 1];
        if (ft_unfolding_last_cause(x->u, e, p->thread) < p->later) break;
        of->until--;
    }
    return first;
}

/* Is there anything new at the place? */
static bool is_fresh(ft_extensions *x, const place *p, const ft_x_operation *o)
{
    const chain *own = &x->chains[p->thread];
    if (!p->before || !p->later) return true;
    if (x->indices.data[own->first + ft_unfolding_depth(x->u, p->later)] >= x->fresh) return true;
    for (uint32_t t = 0; t < ft_unfolding_threads(x->u); t++) {
        if (t == p->thread) continue;
        const chain *of = &x->chains[t];
        size_t first = beside(x, p, t);
        for (size_t i = of->until; i-- > first;) {
            if (x->indices.data[of->first + i] < x->fresh) break;
            if (ft_unfolding_may_depend(x->u, p->thread, o, x->chained.data[of->first + i]))
                return true;
        }
    }
    return false;
}

/* In the order of `events`: indices there become events. */
static void sort_pool(ft_extensions *x)
{
    uint32_t *all = x->pool.data;
    for (size_t i = 1; i < x->pool.len; i++) {
        uint32_t index = all[i];
        size_t k = i;
        for (; k && all[k - 1] > index; k--) all[k] = all[k - 1];
        all[k] = index;
    }
    for (size_t i = 0; i < x->pool.len; i++) all[i] = x->events[all[i]];
}

/* The events of C that the operation may depend on, but for those behind the place. */
static void fill_pool(ft_extensions *x, const place *p, const ft_x_operation *o)
{
    x->pool.len = 0;
    for (uint32_t t = 0; t < ft_unfolding_threads(x->u); t++) {
        if (t == p->thread) continue;
        const chain *of = &x->chains[t];
        for (size_t i = beside(x, p, t); i < of->until; i++) {
            uint32_t e = x->chained.data[of->first + i];
            if (!ft_unfolding_may_depend(x->u, p->thread, o, e)) continue;
            if (x->generic || !is_in_vain(x, p, o, e))
                ft_vec_push(&x->pool, x->indices.data[of->first + i]);
        }
    }
    sort_pool(x);
}

static void at_place(ft_extensions *x, place *p)
{
    bool known = true;
    ft_x_operation o;
    if (p->later)
        o = *ft_unfolding_operation(x->u, p->later);
    else
        o = ft_unfolding_pending(x->u, p->c, p->thread, &known);
    if (!known || o.kind == FT_X_NONE || !is_fresh(x, p, &o)) return;
    if (p->before) p->base = ft_unfolding_causes(x->u, p->before);
    fill_pool(x, p, &o);
    x->joined.len = 0;
    if (!x->generic && is_each_a_release(x, p, &o))
        lock_behind_each(x, p, &o);
    else
        grow(x, p, &p->base, 0);
}

/* The places of the thread, the last one first. */
static void at_places(ft_extensions *x, const ft_configuration *c, uint32_t thread)
{
    place p = {.c = c, .thread = thread, .before = c->last[thread]};
    for (uint32_t t = 0; t < ft_unfolding_threads(x->u); t++) x->chains[t].until = x->chains[t].n;
    while (!is_stopped(x, FT_X_THREADS)) {
        if (!p.before) p.base = (ft_configuration){{0}};
        at_place(x, &p);
        if (!p.before) break;
        p.later = p.before;
        p.before = ft_unfolding_before(x->u, p.before);
    }
}

/* Where a late event was done no thread could do anything else; another thread's late event could
 * have come in its place. The rule above leaves them out: they depend on all that other threads
 * stand before. */
static void beside_late(ft_extensions *x, const ft_configuration *c, uint32_t e)
{
    uint32_t late[FT_X_THREADS];
    ft_configuration before = ft_unfolding_causes(x->u, e);
    uint32_t t = ft_unfolding_action(x->u, e).thread;
    before.last[t] = ft_unfolding_before(x->u, e);
    uint32_t n = ft_unfolding_late(x->u, &before, late);
    for (uint32_t i = 0; i < n; i++)
        if (late[i] != e) note_conflicts(x, c, late[i]);
}

size_t ft_extensions_bytes(const ft_extensions *x)
{
    return x->answers.cap * sizeof(answer) + (x->found.cap + x->by_before.cap) * sizeof(uint32_t) +
           ft_configurations_bytes(&x->histories) + x->by_question.cap * (2 * sizeof(uint64_t) + 1);
}

void ft_extensions_find(ft_extensions *x, const ft_configuration *c, const uint32_t *events,
                        size_t n, size_t fresh)
{
    FT_REQUIRE(fresh <= n);
    x->stopped = false;
    x->events = events;
    x->n_events = n;
    x->fresh = fresh;
    list_chains(x, c);
    for (size_t i = fresh; i < n; i++) {
        ft_x_action a = ft_unfolding_action(x->u, events[i]);
        if (ft_x_is_late(&a)) beside_late(x, c, events[i]);
    }
    for (uint32_t t = 0; t < ft_unfolding_threads(x->u); t++) at_places(x, c, t);
}
