/* Lookup of the real functions, messages without stdio, memory without malloc. */
#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libc/contract.h"
#include "libc/libc.h"
#include "raw/raw.h"
#include "raw/schedule.h"
#include "state/thread.h"

static void say(const char *text, const char *more)
{
    char line[512] = "foretell: ";
    size_t at = strlen(line);
    while (*text && at < sizeof line - 1) line[at++] = *text++;
    while (*more && at < sizeof line - 1) line[at++] = *more++;
    line[at++] = '\n';
    ssize_t written = syscall(SYS_write, STDERR_FILENO, line, at); /* no event */
    (void)written;
}

void ft_rt_say(const char *text)
{
    say(text, "");
}

/* The linker leaves libgomp out (--as-needed), since the program finds its functions here
 * (openmp/openmp.h). */
static void *in_openmp(const char *name)
{
    bool openmp = !strncmp(name, "GOMP_", 5) || !strncmp(name, "omp_", 4);
    void *library = openmp ? dlopen("libgomp.so.1", RTLD_NOW) : NULL;
    return library ? dlsym(library, name) : NULL;
}

void *ft_rt_real(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) found = in_openmp(name);
    if (!found) {
        say("the recorder needs a function that no shared C or C++ library of the program has; "
            "link "
            "them dynamically: ",
            name);
        _exit(127);
    }
    return found;
}

void ft_rt_contract_broken(const char *what)
{
    if (ft_rt_forked) return;
    if (ft_rt_header) ft_rt_header->end = FT_RAW_END_BROKEN;
    say("the recorder is in a state that it should never reach, please report it: ", what);
    syscall(SYS_exit_group, FT_RT_BROKEN);
}

extern ft_rt_real_one __start_ft_real[], __stop_ft_real[];

static struct {
    uintptr_t from, to;
} own[2];

static int find_own(struct dl_phdr_info *info, size_t size, void *unused)
{
    static unsigned n;
    bool is_own = ft_schedule_is_c_library(info->dlpi_name, strlen(info->dlpi_name));
    (void)size;
    (void)unused;
    if (!is_own || n == sizeof own / sizeof *own) return 0;
    own[n].from = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
        if (info->dlpi_phdr[i].p_type == PT_LOAD && end > own[n].to) own[n].to = end;
    }
    n++;
    return 0;
}

/* Later the loader's lock may be held by a thread that waits for the baton. */
void ft_rt_real_start(void)
{
    for (ft_rt_real_one *one = __start_ft_real; one < __stop_ft_real; one++)
        if (!one->at) one->at = dlsym(RTLD_NEXT, one->name);
    dl_iterate_phdr(find_own, NULL);
}

bool ft_rt_is_own(const void *pc)
{
    uintptr_t at = (uintptr_t)pc;
    return (at >= own[0].from && at < own[0].to) || (at >= own[1].from && at < own[1].to);
}

void *ft_rt_away(size_t size)
{
    enum { FAR = 45, UNIT = 1 << 16 };
    static uintptr_t next = UINT64_C(1) << FAR;
    uintptr_t here = next;
    FT_REQUIRE(size);
    assert(here % UNIT == 0);
    next += (size + 2 * UNIT - 1) / UNIT * UNIT;
    return (void *)here;
}

/* `foretell record` reports it if the recording has not started yet. */
static void end_without_memory(void)
{
    bool early = ft_rt_header && !ft_rt_self;
    if (ft_rt_header) ft_rt_header->end = FT_RAW_END_SPACE;
    if (early) ft_rt_header->started = 0;
    if (!early)
        ft_rt_say("the recorder cannot map memory: raise the limit of address space (ulimit -v)");
    _exit(127);
}

/* By the system call: the hook of mmap is for mappings of the program. */
void *ft_rt_map(size_t size)
{
    long pages = syscall(SYS_mmap, ft_rt_away(size), size, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == -1) end_without_memory();
    return (void *)pages;
}
