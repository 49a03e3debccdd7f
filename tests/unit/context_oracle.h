/* Contexts against brute force: of random small programs without data races every state of every
 * run (all inputs of a bit each, all schedules) is a context, and no such context may be `never`.
 *
 * Programs keep what they compute in memory, so that a state is the threads' places, the memory and
 * the synchronisation objects; `yield` stands before statements, so that runs stop between all
 * that others could see. */
#ifndef FT_TESTS_CONTEXT_ORACLE_H
#define FT_TESTS_CONTEXT_ORACLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "context/internal.h"
#include "flow_random.h"
#include "program/interpret/interpreter.h"
#include "program/text.h"

enum {
    ORACLE_STATES = 2500,
    ORACLE_CONTEXTS = 160,
    ORACLE_DEPTH = 3,
    ORACLE_THREADS = 6,
    ORACLE_STARTS = 20, /* states from which runs go on, to compare their steps with paths */
    ORACLE_RUNS = 6,    /* from each */
    ORACLE_STEPS = 12,  /* of each */
    ORACLE_BRANCHES = 50
};

static inline ft_program *oracle_program(const char *text)
{
    ft_error err = FT_ERROR_INIT;
    ft_program *p = NULL;
    if (ft_program_read_text(text, strlen(text), &p, &err) != FT_OK)
        fail_msg("line %u: %s\n%s", (unsigned)err.line, err.message, text);
    return p;
}

/* ---- random programs ---- */

typedef struct writer {
    flow_random *r;
    ft_strbuf *out;
    uint32_t thread, next, statements;
    bool holds[2];
    void (*feature)(struct writer *w, uint32_t depth); /* half of the statements; NULL: none */
} writer;

static inline uint32_t below(writer *w, uint32_t n)
{
    return flow_random_below(w->r, n);
}

static inline uint32_t fresh(writer *w)
{
    return ++w->next;
}

/* Writes code that computes a number; returns its register. */
static inline uint32_t write_value(writer *w)
{
    uint32_t v = fresh(w), u;
    char from[40];
    switch (below(w, 8)) {
    case 0:
    case 1:
        ft_strbuf_printf(w->out, "    %%v%u = add i32 %u, 0\n", v, below(w, 3));
        return v;
    case 2:
        snprintf(from, sizeof from, "@x");
        break;
    case 3:
        snprintf(from, sizeof from, "@y");
        break;
    case 4:
        snprintf(from, sizeof from, w->holds[0] ? "@g0" : "%%a");
        break;
    case 5:
        snprintf(from, sizeof from, w->holds[1] ? "@g1" : "%%b");
        break;
    case 6:
        snprintf(from, sizeof from, "@o%u", w->thread);
        break;
    default:
        snprintf(from, sizeof from, below(w, 2) ? "%%a" : "%%b");
    }
    ft_strbuf_printf(w->out, "    %%v%u = load i32 %s\n", v, from);
    if (below(w, 4)) return v;
    u = fresh(w);
    ft_strbuf_printf(w->out, "    %%v%u = add i32 %%v%u, 1\n", u, v);
    return u;
}

static inline const char *write_target(writer *w)
{
    static const char *const OWN[] = {"@o0", "@o1", "@o2", "@o3"};
    uint32_t k = below(w, 6);
    if (k == 0 && w->holds[0]) return "@g0";
    if (k == 1 && w->holds[1]) return "@g1";
    if (k == 2) return OWN[w->thread];
    return k & 1 ? "%a" : "%b";
}

/* Returns a register of one bit. */
static inline uint32_t write_condition(writer *w)
{
    uint32_t v = write_value(w), c = fresh(w);
    ft_strbuf_printf(w->out, "    %%v%u = eq i32 %%v%u, %u\n", c, v, below(w, 3));
    return c;
}

static inline void write_block(writer *w, uint32_t depth);

