#include <stdlib.h>

#include "context/internal.h"

enum { MOST_LOOPS = 4, LARGEST_BARRIER = 32, MOST_NESTED = 12, LABEL = 255 };

/* How often a barrier is passed between two places: a number, and so many for each round of a
 * loop. */
typedef struct count {
    bool reached, known;
    uint64_t number;
    uint32_t n;
    struct {
        uint32_t head;
        uint64_t times;
    } loops[MOST_LOOPS];
} count;

static bool is_same(const count *a, const count *b)
{
    if (!a->known || !b->known || a->number != b->number || a->n != b->n) return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (a->loops[i].head != b->loops[i].head || a->loops[i].times != b->loops[i].times)
            return false;
    return true;
}

static void meet(count *a, const count *b)
{
    if (!b->reached) return;
    if (!a->reached)
        *a = *b;
    else if (!is_same(a, b))
        a->known = false;
}

static void add(count *a, const count *b)
{
    if (!b->reached || !b->known || b->n) {
        a->known = false; /* loops of a callee have no place in the caller */
        return;
    }
    a->number += b->number;
}

typedef struct counting {
    ctx *c;
    uint32_t barrier, depth;
} counting;

static count passes_to(const counting *k, uint32_t f, uint32_t start, const uint64_t *region,
                       uint32_t block, uint32_t instruction);

static bool uses(const counting *k, uint32_t function)
{
    const ctx *c = k->c;
    const ft_effects *e = ft_flow_effects(c->flow, function);
    for (uint32_t f = 0; f < c->program->functions.len; f++) {
        const ft_function *g = &c->program->functions.data[f];
        for (uint32_t i = 0; ft_bits_has(e->callees, f) && i < g->instructions.len; i++) {
            const ft_instruction *in = &g->instructions.data[i];
            if (in->code == FT_CODE_BARRIER_WAIT &&
                ft_bits_has(ft_flow_points_to(c->flow, f, &g->operands.data[in->operands]),
                            k->barrier))
                return true;
        }
    }
    return false;
}

static const count NOTHING = {.reached = true, .known = true};

/* From the function's entry to any of its returns. */
static count passes_in(const counting *k, uint32_t f)
{
    count all = {0};
    const ft_function *function = &k->c->program->functions.data[f];
    counting deeper = *k;
    if (!uses(k, f)) return NOTHING;
    if (++deeper.depth > MOST_NESTED || ft_flow_effects(k->c->flow, f)->recursive)
        return (count){.reached = true};
    for (uint32_t b = 0; b < function->blocks.len; b++) {
        const ft_block *block = &function->blocks.data[b];
        uint32_t last = block->instructions + block->n_instructions - 1;
        if (function->instructions.data[last].code != FT_CODE_RETURN) continue;
        count one = passes_to(&deeper, f, 0, NULL, b, last);
        meet(&all, &one);
    }
    return all;
}

static count passes_of(const counting *k, uint32_t f, uint32_t instruction)
{
    uint32_t n;
    count all = {0};
    const ft_function *function = &k->c->program->functions.data[f];
    const ft_instruction *in = &function->instructions.data[instruction];
    if (in->code == FT_CODE_BARRIER_WAIT) {
        const uint64_t *objects =
            ft_flow_points_to(k->c->flow, f, &function->operands.data[in->operands]);
        all = NOTHING;
        all.number = ft_bits_has(objects, k->barrier);
        return all;
    }
    if (in->code == FT_CODE_CREATE) return NOTHING;
    const uint32_t *targets = ft_flow_targets(k->c->flow, f, instruction, &n);
    if (!n) return NOTHING;
    for (uint32_t t = 0; t < n; t++) {
        count one = passes_in(k, targets[t]);
        meet(&all, &one);
    }
    if (in->code == FT_CODE_ONCE) meet(&all, &NOTHING);
    if (!all.reached) all = (count){.reached = true}; /* it does not return */
    return all;
}

