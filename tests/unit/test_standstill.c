/* Standstills that worker/reduce says are none (maximal, a signal wakes any waiter), against every
 * feasible state of small random monitors: sections of a lock or two that wait for a condition
 * while a variable is so, change variables, and signal, broadcast or forget to. FT_SEEDS=N in the
 * environment makes a longer run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "oracle/generate.h"
#include "order/causality.h"
#include "reduce/standstill.h"

enum {
    DEFAULT_SEEDS = 20000,
    THREADS = 4,
    LOCKS = 2,
    CONDITIONS = 2,
    VARIABLES = 2,
    ATTEMPTS = 4,       /* to come to the end of a run */
    SECTIONS = 4,       /* of a thread */
    EVENTS = 66,        /* of a thread; longer runs are left out */
    MOST_STATES = 60000 /* likewise */
};

/* ---- monitors -------------------------------------------------------------------------------- */

/* One statement that changes a variable. */
typedef struct update {
    uint32_t variable;
    bool reads; /* adds to it; else sets it, without a look */
    int by;
} update;

typedef struct section {
    uint32_t lock, condition, waits_on; /* waits_on: variable, VARIABLES: it does not wait */
    int from, to;                       /* while its value is between these */
    uint32_t n_updates;
    update updates[2];
    uint32_t signals; /* condition, CONDITIONS: none */
    bool broadcast, outside;
} section;

typedef struct monitor {
    section sections[THREADS][SECTIONS];
    uint32_t n[THREADS], threads;
    uint32_t phase; /* sections of all threads before this one come before all others; 0: not so */
} monitor;

static update make_update(ft_random *random, uint32_t variable)
{
    bool reads = ft_random_percent(random, 85);
    int by = reads ? (ft_random_percent(random, 50) ? 1 : -1) : (int)ft_random_below(random, 3);
    return (update){variable, reads, by};
}

/* Most take from a variable what others give to it, so that runs come to their end. */
static section make_section(ft_random *random, uint32_t lock, bool gives)
{
    uint32_t variable = ft_random_percent(random, 85) ? 0 : 1;
    section s = {.lock = lock,
                 .condition = gives && ft_random_percent(random, 60),
                 .waits_on = ft_random_percent(random, 80) ? variable : VARIABLES,
                 .n_updates = 1 + ft_random_percent(random, 20)};
    s.from = gives ? 2 : -3;
    s.to = gives ? 9 : 0;
    s.updates[0] = (update){variable, true, gives ? 1 : -1};
    s.updates[1] = make_update(random, 1 - variable);
    if (ft_random_percent(random, 20)) s.updates[0] = make_update(random, variable);
    if (ft_random_percent(random, 15)) s.updates[0] = make_update(random, 1 - variable);
    s.signals = ft_random_percent(random, 90) ? !s.condition : CONDITIONS;
    if (ft_random_percent(random, 25)) s.signals = s.condition;
    s.broadcast = ft_random_percent(random, 35);
    s.outside = ft_random_percent(random, 25);
    return s;
}

/* Takes variable 1, or gives it back without a look. */
static section make_holding(ft_random *random, bool takes)
{
    bool tells = !takes || ft_random_percent(random, 10);
    return (section){.condition = 1,
                     .waits_on = takes ? 1 : VARIABLES,
                     .from = 1,
                     .to = 9,
                     .n_updates = 1,
                     .updates = {{1, false, takes ? 1 + (int)ft_random_below(random, 2) : 0}},
                     .signals = tells && ft_random_percent(random, 95) ? 1 : CONDITIONS,
                     .broadcast = ft_random_percent(random, 20),
                     .outside = ft_random_percent(random, 25)};
}

static void make_holders(monitor *m, ft_random *random)
{
    for (uint32_t t = 0; t < m->threads; t++)
        for (uint32_t i = 0; i + 1 < m->n[t]; i += 2) {
            if (ft_random_percent(random, 15)) continue;
            m->sections[t][i] = make_holding(random, true);
            m->sections[t][i + 1] = make_holding(random, false);
        }
}

