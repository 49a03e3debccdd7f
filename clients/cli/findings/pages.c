/* Reports page by page, so that long ones are never held whole: most of a record is its witness. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/contract.h"
#include "files/files.h"
#include "findings.h"

static const char *const LISTS[] = {"findings", "undecided", "safe"};
enum { N_LISTS = sizeof LISTS / sizeof *LISTS };

/* Other formats, and text for a file, are made of the whole report. */
static bool needs_whole(const ft_emit *emit)
{
    bool text = emit->format == FT_REPORT_TEXT && !emit->options->output;
    return emit->options->reports.len > 0 || (!text && emit->format != FT_REPORT_JSON);
}

static ft_status keep(FILE **file, const json_t *list, ft_error *err)
{
    size_t index;
    json_t *record;
    if (json_array_size(list) == 0) return FT_OK;
    bool first = !*file;
    if (first) *file = tmpfile();
    bool good = *file != NULL;
    json_array_foreach(list, index, record)
    {
        good = good && fputs(first ? "\n  " : ",\n  ", *file) >= 0 &&
               json_dumpf(record, *file, JSON_COMPACT) == 0;
        first = false;
    }
    if (good) return FT_OK;
    return ft_error_set(err, FT_IO, "the report cannot be stored in a temporary file: %s",
                        strerror(errno));
}

/* JSON: the records go to files, judged already; what the exit code needs of findings stays. */
static ft_status keep_records(ft_pages *p, json_t *page, ft_error *err)
{
    ft_status status = FT_OK;
    ft_report *model = ft_report_new(page, p->file);
    ft_ledger_apply(p->emit->ledger, model);
    ft_report_free(model);
    for (size_t i = 0; i < N_LISTS && status == FT_OK; i++) {
        json_t *list = json_object_get(page, LISTS[i]);
        status = keep(&p->lists[i], list, err);
        if (i > 0) json_array_clear(list);
    }
    return status;
}

static void strip(json_t *finding, bool explain)
{
    static const char *const DONE[] = {"witness", "memory", "scope", "reason", "stats"};
    size_t n = sizeof DONE / sizeof *DONE;
    for (size_t i = 0; i < (explain ? n - 2 : n); i++) json_object_del(finding, DONE[i]);
}

static bool is_numbered(const ft_pages *p, const json_t *record)
{
    return p->view.apart || !ft_finding_is_apart(record);
}

/* The findings of a page are numbered, and grouped, as in the whole report (ft_report_number). */
static void number_findings(ft_pages *p, ft_report *model)
{
    size_t number = p->findings;
    for (size_t i = 0; i < model->findings.len; i++) {
        ft_finding *finding = &model->findings.data[i];
        bool numbered = is_numbered(p, finding->record);
        finding->number = finding->group = numbered ? ++number : 0;
        if (!numbered || !*finding->fingerprint) continue;
        uint32_t id = ft_intern_add(&p->prints, finding->fingerprint, strlen(finding->fingerprint));
        assert(id <= p->firsts.len);
        if (id == p->firsts.len) ft_vec_push(&p->firsts, finding->number);
        finding->group = p->firsts.data[id];
        assert(finding->group && finding->group <= finding->number);
    }
}

/* A finding that an earlier file has is reported there. */
static void find_told(ft_pages *p, ft_finding *finding)
{
    ft_emit *emit = p->emit;
    if (!finding->number || !emit->several || !*finding->fingerprint ||
        finding->group != finding->number)
        return;
    uint32_t id = ft_intern_add(&emit->prints, finding->fingerprint, strlen(finding->fingerprint));
    assert(id <= emit->told.len);
    if (id < emit->told.len) {
        free(finding->elsewhere);
        finding->elsewhere = ft_strdup(emit->told.data[id]);
        return;
    }
    ft_strbuf text = {0};
    ft_strbuf_printf(&text, "[%zu] of ", finding->number);
    ft_view_safe_text(p->file, &text);
    ft_vec_push(&emit->told, ft_strbuf_take(&text));
}

