/* The handler does the call itself and looks at its result. */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "libc/contract.h"
#include "raw/raw.h"
#include "rewinding/contexts.h"
#include "rewinding/kept.h"
#include "rewinding/rewinding.h"
#include "rewinding/signals.h"
#include "rewinding/syscalls.h"

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_OFF          0
#define PR_SYS_DISPATCH_ON           1
#endif
#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif

enum {
    ALLOWED, /* of the selector: as the kernel has them */
    REPORTED,
    CALLS = 512,
    DESCRIPTORS = 1024,
    MAPPINGS = 64,
    SIGNALS = 65,
    FAILED = 4096 /* results above -FAILED are errors */
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

typedef struct call {
    long number, arguments[6];
    ucontext_t *context;
} call;

typedef long (*kind)(const call *c);

static struct changes {
    kind kinds[CALLS]; /* by number; NULL: it spoils */
    volatile char selector;
    bool stacks; /* the alternate stack was set */
    stack_t stack;
    uint64_t opened[DESCRIPTORS / 64];
    bool opens;
    uint32_t n_mappings;
    struct {
        uintptr_t from, to;
    } mappings[MAPPINGS];
    uint64_t handled; /* signals whose action was set: 1 << number - 1 */
    ft_rt_kernel_action actions[SIGNALS];
} * changes;

/* ---- the only code whose calls are never reported */

long ft_rt_syscalls_do(long number, const long *arguments);
__asm__(".text\n"
        ".hidden ft_rt_syscalls_do\n"
        ".globl ft_rt_syscalls_do\n"
        ".type ft_rt_syscalls_do, @function\n"
        "ft_rt_syscalls_do:\n"
        "  mov %rdi, %rax\n"
        "  mov %rsi, %r11\n"
        "  mov (%r11), %rdi\n"
        "  mov 8(%r11), %rsi\n"
        "  mov 16(%r11), %rdx\n"
        "  mov 24(%r11), %r10\n"
        "  mov 32(%r11), %r8\n"
        "  mov 40(%r11), %r9\n"
        "  syscall\n"
        "  ret\n"
        ".size ft_rt_syscalls_do, . - ft_rt_syscalls_do\n"
        ".hidden ft_rt_syscalls_return\n"
        ".globl ft_rt_syscalls_return\n"
        ".type ft_rt_syscalls_return, @function\n"
        "ft_rt_syscalls_return:\n"
        "  mov $15, %eax\n" /* rt_sigreturn */
        "  syscall\n"
        ".size ft_rt_syscalls_return, . - ft_rt_syscalls_return\n"
        ".hidden ft_rt_syscalls_leave\n"
        ".globl ft_rt_syscalls_leave\n"
        ".type ft_rt_syscalls_leave, @function\n"
        "ft_rt_syscalls_leave:\n"
        "  mov %rdi, %rsp\n"
        "  mov $15, %eax\n"
        "  syscall\n"
        ".size ft_rt_syscalls_leave, . - ft_rt_syscalls_leave\n"
        "  hlt\n" /* the kernel looks at the address behind the instruction */
        ".hidden ft_rt_syscalls_end\n"
        ".globl ft_rt_syscalls_end\n"
        "ft_rt_syscalls_end:\n");
void ft_rt_syscalls_leave(const ucontext_t *frame) __attribute__((noreturn));
extern const char ft_rt_syscalls_end[];

static long perform(const call *c)
{
    return ft_rt_syscalls_do(c->number, c->arguments);
}

static long ask(long number, long first, long second, long third, long fourth)
{
    const long arguments[6] = {first, second, third, fourth};
    return ft_rt_syscalls_do(number, arguments);
}

/* ---- calls of each kind: the result for the program */

/* The call is made again where it stands, and this and later ones are not reported, until somebody
 * watches again. */
static long again(const call *c)
{
    enum { INSTRUCTION = 2 };
    changes->selector = ALLOWED;
    c->context->uc_mcontext.gregs[REG_RIP] -= INSTRUCTION;
    return c->number;
}

static const struct {
    uint16_t number;
    const char *why;
} reasons[] = {
    {SYS_clone, "it starts a process, or a thread without pthread_create"},
    {SYS_clone3, "it starts a process, or a thread without pthread_create"},
    {SYS_fork, "it starts a process"},
    {SYS_vfork, "it starts a process"},
    {SYS_execve, "it executes another program"},
    {SYS_close, "it closes a descriptor from before its first thread"},
    {SYS_close_range, "it closes descriptors from before its first thread"},
    {SYS_dup2, "it replaces a descriptor from before its first thread"},
    {SYS_dup3, "it replaces a descriptor from before its first thread"},
    {SYS_mmap, "it maps memory at a fixed place, or often"},
    {SYS_munmap, "it unmaps memory from before its first thread"},
    {SYS_mremap, "it moves mapped memory"},
    {SYS_mprotect, "it protects memory from before its first thread"},
    {SYS_madvise, "it discards memory from before its first thread"},
    {SYS_chdir, "it changes its current folder"},
    {SYS_fchdir, "it changes its current folder"},
    {SYS_setitimer, "it sets a timer"},
    {SYS_timer_create, "it makes a timer"},
    {SYS_sched_setaffinity, "it chooses its processors"},
};

static long spoil(const call *c)
{
    const char *why = "it changes its process in a way that memory does not show";
    for (size_t i = 0; i < COUNT(reasons); i++)
        if (reasons[i].number == c->number) why = reasons[i].why;
    ft_rt_rewinding_spoil(why);
    return again(c);
}

/* ---- calls about threads: a context has a number that the kernel does not know */

static long own_number(const call *c)
{
    int number = ft_rt_context_number((uintptr_t)__builtin_thread_pointer());
    return number ? number : perform(c);
}

/* The signal waits until the handler returns, so that it arrives behind the program's own call. */
static long send(const call *c)
{
    call asked = *c;
    bool second = c->number == SYS_tgkill || c->number == SYS_rt_tgsigqueueinfo;
    bool to_thread = second || c->number == SYS_tkill;
    uint64_t all = ~(UINT64_C(1) << (SIGSYS - 1));
    if (to_thread && ft_rt_context_numbered((int)c->arguments[second]))
        asked.arguments[second] = ask(SYS_gettid, 0, 0, 0, 0);
    ask(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, 0, FT_RT_MASK_SIZE);
    return perform(&asked);
}

/* A handler of the program returns: by its own frame, past the one of the report. */
static long leave_handler(const call *c)
{
    const ucontext_t *u = (const ucontext_t *)c->context->uc_mcontext.gregs[REG_RSP];
    ft_rt_context_masked(*(const uint64_t *)(const void *)&u->uc_sigmask);
    ft_rt_syscalls_leave(u);
}

static long ask_about_thread(const call *c)
{
    call asked = *c;
    if (ft_rt_context_numbered((int)c->arguments[0])) asked.arguments[0] = 0;
    return perform(&asked);
}

static long change_thread(const call *c)
{
    if (ft_rt_context_numbered((int)c->arguments[0])) c->context->uc_mcontext.gregs[REG_RDI] = 0;
    return spoil(c);
}

/* Processor time of a thread, by a clock that is made of its number. */
static long read_clock(const call *c)
{
    enum { OF_THREAD = 6, SHIFT = 3 };
    call asked = *c;
    int id = (int)c->arguments[0];
    bool context = id < 0 && ft_rt_context_numbered(~(id >> SHIFT)) && (id & 7) == OF_THREAD;
    if (context) asked.arguments[0] = CLOCK_THREAD_CPUTIME_ID;
    return perform(&asked);
}

/* ---- descriptors, mappings, signals */

static bool is_opened(long fd)
{
    return fd >= 0 && fd < DESCRIPTORS && changes->opened[fd / 64] >> (fd % 64) & 1;
}

static void note_opened(long fd)
{
    if (fd >= DESCRIPTORS) {
        ft_rt_rewinding_spoil("it opens many files");
        return;
    }
    changes->opens = true;
    changes->opened[fd / 64] |= UINT64_C(1) << (fd % 64);
}

static long open_one(const call *c)
{
    long fd = perform(c);
    if (fd >= 0) note_opened(fd);
    return fd;
}

static long open_two(const call *c)
{
    bool socket = c->number == SYS_socketpair;
    const int *fds = (const int *)c->arguments[socket ? 3 : 0];
    long result = perform(c);
    if (!result) note_opened(fds[0]), note_opened(fds[1]);
    return result;
}

static long close_one(const call *c)
{
    long fd = c->arguments[0];
    if (!is_opened(fd)) return ask(SYS_fcntl, fd, F_GETFD, 0, 0) < 0 ? perform(c) : spoil(c);
    changes->opened[fd / 64] &= ~(UINT64_C(1) << (fd % 64));
    return perform(c);
}

static long duplicate_to(const call *c)
{
    long to = c->arguments[1];
    if (!is_opened(to) && ask(SYS_fcntl, to, F_GETFD, 0, 0) >= 0) return spoil(c);
    return open_one(c);
}

static long control_descriptor(const call *c)
{
    long what = c->arguments[1];
    if (what == F_DUPFD || what == F_DUPFD_CLOEXEC) return open_one(c);
    if (what == F_SETFD && !is_opened(c->arguments[0])) return spoil(c);
    return perform(c);
}

static long map(const call *c)
{
    uintptr_t size = ((uintptr_t)c->arguments[1] + FT_RAW_PAGE - 1) / FT_RAW_PAGE * FT_RAW_PAGE;
    if (c->arguments[3] & MAP_FIXED || changes->n_mappings == MAPPINGS) return spoil(c);
    long at = perform(c);
    if (at < 0 && at > -FAILED) return at;
    changes->mappings[changes->n_mappings].from = (uintptr_t)at;
    changes->mappings[changes->n_mappings++].to = (uintptr_t)at + size;
    return at;
}

/* The run's own mapping that has the whole range; MAPPINGS: none. */
static uint32_t own_mapping(uintptr_t from, uintptr_t to)
{
    for (uint32_t i = 0; i < changes->n_mappings; i++)
        if (from >= changes->mappings[i].from && to <= changes->mappings[i].to) return i;
    return MAPPINGS;
}

static long unmap(const call *c)
{
    uintptr_t from = (uintptr_t)c->arguments[0];
    uintptr_t to =
        from + ((uintptr_t)c->arguments[1] + FT_RAW_PAGE - 1) / FT_RAW_PAGE * FT_RAW_PAGE;
    uint32_t i = own_mapping(from, to);
    if (i == MAPPINGS) return spoil(c);
    bool whole = from == changes->mappings[i].from && to == changes->mappings[i].to;
    if (whole) changes->mappings[i] = changes->mappings[--changes->n_mappings];
    return perform(c); /* what is left of it is unmapped later, with the hole */
}

static long change_mapping(const call *c)
{
    uintptr_t from = (uintptr_t)c->arguments[0], to = from + (uintptr_t)c->arguments[1];
    return own_mapping(from, to) == MAPPINGS ? spoil(c) : perform(c);
}

/* Advice that discards content may discard what was saved: the pages do not count as written. */
static long advise(const call *c)
{
    long what = c->arguments[2];
    bool discards = what == MADV_DONTNEED || what == MADV_FREE || what == MADV_REMOVE;
    return discards ? change_mapping(c) : perform(c);
}

static long set_action(const call *c)
{
    long number = c->arguments[0];
    if (!c->arguments[1] || number < 1 || number >= SIGNALS) return perform(c);
    uint64_t bit = UINT64_C(1) << (number - 1);
    if (!(changes->handled & bit))
        ask(SYS_rt_sigaction, number, 0, (long)&changes->actions[number], FT_RT_MASK_SIZE);
    changes->handled |= bit;
    return perform(c);
}

/* A handler's return sets the mask to the one that is in its frame. Reports are never blocked: the
 * kernel would end the process. */
static long set_mask(const call *c)
{
    uint64_t *now = (uint64_t *)(void *)&c->context->uc_sigmask;
    const uint64_t *given = (const uint64_t *)c->arguments[1];
    uint64_t *old = (uint64_t *)c->arguments[2];
    long how = c->arguments[0];
    uint64_t before = *now, set = given ? *given : 0;
    if (given) *now = how == SIG_BLOCK ? before | set : how == SIG_UNBLOCK ? before & ~set : set;
    *now &= ~(UINT64_C(1) << (SIGSYS - 1));
    ft_rt_context_masked(*now);
    if (old) *old = before;
    return 0;
}

/* A handler's return also sets the alternate stack to the one in its frame. */
static long set_stack(const call *c)
{
    long result = perform(c);
    if (result || !c->arguments[0]) return result;
    changes->stacks = true;
    c->context->uc_stack = *(const stack_t *)c->arguments[0];
    return result;
}

static long limit(const call *c)
{
    return c->arguments[2] ? spoil(c) : perform(c);
}

/* A program that names its threads, or asks. */
static long control_process(const call *c)
{
    long what = c->arguments[0];
    bool harmless =
        what == PR_SET_NAME || what == PR_GET_NAME || what == PR_GET_DUMPABLE || what == PR_SET_VMA;
    return harmless ? perform(c) : spoil(c);
}

/* ---- which call is of which kind; one that is not here spoils */

static const uint16_t plain[] = {SYS_read,
                                 SYS_write,
                                 SYS_pread64,
                                 SYS_pwrite64,
                                 SYS_readv,
                                 SYS_writev,
                                 SYS_preadv,
                                 SYS_pwritev,
                                 SYS_lseek,
                                 SYS_preadv2,
                                 SYS_pwritev2,
                                 SYS_sendto,
                                 SYS_recvfrom,
                                 SYS_sendmsg,
                                 SYS_sendmmsg,
                                 SYS_sendfile,
                                 SYS_splice,
                                 SYS_copy_file_range,
                                 SYS_stat,
                                 SYS_fstat,
                                 SYS_lstat,
                                 SYS_newfstatat,
                                 SYS_statx,
                                 SYS_access,
                                 SYS_faccessat,
                                 SYS_faccessat2,
                                 SYS_readlink,
                                 SYS_readlinkat,
                                 SYS_getcwd,
                                 SYS_statfs,
                                 SYS_fstatfs,
                                 SYS_getdents64,
                                 SYS_poll,
                                 SYS_ppoll,
                                 SYS_select,
                                 SYS_pselect6,
                                 SYS_epoll_wait,
                                 SYS_epoll_pwait,
                                 SYS_epoll_ctl,
                                 SYS_fsync,
                                 SYS_fdatasync,
                                 SYS_ftruncate,
                                 SYS_truncate,
                                 SYS_fallocate,
                                 SYS_rename,
                                 SYS_renameat,
                                 SYS_renameat2,
                                 SYS_mkdir,
                                 SYS_mkdirat,
                                 SYS_rmdir,
                                 SYS_unlink,
                                 SYS_unlinkat,
                                 SYS_link,
                                 SYS_linkat,
                                 SYS_symlink,
                                 SYS_symlinkat,
                                 SYS_chmod,
                                 SYS_fchmod,
                                 SYS_fchmodat,
                                 SYS_utimensat,
                                 SYS_flock,
                                 SYS_ioctl,
                                 SYS_bind,
                                 SYS_listen,
                                 SYS_connect,
                                 SYS_shutdown,
                                 SYS_getsockname,
                                 SYS_getpeername,
                                 SYS_getsockopt,
                                 SYS_setsockopt,
                                 SYS_getpid,
                                 SYS_getppid,
                                 SYS_getuid,
                                 SYS_geteuid,
                                 SYS_getgid,
                                 SYS_getegid,
                                 SYS_getpgid,
                                 SYS_getpgrp,
                                 SYS_getsid,
                                 SYS_getgroups,
                                 SYS_getrandom,
                                 SYS_gettimeofday,
                                 SYS_time,
                                 SYS_times,
                                 SYS_getrusage,
                                 SYS_sysinfo,
                                 SYS_uname,
                                 SYS_getcpu,
                                 SYS_sched_yield,
                                 SYS_sched_get_priority_max,
                                 SYS_sched_get_priority_min,
                                 SYS_getpriority,
                                 SYS_getrlimit,
                                 SYS_rt_sigpending,
                                 SYS_rt_sigtimedwait,
                                 SYS_rt_sigsuspend,
                                 SYS_pause,
                                 SYS_nanosleep,
                                 SYS_clock_nanosleep,
                                 SYS_futex,
                                 SYS_brk,
                                 SYS_mincore,
                                 SYS_msync,
                                 SYS_membarrier,
                                 SYS_get_robust_list};

static const uint16_t opening[] = {
    SYS_open,          SYS_openat,    SYS_openat2,        SYS_creat,        SYS_dup,
    SYS_socket,        SYS_accept,    SYS_accept4,        SYS_epoll_create, SYS_epoll_create1,
    SYS_eventfd,       SYS_eventfd2,  SYS_timerfd_create, SYS_memfd_create, SYS_inotify_init,
    SYS_inotify_init1, SYS_signalfd4, SYS_pidfd_open};

static const uint16_t repeated[] = {SYS_exit_group, SYS_exit};

static const uint16_t sending[] = {SYS_tgkill, SYS_tkill, SYS_kill, SYS_rt_sigqueueinfo,
                                   SYS_rt_tgsigqueueinfo};

static const struct {
    kind kind;
    uint16_t number;
} single[] = {{open_two, SYS_pipe},
              {open_two, SYS_pipe2},
              {open_two, SYS_socketpair},
              {close_one, SYS_close},
              {duplicate_to, SYS_dup2},
              {duplicate_to, SYS_dup3},
              {control_descriptor, SYS_fcntl},
              {map, SYS_mmap},
              {unmap, SYS_munmap},
              {change_mapping, SYS_mprotect},
              {advise, SYS_madvise},
              {set_action, SYS_rt_sigaction},
              {set_mask, SYS_rt_sigprocmask},
              {set_stack, SYS_sigaltstack},
              {limit, SYS_prlimit64},
              {control_process, SYS_prctl},
              {own_number, SYS_gettid},
              {leave_handler, SYS_rt_sigreturn},
              {ask_about_thread, SYS_sched_getaffinity},
              {ask_about_thread, SYS_sched_getparam},
              {ask_about_thread, SYS_sched_getscheduler},
              {change_thread, SYS_sched_setaffinity},
              {change_thread, SYS_sched_setparam},
              {change_thread, SYS_sched_setscheduler},
              {read_clock, SYS_clock_gettime},
              {read_clock, SYS_clock_getres}};

static void fill_table(void)
{
    kind *kinds = changes->kinds;
    for (size_t i = 0; i < COUNT(plain); i++) kinds[plain[i]] = perform;
    for (size_t i = 0; i < COUNT(opening); i++) kinds[opening[i]] = open_one;
    for (size_t i = 0; i < COUNT(repeated); i++) kinds[repeated[i]] = again;
    for (size_t i = 0; i < COUNT(sending); i++) kinds[sending[i]] = send;
    for (size_t i = 0; i < COUNT(single); i++) kinds[single[i].number] = single[i].kind;
}

static void handle(int number, siginfo_t *info, void *context)
{
    ucontext_t *u = context;
    greg_t *r = u->uc_mcontext.gregs;
    (void)number;
    const call c = {info->si_syscall,
                    {r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9]},
                    u};
    kind k = c.number >= 0 && c.number < CALLS ? changes->kinds[c.number] : NULL;
    r[REG_RAX] = k ? k(&c) : spoil(&c);
}

