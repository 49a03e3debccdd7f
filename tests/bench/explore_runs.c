/* usage: explore_runs GRADE WORKERS SECONDS PROGRAM [ARGUMENT]...
 *
 * Searches the program's schedules natively, again and again until the time is over, and prints
 * runs a second, the share of the time that the search itself was busy, and how the runs were made
 * (ft_exploring_grade). */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "explore/search.h"
#include "native/native.h"

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static double busy(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)used.ru_utime.tv_sec + (double)used.ru_utime.tv_usec / 1e6;
}

typedef struct limit {
    double end;
} limit;

static bool goes_on(void *context, const ft_x_run *run, const ft_unfolding *u,
                    const ft_configuration *c)
{
    const limit *l = context;
    (void)run, (void)u, (void)c;
    return now() < l->end;
}

int main(int argc, char **argv)
{
    enum { GRADE = 1, WORKERS, SECONDS, PROGRAM };
    if (argc <= PROGRAM) return 2;
    ft_native_options options = ft_native_defaults();
    options.argv = argv + PROGRAM;
    options.run.grade = (uint32_t)strtoul(argv[GRADE], NULL, 10);
    options.workers = (uint32_t)strtoul(argv[WORKERS], NULL, 10);
    ft_native *native;
    ft_error err = FT_ERROR_INIT;
    ft_status status = ft_native_open(&options, &native, &err);
    if (status != FT_OK) fprintf(stderr, "%s\n", err.message);
    if (status != FT_OK) return 2;
    double start = now(), was_busy = busy();
    limit l = {start + strtod(argv[SECONDS], NULL)};
    ft_x_options search = {.on_class = goes_on, .context = &l};
    ft_x_executor executor = ft_native_executor(native);
    uint64_t runs = 0;
    while (status == FT_OK && now() < l.end) {
        ft_x_counts counts;
        bool finished;
        status = ft_x_search(&executor, &search, &counts, &finished, &err);
        runs += counts.runs;
    }
    if (status != FT_OK) fprintf(stderr, "%s\n", err.message);
    double took = now() - start;
    const char *why;
    ft_exploring_grade grade = ft_native_grade(native, &why);
    printf("%.0f %.2f %d %s\n", (double)runs / took, (busy() - was_busy) / took, (int)grade, why);
    ft_native_close(native);
    return status == FT_OK ? 0 : 2;
}
