#include "base/contract.h"
#include "trace/builder_internal.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_THREADS = UINT16_MAX, NOTE_TEXT = 480, INPUTS = 1 << 23 };

static void define_nothing(ft_builder *b)
{
    ft_trace *trace = b->trace;
    trace->locations = ft_vec_grow(NULL, &b->location_cap, 1, sizeof *trace->locations);
    trace->locations[trace->n_locations++] = (ft_location){0};
    trace->values = ft_vec_grow(NULL, &b->value_cap, 1, sizeof *trace->values);
    trace->values[trace->n_values++] = (ft_value){0};
}

ft_builder *ft_builder_new(ft_format format)
{
    FT_REQUIRE(format < FT_FORMATS);
    ft_builder *b = ft_calloc(1, sizeof *b);
    b->trace = ft_calloc(1, sizeof *b->trace);
    b->trace->arena = ft_arena_new();
    b->trace->terms = ft_term_pool_new();
    b->trace->format = format;
    b->trace->broken = FT_NO_EVENT;
    b->max_events = FT_NO_EVENT - 1;
    define_nothing(b);
    return b;
}

void ft_builder_free(ft_builder *b)
{
    if (!b) return;
    ft_trace_free(b->trace);
    ft_builder_release_values(b);
    free(b->stopped);
    free(b->location_slots);
    ft_intern_release(&b->texts);
    free(b->text_of);
    ft_map_release(&b->actions);
    ft_map_release(&b->updates);
    ft_map_release(&b->contexts);
    ft_map_release(&b->benign);
    ft_map_release(&b->benign_places);
    ft_map_release(&b->benign_calls);
    free(b->access_seen);
    ft_strbuf_release(&b->scratch);
    free(b);
}

/* ---- text ----------------------------------------------------------------------------------- */

/* Length of the printable UTF-8 sequence at text[0..length), 0 if there is none (RFC 3629 §4). NUL
 * counts as none: names are C strings everywhere else. Other control characters do so as well:
 * names are shown on terminals. */
static size_t utf8_sequence(const unsigned char *text, size_t length)
{
    unsigned char lead = text[0];
    if (lead < 0x80) return lead >= 0x20 && lead != 0x7f;
    size_t want = lead >= 0xc2 && lead <= 0xdf   ? 2
                  : lead >= 0xe0 && lead <= 0xef ? 3
                  : lead >= 0xf0 && lead <= 0xf4 ? 4
                                                 : 0;
    if (!want || want > length) return 0;
    for (size_t i = 1; i < want; i++)
        if ((text[i] & 0xc0) != 0x80) return 0;
    bool overlong = (lead == 0xe0 && text[1] < 0xa0) || (lead == 0xf0 && text[1] < 0x90);
    bool excluded = (lead == 0xed && text[1] > 0x9f) || (lead == 0xf4 && text[1] > 0x8f);
    bool control = lead == 0xc2 && text[1] < 0xa0;
    return overlong || excluded || control ? 0 : want;
}

bool ft_builder_text_is_clean(const char *text, size_t length)
{
    for (size_t i = 0; i < length;) {
        size_t step = utf8_sequence((const unsigned char *)text + i, length - i);
        if (!step) return false;
        i += step;
    }
    return true;
}

/* Reports are JSON, so what is not UTF-8 is escaped here, once, and stays distinct. */
static const char *escape_text(ft_builder *b, const char *text, size_t *length)
{
    ft_strbuf_clear(&b->scratch);
    for (size_t i = 0; i < *length;) {
        size_t step = utf8_sequence((const unsigned char *)text + i, *length - i);
        if (step)
            ft_strbuf_add(&b->scratch, text + i, step);
        else
            ft_strbuf_printf(&b->scratch, "\\x%02x", (unsigned)(unsigned char)text[i]);
        i += step ? step : 1;
    }
    *length = b->scratch.len;
    return ft_strbuf_text(&b->scratch);
}

static const char *clean_text(ft_builder *b, const char *text, size_t *length)
{
    if (ft_builder_text_is_clean(text, *length)) return text;
    ft_builder_add_note(b, "text-encoding", FT_NO_EVENT, 1,
                        "control characters and bytes that are not UTF-8 in names and locations "
                        "are written as \\xNN");
    return escape_text(b, text, length);
}

static uint32_t intern_name(ft_builder *b, ft_intern *table, const char *name, size_t length)
{
    name = clean_text(b, name, &length);
    return ft_intern_add(table, name, length);
}

