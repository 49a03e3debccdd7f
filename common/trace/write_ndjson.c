#include <inttypes.h>
#include <string.h>

#include "trace/reader.h"

enum { FLUSH = 1 << 16 };

typedef struct writer {
    const ft_trace *trace;
    ft_sink sink;
    void *context;
    ft_error *err;
    ft_status status; /* of the first failure */
    ft_scope scope;
    ft_strbuf out;  /* whole lines, then the line being made */
    size_t line;    /* where that begins */
    ft_strbuf text; /* scratch: a term or value */
} writer;

static void put(writer *w, const char *text)
{
    ft_strbuf_puts(&w->out, text);
}

/* Names and locations are UTF-8 already (the builder sees to that). */
static void put_string(writer *w, const char *text)
{
    put(w, "\"");
    while (*text) {
        size_t plain = strcspn(text, "\"\\");
        ft_strbuf_add(&w->out, text, plain);
        text += plain;
        if (!*text) break;
        ft_strbuf_printf(&w->out, "\\%c", *text++);
    }
    put(w, "\"");
}

static void put_member(writer *w, const char *name, const char *value)
{
    ft_strbuf_printf(&w->out, ",\"%s\":", name);
    put_string(w, value);
}

static void put_term(writer *w, ft_term term)
{
    ft_strbuf_clear(&w->text);
    ft_term_print(w->trace->terms, term, &w->scope, &w->text);
    put_string(w, ft_strbuf_text(&w->text));
}

static void put_sort(writer *w, ft_sort sort)
{
    ft_strbuf_clear(&w->text);
    ft_sort_print(sort, &w->text);
    put_string(w, ft_strbuf_text(&w->text));
}

static void put_value(writer *w, uint32_t id)
{
    ft_value value = w->trace->values[id];
    if (value.sort.kind == FT_SORT_INT) {
        ft_strbuf_printf(&w->out, "%" PRId64, (int64_t)value.bits);
        return;
    }
    ft_strbuf_clear(&w->text);
    ft_value_print(value, &w->text);
    if (value.sort.kind == FT_SORT_BOOL)
        put(w, ft_strbuf_text(&w->text));
    else
        put_string(w, ft_strbuf_text(&w->text));
}

static void end_line(writer *w)
{
    if (w->out.len - w->line > FT_READER_MAX_LINE && w->status == FT_OK)
        w->status = ft_error_set(w->err, FT_LIMIT,
                                 "a line of the NDJSON would be longer than %u bytes, which no "
                                 "reader takes: convert to binary instead",
                                 FT_READER_MAX_LINE);
    put(w, "\n");
    w->line = w->out.len;
}

static void flush(writer *w)
{
    if (w->status == FT_OK && w->out.len)
        w->status = w->sink(w->context, w->out.text, w->out.len, w->err);
    ft_strbuf_clear(&w->out);
    w->line = 0;
}

/* ---- header --------------------------------------------------------------------------------- */

static void put_variables(writer *w, const char *member, const ft_intern *table,
                          const ft_variable *info)
{
    if (!table->len) return;
    ft_strbuf_printf(&w->out, ",\"%s\":{", member);
    for (uint32_t i = 0; i < table->len; i++) {
        if (i) put(w, ",");
        put_string(w, table->names[i]);
        put(w, ":{\"sort\":");
        put_sort(w, info[i].sort);
        if (info[i].initial != FT_NO_VALUE) {
            put(w, ",\"init\":");
            put_value(w, info[i].initial);
        }
        put(w, "}");
    }
    put(w, "}");
}

static void put_locks(writer *w)
{
    const ft_trace *trace = w->trace;
    for (uint32_t i = 0; i < trace->locks.len; i++) {
        put(w, i ? "," : ",\"locks\":{");
        put_string(w, trace->locks.names[i]);
        put(w, ":");
        put_string(w, ft_lock_kind_name((ft_lock_kind)trace->lock_kind[i]));
    }
    if (trace->locks.len) put(w, "}");
}

static void put_semaphores(writer *w)
{
    const ft_trace *trace = w->trace;
    for (uint32_t i = 0; i < trace->semaphores.len; i++) {
        put(w, i ? "," : ",\"semaphores\":{");
        put_string(w, trace->semaphores.names[i]);
        ft_strbuf_printf(&w->out, ":%" PRIu32, trace->semaphore_initial[i]);
    }
    if (trace->semaphores.len) put(w, "}");
}

static void put_barriers(writer *w)
{
    const ft_trace *trace = w->trace;
    for (uint32_t i = 0; i < trace->barriers.len; i++) {
        put(w, i ? "," : ",\"barriers\":{");
        put_string(w, trace->barriers.names[i]);
        ft_strbuf_printf(&w->out, ":%" PRIu32, trace->barrier_count[i]);
    }
    if (trace->barriers.len) put(w, "}");
}

static void put_blocks(writer *w)
{
    const ft_trace *trace = w->trace;
    for (uint32_t i = 0; i < trace->blocks.len; i++) {
        const ft_block_cells *cells = &trace->block_cells[i];
        put(w, i ? "," : ",\"blocks\":{");
        put_string(w, trace->blocks.names[i]);
        put(w, ":[");
        for (uint32_t c = 0; c < cells->count; c++) {
            if (c) put(w, ",");
            put_string(w, trace->shared.names[cells->variables[c]]);
        }
        put(w, "]");
    }
    if (trace->blocks.len) put(w, "}");
}

