/* All the ways in which a recorded program may end; the argument chooses. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int x;

static void *work(void *unused)
{
    x++;
    return unused;
}

/* Behind the end of main's own thread. */
static void *last(void *main_thread)
{
    pthread_join(*(pthread_t *)main_thread, NULL);
    x++;
    return NULL;
}

static void *ends_all(void *code)
{
    x++;
    exit((int)(intptr_t)code);
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

/* More than there is, or less than nothing. */
static void shorten(size_t from, size_t to)
{
    static char text[64];
    memmove(text, text + from, to - from);
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
    if (!strcmp(how, "length")) shorten(8, 0);
    if (!strcmp(how, "gigabytes")) shorten(0, (size_t)1 << 35);
    if (!strcmp(how, "_exit")) _exit(3);
    if (!strcmp(how, "_Exit")) _Exit(4);
    if (!strcmp(how, "quick_exit")) quick_exit(5);
    if (!strcmp(how, "pthread_exit")) {
        static pthread_t self;
        self = pthread_self();
        pthread_create(&thread, NULL, last, &self);
        pthread_exit(NULL);
    }
    if (!strcmp(how, "thread")) {
        pthread_create(&thread, NULL, ends_all, (void *)(intptr_t)6);
        pthread_join(thread, NULL);
    }
    if (!strcmp(how, "exec")) execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
    if (!strcmp(how, "no exec")) execl("/none", "none", (char *)NULL), x++;
    if (!strcmp(how, "many")) return many_threads();
    if (!strcmp(how, "fork") && !fork()) {
        x++;
        _exit(0);
    }
    if (!strcmp(how, "spin"))
        for (unsigned i = 0; i < 2000000; i++) x = (int)((unsigned)x * 1664525 + i);
    return 0;
}
