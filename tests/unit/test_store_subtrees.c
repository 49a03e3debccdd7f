/* Explorations that are shared out, as the store has them: which results count, and that what is
 * lost is left open. */
#include "store_support.h"

#include "store/check.h"

static void expect_sound(const fixture *f)
{
    ft_error err = FT_ERROR_INIT;
    if (check_at(f->place, &err) != FT_OK) fail_msg("%s", err.message);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* EXPLORED of one execution. */
static json_t *explored(void)
{
    return json_pack("{s:[], s:{s:i}, s:{s:b, s:b}}", "threads", "counts", "runs", 1, "flags",
                     "incomplete", 0, "cut_short", 0);
}

/* The answer to a task, with the tasks that it hands back. */
static json_t *part(const char *subtrees)
{
    return json_pack("{s:s, s:[], s:{s:i}, s:[], s:[], s:o, s:o}", "model", "ctp", "notes",
                     "candidates", "race", 0, "records", "subproblems", "explored", explored(),
                     "subtrees", json_loads(subtrees, 0, NULL));
}

/* The change. */
static json_t *answer_part(fixture *f, const json_t *leased, json_t *its)
{
    commit_plan(f, leased, its);
    json_t *change = expect(&f->loop, &f->a);
    expect_sound(f);
    return change;
}

static bool takes(fixture *f, const json_t *leased, json_t *its)
{
    json_t *change = answer_part(f, leased, its);
    bool applied = json_is_true(json_object_get(change, "applied"));
    json_decref(change);
    return applied;
}

static json_t *next(fixture *f, const char *job)
{
    json_t *leased = lease(f, job, 32);
    assert_int_equal(size_of(leased), 1); /* each is a lease of its own */
    expect_sound(f);
    return leased;
}

static const char *name_of(const json_t *leased)
{
    return text_of(json_array_get(json_object_get(leased, "tasks"), 0), "subtree");
}

/* A job with the check race, whose plan hands back these tasks. */
static void share_out(fixture *f, const char *subtrees, char job[17])
{
    store_trace(f);
    create_job(f, job);
    json_t *leased = next(f, job), *plan = part(subtrees);
    json_object_set_new(plan, "candidates", json_pack("{s:i}", "race", 1));
    json_object_set_new(plan, "subproblems",
                        json_pack("[{s:i, s:s, s:s, s:i}]", "subproblem", 0, "check", "race", "key",
                                  "race|rest", "pairs", 1));
    assert_true(takes(f, leased, plan));
    json_decref(leased);
}

/* The flag in the sum that the last task gets; the job is at its last task. */
static bool flag_at_the_end(fixture *f, const char *job, const char *flag)
{
    json_t *leased = next(f, job);
    assert_string_equal(name_of(leased), "end");
    json_t *sum = json_loads(text_of(leased, "explored"), 0, NULL);
    bool is = json_is_true(json_object_get(json_object_get(sum, "flags"), flag));
    json_decref(sum);
    json_decref(leased);
    return is;
}

static int64_t levels(const fixture *f)
{
    return query(f, "SELECT count(*) FROM subtrees WHERE name = 'levels'");
}

static bool close_job(fixture *f, const char *job, bool all, json_t **gone)
{
    ft_store_job_close(f->store, job, all, on_answer, &f->a);
    json_t *change = expect(&f->loop, &f->a);
    bool applied = json_is_true(json_object_get(change, "applied"));
    if (gone) *gone = json_incref(json_object_get(change, "gone"));
    json_decref(change);
    expect_sound(f);
    return applied;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void test_each_result_counts_once(void **state)
{
    fixture *f = *state;
    char job[17];
    share_out(f, "[\"+0\",\"+1\"]", job);
    json_t *one = next(f, job), *other = next(f, job);
    assert_true(takes(f, one, part("[]")));
    assert_false(takes(f, one, part("[\"+2\"]"))); /* its lease is over */
    assert_int_equal(query(f, "SELECT open FROM explorations"), 1);
    assert_true(takes(f, other, part("[]")));
    assert_false(flag_at_the_end(f, job, "incomplete"));
    json_decref(one);
    json_decref(other);
}

static void test_the_same_proposals_are_one_task(void **state)
{
    fixture *f = *state;
    char job[17];
    share_out(f, "[\"+0\",\"+1\"]", job);
    for (int i = 0; i < 2; i++) {
        json_t *leased = next(f, job), *its = part("[]");
        json_object_set_new(its, "proposals", json_loads("[[\"k\",\"+0-1\"]]", 0, NULL));
        assert_true(takes(f, leased, its));
        json_decref(leased);
    }
    json_t *leased = next(f, job);
    assert_string_equal(name_of(leased), "+0-1");
    assert_int_equal(query(f, "SELECT open FROM explorations"), 1);
    json_decref(leased);
}

/* Tasks of the old round end, also those that others are at. */
static void test_a_new_round(void **state)
{
    fixture *f = *state;
    char job[17];
    share_out(f, "[\"+0\",\"+1\",\"+2\"]", job);
    json_t *one = next(f, job), *other = next(f, job), *its = part("[\"*\"]");
    json_object_set_new(its, "anew", json_true());
    json_t *change = answer_part(f, other, its);
    const json_t *gone = json_object_get(change, "gone");
    assert_int_equal(json_array_size(gone), 1);
    assert_int_equal(json_integer_value(json_array_get(gone, 0)), token_of(one));
    assert_int_equal(number_of(change, "ready"), 1);
    json_decref(change);
    assert_false(takes(f, one, part("[]")));
    assert_int_equal(query(f, "SELECT open FROM explorations"), 1);
    json_t *leased = next(f, job);
    assert_string_equal(name_of(leased), "*");
    json_decref(leased);
    json_decref(one);
    json_decref(other);
}

static void test_a_part_is_given_up(void **state)
{
    fixture *f = *state;
    char job[17];
    share_out(f, "[\"+0\",\"+1\"]", job);
    json_t *one = next(f, job), *other = next(f, job);
    const ft_store_blame blame = {.task = task_of(one, 0),
                                  .limit = 1,
                                  .verdict = FT_VERDICT_ERROR,
                                  .reason = FT_REASON_WORKER_DIED,
                                  .text = "it died",
                                  .death = "crashed",
                                  .log = ""};
    json_decref(abandon(f, job, token_of(one), blame));
    expect_sound(f);
    assert_int_equal(query(f, "SELECT count(*) FROM explorations WHERE state LIKE '%\"open\"%'"),
                     1);
    assert_true(takes(f, other, part("[]")));
    assert_true(flag_at_the_end(f, job, "incomplete"));
    json_decref(one);
    json_decref(other);
}

static void test_out_of_time(void **state)
{
    fixture *f = *state;
    char job[17];
    json_t *gone;
    share_out(f, "[\"+0\",\"+1\"]", job);
    json_t *one = next(f, job);
    assert_true(close_job(f, job, true, &gone));
    assert_int_equal(json_integer_value(json_array_get(gone, 0)), token_of(one));
    assert_false(close_job(f, job, true, NULL)); /* of another node */
    assert_false(takes(f, one, part("[]")));
    assert_true(flag_at_the_end(f, job, "cut_short"));
    json_decref(gone);
    json_decref(one);
}

/* Each node sees that half of the time is over; each round has them. */
static void test_levels_once_a_round(void **state)
{
    fixture *f = *state;
    char job[17];
    share_out(f, "[\"+0\"]", job);
    json_t *one = next(f, job);
    assert_true(close_job(f, job, false, NULL));
    assert_false(close_job(f, job, false, NULL));
    assert_int_equal(levels(f), 1);
    json_t *its = next(f, job), *anew = part("[\"*\"]");
    assert_string_equal(name_of(its), "levels");
    json_object_set_new(anew, "anew", json_true());
    assert_true(takes(f, its, anew)); /* the levels found a race */
    assert_false(close_job(f, job, false, NULL));
    assert_int_equal(levels(f), 1);
    json_decref(one);
    json_decref(its);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_each_result_counts_once),
        TEST(test_the_same_proposals_are_one_task),
        TEST(test_a_new_round),
        TEST(test_a_part_is_given_up),
        TEST(test_out_of_time),
        TEST(test_levels_once_a_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
