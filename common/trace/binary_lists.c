#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "trace/binary_out.h"

enum { ENOUGH = 1 << 20, INPUTS = 1 << 23 };

static void end_frame(ft_binary_lists *l, ft_binary_frame type)
{
    assert(l->frame && l->raw.len);
    l->frame(l->context, type, ft_strbuf_text(&l->raw), l->raw.len);
    ft_strbuf_clear(&l->raw);
}

/* ---- items ---------------------------------------------------------------------------------- */

static void put_byte(ft_binary_lists *l, unsigned value)
{
    assert(value <= UINT8_MAX);
    char byte = (char)value;
    ft_strbuf_add(&l->raw, &byte, 1);
}

static void put_varint(ft_binary_lists *l, uint64_t value)
{
    unsigned char bytes[FT_BINARY_VARINT];
    const unsigned char *end = ft_put_varint(bytes, value);
    assert(end > bytes && end <= bytes + sizeof bytes);
    ft_strbuf_add(&l->raw, (const char *)bytes, (size_t)(end - bytes));
}

static void put_text(ft_binary_lists *l, const char *text, size_t length)
{
    put_varint(l, length);
    ft_strbuf_add(&l->raw, text, length);
}

static void put_string(ft_binary_lists *l, const char *text)
{
    put_text(l, text, strlen(text));
}

static void put_name(ft_binary_lists *l, const ft_intern *table, uint32_t id)
{
    assert(id < table->len);
    put_text(l, table->names[id], table->lengths[id]);
}

static void put_sort(ft_binary_lists *l, ft_sort sort)
{
    put_byte(l, sort.kind);
    put_byte(l, sort.width);
}

static void put_value(ft_binary_lists *l, ft_value value)
{
    put_sort(l, value.sort);
    put_varint(l, value.sort.kind == FT_SORT_INT ? ft_zigzag((int64_t)value.bits) : value.bits);
}

static void put_symbol(ft_binary_lists *l, ft_symbol symbol)
{
    put_varint(l, (uint64_t)FT_SYM_INDEX(symbol) << 1 | FT_SYM_IS_LOCAL(symbol));
}

static void kind_item(ft_binary_lists *l, uint32_t id)
{
    put_string(l, ft_event_kind_name((ft_event_kind)id));
}

static void operator_item(ft_binary_lists *l, uint32_t id)
{
    put_string(l, ft_op_name((ft_op)id));
}

static void thread_item(ft_binary_lists *l, uint32_t id)
{
    put_name(l, &l->trace->threads, id);
}

static void shared_item(ft_binary_lists *l, uint32_t id)
{
    put_name(l, &l->trace->shared, id);
    put_sort(l, l->trace->shared_info[id].sort);
    put_varint(l, l->trace->shared_info[id].initial);
}

static void local_item(ft_binary_lists *l, uint32_t id)
{
    put_name(l, &l->trace->locals, id);
    put_sort(l, l->trace->local_info[id].sort);
    put_varint(l, l->trace->local_info[id].initial);
}

static void lock_item(ft_binary_lists *l, uint32_t id)
{
    put_name(l, &l->trace->locks, id);
    put_byte(l, l->trace->lock_kind[id]);
}

static void semaphore_item(ft_binary_lists *l, uint32_t id)
{
    put_name(l, &l->trace->semaphores, id);
    put_varint(l, l->trace->semaphore_initial[id]);
}

static void edge_item(ft_binary_lists *l, uint32_t id)
{
    put_name(l, &l->trace->edges, id);
}

static void condition_item(ft_binary_lists *l, uint32_t id)
{
    put_name(l, &l->trace->conditions, id);
}

static void barrier_item(ft_binary_lists *l, uint32_t id)
{
    put_name(l, &l->trace->barriers, id);
    put_varint(l, l->trace->barrier_count[id]);
}

static void once_item(ft_binary_lists *l, uint32_t id)
{
    put_name(l, &l->trace->onces, id);
}

static void block_item(ft_binary_lists *l, uint32_t id)
{
    const ft_block_cells *cells = &l->trace->block_cells[id];
    put_name(l, &l->trace->blocks, id);
    put_varint(l, cells->count);
    for (uint32_t i = 0; i < cells->count; i++)
        put_varint(l, cells->variables[i] - (i ? cells->variables[i - 1] : 0));
}

static void update_item(ft_binary_lists *l, uint32_t id)
{
    const ft_update *update = &l->trace->updates[id];
    put_varint(l, update->accesses[0].variable);
    put_varint(l, update->read);
    put_varint(l, update->written);
}

