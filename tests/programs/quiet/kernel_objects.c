/* usage: kernel_objects ROW [race]
 * A thread hands a value to main through an object of the kernel, one for each row. With `race` it
 * also writes a variable behind the hand-over, which main reads: that is no order. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static int in = -1, out = -1, more[2] = {-1, -1}, value, beside, races;
static pid_t child;
static char name[64];

static void byte_out(void)
{
    if (write(out, "x\n", 2) != 2) abort();
}
static void byte_in(void)
{
    char byte;
    if (read(in, &byte, 1) != 1) abort();
}
static void count_out(void)
{
    uint64_t one = 1;
    if (write(out, &one, sizeof one) != sizeof one) abort();
}
static void count_in(void)
{
    uint64_t n;
    if (read(in, &n, sizeof n) != sizeof n) abort();
}
static void ready_in(void)
{
    struct pollfd one = {.fd = in, .events = POLLIN};
    if (poll(&one, 1, -1) != 1) abort();
}
static void make_pipe(void)
{
    int fds[2];
    if (pipe(fds)) abort();
    in = fds[0], out = fds[1];
}
static void make_two(void)
{
    make_pipe();
    more[0] = in, more[1] = out;
    make_pipe();
    if (write(more[1], "x", 1) != 1) abort();
}

/* Known kinds, made by their own functions. */
static void make_pair(void)
{
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds)) abort();
    in = fds[0], out = fds[1];
}
static void make_event(void)
{
    in = out = eventfd(0, 0);
}
/* A call that the recorder does not stand in front of: the C library's own function. */
static void make_unseen(void)
{
    void *library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    int (*make)(unsigned, int) = library ? (int (*)(unsigned, int))dlsym(library, "eventfd") : NULL;
    if (!make) abort();
    in = out = make(0, 0);
}
static void by_number(void)
{
    in = out = (int)syscall(SYS_eventfd2, 0, 0);
}
static void pipe_by_number(void)
{
    int fds[2];
    if (syscall(SYS_pipe2, fds, 0)) abort();
    in = fds[0], out = fds[1];
}
static void out_by_number(void)
{
    if (syscall(SYS_write, out, "x", 1) != 1) abort();
}
static void in_by_number(void)
{
    char byte;
    if (syscall(SYS_read, in, &byte, 1) != 1) abort();
}
static void make_terminal(void)
{
    in = posix_openpt(O_RDWR | O_NOCTTY);
    if (grantpt(in) || unlockpt(in)) abort();
    out = open(ptsname(in), O_RDWR | O_NOCTTY);
}
static void make_sent(void)
{
    int ends[2];
    union {
        char room[CMSG_SPACE(sizeof(int))];
        struct cmsghdr head;
    } control = {{0}};
    char byte = 'f';
    struct iovec piece = {&byte, 1};
    struct msghdr m = {.msg_iov = &piece,
                       .msg_iovlen = 1,
                       .msg_control = &control,
                       .msg_controllen = sizeof control};
    make_pipe();
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) abort();
    control.head = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.head), &out, sizeof out);
    if (sendmsg(ends[0], &m, 0) != 1) abort();
    close(out);
    if (recvmsg(ends[1], &m, 0) != 1) abort();
    memcpy(&out, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof out);
}
static void send_file(void)
{
    int file = memfd_create("file", 0);
    off_t at = 0;
    if (write(file, "x", 1) != 1 || sendfile(out, file, &at, 1) != 1) abort();
}
static void splice_out(void)
{
    if (splice(more[0], NULL, out, NULL, 1, 0) != 1) abort();
}
static void tee_out(void)
{
    if (tee(more[0], out, 1, 0) != 1) abort();
}
static void vmsplice_out(void)
{
    struct iovec piece = {"x", 1};
    if (vmsplice(out, &piece, 1, 0) != 1) abort();
}
static void make_watch(void)
{
    in = inotify_init1(0);
    if (mkdir(name, 0700) || inotify_add_watch(in, name, IN_CLOSE_WRITE) < 0) abort();
    strcat(name, "/file");
}
static void file_out(void)
{
    int file = open(name, O_CREAT | O_WRONLY, 0600);
    if (write(file, "x", 1) != 1) abort();
    close(file);
}
static void events_in(void)
{
    char events[512];
    if (read(in, events, sizeof events) < 1) abort();
}
static void file_in(void)
{
    struct stat file;
    while (stat(name, &file) || !file.st_size) usleep(1000);
}
static void make_again(void)
{
    char path[64];
    make_pipe();
    snprintf(path, sizeof path, "/proc/self/fd/%d", in);
    in = open(path, O_RDONLY);
}
static void make_relay(void)
{
    int there, back;
    make_pipe();
    there = in, more[1] = out;
    make_pipe();
    back = out;
    child = fork();
    if (!child) {
        char byte;
        if (read(there, &byte, 1) != 1 || write(back, &byte, 1) != 1) _exit(1);
        _exit(0);
    }
    out = more[1];
}
static void make_fifo(void)
{
    if (mkfifo(name, 0600)) abort();
}
static void popen_out(void)
{
    char command[80];
    snprintf(command, sizeof command, "cat >%s", name);
    FILE *stream = popen(command, "w");
    fputs("x", stream);
    pclose(stream);
}
static void fifo_in(void)
{
    in = open(name, O_RDONLY);
    byte_in();
}
static void fork_out(void)
{
    child = fork();
    if (!child) _exit(0);
}
static void wait_in(void)
{
    while (waitpid(-1, NULL, 0) < 0) usleep(1000);
}
static void make_process(void)
{
    child = fork();
    if (!child)
        for (;;) pause();
    in = (int)syscall(SYS_pidfd_open, child, 0);
}
static void kill_out(void)
{
    kill(child, SIGKILL);
}
static void make_timer(void)
{
    in = (int)syscall(SYS_timerfd_create, CLOCK_MONOTONIC, 0);
}
static void timer_out(void)
{
    struct itimerspec when = {.it_value = {0, 1000}};
    syscall(SYS_timerfd_settime, in, 0, &when, NULL);
}
static void make_memory(void)
{
    in = out = memfd_create("memory", 0);
}
static void memory_out(void)
{
    if (pwrite(out, "x", 1, 0) != 1) abort();
}
static void memory_in(void)
{
    char byte;
    while (pread(in, &byte, 1, 0) != 1) usleep(1000);
}
static void size_out(void)
{
    if (ftruncate(out, 1)) abort();
}
static void size_in(void)
{
    struct stat file;
    do usleep(1000);
    while (fstat(in, &file) || !file.st_size);
}
static void copy_out(void)
{
    int from = memfd_create("from", 0);
    off_t start = 0, there = 0;
    if (write(from, "x", 1) != 1 || copy_file_range(from, &start, out, &there, 1, 0) != 1) abort();
}
static void make_copies(void)
{
    make_pipe();
    in = (int)syscall(SYS_dup, in), out = fcntl(out, F_DUPFD, 50);
}
static void make_datagrams(void)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends)) abort();
    in = ends[0], out = ends[1];
}
static void make_queue(void)
{
    struct mq_attr size = {.mq_maxmsg = 1, .mq_msgsize = 1};
    snprintf(name, sizeof name, "/foretell.%d", (int)getpid());
    in = out = mq_open(name, O_CREAT | O_RDWR, 0600, &size);
    mq_unlink(name);
}
static void queue_out(void)
{
    mq_send(out, "x", 1, 0);
}
static void make_messages(void)
{
    in = out = msgget(IPC_PRIVATE, 0600);
}
static void message_out(void)
{
    struct {
        long type;
        char byte;
    } m = {1, 1};
    if (syscall(SYS_msgsnd, out, &m, 1, 0)) abort();
}
static void message_in(void)
{
    struct {
        long type;
        char byte;
    } m;
    if (msgrcv(in, &m, 1, 0, 0) != 1) abort();
    msgctl(in, IPC_RMID, NULL);
}
static void make_watched(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    make_terminal();
    more[0] = epoll_create1(0);
    epoll_ctl(more[0], EPOLL_CTL_ADD, in, &event);
}
static void watched_in(void)
{
    struct epoll_event event;
    if (epoll_wait(more[0], &event, 1, -1) != 1) abort();
}
static void make_epoll(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    make_pipe();
    more[0] = epoll_create1(0);
    epoll_ctl(more[0], EPOLL_CTL_ADD, in, &event);
}
/* A set that watches a set. */
static void make_nested(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    make_epoll();
    int outer = epoll_create1(0);
    epoll_ctl(outer, EPOLL_CTL_ADD, more[0], &event);
    more[0] = outer;
}
static void make_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    in = signalfd(-1, &set, 0);
}
static void signal_out(void)
{
    if (kill(getpid(), SIGUSR1)) abort();
}
static void signal_in(void)
{
    struct signalfd_siginfo info;
    if (read(in, &info, sizeof info) != sizeof info) abort();
}
static void make_connection(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof at;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    out = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 1)) abort();
    if (getsockname(listener, (struct sockaddr *)&at, &n)) abort();
    if (connect(out, (struct sockaddr *)&at, sizeof at)) abort();
    in = accept(listener, NULL, NULL);
}
/* The two halves of a pipe, given to a child that ends at once: other processes had them. */
static void make_escaped(void)
{
    make_pipe();
    child = fork();
    if (!child) _exit(0);
    if (waitpid(child, NULL, 0) != child) abort();
}
static void make_null(void)
{
    make_pipe();
    more[0] = open("/dev/null", O_WRONLY);
}
/* What goes to /dev/null is no order; what goes into the pipe is. */
static void null_out(void)
{
    if (write(more[0], "x", 1) != 1) abort();
    byte_out();
}
static void nothing(void) {}

