/* The synchronisation of PARSEC's swaptions, written anew: like blackscholes', with the parts given
 * out so that the first threads get one more. */
#include <pthread.h>

void foretell_input(void *, unsigned long, const char *);

enum { THREADS = 4, SWAPTIONS = 12 };
static unsigned n_swaptions;
static int trials, value[SWAPTIONS], seed[SWAPTIONS];

static void *worker(void *argument)
{
    long id = (long)argument;
    int size = (int)(n_swaptions / THREADS), more = (int)(n_swaptions % THREADS); /* A, B, C */
    int first = id < more ? (int)id * (size + 1) : (int)id * size + more;
    int last = first + size + (id < more);
    for (int i = first; i < last; i++) {
        int sum = 0;
        for (int k = 0; k < trials; k++)
            if (seed[i] > k) sum++;
        value[i] = sum;
    }
    return 0;
}

int main(void)
{
    pthread_t threads[THREADS];
    foretell_input(&trials, sizeof trials, "trials");
    for (int i = 0; i < (int)(sizeof seed / sizeof seed[0]); i++)
        foretell_input(&seed[i], sizeof seed[i], "seed");
    n_swaptions = SWAPTIONS;
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, worker, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
    return 0;
}
