#include "trace/binary_out.h"

static void to_out(void *context, ft_binary_frame type, const void *raw, size_t length)
{
    ft_binary_out_frame(context, type, raw, length);
}

static ft_binary_rows rows_of(const ft_trace *trace, uint32_t first)
{
    uint32_t left = trace->n_events - first;
    return (ft_binary_rows){.first = first,
                            .n = left > FT_BINARY_BLOCK ? FT_BINARY_BLOCK : left,
                            .kind = trace->kind + first,
                            .flags = trace->flags + first,
                            .thread = trace->thread + first,
                            .object = trace->object + first,
                            .loc = trace->loc + first,
                            .data = trace->data + first,
                            .hook = trace->hook ? trace->hook + first : NULL,
                            .context = trace->context ? trace->context + first : NULL};
}

static void put_events(const ft_trace *trace, ft_binary_out *out)
{
    ft_binary_columns columns = {0};
    for (uint32_t first = 0; first < trace->n_events && out->status == FT_OK;) {
        ft_binary_rows rows = rows_of(trace, first);
        ft_binary_columns_put(&columns, &rows, trace->threads.len, out);
        first += rows.n;
    }
    ft_binary_columns_release(&columns);
}

ft_status ft_binary_write(const ft_trace *trace, ft_sink sink, void *context, ft_error *err)
{
    ft_binary_out out = {.sink = sink, .context = context, .err = err};
    ft_binary_lists lists = {.trace = trace, .frame = to_out, .context = &out};
    ft_binary_out_open(&out, FT_BINARY_STORED, trace->format, FT_BINARY_CANONICAL);
    ft_binary_lists_declare(&lists);
    put_events(trace, &out);
    ft_binary_lists_end(&lists, trace->n_events);
    ft_binary_lists_release(&lists);
    ft_binary_out_close(&out);
    return out.status;
}
