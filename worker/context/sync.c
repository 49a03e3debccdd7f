#include "context/internal.h"

enum { AGAIN = 11, TIMED_OUT = 110 };

static ft_term none_equal(ctx *c, ft_term at, const ft_term *others, uint32_t n)
{
    ft_term all = ctx_literal(c, 1, 1);
    for (uint32_t i = 0; i < n; i++)
        all = ctx_two(c, FT_OP_AND, all, ctx_not(c, ctx_equal(c, at, others[i])));
    return all;
}

bool x_find(exploration *x, xstate *s, const cell *list, ft_term at, const uint64_t *objects,
            const cell **which)
{
    ft_term arms[MOST_ARMS], seen[MOST_ARMS];
    const cell *cells[MOST_ARMS];
    uint32_t n = 0, arm;
    bool sure = false;
    for (const cell *w = list; w && n + 1 < MOST_ARMS && !sure; w = w->before) {
        bool again = false;
        for (uint32_t i = 0; i < n; i++) again |= seen[i] == w->at;
        if (again || (w->at != at && ctx_are_apart(x->c, w->at, w->objects, 1, at, objects, 1)))
            continue;
        arms[n] =
            ctx_two(x->c, FT_OP_AND, ctx_equal(x->c, at, w->at), none_equal(x->c, at, seen, n));
        seen[n] = w->at;
        cells[n++] = w;
        sure = w->at == at;
    }
    arms[n] = sure ? ctx_literal(x->c, 1, 0) : none_equal(x->c, at, seen, n);
    cells[n++] = NULL;
    if (!x_decide(x, s, arms, n, &arm)) return false;
    *which = cells[arm];
    return true;
}

/* ---- conditions ---- */

static bool wait(exploration *x, xstate *s, uint32_t t, const ft_instruction *in)
{
    running *r = &s->threads[t];
    ft_term at = x_operand(x, s, t, in, 0), mutex = x_operand(x, s, t, in, 1);
    if (r->status == WAITS) { /* its time is up */
        r->status = RUNS;
        r->woken = r->late = true;
    }
    if (r->woken) {
        if (!x_take(x, s, t, mutex, x_objects(x, s, t, in, 1))) return false;
        x_result(s, t, in, ctx_literal(x->c, 32, s->threads[t].late ? TIMED_OUT : 0));
        s->threads[t].woken = s->threads[t].late = false;
        return true;
    }
    r->status = WAITS;
    r->timed = in->code == FT_CODE_TIMED_WAIT;
    r->queue = at;
    r->queue_objects = x_objects(x, s, t, in, 0);
    r->since = ctx_literal(x->c, 64, ++s->waits);
    x_give_back(x, s, mutex, x_objects(x, s, t, in, 1));
    return false;
}

static bool may_wait_there(const exploration *x, const running *r, ft_term at,
                           const uint64_t *objects)
{
    return r->status == WAITS &&
           (r->queue == at || !ctx_are_apart(x->c, r->queue, r->queue_objects, 1, at, objects, 1));
}

static void notify(xstate *s, uint32_t t)
{
    s->threads[t].status = RUNS;
    s->threads[t].woken = true;
}

/* Of the waiters one that waits there (Bergan 2.5.2): in the order of their waits, or any. */
static bool signal_one(exploration *x, xstate *s, ft_term at, const uint64_t *objects)
{
    ctx *c = x->c;
    ft_term arms[MOST_ARMS], none = ctx_literal(c, 1, 1);
    uint32_t waiters[MOST_ARMS], n = 0, arm;
    for (uint32_t t = 0; t < s->n; t++)
        if (may_wait_there(x, &s->threads[t], at, objects) &&
            !(n && ctx_fault_is(CTX_FAULT_FIRST_WAITER)))
            waiters[n++] = t;
    for (uint32_t i = 0; i < n; i++) {
        const running *r = &s->threads[waiters[i]];
        ft_term is = ctx_equal(c, at, r->queue);
        none = ctx_two(c, FT_OP_AND, none, ctx_not(c, is));
        for (uint32_t k = 0; k < n && c->options.fifo; k++) {
            const running *o = &s->threads[waiters[k]];
            if (k == i) continue;
            ft_term later = ctx_two(c, FT_OP_OR, ctx_not(c, ctx_equal(c, at, o->queue)),
                                    ctx_two(c, FT_OP_BVSLT, r->since, o->since));
            is = ctx_two(c, FT_OP_AND, is, later);
        }
        arms[i] = is;
    }
    arms[n] = c->options.others ? ctx_literal(c, 1, 1) : none;
    if (n && !x_decide(x, s, arms, n + 1, &arm)) return false;
    if (n && arm < n) notify(s, waiters[arm]);
    return true;
}

