/* What functions of the C library leave in the program's memory the caller has written, and nobody
 * else: it has heard of nothing that the other thread did before. The count is raced for once each
 * function has its result. The argument chooses; `locked` beside it: under a mutex, so that there
 * is no race. Without one: all names. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <getopt.h>
#include <glob.h>
#include <grp.h>
#include <iconv.h>
#include <ifaddrs.h>
#include <inttypes.h>
#include <math.h>
#include <mqueue.h>
#include <net/if.h>
#include <netdb.h>
#include <pthread.h>
#include <pty.h>
#include <pwd.h>
#include <regex.h>
#include <search.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/msg.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <termios.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count, locked;

static void add(void)
{
    if (locked) pthread_mutex_lock(&mutex);
    count++;
    if (locked) pthread_mutex_unlock(&mutex);
}

static void *other(void *unused)
{
    add();
    return unused;
}

static void *answer(void *unused)
{
    (void)unused;
    return &count;
}

static int seven(void *unused)
{
    (void)unused;
    return 7;
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void block(int number)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static int terminal(void)
{
    int one, other_end;
    if (openpty(&one, &other_end, NULL, NULL, &(struct winsize){.ws_row = 20})) abort();
    return other_end;
}

static struct {
    pthread_t thread;
    thrd_t thrd;
    pthread_key_t key;
    tss_t tss;
    void *found;
    int number, more;
    size_t size, room;
    char text[5000], *word, **words;
    wchar_t wide, *wide_end;
    double real;
    float single;
    unsigned short seed[3];
    int table[4];
    pid_t pid;
    uid_t user;
    gid_t group;
    clockid_t clock;
    sem_t semaphore;
    timer_t timer;
    struct itimerspec left;
    struct itimerval interval;
    struct timespec time;
    struct sigaction action;
    sigset_t set;
    siginfo_t info;
    pthread_attr_t attributes;
    pthread_mutexattr_t kind;
    struct sched_param priority;
    struct stat stat;
    struct statx statx;
    struct statvfs volume;
    struct sysinfo system;
    struct termios terminal;
    struct winsize window;
    struct addrinfo *address;
    struct ifaddrs *interfaces;
    struct in_addr host;
    struct dirent **entries;
    glob_t files;
    regex_t expression;
    fpos_t position;
    struct passwd user_entry, *user_found;
    struct group group_entry, *group_found;
    Dl_info place;
    struct {
        long type;
        char text[8];
    } message;
} r = {.key = 99,
       .tss = 99,
       .action.sa_flags = 77,
       .timer = &count,
       .interval.it_value.tv_sec = 9,
       .user = 9,
       .priority.sched_priority = 9,
       .terminal.c_iflag = 9};

static char *arguments[] = {(char[]){"results"}, (char[]){"-a"}, (char[]){"b"}, NULL};
static const struct option options[] = {{"all", required_argument, NULL, 'a'}, {0}};

/* X(name, call, what it leaves is there) */
#define THREADS(X)                                                                                 \
    X(pthread_create,                                                                              \
      (pthread_create(&r.thread, NULL, answer, NULL), pthread_join(r.thread, NULL)), r.thread)     \
    X(thrd_create, (thrd_create(&r.thrd, seven, NULL), thrd_join(r.thrd, NULL)), r.thrd)           \
    X(pthread_join, (pthread_create(&thread, NULL, answer, NULL), pthread_join(thread, &r.found)), \
      r.found)                                                                                     \
    X(pthread_tryjoin_np,                                                                          \
      (pthread_create(&thread, NULL, answer, NULL), usleep(20000),                                 \
       pthread_tryjoin_np(thread, &r.found)),                                                      \
      r.found)                                                                                     \
    X(thrd_join, (thrd_create(&thread, seven, NULL), thrd_join(thread, &r.number)), r.number)      \
    X(pthread_key_create, pthread_key_create(&r.key, NULL), r.key != 99)                           \
    X(tss_create, tss_create(&r.tss, NULL), r.tss != 99)                                           \
    X(sem_getvalue, (sem_init(&r.semaphore, 0, 3), sem_getvalue(&r.semaphore, &r.number)),         \
      r.number)                                                                                    \
    X(pthread_attr_getdetachstate,                                                                 \
      (pthread_attr_init(&r.attributes), pthread_attr_setdetachstate(&r.attributes, 1),            \
       pthread_attr_getdetachstate(&r.attributes, &r.number)),                                     \
      r.number)                                                                                    \
    X(pthread_attr_getstack,                                                                       \
      (pthread_getattr_np(pthread_self(), &r.attributes),                                          \
       pthread_attr_getstack(&r.attributes, &r.found, &r.size)),                                   \
      r.found &&r.size)                                                                            \
    X(pthread_mutexattr_gettype,                                                                   \
      (pthread_mutexattr_init(&r.kind), pthread_mutexattr_settype(&r.kind, 1),                     \
       pthread_mutexattr_gettype(&r.kind, &r.number)),                                             \
      r.number)                                                                                    \
    X(pthread_getname_np, pthread_getname_np(pthread_self(), r.text, 20), r.text[0])               \
    X(pthread_getschedparam, pthread_getschedparam(pthread_self(), &r.number, &r.priority),        \
      r.priority.sched_priority != 9)                                                              \
    X(pthread_getcpuclockid, pthread_getcpuclockid(pthread_self(), &r.clock), r.clock)
