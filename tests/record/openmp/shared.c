/* Loops, sections, single and ordered blocks, locks; RACE: a loop without a wait before the next.
 */
#include <omp.h>

#ifdef RACE
#define END nowait
#else
#define END
#endif

static int a[20], b[20], n, sections, locked, single;

int main(void)
{
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(3)
    {
#pragma omp for schedule(dynamic, 2) END
        for (int i = 0; i < 20; i++) a[i] = i;
#pragma omp for schedule(guided)
        for (int i = 19; i >= 0; i--) b[i] = a[19 - i];
#pragma omp for ordered schedule(static, 1)
        for (int i = 0; i < 10; i++) {
#pragma omp ordered
            n = n * 2 + i % 2;
        }
#pragma omp sections
        {
#pragma omp section
            a[0] = 1;
#pragma omp section
            a[1] = 2;
        }
#pragma omp single
        single = a[0] + a[1];
        omp_set_lock(&lock);
        locked += single;
        omp_unset_lock(&lock);
#pragma omp critical(block)
        sections++;
    }
    omp_destroy_lock(&lock);
    return locked != 9 || sections != 3;
}
