/* Modules, the executable and its libraries: their addresses, constants and variables in the log.
 */
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libc/contract.h"
#include "libc/libc.h"
#include "log/log.h"
#include "log/needs.h"
#include "memory/memory.h"
#include "raw/raw.h"
#include "scheduling/scheduling.h"
#include "state/thread.h"

/* The program's own variables, from the first address on. */
static struct {
    uintptr_t from;
    size_t size;
} variables;

/* Bytes of them that are shown: initialised ones, then those that libraries share with it. */
enum { SHOWN = 1 << 18, CHUNK = 1 << 16 };

void ft_rt_log_variables(void)
{
    size_t size = variables.size < SHOWN ? variables.size : SHOWN;
    for (size_t at = 0, n; at < size; at += n) {
        n = size - at < CHUNK ? size - at : CHUNK;
        uintptr_t from = variables.from + at;
        ft_rt_log_bytes(FT_RAW_SHOWN, from, (const void *)from, n);
    }
    variables.size = 0;
}

static void log_constants(const struct dl_phdr_info *info)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && !(p->p_flags & PF_W))
            FT_RT_LOG(CONSTANT, info->dlpi_addr + p->p_vaddr, p->p_memsz);
    }
}

/* The content of a module's writable memory before the program starts, or its own code runs. */
static void log_data(const struct dl_phdr_info *info)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_W)) continue;
        uint64_t from = info->dlpi_addr + p->p_vaddr, at = from, end = from + p->p_filesz;
        if (!variables.from) { /* the executable comes first */
            variables.from = from;
            variables.size = p->p_memsz;
        }
        FT_RT_LOG(ZERO, from, p->p_memsz);
        for (uint64_t n; at < end; at += n) {
            n = end - at < CHUNK ? end - at : CHUNK;
            ft_rt_log_bytes(FT_RAW_MEMORY, at, (const void *)at, n);
        }
    }
}

enum { MODULES = 1024 };

static struct {
    struct range {
        uintptr_t base, end;
    } all[MODULES];
    uint32_t n;
    uint32_t again;          /* places used once more: that of a library which has gone */
    unsigned long long adds; /* of libraries, as the dynamic linker counts them */
} modules;

/* NULL: there are too many at once. */
static struct range *new_place(void)
{
    assert(modules.n <= MODULES);
    if (modules.n < MODULES) return &modules.all[modules.n++];
    for (uint32_t i = 0; i < MODULES; i++) {
        if (modules.all[i].end != modules.all[i].base) continue;
        modules.again++;
        return &modules.all[i];
    }
    return NULL;
}

static bool is_known(uintptr_t base, uintptr_t end)
{
    for (uint32_t i = 0; i < modules.n; i++)
        if (modules.all[i].base == base && modules.all[i].end == end) return true;
    return false;
}

static uintptr_t end_of(const struct dl_phdr_info *info)
{
    uintptr_t end = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && info->dlpi_addr + p->p_vaddr + p->p_memsz > end)
            end = info->dlpi_addr + p->p_vaddr + p->p_memsz;
    }
    return end;
}

/* When a module is logged. SEEN: its code has run already, so its first content is unknown. */
typedef enum module_time { AT_START, LOADED, SEEN } module_time;

static int log_module(struct dl_phdr_info *info, size_t size, void *time_of)
{
    module_time time = *(module_time *)time_of;
    char path[PATH_MAX];
    const char *name = info->dlpi_name;
    uintptr_t end = end_of(info);
    (void)size;
    modules.adds = info->dlpi_adds;
    if (is_known(info->dlpi_addr, end)) return 0;
    if (!*name) { /* the executable comes first and has no name, the vdso later has none */
        ssize_t n = modules.n ? -1 : readlink("/proc/self/exe", path, sizeof path - 1);
        if (n <= 0) return 0;
        path[n] = 0;
        name = path;
    } else if (time != AT_START && realpath(name, path)) {
        name = path;
    }
    struct range *place = new_place();
    if (!place) return 0;
    assert(place->base == place->end);
    *place = (struct range){info->dlpi_addr, end};
    ft_rt_log_bytes(FT_RAW_MODULE, info->dlpi_addr, name, strlen(name));
    log_constants(info);
    if (time != SEEN) log_data(info);
    return 0;
}

