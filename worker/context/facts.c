#include <stdlib.h>
#include <string.h>

#include "context/internal.h"

/* Bounds of the analysis. Beyond them it knows less. */
enum { MOST_WORK = 4000000, MOST_DEPTH = 20, MOST_SIZE = 60, MOST_FACTS = 96 };

static const ft_function *function_of(const ctx *c, uint32_t node)
{
    return &c->program->functions.data[c->nodes.data[node].function];
}

static uint32_t root_function(const ctx *c, uint32_t node)
{
    return c->nodes.data[c->nodes.data[node].root].function;
}

/* ---- environments ---- */

void env_init(ctx *c, env *e)
{
    *e = (env){.may_objects = ft_calloc(ft_flow_words(c->flow), sizeof(uint64_t))};
}

void env_release(env *e)
{
    ft_vec_release(&e->registers);
    ft_vec_release(&e->heap);
    ft_vec_release(&e->must);
    ft_vec_release(&e->may);
    ft_vec_release(&e->conditions);
    ft_vec_release(&e->joined);
    free(e->may_objects);
    e->may_objects = NULL;
}

#define COPY_LIST(to, from)                                                                        \
    do {                                                                                           \
        (to)->len = 0;                                                                             \
        ft_vec_reserve((to), (from)->len);                                                         \
        if ((from)->len) memcpy((to)->data, (from)->data, (from)->len * sizeof *(to)->data);       \
        (to)->len = (from)->len;                                                                   \
    } while (0)

void env_copy(ctx *c, env *to, const env *from)
{
    to->reached = from->reached;
    to->frame = from->frame;
    to->may_any = from->may_any;
    COPY_LIST(&to->registers, &from->registers);
    COPY_LIST(&to->heap, &from->heap);
    COPY_LIST(&to->must, &from->must);
    COPY_LIST(&to->may, &from->may);
    COPY_LIST(&to->conditions, &from->conditions);
    COPY_LIST(&to->joined, &from->joined);
    memcpy(to->may_objects, from->may_objects, ft_flow_words(c->flow) * sizeof(uint64_t));
}

static bool has_fact(const env *e, const fact *f)
{
    for (size_t i = 0; i < e->heap.len; i++)
        if (e->heap.data[i].at == f->at && e->heap.data[i].value == f->value &&
            e->heap.data[i].width == f->width)
            return true;
    return false;
}

static held *find_must(const env *e, const held *h)
{
    for (size_t i = 0; i < e->must.len; i++) {
        held *m = &e->must.data[i];
        if (m->at == h->at && m->mode == h->mode && m->when == h->when) return m;
    }
    return NULL;
}

static bool has_condition(const env *e, ft_term t)
{
    for (size_t i = 0; i < e->conditions.len; i++)
        if (e->conditions.data[i] == t) return true;
    return false;
}

static bool has_joined(const env *e, ft_term t)
{
    for (size_t i = 0; i < e->joined.len; i++)
        if (e->joined.data[i] == t) return true;
    return false;
}

/* Returns whether it is new. */
static bool add_may(env *e, held h)
{
    for (size_t i = 0; i < e->may.len; i++) {
        held *old = &e->may.data[i];
        if (old->at != h.at || old->mode != h.mode) continue;
        bool fresh = h.again && !old->again;
        old->again |= h.again;
        return fresh;
    }
    ft_vec_push(&e->may, h);
    return true;
}

