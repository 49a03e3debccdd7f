/* Which shapes of branches the compared traces have. */
#include "oracle/compare_internal.h"
#include "oracle/state.h"

static bool has_else(const ft_trace *trace, uint32_t branch, const ft_arms *arms)
{
    for (uint32_t e = branch + 1; e < trace->n_events; e++)
        if (arms->other[e] & arms->bit[branch]) return true;
    return false;
}

static bool is_closed(const ft_trace *trace, uint32_t branch)
{
    uint32_t depth = 0;
    for (uint32_t e = branch; e < trace->n_events; e++) {
        if (trace->thread[e] != trace->thread[branch]) continue;
        if (trace->kind[e] == FT_EVENT_IF) depth++;
        if (trace->kind[e] == FT_EVENT_END_IF && --depth == 0) return true;
    }
    return false;
}

static bool sets_local(const ft_trace *trace, uint32_t event)
{
    if (trace->kind[event] != FT_EVENT_ASSIGN) return false;
    const ft_action *action = ft_trace_action(trace, event);
    for (uint32_t i = 0; i < action->n_assignments; i++)
        if (FT_SYM_IS_LOCAL(action->assignments[i].target)) return true;
    return false;
}

static void count_if(const ft_trace *trace, uint32_t e, const ft_arms *arms, uint64_t *shapes)
{
    bool reads = ft_trace_action(trace, e)->n_accesses > 0;
    shapes[has_else(trace, e, arms) ? FT_SHAPE_ELSE : FT_SHAPE_NO_ELSE]++;
    shapes[FT_SHAPE_NESTED] += (arms->then[e] | arms->other[e]) != 0;
    shapes[FT_SHAPE_UNCLOSED] += !is_closed(trace, e);
    shapes[reads ? FT_SHAPE_READS_SHARED : FT_SHAPE_READS_NONE]++;
}

void ft_compare_count_shapes(const ft_trace *trace, ft_comparison_stats *stats)
{
    ft_arms arms;
    if (!trace->n_paths) return;
    stats->branching++;
    ft_arms_init(&arms, trace);
    for (uint32_t e = 0; e < trace->n_events; e++) {
        bool passed = (trace->flags[e] & FT_FLAG_PASSED) != 0;
        if (trace->kind[e] == FT_EVENT_IF) count_if(trace, e, &arms, stats->shapes);
        if (!arms.then[e] && !arms.other[e]) continue;
        stats->in_arm[trace->kind[e]][passed]++;
        bool attempt = (trace->flags[e] & FT_FLAG_TRY) != 0;
        if (attempt) stats->shapes[passed ? FT_SHAPE_TRY_PASSED : FT_SHAPE_TRY_TAKEN]++;
        if (sets_local(trace, e))
            stats->shapes[passed ? FT_SHAPE_PHI_PASSED : FT_SHAPE_PHI_TAKEN]++;
    }
}

static void count_cycle(const ft_trace *trace, const ft_oracle_answer *answer,
                        ft_comparison_stats *stats)
{
    bool once = false, joins = false;
    if (answer->claim.kind != FT_CLAIM_DEADLOCK) return;
    for (uint32_t i = 0; i < answer->claim.n_events; i++) {
        once |= trace->kind[answer->claim.events[i]] == FT_EVENT_ONCE_PASS;
        joins |= trace->kind[answer->claim.events[i]] == FT_EVENT_JOIN;
    }
    if (once) stats->once_cycles[joins][answer->violated]++;
}

void ft_compare_count_claim(const ft_trace *trace, const ft_oracle_answer *answer,
                            ft_comparison_stats *stats)
{
    count_cycle(trace, answer, stats);
    for (uint32_t i = 0; i < ft_claim_events(&answer->claim); i++)
        if (trace->flags[answer->claim.events[i]] & FT_FLAG_PASSED) {
            stats->passed_claims[answer->claim.kind][answer->violated]++;
            return;
        }
}
