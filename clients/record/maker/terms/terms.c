/* Events with terms: assignments, assumes and assertions; and the decoder of TERMS records. */
#include "maker/terms/terms_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"

ft_terms *ft_terms_new(ft_builder *builder, ft_record_terms *summary,
                       const ft_terms_surroundings *around)
{
    ft_terms *t = ft_calloc(1, sizeof *t);
    *t = (ft_terms){.builder = builder,
                    .pool = ft_builder_terms(builder),
                    .summary = summary,
                    .around = *around,
                    .lanes = ft_lanes_new()};
    return t;
}

void ft_terms_free(ft_terms *t)
{
    if (!t) return;
    for (size_t i = 0; i < t->actors.len; i++) {
        ft_vec_release(&t->actors.data[i].nodes);
        ft_vec_release(&t->actors.data[i].values);
        ft_vec_release(&t->actors.data[i].read_from);
        ft_vec_release(&t->actors.data[i].sources);
        ft_vec_release(&t->actors.data[i].copied);
    }
    for (int w = 0; w < FT_WIDTHS; w++) ft_vec_release(&t->ids[w]);
    ft_vec_release(&t->actors);
    ft_vec_release(&t->depths);
    ft_vec_release(&t->sizes);
    ft_vec_release(&t->access.lanes);
    ft_vec_release(&t->access.shared);
    ft_map_release(&t->held);
    ft_map_release(&t->assumed);
    ft_lanes_free(t->lanes);
    free(t);
}

ft_value ft_terms_value(uint32_t size, int64_t value)
{
    FT_REQUIRE(size && size <= 8);
    uint64_t mask = size >= 8 ? UINT64_MAX : (UINT64_C(1) << (8 * size)) - 1;
    return (ft_value){.sort = {.kind = FT_SORT_BITVEC, .width = (uint8_t)(8 * size)},
                      .bits = (uint64_t)value & mask};
}

/* ---- what terms give */

static bool look_up(void *context, ft_symbol symbol, ft_value *value)
{
    const ft_terms *t = context;
    uint32_t id = FT_SYM_INDEX(symbol);
    assert(id < t->actor->values.len); /* the thread assigned it */
    value->sort = ft_builder_peek(t->builder)->local_info[id].sort;
    value->bits = t->actor->values.data[id];
    return true;
}

bool ft_terms_agrees(ft_terms *t, ft_term term, uint64_t value)
{
    ft_value found;
    return ft_term_eval(t->pool, term, look_up, t, &found) == FT_EVAL_OK && found.bits == value;
}

static void hold_symbol(void *context, ft_symbol symbol)
{
    ft_terms *t = context;
    ft_value value;
    look_up(t, symbol, &value);
    unsigned width = value.sort.kind == FT_SORT_BOOL ? 1 : value.sort.width;
    ft_term term = ft_term_symbol(t->pool, symbol, value.sort);
    ft_terms_hold(t, (ft_node){term, (uint8_t)width, value.bits}, FT_SYM_OPERATION_REASON);
}

void ft_terms_disagrees(ft_terms *t, ft_term term)
{
    t->summary->wrong++;
    ft_term_symbols(t->pool, term, hold_symbol, t);
}

/* ---- events */

void ft_terms_assign(ft_terms *t, ft_term guard, const ft_assignment *assignments, uint32_t n,
                     uint32_t hook, uint8_t flags)
{
    FT_REQUIRE(n);
    for (uint32_t i = 0; i < n; i++) assert(assignments[i].term != FT_NO_TERM);
    assert(!guard || ft_term_sort(t->pool, guard).kind == FT_SORT_BOOL);
    ft_builder_hook(t->builder, hook);
    ft_builder_action(t->builder, FT_EVENT_ASSIGN, t->place.thread, t->place.loc, guard,
                      assignments, n, flags);
    ft_builder_hook(t->builder, t->place.hook);
    t->summary->assigned++;
}

