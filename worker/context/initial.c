#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "context/internal.h"

enum { CREATOR = 256 }; /* of a label: the view of the thread's creator */

/* ---- one thread ---- */

const ft_instruction *ctx_instruction_at(const ctx *c, const thread_state *t)
{
    const frame_of_way *f = &t->way->own.frames[t->way->own.n - 1];
    return &c->program->functions.data[f->function].instructions.data[f->instruction];
}

static const ft_operand *operand_at(const ctx *c, const thread_state *t, uint32_t operand)
{
    const frame_of_way *f = &t->way->own.frames[t->way->own.n - 1];
    return &c->program->functions.data[f->function]
                .operands.data[ctx_instruction_at(c, t)->operands + operand];
}

ft_term ctx_operand_at(ctx *c, const thread_state *t, uint32_t operand)
{
    return env_operand(c, &t->env, t->nodes[t->way->own.n - 1], operand_at(c, t, operand));
}

const uint64_t *ctx_objects_at(const ctx *c, const thread_state *t, uint32_t operand)
{
    return ft_flow_points_to(c->flow, t->way->own.frames[t->way->own.n - 1].function,
                             operand_at(c, t, operand));
}

/* Through the frames of a call string, the first of which has been entered. */
static bool follow(ctx *c, const call_string *s, uint32_t first, env *e, uint32_t *nodes,
                   uint32_t *registers)
{
    ft_term arguments[256];
    nodes[0] = first;
    registers[0] = e->frame;
    for (uint32_t i = 0; i < s->n; i++) {
        const frame_of_way *f = &s->frames[i];
        env_to(c, e, nodes[i], f->instruction);
        if (!e->reached) return false;
        if (i + 1 == s->n) break;
        const ft_function *function = &c->program->functions.data[f->function];
        const ft_instruction *in = &function->instructions.data[f->instruction];
        uint32_t skip = in->code == FT_CODE_CALL ? 0 : 1, n = in->n_operands - skip;
        bool passes = in->code != FT_CODE_ONCE && n <= 256;
        if (in->code == FT_CODE_ONCE) {
            env_let_go(c, e, nodes[i]);
            env_once(c, e, nodes[i], in, ONCE_RUNS);
        }
        for (uint32_t k = 0; passes && k < n; k++)
            arguments[k] =
                env_operand(c, e, nodes[i], &function->operands.data[in->operands + skip + k]);
        nodes[i + 1] = ctx_node(c, nodes[i], s->frames[i + 1].function, f->instruction);
        env_enter(c, e, nodes[i + 1], passes ? arguments : NULL, n);
        registers[i + 1] = e->frame;
    }
    return true;
}

/* The create is executed: its result is the thread's number, and no longer that of a thread that it
 * created before. */
static void name_thread(ctx *c, uint32_t node, uint32_t index, thread_state *t, ft_term *argument)
{
    ft_symbol symbol;
    env_forget(c, &t->env, node, index);
    if (ctx_register_symbol(c, node, index, &symbol) && ctx_mentions(c, *argument, symbol))
        *argument = FT_NO_TERM;
    t->number = ctx_register(c, node, index);
}

/* What the creator knew when it created the thread, as far as it still holds; and the argument. */
static bool hand_over(ctx *c, uint32_t label, const way *w, thread_state *t, ft_term *argument)
{
    env *e = &t->env;
    uint32_t nodes[MOST_FRAMES_OF_WAY], registers[MOST_FRAMES_OF_WAY];
    const call_string *s = &w->creator;
    uint32_t begins = s->frames[0].function;
    bool known = begins == c->roots.data[0].function && !s->open;
    ft_term zeros[2] = {ctx_literal(c, 32, 0), ctx_literal(c, 64, 0)};
    if (known)
        env_start(c, e);
    else
        env_unknown(c, e, true);
    uint32_t first = ctx_root_node(c, label | CREATOR | (s->open ? CTX_OPEN : 0), begins);
    bool once = known && c->roots.data[0].most == 1;
    env_enter(c, e, first, once ? zeros : NULL,
              c->program->functions.data[begins].blocks.data[0].n_parameters);
    if (!follow(c, s, first, e, nodes, registers)) return false;
    const frame_of_way *at = &s->frames[s->n - 1];
    const ft_function *f = &c->program->functions.data[at->function];
    const ft_instruction *create = &f->instructions.data[at->instruction];
    uint64_t function;
    ft_term called = env_operand(c, e, nodes[s->n - 1], &f->operands.data[create->operands]);
    t->elsewhere =
        ctx_is_literal(c, called, &function) &&
        function != c->base[c->program->functions.data[w->own.frames[0].function].symbol];
    if (t->elsewhere) return false;
    *argument = env_operand(c, e, nodes[s->n - 1], &f->operands.data[create->operands + 1]);
    if (create->result != FT_NO_REGISTER)
        name_thread(c, nodes[s->n - 1], create->result, t, argument);
    size_t n = 0;
    for (size_t i = 0; i < e->heap.len; i++)
        if (ctx_is_handed(c, e->heap.data[i].objects, w->own.frames[0].function))
            e->heap.data[n++] = e->heap.data[i];
    e->heap.len = n;
    e->may.len = e->registers.len = 0;
    env_drop_locks(e, ONCE_DONE, ONCE_DONE);
    e->may_any = false;
    memset(e->may_objects, 0, ft_flow_words(c->flow) * sizeof(uint64_t));
    return true;
}

