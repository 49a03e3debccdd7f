/* Runs that fail, and one that does not, by the first argument. */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static const char *end;
static int count, stop;
static int *volatile nowhere;

static int is(const char *word)
{
    return strcmp(end, word) == 0;
}

/* Who asks for the second lock keeps the first one. */
static void try_for_ever(pthread_mutex_t *first, pthread_mutex_t *second)
{
    pthread_mutex_lock(first);
    for (int i = 0; i < 20; i++) stop = 0; /* the other takes its first one meanwhile */
    while (pthread_mutex_trylock(second)) sched_yield();
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}

static void *work(void *argument)
{
    if (is("tries")) try_for_ever(argument ? &lock : &other, argument ? &other : &lock);
    if (is("poll")) stop = 0;
    pthread_mutex_lock(&lock);
    count++;
    if (is("crash")) *nowhere = count;
    if (is("abort")) abort();
    if (is("assert")) assert(count == 0);
    if (is("deadlock")) pthread_mutex_lock(&other);
    pthread_mutex_unlock(&lock);
    return argument;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    end = argc > 1 ? argv[1] : "clean";
    if (is("deadlock")) pthread_mutex_lock(&other);
    pthread_create(&thread, NULL, work, NULL);
    if (is("hang")) pause();
    while (is("poll") && !stop) continue;
    if (is("tries")) work(&count);
    pthread_join(thread, NULL);
    printf("%d\n", count);
    return is("exit") ? 3 : 0;
}
