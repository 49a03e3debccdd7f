/* The findings of several runs: each of them once. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "report/internal.h"

/* Findings of one fingerprint, over all parts. */
typedef struct merged {
    const ft_finding *first;
    size_t traces, observed;         /* that have it; that ended in it */
    size_t last_part, last_observed; /* + 1, so that each part counts once */
} merged;
typedef FT_VEC(merged) merged_list;

static uint32_t identify(ft_intern *names, const ft_finding *finding)
{
    const char *name = *finding->fingerprint ? finding->fingerprint : finding->message;
    return ft_intern_add(names, name, strlen(name));
}

static void count(merged *m, const ft_finding *finding)
{
    size_t part = finding->part + 1;
    assert(m->last_part <= part && m->observed <= m->traces);
    if (m->last_part != part) m->traces++;
    m->last_part = part;
    bool ended =
        strcmp(finding->status, "observed") == 0 || strcmp(finding->status, "explored") == 0;
    if (!ended) return;
    if (m->last_observed != part) m->observed++;
    m->last_observed = part;
    assert(m->observed <= m->traces);
}

static merged_list merge(const ft_report *report)
{
    merged_list list = {0};
    ft_intern names = {0};
    for (size_t i = 0; i < report->findings.len; i++) {
        const ft_finding *finding = &report->findings.data[i];
        if (ft_finding_is_silent(finding)) continue;
        uint32_t id = identify(&names, finding);
        if (id == list.len) ft_vec_push(&list, (merged){.first = finding});
        assert(id < list.len);
        count(&list.data[id], finding);
    }
    ft_intern_release(&names);
    return list;
}

void ft_report_mark_repeated(ft_report *report)
{
    ft_intern names = {0};
    FT_VEC(size_t) firsts = {0};
    for (size_t i = 0; i < report->findings.len; i++) {
        ft_finding *finding = &report->findings.data[i];
        free(finding->elsewhere);
        finding->elsewhere = NULL;
        if (!finding->number) continue;
        uint32_t id = identify(&names, finding);
        if (id == firsts.len) ft_vec_push(&firsts, i);
        const ft_finding *first = &report->findings.data[firsts.data[id]];
        assert(first->number && first->part <= finding->part);
        if (first->part == finding->part) continue;
        ft_strbuf text = {0};
        ft_strbuf_printf(&text, "[%zu] of ", first->number);
        ft_view_safe_text(report->parts.data[first->part].file, &text);
        finding->elsewhere = ft_strbuf_take(&text);
    }
    ft_vec_release(&firsts);
    ft_intern_release(&names);
}

/* The candidates of all runs, and the one model that they had. */
static void say_candidates(const ft_report *report, ft_strbuf *line)
{
    size_t candidates = 0;
    const char *model = NULL;
    bool same = true;
    for (size_t i = 0; i < report->parts.len; i++) {
        const json_t *json = report->parts.data[i].json;
        const char *its = ft_json_text(json, "model", "unknown");
        candidates += ft_report_total(json_object_get(json, "checks"), "candidates");
        same &= !model || strcmp(model, its) == 0;
        model = its;
    }
    ft_strbuf_printf(line, " (model %s, %zu candidate%s)", same ? model : "of each run", candidates,
                     candidates == 1 ? "" : "s");
}

static bool is_open(const ft_report *report)
{
    bool open = false;
    for (size_t i = 0; i < report->parts.len; i++)
        open |= ft_report_undecided(json_object_get(report->parts.data[i].json, "checks")) > 0;
    return open;
}

void ft_report_merged(const ft_report *report, const ft_view *view, ft_strbuf *out)
{
    size_t traces = report->parts.len;
    if (traces < 2) return;
    merged_list list = merge(report);
    assert(list.len <= report->findings.len);
    ft_strbuf line = {0};
    const char *runs = view->folds ? "runs" : "traces";
    if (view->folds && !list.len && !is_open(report))
        ft_strbuf_printf(&line, "SUMMARY: foretell: no findings in %zu runs", traces);
    else
        ft_strbuf_printf(&line, "SUMMARY: foretell: %zu different finding%s in %zu %s", list.len,
                         list.len == 1 ? "" : "s", traces, runs);
    if (view->folds) say_candidates(report, &line);
    ft_view_paint(view, FT_PAINT_BOLD, line.text, out);
    ft_strbuf_puts(out, "\n");
    for (size_t i = 0; i < list.len; i++) {
        const merged *m = &list.data[i];
        assert(m->traces && m->traces <= traces);
        ft_strbuf_printf(out, "  %s  in %zu of %zu", m->first->fingerprint, m->traces, traces);
        if (m->observed) ft_strbuf_printf(out, ", observed in %zu", m->observed);
        ft_strbuf_puts(out, ": ");
        ft_finding_brief(m->first, out);
        ft_strbuf_puts(out, "\n");
    }
    ft_strbuf_release(&line);
    ft_vec_release(&list);
}

json_t *ft_report_merged_json(const ft_report *report)
{
    merged_list list = merge(report);
    json_t *json = json_array();
    for (size_t i = 0; i < list.len; i++) {
        const merged *m = &list.data[i];
        json_array_append_new(json,
                              json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:s}", "fingerprint",
                                        m->first->fingerprint, "check", m->first->check, "kind",
                                        m->first->kind, "message", m->first->message, "traces",
                                        (json_int_t)m->traces, "observed", (json_int_t)m->observed,
                                        "file", report->parts.data[m->first->part].file));
    }
    ft_vec_release(&list);
    return json;
}
