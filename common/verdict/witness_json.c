#include "verdict/claim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "trace/show.h"
#include "verdict/checker.h"

static const char FORMAT[] = "foretell-witness", MEMORY[] = "sc";
enum { VERSION = 1, MAX_PATH = 64 };

/* ---- writing -------------------------------------------------------------------------------- */

/* Names come from tracers, and STD and logs promise no encoding: in a text that is not UTF-8, each
 * byte beyond ASCII becomes a question mark, so that the document can always be written. */
static json_t *text_or_null(const char *text)
{
    if (!text) return json_null();
    json_t *json = json_string(text);
    if (json) return json;
    char *ascii = ft_strdup(text);
    for (char *c = ascii; *c; c++)
        if ((unsigned char)*c >= 0x80) *c = '?';
    json = json_string(ascii);
    free(ascii);
    return json;
}

static json_t *buffer_text(ft_strbuf *buf)
{
    json_t *text = text_or_null(ft_strbuf_text(buf));
    ft_strbuf_release(buf);
    return text;
}

static json_t *value_text(bool known, ft_value value)
{
    if (!known) return json_null();
    ft_strbuf text = {0};
    ft_value_print(value, &text);
    return buffer_text(&text);
}

static json_t *event_number(uint32_t e)
{
    return json_integer((json_int_t)e + 1);
}

/* Without annotations: the value that the trace has for a plain access. */
static ft_reading_row plain_row(const ft_trace *trace, uint32_t e)
{
    ft_reading_row row = {.event = e, .source = FT_NO_EVENT};
    bool plain = trace->kind[e] == FT_EVENT_READ || trace->kind[e] == FT_EVENT_WRITE;
    row.observed_known = plain && trace->data[e] != FT_NO_VALUE;
    if (row.observed_known) row.observed = trace->values[trace->data[e]];
    return row;
}

/* What `value`, `observed_value` and `source` are about: one of the event's accesses, if it has
 * any.
 */
static void add_access(const ft_trace *trace, const ft_reading_row *row, json_t *step)
{
    ft_access scratch;
    uint32_t count = 0, e = row->event;
    const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
    const char *object = ft_trace_object_name(trace, e);
    if (!object && count > 0) object = trace->shared.names[accesses[row->access].variable];
    json_object_set_new(step, "object", text_or_null(object));
    json_object_set_new(step, "access",
                        text_or_null(count == 0                    ? NULL
                                     : accesses[row->access].write ? "write"
                                                                   : "read"));
}

/* For people, where that is something else than the text for machines. */
static void set_display(json_t *step, const char *member, const char *machines, size_t length,
                        ft_strbuf *people)
{
    if (people->len != length || memcmp(ft_strbuf_text(people), machines, length) != 0)
        json_object_set_new(step, member, buffer_text(people));
    ft_strbuf_release(people);
}

static void display_value(ft_show *show, uint32_t variable, bool known, ft_value value,
                          const char *member, const char *machines, json_t *step)
{
    ft_strbuf text = {0};
    const char *other = json_string_value(json_object_get(step, machines));
    if (!known) return;
    ft_show_value(show, variable, value, &text);
    set_display(step, member, other ? other : "", other ? strlen(other) : 0, &text);
}

/* The text of a plain access ends in its value in the run, which the schedule's takes the place of.
 */
static size_t length_without_value(const ft_trace *trace, uint32_t e, const char *text)
{
    bool plain = trace->kind[e] == FT_EVENT_READ || trace->kind[e] == FT_EVENT_WRITE;
    const char *equals = plain && trace->data[e] != FT_NO_VALUE ? strrchr(text, '=') : NULL;
    return equals ? (size_t)(equals - text) - 1 : strlen(text);
}

static void add_display(ft_show *show, const ft_trace *trace, const ft_reading_row *row,
                        json_t *step)
{
    ft_access scratch;
    ft_strbuf text = {0};
    uint32_t count = 0, e = row->event;
    const char *machines = json_string_value(json_object_get(step, "text"));
    const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
    ft_show_step(show, e, &text);
    set_display(step, "display", machines, length_without_value(trace, e, machines), &text);
    if (!count) return;
    uint32_t variable = accesses[row->access].variable;
    display_value(show, variable, row->value_known, row->value, "display_value", "value", step);
    display_value(show, variable, row->observed_known, row->observed, "display_observed",
                  "observed_value", step);
}

