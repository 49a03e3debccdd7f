/* Each thread has places of its own, by a counter: no address is one that another thread had. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int places[4], taken;
static _Atomic int ticket;

static void *worker(void *argument)
{
    for (int i = 0; i < 2; i++) {
        int mine = atomic_fetch_add(&ticket, 1);
        int before = atomic_exchange(&places[mine], 7);
        assert(before == 0);
        assert(atomic_load(&places[mine]) == 7);
        atomic_fetch_add(&taken, 1);
    }
    return argument;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    assert(taken == 4);
    for (int i = 0; i < 4; i++) assert(places[i] == 7);
    return 0;
}