static bool waits_in(ft_code code)
{
    return code == FT_CODE_WAIT || code == FT_CODE_TIMED_WAIT;
}

/* Inside a wait the release has happened, and the mutex is not held. */
static void read_place(ctx *c, thread_state *t)
{
    const ft_instruction *in = ctx_instruction_at(c, t);
    if (ctx_fault_is(CTX_FAULT_ONCE_BEFORE) && in->code == FT_CODE_ONCE)
        env_once(c, &t->env, t->nodes[t->way->own.n - 1], in, ONCE_DONE);
    if (t->reading == FT_CONTEXT_BEFORE) return;
    if (ctx_fault_is(CTX_FAULT_JOINED_EARLY) && in->code == FT_CODE_JOIN)
        ft_vec_push(&t->env.joined, ctx_operand_at(c, t, 0));
    if (!ctx_fault_is(CTX_FAULT_INSIDE_WAIT) && ft_code_releases((ft_code)in->code))
        env_let_go(c, &t->env, t->nodes[t->way->own.n - 1]);
    if (waits_in((ft_code)in->code) && !ctx_fault_is(CTX_FAULT_HELD_IN_WAIT))
        env_unlock(c, &t->env, ctx_operand_at(c, t, 1), ctx_objects_at(c, t, 1));
}

bool ctx_reach(ctx *c, uint32_t label, const way *w, thread_state *t)
{
    uint32_t begins = w->own.frames[0].function;
    ft_term argument[2] = {ctx_literal(c, 32, 0), ctx_literal(c, 64, 0)};
    uint32_t n = 0;
    t->way = w;
    env_init(c, &t->env);
    if (w->own.open) {
        env_unknown(c, &t->env, true);
    } else if (w->creator.n) {
        n = 1;
        if (!hand_over(c, label, w, t, &argument[0])) return false;
    } else {
        env_start(c, &t->env);
        n = c->program->functions.data[begins].blocks.data[0].n_parameters;
    }
    uint32_t first = ctx_root_node(c, label | (w->own.open ? CTX_OPEN : 0), begins);
    env_enter(c, &t->env, first, n ? argument : NULL, n);
    if (!follow(c, &w->own, first, &t->env, t->nodes, t->registers)) return false;
    read_place(c, t);
    return true;
}

/* ---- claims ---- */

static const char *name_of(const ctx *c, uint32_t t)
{
    return c->options.threads[t].name;
}

FT_PRINTF(5, 6)
static void claim_that(ctx *c, initial *s, ft_context_pass pass, ft_term term, const char *format,
                       ...)
{
    uint64_t bits;
    claim made = {.term = term, .pass = (uint8_t)pass};
    va_list arguments;
    if (!ctx_uses(c, pass) || (ctx_is_literal(c, term, &bits) && bits)) return;
    va_start(arguments, format);
    (void)vsnprintf(made.text, sizeof made.text, format, arguments);
    va_end(arguments);
    ft_vec_push(&s->claims, made);
}

