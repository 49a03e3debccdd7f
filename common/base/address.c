#include "base/address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/contract.h"

typedef struct block {
    const char *first;
    unsigned bits;
} block;

/* IANA IPv4 Special-Purpose Address Registry, and 224.0.0.0/4. */
static const block V4[] = {
    {"0.0.0.0", 8},      {"10.0.0.0", 8},     {"100.64.0.0", 10}, {"127.0.0.0", 8},
    {"169.254.0.0", 16}, {"172.16.0.0", 12},  {"192.0.0.0", 24},  {"192.0.2.0", 24},
    {"192.88.99.0", 24}, {"192.168.0.0", 16}, {"198.18.0.0", 15}, {"198.51.100.0", 24},
    {"203.0.113.0", 24}, {"224.0.0.0", 4},    {"240.0.0.0", 4},
};

/* The special-purpose blocks of 2000::/3, the only global unicast range in use (RFC 4291 §2.4). */
static const block V6[] = {
    {"2001::", 23}, {"2001:db8::", 32}, {"2002::", 16}, {"2620:4f:8000::", 48}, {"3fff::", 20},
};

/* Prefixes with an IPv4 address in the last four bytes: mapped, and NAT64 (RFC 6052). */
static const block CARRIERS[] = {{"::ffff:0:0", 96}, {"64:ff9b::", 96}};

static bool in_block(int family, const unsigned char *bytes, const block *b)
{
    unsigned char first[16];
    int parsed = inet_pton(family, b->first, first);
    assert(parsed == 1 && b->bits > 0 && b->bits <= (family == AF_INET ? 32 : 128));
    unsigned whole = b->bits / 8, rest = b->bits % 8;
    if (memcmp(bytes, first, whole) != 0) return false;
    return rest == 0 || ((bytes[whole] ^ first[whole]) >> (8 - rest)) == 0;
}

static bool in_any(int family, const unsigned char *bytes, const block *blocks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (in_block(family, bytes, &blocks[i])) return true;
    return false;
}

static bool v4_is_public(const unsigned char *bytes)
{
    return !in_any(AF_INET, bytes, V4, sizeof V4 / sizeof *V4);
}

static bool v6_is_public(const unsigned char *bytes)
{
    static const block GLOBAL_UNICAST = {"2000::", 3};
    if (in_any(AF_INET6, bytes, CARRIERS, sizeof CARRIERS / sizeof *CARRIERS))
        return v4_is_public(bytes + 12);
    return in_block(AF_INET6, bytes, &GLOBAL_UNICAST) &&
           !in_any(AF_INET6, bytes, V6, sizeof V6 / sizeof *V6);
}

bool ft_address_is_public(const struct sockaddr *address)
{
    FT_REQUIRE(address);
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)address;
        return v4_is_public((const unsigned char *)&v4->sin_addr);
    }
    if (address->sa_family != AF_INET6) return false;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)address;
    return v6_is_public(v6->sin6_addr.s6_addr);
}

bool ft_host_is_public(const char *host, bool *number)
{
    FT_REQUIRE(host && number);
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char plain[128];
    size_t length = strlen(host);
    bool brackets = length > 2 && host[0] == '[' && host[length - 1] == ']';
    snprintf(plain, sizeof plain, "%.*s", (int)(brackets ? length - 2 : length), host + brackets);
    *number = getaddrinfo(plain, NULL, &hints, &found) == 0;
    if (!*number) return true;
    bool is_public = ft_address_is_public(found->ai_addr);
    freeaddrinfo(found);
    return is_public;
}
