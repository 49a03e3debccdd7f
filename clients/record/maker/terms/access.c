/* Accesses of a program built with --symbolic: reads get new locals, writes terms. */
#include <string.h>

#include "base/contract.h"

#include "maker/terms/terms_internal.h"

static bool is_read(const ft_raw_record *r)
{
    return r->form == FT_RAW_FORM_READ || r->form == FT_RAW_FORM_ATOMIC_READ;
}

static bool is_store(const ft_raw_record *r)
{
    return r->form == FT_RAW_FORM_WRITE || r->form == FT_RAW_FORM_ATOMIC_WRITE;
}

static uint8_t flags_of(const ft_raw_record *r)
{
    return r->form == FT_RAW_FORM_READ || r->form == FT_RAW_FORM_WRITE ? 0 : FT_FLAG_ATOMIC;
}

/* The byte that the access read (of an update: before it) or wrote; false: not in the log. */
static bool byte_of(const ft_raw_record *r, uint64_t i, uint8_t *byte)
{
    if (r->size <= 8 && !r->text) {
        *byte = (uint8_t)((uint64_t)r->value >> (8 * i));
        return true;
    }
    if (i >= r->length) return false;
    *byte = r->text[i];
    return true;
}

static uint64_t content_of(const ft_raw_record *r)
{
    uint64_t bits = 0;
    uint8_t byte = 0;
    for (uint64_t i = 0; i < r->size && i < 8; i++)
        if (byte_of(r, i, &byte)) bits |= (uint64_t)byte << (8 * i);
    return bits;
}

/* The lane of the thread's own memory, unless uninstrumented code has written it since. */
static ft_lane lane_at(ft_terms *t, const ft_raw_record *r, uint64_t i)
{
    ft_lane lane = ft_lanes_get(t->lanes, r->address + i);
    uint8_t seen = lane.value;
    bool known = byte_of(r, i, &seen);
    bool own = lane.term && lane.thread == t->place.number;
    if (own && (!known || seen == lane.value) && !ft_terms_is_held(t, lane.term)) return lane;
    return (ft_lane){.value = seen};
}

static ft_lane lane_of_store(ft_terms *t, const ft_raw_record *r, uint64_t i)
{
    const ft_marks *m = &t->actor->marks;
    ft_lane lane = {0};
    if (m->copy && i < t->actor->copied.len) lane = t->actor->copied.data[i];
    if (m->store) lane = ft_node_lane(t, m->stored, (uint32_t)i);
    if (m->fill) lane = ft_node_lane(t, m->stored, 0);
    uint8_t seen = lane.value;
    bool known = byte_of(r, i, &seen);
    if (lane.term && ft_terms_is_held(t, lane.term)) lane.term = FT_NO_TERM;
    if (lane.term && known && seen != lane.value) {
        ft_terms_disagrees(t, lane.term);
        lane.term = FT_NO_TERM;
    }
    lane.value = seen;
    return lane;
}

/* A stored value is compared with its term as a whole, before it is split into lanes. */
static void check_store(ft_terms *t, const ft_raw_record *r)
{
    ft_marks *m = &t->actor->marks;
    if (!m->store && !m->fill) return;
    uint64_t seen = m->fill ? content_of(r) & 0xff : content_of(r);
    bool fits = m->fill || m->stored.width == 8 * r->size;
    bool known = (r->size <= 8 && !r->text) || r->length;
    if (!m->stored.term || (fits && known && ft_terms_agrees(t, m->stored.term, seen))) return;
    ft_terms_disagrees(t, m->stored.term);
    m->stored.term = FT_NO_TERM;
}

void ft_terms_begin(ft_terms *t, ft_terms_place place, const ft_raw_record *r)
{
    FT_REQUIRE(r->access && !t->access.record);
    ft_terms_enter(t, place);
    ft_terms_access *a = &t->access;
    const ft_marks *m = &t->actor->marks;
    bool read = is_read(r), update = ft_raw_updates(r->form);
    a->record = r;
    ft_terms_find_targets(t);
    a->lanes.len = a->shared.len = 0;
    a->written = false;
    a->symbolic = update ? m->update || m->compare
                  : read ? m->read || m->copy || m->compare
                         : m->store || m->fill || m->copy;
    if (!read && !update) check_store(t, r);
    for (uint64_t i = 0; i < r->size; i++) {
        bool loads = read || update;
        ft_vec_push(&a->lanes, loads ? lane_at(t, r, i) : lane_of_store(t, r, i));
        ft_vec_push(&a->shared, false);
    }
}

/* ---- shared cells */

