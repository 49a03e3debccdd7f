/* Steps of the tests of the dispatcher: a server without HTTP whose workers do as they are told
 * (service/fake_worker.h). */
#ifndef FT_TESTS_DISPATCH_SUPPORT_H
#define FT_TESTS_DISPATCH_SUPPORT_H

#include "server_support.h"

#include "base/digest.h"
#include "dispatch/dispatch.h"
#include "service/fake_worker.h"
#include "setup/log.h"

typedef struct fixture {
    uv_loop_t loop;
    ft_config config;
    ft_store *store;
    ft_dispatch *dispatch;
    char folder[64], place[PLACE_MOST], hash[FT_DIGEST_HEX + 1];
    answer a;
} fixture;

static inline void set_option(fixture *f, const char *name, const char *value)
{
    ft_error err = FT_ERROR_INIT;
    if (ft_config_set(&f->config, name, value, &err) != FT_OK) fail_msg("%s", err.message);
}

static inline void open_server(fixture *f)
{
    ft_error err = FT_ERROR_INIT;
    if (ft_store_open(&f->loop, f->place, &f->store, &err) != FT_OK ||
        ft_dispatch_open(&f->loop, &f->config, f->store, &f->dispatch, &err) != FT_OK)
        fail_msg("%s", err.message);
}

static inline void close_server(fixture *f)
{
    bool closed = false;
    ft_dispatch_close(f->dispatch, on_closed_flag, &closed);
    run_until(&f->loop, &closed);
    close_store(&f->loop, f->store);
}

static inline int setup(void **state)
{
    fixture *f = ft_calloc(1, sizeof *f);
    make_folder(f->folder);
    make_place(f->folder, f->place);
    uv_loop_init(&f->loop);
    ft_config_init(&f->config);
    ft_log_set_level(FT_LOG_ERROR);
    set_option(f, "state", f->folder);
    set_option(f, "worker", "/proc/self/exe");
    set_option(f, "workers", "2");
    set_option(f, "grace-ms", "0");
    set_option(f, "retry-ms", "2");
    setenv(FAKE_WORKER_ENVIRONMENT, f->folder, 1);
    open_server(f);
    *state = f;
    return 0;
}

static inline int teardown(void **state)
{
    fixture *f = *state;
    close_server(f);
    assert_int_equal(uv_loop_close(&f->loop), 0);
    ft_config_release(&f->config);
    remove_place(f->folder);
    remove_folder(f->folder);
    free(f);
    return 0;
}

/* ---- Uploads --------------------------------------------------------------------------------- */

typedef struct stored {
    bool done, failed, created;
    ft_error err;
    char trace[FT_DIGEST_HEX + 1];
} stored;

static inline void on_stored(void *data, const ft_error *err, const json_t *meta, bool created)
{
    stored *s = data;
    assert_false(s->done);
    s->done = true;
    s->failed = err != NULL;
    s->created = created;
    if (err) s->err = *err;
    if (!err) snprintf(s->trace, sizeof s->trace, "%s", text_of(meta, "trace"));
}

static inline ft_ingest *upload(fixture *f, const char *bytes, size_t length, stored *s)
{
    int fd;
    ft_error err = FT_ERROR_INIT;
    ft_digest digest;
    if (ft_dispatch_upload_file(f->dispatch, &fd, &err) != FT_OK) fail_msg("%s", err.message);
    assert_int_equal(write(fd, bytes, length), length);
    ft_digest_init(&digest);
    ft_digest_update(&digest, bytes, length);
    ft_digest_hex(&digest, f->hash);
    return ft_dispatch_ingest(f->dispatch, fd, length, f->hash, false, on_stored, s);
}

