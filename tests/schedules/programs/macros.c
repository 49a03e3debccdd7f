/* Two loops in one line, as macros make them: each has a variable of the same name, of which the
 * selectors of later epochs need the one that is there. */
#include <pthread.h>

#include "foretell/input.h"

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static unsigned n, k;
static int counts[2];

#define TIMES(most, lock, count)                                                                   \
    for (unsigned i = 0; i < (most); i++) {                                                        \
        pthread_mutex_lock(lock);                                                                  \
        (count)++;                                                                                 \
        pthread_mutex_unlock(lock);                                                                \
    }
/* clang-format off */
#define BOTH TIMES(n, &first, counts[0]) TIMES(k, &second, counts[1])
/* clang-format on */

static void *work(void *argument)
{
    BOTH return argument;
}

int main(void)
{
    pthread_t thread;
    foretell_input(&n, sizeof n, "n");
    foretell_input(&k, sizeof k, "k");
    pthread_create(&thread, NULL, work, NULL);
    TIMES(k, &second, counts[1])
    pthread_join(thread, NULL);
    return 0;
}
