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
        .input_at = -1,
        .run = {.grade = FT_EXPLORING_REWIND, .max_steps = 10000, .races = 1, .polls = 3}};
}

static ft_status come_up(ft_native *n, ft_error *err)
{
    ft_status status = ft_native_share(n, err);
    if (status == FT_OK) status = ft_native_start(n, err);
    if (status != FT_OK) return status;
    const ft_exploring_slot *s = ft_exploring_slot_at(n->shared, 0);
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
    n->n_slots = options->workers * ft_native_slots_each(&options->run);
    n->slots = ft_calloc(n->n_slots, sizeof *n->slots);
    n->servers = ft_calloc(options->workers, sizeof *n->servers);
    ft_status status = come_up(n, err);
    *native = NULL;
    if (status == FT_OK || (n->shared && n->shared->asks_input))
        *native = n;
    else
        ft_native_close(n);
    return status;
}

bool ft_native_asks_input(const ft_native *native)
{
    return native && native->shared->asks_input;
}

const ft_raw_unset *ft_native_unset_inputs(const ft_native *native)
{
    return native->shared->unset;
}

void ft_native_close(ft_native *n)
{
    if (!n) return;
    ft_native_leave_processor(n);
    if (!n->has_died) ft_native_end(n->child);
    for (uint32_t i = 0; i < n->n_slots; i++) ft_native_end(n->slots[i].child);
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
    free(n->servers);
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

/* ---- tasks */

static void step_up(uint32_t *word, const uint32_t *sleeps)
{
    __atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(sleeps, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* The server makes the runs that it was given. */
static void wake(ft_native *n, uint32_t server)
{
    ft_exploring_server *v = ft_exploring_server_at(n->shared, server);
    if (!n->servers[server].given) return;
    n->servers[server].given = 0;
    step_up(&v->wanted, &v->sleeps);
}

/* A worker is one processor: its thread of the search and its server take turns, and the server is
 * woken when the thread has nothing else to do. Where one thread serves all workers, servers go on
 * beside it. */
static bool goes_on_beside(const ft_native *n)
{
    return n->options.workers > 1 && !__atomic_load_n(&n->by_threads, __ATOMIC_RELAXED);
}

static ft_status start(void *context, uint32_t slot, const ft_x_task *task, ft_error *err)
{
    ft_native *n = context;
    ft_exploring_slot *s = ft_exploring_slot_at(n->shared, slot);
    ft_native_slot *own = &n->slots[slot];
    uint32_t server = slot % n->options.workers;
    FT_REQUIRE(slot < n->n_slots && !own->busy);
    if (task->n > n->options.run.max_steps)
        return ft_error_set(err, FT_INTERNAL, "a prefix of %zu steps", task->n);
    ft_native_task(n, slot, task);
    *own = (ft_native_slot){.busy = true};
    if (n->shared->grade == FT_EXPLORING_ANEW) return ft_native_start_anew(n, slot, err);
    __atomic_store_n(&s->state, FT_EXPLORING_WANTED, __ATOMIC_SEQ_CST);
    uint32_t half = n->n_slots / n->options.workers / 2;
    if (++n->servers[server].given > half && goes_on_beside(n)) wake(n, server);
    return FT_OK;
}

/* In so much time the runs that a server has are over. */
static uint32_t room(void *context, uint32_t first, uint32_t step)
{
    enum { NS = 1000000 };
    ft_native *n = context;
    uint32_t each = n->n_slots / n->options.workers, all = 0;
    bool anew = n->shared->grade == FT_EXPLORING_ANEW;
    for (uint32_t i = 0; i < n->options.workers; i++) {
        if (step > 1 && i != first) continue;
        uint32_t pace =
            __atomic_load_n(&ft_exploring_server_at(n->shared, i)->pace_ns, __ATOMIC_RELAXED);
        uint32_t most = pace && !anew ? NS / pace : 1;
        all += most < 1 ? 1 : most > each ? each : most;
    }
    return all;
}

/* ---- runs that hang */

static ft_exploring_state state_of(const ft_native *n, uint32_t slot)
{
    return __atomic_load_n(&ft_exploring_slot_at(n->shared, slot)->state, __ATOMIC_ACQUIRE);
}

/* A run without a step for too long: its process is ended. */
static void look_after(ft_native *n, uint32_t slot)
{
    struct timespec now;
    ft_native_slot *own = &n->slots[slot];
    const ft_exploring_slot *s = ft_exploring_slot_at(n->shared, slot);
    ft_exploring_server *v = ft_exploring_server_at(n->shared, slot % n->options.workers);
    uint32_t steps = __atomic_load_n(&s->n_steps, __ATOMIC_ACQUIRE);
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (steps != own->steps || !own->since.tv_sec) {
        own->steps = steps;
        own->since = now;
    }
    pid_t pid = own->child ? own->child : (pid_t)__atomic_load_n(&v->pid, __ATOMIC_ACQUIRE);
    if (!n->options.seconds || now.tv_sec - own->since.tv_sec <= n->options.seconds || !pid) return;
    own->hangs = !__atomic_load_n(&s->is_complete, __ATOMIC_ACQUIRE);
    __atomic_store_n(&v->doomed, 1, __ATOMIC_RELEASE);
    kill(pid, SIGKILL);
}

static bool is_over(const ft_native *n, uint32_t slot)
{
    return n->slots[slot].busy && state_of(n, slot) == FT_EXPLORING_OVER;
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

/* Until *word is another one; false: it is not for a while. */
static bool await_word(const uint32_t *word, uint32_t was, uint32_t *sleeps)
{
    const struct timespec look = {.tv_nsec = 200000000};
    bool slept = false;
    __atomic_store_n(sleeps, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(word, __ATOMIC_SEQ_CST) == was)
        slept = syscall(SYS_futex, word, FUTEX_WAIT, was, &look, NULL, 0) && errno == ETIMEDOUT;
    __atomic_store_n(sleeps, 0, __ATOMIC_RELAXED);
    return !slept;
}

/* The server's slot with a task in that state; n_slots: none. */
static uint32_t find(const ft_native *n, uint32_t server, ft_exploring_state state)
{
    uint32_t i = server;
    while (i < n->n_slots && !(n->slots[i].busy && state_of(n, i) == state))
        i += n->options.workers;
    return i < n->n_slots ? i : n->n_slots;
}

/* The run at hand, or a task that is not taken. */
static void look_after_server(ft_native *n, uint32_t server)
{
    uint32_t at = find(n, server, FT_EXPLORING_RUNNING);
    if (at == n->n_slots) at = find(n, server, FT_EXPLORING_WANTED);
    for (uint32_t i = server; i < n->n_slots; i += n->options.workers)
        if (i != at) n->slots[i].since.tv_sec = 0;
    if (at < n->n_slots) look_after(n, at);
}

/* Nothing has ended in the slots for a while. */
static ft_status look_after_some(ft_native *n, uint32_t first, uint32_t step, ft_error *err)
{
    if (has_died(n))
        return ft_error_set(err, FT_INTERNAL, "the process that starts the runs has ended");
    for (uint32_t i = first; i < n->options.workers; i += step) look_after_server(n, i);
    return FT_OK;
}

/* ---- waiting */

ft_status ft_native_await(ft_native *n, uint32_t slot, ft_error *err)
{
    ft_exploring_header *h = n->shared;
    n->slots[slot] = (ft_native_slot){.busy = true, .child = n->slots[slot].child};
    for (;;) {
        uint32_t overs = __atomic_load_n(&h->overs, __ATOMIC_ACQUIRE);
        bool over = is_over(n, slot);
        ft_native_reap(n, slot);
        if (over) break;
        if (is_over(n, slot) || await_word(&h->overs, overs, &h->sleeps)) continue;
        ft_status status = look_after_some(n, 0, 1, err);
        if (status != FT_OK) return status;
    }
    n->slots[slot].busy = false;
    return FT_OK;
}

/* The first slot of the first, first + step, ... whose run is over; n_slots: none. */
static uint32_t find_over(ft_native *n, uint32_t first, uint32_t step)
{
    uint32_t i = first;
    for (; i < n->n_slots; i += step) {
        if (n->slots[i].child) ft_native_reap(n, i);
        if (is_over(n, i)) break;
    }
    return i < n->n_slots ? i : n->n_slots;
}

static ft_status collect(void *context, uint32_t slot, ft_x_run *run, ft_error *err)
{
    (void)err;
    ft_native *n = context;
    assert(is_over(n, slot));
    if (n->slots[slot].child) ft_native_reap(n, slot);
    ft_native_run(n, slot, run);
    n->slots[slot].busy = false;
    ft_native_sample_run(n, run);
    return FT_OK;
}

static ft_status finish(void *context, uint32_t *slot, ft_x_run *run, ft_error *err)
{
    ft_native *n = context;
    ft_exploring_header *h = n->shared;
    __atomic_store_n(&n->by_threads, false, __ATOMIC_RELAXED);
    if (n->options.workers == 1)
        ft_native_share_processor(n, 0);
    else
        ft_native_leave_processor(n);
    for (;;) {
        uint32_t overs = __atomic_load_n(&h->overs, __ATOMIC_ACQUIRE);
        *slot = find_over(n, 0, 1);
        if (*slot < n->n_slots) return collect(n, *slot, run, err);
        for (uint32_t i = 0; i < n->options.workers; i++) wake(n, i);
        if (await_word(&h->overs, overs, &h->sleeps)) continue;
        ft_status status = look_after_some(n, 0, 1, err);
        if (status != FT_OK) return status;
    }
}

/* By several threads, each with the slots of one server. */
static ft_status await(void *context, uint32_t first, uint32_t step, uint32_t *slot, ft_error *err)
{
    ft_native *n = context;
    ft_exploring_server *v = ft_exploring_server_at(n->shared, first);
    FT_REQUIRE(step == n->options.workers && first < step);
    __atomic_store_n(&n->by_threads, true, __ATOMIC_RELAXED);
    ft_native_share_processor(n, first);
    for (;;) {
        uint32_t over = __atomic_load_n(&v->over, __ATOMIC_ACQUIRE);
        *slot = find_over(n, first, step);
        if (*slot < n->n_slots) return FT_OK;
        wake(n, first);
        if (await_word(&v->over, over, &v->awaited)) continue;
        ft_status status = look_after_some(n, first, step, err);
        if (status != FT_OK) return status;
    }
}

ft_x_executor ft_native_executor(ft_native *n)
{
    bool alone = n->shared->grade == FT_EXPLORING_ANEW; /* its processes are reaped by one thread */
    return (ft_x_executor){.context = n,
                           .world = {.n_threads = 1, .first = &n->first, .watches = n->watches},
                           .width = alone ? n->options.workers : n->n_slots,
                           .start = start,
                           .finish = finish,
                           .room = room,
                           .threads = alone ? 1 : n->options.workers,
                           .await = await,
                           .collect = collect};
}