static json_t *step_json(ft_show *show, const ft_trace *trace, const ft_reading_row *row)
{
    uint32_t e = row->event;
    const char *location = ft_trace_location_text(trace, trace->loc[e]);
    const char *function = location ? trace->locations[trace->loc[e]].function : NULL;
    ft_strbuf text = {0};
    ft_trace_print_event(trace, e, &text);
    json_t *step = json_object();
    json_object_set_new(step, "event", event_number(e));
    json_object_set_new(step, "thread",
                        text_or_null(ft_trace_thread_name(trace, trace->thread[e])));
    json_object_set_new(step, "kind", json_string(ft_event_kind_name(trace->kind[e])));
    add_access(trace, row, step);
    json_object_set_new(step, "location", text_or_null(location));
    json_object_set_new(step, "function", text_or_null(function));
    json_object_set_new(step, "text", buffer_text(&text));
    json_object_set_new(step, "value", value_text(row->value_known, row->value));
    json_object_set_new(step, "observed_value", value_text(row->observed_known, row->observed));
    json_object_set_new(step, "source",
                        row->source == FT_NO_EVENT ? json_null() : event_number(row->source));
    json_object_set_new(step, "departs", json_boolean(row->departs));
    add_display(show, trace, row, step);
    return step;
}

/* ---- runs: consecutive steps of a thread, early in a long witness ---- */

/* Per event: the next one of its thread, FT_NO_EVENT. Heap. */
static uint32_t *find_next_events(const ft_trace *trace)
{
    uint32_t *next = ft_alloc((size_t)trace->n_events * sizeof *next);
    uint32_t *last = ft_alloc(((size_t)trace->threads.len + 1) * sizeof *last);
    memset(last, 0xff, ((size_t)trace->threads.len + 1) * sizeof *last);
    for (uint32_t e = trace->n_events; e-- > 0;) {
        next[e] = last[trace->thread[e]];
        last[trace->thread[e]] = e;
    }
    free(last);
    return next;
}

static bool is_claimed(const ft_claim *claim, uint32_t e)
{
    /* Most claims have two or three events, and most steps are none of them. */
    if (claim->events[0] == e) return true;
    for (uint32_t i = 1, n = ft_claim_events(claim); i < n; i++)
        if (claim->events[i] == e) return true;
    return false;
}

/* Enough to execute and to fold: its first and last event. */
static json_t *run_json(const ft_trace *trace, uint32_t first, uint32_t last, uint32_t count)
{
    assert(first <= last && count > 0 && trace->thread[first] == trace->thread[last]);
    json_t *run = json_object();
    json_object_set_new(run, "event", event_number(first));
    json_object_set_new(run, "thread",
                        text_or_null(ft_trace_thread_name(trace, trace->thread[first])));
    json_object_set_new(run, "until", event_number(last));
    json_object_set_new(run, "steps", json_integer(count));
    return run;
}

/* The checker's row of the step, NULL: it has none. Rows are in the order of steps, and those of
 * final events come last. */
static const ft_reading_row *find_row(const ft_reading *reading, uint32_t step, uint32_t e)
{
    uint32_t low = 0, high = reading ? reading->n_rows : 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (reading->rows[middle].step < step)
            low = middle + 1;
        else
            high = middle;
    }
    for (; reading && low < reading->n_rows && reading->rows[low].step == step; low++)
        if (reading->rows[low].event == e) return &reading->rows[low];
    return NULL;
}

typedef struct writing {
    const ft_trace *trace;
    const ft_reading *reading; /* NULL: no annotations */
    ft_show *show;
} writing;

/* final: they come after the last step, all as step `at`; else events[0] is step `at`. */
static void add_steps(const writing *w, const uint32_t *events, uint32_t count, uint32_t at,
                      bool final, json_t *steps)
{
    for (uint32_t i = 0; i < count; i++) {
        const ft_reading_row *noted = find_row(w->reading, final ? at : at + i, events[i]);
        ft_reading_row row = noted ? *noted : plain_row(w->trace, events[i]);
        json_array_append_new(steps, step_json(w->show, w->trace, &row));
    }
}

static bool is_continued(const ft_trace *trace, const uint32_t *next, uint32_t e, uint32_t follower)
{
    return next ? next[e] == follower : trace->thread[e] == trace->thread[follower];
}

/* The steps before ft_witness_full_from; returns how many that was. */
static uint32_t add_runs(const writing *w, const ft_witness *witness, json_t *steps)
{
    const ft_trace *trace = w->trace;
    const uint32_t *events = witness->steps;
    uint32_t until = ft_witness_full_from(witness);
    if (until == 0) return 0;
    /* Without branches a thread's steps are its first events, one after the other. */
    uint32_t *next = trace->n_paths ? find_next_events(trace) : NULL;
    bool claimed = is_claimed(&witness->claim, events[0]);
    for (uint32_t i = 0, end; i < until; i = end) {
        bool alone = claimed;
        for (end = i + 1; end < until; end++) {
            claimed = is_claimed(&witness->claim, events[end]);
            if (alone || claimed || !is_continued(trace, next, events[end - 1], events[end])) break;
        }
        if (alone)
            add_steps(w, &events[i], 1, i, false, steps);
        else
            json_array_append_new(steps, run_json(trace, events[i], events[end - 1], end - i));
    }
    free(next);
    return until;
}

