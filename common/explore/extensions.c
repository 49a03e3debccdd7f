#include "explore/extensions.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "explore/configurations.h"

/* The events of a thread with a history H: H is all that they depend on. */
typedef struct answer {
    uint32_t first, n; /* in found */
} answer;

struct ft_extensions {
    ft_unfolding *u;
    ft_configurations histories;
    ft_map by_question; /* number of H and thread -> answer */
    FT_VEC(answer) answers;
    FT_VEC(uint32_t) found;
    FT_VEC(uint32_t) pool;  /* scratch */
    const uint32_t *events; /* the configuration's, causes first */
    size_t n_events;
    FT_VEC(uint32_t) joined;       /* of the pool: those that make the history at hand */
    uint32_t oldest[FT_X_THREADS]; /* by thread: its first fresh event */
    size_t fresh;                  /* the first of the events that is new */
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
    ft_vec_release(&x->answers);
    ft_configurations_release(&x->histories);
    ft_vec_release(&x->found);
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

static answer ask_anew(ft_extensions *x, const ft_configuration *h, uint32_t thread)
{
    uint32_t events[FT_X_THREADS];
    answer a = {.first = (uint32_t)x->found.len};
    ft_x_state state = ft_unfolding_state(x->u, h);
    uint32_t n = enabled_of(x->u, h, &state, thread, events);
    for (uint32_t i = 0; i < n; i++)
        if (ft_unfolding_is_history(x->u, events[i], h)) ft_vec_push(&x->found, events[i]);
    a.n = (uint32_t)x->found.len - a.first;
    assert(a.n <= n);
    return a;
}

/* The index of the answer. */
static uint32_t ask(ft_extensions *x, const ft_configuration *h, uint32_t thread)
{
    bool inserted;
    uint64_t key =
        (uint64_t)ft_configurations_add(&x->histories, h, ft_unfolding_threads(x->u), NULL) << 32 |
        thread;
    uint32_t at = (uint32_t)*ft_map_slot(&x->by_question, key, x->answers.len, &inserted);
    if (inserted) {
        answer made = ask_anew(x, h, thread);
        ft_vec_push(&x->answers, made);
    }
    return at;
}

/* The first event of the thread in C that is dependent on f and not its cause. */
static uint32_t first_conflict(const ft_extensions *x, const ft_configuration *c, uint32_t thread,
                               uint32_t f, const ft_x_action *action)
{
    uint32_t first = FT_X_NO_EVENT;
    for (uint32_t e = c->last[thread]; e && !ft_unfolding_is_cause(x->u, e, f);
         e = ft_unfolding_before(x->u, e)) {
        ft_x_action a = ft_unfolding_action(x->u, e);
        if (ft_x_dependent(action, &a)) first = e;
    }
    return first;
}

/* A conflicting extension: remembers its immediate conflicts in C. Those behind another conflict
 * are not wanted: with the causes of such an event f is excluded already. */
static void note_conflicts(ft_extensions *x, const ft_configuration *c, uint32_t f)
{
    uint32_t firsts[FT_X_THREADS], n = ft_unfolding_threads(x->u), found = 0;
    ft_x_action a = ft_unfolding_action(x->u, f);
    for (uint32_t t = 0; t < n; t++) {
        firsts[t] = first_conflict(x, c, t, f, &a);
        found += firsts[t] != FT_X_NO_EVENT;
    }
    FT_CHECK((found != 0) == !ft_unfolding_fits(x->u, c, f));
    for (uint32_t t = 0; t < n && found; t++) {
        if (!firsts[t]) continue;
        bool immediate = true;
        for (uint32_t s = 0; s < n && immediate; s++)
            immediate = s == t || !firsts[s] || !ft_unfolding_is_cause(x->u, firsts[s], firsts[t]);
        if (immediate) ft_unfolding_conflict(x->u, firsts[t], f);
    }
}

/* A place of a thread in C. */
typedef struct place {
    const ft_configuration *c;
    uint32_t thread;
    uint32_t later; /* the thread's event there; FT_X_NO_EVENT: C has none */
} place;

/* Is one of the events that make H among the causes of e? Then H with e is made by e alone. */
static bool is_above(const ft_extensions *x, uint32_t e)
{
    for (size_t i = 0; i < x->joined.len; i++)
        if (ft_unfolding_is_cause(x->u, x->joined.data[i], e)) return true;
    return false;
}

static void meet(ft_extensions *x, const place *p, uint32_t f)
{
    if (f != p->later && !ft_unfolding_holds(x->u, p->c, f)) note_conflicts(x, p->c, f);
}

static void meet_all(ft_extensions *x, const place *p, const ft_configuration *h)
{
    uint32_t at = ask(x, h, p->thread);
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
        if (ft_unfolding_holds(x->u, h, e) || is_above(x, e)) continue;
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
    ft_x_action a = ft_unfolding_action(x->u, e);
    if (a.operation.kind == FT_X_EXIT) return o->kind != FT_X_BRANCH;
    if (o->kind != FT_X_LOCK && o->kind != FT_X_WAKE) return false;
    if (o->kind == FT_X_LOCK && (o->value & FT_X_EARLY)) return false; /* an attempt */
    if (!ft_x_mutex_of(o, &mutex) || !ft_x_mutex_of(&a.operation, &its) || mutex != its)
        return false;
    if (!ft_unfolding_owner(x->u, e, &owner) || !owner) return false;
    return o->kind == FT_X_WAKE || owner != p->thread + 1;
}

/* Does each event of the pool alone, with what is before the place, enable a LOCK? */
static bool is_each_a_release(const ft_extensions *x, uint32_t before, const ft_x_operation *o)
{
    uint32_t mutex, owner, its;
    if (!before || o->kind != FT_X_LOCK || o->value || !ft_x_mutex_of(o, &mutex)) return false;
    for (size_t i = 0; i < x->pool.len; i++) {
        ft_x_action a = ft_unfolding_action(x->u, x->pool.data[i]);
        if (!ft_x_mutex_of(&a.operation, &its) || its != mutex || ft_x_is_late(&a)) return false;
        if (!ft_unfolding_owner(x->u, x->pool.data[i], &owner) || owner) return false;
    }
    return true;
}

static void lock_behind_each(ft_extensions *x, const place *p, const ft_configuration *base,
                             const ft_x_operation *o)
{
    ft_x_action a = {.operation = *o, .thread = (uint16_t)p->thread};
    meet_all(x, p, base);
    for (size_t i = 0; i < x->pool.len && !is_stopped(x, FT_X_THREADS); i++) {
        ft_configuration h = *base;
        ft_unfolding_join(x->u, &h, x->pool.data[i]);
        meet(x, p, ft_unfolding_event_of(x->u, &h, &a));
    }
}

/* ---- places */

static bool is_of_pool(const ft_extensions *x, const place *p, const ft_x_operation *o, uint32_t e)
{
    uint32_t thread = ft_unfolding_thread(x->u, e);
    if (thread == p->thread || !ft_unfolding_may_depend(x->u, p->thread, o, e)) return false;
    return !(p->later && ft_unfolding_is_cause(x->u, p->later, e));
}

/* The events of C that the operation may depend on, but for those behind the place. */
static void fill_pool(ft_extensions *x, const place *p, const ft_configuration *base,
                      const ft_x_operation *o)
{
    x->pool.len = 0;
    for (size_t i = 0; i < x->n_events; i++) {
        uint32_t e = x->events[i];
        if (!is_of_pool(x, p, o, e) || ft_unfolding_holds(x->u, base, e)) continue;
        if (x->generic || !is_in_vain(x, p, o, e)) ft_vec_push(&x->pool, e);
    }
}

/* Is there anything new at the place? */
static bool is_fresh(const ft_extensions *x, const place *p, uint32_t before,
                     const ft_x_operation *o)
{
    uint32_t oldest = x->oldest[p->thread];
    if (!before || !p->later) return true;
    if (oldest && ft_unfolding_depth(x->u, p->later) >= ft_unfolding_depth(x->u, oldest))
        return true;
    for (size_t i = x->fresh; i < x->n_events; i++)
        if (is_of_pool(x, p, o, x->events[i])) return true;
    return false;
}

static void at_place(ft_extensions *x, const place *p, uint32_t before)
{
    bool known = true;
    ft_configuration base = {{0}};
    ft_x_operation o;
    if (p->later)
        o = ft_unfolding_action(x->u, p->later).operation;
    else
        o = ft_unfolding_pending(x->u, p->c, p->thread, &known);
    if (!known || o.kind == FT_X_NONE || !is_fresh(x, p, before, &o)) return;
    if (before) base = ft_unfolding_causes(x->u, before);
    fill_pool(x, p, &base, &o);
    x->joined.len = 0;
    if (!x->generic && is_each_a_release(x, before, &o))
        lock_behind_each(x, p, &base, &o);
    else
        grow(x, p, &base, 0);
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
    return x->answers.cap * sizeof(answer) + x->found.cap * sizeof(uint32_t) +
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
    memset(x->oldest, 0, sizeof x->oldest);
    for (size_t i = n; i-- > fresh;) x->oldest[ft_unfolding_thread(x->u, events[i])] = events[i];
    for (size_t i = fresh; i < n; i++) {
        ft_x_action a = ft_unfolding_action(x->u, events[i]);
        if (ft_x_is_late(&a)) beside_late(x, c, events[i]);
    }
    for (uint32_t t = 0; t < ft_unfolding_threads(x->u); t++) {
        uint32_t later = FT_X_NO_EVENT, before = c->last[t];
        while (!is_stopped(x, x->n_events)) {
            at_place(x, &(place){.c = c, .thread = t, .later = later}, before);
            if (!before) break;
            later = before;
            before = ft_unfolding_before(x->u, before);
        }
    }
}
