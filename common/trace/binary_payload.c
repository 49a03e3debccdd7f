#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "trace/binary_internal.h"

enum { MAX_TERM_SIZE = 1 << 20 };

uint64_t ft_binary_cursor_varint(ft_binary_cursor *c, bool *bad)
{
    assert(c->at <= c->end);
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (c->at == c->end) break;
        uint64_t byte = *c->at++;
        if (shift == 63 && byte > 1) break;
        value |= (byte & 0x7f) << shift;
        if (byte < 0x80) return value;
    }
    *bad = true;
    return 0;
}

uint64_t ft_binary_varint(ft_binary_state *r)
{
    bool bad = false;
    uint64_t value = ft_binary_cursor_varint(&r->c, &bad);
    if (bad) FT_BINARY_FAIL(r, FT_INPUT, "the frame ends in the middle of a number");
    return value;
}

/* A number below `limit`. */
uint32_t ft_binary_below(ft_binary_state *r, uint64_t limit, const char *what)
{
    uint64_t value = ft_binary_varint(r);
    if (r->status == FT_OK && value >= limit)
        FT_BINARY_FAIL(r, FT_INPUT, "%s %llu does not exist", what, (unsigned long long)value);
    return r->status == FT_OK ? (uint32_t)value : 0;
}

static unsigned get_byte(ft_binary_state *r)
{
    if (r->c.at < r->c.end) return *r->c.at++;
    FT_BINARY_FAIL(r, FT_INPUT, "the frame ends in the middle of an item");
    return 0;
}

const char *ft_binary_bytes(ft_binary_state *r, uint64_t length)
{
    assert(r->c.at <= r->c.end);
    const char *text = (const char *)r->c.at;
    if (length > (uint64_t)(r->c.end - r->c.at)) {
        FT_BINARY_FAIL(r, FT_INPUT, "the frame ends in the middle of a text");
        return "";
    }
    r->c.at += length;
    return text;
}

static const char *checked_text(ft_binary_state *r, const char *text, uint64_t length)
{
    if (r->status != FT_OK) return "";
    if (!ft_builder_text_is_clean(text, (size_t)length))
        FT_BINARY_FAIL(r, FT_INPUT, "a text is not printable UTF-8");
    return text;
}

static const char *get_text(ft_binary_state *r, size_t *length)
{
    uint64_t n = ft_binary_varint(r);
    const char *text = checked_text(r, ft_binary_bytes(r, n), n);
    *length = r->status == FT_OK ? (size_t)n : 0;
    return text;
}

static ft_sort get_sort(ft_binary_state *r)
{
    unsigned kind = get_byte(r), width = get_byte(r);
    bool valid = kind == FT_SORT_BITVEC ? width >= 1 && width <= 64
                                        : (kind == FT_SORT_BOOL || kind == FT_SORT_INT) && !width;
    if (!valid) FT_BINARY_FAIL(r, FT_INPUT, "a sort is malformed");
    return valid ? (ft_sort){(uint8_t)kind, (uint8_t)width} : FT_BOOL_SORT;
}

static ft_value get_value(ft_binary_state *r)
{
    ft_sort sort = get_sort(r);
    uint64_t bits = ft_binary_varint(r);
    if (sort.kind == FT_SORT_INT) bits = (uint64_t)ft_unzigzag(bits);
    unsigned width = sort.kind == FT_SORT_BOOL ? 1 : sort.width;
    if (sort.kind != FT_SORT_INT && width < 64 && bits >> width)
        FT_BINARY_FAIL(r, FT_INPUT, "a value has more bits than its sort");
    return (ft_value){.sort = sort, .bits = bits};
}

