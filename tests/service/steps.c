#include "service/steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

ft_daemon ft_steps_server;

int ft_steps_start(void **state)
{
    (void)state;
    return ft_daemon_start(&ft_steps_server) ? 0 : -1;
}

int ft_steps_stop(void **state)
{
    (void)state;
    bool clean = ft_daemon_stop(&ft_steps_server);
    ft_daemon_remove(&ft_steps_server);
    return clean ? 0 : -1;
}

void ft_steps_hash(const void *data, size_t length, char hex[FT_DIGEST_HEX + 1])
{
    ft_digest digest;
    ft_digest_init(&digest);
    ft_digest_update(&digest, data, length);
    ft_digest_hex(&digest, hex);
}

void ft_steps_expect(const ft_answer *answer, long status, const char *what)
{
    if (answer->status != status)
        fail_msg("%s: expected %ld, got %ld: %s", what, status, answer->status,
                 ft_strbuf_text(&answer->body));
}

void ft_steps_upload(const char *text, char hash[FT_DIGEST_HEX + 1])
{
    ft_steps_hash(text, strlen(text), hash);
    ft_answer answer = ft_daemon_post(&ft_steps_server, "/v1/traces", text);
    if (answer.status != 200) ft_steps_expect(&answer, 201, "upload");
    assert_string_equal(ft_answer_text(&answer, "trace"), hash);
    ft_answer_release(&answer);
}

void ft_steps_create(const char *trace, const char *members, char job[64])
{
    char body[2048];
    snprintf(body, sizeof body, "{\"trace\":\"%s\"%s%s}", trace, *members ? "," : "", members);
    ft_answer answer = ft_daemon_post(&ft_steps_server, "/v1/jobs", body);
    ft_steps_expect(&answer, 202, body);
    snprintf(job, 64, "%s", ft_answer_text(&answer, "job"));
    assert_int_not_equal(strlen(job), 0);
    ft_answer_release(&answer);
}

json_t *ft_steps_report(const char *trace, const char *members, const char *state)
{
    char job[64], path[128];
    ft_steps_create(trace, members, job);
    json_t *snapshot = ft_daemon_finish(&ft_steps_server, job, NULL, NULL);
    assert_non_null(snapshot);
    assert_string_equal(json_string_value(json_object_get(snapshot, "state")), state);
    json_decref(snapshot);
    snprintf(path, sizeof path, "/v1/jobs/%s/findings?safe=1", job);
    ft_answer answer = ft_daemon_get(&ft_steps_server, path);
    ft_steps_expect(&answer, 200, path);
    json_t *report = json_incref(answer.json);
    ft_answer_release(&answer);
    return report;
}

long long ft_steps_count(const json_t *report, const char *check, const char *member)
{
    return json_integer_value(
        json_object_get(json_object_get(json_object_get(report, "checks"), check), member));
}

void ft_steps_counts_add_up(const json_t *report)
{
    static const char *const PARTS[] = {"violation", "safe", "bounded", "unknown", "error"};
    const char *check;
    json_t *counts;
    json_object_foreach(json_object_get(report, "checks"), check, counts)
    {
        long long sum = 0;
        for (size_t i = 0; i < 5; i++) sum += ft_steps_count(report, check, PARTS[i]);
        assert_int_equal(sum, ft_steps_count(report, check, "candidates"));
    }
}