/* ---- declarations --------------------------------------------------------------------------- */

uint32_t ft_builder_thread(ft_builder *b, const char *name, size_t length)
{
    if (b->failure.code != FT_OK) return 0;
    uint32_t id = intern_name(b, &b->trace->threads, name, length);
    if (id < MAX_THREADS) return id;
    ft_error_set(&b->failure, FT_LIMIT, "the trace has more than %d threads", (int)MAX_THREADS);
    return 0;
}

static uint32_t add_variable(ft_builder *b, ft_intern *table, ft_variable **info, size_t *cap,
                             const char *name, size_t length, ft_sort sort)
{
    uint32_t before = table->len;
    uint32_t id = intern_name(b, table, name, length);
    if (id < before) return id;
    assert(id == before); /* ids are places in the columns beside the names */
    *info = ft_vec_grow(*info, cap, table->len, sizeof **info);
    (*info)[id] = (ft_variable){.sort = sort, .initial = FT_NO_VALUE};
    return id;
}

uint32_t ft_builder_shared(ft_builder *b, const char *name, size_t length, ft_sort sort)
{
    return add_variable(b, &b->trace->shared, &b->trace->shared_info, &b->shared_cap, name, length,
                        sort);
}

uint32_t ft_builder_local(ft_builder *b, const char *name, size_t length, ft_sort sort)
{
    return add_variable(b, &b->trace->locals, &b->trace->local_info, &b->local_cap, name, length,
                        sort);
}

uint32_t ft_builder_lock(ft_builder *b, const char *name, size_t length, ft_lock_kind kind)
{
    ft_trace *trace = b->trace;
    FT_REQUIRE(kind < FT_LOCK_KINDS);
    uint32_t before = trace->locks.len;
    uint32_t id = intern_name(b, &trace->locks, name, length);
    if (id < before) return id;
    trace->lock_kind =
        ft_vec_grow(trace->lock_kind, &b->lock_cap, trace->locks.len, sizeof *trace->lock_kind);
    trace->lock_kind[id] = (uint8_t)kind;
    return id;
}

uint32_t ft_builder_semaphore(ft_builder *b, const char *name, size_t length, uint32_t count)
{
    ft_trace *trace = b->trace;
    uint32_t before = trace->semaphores.len;
    uint32_t id = intern_name(b, &trace->semaphores, name, length);
    if (id < before) return id;
    trace->semaphore_initial = ft_vec_grow(trace->semaphore_initial, &b->semaphore_cap,
                                           trace->semaphores.len, sizeof(uint32_t));
    trace->semaphore_initial[id] = count;
    return id;
}

uint32_t ft_builder_edge(ft_builder *b, const char *name, size_t length)
{
    return intern_name(b, &b->trace->edges, name, length);
}

uint32_t ft_builder_condition(ft_builder *b, const char *name, size_t length)
{
    return intern_name(b, &b->trace->conditions, name, length);
}

uint32_t ft_builder_barrier(ft_builder *b, const char *name, size_t length, uint32_t count)
{
    ft_trace *trace = b->trace;
    FT_REQUIRE(count > 0);
    uint32_t before = trace->barriers.len;
    uint32_t id = intern_name(b, &trace->barriers, name, length);
    if (id < before) return id;
    trace->barrier_count = ft_vec_grow(trace->barrier_count, &b->barrier_cap, trace->barriers.len,
                                       sizeof *trace->barrier_count);
    trace->barrier_count[id] = count;
    return id;
}

