/* A small multithreaded machine: programs are C functions, one a thread, whose statements go
 * through this interface. They run under a deterministic scheduler, and every statement is an event
 * of the trace that comes out: the observed, passing run.
 *
 * The threads are real ones that hand one baton around, so a program's control flow is C's own; the
 * state needs no locks. Values are 64-bit integers. A program that deadlocks or fails an assertion
 * in its run ends the process with a message: it is a mistake in the program here. */
#ifndef FT_BENCH_SIM_H
#define FT_BENCH_SIM_H

#include "trace/trace.h"

typedef struct ft_sim ft_sim;
/* The body of a thread. context: the program's own; number: given at the fork. */
typedef void (*ft_sim_body)(ft_sim *sim, void *context, uint32_t number);

/* file: the name in the locations of events. quantum: statements before another thread that can run
 * is preferred, 0: each runs until it blocks or ends. Locals exist in every thread, 0 at first. */
ft_sim *ft_sim_new(const char *file, uint32_t quantum);
ft_symbol ft_sim_shared(ft_sim *sim, const char *name, uint32_t number, int64_t initial);
ft_symbol ft_sim_local(ft_sim *sim, const char *name);
uint32_t ft_sim_mutex(ft_sim *sim, const char *name, uint32_t number);
uint32_t ft_sim_semaphore(ft_sim *sim, const char *name, uint32_t number, uint32_t count);
uint32_t ft_sim_condition(ft_sim *sim, const char *name, uint32_t number);
uint32_t ft_sim_barrier(ft_sim *sim, const char *name, uint32_t number, uint32_t count);

/* Runs `body` as the main thread until all threads have ended; frees the machine. The trace is
 * unbroken, after ft_observe_run; free it. */
ft_trace *ft_sim_run(ft_sim *sim, ft_sim_body body, void *context);

/* ---- statements, each an event at `line` -------------------------------------------------------
 */
void ft_sim_set(ft_sim *sim, uint32_t line, ft_symbol target, ft_term term);
/* Branches on the condition: an assume of it, or of its negation. */
bool ft_sim_if(ft_sim *sim, uint32_t line, ft_term condition);
void ft_sim_assert(ft_sim *sim, uint32_t line, ft_term condition);
/* Bare accesses with their values, where the computation does not matter. */
int64_t ft_sim_read(ft_sim *sim, uint32_t line, ft_symbol shared);
void ft_sim_write(ft_sim *sim, uint32_t line, ft_symbol shared, int64_t value);
void ft_sim_lock(ft_sim *sim, uint32_t line, uint32_t mutex);
void ft_sim_unlock(ft_sim *sim, uint32_t line, uint32_t mutex);
void ft_sim_down(ft_sim *sim, uint32_t line, uint32_t semaphore);
void ft_sim_up(ft_sim *sim, uint32_t line, uint32_t semaphore);
/* A condition variable wakes the longest waiter first. Waiting gives the mutex back and takes it
 * again. */
void ft_sim_wait(ft_sim *sim, uint32_t line, uint32_t condition, uint32_t mutex);
void ft_sim_signal(ft_sim *sim, uint32_t line, uint32_t condition);
void ft_sim_broadcast(ft_sim *sim, uint32_t line, uint32_t condition);
void ft_sim_pass(ft_sim *sim, uint32_t line, uint32_t barrier); /* arrive, and leave with all */
uint32_t ft_sim_fork(ft_sim *sim, uint32_t line, ft_sim_body body, uint32_t number); /* thread */
void ft_sim_join(ft_sim *sim, uint32_t line, uint32_t thread);
/* Waits for the thread's end without an event: a sleep that was long enough in this run. */
void ft_sim_await(ft_sim *sim, uint32_t thread);
void ft_sim_rest(ft_sim *sim); /* a sleep: the others that can run have a turn first */
void ft_sim_begin(ft_sim *sim, uint32_t line); /* of a transaction */
void ft_sim_end(ft_sim *sim, uint32_t line);

/* ---- terms ---- */
ft_term ft_sim_number(ft_sim *sim, int64_t value);
ft_term ft_sim_symbol(ft_sim *sim, ft_symbol symbol);
ft_term ft_sim_apply(ft_sim *sim, ft_op op, ft_term a, ft_term b); /* b: FT_NO_TERM for unary */
/* What a local of the running thread holds: for indices that the C code computes. */
int64_t ft_sim_value(const ft_sim *sim, ft_symbol local);

/* Shorthands for the programs, which all call their machine `sim`. */
#define SET(target, term)  ft_sim_set(sim, __LINE__, target, term)
#define IF(condition)      ft_sim_if(sim, __LINE__, condition)
#define ASSERT(condition)  ft_sim_assert(sim, __LINE__, condition)
#define READ(x)            ft_sim_read(sim, __LINE__, x)
#define WRITE(x, value)    ft_sim_write(sim, __LINE__, x, value)
#define LOCK(mutex)        ft_sim_lock(sim, __LINE__, mutex)
#define UNLOCK(mutex)      ft_sim_unlock(sim, __LINE__, mutex)
#define DOWN(semaphore)    ft_sim_down(sim, __LINE__, semaphore)
#define UP(semaphore)      ft_sim_up(sim, __LINE__, semaphore)
#define WAIT(cond, mutex)  ft_sim_wait(sim, __LINE__, cond, mutex)
#define SIGNAL(cond)       ft_sim_signal(sim, __LINE__, cond)
#define BROADCAST(cond)    ft_sim_broadcast(sim, __LINE__, cond)
#define PASS(barrier)      ft_sim_pass(sim, __LINE__, barrier)
#define FORK(body, number) ft_sim_fork(sim, __LINE__, body, number)
#define JOIN(thread)       ft_sim_join(sim, __LINE__, thread)
#define TX_BEGIN()         ft_sim_begin(sim, __LINE__)
#define TX_END()           ft_sim_end(sim, __LINE__)
#define N(value)           ft_sim_number(sim, value)
#define V(symbol)          ft_sim_symbol(sim, symbol)
#define ADD(a, b)          ft_sim_apply(sim, FT_OP_ADD, a, b)
#define SUB(a, b)          ft_sim_apply(sim, FT_OP_SUB, a, b)
#define MUL(a, b)          ft_sim_apply(sim, FT_OP_MUL, a, b)
#define EQ(a, b)           ft_sim_apply(sim, FT_OP_EQ, a, b)
#define LT(a, b)           ft_sim_apply(sim, FT_OP_LT, a, b)
#define LE(a, b)           ft_sim_apply(sim, FT_OP_LE, a, b)
#define AND(a, b)          ft_sim_apply(sim, FT_OP_AND, a, b)
#define NOT(a)             ft_sim_apply(sim, FT_OP_NOT, a, FT_NO_TERM)

#endif
