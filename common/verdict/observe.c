#include "verdict/checker.h"

#include <stdlib.h>

#include "base/contract.h"
#include "verdict/machine.h"
#include "verdict/observe_internal.h"

/* The value id that a plain event says it read, FT_NO_VALUE: it says none, or reads nothing. */
uint32_t ft_observe_stated_read(const ft_trace *trace, uint32_t e)
{
    if (trace->kind[e] == FT_EVENT_READ) return trace->data[e];
    return trace->kind[e] == FT_EVENT_RMW ? trace->updates[trace->data[e]].read : FT_NO_VALUE;
}

/* An undeclared initial value is the one first read before any write (maximal). Reads without
 * a value that come earlier read the same initial value, so they do not stand in the way. */
static void find_initial_values(ft_trace *trace)
{
    bool *settled = ft_calloc(trace->shared.len, sizeof *settled);
    for (uint32_t v = 0; v < trace->shared.len; v++)
        settled[v] = trace->shared_info[v].initial != FT_NO_VALUE;
    for (uint32_t e = 0; e < trace->n_events; e++) {
        ft_access scratch;
        uint32_t count;
        if (trace->flags[e] & FT_FLAG_PASSED) continue;
        const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t v = accesses[i].variable;
            uint32_t value = ft_observe_stated_read(trace, e);
            if (settled[v] || !(accesses[i].write || value != FT_NO_VALUE)) continue;
            if (!accesses[i].write) trace->shared_info[v].initial = value;
            settled[v] = true;
        }
    }
    free(settled);
}

/* The first edge-out of each edge, FT_NO_EVENT: none. */
static uint32_t *find_edge_outs(const ft_trace *trace)
{
    uint32_t *outs = ft_calloc(trace->edges.len, sizeof *outs);
    for (uint32_t i = 0; i < trace->edges.len; i++) outs[i] = FT_NO_EVENT;
    for (uint32_t e = 0; e < trace->n_events; e++)
        if (trace->kind[e] == FT_EVENT_EDGE_OUT && outs[trace->object[e]] == FT_NO_EVENT)
            outs[trace->object[e]] = e;
    return outs;
}

/* The waiters of each condition variable in the observed run, and the signals that woke them: a
 * signal wakes the longest waiter of those that the run continues before they time out. */
typedef struct waiter {
    uint32_t thread, condition;
    uint32_t woken_by; /* FT_NO_EVENT: it still waits */
} waiter;
typedef FT_VEC(waiter) waiters;

static void remove_waiter(waiters *list, size_t at)
{
    assert(at < list->len);
    for (; at + 1 < list->len; at++) list->data[at] = list->data[at + 1];
    list->len--;
}

/* Per event: a cond-wait that ends in the run by its thread's being woken. */
static bool *find_woken(const ft_trace *trace)
{
    uint32_t *wait = ft_calloc((size_t)trace->threads.len + 1, sizeof *wait);
    bool *woken = ft_calloc((size_t)trace->n_events + 1, sizeof *woken);
    for (uint32_t t = 0; t < trace->threads.len; t++) wait[t] = FT_NO_EVENT;
    for (uint32_t e = 0; e < trace->n_events; e++) {
        uint32_t *of = &wait[trace->thread[e]];
        bool slept = ft_trace_is_blocked(trace, e) || (trace->flags[e] & FT_FLAG_FAILED);
        if (trace->kind[e] == FT_EVENT_COND_WAIT) *of = e;
        if (trace->kind[e] != FT_EVENT_COND_WAKE || *of == FT_NO_EVENT) continue;
        woken[*of] = !slept;
        *of = FT_NO_EVENT;
    }
    free(wait);
    return woken;
}

/* Returns the waker of a cond-wake. */
static uint32_t follow_conditions(const ft_trace *trace, const bool *woken, uint32_t e,
                                  waiters *list)
{
    ft_event_kind kind = trace->kind[e];
    if (ft_event_kind_object(kind) != FT_OBJECT_CONDITION) return FT_NO_EVENT;
    if (kind == FT_EVENT_COND_WAIT && woken[e])
        ft_vec_push(list, (waiter){trace->thread[e], trace->object[e], FT_NO_EVENT});
    for (size_t i = 0; kind != FT_EVENT_COND_WAIT && i < list->len; i++) {
        waiter *w = &list->data[i];
        if (w->condition != trace->object[e]) continue;
        if (kind == FT_EVENT_COND_WAKE && w->thread == trace->thread[e]) {
            uint32_t waker = w->woken_by;
            remove_waiter(list, i);
            return waker;
        }
        if (kind == FT_EVENT_COND_WAKE || w->woken_by != FT_NO_EVENT) continue;
        w->woken_by = e;
        if (kind == FT_EVENT_SIGNAL) break;
    }
    return FT_NO_EVENT;
}

