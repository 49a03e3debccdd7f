/* The HTTP interface of the daemon: the routes of docs/api.md over store and dispatch.
 *
 * Imports: app, http, setup, store, webhooks, common/base, common/report, common/verdict,
 * common/wire. */
#ifndef FT_API_API_H
#define FT_API_API_H

#include "app/app.h"
#include "base/status.h"

typedef struct ft_api ft_api;

/* Binds and listens as the configuration says. app must outlive it. FT_USAGE, FT_IO, FT_CONFLICT:
 * an address that cannot be served. */
ft_status ft_api_open(ft_app *app, ft_api **api, ft_error *err) FT_MUST_CHECK;

/* The bound TCP port; 0 when only a socket is bound. */
int ft_api_port(const ft_api *api);

/* Stops accepting, answers waiting requests, ends the connections, frees the api, then calls
 * closed(data). Store and dispatch must still be open, until then. */
void ft_api_close(ft_api *api, void (*closed)(void *data), void *data);

#endif