static void add_block(const counting *k, uint32_t f, uint32_t block, uint32_t to, count *n)
{
    const ft_block *b = &k->c->program->functions.data[f].blocks.data[block];
    for (uint32_t i = b->instructions; i < b->instructions + b->n_instructions && i < to; i++) {
        count one = passes_of(k, f, i);
        add(n, &one);
    }
}

/* For each round of the loop; known only if it is the same number on all ways round. */
static count per_round(const counting *k, uint32_t f, uint32_t head, const uint64_t *loop)
{
    count all = {0};
    const ft_function *function = &k->c->program->functions.data[f];
    for (uint32_t b = 0; b < function->blocks.len; b++) {
        uint32_t n;
        const ft_target *targets = ft_block_targets(function, b, &n);
        for (uint32_t t = 0; t < n && ft_bits_has(loop, b); t++) {
            if (targets[t].block != head) continue;
            count one = passes_to(k, f, head, loop, b, UINT32_MAX);
            meet(&all, &one);
        }
    }
    if (all.n) all.known = false;
    return all;
}

static void go_round(const counting *k, uint32_t f, uint32_t head, const uint64_t *loop, count *n)
{
    count one = per_round(k, f, head, loop);
    if (!one.reached || (one.known && !one.number)) return;
    if (!one.known || n->n == MOST_LOOPS)
        n->known = false;
    else
        n->loops[n->n].head = head, n->loops[n->n++].times = one.number;
}

/* From the beginning of `start` to before the instruction in the block (UINT32_MAX: to the block's
 * end), within the region (NULL: everywhere), without coming back to `start`. */
static count passes_to(const counting *k, uint32_t f, uint32_t start, const uint64_t *region,
                       uint32_t block, uint32_t instruction)
{
    const ft_function *function = &k->c->program->functions.data[f];
    const ft_graph *g = ft_flow_graph(k->c->flow, f);
    count *in = ft_calloc(g->n, sizeof *in), found;
    uint64_t *loop = ft_calloc(g->words, sizeof *loop);
    uint32_t *order = ft_calloc(g->n, sizeof *order), n_order = 0;
    bool lost = false;
    for (uint32_t b = 0; b < g->n; b++)
        if (ft_is_reached(&g->dominators, b)) n_order++;
    for (uint32_t b = 0; b < g->n; b++)
        if (ft_is_reached(&g->dominators, b)) order[g->dominators.order[b]] = b;
    in[start] = NOTHING;
    for (uint32_t o = 0; o < n_order; o++) {
        uint32_t b = order[o], n;
        if (!in[b].reached || (region && !ft_bits_has(region, b))) continue;
        bool head = b != start && ft_graph_loop(g, function, b, loop);
        if (head) go_round(k, f, b, loop, &in[b]);
        count out = in[b];
        if (b == block && instruction != UINT32_MAX) continue;
        add_block(k, f, b, UINT32_MAX, &out);
        const ft_target *targets = ft_block_targets(function, b, &n);
        for (uint32_t t = 0; t < n; t++) {
            uint32_t to = targets[t].block;
            if (to == start || ft_graph_is_back(g, b, to)) continue;
            /* An edge backwards that is none of a natural loop: there is no order to count in. */
            lost |= g->dominators.order[to] <= g->dominators.order[b];
            meet(&in[to], &out);
        }
    }
    found = in[block];
    if (found.reached) add_block(k, f, block, instruction, &found);
    found.known &= !lost;
    free(order);
    free(loop);
    free(in);
    return found;
}

/* ---- the barrier ---- */

static bool is_single(const ctx *c, uint32_t barrier)
{
    const ft_abstract *a = ft_flow_abstract(c->flow, barrier);
    if (a->kind != FT_ABSTRACT_GLOBAL) return false;
    const ft_object *o = &c->program->objects.data[a->index];
    return !o->by_thread && o->size <= LARGEST_BARRIER;
}

