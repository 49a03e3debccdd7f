/* Contexts and rewinding: each case in a forked process, which rewinds itself some hundred times
 * and compares its memory with what the first choice had. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace_support.h"

#include "libc/contract.h"
#include "libc/libc.h"
#include "rewinding/kept.h"
#include "rewinding/rewinding.h"
#include "rewinding/snapshot.h"
#include "seeded.h"

/* A sanitizer's shadow memory and stacks would be rewound too. */
#ifdef FT_SANITIZED
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

/* ---- the rest of the runtime */

void ft_rt_contract_broken(const char *what)
{
    fprintf(stderr, "%s\n", what);
    _exit(FT_RT_BROKEN);
}

void *ft_rt_real(const char *name)
{
    return dlsym(RTLD_DEFAULT, name);
}

void *ft_rt_away(size_t size)
{
    static uintptr_t at = UINT64_C(1) << 45;
    at += (size + 2 * 65536 - 1) / 65536 * 65536;
    return (void *)(at - (size + 2 * 65536 - 1) / 65536 * 65536);
}

/* ---- cases */

enum { FINE = 60, WRONG, ALL_RUNS = 300 };

static struct shared {
    uint32_t runs, moves, all, crashes, hangs;
    const uint32_t *at; /* moves */
    int signal;
    const char *spoilt;
    void (*check)(void); /* between two runs: may end the process */
} * shared;

static void require(bool condition, const char *what)
{
    if (condition) return;
    fprintf(stderr, "%s (run %u)\n", what, shared->runs);
    _exit(WRONG);
}
#define REQUIRE(condition) require((condition), #condition)

static void run_ended(void)
{
    shared->runs++;
}

static void next_run(const char *spoilt)
{
    shared->spoilt = spoilt;
    if (shared->runs && shared->check) shared->check();
    require(!shared->spoilt, "something was left behind");
    if (shared->runs == shared->all) _exit(FINE);
}

static void crashed_run(int number, const siginfo_t *info)
{
    (void)info;
    shared->crashes++;
    shared->signal = number;
}

static void hung_run(void)
{
    shared->hangs++;
    ft_rt_rewinding_end();
}

static void start_runs(uint32_t all, bool tracks, uint32_t reserve)
{
    ft_rt_snapshot_prepare();
    shared = ft_rt_kept(sizeof *shared);
    shared->all = all;
    shared->at = &shared->moves;
    const ft_rt_rewinding_calls calls = {run_ended,          next_run,       crashed_run,
                                         hung_run,           &shared->at,    60,
                                         .reserve = reserve, .track = tracks};
    const char *why = ft_rt_rewinding_start(&calls);
    if (why) fprintf(stderr, "%s\n", why);
    if (why) _exit(WRONG);
}

/* The status with which a forked process ends that plays the case. */
static int play(void (*play_it)(void))
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        for (int number = 1; number < SIGSYS; number++) signal(number, SIG_DFL); /* cmocka's */
        play_it();
        _exit(WRONG);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* ---- threads, scheduled by hand */

enum { WORKERS = 6, LAST_ROUND = 4 };

static pthread_key_t own_key, end_key;
static ft_rt_context *threads[WORKERS];
static pthread_t handles[WORKERS];
static __thread int mine = 7, number_here;
static int ended[WORKERS], n_ended, destroyed;

static void end_of_thread(void *round)
{
    if ((uintptr_t)round < LAST_ROUND) {
        pthread_setspecific(end_key, (void *)((uintptr_t)round + 1));
        return;
    }
    ended[n_ended++] = number_here;
    ft_rt_context_ends(threads[number_here]);
    ft_rt_context_switch(threads[number_here], ft_rt_rewinding_first());
    _exit(WRONG);
}

static void destroy_own(void *value)
{
    REQUIRE(value == &handles[number_here]);
    destroyed++;
}

static void yield(void)
{
    ft_rt_context_switch(threads[number_here], ft_rt_rewinding_first());
}

static volatile int depth;

