#include "modular/steps.h"

#include <stdlib.h>
#include <time.h>

#include "base/contract.h"

enum { MOST_FRAMES = 32, FUEL = 20000, MOST_OUTCOMES = 96 };

/* ---- outcomes ---- */

static void add_outcome(modular *m, mod_run *run, uint32_t target, bool fails, mod_terms slots)
{
    uint64_t bits;
    bool never = run->guard != FT_NO_TERM && mod_is_literal(m, run->guard, &bits) && !bits;
    if (never) {
        ft_vec_release(&slots);
        return;
    }
    mod_outcome o = {.guard = run->guard,
                     .target = target,
                     .fails = fails,
                     .slots = slots,
                     .joined = run->joined,
                     .created = run->created,
                     .argument = run->argument};
    for (size_t i = 0; i < run->updates.len; i++) ft_vec_push(&o.updates, run->updates.data[i]);
    ft_vec_push(&m->locations.data[m->at].outcomes, o);
    if (m->locations.data[m->at].outcomes.len > MOST_OUTCOMES)
        mod_refuse(m, "a step with very many outcomes");
}

/* A thread that goes no further counts as one that has ended. */
static void stop(modular *m, mod_run *run)
{
    add_outcome(m, run, mod_end_of(m, run->class), false, (mod_terms){0});
}

static void fail(modular *m, mod_run *run)
{
    add_outcome(m, run, MOD_NOWHERE, true, (mod_terms){0});
}

/* The thread stands before its next instruction and lets others go on. */
static void stand(modular *m, mod_run *run)
{
    mod_terms slots = {0};
    uint32_t target = mod_location_of(m, run, &slots);
    add_outcome(m, run, target, false, slots);
}

/* ---- values of operands ---- */

static mod_frame *top_of(mod_run *run)
{
    return &run->frames.data[run->frames.len - 1];
}

static mod_value operand(modular *m, mod_run *run, const ft_operand *o)
{
    if (o->kind == FT_OPERAND_LITERAL) return mod_bare(mod_literal(m, o->width, o->value));
    if (o->kind == FT_OPERAND_ADDRESS) return mod_symbol_value(m, o->index, o->value);
    mod_frame *f = top_of(run);
    if (f->regs[o->index].kind == MOD_NOTHING) /* none of a valid program */
        f->regs[o->index] = mod_of(mod_fresh(m, run, o->width));
    return f->regs[o->index];
}

static mod_value operand_of(modular *m, mod_run *run, const ft_instruction *in, uint32_t i)
{
    return operand(m, run, &top_of(run)->f->operands.data[in->operands + i]);
}

static ft_term number_of(modular *m, mod_run *run, const ft_instruction *in, uint32_t i)
{
    const ft_operand *o = &top_of(run)->f->operands.data[in->operands + i];
    return mod_number(m, run, operand(m, run, o), o->width);
}

static void set(mod_run *run, const ft_instruction *in, mod_value v)
{
    if (in->result != FT_NO_REGISTER) top_of(run)->regs[in->result] = v;
}

static void set_number(modular *m, mod_run *run, const ft_instruction *in, uint64_t n)
{
    uint8_t width = ft_instruction_result_width(in);
    if (width) set(run, in, mod_of(mod_literal(m, width, n)));
}

static void set_any(modular *m, mod_run *run, const ft_instruction *in)
{
    uint8_t width = ft_instruction_result_width(in);
    if (width) set(run, in, mod_of(mod_fresh(m, run, width)));
}

/* A number that is not known, and no address. */
static void set_bare(modular *m, mod_run *run, const ft_instruction *in)
{
    set(run, in, mod_bare(mod_fresh(m, run, ft_instruction_result_width(in))));
}

/* ---- control ---- */

/* Goes to the target; the run is used up. A way back lets others go on, so that steps end. */
static void go_to(modular *m, mod_run run, const ft_target *target)
{
    mod_value values[64];
    mod_frame *f = top_of(&run);
    bool back = target->block <= f->block;
    if (target->n_operands > 64) {
        mod_refuse(m, "a block with more than 64 parameters");
        mod_run_release(&run);
        return;
    }
    for (uint32_t i = 0; i < target->n_operands; i++)
        values[i] = operand(m, &run, &f->f->operands.data[target->operands + i]);
    const ft_block *b = &f->f->blocks.data[target->block];
    for (uint32_t i = 0; i < target->n_operands; i++) f->regs[b->parameters + i] = values[i];
    f->block = target->block;
    f->at = 0;
    if (back && !run.section) {
        stand(m, &run);
        mod_run_release(&run);
    } else {
        ft_vec_push(&m->pending, run);
    }
}

