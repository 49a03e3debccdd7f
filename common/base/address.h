/* Classifies IP addresses: public internet or not. The daemon sends webhooks to public ones only.
 */
#ifndef FT_BASE_ADDRESS_H
#define FT_BASE_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

/* True for an address of the public internet. False for loopback, private, link-local, shared
 * (carrier-grade NAT), multicast, documentation, benchmarking and reserved addresses (IANA's
 * special-purpose registries, RFC 6890), for an IPv6 address that embeds such an IPv4 address, and
 * for every family but IPv4 and IPv6. */
bool ft_address_is_public(const struct sockaddr *address);

/* The same for the host of a URL. *number: whether it is an address in any spelling that the C
 * library accepts (127.1, 0x7f000001, 017700000001, [::1], fe80::1%eth0); a name is public until it
 * is resolved. */
bool ft_host_is_public(const char *host, bool *number);

#endif
