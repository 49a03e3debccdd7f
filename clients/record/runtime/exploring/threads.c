/* Threads of an exploration: their numbers, creation, join and end, and the end of the process. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "exploring/needs.h"
#include "exploring/run.h"
#include "libc/contract.h"
#include "libc/libc.h"

extern void *__libc_stack_end;

enum { ROUNDS = 4 }; /* of key destructors: the last one is behind all that the thread still does */

__thread ft_rt_x_thread *ft_rt_x_self;

static pthread_key_t end_key;

uint32_t ft_rt_x_number(void)
{
    FT_REQUIRE(ft_rt_x_self);
    return ft_rt_x_self->number;
}

/* ---- numbers */

/* The explorer knows the thread from an earlier run, or it gets the next number. */
static uint32_t number_of(uint32_t parent, uint32_t nth, const void *pc)
{
    ft_exploring_slot *s = ft_rt_x.slot;
    for (uint32_t t = 1; t < s->all_threads; t++)
        if (s->threads[t].parent == parent && s->threads[t].number == nth) return t;
    if (s->all_threads == FT_X_THREADS) ft_rt_x_refuse("more than 64 threads", pc);
    s->threads[s->all_threads] = (ft_exploring_thread){.parent = parent, .number = nth};
    return s->all_threads++;
}

ft_rt_x_thread *ft_rt_x_thread_of(pthread_t handle)
{
    ft_rt_x_thread *found = NULL;
    for (uint32_t t = 0; t < FT_X_THREADS; t++) {
        ft_rt_x_thread *thread = &ft_rt_x.threads[t];
        if (!thread->exists || thread->joined || !pthread_equal(thread->handle, handle)) continue;
        if (!found || found->ended) found = thread;
    }
    return found;
}

/* ---- the end of a thread: behind the destructors of its own keys and thread-local objects */

static void end_thread(void *round)
{
    uintptr_t n = (uintptr_t)round;
    ft_rt_x_thread *self = ft_rt_x_self;
    if (!self || n < ROUNDS) {
        pthread_setspecific(end_key, (void *)(n + 1));
        return;
    }
    if (ft_rt_x.begun) ft_rt_x_abandon();
    self->pending = (ft_x_operation){.kind = FT_X_NONE};
    self->ended = true;
    ft_rt_x.state.ended |= UINT64_C(1) << self->number;
    if (!ft_rt_x.begun) return; /* the only one: the process ends with it */
    ft_rt_x_thread *next = self->stands ? ft_rt_x_pick(self) : self->creator;
    self->stands = true;
    ft_rt_x.running = next;
    ft_rt_x_self = NULL;
    ft_rt_x_grade_used->leave(self, next);
}

/* ---- the begin of a thread */

void *ft_rt_x_thread_begins(ft_rt_x_thread *self)
{
    ft_rt_x_self = self;
    self->pointer = (uintptr_t)__builtin_thread_pointer();
    pthread_setspecific(end_key, (void *)1);
    return self->start(self->argument);
}

static size_t stack_size(const pthread_attr_t *attributes)
{
    static size_t usual; /* asked for once, before the first choice */
    size_t size = 0;
    if (attributes && !pthread_attr_getstacksize(attributes, &size)) return size;
    struct rlimit limit;
    if (!usual) {
        usual = 8 << 20;
        bool known = !getrlimit(RLIMIT_STACK, &limit) && limit.rlim_cur != RLIM_INFINITY;
        if (known) usual = limit.rlim_cur;
    }
    return usual;
}