static void fork_to(modular *m, mod_run *run, const ft_target *target, ft_term truth)
{
    mod_run other = mod_copy(run);
    mod_assume(m, &other, truth);
    uint64_t bits;
    bool never = other.guard != FT_NO_TERM && mod_is_literal(m, other.guard, &bits) && !bits;
    if (never)
        mod_run_release(&other);
    else
        go_to(m, other, target);
}

static ft_term negated(modular *m, ft_term truth)
{
    return mod_apply(m, FT_OP_NOT, truth, FT_NO_TERM);
}

static void branch(modular *m, mod_run *run, const ft_instruction *in)
{
    const ft_target *targets = &top_of(run)->f->targets.data[in->targets];
    ft_term truth = mod_truth(m, number_of(m, run, in, 0));
    fork_to(m, run, &targets[0], truth);
    fork_to(m, run, &targets[1], negated(m, truth));
}

static void choose_case(modular *m, mod_run *run, const ft_instruction *in)
{
    const ft_target *targets = &top_of(run)->f->targets.data[in->targets];
    ft_term value = number_of(m, run, in, 0), none = FT_NO_TERM;
    for (uint32_t i = 1; i < in->n_targets; i++) {
        ft_term is = mod_apply(m, FT_OP_EQ, value, mod_literal(m, in->width, targets[i].value));
        fork_to(m, run, &targets[i], is);
        none = none == FT_NO_TERM ? negated(m, is) : mod_apply(m, FT_OP_AND, none, negated(m, is));
    }
    if (mod_fault_is(MOD_FAULT_CASE_REST) && none != FT_NO_TERM) return;
    if (none == FT_NO_TERM) none = ft_term_literal(m->pool, (ft_value){FT_BOOL_SORT, 1});
    fork_to(m, run, &targets[0], none);
}

static void enter(modular *m, mod_run *run, const ft_function *f, const ft_instruction *in,
                  uint32_t first)
{
    mod_frame frame = {.f = f, .result = in->result};
    const ft_block *b = &f->blocks.data[0];
    if (run->frames.len >= MOST_FRAMES) return mod_refuse(m, "a deep recursion");
    frame.regs = ft_calloc(f->registers.len + 1, sizeof *frame.regs);
    for (uint32_t i = 0; i < b->n_parameters && first + i < in->n_operands; i++)
        frame.regs[b->parameters + i] = operand_of(m, run, in, first + i);
    ft_vec_push(&run->frames, frame);
}

static void leave(modular *m, mod_run *run, mod_value v)
{
    mod_frame gone = *top_of(run);
    uint32_t depth = (uint32_t)run->frames.len;
    size_t kept = 0;
    run->frames.len--;
    free(gone.regs);
    for (size_t i = 0; i < run->locals.len; i++) {
        const mod_object *o = &m->objects.data[run->locals.data[i].cell.object];
        bool stays = o->depth < depth || mod_fault_is(MOD_FAULT_STACK_STAYS);
        if (o->origin != MOD_STACK || stays) run->locals.data[kept++] = run->locals.data[i];
    }
    run->locals.len = kept;
    if (run->frames.len && gone.result != FT_NO_REGISTER) top_of(run)->regs[gone.result] = v;
}

/* ---- synchronisation: each visible ---- */

static ft_term is_zero(modular *m, ft_term n)
{
    return mod_apply(m, FT_OP_EQ, n, mod_literal(m, 32, 0));
}

/* ---- counts: the largest stands for all that are as large ---- */

static ft_term most(modular *m)
{
    return mod_literal(m, 32, UINT32_MAX);
}

static ft_term one_more(modular *m, ft_term count)
{
    ft_term is_most = mod_apply(m, FT_OP_EQ, count, most(m));
    return mod_choose(m, is_most, count, mod_apply(m, FT_OP_BVADD, count, mod_literal(m, 32, 1)));
}

static ft_term one_fewer(modular *m, mod_run *run, ft_term count)
{
    ft_term is_most = mod_apply(m, FT_OP_EQ, count, most(m));
    ft_term stays = mod_apply(m, FT_OP_AND, is_most, mod_truth(m, mod_fresh(m, run, 1)));
    return mod_choose(m, stays, count, mod_apply(m, FT_OP_BVADD, count, most(m)));
}

/* Of a number of 64 bits. */
static ft_term counted(modular *m, ft_term n)
{
    uint64_t bits;
    if (mod_fault_is(MOD_FAULT_COUNT_WRAPS)) return mod_low(m, n, 32);
    if (mod_is_literal(m, n, &bits)) return bits < UINT32_MAX ? mod_literal(m, 32, bits) : most(m);
    ft_term fits = mod_apply(m, FT_OP_BVULT, n, mod_literal(m, 64, UINT32_MAX));
    return mod_choose(m, fits, mod_low(m, n, 32), most(m));
}