/* Keeps what holds on both ways. Returns whether `e` knows less now. */
static bool meet(ctx *c, env *e, const env *from)
{
    bool changed = false;
    size_t n = 0;
    if (!from->reached) return false;
    if (!e->reached) {
        env_copy(c, e, from);
        return true;
    }
    assert(e->registers.len == from->registers.len);
    for (size_t i = 0; i < e->registers.len; i++)
        if (e->registers.data[i] && e->registers.data[i] != from->registers.data[i] &&
            !ctx_fault_is(CTX_FAULT_MEET_UNION)) {
            e->registers.data[i] = FT_NO_TERM;
            changed = true;
        }
    for (size_t i = 0; i < e->heap.len; i++)
        if (has_fact(from, &e->heap.data[i]) || ctx_fault_is(CTX_FAULT_MEET_UNION))
            e->heap.data[n++] = e->heap.data[i];
    changed |= n != e->heap.len;
    e->heap.len = n;
    n = 0;
    for (size_t i = 0; i < e->must.len; i++) {
        held *h = &e->must.data[i];
        const held *other = ctx_fault_is(CTX_FAULT_MAY_IS_MUST) ? h : find_must(from, h);
        if (!other) continue;
        changed |= other->times < h->times;
        if (other->times < h->times) h->times = other->times;
        e->must.data[n++] = *h;
    }
    changed |= n != e->must.len;
    e->must.len = n;
    n = 0;
    for (size_t i = 0; i < e->conditions.len; i++)
        if (has_condition(from, e->conditions.data[i]))
            e->conditions.data[n++] = e->conditions.data[i];
    changed |= n != e->conditions.len;
    e->conditions.len = n;
    n = 0;
    for (size_t i = 0; i < e->joined.len; i++)
        if (has_joined(from, e->joined.data[i]) || ctx_fault_is(CTX_FAULT_JOINED_SOMETIMES))
            e->joined.data[n++] = e->joined.data[i];
    changed |= n != e->joined.len;
    e->joined.len = n;
    for (size_t i = 0; i < from->joined.len && ctx_fault_is(CTX_FAULT_JOINED_SOMETIMES); i++)
        if (!has_joined(e, from->joined.data[i])) ft_vec_push(&e->joined, from->joined.data[i]);
    for (size_t i = 0; i < from->may.len && !ctx_fault_is(CTX_FAULT_MAY_RELEASE); i++)
        changed |= add_may(e, from->may.data[i]);
    changed |= ft_bits_join(e->may_objects, from->may_objects, ft_flow_words(c->flow));
    changed |= from->may_any && !e->may_any;
    e->may_any |= from->may_any;
    return changed;
}

/* ---- what no longer holds ---- */

/* Does the term depend on what is about to change? */
typedef bool depends(ctx *c, ft_term t, const void *of);

static void forget(ctx *c, env *e, depends *on, const void *of)
{
    size_t n = 0;
    for (size_t i = 0; i < e->registers.len; i++)
        if (on(c, e->registers.data[i], of)) e->registers.data[i] = FT_NO_TERM;
    for (size_t i = 0; i < e->heap.len; i++)
        if (!on(c, e->heap.data[i].at, of) && !on(c, e->heap.data[i].value, of))
            e->heap.data[n++] = e->heap.data[i];
    e->heap.len = n;
    n = 0;
    for (size_t i = 0; i < e->must.len; i++)
        if (!on(c, e->must.data[i].at, of) && !on(c, e->must.data[i].when, of))
            e->must.data[n++] = e->must.data[i];
    e->must.len = n;
    n = 0;
    for (size_t i = 0; i < e->conditions.len; i++)
        if (!on(c, e->conditions.data[i], of)) e->conditions.data[n++] = e->conditions.data[i];
    e->conditions.len = n;
    n = 0;
    for (size_t i = 0; i < e->joined.len; i++)
        if (!on(c, e->joined.data[i], of)) e->joined.data[n++] = e->joined.data[i];
    e->joined.len = n;
    n = 0;
    for (size_t i = 0; i < e->may.len; i++)
        if (!on(c, e->may.data[i].at, of))
            e->may.data[n++] = e->may.data[i];
        else
            ft_bits_join(e->may_objects, e->may.data[i].objects, ft_flow_words(c->flow));
    e->may.len = n;
}

static bool on_symbol(ctx *c, ft_term t, const void *of)
{
    return ctx_mentions(c, t, *(const ft_symbol *)of);
}

void env_forget(ctx *c, env *e, uint32_t node, uint32_t index)
{
    ft_symbol symbol;
    if (ctx_register_symbol(c, node, index, &symbol)) forget(c, e, on_symbol, &symbol);
}

typedef struct below {
    uint32_t node, call;
} below;

static bool on_call(ctx *c, ft_term t, const void *of)
{
    const below *b = of;
    return ctx_mentions_below(c, t, b->node, b->call);
}

/* The symbol of an object's address, that a `stack` or `alloc` made. */
static const ctx_unknown *made_object(const ctx *c, ft_term t)
{
    if (!t) return NULL; /* a number */
    ft_term_node n = ft_term_get(c->pool, t);
    if (n.op != FT_OP_SYMBOL) return NULL;
    const ctx_unknown *s = &c->symbols.data[n.symbol];
    if (s->kind != SYMBOL_REGISTER || s->node == NO_NODE) return NULL;
    return ft_bits_has(c->makers[c->nodes.data[s->node].function], s->index) ? s : NULL;
}

/* Are they different objects? Two symbols stand for two executions, but for those of one
 * instruction in the views of two threads. */
static bool are_different(const ctx *c, ft_term x, ft_term y)
{
    const ctx_unknown *a = x == y ? NULL : made_object(c, x), *b = a ? made_object(c, y) : NULL;
    if (!b) return false;
    const ctx_place *n = &c->nodes.data[a->node], *m = &c->nodes.data[b->node];
    return n->function != m->function || a->index != b->index || n->label == m->label;
}

