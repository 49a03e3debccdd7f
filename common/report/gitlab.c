/* GitLab's code quality report: an array of what Code Climate's engines print. */
#include "report/internal.h"

#include <string.h>

static const ft_report_access *located(const ft_finding *finding)
{
    for (size_t i = 0; i < finding->accesses.len; i++)
        if (finding->accesses.data[i].place.file) return &finding->accesses.data[i];
    return NULL;
}

/* "./" and "/" do not begin a path in a repository. */
static const char *repository_path(const char *path)
{
    while (strncmp(path, "./", 2) == 0) path += 2;
    return path;
}

static json_t *issue(const ft_report *report, const ft_finding *finding)
{
    const ft_report_access *access = located(finding);
    const char *path = access ? ft_finding_path(finding, access->place.file)
                              : report->parts.data[finding->part].file;
    ft_strbuf text = {0}, print = {0};
    ft_strbuf_printf(&text, "%s: ", finding->title);
    ft_view_safe_text(finding->message, &text);
    ft_strbuf_printf(&text, ". %s", finding->danger);
    ft_strbuf_printf(&print, "%s", *finding->fingerprint ? finding->fingerprint : finding->message);
    bool possible = strcmp(finding->status, "possible") == 0;
    json_t *out =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:[s], s:{s:s, s:{s:I}}}", "type", "issue",
                  "description", text.text, "check_name", finding->rule->id, "fingerprint",
                  print.text, "severity", possible ? "minor" : "critical", "categories", "Bug Risk",
                  "location", "path", repository_path(path), "lines", "begin",
                  (json_int_t)(access && access->place.line ? access->place.line : 1));
    ft_strbuf_release(&text);
    ft_strbuf_release(&print);
    return out;
}

void ft_render_gitlab(const ft_report *report, const ft_view *view, ft_strbuf *out)
{
    (void)view;
    json_t *list = json_array();
    for (size_t i = 0; i < report->findings.len; i++)
        if (!ft_finding_is_silent(&report->findings.data[i]))
            json_array_append_new(list, issue(report, &report->findings.data[i]));
    ft_report_dump(list, JSON_INDENT(1), out);
}
