/* The queue: durable claim-and-complete beside a bare SQLite loop that writes the same rows, in one
 * run; and jobs queued and drained by workers, the server's processor time beside theirs. */
#include "bench/queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/strbuf.h"

const char QUEUE_TRACE[] = "00000000000000000000000000000000000000000000000000000000000000aa";

double queue_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void queue_folder(char folder[64])
{
    snprintf(folder, 64, "/tmp/foretell-queue-XXXXXX");
    if (!mkdtemp(folder)) queue_fail("cannot make a folder");
}

void queue_remove(const char *folder)
{
    ft_strbuf command = {0};
    ft_strbuf_printf(&command, "rm -rf '%s'", folder);
    if (system(command.text) != 0) fprintf(stderr, "%s is left behind\n", folder);
    ft_strbuf_release(&command);
}

void queue_fail(const char *what)
{
    fprintf(stderr, "queue: %s\n", what);
    exit(1);
}

json_t *queue_key(unsigned task)
{
    return json_sprintf("race|write-write|producer.c:%u|consumer.c:%u", task, task + 7);
}

json_t *queue_plan(unsigned tasks)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < tasks; i++)
        json_array_append_new(list, json_pack("{s:i, s:s, s:s, s:o, s:i}", "subproblem", (int)i,
                                              "check", "race", "kind", "write-write", "key",
                                              queue_key(i), "pairs", 3));
    return json_pack("{s:s, s:[], s:{s:i}, s:[], s:o}", "model", "ctp", "notes", "candidates",
                     "race", (int)tasks, "records", "subproblems", list);
}

/* As long as a safe record of the solver is. */
json_t *queue_record(json_t *key)
{
    return json_pack(
        "{s:s, s:s, s:s, s:i, s:i, s:s, s:s, s:n, s:s, s:o, s:s, s:s, s:s, s:[], s:{s:s, s:s, "
        "s:[s]}, s:{s:f, s:f, s:f, s:i, s:i, s:i, s:i}}",
        "check", "race", "kind", "write-write", "verdict", "safe", "count", 1, "pairs", 3, "model",
        "ctp", "memory", "sc", "bound", "scope", "trace", "key", key, "fingerprint",
        "0123456789abcdef", "object", "shared.counter", "message",
        "no race: producer.c writes shared.counter, consumer.c writes it", "accesses", "reason",
        "pass", "unsat", "text", "no feasible prefix reaches it (solver)", "deciders", "order",
        "stats", "total_ms", 1.75, "encode_ms", 0.5, "solve_ms", 1.25, "rounds", 2, "lemmas", 11,
        "sliced", 40, "events", 96);
}

int main(int argc, char **argv)
{
    unsigned long n[3] = {100000, 0, 0};
    for (int i = 2; i < argc && i < 5; i++) n[i - 2] = strtoul(argv[i], NULL, 10);
    if (getenv(QUEUE_WORKER_ENVIRONMENT)) return queue_worker_main();
    if (argc >= 2 && strcmp(argv[1], "claim") == 0) return queue_claim((unsigned)n[0]);
    if (argc >= 2 && strcmp(argv[1], "postgres") == 0) return queue_claim_postgres((unsigned)n[0]);
    if (argc >= 2 && strcmp(argv[1], "long") == 0) return queue_long_postgres((unsigned)n[0]);
    if (argc == 3 && strcmp(argv[1], "strace") == 0) return queue_claim_once((unsigned)n[0]);
    if (argc == 5 && strcmp(argv[1], "drain") == 0)
        return queue_drain((unsigned)n[0], (unsigned)n[1], (unsigned)n[2]);
    if (argc == 4 && strcmp(argv[1], "real") == 0)
        return queue_real((unsigned)n[0], (unsigned)n[1]);
    if (argc == 4 && strcmp(argv[1], "file") == 0) return queue_file((unsigned)n[0], argv[3]);
    fputs("usage: queue claim [TASKS] | queue postgres [TASKS] | queue long [TASKS] | queue strace "
          "TASKS |\n"
          "       queue drain JOBS TASKS MICROSECONDS |\n"
          "       queue real JOBS ROUNDS | queue file JOBS TRACE\n"
          "claim: claim-and-complete beside a bare loop; postgres: the same there, long: by tenths "
          "of a long queue;\n"
          "strace: the first alone;\n"
          "drain: jobs of so many tasks, each so much processor time of a worker;\n"
          "real: foretell-worker, jobs over one trace of so many rounds of eight events;\n"
          "file: the same over the trace in this file\n",
          stderr);
    return 2;
}
