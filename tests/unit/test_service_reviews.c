/* The daemon from outside: findings from run to run, and reports in every format. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/strbuf.h"
#include "report/report.h"
#include "service/steps.h"

/* The racy trace of steps.h, its job in this project; the job's id and the race's record. */
static json_t *race_in(const char *project, char job[64])
{
    char hash[FT_DIGEST_HEX + 1], members[160], path[128];
    ft_steps_upload(FT_STEPS_RACY, hash);
    snprintf(members, sizeof members,
             "\"checks\":[\"race\"],\"model\":\"observed\",\"project\":\"%s\"", project);
    ft_steps_create(hash, members, job);
    json_decref(ft_daemon_finish(&ft_steps_server, job, NULL, NULL));
    snprintf(path, sizeof path, "/v1/jobs/%s/findings", job);
    ft_answer answer = ft_daemon_get(&ft_steps_server, path);
    ft_steps_expect(&answer, 200, path);
    json_t *record = json_incref(json_array_get(json_object_get(answer.json, "findings"), 0));
    ft_answer_release(&answer);
    assert_non_null(record);
    return record;
}

static const char *review_text(const json_t *record, const char *member)
{
    return ft_json_text(json_object_get(record, "review"), member, "");
}

static ft_answer put(const char *path, const char *body)
{
    static const char *const JSON[] = {"Content-Type: application/json", NULL};
    return ft_daemon_call(&ft_steps_server, "PUT", path, JSON, body, strlen(body));
}

static void put_review(const char *print, const char *project, const char *body, long status)
{
    char path[160];
    snprintf(path, sizeof path, "/v1/reviews/%s?project=%s", print, project);
    ft_answer answer = put(path, body);
    ft_steps_expect(&answer, status, body);
    ft_answer_release(&answer);
}

static void reviews_go_from_job_to_job(void **state)
{
    (void)state;
    char first[64], second[64], third[64];
    json_t *record = race_in("carry", first);
    const char *print = ft_json_text(record, "fingerprint", "");
    assert_string_equal(review_text(record, "state"), "open");
    assert_string_equal(review_text(record, "first_job"), first);
    put_review(print, "carry", "{\"state\":\"confirmed\",\"reason\":\"seen it\"}", 200);
    json_t *again = race_in("carry", second);
    assert_string_equal(ft_json_text(again, "fingerprint", ""), print);
    assert_string_equal(review_text(again, "state"), "confirmed");
    assert_string_equal(review_text(again, "reason"), "seen it");
    assert_string_equal(review_text(again, "first_job"), first);
    assert_string_equal(review_text(again, "last_job"), second);
    put_review(print, "carry", "{\"state\":\"fixed\"}", 200);
    json_t *back = race_in("carry", third);
    assert_string_equal(review_text(back, "state"), "open");
    assert_int_equal(ft_json_count(json_object_get(back, "review"), "jobs"), 3);
    json_decref(record);
    json_decref(again);
    json_decref(back);
}

static void projects_have_reviews_of_their_own(void **state)
{
    (void)state;
    char one[64], other[64];
    json_t *record = race_in("team/one", one);
    put_review(ft_json_text(record, "fingerprint", ""), "team/one", "{\"state\":\"false\"}", 200);
    json_t *second = race_in("team/other", other);
    assert_string_equal(review_text(second, "state"), "open");
    put_review(ft_json_text(record, "fingerprint", ""), "nobody", "{\"state\":\"false\"}", 404);
    json_decref(record);
    json_decref(second);
}

static void bad_reviews_are_refused(void **state)
{
    (void)state;
    char job[64], long_one[2200];
    static const char *const BODIES[] = {"{}",
                                         "{\"state\":\"maybe\"}",
                                         "{\"state\":1}",
                                         "[]",
                                         "{\"state\":\"open\",\"reason\":7}",
                                         "{\"state\":\"open\",\"who\":\"me\"}"};
    json_t *record = race_in("bad", job);
    const char *print = ft_json_text(record, "fingerprint", "");
    for (size_t i = 0; i < sizeof BODIES / sizeof *BODIES; i++)
        put_review(print, "bad", BODIES[i], 422);
    memset(long_one, 'x', sizeof long_one);
    ft_strbuf body = {0};
    ft_strbuf_printf(&body, "{\"state\":\"open\",\"reason\":\"%.2100s\"}", long_one);
    put_review(print, "bad", body.text, 422);
    ft_strbuf_release(&body);
    json_decref(record);
}

