/* Inside of merging: which events of a thread in two runs are the same, and where the runs part and
 * meet again. Not for others. */
#ifndef FT_TRACE_MERGE_ALIGN_H
#define FT_TRACE_MERGE_ALIGN_H

#include <stdbool.h>

#include "trace/merge_internal.h"

/* A thread of one run: a row of items, each an event or a whole if with its arms. */
typedef struct ft_align_side {
    const ft_merge_entry **items; /* [n] an if: its if event */
    uint64_t
        *held; /* [n + 1] a hash of the locks, transactions and waits that are open before it */
    size_t n;
} ft_align_side;

typedef enum ft_align_match {
    FT_ALIGN_DIFFER,
    FT_ALIGN_SAME, /* one event of both */
    FT_ALIGN_PART, /* two assumes that part the runs */
    FT_ALIGN_ENTER /* an if of the first run, which the second run's assume enters */
} ft_align_match;

typedef struct ft_align_rules {
    ft_align_match (*match)(void *context, const ft_align_side *first, size_t i,
                            const ft_align_side *second, size_t j);
    bool (*may_part)(void *context, const ft_align_side *first, size_t i);
    bool (*may_skip)(void *context, const ft_align_side *side, size_t i); /* stand in an arm */
    void *context;
} ft_align_rules;

/* The alignment that shares the most events; everything given must outlive it. */
typedef struct ft_alignment ft_alignment;
ft_status ft_alignment_new(const ft_align_side *first, const ft_align_side *second,
                           const ft_align_rules *rules, ft_alignment **alignment,
                           ft_error *err) FT_MUST_CHECK;
void ft_alignment_free(ft_alignment *alignment); /* accepts NULL */
bool ft_alignment_possible(const ft_alignment *alignment);

/* The step to take at items i and j, and at which items the runs are together after it. DIFFER: at
 * the end of both. */
ft_align_match ft_alignment_step(const ft_alignment *alignment, size_t i, size_t j,
                                 size_t *meet_first, size_t *meet_second);

#endif