static uint64_t key_of(const ft_terms *t, ft_term term)
{
    return (uint64_t)t->place.number << 32 | term;
}

bool ft_terms_is_held(const ft_terms *t, ft_term term)
{
    return ft_map_get(&t->held, key_of(t, term), NULL);
}

static void append_assume(ft_terms *t, ft_term condition)
{
    bool inserted;
    assert(ft_term_sort(t->pool, condition).kind == FT_SORT_BOOL);
    ft_map_slot(&t->assumed, key_of(t, condition), 1, &inserted);
    if (!inserted) return;
    ft_builder_hook(t->builder, 0);
    ft_builder_action(t->builder, FT_EVENT_ASSUME, t->place.thread, t->place.loc, condition, NULL,
                      0, 0);
    ft_builder_hook(t->builder, t->place.hook);
    t->summary->assumed++;
}

static ft_term negated(ft_terms *t, ft_term condition)
{
    ft_term made = condition;
    ft_error error = FT_ERROR_INIT;
    ft_status status = ft_term_apply(t->pool, FT_OP_NOT, &condition, 1, NULL, &made, &error);
    return status ? FT_NO_TERM : made;
}

static bool is_literal(const ft_terms *t, ft_term term)
{
    return ft_term_get(t->pool, term).op == FT_OP_LITERAL;
}

/* The condition, negated if it was false in the run. FT_NO_TERM: it does not depend on a read, or
 * its term does not give the run's outcome. */
static ft_term as_it_was(ft_terms *t, ft_node condition, bool holds)
{
    if (!condition.term || ft_terms_is_held(t, condition.term) || is_literal(t, condition.term))
        return FT_NO_TERM;
    if (!ft_terms_agrees(t, condition.term, holds)) {
        ft_terms_disagrees(t, condition.term);
        return FT_NO_TERM;
    }
    return holds ? condition.term : negated(t, condition.term);
}

void ft_terms_assume(ft_terms *t, ft_node condition, bool holds)
{
    FT_REQUIRE(condition.width == 1);
    ft_term term = as_it_was(t, condition, holds);
    if (!term) return;
    append_assume(t, term);
    ft_map_put(&t->held, key_of(t, condition.term), 1);
    FT_CHECK(ft_terms_agrees(t, term, 1)); /* what is assumed holds in the run */
}

static ft_term equality(ft_terms *t, ft_term a, ft_term b)
{
    ft_term made = FT_NO_TERM, both[] = {a, b};
    ft_error error = FT_ERROR_INIT;
    ft_status status = ft_term_apply(t->pool, FT_OP_EQ, both, 2, NULL, &made, &error);
    return status ? FT_NO_TERM : made;
}

void ft_terms_hold(ft_terms *t, ft_node node, ft_sym_reason reason)
{
    FT_REQUIRE(reason < FT_SYM_REASONS);
    FT_CHECK(ft_node_is_sound(t, node));
    if (!node.term || is_literal(t, node.term)) return;
    if (ft_terms_is_held(t, node.term)) return;
    t->summary->held[reason]++;
    ft_term literal = ft_node_term(t, ft_node_constant(node.width, node.value));
    ft_term condition = node.width == 1 ? node.term : equality(t, node.term, literal);
    ft_terms_assume(t, (ft_node){condition, 1, node.width == 1 ? node.value : 1},
                    node.width != 1 || node.value);
    ft_map_put(&t->held, key_of(t, node.term), 1);
}

static void hold_lane(void *context, ft_lane lane)
{
    ft_terms *t = context;
    uint32_t width = ft_term_sort(t->pool, lane.term).width;
    ft_value value;
    if (ft_term_eval(t->pool, lane.term, look_up, t, &value) == FT_EVAL_OK)
        ft_terms_hold(t, (ft_node){lane.term, (uint8_t)width, value.bits}, FT_SYM_MEMORY_REASON);
}

