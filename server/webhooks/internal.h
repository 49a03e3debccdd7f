/* Private to server/webhooks: attempts and their results. */
#ifndef FT_WEBHOOKS_INTERNAL_H
#define FT_WEBHOOKS_INTERNAL_H

#include "base/contract.h"
#include "store/webhooks.h"
#include "webhooks/webhooks.h"

#define FT_WEBHOOK_GRACE_MS 2000 /* past an attempt's own limit, until its process is killed */

typedef struct ft_attempt ft_attempt;
typedef struct ft_ending ft_ending;

typedef enum ft_webhook_metric {
#define FT_ROW(symbol, name, doc) FT_WEBHOOK_##symbol,
    FT_WEBHOOK_METRIC_TABLE(FT_ROW)
#undef FT_ROW
        FT_WEBHOOK_METRICS
} ft_webhook_metric;

struct ft_webhooks {
    ft_app *app;
    ft_watch *watch;
    uv_timer_t timer;
    char *program;
    bool able;            /* the program is there */
    ft_attempt *attempts; /* under way */
    unsigned running;
    ft_ending *unsaved; /* the store could not take them yet */
    unsigned holds;     /* handles and requests that refer to this */
    bool asking, again; /* the store is being asked; it has to be asked once more */
    uint64_t asked;     /* then, by uv_hrtime */
    bool closing;
    uint64_t metrics[FT_WEBHOOK_METRICS];
};

void ft_webhooks_drop(ft_webhooks *webhooks); /* one hold less */

/* Starts an attempt of a delivery as the store hands it out. It ends in ft_attempt_over, later. */
void ft_attempt_start(ft_webhooks *webhooks, const json_t *delivery);
/* Ends all of them and ignores their results. */
void ft_attempts_kill(ft_webhooks *webhooks);

/* The result of an attempt; status 0: no response, and the reason. */
typedef struct ft_attempt_result {
    const char *delivery, *job, *project;
    uint64_t token;
    unsigned number; /* of the attempt */
    int status;
    const char *reason;
} ft_attempt_result;
void ft_attempt_over(ft_webhooks *webhooks, const ft_attempt_result *result);

#endif
