#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "context/internal.h"

/* A path of more instructions, calls, or returns to calls of which nothing is known is cut. */
enum { MOST_INSTRUCTIONS = 20000, MOST_CALLS = 200, MOST_RETURNS = 6 };

static void explore(exploration *x, xstate *s);
static void end_path(exploration *x, xstate *s, bool is_cut);

/* The path is longer than it may be; false. */
static bool cut(exploration *x, xstate *s)
{
    end_path(x, s, true);
    return s->dropped = true, false;
}

/* ---- states ---- */

static xstate *copy_state(const xstate *from)
{
    xstate *s = ft_alloc(sizeof *s);
    *s = *from;
    for (uint32_t t = 0; t < s->n; t++) {
        running *r = &s->threads[t];
        memset(&r->frames, 0, sizeof r->frames);
        memset(&r->values, 0, sizeof r->values);
        ft_vec_reserve(&r->frames, from->threads[t].frames.len + 1);
        ft_vec_reserve(&r->values, from->threads[t].values.len + 1);
        r->frames.len = from->threads[t].frames.len;
        r->values.len = from->threads[t].values.len;
        if (r->frames.len)
            memcpy(r->frames.data, from->threads[t].frames.data,
                   r->frames.len * sizeof *r->frames.data);
        if (r->values.len)
            memcpy(r->values.data, from->threads[t].values.data,
                   r->values.len * sizeof *r->values.data);
    }
    memset(&s->constraints, 0, sizeof s->constraints);
    for (size_t i = 0; i < from->constraints.len; i++)
        ft_vec_push(&s->constraints, from->constraints.data[i]);
    return s;
}

static void free_state(xstate *s)
{
    for (uint32_t t = 0; t < s->n; t++) {
        ft_vec_release(&s->threads[t].frames);
        ft_vec_release(&s->threads[t].values);
    }
    ft_vec_release(&s->constraints);
    free(s);
}

static bool is_full(exploration *x)
{
    const ft_context_options *o = &x->c->options;
    x->full |= x->paths->paths >= o->most || (o->should_stop && o->should_stop(o->context));
    return x->full;
}

/* ---- decisions ---- */

bool x_decide(exploration *x, xstate *s, const ft_term *arms, uint32_t n, uint32_t *arm)
{
    uint32_t open[MOST_ARMS], many = 0;
    if (s->asked < s->decided) {
        *arm = s->decisions[s->asked++];
        return true;
    }
    FT_REQUIRE(n && n <= MOST_ARMS && s->decided < MOST_DECIDED);
    for (uint32_t i = 0; i < n; i++)
        if (ctx_can_hold(x->c, s->constraints.data, (uint32_t)s->constraints.len, arms[i]))
            open[many++] = i;
    for (uint32_t i = 0; i < many && many > 1; i++) {
        xstate *next = copy_state(s);
        uint64_t bits;
        next->decisions[next->decided++] = (uint8_t)open[i];
        next->asked = 0;
        if (!ctx_is_literal(x->c, arms[open[i]], &bits))
            ft_vec_push(&next->constraints, arms[open[i]]);
        if (!is_full(x)) explore(x, next);
        free_state(next);
    }
    s->dropped = many != 1; /* its copies have been explored; or nothing is possible */
    if (many != 1) return false;
    *arm = open[0];
    s->decisions[s->decided++] = (uint8_t)open[0];
    s->asked++;
    return true;
}

/* ---- frames and values ---- */

static running_frame *top(xstate *s, uint32_t t)
{
    running *r = &s->threads[t];
    assert(r->frames.len);
    return &r->frames.data[r->frames.len - 1];
}

static const ft_function *function_at(const exploration *x, const running_frame *f)
{
    return &x->c->program->functions.data[f->function];
}

static ft_term value_of(exploration *x, xstate *s, uint32_t t, const ft_operand *o)
{
    const running *r = &s->threads[t];
    if (o->kind == FT_OPERAND_REGISTER) return r->values.data[top(s, t)->registers + o->index];
    env none = {.frame = 0};
    return env_operand(x->c, &none, r->root, o);
}