bool ctx_are_apart(const ctx *c, ft_term a, const uint64_t *a_objects, uint64_t n, ft_term b,
                   const uint64_t *b_objects, uint64_t m)
{
    ft_term x, y;
    uint64_t i, k;
    if (a_objects && b_objects && !ft_bits_meet(a_objects, b_objects, ft_flow_words(c->flow)))
        return true;
    ctx_split(c, a, &x, &i);
    ctx_split(c, b, &y, &k);
    return x == y ? k - i >= n && i - k >= m : are_different(c, x, y);
}

static void forget_memory(ctx *c, env *e, const uint64_t *objects, ft_term at, uint64_t bytes)
{
    size_t n = 0;
    for (size_t i = 0; i < e->heap.len; i++) {
        const fact *f = &e->heap.data[i];
        bool apart =
            at ? ctx_are_apart(c, f->at, f->objects, (f->width + 7u) / 8, at, objects, bytes)
               : !ft_bits_meet(f->objects, objects, ft_flow_words(c->flow));
        apart |= ctx_fault_is(CTX_FAULT_NO_ALIAS) && at && f->at != at;
        if (apart) e->heap.data[n++] = *f;
    }
    e->heap.len = n;
}

static void drop_shared(const ctx *c, env *e, uint32_t function)
{
    size_t n = 0;
    for (size_t i = 0; i < e->heap.len; i++)
        if (!ctx_is_shared(c, e->heap.data[i].objects, function))
            e->heap.data[n++] = e->heap.data[i];
    e->heap.len = n;
}

void env_let_go(ctx *c, env *e, uint32_t node)
{
    drop_shared(c, e, root_function(c, node));
}

/* ---- values ---- */

ft_term env_operand(ctx *c, const env *e, uint32_t node, const ft_operand *o)
{
    if (o->kind == FT_OPERAND_LITERAL) return ctx_literal(c, o->width, o->value);
    if (o->kind == FT_OPERAND_REGISTER) {
        ft_term t = e->registers.data[e->frame + o->index];
        return t ? t : ctx_register(c, node, o->index);
    }
    const ft_object *object = ft_program_object(c->program, o->index);
    if (!object || !object->by_thread) return ctx_literal(c, 64, c->base[o->index] + o->value);
    uint32_t number = c->program->symbols.data[o->index].index, at = c->nodes.data[node].root;
    if (c->nodes.data[at].canonical != NO_NODE) at = c->nodes.data[at].canonical;
    ft_instruction add = {.code = FT_CODE_ADD, .width = 64};
    ft_term both[2] = {ctx_symbol(c, at, SYMBOL_OWN_OBJECT, number, 64),
                       ctx_literal(c, 64, o->value)};
    return ctx_compute(c, &add, both, NULL);
}

static ft_term operand(ctx *c, const env *e, uint32_t node, const ft_instruction *in, uint32_t i)
{
    return env_operand(c, e, node, &function_of(c, node)->operands.data[in->operands + i]);
}

static const uint64_t *objects_of(const ctx *c, uint32_t node, const ft_instruction *in, uint32_t i)
{
    return ft_flow_points_to(c->flow, c->nodes.data[node].function,
                             &function_of(c, node)->operands.data[in->operands + i]);
}

static void set_register(ctx *c, env *e, uint32_t node, uint32_t index, ft_term v)
{
    ft_symbol symbol;
    env_forget(c, e, node, index);
    bool keeps = v && ctx_uses(c, FT_CONTEXT_DEFINITIONS) && ctx_size(c, v) <= MOST_SIZE &&
                 !(ctx_register_symbol(c, node, index, &symbol) && ctx_mentions(c, v, symbol));
    e->registers.data[e->frame + index] = keeps ? v : FT_NO_TERM;
}

static void add_condition(ctx *c, env *e, ft_term t, bool holds)
{
    uint64_t bits;
    if (!ctx_uses(c, FT_CONTEXT_CONDITIONS) || ctx_is_literal(c, t, &bits)) return;
    if (!holds) t = ctx_not(c, t);
    if (e->conditions.len < MOST_FACTS && ctx_size(c, t) <= MOST_SIZE && !has_condition(e, t))
        ft_vec_push(&e->conditions, t);
}

/* ---- instructions ---- */

static ft_term stored_at(const ctx *c, const env *e, ft_term at, uint8_t width)
{
    for (size_t i = 0; i < e->heap.len; i++)
        if (e->heap.data[i].at == at && e->heap.data[i].width == width)
            return e->heap.data[i].value;
    (void)c;
    return FT_NO_TERM;
}

