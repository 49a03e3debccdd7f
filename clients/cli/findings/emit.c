#include "base/contract.h"
#include "findings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "files/files.h"

enum { MOST_BYTES = 256 << 20 };

/* ---- files ----------------------------------------------------------------------------------- */

static ft_status read_text(const char *path, ft_strbuf *text, ft_error *err)
{
    char piece[16384];
    FILE *in = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    if (!in) return ft_error_set(err, FT_USAGE, "cannot be opened: %s", strerror(errno));
    for (size_t got; text->len <= MOST_BYTES && (got = fread(piece, 1, sizeof piece, in)) > 0;)
        ft_strbuf_add(text, piece, got);
    bool bad = ferror(in) != 0;
    if (in != stdin) fclose(in);
    if (bad) return ft_error_set(err, FT_USAGE, "cannot be read: %s", strerror(errno));
    if (text->len > MOST_BYTES) return ft_error_set(err, FT_LIMIT, "is longer than 256 MiB");
    return FT_OK;
}

static ft_status write_file(const char *path, const ft_strbuf *text, ft_error *err)
{
    ft_output *out;
    ft_status status = ft_output_open(path, &out, err);
    if (status) return status;
    return ft_output_close(out, ft_output_sink(out, ft_strbuf_text(text), text->len, err), err);
}

/* ---- what is known --------------------------------------------------------------------------- */

typedef ft_status add_text(ft_ledger *ledger, const char *text, size_t length, const char *name,
                           ft_error *err);

static ft_status add_files(ft_ledger *ledger, const ft_texts *paths, add_text *add,
                           const char *before, const char **file, ft_error *err)
{
    ft_status status = FT_OK;
    for (size_t i = 0; !status && i < paths->len; i++) {
        ft_strbuf text = {0}, name = {0};
        ft_strbuf_printf(&name, "%s%s", before, paths->data[i]);
        status = read_text(paths->data[i], &text, err);
        if (!status) status = add(ledger, ft_strbuf_text(&text), text.len, name.text, err);
        if (status) *file = paths->data[i];
        ft_strbuf_release(&text);
        ft_strbuf_release(&name);
    }
    return status;
}

static ft_status add_job(ft_ledger *ledger, ft_remote *remote, const char *job, ft_error *err)
{
    json_t *report = NULL;
    ft_strbuf name = {0};
    ft_status status = ft_job_report(remote, ft_job_id(job), false, NULL, NULL, &report, err);
    ft_strbuf_printf(&name, "in job %s", ft_job_id(job));
    if (!status) ft_ledger_add_report(ledger, report, name.text);
    ft_strbuf_release(&name);
    json_decref(report);
    return status;
}

static ft_status check_reports(const ft_options *options, ft_error *err)
{
    ft_report_format format;
    for (size_t i = 0; i < options->reports.len; i++) {
        const char *equals = strchr(options->reports.data[i], '=');
        char *name = ft_strndup(options->reports.data[i],
                                equals ? (size_t)(equals - options->reports.data[i]) : 0);
        bool known = equals && equals[1] && ft_report_format_parse(name, &format);
        free(name);
        if (!known)
            return ft_error_set(err, FT_USAGE,
                                "--report takes FORMAT=FILE (see --format for the formats), not "
                                "'%s'",
                                options->reports.data[i]);
    }
    return FT_OK;
}

/* Does the folder hold a repository? */
static bool is_root(const char *folder)
{
    ft_strbuf path = {0};
    ft_strbuf_printf(&path, "%s/.git", folder);
    bool there = access(path.text, F_OK) == 0;
    ft_strbuf_release(&path);
    return there;
}

/* Where the paths that a site is given begin: the source root, the repository around the folder
 * that we are in, or that folder. Heap, absolute; NULL: it is not there. */
static char *project_root(const char *given)
{
    char *here = realpath(given ? given : ".", NULL), *at = here ? ft_strdup(here) : NULL;
    for (char *slash; at && !given && !is_root(at) && (slash = strrchr(at, '/'));) *slash = '\0';
    bool found = at && *at;
    free(found ? here : at);
    return found ? at : here;
}

ft_status ft_emit_open(ft_emit *emit, const ft_options *options, ft_remote *remote, bool several,
                       const char **file, ft_error *err)
{
    char today[16] = "";
    time_t now = time(NULL);
    struct tm parts;
    if (gmtime_r(&now, &parts)) strftime(today, sizeof today, "%Y-%m-%d", &parts);
    *emit = (ft_emit){.options = options, .several = several, .reports = json_array()};
    *file = NULL;
    ft_view_init(options, &emit->view);
    emit->view.private_server = remote->daemon != NULL;
    if (!remote->daemon && options->server && strncmp(options->server, "http", 4) == 0)
        emit->view.server = ft_client_base(remote->client);
    if (options->json) emit->format = FT_REPORT_JSON;
    if (options->format) ft_report_format_parse(options->format, &emit->format);
    emit->ledger = ft_ledger_new(today);
    if (options->source_root) ft_ledger_set_source(emit->ledger, options->source_root);
    char *root = project_root(options->source_root);
    if (root) ft_ledger_set_root(emit->ledger, root);
    free(root);
    if (options->fail_on_new) ft_ledger_only_new(emit->ledger);
    if (options->apart) ft_ledger_count_apart(emit->ledger);
    if (options->any_fail_on) ft_ledger_fail_on(emit->ledger, options->fail_on);
    ft_status status = check_reports(options, err);
    if (!status && options->program && access(options->program, R_OK))
        status = ft_error_set(err, FT_USAGE, "--program %.300s cannot be read: %s",
                              options->program, strerror(errno));
    if (!status)
        status =
            add_files(emit->ledger, &options->baselines, ft_ledger_add_baseline, "in ", file, err);
    if (!status)
        status = add_files(emit->ledger, &options->suppressions, ft_ledger_add_suppressions, "",
                           file, err);
    if (!status && options->new_since)
        status = add_job(emit->ledger, remote, options->new_since, err);
    return status;
}

