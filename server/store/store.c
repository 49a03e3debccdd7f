#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/strbuf.h"
#include "store/cache.h"
#include "store/check.h"
#include "store/group.h"
#include "store/internal.h"
#include "store/migrations.h"
#include "store/node.h"

/* So many requests share one commit at most: bounds the wait of the first of them. */
#define GROUP 64
/* So long requests wait for a shared database that does not answer. */
#define READ_PATIENCE_MS  3000
#define WRITE_PATIENCE_MS 60000
#define CLOSING_MS        2000
#define HURRY_MS          5000 /* for an answer, of a process that ends */
#define HUNG_MS           3000 /* without an answer the database counts as away */
#define LOCK_MS           3000 /* that a daemon waits for the state folder */

typedef struct list {
    ft_request *first, **end;
} list;

struct ft_store {
    ft_sql sql;
    int lock;     /* descriptor of the lock file */
    bool unclean; /* the run before this one */
    uv_thread_t thread;
    uv_mutex_t mutex;
    uv_cond_t wake;
    uv_async_t answered;
    uv_prepare_t turn; /* the loop is about to wait: what it asked for is handed over */
    uv_timer_t hurry;  /* of a process that ends: is there still an answer to come? */
    unsigned handles;  /* not closed */

    /* Under the mutex. */
    list waiting, done;
    list lengthy; /* those of `waiting` that take long: one at a time, in turns with the others */
    bool closing, ended;
    bool hurried; /* the process ends: see ft_store_hurry */
    uint64_t
        away; /* milliseconds of some clock: since when the database does not answer; 0: it does */
    uint64_t asked; /* by the same clock: since when the database has a question; 0: it has none */
    uint64_t commits, requests;
    struct heard *heard; /* that other nodes said */

    char *place;
    ft_listener *listener; /* NULL: nobody listens */
    bool unheard;          /* of the loop: news are dropped */
    int64_t node;          /* the own one; under the mutex */
    void (*news)(void *data, const json_t *change);
    void *news_data;
    void (*closed)(void *data);
    void *closed_data;
};

static void list_init(list *l)
{
    l->first = NULL;
    l->end = &l->first;
}

static void list_add(list *l, ft_request *request)
{
    request->next = NULL;
    *l->end = request;
    l->end = &request->next;
}

bool ft_store_was_unclean(const ft_store *store)
{
    return store->unclean;
}

bool ft_store_is_address(const char *place)
{
    return ft_sql_is_address(place);
}

int ft_store_schema_version(void)
{
    return ft_migration_count();
}

static void request_free(ft_request *request)
{
    free(request->job);
    free(request->other);
    free(request->third);
    free(request->bytes);
    ft_results_release(&request->results);
    ft_plan_drop(request->plan);
    json_decref(request->json);
    json_decref(request->result);
    free(request);
}

static void request_answer(ft_request *request)
{
    const ft_error *err = request->status == FT_OK ? NULL : &request->err;
    assert((request->status == FT_OK) == (request->err.code == FT_OK));
    if (request->chunk_done) {
        request->chunk_done(request->data, err, request->bytes, request->length, request->last);
    } else if (request->done) {
        request->done(request->data, err, err ? NULL : request->result);
    }
    request_free(request);
}

/* ---- The store's thread ---------------------------------------------------------------------- */

/* Takes up to `most` requests off a queue; alike: all of them write, or none does. */
static ft_request *take(list *l, unsigned most, bool alike, unsigned *taken)
{
    ft_request *first = l->first, *last = first;
    for (*taken = 1; *taken < most && last->next; ++*taken) {
        if (alike && last->next->writes != first->writes) break;
        last = last->next;
    }
    assert(*taken >= 1 && *taken <= most);
    l->first = last->next;
    if (!last->next) l->end = &l->first;
    last->next = NULL;
    return first;
}

