/* The synchronisation of PARSEC's blackscholes, written anew: threads are created, each prices its
 * part of the options for a number of runs, and they are joined. */
#include <pthread.h>

void foretell_input(void *, unsigned long, const char *);

enum { THREADS = 4, OPTIONS = 16 };
static int runs, n_options, n_threads, type[OPTIONS], price[OPTIONS], spot[OPTIONS];

static void *worker(void *argument)
{
    int id = *(int *)argument;
    int start = id * (n_options / n_threads), end = start + n_options / n_threads;
    for (int j = 0; j < runs; j++) {
        price[start] = 0; /* A, B, C, D */
        for (int i = start; i < end; i++) {
            int p = spot[i];
            if (type[i]) p = 100 - p;
            price[i] = p;
        }
    }
    return 0;
}

int main(void)
{
    pthread_t threads[THREADS];
    static int ids[THREADS];
    foretell_input(&runs, sizeof runs, "runs");
    for (int i = 0; i < (int)(sizeof type / sizeof type[0]); i++)
        foretell_input(&type[i], sizeof type[i], "type");
    for (int i = 0; i < (int)(sizeof spot / sizeof spot[0]); i++)
        foretell_input(&spot[i], sizeof spot[i], "spot");
    n_options = OPTIONS;
    n_threads = THREADS;
    for (int i = 0; i < THREADS; i++) ids[i] = i;
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, worker, &ids[i]);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
    return 0;
}