static bool has_variable(const ft_claim *claim)
{
    return claim->kind == FT_CLAIM_ATOMICITY || claim->kind == FT_CLAIM_UNINITIALISED;
}

static json_t *claim_json(const ft_trace *trace, const ft_claim *claim)
{
    json_t *json = json_object(), *events = json_array();
    json_object_set_new(json, "kind", json_string(ft_claim_kind_name(claim->kind)));
    for (uint32_t i = 0; i < ft_claim_events(claim); i++)
        json_array_append_new(events, event_number(claim->events[i]));
    json_object_set_new(json, "events", events);
    if (has_variable(claim))
        json_object_set_new(json, "variable", text_or_null(trace->shared.names[claim->variable]));
    if (claim->kind == FT_CLAIM_ATOMICITY) {
        char pattern[4] = {0};
        for (int i = 0; i < 3; i++) pattern[i] = claim->writes[i] ? 'W' : 'R';
        json_object_set_new(json, "pattern", json_string(pattern));
    }
    if (claim->kind == FT_CLAIM_CONDITION) {
        ft_strbuf text = {0};
        ft_scope scope = ft_trace_scope(trace);
        ft_term_print(trace->terms, claim->condition, &scope, &text);
        json_object_set_new(json, "condition", buffer_text(&text));
    }
    if (claim->kind == FT_CLAIM_BEFORE)
        json_object_set_new(json, "avoid",
                            text_or_null(ft_trace_location_text(trace, claim->avoid)));
    return json;
}

json_t *ft_witness_to_json(const ft_trace *trace, const char *trace_hash, const ft_witness *witness,
                           const struct ft_reading *reading, ft_show *show)
{
    const ft_claim *claim = &witness->claim;
    FT_CHECK(ft_witness_is_sound(trace, witness));
    uint32_t final = ft_claim_first_final(claim->kind);
    json_t *json = json_object();
    json_object_set_new(json, "format", json_string(FORMAT));
    json_object_set_new(json, "version", json_integer(VERSION));
    json_object_set_new(json, "trace", text_or_null(trace_hash));
    json_object_set_new(json, "model", json_string(ft_model_name(witness->model)));
    json_object_set_new(json, "memory", json_string(MEMORY));
    if (witness->wakeups != FT_WAKEUPS_ANY)
        json_object_set_new(json, "wakeups", json_string(ft_wakeups_name(witness->wakeups)));
    if (witness->bound != FT_NO_BOUND)
        json_object_set_new(json, "bound", json_integer(witness->bound));
    json_object_set_new(json, "claim", claim_json(trace, claim));
    json_t *steps = json_array(), *last = json_array();
    ft_show *own = show ? NULL : ft_show_new(trace);
    writing w = {trace, reading, show ? show : own};
    uint32_t at = add_runs(&w, witness, steps);
    assert(at <= witness->n_steps);
    if (at < witness->n_steps)
        add_steps(&w, witness->steps + at, witness->n_steps - at, at, false, steps);
    add_steps(&w, claim->events + final, ft_claim_events(claim) - final, witness->n_steps, true,
              last);
    ft_show_free(own);
    json_object_set_new(json, "steps", steps);
    json_object_set_new(json, "final", last);
    json_object_set_new(json, "members", json_integer(witness->n_steps));
    json_object_set_new(json, "switches", json_integer(ft_witness_switches(trace, witness)));
    return json;
}

/* ---- reading -------------------------------------------------------------------------------- */

static ft_status refuse(ft_error *err, const char *path, const char *what)
{
    return ft_error_set(err, FT_INPUT, "%s: %s", path, what);
}

static ft_status read_event(const json_t *json, const ft_trace *trace, const char *path,
                            uint32_t *e, ft_error *err)
{
    if (!json_is_integer(json)) return refuse(err, path, "must be an event number");
    json_int_t number = json_integer_value(json);
    if (number < 1 || number > (json_int_t)trace->n_events)
        return ft_error_set(err, FT_INPUT, "%s: must be an event number from 1 to %u", path,
                            trace->n_events);
    *e = (uint32_t)(number - 1);
    return FT_OK;
}