static void remember(ctx *c, env *e, ft_term at, uint8_t width, ft_term v, const uint64_t *objects)
{
    if (!ctx_uses(c, FT_CONTEXT_DEFINITIONS) || e->heap.len >= MOST_FACTS || width % 8) return;
    if (ctx_size(c, at) <= MOST_SIZE && ctx_size(c, v) <= MOST_SIZE)
        ft_vec_push(&e->heap, (fact){at, v, width, objects});
}

static void load(ctx *c, env *e, uint32_t node, const ft_instruction *in)
{
    ft_term at = operand(c, e, node, in, 0), v = stored_at(c, e, at, in->width);
    const ft_operand *o = &function_of(c, node)->operands.data[in->operands];
    uint64_t bits;
    if (!v && o->kind == FT_OPERAND_ADDRESS &&
        ctx_constant_at(c, o->index, o->value, in->width, &bits))
        v = ctx_literal(c, in->width, bits);
    set_register(c, e, node, in->result, v);
    if (e->registers.data[e->frame + in->result]) return;
    at = operand(c, e, node, in, 0); /* the address may have been one of the register's old value */
    v = ctx_register(c, node, in->result);
    ft_symbol symbol;
    if (ctx_register_symbol(c, node, in->result, &symbol) && ctx_mentions(c, at, symbol)) return;
    if (!stored_at(c, e, at, in->width))
        remember(c, e, at, in->width, v, objects_of(c, node, in, 0));
}

static void store(ctx *c, env *e, uint32_t node, const ft_instruction *in, bool atomic)
{
    ft_term v = operand(c, e, node, in, 0), at = operand(c, e, node, in, 1);
    const uint64_t *objects = objects_of(c, node, in, 1);
    forget_memory(c, e, objects, at, (in->width + 7u) / 8);
    if (!atomic) remember(c, e, at, in->width, v, objects);
}

static void add_must(env *e, held h)
{
    h.times = 1;
    if (!find_must(e, &h)) ft_vec_push(&e->must, h);
}

static void may_hold(env *e, ft_term at, uint8_t mode, const uint64_t *objects)
{
    held h = {.at = at, .mode = mode, .objects = objects};
    for (size_t i = 0; i < e->may.len; i++) h.again |= e->may.data[i].at == at;
    (void)add_may(e, h);
}

/* Where no mutex checks for errors, one that its owner locks again is recursive: it counts. */
static void hold(const ctx *c, env *e, ft_term at, ft_code code, const uint64_t *objects)
{
    held h = {.at = at, .mode = code == FT_CODE_READ_LOCK, .objects = objects};
    held *old = find_must(e, &h);
    bool counts = !c->checking_mutexes || ctx_fault_is(CTX_FAULT_COUNTS_CHECKING);
    may_hold(e, at, h.mode, objects);
    if (old && code == FT_CODE_LOCK && counts && old->times < UINT8_MAX) old->times++;
    add_must(e, h);
}

/* A lock that was tried is held if the result says so. */
static void hold_if(ctx *c, env *e, uint32_t node, const ft_instruction *in, ft_term at,
                    const uint64_t *objects)
{
    ft_symbol symbol;
    held h = {.at = at, .mode = in->code == FT_CODE_TRY_READ_LOCK, .objects = objects};
    if (in->result == FT_NO_REGISTER) return;
    h.when = ctx_equal(c, ctx_register(c, node, in->result), ctx_literal(c, 32, 0));
    if (ctx_fault_is(CTX_FAULT_TRIED_IS_HELD)) h.when = FT_NO_TERM;
    if (ctx_register_symbol(c, node, in->result, &symbol) && ctx_mentions(c, at, symbol)) return;
    add_must(e, h);
}

static bool is_kept(const held *h)
{
    return h->mode == ONCE_RUNS || h->mode == ONCE_DONE;
}

void env_unlock(ctx *c, env *e, ft_term at, const uint64_t *objects)
{
    size_t n = 0;
    for (size_t i = 0; i < e->must.len; i++) {
        held *h = &e->must.data[i];
        bool stays = is_kept(h) || ctx_are_apart(c, h->at, h->objects, 1, at, objects, 1);
        if (!stays && --h->times == 0) continue;
        e->must.data[n++] = *h;
    }
    e->must.len = n;
    n = 0;
    for (size_t i = 0; i < e->may.len; i++)
        if (e->may.data[i].at != at || e->may.data[i].again) e->may.data[n++] = e->may.data[i];
    e->may.len = n;
}

void env_drop_locks(env *e, uint8_t but, uint8_t and)
{
    size_t n = 0;
    for (size_t i = 0; i < e->must.len; i++)
        if (e->must.data[i].mode == but || e->must.data[i].mode == and)
            e->must.data[n++] = e->must.data[i];
    e->must.len = n;
}

