#include "cover/markers.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "cover/control.h"
#include "cover/faults.h"

/* How the instructions of a loop or of a function synchronise. */
enum { WAITS = 1, CREATES = 2, JOINS = 4, BARRIERS = 8, OTHERWISE = 16 };

typedef struct placing {
    cover_markers *to;
    const ft_flow *flow;
    const ft_program *program;
    uint8_t *kinds;  /* by function: how it synchronises, its callees included */
    bool *marks;     /* by function: a marker lies on each way through it */
    bool *rounds;    /* by function: a marker or a barrier does */
    uint8_t *visits; /* by function: 0 not yet, 1 begun, 2 done */
} placing;

static const ft_function *function_at(const placing *p, uint32_t f)
{
    return &p->program->functions.data[f];
}

static bool is_call(ft_code code)
{
    return code == FT_CODE_CALL || code == FT_CODE_CALL_AT || code == FT_CODE_ONCE;
}

static uint8_t kind_of(ft_code code)
{
    switch (code) {
    case FT_CODE_WAIT:
        return WAITS;
    case FT_CODE_CREATE:
        return CREATES;
    case FT_CODE_JOIN:
        return JOINS;
    case FT_CODE_BARRIER_WAIT:
        return BARRIERS;
    default:
        return cover_code_synchronises(code) && code != FT_CODE_END ? OTHERWISE : 0;
    }
}

/* ---- markers ---- */

static uint64_t key_of(uint32_t function, uint32_t instruction)
{
    return (uint64_t)function << 32 | instruction;
}

bool cover_is_marker(const cover_markers *markers, uint32_t function, uint32_t instruction)
{
    return ft_map_get(&markers->places, key_of(function, instruction), NULL);
}

static void place(placing *p, uint32_t function, uint32_t instruction)
{
    bool fresh;
    ft_map_slot(&p->to->places, key_of(function, instruction), 1, &fresh);
    if (fresh) ft_vec_push(&p->to->all, (cover_marker){function, instruction});
}

/* An access to the object of explicit markers. */
static bool is_explicit(const placing *p, const ft_function *f, const ft_instruction *in)
{
    if (in->code < FT_CODE_ATOMIC_LOAD || in->code > FT_CODE_ATOMIC_SWAP) return false;
    for (uint32_t i = 0; i < in->n_operands; i++) {
        const ft_operand *o = &f->operands.data[in->operands + i];
        if (o->kind == FT_OPERAND_ADDRESS &&
            strcmp(ft_program_symbol_name(p->program, o->index), COVER_MARKER_OBJECT) == 0)
            return true;
    }
    return false;
}

static void place_explicit(placing *p, uint32_t f)
{
    const ft_function *function = function_at(p, f);
    for (uint32_t i = 0; i < function->instructions.len; i++)
        if (is_explicit(p, function, &function->instructions.data[i])) place(p, f, i);
}

/* ---- what lies on a way ---- */

/* How the instruction synchronises, with what it calls. */
static uint8_t kinds_of(const placing *p, uint32_t f, uint32_t i)
{
    ft_code code = (ft_code)function_at(p, f)->instructions.data[i].code;
    uint8_t kinds = kind_of(code);
    uint32_t n = 0;
    const uint32_t *targets = is_call(code) ? ft_flow_targets(p->flow, f, i, &n) : NULL;
    for (uint32_t k = 0; k < n; k++) kinds |= p->kinds[targets[k]];
    return kinds;
}

/* Does everything that the instruction calls have it? A `once` need not call. */
static bool all_called(const placing *p, uint32_t f, uint32_t i, const bool *have)
{
    ft_code code = (ft_code)function_at(p, f)->instructions.data[i].code;
    uint32_t n = 0;
    if (code != FT_CODE_CALL && code != FT_CODE_CALL_AT) return false;
    const uint32_t *targets = ft_flow_targets(p->flow, f, i, &n);
    for (uint32_t k = 0; k < n; k++)
        if (!have[targets[k]]) return false;
    return n > 0;
}

