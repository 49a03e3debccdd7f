#include "report/contexts.h"

#include <string.h>

#include "base/strbuf.h"
#include "report/fingerprint.h"
#include "report/internal.h"
#include "verdict/names.h"

static const struct {
    const char *together;
    ft_verdict verdict;
    ft_reason reason;
    const char *words;
} ANSWERS[] = {
    {"not refuted", FT_VERDICT_UNKNOWN, FT_REASON_LEFT_OPEN, "that is not refuted"},
    {"reached", FT_VERDICT_VIOLATION, FT_REASON_EXPLORED, "a run from the entry gets there"},
    {"never", FT_VERDICT_SAFE, FT_REASON_EXCLUSION, "no run gets there"},
};
enum { N_ANSWERS = sizeof ANSWERS / sizeof *ANSWERS };

static size_t answer_of(const json_t *answer)
{
    const char *word = ft_json_text(answer, "together", "");
    for (size_t i = 0; i < N_ANSWERS; i++)
        if (strcmp(ANSWERS[i].together, word) == 0) return i;
    return 0;
}

/* "a.c:3", or "@f:2" without a source. */
static void add_location(const json_t *place, ft_strbuf *out)
{
    if (json_object_get(place, "file"))
        ft_strbuf_printf(out, "%s:%zu", ft_json_text(place, "file", ""),
                         ft_json_count(place, "line"));
    else
        ft_strbuf_printf(out, "@%s:%zu", ft_json_text(place, "function", ""),
                         ft_json_count(place, "instruction"));
}

static json_t *access_of(const json_t *thread, size_t number)
{
    ft_strbuf location = {0};
    const json_t *place = json_array_get(json_object_get(thread, "places"), 0);
    add_location(place, &location);
    json_t *access =
        json_pack("{s:I, s:s, s:s, s:n, s:s, s:s?, s:s, s:n}", "event", (json_int_t)number,
                  "thread", ft_json_text(thread, "name", "?"), "access",
                  ft_json_text(thread, "reading", "before"), "object", "location",
                  ft_strbuf_text(&location), "function", ft_json_text(place, "function", NULL),
                  "text", ft_json_text(thread, "reading", "before"), "locks");
    ft_strbuf_release(&location);
    return access;
}

/* "A before a.c:3 and B waiting a.c:9: a run from the entry gets there, with x = 1" */
static void add_message(const json_t *answer, const char *words, ft_strbuf *out)
{
    size_t i;
    const json_t *thread, *input;
    json_array_foreach(json_object_get(answer, "threads"), i, thread)
    {
        ft_strbuf_printf(out, "%s%s %s ", i ? " and " : "", ft_json_text(thread, "name", "?"),
                         ft_json_text(thread, "reading", ""));
        add_location(json_array_get(json_object_get(thread, "places"), 0), out);
    }
    ft_strbuf_printf(out, ": %s", words);
    json_array_foreach(json_object_get(json_object_get(answer, "replay"), "inputs"), i, input)
    {
        ft_strbuf_printf(out, "%s%s = %lld", i ? ", " : ", with ", ft_json_text(input, "name", "?"),
                         (long long)json_integer_value(json_object_get(input, "value")));
    }
}

static json_t *reason_of(const json_t *answer, size_t which)
{
    ft_strbuf text = {0};
    const char *why = ft_json_text(answer, "reason", NULL);
    if (why)
        ft_strbuf_printf(&text, "%s; assuming that %s", why, ft_json_text(answer, "assuming", ""));
    else if (ANSWERS[which].verdict == FT_VERDICT_VIOLATION)
        ft_strbuf_puts(&text, "the interpreter executed a run that gets there");
    else
        ft_strbuf_printf(&text,
                         "%zu of %zu ways to get there are refuted; %zu runs from the entry "
                         "did not get there",
                         ft_json_count(answer, "refuted"), ft_json_count(answer, "ways"),
                         ft_json_count(answer, "replay_runs"));
    json_t *reason = json_pack("{s:s, s:s}", "pass", ft_reason_name(ANSWERS[which].reason), "text",
                               ft_strbuf_text(&text));
    ft_strbuf_release(&text);
    return reason;
}

json_t *ft_context_record(const json_t *answer)
{
    size_t i, which = answer_of(answer);
    const json_t *thread;
    char print[FT_FINGERPRINT + 1];
    ft_strbuf key = {0}, message = {0};
    json_t *accesses = json_array();
    ft_strbuf_puts(&key, "context|together");
    json_array_foreach(json_object_get(answer, "threads"), i, thread)
    {
        enum { MOST = 3 }; /* of a record */
        json_t *access = access_of(thread, i + 1);
        ft_strbuf_printf(&key, "|%s", ft_json_text(access, "location", ""));
        if (i < MOST) json_array_append(accesses, access);
        json_decref(access);
    }
    add_message(answer, ANSWERS[which].words, &message);
    json_t *record =
        json_pack("{s:s, s:s, s:s, s:i, s:i, s:s, s:s, s:n, s:s, s:s, s:s, s:n, s:o, s:o}", "check",
                  ft_check_name(FT_CHECK_CONTEXT), "kind", "together", "verdict",
                  ft_verdict_name(ANSWERS[which].verdict), "count", 1, "pairs", 1, "model", "ctp",
                  "memory", "sc", "bound", "scope", "program", "key", ft_strbuf_text(&key),
                  "message", ft_strbuf_text(&message), "object", "accesses", accesses, "reason",
                  reason_of(answer, which));
    if (ANSWERS[which].verdict == FT_VERDICT_VIOLATION)
        json_object_set_new(record, "status", json_string("explored"));
    ft_fingerprint(record, NULL, print);
    json_object_set_new(record, "fingerprint", json_string(print));
    ft_strbuf_release(&key);
    ft_strbuf_release(&message);
    return record;
}
