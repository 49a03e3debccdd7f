#include "service/torture/errands.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"

#define PATIENCE 20000

/* %T: the trace, %J: the job, %R: the fingerprint of a review, %D: a delivery. */
typedef struct errand {
    const char *method, *path, *body;
    const char *keep, *member; /* %R or %D is this member of the first of this list */
    char as;
} errand;

typedef struct names {
    const char *trace, *job;
    char review[64], delivery[64];
} names;

#define PLAIN NULL, NULL, 0

/* Nobody listens at the webhook, so its deliveries fail at once. */
static const errand BEGIN[] = {
    {"PUT", "/v1/limits",
     "{\"jobs\":1000,\"workers\":8,\"bytes\":1000000000,\"seconds\":86400,\"memory_mb\":4000,"
     "\"retain_days\":1,\"retain_bytes\":1000000000}",
     PLAIN},
    {"PUT", "/v1/webhooks", "{\"url\":\"http://127.0.0.1:9/\"}", PLAIN},
};

#define JOB(name, more) "{\"trace\":\"%T\",\"name\":\"" name "\"," more "}"

static const errand END[] = {
    {"GET", "/v1/traces?limit=1", NULL, PLAIN},
    {"GET", "/v1/traces/%T/summary", NULL, PLAIN},
    {"GET", "/v1/jobs?limit=1&state=done&trace=%T", NULL, PLAIN},
    {"GET", "/v1/jobs/%J/findings?limit=1&safe=1", NULL, PLAIN},
    {"GET", "/v1/jobs/%J/report?format=sarif", NULL, PLAIN},
    {"GET", "/v1/findings/%J-1", NULL, PLAIN},
    {"GET", "/v1/jobs/%J/events", NULL, PLAIN},
    {"GET", "/v1/reviews?project=default&limit=1", NULL, "reviews", "fingerprint", 'R'},
    {"GET", "/v1/reviews/%R?project=default", NULL, PLAIN},
    {"PUT", "/v1/reviews/%R?project=default", "{\"state\":\"confirmed\"}", PLAIN},
    {"PUT", "/v1/webhooks", "{\"renew\":true}", PLAIN},
    {"GET", "/v1/webhooks", NULL, PLAIN},
    {"GET", "/v1/deliveries?limit=1", NULL, "deliveries", "delivery", 'D'},
    {"POST", "/v1/deliveries/%D/repeat", NULL, PLAIN},
    {"POST", "/v1/jobs", JOB("failed", "\"checks\":[\"race\"],\"model\":\"ctp\""), PLAIN},
    {"POST", "/v1/jobs", JOB("expired", "\"checks\":[\"race\"],\"budget\":{\"job_ms\":1}"), PLAIN},
    {"POST", "/v1/jobs",
     JOB("told", "\"checks\":[\"race\"],\"webhook\":\"http://127.0.0.1:9/own\","
                 "\"properties\":[{\"kind\":\"before\",\"first\":\"b.c:1\",\"then\":\"a.c:1\"}]"),
     "", "job", 'J'},
    {"GET", "/v1/jobs/%J/events", NULL, PLAIN}, /* to its end */
    {"GET", "/v1/jobs/%J/findings", NULL, PLAIN},
    {"GET", "/metrics", NULL, PLAIN},
    {"GET", "/ready", NULL, PLAIN},
    {"GET", "/v1/audit?limit=1", NULL, PLAIN},
    {"GET", "/v1/limits", NULL, PLAIN},
    {"GET", "/v1/stats", NULL, PLAIN},
    {"DELETE", "/v1/webhooks?project=default", NULL, PLAIN},
    {"DELETE", "/v1/limits?project=default", NULL, PLAIN},
};

static const char *name_for(const names *n, char letter)
{
    return letter == 'T'   ? n->trace
           : letter == 'J' ? n->job
           : letter == 'R' ? n->review
                           : n->delivery;
}

static char *filled(const char *text, const names *n)
{
    ft_strbuf out = {0};
    for (const char *at = text; *at; at++) {
        if (*at == '%')
            ft_strbuf_puts(&out, name_for(n, *++at));
        else
            ft_strbuf_add(&out, at, 1);
    }
    return ft_strbuf_take(&out);
}

static void keep(const errand *e, const json_t *answer, names *n, char job[FT_TORTURE_JOB])
{
    const json_t *from = answer;
    if (!e->keep) return;
    if (*e->keep) from = json_array_get(json_object_get(answer, e->keep), 0);
    const char *text = json_string_value(json_object_get(from, e->member));
    if (!text) return;
    if (e->as == 'R') snprintf(n->review, sizeof n->review, "%s", text);
    if (e->as == 'D') snprintf(n->delivery, sizeof n->delivery, "%s", text);
    if (e->as == 'J') snprintf(job, FT_TORTURE_JOB, "%s", text);
}