/* A text that may be missing. */
static void put_optional(ft_binary_lists *l, const char *text)
{
    size_t length = text ? strlen(text) : 0;
    put_varint(l, text ? length + 1 : 0);
    ft_strbuf_add(&l->raw, text ? text : "", length);
}

static void location_item(ft_binary_lists *l, uint32_t id)
{
    put_string(l, l->trace->locations[id].text);
    put_optional(l, l->trace->locations[id].function);
}

static void source_item(ft_binary_lists *l, uint32_t i)
{
    const ft_location *location = &l->trace->locations[l->trace->sourced[i]];
    put_varint(l, l->trace->sourced[i]);
    put_string(l, location->path);
    put_optional(l, location->line);
}

static void assertion_item(ft_binary_lists *l, uint32_t i)
{
    put_varint(l, l->trace->asserting[i]);
    put_string(l, l->trace->locations[l->trace->asserting[i]].asserted);
}

static void type_item(ft_binary_lists *l, uint32_t id)
{
    unsigned type = l->trace->shared_info[id].type;
    if (type == FT_TYPE_NONE) return;
    put_varint(l, id);
    put_byte(l, type);
}

static void module_item(ft_binary_lists *l, uint32_t id)
{
    put_string(l, l->trace->modules[id].name);
    put_string(l, l->trace->modules[id].hash);
}

static void site_item(ft_binary_lists *l, uint32_t id)
{
    const ft_code_site *site = &l->trace->sites[id];
    put_varint(l, site->module);
    put_varint(l, site->offset);
    put_varint(l, site->loc);
}

static void context_item(ft_binary_lists *l, uint32_t id)
{
    const ft_context *context = &l->trace->contexts[id];
    put_varint(l, context->parent ? id - context->parent : 0);
    put_varint(l, context->loc);
}

static void command_item(ft_binary_lists *l, uint32_t id)
{
    put_string(l, l->trace->command[id]);
}

static void term_item(ft_binary_lists *l, uint32_t id)
{
    ft_term_node node = ft_term_get(l->trace->terms, id);
    if (node.op == FT_OP_LITERAL) {
        put_varint(l, FT_BINARY_LITERAL);
        put_value(l, (ft_value){.sort = node.sort, .bits = node.bits});
        return;
    }
    if (node.op == FT_OP_SYMBOL) {
        put_varint(l, FT_BINARY_SYMBOL);
        put_symbol(l, node.symbol);
        return;
    }
    put_varint(l, FT_BINARY_OPERATORS + (uint64_t)node.op);
    put_varint(l, node.n_children);
    for (uint32_t i = 0; i < node.n_children; i++) put_varint(l, id - node.children[i]);
    if (node.op != FT_OP_EXTRACT && node.op != FT_OP_ZERO_EXTEND && node.op != FT_OP_SIGN_EXTEND)
        return;
    put_varint(l, node.index[0]);
    put_varint(l, node.index[1]);
}

static void action_item(ft_binary_lists *l, uint32_t id)
{
    const ft_action *action = &l->trace->actions[id];
    put_varint(l, action->guard);
    put_varint(l, action->n_assignments);
    for (uint32_t i = 0; i < action->n_assignments; i++) {
        put_symbol(l, action->assignments[i].target);
        put_varint(l, action->assignments[i].term);
    }
}

static void note_item(ft_binary_lists *l, uint32_t id)
{
    const ft_note *note = &l->trace->notes[id];
    put_string(l, note->code);
    put_varint(l, note->event == FT_NO_EVENT ? 0 : note->event + 1ull);
    put_varint(l, note->count);
    put_string(l, note->text);
}

/* ---- values: there may be as many as events -------------------------------------------------- */

enum { LONGEST = FT_BINARY_VARINT + 2 };

static unsigned char *value_at(unsigned char *at, ft_value value)
{
    bool is_int = value.sort.kind == FT_SORT_INT;
    *at++ = value.sort.kind;
    *at++ = value.sort.width;
    return ft_put_varint(at, is_int ? ft_zigzag((int64_t)value.bits) : value.bits);
}

void ft_binary_put_values(ft_strbuf *raw, const ft_value *values, uint32_t n)
{
    raw->text = ft_vec_grow(raw->text, &raw->cap, raw->len + (size_t)n * LONGEST + 1, 1);
    unsigned char *start = (unsigned char *)raw->text, *at = start + raw->len;
    for (uint32_t i = 0; i < n; i++) at = value_at(at, values[i]);
    *at = 0;
    raw->len = (size_t)(at - start);
}