static ft_symbol get_symbol(ft_binary_state *r, ft_sort *sort)
{
    uint64_t number = ft_binary_varint(r);
    bool local = number & 1;
    uint64_t index = number >> 1;
    *sort = FT_BOOL_SORT;
    if (r->status == FT_OK && index >= (local ? r->trace->locals.len : r->trace->shared.len))
        FT_BINARY_FAIL(r, FT_INPUT, "variable %llu does not exist", (unsigned long long)index);
    if (r->status != FT_OK) return 0;
    *sort = (local ? r->trace->local_info : r->trace->shared_info)[index].sort;
    return local ? FT_SYM_LOCAL(index) : FT_SYM_SHARED(index);
}

/* Ids are positions in the file's lists, so a name must be new. */
static void check_new(ft_binary_state *r, uint32_t id, uint32_t expected, const char *what)
{
    if (r->builder->failure.code != FT_OK)
        FT_BINARY_FAIL(r, r->builder->failure.code, "%s", r->builder->failure.message);
    if (id != expected) FT_BINARY_FAIL(r, FT_INPUT, "%s is declared twice", what);
}

/* ---- declarations --------------------------------------------------------------------------- */

static void kind_item(ft_binary_state *r)
{
    size_t length;
    const char *text = get_text(r, &length);
    char name[32] = {0};
    ft_event_kind kind = FT_EVENT_KINDS;
    if (r->status != FT_OK) return;
    if (length < sizeof name) memcpy(name, text, length);
    if (r->n_kinds == FT_BINARY_HAS_FLAGS) FT_BINARY_FAIL(r, FT_INPUT, "too many event kinds");
    /* A kind of a later version matters only if an event has it. */
    r->kinds[r->n_kinds++] = ft_event_kind_parse(name, &kind) ? (uint8_t)kind : FT_BINARY_BAD_CODE;
}

static void operator_item(ft_binary_state *r)
{
    size_t length;
    const char *text = get_text(r, &length);
    if (r->status != FT_OK) return;
    uint8_t found = FT_BINARY_BAD_CODE;
    for (int op = 0; op < FT_OP_COUNT; op++) {
        const char *name = ft_op_name((ft_op)op);
        if (length && strlen(name) == length && memcmp(name, text, length) == 0)
            found = (uint8_t)op;
    }
    if (r->n_operators == FT_BINARY_CODES)
        FT_BINARY_FAIL(r, FT_INPUT, "too many operators");
    else
        r->operators[r->n_operators++] = found;
}

static void thread_item(ft_binary_state *r)
{
    size_t length;
    const char *name = get_text(r, &length);
    uint32_t expected = r->trace->threads.len;
    if (r->status == FT_OK)
        check_new(r, ft_builder_thread(r->builder, name, length), expected, "a thread");
}

static void value_item(ft_binary_state *r)
{
    ft_value value = get_value(r);
    uint32_t expected = r->trace->n_values;
    if (r->status == FT_OK) check_new(r, ft_builder_value(r->builder, value), expected, "a value");
}

static void variable_item(ft_binary_state *r, bool local)
{
    size_t length;
    const char *name = get_text(r, &length);
    ft_sort sort = get_sort(r);
    uint32_t initial = ft_binary_below(r, r->trace->n_values, "value");
    if (initial != FT_NO_VALUE && !ft_sort_equal(r->trace->values[initial].sort, sort))
        FT_BINARY_FAIL(r, FT_INPUT, "an initial value is not of its variable's sort");
    if (r->status != FT_OK) return;
    uint32_t expected = local ? r->trace->locals.len : r->trace->shared.len;
    uint32_t id = local ? ft_builder_local(r->builder, name, length, sort)
                        : ft_builder_shared(r->builder, name, length, sort);
    check_new(r, id, expected, "a variable");
    (local ? ft_builder_local_initial : ft_builder_shared_initial)(r->builder, id, initial);
}

static void shared_item(ft_binary_state *r)
{
    variable_item(r, false);
}

static void local_item(ft_binary_state *r)
{
    variable_item(r, true);
}

