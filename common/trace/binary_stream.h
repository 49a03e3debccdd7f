/* Writing a binary trace while it is made: what a builder has of it goes out block by block, so
 * that no more than a few blocks of events are ever in memory, and another thread compresses them.
 * The file is not canonical: who reads it normalises. */
#ifndef FT_TRACE_BINARY_STREAM_H
#define FT_TRACE_BINARY_STREAM_H

#include "trace/reader.h"

typedef struct ft_binary_stream ft_binary_stream;

/* Before the builder's first event; actions and branches must not be among them. The builder is the
 * caller's, who frees it after the stream and does not finish it. The sink is called by another
 * thread, and not by two at once. */
ft_binary_stream *ft_binary_stream_open(ft_builder *builder, ft_sink sink, void *context);
/* Writes what is left and frees the stream, whatever the status. *n_events (may be NULL): how many
 * there were. Fails as ft_builder_finish does, or as the sink did. */
ft_status ft_binary_stream_close(ft_binary_stream *stream, uint32_t *n_events,
                                 ft_error *err) FT_MUST_CHECK;

#endif
