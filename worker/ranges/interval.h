/* Intervals: the values that a variable can have, as bounds (Ganai and Wang §4.2).
 *
 * A range of sort Int has the bounds low and high; INT64_MIN as low means unbounded below,
 * INT64_MAX as high unbounded above. Bool has the bounds 0 and 1. A BitVec has two views of the
 * same set, both of which hold: signed in low and high, unsigned in ulow and uhigh. A range is
 * empty where no run gets there (low > high).
 *
 * Bounds are never clamped: an Int bound beyond 64 bits becomes unbounded, and a BitVec result that
 * may wrap is the full range of the view that wraps.
 *
 * The propagation (reduce/intervals/ranges.h) knows its domain by ft_range_domain alone. The
 * transfer functions of the operators are in transfer.c; faults.h has the planted mistakes of the
 * whole analysis.
 *
 * Imports: common/base, common/term. */
#ifndef FT_RANGES_INTERVAL_H
#define FT_RANGES_INTERVAL_H

#include "term/term.h"

typedef struct ft_range {
    int64_t low, high;
    uint64_t ulow, uhigh; /* of a BitVec, else 0 */
} ft_range;

/* Whether a BitVec operation may leave the numbers of a view: its result is then not the result of
 * the same operation on Ints. */
enum { FT_WRAPS_UNSIGNED = 1, FT_WRAPS_SIGNED = 2 };

/* The Int that stands for a BitVec: of the view in which no operation on it wraps. */
typedef enum ft_number {
    FT_NUMBER_BITS, /* none does */
    FT_NUMBER_UNSIGNED,
    FT_NUMBER_SIGNED
} ft_number;

/* A domain of values: what the propagation needs. */
typedef struct ft_range_domain {
    ft_range (*any)(ft_sort sort);
    ft_range (*single)(ft_value value);
    ft_range (*join)(ft_sort sort, ft_range a, ft_range b);
    ft_range (*meet)(ft_sort sort, ft_range a, ft_range b); /* may be empty */
    /* The result of an operator, over the ranges of the children. Of a divisor only values other
     * than zero count: elsewhere the event is infeasible. *wraps (FT_WRAPS_*) is added to. */
    ft_range (*apply)(const ft_term_pool *pool, const ft_term_node *node, const ft_range *children,
                      unsigned *wraps);
    bool (*is_empty)(ft_range range);
} ft_range_domain;

const ft_range_domain *ft_intervals_domain(void);

ft_range ft_range_any(ft_sort sort);
ft_range ft_range_single(ft_value value);
ft_range ft_range_empty(void);
bool ft_range_is_empty(ft_range range);
ft_range ft_range_join(ft_sort sort, ft_range a, ft_range b); /* an empty one adds nothing */
ft_range ft_range_meet(ft_sort sort, ft_range a, ft_range b);
bool ft_range_equal(ft_range a, ft_range b);
bool ft_range_holds(ft_sort sort, ft_range range, uint64_t bits);
bool ft_range_is_single(ft_range range);
/* The number of values less one, of the tighter view; UINT64_MAX: unbounded, or as many. */
uint64_t ft_range_extent(ft_sort sort, ft_range range);
/* The bits that count the values of a range: of the paper's metric (Ganai and Wang §4.3), and a
 * constant has none. 64 for an unbounded one. */
unsigned ft_range_bits(ft_sort sort, ft_range range);
/* Of a BitVec: the bits in which all values of the range can be written, as unsigned or as signed
 * numbers (two's complement); at least 1, and of either view at most the width. */
unsigned ft_range_unsigned_width(ft_range range);
unsigned ft_range_signed_width(ft_range range);
unsigned ft_range_width(ft_range range); /* the lesser one */
/* The range of the Int, or of the BitVec in the view with fewer values, as people read it:
 * "[0,5]", "[1,+]" where it is unbounded above, "true", "any". */
void ft_range_print(ft_sort sort, ft_range range, ft_strbuf *out);

/* Bounds of one view of a BitVec to a range. Both must fit the width. */
ft_range ft_range_unsigned(ft_sort sort, uint64_t low, uint64_t high);
ft_range ft_range_signed(ft_sort sort, int64_t low, int64_t high);

/* A signed bound of the sort, as a value. */
ft_value ft_range_bound(ft_sort sort, int64_t bound);

/* transfer.c */
ft_range ft_range_apply(const ft_term_pool *pool, const ft_term_node *node,
                        const ft_range *children, unsigned *wraps);

#endif
