/* What decided each candidate, the cycles that refute, and what each pass leaves: --explain. */
#include <string.h>

#include "report/internal.h"

/* ---- one candidate -------------------------------------------------------------------------- */

/* "a.c:7 release l (T1) is before b.c:2 by lock l". */
static void cause(const json_t *from, const json_t *to, ft_strbuf *out)
{
    const char *object = ft_json_text(from, "object", NULL), *why = ft_json_text(from, "why", "?");
    ft_strbuf_puts(out, "              ");
    ft_view_safe_text(ft_json_text(from, "location", "?"), out);
    ft_strbuf_puts(out, " ");
    ft_view_safe_text(ft_json_text(from, "display", ft_json_text(from, "text", "?")), out);
    ft_strbuf_puts(out, " (");
    ft_view_safe_text(ft_json_text(from, "thread", "?"), out);
    ft_strbuf_puts(out, ") is before ");
    ft_view_safe_text(ft_json_text(to, "location", "the next"), out);
    bool named = object && (strcmp(why, "lock") == 0 || strcmp(why, "semaphore") == 0 ||
                            strcmp(why, "condition") == 0);
    ft_strbuf_printf(out, ": %s", why);
    if (object) ft_strbuf_puts(out, named ? " " : " of ");
    if (object) ft_view_safe_text(object, out);
    ft_strbuf_puts(out, "\n");
}

static void cycle(const json_t *causes, ft_strbuf *out)
{
    size_t index, count = json_array_size(causes);
    json_t *from;
    json_array_foreach(causes, index, from)
        cause(from, json_array_get(causes, (index + 1) % count), out);
}

/* " (1 left out: too many steps)". */
static void left_out(const json_t *pass, ft_strbuf *out)
{
    if (!ft_json_count(pass, "left_out")) return;
    ft_strbuf_printf(out, " (%zu left out: ", ft_json_count(pass, "left_out"));
    ft_view_safe_text(ft_json_text(pass, "limit", "?"), out);
    ft_strbuf_puts(out, ")");
}

/* "passes: causality 2 of 3 in 0.1 ms, order 1 of 1 in 4.0 ms". */
static void asked(const json_t *passes, ft_strbuf *out)
{
    const char *name, *before = "            passes: ";
    json_t *pass;
    json_object_foreach((json_t *)passes, name, pass)
    {
        ft_strbuf_puts(out, before);
        ft_view_safe_text(name, out);
        ft_strbuf_printf(out, " %zu of %zu in %.1f ms", ft_json_count(pass, "decided"),
                         ft_json_count(pass, "asked"),
                         json_number_value(json_object_get(pass, "ms")));
        left_out(pass, out);
        before = ", ";
    }
    if (json_object_size(passes)) ft_strbuf_puts(out, "\n");
}

/* "safe race|write-write|a.c:3|b.c:4: unsat (by order; events: 561 traced, 40 after slicing, 561
 * encoded; 3 solver rounds, 4.1 ms)". */
static void explanation(const json_t *record, size_t traced, ft_strbuf *out)
{
    const json_t *stats = json_object_get(record, "stats");
    const json_t *reason = json_object_get(record, "reason");
    const json_t *decider;
    size_t index;
    size_t count = ft_json_count(record, "count"), events = ft_json_count(stats, "events");
    ft_strbuf_printf(out, "  %-9s ", ft_json_text(record, "verdict", "?"));
    ft_view_safe_text(ft_json_text(record, "key", ft_json_text(record, "check", "?")), out);
    if (count > 1) ft_strbuf_printf(out, " (%zu candidates)", count);
    ft_strbuf_printf(out, ": %s (", ft_json_text(reason, "pass", "?"));
    json_array_foreach(json_object_get(reason, "deciders"), index, decider)
        ft_strbuf_printf(out, "%s%s", index ? " and " : "by ", json_string_value(decider));
    if (index) ft_strbuf_puts(out, "; ");
    if (events) {
        ft_strbuf_puts(out, "events: ");
        if (traced) ft_strbuf_printf(out, "%zu traced, ", traced);
        ft_strbuf_printf(out, "%zu after slicing, %zu encoded; %zu solver rounds, ",
                         ft_json_count(stats, "sliced"), events, ft_json_count(stats, "rounds"));
    }
    ft_strbuf_printf(out, "%.1f ms)\n", json_number_value(json_object_get(stats, "total_ms")));
    asked(json_object_get(stats, "passes"), out);
    cycle(json_object_get(reason, "cycle"), out);
}

/* ---- all of them ---------------------------------------------------------------------------- */

static void cell(const json_t *number, ft_strbuf *out)
{
    if (json_is_integer(number))
        ft_strbuf_printf(out, "%20lld", (long long)json_integer_value(number));
    else
        ft_strbuf_printf(out, "%20s", "not counted");
}

static void row(const char *name, const json_t *counts, ft_strbuf *out)
{
    static const char *const PASSES[] = {"lockset", "must-happen-before", "causality"};
    ft_strbuf_printf(out, "  %-9s %10zu", name, ft_json_count(counts, "pairs"));
    for (int i = 0; i < 3; i++)
        cell(json_object_get(json_object_get(counts, "left"), PASSES[i]), out);
    ft_strbuf_puts(out, "\n");
}

static void reduction(const json_t *events, ft_strbuf *out)
{
    ft_strbuf_printf(out, "Events: %zu in the trace", ft_json_count(events, "trace"));
    size_t asked = ft_json_count(events, "subproblems");
    if (asked)
        ft_strbuf_printf(out,
                         "; of %zu candidate%s decided by the solver %zu after slicing, %zu "
                         "encoded (summed)",
                         asked, asked == 1 ? "" : "s", ft_json_count(events, "sliced"),
                         ft_json_count(events, "encoded"));
    ft_strbuf_printf(out,
                     ".\nReads whose value can matter: %zu of %zu; variables contended: %zu "
                     "of %zu.\n",
                     ft_json_count(events, "reads_needed"), ft_json_count(events, "reads"),
                     ft_json_count(events, "variables_contended"),
                     ft_json_count(events, "variables"));
}

static void statistics(const json_t *all, ft_strbuf *out)
{
    const char *check;
    json_t *counts, *checks = json_object_get(all, "checks");
    if (!checks) return;
    ft_strbuf_printf(out,
                     "Event pairs (triplets, events) that each pass leaves:\n  %-9s %10s%20s%20s"
                     "%20s\n",
                     "", "all", "lockset alone", "happen-before alone", "with causality");
    json_object_foreach(checks, check, counts) row(check, counts, out);
    if (json_object_size(checks) > 1) row("all", json_object_get(all, "all"), out);
    reduction(json_object_get(all, "events"), out);
}

void ft_text_explanations(const json_t *report, ft_strbuf *out)
{
    static const char *const LISTS[] = {"findings", "undecided", "safe"};
    const json_t *all = json_object_get(report, "statistics");
    size_t traced = ft_json_count(json_object_get(all, "events"), "trace");
    ft_strbuf_puts(out, "What decided each candidate:\n");
    for (size_t i = 0; i < sizeof LISTS / sizeof *LISTS; i++) {
        size_t index;
        json_t *record;
        json_array_foreach(json_object_get(report, LISTS[i]), index, record)
            explanation(record, traced, out);
    }
    statistics(all, out);
}
