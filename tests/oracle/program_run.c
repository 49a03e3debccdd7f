#include "oracle/program.h"

#include <assert.h>

/* The generator's own execution of its program: real values, whatever the trace will tell. */
typedef struct run {
    ft_program *program;
    uint64_t shared[FT_PROGRAM_SHARED], local[FT_PROGRAM_THREADS][FT_PROGRAM_LOCALS];
    uint32_t pos[FT_PROGRAM_THREADS];
    bool stuck[FT_PROGRAM_THREADS], forked[FT_PROGRAM_THREADS];
    uint32_t owner[FT_PROGRAM_LOCKS], depth[FT_PROGRAM_LOCKS]; /* owner: thread + 1 */
    uint32_t count;
    bool edge[FT_PROGRAM_EDGES];
    uint32_t thread; /* that runs */
    uint32_t emitted;
} run;

typedef enum truth { HOLDS, FAILS, UNDEFINED } truth;

static bool look_up(void *context, ft_symbol symbol, ft_value *value)
{
    const run *r = context;
    uint32_t i = FT_SYM_INDEX(symbol);
    if (FT_SYM_IS_LOCAL(symbol))
        *value = (ft_value){r->program->local_sort[i], r->local[r->thread][i]};
    else
        *value = (ft_value){r->program->shared_sort[i], r->shared[i]};
    return true;
}

static bool evaluate(run *r, ft_term term, uint64_t *bits)
{
    ft_value value;
    ft_eval_status status =
        ft_term_eval(ft_builder_terms(r->program->builder), term, look_up, r, &value);
    if (status != FT_EVAL_OK) return false;
    *bits = value.bits;
    return true;
}

static void emit(run *r, const ft_instruction *op, uint32_t value)
{
    r->emitted++;
    ft_builder_event(r->program->builder, op->kind, r->thread, op->object, op->loc, value,
                     op->flags);
}

static void emit_action(run *r, const ft_instruction *op)
{
    r->emitted++;
    ft_builder_action(r->program->builder, op->kind, r->thread, op->loc, op->guard, op->assignments,
                      op->n_assignments, op->flags);
}

/* The thread runs into an error of its own (division by zero, a failed assume) and ends here. */
static void stick(run *r)
{
    r->stuck[r->thread] = true;
}

static void run_access(run *r, const ft_instruction *op)
{
    ft_program *program = r->program;
    if (op->kind == FT_EVENT_WRITE) r->shared[op->object] = op->bits;
    ft_value value = {program->shared_sort[op->object], r->shared[op->object]};
    emit(r, op, op->valued ? ft_builder_value(program->builder, value) : FT_NO_VALUE);
}

static void pin(run *r, ft_instruction *op)
{
    ft_term_pool *pool = ft_builder_terms(r->program->builder);
    uint32_t v = op->pinned - 1, n_shared = r->program->n_shared;
    bool local = v >= n_shared;
    ft_symbol symbol = local ? FT_SYM_LOCAL(v - n_shared) : FT_SYM_SHARED(v);
    ft_value value;
    (void)look_up(r, symbol, &value);
    ft_term sides[2] = {ft_term_symbol(pool, symbol, value.sort), ft_term_literal(pool, value)};
    ft_error err = FT_ERROR_INIT;
    ft_status status = ft_term_apply(pool, FT_OP_EQ, sides, 2, NULL, &op->guard, &err);
    assert(status == FT_OK);
}

/* The value of the guard or condition. One that does not hold is mostly turned round, so that the
 * run passes. */
static truth run_guard(run *r, ft_instruction *op)
{
    uint64_t holds = 1;
    if (op->pinned) pin(r, op);
    if (op->guard != FT_NO_TERM && !evaluate(r, op->guard, &holds)) return UNDEFINED;
    if (holds || !ft_program_percent(r->program, 94)) return holds ? HOLDS : FAILS;
    ft_error err = FT_ERROR_INIT;
    ft_term negated;
    ft_status status = ft_term_apply(ft_builder_terms(r->program->builder), FT_OP_NOT, &op->guard,
                                     1, NULL, &negated, &err);
    assert(status == FT_OK);
    op->guard = negated;
    return HOLDS;
}