static void leave_deeply(void)
{
    volatile char room[256] = {0};
    if (depth++ < 50) leave_deeply();
    room[0] = room[1];
    if (depth) pthread_exit((void *)(uintptr_t)(100 + number_here));
}

static void *thread_body(void *argument)
{
    char *block = malloc(64);
    number_here = (int)(uintptr_t)argument;
    pthread_setspecific(end_key, (void *)1);
    pthread_setspecific(own_key, &handles[number_here]);
    REQUIRE(mine == 7 && pthread_equal(pthread_self(), handles[number_here]));
    snprintf(block, 64, "%d", mine += number_here);
    errno = 1000 + number_here;
    yield();
    REQUIRE(errno == 1000 + number_here && mine == 7 + number_here);
    free(block);
    if (number_here % 2) leave_deeply();
    return (void *)(uintptr_t)(100 + number_here);
}

static void create(int i, const pthread_attr_t *attributes)
{
    bool foreign = true;
    ft_rt_context **made = &threads[i];
    REQUIRE(!ft_rt_context_make(made, &handles[i], attributes, thread_body, (void *)(uintptr_t)i,
                                &foreign));
    REQUIRE(!foreign);
}

static void go_on(int i)
{
    ft_rt_context_switch(ft_rt_rewinding_first(), threads[i]);
}

static void join(int i)
{
    void *result = NULL;
    REQUIRE(!ft_rt_context_join(handles[i], &result));
    REQUIRE(result == (void *)(uintptr_t)(100 + i));
}

static void make_keys(void)
{
    pthread_key_create(&own_key, destroy_own);
    pthread_key_create(&end_key, end_of_thread);
}

/* Two stages each, interleaved; more threads than in reserve; joined in another order. */
static void play_threads(void)
{
    make_keys();
    start_runs(ALL_RUNS, true, 2);
    REQUIRE(!n_ended && !destroyed);
    for (int i = 0; i < WORKERS; i++) create(i, NULL);
    for (int i = WORKERS; i-- > 0;) go_on(i);
    for (int i = 0; i < WORKERS; i++) REQUIRE(ft_rt_context_join(handles[i], NULL) == EBUSY);
    for (int i = 0; i < WORKERS; i++) go_on((i * 5 + 2) % WORKERS);
    for (int i = 0; i < WORKERS; i++) REQUIRE(ended[i] == (i * 5 + 2) % WORKERS);
    REQUIRE(destroyed == WORKERS);
    for (int i = 0; i < WORKERS; i++) join(i);
    REQUIRE(ft_rt_context_join(handles[0], NULL) == ESRCH);
    ft_rt_rewinding_end();
}

static void test_threads(void **state)
{
    (void)state;
    if (SANITIZED) skip();
    assert_int_equal(play(play_threads), FINE);
}

/* As the C library's own: the stack given back last is used first, of detached ones too. */
static void play_handles(void)
{
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    make_keys();
    start_runs(ALL_RUNS / 10, true, 3);
    for (int i = 0; i < 3; i++) create(i, NULL), go_on(i), go_on(i);
    pthread_t joined_first = handles[0], joined_last = handles[1];
    REQUIRE(!ft_rt_context_detach(handles[2]) && ft_rt_context_detach(handles[2]) == EINVAL);
    REQUIRE(ft_rt_context_join(handles[2], NULL) == EINVAL);
    pthread_t freed = handles[2];
    join(0), join(1);
    create(3, &detached); /* only now is the detached one freed, as the last */
    REQUIRE(pthread_equal(handles[3], freed));
    create(4, NULL);
    REQUIRE(pthread_equal(handles[4], joined_last));
    go_on(3), go_on(3);
    create(5, NULL);
    REQUIRE(pthread_equal(handles[5], freed));
    create(0, NULL);
    REQUIRE(pthread_equal(handles[0], joined_first));
    ft_rt_rewinding_end();
}

static void test_handles(void **state)
{
    (void)state;
    if (SANITIZED) skip();
    assert_int_equal(play(play_handles), FINE);
}