static void lock_item(ft_binary_state *r)
{
    size_t length;
    const char *name = get_text(r, &length);
    unsigned kind = get_byte(r);
    if (kind >= FT_LOCK_KINDS) FT_BINARY_FAIL(r, FT_INPUT, "lock kind %u does not exist", kind);
    uint32_t expected = r->trace->locks.len;
    if (r->status == FT_OK)
        check_new(r, ft_builder_lock(r->builder, name, length, (ft_lock_kind)kind), expected,
                  "a lock");
}

static void semaphore_item(ft_binary_state *r)
{
    size_t length;
    const char *name = get_text(r, &length);
    uint32_t count = ft_binary_below(r, UINT32_MAX + 1ull, "semaphore count");
    uint32_t expected = r->trace->semaphores.len;
    if (r->status == FT_OK)
        check_new(r, ft_builder_semaphore(r->builder, name, length, count), expected,
                  "a semaphore");
}

static void edge_item(ft_binary_state *r)
{
    size_t length;
    const char *name = get_text(r, &length);
    uint32_t expected = r->trace->edges.len;
    if (r->status == FT_OK)
        check_new(r, ft_builder_edge(r->builder, name, length), expected, "an edge");
}

static void condition_item(ft_binary_state *r)
{
    size_t length;
    const char *name = get_text(r, &length);
    uint32_t expected = r->trace->conditions.len;
    if (r->status == FT_OK)
        check_new(r, ft_builder_condition(r->builder, name, length), expected,
                  "a condition variable");
}

static void barrier_item(ft_binary_state *r)
{
    size_t length;
    const char *name = get_text(r, &length);
    uint32_t count = ft_binary_below(r, UINT32_MAX + 1ull, "barrier count");
    uint32_t expected = r->trace->barriers.len;
    if (r->status == FT_OK && !count) FT_BINARY_FAIL(r, FT_INPUT, "a barrier's count is 0");
    if (r->status == FT_OK)
        check_new(r, ft_builder_barrier(r->builder, name, length, count), expected, "a barrier");
}

static void once_item(ft_binary_state *r)
{
    size_t length;
    const char *name = get_text(r, &length);
    uint32_t expected = r->trace->onces.len;
    if (r->status == FT_OK)
        check_new(r, ft_builder_once(r->builder, name, length), expected, "a once object");
}

static void block_item(ft_binary_state *r)
{
    size_t length;
    const char *name = get_text(r, &length);
    uint32_t count = ft_binary_below(r, (uint64_t)r->trace->shared.len + 1, "block size");
    uint32_t expected = r->trace->blocks.len;
    uint64_t cell = 0;
    r->cells.len = 0;
    for (uint32_t i = 0; i < count && r->status == FT_OK; i++) {
        uint64_t step = ft_binary_below(r, r->trace->shared.len, "variable");
        cell += step;
        if (r->status == FT_OK && ((i && !step) || cell >= r->trace->shared.len))
            FT_BINARY_FAIL(r, FT_INPUT, "a block's variables are not ascending");
        ft_vec_push(&r->cells, (uint32_t)cell);
    }
    if (r->status == FT_OK)
        check_new(r, ft_builder_block(r->builder, name, length, r->cells.data, count), expected,
                  "a block");
}

bool ft_binary_value_fits(const ft_trace *trace, uint64_t variable, uint64_t value)
{
    if (value >= trace->n_values) return false;
    return value == FT_NO_VALUE ||
           ft_sort_equal(trace->values[value].sort, trace->shared_info[variable].sort);
}

static void update_item(ft_binary_state *r)
{
    uint32_t variable = ft_binary_below(r, r->trace->shared.len, "variable");
    uint32_t read = ft_binary_below(r, r->trace->n_values, "value");
    uint32_t written = ft_binary_below(r, r->trace->n_values, "value");
    uint32_t expected = r->trace->n_updates;
    if (r->status != FT_OK) return;
    if (!ft_binary_value_fits(r->trace, variable, read) ||
        !ft_binary_value_fits(r->trace, variable, written))
        FT_BINARY_FAIL(r, FT_INPUT, "the value of an update is not of its variable's sort");
    else
        check_new(r, ft_builder_intern_update(r->builder, variable, read, written), expected,
                  "an update");
}

