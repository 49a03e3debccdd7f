/* Reports page by page, so that long ones are never held whole: most of a record is its witness. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emit.h"

static const char *const LISTS[] = {"findings", "undecided", "safe"};
enum { N_LISTS = sizeof LISTS / sizeof *LISTS };

static bool needs_whole(const ft_emit *emit)
{
    return emit->options->reports.len > 0 ||
           (emit->format != FT_REPORT_TEXT && emit->format != FT_REPORT_JSON);
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
    return ft_error_set(err, FT_IO, "the report cannot be kept: %s", strerror(errno));
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

static void strip(json_t *finding)
{
    static const char *const DONE[] = {"witness", "reason", "stats", "memory", "scope"};
    for (size_t i = 0; i < sizeof DONE / sizeof *DONE; i++) json_object_del(finding, DONE[i]);
}

/* Text shows the schedule of the first finding of a group. */
static bool is_first(ft_pages *p, const json_t *finding)
{
    const char *print = ft_json_text(finding, "fingerprint", "");
    uint32_t known = p->prints.len;
    return !*print || ft_intern_add(&p->prints, print, strlen(print)) == known;
}

ft_status ft_pages_see(void *pages, json_t *page, ft_error *err)
{
    ft_pages *p = pages;
    size_t index;
    json_t *finding;
    ft_status status = FT_OK;
    bool is_json = p->emit->format == FT_REPORT_JSON;
    json_array_foreach(json_object_get(page, LISTS[0]), index, finding)
    {
        if (status == FT_OK)
            status = ft_job_write_witness(&p->view, p->file, finding, ++p->findings, err);
    }
    if (status != FT_OK || needs_whole(p->emit)) return status;
    if (is_json) status = keep_records(p, page, err);
    json_array_foreach(json_object_get(page, LISTS[0]), index, finding)
    {
        if (is_json)
            strip(finding);
        else if (!is_first(p, finding) && !p->view.full)
            json_object_del(finding, "witness");
    }
    return status;
}

void ft_pages_release(ft_pages *pages)
{
    ft_intern_release(&pages->prints);
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
