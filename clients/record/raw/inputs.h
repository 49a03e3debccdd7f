/* The calls that bring something into a program from outside: what they gave is kept in the raw log
 * (raw.h, INPUT), in the trace (maker/replay/inputs.h), and given again in a replay (schedule.h).
 */
#ifndef FT_RECORD_INPUTS_H
#define FT_RECORD_INPUTS_H

#include <stdint.h>

/*  symbol, the function's name */
#define FT_INPUT_CALL_TABLE(X)                                                                     \
    X(TIME, "time")                                                                                \
    X(GETTIMEOFDAY, "gettimeofday")                                                                \
    X(CLOCK_GETTIME, "clock_gettime")                                                              \
    X(CLOCK, "clock")                                                                              \
    X(TIMES, "times")                                                                              \
    X(GETRUSAGE, "getrusage")                                                                      \
    X(SLEEP, "sleep")                                                                              \
    X(USLEEP, "usleep")                                                                            \
    X(NANOSLEEP, "nanosleep")                                                                      \
    X(CLOCK_NANOSLEEP, "clock_nanosleep")                                                          \
    X(GETRANDOM, "getrandom")                                                                      \
    X(GETENTROPY, "getentropy")                                                                    \
    X(ARC4RANDOM, "arc4random")                                                                    \
    X(ARC4RANDOM_BUF, "arc4random_buf")                                                            \
    X(ARC4RANDOM_UNIFORM, "arc4random_uniform")                                                    \
    X(RAND, "rand")                                                                                \
    X(RANDOM, "random")                                                                            \
    X(DRAND48, "drand48")                                                                          \
    X(LRAND48, "lrand48")                                                                          \
    X(MRAND48, "mrand48")                                                                          \
    X(GETPID, "getpid")                                                                            \
    X(GETPPID, "getppid")                                                                          \
    X(GETHOSTNAME, "gethostname")                                                                  \
    X(UNAME, "uname")                                                                              \
    X(SYSCONF, "sysconf")                                                                          \
    X(GET_NPROCS, "get_nprocs")                                                                    \
    X(GETRLIMIT, "getrlimit")                                                                      \
    X(GETCWD, "getcwd")                                                                            \
    X(ISATTY, "isatty")                                                                            \
    X(SCHED_GETCPU, "sched_getcpu")                                                                \
    X(SCHED_GETAFFINITY, "sched_getaffinity")                                                      \
    X(SIGNALS, "the signals that are ignored or blocked at the start")                             \
    X(STAT, "stat")                                                                                \
    X(LSTAT, "lstat")                                                                              \
    X(FSTAT, "fstat")                                                                              \
    X(FSTATAT, "fstatat")                                                                          \
    X(ACCESS, "access")                                                                            \
    X(READLINK, "readlink")                                                                        \
    X(OPEN, "open")                                                                                \
    X(OPENAT, "openat")                                                                            \
    X(CREAT, "creat")                                                                              \
    X(MKSTEMP, "mkstemp")                                                                          \
    X(DUP, "dup")                                                                                  \
    X(FCNTL, "fcntl")                                                                              \
    X(IOCTL, "ioctl")                                                                              \
    X(LSEEK, "lseek")                                                                              \
    X(PIPE, "pipe")                                                                                \
    X(EVENTFD, "eventfd")                                                                          \
    X(TIMERFD, "timerfd_create")                                                                   \
    X(SOCKET, "socket")                                                                            \
    X(SOCKETPAIR, "socketpair")                                                                    \
    X(BIND, "bind")                                                                                \
    X(LISTEN, "listen")                                                                            \
    X(CONNECT, "connect")                                                                          \
    X(ACCEPT, "accept")                                                                            \
    X(SHUTDOWN, "shutdown")                                                                        \
    X(GETSOCKNAME, "getsockname")                                                                  \
    X(GETPEERNAME, "getpeername")                                                                  \
    X(GETSOCKOPT, "getsockopt")                                                                    \
    X(SETSOCKOPT, "setsockopt")                                                                    \
    X(READ, "read")                                                                                \
    X(PREAD, "pread")                                                                              \
    X(READV, "readv")                                                                              \
    X(RECV, "recv")                                                                                \
    X(RECVFROM, "recvfrom")                                                                        \
    X(RECVMSG, "recvmsg")                                                                          \
    X(WRITE, "write")                                                                              \
    X(WRITEV, "writev")                                                                            \
    X(SEND, "send")                                                                                \
    X(SENDTO, "sendto")                                                                            \
    X(SENDMSG, "sendmsg")                                                                          \
    X(POLL, "poll")                                                                                \
    X(SELECT, "select")                                                                            \
    X(EPOLL_CREATE, "epoll_create")                                                                \
    X(EPOLL_CTL, "epoll_ctl")                                                                      \
    X(EPOLL_WAIT, "epoll_wait")                                                                    \
    X(FOPEN, "fopen")                                                                              \
    X(FREAD, "fread")                                                                              \
    X(FGETS, "fgets")                                                                              \
    X(FGETC, "fgetc")                                                                              \
    X(GETLINE, "getline")                                                                          \
    X(SCANF, "scanf")                                                                              \
    X(FEOF, "feof")                                                                                \
    X(FERROR, "ferror")                                                                            \
    X(EVENTFD_READ, "eventfd_read")                                                                \
    X(TIMERFD_SETTIME, "timerfd_settime")                                                          \
    X(TIMERFD_GETTIME, "timerfd_gettime")                                                          \
    X(SIGNALFD, "signalfd")                                                                        \
    X(EVENTFD_WRITE, "eventfd_write")                                                              \
    X(CHANNEL, "a channel") /* not a call: ft_schedule_channel, in the trace alone */              \
    X(RDTSC, "rdtsc")                                                                              \
    X(GETTID, "gettid")                                                                            \
    X(OPENDIR, "opendir")                                                                          \
    X(MKDTEMP, "mkdtemp")                                                                          \
    X(UNLINK, "unlink")                                                                            \
    X(RENAME, "rename")                                                                            \
    X(LINK, "link")                                                                                \
    X(MKDIR, "mkdir")                                                                              \
    X(RMDIR, "rmdir")                                                                              \
    X(RANDOM_DEVICE, "std::random_device")                                                         \
    X(MOVE, "splice")                                                                              \
    X(NAMED, "foretell_input")