static bool is_alone(const ctx *c, const uint64_t *objects, uint32_t barrier)
{
    for (uint32_t a = 0; a < ft_flow_abstracts(c->flow); a++)
        if (ft_bits_has(objects, a) != (a == barrier)) return false;
    return true;
}

/* The count that one initialisation gives, in each way that leads there. */
static bool count_of_init(ctx *c, ft_context_point at, uint64_t *expected, bool *any)
{
    ways all = {0};
    bool good = ctx_ways(c, at, (ft_context_point){FT_NO_CALL, 0}, &all);
    for (size_t i = 0; i < all.len && good; i++) {
        thread_state t = {0};
        uint64_t n;
        if (ctx_reach(c, LABEL, &all.data[i], &t)) {
            good = ctx_is_literal(c, ctx_operand_at(c, &t, 1), &n) && (!*any || n == *expected);
            if (good) *expected = n, *any = true;
        }
        env_release(&t.env);
    }
    ft_vec_release(&all);
    return good;
}

bool ctx_expected(ctx *c, uint32_t barrier, uint64_t *expected)
{
    bool good = is_single(c, barrier), any = false;
    for (uint32_t f = 0; f < c->program->functions.len && good; f++) {
        const ft_function *g = &c->program->functions.data[f];
        for (uint32_t i = 0; ft_bits_has(c->reachable, f) && i < g->instructions.len && good; i++) {
            const ft_instruction *in = &g->instructions.data[i];
            if (in->code != FT_CODE_BARRIER_INIT && in->code != FT_CODE_BARRIER_WAIT) continue;
            const uint64_t *objects =
                ft_flow_points_to(c->flow, f, &g->operands.data[in->operands]);
            if (!ft_bits_has(objects, barrier)) continue;
            good = is_alone(c, objects, barrier);
            if (good && in->code == FT_CODE_BARRIER_INIT)
                good = count_of_init(c, (ft_context_point){f, i}, expected, &any);
        }
    }
    return good && any;
}

bool ctx_is_matched(ctx *c, uint32_t barrier)
{
    counting k = {c, barrier, 0};
    uint64_t expected, users = 0;
    if (!ctx_expected(c, barrier, &expected)) return false;
    for (size_t r = 0; r < c->roots.len; r++)
        if (uses(&k, c->roots.data[r].function)) users += c->roots.data[r].most;
    return users <= expected || ctx_fault_is(CTX_FAULT_ROUNDS_UNCOUNTED);
}

/* ---- a thread's rounds ---- */

/* The value before the loop that the head's parameter begins with; NULL: several. */
static const ft_operand *before_loop(const ft_function *f, uint32_t head, const uint64_t *loop,
                                     uint32_t k)
{
    const ft_operand *found = NULL;
    for (uint32_t b = 0; b < f->blocks.len; b++) {
        uint32_t n;
        const ft_target *targets = ft_block_targets(f, b, &n);
        for (uint32_t t = 0; t < n; t++) {
            if (targets[t].block != head || ft_bits_has(loop, b)) continue;
            if (found) return NULL;
            found = &f->operands.data[targets[t].operands + k];
        }
    }
    return found;
}

static bool adds_each_round(const ft_function *f, uint32_t head, const uint64_t *loop, uint32_t k,
                            uint64_t *step)
{
    bool any = false;
    for (uint32_t b = 0; b < f->blocks.len; b++) {
        uint32_t n;
        const ft_target *targets = ft_block_targets(f, b, &n);
        for (uint32_t t = 0; t < n; t++) {
            uint64_t v;
            if (targets[t].block != head || !ft_bits_has(loop, b)) continue;
            const ft_operand *o = &f->operands.data[targets[t].operands + k];
            if (!ctx_steps_by(f, o, f->blocks.data[head].parameters + k, &v)) return false;
            if (any && v != *step) return false;
            *step = v;
            any = true;
        }
    }
    return any;
}

