/* The inside of SHA-256 (base/digest.h): whole blocks of 64 bytes. For digest*.c and their test. */
#ifndef FT_BASE_DIGEST_BLOCKS_H
#define FT_BASE_DIGEST_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

/* Takes n blocks into the state (FIPS 180-4 §6.2.2). */
typedef void ft_digest_blocks(uint32_t state[8], const unsigned char *blocks, size_t n);

extern const uint32_t ft_digest_constants[64]; /* §4.2.2 */

/* On any processor. */
ft_digest_blocks ft_digest_plain;
/* By instructions of its own; NULL: this one has none. On a processor with them five to seven
 * times as fast: each recording hashes its program and libraries, each upload its trace. */
ft_digest_blocks *ft_digest_own(void);

#endif
