/* unit-exec UNIT CALLS PROGRAM ARGUMENT...: runs a program under the system-call filters that
 * systemd would set for a unit file, for machines where systemd is not running.
 *
 * CALLS is a file with the names that the unit's SystemCallFilter comes to, groups expanded. The
 * rest is what systemd.exec(5) says of the options in TABLE. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static char unit[65536];

static void give_up(const char *what, int code)
{
    fprintf(stderr, "unit-exec: %s: %s\n", what, strerror(code < 0 ? -code : code));
    exit(126);
}

static bool says(const char *line)
{
    char whole[256];
    snprintf(whole, sizeof whole, "\n%s\n", line);
    return strstr(unit, whole) != NULL;
}

static void check(const char *what, int code)
{
    if (code < 0 && code != -EEXIST) give_up(what, code);
}

static void add(scmp_filter_ctx filter, uint32_t action, const char *name, unsigned count,
                const struct scmp_arg_cmp *arguments)
{
    int call = seccomp_syscall_resolve_name(name);
    if (call >= 0) check(name, seccomp_rule_add_array(filter, action, call, count, arguments));
}

/* A filter that refuses some arguments of calls; all else is let through to the other filters. */
static scmp_filter_ctx refusals(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    if (!filter) give_up("seccomp", ENOMEM);
    return filter;
}

static void load(scmp_filter_ctx filter, const char *what)
{
    check(what, seccomp_load(filter));
    seccomp_release(filter);
}

static void allow_list(const char *path)
{
    char name[128];
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    FILE *file = fopen(path, "re");
    if (!filter || !file) give_up(path, errno);
    while (fgets(name, sizeof name, file)) {
        name[strcspn(name, "\n")] = '\0';
        add(filter, SCMP_ACT_ALLOW, name, 0, NULL);
    }
    fclose(file);
    load(filter, "SystemCallFilter");
}

static void families(const char *value)
{
    static const struct {
        const char *name;
        unsigned number;
    } KNOWN[] = {{"AF_UNIX", AF_UNIX},
                 {"AF_INET", AF_INET},
                 {"AF_INET6", AF_INET6},
                 {"AF_NETLINK", AF_NETLINK}};
    char line[256];
    snprintf(line, sizeof line, "%.*s ", (int)strcspn(value, "\n"), value);
    scmp_filter_ctx filter = refusals();
    for (unsigned family = 0; family <= 64; family++) {
        bool allowed = false;
        for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++) {
            char word[32];
            snprintf(word, sizeof word, "%s ", KNOWN[i].name);
            allowed = allowed || (KNOWN[i].number == family && strstr(line, word));
        }
        struct scmp_arg_cmp first = SCMP_A0(SCMP_CMP_EQ, family, 0);
        if (!allowed) add(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), "socket", 1, &first);
    }
    load(filter, "RestrictAddressFamilies");
}

static void no_executable_memory(void)
{
    scmp_filter_ctx filter = refusals();
    struct scmp_arg_cmp both =
        SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC | PROT_WRITE, PROT_EXEC | PROT_WRITE);
    struct scmp_arg_cmp exec = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, PROT_EXEC);
    struct scmp_arg_cmp shared = SCMP_A2(SCMP_CMP_MASKED_EQ, SHM_EXEC, SHM_EXEC);
    add(filter, SCMP_ACT_ERRNO(EPERM), "mmap", 1, &both);
    add(filter, SCMP_ACT_ERRNO(EPERM), "mprotect", 1, &exec);
    add(filter, SCMP_ACT_ERRNO(EPERM), "pkey_mprotect", 1, &exec);
    add(filter, SCMP_ACT_ERRNO(EPERM), "shmat", 1, &shared);
    load(filter, "MemoryDenyWriteExecute");
}

