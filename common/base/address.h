/* Which IP addresses lie in the public internet. */
#ifndef FT_BASE_ADDRESS_H
#define FT_BASE_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

/* Whether strangers' servers can be at this address. Not at those of the machine itself, of private
 * networks, links, carriers' networks, of groups, documentation, benchmarks and reserved ones
 * (IANA's special-purpose registries, RFC 6890), nor at an IPv6 address that carries such an IPv4
 * one. A family that is neither IPv4 nor IPv6 is not public. */
bool ft_address_is_public(const struct sockaddr *address);

/* Likewise of a host as a URL names it, where it is a number in any spelling that the C library
 * takes (127.1, 0x7f000001, 017700000001, [::1], fe80::1%eth0). *number: it is one. */
bool ft_host_is_public(const char *host, bool *number);

#endif
