/* Selectors that need locals of threads: counters in registers and on stacks, of functions that are
 * called, of one that calls itself, and of a struct on a stack. */
#include <foretell/input.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned char rounds, step;
static int full;

struct job {
    unsigned left, taken;
};

static void give(unsigned number)
{
    pthread_mutex_lock(&lock);
    while (full) pthread_cond_wait(&changed, &lock);
    full = number ? 1 : 2;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void *producer(void *unused)
{
    for (unsigned i = rounds; i > 0; i -= i > step ? step : 1) give(i);
    give(0);
    return unused;
}

static int take(struct job *job)
{
    pthread_mutex_lock(&lock);
    while (!full) pthread_cond_wait(&changed, &lock);
    int got = full;
    full = 0;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    job->taken++;
    return got;
}

int main(void)
{
    pthread_t thread;
    struct job job = {0, 0};
    foretell_input(&rounds, sizeof rounds, "rounds");
    foretell_input(&step, sizeof step, "step");
    if (step < 1 || step > 2) step = 1;
    pthread_create(&thread, 0, producer, 0);
    while (take(&job) == 1) continue;
    pthread_join(thread, 0);
    return 0;
}