/* Names with those of the recorder's table of kinds (FT_RT_FD_TABLE) before the colon: each of its
 * rows has one of these at least. */
static const struct row {
    const char *name;
    void (*make)(void), (*put)(void), (*take)(void);
} rows[] = {
    {"EPOLL:pipe", make_epoll, byte_out, watched_in},
    {"EPOLL:nested", make_nested, byte_out, watched_in},
    {"SIGNAL:signalfd", make_signals, signal_out, signal_in},
    {"SOCKET:connection", make_connection, byte_out, byte_in},
    {"PIPE:escaped", make_escaped, byte_out, byte_in},
    {"OUTSIDE:null", make_null, null_out, byte_in},
    {"PIPE:pipe", make_pipe, byte_out, byte_in},
    {"PIPE:pair", make_pair, byte_out, byte_in},
    {"EVENT:event", make_event, count_out, count_in},
    {"UNKNOWN:unseen", make_unseen, count_out, count_in},
    {"event-by-number", by_number, count_out, count_in},
    {"pipe-by-number", pipe_by_number, out_by_number, in_by_number},
    {"terminal", make_terminal, byte_out, byte_in},
    {"watched-terminal", make_watched, byte_out, watched_in},
    {"sent", make_sent, byte_out, byte_in},
    {"sendfile", make_pipe, send_file, byte_in},
    {"splice", make_two, splice_out, byte_in},
    {"tee", make_two, tee_out, byte_in},
    {"vmsplice", make_pipe, vmsplice_out, byte_in},
    {"WATCH:inotify", make_watch, file_out, events_in},
    {"FILE:file", nothing, file_out, file_in},
    {"opened-again", make_again, byte_out, byte_in},
    {"relay", make_relay, byte_out, byte_in},
    {"popen", make_fifo, popen_out, fifo_in},
    {"waitpid", nothing, fork_out, wait_in},
    {"pidfd", make_process, kill_out, ready_in},
    {"timer", make_timer, timer_out, count_in},
    {"memory", make_memory, memory_out, memory_in},
    {"size", make_memory, size_out, size_in},
    {"copy", make_memory, copy_out, memory_in},
    {"copies", make_copies, byte_out, byte_in},
    {"datagrams", make_datagrams, byte_out, ready_in},
    {"queue", make_queue, queue_out, ready_in},
    {"messages", make_messages, message_out, message_in},
};

static const struct row *row;

static void *work(void *unused)
{
    value = 42;
    row->put();
    if (races) beside = 1;
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    for (size_t i = 0; argc == 1 && i < sizeof rows / sizeof *rows; i++) puts(rows[i].name);
    for (size_t i = 0; argc > 1 && i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i].name, argv[1])) row = &rows[i];
    if (!row) return argc > 1;
    races = argc > 2;
    snprintf(name, sizeof name, "object.%d", (int)getpid());
    row->make();
    pthread_create(&thread, NULL, work, NULL);
    row->take();
    int sum = value + (races ? beside : 0);
    pthread_join(thread, NULL);
    return sum < 42;
}
