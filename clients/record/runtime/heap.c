/* malloc and its family: where memory begins and ends. The C library's own stand behind. */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#include "runtime.h"

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *memory);

static void *made(void *memory, size_t size, bool zeroed, const void *pc)
{
    ft_rt_thread *self = memory ? ft_rt_enter() : NULL;
    if (!self) return memory;
    uint64_t site = ft_rt_site(pc);
    FT_RT_LOG(ALLOC, site, (uintptr_t)memory, size);
    if (zeroed) FT_RT_LOG(ZERO, (uintptr_t)memory, size);
    ft_rt_leave(self);
    return memory;
}

/* Before the memory goes: nobody else has it yet. */
static void gone(void *memory, const void *pc)
{
    ft_rt_thread *self = memory ? ft_rt_enter() : NULL;
    if (!self) return;
    uint64_t site = ft_rt_site(pc);
    FT_RT_LOG(FREE, site, (uintptr_t)memory);
    ft_rt_object_forget(memory, malloc_usable_size(memory));
    self->inside = false; /* the turn goes on: the memory must be free before others allocate */
}

void *malloc(size_t size)
{
    return made(__libc_malloc(size), size, false, __builtin_return_address(0));
}

void *calloc(size_t n, size_t size)
{
    return made(__libc_calloc(n, size), n * size, true, __builtin_return_address(0));
}

void free(void *memory)
{
    gone(memory, __builtin_return_address(0));
    __libc_free(memory);
}

void *realloc(void *memory, size_t size)
{
    const void *pc = __builtin_return_address(0);
    gone(memory, pc);
    return made(__libc_realloc(memory, size), size, false, pc);
}

void *memalign(size_t alignment, size_t size)
{
    return made(__libc_memalign(alignment, size), size, false, __builtin_return_address(0));
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return made(__libc_memalign(alignment, size), size, false, __builtin_return_address(0));
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    if (alignment % sizeof(void *) || alignment & (alignment - 1)) return EINVAL;
    void *got = made(__libc_memalign(alignment, size), size, false, __builtin_return_address(0));
    if (!got) return ENOMEM;
    *memory = got;
    return 0;
}
