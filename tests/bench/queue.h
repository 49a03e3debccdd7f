/* What the parts of the queue's benchmark share. */
#ifndef FT_BENCH_QUEUE_H
#define FT_BENCH_QUEUE_H

#include <jansson.h>

#define QUEUE_WORKER_ENVIRONMENT "FT_QUEUE_WORKER" /* microseconds of a task */

extern const char QUEUE_TRACE[];

double queue_seconds(void); /* wall time */
void queue_folder(char folder[64]);
void queue_remove(const char *folder);
void queue_fail(const char *what) __attribute__((noreturn));

json_t *queue_key(unsigned task);   /* of a subproblem; new reference */
json_t *queue_plan(unsigned tasks); /* PLAN of docs/records.md; new reference */
json_t *queue_record(json_t *key);  /* RECORD; steals key; new reference */

int queue_claim(unsigned tasks); /* prints; the exit code */
/* Beside a PostgreSQL (tests/postgres/with). */
int queue_claim_postgres(unsigned tasks);
int queue_long_postgres(unsigned tasks);
/* A schema of its own there: its address. */
void queue_postgres_schema(int number, char *address, size_t size);
/* Seconds of the bare loop over the only job there. */
double queue_bare_postgres(const char *address, unsigned tasks);
int queue_claim_once(unsigned tasks);
int queue_drain(unsigned jobs, unsigned tasks, unsigned task_us);
int queue_real(unsigned jobs, unsigned rounds);
int queue_file(unsigned jobs, const char *path);
int queue_worker_main(void);

#endif
