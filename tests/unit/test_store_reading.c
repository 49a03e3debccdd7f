/* What the store gives back: findings, witnesses, reports, lists of jobs. */
#include "store_support.h"

#include <zstd.h>

static void commit_packed(fixture *f, const json_t *leased, const char *job, const char *packed,
                          size_t length)
{
    ft_results results = {.items = NULL};
    json_t *its = record("race", "race|write-write|r0", "violation", 1);
    char *text = json_dumps(its, JSON_COMPACT);
    assert_int_equal(
        ft_results_add(&results, task_of(leased, 0), text, strlen(text), packed, length, NULL),
        FT_OK);
    ft_store_results_commit(f->store, job, token_of(leased), &results, on_answer, &f->a);
    json_decref(expect(&f->loop, &f->a));
    json_decref(its);
    free(text);
}

static int64_t pack(const char *text, char packed[200])
{
    return (int64_t)ZSTD_compress(packed, 200, text, strlen(text), 1);
}

/* A job with a violation of the solver's, besides its plan's; the finding's id. */
static void solved(fixture *f, const char *packed, int64_t length, char job[17], char finding[32])
{
    create_job(f, job);
    json_decref(plan_job(f, job));
    json_t *leased = lease(f, job, 1);
    commit_packed(f, leased, job, packed, (size_t)length);
    int64_t n = query(f, "SELECT max(n) FROM verdicts WHERE witness IS NOT NULL");
    snprintf(finding, 32, "%s-%d", job, (int)n);
    json_decref(leased);
}

static void test_witnesses_are_kept_apart(void **state)
{
    static const char WITNESS[] = "{\"steps\":[1,2,3]}";
    fixture *f = *state;
    char job[17], packed[200], finding[32];
    store_trace(f);
    solved(f, packed, pack(WITNESS, packed), job, finding);
    ft_store_finding(f->store, finding, on_answer, &f->a);
    json_t *found = expect(&f->loop, &f->a), *witness = json_object_get(found, "witness");
    assert_int_equal(json_array_size(json_object_get(witness, "steps")), 3);
    json_decref(found);
    json_t *brief = report_of(f, job, (ft_store_filter){.brief = true}, (ft_store_page){0});
    const json_t *findings = json_object_get(brief, "findings");
    assert_true(json_array_size(findings) > 0);
    assert_null(json_object_get(json_array_get(findings, 0), "witness"));
    json_decref(brief);
}

/* What the report says of a finding: NULL if it is not in that list. New reference. */
static json_t *find_in(const json_t *report, const char *list, const char *finding)
{
    size_t i;
    json_t *each;
    json_array_foreach(json_object_get(report, list), i, each)
    {
        json_t *its =
            json_is_string(each) ? json_loads(json_string_value(each), 0, NULL) : json_incref(each);
        assert_non_null(its);
        if (strcmp(text_of(its, "finding"), finding) == 0) return its;
        json_decref(its);
    }
    return NULL;
}

static void check_damaged(const json_t *its)
{
    assert_non_null(its);
    assert_string_equal(text_of(its, "verdict"), "error");
    assert_string_equal(text_of(json_object_get(its, "reason"), "pass"), "damaged");
    assert_null(json_object_get(its, "witness"));
    assert_null(json_object_get(its, "status"));
}

static void check_damaged_report(fixture *f, const char *job, const char *finding,
                                 ft_store_filter filter)
{
    json_t *report = report_of(f, job, filter, (ft_store_page){0});
    const json_t *notes = json_object_get(report, "notes");
    const json_t *race = json_object_get(json_object_get(report, "checks"), "race");
    assert_null(find_in(report, "findings", finding));
    json_t *its = find_in(report, "undecided", finding);
    check_damaged(its);
    json_decref(its);
    assert_int_equal(json_array_size(json_object_get(report, "damaged")), 1);
    assert_string_equal(text_of(json_array_get(notes, json_array_size(notes) - 1), "code"),
                        "damaged-witness");
    assert_int_equal(json_integer_value(json_object_get(race, "error")), 1);
    json_decref(report);
}

