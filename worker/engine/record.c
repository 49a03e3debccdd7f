#include "engine/record.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "candidate/listed.h"
#include "candidate/wrappers.h"
#include "engine/calls.h"
#include "engine/limits.h"
#include "engine/sources.h"
#include "engine/waiting.h"
#include "report/fingerprint.h"

static const char *kind_name(ft_check check, uint8_t kind, const ft_spec *spec, uint32_t property)
{
    static const char *const race[2] = {"read-write", "write-write"};
    static const char *const pattern[8] = {"RRR", "RRW", "RWR", "RWW", "WRR", "WRW", "WWR", "WWW"};
    switch (check) {
    case FT_CHECK_RACE:
        return race[kind & 1];
    case FT_CHECK_ATOMICITY:
        return pattern[kind & 7];
    case FT_CHECK_ASSERTION:
        return "assertion";
    case FT_CHECK_LOCK:
    case FT_CHECK_DEADLOCK:
    case FT_CHECK_ORDER:
    case FT_CHECK_FAILURE:
        return ft_listed_kind_name((ft_listed_kind)kind);
    case FT_CHECK_PROPERTY:
        return ft_property_kind_name(spec->properties.data[property].kind);
    case FT_CHECK_CERTIFICATE: /* of programs */
    case FT_CHECK_CONTEXT:
    case FT_CHECKS:
        break;
    }
    return "";
}

static const char *location(const ft_trace *trace, uint32_t e)
{
    const char *text = ft_trace_location_text(trace, trace->loc[e]);
    return text ? text : "";
}

