/* Dining philosophers. A doorman (a monitor) seats all but one of them; a fork is a lock that
 * guards how often it was used. */
#include "bench/programs/programs.h"
#include "bench/programs/sim.h"

enum { MAX_PHILOSOPHERS = 32 };

typedef struct table {
    ft_symbol used[MAX_PHILOSOPHERS], seats, a;
    uint32_t fork[MAX_PHILOSOPHERS], door, room;
    const ft_program_shape *shape;
} table;

static void sit_down(ft_sim *sim, table *t)
{
    LOCK(t->door);
    while (IF(EQ(V(t->seats), N(0)))) WAIT(t->room, t->door);
    SET(t->seats, SUB(V(t->seats), N(1)));
    UNLOCK(t->door);
}

static void stand_up(ft_sim *sim, table *t)
{
    LOCK(t->door);
    SET(t->seats, ADD(V(t->seats), N(1)));
    SIGNAL(t->room);
    UNLOCK(t->door);
}

static void eat(ft_sim *sim, table *t, uint32_t left, uint32_t right)
{
    LOCK(t->fork[left]);
    LOCK(t->fork[right]);
    SET(t->used[left], ADD(V(t->used[left]), N(1)));
    SET(t->used[right], ADD(V(t->used[right]), N(1)));
    UNLOCK(t->fork[right]);
    UNLOCK(t->fork[left]);
}

static void philosopher(ft_sim *sim, void *context, uint32_t number)
{
    table *t = context;
    uint32_t left = number - 1, right = number % t->shape->threads;
    bool swap = t->shape->variant == 0 && left > right;
    for (uint32_t i = 0; i < t->shape->rounds; i++) {
        if (t->shape->variant == 0) sit_down(sim, t);
        eat(sim, t, swap ? right : left, swap ? left : right);
        if (t->shape->variant == 0) stand_up(sim, t);
    }
}

static void main_thread(ft_sim *sim, void *context, uint32_t number)
{
    (void)number;
    table *t = context;
    uint32_t threads[MAX_PHILOSOPHERS], n = t->shape->threads;
    for (uint32_t i = 0; i < n; i++) SET(t->used[i], N(0));
    for (uint32_t i = 0; i < n; i++) threads[i] = FORK(philosopher, i + 1);
    for (uint32_t i = 0; i < n; i++) JOIN(threads[i]);
    ASSERT(EQ(V(t->used[0]), N(2 * (int64_t)t->shape->rounds)));
}

ft_trace *ft_program_philosophers(const ft_program_shape *shape)
{
    /* Turns change within a meal, so that some wait at the door; with the left fork first that
     * would be the deadlock itself. */
    ft_sim *sim = ft_sim_new("philosophers.c", shape->variant == 0 ? 5 : 0);
    table t = {.shape = shape};
    for (uint32_t i = 0; i < shape->threads; i++) {
        t.used[i] = ft_sim_shared(sim, "used", i, 0);
        t.fork[i] = ft_sim_mutex(sim, "fork", i);
    }
    t.seats = ft_sim_shared(sim, "seats", FT_NO_EVENT, (int64_t)shape->threads - 1);
    t.a = ft_sim_local(sim, "a");
    t.door = ft_sim_mutex(sim, "door", FT_NO_EVENT);
    t.room = ft_sim_condition(sim, "room", FT_NO_EVENT);
    return ft_sim_run(sim, main_thread, &t);
}
