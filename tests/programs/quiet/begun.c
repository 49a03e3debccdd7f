/* Memory that has a content before anybody is seen to write there: of threads, of the system,
 * filled by a function without hooks. All is done under one lock; who reads it before the other has
 * written finds what it began with. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

enum { PAGE = 4096, KINDS = 7 };

static __thread int zero, five = 5;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *shared, turn, wrong;

void fill(void *memory, size_t size); /* begun_fill.c, without hooks */

static int *mapped(void)
{
    int id = shmget(IPC_PRIVATE, PAGE, 0600);
    int *memory = shmat(id, NULL, 0);
    shmctl(id, IPC_RMID, NULL);
    return memory;
}

static int *grown(void)
{
    void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return (int *)mremap(page, PAGE, 2 * PAGE, MREMAP_MAYMOVE) + PAGE / sizeof(int);
}

static int *filled(void *memory)
{
    fill(memory, 2 * sizeof(int));
    return memory;
}

static int *make(int kind, int *local)
{
    switch (kind) {
    case 0:
        return &zero;
    case 1:
        return &five;
    case 2:
        return mapped();
    case 3:
        return grown();
    case 4:
        return (int *)(void *)getcwd(NULL, 0);
    case 5:
        return filled(malloc(2 * sizeof(int)));
    default:
        return filled(local);
    }
}

static int at(int wanted)
{
    pthread_mutex_lock(&lock);
    int there = turn >= wanted;
    pthread_mutex_unlock(&lock);
    if (!there) sched_yield();
    return there;
}

static void pass(int *memory)
{
    pthread_mutex_lock(&lock);
    if (memory) shared = memory;
    turn++;
    pthread_mutex_unlock(&lock);
}

static void use(int writes, int *memory)
{
    pthread_mutex_lock(&lock);
    if (writes)
        *memory = 1;
    else
        wrong += *memory == 99;
    pthread_mutex_unlock(&lock);
}

static int *known(void)
{
    pthread_mutex_lock(&lock);
    int *memory = shared;
    pthread_mutex_unlock(&lock);
    return memory;
}

/* Of each kind twice: its maker reads, then it writes (but for memory of malloc: there the reader
 * could come to what nobody filled, as far as anybody sees). */
static int maker_writes(int i)
{
    return i % 2 && i / 2 != 5;
}

static void *other(void *unused)
{
    for (int i = 0; i < 2 * KINDS; i++) {
        while (!at(2 * i + 1)) continue;
        use(!maker_writes(i), known());
        pass(NULL);
    }
    return unused;
}

int main(void)
{
    pthread_t thread;
    int locals[2 * KINDS][2];
    pthread_create(&thread, NULL, other, NULL);
    for (int i = 0; i < 2 * KINDS; i++) {
        while (!at(2 * i)) continue;
        int *memory = make(i / 2, locals[i]);
        pass(memory);
        use(maker_writes(i), memory);
    }
    pthread_join(thread, NULL);
    return wrong;
}
