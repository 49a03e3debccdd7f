/* The indexer of Flanagan and Godefroid (POPL 2005, figure 6): with 12 threads or more and 128
 * entries, threads collide. */
#include "bench/programs/programs.h"
#include "bench/programs/sim.h"

enum { MAX_THREADS = 64, MAX_ENTRIES = 256 };

typedef struct indexer {
    ft_symbol entry[MAX_ENTRIES], a;
    uint32_t lock[MAX_ENTRIES];
    uint32_t last; /* entry filled last in the run */
    int64_t held;  /* with this message */
    const ft_program_shape *shape;
} indexer;

/* Compare-and-swap of an empty entry. */
static bool put(ft_sim *sim, indexer *x, uint32_t h, int64_t message)
{
    LOCK(x->lock[h]);
    SET(x->a, V(x->entry[h]));
    bool empty = IF(EQ(V(x->a), N(0)));
    if (empty) SET(x->entry[h], N(message));
    UNLOCK(x->lock[h]);
    return empty;
}

static void worker(ft_sim *sim, void *context, uint32_t number)
{
    indexer *x = context;
    for (uint32_t m = 1; m <= x->shape->rounds; m++) {
        int64_t message = (int64_t)m * 11 + number;
        uint32_t h = (uint32_t)(message * 7) % x->shape->size;
        while (!put(sim, x, h, message)) h = (h + 1) % x->shape->size;
        x->last = h;
        x->held = message;
    }
}

static void check(ft_sim *sim, indexer *x)
{
    ASSERT(EQ(V(x->entry[x->last]), N(x->held)));
}

static void main_thread(ft_sim *sim, void *context, uint32_t number)
{
    (void)number;
    indexer *x = context;
    uint32_t workers[MAX_THREADS], n = x->shape->threads;
    for (uint32_t t = 0; t < n; t++) workers[t] = FORK(worker, t + 1);
    if (x->shape->variant == 0)
        for (uint32_t t = 0; t < n; t++) JOIN(workers[t]);
    else /* hands the turn to each of them, with no order that the trace knows of */
        for (uint32_t t = 0; t < n; t++) ft_sim_await(sim, workers[t]);
    check(sim, x);
}

ft_trace *ft_program_indexer(const ft_program_shape *shape)
{
    ft_sim *sim = ft_sim_new("indexer.c", 0);
    indexer x = {.shape = shape};
    for (uint32_t i = 0; i < shape->size; i++) {
        x.entry[i] = ft_sim_shared(sim, "table", i, 0);
        x.lock[i] = ft_sim_mutex(sim, "lock", i);
    }
    x.a = ft_sim_local(sim, "a");
    return ft_sim_run(sim, main_thread, &x);
}
