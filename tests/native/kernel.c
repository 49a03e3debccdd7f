/* usage: kernel WHAT: two threads, one after the other under a lock, in either order; one or both
 * leave something in the kernel, end the process, or crash. Two classes; where the process ends in
 * the second thread, three: the first one comes before, after, or not. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *before; /* mapped before the first thread */

static void expect(int condition)
{
    if (!condition) abort();
}

static void map(int second)
{
    char *memory = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    expect(!memory[second]);
    memory[second] = 1;
}

static void unmap(int second)
{
    expect(second || !munmap(before, 4096));
}

static void discard(int second)
{
    expect(before[second] == 1 && !madvise(before, 8192, MADV_DONTNEED) && !before[second]);
    before[0] = before[1] = 1;
}

static int next_number; /* of a descriptor, before the first thread */

static void open_files(int second)
{
    static int opened;
    int fd = open("/dev/null", O_RDONLY), pair[2];
    expect(opened || fd == next_number);
    expect(dup(fd) > fd && !pipe(pair) && pair[1] >= 0);
    opened = 1;
    (void)second;
}

static void use_stdio(int second)
{
    char line[99];
    FILE *file = fopen("/etc/passwd", "r");
    expect(file && fgets(line, sizeof line, file) && !fclose(file));
    printf("hello %d\n", second);
    fflush(stdout);
}

static void close_input(int second)
{
    expect(second || !close(0));
}

static void go_home(int second)
{
    static int been;
    char path[4096];
    expect(getcwd(path, sizeof path) && (been || strcmp(path, "/")) && !chdir("/"));
    been = 1;
    (void)second;
}

static volatile int handled;

static void handle(int number)
{
    (void)number;
    handled++;
}

static void set_handler(int second)
{
    struct sigaction old;
    (void)second;
    expect(!sigaction(SIGUSR1, NULL, &old));
    expect(old.sa_handler == (handled ? handle : SIG_DFL));
    signal(SIGUSR1, handle);
    raise(SIGUSR1);
    expect(handled);
}

/* The kernel has one thread for all, and each has a number and a name of its own. */
static void be_someone(int second)
{
    static pid_t other;
    cpu_set_t all;
    struct timespec used;
    clockid_t clock;
    pid_t me = gettid();
    expect(me != getpid() && me != other && me == syscall(SYS_gettid));
    other = me;
    expect(!pthread_kill(pthread_self(), 0) && !pthread_setname_np(pthread_self(), "someone"));
    expect(!pthread_getaffinity_np(pthread_self(), sizeof all, &all) && CPU_COUNT(&all) > 0);
    expect(!pthread_getcpuclockid(pthread_self(), &clock) && !clock_gettime(clock, &used));
    signal(SIGUSR2, handle);
    handled = 0;
    expect(!raise(SIGUSR2) && handled == 1 && !pthread_kill(pthread_self(), SIGUSR2));
    expect(handled == 2);
    (void)second;
}

/* Each thread has a mask. */
static void block_signals(int second)
{
    sigset_t set, now;
    sigemptyset(&set);
    sigaddset(&set, second ? SIGUSR1 : SIGUSR2);
    expect(!pthread_sigmask(SIG_BLOCK, &set, NULL) && !pthread_sigmask(SIG_BLOCK, NULL, &now));
    expect(sigismember(&now, SIGUSR1) == second && sigismember(&now, SIGUSR2) == !second);
}

static void grow_heap(int second)
{
    char *memory = calloc(1, 300000);
    for (int i = 0; i < 300000; i++) expect(!memory[i]);
    memset(memory, 1 + second, 300000);
}

static void deeper(volatile char *from)
{
    volatile char here[1 << 16];
    here[0] = from ? *from : 1;
    if (here[0]) deeper(here);
    here[1] = 1;
}

static void overflow(int second)
{
    if (second) deeper(NULL);
}

static void write_nowhere(int second)
{
    if (second) *(volatile int *)(uintptr_t)8 = 1;
}

static void abort_second(int second)
{
    if (second) abort();
}

static void exit_second(int second)
{
    if (second) exit(3);
}

static void leave_second(int second)
{
    if (second) _exit(4);
}

static const struct {
    const char *name;
    void (*act)(int second);
} acts[] = {{"map", map},
            {"unmap", unmap},
            {"discard", discard},
            {"open", open_files},
            {"stdio", use_stdio},
            {"close", close_input},
            {"folder", go_home},
            {"handler", set_handler},
            {"someone", be_someone},
            {"mask", block_signals},
            {"heap", grow_heap},
            {"overflow", overflow},
            {"crash", write_nowhere},
            {"abort", abort_second},
            {"exit", exit_second},
            {"_exit", leave_second}};

static void (*act)(int second);

static void *run(void *second)
{
    pthread_mutex_lock(&lock);
    act(second != NULL);
    pthread_mutex_unlock(&lock);
    return second;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++)
        if (argc > 1 && !strcmp(argv[1], acts[i].name)) act = acts[i].act;
    if (!act) return 2;
    next_number = dup(0);
    close(next_number);
    before = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    before[0] = before[1] = 1;
    for (uintptr_t i = 0; i < 2; i++) pthread_create(&threads[i], NULL, run, (void *)i);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
