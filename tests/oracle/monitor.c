#include "oracle/monitor.h"

#include <stdlib.h>

#include "oracle/generate.h"

enum {
    CONDITIONS = 2,
    VARIABLES = 2,
    UPDATES = 4,  /* of a section */
    ATTEMPTS = 4, /* to come to the end of a run */
    SECTIONS = 4  /* of a thread */
};

/* ---- monitors -------------------------------------------------------------------------------- */

/* One statement that changes a variable. */
typedef struct update {
    uint32_t variable;
    bool reads; /* adds to it; else sets it, without a look */
    int by;
    bool atomic; /* in one event */
} update;

typedef struct section {
    uint32_t lock, condition, waits_on; /* waits_on: variable, VARIABLES: it does not wait */
    int from, to;                       /* while its value is between these */
    uint32_t n_updates;
    update updates[UPDATES];
    uint32_t signals; /* condition, CONDITIONS: none */
    uint32_t more;    /* signals behind the first, by `both` to the other condition in turns */
    bool both;
    bool broadcast, outside;
    bool alone;          /* no lock: its accesses are atomic, and it looks again and again */
    bool around, within; /* it takes the other lock too, before its own, or behind its waits */
    bool over;           /* around: it gives that one back once it has its own */
    bool hurries;        /* its time may run out while it waits */
    bool early;          /* it updates and signals before it looks */
} section;

typedef struct monitor {
    section sections[FT_MONITOR_THREADS][SECTIONS];
    uint32_t n[FT_MONITOR_THREADS], threads;
    uint32_t forked_by[FT_MONITOR_THREADS], forked_at[FT_MONITOR_THREADS]; /* thread + 1, section */
    bool forks_late;                                                       /* with the lock */
    bool resets;    /* between the phases the first thread sets a variable, without the lock */
    uint32_t phase; /* sections of all threads before this one come before all others; 0: not so */
} monitor;

