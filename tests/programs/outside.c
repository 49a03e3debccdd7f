/* Two threads that ask the outside: the time, random numbers, a file, the processor's clock. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long sum, times;
static const char *path;

static unsigned long long ticks(int how)
{
    unsigned low, high, number;
    if (how == 0) return __rdtsc();
    if (how == 1) return __rdtscp(&number);
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (unsigned long long)high << 32 | low;
}

/* Programs older than the function call it by its number. What the thread is called goes back to
 * the system. */
static unsigned by_number(void)
{
    struct timespec t;
    unsigned r;
    pid_t self = gettid();
    if (self != (pid_t)syscall(SYS_gettid) || tgkill(getpid(), self, 0)) return 1000;
    if (syscall(SYS_getrandom, &r, sizeof r, 0) < 0) r = 0;
    if (syscall(SYS_clock_gettime, CLOCK_REALTIME, &t) < 0) t.tv_nsec = 0;
    return r % 3 + (unsigned)t.tv_nsec % 5 + (unsigned)self % 7;
}

static void *work(void *unused)
{
    char line[64];
    (void)unused;
    FILE *f = fopen(path, "r");
    for (int i = 0; i < 20 && f && fgets(line, sizeof line, f); i++) {
        struct timespec t;
        unsigned r;
        clock_gettime(CLOCK_REALTIME, &t);
        if (getrandom(&r, sizeof r, 0) < 0) r = 0;
        pthread_mutex_lock(&lock);
        sum += atoi(line) + t.tv_nsec % 7 + r % 5 + rand() % 3 + (long)(ticks(i % 3) % 11) +
               by_number();
        pthread_mutex_unlock(&lock);
        times++;
    }
    if (f) fclose(f);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t[2];
    char bytes[16];
    path = argv[argc - 1];
    int fd = open(path, O_RDONLY);
    if (fd >= 0 && read(fd, bytes, sizeof bytes) > 0) sum += bytes[0];
    if (fd >= 0) close(fd);
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    printf("%ld %ld\n", sum, times);
    return 0;
}
