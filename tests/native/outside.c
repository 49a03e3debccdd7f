/* usage: outside WHAT: a thread makes a call that leaves the program. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static const char *what;

static void leave(void)
{
    sigset_t none;
    int number, ends[2];
    timer_t timer;
    char text[8];
    sigemptyset(&none);
    if (!strcmp(what, "fork") && !fork()) _exit(0);
    if (!strcmp(what, "system") && system("true")) _exit(1);
    if (!strcmp(what, "popen")) pclose(popen("true", "r"));
    if (!strcmp(what, "execlp")) execlp("true", "true", NULL);
    if (!strcmp(what, "kill")) kill(getppid(), 0);
    if (!strcmp(what, "socket")) close(socket(AF_NETLINK, SOCK_RAW, 0));
    if (!strcmp(what, "inotify_init1")) close(inotify_init1(0));
    if (!strcmp(what, "timerfd_create")) close(timerfd_create(CLOCK_MONOTONIC, 0));
    if (!strcmp(what, "timer_create")) timer_create(CLOCK_MONOTONIC, NULL, &timer);
    if (!strcmp(what, "alarm")) alarm(100);
    if (!strcmp(what, "pause")) pause();
    if (!strcmp(what, "msgrcv")) msgrcv(0, text, 1, 0, IPC_NOWAIT);
    if (!strcmp(what, "shmat")) shmat(0, NULL, 0);
    if (!strcmp(what, "splice") && !pipe(ends)) splice(ends[0], NULL, ends[1], NULL, 1, 0);
    if (!strcmp(what, "syscall(425)")) syscall(425, 1, NULL); /* io_uring_setup */
    if (!strcmp(what, "mkfifo")) mkfifo("made-by-outside", 0600);
    if (!strcmp(what, "read")) number = read(STDIN_FILENO, text, 1) > 0;
}

static void *run(void *unused)
{
    leave();
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    what = argc > 1 ? argv[1] : "";
    pthread_create(&thread, NULL, run, NULL);
    pthread_join(thread, NULL);
    return 0;
}
