/* Code without hooks fills a long buffer under a lock, and who then searches it goes on by what is
 * found there: never before it was filled. */
#include <pthread.h>
#include <stddef.h>
#include <string.h>

enum { LENGTH = 3000 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char line[LENGTH];
static int number;

__attribute__((noinline, no_sanitize_thread)) static void fill(char *to, size_t n)
{
    for (size_t i = 0; i < n; i++) to[i] = i + 1 < n ? '.' : '\n';
}

static void *make(void *unused)
{
    number = 1;
    pthread_mutex_lock(&lock);
    fill(line, sizeof line);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *search(void *unused)
{
    pthread_mutex_lock(&lock);
    const char *end = memchr(line, '\n', sizeof line);
    pthread_mutex_unlock(&lock);
    if (end) number = 2;
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, make, NULL);
    pthread_create(&threads[1], NULL, search, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return number == 3;
}