/* ---- printing -------------------------------------------------------------------------------- */

static const char *place(const ft_emit *emit)
{
    return emit->options->output ? emit->options->output : "-";
}

static ft_status print(ft_emit *emit, const ft_strbuf *text, ft_error *err)
{
    return write_file(place(emit), text, err);
}

/* In the names of witnesses: the runs of a test that are called apart already have none. */
static size_t number_of(const ft_emit *emit, size_t number)
{
    return emit->several && !emit->options->varied ? number : 0;
}

static ft_status print_now(ft_emit *emit, const ft_report *report, size_t number, bool repeats,
                           ft_error *err)
{
    ft_strbuf text = {0};
    ft_view view = emit->view;
    view.file_number = number_of(emit, number);
    view.folds = emit->several && emit->options->one_test;
    view.repeats = repeats;
    view.listed = emit->options->reports.len == 0;
    view.notes = &emit->notes;
    ft_report_render(report, FT_REPORT_TEXT, &view, &text);
    ft_status status = print(emit, &text, err);
    ft_strbuf_release(&text);
    return status;
}

/* Each finding that was printed is known by its fingerprint. */
static bool is_sound(const ft_emit *emit)
{
    return emit->told.len == emit->prints.len && emit->kept.len <= json_array_size(emit->reports) &&
           (emit->several || json_array_size(emit->reports) <= 1);
}

/* repeats: it has no finding that an earlier one has not. */
static ft_status emit_report(ft_emit *emit, json_t *report, const char *shown, size_t number,
                             bool repeats, ft_exit *code, ft_error *err)
{
    if (!json_object_get(report, "file")) json_object_set_new(report, "file", json_string(shown));
    json_array_append(emit->reports, report);
    ft_report *model = ft_report_new(report, shown);
    ft_report_number(model, emit->view.apart);
    ft_ledger_apply(emit->ledger, model);
    *code = ft_view_exit(model);
    assert(*code == FT_EXIT_CLEAN || *code == FT_EXIT_FINDINGS || *code == FT_EXIT_INCOMPLETE);
    bool later = emit->format != FT_REPORT_TEXT || emit->options->output;
    ft_status status = later ? FT_OK : print_now(emit, model, number, repeats, err);
    ft_report_free(model);
    return status;
}

ft_status ft_emit_job(ft_emit *emit, ft_remote *remote, const char *job, const char *shown,
                      size_t number, ft_exit *code, ft_error *err)
{
    json_t *report = NULL;
    FT_REQUIRE(number > 0 && emit->ledger);
    assert(is_sound(emit));
    ft_pages pages = {.emit = emit, .view = emit->view, .file = shown};
    pages.view.file_number = number_of(emit, number);
    pages.view.folds = emit->several && emit->options->one_test;
    size_t told = emit->told.len;
    bool safe = emit->options->show_safe || emit->options->explain;
    ft_status status = ft_job_report(remote, job, safe, ft_pages_see, &pages, &report, err);
    bool repeats = emit->told.len == told;
    if (status == FT_OK) status = emit_report(emit, report, shown, number, repeats, code, err);
    if (status == FT_OK)
        ft_vec_push(&emit->kept, pages);
    else
        ft_pages_release(&pages);
    json_decref(report);
    return status;
}

static ft_status write_reports(ft_emit *emit, const ft_report *report, ft_error *err)
{
    const ft_options *options = emit->options;
    ft_status status = FT_OK;
    for (size_t i = 0; !status && i < options->reports.len; i++) {
        const char *equals = strchr(options->reports.data[i], '=');
        assert(equals && equals[1]); /* check_reports has seen it */
        char *name =
            ft_strndup(options->reports.data[i], (size_t)(equals - options->reports.data[i]));
        ft_report_format format = FT_REPORT_TEXT;
        ft_strbuf text = {0};
        ft_view view = emit->view;
        view.color = false;
        view.columns = FT_VIEW_COLUMNS;
        if (ft_report_format_parse(name, &format)) ft_report_render(report, format, &view, &text);
        status = write_file(equals + 1, &text, err);
        ft_strbuf_release(&text);
        free(name);
    }
    return status;
}