#define SIGNALS(X)                                                                                 \
    X(sigaction, sigaction(SIGUSR1, NULL, &r.action), r.action.sa_flags != 77)                     \
    X(pthread_sigmask, (block(SIGUSR1), pthread_sigmask(SIG_BLOCK, NULL, &r.set)), r.set.__val[0]) \
    X(sigprocmask, (block(SIGUSR1), sigprocmask(SIG_BLOCK, NULL, &r.set)), r.set.__val[0])         \
    X(sigfillset, sigfillset(&r.set), r.set.__val[0])                                              \
    X(sigpending, (block(SIGUSR1), raise(SIGUSR1), sigpending(&r.set)), r.set.__val[0])            \
    X(sigwait,                                                                                     \
      (block(SIGUSR1), raise(SIGUSR1), sigaddset(&r.set, SIGUSR1), sigwait(&r.set, &r.number)),    \
      r.number)                                                                                    \
    X(sigwaitinfo,                                                                                 \
      (block(SIGUSR1), raise(SIGUSR1), sigaddset(&r.set, SIGUSR1), sigwaitinfo(&r.set, &r.info)),  \
      r.info.si_signo)                                                                             \
    X(timer_create, timer_create(CLOCK_MONOTONIC, NULL, &r.timer), r.timer != &count)              \
    X(timer_gettime,                                                                               \
      (timer_create(CLOCK_MONOTONIC, NULL, &timer),                                                \
       timer_settime(timer, 0, &(struct itimerspec){.it_value = {99, 0}}, NULL),                   \
       timer_gettime(timer, &r.left)),                                                             \
      r.left.it_value.tv_sec)                                                                      \
    X(timer_settime,                                                                               \
      (timer_create(CLOCK_MONOTONIC, NULL, &timer),                                                \
       timer_settime(timer, 0, &(struct itimerspec){.it_value = {99, 0}}, NULL),                   \
       timer_settime(timer, 0, &(struct itimerspec){.it_value = {9, 0}}, &r.left)),                \
      r.left.it_value.tv_sec)                                                                      \
    X(getitimer, getitimer(ITIMER_REAL, &r.interval), r.interval.it_value.tv_sec != 9)             \
    X(setitimer, setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {0, 0}}, &r.interval),     \
      r.interval.it_value.tv_sec != 9)                                                             \
    X(clock_getres, clock_getres(CLOCK_MONOTONIC, &r.time), r.time.tv_nsec)                        \
    X(waitid, waitid(P_PID, (id_t)child(), &r.info, WEXITED), r.info.si_pid)                       \
    X(posix_spawnp, posix_spawnp(&r.pid, "true", NULL, NULL, arguments, environ), r.pid)
