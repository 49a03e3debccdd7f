/* Whole requests while the store's files fail: server and workers in this process's own loop, the
 * client beside it. Each operation on a file fails in turn, once or from then on; every answer is
 * the right one or a 5xx, and when files work again so does everything else.
 *
 * FT_STRIDE: every how many-th fault is tried (1: each; default: some, for a run of seconds). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "api/api.h"
#include "service/daemon.h"
#include "service/fault_vfs.h"
#include "service/steps.h"
#include "setup/log.h"
#include "store/check.h"
#include "webhooks/webhooks.h"

/* ---- The server, in a thread ------------------------------------------------------------------
 */

typedef struct served {
    char folder[64], state[96];
    uv_loop_t loop;
    uv_thread_t thread;
    uv_sem_t ready;
    uv_async_t end;
    ft_config config;
    ft_app app;
    ft_api *api;
    bool good;
} served;

static void on_store_closed(void *data)
{
    ((served *)data)->app.store = NULL;
}

static void on_dispatch_closed(void *data)
{
    served *s = data;
    ft_store_close(s->app.store, on_store_closed, s);
}

static void on_api_closed(void *data)
{
    served *s = data;
    ft_webhooks_free(s->app.webhooks);
    ft_dispatch_close(s->app.dispatch, on_dispatch_closed, s);
}

static void on_end(uv_async_t *async)
{
    served *s = async->data;
    uv_close((uv_handle_t *)async, NULL);
    ft_api_close(s->api, on_api_closed, s);
}

static void start_all(served *s)
{
    ft_error err = FT_ERROR_INIT;
    s->app = (ft_app){.loop = &s->loop, .config = &s->config};
    ft_status status = ft_store_open(&s->loop, s->state, &s->app.store, &err);
    if (status == FT_OK)
        status = ft_dispatch_open(&s->loop, &s->config, s->app.store, &s->app.dispatch, &err);
    if (status == FT_OK) s->app.webhooks = ft_webhooks_new(&s->app);
    if (status == FT_OK) status = ft_api_open(&s->app, &s->api, &err);
    s->good = status == FT_OK;
    if (!s->good) fprintf(stderr, "%s\n", err.message);
}

static void serve(void *data)
{
    served *s = data;
    uv_loop_init(&s->loop);
    uv_async_init(&s->loop, &s->end, on_end);
    s->end.data = s;
    start_all(s);
    uv_sem_post(&s->ready);
    if (s->good) uv_run(&s->loop, UV_RUN_DEFAULT);
    s->good = s->good && uv_loop_close(&s->loop) == 0;
}

static void set(served *s, const char *name, const char *value)
{
    assert_int_equal(ft_config_set(&s->config, name, value, NULL), FT_OK);
}

static void open_server(served *s, ft_daemon *client)
{
    bool memory = access("/dev/shm", W_OK) == 0;
    *s = (served){.good = false};
    snprintf(s->folder, sizeof s->folder, "%s/foretell-test-XXXXXX", memory ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(s->folder));
    snprintf(s->state, sizeof s->state, "%s/state", s->folder);
    ft_config_init(&s->config);
    set(s, "state", s->state);
    set(s, "listen", "127.0.0.1:0");
    set(s, "workers", "1");
    uv_sem_init(&s->ready, 0);
    uv_thread_create(&s->thread, serve, s);
    uv_sem_wait(&s->ready);
    assert_true(s->good);
    *client = (ft_daemon){.port = ft_api_port(s->api)};
    snprintf(client->folder, sizeof client->folder, "%s", s->folder);
}

static void close_server(served *s, ft_daemon *client, const char *when)
{
    ft_strbuf path = {0};
    ft_error err = FT_ERROR_INIT;
    uv_async_send(&s->end);
    uv_thread_join(&s->thread);
    if (!s->good) fail_msg("%s: something is left in the loop", when);
    uv_sem_destroy(&s->ready);
    ft_strbuf_printf(&path, "%s/foretell.db", s->state);
    if (ft_store_check_file(path.text, &err) != FT_OK) fail_msg("%s: %s", when, err.message);
    ft_strbuf_release(&path);
    ft_config_release(&s->config);
    ft_daemon_remove(client);
}

/* ---- The client -------------------------------------------------------------------------------
 */

/* One of the two, or, while files fail, a 5xx with a problem that says why. */
static bool answered(ft_answer *answer, long one, long other, bool faults, const char *what)
{
    long status = answer->status;
    bool good = status == one || status == other;
    bool told = status >= 500 && *ft_answer_text(answer, "detail");
    if (!good && !(faults && told))
        fail_msg("%s: %ld %s", what, status, ft_strbuf_text(&answer->body));
    return good;
}

static bool upload(const ft_daemon *client, bool faults, char hash[FT_DIGEST_HEX + 1])
{
    ft_answer answer = ft_daemon_post(client, "/v1/traces", FT_STEPS_RACY);
    bool good = answered(&answer, 201, 200, faults, "upload");
    if (good) snprintf(hash, FT_DIGEST_HEX + 1, "%s", ft_answer_text(&answer, "trace"));
    ft_answer_release(&answer);
    return good;
}