/* ---- taking and giving ---- */

/* A copy goes on where `truth` does not hold, with that result; the run where it does. */
static void otherwise(modular *m, mod_run *run, const ft_instruction *in, ft_term truth,
                      uint64_t result)
{
    mod_run other = mod_copy(run);
    mod_assume(m, &other, negated(m, truth));
    set_number(m, &other, in, result);
    ft_vec_push(&m->pending, other);
}

typedef struct taking {        /* of a mutex, a unit or one side of a read-write lock */
    mod_content content, also; /* `also` is free as well; the same: nothing else */
    bool counts;               /* takes one of several */
    uint64_t busy;             /* what an attempt returns */
} taking;

static void take(modular *m, mod_run *run, const ft_instruction *in, mod_value at, taking how,
                 bool attempt)
{
    ft_term held, other, free_now;
    set_number(m, run, in, 0);
    if (!mod_sync_get(m, run, at, how.content, &held)) { /* anything may be */
        if (!mod_fault_is(MOD_FAULT_LOCK_OBEYS)) set_any(m, run, in);
        mod_sync_put(m, run, at, how.content, mod_literal(m, 32, 0));
        return;
    }
    bool is_semaphore = how.content == MOD_COUNT;
    free_now = is_zero(m, held);
    if (is_semaphore) free_now = negated(m, free_now);
    if (how.content == MOD_READERS && !mod_fault_is(MOD_FAULT_READERS_EXCLUDE))
        free_now = ft_term_literal(m->pool, (ft_value){FT_BOOL_SORT, 1});
    if (how.also != how.content && mod_sync_get(m, run, at, how.also, &other))
        free_now = mod_apply(m, FT_OP_AND, free_now, is_zero(m, other));
    if (attempt && !mod_fault_is(MOD_FAULT_TRY_TAKES)) otherwise(m, run, in, free_now, how.busy);
    mod_assume(m, run, free_now);
    ft_term after = mod_literal(m, 32, 1);
    if (how.counts) after = is_semaphore ? one_fewer(m, run, held) : one_more(m, held);
    mod_sync_put(m, run, at, how.content, after);
}

static void give(modular *m, mod_run *run, const ft_instruction *in, mod_value at, mod_content what)
{
    ft_term held;
    set_any(m, run, in); /* a mutex of a kind may refuse */
    bool followed = mod_sync_get(m, run, at, what, &held);
    if (followed || mod_fault_is(MOD_FAULT_KIND_OBEYS)) set_number(m, run, in, 0);
    ft_term after = what == MOD_COUNT && followed ? one_more(m, held) : mod_literal(m, 32, 0);
    mod_sync_put(m, run, at, what, after);
}

/* A writer's, else a reader's. */
static void give_rw(modular *m, mod_run *run, const ft_instruction *in, mod_value at)
{
    ft_term writer, readers;
    set_number(m, run, in, 0);
    if (!mod_sync_get(m, run, at, MOD_WRITER, &writer) ||
        !mod_sync_get(m, run, at, MOD_READERS, &readers))
        return mod_sync_put(m, run, at, MOD_WRITER, mod_literal(m, 32, 0));
    if (mod_fault_is(MOD_FAULT_READERS_GIVE)) writer = mod_literal(m, 32, 0);
    mod_run other = mod_copy(run);
    mod_assume(m, &other, negated(m, is_zero(m, writer)));
    mod_sync_put(m, &other, at, MOD_WRITER, mod_literal(m, 32, 0));
    ft_vec_push(&m->pending, other);
    mod_assume(m, run, is_zero(m, writer));
    mod_sync_put(m, run, at, MOD_READERS, one_fewer(m, run, readers));
}

/* The other side's lock by the thread itself returns EDEADLK, which looks like a lock that another
 * thread holds. */
static void take_rw(modular *m, mod_run *run, const ft_instruction *in, mod_value at, bool write,
                    bool attempt)
{
    enum { BUSY = 16, ITS_OWN = 35 };
    ft_term writer;
    taking reads = {MOD_READERS, MOD_WRITER, true, BUSY};
    taking writes = {MOD_WRITER, MOD_READERS, false, BUSY};
    bool asks = !attempt && !mod_fault_is(MOD_FAULT_OWN_WRITER);
    if (asks && mod_sync_get(m, run, at, MOD_WRITER, &writer)) {
        mod_run other = mod_copy(run);
        mod_assume(m, &other, negated(m, is_zero(m, writer)));
        set_number(m, &other, in, ITS_OWN);
        ft_vec_push(&m->pending, other);
    }
    take(m, run, in, at, write ? writes : reads, attempt);
}

