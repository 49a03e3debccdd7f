/* All the ways in which a recorded program may end; the argument chooses. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int x;

static void *work(void *unused)
{
    x++;
    return unused;
}

static int many_threads(void)
{
    for (int i = 0; i < 10000; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, NULL)) return 9;
        pthread_join(thread, NULL);
    }
    return 0;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    const char *how = argc > 1 ? argv[1] : "return";
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    x++;
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "kill")) kill(getpid(), SIGKILL);
    if (!strcmp(how, "crash")) *(volatile int *)0 = 1;
    if (!strcmp(how, "_exit")) _exit(3);
    if (!strcmp(how, "many")) return many_threads();
    if (!strcmp(how, "fork") && !fork()) {
        x++;
        _exit(0);
    }
    if (!strcmp(how, "spin"))
        for (unsigned i = 0; i < 2000000; i++) x = (int)((unsigned)x * 1664525 + i);
    return 0;
}
