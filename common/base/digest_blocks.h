/* The compression function of SHA-256 (base/digest.h), for whole blocks of 64 bytes. Private to
 * digest*.c and their test. */
#ifndef FT_BASE_DIGEST_BLOCKS_H
#define FT_BASE_DIGEST_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

/* Adds n blocks to the state (FIPS 180-4 §6.2.2). */
typedef void ft_digest_blocks(uint32_t state[8], const unsigned char *blocks, size_t n);

extern const uint32_t ft_digest_constants[64]; /* §4.2.2 */

/* In portable C. */
ft_digest_blocks ft_digest_plain;
/* With the processor's SHA instructions; NULL: this processor has none. Five to seven times as
 * fast, which matters: each recording hashes its program and libraries, each upload its trace. */
ft_digest_blocks *ft_digest_own(void);

#endif
