/* SHA-256 (FIPS 180-4) for content addresses, and HMAC over it (RFC 2104) for signatures. */
#ifndef FT_BASE_DIGEST_H
#define FT_BASE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#define FT_DIGEST_BYTES 32
#define FT_DIGEST_HEX   64 /* without the terminating NUL */

typedef struct ft_digest {
    uint32_t state[8];
    uint64_t bytes; /* taken so far; UINT64_MAX: the digest has ended */
    unsigned char block[64];
} ft_digest;

/* init, any number of updates, hex. Hex ends the digest: after it only init may follow. */
void ft_digest_init(ft_digest *digest);
void ft_digest_update(ft_digest *digest, const void *data, size_t length);
void ft_digest_hex(ft_digest *digest, char hex[FT_DIGEST_HEX + 1]);
/* The three at once. */
void ft_digest_of(const void *data, size_t length, char hex[FT_DIGEST_HEX + 1]);

typedef struct ft_hmac {
    ft_digest inner, outer;
} ft_hmac;

/* In the same order. */
void ft_hmac_init(ft_hmac *hmac, const void *key, size_t length);
void ft_hmac_update(ft_hmac *hmac, const void *data, size_t length);
void ft_hmac_hex(ft_hmac *hmac, char hex[FT_DIGEST_HEX + 1]);

#endif