static void put_names(writer *w, const char *member, const ft_intern *table)
{
    ft_strbuf_printf(&w->out, "\"%s\":[", member);
    for (uint32_t i = 0; i < table->len; i++) {
        if (i) put(w, ",");
        put_string(w, table->names[i]);
    }
    put(w, "]");
}

static void put_header(writer *w)
{
    const ft_trace *trace = w->trace;
    put(w, "{\"format\":\"foretell\",\"version\":1,");
    put_names(w, "threads", &trace->threads);
    put_variables(w, "variables", &trace->shared, trace->shared_info);
    put_variables(w, "locals", &trace->locals, trace->local_info);
    put_locks(w);
    put_semaphores(w);
    if (trace->conditions.len) put(w, ",");
    if (trace->conditions.len) put_names(w, "conditions", &trace->conditions);
    put_barriers(w);
    if (trace->onces.len) put(w, ",");
    if (trace->onces.len) put_names(w, "onces", &trace->onces);
    put_blocks(w);
    put(w, "}");
    end_line(w);
}

/* ---- events --------------------------------------------------------------------------------- */

static void put_assign(writer *w, const ft_action *action)
{
    if (action->guard != FT_NO_TERM) {
        put(w, ",\"guard\":");
        put_term(w, action->guard);
    }
    put(w, ",\"set\":{");
    for (uint32_t i = 0; i < action->n_assignments; i++) {
        if (i) put(w, ",");
        put_string(w, w->scope.name(w->scope.context, action->assignments[i].target));
        put(w, ":");
        put_term(w, action->assignments[i].term);
    }
    put(w, "}");
}

static void put_known(writer *w, const char *member, uint32_t value)
{
    if (value == FT_NO_VALUE) return;
    ft_strbuf_printf(&w->out, ",\"%s\":", member);
    put_value(w, value);
}

static void put_body(writer *w, uint32_t e)
{
    static const char *const MEMBER[FT_OBJECT_CLASSES] = {
        [FT_OBJECT_VARIABLE] = "variable",   [FT_OBJECT_LOCK] = "lock",
        [FT_OBJECT_SEMAPHORE] = "semaphore", [FT_OBJECT_THREAD] = "child",
        [FT_OBJECT_EDGE] = "edge",           [FT_OBJECT_CONDITION] = "cond",
        [FT_OBJECT_BARRIER] = "barrier",     [FT_OBJECT_ONCE] = "once",
        [FT_OBJECT_BLOCK] = "block"};
    const ft_trace *trace = w->trace;
    const ft_action *action = ft_trace_action(trace, e);
    ft_object_class object = ft_event_kind_object(trace->kind[e]);
    if (object != FT_OBJECT_NONE) put_member(w, MEMBER[object], ft_trace_object_name(trace, e));
    if (trace->kind[e] == FT_EVENT_RMW) {
        put_known(w, "value", trace->updates[trace->data[e]].read);
        put_known(w, "result", trace->updates[trace->data[e]].written);
    } else if (object == FT_OBJECT_VARIABLE) {
        put_known(w, "value", trace->data[e]);
    }
    if (trace->kind[e] == FT_EVENT_ASSIGN) {
        put_assign(w, action);
    } else if (action) {
        put(w, ",\"term\":");
        put_term(w, action->guard);
    }
}

static void put_event(writer *w, uint32_t e)
{
    const ft_trace *trace = w->trace;
    bool lock = ft_event_kind_object(trace->kind[e]) == FT_OBJECT_LOCK;
    bool access = ft_trace_is_symbolic_event(trace, e) || trace->kind[e] == FT_EVENT_READ ||
                  trace->kind[e] == FT_EVENT_WRITE;
    put(w, "{\"thread\":");
    put_string(w, ft_trace_thread_name(trace, trace->thread[e]));
    put_member(w, "kind", ft_event_kind_name(trace->kind[e]));
    put_body(w, e);
    if (access && trace->flags[e] & FT_FLAG_ATOMIC) put(w, ",\"atomic\":true");
    if (trace->kind[e] == FT_EVENT_WRITE && trace->flags[e] & FT_FLAG_SYNTHETIC)
        put(w, ",\"external\":true");
    if (lock && trace->flags[e] & FT_FLAG_CONDITION) put(w, ",\"condition\":true");
    if (lock && trace->flags[e] & FT_FLAG_TRY) put(w, ",\"try\":true");
    if (trace->kind[e] == FT_EVENT_COND_WAKE && trace->flags[e] & FT_FLAG_FAILED)
        put(w, ",\"timeout\":true");
    const ft_location *location = &trace->locations[trace->loc[e]];
    if (trace->loc[e] != FT_NO_LOC) put_member(w, "loc", location->text);
    if (location->function) put_member(w, "function", location->function);
    put(w, "}");
    end_line(w);
}

ft_status ft_ndjson_write(const ft_trace *trace, ft_sink sink, void *context, ft_error *err)
{
    writer w = {.trace = trace,
                .sink = sink,
                .context = context,
                .err = err,
                .status = FT_OK,
                .scope = ft_trace_scope(trace)};
    put_header(&w);
    for (uint32_t e = 0; e < trace->n_events && w.status == FT_OK; e++) {
        put_event(&w, e);
        if (w.out.len >= FLUSH) flush(&w);
    }
    flush(&w);
    ft_strbuf_release(&w.out);
    ft_strbuf_release(&w.text);
    return w.status;
}
