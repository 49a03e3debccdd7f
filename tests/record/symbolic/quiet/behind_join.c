/* What a thread wrote into new memory is there behind its end in every schedule, whichever way the
 * thread went: it is nothing uninitialised, and no other value. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int turns;

typedef struct part {
    int turn, twice, kept;
} part;

static void *work(void *argument)
{
    part *p = malloc(sizeof *p);
    pthread_mutex_lock(&lock);
    p->turn = ++turns;
    pthread_mutex_unlock(&lock);
    p->twice = 2 * p->turn;
    p->kept = p->turn > 1 ? p->twice - p->turn : 1;
    *(part **)argument = p;
    return NULL;
}

int main(void)
{
    enum { THREADS = 3 };
    pthread_t threads[THREADS];
    part *parts[THREADS];
    int sum = 0;
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, &parts[i]);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        assert(parts[i]->twice == 2 * parts[i]->turn);
        assert(parts[i]->kept == parts[i]->turn);
        sum += parts[i]->turn;
        free(parts[i]);
    }
    assert(sum == 6);
    return 0;
}