int ft_rt_x_create(pthread_t *handle, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument, const void *pc)
{
    ft_rt_x_thread *self = ft_rt_x_self;
    if (!ft_rt_x.begun) { /* the first child's number is always 1 */
        self->pending = (ft_x_operation){.kind = FT_X_CREATE, .object = 1};
        self->pc = pc;
        ft_rt_x_first_choice(self);
    }
    uint32_t number = number_of(self->number, ++self->children, pc);
    ft_rt_explore(&(ft_x_operation){.kind = FT_X_CREATE, .object = number}, pc);
    ft_rt_x_thread *child = &ft_rt_x.threads[number];
    *child = (ft_rt_x_thread){.number = number,
                              .parent = self->number,
                              .nth = self->children,
                              .exists = true,
                              .creator = self,
                              .start = start,
                              .argument = argument,
                              .stack = stack_size(attributes)};
    ft_rt_world_thread_made(number);
    int error = ft_rt_x_grade_used->create(child, attributes);
    if (error) {
        child->ended = child->stands = true;
        ft_rt_x.state.ended |= UINT64_C(1) << number;
        return error;
    }
    *handle = child->handle;
    ft_rt_x.running = child;
    ft_rt_x_grade_used->hand_over(self, child); /* to its first action */
    ft_rt_x.running = self;
    return 0;
}

int ft_rt_x_join(pthread_t handle, void **result, bool try, ft_rt_x_limit limit, const void *pc)
{
    ft_rt_x_thread *thread = ft_rt_x_thread_of(handle);
    bool attempt = try || ft_rt_x_limit_is_early(limit, pc);
    if (!thread || thread == ft_rt_x_self) return FT_REAL(pthread_join)(handle, result);
    ft_x_operation join = {.kind = attempt ? FT_X_TRY_JOIN : FT_X_JOIN,
                           .object = thread->number,
                           .value = try ? 0 : ft_rt_x_limit_bits(limit, pc)};
    ft_x_choice choice = ft_rt_explore(&join, pc);
    bool done = attempt ? choice.outcome != 0 : choice.variant != FT_X_TIMED_OUT;
    if (!try) ft_rt_x_limit_passed(limit, !done, pc);
    if (!done) return try ? EBUSY : ETIMEDOUT;
    thread->joined = true;
    return ft_rt_x_grade_used->join(thread, result);
}

int ft_rt_x_detach(pthread_t handle)
{
    ft_rt_x_thread *thread = ft_rt_x_thread_of(handle);
    return thread ? ft_rt_x_grade_used->detach(thread) : FT_REAL(pthread_detach)(handle);
}

int ft_rt_x_number_of(pthread_t handle)
{
    const ft_rt_x_thread *thread = ft_rt_x_thread_of(handle);
    return thread ? (int)thread->number : -1;
}

bool ft_rt_x_is_alive(uint32_t thread)
{
    FT_REQUIRE(thread < FT_X_THREADS);
    return ft_rt_x.threads[thread].exists && !ft_rt_x.threads[thread].ended;
}

int ft_rt_x_set_name(const char *name)
{
    enum { LONGEST = 15 };
    return strlen(name) > LONGEST ? ERANGE : 0;
}

/* ---- the process */

void ft_rt_x_exit(int code)
{
    ft_rt_x_thread *self = ft_rt_x_self;
    if (!ft_rt_exploring || !self) return;
    if (code != ft_rt_x_header->options.expect_exit)
        self->failure = (ft_exploring_result){
            .failure = FT_EXPLORING_FAILED_EXIT, .thread = self->number, .code = code};
    ft_rt_explore(
        &(ft_x_operation){.kind = FT_X_EXIT, .value = self->failure.failure, .value2 = code}, NULL);
}

static int status;

static void note_status(int code, void *unused)
{
    (void)unused;
    status = code;
}

void ft_rt_x_finish(void)
{
    ft_rt_x_exit(status);
}

void ft_rt_x_threads_start(void)
{
    ft_rt_x_thread *self = &ft_rt_x.threads[0];
    *self = (ft_rt_x_thread){.exists = true,
                             .stands = true,
                             .handle = pthread_self(),
                             .pointer = (uintptr_t)__builtin_thread_pointer(),
                             .stack_end = (uintptr_t)__libc_stack_end,
                             .stack = stack_size(NULL)};
    ft_rt_x.running = self;
    ft_rt_x_self = self;
    on_exit(note_status, NULL);
    if (pthread_key_create(&end_key, end_thread))
        ft_rt_say("the program uses all thread keys (pthread_key_create): it cannot be explored");
    pthread_setspecific(end_key, (void *)1);
}
