#include "report/ledger.h"

#include <stdlib.h>
#include <string.h>

#include "report/fingerprint.h"
#include "report/ledger_internal.h"

ft_ledger *ft_ledger_new(const char *today)
{
    FT_REQUIRE(today && strlen(today) <= FT_DATE);
    ft_ledger *ledger = ft_calloc(1, sizeof *ledger);
    snprintf(ledger->today, sizeof ledger->today, "%s", today);
    for (int i = 0; i < FT_CHECKS; i++) ledger->fails[i] = true;
    return ledger;
}

void ft_ledger_free(ft_ledger *ledger)
{
    if (!ledger) return;
    for (size_t i = 0; i < ledger->known.len; i++) free(ledger->known.data[i].name);
    for (size_t i = 0; i < ledger->rules.len; i++) ft_ignore_release(&ledger->rules.data[i]);
    ft_vec_release(&ledger->known);
    ft_vec_release(&ledger->rules);
    free(ledger->root);
    ft_source_close(ledger->nearby);
    ft_source_close(ledger->source);
    free(ledger);
}

void ft_ledger_set_source(ft_ledger *ledger, const char *root)
{
    ft_source_close(ledger->source);
    ledger->source = ft_source_open(root);
}

void ft_ledger_set_root(ft_ledger *ledger, const char *root)
{
    free(ledger->root);
    ft_source_close(ledger->nearby);
    ledger->root = ft_strdup(root);
    ledger->nearby = ft_source_open(root);
}

void ft_ledger_only_new(ft_ledger *ledger)
{
    ledger->only_new = true;
    ledger->compares = true;
}

void ft_ledger_count_apart(ft_ledger *ledger)
{
    ledger->counts_apart = true;
}

void ft_ledger_fail_on(ft_ledger *ledger, const bool *checks)
{
    for (int i = 0; i < FT_CHECKS; i++) ledger->fails[i] = !checks || checks[i];
}

/* ---- baselines ------------------------------------------------------------------------------- */

static bool is_print(const char *text, size_t length)
{
    if (length != FT_FINGERPRINT) return false;
    for (size_t i = 0; i < length; i++)
        if (!text[i] || !strchr("0123456789abcdef", text[i])) return false;
    return true;
}

static void add_known(ft_ledger *ledger, const char *print, const char *source, const char *name)
{
    assert(print && is_print(print, FT_FINGERPRINT));
    assert(!source || is_print(source, FT_FINGERPRINT));
    ft_known known = {.name = ft_strdup(name)};
    if (print) memcpy(known.print, print, FT_FINGERPRINT);
    if (source) memcpy(known.source, source, FT_FINGERPRINT);
    ft_vec_push(&ledger->known, known);
}

void ft_ledger_add_report(ft_ledger *ledger, const json_t *report, const char *name)
{
    size_t i;
    json_t *each;
    ledger->compares = true;
    json_array_foreach(json_object_get(report, "reports"), i, each)
        ft_ledger_add_report(ledger, each, name);
    json_array_foreach(json_object_get(report, "findings"), i, each)
    {
        const char *print = ft_json_text(each, "fingerprint", NULL),
                   *source = ft_json_text(each, "source_fingerprint", NULL);
        if (print && !is_print(print, strlen(print))) print = NULL;
        if (source && !is_print(source, strlen(source))) source = NULL;
        if (print) add_known(ledger, print, source, name);
    }
}

static ft_status baseline_line(ft_ledger *ledger, const char *line, size_t length, uint64_t number,
                               const char *name, ft_error *err)
{
    const char *hash = memchr(line, '#', length), *end = hash ? hash : line + length;
    const char *at = line;
    while (at < end && strchr(" \t\r", *at)) at++;
    if (at == end) return FT_OK;
    size_t first = 0, second = 0;
    while (at + first < end && !strchr(" \t\r", at[first])) first++;
    if (!is_print(at, first))
        return ft_error_at(err, FT_INPUT, number, (uint64_t)(at - line) + 1,
                           "a fingerprint has %d hexadecimal digits", FT_FINGERPRINT);
    const char *next = at + first;
    while (next < end && strchr(" \t\r", *next)) next++;
    while (next + second < end && !strchr(" \t\r", next[second])) second++;
    add_known(ledger, at, is_print(next, second) ? next : NULL, name);
    return FT_OK;
}

