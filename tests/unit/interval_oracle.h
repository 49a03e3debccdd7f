/* Ranges against every reachable state of a random trace (oracle/explore.h), under ctp: what an
 * event reads when it is next, what its condition is then, what it writes and assigns when it is
 * executed. */
#ifndef INTERVAL_ORACLE_H
#define INTERVAL_ORACLE_H

#include <stdlib.h>
#include <string.h>

#include "oracle/explore.h"
#include "oracle/generate.h"
#include "reduce/intervals/intervals.h"

typedef struct interval_check {
    const ft_machine *machine;
    const ft_stepping *steps;
    const ft_ranges *ranges;
    const ft_probe *probes;
    uint32_t n_probes;
    uint64_t values; /* compared */
    char wrong[160]; /* "": nothing yet */
} interval_check;

static inline void interval_wrong(interval_check *c, uint32_t e, const char *what, uint32_t i,
                                  uint64_t bits, ft_sort sort, ft_range range)
{
    ft_strbuf text = {0};
    ft_range_print(sort, range, &text);
    if (!c->wrong[0])
        snprintf(c->wrong, sizeof c->wrong, "event %u: %s %u is %lld, not in %s", e + 1, what, i,
                 (long long)bits, ft_strbuf_text(&text));
    ft_strbuf_release(&text);
}

static inline void interval_compare(interval_check *c, uint32_t e, const char *what, uint32_t i,
                                    uint64_t bits, ft_sort sort, ft_range range)
{
    c->values++;
    if (ft_range_is_empty(range) || !ft_range_holds(sort, range, bits))
        interval_wrong(c, e, what, i, bits, sort, range);
}

static inline void interval_next(interval_check *c, const ft_state *s, uint32_t e)
{
    const ft_trace *trace = c->machine->trace;
    const ft_action *action = ft_trace_action(trace, e);
    ft_access scratch;
    uint32_t count;
    const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t v = accesses[i].variable;
        if (!accesses[i].write && s->shared_known[v])
            interval_compare(c, e, "read", i, s->shared[v], trace->shared_info[v].sort,
                             ft_ranges_access(c->ranges, e, i));
    }
    if (action && action->guard != FT_NO_TERM) {
        ft_range range = ft_ranges_condition(c->ranges, e);
        if (ft_machine_holds(c->machine, s, e, action->guard) == FT_TRI_NO)
            interval_compare(c, e, "condition", 0, 0, FT_BOOL_SORT, range);
    }
    for (uint32_t k = 0; k < c->n_probes; k++)
        if (c->probes[k].event == e &&
            ft_machine_holds(c->machine, s, e, c->probes[k].term) == FT_TRI_NO)
            interval_compare(c, e, "probe", k, 0, FT_BOOL_SORT, c->ranges->probes.data[k]);
}

static inline void interval_done(interval_check *c, const ft_state *s, uint32_t e)
{
    const ft_trace *trace = c->machine->trace;
    const ft_action *action = ft_trace_action(trace, e);
    ft_access scratch;
    uint32_t count, t = trace->thread[e];
    const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t v = accesses[i].variable;
        if (accesses[i].write && s->shared_known[v])
            interval_compare(c, e, "write", i, s->shared[v], trace->shared_info[v].sort,
                             ft_ranges_access(c->ranges, e, i));
    }
    for (uint32_t k = 0; action && k < action->n_assignments; k++) {
        ft_symbol target = action->assignments[k].target;
        uint32_t local = FT_SYM_INDEX(target);
        if (FT_SYM_IS_LOCAL(target) && s->local_known[t][local])
            interval_compare(c, e, "local", k, s->local[t][local], trace->local_info[local].sort,
                             ft_ranges_assignment(c->ranges, e, k));
    }
}

static inline void interval_visit(void *context, const ft_exploration *all, uint32_t number)
{
    interval_check *c = context;
    const ft_monitor none = FT_NO_MONITOR;
    ft_state state = all->nodes.data[number].state, next[FT_MACHINE_BRANCHES];
    if (state.maybe) return; /* by a guess about an unknown value that another one may contradict */
    for (uint32_t t = 0; t < c->machine->n_threads; t++) {
        if (state.pos[t] >= c->machine->length[t]) continue;
        uint32_t e = c->machine->events[t][state.pos[t]];
        if (!ft_machine_is_next(c->machine, &state, e) || !ft_stepping_has(c->steps, e)) continue;
        interval_next(c, &state, e);
        uint32_t n = ft_machine_step(c->machine, &none, &state, t, next);
        for (uint32_t k = 0; k < n; k++)
            if (!next[k].maybe) interval_done(c, &next[k], e);
    }
}

#endif
