#include "bench/papers_measure.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "encode/decide.h"
#include "engine/engine.h"

enum { MAX_ROUNDS = 9, TOO_LONG_MS = 1500 };

static void fail(const char *what)
{
    fprintf(stderr, "papers: %s\n", what);
    exit(2);
}

double ft_measure_used_ms(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (double)used.tv_sec * 1e3 + (double)used.tv_nsec / 1e6;
}

static double used_by_children_ms(void)
{
    struct rusage used;
    if (getrusage(RUSAGE_CHILDREN, &used) != 0) fail("no times");
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e3 +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e3;
}

/* ---- a process of its own ---- */

/* The pipe's writing end closes when the process ends, however it ends. */
static bool wait_for(pid_t child, int pipe_end, double limit_s, int *status)
{
    struct pollfd poll_end = {.fd = pipe_end, .events = POLLIN};
    double deadline = ft_now_ms() + limit_s * 1e3, left;
    int ready = 0;
    while (ready == 0 && (left = deadline - ft_now_ms()) > 0) {
        ready = poll(&poll_end, 1, (int)left + 1);
        if (ready < 0 && errno == EINTR) ready = 0;
    }
    if (ready == 0) kill(child, SIGKILL);
    while (waitpid(child, status, 0) < 0 && errno == EINTR) continue;
    return ready != 0;
}

ft_end ft_measure_apart(void (*work)(void *, void *), void *context, void *result, size_t size,
                        double limit_s)
{
    int ends[2], status = 0;
    void *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || pipe2(ends, O_CLOEXEC) != 0) fail("no memory or no pipe");
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) fail("no process");
    if (child == 0) {
        close(ends[0]);
        work(context, shared);
        _exit(0);
    }
    close(ends[1]);
    bool in_time = wait_for(child, ends[0], limit_s, &status);
    close(ends[0]);
    memcpy(result, shared, size);
    munmap(shared, size);
    if (!in_time || (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)) return FT_END_LATE;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? FT_END_DONE : FT_END_DIED;
}

static void run_program(void *context, void *result)
{
    char *const *argv = context;
    (void)result;
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nowhere >= 0) {
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
    }
    pid_t child = fork();
    if (child == 0) {
        execvp(argv[0], argv);
        _exit(127);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    if (child < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) _exit(1);
    *(double *)result = used_by_children_ms();
}

double ft_measure_program(char *const argv[], double limit_s)
{
    double used = 0;
    ft_end end =
        ft_measure_apart(run_program, (void *)(uintptr_t)argv, &used, sizeof used, limit_s);
    return end == FT_END_DONE ? used : -1;
}

/* ---- a job ---- */

typedef struct job_run {
    ft_trace *trace;
    const ft_job *job;
    json_t *spec;
    int rounds;
    double limit_s;
} job_run;

/* What the process leaves behind, whenever it is stopped. */
typedef struct job_result {
    ft_measure now; /* the run under way, or the last */
    double whole[MAX_ROUNDS], solving[MAX_ROUNDS], encoding[MAX_ROUNDS];
    int counted;
} job_result;

static double stat_of(const json_t *record, const char *name)
{
    return json_number_value(json_object_get(json_object_get(record, "stats"), name));
}

static void count_record(ft_measure *m, const json_t *record)
{
    const char *verdict = json_string_value(json_object_get(record, "verdict"));
    uint64_t count = (uint64_t)json_integer_value(json_object_get(record, "count"));
    uint64_t encoded = (uint64_t)stat_of(record, "events");
    if (strcmp(verdict, "violation") == 0)
        m->violations += count;
    else if (strcmp(verdict, "safe") == 0)
        m->safe += count;
    else
        m->undecided += count;
    if (strcmp(verdict, "error") == 0) m->correct = false;
    m->encode_ms += stat_of(record, "encode_ms");
    m->solve_ms += stat_of(record, "solve_ms");
    if (encoded > m->encoded) m->encoded = encoded;
}

