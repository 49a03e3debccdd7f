/* The rows of tests/bench/intervals (docs/intervals.md) that need more than the command line: the
 * three graphs of a trace without a limit on their work (Ganai and Wang, table 1), and its last
 * assertion decided by Z3 at the full widths and at those that the ranges of each graph need
 * (table 2). One JSON object; times are milliseconds of processor time. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <jansson.h>

#include "encode/decide.h"
#include "reduce/intervals/numbers.h"
#include "trace/reader.h"

static const char *const GRAPHS[] = {"plain", "transactions", "feasible"};

typedef struct subject {
    ft_trace *trace;
    ft_problem problem;
    ft_claim claim;
    double seconds; /* for one question or propagation */
} subject;

static double cpu_ms(void)
{
    return (double)clock() * 1e3 / CLOCKS_PER_SEC;
}

/* ---- table 1 --------------------------------------------------------------------------------- */

static json_t *measure(const subject *s, ft_mat_kind kind)
{
    const ft_stepping_options cut = {.most = UINT32_MAX};
    const ft_transactions_options pairs = {.kind = kind, .work = UINT64_MAX};
    const ft_ranges_options walk = {.kind = FT_PROPAGATE_CARRIED,
                                    .lookahead = 1,
                                    .nodes = true,
                                    .deadline = ft_now_ms() + s->seconds * 1e3};
    uint64_t local = 0, global = 0;
    ft_stepping *steps = ft_stepping_new(&s->problem, &cut);
    double start = cpu_ms();
    ft_transactions *t = ft_transactions_new(steps, &pairs);
    ft_graph *g = ft_graph_new(t);
    ft_ranges *r = ft_ranges_new(g, NULL, 0, &walk);
    double ms = cpu_ms() - start;
    if (r) ft_ranges_metric(r, &local, &global);
    json_t *row = json_pack("{s:I, s:I, s:I, s:f}", "mats", (json_int_t)t->mats.len, "switches",
                            (json_int_t)g->n_switches, "transactions",
                            (json_int_t)g->n_transactions, "ms", ms);
    if (r) json_object_set_new(row, "local_bits", json_integer((json_int_t)local));
    if (r) json_object_set_new(row, "global_bits", json_integer((json_int_t)global));
    ft_ranges_free(r);
    ft_graph_free(g);
    ft_transactions_free(t);
    ft_stepping_free(steps);
    return row;
}

/* ---- table 2 --------------------------------------------------------------------------------- */

static json_t *solve(const subject *s, const ft_problem *problem)
{
    static const char *const words[] = {
        [FT_ANSWER_SAT] = "S", [FT_ANSWER_UNSAT] = "U", [FT_ANSWER_UNKNOWN] = "?"};
    ft_decide_stats stats = {0};
    ft_witness witness = {0};
    ft_question question = {.claim = &s->claim, .bound = FT_NO_BOUND};
    double start = cpu_ms();
    question.deadline = ft_now_ms() + s->seconds * 1e3;
    ft_decider *decider = ft_decider_new(problem, NULL);
    ft_answer answer = ft_decider_decide(decider, &question, &witness, &stats);
    ft_decider_free(decider);
    ft_witness_release(&witness);
    return json_pack("{s:s, s:f}", "answer", words[answer], "ms", cpu_ms() - start);
}

static json_t *solve_narrow(const subject *s, ft_mat_kind kind, ft_propagation propagation,
                            bool all)
{
    ft_intervals_options options = ft_intervals_limits();
    ft_problem problem = s->problem;
    options.kind = kind;
    options.propagation = propagation;
    options.most_steps = UINT32_MAX;
    options.work = UINT64_MAX;
    options.ms = s->seconds * 1e3;
    ft_intervals *intervals = ft_intervals_new(&s->problem, &options);
    if (!intervals) return json_null();
    ft_numbers *numbers = all ? ft_numbers_new(intervals) : NULL;
    problem.widths = intervals;
    if (all) problem.bounds = problem.intervals = intervals;
    problem.numbers = numbers;
    json_t *row = solve(s, &problem);
    ft_numbers_free(numbers);
    ft_intervals_free(intervals);
    return row;
}

static json_t *solve_all(const subject *s)
{
    json_t *row = json_object();
    json_decref(solve(s, &s->problem)); /* Z3 tests itself at first */
    json_object_set_new(row, "full", solve(s, &s->problem));
    for (int kind = FT_MAT_NONE; kind <= FT_MAT_FEASIBLE; kind++)
        json_object_set_new(row, GRAPHS[kind],
                            solve_narrow(s, (ft_mat_kind)kind, FT_PROPAGATE_CARRIED, false));
    json_object_set_new(row, "all", solve_narrow(s, FT_MAT_FEASIBLE, FT_PROPAGATE_POSITIONS, true));
    return row;
}

/* ---- all ------------------------------------------------------------------------------------- */

static void find_claim(subject *s)
{
    s->claim = (ft_claim){.kind = FT_CLAIM_ASSERTION, .n_events = 1};
    for (uint32_t e = 0; e < s->trace->n_events; e++)
        if (s->trace->kind[e] == FT_EVENT_ASSERT) s->claim.events[0] = e;
}

int main(int argc, char **argv)
{
    ft_error err = FT_ERROR_INIT;
    subject s = {.seconds = argc > 2 ? strtod(argv[2], NULL) : 60};
    json_t *graphs = json_object();
    if (argc < 2 || ft_trace_read_file(argv[1], &s.trace, &err) != FT_OK) {
        fprintf(stderr, "usage: interval_tables TRACE [SECONDS]\n%s\n", err.message);
        return 2;
    }
    ft_order *order = ft_order_new(s.trace);
    ft_run *run = ft_run_new(s.trace);
    s.problem = (ft_problem){.trace = s.trace,
                             .order = order,
                             .run = run,
                             .model = FT_MODEL_CTP,
                             .solver = FT_SOLVER_Z3};
    find_claim(&s);
    for (int kind = FT_MAT_NONE; kind <= FT_MAT_FEASIBLE; kind++)
        json_object_set_new(graphs, GRAPHS[kind], measure(&s, (ft_mat_kind)kind));
    json_t *row = json_pack("{s:o, s:o}", "graphs", graphs, "solve", solve_all(&s));
    json_dumpf(row, stdout, JSON_COMPACT);
    printf("\n");
    json_decref(row);
    ft_run_free(run);
    ft_order_free(order);
    ft_trace_free(s.trace);
    return 0;
}
