/* A producer hands items to a consumer, which waits for each of them, as often as the input says. A
 * run has an epoch for each item, which begins while the consumer is inside of its wait; the counts
 * are in an object of the heap. */
#include <assert.h>
#include <foretell/input.h>
#include <pthread.h>
#include <stdlib.h>

struct counts {
    int taken;
    unsigned sent;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct counts *counts;
static int full, done;
static unsigned short items;

static void *consume(void *unused)
{
    pthread_mutex_lock(&lock);
    for (;;) {
        /* another epoch may begin in the wait */
        while (!full && !done) pthread_cond_wait(&changed, &lock);
        if (!full) break;
        full = 0;
        counts->taken++;
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t consumer;
    foretell_input(&items, sizeof items, "items");
    counts = calloc(1, sizeof *counts);
    pthread_create(&consumer, 0, consume, 0);
    while (counts->sent < items) {
        counts->sent++;
        pthread_mutex_lock(&lock);
        full = 1;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_lock(&lock);
    done = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(consumer, 0);
    assert(counts->taken == items);
    return 0;
}
