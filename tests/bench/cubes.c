/* usage: cubes TRACE [SPLIT_MS]: the first subproblem of the check `assertion` of a trace, decided
 * as a whole and in cubes (engine/cubes.h), by two workers of which the one that is free takes the
 * next cube; one after the other here, in processor time, so that the times are those of two free
 * processors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/engine.h"
#include "trace/reader.h"
#include "verdict/checker.h"

static void give_up(const ft_error *err)
{
    fprintf(stderr, "cubes: %s\n", err->message);
    exit(2);
}

static ft_trace *read_file(const char *path)
{
    char bytes[65536];
    size_t got;
    ft_error err = FT_ERROR_INIT;
    ft_trace *trace;
    ft_reader *reader = ft_reader_new();
    FILE *file = fopen(path, "r");
    while (file && (got = fread(bytes, 1, sizeof bytes, file)) > 0)
        if (ft_reader_feed(reader, bytes, got, &err) != FT_OK) give_up(&err);
    if (ft_reader_finish(reader, &trace, &err) != FT_OK) give_up(&err);
    if (file) fclose(file);
    ft_reader_free(reader);
    ft_observe_run(trace);
    return trace;
}

static ft_engine *open_worker(ft_trace *trace)
{
    ft_engine *engine;
    json_t *spec =
        json_pack("{s:[s], s:{s:i}}", "checks", "assertion", "budget", "subproblem_ms", 600000);
    ft_error err = FT_ERROR_INIT;
    if (ft_engine_new(trace, "cubes", spec, &engine, &err) != FT_OK) give_up(&err);
    json_decref(spec);
    return engine;
}

/* Of this process alone: the machine may have other things to do. */
static double cpu_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* What a worker makes of the part, and how long it takes. */
static json_t *solve(ft_engine *engine, const ft_engine_part *part, double *ms)
{
    json_t *record;
    ft_error err = FT_ERROR_INIT;
    double start = cpu_ms();
    if (ft_engine_solve_part(engine, 0, NULL, part, &record, &err) != FT_OK) give_up(&err);
    *ms = cpu_ms() - start;
    return record;
}

static const char *verdict_of(const json_t *record)
{
    return json_string_value(json_object_get(record, "verdict"));
}

int main(int argc, char **argv)
{
    if (argc < 2) return 2;
    uint32_t split_ms = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 5000;
    ft_trace *trace = read_file(argv[1]);
    ft_engine *alone = open_worker(trace);
    double whole, first, sum = 0, worked[2];
    size_t i;
    const json_t *cube;
    json_t *record = solve(alone, &(ft_engine_part){.cube = NULL}, &whole);
    printf("whole: %s in %.1f s\n", verdict_of(record), whole / 1000);
    json_decref(record);
    ft_engine_free(alone);
    ft_engine *workers[2] = {open_worker(trace), open_worker(trace)};
    record = solve(workers[0], &(ft_engine_part){.split_ms = split_ms}, &first);
    const json_t *cubes = json_object_get(record, "cubes");
    worked[0] = worked[1] = first;
    json_array_foreach(cubes, i, cube)
    {
        double ms;
        int next = worked[0] > worked[1];
        json_t *part = solve(workers[next], &(ft_engine_part){.cube = cube}, &ms);
        printf("cube %zu: %s in %.1f s\n", i, verdict_of(part), ms / 1000);
        worked[next] += ms;
        sum += ms;
        json_decref(part);
    }
    double both = worked[0] > worked[1] ? worked[0] : worked[1];
    printf("%zu cubes behind %.1f s: %.1f s in all; two workers %.1f s, %.2f times faster\n",
           json_array_size(cubes), first / 1000, sum / 1000, both / 1000, whole / both);
    json_decref(record);
    ft_engine_free(workers[0]);
    ft_engine_free(workers[1]);
    ft_trace_free(trace);
    return 0;
}
