/* The service at its worst moments, one a round, in four sweeps.
 *
 * kill: SIGKILL before and after each system call by which foretelld changes something, one place a
 * round (torture/shim.c counts them): a client uploads, starts jobs, cancels, lets retention
 * remove, in eight ways; the daemon is killed on the way and started again. What was acknowledged
 * must be there, every job must end as in the calm run, and the state folder must be in order.
 *
 * alloc, write: the same when an allocation, or a write to a file, fails. The client may be told so
 * with a 5xx, and the daemon may end, saying that it is out of memory; it must not crash.
 *
 * statement: killed before and after each statement of the interface to PostgreSQL, at one of the
 * times that it runs (beside tests/postgres/with, where `write` is left out: nothing of a job is in
 * a file). The client then also does what torture/errands.h has. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "service/torture/errands.h"
#include "service/torture/torture.h"

#define DAY_MS   ((int64_t)86400000)
#define STEP     1000003 /* a prime, larger than there are places */
#define PATIENCE 20000   /* milliseconds for a job of a handful of subproblems */

typedef enum sweep { KILL, ALLOC, WRITE, STATEMENT, SWEEPS } sweep;
static const char *const SWEEP_NAMES[] = {"kill", "alloc", "write", "statement"};
static sweep present;

static bool kills(void)
{
    return present == KILL || present == STATEMENT;
}

/* What differs from one way to another. */
enum { AT_ONCE = 1, TWO_WORKERS = 2, TWO_ROWS = 4, WAYS = 8 };

#define OPTIONS(workers)                                                                           \
    {                                                                                              \
        "--workers", workers, "--retain-days", "1", "--retain-check-ms", "100", "--log-level",     \
            "error", "--webhook-allow-private", "1", "--webhook-attempts", "1", "--split-ms",      \
            "20", NULL                                                                             \
    }
static const char *const ONE[] = OPTIONS("1"), *const TWO[] = OPTIONS("2");

static const char RACY[] = "T1|w(x)|a.c:1\nT2|w(x)|b.c:1\nT1|acq(l)|a.c:2\nT1|w(y)|a.c:3\n"
                           "T1|rel(l)|a.c:4\nT2|acq(l)|b.c:2\nT2|w(y)|b.c:3\nT2|rel(l)|b.c:4\n";
static const char OTHER[] = "T1|w(x)|c.c:1\nT2|r(x)|d.c:1\nT2|w(z)|d.c:2\nT1|r(z)|c.c:2\n";

typedef enum role { FIRST, CANCELLED, SECOND, HARD, ROLES } role;
static const char *const NAMES[ROLES] = {"first", "cancelled", "second", "hard"};

/* What the client was told: acknowledged is what came with a 2xx. */
typedef struct account {
    unsigned way;
    char traces[2][FT_TORTURE_HASH], hard[FT_TORTURE_HASH];
    char jobs[ROLES][FT_TORTURE_JOB];
    bool cancelled, clock_set, finished;
} account;

/* Of the calm runs. */
static json_t *calm[WAYS][ROLES];
static uint64_t places[WAYS];
/* The statements that they ran, each with the ways (a bit each) that have it. */
static struct {
    uint64_t site;
    unsigned ways;
} statements[FT_SHIM_SITES];
static size_t statement_count;

/* OTHER, and when it shall take two rows of the store so many variables that only one thread has.
 */
static char *second_trace(unsigned way)
{
    ft_strbuf text = {0};
    uint64_t random = 88172645463325252u;
    for (unsigned i = 0; (way & TWO_ROWS) && i < 24000; i++) {
        ft_strbuf_puts(&text, "T3|w(");
        for (int j = 0; j < 3; j++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            ft_strbuf_printf(&text, "%016llx", (unsigned long long)random);
        }
        ft_strbuf_puts(&text, ")|e.c:1\n");
    }
    ft_strbuf_puts(&text, OTHER);
    return ft_strbuf_take(&text);
}

/* ---- The client's day ------------------------------------------------------------------------ */

/* Who has no answer, or is told that the server cannot, leaves it at that. */
static void expect_no_answer(ft_torture *t, long status, const char *what)
{
    bool failed = !kills() && status >= 500;
    if (status && !failed) FT_WRONG(t, "%s: %ld", what, status);
}

