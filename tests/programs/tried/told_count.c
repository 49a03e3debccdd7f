/* Two locks in opposite orders. Whether the third thread takes both depends on a count that it gets
 * through a pipe, and where the deadlock would be the count is another one than in the recorded
 * run: a replay that feeds it the recorded count would reach a deadlock that the program cannot
 * have. Corrected, the thread takes both locks for the later count alone. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int ends[2], count, both;

static void *first(void *unused)
{
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    count++;
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return unused;
}

static void *second(void *unused)
{
    pthread_mutex_lock(&b);
    int told = ++count;
    pthread_mutex_unlock(&b);
    if (write(ends[1], &told, sizeof told) != sizeof told) abort();
    return unused;
}

static void *third(void *unused)
{
    int told;
    if (read(ends[0], &told, sizeof told) != sizeof told) abort();
    pthread_mutex_lock(&b);
#ifdef FIXED
    if (told == 2) {
#else
    if (told >= 1) {
#endif
        pthread_mutex_lock(&a);
        both++;
        pthread_mutex_unlock(&a);
    }
    pthread_mutex_unlock(&b);
    return unused;
}

int main(void)
{
    void *(*const runs[])(void *) = {first, second, third};
    pthread_t threads[3];
    if (pipe(ends)) abort();
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, runs[i], NULL);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    return 0;
}
