/* Three threads take one lock, in any order: that of a recorded run is preferred. The lock is
 * initialised and destroyed, which recordings do not have. */
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t lock;
static atomic_int looks;
static int sum;

static void *work(void *unused)
{
    for (int i = 0; i < 2; i++) {
        atomic_load(&looks);
        pthread_mutex_lock(&lock);
        sum++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void)
{
    pthread_t one, other;
    pthread_mutex_init(&lock, 0);
    pthread_create(&one, 0, work, 0);
    pthread_create(&other, 0, work, 0);
    work(0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    pthread_mutex_destroy(&lock);
    return 0;
}