uint32_t ft_builder_once(ft_builder *b, const char *name, size_t length)
{
    return intern_name(b, &b->trace->onces, name, length);
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static ft_block_cells copy_cells(const ft_trace *trace, const uint32_t *variables, uint32_t count)
{
    if (!count) return (ft_block_cells){0};
    uint32_t *cells = ft_arena_alloc(trace->arena, count * sizeof *cells), distinct = 0;
    memcpy(cells, variables, count * sizeof *cells);
    qsort(cells, count, sizeof *cells, by_number);
    for (uint32_t i = 0; i < count; i++)
        if (!distinct || cells[distinct - 1] != cells[i]) cells[distinct++] = cells[i];
    assert(cells[distinct - 1] < trace->shared.len);
    return (ft_block_cells){cells, distinct};
}

uint32_t ft_builder_block(ft_builder *b, const char *name, size_t length, const uint32_t *variables,
                          uint32_t count)
{
    ft_trace *trace = b->trace;
    uint32_t before = trace->blocks.len;
    uint32_t id = intern_name(b, &trace->blocks, name, length);
    if (id < before) return id;
    trace->block_cells = ft_vec_grow(trace->block_cells, &b->block_cap, trace->blocks.len,
                                     sizeof *trace->block_cells);
    trace->block_cells[id] = copy_cells(trace, variables, count);
    return id;
}

void ft_builder_block_cells(ft_builder *b, uint32_t block, const uint32_t *variables,
                            uint32_t count)
{
    FT_REQUIRE(block < b->trace->blocks.len && (variables || !count));
    ft_block_cells *cells = &b->trace->block_cells[block];
    FT_VEC(uint32_t) all = {0};
    for (uint32_t i = 0; i < cells->count; i++) ft_vec_push(&all, cells->variables[i]);
    for (uint32_t i = 0; i < count; i++) ft_vec_push(&all, variables[i]);
    *cells = copy_cells(b->trace, all.data, (uint32_t)all.len);
    ft_vec_release(&all);
}

/* ---- inputs --------------------------------------------------------------------------------- */

void ft_builder_inputs(ft_builder *b, const void *bytes, size_t n)
{
    ft_trace *trace = b->trace;
    FT_REQUIRE(bytes || !n);
    if (!n) return;
    trace->inputs = ft_vec_grow(trace->inputs, &b->inputs_cap, trace->n_inputs + n, 1);
    memcpy(trace->inputs + trace->n_inputs, bytes, n);
    trace->n_inputs += n;
    if (b->flush && trace->n_inputs >= INPUTS) ft_builder_flush(b);
}

void ft_builder_keep_inputs(ft_builder *b)
{
    b->keep_inputs = true;
}

/* ---- locations ------------------------------------------------------------------------------ */

/* Functions and files are few and locations many: their texts are kept once. */
static const char *intern_text(ft_builder *b, const char *name, size_t length)
{
    if (!name) return NULL;
    uint32_t before = b->texts.len;
    uint32_t id = intern_name(b, &b->texts, name, length);
    if (id < before) return b->text_of[id];
    b->text_of = ft_vec_grow(b->text_of, &b->text_cap, b->texts.len, sizeof *b->text_of);
    return b->text_of[id] =
               ft_arena_strndup(b->trace->arena, b->texts.names[id], b->texts.lengths[id]);
}

static size_t location_slot(const ft_builder *b, const char *text, size_t length,
                            const char *function)
{
    size_t mask = b->location_slot_cap - 1;
    assert(b->location_slot_cap > b->trace->n_locations); /* so that the search ends */
    size_t i = ft_hash_bytes(text, length, (uintptr_t)function) & mask;
    for (; b->location_slots[i]; i = (i + 1) & mask) {
        const ft_location *known = &b->trace->locations[b->location_slots[i]];
        if (known->function == function && strncmp(known->text, text, length) == 0 &&
            known->text[length] == 0)
            break;
    }
    return i;
}

static void grow_location_slots(ft_builder *b)
{
    ft_trace *trace = b->trace;
    b->location_slot_cap = b->location_slot_cap ? b->location_slot_cap * 2 : 64;
    free(b->location_slots);
    b->location_slots = ft_calloc(b->location_slot_cap, sizeof *b->location_slots);
    for (uint32_t id = 1; id < trace->n_locations; id++) {
        const ft_location *known = &trace->locations[id];
        size_t at = location_slot(b, known->text, strlen(known->text), known->function);
        b->location_slots[at] = id;
    }
}

uint32_t ft_builder_location(ft_builder *b, const char *text, size_t length, const char *function,
                             size_t function_length)
{
    ft_trace *trace = b->trace;
    FT_REQUIRE(text || !length);
    const char *shared_function = intern_text(b, function, function_length);
    text = clean_text(b, text, &length);
    if ((size_t)trace->n_locations * 4 >= b->location_slot_cap * 3) grow_location_slots(b);
    size_t at = location_slot(b, text, length, shared_function);
    if (b->location_slots[at]) return b->location_slots[at];
    uint32_t id = trace->n_locations++;
    trace->locations = ft_vec_grow(trace->locations, &b->location_cap, trace->n_locations,
                                   sizeof *trace->locations);
    trace->locations[id] = (ft_location){.text = ft_arena_strndup(trace->arena, text, length),
                                         .function = shared_function};
    return b->location_slots[at] = id;
}

void ft_builder_source(ft_builder *b, uint32_t loc, const char *path, size_t path_length,
                       const char *line, size_t line_length)
{
    ft_trace *trace = b->trace;
    FT_REQUIRE(loc != FT_NO_LOC && loc < trace->n_locations && path);
    ft_location *at = &trace->locations[loc];
    if (at->path) return;
    at->path = intern_text(b, path, path_length);
    if (line && line_length) line = clean_text(b, line, &line_length);
    if (line && line_length) at->line = ft_arena_strndup(trace->arena, line, line_length);
    trace->sourced =
        ft_vec_grow(trace->sourced, &b->sourced_cap, trace->n_sourced + 1u, sizeof *trace->sourced);
    trace->sourced[trace->n_sourced++] = loc;
}

static void drop_assertion(ft_trace *trace, uint32_t loc)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < trace->n_asserting; i++)
        if (trace->asserting[i] != loc) trace->asserting[kept++] = trace->asserting[i];
    trace->n_asserting = kept;
    trace->locations[loc].asserted = NULL;
}

