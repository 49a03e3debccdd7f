/* A reader looks at a table that another thread frees, in sections of one lock that count what they
 * did: if the other section comes first, it reads another count than in the recorded run.
 * Corrected, the reader looks whether the table is still there. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *table, count, seen, gone;

static void *look(void *unused)
{
    pthread_mutex_lock(&lock);
    count++;
#ifdef FIXED
    if (!gone) seen = table[2];
#else
    seen = table[2];
#endif
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *end(void *unused)
{
    pthread_mutex_lock(&lock);
    count++;
    gone = 1;
    free(table);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    table = calloc(4, sizeof *table);
    pthread_create(&threads[0], NULL, look, NULL);
    pthread_create(&threads[1], NULL, end, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return seen;
}
