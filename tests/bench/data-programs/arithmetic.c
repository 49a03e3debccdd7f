/* Hashes and a heap sort, ROUNDS times: arithmetic, memory, calls and branches, in one thread. */
#include <stdio.h>

#ifndef ROUNDS
#define ROUNDS 1
#endif

enum { ALL = 4096 };

static unsigned table[ALL];

static unsigned mix(unsigned x)
{
    x ^= x >> 13;
    x *= 0x5bd1e995u;
    return x ^ x >> 15;
}

static void sift(unsigned *heap, int n, int i)
{
    for (int child = 2 * i + 1; child < n; i = child, child = 2 * i + 1) {
        if (child + 1 < n && heap[child + 1] > heap[child]) child++;
        if (heap[i] >= heap[child]) return;
        unsigned above = heap[i];
        heap[i] = heap[child];
        heap[child] = above;
    }
}

static void sort(unsigned *all, int n)
{
    for (int i = n / 2 - 1; i >= 0; i--) sift(all, n, i);
    for (int last = n - 1; last > 0; last--) {
        unsigned largest = all[0];
        all[0] = all[last];
        all[last] = largest;
        sift(all, last, 0);
    }
}

int main(void)
{
    unsigned sum = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < ALL; i++) table[i] = mix(i + round);
        sort(table, ALL);
        for (int i = 0; i < ALL; i++) sum = sum * 31 + table[i];
    }
    printf("%u\n", sum);
    return 0;
}
