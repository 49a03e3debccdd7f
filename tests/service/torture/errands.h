/* The requests of clients besides uploads and jobs, for kill points at the statements that
 * only these requests run: webhooks, limits, reviews, lists, jobs that fail, expire or are split.
 */
#ifndef FT_TESTS_TORTURE_ERRANDS_H
#define FT_TESTS_TORTURE_ERRANDS_H

#include "service/torture/torture.h"

/* Each of them: false where the daemon gave no answer. An answer that a client would call wrong is
 * counted. */

/* Before there are jobs. */
bool ft_errands_begin(ft_torture *torture);
/* About a trace and a job over it that has ended, with a violation of the check race. */
bool ft_errands_end(ft_torture *torture, const char *trace, const char *job);

/* New text: a trace with one assertion that no order breaks, and that takes some time to prove. */
char *ft_errands_hard_trace(void);
/* Kills the worker that is at the job, once there is one; the job may have ended before. */
bool ft_errands_kill_worker(ft_torture *torture, const char *job);

#endif