/* The requests that run next; called with the mutex held. */
static ft_request *take_group(ft_store *store, bool after_lengthy, unsigned *taken)
{
    bool lengthy = store->lengthy.first && !(after_lengthy && store->waiting.first);
    bool alike = store->sql.driver->shared;
    return take(lengthy ? &store->lengthy : &store->waiting, lengthy ? 1 : GROUP, alike, taken);
}

/* Whether a request may go on waiting for a database that is away. */
static bool patient(void *data, bool writes)
{
    ft_store *store = data;
    uint64_t now = uv_hrtime() / 1000000;
    uv_mutex_lock(&store->mutex);
    if (!store->away) store->away = now;
    bool ends = store->closing || store->hurried;
    uint64_t most = ends ? CLOSING_MS : writes ? WRITE_PATIENCE_MS : READ_PATIENCE_MS;
    bool may = now - store->away < most;
    uv_mutex_unlock(&store->mutex);
    return may;
}

/* Whether the database is to be asked: that of a process that ends is not looked for again. */
static bool begin_asking(ft_store *store)
{
    uv_mutex_lock(&store->mutex);
    bool asks = !store->hurried || !store->away;
    if (asks) store->asked = uv_hrtime() / 1000000;
    uv_mutex_unlock(&store->mutex);
    return asks;
}

static void end_asking(ft_store *store)
{
    uv_mutex_lock(&store->mutex);
    if (store->sql.fault != FT_SQL_LOST) store->away = 0;
    store->node = store->sql.epoch;
    store->asked = 0;
    uv_mutex_unlock(&store->mutex);
}

static void fail_away(ft_request *group)
{
    ft_error err = FT_ERROR_INIT;
    (void)ft_error_set(&err, FT_IO, "the database does not answer");
    ft_group_fail(group, &err);
}

static bool run_group(ft_store *store, ft_request *group)
{
    if (!store->sql.driver->shared) return ft_group_run(&store->sql, group);
    if (!begin_asking(store)) {
        fail_away(group);
        return false;
    }
    bool committed = ft_group_run_shared(&store->sql, group, patient, store);
    end_asking(store);
    return committed;
}

/* Where this fails, the next start looks more closely, or the leases run out: no harm. */
static void leave(ft_store *store)
{
    ft_sql *sql = &store->sql;
    ft_error ignored = FT_ERROR_INIT;
    if (!sql->driver->shared) {
        (void)!ft_sql_run(sql, NULL, &ignored, "UPDATE counters SET running = 0", "");
        return;
    }
    if (sql->fault == FT_SQL_LOST || !begin_asking(store)) return;
    (void)!ft_node_leave(sql, &ignored);
    end_asking(store);
}

static void thread_main(void *argument)
{
    ft_store *store = argument;
    bool lengthy = false;
    uv_mutex_lock(&store->mutex);
    while (store->waiting.first || store->lengthy.first || !store->closing) {
        if (!store->waiting.first && !store->lengthy.first) {
            uv_cond_wait(&store->wake, &store->mutex);
            continue;
        }
        unsigned taken;
        ft_request *group = take_group(store, lengthy, &taken);
        lengthy = group->lengthy;
        uv_mutex_unlock(&store->mutex);
        bool committed = run_group(store, group);
        uv_mutex_lock(&store->mutex);
        store->requests += taken;
        store->commits += committed;
        for (ft_request *next; group; group = next) {
            next = group->next;
            list_add(&store->done, group);
        }
        uv_async_send(&store->answered);
    }
    uv_mutex_unlock(&store->mutex);
    leave(store);
    uv_mutex_lock(&store->mutex);
    store->ended = true;
    uv_async_send(&store->answered);
    uv_mutex_unlock(&store->mutex);
}

/* ---- Other nodes ----------------------------------------------------------------------------- */

typedef struct heard {
    struct heard *next;
    json_t *change; /* NULL: some were missed */
} heard;

/* On the listener's thread. */
static void on_said(void *data, const char *text)
{
    ft_store *store = data;
    heard *its = ft_calloc(1, sizeof *its);
    its->change = text ? json_loads(text, 0, NULL) : NULL;
    uv_mutex_lock(&store->mutex);
    heard **end = &store->heard;
    while (*end) end = &(*end)->next;
    *end = its;
    uv_mutex_unlock(&store->mutex);
    uv_async_send(&store->answered);
}

