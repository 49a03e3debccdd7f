/* Suppressions: lines of a file and annotations in the source, which have one syntax. */
#include <ctype.h>
#include <fnmatch.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory_name.h"
#include "report/ledger_internal.h"

typedef struct line {
    const char *text, *end, *at;
    uint64_t number;
    ft_error *err;
} line;

void ft_ignore_release(ft_ignore *ignore)
{
    free(ignore->at);
    free(ignore->function);
    free(ignore->thread);
    free(ignore->object);
    free(ignore->fingerprint);
    free(ignore->reason);
    free(ignore->where);
}

static ft_status wrong(const line *in, const char *at, const char *what)
{
    assert(at >= in->text && at <= in->end);
    return ft_error_at(in->err, FT_INPUT, in->number, (uint64_t)(at - in->text) + 1, "%s", what);
}

static void skip_blanks(line *in)
{
    while (in->at < in->end && (*in->at == ' ' || *in->at == '\t' || *in->at == '\r')) in->at++;
}

/* The next word; empty at the end of the line. */
static const char *take_word(line *in, size_t *length)
{
    skip_blanks(in);
    const char *word = in->at;
    while (in->at < in->end && !strchr(" \t\r", *in->at)) in->at++;
    *length = (size_t)(in->at - word);
    assert(in->at <= in->end);
    return word;
}

static bool is_text(const char *word, size_t length, const char *text)
{
    return strlen(text) == length && memcmp(word, text, length) == 0;
}

static ft_status take_checks(line *in, ft_ignore *ignore)
{
    size_t length;
    const char *word = take_word(in, &length);
    bool all = is_text(word, length, "all");
    for (int i = 0; all && i < FT_CHECKS; i++) ignore->checks[i] = true;
    for (size_t at = 0; !all && at <= length;) {
        size_t one = 0;
        while (at + one < length && word[at + one] != ',') one++;
        char *name = ft_strndup(word + at, one);
        ft_check check;
        bool known = ft_check_parse(name, &check);
        free(name);
        if (!known)
            return wrong(in, word + at,
                         "expected checks (race, atomicity, assertion, lock, deadlock, order, "
                         "failure, property) separated by commas, or all");
        ignore->checks[check] = true;
        at += one + 1;
    }
    return FT_OK;
}

static bool is_date(const char *text, size_t length)
{
    static const char SHAPE[] = "dddd-dd-dd";
    if (length != FT_DATE) return false;
    for (size_t i = 0; i < FT_DATE; i++)
        if (SHAPE[i] == 'd' ? !isdigit((unsigned char)text[i]) : text[i] != SHAPE[i]) return false;
    int month = (text[5] - '0') * 10 + text[6] - '0', day = (text[8] - '0') * 10 + text[9] - '0';
    return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

static ft_status take_until(line *in, ft_ignore *ignore, const char *value, size_t length,
                            bool *given)
{
    bool never = is_text(value, length, "never");
    if (!never && !is_date(value, length))
        return wrong(in, value, "until takes a date (2027-01-31) or never");
    if (!never) memcpy(ignore->until, value, length);
    *given = true;
    return FT_OK;
}

static ft_status take_key(line *in, ft_ignore *ignore, const char *word, size_t length, bool *until)
{
    static const struct {
        const char *name;
        size_t member;
    } KEYS[] = {{"at", offsetof(ft_ignore, at)},
                {"function", offsetof(ft_ignore, function)},
                {"thread", offsetof(ft_ignore, thread)},
                {"object", offsetof(ft_ignore, object)},
                {"fingerprint", offsetof(ft_ignore, fingerprint)}};
    const char *equals = memchr(word, '=', length);
    size_t key = equals ? (size_t)(equals - word) : length;
    if (!equals || key + 1 == length) return wrong(in, word, "expected KEY=VALUE or --");
    if (is_text(word, key, "until"))
        return take_until(in, ignore, equals + 1, length - key - 1, until);
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++) {
        if (!is_text(word, key, KEYS[i].name)) continue;
        char **member = (char **)((char *)ignore + KEYS[i].member);
        if (*member) return wrong(in, word, "the key is there twice");
        *member = ft_strndup(equals + 1, length - key - 1);
        return FT_OK;
    }
    return wrong(in, word,
                 "unknown key: there are at, function, thread, object, fingerprint and until");
}