static bool is_round(const placing *p, uint32_t f, uint32_t i)
{
    return function_at(p, f)->instructions.data[i].code == FT_CODE_BARRIER_WAIT ||
           all_called(p, f, i, p->rounds);
}

/* Does the block have a marker (or, with `rounds`, a barrier) on its way? */
static bool block_has(const placing *p, uint32_t f, uint32_t block, bool rounds)
{
    const ft_block *b = &function_at(p, f)->blocks.data[block];
    for (uint32_t i = b->instructions; i < b->instructions + b->n_instructions; i++)
        if (cover_is_marker(p->to, f, i) || all_called(p, f, i, p->marks) ||
            (rounds && is_round(p, f, i)))
            return true;
    return false;
}

/* Does a way without one lead from a block into `head` again, or (FT_NO_BLOCK) to the function's
 * end? Only blocks of `in` count; NULL: all. */
static bool has_way(const placing *p, uint32_t f, const uint64_t *in, uint32_t from, uint32_t head,
                    bool rounds)
{
    const ft_function *function = function_at(p, f);
    bool *seen = ft_calloc(function->blocks.len, sizeof *seen), found = false;
    FT_VEC(uint32_t) open = {0};
    ft_vec_push(&open, from);
    while (open.len && !found) {
        uint32_t block = open.data[--open.len], n;
        if (seen[block] || (in && !ft_bits_has(in, block))) continue;
        seen[block] = true;
        if (block_has(p, f, block, rounds)) continue;
        const ft_target *targets = ft_block_targets(function, block, &n);
        found = !n && head == FT_NO_BLOCK;
        for (uint32_t k = 0; k < n; k++) {
            found = found || targets[k].block == head;
            ft_vec_push(&open, targets[k].block);
        }
    }
    ft_vec_release(&open);
    free(seen);
    return found;
}

/* ---- loops ---- */

typedef struct loop {
    uint32_t head, size;
    uint64_t *blocks;
} loop;

static uint8_t kinds_in(const placing *p, uint32_t f, const loop *l)
{
    const ft_function *function = function_at(p, f);
    uint8_t kinds = 0;
    for (uint32_t b = 0; b < function->blocks.len; b++) {
        const ft_block *block = &function->blocks.data[b];
        for (uint32_t i = 0; ft_bits_has(l->blocks, b) && i < block->n_instructions; i++)
            kinds |= kinds_of(p, f, block->instructions + i);
    }
    return kinds;
}

/* The first instruction of the body: of the one block of the loop that follows a head that may
 * leave it, else of the head. */
static uint32_t body_of(const placing *p, uint32_t f, const loop *l)
{
    const ft_function *function = function_at(p, f);
    uint32_t n, inside = FT_NO_BLOCK, many = 0, leaves = 0;
    const ft_target *targets = ft_block_targets(function, l->head, &n);
    for (uint32_t k = 0; k < n; k++) {
        bool in = ft_bits_has(l->blocks, targets[k].block);
        leaves += !in;
        if (in && targets[k].block != inside) inside = targets[k].block, many++;
    }
    bool body = leaves && many == 1 && inside != l->head;
    return function->blocks.data[body ? inside : l->head].instructions;
}

/* The barriers of a loop are its markers: behind each. */
static void place_behind_barriers(placing *p, uint32_t f, const loop *l)
{
    const ft_function *function = function_at(p, f);
    for (uint32_t b = 0; b < function->blocks.len; b++) {
        const ft_block *block = &function->blocks.data[b];
        for (uint32_t i = 0; ft_bits_has(l->blocks, b) && i + 1 < block->n_instructions; i++)
            if (is_round(p, f, block->instructions + i)) place(p, f, block->instructions + i + 1);
    }
}

static void place_in_loop(placing *p, uint32_t f, const loop *l)
{
    uint8_t kinds = kinds_in(p, f, l);
    bool trivial = kinds == WAITS || kinds == CREATES || kinds == JOINS;
    if (cover_fault_is(COVER_FAULT_TRIVIAL)) trivial = kinds != 0;
    if (!kinds || trivial || !has_way(p, f, l->blocks, l->head, l->head, false)) return;
    if (has_way(p, f, l->blocks, l->head, l->head, true))
        place(p, f, body_of(p, f, l));
    else
        place_behind_barriers(p, f, l);
}

