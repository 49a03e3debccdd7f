/* What runs where a thread ends: the destructors of its thread-local objects of C++, the newest
 * first, then those of its thread-specific values, by key. They run where the lowering found that
 * the program gives one (entry.c): threads of other programs end as they are. Where the process
 * ends, thread-local objects of the ending thread alone are destroyed, and no values. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <threads.h>

#include "foretell.h"

int foretell_thread_ends; /* set by the lowering */

/* ---- thread-local objects of C++ */

typedef struct object {
    void (*destroy)(void *);
    void *at;
    struct object *before;
} object;

static __thread object *objects;

int __cxa_thread_atexit(void (*destroy)(void *), void *at, void *library)
{
    (void)library;
    object *o = __foretell_alloc(sizeof *o);
    o->destroy = destroy;
    o->at = at;
    o->before = objects;
    objects = o;
    return 0;
}

/* A destructor may make further objects. */
void __foretell_end_objects(void)
{
    while (objects) {
        object o = *objects;
        __foretell_free(objects);
        objects = o.before;
        o.destroy(o.at);
    }
}

/* ---- keys. Their destructors are atomic without an order: threads that end look at those of keys
 * that other threads make or delete meanwhile. */

enum { KEYS = 64 };
typedef void destructor(void *);
static __thread const void *values[KEYS];
static destructor *__foretell_destructors[KEYS];
static unsigned keys;

int pthread_key_create(pthread_key_t *key, destructor *function)
{
    __foretell_atomic_begin();
    unsigned made = keys++;
    __foretell_atomic_end();
    if (made >= KEYS) return EAGAIN;
    __atomic_store_n(&__foretell_destructors[made], function, __ATOMIC_RELAXED);
    *key = made;
    return 0;
}

int pthread_key_delete(pthread_key_t key)
{
    if (key >= KEYS) return EINVAL;
    __atomic_store_n(&__foretell_destructors[key], NULL, __ATOMIC_RELAXED);
    return 0;
}

int pthread_setspecific(pthread_key_t key, const void *value)
{
    if (key >= KEYS) return EINVAL;
    values[key] = value;
    return 0;
}

void *pthread_getspecific(pthread_key_t key)
{
    return key < KEYS ? (void *)values[key] : NULL;
}

int tss_create(tss_t *key, tss_dtor_t function)
{
    return pthread_key_create(key, function) ? thrd_error : thrd_success;
}

void tss_delete(tss_t key)
{
    pthread_key_delete(key);
}

int tss_set(tss_t key, void *value)
{
    return pthread_setspecific(key, value) ? thrd_error : thrd_success;
}

void *tss_get(tss_t key)
{
    return pthread_getspecific(key);
}

static int destroy_values(void)
{
    int destroyed = 0;
    for (unsigned key = 0; key < KEYS; key++) {
        void *value = (void *)values[key];
        if (!value) continue;
        destructor *function = __atomic_load_n(&__foretell_destructors[key], __ATOMIC_RELAXED);
        if (!function) continue;
        values[key] = NULL;
        function(value);
        destroyed = 1;
    }
    return destroyed;
}

/* Destructors may set values again, which are destroyed likewise, for a number of rounds. */
void __foretell_thread_end(void)
{
    __foretell_end_objects();
    for (int i = 0; i < PTHREAD_DESTRUCTOR_ITERATIONS && destroy_values(); i++) continue;
}