static bool is_handed(void *context, uint64_t address)
{
    const ft_terms *t = context;
    return t->around.is_handed(t->around.of, address);
}

static ft_actor *actor_of(ft_terms *t, uint32_t number)
{
    while (t->actors.len <= number) {
        ft_actor actor = {0};
        ft_vec_push(&actor.nodes, (ft_node){0});
        ft_vec_push(&t->actors, actor);
    }
    return &t->actors.data[number];
}

void ft_terms_enter(ft_terms *t, ft_terms_place place)
{
    FT_REQUIRE(place.number < UINT16_MAX);
    t->place = place;
    t->actor = actor_of(t, place.number);
}

void ft_terms_forget(ft_terms *t, uint64_t address, uint64_t size)
{
    ft_lanes_forget(t->lanes, address, size);
}

static void assertion(ft_terms *t, ft_node condition, bool holds)
{
    if (!condition.term || ft_terms_is_held(t, condition.term)) return;
    if (!ft_terms_agrees(t, condition.term, holds)) {
        ft_terms_disagrees(t, condition.term);
        return;
    }
    ft_builder_action(t->builder, FT_EVENT_ASSERT, t->place.thread, t->place.loc, condition.term,
                      NULL, 0, 0);
    t->summary->asserted++;
}

/* For one that fails the runtime writes a FAILED record next. */
void ft_terms_assert(ft_terms *t, ft_terms_place place, bool holds)
{
    ft_terms_enter(t, place);
    ft_marks *m = &t->actor->marks;
    assert(!m->check || m->condition.width == 1);
    if (m->check && holds) assertion(t, m->condition, holds);
    m->check = false;
}

/* ---- TERMS records */

typedef struct cursor {
    const unsigned char *at, *end;
    bool bad;
} cursor;

static uint8_t get_byte(cursor *c)
{
    if (c->at < c->end) return *c->at++;
    c->bad = true;
    return 0;
}

static uint64_t get(cursor *c)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = get_byte(c);
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) return value;
    }
    c->bad = true;
    return 0;
}

static uint64_t get_signed(cursor *c)
{
    uint64_t value = get(c);
    return (value >> 1) ^ (0 - (value & 1));
}

static uint8_t get_width(cursor *c)
{
    uint8_t width = get_byte(c);
    if (width && width <= 64) return width;
    c->bad = true;
    return 8;
}

static ft_node get_reference(ft_terms *t, cursor *c, unsigned width)
{
    uint64_t distance = get(c);
    if (!distance) return ft_node_constant(width, get_signed(c));
    if (distance >= t->actor->nodes.len || c->bad) {
        c->bad = true;
        return ft_node_constant(width, 0);
    }
    ft_node node = t->actor->nodes.data[t->actor->nodes.len - distance];
    FT_CHECK(ft_node_is_sound(t, node));
    if (node.width != width) c->bad = true;
    return c->bad ? ft_node_constant(width, 0) : node;
}

static void add(ft_terms *t, ft_node node)
{
    ft_vec_push(&t->actor->nodes, node);
}

/* A node whose value comes with the next access. */
static uint32_t add_later(ft_terms *t, unsigned width)
{
    add(t, ft_node_constant(width, 0));
    return (uint32_t)t->actor->nodes.len - 1;
}

static void follow_binary(ft_terms *t, cursor *c, ft_sym_operation operation)
{
    uint8_t width = get_width(c);
    ft_node a = get_reference(t, c, width), b = get_reference(t, c, width);
    add(t, c->bad ? a : ft_node_binary(t, operation, width, a, b));
}

static void follow_cast(ft_terms *t, cursor *c, ft_sym_operation operation)
{
    uint8_t from = get_width(c), to = get_width(c);
    ft_node a = get_reference(t, c, from);
    if (operation == FT_SYM_TRUNC ? to > from : to < from) c->bad = true;
    add(t, c->bad ? ft_node_constant(to, 0) : ft_node_cast(t, operation, from, to, a));
}

