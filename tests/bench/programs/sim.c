#include "bench/programs/sim.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verdict/checker.h"

typedef struct sim_thread {
    ft_sim *sim;
    pthread_t handle;
    sem_t turn;
    uint32_t id, number; /* id in the trace */
    ft_sim_body body;
    FT_VEC(int64_t) locals;
    bool ended;
    /* what it waits for; all FT_NO_EVENT: it can run */
    uint32_t mutex, semaphore, child, barrier, round, condition;
    uint64_t since; /* number of its wait */
} sim_thread;

typedef struct sim_barrier {
    uint32_t count, arrived, round;
} sim_barrier;

struct ft_sim {
    ft_builder *builder;
    char file[32];
    uint32_t quantum, spent;
    void *context;
    FT_VEC(sim_thread *) threads;
    uint32_t running; /* index in threads */
    FT_VEC(int64_t) shared;
    FT_VEC(uint32_t) owner; /* by mutex: thread + 1, 0: free */
    FT_VEC(uint32_t) count; /* by semaphore */
    uint64_t waits;         /* of conditions, so far */
    FT_VEC(sim_barrier) barriers;
    uint32_t n_locals;
    sem_t all_ended;
};

static void fail(const ft_sim *sim, uint32_t line, const char *what)
{
    fprintf(stderr, "%s:%u: %s\n", sim->file, line, what);
    exit(2);
}

static sim_thread *self(const ft_sim *sim)
{
    return sim->threads.data[sim->running];
}

/* ---- the scheduler ---- */

static void be_ready(sim_thread *t)
{
    t->mutex = t->semaphore = t->child = t->barrier = t->condition = FT_NO_EVENT;
}

static bool can_run(const ft_sim *sim, const sim_thread *t)
{
    if (t->ended) return false;
    if (t->mutex != FT_NO_EVENT) return sim->owner.data[t->mutex] == 0;
    if (t->semaphore != FT_NO_EVENT) return sim->count.data[t->semaphore] > 0;
    if (t->child != FT_NO_EVENT) return sim->threads.data[t->child]->ended;
    if (t->barrier != FT_NO_EVENT) return sim->barriers.data[t->barrier].round != t->round;
    return t->condition == FT_NO_EVENT;
}

/* The next thread after the running one that can run; the running one comes last. */
static bool choose(ft_sim *sim)
{
    uint32_t n = (uint32_t)sim->threads.len;
    for (uint32_t i = 1; i <= n; i++) {
        uint32_t at = (sim->running + i) % n;
        if (!can_run(sim, sim->threads.data[at])) continue;
        sim->running = at;
        sim->spent = 0;
        return true;
    }
    return false;
}

/* Hands the baton on and waits for it. */
static void yield(ft_sim *sim, uint32_t line)
{
    sim_thread *me = self(sim);
    if (!choose(sim)) fail(sim, line, "deadlock");
    if (self(sim) == me) return;
    sem_post(&self(sim)->turn);
    while (sem_wait(&me->turn) != 0) continue;
}

/* Before a statement: the thread may lose its turn, then waits until it can go on. */
static void schedule(ft_sim *sim, uint32_t line)
{
    sim_thread *me = self(sim);
    if ((sim->quantum && sim->spent >= sim->quantum) || !can_run(sim, me)) yield(sim, line);
    be_ready(me);
    sim->spent++;
}

static void *thread_main(void *argument)
{
    sim_thread *t = argument;
    ft_sim *sim = t->sim;
    while (sem_wait(&t->turn) != 0) continue;
    t->body(sim, sim->context, t->number);
    t->ended = true;
    if (choose(sim)) {
        sem_post(&self(sim)->turn);
    } else {
        for (uint32_t i = 0; i < sim->threads.len; i++)
            if (!sim->threads.data[i]->ended) fail(sim, 0, "deadlock at the end of a thread");
        sem_post(&sim->all_ended);
    }
    return NULL;
}

static uint32_t start(ft_sim *sim, const char *prefix, ft_sim_body body, uint32_t number)
{
    char name[32];
    int length = number ? snprintf(name, sizeof name, "%s%u", prefix, number)
                        : snprintf(name, sizeof name, "%s", prefix);
    sim_thread *t = ft_calloc(1, sizeof *t);
    t->sim = sim;
    t->body = body;
    t->number = number;
    be_ready(t);
    t->id = ft_builder_thread(sim->builder, name, (size_t)length);
    for (uint32_t i = 0; i < sim->n_locals; i++) ft_vec_push(&t->locals, (int64_t)0);
    ft_vec_push(&sim->threads, t);
    if (t->id != sim->threads.len - 1) fail(sim, 0, "two threads of one name");
    if (sem_init(&t->turn, 0, 0) != 0 || pthread_create(&t->handle, NULL, thread_main, t) != 0)
        fail(sim, 0, "no more threads");
    return t->id;
}

