/* An atomic of eight or sixteen bytes is one thing, also where others access parts of it: who has
 * seen one part written knows of the other, and may do there what it likes. Nothing may be found.
 * HASTY: it does not look; the race is found. ASSEMBLY: sixteen bytes by its instruction. */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>

enum { ORDER = __ATOMIC_SEQ_CST, PARTS = 16 };

typedef unsigned __int128 wide;

static union {
    wide all;
    uint64_t half[2];
    uint32_t quarter[4];
    volatile unsigned char bytes[PARTS];
} place;

static void write_all(wide made)
{
#ifdef ASSEMBLY
    uint64_t low = 0, high = 0, b = (uint64_t)made, c = (uint64_t)(made >> 64);
    __asm__ volatile("lock cmpxchg16b %0"
                     : "+m"(place.all), "+a"(low), "+d"(high)
                     : "b"(b), "c"(c)
                     : "memory", "cc");
#else
    __atomic_store_n(&place.all, made, ORDER);
#endif
}

static void *publish_half(void *unused)
{
    __atomic_store_n(&place.half[0], 1, ORDER);
    return unused;
}

static void *publish_all(void *unused)
{
    write_all(1);
    return unused;
}

static int sees_quarter(void)
{
    return __atomic_load_n(&place.quarter[0], ORDER) == 1;
}

static int sees_half(void)
{
    return __atomic_load_n(&place.half[0], ORDER) == 1;
}

static int hand_over(void *(*publish)(void *), int (*sees)(void))
{
    pthread_t thread;
    for (int i = 0; i < PARTS; i++) place.bytes[i] = 0;
    pthread_create(&thread, NULL, publish, NULL);
#ifndef HASTY
    while (!sees()) sched_yield();
#endif
    for (int i = 4; i < PARTS; i++) place.bytes[i] = 7;
    pthread_join(thread, NULL);
    return sees() && place.bytes[PARTS - 1] == 7;
}

int main(void)
{
    hand_over(publish_half, sees_quarter);
    hand_over(publish_half, sees_half);
    hand_over(publish_all, sees_half);
    return 0;
}