/* A text that may be missing: NULL. */
static const char *get_optional(ft_binary_state *r, size_t *length)
{
    uint64_t more = ft_binary_varint(r);
    *length = more ? (size_t)more - 1 : 0;
    return more ? checked_text(r, ft_binary_bytes(r, more - 1), more - 1) : NULL;
}

static void location_item(ft_binary_state *r)
{
    size_t length, function_length;
    const char *text = get_text(r, &length), *function = get_optional(r, &function_length);
    uint32_t expected = r->trace->n_locations;
    if (r->status != FT_OK) return;
    uint32_t id = ft_builder_location(r->builder, text, length, function, function_length);
    check_new(r, id, expected, "a location");
}

static void source_item(ft_binary_state *r)
{
    size_t path_length, line_length;
    uint32_t loc = ft_binary_below(r, r->trace->n_locations, "location");
    const char *path = get_text(r, &path_length), *line = get_optional(r, &line_length);
    if (r->status != FT_OK) return;
    if (loc == FT_NO_LOC || r->trace->locations[loc].path)
        FT_BINARY_FAIL(r, FT_INPUT, "%s", loc ? "a source is declared twice" : "no location");
    ft_builder_source(r->builder, loc, path, path_length, line, line_length);
}

static void type_item(ft_binary_state *r)
{
    uint32_t shared = ft_binary_below(r, r->trace->shared.len, "variable");
    unsigned type = get_byte(r);
    if (r->status == FT_OK && type < FT_TYPES)
        ft_builder_shared_type(r->builder, shared, (ft_type)type);
}

static void assertion_item(ft_binary_state *r)
{
    size_t length;
    uint32_t loc = ft_binary_below(r, r->trace->n_locations, "location");
    const char *text = get_text(r, &length);
    if (r->status != FT_OK) return;
    if (loc == FT_NO_LOC || r->trace->locations[loc].asserts)
        FT_BINARY_FAIL(r, FT_INPUT, "%s", loc ? "an assertion is declared twice" : "no location");
    else
        ft_builder_assertion(r->builder, loc, text, length);
}

static void module_item(ft_binary_state *r)
{
    size_t length, hash_length;
    const char *name = get_text(r, &length), *hash = get_text(r, &hash_length);
    if (r->status == FT_OK) ft_builder_module(r->builder, name, length, hash, hash_length);
}

static void site_item(ft_binary_state *r)
{
    uint32_t module = ft_binary_below(r, r->trace->n_modules, "module");
    uint64_t offset = ft_binary_varint(r);
    uint32_t loc = ft_binary_below(r, r->trace->n_locations, "location");
    if (r->status == FT_OK)
        ft_builder_site(r->builder, (ft_code_site){.module = module, .offset = offset, .loc = loc});
}

static void context_item(ft_binary_state *r)
{
    uint32_t count = r->trace->n_contexts ? r->trace->n_contexts : 1;
    uint32_t back = ft_binary_below(r, count, "the context around");
    uint32_t loc = ft_binary_below(r, r->trace->n_locations, "location");
    uint32_t parent = back ? count - back : FT_NO_CONTEXT;
    if (r->status == FT_OK && parent && r->trace->contexts[parent].depth == FT_CONTEXT_MAX_DEPTH)
        FT_BINARY_FAIL(r, FT_LIMIT, "calls are nested more than %u deep", FT_CONTEXT_MAX_DEPTH);
    if (r->status == FT_OK)
        check_new(r, ft_builder_context(r->builder, parent, loc), count, "a context");
}

static void command_item(ft_binary_state *r)
{
    size_t length;
    const char *word = get_text(r, &length);
    if (r->status == FT_OK) ft_builder_command(r->builder, word, length);
}

/* ---- terms and actions ---------------------------------------------------------------------- */

