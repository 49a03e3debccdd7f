#include "report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const LISTS[FT_REPORT_LISTS] = {"findings", "undecided", "safe"};

typedef struct pages {
    const ft_view *view;
    bool as_json;
    size_t findings; /* seen so far */
    ft_report *report;
} pages;

/* ---- as they come ------------------------------------------------------------------------------
 */

static void print_finding(const ft_view *view, const json_t *finding, size_t number)
{
    ft_strbuf text = {0};
    ft_view_finding(view, finding, number, &text);
    fputs(ft_strbuf_text(&text), stdout);
    ft_strbuf_release(&text);
}

/* Most of a record is its witness and what only its own lines say. */
static void strip(json_t *finding, bool explain)
{
    static const char *const DONE[] = {"witness",     "accesses", "message", "object",
                                       "fingerprint", "memory",   "scope",   "finding"};
    for (size_t i = 0; i < sizeof DONE / sizeof *DONE; i++) json_object_del(finding, DONE[i]);
    if (explain) return;
    json_object_del(finding, "reason");
    json_object_del(finding, "stats");
    json_object_del(finding, "key");
}

static ft_status keep(FILE **file, json_t *list, ft_error *err)
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
    json_array_clear(list);
    if (good) return FT_OK;
    return ft_error_set(err, FT_IO, "the report cannot be kept: %s", strerror(errno));
}

static ft_status see_page(void *context, json_t *page, ft_error *err)
{
    pages *p = context;
    size_t index;
    json_t *finding;
    ft_status status = FT_OK;
    json_array_foreach(json_object_get(page, LISTS[0]), index, finding)
    {
        size_t number = ++p->findings;
        status = ft_job_write_witness(p->view, finding, number, err);
        if (status) return status;
        if (p->as_json) continue;
        if (!p->view->quiet) print_finding(p->view, finding, number);
        strip(finding, p->view->explain);
    }
    for (size_t i = 0; i < FT_REPORT_LISTS && p->as_json && !status; i++)
        status = keep(&p->report->records[i], json_object_get(page, LISTS[i]), err);
    return status;
}

ft_status ft_report_fetch(ft_session *session, const char *job, const ft_view *view, bool as_json,
                          ft_report *report, ft_error *err)
{
    *report = (ft_report){0};
    pages p = {.view = view, .as_json = as_json, .report = report};
    ft_status status = ft_job_report(session, job, view->show_safe || view->explain, see_page, &p,
                                     &report->json, err);
    if (status) ft_report_release(report);
    return status;
}

void ft_report_release(ft_report *report)
{
    json_decref(report->json);
    for (size_t i = 0; i < FT_REPORT_LISTS; i++)
        if (report->records[i]) fclose(report->records[i]);
    *report = (ft_report){0};
}

/* ---- the rest ----------------------------------------------------------------------------------
 */

void ft_report_print_rest(const ft_view *view, const ft_report *report)
{
    ft_strbuf text = {0};
    ft_view_rest(view, report->json, &text);
    fputs(ft_strbuf_text(&text), stdout);
    fflush(stdout);
    ft_strbuf_release(&text);
}

static FILE *records_of(const ft_report *report, const char *member)
{
    for (size_t i = 0; i < FT_REPORT_LISTS; i++)
        if (strcmp(member, LISTS[i]) == 0) return report->records[i];
    return NULL;
}

static void copy(FILE *from)
{
    char buffer[1 << 16];
    size_t length;
    rewind(from);
    while ((length = fread(buffer, 1, sizeof buffer, from)) > 0)
        if (fwrite(buffer, 1, length, stdout) != length) return;
}

void ft_report_print_json(const ft_report *report)
{
    const char *member, *separator = "{";
    json_t *value;
    json_object_foreach(report->json, member, value)
    {
        FILE *records = records_of(report, member);
        printf("%s\n \"%s\": ", separator, member);
        separator = ",";
        if (!records) {
            json_dumpf(value, stdout, JSON_ENCODE_ANY | JSON_INDENT(1));
            continue;
        }
        fputs("[", stdout);
        copy(records);
        fputs("\n ]", stdout);
    }
    fputs("\n}", stdout);
}
