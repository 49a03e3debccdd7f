/* A thread waits in a loop that the compiler put no calls into, as inline assembly has it (CALLS:
 * only those at the beginning and end of a function), for what another thread does then. LARGE:
 * there is much thread-local memory. */
#include <pthread.h>

static volatile int flag;
#ifdef LARGE
static __thread volatile char large[1 << 20];
#endif

__attribute__((no_sanitize("thread"))) static int is_set(void)
{
    return flag;
}

__attribute__((no_sanitize("thread"))) static void set(void)
{
    flag = 1;
}

#ifdef CALLS
static int look(void)
{
    return is_set();
}
#endif

__attribute__((no_sanitize("thread"))) static void spin(void)
{
#ifdef CALLS
    while (!look()) continue;
#else
    while (!is_set()) continue;
#endif
}

static void *run(void *unused)
{
    set();
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, run, NULL);
#ifdef LARGE
    large[1] = 1;
#endif
    spin();
    pthread_join(thread, NULL);
    return 0;
}
