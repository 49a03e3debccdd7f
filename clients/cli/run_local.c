#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "input.h"
#include "job.h"
#include "output.h"
#include "trace/reader.h"
#include "verdict/checker.h"

static const char *shown(const char *path)
{
    return strcmp(path, "-") == 0 ? "<stdin>" : path;
}

static ft_exit fail(const char *file, const ft_error *err)
{
    ft_print_error(file ? shown(file) : NULL, err);
    return ft_exit_of(err);
}

/* ---- verify --------------------------------------------------------------------------------- */

static void print_verdict(const ft_options *options, const ft_trace *trace,
                          const ft_witness *witness, bool confirmed, const char *why)
{
    if (options->json) {
        json_t *out = json_pack("{s:b, s:s, s:s?}", "confirmed", confirmed, "claim",
                                ft_claim_kind_name(witness->claim.kind), "reason", why);
        json_dumpf(out, stdout, JSON_INDENT(1));
        fputs("\n", stdout);
        json_decref(out);
    } else if (confirmed) {
        printf("confirmed: %s, after %u steps and %u context switches, under model %s\n",
               ft_claim_kind_name(witness->claim.kind), witness->n_steps,
               ft_witness_switches(trace, witness), ft_model_name(witness->model));
    } else {
        printf("not confirmed: %s\n", why);
    }
}

static ft_exit execute(const ft_options *options, const ft_trace *trace, const ft_witness *witness)
{
    ft_error err = FT_ERROR_INIT;
    ft_checker *checker = ft_checker_new(trace);
    ft_status status = ft_checker_check(checker, witness, NULL, &err);
    ft_checker_free(checker);
    print_verdict(options, trace, witness, status == FT_OK, status ? err.message : NULL);
    if (!status) return FT_EXIT_CLEAN;
    return status == FT_INPUT ? FT_EXIT_FINDINGS : FT_EXIT_INCOMPLETE;
}

static ft_exit verify(const ft_options *options, const json_t *json)
{
    ft_error err = FT_ERROR_INIT;
    const char *path = options->arguments.data[0];
    const char *trace_path = options->arguments.len > 1 ? options->arguments.data[1] : NULL;
    ft_trace *trace = NULL;
    if (ft_job_trace(options, json, trace_path, &trace, &err)) return fail(trace_path, &err);
    ft_observe_run(trace);
    ft_witness witness = {0};
    ft_exit code = FT_EXIT_INPUT;
    if (ft_witness_from_json(json, trace, &witness, &err))
        fail(path, &err);
    else
        code = execute(options, trace, &witness);
    ft_witness_release(&witness);
    ft_trace_free(trace);
    return code;
}

ft_exit ft_run_verify(const ft_options *options)
{
    ft_error err = FT_ERROR_INIT;
    json_t *json = NULL;
    if (ft_input_json(options->arguments.data[0], &json, &err))
        return fail(options->arguments.data[0], &err);
    ft_exit code = verify(options, json);
    json_decref(json);
    return code;
}

/* ---- convert -------------------------------------------------------------------------------- */

ft_exit ft_run_convert(const ft_options *options)
{
    ft_error err = FT_ERROR_INIT;
    const char *in = options->arguments.data[0], *out = options->arguments.data[1];
    ft_trace_writer write = ft_output_writer(options->to, out);
    if (!write) {
        ft_error_set(&err, FT_USAGE, "%s does not tell its format: give --to ndjson or --to binary",
                     out);
        return fail(NULL, &err);
    }
    ft_trace *trace = NULL;
    if (ft_input_trace(in, &trace, NULL, &err)) return fail(in, &err);
    ft_status status = ft_output_trace(trace, write, out, &err);
    ft_trace_free(trace);
    return status ? fail(out, &err) : FT_EXIT_CLEAN;
}

/* ---- stats ---------------------------------------------------------------------------------- */

static json_t *kinds_of(const ft_trace *trace)
{
    uint32_t counts[FT_EVENT_KINDS] = {0};
    for (uint32_t e = 0; e < trace->n_events; e++) counts[trace->kind[e]]++;
    json_t *kinds = json_object();
    for (unsigned kind = 0; kind < FT_EVENT_KINDS; kind++)
        if (counts[kind])
            json_object_set_new(kinds, ft_event_kind_name((ft_event_kind)kind),
                                json_integer(counts[kind]));
    return kinds;
}