ft_term x_operand(exploration *x, xstate *s, uint32_t t, const ft_instruction *in, uint32_t i)
{
    return value_of(x, s, t, &function_at(x, top(s, t))->operands.data[in->operands + i]);
}

const uint64_t *x_objects(exploration *x, xstate *s, uint32_t t, const ft_instruction *in,
                          uint32_t i)
{
    return ft_flow_points_to(x->c->flow, top(s, t)->function,
                             &function_at(x, top(s, t))->operands.data[in->operands + i]);
}

void x_result(xstate *s, uint32_t t, const ft_instruction *in, ft_term v)
{
    if (in->result != FT_NO_REGISTER)
        s->threads[t].values.data[top(s, t)->registers + in->result] = v;
}

void x_enter(exploration *x, xstate *s, uint32_t t, uint32_t function, const ft_term *arguments,
             uint32_t n)
{
    running *r = &s->threads[t];
    const ft_function *f = &x->c->program->functions.data[function];
    running_frame made = {NO_NODE, function, f->blocks.data[0].instructions,
                          (uint32_t)r->values.len};
    for (size_t i = 0; i < f->registers.len; i++) ft_vec_push(&r->values, FT_NO_TERM);
    for (uint32_t i = 0; i < n; i++)
        r->values.data[made.registers + f->blocks.data[0].parameters + i] = arguments[i];
    ft_vec_push(&r->frames, made);
}

void x_fail(exploration *x, xstate *s, const char *why)
{
    ft_context_paths *p = x->paths;
    const running_frame *f = top(s, s->current);
    if (!p->failure[0]) {
        p->failed = (ft_context_point){f->function, f->at};
        (void)snprintf(p->failure, sizeof p->failure, "%s", why);
    }
    s->failed = s->ended = true;
}

/* ---- instructions; false: forked, waiting or ended ---- */

static bool take_edge(exploration *x, xstate *s, uint32_t t, const ft_target *target)
{
    const ft_function *f = function_at(x, top(s, t));
    const ft_block *block = &f->blocks.data[target->block];
    ft_term few[16], *v = target->n_operands > 16 ? ft_alloc(target->n_operands * sizeof *v) : few;
    for (uint32_t i = 0; i < target->n_operands; i++)
        v[i] = value_of(x, s, t, &f->operands.data[target->operands + i]);
    for (uint32_t i = 0; i < target->n_operands; i++)
        s->threads[t].values.data[top(s, t)->registers + block->parameters + i] = v[i];
    if (v != few) free(v);
    top(s, t)->at = block->instructions;
    return true;
}

static bool branch(exploration *x, xstate *s, uint32_t t, const ft_instruction *in)
{
    ctx *c = x->c;
    uint32_t arm, n = in->n_targets;
    const ft_target *targets = &function_at(x, top(s, t))->targets.data[in->targets];
    ft_term arms[MOST_ARMS], v = x_operand(x, s, t, in, 0), rest = ctx_literal(c, 1, 1);
    if (n > MOST_ARMS) {
        x->full = true;
        return false;
    }
    if (in->code == FT_CODE_BRANCH) {
        arms[0] = v;
        arms[1] = ctx_not(c, v);
    }
    for (uint32_t i = 1; i < n && in->code == FT_CODE_SWITCH; i++) {
        arms[i] = ctx_equal(c, v, ctx_literal(c, in->width, targets[i].value));
        rest = ctx_two(c, FT_OP_AND, rest, ctx_not(c, arms[i]));
        arms[0] = rest;
    }
    if (in->code == FT_CODE_SWITCH && n == 1) arms[0] = rest;
    if (!x_decide(x, s, arms, n, &arm)) return false;
    s->branches++;
    return take_edge(x, s, t, &targets[arm]);
}

static bool end_thread(xstate *s, uint32_t t)
{
    running *r = &s->threads[t];
    r->status = ENDED;
    r->frames.len = r->values.len = 0;
    x_wake(s);
    return false;
}

/* The first frame returns, of whose calls nothing is known: to any of them, of which no more is
 * known than its place. */
