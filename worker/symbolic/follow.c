#include "symbolic/follow.h"

#include <string.h>

#include "symbolic/internal.h"

ft_term_pool *ft_sym_world_pool(ft_sym_world *world)
{
    return world->pool;
}

ft_sym_name ft_sym_world_input(const ft_sym_world *w, ft_symbol symbol)
{
    FT_REQUIRE(symbol < w->inputs.len);
    const sym_input *in = &w->inputs.data[symbol];
    if (in->thread == FT_NO_ID)
        return (ft_sym_name){w->places.names[in->name], in->thread, in->n, in->width, false};
    return (ft_sym_name){sym_input_name(w, in->name), in->thread, in->n, in->width,
                         (in->name & FT_LOOP_NAME) != 0};
}

uint32_t ft_sym_world_inputs(const ft_sym_world *w)
{
    return (uint32_t)w->inputs.len;
}

ft_symbol ft_sym_world_symbol(ft_sym_world *w, uint32_t thread, const char *name, uint32_t n,
                              uint8_t width)
{
    uint32_t text = ft_intern_find(&w->program->texts, name, strlen(name));
    if (text == FT_NO_ID) text = ft_loop_cell_named(w->options.loops, name);
    return text == FT_NO_ID ? FT_NO_ID : sym_symbol_of(w, (sym_input){thread, text, n, width});
}

static sym_reply ask(ft_sym_state *m, ft_term condition)
{
    uint32_t n = sym_all_known(m);
    return sym_path_ask(m->world->path, m->world->scratch.data, n, condition);
}

ft_answer ft_sym_ask(ft_sym_state *m, ft_term condition)
{
    if (sym_path_holds(m->world->path, condition, m->inputs.data, m->inputs.len))
        return FT_ANSWER_SAT;
    return ask(m, condition).answer;
}

ft_answer ft_sym_assume(ft_sym_state *m, ft_term condition)
{
    if (!sym_path_holds(m->world->path, condition, m->inputs.data, m->inputs.len)) {
        sym_reply reply = ask(m, condition);
        if (reply.answer != FT_ANSWER_SAT) return reply.answer;
        sym_take_model(m, &reply);
    }
    ft_vec_push(&m->constraints, (constraint){condition, 0, 0});
    return FT_ANSWER_SAT;
}

uint32_t ft_sym_steps(const ft_sym_state *m, uint32_t t)
{
    return sym_thread_of(m, t)->steps;
}

uint32_t ft_sym_reads(const ft_sym_state *m, uint32_t t, const char *name)
{
    if (t >= m->threads.len) return 0;
    const sym_thread *th = sym_thread_of(m, t);
    for (size_t i = 0; i < th->inputs.len; i++)
        if (strcmp(sym_input_name(m->world, th->inputs.data[i].name), name) == 0)
            return th->inputs.data[i].n;
    return 0;
}

uint64_t ft_sym_input_at_hand(const ft_sym_state *m, ft_symbol symbol)
{
    return symbol < m->inputs.len ? m->inputs.data[symbol] : 0;
}

ft_position ft_sym_position(const ft_sym_state *m, uint32_t t)
{
    const sym_thread *th = sym_thread_of(m, t);
    for (size_t i = th->frames.len; i-- > 0;) {
        const frame *f = &th->frames.data[i];
        const ft_position *at = &f->function->instructions.data[f->at].position;
        if (at->file != FT_NO_FILE) return *at;
    }
    return (ft_position){FT_NO_FILE, 0, 0};
}

static uint32_t own_of(const ft_sym_state *m, uint32_t number, uint32_t *thread)
{
    size_t n = m->world->program->objects.len;
    for (*thread = 0; *thread < m->threads.len; ++*thread) {
        const uint32_t *own = m->threads.data[*thread].own;
        for (uint32_t i = 0; own && i < n; i++)
            if (own[i] == number + 1) return m->world->program->objects.data[i].symbol;
    }
    return FT_NO_SYMBOL;
}

/* Thread n makes objects from (n + 1) * 2^40 on (program/instruction.h). */
ft_sym_made ft_sym_object_made(const ft_sym_state *m, uint32_t number)
{
    FT_REQUIRE(number < m->objects.len);
    const object *o = &m->objects.data[number];
    const ft_program *p = m->world->program;
    ft_sym_made made = {.symbol = FT_NO_SYMBOL,
                        .thread = FT_NO_ID,
                        .heap = o->heap,
                        .constant = o->constant,
                        .base = o->base,
                        .size = o->size};
    for (size_t i = 0; i < p->objects.len; i++)
        if (!p->objects.data[i].by_thread && m->globals[i] == number)
            return made.symbol = p->objects.data[i].symbol, made;
    made.symbol = own_of(m, number, &made.thread);
    if (made.symbol == FT_NO_SYMBOL && number >= m->old)
        made.thread = (uint32_t)(o->base >> 40) - 1;
    return made;
}

bool ft_sym_object_around(const ft_sym_state *m, uint64_t address, uint32_t *number)
{
    for (*number = 0; *number < m->objects.len; ++*number) {
        const object *o = &m->objects.data[*number];
        if (address >= o->base && address - o->base < (o->size ? o->size : 1)) return true;
    }
    return false;
}