void ft_builder_assertion(ft_builder *b, uint32_t loc, const char *text, size_t length)
{
    ft_trace *trace = b->trace;
    FT_REQUIRE(loc != FT_NO_LOC && loc < trace->n_locations && text);
    ft_location *at = &trace->locations[loc];
    text = clean_text(b, text, &length);
    if (at->asserts) {
        bool same = at->asserted && strlen(at->asserted) == length &&
                    memcmp(at->asserted, text, length) == 0;
        if (at->asserted && !same) drop_assertion(trace, loc);
        return;
    }
    at->asserts = true;
    at->asserted = ft_arena_strndup(trace->arena, text, length);
    trace->asserting = ft_vec_grow(trace->asserting, &b->asserting_cap, trace->n_asserting + 1u,
                                   sizeof *trace->asserting);
    trace->asserting[trace->n_asserting++] = loc;
}

/* ---- values --------------------------------------------------------------------------------- */

void ft_builder_shared_type(ft_builder *b, uint32_t shared, ft_type type)
{
    FT_REQUIRE(shared < b->trace->shared.len && type < FT_TYPES);
    b->trace->shared_info[shared].type = (uint8_t)type;
}

void ft_builder_shared_initial(ft_builder *b, uint32_t shared, uint32_t value)
{
    FT_REQUIRE(shared < b->trace->shared.len && value < b->trace->n_values);
    b->trace->shared_info[shared].initial = value;
}

void ft_builder_local_initial(ft_builder *b, uint32_t local, uint32_t value)
{
    FT_REQUIRE(local < b->trace->locals.len && value < b->trace->n_values);
    b->trace->local_info[local].initial = value;
}

void ft_builder_module(ft_builder *b, const char *name, size_t length, const char *hash,
                       size_t hash_length)
{
    ft_trace *trace = b->trace;
    trace->modules =
        ft_vec_grow(trace->modules, &b->module_cap, trace->n_modules + 1u, sizeof *trace->modules);
    name = clean_text(b, name, &length);
    const char *copy = ft_arena_strndup(trace->arena, name, length);
    hash = clean_text(b, hash, &hash_length);
    trace->modules[trace->n_modules++] =
        (ft_module){.name = copy, .hash = ft_arena_strndup(trace->arena, hash, hash_length)};
}

void ft_builder_site(ft_builder *b, ft_code_site site)
{
    ft_trace *trace = b->trace;
    FT_REQUIRE(site.module < trace->n_modules && site.loc < trace->n_locations);
    trace->sites =
        ft_vec_grow(trace->sites, &b->site_cap, trace->n_sites + 1u, sizeof *trace->sites);
    trace->sites[trace->n_sites++] = site;
}

void ft_builder_hook(ft_builder *b, uint32_t hook)
{
    b->hook = hook;
}

ft_term_pool *ft_builder_terms(ft_builder *b)
{
    return b->trace->terms;
}

const ft_trace *ft_builder_peek(const ft_builder *b)
{
    return b->trace;
}

/* ---- actions -------------------------------------------------------------------------------- */

typedef FT_VEC(ft_access) access_list;

typedef struct collector {
    ft_builder *builder;
    access_list *list;
    bool in_guard;
} collector;