static ft_binary_term get_child(ft_binary_state *r)
{
    uint64_t back = ft_binary_varint(r),
             count = r->terms.len; /* this term will be number count + 1 */
    if (r->status == FT_OK && (back == 0 || back > count))
        FT_BINARY_FAIL(r, FT_INPUT, "a term refers to one that is not before it");
    if (r->status != FT_OK) return (ft_binary_term){0};
    return r->terms.data[count - back];
}

static void get_children(ft_binary_state *r, ft_binary_term *result)
{
    uint64_t count = ft_binary_varint(r);
    if (count > (uint64_t)(r->c.end - r->c.at))
        FT_BINARY_FAIL(r, FT_INPUT, "a term has more children than the frame has room for");
    r->children.len = 0;
    *result = (ft_binary_term){.size = 1};
    for (uint64_t i = 0; i < count && r->status == FT_OK; i++) {
        ft_binary_term child = get_child(r);
        if (child.depth >= result->depth) result->depth = child.depth + 1;
        if (__builtin_add_overflow(result->size, child.size, &result->size))
            result->size = UINT32_MAX;
        ft_vec_push(&r->children, child.term);
    }
    if (result->depth > FT_TERM_MAX_DEPTH || result->size > MAX_TERM_SIZE)
        FT_BINARY_FAIL(r, FT_LIMIT, "a term is nested more than %d deep or has more than %d nodes",
                       FT_TERM_MAX_DEPTH, (int)MAX_TERM_SIZE);
}

static ft_binary_term get_application(ft_binary_state *r, ft_op op)
{
    ft_binary_term result;
    get_children(r, &result);
    uint32_t index[2] = {0, 0};
    bool indexed = op == FT_OP_EXTRACT || op == FT_OP_ZERO_EXTEND || op == FT_OP_SIGN_EXTEND;
    for (int i = 0; indexed && i < 2; i++) index[i] = ft_binary_below(r, 1u << 16, "index");
    if (r->status != FT_OK) return result;
    ft_error why = FT_ERROR_INIT;
    if (ft_term_apply(r->builder->trace->terms, op, r->children.data, (uint32_t)r->children.len,
                      indexed ? index : NULL, &result.term, &why) != FT_OK)
        FT_BINARY_FAIL(r, FT_INPUT, "a term is ill-sorted: %s", why.message);
    return result;
}

static void term_item(ft_binary_state *r)
{
    ft_term_pool *pool = r->builder->trace->terms;
    uint64_t code = ft_binary_varint(r);
    ft_binary_term result = {.size = 1};
    if (code == FT_BINARY_LITERAL) {
        ft_value value = get_value(r);
        if (r->status == FT_OK) result.term = ft_term_literal(pool, value);
    } else if (code == FT_BINARY_SYMBOL) {
        ft_sort sort;
        ft_symbol symbol = get_symbol(r, &sort);
        if (r->status == FT_OK) result.term = ft_term_symbol(pool, symbol, sort);
    } else if (code - FT_BINARY_OPERATORS >= r->n_operators) {
        FT_BINARY_FAIL(r, FT_INPUT, "operator %llu is not declared", (unsigned long long)code);
    } else if (r->operators[code - FT_BINARY_OPERATORS] == FT_BINARY_BAD_CODE) {
        FT_BINARY_FAIL(r, FT_UNSUPPORTED, "a term has an operator that this version does not know");
    } else {
        result = get_application(r, (ft_op)r->operators[code - FT_BINARY_OPERATORS]);
    }
    if (r->status == FT_OK) ft_vec_push(&r->terms, result);
}

static ft_term get_term(ft_binary_state *r, bool optional)
{
    uint32_t number = ft_binary_below(r, r->terms.len + 1, "term");
    if (r->status == FT_OK && !number && !optional)
        FT_BINARY_FAIL(r, FT_INPUT, "a term is missing");
    return r->status == FT_OK && number ? r->terms.data[number - 1].term : FT_NO_TERM;
}