static void make_monitor(monitor *m, ft_random *random)
{
    bool two_locks = ft_random_percent(random, 10);
    *m = (monitor){.threads = 2 + ft_random_below(random, THREADS - 1)};
    if (ft_random_percent(random, 40)) m->phase = 1 + ft_random_below(random, 2);
    for (uint32_t t = 0; t < m->threads; t++) {
        bool gives = t % 2;
        m->n[t] = 1 + ft_random_below(random, m->threads > 3 ? SECTIONS - 1 : SECTIONS);
        for (uint32_t i = 0; i < m->n[t]; i++) {
            if (ft_random_percent(random, 15)) gives = !gives;
            m->sections[t][i] =
                make_section(random, two_locks && ft_random_percent(random, 30), gives);
        }
    }
    if (ft_random_percent(random, 30)) make_holders(m, random);
}

/* ---- a run ----------------------------------------------------------------------------------- */

typedef enum phase { BEGIN, OUT, TAKE, LOOK, SLEEP, TAKE_AGAIN, UPDATE, SIGNAL, GIVE, LATE } phase;

typedef struct runner {
    const monitor *m;
    ft_builder *b;
    ft_random *random;
    uint32_t section[THREADS], n_events[THREADS];
    phase at[THREADS];
    bool woken[THREADS], out[THREADS]; /* out: it has ended the first phase */
    uint32_t holder[LOCKS];            /* thread + 1 */
    int value[VARIABLES];
    bool too_long;
} runner;

static void emit(runner *r, ft_event_kind kind, uint32_t t, uint32_t object, uint8_t flags,
                 const int *value)
{
    uint32_t data = 0;
    if (value)
        data = ft_builder_value(r->b, (ft_value){.sort = FT_INT_SORT, .bits = (uint64_t)*value});
    ft_builder_event(r->b, kind, t, object, 0, data, flags);
    if (++r->n_events[t] == EVENTS) r->too_long = true;
}

static bool are_out(const runner *r)
{
    bool all = true;
    for (uint32_t t = 0; t < r->m->threads; t++) all &= r->out[t];
    return all;
}

static bool can_go(const runner *r, uint32_t t)
{
    if (r->at[t] == OUT) return are_out(r);
    if (r->at[t] == BEGIN && r->m->phase && !r->out[t]) return true;
    if (r->section[t] == r->m->n[t]) return false;
    const section *s = &r->m->sections[t][r->section[t]];
    if (r->at[t] == TAKE || r->at[t] == TAKE_AGAIN) return !r->holder[s->lock];
    return r->at[t] != SLEEP || r->woken[t];
}

static bool sleeps(const runner *r, uint32_t t, uint32_t condition)
{
    return r->at[t] == SLEEP && !r->woken[t] &&
           r->m->sections[t][r->section[t]].condition == condition;
}

static void wake(runner *r, uint32_t condition, bool all)
{
    uint32_t first = ft_random_below(r->random, r->m->threads);
    for (uint32_t i = 0; i < r->m->threads; i++) {
        uint32_t t = (first + i) % r->m->threads;
        if (!sleeps(r, t, condition)) continue;
        r->woken[t] = true;
        if (!all) return;
    }
}

static void do_signal(runner *r, uint32_t t, const section *s)
{
    if (s->signals == CONDITIONS) return;
    emit(r, s->broadcast ? FT_EVENT_BROADCAST : FT_EVENT_SIGNAL, t, s->signals, 0, NULL);
    wake(r, s->signals, s->broadcast);
}

static phase look(runner *r, uint32_t t, const section *s)
{
    if (s->waits_on == VARIABLES) return UPDATE;
    int value = r->value[s->waits_on];
    emit(r, FT_EVENT_READ, t, s->waits_on, 0, &value);
    if (value < s->from || value > s->to) return UPDATE;
    emit(r, FT_EVENT_COND_WAIT, t, s->condition, 0, NULL);
    emit(r, FT_EVENT_RELEASE, t, s->lock, FT_FLAG_CONDITION, NULL);
    r->holder[s->lock] = 0;
    r->woken[t] = false;
    return SLEEP;
}

