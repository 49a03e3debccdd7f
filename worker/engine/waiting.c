#include "engine/waiting.h"

#include <assert.h>
#include <stdlib.h>

#include "base/contract.h"

/* ---- signals --------------------------------------------------------------------------------- */

/* A signal or broadcast of the schedule. */
typedef struct sent_signal {
    uint32_t step, event;
    uint32_t woken; /* the event of the waiter that it woke first, FT_NO_EVENT: nobody so far */
    bool lost;      /* it found no waiter */
} sent_signal;

typedef struct signals {
    FT_VEC(sent_signal) sent; /* of the claim's condition variable */
    uint32_t asleep;          /* waiters that no signal was meant for so far */
    uint32_t wait; /* the step at which the claim's thread began to wait, UINT32_MAX: none */
} signals;

static bool is_on(const ft_trace *trace, uint32_t e, ft_event_kind kind, uint32_t condition)
{
    return trace->kind[e] == kind && trace->object[e] == condition;
}

static void send(signals *s, uint32_t step, uint32_t e, bool all)
{
    ft_vec_push(&s->sent, (sent_signal){step, e, FT_NO_EVENT, s->asleep == 0});
    if (s->asleep) s->asleep = all ? 0 : s->asleep - 1;
}

/* The earliest signal that found a waiter and has woken nobody woke this one; of a broadcast, the
 * first of all. */
static void wake(signals *s, uint32_t e)
{
    for (size_t i = 0; i < s->sent.len; i++) {
        sent_signal *one = &s->sent.data[i];
        if (one->lost || one->woken != FT_NO_EVENT) continue;
        one->woken = e;
        return;
    }
}

static void follow_signals(const ft_trace *trace, const ft_witness *witness, signals *s)
{
    uint32_t own = witness->claim.events[0], condition = trace->object[own];
    s->wait = UINT32_MAX;
    for (uint32_t i = 0; i < witness->n_steps; i++) {
        uint32_t e = witness->steps[i];
        bool timed_out = trace->flags[e] & FT_FLAG_FAILED;
        if (is_on(trace, e, FT_EVENT_SIGNAL, condition)) send(s, i, e, false);
        if (is_on(trace, e, FT_EVENT_BROADCAST, condition)) send(s, i, e, true);
        bool wakes = is_on(trace, e, FT_EVENT_COND_WAKE, condition);
        if (wakes && !timed_out) wake(s, e);
        if (wakes && timed_out && s->asleep) s->asleep--;
        if (!is_on(trace, e, FT_EVENT_COND_WAIT, condition)) continue;
        s->asleep++;
        if (trace->thread[e] == trace->thread[own]) s->wait = i;
    }
}

static void add_place(const ft_trace *trace, uint32_t e, ft_strbuf *out)
{
    const char *text = ft_trace_location_text(trace, trace->loc[e]);
    if (text)
        ft_strbuf_printf(out, " at %s", text);
    else
        ft_strbuf_printf(out, " (event %u)", e + 1);
}

static void add_signal(const ft_trace *trace, uint32_t e, ft_strbuf *out)
{
    ft_strbuf_printf(out, "the %s of %s", ft_event_kind_name(trace->kind[e]),
                     ft_trace_thread_name(trace, trace->thread[e]));
    add_place(trace, e, out);
}

/* A signal that came after the thread began to wait went to another one. */
static const sent_signal *taken_signal(const signals *s)
{
    for (size_t i = s->sent.len; i-- > 0;) {
        const sent_signal *one = &s->sent.data[i];
        if (s->wait != UINT32_MAX && one->step > s->wait && one->woken != FT_NO_EVENT) return one;
    }
    return NULL;
}

void ft_waiting_explain(const ft_trace *trace, const ft_witness *witness, ft_strbuf *out)
{
    signals s = {0};
    FT_REQUIRE(trace->kind[witness->claim.events[0]] == FT_EVENT_COND_WAKE);
    follow_signals(trace, witness, &s);
    const sent_signal *taken = taken_signal(&s);
    if (taken) {
        add_signal(trace, taken->event, out);
        ft_strbuf_printf(out, " woke %s, which waited",
                         ft_trace_thread_name(trace, trace->thread[taken->woken]));
        add_place(trace, taken->woken, out);
        ft_strbuf_puts(out, ", and no other will come");
    } else if (s.sent.len && s.sent.data[0].step < s.wait && s.wait != UINT32_MAX) {
        add_signal(trace, s.sent.data[s.sent.len - 1].event, out);
        ft_strbuf_puts(out, " came before it waited, and no other will come");
    } else {
        ft_strbuf_puts(out, "no thread signals it");
    }
    ft_vec_release(&s.sent);
}