static bool upload(ft_torture *t, const char *text, char hash[FT_TORTURE_HASH])
{
    json_t *meta = NULL;
    long status = ft_torture_call(t, "POST", "/v1/traces", NULL, text, PATIENCE, &meta);
    if (status == 201 || status == 200)
        snprintf(hash, FT_TORTURE_HASH, "%s", json_string_value(json_object_get(meta, "trace")));
    else
        expect_no_answer(t, status, "upload");
    json_decref(meta);
    return status == 201 || status == 200;
}

static bool create(ft_torture *t, const char *hash, role who, char job[FT_TORTURE_JOB])
{
    char body[512], key[64];
    json_t *snapshot = NULL;
    snprintf(key, sizeof key, "Idempotency-Key: %s", NAMES[who]);
    snprintf(body, sizeof body,
             "{\"trace\":\"%s\",\"checks\":[\"%s\"],\"per\":\"event\",\"name\":\"%s\"}", hash,
             who == HARD ? "assertion" : "race", NAMES[who]);
    long status = ft_torture_call(t, "POST", "/v1/jobs", key, body, PATIENCE, &snapshot);
    if (status == 202 || status == 200)
        snprintf(job, FT_TORTURE_JOB, "%s", json_string_value(json_object_get(snapshot, "job")));
    else
        expect_no_answer(t, status, "job");
    json_decref(snapshot);
    return status == 202 || status == 200;
}

static bool cancel(ft_torture *t, const char *job)
{
    char path[64];
    snprintf(path, sizeof path, "/v1/jobs/%s", job);
    long status = ft_torture_call(t, "DELETE", path, NULL, NULL, PATIENCE, NULL);
    if (status != 204) expect_no_answer(t, status, "cancelling");
    return status == 204;
}

static bool refuse_bad(ft_torture *t)
{
    long status = ft_torture_call(t, "POST", "/v1/traces", NULL, "no trace at all", PATIENCE, NULL);
    if (status != 400) expect_no_answer(t, status, "a bad upload");
    return status == 400;
}

static bool follow(ft_torture *t, const char *job)
{
    char path[64];
    json_t *snapshot = NULL;
    snprintf(path, sizeof path, "/v1/jobs/%s", job);
    long status =
        ft_torture_call(t, "GET", path, "Prefer: wait=20", NULL, PATIENCE + 2000, &snapshot);
    json_decref(snapshot);
    return status == 200;
}

/* Two days later everything that has ended goes. */
static bool outlive(ft_torture *t, account *told)
{
    char path[128];
    long status = 200;
    told->clock_set = true;
    if (ft_torture_shared())
        ft_torture_age(t);
    else
        atomic_store(&t->shim->clock_ms, 2 * DAY_MS);
    snprintf(path, sizeof path, "/v1/traces/%s", told->traces[1]);
    for (int i = 0; i < 200 && status == 200; i++) {
        status = ft_torture_call(t, "GET", path, NULL, NULL, PATIENCE, NULL);
        if (status == 200) (void)poll(NULL, 0, 20);
    }
    if (status == 200 && kills()) FT_WRONG(t, "retention removes nothing");
    return status == 404;
}

static bool upload_second(ft_torture *t, account *told)
{
    char *text = second_trace(told->way);
    bool good = upload(t, text, told->traces[1]);
    free(text);
    return good;
}

static bool begin(ft_torture *t, account *told, role who)
{
    bool waits = who == FIRST && !(told->way & AT_ONCE);
    if (!create(t, told->traces[who == SECOND], who, told->jobs[who])) return false;
    return !waits || follow(t, told->jobs[who]);
}

/* A subproblem that takes long: a worker dies at it, and it is split. */
static bool work_hard(ft_torture *t, account *told)
{
    char *text = ft_errands_hard_trace();
    bool good = upload(t, text, told->hard) && create(t, told->hard, HARD, told->jobs[HARD]) &&
                ft_errands_kill_worker(t, told->jobs[HARD]) && follow(t, told->jobs[HARD]);
    free(text);
    return good;
}

static bool does_errands(const account *told)
{
    return present == STATEMENT && (told->way & TWO_ROWS);
}

static bool begin_work(ft_torture *t, account *told)
{
    if (!upload(t, RACY, told->traces[0])) return false;
    return !does_errands(told) || ft_errands_begin(t);
}

