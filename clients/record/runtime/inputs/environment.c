/* Questions of the program about its surroundings: random numbers, its numbers and names, files and
 * variables of the environment. Pseudo-random numbers that a seed determines are inputs too:
 * threads share their hidden state, so the order of the calls decides which thread gets which
 * number. */
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "exploring/exploring.h"
#include "inputs/inputs.h"
#include "libc/contract.h"
#include "libc/libc.h"
#include "raw/inputs.h"
#include "raw/raw.h"
#include "replay/needs.h"
#include "scheduling/scheduling.h"
#include "state/thread.h"
#include "world/world.h"

#define CODE __builtin_return_address(0)

/* ---- random numbers */

ssize_t getrandom(void *to, size_t n, unsigned flags)
{
    FT_RT_EXPLORED((ft_rt_x_random_bytes(to, n), (ssize_t)n));
    return FT_RT_INPUT(FT_INPUT_GETRANDOM, FT_RT_STAYS, FT_REAL(getrandom)(to, n, flags), to, n);
}

int getentropy(void *to, size_t n)
{
    FT_RT_EXPLORED((ft_rt_x_random_bytes(to, n), 0));
    return FT_RT_INPUT(FT_INPUT_GETENTROPY, FT_RT_STAYS, FT_REAL(getentropy)(to, n), to, n);
}

uint32_t arc4random(void)
{
    FT_RT_EXPLORED((uint32_t)ft_rt_x_random());
    return FT_RT_INPUT(FT_INPUT_ARC4RANDOM, FT_RT_STAYS, FT_REAL(arc4random)(), NULL, 0);
}

uint32_t arc4random_uniform(uint32_t below)
{
    FT_RT_EXPLORED(below ? (uint32_t)(ft_rt_x_random() % below) : 0);
    return FT_RT_INPUT(FT_INPUT_ARC4RANDOM_UNIFORM, FT_RT_STAYS, FT_REAL(arc4random_uniform)(below),
                       NULL, 0);
}

void arc4random_buf(void *to, size_t n)
{
    if (ft_rt_exploring && ft_rt_x_self) {
        ft_rt_x_random_bytes(to, n);
        return;
    }
    (void)FT_RT_INPUT(FT_INPUT_ARC4RANDOM_BUF, FT_RT_STAYS, (FT_REAL(arc4random_buf)(to, n), 0), to,
                      n);
}

int rand(void)
{
    return FT_RT_INPUT(FT_INPUT_RAND, FT_RT_STAYS, FT_REAL(rand)(), NULL, 0);
}

long random(void)
{
    return FT_RT_INPUT(FT_INPUT_RANDOM, FT_RT_STAYS, FT_REAL(random)(), NULL, 0);
}

long lrand48(void)
{
    return FT_RT_INPUT(FT_INPUT_LRAND48, FT_RT_STAYS, FT_REAL(lrand48)(), NULL, 0);
}

long mrand48(void)
{
    return FT_RT_INPUT(FT_INPUT_MRAND48, FT_RT_STAYS, FT_REAL(mrand48)(), NULL, 0);
}

double drand48(void)
{
    ft_rt_input in;
    double value;
    if (!ft_rt_input_begin(&in, FT_INPUT_DRAND48, CODE)) return FT_REAL(drand48)();
    if (!in.fed) value = FT_REAL(drand48)(), ft_rt_input_did(&in, 0);
    ft_rt_input_own(&in, &value, sizeof value);
    ft_rt_input_end(&in);
    return value;
}

/* ---- numbers and names of the process */

/* Itself and its parent as the program knows them, which are those of the recording that it is fed
 * from, and as they are. What it forks knows the same numbers. */
static struct {
    pid_t told, real;
} known[2];

static pid_t know(uint32_t which, pid_t told, pid_t (*real)(void))
{
    if (!ft_rt_self) return told;
    bool fed = ft_rt_replaying || ft_rt_feeding;
    known[which].real = fed ? real() : told;
    known[which].told = told;
    return told;
}

pid_t getpid(void)
{
    FT_RT_EXPLORED(ft_rt_x_pid());
    pid_t pid = FT_RT_INPUT(FT_INPUT_GETPID, FT_RT_STAYS, FT_REAL(getpid)(), NULL, 0);
    return know(0, pid, FT_REAL(getpid));
}

pid_t getppid(void)
{
    pid_t pid = FT_RT_INPUT(FT_INPUT_GETPPID, FT_RT_STAYS, FT_REAL(getppid)(), NULL, 0);
    return know(1, pid, FT_REAL(getppid));
}

