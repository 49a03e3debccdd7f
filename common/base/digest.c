#include "base/digest.h"

#include <pthread.h>
#include <string.h>

#include "base/contract.h"
#include "base/digest_blocks.h"

const uint32_t ft_digest_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, int n)
{
    return (x >> n) | (x << (32 - n));
}

/* One round (FIPS 180-4 §6.2.2): two of the eight words change. The next round takes all of them
 * one place further. */
#define ROUND(a, b, c, d, e, f, g, h, i)                                                           \
    do {                                                                                           \
        uint32_t t1 = (h) + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +                       \
                      ((g) ^ ((e) & ((f) ^ (g)))) + ft_digest_constants[i] + w[i];                 \
        uint32_t t2 =                                                                              \
            (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + (((a) & (b)) | ((c) & ((a) | (b))));  \
        (d) += t1;                                                                                 \
        (h) = t1 + t2;                                                                             \
    } while (0)

static void compress(uint32_t state[8], const unsigned char *block)
{
    uint32_t w[64], a = state[0], b = state[1], c = state[2], d = state[3], e = state[4],
                    f = state[5], g = state[6], h = state[7];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ (w[i - 15] >> 3);
        uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ (w[i - 2] >> 10);
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    for (int i = 0; i < 64; i += 8) {
        ROUND(a, b, c, d, e, f, g, h, i);
        ROUND(h, a, b, c, d, e, f, g, i + 1);
        ROUND(g, h, a, b, c, d, e, f, i + 2);
        ROUND(f, g, h, a, b, c, d, e, i + 3);
        ROUND(e, f, g, h, a, b, c, d, i + 4);
        ROUND(d, e, f, g, h, a, b, c, i + 5);
        ROUND(c, d, e, f, g, h, a, b, i + 6);
        ROUND(b, c, d, e, f, g, h, a, i + 7);
    }
    const uint32_t after[8] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; i++) state[i] += after[i];
}

void ft_digest_plain(uint32_t state[8], const unsigned char *blocks, size_t n)
{
    for (size_t i = 0; i < n; i++) compress(state, blocks + 64 * i);
}

enum { BLOCK_BYTES = 64 };
#define ENDED UINT64_MAX

static ft_digest_blocks *take_blocks;

static void choose(void)
{
    ft_digest_blocks *own = ft_digest_own();
    take_blocks = own ? own : ft_digest_plain;
}

void ft_digest_init(ft_digest *digest)
{
    static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    static pthread_once_t chosen = PTHREAD_ONCE_INIT;
    pthread_once(&chosen, choose);
    memcpy(digest->state, initial, sizeof initial);
    digest->bytes = 0;
}

void ft_digest_update(ft_digest *digest, const void *data, size_t length)
{
    FT_REQUIRE(data || length == 0);
    assert(take_blocks && digest->bytes < ENDED - length);
    if (length == 0) return;
    const unsigned char *bytes = data;
    size_t held = digest->bytes % 64;
    digest->bytes += length;
    if (held) {
        size_t take = 64 - held < length ? 64 - held : length;
        memcpy(digest->block + held, bytes, take);
        bytes += take;
        length -= take;
        if (held + take < 64) return;
        take_blocks(digest->state, digest->block, 1);
    }
    take_blocks(digest->state, bytes, length / 64);
    if (length % 64) memcpy(digest->block, bytes + length / 64 * 64, length % 64);
}

static void end(ft_digest *digest, unsigned char bytes[FT_DIGEST_BYTES])
{
    static const unsigned char padding[64] = {0x80};
    uint64_t bits = digest->bytes * 8;
    size_t held = digest->bytes % 64;
    unsigned char length[8];
    for (int i = 0; i < 8; i++) length[i] = (unsigned char)(bits >> (56 - 8 * i));
    ft_digest_update(digest, padding, held < 56 ? 56 - held : 120 - held);
    ft_digest_update(digest, length, sizeof length);
    assert(digest->bytes % BLOCK_BYTES == 0);
    digest->bytes = ENDED;
    for (int i = 0; i < FT_DIGEST_BYTES; i++)
        bytes[i] = (unsigned char)(digest->state[i / 4] >> (24 - 8 * (i % 4)));
}

void ft_digest_hex(ft_digest *digest, char hex[FT_DIGEST_HEX + 1])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[FT_DIGEST_BYTES];
    end(digest, bytes);
    for (int i = 0; i < FT_DIGEST_BYTES; i++) {
        hex[2 * i] = digits[bytes[i] >> 4];
        hex[2 * i + 1] = digits[bytes[i] & 15];
    }
    hex[FT_DIGEST_HEX] = 0;
}

void ft_digest_of(const void *data, size_t length, char hex[FT_DIGEST_HEX + 1])
{
    ft_digest digest;
    ft_digest_init(&digest);
    ft_digest_update(&digest, data, length);
    ft_digest_hex(&digest, hex);
}

/* ---- HMAC ------------------------------------------------------------------------------------ */

void ft_hmac_init(ft_hmac *hmac, const void *key, size_t length)
{
    FT_REQUIRE(key || length == 0);
    unsigned char block[BLOCK_BYTES] = {0}, pad[BLOCK_BYTES];
    if (length > sizeof block) {
        ft_digest long_key;
        ft_digest_init(&long_key);
        ft_digest_update(&long_key, key, length);
        end(&long_key, block);
    } else if (length) {
        memcpy(block, key, length);
    }
    for (size_t i = 0; i < sizeof block; i++) pad[i] = block[i] ^ 0x36;
    ft_digest_init(&hmac->inner);
    ft_digest_update(&hmac->inner, pad, sizeof pad);
    for (size_t i = 0; i < sizeof block; i++) pad[i] = block[i] ^ 0x5c;
    ft_digest_init(&hmac->outer);
    ft_digest_update(&hmac->outer, pad, sizeof pad);
}

void ft_hmac_update(ft_hmac *hmac, const void *data, size_t length)
{
    ft_digest_update(&hmac->inner, data, length);
}

void ft_hmac_hex(ft_hmac *hmac, char hex[FT_DIGEST_HEX + 1])
{
    unsigned char bytes[FT_DIGEST_BYTES];
    end(&hmac->inner, bytes);
    ft_digest_update(&hmac->outer, bytes, sizeof bytes);
    ft_digest_hex(&hmac->outer, hex);
}