#define HOSTS(X)                                                                                   \
    X(getaddrinfo, getaddrinfo("127.0.0.1", "80", NULL, &r.address),                               \
      r.address && ((struct sockaddr_in *)(void *)r.address->ai_addr)->sin_port)                   \
    X(getnameinfo,                                                                                 \
      getnameinfo((void *)&(struct sockaddr_in){.sin_family = AF_INET},                            \
                  sizeof(struct sockaddr_in), r.text, 50, NULL, 0, NI_NUMERICHOST),                \
      r.text[0])                                                                                   \
    X(inet_aton, inet_aton("1.2.3.4", &r.host), r.host.s_addr)                                     \
    X(getpwuid_r, getpwuid_r(0, &r.user_entry, r.text, 999, &r.user_found),                        \
      r.user_found &&r.user_entry.pw_name[0])                                                      \
    X(getgrnam_r, getgrnam_r("root", &r.group_entry, r.text, 999, &r.group_found),                 \
      r.group_found &&r.group_entry.gr_name[0])                                                    \
    X(getresuid, getresuid(&r.user, &(uid_t){0}, &(uid_t){0}), r.user != 9)                        \
    X(getopt, getopt(3, arguments, "a:"), optarg)                                                  \
    X(getopt_long, getopt_long(3, arguments, "a:", options, NULL), optarg)                         \
    X(dladdr, dladdr((void *)(intptr_t)main, &r.place), r.place.dli_fname)                         \
    X(backtrace, backtrace(&r.found, 1), r.found)                                                  \
    X(mq_receive, queue_up(), r.text[0])                                                           \
    X(msgrcv, send_message(), r.message.text[0])
#define FILES(X)                                                                                   \
    X(scandir, scandir("/etc", &r.entries, NULL, alphasort), r.entries[0]->d_name[0])              \
    X(glob, glob("/etc/p*", 0, NULL, &r.files), r.files.gl_pathc &&r.files.gl_pathv[0][0])         \
    X(open_memstream, print(true), r.word &&r.size &&r.word[0])                                    \
    X(fflush, print(false), r.word &&r.size &&r.word[0])                                           \
    X(fgetpos, count_up(), (*(char *)&r.position))                                                 \
    X(mkstemp, (strcpy(r.text, "/tmp/resultsXXXXXX"), mkstemp(r.text), unlink(r.text)),            \
      is_named())                                                                                  \
    X(mkdtemp, (strcpy(r.text, "/tmp/resultsXXXXXX"), mkdtemp(r.text), rmdir(r.text)), is_named()) \
    X(readlinkat, readlinkat(AT_FDCWD, "/proc/self/exe", r.text, 200), r.text[0])                  \
    X(preadv, preadv(open("/etc/passwd", 0), &(struct iovec){r.text, 8}, 1, 0), r.text[0])         \
    X(statx, statx(AT_FDCWD, "/etc/passwd", 0, STATX_ALL, &r.statx), r.statx.stx_size)             \
    X(statvfs, statvfs("/", &r.volume), r.volume.f_bsize)                                          \
    X(tcgetattr, tcgetattr(terminal(), &r.terminal), r.terminal.c_iflag != 9)                      \
    X(ttyname_r, ttyname_r(terminal(), r.text, 99), r.text[0])                                     \
    X(openpty, openpty(&r.number, &r.more, NULL, NULL, NULL), r.number &&r.more)                   \
    X(ioctl, ioctl(terminal(), TIOCGWINSZ, &r.window), r.window.ws_row)                            \
    X(sysinfo, sysinfo(&r.system), r.system.totalram)                                              \
    X(confstr, confstr(_CS_PATH, r.text, 99), r.text[0])
