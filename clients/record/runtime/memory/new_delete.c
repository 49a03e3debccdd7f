/* C++'s new and delete, so that a block's allocation site is the program's line and not a place in
 * libstdc++. Weak: a program that defines its own keeps them. */
#include <stdbool.h>
#include <stddef.h>

#include "exploring/exploring.h"
#include "libc/libc.h"
#include "memory/memory.h"

#define CODE           __builtin_return_address(0)
#define NAME(name)     __asm__(name) __attribute__((weak))
#define ALSO(name, of) NAME(name) __attribute__((alias(of)))

/* Where there is no memory, libstdc++ calls the program's handler and throws, or gives NULL. */
static void *make(size_t size, const void *pc)
{
    void *got = ft_rt_libc()->malloc(size ? size : 1);
    if (got) return ft_rt_given(got, size, pc);
    return ((void *(*)(size_t))ft_rt_real("_Znwm"))(size);
}

static void *make_at(size_t size, size_t alignment, const void *pc)
{
    void *got = ft_rt_libc()->memalign(alignment, size ? size : 1);
    if (got) return ft_rt_given(got, size, pc);
    return ((void *(*)(size_t, size_t))ft_rt_real("_ZnwmSt11align_val_t"))(size, alignment);
}

static void end(void *memory, const void *pc)
{
    if (ft_rt_exploring && ft_rt_x_block_freed(memory, pc)) return;
    ft_rt_gone(memory, ft_rt_libc()->size_of(memory), pc);
    ft_rt_libc()->free(memory);
}

/* The forms that others come down to: in libstdc++ an array's to the plain one, the one with a size
 * to the one without, the one that gives NULL to the one that throws. So what the program defines
 * of these gets all that comes down to it, and the forms below do their work at once only where the
 * names still mean the functions here. */
static void *own_new(size_t size);
static void *own_new_array(size_t size);
static void *own_new_at(size_t size, size_t alignment);
static void *own_new_array_at(size_t size, size_t alignment);
static void own_delete(void *memory);
static void own_delete_array(void *memory);
static void own_delete_at(void *memory, size_t alignment);
static void own_delete_array_at(void *memory, size_t alignment);

void *ft_new(size_t size) ALSO("_Znwm", "own_new");
void *ft_new_array(size_t size) ALSO("_Znam", "own_new_array");
void *ft_new_at(size_t size, size_t alignment) ALSO("_ZnwmSt11align_val_t", "own_new_at");
void *ft_new_array_at(size_t size, size_t alignment)
    ALSO("_ZnamSt11align_val_t", "own_new_array_at");
void ft_delete(void *memory) ALSO("_ZdlPv", "own_delete");
void ft_delete_array(void *memory) ALSO("_ZdaPv", "own_delete_array");
void ft_delete_at(void *memory, size_t alignment) ALSO("_ZdlPvSt11align_val_t", "own_delete_at");
void ft_delete_array_at(void *memory, size_t alignment)
    ALSO("_ZdaPvSt11align_val_t", "own_delete_array_at");

static void *own_new(size_t size)
{
    return make(size, CODE);
}

static void *own_new_array(size_t size)
{
    return ft_new == own_new ? make(size, CODE) : ft_new(size);
}

static void *own_new_at(size_t size, size_t alignment)
{
    return make_at(size, alignment, CODE);
}

static void *own_new_array_at(size_t size, size_t alignment)
{
    return ft_new_at == own_new_at ? make_at(size, alignment, CODE) : ft_new_at(size, alignment);
}

static void own_delete(void *memory)
{
    end(memory, CODE);
}

static void own_delete_array(void *memory)
{
    if (ft_delete == own_delete)
        end(memory, CODE);
    else
        ft_delete(memory);
}

static void own_delete_at(void *memory, size_t alignment)
{
    (void)alignment;
    end(memory, CODE);
}