/* The edge-out that an edge-in waits for: the latest before it in the observed run. One that comes
 * later still binds it, and breaks the observed order. */
static uint32_t edge_source(const ft_machine *machine, const ft_trace *trace, const uint32_t *outs,
                            uint32_t e)
{
    if (trace->kind[e] != FT_EVENT_EDGE_IN) return FT_NO_EVENT;
    uint32_t latest = ft_machine_edge_out(machine, trace->object[e]);
    return latest != FT_NO_EVENT ? latest : outs[trace->object[e]];
}

ft_status ft_observe_read(const ft_machine *machine, const ft_trace *trace, uint32_t e,
                          ft_error *why)
{
    uint32_t value = ft_observe_stated_read(trace, e);
    if (value == FT_NO_VALUE) return FT_OK;
    ft_held held = ft_machine_shared(machine, trace->object[e]);
    if (!held.known || ft_value_equal(held.value, trace->values[value])) return FT_OK;
    ft_strbuf text = {0};
    ft_value_print(held.value, &text);
    ft_error_set(why, FT_INPUT, "no write explains the value: the variable holds %s",
                 ft_strbuf_text(&text));
    ft_strbuf_release(&text);
    return FT_INPUT;
}

/* The program's own failed assertions are no contradiction; they are flagged. */
ft_status ft_observe_outcome(ft_trace *trace, uint32_t e, ft_outcome outcome, ft_error *why)
{
    if (outcome == FT_OUTCOME_UNDEFINED)
        return ft_error_set(why, FT_INPUT, "a term of it divides by zero");
    if (trace->kind[e] == FT_EVENT_IF && outcome == FT_OUTCOME_UNDECIDED)
        return ft_error_set(why, FT_INPUT,
                            "which arm was taken depends on a value that is unknown or exceeds 64 "
                            "bits");
    if (outcome != FT_OUTCOME_FALSE || trace->kind[e] == FT_EVENT_IF) return FT_OK;
    if (trace->kind[e] != FT_EVENT_ASSERT)
        return ft_error_set(why, FT_INPUT, "its condition is false");
    trace->flags[e] |= FT_FLAG_FAILED;
    return FT_OK;
}

/* A once object's initialiser runs once, in one thread. runner: per once object, its thread + 1. */
ft_status ft_observe_once(const ft_trace *trace, uint32_t e, uint32_t *runner, ft_error *why)
{
    uint32_t object = trace->object[e], thread = trace->thread[e] + 1u;
    if (trace->kind[e] == FT_EVENT_ONCE_BEGIN) {
        if (runner[object])
            return ft_error_set(why, FT_INPUT, "it was begun before, by %s",
                                ft_trace_thread_name(trace, runner[object] - 1));
        runner[object] = thread;
    }
    if (trace->kind[e] == FT_EVENT_ONCE_END && runner[object] != thread)
        return ft_error_set(why, FT_INPUT, "its thread is not the one that began it");
    return FT_OK;
}

void ft_observe_break(ft_trace *trace, uint32_t e, uint32_t flushed, const ft_error *why)
{
    ft_strbuf text = {0};
    ft_trace_print_event(trace, e, &text);
    FT_REQUIRE(why->code != FT_OK && e < trace->n_events);
    trace->broken = flushed + e;
    trace->broken_text = ft_arena_printf(trace->arena, "event %u (%s: %s): %s", flushed + e + 1,
                                         ft_trace_thread_name(trace, trace->thread[e]),
                                         ft_strbuf_text(&text), why->message);
    ft_strbuf_release(&text);
}

/* *marks: set if any event was marked otherwise before. */
static bool mark_passed(const ft_machine *machine, ft_trace *trace, uint32_t e, bool *marks)
{
    bool passed = ft_machine_passed(machine, e);
    *marks |= passed != ((trace->flags[e] & FT_FLAG_PASSED) != 0);
    trace->flags[e] &= (uint8_t)~FT_FLAG_PASSED;
    if (passed) trace->flags[e] |= FT_FLAG_PASSED;
    return passed;
}