static ft_status baseline_json(ft_ledger *ledger, const char *text, size_t length, const char *name,
                               ft_error *err)
{
    json_error_t place;
    json_t *json = json_loadb(text, length, JSON_REJECT_DUPLICATES, &place);
    if (!json)
        return ft_error_at(err, FT_INPUT, (uint64_t)place.line, (uint64_t)place.column,
                           "malformed JSON: %s", place.text);
    bool is_report = json_object_get(json, "findings") || json_object_get(json, "reports");
    if (is_report) ft_ledger_add_report(ledger, json, name);
    json_decref(json);
    return is_report
               ? FT_OK
               : ft_error_set(err, FT_INPUT,
                              "is not a report: it has no member \"findings\" or \"reports\"");
}

ft_status ft_ledger_add_baseline(ft_ledger *ledger, const char *text, size_t length,
                                 const char *name, ft_error *err)
{
    size_t blank = 0;
    uint64_t number = 0;
    ft_status status = FT_OK;
    ledger->compares = true;
    while (blank < length && strchr(" \t\r\n", text[blank])) blank++;
    if (blank < length && text[blank] == '{') return baseline_json(ledger, text, length, name, err);
    for (const char *at = text, *end = text + length; !status && at < end; at++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t line = (size_t)((stop ? stop : end) - at);
        status = baseline_line(ledger, at, line, ++number, name, err);
        at += line;
    }
    return status;
}

/* Where both sides have the source line's fingerprint, that one decides. */
static const ft_known *find_known(const ft_ledger *ledger, const ft_finding *finding)
{
    const char *source = finding->source_fingerprint;
    for (size_t i = 0; i < ledger->known.len; i++) {
        const ft_known *known = &ledger->known.data[i];
        if (source && *known->source) {
            if (strcmp(known->source, source) == 0) return known;
        } else if (*finding->fingerprint && strcmp(known->print, finding->fingerprint) == 0) {
            return known;
        }
    }
    return NULL;
}

void ft_ledger_write_baseline(const ft_report *report, ft_strbuf *out)
{
    ft_strbuf_puts(out, "# Known findings. Each line: the fingerprint, the fingerprint of the "
                        "source lines if they were read, and a comment.\n");
    for (size_t i = 0; i < report->findings.len; i++) {
        const ft_finding *finding = &report->findings.data[i];
        if (finding->standing == FT_STANDING_SUPPRESSED || !*finding->fingerprint) continue;
        ft_strbuf_printf(out, "%s%s%s  # ", finding->fingerprint,
                         finding->source_fingerprint ? " " : "",
                         finding->source_fingerprint ? finding->source_fingerprint : "");
        ft_finding_brief(finding, out);
        ft_strbuf_puts(out, "\n");
    }
}

/* ---- source lines ---------------------------------------------------------------------------- */

/* The source under the root takes precedence over the lines of the trace. */
static void read_line(const ft_ledger *ledger, const ft_finding *finding, ft_report_access *access)
{
    if (!ledger->source || !access->place.file) return;
    char *line = ft_source_text(ledger->source, ft_finding_path(finding, access->place.file),
                                access->place.line);
    if (!line) return;
    free(access->line);
    access->line = line;
}

static void read_lines(const ft_ledger *ledger, ft_finding *finding)
{
    const char *lines[32] = {0};
    char print[FT_FINGERPRINT + 1];
    bool all = finding->accesses.len > 0 && finding->accesses.len <= 32;
    for (size_t i = 0; i < finding->accesses.len; i++) {
        ft_report_access *access = &finding->accesses.data[i];
        read_line(ledger, finding, access);
        all = all && access->line;
        if (i < 32) lines[i] = access->line;
    }
    if (!all) return;
    ft_fingerprint(finding->record, lines, print);
    json_object_set_new((json_t *)(uintptr_t)finding->record, "source_fingerprint",
                        json_string(print));
}