const char *ft_waiting_gave_up(const ft_trace *trace, const ft_witness *witness)
{
    uint32_t thread = trace->thread[witness->claim.events[0]];
    for (uint32_t i = witness->n_steps; i-- > 0;) {
        uint32_t e = witness->steps[i];
        if (trace->thread[e] != thread) continue;
        bool given = trace->kind[e] == FT_EVENT_RELEASE && trace->flags[e] & FT_FLAG_CONDITION;
        return given ? ft_trace_object_name(trace, e) : NULL;
    }
    return NULL;
}

/* ---- who waits ------------------------------------------------------------------------------- */

/* By thread, what it waits for at the end; FT_NO_EVENT: it has ended, or was not started. Heap;
 * NULL: the trace has arms that a thread may have passed over. */
static uint32_t *find_waits(const ft_order *order, const ft_witness *witness)
{
    const ft_trace *trace = order->trace;
    if (trace->n_paths) return NULL;
    bool *done = ft_calloc((size_t)trace->n_events + 1, sizeof *done);
    uint32_t *waits = ft_calloc((size_t)trace->threads.len + 1, sizeof *waits);
    for (uint32_t t = 0; t < trace->threads.len; t++) waits[t] = FT_NO_EVENT;
    for (uint32_t i = 0; i < witness->n_steps; i++) done[witness->steps[i]] = true;
    for (uint32_t e = trace->n_events; e-- > 0;)
        if (!done[e]) waits[trace->thread[e]] = e;
    for (uint32_t t = 0; t < trace->threads.len; t++) {
        uint32_t fork = order->fork_of[t];
        bool started = fork == FT_NO_EVENT || done[fork];
        if (waits[t] == FT_NO_EVENT) continue;
        if (!started || !ft_event_kind_waits(trace->kind[waits[t]])) waits[t] = FT_NO_EVENT;
    }
    free(done);
    return waits;
}

static bool is_joined(const ft_trace *trace, const uint32_t *waits, uint32_t thread)
{
    for (uint32_t t = 0; t < trace->threads.len; t++)
        if (waits[t] != FT_NO_EVENT && is_on(trace, waits[t], FT_EVENT_JOIN, thread)) return true;
    return false;
}

/* Does the thread wait for others to do something, and not for a lock or an end? */
static bool waits_for_news(const ft_trace *trace, uint32_t e)
{
    return e != FT_NO_EVENT &&
           (trace->kind[e] == FT_EVENT_COND_WAKE || trace->kind[e] == FT_EVENT_WAIT ||
            trace->kind[e] == FT_EVENT_BARRIER_LEAVE);
}

bool ft_waiting_is_idle(const ft_order *order, const ft_witness *witness)
{
    const ft_trace *trace = order->trace;
    uint32_t own = witness->claim.events[0];
    if (witness->claim.kind != FT_CLAIM_STUCK || !waits_for_news(trace, own)) return false;
    uint32_t *waits = find_waits(order, witness);
    bool idle = false;
    if (waits && !is_joined(trace, waits, trace->thread[own]))
        for (uint32_t t = 0; t < trace->threads.len && !idle; t++)
            idle = t != trace->thread[own] && waits_for_news(trace, waits[t]) &&
                   is_joined(trace, waits, t);
    free(waits);
    return idle;
}

static json_t *text_or_null(const char *text)
{
    return text ? json_string(text) : json_null();
}

static json_t *waiter_json(const ft_trace *trace, ft_show *show, uint32_t e)
{
    const ft_location *at = &trace->locations[trace->loc[e]];
    ft_strbuf text = {0};
    ft_show_event(show, e, &text);
    json_t *json = json_pack("{s:I, s:s, s:o, s:o, s:s}", "event", (json_int_t)e + 1, "thread",
                             ft_trace_thread_name(trace, trace->thread[e]), "location",
                             text_or_null(ft_trace_location_text(trace, trace->loc[e])), "function",
                             text_or_null(at->function), "text", ft_strbuf_text(&text));
    ft_strbuf_release(&text);
    return json;
}

json_t *ft_waiting_others(const ft_order *order, ft_show *show, const ft_witness *witness)
{
    enum { MOST = 16 };
    const ft_trace *trace = order->trace;
    uint32_t own = witness->claim.events[0], *waits = find_waits(order, witness);
    if (!waits) return NULL;
    assert(waits[trace->thread[own]] == own);
    json_t *list = json_array();
    for (uint32_t t = 0; t < trace->threads.len && json_array_size(list) < MOST; t++)
        if (waits[t] != FT_NO_EVENT && waits[t] != own)
            json_array_append_new(list, waiter_json(trace, show, waits[t]));
    free(waits);
    if (json_array_size(list)) return list;
    json_decref(list);
    return NULL;
}
