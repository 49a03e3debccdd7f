/* What the parts of the daemon share; owned by main, valid while the loop runs.
 *
 * main opens store, dispatch, webhooks and api in this order and closes them in reverse.
 * server/api/api.h offers: ft_status ft_api_open(ft_app *app, ft_api **api, ft_error *err);   binds
 * and listens int ft_api_port(const ft_api *api);      the bound TCP port; 0 when only a socket is
 * bound void ft_api_close(ft_api *api, void (*closed)(void *data), void *data); stops accepting,
 * ends the connections, frees the api, calls closed */
#ifndef FT_APP_H
#define FT_APP_H

#include <uv.h>

#include "dispatch/dispatch.h"
#include "setup/config.h"
#include "store/store.h"

typedef struct ft_webhooks ft_webhooks;

typedef struct ft_app {
    uv_loop_t *loop;
    const ft_config *config;
    ft_store *store;
    ft_dispatch *dispatch;
    ft_webhooks *webhooks;
} ft_app;

#endif
