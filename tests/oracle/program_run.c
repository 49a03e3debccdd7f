#include "oracle/program.h"

#include <assert.h>

/* An if that a thread is in. */
typedef struct open_if {
    bool passed, held, in_else; /* passed: it stands in an arm that is passed over itself */
} open_if;

/* The generator's own execution of its program: real values, whatever the trace will tell. */
typedef struct run {
    ft_program *program;
    uint64_t shared[FT_PROGRAM_SHARED], local[FT_PROGRAM_THREADS][FT_PROGRAM_LOCALS];
    uint32_t pos[FT_PROGRAM_THREADS];
    bool stuck[FT_PROGRAM_THREADS], forked[FT_PROGRAM_THREADS];
    uint32_t owner[FT_PROGRAM_LOCKS], depth[FT_PROGRAM_LOCKS]; /* owner: thread + 1 */
    uint32_t reads[FT_PROGRAM_LOCKS][FT_PROGRAM_THREADS];      /* times held for reading */
    uint32_t count[FT_PROGRAM_SEMAPHORES];
    bool edge[FT_PROGRAM_EDGES];
    uint32_t waits[FT_PROGRAM_THREADS]; /* condition + 1 */
    bool woken[FT_PROGRAM_THREADS];
    uint32_t arrivals, round[FT_PROGRAM_THREADS]; /* round: of the thread's last arrival, from 1 */
    uint32_t once;                                /* 0: not begun, 1: begun, 2: done */
    open_if ifs[FT_PROGRAM_THREADS][FT_PROGRAM_IFS];
    uint32_t n_ifs[FT_PROGRAM_THREADS];
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

/* Accesses appended next are candidates, or are not. */
static void set_aside(run *r)
{
    ft_program *program = r->program;
    ft_builder_aside(program->builder,
                     program->ignored && ft_program_percent(program, program->ignored));
}

static void emit(run *r, const ft_instruction *op, uint32_t value)
{
    r->emitted++;
    set_aside(r);
    ft_builder_event(r->program->builder, op->kind, r->thread, op->object, op->loc, value,
                     op->flags);
}

static void emit_action(run *r, const ft_instruction *op)
{
    r->emitted++;
    set_aside(r);
    ft_builder_action(r->program->builder, op->kind, r->thread, op->loc, op->guard, op->assignments,
                      op->n_assignments, op->flags);
}

/* The thread runs into an error of its own (division by zero, a failed assume) and ends here. */
static void stick(run *r)
{
    r->stuck[r->thread] = true;
}

/* A read or write of which nothing was observed; a write may say what it would write. */
static void run_access_silently(run *r, const ft_instruction *op, bool valued)
{
    ft_program *program = r->program;
    ft_value value = {program->shared_sort[op->object], op->bits};
    r->emitted++;
    set_aside(r);
    if (op->kind == FT_EVENT_RMW)
        ft_builder_update(program->builder, r->thread, op->object, op->loc, FT_NO_VALUE,
                          FT_NO_VALUE, op->flags & FT_FLAG_TRY);
    else
        ft_builder_event(program->builder, op->kind, r->thread, op->object, op->loc,
                         valued ? ft_builder_value(program->builder, value) : FT_NO_VALUE,
                         op->flags);
}

static void run_access(run *r, const ft_instruction *op)
{
    ft_program *program = r->program;
    if (op->kind == FT_EVENT_WRITE) r->shared[op->object] = op->bits;
    ft_value value = {program->shared_sort[op->object], r->shared[op->object]};
    emit(r, op, op->valued ? ft_builder_value(program->builder, value) : FT_NO_VALUE);
}

/* An update adds its bits, so that what it writes depends on what it read. */
static void run_update(run *r, const ft_instruction *op)
{
    ft_program *program = r->program;
    ft_value read = {program->shared_sort[op->object], r->shared[op->object]}, written = read;
    bool boolean = read.sort.kind == FT_SORT_BOOL;
    written.bits = boolean ? op->bits : (read.bits + op->bits) % 4;
    r->shared[op->object] = written.bits;
    bool reads = op->valued && ft_program_percent(program, 90), writes = op->valued;
    r->emitted++;
    set_aside(r);
    ft_builder_update(program->builder, r->thread, op->object, op->loc,
                      reads ? ft_builder_value(program->builder, read) : FT_NO_VALUE,
                      writes ? ft_builder_value(program->builder, written) : FT_NO_VALUE,
                      op->flags & FT_FLAG_TRY);
}

static bool may_write(const ft_instruction *op, uint32_t variable)
{
    if (op->kind == FT_EVENT_WRITE || op->kind == FT_EVENT_RMW) return op->object == variable;
    for (uint32_t i = 0; op->kind == FT_EVENT_ASSIGN && i < op->n_assignments; i++)
        if (op->assignments[i].target == FT_SYM_SHARED(variable)) return true;
    return false;
}

/* A shared variable that another thread writes, if there is one; else the one asked for. */
static uint32_t contended(const run *r, uint32_t variable)
{
    const ft_program *program = r->program;
    for (uint32_t i = 0; i < program->n_shared; i++) {
        uint32_t v = (variable + i) % program->n_shared;
        for (uint32_t t = 0; t < program->n_threads; t++)
            for (uint32_t k = 0; t != r->thread && !program->plain[v] && program->declared[v] &&
                                 k < program->n_ops[t];
                 k++)
                if (may_write(&program->ops[t][k], v)) return v;
    }
    return variable;
}

static void pin(run *r, ft_instruction *op)
{
    ft_term_pool *pool = ft_builder_terms(r->program->builder);
    uint32_t v = op->pinned - 1, n_shared = r->program->n_shared;
    if (v < n_shared && ft_program_percent(r->program, 50)) v = contended(r, v);
    bool local = v >= n_shared;
    ft_symbol symbol = local ? FT_SYM_LOCAL(v - n_shared) : FT_SYM_SHARED(v);
    ft_value value;
    (void)look_up(r, symbol, &value);
    ft_term sides[2] = {ft_term_symbol(pool, symbol, value.sort), ft_term_literal(pool, value)};
    ft_error err = FT_ERROR_INIT;
    ft_status status = ft_term_apply(pool, FT_OP_EQ, sides, 2, NULL, &op->guard, &err);
    assert(status == FT_OK);
}

static void negate(run *r, ft_instruction *op)
{
    ft_error err = FT_ERROR_INIT;
    ft_term negated;
    ft_status status = ft_term_apply(ft_builder_terms(r->program->builder), FT_OP_NOT, &op->guard,
                                     1, NULL, &negated, &err);
    assert(status == FT_OK);
    op->guard = negated;
}

/* The value of the guard or condition. One that does not hold is mostly turned round, so that the
 * run passes. */
static truth run_guard(run *r, ft_instruction *op)
{
    uint64_t holds = 1;
    if (op->pinned) pin(r, op);
    if (op->guard != FT_NO_TERM && !evaluate(r, op->guard, &holds)) return UNDEFINED;
    uint32_t turned = op->kind == FT_EVENT_ASSERT ? 85 : 94;
    if (holds || !ft_program_percent(r->program, turned)) return holds ? HOLDS : FAILS;
    negate(r, op);
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
    for (uint32_t t = 0; t < 2; t++)
        for (uint32_t i = 0; i < r->program->n_ops[t]; i++)
            child |= r->program->ops[t][i].kind == FT_EVENT_FORK &&
                     r->program->ops[t][i].object == thread;
    return !child || r->forked[thread];
}

/* ---- locks ---- */

static bool read_held(const run *r, uint32_t lock)
{
    for (uint32_t t = 0; t < r->program->n_threads; t++)
        if (r->reads[lock][t]) return true;
    return false;
}

/* Does a thread come to take the writer-preferring lock for writing, which others read? Readers of
 * the lock then wait behind it. */
static bool writer_waits(const run *r, uint32_t lock)
{
    const ft_program *program = r->program;
    if (program->lock_kind[lock] != FT_LOCK_WRITER_PREFERRING || !read_held(r, lock)) return false;
    for (uint32_t t = 0; t < program->n_threads; t++) {
        const ft_instruction *op = &program->ops[t][r->pos[t]];
        if (r->stuck[t] || r->pos[t] == program->n_ops[t] || !started(r, t)) continue;
        bool waits = op->kind == FT_EVENT_ACQUIRE && !(op->flags & FT_FLAG_TRY);
        if (waits && op->object == lock && !r->reads[lock][t]) return true;
    }
    return false;
}

/* May `thread` take the lock now? An error-checking one refuses its holder at once. */
static bool may_take(const run *r, uint32_t thread, const ft_instruction *op)
{
    uint32_t lock = op->object;
    bool own = r->owner[lock] == thread + 1;
    if (op->kind == FT_EVENT_ACQUIRE_SHARED) return r->owner[lock] == 0;
    if (own) return r->program->lock_kind[lock] == FT_LOCK_RECURSIVE;
    return r->owner[lock] == 0 && !read_held(r, lock);
}

static bool refused_at_once(const run *r, uint32_t thread, const ft_instruction *op)
{
    return r->owner[op->object] == thread + 1 && !(op->flags & FT_FLAG_TRY) &&
           r->program->lock_kind[op->object] == FT_LOCK_ERROR_CHECKING;
}

static void run_acquire(run *r, const ft_instruction *op)
{
    uint32_t lock = op->object;
    if (refused_at_once(r, r->thread, op)) {
        emit(r, op, FT_NO_VALUE);
        return;
    }
    if (!may_take(r, r->thread, op)) { /* an attempt */
        ft_instruction failed = *op;
        failed.kind =
            op->kind == FT_EVENT_ACQUIRE ? FT_EVENT_TRY_FAILED : FT_EVENT_TRY_FAILED_SHARED;
        failed.flags = 0;
        r->pos[r->thread] += op->skip;
        emit(r, &failed, FT_NO_VALUE);
        return;
    }
    if (op->kind == FT_EVENT_ACQUIRE_SHARED) {
        r->reads[lock][r->thread]++;
    } else {
        r->owner[lock] = r->thread + 1;
        r->depth[lock]++;
    }
    emit(r, op, FT_NO_VALUE);
}

static void run_release(run *r, const ft_instruction *op)
{
    uint32_t lock = op->object;
    if (r->owner[lock] == r->thread + 1) {
        if (--r->depth[lock] == 0) r->owner[lock] = 0;
    } else if (r->reads[lock][r->thread]) {
        r->reads[lock][r->thread]--;
    }
    emit(r, op, FT_NO_VALUE);
}

/* ---- conditions, barriers, once ---- */

static void run_signal(run *r, const ft_instruction *op)
{
    uint32_t found[FT_PROGRAM_THREADS], n = 0;
    for (uint32_t t = 0; t < r->program->n_threads; t++)
        if (r->waits[t] == op->object + 1 && !r->woken[t]) found[n++] = t;
    if (n && op->kind == FT_EVENT_SIGNAL) {
        found[0] = found[ft_program_below(r->program, n)];
        n = 1;
    }
    for (uint32_t i = 0; i < n; i++) r->woken[found[i]] = true;
    emit(r, op, FT_NO_VALUE);
}

static void run_wake(run *r, const ft_instruction *op)
{
    ft_instruction wake = *op;
    bool late = r->woken[r->thread] && op->timed && ft_program_percent(r->program, 30);
    if (op->timed) wake.flags = late || !r->woken[r->thread] ? FT_FLAG_FAILED : FT_FLAG_TRY;
    r->waits[r->thread] = 0;
    r->woken[r->thread] = false;
    emit(r, &wake, FT_NO_VALUE);
}

static void run_once(run *r, const ft_instruction *op)
{
    ft_instruction pass = *op;
    if (op->kind == FT_EVENT_ONCE_BEGIN && r->once == 2) {
        pass.kind = FT_EVENT_ONCE_PASS;
        r->pos[r->thread] += op->skip;
    } else {
        r->once = op->kind == FT_EVENT_ONCE_BEGIN ? 1 : 2;
    }
    emit(r, &pass, FT_NO_VALUE);
}

/* ---- branches ---- */

static bool passes_over(const run *r, uint32_t thread)
{
    if (r->n_ifs[thread] == 0) return false;
    const open_if *innermost = &r->ifs[thread][r->n_ifs[thread] - 1];
    return innermost->passed || innermost->held == innermost->in_else;
}

static void run_if(run *r, ft_instruction *op)
{
    bool passed = passes_over(r, r->thread);
    uint64_t holds = 0;
    if (op->pinned) {
        pin(r, op);
        if (ft_program_percent(r->program, 50)) negate(r, op);
    }
    if (!passed && !evaluate(r, op->guard, &holds)) {
        stick(r);
        return;
    }
    r->ifs[r->thread][r->n_ifs[r->thread]++] = (open_if){passed, holds != 0, false};
    emit_action(r, op);
}

static void run_else(run *r, ft_instruction *op)
{
    r->ifs[r->thread][r->n_ifs[r->thread] - 1].in_else = true;
    emit(r, op, FT_NO_VALUE);
}

static void run_end_if(run *r, ft_instruction *op)
{
    r->n_ifs[r->thread]--;
    emit(r, op, FT_NO_VALUE);
}

/* Nothing is observed of what is passed over: a read there is mostly a condition, an update mostly
 * an assignment, so that the trace still supports ctp. */
static void pass_over_access(run *r, ft_instruction *op)
{
    ft_program *program = r->program;
    bool terms = (program->grade == FT_GRADE_SYMBOLIC || program->grade == FT_GRADE_MIXED) &&
                 ft_program_percent(program, 85);
    ft_instruction other = *op;
    if (op->kind == FT_EVENT_WRITE && terms) {
        run_access_silently(r, op, op->valued);
    } else if (op->kind == FT_EVENT_WRITE || !terms) {
        run_access_silently(r, op, false);
    } else if (op->kind == FT_EVENT_READ) {
        other.kind = FT_EVENT_ASSUME;
        other.guard = ft_program_condition(program, false);
        emit_action(r, &other);
    } else {
        ft_sort sort = program->shared_sort[op->object];
        other.kind = FT_EVENT_ASSIGN;
        other.flags = FT_FLAG_ATOMIC;
        other.assignments[0] =
            (ft_assignment){FT_SYM_SHARED(op->object), ft_program_term(program, sort)};
        other.n_assignments = 1;
        emit_action(r, &other);
    }
}

/* An attempt in an arm that was not taken is there with either outcome; of a lock that its own
 * thread holds with the one it can have. */
static void pass_over_attempt(run *r, ft_instruction *op)
{
    ft_instruction attempt = *op;
    bool own = op->skip == 0;
    if (own || ft_program_percent(r->program, 40)) {
        attempt.kind =
            op->kind == FT_EVENT_ACQUIRE ? FT_EVENT_TRY_FAILED : FT_EVENT_TRY_FAILED_SHARED;
        attempt.flags = 0;
        r->pos[r->thread] += op->skip;
    }
    emit(r, &attempt, FT_NO_VALUE);
}

static void emit_late(run *r, const ft_instruction *op)
{
    ft_instruction wake = *op;
    wake.flags = FT_FLAG_FAILED;
    emit(r, &wake, FT_NO_VALUE);
}

static void pass_over(run *r, ft_instruction *op)
{
    if (op->pinned) pin(r, op);
    if (ft_event_kind_object(op->kind) == FT_OBJECT_VARIABLE)
        pass_over_access(r, op);
    else if (op->flags & FT_FLAG_TRY && ft_event_kind_object(op->kind) == FT_OBJECT_LOCK)
        pass_over_attempt(r, op);
    else if (op->kind == FT_EVENT_ASSIGN || op->kind == FT_EVENT_ASSUME ||
             op->kind == FT_EVENT_ASSERT)
        emit_action(r, op);
    else if (op->kind == FT_EVENT_COND_WAKE && op->timed)
        emit_late(r, op);
    else
        emit(r, op, FT_NO_VALUE);
}

static bool can_run(const run *r, uint32_t thread)
{
    if (r->stuck[thread] || ended(r, thread) || !started(r, thread)) return false;
    if (passes_over(r, thread)) return true;
    const ft_instruction *op = &r->program->ops[thread][r->pos[thread]];
    if (op->kind == FT_EVENT_ACQUIRE || op->kind == FT_EVENT_ACQUIRE_SHARED) {
        if (op->flags & FT_FLAG_TRY) return true;
        if (op->kind == FT_EVENT_ACQUIRE_SHARED && writer_waits(r, op->object)) return false;
        return may_take(r, thread, op) || refused_at_once(r, thread, op);
    }
    if (op->kind == FT_EVENT_WAIT) return r->count[op->object] > 0;
    if (op->kind == FT_EVENT_JOIN) return ended(r, op->object);
    if (op->kind == FT_EVENT_EDGE_IN) return r->edge[op->object];
    if (op->kind == FT_EVENT_COND_WAKE) return r->woken[thread] || op->timed;
    if (op->kind == FT_EVENT_BARRIER_LEAVE)
        return r->arrivals >= r->round[thread] * r->program->barrier_count;
    if (op->kind == FT_EVENT_ONCE_BEGIN) return r->once != 1;
    return true;
}

static void run_synchronisation(run *r, const ft_instruction *op)
{
    uint32_t o = op->object;
    if (op->kind == FT_EVENT_POST) r->count[o]++;
    if (op->kind == FT_EVENT_WAIT) r->count[o]--;
    if (op->kind == FT_EVENT_FORK) r->forked[o] = true;
    if (op->kind == FT_EVENT_EDGE_OUT) r->edge[o] = true;
    if (op->kind == FT_EVENT_COND_WAIT) r->waits[r->thread] = o + 1;
    if (op->kind == FT_EVENT_BARRIER_ARRIVE)
        r->round[r->thread] = r->arrivals++ / r->program->barrier_count + 1;
    emit(r, op, FT_NO_VALUE);
}

static void run_op(run *r)
{
    static void (*const others[FT_EVENT_KINDS])(run *, const ft_instruction *) = {
        [FT_EVENT_READ] = run_access,
        [FT_EVENT_WRITE] = run_access,
        [FT_EVENT_RMW] = run_update,
        [FT_EVENT_ACQUIRE] = run_acquire,
        [FT_EVENT_ACQUIRE_SHARED] = run_acquire,
        [FT_EVENT_RELEASE] = run_release,
        [FT_EVENT_SIGNAL] = run_signal,
        [FT_EVENT_BROADCAST] = run_signal,
        [FT_EVENT_COND_WAKE] = run_wake,
        [FT_EVENT_ONCE_BEGIN] = run_once,
        [FT_EVENT_ONCE_END] = run_once,
    };
    static void (*const branches[FT_EVENT_KINDS])(run *, ft_instruction *) = {
        [FT_EVENT_IF] = run_if,
        [FT_EVENT_ELSE] = run_else,
        [FT_EVENT_END_IF] = run_end_if,
    };
    ft_instruction *op = &r->program->ops[r->thread][r->pos[r->thread]++];
    if (branches[op->kind] || passes_over(r, r->thread)) {
        (branches[op->kind] ? branches[op->kind] : pass_over)(r, op);
        return;
    }
    if (op->kind == FT_EVENT_ASSIGN)
        run_assign(r, op);
    else if (op->kind == FT_EVENT_ASSUME || op->kind == FT_EVENT_ASSERT)
        run_condition(r, op);
    else if (others[op->kind])
        others[op->kind](r, op);
    else
        run_synchronisation(r, op);
    if (op->tests && r->shared[op->object]) r->pos[r->thread] += op->skip;
}

/* Is the thread about to wake somebody while nobody waits? */
static bool hurries(const run *r, uint32_t thread)
{
    const ft_instruction *op = &r->program->ops[thread][r->pos[thread]];
    if (op->kind != FT_EVENT_SIGNAL && op->kind != FT_EVENT_BROADCAST) return false;
    for (uint32_t t = 0; t < r->program->n_threads; t++)
        if (r->waits[t] == op->object + 1 && !r->woken[t]) return false;
    return true;
}

static bool choose(run *r, bool sticky)
{
    uint32_t able[FT_PROGRAM_THREADS], n = 0, patient = 0;
    for (uint32_t t = 0; t < r->program->n_threads; t++)
        if (can_run(r, t)) able[n++] = t;
    if (!n) return false;
    /* Mostly whoever would wake nobody lets the others go first. */
    for (uint32_t i = 0; i < n; i++)
        if (!hurries(r, able[i])) able[patient++] = able[i];
    if (patient && ft_program_percent(r->program, 80)) n = patient;
    for (uint32_t i = 0; sticky && i < n; i++)
        if (able[i] == r->thread) return true;
    r->thread = able[ft_program_below(r->program, n)];
    return true;
}

/* What the thread waits for, and will for ever: an event that did not happen. */
static void tell_wait(run *r)
{
    if (r->stuck[r->thread] || ended(r, r->thread) || !started(r, r->thread)) return;
    ft_instruction wait = r->program->ops[r->thread][r->pos[r->thread]];
    if (wait.kind == FT_EVENT_ONCE_BEGIN) wait.kind = FT_EVENT_ONCE_PASS;
    if (!ft_event_kind_waits(wait.kind)) return; /* an edge says nothing of waiting */
    wait.flags = (uint8_t)((wait.flags & ~FT_FLAG_TRY) | FT_FLAG_BLOCKED);
    emit(r, &wait, FT_NO_VALUE);
}

static ft_run_end end_of(const run *r)
{
    bool complete = true, holding = false;
    for (uint32_t t = 0; t < r->program->n_threads; t++) complete &= ended(r, t);
    for (uint32_t l = 0; l < r->program->n_locks; l++)
        holding |= r->owner[l] != 0 || read_held(r, l);
    return complete ? FT_RUN_COMPLETE : holding ? FT_RUN_STUCK_HOLDING : FT_RUN_STUCK;
}

ft_run_end ft_program_run(ft_program *program)
{
    run r = {.program = program};
    uint32_t stickiness = ft_program_below(program, 3) * 40;
    for (uint32_t v = 0; v < program->n_shared; v++) r.shared[v] = program->shared_initial[v];
    for (uint32_t i = 0; i < program->n_semaphores; i++) r.count[i] = program->semaphore_initial[i];
    for (uint32_t t = 0; t < program->n_threads; t++)
        for (uint32_t v = 0; v < program->n_locals; v++) r.local[t][v] = program->local_initial[v];
    while (choose(&r, ft_program_percent(program, stickiness))) run_op(&r);
    for (r.thread = 0; program->tells && r.thread < program->n_threads; r.thread++) tell_wait(&r);
    r.thread = 0; /* a trace has at least one event */
    if (!r.emitted) emit(&r, &(ft_instruction){.kind = FT_EVENT_BEGIN}, FT_NO_VALUE);
    return end_of(&r);
}
