/* Reports take much memory while they are made, so only a few are made at once; others wait. */
#include <stdlib.h>

#include "api/internal.h"

#define TURNS       4
#define UNSENT_MOST ((uint64_t)256 << 20) /* answers that clients are slow to take */

struct ft_turn {
    ft_turn *next;
    ft_http_request *request;
    void (*go)(void *data);
    void *data;
};

static bool refuse(ft_api *api, ft_http_request *request, void *data)
{
    if (ft_http_statistics(api->http)->unsent <= UNSENT_MOST) return false;
    ft_http_set(request, "Retry-After", "5");
    ft_http_fail(request, 503, "too-many-reports",
                 "more than %u MiB of responses wait for clients to read them: try again later",
                 (unsigned)(UNSENT_MOST >> 20));
    free(data);
    return true;
}

void ft_turn_take(ft_api *api, ft_http_request *request, void (*go)(void *data), void *data)
{
    assert(api->turns <= TURNS && (api->turns == TURNS || !api->waiting));
    if (api->turns < TURNS) {
        if (refuse(api, request, data)) return;
        api->turns++;
        go(data);
        return;
    }
    ft_turn **at = &api->waiting, *turn = ft_calloc(1, sizeof *turn);
    *turn = (ft_turn){NULL, request, go, data};
    while (*at) at = &(*at)->next;
    *at = turn;
}

void ft_turn_end(ft_api *api)
{
    ft_turn *turn;
    assert(api->turns > 0 && api->turns <= TURNS);
    while ((turn = api->waiting) != NULL) {
        ft_turn own = *turn;
        api->waiting = own.next;
        free(turn);
        if (refuse(api, own.request, own.data)) continue;
        own.go(own.data);
        return;
    }
    api->turns--;
}
