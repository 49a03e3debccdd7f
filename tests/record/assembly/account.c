/* Built without the wrapper. Each block runs on the twin of the arena, and then on the arena
 * itself, while no other thread does: both must come to the same. What the instructions did goes
 * into a file, thread by thread: kind, variable, values. */
#include "account.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 6, LINES = 1 << 14 };

struct line {
    int kind;
    char member;
    unsigned index;
    int64_t value, result;
};

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static struct arena before;
static __thread unsigned self;
static struct line lines[THREADS][LINES];
static unsigned n_lines[THREADS];
static int wrong;

/* Keeps all that code can see, as the hooks of the recorder must. */
__asm__(".text\n.globl peek\n.type peek, @function\npeek:\n"
        "    pushfq\n    push %rax\n    push %rcx\n    push %rdx\n    push %rsi\n    push %rdi\n"
        "    push %r8\n    push %r9\n    push %r10\n    push %r11\n    push %rbp\n"
        "    mov %rsp, %rbp\n"
        "    mov 80(%rbp), %rsi\n    mov 96(%rbp), %rdi\n"
        "    sub $4096, %rsp\n    and $-64, %rsp\n    cld\n"
        "    xor %eax, %eax\n    mov %rax, 512(%rsp)\n    mov %rax, 520(%rsp)\n"
        "    mov %rax, 528(%rsp)\n    mov %rax, 536(%rsp)\n    mov %rax, 544(%rsp)\n"
        "    mov %rax, 552(%rsp)\n    mov %rax, 560(%rsp)\n    mov %rax, 568(%rsp)\n"
        "    mov $7, %eax\n    xor %edx, %edx\n    xsave64 (%rsp)\n"
        "    call note_access\n"
        "    mov $7, %eax\n    xor %edx, %edx\n    xrstor64 (%rsp)\n"
        "    mov %rbp, %rsp\n"
        "    pop %rbp\n    pop %r11\n    pop %r10\n    pop %r9\n    pop %r8\n    pop %rdi\n"
        "    pop %rsi\n    pop %rdx\n    pop %rcx\n    pop %rax\n    popfq\n    ret\n"
        ".size peek, .-peek\n");

static size_t offset_of(const struct access *a, unsigned lane)
{
    unsigned i = a->index + lane;
    switch (a->member) {
    case 'x':
        return offsetof(struct arena, x) + 8 * i;
    case 'q':
        return offsetof(struct arena, q) + 8 * i;
    case 'l':
        return offsetof(struct arena, l) + 4 * i;
    case 'w':
        return offsetof(struct arena, w) + 2 * i;
    default:
        return offsetof(struct arena, b) + i;
    }
}

static int64_t value_at(const struct arena *in, size_t at, unsigned size)
{
    int64_t value = 0;
    memcpy(&value, (const char *)in + at, size);
    return (int64_t)((uint64_t)value << (64 - 8 * size)) >> (64 - 8 * size);
}

void note_access(uint64_t number, uint64_t flags);
void note_access(uint64_t number, uint64_t flags)
{
    const struct access *a = &accesses[number];
    unsigned lanes = a->size > 8 ? 2 : 1, size = a->size / lanes;
    int kind = a->kind == COMPARE ? (flags & 1 << 6 ? UPDATE : READ) : a->kind;
    for (unsigned i = 0; i < lanes && n_lines[self] < LINES; i++) {
        size_t at = offset_of(a, i);
        lines[self][n_lines[self]++] =
            (struct line){kind, a->member, a->index + i, value_at(&before, at, size),
                          value_at(&twin_arena, at, size)};
        if (kind != READ) memcpy((char *)&before + at, (char *)&twin_arena + at, size);
    }
    if (!memcmp(&before, &twin_arena, sizeof before)) return;
    fprintf(stderr, "the generator is wrong about access %lu\n", number);
    exit(3);
}

static void complain(const char *what, unsigned block)
{
    fprintf(stderr, "block %u: another %s than without the wrapper\n", block, what);
    wrong = 1;
}

static void fill(struct state *s, uint64_t seed)
{
    unsigned char *bytes = (unsigned char *)s;
    for (size_t i = 0; i < sizeof *s;
         i++, seed = seed * 6364136223846793005u + 1442695040888963407u)
        bytes[i] = (unsigned char)(seed >> 56) & (seed >> 40 & 1 ? 255 : 0);
}

static void run(unsigned block, uint64_t seed)
{
    struct state plain, seen;
    fill(&plain, seed);
    seen = plain;
    pthread_mutex_lock(&one_at_a_time);
    twin_arena = before = *real_arena();
    twins[block](&plain);
    real_blocks()[block](&seen);
    if (memcmp(plain.r, seen.r, sizeof plain.r)) complain("register", block);
    if (memcmp(plain.v, seen.v, sizeof plain.v) || plain.top != seen.top) complain("vector", block);
    if (plain.flags != seen.flags) complain("flag", block);
    if (memcmp(&twin_arena, real_arena(), sizeof twin_arena)) complain("content", block);
    pthread_mutex_unlock(&one_at_a_time);
}

static void *work(void *number)
{
    self = (unsigned)(uintptr_t)number;
    for (unsigned round = 0; round < ROUNDS; round++)
        for (unsigned i = 0; i < n_blocks; i++)
            run((i * (2 * self + 1) + round) % n_blocks, i * 1000 + round * 10 + self);
    return NULL;
}

static void write_account(const char *path)
{
    static const char *const kinds[] = {"read", "write", "rmw"};
    FILE *to = path ? fopen(path, "w") : NULL;
    for (unsigned t = 0; to && t < THREADS; t++)
        for (unsigned i = 0; i < n_lines[t]; i++) {
            const struct line *l = &lines[t][i];
            fprintf(to, "T%u %s arena.%c[%u] %ld %ld\n", t + 1, kinds[l->kind], l->member, l->index,
                    (long)l->value, (long)l->result);
        }
    if (to) fclose(to);
}

int main(void)
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (unsigned i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    write_account(getenv("ACCOUNT"));
    return wrong;
}
