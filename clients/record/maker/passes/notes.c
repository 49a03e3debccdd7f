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

static void note_assembly(ft_maker *m, const char *path, const ft_instrumentation *file)
{
    const char *place = file->place;
    if (!file->unseen) return;
    ft_builder_note(m->builder, FT_RECORD_FOREIGN, FT_NO_EVENT,
                    "%s has %" PRIu64
                    " instruction(s) of inline assembly%s%s%s that order threads and "
                    "that the recorder does not see: findings between accesses that they order may "
                    "be false; declare such orders with --annotations (docs/record.md)",
                    path, file->unseen, *place ? " (the first: " : "", place, *place ? ")" : "");
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
    note_assembly(m, path, &file);
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

static const char *awaited(ft_event_kind kind)
{
    static const struct {
        ft_event_kind kind;
        const char *text;
    } rows[] = {
        {FT_EVENT_ACQUIRE, "a lock"},
        {FT_EVENT_ACQUIRE_SHARED, "a lock (for reading)"},
        {FT_EVENT_WAIT, "a semaphore"},
        {FT_EVENT_COND_WAKE, "a condition variable"},
        {FT_EVENT_BARRIER_LEAVE, "a barrier"},
        {FT_EVENT_ONCE_PASS, "an initialiser that runs once"},
        {FT_EVENT_JOIN, "another thread's end"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].kind == kind) return rows[i].text;
    return "another thread";
}

/* "main waits for a lock at a.c:3", "T1 runs, last seen at a.c:9" */
static void put_doing(ft_maker *m, const ft_maker_doing *d, ft_strbuf *out)
{
    const ft_trace *trace = ft_builder_peek(m->builder);
    bool waits = d->doing == FT_RAW_DOING_WAITS;
    uint32_t loc =
        waits ? ft_names_locate(&m->names, d->site) : m->threads.all.data[d->thread].seen_at;
    const char *place = ft_trace_location_text(trace, loc);
    ft_strbuf_printf(out, "%s ", trace->threads.names[ft_names_thread(&m->names, d->thread)]);
    if (waits)
        ft_strbuf_printf(out, "waits for %s at ", awaited(d->kind));
    else
        ft_strbuf_printf(out, "%s, last seen at ",
                         d->doing == FT_RAW_DOING_SLEEPS ? "is in a system call" : "runs");
    ft_strbuf_puts(out, place ? place : "an unknown place");
}

static void put_doings(ft_maker *m, ft_strbuf *out)
{
    enum { SHOWN = 8 };
    for (size_t i = 0; i < m->doing.len && i < SHOWN; i++) {
        ft_strbuf_puts(out, i ? ", " : "; at its end ");
        put_doing(m, &m->doing.data[i], out);
    }
    if (m->doing.len > SHOWN) ft_strbuf_printf(out, " and %zu more", m->doing.len - SHOWN);
}

/* At the last event of the thread that ran when the program ended. */
static void note_failure(ft_maker *m)
{
    if (!m->failure_kind) return;
    ft_strbuf code = {0}, doings = {0};
    put_doings(m, &doings);
    ft_strbuf_printf(&code, FT_NOTE_FAILURE "%s", m->failure_kind);
    bool any = m->threads.last < m->threads.all.len;
    ft_builder_note(m->builder, ft_strbuf_text(&code),
                    any ? m->threads.all.data[m->threads.last].seen : FT_NO_EVENT, "%s%s",
                    m->failure_text, ft_strbuf_text(&doings));
    ft_strbuf_release(&doings);
    ft_strbuf_release(&code);
}

static void note_explored(ft_maker *m)
{
    if (m->explored_text)
        ft_builder_note(m->builder, FT_RECORD_EXPLORED, FT_NO_EVENT, "%s", m->explored_text);
}

/* An order that may be too strict: it can hide a finding, and makes none. */
static void note_unknown(ft_maker *m)
{
    uint32_t first, loc, n = ft_channels_unknown(m->channels, &first, &loc);
    if (!n) return;
    const ft_trace *trace = ft_builder_peek(m->builder);
    const char *place = ft_trace_location_text(trace, loc);
    ft_builder_note(m->builder, FT_RECORD_UNKNOWN, first,
                    "%" PRIu32 " order%s through descriptors, children or system calls whose kind "
                    "the recorder does not know, first at %s: each such read comes after "
                    "all earlier writes to such objects, which may hide findings; pipes, sockets "
                    "and event descriptors of the process itself are known (docs/record.md)",
                    n, n == 1 ? "" : "s", place ? place : "an unknown place");
}

/* A multiple of the largest unit that says it well enough. */
static void put_time(uint64_t ns, ft_strbuf *out)
{
    double seconds = (double)ns / 1e9;
    if (seconds >= 0.9995)
        ft_strbuf_printf(out, "%.3g s", seconds);
    else if (seconds >= 0.0009995)
        ft_strbuf_printf(out, "%.3g ms", seconds * 1e3);
    else
        ft_strbuf_printf(out, "%.3g us", seconds * 1e6);
}

/* Of several limits at one location, the longest. */
static void note_limits(ft_maker *m)
{
    for (size_t i = 0; i < m->limits.len; i++) {
        const ft_maker_limit *limit = &m->limits.data[i];
        uint32_t loc = ft_names_locate(&m->names, limit->site);
        const char *place = ft_trace_location_text(ft_builder_peek(m->builder), loc);
        ft_strbuf time = {0};
        put_time(limit->longest, &time);
        if (place)
            ft_builder_note(m->builder, FT_NOTE_LIMIT, FT_NO_EVENT, "the time limit of %s at %s",
                            ft_strbuf_text(&time), place);
        ft_strbuf_release(&time);
    }
}

static void note_unrun(ft_maker *m)
{
    uint32_t n = 0, first = 0;
    if (ft_raw_log_header(m->log)->end != FT_RAW_END_EXIT) return;
    for (uint32_t t = 1; t < m->threads.all.len; t++) {
        const ft_running_thread *a = &m->threads.all.data[t];
        if (a->begun || a->forked == UINT64_MAX) continue;
        if (!n++) first = t;
    }
    if (!n) return;
    const ft_trace *trace = ft_builder_peek(m->builder);
    uint32_t thread = ft_names_thread(&m->names, first);
    const char *place = ft_trace_location_text(trace, m->threads.all.data[first].forked_at);
    ft_builder_note(m->builder, FT_RECORD_UNRUN, FT_NO_EVENT,
                    "%" PRIu32 " thread%s never ran, first %s, created at %s: the program ended "
                    "before, and nothing is known of what %s would have done; join such threads, "
                    "or record more runs (--runs 5)",
                    n, n == 1 ? "" : "s", trace->threads.names[thread],
                    place ? place : "an unknown place", n == 1 ? "it" : "they");
}

static void add_notes(ft_maker *m)
{
    note_limits(m);
    note_unrun(m);
    note_unknown(m);
    note_explored(m);
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
        bool forked = !strcmp(code, FT_RECORD_FORKED), unrun = !strcmp(code, FT_RECORD_UNRUN);
        char *to = forked ? m->summary->forked : unrun ? m->summary->unrun : m->summary->foreign;
        if (forked || unrun || !strcmp(code, FT_RECORD_FOREIGN) ||
            !strcmp(code, FT_RECORD_NO_CALLS))
            snprintf(to, FT_RECORD_TEXT, "%s", trace->notes[i].text);
    }
}
