#include "symbolic/meet.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/flow/graph.h"
#include "symbolic/epoch.h"
#include "symbolic/internal.h"
#include "symbolic/meet_faults.h"

#ifdef FT_FAULTS
meet_fault_kind meet_fault;
#endif

/* ---- alike ---- */

static bool has_address(value a, value b)
{
    return a.object || b.object;
}

static bool is_equal(value a, value b)
{
    return a.term == b.term && a.object == b.object && (a.term || a.bits == b.bits);
}

static bool has_frames(const sym_thread *a, const sym_thread *b)
{
    if (a->frames.len != b->frames.len || a->values.len != b->values.len ||
        a->stack.len != b->stack.len || a->inputs.len != b->inputs.len)
        return false;
    for (size_t i = 0; i < a->frames.len; i++) {
        const frame *x = &a->frames.data[i], *y = &b->frames.data[i];
        if (x->function != y->function || x->at != y->at || x->registers != y->registers ||
            x->objects != y->objects || x->once != y->once)
            return false;
    }
    for (size_t i = 0; i < a->stack.len; i++)
        if (a->stack.data[i] != b->stack.data[i]) return false;
    for (size_t i = 0; i < a->inputs.len; i++)
        if (a->inputs.data[i].name != b->inputs.data[i].name ||
            a->inputs.data[i].n != b->inputs.data[i].n)
            return false;
    return true;
}

static bool has_decided(const sym_thread *a, const sym_thread *b)
{
    if (a->decided.n != b->decided.n || !a->open != !b->open) return false;
    for (uint32_t i = 0; i < a->decided.n; i++)
        if (a->decided.of[i] != b->decided.of[i]) return false;
    return true;
}

/* All of a thread but the content of its registers. */
static bool stands_alike(const sym_thread *a, const sym_thread *b)
{
    return a->exists == b->exists && a->begun == b->begun && a->ended == b->ended &&
           a->detached == b->detached && a->joined == b->joined && a->returned == b->returned &&
           a->second == b->second && a->outcome == b->outcome && a->finishes == b->finishes &&
           a->next_base == b->next_base && !a->failing && !b->failing && !a->stands && !b->stands &&
           !a->circles && !b->circles && is_equal(a->result, b->result) &&
           is_equal(a->exit_code, b->exit_code) && has_frames(a, b) && has_decided(a, b);
}

static bool has_threads(const ft_sym_state *a, const ft_sym_state *b, uint32_t t)
{
    if (a->threads.len != b->threads.len) return false;
    for (uint32_t i = 0; i < a->threads.len; i++) {
        const sym_thread *x = sym_thread_of(a, i), *y = sym_thread_of(b, i);
        if (!x->own != !y->own || !stands_alike(x, y)) return false;
        for (size_t k = 0; k < x->values.len; k++) {
            value v = x->values.data[k], w = y->values.data[k];
            if (!is_equal(v, w) &&
                (i != t || (has_address(v, w) && v.object != w.object) || (v.object & SYM_HANDLE)))
                return false;
        }
    }
    return true;
}

static bool is_same_sync(const sync_object *a, const sync_object *b)
{
    return a->address == b->address && a->kind == b->kind && a->mutex_kind == b->mutex_kind &&
           a->destroyed == b->destroyed && a->owner == b->owner && a->count == b->count &&
           a->total == b->total && a->readers == b->readers && a->waiters == b->waiters &&
           a->notified == b->notified && a->arrived == b->arrived &&
           memcmp(a->reads, b->reads, sizeof a->reads) == 0;
}

static uint32_t pointee(const page *p, uint32_t at)
{
    return p && p->pointees ? p->pointees[at / 8] : 0;
}

/* Do the pages hold addresses of the same objects? */
static bool has_pointees(const content *a, const content *b)
{
    for (uint32_t p = 0; p < a->n; p++) {
        const page *x = a->pages[p], *y = b->pages[p];
        if (x == y || !((x && x->pointees) || (y && y->pointees))) continue;
        for (uint32_t k = 0; k < PAGE; k += 8)
            if (k / 8 < (x ? x : y)->size / 8 && pointee(x, k) != pointee(y, k)) return false;
    }
    return true;
}

