/* Which step of the program an event is: kept by normalising and the binary format; plans of
 * replays made of it. */
#include "trace_support.h"

#include "maker/replay/plan.h"
#include "trace/binary.h"

enum { MANY = 150000, ACTORS = 3 };

static void add_program(ft_builder *b)
{
    static const char *const names[ACTORS] = {"main", "T1", "T1.1"};
    for (uint32_t t = 0; t < ACTORS; t++) ft_builder_thread(b, names[t], strlen(names[t]));
    ft_builder_shared(b, "x", 1, FT_INT_SORT);
    ft_builder_lock(b, "l", 1, FT_LOCK_MUTEX);
    ft_builder_module(b, "program", 7, "ab", 2);
    ft_builder_module(b, "library.so", 10, "", 0);
    uint32_t loc = ft_builder_location(b, "a.c:1", 5, "f", 1);
    ft_builder_site(b, (ft_code_site){.module = 1, .offset = 1ull << 40, .loc = loc});
}

static void add(ft_builder *b, uint32_t hook, ft_event_kind kind, uint32_t thread, uint32_t object)
{
    ft_builder_hook(b, hook);
    ft_builder_event(b, kind, thread, object, 1, FT_NO_VALUE, 0);
}

static void test_round_trip(void **state)
{
    (void)state;
    ft_builder *b = ft_builder_new(FT_FORMAT_BINARY);
    ft_strbuf bytes = {0};
    ft_error err = FT_ERROR_INIT;
    uint64_t seed = 9;
    add_program(b);
    for (uint32_t i = 0; i < MANY; i++) /* none at first, then also the highest there can be */
        add(b,
            i < 10     ? 0
            : i % 1000 ? rnd(&seed, 5 + i)
                       : UINT32_MAX,
            FT_EVENT_WRITE, rnd(&seed, ACTORS), 0);
    ft_trace *trace = finish_trace(b), *again = NULL;
    assert_int_equal(ft_binary_write(trace, append_to, &bytes, &err), FT_OK);
    assert_int_equal(ft_trace_read_memory(bytes.text, bytes.len, &again, &err), FT_OK);
    assert_int_equal(again->n_events, MANY);
    assert_memory_equal(again->hook, trace->hook, MANY * sizeof *trace->hook);
    assert_int_equal(again->n_modules, 2);
    assert_string_equal(again->modules[0].name, "program");
    assert_string_equal(again->modules[0].hash, "ab");
    assert_string_equal(again->modules[1].hash, "");
    assert_int_equal(again->n_sites, 1);
    assert_int_equal(again->sites[0].module, 1);
    assert_true(again->sites[0].offset == 1ull << 40);
    assert_int_equal(again->sites[0].loc, 1);
    ft_strbuf_release(&bytes);
    ft_trace_free(trace);
    ft_trace_free(again);
}

/* A join that came too early is moved, a release that is missing put in: the others keep theirs. */
static void test_normalised(void **state)
{
    (void)state;
    static const struct {
        ft_event_kind kind;
        uint32_t thread, hook;
    } WANT[] = {
        {FT_EVENT_FORK, 0, 5},    {FT_EVENT_ACQUIRE, 1, 7}, {FT_EVENT_WRITE, 1, 9},
        {FT_EVENT_RELEASE, 1, 0}, {FT_EVENT_JOIN, 0, 6},    {FT_EVENT_ACQUIRE, 0, 8},
    };
    ft_builder *b = ft_builder_new(FT_FORMAT_BINARY);
    add_program(b);
    add(b, 5, FT_EVENT_FORK, 0, 1);
    add(b, 7, FT_EVENT_ACQUIRE, 1, 0);
    add(b, 6, FT_EVENT_JOIN, 0, 1);
    add(b, 9, FT_EVENT_WRITE, 1, 0);
    add(b, 8, FT_EVENT_ACQUIRE, 0, 0);
    ft_trace *trace = finish_trace(b);
    assert_int_equal(trace->n_events, sizeof WANT / sizeof *WANT);
    for (uint32_t e = 0; e < trace->n_events; e++) {
        assert_int_equal(trace->kind[e], WANT[e].kind);
        assert_int_equal(trace->thread[e], WANT[e].thread);
        assert_int_equal(trace->hook[e], WANT[e].hook);
    }
    ft_trace_free(trace);
}

static void test_plan(void **state)
{
    (void)state;
    ft_builder *b = ft_builder_new(FT_FORMAT_BINARY);
    ft_plan plan;
    ft_error err = FT_ERROR_INIT;
    add_program(b);
    add(b, 1, FT_EVENT_WRITE, 0, 0);
    add(b, 2, FT_EVENT_FORK, 0, 1);
    add(b, 0, FT_EVENT_WRITE, 0, 0); /* nothing that the program does */
    add(b, 4, FT_EVENT_READ, 1, 0);  /* a copied structure: its read comes second ... */
    add(b, 3, FT_EVENT_WRITE, 1, 0); /* ... to its hooks */
    add(b, 3, FT_EVENT_WRITE, 0, 0);
    ft_trace *trace = finish_trace(b);
    uint32_t steps[] = {0, 1, 2, 3};
    ft_witness witness = {
        .claim = {.kind = FT_CLAIM_RACE, .events = {4, 5}}, .n_steps = 4, .steps = steps};
    assert_int_equal(ft_plan_make(trace, &witness, &plan, &err), FT_OK);
    assert_int_equal(plan.head.steps, 2); /* the read cannot be done before the write's hook */
    assert_int_equal(plan.head.finals, 2);
    assert_int_equal(plan.entries.data[1].step, 2);
    assert_int_equal(plan.entries.data[2].mode, FT_SCHEDULE_STAND);
    assert_int_equal(plan.entries.data[2].actor, 1);
    assert_int_equal(plan.entries.data[2].step, 3);
    assert_int_equal(plan.entries.data[3].actor, 0);
    assert_int_equal(plan.actors.data[0].parent, FT_SCHEDULE_NONE);
    assert_int_equal(plan.actors.data[1].parent, 0);
    assert_int_equal(plan.actors.data[2].parent, 1);
    assert_int_equal(plan.actors.data[2].child, 1);
    ft_plan_release(&plan);

    witness.claim.events[1] = 2;
    assert_int_equal(ft_plan_make(trace, &witness, &plan, &err), FT_INPUT);
    assert_non_null(strstr(err.message, "event 3"));
    ft_plan_release(&plan);
    ft_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_normalised),
        cmocka_unit_test(test_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
