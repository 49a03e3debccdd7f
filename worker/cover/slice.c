#include "cover/slice.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "cover/faults.h"
#include "cover/live.h"

#ifdef FT_FAULTS
cover_fault_kind cover_fault;
#endif

/* The next instruction of the slice in a thread. */
typedef struct head {
    uint32_t frame; /* FT_NO_ID: the thread's end */
    uint32_t instruction;
} head;

typedef struct slicer {
    const ft_sym_state *state;
    const cover_trace *trace;
    const cover_control *control;
    cover_live live;
    head heads[FT_SYM_THREADS];
    cover_terms found;     /* backward */
    FT_VEC(uint64_t) bits; /* scratch: a set of abstract objects */
    FT_VEC(uint64_t) side; /* scratch: a set of blocks */
} slicer;

/* ---- the program at an entry ---- */

static const ft_function *function_of(const cover_trace *t, uint32_t frame)
{
    return &t->control->program->functions.data[t->frames.data[frame].function];
}

static const ft_instruction *instruction_at(const cover_trace *t, const cover_entry *e)
{
    return &function_of(t, e->frame)->instructions.data[e->instruction];
}

static const ft_operand *operand_of(const cover_trace *t, const cover_entry *e, uint32_t i)
{
    return &function_of(t, e->frame)->operands.data[instruction_at(t, e)->operands + i];
}

static uint32_t block_of(const slicer *s, uint32_t frame, uint32_t instruction)
{
    return s->control->block_of[s->trace->frames.data[frame].function][instruction];
}

static void use(slicer *s, uint32_t frame, const ft_operand *o)
{
    if (o->kind == FT_OPERAND_REGISTER) cover_live_add(&s->live, frame, o->index);
}

static void use_operand(slicer *s, const cover_entry *e, uint32_t i)
{
    use(s, e->frame, operand_of(s->trace, e, i));
}

static void use_operands(slicer *s, const cover_entry *e)
{
    for (uint32_t i = 0; i < instruction_at(s->trace, e)->n_operands; i++) use_operand(s, e, i);
}

static void set_head(slicer *s, const cover_entry *e)
{
    s->heads[e->thread] = (head){e->frame, e->instruction};
}

/* The decisions of the entry are conditions of the path. */
static void keep_terms(slicer *s, const cover_entry *e)
{
    for (uint32_t i = e->n_terms; i-- > 0;)
        ft_vec_push(&s->found, s->trace->terms.data[e->terms + i]);
}

/* ---- what a side may write ---- */

static uint32_t abstract_of(const slicer *s, uint32_t object)
{
    ft_sym_made made = ft_sym_object_made(s->state, object);
    if (made.symbol != FT_NO_SYMBOL) return ft_flow_global(s->control->flow, made.symbol);
    return object < s->trace->abstracts.len ? s->trace->abstracts.data[object] : FT_NO_ABSTRACT;
}

static bool set_is_live(slicer *s, const uint64_t *abstracts)
{
    for (size_t i = 0; i < s->live.bytes.len; i++) {
        uint32_t a = abstract_of(s, s->live.bytes.data[i].object);
        if (a == FT_NO_ABSTRACT || ft_bits_has(abstracts, a)) return true;
    }
    return false;
}

/* A store at a constant place of a global: its bytes alone. Of a thread's own global those of that
 * thread. */
static bool global_is_live(const slicer *s, uint32_t thread, const ft_operand *at, uint64_t n)
{
    for (size_t i = 0; i < s->live.bytes.len; i++) {
        const cover_range *r = &s->live.bytes.data[i];
        ft_sym_made made = ft_sym_object_made(s->state, r->object);
        if (made.symbol == at->index && (made.thread == FT_NO_ID || made.thread == thread) &&
            r->from < at->value + n && at->value < r->to)
            return true;
    }
    return false;
}

