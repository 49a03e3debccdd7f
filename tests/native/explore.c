/* usage: native_explore [OPTION]... PROGRAM [ARGUMENT]...
 *
 * Explores a program that was built with the wrapper, by the native executor and the search core
 * alone, and prints one line: classes, stuck, failing, redundant runs, steps of the longest run,
 * grade; with -v also each failure and race. It ends with 0 where the search finished.
 *
 *   -w N  workers   -g N  first grade (ft_exploring_grade)   -r N  at most N runs   -c  complete
 *   -e  limits may pass early; with -v: "delayed N" failing classes that need a sleep or a limit
 *   -o  with each different output of a class
 *   -p  again, with the accesses of the races as scheduling points
 *   -s N  steps a run   -v  verbose   -n  names each class   -t  runs a second
 *   -a    at the end some runs again, from the program's start: "sample N differing N" */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "explore/delays.h"
#include "explore/search.h"
#include "native/native.h"

typedef struct seen {
    ft_native *native;
    uint64_t failing;
    size_t longest;
    uint64_t outputs; /* printed */
    uint64_t delayed;
    ft_x_world world;
    ft_x_walk walk;
    bool names;
} seen;

static void print_run(const ft_x_run *run)
{
    for (size_t i = 0; i < run->steps.len; i++) {
        const ft_x_action *a = &run->steps.data[i];
        printf(" %u:%s(%u)", a->thread, ft_x_kind_name((ft_x_kind)a->operation.kind),
               a->operation.object);
        if (a->variant || a->outcome)
            printf("=%llu/%llu", (unsigned long long)a->variant, (unsigned long long)a->outcome);
    }
    printf(" -> %s %llu\n", ft_x_end_name(run->end), (unsigned long long)run->result);
}

static bool needs_delay(seen *s, const ft_x_run *run)
{
    uint32_t step;
    const ft_native_delay *from = ft_native_delays(s->native);
    ft_x_delay *delays = calloc(run->steps.len + 1, sizeof *delays);
    for (size_t i = 0; delays && i < run->steps.len; i++)
        delays[i] = (ft_x_delay){.ms = from[i].ms, .is_limit = from[i].is_limit};
    bool needs = delays && ft_x_delays_needed(&s->world, &s->walk, run, delays, &step, 1) > 0;
    free(delays);
    return needs;
}

static bool take(void *context, const ft_x_run *run, const ft_unfolding *u,
                 const ft_configuration *c)
{
    seen *s = context;
    (void)u, (void)c;
    bool fails = run->result != 0 && run->end == FT_X_DONE;
    s->failing += fails;
    s->delayed += fails && needs_delay(s, run);
    if (run->steps.len > s->longest) s->longest = run->steps.len;
    if (run->output > s->outputs) {
        ft_native_text text = ft_native_output(s->native, run->output);
        printf("output %llu: %.*s", (unsigned long long)run->output, (int)text.size, text.bytes);
        s->outputs = run->output;
    }
    if (s->names) print_run(run);
    return true;
}

static void print_place(const ft_native_place *p)
{
    printf(" %s+0x%llx", p->module ? p->module : "?", (unsigned long long)p->offset);
}

static void print_facts(const ft_native *native)
{
    const ft_native_failure *failures;
    const ft_native_race *races;
    const char *why;
    ft_exploring_grade grade = ft_native_grade(native, &why);
    printf("grade %d %s\n", (int)grade, why);
    uint64_t replaced = ft_native_replaced(native, &why);
    if (replaced) printf("replaced %llu %s\n", (unsigned long long)replaced, why);
    size_t n = ft_native_failures(native, &failures);
    for (size_t i = 0; i < n; i++) {
        printf("failure %d code %d thread %u in %llu runs: %s", (int)failures[i].kind,
               failures[i].code, failures[i].thread, (unsigned long long)failures[i].runs,
               failures[i].text);
        print_place(&failures[i].place);
        printf("\n");
    }
    n = ft_native_races(native, &races);
    for (size_t i = 0; i < n; i++) {
        printf("race");
        print_place(&races[i].place[0]);
        print_place(&races[i].place[1]);
        printf("\n");
    }
    ft_native_place place;
    for (size_t i = 0; ft_native_lingering(native, i, &place); i++) {
        printf("lingering at");
        print_place(&place);
        printf("\n");
    }
    const char *refused = ft_native_refused(native, &place), *strayed = ft_native_strayed(native);
    if (refused) {
        printf("refused %s", refused);
        print_place(&place);
        printf("\n");
    }
    if (strayed) printf("strayed: %s\n", strayed);
}

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static ft_status check(ft_native *native, ft_error *err)
{
    uint32_t checked, differing;
    ft_status status = ft_native_check(native, &checked, &differing, err);
    if (status == FT_OK)
        printf("sample %u differing %u\n", checked, differing);
    else
        fprintf(stderr, "%s\n", err->message);
    return status;
}

