/* Which arms an event stands in, from the ifs, elses and end-ifs of its thread. */
#include <assert.h>
#include <string.h>

#include "oracle/state.h"

/* The ifs that are open in one thread, as bits. */
typedef struct open_ifs {
    uint16_t then, other;
    uint16_t stack[FT_ORACLE_IFS], depth;
} open_ifs;

static void leave_arm(open_ifs *open)
{
    uint16_t bit = open->stack[open->depth - 1];
    open->then &= (uint16_t)~bit;
    open->other &= (uint16_t)~bit;
}

void ft_arms_init(ft_arms *arms, const ft_trace *trace)
{
    open_ifs open[FT_ORACLE_THREADS] = {{0}};
    uint32_t n_ifs = 0;
    memset(arms, 0, sizeof *arms);
    for (uint32_t e = 0; e < trace->n_events; e++) {
        open_ifs *own = &open[trace->thread[e]];
        if (trace->kind[e] == FT_EVENT_ELSE || trace->kind[e] == FT_EVENT_END_IF) leave_arm(own);
        arms->then[e] = own->then;
        arms->other[e] = own->other;
        if (trace->kind[e] == FT_EVENT_IF) {
            assert(n_ifs < FT_ORACLE_IFS);
            arms->bit[e] = (uint16_t)(1u << n_ifs++);
            own->stack[own->depth++] = arms->bit[e];
            own->then |= arms->bit[e];
        }
        if (trace->kind[e] == FT_EVENT_ELSE) own->other |= own->stack[own->depth - 1];
        if (trace->kind[e] == FT_EVENT_END_IF) own->depth--;
    }
}

bool ft_arms_exclude(const ft_arms *arms, uint32_t a, uint32_t b)
{
    return (arms->then[a] & arms->other[b]) || (arms->other[a] & arms->then[b]);
}