/* Two steps: the mutex is released; it is taken again, at any moment. */
static void wait(modular *m, mod_run *run, const ft_instruction *in)
{
    taking mutex = {MOD_MUTEX, MOD_MUTEX, false, 0};
    mod_value at = operand_of(m, run, in, 1);
    if (!run->waking) {
        bool held = mod_fault_is(MOD_FAULT_WAIT_HOLDS);
        mod_sync_put(m, run, at, MOD_MUTEX, mod_literal(m, 32, held));
        run->waking = true;
        top_of(run)->at--;
        return;
    }
    run->waking = false;
    take(m, run, in, at, mutex, false);
    if (in->code == FT_CODE_TIMED_WAIT && !mod_fault_is(MOD_FAULT_WAIT_IN_TIME)) {
        enum { LATE = 110 };
        mod_run other = mod_copy(run);
        set_number(m, &other, in, LATE);
        ft_vec_push(&m->pending, other);
    }
}

static bool is_of_threads(const ft_function *f)
{
    const ft_block *b = &f->blocks.data[0];
    return f->result == 64 && b->n_parameters == 1 && f->registers.data[b->parameters].width == 64;
}

static void create(modular *m, mod_run *run, const ft_instruction *in)
{
    mod_value f = operand_of(m, run, in, 0), argument = operand_of(m, run, in, 1);
    if (f.kind != MOD_FUNCTION || f.offset)
        return mod_refuse(m, "a thread whose function is computed");
    const ft_function *function = ft_program_function(m->program, f.index);
    if (!is_of_threads(function)) return mod_refuse(m, "a thread whose function has another type");
    if (run->created != MOD_NOWHERE) return mod_refuse(m, "an atomic section that makes threads");
    bool own = argument.kind == MOD_ADDRESS && !mod_is_shared(m, argument);
    if (own && !mod_fault_is(MOD_FAULT_OWN_ARGUMENT)) argument = mod_of(mod_fresh(m, run, 64));
    if (argument.kind == MOD_THREAD || argument.kind == MOD_NOTHING)
        argument = mod_of(mod_fresh(m, run, 64));
    run->argument = argument.kind == MOD_NUMBER ? argument.term : FT_NO_TERM;
    argument.bare = false; /* of other threads of the class it may not be */
    run->created = mod_class_of(m, function, argument);
    set(run, in, (mod_value){.kind = MOD_THREAD, .index = run->created});
}

static void join(modular *m, mod_run *run, const ft_instruction *in)
{
    mod_value thread = operand_of(m, run, in, 0);
    if (thread.kind == MOD_THREAD && run->joined == MOD_NOWHERE) run->joined = thread.index;
    set_any(m, run, in);
    if (mod_fault_is(MOD_FAULT_JOIN_RESULT)) set_number(m, run, in, 0);
}

/* ---- atomics ---- */

static ft_term updated(modular *m, mod_run *run, const ft_instruction *in, ft_term v, ft_term x)
{
    static const uint8_t OPS[FT_UPDATES] = {[FT_UPDATE_ADD] = FT_OP_BVADD,
                                            [FT_UPDATE_SUB] = FT_OP_BVSUB,
                                            [FT_UPDATE_AND] = FT_OP_BVAND,
                                            [FT_UPDATE_OR] = FT_OP_BVOR,
                                            [FT_UPDATE_XOR] = FT_OP_BVXOR};
    if (in->attribute == FT_UPDATE_EXCHANGE) return x;
    if (OPS[in->attribute]) return mod_apply(m, (ft_op)OPS[in->attribute], v, x);
    if (mod_fault_is(MOD_FAULT_UPDATE_ANDS)) return mod_apply(m, FT_OP_BVAND, v, x);
    return mod_fresh(m, run, in->width);
}