/* ---- declarations ---- */

static size_t name_of(char out[32], const char *name, uint32_t number)
{
    return (size_t)(number == FT_NO_EVENT ? snprintf(out, 32, "%s", name)
                                          : snprintf(out, 32, "%s%u", name, number));
}

ft_sim *ft_sim_new(const char *file, uint32_t quantum)
{
    ft_sim *sim = ft_calloc(1, sizeof *sim);
    sim->builder = ft_builder_new(FT_FORMAT_NDJSON);
    sim->quantum = quantum;
    snprintf(sim->file, sizeof sim->file, "%s", file);
    if (sem_init(&sim->all_ended, 0, 0) != 0) fail(sim, 0, "no semaphore");
    return sim;
}

static uint32_t value_id(ft_sim *sim, int64_t value)
{
    return ft_builder_value(sim->builder, (ft_value){FT_INT_SORT, (uint64_t)value});
}

ft_symbol ft_sim_shared(ft_sim *sim, const char *name, uint32_t number, int64_t initial)
{
    char text[32];
    size_t length = name_of(text, name, number);
    uint32_t v = ft_builder_shared(sim->builder, text, length, FT_INT_SORT);
    ft_builder_shared_initial(sim->builder, v, value_id(sim, initial));
    ft_vec_push(&sim->shared, initial);
    return FT_SYM_SHARED(v);
}

ft_symbol ft_sim_local(ft_sim *sim, const char *name)
{
    char text[32];
    uint32_t v =
        ft_builder_local(sim->builder, text, name_of(text, name, FT_NO_EVENT), FT_INT_SORT);
    ft_builder_local_initial(sim->builder, v, value_id(sim, 0));
    sim->n_locals = v + 1;
    return FT_SYM_LOCAL(v);
}

uint32_t ft_sim_mutex(ft_sim *sim, const char *name, uint32_t number)
{
    char text[32];
    size_t length = name_of(text, name, number);
    ft_vec_push(&sim->owner, 0u);
    return ft_builder_lock(sim->builder, text, length, FT_LOCK_MUTEX);
}

uint32_t ft_sim_semaphore(ft_sim *sim, const char *name, uint32_t number, uint32_t count)
{
    char text[32];
    size_t length = name_of(text, name, number);
    uint32_t semaphore = ft_builder_semaphore(sim->builder, text, length, count);
    if (semaphore == sim->count.len) ft_vec_push(&sim->count, count);
    return semaphore;
}

uint32_t ft_sim_condition(ft_sim *sim, const char *name, uint32_t number)
{
    char text[32];
    size_t length = name_of(text, name, number);
    return ft_builder_condition(sim->builder, text, length);
}

uint32_t ft_sim_barrier(ft_sim *sim, const char *name, uint32_t number, uint32_t count)
{
    char text[32];
    size_t length = name_of(text, name, number);
    ft_vec_push(&sim->barriers, (sim_barrier){.count = count});
    return ft_builder_barrier(sim->builder, text, length, count);
}

/* ---- values ---- */

static bool look_up(void *context, ft_symbol symbol, ft_value *value)
{
    const ft_sim *sim = context;
    uint32_t i = FT_SYM_INDEX(symbol);
    int64_t number = FT_SYM_IS_LOCAL(symbol) ? self(sim)->locals.data[i] : sim->shared.data[i];
    *value = (ft_value){FT_INT_SORT, (uint64_t)number};
    return true;
}

static int64_t evaluate(ft_sim *sim, uint32_t line, ft_term term)
{
    ft_value value;
    if (ft_term_eval(ft_builder_terms(sim->builder), term, look_up, sim, &value) != FT_EVAL_OK)
        fail(sim, line, "a term without a value");
    return (int64_t)value.bits;
}

ft_term ft_sim_number(ft_sim *sim, int64_t value)
{
    return ft_term_literal(ft_builder_terms(sim->builder),
                           (ft_value){FT_INT_SORT, (uint64_t)value});
}

ft_term ft_sim_symbol(ft_sim *sim, ft_symbol symbol)
{
    return ft_term_symbol(ft_builder_terms(sim->builder), symbol, FT_INT_SORT);
}

ft_term ft_sim_apply(ft_sim *sim, ft_op op, ft_term a, ft_term b)
{
    ft_error err = FT_ERROR_INIT;
    ft_term children[2] = {a, b}, result = FT_NO_TERM;
    if (ft_term_apply(ft_builder_terms(sim->builder), op, children, b == FT_NO_TERM ? 1 : 2, NULL,
                      &result, &err) != FT_OK)
        fail(sim, 0, err.message);
    return result;
}