static inline stored upload_text(fixture *f, const char *text)
{
    stored s = {.done = false};
    upload(f, text, strlen(text), &s);
    run_until(&f->loop, &s.done);
    return s;
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

/* script: what the subproblems do, separated by spaces. members: added to the spec. Steals. */
static inline json_t *make_spec(fixture *f, const char *script, json_t *members)
{
    json_t *list = json_array();
    for (const char *at = script; *at;) {
        size_t length = strcspn(at, " ");
        json_array_append_new(list, json_stringn(at, length));
        at += length + strspn(at + length, " ");
    }
    json_t *spec = json_pack("{s:s, s:o}", "trace", f->hash, "script", list);
    if (members) json_object_update(spec, members);
    json_decref(members);
    return spec;
}

static inline void create_job(fixture *f, const char *script, json_t *members, char id[17])
{
    json_t *spec = make_spec(f, script, members);
    ft_dispatch_job_create(f->dispatch, spec, NULL, on_answer, &f->a);
    json_decref(spec);
    json_t *snapshot = expect(&f->loop, &f->a);
    snprintf(id, 17, "%s", text_of(snapshot, "job"));
    json_decref(snapshot);
}

typedef struct waiting {
    bool ended, solving;
    uint64_t revision;
} waiting;

static inline void on_changed(void *data, const char *job, uint64_t revision, ft_job_state state)
{
    (void)job;
    waiting *w = data;
    assert_true(revision >= w->revision);
    w->revision = revision;
    w->ended = w->ended || ft_job_state_final(state);
    w->solving = w->solving || state == FT_JOB_SOLVING;
}

static inline json_t *snapshot_of(fixture *f, const char *job)
{
    ft_store_job(f->store, job, on_answer, &f->a);
    return expect(&f->loop, &f->a);
}

static inline json_t *report_of(fixture *f, const char *job)
{
    ft_store_report(f->store, job, (ft_store_filter){.safe = true}, (ft_store_page){0}, on_answer,
                    &f->a);
    return expect(&f->loop, &f->a);
}

static inline bool is_final(const json_t *snapshot)
{
    ft_job_state state;
    return ft_job_state_parse(text_of(snapshot, "state"), &state) && ft_job_state_final(state);
}

/* Watches first, then looks: a change between the two is not missed. */
static inline json_t *wait_for(fixture *f, const char *job)
{
    waiting w = {.ended = false};
    ft_watch *watch = ft_dispatch_watch(f->dispatch, job, on_changed, &w);
    json_t *snapshot = snapshot_of(f, job);
    if (!is_final(snapshot)) {
        run_until(&f->loop, &w.ended);
        json_decref(snapshot);
        snapshot = snapshot_of(f, job);
    }
    ft_dispatch_unwatch(watch);
    return snapshot;
}

typedef struct tally {
    int safe, violation, unknown, error;
} tally;

/* Runs a job over `script` and checks its end: each candidate is counted once, by one record. */
static inline void check_job(fixture *f, const char *script, json_t *members, tally expected)
{
    char id[17];
    if (!upload_text(f, "good").created) assert_string_not_equal(f->hash, "");
    create_job(f, script, members, id);
    json_t *snapshot = wait_for(f, id), *report = report_of(f, id);
    const json_t *race = json_object_get(json_object_get(snapshot, "checks"), "race");
    assert_string_equal(text_of(snapshot, "state"), "done");
    assert_int_equal(number_of(race, "safe"), expected.safe);
    assert_int_equal(number_of(race, "violation"), expected.violation);
    assert_int_equal(number_of(race, "unknown"), expected.unknown);
    assert_int_equal(number_of(race, "error"), expected.error);
    assert_int_equal(number_of(race, "candidates"),
                     expected.safe + expected.violation + expected.unknown + expected.error);
    assert_int_equal(json_array_size(json_object_get(report, "safe")), expected.safe);
    assert_int_equal(json_array_size(json_object_get(report, "findings")), expected.violation);
    assert_int_equal(json_array_size(json_object_get(report, "undecided")),
                     expected.unknown + expected.error);
    json_decref(snapshot);
    json_decref(report);
}

static inline json_t *limits(int subproblem_ms, int job_ms)
{
    return json_pack("{s:{s:i, s:i}}", "budget", "subproblem_ms", subproblem_ms, "job_ms", job_ms);
}

static inline int64_t metric(const fixture *f, const char *name)
{
    json_t *metrics = ft_dispatch_metrics(f->dispatch);
    int64_t value = number_of(metrics, name);
    json_decref(metrics);
    return value;
}

#endif
