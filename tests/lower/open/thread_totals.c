/* assertion: the destructor of a thread's count adds it to the total where the total has room, and
 * looks in one section and adds in another, so that two threads that end may pass the limit. */
#include "open.h"

static pthread_key_t key;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned char limit, total;

static void add(void *count)
{
    unsigned char n = *(unsigned char *)count;
    pthread_mutex_lock(&lock);
    int fits = total + n <= limit;
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    if (fits) total += n;
    pthread_mutex_unlock(&lock);
}

static void *run(void *count)
{
    pthread_setspecific(key, count);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    unsigned char counts[2];
    foretell_input(&counts[0], sizeof counts[0], "first");
    foretell_input(&counts[1], sizeof counts[1], "second");
    foretell_input(&limit, sizeof limit, "limit");
    pthread_key_create(&key, add);
    pthread_create(&a, NULL, run, &counts[0]);
    pthread_create(&b, NULL, run, &counts[1]);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(total <= limit);
    return 0;
}