/* ---- the explorer's part */

bool ft_rt_syscalls_start(void)
{
    changes = ft_rt_kept(sizeof *changes);
    if (!changes || syscall(SYS_sigaltstack, NULL, &changes->stack)) return false;
    fill_table();
    ft_rt_kernel_action a = {handle, SA_SIGINFO | SA_NODEFER | FT_RT_RESTORER,
                             ft_rt_syscalls_return, 0};
    uintptr_t from = (uintptr_t)ft_rt_syscalls_do;
    return !syscall(SYS_rt_sigaction, SIGSYS, &a, NULL, FT_RT_MASK_SIZE) &&
           !prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, from,
                  (uintptr_t)ft_rt_syscalls_end - from, &changes->selector);
}

bool ft_rt_syscalls_watch(bool watch)
{
    if (!changes) return false;
    bool was = changes->selector == REPORTED;
    changes->selector = watch ? REPORTED : ALLOWED;
    return was;
}

static void close_opened(void)
{
    for (long fd = 0; fd < DESCRIPTORS; fd++)
        if (is_opened(fd)) syscall(SYS_close, fd);
    memset(changes->opened, 0, sizeof changes->opened);
    changes->opens = false;
}

static void reset_signals(void)
{
    for (long number = 1; number < SIGNALS; number++)
        if (changes->handled >> (number - 1) & 1)
            syscall(SYS_rt_sigaction, number, &changes->actions[number], NULL, FT_RT_MASK_SIZE);
    changes->handled = 0;
    if (changes->stacks) syscall(SYS_sigaltstack, &changes->stack, NULL);
    changes->stacks = false;
}

void ft_rt_syscalls_take_back(void)
{
    FT_REQUIRE(changes && changes->selector == ALLOWED);
    if (changes->opens) close_opened();
    for (uint32_t i = 0; i < changes->n_mappings; i++)
        syscall(SYS_munmap, changes->mappings[i].from,
                changes->mappings[i].to - changes->mappings[i].from);
    changes->n_mappings = 0;
    reset_signals();
}
