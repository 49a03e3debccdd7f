/* The list of kept pieces lies in the first of them. */
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libc/contract.h"
#include "libc/libc.h"
#include "raw/raw.h"
#include "rewinding/kept.h"

enum { PIECES = 64 };

typedef struct piece {
    uintptr_t from, to;
} piece;

static struct list {
    uint32_t n;
    piece pieces[PIECES];
} * list;

static size_t pages(size_t size)
{
    return (size + FT_RAW_PAGE - 1) / FT_RAW_PAGE * FT_RAW_PAGE;
}

/* By system calls: the hooks of mmap and mprotect are for mappings of the program. */
static char *map(size_t size)
{
    size_t all = pages(size) + (size_t)2 * FT_RAW_PAGE;
    long at = syscall(SYS_mmap, ft_rt_away(all), all, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == -1) return NULL;
    char *memory = (char *)at + FT_RAW_PAGE;
    if (!syscall(SYS_mprotect, memory, pages(size), PROT_READ | PROT_WRITE)) return memory;
    syscall(SYS_munmap, at, all);
    return NULL;
}

static void *add(char *memory, size_t size)
{
    assert(list->n < PIECES);
    list->pieces[list->n++] = (piece){(uintptr_t)memory, (uintptr_t)memory + pages(size)};
    return memory;
}

void *ft_rt_kept(size_t size)
{
    FT_REQUIRE(size);
    if (!list) {
        list = (struct list *)(void *)map(sizeof *list);
        if (!list) return NULL;
        add((char *)list, sizeof *list);
    }
    char *memory = list->n < PIECES ? map(size) : NULL;
    return memory ? add(memory, size) : NULL;
}

void ft_rt_kept_seal(const void *memory, size_t size)
{
    FT_REQUIRE(ft_rt_kept_until((uintptr_t)memory) >= (uintptr_t)memory + size);
    syscall(SYS_mprotect, memory, pages(size), PROT_READ);
}

uintptr_t ft_rt_kept_until(uintptr_t from)
{
    for (uint32_t i = 0; list && i < list->n; i++)
        if (from >= list->pieces[i].from && from < list->pieces[i].to) return list->pieces[i].to;
    return 0;
}