/* Adds an access unless the same action has made one of that mark already. */
static void add_access(collector *c, uint32_t variable, bool write)
{
    ft_builder *b = c->builder;
    assert(2 * (size_t)variable + write < b->access_cap);
    uint64_t mark = b->access_serial + write;
    uint64_t *seen = &b->access_seen[2 * (size_t)variable + write];
    if (*seen == mark) return;
    *seen = mark;
    ft_vec_push(c->list,
                (ft_access){.variable = variable, .write = write, .in_guard = c->in_guard});
}

static void add_read(void *context, ft_symbol symbol)
{
    if (!FT_SYM_IS_LOCAL(symbol)) add_access(context, FT_SYM_INDEX(symbol), false);
}

static void collect_accesses(ft_builder *b, const ft_action *action, access_list *list)
{
    size_t marks = 2 * (size_t)b->trace->shared.len, old = b->access_cap;
    b->access_seen = ft_vec_grow(b->access_seen, &b->access_cap, marks, sizeof *b->access_seen);
    for (size_t i = old; i < b->access_cap; i++) b->access_seen[i] = 0;
    b->access_serial += 2;
    collector c = {.builder = b, .list = list, .in_guard = true};
    if (action->guard != FT_NO_TERM) ft_term_symbols(b->trace->terms, action->guard, add_read, &c);
    c.in_guard = false;
    for (uint32_t i = 0; i < action->n_assignments; i++)
        ft_term_symbols(b->trace->terms, action->assignments[i].term, add_read, &c);
    for (uint32_t i = 0; i < action->n_assignments; i++)
        if (!FT_SYM_IS_LOCAL(action->assignments[i].target))
            add_access(&c, action->assignments[i].target, true);
}

static const void *arena_copy(ft_arena *arena, const void *data, size_t size)
{
    return size ? memcpy(ft_arena_alloc(arena, size), data, size) : NULL;
}

static uint32_t add_action(ft_builder *b, ft_action action)
{
    ft_trace *trace = b->trace;
    access_list list = {0};
    collect_accesses(b, &action, &list);
    assert(list.len <= UINT32_MAX);
    action.n_accesses = (uint32_t)list.len;
    action.accesses = arena_copy(trace->arena, list.data, list.len * sizeof *list.data);
    action.assignments = arena_copy(trace->arena, action.assignments,
                                    action.n_assignments * sizeof *action.assignments);
    ft_vec_release(&list);
    trace->actions =
        ft_vec_grow(trace->actions, &b->action_cap, trace->n_actions + 1u, sizeof *trace->actions);
    trace->actions[trace->n_actions] = action;
    return trace->n_actions++;
}

static bool same_action(const ft_action *a, const ft_action *b)
{
    return a->guard == b->guard && a->n_assignments == b->n_assignments &&
           (!a->n_assignments ||
            memcmp(a->assignments, b->assignments, a->n_assignments * sizeof *a->assignments) == 0);
}

uint32_t ft_builder_intern_action(ft_builder *b, ft_term guard, const ft_assignment *assignments,
                                  uint32_t n_assignments)
{
    FT_REQUIRE(assignments || !n_assignments);
    ft_action action = {.guard = guard, .n_assignments = n_assignments, .assignments = assignments};
    uint64_t key = ft_hash_bytes(assignments ? (const void *)assignments : "",
                                 n_assignments * sizeof *assignments, guard);
    bool inserted;
    uint64_t *index = ft_map_slot(&b->actions, key, b->trace->n_actions, &inserted);
    if (!inserted && same_action(&b->trace->actions[*index], &action)) return (uint32_t)*index;
    return add_action(b, action);
}

/* ---- events --------------------------------------------------------------------------------- */

uint32_t ft_builder_intern_update(ft_builder *b, uint32_t variable, uint32_t read, uint32_t written)
{
    ft_trace *trace = b->trace;
    const uint32_t content[] = {variable, read, written};
    bool inserted;
    uint64_t key = ft_hash_bytes(content, sizeof content, 0);
    uint64_t *index = ft_map_slot(&b->updates, key, trace->n_updates, &inserted);
    if (!inserted) {
        assert(*index < trace->n_updates);
        const ft_update *known = &trace->updates[*index];
        if (known->accesses[0].variable == variable && known->read == read &&
            known->written == written)
            return (uint32_t)*index;
    }
    trace->updates =
        ft_vec_grow(trace->updates, &b->update_cap, trace->n_updates + 1u, sizeof *trace->updates);
    trace->updates[trace->n_updates] = (ft_update){
        .read = read,
        .written = written,
        .accesses = {{.variable = variable, .write = false}, {.variable = variable, .write = true}},
    };
    return trace->n_updates++;
}

