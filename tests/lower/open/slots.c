/* race: two threads write to the slots that two inputs name. */
#include "open.h"

enum { SLOTS = 16 };
static int slots[SLOTS];

static void *claim(void *slot)
{
    slots[(unsigned long)slot] = 1;
    return 0;
}

int main(void)
{
    pthread_t threads[2];
    unsigned char first, second;
    foretell_input(&first, sizeof first, "first");
    foretell_input(&second, sizeof second, "second");
    if (first >= SLOTS || second >= SLOTS) return 0;
#ifdef FIXED
    if (first == second) return 0;
#endif
    pthread_create(&threads[0], 0, claim, (void *)(unsigned long)first);
    pthread_create(&threads[1], 0, claim, (void *)(unsigned long)second);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
