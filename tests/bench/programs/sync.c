/* Counters under two nested locks, as in the Java Grande synchronisation benchmark. */
#include "bench/programs/programs.h"
#include "bench/programs/sim.h"

enum { MAX_THREADS = 32 };

typedef struct counters {
    ft_symbol method, object;
    uint32_t outer, inner;
    const ft_program_shape *shape;
} counters;

static void worker(ft_sim *sim, void *context, uint32_t number)
{
    (void)number;
    counters *c = context;
    for (uint32_t i = 0; i < c->shape->rounds; i++) {
        LOCK(c->outer);
        SET(c->method, ADD(V(c->method), N(1)));
        LOCK(c->inner);
        SET(c->object, ADD(V(c->object), V(c->method)));
        UNLOCK(c->inner);
        UNLOCK(c->outer);
    }
}

static void main_thread(ft_sim *sim, void *context, uint32_t number)
{
    (void)number;
    counters *c = context;
    uint32_t threads[MAX_THREADS], n = c->shape->threads;
    SET(c->method, N(0));
    SET(c->object, N(0));
    for (uint32_t i = 0; i < n; i++) threads[i] = FORK(worker, i + 1);
    for (uint32_t i = 0; i < n; i++) JOIN(threads[i]);
    ASSERT(EQ(V(c->method), N((int64_t)n * c->shape->rounds)));
}

ft_trace *ft_program_sync(const ft_program_shape *shape)
{
    ft_sim *sim = ft_sim_new("sync.c", 0);
    counters c = {.shape = shape};
    c.method = ft_sim_shared(sim, "method", FT_NO_EVENT, 0);
    c.object = ft_sim_shared(sim, "object", FT_NO_EVENT, 0);
    c.outer = ft_sim_mutex(sim, "outer", FT_NO_EVENT);
    c.inner = ft_sim_mutex(sim, "inner", FT_NO_EVENT);
    return ft_sim_run(sim, main_thread, &c);
}
