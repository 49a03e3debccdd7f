/* The synchronisation of pfscan, written anew: main puts the files' numbers into a bounded queue,
 * threads take them out and count matches under a lock of their own. */
#include <pthread.h>

void foretell_input(void *, unsigned long, const char *);

enum { THREADS = 2, ROOM = 2, FILES = 8 };
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER, less = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t match_lock = PTHREAD_MUTEX_INITIALIZER;
static int queue[ROOM], queued, put, taken, closed, files, wanted, matches, found[FILES];

static int dequeue(int *file)
{
    pthread_mutex_lock(&queue_lock);
    while (queued == 0 && !closed) pthread_cond_wait(&more, &queue_lock); /* A */
    if (queued == 0) {
        pthread_mutex_unlock(&queue_lock);
        return 0;
    }
    *file = queue[taken % ROOM];
    taken++;
    queued--;
    pthread_cond_signal(&less);
    pthread_mutex_unlock(&queue_lock);
    return 1;
}

static void *worker(void *argument)
{
    int file;
    while (dequeue(&file)) {
        if (found[file & (FILES - 1)] == wanted) {
            pthread_mutex_lock(&match_lock);
            matches++; /* B */
            pthread_mutex_unlock(&match_lock);
        }
    }
    return argument;
}

int main(void)
{
    pthread_t threads[THREADS];
    foretell_input(&files, sizeof files, "files");
    foretell_input(&wanted, sizeof wanted, "wanted");
    for (int i = 0; i < (int)(sizeof found / sizeof found[0]); i++)
        foretell_input(&found[i], sizeof found[i], "found");
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, worker, 0);
    for (int i = 0; i < files; i++) {
        pthread_mutex_lock(&queue_lock);
        while (queued == ROOM) pthread_cond_wait(&less, &queue_lock); /* M */
        queue[put % ROOM] = i;
        put++;
        queued++;
        pthread_cond_signal(&more);
        pthread_mutex_unlock(&queue_lock);
    }
    pthread_mutex_lock(&queue_lock);
    closed = 1;
    pthread_cond_broadcast(&more);
    pthread_mutex_unlock(&queue_lock);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
    return 0;
}
