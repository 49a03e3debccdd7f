/* A job summary in GitHub-flavoured Markdown. */
#include <string.h>

#include "report/internal.h"

/* Text in a table cell or a sentence: nothing in it is markup. */
static void plain(const char *text, ft_strbuf *out)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < 0x20 || c == 0x7f) {
            ft_strbuf_puts(out, "?");
        } else {
            if (strchr("\\`*_{}[]<>|#~", *text)) ft_strbuf_puts(out, "\\");
            ft_strbuf_add(out, text, 1);
        }
    }
}

static void counts(const ft_report_part *part, ft_strbuf *out)
{
    const char *check;
    json_t *numbers;
    ft_strbuf_puts(out, "| check | candidates |");
    for (size_t i = 0; i < 5; i++) ft_strbuf_printf(out, " %s |", ft_report_verdicts[i]);
    ft_strbuf_puts(out, "\n|---|---:|---:|---:|---:|---:|---:|\n");
    json_object_foreach(json_object_get(part->json, "checks"), check, numbers)
    {
        ft_strbuf_printf(out, "| %s | %zu |", check, ft_json_count(numbers, "candidates"));
        for (size_t i = 0; i < 5; i++)
            ft_strbuf_printf(out, " %zu |", ft_json_count(numbers, ft_report_verdicts[i]));
        ft_strbuf_puts(out, "\n");
    }
    ft_strbuf_puts(out, "\n");
}

static void access_rows(const ft_finding *finding, ft_strbuf *out)
{
    ft_strbuf_puts(out, "| thread | access | where | function | what | source | locks |\n"
                        "|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < finding->accesses.len; i++) {
        const ft_report_access *access = &finding->accesses.data[i];
        const char *cells[] = {access->thread,
                               access->word,
                               access->location ? access->location : "",
                               access->function ? access->function : "",
                               access->text,
                               access->line ? access->line : "",
                               access->locks};
        ft_strbuf_puts(out, "|");
        for (size_t k = 0; k < sizeof cells / sizeof *cells; k++) {
            ft_strbuf_puts(out, *cells[k] ? " " : "");
            plain(cells[k], out);
            ft_strbuf_puts(out, " |");
        }
        ft_strbuf_puts(out, "\n");
    }
    ft_strbuf_puts(out, "\n");
}

/* The schedule comes in a fence longer than any run of backticks in it. */
static void schedule(const ft_view *view, const ft_finding *finding, ft_strbuf *out)
{
    ft_view narrow = {.columns = view->columns ? view->columns : FT_VIEW_COLUMNS};
    ft_strbuf text = {0};
    size_t longest = 2, run = 0;
    ft_text_schedule(&narrow, finding, &text);
    if (!text.len) return;
    for (size_t i = 0; i < text.len; i++) {
        run = text.text[i] == '`' ? run + 1 : 0;
        if (run > longest) longest = run;
    }
    ft_strbuf fence = {0};
    for (size_t i = 0; i <= longest; i++) ft_strbuf_puts(&fence, "`");
    ft_strbuf_printf(out,
                     "<details><summary>A schedule that hits it</summary>\n\n%stext\n%s%s\n\n"
                     "</details>\n\n",
                     fence.text, text.text, fence.text);
    ft_strbuf_release(&fence);
    ft_strbuf_release(&text);
}

static void finding_section(const ft_view *view, bool several, const ft_finding *finding,
                            ft_strbuf *out)
{
    ft_strbuf_puts(out, "### ");
    if (several) ft_strbuf_printf(out, "%zu.", finding->part + 1);
    ft_strbuf_printf(out, "%zu. ", finding->number);
    plain(finding->title, out);
    ft_strbuf_puts(out, " (");
    plain(finding->status, out);
    if (finding->standing != FT_STANDING_NEW)
        ft_strbuf_printf(out, ", %s", ft_standing_name(finding->standing));
    ft_strbuf_puts(out, ")\n\n");
    plain(finding->danger, out);
    ft_strbuf_puts(out, "\n\n");
    plain(finding->message, out);
    ft_strbuf_puts(out, ".\n\n");
    access_rows(finding, out);
    schedule(view, finding, out);
    if (*finding->difference) {
        ft_strbuf_puts(out, "The observed run differs: ");
        plain(finding->difference, out);
        ft_strbuf_puts(out, "\n\n");
    }
    ft_strbuf_printf(out, "Fingerprint `%s`.\n\n", finding->fingerprint);
}

static void part_section(const ft_view *view, const ft_report *report, size_t index, ft_strbuf *out)
{
    const ft_report_part *part = &report->parts.data[index];
    ft_view colourless = {.columns = FT_VIEW_COLUMNS};
    ft_strbuf line = {0};
    ft_strbuf_puts(out, "## Foretell: ");
    plain(part->file, out);
    ft_strbuf_puts(out, "\n\n");
    ft_report_summary(report, index, &colourless, &line);
    line.text[line.len - 1] = '\0';
    plain(line.text, out);
    ft_strbuf_release(&line);
    ft_strbuf_puts(out, "\n\n");
    counts(part, out);
    for (size_t i = part->first; i < part->first + part->count; i++) {
        const ft_finding *finding = &report->findings.data[i];
        if (finding->fails || view->full) finding_section(view, report->several, finding, out);
    }
}

void ft_render_markdown(const ft_report *report, const ft_view *view, ft_strbuf *out)
{
    for (size_t i = 0; i < report->parts.len; i++) part_section(view, report, i, out);
    while (out->len > 1 && out->text[out->len - 2] == '\n') out->text[--out->len] = '\0';
}
