#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/generate.h"
#include "bench/papers.h"
#include "candidate/candidate.h"
#include "engine/internal.h"

enum { ROUNDS = 5 };

/* ---- passes before the solver ---- */

static const ft_column PASS[] = {
    {"events", "events", 9},
    {"pairs", "pairs", 12},
    {"groups", "groups", 8},
    {"columns ms", "columns_ms", 10},
    {"accesses ms", "accesses_ms", 11},
    {"pass ms", "pass_ms", 9},
    {"to columns", "ratio_columns", 10},
    {"to accesses", "ratio_accesses", 11},
    {"ns/event", "ns_per_event", 8},
    {"trace B/event", "trace_bytes", 13},
    {"pass B/event", "pass_bytes", 12},
};

static const char PASS_NOTE[] =
    "order, locksets, race candidates and their pruning over a generated trace, beside a loop over "
    "its columns and\na loop over its events and their accesses; peak memory: of the decoded "
    "trace, "
    "and what the pass adds to it";

typedef struct pass_result {
    double columns, accesses, pass, trace_bytes, pass_bytes;
    uint64_t pairs, groups;
    uint32_t events;
} pass_result;

static volatile uint64_t sink;

static double columns_loop(const ft_trace *trace)
{
    double start = ft_measure_used_ms();
    uint64_t sum = 0;
    for (uint32_t e = 0; e < trace->n_events; e++)
        sum += (uint64_t)trace->kind[e] + trace->flags[e] + trace->thread[e] + trace->object[e] +
               trace->loc[e] + trace->data[e];
    sink = sum;
    return ft_measure_used_ms() - start;
}

static double accesses_loop(const ft_trace *trace)
{
    double start = ft_measure_used_ms();
    uint64_t sum = 0;
    for (uint32_t e = 0; e < trace->n_events; e++) {
        ft_access scratch;
        uint32_t count;
        const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
        for (uint32_t i = 0; i < count; i++) sum += accesses[i].variable + accesses[i].write;
        sum += (uint64_t)trace->thread[e] + trace->loc[e];
    }
    sink = sum;
    return ft_measure_used_ms() - start;
}

static double whole_pass(const ft_trace *trace, pass_result *result)
{
    double start = ft_measure_used_ms();
    ft_order *order = ft_order_new(trace);
    ft_candidates *c = ft_candidates_new(trace, order, NULL, false, NULL);
    ft_candidates_race(c);
    double spent = ft_measure_used_ms() - start;
    result->groups = c->groups.len;
    result->pairs = 0;
    for (size_t i = 0; i < c->groups.len; i++) result->pairs += c->groups.data[i].pairs;
    ft_candidates_free(c);
    ft_order_free(order);
    return spent;
}

/* A line "VmHWM:  123 kB" of this process's status, in bytes. */
static double memory(const char *name)
{
    char line[128];
    double kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (strncmp(line, name, strlen(name)) == 0) kib = strtod(line + strlen(name) + 1, NULL);
    if (status) fclose(status);
    return kib * 1024;
}

static double peak_from_here(void)
{
    malloc_trim(0);
    int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    if (file >= 0) {
        if (write(file, "5", 1) != 1) fprintf(stderr, "papers: the peak cannot be set back\n");
        close(file);
    }
    return memory("VmRSS");
}

static void measure_pass(void *context, void *out)
{
    const uint32_t *events = context;
    pass_result *result = out;
    double columns[ROUNDS], accesses[ROUNDS], pass[ROUNDS];
    double empty = peak_from_here();
    ft_trace *trace = bench_zipf(*events);
    double before = peak_from_here();
    whole_pass(trace, result);
    result->pass_bytes = (memory("VmHWM") - before) / trace->n_events;
    result->trace_bytes = (before - empty) / trace->n_events;
    for (int i = 0; i < ROUNDS; i++) {
        columns[i] = columns_loop(trace);
        accesses[i] = accesses_loop(trace);
        pass[i] = whole_pass(trace, result);
    }
    result->events = trace->n_events;
    result->columns = ft_measure_median(columns, ROUNDS);
    result->accesses = ft_measure_median(accesses, ROUNDS);
    result->pass = ft_measure_median(pass, ROUNDS);
}

static json_t *pass_row(const pass_result *r)
{
    json_t *row = json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "columns_ms", r->columns,
                            "accesses_ms", r->accesses, "pass_ms", r->pass, "ratio_columns",
                            r->pass / r->columns, "ratio_accesses", r->pass / r->accesses,
                            "ns_per_event", r->pass * 1e6 / r->events, "trace_bytes",
                            r->trace_bytes, "pass_bytes", r->pass_bytes);
    ft_row_number(row, "events", r->events);
    ft_row_number(row, "pairs", (double)r->pairs);
    ft_row_number(row, "groups", (double)r->groups);
    return row;
}

void ft_papers_passes(const ft_papers *papers)
{
    static const uint32_t lengths[] = {10000, 100000, 1000000, 10000000};
    ft_part part = ft_part_begin(papers, "Passes before the solver", PASS_NOTE, PASS,
                                 sizeof PASS / sizeof *PASS);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        pass_result result = {0};
        uint32_t events = lengths[i];
        if (events > 1000000 && !papers->long_run) continue;
        if (ft_measure_apart(measure_pass, &events, &result, sizeof result, 300) == FT_END_DONE)
            ft_part_row(&part, pass_row(&result));
    }
}

/* ---- the same race after longer and longer runs ---- */

