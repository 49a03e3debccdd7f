#include "report/certificates.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/strbuf.h"
#include "report/fingerprint.h"
#include "report/internal.h"
#include "verdict/names.h"

static const char CHECK[] = "certificate", PROVED[] = "proved", REFUTED[] = "refuted",
                  UNKNOWN[] = "unknown";

/* Of the answers, from best to worst. */
static const struct {
    const char *answer;
    ft_verdict verdict;
    ft_reason reason;
} ANSWERS[] = {{PROVED, FT_VERDICT_SAFE, FT_REASON_UNSAT},
               {UNKNOWN, FT_VERDICT_UNKNOWN, FT_REASON_LEFT_OPEN},
               {REFUTED, FT_VERDICT_VIOLATION, FT_REASON_SAT},
               {"diverges", FT_VERDICT_VIOLATION, FT_REASON_SAT}};
enum { N_ANSWERS = sizeof ANSWERS / sizeof *ANSWERS };

/* UNKNOWN, if it is none of them. */
static size_t rank_of(const char *answer)
{
    for (size_t i = 0; i < N_ANSWERS; i++)
        if (strcmp(answer, ANSWERS[i].answer) == 0) return i;
    return 1;
}

/* ---- records ---- */

char *ft_certificate_key(const char *check, const char *epoch, const char *schedule)
{
    ft_strbuf key = {0};
    ft_strbuf_printf(&key, "%s|%s|%s", CHECK, check, epoch);
    if (schedule) ft_strbuf_printf(&key, "|%s", schedule);
    return ft_strbuf_take(&key);
}

/* "k", "k@0.1": of another thread than the first; "k.2": the second value. */
static void add_read(const json_t *read, ft_strbuf *out)
{
    const char *thread = ft_json_text(read, "thread", "0");
    size_t n = ft_json_count(read, "n");
    ft_strbuf_puts(out, ft_json_text(read, "name", ""));
    if (strcmp(thread, "0") != 0) ft_strbuf_printf(out, "@%s", thread);
    if (n > 1) ft_strbuf_printf(out, ".%zu", n);
    ft_strbuf_printf(out, " = %lld", (long long)json_integer_value(json_object_get(read, "value")));
}

/* Of many inputs the first ones. */
static void add_run(const json_t *run, ft_strbuf *out)
{
    enum { MOST = 40 };
    size_t i, n = json_array_size(run);
    const json_t *read;
    json_array_foreach((json_t *)(uintptr_t)run, i, read)
    {
        ft_strbuf_puts(out, i ? ", " : ", from the entry with ");
        if (i == MOST) return ft_strbuf_printf(out, "%zu more inputs", n - i);
        add_read(read, out);
    }
}

void ft_certificate_inputs(const json_t *certificate, ft_strbuf *out)
{
    const char *label, *before = ", with ";
    json_t *value;
    json_object_foreach(json_object_get(certificate, "inputs"), label, value)
    {
        ft_strbuf_printf(out, "%s%s = %lld", before, label, (long long)json_integer_value(value));
        before = ", ";
    }
    if (!json_object_get(certificate, "inputs")) add_run(json_object_get(certificate, "run"), out);
}

static char *message_of(const json_t *certificate)
{
    ft_strbuf out = {0};
    const char *schedule = ft_json_text(certificate, "schedule", NULL);
    const char *text = ft_json_text(certificate, "text", "");
    ft_strbuf_printf(&out, "%s of ", ft_json_text(certificate, "check", ""));
    if (schedule) ft_strbuf_printf(&out, "schedule %s in ", schedule);
    ft_strbuf_printf(&out, "epoch %s is %s", ft_json_text(certificate, "epoch", ""),
                     ft_json_text(certificate, "answer", UNKNOWN));
    if (*text) ft_strbuf_printf(&out, ": %s", text);
    ft_certificate_inputs(certificate, &out);
    if (json_is_true(json_object_get(certificate, "replayed"))) ft_strbuf_puts(&out, " (executed)");
    return ft_strbuf_take(&out);
}

static json_t *accesses_of(const json_t *certificate)
{
    size_t i;
    const json_t *place;
    json_t *all = json_array();
    json_array_foreach(json_object_get(certificate, "places"), i, place)
    {
        const char *location = ft_json_text(place, "location", NULL);
        const char *function = ft_json_text(place, "function", NULL);
        json_array_append_new(all, json_pack("{s:I, s:s, s:s, s:n, s:s?, s:s?, s:s, s:n}", "event",
                                             (json_int_t)i + 1, "thread", "a thread", "access",
                                             "is here", "object", "location", location, "function",
                                             function, "text", "place", "locks"));
    }
    return all;
}

