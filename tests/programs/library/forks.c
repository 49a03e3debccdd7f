/* Processes that begin without the handlers that fork() calls: they run unrecorded, and touch
 * nothing of the recording. One that borrows its parent's memory does so. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK = 1 << 17 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int counter;
static char stack[STACK] __attribute__((aligned(16)));

static void *work(void *unused)
{
    for (int i = 0; i < 5; i++) {
        pthread_mutex_lock(&mutex);
        counter++;
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

static int child(void *unused)
{
    (void)unused;
    work(NULL);
    return counter;
}

/* In memory that is the parent's. */
static int borrower(void *word)
{
    for (int i = 0; i < 5; i++) *(int *)word += 1;
    _exit(*(int *)word);
}

static int status_of(pid_t process)
{
    int status;
    return waitpid(process, &status, 0) == process && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void say(const char *what, pid_t process)
{
    if (!process) _exit(child(NULL));
    printf("%s: %d\n", what, status_of(process));
    fflush(stdout);
}

int main(void)
{
    pthread_t thread;
    int word = 3;
    struct clone_args plain = {.exit_signal = SIGCHLD};
    pthread_create(&thread, NULL, work, NULL);
    work(NULL);
    pthread_join(thread, NULL);
    say("_Fork", _Fork());
    say("fork", (pid_t)syscall(SYS_fork));
    say("clone", (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
    say("clone3", (pid_t)syscall(SYS_clone3, &plain, sizeof plain));
    say("clone()", clone(child, stack + STACK, SIGCHLD, NULL));
    say("clone(), that borrows",
        clone(borrower, stack + STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, &word));
    printf("%d %d\n", word, (int)syscall(SYS_clone3, NULL, 0));
    work(NULL);
    printf("%d\n", counter);
    return 0;
}
