/* Polls of jobs: GET /v1/jobs/{job}, at once or with Prefer: wait.
 *
 * The store's last snapshot of a job is cached as text until the job changes, and for one second at
 * most (retention removes jobs without notice). So thousands of clients that poll one job cost one
 * read of the store, and one read answers all that wait for its end. No request is answered with a
 * snapshot from before it came if the job has changed since. */
#ifndef FT_API_POLLS_H
#define FT_API_POLLS_H

#include "api/internal.h"

ft_polls *ft_polls_new(ft_api *api);
/* Accepts NULL. No request may be waiting. */
void ft_polls_free(ft_polls *polls);

/* Answers, now or later. seconds NULL: without waiting. */
void ft_polls_answer(ft_polls *polls, ft_http_request *request, const char *job,
                     const uint32_t *seconds);

/* The project of a job if its snapshot is kept, else NULL. Valid until the next call. */
const char *ft_polls_project(ft_polls *polls, const char *job);

#endif