FT_PRINTF(4, 5)
static void refute(ctx *c, initial *s, ft_context_pass pass, const char *format, ...)
{
    va_list arguments;
    if (!ctx_uses(c, pass) || s->refuted) return;
    va_start(arguments, format);
    (void)vsnprintf(s->reason, sizeof s->reason, format, arguments);
    va_end(arguments);
    s->refuted = true;
    s->passes = 1u << pass;
}

/* What two threads know of one place in memory is the same. */
static void claim_memory(ctx *c, initial *s)
{
    for (uint32_t t = 0; t < s->n; t++)
        for (uint32_t u = t; u < s->n; u++)
            for (size_t i = 0; i < s->threads[t].env.heap.len; i++)
                for (size_t k = t == u ? i + 1 : 0; k < s->threads[u].env.heap.len; k++) {
                    const fact *f = &s->threads[t].env.heap.data[i];
                    const fact *g = &s->threads[u].env.heap.data[k];
                    uint64_t n = f->width / 8;
                    if (f->width != g->width ||
                        ctx_are_apart(c, f->at, f->objects, n, g->at, g->objects, n))
                        continue;
                    ft_term same = ctx_equal(c, f->value, g->value);
                    if (f->at != g->at)
                        same = ctx_two(c, FT_OP_OR, same, ctx_not(c, ctx_equal(c, f->at, g->at)));
                    claim_that(c, s, FT_CONTEXT_DEFINITIONS, same,
                               "%s and %s know different values of the same memory", name_of(c, t),
                               name_of(c, u));
                }
}

static void claim_conditions(ctx *c, initial *s)
{
    for (uint32_t t = 0; t < s->n; t++)
        for (size_t i = 0; i < s->threads[t].env.conditions.len; i++)
            claim_that(c, s, FT_CONTEXT_CONDITIONS, s->threads[t].env.conditions.data[i],
                       "by the branches that lead %s to its place", name_of(c, t));
}

/* Not at the same address, or one of them is not held. */
static ft_term exclude(ctx *c, const held *h, const held *g)
{
    ft_term apart = ctx_not(c, ctx_equal(c, h->at, g->at));
    if (h->when) apart = ctx_two(c, FT_OP_OR, apart, ctx_not(c, h->when));
    return g->when ? ctx_two(c, FT_OP_OR, apart, ctx_not(c, g->when)) : apart;
}

static void claim_pair(ctx *c, initial *s, uint32_t t, const held *h, uint32_t u, const held *g)
{
    bool locks = h->mode <= HELD_TO_READ && g->mode <= HELD_TO_READ;
    bool once = h->mode == ONCE_RUNS || g->mode == ONCE_RUNS;
    if (!locks && (!once || h->mode <= HELD_TO_READ || g->mode <= HELD_TO_READ)) return;
    if (h->mode == HELD_TO_READ && g->mode == HELD_TO_READ) return;
    if (ctx_are_apart(c, h->at, h->objects, 1, g->at, g->objects, 1)) return;
    ft_term apart = exclude(c, h, g);
    if (locks)
        claim_that(c, s, FT_CONTEXT_MUST_HELD, apart, "%s and %s both hold the same lock there",
                   name_of(c, t), name_of(c, u));
    else if (h->mode == g->mode)
        claim_that(c, s, FT_CONTEXT_ONCE, apart,
                   "%s and %s are both in a function that is called once", name_of(c, t),
                   name_of(c, u));
    else
        claim_that(c, s, FT_CONTEXT_ONCE, apart,
                   "%s is in a function that is called once, and %s is behind the call",
                   name_of(c, h->mode == ONCE_RUNS ? t : u),
                   name_of(c, h->mode == ONCE_RUNS ? u : t));
}

static void claim_locks(ctx *c, initial *s)
{
    for (uint32_t t = 0; t < s->n; t++)
        for (uint32_t u = t + 1; u < s->n; u++)
            for (size_t i = 0; i < s->threads[t].env.must.len; i++)
                for (size_t k = 0; k < s->threads[u].env.must.len; k++)
                    claim_pair(c, s, t, &s->threads[t].env.must.data[i], u,
                               &s->threads[u].env.must.data[k]);
}

/* A thread that another one has joined has ended. */
static void claim_joined(ctx *c, initial *s)
{
    for (uint32_t t = 0; t < s->n; t++)
        for (uint32_t u = 0; u < s->n; u++)
            for (size_t i = 0; s->threads[u].number && i < s->threads[t].env.joined.len; i++)
                claim_that(c, s, FT_CONTEXT_JOINED,
                           ctx_not(c, ctx_equal(c, s->threads[u].number,
                                                s->threads[t].env.joined.data[i])),
                           "%s has ended: %s is behind its join", name_of(c, u), name_of(c, t));
}

