/* Webhooks: HTTP notifications to receivers when a job has ended.
 *
 * The store makes a delivery in the transaction that ends its job; this makes the attempts, each in
 * a process of its own (webhooks/sender/send.h), so that no receiver, resolver or certificate can
 * hold up or harm the daemon. An attempt succeeds with an answer of 2xx; after any other, and after
 * none, there is another one later, twice as long from one to the next, until webhook-attempts were
 * made. 410 Gone ends it at once.
 *
 * A request carries Foretell-Event, Foretell-Delivery (the same at every attempt),
 * Foretell-Attempt and Foretell-Signature: t=SECONDS,v1=HEX, HMAC-SHA-256 with the project's secret
 * over "SECONDS.BODY".
 *
 * Imports: app, dispatch, setup, store, common/base. */
#ifndef FT_WEBHOOKS_WEBHOOKS_H
#define FT_WEBHOOKS_WEBHOOKS_H

#include <jansson.h>
#include <stdint.h>

#include "app/app.h"
#include "base/strbuf.h"

#define FT_WEBHOOK_URL 2048 /* bytes, at most */

/* Starts with what the store has pending. app and its store and dispatcher must outlive it. */
ft_webhooks *ft_webhooks_new(ft_app *app);
/* Ends attempts under way; their deliveries are made at the next start. Accepts NULL; its memory
 * goes when the loop has closed its handles. The store must be open still. */
void ft_webhooks_free(ft_webhooks *webhooks);
/* There may be something to deliver. */
void ft_webhooks_poke(ft_webhooks *webhooks);

/*  symbol     name  one line for # HELP */
#define FT_WEBHOOK_METRIC_TABLE(X)                                                                 \
    X(ATTEMPTS, "webhook_attempts", "Attempts to deliver a webhook.")                              \
    X(DELIVERED, "webhook_deliveries", "Webhooks delivered.")                                      \
    X(FAILED, "webhook_failures", "Webhooks given up.")
/* Counters since start: one object, each member an integer. New reference. */
json_t *ft_webhooks_metrics(const ft_webhooks *webhooks);

/* Whether a URL can be a receiver's: http or https, a host, no user name, visible ASCII; FT_USAGE
 * says what is wrong. With private_allowed, of this machine and private networks as well; without,
 * a host that is plainly one of those is refused here, all others when a connection is made. */
ft_status ft_webhook_url_check(const char *url, bool private_allowed, ft_error *err) FT_MUST_CHECK;

/* The value of Foretell-Signature. */
void ft_webhook_sign(const char *secret, int64_t seconds, const char *body, ft_strbuf *out);

#endif
