/* Two producers and two consumers of jobs in a bounded buffer; the consumers count what they did
 * without a lock: one race, with as many pairs of accesses as the square of the jobs. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROOM = 16, THREADS = 4 };

struct job {
    long number;
    char text[24];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
static struct job *buffer[ROOM];
static unsigned first, count;
static long jobs, done;

static void put(struct job *job)
{
    pthread_mutex_lock(&lock);
    while (count == ROOM) pthread_cond_wait(&emptied, &lock);
    buffer[(first + count++) % ROOM] = job;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
}

static struct job *get(void)
{
    pthread_mutex_lock(&lock);
    while (!count) pthread_cond_wait(&filled, &lock);
    struct job *job = buffer[first];
    first = (first + 1) % ROOM;
    count--;
    pthread_cond_signal(&emptied);
    pthread_mutex_unlock(&lock);
    return job;
}

static void *produce(void *unused)
{
    for (long i = 0; i < jobs; i++) {
        struct job *job = malloc(sizeof *job);
        if (!job) abort();
        job->number = i;
        snprintf(job->text, sizeof job->text, "job %ld", i);
        put(job);
    }
    return unused;
}

static void *consume(void *unused)
{
    for (long i = 0; i < jobs; i++) {
        struct job *job = get();
        if (job->number < 0 || job->text[0] != 'j') abort();
        done++;
        free(job);
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    jobs = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, i % 2 ? consume : produce, NULL);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    return 0;
}
