#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
/* Kinds of mutexes by their initialisers: of globals, parts of them, locals, and copies. */
struct box {
    char name[5];
    pthread_mutex_t m;
    union {
        int x;
        long y;
    } u;
};
static struct box b = {"b", PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, {2}};
static pthread_mutex_t array[3] = {PTHREAD_MUTEX_INITIALIZER,
                                   PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP,
                                   PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP};
static const struct box templates[2] = {{"one", PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP, {3}},
                                        {"two", PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, {4}}};
static void *stranger(void *m)
{
    return (void *)(intptr_t)pthread_mutex_unlock(m);
}
static void twice(const char *name, pthread_mutex_t *m)
{
    pthread_t t;
    void *result;
    int first = pthread_mutex_lock(m), second = pthread_mutex_lock(m);
    pthread_create(&t, NULL, stranger, m);
    pthread_join(t, &result);
    printf("%s %d %d %ld", name, first, second, (long)(intptr_t)result);
    first = pthread_mutex_unlock(m);
    second = pthread_mutex_unlock(m);
    printf(" %d %d\n", first, second);
}
int main(void)
{
    pthread_mutex_t local = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    struct box two[2] = {{"x", PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP, {0}},
                         {"y", PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, {0}}};
    struct box *heap = malloc(2 * sizeof *heap);
    twice("global", &b.m);
    twice("array", &array[1]);
    twice("local", &local);
    twice("locals", &two[0].m);
    twice("locals", &two[1].m);
    heap[0] = templates[1];
    heap[1] = (struct box){"z", PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP, {1}};
    twice("copy", &heap[0].m);
    twice("literal", &heap[1].m);
    heap[1].m = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    twice("assigned", &heap[1].m);
    pthread_mutex_lock(&array[0]);
    pthread_mutex_lock(&array[2]);
    printf("%d %d\n", pthread_mutex_trylock(&array[0]), pthread_mutex_trylock(&array[2]));
    free(heap);
    for (size_t align = 8; align <= 4096; align *= 4) {
        void *p = NULL;
        int result = posix_memalign(&p, align, align * 2);
        printf("%d %d\n", result, (int)((uintptr_t)p % align));
        free(p);
        void *q = aligned_alloc(align, align);
        printf("%d\n", (int)((uintptr_t)q % align));
        free(q);
    }
    return 0;
}
