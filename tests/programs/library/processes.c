/* Processes beside a recorded one: none of them touches the recording. */
#define _GNU_SOURCE
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *work(void *unused)
{
    pthread_mutex_lock(&mutex);
    counter++;
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void threads(void)
{
    pthread_t all[2];
    for (int i = 0; i < 2; i++) pthread_create(&all[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++) pthread_join(all[i], NULL);
}

static int status_of(pid_t child)
{
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(void)
{
    char line[20], *const arguments[] = {"sh", "-c", "exit 7", NULL};
    int fds[2];
    pid_t child;
    threads();
    if (!(child = fork())) {
        threads();
        exit(counter); /* 4: its own copy */
    }
    printf("%d\n", status_of(child));
    if (!(child = vfork())) _exit(5);
    printf("%d\n", status_of(child));
    if (!(child = vfork())) {
        execl("/bin/sh", "sh", "-c", "exit 6", (char *)NULL);
        _exit(127);
    }
    printf("%d\n", status_of(child));
    posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ);
    printf("%d\n", status_of(child));
    printf("%d\n", WEXITSTATUS(system("exit 8")));
    FILE *pipe_of = popen("echo nine", "r");
    printf("%s", fgets(line, sizeof line, pipe_of));
    printf("%d\n", pclose(pipe_of));
    if (pipe(fds)) return 1;
    if (!(child = fork())) {
        close(fds[0]);
        _exit(write(fds[1], "ten", 4) != 4);
    }
    close(fds[1]);
    printf("%zd %s %d\n", read(fds[0], line, sizeof line), line, status_of(child));
    threads();
    printf("%d\n", counter);
    fflush(stdout);
    execlp("echo", "echo", "the end", (char *)NULL);
    return 1;
}
