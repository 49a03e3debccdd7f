/* Everything that orders these threads is in inline assembly: a lock that is taken by an exchange
 * and given back by a store, a lock of one bit, a stack by compare-and-swap of a pointer and its
 * count, and a flag. Who forgets the lock races; nothing else does. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

enum { ROUNDS = 3, BIT = 70 };

typedef struct node {
    int value;
    struct node *next;
} node;

typedef struct head {
    node *first;
    uint64_t count;
} __attribute__((aligned(16))) head;

static int word, ready, claimed, balance, counted;
static uint64_t bits[2];
static head stack;

static void take(void)
{
    int taken = 1;
    while (taken) {
        __asm__ volatile("xchgl %0, %1\n\tpause # let others go on"
                         : "+r"(taken), "+m"(word)
                         :
                         : "memory");
    }
}

static void give(void)
{
    __asm__ volatile("movl %1, %0" : "=m"(word) : "r"(0) : "memory");
}

static void take_bit(void)
{
    __asm__ volatile("1: lock; btsq %1, %0; jc 1b"
                     : "+m"(bits)
                     : "r"((uint64_t)BIT)
                     : "memory", "cc");
}

static void give_bit(void)
{
    __asm__ volatile("lock btrq %1, %0" : "+m"(bits) : "r"((uint64_t)BIT) : "memory", "cc");
}

static int replace(head *old, head new)
{
    unsigned char done;
    __asm__ volatile("lock; cmpxchg16b %1; sete %0"
                     : "=q"(done), "+m"(stack), "+a"(old->first), "+d"(old->count)
                     : "b"(new.first), "c"(new.count)
                     : "memory", "cc");
    return done;
}

static void push(node *n)
{
    head old = {NULL, 0};
    replace(&old, old);
    do n->next = old.first;
    while (!replace(&old, (head){n, old.count + 1}));
}

static void raise_flag(void)
{
    int one = 1;
    __asm__ volatile("lock xaddl %0, %1" : "+r"(one), "+m"(ready) : : "memory", "cc");
}

static void await_flag(void)
{
    __asm__ volatile("1: pause; cmpl $2, %0; jne 1b" : : "m"(ready) : "memory", "cc");
}

/* Of all who try, one gets it. */
static void claim(void)
{
    int expected = 0;
    __asm__ volatile("lock; cmpxchgl %2, %1"
                     : "+a"(expected), "+m"(claimed)
                     : "r"(1)
                     : "memory", "cc");
}

static void *work(void *own)
{
    claim();
    for (int i = 0; i < ROUNDS; i++) {
#ifdef FIXED
        take();
        balance += 1;
        give();
#else
        if (!i) take();
        balance += 1;
        if (!i) give();
#endif
        take_bit();
        counted += 1;
        give_bit();
    }
    node *n = own;
    n->value = 7;
    raise_flag();
    return NULL;
}

static void *gather(void *nodes)
{
    node *of = nodes;
    await_flag();
    for (int i = 0; i < 2; i++) of[i].value++;
    push(&of[0]);
    push(&of[1]);
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    node nodes[2] = {{0, NULL}, {0, NULL}};
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, &nodes[i]);
    pthread_create(&threads[2], NULL, gather, nodes);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    return stack.count == 2 && counted == 2 * ROUNDS && nodes[0].value == 8 ? 0 : 1;
}
