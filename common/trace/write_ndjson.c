#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/reader.h"
#include "trace/reader_ndjson.h"

enum {
    FLUSH = 1 << 16,
    SPILL = 1 << 18, /* declarations of a line before the next one is begun */
    HASH = 64
};

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
    bool *in_terms; /* by shared variable: symbolic events access it */
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

typedef struct table {
    const char *member;
    char open, close;
    uint32_t first, end;
    void (*item)(writer *w, uint32_t id);
} table;

static bool is_long(const writer *w)
{
    return w->out.len - w->line > SPILL;
}

/* null: it is in terms, and what it held before the first write is not known. */
static void put_variable(writer *w, const ft_intern *names, const ft_variable *info, uint32_t id,
                         bool in_terms)
{
    put_string(w, names->names[id]);
    put(w, ":{\"sort\":");
    put_sort(w, info[id].sort);
    if (info[id].type != FT_TYPE_NONE) put_member(w, "type", ft_type_name((ft_type)info[id].type));
    if (info[id].initial != FT_NO_VALUE) {
        put(w, ",\"init\":");
        put_value(w, info[id].initial);
    } else if (in_terms) {
        put(w, ",\"init\":null");
    }
    put(w, "}");
}

static void thread_item(writer *w, uint32_t id)
{
    put_string(w, w->trace->threads.names[id]);
}

static void shared_item(writer *w, uint32_t id)
{
    put_variable(w, &w->trace->shared, w->trace->shared_info, id, w->in_terms[id]);
}

static void local_item(writer *w, uint32_t id)
{
    put_variable(w, &w->trace->locals, w->trace->local_info, id, false);
}

static void lock_item(writer *w, uint32_t id)
{
    put_string(w, w->trace->locks.names[id]);
    put(w, ":");
    put_string(w, ft_lock_kind_name((ft_lock_kind)w->trace->lock_kind[id]));
}

static void semaphore_item(writer *w, uint32_t id)
{
    put_string(w, w->trace->semaphores.names[id]);
    ft_strbuf_printf(&w->out, ":%" PRIu32, w->trace->semaphore_initial[id]);
}

static void condition_item(writer *w, uint32_t id)
{
    put_string(w, w->trace->conditions.names[id]);
}

static void barrier_item(writer *w, uint32_t id)
{
    put_string(w, w->trace->barriers.names[id]);
    ft_strbuf_printf(&w->out, ":%" PRIu32, w->trace->barrier_count[id]);
}

static void once_item(writer *w, uint32_t id)
{
    put_string(w, w->trace->onces.names[id]);
}

static void block_item(writer *w, uint32_t id)
{
    const ft_block_cells *cells = &w->trace->block_cells[id];
    put_string(w, w->trace->blocks.names[id]);
    put(w, ":[");
    for (uint32_t c = 0; c < cells->count; c++) {
        if (c && is_long(w)) {
            put(w, "]}}");
            end_line(w);
            put(w, "{\"blocks\":{");
            put_string(w, w->trace->blocks.names[id]);
            put(w, ":[");
        } else if (c) {
            put(w, ",");
        }
        put_string(w, w->trace->shared.names[cells->variables[c]]);
    }
    put(w, "]");
}

static void put_place(writer *w, uint32_t loc)
{
    const ft_location *location = &w->trace->locations[loc];
    if (loc != FT_NO_LOC) put_member(w, "loc", location->text);
    if (location->function) put_member(w, "function", location->function);
}

static void module_item(writer *w, uint32_t id)
{
    const ft_module *module = &w->trace->modules[id];
    put(w, "{\"name\":");
    put_string(w, module->name);
    if (strlen(module->hash) == HASH) put_member(w, "sha256", module->hash);
    put(w, "}");
}

static void site_item(writer *w, uint32_t id)
{
    const ft_code_site *site = &w->trace->sites[id];
    ft_strbuf_printf(&w->out, "{\"module\":%" PRIu32 ",\"offset\":%" PRIu64, site->module,
                     site->offset);
    put_place(w, site->loc);
    put(w, "}");
}

static void source_item(writer *w, uint32_t i)
{
    const ft_location *location = &w->trace->locations[w->trace->sourced[i]];
    put(w, "{\"path\":");
    put_string(w, location->path);
    put_place(w, w->trace->sourced[i]);
    if (location->line) put_member(w, "line", location->line);
    put(w, "}");
}

static void assertion_item(writer *w, uint32_t i)
{
    put(w, "{\"expression\":");
    put_string(w, w->trace->locations[w->trace->asserting[i]].asserted);
    put_place(w, w->trace->asserting[i]);
    put(w, "}");
}

static void context_item(writer *w, uint32_t id)
{
    ft_strbuf_printf(&w->out, "{\"parent\":%" PRIu32, w->trace->contexts[id].parent);
    put_place(w, w->trace->contexts[id].loc);
    put(w, "}");
}

static void command_item(writer *w, uint32_t id)
{
    put_string(w, w->trace->command[id]);
}

/* In as many lines as it takes: one that gets long is ended, the next one declares the rest. */
static void put_table(writer *w, const table *t)
{
    for (uint32_t id = t->first; id < t->end && w->status == FT_OK; id++) {
        bool fresh = id == t->first;
        if (is_long(w)) {
            if (!fresh) ft_strbuf_printf(&w->out, "%c", t->close);
            put(w, "}");
            end_line(w);
            put(w, "{");
            fresh = true;
        } else if (w->out.text[w->out.len - 1] != '{') {
            put(w, ",");
        }
        if (fresh) ft_strbuf_printf(&w->out, "\"%s\":%c", t->member, t->open);
        t->item(w, id);
    }
    if (t->first < t->end) ft_strbuf_printf(&w->out, "%c", t->close);
}

