/* A correct pool of threads. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int queue[64], head, tail, done, sum;
static void *work(void *a)
{
    for (;;) {
        pthread_mutex_lock(&m);
        while (head == tail && !done) pthread_cond_wait(&c, &m);
        if (head == tail) {
            pthread_mutex_unlock(&m);
            return a;
        }
        int v = queue[head++];
        pthread_mutex_unlock(&m);
        pthread_mutex_lock(&m);
        sum += v;
        pthread_mutex_unlock(&m);
    }
}
int main(void)
{
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 32; i++) {
        pthread_mutex_lock(&m);
        queue[tail++] = i;
        pthread_cond_signal(&c);
        pthread_mutex_unlock(&m);
    }
    pthread_mutex_lock(&m);
    done = 1;
    pthread_cond_broadcast(&c);
    pthread_mutex_unlock(&m);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    printf("%d\n", sum);
    return 0;
}
