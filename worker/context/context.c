#include "context/context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "context/internal.h"

#ifdef FT_FAULTS
ctx_fault_kind ctx_fault = CTX_FAULT_NONE;
#endif

static const char *const PASSES[FT_CONTEXT_PASSES] = {
#define FT_ROW(symbol, name, meaning) name,
    FT_CONTEXT_PASS_TABLE(FT_ROW)
#undef FT_ROW
};

static const char *const READINGS[FT_CONTEXT_READINGS] = {
#define FT_ROW(symbol, name, meaning) name,
    FT_CONTEXT_READING_TABLE(FT_ROW)
#undef FT_ROW
};

const char *ft_context_pass_name(ft_context_pass pass)
{
    FT_REQUIRE(pass < FT_CONTEXT_PASSES);
    return PASSES[pass];
}

bool ft_context_pass_named(const char *name, ft_context_pass *pass)
{
    for (unsigned i = 0; i < FT_CONTEXT_PASSES; i++)
        if (strcmp(PASSES[i], name) == 0) return *pass = (ft_context_pass)i, true;
    return false;
}

const char *ft_context_reading_name(ft_context_reading reading)
{
    FT_REQUIRE(reading < FT_CONTEXT_READINGS);
    return READINGS[reading];
}

bool ft_context_reading_named(const char *name, ft_context_reading *reading)
{
    for (unsigned i = 0; i < FT_CONTEXT_READINGS; i++)
        if (strcmp(READINGS[i], name) == 0) return *reading = (ft_context_reading)i, true;
    return false;
}

/* Addresses are those of executions (program/instruction.h): globals from 2^32 on, each behind the
 * other; functions below 2^32. */
static void place_symbols(ctx *c)
{
    enum { FUNCTIONS = 1 << 20, FUNCTION_SIZE = 16, GAP = 64 };
    const ft_program *p = c->program;
    uint64_t next = UINT64_C(1) << 32;
    c->base = ft_calloc(p->symbols.len + 1, sizeof *c->base);
    for (size_t f = 0; f < p->functions.len; f++)
        c->base[p->functions.data[f].symbol] = FUNCTIONS + FUNCTION_SIZE * f;
    for (size_t o = 0; o < p->objects.len; o++) {
        const ft_object *object = &p->objects.data[o];
        uint64_t align = object->align < 16 ? 16 : object->align;
        if (object->by_thread) continue;
        next = (next + align - 1) & ~(align - 1);
        c->base[object->symbol] = next;
        next += object->size + GAP;
    }
}

ft_context *ft_context_new(const ft_program *program, const ft_context_options *options)
{
    FT_REQUIRE(program && options && options->n && options->n <= FT_CONTEXT_THREADS);
    ctx *c = ft_calloc(1, sizeof *c);
    c->program = program;
    c->options = *options;
    if (!c->options.solver_ms) c->options.solver_ms = 2000;
    if (!c->options.most) c->options.most = 100000;
    c->flow = ft_flow_new(program);
    c->pool = ft_term_pool_new();
    c->path = sym_path_new(c->pool, c->options.solver_ms);
    c->left_locked = ft_calloc(ft_flow_words(c->flow), sizeof(uint64_t));
    place_symbols(c);
    ctx_find_sharing(c);
    return c;
}

void ft_context_free(ft_context *c)
{
    if (!c) return;
    ctx_release_sharing(c);
    sym_path_free(c->path);
    ft_term_pool_free(c->pool);
    ft_flow_free(c->flow);
    ft_vec_release(&c->nodes);
    ft_map_release(&c->nodes_by_key);
    ft_vec_release(&c->symbols);
    ft_map_release(&c->symbols_by_key);
    ft_map_release(&c->listings);
    ft_vec_release(&c->listed_of);
    ft_vec_release(&c->listed);
    free(c->left_locked);
    free(c->base);
    free(c);
}

/* ---- all ways ---- */

