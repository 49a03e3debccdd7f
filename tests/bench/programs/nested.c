/* A cell written by two threads, each inside a lock of its own while the other's has been taken and
 * given back inside: no lock in common, no order, and still no race (Kahlon and Wang, §1). */
#include "bench/programs/programs.h"
#include "bench/programs/sim.h"

typedef struct nest {
    ft_symbol x, y;
    uint32_t a, b;
    const ft_program_shape *shape;
} nest;

static void count_up(ft_sim *sim, ft_symbol cell)
{
    SET(cell, ADD(V(cell), N(1)));
}

/* holds `own` at the cell x, where `other` was taken inside it. */
static void inside(ft_sim *sim, nest *n, uint32_t own, uint32_t other)
{
    LOCK(own);
    LOCK(other);
    count_up(sim, n->y);
    UNLOCK(other);
    count_up(sim, n->x);
    UNLOCK(own);
}

static void behind(ft_sim *sim, nest *n)
{
    LOCK(n->a);
    count_up(sim, n->y);
    UNLOCK(n->a);
    LOCK(n->b);
    count_up(sim, n->x);
    UNLOCK(n->b);
}

static void worker(ft_sim *sim, void *context, uint32_t number)
{
    nest *n = context;
    if (number == 1)
        inside(sim, n, n->a, n->b);
    else if (n->shape->variant == 0)
        inside(sim, n, n->b, n->a);
    else
        behind(sim, n);
}

static void main_thread(ft_sim *sim, void *context, uint32_t number)
{
    (void)number;
    nest *n = context;
    WRITE(n->x, 0);
    WRITE(n->y, 0);
    uint32_t first = FORK(worker, 1), second = FORK(worker, 2);
    JOIN(first);
    JOIN(second);
    ASSERT(EQ(V(n->y), N(2)));
}

ft_trace *ft_program_nested(const ft_program_shape *shape)
{
    ft_sim *sim = ft_sim_new("nested.c", 0);
    nest n = {.shape = shape};
    n.x = ft_sim_shared(sim, "x", FT_NO_EVENT, 0);
    n.y = ft_sim_shared(sim, "y", FT_NO_EVENT, 0);
    n.a = ft_sim_mutex(sim, "a", FT_NO_EVENT);
    n.b = ft_sim_mutex(sim, "b", FT_NO_EVENT);
    return ft_sim_run(sim, main_thread, &n);
}
