/* What a broken trace still proves.
 *
 * Where the observed order breaks the semantics (ft_trace.broken), the trace does not say what
 * happened there, and nothing that depends on it is called safe. This module bounds the dependence
 * where a lock is the cause: two threads hold it at once, so that either it is not the lock that
 * the trace says, or its events are logged in the wrong order. In doubt are then
 *   - the lock: each of its events in the whole trace;
 *   - the place of the overlapping sections' events among all others, and with it which write a
 *     read returned: each read, in the whole trace, of a variable that is accessed in such a
 *     section.
 * The relaxed trace has these events without effect. It constrains schedules less than any reading
 * of the objects in doubt: whatever they did, a schedule that was possible is one of the relaxed
 * trace. So a claim that the relaxed trace refutes is safe, if its own events are not in doubt and
 * fewer constraints cannot take its violation away (threads that wait forever are not of that
 * kind). What the relaxed trace does not refute is not decided by it.
 *
 * Other breaks are not bounded, nor are overlapping sections with events that the order of the log
 * pairs with those of other threads (conditions, semaphores, barriers, once objects, edges), atomic
 * updates and terms: of such a trace everything is in doubt. */
#ifndef FT_ENGINE_DOUBT_H
#define FT_ENGINE_DOUBT_H

#include "trace/trace.h"
#include "verdict/claim.h"

typedef struct ft_doubt ft_doubt;

/* NULL: the trace is not broken, or everything is in doubt. The trace must outlive it. */
ft_doubt *ft_doubt_new(const ft_trace *trace);
void ft_doubt_free(ft_doubt *doubt); /* accepts NULL */
/* The same events, those in doubt without effect. Not broken. */
ft_trace *ft_doubt_relaxed(const ft_doubt *doubt);
const uint8_t *ft_doubt_locks(const ft_doubt *doubt); /* [locks] 1: in doubt */
/* False: the relaxed trace decides nothing about the claim. */
bool ft_doubt_allows(const ft_doubt *doubt, const ft_claim *claim);

#endif
