/* What is in the library of libstdc++ of std::future and its kin, and waits for a value of memory,
 * which these and C++20's atomics, latches and barriers share. Exceptions are failures where they
 * are thrown: what holds one (std::exception_ptr) only knows that there is one. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "foretell.h"

/* ---- waits for memory: a waiter looks and waits in one section of the lock, and who has changed
 * the memory notifies in one, so that no notification is lost. It may wake any waiter. */

typedef struct place {
    const void *at;   /* NULL: never used, nor is any behind it */
    unsigned waiting; /* threads; 0: it may become another place */
    pthread_cond_t changed;
} place;

enum { PLACES = 64 }; /* as many threads are explored at most */
static pthread_mutex_t __foretell_lock_of_places;
static place __foretell_places[PLACES];

static place *place_of(const void *at)
{
    for (place *p = __foretell_places; p < __foretell_places + PLACES && p->at; p++)
        if (p->at == at && p->waiting) return p;
    return NULL;
}

static place *make_place(const void *at)
{
    place *p = place_of(at);
    if (p) return p;
    p = __foretell_places;
    while (p->waiting) p++;
    p->at = at;
    return p;
}

static int wait_at(const void *at, bool limited)
{
    place *p = make_place(at);
    p->waiting++;
    int result = limited ? __foretell_timed_wait(&p->changed, &__foretell_lock_of_places)
                         : __foretell_wait(&p->changed, &__foretell_lock_of_places);
    p->waiting--;
    return result;
}

/* True: there was nothing to wait for. False: a notification came. */
bool __foretell_block(const void *at, bool (*done)(void *), void *what)
{
    __foretell_lock(&__foretell_lock_of_places);
    bool is_done = done(what);
    if (!is_done) (void)wait_at(at, false);
    __foretell_unlock(&__foretell_lock_of_places);
    return is_done;
}

void __foretell_notify(const void *at, bool all)
{
    __foretell_lock(&__foretell_lock_of_places);
    place *p = place_of(at);
    if (p && all) __foretell_broadcast(&p->changed);
    if (p && !all) __foretell_signal(&p->changed);
    __foretell_unlock(&__foretell_lock_of_places);
}

/* ---- the state of a future. False: the limit passed. */

static bool wait_for_change(const unsigned *at, unsigned value, bool limited, long s, long ns)
{
    int result = 0;
    __foretell_lock(&__foretell_lock_of_places);
    if (__atomic_load_n(at, __ATOMIC_RELAXED) == value) result = wait_at(at, limited);
    __foretell_unlock(&__foretell_lock_of_places);
    if (!limited) return true;
    struct timespec until = {s, ns};
    return __foretell_pass(&until, result) != ETIMEDOUT;
}

/* clang-format off */
bool _ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_untilEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE(
    void *self, unsigned *at, unsigned value, bool limited, long s, long ns) { return wait_for_change(at, value, limited, s, ns); }
bool _ZNSt28__atomic_futex_unsigned_base26_M_futex_wait_until_steadyEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE(
    void *self, unsigned *at, unsigned value, bool limited, long s, long ns) { return wait_for_change(at, value, limited, s, ns); }
void _ZNSt28__atomic_futex_unsigned_base19_M_futex_notify_allEPj(unsigned *at) { __foretell_notify(at, true); }
/* clang-format on */

/* ---- exceptions that are held: each is a block of memory of its own, which stays */

void __foretell_make_exception(void **held)
{
    *held = __foretell_alloc(1);
}

void _ZNSt15__exception_ptr13exception_ptr9_M_addrefEv(void **held)
{
    (void)held;
}

void _ZNSt15__exception_ptr13exception_ptr10_M_releaseEv(void **held)
{
    (void)held;
}

void _ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE(void **held)
{
    (void)held;
    __assert_fail("an exception that was held is thrown", "", 0, "");
}

void _ZSt17current_exceptionv(void **held) /* none is thrown: executions end there */
{
    *held = NULL;
}

/* ---- results and states of futures: the first members of _Result_base and _State_baseV2 */

typedef struct result {
    void *functions;
    void *error;
} result;

typedef struct state {
    void *functions;
    result *result;
    unsigned status; /* 1: the result is there; the highest bit: a thread may wait */
} state;

void _ZNSt13__future_base12_Result_baseC2Ev(result *r)
{
    r->error = NULL;
}

void _ZNSt13__future_base12_Result_baseD2Ev(result *r)
{
    (void)r;
}

/* Only set_value_at_thread_exit and its kin call it, which the lowering refuses (call.c); it is in
 * each task's table of virtual functions. */
void _ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv(void *made)
{
    (void)made;
    __builtin_unreachable();
}

/* A promise is given up. The header's function makes an exception with a text, for which the model
 * has no use; nobody else writes the result then. */
__attribute__((section(".foretell.instead"))) void
_ZNSt13__future_base13_State_baseV216_M_break_promiseESt10unique_ptrINS_12_Result_baseENS2_8_DeleterEE(
    state *s, result **given)
{
    result *r = *given;
    if (!r) return;
    __foretell_make_exception(&r->error);
    *given = s->result;
    s->result = r;
    __atomic_store_n(&s->status, 1, __ATOMIC_RELEASE);
    __foretell_notify(&s->status, true);
}