static bool has_objects(const ft_sym_state *a, const ft_sym_state *b)
{
    if (a->objects.len != b->objects.len || a->syncs.len != b->syncs.len) return false;
    for (size_t i = 0; i < a->objects.len; i++) {
        const object *x = &a->objects.data[i], *y = &b->objects.data[i];
        if (x->base != y->base || x->size != y->size || x->bytes != y->bytes ||
            x->freed != y->freed || !x->content != !y->content || x->stack_of != y->stack_of ||
            x->heap != y->heap || x->maker.function != y->maker.function ||
            x->maker.instruction != y->maker.instruction)
            return false;
        if (x->content && x->content != y->content && !has_pointees(x->content, y->content))
            return false;
    }
    for (size_t i = 0; i < a->syncs.len; i++)
        if (!is_same_sync(&a->syncs.data[i], &b->syncs.data[i])) return false;
    return true;
}

bool ft_sym_is_alike(const ft_sym_state *a, const ft_sym_state *b, uint32_t t)
{
    return a->end == FT_SYM_GOING && b->end == FT_SYM_GOING && !a->unknown && !b->unknown &&
           a->section == b->section && a->old == b->old && has_threads(a, b, t) &&
           has_objects(a, b);
}

/* Is the register a parameter of a block to which a later one leads back? */
static bool is_counter(const ft_function *f, uint32_t reg)
{
    uint32_t n, b = 0;
    while (b < f->blocks.len &&
           reg - f->blocks.data[b].parameters >= f->blocks.data[b].n_parameters)
        b++;
    for (uint32_t from = b; from < f->blocks.len; from++) {
        const ft_target *targets = ft_block_targets(f, from, &n);
        for (uint32_t i = 0; i < n; i++)
            if (targets[i].block == b) return true;
    }
    return false;
}

int ft_sym_compare_rounds(const ft_sym_state *a, const ft_sym_state *b, uint32_t t)
{
    const sym_thread *x = sym_thread_of(a, t), *y = sym_thread_of(b, t);
    for (size_t d = 0; d < x->frames.len && d < y->frames.len; d++) {
        const frame *f = &x->frames.data[d], *g = &y->frames.data[d];
        if (f->function != g->function || f->registers != g->registers) return 0;
        for (uint32_t i = 0; i < f->function->registers.len; i++) {
            value v = x->values.data[f->registers + i], w = y->values.data[f->registers + i];
            if (!v.term && !w.term && v.bits != w.bits && is_counter(f->function, i))
                return v.bits < w.bits ? -1 : 1;
        }
    }
    return 0;
}

/* ---- registers that follow from others ---- */

/* Arithmetic that never goes wrong. */
static bool is_pure(const ft_instruction *in)
{
    static const bool PURE[FT_CODES] = {
        [FT_CODE_ADD] = true,  [FT_CODE_SUB] = true, [FT_CODE_MUL] = true, [FT_CODE_AND] = true,
        [FT_CODE_OR] = true,   [FT_CODE_XOR] = true, [FT_CODE_EQ] = true,  [FT_CODE_NE] = true,
        [FT_CODE_ULT] = true,  [FT_CODE_ULE] = true, [FT_CODE_SLT] = true, [FT_CODE_SLE] = true,
        [FT_CODE_ZEXT] = true, [FT_CODE_SEXT] = true};
    return PURE[in->code] && in->result != FT_NO_REGISTER;
}

/* The first instruction of the block in which the frame stands. */
static uint32_t block_begin(const frame *f)
{
    uint32_t b = 0;
    const ft_block *blocks = f->function->blocks.data;
    while (f->at - blocks[b].instructions >= blocks[b].n_instructions) b++;
    return blocks[b].instructions;
}

/* Is the instruction a load that reads the same in all executions that a and b stand for: from one
 * place, of which the frame's block has written nothing since? */
