#include "store/group.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/memory.h"
#include "store/node.h"

static void fail(ft_request *request, const ft_error *err)
{
    FT_REQUIRE(err->code != FT_OK);
    request->status = err->code;
    request->err = *err;
    if (request->plan) ft_plan_spoil(request->plan);
    json_decref(request->result);
    request->result = NULL;
}

void ft_group_fail(ft_request *first, const ft_error *err)
{
    for (ft_request *r = first; r; r = r->next)
        if (r->status == FT_OK) fail(r, err);
}

/* Of a guarded request that fails nothing must stay: false where that cannot be had but by undoing
 * the transaction that it shares. */
static bool run_one(ft_sql *sql, ft_request *request, bool guarded)
{
    ft_error err = FT_ERROR_INIT;
    assert(request->status == FT_OK && (!guarded || ft_sql_in_transaction(sql)));
    ft_status status = guarded ? ft_sql_run(sql, NULL, &err, "SAVEPOINT request", "") : FT_OK;
    if (status == FT_OK) status = request->run(sql, request, &err);
    if (status == FT_OK) {
        status = ft_sql_end(sql, &err);
    } else {
        ft_error other = FT_ERROR_INIT; /* of what is undone anyway */
        ft_sql_reset(sql);
        (void)!ft_sql_settle(sql, &other);
    }
    if (status != FT_OK) {
        assert(err.code != FT_OK);
        fail(request, &err);
    }
    if (!guarded || !ft_sql_in_transaction(sql)) return true;
    ft_error undo = FT_ERROR_INIT;
    status = FT_OK;
    if (request->status != FT_OK) status = ft_sql_run(sql, NULL, &undo, "ROLLBACK TO request", "");
    if (status == FT_OK) status = ft_sql_run(sql, NULL, &undo, "RELEASE request", "");
    return status == FT_OK;
}

/* The transaction of requests that failed together; it may still be open after an earlier try. */
static void undo_all(ft_sql *sql)
{
    ft_sql_rollback(sql);
}

/* The first that writes has the transaction for itself: where it fails, a new one begins, which
 * costs less than to be able to undo it alone. */
static ft_status run_in_turn(ft_sql *sql, ft_request *request, bool *shared, ft_error *err)
{
    bool first = request->writes && !*shared;
    bool sound = run_one(sql, request, request->writes && *shared);
    if (first && request->status != FT_OK) {
        undo_all(sql);
        return ft_sql_begin(sql, err);
    }
    *shared = *shared || request->writes;
    if (sound && ft_sql_in_transaction(sql)) return FT_OK;
    return ft_sql_failed(sql, "the store rolled a transaction back", err);
}

/* Requests that share a transaction are answered alike when it cannot be committed: the reads too,
 * since they may have seen what is undone. */
static void run_together(ft_sql *sql, ft_request *first)
{
    bool shared = false; /* something was written in it */
    ft_error err = FT_ERROR_INIT;
    assert(!ft_sql_in_transaction(sql));
    ft_status status = ft_sql_begin(sql, &err);
    for (ft_request *r = first; r && status == FT_OK; r = r->next)
        status = run_in_turn(sql, r, &shared, &err);
    if (status == FT_OK) status = ft_sql_commit(sql, &err);
    assert(status != FT_OK || !ft_sql_in_transaction(sql));
    if (status == FT_OK) return;
    ft_group_fail(first, &err);
    undo_all(sql);
}

bool ft_group_run(ft_sql *sql, ft_request *first)
{
    bool writes = false;
    for (ft_request *r = first; r; r = r->next) writes = writes || r->writes;
    if (ft_sql_in_transaction(sql)) undo_all(sql);
    if (ft_sql_in_transaction(sql)) {
        ft_error err = FT_ERROR_INIT;
        (void)ft_sql_failed(sql, "the store cannot roll a transaction back", &err);
        ft_group_fail(first, &err);
    } else if (writes) {
        run_together(sql, first);
    } else {
        for (ft_request *r = first; r; r = r->next) (void)run_one(sql, r, false);
    }
    return writes;
}

/* ---- On a database that others use ----------------------------------------------------------- */

#define TRIES    6 /* after conflicts */
#define NAP_MS   10
#define NAP_MOST 1000

static bool is_hex_id(const char *text)
{
    return text && strlen(text) == FT_STORE_JOB_ID;
}

/* The jobs that the requests will change. */
static ft_status lock_jobs(ft_sql *sql, const ft_request *first, ft_error *err)
{
    json_t *ids = json_array(), *numbers = json_array(), *ms;
    const char *job;
    for (const ft_request *r = first; r; r = r->next) {
        if (is_hex_id(r->job)) json_array_append_new(ids, json_string(r->job));
        if (r->task > FT_TASK_MOST)
            json_array_append_new(numbers, json_integer((json_int_t)FT_TASK_JOB(r->task)));
        json_object_foreach(json_object_get(r->json, "spent"), job, ms)
            json_array_append_new(ids, json_string(job));
    }
    ft_status status = FT_OK;
    if (json_array_size(ids) + json_array_size(numbers) > 0)
        status = ft_node_lock_jobs(sql, ids, numbers, err);
    json_decref(ids);
    json_decref(numbers);
    return status;
}

