/* Generated traces for the benchmarks; deterministic. */
#ifndef FT_BENCH_GENERATE_H
#define FT_BENCH_GENERATE_H

#include "trace/trace.h"

/* N threads insert 4 messages each into a table of `entries` by compare-and-swap under the entry's
 * lock, probing onwards when an entry is taken (the indexer of Flanagan and Godefroid, POPL 2005).
 * passing: main joins all threads and asserts that an entry holds what the run put there. Else a
 * monitor thread that nobody orders asserts that the last entry is filled. */
ft_trace *bench_indexer(uint32_t threads, uint32_t entries, bool passing);

/* N threads make `transfers` locked transfers each between two accounts; main joins them and
 * asserts that the sum is unchanged. buggy: balances are read in one critical section and written
 * in another. */
ft_trace *bench_banking(uint32_t threads, uint32_t transfers, bool buggy);

/* `events` (50 or more) plain reads and writes by 16 threads, up to 20,000 variables (one for 50
 * events) drawn from a Zipf distribution, one event in ten a lock operation, and one variable with
 * 10,000 unlocked writes from each of two threads. Every variable has its own few locations, as
 * code has. */
ft_trace *bench_zipf(uint32_t events);

/* The same without the unlocked burst, and after it two writes at gadget.c:1 and gadget.c:2 by two
 * threads that took part: racy: a section of one lock has to move before another for them to
 * race; else that section reads what keeps it in its place. */
ft_trace *bench_zipf_race(uint32_t events, bool racy);

#endif