static bool is_same_load(const ft_sym_state *a, const ft_sym_state *b, uint32_t t, uint32_t at)
{
    const frame *f = &sym_thread_of(a, t)->frames.data[sym_thread_of(a, t)->frames.len - 1];
    const ft_instruction *in = &f->function->instructions.data[at];
    if (in->code != FT_CODE_LOAD) return false;
    for (uint32_t i = at + 1; i < f->at; i++) {
        const ft_instruction *later = &f->function->instructions.data[i];
        if (later->code != FT_CODE_LOAD && !is_pure(later)) return false;
    }
    const ft_operand *place = &f->function->operands.data[in->operands];
    if (place->kind != FT_OPERAND_REGISTER) return true;
    value x = sym_thread_of(a, t)->values.data[f->registers + place->index];
    value y = sym_thread_of(b, t)->values.data[f->registers + place->index];
    return !x.term && is_equal(x, y);
}

/* Where a block has computed a register before the frame's instruction, it is still what its
 * operands make it: those have not changed since. Calls `on` for such instructions of the thread's
 * innermost frame, which is alike in both states. */
static void visit_derived(const ft_sym_state *a, const ft_sym_state *b, uint32_t t, bool forward,
                          void (*on)(void *context, uint32_t instruction), void *context)
{
    const frame *f = &sym_thread_of(a, t)->frames.data[sym_thread_of(a, t)->frames.len - 1];
    uint32_t first = block_begin(f), n = f->at - first;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = forward ? first + i : f->at - 1 - i;
        if (is_pure(&f->function->instructions.data[at]) || is_same_load(a, b, t, at))
            on(context, at);
    }
}

typedef struct keeping {
    const ft_function *function;
    uint64_t *bits;
} keeping;

static void keep_operands(void *context, uint32_t at)
{
    const keeping *k = context;
    const ft_instruction *in = &k->function->instructions.data[at];
    if (!ft_bits_has(k->bits, in->result)) return;
    for (uint32_t i = in->operands; i < in->operands + in->n_operands; i++)
        if (k->function->operands.data[i].kind == FT_OPERAND_REGISTER)
            ft_bits_add(k->bits, k->function->operands.data[i].index);
}

void ft_sym_forget(ft_sym_state *m, uint32_t t)
{
    sym_thread *th = sym_thread_of(m, t);
    for (size_t i = 0; i < th->frames.len; i++) {
        const frame *f = &th->frames.data[i];
        bool calls = i + 1 < th->frames.len;
        uint64_t *bits = sym_live_registers(m->world, f, calls);
        keeping k = {f->function, bits};
        if (!calls) visit_derived(m, m, t, false, keep_operands, &k);
        for (uint32_t r = 0; r < f->function->registers.len; r++)
            if (!ft_bits_has(bits, r)) th->values.data[f->registers + r] = (value){0};
        free(bits);
    }
}

static void set_bit(void *context, uint32_t at)
{
    const keeping *k = context;
    ft_bits_add(k->bits, k->function->instructions.data[at].result);
}

/* The registers of the thread's innermost frame that follow from others, as bits, which the caller
 * frees; NULL: the thread has ended. */
static uint64_t *derived_of(const ft_sym_state *a, const ft_sym_state *b, uint32_t t)
{
    const sym_thread *th = sym_thread_of(a, t);
    if (!th->frames.len) return NULL;
    const ft_function *f = th->frames.data[th->frames.len - 1].function;
    keeping k = {f, ft_calloc(f->registers.len / 64 + 1, sizeof *k.bits)};
    visit_derived(a, b, t, true, set_bit, &k);
    return k.bits;
}

/* Computes them anew, of content that has changed. */
static void derive_all(ft_sym_state *m, uint32_t t, const uint64_t *derived)
{
    if (!derived) return;
    const frame f = sym_thread_of(m, t)->frames.data[sym_thread_of(m, t)->frames.len - 1];
    for (uint32_t at = block_begin(&f); at < f.at; at++) {
        const ft_instruction *in = &f.function->instructions.data[at];
        if ((is_pure(in) || in->code == FT_CODE_LOAD) && ft_bits_has(derived, in->result))
            sym_do_again(m, t, at);
    }
}

