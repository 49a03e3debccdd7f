/* Plans that come to the store in parts: the same as whole ones, nothing of them is seen before
 * their end, and what is left of one that was not finished is nobody's. */
#include "store_support.h"

#include "base/strbuf.h"
#include "store/check.h"

#define SUBPROBLEMS 40 /* several rows of entries */

/* Keys with what could be taken for the end of something. */
static char *key_of(int number, const char *mark)
{
    static const char *const TAILS[] = {"", "]", "}", "\\", "\"", "[{", "\\\"]},", "\xc3\xa9"};
    ft_strbuf key = {0};
    ft_strbuf_printf(&key, "race|%s|%d|%s", mark, number, TAILS[number % 8]);
    return ft_strbuf_take(&key);
}

/* `count` subproblems and two records, of which one stands for seven candidates. */
static json_t *long_plan(int count, const char *mark)
{
    json_t *plan = json_pack("{s:s, s:[{s:[i], s:s}], s:{s:i}, s:[o, o], s:[], s:{s:{}}}", "model",
                             "maximal", "notes", "records", 1, "text", "]}, [", "candidates",
                             "race", count + 8, "records", record("race", "block", "safe", 7),
                             record("race", "seen", "violation", 1), "subproblems", "statistics",
                             "subproblems");
    for (int i = 0; i < count; i++) {
        char *key = key_of(i, mark);
        json_array_append_new(json_object_get(plan, "subproblems"),
                              json_pack("{s:i, s:s, s:s, s:i}", "subproblem", i, "check", "race",
                                        "key", key, "pairs", 1));
        free(key);
    }
    return plan;
}

static char *text_of_plan(json_t *plan, size_t flags)
{
    char *text = json_dumps(plan, flags);
    json_decref(plan);
    return text;
}

/* The first `whole` bytes in pieces of at most so many bytes; the last piece ends the plan if it is
 * to end. The answer to that is in f->a. */
static void send_text(fixture *f, ft_plan *plan, const json_t *leased, const char *text,
                      size_t whole, size_t most, bool ends)
{
    uint64_t token = token_of(leased);
    int64_t task = task_of(leased, 0);
    for (size_t at = 0; at < whole; at += most) {
        ft_strbuf part = {0};
        size_t length = whole - at < most ? whole - at : most;
        ft_strbuf_add(&part, text + at, length);
        if (ends && at + length == whole) {
            ft_store_plan_end(f->store, plan, token, task, &part, on_answer, &f->a);
            return;
        }
        ft_store_plan_add(f->store, plan, token, task, &part, on_answer, &f->a);
        json_t *result = expect(&f->loop, &f->a);
        assert_true(json_is_true(json_object_get(result, "applied")));
        json_decref(result);
    }
}

static void expect_planned(fixture *f, int subproblems)
{
    json_t *change = expect(&f->loop, &f->a);
    assert_true(json_is_true(json_object_get(change, "applied")));
    assert_string_equal(text_of(change, "state"), "solving");
    assert_int_equal(number_of(change, "ready"), subproblems);
    json_decref(change);
}

/* Its tasks as they are leased are those of the plan, in order. */
static void check_tasks(fixture *f, const char *job, int count, const char *mark)
{
    for (int i = 0; i < count;) {
        json_t *leased = lease(f, job, 7), *task;
        size_t at;
        assert_true(size_of(leased) > 0);
        json_array_foreach(json_object_get(leased, "tasks"), at, task)
        {
            char *key = key_of(i, mark);
            assert_string_equal(text_of(task, "key"), key);
            assert_int_equal(number_of(task, "subproblem"), i++);
            free(key);
        }
        json_decref(leased);
    }
    json_t *leased = lease(f, job, 7);
    assert_int_equal(size_of(leased), 0);
    json_decref(leased);
}

static void check_counts(fixture *f, const char *job, int subproblems)
{
    json_t *snapshot = snapshot_of(f, job);
    const json_t *race = json_object_get(json_object_get(snapshot, "checks"), "race");
    assert_string_equal(text_of(snapshot, "model"), "maximal");
    assert_int_equal(number_of(race, "candidates"), subproblems + 8);
    assert_int_equal(number_of(race, "safe"), 7);
    assert_int_equal(number_of(race, "violation"), 1);
    assert_int_equal(number_of(race, "pending"), subproblems);
    json_decref(snapshot);
}

static void test_pieces(void **state)
{
    static const size_t SIZES[] = {1, 2, 3, 17, 64, 1000, 100000};
    fixture *f = *state;
    char job[17];
    store_trace(f);
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
        ft_plan *plan = ft_plan_new();
        char *text =
            text_of_plan(long_plan(SUBPROBLEMS, "once"), i % 2 ? JSON_INDENT(3) : JSON_COMPACT);
        create_job(f, job);
        json_t *leased = lease(f, job, 1);
        send_text(f, plan, leased, text, strlen(text), SIZES[i], true);
        expect_planned(f, SUBPROBLEMS);
        check_counts(f, job, SUBPROBLEMS);
        check_tasks(f, job, SUBPROBLEMS, "once");
        json_decref(leased);
        ft_plan_drop(plan);
        free(text);
    }
}

