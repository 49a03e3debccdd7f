/* Atomic accesses by computed addresses: the event of one has a term over each cell that the
 * address may reach, so the address itself stays a term. */
#include "base/contract.h"
#include "maker/terms/terms_internal.h"

enum { MOST_SPREAD = 4096, LOCALS = 2 };

static bool is_atomic(const ft_raw_record *r)
{
    return r->form != FT_RAW_FORM_READ && r->form != FT_RAW_FORM_WRITE;
}

static ft_term apply(ft_terms *t, ft_op op, const ft_term *children, uint32_t n)
{
    ft_term made = FT_NO_TERM;
    ft_error error = FT_ERROR_INIT;
    ft_status status = ft_term_apply(t->pool, op, children, n, NULL, &made, &error);
    assert(status == FT_OK); /* the children's sorts fit */
    (void)status;
    return made;
}

/* ---- which cells */

static void add_target(ft_terms *t, uint64_t address)
{
    ft_terms_access *a = &t->access;
    ft_terms_target made = {.address = address};
    for (uint32_t i = 0; i < a->n_targets; i++)
        if (a->targets[i].address == address) return;
    if (a->n_targets == FT_TERMS_TARGETS) return;
    if (t->around.is_target(t->around.of, t->place.number, address, a->record->size,
                            &made.variable))
        a->targets[a->n_targets++] = made;
}

typedef struct locals {
    const ft_terms *t;
    uint32_t n, ids[LOCALS];
} locals;

static void add_local(void *context, ft_symbol symbol)
{
    locals *l = context;
    uint32_t id = FT_SYM_INDEX(symbol);
    bool known = id < l->t->actor->read_from.len && l->t->actor->read_from.data[id];
    if (known && l->n < LOCALS) l->ids[l->n++] = id;
}

static bool look_up(void *context, ft_symbol symbol, ft_value *value)
{
    const ft_terms *t = context;
    uint32_t id = FT_SYM_INDEX(symbol);
    value->sort = ft_builder_peek(t->builder)->local_info[id].sort;
    value->bits = t->actor->values.data[id];
    return true;
}

/* Where the address leads if the local had another value that the cell was given in the run. */
static void add_by_values(ft_terms *t, ft_term pointer, uint32_t id, uint64_t cell)
{
    uint64_t values[FT_TERMS_VALUES], *local = &t->actor->values.data[id], seen = *local;
    ft_sort sort = ft_builder_peek(t->builder)->local_info[id].sort;
    uint64_t mask = sort.width < 64 ? (UINT64_C(1) << sort.width) - 1 : UINT64_MAX;
    uint32_t n = t->around.values_in(t->around.of, cell, values);
    for (uint32_t i = 0; i < n; i++) {
        ft_value found;
        *local = values[i] & mask;
        if (ft_term_eval(t->pool, pointer, look_up, t, &found) == FT_EVAL_OK)
            add_target(t, found.bits);
    }
    *local = seen;
}

void ft_terms_keep_sources(ft_terms *t, ft_symbol local, uint64_t cell)
{
    const ft_terms_access *a = &t->access;
    ft_actor *actor = t->actor;
    uint32_t id = FT_SYM_INDEX(local);
    if (!actor->sources.len) ft_vec_push(&actor->sources, 0);
    while (actor->read_from.len <= id) ft_vec_push(&actor->read_from, 0);
    actor->read_from.data[id] = (uint32_t)actor->sources.len;
    ft_vec_push(&actor->sources, a->n_targets ? a->n_targets : 1);
    for (uint32_t i = 0; i < a->n_targets; i++) ft_vec_push(&actor->sources, a->targets[i].address);
    if (!a->n_targets) ft_vec_push(&actor->sources, cell);
}