static bool return_anywhere(exploration *x, xstate *s, uint32_t t)
{
    ctx *c = x->c;
    running *r = &s->threads[t];
    ft_term arms[MOST_ARMS];
    ft_context_point callers[MOST_ARMS] = {0};
    uint32_t n = 0, callee = top(s, t)->function, arm;
    if (ctx_root_of(c, callee)) arms[n++] = ctx_literal(c, 1, 1); /* it was the thread's */
    uint32_t ends = n;
    for (uint32_t f = 0; f < c->program->functions.len; f++) {
        const ft_function *g = &c->program->functions.data[f];
        for (uint32_t i = 0; ft_bits_has(c->reachable, f) && i < g->instructions.len; i++) {
            uint32_t many;
            if (g->instructions.data[i].code == FT_CODE_CREATE) continue;
            const uint32_t *targets = ft_flow_targets(c->flow, f, i, &many);
            for (uint32_t k = 0; k < many; k++) {
                if (targets[k] != callee) continue;
                if (n == MOST_ARMS) return x->full = true, false;
                callers[n] = (ft_context_point){f, i};
                arms[n++] = ctx_literal(c, 1, 1);
            }
        }
    }
    if (!x_decide(x, s, arms, n, &arm)) return false;
    if (++s->returns > MOST_RETURNS) return cut(x, s); /* they could go on for ever */
    if (arm < ends) return end_thread(s, t);
    const ft_function *g = &c->program->functions.data[callers[arm].function];
    r->values.len = 0;
    for (uint32_t i = 0; i < g->registers.len; i++)
        ft_vec_push(&r->values, ctx_fresh(c, g->registers.data[i].width));
    r->frames.data[0] =
        (running_frame){NO_NODE, callers[arm].function, callers[arm].instruction, 0};
    return true;
}

static bool give_back(exploration *x, xstate *s, uint32_t t, const ft_instruction *in)
{
    running *r = &s->threads[t];
    ft_term v = in->n_operands ? x_operand(x, s, t, in, 0) : FT_NO_TERM;
    if (ctx_fault_is(CTX_FAULT_RETURNS_AT_ONCE) && r->frames.len == 1 && !r->open)
        s->ended = r->frames.data[0].function == x->c->roots.data[0].function;
    if (r->frames.len == 1 && (!r->open || ctx_fault_is(CTX_FAULT_NO_CALLER)))
        return end_thread(s, t);
    if (r->frames.len == 1) {
        if (!return_anywhere(x, s, t)) return false;
    } else {
        r->values.len = top(s, t)->registers;
        r->frames.len--;
    }
    running_frame *f = top(s, t);
    const ft_instruction *call = &function_at(x, f)->instructions.data[f->at];
    if (call->code == FT_CODE_ONCE)
        x_once_done(x, s, x_operand(x, s, t, call, 0), x_objects(x, s, t, call, 0));
    else
        x_result(s, t, call, v);
    f->at++;
    return true;
}

bool x_target(exploration *x, xstate *s, uint32_t t, const ft_instruction *in, uint32_t operand,
              uint32_t *function)
{
    ctx *c = x->c;
    ft_term arms[MOST_ARMS];
    uint32_t n, arm = 0;
    bool direct = in->code == FT_CODE_CALL;
    const uint32_t *targets = ft_flow_targets(c->flow, top(s, t)->function, top(s, t)->at, &n);
    if (n > MOST_ARMS) return x->full = true, false;
    if (!n) return x_fail(x, s, "a call of an address where no function is"), false;
    for (uint32_t i = 0; i < n && !direct; i++)
        arms[i] =
            ctx_equal(c, x_operand(x, s, t, in, operand),
                      ctx_literal(c, 64, c->base[c->program->functions.data[targets[i]].symbol]));
    if (!direct && !x_decide(x, s, arms, n, &arm)) return false;
    *function = targets[arm];
    return true;
}

