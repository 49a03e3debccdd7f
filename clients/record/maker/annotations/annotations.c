#include "maker/annotations/annotations.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/memory_name.h"

enum { MOST_WORDS = 4, LINE = 4096 };

typedef enum rule_kind { RULE_FUNCTION, RULE_FILE, RULE_VARIABLE, RULE_ORDER } rule_kind;

typedef struct rule {
    rule_kind kind;
    char *name, *then; /* then: of an order */
    uint32_t line;
    bool used;
} rule;

struct ft_annotations {
    FT_VEC(rule) rules;
};

/* ---- reading ---- */

static size_t split(char *line, char *words[MOST_WORDS])
{
    static const char spaces[] = " \t";
    size_t n = 0;
    line[strcspn(line, "#\r\n")] = 0;
    for (char *at = line + strspn(line, spaces); *at && n < MOST_WORDS;) {
        words[n++] = at;
        at += strcspn(at, spaces);
        size_t gap = strspn(at, spaces);
        *at = 0;
        at += gap;
    }
    return n;
}

static ft_status read_rule(ft_annotations *a, char *line, uint32_t number, const char *path,
                           ft_error *err)
{
    static const struct {
        const char *what;
        rule_kind kind;
    } WHATS[] = {{"function", RULE_FUNCTION}, {"file", RULE_FILE}, {"variable", RULE_VARIABLE}};
    char *words[MOST_WORDS];
    size_t n = split(line, words);
    if (n == 0) return FT_OK;
    rule one = {.line = number};
    bool known = n == 3 && strcmp(words[0], "order") == 0;
    if (known) {
        one.kind = RULE_ORDER;
        one.name = ft_strdup(words[1]);
        one.then = ft_strdup(words[2]);
    }
    for (size_t i = 0; n == 3 && i < sizeof WHATS / sizeof *WHATS; i++) {
        if (strcmp(words[0], "ignore") != 0 || strcmp(words[1], WHATS[i].what) != 0) continue;
        one.kind = WHATS[i].kind;
        one.name = ft_strdup(words[2]);
        known = true;
    }
    if (known) {
        ft_vec_push(&a->rules, one);
        return FT_OK;
    }
    return ft_error_set(err, FT_USAGE,
                        "%s:%u: expected \"ignore function NAME\", \"ignore file NAME\", \"ignore "
                        "variable NAME\" or \"order FUNCTION FUNCTION\"",
                        path, number);
}

static ft_status read_lines(ft_annotations *a, FILE *file, const char *path, ft_error *err)
{
    char line[LINE];
    ft_status status = FT_OK;
    for (uint32_t number = 1; status == FT_OK && fgets(line, sizeof line, file); number++) {
        if (strlen(line) == sizeof line - 1)
            return ft_error_set(err, FT_USAGE, "%s:%u: the line is too long", path, number);
        status = read_rule(a, line, number, path, err);
    }
    if (status == FT_OK && ferror(file))
        status = ft_error_set(err, FT_USAGE, "%s: cannot be read: %s", path, strerror(errno));
    return status;
}

ft_status ft_annotations_read(const char *path, ft_annotations **annotations, ft_error *err)
{
    FT_REQUIRE(path && annotations);
    FILE *file = fopen(path, "re");
    if (!file)
        return ft_error_set(err, FT_USAGE, "%s: cannot be opened: %s", path, strerror(errno));
    ft_annotations *a = ft_calloc(1, sizeof *a);
    ft_status status = read_lines(a, file, path, err);
    fclose(file);
    if (status == FT_OK)
        *annotations = a;
    else
        ft_annotations_free(a);
    return status;
}

void ft_annotations_free(ft_annotations *a)
{
    if (!a) return;
    for (size_t i = 0; i < a->rules.len; i++) {
        free(a->rules.data[i].name);
        free(a->rules.data[i].then);
    }
    ft_vec_release(&a->rules);
    free(a);
}

uint32_t ft_annotations_unused(const ft_annotations *a, uint32_t after)
{
    for (size_t i = 0; i < a->rules.len; i++)
        if (!a->rules.data[i].used && a->rules.data[i].line > after) return a->rules.data[i].line;
    return 0;
}

/* ---- what a rule is about ---- */

static bool fits(const char *pattern, const char *text, size_t length)
{
    size_t n = strlen(pattern);
    if (n && pattern[n - 1] == '*') return length >= n - 1 && memcmp(pattern, text, n - 1) == 0;
    return length == n && memcmp(pattern, text, n) == 0;
}

static bool fits_function(const char *pattern, const ft_location *at)
{
    return at->function && fits(pattern, at->function, strlen(at->function));
}

static bool fits_file(const char *pattern, const ft_location *at)
{
    return at->text && fits(pattern, at->text, strcspn(at->text, ":"));
}