static void run_assign(run *r, ft_instruction *op)
{
    uint64_t bits[2] = {0, 0};
    bool runs = run_guard(r, op) == HOLDS;
    for (uint32_t i = 0; runs && i < op->n_assignments; i++)
        runs = evaluate(r, op->assignments[i].term, &bits[i]);
    if (!runs) {
        stick(r);
        return;
    }
    for (uint32_t i = 0; i < op->n_assignments; i++) {
        uint32_t v = FT_SYM_INDEX(op->assignments[i].target);
        if (FT_SYM_IS_LOCAL(op->assignments[i].target))
            r->local[r->thread][v] = bits[i];
        else
            r->shared[v] = bits[i];
    }
    emit_action(r, op);
}

static void run_condition(run *r, ft_instruction *op)
{
    truth holds = run_guard(r, op);
    if (holds == HOLDS || (holds == FAILS && op->kind == FT_EVENT_ASSERT))
        emit_action(r, op);
    else
        stick(r);
}

static bool ended(const run *r, uint32_t thread)
{
    return !r->stuck[thread] && r->pos[thread] == r->program->n_ops[thread];
}

static bool started(const run *r, uint32_t thread)
{
    bool child = false;
    for (uint32_t i = 0; i < r->program->n_ops[0]; i++)
        child |=
            r->program->ops[0][i].kind == FT_EVENT_FORK && r->program->ops[0][i].object == thread;
    return !child || r->forked[thread];
}

static bool can_run(const run *r, uint32_t thread)
{
    if (r->stuck[thread] || ended(r, thread) || !started(r, thread)) return false;
    const ft_instruction *op = &r->program->ops[thread][r->pos[thread]];
    if (op->kind == FT_EVENT_ACQUIRE)
        return r->owner[op->object] == 0 ||
               (r->owner[op->object] == thread + 1 &&
                r->program->lock_kind[op->object] == FT_LOCK_RECURSIVE);
    if (op->kind == FT_EVENT_WAIT) return r->count > 0;
    if (op->kind == FT_EVENT_JOIN) return ended(r, op->object);
    if (op->kind == FT_EVENT_EDGE_IN) return r->edge[op->object];
    return true;
}

static void run_synchronisation(run *r, const ft_instruction *op)
{
    uint32_t o = op->object;
    bool own = op->kind == FT_EVENT_RELEASE && r->owner[o] == r->thread + 1;
    if (op->kind == FT_EVENT_ACQUIRE) {
        r->owner[o] = r->thread + 1;
        r->depth[o]++;
    }
    if (own && --r->depth[o] == 0) r->owner[o] = 0;
    if (op->kind == FT_EVENT_POST) r->count++;
    if (op->kind == FT_EVENT_WAIT) r->count--;
    if (op->kind == FT_EVENT_FORK) r->forked[o] = true;
    if (op->kind == FT_EVENT_EDGE_OUT) r->edge[o] = true;
    emit(r, op, FT_NO_VALUE);
}

static void run_op(run *r)
{
    ft_instruction *op = &r->program->ops[r->thread][r->pos[r->thread]++];
    if (op->kind == FT_EVENT_READ || op->kind == FT_EVENT_WRITE)
        run_access(r, op);
    else if (op->kind == FT_EVENT_ASSIGN)
        run_assign(r, op);
    else if (op->kind == FT_EVENT_ASSUME || op->kind == FT_EVENT_ASSERT)
        run_condition(r, op);
    else
        run_synchronisation(r, op);
}

static bool choose(run *r, bool sticky)
{
    uint32_t able[FT_PROGRAM_THREADS], n = 0;
    if (sticky && can_run(r, r->thread)) return true;
    for (uint32_t t = 0; t < r->program->n_threads; t++)
        if (can_run(r, t)) able[n++] = t;
    if (!n) return false;
    r->thread = able[ft_program_below(r->program, n)];
    return true;
}

void ft_program_run(ft_program *program)
{
    run r = {.program = program, .count = program->semaphore_initial};
    uint32_t stickiness = ft_program_below(program, 3) * 40;
    for (uint32_t v = 0; v < program->n_shared; v++) r.shared[v] = program->shared_initial[v];
    for (uint32_t t = 0; t < program->n_threads; t++)
        for (uint32_t v = 0; v < program->n_locals; v++) r.local[t][v] = program->local_initial[v];
    while (choose(&r, ft_program_percent(program, stickiness))) run_op(&r);
    if (r.emitted) return;
    r.thread = 0; /* a trace has at least one event */
    emit(&r, &(ft_instruction){.kind = FT_EVENT_BEGIN}, FT_NO_VALUE);
}
