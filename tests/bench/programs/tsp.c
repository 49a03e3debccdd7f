/* Branch and bound for the travelling salesman, after von Praun and Gross: workers take tours from
 * a queue and walk over their own copies of the distances; the best length is lowered under a lock
 * and read without one. Values are concrete. */
#include "bench/programs/programs.h"
#include "bench/programs/sim.h"

enum { MAX_CITIES = 16, MAX_WORKERS = 8, TOURS_A_TAKE = 64, FAR = 1000000 };

typedef struct tours {
    ft_symbol distance[MAX_CITIES][MAX_CITIES], next, best;
    ft_symbol own[MAX_WORKERS][MAX_CITIES][MAX_CITIES], path[MAX_WORKERS][MAX_CITIES];
    uint32_t queue, lowest;
    const ft_program_shape *shape;
} tours;

static void copy_distances(ft_sim *sim, tours *t, uint32_t me)
{
    uint32_t n = t->shape->size;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = i + 1; j < n; j++) WRITE(t->own[me][i][j], READ(t->distance[i][j]));
}

static int64_t take(ft_sim *sim, tours *t)
{
    LOCK(t->queue);
    int64_t tour = READ(t->next);
    WRITE(t->next, tour + 1);
    UNLOCK(t->queue);
    return tour;
}

/* The length of the tour's path: cities in steps of its number. */
static int64_t walk(ft_sim *sim, tours *t, uint32_t me, int64_t tour)
{
    uint32_t n = t->shape->size, step = n > 2 ? 1 + (uint32_t)tour % (n - 1) : 1;
    int64_t length = 0;
    for (uint32_t i = 0; i < n; i++) WRITE(t->path[me][i], (i * step + i / 2) % n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t a = (uint32_t)READ(t->path[me][i]), b = (uint32_t)READ(t->path[me][(i + 1) % n]);
        if (a != b) length += READ(t->own[me][a < b ? a : b][a < b ? b : a]);
    }
    return length;
}

static void lower(ft_sim *sim, tours *t, int64_t length)
{
    LOCK(t->lowest);
    if (t->shape->variant == 0 || length < READ(t->best)) WRITE(t->best, length);
    UNLOCK(t->lowest);
}

static void worker(ft_sim *sim, void *context, uint32_t number)
{
    tours *t = context;
    uint32_t me = number - 1;
    copy_distances(sim, t, me);
    for (uint32_t i = 0; i < t->shape->rounds; i++) {
        bool from_queue = i % TOURS_A_TAKE == 0;
        int64_t length = walk(sim, t, me, from_queue ? take(sim, t) : (int64_t)i);
        if (from_queue && length < READ(t->best)) lower(sim, t, length);
    }
}

static void main_thread(ft_sim *sim, void *context, uint32_t number)
{
    (void)number;
    tours *t = context;
    uint32_t workers[MAX_WORKERS], n = t->shape->threads, cities = t->shape->size;
    for (uint32_t i = 0; i < cities; i++)
        for (uint32_t j = i + 1; j < cities; j++)
            WRITE(t->distance[i][j], 10 + (i * 37 + j * 53) % 90);
    WRITE(t->best, FAR);
    for (uint32_t i = 0; i < n; i++) workers[i] = FORK(worker, i + 1);
    for (uint32_t i = 0; i < n; i++) JOIN(workers[i]);
}

static ft_symbol cell(ft_sim *sim, const char *prefix, uint32_t i, uint32_t j)
{
    return ft_sim_shared(sim, prefix, i * MAX_CITIES + j, 0);
}

ft_trace *ft_program_tsp(const ft_program_shape *shape)
{
    static const char *const own[MAX_WORKERS] = {"ow", "ox", "oy", "oz", "oa", "ob", "oc", "od"};
    static const char *const path[MAX_WORKERS] = {"pw", "px", "py", "pz", "pa", "pb", "pc", "pd"};
    ft_sim *sim = ft_sim_new("tsp.c", 0);
    tours t = {.shape = shape};
    uint32_t n = shape->size;
    t.next = ft_sim_shared(sim, "next", FT_NO_EVENT, 0);
    t.best = ft_sim_shared(sim, "best", FT_NO_EVENT, 0);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = i + 1; j < n; j++) t.distance[i][j] = cell(sim, "d", i, j);
    for (uint32_t w = 0; w < shape->threads; w++)
        for (uint32_t i = 0; i < n; i++) {
            t.path[w][i] = ft_sim_shared(sim, path[w], i, 0);
            for (uint32_t j = i + 1; j < n; j++) t.own[w][i][j] = cell(sim, own[w], i, j);
        }
    t.queue = ft_sim_mutex(sim, "queue", FT_NO_EVENT);
    t.lowest = ft_sim_mutex(sim, "lowest", FT_NO_EVENT);
    return ft_sim_run(sim, main_thread, &t);
}
