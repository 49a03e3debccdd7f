/* What a generated program (generate.py) says of itself while it is recorded: its own account of
 * every access and every synchronisation, in the order of the run, to be held against the
 * recording.
 *
 * One thread runs at a time under the recorder, and in these recordings another one goes on only
 * where the program says so (turn_over) or where a thread waits. So what is said right behind an
 * operation, or right before one that waits, has its place in the order. */
#ifndef ACCOUNT_H
#define ACCOUNT_H

#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <foretell/annotate.h>

#define TOLD_TABLE(X)                                                                              \
    X(GLOBAL)                                                                                      \
    X(STACK)                                                                                       \
    X(ALLOC)                                                                                       \
    X(FREE)                                                                                        \
    X(READ)                                                                                        \
    X(WRITE)                                                                                       \
    X(ATOMIC_READ)                                                                                 \
    X(ATOMIC_WRITE)                                                                                \
    X(UPDATE)                                                                                      \
    X(BEGIN)                                                                                       \
    X(END)                                                                                         \
    X(FORK)                                                                                        \
    X(JOIN)                                                                                        \
    X(ACQUIRE)                                                                                     \
    X(RELEASE)                                                                                     \
    X(TRY)                                                                                         \
    X(TRY_FAILED)                                                                                  \
    X(ACQUIRE_SHARED)                                                                              \
    X(WAIT)                                                                                        \
    X(POST)                                                                                        \
    X(COND_WAIT)                                                                                   \
    X(COND_WAKE)                                                                                   \
    X(SIGNAL)                                                                                      \
    X(BROADCAST)                                                                                   \
    X(ARRIVE)                                                                                      \
    X(LEAVE)                                                                                       \
    X(ONCE_BEGIN)                                                                                  \
    X(ONCE_END)                                                                                    \
    X(ONCE_PASS)                                                                                   \
    X(TX_BEGIN)                                                                                    \
    X(TX_END)                                                                                      \
    X(COMPLETE)
enum told {
#define TOLD(name) TOLD_##name,
    TOLD_TABLE(TOLD)
#undef TOLD
};

/* A cell of memory and its parts. */
union cell {
    uint64_t w[1];
    uint32_t h[2];
    uint16_t q[4];
    uint8_t b[8];
};
struct two {
    uint64_t part[2];
};
struct three {
    uint64_t part[3];
};
typedef uint32_t __attribute__((aligned(1), may_alias)) odd32;
typedef uint64_t __attribute__((aligned(1), may_alias)) odd64;

/* Appends to the account: an object or memory with its content now, `other` as the kind has it. */
void told(enum told kind, int line, const void *address, uint64_t size, int64_t other);
void account_starts(void);                     /* in main, first */
void account_ends(void);                       /* in main, last */
void begins(int thread, int line);             /* in a thread, first */
void turn_over(void);                          /* perhaps another thread goes on */
int known(const void *address, uint64_t size); /* has somebody written all of it? */

/* Hidden from the recorder: which memory, which threads there are. */
void put(int slot, void *memory, uint64_t size, int stack, int line);
union cell *got(int slot);                     /* NULL: none now */
void *take(int slot);                          /* none from now on */
void moves(int slot, uint64_t size, int line); /* before it is resized */
void resized(int slot, void *memory, uint64_t size, int line);
pthread_t *handle(int thread);
void created(int thread);
int joinable(int thread); /* created and not joined */
pthread_t joined(int thread);

#define READ(x)                                                                                    \
    do {                                                                                           \
        __typeof__(x) *p_ = &(x);                                                                  \
        if (known(p_, sizeof *p_)) {                                                               \
            uint64_t v_ = (uint64_t)*p_;                                                           \
            (void)v_;                                                                              \
            told(TOLD_READ, __LINE__, p_, sizeof *p_, 0);                                          \
        }                                                                                          \
    } while (0)
#define WRITE(x, value)                                                                            \
    do {                                                                                           \
        __typeof__(x) *p_ = &(x);                                                                  \
        *p_ = (__typeof__(x))(value);                                                              \
        told(TOLD_WRITE, __LINE__, p_, sizeof *p_, 0);                                             \
    } while (0)
