/* SARIF 2.1.0 (OASIS standard, 27 March 2020). */
#include "report/sarif.h"
#include "verdict/names.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

json_t *ft_sarif_message(const char *text)
{
    return json_pack("{s:s}", "text", text);
}

/* A path as a URI reference (RFC 3986). */
static json_t *uri_of(const char *path)
{
    static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-._~/!$&'()*+,;=@";
    ft_strbuf out = {0};
    if (*path == '/') ft_strbuf_puts(&out, "file://");
    for (; *path; path++)
        if (strchr(PLAIN, *path))
            ft_strbuf_add(&out, path, 1);
        else
            ft_strbuf_printf(&out, "%%%02X", (unsigned)(unsigned char)*path);
    json_t *uri = json_string(ft_strbuf_text(&out));
    ft_strbuf_release(&out);
    return uri;
}

static json_t *physical(const ft_sarif_spot *spot)
{
    const ft_place *place = spot->place;
    const char *path = ft_finding_path(spot->finding, place->file);
    json_t *artifact = json_object(), *region = json_object(), *out = json_object();
    json_object_set_new(artifact, "uri", uri_of(path));
    if (*path != '/') json_object_set_new(artifact, "uriBaseId", json_string("%SRCROOT%"));
    json_object_set_new(region, "startLine",
                        json_integer((json_int_t)(place->line ? place->line : 1)));
    if (place->column)
        json_object_set_new(region, "startColumn", json_integer((json_int_t)place->column));
    if (spot->line) json_object_set_new(region, "snippet", ft_sarif_message(spot->line));
    json_object_set_new(out, "artifactLocation", artifact);
    json_object_set_new(out, "region", region);
    return out;
}

json_t *ft_sarif_location(const ft_sarif_spot *spot)
{
    json_t *out = json_object(), *logical = json_array();
    if (spot->place->file) json_object_set_new(out, "physicalLocation", physical(spot));
    if (spot->function)
        json_array_append_new(logical,
                              json_pack("{s:s, s:s}", "name", spot->function, "kind", "function"));
    if (spot->thread)
        json_array_append_new(logical,
                              json_pack("{s:s, s:s}", "name", spot->thread, "kind", "thread"));
    json_object_set_new(out, "logicalLocations", logical);
    if (spot->text) json_object_set_new(out, "message", ft_sarif_message(spot->text));
    return out;
}

/* ---- rules ----------------------------------------------------------------------------------- */

static json_t *rule_json(const ft_rule *rule)
{
    char *danger = ft_rule_danger(rule, "an object");
    json_t *out = json_object(), *tags = json_pack("[s, s]", "concurrency", rule->check);
    json_object_set_new(out, "id", json_string(rule->id));
    json_object_set_new(out, "shortDescription", ft_sarif_message(rule->title));
    json_object_set_new(out, "fullDescription", ft_sarif_message(danger));
    json_object_set_new(out, "help", ft_sarif_message(rule->advice));
    json_object_set_new(out, "defaultConfiguration", json_pack("{s:s}", "level", "error"));
    json_object_set_new(out, "properties",
                        json_pack("{s:o, s:s, s:s}", "tags", tags, "precision", "very-high",
                                  "problem.severity", "error"));
    free(danger);
    return out;
}

/* Rules of questions about programs are listed where the report has an answer: logs are limited. */
static bool is_listed(const ft_report_part *part, const ft_rule *rule)
{
    ft_check check;
    if (!ft_check_parse(rule->check, &check) || check <= FT_CHECK_PROPERTY) return true;
    return json_object_get(json_object_get(part->json, "checks"), rule->check) != NULL;
}

static size_t rule_index(const ft_report_part *part, const ft_rule *rule)
{
    size_t index = 0;
    for (size_t i = 0; ft_rule_at(i) != rule; i++) index += is_listed(part, ft_rule_at(i));
    return index;
}

