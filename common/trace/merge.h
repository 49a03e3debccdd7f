/* Merging traces of one program into one with branches (Wang et al. §8).
 *
 * Threads are matched by name. In each thread the runs are aligned by kind, location, object and
 * term of their events. Where they part after an assume, at the same location with different
 * conditions, the assume becomes an if of the first run's condition; what the runs do until they
 * meet again are its arms. They meet so that as many events as possible are shared, and hold the
 * same locks at both ends of an arm. Further traces are merged into the result, one after the
 * other.
 *
 * The merged trace's observed run is the first trace's. What only others have stands right behind
 * what comes before it in its thread. */
#ifndef FT_TRACE_MERGE_H
#define FT_TRACE_MERGE_H

#include "trace/trace.h"

/* names[i]: what messages call traces[i]; n >= 2. Only the first trace may have branches already.
 * FT_INPUT: the traces cannot be merged: their tables disagree, one has no symbolic events, or a
 * thread's events differ without a branch or in a way that an arm may not (branch.h); the message
 * names the thread and the places. FT_LIMIT: a thread is too long to be aligned. */
ft_status ft_trace_merge(const ft_trace *const *traces, const char *const *names, uint32_t n,
                         ft_trace **merged, ft_error *err) FT_MUST_CHECK;

#endif
