/* The C library's own allocator, found without the dynamic linker. Another allocator in the process
 * (mimalloc, jemalloc, tcmalloc) may define the inner names too and would be bound first; and the
 * program allocates before the dynamic linker can be called, which allocates itself. */
#include <elf.h>
#include <link.h>
#include <string.h>

#include "libc/libc.h"

typedef struct library {
    uintptr_t base;
    const ElfW(Sym) * symbols;
    const char *names;
    const uint32_t *hashes; /* of GNU's kind: buckets, first symbol, words of a filter, its shift */
} library;

/* The dynamic linker has added where the library is, or not. */
static const void *at(const library *l, uintptr_t address)
{
    return (const void *)(address < l->base ? l->base + address : address);
}

static void read_dynamic(library *l, const ElfW(Dyn) * d)
{
    for (; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_SYMTAB) l->symbols = at(l, d->d_un.d_ptr);
        if (d->d_tag == DT_STRTAB) l->names = at(l, d->d_un.d_ptr);
        if (d->d_tag == DT_GNU_HASH) l->hashes = at(l, d->d_un.d_ptr);
    }
}

static int find_library(struct dl_phdr_info *info, size_t size, void *context)
{
    static const char name[] = "/libc.so";
    library *l = context;
    const char *file = strrchr(info->dlpi_name, '/');
    (void)size;
    if (!file || strncmp(file, name, sizeof name - 1)) return 0;
    l->base = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            read_dynamic(l, at(l, info->dlpi_addr + info->dlpi_phdr[i].p_vaddr));
    return 1;
}

static uint32_t hash_of(const char *name)
{
    uint32_t hash = 5381;
    while (*name) hash = hash * 33 + (unsigned char)*name++;
    return hash;
}

/* NULL: the library does not define it. */
static void *look_up(const library *l, const char *name)
{
    enum { HEAD = 4, WORD = sizeof(uintptr_t) / sizeof(uint32_t) };
    if (!l->hashes || !l->symbols || !l->names) return NULL;
    uint32_t n = l->hashes[0], first = l->hashes[1], hash = hash_of(name);
    const uint32_t *buckets = l->hashes + HEAD + (size_t)l->hashes[2] * WORD;
    const uint32_t *chains = buckets + n;
    uint32_t i = n ? buckets[hash % n] : 0;
    for (bool last = i < first; !last; i++) {
        const ElfW(Sym) *symbol = &l->symbols[i];
        bool same = (chains[i - first] | 1) == (hash | 1);
        if (same && !strcmp(l->names + symbol->st_name, name))
            return (void *)(l->base + symbol->st_value);
        last = chains[i - first] & 1;
    }
    return NULL;
}

static void *needed(const library *l, const char *name)
{
    void *found = look_up(l, name);
    return found ? found : ft_rt_real(name);
}

ft_rt_allocator ft_rt_own_allocator;

const ft_rt_allocator *ft_rt_find_allocator(void)
{
    library l = {.base = 0};
    ft_rt_allocator *a = &ft_rt_own_allocator;
    dl_iterate_phdr(find_library, &l);
    a->malloc = (void *(*)(size_t))needed(&l, "__libc_malloc");
    a->calloc = (void *(*)(size_t, size_t))needed(&l, "__libc_calloc");
    a->realloc = (void *(*)(void *, size_t))needed(&l, "__libc_realloc");
    a->memalign = (void *(*)(size_t, size_t))needed(&l, "__libc_memalign");
    a->free = (void (*)(void *))needed(&l, "__libc_free");
    a->size_of = (size_t(*)(void *))needed(&l, "malloc_usable_size");
    return a;
}
