/* Where a block of memory is decides how often its thread counts, as in a table by the hash of an
 * address. Before it comes what the C library makes for a stream that is read
 * or written. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *block, looks;

static void *look(void *unused)
{
    for (uintptr_t n = (uintptr_t)block >> 4 & 63; n > 0; n--) looks++;
    pthread_mutex_lock(&lock);
#ifdef FIXED
    *block = 2;
    pthread_mutex_unlock(&lock);
#else
    pthread_mutex_unlock(&lock);
    *block = 2;
#endif
    return unused;
}

int main(void)
{
    pthread_t thread;
    FILE *file = fopen("/proc/self/exe", "r");
    if (!file || fgetc(file) != 0x7F || puts("placed") < 0) return 2;
    block = calloc(1, sizeof *block);
    pthread_create(&thread, NULL, look, NULL);
    pthread_mutex_lock(&lock);
    *block = 3;
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    fclose(file);
    return *block == 0;
}
