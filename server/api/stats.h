/* The load of the last while, for GET /v1/stats. */
#ifndef FT_API_STATS_H
#define FT_API_STATS_H

#include "api/internal.h"

/* Samples every config.sample_ms; api and its http must outlive it. */
ft_stats *ft_stats_new(ft_api *api);
void ft_stats_free(ft_stats *stats); /* accepts NULL; its memory goes with the loop's next turn */

#endif
