/* The parts of the `papers` benchmark. Each part makes rows: flat JSON objects that are printed as
 * lines of text as they come, and kept for --json. */
#ifndef FT_BENCH_PAPERS_H
#define FT_BENCH_PAPERS_H

#include <jansson.h>

#include "bench/papers_measure.h"

typedef struct ft_papers {
    bool long_run;
    bool text;                /* else nothing but the JSON document at the end */
    const char *only;         /* rows whose name contains this, or NULL */
    const char *corpus;       /* folder of public traces */
    const char *queries;      /* folder of fixed SMT-LIB files */
    double ours_s, literal_s; /* limits of one run */
    int rounds;
    json_t *parts; /* title -> array of rows */
} ft_papers;

void ft_papers_tables(const ft_papers *papers);   /* rows of the papers' tables */
void ft_papers_ratios(const ft_papers *papers);   /* the ratios that are required */
void ft_papers_queries(const ft_papers *papers);  /* the literal encoding against the z3 program */
void ft_papers_passes(const ft_papers *papers);   /* before the solver, by length */
void ft_papers_distance(const ft_papers *papers); /* the same race after longer and longer runs */

/* ---- printing ---- */

/* A column of a part. A number whose row has "KEY_over": true is a limit that passed: "> 5000". */
typedef struct ft_column {
    const char *head, *key;
    int width; /* negative: left-aligned */
} ft_column;

typedef struct ft_part {
    const ft_papers *papers;
    const char *title, *note;
    const ft_column *columns;
    size_t n_columns;
    json_t *rows; /* borrowed from papers->parts */
} ft_part;

/* note: what the reader has to know, or NULL. */
ft_part ft_part_begin(const ft_papers *papers, const char *title, const char *note,
                      const ft_column *columns, size_t n_columns);
bool ft_part_wants(const ft_part *part, const char *name);
void ft_part_row(ft_part *part, json_t *row); /* takes the row over */

/* Adds PREFIXsolve_ms, PREFIXwhole_ms and whether they are limits. */
void ft_row_times(json_t *row, const char *prefix, const ft_measure *m);
/* Adds ratio_solve and ratio_whole of literal to ours. */
void ft_row_ratio(json_t *row, const ft_measure *ours, const ft_measure *literal);
void ft_row_number(json_t *row, const char *key, double value);
/* Adds "verdicts": same, open (some are undecided or the limit passed), DIFFER, ERROR, DIED. */
void ft_row_agreement(json_t *row, const ft_measure *ours, const ft_measure *literal);

#endif
