#include "maker/maker.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/contract.h"
#include "maker/passes/passes.h"
#include "trace/binary_stream.h"

static void release_maker(ft_maker *m)
{
    ft_raw_log_close(m->log);
    ft_cells_free(m->cells);
    ft_channels_free(m->channels);
    ft_library_locks_free(m->locks);
    ft_names_release(&m->names);
    ft_inventory_release(&m->inventory);
    ft_terms_free(m->terms);
    ft_vec_release(&m->objects.all);
    ft_vec_release(&m->limits);
    ft_vec_release(&m->doing);
    ft_shared_memory_release(&m->memory);
    ft_running_threads_release(&m->threads);
    ft_ordered_cells_release(&m->ordered);
    ft_pointer_targets_release(&m->targets);
}

static void open_maker(ft_maker *m, ft_record_summary *summary)
{
    *summary = (ft_record_summary){0};
    m->summary = summary;
    m->cells = ft_cells_new();
    m->channels = ft_channels_new();
    m->locks = ft_library_locks_new();
    ft_inventory_init(&m->inventory);
    ft_names_init(&m->names, m->log, &m->inventory, m->cells);
}

/* Runs the second pass into the builder. */
static void make_events(ft_maker *m)
{
    ft_maker_second_pass(m);
    ft_maker_summarise(m);
    ft_maker_add_notes(m);
}

/* Counters of executions that compilers add (--coverage, -fprofile-...): accesses to them have
 * hooks, but no thread depends on the counts, so they get no cells. */
static bool is_counter(void *symbols, uint64_t address)
{
    static const char *const beginnings[] = {"__gcov", "__llvm_gcov", "__profc_"};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (ft_symbols_is_in(symbols, address, beginnings[i])) return true;
    return false;
}

static void settle(ft_maker *m)
{
    ft_cells_leave_out(m->cells, is_counter, m->names.symbols);
    ft_cells_settle(m->cells);
}

/* The command for replays: the words that the program was started with, else those given here. */
static void tell_command(ft_maker *m, const char *const *given, size_t n)
{
    bool known = m->inventory.words.len;
    const char *const *words = known ? (const char *const *)m->inventory.words.data : given;
    ft_builder_commands(m->builder, words, known ? m->inventory.words.len : n);
}

static ft_status finish_maker(ft_maker *m, ft_trace **trace, ft_error *err)
{
    settle(m);
    m->builder = ft_builder_new(FT_FORMAT_BINARY);
    tell_command(m, NULL, 0);
    make_events(m);
    if (m->terms) ft_terms_note(m->terms);
    ft_status status = ft_builder_finish(m->builder, trace, err);
    if (status == FT_OK) m->summary->events = (*trace)->n_events;
    if (status != FT_OK || !m->summary->terms.damaged) return status;
    ft_trace_free(*trace);
    *trace = NULL;
    return ft_error_set(err, FT_INPUT, "the terms of the recording are damaged");
}

/* Where the trace is written. */
typedef struct target {
    const char *const *command;
    size_t n_command;
    ft_sink sink;
    void *context;
} target;

static ft_status write_trace(ft_maker *m, const target *to, ft_error *err)
{
    settle(m);
    m->builder = ft_builder_new(FT_FORMAT_BINARY);
    tell_command(m, to->command, to->n_command);
    ft_binary_stream *stream = ft_binary_stream_open(m->builder, to->sink, to->context);
    make_events(m);
    ft_status status = ft_binary_stream_close(stream, &m->summary->events, err);
    ft_builder_free(m->builder);
    return status;
}

struct ft_recording {
    char *path;
    const ft_annotations *annotations;
    ft_maker maker;
    ft_record_summary summary;
    ft_status status; /* of the first pass */
    ft_error err;
    bool follows;                /* a thread does the first pass */
    ft_running_program *program; /* NULL: the log is read at the end */
    char *failure_kind, *failure_text, *explored_text;
    pthread_t thread;
};

static void *follow_program(void *context)
{
    ft_recording *r = context;
    r->status = ft_maker_first_pass(&r->maker, r->program, &r->err);
    return NULL;
}

/* Signals go to the thread that waits for the program. */
static void start_thread(ft_recording *r)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    r->follows = !pthread_create(&r->thread, NULL, follow_program, r);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

ft_recording *ft_record_begin(const char *path, const ft_annotations *annotations)
{
    ft_recording *r = ft_calloc(1, sizeof *r);
    ft_error err = FT_ERROR_INIT;
    r->path = ft_strdup(path);
    r->annotations = annotations;
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2) return r;
    if (ft_raw_log_follow(path, ft_raw_log_memory(), &r->maker.log, &err) != FT_OK) return r;
    r->err = (ft_error)FT_ERROR_INIT;
    r->program = ft_running_program_new();
    open_maker(&r->maker, &r->summary);
    start_thread(r);
    if (!r->follows) { /* nobody would empty a ring: the log is read at the end */
        release_maker(&r->maker);
        r->maker = (ft_maker){0};
    }
    return r;
}

static void join_follower(ft_recording *r)
{
    if (!r->follows) return;
    ft_running_program_end(r->program);
    pthread_join(r->thread, NULL);
}

void ft_record_drop(ft_recording *r)
{
    if (!r) return;
    join_follower(r);
    release_maker(&r->maker);
    ft_running_program_free(r->program);
    free(r->failure_kind);
    free(r->failure_text);
    free(r->explored_text);
    free(r->path);
    free(r);
}

void ft_record_failed(ft_recording *r, const char *kind, const char *text)
{
    FT_REQUIRE(kind && text && !r->failure_kind);
    r->failure_kind = ft_strdup(kind);
    r->failure_text = ft_strdup(text);
}

void ft_record_explored(ft_recording *r, const char *text)
{
    FT_REQUIRE(text && !r->explored_text);
    r->explored_text = ft_strdup(text);
}

static ft_status read_all(ft_recording *r, ft_error *err)
{
    ft_status status = ft_raw_log_open(r->path, &r->maker.log, err);
    if (status != FT_OK) return status;
    open_maker(&r->maker, &r->summary);
    return ft_maker_first_pass(&r->maker, NULL, err);
}

/* After the first pass. */
static ft_status end_recording(ft_recording *r, const target *to, ft_trace **trace,
                               ft_record_summary *summary, ft_error *err)
{
    join_follower(r);
    ft_status status = r->follows ? r->status : read_all(r, err);
    if (r->follows && status != FT_OK) *err = r->err;
    r->maker.names.annotations = r->annotations;
    r->maker.failure_kind = r->failure_kind;
    r->maker.failure_text = r->failure_text;
    r->maker.explored_text = r->explored_text;
    if (status == FT_OK && to) status = write_trace(&r->maker, to, err);
    if (status == FT_OK && trace) status = finish_maker(&r->maker, trace, err);
    *summary = r->summary;
    r->follows = false;
    ft_record_drop(r);
    return status;
}

ft_status ft_record_end(ft_recording *r, ft_trace **trace, ft_record_summary *summary,
                        ft_error *err)
{
    return end_recording(r, NULL, trace, summary, err);
}

ft_status ft_record_write(ft_recording *r, const char *const *command, size_t n_command,
                          ft_sink sink, void *context, ft_record_summary *summary, ft_error *err)
{
    const target to = {command, n_command, sink, context};
    return end_recording(r, &to, NULL, summary, err);
}

ft_status ft_record_make(const char *path, ft_trace **trace, ft_record_summary *summary,
                         ft_error *err)
{
    ft_recording *r = ft_calloc(1, sizeof *r);
    r->path = ft_strdup(path);
    return ft_record_end(r, trace, summary, err);
}
