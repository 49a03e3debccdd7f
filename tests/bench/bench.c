/* Benchmarks: medians of five and ratios, all measured in one run. See tests/bench/run --help. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/generate.h"
#include "encode/decide.h"
#include "engine/engine.h"
#include "trace/reader.h"
#include "verdict/checker.h"

enum { ROUNDS = 5 };

typedef struct timing {
    double solve_ms, whole_ms;
    uint64_t violations, safe, other;
    int rounds;
} timing;

static void fail(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(2);
}

static double stat_of(const json_t *record, const char *name)
{
    return json_number_value(json_object_get(json_object_get(record, "stats"), name));
}

static void count_record(const json_t *record, timing *t)
{
    const char *verdict = json_string_value(json_object_get(record, "verdict"));
    uint64_t count = (uint64_t)json_integer_value(json_object_get(record, "count"));
    if (strcmp(verdict, "violation") == 0)
        t->violations += count;
    else if (strcmp(verdict, "safe") == 0)
        t->safe += count;
    else
        t->other += count;
    t->solve_ms += stat_of(record, "solve_ms");
}

static timing run_job(ft_trace *trace, const char *spec_text)
{
    timing t = {0};
    ft_error err = FT_ERROR_INIT;
    json_t *spec = json_loads(spec_text, 0, NULL), *plan, *record;
    double start = ft_now_ms();
    ft_engine *engine;
    if (ft_engine_new(trace, "bench", spec, &engine, &err) != FT_OK) fail(err.message);
    if (ft_engine_plan(engine, &plan, &err) != FT_OK) fail(err.message);
    size_t i, n = json_array_size(json_object_get(plan, "subproblems"));
    json_array_foreach(json_object_get(plan, "records"), i, record) count_record(record, &t);
    for (i = 0; i < n; i++) {
        if (ft_engine_solve(engine, (uint32_t)i, NULL, &record, &err) != FT_OK) fail(err.message);
        count_record(record, &t);
        json_decref(record);
    }
    ft_engine_free(engine);
    t.whole_ms = ft_now_ms() - start;
    json_decref(plan);
    json_decref(spec);
    return t;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, by_value);
    return values[count / 2];
}

/* A job of over TOO_LONG_MS runs once: its ratio is large enough to stand a single run's noise. */
enum { TOO_LONG_MS = 8000 };

static timing median_job(ft_trace *trace, const char *spec)
{
    double solve[ROUNDS], whole[ROUNDS];
    timing t = {0};
    int rounds = 0;
    while (rounds < ROUNDS) {
        t = run_job(trace, spec);
        solve[rounds] = t.solve_ms;
        whole[rounds++] = t.whole_ms;
        if (t.whole_ms > TOO_LONG_MS) break;
    }
    t.solve_ms = median(solve, rounds);
    t.whole_ms = median(whole, rounds);
    t.rounds = rounds;
    return t;
}

static void compare(const char *name, ft_trace *trace, const char *check, const char *model)
{
    char ours[256], literal[256];
    const char *form = "{\"checks\":[\"%s\"],\"model\":\"%s\",\"per\":\"event\","
                       "\"encoding\":\"%s\",\"budget\":{\"subproblem_ms\":30000}}";
    snprintf(ours, sizeof ours, form, check, model, "default");
    snprintf(literal, sizeof literal, form, check, model, "literal");
    timing a = median_job(trace, ours), b = median_job(trace, literal);
    printf("%-22s %6u ev  default solve %9.2f whole %9.2f ms   literal solve %9.2f whole %9.2f ms"
           "   ratio solve %7.1f whole %7.1f   %s%s\n",
           name, trace->n_events, a.solve_ms, a.whole_ms, b.solve_ms, b.whole_ms,
           a.solve_ms > 0 ? b.solve_ms / a.solve_ms : 0, b.whole_ms / a.whole_ms,
           a.violations == b.violations && a.safe == b.safe ? "same verdicts"
           : b.other                                        ? "literal ran out of budget"
                                                            : "VERDICTS DIFFER",
           b.rounds < ROUNDS ? ", literal run once" : "");
    fflush(stdout);
    ft_trace_free(trace);
}

static void compare_file(const char *name, const char *path)
{
    ft_trace *trace;
    ft_error err = FT_ERROR_INIT;
    if (ft_trace_read_file(path, &trace, &err) != FT_OK) {
        printf("%-22s skipped: %s\n", name, err.message);
        return;
    }
    ft_observe_run(trace);
    compare(name, trace, "race", "observed");
}

static const struct {
    const char *name, *check;
    ft_trace *(*make)(uint32_t, uint32_t, bool);
    uint32_t threads, size;
    bool flag, slow;
} CASES[] = {
    {"indexer-12 pass", "assertion", bench_indexer, 12, 128, true, false},
    {"indexer-12 fail", "assertion", bench_indexer, 12, 128, false, false},
    {"indexer-25 pass", "assertion", bench_indexer, 25, 128, true, false},
    {"indexer-25 fail", "assertion", bench_indexer, 25, 128, false, false},
    {"banking-3 pass", "assertion", bench_banking, 3, 1, false, false},
    {"banking-4 pass", "assertion", bench_banking, 4, 1, false, false},
    {"banking-5 fail", "assertion", bench_banking, 5, 1, true, false},
    {"banking-7 fail", "assertion", bench_banking, 7, 1, true, false},
    {"banking-10 fail", "assertion", bench_banking, 10, 1, true, true},
    {"banking-20 fail", "assertion", bench_banking, 20, 1, true, true},
    {"banking-3 atomicity", "atomicity", bench_banking, 3, 1, true, false},
};

int main(int argc, char **argv)
{
    const char *corpus = argc > 1 ? argv[1] : "../shared/corpus";
    bool slow = argc > 2 && strcmp(argv[2], "--long") == 0;
    char path[512];
    printf("literal: integer order; arith.solver 1 for pure order, 2 with values; phase true; the "
           "paper's lock simplification\n");
    snprintf(path, sizeof path, "%s/raceinjector/treeset_orig", corpus);
    compare_file("treeset_orig pairs", path);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        if (slow || !CASES[i].slow)
            compare(CASES[i].name, CASES[i].make(CASES[i].threads, CASES[i].size, CASES[i].flag),
                    CASES[i].check, "ctp");
    return 0;
}
