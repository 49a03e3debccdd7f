/* Threads that wait forever: what reports say of the signals, of the lock, and of who else waits.
 */
#include "engine/waiting.h"

#include "trace_support.h"

#define HEADER                                                                                     \
    "{\"format\":\"foretell\",\"version\":1,\"threads\":[\"main\",\"A\",\"B\",\"W\"],"             \
    "\"locks\":{\"m\":\"mutex\"},\"conditions\":[\"done\",\"work\"]}\n"
#define EVENT(thread, kind, rest) "{\"thread\":\"" thread "\",\"kind\":\"" kind "\"" rest "}\n"
#define LOC(line)                 ",\"loc\":\"a.c:" #line "\""
#define FORKS                                                                                      \
    EVENT("main", "fork", ",\"child\":\"A\"")                                                      \
    EVENT("main", "fork", ",\"child\":\"B\"") EVENT("main", "fork", ",\"child\":\"W\"")
#define WAIT(thread, cond, line)                                                                   \
    EVENT(thread, "acquire", ",\"lock\":\"m\"")                                                    \
    EVENT(thread, "cond-wait", ",\"cond\":\"" cond "\"" LOC(line))                                 \
    EVENT(thread, "release", ",\"lock\":\"m\",\"condition\":true" LOC(line))
#define WAKE(thread, cond, line)                                                                   \
    EVENT(thread, "cond-wake", ",\"cond\":\"" cond "\"" LOC(line))                                 \
    EVENT(thread, "acquire", ",\"lock\":\"m\",\"condition\":true" LOC(line))                       \
    EVENT(thread, "release", ",\"lock\":\"m\"")
#define STUCK(thread, cond, line)                                                                  \
    EVENT(thread, "cond-wake", ",\"cond\":\"" cond "\",\"blocked\":true" LOC(line))
#define SIGNAL(thread, cond, line) EVENT(thread, "signal", ",\"cond\":\"" cond "\"" LOC(line))
#define JOINS(child)               EVENT("main", "join", ",\"child\":\"" child "\",\"blocked\":true" LOC(99))

typedef struct story {
    ft_trace *trace;
    ft_order *order;
    ft_witness witness; /* the run itself, up to where its threads are blocked */
} story;

/* The claim's event is the last one of that thread. */
static story tell(const char *text, const char *thread)
{
    story s = {.trace = read_text(text, strlen(text))};
    ft_trace *trace = s.trace;
    s.order = ft_order_new(trace);
    s.witness.claim.kind = FT_CLAIM_STUCK;
    s.witness.steps = ft_calloc(trace->n_events, sizeof *s.witness.steps);
    for (uint32_t e = 0; e < trace->n_events; e++) {
        if (strcmp(ft_trace_thread_name(trace, trace->thread[e]), thread) == 0)
            s.witness.claim.events[0] = e;
        if (!ft_trace_is_blocked(trace, e)) s.witness.steps[s.witness.n_steps++] = e;
    }
    return s;
}

static void forget(story *s)
{
    ft_witness_release(&s->witness);
    ft_order_free(s->order);
    ft_trace_free(s->trace);
}

static void signals_are_named(void **state)
{
    static const struct {
        const char *text, *says;
    } CASES[] = {
        {HEADER FORKS WAIT("A", "done", 9) WAIT("B", "done", 9) SIGNAL("W", "done", 7)
             WAKE("A", "done", 9) STUCK("B", "done", 9),
         "the signal of W at a.c:7 woke A, which waited at a.c:9, and no other will come"},
        {HEADER FORKS SIGNAL("W", "done", 7) WAIT("B", "done", 9) STUCK("B", "done", 9),
         "the signal of W at a.c:7 came before it waited, and no other will come"},
        {HEADER FORKS SIGNAL("W", "work", 7) WAIT("B", "done", 9) STUCK("B", "done", 9),
         "no thread signals it"},
        /* the last one that came while it waited */
        {HEADER FORKS SIGNAL("W", "done", 5) WAIT("A", "done", 8) WAIT("B", "done", 9)
             EVENT("W", "broadcast", ",\"cond\":\"work\"") SIGNAL("W", "done", 7)
                 WAKE("A", "done", 8) STUCK("B", "done", 9),
         "the signal of W at a.c:7 woke A, which waited at a.c:8, and no other will come"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        ft_strbuf out = {0};
        story s = tell(CASES[i].text, "B");
        ft_waiting_explain(s.trace, &s.witness, &out);
        assert_string_equal(ft_strbuf_text(&out), CASES[i].says);
        assert_string_equal(ft_waiting_gave_up(s.trace, &s.witness), "m");
        ft_strbuf_release(&out);
        forget(&s);
    }
}

static void idle_threads_are_told_apart(void **state)
{
    static const struct {
        const char *text;
        bool idle; /* W, which waits for work */
    } CASES[] = {
        {HEADER FORKS WAIT("A", "done", 9) WAIT("W", "work", 8) JOINS("A") STUCK("A", "done", 9)
             STUCK("W", "work", 8),
         true},
        /* somebody joins it */
        {HEADER FORKS WAIT("A", "done", 9) WAIT("W", "work", 8) JOINS("W") STUCK("A", "done", 9)
             STUCK("W", "work", 8),
         false},
        /* nobody else waits forever */
        {HEADER FORKS WAIT("W", "work", 8) STUCK("W", "work", 8), false},
        /* nobody is joined */
        {HEADER FORKS WAIT("A", "done", 9) WAIT("W", "work", 8) STUCK("A", "done", 9)
             STUCK("W", "work", 8),
         false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        story s = tell(CASES[i].text, "W");
        if (ft_waiting_is_idle(s.order, &s.witness) != CASES[i].idle)
            fail_msg("case %zu: W is %sidle", i, CASES[i].idle ? "not " : "");
        forget(&s);
    }
}

static void the_others_are_listed(void **state)
{
    (void)state;
    story s = tell(HEADER FORKS WAIT("A", "done", 9) WAIT("W", "work", 8) JOINS("A")
                       STUCK("A", "done", 9) STUCK("W", "work", 8),
                   "A");
    ft_show *show = ft_show_new(s.trace);
    json_t *others = ft_waiting_others(s.order, show, &s.witness);
    assert_int_equal(json_array_size(others), 2);
    const json_t *first = json_array_get(others, 0), *second = json_array_get(others, 1);
    assert_string_equal(json_string_value(json_object_get(first, "text")), "join A");
    assert_string_equal(json_string_value(json_object_get(second, "thread")), "W");
    assert_string_equal(json_string_value(json_object_get(second, "location")), "a.c:8");
    json_decref(others);
    ft_show_free(show);
    forget(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signals_are_named),
        cmocka_unit_test(idle_threads_are_told_apart),
        cmocka_unit_test(the_others_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