static ft_status read_kind(const json_t *json, ft_claim *claim, ft_error *err)
{
    const char *name = json_string_value(json);
    for (int kind = 0; name && kind < FT_CLAIM_KINDS; kind++) {
        if (strcmp(name, ft_claim_kind_name((ft_claim_kind)kind)) != 0) continue;
        claim->kind = (ft_claim_kind)kind;
        return FT_OK;
    }
    return refuse(err, "claim.kind", "must be the name of a kind of claim");
}

static ft_status read_claim_events(const json_t *json, const ft_trace *trace, ft_claim *claim,
                                   ft_error *err)
{
    size_t size = json_array_size(json);
    if (claim->kind == FT_CLAIM_DEADLOCK && (size < 2 || size > FT_CLAIM_MAX_EVENTS))
        return ft_error_set(err, FT_INPUT, "claim.events: a cycle has 2 to %u event numbers",
                            FT_CLAIM_MAX_EVENTS);
    if (claim->kind == FT_CLAIM_DEADLOCK) claim->n_events = (uint32_t)size;
    uint32_t count = ft_claim_events(claim);
    if (!json_is_array(json) || size != count)
        return ft_error_set(err, FT_INPUT, "claim.events: must be an array of %u event number(s)",
                            count);
    for (uint32_t i = 0; i < count; i++) {
        char path[MAX_PATH];
        snprintf(path, sizeof path, "claim.events[%u]", i);
        ft_status status = read_event(json_array_get(json, i), trace, path, &claim->events[i], err);
        if (status) return status;
    }
    return FT_OK;
}

static ft_status read_variable(const json_t *json, const ft_trace *trace, ft_claim *claim,
                               ft_error *err)
{
    if (!json_is_string(json)) return refuse(err, "claim.variable", "must be a string");
    claim->variable =
        ft_intern_find(&trace->shared, json_string_value(json), json_string_length(json));
    if (claim->variable == FT_NO_ID)
        return refuse(err, "claim.variable", "the trace has no shared variable of that name");
    return FT_OK;
}

static ft_status read_pattern(const json_t *json, ft_claim *claim, ft_error *err)
{
    static const char WHAT[] = "must be three letters, each R or W";
    const char *text = json_string_value(json);
    if (!text || json_string_length(json) != 3) return refuse(err, "claim.pattern", WHAT);
    for (int i = 0; i < 3; i++) {
        if (text[i] != 'R' && text[i] != 'W') return refuse(err, "claim.pattern", WHAT);
        claim->writes[i] = text[i] == 'W';
    }
    return FT_OK;
}

static ft_status read_condition(const json_t *json, ft_trace *trace, ft_claim *claim, ft_error *err)
{
    static const char PATH[] = "claim.condition";
    if (!json_is_string(json)) return refuse(err, PATH, "must be a string");
    ft_error why = FT_ERROR_INIT;
    ft_scope scope = ft_trace_scope(trace);
    ft_status status = ft_term_parse(trace->terms, json_string_value(json),
                                     json_string_length(json), &scope, &claim->condition, &why);
    if (status)
        return ft_error_set(err, FT_INPUT, "%s: column %llu: %s", PATH,
                            (unsigned long long)why.column, why.message);
    if (ft_term_sort(trace->terms, claim->condition).kind != FT_SORT_BOOL)
        return refuse(err, PATH, "must be a term of sort Bool");
    return FT_OK;
}

static ft_status read_avoid(const json_t *json, const ft_trace *trace, ft_claim *claim,
                            ft_error *err)
{
    const char *text = json_string_value(json);
    if (!text) return refuse(err, "claim.avoid", "must be a string");
    for (uint32_t i = FT_NO_LOC + 1; i < trace->n_locations; i++) {
        if (strcmp(trace->locations[i].text, text) != 0) continue;
        claim->avoid = i;
        return FT_OK;
    }
    return refuse(err, "claim.avoid", "the trace has no such location");
}

static ft_status read_claim(const json_t *json, ft_trace *trace, ft_claim *claim, ft_error *err)
{
    if (!json_is_object(json)) return refuse(err, "claim", "must be an object");
    ft_status status = read_kind(json_object_get(json, "kind"), claim, err);
    if (status) return status;
    status = read_claim_events(json_object_get(json, "events"), trace, claim, err);
    if (!status && has_variable(claim))
        status = read_variable(json_object_get(json, "variable"), trace, claim, err);
    if (!status && claim->kind == FT_CLAIM_ATOMICITY)
        status = read_pattern(json_object_get(json, "pattern"), claim, err);
    if (!status && claim->kind == FT_CLAIM_CONDITION)
        status = read_condition(json_object_get(json, "condition"), trace, claim, err);
    if (!status && claim->kind == FT_CLAIM_BEFORE)
        status = read_avoid(json_object_get(json, "avoid"), trace, claim, err);
    return status;
}

