/* Webhooks in the store: the setting of each project, and the deliveries, which are made in the
 * transaction that ends a job. Asynchronous, as store.h says.
 *
 * A delivery is pending until its time has come, sending while an attempt is made, then delivered,
 * or pending again, or failed. An attempt has a fencing token (node.h): its result counts while the
 * delivery has that token. What was sending when the daemon ended is pending at its next start; in
 * a shared store an attempt has a lease, and the delivery is pending again once that has run out. A
 * receiver may hear of a job twice then, under the same delivery id, but never not at all. */
#ifndef FT_STORE_WEBHOOKS_H
#define FT_STORE_WEBHOOKS_H

#include "store/store.h"

#define FT_WEBHOOK_SECRET 64 /* hex digits, after the prefix */
#define FT_WEBHOOK_PREFIX "whsec_"
#define FT_DELIVERY_DAYS  14 /* one that has ended is listed */

/* WEBHOOK: {"project", "url": URL|null, "created": TIME, "changed": TIME}. Makes or changes the
 * project's; a new one, or one whose secret is renewed, has "secret" as well, this once. url NULL:
 * only jobs that name one are told of. keep: the URL stays as it is (NULL in a new one). */
typedef struct ft_store_webhook {
    const char *project, *url;
    bool keep, renew;
} ft_store_webhook;
void ft_store_webhook_set(ft_store *store, const ft_store_webhook *webhook, ft_store_done done,
                          void *data);
/* {}; its deliveries that have not been made fail. FT_NOT_FOUND. */
void ft_store_webhook_drop(ft_store *store, const char *project, ft_store_done done, void *data);
/* {"webhooks": [WEBHOOK...]}; projects: ",a,b,", NULL: all. */
void ft_store_webhooks(ft_store *store, const char *projects, ft_store_done done, void *data);

/* {"deliveries": [{"delivery": ID, "job", "project", "url", "state", "attempts": N, "status":
 * N|null, "error": TEXT|null, "created": TIME, "due": TIME|null, "ended": TIME|null}...], "next":
 * CURSOR|null}, newest first. state, job NULL: any. FT_USAGE: unknown state or cursor. */
void ft_store_deliveries(ft_store *store, const char *state, const char *job, ft_store_page page,
                         ft_store_done done, void *data);
/* One that ended is pending again, from its first attempt on: {}. FT_NOT_FOUND: there is none in
 * these projects. FT_CONFLICT: it has not ended. */
void ft_store_delivery_repeat(ft_store *store, const char *delivery, const char *projects,
                              ft_store_done done, void *data);

typedef struct ft_store_sending {
    uint32_t most;     /* deliveries */
    uint32_t each;     /* of a project being sent at once, on whatever nodes */
    uint32_t lease_ms; /* longer than an attempt takes, with the storing of its result */
} ft_store_sending;
/* Takes deliveries whose time has come, and counts the attempt: {"deliveries": [{"delivery", "job",
 * "project", "url", "body", "secret", "attempt": N, "token": T}...], "wait": MS until the next
 * one's time, or until the next lease runs out, null: none is pending}. Those that ended
 * FT_DELIVERY_DAYS ago are removed. */
void ft_store_deliveries_take(ft_store *store, ft_store_sending sending, ft_store_done done,
                              void *data);

/* How an attempt went. */
typedef struct ft_store_outcome {
    bool delivered;
    int status;        /* of the answer; 0: none */
    const char *error; /* why not; NULL: delivered */
    int64_t again_ms;  /* not delivered: until the next attempt; negative: no more */
} ft_store_outcome;
/* Of a delivery taken, with the token of the attempt: {}; nothing changes if that is over. */
void ft_store_delivery_end(ft_store *store, const char *delivery, uint64_t token,
                           const ft_store_outcome *outcome, ft_store_done done, void *data);

#endif
