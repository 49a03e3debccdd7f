/* Threads whose stacks are as small as the system lets them be: the recorder's own work finds room
 * there. */
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t set = PTHREAD_COND_INITIALIZER;
static volatile sig_atomic_t handled;
static struct {
    char text[64];
} from = {"a structure"}, to;

static void handle(int number)
{
    (void)number;
    handled++;
}

static int create(pthread_t *thread, void *(*run)(void *), void *argument)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
    int error = pthread_create(thread, &attributes, run, argument);
    pthread_attr_destroy(&attributes);
    return error;
}

static void *count(void *number)
{
    pthread_mutex_lock(&mutex);
    ++*(int *)number;
    pthread_cond_signal(&set);
    pthread_mutex_unlock(&mutex);
    return number;
}

static void *use(void *number)
{
    char line[32], *copy = malloc(100);
    pthread_t thread;
    memset(copy, 1, 100);
    to = from;
    snprintf(line, sizeof line, "%d", *(int *)number);
    raise(SIGUSR1);
    pthread_kill(pthread_self(), SIGUSR1);
    FILE *nothing = fopen("/dev/null", "w");
    fprintf(nothing, "%s", line);
    fclose(nothing);
    free(copy);
    printf("%d\n", create(&thread, count, number));
    pthread_join(thread, NULL);
    usleep(100);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    int number = 0;
    signal(SIGUSR1, handle);
    printf("%d\n", create(&thread, use, &number));
    pthread_mutex_lock(&mutex);
    while (!number) pthread_cond_wait(&set, &mutex);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    printf("%d %d %s\n", number, (int)handled, to.text);
    return 0;
}
