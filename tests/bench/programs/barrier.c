/* Phases of a computation on a ring of cells, kept apart by a barrier that is made of a lock, a
 * count and a condition variable, as in the Java Grande barrier benchmark, or by the system's. */
#include "bench/programs/programs.h"
#include "bench/programs/sim.h"

enum { MAX_THREADS = 32 };

typedef struct ring {
    ft_symbol cell[MAX_THREADS], arrived, phase, a;
    uint32_t lock, turned, gate;
    const ft_program_shape *shape;
} ring;

static void barrier(ft_sim *sim, ring *r)
{
    if (r->shape->variant == 2) {
        PASS(r->gate);
        return;
    }
    LOCK(r->lock);
    SET(r->a, V(r->phase));
    SET(r->arrived, ADD(V(r->arrived), N(1)));
    if (IF(EQ(V(r->arrived), N(r->shape->threads)))) {
        SET(r->arrived, N(0));
        SET(r->phase, ADD(V(r->phase), N(1)));
        BROADCAST(r->turned);
    } else {
        while (IF(EQ(V(r->phase), V(r->a)))) WAIT(r->turned, r->lock);
    }
    UNLOCK(r->lock);
}

static void worker(ft_sim *sim, void *context, uint32_t number)
{
    ring *r = context;
    uint32_t own = number - 1, neighbour = number % r->shape->threads;
    for (uint32_t i = 1; i <= r->shape->rounds; i++) {
        SET(r->cell[own], N(i));
        barrier(sim, r);
        ASSERT(EQ(V(r->cell[neighbour]), N(i)));
        if (r->shape->variant == 1)
            ft_sim_rest(sim); /* long enough for the neighbour to read */
        else if (i < r->shape->rounds)
            barrier(sim, r);
    }
}

static void main_thread(ft_sim *sim, void *context, uint32_t number)
{
    (void)number;
    ring *r = context;
    uint32_t threads[MAX_THREADS], n = r->shape->threads;
    for (uint32_t i = 0; i < n; i++) SET(r->cell[i], N(0));
    for (uint32_t i = 0; i < n; i++) threads[i] = FORK(worker, i + 1);
    for (uint32_t i = 0; i < n; i++) JOIN(threads[i]);
}

ft_trace *ft_program_barrier(const ft_program_shape *shape)
{
    ft_sim *sim = ft_sim_new("barrier.c", 0);
    ring r = {.shape = shape};
    for (uint32_t i = 0; i < shape->threads; i++) r.cell[i] = ft_sim_shared(sim, "cell", i, 0);
    r.a = ft_sim_local(sim, "a");
    if (shape->variant == 2) {
        r.gate = ft_sim_barrier(sim, "gate", FT_NO_EVENT, shape->threads);
        return ft_sim_run(sim, main_thread, &r);
    }
    r.arrived = ft_sim_shared(sim, "arrived", FT_NO_EVENT, 0);
    r.phase = ft_sim_shared(sim, "phase", FT_NO_EVENT, 0);
    r.lock = ft_sim_mutex(sim, "lock", FT_NO_EVENT);
    r.turned = ft_sim_condition(sim, "turned", FT_NO_EVENT);
    return ft_sim_run(sim, main_thread, &r);
}
