/* The work between synchronisation: so many rounds as the command line says. A lowered program has
 * no command line, and does one. */
#ifndef FT_BENCH_WORK_H
#define FT_BENCH_WORK_H

#include <pthread.h>
#include <stdlib.h>

static long rounds = 1;

static inline unsigned long work(unsigned long x)
{
    for (long i = 0; i < rounds; i++) x = x * 6364136223846793005ul + 1442695040888963407ul;
    return x;
}

static inline void read_rounds(int argc, char **argv)
{
    if (argc > 1) rounds = strtol(argv[1], NULL, 10);
}

#endif