static bool call(exploration *x, xstate *s, uint32_t t, const ft_instruction *in)
{
    ft_term arguments[256];
    uint32_t skip = in->code == FT_CODE_CALL ? 0 : 1, many = in->n_operands - skip, function;
    if (many > 256) return x->full = true, false;
    if (s->threads[t].frames.len >= MOST_CALLS) return cut(x, s);
    if (!x_target(x, s, t, in, 0, &function)) return false;
    for (uint32_t i = 0; i < many; i++) arguments[i] = x_operand(x, s, t, in, i + skip);
    x_enter(x, s, t, function, arguments, many);
    return true;
}

static bool check(exploration *x, xstate *s, uint32_t t, const ft_instruction *in)
{
    ft_term arms[2] = {x_operand(x, s, t, in, 0), FT_NO_TERM};
    uint32_t arm = 0;
    arms[1] = ctx_not(x->c, arms[0]);
    if (in->code == FT_CODE_ASSUME) {
        if (!ctx_can_hold(x->c, s->constraints.data, (uint32_t)s->constraints.len, arms[0])) {
            s->dropped = true;
            return false;
        }
        ft_vec_push(&s->constraints, arms[0]);
        return true;
    }
    if (!x_decide(x, s, arms, 2, &arm)) return false;
    if (arm) x_fail(x, s, x->c->program->texts.names[in->extra]);
    return !arm;
}

static bool access(exploration *x, xstate *s, uint32_t t, const ft_instruction *in)
{
    bool loads = in->code == FT_CODE_LOAD;
    ft_term at = x_operand(x, s, t, in, loads ? 0 : 1);
    const uint64_t *objects = x_objects(x, s, t, in, loads ? 0 : 1);
    const ft_operand *o = &function_at(x, top(s, t))->operands.data[in->operands + (loads ? 0 : 1)];
    uint64_t bits;
    if (!x_inside(x, s, at, (in->width + 7u) / 8, objects)) return false;
    if (!loads)
        x_store(x, s, at, in->width, x_operand(x, s, t, in, 0), objects);
    else if (o->kind == FT_OPERAND_ADDRESS &&
             ctx_constant_at(x->c, o->index, o->value, in->width, &bits))
        x_result(s, t, in, ctx_literal(x->c, in->width, bits));
    else
        x_result(s, t, in, x_load(x, s, at, in->width, objects));
    return true;
}

/* Divisions by 0 are failures; where the divisor may be anything else the result is any. */
static bool compute(exploration *x, xstate *s, uint32_t t, const ft_instruction *in)
{
    ft_term operands[3] = {0}, v = FT_NO_TERM;
    uint8_t widths[3] = {0}, width = ft_instruction_result_width(in);
    const ft_function *f = function_at(x, top(s, t));
    for (uint32_t i = 0; i < in->n_operands && i < 3; i++) {
        operands[i] = x_operand(x, s, t, in, i);
        widths[i] = f->operands.data[in->operands + i].width;
    }
    if (in->code >= FT_CODE_UDIV && in->code <= FT_CODE_SREM) {
        uint32_t arm;
        ft_term arms[2] = {ctx_equal(x->c, operands[1], ctx_literal(x->c, in->width, 0))};
        arms[1] = ctx_not(x->c, arms[0]);
        if (!x_decide(x, s, arms, 2, &arm)) return false;
        if (!arm) {
            x_fail(x, s, "a division by 0");
            return false;
        }
    }
    if (in->result == FT_NO_REGISTER) return true;
    if (in->code <= FT_CODE_TRUNC) v = ctx_compute(x->c, in, operands, widths);
    x_result(s, t, in, v ? v : ctx_fresh(x->c, width));
    return true;
}