/* One that is none, or that decays where it lies, makes its finding an error and nothing else. */
static void test_damaged_witnesses(void **state)
{
    static const char BROKEN[] = "{\"steps\":[1,2,3}";
    fixture *f = *state;
    char job[17], packed[200], finding[32];
    store_trace(f);
    for (int cut = 0; cut < 2; cut++) {
        int64_t length = pack(BROKEN, packed);
        solved(f, packed, cut ? length - 1 : length, job, finding);
        check_damaged_report(f, job, finding, (ft_store_filter){0});
        check_damaged_report(f, job, finding, (ft_store_filter){.brief = true});
        check_damaged_report(f, job, finding, (ft_store_filter){.as_text = true});
        ft_store_finding(f->store, finding, on_answer, &f->a);
        json_t *its = expect(&f->loop, &f->a);
        check_damaged(its);
        assert_int_equal(json_array_size(json_object_get(its, "damaged")), 1);
        json_decref(its);
    }
}

/* As text it is the same. */
static void test_witnesses_in_texts(void **state)
{
    static const char WITNESS[] = "{\"steps\":[1,2,3]}";
    fixture *f = *state;
    char job[17], packed[200];
    bool found = false;
    planned(f, job);
    json_t *leased = lease(f, job, 1);
    size_t length = ZSTD_compress(packed, sizeof packed, WITNESS, strlen(WITNESS), 1);
    commit_packed(f, leased, job, packed, length);
    json_t *report = report_of(f, job, (ft_store_filter){.as_text = true}, (ft_store_page){0});
    size_t i;
    json_t *text;
    json_array_foreach(json_object_get(report, "findings"), i, text)
    {
        json_t *its = json_loads(json_string_value(text), JSON_REJECT_DUPLICATES, NULL);
        assert_non_null(its);
        const json_t *witness = json_object_get(its, "witness");
        found = found || json_array_size(json_object_get(witness, "steps")) == 3;
        json_decref(its);
    }
    assert_true(found);
    json_decref(report);
    json_decref(leased);
}

static void test_report(void **state)
{
    fixture *f = *state;
    char job[17];
    planned(f, job);
    json_t *report = report_of(f, job, (ft_store_filter){0}, (ft_store_page){0});
    const json_t *properties = json_object_get(report, "properties");
    assert_int_equal(json_array_size(json_object_get(report, "findings")), 1);
    assert_null(json_object_get(report, "safe"));
    assert_int_equal(json_array_size(json_object_get(report, "notes")), 1);
    assert_int_equal(json_array_size(properties), 2);
    assert_true(json_is_null(json_object_get(json_array_get(properties, 0), "verdict")));
    json_decref(report);
    json_t *leased = lease(f, job, 3);
    json_t *broken = record("property", "property|before|p0", "violation", 1);
    json_object_set_new(broken, "property", json_integer(0));
    send_result(f->store, job, token_of(leased), task_of(leased, 2), broken, &f->a);
    json_decref(expect(&f->loop, &f->a));
    report = report_of(f, job, (ft_store_filter){.safe = true}, (ft_store_page){0});
    const json_t *first = json_array_get(json_object_get(report, "properties"), 0);
    assert_string_equal(text_of(first, "verdict"), "violation");
    assert_string_equal(text_of(first, "name"), "first");
    assert_int_equal(json_array_size(json_object_get(report, "safe")), 1);
    json_decref(report);
    json_decref(broken);
    json_decref(leased);
}

/* What is safe is on one page, the finding on the next and last. */
static void expect_two_pages(fixture *f, const char *job, uint32_t limit)
{
    const ft_store_filter all = {.safe = true};
    char cursor[32];
    json_t *page = report_of(f, job, all, (ft_store_page){.limit = limit});
    assert_int_equal(json_array_size(json_object_get(page, "safe")), 1);
    assert_int_equal(json_array_size(json_object_get(page, "findings")), 0);
    snprintf(cursor, sizeof cursor, "%s", text_of(page, "next"));
    json_decref(page);
    page = report_of(f, job, all, (ft_store_page){cursor, limit, NULL});
    assert_int_equal(json_array_size(json_object_get(page, "findings")), 1);
    assert_true(json_is_null(json_object_get(page, "next")));
    json_decref(page);
}

