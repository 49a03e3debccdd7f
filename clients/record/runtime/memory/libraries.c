/* Libraries that the program loads and unloads while it runs. */
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libc/contract.h"
#include "libc/libc.h"
#include "log/hot.h"
#include "memory/memory.h"
#include "scheduling/scheduling.h"
#include "state/thread.h"
#include "sync/sync.h"

#define CODE __builtin_return_address(0)

/* ---- loading: a library at the place of memory that was unmapped begins with new memory.
 * Elsewhere that is not needed: its variables have names. */

enum { GONE = 1 << 8, BIG = 1 << 17, PARTS = 1 << 6 };

typedef struct mapping {
    uintptr_t address;
    size_t size;
} mapping;

static struct {
    mapping all[GONE];
    uint32_t n;              /* ever */
    unsigned long long adds; /* of libraries, as the dynamic linker counts them */
} gone;

void ft_rt_mapping_gone(const void *memory, size_t size)
{
    if (size >= BIG) gone.all[gone.n++ % GONE] = (mapping){(uintptr_t)memory, size};
}

static bool was_used(uintptr_t address, size_t size)
{
    for (uint32_t i = 0; i < gone.n && i < GONE; i++) {
        const mapping *m = &gone.all[i];
        if (address < m->address + m->size && m->address < address + size) return true;
    }
    return false;
}

typedef struct parts {
    mapping all[PARTS];
    uint32_t n;
} parts;

static int find_parts(struct dl_phdr_info *info, size_t size, void *context)
{
    parts *p = context;
    (void)size;
    gone.adds = info->dlpi_adds;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t at = info->dlpi_addr + part->p_vaddr;
        bool data = part->p_type == PT_LOAD && part->p_flags & PF_W;
        if (data && was_used(at, part->p_memsz) && p->n < PARTS)
            p->all[p->n++] = (mapping){at, part->p_memsz};
    }
    return 0;
}

static int has_more(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    return info->dlpi_adds != gone.adds ? 2 : 1;
}

static void forget_gone(const mapping *part)
{
    for (uint32_t i = 0; i < GONE; i++) {
        mapping *m = &gone.all[i];
        bool within =
            part->address < m->address + m->size && m->address < part->address + part->size;
        if (within) m->size = 0;
    }
}

/* This thread may hold the dynamic linker's lock, so it waits for the baton only after the look at
 * the libraries. */
void ft_rt_libraries_begin(const void *pc)
{
    parts found = {.n = 0};
    bool recorded = ft_rt_self && !ft_rt_self->inside;
    if (!recorded || dl_iterate_phdr(has_more, NULL) != 2) return;
    dl_iterate_phdr(find_parts, &found);
    for (uint32_t i = 0; i < found.n; i++)
        ft_rt_made((void *)found.all[i].address, found.all[i].size, false, pc);
    for (uint32_t i = 0; i < found.n; i++) forget_gone(&found.all[i]);
    ft_rt_log_loaded();
}

extern const char __executable_start, _end;

/* The path of search depends on the caller, so a call from a library returns from the real dlopen
 * to it. */
void *dlopen(const char *path, int flags)
{
    const char *caller = CODE;
    if (caller < &__executable_start || caller >= &_end) return FT_REAL(dlopen)(path, flags);
    void *got = FT_REAL(dlopen)(path, flags);
    if (got) ft_rt_libraries_begin(CODE);
    return got;
}

/* ---- unloading */

/* No other library may be mapped there: code and variables are identified by address. The
 * synchronisation objects there are forgotten. */
static void keep_free(uintptr_t address, size_t size)
{
    ft_rt_object_forget((const void *)address, size);
    syscall(SYS_mmap, address, size, PROT_NONE,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
}

/* A library's last functions run in the call that unmaps it. There each return has what was written
 * before (log/events.c, ft_rt_may_emit; accesses/frames.c); where there is none, the memory is
 * perhaps gone by the next hook. */
int dlclose(void *library)
{
    ft_rt_thread *self = ft_rt_self;
    if (!self || self->inside) return FT_REAL(dlclose)(library);
    ft_rt_memory_may_go();
    if (ft_rt_hot == self) ft_rt_hot = FT_RT_NO_THREAD;
    self->closes++;
    int result = FT_REAL(dlclose)(library);
    bool within = ft_rt_enter_within() != NULL;
    assert(self->closes); /* a hook of this call counted it */
    self->closes--;
    if (within) ft_rt_log_unloaded(keep_free);
    if (within) self->inside = false;
    return result;
}
