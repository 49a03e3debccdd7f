/* What a confined worker can still do, and what ends it. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "serve/sandbox.h"

enum { NO_FILTER = 77, WORKED = 0, FAILED = 1 };

/* Runs `act` in a confined child: its wait status. */
static int confined(int (*act)(void))
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        ft_error err = FT_ERROR_INIT;
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        if (ft_sandbox_calls(&err) != FT_OK) _exit(NO_FILTER);
        _exit(act());
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_FILTER) {
        puts("skipped: this kernel has no filter of system calls");
        skip();
    }
    return status;
}

/* ---- Refused --------------------------------------------------------------------------------- */

static int open_socket(void)
{
    return socket(AF_INET, SOCK_STREAM, 0);
}

static int make_pair(void)
{
    int ends[2];
    return socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
}

static int run_program(void)
{
    char *const arguments[] = {(char *)(uintptr_t) "true", NULL};
    return execv("/bin/true", arguments);
}

static int start_process(void)
{
    return (int)syscall(SYS_fork);
}

static int kill_parent(void)
{
    return kill(getppid(), 0);
}

static int trace_parent(void)
{
    return (int)ptrace(PTRACE_ATTACH, getppid(), NULL, NULL);
}

static int executable_memory(void)
{
    return mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                0) == MAP_FAILED;
}

static int make_executable(void)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return mprotect(page, 4096, PROT_READ | PROT_EXEC);
}

static int remove_file(void)
{
    return unlink("/tmp/there-is-no-such-file");
}

static int mount_something(void)
{
    return (int)syscall(SYS_mount, "none", "/", "tmpfs", 0, NULL);
}

static int use_io_uring(void)
{
    return (int)syscall(SYS_io_uring_setup, 1, NULL);
}

static void refused_calls_end_the_process(void **state)
{
    (void)state;
    int (*const ACTS[])(void) = {open_socket,       make_pair,       run_program, start_process,
                                 kill_parent,       trace_parent,    remove_file, mount_something,
                                 executable_memory, make_executable, use_io_uring};
    for (size_t i = 0; i < sizeof ACTS / sizeof *ACTS; i++) {
        int status = confined(ACTS[i]);
        if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSYS)
            fail_msg("act %zu: wait status %x", i, (unsigned)status);
    }
}

/* ---- Answered with an error ------------------------------------------------------------------ */

static int read_passwd(void)
{
    return open("/etc/passwd", O_RDONLY) == -1 && errno == EACCES ? WORKED : FAILED;
}

static void files_cannot_be_opened(void **state)
{
    (void)state;
    assert_int_equal(confined(read_passwd), WORKED);
}

static int landlocked(void)
{
    return open("/etc/passwd", O_RDONLY) == -1 && errno == EACCES ? WORKED : FAILED;
}

static void landlock_alone_keeps_files_away(void **state)
{
    (void)state;
    int status;
    pid_t child = fork();
    if (child == 0) {
        ft_error err = FT_ERROR_INIT;
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        _exit(ft_sandbox_files(&err) == FT_OK ? landlocked() : NO_FILTER);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_FILTER) {
        puts("skipped: this kernel has no Landlock");
        skip();
    }
    assert_int_equal(status, WORKED);
}

/* ---- Needed ---------------------------------------------------------------------------------- */

static void *think(void *data)
{
    char *memory = malloc(1 << 20);
    memset(memory, 1, 1 << 20);
    *(int *)data = memory[12345];
    free(memory);
    return NULL;
}

static int work(void)
{
    int thought = 0;
    pthread_t thread;
    char *large = malloc(64 << 20);
    large = realloc(large, 96 << 20);
    memset(large, 7, 96 << 20);
    free(large);
    if (pthread_create(&thread, NULL, think, &thought) != 0) return FAILED;
    pthread_join(thread, NULL);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return thought == 1 && write(STDERR_FILENO, "", 0) == 0 ? WORKED : FAILED;
}

static void memory_and_threads_work(void **state)
{
    (void)state;
    assert_int_equal(confined(work), WORKED);
}

static int give_up(void)
{
    abort();
}

static void aborts_are_aborts(void **state)
{
    (void)state;
    int status = confined(give_up);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused_calls_end_the_process),
        cmocka_unit_test(files_cannot_be_opened),
        cmocka_unit_test(landlock_alone_keeps_files_away),
        cmocka_unit_test(memory_and_threads_work),
        cmocka_unit_test(aborts_are_aborts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
