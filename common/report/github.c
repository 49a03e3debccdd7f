/* Annotations of a GitHub workflow: commands on standard output. */
#include <string.h>

#include "report/internal.h"

/* Data and property values are escaped differently. */
static void escaped(const char *text, bool property, ft_strbuf *out)
{
    for (; *text; text++)
        if (*text == '%' || *text == '\r' || *text == '\n' ||
            (property && (*text == ':' || *text == ',')))
            ft_strbuf_printf(out, "%%%02X", (unsigned)(unsigned char)*text);
        else
            ft_strbuf_add(out, text, 1);
}

static void place(const ft_finding *finding, ft_strbuf *out)
{
    for (size_t i = 0; i < finding->accesses.len; i++) {
        const ft_place *at = &finding->accesses.data[i].place;
        if (!at->file) continue;
        ft_strbuf_puts(out, ",file=");
        escaped(ft_finding_path(finding, at->file), true, out);
        ft_strbuf_printf(out, ",line=%zu", at->line);
        if (at->column) ft_strbuf_printf(out, ",col=%zu", at->column);
        return;
    }
}

static void annotation(const ft_finding *finding, ft_strbuf *out)
{
    bool possible = strcmp(finding->status, "possible") == 0;
    ft_strbuf text = {0};
    ft_strbuf_puts(&text, finding->danger);
    ft_strbuf_puts(&text, "\n");
    ft_view_safe_text(finding->message, &text);
    for (size_t i = 0; i < finding->accesses.len; i++) {
        ft_strbuf_puts(&text, "\n  ");
        ft_view_safe_text(finding->accesses.data[i].thread, &text);
        ft_strbuf_printf(&text, " %s, %s", finding->accesses.data[i].word,
                         finding->accesses.data[i].locks);
    }
    if (*finding->difference) ft_strbuf_printf(&text, "\nObserved: %s", finding->difference);
    ft_strbuf_puts(out, !finding->fails ? "::notice " : possible ? "::warning " : "::error ");
    ft_strbuf_puts(out, "title=");
    escaped(finding->title, true, out);
    place(finding, out);
    ft_strbuf_puts(out, "::");
    escaped(text.text, false, out);
    ft_strbuf_puts(out, "\n");
    ft_strbuf_release(&text);
}

void ft_render_github(const ft_report *report, const ft_view *view, ft_strbuf *out)
{
    ft_view plain = {.columns = view->columns};
    for (size_t i = 0; i < report->findings.len; i++)
        if (!ft_finding_is_silent(&report->findings.data[i]))
            annotation(&report->findings.data[i], out);
    for (size_t i = 0; i < report->parts.len; i++) ft_report_summary(report, i, &plain, out);
}