int64_t ft_sim_value(const ft_sim *sim, ft_symbol local)
{
    return self(sim)->locals.data[FT_SYM_INDEX(local)];
}

/* ---- statements ---- */

static uint32_t location(ft_sim *sim, uint32_t line)
{
    char text[48];
    int length = snprintf(text, sizeof text, "%s:%u", sim->file, line);
    return ft_builder_location(sim->builder, text, (size_t)length, NULL, 0);
}

static void emit(ft_sim *sim, uint32_t line, ft_event_kind kind, uint32_t object, uint32_t value,
                 uint8_t flags)
{
    ft_builder_event(sim->builder, kind, self(sim)->id, object, location(sim, line), value, flags);
}

void ft_sim_set(ft_sim *sim, uint32_t line, ft_symbol target, ft_term term)
{
    schedule(sim, line);
    ft_assignment assignment = {target, term};
    int64_t value = evaluate(sim, line, term);
    uint32_t i = FT_SYM_INDEX(target);
    if (FT_SYM_IS_LOCAL(target))
        self(sim)->locals.data[i] = value;
    else
        sim->shared.data[i] = value;
    ft_builder_action(sim->builder, FT_EVENT_ASSIGN, self(sim)->id, location(sim, line), FT_NO_TERM,
                      &assignment, 1, 0);
}

static void condition_event(ft_sim *sim, uint32_t line, ft_event_kind kind, ft_term term)
{
    ft_builder_action(sim->builder, kind, self(sim)->id, location(sim, line), term, NULL, 0, 0);
}

bool ft_sim_if(ft_sim *sim, uint32_t line, ft_term condition)
{
    schedule(sim, line);
    bool holds = evaluate(sim, line, condition) != 0;
    condition_event(sim, line, FT_EVENT_ASSUME, holds ? condition : NOT(condition));
    return holds;
}

void ft_sim_assert(ft_sim *sim, uint32_t line, ft_term condition)
{
    schedule(sim, line);
    if (evaluate(sim, line, condition) == 0) fail(sim, line, "an assertion fails in the run");
    condition_event(sim, line, FT_EVENT_ASSERT, condition);
}

int64_t ft_sim_read(ft_sim *sim, uint32_t line, ft_symbol shared)
{
    schedule(sim, line);
    int64_t value = sim->shared.data[shared];
    emit(sim, line, FT_EVENT_READ, shared, value_id(sim, value), 0);
    return value;
}

void ft_sim_write(ft_sim *sim, uint32_t line, ft_symbol shared, int64_t value)
{
    schedule(sim, line);
    sim->shared.data[shared] = value;
    emit(sim, line, FT_EVENT_WRITE, shared, value_id(sim, value), 0);
}

static void acquire(ft_sim *sim, uint32_t line, uint32_t mutex, uint8_t flags)
{
    self(sim)->mutex = mutex;
    schedule(sim, line);
    sim->owner.data[mutex] = self(sim)->id + 1;
    emit(sim, line, FT_EVENT_ACQUIRE, mutex, FT_NO_VALUE, flags);
}

static void release(ft_sim *sim, uint32_t line, uint32_t mutex, uint8_t flags)
{
    schedule(sim, line);
    if (sim->owner.data[mutex] != self(sim)->id + 1) fail(sim, line, "not the owner");
    sim->owner.data[mutex] = 0;
    emit(sim, line, FT_EVENT_RELEASE, mutex, FT_NO_VALUE, flags);
}

void ft_sim_lock(ft_sim *sim, uint32_t line, uint32_t mutex)
{
    acquire(sim, line, mutex, 0);
}

void ft_sim_unlock(ft_sim *sim, uint32_t line, uint32_t mutex)
{
    release(sim, line, mutex, 0);
}

void ft_sim_down(ft_sim *sim, uint32_t line, uint32_t semaphore)
{
    self(sim)->semaphore = semaphore;
    schedule(sim, line);
    sim->count.data[semaphore]--;
    emit(sim, line, FT_EVENT_WAIT, semaphore, FT_NO_VALUE, 0);
}

void ft_sim_up(ft_sim *sim, uint32_t line, uint32_t semaphore)
{
    schedule(sim, line);
    sim->count.data[semaphore]++;
    emit(sim, line, FT_EVENT_POST, semaphore, FT_NO_VALUE, 0);
}