/* ---- what differs ---- */

typedef struct spot {
    uint32_t object; /* FT_NO_ID: a register of the thread */
    uint64_t at;
    uint8_t width;
} spot;

typedef FT_VEC(spot) spots;

/* Is it a register that follows from others? */
static bool follows(const ft_sym_state *m, uint32_t t, const spot *s, const uint64_t *derived)
{
    if (!derived) return false;
    const frame *f = &sym_thread_of(m, t)->frames.data[sym_thread_of(m, t)->frames.len - 1];
    return s->object == FT_NO_ID && s->at >= f->registers &&
           ft_bits_has(derived, (uint32_t)(s->at - f->registers));
}

static value content_at(const ft_sym_state *m, uint32_t t, const spot *s)
{
    if (s->object == FT_NO_ID) return sym_thread_of(m, t)->values.data[s->at];
    return sym_cell(m, s->object, s->at, s->width);
}

static void put(ft_sym_state *m, uint32_t t, const spot *s, value v)
{
    if (s->object == FT_NO_ID)
        sym_thread_of(m, t)->values.data[s->at] = v;
    else
        sym_set_cell(m, s->object, s->at, s->width, v);
}

/* The cell around a byte that differs: an address, or of the width with which it is accessed. */
static spot cell_around(const ft_sym_state *m, uint32_t number, uint64_t byte)
{
    const object *o = &m->objects.data[number];
    uint64_t n = sym_cell_size(m, o, byte), whole = byte / 8 * 8;
    bool address = whole + 8 <= o->size && sym_cell(m, number, whole, 64).object;
    if (address) n = 8;
    return (spot){number, byte / n * n, (uint8_t)(8 * n)};
}

static void list_memory(const ft_sym_state *a, const ft_sym_state *b, uint32_t number, spots *all)
{
    const object *x = &a->objects.data[number], *y = &b->objects.data[number];
    if (x->constant || !x->content || x->content == y->content) return;
    for (uint64_t at = 0; at < x->size;) {
        if (at % PAGE == 0 && x->content->pages[at / PAGE] == y->content->pages[at / PAGE]) {
            at += PAGE;
            continue;
        }
        spot s = {number, at, 8};
        if (!is_equal(sym_cell(a, number, at, 8), sym_cell(b, number, at, 8))) {
            s = cell_around(a, number, at);
            ft_vec_push(all, s);
        }
        at = s.at + s.width / 8;
    }
}

static void list_differences(const ft_sym_state *a, const ft_sym_state *b, uint32_t t, spots *all)
{
    const sym_thread *x = sym_thread_of(a, t), *y = sym_thread_of(b, t);
    for (uint32_t i = 0; i < a->objects.len; i++) list_memory(a, b, i, all);
    for (size_t d = 0; d < x->frames.len; d++) {
        const frame *f = &x->frames.data[d];
        for (uint32_t i = 0; i < f->function->registers.len; i++) {
            uint64_t at = f->registers + i;
            if (!is_equal(x->values.data[at], y->values.data[at]))
                ft_vec_push(all, (spot){FT_NO_ID, at, f->function->registers.data[i].width});
        }
    }
}

/* ---- one state of two ---- */

static size_t common_constraints(const ft_sym_state *a, const ft_sym_state *b)
{
    size_t n = 0;
    while (n < a->constraints.len && n < b->constraints.len &&
           a->constraints.data[n].term == b->constraints.data[n].term)
        n++;
    return n;
}

/* Counts of what both ways did. */
static void join_counts(ft_sym_state *a, const ft_sym_state *b, uint32_t t)
{
    sym_thread *x = sym_thread_of(a, t);
    const sym_thread *y = sym_thread_of(b, t);
    if (y->steps > x->steps) x->steps = y->steps;
    if (y->changes > x->changes) x->changes = y->changes;
    x->is_printed = false;
    if (b->instructions > a->instructions) a->instructions = b->instructions;
    if (b->reads > a->reads) a->reads = b->reads;
    for (size_t i = 0; i < a->objects.len; i++) {
        a->objects.data[i].read |= b->objects.data[i].read;
        a->objects.data[i].written |= b->objects.data[i].written;
    }
}

