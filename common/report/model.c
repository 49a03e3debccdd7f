#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "report/internal.h"

/* ---- places ---------------------------------------------------------------------------------- */

/* Takes ":<digits>" off the end of text[0..*length). */
static bool take_number(const char *text, size_t *length, size_t *number)
{
    size_t at = *length, value = 0, scale = 1;
    while (at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9' && *length - at < 9) {
        value += (size_t)(text[--at] - '0') * scale;
        scale *= 10;
    }
    if (at == *length || at < 2 || text[at - 1] != ':') return false;
    assert(at - 1 < *length && value < scale);
    *length = at - 1;
    *number = value;
    return true;
}

bool ft_place_parse(const char *location, ft_place *place)
{
    size_t length = location ? strlen(location) : 0, last = 0, before = 0;
    *place = (ft_place){0};
    if (!length || !take_number(location, &length, &last)) return false;
    bool column = take_number(location, &length, &before);
    *place = (ft_place){ft_strndup(location, length), column ? before : last, column ? last : 0};
    return true;
}

/* ---- accesses -------------------------------------------------------------------------------- */

static bool is_among(const json_t *texts, const char *text)
{
    size_t i;
    const json_t *other;
    json_array_foreach(texts, i, other)
    {
        if (strcmp(json_string_value(other) ? json_string_value(other) : "", text) == 0)
            return true;
    }
    return false;
}

static char *locks_text(const json_t *access)
{
    const json_t *held = json_object_get(access, "locks");
    const json_t *shared = json_object_get(access, "shared");
    ft_strbuf out = {0};
    const char *given = ft_json_text(access, "gave_up", NULL);
    const char *none = json_is_null(held) ? "its locks are not known" : "holding no lock";
    ft_strbuf_puts(&out, json_array_size(held) ? "holding " : none);
    for (size_t i = 0; i < json_array_size(held); i++) {
        const char *lock = json_string_value(json_array_get(held, i));
        if (i) ft_strbuf_puts(&out, ", ");
        ft_view_safe_text(lock ? lock : "?", &out);
        if (lock && is_among(shared, lock)) ft_strbuf_puts(&out, " (for reading)");
    }
    if (given) {
        ft_strbuf_puts(&out, ", gave up ");
        ft_view_safe_text(given, &out);
    }
    return ft_strbuf_take(&out);
}

/* The text for people of an access or step (docs/records.md, `display`). */
static char *event_text(const json_t *json)
{
    ft_strbuf out = {0};
    const char *display = ft_json_text(json, "display", NULL);
    if (display)
        ft_view_safe_text(display, &out);
    else
        ft_view_event_text(ft_json_text(json, "text", ""), &out);
    return out.text ? ft_strbuf_take(&out) : ft_strdup("");
}

/* The fork of a thread, where the schedule has it. */
static const json_t *fork_of(const json_t *witness, const char *thread)
{
    size_t i;
    json_t *step;
    json_array_foreach(json_object_get(witness, "steps"), i, step)
    {
        if (strcmp(ft_json_text(step, "kind", ""), "fork") == 0 &&
            strcmp(ft_json_text(step, "object", ""), thread) == 0)
            return step;
    }
    return NULL;
}

/* The function that a place is in, and the calls around it: enough to see past a helper
 * that starts threads. */
static void add_callers(const json_t *at, ft_strbuf *out)
{
    enum { CALLERS = 3 };
    size_t i;
    json_t *frame;
    const char *function = ft_json_text(at, "function", NULL);
    if (function) ft_strbuf_puts(out, " in ");
    if (function) ft_view_safe_text(function, out);
    json_array_foreach(json_object_get(at, "stack"), i, frame)
    {
        if (i == CALLERS) return;
        ft_strbuf_puts(out, ", called at ");
        ft_view_safe_text(ft_json_text(frame, "location", "?"), out);
        ft_strbuf_puts(out, " in ");
        ft_view_safe_text(ft_json_text(frame, "function", "?"), out);
    }
}