#define ADD(x, value)                                                                              \
    do {                                                                                           \
        __typeof__(x) *p_ = &(x);                                                                  \
        if (known(p_, sizeof *p_)) {                                                               \
            uint64_t v_ = (uint64_t)*p_;                                                           \
            told(TOLD_READ, __LINE__, p_, sizeof *p_, 0);                                          \
            *p_ = (__typeof__(x))(v_ + (value));                                                   \
            told(TOLD_WRITE, __LINE__, p_, sizeof *p_, 0);                                         \
        }                                                                                          \
    } while (0)
#define ATOMIC_READ(x)                                                                             \
    do {                                                                                           \
        __typeof__(x) *p_ = &(x);                                                                  \
        if (known(p_, sizeof *p_)) {                                                               \
            (void)__atomic_load_n(p_, __ATOMIC_SEQ_CST);                                           \
            told(TOLD_ATOMIC_READ, __LINE__, p_, sizeof *p_, 0);                                   \
        }                                                                                          \
    } while (0)
#define ATOMIC_WRITE(x, value)                                                                     \
    do {                                                                                           \
        __typeof__(x) *p_ = &(x);                                                                  \
        __atomic_store_n(p_, (__typeof__(x))(value), __ATOMIC_SEQ_CST);                            \
        told(TOLD_ATOMIC_WRITE, __LINE__, p_, sizeof *p_, 0);                                      \
    } while (0)
#define UPDATE(x, how, value)                                                                      \
    do {                                                                                           \
        __typeof__(x) *p_ = &(x);                                                                  \
        if (known(p_, sizeof *p_)) {                                                               \
            uint64_t v_ = (uint64_t)__atomic_##how(p_, (__typeof__(x))(value), __ATOMIC_SEQ_CST);  \
            told(TOLD_UPDATE, __LINE__, p_, sizeof *p_, (int64_t)v_);                              \
        }                                                                                          \
    } while (0)
/* The value expected is 0: it may well be another. */
#define EXCHANGE_ZERO(x, value)                                                                    \
    do {                                                                                           \
        __typeof__(x) *p_ = &(x), e_ = 0;                                                          \
        if (known(p_, sizeof *p_)) {                                                               \
            int done_ = __atomic_compare_exchange_n(p_, &e_, (__typeof__(x))(value), 0,            \
                                                    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);           \
            told(done_ ? TOLD_UPDATE : TOLD_ATOMIC_READ, __LINE__, p_, sizeof *p_, 0);             \
        }                                                                                          \
    } while (0)
/* A structure, or a range by memcpy or memmove; they do not overlap, unless moved. Parts that
 * nobody has written may be in between: a structure's filling. */
#define COPY(type, to, from)                                                                       \
    do {                                                                                           \
        void *to_ = (to), *from_ = (from);                                                         \
        *(type *)to_ = *(type *)from_;                                                             \
        told(TOLD_READ, __LINE__, from_, sizeof(type), 0);                                         \
        told(TOLD_WRITE, __LINE__, to_, sizeof(type), 0);                                          \
    } while (0)
#define RANGE(function, to, from, size)                                                            \
    do {                                                                                           \
        void *to_ = (to), *from_ = (from);                                                         \
        told(TOLD_READ, __LINE__, from_, size, 0);                                                 \
        function(to_, from_, size);                                                                \
        told(TOLD_WRITE, __LINE__, to_, size, 0);                                                  \
    } while (0)
#define FILL(to, byte, size)                                                                       \
    do {                                                                                           \
        void *to_ = (to);                                                                          \
        memset(to_, byte, size);                                                                   \
        told(TOLD_WRITE, __LINE__, to_, size, 0);                                                  \
    } while (0)

#define ON_STACK(slot, array) put(slot, array, sizeof(array), 1, __LINE__)
#define MALLOC(slot, size)                                                                         \
    do {                                                                                           \
        void *p_ = malloc(size);                                                                   \
        put(slot, p_, size, 0, __LINE__);                                                          \
    } while (0)
#define CALLOC(slot, size)                                                                         \
    do {                                                                                           \
        void *p_ = calloc(1, size);                                                                \
        put(slot, p_, size, 2, __LINE__);                                                          \
    } while (0)