static json_t *driver(const ft_report_part *part)
{
    json_t *rules = json_array();
    for (size_t i = 0; ft_rule_at(i); i++)
        if (is_listed(part, ft_rule_at(i))) json_array_append_new(rules, rule_json(ft_rule_at(i)));
    return json_pack("{s:{s:s, s:s, s:s, s:o}}", "driver", "name", "Foretell", "version",
                     FT_VERSION, "semanticVersion", FT_VERSION, "rules", rules);
}

/* ---- results --------------------------------------------------------------------------------- */

static char *access_text(const ft_report_access *access)
{
    ft_strbuf out = {0};
    ft_view_safe_text(access->thread, &out);
    ft_strbuf_puts(&out, ": ");
    ft_view_safe_text(access->text, &out);
    ft_strbuf_printf(&out, ", %s", access->locks);
    return ft_strbuf_take(&out);
}

static void add_related(json_t *list, json_t *location)
{
    json_object_set_new(location, "id", json_integer((json_int_t)json_array_size(list) + 1));
    json_array_append_new(list, location);
}

static json_t *access_location(const ft_finding *finding, const ft_report_access *access)
{
    char *text = access_text(access);
    json_t *location = ft_sarif_location(&(ft_sarif_spot){finding, &access->place, access->function,
                                                          access->thread, text, access->line});
    free(text);
    return location;
}

/* Where the threads of the accesses were created. */
static void add_creations(const ft_finding *finding, size_t most, json_t *list)
{
    for (size_t i = 0; i < finding->accesses.len && json_array_size(list) < most; i++) {
        const ft_report_access *access = &finding->accesses.data[i];
        bool known = false;
        for (size_t k = 0; k < i; k++)
            known |= strcmp(finding->accesses.data[k].thread, access->thread) == 0;
        if (known || !access->created) continue;
        ft_strbuf text = {0};
        ft_view_safe_text(access->thread, &text);
        ft_strbuf_printf(&text, " was %s", access->created);
        add_related(list, ft_sarif_location(&(ft_sarif_spot){finding, &access->created_at, NULL,
                                                             NULL, text.text, NULL}));
        ft_strbuf_release(&text);
    }
}

/* The first access that has a source location is where the result stands; a site that shows only
 * one place shows that one. */
static json_t *locations(const ft_finding *finding, const ft_report_part *part)
{
    for (size_t i = 0; i < finding->accesses.len; i++)
        if (finding->accesses.data[i].place.file)
            return json_pack("[o]", access_location(finding, &finding->accesses.data[i]));
    ft_place trace = {(char *)(uintptr_t)part->file, 1, 0};
    return json_pack("[o]", ft_sarif_location(&(ft_sarif_spot){
                                finding, &trace, NULL, NULL, "no source location is known", NULL}));
}

static void add_frame(const ft_finding *finding, const ft_place *place, const char *function,
                      json_t *frames)
{
    json_t *location =
        ft_sarif_location(&(ft_sarif_spot){finding, place, function, NULL, NULL, NULL});
    json_array_append_new(frames, json_pack("{s:o}", "location", location));
}

/* A stack begins with the access itself. */
static json_t *frames_of(const ft_finding *finding, const ft_report_access *access)
{
    json_t *frame, *frames = json_array();
    size_t index;
    add_frame(finding, &access->place, access->function, frames);
    json_array_foreach((json_t *)(uintptr_t)access->stack, index, frame)
    {
        ft_place place;
        ft_place_parse(ft_json_text(frame, "location", NULL), &place);
        add_frame(finding, &place, ft_json_text(frame, "function", NULL), frames);
        free(place.file);
    }
    return frames;
}

static json_t *stacks(const ft_finding *finding)
{
    json_t *list = json_array();
    for (size_t i = 0; i < finding->accesses.len; i++) {
        const ft_report_access *access = &finding->accesses.data[i];
        if (access->stack)
            json_array_append_new(list,
                                  json_pack("{s:{s:s}, s:o}", "message", "text", access->thread,
                                            "frames", frames_of(finding, access)));
    }
    return list;
}