static bool create(const ft_daemon *client, const char *hash, bool faults, char job[64])
{
    char body[256];
    const char *headers[] = {"Idempotency-Key: one", NULL};
    snprintf(body, sizeof body, "{\"trace\":\"%s\",\"checks\":[\"race\"]}", hash);
    ft_answer answer = ft_daemon_call(client, "POST", "/v1/jobs", headers, body, strlen(body));
    bool good = answered(&answer, 202, 200, faults, "job");
    if (good) snprintf(job, 64, "%s", ft_answer_text(&answer, "job"));
    ft_answer_release(&answer);
    return good;
}

static void get(const ft_daemon *client, const char *format, const char *job, const char *header)
{
    char path[128];
    const char *headers[] = {header, NULL};
    int length = snprintf(path, sizeof path, "/v1/jobs/%s", job);
    snprintf(path + length, sizeof path - (size_t)length, "%s", format);
    ft_answer answer = ft_daemon_call(client, "GET", path, headers, NULL, 0);
    (void)answered(&answer, 200, 304, true, path);
    ft_answer_release(&answer);
}

static void live_with_faults(const ft_daemon *client)
{
    char hash[FT_DIGEST_HEX + 1], job[64];
    if (!upload(client, true, hash) || !create(client, hash, true, job)) return;
    get(client, "", job, "Prefer: wait=1");
    get(client, "/findings?safe=1", job, NULL);
    get(client, "/report?format=sarif", job, NULL);
}

/* One race, as steps.h says: not a word of it may be lost. */
static void live_well(const ft_daemon *client, const char *when)
{
    char hash[FT_DIGEST_HEX + 1], job[64], path[128];
    (void)upload(client, false, hash);
    (void)create(client, hash, false, job);
    json_t *snapshot = ft_daemon_finish(client, job, NULL, NULL);
    if (strcmp(json_string_value(json_object_get(snapshot, "state")), "done") != 0)
        fail_msg("%s: the job fails", when);
    json_decref(snapshot);
    snprintf(path, sizeof path, "/v1/jobs/%s/findings", job);
    ft_answer answer = ft_daemon_get(client, path);
    (void)answered(&answer, 200, 200, false, path);
    assert_int_equal(ft_steps_count(answer.json, "race", "violation"), 1);
    ft_steps_counts_add_up(answer.json);
    ft_answer_release(&answer);
}

/* The number of operations that the client's doings took. */
static uint64_t bad_day(uint64_t nth, bool stays)
{
    served s;
    ft_daemon client;
    char when[64];
    snprintf(when, sizeof when, "fault %llu%s", (unsigned long long)nth, stays ? " on" : "");
    open_server(&s, &client);
    ft_fault_vfs_fail(nth, stays);
    live_with_faults(&client);
    uint64_t count = ft_fault_vfs_count();
    ft_fault_vfs_fail(0, false);
    live_well(&client, when);
    close_server(&s, &client, when);
    return count;
}

static void test_requests(void **state)
{
    (void)state;
    const char *text = getenv("FT_STRIDE");
    uint64_t by = text ? strtoull(text, NULL, 10) : 29, days = 0;
    uint64_t all = bad_day(0, false);
    for (uint64_t nth = 1; nth <= all; nth += by ? by : 1, days++) {
        (void)bad_day(nth, false);
        (void)bad_day(nth, true);
    }
    print_message("%llu of some %llu faults\n", (unsigned long long)days, (unsigned long long)all);
    assert_true(days > 3);
}

/* What cannot be stored is refused as what it is, and when to come again is told. */
static void refused_as_full(ft_answer answer, const char *what)
{
    const char *after = ft_answer_header(&answer, "Retry-After");
    if (answer.status != 507 || strcmp(ft_answer_text(&answer, "code"), "storage-full") != 0 ||
        !after || strtol(after, NULL, 10) < 1 || !*ft_answer_text(&answer, "detail"))
        fail_msg("%s: %ld %s", what, answer.status, ft_strbuf_text(&answer.body));
    ft_answer_release(&answer);
}

static void test_full_disk(void **state)
{
    (void)state;
    served s;
    ft_daemon client;
    char hash[FT_DIGEST_HEX + 1], path[128], body[256];
    open_server(&s, &client);
    assert_true(upload(&client, false, hash));
    snprintf(body, sizeof body, "{\"trace\":\"%s\",\"checks\":[\"race\"]}", hash);
    snprintf(path, sizeof path, "/v1/traces/%s", hash);
    ft_fault_vfs_fill(true);
    refused_as_full(ft_daemon_post(&client, "/v1/traces", "T1|w(x)|a.c:1\n"), "upload");
    refused_as_full(ft_daemon_post(&client, "/v1/jobs", body), "job");
    ft_answer answer = ft_daemon_get(&client, path);
    assert_int_equal(answer.status, 200);
    ft_answer_release(&answer);
    ft_fault_vfs_fill(false);
    live_well(&client, "room again");
    close_server(&s, &client, "full disk");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_requests),
                                       cmocka_unit_test(test_full_disk)};
    ft_log_set_level(FT_LOG_LEVELS); /* errors are what is made here */
    ft_fault_vfs_install();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ft_fault_vfs_remove();
    return failed;
}
