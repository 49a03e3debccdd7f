/* A text is printed while another thread writes it: the C library reads it, at a "%s" of its
 * caller. FIXED: both hold the lock. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char state[32] = "starting";

static void *rename_state(void *unused)
{
    pthread_mutex_lock(&lock);
    strcpy(state, "running");
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *tell_state(void *unused)
{
    char line[64];
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    snprintf(line, sizeof line, "%d%% of %5.1f: %-*.8s|", 7, 2.5, 9, state);
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    puts(line);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, tell_state, NULL);
    pthread_create(&b, NULL, rename_state, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