/* On a stack of the program's own, which is memory of the program. */
static void play_own_stack(void)
{
    enum { SIZE = 1 << 16 };
    static _Alignas(4096) char stack[SIZE];
    pthread_attr_t attributes;
    char *here = stack;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, SIZE);
    make_keys();
    start_runs(ALL_RUNS / 10, true, 1);
    create(0, &attributes);
    REQUIRE((char *)handles[0] > here && (char *)handles[0] < here + SIZE);
    go_on(0), go_on(0);
    join(0);
    ft_rt_rewinding_end();
}

static void test_own_stack(void **state)
{
    (void)state;
    if (SANITIZED) skip();
    assert_int_equal(play(play_own_stack), FINE);
}

/* ---- memory */

enum { SMALL = 5000, LARGE = 3 << 20, BLOCK = 24 << 20, WRITES = 64, PAGE = 4096 };

static unsigned char small[SMALL] = {1}, large[LARGE];
static unsigned char *mapped, *block;
static uint64_t seed; /* in kept memory's place: drawn anew from the number of the run */

static unsigned char content(size_t at)
{
    return (unsigned char)(at * 0x9E3779B1u >> 24);
}

/* Every other stretch of pages is there at the first choice. */
static bool was_there(size_t at)
{
    return at / (PAGE * 16) % 2;
}

static void fill(unsigned char *memory, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (was_there(i)) memory[i] = content(i);
}

/* All pages that a run may have written, and some others. */
static void compare(const unsigned char *memory, size_t size)
{
    for (size_t i = 0; i < size; i += 509)
        require(memory[i] == (was_there(i) ? content(i) : 0), "a byte is not as it was");
}

static void scribble(unsigned char *memory, size_t size)
{
    for (int i = 0; i < WRITES; i++) memory[rnd(&seed, (uint32_t)(size / 509)) * 509] ^= 0x55;
    size_t from = rnd(&seed, (uint32_t)(size - 9000));
    memset(memory + from / 509 * 509, 0xAA, 1 + rnd(&seed, 8000));
}

static void use_heap(void)
{
    char *more = calloc(1, 300000);
    REQUIRE(more != NULL);
    for (size_t i = 0; i < 300000; i += 100) REQUIRE(!more[i]);
    memset(more, 1, 300000);
    char *less = malloc(rnd(&seed, 100));
    free(rnd(&seed, 2) ? more : less);
}

