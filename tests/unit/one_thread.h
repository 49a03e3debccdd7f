/* libuv's threads without threads: what a thread would do, it does while whoever wakes it waits, on
 * a stack of its own. So a fork has all of the program. For programs whose threads wait for
 * conditions and for nothing else. */
#ifndef FT_TESTS_ONE_THREAD_H
#define FT_TESTS_ONE_THREAD_H

#include <stdlib.h>
#include <ucontext.h>
#include <uv.h>

#define ONE_THREAD_STACK ((size_t)4 << 20)

/* The last one made; those before it have ended, or will not be woken any more. */
static struct {
    ucontext_t context, waker;
    void (*entry)(void *argument);
    void *argument, *stack;
    bool ended;
} only;

static void only_main(void)
{
    only.entry(only.argument);
    only.ended = true;
}

int uv_thread_create(uv_thread_t *thread, uv_thread_cb entry, void *argument)
{
    *thread = (uv_thread_t){0};
    only.entry = entry;
    only.argument = argument;
    only.ended = false;
    only.stack = malloc(ONE_THREAD_STACK);
    if (!only.stack || getcontext(&only.context) != 0) return UV_ENOMEM;
    only.context.uc_stack = (stack_t){.ss_sp = only.stack, .ss_size = ONE_THREAD_STACK};
    only.context.uc_link = &only.waker;
    makecontext(&only.context, only_main, 0);
    return swapcontext(&only.waker, &only.context);
}

int uv_thread_join(uv_thread_t *thread)
{
    (void)thread;
    if (!only.ended) abort();
    free(only.stack);
    only.stack = NULL;
    return 0;
}

int uv_cond_init(uv_cond_t *condition)
{
    (void)condition;
    return 0;
}

void uv_cond_destroy(uv_cond_t *condition)
{
    (void)condition;
}

void uv_cond_signal(uv_cond_t *condition)
{
    (void)condition;
    swapcontext(&only.waker, &only.context);
}

void uv_cond_broadcast(uv_cond_t *condition)
{
    uv_cond_signal(condition);
}

void uv_cond_wait(uv_cond_t *condition, uv_mutex_t *mutex)
{
    (void)condition, (void)mutex;
    swapcontext(&only.context, &only.waker);
}

int uv_cond_timedwait(uv_cond_t *condition, uv_mutex_t *mutex, uint64_t timeout)
{
    (void)timeout;
    uv_cond_wait(condition, mutex);
    return 0;
}

int uv_mutex_init(uv_mutex_t *mutex)
{
    (void)mutex;
    return 0;
}

void uv_mutex_destroy(uv_mutex_t *mutex)
{
    (void)mutex;
}

void uv_mutex_lock(uv_mutex_t *mutex)
{
    (void)mutex;
}

void uv_mutex_unlock(uv_mutex_t *mutex)
{
    (void)mutex;
}

#endif
