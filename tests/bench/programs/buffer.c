/* A bounded buffer with semaphores for its free and its filled slots. */
#include "bench/programs/programs.h"
#include "bench/programs/sim.h"

enum { MAX_SLOTS = 32, MAX_THREADS = 64 };

typedef struct buffer {
    ft_symbol slot[MAX_SLOTS], in, out, count, a;
    uint32_t lock, empty, full;
    const ft_program_shape *shape;
} buffer;

static void add_to_count(ft_sim *sim, buffer *b, int64_t amount)
{
    SET(b->a, V(b->count));
    SET(b->count, ADD(V(b->a), N(amount)));
}

/* Takes the index at `place`; the slot is the one of this run, which the condition says. */
static uint32_t next_slot(ft_sim *sim, buffer *b, ft_symbol place)
{
    SET(b->a, V(place));
    int64_t at = ft_sim_value(sim, b->a);
    IF(EQ(V(b->a), N(at)));
    SET(place, N((at + 1) % b->shape->size));
    return (uint32_t)at;
}

static void producer(ft_sim *sim, void *context, uint32_t number)
{
    buffer *b = context;
    for (uint32_t i = 0; i < b->shape->rounds; i++) {
        DOWN(b->empty);
        if (b->shape->variant == 1) add_to_count(sim, b, 1);
        LOCK(b->lock);
        SET(b->slot[next_slot(sim, b, b->in)], N(number));
        if (b->shape->variant == 0) add_to_count(sim, b, 1);
        UNLOCK(b->lock);
        UP(b->full);
    }
}

static void consumer(ft_sim *sim, void *context, uint32_t number)
{
    (void)number;
    buffer *b = context;
    for (uint32_t i = 0; i < b->shape->rounds; i++) {
        DOWN(b->full);
        LOCK(b->lock);
        uint32_t at = next_slot(sim, b, b->out);
        ASSERT(NOT(EQ(V(b->slot[at]), N(0))));
        SET(b->slot[at], N(0));
        if (b->shape->variant == 0) add_to_count(sim, b, -1);
        UNLOCK(b->lock);
        if (b->shape->variant == 1) add_to_count(sim, b, -1);
        UP(b->empty);
    }
}

/* As many consumers as producers. */
static void main_thread(ft_sim *sim, void *context, uint32_t number)
{
    (void)number;
    buffer *b = context;
    uint32_t threads[MAX_THREADS], n = b->shape->threads;
    for (uint32_t t = 0; t < n; t++) threads[t] = FORK(t % 2 ? consumer : producer, t + 1);
    for (uint32_t t = 0; t < n; t++) JOIN(threads[t]);
    ASSERT(EQ(V(b->count), N(0)));
}

ft_trace *ft_program_buffer(const ft_program_shape *shape)
{
    ft_sim *sim = ft_sim_new("buffer.c", 0);
    buffer b = {.shape = shape};
    for (uint32_t i = 0; i < shape->size; i++) b.slot[i] = ft_sim_shared(sim, "slot", i, 0);
    b.in = ft_sim_shared(sim, "in", FT_NO_EVENT, 0);
    b.out = ft_sim_shared(sim, "out", FT_NO_EVENT, 0);
    b.count = ft_sim_shared(sim, "count", FT_NO_EVENT, 0);
    b.a = ft_sim_local(sim, "a");
    b.lock = ft_sim_mutex(sim, "lock", FT_NO_EVENT);
    b.empty = ft_sim_semaphore(sim, "empty", FT_NO_EVENT, shape->size);
    b.full = ft_sim_semaphore(sim, "full", FT_NO_EVENT, 0);
    return ft_sim_run(sim, main_thread, &b);
}
