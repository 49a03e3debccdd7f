/* Two workers add to a sum until the main thread sets `stop`. Before that it looks at the sum as
 * often as the input says. A run has an epoch for each look. */
#include <assert.h>
#include <foretell/input.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int stop, sum, seen;
static unsigned looks;
static unsigned short wanted;
static __thread unsigned own;

static void *work(void *unused)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        if (stop) {
            pthread_mutex_unlock(&lock);
            return unused;
        }
        sum += 2;
        pthread_mutex_unlock(&lock);
        own++;
    }
}

int main(void)
{
    pthread_t one, other;
    foretell_input(&wanted, sizeof wanted, "wanted");
    pthread_create(&one, 0, work, 0);
    pthread_create(&other, 0, work, 0);
    while (looks < wanted) {
        looks++;
        pthread_mutex_lock(&lock);
        seen = sum;
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_lock(&lock);
    stop = 1;
    pthread_mutex_unlock(&lock);
    pthread_join(one, 0);
    pthread_join(other, 0);
    assert(sum == (looks ? 4 * (int)(looks - 1) : 0));
    return 0;
}