static void claim_rounds(ctx *c, initial *s)
{
    for (uint32_t a = 0; a < ft_flow_abstracts(c->flow) && ctx_uses(c, FT_CONTEXT_MATCHING); a++) {
        ft_term rounds[FT_CONTEXT_THREADS], meaning, first = FT_NO_TERM;
        uint32_t of = 0;
        if (!ctx_is_matched(c, a)) continue;
        for (uint32_t t = 0; t < s->n; t++) {
            if (!ctx_rounds(c, a, &s->threads[t], &rounds[t], &meaning)) continue;
            claim_that(c, s, FT_CONTEXT_MATCHING, meaning, "%s counts its rounds", name_of(c, t));
            if (first)
                claim_that(c, s, FT_CONTEXT_MATCHING, ctx_equal(c, first, rounds[t]),
                           "%s and %s have passed the barrier equally often", name_of(c, of),
                           name_of(c, t));
            else
                first = rounds[t], of = t;
        }
    }
}

/* ---- creation ---- */

static bool may_follow(const ctx *c, uint32_t f, uint32_t a, uint32_t b)
{
    uint32_t x = c->place_of[f][a], y = c->place_of[f][b];
    if (x == y && a < b) return true;
    return ft_graph_leads(ft_flow_graph(c->flow, f), x, y);
}

/* May a thread be at `at` after it has been at `from`, both in the same thread? */
static bool may_be_after(const ctx *c, const call_string *from, const call_string *at)
{
    uint32_t k = 0;
    if (from->open || at->open) return true;
    if (ctx_fault_is(CTX_FAULT_CREATED_LATER)) return false;
    while (k + 1 < from->n && k + 1 < at->n &&
           from->frames[k].instruction == at->frames[k].instruction &&
           from->frames[k + 1].function == at->frames[k + 1].function) {
        if (ctx_in_circle(c, from->frames[k].function,
                          c->place_of[from->frames[k].function][from->frames[k].instruction]))
            return true;
        k++;
    }
    return may_follow(c, from->frames[k].function, from->frames[k].instruction,
                      at->frames[k].instruction);
}

static bool is_thread_of(const ctx *c, const thread_state *t, uint32_t function)
{
    (void)c;
    return !t->way->own.open && t->way->own.frames[0].function == function;
}

/* Are they the same create, which is executed at most once? */
static bool is_one_create(const ctx *c, const call_string *a, const call_string *b)
{
    const ctx_thread_function *r = a->n ? ctx_root_of(c, a->frames[0].function) : NULL;
    if (!r || r->most > 1 || a->open || b->open || a->n != b->n) return false;
    for (uint32_t i = 0; i < a->n; i++) {
        uint32_t f = a->frames[i].function;
        if (f != b->frames[i].function || a->frames[i].instruction != b->frames[i].instruction ||
            ctx_in_circle(c, f, c->place_of[f][a->frames[i].instruction]))
            return false;
    }
    return true;
}

static void check_creators(ctx *c, initial *s)
{
    for (uint32_t t = 0; t < s->n; t++)
        for (uint32_t u = t + 1; u < s->n; u++)
            if (is_one_create(c, &s->threads[t].way->creator, &s->threads[u].way->creator))
                refute(c, s, FT_CONTEXT_CREATION,
                       "%s and %s are created by a call that is made once", name_of(c, t),
                       name_of(c, u));
}

static void check_creation(ctx *c, initial *s)
{
    check_creators(c, s);
    for (size_t r = 0; r < c->roots.len; r++) {
        uint32_t n = 0, function = c->roots.data[r].function;
        for (uint32_t t = 0; t < s->n; t++) n += is_thread_of(c, &s->threads[t], function);
        if (n > c->roots.data[r].most || (ctx_fault_is(CTX_FAULT_ONE_THREAD) && n > 1))
            refute(c, s, FT_CONTEXT_CREATION,
                   "@%s is the function of at most %" PRIu32 " threads, not of %" PRIu32,
                   ft_program_symbol_name(c->program, c->program->functions.data[function].symbol),
                   c->roots.data[r].most, n);
    }
    uint32_t main_ = c->roots.data[0].function;
    if (c->roots.data[0].most > 1) return;
    for (uint32_t t = 0; t < s->n; t++)
        for (uint32_t u = 0; u < s->n; u++) {
            const way *w = s->threads[u].way;
            if (!is_thread_of(c, &s->threads[t], main_) || !w->creator.n ||
                w->creator.frames[0].function != main_ ||
                may_be_after(c, &w->creator, &s->threads[t].way->own))
                continue;
            refute(c, s, FT_CONTEXT_CREATION, "%s has not created %s at its place", name_of(c, t),
                   name_of(c, u));
        }
}

