/* A list that grows by realloc under its lock, and a flag behind the lock that is under none. What
 * realloc moves is the moving thread's write: the reader of the list has not seen anything that
 * comes before the flag. With FIXED the flag is the lock's too. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 40 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *list;
static int n, finished;

static void append(int value)
{
    pthread_mutex_lock(&lock);
    int *grown = realloc(list, (size_t)(n + 1) * sizeof *list);
    if (!grown) abort();
    list = grown;
    list[n++] = value;
    pthread_mutex_unlock(&lock);
}

static void finish(void)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    finished = 1;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
}

static void *write_all(void *unused)
{
    for (int i = 0; i < MOST; i++) append(i);
    finish();
    return unused;
}

static int sum(void)
{
    int all = 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < n; i++) all += list[i];
    pthread_mutex_unlock(&lock);
    return all;
}

static int is_finished(void)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    int is = finished;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return is;
}

static void *read_all(void *unused)
{
    int all = sum();
    printf("%d so far%s\n", all, is_finished() ? ", finished" : "");
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    append(1);
    append(2);
    pthread_create(&threads[0], NULL, write_all, NULL);
    pthread_create(&threads[1], NULL, read_all, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    free(list);
    return 0;
}