/* The rest of the line behind "ignore". */
static ft_status take_rule(line *in, ft_ignore *ignore, bool needs_until)
{
    bool until = false;
    size_t length;
    ft_status status = take_checks(in, ignore);
    for (;;) {
        if (status) return status;
        const char *word = take_word(in, &length);
        if (length == 0) return wrong(in, in->at, "expected -- and a reason");
        if (is_text(word, length, "--")) break;
        status = take_key(in, ignore, word, length, &until);
    }
    skip_blanks(in);
    const char *end = in->end;
    while (end > in->at && strchr(" \t\r", end[-1])) end--;
    if (end == in->at) return wrong(in, in->at, "expected a reason after --");
    if (needs_until && !until) return wrong(in, in->text, "until=DATE is missing (or until=never)");
    assert(end > in->at && !ignore->reason);
    ignore->reason = ft_strndup(in->at, (size_t)(end - in->at));
    return FT_OK;
}

static ft_status file_line(ft_ledger *ledger, line *in, const char *name)
{
    ft_ignore ignore = {0};
    size_t length;
    const char *word = take_word(in, &length);
    if (length == 0 || *word == '#') return FT_OK;
    if (!is_text(word, length, "ignore")) return wrong(in, word, "a line begins with ignore");
    ft_status status = take_rule(in, &ignore, true);
    ft_strbuf where = {0};
    ft_strbuf_printf(&where, "%s:%llu", name, (unsigned long long)in->number);
    ignore.where = ft_strbuf_take(&where);
    if (status)
        ft_ignore_release(&ignore);
    else
        ft_vec_push(&ledger->rules, ignore);
    return status;
}

ft_status ft_ledger_add_suppressions(ft_ledger *ledger, const char *text, size_t length,
                                     const char *name, ft_error *err)
{
    uint64_t number = 0;
    ft_status status = FT_OK;
    for (const char *at = text, *end = text + length; !status && at < end; at++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        line in = {at, stop ? stop : end, at, ++number, err};
        status = file_line(ledger, &in, name);
        at = in.end;
    }
    return status;
}

/* ---- matching -------------------------------------------------------------------------------- */

static bool fits(const char *glob, const char *text)
{
    return !glob || (text && fnmatch(glob, text, 0) == 0);
}

static bool fits_access(const ft_ignore *ignore, const ft_report_access *access)
{
    const char *asked_at = ft_json_text(access->json, "asked_at", NULL);
    const char *asked_by = ft_json_text(access->json, "asked_by", NULL);
    bool at = fits(ignore->at, access->location) || fits(ignore->at, access->place.file) ||
              fits(ignore->at, asked_at);
    bool in = fits(ignore->function, access->function) || fits(ignore->function, asked_by);
    return at && in && fits(ignore->thread, access->thread);
}

/* Rules that were written before memory had its helper's caller in its name hold too. */
static bool fits_object(const char *glob, const char *object)
{
    ft_strbuf plain = {0};
    if (fits(glob, object) || !object) return fits(glob, object);
    ft_memory_name_add_plain(object, &plain);
    bool is = fits(glob, ft_strbuf_text(&plain));
    ft_strbuf_release(&plain);
    return is;
}

static bool fits_finding(const ft_ignore *ignore, const ft_finding *finding)
{
    ft_check check;
    bool any = !ignore->at && !ignore->function && !ignore->thread;
    if (!ft_check_parse(finding->check, &check) || !ignore->checks[check]) return false;
    if (!fits_object(ignore->object, finding->object)) return false;
    if (ignore->fingerprint && !fits(ignore->fingerprint, finding->fingerprint) &&
        !fits(ignore->fingerprint, finding->source_fingerprint))
        return false;
    for (size_t i = 0; !any && i < finding->accesses.len; i++)
        any = fits_access(ignore, &finding->accesses.data[i]);
    return any;
}

static bool holds(const ft_ledger *ledger, const ft_ignore *ignore)
{
    assert(!*ignore->until || is_date(ignore->until, strlen(ignore->until)));
    return !*ignore->until || strcmp(ledger->today, ignore->until) <= 0;
}

const ft_ignore *ft_ignore_find(const ft_ledger *ledger, const ft_finding *finding)
{
    for (size_t i = 0; i < ledger->rules.len; i++) {
        const ft_ignore *ignore = &ledger->rules.data[i];
        if (holds(ledger, ignore) && fits_finding(ignore, finding)) return ignore;
    }
    return NULL;
}

