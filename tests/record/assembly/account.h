/* Blocks of random inline assembly that work on an arena of memory, as generate.py writes them:
 * each twice, once for the wrapper and once for a plain compiler, on a twin of the arena and with a
 * call behind each instruction that accesses memory. The twin says what the processor does. */
#ifndef ACCOUNT_H
#define ACCOUNT_H

#include <emmintrin.h>
#include <stdint.h>

#define HIDDEN __attribute__((visibility("hidden")))

enum { CELLS = 8, REGISTERS = 16, VECTORS = 2, THREADS = 3 };

struct arena {
    uint64_t x[CELLS]; /* of accesses of 16 bytes, and their halves */
    uint64_t q[CELLS];
    uint32_t l[CELLS];
    uint16_t w[CELLS];
    uint8_t b[CELLS];
} __attribute__((aligned(64)));

struct state {
    uint64_t r[REGISTERS]; /* by their numbers in the processor */
    __m128i v[VECTORS];
    uint64_t flags, top; /* as lahf and seto have them; of a wider vector */
};

typedef void block(struct state *);

/* What an instruction does to a member of the arena. */
enum { READ, WRITE, UPDATE, COMPARE };
struct access {
    int kind;
    char member;
    unsigned index, size;
};

extern const struct access accesses[]; /* by the number that peek gets */
extern block *const twins[];
extern const unsigned n_blocks;
extern struct arena twin_arena;
#ifdef __cplusplus
extern "C" {
#endif
block *const *real_blocks(void); /* of a library, or of the program */
struct arena *real_arena(void);
#ifdef __cplusplus
}
#endif

void peek(void); /* pushed before: the number */

#endif