static ft_status write_baseline(const ft_emit *emit, const ft_report *report, ft_error *err)
{
    ft_strbuf text = {0};
    if (!emit->options->write_baseline) return FT_OK;
    ft_ledger_write_baseline(report, &text);
    ft_status status = write_file(emit->options->write_baseline, &text, err);
    ft_strbuf_release(&text);
    return status;
}

/* Of one file its report, of several {"reports": [...], "merged": [...]}; empty where none could be
 * had. */
static void print_kept(const ft_emit *emit, const json_t *merged, FILE *out)
{
    if (emit->several) fputs("{\"reports\": [", out);
    for (size_t i = 0; i < emit->kept.len; i++) {
        if (i) fputs(",\n", out);
        ft_pages_print(&emit->kept.data[i], json_array_get(emit->reports, i), out);
    }
    if (emit->several) {
        fputs("],\n \"merged\": ", out);
        json_dumpf(merged, out, JSON_INDENT(1));
        fputs("}", out);
    }
    fputs("\n", out);
}

static ft_status print_json(const ft_emit *emit, const json_t *merged, ft_error *err)
{
    ft_output *out;
    ft_status status = ft_output_open(place(emit), &out, err);
    if (status) return status;
    print_kept(emit, merged, ft_output_file(out));
    return ft_output_close(out, FT_OK, err);
}

static ft_status print_all(ft_emit *emit, const ft_report *report, ft_error *err)
{
    ft_strbuf text = {0};
    if (emit->format == FT_REPORT_TEXT && !emit->options->output) {
        ft_view view = emit->view;
        view.folds = emit->options->one_test;
        ft_report_merged(report, &view, &text);
        fputs(ft_strbuf_text(&text), stdout);
        ft_strbuf_release(&text);
        return FT_OK;
    }
    if (emit->format == FT_REPORT_JSON && emit->options->reports.len == 0) {
        json_t *merged = ft_report_merged_json(report);
        ft_status printed = print_json(emit, merged, err);
        json_decref(merged);
        return printed;
    }
    ft_report_render(report, emit->format, &emit->view, &text);
    ft_status status = print(emit, &text, err);
    ft_strbuf_release(&text);
    return status;
}

ft_status ft_emit_end(ft_emit *emit, ft_error *err)
{
    assert(is_sound(emit));
    json_t *all = emit->several ? json_pack("{s:O}", "reports", emit->reports)
                                : json_incref(json_array_get(emit->reports, 0));
    if (!all) return FT_OK;
    ft_report *report = ft_report_new(all, NULL);
    ft_report_number(report, emit->view.apart);
    ft_ledger_apply(emit->ledger, report);
    ft_status status = write_reports(emit, report, err);
    if (!status) status = write_baseline(emit, report, err);
    if (!status) status = print_all(emit, report, err);
    ft_report_free(report);
    json_decref(all);
    return status;
}

/* ---- answers that no job has ------------------------------------------------------------------
 */

ft_status ft_emit_made(ft_emit *emit, json_t *report, const char *shown, ft_exit *code,
                       ft_error *err)
{
    ft_strbuf text = {0};
    ft_status status = FT_OK;
    json_object_set_new(report, "file", json_string(shown));
    json_array_append(emit->reports, report);
    ft_report *model = ft_report_new(report, shown);
    ft_report_number(model, emit->view.apart);
    ft_ledger_apply(emit->ledger, model);
    *code = ft_view_exit(model);
    if (emit->format != FT_REPORT_TEXT) {
        ft_report_render(model, emit->format, &emit->view, &text);
        status = print(emit, &text, err);
    }
    if (status == FT_OK) status = write_reports(emit, model, err);
    if (status == FT_OK) status = write_baseline(emit, model, err);
    ft_report_free(model);
    ft_strbuf_release(&text);
    return status;
}

bool ft_emit_is_text(const ft_options *options)
{
    return !options->format || strcmp(options->format, "text") == 0;
}

bool ft_emit_is_wanted(const ft_options *options)
{
    return options->format || options->reports.len || options->baselines.len ||
           options->suppressions.len || options->write_baseline || options->any_fail_on ||
           options->source_root;
}

ft_status ft_emit_answer(const ft_options *options, json_t *report, const char *shown,
                         ft_exit *code, const char **file, ft_error *err)
{
    ft_options own = *options;
    ft_remote remote = {0};
    ft_emit emit = {0};
    *file = NULL;
    own.output = own.server = own.new_since = NULL; /* -o may be another file's */
    own.json = false;
    ft_status status = ft_emit_open(&emit, &own, &remote, false, file, err);
    if (status == FT_OK) status = ft_emit_made(&emit, report, shown, code, err);
    ft_emit_release(&emit);
    return status;
}

void ft_emit_release(ft_emit *emit)
{
    ft_ledger_free(emit->ledger);
    json_decref(emit->reports);
    for (size_t i = 0; i < emit->kept.len; i++) ft_pages_release(&emit->kept.data[i]);
    ft_vec_release(&emit->kept);
    ft_intern_release(&emit->prints);
    ft_intern_release(&emit->notes);
    for (size_t i = 0; i < emit->told.len; i++) free(emit->told.data[i]);
    ft_vec_release(&emit->told);
    *emit = (ft_emit){0};
}
