/* A snapshot and a growing list are replaced under a lock, and what was freed is given out again at
 * once: the new one lies where the old one was. A thread that reads the new address before it has
 * come to the old one gets the new one, which nobody has freed. The bug: the snapshot is used when
 * the lock is given back. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 3, MORE = 40 };

typedef struct snapshot {
    long version, copy;
} snapshot;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static snapshot *now;
static long *list;
static int length;

static void replace(long version)
{
    pthread_mutex_lock(&lock);
    free(now);
    now = malloc(sizeof *now);
    now->version = now->copy = version;
    pthread_mutex_unlock(&lock);
}

static void grow(void)
{
    pthread_mutex_lock(&lock);
    length += MORE;
    list = realloc(list, (size_t)length * sizeof *list);
    for (int i = length - MORE; i < length; i++) list[i] = i;
    pthread_mutex_unlock(&lock);
}

static int differs(void)
{
    pthread_mutex_lock(&lock);
    snapshot *s = now;
#ifndef FIXED
    pthread_mutex_unlock(&lock);
#endif
    int found = s->version != s->copy;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return found;
}

static long second(void)
{
    pthread_mutex_lock(&lock);
    long found = list[1];
    pthread_mutex_unlock(&lock);
    return found;
}

static void *look(void *argument)
{
    for (int i = 0; i < ROUNDS; i++)
        if (differs() || second() != 1) printf("torn\n");
    return argument;
}

static void *change(void *argument)
{
    for (int i = 1; i <= ROUNDS; i++) {
        replace(i);
        grow();
    }
    return argument;
}

int main(void)
{
    pthread_t a, b;
    replace(0);
    grow();
    pthread_create(&a, NULL, look, NULL);
    pthread_create(&b, NULL, change, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    free(now);
    free(list);
    return 0;
}