/* The operand with the address that the instruction writes; NULL: it writes no memory. */
static const ft_operand *written_by(const ft_function *f, const ft_instruction *in)
{
    const ft_operand *all = &f->operands.data[in->operands];
    switch (in->code) {
    case FT_CODE_STORE:
    case FT_CODE_ATOMIC_STORE:
        return &all[1];
    case FT_CODE_COPY:
    case FT_CODE_MOVE:
    case FT_CODE_FILL:
    case FT_CODE_ATOMIC_UPDATE:
    case FT_CODE_ATOMIC_SWAP:
        return &all[0];
    default:
        return NULL;
    }
}

/* May the instruction write a live byte, whatever the inputs are? */
static bool may_write(slicer *s, uint32_t thread, uint32_t function, uint32_t instruction)
{
    const ft_function *f = &s->control->program->functions.data[function];
    const ft_instruction *in = &f->instructions.data[instruction];
    const ft_operand *at = written_by(f, in);
    if (!at) return false;
    bool range = in->code == FT_CODE_COPY || in->code == FT_CODE_MOVE || in->code == FT_CODE_FILL;
    if (at->kind == FT_OPERAND_ADDRESS && !range)
        return global_is_live(s, thread, at, (in->width + 7u) / 8);
    s->bits.len = 0;
    ft_vec_reserve(&s->bits, ft_flow_words(s->control->flow));
    ft_flow_accesses(s->control->flow, function, instruction, true, s->bits.data);
    return set_is_live(s, s->bits.data);
}

/* Is it live how often the thread has left the loop? */
static bool loop_is_counted(const slicer *s, uint32_t thread, const ft_loop *l)
{
    for (uint32_t i = 0; l && i < l->n_cells; i++)
        if (cover_live_has_counter(&s->live, thread, FT_LOOP_NAME | (l->cells + i))) return true;
    return false;
}

static bool function_may_write(slicer *s, uint32_t thread, uint32_t function)
{
    const ft_function *f = &s->control->program->functions.data[function];
    for (uint32_t b = 0; b < f->blocks.len && s->control->loops; b++)
        if (loop_is_counted(s, thread, ft_loop_at(s->control->loops, function, b))) return true;
    for (uint32_t i = 0; i < f->instructions.len; i++) {
        const ft_instruction *in = &f->instructions.data[i];
        if (may_write(s, thread, function, i)) return true;
        if (in->code == FT_CODE_INPUT && cover_live_has_counter(&s->live, thread, in->extra))
            return true;
    }
    return false;
}

/* May what the instruction calls write something live? */
static bool call_may_write(slicer *s, uint32_t thread, uint32_t function, uint32_t instruction)
{
    uint32_t n, functions = (uint32_t)s->control->program->functions.len;
    const uint32_t *targets = ft_flow_targets(s->control->flow, function, instruction, &n);
    if (cover_fault_is(COVER_FAULT_NO_CALL_WRITE)) return false;
    for (uint32_t g = 0; g < functions; g++) {
        bool called = false;
        for (uint32_t k = 0; k < n && !called; k++)
            called = ft_bits_has(ft_flow_effects(s->control->flow, targets[k])->callees, g);
        if (called && function_may_write(s, thread, g)) return true;
    }
    return false;
}

static bool target_defines(const slicer *s, uint32_t frame, const ft_target *target)
{
    const ft_block *b = &function_of(s->trace, frame)->blocks.data[target->block];
    for (uint32_t i = 0; i < b->n_parameters; i++)
        if (cover_live_has(&s->live, frame, b->parameters + i)) return true;
    return false;
}

static bool block_may_write(slicer *s, const cover_entry *e, uint32_t block)
{
    uint32_t number = s->trace->frames.data[e->frame].function, n_targets;
    const ft_function *f = function_of(s->trace, e->frame);
    const ft_block *b = &f->blocks.data[block];
    if (loop_is_counted(s, e->thread, ft_loop_at(s->control->loops, number, block))) return true;
    for (uint32_t i = b->instructions; i < b->instructions + b->n_instructions; i++) {
        const ft_instruction *in = &f->instructions.data[i];
        if (in->result != FT_NO_REGISTER && cover_live_has(&s->live, e->frame, in->result))
            return true;
        if (in->code == FT_CODE_INPUT && cover_live_has_counter(&s->live, e->thread, in->extra))
            return true;
        if (may_write(s, e->thread, number, i)) return true;
        bool calls = in->code == FT_CODE_CALL || in->code == FT_CODE_CALL_AT;
        if (calls && call_may_write(s, e->thread, number, i)) return true;
    }
    const ft_target *targets = ft_block_targets(f, block, &n_targets);
    for (uint32_t i = 0; i < n_targets; i++)
        if (target_defines(s, e->frame, &targets[i])) return true;
    return false;
}