static void put_failure(writer *w)
{
    const ft_note *note = ft_trace_failure(w->trace);
    if (!note) return;
    put(w, ",\"failure\":{\"kind\":");
    put_string(w, note->code + strlen(FT_NOTE_FAILURE));
    put(w, ",\"text\":");
    put_string(w, note->text);
    if (note->event != FT_NO_EVENT)
        ft_strbuf_printf(&w->out, ",\"event\":%" PRIu64, (uint64_t)note->event + 1);
    put(w, "}");
}

static void put_header(writer *w)
{
    const ft_trace *trace = w->trace;
    const table tables[] = {
        {"threads", '[', ']', 0, trace->threads.len, thread_item},
        {"variables", '{', '}', 0, trace->shared.len, shared_item},
        {"locals", '{', '}', 0, trace->locals.len, local_item},
        {"locks", '{', '}', 0, trace->locks.len, lock_item},
        {"semaphores", '{', '}', 0, trace->semaphores.len, semaphore_item},
        {"conditions", '[', ']', 0, trace->conditions.len, condition_item},
        {"barriers", '{', '}', 0, trace->barriers.len, barrier_item},
        {"onces", '[', ']', 0, trace->onces.len, once_item},
        {"blocks", '{', '}', 0, trace->blocks.len, block_item},
        {"modules", '[', ']', 0, trace->n_modules, module_item},
        {"sites", '[', ']', 0, trace->n_sites, site_item},
        {"sources", '[', ']', 0, trace->n_sourced, source_item},
        {"assertions", '[', ']', 0, trace->n_asserting, assertion_item},
        {"contexts", '[', ']', 1, trace->n_contexts, context_item},
        {"command", '[', ']', 0, trace->n_command, command_item},
    };
    put(w, "{\"format\":\"foretell\",\"version\":1");
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) put_table(w, &tables[i]);
    put_failure(w);
    put(w, "}");
    end_line(w);
}

static void put_base64(writer *w, const unsigned char *bytes, size_t n)
{
    static const char digits[] = FT_NDJSON_BASE64;
    for (size_t i = 0; i < n; i += 3) {
        uint32_t three = (uint32_t)bytes[i] << 16;
        if (i + 1 < n) three |= (uint32_t)bytes[i + 1] << 8;
        if (i + 2 < n) three |= bytes[i + 2];
        char text[4] = {digits[three >> 18], digits[three >> 12 & 63], '=', '='};
        if (i + 1 < n) text[2] = digits[three >> 6 & 63];
        if (i + 2 < n) text[3] = digits[three & 63];
        ft_strbuf_add(&w->out, text, sizeof text);
    }
}

static void flush(writer *w);

static void put_inputs(writer *w)
{
    enum { PIECE = 3 << 14 };
    for (size_t at = 0; at < w->trace->n_inputs && w->status == FT_OK; at += PIECE) {
        size_t left = w->trace->n_inputs - at;
        put(w, "{\"inputs\":\"");
        put_base64(w, w->trace->inputs + at, left < PIECE ? left : PIECE);
        put(w, "\"}");
        end_line(w);
        flush(w);
    }
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
    if (ft_event_kind_may_stand_aside(trace->kind[e]) && trace->flags[e] & FT_FLAG_SYNTHETIC)
        put(w, trace->kind[e] == FT_EVENT_WRITE ? ",\"external\":true" : ",\"ignored\":true");
    if (trace->kind[e] == FT_EVENT_ALLOC && trace->flags[e] & FT_FLAG_SYNTHETIC)
        put(w, ",\"external\":true");
    if (lock && trace->flags[e] & FT_FLAG_CONDITION) put(w, ",\"condition\":true");
    if (ft_trace_is_blocked(trace, e)) put(w, ",\"blocked\":true");
    if (trace->flags[e] & FT_FLAG_TRY) put(w, ",\"try\":true");
    if (trace->kind[e] == FT_EVENT_COND_WAKE && trace->flags[e] & FT_FLAG_FAILED)
        put(w, ",\"timeout\":true");
    put_place(w, trace->loc[e]);
    if (trace->hook && trace->hook[e])
        ft_strbuf_printf(&w->out, ",\"at\":%" PRIu32, trace->hook[e]);
    if (trace->context && trace->context[e])
        ft_strbuf_printf(&w->out, ",\"context\":%" PRIu32, trace->context[e]);
    put(w, "}");
    end_line(w);
}

static bool *variables_in_terms(const ft_trace *trace)
{
    bool *found = ft_calloc((size_t)trace->shared.len + 1, sizeof *found);
    for (uint32_t e = 0; e < trace->n_events; e++) {
        const ft_action *action = ft_trace_action(trace, e);
        for (uint32_t i = 0; action && i < action->n_accesses; i++)
            found[action->accesses[i].variable] = true;
    }
    return found;
}

ft_status ft_ndjson_write(const ft_trace *trace, ft_sink sink, void *context, ft_error *err)
{
    writer w = {.trace = trace,
                .sink = sink,
                .context = context,
                .err = err,
                .status = FT_OK,
                .scope = ft_trace_scope(trace),
                .in_terms = variables_in_terms(trace)};
    put_header(&w);
    put_inputs(&w);
    for (uint32_t e = 0; e < trace->n_events && w.status == FT_OK; e++) {
        put_event(&w, e);
        if (w.out.len >= FLUSH) flush(&w);
    }
    flush(&w);
    ft_strbuf_release(&w.out);
    ft_strbuf_release(&w.text);
    free(w.in_terms);
    return w.status;
}