static bool end_work(ft_torture *t, account *told)
{
    if (!follow(t, told->jobs[FIRST]) || !follow(t, told->jobs[SECOND])) return false;
    if (!does_errands(told)) return true;
    if ((told->way & TWO_WORKERS) && !work_hard(t, told)) return false;
    return ft_errands_end(t, told->traces[0], told->jobs[FIRST]);
}

static bool work(ft_torture *t, account *told)
{
    return begin_work(t, told) && begin(t, told, FIRST) && begin(t, told, CANCELLED) &&
           (told->cancelled = cancel(t, told->jobs[CANCELLED])) && refuse_bad(t) &&
           upload_second(t, told) && begin(t, told, SECOND) && end_work(t, told);
}

/* Ends where the daemon does. */
static void live(ft_torture *t, account *told)
{
    if (!ft_torture_start(t)) return;
    if (work(t, told) && outlive(t, told)) told->finished = ft_torture_stop(t);
}

/* ---- Faults ---------------------------------------------------------------------------------- */

/* Each statement has four places: before and after it, when it runs first and later. */
#define TURNS 4

static void set_site(ft_torture *t, uint64_t place)
{
    uint64_t n = place / TURNS;
    bool here = present == STATEMENT && place > 0;
    atomic_store(&t->shim->kill_site, here ? statements[n - 1].site : 0);
    atomic_store(&t->shim->kill_turn, place & 1);
    atomic_store(&t->shim->kill_pass, place & 2 ? 2 + (int64_t)(n % 7) : 1);
}

/* 0: none. */
static void set_fault(ft_torture *t, uint64_t place)
{
    set_site(t, place);
    atomic_store(&t->shim->kill_at, present == KILL ? place : 0);
    atomic_store(&t->shim->fail_alloc, present == ALLOC ? (int64_t)place : 0);
    atomic_store(&t->shim->fail_write, present == WRITE ? (int64_t)place : 0);
}

/* How many there are in a run that has ended. Places of a kill are numbered from 2 on. */
static uint64_t count_places(const ft_torture *t)
{
    const uint64_t counts[STATEMENT] = {2 * atomic_load(&t->shim->calls),
                                        atomic_load(&t->shim->allocs),
                                        atomic_load(&t->shim->writes)};
    return present == STATEMENT ? 0 : counts[present];
}

static bool was_hit(const ft_torture *t, const account *told)
{
    return kills() ? !told->finished : atomic_load(&t->shim->failed) > 0;
}

/* ---- What must hold afterwards --------------------------------------------------------------- */

static void check_traces(ft_torture *t, const account *told)
{
    for (int i = 0; i < 2; i++) {
        char path[128];
        if (!*told->traces[i]) continue;
        snprintf(path, sizeof path, "/v1/traces/%s/content", told->traces[i]);
        long status = ft_torture_call(t, "GET", path, NULL, NULL, PATIENCE, NULL);
        if (status != 200 && !(told->clock_set && status == 404))
            FT_WRONG(t, "an acknowledged trace: %ld", status);
    }
}

static void check_outcome(ft_torture *t, const account *told, role who, const json_t *outcome)
{
    const char *state = json_string_value(json_object_get(outcome, "state"));
    bool was_cancelled = strcmp(state, "cancelled") == 0;
    if (was_cancelled && who == CANCELLED) return;
    if (strcmp(state, "done") != 0 || (who == CANCELLED && told->cancelled && was_cancelled))
        FT_WRONG(t, "job \"%s\" ended as %s", NAMES[who], state);
    else if (!ft_torture_same(calm[told->way][who], json_object_get(outcome, "verdicts"), false))
        FT_WRONG(t, "job \"%s\" has other verdicts than in the calm run", NAMES[who]);
}

static void check_job(ft_torture *t, const account *told, role who, const char *job)
{
    long status;
    json_t *outcome = ft_torture_outcome(t, job, PATIENCE, &status);
    if (outcome)
        check_outcome(t, told, who, outcome);
    else if (!(told->clock_set && status == 404))
        FT_WRONG(t, "job \"%s\": %ld", NAMES[who], status);
    json_decref(outcome);
}