/* ---- branches ---- */

static const cover_blocks *blocks_of(const slicer *s, const cover_entry *e)
{
    return &s->control->functions[s->trace->frames.data[e->frame].function];
}

/* Does the thread's head depend on the branch? Of frames that the branch's frame calls the call
 * counts; behind its return nothing depends on it. */
static bool rule_control(const slicer *s, const cover_entry *e, uint32_t block)
{
    head h = s->heads[e->thread];
    if (cover_fault_is(COVER_FAULT_NO_CONTROL)) return false;
    while (h.frame != FT_NO_ID && h.frame != e->frame &&
           s->trace->frames.data[h.frame].depth > s->trace->frames.data[e->frame].depth)
        h = (head){s->trace->frames.data[h.frame].parent, s->trace->frames.data[h.frame].call};
    if (h.frame != e->frame) return false;
    return cover_controls(s->control, s->trace->frames.data[e->frame].function, block,
                          block_of(s, h.frame, h.instruction), h.instruction == e->instruction);
}

/* The rules 2 and 3 for the side that begins at the target. */
static bool rule_side(slicer *s, const cover_entry *e, uint32_t block, const ft_target *target)
{
    const cover_blocks *b = blocks_of(s, e);
    uint32_t function = s->trace->frames.data[e->frame].function;
    if (target_defines(s, e->frame, target)) return true;
    bool writes = !cover_fault_is(COVER_FAULT_NO_WRITE);
    bool synchronises = !cover_fault_is(COVER_FAULT_NO_SYNC);
    s->side.len = 0;
    ft_vec_reserve(&s->side, b->words);
    cover_side(s->control, function, block, target->block, s->side.data);
    if (synchronises && cover_may_synchronise(s->control, function, s->side.data)) return true;
    for (uint32_t k = 0; k < b->n && writes; k++)
        if (ft_bits_has(s->side.data, k) && block_may_write(s, e, k)) return true;
    return false;
}

/* Sides that must end the process are left out with `prefix`. */
static bool is_left_out(const slicer *s, const cover_entry *e, const ft_target *target)
{
    return s->control->prefix && blocks_of(s, e)->must_exit[target->block];
}

static bool keeps_branch(slicer *s, const cover_entry *e)
{
    uint32_t n, block = block_of(s, e->frame, e->instruction);
    const ft_function *f = function_of(s->trace, e->frame);
    const ft_target *targets = ft_block_targets(f, block, &n);
    const ft_target *taken = &f->targets.data[e->target];
    bool exits = is_left_out(s, e, taken), others = false;
    for (uint32_t i = 0; i < n; i++)
        others |= &targets[i] != taken && !is_left_out(s, e, &targets[i]);
    if (exits || !others) return exits && others && !cover_fault_is(COVER_FAULT_EXIT_UNKEPT);
    if (rule_control(s, e, block)) return true;
    for (uint32_t i = 0; i < n; i++)
        if (&targets[i] != taken && !is_left_out(s, e, &targets[i]) &&
            rule_side(s, e, block, &targets[i]))
            return true;
    return false;
}

/* The parameters of the block that it goes to, as far as they are live. */
static bool define_parameters(slicer *s, const cover_entry *e)
{
    const ft_function *f = function_of(s->trace, e->frame);
    const ft_target *target = &f->targets.data[e->target];
    const ft_block *b = &f->blocks.data[target->block];
    FT_VEC(uint32_t) defined = {0};
    for (uint32_t i = 0; i < target->n_operands; i++)
        if (cover_live_kill(&s->live, e->frame, b->parameters + i)) ft_vec_push(&defined, i);
    for (size_t i = 0; i < defined.len; i++) /* when all are killed: one may be another's */
        use(s, e->frame, &f->operands.data[target->operands + defined.data[i]]);
    bool any = defined.len > 0;
    ft_vec_release(&defined);
    return any;
}

