/* A thread is told by epoll of a pipe, and another one takes the pipe from the watch at that
 * moment: what was told is of the pipe still. The result says how much of it was not. */
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { ROUNDS = 4 };

typedef struct pipes {
    int ends[2];
    int tag;
} pipes;

static int epoll;
static pipes all[ROUNDS];

static void *poll_all(void *wrong)
{
    for (int i = 0; i < ROUNDS; i++) {
        struct epoll_event told;
        memset(&told, 0, sizeof told);
        if (epoll_wait(epoll, &told, 1, -1) != 1) continue;
        pipes *p = told.data.ptr;
        *(int *)wrong += !p || p->tag != 7;
    }
    return wrong;
}

int main(void)
{
    int wrong = 0;
    pthread_t thread;
    epoll = epoll_create1(0);
    for (int i = 0; i < ROUNDS; i++) {
        all[i].tag = 7;
        if (pipe(all[i].ends)) return 100;
    }
    pthread_create(&thread, NULL, poll_all, &wrong);
    for (int i = 0; i < ROUNDS; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data = {.ptr = &all[i]}};
        epoll_ctl(epoll, EPOLL_CTL_ADD, all[i].ends[0], &event);
        if (write(all[i].ends[1], "x", 1) != 1) return 101;
    }
    usleep(20000);
    for (int i = 0; i < ROUNDS; i++) {
        sched_yield();
        epoll_ctl(epoll, EPOLL_CTL_DEL, all[i].ends[0], NULL);
#ifndef FIXED
        all[i].tag = 7;
#endif
    }
    pthread_join(thread, NULL);
    return wrong;
}
