/* Threads as user contexts of one kernel thread (x86-64, glibc).
 *
 * A context is a thread of the C library without a kernel thread: the real pthread_create makes
 * descriptor, thread-local memory and stack; then the new kernel thread saves its registers on that
 * stack and ends without the C library's knowledge. Whoever writes the thread register (the FS
 * base) and the stack pointer goes on as that thread. Thread-local variables, exceptions,
 * pthread_exit, key destructors and the stack protector work as in a kernel thread, since all of
 * them live behind the FS base or on the stack.
 *
 * A context never comes to the end of the C library's thread function, whose last step is the exit
 * system call: that would end the only kernel thread. Its last key destructor calls
 * ft_rt_context_end instead. The C library frees it in ft_rt_context_join, or, if the program does
 * not join it, when the next one is made.
 *
 * Stacks come from a pool of equal slots. A slot that was given back is used again first, the last
 * one before the others, as the C library does with its own stacks: handles are then used again in
 * the same order. Since that costs a kernel thread, it is done a few times in a run; then slots in
 * reserve come first. All state here is ordinary memory and so rewound. */
#ifndef FT_RECORD_CONTEXTS_H
#define FT_RECORD_CONTEXTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum { FT_RT_CONTEXTS = 64 }; /* at once, besides the first thread */

typedef struct ft_rt_context {
    void *sp;      /* the callee-saved registers lie there; of the running context: not valid */
    uintptr_t fs;  /* the FS base, which is its pthread_t; 0: the context does not exist */
    uint64_t mask; /* signals that it blocks, as the kernel has them */
} ft_rt_context;

/* NULL, or the reason why threads cannot be contexts here. Changes nothing, and has to be called
 * before the process is copied by a bare clone: its number then differs from the C library's. */
const char *ft_rt_contexts_check(void);
/* For the process's only thread. NULL, or why not. */
const char *ft_rt_contexts_start(void);
/* Makes contexts in reserve: a thread in a run then costs no kernel thread. Fewer where the system
 * has no more. */
void ft_rt_contexts_reserve(uint32_t n);

/* As pthread_create: 0 or an error. The context stands before start(argument). `foreign`: its stack
 * is the C library's and new, since the pool's are too small: a rewind does not take that back. */
int ft_rt_context_make(ft_rt_context **made, pthread_t *handle, const pthread_attr_t *attributes,
                       void *(*start)(void *), void *argument, bool *foreign);
/* Saves the running context in `from` and goes on in `to`, with its signal mask; returns when a
 * switch comes back. */
void ft_rt_context_switch(ft_rt_context *from, const ft_rt_context *to);
/* The running context has set its signal mask. */
void ft_rt_context_masked(uint64_t mask);
/* The running context will not go on. `self` is what make returned. */
void ft_rt_context_ends(ft_rt_context *self);
/* As pthread_join and pthread_detach of a context that has ended (join) or not (detach). */
int ft_rt_context_join(pthread_t handle, void **result);
int ft_rt_context_detach(pthread_t handle);

/* A context that goes to `entry` (which never returns) on a stack of the caller's when it is
 * switched to; it has the calling thread's FS base. */
ft_rt_context ft_rt_context_on(void *stack, size_t size, void (*entry)(void));

/* The thread number that the C library has of the context, for which the kernel has no thread; 0:
 * the first thread, or none of ours. */
int ft_rt_context_number(uintptr_t fs);
bool ft_rt_context_numbered(int number); /* is it a context's? */

/* ---- for the snapshot: the pool, and the memory in use of its i-th slot (false: none) */
void ft_rt_contexts_pool(uintptr_t *from, uintptr_t *to);
bool ft_rt_contexts_used(uint32_t i, uintptr_t *from, uintptr_t *to);

/* The kernel must not write into a descriptor that is rewound, or whose kernel thread is gone:
 * ends the calling thread's registration for restartable sequences. */
void ft_rt_context_quiet(void);

#pragma GCC visibility pop

#endif
