/* Reads that the causality graph ties to one write (maximal), against every feasible prefix of
 * small random programs: threads that read and write few values of few variables, mostly inside of
 * sections of one lock or two. FT_SEEDS=N in the environment makes a longer run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "causality/causality.h"
#include "oracle/generate.h"

enum {
    DEFAULT_SEEDS = 4000,
    THREADS = 3,
    LOCKS = 2,
    VARIABLES = 3,
    VALUES = 3,
    SECTIONS = 3,
    STEPS = 40 /* of a thread, at most */
};

typedef enum step_kind { TAKE, GIVE, LOAD, STORE } step_kind;

typedef struct step {
    step_kind what;
    uint32_t object; /* lock or variable */
    int add;         /* STORE: to what was read last, or (negative) -1 - the value */
} step;

typedef struct program {
    step steps[THREADS][STEPS];
    uint32_t n[THREADS];
    ft_trace *trace;
    uint32_t events[THREADS][STEPS]; /* that they are in the trace */
} program;

/* ---- programs and runs ---- */

static void add_step(program *p, uint32_t thread, step_kind what, uint32_t object, int add)
{
    p->steps[thread][p->n[thread]++] = (step){what, object, add};
}

static void add_accesses(program *p, uint32_t thread, ft_random *random)
{
    for (uint32_t n = 1 + ft_random_below(random, 3); n > 0; n--) {
        uint32_t variable = ft_random_below(random, VARIABLES);
        bool counts = ft_random_percent(random, 50);
        if (counts || ft_random_percent(random, 60)) add_step(p, thread, LOAD, variable, 0);
        if (counts)
            add_step(p, thread, STORE, variable, 1);
        else if (ft_random_percent(random, 50))
            add_step(p, thread, STORE, variable, -1 - (int)ft_random_below(random, VALUES));
    }
}

static void make_program(program *p, ft_random *random)
{
    uint32_t locks = 1 + ft_random_percent(random, 20);
    *p = (program){0};
    for (uint32_t t = 0; t < THREADS; t++)
        for (uint32_t s = 1 + ft_random_below(random, SECTIONS); s > 0; s--) {
            uint32_t lock = ft_random_below(random, locks);
            bool takes = ft_random_percent(random, 90);
            if (takes) add_step(p, t, TAKE, lock, 0);
            add_accesses(p, t, random);
            if (takes) add_step(p, t, GIVE, lock, 0);
        }
}

typedef struct memory {
    int value[VARIABLES];
    uint32_t holder[LOCKS]; /* thread + 1 */
} memory;

static bool can_go(const program *p, const memory *m, uint32_t thread, uint32_t at)
{
    if (at == p->n[thread]) return false;
    const step *s = &p->steps[thread][at];
    return s->what != TAKE || !m->holder[s->object];
}

static uint32_t value_of(ft_builder *b, int value)
{
    return ft_builder_value(b, (ft_value){.sort = FT_INT_SORT, .bits = (uint64_t)value});
}

static void run_step(ft_builder *b, const step *s, uint32_t t, memory *m, int *seen, uint32_t *e)
{
    static const ft_event_kind KINDS[] = {[TAKE] = FT_EVENT_ACQUIRE,
                                          [GIVE] = FT_EVENT_RELEASE,
                                          [LOAD] = FT_EVENT_READ,
                                          [STORE] = FT_EVENT_WRITE};
    int value = 0;
    if (s->what == TAKE) m->holder[s->object] = t + 1;
    if (s->what == GIVE) m->holder[s->object] = 0;
    if (s->what == STORE)
        m->value[s->object] = s->add < 0 ? -1 - s->add : (*seen + s->add) % VALUES;
    if (s->what == LOAD) *seen = m->value[s->object];
    if (s->what == LOAD || s->what == STORE) value = m->value[s->object];
    *e = ft_builder_event(b, KINDS[s->what], t, s->object, 0,
                          s->what >= LOAD ? value_of(b, value) : 0, 0);
}

static void run_program(program *p, ft_random *random)
{
    static const char *const NAMES[] = {"a", "b", "c", "d"};
    ft_builder *b = ft_builder_new(FT_FORMAT_BINARY);
    ft_error err = FT_ERROR_INIT;
    memory m = {0};
    uint32_t at[THREADS] = {0};
    int seen[THREADS] = {0};
    for (uint32_t i = 0; i < LOCKS; i++) ft_builder_lock(b, NAMES[i], 1, FT_LOCK_MUTEX);
    for (uint32_t i = 0; i < THREADS; i++) ft_builder_thread(b, NAMES[i], 1);
    for (uint32_t i = 0; i < VARIABLES; i++)
        ft_builder_shared_initial(b, ft_builder_shared(b, NAMES[i], 1, FT_INT_SORT),
                                  value_of(b, 0));
    for (bool any = true; any;) {
        any = false;
        for (uint32_t t = 0; t < THREADS; t++) any |= can_go(p, &m, t, at[t]);
        uint32_t t = ft_random_below(random, THREADS);
        for (uint32_t burst = 1 + ft_random_below(random, 6); burst > 0; burst--) {
            if (!can_go(p, &m, t, at[t])) break;
            run_step(b, &p->steps[t][at[t]], t, &m, &seen[t], &p->events[t][at[t]]);
            at[t]++;
        }
    }
    assert_int_equal(ft_builder_finish(b, &p->trace, &err), FT_OK);
}

