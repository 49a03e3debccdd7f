/* Deaths of workers: the ways in which a request ends without an answer, and the consequences of
 * each for the task. */
#ifndef FT_DISPATCH_DEATH_H
#define FT_DISPATCH_DEATH_H

#include "base/status.h"
#include "verdict/names.h"

/* limit: number of deaths that poison a task; 0: the task is not blamed.
 * verdict, reason: of a poisoned task. status: of an upload on which workers died.
 * killed: a SIGKILL that the server did not send (an operator, the kernel short of memory). It says
 * little about the task, so its limit is high.
 *  symbol     name             limit  verdict  reason       status    what happened, for people */
#define FT_DEATH_TABLE(X)                                                                          \
    X(CRASHED, "crashed", 3, ERROR, WORKER_DIED, INTERNAL, "the worker crashed")                   \
    X(KILLED, "killed", 10, ERROR, WORKER_DIED, INTERNAL, "the worker was killed from outside")    \
    X(CALL, "refused-call", 2, ERROR, WORKER_DIED, INTERNAL,                                       \
      "the worker made a forbidden system call")                                                   \
    X(MEMORY, "out-of-memory", 2, UNKNOWN, BUDGET, LIMIT, "the worker ran out of memory")          \
    X(MALFORMED, "malformed", 3, ERROR, WORKER_DIED, INTERNAL, "the worker violated the protocol") \
    X(REFUSED, "refused", 3, ERROR, WORKER_DIED, INTERNAL, "the worker failed")                    \
    X(SILENT, "silent", 3, ERROR, WORKER_DIED, INTERNAL, "the worker was silent for too long")     \
    X(TIMEOUT, "timeout", 1, UNKNOWN, BUDGET, BUDGET, "the time limit was reached")                \
    X(STOPPED, "stopped", 0, ERROR, WORKER_DIED, IO, "the worker was stopped")

typedef enum ft_death {
#define FT_ROW(symbol, name, limit, verdict, reason, status, text) FT_DEATH_##symbol,
    FT_DEATH_TABLE(FT_ROW)
#undef FT_ROW
        FT_DEATHS
} ft_death;

typedef struct ft_death_row {
    const char *name;
    unsigned limit;
    ft_verdict verdict;
    ft_reason reason;
    ft_status status;
    const char *text;
} ft_death_row;

const ft_death_row *ft_death_of(ft_death death);

#endif