/* Jobs that nobody was told of may be there too: they must end as well, and be only one a key. */
static void check_jobs(ft_torture *t, const account *told)
{
    json_t *list = NULL, *job;
    size_t i;
    unsigned seen[ROLES] = {0};
    for (int who = 0; who < ROLES; who++)
        if (*told->jobs[who]) check_job(t, told, (role)who, told->jobs[who]);
    long status = ft_torture_call(t, "GET", "/v1/jobs", NULL, NULL, PATIENCE, &list);
    if (status != 200) FT_WRONG(t, "the list of jobs: %ld", status);
    json_array_foreach(json_object_get(list, "jobs"), i, job)
    {
        const char *id = json_string_value(json_object_get(job, "job"));
        const char *name = json_string_value(json_object_get(job, "name"));
        for (int who = 0; who < ROLES; who++) {
            if (!name || strcmp(name, NAMES[who]) != 0) continue;
            if (++seen[who] > 1) FT_WRONG(t, "two jobs \"%s\"", name);
            if (!*told->jobs[who])
                check_job(t, told, (role)who, id);
            else if (strcmp(told->jobs[who], id) != 0)
                FT_WRONG(t, "job \"%s\" has another id", name);
        }
    }
    json_decref(list);
}

/* The same key gives the same job, or the first one when nobody was told of any. */
static void check_keys(ft_torture *t, const account *told)
{
    char again[FT_TORTURE_JOB] = "";
    if (!*told->traces[0] || told->clock_set) return;
    if (!create(t, told->traces[0], FIRST, again)) FT_WRONG(t, "the key is refused");
    if (*told->jobs[FIRST] && strcmp(again, told->jobs[FIRST]) != 0)
        FT_WRONG(t, "a key gives two jobs");
    check_job(t, told, FIRST, again);
}