static void test_nothing_is_seen_before_its_end(void **state)
{
    fixture *f = *state;
    char job[17];
    store_trace(f);
    create_job(f, job);
    ft_plan *plan = ft_plan_new();
    char *text = text_of_plan(long_plan(SUBPROBLEMS, "once"), JSON_COMPACT);
    json_t *leased = lease(f, job, 1);
    send_text(f, plan, leased, text, strlen(text) - 1, 500, false);
    assert_true(query(f, "SELECT count(*) FROM entries") > 1);
    json_t *snapshot = snapshot_of(f, job), *none = lease(f, job, 7);
    assert_string_equal(text_of(snapshot, "state"), "planning");
    assert_int_equal(number_of(json_object_get(snapshot, "progress"), "tasks"), 1);
    assert_int_equal(json_object_size(json_object_get(snapshot, "checks")), 0);
    assert_int_equal(size_of(none), 0);
    assert_int_equal(query(f, "SELECT count(*) FROM verdicts"), 0);
    json_decref(snapshot);
    json_decref(none);
    json_decref(leased);
    ft_plan_drop(plan);
    free(text);
}

/* The daemon dies in the middle of one plan; the next is shorter, and of other subproblems. */
static void test_begun_anew(void **state)
{
    fixture *f = *state;
    char job[17];
    store_trace(f);
    create_job(f, job);
    ft_plan *first = ft_plan_new(), *second = ft_plan_new();
    char *text = text_of_plan(long_plan(3 * SUBPROBLEMS, "first"), JSON_COMPACT);
    json_t *leased = lease(f, job, 1);
    send_text(f, first, leased, text, strlen(text) - 1, 500, false);
    json_decref(leased);
    free(text);
    ft_plan_drop(first);
    reopen(f);
    leased = lease(f, job, 1);
    text = text_of_plan(long_plan(SUBPROBLEMS, "second"), JSON_COMPACT);
    send_text(f, second, leased, text, strlen(text), 900, true);
    expect_planned(f, SUBPROBLEMS);
    check_tasks(f, job, SUBPROBLEMS, "second");
    assert_int_equal(query(f, "SELECT count(*) FROM entries"), (SUBPROBLEMS + 15) / 16);
    json_decref(leased);
    ft_plan_drop(second);
    free(text);
}

/* Parts of somebody who does not have the job any more. */
static void test_fence(void **state)
{
    fixture *f = *state;
    char job[17];
    const ft_store_blame nobody = {.task = 0};
    store_trace(f);
    create_job(f, job);
    ft_plan *stale = ft_plan_new(), *plan = ft_plan_new();
    char *text = text_of_plan(long_plan(SUBPROBLEMS, "once"), JSON_COMPACT);
    json_t *before = lease(f, job, 1);
    size_t half = strlen(text) / 2;
    send_text(f, stale, before, text, half, 500, false);
    json_decref(abandon(f, job, token_of(before), nobody));
    json_t *leased = lease(f, job, 1);
    ft_strbuf part = {0}, last = {0};
    ft_strbuf_add(&part, text + half, 10);
    ft_store_plan_add(f->store, stale, token_of(before), task_of(before, 0), &part, on_answer,
                      &f->a);
    json_t *result = expect(&f->loop, &f->a);
    assert_true(json_is_false(json_object_get(result, "applied")));
    json_decref(result);
    ft_strbuf_puts(&last, text + half + 10);
    ft_store_plan_end(f->store, stale, token_of(before), task_of(before, 0), &last, on_answer,
                      &f->a);
    expect_error(&f->loop, &f->a, FT_IO);
    send_text(f, plan, leased, text, strlen(text), 300, true);
    expect_planned(f, SUBPROBLEMS);
    check_tasks(f, job, SUBPROBLEMS, "once");
    json_decref(before);
    json_decref(leased);
    ft_plan_drop(stale);
    ft_plan_drop(plan);
    free(text);
}

/* ---- Its many subproblems out of time -------------------------------------------------------- */

/* Some at a time; each step takes a part of those that are open. */
static void expire(fixture *f, const char *job, int64_t open)
{
    for (bool more = true; more;) {
        ft_store_job_expire(f->store, job, "no time is left", on_answer, &f->a);
        json_t *change = expect(&f->loop, &f->a);
        more = json_is_true(json_object_get(change, "more"));
        assert_true(number_of(change, "open") < open && open - number_of(change, "open") < 600);
        assert_string_equal(text_of(change, "state"), more ? "solving" : "done");
        open = number_of(change, "open");
        json_decref(change);
    }
    assert_int_equal(open, 0);
}

/* Each has its verdict, those that somebody has had too, and none is leased again.
 */