/* ---- threads that wait ---- */

static bool takes_lock(ft_code code)
{
    return code == FT_CODE_LOCK || code == FT_CODE_TIMED_LOCK || code == FT_CODE_READ_LOCK ||
           code == FT_CODE_WRITE_LOCK;
}

bool ctx_is_left_locked(ctx *c, const uint64_t *objects)
{
    uint32_t words = ft_flow_words(c->flow);
    if (ctx_fault_is(CTX_FAULT_ENDED_FREE)) return false;
    if (!c->left_known) {
        c->left_known = true;
        for (uint32_t f = 0; f < c->program->functions.len; f++) {
            const ft_function *g = &c->program->functions.data[f];
            for (uint32_t i = 0; ft_bits_has(c->reachable, f) && i < g->instructions.len; i++) {
                ft_code code = (ft_code)g->instructions.data[i].code;
                bool ends_all = f == c->roots.data[0].function && c->roots.data[0].most == 1;
                if (code == FT_CODE_RETURN && ends_all) continue; /* @main's: nobody is left */
                if (code != FT_CODE_END && (code != FT_CODE_RETURN || !ctx_root_of(c, f))) continue;
                ways all = {0};
                bool good =
                    ctx_ways(c, (ft_context_point){f, i}, (ft_context_point){FT_NO_CALL, 0}, &all);
                for (size_t k = 0; k < all.len; k++) {
                    thread_state t = {0};
                    if (ctx_reach(c, 254, &all.data[k], &t)) {
                        for (size_t h = 0; h < t.env.may.len; h++)
                            ft_bits_join(c->left_locked, t.env.may.data[h].objects, words);
                        ft_bits_join(c->left_locked, t.env.may_objects, words);
                        good &= !t.env.may_any;
                    }
                    env_release(&t.env);
                }
                ft_vec_release(&all);
                if (!good) memset(c->left_locked, 0xff, words * sizeof(uint64_t));
            }
        }
    }
    return ft_bits_meet(c->left_locked, objects, words);
}

/* A waiting thread needs a holder: one of the threads that may hold the lock. */
static void claim_holder(ctx *c, initial *s, uint32_t t)
{
    const thread_state *w = &s->threads[t];
    const uint64_t *objects = ctx_objects_at(c, w, 0);
    ft_term at = ctx_operand_at(c, w, 0), any = ctx_literal(c, 1, 0);
    if (c->options.others || !ctx_uses(c, FT_CONTEXT_MAY_HELD) || ctx_is_left_locked(c, objects))
        return;
    for (uint32_t u = 0; u < s->n; u++) {
        const env *e = &s->threads[u].env;
        if (e->may_any || ft_bits_meet(e->may_objects, objects, ft_flow_words(c->flow))) return;
        for (size_t i = 0; i < e->may.len; i++)
            if (!ctx_are_apart(c, at, objects, 1, e->may.data[i].at, e->may.data[i].objects, 1))
                any = ctx_two(c, FT_OP_OR, any, ctx_equal(c, at, e->may.data[i].at));
    }
    claim_that(c, s, FT_CONTEXT_MAY_HELD, any, "%s waits for a lock that no thread can hold",
               name_of(c, t));
}