static const ft_column DISTANCE[] = {
    {"", "name", -15},           {"events", "events", 9},       {"verdict", "verdict", 9},
    {"encoded", "encoded", 8},   {"solve ms", "solve_ms", 9},   {"encode ms", "encode_ms", 9},
    {"whole ms", "whole_ms", 9}, {"encoded x", "encoded_x", 9}, {"decide x", "decide_x", 8},
};

static const char DISTANCE_NOTE[] =
    "one pair, in the same few last events of the same threads: as a job decides it (by the passes "
    "alone, it may be), and by the\nsolver alone; whole: with the plan and the passes over the "
    "trace; x: encoded events, and encoding and solving, times the first\nrow of its kind: at most "
    "1.5 wanted";

static const char WANTED[] = "gadget.c:1|gadget.c:2";

typedef struct alone {
    ft_engine *engine;
    ft_measure *m;
} alone;

static bool ask_solver(void *context, const ft_claim *claim)
{
    const alone *a = context;
    ft_witness witness = {0};
    ft_reading reading = {0};
    ft_decide_stats stats = {0};
    ft_judgement o =
        ft_engine_solve_claim(a->engine, claim, ft_now_ms() + 30000, &witness, &reading, &stats);
    a->m->violations += o.verdict == FT_VERDICT_VIOLATION;
    a->m->undecided += o.verdict != FT_VERDICT_VIOLATION && o.verdict != FT_VERDICT_SAFE;
    a->m->encode_ms += stats.encode_ms;
    a->m->solve_ms += stats.solve_ms;
    if (stats.events > a->m->encoded) a->m->encoded = stats.events;
    ft_witness_release(&witness);
    ft_reading_release(&reading);
    return true;
}

static ft_measure ask_claims(ft_engine *engine)
{
    ft_measure m = {.correct = true};
    alone a = {engine, &m};
    double start = ft_measure_used_ms();
    for (size_t i = 0; i < engine->subproblems.len; i++) {
        const ft_group *group = &engine->candidates->groups.data[engine->subproblems.data[i]];
        char *key = ft_record_key(&engine->context, group);
        if (strstr(key, WANTED)) ft_engine_each_claim(engine, group, NULL, ask_solver, &a);
        free(key);
    }
    m.whole_ms = ft_measure_used_ms() - start;
    return m;
}

/* The fastest of some rounds, each of which asks the same: the machine may have others to serve. */
static void ask_alone(void *context, void *result)
{
    ft_error err = FT_ERROR_INIT;
    ft_engine *engine;
    ft_measure *best = result;
    json_t *spec = json_pack("{s:[s], s:s}", "checks", "race", "model", "observed");
    if (ft_engine_new(context, "papers", spec, &engine, &err) != FT_OK ||
        ft_engine_prepare(engine, &err) != FT_OK)
        exit(1);
    for (int i = 0; i <= ROUNDS; i++) {
        ft_measure now = ask_claims(engine);
        if (i < 2 || now.encode_ms + now.solve_ms < best->encode_ms + best->solve_ms) *best = now;
    }
    ft_engine_free(engine);
    json_decref(spec);
}

static void distance_row(ft_part *part, const char *name, const ft_trace *trace,
                         const ft_measure *m, const ft_measure *first)
{
    const char *verdict = m->died         ? "DIED"
                          : m->late       ? "late"
                          : m->violations ? "violation"
                          : m->undecided  ? "open"
                                          : "safe";
    json_t *row = json_pack("{s:s, s:s}", "name", name, "verdict", verdict);
    ft_row_number(row, "events", trace->n_events);
    ft_row_number(row, "encoded", (double)m->encoded);
    json_object_set_new(row, "encode_ms", json_real(m->encode_ms));
    ft_row_times(row, "", m);
    if (!m->late && !first->late && first->encoded && first->solve_ms > 0) {
        json_object_set_new(row, "encoded_x",
                            json_real((double)m->encoded / (double)first->encoded));
        json_object_set_new(
            row, "decide_x",
            json_real((m->encode_ms + m->solve_ms) / (first->encode_ms + first->solve_ms)));
    }
    ft_part_row(part, row);
}

static ft_measure decide_once(ft_trace *trace, const ft_papers *papers, bool by_solver)
{
    ft_job job = {"race", "observed", "default", WANTED, "location"};
    ft_measure m = {0};
    if (!by_solver) return ft_measure_job(trace, &job, papers->rounds, 30);
    ft_end end = ft_measure_apart(ask_alone, trace, &m, sizeof m, 60);
    m.late = end == FT_END_LATE;
    m.died = end == FT_END_DIED;
    return m;
}

void ft_papers_distance(const ft_papers *papers)
{
    static const char *const NAMES[2][2] = {{"no race", "no race, solver"},
                                            {"race", "race, solver"}};
    static const uint32_t lengths[] = {10000, 100000, 1000000};
    enum { LENGTHS = sizeof lengths / sizeof *lengths };
    ft_part part = ft_part_begin(papers, "The same race after longer runs", DISTANCE_NOTE, DISTANCE,
                                 sizeof DISTANCE / sizeof *DISTANCE);
    for (int kind = 3; kind >= 0; kind--) {
        bool racy = kind >= 2, by_solver = kind % 2 == 0;
        ft_measure first = {0};
        for (size_t i = 0; i < LENGTHS; i++) {
            ft_trace *trace = bench_zipf_race(lengths[i], racy);
            ft_measure m = decide_once(trace, papers, by_solver);
            if (i == 0) first = m;
            distance_row(&part, NAMES[racy][by_solver], trace, &m, &first);
            ft_trace_free(trace);
        }
    }
}
