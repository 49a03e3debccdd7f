/* The owner of a request frees it as soon as it finds it answered. The server signals behind its
 * critical section, so that the signal may come to freed memory. In the recorded run the owner
 * waits for that signal, which orders the two; where it comes later, it does not wait. Corrected,
 * the server signals while it holds the lock. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct request {
    pthread_mutex_t lock;
    pthread_cond_t answered;
    int question, answer;
};

static void *serve(void *one)
{
    struct request *request = one;
    pthread_mutex_lock(&request->lock);
    request->answer = request->question + 1;
#ifdef FIXED
    pthread_cond_broadcast(&request->answered);
    pthread_mutex_unlock(&request->lock);
#else
    pthread_mutex_unlock(&request->lock);
    pthread_cond_broadcast(&request->answered);
#endif
    return NULL;
}

int main(void)
{
    pthread_t server;
    struct request *request = calloc(1, sizeof *request);
    pthread_mutex_init(&request->lock, NULL);
    pthread_cond_init(&request->answered, NULL);
    request->question = 41;
    pthread_create(&server, NULL, serve, request);
    pthread_mutex_lock(&request->lock);
    while (!request->answer) pthread_cond_wait(&request->answered, &request->lock);
    int answer = request->answer;
    pthread_mutex_unlock(&request->lock);
    free(request);
    pthread_join(server, NULL);
    return answer != 42;
}