static void play_memory(bool tracks)
{
    uint64_t start = seeded_number("FT_SEED_START", 1);
    ft_rt_snapshot_prepare();
    mapped = mmap(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    block = malloc(BLOCK);
    memset(block, 0, BLOCK);
    fill(large, LARGE), fill(mapped, LARGE), fill(block, BLOCK);
    start_runs(ALL_RUNS / 6, tracks, 0);
    seed = start + shared->runs;
    if (shared->runs == 1) REQUIRE(ft_rt_snapshot_sizes().tracks <= tracks);
    REQUIRE(small[0] == 1 && !small[1] && !small[SMALL - 1]);
    memset(small, 9, SMALL);
    compare(large, LARGE), compare(mapped, LARGE), compare(block, BLOCK);
    scribble(large, LARGE), scribble(mapped, LARGE), scribble(block, BLOCK);
    use_heap();
    ft_rt_rewinding_end();
}

static void play_tracked(void)
{
    play_memory(true);
}

static void play_untracked(void)
{
    play_memory(false);
}

static void test_memory(void **state)
{
    (void)state;
    if (SANITIZED) skip();
    assert_int_equal(play(play_tracked), FINE);
    assert_int_equal(play(play_untracked), FINE);
}

/* A run that writes much does not make all later ones slow. */
static void look_at_copied(void)
{
    ft_rt_snapshot_size s = ft_rt_snapshot_sizes();
    if (shared->runs == shared->all - 1)
        require(!s.tracks || s.copied < s.whole + (1 << 20), "pages of one run are copied forever");
}

static void play_one_large_run(void)
{
    ft_rt_snapshot_prepare();
    block = calloc(1, BLOCK);
    start_runs(ALL_RUNS * 2, true, 0);
    shared->check = look_at_copied;
    if (shared->runs == 5) memset(block, 1, BLOCK);
    REQUIRE(shared->runs == 5 || !block[shared->runs * 999]);
    ft_rt_rewinding_end();
}

static void test_one_large_run(void **state)
{
    (void)state;
    if (SANITIZED) skip();
    assert_int_equal(play(play_one_large_run), FINE);
}

/* ---- the kernel's side */

static int open_before;

static void change_descriptors(void)
{
    int pair[2];
    int one = open("/dev/null", O_RDONLY), other = dup(one);
    REQUIRE(one >= 0 && other == one + 1 && !pipe(pair) && pair[1] == one + 3);
    REQUIRE(dup2(pair[0], one + 9) == one + 9 && !close(other) && !close(pair[0]));
    REQUIRE(fcntl(one, F_DUPFD, 50) == 50);
}

static void change_mappings(void)
{
    mapped = mmap(NULL, LARGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(!mprotect(mapped, PAGE, PROT_READ | PROT_WRITE));
    mapped[9] = 1;
    char *more = mmap(NULL, LARGE, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(!munmap(mapped + PAGE, PAGE) && !munmap(more, LARGE));
}

static volatile sig_atomic_t signals_handled;

static void handle_signal(int number)
{
    (void)number;
    signals_handled++;
}

static void change_signals(void)
{
    sigset_t set, old;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    REQUIRE(signal(SIGUSR1, handle_signal) == SIG_DFL);
    REQUIRE(!sigprocmask(SIG_BLOCK, &set, &old) && !sigismember(&old, SIGUSR1));
    REQUIRE(!raise(SIGUSR1) && !signals_handled);
    REQUIRE(!sigprocmask(SIG_SETMASK, &old, NULL) && signals_handled == 1);
    REQUIRE(!raise(SIGUSR1) && signals_handled == 2);
    sigfillset(&set);
    REQUIRE(!sigprocmask(SIG_BLOCK, &set, NULL) && getpid() > 0);
}

static void change_nothing(void)
{
    char text[64];
    int fd = open("/proc/self/stat", O_RDONLY);
    REQUIRE(read(fd, text, sizeof text) > 0 && !close(fd));
    free(malloc(1 << 20));
}

/* Taken back after each run, whatever it is. */
static void (*const taken_back[])(void) = {change_descriptors, change_mappings, change_signals,
                                           change_nothing};
enum { TAKEN_BACK = sizeof taken_back / sizeof *taken_back };

static void play_taken_back(void)
{
    open_before = dup(0);
    close(open_before);
    start_runs(TAKEN_BACK * 4, true, 1);
    int now = dup(0);
    REQUIRE(now == open_before && !close(now));
    taken_back[shared->runs % TAKEN_BACK]();
    ft_rt_rewinding_end();
}

static void test_taken_back(void **state)
{
    (void)state;
    if (SANITIZED) skip();
    assert_int_equal(play(play_taken_back), FINE);
}

/* What cannot be taken back is said, and done. */
static void close_old(void)
{
    REQUIRE(!close(open_before) && fcntl(open_before, F_GETFD) < 0);
}

static void unmap_old(void)
{
    REQUIRE(!munmap(mapped, PAGE));
}

static void discard_old(void)
{
    REQUIRE(!madvise(mapped, PAGE, MADV_DONTNEED) && !mapped[0]);
}

static void change_folder(void)
{
    char path[64];
    REQUIRE(!chdir("/") && getcwd(path, sizeof path) && !strcmp(path, "/"));
}

static void fork_one(void)
{
    int status = 0;
    pid_t child = fork();
    if (!child) _exit(33);
    REQUIRE(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 33);
}

static void *kernel_thread(void *argument)
{
    *(int *)argument = 1;
    return NULL;
}

static void make_kernel_thread(void)
{
    pthread_t thread;
    int ran = 0;
    REQUIRE(!pthread_create(&thread, NULL, kernel_thread, &ran) && !pthread_join(thread, NULL));
    REQUIRE(ran);
}

static void (*const spoiling[])(void) = {close_old,     unmap_old, discard_old,
                                         change_folder, fork_one,  make_kernel_thread};
static size_t spoils;

static void look_at_spoilt(void)
{
    require(shared->spoilt != NULL, "it is not said what the run left behind");
    _exit(FINE);
}

static void play_spoiling(void)
{
    open_before = dup(0);
    mapped = mmap(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mapped[0] = 1;
    start_runs(2, true, 1);
    shared->check = look_at_spoilt;
    spoiling[spoils]();
    ft_rt_rewinding_end();
}

static void test_spoilt(void **state)
{
    (void)state;
    if (SANITIZED) skip();
    for (spoils = 0; spoils < sizeof spoiling / sizeof *spoiling; spoils++)
        assert_int_equal(play(play_spoiling), FINE);
}

static void play_sealed(void)
{
    unsigned char *sealed = ft_rt_kept(PAGE);
    ft_rt_kept_seal(sealed, PAGE);
    sealed[1] = 1;
}

static void play_beside(void)
{
    unsigned char *piece = ft_rt_kept(PAGE + 1);
    piece[2 * PAGE - 1] = 1;
    piece[2 * PAGE] = 1;
}

static void test_kept(void **state)
{
    (void)state;
    if (SANITIZED) skip();
    assert_int_equal(play(play_sealed), -SIGSEGV);
    assert_int_equal(play(play_beside), -SIGSEGV);
}

/* ---- ends of runs */

static void recurse(volatile char *before)
{
    volatile char here[4096];
    here[0] = before ? *before : 1;
    if (here[0]) recurse(here);
    here[1] = 1;
}

static volatile int *volatile nowhere = (volatile int *)16;

static void crash_somehow(uint32_t how)
{
    if (how % 4 == 0) *nowhere = 1;
    if (how % 4 == 1) __builtin_trap();
    if (how % 4 == 2) abort();
    recurse(NULL);
}

static void *crashing_body(void *argument)
{
    crash_somehow((uint32_t)(uintptr_t)argument);
    return NULL;
}

static void look_at_crash(void)
{
    static const int expected[] = {SIGSEGV, SIGILL, SIGABRT, SIGSEGV};
    uint32_t run = shared->runs - 1;
    require(shared->crashes == shared->runs, "a crash was not seen");
    require(shared->signal == expected[run % 4], "another signal");
}

/* In the first thread and in others, by turns. */
static void play_crashes(void)
{
    bool foreign;
    start_runs(40, true, 1);
    shared->check = look_at_crash;
    uint32_t run = shared->runs;
    if (run % 8 < 4) {
        REQUIRE(!ft_rt_context_make(&threads[0], &handles[0], NULL, crashing_body,
                                    (void *)(uintptr_t)run, &foreign));
        go_on(0);
    }
    crash_somehow(run);
}

static void test_crashes(void **state)
{
    (void)state;
    if (SANITIZED) skip();
    assert_int_equal(play(play_crashes), FINE);
}

static void look_at_hang(void)
{
    require(shared->hangs == shared->runs, "a run without end was not seen");
}

static void play_hang(void)
{
    start_runs(3, true, 1);
    shared->check = look_at_hang;
    for (volatile uint64_t i = 0;; i++) continue;
}

static void test_hang(void **state)
{
    (void)state;
    if (SANITIZED) skip();
    assert_int_equal(play(play_hang), FINE);
}

static void test_self_test(void **state)
{
    (void)state;
    if (SANITIZED) skip();
    assert_null(ft_rt_rewinding_test());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_self_test),  cmocka_unit_test(test_threads),
        cmocka_unit_test(test_handles),    cmocka_unit_test(test_own_stack),
        cmocka_unit_test(test_memory),     cmocka_unit_test(test_one_large_run),
        cmocka_unit_test(test_taken_back), cmocka_unit_test(test_spoilt),
        cmocka_unit_test(test_kept),       cmocka_unit_test(test_crashes),
        cmocka_unit_test(test_hang),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