/* The accesses of races become scheduling points of another exploration. */
static bool find_points(ft_native_options *options, const ft_x_options *search, ft_error *err)
{
    bool finished;
    ft_x_counts counts;
    ft_native *native;
    const ft_native_race *races;
    ft_x_options quiet = *search;
    quiet.on_class = NULL;
    if (ft_native_open(options, &native, err) != FT_OK) return false;
    ft_x_executor executor = ft_native_executor(native);
    ft_status status = ft_x_search(&executor, &quiet, &counts, &finished, err);
    size_t n = ft_native_races(native, &races);
    for (size_t i = 0; i < n && i < FT_EXPLORING_RACES; i++)
        for (int side = 0; side < 2; side++)
            options->run.points[options->run.n_points++] = races[i].race.pc[side];
    ft_native_close(native);
    return status == FT_OK;
}

int main(int argc, char **argv)
{
    ft_native_options options = ft_native_defaults();
    ft_x_options search = {.on_class = take};
    seen s = {0};
    bool verbose = false, timed = false, points = false, checks = false;
    for (int o; (o = getopt(argc, argv, "+w:g:r:s:pcvntxk:aoe")) >= 0;) {
        if (o == 'w') options.workers = (uint32_t)strtoul(optarg, NULL, 10);
        if (o == 'g') options.run.grade = (uint32_t)strtoul(optarg, NULL, 10);
        if (o == 'r') search.max_runs = (uint64_t)strtoull(optarg, NULL, 10);
        if (o == 's') options.run.max_steps = (uint32_t)strtoul(optarg, NULL, 10);
        if (o == 'k') options.seconds = (uint32_t)strtoul(optarg, NULL, 10);
        if (o == 'c') search.complete = true;
        if (o == 'e') options.run.early = 1;
        if (o == 'o') options.run.keeps_output = 1;
        if (o == 'v') verbose = true;
        if (o == 'n') s.names = true;
        if (o == 't') timed = true;
        if (o == 'a') checks = true;
        if (o == 'p') points = true;
        if (o == 'x') options.shows = true;
    }
    if (optind == argc) return 2;
    options.argv = argv + optind;
    ft_error err = FT_ERROR_INIT;
    ft_x_counts counts;
    bool finished = false;
    if (points && !find_points(&options, &search, &err)) {
        fprintf(stderr, "%s\n", err.message);
        return 2;
    }
    double start = now();
    if (ft_native_open(&options, &s.native, &err) != FT_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 2;
    }
    search.context = &s;
    ft_x_executor executor = ft_native_executor(s.native);
    s.world = executor.world;
    ft_status status = ft_x_search(&executor, &search, &counts, &finished, &err);
    if (status != FT_OK) fprintf(stderr, "%s\n", err.message);
    printf("%llu classes, %llu stuck, %llu failing, %llu redundant, %llu cut, %zu steps%s\n",
           (unsigned long long)counts.classes, (unsigned long long)counts.stuck,
           (unsigned long long)s.failing, (unsigned long long)counts.redundant,
           (unsigned long long)counts.cut, s.longest, finished ? "" : ", not finished");
    double took = now() - start;
    if (timed) printf("%.0f runs a second, %.2f s\n", (double)counts.runs / took, took);
    if (verbose) print_facts(s.native);
    if (verbose) printf("delayed %llu\n", (unsigned long long)s.delayed);
    ft_x_walk_release(&s.walk);
    if (checks && status == FT_OK) status = check(s.native, &err);
    ft_native_close(s.native);
    return status != FT_OK ? 2 : !finished;
}
