/* How far a file is written goes with what else is done under the lock. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int file, length;

static void *writer(void *unused)
{
    pthread_mutex_lock(&lock);
    if (write(file, "abc", 3) == 3) length += 3;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *reader(void *unused)
{
    pthread_mutex_lock(&lock);
    long place = lseek(file, 0, SEEK_CUR);
    assert(place == length);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    file = fileno(tmpfile());
    pthread_create(&threads[0], NULL, writer, NULL);
    pthread_create(&threads[1], NULL, reader, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
