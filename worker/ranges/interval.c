#include "ranges/interval.h"

#include <inttypes.h>
#include <string.h>

#include "base/contract.h"
#include "ranges/faults.h"

#ifdef FT_FAULTS
ft_interval_fault_kind ft_interval_fault = FT_INTERVAL_FAULT_NONE;
#endif

static uint64_t mask_of(unsigned width)
{
    return width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
}

static int64_t sign_extend(uint64_t bits, unsigned width)
{
    uint64_t sign = (uint64_t)1 << (width - 1);
    return (int64_t)((bits ^ sign) - sign);
}

static int64_t least_signed(unsigned width)
{
    return sign_extend((uint64_t)1 << (width - 1), width);
}

ft_range ft_range_empty(void)
{
    return (ft_range){.low = 1, .high = 0, .ulow = 1, .uhigh = 0};
}

bool ft_range_is_empty(ft_range range)
{
    return range.low > range.high;
}

ft_range ft_range_any(ft_sort sort)
{
    if (sort.kind == FT_SORT_BOOL) return (ft_range){.low = 0, .high = 1};
    if (sort.kind == FT_SORT_INT) return (ft_range){.low = INT64_MIN, .high = INT64_MAX};
    int64_t least = least_signed(sort.width);
    return (ft_range){least, -1 - least, 0, mask_of(sort.width)};
}

/* Each view of a BitVec narrows the other if its sign is known. */
static ft_range tighten(ft_sort sort, ft_range r)
{
    uint64_t sign = (uint64_t)1 << (sort.width - 1), mask = mask_of(sort.width);
    if (r.low > r.high || r.ulow > r.uhigh) return ft_range_empty();
    if (r.uhigh < sign || r.ulow >= sign) {
        int64_t low = sign_extend(r.ulow, sort.width), high = sign_extend(r.uhigh, sort.width);
        if (low > r.low) r.low = low;
        if (high < r.high) r.high = high;
    }
    if (r.low > r.high) return ft_range_empty();
    if (r.low >= 0 || r.high < 0) {
        uint64_t low = (uint64_t)r.low & mask, high = (uint64_t)r.high & mask;
        if (low > r.ulow) r.ulow = low;
        if (high < r.uhigh) r.uhigh = high;
    }
    return r.ulow > r.uhigh ? ft_range_empty() : r;
}

ft_range ft_range_unsigned(ft_sort sort, uint64_t low, uint64_t high)
{
    FT_REQUIRE(sort.kind == FT_SORT_BITVEC && high <= mask_of(sort.width));
    ft_range r = ft_range_any(sort);
    r.ulow = low;
    r.uhigh = high;
    return tighten(sort, tighten(sort, r));
}

ft_range ft_range_signed(ft_sort sort, int64_t low, int64_t high)
{
    FT_REQUIRE(sort.kind == FT_SORT_BITVEC && low >= least_signed(sort.width));
    ft_range r = ft_range_any(sort);
    r.low = low;
    r.high = high;
    return tighten(sort, tighten(sort, r));
}

ft_value ft_range_bound(ft_sort sort, int64_t bound)
{
    uint64_t mask = sort.kind == FT_SORT_BITVEC ? mask_of(sort.width) : UINT64_MAX;
    return (ft_value){sort, (uint64_t)bound & mask};
}

ft_range ft_range_single(ft_value value)
{
    if (value.sort.kind == FT_SORT_BITVEC)
        return ft_range_unsigned(value.sort, value.bits, value.bits);
    return (ft_range){.low = (int64_t)value.bits, .high = (int64_t)value.bits};
}

ft_range ft_range_join(ft_sort sort, ft_range a, ft_range b)
{
    if (ft_range_is_empty(a)) return b;
    if (ft_range_is_empty(b)) return a;
    (void)sort;
    bool keep = ft_interval_fault_is(FT_INTERVAL_FAULT_JOIN_HIGH);
    if (b.low < a.low) a.low = b.low;
    if (b.high > a.high && !keep) a.high = b.high;
    if (b.ulow < a.ulow) a.ulow = b.ulow;
    if (b.uhigh > a.uhigh) a.uhigh = b.uhigh;
    return a;
}

