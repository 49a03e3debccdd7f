#include <math.h>
#include <string.h>

#include "bench/papers.h"
#include "bench/programs/programs.h"
#include "trace/reader.h"
#include "verdict/checker.h"

static const ft_column COLUMNS[] = {
    {"", "name", -20},
    {"events", "events", 6},
    {"cand", "candidates", 6},
    {"viol", "violations", 5},
    {"solve ms", "solve_ms", 9},
    {"whole ms", "whole_ms", 9},
    {"lit.solve", "literal_solve_ms", 9},
    {"lit.whole", "literal_whole_ms", 9},
    {"ratio solve", "ratio_solve", 11},
    {"ratio whole", "ratio_whole", 11},
    {"required", "required", 8},
    {"solve", "solve_reached", 5},
    {"whole", "whole_reached", 5},
    {"verdicts", "verdicts", 8},
};

static const char NOTE[] =
    "`-' in ratio solve: decided without the solver, which counts as reached";

typedef struct required {
    const char *name, *check, *model;
    ft_trace *(*make)(const ft_program_shape *shape);
    ft_program_shape shape;
    const char *file; /* of the corpus, instead of a program */
    double ratio;
    bool slow;
} required;

static const required REQUIRED[] = {
    {"indexer-25", "assertion", "ctp", ft_program_indexer, {25, 128, 4, 0}, NULL, 5, false},
    {"indexer-25a", "assertion", "ctp", ft_program_indexer, {25, 128, 4, 1}, NULL, 5, false},
    {"indexer-32, full", "assertion", "ctp", ft_program_indexer, {32, 128, 4, 0}, NULL, 100, false},
    {"indexer-32a, full", "assertion", "ctp", ft_program_indexer, {32, 128, 4, 1}, NULL, 100, true},
    {"banking-20a", "assertion", "ctp", ft_program_banking, {20, 0, 1, 1}, NULL, 6, false},
    {"treeset_orig, pairs",
     "race",
     "observed",
     NULL,
     {0, 0, 0, 0},
     "raceinjector/treeset_orig",
     50,
     false},
};

static ft_trace *trace_of(const ft_papers *papers, const required *r, ft_error *err)
{
    char path[1024];
    ft_trace *trace = NULL;
    if (r->make) return r->make(&r->shape);
    snprintf(path, sizeof path, "%s/%s", papers->corpus, r->file);
    if (ft_trace_read_file(path, &trace, err) != FT_OK) return NULL;
    ft_observe_run(trace);
    return trace;
}

/* What a limit lets say: reached, missed, or not known yet. */
static const char *reached(const json_t *row, const char *key, const char *over, double wanted,
                           const ft_measure *ours)
{
    const json_t *ratio = json_object_get(row, key);
    if (ours->late || ours->died || ours->undecided) return "no";
    if (!ratio) return "yes";
    if (json_number_value(ratio) >= wanted) return "yes";
    return json_is_true(json_object_get(row, over)) ? "open" : "no";
}

static json_t *measure(const ft_papers *papers, const required *r, ft_trace *trace)
{
    ft_job job = {r->check, r->model, "default", NULL, NULL}, other = job;
    double limit = papers->long_run ? 120 : 12;
    other.encoding = "literal";
    ft_measure ours = ft_measure_job(trace, &job, papers->rounds, limit);
    ft_measure literal = ft_measure_job(trace, &other, papers->rounds, limit);
    json_t *row = json_pack("{s:s}", "name", r->name);
    ft_row_number(row, "events", trace->n_events);
    ft_row_number(row, "candidates", (double)ours.candidates);
    ft_row_number(row, "violations", (double)ours.violations);
    ft_row_number(row, "required", r->ratio);
    ft_row_times(row, "", &ours);
    ft_row_times(row, "literal_", &literal);
    ft_row_ratio(row, &ours, &literal);
    json_object_set_new(
        row, "solve_reached",
        json_string(reached(row, "ratio_solve", "ratio_solve_over", r->ratio, &ours)));
    json_object_set_new(
        row, "whole_reached",
        json_string(reached(row, "ratio_whole", "ratio_whole_over", r->ratio, &ours)));
    ft_row_agreement(row, &ours, &literal);
    return row;
}

/* ---- growth from 5 to 20 threads ---- */

static const ft_column GROWTH[] = {
    {"", "name", -20},     {"solve ms", "solve_ms", 9}, {"whole ms", "whole_ms", 9},
    {"ratio", "ratio", 9}, {"at most", "required", 8},  {"reached", "reached", 7},
};

static void growth(const ft_papers *papers)
{
    ft_part part = ft_part_begin(papers, "Passing banking with more threads (whole time)", NULL,
                                 GROWTH, sizeof GROWTH / sizeof *GROWTH);
    double first = 0;
    bool first_late = false;
    static const uint32_t threads[] = {5, 10, 20};
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        ft_program_shape shape = {threads[i], 0, 1, 0};
        ft_trace *trace = ft_program_banking(&shape);
        ft_job job = {"assertion", "ctp", "default", NULL, NULL};
        ft_measure m = ft_measure_job(trace, &job, papers->rounds, papers->ours_s);
        json_t *row = json_pack("{s:o}", "name", json_sprintf("banking-%u", threads[i]));
        ft_row_times(row, "", &m);
        if (i == 0) {
            first = m.whole_ms;
            first_late = m.late || m.died;
        } else if (!m.late && !first_late) {
            json_object_set_new(row, "ratio", json_real(m.whole_ms / first));
        }
        if (threads[i] == 20) {
            bool good = !m.late && !m.died && !first_late && m.safe == 1 && m.whole_ms <= 5 * first;
            ft_row_number(row, "required", 5);
            json_object_set_new(row, "reached", json_string(good ? "yes" : "no"));
        }
        ft_part_row(&part, row);
        ft_trace_free(trace);
    }
}

void ft_papers_ratios(const ft_papers *papers)
{
    ft_part part = ft_part_begin(papers, "Against the literal encoding", NOTE, COLUMNS,
                                 sizeof COLUMNS / sizeof *COLUMNS);
    for (size_t i = 0; i < sizeof REQUIRED / sizeof *REQUIRED; i++) {
        ft_error err = FT_ERROR_INIT;
        if ((REQUIRED[i].slow && !papers->long_run) || !ft_part_wants(&part, REQUIRED[i].name))
            continue;
        ft_trace *trace = trace_of(papers, &REQUIRED[i], &err);
        if (trace)
            ft_part_row(&part, measure(papers, &REQUIRED[i], trace));
        else
            fprintf(stderr, "%s skipped: %s\n", REQUIRED[i].name, err.message);
        ft_trace_free(trace);
    }
    if (!papers->only) growth(papers);
}