typedef enum ft_input_call {
#define FT_INPUT_ENUM(symbol, name) FT_INPUT_##symbol,
    FT_INPUT_CALL_TABLE(FT_INPUT_ENUM)
#undef FT_INPUT_ENUM
        FT_INPUT_CALLS
} ft_input_call;

/* Inputs by name (include/foretell/input.h): the environment's variable has a line NAME=VALUE for
 * each. */
#define FT_INPUTS_VARIABLE "FORETELL_INPUTS"

/* Names that the program asked for and that have no value: the first ones, each at least once. */
enum { FT_RAW_UNSETS = 8 };
typedef struct ft_raw_unset {
    uint32_t taken;
    char name[44];
} ft_raw_unset;

/* One of a thread, in the file of a replay. */
typedef struct ft_schedule_input {
    uint32_t call, module; /* ft_input_call; FT_SCHEDULE_NONE: the module is not known */
    uint64_t offset;       /* of the call's return address in that module */
    int64_t result;
    uint32_t error;  /* errno behind it */
    uint32_t length; /* of what it wrote into the program's memory */
    uint64_t at;     /* where that stands, behind all of these */
} ft_schedule_input;

/* One of a thread too: it put something into a channel (raw.h, CHANNEL) or took something out. */
typedef struct ft_schedule_channel {
    uint64_t channel;
    uint32_t number; /* of the channel, counted from 0 */
    uint32_t flags;  /* as in the record */
    uint32_t before; /* how much went in before, by whomever */
} ft_schedule_channel;

#endif
