/* A lock on a file, by fcntl or lockf (LOCKF), is there as long as the process closes no descriptor
 * of that file: it does not, while its threads open and close others and that file once more. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static char name[] = "/tmp/lockedXXXXXX";

static void *look(void *unused)
{
    close(open("/dev/null", O_RDONLY));
    return unused;
}

static void *open_again(void *unused)
{
    return open(name, O_RDWR) < 0 ? name : unused;
}

/* In another process: somebody else has it. */
static int is_locked(int fd)
{
    struct flock lock = {.l_type = F_WRLCK};
    return !fcntl(fd, F_GETLK, &lock) && lock.l_type != F_UNLCK;
}

static int lock_file(int fd)
{
#ifdef LOCKF
    return lockf(fd, F_TLOCK, 0);
#else
    struct flock lock = {.l_type = F_WRLCK};
    return fcntl(fd, F_SETLK, &lock);
#endif
}

int main(void)
{
    pthread_t first, second;
    void *failed;
    int fd = mkstemp(name), status;
    if (fd < 0 || lock_file(fd)) return 1;
    pthread_create(&first, NULL, look, NULL);
    pthread_create(&second, NULL, open_again, NULL);
    pthread_join(first, NULL);
    pthread_join(second, &failed);
    pid_t other = fork();
    if (!other) _exit(!is_locked(fd));
    waitpid(other, &status, 0);
    unlink(name);
    return failed || status;
}
