/* Selectors that need locals of functions that call themselves, and of a struct on a stack. */
#include <foretell/input.h>
#include <foretell/marker.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static unsigned char depth, extra;

struct work {
    unsigned short done, wanted;
};

static unsigned down(unsigned levels, unsigned odd)
{
    unsigned own = levels ^ odd;
    if (levels > 1) own += down(levels - 1, own & 1);
    foretell_marker();
    if (own & 1) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    }
    return own;
}

static void *worker(void *of)
{
    struct work *work = of;
    while (work->done < work->wanted) {
        pthread_mutex_lock(&other);
        work->done++;
        pthread_mutex_unlock(&other);
    }
    return 0;
}

int main(void)
{
    pthread_t thread;
    struct work work = {0, 0};
    foretell_input(&depth, sizeof depth, "depth");
    foretell_input(&extra, sizeof extra, "extra");
    work.wanted = extra & 15;
    pthread_create(&thread, 0, worker, &work);
    down(1 + depth % 3, depth & 1);
    pthread_join(thread, 0);
    return 0;
}