static inline void write_if(writer *w, uint32_t depth)
{
    uint32_t c = write_condition(w), n = fresh(w);
    ft_strbuf_printf(w->out, "    branch %%v%u, y%u, n%u\n  y%u:\n", c, n, n, n);
    write_block(w, depth);
    ft_strbuf_printf(w->out, "    jump d%u\n  n%u:\n", n, n);
    if (below(w, 2)) write_block(w, depth);
    ft_strbuf_printf(w->out, "    jump d%u\n  d%u:\n", n, n);
}

static inline void write_loop(writer *w, uint32_t depth)
{
    uint32_t n = fresh(w);
    ft_strbuf_printf(w->out,
                     "    jump h%u(i32 0)\n  h%u(%%i%u: i32):\n    store i32 %%i%u, %%c\n"
                     "    %%k%u = slt i32 %%i%u, 2\n    branch %%k%u, l%u, e%u\n  l%u:\n",
                     n, n, n, n, n, n, n, n, n, n);
    write_block(w, depth);
    ft_strbuf_printf(w->out, "    %%j%u = load i32 %%c\n    %%m%u = add i32 %%i%u, 1\n", n, n, n);
    ft_strbuf_printf(w->out, "    jump h%u(%%m%u)\n  e%u:\n", n, n, n);
}

static inline void write_lock(writer *w, uint32_t depth)
{
    uint32_t k = below(w, 3), n = fresh(w);
    char at[24];
    snprintf(at, sizeof at, "@l%u", k);
    if (k == 2 && below(w, 2)) { /* one of two, by an input */
        ft_strbuf_printf(w->out,
                         "    %%x%u = load i32 %s\n    %%z%u = zext i64 %%x%u\n"
                         "    %%t%u = mul i64 %%z%u, 64\n    %%p%u = add i64 @ls, %%t%u\n",
                         n, below(w, 2) ? "@x" : "@y", n, n, n, n, n, n);
        snprintf(at, sizeof at, "%%p%u", n);
    }
    if (k < 2 && w->holds[k]) return;
    ft_strbuf_printf(w->out, "    lock %s\n", at);
    if (k < 2) w->holds[k] = true;
    if (k == 0 && below(w, 3) == 0)
        ft_strbuf_printf(
            w->out,
            "    jump w%u\n  w%u:\n    %%q%u = load i32 @g0\n    %%r%u = eq i32 %%q%u, "
            "0\n    branch %%r%u, s%u, u%u\n  s%u:\n    wait @cv, @l0\n    jump w%u\n"
            "  u%u:\n",
            n, n, n, n, n, n, n, n, n, n, n);
    write_block(w, depth);
    if (k == 0 && below(w, 3) == 0)
        ft_strbuf_printf(w->out, "    store i32 1, @g0\n    signal @cv\n");
    if (k < 2) w->holds[k] = false;
    ft_strbuf_printf(w->out, "    unlock %s\n", at);
}

/* A lock that is taken on one way, and perhaps never released. */
static inline void write_odd_lock(writer *w)
{
    uint32_t c = write_condition(w), n = fresh(w);
    ft_strbuf_printf(w->out,
                     "    branch %%v%u, y%u, d%u\n  y%u:\n    lock @l3\n    jump d%u\n  d%u:\n    "
                     "yield\n",
                     c, n, n, n, n, n);
    if (below(w, 2))
        ft_strbuf_printf(w->out,
                         "    branch %%v%u, y%ur, d%ur\n  y%ur:\n    unlock @l3\n    jump d%ur\n"
                         "  d%ur:\n",
                         c, n, n, n, n, n);
}

