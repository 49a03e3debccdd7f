/* classes 5, fail 0: each of 2 threads takes one lock where an input of its own says so: the sum
 * over i of the choices of i threads, times i factorial. */
#include <foretell/input.h>
#include <pthread.h>

enum { THREADS = 2 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int takes[THREADS];

static void *work(void *number)
{
    if (!takes[(long)number]) return 0;
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) foretell_input(&takes[i], sizeof takes[i], "takes");
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, work, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
    return 0;
}