static void walk_control(slicer *s, const cover_entry *e)
{
    const ft_instruction *in = instruction_at(s->trace, e);
    bool branches = in->code != FT_CODE_JUMP;
    bool kept = branches && keeps_branch(s, e);
    if (define_parameters(s, e)) kept = true;
    if (!kept) return;
    set_head(s, e);
    if (!branches) return;
    keep_terms(s, e);
    use_operand(s, e, 0);
}

/* ---- calls ---- */

/* Arguments of parameters that are live. */
static bool define_arguments(slicer *s, const cover_entry *e, uint32_t callee, uint32_t skip)
{
    const ft_function *f = function_of(s->trace, callee);
    const ft_block *entry = &f->blocks.data[0];
    bool any = false;
    for (uint32_t i = 0; i < entry->n_parameters; i++) {
        if (!cover_live_kill(&s->live, callee, entry->parameters + i)) continue;
        use_operand(s, e, i + skip);
        any = true;
    }
    return any;
}

static void walk_call(slicer *s, const cover_entry *e)
{
    bool at = instruction_at(s->trace, e)->code == FT_CODE_CALL_AT;
    bool any = e->callee != FT_NO_ID && define_arguments(s, e, e->callee, at ? 1 : 0);
    if (!any && !at && !e->fails) return;
    set_head(s, e); /* of a call through an address always: which function it is matters */
    keep_terms(s, e);
    if (at) use_operand(s, e, 0);
}

/* What the frame returns: to its caller's register, or as the thread's result. */
static void walk_return(slicer *s, const cover_entry *e)
{
    const cover_frame *f = &s->trace->frames.data[e->frame];
    const ft_instruction *in = instruction_at(s->trace, e);
    bool live;
    if (f->parent == FT_NO_ID || in->code == FT_CODE_END) {
        uint32_t base = s->trace->threads[e->thread].base;
        live = cover_live_kill(&s->live, base, COVER_RESULT);
    } else {
        const ft_instruction *call = &function_of(s->trace, f->parent)->instructions.data[f->call];
        live = call->result != FT_NO_REGISTER && cover_live_kill(&s->live, f->parent, call->result);
    }
    if (live) use_operands(s, e);
    if (live || e->fails) set_head(s, e);
}

/* ---- memory ---- */

static const cover_access *access_of(const slicer *s, const cover_entry *e, uint32_t i)
{
    return &s->trace->accesses.data[e->accesses + i];
}

/* All places that the access may be at. */
static void use_bytes(slicer *s, const cover_access *a)
{
    uint64_t size = ft_sym_object_made(s->state, a->object).size;
    if (cover_fault_is(COVER_FAULT_READ_HERE) && a->unknown) size = a->n;
    cover_live_add_bytes(&s->live, a->object, a->unknown ? 0 : a->at,
                         a->unknown ? size : a->at + a->n);
}

static void use_reads(slicer *s, const cover_entry *e)
{
    for (uint32_t i = 0; i < e->n_accesses; i++)
        if (!access_of(s, e, i)->writes) use_bytes(s, access_of(s, e, i));
}

static void kill_writes(slicer *s, const cover_entry *e)
{
    for (uint32_t i = 0; i < e->n_accesses; i++) {
        const cover_access *a = access_of(s, e, i);
        if (a->writes && !a->unknown)
            cover_live_kill_bytes(&s->live, a->object, a->at, a->at + a->n);
    }
}

static void join_slice(slicer *s, const cover_entry *e)
{
    set_head(s, e);
    keep_terms(s, e);
    use_operands(s, e);
    use_reads(s, e);
}