/* The witness is the record's. */
static void take_witness(const json_t *certificate, json_t *record)
{
    json_t *witness = json_object_get(certificate, "witness");
    if (!witness) return;
    json_t *rest = json_copy((json_t *)(uintptr_t)certificate);
    json_object_del(rest, "witness");
    json_object_set_new(record, "certificate", rest);
    json_object_set(record, "witness", witness);
}

json_t *ft_certificate_record(const json_t *certificate)
{
    size_t rank = rank_of(ft_json_text(certificate, "answer", UNKNOWN));
    const char *check = ft_json_text(certificate, "check", ""),
               *text = ft_json_text(certificate, "text", "");
    bool executed = json_is_true(json_object_get(certificate, "replayed"));
    char *key = ft_certificate_key(check, ft_json_text(certificate, "epoch", ""),
                                   ft_json_text(certificate, "schedule", NULL));
    char *message = message_of(certificate);
    char print[FT_FINGERPRINT + 1];
    json_t *record = json_pack(
        "{s:s, s:s, s:s, s:i, s:i, s:s, s:s, s:n, s:s, s:s, s:s, s:n, s:o, s:{s:s, s:s}, s:O}",
        "check", CHECK, "kind", check, "verdict", ft_verdict_name(ANSWERS[rank].verdict), "count",
        1, "pairs", 1, "model", "ctp", "memory", "sc", "bound", "scope", "program", "key", key,
        "message", message, "object", "accesses", accesses_of(certificate), "reason", "pass",
        ft_reason_name(ANSWERS[rank].reason), "text", *text ? text : "the solver answers unsat",
        "certificate", certificate);
    if (ANSWERS[rank].verdict == FT_VERDICT_VIOLATION)
        json_object_set_new(record, "status", json_string(executed ? "explored" : "predicted"));
    ft_fingerprint(record, NULL, print);
    json_object_set_new(record, "fingerprint", json_string(print));
    take_witness(certificate, record);
    free(key);
    free(message);
    return record;
}

/* The parts of a key behind its check; the last one may be missing. */
json_t *ft_certificate_named(const char *key)
{
    static const char *const NAMES[] = {"check", "epoch", "schedule"};
    json_t *made = json_object();
    const char *at = strchr(key, '|');
    for (size_t i = 0; at && i < sizeof NAMES / sizeof *NAMES; i++) {
        size_t length = strcspn(at + 1, "|");
        json_object_set_new(made, NAMES[i], json_stringn(at + 1, length));
        at = at[1 + length] ? at + 1 + length : NULL;
    }
    return made;
}

json_t *ft_certificate_of(const json_t *record)
{
    json_t *own = json_object_get(record, "certificate");
    if (own) return json_incref(own);
    json_t *made = ft_certificate_named(ft_json_text(record, "key", ""));
    const char *why = ft_json_text(json_object_get(record, "reason"), "text", "");
    json_object_set_new(made, "answer", json_string(UNKNOWN));
    json_object_set_new(made, "text", json_string(why));
    json_object_set_new(made, "replayed", json_false());
    return made;
}

/* ---- the answer ---- */

static bool is_of(const json_t *certificate, const json_t *row)
{
    return strcmp(ft_json_text(certificate, "check", ""), ft_json_text(row, "check", "")) == 0;
}

/* A kind has the worst answer of its certificates; one with too few of them is not known. */
static size_t answer_row(const json_t *row, const json_t *certificates)
{
    size_t i, worst = 0, asked = ft_json_count(row, "asked");
    const json_t *one;
    json_array_foreach((json_t *)(uintptr_t)certificates, i, one)
    {
        if (!is_of(one, row)) continue;
        size_t rank = rank_of(ft_json_text(one, "answer", UNKNOWN));
        if (rank > worst) worst = rank;
        asked -= asked > 0;
    }
    return asked > 0 && !worst ? rank_of(UNKNOWN) : worst;
}

static json_t *failed_of(const json_t *certificate)
{
    json_t *failed = json_copy((json_t *)(uintptr_t)certificate);
    json_object_del(failed, "smt");
    json_object_del(failed, "leaves");
    return failed;
}

