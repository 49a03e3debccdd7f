/* malloc and its family: the hooks record where a block begins and ends; the C library's allocator
 * does the work. */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#include "accesses/accesses.h"
#include "exploring/exploring.h"
#include "libc/contract.h"
#include "libc/libc.h"
#include "log/log.h"
#include "memory/memory.h"
#include "raw/raw.h"
#include "scheduling/scheduling.h"
#include "state/thread.h"
#include "sync/sync.h"

/* The content that memory begins with. */
typedef enum start {
    UNTOLD,
    ZEROS,
    LEFT_OVER, /* the last block's content, and links of the C library */
    MOVED,     /* the content of another block, whose writers are unknown */
    MAPPED     /* the content of a file */
} start;

/* Of larger blocks only the links are logged. */
enum { SMALL = 256, LINKS = 32 };

static void tell_start(void *memory, size_t size, start begins)
{
    size_t known = begins == MOVED ? 0 : size <= SMALL ? size : LINKS;
    if (begins == MAPPED) known = size;
    assert(known <= size && (begins != MAPPED || size <= FT_RAW_CONTENT));
    if (begins == ZEROS) FT_RT_LOG(ZERO, (uintptr_t)memory, size);
    if (begins == LEFT_OVER || begins == MOVED || begins == MAPPED)
        ft_rt_log_bytes(FT_RAW_MEMORY, (uintptr_t)memory, memory, known);
}

/* A block that the C library allocates for itself is not a step (raw/schedule.h). The library may
 * hold its locks then, so other threads go on before or after the call. */
static void *made(void *memory, size_t size, start begins, const void *pc)
{
    if (ft_rt_exploring) ft_rt_x_block_begins(memory, size, pc);
    bool own = ft_rt_is_own(pc);
    ft_rt_thread *self = !memory ? NULL : own ? ft_rt_enter_within() : ft_rt_enter();
    if (!self) return memory;
    uint64_t site = ft_rt_site(pc);
    FT_RT_LOG(ALLOC, site, (uintptr_t)memory, size);
    tell_start(memory, size, own && begins != ZEROS ? UNTOLD : begins);
    if (own)
        self->inside = false;
    else
        ft_rt_leave(self);
    return memory;
}

void *ft_rt_made(void *memory, size_t size, bool zeroed, const void *pc)
{
    return made(memory, size, zeroed ? ZEROS : UNTOLD, pc);
}

void *ft_rt_mapped(void *memory, size_t size, const void *pc)
{
    return made(memory, size, size <= FT_RAW_CONTENT ? MAPPED : UNTOLD, pc);
}

/* The whole block belongs to the program, also the part beyond the requested size
 * (malloc_usable_size). */
static void *whole(void *memory, size_t size, start begins, const void *pc)
{
    size_t all = ft_rt_libc()->size_of(memory);
    return made(memory, all > size ? all : size, begins, pc);
}

void *ft_rt_given(void *memory, size_t size, const void *pc)
{
    return whole(memory, size, LEFT_OVER, pc);
}

void ft_rt_gone(void *memory, size_t size, const void *pc)
{
    if (ft_rt_exploring) ft_rt_x_block_ends(memory);
    bool own = ft_rt_is_own(pc);
    ft_rt_thread *self = !memory ? NULL : own ? ft_rt_enter_within() : ft_rt_enter();
    if (!self) return;
    uint64_t site = ft_rt_site(pc);
    FT_RT_LOG(FREE, site, (uintptr_t)memory);
    if (own)
        ft_rt_object_forget(memory, size);
    else
        ft_rt_object_reclaim(memory, size, (uint32_t)site);
    ft_rt_mapping_gone(memory, size);
    self->inside = false; /* the turn goes on: the memory must be free before others allocate */
}

void *malloc(size_t size)
{
    return ft_rt_given(ft_rt_libc()->malloc(size), size, __builtin_return_address(0));
}

void *calloc(size_t n, size_t size)
{
    return whole(ft_rt_libc()->calloc(n, size), n * size, ZEROS, __builtin_return_address(0));
}

void free(void *memory)
{
    if (ft_rt_exploring && ft_rt_x_block_freed(memory, __builtin_return_address(0))) return;
    ft_rt_gone(memory, ft_rt_libc()->size_of(memory), __builtin_return_address(0));
    ft_rt_libc()->free(memory);
}

/* Blocks up to this size are read and written when they move. Larger ones are only if they grow or
 * shrink by much, or they would be read whenever they grow by a little. */
enum { MOST_MOVED = 4096, LITTLE = 8 };

static bool is_moved(size_t had, size_t size)
{
    size_t by = had < size ? size - had : had - size;
    bool much = by >= had / LITTLE && had <= FT_RAW_CONTENT;
    return size <= MOST_MOVED || much;
}

/* A block that could not grow is still there. Uninitialised parts, which cannot be told from here,
 * are moved without being read. */
static void *resized(void *memory, size_t size, const void *pc)
{
    size_t had = ft_rt_libc()->size_of(memory);
    size_t moves = !is_moved(had, size) || ft_rt_is_own(pc) ? 0 : had < size ? had : size;
    ft_rt_read_blindly(memory, moves, pc);
    ft_rt_gone(memory, had, pc);
    void *got = ft_rt_libc()->realloc(memory, size);
    if (!got && size && memory) made(memory, had, MOVED, pc);
    whole(got, size, memory && !moves ? MOVED : LEFT_OVER, pc);
    if (got) ft_rt_write_range(got, moves, pc);
    return got;
}

void *realloc(void *memory, size_t size)
{
    return resized(memory, size, __builtin_return_address(0));
}

void *reallocarray(void *memory, size_t n, size_t size)
{
    size_t all;
    if (__builtin_mul_overflow(n, size, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    return resized(memory, all, __builtin_return_address(0));
}

void *memalign(size_t alignment, size_t size)
{
    return ft_rt_given(ft_rt_libc()->memalign(alignment, size), size, __builtin_return_address(0));
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return ft_rt_given(ft_rt_libc()->memalign(alignment, size), size, __builtin_return_address(0));
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    if (alignment % sizeof(void *) || alignment & (alignment - 1)) return EINVAL;
    void *got =
        whole(ft_rt_libc()->memalign(alignment, size), size, UNTOLD, __builtin_return_address(0));
    if (!got) return ENOMEM;
    ft_rt_write_range(memory, sizeof *memory, __builtin_return_address(0));
    *memory = got;
    return 0;
}

void *valloc(size_t size)
{
    return whole(ft_rt_libc()->memalign(FT_RAW_PAGE, size), size, UNTOLD,
                 __builtin_return_address(0));
}

void *pvalloc(size_t size)
{
    size_t pages = (size + FT_RAW_PAGE - 1) / FT_RAW_PAGE * FT_RAW_PAGE;
    return whole(ft_rt_libc()->memalign(FT_RAW_PAGE, pages), pages, UNTOLD,
                 __builtin_return_address(0));
}

size_t malloc_usable_size(void *memory)
{
    return ft_rt_libc()->size_of(memory);
}
