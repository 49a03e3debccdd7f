#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "commands.h"
#include "findings/findings.h"
#include "remote/remote.h"
#include "terminal/terminal.h"

static void dump(const json_t *json)
{
    json_dumpf(json, stdout, JSON_INDENT(1));
    fputs("\n", stdout);
}

/* ---- diff ------------------------------------------------------------------------------------ */

static bool has_print(const json_t *report, const char *print)
{
    size_t i;
    json_t *record;
    json_array_foreach(json_object_get(report, "findings"), i, record)
    {
        if (strcmp(ft_json_text(record, "fingerprint", ""), print) == 0) return true;
    }
    return false;
}

/* The findings of `report`, each as "new", "gone" or "same" against the other report. */
static void sort_findings(const json_t *report, const json_t *other, const char *present,
                          const char *absent, json_t *out)
{
    FT_REQUIRE(json_is_array(json_object_get(out, absent)));
    size_t i;
    json_t *record;
    json_array_foreach(json_object_get(report, "findings"), i, record)
    {
        const char *print = ft_json_text(record, "fingerprint", "");
        const char *list = has_print(other, print) ? present : absent;
        if (list) json_array_append(json_object_get(out, list), record);
    }
}

static void print_list(const char *list, const char *sign, const json_t *records)
{
    json_t *report = json_pack("{s:O}", "findings", records);
    ft_report *model = ft_report_new(report, "");
    ft_strbuf out = {0};
    for (size_t i = 0; i < model->findings.len; i++) {
        const ft_finding *finding = &model->findings.data[i];
        ft_strbuf_printf(&out, "%s %-4s  %s  %s: ", sign, list, finding->fingerprint,
                         finding->title);
        ft_view_safe_text(finding->message, &out);
        ft_strbuf_puts(&out, "\n");
    }
    fputs(ft_strbuf_text(&out), stdout);
    ft_strbuf_release(&out);
    ft_report_free(model);
    json_decref(report);
}

static void print_diff(const json_t *diff)
{
    static const char *const LISTS[][2] = {{"new", "+"}, {"gone", "-"}, {"same", " "}};
    for (size_t i = 0; i < 3; i++)
        print_list(LISTS[i][0], LISTS[i][1], json_object_get(diff, LISTS[i][0]));
    printf("SUMMARY: foretell: %zu new, %zu gone, %zu the same\n",
           json_array_size(json_object_get(diff, "new")),
           json_array_size(json_object_get(diff, "gone")),
           json_array_size(json_object_get(diff, "same")));
}

ft_exit ft_run_diff(const ft_options *options)
{
    ft_error err = FT_ERROR_INIT;
    ft_remote remote = {0};
    json_t *before = NULL, *after = NULL;
    const char *first = ft_job_id(options->arguments.data[0]),
               *second = ft_job_id(options->arguments.data[1]);
    ft_exit code = FT_EXIT_CLEAN;
    ft_status status = ft_remote_open(options, false, &remote, &err);
    if (!status) status = ft_job_report(&remote, first, false, NULL, NULL, &before, &err);
    if (!status) status = ft_job_report(&remote, second, false, NULL, NULL, &after, &err);
    if (!status) {
        json_t *diff =
            json_pack("{s:[s, s], s:[], s:[], s:[]}", "jobs", first, second, "new", "gone", "same");
        sort_findings(after, before, "same", "new", diff);
        sort_findings(before, after, NULL, "gone", diff);
        if (json_array_size(json_object_get(diff, "new"))) code = FT_EXIT_FINDINGS;
        if (options->json)
            dump(diff);
        else
            print_diff(diff);
        json_decref(diff);
    }
    json_decref(before);
    json_decref(after);
    ft_remote_close(&remote);
    return status ? ft_fail(NULL, &err) : code;
}

/* ---- review ---------------------------------------------------------------------------------- */

static char *review_path(const ft_options *options, const char *print, const char *after)
{
    ft_strbuf path = {0};
    char *project = curl_easy_escape(NULL, options->project ? options->project : "default", 0);
    char *escaped = print ? curl_easy_escape(NULL, print, 0) : NULL;
    ft_strbuf_printf(&path, "/v1/reviews%s%s?project=%s%s%s", escaped ? "/" : "",
                     escaped ? escaped : "", project ? project : "", after ? "&after=" : "",
                     after ? after : "");
    curl_free(project);
    curl_free(escaped);
    return ft_strbuf_take(&path);
}

static void print_review(const json_t *review)
{
    const char *reason = ft_json_text(review, "reason", "");
    ft_strbuf out = {0};
    ft_strbuf_printf(&out, "%s  %-9s  first %.10s  last %.10s  ",
                     ft_json_text(review, "fingerprint", "?"), ft_json_text(review, "state", "?"),
                     ft_json_text(review, "first_seen", "-"),
                     ft_json_text(review, "last_seen", "-"));
    ft_view_safe_text(ft_json_text(review, "message", ""), &out);
    if (*reason) ft_strbuf_puts(&out, "  -- ");
    ft_view_safe_text(reason, &out);
    printf("%s\n", out.text);
    ft_strbuf_release(&out);
}

static ft_status list_reviews(ft_remote *remote, const ft_options *options, ft_error *err)
{
    json_t *all = json_array();
    char *after = NULL;
    ft_status status = FT_OK;
    for (bool more = true; more && !status;) {
        json_t *page = NULL;
        char *path = review_path(options, NULL, after);
        status = ft_client_get(remote->client, path, &page, err);
        const char *next = ft_json_text(page, "next", NULL);
        if (!status) json_array_extend(all, json_object_get(page, "reviews"));
        free(after);
        after = next ? ft_strdup(next) : NULL;
        more = next != NULL;
        free(path);
        json_decref(page);
    }
    size_t i;
    json_t *review;
    if (!status && options->json) {
        json_t *out = json_pack("{s:O}", "reviews", all);
        dump(out);
        json_decref(out);
    } else if (!status) {
        json_array_foreach(all, i, review) print_review(review);
    }
    free(after);
    json_decref(all);
    return status;
}

/* PUT with --state, else what is known of it. */
static ft_status one_review(ft_remote *remote, const ft_options *options, ft_error *err)
{
    FT_REQUIRE(options->arguments.len == 1);
    ft_reply reply = {0};
    char *path = review_path(options, options->arguments.data[0], NULL);
    json_t *body = options->state ? json_pack("{s:s, s:s}", "state", options->state, "reason",
                                              options->reason ? options->reason : "")
                                  : NULL;
    ft_request request = {.method = body ? "PUT" : "GET", .path = path, .json = body};
    ft_status status = ft_client_send(remote->client, &request, &reply, err);
    if (!status && options->json)
        dump(reply.json);
    else if (!status)
        print_review(reply.json);
    ft_reply_release(&reply);
    json_decref(body);
    free(path);
    return status;
}

ft_exit ft_run_review(const ft_options *options)
{
    ft_error err = FT_ERROR_INIT;
    ft_remote remote = {0};
    bool one = options->arguments.len > 0;
    if (!one && (options->state || options->reason)) {
        ft_error_set(&err, FT_USAGE, "--state and --reason need a FINGERPRINT");
        return ft_fail(NULL, &err);
    }
    ft_status status = ft_remote_open(options, false, &remote, &err);
    if (!status)
        status = one ? one_review(&remote, options, &err) : list_reviews(&remote, options, &err);
    ft_remote_close(&remote);
    return status ? ft_fail(NULL, &err) : FT_EXIT_CLEAN;
}