static inline void write_statement(writer *w, uint32_t depth)
{
    if (below(w, 2)) ft_strbuf_printf(w->out, "    yield\n");
    if (w->statements++ > 7) return;
    if (w->feature && below(w, 2)) {
        w->feature(w, depth);
        return;
    }
    switch (below(w, 12)) {
    case 0:
    case 1:
        if (depth) write_if(w, depth - 1);
        break;
    case 2:
        if (depth) write_loop(w, depth - 1);
        break;
    case 3:
    case 4:
    case 5:
        if (depth) write_lock(w, depth - 1);
        break;
    case 6:
        if (depth == ORACLE_DEPTH) write_odd_lock(w);
        break;
    case 7:
        if (depth == ORACLE_DEPTH) ft_strbuf_printf(w->out, "    barrier_wait @bar\n");
        break;
    case 8:
        ft_strbuf_printf(w->out, "    call @put(%s, i32 %u)\n", below(w, 2) ? "%a" : "%b",
                         below(w, 3));
        break;
    default: {
        uint32_t v = write_value(w);
        ft_strbuf_printf(w->out, "    store i32 %%v%u, %s\n", v, write_target(w));
    }
    }
}

static inline void write_block(writer *w, uint32_t depth)
{
    uint32_t n = 1 + below(w, 2);
    for (uint32_t i = 0; i < n; i++) write_statement(w, depth);
}

static inline void write_locals(writer *w)
{
    ft_strbuf_printf(w->out, "    %%a = stack 8 16\n    %%b = add i64 %%a, 4\n"
                             "    %%c = add i64 %%a, 8\n");
}

static inline void write_thread(writer *w, uint32_t n)
{
    w->thread = n;
    w->statements = 0;
    memset(w->holds, 0, sizeof w->holds);
    ft_strbuf_printf(w->out, "function @t%u(%%arg: i64) -> i64 {\n  b0:\n", n);
    write_locals(w);
    ft_strbuf_printf(w->out, "    %%n = trunc i32 %%arg\n    store i32 %%n, %%a\n");
    for (uint32_t i = 0; i < 3; i++) write_statement(w, ORACLE_DEPTH);
    ft_strbuf_printf(w->out, "    yield\n    return i64 0\n}\n");
}

static inline void oracle_write(flow_random *r, ft_strbuf *out)
{
    writer w = {.r = r, .out = out};
    uint32_t n = 1 + below(&w, 2);
    bool twice = below(&w, 4) == 0; /* threads of one function, which uses no @o */
    ft_strbuf_printf(out, "program 1\n");
    for (uint32_t i = 0; i < 4; i++)
        ft_strbuf_printf(out, "object @l%u 40 align 8\nobject @o%u 4 align 4\n", i, i);
    ft_strbuf_printf(out, "object @g0 4 align 4\nobject @g1 4 align 4\nobject @x 4 align 4\n"
                          "object @y 4 align 4\nobject @ls 128 align 8\nobject @cv 48 align 8\n"
                          "object @bar 32 align 8\n");
    ft_strbuf_printf(out, "function @put(%%at: i64, %%v: i32) {\n  b0:\n    store i32 %%v, %%at\n"
                          "    yield\n    return\n}\n");
    for (uint32_t t = 1; t <= n; t++) write_thread(&w, t);
    ft_strbuf_printf(out, "function @main() -> i32 {\n  b0:\n");
    w.thread = w.statements = 0;
    memset(w.holds, 0, sizeof w.holds);
    write_locals(&w);
    ft_strbuf_printf(out,
                     "    %%ix = input \"x\" i1\n    %%zx = zext i32 %%ix\n    store i32 %%zx, "
                     "@x\n    %%iy = input \"y\" i1\n    %%zy = zext i32 %%iy\n");
    ft_strbuf_printf(out, below(&w, 2) ? "    store i32 %%zy, @y\n" : "    store i32 %%zx, @y\n");
    ft_strbuf_printf(out, "    barrier_init @bar, %u\n", below(&w, 3) ? n : 2);
    if (below(&w, 2)) ft_strbuf_printf(out, "    store i32 %u, @g0\n", below(&w, 3));
    if (below(&w, 2)) write_statement(&w, 1);
    for (uint32_t t = 1; t <= n; t++) {
        ft_strbuf_printf(out, "    yield\n    %%h%u = create @t%u, %u\n", t, twice ? 1 : t,
                         below(&w, 3));
        if (t == 1 && below(&w, 3) == 0) ft_strbuf_printf(out, "    store i32 1, @o0\n");
    }
    write_statement(&w, 2);
    if (below(&w, 2)) ft_strbuf_printf(out, "    join %%h1\n    yield\n");
    if (below(&w, 2)) write_statement(&w, 2);
    for (uint32_t t = 2; t <= n; t++) ft_strbuf_printf(out, "    join %%h%u\n", t);
    ft_strbuf_printf(out, "    yield\n    return i32 0\n}\n");
}

