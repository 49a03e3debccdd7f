#include "engine/narrow.h"

enum { MOST_PAIRS = 100000 };

static ft_sort sort_of(const ft_intervals *v, uint32_t e, uint32_t i)
{
    ft_access scratch;
    uint32_t count;
    const ft_access *accesses = ft_trace_accesses(v->problem->trace, e, &scratch, &count);
    return v->problem->trace->shared_info[accesses[i].variable].sort;
}

static bool holds(const void *context, uint32_t e, uint32_t i, uint64_t bits)
{
    ft_range range;
    if (!ft_intervals_access(context, e, i, &range)) return true;
    return ft_range_holds(sort_of(context, e, i), range, bits);
}

/* In the order of their bits: those of a signed range that has both signs come in two parts. */
static uint32_t list(const void *context, uint32_t e, uint32_t i, uint64_t bits[FT_DOMAIN_MOST])
{
    ft_range range;
    if (!ft_intervals_access(context, e, i, &range)) return 0;
    ft_sort sort = sort_of(context, e, i);
    uint64_t extent = ft_range_extent(sort, range);
    if (extent >= FT_DOMAIN_MOST || sort.kind == FT_SORT_BOOL) return 0;
    bool by_sign = sort.kind == FT_SORT_INT || range.uhigh - range.ulow != extent;
    uint32_t count = 0;
    if (!by_sign) {
        for (uint64_t k = 0; k <= extent; k++) bits[count++] = range.ulow + k;
        return count;
    }
    for (int64_t k = range.low < 0 ? 0 : range.low; k <= range.high; k++)
        bits[count++] = ft_range_bound(sort, k).bits;
    for (int64_t k = range.low; k < 0 && k <= range.high; k++)
        bits[count++] = ft_range_bound(sort, k).bits;
    return count;
}

uint64_t ft_narrow_domains(const ft_intervals *intervals, ft_domains *domains, uint64_t *looked)
{
    const ft_domain_filter filter = {intervals, holds, list};
    return ft_domains_cut(domains, &filter, looked);
}

static uint64_t count_excluded(const ft_problem *p, const ft_writes *writes, uint32_t e, uint32_t i,
                               uint32_t variable, uint64_t *looked)
{
    uint64_t dropped = !ft_intervals_may_read(p, e, i, FT_NO_EVENT);
    ++*looked;
    for (uint32_t k = writes->first[variable]; k < writes->first[variable + 1]; k++) {
        ++*looked;
        dropped += !ft_intervals_may_read(p, e, i, writes->events[k]);
    }
    return dropped;
}

uint64_t ft_narrow_sources(const ft_intervals *intervals, const ft_writes *writes, uint64_t *looked)
{
    const ft_problem *p = intervals->problem;
    uint64_t dropped = 0;
    for (uint32_t e = 0; e < p->trace->n_events && *looked < MOST_PAIRS; e++) {
        const ft_action *action = ft_trace_action(p->trace, e);
        for (uint32_t i = 0; action && i < action->n_accesses; i++)
            if (!action->accesses[i].write)
                dropped += count_excluded(p, writes, e, i, action->accesses[i].variable, looked);
    }
    return dropped;
}

/* ---- reads ----------------------------------------------------------------------------------- */

typedef struct counted_read {
    const ft_intervals *intervals;
    const void *context;
    uint32_t variable;
    ft_sort sort;
    ft_range range;
} counted_read;

typedef bool (*read_test)(const counted_read *read);

/* Reads of symbolic events that the test holds for, of those with a range. */
static uint64_t count_reads(const ft_intervals *v, const void *context, bool bits_alone,
                            read_test test, uint64_t *looked)
{
    const ft_trace *trace = v->problem->trace;
    uint64_t count = 0;
    for (uint32_t e = 0; e < trace->n_events; e++) {
        const ft_action *action = ft_trace_action(trace, e);
        for (uint32_t i = 0; action && i < action->n_accesses; i++) {
            counted_read read = {v, context, action->accesses[i].variable, {0}, {0}};
            read.sort = trace->shared_info[read.variable].sort;
            if (action->accesses[i].write || (bits_alone && read.sort.kind != FT_SORT_BITVEC))
                continue;
            ++*looked;
            count += ft_intervals_access(v, e, i, &read.range) && test(&read);
        }
    }
    return count;
}

static bool has_bound(const counted_read *read)
{
    return !ft_range_equal(read->range, ft_range_any(read->sort));
}

static bool is_number(const counted_read *read)
{
    return ft_numbers_shared(read->context, read->variable) != FT_NUMBER_BITS;
}

static bool is_narrow(const counted_read *read)
{
    return ft_range_width(read->range) < read->sort.width;
}

uint64_t ft_narrow_reads(const ft_intervals *intervals, uint64_t *looked)
{
    return count_reads(intervals, NULL, false, has_bound, looked);
}

uint64_t ft_narrow_numbers(const ft_numbers *numbers, uint64_t *looked)
{
    return count_reads(numbers->intervals, numbers, true, is_number, looked);
}

uint64_t ft_narrow_widths(const ft_intervals *intervals, uint64_t *looked)
{
    return count_reads(intervals, NULL, true, is_narrow, looked);
}
