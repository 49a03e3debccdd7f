/* The rows of the papers' tables: our program for each, and the figures as published. */
#ifndef FT_BENCH_PAPERS_ROWS_H
#define FT_BENCH_PAPERS_ROWS_H

#include "bench/programs/programs.h"

#define FT_NOT_PUBLISHED (-1)

/* As published; FT_NOT_PUBLISHED: the table has no such figure. */
typedef struct ft_published {
    int threads, events, total, lockset, order, causality, violations;
    double seconds;
} ft_published;

typedef struct ft_row {
    const char *name, *check, *model;
    ft_trace *(*make)(const ft_program_shape *shape);
    ft_program_shape shape;
    bool slow; /* --long only */
    ft_published published;
} ft_row;

typedef struct ft_table {
    const char *title;
    const ft_row *rows;
    size_t count;
} ft_table;

extern const ft_table ft_tables[];
extern const size_t ft_table_count;

#endif
