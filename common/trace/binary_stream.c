#include "trace/binary_stream.h"
#include "base/contract.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "trace/binary_out.h"
#include "trace/builder_internal.h"

/* Blocks that stay in a processor's cache; level 1 is a third of the work of the level that traces
 * are stored with. */
enum { BLOCK = 1 << 14, JOBS = 3, LEVEL = 1 };

typedef struct piece {
    ft_binary_frame type;
    size_t from, length; /* in the job's text */
} piece;

/* A batch of events that one call packs: the pieces of the tables that they need, then they. */
typedef struct job {
    FT_VEC(ft_value) values;
    FT_VEC(piece) pieces;
    ft_strbuf text;
    uint32_t first, n, n_threads;
    uint8_t *kind, *flags;
    uint16_t *thread;
    uint32_t *object, *loc, *data, *hook, *context;
} job;

struct ft_binary_stream {
    ft_builder *builder;
    ft_binary_lists lists;
    ft_binary_out out;
    ft_binary_columns columns;
    ft_strbuf values; /* payload */
    ft_error err;     /* of the sink */
    bool threaded;    /* else every job is done at once */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t given, done; /* jobs; under the lock */
    bool over;            /* no more come; under the lock */
    job jobs[JOBS];
};

/* ---- the thread that writes ------------------------------------------------------------------ */

static const uint32_t *unless_zeros(const uint32_t *numbers, uint32_t n)
{
    uint32_t seen = 0;
    for (uint32_t i = 0; i < n; i++) seen |= numbers[i];
    return seen ? numbers : NULL;
}

static void put_values(ft_binary_stream *s, const job *j)
{
    for (size_t at = 0, n; at < j->values.len; at += n) {
        n = j->values.len - at < FT_BINARY_VALUES ? j->values.len - at : FT_BINARY_VALUES;
        ft_strbuf_clear(&s->values);
        ft_binary_put_values(&s->values, j->values.data + at, (uint32_t)n);
        ft_binary_out_frame(&s->out, FT_BINARY_FRAME_VALUES, s->values.text, s->values.len);
    }
}

static void do_job(ft_binary_stream *s, job *j)
{
    const ft_binary_rows rows = {.first = j->first,
                                 .n = j->n,
                                 .kind = j->kind,
                                 .flags = j->flags,
                                 .thread = j->thread,
                                 .object = j->object,
                                 .loc = j->loc,
                                 .data = j->data,
                                 .hook = unless_zeros(j->hook, j->n),
                                 .context = unless_zeros(j->context, j->n)};
    put_values(s, j);
    for (size_t i = 0; i < j->pieces.len; i++)
        ft_binary_out_frame(&s->out, j->pieces.data[i].type, j->text.text + j->pieces.data[i].from,
                            j->pieces.data[i].length);
    ft_binary_columns_put(&s->columns, &rows, j->n_threads, &s->out);
}

