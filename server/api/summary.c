/* GET /v1/traces/{trace}/summary and /v1/traces/{trace}/intervals. */
#include <stdlib.h>

#include "api/internal.h"

typedef struct asking {
    ft_http_request *request; /* NULL: answered */
} asking;

static void on_summary(void *data, const ft_error *err, json_t *summary)
{
    asking *a = data;
    if (a->request) {
        ft_http_on_gone(a->request, NULL, NULL);
        if (err)
            ft_http_fail_error(a->request, err);
        else
            ft_reply_tagged(a->request, summary);
    }
    free(a);
}

/* The worker may take its time; a server that stops does not wait for it. */
static void on_gone(void *data)
{
    asking *a = data;
    ft_http_request *request = a->request;
    a->request = NULL;
    ft_http_fail(request, 503, "shutting-down", "the server is stopping");
}

typedef void (*dispatch_ask)(ft_dispatch *dispatch, const char *trace, ft_store_done done,
                             void *data);

static void ask(ft_api *api, ft_http_request *request, dispatch_ask how)
{
    asking *a = ft_calloc(1, sizeof *a);
    a->request = request;
    ft_http_on_gone(request, on_gone, a);
    how(api->app->dispatch, ft_http_param(request, 0), on_summary, a);
}

void ft_serve_summary(ft_api *api, ft_http_request *request)
{
    ask(api, request, ft_dispatch_summary);
}

void ft_serve_intervals(ft_api *api, ft_http_request *request)
{
    ask(api, request, ft_dispatch_intervals);
}
