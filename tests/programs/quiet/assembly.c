/* Calls around inline assembly change nothing that code can see: no register, no flag, nothing
 * below the stack pointer, no vector, no prefix. Ends with 0 if that is so. Each register holds its
 * own number while an instruction writes memory at each kind of address; what it leaves there and
 * in the flags is what the processor's manual says. */
#include <pthread.h>
#include <stdint.h>
#include <string.h>

static uint64_t place;
static uint32_t failures;

/* All registers but the stack's and the frame's, and rax, which compares. */
static uint64_t keep_registers(void)
{
    uint64_t wrong = 0;
    place = 5;
    __asm__ volatile("push %%rbx\n\t"
                     "mov $1, %%rbx; mov $2, %%rcx; mov $3, %%rdx; mov $4, %%rsi; mov $5, %%rdi\n\t"
                     "mov $6, %%r8; mov $7, %%r9; mov $8, %%r10; mov $9, %%r11; mov $10, %%r12\n\t"
                     "mov $11, %%r13; mov $12, %%r14; mov $13, %%r15; mov $5, %%rax\n\t"
                     "lock; cmpxchgq %%rcx, place(%%rip) /* 5: it is done */\n\t"
                     "jnz 1f\n\t"
                     "cmp $1, %%rbx; jne 1f; cmp $2, %%rcx; jne 1f; cmp $3, %%rdx; jne 1f\n\t"
                     "cmp $4, %%rsi; jne 1f; cmp $5, %%rdi; jne 1f; cmp $6, %%r8; jne 1f\n\t"
                     "cmp $7, %%r9; jne 1f; cmp $8, %%r10; jne 1f; cmp $9, %%r11; jne 1f\n\t"
                     "cmp $10, %%r12; jne 1f; cmp $11, %%r13; jne 1f; cmp $12, %%r14; jne 1f\n\t"
                     "cmp $13, %%r15; jne 1f; xor %%eax, %%eax; jmp 2f\n"
                     "1: mov $1, %%eax\n"
                     "2: pop %%rbx"
                     : "=a"(wrong), "+m"(place)
                     :
                     : "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
                       "r15", "memory", "cc");
    return (uint32_t)wrong || place != 2;
}

/* Below the stack pointer lie 128 bytes that are the function's; and the operand counts from it. */
static uint64_t keep_red_zone(void)
{
    uint64_t found = 0, before = 0;
    __asm__ volatile("movq $1234, -8(%%rsp)\n\t"
                     "movq $4321, -128(%%rsp)\n\t"
                     "lock addq $6, -8(%%rsp)\n\t"
                     "movq -128(%%rsp), %1\n\t"
                     "movq -8(%%rsp), %0"
                     : "=r"(found), "=r"(before)
                     :
                     : "memory", "cc");
    return found != 1240 || before != 4321;
}

/* The carry goes through instructions that do not touch it, and comes from those that make it. */
static uint64_t keep_flags(void)
{
    uint64_t sum = 0;
    unsigned char carry = 0, zero = 0, up = 0;
    place = UINT64_MAX;
    __asm__ volatile("stc; movq %3, %0; adcq $0, %0; setc %1; setz %2"
                     : "=&r"(sum), "=q"(carry), "=q"(zero)
                     : "m"(place)
                     : "cc");
    if (sum || !carry || !zero) return 1;
    place = 1;
    __asm__ volatile("std; stc; lock decq %0; setc %1; setz %2; cld"
                     : "+m"(place), "=q"(carry), "=q"(zero)
                     :
                     : "cc");
    __asm__ volatile("lock btsl $3, %0; setc %1" : "+m"(place), "=q"(up) : : "cc");
    return !carry || !zero || up || place != 8;
}

static uint64_t keep_vectors(void)
{
    float from[8] = {1, 2, 3, 4, 5, 6, 7, 8}, to[8] = {0};
    if (__builtin_cpu_supports("avx"))
        __asm__ volatile("vmovups %1, %%ymm0; vmovups %1, %%ymm1; vmovups %1, %%ymm2\n\t"
                         "lock incl %2\n\t"
                         "vsubps %%ymm1, %%ymm0, %%ymm0; vaddps %%ymm2, %%ymm0, %%ymm0\n\t"
                         "vmovups %%ymm0, %0; vzeroupper"
                         : "=m"(to), "+m"(from), "+m"(place)
                         :
                         : "xmm0", "xmm1", "xmm2", "memory", "cc");
    else
        memcpy(to, from, sizeof to);
    long double third = 1.0L / 3, after = third;
    __asm__ volatile("lock incl %1" : "+t"(after), "+m"(place) : : "memory", "cc");
    return memcmp(from, to, sizeof to) != 0 || after != third;
}

/* Operands with an index, at the end of a string of bits, before it, and of every size. */
static uint64_t reach_addresses(void)
{
    uint32_t words[4] = {0, 0, 0, 0};
    uint16_t small = 300;
    uint8_t byte = 250, more = 10;
    uint64_t index = 2;
    int64_t back = -64 + 5;
    __asm__ volatile("lock addl $9, 4(%0,%1,4)" : : "r"(words), "r"(index) : "memory", "cc");
    __asm__ volatile("lock; xaddb %0, %1" : "+q"(more), "+m"(byte) : : "cc");
    __asm__ volatile("lock\n\tsubw $1, %0" : "+m"(small) : : "cc");
    __asm__ volatile("lock btsl %k1, %0" : "+m"(words) : "r"(33) : "memory", "cc");
    __asm__ volatile("btsq %1, %0" : : "m"(words[2]), "D"(back) : "memory", "cc");
    __asm__ volatile("lock btsl %%esi, (%%rdi)" : : "D"(words), "S"(40) : "memory", "cc");
    return words[3] != 9 || byte != 4 || more != 250 || small != 299 || words[1] != (2u | 256u) ||
           words[0] != 32;
}

/* A prefix stays with its instruction: its byte alone, and one that makes another instruction,
 * which counts the zeros below the lowest bit of nothing, or leaves the register as it was. */
static uint64_t keep_prefixes(void)
{
    uint32_t zero = 0, counted = 1, plain = 1;
    place = 5;
    __asm__ volatile(".byte 0xf0\n\tincq %0" : "+m"(place)::"cc");
    __asm__ volatile(".byte 0xf2; lock; incq %0" : "+m"(place)::"cc");
    __asm__ volatile("rep; bsfl %1, %0" : "+r"(counted) : "m"(zero) : "cc");
    __asm__ volatile("tzcntl %1, %0" : "+r"(plain) : "m"(zero) : "cc");
    return place != 7 || counted != plain;
}

static void *check(void *unused)
{
    (void)unused;
    failures |= (uint32_t)(keep_registers() | keep_red_zone() << 1 | keep_flags() << 2 |
                           keep_vectors() << 3 | reach_addresses() << 4 | keep_prefixes() << 5);
    return NULL;
}

int main(void)
{
    for (int i = 0; i < 2; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, check, NULL);
        pthread_join(thread, NULL);
    }
    return (int)failures;
}