static phase do_updates(runner *r, uint32_t t, const section *s)
{
    for (uint32_t i = 0; i < s->n_updates; i++) {
        const update *u = &s->updates[i];
        int *value = &r->value[u->variable];
        if (u->reads) emit(r, FT_EVENT_READ, t, u->variable, 0, value);
        *value = u->reads ? *value + u->by : u->by;
        emit(r, FT_EVENT_WRITE, t, u->variable, 0, value);
    }
    return s->outside ? GIVE : SIGNAL;
}

static phase take(runner *r, uint32_t t, const section *s, uint8_t flags)
{
    emit(r, FT_EVENT_ACQUIRE, t, s->lock, flags, NULL);
    r->holder[s->lock] = t + 1;
    return LOOK;
}

static phase give(runner *r, uint32_t t, const section *s)
{
    emit(r, FT_EVENT_RELEASE, t, s->lock, 0, NULL);
    r->holder[s->lock] = 0;
    return LATE;
}

/* Is it the end of the first phase for the thread? */
static phase begin_section(runner *r, uint32_t t)
{
    uint32_t end = r->m->phase < r->m->n[t] ? r->m->phase : r->m->n[t];
    if (!r->m->phase || r->out[t] || r->section[t] < end) return TAKE;
    emit(r, FT_EVENT_EDGE_OUT, t, t, 0, NULL);
    r->out[t] = true;
    return OUT;
}

static phase begin_phase(runner *r, uint32_t t)
{
    for (uint32_t other = 0; other < r->m->threads; other++)
        if (other != t) emit(r, FT_EVENT_EDGE_IN, t, other, 0, NULL);
    return BEGIN;
}

static void go_on(runner *r, uint32_t t)
{
    const section *s = &r->m->sections[t][r->section[t]];
    phase *at = &r->at[t];
    switch (*at) {
    case BEGIN:
        *at = begin_section(r, t);
        break;
    case OUT:
        *at = begin_phase(r, t);
        break;
    case TAKE:
        *at = take(r, t, s, 0);
        break;
    case LOOK:
        *at = look(r, t, s);
        break;
    case SLEEP:
        emit(r, FT_EVENT_COND_WAKE, t, s->condition, 0, NULL);
        *at = TAKE_AGAIN;
        break;
    case TAKE_AGAIN:
        *at = take(r, t, s, FT_FLAG_CONDITION);
        break;
    case UPDATE:
        *at = do_updates(r, t, s);
        break;
    case SIGNAL:
        do_signal(r, t, s);
        *at = GIVE;
        break;
    case GIVE:
        *at = give(r, t, s);
        break;
    case LATE:
        if (s->outside) do_signal(r, t, s);
        r->section[t]++;
        *at = BEGIN;
        break;
    }
}

/* NULL: it came to a standstill, or was too long. */
static ft_trace *run_monitor(const monitor *m, ft_random *random)
{
    static const char *const NAMES[] = {"a", "b", "c", "d"};
    runner r = {.m = m, .b = ft_builder_new(FT_FORMAT_BINARY), .random = random};
    ft_error err = FT_ERROR_INIT;
    ft_trace *trace;
    int zero = 0;
    for (uint32_t i = 0; i < LOCKS; i++) ft_builder_lock(r.b, NAMES[i], 1, FT_LOCK_MUTEX);
    for (uint32_t i = 0; i < m->threads; i++) ft_builder_thread(r.b, NAMES[i], 1);
    for (uint32_t i = 0; i < m->threads; i++) ft_builder_edge(r.b, NAMES[i], 1);
    for (uint32_t i = 0; i < CONDITIONS; i++) ft_builder_condition(r.b, NAMES[i], 1);
    for (uint32_t i = 0; i < VARIABLES; i++)
        ft_builder_shared_initial(
            r.b, ft_builder_shared(r.b, NAMES[i], 1, FT_INT_SORT),
            ft_builder_value(r.b, (ft_value){.sort = FT_INT_SORT, .bits = (uint64_t)zero}));
    for (bool any = true; any && !r.too_long;) {
        uint32_t first = ft_random_below(random, m->threads), t = first;
        do t = (t + 1) % m->threads;
        while (!can_go(&r, t) && t != first);
        any = can_go(&r, t);
        for (uint32_t burst = 1 + ft_random_below(random, 9); any && burst > 0 && can_go(&r, t);
             burst--)
            go_on(&r, t);
    }
    bool whole = !r.too_long;
    for (uint32_t t = 0; t < m->threads; t++) whole &= r.section[t] == m->n[t];
    assert_int_equal(ft_builder_finish(r.b, &trace, &err), FT_OK);
    if (whole) return trace;
    ft_trace_free(trace);
    return NULL;
}

