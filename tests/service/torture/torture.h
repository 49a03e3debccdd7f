/* What kill points and chaos share: a foretelld with the shim in it, clients that take "no answer"
 * for an answer, verdicts to compare, and what must hold of the state folder after any crash.
 *
 * Checks count what is wrong with FT_WRONG, which tells it on standard error. */
#ifndef FT_TESTS_TORTURE_H
#define FT_TESTS_TORTURE_H

#include "base/digest.h"
#include "service/daemon.h"
#include "service/torture/shim.h"

#define FT_TORTURE_HASH (FT_DIGEST_HEX + 1)
#define FT_TORTURE_JOB  32

typedef struct ft_torture {
    ft_daemon daemon;
    ft_shim *shim; /* mapped, shared with every foretelld of the folder */
    char shim_file[96];
    unsigned wrong; /* things found */
} ft_torture;

/* A new state folder in `parent`. Ends the program when the machine does not let it. */
void ft_torture_open(ft_torture *torture, const char *parent, const char *const *options);
/* Kills the daemon; keeps the folder, and says where it is, if something was wrong. */
void ft_torture_close(ft_torture *torture);

/* Starts foretelld with the shim; false: it ended before it was ready. */
bool ft_torture_start(ft_torture *torture);
/* Waits for the end that was asked for, after which the daemon may be started again; whether it
 * ended with exit code 0. */
bool ft_torture_stop(ft_torture *torture);
bool ft_torture_runs(const ft_torture *torture); /* false: the process has ended */
/* Sees to it that it has ended, be it of itself, and that it said so in order: stopped, not
 * started, or out of memory (base/memory.h). */
#define FT_EXIT_NO_START 4
void ft_torture_end(ft_torture *torture);

#define FT_WRONG(torture, ...) ft_torture_wrong((torture), __func__, __VA_ARGS__)
void ft_torture_wrong(ft_torture *torture, const char *where, const char *format, ...)
    FT_PRINTF(3, 4);

/* One request, at most patience_ms: its status, 0 without an answer; *json (may be NULL) the body.
 */
long ft_torture_call(const ft_torture *torture, const char *method, const char *path,
                     const char *header, const char *body, long patience_ms, json_t **json);

/* {"state": STATE, "verdicts": {KEY: VERDICT}} of a job that has ended, waiting for its end. NULL:
 * there is no such job (any more), or no answer (*status tells). */
json_t *ft_torture_outcome(ft_torture *torture, const char *job, long patience_ms, long *status);
/* Whether the verdicts agree; `unknown` agrees with everything if tolerant. */
bool ft_torture_same(const json_t *calm, const json_t *verdicts, bool tolerant);

bool ft_torture_shared(void); /* the store is the database of tests/postgres/with */
/* What is stored becomes two days older; of a shared store, whose clock is the database's. */
void ft_torture_age(ft_torture *torture);

/* The database of a daemon that has stopped: sound (integrity and references), no leftovers, no
 * verdict twice, nothing open in a job that has ended; and no stray file beside it. */
void ft_torture_check_state(ft_torture *torture);

#endif
