#include "engine/summary.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

typedef enum group { VARIABLES, LOCKS, LOCATIONS, GROUPS } group;

/* How one object is used. A handover is a use by another thread than the one before. */
typedef struct tally {
    uint32_t id;
    uint32_t uses, writes, handovers, threads;
    uint16_t last; /* thread */
} tally;

typedef struct thread_tally {
    uint32_t events, first, last, parent;
} thread_tally;

typedef struct summary {
    const ft_trace *trace;
    tally *objects[GROUPS];
    uint32_t counts[GROUPS];
    thread_tally *threads;
    uint32_t kinds[FT_EVENT_KINDS];
    uint32_t per_column, columns, rows;
    uint32_t *cells; /* of the timeline: rows * columns */
    /* group, object and thread of each use that began a run of uses by one thread */
    FT_VEC(uint64_t) pairs;
} summary;

/* ---- Counting -------------------------------------------------------------------------------- */

static void use(summary *s, group g, uint32_t id, uint16_t thread, bool writes)
{
    tally *t = &s->objects[g][id];
    bool turns = t->uses == 0 || t->last != thread;
    if (turns) ft_vec_push(&s->pairs, (uint64_t)g << 48 | (uint64_t)id << 16 | thread);
    if (turns && t->uses > 0) t->handovers++;
    t->uses++;
    t->writes += writes;
    t->last = thread;
}

static bool takes_lock(ft_event_kind kind)
{
    return kind == FT_EVENT_ACQUIRE || kind == FT_EVENT_ACQUIRE_SHARED;
}

static void count_event(summary *s, uint32_t e)
{
    const ft_trace *trace = s->trace;
    uint16_t thread = trace->thread[e];
    ft_event_kind kind = (ft_event_kind)trace->kind[e];
    thread_tally *t = &s->threads[thread];
    ft_access scratch;
    uint32_t n;
    if (t->events++ == 0) t->first = e;
    t->last = e;
    s->kinds[kind]++;
    if (thread < s->rows) s->cells[thread * s->columns + e / s->per_column]++;
    const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &n);
    for (uint32_t i = 0; i < n; i++)
        use(s, VARIABLES, accesses[i].variable, thread, accesses[i].write);
    if (takes_lock(kind)) use(s, LOCKS, trace->object[e], thread, false);
    if (trace->loc[e] != FT_NO_LOC) use(s, LOCATIONS, trace->loc[e], thread, false);
    if (kind == FT_EVENT_FORK) s->threads[trace->object[e]].parent = thread;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void count_threads(summary *s)
{
    if (s->pairs.len) qsort(s->pairs.data, s->pairs.len, sizeof *s->pairs.data, by_value);
    for (size_t i = 0; i < s->pairs.len; i++) {
        uint64_t pair = s->pairs.data[i];
        if (i > 0 && pair == s->pairs.data[i - 1]) continue;
        s->objects[pair >> 48][(uint32_t)(pair >> 16)].threads++;
    }
}

/* Variables that several threads use come first, then by how often values pass between threads,
 * then by uses. */
static int by_heat(const void *a, const void *b)
{
    const tally *x = a, *y = b;
    if ((x->threads > 1) != (y->threads > 1)) return x->threads > 1 ? -1 : 1;
    if (x->handovers != y->handovers) return x->handovers > y->handovers ? -1 : 1;
    if (x->uses != y->uses) return x->uses > y->uses ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static json_t *text_or_null(const char *text)
{
    return text ? json_string(text) : json_null();
}

static json_t *variable_line(const ft_trace *trace, const tally *t)
{
    return json_pack("{s:s, s:I, s:I, s:I, s:I}", "variable", trace->shared.names[t->id], "reads",
                     (json_int_t)(t->uses - t->writes), "writes", (json_int_t)t->writes, "threads",
                     (json_int_t)t->threads, "handovers", (json_int_t)t->handovers);
}

static json_t *lock_line(const ft_trace *trace, const tally *t)
{
    return json_pack("{s:s, s:s, s:I, s:I, s:I}", "lock", trace->locks.names[t->id], "kind",
                     ft_lock_kind_name((ft_lock_kind)trace->lock_kind[t->id]), "acquires",
                     (json_int_t)t->uses, "threads", (json_int_t)t->threads, "handovers",
                     (json_int_t)t->handovers);
}

static json_t *location_line(const ft_trace *trace, const tally *t)
{
    return json_pack("{s:s, s:o, s:I, s:I}", "location", trace->locations[t->id].text, "function",
                     text_or_null(trace->locations[t->id].function), "events", (json_int_t)t->uses,
                     "threads", (json_int_t)t->threads);
}

static const struct {
    const char *name;
    json_t *(*line)(const ft_trace *trace, const tally *t);
} LISTS[GROUPS] = {[VARIABLES] = {"variables", variable_line},
                   [LOCKS] = {"locks", lock_line},
                   [LOCATIONS] = {"locations", location_line}};

static uint32_t used(const summary *s, group g)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->counts[g]; i++) count += s->objects[g][i].uses > 0;
    return count;
}