static json_t *threads_of(const ft_trace *trace)
{
    uint32_t *counts = ft_calloc((size_t)trace->threads.len + 1, sizeof *counts);
    for (uint32_t e = 0; e < trace->n_events; e++) counts[trace->thread[e]]++;
    json_t *threads = json_object();
    for (uint32_t t = 0; t < trace->threads.len; t++)
        json_object_set_new(threads, ft_trace_thread_name(trace, t), json_integer(counts[t]));
    free(counts);
    return threads;
}

static json_t *notes_of(const ft_trace *trace)
{
    json_t *notes = json_array();
    for (uint32_t i = 0; i < trace->n_notes; i++) {
        const ft_note *note = &trace->notes[i];
        json_t *event =
            note->event == FT_NO_EVENT ? json_null() : json_integer((json_int_t)note->event + 1);
        json_array_append_new(notes,
                              json_pack("{s:s, s:o, s:I, s:s}", "code", note->code, "event", event,
                                        "count", (json_int_t)note->count, "text", note->text));
    }
    return notes;
}

static json_t *broken_of(const ft_trace *trace)
{
    if (trace->broken == FT_NO_EVENT) return json_null();
    return json_pack("{s:I, s:s}", "event", (json_int_t)trace->broken + 1, "text",
                     trace->broken_text ? trace->broken_text : "");
}

static json_t *stats_of(const ft_trace *trace, const char *hash)
{
    return json_pack(
        "{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "trace", hash, "format",
        ft_format_name(trace->format), "events", (json_int_t)trace->n_events, "threads",
        (json_int_t)trace->threads.len, "variables", (json_int_t)trace->shared.len, "locals",
        (json_int_t)trace->locals.len, "locks", (json_int_t)trace->locks.len, "semaphores",
        (json_int_t)trace->semaphores.len, "kinds", kinds_of(trace), "events_by_thread",
        threads_of(trace), "broken", broken_of(trace), "notes", notes_of(trace));
}

static void print_counts(const char *title, const json_t *counts)
{
    const char *name;
    json_t *count;
    printf("%s\n", title);
    json_object_foreach((json_t *)(uintptr_t)counts, name, count)
    {
        ft_strbuf text = {0};
        ft_view_safe_text(name, &text);
        printf("  %-16s %10lld\n", ft_strbuf_text(&text), (long long)json_integer_value(count));
        ft_strbuf_release(&text);
    }
}

static void print_stats(const json_t *stats)
{
    static const char *const lines[] = {"events", "threads", "variables",
                                        "locals", "locks",   "semaphores"};
    printf("%-18s %10s\n", "format", ft_json_text(stats, "format", "?"));
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        printf("%-18s %10zu\n", lines[i], ft_json_count(stats, lines[i]));
    print_counts("events by kind", json_object_get(stats, "kinds"));
    print_counts("events by thread", json_object_get(stats, "events_by_thread"));
    const json_t *broken = json_object_get(stats, "broken");
    if (json_is_object(broken))
        printf("broken: event %zu: %s\n", ft_json_count(broken, "event"),
               ft_json_text(broken, "text", ""));
    size_t index;
    json_t *note;
    json_array_foreach(json_object_get(stats, "notes"), index, note) printf(
        "note: %s (%zu times)\n", ft_json_text(note, "text", ""), ft_json_count(note, "count"));
}

ft_exit ft_run_stats(const ft_options *options)
{
    ft_error err = FT_ERROR_INIT;
    ft_trace *trace = NULL;
    char hash[FT_DIGEST_HEX + 1];
    if (ft_input_trace(options->arguments.data[0], &trace, hash, &err))
        return fail(options->arguments.data[0], &err);
    ft_observe_run(trace);
    json_t *stats = stats_of(trace, hash);
    if (options->json) {
        json_dumpf(stats, stdout, JSON_INDENT(1));
        fputs("\n", stdout);
    } else {
        print_stats(stats);
    }
    json_decref(stats);
    ft_trace_free(trace);
    return FT_EXIT_CLEAN;
}
