#include "candidate/wrappers.h"

#include <stdlib.h>
#include <string.h>

static uint32_t context_of(const ft_trace *trace, uint32_t e)
{
    return trace->context ? trace->context[e] : FT_NO_CONTEXT;
}

/* A place in a chain of calls, outwards: the function that it is in, and the call of that. */
typedef struct frame {
    const char *function; /* interned; NULL: not known */
    uint32_t call;        /* context */
} frame;

static frame frame_of(const ft_trace *trace, uint32_t e)
{
    return (frame){trace->locations[trace->loc[e]].function, context_of(trace, e)};
}

static void go_outwards(const ft_trace *trace, frame *at)
{
    const ft_context *call = &trace->contexts[at->call];
    assert(call->parent < at->call || call->parent == 0);
    *at = (frame){trace->locations[call->loc].function, call->parent};
}

static bool is_same_function(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Walks outwards from the acquire to a function that is still active at the release. Two functions
 * may be called on one line. */
uint32_t ft_helper_call(const ft_order *order, uint32_t e)
{
    FT_REQUIRE(e < order->trace->n_events);
    const ft_trace *trace = order->trace;
    const ft_context *contexts = trace->contexts;
    uint32_t returned = FT_NO_LOC;
    if (!contexts || !ft_order_opens(trace, e)) return FT_NO_LOC;
    uint32_t release = order->sections.data[order->section_of[e]].release;
    if (release == FT_NO_EVENT) return FT_NO_LOC;
    frame in = frame_of(trace, e), out = frame_of(trace, release);
    while (in.call && (in.call != out.call || !is_same_function(in.function, out.function))) {
        uint32_t inner = contexts[in.call].depth, outer = contexts[out.call].depth;
        if (outer >= inner) go_outwards(trace, &out);
        if (outer > inner) continue;
        returned = contexts[in.call].loc;
        go_outwards(trace, &in);
    }
    return returned;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static const char *text_of(const ft_trace *trace, uint32_t loc)
{
    const char *text = ft_trace_location_text(trace, loc);
    return text ? text : "";
}

/* The calls of wrappers, each after its request's location; nothing where there are none. */
static void tell_calls(const ft_order *order, const ft_claim *claim, ft_strbuf *out)
{
    const ft_trace *trace = order->trace;
    char *requests[FT_CLAIM_MAX_EVENTS];
    bool any = false;
    for (uint32_t i = 0; i < claim->n_events; i++) {
        uint32_t e = claim->events[i], call = ft_helper_call(order, e);
        ft_strbuf request = {0};
        ft_strbuf_puts(&request, text_of(trace, trace->loc[e]));
        if (call != FT_NO_LOC) ft_strbuf_printf(&request, " from %s", text_of(trace, call));
        any = any || call != FT_NO_LOC;
        requests[i] = ft_strbuf_take(&request);
    }
    qsort(requests, claim->n_events, sizeof *requests, by_text);
    for (uint32_t i = 0; i < claim->n_events; i++) {
        if (any) ft_strbuf_printf(out, "|%s", requests[i]);
        free(requests[i]);
    }
}

/* The object's name without numbers: in `slots[3].ready#2` neither the index nor the count of
 * allocations of that memory matters. */
static void tell_object(const ft_trace *trace, uint32_t e, ft_strbuf *out)
{
    static const char DIGITS[] = "0123456789";
    const char *name = trace->kind[e] == FT_EVENT_JOIN ? NULL : ft_trace_object_name(trace, e);
    if (!name) return;
    ft_strbuf_puts(out, "|");
    for (const char *at = name; *at;) {
        size_t digits = at > name && (at[-1] == '[' || at[-1] == '#') ? strspn(at, DIGITS) : 0;
        at += digits;
        if (!digits) ft_strbuf_add(out, at++, 1);
    }
}

void ft_helpers_tell(const ft_order *order, const ft_claim *claim, ft_strbuf *out)
{
    if (claim->kind == FT_CLAIM_DEADLOCK) tell_calls(order, claim, out);
    if (claim->kind == FT_CLAIM_STUCK || claim->kind == FT_CLAIM_LOCK_ERROR)
        tell_object(order->trace, claim->events[0], out);
}