static update make_update(ft_random *random, uint32_t variable)
{
    bool reads = ft_random_percent(random, 85);
    int by = reads ? (ft_random_percent(random, 50) ? 1 : -1) : (int)ft_random_below(random, 3);
    return (update){.variable = variable, .reads = reads, .by = by};
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
    s.updates[0] = (update){.variable = variable, .reads = true, .by = gives ? 1 : -1};
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

/* Readers count themselves in variable 0 while nobody has set variable 1, writers set it while
 * nobody is counted; most of them look at both. */
static section make_entering(ft_random *random, bool writes)
{
    bool looks = ft_random_percent(random, 85);
    return (section){.condition = 1,
                     .waits_on = writes ? 0 : 1,
                     .from = 1,
                     .to = 9,
                     .n_updates = 1 + looks,
                     .updates = {{writes ? 1 : 0, ft_random_percent(random, 70), 1}, {1, true, 0}},
                     .signals = CONDITIONS};
}

static section make_leaving(ft_random *random, bool writes)
{
    bool reads = !writes || ft_random_percent(random, 30);
    return (section){.condition = 1,
                     .waits_on = VARIABLES,
                     .n_updates = 1,
                     .updates = {{writes ? 1 : 0, reads, reads ? -1 : 0}},
                     .signals = ft_random_percent(random, 95) ? 1 : CONDITIONS,
                     .broadcast = ft_random_percent(random, 90),
                     .outside = ft_random_percent(random, 25)};
}

static void make_readers(monitor *m, ft_random *random)
{
    for (uint32_t t = 0; t < m->threads; t++)
        for (uint32_t i = 0; i + 1 < m->n[t]; i += 2) {
            bool writes = ft_random_percent(random, t % 2 ? 85 : 15);
            m->sections[t][i] = make_entering(random, writes);
            m->sections[t][i + 1] = make_leaving(random, writes);
        }
}

/* Up and down again, more often than what others want to know. */
static void make_long(monitor *m, ft_random *random)
{
    for (uint32_t t = 0; t < m->threads; t++)
        for (uint32_t i = 0; i < m->n[t]; i++) {
            section *s = &m->sections[t][i];
            for (; s->n_updates < UPDATES; s->n_updates++)
                s->updates[s->n_updates] =
                    (update){.variable = ft_random_percent(random, 85) ? 1 : 0,
                             .reads = true,
                             .by = ft_random_percent(random, 50) ? 1 : -1};
        }
}

static void make_atomic(monitor *m, ft_random *random)
{
    for (uint32_t t = 0; t < m->threads; t++)
        for (uint32_t i = 0; i < m->n[t]; i++)
            for (uint32_t k = 0; k < m->sections[t][i].n_updates; k++)
                m->sections[t][i].updates[k].atomic = ft_random_percent(random, 70);
}

/* A lock made of a variable, or references that are counted in it. */
static section make_alone(ft_random *random, bool counts, bool begins)
{
    section s = {.alone = true, .waits_on = VARIABLES, .n_updates = 1, .signals = CONDITIONS};
    s.updates[0] = (update){.variable = counts ? 0 : 1, .by = begins ? 1 : 0, .atomic = true};
    s.updates[0].reads = counts || begins || ft_random_percent(random, 20);
    if (s.updates[0].reads && !begins) s.updates[0].by = -1;
    if (counts || !begins) return s;
    s.waits_on = 1;
    s.from = ft_random_percent(random, 90) ? 1 : 2;
    s.to = 9;
    return s;
}

static void make_locks_of_atomics(monitor *m, ft_random *random)
{
    for (uint32_t t = 0; t < m->threads; t++)
        for (uint32_t i = 0; i + 1 < m->n[t]; i += 2) {
            if (ft_random_percent(random, 15)) continue;
            bool counts = ft_random_percent(random, 40);
            m->sections[t][i] = make_alone(random, counts, ft_random_percent(random, 90));
            m->sections[t][i + 1] = make_alone(random, counts, ft_random_percent(random, 10));
        }
}

static void make_nested(monitor *m, ft_random *random)
{
    for (uint32_t t = 0; t < m->threads; t++)
        for (uint32_t i = 0; i < m->n[t]; i++) {
            section *s = &m->sections[t][i];
            if (s->alone) continue;
            s->lock = ft_random_percent(random, 25);
            s->around = ft_random_percent(random, 25);
            s->over = s->around && ft_random_percent(random, 50);
            s->within = !s->around && ft_random_percent(random, 50);
        }
}

static void make_early(monitor *m, ft_random *random)
{
    for (uint32_t t = 0; t < m->threads; t++)
        for (uint32_t i = 0; i < m->n[t]; i++) {
            section *s = &m->sections[t][i];
            s->early = !s->alone && ft_random_percent(random, 50);
            if (!s->alone && ft_random_percent(random, 25)) s->n_updates = 0;
        }
}

static void make_hurried(monitor *m, ft_random *random)
{
    for (uint32_t t = 0; t < m->threads; t++)
        for (uint32_t i = 0; i < m->n[t]; i++)
            m->sections[t][i].hurries = ft_random_percent(random, 30);
}

static void make_several(monitor *m, ft_random *random)
{
    for (uint32_t t = 0; t < m->threads; t++)
        for (uint32_t i = 0; i < m->n[t]; i++) {
            m->sections[t][i].more = ft_random_below(random, 3);
            m->sections[t][i].both = ft_random_percent(random, 30);
        }
}

static void make_forks(monitor *m, ft_random *random)
{
    m->phase = 0;
    m->forks_late = ft_random_percent(random, 40);
    for (uint32_t t = 1; t < m->threads; t++) {
        if (ft_random_percent(random, 30)) continue;
        m->forked_by[t] = 1 + (ft_random_percent(random, 80) ? 0 : ft_random_below(random, t));
        m->forked_at[t] = ft_random_below(random, m->n[m->forked_by[t] - 1]);
    }
}

static void make_monitor(monitor *m, ft_random *random)
{
    bool two_locks = ft_random_percent(random, 10);
    *m = (monitor){.threads = 2 + ft_random_below(random, FT_MONITOR_THREADS - 1)};
    if (ft_random_percent(random, 40)) m->phase = 1 + ft_random_below(random, 2);
    m->resets = ft_random_percent(random, 50);
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
    if (ft_random_percent(random, 30)) make_forks(m, random);
    if (ft_random_percent(random, 15)) make_readers(m, random);
    if (ft_random_percent(random, 25)) make_locks_of_atomics(m, random);
    if (ft_random_percent(random, 15)) make_long(m, random);
    if (ft_random_percent(random, 15)) make_atomic(m, random);
    if (ft_random_percent(random, 20)) make_nested(m, random);
    if (ft_random_percent(random, 15)) make_hurried(m, random);
    if (ft_random_percent(random, 20)) make_early(m, random);
    if (ft_random_percent(random, 20)) make_several(m, random);
}

/* ---- a run ----------------------------------------------------------------------------------- */

typedef enum phase {
    BEGIN,
    OUT,
    AROUND,
    TAKE,
    LOOK,
    SLEEP,
    TAKE_AGAIN,
    WITHIN,
    UPDATE,
    SIGNAL,
    GIVE,
    LATE
} phase;

typedef struct runner {
    const monitor *m;
    ft_builder *b;
    ft_random *random;
    uint32_t section[FT_MONITOR_THREADS], n_events[FT_MONITOR_THREADS];
    phase at[FT_MONITOR_THREADS];
    bool woken[FT_MONITOR_THREADS], out[FT_MONITOR_THREADS]; /* out: it has ended the first phase */
    bool forked[FT_MONITOR_THREADS];
    bool reset;
    uint32_t holder[FT_MONITOR_LOCKS]; /* thread + 1 */
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
    if (++r->n_events[t] == FT_MONITOR_EVENTS) r->too_long = true;
}

static void emit_update(runner *r, uint32_t t, uint32_t variable, int before, int after)
{
    ft_value read = {.sort = FT_INT_SORT, .bits = (uint64_t)before},
             written = {.sort = FT_INT_SORT, .bits = (uint64_t)after};
    ft_builder_update(r->b, t, variable, 0, ft_builder_value(r->b, read),
                      ft_builder_value(r->b, written), false);
    if (++r->n_events[t] == FT_MONITOR_EVENTS) r->too_long = true;
}

static bool are_out(const runner *r)
{
    bool all = true;
    for (uint32_t t = 0; t < r->m->threads; t++) all &= r->out[t];
    return all;
}

static bool can_go(const runner *r, uint32_t t)
{
    if (r->m->forked_by[t] && !r->forked[t]) return false;
    if (r->at[t] == OUT) return are_out(r) && (!r->m->resets || t == 0 || r->reset);
    if (r->at[t] == BEGIN && r->m->phase && !r->out[t]) return true;
    if (r->section[t] == r->m->n[t]) return false;
    const section *s = &r->m->sections[t][r->section[t]];
    if (r->at[t] == TAKE || r->at[t] == TAKE_AGAIN) return s->alone || !r->holder[s->lock];
    if (r->at[t] == AROUND) return !s->around || !r->holder[1 - s->lock];
    if (r->at[t] == WITHIN) return !s->within || !r->holder[1 - s->lock];
    return r->at[t] != SLEEP || r->woken[t] || s->hurries;
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
    uint32_t condition = s->signals;
    for (uint32_t i = 0; i <= s->more && s->signals != CONDITIONS; i++) {
        bool all = s->broadcast && i != 1;
        emit(r, all ? FT_EVENT_BROADCAST : FT_EVENT_SIGNAL, t, condition, 0, NULL);
        wake(r, condition, all);
        if (s->both) condition = !condition;
    }
}

static phase look(runner *r, uint32_t t, const section *s)
{
    if (s->waits_on == VARIABLES) return WITHIN;
    int value = r->value[s->waits_on];
    emit(r, FT_EVENT_READ, t, s->waits_on, 0, &value);
    if (value < s->from || value > s->to) return WITHIN;
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
        int *value = &r->value[u->variable], before = *value;
        if (u->atomic && u->reads) {
            *value += u->by;
            emit_update(r, t, u->variable, before, *value);
            continue;
        }
        if (u->reads) emit(r, FT_EVENT_READ, t, u->variable, u->atomic ? FT_FLAG_ATOMIC : 0, value);
        *value = u->reads ? *value + u->by : u->by;
        emit(r, FT_EVENT_WRITE, t, u->variable, u->atomic ? FT_FLAG_ATOMIC : 0, value);
    }
    if (s->alone) return LATE;
    return s->outside ? GIVE : SIGNAL;
}

