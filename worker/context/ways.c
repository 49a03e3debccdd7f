#include <stdlib.h>
#include <string.h>

#include "context/internal.h"

static bool occurs(const call_string *s, uint32_t function)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->frames[i].function == function) return true;
    return false;
}

static bool push_front(call_string *s, uint32_t function, uint32_t instruction)
{
    if (s->n == MOST_FRAMES_OF_WAY) return false;
    memmove(s->frames + 1, s->frames, s->n * sizeof *s->frames);
    s->frames[0] = (frame_of_way){function, instruction};
    s->n++;
    return true;
}

/* The string's first frame is a call of, or a place in, `function`. */
static bool extend(const ctx *c, call_string s, call_strings *all)
{
    uint32_t function = s.frames[0].function;
    bool recursive = ft_flow_effects(c->flow, function)->recursive;
    if (recursive || s.n == MOST_FRAMES_OF_WAY) s.open = true;
    if (s.open || ctx_root_of(c, function)) {
        if (all->len == MOST_WAYS) return false;
        ft_vec_push(all, s);
    }
    for (uint32_t f = 0; !s.open && f < c->program->functions.len; f++) {
        const ft_function *caller = &c->program->functions.data[f];
        for (uint32_t i = 0; ft_bits_has(c->reachable, f) && i < caller->instructions.len; i++) {
            uint32_t n;
            if (caller->instructions.data[i].code == FT_CODE_CREATE) continue;
            const uint32_t *targets = ft_flow_targets(c->flow, f, i, &n);
            for (uint32_t t = 0; t < n; t++) {
                call_string longer = s;
                if (targets[t] != function || occurs(&s, f)) continue;
                if (!push_front(&longer, f, i) || !extend(c, longer, all)) return false;
            }
        }
    }
    return true;
}

bool ctx_call_strings(const ctx *c, ft_context_point place, call_strings *all)
{
    call_string s = {.n = 1};
    s.frames[0] = (frame_of_way){place.function, place.instruction};
    if (!ft_bits_has(c->reachable, place.function)) return true;
    return extend(c, s, all);
}

static bool add(ways *all, const way *w)
{
    if (all->len == FT_CONTEXT_WAYS) return false;
    ft_vec_push(all, *w);
    return true;
}

/* The creates of the thread whose function begins the string. */
static bool add_creators(const ctx *c, const call_string *own, ways *all)
{
    uint32_t begins = own->frames[0].function;
    bool good = true;
    for (uint32_t f = 0; f < c->program->functions.len && good; f++) {
        const ft_function *function = &c->program->functions.data[f];
        for (uint32_t i = 0; ft_bits_has(c->reachable, f) && i < function->instructions.len && good;
             i++) {
            uint32_t n;
            bool creates = false;
            if (function->instructions.data[i].code != FT_CODE_CREATE) continue;
            const uint32_t *targets = ft_flow_targets(c->flow, f, i, &n);
            for (uint32_t t = 0; t < n; t++) creates |= targets[t] == begins;
            call_strings creators = {0};
            if (creates) good = ctx_call_strings(c, (ft_context_point){f, i}, &creators);
            for (size_t k = 0; k < creators.len && good; k++)
                good = add(all, &(way){*own, creators.data[k]});
            ft_vec_release(&creators);
        }
    }
    return good;
}

static bool leads_through(const call_string *s, ft_context_point call)
{
    for (uint32_t i = 0; i + 1 < s->n; i++)
        if (s->frames[i].function == call.function && s->frames[i].instruction == call.instruction)
            return true;
    return call.function == FT_NO_CALL || s->open;
}

bool ctx_ways(const ctx *c, ft_context_point place, ft_context_point call, ways *all)
{
    call_strings own = {0};
    bool good = ctx_call_strings(c, place, &own);
    for (size_t i = 0; i < own.len && good; i++) {
        if (!leads_through(&own.data[i], call)) continue;
        bool main_ = own.data[i].frames[0].function == c->roots.data[0].function;
        if (own.data[i].open || main_) good = add(all, &(way){.own = own.data[i]});
        if (good && !own.data[i].open) good = add_creators(c, &own.data[i], all);
    }
    ft_vec_release(&own);
    return good;
}