static ft_status begin_shared(ft_sql *sql, const ft_request *first, ft_error *err)
{
    ft_status status = first->writes ? ft_sql_begin(sql, err) : ft_sql_begin_reading(sql, err);
    if (status == FT_OK && !first->writes) return ft_node_look(sql, err);
    if (status == FT_OK) status = ft_node_mark(sql, ++sql->mark, err);
    return status == FT_OK ? lock_jobs(sql, first, err) : status;
}

/* One that is alone needs no guard: its failure undoes the transaction. */
static ft_status run_all(ft_sql *sql, ft_request *first, ft_error *err)
{
    bool alone = !first->next;
    for (ft_request *r = first; r; r = r->next) {
        if (r->status != FT_OK) continue;
        bool sound = run_one(sql, r, !alone && r->writes);
        if (sql->fault != FT_SQL_SOUND || !sound) {
            *err = r->status != FT_OK ? r->err : *err;
            if (r->status == FT_OK) (void)ft_sql_failed(sql, "the store failed", err);
            return err->code;
        }
    }
    return FT_OK;
}

/* *sent: nobody knows whether it was committed, if the connection is lost. */
static ft_status try_shared(ft_sql *sql, ft_request *first, bool *sent, ft_error *err)
{
    *sent = false;
    ft_status status = begin_shared(sql, first, err);
    if (status == FT_OK) status = run_all(sql, first, err);
    if (status != FT_OK) return status;
    if (!first->next && first->status != FT_OK) {
        ft_sql_rollback(sql);
        return FT_OK;
    }
    *sent = first->writes;
    return ft_sql_commit(sql, err);
}

/* For another try; what came of a part of a plan cannot be taken back. */
static void forget(ft_request *first, const ft_error *err)
{
    for (ft_request *r = first; r; r = r->next) {
        if (r->plan) {
            if (r->status == FT_OK) fail(r, err);
            continue;
        }
        r->status = FT_OK;
        r->err = (ft_error)FT_ERROR_INIT;
        json_decref(r->result);
        r->result = NULL;
    }
}

/* Longer each time, and not the same for each node. */
static void nap(unsigned tries)
{
    unsigned char chance;
    unsigned most = NAP_MS << (tries < 7 ? tries : 7);
    if (most > NAP_MOST) most = NAP_MOST;
    if (getrandom(&chance, 1, 0) != 1) chance = 0;
    unsigned ms = most / 2 + most * chance / 512;
    const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    nanosleep(&time, NULL);
}

static ft_status dial(ft_sql *sql, ft_error *err)
{
    if (sql->fault != FT_SQL_LOST) return FT_OK;
    ft_status status = sql->driver->reconnect(sql, err);
    if (status == FT_OK) sql->fault = FT_SQL_SOUND;
    if (status == FT_OK && sql->epoch == 0) status = ft_node_register(sql, err);
    return status;
}

/* Where the connection is there again. */
static ft_status settle(ft_sql *sql, bool unsure, bool *committed, ft_error *err)
{
    *committed = false;
    ft_status status = dial(sql, err);
    if (status == FT_OK && unsure) status = ft_node_marked(sql, sql->mark, committed, err);
    return status;
}

/* Each in a transaction of its own: one that cannot succeed must not take the others along. */
static bool run_apart(ft_sql *sql, ft_request *first, bool (*patient)(void *data, bool writes),
                      void *data)
{
    bool committed = false;
    for (ft_request *r = first, *next; r; r = next) {
        next = r->next;
        r->next = NULL;
        if (r->status == FT_OK) committed = ft_group_run_shared(sql, r, patient, data) || committed;
        r->next = next;
    }
    return committed;
}

bool ft_group_run_shared(ft_sql *sql, ft_request *first, bool (*patient)(void *data, bool writes),
                         void *data)
{
    bool unsure = false, ran = false;
    for (unsigned tries = 0;; tries++) {
        bool committed, sent = false;
        ft_error err = FT_ERROR_INIT;
        ft_status status = settle(sql, unsure, &committed, &err);
        if (committed) return true;
        if (status == FT_OK) {
            if (ran) forget(first, &(ft_error){.code = FT_IO, .message = "the database was lost"});
            unsure = false;
            ran = true;
            sql->fault = FT_SQL_SOUND;
            status = try_shared(sql, first, &sent, &err);
            unsure = sent && sql->fault == FT_SQL_LOST;
        }
        if (status == FT_OK) return first->writes;
        if (sql->fault != FT_SQL_LOST) ft_sql_rollback(sql);
        if (sql->fault == FT_SQL_CONFLICT && first->next) {
            forget(first, &err);
            return run_apart(sql, first, patient, data);
        }
        bool again = sql->fault == FT_SQL_LOST ? patient(data, first->writes)
                                               : sql->fault == FT_SQL_CONFLICT && tries < TRIES;
        if (!again) {
            ft_group_fail(first, &err);
            return false;
        }
        nap(tries);
    }
}