static json_t *result_message(const ft_finding *finding)
{
    ft_strbuf text = {0};
    ft_strbuf_printf(&text, "%s: %s ", finding->title, finding->danger);
    ft_view_safe_text(finding->message, &text);
    ft_strbuf_puts(&text, ".");
    if (*finding->difference)
        ft_strbuf_printf(&text, " The observed run differs: %s", finding->difference);
    json_t *message = ft_sarif_message(text.text);
    ft_strbuf_release(&text);
    return message;
}

static void add_standing(const ft_report *report, const ft_finding *finding, json_t *result)
{
    if (report->compared)
        json_object_set_new(
            result, "baselineState",
            json_string(finding->standing == FT_STANDING_NEW ? "new" : "unchanged"));
    if (!ft_finding_is_silent(finding)) return;
    json_object_set_new(result, "suppressions",
                        json_pack("[{s:s, s:s}]", "kind",
                                  finding->in_source ? "inSource" : "external", "justification",
                                  finding->why ? finding->why : ""));
}

static void add_prints(const ft_finding *finding, json_t *result)
{
    json_t *prints = json_object();
    if (*finding->fingerprint)
        json_object_set_new(prints, "foretell/v1", json_string(finding->fingerprint));
    if (finding->source_fingerprint)
        json_object_set_new(prints, "foretellSource/v1", json_string(finding->source_fingerprint));
    json_object_set_new(result, "partialFingerprints", prints);
}

