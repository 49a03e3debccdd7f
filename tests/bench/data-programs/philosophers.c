/* Three philosophers eat twice; all take the fork with the lower number first. */
#include <pthread.h>

enum { ALL = 3 };

static pthread_mutex_t forks[ALL] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                     PTHREAD_MUTEX_INITIALIZER};
static int eaten[ALL];

static void *dine(void *seat)
{
    int own = *(int *)seat, next = (own + 1) % ALL;
    int low = own < next ? own : next, high = own + next - low;
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&forks[low]);
        pthread_mutex_lock(&forks[high]);
        eaten[own]++;
        pthread_mutex_unlock(&forks[high]);
        pthread_mutex_unlock(&forks[low]);
    }
    return NULL;
}

int main(void)
{
    int seats[ALL], sum = 0;
    pthread_t threads[ALL];
    for (int i = 0; i < ALL; i++) {
        seats[i] = i;
        pthread_create(&threads[i], NULL, dine, &seats[i]);
    }
    for (int i = 0; i < ALL; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < ALL; i++) sum += eaten[i];
    return sum != 2 * ALL;
}