static void read_sources(const ft_ledger *ledger, ft_report *report)
{
    for (size_t i = 0; i < report->findings.len; i++) read_lines(ledger, &report->findings.data[i]);
    for (size_t i = 0; i < report->parts.len; i++)
        ft_fingerprints_settle(json_object_get(report->parts.data[i].json, "findings"),
                               "source_fingerprint");
    for (size_t i = 0; i < report->findings.len; i++)
        report->findings.data[i].source_fingerprint =
            ft_json_text(report->findings.data[i].record, "source_fingerprint", NULL);
}

/* ---- standing -------------------------------------------------------------------------------- */

static void stand(ft_finding *finding, ft_standing standing, char *why)
{
    assert((standing == FT_STANDING_NEW) == (why == NULL));
    free(finding->why);
    finding->why = why;
    finding->standing = standing;
}

static char *joined(const char *before, const char *one, const char *two)
{
    ft_strbuf out = {0};
    ft_strbuf_puts(&out, before);
    ft_view_safe_text(one, &out);
    if (two && *two) ft_strbuf_puts(&out, ": ");
    if (two) ft_view_safe_text(two, &out);
    return ft_strbuf_take(&out);
}

/* The review on the server, and the first job there that had the finding. */
static void take_review(const ft_ledger *ledger, const ft_report *report, ft_finding *finding)
{
    const json_t *review = json_object_get(finding->record, "review");
    const char *state = ft_json_text(review, "state", "open"),
               *first = ft_json_text(review, "first_job", NULL),
               *job = ft_json_text(report->parts.data[finding->part].json, "job", "");
    if (strcmp(state, "false") == 0) {
        stand(finding, FT_STANDING_SUPPRESSED,
              joined("reviewed as ", "false", ft_json_text(review, "reason", "")));
        return;
    }
    if (!ledger->only_new || !first || strcmp(first, job) == 0) return;
    stand(finding, FT_STANDING_KNOWN,
          joined("seen since ", ft_json_text(review, "first_seen", "before"), NULL));
}

static void judge(const ft_ledger *ledger, ft_report *report, ft_finding *finding)
{
    char *where = NULL, *reason = NULL;
    const ft_ignore *ignore = ft_ignore_find(ledger, finding);
    if (ignore) {
        stand(finding, FT_STANDING_SUPPRESSED, joined("", ignore->where, ignore->reason));
        return;
    }
    if (ft_annotation_find(ledger, report, finding, &where, &reason)) {
        stand(finding, FT_STANDING_SUPPRESSED, joined("", where, reason));
        finding->in_source = true;
        free(where);
        free(reason);
        return;
    }
    const ft_known *known = find_known(ledger, finding);
    if (known)
        stand(finding, FT_STANDING_KNOWN, ft_strdup(known->name));
    else
        take_review(ledger, report, finding);
}

static void set_json(const ft_finding *finding)
{
    json_t *record = (json_t *)(uintptr_t)finding->record;
    json_object_set_new(record, "standing", json_string(ft_standing_name(finding->standing)));
    if (finding->why) json_object_set_new(record, "why", json_string(finding->why));
}

static bool counts(const ft_ledger *ledger, const ft_finding *finding)
{
    ft_check check;
    return finding->standing == FT_STANDING_NEW &&
           (!ft_check_parse(finding->check, &check) || ledger->fails[check]);
}

void ft_ledger_apply(const ft_ledger *ledger, ft_report *report)
{
    FT_REQUIRE(ledger && report);
    FT_CHECK(ft_report_is_sound(report));
    if (ledger->root) ft_report_set_root(report, ledger->root);
    read_sources(ledger, report);
    report->compared = ledger->compares;
    ft_ledger_expired(ledger, report);
    for (size_t i = 0; i < report->findings.len; i++) {
        ft_finding *finding = &report->findings.data[i];
        if (ledger->counts_apart && finding->standing == FT_STANDING_APART)
            stand(finding, FT_STANDING_NEW, NULL);
        judge(ledger, report, finding);
        finding->fails = counts(ledger, finding);
        assert(!finding->fails || finding->standing == FT_STANDING_NEW);
        if (ledger->compares || finding->standing != FT_STANDING_NEW) set_json(finding);
    }
    FT_CHECK(ft_report_is_sound(report));
}
