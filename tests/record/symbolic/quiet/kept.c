/* Code without instrumentation keeps a pointer, and looks there when it is called without one. */
#include <assert.h>
#include <pthread.h>

#define PLAIN __attribute__((disable_sanitizer_instrumentation, noinline))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int x = 1;
static int *kept;

PLAIN static void keep(int *memory)
{
    kept = memory;
}

PLAIN static int get(void)
{
    return *kept;
}

PLAIN static void set(int value)
{
    *kept = value;
}

static int read_x(void)
{
    pthread_mutex_lock(&lock);
    int seen = x;
    pthread_mutex_unlock(&lock);
    return seen;
}

static void *write_x(void *unused)
{
    pthread_mutex_lock(&lock);
    x = 5;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *reader(void *unused)
{
    int mine = 0;
    keep(&mine);
    mine = read_x();
    assert(get() == mine);
    mine = read_x();
    set(1);
    assert(mine == 1);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, reader, NULL);
    pthread_create(&threads[1], NULL, write_x, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
