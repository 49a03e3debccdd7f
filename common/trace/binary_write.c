#include <stdlib.h>
#include <string.h>

#include <zlib.h>
#include <zstd.h>

#include "trace/binary.h"
#include "trace/reader.h"

enum { ENOUGH = 1 << 20, LEVEL = 3, WORTH_TRYING = 64, INPUTS = 1 << 23 };

typedef struct writer {
    const ft_trace *trace;
    ft_sink sink;
    void *context;
    ft_error *err;
    ft_status status; /* of the first failure; nothing is written after it */
    ft_strbuf raw;    /* payload of the frame being made */
    unsigned char *packed;
    size_t packed_cap;
    ZSTD_CCtx *zstd;
} writer;

static void send(writer *w, const void *data, size_t length)
{
    if (w->status == FT_OK) w->status = w->sink(w->context, data, length, w->err);
}

/* Compresses w->raw; returns 0 where that does not pay. */
static size_t pack(writer *w)
{
    if (w->raw.len < WORTH_TRYING) return 0;
    w->packed = ft_vec_grow(w->packed, &w->packed_cap, ZSTD_compressBound(w->raw.len), 1);
    size_t length =
        ZSTD_compressCCtx(w->zstd, w->packed, w->packed_cap, w->raw.text, w->raw.len, LEVEL);
    return ZSTD_isError(length) || length >= w->raw.len ? 0 : length;
}

static void end_frame(writer *w, ft_binary_frame type)
{
    if (w->status != FT_OK) return;
    if (w->raw.len > FT_BINARY_MAX_FRAME) {
        w->status = ft_error_set(w->err, FT_LIMIT,
                                 "a single name or term of the trace takes more than %d bytes",
                                 (int)FT_BINARY_MAX_FRAME);
        return;
    }
    size_t length = pack(w);
    const void *payload = length ? (const void *)w->packed : ft_strbuf_text(&w->raw);
    unsigned char head[FT_BINARY_FRAME] = {(unsigned char)type, length ? FT_BINARY_ZSTD : 0};
    if (!length) length = w->raw.len;
    ft_put_u32(head + 4, (uint32_t)length);
    ft_put_u32(head + 8, (uint32_t)w->raw.len);
    uLong crc = crc32(crc32(0, NULL, 0), head, 12);
    ft_put_u32(head + 12, (uint32_t)crc32(crc, payload, (uInt)length));
    send(w, head, sizeof head);
    send(w, payload, length);
    ft_strbuf_clear(&w->raw);
}

/* ---- items ---------------------------------------------------------------------------------- */

static void put_byte(writer *w, unsigned value)
{
    char byte = (char)value;
    ft_strbuf_add(&w->raw, &byte, 1);
}

static void put_varint(writer *w, uint64_t value)
{
    unsigned char bytes[FT_BINARY_VARINT];
    const unsigned char *end = ft_put_varint(bytes, value);
    ft_strbuf_add(&w->raw, (const char *)bytes, (size_t)(end - bytes));
}

static void put_text(writer *w, const char *text, size_t length)
{
    put_varint(w, length);
    ft_strbuf_add(&w->raw, text, length);
}

static void put_string(writer *w, const char *text)
{
    put_text(w, text, strlen(text));
}

static void put_name(writer *w, const ft_intern *table, uint32_t id)
{
    put_text(w, table->names[id], table->lengths[id]);
}

static void put_sort(writer *w, ft_sort sort)
{
    put_byte(w, sort.kind);
    put_byte(w, sort.width);
}

static void put_value(writer *w, ft_value value)
{
    put_sort(w, value.sort);
    put_varint(w, value.sort.kind == FT_SORT_INT ? ft_zigzag((int64_t)value.bits) : value.bits);
}

static void put_symbol(writer *w, ft_symbol symbol)
{
    put_varint(w, (uint64_t)FT_SYM_INDEX(symbol) << 1 | FT_SYM_IS_LOCAL(symbol));
}

static void kind_item(writer *w, uint32_t id)
{
    put_string(w, ft_event_kind_name((ft_event_kind)id));
}

static void operator_item(writer *w, uint32_t id)
{
    put_string(w, ft_op_name((ft_op)id));
}

static void thread_item(writer *w, uint32_t id)
{
    put_name(w, &w->trace->threads, id);
}

static void value_item(writer *w, uint32_t id)
{
    put_value(w, w->trace->values[id]);
}

