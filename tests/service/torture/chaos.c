/* Rounds of misfortune while jobs run: the server and its workers are killed with SIGKILL, workers
 * stop and go on, the disk is full, writes and allocations fail, the clock jumps, clients are slow
 * or die. After each round every job that was accepted must end with the verdicts of a calm run,
 * and each key must have made one job; every few rounds the state folder must be in order.
 *
 * Clients insist: what is not answered with a 2xx is sent again under its Idempotency-Key. As root
 * the disk is a small one of its own, in a mount namespace of this process. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "service/torture/torture.h"

#define JOBS      4     /* a round */
#define LIFE      25    /* rounds of one state folder */
#define PATIENCE  60000 /* milliseconds for a round's jobs to end, once it is calm again */
#define SHORT     3000  /* for a request in a storm */
#define HOUR_MS   ((int64_t)3600000)
#define DISK      "size=64m"
#define NO_WORKER 0

static const char *const OPTIONS[] = {
    "--workers", "2", "--lease-ms", "4000", "--grace-ms", "4000", "--log-level", "error", NULL};

typedef enum size { SMALL, MIDDLE, LARGE, SIZES } size;
static const struct {
    int threads, rounds;
} SIZE[SIZES] = {{3, 2}, {4, 3}, {6, 3}};

typedef struct accepted {
    char key[32], job[FT_TORTURE_JOB]; /* job "": not accepted yet */
    size size;
} accepted;

typedef struct chaos {
    ft_torture t;
    uint64_t random;
    accepted jobs[LIFE * JOBS];
    unsigned count, round;
    bool mounted;
    char parent[40], traces[SIZES][FT_TORTURE_HASH];
    uint64_t happened[16]; /* by misfortune */
} chaos;

static json_t *calm[SIZES];

static uint32_t chance(chaos *c, uint32_t below)
{
    c->random ^= c->random << 13;
    c->random ^= c->random >> 7;
    c->random ^= c->random << 17;
    return (uint32_t)((c->random >> 11) % below);
}

static void rest(long ms)
{
    (void)poll(NULL, 0, (int)ms);
}

/* ---- Traces ---------------------------------------------------------------------------------- */

/* Each thread hands a value on under a lock and touches shared variables without one: races that
 * the locks allow, and pairs that only the order of the sections refutes. */
static char *generate(size which)
{
    ft_strbuf out = {0};
    int threads = SIZE[which].threads;
    for (int round = 0; round < SIZE[which].rounds; round++)
        for (int t = 0; t < threads; t++) {
            int next = (t + 1) % threads;
            ft_strbuf_printf(&out, "T%d|w(v%d)|r%dt%da\n", t, t, round, t);
            ft_strbuf_printf(&out, "T%d|acq(l)|r%dt%db\n", t, round, t);
            ft_strbuf_printf(&out, "T%d|r(f)|r%dt%dc\n", t, round, t);
            ft_strbuf_printf(&out, "T%d|w(f)|r%dt%dd\n", t, round, t);
            ft_strbuf_printf(&out, "T%d|rel(l)|r%dt%de\n", t, round, t);
            ft_strbuf_printf(&out, "T%d|r(v%d)|r%dt%df\n", t, next, round, t);
            ft_strbuf_printf(&out, "T%d|w(v%d)|r%dt%dg\n", t, next, round, t);
        }
    return ft_strbuf_take(&out);
}