static void *write_jobs(void *context)
{
    ft_binary_stream *s = context;
    pthread_mutex_lock(&s->lock);
    for (;;) {
        while (s->done == s->given && !s->over) pthread_cond_wait(&s->changed, &s->lock);
        if (s->done == s->given) break;
        job *next = &s->jobs[s->done % JOBS];
        pthread_mutex_unlock(&s->lock);
        do_job(s, next);
        pthread_mutex_lock(&s->lock);
        s->done++;
        pthread_cond_signal(&s->changed);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* Signals are for the caller's threads. */
static void start_thread(ft_binary_stream *s)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    s->threaded = !pthread_create(&s->thread, NULL, write_jobs, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- the caller's side ----------------------------------------------------------------------- */

static job *free_job(ft_binary_stream *s)
{
    pthread_mutex_lock(&s->lock);
    while (s->given - s->done == JOBS) pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
    assert(s->given - s->done < JOBS && !s->over);
    job *j = &s->jobs[s->given % JOBS];
    j->values.len = j->pieces.len = 0;
    ft_strbuf_clear(&j->text);
    return j;
}

static void give(ft_binary_stream *s, job *j)
{
    if (!s->threaded) do_job(s, j);
    pthread_mutex_lock(&s->lock);
    s->given++;
    assert(s->given - s->done <= JOBS);
    s->done += !s->threaded;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

static void add_piece(void *context, ft_binary_frame type, const void *raw, size_t length)
{
    ft_binary_stream *s = context;
    job *j = &s->jobs[s->given % JOBS];
    ft_vec_push(&j->pieces, (piece){.type = type, .from = j->text.len, .length = length});
    ft_strbuf_add(&j->text, raw, length);
}

/* The trace grows on while the job is done, and its arrays may move: the job has a copy. */
static void take_values(ft_binary_stream *s, job *j)
{
    const ft_trace *trace = s->builder->trace;
    uint32_t done = s->lists.done[FT_BINARY_FRAME_VALUES], first = done ? done : 1;
    assert(first <= trace->n_values);
    size_t n = trace->n_values - first;
    ft_vec_reserve(&j->values, n + 1);
    memcpy(j->values.data, trace->values + first, n * sizeof *trace->values);
    j->values.len = n;
}

#define SWAP(a, b)                                                                                 \
    do {                                                                                           \
        void *before = (a);                                                                        \
        (a) = (b);                                                                                 \
        (b) = before;                                                                              \
    } while (0)

static void take_events(ft_trace *trace, job *j)
{
    SWAP(trace->kind, j->kind);
    SWAP(trace->flags, j->flags);
    SWAP(trace->thread, j->thread);
    SWAP(trace->object, j->object);
    SWAP(trace->loc, j->loc);
    SWAP(trace->data, j->data);
    SWAP(trace->hook, j->hook);
    SWAP(trace->context, j->context);
}

static job *fill_job(ft_binary_stream *s)
{
    ft_trace *trace = s->builder->trace;
    job *j = free_job(s);
    j->first = s->builder->flushed;
    j->n = trace->n_events;
    assert(j->n <= BLOCK);
    j->n_threads = trace->threads.len;
    take_values(s, j);
    ft_binary_lists_declare(&s->lists);
    take_events(trace, j);
    return j;
}

static void flush(void *context)
{
    ft_binary_stream *s = context;
    give(s, fill_job(s));
}

static void alloc_events(job *j)
{
    j->kind = ft_alloc(BLOCK * sizeof *j->kind);
    j->flags = ft_alloc(BLOCK * sizeof *j->flags);
    j->thread = ft_alloc(BLOCK * sizeof *j->thread);
    j->object = ft_alloc(BLOCK * sizeof *j->object);
    j->loc = ft_alloc(BLOCK * sizeof *j->loc);
    j->data = ft_alloc(BLOCK * sizeof *j->data);
    j->hook = ft_alloc(BLOCK * sizeof *j->hook);
    j->context = ft_alloc(BLOCK * sizeof *j->context);
}

static void release_job(job *j)
{
    ft_vec_release(&j->values);
    ft_vec_release(&j->pieces);
    ft_strbuf_release(&j->text);
    free(j->kind);
    free(j->flags);
    free(j->thread);
    free(j->object);
    free(j->loc);
    free(j->data);
    free(j->hook);
    free(j->context);
}

ft_binary_stream *ft_binary_stream_open(ft_builder *builder, ft_sink sink, void *context)
{
    FT_REQUIRE(builder && sink && !ft_builder_count(builder));
    ft_binary_stream *s = ft_calloc(1, sizeof *s);
    ft_trace *trace = builder->trace;
    s->builder = builder;
    s->err = (ft_error)FT_ERROR_INIT;
    s->out = (ft_binary_out){.sink = sink, .context = context, .err = &s->err};
    s->lists =
        (ft_binary_lists){.trace = trace, .frame = add_piece, .context = s, .no_values = true};
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    ft_builder_flush_to(builder, flush, s, BLOCK);
    trace->hook = ft_calloc(BLOCK, sizeof *trace->hook);
    trace->context = ft_calloc(BLOCK, sizeof *trace->context);
    for (int i = 0; i < JOBS; i++) alloc_events(&s->jobs[i]);
    ft_binary_out_open(&s->out, LEVEL, trace->format, 0);
    start_thread(s);
    return s;
}

static void clamp_notes(ft_trace *trace, uint32_t n_events)
{
    for (uint32_t i = 0; i < trace->n_notes; i++)
        if (trace->notes[i].event >= n_events) trace->notes[i].event = FT_NO_EVENT;
}

/* The last events, and the end of the file; the trace has neither actions nor branches, whose
 * rules are looked at where a trace is finished. */
static void put_end(ft_binary_stream *s)
{
    ft_builder_flush(s->builder);
    clamp_notes(s->builder->trace, s->builder->flushed);
    job *j = fill_job(s);
    ft_binary_lists_end(&s->lists, s->builder->flushed);
    give(s, j);
}

static void stop_thread(ft_binary_stream *s)
{
    pthread_mutex_lock(&s->lock);
    s->over = true;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
    if (s->threaded) pthread_join(s->thread, NULL);
}

static ft_status status_of(const ft_binary_stream *s, ft_error *err)
{
    const ft_builder *b = s->builder;
    if (b->failure.code != FT_OK)
        return ft_error_set(err, b->failure.code, "%s", b->failure.message);
    if (!b->flushed)
        return ft_error_set(err, FT_INPUT, "the trace has no events: nothing to analyse");
    if (s->out.status != FT_OK) *err = s->err;
    return s->out.status;
}

ft_status ft_binary_stream_close(ft_binary_stream *s, uint32_t *n_events, ft_error *err)
{
    put_end(s);
    stop_thread(s);
    assert(s->done == s->given); /* what was given is written */
    ft_status status = status_of(s, err);
    if (n_events) *n_events = s->builder->flushed;
    ft_binary_lists_release(&s->lists);
    ft_binary_columns_release(&s->columns);
    ft_binary_out_close(&s->out);
    ft_strbuf_release(&s->values);
    for (int i = 0; i < JOBS; i++) release_job(&s->jobs[i]);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->changed);
    free(s);
    return status;
}