/* A group of processes has the number of its first one, negative. */
pid_t ft_rt_process(pid_t pid)
{
    if (ft_rt_exploring && ft_rt_x_self && pid == ft_rt_x_pid()) return FT_REAL(getpid)();
    pid_t number = pid < -1 ? -pid : pid;
    for (uint32_t i = 0; number > 0 && i < sizeof known / sizeof *known; i++)
        if (number == known[i].told) return pid < 0 ? -known[i].real : known[i].real;
    return pid;
}

pid_t gettid(void)
{
    pid_t tid = FT_RT_INPUT(FT_INPUT_GETTID, FT_RT_STAYS, FT_REAL(gettid)(), NULL, 0);
    if (ft_rt_self) ft_rt_self->told = tid;
    return tid;
}

pid_t ft_rt_task(pid_t tid)
{
    ft_rt_thread *t;
    for (uint32_t i = 0; ft_rt_self && tid && (t = ft_rt_thread_at(i)); i++)
        if (t->told == tid && t->tid && t->state != FT_RT_DONE) return t->tid;
    return ft_rt_process(tid);
}

int setpriority(__priority_which_t which, id_t who, int priority)
{
    if (which == PRIO_PROCESS) who = (id_t)ft_rt_task((pid_t)who);
    return FT_REAL(setpriority)(which, who, priority);
}

int gethostname(char *name, size_t n)
{
    return FT_RT_INPUT(FT_INPUT_GETHOSTNAME, FT_RT_STAYS, FT_REAL(gethostname)(name, n), name, n);
}

int uname(struct utsname *to)
{
    return FT_RT_INPUT(FT_INPUT_UNAME, FT_RT_STAYS, FT_REAL(uname)(to), to, sizeof *to);
}

static long real_sysconf(int name)
{
    if (name != _SC_NPROCESSORS_ONLN) return FT_REAL(sysconf)(name);
    ft_rt_processor_leave();
    long n = FT_REAL(sysconf)(name);
    ft_rt_processor_return();
    return n;
}

long sysconf(int name)
{
    return FT_RT_INPUT(FT_INPUT_SYSCONF, FT_RT_STAYS, real_sysconf(name), NULL, 0);
}

static int real_get_nprocs(void)
{
    ft_rt_processor_leave();
    int n = FT_REAL(get_nprocs)();
    ft_rt_processor_return();
    return n;
}

int get_nprocs(void)
{
    return FT_RT_INPUT(FT_INPUT_GET_NPROCS, FT_RT_STAYS, real_get_nprocs(), NULL, 0);
}

#define LIMITS(name, type)                                                                         \
    int name(__rlimit_resource_t what, struct type *to)                                            \
    {                                                                                              \
        return FT_RT_INPUT(FT_INPUT_GETRLIMIT, FT_RT_STAYS, FT_REAL(name)(what, to), to,           \
                           sizeof *to);                                                            \
    }
LIMITS(getrlimit, rlimit)
LIMITS(getrlimit64, rlimit64)

char *getcwd(char *to, size_t n)
{
    ft_rt_input in;
    if (!to || !ft_rt_input_begin(&in, FT_INPUT_GETCWD, CODE)) return FT_REAL(getcwd)(to, n);
    if (!in.fed) ft_rt_input_did(&in, FT_REAL(getcwd)(to, n) ? (int64_t)strlen(to) + 1 : 0);
    ft_rt_input_piece(&in, to, (size_t)in.result);
    return ft_rt_input_end(&in) ? to : NULL;
}

int isatty(int fd)
{
    return FT_RT_INPUT(FT_INPUT_ISATTY, FT_RT_STAYS, FT_REAL(isatty)(fd), NULL, 0);
}

int sched_getcpu(void)
{
    return FT_RT_INPUT(FT_INPUT_SCHED_GETCPU, FT_RT_STAYS, FT_REAL(sched_getcpu)(), NULL, 0);
}

/* ---- files */

/* The name was made, and content was written, by somebody before. */
static void look_at(const char *path, const void *pc)
{
    int fd = FT_REAL(open)(path, O_PATH | O_CLOEXEC);
    ft_rt_name_in(path, pc);
    ft_rt_file_in(fd, pc);
    if (fd >= 0) FT_REAL(close)(fd);
}

#define STATS(name, type, parameters, arguments, number, follow, explored)                         \
    int name parameters                                                                            \
    {                                                                                              \
        const void *pc = CODE;                                                                     \
        FT_RT_EXPLORED(explored);                                                                  \
        return FT_RT_INPUT(FT_INPUT_##number, (follow, FT_RT_STAYS), FT_REAL(name) arguments, to,  \
                           sizeof *to);                                                            \
    }
