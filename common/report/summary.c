/* The summary line. */
#include <string.h>

#include "report/internal.h"

static const struct {
    const char *check, *one, *many;
} words[] = {
    {"race", "race", "races"},
    {"atomicity", "atomicity violation", "atomicity violations"},
    {"assertion", "assertion failure", "assertion failures"},
    {"property", "property violation", "property violations"},
    {"lock", "lock error", "lock errors"},
    {"deadlock", "deadlock", "deadlocks"},
    {"order", "order error", "order errors"},
    {"failure", "failing run", "failing runs"},
};
#define N_WORDS (sizeof words / sizeof words[0])

static size_t count_observed(const json_t *report, const char *check)
{
    size_t index, sum = 0;
    json_t *record;
    json_array_foreach(json_object_get(report, "findings"), index, record)
    {
        bool is = strcmp(ft_json_text(record, "check", ""), check) == 0 &&
                  strcmp(ft_json_text(record, "status", ""), "observed") == 0;
        if (is) sum += ft_json_count(record, "count");
    }
    return sum;
}

/* Findings of a check that are set apart; observed: of those that are, else of the others. */
static size_t count_apart(const ft_report *report, const ft_report_part *part, const char *check,
                          bool observed)
{
    size_t count = 0;
    for (size_t i = part->first; i < part->first + part->count; i++) {
        const ft_finding *finding = &report->findings.data[i];
        bool is = (strcmp(finding->status, "observed") == 0) == observed &&
                  strcmp(finding->check, check) == 0;
        count += is && finding->standing == FT_STANDING_APART;
    }
    return count;
}

size_t ft_report_apart(const ft_report *report, const ft_report_part *part, const char *check)
{
    return count_apart(report, part, check, false) + count_apart(report, part, check, true);
}

/* "2 races, 1 atomicity violation predicted": what of each check is predicted, or observed. */
static void say_findings(const ft_report *of, const ft_report_part *part, bool observed,
                         ft_strbuf *out)
{
    const json_t *report = part->json, *checks = json_object_get(report, "checks");
    const char *separator = out->len ? "; " : "";
    size_t said = out->len;
    for (size_t i = 0; i < N_WORDS; i++) {
        const json_t *counts = json_object_get(checks, words[i].check);
        size_t seen = count_observed(report, words[i].check);
        size_t all = ft_json_count(counts, "violation");
        size_t hidden = count_apart(of, part, words[i].check, observed);
        size_t these = observed ? seen : all > seen ? all - seen : 0;
        size_t number = these > hidden ? these - hidden : 0;
        if (!counts || number == 0) continue;
        ft_strbuf_printf(out, "%s%zu %s", separator, number,
                         number == 1 ? words[i].one : words[i].many);
        separator = ", ";
    }
    bool possible = strcmp(ft_json_text(report, "model", ""), "control") == 0;
    const char *status = observed ? " observed" : possible ? " possible" : " predicted";
    if (out->len > said) ft_strbuf_puts(out, status);
}

static void say_counts(const json_t *report, ft_strbuf *out)
{
    const json_t *checks = json_object_get(report, "checks");
    size_t candidates = ft_report_total(checks, "candidates");
    ft_strbuf_printf(out, "(model %s, %zu candidate%s", ft_json_text(report, "model", "unknown"),
                     candidates, candidates == 1 ? "" : "s");
    const char *separator = ": ";
    for (size_t i = 0; i < 5; i++) {
        size_t number = ft_report_total(checks, ft_report_verdicts[i]);
        if (!number) continue;
        ft_strbuf_printf(out, "%s%zu %s%s", separator, number, ft_report_verdicts[i],
                         i == 0 && number != 1 ? "s" : "");
        separator = ", ";
    }
    size_t pending = ft_report_total(checks, "pending");
    if (pending) ft_strbuf_printf(out, "%s%zu pending", separator, pending);
    ft_strbuf_puts(out, ")");
}

size_t ft_report_standing(const ft_report *report, const ft_report_part *part, ft_standing standing)
{
    size_t count = 0;
    for (size_t i = part->first; i < part->first + part->count; i++)
        count += report->findings.data[i].standing == standing;
    return count;
}

/* Only if some findings are known or suppressed. */
static void say_standings(const ft_report *report, const ft_report_part *part, ft_strbuf *out)
{
    size_t known = ft_report_standing(report, part, FT_STANDING_KNOWN),
           suppressed = ft_report_standing(report, part, FT_STANDING_SUPPRESSED);
    if (!known && !suppressed) return;
    ft_strbuf_printf(out, "; %zu new", ft_report_standing(report, part, FT_STANDING_NEW));
    if (known) ft_strbuf_printf(out, ", %zu known", known);
    if (suppressed) ft_strbuf_printf(out, ", %zu suppressed", suppressed);
}

void ft_report_summary(const ft_report *report, size_t index, const ft_view *view, ft_strbuf *out)
{
    FT_REQUIRE(index < report->parts.len);
    const ft_report_part *part = &report->parts.data[index];
    const json_t *checks = json_object_get(part->json, "checks");
    const char *state = ft_json_text(part->json, "state", "done");
    ft_strbuf found = {0}, line = {0};
    if (ft_report_total(checks, "violation") > 0) {
        size_t all = ft_report_standing(report, part, FT_STANDING_APART),
               idle = ft_report_apart(report, part, "deadlock");
        assert(idle <= all && all <= part->count);
        size_t apart = all - idle;
        say_findings(report, part, false, &found);
        say_findings(report, part, true, &found);
        if (!found.len) ft_strbuf_puts(&found, "no findings");
        if (apart)
            ft_strbuf_printf(&found, ", %zu atomicity violation%s set apart,", apart,
                             apart == 1 ? "" : "s");
    } else {
        ft_strbuf_puts(&found, ft_report_undecided(checks)
                                   ? "nothing found, not everything decided,"
                                   : "no findings");
    }
    ft_strbuf_printf(&line, "SUMMARY: foretell: %s in ", ft_strbuf_text(&found));
    ft_view_safe_text(part->file, &line);
    ft_strbuf_puts(&line, " ");
    say_counts(part->json, &line);
    say_standings(report, part, &line);
    if (strcmp(state, "done") != 0) ft_strbuf_printf(&line, ", job %s", state);
    ft_view_paint(view, FT_PAINT_BOLD, line.text, out);
    ft_strbuf_puts(out, "\n");
    ft_strbuf_release(&found);
    ft_strbuf_release(&line);
}
