#include <string.h>

#include "bench/papers.h"
#include "bench/papers_counts.h"
#include "bench/papers_rows.h"

static const ft_column COLUMNS[] = {
    {"", "name", -14},
    {"thr", "threads", 3},
    {"events", "events", 6},
    {"cand", "candidates", 5},
    {"lsa", "lsa", 5},
    {"mhb", "mhb", 5},
    {"ucg", "ucg", 5},
    {"viol", "violations", 4},
    {"open", "undecided", 4},
    {"solve ms", "solve_ms", 8},
    {"whole ms", "whole_ms", 8},
    {"lit.solve", "literal_solve_ms", 9},
    {"lit.whole", "literal_whole_ms", 9},
    {"ratio", "ratio_whole", 7},
    {"verdicts", "verdicts", 8},
    {"| paper:", "bar", -8},
    {"thr", "paper_threads", 3},
    {"events", "paper_events", 6},
    {"cand", "paper_candidates", 5},
    {"lsa", "paper_lsa", 5},
    {"mhb", "paper_mhb", 5},
    {"ucg", "paper_ucg", 4},
    {"viol", "paper_violations", 4},
    {"seconds", "paper_seconds", 7},
};

static const char NOTE[] =
    "times: medians of processor time, ms; `lit.': the literal encoding on the same plan; `ratio': "
    "whole times; \n"
    "lsa, mhb, ucg: candidates left by locks alone, by forks and joins alone, by the causality "
    "graph; paper: as published (other machine, other programs of the same description)";

static void add_published(json_t *row, const ft_published *p)
{
    const struct {
        const char *key;
        int value;
    } figures[] = {{"paper_threads", p->threads},
                   {"paper_events", p->events},
                   {"paper_candidates", p->total},
                   {"paper_lsa", p->lockset},
                   {"paper_mhb", p->order},
                   {"paper_ucg", p->causality},
                   {"paper_violations", p->violations}};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        if (figures[i].value >= 0) ft_row_number(row, figures[i].key, figures[i].value);
    if (p->seconds >= 0) json_object_set_new(row, "paper_seconds", json_real(p->seconds));
    json_object_set_new(row, "bar", json_string("|"));
}

typedef struct counting {
    const ft_row *row;
    const ft_trace *trace;
} counting;

static void count(void *context, void *result)
{
    const counting *c = context;
    bool race = strcmp(c->row->check, "race") == 0;
    ft_model model = FT_MODEL_OBSERVED;
    if (!ft_model_parse(c->row->model, &model)) return;
    *(ft_counts *)result =
        race ? ft_counts_race(c->trace, model) : ft_counts_atomicity(c->trace, model);
}

/* False: what was counted here is not what the engine planned. */
static bool add_counts(json_t *row, const ft_row *from, const ft_trace *trace, uint64_t planned)
{
    ft_counts counts = {0};
    counting what = {from, trace};
    if (strcmp(from->check, "race") != 0 && strcmp(from->check, "atomicity") != 0) return true;
    if (ft_measure_apart(count, &what, &counts, sizeof counts, 20) != FT_END_DONE) return false;
    ft_row_number(row, "counted", (double)counts.total);
    ft_row_number(row, "lsa", (double)counts.lockset);
    ft_row_number(row, "mhb", (double)counts.order);
    ft_row_number(row, "ucg", (double)counts.causality);
    return counts.total == planned;
}

static json_t *measure_row(const ft_papers *papers, const ft_row *from)
{
    ft_trace *trace = from->make(&from->shape);
    ft_job ours_job = {from->check, from->model, "default", NULL, NULL}, literal_job = ours_job;
    literal_job.encoding = "literal";
    ft_measure ours = ft_measure_job(trace, &ours_job, papers->rounds, papers->ours_s);
    ft_measure literal = ft_measure_job(trace, &literal_job, papers->rounds, papers->literal_s);
    json_t *row = json_pack("{s:s, s:s, s:s}", "name", from->name, "check", from->check, "model",
                            from->model);
    ft_row_number(row, "threads", trace->threads.len);
    ft_row_number(row, "events", trace->n_events);
    ft_row_number(row, "candidates", (double)ours.candidates);
    bool counted = add_counts(row, from, trace, ours.candidates);
    ft_row_number(row, "violations", (double)ours.violations);
    ft_row_number(row, "undecided", (double)(ours.candidates - ours.violations - ours.safe));
    ft_row_times(row, "", &ours);
    ft_row_times(row, "literal_", &literal);
    ft_row_ratio(row, &ours, &literal);
    ft_row_agreement(row, &ours, &literal);
    if (!counted) json_object_set_new(row, "verdicts", json_string("COUNTS"));
    add_published(row, &from->published);
    ft_trace_free(trace);
    return row;
}

void ft_papers_tables(const ft_papers *papers)
{
    for (size_t t = 0; t < ft_table_count; t++) {
        const ft_table *table = &ft_tables[t];
        ft_part part = ft_part_begin(papers, table->title, t == 0 ? NOTE : NULL, COLUMNS,
                                     sizeof COLUMNS / sizeof *COLUMNS);
        for (size_t i = 0; i < table->count; i++) {
            const ft_row *row = &table->rows[i];
            if ((row->slow && !papers->long_run) || !ft_part_wants(&part, row->name)) continue;
            ft_part_row(&part, measure_row(papers, row));
        }
    }
}
