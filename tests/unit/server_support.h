/* What the tests of store and dispatcher share: a loop that runs until an answer is there, a state
 * folder of their own, and small documents. */
#ifndef FT_TESTS_SERVER_SUPPORT_H
#define FT_TESTS_SERVER_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/strbuf.h"
#include "store/check.h"
#include "store/sql.h"
#include "store/store.h"

#define PATIENCE_MS 120000 /* a test that waits longer has failed */

typedef struct answer {
    bool done, failed;
    ft_error err;
    json_t *result;
} answer;

static void on_answer(void *data, const ft_error *err, json_t *result)
{
    answer *a = data;
    assert_false(a->done);
    a->done = true;
    a->failed = err != NULL;
    if (err) a->err = *err;
    a->result = json_incref(result);
}

static void on_patience(uv_timer_t *timer)
{
    (void)timer;
    fprintf(stderr, "nothing happened for two minutes\n");
    abort();
}

/* Runs the loop until *flag; never sleeps, gives up after a minute. */
static void run_until(uv_loop_t *loop, const bool *flag)
{
    uv_timer_t guard;
    uv_timer_init(loop, &guard);
    uv_update_time(loop); /* the test may have been away for long */
    uv_timer_start(&guard, on_patience, PATIENCE_MS, 0);
    while (!*flag) uv_run(loop, UV_RUN_ONCE);
    uv_close((uv_handle_t *)&guard, NULL);
    uv_run(loop, UV_RUN_NOWAIT);
}

/* The result of a request that must succeed; the caller's reference. */
static inline json_t *expect(uv_loop_t *loop, answer *a)
{
    run_until(loop, &a->done);
    if (a->failed) fail_msg("%s: %s", ft_status_name(a->err.code), a->err.message);
    json_t *result = a->result;
    *a = (answer){.done = false};
    return result;
}

/* Of one that must fail with this code. */
static inline void expect_error(uv_loop_t *loop, answer *a, ft_status code)
{
    run_until(loop, &a->done);
    assert_true(a->failed);
    assert_string_equal(ft_status_name(a->err.code), ft_status_name(code));
    *a = (answer){.done = false};
}

static void on_closed_flag(void *data)
{
    *(bool *)data = true;
}

static inline void close_store(uv_loop_t *loop, ft_store *store)
{
    bool closed = false;
    ft_store_close(store, on_closed_flag, &closed);
    run_until(loop, &closed);
}

static inline void make_folder(char folder[64])
{
    snprintf(folder, 64, "/tmp/foretell-test-XXXXXX");
    assert_non_null(mkdtemp(folder));
}

static void remove_folder(const char *folder)
{
    ft_strbuf command = {0};
    ft_strbuf_printf(&command, "rm -rf '%s'", folder);
    assert_int_equal(system(command.text), 0);
    ft_strbuf_release(&command);
}

/* ---- Where the store is ---------------------------------------------------------------------- */

#define PLACE_MOST 512

/* The name of a schema of its own in the database of tests/postgres/with. */
static inline void schema_of(const char *folder, char name[32])
{
    snprintf(name, 32, "t_%s", strrchr(folder, '-') + 1);
}

static inline void execute_at(const char *place, const char *text)
{
    ft_sql sql = {.driver = NULL};
    ft_error err = FT_ERROR_INIT;
    ft_status status = ft_sql_open_existing(&sql, place, &err);
    if (status == FT_OK) status = ft_sql_script(&sql, text, &err);
    if (status != FT_OK) fail_msg("%s", err.message);
    ft_sql_close(&sql);
}

/* A store of this folder's own: in it, or where tests/postgres/with runs, in a schema there. */
static inline void make_place(const char *folder, char place[PLACE_MOST])
{
    const char *address = getenv("FT_TEST_POSTGRES");
    char schema[32], text[80];
    snprintf(place, PLACE_MOST, "%s", folder);
    if (!address) return;
    schema_of(folder, schema);
    snprintf(text, sizeof text, "CREATE SCHEMA \"%s\"", schema);
    execute_at(address, text);
    snprintf(place, PLACE_MOST, "%s&options=-csearch_path%%3D%%22%s%%22", address, schema);
}

static inline void remove_place(const char *folder)
{
    const char *address = getenv("FT_TEST_POSTGRES");
    char schema[32], text[80];
    if (!address) return;
    schema_of(folder, schema);
    snprintf(text, sizeof text, "DROP SCHEMA IF EXISTS \"%s\" CASCADE", schema);
    execute_at(address, text);
}

static inline void database_of(const char *place, ft_strbuf *path)
{
    ft_strbuf_printf(path, "%s%s", place, ft_sql_is_address(place) ? "" : "/foretell.db");
}

static inline ft_status check_at(const char *place, ft_error *err)
{
    ft_strbuf path = {0};
    database_of(place, &path);
    ft_status status = ft_store_check_file(path.text, err);
    ft_strbuf_release(&path);
    return status;
}

/* The database of a place: what another program opens. */
static inline void open_at(const char *place, ft_sql *sql)
{
    ft_error err = FT_ERROR_INIT;
    ft_strbuf path = {0};
    *sql = (ft_sql){.driver = NULL};
    database_of(place, &path);
    if (ft_sql_open_existing(sql, path.text, &err) != FT_OK) fail_msg("%s", err.message);
    ft_strbuf_release(&path);
}

static inline void change_at(const char *place, const char *text)
{
    ft_sql sql;
    ft_error err = FT_ERROR_INIT;
    open_at(place, &sql);
    if (ft_sql_script(&sql, text, &err) != FT_OK) fail_msg("%s", err.message);
    ft_sql_close(&sql);
}

/* What the database itself holds, read behind the store's back. */
static inline int64_t number_at(const char *place, const char *text)
{
    ft_sql sql;
    int64_t value = 0;
    ft_error err = FT_ERROR_INIT;
    open_at(place, &sql);
    if (ft_sql_number(&sql, &value, NULL, &err, text, "") != FT_OK) fail_msg("%s", err.message);
    ft_sql_close(&sql);
    return value;
}

static inline const char *text_of(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));
    return text ? text : "";
}

static inline int64_t number_of(const json_t *object, const char *member)
{
    const json_t *value = json_object_get(object, member);
    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

/* Commits [{"task", "record"}...]; takes `results`. */
static inline void send_results(ft_store *store, const char *job, uint64_t token, json_t *results,
                                answer *a)
{
    size_t i;
    json_t *item;
    ft_results taken = {.items = NULL};
    json_array_foreach(results, i, item)
    {
        ft_error err = FT_ERROR_INIT;
        char *text = json_dumps(json_object_get(item, "record"), JSON_COMPACT);
        int64_t task = (int64_t)json_integer_value(json_object_get(item, "task"));
        if (ft_results_add(&taken, task, text, strlen(text), NULL, 0, &err) != FT_OK)
            fail_msg("%s", err.message);
        free(text);
    }
    json_decref(results);
    ft_store_results_commit(store, job, token, &taken, on_answer, a);
}

/* The same for one. */
static inline void send_result(ft_store *store, const char *job, uint64_t token, int64_t task,
                               json_t *record, answer *a)
{
    send_results(store, job, token,
                 json_pack("[{s:I, s:O}]", "task", (json_int_t)task, "record", record), a);
}

#endif
