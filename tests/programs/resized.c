/* Memory whose content comes from elsewhere and that two threads use under the lock: a list that
 * doubles by realloc and is large by then, a file that is mapped, a mapping that becomes larger.
 * The flag is under no lock; with FIXED it is. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MOST = 1500, ROOM = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *list, *table;
static char *text;
static size_t n, room = 16, size = ROOM;
static int finished;

static void append(int value)
{
    if (n == room || !list) {
        room *= 2;
        list = realloc(list, room * sizeof *list);
    }
    if (!list) abort();
    list[n++] = value;
}

static void finish(void)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    finished++;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
}

static void *write_all(void *unused)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MOST; i++) append(i);
    text[0] = 'T';
    table = mremap(table, size, 2 * size, MREMAP_MAYMOVE);
    size *= 2;
    pthread_mutex_unlock(&lock);
    finish();
    return unused;
}

static void *read_all(void *unused)
{
    char copy[ROOM];
    int sum = 0;
    pthread_mutex_lock(&lock);
    if (n) sum = list[0] + list[n / 2] + table[0];
    memcpy(copy, text, sizeof copy);
    pthread_mutex_unlock(&lock);
    if (sum + copy[1] == 0) puts("?");
    finish();
    return unused;
}

static void map_all(void)
{
    FILE *file = tmpfile();
    if (!file) abort();
    for (int i = 0; i < ROOM; i++) fputc('x', file);
    fflush(file);
    text = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE, fileno(file), 0);
    table = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (text == MAP_FAILED || table == MAP_FAILED) abort();
    table[0] = 1;
    fclose(file);
}

int main(void)
{
    pthread_t threads[2];
    map_all();
    pthread_create(&threads[0], NULL, write_all, NULL);
    pthread_create(&threads[1], NULL, read_all, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    printf("%zu %d\n", n, finished);
    free(list);
    return 0;
}
