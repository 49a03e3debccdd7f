/* What the C library's functions leave in the program's memory, under the lock, is the calling
 * thread's write: who finds it comes behind all that this thread did before, and has heard of
 * nothing that it does later. The flag is under no lock; with FIXED it is. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct tm when;
static char *name, words[] = "one two three", *rest;
static int prepared, finished;

static void finish(void)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    finished++;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
}

static void *write_all(void *unused)
{
    time_t year = 365L * 24 * 60 * 60;
    char *made;
    prepared = optind;
    if (asprintf(&made, "%s %d", "year", 1) < 0) abort();
    pthread_mutex_lock(&lock);
    gmtime_r(&year, &when);
    name = made;
    strtok_r(words, " ", &rest);
    pthread_mutex_unlock(&lock);
    finish();
    return unused;
}

static void *read_all(void *unused)
{
    char copy[sizeof words] = "";
    pthread_mutex_lock(&lock);
    int year = when.tm_year;
    if (name) memcpy(copy, name, 6);
    if (rest) memcpy(copy, words, sizeof words);
    pthread_mutex_unlock(&lock);
    if (year) printf("%d %s\n", prepared, copy);
    if (optind < 2) abort();
    finish();
    return unused;
}

int main(void)
{
    char *arguments[] = {(char[]){"results"}, (char[]){"-v"}, NULL};
    pthread_t threads[2];
    while (getopt(2, arguments, "v") > 0) {
    }
    pthread_create(&threads[0], NULL, write_all, NULL);
    pthread_create(&threads[1], NULL, read_all, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    printf("%d\n", finished);
    free(name);
    return 0;
}
