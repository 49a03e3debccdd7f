/* The worker says that it is done before its last look at a block, which its owner frees then. The
 * block is so large that the system has its memory back at once: in the schedule that shows it, the
 * worker has another step to do between, and comes to that look when the memory is gone. FIXED: it
 * looks before. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { NUMBERS = 1 << 20 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *numbers, is_done, looks, last;

static void look(void)
{
    looks++;
    last = numbers[NUMBERS / 2];
}

static void *work(void *unused)
{
    (void)unused;
#ifdef FIXED
    look();
#endif
    pthread_mutex_lock(&lock);
    is_done = 1;
    pthread_mutex_unlock(&lock);
#ifndef FIXED
    look();
#endif
    return NULL;
}

static int has_worked(void)
{
    pthread_mutex_lock(&lock);
    int done = is_done;
    pthread_mutex_unlock(&lock);
    return done;
}

int main(void)
{
    pthread_t worker;
    numbers = calloc(NUMBERS, sizeof *numbers);
    pthread_create(&worker, NULL, work, NULL);
    while (!has_worked()) usleep(1000);
    free(numbers);
    pthread_join(worker, NULL);
    return 0;
}
