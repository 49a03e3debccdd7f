/* Memory that the program has of the system itself. What is unmapped in parts stays one block. */
#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime.h"

#define CODE __builtin_return_address(0)

enum { MAPPINGS = 1 << 12 };

/* Whole mappings of the program, by the baton's holder. */
static struct {
    struct mapping {
        uintptr_t address; /* 0: free */
        size_t size;
    } * all;
    uint32_t n; /* of the table in use */
} mappings;

static struct mapping *find(uintptr_t address)
{
    for (uint32_t i = 0; i < mappings.n; i++)
        if (mappings.all[i].address == address) return &mappings.all[i];
    return NULL;
}

static bool remember(uintptr_t address, size_t size)
{
    struct mapping *m = find(address);
    if (!mappings.all) mappings.all = ft_rt_map(MAPPINGS * sizeof *mappings.all);
    if (!m) m = find(0);
    if (!m && mappings.n == MAPPINGS) return false;
    if (!m) m = &mappings.all[mappings.n++];
    *m = (struct mapping){address, size};
    return true;
}

static bool is_recorded(void)
{
    return ft_rt_self && !ft_rt_self->inside;
}

static void *mapped(void *memory, size_t size, bool zeroed, const void *pc)
{
    if (memory == MAP_FAILED || !is_recorded()) return memory;
    ft_rt_made(memory, size, zeroed, pc);
    ft_rt_thread *self = ft_rt_enter();
    if (!self) return memory;
    remember((uintptr_t)memory, size);
    ft_rt_object_forget(memory, size);
    ft_rt_leave(self);
    return memory;
}

/* Before it goes, if it is one that was made. */
static void unmapped(void *memory, size_t size, const void *pc)
{
    ft_rt_thread *self = ft_rt_enter();
    if (!self) return;
    struct mapping *m = memory ? find((uintptr_t)memory) : NULL;
    bool whole = m && m->size == size;
    if (whole) m->address = 0;
    self->inside = false;
    if (whole) ft_rt_gone(memory, size, pc);
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    return mapped(FT_REAL(mmap)(at, size, protection, flags, fd, offset), size,
                  flags & MAP_ANONYMOUS, CODE);
}

void *mmap64(void *at, size_t size, int protection, int flags, int fd, off64_t offset)
{
    return mapped(FT_REAL(mmap64)(at, size, protection, flags, fd, offset), size,
                  flags & MAP_ANONYMOUS, CODE);
}

int munmap(void *memory, size_t size)
{
    unmapped(memory, size, CODE);
    return FT_REAL(munmap)(memory, size);
}

void *mremap(void *memory, size_t old_size, size_t size, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    void *wanted = flags & MREMAP_FIXED ? va_arg(rest, void *) : NULL;
    va_end(rest);
    unmapped(memory, old_size, CODE);
    void *got = FT_REAL(mremap)(memory, old_size, size, flags, wanted);
    if (got == MAP_FAILED) mapped(memory, old_size, false, CODE);
    return mapped(got, size, false, CODE);
}

void *sbrk(intptr_t change)
{
    void *got = FT_REAL(sbrk)(change);
    if (got != (void *)-1 && change > 0 && is_recorded())
        ft_rt_made(got, (size_t)change, true, CODE);
    return got;
}