static void add_note(ft_report *report, const char *where, const char *text)
{
    ft_strbuf out = {0};
    ft_view_safe_text(where, &out);
    ft_strbuf_printf(&out, ": %s", text);
    for (size_t i = 0; i < report->notes.len; i++)
        if (strcmp(report->notes.data[i], out.text) == 0) {
            ft_strbuf_release(&out);
            return;
        }
    ft_vec_push(&report->notes, ft_strbuf_take(&out));
}

static void note_expiry(ft_report *report, const ft_ignore *ignore)
{
    ft_strbuf text = {0};
    ft_strbuf_printf(&text, "this suppression expired on %s", ignore->until);
    add_note(report, ignore->where, text.text);
    ft_strbuf_release(&text);
}

void ft_ledger_expired(const ft_ledger *ledger, ft_report *report)
{
    for (size_t i = 0; i < ledger->rules.len; i++)
        if (!holds(ledger, &ledger->rules.data[i])) note_expiry(report, &ledger->rules.data[i]);
}

/* ---- annotations ----------------------------------------------------------------------------- */

/* The end of a comment does not belong to a reason. */
static size_t comment_length(const char *text)
{
    const char *end = strstr(text, "*/");
    return end ? (size_t)(end - text) : strlen(text);
}

static bool annotated(const ft_ledger *ledger, ft_report *report, const ft_finding *finding,
                      const char *text, ft_ignore *ignore)
{
    static const char MARK[] = "foretell: ignore";
    ft_error err = FT_ERROR_INIT;
    const char *mark = text ? strstr(text, MARK) : NULL;
    if (!mark) return false;
    mark += strlen(MARK);
    line in = {mark, mark + comment_length(mark), mark, 0, &err};
    if (take_rule(&in, ignore, false)) {
        add_note(report, ignore->where, err.message);
        return false;
    }
    if (!holds(ledger, ignore)) note_expiry(report, ignore);
    return holds(ledger, ignore) && fits_finding(ignore, finding);
}

/* Whether nothing but a comment is on the line. */
static bool is_comment(const char *text)
{
    static const char *const STARTS[] = {"//", "/*", "#", "--", ";"};
    if (!text) return false;
    text += strspn(text, " \t");
    for (size_t i = 0; i < sizeof STARTS / sizeof *STARTS; i++)
        if (strncmp(text, STARTS[i], strlen(STARTS[i])) == 0) return true;
    return false;
}

/* The source that the access's line is read in; NULL: it is not there, or another one. */
static ft_source *source_of(const ft_ledger *ledger, const ft_finding *finding,
                            const ft_report_access *access)
{
    if (ledger->source) return ledger->source;
    if (!ledger->nearby || !access->line) return NULL;
    char *text = ft_source_text(ledger->nearby, ft_finding_path(finding, access->place.file),
                                access->place.line);
    bool same = text && strcmp(text, access->line) == 0;
    free(text);
    return same ? ledger->nearby : NULL;
}

static bool try_line(const ft_ledger *ledger, ft_source *source, ft_report *report,
                     const ft_finding *finding, const ft_place *place, size_t number, char **where,
                     char **reason)
{
    const char *path = ft_finding_path(finding, place->file),
               *text = ft_source_line(source, path, number);
    if (number != place->line && !is_comment(text)) return false;
    ft_ignore ignore = {0};
    ft_strbuf at = {0};
    ft_strbuf_printf(&at, "%s:%zu", path, number);
    ignore.where = ft_strbuf_take(&at);
    bool found = annotated(ledger, report, finding, text, &ignore);
    if (found) {
        assert(ignore.where && ignore.reason);
        *where = ignore.where;
        *reason = ignore.reason;
        ignore.where = ignore.reason = NULL;
    }
    ft_ignore_release(&ignore);
    return found;
}

bool ft_annotation_find(const ft_ledger *ledger, ft_report *report, const ft_finding *finding,
                        char **where, char **reason)
{
    for (size_t i = 0; i < finding->accesses.len; i++) {
        const ft_place *place = &finding->accesses.data[i].place;
        if (!place->file) continue;
        ft_source *source = source_of(ledger, finding, &finding->accesses.data[i]);
        for (size_t number = place->line; source && number && number + 1 >= place->line; number--)
            if (try_line(ledger, source, report, finding, place, number, where, reason))
                return true;
    }
    return false;
}
