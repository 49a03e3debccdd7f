/* A stack of free places without locks: a thread that took its look at `next` before others took
 * and gave back the top puts a place in front that another one has (ABA). With -DFIXED a count of
 * changes beside the index keeps the exchange from succeeding then. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { PLACES = 3, NONE = 0xff };

static _Atomic unsigned top = NONE;
static _Atomic unsigned next[PLACES];
static _Atomic int users[PLACES];

#ifdef FIXED
#define BEHIND(old, index) ((index) | (((old) & ~0xffu) + 0x100))
#else
#define BEHIND(old, index) (index)
#endif

static void give(unsigned place)
{
    unsigned old = top;
    do next[place] = old & 0xff;
    while (!atomic_compare_exchange_weak(&top, &old, BEHIND(old, place)));
}

static unsigned take(void)
{
    unsigned old = top, place;
    do {
        place = old & 0xff;
        if (place == NONE) return NONE;
    } while (!atomic_compare_exchange_weak(&top, &old, BEHIND(old, next[place])));
    int before = atomic_fetch_add(&users[place], 1);
    assert(before == 0);
    return place;
}

static void give_back(unsigned place)
{
    if (place == NONE) return;
    users[place]--;
    give(place);
}

static void *worker(void *argument)
{
    unsigned first = take(), second = take();
    give_back(first);
    unsigned third = take();
    give_back(third);
    give_back(second);
    return argument;
}

int main(void)
{
    pthread_t threads[2];
    for (unsigned i = 0; i < PLACES; i++) give(i);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
