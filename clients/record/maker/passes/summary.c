/* Fills the summary of a recording after the second pass. */
#include "maker/passes/summary.h"

#include <stdio.h>
#include <stdlib.h>

#include "maker/passes/passes.h"

enum { HOT = 1000 }; /* events at a site, below which nobody wants to know of it */

static void add_hot(ft_maker *m, uint32_t loc, uint64_t n)
{
    ft_record_hot hot = {.loc = loc, .n = n};
    for (uint32_t i = 0; i < FT_RECORD_HOT; i++) {
        ft_record_hot *at = &m->summary->hot[i], before = *at;
        if (at->n >= hot.n) continue;
        *at = hot;
        hot = before;
    }
}

/* The log counts events by site; users see lines. */
static void find_hot(ft_maker *m)
{
    uint32_t n = ft_builder_peek(m->builder)->n_locations;
    const uint64_t *by_site = ft_raw_log_counts(m->log);
    uint64_t *counts = ft_calloc(n + m->inventory.sites.len + 1, sizeof *counts);
    for (size_t s = 2; s < m->inventory.sites.len; s++) /* behind the returns' */
        if (by_site[s] >= HOT) counts[ft_names_location(&m->names, s)] += by_site[s];
    n = ft_builder_peek(m->builder)->n_locations;
    for (uint32_t loc = 1; loc < n; loc++) add_hot(m, loc, counts[loc]);
    for (uint32_t i = 0; i < FT_RECORD_HOT && m->summary->hot[i].n; i++)
        snprintf(m->summary->hot[i].place, FT_RECORD_TEXT, "%s",
                 ft_builder_peek(m->builder)->locations[m->summary->hot[i].loc].text);
    free(counts);
}

void ft_maker_summarise(ft_maker *m)
{
    find_hot(m);
    const ft_raw_header *header = ft_raw_log_header(m->log);
    m->summary->bytes = header->mark;
    m->summary->granules = ft_cells_granules(m->cells);
    m->summary->cells = ft_builder_peek(m->builder)->shared.len;
    m->summary->threads = header->threads;
    m->summary->ignored = header->ignored;
    m->summary->signals = header->signals;
    m->summary->end = header->end;
}