static void execute(ft_trace *trace, bool *marks)
{
    uint32_t *outs = find_edge_outs(trace);
    uint32_t *runner = ft_calloc(trace->onces.len, sizeof *runner);
    ft_machine *machine = ft_machine_new(trace);
    trace->broken = FT_NO_EVENT;
    trace->broken_text = NULL;
    for (uint32_t e = 0; e < trace->n_events; e++) {
        ft_error why = FT_ERROR_INIT;
        if (trace->kind[e] == FT_EVENT_ASSERT) trace->flags[e] &= (uint8_t)~FT_FLAG_FAILED;
        if (trace->n_paths && mark_passed(machine, trace, e, marks)) continue;
        if (ft_trace_is_blocked(trace, e)) continue;
        ft_status status = ft_machine_next(machine, e, &why);
        if (!status)
            status = ft_machine_ready(machine, e, edge_source(machine, trace, outs, e), &why);
        if (!status) status = ft_observe_read(machine, trace, e, &why);
        if (!status) status = ft_observe_once(trace, e, runner, &why);
        ft_outcome outcome = ft_machine_evaluate(machine, e);
        ft_status explained = ft_observe_outcome(trace, e, outcome, status ? NULL : &why);
        if ((status || explained) && trace->broken == FT_NO_EVENT)
            ft_observe_break(trace, e, 0, &why);
        ft_machine_write(machine, e);
        ft_machine_advance(machine, e);
    }
    ft_machine_free(machine);
    free(runner);
    free(outs);
}

/* Only the execution shows which arms were taken. The first one may have taken an initial value
 * from an access in an arm that was not; then the run is executed again. */
void ft_observe_run(ft_trace *trace)
{
    uint32_t *declared = ft_calloc(trace->shared.len, sizeof *declared);
    bool marks = false;
    for (uint32_t v = 0; v < trace->shared.len; v++) declared[v] = trace->shared_info[v].initial;
    find_initial_values(trace);
    execute(trace, &marks);
    if (marks) {
        for (uint32_t v = 0; v < trace->shared.len; v++)
            trace->shared_info[v].initial = declared[v];
        find_initial_values(trace);
        execute(trace, &marks);
    }
    free(declared);
}

/* ---- the checker's table -------------------------------------------------------------------- */

typedef struct recorder {
    ft_observed *table;
    FT_VEC(uint32_t) sources;
    FT_VEC(uint32_t) ids;
    FT_VEC(ft_value) values;
    ft_map seen[FT_SORT_BITVEC + 1]; /* bits (and width) -> index in values */
    uint32_t *of_stated; /* [n_values] of the trace: index in values, 0: not looked for yet */
} recorder;

static uint32_t value_id(recorder *r, ft_held held)
{
    if (!held.known) return 0;
    /* Widths of one word of bits: a bit vector of another width is another value. */
    uint64_t key = held.value.bits ^ ((uint64_t)held.value.sort.width * 0x9e3779b97f4a7c15u);
    bool inserted;
    uint64_t *slot = ft_map_slot(&r->seen[held.value.sort.kind], key, r->values.len, &inserted);
    assert(inserted == (*slot == r->values.len));
    if (!inserted && ft_value_equal(r->values.data[*slot], held.value)) return (uint32_t)*slot;
    *slot = r->values.len;
    ft_vec_push(&r->values, held.value);
    return (uint32_t)*slot;
}

static void record_value(recorder *r, uint32_t source, uint32_t id)
{
    assert(id < r->values.len && r->sources.len == r->ids.len);
    ft_vec_push(&r->sources, source);
    ft_vec_push(&r->ids, id);
}

static void record(recorder *r, uint32_t source, ft_held held)
{
    record_value(r, source, value_id(r, held));
}

/* The value that a plain event says it read or wrote; FT_NO_VALUE: it says none. */
static uint32_t stated_value(const ft_trace *trace, uint32_t e, bool write)
{
    if (!write) return ft_observe_stated_read(trace, e);
    if (trace->kind[e] == FT_EVENT_WRITE) return trace->data[e];
    return trace->kind[e] == FT_EVENT_RMW ? trace->updates[trace->data[e]].written : FT_NO_VALUE;
}

static uint32_t stated_id(recorder *r, const ft_trace *trace, uint32_t value)
{
    uint32_t *id = &r->of_stated[value];
    if (!*id) *id = value_id(r, (ft_held){.known = true, .value = trace->values[value]});
    return *id;
}

static void record_event(recorder *r, const ft_machine *machine, const ft_trace *trace, uint32_t e)
{
    ft_access scratch;
    uint32_t count;
    const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
    for (uint32_t i = 0; i < count; i++) {
        ft_held held = accesses[i].write ? ft_machine_pending(machine, e, accesses[i].variable)
                                         : ft_machine_shared(machine, accesses[i].variable);
        uint32_t source = accesses[i].write ? FT_NO_EVENT : held.source;
        uint32_t value = stated_value(trace, e, accesses[i].write);
        if (value != FT_NO_VALUE)
            record_value(r, source, stated_id(r, trace, value));
        else
            record(r, source, held);
    }
}

