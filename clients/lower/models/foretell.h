/* What models call: each function is the instruction of the language with that name
 * (common/program/instruction.h).
 *
 * Objects of models on which threads synchronise, and of which a native program has none, have
 * names that begin with __foretell_ too: replays leave their operations out
 * (common/program/witness/operations.c).
 *
 * Imports: nothing. */
#ifndef FT_MODELS_FORETELL_H
#define FT_MODELS_FORETELL_H

#include <stddef.h>

void *__foretell_alloc(size_t size);
void *__foretell_alloc_aligned(size_t align, size_t size); /* a model: library.c */
void __foretell_free(void *memory);
size_t __foretell_size(const void *memory);
void __foretell_copy(void *to, const void *from, size_t n);
void __foretell_move(void *to, const void *from, size_t n);
void __foretell_fill(void *to, unsigned char byte, size_t n);
void __foretell_output(int descriptor, const void *bytes, size_t n);
void __foretell_exit(int code) __attribute__((noreturn));

unsigned long __foretell_create(void *(*start)(void *), void *argument);
void *__foretell_join(unsigned long thread);
void __foretell_detach(unsigned long thread);
unsigned long __foretell_self(void);
void __foretell_end(void *result) __attribute__((noreturn));
void __foretell_yield(void);
void __foretell_assume(int condition);

/* Models (ends.c): what runs where a thread ends, where foretell_thread_ends is not 0; of it what
 * runs where the process ends. */
extern int foretell_thread_ends;
void __foretell_thread_end(void);
void __foretell_end_objects(void);

struct timespec;
/* A model (clock.c): where the result is ETIMEDOUT, the limit is over. Gives the result. */
int __foretell_pass(const struct timespec *until, int result);

void __foretell_mutex_init_normal(void *mutex);
void __foretell_mutex_init_recursive(void *mutex);
void __foretell_mutex_init_checking(void *mutex);
void __foretell_mutex_destroy(void *mutex);
int __foretell_lock(void *mutex);
int __foretell_try_lock(void *mutex);
int __foretell_timed_lock(void *mutex);
int __foretell_unlock(void *mutex);

void __foretell_rw_init(void *lock);
void __foretell_rw_destroy(void *lock);
int __foretell_read_lock(void *lock);
int __foretell_write_lock(void *lock);
int __foretell_try_read_lock(void *lock);
int __foretell_try_write_lock(void *lock);
int __foretell_rw_unlock(void *lock);

void __foretell_cond_init(void *condition);
void __foretell_cond_destroy(void *condition);
int __foretell_wait(void *condition, void *mutex);
int __foretell_timed_wait(void *condition, void *mutex);
void __foretell_signal(void *condition);
void __foretell_broadcast(void *condition);

void __foretell_sem_init(void *semaphore, size_t count);
void __foretell_sem_destroy(void *semaphore);
int __foretell_sem_wait(void *semaphore);
int __foretell_sem_try(void *semaphore);
int __foretell_sem_timed(void *semaphore);
int __foretell_sem_post(void *semaphore);
int __foretell_sem_count(void *semaphore);

void __foretell_barrier_init(void *barrier, size_t threads);
void __foretell_barrier_destroy(void *barrier);
int __foretell_barrier_wait(void *barrier);
void __foretell_once(void *flag, void (*function)(void));
void __foretell_atomic_begin(void);
void __foretell_atomic_end(void);

#endif