static void follow_choice(ft_terms *t, cursor *c, ft_sym_operation operation)
{
    (void)operation;
    uint8_t width = get_width(c);
    ft_node condition = get_reference(t, c, 1);
    ft_node a = get_reference(t, c, width), b = get_reference(t, c, width);
    add(t, ft_node_choice(t, width, condition, a, b));
}

static void follow_index(ft_terms *t, cursor *c, ft_sym_operation operation)
{
    (void)operation;
    ft_node base = get_reference(t, c, 64), index = get_reference(t, c, 64);
    add(t, ft_node_index(t, base, index, get(c)));
}

static void follow_mark(ft_terms *t, cursor *c, ft_sym_operation operation)
{
    ft_marks *m = &t->actor->marks;
    if (operation == FT_SYM_COPY) {
        m->copy = true;
    } else if (operation == FT_SYM_FILL) {
        m->fill = true;
        m->stored = get_reference(t, c, 8);
    } else if (operation == FT_SYM_CHECK) {
        m->check = true;
        m->condition = get_reference(t, c, 1);
    } else if (operation == FT_SYM_READ) {
        m->read = add_later(t, get_width(c));
    } else {
        m->store = true;
        m->stored = get_reference(t, c, get_width(c));
    }
}

static bool is_update(ft_sym_operation operation)
{
    bool arithmetic = operation > FT_SYM_NOTHING && operation < FT_SYM_EQ;
    return arithmetic || (operation >= FT_SYM_EXCHANGE && operation <= FT_SYM_UMIN);
}

static void follow_update(ft_terms *t, cursor *c, ft_sym_operation operation)
{
    ft_marks *m = &t->actor->marks;
    if (operation == FT_SYM_COMPARE) {
        uint8_t width = get_width(c);
        m->expected = get_reference(t, c, width);
        m->desired = get_reference(t, c, width);
        m->compare = add_later(t, width);
        return;
    }
    ft_sym_operation made = (ft_sym_operation)get_byte(c);
    uint8_t width = get_width(c);
    ft_node operand = get_reference(t, c, width);
    if (!is_update(made)) c->bad = true;
    if (c->bad) return;
    m->operation = made;
    m->operand = operand;
    m->update = add_later(t, width);
}

static void follow_branch(ft_terms *t, cursor *c, ft_sym_operation operation)
{
    ft_node condition = get_reference(t, c, 1);
    if (get_byte(c)) c->bad = true;
    t->actor->pc += get_signed(c);
    if (c->bad) return;
    t->place.loc = t->around.locate(t->around.of, t->actor->pc);
    ft_terms_assume(t, condition, operation == FT_SYM_TAKEN);
}

static unsigned char fold(uint64_t value)
{
    value ^= value >> 32;
    value ^= value >> 16;
    return (unsigned char)(value ^ value >> 8);
}

static void follow_pin(ft_terms *t, cursor *c, ft_sym_reason reason)
{
    uint64_t distance = get(c);
    uint8_t seen = get_byte(c);
    if (!distance || distance >= t->actor->nodes.len) c->bad = true;
    if (c->bad) return;
    ft_node node = t->actor->nodes.data[t->actor->nodes.len - distance];
    if (node.term && fold(node.value) != seen)
        ft_terms_disagrees(t, node.term);
    else
        ft_terms_hold(t, node, reason);
}

/* The address of the next access. */
static void follow_pointer(ft_terms *t, cursor *c, ft_sym_operation operation)
{
    (void)operation;
    ft_node node = get_reference(t, c, 64);
    uint8_t seen = get_byte(c);
    if (c->bad) return;
    if (node.term && fold(node.value) != seen)
        ft_terms_disagrees(t, node.term);
    else
        t->actor->marks.pointer = node;
}