/* What a call does of which no more is known than its function's effects. */
static void summarise(ctx *c, env *e, uint32_t node, uint32_t call, uint32_t callee)
{
    const ft_effects *f = ft_flow_effects(c->flow, callee);
    below of = {node, call};
    forget(c, e, on_call, &of);
    forget_memory(c, e, f->writes, FT_NO_TERM, 0);
    if (f->releases) env_let_go(c, e, node);
    if (!f->synchronises) return;
    env_drop_locks(e, ONCE_RUNS, ONCE_DONE);
    e->may_any = true;
}

static bool lets_go(ft_code code)
{
    bool unlocks = code == FT_CODE_UNLOCK || code == FT_CODE_WAIT;
    if (ctx_fault_is(CTX_FAULT_DIES_AT_ACQUIRE))
        return code == FT_CODE_LOCK || code == FT_CODE_JOIN;
    if (ctx_fault_is(CTX_FAULT_DIES_AT_UNLOCK)) return unlocks;
    return ft_code_releases(code);
}

static void synchronise(ctx *c, env *e, uint32_t node, const ft_instruction *in)
{
    ft_code code = (ft_code)in->code;
    ft_term at = in->n_operands ? operand(c, e, node, in, 0) : FT_NO_TERM;
    const uint64_t *objects = in->n_operands ? objects_of(c, node, in, 0) : NULL;
    if (lets_go(code)) env_let_go(c, e, node);
    switch (code) {
    case FT_CODE_LOCK:
    case FT_CODE_WRITE_LOCK:
    case FT_CODE_READ_LOCK:
        hold(c, e, at, code, objects);
        break;
    case FT_CODE_TRY_LOCK:
    case FT_CODE_TIMED_LOCK:
    case FT_CODE_TRY_WRITE_LOCK:
        may_hold(e, at, HELD_ALONE, objects);
        break;
    case FT_CODE_TRY_READ_LOCK:
        may_hold(e, at, HELD_TO_READ, objects);
        break;
    case FT_CODE_UNLOCK:
    case FT_CODE_RW_UNLOCK:
        env_unlock(c, e, at, objects);
        break;
    case FT_CODE_WAIT:
    case FT_CODE_TIMED_WAIT: {
        held h = {.at = operand(c, e, node, in, 1),
                  .mode = HELD_ALONE,
                  .objects = objects_of(c, node, in, 1)};
        (void)add_may(e, h);
        add_must(e, h);
        break;
    }
    case FT_CODE_JOIN:
        if (ctx_uses(c, FT_CONTEXT_JOINED) && e->joined.len < MOST_FACTS &&
            ctx_size(c, at) <= MOST_SIZE && !has_joined(e, at))
            ft_vec_push(&e->joined, at);
        break;
    case FT_CODE_ATOMIC_STORE:
        store(c, e, node, in, true);
        break;
    case FT_CODE_ATOMIC_UPDATE:
    case FT_CODE_ATOMIC_SWAP:
        forget_memory(c, e, objects, at, (in->width + 7u) / 8);
        break;
    default:
        break;
    }
}

static void call(ctx *c, env *e, uint32_t node, uint32_t number, uint32_t depth);

static bool tries_lock(ft_code code)
{
    return code == FT_CODE_TRY_LOCK || code == FT_CODE_TIMED_LOCK ||
           code == FT_CODE_TRY_READ_LOCK || code == FT_CODE_TRY_WRITE_LOCK;
}

/* Neither a jump nor a call. */
static void carry_out(ctx *c, env *e, uint32_t node, uint32_t number)
{
    const ft_function *f = function_of(c, node);
    const ft_instruction *in = &f->instructions.data[number];
    ft_term operands[3] = {0};
    uint8_t widths[3] = {0};
    switch (in->code) {
    case FT_CODE_LOAD:
        load(c, e, node, in);
        return;
    case FT_CODE_STORE:
        store(c, e, node, in, false);
        return;
    case FT_CODE_COPY:
    case FT_CODE_MOVE:
    case FT_CODE_FILL:
    case FT_CODE_FREE:
        forget_memory(c, e, objects_of(c, node, in, 0), FT_NO_TERM, 0);
        return;
    case FT_CODE_ASSERT:
    case FT_CODE_ASSUME:
        add_condition(c, e, operand(c, e, node, in, 0), true);
        return;
    default:
        break;
    }
    if (ft_instruction_row_of((ft_code)in->code)->effect == FT_EFFECT_VISIBLE ||
        in->code == FT_CODE_ATOMIC_END)
        synchronise(c, e, node, in);
    if (in->result == FT_NO_REGISTER) return;
    for (uint32_t i = 0; i < in->n_operands && i < 3; i++) {
        operands[i] = operand(c, e, node, in, i);
        widths[i] = f->operands.data[in->operands + i].width;
    }
    ft_term v = in->code <= FT_CODE_TRUNC && in->n_operands ? ctx_compute(c, in, operands, widths)
                                                            : FT_NO_TERM;
    set_register(c, e, node, in->result, v);
    if (tries_lock((ft_code)in->code))
        hold_if(c, e, node, in, operands[0], objects_of(c, node, in, 0));
}

