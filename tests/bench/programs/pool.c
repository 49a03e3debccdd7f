/* Connections handed out by a pool, a monitor: who finds none waits until one comes back. A
 * connection is used outside the monitor, by who holds it; the broken one gives it back before it
 * is done. */
#include "bench/programs/programs.h"
#include "bench/programs/sim.h"

enum { MAX_THREADS = 32, MAX_CONNECTIONS = 8 };

typedef struct pool {
    ft_symbol sent[MAX_CONNECTIONS], open,
        a; /* open: connections in the pool, the last goes first */
    uint32_t lock, back;
    const ft_program_shape *shape;
} pool;

/* The connection is the one of this run, which the condition says. */
static uint32_t take(ft_sim *sim, pool *p)
{
    LOCK(p->lock);
    while (IF(EQ(V(p->open), N(0)))) WAIT(p->back, p->lock);
    SET(p->a, SUB(V(p->open), N(1)));
    int64_t at = ft_sim_value(sim, p->a);
    IF(EQ(V(p->a), N(at)));
    SET(p->open, V(p->a));
    UNLOCK(p->lock);
    return (uint32_t)at;
}

static void give_back(ft_sim *sim, pool *p)
{
    LOCK(p->lock);
    SET(p->open, ADD(V(p->open), N(1)));
    SIGNAL(p->back);
    UNLOCK(p->lock);
}

static void client(ft_sim *sim, void *context, uint32_t number)
{
    pool *p = context;
    uint32_t connection = take(sim, p);
    WRITE(p->sent[connection], number);
    ft_sim_rest(sim);
    if (p->shape->variant == 1) give_back(sim, p);
    READ(p->sent[connection]);
    if (p->shape->variant == 0) give_back(sim, p);
}

static void main_thread(ft_sim *sim, void *context, uint32_t number)
{
    (void)number;
    pool *p = context;
    uint32_t threads[MAX_THREADS], n = p->shape->threads;
    for (uint32_t i = 0; i < p->shape->size; i++) WRITE(p->sent[i], 0);
    for (uint32_t i = 0; i < n; i++) threads[i] = FORK(client, i + 1);
    for (uint32_t i = 0; i < n; i++) JOIN(threads[i]);
}

ft_trace *ft_program_pool(const ft_program_shape *shape)
{
    ft_sim *sim = ft_sim_new("pool.c", 0);
    pool p = {.shape = shape};
    for (uint32_t i = 0; i < shape->size; i++) p.sent[i] = ft_sim_shared(sim, "sent", i, 0);
    p.open = ft_sim_shared(sim, "open", FT_NO_EVENT, shape->size);
    p.a = ft_sim_local(sim, "a");
    p.lock = ft_sim_mutex(sim, "lock", FT_NO_EVENT);
    p.back = ft_sim_condition(sim, "back", FT_NO_EVENT);
    return ft_sim_run(sim, main_thread, &p);
}