static void get_assignment(ft_binary_state *r, ft_map *targets)
{
    ft_term_pool *pool = r->builder->trace->terms;
    ft_sort sort;
    ft_assignment one = {.target = get_symbol(r, &sort)};
    one.term = get_term(r, false);
    if (r->status != FT_OK) return;
    if (!ft_sort_equal(sort, ft_term_sort(pool, one.term)))
        FT_BINARY_FAIL(r, FT_INPUT, "an assigned term is not of its variable's sort");
    bool inserted;
    (void)ft_map_slot(targets, one.target, 0, &inserted);
    if (!inserted) FT_BINARY_FAIL(r, FT_INPUT, "an action assigns the same variable twice");
    ft_vec_push(&r->set, one);
}

static void action_item(ft_binary_state *r)
{
    ft_map targets = {0};
    ft_term guard = get_term(r, true);
    uint64_t count = ft_binary_varint(r);
    if (guard != FT_NO_TERM &&
        !ft_sort_equal(ft_term_sort(r->builder->trace->terms, guard), FT_BOOL_SORT))
        FT_BINARY_FAIL(r, FT_INPUT, "a guard is not of sort Bool");
    r->set.len = 0;
    for (uint64_t i = 0; i < count && r->status == FT_OK; i++) get_assignment(r, &targets);
    ft_map_release(&targets);
    if (r->status != FT_OK) return;
    uint32_t action = ft_builder_intern_action(r->builder, guard, r->set.len ? r->set.data : NULL,
                                               (uint32_t)r->set.len);
    ft_vec_push(&r->actions, action);
}

/* ---- the end ------------------------------------------------------------------------------- */

static char *get_copy(ft_binary_state *r)
{
    uint64_t length = ft_binary_varint(r);
    const char *text = ft_binary_bytes(r, length);
    if (r->status != FT_OK) return NULL;
    if (!ft_builder_text_is_clean(text, (size_t)length))
        FT_BINARY_FAIL(r, FT_INPUT, "a text is not UTF-8");
    return ft_arena_strndup(r->trace->arena, text, (size_t)length);
}

static void note_item(ft_binary_state *r)
{
    size_t length;
    const char *text = get_text(r, &length);
    char *code = ft_strndup(text, length);
    uint32_t event = ft_binary_below(r, (uint64_t)ft_builder_count(r->builder) + 1, "event");
    uint32_t count = ft_binary_below(r, UINT32_MAX + 1ull, "count");
    const char *note = get_copy(r);
    if (r->status == FT_OK)
        ft_builder_add_note(r->builder, code, event ? event - 1 : FT_NO_EVENT, count, note);
    free(code);
}

static void broken_frame(ft_binary_state *r)
{
    uint32_t event = ft_binary_below(r, ft_builder_count(r->builder), "event");
    const char *text = get_copy(r);
    if (!r->canonical)
        FT_BINARY_FAIL(r, FT_INPUT, "only a canonical trace can be marked as broken");
    if (r->status != FT_OK) return;
    r->builder->trace->broken = event;
    r->builder->trace->broken_text = text;
}

static void end_frame(ft_binary_state *r)
{
    uint64_t count = ft_binary_varint(r);
    uint32_t n_events = ft_builder_count(r->builder);
    if (r->status == FT_OK && count != n_events)
        FT_BINARY_FAIL(r, FT_INPUT, "the file says it has %llu events, and has %u",
                       (unsigned long long)count, n_events);
    r->ended = true;
}

/* ---- payloads ------------------------------------------------------------------------------- */

static void inputs_frame(ft_binary_state *r)
{
    ft_builder_inputs(r->builder, r->c.at, (size_t)(r->c.end - r->c.at));
    r->c.at = r->c.end;
}

