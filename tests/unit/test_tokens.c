/* What semaphores exclude (proofs/tokens.h), against every state that random small programs of
 * waits and posts can come to: each pair of places, and each pair of a place and a stretch. Threads
 * mostly hand units on, as those do that share slots; some post first, or wait twice. FT_SEEDS=N in
 * the environment makes a longer run. */
#include "oracle/generate.h"
#include "proofs/tokens.h"
#include "tiny_trace.h"

enum { DEFAULT_SEEDS = 4000, THREADS = 3, OPERATIONS = 6, SEMAPHORES = 3, PLACES = OPERATIONS + 1 };

typedef struct operation {
    char what; /* 'w'ait, 'p'ost, 'x': an access */
    uint32_t semaphore;
} operation;

typedef struct program {
    uint32_t units[SEMAPHORES];
    operation all[THREADS][OPERATIONS];
    uint32_t done[THREADS]; /* in the run, which may get stuck */
    bool reached[PLACES][PLACES][PLACES];
} program;

typedef struct tally {
    uint64_t claims, none, refuted;
} tally;

/* ---- a program, and a run */

static operation random_operation(ft_random *r, bool *has)
{
    uint32_t semaphore = ft_random_below(r, SEMAPHORES);
    if (ft_random_percent(r, 30)) return (operation){'x', 0};
    bool usual = ft_random_percent(r, 90);
    bool waits = *has ? !usual : usual;
    *has = waits;
    return (operation){waits ? 'w' : 'p', semaphore};
}

static void make_program(program *p, ft_random *r)
{
    *p = (program){.units = {0}};
    for (uint32_t s = 0; s < SEMAPHORES; s++) p->units[s] = ft_random_below(r, 5) / 3;
    for (uint32_t t = 0; t < THREADS; t++) {
        bool has = ft_random_percent(r, 10);
        for (uint32_t i = 0; i < OPERATIONS; i++) p->all[t][i] = random_operation(r, &has);
    }
}

static bool may_do(const operation *o, const uint32_t units[SEMAPHORES])
{
    return o->what != 'w' || units[o->semaphore];
}

static void do_it(const operation *o, uint32_t units[SEMAPHORES])
{
    if (o->what == 'w') units[o->semaphore]--;
    if (o->what == 'p') units[o->semaphore]++;
}

static void write_operation(ft_strbuf *text, uint32_t t, const operation *o)
{
    if (o->what == 'x')
        ft_strbuf_printf(text, "T%u: r x\n", t);
    else
        ft_strbuf_printf(text, "T%u: %s s%u\n", t, o->what == 'w' ? "wait" : "post", o->semaphore);
}

static ft_trace *run_program(program *p, ft_random *r)
{
    ft_strbuf text = {0};
    uint32_t units[SEMAPHORES];
    memcpy(units, p->units, sizeof units);
    ft_strbuf_puts(&text, "var x 0\n");
    for (uint32_t s = 0; s < SEMAPHORES; s++) ft_strbuf_printf(&text, "sem s%u %u\n", s, units[s]);
    for (uint32_t misses = 0; misses < 40;) {
        uint32_t t = ft_random_below(r, THREADS);
        const operation *o = &p->all[t][p->done[t]];
        if (p->done[t] == OPERATIONS || !may_do(o, units)) {
            misses++;
            continue;
        }
        do_it(o, units);
        write_operation(&text, t, o);
        p->done[t]++;
        misses = 0;
    }
    bool any = p->done[0] + p->done[1] + p->done[2] > 0;
    ft_trace *trace = any ? tiny_trace(text.text) : NULL; /* one without events is none */
    ft_strbuf_release(&text);
    return trace;
}

/* ---- all that it can come to, as far as the run went */

static void explore(program *p, uint32_t at[THREADS], uint32_t units[SEMAPHORES])
{
    bool *here = &p->reached[at[0]][at[1]][at[2]];
    if (*here) return;
    *here = true;
    for (uint32_t t = 0; t < THREADS; t++) {
        uint32_t then[SEMAPHORES];
        const operation *o = &p->all[t][at[t]];
        if (at[t] == p->done[t] || !may_do(o, units)) continue;
        memcpy(then, units, sizeof then);
        do_it(o, then);
        at[t]++;
        explore(p, at, then);
        at[t]--;
    }
}

static bool is_reached(const program *p, uint32_t a, uint32_t from, uint32_t to, uint32_t b,
                       uint32_t other)
{
    uint32_t at[THREADS];
    for (at[0] = 0; at[0] <= p->done[0]; at[0]++)
        for (at[1] = 0; at[1] <= p->done[1]; at[1]++)
            for (at[2] = 0; at[2] <= p->done[2]; at[2]++)
                if (at[a] >= from && at[a] <= to && at[b] == other &&
                    p->reached[at[0]][at[1]][at[2]])
                    return true;
    return false;
}

