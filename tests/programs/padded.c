/* A message with a gap in it is copied whole, under its lock, from the heap: what lies in the gap
 * was never written, and is no word from the thread that made the message. The flag beside is under
 * no lock; with FIXED it is. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct message {
    char kind;
    int value;
} message;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static message *latest;
static int finished;

static void tell_finished(void)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    finished = 1;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
}

static void *send_one(void *unused)
{
    message *made = malloc(sizeof *made);
    if (!made) abort();
    made->kind = 1;
    made->value = 7;
    pthread_mutex_lock(&lock);
    latest = made;
    pthread_mutex_unlock(&lock);
    tell_finished();
    return unused;
}

static message receive(void)
{
    message copy = {0, 0};
    pthread_mutex_lock(&lock);
    if (latest) copy = *latest;
    pthread_mutex_unlock(&lock);
    return copy;
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

static void *receive_one(void *unused)
{
    message copy = receive();
    printf("%d%s\n", copy.value, is_finished() ? ", and that is all" : "");
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, send_one, NULL);
    pthread_create(&threads[1], NULL, receive_one, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    free(latest);
    return 0;
}