static ft_term operand_in_frame(ctx *c, const thread_state *t, uint32_t frame, const ft_operand *o)
{
    env view = t->env; /* borrowed */
    view.frame = t->registers[frame];
    return env_operand(c, &view, t->nodes[frame], o);
}

/* Ties the loop's rounds to the parameters that count them. */
static ft_term meaning_of(ctx *c, const thread_state *t, uint32_t frame, uint32_t head,
                          ft_term round, ft_term all)
{
    uint32_t number = c->nodes.data[t->nodes[frame]].function;
    const ft_function *f = &c->program->functions.data[number];
    const ft_graph *g = ft_flow_graph(c->flow, number);
    const ft_block *h = &f->blocks.data[head];
    uint64_t *loop = ft_calloc(g->words, sizeof *loop), step;
    (void)ft_graph_loop(g, f, head, loop);
    for (uint32_t k = 0; k < h->n_parameters; k++) {
        uint8_t width = f->registers.data[h->parameters + k].width;
        const ft_operand *first = before_loop(f, head, loop, k);
        if (!first || width == 1 || !adds_each_round(f, head, loop, k, &step)) continue;
        ft_instruction cut = {.code = FT_CODE_TRUNC, .width = width};
        ft_instruction sum = {.code = FT_CODE_ADD, .width = width};
        uint8_t from = 64;
        ft_term n = width == 64 ? round : ctx_compute(c, &cut, &round, &from);
        n = ctx_two(c, FT_OP_BVMUL, n, ctx_literal(c, width, step));
        ft_term both[2] = {operand_in_frame(c, t, frame, first), n};
        ft_operand now = ft_operand_register(f, h->parameters + k);
        ft_term is =
            ctx_equal(c, operand_in_frame(c, t, frame, &now), ctx_compute(c, &sum, both, NULL));
        all = ctx_two(c, FT_OP_AND, all, is);
    }
    free(loop);
    return all;
}

bool ctx_rounds(ctx *c, uint32_t barrier, const thread_state *t, ft_term *rounds, ft_term *meaning)
{
    enum { MOST_ROUNDS_BITS = 40 };
    counting k = {c, barrier, 0};
    const call_string *s = &t->way->own;
    ft_instruction sum = {.code = FT_CODE_ADD, .width = 64};
    if (s->open || !uses(&k, s->frames[0].function)) return false;
    bool woken = t->reading == FT_CONTEXT_WOKEN && !ctx_fault_is(CTX_FAULT_ROUNDS_INSIDE);
    *rounds = ctx_literal(c, 64, woken);
    *meaning = ctx_literal(c, 1, 1);
    if (t->reading == FT_CONTEXT_WOKEN && !ft_bits_has(ctx_objects_at(c, t, 0), barrier))
        *rounds = ctx_literal(c, 64, 0);
    for (uint32_t i = 0; i < s->n; i++) {
        const frame_of_way *f = &s->frames[i];
        count n = passes_to(&k, f->function, 0, NULL, c->place_of[f->function][f->instruction],
                            f->instruction);
        if (!n.reached || !n.known) return false;
        ft_term parts[2] = {*rounds, ctx_literal(c, 64, n.number)};
        *rounds = ctx_compute(c, &sum, parts, NULL);
        for (uint32_t l = 0; l < n.n; l++) {
            ft_term round = ctx_symbol(c, t->nodes[i], SYMBOL_ROUNDS, n.loops[l].head, 64);
            ft_term few =
                ctx_two(c, FT_OP_BVULT, round, ctx_literal(c, 64, UINT64_C(1) << MOST_ROUNDS_BITS));
            *meaning = ctx_two(c, FT_OP_AND, *meaning, few);
            parts[0] = *rounds;
            parts[1] = ctx_two(c, FT_OP_BVMUL, round, ctx_literal(c, 64, n.loops[l].times));
            *rounds = ctx_compute(c, &sum, parts, NULL);
            *meaning = meaning_of(c, t, i, n.loops[l].head, round, *meaning);
        }
    }
    return true;
}
