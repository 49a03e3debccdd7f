/* Two threads raise a plain variable: as plain accesses nothing is seen but the race, as actions
 * four classes, in two of which one update is lost. */
#include <assert.h>
#include <pthread.h>

static int n;

static void *raise(void *unused)
{
    (void)unused;
    n++;
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, raise, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    assert(n == 2);
    return 0;
}