/* False: an error ended the run. */
static bool atomic(modular *m, mod_run *run, const ft_instruction *in)
{
    mod_value old, at = operand_of(m, run, in, in->code == FT_CODE_ATOMIC_STORE ? 1 : 0);
    if (in->code == FT_CODE_ATOMIC_STORE)
        return mod_store(m, run, at, in->width, operand_of(m, run, in, 0));
    if (!mod_load(m, run, at, in->width, &old)) return false;
    if (in->code == FT_CODE_ATOMIC_LOAD) return set(run, in, old), true;
    ft_term v = mod_number(m, run, old, in->width), x = number_of(m, run, in, 1);
    set(run, in, mod_of(v));
    if (in->code == FT_CODE_ATOMIC_UPDATE)
        return mod_store(m, run, at, in->width, mod_of(updated(m, run, in, v, x)));
    ft_term same = mod_apply(m, FT_OP_EQ, v, x);
    mod_run other = mod_copy(run);
    mod_assume(m, &other, negated(m, same));
    if (mod_fault_is(MOD_FAULT_SWAP_WRITES))
        mod_run_release(&other);
    else
        ft_vec_push(&m->pending, other);
    mod_assume(m, run, same);
    return mod_store(m, run, at, in->width, operand_of(m, run, in, 2));
}

/* ---- one instruction ---- */

/* A copy or a fill: the objects are no longer followed. */
static void spread(modular *m, mod_run *run, const ft_instruction *in)
{
    mod_value to = operand_of(m, run, in, 0);
    if (to.kind == MOD_ADDRESS && !mod_fault_is(MOD_FAULT_COPY_LOST))
        mod_open(m, to.index);
    else if (to.kind == MOD_NUMBER)
        mod_refuse(m, "a copy to a place that is computed");
}

static void make_object(modular *m, mod_run *run, const ft_instruction *in)
{
    mod_frame *f = top_of(run);
    uint64_t size = 0;
    ft_term bytes = number_of(m, run, in, 0);
    bool known = mod_is_literal(m, bytes, &size);
    mod_object made = {.origin = in->code == FT_CODE_STACK ? MOD_STACK : MOD_HEAP,
                       .symbol = FT_NO_SYMBOL,
                       .function = f->f->symbol,
                       .instruction = (uint32_t)(in - f->f->instructions.data),
                       .depth = (uint32_t)run->frames.len,
                       .size = known ? size : 0};
    uint32_t id = mod_object_of(m, &made);
    bool once = f->block == 0 ||
                mod_fault_is(MOD_FAULT_MADE_AGAIN); /* elsewhere it may be made once more */
    if (!known || !once || m->objects.data[id].size != made.size) mod_open(m, id);
    set(run, in, (mod_value){.kind = MOD_ADDRESS, .index = id});
}

/* The thread goes on where the truth holds. Where not, it stops, and has changed what it changed.
 */
static void go_on_if(modular *m, mod_run *run, ft_term truth)
{
    bool leaves_trace = !mod_fault_is(MOD_FAULT_STOPPED_TRACE);
    if (leaves_trace && (run->updates.len || run->created != MOD_NOWHERE)) {
        mod_run other = mod_copy(run);
        mod_assume(m, &other, negated(m, truth));
        stop(m, &other);
        mod_run_release(&other);
    }
    mod_assume(m, run, truth);
}

static void assume_truth(modular *m, mod_run *run, const ft_instruction *in)
{
    go_on_if(m, run, mod_truth(m, number_of(m, run, in, 0)));
}

/* A division by 0 ends the process, before which other threads may go on. */
static void divide_by_some(modular *m, mod_run *run, mod_value by, uint8_t width)
{
    if (by.kind != MOD_NUMBER) return;
    ft_term zero = mod_apply(m, FT_OP_EQ, by.term, mod_literal(m, width, 0));
    go_on_if(m, run, negated(m, zero));
}

static void compute(modular *m, mod_run *run, const ft_instruction *in, bool *ended)
{
    mod_value v[3] = {{0}};
    uint8_t widths[3] = {0};
    for (uint32_t i = 0; i < in->n_operands && i < 3; i++) {
        widths[i] = top_of(run)->f->operands.data[in->operands + i].width;
        v[i] = operand_of(m, run, in, i);
    }
    if (mod_divides((ft_code)in->code)) divide_by_some(m, run, v[1], widths[1]);
    mod_value made = mod_compute(m, run, in, v, widths);
    *ended = made.kind == MOD_NOTHING;
    if (!*ended) set(run, in, made);
}