static void lists_come_in_pages(void **state)
{
    (void)state;
    char job[64];
    json_decref(race_in("pages", job));
    ft_answer all = ft_daemon_get(&ft_steps_server, "/v1/reviews?project=pages&state=open");
    ft_steps_expect(&all, 200, "list");
    const json_t *list = json_object_get(all.json, "reviews");
    assert_int_equal(json_array_size(list), 1);
    assert_string_equal(ft_json_text(json_array_get(list, 0), "check", ""), "race");
    ft_answer none = ft_daemon_get(&ft_steps_server, "/v1/reviews?project=pages&state=fixed");
    assert_int_equal(json_array_size(json_object_get(none.json, "reviews")), 0);
    ft_answer bad = ft_daemon_get(&ft_steps_server, "/v1/reviews?state=nonsense");
    ft_steps_expect(&bad, 400, "state");
    ft_answer_release(&all);
    ft_answer_release(&none);
    ft_answer_release(&bad);
}

/* ---- /v1/jobs/{job}/report ------------------------------------------------------------------- */

static ft_answer view(const char *job, const char *query, const char *accept, const char *etag)
{
    char path[160], accept_line[160], etag_line[160];
    const char *headers[3] = {0};
    size_t count = 0;
    snprintf(path, sizeof path, "/v1/jobs/%s/report%s", job, query);
    snprintf(accept_line, sizeof accept_line, "Accept: %s", accept ? accept : "");
    snprintf(etag_line, sizeof etag_line, "If-None-Match: %s", etag ? etag : "");
    if (accept) headers[count++] = accept_line;
    if (etag) headers[count++] = etag_line;
    return ft_daemon_call(&ft_steps_server, "GET", path, headers, NULL, 0);
}

static void formats_by_query_and_by_accept(void **state)
{
    (void)state;
    char job[64];
    json_decref(race_in("views", job));
    for (unsigned i = 0; i < FT_REPORT_FORMATS; i++) {
        char query[64];
        const char *media = ft_report_format_media((ft_report_format)i);
        snprintf(query, sizeof query, "?format=%s", ft_report_format_name((ft_report_format)i));
        ft_answer asked = view(job, query, NULL, NULL), accepted = view(job, "", media, NULL);
        ft_steps_expect(&asked, 200, query);
        ft_steps_expect(&accepted, 200, media);
        const char *type = ft_answer_header(&asked, "Content-Type");
        if (strncmp(type, media, strlen(media)) != 0) fail_msg("%s: %s", query, type);
        assert_string_equal(ft_strbuf_text(&asked.body), ft_strbuf_text(&accepted.body));
        assert_true(asked.body.len > 50);
        ft_answer_release(&asked);
        ft_answer_release(&accepted);
    }
    ft_answer none = view(job, "", "image/png", NULL), bad = view(job, "?format=png", NULL, NULL),
              gone = view("0000000000000000", "", NULL, NULL);
    ft_steps_expect(&none, 406, "image/png");
    ft_steps_expect(&bad, 400, "format=png");
    ft_steps_expect(&gone, 404, "no job");
    ft_answer_release(&none);
    ft_answer_release(&bad);
    ft_answer_release(&gone);
}

/* A review changes what the report says, and so its ETag, though the job has not changed. */
static void etags_change_with_reviews(void **state)
{
    (void)state;
    char job[64], etag[128];
    json_t *record = race_in("etags", job);
    ft_answer first = view(job, "?format=json", NULL, NULL);
    snprintf(etag, sizeof etag, "%s", ft_answer_header(&first, "ETag"));
    ft_answer same = view(job, "?format=json", NULL, etag);
    ft_steps_expect(&same, 304, "unchanged");
    put_review(ft_json_text(record, "fingerprint", ""), "etags", "{\"state\":\"false\"}", 200);
    ft_answer changed = view(job, "?format=json", NULL, etag);
    ft_steps_expect(&changed, 200, "reviewed");
    assert_non_null(strstr(ft_strbuf_text(&changed.body), "\"state\": \"false\""));
    ft_answer_release(&first);
    ft_answer_release(&same);
    ft_answer_release(&changed);
    json_decref(record);
}

/* A page of findings runs nothing and asks for nothing. */
static void pages_are_confined(void **state)
{
    (void)state;
    char job[64];
    json_decref(race_in("pages", job));
    ft_answer page = view(job, "?format=html", NULL, NULL);
    const char *policy = ft_answer_header(&page, "Content-Security-Policy");
    assert_non_null(policy);
    assert_non_null(strstr(policy, "default-src 'none'"));
    ft_answer_release(&page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reviews_go_from_job_to_job),
        cmocka_unit_test(projects_have_reviews_of_their_own),
        cmocka_unit_test(bad_reviews_are_refused),
        cmocka_unit_test(lists_come_in_pages),
        cmocka_unit_test(formats_by_query_and_by_accept),
        cmocka_unit_test(etags_change_with_reviews),
        cmocka_unit_test(pages_are_confined),
    };
    return cmocka_run_group_tests(tests, ft_steps_start, ft_steps_stop);
}
