#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dispatch/internal.h"
#include "setup/log.h"

#define ROWS_WRITING 4 /* more rows than this on their way to the store pause the worker */
#define MOST_ROUNDS  2 /* a worker asks for an upload again once at most */

/* ---- Ending ---------------------------------------------------------------------------------- */

static void upload_drop(ft_upload *upload)
{
    if (--upload->holds > 0) return;
    if (upload->fd >= 0) close(upload->fd);
    ft_strbuf_release(&upload->row);
    free(upload);
}

static void unlink_upload(ft_upload *upload)
{
    ft_upload **at = &upload->dispatch->uploads;
    while (*at != upload) at = &(*at)->next;
    *at = upload->next;
    upload->dispatch->upload_count--;
}

static void drop_blob(ft_upload *upload)
{
    if (upload->blob < 0) return;
    ft_store_blob_drop(upload->dispatch->store, upload->blob, NULL, NULL);
    upload->blob = -1;
}

/* Answers all waiters; for the first one the trace is a new one, if it was created. */
static void finish(ft_upload *upload, const ft_error *err, const json_t *meta, bool created)
{
    ft_dispatch *dispatch = upload->dispatch;
    assert(!upload->finished && !upload->worker && (err || json_is_object(meta)));
    if (err) drop_blob(upload);
    if (err) ft_dispatch_count(dispatch, FT_METRIC_INGESTS_FAILED);
    if (!err) ft_dispatch_count(dispatch, created ? FT_METRIC_INGESTS : FT_METRIC_INGESTS_KNOWN);
    ft_log(FT_LOG_INFO, err ? "upload refused" : "upload stored", "trace=%s bytes=%llu %s%s%s",
           upload->hash, (unsigned long long)upload->bytes, err ? "reason=\"" : "",
           err ? err->message : "created=",
           err       ? "\""
           : created ? "true"
                     : "false");
    unlink_upload(upload);
    upload->finished = true;
    ft_ingest *waiters = upload->waiters;
    for (ft_ingest *next; waiters; waiters = next) {
        next = waiters->next;
        if (waiters->done) waiters->done(waiters->data, err, err ? NULL : meta, !err && created);
        created = false;
        free(waiters);
    }
    upload_drop(upload);
}

/* Takes the upload off its worker. */
static ft_upload *detach(ft_worker *worker)
{
    ft_upload *upload = worker->upload;
    assert(upload && upload->worker == worker);
    worker->upload = NULL;
    upload->worker = NULL;
    return upload;
}

static ft_errand *upload_errand(ft_upload *upload)
{
    ft_errand *errand = ft_errand_new(upload->dispatch, NULL);
    errand->upload = upload;
    upload->holds++;
    return errand;
}

static void upload_errand_end(ft_errand *errand)
{
    upload_drop(errand->upload);
    ft_errand_end(errand);
}

/* ---- Sending the upload ---------------------------------------------------------------------- */