static void shared_item(writer *w, uint32_t id)
{
    put_name(w, &w->trace->shared, id);
    put_sort(w, w->trace->shared_info[id].sort);
    put_varint(w, w->trace->shared_info[id].initial);
}

static void local_item(writer *w, uint32_t id)
{
    put_name(w, &w->trace->locals, id);
    put_sort(w, w->trace->local_info[id].sort);
    put_varint(w, w->trace->local_info[id].initial);
}

static void lock_item(writer *w, uint32_t id)
{
    put_name(w, &w->trace->locks, id);
    put_byte(w, w->trace->lock_kind[id]);
}

static void semaphore_item(writer *w, uint32_t id)
{
    put_name(w, &w->trace->semaphores, id);
    put_varint(w, w->trace->semaphore_initial[id]);
}

static void edge_item(writer *w, uint32_t id)
{
    put_name(w, &w->trace->edges, id);
}

static void condition_item(writer *w, uint32_t id)
{
    put_name(w, &w->trace->conditions, id);
}

static void barrier_item(writer *w, uint32_t id)
{
    put_name(w, &w->trace->barriers, id);
    put_varint(w, w->trace->barrier_count[id]);
}

static void once_item(writer *w, uint32_t id)
{
    put_name(w, &w->trace->onces, id);
}

static void block_item(writer *w, uint32_t id)
{
    const ft_block_cells *cells = &w->trace->block_cells[id];
    put_name(w, &w->trace->blocks, id);
    put_varint(w, cells->count);
    for (uint32_t i = 0; i < cells->count; i++)
        put_varint(w, cells->variables[i] - (i ? cells->variables[i - 1] : 0));
}

static void update_item(writer *w, uint32_t id)
{
    const ft_update *update = &w->trace->updates[id];
    put_varint(w, update->accesses[0].variable);
    put_varint(w, update->read);
    put_varint(w, update->written);
}

static void location_item(writer *w, uint32_t id)
{
    const ft_location *location = &w->trace->locations[id];
    put_string(w, location->text);
    size_t length = location->function ? strlen(location->function) : 0;
    put_varint(w, location->function ? length + 1 : 0);
    ft_strbuf_add(&w->raw, location->function ? location->function : "", length);
}

static void module_item(writer *w, uint32_t id)
{
    put_string(w, w->trace->modules[id].name);
    put_string(w, w->trace->modules[id].hash);
}

static void site_item(writer *w, uint32_t id)
{
    const ft_code_site *site = &w->trace->sites[id];
    put_varint(w, site->module);
    put_varint(w, site->offset);
    put_varint(w, site->loc);
}

static void context_item(writer *w, uint32_t id)
{
    const ft_context *context = &w->trace->contexts[id];
    put_varint(w, context->parent ? id - context->parent : 0);
    put_varint(w, context->loc);
}

static void command_item(writer *w, uint32_t id)
{
    put_string(w, w->trace->command[id]);
}

static void term_item(writer *w, uint32_t id)
{
    ft_term_node node = ft_term_get(w->trace->terms, id);
    if (node.op == FT_OP_LITERAL) {
        put_varint(w, FT_BINARY_LITERAL);
        put_value(w, (ft_value){.sort = node.sort, .bits = node.bits});
        return;
    }
    if (node.op == FT_OP_SYMBOL) {
        put_varint(w, FT_BINARY_SYMBOL);
        put_symbol(w, node.symbol);
        return;
    }
    put_varint(w, FT_BINARY_OPERATORS + (uint64_t)node.op);
    put_varint(w, node.n_children);
    for (uint32_t i = 0; i < node.n_children; i++) put_varint(w, id - node.children[i]);
    if (node.op != FT_OP_EXTRACT && node.op != FT_OP_ZERO_EXTEND && node.op != FT_OP_SIGN_EXTEND)
        return;
    put_varint(w, node.index[0]);
    put_varint(w, node.index[1]);
}

static void action_item(writer *w, uint32_t id)
{
    const ft_action *action = &w->trace->actions[id];
    put_varint(w, action->guard);
    put_varint(w, action->n_assignments);
    for (uint32_t i = 0; i < action->n_assignments; i++) {
        put_symbol(w, action->assignments[i].target);
        put_varint(w, action->assignments[i].term);
    }
}

static void note_item(writer *w, uint32_t id)
{
    const ft_note *note = &w->trace->notes[id];
    put_string(w, note->code);
    put_varint(w, note->event == FT_NO_EVENT ? 0 : note->event + 1ull);
    put_varint(w, note->count);
    put_string(w, note->text);
}

