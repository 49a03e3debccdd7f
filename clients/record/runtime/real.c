#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime.h"

void ft_rt_say(const char *text)
{
    char line[512] = "foretell: ";
    size_t at = strlen(line);
    while (*text && at < sizeof line - 1) line[at++] = *text++;
    line[at++] = '\n';
    ssize_t written = write(STDERR_FILENO, line, at);
    (void)written;
}

void *ft_rt_real(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) {
        ft_rt_say("this C library lacks a function that the recorder needs:");
        ft_rt_say(name);
        _exit(127);
    }
    return found;
}

extern ft_rt_real_one __start_ft_real[], __stop_ft_real[];

/* Later the loader's lock may be held by a thread that waits for the baton. */
void ft_rt_real_start(void)
{
    for (ft_rt_real_one *one = __start_ft_real; one < __stop_ft_real; one++)
        if (!one->at) one->at = dlsym(RTLD_NEXT, one->name);
}

void *ft_rt_map(size_t size)
{
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) {
        ft_rt_say("no memory for the recorder");
        _exit(127);
    }
    return pages;
}

void ft_rt_unmap(void *pages, size_t size)
{
    munmap(pages, size);
}
