/* Random numbers are inputs: any value may come, whatever the seed. */
#include <stdlib.h>

extern void foretell_input(void *to, size_t size, const char *name);

static unsigned any(void)
{
    unsigned value = 0;
    foretell_input(&value, sizeof value, "random");
    return value & RAND_MAX;
}

int rand(void)
{
    return (int)any();
}

long random(void)
{
    return any();
}

long lrand48(void)
{
    return any();
}

int rand_r(unsigned *seed)
{
    ++*seed;
    return (int)any();
}

void srand(unsigned seed)
{
    (void)seed;
}

void srandom(unsigned seed)
{
    (void)seed;
}

void srand48(long seed)
{
    (void)seed;
}
