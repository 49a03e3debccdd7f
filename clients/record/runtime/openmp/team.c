/* Regions, barriers, loops, sections, single and ordered blocks, locks. */
#include <stdint.h>
#include <stdlib.h>

#include "libc/libc.h"
#include "openmp/openmp.h"
#include "process/process.h"
#include "state/thread.h"

#define CODE __builtin_return_address(0)
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

__thread ft_omp_self ft_omp_me;
static unsigned created;
enum { CREATED = 3000 }; /* threads; more regions run by one thread */

bool ft_omp_is_ours(void)
{
    return ft_rt_self != NULL;
}

int omp_get_max_active_levels(void);
int omp_get_max_threads(void);

/* Settings of the thread that begins an outermost region: libgomp keeps them by thread. */
static struct {
    unsigned threads;
    int levels;
} settings;

static unsigned size_of_team(unsigned asked)
{
    unsigned level = ft_omp_me.team ? ft_omp_me.team->level : 0;
    if (!ft_omp_me.team) {
        settings.threads = (unsigned)FT_REAL(omp_get_max_threads)();
        settings.levels = FT_REAL(omp_get_max_active_levels)();
    }
    if (level && (int)level >= settings.levels) return 1;
    unsigned n = asked ? asked : settings.threads;
    if (n > FT_OMP_MOST) n = FT_OMP_MOST;
    return n && created + n < CREATED ? n : 1;
}

typedef struct worker {
    ft_omp_team *team;
    const ft_omp_share *share;
    unsigned number;
    pthread_t thread;
} worker;

static void run_part(ft_omp_team *team, unsigned number, const ft_omp_share *share)
{
    ft_omp_self before = ft_omp_me;
    ft_omp_me = (ft_omp_self){.team = team, .number = number};
    if (share) ft_omp_me.share = *share;
    ft_omp_me.share.at = number;
    team->run(team->data);
    ft_omp_join_children();
    ft_omp_me = before;
}

static void *work(void *argument)
{
    worker *w = argument;
    run_part(w->team, w->number, w->share);
    return NULL;
}

static void run_region(void (*run)(void *), void *data, unsigned asked, const ft_omp_share *share,
                       const void *pc)
{
    ft_rt_header->openmp = 1;
    unsigned n = size_of_team(asked), level = ft_omp_me.team ? ft_omp_me.team->level : 0;
    ft_omp_team *team = calloc(1, sizeof *team);
    worker *workers = calloc(n, sizeof *workers);
    *team = (ft_omp_team){.n = n, .level = level + (n > 1), .run = run, .data = data};
    pthread_barrier_init(&team->barrier, NULL, n);
    for (unsigned i = 0; i < n; i++) sem_init(&team->turns[i], 0, i == 0);
    created += n - 1;
    for (unsigned i = 1; i < n; i++) {
        workers[i] = (worker){.team = team, .share = share, .number = i};
        if (ft_rt_create_from(&workers[i].thread, NULL, work, &workers[i],
                              (const void *)(uintptr_t)run, pc))
            abort();
    }
    run_part(team, 0, share);
    for (unsigned i = 1; i < n; i++) ft_rt_join(workers[i].thread, NULL, pc);
    pthread_barrier_destroy(&team->barrier);
    free(workers);
    free(team);
}

void GOMP_parallel(void (*run)(void *), void *data, unsigned n, unsigned flags)
{
    if (!ft_omp_is_ours())
        FT_REAL(GOMP_parallel)(run, data, n, flags);
    else
        run_region(run, data, n, NULL, CODE);
}

/* ---- barriers; a thread alone has none */

static void meet(void)
{
    ft_omp_join_children();
    if (ft_omp_me.team && ft_omp_me.team->n > 1) pthread_barrier_wait(&ft_omp_me.team->barrier);
}

#define MEETS(name)                                                                                \
    void name(void)                                                                                \
    {                                                                                              \
        if (!ft_omp_is_ours())                                                                     \
            FT_REAL(name)();                                                                       \
        else                                                                                       \
            meet();                                                                                \
    }
MEETS(GOMP_barrier)

static unsigned threads(void)
{
    return ft_omp_me.team ? ft_omp_me.team->n : 1;
}

/* ---- loops and sections */

static void begin_share(unsigned long start, unsigned long end, unsigned long step, bool up,
                        unsigned long chunk, bool ordered)
{
    long long distance = (long long)(up ? end - start : start - end);
    unsigned long size = up ? step : -step;
    ft_omp_share *s = &ft_omp_me.share;
    *s = (ft_omp_share){
        .start = start, .step = step, .chunk = chunk ? chunk : 1, .at = ft_omp_me.number};
    if (distance > 0 || (size && distance))
        s->count = distance > 0 ? ((unsigned long)distance + size - 1) / size : 0;
    s->ordered = ordered;
}

