/* Memory that the program maps itself: mmap, shmat, sbrk. A mapping that is unmapped in parts stays
 * one block. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include "accesses/accesses.h"
#include "libc/contract.h"
#include "libc/libc.h"
#include "memory/memory.h"
#include "raw/raw.h"
#include "scheduling/needs.h"
#include "scheduling/scheduling.h"
#include "state/thread.h"
#include "sync/sync.h"
#include "world/world.h"

#define CODE __builtin_return_address(0)

enum { MAPPINGS = 1 << 12 };

/* Whole mappings of the program, by the baton's holder. */
static struct {
    struct mapping {
        uintptr_t address; /* 0: free */
        size_t size;
        bool shared; /* with a file: from there on */
        dev_t device;
        ino_t file;
        off64_t from;
    } * all;
    uint32_t n;  /* of the table in use */
    bool shares; /* there was one of a file */
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
    assert(mappings.n <= MAPPINGS);
    if (!mappings.all) mappings.all = ft_rt_map(MAPPINGS * sizeof *mappings.all);
    if (!m) m = find(0);
    if (!m && mappings.n == MAPPINGS) return false;
    if (!m) m = &mappings.all[mappings.n++];
    *m = (struct mapping){.address = address, .size = size};
    return true;
}

/* Parts of mappings are unmapped. */
static void part_goes(const void *memory, size_t size)
{
    uintptr_t at = (uintptr_t)memory;
    for (uint32_t i = 0; i < mappings.n; i++) {
        struct mapping *m = &mappings.all[i];
        if (at < m->address + m->size && m->address < at + size) m->shared = false;
    }
}

static bool is_recorded(void)
{
    return ft_rt_self && !ft_rt_self->inside;
}

/* Its first content. */
typedef enum start { UNKNOWN, ZEROS, TO_BE_READ } start;

static void *mapped(void *memory, size_t size, start begins, const void *pc)
{
    if (memory == MAP_FAILED || !is_recorded()) return memory;
    if (begins == TO_BE_READ)
        ft_rt_mapped(memory, size, pc);
    else
        ft_rt_made(memory, size, begins == ZEROS, pc);
    ft_rt_thread *self = ft_rt_enter();
    if (!self) return memory;
    part_goes(memory, size);
    remember((uintptr_t)memory, size);
    ft_rt_object_forget(memory, size);
    ft_rt_leave(self);
    return memory;
}

/* Before a whole mapping is unmapped, or a part of one. */
static void unmapped(void *memory, size_t size, const void *pc)
{
    ft_rt_thread *self = ft_rt_enter();
    if (!self) return;
    struct mapping *m = memory ? find((uintptr_t)memory) : NULL;
    bool whole = m && m->size == size;
    if (whole)
        m->address = 0;
    else
        part_goes(memory, size);
    self->inside = false;
    if (whole) ft_rt_gone(memory, size, pc);
}

/* ---- files: a write into a file is a write into the memory that shares it */

static void *shared(void *memory, int protection, int flags, int fd, off64_t from)
{
    struct stat64 about;
    if (memory == MAP_FAILED || !(flags & MAP_SHARED) || flags & MAP_ANONYMOUS) return memory;
    if (!(protection & PROT_READ) || FT_REAL(fstat64)(fd, &about)) return memory;
    ft_rt_thread *self = S_ISREG(about.st_mode) ? ft_rt_enter() : NULL;
    if (!self) return memory;
    struct mapping *m = find((uintptr_t)memory);
    if (m) {
        m->shared = mappings.shares = true;
        m->device = about.st_dev;
        m->file = about.st_ino;
        m->from = from;
    }
    ft_rt_leave(self);
    return memory;
}

bool ft_rt_map_shares(void)
{
    return mappings.shares;
}

void ft_rt_file_hidden(const void *memory, size_t size)
{
    ft_rt_thread *self = ft_rt_enter();
    if (!self) return;
    part_goes(memory, size);
    self->inside = false;
}

static void tell_shared(const ft_rt_file_write *w, off64_t from, off64_t to, const void *pc)
{
    for (uint32_t i = 0; i < mappings.n; i++) {
        const struct mapping *m = &mappings.all[i];
        off64_t first = from > m->from ? from : m->from;
        off64_t end = m->from + (off64_t)m->size, last = to < end ? to : end;
        bool here = m->address && m->shared && m->device == w->device && m->file == w->file;
        if (!here || first >= last) continue;
        ft_rt_write_range((char *)m->address + (first - m->from), (size_t)(last - first), pc);
    }
}

