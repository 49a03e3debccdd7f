/* Memory that goes right behind a write, by calls that are no other hook: to the write's thread it
 * is not there any more when the recorder looks what was written. The library beside the program
 * writes as the last thing before it is unmapped. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SIZE = 8192 };

static char *pages(void)
{
    return mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static char *pages_of(int *fd)
{
    *fd = memfd_create("shared", 0);
    if (ftruncate(*fd, SIZE)) return NULL;
    return mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
}

static int protected(char *p)
{
    p[3] = 1;
    return mprotect(p, SIZE, PROT_NONE);
}

static int protected_range(char *p)
{
    memset(p, 1, 100);
    return mprotect(p, SIZE, PROT_NONE);
}

static int replaced(char *p)
{
    p[3] = 1;
    return mmap(p, SIZE, PROT_NONE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != p;
}

static int unmapped(char *p)
{
    p[3] = 1;
    return (int)syscall(SYS_munmap, p, SIZE);
}

static int dropped(char *p)
{
    p[3] = 1;
    return madvise(p, SIZE, MADV_DONTNEED) || p[3];
}

static int cut(char *unused)
{
    int fd;
    char *p = pages_of(&fd);
    (void)unused;
    p[3] = 1;
    return ftruncate(fd, 0);
}

static int given_back(char *unused)
{
    char *p = sbrk(SIZE);
    (void)unused;
    p[SIZE - 1] = 1;
    return sbrk(-SIZE) == (void *)-1;
}

static int (*const ways[])(char *) = {protected, protected_range, replaced, unmapped, dropped,
                                      cut,       given_back};

static void *use(void *program)
{
    char path[4096];
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) printf("%d\n", ways[i](pages()));
    snprintf(path, sizeof path, "%s.so", (char *)program);
    for (int i = 0; i < 3; i++) {
        void *library = dlopen(path, RTLD_NOW);
        int (*count)(void) = library ? (int (*)(void))dlsym(library, "count") : NULL;
        if (!count) exit(1);
        printf("%d\n", count());
        printf("%d\n", dlclose(library));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    (void)argc;
    pthread_create(&thread, NULL, use, argv[0]);
    pthread_join(thread, NULL);
    use(argv[0]);
    return 0;
}
