/* Two threads hand a turn to each other by futex calls of their own; what comes before the first
 * one waits is not ordered. FIXED: it is done in the turn. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int turn;
static int total, refused;

static void wait_for(int wanted)
{
    for (int now; (now = atomic_load(&turn)) != wanted;) {
        long result = syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, now, NULL, NULL, 0);
        if (result && errno != EAGAIN && errno != EINTR) refused = 1;
    }
}

static void *play(void *argument)
{
    int me = argument != NULL;
#ifndef FIXED
    total += 10;
#endif
    for (int round = 0; round < 2; round++) {
        wait_for(2 * round + me);
        total++;
        atomic_store(&turn, 2 * round + me + 1);
        syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    }
    return NULL;
}

int main(void)
{
    pthread_t one, two;
    pthread_create(&one, NULL, play, NULL);
    pthread_create(&two, NULL, play, &total);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    printf("%d %d\n", total, refused);
    return 0;
}