/* A skipped event read and wrote nothing: its own number as the source, which no read has. */
static void record_passed(recorder *r, const ft_trace *trace, uint32_t e)
{
    ft_access scratch;
    uint32_t count;
    (void)ft_trace_accesses(trace, e, &scratch, &count);
    for (uint32_t i = 0; i < count; i++) record(r, e, (ft_held){0});
    if (trace->kind[e] == FT_EVENT_COND_WAKE) record(r, FT_NO_EVENT, (ft_held){0});
}

static bool writes(const ft_trace *trace, uint32_t e, uint32_t variable)
{
    ft_access scratch;
    uint32_t count;
    const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
    for (uint32_t i = 0; i < count; i++)
        if (accesses[i].write && accesses[i].variable == variable) return true;
    return false;
}

static bool sources_are_sound(const ft_trace *trace, const ft_observed *o, uint32_t e)
{
    ft_access scratch;
    uint32_t count;
    const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
    for (uint32_t i = 0; i < count && o->first[e] + i < o->first[e + 1]; i++) {
        uint32_t source = o->source[o->first[e] + i];
        if (accesses[i].write || source == FT_NO_EVENT || source == e) continue;
        if (source > e || !writes(trace, source, accesses[i].variable)) return false;
    }
    return true;
}

bool ft_observed_is_sound(const ft_trace *trace, const ft_observed *o)
{
    uint32_t n_values = 1;
    for (uint32_t i = 0; i < o->first[trace->n_events]; i++)
        if (o->value[i] >= n_values) n_values = o->value[i] + 1;
    for (uint32_t id = 1; id < n_values; id++)
        if (o->values[id].sort.kind > FT_SORT_BITVEC) return false;
    for (uint32_t e = 0; e < trace->n_events; e++)
        if (o->first[e] > o->first[e + 1] || !sources_are_sound(trace, o, e)) return false;
    return true;
}

ft_observed *ft_observed_new(const ft_trace *trace)
{
    recorder r = {.table = ft_calloc(1, sizeof(ft_observed))};
    uint32_t *outs = find_edge_outs(trace);
    ft_machine *machine = ft_machine_new(trace);
    r.table->first = ft_calloc((size_t)trace->n_events + 1, sizeof *r.table->first);
    r.of_stated = ft_calloc((size_t)trace->n_values + 1, sizeof *r.of_stated);
    ft_vec_push(&r.values, (ft_value){0});
    ft_vec_reserve(&r.sources, trace->n_events);
    ft_vec_reserve(&r.ids, trace->n_events);
    waiters waiting = {0};
    bool *woken = find_woken(trace);
    for (uint32_t e = 0; e < trace->n_events; e++) {
        r.table->first[e] = (uint32_t)r.sources.len;
        if (ft_machine_passed(machine, e)) {
            record_passed(&r, trace, e);
            continue;
        }
        if (ft_trace_is_blocked(trace, e)) {
            if (trace->kind[e] == FT_EVENT_COND_WAKE) record(&r, FT_NO_EVENT, (ft_held){0});
            continue;
        }
        ft_machine_evaluate(machine, e);
        record_event(&r, machine, trace, e);
        if (trace->kind[e] == FT_EVENT_EDGE_IN)
            record(&r, edge_source(machine, trace, outs, e), (ft_held){0});
        uint32_t waker = follow_conditions(trace, woken, e, &waiting);
        if (trace->kind[e] == FT_EVENT_COND_WAKE) record(&r, waker, (ft_held){0});
        ft_machine_write(machine, e);
        ft_machine_advance(machine, e);
    }
    assert(r.sources.len <= UINT32_MAX);
    r.table->first[trace->n_events] = (uint32_t)r.sources.len;
    r.table->source = r.sources.data;
    r.table->value = r.ids.data;
    r.table->values = r.values.data;
    assert(r.sources.len == r.ids.len && r.values.len <= UINT32_MAX);
    FT_CHECK(ft_observed_is_sound(trace, r.table));
    for (size_t i = 0; i <= FT_SORT_BITVEC; i++) ft_map_release(&r.seen[i]);
    free(r.of_stated);
    ft_machine_free(machine);
    ft_vec_release(&waiting);
    free(woken);
    free(outs);
    return r.table;
}

void ft_observed_free(ft_observed *observed)
{
    if (!observed) return;
    free(observed->first);
    free(observed->source);
    free(observed->value);
    free(observed->values);
    free(observed);
}