/* The next chunk of an ordered loop may go on once its thread is through with this one. */
static void pass_turn(void)
{
    ft_omp_share *s = &ft_omp_me.share;
    ft_omp_team *team = ft_omp_me.team;
    if (!s->ordered || !team || s->at < team->n || s->at == ft_omp_me.number) return;
    if (!s->waited) sem_wait(&team->turns[ft_omp_me.number]);
    s->waited = false;
    sem_post(&team->turns[(ft_omp_me.number + 1) % team->n]);
}

static bool next_chunk(unsigned long *from, unsigned long *to)
{
    ft_omp_share *s = &ft_omp_me.share;
    pass_turn();
    unsigned long first = s->at * s->chunk, last = first + s->chunk;
    if (first >= s->count) return false;
    if (last > s->count) last = s->count;
    *from = s->start + first * s->step;
    *to = s->start + last * s->step;
    s->at += threads();
    return true;
}

/* The turn comes back to the first thread, for the next ordered loop: all threads have passed it
 * on; who had the last chunk gave it to the thread after, which may not be the first. */
static void end_ordered(void)
{
    ft_omp_team *team = ft_omp_me.team;
    if (!ft_omp_me.share.ordered || !team) return;
    unsigned long chunks =
        (ft_omp_me.share.count + ft_omp_me.share.chunk - 1) / ft_omp_me.share.chunk;
    unsigned holder = (unsigned)(chunks % team->n);
    ft_omp_me.share.ordered = false;
    if (!holder || ft_omp_me.number != holder) return;
    sem_wait(&team->turns[holder]);
    sem_post(&team->turns[0]);
}

void GOMP_ordered_start(void)
{
    if (!ft_omp_is_ours()) {
        FT_REAL(GOMP_ordered_start)();
        return;
    }
    ft_omp_share *s = &ft_omp_me.share;
    if (!s->ordered || s->waited || !ft_omp_me.team) return;
    sem_wait(&ft_omp_me.team->turns[ft_omp_me.number]);
    s->waited = true;
}

void GOMP_ordered_end(void)
{
    if (!ft_omp_is_ours()) FT_REAL(GOMP_ordered_end)();
}

/*  name of the start, of the next, of the combined region; ordered */
#define FT_OMP_LOOP_TABLE(X)                                                                       \
    X(static, false)                                                                               \
    X(dynamic, false)                                                                              \
    X(guided, false)                                                                               \
    X(nonmonotonic_dynamic, false)                                                                 \
    X(nonmonotonic_guided, false)                                                                  \
    X(ordered_static, true)                                                                        \
    X(ordered_dynamic, true)                                                                       \
    X(ordered_guided, true)
#define FT_OMP_RUNTIME_LOOP_TABLE(X)                                                               \
    X(runtime, false)                                                                              \
    X(nonmonotonic_runtime, false)                                                                 \
    X(maybe_nonmonotonic_runtime, false)                                                           \
    X(ordered_runtime, true)

#define NEXT(name, type)                                                                           \
    bool name(type *from, type *to)                                                                \
    {                                                                                              \
        if (!ft_omp_is_ours()) return FT_REAL(name)(from, to);                                     \
        return next_chunk((unsigned long *)from, (unsigned long *)to);                             \
    }
#define START(name, parameters, arguments, up, chunk, ordered)                                     \
    bool name parameters                                                                           \
    {                                                                                              \
        if (!ft_omp_is_ours()) return FT_REAL(name) arguments;                                     \
        begin_share((unsigned long)start, (unsigned long)end, (unsigned long)step, up,             \
                    (unsigned long)(chunk), ordered);                                              \
        return next_chunk((unsigned long *)from, (unsigned long *)to);                             \
    }
