/* All states of a program, each once: for programs whose threads go round for ever. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "oracle/inputs.h"

typedef struct node {
    ft_interpreter *m;
    FT_VEC(uint32_t) next;
    uint32_t low, index; /* of Tarjan's components; index 0: not met */
    bool on_stack;
} node;

typedef struct graph {
    const inputs_program *p;
    const ft_program *program;
    uint64_t limit;
    inputs_words *words;
    ft_intern keys;
    FT_VEC(node) nodes; /* by key */
    FT_VEC(uint32_t) stack;
    uint32_t counter;
    bool bounded;
} graph;

static void add_word(graph *g, const ft_strbuf *word)
{
    if (word->len) ft_intern_add(&g->words->all, word->text, word->len);
}

static bool ends(graph *g, const ft_interpreter *m)
{
    ft_strbuf word = {0};
    ft_interpreter_state state = ft_interpreter_state_of(m);
    if (state == FT_INTERPRETER_GOING) return false;
    if (state == FT_INTERPRETER_STOPPED) g->bounded = true;
    ft_inputs_word(g->p, g->program, m, &word);
    add_word(g, &word);
    ft_strbuf_release(&word);
    return true;
}

/* The state's number; the interpreter is the graph's. */
static uint32_t number_of(graph *g, ft_interpreter *m)
{
    ft_strbuf key = {0};
    uint32_t before = g->keys.len;
    ft_interpreter_state_bytes(m, &key);
    uint32_t n = ft_intern_add(&g->keys, key.text, key.len);
    ft_strbuf_release(&key);
    if (g->keys.len == before)
        ft_interpreter_free(m);
    else
        ft_vec_push(&g->nodes, (node){.m = m});
    return n;
}

static void expand(graph *g, uint32_t n)
{
    uint64_t variants[FT_INTERPRETER_THREADS];
    const ft_interpreter *m = g->nodes.data[n].m;
    if (ends(g, m)) return;
    for (uint32_t t = 0; t < ft_interpreter_thread_count(m); t++) {
        uint32_t many = ft_interpreter_choices(m, t, variants);
        for (uint32_t i = 0; i < many; i++) {
            ft_interpreter *next = ft_interpreter_copy(m);
            ft_interpreter_step(next, t, variants[i]);
            uint32_t k = number_of(g, next);
            ft_vec_push(&g->nodes.data[n].next, k);
        }
    }
}

/* A component that nothing leaves, and in which no execution ends: threads go round in it. */
static void take_component(graph *g, const uint32_t *members, size_t n)
{
    ft_strbuf first = {0}, other = {0};
    for (size_t i = 0; i < n; i++) {
        const node *x = &g->nodes.data[members[i]];
        if (ft_interpreter_state_of(x->m) != FT_INTERPRETER_GOING) goto out;
        for (size_t k = 0; k < x->next.len; k++) {
            bool inside = false;
            for (size_t j = 0; j < n; j++) inside |= members[j] == x->next.data[k];
            if (!inside) goto out;
        }
    }
    ft_strbuf_puts(&first, "live-lock");
    ft_inputs_memory(g->p, g->program, g->nodes.data[members[0]].m, &first);
    for (size_t i = 1; i < n; i++) {
        ft_strbuf_clear(&other);
        ft_strbuf_puts(&other, "live-lock");
        ft_inputs_memory(g->p, g->program, g->nodes.data[members[i]].m, &other);
        if (strcmp(first.text, other.text) != 0) g->bounded = true;
    }
    add_word(g, &first);
out:
    ft_strbuf_release(&first);
    ft_strbuf_release(&other);
}

static void pop_component(graph *g, uint32_t root)
{
    size_t from = g->stack.len;
    while (g->stack.data[from - 1] != root) from--;
    from--;
    take_component(g, g->stack.data + from, g->stack.len - from);
    for (size_t i = from; i < g->stack.len; i++) g->nodes.data[g->stack.data[i]].on_stack = false;
    g->stack.len = from;
}

static void visit(graph *g, uint32_t n)
{
    node *x = &g->nodes.data[n];
    x->index = x->low = ++g->counter;
    x->on_stack = true;
    ft_vec_push(&g->stack, n);
    for (size_t i = 0; i < x->next.len; i++) {
        node *y = &g->nodes.data[x->next.data[i]];
        if (!y->index) visit(g, x->next.data[i]);
        if (y->on_stack && y->low < x->low) x->low = y->low;
    }
    if (x->low == x->index) pop_component(g, n);
}

static void release(graph *g)
{
    for (size_t i = 0; i < g->nodes.len; i++) {
        ft_interpreter_free(g->nodes.data[i].m);
        ft_vec_release(&g->nodes.data[i].next);
    }
    ft_vec_release(&g->nodes);
    ft_vec_release(&g->stack);
    ft_intern_release(&g->keys);
}

static bool take_inputs(const inputs_program *p, const ft_program *program, uint64_t limit,
                        inputs_values *values, inputs_words *words)
{
    ft_interpreter_options options = {.input = ft_inputs_give, .context = values};
    graph g = {.p = p, .program = program, .words = words};
    number_of(&g, ft_interpreter_new(program, &options));
    for (uint32_t n = 0; n < g.nodes.len && n < limit && !g.bounded; n++) expand(&g, n);
    bool whole = g.nodes.len < limit && !g.bounded;
    if (whole) visit(&g, 0);
    words->schedules += g.nodes.len;
    whole = whole && !g.bounded;
    release(&g);
    return whole;
}

bool ft_inputs_states(const inputs_program *p, const ft_program *program, uint64_t limit,
                      inputs_words *words)
{
    inputs_values values;
    *words = (inputs_words){0};
    for (uint64_t k = 0; ft_inputs_combination(p, k, &values); k++)
        if (!take_inputs(p, program, limit, &values, words)) return false;
    return true;
}