static bool notify_all(exploration *x, xstate *s, ft_term at, const uint64_t *objects)
{
    bool wakes[MOST_RUNNING] = {false};
    for (uint32_t t = 0; t < s->n; t++) {
        uint32_t arm;
        if (!may_wait_there(x, &s->threads[t], at, objects)) continue;
        ft_term arms[2] = {ctx_equal(x->c, at, s->threads[t].queue), FT_NO_TERM};
        arms[1] = ctx_not(x->c, arms[0]);
        if (!x_decide(x, s, arms, 2, &arm)) return false;
        wakes[t] = !arm;
    }
    for (uint32_t t = 0; t < s->n; t++)
        if (wakes[t]) notify(s, t);
    return true;
}

/* ---- barriers: `arrived` and `expected`, and those that wait ---- */

static bool only_object(const exploration *x, const uint64_t *objects, uint32_t *only)
{
    uint32_t n = 0;
    for (uint32_t a = 0; a < ft_flow_abstracts(x->c->flow); a++)
        if (ft_bits_has(objects, a)) *only = a, n++;
    return n == 1;
}

/* The state of a barrier that no step has used: what the passes know of it. */
static cell unseen_barrier(exploration *x, xstate *s, ft_term at, const uint64_t *objects)
{
    ctx *c = x->c;
    uint32_t only;
    uint64_t expected;
    cell b = {.at = at, .objects = objects};
    bool known = ctx_uses(c, FT_CONTEXT_COUNTS) && only_object(x, objects, &only) &&
                 ctx_expected(c, only, &expected);
    bool counted = ctx_uses(c, FT_CONTEXT_ARRIVED) && !c->options.others;
    uint32_t waiting = 0;
    for (uint32_t t = 0; t < s->n; t++) {
        if (s->threads[t].status != WAITS_AT_BARRIER) continue;
        waiting += s->threads[t].queue == at;
        counted &=
            s->threads[t].queue == at ||
            ctx_are_apart(c, s->threads[t].queue, s->threads[t].queue_objects, 1, at, objects, 1);
    }
    b.more = known ? ctx_literal(c, 64, expected) : ctx_fresh(c, 64);
    b.value = counted ? ctx_literal(c, 64, waiting) : ctx_fresh(c, 64);
    return b;
}

static void pass_barrier(exploration *x, xstate *s, uint32_t t, ft_term result)
{
    running *r = &s->threads[t];
    running_frame *f = &r->frames.data[r->frames.len - 1];
    const ft_instruction *in = &x->c->program->functions.data[f->function].instructions.data[f->at];
    x_result(s, t, in, result);
    f->at++;
    r->status = RUNS;
    r->visible = false;
}

static bool arrive(exploration *x, xstate *s, uint32_t t, const ft_instruction *in)
{
    ctx *c = x->c;
    const cell *w;
    uint32_t arm;
    ft_term at = x_operand(x, s, t, in, 0);
    const uint64_t *objects = x_objects(x, s, t, in, 0);
    if (!x_find(x, s, s->barriers, at, objects, &w)) return false;
    cell b = w ? *w : unseen_barrier(x, s, at, objects);
    if (!w) { /* both arms of what is decided next see it */
        x_push(x, &s->barriers, b);
        s->decided = s->asked = 0;
        return arrive(x, s, t, in);
    }
    ft_instruction sum = {.code = FT_CODE_ADD, .width = 64};
    ft_term both[2] = {b.value, ctx_literal(c, 64, 1)};
    ft_term arrived = ctx_compute(c, &sum, both, NULL);
    ft_term arms[2] = {ctx_equal(c, arrived, b.more), FT_NO_TERM};
    arms[1] = ctx_not(c, arms[0]);
    if (!x_decide(x, s, arms, 2, &arm)) return false;
    b.at = at;
    b.objects = objects;
    b.value = arm ? arrived : ctx_literal(c, 64, 0);
    x_push(x, &s->barriers, b);
    if (arm) {
        s->threads[t].status = WAITS_AT_BARRIER;
        s->threads[t].queue = at;
        s->threads[t].queue_objects = objects;
        return false;
    }
    for (uint32_t u = 0; u < s->n; u++)
        if (u != t && s->threads[u].status == WAITS_AT_BARRIER &&
            !ctx_fault_is(CTX_FAULT_BARRIER_ALONE) &&
            (s->threads[u].queue == at ||
             !ctx_are_apart(c, s->threads[u].queue, s->threads[u].queue_objects, 1, at, objects,
                            1)))
            pass_barrier(x, s, u, ctx_literal(c, 32, 0));
    x_result(s, t, in, ctx_literal(c, 32, UINT32_MAX));
    return true;
}