static bool upload(chaos *c, size which, long patience)
{
    char *text = generate(which);
    json_t *meta = NULL;
    long status = ft_torture_call(&c->t, "POST", "/v1/traces", NULL, text, patience, &meta);
    bool good = status == 200 || status == 201;
    if (good)
        snprintf(c->traces[which], FT_TORTURE_HASH, "%s",
                 json_string_value(json_object_get(meta, "trace")));
    else if (status && status < 500)
        FT_WRONG(&c->t, "upload: %ld", status);
    json_decref(meta);
    free(text);
    return good;
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

/* True: the job has its id. */
static bool submit(chaos *c, accepted *job, long patience)
{
    char body[256], header[64];
    json_t *snapshot = NULL;
    snprintf(header, sizeof header, "Idempotency-Key: %s", job->key);
    snprintf(body, sizeof body,
             "{\"trace\":\"%s\",\"checks\":[\"race\"],\"per\":\"event\",\"name\":\"%s\"}",
             c->traces[job->size], job->key);
    long status = ft_torture_call(&c->t, "POST", "/v1/jobs", header, body, patience, &snapshot);
    const char *id = json_string_value(json_object_get(snapshot, "job"));
    if ((status == 202 || status == 200) && id) {
        if (*job->job && strcmp(job->job, id) != 0)
            FT_WRONG(&c->t, "key %s made two jobs", job->key);
        snprintf(job->job, sizeof job->job, "%s", id);
    } else if (status && status < 500) {
        FT_WRONG(&c->t, "job: %ld", status);
    }
    json_decref(snapshot);
    return *job->job != '\0';
}

static accepted *new_job(chaos *c)
{
    accepted *job = &c->jobs[c->count++];
    *job = (accepted){.size = (size)chance(c, SIZES)};
    snprintf(job->key, sizeof job->key, "r%u-%u", c->round, c->count);
    return job;
}

/* ---- The daemon's ups and downs ---------------------------------------------------------------
 */

/* Like an init system: what has ended is started again. How it ended must be in order, unless we
 * did it. */
static bool revive(chaos *c, bool killed)
{
    if (ft_torture_runs(&c->t)) return true;
    if (c->t.daemon.pid > 0 && !killed) ft_torture_end(&c->t);
    if (c->t.daemon.pid > 0) ft_daemon_kill(&c->t.daemon);
    bool up = ft_torture_start(&c->t);
    if (!up) ft_torture_end(&c->t);
    return up;
}

static void kill_server(chaos *c)
{
    ft_daemon_kill(&c->t.daemon);
    (void)revive(c, true);
}

/* Whether the process is a child of our daemon: only those are touched. */
static bool is_ours(const chaos *c, pid_t process)
{
    char path[64], line[256];
    long parent = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)process);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "PPid:", 5) == 0) parent = strtol(line + 5, NULL, 10);
    if (file) fclose(file);
    return parent > 1 && parent == c->t.daemon.pid;
}

static pid_t any_worker(chaos *c)
{
    json_t *answer = NULL;
    (void)ft_torture_call(&c->t, "GET", "/v1/workers", NULL, NULL, SHORT, &answer);
    const json_t *list = json_object_get(answer, "workers");
    size_t count = json_array_size(list);
    pid_t process = NO_WORKER;
    if (count)
        process = (pid_t)json_integer_value(
            json_object_get(json_array_get(list, chance(c, (uint32_t)count)), "pid"));
    json_decref(answer);
    return process > 1 && is_ours(c, process) ? process : NO_WORKER;
}

static void kill_worker(chaos *c)
{
    pid_t worker = any_worker(c);
    if (worker != NO_WORKER) kill(worker, SIGKILL);
}

static void stop_worker(chaos *c)
{
    pid_t worker = any_worker(c);
    if (worker == NO_WORKER) return;
    kill(worker, SIGSTOP);
    rest(50 + chance(c, 300));
    if (is_ours(c, worker)) kill(worker, SIGCONT);
}

static void fail_writes(chaos *c)
{
    atomic_store(&c->t.shim->fail_writes, chance(c, 8));
    atomic_store(&c->t.shim->fail_write, 1 + chance(c, 150));
}

static void fail_allocations(chaos *c)
{
    atomic_store(&c->t.shim->fail_alloc, 1 + chance(c, 8000));
}

static void ballast_path(const chaos *c, char path[64])
{
    snprintf(path, 64, "%s/ballast", c->parent);
}

static void fill_disk(chaos *c)
{
    char path[64], block[4096] = "";
    ballast_path(c, path);
    if (!c->mounted) {
        atomic_store(&c->t.shim->disk_full, 1);
        return;
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    for (off_t step = 16 << 20; fd >= 0 && step >= 4096; step /= 2)
        while (fallocate(fd, 0, lseek(fd, 0, SEEK_END), step) == 0) continue;
    while (fd >= 0 && write(fd, block, sizeof block) > 0) continue;
    if (fd >= 0) close(fd);
}

static void free_disk(chaos *c)
{
    char path[64];
    ballast_path(c, path);
    unlink(path);
    atomic_store(&c->t.shim->disk_full, 0);
}

/* Up to two days off, either way. */
static void move_clock(chaos *c)
{
    atomic_store(&c->t.shim->clock_ms, (int64_t)chance(c, 96) * HOUR_MS - 48 * HOUR_MS);
}

static int connect_client(const chaos *c)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)c->t.daemon.port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0) return fd;
    close(fd);
    return -1;
}

