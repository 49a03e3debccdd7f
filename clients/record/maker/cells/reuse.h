/* Lives: memory that is given out again. A pointer to a block that was freed and one to the block
 * that lies there by now are the same number, but another schedule must not take one for the other:
 * a thread that reads the address of the new block would be sent to the old one, and it would be
 * said to use what was freed. So in the trace such addresses are different values: a value that is
 * an address carries above its 48 bits how often its memory was given out before.
 *
 * Blocks are what the trace knows of: those that have shared cells or objects, and the stacks of
 * threads. An allocation that lies over one of them begins another life there, whosoever it is. The
 * address right behind a block is one of it (vectors keep it). */
#ifndef FT_RECORD_LIVES_H
#define FT_RECORD_LIVES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"

/* An end of a block, then what lies from there to the next end. */
typedef struct ft_lives_stretch {
    uint64_t from;
    int64_t blocks; /* those that begin there less those that end, then those around it */
    uint32_t begun; /* allocations so far */
} ft_lives_stretch;

/* Embedded: zero-initialise, add all blocks, settle; then allocations begin, in their order. */
typedef struct ft_lives {
    FT_VEC(ft_lives_stretch) stretches; /* by address, once settled */
    uint64_t low, span;                 /* where addresses lie; 0: no memory came again so far */
} ft_lives;

void ft_lives_release(ft_lives *lives);
void ft_lives_add(ft_lives *lives, uint64_t address, uint64_t size);
void ft_lives_settle(ft_lives *lives);
void ft_lives_begin(ft_lives *lives, uint64_t address, uint64_t size);
/* How often the memory at that address was given out before; 0: never, or it is no address. */
uint16_t ft_lives_of(const ft_lives *lives, int64_t value);

/* False: the answer is 0. */
static inline bool ft_lives_reach(const ft_lives *lives, int64_t value)
{
    return (uint64_t)value - lives->low < lives->span;
}

/* What the trace has for it. */
static inline int64_t ft_lives_told(int64_t value, uint16_t life)
{
    return (int64_t)((uint64_t)value + ((uint64_t)life << 48));
}

#endif
