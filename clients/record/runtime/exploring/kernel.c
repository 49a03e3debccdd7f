/* Turns of kernel threads: each sleeps until it gets its turn. */
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "exploring/run.h"
#include "libc/contract.h"
#include "libc/libc.h"

static void wake(ft_rt_x_thread *t)
{
    __atomic_store_n(&t->go, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &t->go, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void await(ft_rt_x_thread *t)
{
    while (!__atomic_load_n(&t->go, __ATOMIC_ACQUIRE))
        syscall(SYS_futex, &t->go, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    __atomic_store_n(&t->go, 0, __ATOMIC_RELAXED);
}

static void *run_thread(void *argument)
{
    ft_rt_x_thread *self = argument;
    await(self);
    ft_rt_x_failures_thread(self->number);
    return ft_rt_x_thread_begins(self);
}

int ft_rt_x_kernel_create(ft_rt_x_thread *thread, const pthread_attr_t *attributes)
{
    thread->go = 0;
    return FT_REAL(pthread_create)(&thread->handle, attributes, run_thread, thread);
}

void ft_rt_x_kernel_hand_over(ft_rt_x_thread *from, ft_rt_x_thread *to)
{
    FT_REQUIRE(from != to);
    wake(to);
    await(from);
}

void ft_rt_x_kernel_leave(ft_rt_x_thread *from, ft_rt_x_thread *to)
{
    FT_REQUIRE(from != to);
    wake(to);
}

int ft_rt_x_kernel_join(ft_rt_x_thread *thread, void **result)
{
    return FT_REAL(pthread_join)(thread->handle, result);
}

int ft_rt_x_kernel_detach(ft_rt_x_thread *thread)
{
    return FT_REAL(pthread_detach)(thread->handle);
}
