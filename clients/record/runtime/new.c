/* C++'s new and delete, so that memory is known by the program's line and not by a place in
 * libstdc++. Weak: a program that has its own keeps them. */
#include <stddef.h>

#include "runtime.h"

#define CODE       __builtin_return_address(0)
#define NAME(name) __asm__(name) __attribute__((weak))

void *ft_new(size_t size) NAME("_Znwm");
void *ft_new_array(size_t size) NAME("_Znam");
void *ft_new_at(size_t size, size_t alignment) NAME("_ZnwmSt11align_val_t");
void *ft_new_array_at(size_t size, size_t alignment) NAME("_ZnamSt11align_val_t");
void ft_delete(void *memory) NAME("_ZdlPv");
void ft_delete_array(void *memory) NAME("_ZdaPv");
void ft_delete_sized(void *memory, size_t size) NAME("_ZdlPvm");
void ft_delete_array_sized(void *memory, size_t size) NAME("_ZdaPvm");
void ft_delete_at(void *memory, size_t alignment) NAME("_ZdlPvSt11align_val_t");
void ft_delete_array_at(void *memory, size_t alignment) NAME("_ZdaPvSt11align_val_t");
void ft_delete_sized_at(void *memory, size_t size, size_t alignment) NAME("_ZdlPvmSt11align_val_t");
void ft_delete_array_sized_at(void *memory, size_t size, size_t alignment)
    NAME("_ZdaPvmSt11align_val_t");

/* Where there is no memory, libstdc++'s own calls the program's handler and throws. */
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
    ft_rt_gone(memory, ft_rt_libc()->size_of(memory), pc);
    ft_rt_libc()->free(memory);
}

void *ft_new(size_t size)
{
    return make(size, CODE);
}

void *ft_new_array(size_t size)
{
    return make(size, CODE);
}

void *ft_new_at(size_t size, size_t alignment)
{
    return make_at(size, alignment, CODE);
}

void *ft_new_array_at(size_t size, size_t alignment)
{
    return make_at(size, alignment, CODE);
}

void ft_delete(void *memory)
{
    end(memory, CODE);
}

void ft_delete_array(void *memory)
{
    end(memory, CODE);
}

void ft_delete_sized(void *memory, size_t size)
{
    (void)size;
    end(memory, CODE);
}

void ft_delete_array_sized(void *memory, size_t size)
{
    (void)size;
    end(memory, CODE);
}

void ft_delete_at(void *memory, size_t alignment)
{
    (void)alignment;
    end(memory, CODE);
}

void ft_delete_array_at(void *memory, size_t alignment)
{
    (void)alignment;
    end(memory, CODE);
}

void ft_delete_sized_at(void *memory, size_t size, size_t alignment)
{
    (void)size;
    (void)alignment;
    end(memory, CODE);
}

void ft_delete_array_sized_at(void *memory, size_t size, size_t alignment)
{
    (void)size;
    (void)alignment;
    end(memory, CODE);
}