typedef struct asked {
    ctx *c;
    ways ways[FT_CONTEXT_THREADS];
    const way *chosen[FT_CONTEXT_THREADS];
    ft_context_answer *answer;
} asked;

static void add_paths(ft_context_paths *to, const ft_context_paths *from, bool first)
{
    if (from->failures && !to->failures) {
        to->failed = from->failed;
        memcpy(to->failure, from->failure, sizeof to->failure);
    }
    to->paths += from->paths;
    to->deadlocks += from->deadlocks;
    to->failures += from->failures;
    to->cut += from->cut;
    to->steps += from->steps;
    to->complete = (first || to->complete) && from->complete;
    for (uint32_t t = 0; t < FT_CONTEXT_THREADS; t++) to->moves[t] |= from->moves[t];
}

/* Ways may be refuted for different reasons. That a create is executed once matters only where it
 * is the reason of all ways: it mostly says that two threads are not one. */
static void add_reason(ft_context_answer *answer, const initial *s)
{
    const uint32_t creation = 1u << FT_CONTEXT_CREATION;
    size_t n = strlen(answer->reason);
    if (n && s->passes == creation) return;
    if (n && answer->passes == creation) n = 0;
    if (n && strstr(answer->reason, s->reason)) return;
    if (n + strlen(s->reason) + 32 < sizeof answer->reason)
        (void)snprintf(answer->reason + n, sizeof answer->reason - n, "%s%s",
                       n ? "; in other ways: " : "", s->reason);
}

static void ask_way(asked *a)
{
    initial s;
    ft_context_answer *answer = a->answer;
    const ft_context_options *o = &a->c->options;
    bool first = answer->ways == answer->refuted;
    a->c->work = 0;
    ctx_begin(a->c, a->chosen, o->threads, o->n, &s);
    if (s.absent) {
        initial_release(&s);
        return;
    }
    answer->ways++;
    if (s.refuted) {
        answer->refuted++;
        add_reason(answer, &s);
        answer->passes |= s.passes;
    } else if (o->steps) {
        ft_context_paths fixed = {0}, all = {0};
        if (!a->c->guide) ctx_explore(a->c, &s, false, &fixed);
        if (!o->fixed_only) ctx_explore(a->c, &s, true, &all);
        add_paths(&answer->fixed, &fixed, first);
        add_paths(&answer->all, &all, first);
    }
    initial_release(&s);
}

static void choose(asked *a, uint32_t t)
{
    const ft_context_options *o = &a->c->options;
    if (t == o->n) {
        if (a->answer->ways == FT_CONTEXT_WAYS || (o->should_stop && o->should_stop(o->context)))
            a->answer->too_many = true;
        else
            ask_way(a);
        return;
    }
    for (size_t i = 0; i < a->ways[t].len && !a->answer->too_many; i++) {
        a->chosen[t] = &a->ways[t].data[i];
        choose(a, t + 1);
    }
}

void ft_context_answer_all(ft_context *c, ft_context_answer *answer)
{
    asked a = {.c = c, .answer = answer};
    *answer = (ft_context_answer){0};
    for (uint32_t t = 0; t < c->options.n; t++) {
        const ft_context_thread *thread = &c->options.threads[t];
        bool good = true;
        for (uint32_t p = 0; p < thread->n && good; p++)
            good = ctx_ways(c, thread->points[p], thread->calls[p], &a.ways[t]);
        answer->too_many |= !good;
        if (good && !a.ways[t].len && !answer->reason[0]) {
            (void)snprintf(answer->reason, sizeof answer->reason,
                           "no thread executes the place of %s", thread->name);
            answer->passes |= 1u << FT_CONTEXT_CREATION;
        }
    }
    if (!answer->too_many) choose(&a, 0);
    answer->never = !answer->too_many && answer->ways == answer->refuted;
    for (uint32_t t = 0; t < c->options.n; t++) ft_vec_release(&a.ways[t]);
}