/* ---- semaphores ---- */

static bool lower(exploration *x, xstate *s, uint32_t t, const ft_instruction *in)
{
    ctx *c = x->c;
    const cell *w;
    uint32_t arm;
    ft_term at = x_operand(x, s, t, in, 0);
    const uint64_t *objects = x_objects(x, s, t, in, 0);
    if (!x_find(x, s, s->semaphores, at, objects, &w)) return false;
    cell b = w ? *w : (cell){.at = at, .objects = objects, .value = ctx_fresh(c, 32)};
    if (!w) {
        x_push(x, &s->semaphores, b);
        s->decided = s->asked = 0;
        return lower(x, s, t, in);
    }
    ft_term arms[2] = {ctx_not(c, ctx_equal(c, b.value, ctx_literal(c, 32, 0))), FT_NO_TERM};
    arms[1] = ctx_not(c, arms[0]);
    if (ctx_fault_is(CTX_FAULT_FOUND_ENOUGH)) arms[1] = ctx_literal(c, 1, 0);
    if (!x_decide(x, s, arms, 2, &arm)) return false;
    if (arm && in->code == FT_CODE_SEM_WAIT) return x_block(s, t);
    ft_instruction sub = {.code = FT_CODE_SUB, .width = 32};
    ft_term both[2] = {b.value, ctx_literal(c, 32, 1)};
    b.at = at;
    b.objects = objects;
    b.value = ctx_compute(c, &sub, both, NULL);
    if (!arm) x_push(x, &s->semaphores, b);
    uint64_t error = in->code == FT_CODE_SEM_TRY ? AGAIN : TIMED_OUT;
    x_result(s, t, in, ctx_literal(c, 32, arm ? error : 0));
    return true;
}

static bool raise(exploration *x, xstate *s, uint32_t t, const ft_instruction *in)
{
    ctx *c = x->c;
    const cell *w;
    ft_term at = x_operand(x, s, t, in, 0);
    const uint64_t *objects = x_objects(x, s, t, in, 0);
    if (!x_find(x, s, s->semaphores, at, objects, &w)) return false;
    ft_instruction sum = {.code = FT_CODE_ADD, .width = 32};
    ft_term both[2] = {w ? w->value : ctx_fresh(c, 32), ctx_literal(c, 32, 1)};
    x_push(x, &s->semaphores,
           (cell){.at = at, .objects = objects, .value = ctx_compute(c, &sum, both, NULL)});
    x_wake(s);
    x_result(s, t, in, ctx_literal(c, 32, 0));
    return true;
}

/* ---- threads ---- */

static bool create(exploration *x, xstate *s, uint32_t t, const ft_instruction *in)
{
    ctx *c = x->c;
    ft_term argument = x_operand(x, s, t, in, 1);
    uint32_t function;
    if (!x_target(x, s, t, in, 0, &function)) return false;
    if (s->n < MOST_RUNNING) {
        running *r = &s->threads[s->n++];
        *r = (running){.status = RUNS, .root = ctx_root_node(c, 1024 * s->n, function)};
        x_enter(x, s, s->n - 1, function, &argument, 1);
    } else {
        x->full = true;
    }
    x_result(s, t, in, ctx_fresh(c, 64));
    return true;
}

/* ---- atomics ---- */

static ft_term updated(ctx *c, const ft_instruction *in, ft_term v, ft_term w)
{
    static const uint8_t CODES[FT_UPDATES] = {[FT_UPDATE_ADD] = FT_CODE_ADD,
                                              [FT_UPDATE_SUB] = FT_CODE_SUB,
                                              [FT_UPDATE_AND] = FT_CODE_AND,
                                              [FT_UPDATE_OR] = FT_CODE_OR,
                                              [FT_UPDATE_XOR] = FT_CODE_XOR};
    ft_term both[2] = {v, w};
    if (in->attribute == FT_UPDATE_EXCHANGE) return w;
    if (in->attribute == FT_UPDATE_ADD || CODES[in->attribute])
        return ctx_compute(c, &(ft_instruction){.code = CODES[in->attribute], .width = in->width},
                           both, NULL);
    return ctx_fresh(c, in->width); /* minima and maxima: anything */
}

