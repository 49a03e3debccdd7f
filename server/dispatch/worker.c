#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dispatch/internal.h"
#include "setup/log.h"

#define HELLO_MS    10000 /* for a new process to say hello */
#define BACKOFF_MS  100
#define BACKOFF_MAX 10000
#define DRAIN_MOST  64  /* pieces of last words */
#define QUIET_MS    100 /* verdicts that come faster than twice in this are read together */

/* One incarnation of a worker. It outlives its slot's interest in it: the handles close late, and
 * the process handle stays until the kernel reports the exit, or a zombie would be left. */
struct ft_process {
    ft_dispatch *dispatch;
    ft_worker *worker; /* NULL once the slot has let go */
    uv_process_t handle;
    uv_pipe_t in, out, err;
    unsigned open; /* handles not closed */
    ft_wire_decoder decoder;
    bool exited, ended; /* the exit was reported; the output came to its end */
    int64_t exit_status;
    int exit_signal;
};

typedef struct sending {
    uv_write_t write;
    char *bytes; /* owned */
    ft_process *process;
    void (*sent)(ft_worker *worker);
} sending;

#define FT_ROW(symbol, name) name,
static const char *const STATES[] = {FT_WORKER_STATE_TABLE(FT_ROW)};
#undef FT_ROW

#define FT_ROW(symbol, name, limit, verdict, reason, status, text)                                 \
    {name, limit, FT_VERDICT_##verdict, FT_REASON_##reason, FT_##status, text},
static const ft_death_row DEATHS[] = {FT_DEATH_TABLE(FT_ROW)};
#undef FT_ROW

const char *ft_worker_state_name(ft_worker_state state)
{
    return STATES[state];
}

const ft_death_row *ft_death_of(ft_death death)
{
    return &DEATHS[death];
}

/* ---- Frames in ------------------------------------------------------------------------------- */

typedef void (*message_handler)(ft_worker *worker, const json_t *message);

static void on_hello(ft_worker *worker, const json_t *message)
{
    const json_t *protocol = json_object_get(message, "protocol");
    const char *version = json_string_value(json_object_get(message, "version"));
    if (json_integer_value(protocol) != FT_WIRE_PROTOCOL) {
        ft_worker_die(worker, FT_DEATH_MALFORMED, "it has another version of the protocol");
        return;
    }
    free(worker->version);
    worker->version = ft_strdup(version ? version : "?");
    worker->heartbeats = json_is_true(json_object_get(message, "heartbeats"));
    ft_log(FT_LOG_DEBUG, "worker ready", "worker=%u pid=%d version=%s", worker->index,
           uv_process_get_pid(&worker->process->handle), worker->version);
    ft_worker_enter(worker, FT_WORKER_IDLE);
    ft_worker_limit(worker, 0);
    ft_dispatch_pump(worker->dispatch);
}

static void on_progress(ft_worker *worker, const json_t *message)
{
    const char *text = json_string_value(json_object_get(message, "text"));
    free(worker->progress);
    worker->progress = ft_strdup(text ? text : "");
}

static void on_data(ft_worker *worker, const ft_wire_frame *frame)
{
    ft_ingest_on_data(worker, frame->payload, frame->length);
}

/* Who takes which frame in which states; a frame that has no row is a breach of the protocol. */
#define IN(state) (1u << FT_WORKER_##state)
static const struct {
    ft_wire_type type;
    unsigned states;
    message_handler message;
    void (*raw)(ft_worker *worker, const ft_wire_frame *frame);
} HANDLERS[] = {
    {FT_WIRE_HELLO, IN(STARTING), on_hello, NULL},
    {FT_WIRE_PROGRESS, IN(LOADING) | IN(WORKING) | IN(INGESTING), on_progress, NULL},
    {FT_WIRE_LOADED, IN(LOADING), ft_batch_on_loaded, NULL},
    {FT_WIRE_DATA, IN(WORKING), NULL, ft_batch_on_data},
    {FT_WIRE_PLANNED, IN(WORKING), ft_batch_on_planned, NULL},
    {FT_WIRE_WITNESS, IN(WORKING), NULL, ft_batch_on_witness},
    {FT_WIRE_VERDICT, IN(WORKING), NULL, ft_batch_on_verdict},
    {FT_WIRE_SOLVED, IN(WORKING), ft_batch_on_solved, NULL},
    {FT_WIRE_SUMMARIZED, IN(WORKING), ft_summary_on_summarized, NULL},
    {FT_WIRE_FAILED, IN(LOADING) | IN(WORKING), ft_batch_on_failed, NULL},
    {FT_WIRE_FAILED, IN(INGESTING), ft_ingest_on_failed, NULL},
    {FT_WIRE_DATA, IN(INGESTING), NULL, on_data},
    {FT_WIRE_INGESTED, IN(INGESTING), ft_ingest_on_ingested, NULL},
    {FT_WIRE_AGAIN, IN(INGESTING), ft_ingest_on_again, NULL},
};
#undef IN

static void on_message(ft_worker *worker, const ft_wire_frame *frame, message_handler handler)
{
    ft_error err = FT_ERROR_INIT;
    json_t *message;
    if (ft_wire_json(frame, &message, &err) != FT_OK) {
        ft_worker_die(worker, FT_DEATH_MALFORMED, "%.240s", err.message);
        return;
    }
    handler(worker, message);
    json_decref(message);
}

static void on_frame(ft_worker *worker, const ft_wire_frame *frame)
{
    for (size_t i = 0; i < sizeof HANDLERS / sizeof *HANDLERS; i++) {
        if (HANDLERS[i].type != frame->type) continue;
        if (!(HANDLERS[i].states & 1u << worker->state)) continue;
        if (HANDLERS[i].raw) {
            HANDLERS[i].raw(worker, frame);
        } else {
            on_message(worker, frame, HANDLERS[i].message);
        }
        return;
    }
    ft_worker_die(worker, FT_DEATH_MALFORMED, "a %s frame in state %s", ft_wire_name(frame->type),
                  STATES[worker->state]);
}

/* ---- States ---------------------------------------------------------------------------------- */

#define TO(state) (1u << FT_WORKER_##state)

/* A worker that loads a trace may find its job gone, one that leases may get nothing. */
static const unsigned NEXT[FT_WORKER_STATES] = {
    [FT_WORKER_DOWN] = TO(DOWN) | TO(STARTING),
    [FT_WORKER_STARTING] = TO(IDLE) | TO(DOWN),
    [FT_WORKER_IDLE] =
        TO(IDLE) | TO(LEASING) | TO(LOADING) | TO(WORKING) | TO(INGESTING) | TO(DOWN),
    [FT_WORKER_LEASING] = TO(IDLE) | TO(LOADING) | TO(WORKING) | TO(DOWN),
    [FT_WORKER_LOADING] = TO(WORKING) | TO(IDLE) | TO(DOWN),
    [FT_WORKER_WORKING] = TO(IDLE) | TO(DOWN),
    [FT_WORKER_INGESTING] = TO(IDLE) | TO(DOWN),
};
#undef TO

bool ft_worker_state_may(ft_worker_state from, ft_worker_state to)
{
    FT_REQUIRE(from < FT_WORKER_STATES && to < FT_WORKER_STATES);
    return NEXT[from] & 1u << to;
}

void ft_worker_enter(ft_worker *worker, ft_worker_state state)
{
    assert(ft_worker_state_may(worker->state, state));
    worker->state = state;
}

bool ft_worker_is_sound(const ft_worker *worker)
{
    bool leased = worker->batch.tasks != NULL;
    if ((worker->state == FT_WORKER_DOWN) != (worker->process == NULL)) return false;
    if (worker->process && worker->process->worker != worker) return false;
    if (!ft_batch_is_sound(&worker->batch)) return false;
    switch (worker->state) {
    case FT_WORKER_DOWN:
    case FT_WORKER_STARTING:
    case FT_WORKER_IDLE:
        return !leased && !worker->upload && !worker->summary && !worker->project;
    case FT_WORKER_LEASING:
        return !leased && !worker->upload && !worker->summary && worker->project;
    case FT_WORKER_LOADING:
    case FT_WORKER_WORKING:
        return !worker->upload && leased != (worker->summary != NULL) &&
               leased == (worker->project != NULL);
    case FT_WORKER_INGESTING:
        return worker->upload && !leased && !worker->summary;
    case FT_WORKER_STATES:
        break;
    }
    return false;
}

static void take_frames(ft_process *process)
{
    ft_wire_frame frame;
    bool have = true;
    while (process->worker && have) {
        ft_error err = FT_ERROR_INIT;
        if (ft_wire_decoder_next(&process->decoder, &frame, &have, &err) != FT_OK) {
            ft_worker_die(process->worker, FT_DEATH_MALFORMED, "a malformed frame: %.200s",
                          err.message);
            return;
        }
        if (!have) return;
        process->worker->heard = uv_now(process->dispatch->loop);
        assert(ft_worker_is_sound(process->worker));
        on_frame(process->worker, &frame);
    }
}

/* ---- Process --------------------------------------------------------------------------------- */

static void on_closed(uv_handle_t *handle)
{
    ft_process *process = handle->data;
    assert(process->open > 0);
    if (--process->open > 0) return;
    assert(!process->worker);
    ft_dispatch *dispatch = process->dispatch;
    ft_wire_decoder_release(&process->decoder);
    free(process);
    ft_dispatch_drop(dispatch);
}

static void close_handle(uv_handle_t *handle)
{
    if (!uv_is_closing(handle)) uv_close(handle, on_closed);
}

/* Lets a process go: nothing of it is heard any more. */
static void detach(ft_process *process)
{
    assert(process->worker && process->worker->process == process);
    process->worker->process = NULL;
    process->worker = NULL;
    close_handle((uv_handle_t *)&process->in);
    close_handle((uv_handle_t *)&process->out);
    close_handle((uv_handle_t *)&process->err);
    if (process->exited) {
        close_handle((uv_handle_t *)&process->handle);
    } else {
        uv_process_kill(&process->handle, SIGKILL);
    }
}

static ft_death death_by_exit(const ft_process *process)
{
    if (process->exit_signal == SIGKILL) return FT_DEATH_KILLED;
    if (process->exit_signal == SIGSYS) return FT_DEATH_CALL;
    if (process->exit_signal == 0 && process->exit_status == FT_EXIT_NOMEM) return FT_DEATH_MEMORY;
    return FT_DEATH_CRASHED;
}

/* A death is final when the exit is known and all that the worker had written is read: verdicts
 * that it got out before dying count. */
static void check_end(ft_process *process)
{
    if (!process->worker || !process->exited || !process->ended) return;
    ft_death death = death_by_exit(process);
    if (process->exit_signal) {
        ft_worker_die(process->worker, death, "signal %d (%s)", process->exit_signal,
                      strsignal(process->exit_signal));
    } else {
        ft_worker_die(process->worker, death, "exit code %d", (int)process->exit_status);
    }
}

static void on_exited(uv_process_t *handle, int64_t exit_status, int exit_signal)
{
    ft_process *process = handle->data;
    process->exited = true;
    process->exit_status = exit_status;
    process->exit_signal = exit_signal;
    if (process->worker) {
        check_end(process);
    } else {
        close_handle((uv_handle_t *)handle);
    }
}

/* One buffer for all: what was read is taken out of it before anything else is read. */
static void on_allocate(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    const ft_process *process = handle->data;
    (void)suggested;
    *buf = uv_buf_init(process->dispatch->inbox, sizeof process->dispatch->inbox);
}

static void on_quiet_end(uv_timer_t *timer);

/* Milliseconds until the batch has ended at its pace, or some of its verdicts are there; 0: it is
 * too slow, or too near its end, to wait. */
static uint64_t quiet_time(const ft_worker *worker)
{
    const ft_batch *batch = &worker->batch;
    uint64_t took = uv_now(worker->dispatch->loop) - batch->started;
    if (worker->state != FT_WORKER_WORKING || batch->kind != FT_KIND_SOLVE || worker->paused)
        return 0;
    if (batch->next == 0 || batch->next >= batch->own) return 0;
    if (took > batch->next * QUIET_MS / 2) return 0;
    uint64_t rest = took * (batch->own - batch->next) / batch->next;
    return rest < QUIET_MS ? rest : QUIET_MS;
}

/* A wake-up for each verdict costs more than the verdict: what comes meanwhile waits in the pipe.
 */
static void be_quiet(ft_worker *worker)
{
    uint64_t ms = quiet_time(worker);
    if (ms < 2) return;
    ft_batch_limit(worker, ms);
    uv_read_stop((uv_stream_t *)&worker->process->out);
    uv_timer_start(&worker->quiet, on_quiet_end, ms, 0);
}

static void on_read(uv_stream_t *stream, ssize_t length, const uv_buf_t *buf)
{
    ft_process *process = stream->data;
    if (length > 0) {
        ft_wire_decoder_feed(&process->decoder, buf->base, (size_t)length);
        take_frames(process);
        if (process->worker) be_quiet(process->worker);
    } else if (length < 0) {
        process->ended = true;
        uv_read_stop(stream);
        if (!process->exited) uv_process_kill(&process->handle, SIGKILL);
        check_end(process);
    }
}

/* It may have died or been paused meanwhile. */
static void on_quiet_end(uv_timer_t *timer)
{
    ft_worker *worker = timer->data;
    ft_process *process = worker->process;
    worker->heard = uv_now(worker->dispatch->loop);
    if (process && !process->ended && !worker->paused)
        uv_read_start((uv_stream_t *)&process->out, on_allocate, on_read);
}

/* ---- Last words ------------------------------------------------------------------------------ */

/* Kept as text that fits a JSON string whatever it was: the end is what matters. */
static void keep_words(ft_worker *worker, const char *bytes, size_t length)
{
    size_t have = strlen(worker->words);
    if (length > FT_WORDS_MOST) {
        bytes += length - FT_WORDS_MOST;
        length = FT_WORDS_MOST;
    }
    size_t drop = have + length > FT_WORDS_MOST ? have + length - FT_WORDS_MOST : 0;
    memmove(worker->words, worker->words + drop, have - drop);
    for (size_t i = 0; i < length; i++) {
        char c = bytes[i];
        bool plain = (c >= ' ' && c < 127) || c == '\n' || c == '\t';
        worker->words[have - drop + i] = plain ? c : '?';
    }
    assert(have - drop + length <= FT_WORDS_MOST);
    worker->words[have - drop + length] = '\0';
}

/* A worker's error output is passed on, and its end is kept for the report of a death. */
static void hear_words(ft_process *process, const char *bytes, size_t length)
{
    ssize_t ignored = write(STDERR_FILENO, bytes, length);
    (void)ignored;
    if (process->worker) keep_words(process->worker, bytes, length);
}

static void on_words(uv_stream_t *stream, ssize_t length, const uv_buf_t *buf)
{
    ft_process *process = stream->data;
    if (length > 0) hear_words(process, buf->base, (size_t)length);
    if (length < 0) uv_read_stop(stream);
}

/* Reads the output that it wrote before it died. */
static void drain_words(ft_process *process)
{
    uv_os_fd_t fd;
    char bytes[FT_WORDS_MOST];
    ssize_t length;
    if (uv_fileno((uv_handle_t *)&process->err, &fd) != 0) return;
    for (int i = 0; i < DRAIN_MOST && (length = read(fd, bytes, sizeof bytes)) > 0; i++)
        hear_words(process, bytes, (size_t)length);
}

/* ---- Starting -------------------------------------------------------------------------------- */

static int spawn(ft_process *process)
{
    ft_dispatch *dispatch = process->dispatch;
    char *mode = dispatch->config->sandbox;
    bool named = strcmp(mode, "try") != 0; /* which is what workers do by themselves */
    char option[] = "--sandbox";
    char memory_option[] = "--memory-mb", memory[32];
    snprintf(memory, sizeof memory, "%llu", (unsigned long long)dispatch->config->worker_memory_mb);
    char *arguments[] = {dispatch->worker_path, memory_option, memory,
                         named ? option : NULL, mode,          NULL};
    uv_stdio_container_t stdio[3] = {
        {.flags = UV_CREATE_PIPE | UV_READABLE_PIPE, .data.stream = (uv_stream_t *)&process->in},
        {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&process->out},
        {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&process->err},
    };
    uv_process_options_t options = {
        .file = dispatch->worker_path,
        .args = arguments,
        .exit_cb = on_exited,
        .stdio = stdio,
        .stdio_count = 3,
    };
    return uv_spawn(dispatch->loop, &process->handle, &options);
}

static void back_off(ft_worker *worker);

void ft_worker_start(ft_worker *worker)
{
    ft_dispatch *dispatch = worker->dispatch;
    assert(!worker->process && worker->state == FT_WORKER_DOWN && !dispatch->closing);
    ft_process *process = ft_calloc(1, sizeof *process);
    process->dispatch = dispatch;
    process->worker = worker;
    process->open = 4;
    uv_pipe_init(dispatch->loop, &process->in, 0);
    uv_pipe_init(dispatch->loop, &process->out, 0);
    uv_pipe_init(dispatch->loop, &process->err, 0);
    process->handle.data = process->in.data = process->out.data = process->err.data = process;
    ft_dispatch_hold(dispatch);
    worker->process = process;
    int result = spawn(process);
    if (result == 0) result = uv_read_start((uv_stream_t *)&process->out, on_allocate, on_read);
    if (result == 0) result = uv_read_start((uv_stream_t *)&process->err, on_allocate, on_words);
    worker->words[0] = '\0';
    if (result == 0) {
        worker->last_pid = uv_process_get_pid(&process->handle);
        ft_worker_enter(worker, FT_WORKER_STARTING);
        ft_worker_limit(worker, HELLO_MS);
        return;
    }
    ft_log(FT_LOG_ERROR, "cannot start a worker", "worker=%u path=\"%s\" reason=\"%s\"",
           worker->index, dispatch->worker_path, uv_strerror(result));
    process->exited = true;
    detach(process);
    worker->young_deaths++;
    back_off(worker);
}

/* ---- Death ----------------------------------------------------------------------------------- */

static void on_respawn(uv_timer_t *timer)
{
    ft_worker_start(timer->data);
}

/* The first restart is at once; workers that keep dying without an answer wait longer and longer.
 */
static void back_off(ft_worker *worker)
{
    uint64_t ms = 0;
    if (worker->young_deaths > 1) {
        unsigned doublings = worker->young_deaths - 2 < 7 ? worker->young_deaths - 2 : 7;
        ms = (uint64_t)BACKOFF_MS << doublings;
        if (ms > BACKOFF_MAX) ms = BACKOFF_MAX;
    }
    ft_worker_enter(worker, FT_WORKER_DOWN);
    uv_timer_start(&worker->respawn, on_respawn, ms, 0);
}

static void count_death(ft_worker *worker, ft_death death)
{
    ft_dispatch_count(worker->dispatch, FT_METRIC_DEATHS);
    if (death == FT_DEATH_TIMEOUT) ft_dispatch_count(worker->dispatch, FT_METRIC_TIMEOUTS);
    if (death == FT_DEATH_MALFORMED) ft_dispatch_count(worker->dispatch, FT_METRIC_MALFORMED);
    if (death != FT_DEATH_STOPPED && death != FT_DEATH_TIMEOUT) worker->young_deaths++;
    worker->restarts++;
}

void ft_worker_die(ft_worker *worker, ft_death death, const char *format, ...)
{
    char detail[256], text[320];
    FT_REQUIRE(worker->process && death < FT_DEATHS);
    va_list args;
    va_start(args, format);
    vsnprintf(detail, sizeof detail, format, args);
    va_end(args);
    snprintf(text, sizeof text, "%s: %s", ft_death_of(death)->text, detail);
    ft_log(death == FT_DEATH_STOPPED ? FT_LOG_INFO : FT_LOG_WARN, "worker ended",
           "worker=%u pid=%d death=%s state=%s detail=\"%s\"", worker->index,
           uv_process_get_pid(&worker->process->handle), ft_death_of(death)->name,
           STATES[worker->state], detail);
    drain_words(worker->process);
    detach(worker->process);
    count_death(worker, death);
    ft_worker_limit(worker, 0);
    uv_timer_stop(&worker->quiet);
    worker->generation++;
    worker->loaded[0] = '\0';
    worker->sending = worker->paused = false;
    if (!worker->dispatch->closing) back_off(worker);
    ft_worker_enter(worker, FT_WORKER_DOWN);
    ft_batch_lost(worker, death, text);
    ft_project_end(worker); /* of one that died while its tasks were being leased */
    ft_ingest_lost(worker, death, text);
    ft_summary_lost(worker, death, text);
    assert(ft_worker_is_sound(worker)); /* no work is left with it */
    ft_dispatch_pump(worker->dispatch);
}

static void on_deadline(uv_timer_t *timer)
{
    ft_worker *worker = timer->data;
    static const char *const WHAT[FT_WORKER_STATES] = {
        [FT_WORKER_STARTING] = "it did not start",
        [FT_WORKER_LOADING] = "it did not load the trace",
        [FT_WORKER_WORKING] = "no answer",
        [FT_WORKER_INGESTING] = "it did not read the upload",
    };
    ft_worker_die(worker, FT_DEATH_TIMEOUT, "%s within %llu ms", WHAT[worker->state],
                  (unsigned long long)uv_timer_get_repeat(timer));
}

/* The repeat interval is never reached: it carries the limit for the message. */
void ft_worker_limit(ft_worker *worker, uint64_t ms)
{
    uv_timer_stop(&worker->deadline);
    if (ms > 0) uv_timer_start(&worker->deadline, on_deadline, ms, ms);
}

void ft_worker_limit_trace(ft_worker *worker, uint64_t bytes)
{
    const ft_config *config = worker->dispatch->config;
    ft_worker_limit(worker, config->ingest_ms + (bytes >> 20) * config->ingest_mib_ms);
}

void ft_worker_idle(ft_worker *worker)
{
    ft_worker_limit(worker, 0);
    ft_worker_enter(worker, FT_WORKER_IDLE);
    assert(ft_worker_is_sound(worker));
    worker->words[0] = '\0';
    worker->young_deaths = 0;
    free(worker->progress);
    worker->progress = NULL;
}

/* ---- Frames out ------------------------------------------------------------------------------ */

static void on_written(uv_write_t *write, int status)
{
    sending *s = write->data;
    ft_worker *worker = s->process->worker;
    if (status == 0 && worker && s->sent) s->sent(worker);
    free(s->bytes);
    free(s);
}

void ft_worker_send(ft_worker *worker, ft_strbuf *frames, void (*sent)(ft_worker *worker))
{
    FT_REQUIRE(worker->process && frames->len > 0);
    sending *s = ft_calloc(1, sizeof *s);
    if (worker->state != FT_WORKER_WORKING) worker->heard = uv_now(worker->dispatch->loop);
    uv_buf_t buf = uv_buf_init(NULL, 0);
    buf.len = frames->len;
    s->bytes = buf.base = ft_strbuf_take(frames);
    s->process = worker->process;
    s->sent = sent;
    s->write.data = s;
    /* A failure shows as the end of the worker's output, which is handled there. */
    if (uv_write(&s->write, (uv_stream_t *)&worker->process->in, &buf, 1, on_written) == 0) return;
    free(s->bytes);
    free(s);
}

void ft_worker_send_json(ft_worker *worker, ft_wire_type type, const json_t *json)
{
    ft_strbuf frame = {0};
    ft_wire_frame_json(&frame, type, json);
    ft_worker_send(worker, &frame, NULL);
}

int ft_worker_pid(const ft_worker *worker)
{
    return uv_process_get_pid(&worker->process->handle);
}

uint64_t ft_worker_memory(const ft_worker *worker)
{
    char path[64];
    unsigned long long all = 0, resident = 0;
    if (!worker->process) return 0;
    snprintf(path, sizeof path, "/proc/%d/statm", ft_worker_pid(worker));
    FILE *file = fopen(path, "re");
    if (!file) return 0;
    if (fscanf(file, "%llu %llu", &all, &resident) != 2) resident = 0;
    fclose(file);
    return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

bool ft_worker_busy(const ft_worker *worker)
{
    return worker->project || worker->upload || worker->summary;
}

void ft_worker_pause(ft_worker *worker)
{
    FT_REQUIRE(worker->process);
    worker->paused = true;
    uv_read_stop((uv_stream_t *)&worker->process->out);
}

void ft_worker_resume(ft_worker *worker)
{
    ft_process *process = worker->process;
    FT_REQUIRE(process);
    worker->paused = false;
    worker->heard = uv_now(worker->dispatch->loop);
    if (!process->ended) uv_read_start((uv_stream_t *)&process->out, on_allocate, on_read);
}

/* ---- Slots ----------------------------------------------------------------------------------- */

void ft_worker_init(ft_worker *worker, ft_dispatch *dispatch, unsigned index, bool ingests)
{
    worker->dispatch = dispatch;
    worker->index = index;
    worker->ingests = ingests;
    uv_timer_init(dispatch->loop, &worker->deadline);
    uv_timer_init(dispatch->loop, &worker->respawn);
    uv_timer_init(dispatch->loop, &worker->quiet);
    worker->deadline.data = worker->respawn.data = worker->quiet.data = worker;
    ft_dispatch_hold(dispatch);
    ft_dispatch_hold(dispatch);
    ft_dispatch_hold(dispatch);
}

static void on_timer_closed(uv_handle_t *handle)
{
    ft_worker *worker = handle->data;
    ft_dispatch_drop(worker->dispatch);
}

void ft_worker_close(ft_worker *worker)
{
    if (worker->process) ft_worker_die(worker, FT_DEATH_STOPPED, "the server is stopping");
    uv_close((uv_handle_t *)&worker->deadline, on_timer_closed);
    uv_close((uv_handle_t *)&worker->respawn, on_timer_closed);
    uv_close((uv_handle_t *)&worker->quiet, on_timer_closed);
}
