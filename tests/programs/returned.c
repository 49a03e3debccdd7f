/* Structures that functions return are stored where another thread finds them, and are passed by
 * value, under the lock: compilers have no calls of the sanitizer for that. Who has found one comes
 * behind all that its maker did before, the preparation included, and has heard of nothing that
 * comes later: the flag is under no lock. With FIXED it is under one. */
#include <pthread.h>
#include <stdio.h>

typedef struct point {
    int x, y;
} point;

typedef struct message {
    long id, words[4];
    char kind;
} message;

typedef struct page {
    long lines[40];
} page;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static point last;
static message latest;
static page book[2];
static int prepared, finished, none;

__attribute__((noinline)) static point make_point(int x)
{
    point made = {x, x + 1};
    return made;
}

__attribute__((noinline)) static message make_message(long id)
{
    message made = {.id = id, .kind = 1};
    return made;
}

__attribute__((noinline)) static page make_page(long first)
{
    page made = {{first}};
    return made;
}

__attribute__((noinline)) static long id_of(message m)
{
    return m.kind ? m.id : 0;
}

__attribute__((noinline)) static int sum_of(int more, point p)
{
    return p.x + p.y + more;
}

static void finish(void)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    finished++;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
}

static void *write_all(void *number)
{
    long id = *(long *)number;
    prepared = 1;
    pthread_mutex_lock(&lock);
    last = make_point(1);
    latest = make_message(id);
    book[id % 2] = make_page(id);
    pthread_mutex_unlock(&lock);
    finish();
    return NULL;
}

static void *read_all(void *unused)
{
    pthread_mutex_lock(&lock);
    int sum = sum_of(none, last);
    long id = id_of(latest);
    page copy = book[1];
    pthread_mutex_unlock(&lock);
    if (sum && id && copy.lines[0]) printf("%d\n", prepared);
    finish();
    return unused;
}

int main(void)
{
    long id = 7;
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, write_all, &id);
    pthread_create(&threads[1], NULL, read_all, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    printf("%d\n", finished);
    return 0;
}
