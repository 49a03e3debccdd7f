/* Threads that wait for each other while the run goes on without them: a deadlock, however the run
 * ends. Each stands before a lock that the next one holds, or before the join of the next one. */
#include "exploring/run.h"
#include "libc/contract.h"
#include "libc/libc.h"

/* The thread that this one waits for; FT_X_THREADS: none, or not one alone. */
static uint32_t waits_for(uint32_t thread)
{
    const ft_x_operation *o = &ft_rt_x.threads[thread].pending;
    bool limited = o->value & (FT_X_TIMED | FT_X_EARLY);
    switch (o->kind) {
    case FT_X_JOIN:
        return limited || ft_rt_x.threads[o->object].ended ? FT_X_THREADS : o->object;
    case FT_X_LOCK:
    case FT_X_READ_LOCK:
    case FT_X_WRITE_LOCK:
        return limited || !ft_rt_x_state(o->object)->owner ? FT_X_THREADS
                                                           : ft_rt_x_state(o->object)->owner - 1;
    default:
        return FT_X_THREADS;
    }
}

static bool comes_back(uint32_t first)
{
    uint32_t thread = first;
    for (uint32_t i = 0; i < FT_X_THREADS; i++) {
        thread = waits_for(thread);
        if (thread == FT_X_THREADS || thread == first) break;
    }
    return thread == first;
}

bool ft_rt_x_find_cycle(ft_exploring_result *result)
{
    for (uint32_t t = 0; t < FT_X_THREADS; t++) {
        const ft_rt_x_thread *thread = &ft_rt_x.threads[t];
        if (!thread->exists || thread->ended || !comes_back(t)) continue;
        *result = (ft_exploring_result){
            .failure = FT_EXPLORING_FAILED_STUCK, .thread = t, .pc = (uintptr_t)thread->pc};
        return true;
    }
    return false;
}
