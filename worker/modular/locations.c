#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/strbuf.h"
#include "modular/steps.h"
#include "program/flow/bits.h"
#include "program/flow/graph.h"

void mod_refuse(modular *m, const char *why)
{
    if (!m->refused) m->refused = why;
}

/* ---- threads on their way ---- */

mod_run mod_copy(const mod_run *run)
{
    mod_run copy = *run;
    memset(&copy.frames, 0, sizeof copy.frames);
    memset(&copy.locals, 0, sizeof copy.locals);
    memset(&copy.updates, 0, sizeof copy.updates);
    for (size_t i = 0; i < run->frames.len; i++) {
        mod_frame frame = run->frames.data[i];
        size_t size = (frame.f->registers.len + 1) * sizeof *frame.regs;
        mod_value *regs = ft_alloc(size);
        memcpy(regs, frame.regs, size);
        frame.regs = regs;
        ft_vec_push(&copy.frames, frame);
    }
    for (size_t i = 0; i < run->locals.len; i++) ft_vec_push(&copy.locals, run->locals.data[i]);
    for (size_t i = 0; i < run->updates.len; i++) ft_vec_push(&copy.updates, run->updates.data[i]);
    return copy;
}

void mod_run_release(mod_run *run)
{
    for (size_t i = 0; i < run->frames.len; i++) free(run->frames.data[i].regs);
    ft_vec_release(&run->frames);
    ft_vec_release(&run->locals);
    ft_vec_release(&run->updates);
}

/* ---- which registers are live ---- */

static void use(uint64_t *live, const ft_function *f, uint32_t first, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const ft_operand *o = &f->operands.data[first + i];
        if (o->kind == FT_OPERAND_REGISTER) ft_bits_add(live, o->index);
    }
}

static void drop(uint64_t *live, uint32_t reg)
{
    if (reg != FT_NO_REGISTER) live[reg / 64] &= ~(UINT64_C(1) << reg % 64);
}

/* From what is live behind instruction `in` to what is live before it. */
static void step_back(uint64_t *live, const ft_function *f, const ft_instruction *in)
{
    drop(live, in->result);
    use(live, f, in->operands, in->n_operands);
    for (uint32_t t = 0; t < in->n_targets; t++) {
        const ft_target *target = &f->targets.data[in->targets + t];
        use(live, f, target->operands, target->n_operands);
    }
}

/* A parameter is assigned on the way to its block; on the way to another block it stays live. */
static void join_without_parameters(uint64_t *live, const ft_function *f, uint64_t *const *begins,
                                    uint32_t block)
{
    const ft_block *next = &f->blocks.data[block];
    for (uint32_t r = 0; r < f->registers.len; r++) {
        bool is_parameter = r - next->parameters < next->n_parameters;
        if (!is_parameter && ft_bits_has(begins[block], r)) ft_bits_add(live, r);
    }
}

/* What is live before the instruction `at` of the block, from the sets of the blocks behind it. */
static void live_at(const ft_function *f, uint64_t *const *begins, uint32_t block, uint32_t at,
                    uint64_t *live, uint32_t words)
{
    uint32_t n;
    const ft_block *b = &f->blocks.data[block];
    const ft_target *targets = ft_block_targets(f, block, &n);
    memset(live, 0, words * sizeof *live);
    for (uint32_t t = 0; t < n; t++) join_without_parameters(live, f, begins, targets[t].block);
    for (uint32_t i = b->n_instructions; i-- > at;)
        step_back(live, f, &f->instructions.data[b->instructions + i]);
}

/* Parameters of a block count as live at its begin where they are used in it. */
static uint64_t *const *begins_of(modular *m, const ft_function *f)
{
    bool fresh, changed = true;
    uint32_t words = ft_bits_words((uint32_t)f->registers.len);
    uint64_t first = *ft_map_slot(&m->live, f->symbol, m->sets.len, &fresh);
    if (!fresh) return m->sets.data + first;
    for (size_t b = 0; b < f->blocks.len; b++)
        ft_vec_push(&m->sets, ft_calloc(words, sizeof(uint64_t)));
    uint64_t *live = ft_calloc(words, sizeof *live);
    while (changed) {
        changed = false;
        for (uint32_t b = (uint32_t)f->blocks.len; b-- > 0;) {
            live_at(f, m->sets.data + first, b, 0, live, words);
            changed |= ft_bits_join(m->sets.data[first + b], live, words);
        }
    }
    free(live);
    return m->sets.data + first;
}

/* Forgets what the frame no longer needs; in a caller the result is still to come. */
static void forget_dead(modular *m, mod_frame *frame, bool is_caller, uint32_t result)
{
    uint32_t words = ft_bits_words((uint32_t)frame->f->registers.len);
    uint64_t *live = ft_calloc(words, sizeof *live);
    live_at(frame->f, begins_of(m, frame->f), frame->block, frame->at, live, words);
    if (is_caller) drop(live, result);
    for (uint32_t r = 0; r < frame->f->registers.len; r++)
        if (!ft_bits_has(live, r)) frame->regs[r] = (mod_value){.kind = MOD_NOTHING};
    free(live);
}

