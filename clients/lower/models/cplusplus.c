/* The run-time of C++ without exceptions and type information: memory, static objects, and
 * std::thread and std::condition_variable of libstdc++. Functions have the names that the compiler
 * gives to those of C++ (Itanium C++ ABI §5). */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

#include "foretell.h"

/* clang-format off */
#define NEW(name, parameters) void *name parameters { return __foretell_alloc(size); }
#define DELETE(name, parameters) void name parameters { __foretell_free(memory); }

/* ---- operator new and delete, of arrays and aligned ones too */
NEW(_Znwm, (size_t size))
NEW(_Znam, (size_t size))
void *_ZnwmSt11align_val_t(size_t size, size_t align) { return __foretell_alloc_aligned(align, size); }
void *_ZnamSt11align_val_t(size_t size, size_t align) { return __foretell_alloc_aligned(align, size); }
NEW(_ZnwmRKSt9nothrow_t, (size_t size, const void *tag))
NEW(_ZnamRKSt9nothrow_t, (size_t size, const void *tag))
DELETE(_ZdlPv, (void *memory))
DELETE(_ZdaPv, (void *memory))
DELETE(_ZdlPvm, (void *memory, size_t size))
DELETE(_ZdaPvm, (void *memory, size_t size))
DELETE(_ZdlPvSt11align_val_t, (void *memory, size_t align))
DELETE(_ZdaPvSt11align_val_t, (void *memory, size_t align))
DELETE(_ZdlPvmSt11align_val_t, (void *memory, size_t size, size_t align))
DELETE(_ZdaPvmSt11align_val_t, (void *memory, size_t size, size_t align))

void __cxa_pure_virtual(void) { __assert_fail("a pure virtual function is called", "", 0, ""); }

_Bool _ZSt18uncaught_exceptionv(void) { return 0; }
int _ZSt19uncaught_exceptionsv(void) { return 0; }

/* ---- static objects of functions: a guard's first byte is 1 when its object is made */

static pthread_mutex_t guards;
static __thread int mine; /* guards that the thread holds */

/* One thread makes objects at a time; it may make another one on the way. */
int __cxa_guard_acquire(unsigned char *guard)
{
    if (__atomic_load_n(guard, __ATOMIC_ACQUIRE)) return 0;
    if (!mine) __foretell_lock(&guards);
    mine++;
    if (!*guard) return 1;
    if (!--mine) __foretell_unlock(&guards);
    return 0;
}

void __cxa_guard_release(unsigned char *guard)
{
    __atomic_store_n(guard, 1, __ATOMIC_RELEASE);
    if (!--mine) __foretell_unlock(&guards);
}

/* ---- std::thread: its first member is the pthread_t. A state's virtual functions are two
 * destructors and _M_run. */

typedef struct state { void (**functions)(struct state *); } state;

void *_ZTVNSt6thread6_StateE[5];
void _ZNSt6thread6_StateD2Ev(state *s) { (void)s; }
void _ZNSt6thread6_StateD1Ev(state *s) { (void)s; }

static void *run(void *argument)
{
    state *s = argument;
    s->functions[2](s);
    s->functions[1](s);
    return NULL;
}

int pthread_create(unsigned long *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument);

/* The second argument is a std::unique_ptr of the state, which is taken from it. */
void _ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE(
    unsigned long *thread, state **given, void (*depend)(void))
{
    state *s = *given;
    (void)depend;
    *given = NULL;
    pthread_create(thread, NULL, run, s);
}

void _ZNSt6thread4joinEv(unsigned long *thread)
{
    __foretell_join(*thread);
    *thread = 0;
}

void _ZNSt6thread6detachEv(unsigned long *thread)
{
    __foretell_detach(*thread);
    *thread = 0;
}

unsigned _ZNSt6thread20hardware_concurrencyEv(void) { return 2; }

/* ---- std::condition_variable; the first member of a std::unique_lock is the mutex */

void _ZNSt18condition_variableC1Ev(void *c) { __foretell_cond_init(c); }
void _ZNSt18condition_variableD1Ev(void *c) { __foretell_cond_destroy(c); }
void _ZNSt18condition_variable10notify_oneEv(void *c) { __foretell_signal(c); }
void _ZNSt18condition_variable10notify_allEv(void *c) { __foretell_broadcast(c); }
void _ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(void *c, void **lock)
{
    __foretell_wait(c, *lock);
}

/* ---- std::shared_ptr counts without atomics where this says that no other thread was ever made */

char __libc_single_threaded;
_Bool _ZNSt19_Sp_make_shared_tag5_S_eqERKSt9type_info(const void *type) { return 0; } /* of an older ABI */

/* ---- std::call_once: the function to call, and what it is called with, are the thread's */

__thread void *_ZSt15__once_callable;
__thread void (*_ZSt11__once_call)(void);
void __once_proxy(void) { _ZSt11__once_call(); }

/* ---- std::atomic_load and its kin of a std::shared_ptr: the library hashes addresses to a few
 * mutexes; here all have one */

static pthread_mutex_t __foretell_pointers;
void _ZNSt10_Sp_lockerC1EPKv(void *locker, const void *p) { __foretell_lock(&__foretell_pointers); }
void _ZNSt10_Sp_lockerC1EPKvS1_(void *locker, const void *p, const void *q) { __foretell_lock(&__foretell_pointers); }
void _ZNSt10_Sp_lockerD1Ev(void *locker) { __foretell_unlock(&__foretell_pointers); }