#define REALLOC(slot, size)                                                                        \
    do {                                                                                           \
        void *p_ = got(slot);                                                                      \
        if (p_) {                                                                                  \
            moves(slot, size, __LINE__);                                                           \
            resized(slot, realloc(p_, size), size, __LINE__);                                      \
        }                                                                                          \
    } while (0)
#define FREE(slot)                                                                                 \
    do {                                                                                           \
        void *p_ = take(slot);                                                                     \
        if (p_) {                                                                                  \
            free(p_);                                                                              \
            told(TOLD_FREE, __LINE__, p_, 0, 0);                                                   \
        }                                                                                          \
    } while (0)

#define FORK(thread, function)                                                                     \
    do {                                                                                           \
        told(TOLD_FORK, __LINE__, 0, 0, thread);                                                   \
        pthread_create(handle(thread), 0, function, 0);                                            \
        created(thread);                                                                           \
    } while (0)
#define JOIN(thread)                                                                               \
    do {                                                                                           \
        if (joinable(thread)) {                                                                    \
            pthread_join(joined(thread), 0);                                                       \
            told(TOLD_JOIN, __LINE__, 0, 0, thread);                                               \
        }                                                                                          \
    } while (0)
#define SYNC(call, kind, object)                                                                   \
    do {                                                                                           \
        call(&(object));                                                                           \
        told(TOLD_##kind, __LINE__, &(object), 0, 0);                                              \
    } while (0)
#define TRY(object)                                                                                \
    (pthread_mutex_trylock(&(object)) ? (told(TOLD_TRY_FAILED, __LINE__, &(object), 0, 0), 0)      \
                                      : (told(TOLD_TRY, __LINE__, &(object), 0, 0), 1))
#define AWAIT(condition, mutex, flag)                                                              \
    do {                                                                                           \
        SYNC(pthread_mutex_lock, ACQUIRE, mutex);                                                  \
        for (;;) {                                                                                 \
            uint64_t v_ = (flag);                                                                  \
            told(TOLD_READ, __LINE__, &(flag), sizeof(flag), 0);                                   \
            if (v_) break;                                                                         \
            told(TOLD_COND_WAIT, __LINE__, &(condition), 0, 0);                                    \
            told(TOLD_RELEASE, __LINE__, &(mutex), 0, 1);                                          \
            pthread_cond_wait(&(condition), &(mutex));                                             \
            told(TOLD_COND_WAKE, __LINE__, &(condition), 0, 0);                                    \
            told(TOLD_ACQUIRE, __LINE__, &(mutex), 0, 1);                                          \
        }                                                                                          \
        SYNC(pthread_mutex_unlock, RELEASE, mutex);                                                \
    } while (0)
#define NOTIFY(how, kind, condition, mutex, flag)                                                  \
    do {                                                                                           \
        SYNC(pthread_mutex_lock, ACQUIRE, mutex);                                                  \
        WRITE(flag, 1);                                                                            \
        SYNC(how, kind, condition);                                                                \
        SYNC(pthread_mutex_unlock, RELEASE, mutex);                                                \
    } while (0)
#define MEET(barrier)                                                                              \
    do {                                                                                           \
        told(TOLD_ARRIVE, __LINE__, &(barrier), 0, 0);                                             \
        pthread_barrier_wait(&(barrier));                                                          \
        told(TOLD_LEAVE, __LINE__, &(barrier), 0, 0);                                              \
    } while (0)
/* The initialiser says that it begins and ends, at the line of the call. */
void once_called(int line);
int once_runs(void); /* called by the initialiser: the line */
int once_ran(void);
#define ONCE(object, function)                                                                     \
    do {                                                                                           \
        once_called(__LINE__);                                                                     \
        pthread_once(&(object), function);                                                         \
        if (!once_ran()) told(TOLD_ONCE_PASS, __LINE__, &(object), 0, 0);                          \
    } while (0)
#define MARK(call, kind)                                                                           \
    do {                                                                                           \
        call();                                                                                    \
        told(TOLD_##kind, __LINE__, 0, 0, 0);                                                      \
    } while (0)

#endif