static void check_after(ft_torture *t, const account *told)
{
    set_fault(t, 0);
    t->daemon.may_die = false;
    if (!ft_torture_start(t)) {
        FT_WRONG(t, "it does not start again");
        return;
    }
    check_keys(t, told);
    check_traces(t, told);
    check_jobs(t, told);
    if (!ft_torture_stop(t)) FT_WRONG(t, "it does not stop");
    ft_torture_check_state(t);
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

static ft_torture open_way(const char *parent, unsigned way)
{
    ft_torture t;
    ft_torture_open(&t, parent, way & TWO_WORKERS ? TWO : ONE);
    return t;
}

/* One round; whether the fault came about in it. */
static bool run_round(const char *parent, unsigned way, uint64_t place, unsigned *wrong)
{
    ft_torture t = open_way(parent, way);
    account told = {.way = way};
    t.daemon.may_die = true;
    set_fault(&t, place);
    live(&t, &told);
    bool hit = was_hit(&t, &told);
    if (kills())
        ft_daemon_kill(&t.daemon);
    else
        ft_torture_end(&t);
    check_after(&t, &told);
    if (t.wrong)
        fprintf(stderr, "%s, way %u, place %llu: %u wrong\n", SWEEP_NAMES[present], way,
                (unsigned long long)place, t.wrong);
    *wrong += t.wrong;
    ft_torture_close(&t);
    return hit;
}

static json_t *calm_verdicts(ft_torture *t, const char *job)
{
    long status;
    json_t *outcome = ft_torture_outcome(t, job, PATIENCE, &status);
    json_t *verdicts = json_incref(json_object_get(outcome, "verdicts"));
    json_decref(outcome);
    return verdicts;
}

static void add_statement(unsigned way, uint64_t site)
{
    size_t i = 0;
    if (site == 0) return;
    while (i < statement_count && statements[i].site != site) i++;
    if (i == FT_SHIM_SITES) return;
    if (i == statement_count) statements[statement_count++].site = site;
    statements[i].ways |= 1u << way;
}

/* An undisturbed round: its verdicts and its number of places. */
static bool run_calm(const char *parent, unsigned way)
{
    ft_torture t = open_way(parent, way);
    account told = {.way = way};
    bool good = ft_torture_start(&t) && work(&t, &told);
    json_t **verdicts = calm[way];
    verdicts[FIRST] = calm_verdicts(&t, told.jobs[FIRST]);
    verdicts[CANCELLED] = json_incref(verdicts[FIRST]);
    verdicts[SECOND] = calm_verdicts(&t, told.jobs[SECOND]);
    if (*told.jobs[HARD]) verdicts[HARD] = calm_verdicts(&t, told.jobs[HARD]);
    good = good && json_object_size(verdicts[FIRST]) && json_object_size(verdicts[SECOND]);
    good = good && outlive(&t, &told) && ft_torture_stop(&t);
    ft_torture_check_state(&t);
    places[way] = count_places(&t);
    for (size_t i = 0; i < FT_SHIM_SITES; i++) add_statement(way, atomic_load(&t.shim->sites[i]));
    good = good && !t.wrong;
    ft_torture_close(&t);
    return good;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* A way that has the statement, another one at each turn. */
static void locate_statement(uint64_t n, unsigned *way, uint64_t *place)
{
    uint64_t index = n / TURNS;
    *way = (unsigned)((index + n % TURNS * 3) % WAYS);
    while (!(statements[index].ways >> *way & 1)) *way = (*way + 1) % WAYS;
    *place = n + TURNS;
}

/* The n-th of all places. */
static void locate(uint64_t n, unsigned *way, uint64_t *place)
{
    if (present == STATEMENT) {
        locate_statement(n, way, place);
        return;
    }
    for (*way = 0; n >= places[*way]; ++*way) n -= places[*way];
    *place = n + (present == KILL ? 2 : 1);
}

/* Which rounds of a sweep are run: numbers from..rounds - 1, no more after so many seconds. */
typedef struct part {
    uint64_t rounds, from, seconds;
} part;

/* So many rounds, evenly spread over all places, in an order that has been everywhere whenever it
 * is broken off. */
static int run_rounds(const char *parent, part p)
{
    uint64_t hits = 0, all = 0, place, i;
    unsigned wrong = 0, way;
    double began = seconds();
    for (way = 0; way < WAYS; way++) {
        if (!run_calm(parent, way)) {
            fprintf(stderr, "the calm run %u goes wrong\n", way);
            return 1;
        }
        all += places[way];
    }
    if (present == STATEMENT) all = TURNS * statement_count;
    if (p.rounds > all) p.rounds = all;
    if (p.from > p.rounds) p.from = p.rounds;
    for (i = p.from; i < p.rounds && wrong < 20 && seconds() - began < (double)p.seconds; i++) {
        locate(i * STEP % p.rounds * all / p.rounds, &way, &place);
        hits += run_round(parent, way, place, &wrong);
        if (i % 500 == 499)
            fprintf(stderr, "%llu rounds, %u wrong, %.0f s\n", (unsigned long long)i + 1, wrong,
                    seconds() - began);
    }
    printf("%s: %llu places, %llu rounds, hit in %llu, %u wrong, %.0f s\n", SWEEP_NAMES[present],
           (unsigned long long)all, (unsigned long long)(i - p.from), (unsigned long long)hits,
           wrong, seconds() - began);
    if (i < p.rounds) printf("go on from round %llu\n", (unsigned long long)i);
    for (way = 0; way < WAYS; way++)
        for (int who = 0; who < ROLES; who++) json_decref(calm[way][who]);
    return wrong > 0 || hits == 0;
}

static int usage(void)
{
    fprintf(stderr, "usage: killpoints [kill|alloc|write|statement [ROUNDS [FROM [SECONDS]]]]\n"
                    "Without arguments some rounds of each.\n");
    return 2;
}

int main(int argc, char **argv)
{
    static const uint64_t SHORT[SWEEPS] = {24, 24, 16, 24};
    const char *parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    int failed = 0;
    if (argc == 1) {
        for (present = KILL; present < SWEEPS; present++)
            if (present < WRITE || (present == STATEMENT) == ft_torture_shared())
                failed |= run_rounds(parent, (part){SHORT[present], 0, UINT64_MAX});
        return failed;
    }
    for (present = KILL; present < SWEEPS && strcmp(argv[1], SWEEP_NAMES[present]) != 0; present++)
        continue;
    if (present == SWEEPS || argc > 5) return usage();
    const uint64_t standard[] = {SHORT[present], 0, UINT64_MAX};
    uint64_t given[3];
    for (int i = 0; i < 3; i++)
        given[i] = argc > i + 2 ? strtoull(argv[i + 2], NULL, 10) : standard[i];
    return run_rounds(parent, (part){given[0], given[1], given[2]});
}