static bool is_of(int64_t node, const json_t *change)
{
    return change && json_integer_value(json_object_get(change, "node")) == node;
}

static void take_news(ft_store *store)
{
    uv_mutex_lock(&store->mutex);
    heard *all = store->heard;
    store->heard = NULL;
    int64_t own = store->node;
    uv_mutex_unlock(&store->mutex);
    for (heard *next; all; all = next) {
        next = all->next;
        bool given = !is_of(own, all->change) && !store->closing && !store->unheard;
        if (given) store->news(store->news_data, all->change);
        json_decref(all->change);
        free(all);
    }
}

bool ft_store_is_shared(const ft_store *store)
{
    return store->sql.driver->shared;
}

void ft_store_keep(ft_store *store, const char *folder, uint64_t bytes)
{
    FT_REQUIRE(ft_store_is_shared(store) && !store->sql.kept);
    uv_mutex_lock(&store->mutex);
    if (bytes > 0) store->sql.kept = ft_cache_new(folder, bytes);
    uv_mutex_unlock(&store->mutex);
}

ft_status ft_store_listen(ft_store *store, void (*news)(void *data, const json_t *change),
                          void *data, ft_error *err)
{
    FT_REQUIRE(store->sql.driver->shared && !store->listener);
    store->news = news;
    store->news_data = data;
    return store->sql.driver->listen(store->place, on_said, store, &store->listener, err);
}

void ft_store_unlisten(ft_store *store)
{
    store->unheard = true;
}

/* ---- The loop's thread ----------------------------------------------------------------------- */

static void on_handle_closed(uv_handle_t *handle)
{
    ft_store *store = handle->data;
    assert(store->handles > 0 && store->ended);
    if (--store->handles > 0) return;
    assert(!store->waiting.first && !store->lengthy.first && !store->done.first);
    uv_thread_join(&store->thread);
    if (store->listener) store->sql.driver->unlisten(store->listener);
    if (store->news) take_news(store);
    ft_sql_close(&store->sql);
    if (store->lock >= 0) close(store->lock);
    free(store->place);
    ft_cache_free(store->sql.kept);
    uv_cond_destroy(&store->wake);
    uv_mutex_destroy(&store->mutex);
    void (*closed)(void *) = store->closed;
    void *data = store->closed_data;
    free(store);
    closed(data);
}

static void on_answered(uv_async_t *async)
{
    ft_store *store = async->data;
    uv_mutex_lock(&store->mutex);
    ft_request *first = store->done.first;
    list_init(&store->done);
    bool ended = store->ended;
    uv_mutex_unlock(&store->mutex);
    for (ft_request *next; first; first = next) {
        next = first->next;
        request_answer(first);
    }
    if (store->news) take_news(store);
    if (!ended) return;
    uv_close((uv_handle_t *)async, on_handle_closed);
    uv_close((uv_handle_t *)&store->turn, on_handle_closed);
    uv_close((uv_handle_t *)&store->hurry, on_handle_closed);
}

ft_request *ft_store_request(ft_status (*run)(ft_sql *, ft_request *, ft_error *), bool writes,
                             ft_store_done done, void *data)
{
    FT_REQUIRE(run);
    ft_request *request = ft_calloc(1, sizeof *request);
    request->run = run;
    request->writes = writes;
    request->done = done;
    request->data = data;
    return request;
}

/* Requests of one turn of the loop share a commit. */
static void on_turn(uv_prepare_t *turn)
{
    ft_store *store = turn->data;
    uv_prepare_stop(turn);
    uv_mutex_lock(&store->mutex);
    uv_cond_signal(&store->wake);
    uv_mutex_unlock(&store->mutex);
}

