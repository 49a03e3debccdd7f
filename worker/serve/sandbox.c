#include "serve/sandbox.h"

#include <errno.h>
#include <linux/landlock.h>
#include <sched.h>
#include <seccomp.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/contract.h"

/* ---- System calls ---------------------------------------------------------------------------- */

static const char *const ALLOWED[] = {
    /* the server */
    "read", "write", "readv", "writev", "close", "poll",
    /* memory */
    "brk", "munmap", "mremap", "madvise",
    /* threads */
    "futex", "set_robust_list", "rseq", "sched_yield", "sched_getaffinity", "gettid",
    /* time */
    "clock_gettime", "clock_nanosleep", "nanosleep", "gettimeofday", "time", "getrusage",
    "restart_syscall",
    /* signals and the end */
    "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "getpid", "tgkill", "exit",
    "exit_group",
    /* the state of standard streams; hash seeds */
    "fstat", "newfstatat", "lseek", "getrandom"};

/* Allowed with some arguments: see add_limited. */
static const char *const LIMITED[] = {"mmap", "mprotect", "clone"};

_Static_assert(sizeof ALLOWED / sizeof *ALLOWED + sizeof LIMITED / sizeof *LIMITED <=
                   FT_SANDBOX_MOST,
               "the list is no longer than OpenSSH's");

/* glibc can do without these: it replaces clone3 by clone, whose flags a filter can see. */
static const struct {
    const char *name;
    int answer;
} ANSWERED[] = {{"clone3", ENOSYS}, {"openat", EACCES},           {"open", EACCES},
                {"access", EACCES}, {"readlink", EACCES},         {"ioctl", ENOTTY},
                {"prctl", EPERM},   {"prlimit64", EPERM},         {"sysinfo", EPERM},
                {"uname", EPERM},   {"sched_setscheduler", EPERM}};

/* A call that this machine does not have needs no rule. */
static int add_named(scmp_filter_ctx filter, uint32_t action, const char *name)
{
    int call = seccomp_syscall_resolve_name(name);
    return call < 0 ? 0 : seccomp_rule_add(filter, action, call, 0);
}

static int add_limited(scmp_filter_ctx filter)
{
    int code = 0;
    FT_REQUIRE(filter);
    for (size_t i = 0; i < 2 && code == 0; i++)
        code = seccomp_rule_add(filter, SCMP_ACT_ALLOW, seccomp_syscall_resolve_name(LIMITED[i]), 1,
                                SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
    if (code == 0)
        code = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
                                SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
    return code;
}

static int fill(scmp_filter_ctx filter)
{
    int code = 0;
    for (size_t i = 0; i < sizeof ALLOWED / sizeof *ALLOWED && code == 0; i++)
        code = add_named(filter, SCMP_ACT_ALLOW, ALLOWED[i]);
    for (size_t i = 0; i < sizeof ANSWERED / sizeof *ANSWERED && code == 0; i++)
        code = add_named(filter, SCMP_ACT_ERRNO((uint32_t)ANSWERED[i].answer), ANSWERED[i].name);
    if (code == 0) code = add_limited(filter);
    if (code == 0) code = seccomp_load(filter);
    return code;
}

static bool calls_are_filtered;

bool ft_sandbox_filters_calls(void)
{
    return calls_are_filtered;
}

ft_status ft_sandbox_calls(ft_error *err)
{
    FT_REQUIRE(!calls_are_filtered);
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
    int code = filter ? fill(filter) : -ENOMEM;
    if (filter) seccomp_release(filter);
    calls_are_filtered = code == 0;
    if (code == 0) return FT_OK;
    return ft_error_set(err, FT_UNSUPPORTED, "the kernel refuses a filter of system calls: %s",
                        strerror(-code));
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* What Landlock's first version can deny; a rule set without rules allows none of it. */
#define EVERYTHING                                                                                 \
    (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_FILE |   \
     LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_REMOVE_DIR |                                 \
     LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | \
     LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |   \
     LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM)

ft_status ft_sandbox_files(ft_error *err)
{
    struct landlock_ruleset_attr rules = {.handled_access_fs = EVERYTHING};
    int fd = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules.handled_access_fs, 0);
    if (fd < 0)
        return ft_error_set(err, FT_UNSUPPORTED, "Landlock is not available: %s", strerror(errno));
    int code = (int)syscall(SYS_landlock_restrict_self, fd, 0);
    int reason = errno;
    close(fd);
    if (code == 0) return FT_OK;
    return ft_error_set(err, FT_UNSUPPORTED, "Landlock is not available: %s", strerror(reason));
}