/* ---- keys ---- */

static void put(ft_strbuf *key, uint64_t number)
{
    ft_strbuf_add(key, (const char *)&number, sizeof number);
}

/* The value in the key; a number becomes the next slot. */
static void take_value(modular *m, mod_value *v, uint8_t width, ft_strbuf *key, mod_terms *slots,
                       mod_location *l)
{
    put(key, v->kind);
    if (v->kind != MOD_NUMBER) {
        put(key, v->index);
        put(key, v->offset);
        return;
    }
    if (width < 64) v->bare = true;
    put(key, (uint64_t)v->bare << 8 | width);
    ft_vec_push(slots, v->term);
    v->term = mod_slot_term(m, 0, width, (uint32_t)l->widths.len);
    ft_vec_push(&l->widths, width);
}

static int by_cell(const void *a, const void *b)
{
    const mod_cell *x = &((const mod_local *)a)->cell, *y = &((const mod_local *)b)->cell;
    if (x->object != y->object) return x->object < y->object ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static void take_all(modular *m, mod_location *l, ft_strbuf *key, mod_terms *slots)
{
    mod_run *run = &l->run;
    put(key, run->class);
    put(key, run->waking && !mod_fault_is(MOD_FAULT_WAIT_AGAIN));
    put(key, run->frames.len);
    for (size_t i = 0; i < run->frames.len; i++) {
        mod_frame *f = &run->frames.data[i];
        put(key, f->f->symbol);
        put(key, (uint64_t)f->block << 32 | f->at);
        for (uint32_t r = 0; r < f->f->registers.len; r++) {
            if (f->regs[r].kind == MOD_NOTHING) continue;
            put(key, r);
            take_value(m, &f->regs[r], f->f->registers.data[r].width, key, slots, l);
        }
        put(key, UINT64_MAX);
    }
    if (run->locals.len)
        qsort(run->locals.data, run->locals.len, sizeof *run->locals.data, by_cell);
    for (size_t i = 0; i < run->locals.len; i++) {
        mod_local *own = &run->locals.data[i];
        put(key, own->cell.object);
        put(key, own->cell.offset);
        take_value(m, &own->value, own->cell.width, key, slots, l);
    }
}

static uint32_t keep(modular *m, mod_location *l, const ft_strbuf *key)
{
    enum { MOST_LOCATIONS = 220 };
    uint32_t id = ft_intern_add(&m->location_keys, ft_strbuf_text(key), key->len);
    if (id < m->locations.len) {
        mod_run_release(&l->run);
        ft_vec_release(&l->widths);
        return id;
    }
    assert(id == m->locations.len);
    ft_vec_push(&m->locations, *l);
    if (m->locations.len > MOST_LOCATIONS) mod_refuse(m, "more places than a proof may have");
    return id;
}

uint32_t mod_location_of(modular *m, mod_run *run, mod_terms *slots)
{
    ft_strbuf key = {0};
    mod_location l = {.class = run->class, .run = mod_copy(run)};
    l.run.updates.len = 0;
    l.run.guard = FT_NO_TERM;
    l.run.moved = false;
    l.run.fresh = 0;
    l.run.joined = l.run.created = MOD_NOWHERE;
    for (size_t i = 0; i < l.run.frames.len; i++) {
        bool is_caller = i + 1 < l.run.frames.len;
        forget_dead(m, &l.run.frames.data[i], is_caller,
                    is_caller ? l.run.frames.data[i + 1].result : FT_NO_REGISTER);
    }
    take_all(m, &l, &key, slots);
    uint32_t id = keep(m, &l, &key);
    ft_strbuf_release(&key);
    return id;
}

uint32_t mod_end_of(modular *m, uint32_t class)
{
    ft_strbuf key = {0};
    mod_location l = {.class = class, .ended = true, .run = {.class = class}};
    put(&key, class);
    ft_strbuf_puts(&key, "end");
    uint32_t id = keep(m, &l, &key);
    ft_strbuf_release(&key);
    return id;
}

uint32_t mod_class_of(modular *m, const ft_function *f, mod_value argument)
{
    uint64_t words[] = {f->symbol, argument.kind, argument.index, argument.offset};
    if (mod_fault_is(MOD_FAULT_CLASS_ARGUMENT)) words[2] = words[3] = 0;
    uint32_t id = ft_intern_add(&m->class_keys, (const char *)words, sizeof words);
    if (id < m->classes.len) return id;
    ft_vec_push(&m->classes, (mod_class){0});
    mod_run run = {.class = id, .joined = MOD_NOWHERE, .created = MOD_NOWHERE};
    mod_frame frame = {.f = f, .result = FT_NO_REGISTER};
    frame.regs = ft_calloc(f->registers.len + 1, sizeof *frame.regs);
    const ft_block *b = &f->blocks.data[0];
    if (b->n_parameters) frame.regs[b->parameters] = argument;
    ft_vec_push(&run.frames, frame);
    mod_terms slots = {0};
    uint32_t entry = mod_location_of(m, &run, &slots);
    ft_vec_release(&slots);
    mod_run_release(&run);
    m->classes.data[id].entry = entry;
    return id;
}
