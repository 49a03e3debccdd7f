/* Splitting a subproblem where there is nothing to split by. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/strbuf.h"
#include "engine/internal.h"
#include "trace/reader.h"

static ft_trace *read_trace(const ft_strbuf *text)
{
    ft_trace *trace = NULL;
    ft_error err = FT_ERROR_INIT;
    assert_int_equal(ft_trace_read_memory(ft_strbuf_text(text), text->len, &trace, &err), FT_OK);
    return trace;
}

static ft_engine *open_races(ft_trace *trace)
{
    ft_engine *engine = NULL;
    ft_error err = FT_ERROR_INIT;
    json_t *spec = json_pack("{s:[s]}", "checks", "race");
    assert_int_equal(ft_engine_new(trace, "0", spec, &engine, &err), FT_OK);
    assert_int_equal(ft_engine_prepare(engine, &err), FT_OK);
    json_decref(spec);
    return engine;
}

/* Neither a read nor a lock, and so many events that the claim has a decider of its own: one cube
 * comes back, the whole. */
static void test_writes_alone(void **state)
{
    (void)state;
    ft_strbuf text = {0};
    for (uint32_t i = 0; i < FT_SHARED_EVENTS; i++)
        ft_strbuf_puts(&text, "T1|w(x)|a.c:1\nT2|w(x)|b.c:1\n");
    ft_trace *trace = read_trace(&text);
    ft_engine *engine = open_races(trace);
    const ft_claim claim = {.kind = FT_CLAIM_RACE, .events = {0, 1, FT_NO_EVENT}};
    ft_cubes cubes;
    assert_false(ft_analyses_is_small(engine->analyses));
    ft_cubes_find(engine, &claim, &cubes);
    assert_true(cubes.count < 2);
    ft_engine_free(engine);
    ft_trace_free(trace);
    ft_strbuf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_writes_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
