/* A child process sends numbers over a socket to two threads, which pass them on through a pipe. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NUMBERS = 12 };
static int from_child[2], passing[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int taken, sum;
static _Atomic int ready;

static void *take(void *unused)
{
    (void)unused;
    while (!ready) usleep(100);
    for (int i = 0; i < NUMBERS / 2; i++) {
        unsigned char n;
        if (read(from_child[0], &n, 1) != 1 || write(passing[1], &n, 1) != 1) return NULL;
        pthread_mutex_lock(&lock);
        taken++;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void child(void)
{
    for (int i = 0; i < NUMBERS; i++) {
        unsigned char n = (unsigned char)(i * i);
        usleep(500);
        if (write(from_child[1], &n, 1) != 1) break;
    }
    _exit(0);
}

int main(void)
{
    pthread_t t[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, from_child) || pipe(passing)) return 1;
    pid_t pid = fork();
    if (!pid) child();
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, take, NULL);
    usleep(1000);
    ready = 1;
    for (int i = 0; i < NUMBERS; i++) {
        unsigned char n;
        if (read(passing[0], &n, 1) != 1) return 2;
        sum = sum * 3 + n;
    }
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    waitpid(pid, NULL, 0);
    printf("%d\n", sum);
    return 0;
}
