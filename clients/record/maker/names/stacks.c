#include "maker/names/stacks.h"

#include <stdlib.h>

#include "base/contract.h"
#include "base/map.h"
#include "maker/annotations/annotations.h"

/* A thread's calls, outermost first. */
typedef struct stack {
    FT_VEC(uint32_t) sites;
    FT_VEC(uint32_t) contexts; /* of the outermost calls, as far as they were needed */
} stack;

struct ft_stacks {
    ft_builder *builder;
    uint32_t (*location)(void *of, uint64_t site);
    void *of;
    FT_VEC(stack) stacks; /* by thread */
    ft_map known;         /* context << 32 | site -> the context of that call in it */
};

ft_stacks *ft_stacks_new(ft_builder *builder, uint32_t (*location)(void *of, uint64_t site),
                         void *of)
{
    ft_stacks *stacks = ft_calloc(1, sizeof *stacks);
    *stacks = (ft_stacks){.builder = builder, .location = location, .of = of};
    return stacks;
}

void ft_stacks_free(ft_stacks *stacks)
{
    if (!stacks) return;
    for (size_t t = 0; t < stacks->stacks.len; t++) {
        ft_vec_release(&stacks->stacks.data[t].sites);
        ft_vec_release(&stacks->stacks.data[t].contexts);
    }
    ft_vec_release(&stacks->stacks);
    ft_map_release(&stacks->known);
    free(stacks);
}

static stack *stack_of(ft_stacks *stacks, uint32_t thread)
{
    while (stacks->stacks.len <= thread) ft_vec_push(&stacks->stacks, (stack){0});
    return &stacks->stacks.data[thread];
}

void ft_stacks_follow(ft_stacks *stacks, uint32_t thread, const ft_raw_event *event)
{
    FT_REQUIRE(event->code == FT_RAW_ENTER || event->code == FT_RAW_LEAVE);
    stack *s = stack_of(stacks, thread);
    if (event->code == FT_RAW_ENTER)
        ft_vec_push(&s->sites, event->site);
    else if (s->sites.len)
        s->sites.len--;
    if (s->contexts.len > s->sites.len) s->contexts.len = s->sites.len;
}

void ft_stacks_pass(ft_stacks *stacks, uint32_t thread, const ft_raw_sum *sum)
{
    stack *s = stack_of(stacks, thread);
    s->sites.len -= sum->left < s->sites.len ? sum->left : s->sites.len;
    if (s->contexts.len > s->sites.len) s->contexts.len = s->sites.len;
    for (uint32_t i = 0; i < sum->n_entered; i++) ft_vec_push(&s->sites, sum->entered[i]);
    assert(s->contexts.len <= s->sites.len);
}

static const ft_location *caller(const ft_trace *trace, uint32_t context)
{
    return &trace->locations[trace->contexts[context].loc];
}

static bool is_idle(const ft_trace *trace, uint32_t context)
{
    uint32_t parent = trace->contexts[context].parent;
    return parent != FT_NO_CONTEXT &&
           ft_annotations_is_idle(caller(trace, context), caller(trace, parent));
}

/* A call from code without lines has no context of its own. */
static uint32_t context_in(ft_stacks *stacks, uint32_t parent, uint32_t site)
{
    bool is_new;
    uint64_t *known = ft_map_slot(&stacks->known, (uint64_t)parent << 32 | site, parent, &is_new);
    if (!is_new) return (uint32_t)*known;
    uint32_t loc = stacks->location(stacks->of, site);
    if (loc == FT_NO_LOC) return parent;
    *known = ft_builder_context(stacks->builder, parent, loc);
    assert(*known > parent);
    if (is_idle(ft_builder_peek(stacks->builder), (uint32_t)*known))
        ft_builder_benign_call(stacks->builder, (uint32_t)*known);
    return (uint32_t)*known;
}

uint32_t ft_stacks_context(ft_stacks *stacks, uint32_t thread)
{
    stack *s = stack_of(stacks, thread);
    for (size_t i = s->contexts.len; i < s->sites.len; i++) {
        /* The outermost function's caller is not code of the program. */
        uint32_t context = FT_NO_CONTEXT;
        if (i) context = context_in(stacks, s->contexts.data[i - 1], s->sites.data[i]);
        ft_vec_push(&s->contexts, context);
    }
    assert(s->contexts.len == s->sites.len);
    return s->contexts.len ? s->contexts.data[s->contexts.len - 1] : FT_NO_CONTEXT;
}
