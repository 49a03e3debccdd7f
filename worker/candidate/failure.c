/* The failure of the recorded run itself: the trace says how it ended. */
#include <string.h>

#include "candidate/listed.h"

/* FT_LISTED_KINDS: a kind that is not known. */
static ft_listed_kind kind_of(const ft_note *note)
{
    const char *name = note->code + strlen(FT_NOTE_FAILURE);
    for (int kind = FT_LISTED_EXIT_CODE; kind <= FT_LISTED_OUTPUT; kind++)
        if (!strcmp(name, ft_listed_kind_name((ft_listed_kind)kind))) return (ft_listed_kind)kind;
    return FT_LISTED_KINDS;
}

/* Does the event wait for a lock that a thread kept when it ended? In other schedules such a lock
 * counts as released there, so no deadlock is derived from it. */
static bool waits_for_kept_lock(const ft_trace *trace, uint32_t request)
{
    uint32_t holder = UINT32_MAX, lock = trace->object[request];
    bool ended = false;
    if (trace->kind[request] != FT_EVENT_ACQUIRE) return false;
    for (uint32_t e = 0; e < trace->n_events; e++) {
        bool of_lock = trace->object[e] == lock && !ft_trace_is_blocked(trace, e);
        if (trace->kind[e] == FT_EVENT_ACQUIRE && of_lock) holder = trace->thread[e];
        if (trace->kind[e] == FT_EVENT_RELEASE && of_lock) holder = UINT32_MAX;
        if (trace->kind[e] == FT_EVENT_END && trace->thread[e] == holder) ended = true;
    }
    return holder != UINT32_MAX && ended;
}

/* Threads of a deadlock hang: that is a finding of its own, unless all of them wait for such locks.
 */
static bool is_deadlocked(const ft_trace *trace)
{
    for (uint32_t e = 0; e < trace->n_events; e++)
        if (ft_trace_is_blocked(trace, e) && !waits_for_kept_lock(trace, e)) return true;
    return false;
}

enum { TAIL = 300 }; /* events in which a live-lock shows */

/* Nothing that another thread could see: a read, or a try that failed. */
static bool is_look(const ft_trace *trace, uint32_t e)
{
    static const bool LOOKS[FT_EVENT_KINDS] = {
        [FT_EVENT_READ] = true, [FT_EVENT_TRY_FAILED] = true, [FT_EVENT_TRY_FAILED_SHARED] = true};
    return LOOKS[trace->kind[e]] || (trace->flags[e] & FT_FLAG_FAILED);
}

/* The threads only repeated reads at the end of the run, whose values nobody changed. */
static bool only_looks(const ft_trace *trace)
{
    if (trace->n_events < TAIL) return false;
    for (uint32_t e = trace->n_events - TAIL; e < trace->n_events; e++)
        if (!is_look(trace, e)) return false;
    return true;
}

void ft_candidates_failure(ft_candidates *c)
{
    const ft_note *note = ft_trace_failure(c->trace);
    if (!note || !c->trace->n_events) return;
    ft_claim claim = {.kind = FT_CLAIM_FAILURE, .events = {ft_trace_failure_event(c->trace)}};
    ft_listed_kind kind = kind_of(note);
    if (kind == FT_LISTED_HANG && is_deadlocked(c->trace)) return;
    if (kind == FT_LISTED_HANG && only_looks(c->trace)) kind = FT_LISTED_LIVE_LOCK;
    if (kind != FT_LISTED_KINDS) ft_candidates_list(c, kind, &claim, FT_REASONS, UINT32_MAX);
}
