/* Tasks that are waited for, that depend on others, and that use their thread's number; RACE: one
 * that nobody waits for. */
#include <omp.h>

static int counts[2], loop[10], first, second;

static int fibonacci(int n)
{
    int a, b;
    if (n < 2) return n;
#pragma omp task shared(a)
    a = fibonacci(n - 1);
#pragma omp task shared(b)
    b = fibonacci(n - 2);
#pragma omp taskwait
    return a + b;
}

int main(void)
{
    int result = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        result = fibonacci(4);
#pragma omp task depend(out : first)
        first = 1;
#pragma omp task depend(in : first)
        second = first + 1;
#ifndef RACE
#pragma omp taskwait
#endif
        second++;
        for (int i = 0; i < 3; i++)
#pragma omp task
            counts[omp_get_thread_num()]++;
#pragma omp taskloop
        for (int i = 0; i < 10; i++) loop[i] = i;
    }
    return result != 3;
}
