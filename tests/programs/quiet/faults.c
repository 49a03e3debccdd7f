/* Accesses that fault, by inline assembly, atomics and plain code, where the recorder looks at that
 * memory too. The handler leaves by siglongjmp, or makes the memory accessible and comes back. The
 * thread goes on with the locks that others want, and what had not happened is nowhere. Ends with 0
 * if all that is so. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { TIMES = 10, PAGE = 4096 };

typedef struct kind {
    void (*access)(uint64_t *);
    int allowed; /* before */
    int leaves;  /* what the word at hand is when it is over: the handler comes back */
} kind;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t shared, *word;
static sigjmp_buf back;
static volatile sig_atomic_t comes_back, handled;
static _Atomic uint64_t in_handler;

static void load(uint64_t *at)
{
    uint64_t value;
    __asm__ volatile("movq %1, %0" : "=r"(value) : "m"(*at));
}

static void store(uint64_t *at)
{
    __asm__ volatile("movq $3, %0" : "=m"(*at));
}

static void add(uint64_t *at)
{
    __asm__ volatile("lock addq $4, %0" : "+m"(*at) : : "cc");
}

static void add_plainly(uint64_t *at)
{
    (*(volatile uint64_t *)at) += 5;
}

static void store_plainly(uint64_t *at)
{
    *(volatile uint64_t *)at = 6;
}

static void add_atomically(uint64_t *at)
{
    __atomic_fetch_add(at, 7, __ATOMIC_SEQ_CST);
}

static uint64_t copied[64];

static void load_plainly(uint64_t *at)
{
    copied[0] = *(volatile uint64_t *)at;
}

static void copy(uint64_t *at)
{
    memcpy(copied, at, sizeof copied);
}

static const kind kinds[] = {
    {load, PROT_NONE, 0},          {store, PROT_NONE, 3},         {store, PROT_READ, 3},
    {add, PROT_NONE, 4},           {add, PROT_READ, 4},           {add_plainly, PROT_READ, 5},
    {store_plainly, PROT_NONE, 6}, {store_plainly, PROT_READ, 6}, {add_atomically, PROT_READ, 7},
    {load_plainly, PROT_NONE, 0},  {copy, PROT_NONE, 0},
};

static void on_fault(int number, siginfo_t *info, void *context)
{
    uint64_t seen = 0;
    (void)number;
    (void)info;
    (void)context;
    __asm__ volatile("lock incq %0" : "+m"(seen) : : "cc"); /* another write at hand */
    handled += (int)seen;
    in_handler += seen; /* recorded too, and seen by others */
    if (!comes_back) siglongjmp(back, 1);
    mprotect(word, PAGE, PROT_READ | PROT_WRITE);
}

static void count(void)
{
    for (int i = 0; i < TIMES; i++) {
        pthread_mutex_lock(&lock);
        shared++;
        if (in_handler > shared) shared = 0;
        pthread_mutex_unlock(&lock);
    }
}

static void *other(void *unused)
{
    count();
    return unused;
}

static int try_one(const kind *k)
{
    pthread_t thread;
    word = mmap(NULL, PAGE, k->allowed, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_create(&thread, NULL, other, NULL);
    if (!sigsetjmp(back, 1)) k->access(word);
    count();
    pthread_join(thread, NULL);
    mprotect(word, PAGE, PROT_READ);
    int wrong = *word != (uint64_t)(comes_back ? k->leaves : 0);
    munmap(word, PAGE);
    return wrong;
}

int main(void)
{
    enum { KINDS = sizeof kinds / sizeof *kinds };
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    for (comes_back = 0; comes_back < 2; comes_back++)
        for (int i = 0; i < KINDS; i++)
            if (try_one(&kinds[i])) return fprintf(stderr, "kind %d, %d\n", i, comes_back), 1;
    return handled == 2 * KINDS && shared == 2 * KINDS * 2 * TIMES ? 0 : 2;
}