static int by_size(const void *a, const void *b)
{
    const loop *x = a, *y = b;
    int order = (x->size > y->size) - (x->size < y->size);
    return order ? order : (x->head > y->head) - (x->head < y->head);
}

static void place_in_loops(placing *p, uint32_t f)
{
    const ft_function *function = function_at(p, f);
    const ft_graph *graph = ft_flow_graph(p->flow, f);
    FT_VEC(loop) loops = {0};
    for (uint32_t head = 0; head < function->blocks.len; head++) {
        loop l = {.head = head, .blocks = ft_calloc(graph->words, sizeof *l.blocks)};
        if (!ft_graph_loop(graph, function, head, l.blocks)) {
            free(l.blocks);
            continue;
        }
        for (uint32_t b = 0; b < function->blocks.len; b++) l.size += ft_bits_has(l.blocks, b);
        ft_vec_push(&loops, l);
    }
    if (loops.len) qsort(loops.data, loops.len, sizeof *loops.data, by_size);
    for (size_t i = 0; i < loops.len; i++) place_in_loop(p, f, &loops.data[i]);
    for (size_t i = 0; i < loops.len; i++) free(loops.data[i].blocks);
    ft_vec_release(&loops);
}

/* ---- functions ---- */

static void visit(placing *p, uint32_t f)
{
    const ft_function *function = function_at(p, f);
    if (p->visits[f]) return;
    p->visits[f] = 1;
    for (uint32_t i = 0; i < function->instructions.len; i++) {
        uint32_t n = 0;
        ft_code code = (ft_code)function->instructions.data[i].code;
        const uint32_t *targets = is_call(code) ? ft_flow_targets(p->flow, f, i, &n) : NULL;
        for (uint32_t k = 0; k < n; k++) visit(p, targets[k]);
    }
    place_explicit(p, f);
    if (ft_flow_effects(p->flow, f)->recursive && p->kinds[f]) place(p, f, 0);
    place_in_loops(p, f);
    p->marks[f] = !has_way(p, f, NULL, 0, FT_NO_BLOCK, false);
    p->rounds[f] = !has_way(p, f, NULL, 0, FT_NO_BLOCK, true);
    p->visits[f] = 2;
}

static void find_kinds(placing *p)
{
    uint32_t n = (uint32_t)p->program->functions.len;
    for (uint32_t f = 0; f < n; f++)
        for (uint32_t g = 0; g < n; g++)
            for (size_t i = 0; ft_bits_has(ft_flow_effects(p->flow, f)->callees, g) &&
                               i < function_at(p, g)->instructions.len;
                 i++)
                p->kinds[f] |= kind_of((ft_code)function_at(p, g)->instructions.data[i].code);
}

static int by_place(const void *a, const void *b)
{
    const cover_marker *x = a, *y = b;
    uint64_t i = key_of(x->function, x->instruction), k = key_of(y->function, y->instruction);
    return (i > k) - (i < k);
}

void cover_markers_init(cover_markers *markers, const ft_flow *flow)
{
    FT_REQUIRE(markers && flow);
    *markers = (cover_markers){0};
    placing p = {.to = markers, .flow = flow, .program = ft_flow_program(flow)};
    uint32_t n = (uint32_t)p.program->functions.len;
    p.kinds = ft_calloc(n + 1, sizeof *p.kinds);
    p.marks = ft_calloc(n + 1, sizeof *p.marks);
    p.rounds = ft_calloc(n + 1, sizeof *p.rounds);
    p.visits = ft_calloc(n + 1, sizeof *p.visits);
    find_kinds(&p);
    for (uint32_t f = 0; f < n; f++) visit(&p, f);
    if (markers->all.len)
        qsort(markers->all.data, markers->all.len, sizeof *markers->all.data, by_place);
    free(p.kinds);
    free(p.marks);
    free(p.rounds);
    free(p.visits);
}

void cover_markers_release(cover_markers *markers)
{
    ft_vec_release(&markers->all);
    ft_map_release(&markers->places);
}