static void put_values(ft_binary_lists *l, uint32_t first, uint32_t end)
{
    for (uint32_t id = first, n; id < end; id += n) {
        n = end - id < FT_BINARY_VALUES ? end - id : FT_BINARY_VALUES;
        ft_binary_put_values(&l->raw, l->trace->values + id, n);
        end_frame(l, FT_BINARY_FRAME_VALUES);
    }
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* Writes the items first .. end-1 in as many frames as it takes. */
static void put_list(ft_binary_lists *l, ft_binary_frame type, uint32_t first, uint32_t end,
                     void (*item)(ft_binary_lists *, uint32_t))
{
    for (uint32_t id = first; id < end; id++) {
        item(l, id);
        if (l->raw.len >= ENOUGH) end_frame(l, type);
    }
    if (l->raw.len) end_frame(l, type);
}

void ft_binary_lists_declare(ft_binary_lists *l)
{
    const ft_trace *trace = l->trace;
    const struct {
        ft_binary_frame type;
        uint32_t first, end;
        void (*item)(ft_binary_lists *, uint32_t);
    } lists[] = {
        {FT_BINARY_FRAME_KINDS, 0, FT_EVENT_KINDS, kind_item},
        {FT_BINARY_FRAME_THREADS, 0, trace->threads.len, thread_item},
        {FT_BINARY_FRAME_VALUES, 1, trace->n_values, NULL},
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
        {FT_BINARY_FRAME_SOURCES, 0, trace->n_sourced, source_item},
        {FT_BINARY_FRAME_ASSERTIONS, 0, trace->n_asserting, assertion_item},
        {FT_BINARY_FRAME_TYPES, 0, trace->shared.len, type_item},
        {FT_BINARY_FRAME_MODULES, 0, trace->n_modules, module_item},
        {FT_BINARY_FRAME_SITES, 0, trace->n_sites, site_item},
        {FT_BINARY_FRAME_CONTEXTS, 1, trace->n_contexts, context_item},
        {FT_BINARY_FRAME_COMMAND, 0, trace->n_command, command_item},
        {FT_BINARY_FRAME_OPERATORS, 0, FT_OP_COUNT, operator_item},
        {FT_BINARY_FRAME_TERMS, 1, ft_term_pool_count(trace->terms) + 1, term_item},
        {FT_BINARY_FRAME_ACTIONS, 0, trace->n_actions, action_item},
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        uint32_t *done = &l->done[lists[i].type], end = lists[i].end;
        uint32_t first = *done > lists[i].first ? *done : lists[i].first;
        if (lists[i].type != FT_BINARY_FRAME_VALUES)
            put_list(l, lists[i].type, first, end, lists[i].item);
        else if (!l->no_values)
            put_values(l, first, end);
        *done = end;
    }
}

void ft_binary_lists_inputs(ft_binary_lists *l)
{
    for (size_t at = 0, n; at < l->trace->n_inputs; at += n) {
        n = l->trace->n_inputs - at < INPUTS ? l->trace->n_inputs - at : INPUTS;
        ft_strbuf_add(&l->raw, (const char *)l->trace->inputs + at, n);
        end_frame(l, FT_BINARY_FRAME_INPUTS);
    }
}

void ft_binary_lists_initial(ft_binary_lists *l, uint32_t shared)
{
    put_varint(l, shared);
    put_varint(l, l->trace->shared_info[shared].initial);
    if (l->raw.len >= ENOUGH) end_frame(l, FT_BINARY_FRAME_INITIALS);
}

void ft_binary_lists_initials(ft_binary_lists *l)
{
    if (l->raw.len) end_frame(l, FT_BINARY_FRAME_INITIALS);
}

void ft_binary_lists_end(ft_binary_lists *l, uint32_t n_events)
{
    ft_binary_lists_inputs(l);
    put_list(l, FT_BINARY_FRAME_NOTES, 0, l->trace->n_notes, note_item);
    if (l->trace->broken != FT_NO_EVENT) {
        put_varint(l, l->trace->broken);
        put_string(l, l->trace->broken_text ? l->trace->broken_text : "");
        end_frame(l, FT_BINARY_FRAME_BROKEN);
    }
    put_varint(l, n_events);
    end_frame(l, FT_BINARY_FRAME_END);
}

void ft_binary_lists_release(ft_binary_lists *l)
{
    ft_strbuf_release(&l->raw);
}