/* Appends the step, or the run's steps; no more than the trace has events. */
static ft_status read_step(const json_t *json, const ft_trace *trace, const uint32_t *next,
                           const char *path, ft_witness *witness, ft_error *err)
{
    char inner[MAX_PATH + 8];
    uint32_t e = FT_NO_EVENT, until;
    if (!json_is_object(json)) return refuse(err, path, "must be an object");
    snprintf(inner, sizeof inner, "%s.event", path);
    ft_status status = read_event(json_object_get(json, "event"), trace, inner, &e, err);
    until = e;
    snprintf(inner, sizeof inner, "%s.until", path);
    if (!status && json_object_get(json, "until"))
        status = read_event(json_object_get(json, "until"), trace, inner, &until, err);
    if (status) return status;
    for (;; e = next[e]) {
        if (e == FT_NO_EVENT || e > until)
            return refuse(err, inner, "must be `event' or a later event of the same thread");
        if (witness->n_steps == trace->n_events)
            return ft_error_set(err, FT_INPUT,
                                "%s: the witness has more steps than the trace has events (%u)",
                                path, trace->n_events);
        witness->steps[witness->n_steps++] = e;
        if (e == until) return FT_OK;
    }
}

static ft_status read_steps(const json_t *json, const ft_trace *trace, ft_witness *witness,
                            ft_error *err)
{
    if (!json_is_array(json)) return refuse(err, "steps", "must be an array");
    size_t count = json_array_size(json);
    if (count > trace->n_events)
        return ft_error_set(err, FT_INPUT,
                            "steps: the witness has %zu steps, but the trace has %u events", count,
                            trace->n_events);
    witness->steps = ft_calloc((size_t)trace->n_events + 1, sizeof *witness->steps);
    uint32_t *next = find_next_events(trace);
    ft_status status = FT_OK;
    for (size_t i = 0; i < count && !status; i++) {
        char path[MAX_PATH];
        snprintf(path, sizeof path, "steps[%zu]", i);
        status = read_step(json_array_get(json, i), trace, next, path, witness, err);
    }
    free(next);
    return status;
}

static ft_status require_text(const json_t *json, const char *member, const char *want,
                              ft_error *err)
{
    const char *text = json_string_value(json_object_get(json, member));
    if (text && strcmp(text, want) == 0) return FT_OK;
    return ft_error_set(err, FT_INPUT, "%s: must be \"%s\"", member, want);
}

/* Options of the job that allow the schedule more than the default. */
static ft_status read_options(const json_t *json, ft_witness *witness, ft_error *err)
{
    const json_t *wakeups = json_object_get(json, "wakeups");
    const json_t *bound = json_object_get(json, "bound");
    const char *name = json_string_value(wakeups);
    witness->bound = FT_NO_BOUND;
    if (wakeups && (!name || !ft_wakeups_parse(name, &witness->wakeups)))
        return refuse(err, "wakeups", "must be any, observed or spurious");
    if (!bound) return FT_OK;
    json_int_t switches = json_integer_value(bound);
    if (!json_is_integer(bound) || switches < 0 || switches >= FT_NO_BOUND)
        return refuse(err, "bound", "must be a number of context switches");
    witness->bound = (uint32_t)switches;
    return FT_OK;
}

static ft_status read_header(const json_t *json, ft_witness *witness, ft_error *err)
{
    if (!json_is_object(json)) return refuse(err, "witness", "must be an object");
    ft_status status = require_text(json, "format", FORMAT, err);
    if (status) return status;
    const json_t *version = json_object_get(json, "version");
    if (!json_is_integer(version) || json_integer_value(version) != VERSION)
        return refuse(err, "version", "must be 1");
    const char *model = json_string_value(json_object_get(json, "model"));
    if (!model || !ft_model_parse(model, &witness->model))
        return refuse(err, "model", "must be the name of a model");
    status = read_options(json, witness, err);
    if (status) return status;
    return require_text(json, "memory", MEMORY, err);
}

ft_status ft_witness_from_json(const json_t *json, ft_trace *trace, ft_witness *witness,
                               ft_error *err)
{
    ft_witness read = {0};
    ft_status status = read_header(json, &read, err);
    if (!status) status = read_claim(json_object_get(json, "claim"), trace, &read.claim, err);
    if (!status) status = read_steps(json_object_get(json, "steps"), trace, &read, err);
    if (status) {
        ft_witness_release(&read);
        return status;
    }
    *witness = read;
    return FT_OK;
}