static void print_findings(ft_pages *p, json_t *page)
{
    ft_strbuf text = {0};
    ft_report *model = ft_report_new(page, p->file);
    number_findings(p, model);
    for (size_t i = 0; i < model->findings.len; i++) find_told(p, &model->findings.data[i]);
    ft_ledger_apply(p->emit->ledger, model);
    if (!p->view.quiet) ft_report_list(model, &p->view, &text);
    fputs(ft_strbuf_text(&text), stdout);
    ft_strbuf_release(&text);
    ft_report_free(model);
}

/* Writes the witness of the number-th finding (from 1) of `file` into view->witness_dir, if there
 * is one and the finding is listed. */
static ft_status write_witness(const ft_view *view, const char *file, const json_t *finding,
                               size_t number, ft_error *err)
{
    const json_t *witness = json_object_get(finding, "witness");
    FT_REQUIRE(number > 0);
    if (!view->witness_dir || !witness) return FT_OK;
    if (mkdir(view->witness_dir, 0777) && errno != EEXIST)
        return ft_error_set(err, FT_USAGE, "the folder %s cannot be created: %s", view->witness_dir,
                            strerror(errno));
    char *path = ft_view_witness_path(view, file, number);
    ft_status status = ft_output_json(witness, path, err);
    free(path);
    return status;
}

static ft_status write_witnesses(ft_pages *p, const json_t *findings, ft_error *err)
{
    size_t index, number = p->findings;
    json_t *finding;
    ft_status status = FT_OK;
    json_array_foreach(findings, index, finding)
    {
        if (status == FT_OK && is_numbered(p, finding))
            status = write_witness(&p->view, p->file, finding, ++number, err);
    }
    return status;
}

ft_status ft_pages_see(void *pages, json_t *page, ft_error *err)
{
    ft_pages *p = pages;
    size_t index;
    json_t *finding, *findings = json_object_get(page, LISTS[0]);
    bool text = p->emit->format == FT_REPORT_TEXT;
    ft_status status = write_witnesses(p, findings, err);
    if (status == FT_OK) status = ft_findings_ask(p->emit->options, findings, &p->asked, err);
    bool whole = needs_whole(p->emit);
    if (status == FT_OK && !whole && text) print_findings(p, page);
    if (status == FT_OK && !whole && !text) status = keep_records(p, page, err);
    json_array_foreach(findings, index, finding) p->findings += is_numbered(p, finding);
    assert(p->firsts.len <= p->findings && p->firsts.len == p->prints.len);
    if (status != FT_OK || whole) return status;
    json_array_foreach(findings, index, finding) strip(finding, p->view.explain);
    return FT_OK;
}

void ft_pages_release(ft_pages *pages)
{
    ft_intern_release(&pages->prints);
    ft_vec_release(&pages->firsts);
    for (size_t i = 0; i < N_LISTS; i++)
        if (pages->lists[i]) fclose(pages->lists[i]);
    *pages = (ft_pages){0};
}

static void copy(FILE *from, FILE *out)
{
    char buffer[1 << 16];
    size_t length;
    rewind(from);
    while ((length = fread(buffer, 1, sizeof buffer, from)) > 0)
        if (fwrite(buffer, 1, length, out) != length) return;
}

static bool is_kept(const char *member, size_t *list)
{
    for (*list = 0; *list < N_LISTS; ++*list)
        if (strcmp(member, LISTS[*list]) == 0) return true;
    return false;
}

void ft_pages_print(const ft_pages *pages, const json_t *report, FILE *out)
{
    const char *member, *separator = "{";
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)report, member, value)
    {
        size_t list;
        fprintf(out, "%s\n \"%s\": ", separator, member);
        separator = ",";
        if (!is_kept(member, &list)) {
            json_dumpf(value, out, JSON_ENCODE_ANY | JSON_INDENT(1));
            continue;
        }
        fputs("[", out);
        if (pages->lists[list]) copy(pages->lists[list], out);
        fputs(pages->lists[list] ? "\n ]" : "]", out);
    }
    fputs("\n}", out);
}
