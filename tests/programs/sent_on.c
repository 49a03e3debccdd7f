/* A long message that code without hooks makes, a compressor say, is written to a file by another
 * thread: whose it is changes nothing for that thread, so the race on the flag beside it is there.
 * With FIXED the flag is under the lock. */
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

enum { LENGTH = 3000 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char message[LENGTH];
static int finished;

__attribute__((noinline, no_sanitize_thread)) static void pack(char *to, size_t n)
{
    for (size_t i = 0; i < n; i++) to[i] = (char)('a' + i % 26);
}

static void *make(void *unused)
{
    pthread_mutex_lock(&lock);
    pack(message, LENGTH);
    message[LENGTH - 1] = '\n';
#ifdef FIXED
    finished = 1;
#endif
    pthread_mutex_unlock(&lock);
#ifndef FIXED
    finished = 1;
#endif
    return unused;
}

static void *send_on(void *unused)
{
    int file = open("/dev/null", O_WRONLY);
    pthread_mutex_lock(&lock);
    ssize_t n = write(file, message, LENGTH);
#ifdef FIXED
    n += finished;
#endif
    pthread_mutex_unlock(&lock);
#ifndef FIXED
    n += finished;
#endif
    return n < 0 ? message : unused;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, make, NULL);
    pthread_create(&threads[1], NULL, send_on, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