/* One attempt of several; the one that finds what it wants is its update itself. */
static phase try(runner *r, uint32_t t, const section *s)
{
    int value = s->waits_on == VARIABLES ? 0 : r->value[s->waits_on];
    if (s->waits_on == VARIABLES || value < s->from || value > s->to) return do_updates(r, t, s);
    if (ft_random_percent(r->random, 25))
        emit_update(r, t, s->waits_on, value, value);
    else if (ft_random_percent(r->random, 25))
        emit(r, FT_EVENT_READ, t, s->waits_on, FT_FLAG_ATOMIC, &value);
    return TAKE;
}

static void acquire(runner *r, uint32_t t, uint32_t lock, uint8_t flags)
{
    emit(r, FT_EVENT_ACQUIRE, t, lock, flags, NULL);
    r->holder[lock] = t + 1;
}

static void release(runner *r, uint32_t t, uint32_t lock)
{
    emit(r, FT_EVENT_RELEASE, t, lock, 0, NULL);
    r->holder[lock] = 0;
}

static phase take(runner *r, uint32_t t, const section *s, uint8_t flags)
{
    acquire(r, t, s->lock, flags);
    if (s->over && !flags) release(r, t, 1 - s->lock);
    if (!s->early || flags) return LOOK;
    do_updates(r, t, s);
    do_signal(r, t, s);
    return LOOK;
}