/* Writes the items first .. end-1 in as many frames as it takes. */
static void put_list(writer *w, ft_binary_frame type, uint32_t first, uint32_t end,
                     void (*item)(writer *, uint32_t))
{
    for (uint32_t id = first; id < end && w->status == FT_OK; id++) {
        item(w, id);
        if (w->raw.len >= ENOUGH) end_frame(w, type);
    }
    if (w->raw.len) end_frame(w, type);
}

static void put_declarations(writer *w)
{
    const ft_trace *trace = w->trace;
    const struct {
        ft_binary_frame type;
        uint32_t first, end;
        void (*item)(writer *, uint32_t);
    } lists[] = {
        {FT_BINARY_FRAME_KINDS, 0, FT_EVENT_KINDS, kind_item},
        {FT_BINARY_FRAME_THREADS, 0, trace->threads.len, thread_item},
        {FT_BINARY_FRAME_VALUES, 1, trace->n_values, value_item},
        {FT_BINARY_FRAME_SHARED, 0, trace->shared.len, shared_item},
        {FT_BINARY_FRAME_LOCALS, 0, trace->locals.len, local_item},
        {FT_BINARY_FRAME_LOCKS, 0, trace->locks.len, lock_item},
        {FT_BINARY_FRAME_SEMAPHORES, 0, trace->semaphores.len, semaphore_item},
        {FT_BINARY_FRAME_EDGES, 0, trace->edges.len, edge_item},
        {FT_BINARY_FRAME_CONDITIONS, 0, trace->conditions.len, condition_item},
        {FT_BINARY_FRAME_BARRIERS, 0, trace->barriers.len, barrier_item},
        {FT_BINARY_FRAME_ONCES, 0, trace->onces.len, once_item},
        {FT_BINARY_FRAME_BLOCKS, 0, trace->blocks.len, block_item},
        {FT_BINARY_FRAME_UPDATES, 0, trace->n_updates, update_item},
        {FT_BINARY_FRAME_LOCATIONS, 1, trace->n_locations, location_item},
        {FT_BINARY_FRAME_MODULES, 0, trace->n_modules, module_item},
        {FT_BINARY_FRAME_SITES, 0, trace->n_sites, site_item},
        {FT_BINARY_FRAME_CONTEXTS, 1, trace->n_contexts, context_item},
        {FT_BINARY_FRAME_COMMAND, 0, trace->n_command, command_item},
        {FT_BINARY_FRAME_OPERATORS, 0, FT_OP_COUNT, operator_item},
        {FT_BINARY_FRAME_TERMS, 1, ft_term_pool_count(trace->terms) + 1, term_item},
        {FT_BINARY_FRAME_ACTIONS, 0, trace->n_actions, action_item},
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        put_list(w, lists[i].type, lists[i].first, lists[i].end, lists[i].item);
}

/* ---- events --------------------------------------------------------------------------------- */

enum { KINDS, FLAGS, THREADS, OBJECTS, PLACES, DATA, COLUMN_BYTES = 5 * FT_BINARY_BLOCK };

typedef struct block {
    unsigned char *column[FT_BINARY_COLUMNS], *end[FT_BINARY_COLUMNS];
    uint32_t thread, place, object[FT_OBJECT_CLASSES], data[FT_BINARY_DATA];
} block;

static void put_delta(block *b, int column, uint32_t value, uint32_t *last)
{
    b->end[column] = ft_put_varint(b->end[column], ft_zigzag((int64_t)value - (int64_t)*last));
    *last = value;
}

static void put_event(block *b, const ft_trace *trace, uint32_t e)
{
    ft_event_kind kind = trace->kind[e];
    ft_object_class object = ft_event_kind_object(kind);
    bool symbolic = ft_trace_is_symbolic_event(trace, e);
    *b->end[KINDS]++ = (unsigned char)(kind | (trace->flags[e] ? FT_BINARY_HAS_FLAGS : 0));
    if (trace->flags[e]) *b->end[FLAGS]++ = trace->flags[e];
    put_delta(b, THREADS, trace->thread[e], &b->thread);
    if (object != FT_OBJECT_NONE) put_delta(b, OBJECTS, trace->object[e], &b->object[object]);
    put_delta(b, PLACES, trace->loc[e], &b->place);
    int class = symbolic               ? FT_BINARY_ACTION
                : kind == FT_EVENT_RMW ? FT_BINARY_UPDATE
                                       : FT_BINARY_VALUE;
    if (symbolic || object == FT_OBJECT_VARIABLE)
        put_delta(b, DATA, trace->data[e], &b->data[class]);
}

static void put_block(writer *w, block *b, uint32_t first, uint32_t end)
{
    unsigned char *memory = b->column[0];
    *b = (block){.thread = 0};
    for (int i = 0; i < FT_BINARY_COLUMNS; i++)
        b->column[i] = b->end[i] = memory + (size_t)i * COLUMN_BYTES;
    for (uint32_t e = first; e < end; e++) put_event(b, w->trace, e);
    put_varint(w, first);
    put_varint(w, end - first);
    for (int i = 0; i < FT_BINARY_COLUMNS; i++)
        put_text(w, (const char *)b->column[i], (size_t)(b->end[i] - b->column[i]));
    end_frame(w, FT_BINARY_FRAME_EVENTS);
}

/* A number for each event, as the difference from that of its thread's last event. */
static void put_numbers(writer *w, ft_binary_frame type, const uint32_t *numbers, uint32_t *last,
                        uint32_t first, uint32_t end)
{
    if (!numbers) return;
    memset(last, 0, w->trace->threads.len * sizeof *last);
    put_varint(w, first);
    put_varint(w, end - first);
    for (uint32_t e = first; e < end; e++) {
        uint32_t *before = &last[w->trace->thread[e]];
        put_varint(w, ft_zigzag((int64_t)numbers[e] - (int64_t)*before));
        *before = numbers[e];
    }
    end_frame(w, type);
}

static void put_events(writer *w)
{
    uint32_t n = w->trace->n_events;
    unsigned char *memory = ft_alloc((size_t)FT_BINARY_COLUMNS * COLUMN_BYTES);
    uint32_t *last = ft_calloc((size_t)w->trace->threads.len + 1, sizeof *last);
    block b = {.column = {memory}};
    for (uint32_t first = 0; first < n && w->status == FT_OK;) {
        uint32_t end = n - first > FT_BINARY_BLOCK ? first + FT_BINARY_BLOCK : n;
        put_block(w, &b, first, end);
        put_numbers(w, FT_BINARY_FRAME_HOOKS, w->trace->hook, last, first, end);
        put_numbers(w, FT_BINARY_FRAME_EVENT_CONTEXTS, w->trace->context, last, first, end);
        first = end;
    }
    free(last);
    free(memory);
}

static void put_inputs(writer *w)
{
    for (size_t at = 0, n; at < w->trace->n_inputs && w->status == FT_OK; at += n) {
        n = w->trace->n_inputs - at < INPUTS ? w->trace->n_inputs - at : INPUTS;
        ft_strbuf_add(&w->raw, (const char *)w->trace->inputs + at, n);
        end_frame(w, FT_BINARY_FRAME_INPUTS);
    }
}

static void put_tail(writer *w)
{
    put_list(w, FT_BINARY_FRAME_NOTES, 0, w->trace->n_notes, note_item);
    if (w->trace->broken != FT_NO_EVENT) {
        put_varint(w, w->trace->broken);
        put_string(w, w->trace->broken_text ? w->trace->broken_text : "");
        end_frame(w, FT_BINARY_FRAME_BROKEN);
    }
    put_varint(w, w->trace->n_events);
    end_frame(w, FT_BINARY_FRAME_END);
}

ft_status ft_binary_write(const ft_trace *trace, ft_sink sink, void *context, ft_error *err)
{
    writer w = {.trace = trace,
                .sink = sink,
                .context = context,
                .err = err,
                .status = FT_OK,
                .zstd = ZSTD_createCCtx()};
    if (!w.zstd) return ft_error_set(err, FT_INTERNAL, "zstd has no memory for a compressor");
    unsigned char head[FT_BINARY_HEADER] = {[4] = FT_BINARY_VERSION, FT_BINARY_CANONICAL};
    memcpy(head, FT_BINARY_MAGIC, 4);
    head[6] = (unsigned char)trace->format;
    send(&w, head, sizeof head);
    put_declarations(&w);
    put_events(&w);
    put_inputs(&w);
    put_tail(&w);
    ZSTD_freeCCtx(w.zstd);
    free(w.packed);
    ft_strbuf_release(&w.raw);
    return w.status;
}