static bool update(exploration *x, xstate *s, uint32_t t, const ft_instruction *in)
{
    ctx *c = x->c;
    ft_term at = x_operand(x, s, t, in, 0), w = x_operand(x, s, t, in, 1);
    const uint64_t *objects = x_objects(x, s, t, in, 0);
    if (!x_inside(x, s, at, in->width / 8u, objects)) return false;
    ft_term before = x_load(x, s, at, in->width, objects), after;
    if (in->code == FT_CODE_ATOMIC_SWAP)
        after = ctx_choice(c, ctx_equal(c, before, w), x_operand(x, s, t, in, 2), before);
    else
        after = updated(c, in, before, w);
    x_store(x, s, at, in->width, after, objects);
    x_result(s, t, in, before);
    return true;
}

/* ---- all of them ---- */

static bool on_memory(exploration *x, xstate *s, uint32_t t, const ft_instruction *in)
{
    bool stores = in->code == FT_CODE_ATOMIC_STORE;
    if (!stores && in->code != FT_CODE_ATOMIC_LOAD) return update(x, s, t, in);
    ft_term at = x_operand(x, s, t, in, stores ? 1 : 0);
    const uint64_t *objects = x_objects(x, s, t, in, stores ? 1 : 0);
    if (!x_inside(x, s, at, in->width / 8u, objects)) return false;
    if (stores)
        x_store(x, s, at, in->width, x_operand(x, s, t, in, 0), objects);
    else
        x_result(s, t, in, x_load(x, s, at, in->width, objects));
    return true;
}

bool x_synchronise(exploration *x, xstate *s, uint32_t t, const ft_instruction *in)
{
    ft_code code = (ft_code)in->code;
    ft_term at = in->n_operands ? x_operand(x, s, t, in, 0) : FT_NO_TERM;
    const uint64_t *objects = in->n_operands ? x_objects(x, s, t, in, 0) : NULL;
    if (code >= FT_CODE_LOCK && code <= FT_CODE_UNLOCK) return x_mutex(x, s, t, in);
    if (code >= FT_CODE_READ_LOCK && code <= FT_CODE_RW_UNLOCK) return x_rw_lock(x, s, t, in);
    if (code >= FT_CODE_ATOMIC_LOAD && code <= FT_CODE_ATOMIC_SWAP) return on_memory(x, s, t, in);
    switch (code) {
    case FT_CODE_WAIT:
    case FT_CODE_TIMED_WAIT:
        return wait(x, s, t, in);
    case FT_CODE_SIGNAL:
        return signal_one(x, s, at, objects);
    case FT_CODE_BROADCAST:
        return notify_all(x, s, at, objects);
    case FT_CODE_BARRIER_INIT: {
        uint8_t from = x->c->program->functions
                           .data[s->threads[t].frames.data[s->threads[t].frames.len - 1].function]
                           .operands.data[in->operands + 1]
                           .width;
        ft_term n = x_operand(x, s, t, in, 1);
        if (from < 64)
            n = ctx_compute(x->c, &(ft_instruction){.code = FT_CODE_ZEXT, .width = 64}, &n, &from);
        x_push(x, &s->barriers,
               (cell){.at = at, .objects = objects, .value = ctx_literal(x->c, 64, 0), .more = n});
        return true;
    }
    case FT_CODE_BARRIER_WAIT:
        return arrive(x, s, t, in);
    case FT_CODE_SEM_INIT:
        x_push(x, &s->semaphores,
               (cell){.at = at, .objects = objects, .value = ctx_fresh(x->c, 32)});
        return true;
    case FT_CODE_SEM_WAIT:
    case FT_CODE_SEM_TRY:
    case FT_CODE_SEM_TIMED:
        return lower(x, s, t, in);
    case FT_CODE_SEM_POST:
        return raise(x, s, t, in);
    case FT_CODE_CREATE:
        return create(x, s, t, in);
    case FT_CODE_ONCE:
        return x_once(x, s, t, in);
    default: /* a join finds its thread ended */
        if (in->result != FT_NO_REGISTER)
            x_result(s, t, in, ctx_fresh(x->c, ft_instruction_result_width(in)));
        return true;
    }
}
