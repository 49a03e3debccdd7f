/* The C library maps a thread's stack where a large block was that the program has freed. What the
 * threads then share there is no part of that block any more. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct shared {
    pthread_mutex_t lock;
    int sum;
} shared;

static void *add(void *argument)
{
    shared *s = argument;
    pthread_mutex_lock(&s->lock);
    s->sum++;
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static void *outer(void *argument)
{
    shared on_stack = {.lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t inner;
    time_t now = 1000000000;
    struct tm day;
    (void)argument;
    pthread_create(&inner, NULL, add, &on_stack);
    add(&on_stack);
    gmtime_r(&now, &day); /* writes the stack, unseen */
    pthread_join(inner, NULL);
    printf("%d %d\n", on_stack.sum, day.tm_year);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    int *large = calloc(1 << 16, sizeof *large);
    for (int i = 0; i < 1 << 16; i++) large[i] = i;
    free(large);
    pthread_create(&thread, NULL, outer, NULL);
    pthread_join(thread, NULL);
    return 0;
}
