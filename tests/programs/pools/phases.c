/* Workers that go through phases, with a barrier between them. Arguments: workers, phases. */
#include <pthread.h>
#include <stdlib.h>

enum { MOST = 16 };

static pthread_barrier_t meet;
static int cells[2][MOST], workers, phases;

static void *work(void *number)
{
    int me = (int)(long)number;
    for (int p = 0; p < phases; p++) {
        const int *from = cells[p % 2];
        cells[(p + 1) % 2][me] = from[me] + from[(me + 1) % workers];
        pthread_barrier_wait(&meet);
    }
    return NULL;
}

int main(int n, char **words)
{
    workers = n > 1 ? atoi(words[1]) : 2, phases = n > 2 ? atoi(words[2]) : 3;
    pthread_t threads[MOST];
    for (int i = 0; i < workers; i++) cells[0][i] = 1;
    pthread_barrier_init(&meet, NULL, (unsigned)workers);
    for (long i = 0; i < workers; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < workers; i++) pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&meet);
    return cells[phases % 2][0] != 1 << phases;
}