static ft_node set_lanes(ft_terms *t, uint64_t offset, uint32_t size, ft_node node)
{
    FT_REQUIRE(offset + size <= t->access.lanes.len && node.width == 8 * size);
    for (uint32_t i = 0; i < size; i++) t->access.lanes.data[offset + i] = ft_node_lane(t, node, i);
    return node;
}

static ft_term symbol_of(ft_terms *t, uint32_t variable, uint32_t size)
{
    return ft_term_symbol(t->pool, FT_SYM_SHARED(variable),
                          (ft_sort){.kind = FT_SORT_BITVEC, .width = (uint8_t)(8 * size)});
}

static ft_node read_cell(ft_terms *t, const ft_cell *cell, uint32_t variable, uint64_t value,
                         ft_assignment *assignment)
{
    ft_node node = ft_node_local(t, 8 * cell->size, value, &assignment->target);
    ft_terms_keep_sources(t, assignment->target, cell->address);
    assignment->term =
        t->access.n_targets ? ft_terms_read_targets(t) : symbol_of(t, variable, cell->size);
    return set_lanes(t, cell->address - t->access.record->address, cell->size, node);
}

/* The event of the access at hand. */
static void assign(ft_terms *t, ft_term guard, const ft_assignment *assignments, uint32_t n)
{
    if (t->access.n_targets)
        ft_terms_assign_targets(t, guard, assignments, n);
    else
        ft_terms_assign(t, guard, assignments, n, t->place.hook, flags_of(t->access.record));
}

static bool assign_read(ft_terms *t, const ft_cell *cell, uint32_t variable, uint64_t value)
{
    ft_assignment assignment;
    read_cell(t, cell, variable, value, &assignment);
    assign(t, FT_NO_TERM, &assignment, 1);
    return true;
}

static bool assign_lanes(ft_terms *t, const ft_lane *lanes, uint32_t n, uint32_t variable,
                         bool again, uint32_t hook, uint8_t flags)
{
    ft_node node = ft_node_of_lanes(t, lanes, n);
    if (!node.term || ft_terms_is_held(t, node.term)) return false;
    if (!ft_terms_agrees(t, node.term, node.value)) {
        ft_terms_disagrees(t, node.term);
        return false;
    }
    if (again) {
        ft_terms_hold(t, node, FT_SYM_ADDRESS_REASON);
        return false;
    }
    assert(ft_term_sort(t->pool, node.term).width == 8 * n);
    ft_assignment assignment = {FT_SYM_SHARED(variable), node.term};
    ft_terms_assign(t, FT_NO_TERM, &assignment, 1, hook, flags);
    return true;
}

static bool assign_write(ft_terms *t, const ft_cell *cell, uint32_t variable, bool again)
{
    const ft_raw_record *r = t->access.record;
    return assign_lanes(t, &t->access.lanes.data[cell->address - r->address], cell->size, variable,
                        again, t->place.hook, flags_of(r));
}

/* The comparison by which an update keeps the old value; FT_SYM_NOTHING: it does not choose. */
static ft_sym_operation choice_of(ft_sym_operation update)
{
    static const ft_sym_operation comparisons[] = {[FT_SYM_MAX] = FT_SYM_SGT,
                                                   [FT_SYM_MIN] = FT_SYM_SLT,
                                                   [FT_SYM_UMAX] = FT_SYM_UGT,
                                                   [FT_SYM_UMIN] = FT_SYM_ULT};
    return update < FT_SYM_MAX ? FT_SYM_NOTHING : comparisons[update];
}

/* The new value of an update. */
static ft_node updated(ft_terms *t, ft_node old)
{
    const ft_marks *m = &t->actor->marks;
    ft_sym_operation keeps = choice_of(m->operation);
    if (m->operation == FT_SYM_EXCHANGE) return m->operand;
    if (keeps) {
        ft_node kept = ft_node_binary(t, keeps, old.width, old, m->operand);
        return ft_node_choice(t, old.width, kept, old, m->operand);
    }
    if (m->operation != FT_SYM_NAND)
        return ft_node_binary(t, m->operation, old.width, old, m->operand);
    ft_node both = ft_node_binary(t, FT_SYM_AND, old.width, old, m->operand);
    return ft_node_binary(t, FT_SYM_XOR, old.width, both, ft_node_constant(old.width, UINT64_MAX));
}

static uint64_t written_by(const ft_raw_record *r)
{
    return ft_terms_value((uint32_t)r->size, r->written).bits;
}

static ft_term updated_content(ft_terms *t, ft_term content)
{
    ft_node old = {content, t->actor->marks.operand.width, 0};
    return ft_node_term(t, updated(t, old));
}