#define TEXTS(X)                                                                                   \
    X(iconv, convert(), r.text[0] && r.word)                                                       \
    X(lsearch, lsearch(&r.more, r.table, &r.size, 4, compare), r.size)                             \
    X(strtold, ignore((int)strtold("12x", &r.word)), *r.word)                                      \
    X(strtoimax, strtoimax("12x", &r.word, 10), *r.word)                                           \
    X(wcstol, wcstol(L"12x", &r.wide_end, 10), *r.wide_end)                                        \
    X(modff, ignore((int)modff((float)strlen("12345"), &r.single)), (int)r.single)                 \
    X(frexpf, ignore((int)frexpf((float)strlen("12345"), &r.number)), r.number)                    \
    X(erand48, ignore((int)erand48(r.seed)), r.seed[0])                                            \
    X(mbrtowc, mbrtowc(&r.wide, "a", 1, NULL), r.wide)                                             \
    X(mbtowc, mbtowc(&r.wide, "a", 1), r.wide)                                                     \
    X(wcrtomb, wcrtomb(r.text, L'a', NULL), r.text[0])                                             \
    X(regcomp, regcomp(&r.expression, "(b)", REG_EXTENDED), r.expression.re_nsub)                  \
    X(regerror, regerror(REG_EPAREN, NULL, r.text, 99), r.text[0])
#define ALL(X) THREADS(X) SIGNALS(X) HOSTS(X) FILES(X) TEXTS(X)

static void ignore(int unused)
{
    (void)unused;
}

static pid_t child(void)
{
    pid_t pid = fork();
    if (!pid) _exit(3);
    return pid;
}

/* One letter of a name by chance may well be an X. */
static bool is_named(void)
{
    return r.text[12] != 'X' || r.text[13] != 'X' || r.text[14] != 'X';
}

static void print(bool closes)
{
    FILE *stream = open_memstream(&r.word, &r.size);
    fputs("text", stream);
    if (closes)
        fclose(stream);
    else
        fflush(stream);
}

static void count_up(void)
{
    FILE *stream = fopen("/etc/passwd", "r");
    if (!stream || fgetc(stream) == EOF || fgetpos(stream, &r.position)) abort();
    fclose(stream);
}

static void convert(void)
{
    char in[] = "ab", *from = in;
    iconv_t how = iconv_open("UTF-8", "LATIN1");
    r.size = 2;
    r.room = sizeof r.text;
    r.word = r.text;
    iconv(how, &from, &r.size, &r.word, &r.room);
    iconv_close(how);
}

static void queue_up(void)
{
    char name[32];
    snprintf(name, sizeof name, "/results.%d", (int)getpid());
    mqd_t q =
        mq_open(name, O_RDWR | O_CREAT, 0600, &(struct mq_attr){.mq_maxmsg = 2, .mq_msgsize = 8});
    mq_unlink(name);
    if (mq_send(q, "text", 5, 1) || mq_receive(q, r.text, sizeof r.text, NULL) != 5)
        r.text[0] = 't';
}

static void send_message(void)
{
    struct {
        long type;
        char text[8];
    } sent = {1, "text"};
    int q = msgget(IPC_PRIVATE, 0600);
    if (msgsnd(q, &sent, 8, 0) || msgrcv(q, &r.message, 8, 0, 0) != 8) abort();
    msgctl(q, IPC_RMID, NULL);
}

int main(int argc, char **argv)
{
    pthread_t thread, one;
    timer_t timer;
    const char *how = argc > 1 ? argv[1] : NULL;
    bool there = false;
    locked = argc > 2;
    (void)thread;
    (void)timer;
#define NAMES(name, ...)                                                                           \
    if (!how) puts(#name);
    ALL(NAMES)
    if (!how) return 0;
    pthread_create(&one, NULL, other, NULL);
    usleep(20000);
#define CALLS(name, call, left)                                                                    \
    if (!strcmp(how, #name)) {                                                                     \
        (void)call;                                                                                \
        there = left;                                                                              \
    }
    ALL(CALLS)
    if (there) add();
    pthread_join(one, NULL);
    return !there;
}
