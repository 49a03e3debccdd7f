/* Built without the wrapper: nothing of this is in a recording. */
#define _GNU_SOURCE
#include "account.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ENTRIES = 1 << 13, CONTENT = 256, SLOTS = 64, THREADS = 32, REGIONS = 256, LONGEST = 256 };

/* As whole.py reads it. */
struct entry {
    uint32_t kind, thread, line, size;
    uint64_t address;
    int64_t other;
    unsigned char content[CONTENT];
};

static struct entry *entries;
static uint32_t n_entries;
static __thread uint32_t self;
static uint64_t chance;

/* Memory that begins without content: which bytes somebody has written. */
struct region {
    uintptr_t address;
    uint64_t size;
    int alive;
    unsigned char written[LONGEST];
};
static struct region regions[REGIONS];
static uint32_t n_regions;
static void *slots[SLOTS];
static uint64_t sizes[SLOTS];
static pthread_t handles[THREADS];
static int states[THREADS]; /* 0: not created, 1: created, 2: joined */
static int once_line, once_done;

static struct region *around(uintptr_t address)
{
    for (uint32_t i = n_regions; i-- > 0;) {
        struct region *r = &regions[i];
        if (r->alive && address - r->address < r->size) return r;
    }
    return 0;
}

static void note_written(uintptr_t address, uint64_t size)
{
    struct region *r = around(address);
    for (uint64_t i = 0; r && i < size; i++) r->written[address - r->address + i] = 1;
}

int known(const void *address, uint64_t size)
{
    const struct region *r = around((uintptr_t)address);
    for (uint64_t i = 0; r && i < size; i++)
        if (!r->written[(uintptr_t)address - r->address + i]) return 0;
    return 1;
}

void told(enum told kind, int line, const void *address, uint64_t size, int64_t other)
{
    if (!entries || n_entries == ENTRIES) return;
    struct entry *e = &entries[n_entries++];
    e->kind = kind;
    e->thread = self;
    e->line = (uint32_t)line;
    e->size = (uint32_t)size;
    e->address = (uintptr_t)address;
    e->other = other;
    const volatile unsigned char *from = address;
    for (uint64_t i = 0; i < size && i < CONTENT && kind != TOLD_ALLOC && kind != TOLD_STACK; i++)
        e->content[i] = from[i];
    if (kind == TOLD_WRITE || kind == TOLD_ATOMIC_WRITE) note_written((uintptr_t)address, size);
    if (kind == TOLD_FREE) {
        struct region *r = around((uintptr_t)address);
        if (r) r->alive = 0;
    }
}

static int open_account(const char *path)
{
    return (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_TRUNC, 0600);
}

/* A file that is mapped: it is whole whatever ends the program. */
void account_starts(void)
{
    const char *path = getenv("ACCOUNT"), *seed = getenv("ACCOUNT_CHANCE");
    int file = path ? open_account(path) : -1;
    for (; seed && *seed; seed++) chance = chance * 10 + (uint64_t)(*seed - '0');
    chance = (chance + 1) * 0x9E3779B97F4A7C15u;
    size_t size = ENTRIES * sizeof(struct entry);
    if (file < 0 || syscall(SYS_ftruncate, file, size)) return;
    entries =
        (struct entry *)syscall(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    told(TOLD_BEGIN, 0, 0, 0, 0);
}

void account_ends(void)
{
    told(TOLD_COMPLETE, 0, 0, 0, 0);
}

void begins(int thread, int line)
{
    self = (uint32_t)thread;
    told(TOLD_BEGIN, line, 0, 0, 0);
}

void turn_over(void)
{
    chance ^= chance << 13;
    chance ^= chance >> 7;
    chance ^= chance << 17;
    if ((chance >> 32) % 5 < 2) sched_yield();
}

void put(int slot, void *memory, uint64_t size, int how, int line)
{
    told(how == 1 ? TOLD_STACK : TOLD_ALLOC, line, memory, size, how == 2);
    slots[slot] = memory;
    sizes[slot] = size;
    if (how == 2 || n_regions == REGIONS || size > LONGEST) return;
    struct region *r = &regions[n_regions++];
    r->address = (uintptr_t)memory;
    r->size = size;
    r->alive = 1;
}

union cell *got(int slot)
{
    return slots[slot];
}

void *take(int slot)
{
    void *memory = slots[slot];
    slots[slot] = 0;
    return memory;
}

static uint64_t moved(int slot, uint64_t size)
{
    return sizes[slot] < size ? sizes[slot] : size;
}

void moves(int slot, uint64_t size, int line)
{
    told(TOLD_READ, line, slots[slot], moved(slot, size), 0);
}

/* What nobody has written is moved along, and nobody has written it. */
void resized(int slot, void *memory, uint64_t size, int line)
{
    struct region *r = around((uintptr_t)slots[slot]);
    unsigned char written[LONGEST];
    uint64_t n = moved(slot, size);
    for (uint64_t i = 0; i < n && i < LONGEST; i++) written[i] = r ? r->written[i] : 1;
    told(TOLD_FREE, line, slots[slot], 0, 0);
    put(slot, memory, size, 0, line);
    told(TOLD_WRITE, line, memory, n, 0);
    r = around((uintptr_t)memory);
    for (uint64_t i = 0; r && i < n; i++) r->written[i] = written[i];
}

void once_called(int line)
{
    once_line = line;
    once_done = 0;
}

int once_runs(void)
{
    once_done = 1;
    return once_line;
}

int once_ran(void)
{
    return once_done;
}

pthread_t *handle(int thread)
{
    return &handles[thread];
}

void created(int thread)
{
    states[thread] = 1;
}

int joinable(int thread)
{
    return states[thread] == 1;
}

pthread_t joined(int thread)
{
    states[thread] = 2;
    return handles[thread];
}