/* ---- every feasible state -------------------------------------------------------------------- */

typedef struct state {
    uint8_t at[THREADS], asleep[THREADS], holder[LOCKS], out[THREADS];
    int8_t value[VARIABLES];
} state;

typedef struct walk {
    const ft_trace *trace;
    const ft_order *order;
    ft_map been;
    bool *stuck; /* [n_events] such a state is there with the event next */
} walk;

static uint32_t next_of(const walk *w, const state *s, uint32_t t)
{
    uint32_t at = w->order->thread_start[t] + s->at[t];
    return at < w->order->thread_start[t + 1] ? w->order->thread_events[at] : FT_NO_EVENT;
}

static int8_t value_at(const walk *w, uint32_t e)
{
    return (int8_t)(int64_t)w->trace->values[w->trace->data[e]].bits;
}

/* False: not from here. */
static bool step(const walk *w, state *s, uint32_t t)
{
    uint32_t e = next_of(w, s, t);
    if (e == FT_NO_EVENT) return false;
    uint32_t object = w->trace->object[e];
    switch (w->trace->kind[e]) {
    case FT_EVENT_ACQUIRE:
        if (s->holder[object]) return false;
        s->holder[object] = (uint8_t)(t + 1);
        break;
    case FT_EVENT_RELEASE:
        s->holder[object] = 0;
        break;
    case FT_EVENT_READ:
        if (s->value[object] != value_at(w, e)) return false;
        break;
    case FT_EVENT_WRITE:
        s->value[object] = value_at(w, e);
        break;
    case FT_EVENT_COND_WAIT:
        s->asleep[t] = (uint8_t)(1 + object);
        break;
    case FT_EVENT_COND_WAKE:
        if (s->asleep[t]) return false;
        break;
    case FT_EVENT_EDGE_OUT:
        s->out[object] = 1;
        break;
    case FT_EVENT_EDGE_IN:
        if (!s->out[object]) return false;
        break;
    default:
        break;
    }
    s->at[t]++;
    return true;
}

static void visit(walk *w, const state *s);

static void wake_any(walk *w, const state *s, uint32_t condition)
{
    bool any = false;
    for (uint32_t t = 0; t < w->order->n_threads; t++) {
        if (s->asleep[t] != 1 + condition) continue;
        state next = *s;
        any = true;
        next.asleep[t] = 0;
        visit(w, &next);
    }
    if (!any) visit(w, s);
}

static void wake_all(walk *w, state *s, uint32_t condition)
{
    for (uint32_t t = 0; t < w->order->n_threads; t++)
        if (s->asleep[t] == 1 + condition) s->asleep[t] = 0;
    visit(w, s);
}

/* Waits for a lock that somebody has, or sleeps. */
static bool is_blocked(const walk *w, const state *s, uint32_t e)
{
    if (w->trace->kind[e] == FT_EVENT_ACQUIRE) return s->holder[w->trace->object[e]];
    return w->trace->kind[e] == FT_EVENT_COND_WAKE && s->asleep[w->trace->thread[e]];
}