uint32_t ft_builder_update(ft_builder *b, uint32_t thread, uint32_t variable, uint32_t loc,
                           uint32_t read, uint32_t written, bool compares)
{
    FT_REQUIRE(read < b->trace->n_values && written < b->trace->n_values);
    uint32_t update = ft_builder_intern_update(b, variable, read, written);
    uint8_t flags = compares ? FT_FLAG_ATOMIC | FT_FLAG_TRY : FT_FLAG_ATOMIC;
    return ft_builder_raw_event(b, FT_EVENT_RMW, thread, variable, loc, update, flags);
}

uint32_t ft_builder_action(ft_builder *b, ft_event_kind kind, uint32_t thread, uint32_t loc,
                           ft_term guard, const ft_assignment *assignments, uint32_t n_assignments,
                           uint8_t flags)
{
    FT_REQUIRE(kind == FT_EVENT_ASSIGN || (n_assignments == 0 && guard != FT_NO_TERM));
    assert(kind == FT_EVENT_ASSIGN || kind == FT_EVENT_ASSUME || kind == FT_EVENT_ASSERT ||
           kind == FT_EVENT_IF);
    uint32_t action = ft_builder_intern_action(b, guard, assignments, n_assignments);
    return ft_builder_raw_event(b, kind, thread, 0, loc, action, flags);
}

/* ---- notes and the end ---------------------------------------------------------------------- */

void ft_builder_add_note(ft_builder *b, const char *code, uint32_t event, uint32_t count,
                         const char *text)
{
    FT_REQUIRE(code && text);
    ft_trace *trace = b->trace;
    uint32_t at = 0;
    while (at < trace->n_notes && strcmp(trace->notes[at].code, code) < 0) at++;
    if (at < trace->n_notes && strcmp(trace->notes[at].code, code) == 0) {
        if (trace->notes[at].count <= UINT32_MAX - count) trace->notes[at].count += count;
        return;
    }
    trace->notes =
        ft_vec_grow(trace->notes, &b->note_cap, trace->n_notes + 1u, sizeof *trace->notes);
    memmove(trace->notes + at + 1, trace->notes + at,
            (trace->n_notes++ - at) * sizeof *trace->notes);
    trace->notes[at] = (ft_note){.code = ft_arena_strndup(trace->arena, code, strlen(code)),
                                 .event = event,
                                 .count = count,
                                 .text = ft_arena_strndup(trace->arena, text, strlen(text))};
}

void ft_builder_note(ft_builder *b, const char *code, uint32_t event, const char *format, ...)
{
    char text[NOTE_TEXT];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    size_t length = strlen(text);
    if (length == sizeof text - 1) /* cut off, perhaps inside a character */
        while (length && (text[length - 1] & 0x80)) length--;
    text[length] = 0;
    bool clean = ft_builder_text_is_clean(text, length);
    ft_builder_add_note(b, code, event, 1, clean ? text : escape_text(b, text, &length));
}

void ft_builder_clamp_notes(ft_builder *b)
{
    for (uint32_t i = 0; i < b->trace->n_notes; i++)
        if (b->trace->notes[i].event >= ft_builder_count(b)) b->trace->notes[i].event = FT_NO_EVENT;
}

static ft_status finish(ft_builder *b, ft_error *err)
{
    assert(!b->flowing);
    if (b->failure.code != FT_OK)
        return ft_error_set(err, b->failure.code, "%s", b->failure.message);
    if (!b->trace->n_events)
        return ft_error_set(err, FT_INPUT, "the trace has no events: nothing to analyse");
    ft_builder_clamp_notes(b);
    ft_status status = ft_builder_check_blocked(b, err);
    if (status != FT_OK) return status;
    status = b->canonical ? ft_builder_check_canonical(b, err) : ft_builder_normalise(b, err);
    if (status == FT_OK) status = ft_builder_find_paths(b, err);
    if (status == FT_OK) ft_builder_shrink(b);
    FT_CHECK(status != FT_OK || ft_trace_is_sound(b->trace));
    return status;
}

ft_status ft_builder_finish(ft_builder *b, ft_trace **trace, ft_error *err)
{
    ft_status status = finish(b, err);
    if (status == FT_OK) {
        *trace = b->trace;
        b->trace = NULL;
    }
    ft_builder_free(b);
    return status;
}
