/* Runs that fail, and one that does not, by the first argument. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static const char *end;
static int count;
static int *volatile nowhere;

static int is(const char *word)
{
    return strcmp(end, word) == 0;
}

static void *work(void *argument)
{
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
    pthread_join(thread, NULL);
    printf("%d\n", count);
    return is("exit") ? 3 : 0;
}
