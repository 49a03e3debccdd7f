/* Calls after which memory may be unmapped or replaced. A write's value is read at the thread's
 * next hook (state/writes.h), which would be too late then: the pending write is logged before the
 * call. munmap and its family are hooks anyway (map.c). */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libc/contract.h"
#include "libc/libc.h"
#include "memory/memory.h"
#include "scheduling/scheduling.h"
#include "state/thread.h"

void ft_rt_memory_may_go(void)
{
    ft_rt_thread *self = ft_rt_self;
    if (!self || (!self->late.value && !self->pending.size) || !ft_rt_enter_within()) return;
    assert(!self->late.value && !self->pending.size);
    self->inside = false;
}

#define GOES(name, parameters, arguments)                                                          \
    int name parameters                                                                            \
    {                                                                                              \
        ft_rt_memory_may_go();                                                                     \
        return FT_REAL(name) arguments;                                                            \
    }
#define PROTECTS(name, parameters, arguments)                                                      \
    int name parameters                                                                            \
    {                                                                                              \
        ft_rt_memory_may_go();                                                                     \
        if (!(protection & PROT_READ)) ft_rt_file_hidden(memory, size);                            \
        return FT_REAL(name) arguments;                                                            \
    }
PROTECTS(mprotect, (void *memory, size_t size, int protection), (memory, size, protection))
PROTECTS(pkey_mprotect, (void *memory, size_t size, int protection, int key),
         (memory, size, protection, key))
GOES(pkey_set, (int key, unsigned int rights), (key, rights))
GOES(madvise, (void *memory, size_t size, int advice), (memory, size, advice))
GOES(posix_madvise, (void *memory, size_t size, int advice), (memory, size, advice))
GOES(brk, (void *end), (end))
