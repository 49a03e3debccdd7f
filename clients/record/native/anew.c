/* Runs from the program's start: the grade that has no other way, and a check of the others. Such a
 * run is a process that the explorer starts and reaps. */
#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/contract.h"
#include "native/inside.h"

enum { LONGEST_MS = 500 };

void ft_native_reap(ft_native *n, uint32_t slot)
{
    ft_native_slot *own = &n->slots[slot];
    ft_exploring_slot *s = ft_exploring_slot_at(n->shared, slot);
    int status;
    bool over = __atomic_load_n(&s->state, __ATOMIC_ACQUIRE) == FT_EXPLORING_OVER;
    if (!own->child) return;
    if (waitpid(own->child, &status, over ? 0 : WNOHANG) != own->child) return;
    own->child = 0;
    if (__atomic_load_n(&s->state, __ATOMIC_ACQUIRE) == FT_EXPLORING_OVER) return;
    s->status = status;
    __atomic_store_n(&s->state, FT_EXPLORING_OVER, __ATOMIC_RELEASE);
}

/* Two processes do not come up at once: the file has room for one that does. */
ft_status ft_native_start_anew(ft_native *n, uint32_t slot, ft_error *err)
{
    const struct timespec look = {.tv_nsec = 20000000};
    ft_exploring_header *h = n->shared;
    ft_native_slot *own = &n->slots[slot];
    ft_exploring_slot *s = ft_exploring_slot_at(h, slot);
    FT_REQUIRE(!own->child);
    h->only_slot = slot + 1;
    h->ready = 0;
    __atomic_store_n(&h->taken, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&s->state, FT_EXPLORING_RUNNING, __ATOMIC_RELEASE);
    own->child = ft_native_launch(n);
    if (own->child < 0) {
        own->child = 0;
        return ft_error_set(err, FT_IO, "no process for %s: %s", n->options.argv[0],
                            strerror(errno));
    }
    while (own->child && !__atomic_load_n(&h->ready, __ATOMIC_ACQUIRE)) {
        syscall(SYS_futex, &h->ready, FUTEX_WAIT, 0, &look, NULL, 0);
        ft_native_reap(n, slot);
    }
    return FT_OK;
}

/* ---- the sample: each run so far is in it with the same chance */

static uint64_t draw(ft_native *n, uint64_t below)
{
    n->sample.random = n->sample.random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (n->sample.random >> 33) % below;
}

void ft_native_sample_run(ft_native *n, const ft_x_run *run)
{
    uint64_t place = n->sample.met;
    if (run->end != FT_X_DONE && run->end != FT_X_STUCK) return;
    n->sample.met++;
    if (place >= FT_NATIVE_SAMPLE) place = draw(n, n->sample.met);
    if (place >= FT_NATIVE_SAMPLE) return;
    ft_x_run *kept = &n->sample.runs[place];
    kept->steps.len = 0;
    for (size_t i = 0; i < run->steps.len; i++) ft_vec_push(&kept->steps, run->steps.data[i]);
    kept->end = run->end;
    kept->result = run->result;
}

void ft_native_sample_release(ft_native *n)
{
    for (size_t i = 0; i < FT_NATIVE_SAMPLE; i++) ft_x_run_release(&n->sample.runs[i]);
}

static bool same_action(const ft_x_action *a, const ft_x_action *b)
{
    return a->thread == b->thread && a->operation.kind == b->operation.kind &&
           a->operation.object == b->operation.object && a->variant == b->variant &&
           a->outcome == b->outcome;
}

static bool same_run(const ft_x_run *a, const ft_x_run *b)
{
    if (a->steps.len != b->steps.len || a->end != b->end || a->result != b->result) return false;
    for (size_t i = 0; i < a->steps.len; i++)
        if (!same_action(&a->steps.data[i], &b->steps.data[i])) return false;
    return true;
}

static ft_status run_again(ft_native *n, const ft_x_run *kept, ft_x_run *again, ft_error *err)
{
    ft_x_task task = {.n = kept->steps.len};
    ft_x_pick *prefix = ft_calloc(task.n + 1, sizeof *prefix);
    for (size_t i = 0; i < task.n; i++)
        prefix[i] = (ft_x_pick){kept->steps.data[i].thread, kept->steps.data[i].variant};
    task.prefix = prefix;
    ft_native_task(n, 0, &task);
    ft_status status = ft_native_start_anew(n, 0, err);
    if (status == FT_OK) status = ft_native_await(n, 0, err);
    if (status == FT_OK) ft_native_run(n, 0, again);
    if (again->result) n->failures.data[again->result - 1].runs--; /* it was counted before */
    free(prefix);
    return status;
}

static int64_t now_ms(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (int64_t)at.tv_sec * 1000 + at.tv_nsec / 1000000;
}

ft_status ft_native_check(ft_native *n, uint32_t *checked, uint32_t *differing, ft_error *err)
{
    ft_status status = FT_OK;
    int64_t end = now_ms() + LONGEST_MS;
    *checked = *differing = 0;
    for (size_t i = 0; i < FT_NATIVE_SAMPLE && i < n->sample.met && status == FT_OK; i++) {
        if (i && now_ms() > end) break; /* a program whose start takes long */
        ft_x_run again = {.end = FT_X_STRAYED};
        FT_REQUIRE(!n->slots[0].busy);
        status = run_again(n, &n->sample.runs[i], &again, err);
        *checked += status == FT_OK;
        *differing += status == FT_OK && !same_run(&n->sample.runs[i], &again);
        ft_x_run_release(&again);
    }
    return status;
}
