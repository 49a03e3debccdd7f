/* usage: program_runs interpret PROGRAM   executes it once; prints instructions, user seconds
 *        program_runs explore SECONDS PROGRAM
 *        program_runs cutoffs SECONDS PROGRAM
 *
 * Programs as data. `explore` searches all schedules again and again until the time is over and
 * prints executions a second of processor time, the executions and classes of one search (or of
 * what there was time for), 1 if it ended, and the bytes of the newest state and of an event.
 * `cutoffs` does the same where a search does not go on from a state that was met before; it prints
 * "-" if the executor cannot compare states. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "explore/search.h"
#include "explore/symbolic.h"
#include "program/binary.h"

static double seconds_of(clockid_t clock)
{
    struct timespec at;
    clock_gettime(clock, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static ft_program *read_program(const char *path)
{
    ft_error err = FT_ERROR_INIT;
    ft_program *program = NULL;
    ft_strbuf bytes = {0};
    char part[65536];
    FILE *file = fopen(path, "re");
    if (!file) return perror(path), NULL;
    for (size_t n; (n = fread(part, 1, sizeof part, file));) ft_strbuf_add(&bytes, part, n);
    fclose(file);
    if (ft_program_read(bytes.text, bytes.len, &program, &err) != FT_OK)
        fprintf(stderr, "%s: %s\n", path, err.message);
    ft_strbuf_release(&bytes);
    return program;
}

/* Its lowest thread first. */
static int interpret(const ft_program *p)
{
    uint64_t variants[FT_INTERPRETER_THREADS];
    ft_interpreter_options options = {.max_steps = UINT64_MAX};
    ft_interpreter *m = ft_interpreter_new(p, &options);
    double start = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    while (ft_interpreter_state_of(m) == FT_INTERPRETER_GOING) {
        uint32_t t = 0;
        while (!ft_interpreter_choices(m, t, variants)) t++;
        ft_interpreter_step(m, t, variants[0]);
    }
    double took = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - start;
    bool exited = ft_interpreter_state_of(m) == FT_INTERPRETER_EXITED;
    printf("%" PRIu64 " %.4f\n", ft_interpreter_instructions(m), took);
    ft_interpreter_free(m);
    return !exited;
}

static double end;

static bool is_late(void *context)
{
    (void)context;
    return seconds_of(CLOCK_MONOTONIC) > end;
}

static int explore(const ft_program *p, double seconds, bool cutoffs)
{
    ft_error err = FT_ERROR_INIT;
    ft_x_counts one = {0}, counts;
    uint64_t runs = 0;
    size_t state = 0;
    bool finished = true, any = false;
    double start = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    end = seconds_of(CLOCK_MONOTONIC) + seconds;
    for (ft_status status; !any || (finished && !is_late(NULL)); any = true) {
        ft_symbolic *symbolic = ft_symbolic_new(p, &(ft_symbolic_options){.cutoffs = cutoffs});
        ft_x_executor executor = ft_symbolic_executor(symbolic);
        ft_x_options options = {.cutoffs = cutoffs, .should_stop = is_late};
        if (cutoffs && !executor.state) return ft_symbolic_free(symbolic), puts("-"), 0;
        status = ft_x_search(&executor, &options, &counts, &finished, &err);
        state = ft_symbolic_counts_of(symbolic).state_bytes;
        ft_symbolic_free(symbolic);
        if (status != FT_OK) return fprintf(stderr, "%s\n", err.message), 1;
        runs += counts.runs;
        if (!any) one = counts;
    }
    printf("%.0f %" PRIu64 " %" PRIu64 " %d %zu %.0f\n",
           (double)runs / (seconds_of(CLOCK_PROCESS_CPUTIME_ID) - start), one.runs, one.classes,
           (int)finished, state, (double)one.most_bytes / (double)one.most_events);
    return 0;
}

int main(int argc, char **argv)
{
    bool interprets = argc == 3 && strcmp(argv[1], "interpret") == 0;
    if (argc != (interprets ? 3 : 4))
        return fputs("usage: program_runs interpret PROGRAM | explore|cutoffs SECONDS PROGRAM\n",
                     stderr),
               2;
    ft_program *program = read_program(argv[argc - 1]);
    if (!program) return 2;
    int code = interprets
                   ? interpret(program)
                   : explore(program, strtod(argv[2], NULL), strcmp(argv[1], "cutoffs") == 0);
    ft_program_free(program);
    return code;
}
