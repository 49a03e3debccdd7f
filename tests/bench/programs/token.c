/* A token that goes round a ring of threads, each with a lock and a condition of its own; what the
 * token guards is touched without a lock, by who has it. The broken one touches it once more. */
#include "bench/programs/programs.h"
#include "bench/programs/sim.h"

enum { MAX_THREADS = 32 };

typedef struct ring {
    ft_symbol turn[MAX_THREADS], laps, log;
    uint32_t lock[MAX_THREADS], go[MAX_THREADS];
    const ft_program_shape *shape;
} ring;

static void hand_to(ft_sim *sim, ring *r, uint32_t whom)
{
    LOCK(r->lock[whom]);
    SET(r->turn[whom], N(1));
    SIGNAL(r->go[whom]);
    UNLOCK(r->lock[whom]);
}

static void wait_for_turn(ft_sim *sim, ring *r, uint32_t own)
{
    LOCK(r->lock[own]);
    while (IF(EQ(V(r->turn[own]), N(0)))) WAIT(r->go[own], r->lock[own]);
    SET(r->turn[own], N(0));
    UNLOCK(r->lock[own]);
}

static void worker(ft_sim *sim, void *context, uint32_t number)
{
    ring *r = context;
    uint32_t own = number - 1;
    for (uint32_t i = 0; i < r->shape->rounds; i++) {
        wait_for_turn(sim, r, own);
        SET(r->laps, ADD(V(r->laps), N(1)));
        WRITE(r->log, number);
        hand_to(sim, r, number % r->shape->threads);
        if (r->shape->variant == 1) READ(r->log);
    }
}

static void main_thread(ft_sim *sim, void *context, uint32_t number)
{
    (void)number;
    ring *r = context;
    uint32_t threads[MAX_THREADS], n = r->shape->threads;
    WRITE(r->log, 0);
    for (uint32_t i = 0; i < n; i++) threads[i] = FORK(worker, i + 1);
    hand_to(sim, r, 0);
    for (uint32_t i = 0; i < n; i++) JOIN(threads[i]);
    ASSERT(EQ(V(r->laps), N((int64_t)n * r->shape->rounds)));
}

ft_trace *ft_program_token(const ft_program_shape *shape)
{
    ft_sim *sim = ft_sim_new("token.c", 0);
    ring r = {.shape = shape};
    for (uint32_t i = 0; i < shape->threads; i++) {
        r.turn[i] = ft_sim_shared(sim, "turn", i, 0);
        r.lock[i] = ft_sim_mutex(sim, "lock", i);
        r.go[i] = ft_sim_condition(sim, "go", i);
    }
    r.laps = ft_sim_shared(sim, "laps", FT_NO_EVENT, 0);
    r.log = ft_sim_shared(sim, "log", FT_NO_EVENT, 0);
    return ft_sim_run(sim, main_thread, &r);
}
