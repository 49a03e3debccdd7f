/* Memory that a rewind leaves as it is: the search's and the log's half of the runtime's state.
 *
 * A rewind copies back every writable private mapping of the process, the runtime's own variables
 * among them. State that has to outlive a run therefore lies in memory from here, or in a shared
 * mapping. Variables that only point to it may be ordinary ones, if they are set before the
 * snapshot. The mappings are apart from all others: neighbours with equal rights would appear as
 * one mapping (/proc/self/maps), and program memory beside kept memory would be left out. */
#ifndef FT_RECORD_KEPT_H
#define FT_RECORD_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Zeroed pages with a guard page on both sides; NULL: there is no memory, or too many pieces. */
void *ft_rt_kept(size_t size);
/* Nothing may write to it any more, not even a program that runs wild. */
void ft_rt_kept_seal(const void *memory, size_t size);
/* The end of the kept piece that begins at or before `from` and ends behind it; 0: none. */
uintptr_t ft_rt_kept_until(uintptr_t from);

#pragma GCC visibility pop

#endif
