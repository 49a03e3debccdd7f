/* Inside of merging: the traces' events in the numbers of the merged trace. Not for others. */
#ifndef FT_TRACE_MERGE_INTERNAL_H
#define FT_TRACE_MERGE_INTERNAL_H

#include "trace/builder_internal.h"

/* An event of one thread, in the builder's ids. */
typedef struct ft_merge_entry {
    uint8_t kind, flags;
    uint32_t object, loc, data; /* as in ft_trace */
    uint32_t place;             /* where it stands in the first trace; FT_NO_EVENT: it does not */
} ft_merge_entry;

typedef FT_VEC(ft_merge_entry) ft_merge_list;

/* Declares in the builder what the trace declares. FT_INPUT: it contradicts what is declared there
 * already. */
ft_status ft_merge_declare(ft_builder *builder, const ft_trace *trace, const char *name,
                           ft_error *err) FT_MUST_CHECK;

/* Appends the events of the trace, all of it declared, to the lists of their threads (by the
 * builder's ids), without what normalising added; with their places if it is the first trace. */
void ft_merge_import(ft_builder *builder, const ft_trace *trace, bool first,
                     ft_merge_list *threads);

#endif