/* A claim whose events lack locations, or that stands alone, is named by its event numbers. */
static bool named_by_events(const ft_record_context *c, const ft_group *group)
{
    if (c->spec->per_event) return true;
    for (uint32_t i = 0; i < ft_claim_events(&group->sample); i++)
        if (c->trace->loc[group->sample.events[i]] == FT_NO_LOC) return true;
    return false;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_locations(ft_strbuf *key, const ft_record_context *c, const ft_group *group,
                          uint32_t n)
{
    const char *texts[FT_CLAIM_MAX_EVENTS];
    for (uint32_t i = 0; i < n; i++) texts[i] = location(c->trace, group->sample.events[i]);
    qsort(texts, n, sizeof *texts, by_text);
    for (uint32_t i = 0; i < n; i++) ft_strbuf_printf(key, "|%s", texts[i]);
}

char *ft_record_key(const ft_record_context *c, const ft_group *group)
{
    ft_strbuf key = {0};
    ft_strbuf_printf(&key, "%s|%s", ft_check_name(group->check),
                     kind_name(group->check, group->kind, c->spec, group->property));
    if (group->check == FT_CHECK_PROPERTY) {
        ft_strbuf_printf(&key, "|%u|%s", group->property,
                         c->spec->properties.data[group->property].name);
        return ft_strbuf_take(&key);
    }
    uint32_t n = ft_claim_events(&group->sample);
    bool by_event = named_by_events(c, group);
    for (uint32_t i = 0; by_event && i < n; i++)
        ft_strbuf_printf(&key, "|#%u", group->sample.events[i] + 1);
    if (!by_event) {
        add_locations(&key, c, group, n);
        ft_helpers_tell(c->order, &group->sample, &key);
    }
    if (by_event && group->check == FT_CHECK_ATOMICITY)
        ft_strbuf_printf(&key, "|%s", c->trace->shared.names[group->sample.variable]);
    return ft_strbuf_take(&key);
}

/* ---- accesses ---- */

static json_t *text_or_null(const char *text)
{
    return text ? json_string(text) : json_null();
}

/* Locks held for reading are marked: they exclude writers alone. */
static void add_locks(const ft_record_context *c, uint32_t e, json_t *access)
{
    json_t *locks = json_array(), *shared = json_array();
    ft_hold hold = c->order->holds.data[c->order->hold[e]];
    for (uint32_t i = 0; i < hold.count; i++) {
        uint32_t s = c->order->hold_sections.data[hold.first + i];
        const ft_section *section = &c->order->sections.data[s];
        const char *name = c->trace->locks.names[section->lock];
        json_array_append_new(locks, json_string(name));
        if (section->shared) json_array_append_new(shared, json_string(name));
    }
    json_object_set_new(access, "locks", locks);
    if (json_array_size(shared)) json_object_set(access, "shared", shared);
    json_decref(shared);
}

/* The access of the claim's i-th event to `variable`, in one word. */
static const char *access_word(const ft_trace *trace, const ft_claim *claim, uint32_t i)
{
    uint32_t e = claim->events[i];
    if (claim->kind == FT_CLAIM_ATOMICITY) return claim->writes[i] ? "write" : "read";
    if (claim->kind == FT_CLAIM_RACE)
        return ft_run_find_access(trace, e, claim->variable, true) != UINT32_MAX ? "write" : "read";
    return ft_event_kind_name(trace->kind[e]);
}

static bool has_variable(const ft_claim *claim)
{
    return claim->kind == FT_CLAIM_RACE || claim->kind == FT_CLAIM_ATOMICITY ||
           claim->kind == FT_CLAIM_UNINITIALISED;
}

static const char *object_of(const ft_trace *trace, const ft_claim *claim, uint32_t i)
{
    if (claim->kind == FT_CLAIM_FAILURE) return NULL;
    if (has_variable(claim)) return trace->shared.names[claim->variable];
    return ft_trace_object_name(trace, claim->events[i]);
}

/* Of a lock that a function keeps for its caller. */
static void add_helper_call(const ft_record_context *c, uint32_t e, json_t *access)
{
    uint32_t loc = ft_helper_call(c->order, e);
    if (loc == FT_NO_LOC) return;
    json_object_set_new(access, "asked_at", text_or_null(ft_trace_location_text(c->trace, loc)));
    json_object_set_new(access, "asked_by", text_or_null(c->trace->locations[loc].function));
}

/* The text for people, if it differs from `text`, which is for machines. */
static void add_display(const ft_record_context *c, uint32_t e, const char *text, json_t *json)
{
    ft_strbuf display = {0};
    ft_show_event(c->show, e, &display);
    if (strcmp(ft_strbuf_text(&display), text) != 0)
        json_object_set_new(json, "display", json_string(ft_strbuf_text(&display)));
    ft_strbuf_release(&display);
}

/* Of who waits on a condition variable: the lock that it will want back. */
static void add_given_lock(const ft_record_context *c, uint32_t e, json_t *access)
{
    bool waits = c->witness && c->witness->claim.kind == FT_CLAIM_STUCK &&
                 c->trace->kind[e] == FT_EVENT_COND_WAKE;
    const char *lock = waits ? ft_waiting_gave_up(c->trace, c->witness) : NULL;
    if (lock) json_object_set_new(access, "gave_up", json_string(lock));
}

static json_t *access_json(const ft_record_context *c, const ft_claim *claim, uint32_t i)
{
    const ft_trace *trace = c->trace;
    uint32_t e = claim->events[i], loc = trace->loc[e];
    ft_strbuf text = {0};
    ft_trace_print_event(trace, e, &text);
    json_t *access =
        json_pack("{s:I, s:s, s:s, s:o, s:o, s:o, s:s}", "event", (json_int_t)e + 1, "thread",
                  ft_trace_thread_name(trace, trace->thread[e]), "access",
                  access_word(trace, claim, i), "object", text_or_null(object_of(trace, claim, i)),
                  "location", text_or_null(ft_trace_location_text(trace, loc)), "function",
                  text_or_null(trace->locations[loc].function), "text", ft_strbuf_text(&text));
    add_display(c, e, ft_strbuf_text(&text), access);
    ft_strbuf_release(&text);
    ft_sources_add_line(trace, e, access);
    add_locks(c, e, access);
    add_given_lock(c, e, access);
    add_helper_call(c, e, access);
    ft_calls_add(trace, e, access);
    ft_calls_add_creation(trace, c->order, e, access);
    return access;
}

/* ---- sentences ---- */

static void add_place(ft_strbuf *out, const ft_record_context *c, uint32_t e)
{
    ft_strbuf_printf(out, " by %s", ft_trace_thread_name(c->trace, c->trace->thread[e]));
    if (c->trace->loc[e] != FT_NO_LOC)
        ft_strbuf_printf(out, " at %s", location(c->trace, e));
    else
        ft_strbuf_printf(out, " (event %u)", e + 1);
}

static void race_sentence(ft_strbuf *out, const ft_record_context *c, const ft_claim *claim)
{
    ft_strbuf_printf(out, "%s of %s", access_word(c->trace, claim, 0),
                     c->trace->shared.names[claim->variable]);
    add_place(out, c, claim->events[0]);
    ft_strbuf_printf(out, " races with %s", access_word(c->trace, claim, 1));
    add_place(out, c, claim->events[1]);
}

static void atomicity_sentence(ft_strbuf *out, const ft_record_context *c, const ft_claim *claim)
{
    ft_strbuf_printf(out, "%s of %s", access_word(c->trace, claim, 1),
                     c->trace->shared.names[claim->variable]);
    add_place(out, c, claim->events[1]);
    ft_strbuf_printf(out, " comes between %s", access_word(c->trace, claim, 0));
    add_place(out, c, claim->events[0]);
    ft_strbuf_printf(out, " and %s", access_word(c->trace, claim, 2));
    add_place(out, c, claim->events[2]);
    ft_strbuf_puts(out, " of one transaction");
}

/* Names the thread that has it; the child of a join has been named already. */
static void add_keeper(ft_strbuf *out, const ft_trace *trace, uint32_t request, uint32_t keeper)
{
    if (trace->kind[request] == FT_EVENT_JOIN) return;
    if (ft_order_waits_behind(trace, request, keeper)) {
        ft_strbuf_printf(out, ", behind the writer %s",
                         ft_trace_thread_name(trace, trace->thread[keeper]));
        return;
    }
    ft_strbuf_printf(out, ", %s by %s",
                     trace->kind[request] == FT_EVENT_ONCE_PASS ? "being initialised" : "held",
                     ft_trace_thread_name(trace, trace->thread[keeper]));
}

/* "T1 waits for B at a.c:3, held by T2, which waits for A at b.c:7, held by T1". */
static void deadlock_sentence(ft_strbuf *out, const ft_record_context *c, const ft_claim *claim)
{
    const ft_trace *trace = c->trace;
    for (uint32_t i = 0; i < claim->n_events; i++) {
        uint32_t e = claim->events[i];
        if (i == 0) ft_strbuf_puts(out, ft_trace_thread_name(trace, trace->thread[e]));
        ft_strbuf_printf(out, "%s waits for %s", i ? ", which" : "",
                         ft_trace_object_name(trace, e));
        if (trace->loc[e] != FT_NO_LOC) ft_strbuf_printf(out, " at %s", location(trace, e));
        uint32_t call = ft_helper_call(c->order, e);
        if (call != FT_NO_LOC)
            ft_strbuf_printf(out, " (called at %s)", ft_trace_location_text(trace, call));
        add_keeper(out, trace, e, claim->events[(i + 1) % claim->n_events]);
    }
}

static void event_sentence(ft_strbuf *out, const ft_record_context *c, uint32_t e)
{
    ft_show_event(c->show, e, out);
    add_place(out, c, e);
}

static void lock_error_sentence(ft_strbuf *out, const ft_record_context *c, const ft_claim *claim)
{
    uint32_t e = claim->events[0];
    event_sentence(out, c, e);
    ft_strbuf_puts(out, c->trace->kind[e] == FT_EVENT_RELEASE ? ": it does not hold the lock"
                                                              : ": it holds the lock already");
}

/* "T3 waits forever on done at a.c:9, where it gave up m: no thread signals it". */
static void waiter_sentence(ft_strbuf *out, const ft_record_context *c, uint32_t e)
{
    const ft_trace *trace = c->trace;
    const char *lock = ft_waiting_gave_up(trace, c->witness);
    ft_strbuf_printf(out, "%s waits forever on %s", ft_trace_thread_name(trace, trace->thread[e]),
                     ft_trace_object_name(trace, e));
    if (trace->loc[e] != FT_NO_LOC)
        ft_strbuf_printf(out, " at %s", location(trace, e));
    else
        ft_strbuf_printf(out, " (event %u)", e + 1);
    if (lock) ft_strbuf_printf(out, ", where it gave up %s", lock);
    ft_strbuf_puts(out, ": ");
    ft_waiting_explain(trace, c->witness, out);
}

static void stuck_sentence(ft_strbuf *out, const ft_record_context *c, const ft_claim *claim)
{
    uint32_t e = claim->events[0];
    if (c->witness && c->trace->kind[e] == FT_EVENT_COND_WAKE) {
        waiter_sentence(out, c, e);
        return;
    }
    event_sentence(out, c, e);
    ft_strbuf_puts(out, " waits forever: no thread is left that could end it");
}

static void after_free_sentence(ft_strbuf *out, const ft_record_context *c, const ft_claim *claim)
{
    event_sentence(out, c, claim->events[1]);
    ft_strbuf_puts(out, " comes after ");
    event_sentence(out, c, claim->events[0]);
}

static void uninitialised_sentence(ft_strbuf *out, const ft_record_context *c,
                                   const ft_claim *claim)
{
    ft_strbuf_printf(out, "read of %s", c->trace->shared.names[claim->variable]);
    add_place(out, c, claim->events[0]);
    ft_strbuf_puts(out, " comes before any write of it");
}

/* "killed by signal 11 (Segmentation fault) after write of x by T1 at a.c:9". */
static void failure_sentence(ft_strbuf *out, const ft_record_context *c, const ft_claim *claim)
{
    const ft_note *note = ft_trace_failure(c->trace);
    ft_strbuf_printf(out, "%s; last seen: ", note ? note->text : "the run failed");
    event_sentence(out, c, claim->events[0]);
}

/* "main forks a process at a.c:9 while T1 holds m, taken at a.c:3: it waits for m forever at
 * a.c:4".
 */
static void fork_sentence(ft_strbuf *out, const ft_record_context *c, const ft_claim *claim)
{
    const ft_trace *trace = c->trace;
    uint32_t release = claim->events[0], fork = claim->events[1];
    const char *lock = ft_trace_object_name(trace, release);
    uint32_t section = ft_order_section_at(c->order, release, trace->object[release]);
    uint32_t want = ft_forks_wanting(trace, fork, trace->object[release]);
    ft_strbuf_printf(out, "%s forks a process at %s while %s holds %s",
                     ft_trace_thread_name(trace, trace->thread[fork]), location(trace, fork),
                     ft_trace_thread_name(trace, trace->thread[release]), lock);
    if (section != FT_NO_SECTION)
        ft_strbuf_printf(out, ", taken at %s",
                         location(trace, c->order->sections.data[section].acquire));
    ft_strbuf_printf(out, ": the process waits for %s forever", lock);
    if (want != FT_NO_EVENT && trace->loc[want] != FT_NO_LOC)
        ft_strbuf_printf(out, " at %s", location(trace, want));
}

static void events_sentence(ft_strbuf *out, const ft_record_context *c, const ft_claim *claim)
{
    for (uint32_t i = 0; i < ft_claim_events(claim); i++) {
        if (i) ft_strbuf_puts(out, " and ");
        event_sentence(out, c, claim->events[i]);
    }
}

/* The condition as its term has it, unless `source` says the same. */
static void add_condition(ft_strbuf *out, const ft_record_context *c, uint32_t e, ft_term condition,
                          const char *source)
{
    ft_strbuf text = {0};
    ft_show_term(c->show, e, condition, FT_RANK_CHOICE, &text);
    if (!source || strcmp(source, text.text) != 0) ft_strbuf_printf(out, ": %s", text.text);
    ft_strbuf_release(&text);
}

/* "assert(s == 300) by main at a.c:49 is false: 90 + x + 120 == 300 with x = 110 (320 == 300)".
 * Under `control` values are anything. */
static void assertion_sentence(ft_strbuf *out, const ft_record_context *c, const ft_claim *claim)
{
    uint32_t e = claim->events[0];
    bool property = claim->kind == FT_CLAIM_CONDITION;
    ft_term condition = property ? claim->condition : ft_trace_action(c->trace, e)->guard;
    bool constant = ft_term_get(c->trace->terms, condition).op == FT_OP_LITERAL;
    const char *source = c->trace->locations[c->trace->loc[e]].asserted;
    event_sentence(out, c, e);
    if (!c->reading || constant || c->model == FT_MODEL_CONTROL) return;
    if (property) add_condition(out, c, e, condition, NULL);
    ft_strbuf_puts(out, " is false");
    if (!property && source) add_condition(out, c, e, condition, source);
    ft_show_values(c->show, e, condition, c->reading->symbols, c->reading->n_symbols, out);
}

static char *sentence(const ft_record_context *c, const ft_group *group, const ft_claim *claim)
{
    typedef void writer(ft_strbuf *, const ft_record_context *, const ft_claim *);
    static writer *const WRITERS[FT_CLAIM_KINDS] = {[FT_CLAIM_RACE] = race_sentence,
                                                    [FT_CLAIM_ATOMICITY] = atomicity_sentence,
                                                    [FT_CLAIM_ASSERTION] = assertion_sentence,
                                                    [FT_CLAIM_CONDITION] = assertion_sentence,
                                                    [FT_CLAIM_LOCK_ERROR] = lock_error_sentence,
                                                    [FT_CLAIM_DEADLOCK] = deadlock_sentence,
                                                    [FT_CLAIM_STUCK] = stuck_sentence,
                                                    [FT_CLAIM_AFTER_FREE] = after_free_sentence,
                                                    [FT_CLAIM_UNINITIALISED] =
                                                        uninitialised_sentence,
                                                    [FT_CLAIM_FAILURE] = failure_sentence};
    ft_strbuf out = {0};
    if (group->check == FT_CHECK_PROPERTY)
        ft_strbuf_printf(&out, "property %s: ", c->spec->properties.data[group->property].name);
    writer *write = WRITERS[claim->kind];
    if (claim->kind == FT_CLAIM_CO_ENABLED && group->check == FT_CHECK_DEADLOCK)
        write = fork_sentence;
    (write ? write : events_sentence)(&out, c, claim);
    return ft_strbuf_take(&out);
}

/* ---- the record ---- */

ft_reason ft_record_reason(const uint64_t passes[FT_REASONS], ft_reason none)
{
    int found = -1;
    for (int i = 0; i < FT_REASONS; i++) {
        if (!passes[i]) continue;
        if (found >= 0) return FT_REASON_MIXED;
        found = i;
    }
    return found >= 0 ? (ft_reason)found : none;
}

static char *reason_text(const ft_record_context *c, ft_reason reason, const ft_decision *decision)
{
    ft_strbuf out = {0};
    if (reason == FT_REASON_BROKEN_TRACE) {
        ft_strbuf_printf(
            &out,
            "refuted, but the observed order itself breaks: %s; nothing that may depend "
            "on this is called safe",
            c->trace->broken_text);
        return ft_strbuf_take(&out);
    }
    if (decision->text)
        ft_strbuf_puts(&out, decision->text);
    else
        ft_strbuf_puts(&out, ft_reason_doc(reason));
    if (decision->lock != UINT32_MAX)
        ft_strbuf_printf(&out, ": lock %s", c->trace->locks.names[decision->lock]);
    if (reason == FT_REASON_CAUSALITY && decision->cycle && decision->cycle->len) {
        ft_strbuf_puts(&out, ": ");
        ft_causality_print(c->trace, c->show, decision->cycle, &out);
    }
    return ft_strbuf_take(&out);
}

/* Each entry is an event, and why it comes before the next entry's; the last one's next is the
 * first. */
static json_t *cycle_json(const ft_record_context *c, const ft_causality_edges *cycle)
{
    const ft_trace *trace = c->trace;
    json_t *list = json_array();
    for (size_t i = 0; i < cycle->len; i++) {
        const ft_causality_edge *edge = &cycle->data[i];
        ft_strbuf text = {0};
        ft_trace_print_event(trace, edge->from, &text);
        json_t *cause =
            json_pack("{s:I, s:s, s:o, s:s, s:s, s:o}", "event", (json_int_t)edge->from + 1,
                      "thread", ft_trace_thread_name(trace, trace->thread[edge->from]), "location",
                      text_or_null(ft_trace_location_text(trace, trace->loc[edge->from])), "text",
                      ft_strbuf_text(&text), "why", ft_causality_why_text(edge->why), "object",
                      text_or_null(ft_causality_object(trace, edge)));
        add_display(c, edge->from, ft_strbuf_text(&text), cause);
        json_array_append_new(list, cause);
        ft_strbuf_release(&text);
    }
    return list;
}

static json_t *deciders_json(const ft_decide_stats *stats)
{
    json_t *names = json_array();
    for (int i = 0; i < FT_DECIDERS; i++)
        if (stats->decided_by[i])
            json_array_append_new(names, json_string(ft_decided_by_name((ft_decided_by)i)));
    return names;
}

static json_t *reason_json(const ft_record_context *c, ft_reason reason,
                           const ft_decision *decision)
{
    char *text = reason_text(c, reason, decision);
    json_t *json = json_pack("{s:s, s:s}", "pass", ft_reason_name(reason), "text", text);
    free(text);
    if (decision->cycle && decision->cycle->len)
        json_object_set_new(json, "cycle", cycle_json(c, decision->cycle));
    if (decision->stats && decision->stats->checks)
        json_object_set_new(json, "deciders", deciders_json(decision->stats));
    if (!decision->passes) return json;
    json_t *passes = json_object();
    for (int i = 0; i < FT_REASONS; i++)
        if (decision->passes[i])
            json_object_set_new(passes, ft_reason_name((ft_reason)i),
                                json_integer((json_int_t)decision->passes[i]));
    json_object_set_new(json, "passes", passes);
    return json;
}

static json_t *witness_json(const ft_record_context *c, const ft_decision *decision)
{
    json_t *json =
        ft_witness_to_json(c->trace, c->trace_hash, decision->witness, decision->reading, c->show);
    const ft_minimised *m = decision->minimised;
    if (!m) return json;
    json_object_set_new(json, "members", json_integer(m->members));
    json_object_set_new(json, "switches", json_integer(m->switches));
    json_object_set_new(json, "minimal", json_boolean(m->complete));
    json_object_set_new(json, "unreduced",
                        json_pack("{s:I, s:I}", "members", (json_int_t)m->members_before,
                                  "switches", (json_int_t)m->switches_before));
    return json;
}

static json_t *tally_json(const ft_pass_tally *tally)
{
    json_t *json = json_pack("{s:I, s:I, s:f}", "asked", (json_int_t)tally->asked, "decided",
                             (json_int_t)tally->decided, "ms", tally->ms);
    if (!tally->left_out) return json;
    json_object_set_new(json, "left_out", json_integer((json_int_t)tally->left_out));
    json_object_set_new(json, "limit", json_string(ft_intervals_cut_words(tally->limit)));
    return json;
}

static json_t *tallies_json(const ft_pass_tally *tallies)
{
    json_t *json = json_object();
    for (int p = 0; p < FT_PASSES; p++)
        if (tallies[p].asked || tallies[p].left_out)
            json_object_set_new(json, ft_pass_get((ft_pass_id)p)->name, tally_json(&tallies[p]));
    return json;
}

static json_t *stats_json(const ft_decision *decision)
{
    const ft_decide_stats *s = decision->stats;
    json_t *json = json_pack("{s:f}", "total_ms", decision->total_ms);
    if (decision->tallies) json_object_set_new(json, "passes", tallies_json(decision->tallies));
    if (!s || !s->checks) return json;
    json_object_set_new(json, "encode_ms", json_real(s->encode_ms));
    json_object_set_new(json, "solve_ms", json_real(s->solve_ms));
    json_object_set_new(json, "rounds", json_integer((json_int_t)s->checks));
    json_object_set_new(json, "lemmas", json_integer((json_int_t)s->lemmas));
    json_object_set_new(json, "sliced", json_integer((json_int_t)s->sliced));
    json_object_set_new(json, "events", json_integer((json_int_t)s->events));
    return json;
}

/* A library orders threads without being seen (the recorder's note): accesses that were side by
 * side in the trace may have been ordered in the run. */
static bool has_unseen_order(const ft_trace *trace)
{
    for (uint32_t i = 0; i < trace->n_notes; i++)
        if (!strcmp(trace->notes[i].code, "unseen-order")) return true;
    return false;
}

/* The run is one that an exploration of the program came to (the recorder's note). */
static bool is_explored(const ft_trace *trace)
{
    for (uint32_t i = 0; i < trace->n_notes; i++)
        if (!strcmp(trace->notes[i].code, "explored")) return true;
    return false;
}

/* A finding of which only the synchronisation was checked is `possible`. */
static const char *status_word(const ft_record_context *c, ft_check check,
                               const ft_decision *decision)
{
    bool race = check == FT_CHECK_RACE, sure = !race || !has_unseen_order(c->trace);
    bool certain = c->model != FT_MODEL_CONTROL;
    if (sure && (decision->observed || (race && certain)) && is_explored(c->trace))
        return "explored";
    if (decision->observed && sure) return "observed";
    return certain ? "predicted" : "possible";
}

/* Does the lock that t_c' holds in that section keep the three apart, in a section each? */
static bool guards(const ft_order *order, const ft_claim *claim, uint32_t last)
{
    const ft_section *sections = order->sections.data;
    uint32_t lock = sections[last].lock;
    uint32_t first = ft_order_section_at(order, claim->events[0], lock);
    uint32_t remote = ft_order_section_at(order, claim->events[1], lock);
    if (first == FT_NO_SECTION || remote == FT_NO_SECTION || first == last) return false;
    return !sections[remote].shared || (!sections[first].shared && !sections[last].shared);
}

/* The transaction gave a lock back that guards the object, and reads the object anew under it: the
 * section that was taken for a transaction guards something else. */
static bool reads_anew(const ft_record_context *c, const ft_claim *claim)
{
    if (claim->kind != FT_CLAIM_ATOMICITY || claim->writes[2]) return false;
    ft_hold hold = c->order->holds.data[c->order->hold[claim->events[2]]];
    for (uint32_t i = 0; i < hold.count; i++)
        if (guards(c->order, claim, c->order->hold_sections.data[hold.first + i])) return true;
    return false;
}

/* The effect of an event on a variable in one step, by its terms or its kind. */
typedef struct deed {
    bool reads, writes, atomic;
} deed;

static deed deed_of(const ft_trace *trace, uint32_t e, uint32_t variable)
{
    return (deed){.reads = ft_run_find_access(trace, e, variable, false) != UINT32_MAX,
                  .writes = ft_run_find_access(trace, e, variable, true) != UINT32_MAX,
                  .atomic = trace->kind[e] == FT_EVENT_RMW || (trace->flags[e] & FT_FLAG_ATOMIC)};
}

static bool is_update(deed d)
{
    return d.atomic && d.reads && d.writes;
}

static bool is_look(deed d)
{
    return d.atomic && d.reads && !d.writes;
}

/* A compare-and-swap that succeeded; with terms, its outcome is the guard. */
static bool is_swap(const ft_trace *trace, uint32_t e, uint32_t variable)
{
    const ft_action *action = ft_trace_action(trace, e);
    if (!is_update(deed_of(trace, e, variable))) return false;
    return action ? action->guard != FT_NO_TERM : (trace->flags[e] & FT_FLAG_TRY) != 0;
}

/* Is e an atomic read before a compare-and-swap of the same object, with nothing but such reads in
 * between? That one asks for what was read again: they are one update, which is made anew where
 * another thread's comes in between. */
static bool begins_update(const ft_order *order, uint32_t e, uint32_t variable)
{
    const ft_trace *trace = order->trace;
    while (e != FT_NO_EVENT && is_look(deed_of(trace, e, variable))) {
        deed next = {0};
        do {
            e = ft_order_next(order, e);
            if (e != FT_NO_EVENT) next = deed_of(trace, e, variable);
        } while (e != FT_NO_EVENT && !next.reads && !next.writes);
    }
    return e != FT_NO_EVENT && is_swap(trace, e, variable);
}

static bool updates(const ft_order *order, uint32_t e, uint32_t variable)
{
    return is_update(deed_of(order->trace, e, variable)) || begins_update(order, e, variable);
}

/* Between two updates of an atomic another thread reads or updates it: each update makes one whole
 * state out of another (a count of references, a word of bits, the number of a sequence lock), and
 * who reads it as an atomic takes whichever is there. Two stores may well be halves of one change,
 * and a store in between throws an update away. Who made the atomic, by a plain write, made a whole
 * state too: what others make of it before the maker's own update, or its look, is as harmless. */
static bool updates_or_peeks(const ft_order *order, const ft_claim *claim)
{
    if (claim->kind != FT_CLAIM_ATOMICITY) return false;
    const uint32_t *e = claim->events, v = claim->variable;
    deed first = deed_of(order->trace, e[0], v), between = deed_of(order->trace, e[1], v);
    bool made = first.writes && !first.reads && !first.atomic;
    if (made && is_look(deed_of(order->trace, e[2], v))) return is_update(between);
    if (!made && !updates(order, e[0], v)) return false;
    return updates(order, e[2], v) && (is_update(between) || is_look(between));
}

/* Of the places that the record tells. */
static void add_sources(const ft_trace *trace, const ft_witness *witness, json_t *record)
{
    json_t *sources = json_object();
    ft_sources_add(trace, witness->claim.events, ft_claim_events(&witness->claim), sources);
    ft_sources_add(trace, witness->steps, witness->n_steps, sources);
    if (json_object_size(sources)) json_object_set(record, "sources", sources);
    json_decref(sources);
}

static bool assigns_itself(const ft_trace *trace, const ft_action *action, uint32_t variable)
{
    ft_symbol symbol = FT_SYM_SHARED(variable);
    for (uint32_t i = 0; i < action->n_assignments; i++) {
        const ft_assignment *a = &action->assignments[i];
        if (a->target != symbol) continue;
        ft_term_node node = ft_term_get(trace->terms, a->term);
        return node.op == FT_OP_SYMBOL && node.symbol == symbol;
    }
    return false;
}

/* Does the atomic update write what it reads? With terms, that is so in each schedule. */
static bool keeps_value(const ft_record_context *c, uint32_t e, uint32_t variable)
{
    const ft_action *action = ft_trace_action(c->trace, e);
    if (!is_update(deed_of(c->trace, e, variable))) return false;
    if (action) return assigns_itself(c->trace, action, variable);
    ft_vid read = ft_run_vid(c->run, e, ft_run_find_access(c->trace, e, variable, false));
    ft_vid written = ft_run_vid(c->run, e, ft_run_find_access(c->trace, e, variable, true));
    return FT_VID_IS_KNOWN(written) && written == read;
}

static bool only_keeps_values(const ft_record_context *c, uint32_t e)
{
    ft_access scratch;
    uint32_t count;
    const ft_access *accesses = ft_trace_accesses(c->trace, e, &scratch, &count);
    for (uint32_t i = 0; i < count; i++)
        if (accesses[i].write && !keeps_value(c, e, accesses[i].variable)) return false;
    return true;
}

/* In the witness's schedule too: what it writes there follows from what it reads. */
static bool reads_as_observed(const ft_reading *reading, uint32_t e)
{
    for (uint32_t i = 0; reading && i < reading->n_rows; i++) {
        const ft_reading_row *row = &reading->rows[i];
        if (row->event == e)
            return row->value_known && row->observed_known &&
                   ft_value_equal(row->value, row->observed);
    }
    return false;
}

/* What another thread writes in between is an atomic update that leaves the value as it is, each
 * time that the program comes there (`fetch_or` of nothing): it reads no more than the object. That
 * between two writes it reads the half of a change stands. */
static bool only_looks(const ft_record_context *c, const ft_claim *claim, const ft_reading *reading)
{
    uint32_t e = claim->events[1], loc = c->trace->loc[e];
    if (claim->kind != FT_CLAIM_ATOMICITY || !claim->writes[1]) return false;
    if ((claim->writes[0] && claim->writes[2]) || !only_keeps_values(c, e)) return false;
    if (!ft_trace_action(c->trace, e) && !reads_as_observed(reading, e)) return false;
    for (uint32_t i = 0; loc != FT_NO_LOC && i < c->trace->n_events; i++)
        if (c->trace->loc[i] == loc && !only_keeps_values(c, i)) return false;
    return true;
}

/* The identity of the value that `variable` has before order[n] (NULL: before event n of the run),
 * if an access before it shows that. */
static ft_vid vid_before(const ft_record_context *c, const uint32_t *order, uint32_t n,
                         uint32_t variable)
{
    while (n-- > 0) {
        uint32_t e = order ? order[n] : n;
        uint32_t at = ft_run_find_access(c->trace, e, variable, true);
        if (at == UINT32_MAX) at = ft_run_find_access(c->trace, e, variable, false);
        if (at != UINT32_MAX) return ft_run_vid(c->run, e, at);
    }
    return ft_run_initial_vid(c->run, variable);
}

/* Does the plain write at e store the value that is there? */
static bool stores_again(const ft_record_context *c, const uint32_t *order, uint32_t n, uint32_t e,
                         uint32_t variable)
{
    if (c->trace->kind[e] != FT_EVENT_WRITE || c->trace->object[e] != variable) return false;
    ft_vid written = ft_run_vid(c->run, e, 0);
    return FT_VID_IS_KNOWN(written) && written == vid_before(c, order, n, variable);
}

/* In the schedule, and each time that the run came to its place, so that it is not chance. */
static bool always_stores_again(const ft_record_context *c, uint32_t e, uint32_t variable)
{
    const ft_witness *w = c->witness;
    uint32_t loc = c->trace->loc[e];
    bool there = false;
    for (uint32_t i = 0; w && i < w->n_steps && !there; i++)
        there = w->steps[i] == e && stores_again(c, w->steps, i, e, variable);
    for (uint32_t i = 0; there && loc != FT_NO_LOC && i < c->trace->n_events; i++)
        if (c->trace->loc[i] == loc && c->trace->kind[i] == FT_EVENT_WRITE)
            there = stores_again(c, NULL, i, i, c->trace->object[i]);
    return there;
}

/* The write that comes in between, or the write before the other thread's read, stores the value
 * that is there: the schedule has the result of one in which it does not come in between. */
static bool changes_nothing(const ft_record_context *c, const ft_claim *claim)
{
    if (claim->kind != FT_CLAIM_ATOMICITY || c->model == FT_MODEL_CONTROL) return false;
    uint32_t i = claim->writes[1] ? 1 : 0;
    return claim->writes[i] && always_stores_again(c, claim->events[i], claim->variable);
}

static bool is_apart(const ft_record_context *c, const ft_claim *claim, const ft_decision *decision)
{
    return decision->observed || changes_nothing(c, claim) || reads_anew(c, claim) ||
           updates_or_peeks(c->order, claim) || only_looks(c, claim, decision->reading);
}

/* A thread that only waits for work is no finding beside one that somebody waits for. */
static void add_waiters(const ft_record_context *c, const ft_witness *witness, json_t *record)
{
    if (witness->claim.kind != FT_CLAIM_STUCK) return;
    json_t *others = ft_waiting_others(c->order, c->show, witness);
    if (others) json_object_set_new(record, "also_waiting", others);
    if (ft_waiting_is_idle(c->order, witness)) json_object_set_new(record, "apart", json_true());
}

static json_t *make_record(const ft_record_context *c, const ft_group *group,
                           const ft_decision *decision)
{
    const ft_claim *claim = decision->witness ? &decision->witness->claim : &group->sample;
    ft_verdict verdict = decision->verdict;
    ft_reason reason = decision->reason;
    if (verdict == FT_VERDICT_SAFE && c->trace->broken != FT_NO_EVENT && !decision->certain) {
        verdict = FT_VERDICT_UNKNOWN;
        reason = FT_REASON_BROKEN_TRACE;
    }
    bool has_claim = claim->events[0] < c->trace->n_events;
    bool has_key = decision->count == 1 && (has_claim || group->check == FT_CHECK_PROPERTY);
    char *key = has_key ? ft_record_key(c, group) : NULL;
    json_t *record = json_pack(
        "{s:s, s:s, s:s, s:I, s:I, s:s, s:s, s:n, s:s}", "check", ft_check_name(group->check),
        "kind", kind_name(group->check, group->kind, c->spec, group->property), "verdict",
        ft_verdict_name(verdict), "count", (json_int_t)decision->count, "pairs",
        (json_int_t)decision->pairs, "model", ft_model_name(c->model), "memory", "sc", "bound",
        "scope", "trace");
    if (decision->bounded) json_object_set_new(record, "bound", json_integer(decision->bound));
    if (key) json_object_set_new(record, "key", json_string(key));
    free(key);
    if (group->check == FT_CHECK_PROPERTY) {
        json_object_set_new(record, "property", json_integer(group->property));
        json_object_set_new(record, "name",
                            json_string(c->spec->properties.data[group->property].name));
    }
    if (verdict == FT_VERDICT_VIOLATION)
        json_object_set_new(record, "status", json_string(status_word(c, group->check, decision)));
    if (verdict == FT_VERDICT_VIOLATION && group->check == FT_CHECK_ATOMICITY && c->apart &&
        is_apart(c, claim, decision))
        json_object_set_new(record, "apart", json_true());
    json_object_set_new(record, "reason", reason_json(c, reason, decision));
    json_object_set_new(record, "stats", stats_json(decision));
    if (!has_claim) return record;
    char print[FT_FINGERPRINT + 1], *message = sentence(c, group, claim);
    json_object_set_new(record, "message", json_string(message));
    json_object_set_new(record, "object", text_or_null(object_of(c->trace, claim, 0)));
    free(message);
    json_t *accesses = json_array();
    for (uint32_t i = 0; i < ft_claim_events(claim); i++)
        json_array_append_new(accesses, access_json(c, claim, i));
    json_object_set_new(record, "accesses", accesses);
    ft_fingerprint(record, NULL, print);
    json_object_set_new(record, "fingerprint", json_string(print));
    if (!decision->witness) return record;
    add_waiters(c, decision->witness, record);
    json_t *limits = ft_limits_of(c->trace, decision->witness);
    if (limits) json_object_set_new(record, "limits", limits);
    add_sources(c->trace, decision->witness, record);
    json_object_set_new(record, "witness", witness_json(c, decision));
    json_t *replay = ft_calls_replay(c->trace);
    if (replay) json_object_set_new(record, "replay", replay);
    return record;
}

json_t *ft_record_new(const ft_record_context *context, const ft_group *group,
                      const ft_decision *decision)
{
    FT_REQUIRE(context && context->show);
    ft_record_context c = *context;
    c.reading = decision->reading;
    c.witness = decision->witness;
    return make_record(&c, group, decision);
}
