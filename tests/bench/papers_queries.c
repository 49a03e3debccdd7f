#include <string.h>
#include <unistd.h>

#include "bench/papers.h"
#include "bench/programs/programs.h"

static const ft_column COLUMNS[] = {
    {"", "name", -14},
    {"literal solve", "solve_ms", 13},
    {"literal whole", "whole_ms", 13},
    {"z3 ms", "z3_ms", 9},
    {"z3, same options", "z3_same_ms", 16},
    {"solve/z3", "ratio", 8},
    {"within 2", "reached", 8},
};

static const char NOTE[] =
    "the same query as a fixed SMT-LIB file (tests/bench/queries) given to the z3 program: as it "
    "comes, and with the literal encoding's options; ratio: to the faster of the two; averages of "
    "five "
    "processes each";

typedef struct query {
    const char *name, *check;
    ft_trace *(*make)(const ft_program_shape *shape);
    ft_program_shape shape;
} query;

static const query QUERIES[] = {
#define FT_ROW(name, check, make, ...) {name, check, make, __VA_ARGS__},
#include "bench/queries/queries.def"
#undef FT_ROW
};

static char z3[] = "z3", automatic[] = "smt.auto_config=false", arith[] = "smt.arith.solver=2",
            phase[] = "smt.phase_selection=1", split[] = "smt.case_split=1",
            seed[] = "smt.random_seed=7";

/* The search depends on where the memory lies, by a factor of three on account-10: averages of
 * processes of their own say more than rounds of one. */
enum { PROCESSES = 5 };

static double mean_program(char *const argv[], double limit_s)
{
    double sum = 0;
    for (int i = 0; i < PROCESSES; i++) {
        double used = ft_measure_program(argv, limit_s);
        if (used < 0) return -1;
        sum += used;
    }
    return sum / PROCESSES;
}

static ft_measure mean_job(ft_trace *trace, const ft_job *job, double limit_s)
{
    ft_measure sum = {0};
    for (int i = 0; i < PROCESSES; i++) {
        ft_measure one = ft_measure_job(trace, job, 1, limit_s);
        if (one.late || one.died) return one;
        sum.whole_ms += one.whole_ms / PROCESSES;
        sum.encode_ms += one.encode_ms / PROCESSES;
        sum.solve_ms += one.solve_ms / PROCESSES;
    }
    return sum;
}

static json_t *measure(const ft_papers *papers, const query *q)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.smt2", papers->queries, q->name);
    char *const plain[] = {z3, path, NULL};
    char *const same[] = {z3, automatic, arith, phase, split, seed, path, NULL};
    ft_trace *trace = q->make(&q->shape);
    ft_job job = {q->check, "ctp", "literal", NULL, NULL};
    ft_measure literal = mean_job(trace, &job, papers->ours_s);
    double a = mean_program(plain, papers->ours_s);
    double b = mean_program(same, papers->ours_s);
    double best = a < 0 || (b >= 0 && b < a) ? b : a;
    json_t *row = json_pack("{s:s}", "name", q->name);
    ft_row_times(row, "", &literal);
    if (a >= 0) json_object_set_new(row, "z3_ms", json_real(a));
    if (b >= 0) json_object_set_new(row, "z3_same_ms", json_real(b));
    if (best > 0 && !literal.late && !literal.died) {
        double ratio = (literal.encode_ms + literal.solve_ms) / best;
        json_object_set_new(row, "ratio", json_real(ratio));
        json_object_set_new(row, "reached", json_string(ratio <= 2 ? "yes" : "no"));
    }
    ft_trace_free(trace);
    return row;
}

void ft_papers_queries(const ft_papers *papers)
{
    static char version[] = "--version";
    char *const asked[] = {z3, version, NULL};
    if (ft_measure_program(asked, 10) < 0) {
        fprintf(stderr, "the z3 program (Debian package z3) is not there: the literal encoding "
                        "is not compared with it\n");
        return;
    }
    ft_part part = ft_part_begin(papers, "The literal encoding beside the z3 program", NOTE,
                                 COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
    for (size_t i = 0; i < sizeof QUERIES / sizeof *QUERIES; i++)
        if (ft_part_wants(&part, QUERIES[i].name)) ft_part_row(&part, measure(papers, &QUERIES[i]));
}
