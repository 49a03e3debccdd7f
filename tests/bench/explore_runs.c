/* usage: explore_runs GRADE WORKERS SECONDS PROGRAM [ARGUMENT]...
 *
 * Searches the program's schedules natively, again and again until the time is over, and prints
 * runs a second, the share of the time that the search itself was busy, how the runs were made
 * (ft_exploring_grade), the microseconds of processor time that a run took of the search and of the
 * program's processes, and why the grade is not the first. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "explore/search.h"
#include "native/inside.h"

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

/* All processor time of this process. */
static double all_busy(void)
{
    struct timespec at;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

/* Of the processes that run the program now. */
static double program_busy(const ft_native *n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n->options.workers; i++) {
        char path[64];
        double ns = 0;
        snprintf(path, sizeof path, "/proc/%u/schedstat",
                 ft_exploring_server_at(n->shared, i)->pid);
        FILE *file = fopen(path, "r");
        if (file && fscanf(file, "%lf", &ns) == 1) sum += ns / 1e9;
        if (file) fclose(file);
    }
    return sum;
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
    double start = now(), was_busy = busy(), all = all_busy();
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
    printf("%.0f %.2f %d %.1f %.1f %s\n", (double)runs / took, (busy() - was_busy) / took,
           (int)grade, (all_busy() - all) / (double)runs * 1e6,
           program_busy(native) / (double)runs * 1e6, why);
    ft_native_close(native);
    return status == FT_OK ? 0 : 2;
}
