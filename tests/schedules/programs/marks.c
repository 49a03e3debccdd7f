/* Two threads come to an explicit marker, which ends the first epoch. */
#include <assert.h>
#include <foretell/input.h>
#include <foretell/marker.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned char twice;
static int n;

static void add(void)
{
    pthread_mutex_lock(&lock);
    n++;
    pthread_mutex_unlock(&lock);
}

static void *work(void *unused)
{
    add();
    foretell_marker();
    if (twice) add();
    return unused;
}

int main(void)
{
    pthread_t other;
    foretell_input(&twice, sizeof twice, "twice");
    pthread_create(&other, 0, work, 0);
    work(0);
    pthread_join(other, 0);
    assert(n == (twice ? 4 : 2));
    return 0;
}