/* Half an upload, drop by drop, then nothing more. */
static void be_slow(chaos *c)
{
    static const char HALF[] = "POST /v1/traces HTTP/1.1\r\nHost: localhost\r\n"
                               "Content-Length: 1000000\r\n\r\nT1|w(x)|a.c:1\nT2|w(";
    int fd = connect_client(c);
    for (size_t at = 0; fd >= 0 && at < sizeof HALF - 1; at += 9) {
        size_t length = sizeof HALF - 1 - at < 9 ? sizeof HALF - 1 - at : 9;
        if (send(fd, HALF + at, length, MSG_NOSIGNAL) < 0) break;
        rest(3);
    }
    if (fd >= 0) close(fd);
}

/* Asks, and does not wait for the answer; some reset the connection. */
static void die_early(chaos *c)
{
    static const char ASK[] = "GET /v1/jobs?limit=500 HTTP/1.1\r\nHost: localhost\r\n\r\n"
                              "GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n";
    for (int i = 0; i < 8; i++) {
        int fd = connect_client(c);
        if (fd < 0) return;
        const struct linger reset = {.l_onoff = i & 1, .l_linger = 0};
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        if (send(fd, ASK, sizeof ASK - 1, MSG_NOSIGNAL) > 0 && (i & 2)) rest(2);
        close(fd);
    }
}

static const struct {
    const char *name;
    void (*happen)(chaos *c);
} MISFORTUNES[] = {
    {"server killed", kill_server}, {"worker killed", kill_worker}, {"worker stopped", stop_worker},
    {"writes failed", fail_writes}, {"disk full", fill_disk},       {"no memory", fail_allocations},
    {"clock moved", move_clock},    {"slow client", be_slow},       {"clients gone", die_early},
};
#define KINDS (sizeof MISFORTUNES / sizeof *MISFORTUNES)

