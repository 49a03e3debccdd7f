/* A planner and an executor that wake each other through two events, each a monitor with a count:
 * a task reads the count, waits for the event while it is what it saw last, and signals the other.
 * The broken one looks at the count without the monitor (the defect found in a spacecraft's agent).
 */
#include "bench/programs/programs.h"
#include "bench/programs/sim.h"

typedef struct agent {
    ft_symbol count[2], seen, a;
    uint32_t monitor[2], happened[2];
    const ft_program_shape *shape;
} agent;

static void signal_event(ft_sim *sim, agent *g, uint32_t event)
{
    LOCK(g->monitor[event]);
    SET(g->count[event], ADD(V(g->count[event]), N(1)));
    SIGNAL(g->happened[event]);
    UNLOCK(g->monitor[event]);
}

/* Waits until the event has happened since the task last looked. */
static void await_event(ft_sim *sim, agent *g, uint32_t event)
{
    bool early = g->shape->variant == 1;
    if (early) SET(g->a, V(g->count[event]));
    LOCK(g->monitor[event]);
    if (!early) SET(g->a, V(g->count[event]));
    while (IF(EQ(V(g->a), V(g->seen)))) {
        WAIT(g->happened[event], g->monitor[event]);
        SET(g->a, V(g->count[event]));
    }
    UNLOCK(g->monitor[event]);
    SET(g->seen, V(g->a));
}

static void executor(ft_sim *sim, void *context, uint32_t number)
{
    (void)number;
    agent *g = context;
    for (uint32_t i = 0; i < g->shape->rounds; i++) {
        await_event(sim, g, 0);
        signal_event(sim, g, 1);
    }
}

static void planner(ft_sim *sim, void *context, uint32_t number)
{
    (void)number;
    agent *g = context;
    for (uint32_t i = 0; i < g->shape->rounds; i++) {
        signal_event(sim, g, 0);
        await_event(sim, g, 1);
    }
}

static void main_thread(ft_sim *sim, void *context, uint32_t number)
{
    (void)number;
    uint32_t first = FORK(executor, 1), second = FORK(planner, 2);
    (void)context;
    JOIN(first);
    JOIN(second);
}

ft_trace *ft_program_agent(const ft_program_shape *shape)
{
    ft_sim *sim = ft_sim_new("agent.c", 0);
    agent g = {.shape = shape};
    for (uint32_t i = 0; i < 2; i++) {
        g.count[i] = ft_sim_shared(sim, "count", i, 0);
        g.monitor[i] = ft_sim_mutex(sim, "monitor", i);
        g.happened[i] = ft_sim_condition(sim, "happened", i);
    }
    g.seen = ft_sim_local(sim, "seen");
    g.a = ft_sim_local(sim, "a");
    return ft_sim_run(sim, main_thread, &g);
}
