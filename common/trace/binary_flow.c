#include "trace/binary_flow.h"

#include <stdlib.h>

#include "trace/binary_out.h"
#include "trace/builder_internal.h"

struct ft_binary_flow {
    ft_builder *builder;
    ft_binary_lists lists;
    ft_binary_out out;
    ft_binary_columns columns;
    FT_VEC(uint32_t) initials; /* of the variables that are declared, as it was said then */
};

static void to_out(void *context, ft_binary_frame type, const void *raw, size_t length)
{
    ft_binary_out_frame(context, type, raw, length);
}

ft_binary_flow *ft_binary_flow_new(ft_builder *builder, ft_sink sink, void *context)
{
    ft_binary_flow *f = ft_calloc(1, sizeof *f);
    f->builder = builder;
    f->out = (ft_binary_out){.sink = sink, .context = context};
    f->lists = (ft_binary_lists){.trace = builder->trace, .frame = to_out, .context = &f->out};
    return f;
}

void ft_binary_flow_free(ft_binary_flow *f)
{
    if (!f) return;
    ft_binary_lists_release(&f->lists);
    ft_binary_columns_release(&f->columns);
    ft_binary_out_close(&f->out);
    ft_vec_release(&f->initials);
    free(f);
}

static const uint32_t *unless_zeros(const uint32_t *numbers, uint32_t n)
{
    uint32_t seen = 0;
    for (uint32_t i = 0; numbers && i < n; i++) seen |= numbers[i];
    return seen ? numbers : NULL;
}

static void put_events(ft_binary_flow *f)
{
    const ft_trace *trace = f->builder->trace;
    const ft_binary_rows rows = {.first = f->builder->flushed,
                                 .n = trace->n_events,
                                 .kind = trace->kind,
                                 .flags = trace->flags,
                                 .thread = trace->thread,
                                 .object = trace->object,
                                 .loc = trace->loc,
                                 .data = trace->data,
                                 .hook = unless_zeros(trace->hook, trace->n_events),
                                 .context = unless_zeros(trace->context, trace->n_events)};
    ft_binary_columns_put(&f->columns, &rows, trace->threads.len, &f->out);
}

static void remember_initials(ft_binary_flow *f)
{
    const ft_trace *trace = f->builder->trace;
    for (size_t v = f->initials.len; v < trace->shared.len; v++)
        ft_vec_push(&f->initials, trace->shared_info[v].initial);
}

ft_status ft_binary_flow_put(ft_binary_flow *f, ft_error *err)
{
    ft_trace *trace = f->builder->trace;
    f->out.err = err;
    if (!f->out.zstd)
        ft_binary_out_open(&f->out, FT_BINARY_STORED, trace->format, FT_BINARY_CANONICAL);
    ft_binary_lists_declare(&f->lists);
    remember_initials(f);
    ft_binary_lists_inputs(&f->lists);
    trace->n_inputs = 0;
    put_events(f);
    return f->out.status;
}

ft_status ft_binary_flow_end(ft_binary_flow *f, ft_error *err)
{
    const ft_trace *trace = f->builder->trace;
    f->out.err = err;
    for (uint32_t v = 0; v < f->initials.len; v++)
        if (trace->shared_info[v].initial != f->initials.data[v])
            ft_binary_lists_initial(&f->lists, v);
    ft_binary_lists_initials(&f->lists);
    ft_binary_lists_end(&f->lists, ft_builder_count(f->builder));
    return f->out.status;
}