#define STATS_OF(suffix)                                                                           \
    STATS(stat##suffix, stat##suffix,                                                              \
          (const char *restrict path, struct stat##suffix *restrict to), (path, to), STAT,         \
          look_at(path, pc), ft_rt_world_stat(AT_FDCWD, path, (struct stat *)to, 0, pc))           \
    STATS(lstat##suffix, stat##suffix,                                                             \
          (const char *restrict path, struct stat##suffix *restrict to), (path, to), LSTAT,        \
          look_at(path, pc),                                                                       \
          ft_rt_world_stat(AT_FDCWD, path, (struct stat *)to, AT_SYMLINK_NOFOLLOW, pc))            \
    STATS(fstat##suffix, stat##suffix, (int fd, struct stat##suffix *to), (fd, to), FSTAT,         \
          ft_rt_file_in(fd, pc), ft_rt_world_fstat(fd, (struct stat *)to))                         \
    STATS(fstatat##suffix, stat##suffix,                                                           \
          (int folder, const char *restrict path, struct stat##suffix *restrict to, int flags),    \
          (folder, path, to, flags), FSTATAT, look_at(path, pc),                                   \
          ft_rt_world_stat(folder, path, (struct stat *)to, flags, pc))
STATS_OF()
STATS_OF(64)

int access(const char *path, int mode)
{
    FT_RT_EXPLORED(ft_rt_world_access(AT_FDCWD, path, mode, 0, CODE));
    return FT_RT_INPUT(FT_INPUT_ACCESS, (ft_rt_name_in(path, CODE), FT_RT_STAYS),
                       FT_REAL(access)(path, mode), NULL, 0);
}

ssize_t readlink(const char *restrict path, char *restrict to, size_t n)
{
    FT_RT_EXPLORED(ft_rt_world_readlink(AT_FDCWD, path, to, n, CODE));
    return FT_RT_INPUT(FT_INPUT_READLINK, (ft_rt_name_in(path, CODE), FT_RT_STAYS),
                       FT_REAL(readlink)(path, to, n), to, n);
}

/* ---- its environment: a program that goes through all of it takes other steps in another one */

enum { ENVIRONMENT = 1 << 14 };
static char here[ENVIRONMENT], there[ENVIRONMENT]; /* a line for each variable */
static char differing[400];

/* The variable's name and the length of the whole; its value may be secret. */
static size_t put_variable(char *to, size_t room, const char *variable)
{
    size_t name = strcspn(variable, "="), length = strlen(variable), n = name;
    bool ours = !strncmp(variable, FT_RAW_VARIABLE "=", sizeof FT_RAW_VARIABLE) ||
                !strncmp(variable, FT_INPUTS_VARIABLE "=", sizeof FT_INPUTS_VARIABLE);
    if (ours || room < name + 24) return 0;
    memcpy(to, variable, name);
    to[n++] = '=';
    for (; length; length /= 10) to[n++] = (char)('0' + length % 10);
    to[n++] = '\n';
    return n;
}

static size_t put_all(char *to)
{
    size_t n = 0;
    for (char **one = environ; one && *one; one++)
        n += put_variable(to + n, ENVIRONMENT - 1 - n, *one);
    return n;
}

static bool has_line(const char *all, const char *line, size_t length)
{
    for (; *all; all += strcspn(all, "\n") + 1)
        if (!strncmp(all, line, length)) return true;
    return false;
}

/* The shell changes these from command to command. A program rarely depends on them, so they are
 * reported only if no other variable differs. */
static bool is_passing(const char *name, size_t length)
{
    static const char *const names[] = {"_", "OLDPWD", "SHLVL"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && !strncmp(name, names[i], length)) return true;
    return false;
}

/* Adds variables of `some` that `all` lacks; whole: or that have another length there. */
static void tell_missing(const char *some, const char *all, bool whole, bool passing)
{
    for (const char *line = some; *line; line += strcspn(line, "\n") + 1) {
        size_t name = strcspn(line, "="), at = strlen(differing);
        size_t length = whole ? strcspn(line, "\n") + 1 : name + 1;
        if (is_passing(line, name) != passing || has_line(all, line, length)) continue;
        if (at + name + 2 > sizeof differing) continue;
        if (at) differing[at++] = ' ';
        memcpy(differing + at, line, name);
    }
}

void ft_rt_environment_keep(ft_rt_input *in)
{
    bool given = in->fed && in->left;
    assert(!*here && !*there); /* kept once */
    size_t size = put_all(here), n = (size_t)ft_rt_input_number(in, size);
    if (!in->fed) ft_rt_input_own(in, here, size);
    if (!given) return;
    ft_rt_input_own(in, there, n < ENVIRONMENT ? n : ENVIRONMENT - 1);
    for (int passing = 0; passing < 2 && !*differing; passing++) {
        tell_missing(here, there, true, passing);
        tell_missing(there, here, false, passing);
    }
}

void ft_rt_environment_tell(void)
{
    if (!*differing) return;
    ft_rt_say("the environment differs from the recording's in these variables:");
    ft_rt_say(differing);
}