static int has_more(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    return info->dlpi_adds != modules.adds ? 2 : 1;
}

void ft_rt_log_library(uintptr_t pc)
{
    for (uint32_t i = 0; i < modules.n; i++)
        if (pc >= modules.all[i].base && pc < modules.all[i].end) return;
    bool more = modules.n && dl_iterate_phdr(has_more, NULL) == 2;
    module_time seen = SEEN;
    if (more) dl_iterate_phdr(log_module, &seen);
}

enum { NEW = 64 };

typedef struct loaded {
    struct dl_phdr_info all[NEW];
    uint32_t n;
} loaded;

static int find_loaded(struct dl_phdr_info *info, size_t size, void *context)
{
    loaded *l = context;
    (void)size;
    if (l->n < NEW && !is_known(info->dlpi_addr, end_of(info))) l->all[l->n++] = *info;
    return 0;
}

/* This thread may hold the dynamic linker's lock, so it waits for the baton only after the look at
 * the libraries. */
void ft_rt_log_loaded(void)
{
    loaded found = {.n = 0};
    module_time time = LOADED;
    if (!modules.n || dl_iterate_phdr(has_more, NULL) != 2) return;
    dl_iterate_phdr(find_loaded, &found);
    ft_rt_thread *self = ft_rt_enter();
    if (!self) return;
    for (uint32_t i = 0; ft_rt_logging && i < found.n; i++)
        log_module(&found.all[i], sizeof found.all[i], &time);
    ft_rt_leave(self);
}

enum { BITS = 64 };

/* By their places in the table. */
typedef struct present {
    uint64_t bits[MODULES / BITS];
    uint32_t n; /* of the table, when the look began */
} present;

static int find_present(struct dl_phdr_info *info, size_t size, void *context)
{
    present *p = context;
    uintptr_t end = end_of(info);
    (void)size;
    for (uint32_t i = 0; i < p->n; i++)
        if (modules.all[i].base == info->dlpi_addr && modules.all[i].end == end)
            p->bits[i / BITS] |= UINT64_C(1) << i % BITS;
    return 0;
}

void ft_rt_log_unloaded(void (*gone)(uintptr_t address, size_t size))
{
    present now = {.n = modules.n};
    uint32_t again = modules.again;
    FT_REQUIRE(ft_rt_self && ft_rt_self->inside);
    assert(now.n <= MODULES);
    ft_rt_lend(ft_rt_self); /* the dynamic linker's lock */
    dl_iterate_phdr(find_present, &now);
    ft_rt_take_back(ft_rt_self);
    if (modules.again != again) return; /* a library took a place: the next call reports */
    for (uint32_t i = 0; i < now.n; i++) {
        struct range *r = &modules.all[i];
        if (r->end == r->base || now.bits[i / BITS] >> i % BITS & 1) continue;
        gone(r->base, r->end - r->base);
        r->end = r->base;
    }
}

void ft_rt_log_modules(void)
{
    module_time start = AT_START;
    dl_iterate_phdr(log_module, &start);
}

/* Where libraries are looked for first: a script that starts a program in its build's folder says
 * so. */
static size_t library_path(char *words, size_t room)
{
    static const char name[] = "LD_LIBRARY_PATH";
    const char *value = getenv(name);
    if (!value || !*value || strlen(value) > room - sizeof name - 1) return 0;
    memcpy(words, name, sizeof name);
    words[sizeof name - 1] = '=';
    memcpy(words + sizeof name, value, strlen(value) + 1);
    return sizeof name + strlen(value) + 1;
}

/* A script may have started the program with other words than `foretell record` was given. */
void ft_rt_log_arguments(void)
{
    char words[1 << 14];
    size_t n = library_path(words, sizeof words / 2);
    ssize_t got = 0;
    int fd = FT_REAL(open)("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    do {
        n += (size_t)got;
        got = fd < 0 ? -1 : FT_REAL(read)(fd, words + n, sizeof words - n);
    } while (got > 0);
    if (fd >= 0) close(fd);
    if (n && n < sizeof words) ft_rt_log_bytes(FT_RAW_ARGUMENTS, 0, words, n);
}