static void add_failed_of(const json_t *row, const json_t *certificates, json_t *failed)
{
    size_t i;
    const json_t *one;
    json_array_foreach((json_t *)(uintptr_t)certificates, i, one)
    {
        if (is_of(one, row) && strcmp(ft_json_text(one, "answer", UNKNOWN), PROVED) != 0)
            json_array_append_new(failed, failed_of(one));
    }
}

/* By kind, so that the list is the same in whichever order they were asked. */
static void add_failed(json_t *answer, const json_t *certificates)
{
    size_t i, leaves = 0;
    json_t *one, *failed = json_array(), *smt = json_object();
    json_array_foreach((json_t *)(uintptr_t)certificates, i, one)
    {
        json_object_update(smt, json_object_get(one, "smt"));
        leaves += ft_json_count(one, "leaves");
    }
    json_array_foreach(json_object_get(answer, "checks"), i, one)
    {
        add_failed_of(one, certificates, failed);
    }
    if (json_object_size(smt)) json_object_set(answer, "smt", smt);
    json_object_set_new(answer, "leaves", json_integer((json_int_t)leaves));
    json_object_set_new(answer, "failed", failed);
    json_decref(smt);
}

/* Proved in vain. */
static void doubt(json_t *answer, json_t *row)
{
    json_object_set_new(row, "answer", json_string(UNKNOWN));
    json_array_append_new(json_object_get(answer, "failed"),
                          json_pack("{s:s, s:s, s:s, s:b}", "check", ft_json_text(row, "check", ""),
                                    "answer", UNKNOWN, "text",
                                    "not every other certificate is proved", "replayed", false));
}

void ft_certificates_conclude(json_t *answer, const json_t *certificates)
{
    size_t i;
    json_t *row, *rows = json_object_get(answer, "checks");
    bool proved = json_array_size(rows) > 0;
    FT_REQUIRE(json_is_object(answer));
    add_failed(answer, certificates);
    json_array_foreach(rows, i, row)
    {
        size_t rank = answer_row(row, certificates);
        json_object_set_new(row, "answer", json_string(ANSWERS[rank].answer));
        if (json_is_true(json_object_get(row, "needed")) && rank) proved = false;
    }
    json_array_foreach(rows, i, row)
    {
        bool needed = json_is_true(json_object_get(row, "needed"));
        if (!proved && !needed && strcmp(ft_json_text(row, "answer", ""), PROVED) == 0)
            doubt(answer, row);
    }
    json_object_set_new(answer, "proved", json_boolean(proved));
}

static void add_note(json_t *notes, const char *code, json_t *text)
{
    json_array_append_new(notes, json_pack("{s:s, s:o}", "code", code, "text", text));
}

json_t *ft_certificates_notes(const json_t *answer)
{
    size_t i;
    const json_t *row, *proved = json_object_get(answer, "proved");
    json_t *notes = json_array();
    if (proved)
        add_note(notes, "cover",
                 json_string(json_is_true(proved)
                                 ? "all six certificates hold: every input is covered"
                                 : "not all six certificates hold: nothing is concluded from the "
                                   "set"));
    json_array_foreach(json_object_get(answer, "checks"), i, row)
    {
        add_note(notes, "cover",
                 json_sprintf("%s: %s", ft_json_text(row, "check", ""),
                              ft_json_text(row, "answer", "not asked yet")));
    }
    char *whole = json_dumps(answer, JSON_COMPACT);
    add_note(notes, "cover-answer", json_string(whole));
    free(whole);
    return notes;
}

json_t *ft_certificates_report(const json_t *answer)
{
    size_t i, candidates = 0;
    const json_t *one;
    json_t *records = json_array(), *notes = json_array();
    json_array_foreach(json_object_get(answer, "checks"), i, one)
    {
        candidates += ft_json_count(one, "asked");
        add_note(notes, "cover",
                 json_sprintf("%s: %s", ft_json_text(one, "check", ""),
                              ft_json_text(one, "answer", UNKNOWN)));
    }
    json_array_foreach(json_object_get(answer, "failed"), i, one)
    {
        /* The others are conclusions, and no questions. */
        if (json_object_get(one, "epoch"))
            json_array_append_new(records, ft_certificate_record(one));
    }
    json_t *report = ft_report_of_records(answer, CHECK, candidates, records, notes);
    json_decref(records);
    json_decref(notes);
    return report;
}
