/* Branches in a trace: which ifs are open in each thread, and what may stand in their arms.
 *
 * Ifs nest within their thread, at most FT_BRANCH_MAX_DEPTH deep; each has an end-if unless the
 * thread's trace ends before it, and may have an else. In an arm there is no fork, join, begin,
 * end, edge, barrier or once event, and it ends as it began: what it acquires it releases, and what
 * it releases it has acquired (but for the lock that a condition wait gives back and takes again);
 * transactions and condition waits begin and end in one arm. */
#ifndef FT_TRACE_BRANCH_H
#define FT_TRACE_BRANCH_H

#include "base/status.h"
#include "trace/event.h"

#define FT_BRANCH_MAX_DEPTH 256

bool ft_branch_may_hold(ft_event_kind kind); /* whether an event of the kind may be in an arm */

typedef struct ft_branches ft_branches;
ft_branches *ft_branches_new(void);
void ft_branches_free(ft_branches *branches); /* accepts NULL */

/* The next event of a thread. FT_INPUT, FT_LIMIT: it breaks a rule; the message says which and
 * leaves the place to the caller. Nothing may follow a failure. */
ft_status ft_branches_follow(ft_branches *branches, ft_event_kind kind, uint32_t thread,
                             uint32_t object, uint8_t flags, ft_error *err) FT_MUST_CHECK;

#endif
