/* race: threads that sort the halves of some lines count down, under the lock of the node that
 * merges them, for what it still waits, and look at that number before they take the lock. After a
 * report about GNU sort 8.31 (POR-SE, section 5.3). */
#include <stdbool.h>

#include "open.h"

enum { LINES = 4 };

static struct node {
    pthread_mutex_t lock;
    unsigned waits_for;
    bool queued;
} node = {PTHREAD_MUTEX_INITIALIZER, 2, false};
static unsigned char lines[LINES];
static unsigned queued_times;

static void swap_if(unsigned a, unsigned b)
{
    unsigned char first = lines[a], second = lines[b];
    if (first <= second) return;
    lines[a] = second;
    lines[b] = first;
}

static void end_half(void)
{
#ifndef FIXED
    if (!node.waits_for) return;
#endif
    pthread_mutex_lock(&node.lock);
    if (!node.queued && --node.waits_for == 0) {
        node.queued = true;
        queued_times++;
    }
    pthread_mutex_unlock(&node.lock);
}

static void *sort_half(void *unused)
{
    (void)unused;
    swap_if(2, 3);
    end_half();
    return 0;
}

int main(void)
{
    pthread_t other;
    for (int i = 0; i < LINES; i++) foretell_input(&lines[i], sizeof lines[i], "line");
    pthread_create(&other, 0, sort_half, 0);
    swap_if(0, 1);
    end_half();
    pthread_join(other, 0);
    assert(queued_times == 1 && lines[0] <= lines[1] && lines[2] <= lines[3]);
    return 0;
}