static void strike(chaos *c)
{
    size_t which = chance(c, KINDS);
    c->happened[which]++;
    MISFORTUNES[which].happen(c);
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

static void calm_down(chaos *c)
{
    atomic_store(&c->t.shim->fail_write, 0);
    atomic_store(&c->t.shim->fail_writes, 0);
    atomic_store(&c->t.shim->fail_alloc, 0);
    free_disk(c);
}

static bool insist_once(chaos *c, unsigned from)
{
    bool good = revive(c, false);
    for (int which = 0; which < SIZES && good; which++) good = upload(c, (size)which, PATIENCE);
    for (unsigned i = from; i < c->count && good; i++) good = submit(c, &c->jobs[i], PATIENCE);
    return good;
}

/* Whatever was not accepted in the storm is now; it may still end of what hit it then. */
static void insist(chaos *c, unsigned from)
{
    bool good = insist_once(c, from);
    for (int tries = 0; tries < 4 && !good; tries++) {
        rest(200);
        good = insist_once(c, from);
    }
    if (!good) FT_WRONG(&c->t, "it does not serve in the calm");
}

static void check_job(chaos *c, const accepted *job)
{
    long status;
    json_t *outcome = ft_torture_outcome(&c->t, job->job, PATIENCE, &status);
    const char *state = json_string_value(json_object_get(outcome, "state"));
    if (!outcome)
        FT_WRONG(&c->t, "job %s (%s): %ld", job->job, job->key, status);
    else if (strcmp(state, "done") != 0)
        FT_WRONG(&c->t, "job %s (%s) ended as %s", job->job, job->key, state);
    else if (!ft_torture_same(calm[job->size], json_object_get(outcome, "verdicts"), false))
        FT_WRONG(&c->t, "job %s (%s) has other verdicts than in the calm run", job->job, job->key);
    json_decref(outcome);
}

/* As many jobs as keys. */
static void check_list(chaos *c)
{
    json_t *list = NULL;
    long status = ft_torture_call(&c->t, "GET", "/v1/jobs?limit=500", NULL, NULL, PATIENCE, &list);
    size_t count = json_array_size(json_object_get(list, "jobs"));
    if (status != 200 || count != c->count)
        FT_WRONG(&c->t, "%zu jobs of %u (%ld)", count, c->count, status);
    json_decref(list);
}

static void run_round(chaos *c)
{
    unsigned from = c->count;
    c->round++;
    for (int i = 0; i < JOBS; i++) {
        (void)submit(c, new_job(c), SHORT);
        if (chance(c, 3)) strike(c);
        rest(chance(c, 60));
        (void)revive(c, false);
        if (chance(c, 4) == 0) (void)upload(c, (size)chance(c, SIZES), SHORT);
    }
    calm_down(c);
    insist(c, from);
    for (unsigned i = from; i < c->count; i++) check_job(c, &c->jobs[i]);
    check_list(c);
}

static void open_life(chaos *c)
{
    ft_torture_open(&c->t, c->parent, OPTIONS);
    c->t.daemon.may_die = true;
    c->count = 0;
    if (!ft_torture_start(&c->t)) FT_WRONG(&c->t, "it does not start");
    for (int which = 0; which < SIZES; which++)
        if (!upload(c, (size)which, PATIENCE)) FT_WRONG(&c->t, "upload");
}

static unsigned end_life(chaos *c)
{
    atomic_store(&c->t.shim->clock_ms, 0);
    if (!ft_torture_stop(&c->t)) FT_WRONG(&c->t, "it does not stop");
    ft_torture_check_state(&c->t);
    unsigned wrong = c->t.wrong;
    ft_torture_close(&c->t);
    return wrong;
}

static bool run_calm(chaos *c)
{
    open_life(c);
    for (int which = 0; which < SIZES; which++) {
        accepted *job = new_job(c);
        long status;
        job->size = (size)which;
        if (!submit(c, job, PATIENCE)) continue;
        json_t *outcome = ft_torture_outcome(&c->t, job->job, PATIENCE, &status);
        calm[which] = json_incref(json_object_get(outcome, "verdicts"));
        json_decref(outcome);
        if (json_object_size(calm[which]) < 10) FT_WRONG(&c->t, "no verdicts");
    }
    return end_life(c) == 0;
}

/* ---- The place ------------------------------------------------------------------------------- */

static void make_place(chaos *c)
{
    snprintf(c->parent, sizeof c->parent, "/tmp/ft-chaos-XXXXXX");
    if (!mkdtemp(c->parent)) {
        perror(c->parent);
        exit(2);
    }
    c->mounted = geteuid() == 0 && unshare(CLONE_NEWNS) == 0 &&
                 mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
                 mount("tmpfs", c->parent, "tmpfs", MS_NOSUID | MS_NODEV, DISK) == 0;
}

/* What went wrong is moved to where it can be looked at. */
static void leave_place(const chaos *c, unsigned wrong)
{
    if (wrong && c->mounted) {
        ft_strbuf command = {0};
        ft_strbuf_printf(&command, "tar -C %s -cf %s.tar .", c->parent, c->parent);
        if (system(command.text) == 0) fprintf(stderr, "%s.tar is kept\n", c->parent);
        ft_strbuf_release(&command);
    }
    if (c->mounted) umount2(c->parent, MNT_DETACH);
    if (c->mounted || !wrong) rmdir(c->parent);
}

static unsigned run_rounds(chaos *c, unsigned rounds)
{
    unsigned wrong = 0;
    for (unsigned i = 0; i < rounds && !wrong; i++) {
        if (i % LIFE == 0) open_life(c);
        run_round(c);
        if (c->t.wrong)
            fprintf(stderr, "round %u: %u wrong\n", c->round, c->t.wrong);
        else if (i % 50 == 49)
            fprintf(stderr, "%u rounds\n", i + 1);
        if (i % LIFE == LIFE - 1 || i == rounds - 1 || c->t.wrong) wrong += end_life(c);
    }
    return wrong;
}

static int usage(void)
{
    fprintf(stderr, "usage: chaos [--rounds N] [--seed N]\n");
    return 2;
}

int main(int argc, char **argv)
{
    static chaos c;
    unsigned rounds = 10;
    uint64_t seed = 0;
    c.random = 88172645463325252u;
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 == argc) return usage();
        uint64_t number = strtoull(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--rounds") == 0)
            rounds = (unsigned)number;
        else if (strcmp(argv[i], "--seed") == 0)
            seed = number;
        else
            return usage();
    }
    c.random ^= seed << 20;
    struct timespec began, ended;
    clock_gettime(CLOCK_MONOTONIC, &began);
    make_place(&c);
    bool good = run_calm(&c);
    unsigned wrong = good ? run_rounds(&c, rounds) : 1;
    clock_gettime(CLOCK_MONOTONIC, &ended);
    leave_place(&c, wrong);
    printf("%u rounds (seed %llu), %ld s, %u wrong:", rounds, (unsigned long long)seed,
           (long)(ended.tv_sec - began.tv_sec), wrong);
    for (size_t i = 0; i < KINDS; i++)
        printf(" %s %llu%s", MISFORTUNES[i].name, (unsigned long long)c.happened[i],
               i + 1 < KINDS ? "," : "\n");
    for (int i = 0; i < SIZES; i++) json_decref(calm[i]);
    return wrong > 0;
}