/* The first value read of a variable that was put before that was known. */
static void initial_item(ft_binary_state *r)
{
    uint32_t shared = ft_binary_below(r, r->trace->shared.len, "variable");
    uint32_t value = ft_binary_below(r, r->trace->n_values, "value");
    if (r->status == FT_OK && (!value || !ft_binary_value_fits(r->trace, shared, value)))
        FT_BINARY_FAIL(r, FT_INPUT, "an initial value is not of its variable's sort");
    if (r->status != FT_OK) return;
    /* Those who take events away find it out by themselves, when they have seen them all. */
    const uint32_t *known = &r->trace->shared_info[shared].initial;
    if (r->builder->flowing && *known != value) ft_builder_flush(r->builder);
    if (r->builder->flowing && *known != value) ft_builder_need_all(r->builder);
    ft_builder_shared_initial(r->builder, shared, value);
}

static const struct {
    void (*get)(ft_binary_state *);
    bool list; /* `get` takes one item of many */
} FRAMES[FT_BINARY_FRAMES] = {
    [FT_BINARY_FRAME_KINDS] = {kind_item, true},
    [FT_BINARY_FRAME_OPERATORS] = {operator_item, true},
    [FT_BINARY_FRAME_THREADS] = {thread_item, true},
    [FT_BINARY_FRAME_VALUES] = {value_item, true},
    [FT_BINARY_FRAME_SHARED] = {shared_item, true},
    [FT_BINARY_FRAME_LOCALS] = {local_item, true},
    [FT_BINARY_FRAME_LOCKS] = {lock_item, true},
    [FT_BINARY_FRAME_SEMAPHORES] = {semaphore_item, true},
    [FT_BINARY_FRAME_EDGES] = {edge_item, true},
    [FT_BINARY_FRAME_CONDITIONS] = {condition_item, true},
    [FT_BINARY_FRAME_BARRIERS] = {barrier_item, true},
    [FT_BINARY_FRAME_ONCES] = {once_item, true},
    [FT_BINARY_FRAME_BLOCKS] = {block_item, true},
    [FT_BINARY_FRAME_UPDATES] = {update_item, true},
    [FT_BINARY_FRAME_LOCATIONS] = {location_item, true},
    [FT_BINARY_FRAME_TERMS] = {term_item, true},
    [FT_BINARY_FRAME_ACTIONS] = {action_item, true},
    [FT_BINARY_FRAME_EVENTS] = {ft_binary_events_frame, false},
    [FT_BINARY_FRAME_SOURCES] = {source_item, true},
    [FT_BINARY_FRAME_TYPES] = {type_item, true},
    [FT_BINARY_FRAME_ASSERTIONS] = {assertion_item, true},
    [FT_BINARY_FRAME_MODULES] = {module_item, true},
    [FT_BINARY_FRAME_SITES] = {site_item, true},
    [FT_BINARY_FRAME_HOOKS] = {ft_binary_hooks_frame, false},
    [FT_BINARY_FRAME_CONTEXTS] = {context_item, true},
    [FT_BINARY_FRAME_EVENT_CONTEXTS] = {ft_binary_event_contexts_frame, false},
    [FT_BINARY_FRAME_INPUTS] = {inputs_frame, false},
    [FT_BINARY_FRAME_INITIALS] = {initial_item, true},
    [FT_BINARY_FRAME_COMMAND] = {command_item, true},
    [FT_BINARY_FRAME_NOTES] = {note_item, true},
    [FT_BINARY_FRAME_BROKEN] = {broken_frame, false},
    [FT_BINARY_FRAME_END] = {end_frame, false},
};

bool ft_binary_knows(unsigned type)
{
    return type < FT_BINARY_FRAMES && FRAMES[type].get;
}

void ft_binary_payload(ft_binary_state *r, unsigned type)
{
    do FRAMES[type].get(r);
    while (FRAMES[type].list && r->status == FT_OK && r->c.at < r->c.end);
    if (r->status == FT_OK && r->c.at < r->c.end)
        FT_BINARY_FAIL(r, FT_INPUT, "the frame holds too much");
}
