/* Memory by every call that gives it; used again by another thread it is other memory. */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SIZE = 4096, SMALL = 48 };

static void *(*const makers[])(void);
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static void *make_malloc(void)
{
    return malloc(SMALL);
}
static void *make_calloc(void)
{
    return calloc(2, SMALL / 2);
}
static void *make_realloc(void)
{
    return realloc(realloc(NULL, 8), SMALL);
}
static void *make_reallocarray(void)
{
    return reallocarray(NULL, 2, SMALL / 2);
}
static void *make_memalign(void)
{
    return memalign(64, SMALL);
}
static void *make_aligned(void)
{
    return aligned_alloc(64, 64);
}
static void *make_posix(void)
{
    void *memory;
    return posix_memalign(&memory, 64, SMALL) ? NULL : memory;
}
static void *make_text(void)
{
    return strdup("forty-eight characters or more are in this text.");
}
static void *make_printed(void)
{
    char *text;
    return asprintf(&text, "%48d", 1) < 0 ? NULL : text;
}
static void *(*const makers[])(void) = {make_malloc,       make_calloc,   make_realloc,
                                        make_reallocarray, make_memalign, make_aligned,
                                        make_posix,        make_text,     make_printed};

/* Each thread in its turn; whose memory it is changes hands without any order but malloc's own. */
static void *use(void *number)
{
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        char *memory = makers[i]();
        if (!memory) abort();
        for (int k = 0; k < 40; k++) memory[k] = (char)*(int *)number;
        free(memory);
    }
    char *pages = mmap(NULL, 2 * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pages[0] = pages[SIZE] = (char)*(int *)number;
    pages = mremap(pages, 2 * SIZE, 3 * SIZE, MREMAP_MAYMOVE);
    pages[2 * SIZE] = pages[0];
    munmap(pages + 2 * SIZE, SIZE);
    int right = pages[SIZE] == (char)*(int *)number;
    munmap(pages, 2 * SIZE);
    pthread_mutex_lock(&turn);
    printf("%d\n", right);
    pthread_mutex_unlock(&turn);
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    int numbers[] = {1, 2, 3};
    volatile size_t huge = SIZE_MAX;
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, use, &numbers[i]);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    printf("%d\n", reallocarray(NULL, huge, 2) == NULL);
    return 0;
}