static void no_namespaces(void)
{
    static const unsigned FLAGS[] = {CLONE_NEWNS,  CLONE_NEWUTS, CLONE_NEWIPC,   CLONE_NEWUSER,
                                     CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWCGROUP};
    scmp_filter_ctx filter = refusals();
    add(filter, SCMP_ACT_ERRNO(ENOSYS), "clone3", 0, NULL);
    add(filter, SCMP_ACT_ERRNO(EPERM), "setns", 0, NULL);
    for (size_t i = 0; i < sizeof FLAGS / sizeof *FLAGS; i++) {
        struct scmp_arg_cmp flag = SCMP_A0(SCMP_CMP_MASKED_EQ, FLAGS[i], FLAGS[i]);
        add(filter, SCMP_ACT_ERRNO(EPERM), "clone", 1, &flag);
        add(filter, SCMP_ACT_ERRNO(EPERM), "unshare", 1, &flag);
    }
    load(filter, "RestrictNamespaces");
}

static void no_suid(void)
{
    static const unsigned BITS[] = {S_ISUID, S_ISGID};
    scmp_filter_ctx filter = refusals();
    for (size_t i = 0; i < sizeof BITS / sizeof *BITS; i++) {
        struct scmp_arg_cmp second = SCMP_A1(SCMP_CMP_MASKED_EQ, BITS[i], BITS[i]);
        struct scmp_arg_cmp third = SCMP_A2(SCMP_CMP_MASKED_EQ, BITS[i], BITS[i]);
        const struct scmp_arg_cmp open[] = {SCMP_A2(SCMP_CMP_MASKED_EQ, O_CREAT, O_CREAT),
                                            SCMP_A3(SCMP_CMP_MASKED_EQ, BITS[i], BITS[i])};
        add(filter, SCMP_ACT_ERRNO(EPERM), "chmod", 1, &second);
        add(filter, SCMP_ACT_ERRNO(EPERM), "fchmod", 1, &second);
        add(filter, SCMP_ACT_ERRNO(EPERM), "mkdir", 1, &second);
        add(filter, SCMP_ACT_ERRNO(EPERM), "fchmodat", 1, &third);
        add(filter, SCMP_ACT_ERRNO(EPERM), "openat", 2, open);
    }
    load(filter, "RestrictSUIDSGID");
}

static void no_realtime(void)
{
    static const int POLICIES[] = {SCHED_FIFO, SCHED_RR, 6 /* deadline */};
    scmp_filter_ctx filter = refusals();
    for (size_t i = 0; i < sizeof POLICIES / sizeof *POLICIES; i++) {
        struct scmp_arg_cmp policy = SCMP_A1(SCMP_CMP_EQ, (scmp_datum_t)POLICIES[i], 0);
        add(filter, SCMP_ACT_ERRNO(EPERM), "sched_setscheduler", 1, &policy);
    }
    load(filter, "RestrictRealtime");
}

static void no_personality(void)
{
    scmp_filter_ctx filter = refusals();
    struct scmp_arg_cmp other = SCMP_A0(SCMP_CMP_NE, 0, 0);
    add(filter, SCMP_ACT_ERRNO(EPERM), "personality", 1, &other);
    load(filter, "LockPersonality");
}

static const struct {
    const char *line;
    void (*apply)(void);
} TABLE[] = {{"MemoryDenyWriteExecute=yes", no_executable_memory},
             {"RestrictNamespaces=yes", no_namespaces},
             {"RestrictSUIDSGID=yes", no_suid},
             {"RestrictRealtime=yes", no_realtime},
             {"LockPersonality=yes", no_personality}};

int main(int argc, char **argv)
{
    static const char FAMILIES[] = "\nRestrictAddressFamilies=";
    if (argc < 4) {
        fprintf(stderr, "usage: unit-exec UNIT CALLS PROGRAM ARGUMENT...\n");
        return 126;
    }
    FILE *file = fopen(argv[1], "re");
    if (!file || fread(unit, 1, sizeof unit - 1, file) == 0) give_up(argv[1], errno);
    fclose(file);
    umask(077);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) give_up("prctl", errno);
    const char *listed = strstr(unit, FAMILIES);
    if (listed) families(listed + sizeof FAMILIES - 1);
    for (size_t i = 0; i < sizeof TABLE / sizeof *TABLE; i++)
        if (says(TABLE[i].line)) TABLE[i].apply();
    allow_list(argv[2]);
    execv(argv[3], argv + 3);
    give_up(argv[3], errno);
}