/* "name", "name+8", "name.member", "name[3]", and the "#2" that makes a name unique. */
static bool fits_name(const char *pattern, const char *name)
{
    size_t length = strcspn(name, "+#");
    if (fits(pattern, name, length)) return true;
    return strncmp(name, "heap(", 5) != 0 && fits(pattern, name, strcspn(name, "+.[#"));
}

static bool fits_variable(const char *pattern, const char *name)
{
    ft_strbuf plain = {0};
    ft_memory_name_add_plain(name, &plain);
    bool is = fits_name(pattern, name) || fits_name(pattern, ft_strbuf_text(&plain));
    ft_strbuf_release(&plain);
    return is;
}

bool ft_annotations_concern(const ft_annotations *a, const ft_location *at)
{
    for (size_t i = 0; i < a->rules.len; i++) {
        const rule *one = &a->rules.data[i];
        if (one->kind == RULE_FILE && fits_file(one->name, at)) return true;
        if (one->kind == RULE_FUNCTION && fits_function(one->name, at)) return true;
        if (one->kind != RULE_ORDER) continue;
        if (fits_function(one->name, at) || fits_function(one->then, at)) return true;
    }
    return false;
}

/* ---- accesses ---- */

static bool is_ignored(const rule *one, const ft_trace *trace, uint32_t e)
{
    const ft_location *at = &trace->locations[trace->loc[e]];
    if (one->kind == RULE_FUNCTION) return fits_function(one->name, at);
    if (one->kind == RULE_FILE) return fits_file(one->name, at);
    if (one->kind != RULE_VARIABLE) return false;
    ft_access scratch;
    uint32_t count;
    const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
    for (uint32_t i = 0; i < count; i++) {
        assert(accesses[i].variable < trace->shared.len);
        if (!fits_variable(one->name, trace->shared.names[accesses[i].variable])) return false;
    }
    return count > 0;
}

static void ignore_accesses(rule *one, ft_trace *trace)
{
    for (uint32_t e = 0; e < trace->n_events; e++) {
        if (!ft_event_kind_may_stand_aside(trace->kind[e])) continue;
        if (!is_ignored(one, trace, e)) continue;
        trace->flags[e] |= FT_FLAG_SYNTHETIC;
        one->used = true;
    }
}

/* ---- orders ---- */

typedef struct insertion {
    uint32_t before; /* event */
    uint32_t edge;
    uint16_t thread;
    ft_event_kind kind;
} insertion;

typedef struct orderer {
    ft_trace *trace;
    rule *rule;
    bool *leaves;     /* per event: the last of its thread's stay in the first function */
    uint32_t *latest; /* per thread: the edge out of its last stay, FT_NO_ID: none */
    uint32_t *taken;  /* thread * threads + other: the other's edge that it came behind last */
    bool *inside;     /* per thread: it is in the second function */
    FT_VEC(insertion) all;
} orderer;

static void find_leaves(orderer *o)
{
    const ft_trace *trace = o->trace;
    uint32_t n = trace->threads.len, *last = ft_alloc(n * sizeof *last);
    for (uint32_t t = 0; t < n; t++) last[t] = FT_NO_EVENT;
    for (uint32_t e = 0; e < trace->n_events; e++) {
        uint32_t t = trace->thread[e];
        bool in = fits_function(o->rule->name, &trace->locations[trace->loc[e]]);
        if (in && last[t] != FT_NO_EVENT) o->leaves[last[t]] = false;
        o->leaves[e] = in;
        last[t] = in ? e : FT_NO_EVENT;
    }
    free(last);
}

static void leave(orderer *o, uint32_t e)
{
    ft_strbuf name = {0};
    ft_strbuf_printf(&name, "%s %u", o->rule->name, o->trace->edges.len + 1);
    uint32_t edge = ft_intern_add(&o->trace->edges, name.text, name.len);
    assert(edge + 1 == o->trace->edges.len); /* each stay has an edge of its own */
    ft_strbuf_release(&name);
    o->latest[o->trace->thread[e]] = edge;
    ft_vec_push(&o->all, (insertion){e + 1, edge, o->trace->thread[e], FT_EVENT_EDGE_OUT});
}

static void enter(orderer *o, uint32_t e)
{
    uint32_t t = o->trace->thread[e], n = o->trace->threads.len;
    for (uint32_t other = 0; other < n; other++) {
        uint32_t *taken = &o->taken[(size_t)t * n + other];
        if (other == t || o->latest[other] == *taken) continue;
        *taken = o->latest[other];
        ft_vec_push(&o->all, (insertion){e, *taken, (uint16_t)t, FT_EVENT_EDGE_IN});
        o->rule->used = true;
    }
}

static void find_insertions(orderer *o)
{
    const ft_trace *trace = o->trace;
    find_leaves(o);
    for (uint32_t e = 0; e < trace->n_events; e++) {
        uint32_t t = trace->thread[e];
        bool in = o->rule->then && fits_function(o->rule->then, &trace->locations[trace->loc[e]]);
        if (in && !o->inside[t]) enter(o, e);
        o->inside[t] = in;
        if (o->leaves[e]) leave(o, e);
    }
}