static void add_targets(ft_terms *t, ft_term pointer)
{
    ft_terms_access *a = &t->access;
    add_target(t, a->record->address);
    if (!a->n_targets) return;
    locals from = {.t = t};
    ft_term_symbols(t->pool, pointer, add_local, &from);
    for (uint32_t i = 0; i < from.n; i++) {
        uint32_t at = t->actor->read_from.data[from.ids[i]];
        const uint64_t *sources = &t->actor->sources.data[at];
        for (uint64_t k = 1; k <= sources[0]; k++)
            add_by_values(t, pointer, from.ids[i], sources[k]);
    }
}

void ft_terms_find_targets(ft_terms *t)
{
    ft_terms_access *a = &t->access;
    ft_node pointer = t->actor->marks.pointer;
    const ft_raw_record *r = a->record;
    a->n_targets = 0;
    t->actor->marks.pointer = (ft_node){0};
    if (!pointer.term || ft_terms_is_held(t, pointer.term)) return;
    bool able = is_atomic(r) && r->size <= 8 && pointer.value == r->address &&
                t->spread < MOST_SPREAD && ft_terms_agrees(t, pointer.term, pointer.value);
    a->pointer = pointer;
    if (able) add_targets(t, pointer.term);
    if (a->n_targets < 2) {
        ft_terms_drop_targets(t);
        return;
    }
    a->pointer = ft_node_small(t, pointer);
    for (uint32_t i = 0; i < a->n_targets; i++) {
        ft_term address = ft_node_term(t, ft_node_constant(64, a->targets[i].address));
        a->targets[i].is = apply(t, FT_OP_EQ, (ft_term[]){a->pointer.term, address}, 2);
    }
}

void ft_terms_drop_targets(ft_terms *t)
{
    ft_terms_access *a = &t->access;
    a->n_targets = 0;
    ft_terms_hold(t, a->pointer, FT_SYM_ADDRESS_REASON);
}

/* ---- events */

static ft_term content_of(ft_terms *t, uint32_t target)
{
    const ft_terms_access *a = &t->access;
    ft_sort sort = {.kind = FT_SORT_BITVEC, .width = (uint8_t)(8 * a->record->size)};
    return ft_term_symbol(t->pool, FT_SYM_SHARED(a->targets[target].variable), sort);
}

ft_term ft_terms_read_targets(ft_terms *t)
{
    const ft_terms_access *a = &t->access;
    FT_REQUIRE(a->n_targets);
    ft_term chosen = content_of(t, a->n_targets - 1);
    for (uint32_t i = a->n_targets - 1; i-- > 0;)
        chosen = apply(t, FT_OP_ITE, (ft_term[]){a->targets[i].is, content_of(t, i), chosen}, 3);
    return chosen;
}

uint32_t ft_terms_change_targets(ft_terms *t, ft_terms_change *change, ft_assignment *to)
{
    const ft_terms_access *a = &t->access;
    FT_REQUIRE(a->n_targets);
    for (uint32_t i = 0; i < a->n_targets; i++) {
        ft_term old = content_of(t, i), made = change(t, old);
        to[i] = (ft_assignment){FT_SYM_SHARED(a->targets[i].variable),
                                apply(t, FT_OP_ITE, (ft_term[]){a->targets[i].is, made, old}, 3)};
    }
    return a->n_targets;
}

void ft_terms_assign_targets(ft_terms *t, ft_term guard, const ft_assignment *assignments,
                             uint32_t n)
{
    ft_terms_access *a = &t->access;
    FT_REQUIRE(a->n_targets > 1);
    ft_term any[FT_TERMS_TARGETS];
    for (uint32_t i = 0; i < a->n_targets; i++) any[i] = a->targets[i].is;
    ft_term one_of = apply(t, FT_OP_OR, any, a->n_targets);
    ft_terms_assume(t, (ft_node){one_of, 1, 1}, true);
    /* it is a candidate of nothing: the cells are free, and it does not access all of them */
    ft_terms_assign(t, guard, assignments, n, t->place.hook, FT_FLAG_ATOMIC | FT_FLAG_SYNTHETIC);
    t->spread += a->n_targets - 1;
}
