#include "native/native.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/contract.h"
#include "native/inside.h"

ft_native_options ft_native_defaults(void)
{
    return (ft_native_options){
        .workers = 1,
        .seconds = 5,
        .run = {.grade = FT_EXPLORING_REWIND, .max_steps = 10000, .races = 1, .polls = 3}};
}

static ft_status come_up(ft_native *n, ft_error *err)
{
    ft_status status = ft_native_share(n, err);
    if (status == FT_OK) status = ft_native_start(n, err);
    if (status != FT_OK) return status;
    ft_exploring_slot *s = ft_exploring_slot_at(n->shared, 0);
    ft_vec_push(&n->threads, (ft_exploring_thread){0});
    if (n->shared->first.kind == FT_X_CREATE)
        ft_vec_push(&n->threads, (ft_exploring_thread){.parent = 0, .number = 1});
    n->first = ft_native_operation(n, s, &n->shared->first);
    if (n->shared->grade == FT_EXPLORING_ANEW) { /* it was there to look */
        ft_native_end(n->child);
        n->child = 0;
    }
    return FT_OK;
}

ft_status ft_native_open(const ft_native_options *options, ft_native **native, ft_error *err)
{
    FT_REQUIRE(options->workers > 0 && options->run.max_steps > 0 && options->argv[0]);
    ft_native *n = ft_calloc(1, sizeof *n);
    n->options = *options;
    n->fd = -1;
    n->watches = ft_x_watches_new();
    n->slots = ft_calloc(options->workers, sizeof *n->slots);
    ft_status status = come_up(n, err);
    if (status == FT_OK)
        *native = n;
    else
        ft_native_close(n);
    return status;
}

const ft_raw_unset *ft_native_unset_inputs(const ft_native *native)
{
    return native->shared->unset;
}

void ft_native_close(ft_native *n)
{
    if (!n) return;
    if (!n->has_died) ft_native_end(n->child);
    for (uint32_t i = 0; i < n->options.workers; i++) ft_native_end(n->slots[i].child);
    if (n->shared) munmap(n->shared, n->bytes);
    if (n->fd >= 0) close(n->fd);
    for (size_t i = 0; i < n->failures.len; i++) free((char *)(uintptr_t)n->failures.data[i].text);
    ft_vec_release(&n->threads);
    ft_vec_release(&n->objects);
    ft_vec_release(&n->numbers);
    ft_vec_release(&n->failures);
    ft_vec_release(&n->races);
    ft_vec_release(&n->run_races);
    ft_vec_release(&n->race_sets);
    ft_map_release(&n->by_race_set);
    ft_vec_release(&n->origins);
    ft_vec_release(&n->delays);
    ft_vec_release(&n->lingering);
    ft_x_watches_free(n->watches);
    for (size_t i = 0; i < n->outputs.len; i++) free(n->outputs.data[i].bytes);
    ft_vec_release(&n->outputs);
    ft_map_release(&n->by_output);
    ft_native_sample_release(n);
    ft_map_release(&n->by_name);
    ft_map_release(&n->by_race);
    free(n->slots);
    free(n);
}

ft_exploring_grade ft_native_grade(const ft_native *n, const char **why)
{
    if (why) *why = n->shared->why;
    return (ft_exploring_grade)n->shared->grade;
}

uint64_t ft_native_replaced(const ft_native *n, const char **why)
{
    if (why) *why = n->shared->rewinding.why;
    return __atomic_load_n(&n->shared->rewinding.spoilt, __ATOMIC_RELAXED);
}

/* ---- runs */

static ft_status start(void *context, uint32_t slot, const ft_x_task *task, ft_error *err)
{
    ft_native *n = context;
    ft_exploring_slot *s = ft_exploring_slot_at(n->shared, slot);
    ft_native_slot *own = &n->slots[slot];
    FT_REQUIRE(slot < n->options.workers && !own->busy);
    if (task->n > n->options.run.max_steps)
        return ft_error_set(err, FT_INTERNAL, "a prefix of %zu steps", task->n);
    ft_native_task(n, slot, task);
    *own = (ft_native_slot){.busy = true};
    clock_gettime(CLOCK_MONOTONIC, &own->since);
    if (n->shared->grade == FT_EXPLORING_ANEW) return ft_native_start_anew(n, slot, err);
    __atomic_store_n(&s->state, FT_EXPLORING_WANTED, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&s->sleeps, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, &s->state, FUTEX_WAKE, 1, NULL, NULL, 0);
    return FT_OK;
}

/* A run without a step for too long: its process is ended. */
static void look_after(ft_native *n, uint32_t slot)
{
    struct timespec now;
    ft_native_slot *own = &n->slots[slot];
    ft_exploring_slot *s = ft_exploring_slot_at(n->shared, slot);
    uint32_t steps = __atomic_load_n(&s->n_steps, __ATOMIC_ACQUIRE);
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (steps != own->steps) {
        own->steps = steps;
        own->since = now;
    }
    pid_t pid = (pid_t)__atomic_load_n(&s->pid, __ATOMIC_ACQUIRE);
    if (!n->options.seconds || now.tv_sec - own->since.tv_sec <= n->options.seconds || !pid) return;
    own->hangs = !__atomic_load_n(&s->is_complete, __ATOMIC_ACQUIRE);
    __atomic_store_n(&s->doomed, 1, __ATOMIC_RELEASE);
    kill(pid, SIGKILL);
}

static bool is_over(ft_native *n, uint32_t slot)
{
    ft_exploring_slot *s = ft_exploring_slot_at(n->shared, slot);
    return n->slots[slot].busy && __atomic_load_n(&s->state, __ATOMIC_ACQUIRE) == FT_EXPLORING_OVER;
}