/* ---- all states ---- */

typedef struct oracle_thread {
    ft_context_point at;
    uint8_t reading;
    uint8_t kind; /* 0: a place; 1: blocked, and may also be read as waiting; 2: it has ended;
                     3: at none of the three readings */
} oracle_thread;

typedef struct oracle_state {
    oracle_thread threads[ORACLE_THREADS];
    uint32_t n;
} oracle_state;

/* A state that was kept, to go on from. */
typedef struct oracle_start {
    oracle_state state;
    ft_interpreter *at;
} oracle_start;

typedef struct oracle {
    const ft_program *program;
    uint32_t bits; /* the inputs */
    ft_map seen, kept;
    FT_VEC(oracle_state) contexts;
    oracle_start starts[ORACLE_STARTS];
    uint32_t n_starts;
    uint32_t states;
    bool bad; /* too many states, or an error */
} oracle;

static inline bool oracle_input(void *context, const char *name, uint8_t width, uint64_t *value)
{
    (void)width;
    *value = ((oracle *)context)->bits >> (name[0] == 'y') & 1;
    return true;
}

static inline uint64_t oracle_key(const oracle *o, const ft_interpreter *m)
{
    ft_strbuf bytes = {0};
    ft_interpreter_state_bytes(m, &bytes);
    uint64_t h = ft_hash_bytes(ft_strbuf_text(&bytes), bytes.len, o->bits);
    ft_strbuf_release(&bytes);
    return h;
}

static inline bool oracle_blocks(ft_code code)
{
    return code == FT_CODE_LOCK || code == FT_CODE_READ_LOCK || code == FT_CODE_WRITE_LOCK ||
           code == FT_CODE_SEM_WAIT || code == FT_CODE_JOIN;
}

static inline oracle_thread oracle_place(const oracle *o, const ft_interpreter *m, uint32_t t)
{
    ft_interpreter_operation op;
    uint64_t variants[FT_INTERPRETER_THREADS];
    oracle_thread at = {.kind = 2};
    if (!ft_interpreter_stands_before(m, t, &op)) return at;
    bool can = ft_interpreter_choices(m, t, variants) > 0;
    at.kind = 0;
    at.at =
        (ft_context_point){o->program->symbols.data[op.place.function].index, op.place.instruction};
    if (op.code == FT_CODES) return at;
    if (op.second && op.code == FT_CODE_ONCE)
        at.kind = 3;
    else if (op.second)
        at.reading = op.waits || (op.code == FT_CODE_BARRIER_WAIT && !can) ? FT_CONTEXT_WAITING
                                                                           : FT_CONTEXT_WOKEN;
    else if (oracle_blocks(op.code) && !can)
        at.kind = 1;
    return at;
}

static inline void oracle_keep(oracle *o, const ft_interpreter *m)
{
    bool fresh;
    oracle_state s = {.n = ft_interpreter_thread_count(m)};
    memset(s.threads, 0, sizeof s.threads);
    for (uint32_t t = 0; t < s.n; t++) s.threads[t] = oracle_place(o, m, t);
    uint64_t h = ft_hash_bytes(&s, sizeof s, 5);
    (void)ft_map_slot(&o->kept, h, 0, &fresh);
    if (!fresh) return;
    ft_vec_push(&o->contexts, s);
    if ((o->n_starts > 11 && h % 8) || o->n_starts == ORACLE_STARTS) return;
    if (ft_interpreter_state_of(m) != FT_INTERPRETER_GOING) return;
    o->starts[o->n_starts++] = (oracle_start){s, ft_interpreter_copy(m)};
}

