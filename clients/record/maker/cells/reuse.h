/* Reused memory: addresses whose memory was allocated several times are different values in the
 * trace.
 *
 * A pointer to a freed block and one to the block that lies there now are the same number, but
 * another schedule must not take one for the other: a thread that reads the new block's address
 * would be sent to the old block and reported for using freed memory. So a value that is an address
 * carries, above its 48 bits, its *life*: how often its memory was allocated before. The blocks
 * considered are those that the trace has (with shared cells or objects) and stacks of threads; any
 * allocation over one of them begins a new life. The address right behind a block counts as in it
 * (vectors keep it). */
#ifndef FT_RECORD_LIVES_H
#define FT_RECORD_LIVES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"

/* From one start or end of a block to the next. */
typedef struct ft_lives_stretch {
    uint64_t from;
    int64_t blocks; /* begins less ends there; once settled: blocks around the stretch */
    uint32_t begun; /* allocations over it so far */
} ft_lives_stretch;

/* Embedded: zero-initialise, add all blocks, settle; then allocations begin, in their order. */
typedef struct ft_lives {
    FT_VEC(ft_lives_stretch) stretches; /* by address, once settled */
    uint64_t low, span;                 /* range of the stretches; 0: no memory was reused so far */
} ft_lives;

void ft_lives_release(ft_lives *lives);
void ft_lives_add(ft_lives *lives, uint64_t address, uint64_t size);
void ft_lives_settle(ft_lives *lives);
void ft_lives_begin(ft_lives *lives, uint64_t address, uint64_t size);
/* How often the memory at that address was allocated before; 0 for values that are not addresses.
 */
uint16_t ft_lives_of(const ft_lives *lives, int64_t value);

/* False: ft_lives_of is 0. */
static inline bool ft_lives_reach(const ft_lives *lives, int64_t value)
{
    return (uint64_t)value - lives->low < lives->span;
}

/* The value that the trace has for it. */
static inline int64_t ft_lives_told(int64_t value, uint16_t life)
{
    return (int64_t)((uint64_t)value + ((uint64_t)life << 48));
}

#endif