/* Threads that wait for runs may ask at once. */
static bool has_died(ft_native *n)
{
    int status;
    if (!n->child || __atomic_load_n(&n->has_died, __ATOMIC_ACQUIRE)) return n->has_died;
    if (waitpid(n->child, &status, WNOHANG) == n->child)
        __atomic_store_n(&n->has_died, true, __ATOMIC_RELEASE);
    return __atomic_load_n(&n->has_died, __ATOMIC_ACQUIRE);
}

/* Until a run has ended since `overs` was read; false: none has for a while. */
static bool await_over(ft_native *n, uint32_t overs)
{
    const struct timespec look = {.tv_nsec = 200000000};
    ft_exploring_header *h = n->shared;
    bool slept = false;
    for (uint32_t i = h->options.spins; i; i--) {
        if (__atomic_load_n(&h->overs, __ATOMIC_ACQUIRE) != overs) return true;
        ft_exploring_pause();
    }
    __atomic_store_n(&h->sleeps, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&h->overs, __ATOMIC_SEQ_CST) == overs)
        slept =
            syscall(SYS_futex, &h->overs, FUTEX_WAIT, overs, &look, NULL, 0) && errno == ETIMEDOUT;
    __atomic_store_n(&h->sleeps, 0, __ATOMIC_RELAXED);
    return !slept;
}

/* Nothing has ended there for a while. */
static ft_status look_after_some(ft_native *n, uint32_t first, uint32_t many, ft_error *err)
{
    if (has_died(n))
        return ft_error_set(err, FT_INTERNAL, "the process that starts the runs has ended");
    for (uint32_t i = first; i < first + many; i++)
        if (n->slots[i].busy) look_after(n, i);
    return FT_OK;
}

static ft_status look_after_all(ft_native *n, ft_error *err)
{
    return look_after_some(n, 0, n->options.workers, err);
}

ft_status ft_native_await(ft_native *n, uint32_t slot, ft_error *err)
{
    n->slots[slot] = (ft_native_slot){.busy = true, .child = n->slots[slot].child};
    clock_gettime(CLOCK_MONOTONIC, &n->slots[slot].since);
    for (;;) {
        uint32_t overs = __atomic_load_n(&n->shared->overs, __ATOMIC_ACQUIRE);
        bool over = is_over(n, slot);
        ft_native_reap(n, slot);
        if (over) break;
        if (is_over(n, slot) || await_over(n, overs)) continue;
        ft_status status = look_after_all(n, err);
        if (status != FT_OK) return status;
    }
    n->slots[slot].busy = false;
    return FT_OK;
}

static ft_status finish(void *context, uint32_t *slot, ft_x_run *run, ft_error *err)
{
    ft_native *n = context;
    for (;;) {
        uint32_t overs = __atomic_load_n(&n->shared->overs, __ATOMIC_ACQUIRE);
        for (uint32_t i = 0; i < n->options.workers; i++) {
            if (n->slots[i].child) ft_native_reap(n, i);
            if (!is_over(n, i)) continue;
            if (n->slots[i].child) ft_native_reap(n, i);
            *slot = i;
            ft_native_run(n, i, run);
            n->slots[i].busy = false;
            ft_native_sample_run(n, run);
            return FT_OK;
        }
        if (await_over(n, overs)) continue;
        ft_status status = look_after_all(n, err);
        if (status != FT_OK) return status;
    }
}

/* ---- by several threads, each with one slot */

/* Until the slot's run is over; false: it is not for a while. */
static bool await_slot(ft_native *n, uint32_t slot)
{
    const struct timespec look = {.tv_nsec = 200000000};
    ft_exploring_slot *s = ft_exploring_slot_at(n->shared, slot);
    for (uint32_t i = n->shared->options.spins; i && !is_over(n, slot); i--) ft_exploring_pause();
    if (is_over(n, slot)) return true;
    __atomic_store_n(&s->awaited, 1, __ATOMIC_SEQ_CST);
    uint32_t state = __atomic_load_n(&s->state, __ATOMIC_SEQ_CST);
    if (state != FT_EXPLORING_OVER)
        syscall(SYS_futex, &s->state, FUTEX_WAIT, state, &look, NULL, 0);
    __atomic_store_n(&s->awaited, 0, __ATOMIC_RELAXED);
    return is_over(n, slot);
}

static ft_status await(void *context, uint32_t first, uint32_t many, uint32_t *slot, ft_error *err)
{
    ft_native *n = context;
    FT_REQUIRE(many == 1);
    for (struct timespec since, now = {0}; !await_slot(n, first);) {
        clock_gettime(CLOCK_MONOTONIC, &since);
        if (since.tv_sec == now.tv_sec) continue;
        now = since;
        ft_status status = look_after_some(n, first, many, err);
        if (status != FT_OK) return status;
    }
    *slot = first;
    return FT_OK;
}

static ft_status collect(void *context, uint32_t slot, ft_x_run *run, ft_error *err)
{
    (void)err;
    ft_native *n = context;
    assert(is_over(n, slot));
    ft_native_run(n, slot, run);
    n->slots[slot].busy = false;
    ft_native_sample_run(n, run);
    return FT_OK;
}

ft_x_executor ft_native_executor(ft_native *n)
{
    bool alone = n->shared->grade == FT_EXPLORING_ANEW; /* its processes are reaped by one thread */
    return (ft_x_executor){.context = n,
                           .world = {.n_threads = 1, .first = &n->first, .watches = n->watches},
                           .width = n->options.workers,
                           .start = start,
                           .finish = finish,
                           .threads = alone ? 1 : n->options.workers,
                           .await = await,
                           .collect = collect};
}