static phase give(runner *r, uint32_t t, const section *s)
{
    if (s->within) release(r, t, 1 - s->lock);
    release(r, t, s->lock);
    if (s->around && !s->over) release(r, t, 1 - s->lock);
    return LATE;
}

static void fork_children(runner *r, uint32_t t)
{
    for (uint32_t child = 0; child < r->m->threads; child++) {
        if (r->m->forked_by[child] != t + 1 || r->m->forked_at[child] != r->section[t]) continue;
        emit(r, FT_EVENT_FORK, t, child, 0, NULL);
        r->forked[child] = true;
    }
}

/* Is it the end of the first phase for the thread? */
static phase begin_section(runner *r, uint32_t t)
{
    uint32_t end = r->m->phase < r->m->n[t] ? r->m->phase : r->m->n[t];
    if (!r->m->forks_late) fork_children(r, t);
    if (!r->m->phase || r->out[t] || r->section[t] < end) return AROUND;
    emit(r, FT_EVENT_EDGE_OUT, t, t, 0, NULL);
    r->out[t] = true;
    return OUT;
}

static void reset(runner *r)
{
    r->value[0] = (int)ft_random_below(r->random, 3);
    emit(r, FT_EVENT_WRITE, 0, 0, 0, &r->value[0]);
    emit(r, FT_EVENT_EDGE_OUT, 0, r->m->threads, 0, NULL);
    r->reset = true;
}

