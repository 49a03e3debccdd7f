/* The synchronisation of SPLASH-2's lu, written anew: in each step of the elimination the owner of
 * the diagonal block factors it; a barrier; the owners of the other blocks of its row and column
 * divide them; a barrier; all update what is left. Threads get their numbers by a counter under a
 * lock. */
#include <pthread.h>

void foretell_input(void *, unsigned long, const char *);

enum { THREADS = 4, BLOCKS = 4 };
static pthread_barrier_t barrier;
static pthread_mutex_t id_lock = PTHREAD_MUTEX_INITIALIZER;
static int next_id, n_blocks, rows[BLOCKS], factored;

static int owner(int i)
{
    return i % THREADS;
}

static void *worker(void *argument)
{
    pthread_mutex_lock(&id_lock);
    int id = next_id++;
    pthread_mutex_unlock(&id_lock);
    for (int k = 0; k < n_blocks; k++) {
        if (owner(k) == id) /* A, B, C, D */
            factored = k;
        pthread_barrier_wait(&barrier);
        for (int i = k + 1; i < n_blocks; i++)
            if (owner(i) == id) rows[i]++;
        pthread_barrier_wait(&barrier); /* E, F, G, H */
    }
    return argument;
}

int main(void)
{
    pthread_t threads[THREADS];
    foretell_input(&n_blocks, sizeof n_blocks, "n");
    pthread_barrier_init(&barrier, 0, THREADS);
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, worker, 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
    return 0;
}