static inline void oracle_walk(oracle *o, const ft_interpreter *m)
{
    bool fresh;
    (void)ft_map_slot(&o->seen, oracle_key(o, m), 0, &fresh);
    if (!fresh || o->bad) return;
    if (++o->states > ORACLE_STATES || ft_interpreter_thread_count(m) > ORACLE_THREADS) {
        o->bad = true;
        return;
    }
    oracle_keep(o, m);
    for (uint32_t t = 0; t < ft_interpreter_thread_count(m) && !o->bad; t++) {
        uint64_t variants[FT_INTERPRETER_THREADS];
        uint32_t n = ft_interpreter_choices(m, t, variants);
        for (uint32_t i = 0; i < n && !o->bad; i++) {
            ft_interpreter *next = ft_interpreter_copy(m);
            ft_interpreter_state state = ft_interpreter_step(next, t, variants[i]);
            if (state == FT_INTERPRETER_GOING)
                oracle_walk(o, next);
            else if (state == FT_INTERPRETER_FAILED)
                o->bad = ft_interpreter_error_of(next)->kind != FT_ERROR_DEADLOCK;
            else if (state != FT_INTERPRETER_EXITED && state != FT_INTERPRETER_DISCARDED)
                o->bad = true;
            if (state == FT_INTERPRETER_FAILED && !o->bad) oracle_keep(o, next);
            ft_interpreter_free(next);
        }
    }
}

static inline void oracle_release(oracle *o)
{
    for (uint32_t i = 0; i < o->n_starts; i++) ft_interpreter_free(o->starts[i].at);
    ft_map_release(&o->seen);
    ft_map_release(&o->kept);
    ft_vec_release(&o->contexts);
}

/* ---- contexts ---- */

static const char *const ORACLE_NAMES[ORACLE_THREADS] = {"T0", "T1", "T2", "T3", "T4", "T5"};

static inline void oracle_ask(ft_context *c, const oracle_state *s, uint32_t mask, uint32_t waiting,
                              bool others, ft_context_answer *answer)
{
    c->options.n = 0;
    c->options.others = others;
    for (uint32_t t = 0; t < s->n; t++) {
        if (!(mask >> t & 1)) continue;
        ft_context_thread *at = &c->options.threads[c->options.n++];
        *at = (ft_context_thread){.name = ORACLE_NAMES[t], .n = 1};
        at->points[0] = s->threads[t].at;
        at->calls[0].function = FT_NO_CALL;
        at->reading = waiting >> t & 1 ? FT_CONTEXT_WAITING : s->threads[t].reading;
    }
    ft_context_answer_all(c, answer);
}

typedef struct oracle_counts {
    uint64_t programs, states, contexts, runs;
    bool states_only; /* runs are not compared with paths */
} oracle_counts;

/* False: a context that is there is called impossible; `why` has it. */
static inline bool oracle_check(ft_context *c, const oracle_state *s, oracle_counts *counts,
                                char *why, size_t size)
{
    uint32_t live = 0, blocked = 0, nowhere = 0;
    ft_context_answer answer;
    assert(s->n <= sizeof s->threads / sizeof *s->threads);
    for (uint32_t t = 0; t < s->n; t++) {
        live |= (uint32_t)(s->threads[t].kind != 2) << t;
        blocked |= (uint32_t)(s->threads[t].kind == 1) << t;
        nowhere |= (uint32_t)(s->threads[t].kind == 3) << t;
    }
    for (uint32_t mask = 1; mask < 1u << s->n; mask++) {
        if (mask & ~live || mask & nowhere) continue;
        for (uint32_t k = 0; k < (blocked & mask ? 2u : 1u); k++) {
            oracle_ask(c, s, mask, k ? blocked : 0, mask != live, &answer);
            counts->contexts++;
            if (!answer.never) continue;
            ft_strbuf text = {0};
            for (uint32_t t = 0; t < s->n; t++)
                if (mask >> t & 1)
                    ft_strbuf_printf(&text, "T%u=@%u:%u/%u ", t, s->threads[t].at.function,
                                     s->threads[t].at.instruction,
                                     k && blocked >> t & 1 ? 1u : s->threads[t].reading);
            snprintf(why, size, "%s%s: %s", ft_strbuf_text(&text), mask == live ? "named" : "any",
                     answer.reason);
            ft_strbuf_release(&text);
            return false;
        }
    }
    return true;
}

