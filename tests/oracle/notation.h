/* Programs of oracle/schedules.h from a short notation, and the golden programs that are written in
 * it.
 *
 * One text a thread. A letter and a number are an operation on that object:
 *   L U T lock, unlock, try-lock       W3 S3 B3 wait (with mutex 0), signal, broadcast
 *   P V take and post a semaphore      l s=V a=V c load, store V, add V, swap (register 1 to + 1)
 *   r q w v read-lock, read-unlock, write-lock, write-unlock    A E arrive at, leave a barrier of N
 *   J join, X exit, I choose one of two
 * and these are local: G0=V set a variable, <0 register 1 = variable 0, >0=V variable 0 = register
 * 1
 * + V, = register 1 = register 0, [RV ... ] if register R is V, {RV ... } if it is not, ^ back to
 * the thread's begin, nV: register 1 must be V. */
#ifndef FT_TEST_NOTATION_H
#define FT_TEST_NOTATION_H

#include <stdio.h>

#include "oracle/schedules.h"

/* Adds a thread. */
void ft_schedules_add_thread(schedule_program *p, const char *text);

/* A row of the table of golden programs (../shared/golden/exploring.md, which lies beside the
 * repository). */
typedef struct golden_row {
    char name[60];
    schedule_program program;
    uint64_t classes, stuck, failing;
    bool fails_early; /* a thread fails while others can go on: with the end of the process as an
                         action there are more classes; whether there is a failure is the same */
} golden_row;

/* The next row of the table; *row counts them, from 0. False: there are no more. */
bool ft_golden_next(FILE *table, size_t *row, golden_row *to);
size_t ft_golden_rows(void); /* that there have to be */

#endif