static phase begin_phase(runner *r, uint32_t t)
{
    for (uint32_t other = 0; other < r->m->threads; other++)
        if (other != t) emit(r, FT_EVENT_EDGE_IN, t, other, 0, NULL);
    if (r->m->resets && t != 0) emit(r, FT_EVENT_EDGE_IN, t, r->m->threads, 0, NULL);
    if (r->m->resets && t == 0) reset(r);
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
    case AROUND:
        if (s->around) acquire(r, t, 1 - s->lock, 0);
        *at = TAKE;
        break;
    case TAKE:
        *at = s->alone ? try(r, t, s) : take(r, t, s, 0);
        break;
    case LOOK:
        *at = look(r, t, s);
        break;
    case SLEEP:
        emit(r, FT_EVENT_COND_WAKE, t, s->condition, r->woken[t] ? 0 : FT_FLAG_FAILED, NULL);
        *at = TAKE_AGAIN;
        break;
    case TAKE_AGAIN:
        *at = take(r, t, s, FT_FLAG_CONDITION);
        break;
    case WITHIN:
        if (s->within) acquire(r, t, 1 - s->lock, 0);
        *at = UPDATE;
        break;
    case UPDATE:
        if (r->m->forks_late) fork_children(r, t);
        *at = s->early ? GIVE : do_updates(r, t, s);
        break;
    case SIGNAL:
        do_signal(r, t, s);
        *at = GIVE;
        break;
    case GIVE:
        *at = give(r, t, s);
        break;
    case LATE:
        if (s->outside && !s->early) do_signal(r, t, s);
        r->section[t]++;
        *at = BEGIN;
        break;
    }
}

/* NULL: it came to a final state, or was too long. */
static ft_trace *run_monitor(const monitor *m, ft_random *random)
{
    static const char *const NAMES[] = {"a", "b", "c", "d", "e"};
    runner r = {.m = m, .b = ft_builder_new(FT_FORMAT_BINARY), .random = random};
    ft_error err = FT_ERROR_INIT;
    ft_trace *trace;
    int zero = 0;
    for (uint32_t i = 0; i < FT_MONITOR_LOCKS; i++)
        ft_builder_lock(r.b, NAMES[i], 1, FT_LOCK_MUTEX);
    for (uint32_t i = 0; i < m->threads; i++) ft_builder_thread(r.b, NAMES[i], 1);
    for (uint32_t i = 0; i <= m->threads; i++) ft_builder_edge(r.b, NAMES[i], 1);
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
    if (ft_builder_finish(r.b, &trace, &err) != FT_OK) abort();
    if (whole) return trace;
    ft_trace_free(trace);
    return NULL;
}

/* ---- life ------------------------------------------------------------------------------------ */

void ft_monitor_release(ft_monitor_run *made)
{
    free(made->stuck);
    free(made->both);
    ft_run_free(made->run);
    ft_order_free(made->order);
    ft_trace_free(made->trace);
}

bool ft_monitor_make(ft_monitor_run *made, uint64_t seed)
{
    monitor m;
    ft_random random;
    *made = (ft_monitor_run){.trace = NULL};
    ft_random_init(&random, seed);
    make_monitor(&m, &random);
    for (int attempt = 0; attempt < ATTEMPTS && !made->trace; attempt++)
        made->trace = run_monitor(&m, &random);
    if (!made->trace) return false;
    made->order = ft_order_new(made->trace);
    made->run = ft_run_new(made->trace);
    made->problem = (ft_problem){.trace = made->trace,
                                 .order = made->order,
                                 .run = made->run,
                                 .model = FT_MODEL_MAXIMAL,
                                 .wakeups = FT_WAKEUPS_ANY};
    if (ft_monitor_walk(made)) return true;
    ft_monitor_release(made);
    return false;
}

uint64_t ft_monitor_seeds(uint64_t otherwise)
{
    const char *text = getenv("FT_SEEDS");
    return text ? strtoull(text, NULL, 10) : otherwise;
}
