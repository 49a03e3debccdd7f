/* Claim-and-complete on PostgreSQL: the store, and a bare loop of libpq that writes the same rows
 * with prepared statements in one transaction a batch. Beside a server (tests/postgres/with). */
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "bench/queue.h"

enum { BATCH = 32 };
#define TASK_OF_JOB ((int64_t)1 << 28)

static void require(PGconn *conn, PGresult *result, ExecStatusType status)
{
    if (PQresultStatus(result) != status) queue_fail(PQerrorMessage(conn));
    PQclear(result);
}

static void prepare(PGconn *conn, const char *name, const char *text)
{
    require(conn, PQprepare(conn, name, text, 0, NULL), PGRES_COMMAND_OK);
}

static void run(PGconn *conn, const char *name, int count, const long long *numbers,
                const char *text)
{
    char texts[4][24];
    const char *values[5];
    for (int i = 0; i < count; i++) {
        snprintf(texts[i], sizeof texts[i], "%lld", numbers[i]);
        values[i] = texts[i];
    }
    if (text) values[count++] = text;
    require(conn, PQexecPrepared(conn, name, count, values, NULL, NULL, 0), PGRES_COMMAND_OK);
}

static const struct {
    const char *name, *text;
} STATEMENTS[] = {
    {"begin", "BEGIN"},
    {"commit", "COMMIT"},
    {"lease", "INSERT INTO leases (token, job, low, high, open, expires) VALUES ($1, 1, $2, $3, "
              "32, 1)"},
    {"claim", "INSERT INTO tasks (id, state, token) VALUES ($1, 'leased', $2)"},
    {"done", "DELETE FROM tasks WHERE id = $1 AND token = $2"},
    {"over", "DELETE FROM leases WHERE token = $1"},
    {"verdict", "INSERT INTO verdicts (job, n, task, \"check\", verdict, count, pairs, record, "
                "created) VALUES (1, $1, $2, 'race', 'safe', 1, 3, $3, 1)"},
    {"job", "UPDATE jobs SET open = open - $1, verdicts = verdicts + $1, revision = revision + 1 "
            "WHERE n = 1"},
    {"leased", "UPDATE jobs SET ready = ready - $1, next = next + $1 WHERE n = 1"},
    {"tally", "INSERT INTO tallies (job, \"check\", verdict, count, solved, sliced, encoded, "
              "records) SELECT id, 'race', 'safe', $1, $1, $1, $1, $1 FROM jobs ON CONFLICT (job, "
              "\"check\", verdict) DO UPDATE SET count = tallies.count + $1, records = "
              "tallies.records + $1"},
};

static void finish(PGconn *conn, long long first, unsigned count, long long token,
                   const char *record)
{
    for (unsigned i = 0; i < count; i++) {
        run(conn, "done", 2, (long long[]){first + i, token}, NULL);
        run(conn, "verdict", 2, (long long[]){first + i - TASK_OF_JOB, first + i}, record);
    }
    if (count == 0) return;
    run(conn, "over", 1, &token, NULL);
    run(conn, "job", 1, (long long[]){count}, NULL);
    run(conn, "tally", 1, (long long[]){count}, NULL);
}

static void claim(PGconn *conn, long long first, unsigned count, long long token)
{
    for (unsigned i = 0; i < count; i++)
        run(conn, "claim", 2, (long long[]){first + i, token}, NULL);
    if (count == 0) return;
    run(conn, "lease", 3, (long long[]){token, first, first + count - 1}, NULL);
    run(conn, "leased", 1, (long long[]){count}, NULL);
}

void queue_postgres_schema(int number, char *address, size_t size)
{
    char text[64];
    const char *server = getenv("FT_TEST_POSTGRES");
    if (!server) queue_fail("run it with tests/postgres/with");
    PGconn *conn = PQconnectdb(server);
    snprintf(text, sizeof text, "CREATE SCHEMA queue_%d", number);
    require(conn, PQexec(conn, text), PGRES_COMMAND_OK);
    PQfinish(conn);
    snprintf(address, size, "%s&options=-csearch_path%%3Dqueue_%d", server, number);
}

double queue_bare_postgres(const char *address, unsigned tasks)
{
    PGconn *conn = PQconnectdb(address);
    unsigned claimed = 0, finished = 0;
    if (PQstatus(conn) != CONNECTION_OK) queue_fail(PQerrorMessage(conn));
    for (size_t i = 0; i < sizeof STATEMENTS / sizeof *STATEMENTS; i++)
        prepare(conn, STATEMENTS[i].name, STATEMENTS[i].text);
    json_t *its = queue_record(queue_key(0));
    char *record = json_dumps(its, JSON_COMPACT);
    double start = queue_seconds();
    while (finished < tasks) {
        unsigned had = claimed - finished, left = tasks - claimed;
        unsigned fresh = left < BATCH ? left : BATCH;
        run(conn, "begin", 0, NULL, NULL);
        finish(conn, TASK_OF_JOB + 1 + finished, had, finished, record);
        claim(conn, TASK_OF_JOB + 1 + claimed, fresh, claimed);
        run(conn, "commit", 0, NULL, NULL);
        finished = claimed;
        claimed += fresh;
    }
    double took = queue_seconds() - start;
    free(record);
    json_decref(its);
    PQfinish(conn);
    return took;
}