static void *grown(void *array, size_t size, size_t n)
{
    return array ? ft_realloc(array, n, size) : NULL;
}

static void copy_event(ft_trace *trace, uint32_t to, uint32_t from)
{
    trace->kind[to] = trace->kind[from];
    trace->flags[to] = trace->flags[from];
    trace->thread[to] = trace->thread[from];
    trace->object[to] = trace->object[from];
    trace->loc[to] = trace->loc[from];
    trace->data[to] = trace->data[from];
    if (trace->hook) trace->hook[to] = trace->hook[from];
    if (trace->context) trace->context[to] = trace->context[from];
}

static void put_edge(ft_trace *trace, uint32_t to, const insertion *one)
{
    trace->kind[to] = (uint8_t)one->kind;
    trace->flags[to] = 0;
    trace->thread[to] = one->thread;
    trace->object[to] = one->edge;
    trace->loc[to] = FT_NO_LOC;
    trace->data[to] = 0;
    if (trace->hook) trace->hook[to] = 0;
    if (trace->context) trace->context[to] = FT_NO_CONTEXT;
}

static bool are_ascending(const insertion *all, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (all[i - 1].before > all[i].before) return false;
    return true;
}

/* Moves events up from the end and fills the gaps; notes speak of events by number. */
static void insert_all(ft_trace *trace, const insertion *all, size_t n)
{
    FT_REQUIRE(n);
    FT_CHECK(are_ascending(all, n));
    uint32_t old = trace->n_events, to = old + (uint32_t)n - 1;
    size_t size = (size_t)old + n;
    trace->kind = grown(trace->kind, sizeof *trace->kind, size);
    trace->flags = grown(trace->flags, sizeof *trace->flags, size);
    trace->thread = grown(trace->thread, sizeof *trace->thread, size);
    trace->object = grown(trace->object, sizeof *trace->object, size);
    trace->loc = grown(trace->loc, sizeof *trace->loc, size);
    trace->data = grown(trace->data, sizeof *trace->data, size);
    trace->hook = grown(trace->hook, sizeof *trace->hook, size);
    trace->context = grown(trace->context, sizeof *trace->context, size);
    trace->n_events = (uint32_t)size;
    for (uint32_t e = old;; e--) {
        for (; n && all[n - 1].before == e; n--) put_edge(trace, to--, &all[n - 1]);
        if (e == 0) break;
        assert(to >= e - 1 &&
               (size_t)(to - (e - 1)) == n); /* so many insertions are still to come */
        copy_event(trace, to, e - 1);
        for (uint32_t i = 0; i < trace->n_notes; i++)
            if (trace->notes[i].event == e - 1) trace->notes[i].event = to;
        to--;
    }
}

static void order_functions(rule *one, ft_trace *trace)
{
    size_t n = trace->threads.len;
    orderer o = {.trace = trace,
                 .rule = one,
                 .leaves = ft_calloc(trace->n_events, sizeof *o.leaves),
                 .latest = ft_alloc(n * sizeof *o.latest),
                 .taken = ft_alloc(n * n * sizeof *o.taken),
                 .inside = ft_calloc(n, sizeof *o.inside)};
    for (size_t i = 0; i < n; i++) o.latest[i] = FT_NO_ID;
    for (size_t i = 0; i < n * n; i++) o.taken[i] = FT_NO_ID;
    find_insertions(&o);
    if (one->used && o.all.len < FT_NO_EVENT - 1 - (size_t)trace->n_events)
        insert_all(trace, o.all.data, o.all.len);
    free(o.leaves);
    free(o.latest);
    free(o.taken);
    free(o.inside);
    ft_vec_release(&o.all);
}

/* Caches in headers that every program may have: threads fill them with the same bytes. */
bool ft_annotations_is_known(const ft_location *at)
{
    static const char *const FILES[] = {"locale_facets.h"}; /* libstdc++: ctype::narrow, widen */
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++)
        if (fits_file(FILES[i], at)) return true;
    return false;
}

/* A shared_ptr that is made of a weak_ptr (its lock()) looks at the count of references once more,
 * behind its own update: only whether that is 0, which its own reference rules out whatever others
 * make of it meanwhile. What the program itself asks for (use_count) comes from another caller. */
bool ft_annotations_is_idle(const ft_location *caller, const ft_location *outer)
{
    static const char FILE[] = "shared_ptr_base.h";
    return fits_file(FILE, caller) && fits_function("_M_get_use_count", caller) &&
           fits_file(FILE, outer) && fits_function("__shared_ptr", outer);
}

void ft_annotations_apply(ft_annotations *a, ft_trace *trace)
{
    for (size_t i = 0; i < a->rules.len; i++) {
        rule *one = &a->rules.data[i];
        if (one->kind != RULE_ORDER)
            ignore_accesses(one, trace);
        else if (!trace->n_paths)
            order_functions(one, trace);
    }
}
