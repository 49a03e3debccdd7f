/* Measuring a job in a process of its own: bounded in time, whatever the solver does, and with a
 * peak of memory that is the job's. */
#ifndef FT_BENCH_PAPERS_MEASURE_H
#define FT_BENCH_PAPERS_MEASURE_H

#include "trace/trace.h"

typedef struct ft_measure {
    double whole_ms, encode_ms, solve_ms; /* processor time, medians */
    uint64_t candidates, violations, safe, undecided;
    uint64_t encoded; /* most events that one encoding had */
    int rounds;
    bool late;    /* the limit passed: the counts are those so far */
    bool died;    /* likewise, but it crashed or a call failed */
    bool correct; /* no record is an error */
} ft_measure;

typedef struct ft_job {
    const char *check, *model, *encoding;
    const char *key; /* solve the subproblems whose key contains this alone, or NULL */
    const char *per; /* NULL: "event" */
} ft_job;

/* Medians of up to `rounds` runs in one process, after one that is not counted (a worker lives
 * long: the solver's first use is not part of a job). A run over 1.5 seconds is counted and the
 * last. limit_s: of each run. */
ft_measure ft_measure_job(ft_trace *trace, const ft_job *job, int rounds, double limit_s);

/* Processor time of this process so far: the machine may have others to serve. */
double ft_measure_used_ms(void);

typedef enum ft_end { FT_END_DONE, FT_END_LATE, FT_END_DIED } ft_end;
/* Runs `work` in a process of its own, with `size` bytes at `result` that it fills as it goes.
 * LATE: it was stopped at the limit, or by its own alarm. */
ft_end ft_measure_apart(void (*work)(void *context, void *result), void *context, void *result,
                        size_t size, double limit_s);
/* Runs a program, its output thrown away; milliseconds of processor time, negative: it failed or
 * the limit passed. argv ends with NULL. */
double ft_measure_program(char *const argv[], double limit_s);

double ft_measure_median(double *values, int count);

#endif
