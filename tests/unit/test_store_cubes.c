/* Subproblems in parts: the queue has their cubes, and the subproblem one verdict. */
#include "store_support.h"

#include "store/check.h"

#define R0 "race|write-write|r0"

static void expect_sound(const fixture *f)
{
    ft_error err = FT_ERROR_INIT;
    if (check_at(f->place, &err) != FT_OK) fail_msg("%s", err.message);
}

/* The answer's change. */
static json_t *send_with(fixture *f, const char *job, const json_t *leased, const char *verdict,
                         const char *cubes)
{
    json_t *its = record("race", R0, verdict, 1);
    if (cubes) json_object_set_new(its, "cubes", json_loads(cubes, 0, NULL));
    send_result(f->store, job, token_of(leased), task_of(leased, 0), its, &f->a);
    json_decref(its);
    return expect(&f->loop, &f->a);
}

static bool answered(fixture *f, const char *job, const json_t *leased, const char *verdict)
{
    json_t *change = send_with(f, job, leased, verdict, NULL);
    bool applied = json_is_true(json_object_get(change, "applied"));
    json_decref(change);
    expect_sound(f);
    return applied;
}

static const char THREE[] = "[[{\"kind\":\"absent\"}],[{\"kind\":\"a\"}],[{\"kind\":\"b\"}]]";

/* A job whose first subproblem is split in three, and whose others are leased to somebody. */
static void split_first(fixture *f, const char *job)
{
    json_t *first = lease(f, job, 1), *others = lease(f, job, 2);
    assert_int_equal(size_of(others), 2);
    json_t *change = send_with(f, job, first, "unknown", THREE);
    assert_true(json_is_true(json_object_get(change, "applied")));
    assert_int_equal(number_of(change, "ready"), 3);
    assert_int_equal(number_of(change, "open"), 3); /* itself, and the others */
    json_decref(change);
    expect_sound(f);
    assert_false(answered(f, job, first, "safe")); /* it has it no more */
    json_decref(first);
    json_decref(others);
}

static void make_split(fixture *f, char job[17])
{
    planned(f, job);
    split_first(f, job);
}

static json_t *next_cube(fixture *f, const char *job)
{
    json_t *leased = lease(f, job, 32);
    assert_int_equal(size_of(leased), 1);
    const json_t *task = json_array_get(json_object_get(leased, "tasks"), 0);
    assert_int_equal(number_of(task, "subproblem"), 0);
    assert_string_equal(text_of(task, "key"), R0);
    assert_true(json_is_array(json_object_get(task, "cube")));
    expect_sound(f);
    return leased;
}

static int64_t verdicts(const fixture *f, const char *verdict)
{
    char text[160];
    snprintf(text, sizeof text,
             "SELECT count(*) FROM verdicts WHERE verdict = '%s' AND task & 268435455 = 1",
             verdict);
    return query(f, text);
}

static void expect_no_cubes(const fixture *f)
{
    assert_int_equal(query(f, "SELECT count(*) FROM cubes"), 0);
    assert_int_equal(query(f, "SELECT count(*) FROM tasks WHERE (id & 134217728) <> 0"), 0);
    assert_int_equal(query(f, "SELECT ready FROM jobs"), 0);
}

static void test_safe_when_all_are(void **state)
{
    fixture *f = *state;
    char job[17];
    make_split(f, job);
    json_t *cubes[3];
    for (int i = 0; i < 3; i++) cubes[i] = next_cube(f, job);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(verdicts(f, "safe"), 0);
        assert_true(answered(f, job, cubes[i], "safe"));
        assert_false(answered(f, job, cubes[i], "safe"));
        json_decref(cubes[i]);
    }
    assert_int_equal(verdicts(f, "safe"), 1);
    expect_no_cubes(f);
}

/* A part without an answer leaves the whole without one. */
static void test_the_gravest_counts(void **state)
{
    fixture *f = *state;
    static const char *const ANSWERS[] = {"safe", "unknown", "bounded"};
    char job[17];
    make_split(f, job);
    for (int i = 0; i < 3; i++) {
        json_t *cube = next_cube(f, job);
        assert_true(answered(f, job, cube, ANSWERS[i]));
        json_decref(cube);
    }
    assert_int_equal(verdicts(f, "unknown"), 1);
    expect_no_cubes(f);
}

