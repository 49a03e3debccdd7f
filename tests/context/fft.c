/* The synchronisation of SPLASH-2's fft, written anew: phases of a transform with a barrier between
 * each, and a number for each thread by a counter under a lock. */
#include <pthread.h>

void foretell_input(void *, unsigned long, const char *);

enum { THREADS = 2, ROWS = 4 };
static pthread_barrier_t start;
static pthread_mutex_t id_lock = PTHREAD_MUTEX_INITIALIZER;
static int next_id, inverse, data[ROWS], trans[ROWS];

static void transpose(const int *from, int *to, int first, int last)
{
    for (int i = first; i < last; i++) to[i] = inverse ? -from[i] : from[i];
}

static void *worker(void *argument)
{
    pthread_mutex_lock(&id_lock);
    int id = next_id++;
    pthread_mutex_unlock(&id_lock);
    int first = id * (ROWS / THREADS), last = first + ROWS / THREADS;
    pthread_barrier_wait(&start); /* A, B */
    transpose(data, trans, first, last);
    pthread_barrier_wait(&start);
    transpose(trans, data, first, last);
    pthread_barrier_wait(&start);
    return argument;
}

int main(void)
{
    pthread_t threads[THREADS];
    foretell_input(&inverse, sizeof inverse, "inverse");
    for (int i = 0; i < (int)(sizeof data / sizeof data[0]); i++)
        foretell_input(&data[i], sizeof data[i], "data");
    pthread_barrier_init(&start, 0, THREADS);
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, worker, 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
    return 0;
}