static void step(ctx *c, env *e, uint32_t node, uint32_t number, uint32_t depth)
{
    ft_code code = (ft_code)function_of(c, node)->instructions.data[number].code;
    c->work++;
    if (code == FT_CODE_CALL || code == FT_CODE_CALL_AT || code == FT_CODE_ONCE)
        call(c, e, node, number, depth);
    else
        carry_out(c, e, node, number);
}

/* ---- the flow through a function ---- */

void env_enter(ctx *c, env *e, uint32_t node, const ft_term *arguments, uint32_t n)
{
    const ft_function *f = function_of(c, node);
    e->frame = (uint32_t)e->registers.len;
    for (size_t i = 0; i < f->registers.len; i++) ft_vec_push(&e->registers, FT_NO_TERM);
    const ft_block *entry = &f->blocks.data[0];
    for (uint32_t i = 0; i < entry->n_parameters; i++)
        env_forget(c, e, node, entry->parameters + i);
    for (uint32_t i = 0; arguments && i < n; i++) {
        ft_symbol symbol;
        uint32_t index = entry->parameters + i;
        bool stale = false;
        for (uint32_t k = 0; k < entry->n_parameters; k++)
            stale |= ctx_register_symbol(c, node, entry->parameters + k, &symbol) &&
                     ctx_mentions(c, arguments[i], symbol);
        if (!stale) set_register(c, e, node, index, arguments[i]);
    }
}

/* Along an edge: the block's parameters get their arguments, all at once. */
static void take_edge(ctx *c, env *e, uint32_t node, const ft_target *target)
{
    const ft_function *f = function_of(c, node);
    const ft_block *block = &f->blocks.data[target->block];
    ft_term *v = ft_calloc(target->n_operands + 1u, sizeof *v);
    for (uint32_t i = 0; i < target->n_operands; i++)
        v[i] = env_operand(c, e, node, &f->operands.data[target->operands + i]);
    for (uint32_t i = 0; i < target->n_operands; i++) {
        ft_symbol symbol;
        env_forget(c, e, node, block->parameters + i);
        if (!ctx_register_symbol(c, node, block->parameters + i, &symbol)) continue;
        for (uint32_t k = 0; k < target->n_operands; k++)
            if (ctx_mentions(c, v[k], symbol)) v[k] = FT_NO_TERM;
    }
    for (uint32_t i = 0; i < target->n_operands; i++)
        set_register(c, e, node, block->parameters + i, v[i]);
    free(v);
}

typedef struct flowing {
    ctx *c;
    uint32_t node, depth;
    env *in;     /* by block */
    bool *dirty; /* likewise */
    env out;     /* at returns */
    ft_term result;
    bool returned;
} flowing;

/* The condition under which the target of a branch is taken; false: it never is. */
static bool may_take(flowing *w, env *e, const ft_instruction *last, uint32_t t)
{
    uint64_t bits;
    if (last->code != FT_CODE_BRANCH && last->code != FT_CODE_SWITCH) return true;
    ft_term v = operand(w->c, e, w->node, last, 0);
    const ft_target *targets = &function_of(w->c, w->node)->targets.data[last->targets];
    if (last->code == FT_CODE_BRANCH) {
        if (ctx_is_literal(w->c, v, &bits)) return bits == (t == 0);
        if (targets[0].block != targets[1].block) add_condition(w->c, e, v, t == 0);
        return true;
    }
    if (ctx_is_literal(w->c, v, &bits)) {
        if (t) return targets[t].value == bits;
        for (uint32_t i = 1; i < last->n_targets; i++)
            if (targets[i].value == bits) return false;
        return true;
    }
    if (!t) return true;
    for (uint32_t i = 0; i < last->n_targets; i++)
        if (i != t && targets[i].block == targets[t].block) return true;
    add_condition(w->c, e, ctx_equal(w->c, v, ctx_literal(w->c, last->width, targets[t].value)),
                  true);
    return true;
}