static json_t *result_json(const ft_report *report, const ft_finding *finding,
                           const ft_sarif_limits *limits)
{
    bool possible = strcmp(finding->status, "possible") == 0;
    const ft_report_part *part = &report->parts.data[finding->part];
    json_t *result = json_object(), *related = json_array();
    json_object_set_new(result, "ruleId", json_string(finding->rule->id));
    json_object_set_new(result, "ruleIndex",
                        json_integer((json_int_t)rule_index(part, finding->rule)));
    json_object_set_new(result, "level", json_string(possible ? "warning" : "error"));
    json_object_set_new(result, "message", result_message(finding));
    json_object_set_new(result, "locations", locations(finding, part));
    for (size_t i = 0; i < finding->accesses.len && i + 1 < limits->locations; i++)
        add_related(related, access_location(finding, &finding->accesses.data[i]));
    add_creations(finding, limits->locations - 1, related);
    json_object_set_new(result, "relatedLocations", related);
    json_t *flows = ft_sarif_flows(finding, limits->flow_locations), *frames = stacks(finding);
    if (flows) json_object_set_new(result, "codeFlows", flows);
    if (json_array_size(frames)) json_object_set(result, "stacks", frames);
    json_decref(frames);
    add_prints(finding, result);
    add_standing(report, finding, result);
    json_object_set_new(result, "properties",
                        json_pack("{s:s, s:s, s:s?}", "kind", finding->kind, "status",
                                  finding->status, "finding", finding->id));
    return result;
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* Failures and undecided candidates are notifications of the run, where tools look for them. */
static json_t *invocation(const ft_report_part *part, bool cut)
{
    const json_t *checks = json_object_get(part->json, "checks");
    size_t open = ft_report_undecided(checks);
    bool done = strcmp(ft_json_text(part->json, "state", "done"), "done") == 0;
    json_t *notes = json_array();
    ft_strbuf text = {0};
    ft_strbuf_printf(&text, "%zu candidates are undecided", open);
    if (open)
        json_array_append_new(
            notes, json_pack("{s:s, s:{s:s}}", "level", "warning", "message", "text", text.text));
    if (cut)
        json_array_append_new(notes,
                              json_pack("{s:s, s:{s:s}}", "level", "note", "message", "text",
                                        "findings beyond the limits of code scanning sites are "
                                        "left out"));
    ft_strbuf_release(&text);
    return json_pack("[{s:b, s:o}]", "executionSuccessful", done, "toolExecutionNotifications",
                     notes);
}

static json_t *run_json(const ft_report *report, const ft_report_part *part,
                        const ft_sarif_limits *limits)
{
    json_t *results = json_array(), *run = json_object(), *properties = json_object();
    size_t count = part->count < limits->results ? part->count : limits->results;
    for (size_t i = 0; i < count; i++)
        json_array_append_new(results,
                              result_json(report, &report->findings.data[part->first + i], limits));
    json_object_set_new(run, "tool", driver(part));
    json_object_set_new(run, "invocations", invocation(part, count < part->count));
    json_object_set_new(run, "automationDetails",
                        json_pack("{s:o}", "id", json_sprintf("foretell/%s/", part->file)));
    json_object_set_new(run, "columnKind", json_string("unicodeCodePoints"));
    json_object_set_new(
        run, "originalUriBaseIds",
        json_pack("{s:{s:{s:s}}}", "%SRCROOT%", "description", "text", "The root of the sources"));
    json_object_set_new(run, "results", results);
    json_object_set(properties, "checks", json_object_get(part->json, "checks"));
    json_object_set(properties, "model", json_object_get(part->json, "model"));
    json_object_set_new(run, "properties", properties);
    return run;
}

json_t *ft_sarif_log(const ft_report *report, const ft_sarif_limits *limits)
{
    json_t *runs = json_array();
    for (size_t i = 0; i < report->parts.len; i++)
        json_array_append_new(runs, run_json(report, &report->parts.data[i], limits));
    return json_pack("{s:s, s:s, s:o}", "$schema",
                     "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
                     "sarif-schema-2.1.0.json",
                     "version", "2.1.0", "runs", runs);
}

static size_t gzipped(const ft_strbuf *text)
{
    uLongf length = compressBound(text->len);
    Bytef *buffer = ft_alloc(length);
    if (compress2(buffer, &length, (const Bytef *)text->text, text->len, 6) != Z_OK)
        length = text->len;
    free(buffer);
    return length + 18; /* gzip's header and trailer for zlib's */
}

static size_t longest_schedule(const ft_report *report)
{
    size_t most = 0;
    for (size_t i = 0; i < report->findings.len; i++)
        if (report->findings.data[i].steps.len > most) most = report->findings.data[i].steps.len;
    return most;
}

/* Steps go before results; about as many as are too much. */
static void cut(ft_sarif_limits *limits, const ft_report *report, size_t size)
{
    enum { LEAST_STEPS = 8 };
    size_t longest = longest_schedule(report), all = report->findings.len;
    double keep = 0.9 * (double)limits->bytes / (double)size;
    if (limits->flow_locations > longest) limits->flow_locations = longest;
    if (limits->results > all) limits->results = all;
    if (limits->flow_locations > LEAST_STEPS) {
        limits->flow_locations = (size_t)(keep * (double)limits->flow_locations);
        if (limits->flow_locations < LEAST_STEPS) limits->flow_locations = LEAST_STEPS;
    } else {
        limits->results = (size_t)(keep * (double)limits->results);
    }
}

void ft_sarif_write(const ft_report *report, ft_sarif_limits limits, ft_strbuf *out)
{
    for (;;) {
        ft_strbuf_clear(out);
        ft_report_dump(ft_sarif_log(report, &limits), JSON_COMPACT, out);
        size_t size = out->len <= limits.bytes || limits.results == 0 ? 0 : gzipped(out);
        if (size <= limits.bytes) return;
        cut(&limits, report, size);
    }
}

void ft_render_sarif(const ft_report *report, const ft_view *view, ft_strbuf *out)
{
    (void)view;
    ft_sarif_limits limits = {FT_SARIF_RESULTS, FT_SARIF_FLOW_LOCATIONS, FT_SARIF_LOCATIONS,
                              FT_SARIF_BYTES};
    ft_strbuf text = {0};
    ft_sarif_write(report, limits, &text);
    ft_strbuf_puts(out, ft_strbuf_text(&text));
    ft_strbuf_release(&text);
}