void ft_sym_decide_again(ft_sym_state *m, uint32_t t)
{
    sym_thread *th = sym_thread_of(m, t);
    if (!th->open) return;
    free(th->open);
    th->open = NULL;
    sym_run(m, t);
}

static value any(ft_sym_world *w, uint8_t width)
{
    char name[40];
    snprintf(name, sizeof name, "round.%zu", w->inputs.len);
    ft_symbol symbol = ft_sym_world_unknown(w, name, width);
    ft_sort sort = width == 1 ? FT_BOOL_SORT : (ft_sort){FT_SORT_BITVEC, width};
    return (value){.term = ft_term_symbol(w->pool, symbol, sort)};
}

void ft_sym_merge(ft_sym_state *a, const ft_sym_state *b, uint32_t t, const ft_term *ways)
{
    ft_sym_world *w = a->world;
    spots all = {0};
    uint64_t *derived = derived_of(a, b, t);
    list_differences(a, b, t, &all);
    for (size_t i = 0; i < all.len; i++) {
        const spot *s = &all.data[i];
        value x = content_at(a, t, s), y = content_at(b, t, s);
        if (follows(a, t, s, derived)) continue;
        value v = ways ? sym_choice(w, ways[0], x, y, s->width) : any(w, s->width);
        if (meet_fault_is(MEET_FAULT_FIRST_CONTENT) || (!ways && meet_fault_is(MEET_FAULT_KNOWN)))
            v = x;
        v.object = x.object;
        put(a, t, s, v);
    }
    if (!meet_fault_is(MEET_FAULT_FIRST_CONDITIONS)) a->constraints.len = common_constraints(a, b);
    ft_term either = ways ? sym_apply(w, FT_OP_OR, ways, 2, 0, 0) : FT_NO_TERM;
    if (ways && either != sym_truth(w, sym_number(1)) && sym_not(w, ways[0]) != ways[1])
        ft_vec_push(&a->constraints, (constraint){either, t, sym_thread_of(a, t)->steps});
    join_counts(a, b, t);
    derive_all(a, t, derived);
    free(derived);
    ft_vec_release(&all);
    if (!meet_fault_is(MEET_FAULT_FIRST_BRANCH)) ft_sym_decide_again(a, t);
}

/* ---- all rounds of a loop ---- */

static bool is_any(const ft_sym_world *w, value v, ft_symbol first)
{
    if (!v.term) return false;
    ft_term_node node = ft_term_get(w->pool, v.term);
    return node.op == FT_OP_SYMBOL && node.symbol >= first;
}

bool ft_sym_generalise(ft_sym_state *a, const ft_sym_state *b, uint32_t t, ft_symbol first)
{
    spots all = {0};
    bool changed = false;
    uint64_t *derived = derived_of(a, b, t);
    list_differences(a, b, t, &all);
    for (size_t i = 0; i < all.len; i++) {
        const spot *s = &all.data[i];
        value x = content_at(a, t, s);
        if (follows(a, t, s, derived) || is_any(a->world, x, first)) continue;
        if (meet_fault_is(MEET_FAULT_FIRST_ROUND) && s->object != FT_NO_ID) continue;
        value v = any(a->world, s->width);
        v.object = x.object;
        put(a, t, s, v);
        changed = true;
    }
    if (changed) derive_all(a, t, derived);
    join_counts(a, b, t);
    ft_vec_release(&all);
    free(derived);
    return changed;
}

void ft_sym_forget_conditions(ft_sym_state *m, size_t n)
{
    if (n < m->constraints.len) m->constraints.len = n;
}

/* ---- what a state says ---- */

ft_term ft_sym_arm(const ft_sym_state *m, uint32_t t, uint32_t arm)
{
    const branch *open = sym_thread_of(m, t)->open;
    FT_REQUIRE(open && arm < open->n);
    return open->term[arm];
}

uint64_t ft_sym_progress(const ft_sym_state *m)
{
    return m->instructions;
}
