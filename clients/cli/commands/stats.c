#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/contract.h"
#include "commands.h"
#include "files/files.h"
#include "remote/remote.h"
#include "report/report.h"
#include "terminal/terminal.h"
#include "trace/reader.h"
#include "verdict/checker.h"

enum { HOT = 10 }; /* locations that are printed */

/* Each event is counted once. */
static uint64_t sum_of(const uint32_t *counts, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) sum += counts[i];
    return sum;
}

static json_t *kinds_of(const ft_trace *trace)
{
    uint32_t counts[FT_EVENT_KINDS] = {0};
    for (uint32_t e = 0; e < trace->n_events; e++) counts[trace->kind[e]]++;
    FT_CHECK(sum_of(counts, FT_EVENT_KINDS) == trace->n_events);
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
    FT_CHECK(sum_of(counts, trace->threads.len) == trace->n_events);
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

/* ---- where the events come from ---- */

typedef struct place {
    uint32_t loc, count;
} place;

static int by_count(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    return x->loc < y->loc ? -1 : x->loc > y->loc;
}

/* Locations in order of their events; what has no location is not among them. */
static place *places_of(const ft_trace *trace, uint32_t *used)
{
    place *places = ft_calloc(trace->n_locations, sizeof *places);
    for (uint32_t i = 0; i < trace->n_locations; i++) places[i].loc = i;
    for (uint32_t e = 0; e < trace->n_events; e++) places[trace->loc[e]].count++;
    assert(trace->n_locations > FT_NO_LOC);
    places[FT_NO_LOC].count = 0;
    qsort(places, trace->n_locations, sizeof *places, by_count);
    *used = 0;
    while (*used < trace->n_locations && places[*used].count) ++*used;
    return places;
}

static json_t *hot_of(const ft_trace *trace)
{
    uint32_t used;
    place *places = places_of(trace, &used);
    json_t *list = json_array();
    for (uint32_t i = 0; i < used && i < HOT; i++) {
        const ft_location *at = &trace->locations[places[i].loc];
        json_array_append_new(list,
                              json_pack("{s:s, s:s?, s:I, s:f}", "location", at->text, "function",
                                        at->function, "events", (json_int_t)places[i].count,
                                        "share", (double)places[i].count / trace->n_events));
    }
    free(places);
    return list;
}

static json_t *count_places(const ft_trace *trace)
{
    uint32_t used;
    free(places_of(trace, &used));
    return json_integer(used);
}

/* Of the file as it is; "-" has none. */
static void add_size(json_t *stats, const ft_trace *trace, const char *path)
{
    struct stat info;
    if (strcmp(path, "-") == 0 || stat(path, &info) || !S_ISREG(info.st_mode)) return;
    json_object_set_new(stats, "bytes", json_integer((json_int_t)info.st_size));
    json_object_set_new(stats, "bytes_per_event",
                        json_real((double)info.st_size / trace->n_events));
}

static json_t *stats_of(const ft_trace *trace, const char *hash, const char *path)
{
    json_t *stats = json_pack(
        "{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "trace", hash, "format",
        ft_format_name(trace->format), "events", (json_int_t)trace->n_events, "threads",
        (json_int_t)trace->threads.len, "variables", (json_int_t)trace->shared.len, "locals",
        (json_int_t)trace->locals.len, "locks", (json_int_t)trace->locks.len, "semaphores",
        (json_int_t)trace->semaphores.len, "kinds", kinds_of(trace), "events_by_thread",
        threads_of(trace), "broken", broken_of(trace), "notes", notes_of(trace));
    json_object_set_new(stats, "locations", count_places(trace));
    json_object_set_new(stats, "hot", hot_of(trace));
    add_size(stats, trace, path);
    return stats;
}

static void print_hot(const json_t *stats)
{
    size_t i;
    json_t *one, *hot = json_object_get(stats, "hot");
    if (!json_array_size(hot)) return;
    printf("hot locations\n");
    json_array_foreach(hot, i, one)
    {
        ft_strbuf text = {0};
        ft_view_safe_text(ft_json_text(one, "location", "?"), &text);
        const char *function = ft_json_text(one, "function", NULL);
        if (function) ft_strbuf_puts(&text, " in ");
        if (function) ft_view_safe_text(function, &text);
        printf("  %10zu  %5.1f %%  %s\n", ft_json_count(one, "events"),
               100 * json_real_value(json_object_get(one, "share")), ft_strbuf_text(&text));
        ft_strbuf_release(&text);
    }
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
    static const struct {
        const char *member, *title;
    } lines[] = {{"events", "events"},      {"threads", "threads"}, {"variables", "shared cells"},
                 {"locals", "locals"},      {"locks", "locks"},     {"semaphores", "semaphores"},
                 {"locations", "locations"}};
    const json_t *size = json_object_get(stats, "bytes_per_event");
    printf("%-18s %10s\n", "format", ft_json_text(stats, "format", "?"));
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        printf("%-18s %10zu\n", lines[i].title, ft_json_count(stats, lines[i].member));
    if (size)
        printf("%-18s %10zu (%.1f an event)\n", "bytes", ft_json_count(stats, "bytes"),
               json_real_value(size));
    print_counts("events by kind", json_object_get(stats, "kinds"));
    print_counts("events by thread", json_object_get(stats, "events_by_thread"));
    print_hot(stats);
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
        return ft_fail(options->arguments.data[0], &err);
    ft_observe_run(trace);
    json_t *stats = stats_of(trace, hash, options->arguments.data[0]);
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