/* Is the instruction one before which other threads go on? */
static bool is_visible(modular *m, mod_run *run, const ft_instruction *in)
{
    switch (in->code) {
    case FT_CODE_LOAD:
    case FT_CODE_ATOMIC_LOAD:
    case FT_CODE_ATOMIC_UPDATE:
    case FT_CODE_ATOMIC_SWAP:
    case FT_CODE_LOCK:
    case FT_CODE_TRY_LOCK:
    case FT_CODE_TIMED_LOCK:
    case FT_CODE_UNLOCK:
    case FT_CODE_READ_LOCK:
    case FT_CODE_WRITE_LOCK:
    case FT_CODE_TRY_READ_LOCK:
    case FT_CODE_TRY_WRITE_LOCK:
    case FT_CODE_RW_UNLOCK:
    case FT_CODE_SEM_INIT:
    case FT_CODE_SEM_WAIT:
    case FT_CODE_SEM_TRY:
    case FT_CODE_SEM_TIMED:
    case FT_CODE_SEM_POST:
    case FT_CODE_SEM_COUNT:
    case FT_CODE_MUTEX_INIT:
        return mod_is_shared(m, operand_of(m, run, in, 0));
    case FT_CODE_STORE:
    case FT_CODE_ATOMIC_STORE:
        return mod_is_shared(m, operand_of(m, run, in, 1));
    case FT_CODE_ATOMIC_BEGIN:
    case FT_CODE_CREATE:
    case FT_CODE_JOIN:
    case FT_CODE_WAIT:
    case FT_CODE_TIMED_WAIT:
        return true;
    default:
        return false;
    }
}

static void mutex_init(modular *m, mod_run *run, const ft_instruction *in)
{
    mod_value at = operand_of(m, run, in, 0);
    if (in->attribute != FT_MUTEX_NORMAL) { /* it may be taken twice, or return an error */
        if (at.kind != MOD_ADDRESS) return mod_refuse(m, "a mutex of a kind at a computed place");
        return mod_open(m, at.index);
    }
    mod_sync_put(m, run, at, MOD_MUTEX, mod_literal(m, 32, 0));
}

static void set_count(modular *m, mod_run *run, const ft_instruction *in, ft_term count)
{
    ft_term is_most = mod_apply(m, FT_OP_EQ, count, most(m));
    set(run, in, mod_of(mod_choose(m, is_most, mod_fresh(m, run, 32), count)));
}

/* Semaphores. */
static void semaphore(modular *m, mod_run *run, const ft_instruction *in)
{
    enum { NONE_LEFT = 11, LATE = 110 };
    ft_term count;
    mod_value at = operand_of(m, run, in, 0);
    taking unit = {MOD_COUNT, MOD_COUNT, true, in->code == FT_CODE_SEM_TRY ? NONE_LEFT : LATE};
    switch (in->code) {
    case FT_CODE_SEM_INIT:
        mod_sync_put(m, run, at, MOD_COUNT, counted(m, number_of(m, run, in, 1)));
        return;
    case FT_CODE_SEM_POST:
        return give(m, run, in, at, MOD_COUNT);
    case FT_CODE_SEM_COUNT:
        set_any(m, run, in);
        if (mod_sync_get(m, run, at, MOD_COUNT, &count)) set_count(m, run, in, count);
        return;
    default:
        return take(m, run, in, at, unit, in->code != FT_CODE_SEM_WAIT);
    }
}

/* Locks and conditions. */
static void synchronise(modular *m, mod_run *run, const ft_instruction *in)
{
    enum { BUSY = 16, LATE = 110 };
    mod_value at = operand_of(m, run, in, 0);
    taking mutex = {MOD_MUTEX, MOD_MUTEX, false, in->code == FT_CODE_TRY_LOCK ? BUSY : LATE};
    switch (in->code) {
    case FT_CODE_MUTEX_INIT:
        return mutex_init(m, run, in);
    case FT_CODE_LOCK:
        return take(m, run, in, at, mutex, false);
    case FT_CODE_TRY_LOCK:
    case FT_CODE_TIMED_LOCK:
        return take(m, run, in, at, mutex, true);
    case FT_CODE_UNLOCK:
        return give(m, run, in, at, MOD_MUTEX);
    case FT_CODE_READ_LOCK:
    case FT_CODE_WRITE_LOCK:
        return take_rw(m, run, in, at, in->code == FT_CODE_WRITE_LOCK, false);
    case FT_CODE_TRY_READ_LOCK:
    case FT_CODE_TRY_WRITE_LOCK:
        return take_rw(m, run, in, at, in->code == FT_CODE_TRY_WRITE_LOCK, true);
    case FT_CODE_RW_UNLOCK:
        return give_rw(m, run, in, at);
    case FT_CODE_WAIT:
    case FT_CODE_TIMED_WAIT:
        return wait(m, run, in);
    case FT_CODE_CREATE:
        return create(m, run, in);
    case FT_CODE_JOIN:
        return join(m, run, in);
    case FT_CODE_BARRIER_WAIT:
        return set_any(m, run, in);
    default:
        return semaphore(m, run, in);
    }
}

