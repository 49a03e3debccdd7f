/* Each of two threads reads a page of a file through a mapping of it; another one has written them
 * by calls, which make the file longer as well. Who has read is counted without a lock. FIXED: with
 * one. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 4 };

static pthread_mutex_t pages = PTHREAD_MUTEX_INITIALIZER;
static const int *file;
static int descriptor, n_pages, sum, readers;

static void append(int content)
{
    struct iovec piece = {&content, sizeof content};
    off_t at = (off_t)n_pages * PAGE;
    ssize_t put;
    if (n_pages == 1)
        put = pwritev(descriptor, &piece, 1, at);
    else if (n_pages == 2 && lseek(descriptor, at, SEEK_SET) == at)
        put = write(descriptor, &content, sizeof content);
    else
        put = pwrite(descriptor, &content, sizeof content, at);
    if (put != sizeof content || pwrite(descriptor, &n_pages, sizeof n_pages, 0) < 0) abort();
    n_pages++;
}

static void *write_pages(void *unused)
{
    for (int i = 1; i < PAGES; i++) {
        pthread_mutex_lock(&pages);
        append(i);
        pthread_mutex_unlock(&pages);
    }
    return unused;
}

static void *read_page(void *page)
{
    pthread_mutex_lock(&pages);
    if (*(int *)page < n_pages) sum += file[*(int *)page * PAGE / (int)sizeof *file];
#ifdef FIXED
    readers++;
#endif
    pthread_mutex_unlock(&pages);
#ifndef FIXED
    readers++;
#endif
    return NULL;
}

int main(void)
{
    char name[] = "/tmp/shared_file-XXXXXX";
    int numbers[3] = {0, 1, 2};
    pthread_t threads[3];
    descriptor = mkstemp(name);
    if (descriptor < 0 || unlink(name)) return 1;
    append(0);
    file = mmap(NULL, PAGES * PAGE, PROT_READ, MAP_SHARED, descriptor, 0);
    if (file == MAP_FAILED) return 1;
    pthread_create(&threads[0], NULL, write_pages, NULL);
    for (int i = 1; i < 3; i++) pthread_create(&threads[i], NULL, read_page, &numbers[i]);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    printf("%d pages, %d readers, sum %d\n", n_pages, readers, sum);
    return 0;
}