static bool read_part(ft_upload *upload, unsigned char *part, size_t length)
{
    size_t done = 0;
    while (done < length) {
        ssize_t got = pread(upload->fd, part + done, length - done, (off_t)(upload->sent + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        done += (size_t)got;
    }
    return true;
}

static void abort_upload(ft_worker *worker, const char *message)
{
    ft_error err = FT_ERROR_INIT;
    ft_error_set(&err, FT_IO, "%s", message);
    ft_upload *upload = detach(worker);
    ft_worker_die(worker, FT_DEATH_STOPPED, "%s", message);
    finish(upload, &err, NULL, false);
}

static void begin_again(ft_worker *worker);

static void send_part(ft_worker *worker)
{
    ft_upload *upload = worker->upload;
    upload->given = false;
    if (upload->again) {
        begin_again(worker);
        return;
    }
    assert(upload->sent <= upload->bytes);
    uint64_t rest = upload->bytes - upload->sent;
    size_t length = rest < FT_WIRE_CHUNK ? (size_t)rest : FT_WIRE_CHUNK;
    unsigned char *part = ft_alloc(length + 1);
    if (!read_part(upload, part, length)) {
        free(part);
        abort_upload(worker, "the upload's temporary file cannot be read");
        return;
    }
    ft_strbuf frames = {0};
    if (length > 0) ft_wire_frame_bytes(&frames, FT_WIRE_DATA, part, length);
    free(part);
    upload->sent += length;
    worker->sending = upload->sent < upload->bytes;
    if (!worker->sending) ft_wire_frame_bytes(&frames, FT_WIRE_DATA_END, "", 0);
    upload->given = worker->sending;
    ft_worker_send(worker, &frames, worker->sending ? send_part : NULL);
}

static void send_all(ft_worker *worker)
{
    ft_upload *upload = worker->upload;
    assert(upload->rounds < MOST_ROUNDS && upload->token != 0);
    upload->sent = 0;
    upload->rounds++;
    ft_worker_limit_trace(worker, upload->bytes);
    json_t *request = json_pack("{s:I}", "token", (json_int_t)upload->token);
    if (upload->program) json_object_set_new(request, "of", json_string("program"));
    ft_worker_send_json(worker, FT_WIRE_INGEST, request);
    json_decref(request);
    send_part(worker);
}

/* When neither a part of the upload nor the new blob is on its way any more. */
static void begin_again(ft_worker *worker)
{
    ft_upload *upload = worker->upload;
    if (upload->given || upload->blob < 0) return;
    upload->again = false;
    send_all(worker);
}

bool ft_ingest_waiting(const ft_dispatch *dispatch)
{
    for (const ft_upload *upload = dispatch->uploads; upload; upload = upload->next)
        if (upload->queued) return true;
    return false;
}

void ft_ingest_start(ft_worker *worker)
{
    ft_dispatch *dispatch = worker->dispatch;
    ft_upload *upload = dispatch->uploads;
    while (!upload->queued) upload = upload->next;
    assert(!upload->worker && !upload->finished && upload->blob >= 0);
    assert(ft_worker_is_sound(worker) && worker->state == FT_WORKER_IDLE);
    upload->queued = false;
    upload->worker = worker;
    upload->token = ++dispatch->ingest_token;
    upload->again = upload->given = false;
    upload->rounds = 0;
    worker->upload = upload;
    ft_worker_enter(worker, FT_WORKER_INGESTING);
    worker->busy_since = worker->heard = uv_now(dispatch->loop);
    ft_watch_start(dispatch);
    worker->loaded[0] = '\0';
    send_all(worker);
}

/* ---- Storing what comes back ----------------------------------------------------------------- */

static void on_row(void *data, const ft_error *err, json_t *result)
{
    (void)result;
    ft_errand *errand = data;
    ft_upload *upload = errand->upload;
    ft_worker *worker = upload->worker;
    assert(upload->writing > 0);
    upload->writing--;
    if (err && upload->failure.code == FT_OK) upload->failure = *err;
    if (err) ft_dispatch_count(errand->dispatch, FT_METRIC_STORE_ERRORS);
    if (err && worker) {
        abort_upload(worker, err->message);
    } else if (worker && upload->writing < ROWS_WRITING) {
        ft_worker_resume(worker);
    }
    upload_errand_end(errand);
}

static void write_row(ft_upload *upload, size_t length)
{
    assert(upload->blob >= 0 && length > 0 && length <= FT_STORE_CHUNK);
    ft_store_blob_add(upload->dispatch->store, upload->blob, upload->seq++, upload->row.text,
                      length, on_row, upload_errand(upload));
    upload->writing++;
    ft_strbuf_drop(&upload->row, length);
}

void ft_ingest_on_data(ft_worker *worker, const void *bytes, size_t length)
{
    ft_upload *upload = worker->upload;
    if (upload->again) {
        ft_worker_die(worker, FT_DEATH_MALFORMED, "data before the repeated upload");
        return;
    }
    ft_strbuf_add(&upload->row, bytes, length);
    while (upload->row.len >= FT_STORE_CHUNK) write_row(upload, FT_STORE_CHUNK);
    if (upload->writing >= ROWS_WRITING) ft_worker_pause(worker);
}

static void on_new_blob(void *data, const ft_error *err, json_t *result)
{
    ft_errand *errand = data;
    ft_upload *upload = errand->upload;
    int64_t blob = json_integer_value(json_object_get(result, "blob"));
    bool wanted = upload->again && upload->blob < 0 && upload->worker;
    if (!err && !wanted) ft_store_blob_drop(errand->dispatch->store, blob, NULL, NULL);
    if (err) ft_dispatch_count(errand->dispatch, FT_METRIC_STORE_ERRORS);
    if (err && wanted) abort_upload(upload->worker, err->message);
    if (!err && wanted) {
        upload->blob = blob;
        begin_again(upload->worker);
    }
    upload_errand_end(errand);
}

void ft_ingest_on_again(ft_worker *worker, const json_t *message)
{
    ft_upload *upload = worker->upload;
    const json_t *token = json_object_get(message, "token");
    if (!json_is_integer(token) || (uint64_t)json_integer_value(token) != upload->token ||
        upload->again || upload->rounds >= MOST_ROUNDS) {
        ft_worker_die(worker, FT_DEATH_MALFORMED,
                      "it asks again for an upload that it does not have");
        return;
    }
    upload->again = true;
    worker->sending = true; /* no answer before the end */
    drop_blob(upload);
    upload->seq = 0;
    ft_strbuf_clear(&upload->row);
    ft_store_blob_new(upload->dispatch->store, on_new_blob, upload_errand(upload));
}

static void on_stored(void *data, const ft_error *err, json_t *result)
{
    ft_errand *errand = data;
    ft_upload *upload = errand->upload;
    bool created = json_is_true(json_object_get(result, "created"));
    if (err) ft_dispatch_count(errand->dispatch, FT_METRIC_STORE_ERRORS);
    if (!err) upload->blob = -1; /* the store's now, or dropped by it */
    if (!upload->finished) {
        finish(upload, upload->failure.code != FT_OK && err ? &upload->failure : err,
               json_object_get(result, "meta"), created);
    }
    upload_errand_end(errand);
}

/* The error in the message; NULL: none. */
static const char *wrong(const ft_worker *worker, const json_t *message)
{
    const ft_upload *upload = worker->upload;
    const json_t *token = json_object_get(message, "token");
    const json_t *meta = json_object_get(message, "meta");
    const char *trace = json_string_value(json_object_get(meta, "trace"));
    if (!json_is_integer(token) || (uint64_t)json_integer_value(token) != upload->token)
        return "an answer to another request";
    if (worker->sending) return "an answer before the end of the upload";
    if (!json_is_object(meta)) return "an answer without a trace";
    if (!trace || strcmp(trace, upload->hash) != 0) return "an answer for another upload";
    if (upload->seq == 0 && upload->row.len == 0) return "an answer without content";
    return NULL;
}

void ft_ingest_on_ingested(ft_worker *worker, const json_t *message)
{
    const char *fault = wrong(worker, message);
    if (fault) {
        ft_worker_die(worker, FT_DEATH_MALFORMED, "%s", fault);
        return;
    }
    ft_upload *upload = detach(worker);
    if (upload->row.len > 0) write_row(upload, upload->row.len);
    ft_store_blob_commit(upload->dispatch->store, upload->blob, upload->seq, upload->hash,
                         json_object_get(message, "meta"), on_stored, upload_errand(upload));
    worker->answered++;
    ft_worker_idle(worker);
    ft_worker_resume(worker);
    ft_dispatch_pump(worker->dispatch);
}

void ft_ingest_on_failed(ft_worker *worker, const json_t *message)
{
    ft_error error = FT_ERROR_INIT;
    ft_wire_error_from_json(json_object_get(message, "error"), &error);
    ft_upload *upload = detach(worker);
    if (worker->sending) {
        ft_worker_die(worker, FT_DEATH_STOPPED, "the rest of a refused upload is not needed");
    } else {
        worker->answered++;
        ft_worker_idle(worker);
        ft_worker_resume(worker);
    }
    finish(upload, &error, NULL, false);
    ft_dispatch_pump(worker->dispatch);
}

/* ---- Queueing -------------------------------------------------------------------------------- */

static void on_blob(void *data, const ft_error *err, json_t *result)
{
    ft_errand *errand = data;
    ft_upload *upload = errand->upload;
    int64_t blob = json_integer_value(json_object_get(result, "blob"));
    if (upload->finished && !err) ft_store_blob_drop(errand->dispatch->store, blob, NULL, NULL);
    if (!upload->finished && err) finish(upload, err, NULL, false);
    if (!upload->finished) {
        upload->blob = blob;
        upload->queued = true;
        ft_dispatch_pump(errand->dispatch);
    }
    upload_errand_end(errand);
}

static void enqueue(ft_upload *upload)
{
    assert(!upload->worker && !upload->finished && !upload->queued);
    drop_blob(upload);
    upload->seq = 0;
    upload->sent = 0;
    ft_strbuf_clear(&upload->row);
    ft_store_blob_new(upload->dispatch->store, on_blob, upload_errand(upload));
}

/* The options that an operator can change. */
static const char *advice(ft_death death)
{
    if (death == FT_DEATH_TIMEOUT) return " (options ingest-ms and ingest-mib-ms)";
    return death == FT_DEATH_MEMORY ? " (option worker-memory-mb)" : "";
}

void ft_ingest_lost(ft_worker *worker, ft_death death, const char *text)
{
    if (!worker->upload) return;
    ft_upload *upload = detach(worker);
    const ft_death_row *row = ft_death_of(death);
    if (row->limit == 0 || ++upload->deaths[death] < row->limit) {
        enqueue(upload);
        return;
    }
    ft_error err = FT_ERROR_INIT;
    ft_error_set(&err, row->status, "the upload cannot be read: %s%s", text, advice(death));
    finish(upload, &err, NULL, false);
}

static bool is_program(const json_t *meta)
{
    const char *format = json_string_value(json_object_get(meta, "format"));
    return format && strcmp(format, "program") == 0;
}

static void on_looked_up(void *data, const ft_error *err, json_t *meta)
{
    ft_errand *errand = data;
    ft_upload *upload = errand->upload;
    if (!upload->finished) {
        if (!err && is_program(meta) != upload->program) {
            ft_error other = FT_ERROR_INIT;
            ft_error_set(&other, FT_INPUT, "this is a %s: use /v1/%s",
                         upload->program ? "trace" : "program",
                         upload->program ? "traces" : "programs");
            finish(upload, &other, NULL, false);
        } else if (!err) {
            finish(upload, NULL, meta, false);
        } else if (err->code == FT_NOT_FOUND) {
            enqueue(upload);
        } else {
            finish(upload, err, NULL, false);
        }
    }
    upload_errand_end(errand);
}

static ft_upload *find_upload(const ft_dispatch *dispatch, const char *hash, bool program)
{
    for (ft_upload *upload = dispatch->uploads; upload; upload = upload->next)
        if (strcmp(upload->hash, hash) == 0 && upload->program == program) return upload;
    return NULL;
}

static ft_upload *new_upload(ft_dispatch *dispatch, int fd, uint64_t bytes, const char *hash)
{
    ft_upload *upload = ft_calloc(1, sizeof *upload);
    upload->dispatch = dispatch;
    upload->fd = fd;
    upload->bytes = bytes;
    upload->blob = -1;
    upload->holds = 1;
    snprintf(upload->hash, sizeof upload->hash, "%s", hash);
    ft_upload **end = &dispatch->uploads;
    while (*end) end = &(*end)->next;
    *end = upload;
    dispatch->upload_count++;
    assert(dispatch->upload_count <= dispatch->config->max_ingests);
    return upload;
}

static void answer_full(ft_errand *errand)
{
    ft_ingest *ingest = errand->data;
    if (ingest->done) ingest->done(ingest->data, &errand->err, NULL, false);
    free(ingest);
    ft_errand_end(errand);
}

static void refuse(ft_dispatch *dispatch, ft_ingest *ingest)
{
    ft_errand *errand = ft_errand_new(dispatch, NULL);
    errand->data = ingest;
    ft_error_set(&errand->err, FT_BUDGET,
                 "%u uploads are in progress, the most that max-ingests allows: try again later",
                 dispatch->upload_count);
    ft_errand_soon(errand, answer_full);
}

ft_ingest *ft_dispatch_ingest(ft_dispatch *dispatch, int fd, uint64_t bytes, const char *hash,
                              bool program, ft_ingest_done done, void *data)
{
    ft_ingest *ingest = ft_calloc(1, sizeof *ingest);
    ingest->done = done;
    ingest->data = data;
    ft_upload *upload = find_upload(dispatch, hash, program);
    if (upload || dispatch->upload_count >= dispatch->config->max_ingests) close(fd);
    if (!upload && dispatch->upload_count >= dispatch->config->max_ingests) {
        refuse(dispatch, ingest);
        return ingest;
    }
    if (!upload) {
        upload = new_upload(dispatch, fd, bytes, hash);
        upload->program = program;
        ft_store_trace(dispatch->store, hash, on_looked_up, upload_errand(upload));
    }
    ft_ingest **end = &upload->waiters;
    while (*end) end = &(*end)->next;
    *end = ingest;
    ingest->upload = upload;
    return ingest;
}

ft_ingest_look ft_dispatch_ingest_look(const ft_ingest *ingest)
{
    const ft_upload *upload = ingest->upload;
    if (!upload) return (ft_ingest_look){.waiting = true};
    return (ft_ingest_look){.waiting = !upload->worker && upload->sent == 0, .sent = upload->sent};
}

void ft_dispatch_ingest_forget(ft_ingest *ingest)
{
    ingest->done = NULL;
}

void ft_ingest_close(ft_dispatch *dispatch)
{
    ft_error err = FT_ERROR_INIT;
    ft_error_set(&err, FT_IO, "the server is stopping");
    while (dispatch->uploads) {
        ft_upload *upload = dispatch->uploads;
        if (upload->worker) detach(upload->worker);
        finish(upload, &err, NULL, false);
    }
}

/* ---- Files ----------------------------------------------------------------------------------- */

#define LEFT_PREFIX "upload-"

/* Where files have names, a killed server may have left one. */
void ft_ingest_sweep(const char *folder)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    while (dir && (entry = readdir(dir)) != NULL)
        if (strncmp(entry->d_name, LEFT_PREFIX, sizeof LEFT_PREFIX - 1) == 0)
            unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir) closedir(dir);
}

ft_status ft_dispatch_upload_file(ft_dispatch *dispatch, int *fd, ft_error *err)
{
    const char *folder = dispatch->config->state;
    int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
        /* A file system without nameless files. */
        ft_strbuf path = {0};
        ft_strbuf_printf(&path, "%s/" LEFT_PREFIX "XXXXXX", folder);
        file = mkostemp(path.text, O_CLOEXEC);
        if (file >= 0) unlink(path.text);
        ft_strbuf_release(&path);
    }
    if (file < 0) {
        return ft_error_set(err, ft_status_from_errno(errno),
                            "cannot make a temporary file in %s: %s", folder, strerror(errno));
    }
    *fd = file;
    return FT_OK;
}
