/* One delivery of a webhook: an HTTP request to a stranger's server, from a process of its own.
 *
 * The daemon starts foretell-webhook for each attempt, gives it a JSON document and reads one back:
 * name resolution, TLS and whatever the other side answers never meet the process that has the
 * database. Redirects are not followed, proxies and credentials of the environment are not used,
 * and the answer's body is not kept.
 *
 * In:  {"url", "body", "headers": [LINE...], "timeout_ms": N, "private": BOOL}
 * Out: {"status": N} of the answer, or {"error": TEXT} where none came.
 *
 * Imports: common/base. */
#ifndef FT_WEBHOOKS_SENDER_SEND_H
#define FT_WEBHOOKS_SENDER_SEND_H

#include <jansson.h>

#define FT_SEND_ANSWER (64u << 10) /* bytes of headers or body that are read of an answer */

/* Sends the request; new reference. Unless "private" is true, a connection is made to public
 * addresses (base/address.h) alone, whatever names or spellings lead there: the address is looked
 * at where the socket is made, behind the resolution of the name. */
json_t *ft_send(const json_t *request);

/* No new program, no file written, no debugger, from here on; as far as the kernel can. */
void ft_send_confine(void);

#endif
