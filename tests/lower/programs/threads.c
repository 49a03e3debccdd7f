#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <threads.h>
enum { N = 3, ROUNDS = 4 };
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t b;
static pthread_once_t o = PTHREAD_ONCE_INIT;
static sem_t s;
static atomic_int hits;
static _Atomic long total;
static int queue[8], n, produced, once_count;
static __thread int own;
static pthread_key_t key;
static void initialise(void)
{
    once_count++;
    pthread_key_create(&key, NULL);
}
static void *produce(void *a)
{
    for (int i = 1; i <= ROUNDS; i++) {
        pthread_mutex_lock(&m);
        while (n == 2) pthread_cond_wait(&c, &m);
        queue[n++] = i;
        produced += i;
        pthread_cond_broadcast(&c);
        pthread_mutex_unlock(&m);
    }
    return a;
}
static void *consume(void *a)
{
    long sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&m);
        while (!n) pthread_cond_wait(&c, &m);
        sum += queue[--n];
        pthread_cond_signal(&c);
        pthread_mutex_unlock(&m);
    }
    *(long *)a = sum;
    return NULL;
}
static void *meet(void *a)
{
    pthread_once(&o, initialise);
    own = (int)(long)a;
    pthread_setspecific(key, a);
    atomic_fetch_add(&hits, own);
    pthread_rwlock_rdlock(&rw);
    pthread_rwlock_unlock(&rw);
    int last = pthread_barrier_wait(&b);
    if (last) total += 100;
    long expected = total;
    while (!atomic_compare_exchange_weak(&total, &expected, expected + own)) {
    }
    sem_post(&s);
    return pthread_getspecific(key);
}
static int c11(void *a)
{
    return *(int *)a * 2;
}
int main(void)
{
    pthread_t t[N];
    long sum = 0, results = 0;
    thrd_t x;
    int in = 21, out;
    pthread_create(&t[0], NULL, produce, &m);
    pthread_create(&t[1], NULL, consume, &sum);
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
    printf("%d %ld\n", produced, sum);
    pthread_barrier_init(&b, NULL, N);
    sem_init(&s, 0, 0);
    for (long i = 0; i < N; i++) pthread_create(&t[i], NULL, meet, (void *)(i + 1));
    for (int i = 0; i < N; i++) sem_wait(&s);
    for (int i = 0; i < N; i++) {
        void *r;
        pthread_join(t[i], &r);
        results += (long)r;
    }
    printf("%d %ld %d %ld %d\n", hits, (long)total, once_count, results, own);
    thrd_create(&x, c11, &in);
    thrd_join(x, &out);
    printf("%d %d\n", out, pthread_mutex_trylock(&m));
    return 0;
}
