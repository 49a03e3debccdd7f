/* Three threads in phases: a barrier between them, a semaphore that lets two into a section, a
 * read-write lock, an atomic counter and a spin lock; inputs choose the phases and the writer. */
#include <assert.h>
#include <foretell/input.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

enum { THREADS = 3 };

static pthread_barrier_t barrier;
static sem_t places;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int passed;
static atomic_flag spin = ATOMIC_FLAG_INIT;
static int content, last, spun;
static unsigned char phases, writes;

static void *work(void *number)
{
    for (int i = 0; i < phases; i++) {
        sem_wait(&places);
        atomic_fetch_add(&passed, 1);
        sem_post(&places);
        while (atomic_flag_test_and_set(&spin))
            ;
        spun++;
        atomic_flag_clear(&spin);
        if (pthread_barrier_wait(&barrier)) {
            pthread_mutex_lock(&lock);
            last++;
            pthread_mutex_unlock(&lock);
        }
        if (writes & 1 << (long)number) {
            pthread_rwlock_wrlock(&table);
            content++;
            pthread_rwlock_unlock(&table);
        }
    }
    return 0;
}

int main(void)
{
    pthread_t threads[THREADS];
    foretell_input(&phases, sizeof phases, "phases");
    foretell_input(&writes, sizeof writes, "writes");
    if (phases > 2 || writes > 3) return 0;
    pthread_barrier_init(&barrier, 0, THREADS);
    sem_init(&places, 0, 2);
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, work, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
    assert(passed == THREADS * phases && last == phases && spun == passed);
    return 0;
}
