/* Peterson's lock: its atomics share cells of 8 bytes, by which schedules name them. */
#include <pthread.h>
#include <stdatomic.h>

#include "foretell/input.h"

static _Atomic int wants[2], turn;
static unsigned char both;
static int count;

static void *enter(void *argument)
{
    int i = argument ? 1 : 0;
    atomic_store(&wants[i], 1);
    atomic_store(&turn, 1 - i);
    while (atomic_load(&wants[1 - i]) && atomic_load(&turn) == 1 - i) {
    }
    count++;
    atomic_store(&wants[i], 0);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    foretell_input(&both, sizeof both, "both");
    pthread_create(&thread, NULL, enter, &both);
    if (both) enter(NULL);
    pthread_join(thread, NULL);
    return count == (both ? 2 : 1) ? 0 : 1;
}
