/* The end of an epoch, and the beginning of the next one. */
#include <linux/futex.h>
#include <string.h>

#include "constrained/constrained.h"
#include "libc/contract.h"

/* One that the next epoch has no place for has ended. */
static void forget(ft_rt_follower *f)
{
    if (f) __atomic_store_n(&f->used, 0, __ATOMIC_RELEASE);
}

/* A hash of the schedules, in their order: FNV-1a over their numbers. */
static void note_path(uint32_t schedule)
{
    const uint64_t prime = UINT64_C(1099511628211), offset = UINT64_C(14695981039346656037);
    uint64_t *path = &ft_rt_c.head->path;
    *path = ((*path ? *path : offset) ^ (schedule + 1)) * prime;
}

void ft_rt_c_install(uint32_t number)
{
    const ft_constrained_schedule *s = &ft_rt_c.all.schedules[number];
    FT_REQUIRE(s->n_threads <= FT_RT_C_THREADS);
    ft_rt_c.schedule = s;
    ft_rt_c.threads = ft_rt_c.all.threads + s->first_thread;
    for (uint32_t t = 0; t < s->n_threads; t++) {
        ft_constrained_thread *thread = &ft_rt_c.threads[t];
        thread->done = thread->sleeps = 0;
        for (uint32_t i = 0; ft_rt_c.head->notes && i < thread->n; i++)
            ft_rt_c.all.nodes[thread->first + i].when = 0;
    }
    for (uint32_t o = ft_rt_c.head->globals + 1; o <= ft_rt_c.head->objects; o++)
        ft_rt_c.bound[o] = 0;
    ft_rt_c.head->schedule = number;
    note_path(number);
}

/* Did each operation come behind those that the schedule wants before it? */
static bool is_in_order(void)
{
    const ft_constrained_schedule *s = ft_rt_c.schedule;
    for (uint32_t t = 0; t < s->n_threads; t++)
        for (uint32_t i = 0; i < ft_rt_c.threads[t].n; i++) {
            const ft_constrained_node *n = &ft_rt_c.all.nodes[ft_rt_c.threads[t].first + i];
            for (uint32_t e = 0; e < n->n_edges; e++) {
                const ft_constrained_edge *edge = &ft_rt_c.all.edges[n->first_edge + e];
                uint32_t before = ft_rt_c.threads[edge->thread].first + edge->n - 1;
                if (ft_rt_c.all.nodes[before].when >= n->when) return false;
            }
        }
    return true;
}

/* Threads that end in the schedule do not come to its end: their last node says that they have. */
static bool await_all(void)
{
    for (uint32_t t = 0; t < ft_rt_c.schedule->n_threads; t++) {
        const ft_constrained_edge all = {t, ft_rt_c.threads[t].n};
        if (!ft_rt_c_await(&all)) return false;
    }
    return true;
}

/* `at` by thread of the next epoch. */
static void bind_threads(void)
{
    ft_rt_follower *next[FT_RT_C_THREADS] = {0};
    const ft_constrained_schedule *s = ft_rt_c.schedule;
    for (uint32_t i = 0; i < s->n_bound; i++) {
        uint32_t old = ft_rt_c.all.bound[s->first_bound + i];
        next[i] = ft_rt_c.at[old];
        ft_rt_c.at[old] = NULL;
        if (!next[i]) continue;
        next[i]->thread = i;
        next[i]->created = 0;
    }
    for (uint32_t t = 0; t < s->n_threads; t++) forget(ft_rt_c.at[t]);
    memcpy(ft_rt_c.at, next, sizeof next);
}

/* All threads stand still. */
static bool begin_next(bool *lost)
{
    if (!await_all()) return false;
    if (ft_rt_c.head->notes && !is_in_order()) ft_rt_c.head->disorder = 1;
    uint32_t epoch = ft_rt_c.schedule->next;
    bind_threads();
    uint32_t schedule = ft_rt_c_select(epoch, lost);
    if (schedule == FT_CONSTRAINED_NONE) return false;
    ft_rt_c_install(schedule);
    ft_rt_c.arrived = 0;
    __atomic_add_fetch(&ft_rt_c.head->begun, 1, __ATOMIC_SEQ_CST);
    ft_rt_c_futex(&ft_rt_c.head->begun, FUTEX_WAKE, INT32_MAX, NULL);
    return true;
}

/* The last one begins the next epoch, the others wait for it: false once all go on freely. */
static bool await_next(uint32_t begun)
{
    enum { SPINS = 200 };
    const struct timespec look = {.tv_nsec = 50000000};
    bool lost = false;
    if (__atomic_add_fetch(&ft_rt_c.arrived, 1, __ATOMIC_ACQ_REL) == ft_rt_c.schedule->awaited) {
        if (begin_next(&lost)) return true;
        if (!ft_rt_c_is_free())
            ft_rt_c_uncovered(lost ? FT_CONSTRAINED_LOST_OUTCOME
                                   : FT_CONSTRAINED_UNCOVERED_OUTCOME);
        return false;
    }
    for (uint32_t spins = 0;; spins++) {
        if (__atomic_load_n(&ft_rt_c.head->begun, __ATOMIC_ACQUIRE) != begun) return true;
        if (ft_rt_c_is_free()) return false;
        if (spins >= SPINS) ft_rt_c_futex(&ft_rt_c.head->begun, FUTEX_WAIT, begun, &look);
    }
}

/* The frames of a thread that stands still are on its own stack. */
static bool arrive_with_frames(ft_rt_follower *self, const void *pc, uint32_t begun)
{
    ft_rt_frames frames;
    ft_rt_c_find_frames(pc, &frames);
    self->frames = &frames;
    bool goes_on = await_next(begun);
    self->frames = NULL;
    return goes_on;
}

bool ft_rt_c_arrive(ft_rt_follower *self, const void *pc)
{
    uint32_t begun = __atomic_load_n(&ft_rt_c.head->begun, __ATOMIC_ACQUIRE);
    self->local = (uintptr_t)__builtin_thread_pointer();
    if (ft_rt_c.all.epochs[ft_rt_c.schedule->next].locals)
        return arrive_with_frames(self, pc, begun);
    return await_next(begun);
}