static void hold_range(ft_terms *t, uint64_t address, uint64_t size)
{
    for (uint64_t i = 0; i < size; i++) {
        ft_lane lane = ft_lanes_get(t->lanes, address + i);
        if (!lane.term || lane.thread != t->place.number) continue;
        hold_lane(t, lane);
        ft_lanes_put(t->lanes, address + i, (ft_lane){0});
    }
}

static void follow_memory(ft_terms *t, cursor *c, ft_sym_operation operation)
{
    if (operation == FT_SYM_FORGET) {
        uint64_t address = get(c), size = get(c);
        if (!c->bad) ft_lanes_forget(t->lanes, address, size);
        return;
    }
    uint8_t reason = get_byte(c);
    if (reason >= FT_SYM_REASONS) c->bad = true;
    if (operation == FT_SYM_PIN && !c->bad) follow_pin(t, c, (ft_sym_reason)reason);
    if (operation == FT_SYM_PIN_MEMORY && !c->bad)
        ft_lanes_drain(t->lanes, (uint16_t)t->place.number, hold_lane, is_handed, t);
    if (operation != FT_SYM_PIN_RANGE || c->bad) return;
    uint64_t address = get(c), size = get(c);
    if (!c->bad) hold_range(t, address, size);
}

typedef void (*follower)(ft_terms *t, cursor *c, ft_sym_operation operation);

void ft_terms_follow(ft_terms *t, ft_terms_place place, const ft_raw_record *record)
{
    static const follower followers[FT_SYM_OPERATIONS] = {
        [FT_SYM_TRUNC] = follow_cast,       [FT_SYM_ZEXT] = follow_cast,
        [FT_SYM_SEXT] = follow_cast,        [FT_SYM_ITE] = follow_choice,
        [FT_SYM_INDEX] = follow_index,      [FT_SYM_READ] = follow_mark,
        [FT_SYM_UPDATE] = follow_update,    [FT_SYM_COMPARE] = follow_update,
        [FT_SYM_STORE] = follow_mark,       [FT_SYM_COPY] = follow_mark,
        [FT_SYM_FILL] = follow_mark,        [FT_SYM_TAKEN] = follow_branch,
        [FT_SYM_PASSED] = follow_branch,    [FT_SYM_CHECK] = follow_mark,
        [FT_SYM_PIN] = follow_memory,       [FT_SYM_PIN_MEMORY] = follow_memory,
        [FT_SYM_PIN_RANGE] = follow_memory, [FT_SYM_FORGET] = follow_memory,
        [FT_SYM_POINTER] = follow_pointer,
    };
    FT_REQUIRE(record->operation == FT_RAW_TERMS && !record->access);
    cursor c = {record->text, record->text + record->length, false};
    ft_terms_enter(t, place);
    while (c.at < c.end && !c.bad) {
        unsigned code = *c.at++;
        t->place.loc = place.loc;
        if (code && code < FT_SYM_BINARIES)
            follow_binary(t, &c, (ft_sym_operation)code);
        else if (code < FT_SYM_OPERATIONS && followers[code])
            followers[code](t, &c, (ft_sym_operation)code);
        else
            c.bad = true;
    }
    if (c.bad) t->summary->damaged = true;
}

/* ---- notes */

static const char *const reasons[] = {
#define FT_ROW(symbol, text) text,
    FT_SYM_REASON_TABLE(FT_ROW)
#undef FT_ROW
};

const char *ft_record_held_reason(unsigned reason)
{
    FT_REQUIRE(reason < FT_SYM_REASONS);
    return reasons[reason];
}

void ft_terms_note(ft_terms *t)
{
    for (unsigned r = 0; r < FT_SYM_REASONS; r++) {
        uint64_t n = t->summary->held[r];
        if (n)
            ft_builder_note(t->builder, "concrete", FT_NO_EVENT,
                            "%llu values are held to those of the run: %s", (unsigned long long)n,
                            reasons[r]);
    }
}