static void put_lists(summary *s, json_t *out, json_t *totals)
{
    for (int g = 0; g < GROUPS; g++) {
        json_t *list = json_array();
        json_object_set_new(out, LISTS[g].name, list);
        json_object_set_new(totals, LISTS[g].name, json_integer(used(s, (group)g)));
        if (s->counts[g]) qsort(s->objects[g], s->counts[g], sizeof *s->objects[g], by_heat);
        for (uint32_t i = 0; i < s->counts[g] && i < FT_SUMMARY_LIST; i++)
            if (s->objects[g][i].uses)
                json_array_append_new(list, LISTS[g].line(s->trace, &s->objects[g][i]));
    }
}

static json_t *threads_json(const summary *s)
{
    json_t *list = json_array();
    for (uint32_t t = 0; t < s->trace->threads.len && t < FT_SUMMARY_THREADS; t++) {
        const thread_tally *own = &s->threads[t];
        bool forked = own->parent != UINT32_MAX;
        const char *parent = forked ? ft_trace_thread_name(s->trace, own->parent) : NULL;
        json_array_append_new(list, json_pack("{s:s, s:I, s:I, s:I, s:o}", "thread",
                                              ft_trace_thread_name(s->trace, t), "events",
                                              (json_int_t)own->events, "first",
                                              (json_int_t)(own->events ? own->first + 1 : 0),
                                              "last", (json_int_t)(own->events ? own->last + 1 : 0),
                                              "parent", text_or_null(parent)));
    }
    return list;
}

static json_t *kinds_json(const summary *s)
{
    json_t *kinds = json_object();
    for (int k = 0; k < FT_EVENT_KINDS; k++)
        if (s->kinds[k])
            json_object_set_new(kinds, ft_event_kind_name((ft_event_kind)k),
                                json_integer(s->kinds[k]));
    return kinds;
}

static json_t *timeline_json(const summary *s)
{
    json_t *names = json_array(), *rows = json_array();
    for (uint32_t t = 0; t < s->rows; t++) {
        json_t *row = json_array();
        for (uint32_t c = 0; c < s->columns; c++)
            json_array_append_new(row, json_integer(s->cells[t * s->columns + c]));
        json_array_append_new(names, json_string(ft_trace_thread_name(s->trace, t)));
        json_array_append_new(rows, row);
    }
    return json_pack("{s:I, s:I, s:o, s:o}", "events_per_column", (json_int_t)s->per_column,
                     "columns", (json_int_t)s->columns, "threads", names, "counts", rows);
}

/* ---- The whole ------------------------------------------------------------------------------- */

static void init(summary *s, const ft_trace *trace)
{
    uint32_t counts[GROUPS] = {trace->shared.len, trace->locks.len, trace->n_locations};
    *s = (summary){.trace = trace};
    for (int g = 0; g < GROUPS; g++) {
        s->counts[g] = counts[g];
        s->objects[g] = ft_calloc(counts[g] + (size_t)1, sizeof *s->objects[g]);
        for (uint32_t i = 0; i < counts[g]; i++) s->objects[g][i].id = i;
    }
    s->threads = ft_calloc(trace->threads.len + (size_t)1, sizeof *s->threads);
    for (uint32_t t = 0; t < trace->threads.len; t++) s->threads[t].parent = UINT32_MAX;
    s->per_column = (trace->n_events + FT_SUMMARY_COLUMNS - 1) / FT_SUMMARY_COLUMNS;
    if (s->per_column == 0) s->per_column = 1;
    s->columns = (trace->n_events + s->per_column - 1) / s->per_column;
    s->rows = trace->threads.len < FT_SUMMARY_ROWS ? trace->threads.len : FT_SUMMARY_ROWS;
    s->cells = ft_calloc((size_t)s->rows * s->columns + 1, sizeof *s->cells);
}

static void release(summary *s)
{
    for (int g = 0; g < GROUPS; g++) free(s->objects[g]);
    free(s->threads);
    free(s->cells);
    ft_vec_release(&s->pairs);
}

json_t *ft_summary_new(const ft_trace *trace)
{
    summary s;
    init(&s, trace);
    for (uint32_t e = 0; e < trace->n_events; e++) count_event(&s, e);
    count_threads(&s);
    json_t *totals = json_pack("{s:I}", "threads", (json_int_t)trace->threads.len);
    json_t *out =
        json_pack("{s:I, s:o, s:o, s:o}", "events", (json_int_t)trace->n_events, "kinds",
                  kinds_json(&s), "threads", threads_json(&s), "timeline", timeline_json(&s));
    put_lists(&s, out, totals);
    json_object_set_new(out, "totals", totals);
    release(&s);
    return out;
}