static void walk_store(slicer *s, const cover_entry *e)
{
    uint32_t function = s->trace->frames.data[e->frame].function;
    if (!may_write(s, e->thread, function, e->instruction)) return;
    if (cover_fault_is(COVER_FAULT_STRONG_STORE)) {
        const cover_access *a = access_of(s, e, 0);
        uint64_t at = a->unknown ? 0 : a->at;
        cover_live_kill_bytes(&s->live, a->object, at, at + a->n);
        return use_operand(s, e, 0);
    }
    kill_writes(s, e);
    join_slice(s, e);
}

/* ---- entries ---- */

/* Without `prefix` an instruction that may fail is a branch to the end of the process. */
static bool may_fail(const slicer *s, const cover_entry *e)
{
    const ft_instruction *in = instruction_at(s->trace, e);
    if (s->control->prefix) return false;
    if (e->n_terms && in->code != FT_CODE_SELECT && in->code != FT_CODE_ASSUME) return true;
    return s->control->may_fail[s->trace->frames.data[e->frame].function][e->instruction];
}

/* An instruction that computes a register, or nothing that matters. */
static void walk_value(slicer *s, const cover_entry *e)
{
    const ft_instruction *in = instruction_at(s->trace, e);
    bool live = in->result != FT_NO_REGISTER && cover_live_kill(&s->live, e->frame, in->result);
    if (in->code == FT_CODE_INPUT) {
        bool counted = cover_live_has_counter(&s->live, e->thread, in->extra);
        if (live) cover_live_add_counter(&s->live, e->thread, in->extra);
        if (live || counted) set_head(s, e);
        return;
    }
    if (live) join_slice(s, e);
}

/* Which of the operands of an operation must be as they are. */
static void use_operation(slicer *s, const cover_entry *e)
{
    const ft_instruction *in = instruction_at(s->trace, e);
    uint32_t n = in->n_operands;
    switch (in->code) {
    case FT_CODE_EXIT:
        return;
    case FT_CODE_CREATE:
        n = 1;
        break;
    case FT_CODE_ATOMIC_STORE:
        use_operand(s, e, 1);
        return;
    case FT_CODE_ATOMIC_LOAD:
    case FT_CODE_ATOMIC_UPDATE:
    case FT_CODE_ATOMIC_SWAP:
        n = 1;
        break;
    default:
        break;
    }
    for (uint32_t i = 0; i < n; i++) use_operand(s, e, i);
}

/* What an operation makes of live locations. */
static void define_by_operation(slicer *s, const cover_entry *e)
{
    const ft_instruction *in = instruction_at(s->trace, e);
    bool live = in->result != FT_NO_REGISTER && cover_live_kill(&s->live, e->frame, in->result);
    if (in->code == FT_CODE_JOIN && live && e->peer < FT_SYM_THREADS &&
        s->trace->threads[e->peer].base != FT_NO_ID)
        cover_live_add(&s->live, s->trace->threads[e->peer].base, COVER_RESULT);
    if (in->code == FT_CODE_CREATE && e->peer != FT_NO_ID &&
        s->trace->threads[e->peer].base != FT_NO_ID)
        (void)define_arguments(s, e, s->trace->threads[e->peer].base, 1);
    bool writes = false;
    for (uint32_t i = 0; i < e->n_accesses; i++) {
        const cover_access *a = access_of(s, e, i);
        writes |= a->writes && cover_live_has_bytes(&s->live, a->object, a->at, a->at + a->n);
    }
    if (!live && !writes) return;
    if (writes) kill_writes(s, e);
    for (uint32_t i = 0; i < in->n_operands && e->n_accesses; i++) use_operand(s, e, i);
    use_reads(s, e);
}

static void walk_operation(slicer *s, const cover_entry *e)
{
    if (e->kind == COVER_ATTEMPT && cover_fault_is(COVER_FAULT_NO_ATTEMPT)) return;
    if (e->kind == COVER_OPERATION) define_by_operation(s, e);
    if (!cover_fault_is(COVER_FAULT_NO_OBJECT)) {
        keep_terms(s, e);
        use_operation(s, e);
    }
    set_head(s, e);
}

/* Behind a loop that is taken as a function its cells have any values: nothing that comes before
 * defines them, but for how often the thread was there. */