/* Has the function the result and the parameters of the call? */
static bool fits(const ft_function *caller, const ft_instruction *in, uint32_t first,
                 const ft_function *f)
{
    const ft_block *b = &f->blocks.data[0];
    if (f->result != in->width || b->n_parameters != in->n_operands - first) return false;
    for (uint32_t i = 0; i < b->n_parameters; i++)
        if (caller->operands.data[in->operands + first + i].width !=
            f->registers.data[b->parameters + i].width)
            return false;
    return true;
}

static void call(modular *m, mod_run *run, const ft_instruction *in)
{
    uint32_t symbol = in->extra, first = 0;
    if (in->code == FT_CODE_CALL_AT) {
        mod_value at = operand_of(m, run, in, 0);
        if (at.kind != MOD_FUNCTION || at.offset)
            return mod_refuse(m, "a call of a computed address");
        symbol = at.index;
        first = 1;
    }
    const ft_function *f = ft_program_function(m->program, symbol);
    if (!f) return mod_refuse(m, "a call of what is not a function");
    if (!fits(top_of(run)->f, in, first, f)) return mod_refuse(m, "a call of another type");
    enter(m, run, f, in, first);
}

/* A copy for which the condition fails; the run goes on where it holds. */
static void assert_truth(modular *m, mod_run *run, const ft_instruction *in)
{
    mod_run other = mod_copy(run);
    ft_term truth = mod_truth(m, number_of(m, run, in, 0));
    mod_assume(m, &other, negated(m, truth));
    fail(m, &other);
    mod_run_release(&other);
    mod_assume(m, run, truth);
}

/* False: an error, which ends the process. */
static bool access_memory(modular *m, mod_run *run, const ft_instruction *in)
{
    mod_value v;
    bool good = true;
    switch ((ft_code)in->code) {
    case FT_CODE_LOAD:
        good = mod_load(m, run, operand_of(m, run, in, 0), in->width, &v);
        if (good) set(run, in, v);
        break;
    case FT_CODE_STORE:
        good = mod_store(m, run, operand_of(m, run, in, 1), in->width, operand_of(m, run, in, 0));
        break;
    case FT_CODE_COPY:
    case FT_CODE_MOVE:
    case FT_CODE_FILL:
        spread(m, run, in);
        break;
    default:
        good = atomic(m, run, in);
    }
    if (!good) stop(m, run);
    return good;
}

/* Leaves its block. False: the run is at its end, or was given away. */
static bool leave_block(modular *m, mod_run *run, const ft_instruction *in)
{
    mod_value v = {.kind = MOD_NOTHING};
    switch ((ft_code)in->code) {
    case FT_CODE_BRANCH:
        return branch(m, run, in), false;
    case FT_CODE_SWITCH:
        return choose_case(m, run, in), false;
    case FT_CODE_JUMP:
        go_to(m, mod_copy(run), &top_of(run)->f->targets.data[in->targets]);
        return false;
    case FT_CODE_RETURN:
        if (in->n_operands) v = operand_of(m, run, in, 0);
        leave(m, run, v);
        if (!run->frames.len) stop(m, run);
        return run->frames.len > 0;
    case FT_CODE_FAIL:
        return fail(m, run), false;
    default: /* the end of the thread or the process; an error */
        return stop(m, run), false;
    }
}

/* What concerns nothing that is followed, or orders nothing here. */
static bool is_without_effect(ft_code code)
{
    switch (code) {
    case FT_CODE_FREE:
    case FT_CODE_FENCE:
    case FT_CODE_YIELD:
    case FT_CODE_DETACH:
    case FT_CODE_MUTEX_DESTROY:
    case FT_CODE_RW_INIT: /* beside a holder it is an error */
    case FT_CODE_RW_DESTROY:
    case FT_CODE_COND_INIT:
    case FT_CODE_COND_DESTROY:
    case FT_CODE_SIGNAL: /* waiters wake at any moment */
    case FT_CODE_BROADCAST:
    case FT_CODE_SEM_DESTROY:
    case FT_CODE_BARRIER_INIT:
    case FT_CODE_BARRIER_DESTROY:
    case FT_CODE_OUTPUT:
        return true;
    default:
        return false;
    }
}

