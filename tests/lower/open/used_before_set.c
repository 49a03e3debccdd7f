/* null-access: a pointer is published under the lock, for some inputs behind the reader's start. */
#include <stdlib.h>

#include "open.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *settings;

static void publish(int *made)
{
    pthread_mutex_lock(&lock);
    settings = made;
    pthread_mutex_unlock(&lock);
}

static void *use(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    int *found = settings;
    pthread_mutex_unlock(&lock);
    return (void *)(long)*found;
}

int main(void)
{
    pthread_t thread;
    short early;
    int *made = calloc(1, sizeof *made);
    if (!made) return 0;
    foretell_input(&early, sizeof early, "early");
#ifdef FIXED
    early |= 1;
#endif
    if (early) publish(made);
    pthread_create(&thread, 0, use, 0);
    if (!early) publish(made);
    pthread_join(thread, 0);
    return 0;
}