static void note_stuck(walk *w, const state *s)
{
    for (uint32_t t = 0; t < w->order->n_threads; t++) {
        uint32_t e = next_of(w, s, t);
        if (e != FT_NO_EVENT && !is_blocked(w, s, e)) return;
    }
    for (uint32_t t = 0; t < w->order->n_threads; t++) {
        uint32_t e = next_of(w, s, t);
        if (e != FT_NO_EVENT) w->stuck[e] = true;
    }
}

static void visit(walk *w, const state *s)
{
    bool fresh;
    ft_map_slot(&w->been, ft_hash_bytes(s, sizeof *s, 1), 0, &fresh);
    if (!fresh || w->been.len > MOST_STATES) return;
    note_stuck(w, s);
    for (uint32_t t = 0; t < w->order->n_threads; t++) {
        state next = *s;
        uint32_t e = next_of(w, s, t);
        if (!step(w, &next, t)) continue;
        if (w->trace->kind[e] == FT_EVENT_SIGNAL)
            wake_any(w, &next, w->trace->object[e]);
        else if (w->trace->kind[e] == FT_EVENT_BROADCAST)
            wake_all(w, &next, w->trace->object[e]);
        else
            visit(w, &next);
    }
}

/* ---- the comparison -------------------------------------------------------------------------- */

typedef struct tally {
    uint32_t runs, claims, none, refuted;
} tally;

static void compare_claims(const walk *w, ft_standstill *standstill, uint64_t seed, tally *all)
{
    for (uint32_t e = 0; e < w->trace->n_events; e++) {
        if (w->trace->kind[e] != FT_EVENT_COND_WAKE) continue;
        ft_claim claim = {.kind = FT_CLAIM_STUCK, .events = {e}};
        bool refuted = ft_standstill_refutes(standstill, &claim);
        all->claims++;
        all->none += !w->stuck[e];
        all->refuted += refuted;
        if (refuted && w->stuck[e])
            fail_msg("seed %llu: event %u can be stuck", (unsigned long long)seed, e + 1);
    }
}

static void compare_seed(uint64_t seed, tally *all)
{
    monitor m;
    ft_random random;
    ft_random_init(&random, seed);
    make_monitor(&m, &random);
    ft_trace *trace = NULL;
    for (int attempt = 0; attempt < ATTEMPTS && !trace; attempt++) trace = run_monitor(&m, &random);
    if (!trace) return;
    ft_order *order = ft_order_new(trace);
    ft_run *run = ft_run_new(trace);
    walk w = {.trace = trace, .order = order, .stuck = ft_calloc((size_t)trace->n_events + 1, 1)};
    visit(&w, &(state){.at = {0}});
    ft_problem problem = {.trace = trace,
                          .order = order,
                          .run = run,
                          .model = FT_MODEL_MAXIMAL,
                          .wakeups = FT_WAKEUPS_ANY};
    ft_causality *graph = ft_causality_new(&problem, FT_CAUSALITY_ALL);
    ft_standstill *standstill = ft_standstill_new(&problem, graph);
    all->runs++;
    if (w.been.len <= MOST_STATES) compare_claims(&w, standstill, seed, all);
    ft_standstill_free(standstill);
    ft_causality_free(graph);
    ft_run_free(run);
    ft_order_free(order);
    ft_trace_free(trace);
    ft_map_release(&w.been);
    free(w.stuck);
}

static void test_standstills(void **context)
{
    (void)context;
    const char *text = getenv("FT_SEEDS");
    uint64_t seeds = text ? strtoull(text, NULL, 10) : DEFAULT_SEEDS;
    tally all = {0};
    for (uint64_t seed = 1; seed <= seeds; seed++) compare_seed(seed, &all);
    print_message("%u runs, %u waits; %u sleep to the end in no schedule, %u of them refuted\n",
                  all.runs, all.claims, all.none, all.refuted);
    if (seeds >= DEFAULT_SEEDS) assert_true(all.refuted > 3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_standstills)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