/* The cell's new content, or that of each target. Returns how many assignments that is. */
static uint32_t change(ft_terms *t, const ft_cell *cell, uint32_t variable, ft_terms_change *made,
                       ft_assignment *to)
{
    if (t->access.n_targets) return ft_terms_change_targets(t, made, to);
    to[0] = (ft_assignment){FT_SYM_SHARED(variable), made(t, symbol_of(t, variable, cell->size))};
    return 1;
}

/* x := x + a and r := x at once: in the first term the cell stands for the old value. */
static bool assign_update(ft_terms *t, const ft_cell *cell, uint32_t variable, uint64_t value)
{
    const ft_marks *m = &t->actor->marks;
    ft_assignment all[FT_TERMS_TARGETS + 1];
    unsigned width = 8 * cell->size;
    uint64_t written = written_by(t->access.record);
    if (!m->operation || m->operand.width != width) return false;
    ft_node seen = ft_node_constant(width, value);
    bool plausible = updated(t, seen).value == written &&
                     ft_terms_agrees(t, ft_node_term(t, m->operand), m->operand.value);
    if (t->access.n_targets && !plausible) ft_terms_drop_targets(t);
    t->actor->marks.operand = ft_node_small(t, m->operand);
    uint32_t n = change(t, cell, variable, updated_content, all);
    ft_node local = read_cell(t, cell, variable, value, &all[n]);
    ft_node made = updated(t, local);
    assert(m->update < t->actor->nodes.len && local.width == made.width);
    t->actor->nodes.data[m->update] = local;
    bool right = made.value == written && ft_terms_agrees(t, ft_node_term(t, made), written);
    assert(right || n == 1);
    if (!right) all[0].term = ft_node_term(t, ft_node_constant(width, written));
    assign(t, FT_NO_TERM, all, n + 1);
    if (!right) ft_terms_disagrees(t, made.term ? made.term : local.term);
    return true;
}

static ft_term compared(ft_terms *t, ft_op op, ft_term a, ft_term b)
{
    ft_term made = FT_NO_TERM, both[] = {a, b};
    ft_error error = FT_ERROR_INIT;
    ft_status status = ft_term_apply(t->pool, op, both, 2, NULL, &made, &error);
    return status ? FT_NO_TERM : made;
}

static ft_term desired_content(ft_terms *t, ft_term content)
{
    (void)content;
    return ft_node_term(t, t->actor->marks.desired);
}

/* The outcome is the guard: with another one the program takes another path. */
static bool assign_compare(ft_terms *t, const ft_cell *cell, uint32_t variable, uint64_t value)
{
    const ft_marks *m = &t->actor->marks;
    const ft_raw_record *r = t->access.record;
    bool done = ft_raw_updates(r->form);
    ft_assignment all[FT_TERMS_TARGETS + 1];
    if (m->expected.width != 8 * cell->size) return false;
    bool right = done == (value == m->expected.value) &&
                 (!done || written_by(r) == m->desired.value) &&
                 ft_terms_agrees(t, ft_node_term(t, m->expected), m->expected.value) &&
                 ft_terms_agrees(t, ft_node_term(t, m->desired), m->desired.value);
    if (!right) return false;
    ft_term expected = ft_node_term(t, m->expected);
    assert(m->compare < t->actor->nodes.len && m->desired.width == m->expected.width);
    t->actor->nodes.data[m->compare] = read_cell(t, cell, variable, value, &all[0]);
    ft_term guard = compared(t, done ? FT_OP_EQ : FT_OP_DISTINCT, all[0].term, expected);
    uint32_t n = done ? change(t, cell, variable, desired_content, &all[1]) : 0;
    assign(t, guard, all, n + 1);
    return true;
}

static bool is_whole(const ft_terms *t, const ft_cell *cell)
{
    return cell->address == t->access.record->address && cell->size == t->access.record->size;
}

static bool assign_cell(ft_terms *t, const ft_cell *cell, uint32_t variable, uint64_t bits)
{
    const ft_terms_access *a = &t->access;
    const ft_marks *m = &t->actor->marks;
    if (m->compare) return is_whole(t, cell) && assign_compare(t, cell, variable, bits);
    if (m->update) return is_whole(t, cell) && assign_update(t, cell, variable, bits);
    return is_read(a->record) && assign_read(t, cell, variable, bits);
}

static ft_term stored_content(ft_terms *t, ft_term content)
{
    (void)content;
    return ft_node_term(t, t->actor->marks.stored);
}

