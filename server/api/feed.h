/* Changes of jobs for GET /v1/events. */
#ifndef FT_API_FEED_H
#define FT_API_FEED_H

#include "api/internal.h"

ft_event_feed *ft_event_feed_new(ft_api *api);
void ft_event_feed_free(ft_event_feed *feed); /* accepts NULL; no stream may be open */

#endif
