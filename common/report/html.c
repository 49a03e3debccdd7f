/* One page without other files: styles are inline, and it has no scripts and makes no requests. */
#include <string.h>

#include "report/internal.h"

static const char STYLE[] =
    ":root{color-scheme:light dark;--ink:#1b1f24;--dim:#57606a;--paper:#fff;--line:#d0d7de;"
    "--mark:#ffebe9;--red:#b3261e;--differ:#fff3cd;--source:#dff3e4}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--dim:#9aa4af;--paper:#0d1117;"
    "--line:#30363d;--mark:#4a1d1b;--red:#ff8a80;--differ:#4a3b0a;--source:#123a22}}"
    "body{margin:0 auto;max-width:80rem;padding:1rem;font:16px/1.5 system-ui,sans-serif;"
    "color:var(--ink);background:var(--paper)}"
    "h1{font-size:1.5rem}h2{font-size:1.2rem;border-top:1px solid var(--line);padding-top:1rem}"
    "code,td.step,td.where{font-family:ui-monospace,monospace;font-size:.875rem}"
    ".scroll{overflow-x:auto}table{border-collapse:collapse}"
    "th,td{padding:.2rem .6rem;text-align:left;vertical-align:top;"
    "border-bottom:1px solid var(--line)}td.number{text-align:right}"
    "tr.marked td{background:var(--mark)}tr.marked th{color:var(--red)}"
    "tr.differs td{background:var(--differ)}tr.source td{background:var(--source)}"
    "tr.switch td,tr.switch th{border-top:2px solid var(--dim)}"
    ".dim{color:var(--dim)}.danger{font-weight:600}";