static void add_creation(const json_t *witness, ft_report_access *access)
{
    const json_t *at = json_object_get(access->json, "created");
    if (!json_is_object(at)) at = fork_of(witness, access->thread);
    const char *location = ft_json_text(at, "location", NULL);
    if (!at) return;
    ft_strbuf out = {0};
    ft_strbuf_puts(&out, "created by ");
    ft_view_safe_text(ft_json_text(at, "thread", "?"), &out);
    if (location) ft_strbuf_puts(&out, " at ");
    if (location) ft_view_safe_text(location, &out);
    add_callers(at, &out);
    access->created = ft_strbuf_take(&out);
    ft_place_parse(location, &access->created_at);
}

static void add_access(ft_finding *finding, const json_t *json)
{
    ft_report_access access = {.json = json,
                               .thread = ft_json_text(json, "thread", "?"),
                               .word = ft_json_text(json, "access", "?"),
                               .text = event_text(json),
                               .function = ft_json_text(json, "function", NULL),
                               .location = ft_json_text(json, "location", NULL),
                               .locks = locks_text(json),
                               .stack = json_array_size(json_object_get(json, "stack"))
                                            ? json_object_get(json, "stack")
                                            : NULL};
    const char *line = ft_json_text(json, "line", NULL);
    if (line) access.line = ft_strdup(line);
    ft_place_parse(access.location, &access.place);
    add_creation(json_object_get(finding->record, "witness"), &access);
    ft_vec_push(&finding->accesses, access);
}

/* ---- paths ----------------------------------------------------------------------------------- */

/* NULL: it is not under the root, or leads out of it again. A relative path is one from there. */
static const char *under(const char *path, const char *root)
{
    size_t length = strlen(root);
    if (path[0] != '/') return strncmp(path, "../", 3) == 0 || strstr(path, "/../") ? NULL : path;
    while (length && root[length - 1] == '/') length--;
    if (strncmp(path, root, length) != 0 || path[length] != '/' || !path[length + 1]) return NULL;
    if (strstr(path, "/../")) return NULL;
    return path + length + 1;
}

static void find_paths(ft_finding *finding, const char *root)
{
    const char *file;
    json_t *path;
    json_decref(finding->paths);
    finding->paths = json_object();
    json_object_foreach(json_object_get(finding->record, "sources"), file, path)
    {
        const char *text = json_string_value(path), *relative = text ? under(text, root) : NULL;
        if (relative) json_object_set_new(finding->paths, file, json_string(relative));
    }
}

void ft_report_set_root(ft_report *report, const char *root)
{
    for (size_t i = 0; i < report->findings.len; i++) find_paths(&report->findings.data[i], root);
}

const char *ft_finding_path(const ft_finding *finding, const char *file)
{
    return ft_json_text(finding->paths, file, file);
}

/* ---- findings -------------------------------------------------------------------------------- */

static bool is_atomic(const ft_finding *finding, size_t access)
{
    if (access >= finding->accesses.len) return false;
    const char *text = finding->accesses.data[access].text;
    return strncmp(text, "rmw ", 4) == 0 || strncmp(text, "atomic ", 7) == 0;
}

/* Critical sections are taken for transactions where none are marked (Wang et al. 2010, section
 * 9.3), which the program does not state. An interleaving of runs that end well is one that the
 * program allows (Lu et al. 2006, AVIO's invariants); so is one around a lock that was given back,
 * or between updates of an atomic. */
static const char *why_apart(const ft_finding *finding)
{
    if (strcmp(finding->check, "deadlock") == 0)
        return "it waits for work that no thread will give it, since another thread waits forever";
    if (strcmp(finding->status, "observed") == 0 || strcmp(finding->status, "explored") == 0)
        return "the run itself did it and went on, and no transaction is marked";
    if (is_atomic(finding, 1) && is_atomic(finding, 2))
        return "it is an atomic, and each update of it is whole; no transaction is marked";
    return "it is read anew under the lock that guards it; no transaction is marked";
}

bool ft_finding_is_apart(const json_t *record)
{
    return json_is_true(json_object_get(record, "apart"));
}

static void set_apart(ft_finding *finding)
{
    if (!ft_finding_is_apart(finding->record)) return;
    finding->standing = FT_STANDING_APART;
    finding->fails = false;
    finding->why = ft_strdup(why_apart(finding));
}