static void check_barrier(ctx *c, initial *s, uint32_t t)
{
    uint64_t expected;
    uint32_t n = 0;
    const uint64_t *objects = ctx_objects_at(c, &s->threads[t], 0);
    for (uint32_t a = 0; a < ft_flow_abstracts(c->flow); a++) {
        if (!ft_bits_has(objects, a)) continue;
        if (!ctx_uses(c, FT_CONTEXT_COUNTS) || !ctx_expected(c, a, &expected)) return;
        for (uint32_t u = 0; u < s->n; u++)
            n += s->threads[u].reading == FT_CONTEXT_WAITING &&
                 ctx_instruction_at(c, &s->threads[u])->code == FT_CODE_BARRIER_WAIT &&
                 ft_bits_has(ctx_objects_at(c, &s->threads[u], 0), a);
        if (n >= expected)
            refute(c, s, FT_CONTEXT_COUNTS,
                   "%" PRIu32 " threads wait at a barrier that lets %" PRIu64 " go on", n,
                   expected);
        return;
    }
}

static void claim_waiting(ctx *c, initial *s)
{
    for (uint32_t t = 0; t < s->n; t++) {
        ft_code code = (ft_code)ctx_instruction_at(c, &s->threads[t])->code;
        if (s->threads[t].reading != FT_CONTEXT_WAITING) continue;
        if (takes_lock(code)) claim_holder(c, s, t);
        if (code == FT_CODE_BARRIER_WAIT) check_barrier(c, s, t);
    }
}

/* ---- can they hold together? ---- */

bool ctx_can_hold(ctx *c, const ft_term *others, uint32_t n, ft_term condition)
{
    uint64_t bits;
    if (ctx_is_literal(c, condition, &bits)) return bits;
    return sym_path_ask(c->path, others, n, condition).answer != FT_ANSWER_UNSAT;
}

static bool can_all_hold(ctx *c, const initial *s, const bool *without)
{
    FT_VEC(ft_term) terms = {0};
    bool good = true;
    for (size_t i = 0; i < s->claims.len && good; i++) {
        if (without && without[i]) continue;
        good = ctx_can_hold(c, terms.data, (uint32_t)terms.len, s->claims.data[i].term);
        ft_vec_push(&terms, s->claims.data[i].term);
    }
    ft_vec_release(&terms);
    return good;
}

/* Of claims that cannot hold together those that are needed: each is left out for once. */
static void explain(ctx *c, initial *s)
{
    ft_strbuf why = {0};
    bool *without = ft_calloc(s->claims.len + 1, sizeof *without);
    const char *last = "";
    for (size_t i = 0; i < s->claims.len; i++) {
        without[i] = true;
        if (can_all_hold(c, s, without)) without[i] = false;
    }
    for (size_t i = 0; i < s->claims.len; i++) {
        if (without[i]) continue;
        s->passes |= 1u << s->claims.data[i].pass;
        if (strcmp(last, s->claims.data[i].text) != 0)
            ft_strbuf_printf(&why, "%s%s", why.len ? "; " : "", s->claims.data[i].text);
        last = s->claims.data[i].text;
    }
    (void)snprintf(s->reason, sizeof s->reason, "%s", ft_strbuf_text(&why));
    ft_strbuf_release(&why);
    free(without);
}

static void decide(ctx *c, initial *s)
{
    if (s->refuted || can_all_hold(c, s, NULL)) return;
    s->refuted = true;
    explain(c, s);
}

void ctx_begin(ctx *c, const way *const *all, const ft_context_thread *threads, uint32_t n,
               initial *s)
{
    *s = (initial){.n = n};
    for (uint32_t t = 0; t < n; t++) env_init(c, &s->threads[t].env);
    for (uint32_t t = 0; t < n && !s->refuted; t++) {
        env_release(&s->threads[t].env);
        s->threads[t].reading = threads[t].reading;
        if (ctx_reach(c, t + 1, all[t], &s->threads[t])) continue;
        s->refuted = true;
        s->absent = s->threads[t].elsewhere;
        s->passes = 1u << FT_CONTEXT_CONDITIONS;
        (void)snprintf(s->reason, sizeof s->reason,
                       "no path leads %s there: a branch on the way always goes elsewhere",
                       threads[t].name);
    }
    if (!s->refuted) check_creation(c, s);
    if (!s->refuted) claim_waiting(c, s);
    if (s->refuted) return;
    claim_memory(c, s);
    claim_conditions(c, s);
    claim_locks(c, s);
    claim_joined(c, s);
    claim_rounds(c, s);
    decide(c, s);
}

void initial_release(initial *s)
{
    for (uint32_t t = 0; t < s->n; t++) env_release(&s->threads[t].env);
    ft_vec_release(&s->claims);
}