static void walk_loop(slicer *s, const cover_entry *e)
{
    const ft_loop *l = &s->control->loops->all.data[e->peer];
    bool live = define_parameters(s, e), bytes = false;
    bool counted = loop_is_counted(s, e->thread, l);
    for (uint32_t i = 0; i < e->n_accesses; i++) {
        const cover_access *a = access_of(s, e, i);
        bytes |= a->writes && cover_live_has_bytes(&s->live, a->object, a->at, a->at + a->n);
    }
    kill_writes(s, e);
    for (uint32_t i = l->cells; i < l->cells + l->n_cells; i++) {
        const ft_loop_cell *c = &s->control->loops->cells.data[i];
        bool own = c->reg == FT_NO_REGISTER ? bytes : cover_live_kill(&s->live, e->frame, c->reg);
        if (own) cover_live_add_counter(&s->live, e->thread, FT_LOOP_NAME | i);
        live |= own;
    }
    if (live || counted) set_head(s, e);
}

static bool is_control(ft_code code)
{
    return code == FT_CODE_JUMP || code == FT_CODE_BRANCH || code == FT_CODE_SWITCH;
}

static void walk_step(slicer *s, const cover_entry *e)
{
    const ft_instruction *in = instruction_at(s->trace, e);
    if (in->code == FT_CODE_CALL || in->code == FT_CODE_CALL_AT) {
        walk_call(s, e);
    } else if (is_control((ft_code)in->code)) {
        if (e->target != FT_NO_ID) walk_control(s, e);
    } else if (in->code == FT_CODE_RETURN || in->code == FT_CODE_END) {
        walk_return(s, e);
    } else if (e->fails || may_fail(s, e)) {
        if (in->result != FT_NO_REGISTER) cover_live_kill(&s->live, e->frame, in->result);
        if (!e->fails) kill_writes(s, e);
        join_slice(s, e);
    } else if (in->code == FT_CODE_STORE || in->code == FT_CODE_COPY || in->code == FT_CODE_MOVE ||
               in->code == FT_CODE_FILL) {
        walk_store(s, e);
    } else {
        walk_value(s, e);
    }
}

void cover_slice(const ft_sym_state *state, const cover_trace *trace, cover_terms *kept)
{
    FT_REQUIRE(state && trace && kept);
    slicer s = {.state = state, .trace = trace, .control = trace->control};
    ft_map seen = {0};
    for (int t = 0; t < FT_SYM_THREADS; t++) s.heads[t].frame = FT_NO_ID;
    for (size_t i = trace->entries.len; i-- > 0;) {
        const cover_entry *e = &trace->entries.data[i];
        if (e->kind == COVER_STEP)
            walk_step(&s, e);
        else if (e->kind == COVER_LOOP)
            walk_loop(&s, e);
        else
            walk_operation(&s, e);
    }
    for (size_t i = s.found.len; i-- > 0;) {
        bool fresh;
        ft_map_slot(&seen, s.found.data[i], 1, &fresh);
        if (fresh) ft_vec_push(kept, s.found.data[i]);
    }
    ft_map_release(&seen);
    ft_vec_release(&s.found);
    ft_vec_release(&s.bits);
    ft_vec_release(&s.side);
    cover_live_release(&s.live);
}

bool cover_is_premature(const cover_trace *trace)
{
    slicer s = {.trace = trace, .control = trace->control};
    for (size_t i = 0; i < trace->entries.len; i++) {
        const cover_entry *e = &trace->entries.data[i];
        uint32_t n;
        if (e->kind != COVER_STEP || e->target == FT_NO_ID) {
            const ft_instruction *in = instruction_at(trace, e);
            if (e->fails &&
                !cover_is_exit(trace->control, trace->frames.data[e->frame].function, in))
                return true;
            continue;
        }
        const ft_function *f = function_of(trace, e->frame);
        const ft_target *taken = &f->targets.data[e->target];
        const ft_target *all = ft_block_targets(f, block_of(&s, e->frame, e->instruction), &n);
        for (uint32_t k = 0; k < n; k++)
            if (is_left_out(&s, e, taken) && !is_left_out(&s, e, &all[k])) return true;
    }
    return false;
}