static void leave(flowing *w, env *e, const ft_instruction *last)
{
    const ft_function *f = function_of(w->c, w->node);
    if (last->code == FT_CODE_RETURN) {
        ft_term v = last->n_operands ? operand(w->c, e, w->node, last, 0) : FT_NO_TERM;
        w->result = w->returned && w->result != v ? FT_NO_TERM : v;
        w->returned = true;
        (void)meet(w->c, &w->out, e);
        return;
    }
    env next;
    env_init(w->c, &next);
    for (uint32_t t = 0; t < last->n_targets; t++) {
        const ft_target *target = &f->targets.data[last->targets + t];
        env_copy(w->c, &next, e);
        if (!may_take(w, &next, last, t)) continue;
        take_edge(w->c, &next, w->node, target);
        if (meet(w->c, &w->in[target->block], &next)) w->dirty[target->block] = true;
    }
    env_release(&next);
}

static void pass_block(flowing *w, uint32_t block)
{
    const ft_function *f = function_of(w->c, w->node);
    const ft_block *b = &f->blocks.data[block];
    env e;
    env_init(w->c, &e);
    env_copy(w->c, &e, &w->in[block]);
    for (uint32_t i = 0; i + 1 < b->n_instructions && e.reached; i++)
        step(w->c, &e, w->node, b->instructions + i, w->depth);
    if (e.reached) leave(w, &e, &f->instructions.data[b->instructions + b->n_instructions - 1]);
    env_release(&e);
}

static bool is_entered_late(const flowing *w, const ft_dominators *d, uint32_t block)
{
    const ft_function *f = function_of(w->c, w->node);
    for (uint32_t b = 0; b < f->blocks.len; b++) {
        uint32_t n;
        const ft_target *targets = ft_block_targets(f, b, &n);
        for (uint32_t t = 0; t < n; t++)
            if (targets[t].block == block && ft_is_reached(d, b) && d->order[b] >= d->order[block])
                return true;
    }
    return block == 0;
}

/* Once more, from what holds at the heads of loops: what the first rounds took for known (a counter
 * that is still 0) has been forgotten in the blocks behind them, and so has what they found
 * instead. Every other block has all its predecessors before it. */
static void flow_again(flowing *w, const ft_dominators *d)
{
    uint32_t n = (uint32_t)function_of(w->c, w->node)->blocks.len;
    uint32_t *order = ft_calloc(n, sizeof *order), reached = 0;
    for (uint32_t b = 0; b < n; b++) {
        if (!ft_is_reached(d, b)) continue;
        order[d->order[b]] = b;
        reached++;
        if (!is_entered_late(w, d, b)) w->in[b].reached = false;
    }
    for (uint32_t i = 0; i < reached; i++)
        if (w->in[order[i]].reached) pass_block(w, order[i]);
    free(order);
}

static void flow_begin(flowing *w, ctx *c, uint32_t node, const env *entry, uint32_t depth)
{
    uint32_t n = (uint32_t)function_of(c, node)->blocks.len;
    *w = (flowing){.c = c, .node = node, .depth = depth};
    w->in = ft_calloc(n, sizeof *w->in);
    w->dirty = ft_calloc(n, sizeof *w->dirty);
    for (uint32_t b = 0; b < n; b++) env_init(c, &w->in[b]);
    env_init(c, &w->out);
    env_copy(c, &w->in[0], entry);
    w->dirty[0] = true;
    const ft_dominators *d = &ft_flow_graph(c->flow, c->nodes.data[node].function)->dominators;
    for (;;) { /* the first in reverse postorder */
        uint32_t next = FT_NO_BLOCK;
        for (uint32_t b = 0; b < n; b++)
            if (w->dirty[b] && (next == FT_NO_BLOCK || d->order[b] < d->order[next])) next = b;
        if (next == FT_NO_BLOCK) break;
        w->dirty[next] = false;
        w->result = FT_NO_TERM; /* the last round, in which nothing changes, finds it */
        w->returned = false;
        pass_block(w, next);
    }
    flow_again(w, d);
}

/* The results of all returns, once nothing changes. */
static void flow_return(flowing *w)
{
    const ft_function *f = function_of(w->c, w->node);
    w->out.reached = w->returned = false;
    for (uint32_t b = 0; b < f->blocks.len; b++) {
        const ft_block *block = &f->blocks.data[b];
        uint32_t last = block->instructions + block->n_instructions - 1;
        if (w->in[b].reached && f->instructions.data[last].code == FT_CODE_RETURN) pass_block(w, b);
    }
}

static void flow_end(flowing *w)
{
    for (uint32_t b = 0; b < function_of(w->c, w->node)->blocks.len; b++) env_release(&w->in[b]);
    env_release(&w->out);
    free(w->in);
    free(w->dirty);
}

