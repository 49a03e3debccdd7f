/* Small tests that always end with exit code 0, and print something else in some schedules. With
 * -DFIXED they print the same in all. The argument chooses. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int total;

/* ---- total: an update is lost */

static void *add_one(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&m);
    int seen = total;
#ifndef FIXED
    pthread_mutex_unlock(&m);
    pthread_mutex_lock(&m);
#endif
    total = seen + 1;
    pthread_mutex_unlock(&m);
    return NULL;
}

/* ---- order: two threads print their names */

static void *print_name(void *name)
{
    pthread_mutex_lock(&m);
    puts(name);
    pthread_mutex_unlock(&m);
    return NULL;
}

int main(int argc, char **argv)
{
    static char names[2][8] = {"first", "second"};
    pthread_t threads[2];
    if (argc < 2) return 2;
    int counts = !strcmp(argv[1], "total");
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, counts ? add_one : print_name, names[i]);
#ifdef FIXED
        if (!counts) pthread_join(threads[i], NULL);
#endif
    }
#ifdef FIXED
    int joined = !counts;
#else
    int joined = 0;
#endif
    for (int i = 0; i < 2 && !joined; i++) pthread_join(threads[i], NULL);
    if (counts) printf("total %d\n", total);
    return 0;
}
