/* Four threads sort a quarter each of one array by merging; the first thread merges the quarters.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4 };
static unsigned *numbers, *spare;
static size_t n;

static void merge(const unsigned *a, size_t na, const unsigned *b, size_t nb, unsigned *to)
{
    size_t i = 0, j = 0;
    while (i < na && j < nb) *to++ = a[i] <= b[j] ? a[i++] : b[j++];
    while (i < na) *to++ = a[i++];
    while (j < nb) *to++ = b[j++];
}

static void sort(unsigned *from, unsigned *buffer, size_t count)
{
    if (count < 2) return;
    size_t half = count / 2;
    sort(from, buffer, half);
    sort(from + half, buffer + half, count - half);
    merge(from, half, from + half, count - half, buffer);
    for (size_t i = 0; i < count; i++) from[i] = buffer[i];
}

static void *sort_part(void *argument)
{
    size_t part = (size_t)argument, each = n / THREADS;
    sort(numbers + part * each, spare + part * each, each);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    n = (argc > 1 ? strtoul(argv[1], NULL, 10) : 400000) / THREADS * THREADS;
    numbers = malloc(n * sizeof *numbers);
    spare = malloc(n * sizeof *spare);
    unsigned random = 1;
    for (size_t i = 0; i < n; i++) numbers[i] = random = random * 1664525 + 1013904223;
    for (size_t t = 0; t < THREADS; t++) pthread_create(&threads[t], NULL, sort_part, (void *)t);
    for (size_t t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
    size_t quarter = n / 4, wrong = 0;
    merge(numbers, quarter, numbers + quarter, quarter, spare);
    merge(numbers + 2 * quarter, quarter, numbers + 3 * quarter, quarter, spare + 2 * quarter);
    merge(spare, 2 * quarter, spare + 2 * quarter, 2 * quarter, numbers);
    for (size_t i = 1; i < n; i++) wrong += numbers[i - 1] > numbers[i];
    printf("%zu\n", wrong);
    free(numbers);
    free(spare);
    return wrong != 0;
}