/* ---- steps from a context ---- */

/* A run that goes on from a state, with some of its threads. */
typedef struct oracle_run {
    ft_interpreter *m;
    const ft_program *program;
    uint32_t
        number[FT_INTERPRETER_THREADS]; /* by thread: the context's + 1; 0: it does not go on */
    uint32_t next;
    ctx_step steps[ORACLE_STEPS];
    uint32_t n;
} oracle_run;

/* Steps that paths have too: not a thread's beginning, nor the second half of a barrier or a once,
 * nor the return of @main. */
static inline bool oracle_is_step(const ft_interpreter_operation *op)
{
    if (op->code == FT_CODES || op->code == FT_CODE_RETURN) return false;
    return !op->second || op->code == FT_CODE_WAIT || op->code == FT_CODE_TIMED_WAIT;
}

static inline bool oracle_go_on(oracle_run *r, flow_random *random)
{
    uint64_t variants[FT_INTERPRETER_THREADS];
    uint32_t able[FT_INTERPRETER_THREADS], n = 0, count = ft_interpreter_thread_count(r->m);
    ft_interpreter_operation op;
    for (uint32_t t = 0; t < count; t++)
        if (r->number[t] && ft_interpreter_choices(r->m, t, variants)) able[n++] = t;
    if (!n) return false;
    uint32_t t = able[flow_random_below(random, n)];
    n = ft_interpreter_choices(r->m, t, variants);
    (void)ft_interpreter_stands_before(r->m, t, &op);
    if (oracle_is_step(&op))
        r->steps[r->n++] =
            (ctx_step){r->number[t] - 1,
                       {r->program->symbols.data[op.place.function].index, op.place.instruction}};
    ft_interpreter_state state =
        ft_interpreter_step(r->m, t, variants[flow_random_below(random, n)]);
    if (ft_interpreter_thread_count(r->m) > count) r->number[count] = ++r->next;
    return state == FT_INTERPRETER_GOING && r->n < ORACLE_STEPS;
}

static inline void oracle_begin_run(oracle_run *r, const oracle_start *from, uint32_t mask,
                                    flow_random *random)
{
    for (uint32_t t = 0; t < from->state.n && t < ORACLE_THREADS; t++)
        if (mask >> t & 1) r->number[t] = ++r->next;
    r->m = ft_interpreter_copy(from->at);
    while (oracle_go_on(r, random)) continue;
    ft_interpreter_free(r->m);
}

/* Threads of the state that a question may name: all that live, or some. */
static inline uint32_t oracle_some(const oracle_state *s, flow_random *random, bool *others)
{
    uint32_t live = 0, named = 0, most;
    for (uint32_t t = 0; t < s->n && t < ORACLE_THREADS; t++) {
        live |= (uint32_t)(s->threads[t].kind != 2) << t;
        named |= (uint32_t)(s->threads[t].kind < 2) << t;
    }
    most = named;
    if (flow_random_below(random, 3) == 0) named &= flow_random_below(random, 1u << ORACLE_THREADS);
    if (!named) named = most;
    *others = named != live;
    return named;
}