/* One local instruction of the thread, which is not visible. */
static bool carry_out(exploration *x, xstate *s, uint32_t t, const ft_instruction *in)
{
    bool good;
    switch (in->code) {
    case FT_CODE_JUMP:
        return take_edge(x, s, t, &function_at(x, top(s, t))->targets.data[in->targets]);
    case FT_CODE_BRANCH:
    case FT_CODE_SWITCH:
        return branch(x, s, t, in);
    case FT_CODE_RETURN:
        return give_back(x, s, t, in);
    case FT_CODE_END:
        return end_thread(s, t);
    case FT_CODE_CALL:
    case FT_CODE_CALL_AT:
        return call(x, s, t, in);
    case FT_CODE_FAIL:
        x_fail(x, s, x->c->program->texts.names[in->extra]);
        return false;
    case FT_CODE_UNREACHABLE:
        x_fail(x, s, "`unreachable` was reached");
        return false;
    case FT_CODE_LOAD:
    case FT_CODE_STORE:
        good = access(x, s, t, in);
        break;
    case FT_CODE_COPY:
    case FT_CODE_MOVE:
    case FT_CODE_FILL:
        x_push(x, &s->memory, (cell){.objects = x_objects(x, s, t, in, 0)});
        good = true;
        break;
    case FT_CODE_ASSERT:
    case FT_CODE_ASSUME:
        good = check(x, s, t, in);
        break;
    default:
        good = compute(x, s, t, in);
    }
    if (good) top(s, t)->at++;
    return good;
}

static const ft_instruction *instruction_of(exploration *x, xstate *s, uint32_t t)
{
    const running_frame *f = top(s, t);
    return &function_at(x, f)->instructions.data[f->at];
}

/* The return of @main ends the process, so others may go on before it. */
static bool ends_process(exploration *x, xstate *s, uint32_t t, const ft_instruction *in)
{
    const running *r = &s->threads[t];
    if (ctx_fault_is(CTX_FAULT_RETURNS_AT_ONCE) && in->code == FT_CODE_RETURN) return false;
    return in->code == FT_CODE_EXIT || (in->code == FT_CODE_RETURN && r->frames.len == 1 &&
                                        r->frames.data[0].function == x->c->roots.data[0].function);
}

static bool is_visible(exploration *x, xstate *s, uint32_t t, const ft_instruction *in)
{
    return ft_instruction_row_of((ft_code)in->code)->effect == FT_EFFECT_VISIBLE ||
           ends_process(x, s, t, in);
}

/* ---- paths ---- */

static void note_step(xstate *s, uint32_t t)
{
    const running_frame *f = top(s, t);
    uint64_t step[4] = {s->trace, t, f->function, f->at};
    s->trace = ft_hash_bytes(step, sizeof step, 9);
}

static void end_path(exploration *x, xstate *s, bool is_cut)
{
    bool waits = false, fresh;
    if (s->dropped) return;
    uint64_t trace = s->trace;
    for (uint32_t t = 0; t < s->n; t++) {
        uint64_t how[3] = {trace, s->threads[t].status, (uint64_t)is_cut << 1 | s->failed};
        trace = ft_hash_bytes(how, sizeof how, 9);
        waits |= s->threads[t].status != ENDED && s->threads[t].status != RUNS;
    }
    (void)ft_map_slot(&x->traces, trace, 0, &fresh);
    if (!fresh) return;
    x->paths->paths++;
    x->paths->cut += is_cut;
    x->paths->failures += s->failed;
    x->paths->deadlocks += !is_cut && !s->ended && waits;
}

/* Runs the thread up to its next visible instruction. False: the path is over or forked. */
static bool run_local(exploration *x, xstate *s, uint32_t t)
{
    s->current = t;
    while (s->threads[t].status == RUNS) {
        const ft_instruction *in = instruction_of(x, s, t);
        s->asked = 0;
        if (is_visible(x, s, t, in)) {
            s->threads[t].visible = true;
            return true;
        }
        if (x->full) return s->dropped = true, false;
        if (s->branches >= x->c->options.steps || s->instructions++ >= MOST_INSTRUCTIONS)
            return cut(x, s);
        x->paths->steps++;
        if (t < x->from->n) x->paths->moves[t] = true;
        if (!s->decided) note_step(s, t);
        if (!carry_out(x, s, t, in)) {
            if (s->dropped || x->full) return false;
            if (s->ended) return end_path(x, s, false), false;
        }
        s->decided = 0;
    }
    return true;
}

