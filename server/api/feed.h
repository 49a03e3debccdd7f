/* Changes of jobs for GET /v1/events. */
#ifndef FT_API_FEED_H
#define FT_API_FEED_H

#include "api/internal.h"

ft_feed *ft_feed_new(ft_api *api);
void ft_feed_free(ft_feed *feed); /* accepts NULL; no stream may be open */

#endif
