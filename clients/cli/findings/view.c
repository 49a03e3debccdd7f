#include "base/contract.h"
#include "findings.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool wants_color(const ft_options *options)
{
    const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
    const char *when = options->color ? options->color : "auto";
    if (strcmp(when, "auto") != 0) return strcmp(when, "always") == 0;
    return !options->output && isatty(STDOUT_FILENO) && !(no_color && *no_color) && term &&
           strcmp(term, "dumb") != 0;
}

void ft_view_init(const ft_options *options, ft_view *view)
{
    struct winsize window = {0};
    *view = (ft_view){.columns = FT_VIEW_COLUMNS,
                      .color = wants_color(options),
                      .full = options->full,
                      .show_safe = options->show_safe,
                      .explain = options->explain,
                      .quiet = options->quiet,
                      .witness_dir = options->witness_dir,
                      .apart = options->apart || options->full};
    view->only_new =
        options->baselines.len > 0 || options->new_since != NULL || options->fail_on_new;
    bool terminal = isatty(STDOUT_FILENO) && !options->output;
    if (terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col >= 40)
        view->columns = window.ws_col;
    assert(view->columns >= 40); /* the reports' tables need as much */
}

/* Candidates of the part that are violations but not among its findings: a record may stand for
 * several, and a report may have been cut. */
static bool has_unlisted(const ft_report *report, const ft_report_part *part)
{
    size_t listed = 0, all = 0;
    FT_REQUIRE(part->first + part->count <= report->findings.len);
    const char *name;
    json_t *counts;
    for (size_t i = part->first; i < part->first + part->count; i++)
        listed += ft_json_count(report->findings.data[i].record, "count");
    json_object_foreach(json_object_get(part->json, "checks"), name, counts) all +=
        ft_json_count(counts, "violation");
    return all > listed;
}

static bool is_incomplete(const ft_report_part *part)
{
    static const char *const OPEN[] = {"bounded", "unknown", "error", "pending"};
    const char *name;
    json_t *counts;
    json_object_foreach(json_object_get(part->json, "checks"), name, counts)
    {
        for (size_t i = 0; i < sizeof OPEN / sizeof *OPEN; i++)
            if (ft_json_count(counts, OPEN[i])) return true;
    }
    return strcmp(ft_json_text(part->json, "state", "done"), "done") != 0;
}

ft_exit ft_view_exit(const ft_report *report)
{
    bool open = false;
    for (size_t i = 0; i < report->findings.len; i++)
        if (report->findings.data[i].fails) return FT_EXIT_FINDINGS;
    for (size_t i = 0; i < report->parts.len; i++) {
        if (has_unlisted(report, &report->parts.data[i])) return FT_EXIT_FINDINGS;
        open |= is_incomplete(&report->parts.data[i]);
    }
    return open ? FT_EXIT_INCOMPLETE : FT_EXIT_CLEAN;
}
