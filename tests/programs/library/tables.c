/* Two threads look up a string in a table of the C library, by the pointer that its macros use. The
 * library lies between blocks of the heap. Nothing is shared. */
#include <ctype.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { ABOVE = 64 << 20 };

static const char text[] = "Hello, World";

static void *look_up(void *unused)
{
    const int32_t *lower = *__ctype_tolower_loc();
    unsigned sum = 0;
    (void)unused;
    for (const char *at = text; *at; at++) sum = 31 * sum + (unsigned)lower[(unsigned char)*at];
    return sum ? NULL : unused;
}

int main(void)
{
    pthread_t threads[2];
    void *wanted = (void *)(((uintptr_t)*__ctype_tolower_loc() & -4096UL) + ABOVE);
    char *high = mmap(wanted, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *low = malloc(1);
    if (high == MAP_FAILED || high < (char *)wanted || !low) return 2;
    *low = *high = 1;
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, look_up, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    free(low);
    return 0;
}