static void test_report_pages(void **state)
{
    fixture *f = *state;
    char job[17];
    planned(f, job);
    ft_store_filter all = {.safe = true};
    expect_two_pages(f, job, 1);
    ft_store_report(f->store, job, all, (ft_store_page){"x", 1, NULL}, on_answer, &f->a);
    expect_error(&f->loop, &f->a, FT_USAGE);
    ft_store_report(f->store, job, (ft_store_filter){.check = "x"}, (ft_store_page){0}, on_answer,
                    &f->a);
    expect_error(&f->loop, &f->a, FT_USAGE);
}

/* However many may be asked for, memory for them is limited. */
static void test_report_bytes(void **state)
{
    fixture *f = *state;
    char job[17];
    char *text = ft_calloc(FT_STORE_REPORT_MOST + 1, 1);
    store_trace(f);
    create_job(f, job);
    json_t *leased = lease(f, job, 32), *plan = make_plan();
    json_t *block = json_array_get(json_object_get(plan, "records"), 0);
    json_object_set_new(block, "text", json_string(memset(text, 'a', FT_STORE_REPORT_MOST)));
    commit_plan(f, leased, plan);
    json_decref(expect(&f->loop, &f->a));
    expect_two_pages(f, job, 0);
    json_decref(leased);
    free(text);
}

static void test_finding(void **state)
{
    fixture *f = *state;
    char job[17], id[64];
    planned(f, job);
    json_t *report = report_of(f, job, (ft_store_filter){0}, (ft_store_page){0});
    json_t *first = listed(report, "findings", 0);
    snprintf(id, sizeof id, "%s", text_of(first, "finding"));
    json_decref(first);
    json_decref(report);
    ft_store_finding(f->store, id, on_answer, &f->a);
    json_t *finding = expect(&f->loop, &f->a);
    assert_string_equal(text_of(finding, "key"), "seen");
    assert_string_equal(text_of(finding, "job"), job);
    json_decref(finding);
    static const char *const WRONG[] = {"", "-", "x-1", "0123456789abcdef-1", "0123456789abcdef-"};
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        ft_store_finding(f->store, WRONG[i], on_answer, &f->a);
        expect_error(&f->loop, &f->a, FT_NOT_FOUND);
    }
}

static void test_job_list(void **state)
{
    fixture *f = *state;
    char jobs[3][17], cursor[32];
    store_trace(f);
    for (int i = 0; i < 3; i++) create_job(f, jobs[i]);
    ft_store_jobs(f->store, (ft_store_job_filter){0}, (ft_store_page){.limit = 2}, on_answer,
                  &f->a);
    json_t *page = expect(&f->loop, &f->a);
    const json_t *rows = json_object_get(page, "jobs");
    assert_int_equal(json_array_size(rows), 2);
    assert_string_equal(text_of(json_array_get(rows, 0), "job"), jobs[2]);
    snprintf(cursor, sizeof cursor, "%s", text_of(page, "next"));
    json_decref(page);
    ft_store_jobs(f->store, (ft_store_job_filter){.state = "queued", .trace = HASH},
                  (ft_store_page){cursor, 2, NULL}, on_answer, &f->a);
    page = expect(&f->loop, &f->a);
    rows = json_object_get(page, "jobs");
    assert_int_equal(json_array_size(rows), 1);
    assert_string_equal(text_of(json_array_get(rows, 0), "job"), jobs[0]);
    json_decref(page);
    ft_store_jobs(f->store, (ft_store_job_filter){.state = "done"}, (ft_store_page){0}, on_answer,
                  &f->a);
    page = expect(&f->loop, &f->a);
    assert_int_equal(json_array_size(json_object_get(page, "jobs")), 0);
    json_decref(page);
    ft_store_jobs(f->store, (ft_store_job_filter){.state = "sleeping"}, (ft_store_page){0},
                  on_answer, &f->a);
    expect_error(&f->loop, &f->a, FT_USAGE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_witnesses_are_kept_apart),
        TEST(test_damaged_witnesses),
        TEST(test_witnesses_in_texts),
        TEST(test_report),
        TEST(test_report_pages),
        TEST(test_report_bytes),
        TEST(test_finding),
        TEST(test_job_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
