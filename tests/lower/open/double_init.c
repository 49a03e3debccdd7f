/* misuse: two parts of a server's start prepare the same lock and condition variable; where the
 * options ask for both, the second time comes when the maintainer waits already. After a
 * report about memcached 1.5.19 (POR-SE, section 5.2). */
#include "open.h"

static pthread_mutex_t lock;
static pthread_cond_t wanted;
static pthread_cond_t begun = PTHREAD_COND_INITIALIZER;
static int waiting, stopping;

static void prepare(void)
{
    pthread_mutex_init(&lock, 0);
    pthread_cond_init(&wanted, 0);
}

static void *maintain(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    waiting = 1;
    pthread_cond_signal(&begun);
    while (!stopping) pthread_cond_wait(&wanted, &lock);
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void)
{
    pthread_t maintainer;
    unsigned char options;
    foretell_input(&options, sizeof options, "options");
    prepare();
    pthread_create(&maintainer, 0, maintain, 0);
    pthread_mutex_lock(&lock);
    while (!waiting) pthread_cond_wait(&begun, &lock);
    pthread_mutex_unlock(&lock);
#ifndef FIXED
    if ((options & 6) == 6) prepare();
#endif
    pthread_mutex_lock(&lock);
    stopping = 1;
    pthread_cond_signal(&wanted);
    pthread_mutex_unlock(&lock);
    pthread_join(maintainer, 0);
    return 0;
}
