#include "bench/papers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void print_heads(const ft_part *part)
{
    printf("\n%s\n", part->title);
    if (part->note) printf("%s\n", part->note);
    for (size_t i = 0; i < part->n_columns; i++)
        printf("%*s%s", part->columns[i].width, part->columns[i].head,
               i + 1 < part->n_columns ? " " : "\n");
}

ft_part ft_part_begin(const ft_papers *papers, const char *title, const char *note,
                      const ft_column *columns, size_t n_columns)
{
    ft_part part = {papers, title, note, columns, n_columns, json_array()};
    json_object_set_new(papers->parts, title, part.rows);
    return part;
}

bool ft_part_wants(const ft_part *part, const char *name)
{
    return !part->papers->only || strstr(name, part->papers->only);
}

/* Three digits or so: the rest is noise. */
static void print_real(double value, bool over, char *out, size_t size)
{
    int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    snprintf(out, size, "%s%.*f", over ? "> " : "", decimals, value);
}

static void print_cell(const json_t *row, const ft_column *column, char *out, size_t size)
{
    char over_key[64];
    const json_t *value = json_object_get(row, column->key);
    snprintf(over_key, sizeof over_key, "%s_over", column->key);
    if (json_is_string(value))
        snprintf(out, size, "%s", json_string_value(value));
    else if (json_is_integer(value))
        snprintf(out, size, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        print_real(json_real_value(value), json_is_true(json_object_get(row, over_key)), out, size);
    else
        snprintf(out, size, "-");
}

void ft_part_row(ft_part *part, json_t *row)
{
    json_array_append_new(part->rows, row);
    if (!part->papers->text) return;
    if (json_array_size(part->rows) == 1) print_heads(part);
    for (size_t i = 0; i < part->n_columns; i++) {
        char cell[64];
        print_cell(row, &part->columns[i], cell, sizeof cell);
        printf("%*s%s", part->columns[i].width, cell, i + 1 < part->n_columns ? " " : "\n");
    }
    fflush(stdout);
}

void ft_row_number(json_t *row, const char *key, double value)
{
    json_object_set_new(row, key,
                        floor(value) == value && fabs(value) < 1e15
                            ? json_integer((json_int_t)value)
                            : json_real(value));
}

static void set_time(json_t *row, const char *prefix, const char *name, double ms, bool over)
{
    char key[64];
    snprintf(key, sizeof key, "%s%s", prefix, name);
    json_object_set_new(row, key, json_real(ms));
    if (!over) return;
    snprintf(key, sizeof key, "%s%s_over", prefix, name);
    json_object_set_new(row, key, json_true());
}

/* Of a run that was stopped the solving time is not known, but that it was most of it. */
void ft_row_times(json_t *row, const char *prefix, const ft_measure *m)
{
    set_time(row, prefix, "solve_ms", m->late ? m->whole_ms : m->solve_ms, m->late);
    set_time(row, prefix, "whole_ms", m->whole_ms, m->late);
}

static void set_ratio(json_t *row, const char *name, double ours, double literal, bool over)
{
    if (ours > 0 && literal > 0) set_time(row, "ratio_", name, literal / ours, over);
}

void ft_row_ratio(json_t *row, const ft_measure *ours, const ft_measure *literal)
{
    if (ours->late || ours->died || literal->died) return;
    set_ratio(row, "solve", ours->solve_ms, literal->late ? literal->whole_ms : literal->solve_ms,
              literal->late);
    set_ratio(row, "whole", ours->whole_ms, literal->whole_ms, literal->late);
}

static bool is_open(const ft_measure *m)
{
    return m->late || m->undecided > 0;
}

void ft_row_agreement(json_t *row, const ft_measure *ours, const ft_measure *literal)
{
    const char *text = "same";
    if (ours->died || literal->died)
        text = "DIED";
    else if (!ours->correct || !literal->correct)
        text = "ERROR";
    else if (is_open(ours) || is_open(literal))
        text = "open";
    else if (ours->violations != literal->violations || ours->safe != literal->safe)
        text = "DIFFER";
    json_object_set_new(row, "verdicts", json_string(text));
}