static off64_t place_in(int fd, off64_t size)
{
    return FT_REAL(fcntl)(fd, F_GETFL) & O_APPEND ? size : FT_REAL(lseek64)(fd, 0, SEEK_CUR);
}

ft_rt_file_write ft_rt_file_begin(int fd, off64_t at, size_t n, const void *pc)
{
    enum { RANGES = 4 };
    struct stat64 about;
    ft_rt_file_write w = {.told = -1};
    int error = errno;
    if (!mappings.shares || !n || !is_recorded()) return w;
    if (!FT_REAL(fstat64)(fd, &about) && S_ISREG(about.st_mode)) {
        off64_t end = (about.st_size + FT_RAW_PAGE - 1) / FT_RAW_PAGE * FT_RAW_PAGE;
        w.device = about.st_dev;
        w.file = about.st_ino;
        w.at = at < 0 ? place_in(fd, about.st_size) : at;
        w.told = w.at + (off64_t)n < end ? w.at + (off64_t)n : end;
        ft_rt_settle(RANGES);
        tell_shared(&w, w.at, w.told, pc);
    }
    errno = error;
    return w;
}

void ft_rt_file_end(const ft_rt_file_write *w, ssize_t put, const void *pc)
{
    if (w->told < 0 || put <= 0) return;
    tell_shared(w, w->told > w->at ? w->told : w->at, w->at + put, pc);
}

/* ---- mmap and its family */

/* After the page with a file's end nothing can be read. */
static start start_of(size_t size, int protection, int flags, int fd, off64_t offset)
{
    struct stat64 about;
    if (flags & MAP_ANONYMOUS) return ZEROS;
    if (!(protection & PROT_READ) || FT_REAL(fstat64)(fd, &about)) return UNKNOWN;
    bool whole = offset < about.st_size && size <= (uint64_t)(about.st_size - offset);
    return whole && S_ISREG(about.st_mode) ? TO_BE_READ : UNKNOWN;
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (flags & MAP_FIXED) ft_rt_memory_may_go();
    flags = ft_rt_world_maps(protection, flags, fd, "mmap", CODE);
    void *got = mapped(FT_REAL(mmap)(at, size, protection, flags, fd, offset), size,
                       start_of(size, protection, flags, fd, offset), CODE);
    return shared(got, protection, flags, fd, offset);
}

void *mmap64(void *at, size_t size, int protection, int flags, int fd, off64_t offset)
{
    if (flags & MAP_FIXED) ft_rt_memory_may_go();
    flags = ft_rt_world_maps(protection, flags, fd, "mmap64", CODE);
    void *got = mapped(FT_REAL(mmap64)(at, size, protection, flags, fd, offset), size,
                       start_of(size, protection, flags, fd, offset), CODE);
    return shared(got, protection, flags, fd, offset);
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
    size_t least = old_size < size ? old_size : size;
    size_t moves = least <= FT_RAW_CONTENT && is_recorded() && find((uintptr_t)memory) ? least : 0;
    ft_rt_read_blindly(memory, moves, CODE);
    unmapped(memory, old_size, CODE);
    void *got = FT_REAL(mremap)(memory, old_size, size, flags, wanted);
    if (got == MAP_FAILED) mapped(memory, old_size, UNKNOWN, CODE);
    mapped(got, size, UNKNOWN, CODE);
    if (got != MAP_FAILED) ft_rt_write_range(got, moves, CODE);
    return got;
}

/* ---- memory that other processes may change too: its first content is unknown */

void *shmat(int id, const void *at, int flags)
{
    struct shmid_ds about;
    ft_rt_world_refuse(FT_RT_WORLD_SHARED, "shmat", CODE);
    if (flags & SHM_REMAP) ft_rt_memory_may_go();
    void *got = FT_REAL(shmat)(id, at, flags);
    bool known = got != MAP_FAILED && !shmctl(id, IPC_STAT, &about);
    return known ? mapped(got, about.shm_segsz, UNKNOWN, CODE) : got;
}

int shmdt(const void *memory)
{
    const struct mapping *m = is_recorded() ? find((uintptr_t)memory) : NULL;
    if (m) unmapped((void *)(uintptr_t)memory, m->size, CODE);
    return FT_REAL(shmdt)(memory);
}

void *sbrk(intptr_t change)
{
    if (change < 0) ft_rt_memory_may_go();
    void *got = FT_REAL(sbrk)(change);
    if (got != (void *)-1 && change > 0 && is_recorded())
        ft_rt_made(got, (size_t)change, true, CODE);
    return got;
}
