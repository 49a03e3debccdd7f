/* Programs over bit-vectors, decided by Z3 with what the ranges narrow: each assertion fails if and
 * only if the oracle finds a schedule in which it does, and the solver's schedule is one for the
 * checker, which computes every value at its full width. */
#ifndef INTERVAL_SOLVING_H
#define INTERVAL_SOLVING_H

#include "encode/decide.h"
#include "interval_programs.h"
#include "oracle/oracle.h"
#include "reduce/intervals/numbers.h"

typedef struct solving_counts {
    uint64_t programs, found, not_found, late, numbers, widths;
} solving_counts;

typedef struct solving {
    program_subject s;
    ft_intervals *intervals;
    ft_numbers *numbers;
    ft_checker *checker;
    solving_counts *counts;
    char *why;
    size_t size;
} solving;

static inline void solving_count(const solving *v)
{
    const ft_trace *trace = v->s.trace;
    for (uint32_t e = 0; e < trace->n_events; e++) {
        const ft_action *action = ft_trace_action(trace, e);
        for (uint32_t i = 0; action && i < action->n_accesses; i++) {
            ft_range range;
            uint32_t variable = action->accesses[i].variable;
            if (action->accesses[i].write || !ft_intervals_access(v->intervals, e, i, &range))
                continue;
            v->counts->numbers += ft_numbers_shared(v->numbers, variable) != FT_NUMBER_BITS;
            v->counts->widths += ft_range_width(range) < trace->shared_info[variable].sort.width;
        }
    }
}

static inline bool solving_fails(solving *v, uint32_t e, const char *what)
{
    snprintf(v->why, v->size, "event %u: %s", e + 1, what);
    return false;
}

static inline bool solving_agrees(solving *v, ft_decider *decider, const ft_oracle_answer *answer)
{
    ft_decide_stats stats = {0};
    ft_witness witness = {0};
    const ft_question question = {
        .claim = &answer->claim, .bound = FT_NO_BOUND, .deadline = ft_now_ms() + 2000};
    ft_answer got = ft_decider_decide(decider, &question, &witness, &stats);
    uint32_t e = answer->claim.events[0];
    v->counts->found += got == FT_ANSWER_SAT;
    v->counts->not_found += got == FT_ANSWER_UNSAT;
    v->counts->late += got == FT_ANSWER_UNKNOWN;
    bool fine = true;
    if (got == FT_ANSWER_UNSAT && answer->violated)
        fine = solving_fails(v, e, "no schedule is found, but there is one");
    if (got == FT_ANSWER_SAT) {
        witness.model = FT_MODEL_CTP;
        witness.bound = FT_NO_BOUND;
        witness.claim = answer->claim;
        if (ft_checker_check(v->checker, &witness, NULL, NULL) != FT_OK)
            fine = solving_fails(v, e, "the schedule is none for the checker");
        else if (!answer->violated)
            fine = solving_fails(v, e, "a schedule is found, but there is none");
    }
    ft_witness_release(&witness);
    return fine;
}

/* One way of narrowing for each program. */
static inline bool solving_compare(solving *v, uint32_t way)
{
    ft_problem problem = v->s.problem;
    ft_oracle_job job = {.model = FT_MODEL_CTP};
    ft_oracle_result all = {0};
    bool fine = true;
    job.checks[FT_CHECK_ASSERTION] = true;
    ft_oracle_enumerate(v->s.trace, &job, &all);
    problem.solver = FT_SOLVER_Z3;
    if (way != 1) problem.widths = v->intervals;
    if (way != 0) problem.numbers = v->numbers;
    if (way == 3) problem.bounds = problem.intervals = v->intervals;
    ft_decider *decider = ft_decider_new(&problem, NULL);
    for (size_t i = 0; i < all.answers.len && fine; i++)
        fine = solving_agrees(v, decider, &all.answers.data[i]);
    ft_decider_free(decider);
    ft_oracle_release(&all);
    return fine;
}

/* False: an answer is wrong, and `why` says which. */
static inline bool solving_compare_seed(uint64_t seed, solving_counts *counts, char *why,
                                        size_t size)
{
    program_shape shape = program_shape_of(seed);
    solving v = {.counts = counts, .why = why, .size = size};
    ft_intervals_options limits = ft_intervals_limits();
    bool fine = true;
    if (!shape.width) return true;
    limits.ms = 10000;
    program_open(&v.s, program_trace(seed, &shape));
    v.checker = ft_checker_new(v.s.trace);
    v.intervals = ft_intervals_new(&v.s.problem, &limits);
    if (v.intervals) {
        v.numbers = ft_numbers_new(v.intervals);
        counts->programs++;
        solving_count(&v);
        fine = solving_compare(&v, (uint32_t)(seed / PROGRAM_SHAPES % 4));
    }
    ft_numbers_free(v.numbers);
    ft_intervals_free(v.intervals);
    ft_checker_free(v.checker);
    program_close(&v.s);
    return fine;
}

#endif
