/* The context that the parts of the daemon share: one structure, owned by main and valid while the
 * loop runs.
 *
 * main opens store, dispatch, webhooks and api in this order and closes them in reverse.
 * retention.h is a timer beside them: it deletes what is kept for longer than configured.
 *
 * Imports: dispatch, setup, store, common/base. */
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