void ft_sim_wait(ft_sim *sim, uint32_t line, uint32_t condition, uint32_t mutex)
{
    schedule(sim, line);
    emit(sim, line, FT_EVENT_COND_WAIT, condition, FT_NO_VALUE, 0);
    uint64_t number = sim->waits++;
    release(sim, line, mutex, FT_FLAG_CONDITION);
    self(sim)->condition = condition;
    self(sim)->since = number;
    schedule(sim, line);
    emit(sim, line, FT_EVENT_COND_WAKE, condition, FT_NO_VALUE, 0);
    acquire(sim, line, mutex, FT_FLAG_CONDITION);
}

/* The waiter of the longest standing, or NULL. */
static sim_thread *first_waiter(const ft_sim *sim, uint32_t condition)
{
    sim_thread *first = NULL;
    for (size_t i = 0; i < sim->threads.len; i++) {
        sim_thread *t = sim->threads.data[i];
        if (t->condition == condition && (!first || t->since < first->since)) first = t;
    }
    return first;
}

void ft_sim_signal(ft_sim *sim, uint32_t line, uint32_t condition)
{
    schedule(sim, line);
    sim_thread *woken = first_waiter(sim, condition);
    if (woken) be_ready(woken);
    emit(sim, line, FT_EVENT_SIGNAL, condition, FT_NO_VALUE, 0);
}

void ft_sim_broadcast(ft_sim *sim, uint32_t line, uint32_t condition)
{
    schedule(sim, line);
    for (sim_thread *woken; (woken = first_waiter(sim, condition)) != NULL;) be_ready(woken);
    emit(sim, line, FT_EVENT_BROADCAST, condition, FT_NO_VALUE, 0);
}

void ft_sim_pass(ft_sim *sim, uint32_t line, uint32_t barrier)
{
    schedule(sim, line);
    sim_barrier *b = &sim->barriers.data[barrier];
    emit(sim, line, FT_EVENT_BARRIER_ARRIVE, barrier, FT_NO_VALUE, 0);
    self(sim)->barrier = barrier;
    self(sim)->round = b->round;
    if (++b->arrived == b->count) {
        b->arrived = 0;
        b->round++;
    }
    schedule(sim, line);
    emit(sim, line, FT_EVENT_BARRIER_LEAVE, barrier, FT_NO_VALUE, 0);
}

uint32_t ft_sim_fork(ft_sim *sim, uint32_t line, ft_sim_body body, uint32_t number)
{
    schedule(sim, line);
    uint32_t child = start(sim, "T", body, number);
    emit(sim, line, FT_EVENT_FORK, child, FT_NO_VALUE, 0);
    return child;
}

void ft_sim_join(ft_sim *sim, uint32_t line, uint32_t thread)
{
    self(sim)->child = thread;
    schedule(sim, line);
    emit(sim, line, FT_EVENT_JOIN, thread, FT_NO_VALUE, 0);
}

void ft_sim_await(ft_sim *sim, uint32_t thread)
{
    self(sim)->child = thread;
    schedule(sim, 0);
}

void ft_sim_rest(ft_sim *sim)
{
    yield(sim, 0);
}

void ft_sim_begin(ft_sim *sim, uint32_t line)
{
    schedule(sim, line);
    emit(sim, line, FT_EVENT_TX_BEGIN, 0, FT_NO_VALUE, 0);
}

void ft_sim_end(ft_sim *sim, uint32_t line)
{
    schedule(sim, line);
    emit(sim, line, FT_EVENT_TX_END, 0, FT_NO_VALUE, 0);
}

/* ---- the run ---- */

static void sim_free(ft_sim *sim)
{
    for (size_t i = 0; i < sim->threads.len; i++) {
        sim_thread *t = sim->threads.data[i];
        sem_destroy(&t->turn);
        ft_vec_release(&t->locals);
        free(t);
    }
    sem_destroy(&sim->all_ended);
    ft_vec_release(&sim->threads);
    ft_vec_release(&sim->shared);
    ft_vec_release(&sim->owner);
    ft_vec_release(&sim->count);
    ft_vec_release(&sim->barriers);
    free(sim);
}

ft_trace *ft_sim_run(ft_sim *sim, ft_sim_body body, void *context)
{
    ft_trace *trace = NULL;
    ft_error err = FT_ERROR_INIT;
    sim->context = context;
    start(sim, "main", body, 0);
    sem_post(&self(sim)->turn);
    while (sem_wait(&sim->all_ended) != 0) continue;
    for (size_t i = 0; i < sim->threads.len; i++) pthread_join(sim->threads.data[i]->handle, NULL);
    if (ft_builder_finish(sim->builder, &trace, &err) != FT_OK) fail(sim, 0, err.message);
    ft_observe_run(trace);
    if (trace->broken != FT_NO_EVENT) fail(sim, 0, trace->broken_text);
    sim_free(sim);
    return trace;
}
