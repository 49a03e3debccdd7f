/* Allocation, arenas and growable arrays.
 *
 * Running out of memory ends the process with a message on standard error and exit code
 * FT_EXIT_NOMEM: the server retries the task in another worker, and the server's durable state is
 * in its store. So no function here returns NULL. */
#ifndef FT_BASE_MEMORY_H
#define FT_BASE_MEMORY_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define FT_EXIT_NOMEM 86

/* Ends the process likewise, for callers that use another allocator. */
__attribute__((noreturn)) void ft_out_of_memory(void);

void *ft_alloc(size_t size);                       /* uninitialised; free with free() */
void *ft_calloc(size_t count, size_t size);        /* zeroed, overflow checked */
void *ft_calloc_sparse(size_t count, size_t size); /* likewise, for sparse use: no huge pages */
void *ft_realloc(void *block, size_t count, size_t size); /* overflow checked */
char *ft_strdup(const char *text);                        /* heap copy; free with free() */
char *ft_strndup(const char *text, size_t length);        /* heap copy, NUL-terminated */

/* An arena: many allocations, one release. Blocks are 16-byte aligned. */
typedef struct ft_arena ft_arena;
ft_arena *ft_arena_new(void);
void ft_arena_free(ft_arena *arena);                /* accepts NULL */
void *ft_arena_alloc(ft_arena *arena, size_t size); /* uninitialised */
char *ft_arena_strndup(ft_arena *arena, const char *text, size_t length);
char *ft_arena_printf(ft_arena *arena, const char *format, ...) FT_PRINTF(2, 3);
/* The invariant: no block holds more than its size, and what it holds ends at a multiple of 16. */
bool ft_arena_is_sound(const ft_arena *arena);

/* A growable array: FT_VEC(uint32_t) ids = {0}; ft_vec_push(&ids, 7); ft_vec_release(&ids). */
#define FT_VEC(type)                                                                               \
    struct {                                                                                       \
        type *data;                                                                                \
        size_t len, cap;                                                                           \
    }
#define ft_vec_reserve(v, want)                                                                    \
    ((size_t)(want) <= (v)->cap                                                                    \
         ? (void)0                                                                                 \
         : (void)((v)->data = ft_vec_grow((v)->data, &(v)->cap, (want), sizeof *(v)->data)))
#define ft_vec_push(v, ...)                                                                        \
    (ft_vec_reserve((v), (v)->len + 1), (void)((v)->data[(v)->len++] = (__VA_ARGS__)))
#define ft_vec_release(v) (free((v)->data), (v)->data = NULL, (v)->len = (v)->cap = 0)

/* Returns `data` with room for at least `want` elements; *cap is the new capacity. */
void *ft_vec_grow(void *data, size_t *cap, size_t want, size_t element_size);
/* Likewise; the new elements are zero. */
void *ft_grow_zeroed(void *data, uint32_t *cap, uint32_t want, size_t element_size);

#endif