void ft_store_send(ft_store *store, ft_request *request)
{
    FT_REQUIRE(request->run && !(request->done && request->chunk_done) && !request->next);
    uv_mutex_lock(&store->mutex);
    assert(!store->closing);
    list_add(request->lengthy ? &store->lengthy : &store->waiting, request);
    uv_mutex_unlock(&store->mutex);
    uv_prepare_start(&store->turn, on_turn);
}

static void on_hurry(uv_timer_t *timer)
{
    ft_store *store = timer->data;
    uv_mutex_lock(&store->mutex);
    bool hangs = store->asked && uv_hrtime() / 1000000 - store->asked >= HURRY_MS;
    uv_mutex_unlock(&store->mutex);
    if (hangs) store->sql.driver->cut(&store->sql);
}

void ft_store_hurry(ft_store *store)
{
    if (!ft_store_is_shared(store) || uv_is_active((uv_handle_t *)&store->hurry)) return;
    uv_mutex_lock(&store->mutex);
    store->hurried = true;
    uv_mutex_unlock(&store->mutex);
    uv_timer_start(&store->hurry, on_hurry, HURRY_MS, HURRY_MS / 5);
}

void ft_store_close(ft_store *store, void (*closed)(void *data), void *data)
{
    store->closed = closed;
    store->closed_data = data;
    ft_store_hurry(store);
    uv_mutex_lock(&store->mutex);
    assert(!store->closing);
    store->closing = true;
    uv_cond_signal(&store->wake);
    uv_mutex_unlock(&store->mutex);
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* A process that was being started when its daemon was killed has the lock until it becomes another
 * program; a command beside has it for a moment. */
static bool take_lock(int fd, unsigned patience_ms)
{
    const struct timespec step = {.tv_nsec = 20000000};
    for (unsigned waited = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; waited += 20) {
        if (waited >= patience_ms) return false;
        nanosleep(&step, NULL);
    }
    return true;
}

/* The lock keeps a second daemon from taking the leases of the first for leftovers. */
ft_status ft_store_lock_folder(const char *folder, unsigned patience_ms, int *lock, ft_error *err)
{
    if (mkdir(folder, 0700) != 0 && errno != EEXIST) {
        return ft_error_set(err, FT_IO, "cannot create the state folder %s: %s", folder,
                            strerror(errno));
    }
    ft_strbuf path = {0};
    ft_strbuf_printf(&path, "%s/lock", folder);
    int fd = open(path.text, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ft_strbuf_release(&path);
    if (fd < 0) {
        return ft_error_set(err, FT_IO, "cannot write in the state folder %s: %s", folder,
                            strerror(errno));
    }
    if (!take_lock(fd, patience_ms)) {
        close(fd);
        return ft_error_set(err, FT_CONFLICT, "another foretelld uses the state folder %s", folder);
    }
    *lock = fd;
    return FT_OK;
}

/* Leases of the last run are over: their workers died with it. A new epoch shows in the tokens, so
 * nothing that run handed out can match. */
static ft_status recover(ft_sql *sql, ft_error *err)
{
    static const char *const STEPS[] = {
        "BEGIN IMMEDIATE",
        "UPDATE counters SET epoch = epoch + 1, running = 1",
        ("INSERT INTO deaths (job, task, attempt, at, death, message, log) "
         "SELECT j.id, t.id, attempts, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER), "
         "'server-died', 'the server ended while a worker had it', '' FROM leases l "
         "CROSS JOIN tasks t ON t.id BETWEEN l.low AND l.high AND t.token = l.token "
         "JOIN jobs j ON j.n = t.job"),
        ("UPDATE tasks SET state = 'ready', token = NULL, dropped = 1 WHERE id IN (SELECT t.id "
         "FROM leases l CROSS JOIN tasks t ON t.id BETWEEN l.low AND l.high "
         "AND t.token = l.token)"),
        "DELETE FROM leases",
        "UPDATE jobs SET state = 'queued', revision = revision + 1 WHERE state = 'planning'",
        "DELETE FROM blobs WHERE id NOT IN (SELECT blob FROM traces)",
        "UPDATE deliveries SET state = 'pending', token = NULL WHERE state = 'sending'",
    };
    ft_status status = FT_OK;
    for (size_t i = 0; i < sizeof STEPS / sizeof *STEPS && status == FT_OK; i++)
        status = ft_sql_script(sql, STEPS[i], err);
    if (status == FT_OK) status = ft_store_recount(sql, err);
    if (status == FT_OK)
        status = ft_sql_number(sql, &sql->token, NULL, err, "SELECT epoch << 32 FROM counters", "");
    if (status == FT_OK) status = ft_sql_script(sql, "COMMIT", err);
    return status;
}

/* After a run that did not come to its end; the whole of a large database takes minutes, which is
 * for foretelld --check-database. */
static ft_status check_unclean(ft_store *store, const char *path, ft_error *err)
{
    int64_t running = 0;
    ft_status status =
        ft_sql_number(&store->sql, &running, NULL, err, "SELECT running FROM counters", "");
    store->unclean = running != 0;
    if (status != FT_OK || !store->unclean) return status;
    return ft_store_check_in_flight(&store->sql, path, err);
}

static ft_status open_file(ft_store *store, const char *folder, ft_error *err)
{
    ft_status status = ft_store_lock_folder(folder, LOCK_MS, &store->lock, err);
    if (status != FT_OK) return status;
    ft_strbuf path = {0};
    ft_strbuf_printf(&path, "%s/foretell.db", folder);
    status = ft_sql_open(&store->sql, path.text, err);
    if (status == FT_OK) status = ft_sql_migrate(&store->sql, err);
    if (status == FT_OK) status = check_unclean(store, path.text, err);
    ft_strbuf_release(&path);
    return status == FT_OK ? recover(&store->sql, err) : status;
}

/* Others may be at work there: their leases are theirs. */
static ft_status open_shared(ft_store *store, const char *address, ft_error *err)
{
    ft_status status = ft_sql_open(&store->sql, address, err);
    if (status == FT_OK) status = ft_sql_migrate(&store->sql, err);
    return status == FT_OK ? ft_node_register(&store->sql, err) : status;
}

static ft_status open_place(ft_store *store, const char *place, ft_error *err)
{
    store->lock = -1;
    ft_status status =
        ft_sql_is_address(place) ? open_shared(store, place, err) : open_file(store, place, err);
    if (status == FT_OK) return FT_OK;
    ft_sql_close(&store->sql);
    if (store->lock >= 0) close(store->lock);
    return status;
}

ft_status ft_store_open(uv_loop_t *loop, const char *place, ft_store **store, ft_error *err)
{
    ft_store *s = ft_calloc(1, sizeof *s);
    ft_status status = open_place(s, place, err);
    s->place = ft_strdup(place);
    s->node = s->sql.epoch;
    if (status != FT_OK) {
        free(s->place);
        free(s);
        return status;
    }
    list_init(&s->waiting);
    list_init(&s->lengthy);
    list_init(&s->done);
    bool made = uv_mutex_init(&s->mutex) == 0 && uv_cond_init(&s->wake) == 0 &&
                uv_async_init(loop, &s->answered, on_answered) == 0 &&
                uv_prepare_init(loop, &s->turn) == 0 && uv_timer_init(loop, &s->hurry) == 0;
    s->handles = 3;
    s->answered.data = s->turn.data = s->hurry.data = s;
    made = made && uv_thread_create(&s->thread, thread_main, s) == 0;
    if (!made) return ft_error_set(err, FT_IO, "cannot start the store's thread");
    *store = s;
    return FT_OK;
}

static ft_status run_probe(ft_sql *sql, ft_request *request, ft_error *err)
{
    int64_t epoch;
    request->result = json_object();
    return ft_sql_number(sql, &epoch, NULL, err, "SELECT epoch FROM counters", "");
}

/* Its callback runs in the loop's next turn, whatever the store's thread waits for. */
static void answer_away(ft_store *store, ft_request *request)
{
    fail_away(request);
    uv_mutex_lock(&store->mutex);
    list_add(&store->done, request);
    uv_mutex_unlock(&store->mutex);
    uv_async_send(&store->answered);
}

void ft_store_probe(ft_store *store, ft_store_done done, void *data)
{
    ft_request *request = ft_store_request(run_probe, false, done, data);
    uv_mutex_lock(&store->mutex);
    bool away = store->away || (store->asked && uv_hrtime() / 1000000 - store->asked > HUNG_MS);
    uv_mutex_unlock(&store->mutex);
    if (away)
        answer_away(store, request);
    else
        ft_store_send(store, request);
}

/* ---- Counts (here, for they include the store's own) ----------------------------------------- */

static ft_status count_by(ft_sql *sql, json_t *out, const char *text, ft_error *err)
{
    ft_statement *statement;
    bool row = true;
    ft_status status = ft_sql_start(sql, &statement, err, text, "");
    while (status == FT_OK && (status = ft_sql_next(sql, statement, &row, err)) == FT_OK && row)
        json_object_set_new(out, ft_sql_text(statement, 0), json_integer(ft_sql_int(statement, 1)));
    return status;
}

static ft_status run_counts(ft_sql *sql, ft_request *request, ft_error *err)
{
    static const struct {
        const char *name, *text;
    } GROUPS[] = {
        {"jobs", "SELECT state, count(*) FROM jobs GROUP BY state"},
        {"tasks", "SELECT 'ready', coalesce(sum(ready - dropped), 0) FROM jobs UNION ALL "
                  "SELECT 'dropped', coalesce(sum(dropped), 0) FROM jobs UNION ALL "
                  "SELECT 'leased', coalesce(sum(open - ready), 0) FROM jobs UNION ALL "
                  "SELECT 'ended', coalesce(sum(tasks - open), 0) FROM jobs"},
        {"verdicts", "SELECT verdict, sum(records) FROM tallies GROUP BY verdict"},
    };
    request->result = json_object();
    ft_status status = FT_OK;
    for (size_t i = 0; i < sizeof GROUPS / sizeof *GROUPS && status == FT_OK; i++) {
        json_t *group = json_object();
        json_object_set_new(request->result, GROUPS[i].name, group);
        status = count_by(sql, group, GROUPS[i].text, err);
    }
    if (status != FT_OK) return status;
    status = count_by(sql, request->result,
                      "SELECT 'traces', count(*) FROM traces UNION ALL "
                      "SELECT 'trace_bytes', coalesce(sum(bytes), 0) FROM traces UNION ALL "
                      "SELECT 'stored_bytes', coalesce(sum(stored_bytes), 0) FROM traces",
                      err);
    json_object_set_new(request->result, "parts_fetched",
                        json_integer((json_int_t)sql->parts.fetched));
    json_object_set_new(request->result, "parts_kept", json_integer((json_int_t)sql->parts.kept));
    json_object_set_new(request->result, "parts_damaged",
                        json_integer((json_int_t)sql->parts.damaged));
    return status;
}

/* Carries the caller's callback, since the store adds its own counters to the result. */
typedef struct counts_call {
    ft_store *store;
    ft_store_done done;
    void *data;
} counts_call;

static void on_counts(void *data, const ft_error *err, json_t *result)
{
    counts_call call = *(counts_call *)data;
    free(data);
    if (result) {
        uv_mutex_lock(&call.store->mutex);
        uint64_t commits = call.store->commits, requests = call.store->requests;
        uv_mutex_unlock(&call.store->mutex);
        json_object_set_new(result, "commits", json_integer((json_int_t)commits));
        json_object_set_new(result, "requests", json_integer((json_int_t)requests));
    }
    call.done(call.data, err, result);
}

void ft_store_counts(ft_store *store, ft_store_done done, void *data)
{
    counts_call *call = ft_calloc(1, sizeof *call);
    *call = (counts_call){store, done, data};
    ft_store_send(store, ft_store_request(run_counts, false, on_counts, call));
}
