/* Records of findings, by hand after docs/records.md. */
#ifndef FT_TEST_REPORT_RECORDS_H
#define FT_TEST_REPORT_RECORDS_H

#include <stdio.h>
#include <string.h>

#include "report/fingerprint.h"
#include "report/report.h"

/* One of the two accesses of a race. */
typedef struct spot {
    const char *thread, *word, *object, *location, *function, *text;
} spot;

static inline json_t *access_of(const spot *at)
{
    return json_pack("{s:i, s:s, s:s, s:s?, s:s?, s:s?, s:s, s:[]}", "event", 1, "thread",
                     at->thread, "access", at->word, "object", at->object, "location", at->location,
                     "function", at->function, "text", at->text, "locks");
}

static inline json_t *race_of(const spot *one, const spot *two)
{
    char print[FT_FINGERPRINT + 1];
    json_t *record = json_pack("{s:s, s:s, s:s, s:i, s:s, s:s?, s:s, s:[o, o]}", "check", "race",
                               "kind", "write-write", "verdict", "violation", "count", 1, "status",
                               "predicted", "object", one->object, "message", "they race",
                               "accesses", access_of(one), access_of(two));
    ft_fingerprint(record, NULL, print);
    json_object_set_new(record, "fingerprint", json_string(print));
    return record;
}

static inline const char *print_of(const json_t *record)
{
    return ft_json_text(record, "fingerprint", "");
}

static const spot HERE = {"T1", "write", "x", "a.c:10", "pay", "write x = 5"},
                  THERE = {"T2", "write", "x", "a.c:20", "take", "write x = 7"};

static inline spot changed(spot of, size_t member, const char *text)
{
    memcpy((char *)&of + member, &text, sizeof text);
    return of;
}
#define WITH(of, member, text) changed(of, offsetof(spot, member), text)

/* A report of `count` races, in functions f0, f1, ... */
static inline json_t *races(size_t first, size_t count)
{
    json_t *findings = json_array();
    for (size_t i = first; i < first + count; i++) {
        char function[32], location[32];
        snprintf(function, sizeof function, "f%zu", i);
        snprintf(location, sizeof location, "src/a.c:%zu", i + 2);
        spot one = WITH(WITH(HERE, function, function), location, location);
        json_array_append_new(findings, race_of(&one, &THERE));
    }
    return json_pack("{s:s, s:s, s:{}, s:o}", "state", "done", "job", "j1", "checks", "findings",
                     findings);
}

static inline size_t occurrences(const char *text, const char *part)
{
    size_t count = 0;
    for (; (text = strstr(text, part)); text++) count++;
    return count;
}

#endif