/* Refused is in order where it depends on what the server has done by then (404, 409). */
static bool run(ft_torture *t, const errand *errands, size_t count, names n)
{
    char job[FT_TORTURE_JOB] = "";
    for (size_t i = 0; i < count; i++) {
        const errand *e = &errands[i];
        char *path = filled(e->path, &n), *body = e->body ? filled(e->body, &n) : NULL;
        json_t *answer = NULL;
        long status = ft_torture_call(t, e->method, path, NULL, body, PATIENCE, &answer);
        if (status >= 400 && status != 404 && status != 409)
            FT_WRONG(t, "%s %s: %ld", e->method, path, status);
        keep(e, answer, &n, job);
        if (*job) n.job = job;
        json_decref(answer);
        free(body);
        free(path);
        if (status == 0) return false;
    }
    return true;
}

bool ft_errands_begin(ft_torture *torture)
{
    return run(torture, BEGIN, sizeof BEGIN / sizeof *BEGIN, (names){.trace = ""});
}

bool ft_errands_end(ft_torture *torture, const char *trace, const char *job)
{
    return run(torture, END, sizeof END / sizeof *END,
               (names){.trace = trace, .job = job, .review = "none", .delivery = "none"});
}

/* ---- A hard subproblem ----------------------------------------------------------------------- */

/* Two threads that add to each other's variable: i := i + j and j := j + i, so often each. */
#define SUMS 6
#define MOST 512 /* more than any sum: 377, the fourteenth Fibonacci number */

static void reach(bool reached[MOST], int first, int second, int i, int j)
{
    if (first == SUMS && second == SUMS) reached[i] = true;
    if (first < SUMS) reach(reached, first + 1, second, i + j, j);
    if (second < SUMS) reach(reached, first, second + 1, i, i + j);
}

char *ft_errands_hard_trace(void)
{
    bool reached[MOST] = {false};
    int never = 160; /* among the sums, and not one of them */
    reach(reached, 0, 0, 1, 1);
    while (reached[never]) never++;
    ft_strbuf out = {0};
    ft_strbuf_puts(&out, "{\"format\":\"foretell\",\"version\":1,\"threads\":[\"M\",\"T1\",\"T2\"],"
                         "\"variables\":{\"i\":1,\"j\":1},\"locals\":{}}\n");
    for (int t = 1; t <= 2; t++)
        ft_strbuf_printf(&out, "{\"thread\":\"M\",\"kind\":\"fork\",\"child\":\"T%d\"}\n", t);
    for (int n = 0; n < 2 * SUMS; n++)
        ft_strbuf_printf(&out,
                         "{\"thread\":\"T%d\",\"kind\":\"assign\",\"set\":{\"%s\":\"(+ i j)\"}}\n",
                         n < SUMS ? 1 : 2, n < SUMS ? "i" : "j");
    for (int t = 1; t <= 2; t++)
        ft_strbuf_printf(&out, "{\"thread\":\"M\",\"kind\":\"join\",\"child\":\"T%d\"}\n", t);
    ft_strbuf_printf(&out, "{\"thread\":\"M\",\"kind\":\"assert\",\"term\":\"(not (= i %d))\"}\n",
                     never);
    return ft_strbuf_take(&out);
}

static int worker_at(const json_t *document, const char *job)
{
    size_t i;
    const json_t *worker;
    json_array_foreach(json_object_get(document, "workers"), i, worker)
    {
        const char *its = json_string_value(json_object_get(worker, "job"));
        if (its && strcmp(its, job) == 0)
            return (int)json_integer_value(json_object_get(worker, "pid"));
    }
    return 0;
}

static bool has_ended(ft_torture *torture, const char *job, long *status)
{
    char path[64];
    json_t *snapshot = NULL;
    snprintf(path, sizeof path, "/v1/jobs/%s", job);
    *status = ft_torture_call(torture, "GET", path, NULL, NULL, PATIENCE, &snapshot);
    bool ended = json_is_string(json_object_get(snapshot, "finished"));
    json_decref(snapshot);
    return ended;
}

bool ft_errands_kill_worker(ft_torture *torture, const char *job)
{
    long status = 200;
    while (status == 200 && !has_ended(torture, job, &status)) {
        json_t *document = NULL;
        status = ft_torture_call(torture, "GET", "/v1/workers", NULL, NULL, PATIENCE, &document);
        int pid = worker_at(document, job);
        json_decref(document);
        if (pid > 0) {
            (void)kill(pid, SIGKILL); /* it may have ended meanwhile: our child's child */
            return true;
        }
        (void)poll(NULL, 0, 2);
    }
    return status == 200;
}