static void test_expires_some_at_a_time(void **state)
{
    enum { MANY = 1200 };
    fixture *f = *state;
    char job[17];
    store_trace(f);
    create_job(f, job);
    json_t *leased = lease(f, job, 1);
    commit_plan(f, leased, long_plan(MANY, "once"));
    expect_planned(f, MANY);
    json_decref(leased);
    leased = lease(f, job, 20);
    expire(f, job, MANY);
    assert_int_equal(
        query(f, "SELECT count(DISTINCT task) FROM verdicts WHERE verdict = 'unknown'"), MANY);
    assert_int_equal(query(f, "SELECT sum(count) FROM tallies"), MANY + 8);
    assert_int_equal(query(f, "SELECT count(*) FROM leases"), 0);
    json_decref(leased);
}

/* ---- Retention of such a job ----------------------------------------------------------------- */

static void check_database(const fixture *f)
{
    ft_error err = FT_ERROR_INIT;
    if (check_at(f->place, &err) != FT_OK) fail_msg("%s", err.message);
}

static void age(const fixture *f)
{
    change_at(f->place, "UPDATE jobs SET finished = 1");
}

/* It goes in pieces, and the database is sound after each. */
static void remove_a_job_of(fixture *f, int many)
{
    char job[17];
    int steps = 0;
    create_job(f, job);
    json_t *leased = lease(f, job, 1);
    commit_plan(f, leased, long_plan(many, "once"));
    expect_planned(f, many);
    json_decref(leased);
    expire(f, job, many);
    age(f);
    for (bool more = true; more; steps++) {
        int64_t before = query(f, "SELECT count(*) FROM verdicts");
        ft_store_retain(f->store, 86400000, 0, on_answer, &f->a);
        json_t *removed = expect(&f->loop, &f->a);
        more = json_is_true(json_object_get(removed, "more"));
        assert_true(before - query(f, "SELECT count(*) FROM verdicts") <= 2000);
        check_database(f);
        json_decref(removed);
    }
    assert_true(steps > 1);
    assert_int_equal(query(f, "SELECT count(*) FROM jobs"), 0);
    assert_int_equal(query(f, "SELECT count(*) FROM entries"), 0);
}

/* The second number's 236 entries and 3764 verdicts (two are of its properties) are just twice what
   is removed at once. */
static void test_removed_some_at_a_time(void **state)
{
    static const int MANY[] = {4500, 3762};
    fixture *f = *state;
    store_trace(f);
    for (size_t i = 0; i < sizeof MANY / sizeof *MANY; i++) remove_a_job_of(f, MANY[i]);
}

#define HEAD "{\"model\":\"ctp\",\"candidates\":{\"race\":0},"
#define ONE  "{\"subproblem\":0,\"check\":\"race\",\"key\":\"k\",\"pairs\":1}"

/* None of them is a plan, in whatever pieces it comes. */
static void test_bad_texts(void **state)
{
    static const char *const BAD[] = {
        "",
        "[]",
        "nothing",
        HEAD "\"records\":[],\"subproblems\":[]",
        HEAD "\"records\":[],\"subproblems\":[]}}",
        HEAD "\"records\":[],\"subproblems\":[]} []",
        HEAD "\"records\":[],\"subproblems\":[1]}",
        HEAD "\"records\":[null],\"subproblems\":[]}",
        HEAD "\"records\":[,],\"subproblems\":[]}",
        HEAD "\"records\":[{}],\"subproblems\":[]}",
        HEAD "\"records\":[],\"records\":[],\"subproblems\":[]}",
        HEAD "\"records\":[]}",
        HEAD "\"records\" [],\"subproblems\":[]}",
        HEAD "\"records\":[],\"subproblems\":{}}",
        "{\"model\":\"ctp\",\"candidates\":{\"race\":1},\"records\":[],\"subproblems\":[" ONE ",]}",
        "{\"model\":\"ctp\",\"candidates\":{\"race\":1},\"records\":[],\"subproblems\":[" ONE "}",
        "{\"model\":\"ctp\",\"candidates\":{\"race\":2},\"records\":[],\"subproblems\":[" ONE "]}",
        "{\"model\":\"ctp\",\"candidates\":{\"race\":2},\"records\":[],\"subproblems\":[" ONE ONE
        "]}",
        "{\"model\":\"ctp\",\"candidates\":{\"race\":2},\"records\":[],\"subproblems\":[" ONE
        "],\"subproblems\":[" ONE "]}",
    };
    fixture *f = *state;
    char job[17];
    store_trace(f);
    create_job(f, job);
    json_t *leased = lease(f, job, 1);
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        ft_plan *plan = ft_plan_new();
        ft_strbuf text = {0};
        ft_strbuf_puts(&text, BAD[i]);
        ft_store_plan_end(f->store, plan, token_of(leased), task_of(leased, 0), &text, on_answer,
                          &f->a);
        expect_error(&f->loop, &f->a, FT_INPUT);
        ft_plan_drop(plan);
    }
    assert_int_equal(query(f, "SELECT count(*) FROM entries"), 0);
    commit_plan(f, leased, make_plan());
    json_decref(expect(&f->loop, &f->a));
    json_decref(leased);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_pieces),
        TEST(test_nothing_is_seen_before_its_end),
        TEST(test_begun_anew),
        TEST(test_fence),
        TEST(test_bad_texts),
        TEST(test_expires_some_at_a_time),
        TEST(test_removed_some_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
