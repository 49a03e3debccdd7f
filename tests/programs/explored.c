/* Small tests whose bugs take another branch than a run that passes: a prediction has none of
 * them. With -DFIXED they are right. The argument chooses. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static int balance, closed, *published;

/* ---- a value is read in one section and written in another: the exit code tells */

static void *add_one(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&m);
    int seen = balance;
#ifndef FIXED
    pthread_mutex_unlock(&m);
    pthread_mutex_lock(&m);
#endif
    balance = seen + 1;
    pthread_mutex_unlock(&m);
    return NULL;
}

/* ---- a balance is checked in one section and lowered in another: an assertion fails */

static void *withdraw(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&m);
    int enough = balance >= 10;
#ifndef FIXED
    pthread_mutex_unlock(&m);
    pthread_mutex_lock(&m);
#endif
    if (enough) balance -= 10;
    assert(balance >= 0);
    pthread_mutex_unlock(&m);
    return NULL;
}

/* ---- a pointer is used by whoever comes first: a signal */

static void *publish(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&m);
    published = &balance;
    pthread_mutex_unlock(&m);
    return NULL;
}

static void *use(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&m);
    int *to = published;
    pthread_mutex_unlock(&m);
#ifdef FIXED
    if (to)
#endif
        *to = 1;
    return NULL;
}

/* ---- an early return keeps the lock: the others wait forever */

static void *leave_early(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&m);
    if (closed) {
#ifdef FIXED
        pthread_mutex_unlock(&m);
#endif
        return NULL;
    }
    balance++;
    pthread_mutex_unlock(&m);
    return NULL;
}

static void *close_it(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&m);
    closed = 1;
    pthread_mutex_unlock(&m);
    pthread_mutex_lock(&other);
    pthread_mutex_unlock(&other);
    pthread_mutex_lock(&m);
    balance--;
    pthread_mutex_unlock(&m);
    return NULL;
}

static const struct choice {
    const char *name;
    void *(*one)(void *), *(*two)(void *);
    int before, after; /* of the balance; after: -1: any */
} CHOICES[] = {{"update", add_one, add_one, 0, 2},
               {"withdraw", withdraw, withdraw, 10, -1},
               {"publish", publish, use, 0, -1},
               {"close", leave_early, close_it, 0, -1}};

int main(int argc, char **argv)
{
    pthread_t threads[2];
    for (size_t i = 0; argc > 1 && i < sizeof CHOICES / sizeof *CHOICES; i++) {
        const struct choice *c = &CHOICES[i];
        if (strcmp(argv[1], c->name) != 0) continue;
        balance = c->before;
        pthread_create(&threads[0], NULL, c->one, NULL);
        pthread_create(&threads[1], NULL, c->two, NULL);
        pthread_join(threads[0], NULL);
        pthread_join(threads[1], NULL);
        return c->after >= 0 && balance != c->after;
    }
    return 2;
}