static void own_delete_array_at(void *memory, size_t alignment)
{
    if (ft_delete_at == own_delete_at)
        end(memory, CODE);
    else
        ft_delete_at(memory, alignment);
}

static bool own_array(void)
{
    return ft_new == own_new && ft_new_array == own_new_array;
}

static bool own_array_at(void)
{
    return ft_new_at == own_new_at && ft_new_array_at == own_new_array_at;
}

void *ft_new_or_null(size_t size, const void *tag) NAME("_ZnwmRKSt9nothrow_t");
void *ft_new_array_or_null(size_t size, const void *tag) NAME("_ZnamRKSt9nothrow_t");
void *ft_new_at_or_null(size_t size, size_t alignment, const void *tag)
    NAME("_ZnwmSt11align_val_tRKSt9nothrow_t");
void *ft_new_array_at_or_null(size_t size, size_t alignment, const void *tag)
    NAME("_ZnamSt11align_val_tRKSt9nothrow_t");
void ft_delete_sized(void *memory, size_t size) NAME("_ZdlPvm");
void ft_delete_array_sized(void *memory, size_t size) NAME("_ZdaPvm");
void ft_delete_sized_at(void *memory, size_t size, size_t alignment) NAME("_ZdlPvmSt11align_val_t");
void ft_delete_array_sized_at(void *memory, size_t size, size_t alignment)
    NAME("_ZdaPvmSt11align_val_t");

/* As make(), but what throws is libstdc++'s to catch; so is what the program's own throws. */
static void *make_or_null(size_t size, const void *tag, bool own, const char *name, const void *pc)
{
    void *got = own ? ft_rt_libc()->malloc(size ? size : 1) : NULL;
    if (got) return ft_rt_given(got, size, pc);
    return ((void *(*)(size_t, const void *))ft_rt_real(name))(size, tag);
}

static void *make_at_or_null(size_t size, size_t alignment, const void *tag, bool own,
                             const char *name, const void *pc)
{
    void *got = own ? ft_rt_libc()->memalign(alignment, size ? size : 1) : NULL;
    if (got) return ft_rt_given(got, size, pc);
    return ((void *(*)(size_t, size_t, const void *))ft_rt_real(name))(size, alignment, tag);
}

void *ft_new_or_null(size_t size, const void *tag)
{
    return make_or_null(size, tag, ft_new == own_new, "_ZnwmRKSt9nothrow_t", CODE);
}

void *ft_new_array_or_null(size_t size, const void *tag)
{
    return make_or_null(size, tag, own_array(), "_ZnamRKSt9nothrow_t", CODE);
}

void *ft_new_at_or_null(size_t size, size_t alignment, const void *tag)
{
    return make_at_or_null(size, alignment, tag, ft_new_at == own_new_at,
                           "_ZnwmSt11align_val_tRKSt9nothrow_t", CODE);
}

void *ft_new_array_at_or_null(size_t size, size_t alignment, const void *tag)
{
    return make_at_or_null(size, alignment, tag, own_array_at(),
                           "_ZnamSt11align_val_tRKSt9nothrow_t", CODE);
}

void ft_delete_sized(void *memory, size_t size)
{
    (void)size;
    if (ft_delete == own_delete)
        end(memory, CODE);
    else
        ft_delete(memory);
}

void ft_delete_array_sized(void *memory, size_t size)
{
    (void)size;
    if (ft_delete == own_delete && ft_delete_array == own_delete_array)
        end(memory, CODE);
    else
        ft_delete_array(memory);
}

void ft_delete_sized_at(void *memory, size_t size, size_t alignment)
{
    (void)size;
    if (ft_delete_at == own_delete_at)
        end(memory, CODE);
    else
        ft_delete_at(memory, alignment);
}

void ft_delete_array_sized_at(void *memory, size_t size, size_t alignment)
{
    (void)size;
    if (ft_delete_at == own_delete_at && ft_delete_array_at == own_delete_array_at)
        end(memory, CODE);
    else
        ft_delete_array_at(memory, alignment);
}
