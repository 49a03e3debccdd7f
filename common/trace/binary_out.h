/* Inside of the binary writers: what those of a whole trace (binary_write.c) and of one that still
 * grows (binary_stream.c) share. Not for others. */
#ifndef FT_TRACE_BINARY_OUT_H
#define FT_TRACE_BINARY_OUT_H

#include "trace/binary.h"
#include "trace/reader.h"
#include "trace/trace.h"

/* ---- binary_frames.c: frames, compressed, into a sink */
typedef struct ft_binary_out {
    ft_sink sink;
    void *context;
    ft_error *err;
    ft_status status; /* of the first failure; nothing is written after it */
    int level;        /* of zstd */
    struct ZSTD_CCtx_s *zstd;
    unsigned char *packed;
    size_t packed_cap;
} ft_binary_out;

/* `out` with its first three fields filled in: writes the header, whose flags are given. */
void ft_binary_out_open(ft_binary_out *out, int level, ft_format format, unsigned flags);
void ft_binary_out_frame(ft_binary_out *out, ft_binary_frame type, const void *raw, size_t length);
void ft_binary_out_close(ft_binary_out *out);

/* ---- binary_lists.c: declarations and all that is no events */
typedef struct ft_binary_lists {
    const ft_trace *trace;
    void (*frame)(void *context, ft_binary_frame type, const void *raw, size_t length);
    void *context;
    bool no_values;                  /* somebody else puts them (ft_binary_put_values) */
    ft_strbuf raw;                   /* of the frame being made */
    uint32_t done[FT_BINARY_FRAMES]; /* items of each list that have been put */
} ft_binary_lists;

/* Puts what the trace declares and was not put yet. */
void ft_binary_lists_declare(ft_binary_lists *lists);
/* Puts the inputs that the trace has so far. */
void ft_binary_lists_inputs(ft_binary_lists *lists);
/* Puts an initial value that the variable's declaration did not say. */
void ft_binary_lists_initial(ft_binary_lists *lists, uint32_t shared);
/* Ends the frame of those, if there is one. */
void ft_binary_lists_initials(ft_binary_lists *lists);
/* Puts what comes behind the events, of which there were n in all. */
void ft_binary_lists_end(ft_binary_lists *lists, uint32_t n_events);
void ft_binary_lists_release(ft_binary_lists *lists);

enum { FT_BINARY_STORED = 3 }; /* level of zstd that traces are stored with */

enum { FT_BINARY_VALUES = 1 << 17 }; /* values that fit a frame */
/* Appends a payload of that list; at most FT_BINARY_VALUES at once. */
void ft_binary_put_values(ft_strbuf *raw, const ft_value *values, uint32_t n);

/* ---- binary_columns.c: events */
typedef struct ft_binary_rows {
    uint32_t first, n; /* at most FT_BINARY_BLOCK events, and how many were before them */
    const uint8_t *kind, *flags;
    const uint16_t *thread;
    const uint32_t *object, *loc, *data;
    const uint32_t *hook, *context; /* NULL: no frames of them */
} ft_binary_rows;

typedef struct ft_binary_columns {
    uint32_t n_threads;
    unsigned char *column; /* one that is being made */
    uint32_t *last;        /* [n_threads] */
    ft_strbuf raw;
} ft_binary_columns;

/* Embedded: zero-initialise. n_threads: that rows may have. */
void ft_binary_columns_put(ft_binary_columns *columns, const ft_binary_rows *rows,
                           uint32_t n_threads, ft_binary_out *out);
void ft_binary_columns_release(ft_binary_columns *columns);

#endif
