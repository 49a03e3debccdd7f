/* The order of a recorded run as the text of a schedule set with one schedule, which `cover`
 * prefers. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "files/files.h"
#include "recorded/recorded.h"

enum { MOST_THREADS = 64 }; /* of a schedule */

/* Lists, for each kind of event, the line of a schedule, with objects that stand for all. Atomic
 * accesses are not listed: those of memory that one thread alone uses have no event. Neither is a
 * wake-up, which is over where the thread has its mutex again. */
static const struct {
    ft_event_kind event;
    const char *line;
    bool peer;
} ROWS[] = {
    {FT_EVENT_BEGIN, "begin", false},
    {FT_EVENT_END, "end", false},
    {FT_EVENT_FORK, "create", true},
    {FT_EVENT_JOIN, "join", true},
    {FT_EVENT_ACQUIRE, "lock @any+0", false},
    {FT_EVENT_ACQUIRE_SHARED, "lock @any+0", false},
    {FT_EVENT_TRY_FAILED, "lock @any+0", false},
    {FT_EVENT_TRY_FAILED_SHARED, "lock @any+0", false},
    {FT_EVENT_RELEASE, "unlock @any+0", false},
    {FT_EVENT_WAIT, "sem_wait @any+0", false},
    {FT_EVENT_POST, "sem_post @any+0", false},
    {FT_EVENT_COND_WAIT, "wait @any+0 @any+8", false},
    {FT_EVENT_SIGNAL, "signal @any+0 wakes nobody", false},
    {FT_EVENT_BROADCAST, "broadcast @any+0", false},
    {FT_EVENT_BARRIER_ARRIVE, "arrive @any+0", false},
    {FT_EVENT_BARRIER_LEAVE, "leave @any+0", false},
    {FT_EVENT_ONCE_BEGIN, "once @any+0", false},
    {FT_EVENT_ONCE_END, "once_done @any+0", false},
    {FT_EVENT_ONCE_PASS, "once @any+0", false},
};
static const char WAKES[] = "wake @any+0 @any+8", LATE[] = "timed_wake @any+0 @any+8 timed-out";

typedef struct own_thread {
    char *name; /* by creation: 0, 0.1, ...; NULL: nobody has created it */
    uint32_t created, lines;
    bool ended;
    bool timed_out; /* the newest wake-up */
} own_thread;

typedef struct ordering {
    const ft_trace *trace;
    own_thread *threads; /* by thread of the trace */
    uint32_t named;
    ft_strbuf *out;
} ordering;

static void add_line(ordering *o, own_thread *thread, const char *line, const own_thread *peer)
{
    ft_strbuf_printf(o->out, "  %s:%" PRIu32 " %s%s%s\n", thread->name, ++thread->lines, line,
                     peer ? " " : "", peer ? peer->name : "");
}

static bool name_child(ordering *o, own_thread *parent, own_thread *child)
{
    ft_strbuf name = {0};
    if (o->named++ == MOST_THREADS) return false;
    ft_strbuf_printf(&name, "%s.%" PRIu32, parent->name, ++parent->created);
    child->name = ft_strbuf_take(&name);
    return true;
}

/* The row of an event; NULL: it is not an operation that the order has. */
static const char *line_of(const ordering *o, uint32_t event, own_thread *thread, bool *peer)
{
    uint8_t kind = o->trace->kind[event], flags = o->trace->flags[event];
    bool in_wait = flags & FT_FLAG_CONDITION, acquires = kind == FT_EVENT_ACQUIRE;
    bool added = kind == FT_EVENT_RELEASE && (flags & FT_FLAG_SYNTHETIC);
    bool blocked = ft_event_kind_waits((ft_event_kind)kind) && (flags & FT_FLAG_BLOCKED);
    *peer = false;
    if (kind == FT_EVENT_COND_WAKE) thread->timed_out = flags & FT_FLAG_FAILED;
    if (added || blocked || (flags & FT_FLAG_PASSED) || (in_wait && !acquires)) return NULL;
    if (in_wait) return thread->timed_out ? LATE : WAKES;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        if (ROWS[i].event == kind) return *peer = ROWS[i].peer, ROWS[i].line;
    return NULL;
}

static ft_status add_event(ordering *o, uint32_t event, ft_error *err)
{
    bool has_peer, begins = o->trace->kind[event] == FT_EVENT_BEGIN;
    own_thread *thread = &o->threads[o->trace->thread[event]], *peer = NULL;
    const char *line = thread->name ? line_of(o, event, thread, &has_peer) : NULL;
    if (!line || thread->ended) return FT_OK;
    if (has_peer) peer = &o->threads[o->trace->object[event]];
    bool creates = o->trace->kind[event] == FT_EVENT_FORK;
    if (has_peer && creates == (peer->name != NULL)) return FT_OK; /* twice, or by nobody */
    if (creates && !name_child(o, thread, peer))
        return ft_error_set(err, FT_LIMIT, "the recording has more than %d threads", MOST_THREADS);
    if (!thread->lines) add_line(o, thread, "begin", NULL);
    if (!begins) add_line(o, thread, line, peer);
    thread->ended = o->trace->kind[event] == FT_EVENT_END;
    return FT_OK;
}

/* The process's end ends the threads that are left. */
static void end_threads(ordering *o)
{
    for (uint32_t t = 0; t < o->trace->threads.len; t++) {
        own_thread *thread = &o->threads[t];
        if (!thread->name || thread->ended) continue;
        if (!thread->lines) add_line(o, thread, "begin", NULL);
        add_line(o, thread, "end", NULL);
    }
}

static ft_status order_events(ordering *o, ft_error *err)
{
    ft_status status = FT_OK;
    ft_strbuf_puts(o->out, "schedules 1\nprefix yes\nepoch entry\ntake recorded\n"
                           "schedule recorded ended\n");
    if (o->trace->threads.len) o->threads[0].name = ft_strdup("0");
    o->named = 1;
    for (uint32_t e = 0; e < o->trace->n_events && status == FT_OK; e++)
        status = add_event(o, e, err);
    end_threads(o);
    return status;
}

ft_status ft_recorded_order(const char *path, ft_strbuf *out, ft_error *err)
{
    ft_trace *trace = NULL;
    ft_status status = ft_input_trace(path, &trace, NULL, err);
    if (status != FT_OK) return status;
    ordering o = {.trace = trace, .out = out};
    o.threads = ft_calloc(trace->threads.len + 1, sizeof *o.threads);
    status = order_events(&o, err);
    for (uint32_t t = 0; t < trace->threads.len; t++) free(o.threads[t].name);
    free(o.threads);
    ft_trace_free(trace);
    return status;
}