#define LOOP(kind, ordered)                                                                        \
    START(GOMP_loop_##kind##_start,                                                                \
          (long start, long end, long step, long chunk, long *from, long *to),                     \
          (start, end, step, chunk, from, to), step > 0, chunk, ordered)                           \
    NEXT(GOMP_loop_##kind##_next, long)                                                            \
    START(GOMP_loop_ull_##kind##_start,                                                            \
          (bool up, unsigned long long start, unsigned long long end, unsigned long long step,     \
           unsigned long long chunk, unsigned long long *from, unsigned long long *to),            \
          (up, start, end, step, chunk, from, to), up, chunk, ordered)                             \
    NEXT(GOMP_loop_ull_##kind##_next, unsigned long long)
FT_OMP_LOOP_TABLE(LOOP)

#define RUNTIME_LOOP(kind, ordered)                                                                \
    START(GOMP_loop_##kind##_start, (long start, long end, long step, long *from, long *to),       \
          (start, end, step, from, to), step > 0, 1, ordered)                                      \
    NEXT(GOMP_loop_##kind##_next, long)                                                            \
    START(GOMP_loop_ull_##kind##_start,                                                            \
          (bool up, unsigned long long start, unsigned long long end, unsigned long long step,     \
           unsigned long long *from, unsigned long long *to),                                      \
          (up, start, end, step, from, to), up, 1, ordered)                                        \
    NEXT(GOMP_loop_ull_##kind##_next, unsigned long long)
FT_OMP_RUNTIME_LOOP_TABLE(RUNTIME_LOOP)

/* Regions that are one loop. */
static void loop_region(void (*run)(void *), void *data, unsigned n, long start, long end,
                        long step, long chunk, const void *pc)
{
    ft_omp_share before = ft_omp_me.share;
    begin_share((unsigned long)start, (unsigned long)end, (unsigned long)step, step > 0,
                (unsigned long)chunk, false);
    ft_omp_share share = ft_omp_me.share;
    ft_omp_me.share = before;
    run_region(run, data, n, &share, pc);
}

#define REGION(kind)                                                                               \
    void GOMP_parallel_loop_##kind(void (*run)(void *), void *data, unsigned n, long start,        \
                                   long end, long step, long chunk, unsigned flags)                \
    {                                                                                              \
        if (!ft_omp_is_ours())                                                                     \
            FT_REAL(GOMP_parallel_loop_##kind)(run, data, n, start, end, step, chunk, flags);      \
        else                                                                                       \
            loop_region(run, data, n, start, end, step, chunk, CODE);                              \
    }
REGION(static)
REGION(dynamic)
REGION(guided)
REGION(nonmonotonic_dynamic)
REGION(nonmonotonic_guided)
#define RUNTIME_REGION(kind)                                                                       \
    void GOMP_parallel_loop_##kind(void (*run)(void *), void *data, unsigned n, long start,        \
                                   long end, long step, unsigned flags)                            \
    {                                                                                              \
        if (!ft_omp_is_ours())                                                                     \
            FT_REAL(GOMP_parallel_loop_##kind)(run, data, n, start, end, step, flags);             \
        else                                                                                       \
            loop_region(run, data, n, start, end, step, 1, CODE);                                  \
    }
RUNTIME_REGION(runtime)
RUNTIME_REGION(nonmonotonic_runtime)
RUNTIME_REGION(maybe_nonmonotonic_runtime)

static void end_share(bool waits)
{
    end_ordered();
    if (waits) meet();
}

#define ENDS(name, waits)                                                                          \
    void name(void)                                                                                \
    {                                                                                              \
        if (!ft_omp_is_ours())                                                                     \
            FT_REAL(name)();                                                                       \
        else                                                                                       \
            end_share(waits);                                                                      \
    }
ENDS(GOMP_loop_end, true)
ENDS(GOMP_loop_end_nowait, false)
ENDS(GOMP_sections_end, true)
ENDS(GOMP_sections_end_nowait, false)

/* Sections are numbered from 1; 0: no more. */
unsigned GOMP_sections_next(void)
{
    unsigned long from, to;
    if (!ft_omp_is_ours()) return FT_REAL(GOMP_sections_next)();
    return next_chunk(&from, &to) ? (unsigned)from : 0;
}

unsigned GOMP_sections_start(unsigned count)
{
    if (!ft_omp_is_ours()) return FT_REAL(GOMP_sections_start)(count);
    begin_share(1, (unsigned long)count + 1, 1, true, 1, false);
    return GOMP_sections_next();
}

void GOMP_parallel_sections(void (*run)(void *), void *data, unsigned n, unsigned count,
                            unsigned flags)
{
    if (!ft_omp_is_ours())
        FT_REAL(GOMP_parallel_sections)(run, data, n, count, flags);
    else
        loop_region(run, data, n, 1, (long)count + 1, 1, 1, CODE);
}

/* ---- single blocks: each is that of the next thread */

bool GOMP_single_start(void)
{
    if (!ft_omp_is_ours()) return FT_REAL(GOMP_single_start)();
    return ft_omp_me.singles++ % threads() == ft_omp_me.number;
}

void *GOMP_single_copy_start(void)
{
    if (!ft_omp_is_ours()) return FT_REAL(GOMP_single_copy_start)();
    if (GOMP_single_start()) return NULL;
    meet();
    return ft_omp_me.team->copied;
}

void GOMP_single_copy_end(void *data)
{
    if (!ft_omp_is_ours()) {
        FT_REAL(GOMP_single_copy_end)(data);
        return;
    }
    if (ft_omp_me.team) ft_omp_me.team->copied = data;
    meet();
}

/* ---- critical and atomic blocks, locks: mutexes */

static pthread_mutex_t omp_critical = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t omp_atomic = PTHREAD_MUTEX_INITIALIZER;

/* A named block has a pointer, which is where its mutex is kept. */
static pthread_mutex_t *named(void **name)
{
    if (!*name) {
        pthread_mutex_t *made = calloc(1, sizeof *made);
        void *none = NULL;
        if (!__atomic_compare_exchange_n(name, &none, made, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_ACQUIRE))
            free(made);
    }
    return *name;
}

#define LOCKS(name, parameters, arguments, call)                                                   \
    void name parameters                                                                           \
    {                                                                                              \
        if (!ft_omp_is_ours())                                                                     \
            FT_REAL(name) arguments;                                                               \
        else                                                                                       \
            (void)(call);                                                                          \
    }
LOCKS(GOMP_critical_start, (void), (), pthread_mutex_lock(&omp_critical))
LOCKS(GOMP_critical_end, (void), (), pthread_mutex_unlock(&omp_critical))
LOCKS(GOMP_critical_name_start, (void **name), (name), pthread_mutex_lock(named(name)))
LOCKS(GOMP_critical_name_end, (void **name), (name), pthread_mutex_unlock(named(name)))
LOCKS(GOMP_atomic_start, (void), (), pthread_mutex_lock(&omp_atomic))
LOCKS(GOMP_atomic_end, (void), (), pthread_mutex_unlock(&omp_atomic))

/* A lock of four bytes is known by its address. */
enum { MUTEXES = 1 << 12 };
static struct {
    const void *lock;
    pthread_mutex_t mutex;
} mutexes[MUTEXES];

static pthread_mutex_t *mutex_of(const void *of, int type)
{
    size_t i = (uintptr_t)of / 4 % MUTEXES;
    while (mutexes[i].lock && mutexes[i].lock != of) i = (i + 1) % MUTEXES;
    if (mutexes[i].lock) return &mutexes[i].mutex;
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, type);
    mutexes[i].lock = of;
    pthread_mutex_init(&mutexes[i].mutex, &kind);
    return &mutexes[i].mutex;
}

#define PLAIN(l) mutex_of(l, PTHREAD_MUTEX_NORMAL)
#define NEST(l)  mutex_of(l, PTHREAD_MUTEX_RECURSIVE)
LOCKS(omp_init_lock, (void *l), (l), PLAIN(l))
LOCKS(omp_destroy_lock, (void *l), (l), l)
LOCKS(omp_set_lock, (void *l), (l), pthread_mutex_lock(PLAIN(l)))
LOCKS(omp_unset_lock, (void *l), (l), pthread_mutex_unlock(PLAIN(l)))
LOCKS(omp_init_nest_lock, (void *l), (l), NEST(l))
LOCKS(omp_destroy_nest_lock, (void *l), (l), l)
LOCKS(omp_set_nest_lock, (void *l), (l), pthread_mutex_lock(NEST(l)))
LOCKS(omp_unset_nest_lock, (void *l), (l), pthread_mutex_unlock(NEST(l)))

int omp_test_lock(void *l)
{
    if (!ft_omp_is_ours()) return FT_REAL(omp_test_lock)(l);
    return !pthread_mutex_trylock(PLAIN(l));
}

/* ---- questions */

#define ANSWERS(name, answer)                                                                      \
    int name(void)                                                                                 \
    {                                                                                              \
        if (!ft_omp_is_ours() || !ft_omp_me.team) return FT_REAL(name)();                          \
        return (int)(answer);                                                                      \
    }
ANSWERS(omp_get_num_threads, ft_omp_me.team->n)
ANSWERS(omp_in_parallel, ft_omp_me.team->level > 0)
ANSWERS(omp_get_level, ft_omp_me.team->level)
ANSWERS(omp_get_active_level, ft_omp_me.team->level)

int omp_get_max_threads(void)
{
    bool within = ft_omp_is_ours() && ft_omp_me.team;
    return within ? (int)settings.threads : FT_REAL(omp_get_max_threads)();
}
