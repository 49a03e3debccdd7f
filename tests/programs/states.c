/* A machine goes through a state that nobody is to see, and who looks holds that by the default of
 * a switch, or by one of its cases. FIXED: it goes through it under one lock. */
#include <assert.h>
#include <pthread.h>

enum { STOPPED, STARTING, RUNNING };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int state = STOPPED, seen;

static void *start(void *unused)
{
    pthread_mutex_lock(&lock);
    state = STARTING;
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    state = RUNNING;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void look_by_default(int found)
{
    switch (found) {
    case STOPPED:
        seen += 1;
        break;
    case RUNNING:
        seen += 2;
        break;
    default:
        assert(0);
    }
}

static void look_by_case(int found)
{
    switch (found) {
    case STARTING:
        assert(!"nobody is to see this");
        break;
    case RUNNING:
        seen += 2;
        break;
    default:
        seen += 1;
    }
}

static void *look(void *by_case)
{
    pthread_mutex_lock(&lock);
    int found = state;
    pthread_mutex_unlock(&lock);
    if (by_case)
        look_by_case(found);
    else
        look_by_default(found);
    return by_case;
}

int main(void)
{
    pthread_t threads[2], last;
    pthread_create(&threads[0], NULL, start, NULL);
    pthread_create(&threads[1], NULL, look, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    state = STOPPED;
    pthread_create(&threads[0], NULL, start, NULL);
    pthread_create(&last, NULL, look, &lock);
    pthread_join(threads[0], NULL);
    pthread_join(last, NULL);
    return 0;
}