/* Is the thread's visible step the next of the path that is asked for? */
static bool is_guided(exploration *x, xstate *s, uint32_t t)
{
    const running_frame *f = top(s, t);
    if (!x->c->guide) return true;
    if (s->followed == x->c->n_guide) return false;
    const ctx_step *next = &x->c->guide[s->followed];
    return next->thread == t && next->at.function == f->function && next->at.instruction == f->at;
}

static void follow_guide(exploration *x, xstate *s)
{
    if (!x->c->guide || ++s->followed < x->c->n_guide) return;
    x->c->followed = x->full = true;
}

/* The thread's visible instruction. False: the path is over or forked. */
static bool do_visible(exploration *x, xstate *s, uint32_t t)
{
    const ft_instruction *in = instruction_of(x, s, t);
    s->current = t;
    s->asked = 0;
    if (!is_guided(x, s, t)) return s->dropped = true, false;
    if (ends_process(x, s, t, in)) {
        s->ended = true;
        follow_guide(x, s);
        end_path(x, s, false);
        return false;
    }
    if (s->instructions++ >= MOST_INSTRUCTIONS) return cut(x, s);
    if (!s->decided) note_step(s, t);
    bool done = x_synchronise(x, s, t, in);
    if (!done && (s->dropped || x->full)) return false;
    if (s->ended) return end_path(x, s, false), false;
    x->paths->steps++;
    if (t < x->from->n && s->threads[t].status != BLOCKED) x->paths->moves[t] = true;
    s->decided = 0;
    if (s->threads[t].status == BLOCKED) return true;
    follow_guide(x, s);
    if (done) top(s, t)->at++;
    s->threads[t].visible = false;
    return true;
}

/* A timed wait may end by itself. */
static bool can_go(const xstate *s, uint32_t t)
{
    const running *r = &s->threads[t];
    return r->status == RUNS ||
           (r->status == WAITS && r->timed && !ctx_fault_is(CTX_FAULT_NEVER_LATE));
}

/* Of the threads that stand before a visible instruction one after the other goes first. */
static void fork_threads(exploration *x, xstate *s)
{
    for (uint32_t t = 0; t < s->n; t++) {
        if (!can_go(s, t)) continue;
        xstate *next = copy_state(s);
        next->current = t;
        if (!is_full(x) && do_visible(x, next, t)) explore(x, next);
        free_state(next);
    }
}

/* Where a decision is under way, its thread goes on with it. */
static bool go_on(exploration *x, xstate *s)
{
    uint32_t t = s->current;
    if (!s->decided) return true;
    if (s->threads[t].visible && !do_visible(x, s, t)) return false;
    return true;
}

static uint32_t next_thread(const exploration *x, const xstate *s)
{
    if (!x->scheduler && s->current < s->n && s->threads[s->current].status == RUNS)
        return s->current;
    for (uint32_t t = 0; t < s->n; t++)
        if (s->threads[t].status == RUNS && (!x->scheduler || !s->threads[t].visible)) return t;
    for (uint32_t t = 0; t < s->n && !x->scheduler; t++)
        if (can_go(s, t)) return t;
    return s->n;
}

static bool any_can_go(const xstate *s)
{
    for (uint32_t t = 0; t < s->n; t++)
        if (can_go(s, t)) return true;
    return false;
}

static void explore(exploration *x, xstate *s)
{
    if (!go_on(x, s)) return;
    while (!x->full) {
        uint32_t t = s->decided ? s->current : next_thread(x, s);
        if (t == s->n) {
            if (any_can_go(s))
                fork_threads(x, s);
            else
                end_path(x, s, false);
            return;
        }
        bool waits = s->threads[t].status == WAITS;
        if (!waits && !s->threads[t].visible && !run_local(x, s, t)) return;
        if (!waits && (s->threads[t].status != RUNS || x->scheduler)) continue;
        if (!do_visible(x, s, t)) return;
    }
}

/* ---- from the context ---- */

