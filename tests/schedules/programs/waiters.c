/* Threads that wait for one condition, of which signals wake some and a broadcast the rest, beside
 * attempts at locks, a `once`, a semaphore that counts, and a recursive lock. The inputs say how
 * many tickets there are, and which threads try. */
#include <assert.h>
#include <errno.h>
#include <foretell/input.h>
#include <pthread.h>
#include <semaphore.h>

enum { THREADS = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, log_lock,
                       spare = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t open_now = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t prepared = PTHREAD_ONCE_INIT;
static sem_t done;
static int left, closed, taken, rows, refused;
static unsigned char tickets, tries;

static void prepare(void)
{
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&log_lock, &kind);
    rows = 1;
}

/* Writes where it gets the table at once, else it reads. */
static void look(long number)
{
    if ((tries & 1 << number) && pthread_rwlock_trywrlock(&table) == 0) {
        rows++;
        pthread_rwlock_unlock(&table);
    } else if (pthread_rwlock_tryrdlock(&table) == 0) {
        assert(rows >= 1);
        pthread_rwlock_unlock(&table);
    }
}

static void note(int n)
{
    pthread_mutex_lock(&log_lock);
    if (n > 0) note(n - 1);
    pthread_mutex_unlock(&log_lock);
}

static void *visit(void *number)
{
    pthread_once(&prepared, prepare);
    look((long)number);
    pthread_mutex_lock(&lock);
    while (!left && !closed) pthread_cond_wait(&open_now, &lock);
    if (left) left--, taken++;
    pthread_mutex_unlock(&lock);
    if (pthread_mutex_trylock(&spare) == 0)
        pthread_mutex_unlock(&spare);
    else
        note(0);
    note(tries & 1);
    sem_post(&done);
    return 0;
}

int main(void)
{
    pthread_t threads[THREADS];
    foretell_input(&tickets, sizeof tickets, "tickets");
    foretell_input(&tries, sizeof tries, "tries");
    if (tickets > THREADS || tries > 3) return 0;
    sem_init(&done, 0, 0);
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, visit, (void *)i);
    for (int i = 0; i < tickets; i++) {
        pthread_mutex_lock(&lock);
        left++;
        pthread_cond_signal(&open_now);
        pthread_mutex_unlock(&lock);
    }
    if (sem_trywait(&done)) refused = 1;
    pthread_mutex_lock(&lock);
    closed = 1;
    pthread_cond_broadcast(&open_now);
    pthread_mutex_unlock(&lock);
    for (int i = refused ? 0 : 1; i < THREADS; i++) sem_wait(&done);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
    assert(taken <= tickets && !left == (taken == tickets));
    return 0;
}
