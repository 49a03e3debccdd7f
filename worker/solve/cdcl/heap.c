#include "base/contract.h"
#include "solve/cdcl/internal.h"

static void put(ft_cdcl *s, uint32_t place, uint32_t variable)
{
    s->heap.data[place] = variable;
    s->heaped[variable] = place + 1;
}

static void sift_up(ft_cdcl *s, uint32_t place)
{
    uint32_t variable = s->heap.data[place];
    for (uint32_t above; place > 0; place = above) {
        above = (place - 1) / 2;
        if (s->activity[s->heap.data[above]] >= s->activity[variable]) break;
        put(s, place, s->heap.data[above]);
    }
    put(s, place, variable);
}

static void sift_down(ft_cdcl *s, uint32_t place)
{
    uint32_t variable = s->heap.data[place], below;
    while ((below = 2 * place + 1) < s->heap.len) {
        if (below + 1 < s->heap.len &&
            s->activity[s->heap.data[below + 1]] > s->activity[s->heap.data[below]])
            below++;
        if (s->activity[s->heap.data[below]] <= s->activity[variable]) break;
        put(s, place, s->heap.data[below]);
        place = below;
    }
    put(s, place, variable);
}

void ft_cdcl_heap_clear(ft_cdcl *s)
{
    for (size_t i = 0; i < s->heap.len; i++) s->heaped[s->heap.data[i]] = 0;
    s->heap.len = 0;
    s->search++;
    s->search_began = s->conflicts;
}

void ft_cdcl_heap_bump(ft_cdcl *s, uint32_t variable)
{
    FT_REQUIRE(variable > FT_LIT_TRUE && variable < s->n_variables);
    s->focus[variable] = s->search;
    assert(!s->heaped[variable] || s->heap.data[s->heaped[variable] - 1] == variable);
    if (s->heaped[variable]) sift_up(s, s->heaped[variable] - 1);
}

void ft_cdcl_heap_reopen(ft_cdcl *s, uint32_t variable)
{
    if (s->focus[variable] != s->search || s->heaped[variable]) return;
    ft_vec_push(&s->heap, variable);
    sift_up(s, (uint32_t)s->heap.len - 1);
}

uint32_t ft_cdcl_heap_pop(ft_cdcl *s)
{
    while (s->heap.len > 0) {
        assert(s->heaped[s->heap.data[0]] == 1);
        uint32_t variable = s->heap.data[0], last = s->heap.data[--s->heap.len];
        s->heaped[variable] = 0;
        if (s->heap.len > 0) {
            s->heap.data[0] = last;
            sift_down(s, 0);
        }
        if (s->value[variable << 1] == 0) return variable;
    }
    return 0;
}
