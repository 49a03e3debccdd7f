/* Reports as text for people: findings, schedules, the summary line. */
#ifndef FT_CLI_VIEW_H
#define FT_CLI_VIEW_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"
#include "cli.h"

typedef struct ft_view {
    const char *file;        /* how the user named the trace */
    size_t columns;          /* width that schedules may take */
    bool color;              /* with terminal escapes */
    bool full;               /* fold nothing */
    bool show_safe;          /* list safe blocks */
    bool explain;            /* say what decided each candidate */
    bool quiet;              /* the summary line only */
    bool private_server;     /* findings cannot be fetched later */
    const char *witness_dir; /* where witness files were written, NULL: nowhere */
    size_t file_number;      /* where several files are checked, from 1; 0: only one */
} ft_view;

/* Width and colour for standard output (NO_COLOR, TERM and COLUMNS respected). */
void ft_view_init(ft_view *view);

/* A whole report (docs/records.md), summary line last: its findings, and the rest. */
void ft_view_report(const ft_view *view, const json_t *report, ft_strbuf *out);
void ft_view_finding(const ft_view *view, const json_t *record, size_t number, ft_strbuf *out);
/* Of the findings nothing but check, status and count is needed here. */
void ft_view_rest(const ft_view *view, const json_t *report, ft_strbuf *out);
/* explain.c: what decided each candidate, and the statistics of a report. */
void ft_view_explanations(const json_t *report, ft_strbuf *out);
void ft_view_summary(const ft_view *view, const json_t *report, ft_strbuf *out);
/* The witness's interleaving: a column for each thread where that fits, else indented. */
void ft_view_schedule(const ft_view *view, const json_t *record, ft_strbuf *out);
/* How the schedule differs from the observed run, one line; nothing where that cannot be told. */
void ft_view_difference(const json_t *witness, ft_strbuf *out);

/* The file for the number-th (from 1) finding's witness: DIR/BASE.N.json, or DIR/F-BASE.N.json for
 * the F-th of several files; heap text. */
char *ft_view_witness_path(const ft_view *view, size_t number);

/* 0, 1 or 3 (design §5): of a report whose job ended or was stopped. */
ft_exit ft_view_exit(const json_t *report);

typedef enum ft_paint { FT_PAINT_PLAIN, FT_PAINT_BOLD, FT_PAINT_RED, FT_PAINT_YELLOW } ft_paint;
/* Adds text in a colour; PLAIN or without colours: as it is. */
void ft_view_paint(const ft_view *view, ft_paint paint, const char *text, ft_strbuf *out);
/* Adds text with control characters as '?': names come from traces that strangers made. */
void ft_view_safe_text(const char *text, ft_strbuf *out);

/* Members of JSON objects, with what to take where they are missing. */
const char *ft_json_text(const json_t *json, const char *member, const char *otherwise);
size_t ft_json_count(const json_t *json, const char *member); /* 0 when missing or negative */

#endif
