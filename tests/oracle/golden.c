#include "oracle/golden.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/reader.h"
#include "verdict/checker.h"

#define SUFFIX ".expected.json"

static void fail(const char *path, const char *why)
{
    fprintf(stderr, "%s: %s\n", path, why);
    exit(1);
}

/* The first that is there. */
static void find_trace(const char *folder, const char *name, ft_strbuf *path)
{
    static const char *const ENDS[] = {".ndjson", ".std", ".log", ".rapidbin", ".std.xz"};
    for (size_t i = 0; i < sizeof ENDS / sizeof *ENDS; i++) {
        ft_strbuf_clear(path);
        ft_strbuf_printf(path, "%s/%s%s", folder, name, ENDS[i]);
        if (access(path->text, R_OK) == 0) return;
    }
}

static void load(const char *folder, const char *name, ft_golden *golden)
{
    ft_strbuf path = {0};
    ft_error err = FT_ERROR_INIT;
    json_error_t json_err;
    ft_strbuf_printf(&path, "%s/%s%s", folder, name, SUFFIX);
    golden->name = ft_strdup(name);
    golden->expected = json_load_file(path.text, JSON_REJECT_DUPLICATES, &json_err);
    if (!golden->expected) fail(path.text, json_err.text);
    if (!json_is_string(json_object_get(golden->expected, "why"))) fail(path.text, "no why");
    find_trace(folder, name, &path);
    if (ft_trace_read_file(path.text, &golden->trace, &err) != FT_OK) fail(path.text, err.message);
    ft_observe_run(golden->trace);
    if (golden->trace->broken != FT_NO_EVENT) fail(path.text, golden->trace->broken_text);
    ft_strbuf_release(&path);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

ft_wakeups ft_golden_wakeups(const ft_golden *golden)
{
    ft_wakeups wakeups = FT_WAKEUPS_ANY;
    const char *name = json_string_value(json_object_get(golden->expected, "wakeups"));
    if (name && !ft_wakeups_parse(name, &wakeups)) fail(golden->name, "unknown wakeups");
    return wakeups;
}

static void load_and_call(const char *folder, const char *name,
                          void (*each)(void *context, const ft_golden *golden), void *context)
{
    ft_golden golden = {0};
    load(folder, name, &golden);
    each(context, &golden);
    ft_trace_free(golden.trace);
    json_decref(golden.expected);
    free(golden.name);
}

unsigned ft_golden_each(const char *folder, void (*each)(void *context, const ft_golden *golden),
                        void *context)
{
    FT_VEC(char *) names = {0};
    DIR *dir = opendir(folder);
    if (!dir) fail(folder, "cannot be opened");
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        const char *end = strstr(entry->d_name, SUFFIX);
        if (end) ft_vec_push(&names, ft_strndup(entry->d_name, (size_t)(end - entry->d_name)));
    }
    closedir(dir);
    if (names.len) qsort(names.data, names.len, sizeof *names.data, by_name);
    const char *only = getenv("FT_CASE");
    for (size_t i = 0; i < names.len; i++) {
        if (!only || strcmp(only, names.data[i]) == 0)
            load_and_call(folder, names.data[i], each, context);
        free(names.data[i]);
    }
    unsigned count = (unsigned)names.len;
    ft_vec_release(&names);
    return count;
}

/* ---- violations as sorted text ---- */

typedef struct row {
    unsigned events[FT_CLAIM_MAX_EVENTS], n;
} row;

static int by_events(const void *a, const void *b)
{
    const row *x = a, *y = b;
    for (unsigned k = 0; k < FT_CLAIM_MAX_EVENTS; k++)
        if (x->events[k] != y->events[k]) return x->events[k] < y->events[k] ? -1 : 1;
    return 0;
}

static char *rows_text(row *rows, size_t count)
{
    ft_strbuf text = {0};
    if (count) qsort(rows, count, sizeof *rows, by_events);
    ft_strbuf_puts(&text, "");
    for (size_t i = 0; i < count; i++) {
        if (i) ft_strbuf_puts(&text, " ");
        for (unsigned k = 0; k < rows[i].n; k++)
            ft_strbuf_printf(&text, k ? ",%u" : "%u", rows[i].events[k]);
    }
    char *result = ft_strdup(ft_strbuf_text(&text));
    ft_strbuf_release(&text);
    return result;
}

static void sort_pair(row *r)
{
    if (r->n != 2 || r->events[0] < r->events[1]) return;
    unsigned first = r->events[0];
    r->events[0] = r->events[1];
    r->events[1] = first;
}

char *ft_golden_expected_text(const json_t *check)
{
    const json_t *list = json_object_get(check, "violation");
    size_t count = json_array_size(list);
    row *rows = ft_calloc(count + 1, sizeof *rows);
    for (size_t i = 0; i < count; i++) {
        const json_t *events = json_array_get(list, i);
        rows[i].n = (unsigned)json_array_size(events);
        for (unsigned k = 0; k < rows[i].n && k < FT_CLAIM_MAX_EVENTS; k++)
            rows[i].events[k] = (unsigned)json_integer_value(json_array_get(events, k));
        sort_pair(&rows[i]);
    }
    char *text = rows_text(rows, count);
    free(rows);
    return text;
}

char *ft_golden_claims_text(const ft_claim *claims, size_t count)
{
    row *rows = ft_calloc(count + 1, sizeof *rows);
    for (size_t i = 0; i < count; i++) {
        rows[i].n = ft_claim_events(&claims[i]);
        for (unsigned k = 0; k < rows[i].n; k++) rows[i].events[k] = claims[i].events[k] + 1;
        sort_pair(&rows[i]);
    }
    char *text = rows_text(rows, count);
    free(rows);
    return text;
}