static void puts_text(const char *before, const char *text, const char *after, ft_strbuf *out)
{
    ft_strbuf_puts(out, before);
    ft_xml_text(text, out);
    ft_strbuf_puts(out, after);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void counts(const ft_report_part *part, ft_strbuf *out)
{
    const char *check;
    json_t *numbers;
    ft_strbuf_puts(out, "<div class=\"scroll\"><table><caption class=\"dim\">Candidates by check "
                        "and verdict</caption><thead><tr><th scope=\"col\">check</th>"
                        "<th scope=\"col\">candidates</th>");
    for (size_t i = 0; i < 5; i++)
        ft_strbuf_printf(out, "<th scope=\"col\">%s</th>", ft_report_verdicts[i]);
    ft_strbuf_puts(out, "</tr></thead>\n<tbody>\n");
    json_object_foreach(json_object_get(part->json, "checks"), check, numbers)
    {
        puts_text("<tr><th scope=\"row\">", check, "</th>", out);
        ft_strbuf_printf(out, "<td class=\"number\">%zu</td>",
                         ft_json_count(numbers, "candidates"));
        for (size_t i = 0; i < 5; i++)
            ft_strbuf_printf(out, "<td class=\"number\">%zu</td>",
                             ft_json_count(numbers, ft_report_verdicts[i]));
        ft_strbuf_puts(out, "</tr>\n");
    }
    ft_strbuf_puts(out, "</tbody></table></div>\n");
}

static void calls(const ft_report_access *access, ft_strbuf *out)
{
    size_t i, more = ft_json_count(access->json, "more_calls");
    json_t *frame;
    json_array_foreach((json_t *)(uintptr_t)access->stack, i, frame)
    {
        puts_text("<br><span class=\"dim\">called by</span> <code>",
                  ft_json_text(frame, "function", "?"), "</code> at ", out);
        puts_text("<code>", ft_json_text(frame, "location", "?"), "</code>", out);
    }
    if (more) ft_strbuf_printf(out, "<br><span class=\"dim\">and %zu more calls</span>", more);
}

static void access_row(const ft_report_access *access, ft_strbuf *out)
{
    puts_text("<tr><th scope=\"row\">", access->thread, "</th>", out);
    puts_text("<td>", access->word, "</td>", out);
    puts_text("<td><code>", access->location ? access->location : "", "</code>", out);
    if (access->function) puts_text(" in <code>", access->function, "</code>", out);
    calls(access, out);
    puts_text("</td><td><code>", access->text, "</code>", out);
    if (access->line) puts_text("<br><code class=\"dim\">", access->line, "</code>", out);
    ft_strbuf_puts(out, "</td>");
    puts_text("<td>", access->locks, "</td>", out);
    puts_text("<td class=\"dim\">", access->created ? access->created : "", "</td></tr>\n", out);
}

static void accesses(const ft_finding *finding, ft_strbuf *out)
{
    ft_strbuf_puts(out,
                   "<div class=\"scroll\"><table><caption class=\"dim\">Accesses of the finding"
                   "</caption><thead><tr>"
                   "<th scope=\"col\">thread</th><th scope=\"col\">access</th>"
                   "<th scope=\"col\">where</th><th scope=\"col\">what</th>"
                   "<th scope=\"col\">locks</th><th scope=\"col\">thread</th></tr></thead>\n"
                   "<tbody>\n");
    for (size_t i = 0; i < finding->accesses.len; i++) access_row(&finding->accesses.data[i], out);
    ft_strbuf_puts(out, "</tbody></table></div>\n");
}

/* The other threads that wait when the schedule has ended. */
static void others(const ft_finding *finding, ft_strbuf *out)
{
    size_t index;
    json_t *waiter;
    json_array_foreach(json_object_get(finding->record, "also_waiting"), index, waiter)
    {
        puts_text("<p>Also waiting: ", ft_json_text(waiter, "thread", "?"), "", out);
        puts_text(" <code>", ft_json_text(waiter, "text", "?"), "</code>", out);
        puts_text(" <code>", ft_json_text(waiter, "location", ""), "</code></p>\n", out);
    }
}

static void limits(const ft_finding *finding, ft_strbuf *out)
{
    size_t index;
    json_t *limit;
    json_array_foreach(json_object_get(finding->record, "limits"), index, limit)
        puts_text("<p>It needs ", json_string_value(limit) ? json_string_value(limit) : "?",
                  " to pass before another thread goes on.</p>\n", out);
}

/* ---- the schedule ---------------------------------------------------------------------------- */

static void lanes(const ft_finding *finding, size_t thread, const char *text, ft_strbuf *out)
{
    for (size_t i = 0; i < finding->threads.len; i++)
        if (i == thread)
            puts_text("<td class=\"step\">", text, "</td>", out);
        else
            ft_strbuf_puts(out, "<td></td>");
}

static void step_row(const ft_finding *finding, size_t i, ft_strbuf *out)
{
    const ft_report_step *step = &finding->steps.data[i];
    bool switched = i > 0 && finding->steps.data[i - 1].thread != step->thread;
    const char *class_name = step->marked    ? "marked"
                             : step->departs ? "differs"
                             : step->source  ? "source"
                                             : "";
    ft_strbuf more = {0};
    ft_strbuf_printf(out, "<tr class=\"%s%s\"><th scope=\"row\">", class_name,
                     switched ? " switch" : "");
    if (step->label)
        ft_strbuf_puts(out, step->label);
    else
        ft_strbuf_printf(out, "%zu", step->number);
    puts_text("</th><td class=\"where\">", step->where ? step->where : "", "</td>", out);
    if (step->brief) ft_strbuf_printf(&more, "... %zu steps", step->count);
    lanes(finding, step->thread, step->brief ? more.text : step->text, out);
    ft_strbuf_puts(out, "</tr>\n");
    ft_strbuf_release(&more);
}

static void schedule(const ft_finding *finding, ft_strbuf *out)
{
    const json_t *witness = json_object_get(finding->record, "witness");
    if (!finding->steps.len) return;
    ft_strbuf_printf(out,
                     "<details open><summary>A schedule that hits it: %zu steps, %zu context "
                     "switches</summary>\n<div class=\"scroll\"><table>\n<thead><tr>"
                     "<th scope=\"col\">step</th><th scope=\"col\">where</th>",
                     ft_json_count(witness, "members"), ft_json_count(witness, "switches"));
    for (size_t i = 0; i < finding->threads.len; i++)
        puts_text("<th scope=\"col\">", finding->threads.data[i], "</th>", out);
    ft_strbuf_puts(out, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < finding->steps.len; i++) step_row(finding, i, out);
    ft_strbuf_puts(out, "</tbody></table></div></details>\n");
    if (*finding->difference)
        puts_text("<p>The observed run differs: ", finding->difference, "</p>\n", out);
}

/* ---- findings -------------------------------------------------------------------------------- */

static void finding_section(const ft_finding *finding, ft_strbuf *out)
{
    ft_strbuf_printf(out, "<section id=\"finding-%zu-%zu\">\n<h2>%zu. ", finding->part + 1,
                     finding->number, finding->number);
    puts_text("", finding->title, " <span class=\"dim\">", out);
    puts_text("", finding->kind, ", ", out);
    ft_xml_text(finding->status, out);
    if (finding->standing != FT_STANDING_NEW)
        ft_strbuf_printf(out, ", %s", ft_standing_name(finding->standing));
    ft_strbuf_puts(out, "</span></h2>\n");
    puts_text("<p class=\"danger\">", finding->danger, "</p>\n", out);
    puts_text("<p>", finding->message, ".</p>\n", out);
    accesses(finding, out);
    others(finding, out);
    limits(finding, out);
    if (finding->why) puts_text("<p class=\"dim\">", finding->why, "</p>\n", out);
    schedule(finding, out);
    puts_text("<p>", finding->rule->advice, "</p>\n", out);
    const char *replay = ft_json_text(finding->record, "replay", NULL);
    if (replay)
        puts_text("<p>Replay, with the files of the witness and the trace: <code>", replay,
                  "</code></p>\n", out);
    if (finding->id)
        puts_text("<p>Witness: <code>foretell witness ", finding->id, "</code></p>\n", out);
    puts_text("<p class=\"dim\">Fingerprint <code>", finding->fingerprint, "</code></p>\n", out);
    ft_strbuf_puts(out, "</section>\n");
}

static void part_section(const ft_report *report, size_t index, ft_strbuf *out)
{
    const ft_report_part *part = &report->parts.data[index];
    ft_view plain = {.columns = FT_VIEW_COLUMNS};
    ft_strbuf line = {0};
    size_t i;
    json_t *note;
    puts_text("<h1>Foretell: ", part->file, "</h1>\n", out);
    ft_report_summary(report, index, &plain, &line);
    line.text[line.len - 1] = '\0';
    puts_text("<p>", line.text, "</p>\n", out);
    ft_strbuf_release(&line);
    counts(part, out);
    for (i = part->first; i < part->first + part->count; i++)
        finding_section(&report->findings.data[i], out);
    json_array_foreach(json_object_get(part->json, "notes"), i, note) if (ft_note_is_text(note))
        puts_text("<p class=\"dim\">Note: ", ft_json_text(note, "text", "?"), "</p>\n", out);
}

void ft_render_html(const ft_report *report, const ft_view *view, ft_strbuf *out)
{
    (void)view;
    ft_strbuf_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                        "<meta http-equiv=\"Content-Security-Policy\" "
                        "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
                        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                        "<title>Foretell report</title>\n<style>");
    ft_strbuf_puts(out, STYLE);
    ft_strbuf_puts(out, "</style>\n</head>\n<body>\n<main>\n");
    for (size_t i = 0; i < report->parts.len; i++) part_section(report, i, out);
    ft_strbuf_puts(out, "</main>\n</body>\n</html>\n");
}