/* False: a run takes steps that no path has. */
static inline bool oracle_check_run(ft_context *c, const ft_program *p, const oracle_start *from,
                                    flow_random *random, oracle_counts *counts, char *why,
                                    size_t size)
{
    bool others;
    ft_context_answer answer;
    ft_strbuf text = {0};
    oracle_run r = {.program = p};
    uint32_t mask = oracle_some(&from->state, random, &others);
    if (mask) oracle_begin_run(&r, from, mask, random);
    if (!r.n) return true;
    c->guide = r.steps;
    c->n_guide = r.n;
    c->followed = false;
    c->options.steps = ORACLE_BRANCHES;
    oracle_ask(c, &from->state, mask, 0, others, &answer);
    c->options.steps = 0;
    c->guide = NULL;
    counts->runs++;
    if (c->followed) return true;
    ft_strbuf_printf(&text, "no path from");
    for (uint32_t t = 0; t < from->state.n && t < ORACLE_THREADS; t++)
        if (mask >> t & 1)
            ft_strbuf_printf(&text, " T%u=@%u:%u/%u", t, from->state.threads[t].at.function,
                             from->state.threads[t].at.instruction, from->state.threads[t].reading);
    ft_strbuf_printf(&text, " %s goes", others ? "any" : "named");
    for (uint32_t i = 0; i < r.n; i++)
        ft_strbuf_printf(&text, " %u:@%u:%u", r.steps[i].thread, r.steps[i].at.function,
                         r.steps[i].at.instruction);
    snprintf(why, size, "%s", ft_strbuf_text(&text));
    ft_strbuf_release(&text);
    return false;
}

/* ---- the whole ---- */

/* Every state of the program's runs. False: one is called impossible. *used: it has no race. */
static inline bool oracle_compare(const char *text, uint32_t without, oracle_counts *counts,
                                  bool *used, char *why, size_t size)
{
    ft_program *p = oracle_program(text);
    oracle o = {.program = p};
    bool good = true;
    for (o.bits = 0; o.bits < 4 && !o.bad; o.bits++) {
        ft_interpreter_options options = {.races = true, .input = oracle_input, .context = &o};
        ft_interpreter *m = ft_interpreter_new(p, &options);
        oracle_walk(&o, m);
        ft_interpreter_free(m);
    }
    *used = !o.bad;
    if (!o.bad) {
        ft_context_options options = {.n = 1, .without = without};
        ft_context *c = ft_context_new(p, &options);
        size_t apart = o.contexts.len / ORACLE_CONTEXTS + 1;
        counts->programs++;
        counts->states += o.states;
        for (size_t i = 0; i < o.contexts.len && good; i += apart)
            good = oracle_check(c, &o.contexts.data[i], counts, why, size);
        flow_random random = {o.contexts.len * UINT64_C(0x9e3779b97f4a7c15) + 1};
        uint32_t runs = counts->states_only ? 0 : ORACLE_RUNS;
        for (uint32_t i = 0; i < o.n_starts * runs && good; i++)
            good = oracle_check_run(c, p, &o.starts[i / runs], &random, counts, why, size);
        ft_context_free(c);
    }
    oracle_release(&o);
    ft_program_free(p);
    return good;
}

/* ---- many of them ---- */

static inline uint64_t oracle_number(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

/* The programs of FT_SEEDS seeds (`otherwise`) from FT_SEED_START (1), each without the passes that
 * `left_out` names. Fails the test where a program's run contradicts an answer. Returns how many
 * seeds. */
static inline uint64_t oracle_compare_seeds(uint64_t otherwise,
                                            void (*write)(flow_random *, uint64_t, ft_strbuf *),
                                            uint32_t (*left_out)(uint64_t), oracle_counts *counts)
{
    uint64_t first = oracle_number("FT_SEED_START", 1), n = oracle_number("FT_SEEDS", otherwise);
    for (uint64_t seed = first; seed < first + n; seed++) {
        flow_random r = {seed * UINT64_C(0x9e3779b97f4a7c15) + 1};
        ft_strbuf text = {0};
        char why[700];
        bool used;
        write(&r, seed, &text);
        if (!oracle_compare(ft_strbuf_text(&text), left_out(seed), counts, &used, why, sizeof why))
            fail_msg("seed %llu: %s\n%s", (unsigned long long)seed, why, ft_strbuf_text(&text));
        ft_strbuf_release(&text);
    }
    print_message("%llu programs, %llu states, %llu contexts, %llu runs\n",
                  (unsigned long long)counts->programs, (unsigned long long)counts->states,
                  (unsigned long long)counts->contexts, (unsigned long long)counts->runs);
    return n;
}

#endif
