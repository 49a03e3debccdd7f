/* Writing the canonical binary form of a trace that goes by: block by block, while it is read and
 * normalised. It reads as what ft_binary_write makes of the whole trace, but for its frames:
 * declarations stand before the block that needs them first, and what the run says of variables
 * declared before that behind all blocks. */
#ifndef FT_TRACE_BINARY_FLOW_H
#define FT_TRACE_BINARY_FLOW_H

#include "trace/reader.h"

typedef struct ft_binary_flow ft_binary_flow;

/* The builder gives its events away and outlives the flow. */
ft_binary_flow *ft_binary_flow_new(ft_builder *builder, ft_sink sink, void *context);
void ft_binary_flow_free(ft_binary_flow *flow); /* accepts NULL */
/* Writes what the trace has now. Fails as the sink did. */
ft_status ft_binary_flow_put(ft_binary_flow *flow, ft_error *err) FT_MUST_CHECK;
/* Writes what comes behind the last events. */
ft_status ft_binary_flow_end(ft_binary_flow *flow, ft_error *err) FT_MUST_CHECK;

#endif