static ft_finding finding_of(const json_t *record, size_t part)
{
    ft_finding finding = {.record = record, .part = part, .fails = true};
    size_t index;
    json_t *access;
    finding.check = ft_json_text(record, "check", "finding");
    finding.kind = ft_json_text(record, "kind", finding.check);
    finding.status = ft_json_text(record, "status", "predicted");
    finding.message = ft_json_text(record, "message", "(no description)");
    finding.object = ft_json_text(record, "object", NULL);
    finding.name = ft_json_text(record, "name", NULL);
    finding.id = ft_json_text(record, "finding", NULL);
    finding.fingerprint = ft_json_text(record, "fingerprint", "");
    finding.source_fingerprint = ft_json_text(record, "source_fingerprint", NULL);
    finding.rule = ft_rule_find(finding.check, finding.kind);
    assert(finding.rule);
    finding.title = ft_rule_title(finding.rule, finding.object, finding.name);
    finding.danger = ft_rule_danger(finding.rule, finding.object);
    json_array_foreach(json_object_get(record, "accesses"), index, access)
        add_access(&finding, access);
    ft_finding_steps(&finding);
    set_apart(&finding);
    return finding;
}

static void add_part(ft_report *report, const json_t *json, const char *file)
{
    size_t index;
    json_t *record;
    ft_report_part part = {json, ft_json_text(json, "file", file), report->findings.len, 0};
    if (!part.file) part.file = ft_json_text(json, "trace", "a trace");
    json_array_foreach(json_object_get(json, "findings"), index, record)
        ft_vec_push(&report->findings, finding_of(record, report->parts.len));
    part.count = report->findings.len - part.first;
    assert(part.count == json_array_size(json_object_get(json, "findings")));
    ft_vec_push(&report->parts, part);
}

/* Findings with one fingerprint are one group, named by its first one. */
static void number_part(ft_report *report, const ft_report_part *part, bool apart)
{
    ft_intern prints = {0};
    FT_VEC(size_t) firsts = {0};
    size_t numbered = 0;
    for (size_t i = part->first; i < part->first + part->count; i++) {
        ft_finding *finding = &report->findings.data[i];
        bool counts = apart || !ft_finding_is_apart(finding->record);
        finding->number = finding->group = counts ? ++numbered : 0;
        if (!counts || !*finding->fingerprint) continue;
        uint32_t id = ft_intern_add(&prints, finding->fingerprint, strlen(finding->fingerprint));
        if (id == firsts.len) ft_vec_push(&firsts, finding->number);
        assert(id < firsts.len && firsts.data[id] <= finding->number);
        finding->group = firsts.data[id];
    }
    ft_vec_release(&firsts);
    ft_intern_release(&prints);
}

void ft_report_number(ft_report *report, bool apart)
{
    FT_REQUIRE(report);
    for (size_t i = 0; i < report->parts.len; i++)
        number_part(report, &report->parts.data[i], apart);
    ft_report_mark_repeated(report);
    FT_CHECK(ft_report_is_sound(report));
}

ft_report *ft_report_new(json_t *json, const char *file)
{
    FT_REQUIRE(json);
    ft_report *report = ft_calloc(1, sizeof *report);
    const json_t *several = json_object_get(json, "reports");
    report->json = json_incref(json);
    report->several = json_is_array(several);
    if (!report->several) add_part(report, json, file);
    for (size_t i = 0; i < json_array_size(several); i++)
        add_part(report, json_array_get(several, i), file);
    ft_report_number(report, false);
    FT_CHECK(ft_report_is_sound(report));
    return report;
}

static void release_finding(ft_finding *finding)
{
    for (size_t i = 0; i < finding->accesses.len; i++) {
        ft_report_access *access = &finding->accesses.data[i];
        free(access->text);
        free(access->locks);
        free(access->created);
        free(access->line);
        free(access->place.file);
        free(access->created_at.file);
    }
    ft_vec_release(&finding->accesses);
    json_decref(finding->paths);
    ft_finding_steps_release(finding);
    free(finding->title);
    free(finding->danger);
    free(finding->elsewhere);
    free(finding->why);
}

void ft_report_free(ft_report *report)
{
    if (!report) return;
    for (size_t i = 0; i < report->findings.len; i++) release_finding(&report->findings.data[i]);
    for (size_t i = 0; i < report->notes.len; i++) free(report->notes.data[i]);
    ft_vec_release(&report->findings);
    ft_vec_release(&report->parts);
    ft_vec_release(&report->notes);
    json_decref(report->json);
    free(report);
}
