#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "webhooks/sender/send.h"

#define MEMORY ((rlim_t)512 << 20)

/* System calls that libcurl, TLS and the resolver do not need and an intruder would. */
static const char *const DENIED[] = {
    "execve",
    "execveat",
    "fork",
    "vfork",
    "ptrace",
    "process_vm_readv",
    "listen",
    "accept",
    "accept4",
    "kill",
    "process_vm_writev",
    "creat",
    "unlink",
    "unlinkat",
    "rename",
    "renameat",
    "renameat2",
    "mkdir",
    "mkdirat",
    "rmdir",
    "link",
    "linkat",
    "symlink",
    "symlinkat",
    "truncate",
    "chmod",
    "fchmod",
    "fchmodat",
    "chown",
    "fchownat",
    "mknod",
    "mknodat",
    "mount",
    "umount2",
    "unshare",
    "setns",
    "bpf",
    "userfaultfd",
    "keyctl",
    "add_key",
    "perf_event_open",
    "io_uring_setup",
    "openat2",
    "pidfd_getfd",
    "pidfd_open",
};

static int deny_named(scmp_filter_ctx filter, const char *name)
{
    int call = seccomp_syscall_resolve_name(name);
    return call < 0 ? 0 : seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 0);
}

/* The flags of openat(2) are its third argument, those of open(2) the second. */
static int deny_writing(scmp_filter_ctx filter)
{
    static const unsigned FLAGS[] = {O_WRONLY, O_RDWR, O_CREAT, O_TRUNC};
    int code = 0;
    for (size_t i = 0; i < sizeof FLAGS / sizeof *FLAGS && code == 0; i++) {
        code = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(openat), 1,
                                SCMP_A2(SCMP_CMP_MASKED_EQ, FLAGS[i], FLAGS[i]));
        if (code == 0)
            code = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(open), 1,
                                    SCMP_A1(SCMP_CMP_MASKED_EQ, FLAGS[i], FLAGS[i]));
    }
    return code;
}

static void set_limit(__rlimit_resource_t what, rlim_t most)
{
    const struct rlimit limit = {most, most};
    (void)setrlimit(what, &limit);
}

void ft_send_confine(void)
{
    set_limit(RLIMIT_CORE, 0);
    set_limit(RLIMIT_FSIZE, 0);
    signal(SIGXFSZ, SIG_IGN); /* standard error may be a file */
#if defined(__SANITIZE_ADDRESS__)
    return; /* it maps what it likes, and looks for leaks as a debugger does */
#endif
    set_limit(RLIMIT_AS, MEMORY);
    (void)prctl(PR_SET_DUMPABLE, 0);
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    if (!filter) return;
    int code = deny_writing(filter);
    for (size_t i = 0; i < sizeof DENIED / sizeof *DENIED && code == 0; i++)
        code = deny_named(filter, DENIED[i]);
    if (code == 0) (void)seccomp_load(filter);
    seccomp_release(filter);
}
