/* Loops that are taken as uninterpreted functions (Bergan 3.4.2): a loop that does not synchronise,
 * cannot fail and has one way out is not executed instruction by instruction. All that it defines,
 * its *cells*, has any value behind it, and each such value has a name, as an input has.
 *
 * flow/loops.h finds them. Whoever executes a program with them (options of the interpreter and of
 * symbolic states) counts the cells among what a thread reads: the n-th value of a cell is what it
 * holds when the thread leaves the loop for the n-th time.
 *
 * A cell is a register, or bytes at an address that the loop does not compute: of an object with a
 * name, or of one that a `stack` instruction of the function made. */
#ifndef FT_PROGRAM_LOOPS_H
#define FT_PROGRAM_LOOPS_H

#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "program/program.h"

typedef struct ft_loop_cell {
    uint32_t reg;    /* FT_NO_REGISTER: memory */
    ft_operand base; /* of memory: its address */
    uint8_t width;
    char *name; /* "queue.c:12 @take b1 %i"; NULL: the loop only reads it */
} ft_loop_cell;

typedef struct ft_loop {
    uint32_t function, header; /* in the program's functions; in its blocks */
    uint32_t exit, exit_block; /* in the function's targets: the way out; whose it is */
    uint32_t cells, n_cells;   /* in `cells`: what it defines */
    uint32_t reads, n_reads;   /* in `reads`: memory that it reads */
} ft_loop;

typedef struct ft_loops {
    FT_VEC(ft_loop) all;
    FT_VEC(ft_loop_cell) cells;
    FT_VEC(ft_loop_cell) reads;
    ft_map by_header, by_exit; /* function and block, function and target -> number in `all` */
} ft_loops;

/* In place of the number of a text of the program: the cell of that number. */
#define FT_LOOP_NAME 0x80000000u

/* NULL: none begins at that block, or is left by that target. `loops` may be NULL. */
static inline const ft_loop *ft_loop_at(const ft_loops *loops, uint32_t function, uint32_t block)
{
    uint64_t number;
    bool found = loops && ft_map_get(&loops->by_header, (uint64_t)function << 32 | block, &number);
    return found ? &loops->all.data[number] : NULL;
}

static inline const ft_loop *ft_loop_left(const ft_loops *loops, uint32_t function, uint32_t target)
{
    uint64_t number;
    bool found = loops && ft_map_get(&loops->by_exit, (uint64_t)function << 32 | target, &number);
    return found ? &loops->all.data[number] : NULL;
}

/* The number, with FT_LOOP_NAME, of the cell of that name; FT_NO_ID: none. */
static inline uint32_t ft_loop_cell_named(const ft_loops *loops, const char *name)
{
    for (uint32_t i = 0; loops && i < loops->cells.len; i++)
        if (strcmp(loops->cells.data[i].name, name) == 0) return FT_LOOP_NAME | i;
    return FT_NO_ID;
}

#endif