/* ---- calls ---- */

static bool is_followed(const ctx *c, const ft_instruction *in, uint32_t callee, uint32_t depth)
{
    return in->code != FT_CODE_ONCE && depth < MOST_DEPTH && c->work < MOST_WORK &&
           !ft_flow_effects(c->flow, callee)->recursive;
}

/* *result: what it returns. */
static void call_one(ctx *c, env *e, uint32_t node, uint32_t number, uint32_t callee,
                     uint32_t depth, ft_term *result)
{
    const ft_instruction *in = &function_of(c, node)->instructions.data[number];
    uint32_t skip = in->code == FT_CODE_CALL ? 0 : 1, n = in->n_operands - skip, frame = e->frame;
    size_t registers = e->registers.len;
    *result = FT_NO_TERM;
    if (!is_followed(c, in, callee, depth)) {
        summarise(c, e, node, number, callee);
        return;
    }
    ft_term *v = ft_calloc(n + 1u, sizeof *v);
    for (uint32_t i = 0; i < n; i++) v[i] = operand(c, e, node, in, i + skip);
    uint32_t inner = ctx_node(c, node, callee, number);
    flowing w;
    env_enter(c, e, inner, v, n);
    flow_begin(&w, c, inner, e, depth + 1);
    flow_return(&w);
    env_copy(c, e, &w.out);
    e->reached = w.returned;
    e->frame = frame;
    if (w.returned) e->registers.len = registers;
    *result = w.result;
    flow_end(&w);
    free(v);
}

void env_once(ctx *c, env *e, uint32_t node, const ft_instruction *in, uint8_t mode)
{
    held h = {
        .at = operand(c, e, node, in, 0), .mode = mode, .objects = objects_of(c, node, in, 0)};
    if (ctx_uses(c, FT_CONTEXT_ONCE)) add_must(e, h);
}

static void call(ctx *c, env *e, uint32_t node, uint32_t number, uint32_t depth)
{
    const ft_instruction *in = &function_of(c, node)->instructions.data[number];
    uint32_t n;
    const uint32_t *targets = ft_flow_targets(c->flow, c->nodes.data[node].function, number, &n);
    ft_term result = FT_NO_TERM, one;
    env before, all;
    if (in->code == FT_CODE_ONCE) env_let_go(c, e, node);
    env_init(c, &before);
    env_init(c, &all);
    env_copy(c, &before, e);
    if (in->code == FT_CODE_ONCE) (void)meet(c, &all, &before); /* it may have been done */
    for (uint32_t i = 0; i < n; i++) {
        env_copy(c, e, &before);
        call_one(c, e, node, number, targets[i], depth, &one);
        result = i && result != one ? FT_NO_TERM : one;
        (void)meet(c, &all, e);
    }
    env_copy(c, e, &all);
    e->reached = all.reached;
    env_release(&before);
    env_release(&all);
    if (!e->reached) return;
    if (in->code == FT_CODE_ONCE) {
        env_let_go(c, e, node);
        env_once(c, e, node, in, ONCE_DONE);
    }
    if (in->result != FT_NO_REGISTER) set_register(c, e, node, in->result, result);
}

/* ---- entries and places ---- */

void env_unknown(ctx *c, env *e, bool open)
{
    (void)c;
    e->reached = true;
    e->may_any = open;
}

void env_start(ctx *c, env *e)
{
    env_unknown(c, e, false);
    for (uint32_t s = 0; s < c->program->symbols.len; s++) {
        const ft_object *o = ft_program_object(c->program, s);
        uint64_t bits;
        if (!o || o->by_thread || o->size > 8 || (o->size & (o->size - 1))) continue;
        if (!o->size || !ctx_initial_at(c, s, 0, (uint8_t)(o->size * 8), &bits)) continue;
        ft_operand address = ft_operand_address(s, 0);
        remember(c, e, ctx_literal(c, 64, c->base[s]), (uint8_t)(o->size * 8),
                 ctx_literal(c, (uint8_t)(o->size * 8), bits),
                 ft_flow_points_to(c->flow, 0, &address));
    }
}

void env_to(ctx *c, env *e, uint32_t node, uint32_t instruction)
{
    const ft_function *f = function_of(c, node);
    uint32_t block = c->place_of[c->nodes.data[node].function][instruction];
    flowing w;
    flow_begin(&w, c, node, e, 0);
    env_copy(c, e, &w.in[block]);
    e->reached = w.in[block].reached;
    for (uint32_t i = f->blocks.data[block].instructions; i < instruction && e->reached; i++)
        step(c, e, node, i, 0);
    flow_end(&w);
}