/* ---- the comparison */

static uint32_t thread_named(const ft_trace *trace, uint32_t t)
{
    char name[8];
    int n = snprintf(name, sizeof name, "T%u", t);
    return ft_intern_find(&trace->threads, name, (size_t)n);
}

static void compare(const program *p, const ft_trace *trace, const ft_tokens *tokens, uint32_t a,
                    uint32_t from, uint32_t to, uint32_t b, uint32_t other, tally *all)
{
    bool to_end = to == UINT32_MAX;
    ft_tokens_place first = {thread_named(trace, a), from, to};
    ft_tokens_place second = {thread_named(trace, b), other, other};
    if (first.thread == FT_NO_ID || second.thread == FT_NO_ID) return;
    bool refuted = ft_tokens_exclude(tokens, &first, &second);
    bool reached = is_reached(p, a, from, to_end ? p->done[a] : to, b, other);
    if (refuted && reached)
        fail_msg("T%u in [%u, %u] and T%u at %u: excluded, and there is a schedule", a, from, to, b,
                 other);
    assert_int_equal(refuted, ft_tokens_exclude(tokens, &second, &first));
    all->claims++;
    all->none += !reached;
    all->refuted += refuted;
}

static void compare_all(const program *p, const ft_trace *trace, tally *all)
{
    ft_order *order = ft_order_new(trace);
    ft_tokens *tokens = ft_tokens_new(trace, order);
    assert_non_null(tokens);
    for (uint32_t a = 0; a < THREADS; a++)
        for (uint32_t b = 0; b < THREADS; b++)
            for (uint32_t from = 0; a != b && from <= p->done[a]; from++)
                for (uint32_t other = 0; other <= p->done[b]; other++)
                    for (uint32_t more = 0; more < 3; more++)
                        compare(p, trace, tokens, a, from, more == 2 ? UINT32_MAX : from + more, b,
                                other, all);
    ft_tokens_free(tokens);
    ft_order_free(order);
}

static void test_random(void **state)
{
    (void)state;
    const char *wanted = getenv("FT_SEEDS");
    uint64_t seeds = wanted ? strtoull(wanted, NULL, 10) : DEFAULT_SEEDS;
    tally all = {0};
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        ft_random r;
        program p;
        uint32_t at[THREADS] = {0}, units[SEMAPHORES];
        ft_random_init(&r, seed);
        make_program(&p, &r);
        ft_trace *trace = run_program(&p, &r);
        if (!trace) continue;
        memcpy(units, p.units, sizeof units);
        explore(&p, at, units);
        compare_all(&p, trace, &all);
        ft_trace_free(trace);
    }
    print_message("%llu claims, %llu without a schedule, %llu of them refuted\n",
                  (unsigned long long)all.claims, (unsigned long long)all.none,
                  (unsigned long long)all.refuted);
    assert_true(all.refuted > all.none / 20);
}

static bool excluded(const char *text, uint32_t a, uint32_t b)
{
    ft_trace *trace = tiny_trace(text);
    ft_order *order = ft_order_new(trace);
    ft_tokens *tokens = ft_tokens_new(trace, order);
    ft_tokens_place first = {thread_named(trace, 1), a, a}, second = {thread_named(trace, 2), b, b};
    bool is = ft_tokens_exclude(tokens, &first, &second);
    ft_tokens_free(tokens);
    ft_order_free(order);
    ft_trace_free(trace);
    return is;
}

/* A slot handed back and forth; the same with two of them, and with one that somebody posts first.
 */
static void test_slots(void **state)
{
    (void)state;
    static const char hands[] = "T1: wait e\nT1: r x\nT1: post f\nT2: wait f\nT2: r x\nT2: post e\n"
                                "T1: wait e\nT1: r x\nT1: post f\n";
    char text[400];
    snprintf(text, sizeof text, "var x 0\nsem e 1\nsem f 0\n%s", hands);
    assert_true(excluded(text, 1, 1));
    assert_true(excluded(text, 4, 1));
    assert_true(excluded(text, 0, 1)); /* the other one has what it gives later */
    assert_false(excluded(text, 3, 1));
    snprintf(text, sizeof text, "var x 0\nsem e 2\nsem f 0\n%s", hands);
    assert_false(excluded(text, 4, 1));
    snprintf(text, sizeof text, "var x 0\nsem e 0\nsem f 0\nT3: post e\n%s", hands);
    assert_true(excluded(text, 4, 1));
    /* a unit that nobody is seen to have given */
    snprintf(text, sizeof text, "var x 0\nsem e 0\nsem f 0\n%s", hands);
    assert_false(excluded(text, 4, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slots),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
