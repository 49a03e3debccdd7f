/* usage: hooks FILE
 *
 * What a hook costs: loops of one thread, each timed many times over; adds a line to FILE with the
 * name of each loop and the nanoseconds that one of its accesses took, the twentieth part of the
 * times being below that. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TIMES = 400, LENGTH = 20000, CELLS = 4096 };
static long cell;
static unsigned from[CELLS], to[CELLS];
static unsigned char bytes[CELLS];

static void count(void)
{
    long *own = &cell;
    for (long i = 0; i < LENGTH; i++) *own = *own + 1;
}

static void copy(void)
{
    for (long i = 0; i < LENGTH; i++) to[i % CELLS] = from[i * 7 % CELLS];
}

static void read_only(void)
{
    unsigned sum = 0;
    for (long i = 0; i < LENGTH; i++) sum += from[i * 7 % CELLS] < from[i * 5 % CELLS];
    cell = sum;
}

static void single_bytes(void)
{
    for (long i = 0; i < LENGTH; i++) bytes[i % CELLS] = (unsigned char)(bytes[i * 3 % CELLS] + 1);
}

static __attribute__((noinline)) unsigned get(const unsigned *at)
{
    return *at;
}

static void calls(void)
{
    unsigned sum = 0;
    for (long i = 0; i < LENGTH; i++) sum += get(&from[i % CELLS]);
    cell = sum;
}

static const struct {
    const char *name;
    void (*loop)(void);
    int accesses;
} loops[] = {{"count", count, 2},
             {"copy", copy, 2},
             {"read", read_only, 2},
             {"bytes", single_bytes, 2},
             {"call", calls, 1}};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static double time_of(void (*loop)(void), int accesses)
{
    static double times[TIMES];
    for (int i = 0; i < TIMES; i++) {
        double start = now();
        loop();
        times[i] = (now() - start) / (LENGTH * accesses);
    }
    qsort(times, TIMES, sizeof *times, ascending);
    return times[TIMES / 20];
}

static void *nothing(void *unused)
{
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    FILE *out = argc > 1 ? fopen(argv[1], "a") : NULL;
    if (!out || pthread_create(&thread, NULL, nothing, NULL)) return 2;
    pthread_join(thread, NULL);
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++)
        fprintf(out, "%s %.2f ", loops[i].name, time_of(loops[i].loop, loops[i].accesses));
    fprintf(out, "\n");
    return fclose(out) != 0;
}