static void solve(ft_engine *engine, const json_t *subproblem, uint32_t number, const char *wanted,
                  ft_measure *m)
{
    const char *key = json_string_value(json_object_get(subproblem, "key"));
    json_t *record = NULL;
    ft_error err = FT_ERROR_INIT;
    if (wanted && !strstr(key, wanted)) return;
    if (ft_engine_solve(engine, number, key, &record, &err) != FT_OK) fail(err.message);
    count_record(m, record);
    json_decref(record);
}

/* What the engine measured is wall time: its shares of the processor time are the same. */
static void take_times(ft_measure *m, double wall_ms, double used_ms)
{
    m->whole_ms = used_ms;
    if (wall_ms <= used_ms) return;
    m->encode_ms *= used_ms / wall_ms;
    m->solve_ms *= used_ms / wall_ms;
}

static void run_job(const job_run *run, ft_measure *m)
{
    ft_error err = FT_ERROR_INIT;
    ft_engine *engine;
    json_t *plan = NULL, *record, *subproblem;
    size_t i;
    double start = ft_now_ms(), used = ft_measure_used_ms();
    *m = (ft_measure){.correct = true};
    if (ft_engine_new(run->trace, "papers", run->spec, &engine, &err) != FT_OK) fail(err.message);
    if (ft_engine_plan(engine, &plan, &err) != FT_OK) fail(err.message);
    m->candidates = (uint64_t)json_integer_value(
        json_object_get(json_object_get(plan, "candidates"), run->job->check));
    json_array_foreach(json_object_get(plan, "records"), i, record) count_record(m, record);
    json_array_foreach(json_object_get(plan, "subproblems"), i, subproblem)
        solve(engine, subproblem, (uint32_t)i, run->job->key, m);
    ft_engine_free(engine);
    json_decref(plan);
    take_times(m, ft_now_ms() - start, ft_measure_used_ms() - used);
}

/* The alarm ends the process, whatever the solver is at. It is one of wall time: with a timer of
 * processor time the kernel measures that by the tick. */
static void set_alarm(double seconds)
{
    struct itimerval timer = {.it_value = {(time_t)seconds, 1}};
    if (setitimer(ITIMER_REAL, &timer, NULL) != 0) fail("no timer");
}

static void run_jobs(void *context, void *shared)
{
    const job_run *run = context;
    job_result *result = shared;
    for (int i = 0; i <= run->rounds; i++) {
        set_alarm(run->limit_s);
        double start = ft_now_ms();
        run_job(run, &result->now);
        bool long_one = ft_now_ms() - start > TOO_LONG_MS;
        if (i == 0 && !long_one) continue;
        result->whole[result->counted] = result->now.whole_ms;
        result->solving[result->counted] = result->now.solve_ms;
        result->encoding[result->counted++] = result->now.encode_ms;
        if (long_one) break;
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double ft_measure_median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, by_value);
    return values[count / 2];
}

ft_measure ft_measure_job(ft_trace *trace, const ft_job *job, int rounds, double limit_s)
{
    job_result result = {0};
    job_run run = {trace, job, NULL, rounds < MAX_ROUNDS ? rounds : MAX_ROUNDS, limit_s};
    run.spec = json_pack("{s:[s], s:s, s:s, s:s, s:{s:i}}", "checks", job->check, "model",
                         job->model, "per", job->per ? job->per : "event", "encoding",
                         job->encoding, "budget", "subproblem_ms", (int)(limit_s * 1e3));
    ft_end end =
        ft_measure_apart(run_jobs, &run, &result, sizeof result, (rounds + 2) * (limit_s + 1));
    json_decref(run.spec);
    ft_measure m = result.now;
    m.rounds = result.counted;
    m.late = end == FT_END_LATE;
    m.died = end == FT_END_DIED;
    if (m.late) m.whole_ms = limit_s * 1e3;
    if (end != FT_END_DONE) return m;
    m.whole_ms = ft_measure_median(result.whole, result.counted);
    m.solve_ms = ft_measure_median(result.solving, result.counted);
    m.encode_ms = ft_measure_median(result.encoding, result.counted);
    return m;
}
