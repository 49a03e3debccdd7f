/* What the interval passes cost where they do not pay: whole jobs, with the passes and without in
 * turn, for the rows of the papers' tables, generated traces and recordings. tests/bench/intervals
 * costs runs it. Columns: milliseconds of processor time with and without, least of seven, their
 * ratio, and the passes' own time. A row over 1.05 (and 0.3 ms) is measured once more, with three
 * times as many runs, before it counts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jansson.h>

#include "bench/generate.h"
#include "bench/papers_rows.h"
#include "engine/engine.h"
#include "trace/reader.h"

enum { RUNS = 7, MOST_MS = 4000 };

static const char *const PASSES[] = {"interval",        "interval-values",   "interval-sources",
                                     "interval-bounds", "interval-integers", "interval-widths"};

typedef struct cost {
    double with, without, own; /* least ms; own: of the passes, of the last run */
    bool late;                 /* a run was stopped */
    int over;
} cost;

static int rows_over, rows_all;
static double worst;

static double cpu_ms(void)
{
    return (double)clock() * 1e3 / CLOCKS_PER_SEC;
}

static double own_ms(const json_t *record)
{
    double ms = 0;
    const json_t *passes = json_object_get(json_object_get(record, "stats"), "passes");
    for (size_t i = 0; i < sizeof PASSES / sizeof *PASSES; i++)
        ms += json_number_value(json_object_get(json_object_get(passes, PASSES[i]), "ms"));
    return ms;
}

static void fail(const char *what)
{
    fprintf(stderr, "interval_costs: %s\n", what);
    exit(2);
}

static double run(ft_trace *trace, json_t *spec, bool with, cost *c)
{
    ft_error err = FT_ERROR_INIT;
    ft_engine *engine;
    json_t *plan, *record, *without = json_array();
    for (size_t i = 0; i < sizeof PASSES / sizeof *PASSES && !with; i++)
        json_array_append_new(without, json_string(PASSES[i]));
    json_object_set_new(spec, "without", without);
    double start = cpu_ms();
    if (ft_engine_new(trace, "costs", spec, &engine, &err) != FT_OK) fail(err.message);
    if (ft_engine_plan(engine, &plan, &err) != FT_OK) fail(err.message);
    size_t n = json_array_size(json_object_get(plan, "subproblems"));
    if (with) c->own = 0;
    for (size_t i = 0; i < n; i++) {
        if (ft_engine_solve(engine, (uint32_t)i, NULL, &record, &err) != FT_OK) fail(err.message);
        if (with) c->own += own_ms(record);
        json_decref(record);
        if (cpu_ms() - start > MOST_MS) c->late = true;
        if (c->late) break;
    }
    json_decref(plan);
    double ms = cpu_ms() - start;
    ft_engine_free(engine);
    return ms;
}

typedef ft_trace *(*maker)(const void *context);

/* The engine frees its trace, so each run has its own. */
static void measure(maker make, const void *context, json_t *spec, int runs, cost *c)
{
    c->with = c->without = 1e18;
    for (int k = 0; k < 2 * runs && !c->late; k++) {
        bool with = k % 2 == 0;
        double ms = run(make(context), spec, with, c), *least = with ? &c->with : &c->without;
        if (ms < *least) *least = ms;
    }
}

static bool is_over(const cost *c)
{
    return c->with > 1.05 * c->without && c->with - c->without > 0.3;
}

static void row(const char *name, maker make, const void *context, json_t *spec)
{
    cost c = {0};
    run(make(context), spec, true, &c); /* the solver's first use is not part of a job */
    if (!c.late) measure(make, context, spec, RUNS, &c);
    if (!c.late && is_over(&c)) measure(make, context, spec, 3 * RUNS, &c);
    if (c.late) {
        printf("%-34s stopped after %d s\n", name, MOST_MS / 1000);
    } else {
        double ratio = c.with / c.without;
        printf("%-34s %9.2f %9.2f %6.2f %8.2f%s\n", name, c.with, c.without, ratio, c.own,
               is_over(&c) ? "  OVER" : "");
        rows_all++;
        rows_over += is_over(&c);
        if (ratio > worst && c.with - c.without > 0.3) worst = ratio;
    }
    fflush(stdout);
    json_decref(spec);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static ft_trace *make_row(const void *context)
{
    const ft_row *r = context;
    return r->make(&r->shape);
}

static void papers(const char *only)
{
    for (size_t t = 0; t < ft_table_count; t++)
        for (size_t i = 0; i < ft_tables[t].count; i++) {
            const ft_row *r = &ft_tables[t].rows[i];
            if (r->slow || (only && !strstr(r->name, only))) continue;
            char name[80];
            snprintf(name, sizeof name, "%s %s %s", r->name, r->check, r->model);
            row(name, make_row, r,
                json_pack("{s:[s], s:s, s:s, s:{s:i}}", "checks", r->check, "model", r->model,
                          "per", "event", "budget", "subproblem_ms", 2000));
        }
}

static ft_trace *make_banking(const void *context)
{
    const uint32_t *threads = context;
    return bench_banking(*threads, 2, false);
}

static ft_trace *make_indexer(const void *context)
{
    const uint32_t *threads = context;
    return bench_indexer(*threads, 8, true);
}

static ft_trace *make_zipf(const void *context)
{
    const uint32_t *events = context;
    return bench_zipf(*events);
}

static json_t *every_check(void)
{
    return json_pack("{s:[s,s,s,s,s,s], s:{s:i}}", "checks", "race", "atomicity", "assertion",
                     "lock", "deadlock", "order", "budget", "subproblem_ms", 2000);
}

/* All triplets of the larger ones take gigabytes. */
static json_t *assertions(void)
{
    return json_pack("{s:[s], s:{s:i}}", "checks", "assertion", "budget", "subproblem_ms", 2000);
}

static void generated(const char *only)
{
    static const uint32_t threads[] = {2, 3, 5, 8}, events[] = {1000, 10000, 30000};
    char name[80];
    for (size_t i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "banking, %u threads", threads[i]);
        if (!only || strstr(name, only)) row(name, make_banking, &threads[i], assertions());
        snprintf(name, sizeof name, "indexer, %u threads", threads[i]);
        if (!only || strstr(name, only)) row(name, make_indexer, &threads[i], assertions());
    }
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        snprintf(name, sizeof name, "plain accesses, %u events", events[i]);
        if (!only || strstr(name, only)) row(name, make_zipf, &events[i], every_check());
    }
}

static ft_trace *make_file(const void *context)
{
    ft_error err = FT_ERROR_INIT;
    ft_trace *trace;
    if (ft_trace_read_file(context, &trace, &err) != FT_OK) fail(err.message);
    return trace;
}

int main(int argc, char **argv)
{
    const char *only = argc > 2 && strcmp(argv[1], "--only") == 0 ? argv[2] : NULL;
    bool files = argc > 1 && !only;
    printf("%-34s %9s %9s %6s %8s\n", "job", "with", "without", "ratio", "passes");
    for (int i = 1; i < argc && files; i++) {
        const char *name = strrchr(argv[i], '/');
        row(name ? name + 1 : argv[i], make_file, argv[i], every_check());
    }
    if (!files) papers(only);
    if (!files) generated(only);
    printf("%d rows, %d over 1.05, worst %.2f\n", rows_all, rows_over, worst);
    return rows_over > 0;
}