/* An atomic store by a computed address. */
static bool assign_store(ft_terms *t, uint64_t bits)
{
    ft_assignment all[FT_TERMS_TARGETS];
    ft_marks *m = &t->actor->marks;
    unsigned width = 8 * (unsigned)t->access.record->size;
    if (!m->store) m->stored = ft_node_constant(width, bits);
    if (m->stored.width != width || m->stored.value != bits) return false;
    ft_terms_assign_targets(t, FT_NO_TERM, all, ft_terms_change_targets(t, stored_content, all));
    return true;
}

bool ft_terms_cell(ft_terms *t, const ft_cell *cell, uint32_t variable, ft_terms_content content)
{
    ft_terms_access *a = &t->access;
    FT_REQUIRE(a->record);
    bool store = is_store(a->record);
    uint64_t offset = cell->address - a->record->address;
    uint64_t bits = ft_terms_value(cell->size, content.value).bits;
    assert(offset + cell->size <= a->shared.len && !a->shared.data[offset]); /* one cell a byte */
    for (uint32_t i = 0; i < cell->size; i++) a->shared.data[offset + i] = true;
    bool able = a->symbolic && content.known;
    if (!store && able && content.unwritten) t->summary->held[FT_SYM_UNWRITTEN_REASON]++;
    bool done = false, targets = a->n_targets && content.known && !content.again;
    if (store && targets)
        done = assign_store(t, bits);
    else if (store)
        done = able && assign_write(t, cell, variable, content.again);
    else
        done = able && !content.unwritten && !content.again && assign_cell(t, cell, variable, bits);
    if (!done && a->n_targets) ft_terms_drop_targets(t);
    a->written |= done;
    if (!done && !store) set_lanes(t, offset, cell->size, ft_node_constant(8 * cell->size, bits));
    return done;
}

/* ---- ordered cells */

bool ft_terms_take_over(ft_terms *t, const ft_cell *cell, uint32_t variable, int64_t value)
{
    FT_REQUIRE(t->access.record && cell->ordered);
    uint64_t bits = ft_terms_value(cell->size, value).bits;
    uint64_t offset = cell->address - t->access.record->address;
    if (!t->access.symbolic) {
        set_lanes(t, offset, cell->size, ft_node_constant(8 * cell->size, bits));
        return false;
    }
    ft_assignment assignment;
    read_cell(t, cell, variable, bits, &assignment);
    ft_terms_assign(t, FT_NO_TERM, &assignment, 1, 0, flags_of(t->access.record));
    for (uint32_t i = 0; i < cell->size; i++)
        ft_lanes_put(t->lanes, cell->address + i, t->access.lanes.data[offset + i]);
    return true;
}

bool ft_terms_gives(const ft_terms *t, const ft_cell *cell)
{
    const ft_terms_access *a = &t->access;
    FT_REQUIRE(a->record && cell->ordered);
    bool any = !is_store(a->record);
    for (uint32_t i = 0; i < cell->size; i++)
        any |= a->lanes.data[cell->address - a->record->address + i].term != FT_NO_TERM;
    return any;
}

/* The lanes that the thread has there; false: none has a term. */
static bool own_lanes(const ft_terms *t, const ft_cell *cell, ft_lane lanes[8])
{
    bool any = false;
    for (uint32_t i = 0; i < cell->size; i++) {
        ft_lane lane = ft_lanes_get(t->lanes, cell->address + i);
        bool has = lane.term && lane.thread == t->place.number && !ft_terms_is_held(t, lane.term);
        lanes[i] = has ? lane : (ft_lane){.value = lane.value};
        any |= has;
    }
    return any;
}

bool ft_terms_has(ft_terms *t, ft_terms_place place, const ft_cell *cell, int64_t *value)
{
    ft_lane lanes[8];
    uint64_t bits = 0;
    FT_REQUIRE(cell->ordered && !t->access.record);
    ft_terms_enter(t, place);
    bool any = own_lanes(t, cell, lanes);
    for (uint32_t i = 0; i < cell->size; i++) bits |= (uint64_t)lanes[i].value << 8 * i;
    unsigned shift = 64 - 8 * cell->size;
    *value = (int64_t)(bits << shift) >> shift;
    return any;
}

bool ft_terms_publish(ft_terms *t, ft_terms_place place, const ft_cell *cell, uint32_t variable,
                      bool again)
{
    ft_lane lanes[8];
    ft_terms_enter(t, place);
    return own_lanes(t, cell, lanes) && assign_lanes(t, lanes, cell->size, variable, again, 0, 0);
}

/* ---- the end: own memory, and the node that the access is */