ft_range ft_range_meet(ft_sort sort, ft_range a, ft_range b)
{
    if (ft_range_is_empty(a) || ft_range_is_empty(b)) return ft_range_empty();
    if (b.low > a.low) a.low = b.low;
    if (b.high < a.high)
        a.high = b.high - (ft_interval_fault_is(FT_INTERVAL_FAULT_MEET_HIGH) && b.high > a.low);
    if (sort.kind != FT_SORT_BITVEC) return a.low > a.high ? ft_range_empty() : a;
    if (b.ulow > a.ulow) a.ulow = b.ulow;
    if (b.uhigh < a.uhigh) a.uhigh = b.uhigh;
    return tighten(sort, tighten(sort, a));
}

bool ft_range_equal(ft_range a, ft_range b)
{
    if (ft_range_is_empty(a) || ft_range_is_empty(b))
        return ft_range_is_empty(a) && ft_range_is_empty(b);
    return a.low == b.low && a.high == b.high && a.ulow == b.ulow && a.uhigh == b.uhigh;
}

bool ft_range_holds(ft_sort sort, ft_range range, uint64_t bits)
{
    int64_t value = (int64_t)bits;
    if (sort.kind == FT_SORT_BITVEC) value = sign_extend(bits, sort.width);
    if (value < range.low || value > range.high) return false;
    return sort.kind != FT_SORT_BITVEC || (bits >= range.ulow && bits <= range.uhigh);
}

/* The sentinels are no values: a single one that looks like a sentinel is taken for unbounded. */
bool ft_range_is_single(ft_range range)
{
    return range.low == range.high && range.low != INT64_MIN && range.high != INT64_MAX;
}

uint64_t ft_range_extent(ft_sort sort, ft_range range)
{
    if (ft_range_is_empty(range)) return 0;
    uint64_t extent = (uint64_t)range.high - (uint64_t)range.low;
    if (sort.kind == FT_SORT_INT && (range.low == INT64_MIN || range.high == INT64_MAX))
        return UINT64_MAX;
    uint64_t other = range.uhigh - range.ulow;
    return sort.kind == FT_SORT_BITVEC && other < extent ? other : extent;
}

unsigned ft_range_bits(ft_sort sort, ft_range range)
{
    uint64_t extent = ft_range_extent(sort, range);
    return extent ? 64 - (unsigned)__builtin_clzll(extent) : 0;
}

static unsigned length_of(uint64_t bits)
{
    return bits ? 64 - (unsigned)__builtin_clzll(bits) : 0;
}

unsigned ft_range_unsigned_width(ft_range range)
{
    return range.uhigh ? length_of(range.uhigh) : 1;
}

unsigned ft_range_signed_width(ft_range range)
{
    unsigned low = length_of((uint64_t)(range.low < 0 ? ~range.low : range.low)),
             high = length_of((uint64_t)(range.high < 0 ? ~range.high : range.high));
    return 1 + (low > high ? low : high);
}

unsigned ft_range_width(ft_range range)
{
    unsigned zero = ft_range_unsigned_width(range), sign = ft_range_signed_width(range);
    return zero < sign ? zero : sign;
}

static void print_bounds(ft_sort sort, ft_range range, ft_strbuf *out)
{
    bool is_unsigned = sort.kind == FT_SORT_BITVEC &&
                       range.uhigh - range.ulow <= (uint64_t)range.high - (uint64_t)range.low;
    if (is_unsigned) {
        ft_strbuf_printf(out, "[%" PRIu64 ",%" PRIu64 "]", range.ulow, range.uhigh);
        return;
    }
    bool open = sort.kind == FT_SORT_INT;
    ft_strbuf_printf(out, "[");
    if (open && range.low == INT64_MIN)
        ft_strbuf_printf(out, "-");
    else
        ft_strbuf_printf(out, "%" PRId64, range.low);
    if (open && range.high == INT64_MAX)
        ft_strbuf_printf(out, ",+]");
    else
        ft_strbuf_printf(out, ",%" PRId64 "]", range.high);
}

void ft_range_print(ft_sort sort, ft_range range, ft_strbuf *out)
{
    if (ft_range_is_empty(range))
        ft_strbuf_printf(out, "never");
    else if (ft_range_equal(range, ft_range_any(sort)))
        ft_strbuf_printf(out, "any");
    else if (sort.kind == FT_SORT_BOOL)
        ft_strbuf_printf(out, range.low ? "true" : "false");
    else
        print_bounds(sort, range, out);
}

const ft_range_domain *ft_intervals_domain(void)
{
    static const ft_range_domain domain = {ft_range_any,  ft_range_single, ft_range_join,
                                           ft_range_meet, ft_range_apply,  ft_range_is_empty};
    return &domain;
}