/* Its siblings are nobody's any more, and what is said of them is late. */
static void test_a_violation_decides(void **state)
{
    fixture *f = *state;
    char job[17];
    make_split(f, job);
    json_t *first = next_cube(f, job), *second = next_cube(f, job);
    json_t *change = send_with(f, job, second, "violation", NULL);
    const json_t *gone = json_object_get(change, "gone");
    assert_int_equal(json_array_size(gone), 1);
    assert_int_equal(json_integer_value(json_array_get(gone, 0)), token_of(first));
    assert_int_equal(number_of(change, "ready"), 0);
    assert_int_equal(number_of(change, "open"), 2);
    json_decref(change);
    expect_sound(f);
    assert_int_equal(verdicts(f, "violation"), 1);
    assert_false(answered(f, job, first, "safe"));
    assert_int_equal(verdicts(f, "safe"), 0);
    expect_no_cubes(f);
    json_decref(first);
    json_decref(second);
}

/* A cube is tried again, and one that workers die on decides. */
static void test_a_cube_is_poisoned(void **state)
{
    fixture *f = *state;
    char job[17];
    make_split(f, job);
    for (int i = 0; i < 2; i++) {
        json_t *cube = next_cube(f, job);
        const ft_store_blame blame = {.task = task_of(cube, 0),
                                      .limit = 2,
                                      .verdict = FT_VERDICT_ERROR,
                                      .reason = FT_REASON_WORKER_DIED,
                                      .text = "it died",
                                      .death = "crashed",
                                      .log = ""};
        json_t *change = abandon(f, job, token_of(cube), blame);
        assert_int_equal(json_is_true(json_object_get(change, "poisoned")), i == 1);
        json_decref(change);
        json_decref(cube);
        expect_sound(f);
    }
    assert_int_equal(verdicts(f, "error"), 1);
    expect_no_cubes(f);
}

static void test_the_job_ends_meanwhile(void **state)
{
    fixture *f = *state;
    char job[17];
    for (int how = 0; how < 2; how++) {
        if (how == 0) {
            make_split(f, job);
        } else {
            create_job(f, job);
            json_decref(plan_job(f, job));
            split_first(f, job);
        }
        json_t *cube = next_cube(f, job);
        if (how == 0)
            ft_store_job_cancel(f->store, job, on_answer, &f->a);
        else
            ft_store_job_expire(f->store, job, "its time is up", on_answer, &f->a);
        json_decref(expect(&f->loop, &f->a));
        expect_sound(f);
        assert_false(answered(f, job, cube, "violation"));
        assert_int_equal(query(f, "SELECT count(*) FROM cubes"), 0);
        json_decref(cube);
    }
    assert_int_equal(verdicts(f, "unknown"), 1); /* of the one whose time was up */
}

static void test_a_restart_between(void **state)
{
    fixture *f = *state;
    char job[17];
    make_split(f, job);
    json_t *cube = next_cube(f, job);
    assert_true(answered(f, job, cube, "safe"));
    json_decref(cube);
    json_decref(next_cube(f, job)); /* whoever had it is gone */
    reopen(f);
    expect_sound(f);
    json_t *left = snapshot_of(f, job);
    assert_int_equal(number_of(json_object_get(left, "progress"), "open"), 3);
    json_decref(left);
    assert_int_equal(query(f, "SELECT ready FROM jobs"), 4); /* two cubes, two others */
}

static void test_cubes_of_a_strange_kind(void **state)
{
    fixture *f = *state;
    char job[17];
    planned(f, job);
    json_t *first = lease(f, job, 1), *its = record("race", R0, "unknown", 1);
    json_object_set_new(its, "cubes", json_pack("[[]]"));
    send_result(f->store, job, token_of(first), task_of(first, 0), its, &f->a);
    expect_error(&f->loop, &f->a, FT_INPUT);
    expect_sound(f);
    assert_true(answered(f, job, first, "safe"));
    json_decref(its);
    json_decref(first);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_safe_when_all_are),       TEST(test_the_gravest_counts),
        TEST(test_a_violation_decides),     TEST(test_a_cube_is_poisoned),
        TEST(test_the_job_ends_meanwhile),  TEST(test_a_restart_between),
        TEST(test_cubes_of_a_strange_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