static void put_lanes(ft_terms *t)
{
    const ft_terms_access *a = &t->access;
    assert(a->lanes.len == a->record->size && a->shared.len == a->record->size);
    for (uint64_t i = 0; i < a->record->size; i++)
        if (!a->shared.data[i]) ft_lanes_put(t->lanes, a->record->address + i, a->lanes.data[i]);
}

static void hold_all(ft_terms *t, ft_sym_reason reason)
{
    const ft_terms_access *a = &t->access;
    for (size_t i = 0; i < a->lanes.len; i++) {
        ft_lane lane = a->lanes.data[i];
        if (lane.term && !a->shared.data[i])
            ft_terms_hold(t, ft_node_of_lanes(t, &lane, 1), reason);
    }
}

static void end_read(ft_terms *t)
{
    ft_terms_access *a = &t->access;
    const ft_marks *m = &t->actor->marks;
    if (m->read) {
        bool fits = t->actor->nodes.data[m->read].width == 8 * a->record->size;
        if (fits)
            t->actor->nodes.data[m->read] =
                ft_node_of_lanes(t, a->lanes.data, (uint32_t)a->lanes.len);
        else
            t->summary->damaged = true;
    } else if (m->copy) {
        t->actor->copied.len = 0;
        for (size_t i = 0; i < a->lanes.len; i++) ft_vec_push(&t->actor->copied, a->lanes.data[i]);
    } else {
        hold_all(t, FT_SYM_ACCESS_REASON);
    }
}

static bool is_shared(const ft_terms_access *a)
{
    bool any = false;
    for (size_t i = 0; i < a->shared.len; i++) any |= a->shared.data[i];
    return any;
}

/* An update of memory that is not shared, or not one cell. */
static void end_update(ft_terms *t)
{
    ft_terms_access *a = &t->access;
    const ft_marks *m = &t->actor->marks;
    const ft_raw_record *r = a->record;
    uint64_t written = written_by(r);
    ft_node made = ft_node_constant(8 * (unsigned)r->size, written);
    if (!m->update && !m->compare) {
        hold_all(t, FT_SYM_ACCESS_REASON);
    } else if (m->update && m->operand.width == 8 * r->size) {
        ft_node old = ft_node_of_lanes(t, a->lanes.data, (uint32_t)a->lanes.len);
        t->actor->nodes.data[m->update] = old;
        bool shared = is_shared(a);
        if (shared) {
            ft_terms_hold(t, m->operand, FT_SYM_ACCESS_REASON);
            hold_all(t, FT_SYM_ACCESS_REASON);
        }
        ft_node next = updated(t, old);
        if (!shared && next.value == written) made = next;
        if (next.value != written && next.term) ft_terms_disagrees(t, next.term);
    }
    for (uint32_t i = 0; i < r->size; i++) t->access.lanes.data[i] = ft_node_lane(t, made, i);
    put_lanes(t);
}

/* A comparison's outcome, where no event's guard says it. */
static void end_compare(ft_terms *t)
{
    ft_terms_access *a = &t->access;
    const ft_marks *m = &t->actor->marks;
    const ft_raw_record *r = a->record;
    bool done = ft_raw_updates(r->form), shared = is_shared(a);
    unsigned width = m->expected.width;
    if (width != 8 * r->size) {
        t->summary->damaged = true;
        return;
    }
    ft_node old = ft_node_of_lanes(t, a->lanes.data, (uint32_t)a->lanes.len);
    t->actor->nodes.data[m->compare] = old;
    ft_terms_assume(t, ft_node_binary(t, FT_SYM_EQ, width, old, m->expected), done);
    if (!done) return;
    if (shared) ft_terms_hold(t, m->desired, FT_SYM_ACCESS_REASON);
    ft_node made = m->desired;
    if (shared || made.value != written_by(r)) made = ft_node_constant(width, written_by(r));
    for (uint32_t i = 0; i < r->size; i++) a->lanes.data[i] = ft_node_lane(t, made, i);
    put_lanes(t);
}

void ft_terms_end(ft_terms *t)
{
    ft_terms_access *a = &t->access;
    ft_marks *m = &t->actor->marks;
    FT_REQUIRE(a->record);
    bool read = is_read(a->record), update = ft_raw_updates(a->record->form);
    if (a->written && (update || m->compare))
        m->update = m->compare = 0;
    else if (m->compare && (read || update))
        end_compare(t);
    else if (update)
        end_update(t);
    else if (read)
        end_read(t);
    else
        put_lanes(t);
    if (read) m->read = 0;
    if (read || update) m->update = m->compare = 0;
    if (!read && !update) m->store = m->fill = m->copy = false;
    a->record = NULL;
}
