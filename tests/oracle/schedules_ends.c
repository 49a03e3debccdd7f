/* The ends of a program, from its states alone: threads spin as they would, and a state is visited
 * once. Nothing of histories, dependence or polls is used here. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/memory.h"
#include "oracle/schedules_internal.h"

static void write_thread(const machine *m, uint32_t t, ft_strbuf *out)
{
    ft_strbuf_printf(out, "| %u %d %u %d %d", m->at[t], m->waiting[t], m->condition[t],
                     m->failed[t], m->created[t]);
    for (uint32_t i = 0; i < SCHEDULE_REGISTERS; i++)
        ft_strbuf_printf(out, " %lld", (long long)m->registers[t][i]);
    ft_strbuf_printf(out, " %lld %lld", (long long)m->add[t][0], (long long)m->add[t][1]);
}

static void write_shared(const machine *m, ft_strbuf *out)
{
    ft_strbuf_puts(out, m->over ? m->failure ? "failed:" : "exited:" : "ended:");
    for (uint32_t i = 0; i < SCHEDULE_OBJECTS; i++)
        ft_strbuf_printf(out, " %lld/%d/%u", (long long)m->value[i], m->holder[i], m->gone[i]);
    for (uint32_t i = 0; i < SCHEDULE_GLOBALS; i++)
        ft_strbuf_printf(out, " %lld", (long long)m->globals[i]);
}

static void write_state(const schedule_program *p, const machine *m, ft_strbuf *out)
{
    write_shared(m, out);
    for (uint32_t t = 0; t < p->n_threads; t++) write_thread(m, t, out);
}

/* ---- the graph of states */

typedef struct state {
    machine *m; /* without its events */
    size_t first;
    uint32_t n; /* successors */
    uint32_t index, low;
    bool on_stack;
} state;

typedef struct graph {
    const schedule_program *p;
    ft_intern names;
    FT_VEC(state) states;
    FT_VEC(uint32_t) successors, stack;
    uint32_t limit, counter;
    ft_intern *ends;
} graph;

static uint32_t state_of(graph *g, const machine *m)
{
    ft_strbuf text = {0};
    write_state(g->p, m, &text);
    uint32_t n = ft_intern_add(&g->names, ft_strbuf_text(&text), strlen(ft_strbuf_text(&text)));
    ft_strbuf_release(&text);
    if (n < g->states.len) return n;
    size_t size = offsetof(machine, events);
    state made = {.m = ft_alloc(size)};
    memcpy(made.m, m, size);
    ft_vec_push(&g->states, made);
    return n;
}

static void expand(graph *g, uint32_t s, machine *scratch)
{
    uint64_t list[FT_X_THREADS];
    g->states.data[s].first = g->successors.len;
    for (uint32_t t = 0; t < g->p->n_threads; t++) {
        uint32_t n = ft_schedules_variants(g->p, g->states.data[s].m, t, list);
        for (uint32_t i = 0; i < n; i++) {
            memcpy(scratch, g->states.data[s].m, offsetof(machine, events));
            ft_schedules_step(g->p, scratch, t, list[i]);
            uint32_t next = state_of(g, scratch);
            ft_vec_push(&g->successors, next);
        }
    }
    g->states.data[s].n = (uint32_t)(g->successors.len - g->states.data[s].first);
}

/* ---- ends: states without successors, and bottom components */

static void add_end(graph *g, uint32_t s, bool spins)
{
    uint64_t list[FT_X_THREADS];
    ft_strbuf text = {0};
    const machine *m = g->states.data[s].m;
    write_shared(m, &text);
    for (uint32_t t = 0; t < g->p->n_threads; t++)
        if (spins && ft_schedules_variants(g->p, m, t, list))
            ft_strbuf_puts(&text, "| spins");
        else
            write_thread(m, t, &text);
    ft_intern_add(g->ends, ft_strbuf_text(&text), strlen(ft_strbuf_text(&text)));
    ft_strbuf_release(&text);
}

static bool is_bottom(const graph *g, size_t from)
{
    for (size_t i = from; i < g->stack.len; i++) {
        const state *s = &g->states.data[g->stack.data[i]];
        for (uint32_t k = 0; k < s->n; k++)
            if (!g->states.data[g->successors.data[s->first + k]].on_stack) return false;
    }
    return true;
}

static void component(graph *g, uint32_t root)
{
    size_t from = g->stack.len;
    while (g->stack.data[--from] != root) continue;
    /* Of those on the stack the component is the part from `root` on. */
    bool bottom = true;
    for (size_t i = 0; i < from; i++) g->states.data[g->stack.data[i]].on_stack = false;
    bottom = is_bottom(g, from);
    for (size_t i = 0; i < from; i++) g->states.data[g->stack.data[i]].on_stack = true;
    if (bottom) add_end(g, root, g->states.data[root].n > 0);
    for (size_t i = from; i < g->stack.len; i++) g->states.data[g->stack.data[i]].on_stack = false;
    g->stack.len = from;
}

/* Tarjan's strongly connected components. */
static void connect(graph *g, uint32_t s)
{
    state *at = &g->states.data[s];
    at->index = at->low = ++g->counter;
    at->on_stack = true;
    ft_vec_push(&g->stack, s);
    for (uint32_t k = 0; k < at->n; k++) {
        const uint32_t next = g->successors.data[at->first + k];
        const state *n = &g->states.data[next];
        if (!n->index) connect(g, next);
        if (n->on_stack && n->low < at->low) at->low = n->low;
    }
    if (at->low == at->index) component(g, s);
}

bool ft_schedules_ends(const schedule_program *p, uint32_t limit, ft_intern *ends)
{
    schedule_program spinning = *p;
    spinning.polls = 0;
    graph g = {.p = &spinning, .ends = ends};
    machine *scratch = ft_alloc(sizeof *scratch);
    ft_schedules_begin(&spinning, scratch);
    (void)state_of(&g, scratch);
    for (uint32_t s = 0; s < g.states.len && g.states.len <= limit; s++) expand(&g, s, scratch);
    bool whole = g.states.len <= limit;
    if (whole) connect(&g, 0);
    for (size_t i = 0; i < g.states.len; i++) free(g.states.data[i].m);
    free(scratch);
    ft_vec_release(&g.states);
    ft_vec_release(&g.successors);
    ft_vec_release(&g.stack);
    ft_intern_release(&g.names);
    return whole;
}

char *ft_schedules_end(const schedule_program *p, const ft_x_action *steps, size_t n)
{
    machine *m = ft_alloc(sizeof *m);
    ft_strbuf text = {0};
    ft_schedules_begin(p, m);
    for (size_t i = 0; i < n; i++) ft_schedules_step(p, m, steps[i].thread, steps[i].variant);
    write_shared(m, &text);
    for (uint32_t t = 0; t < p->n_threads; t++)
        if (!m->over && ft_schedules_pending(p, m, t).kind == FT_X_AWAIT)
            ft_strbuf_puts(&text, "| spins");
        else
            write_thread(m, t, &text);
    char *end = ft_strdup(ft_strbuf_text(&text));
    ft_strbuf_release(&text);
    free(m);
    return end;
}
