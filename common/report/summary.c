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
    {"certificate", "refuted certificate", "refuted certificates"},
    {"context", "context that is reached", "contexts that are reached"},
};
#define N_WORDS (sizeof words / sizeof words[0])

/* The statuses that the summary counts apart; the last one is that of all others. */
static const char *const STATUSES[] = {"observed", "explored", NULL};
enum { STATUSES_N = 3 };

static bool has_status(const char *status, size_t which)
{
    if (STATUSES[which]) return strcmp(status, STATUSES[which]) == 0;
    for (size_t i = 0; STATUSES[i]; i++)
        if (strcmp(status, STATUSES[i]) == 0) return false;
    return true;
}

static size_t count_status(const json_t *report, const char *check, size_t which)
{
    size_t index, sum = 0;
    json_t *record;
    json_array_foreach(json_object_get(report, "findings"), index, record)
    {
        bool is = strcmp(ft_json_text(record, "check", ""), check) == 0 &&
                  has_status(ft_json_text(record, "status", ""), which);
        if (is) sum += ft_json_count(record, "count");
    }
    return sum;
}

/* The findings of a check with that status; predicted ones may not be listed. */
static size_t count_violations(const json_t *report, const char *check, size_t which)
{
    size_t all =
        ft_json_count(json_object_get(json_object_get(report, "checks"), check), "violation");
    if (STATUSES[which]) return count_status(report, check, which);
    for (size_t i = 0; STATUSES[i]; i++) {
        size_t these = count_status(report, check, i);
        all = all > these ? all - these : 0;
    }
    return all;
}

/* Findings of a check with that status that are set apart. */
static size_t count_apart(const ft_report *report, const ft_report_part *part, const char *check,
                          size_t which)
{
    size_t count = 0;
    for (size_t i = part->first; i < part->first + part->count; i++) {
        const ft_finding *finding = &report->findings.data[i];
        bool is = has_status(finding->status, which) && strcmp(finding->check, check) == 0;
        count += is && finding->standing == FT_STANDING_APART;
    }
    return count;
}

size_t ft_report_apart(const ft_report *report, const ft_report_part *part, const char *check)
{
    size_t count = 0;
    for (size_t i = 0; i < STATUSES_N; i++) count += count_apart(report, part, check, i);
    return count;
}

/* "2 races, 1 atomicity violation predicted": of each check what has the status. */
static void say_findings(const ft_report *of, const ft_report_part *part, size_t which,
                         ft_strbuf *out)
{
    const json_t *report = part->json, *checks = json_object_get(report, "checks");
    const char *separator = out->len ? "; " : "";
    size_t said = out->len;
    for (size_t i = 0; i < N_WORDS; i++) {
        size_t these = count_violations(report, words[i].check, which);
        size_t hidden = count_apart(of, part, words[i].check, which);
        size_t number = these > hidden ? these - hidden : 0;
        if (!json_object_get(checks, words[i].check) || number == 0) continue;
        ft_strbuf_printf(out, "%s%zu %s", separator, number,
                         number == 1 ? words[i].one : words[i].many);
        separator = ", ";
    }
    bool possible = strcmp(ft_json_text(report, "model", ""), "control") == 0;
    const char *status = STATUSES[which] ? STATUSES[which] : possible ? "possible" : "predicted";
    if (out->len > said) ft_strbuf_printf(out, " %s", status);
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
        for (size_t i = STATUSES_N; i-- > 0;) say_findings(report, part, i, &found);
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

bool ft_note_is_text(const json_t *note)
{
    static const char ANSWER[] = "-answer";
    const char *code = ft_json_text(note, "code", "");
    size_t n = strlen(code), m = sizeof ANSWER - 1;
    return n < m || strcmp(code + n - m, ANSWER) != 0;
}

json_t *ft_report_of_records(const json_t *answer, const char *check, size_t candidates,
                             const json_t *records, const json_t *notes)
{
    size_t i, safe = candidates;
    json_t *record;
    json_t *counts =
        json_pack("{s:I, s:i, s:i, s:i, s:i, s:i}", "candidates", (json_int_t)candidates,
                  "violation", 0, "safe", 0, "bounded", 0, "unknown", 0, "error", 0);
    json_t *findings = json_array(), *undecided = json_array();
    json_array_foreach((json_t *)(uintptr_t)records, i, record)
    {
        const char *verdict = ft_json_text(record, "verdict", "error");
        if (strcmp(verdict, "safe") == 0) continue;
        bool found = strcmp(verdict, "violation") == 0;
        json_array_append(found ? findings : undecided, record);
        json_object_set_new(counts, verdict,
                            json_integer((json_int_t)ft_json_count(counts, verdict) + 1));
        safe -= safe > 0;
    }
    json_object_set_new(counts, "safe", json_integer((json_int_t)safe));
    return json_pack("{s:s, s:s, s:s, s:s, s:{s:o}, s:o, s:o, s:O}", "trace",
                     ft_json_text(answer, "program", ""), "state", "done", "model", "ctp", "memory",
                     "sc", "checks", check, counts, "findings", findings, "undecided", undecided,
                     "notes", notes);
}
