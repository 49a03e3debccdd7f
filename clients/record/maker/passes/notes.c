/* Warnings about code whose behaviour the log does not have: libraries that order threads by
 * atomics and futex calls of their own, inline assembly that foretell-as does not understand,
 * forked processes with threads, refused cancellations. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "maker/passes/passes.h"
#include "maker/symbols/instrumentation.h"

/*  beginning of the file's name, what it orders threads by */
static const char *const foreign[][2] = {
    {"libgomp.", "OpenMP"},
    {"libomp.", "OpenMP"},
    {"libomp-", "OpenMP"},
    {"libiomp5.", "OpenMP"},
    {"libtbb.", "Threading Building Blocks"},
    {"libglib-2.", "GLib's locks and queues"},
    {"libQt5Core.", "Qt's locks"},
    {"libQt6Core.", "Qt's locks"},
    {"libabsl_synchronization.", "Abseil's locks"},
    {"liburcu", "userspace RCU's grace periods"}, /* liburcu.so, liburcu-mb.so, ... */
    {"libck.", "Concurrency Kit's locks and queues"},
    {"libdispatch.", "Grand Central Dispatch"},
};

static const char *foreign_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (strncmp(base, foreign[i][0], strlen(foreign[i][0])) == 0) return foreign[i][1];
    return NULL;
}

static void note_assembly(ft_maker *m, const char *path, uint64_t n)
{
    if (!n) return;
    ft_builder_note(m->builder, FT_RECORD_FOREIGN, FT_NO_EVENT,
                    "%s has %" PRIu64 " instruction(s) of inline assembly that order threads and "
                    "that the recorder does not see: findings between accesses that they order may "
                    "be false; declare such orders with --annotations (docs/record.md)",
                    path, n);
}

static void note_library(ft_maker *m, const char *path)
{
    const char *name = foreign_name(path);
    bool seen = name && ft_raw_log_header(m->log)->openmp && strstr(path, "/libgomp.");
    if (!name || seen) return;
    ft_builder_note(m->builder, FT_RECORD_FOREIGN, FT_NO_EVENT,
                    "%s (%s) orders threads without calls that the recorder sees: findings between "
                    "accesses that it orders may be false; declare such orders with --annotations "
                    "(docs/record.md)",
                    name, path);
}

static void note_module(ft_maker *m, const char *path)
{
    ft_instrumentation file;
    ft_instrumentation_read(path, &file);
    if (!file.calls_hooks) note_library(m, path);
    note_assembly(m, path, file.unseen);
}

/* A program that was only linked by the wrapper: its log has no accesses, so nothing can be found.
 */
static void note_no_calls(ft_maker *m)
{
    ft_builder_note(m->builder, FT_RECORD_NO_CALLS, FT_NO_EVENT,
                    "no code that ran was compiled with foretell-cc, which only linked the "
                    "program: none of its accesses to memory is seen; compile all of it with "
                    "foretell-cc");
}

/* Test frameworks may run each test in a forked process, which is not recorded. */
static void note_forked(ft_maker *m)
{
    uint32_t n = ft_raw_log_header(m->log)->forked;
    if (!n) return;
    ft_builder_note(m->builder, FT_RECORD_FORKED, FT_NO_EVENT,
                    "%" PRIu32
                    " process%s that the program forked created threads of %s own, which "
                    "are not recorded: run the program in one process (test frameworks have an "
                    "option like CK_FORK=no or --no-exec, servers one for the foreground)",
                    n, n == 1 ? "" : "es", n == 1 ? "its" : "their");
}

/* A thread that relies on the cancellation, by a join above all, waits forever. */
static void note_refused(ft_maker *m)
{
    uint32_t n = ft_raw_log_header(m->log)->refused;
    if (!n) return;
    ft_builder_note(m->builder, FT_RECORD_REFUSED, FT_NO_EVENT,
                    "pthread_cancel was refused %" PRIu32
                    " time%s: findings after that may be false, "
                    "above all deadlocks of threads that wait for one that was not cancelled; end "
                    "threads by a flag, a signal or a message instead",
                    n, n == 1 ? "" : "s");
}

/* At the last event of the thread that ran when the program ended. */
static void note_failure(ft_maker *m)
{
    if (!m->failure_kind) return;
    ft_strbuf code = {0};
    ft_strbuf_printf(&code, FT_NOTE_FAILURE "%s", m->failure_kind);
    bool any = m->threads.last < m->threads.all.len;
    ft_builder_note(m->builder, ft_strbuf_text(&code),
                    any ? m->threads.all.data[m->threads.last].seen : FT_NO_EVENT, "%s",
                    m->failure_text);
    ft_strbuf_release(&code);
}

/* An order that may be too strict: it can hide a finding, and makes none. */
static void note_unknown(ft_maker *m)
{
    uint32_t first, n = ft_channels_unknown(m->channels, &first);
    if (!n) return;
    const ft_trace *trace = ft_builder_peek(m->builder);
    const char *place = ft_trace_location_text(trace, trace->loc[first]);
    ft_builder_note(m->builder, FT_RECORD_UNKNOWN, first,
                    "%" PRIu32 " order%s through descriptors, children or system calls whose kind "
                    "the recorder does not know, first at %s: each such read comes after "
                    "all earlier writes to such objects, which may hide findings; pipes, sockets "
                    "and event descriptors of the process itself are known (docs/record.md)",
                    n, n == 1 ? "" : "s", place ? place : "an unknown place");
}

static void add_notes(ft_maker *m)
{
    note_unknown(m);
    note_failure(m);
    note_forked(m);
    note_refused(m);
    if (!m->inventory.instrumented && m->summary->threads > 1) note_no_calls(m);
    for (size_t i = 0; i < m->inventory.modules.len && m->summary->threads > 1; i++)
        note_module(m, m->inventory.modules.data[i].path);
}

/* The summary gets some of them too, since the user who records sees no report yet. */
void ft_maker_add_notes(ft_maker *m)
{
    const ft_trace *trace = ft_builder_peek(m->builder);
    add_notes(m);
    for (uint32_t i = 0; i < trace->n_notes; i++) {
        const char *code = trace->notes[i].code;
        bool forked = !strcmp(code, FT_RECORD_FORKED);
        char *to = forked ? m->summary->forked : m->summary->foreign;
        if (forked || !strcmp(code, FT_RECORD_FOREIGN) || !strcmp(code, FT_RECORD_NO_CALLS))
            snprintf(to, FT_RECORD_TEXT, "%s", trace->notes[i].text);
    }
}