/* ---- every feasible prefix ---- */

/* Where the threads are, who holds what, and who wrote last: 1 + thread * STEPS + step, 0: nobody.
 */
typedef struct state {
    uint8_t at[THREADS], holder[LOCKS], last[VARIABLES];
} state;

typedef struct walk {
    const program *p;
    ft_map been;
    int64_t read[THREADS]
                [STEPS]; /* -1: not executed so far; -2: several sources; else state.last */
} walk;

static int64_t written(const walk *w, uint32_t last)
{
    uint32_t e = last ? w->p->events[(last - 1) / STEPS][(last - 1) % STEPS] : 0;
    const ft_trace *trace = w->p->trace;
    return last ? (int64_t)trace->values[trace->data[e]].bits : 0;
}

/* Executes the next step of the thread; false: not from here. */
static bool go(walk *w, state *s, uint32_t t)
{
    const program *p = w->p;
    uint32_t at = s->at[t];
    if (at == p->n[t]) return false;
    const step *next = &p->steps[t][at];
    int64_t *read = &w->read[t][at];
    if (next->what == TAKE && s->holder[next->object]) return false;
    if (next->what == TAKE || next->what == GIVE) s->holder[next->object] = next->what == TAKE;
    if (next->what == LOAD) {
        uint32_t last = s->last[next->object], e = p->events[t][at];
        if (written(w, last) != (int64_t)p->trace->values[p->trace->data[e]].bits) return false;
        *read = *read == -1 || *read == last ? (int64_t)last : -2;
    }
    if (next->what == STORE) s->last[next->object] = (uint8_t)(1 + t * STEPS + at);
    s->at[t]++;
    return true;
}

static void visit(walk *w, const state *s)
{
    bool fresh;
    ft_map_slot(&w->been, ft_hash_bytes(s, sizeof *s, 1), 0, &fresh);
    for (uint32_t t = 0; fresh && t < THREADS; t++) {
        state next = *s;
        if (go(w, &next, t)) visit(w, &next);
    }
}

/* ---- the comparison ---- */

typedef struct tally {
    uint32_t reads, one_source, tied, tied_of_several;
} tally;

/* Do several writes, or one and the initial state, give that value? */
static bool has_several(const program *p, uint32_t e)
{
    const ft_trace *trace = p->trace;
    uint32_t n = trace->values[trace->data[e]].bits == 0;
    for (uint32_t w = 0; w < trace->n_events; w++)
        n += trace->kind[w] == FT_EVENT_WRITE && trace->object[w] == trace->object[e] &&
             trace->data[w] == trace->data[e];
    return n > 1;
}

static void compare_read(const walk *w, const ft_causality *graph, uint32_t t, uint32_t at,
                         uint64_t seed, tally *all)
{
    uint32_t e = w->p->events[t][at], source;
    int64_t read = w->read[t][at];
    bool tied = ft_causality_tie(graph, e, 0, &source);
    all->reads++;
    all->one_source += read >= 0;
    all->tied += tied;
    all->tied_of_several += tied && has_several(w->p, e);
    if (!tied) return;
    uint32_t only = read > 0 ? w->p->events[(read - 1) / STEPS][(read - 1) % STEPS] : FT_NO_EVENT;
    if (read < 0 || source != only)
        fail_msg("seed %llu: event %u is tied to %d, it reads from %d", (unsigned long long)seed,
                 e + 1, (int)source + 1, read < 0 ? (int)read : (int)only + 1);
}

static void compare_seed(uint64_t seed, tally *all)
{
    program p;
    ft_random random;
    ft_random_init(&random, seed);
    make_program(&p, &random);
    run_program(&p, &random);
    walk w = {.p = &p};
    memset(w.read, 0xff, sizeof w.read);
    visit(&w, &(state){.at = {0}});
    ft_order *order = ft_order_new(p.trace);
    ft_run *run = ft_run_new(p.trace);
    ft_problem problem = {.trace = p.trace, .order = order, .run = run, .model = FT_MODEL_MAXIMAL};
    ft_causality *graph = ft_causality_new(&problem, FT_CAUSALITY_ALL);
    for (uint32_t t = 0; t < THREADS; t++)
        for (uint32_t i = 0; i < p.n[t]; i++)
            if (p.steps[t][i].what == LOAD) compare_read(&w, graph, t, i, seed, all);
    ft_causality_free(graph);
    ft_run_free(run);
    ft_order_free(order);
    ft_trace_free(p.trace);
    ft_map_release(&w.been);
}

static void test_ties(void **context)
{
    (void)context;
    const char *text = getenv("FT_SEEDS");
    uint64_t seeds = text ? strtoull(text, NULL, 10) : DEFAULT_SEEDS;
    tally all = {0};
    for (uint64_t seed = 1; seed <= seeds; seed++) compare_seed(seed, &all);
    print_message("%u reads, %u of one source in every prefix; tied %u, of these %u where several "
                  "writes give the value\n",
                  all.reads, all.one_source, all.tied, all.tied_of_several);
    if (seeds >= DEFAULT_SEEDS) assert_true(all.tied_of_several > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ties)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
