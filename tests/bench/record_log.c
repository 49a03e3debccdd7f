/* usage: record_log LOG TURN PROGRAM ARGUMENT...
 *
 * Runs a program under the recorder's runtime alone: its log goes into a ring (raw.h), from which
 * every record is taken at once and forgotten. Prints the wall time and the processor time, user
 * and system, of the program. For tests/bench/record. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "raw.h"

enum { RING = 4 << 20, PAUSE = 500000 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* NULL: it cannot be made. */
static ft_raw_header *make_log(const char *path, uint32_t turn)
{
    ft_raw_header header = {
        .limit = (uint64_t)64 << 30, .turn = turn, .ring = RING, .maker = (uint32_t)getpid()};
    memcpy(header.magic, FT_RAW_MAGIC, sizeof header.magic);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, &header, sizeof header) != sizeof header) return NULL;
    if (ftruncate(fd, (off_t)header.limit)) return NULL;
    void *map = mmap(NULL, FT_RAW_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return map == MAP_FAILED ? NULL : map;
}

int main(int argc, char **argv)
{
    const struct timespec pause = {.tv_nsec = PAUSE};
    struct rusage used;
    int status;
    ft_raw_header *header =
        argc > 3 ? make_log(argv[1], (uint32_t)strtoul(argv[2], NULL, 10)) : NULL;
    if (!header || setenv(FT_RAW_VARIABLE, argv[1], 1)) return 2;
    sigset_t ended, before;
    sigemptyset(&ended);
    sigaddset(&ended, SIGCHLD);
    sigprocmask(SIG_BLOCK, &ended, &before);
    double start = now();
    pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stdout)) _exit(127);
        sigprocmask(SIG_SETMASK, &before, NULL);
        execv(argv[3], argv + 3);
        _exit(127);
    }
    while (!wait4(child, &status, WNOHANG, &used)) {
        uint64_t mark = __atomic_load_n(&header->mark, __ATOMIC_ACQUIRE);
        __atomic_store_n(&header->taken, mark, __ATOMIC_RELEASE);
        sigtimedwait(&ended, NULL, &pause);
    }
    printf("%.3f %.3f\n", now() - start, seconds(used.ru_utime) + seconds(used.ru_stime));
    unlink(argv[1]);
    return !header->started || !WIFEXITED(status);
}
