/* The elevator of von Praun and Gross: lifts walk over floors, look for calls under the floor's
 * lock and claim them. Most statements are of a lift's own state. Values are concrete. */
#include "bench/programs/programs.h"
#include "bench/programs/sim.h"

enum { MAX_FLOORS = 32, MAX_LIFTS = 16 };

typedef struct building {
    ft_symbol call[MAX_FLOORS], place[MAX_LIFTS], heading[MAX_LIFTS];
    uint32_t lock[MAX_FLOORS];
    const ft_program_shape *shape;
} building;

static void claim(ft_sim *sim, building *b, uint32_t at)
{
    LOCK(b->lock[at]);
    if (READ(b->call[at])) WRITE(b->call[at], 0);
    UNLOCK(b->lock[at]);
}

static void lift(ft_sim *sim, void *context, uint32_t number)
{
    building *b = context;
    uint32_t me = number - 1, last = b->shape->size - 1;
    WRITE(b->place[me], (int64_t)(me * last) / 2 % (int64_t)b->shape->size);
    WRITE(b->heading[me], 1);
    for (uint32_t i = 0; i < b->shape->rounds; i++) {
        uint32_t at = (uint32_t)READ(b->place[me]);
        if (i % 3 == 0) claim(sim, b, at);
        int64_t heading = READ(b->heading[me]);
        if ((at == last && heading > 0) || (at == 0 && heading < 0)) heading = -heading;
        WRITE(b->heading[me], heading);
        WRITE(b->place[me], (int64_t)at + heading);
    }
}

static void main_thread(ft_sim *sim, void *context, uint32_t number)
{
    (void)number;
    building *b = context;
    uint32_t lifts[MAX_LIFTS], n = b->shape->threads;
    for (uint32_t i = 0; i < b->shape->size; i++) WRITE(b->call[i], i % 3 == 1);
    for (uint32_t i = 0; i < n; i++) lifts[i] = FORK(lift, i + 1);
    for (uint32_t i = 0; i < n; i++) JOIN(lifts[i]);
}

ft_trace *ft_program_elevator(const ft_program_shape *shape)
{
    ft_sim *sim = ft_sim_new("elevator.c", 7);
    building b = {.shape = shape};
    for (uint32_t i = 0; i < shape->size; i++) {
        b.call[i] = ft_sim_shared(sim, "call", i, 0);
        b.lock[i] = ft_sim_mutex(sim, "floor", i);
    }
    for (uint32_t i = 0; i < shape->threads; i++) {
        b.place[i] = ft_sim_shared(sim, "place", i, 0);
        b.heading[i] = ft_sim_shared(sim, "heading", i, 0);
    }
    return ft_sim_run(sim, main_thread, &b);
}