static void begin_thread(exploration *x, xstate *s, uint32_t t)
{
    ctx *c = x->c;
    const thread_state *from = &x->from->threads[t];
    running *r = &s->threads[s->n++];
    *r = (running){
        .status = RUNS, .root = c->nodes.data[from->nodes[0]].root, .open = from->way->own.open};
    for (uint32_t i = 0; i < from->way->own.n; i++) {
        const frame_of_way *w = &from->way->own.frames[i];
        const ft_function *f = &c->program->functions.data[w->function];
        running_frame made = {from->nodes[i], w->function, w->instruction, (uint32_t)r->values.len};
        for (uint32_t k = 0; k < f->registers.len; k++) {
            ft_term v = from->env.registers.data[from->registers[i] + k];
            ft_vec_push(&r->values, v ? v : ctx_register(c, from->nodes[i], k));
        }
        ft_vec_push(&r->frames, made);
    }
    const ft_instruction *in = instruction_of(x, s, t);
    if (from->reading == FT_CONTEXT_BEFORE) return;
    bool barrier = in->code == FT_CODE_BARRIER_WAIT;
    bool condition = in->code == FT_CODE_WAIT || in->code == FT_CODE_TIMED_WAIT;
    r->visible = true;
    if (from->reading == FT_CONTEXT_WOKEN) {
        r->woken = condition;
        if (!barrier) return;
        x_result(s, t, in, ctx_fresh(c, 32));
        top(s, t)->at++;
        r->visible = false;
        return;
    }
    if (!barrier && !condition) return;
    r->status = barrier ? WAITS_AT_BARRIER : WAITS;
    r->timed = in->code == FT_CODE_TIMED_WAIT;
    r->queue = ctx_operand_at(c, from, 0);
    r->queue_objects = ctx_objects_at(c, from, 0);
    r->since = ctx_fresh(c, 64);
    ft_vec_push(&s->constraints, ctx_two(c, FT_OP_BVSLT, r->since, ctx_literal(c, 64, 0)));
}

/* A once, or a lock that the thread must hold: a mutex or a read-write lock, which is not known. */
static void begin_lock(exploration *x, xstate *s, uint32_t t, const held *h)
{
    cell lock = {.at = h->at, .objects = h->objects, .holder = t + 1, .count = 1};
    if (x->c->recursive_mutexes) lock.count = UINT8_MAX;
    if (h->mode == ONCE_DONE) lock.holder = DONE;
    if (h->mode == ONCE_DONE || h->mode == ONCE_RUNS) {
        x_push(x, &s->onces, lock);
        return;
    }
    if (h->when || !ctx_uses(x->c, FT_CONTEXT_MUST_HELD)) return;
    if (h->mode == HELD_ALONE) {
        x_push(x, &s->locks, lock);
        x_push(x, &s->rw_locks, lock);
        return;
    }
    lock.holder = FREE;
    x_hold_to_read(x, &lock, t);
    x_push(x, &s->rw_locks, lock);
}

static void begin_memory(exploration *x, xstate *s)
{
    for (uint32_t t = 0; t < x->from->n; t++) {
        const env *e = &x->from->threads[t].env;
        for (size_t i = 0; i < e->heap.len; i++)
            x_push(x, &s->seen,
                   (cell){.at = e->heap.data[i].at,
                          .value = e->heap.data[i].value,
                          .width = e->heap.data[i].width,
                          .objects = e->heap.data[i].objects});
        for (size_t i = 0; i < e->must.len; i++) begin_lock(x, s, t, &e->must.data[i]);
    }
    for (size_t i = 0; i < x->from->claims.len; i++)
        ft_vec_push(&s->constraints, x->from->claims.data[i].term);
}

void ctx_explore(ctx *c, const initial *from, bool scheduler, ft_context_paths *paths)
{
    exploration x = {.c = c, .from = from, .paths = paths, .scheduler = scheduler};
    x.arena = ft_arena_new();
    xstate *s = ft_calloc(1, sizeof *s);
    for (uint32_t t = 0; t < from->n; t++) begin_thread(&x, s, t);
    begin_memory(&x, s);
    explore(&x, s);
    free_state(s);
    ft_arena_free(x.arena);
    ft_map_release(&x.traces);
    paths->complete = !x.full;
}
