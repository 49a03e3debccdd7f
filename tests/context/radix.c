/* The synchronisation of SPLASH-2's radix, written anew: for each digit the threads count, add up
 * their counts in a tree of flags under a lock and a condition, and permute, with barriers. */
#include <pthread.h>

void foretell_input(void *, unsigned long, const char *);

enum { THREADS = 2, KEYS = 4 };
static pthread_barrier_t barrier;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static int digits, key[KEYS], ranked[THREADS], sum;

static void *worker(void *argument)
{
    int id = *(int *)argument;
    for (int d = 0; d < digits; d++) {
        int ones = 0;
        for (int i = id; i < KEYS; i += THREADS) ones += key[i] > d;
        pthread_mutex_lock(&lock);
        while (id && ranked[id - 1] <= d) pthread_cond_wait(&done, &lock); /* A */
        sum += ones;
        ranked[id] = d + 1; /* B */
        pthread_cond_broadcast(&done);
        pthread_mutex_unlock(&lock);
        pthread_barrier_wait(&barrier);
    }
    return 0;
}

int main(void)
{
    pthread_t threads[THREADS];
    static int ids[THREADS];
    foretell_input(&digits, sizeof digits, "digits");
    for (int i = 0; i < (int)(sizeof key / sizeof key[0]); i++)
        foretell_input(&key[i], sizeof key[i], "key");
    pthread_barrier_init(&barrier, 0, THREADS);
    for (int i = 0; i < THREADS; i++) ids[i] = i;
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, worker, &ids[i]);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
    return 0;
}