/* False: the run is at its end, or was given away. */
static bool execute(modular *m, mod_run *run, const ft_instruction *in)
{
    bool ended = false;
    if (ft_code_ends_block((ft_code)in->code)) return leave_block(m, run, in);
    if (is_without_effect((ft_code)in->code)) return true;
    switch ((ft_code)in->code) {
    case FT_CODE_CALL:
    case FT_CODE_CALL_AT:
        return call(m, run, in), true;
    case FT_CODE_ONCE:
        return mod_refuse(m, "a once flag"), false;
    case FT_CODE_ASSERT:
        return assert_truth(m, run, in), true;
    case FT_CODE_ASSUME:
        return assume_truth(m, run, in), true;
    case FT_CODE_LOAD:
    case FT_CODE_STORE:
    case FT_CODE_COPY:
    case FT_CODE_MOVE:
    case FT_CODE_FILL:
    case FT_CODE_ATOMIC_LOAD:
    case FT_CODE_ATOMIC_STORE:
    case FT_CODE_ATOMIC_UPDATE:
    case FT_CODE_ATOMIC_SWAP:
        return access_memory(m, run, in);
    case FT_CODE_STACK:
    case FT_CODE_ALLOC:
        return make_object(m, run, in), true;
    case FT_CODE_ATOMIC_BEGIN:
        return run->section = true;
    case FT_CODE_ATOMIC_END:
        return run->section = false, true;
    case FT_CODE_SIZE:
    case FT_CODE_SELF:
    case FT_CODE_INPUT:
        set_bare(m, run, in);
        if (mod_fault_is(MOD_FAULT_INPUT_ZERO)) set_number(m, run, in, 0);
        return true;
    default:
        break;
    }
    if (ft_instruction_row_of((ft_code)in->code)->effect == FT_EFFECT_VISIBLE)
        return synchronise(m, run, in), true;
    compute(m, run, in, &ended);
    if (ended) stop(m, run);
    return !ended;
}

/* ---- steps ---- */

double mod_now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static void advance(modular *m, mod_run run)
{
    bool going = true;
    while (going && !m->refused && !m->anew) {
        mod_frame *f = top_of(&run);
        const ft_instruction *in =
            &f->f->instructions.data[f->f->blocks.data[f->block].instructions + f->at];
        bool visible = !run.section && is_visible(m, &run, in);
        if (visible && run.moved) {
            stand(m, &run);
            break;
        }
        if (!m->fuel) {
            mod_refuse(m, "a long way without a scheduling point");
            break;
        }
        m->fuel--;
        run.moved |= visible && !mod_fault_is(MOD_FAULT_LONG_STEPS);
        f->at++;
        going = execute(m, &run, in);
    }
    mod_run_release(&run);
}

static void make_step(modular *m, uint32_t location)
{
    if (m->locations.data[location].ended) return;
    m->at = location;
    m->fuel = FUEL;
    mod_run run = mod_copy(&m->locations.data[location].run);
    ft_vec_push(&m->pending, run);
    while (m->pending.len) {
        run = m->pending.data[--m->pending.len];
        if (mod_now() > m->until) mod_refuse(m, "the time was over");
        advance(m, run);
    }
}

static void clear_steps(modular *m)
{
    for (size_t i = 0; i < m->locations.len; i++) {
        mod_location *l = &m->locations.data[i];
        for (size_t k = 0; k < l->outcomes.len; k++) {
            ft_vec_release(&l->outcomes.data[k].slots);
            ft_vec_release(&l->outcomes.data[k].updates);
        }
        mod_run_release(&l->run);
        ft_vec_release(&l->widths);
        ft_vec_release(&l->outcomes);
    }
    m->locations.len = m->classes.len = m->cells.len = 0;
    ft_intern_release(&m->location_keys);
    ft_intern_release(&m->class_keys);
}

static void begin(modular *m)
{
    static const char MAIN[] = "main";
    uint32_t symbol = ft_intern_find(&m->program->names, MAIN, sizeof MAIN - 1);
    const ft_function *f = symbol == FT_NO_ID ? NULL : ft_program_function(m->program, symbol);
    if (!f) return mod_refuse(m, "no main");
    (void)mod_class_of(m, f, (mod_value){.kind = MOD_NOTHING});
}

bool mod_make_steps(modular *m)
{
    mod_find_fixed(m);
    do {
        m->anew = false;
        clear_steps(m);
        begin(m);
        for (uint32_t i = 0; i < m->locations.len && !m->refused && !m->anew; i++) make_step(m, i);
    } while (m->anew && !m->refused);
    return !m->refused;
}

void mod_release(modular *m)
{
    clear_steps(m);
    free(m->fixed);
    ft_intern_release(&m->object_keys);
    for (size_t i = 0; i < m->sets.len; i++) free(m->sets.data[i]);
    ft_vec_release(&m->sets);
    ft_vec_release(&m->objects);
    ft_vec_release(&m->cells);
    ft_map_release(&m->by_symbol);
    ft_vec_release(&m->symbols);
    ft_vec_release(&m->locations);
    ft_vec_release(&m->classes);
    ft_map_release(&m->live);
    ft_vec_release(&m->pending);
}
