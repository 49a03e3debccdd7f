/* Functions of libstdc++ that access the program's memory: a hook records the accesses before the
 * real function makes them. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include "accesses/accesses.h"
#include "inputs/channels.h"
#include "inputs/inputs.h"
#include "libc/libc.h"
#include "log/log.h"
#include "process/process.h"
#include "raw/inputs.h"
#include "raw/raw.h"
#include "replay/replay.h"
#include "scheduling/needs.h"
#include "scheduling/scheduling.h"
#include "state/thread.h"
#include "trace/event.h"

#define CODE __builtin_return_address(0)
/* Looked up where it is first called: C programs have none of them. */
#define REAL(type, name)                                                                           \
    ({                                                                                             \
        static void *real;                                                                         \
        if (!real) real = ft_rt_real(name);                                                        \
        (type) real;                                                                               \
    })

#define OSTREAM_INSERT                                                                             \
    "_ZSt16__ostream_insertIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_PKS3_l"
#define HASH_BYTES  "_ZSt11_Hash_bytesPKvmm"
#define NEXT_BUCKET "_ZNKSt8__detail20_Prime_rehash_policy11_M_next_bktEm"
#define NEED_REHASH "_ZNKSt8__detail20_Prime_rehash_policy14_M_need_rehashEmmm"

/* When unordered containers grow (bits/hashtable_policy.h). */
typedef struct policy {
    float load;
    size_t next_resize;
} policy;
typedef struct growth {
    bool wanted;
    size_t buckets;
} growth;

void *ft_ostream_insert(void *stream, const char *text, ptrdiff_t n) __asm__(OSTREAM_INSERT);
size_t ft_hash_bytes(const void *memory, size_t n, size_t seed) __asm__(HASH_BYTES);
size_t ft_next_bucket(policy *p, size_t n) __asm__(NEXT_BUCKET);
growth ft_need_rehash(policy *p, size_t buckets, size_t elements, size_t more) __asm__(NEED_REHASH);

/* ---- futures: the program's atomics around these calls order the threads (process/syscall.c) */

#define LIMIT        "NSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE"
#define FUTURE_UNTIL "_ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_untilEPjjb" LIMIT
#define FUTURE_UNTIL_STEADY                                                                        \
    "_ZNSt28__atomic_futex_unsigned_base26_M_futex_wait_until_steadyEPjjb" LIMIT

typedef bool future_wait(void *state, unsigned *at, unsigned value, bool limited, int64_t seconds,
                         int64_t ns);
future_wait ft_future_until __asm__(FUTURE_UNTIL);
future_wait ft_future_until_steady __asm__(FUTURE_UNTIL_STEADY);

/* False: its limit has passed. */
static bool await_future(clockid_t clock, future_wait *real, void *state, unsigned *at,
                         unsigned value, const struct timespec *limit)
{
    ft_rt_thread *self = ft_rt_enter();
    if (self && (ft_rt_replaying || ft_rt_feed_records())) {
        if (!ft_rt_replaying) ft_rt_yield(self);
        ft_rt_leave(self);
        return true;
    }
    struct timespec deadline = limit ? ft_rt_deadline(clock, limit) : (struct timespec){0};
    if (self && limit && ft_rt_time_passes(self, ft_rt_time_left(&deadline))) {
        ft_rt_leave(self);
        return false;
    }
    if (self) ft_rt_outside(self);
    struct timespec end = limit ? ft_rt_machine_time(clock, limit) : (struct timespec){0};
    return real(state, at, value, limit != NULL, end.tv_sec, end.tv_nsec);
}

bool ft_future_until(void *state, unsigned *at, unsigned value, bool limited, int64_t seconds,
                     int64_t ns)
{
    struct timespec limit = {.tv_sec = seconds, .tv_nsec = ns};
    return await_future(CLOCK_REALTIME, REAL(future_wait *, FUTURE_UNTIL), state, at, value,
                        limited ? &limit : NULL);
}

bool ft_future_until_steady(void *state, unsigned *at, unsigned value, bool limited,
                            int64_t seconds, int64_t ns)
{
    struct timespec limit = {.tv_sec = seconds, .tv_nsec = ns};
    return await_future(CLOCK_MONOTONIC, REAL(future_wait *, FUTURE_UNTIL_STEADY), state, at, value,
                        limited ? &limit : NULL);
}

void *ft_ostream_insert(void *stream, const char *text, ptrdiff_t n)
{
    if (n > 0) ft_rt_read_range(text, (size_t)n, CODE);
    return REAL(void *(*)(void *, const char *, ptrdiff_t), OSTREAM_INSERT)(stream, text, n);
}

size_t ft_hash_bytes(const void *memory, size_t n, size_t seed)
{
    if (n) ft_rt_read_range(memory, n, CODE);
    return REAL(size_t(*)(const void *, size_t, size_t), HASH_BYTES)(memory, n, seed);
}

size_t ft_next_bucket(policy *p, size_t n)
{
    if (n) { /* else it keeps its content */
        ft_rt_read_range(&p->load, sizeof p->load, CODE);
        ft_rt_write_range(&p->next_resize, sizeof p->next_resize, CODE);
    }
    return REAL(size_t(*)(policy *, size_t), NEXT_BUCKET)(p, n);
}

growth ft_need_rehash(policy *p, size_t buckets, size_t elements, size_t more)
{
    ft_rt_read_range(&p->next_resize, sizeof p->next_resize, CODE);
    if (elements + more > p->next_resize) {
        ft_rt_read_range(&p->load, sizeof p->load, CODE);
        ft_rt_write_range(&p->next_resize, sizeof p->next_resize, CODE);
    }
    return REAL(growth(*)(policy *, size_t, size_t, size_t), NEED_REHASH)(p, buckets, elements,
                                                                          more);
}

/* ---- streams. Threads take from a stream in the order of the run, as from C's (files/stdio.c);
 * content that is put into one comes before it is taken. Each such call opens a sentry. Two streams
 * may share a buffer (bits/basic_ios.h). */

enum { BASE_OFFSET = -3, BUFFER = 232 };

static void *buffer_of(void *stream)
{
    const ptrdiff_t *table = *(ptrdiff_t **)stream;
    return *(void **)((char *)stream + table[BASE_OFFSET] + BUFFER);
}

/* The turn goes on: no other thread runs before the call is done. */
static void pass_buffer(void *buffer, uint32_t flags, const void *pc)
{
    ft_rt_thread *self = buffer ? ft_rt_enter() : NULL;
    if (!self) return;
    ft_rt_channel(FT_RAW_CHANNEL_TAKEN | (uintptr_t)buffer, flags, pc);
    self->inside = false;
}

enum {
    TAKES = FT_RAW_CHANNEL_IN | FT_RAW_CHANNEL_OUT,
    PUTS = FT_RAW_CHANNEL_IN | FT_RAW_CHANNEL_OUT | FT_RAW_CHANNEL_PUT
};

/* Up to three arguments, none of them floating point, and a result of that kind: as they come. */
typedef void *any_function(void *, void *, void *);

#define PASSES(name, symbol, pass, flags)                                                          \
    void *name(void *a, void *b, void *c) __asm__(symbol);                                         \
    void *name(void *a, void *b, void *c)                                                          \
    {                                                                                              \
        pass((flags), CODE);                                                                       \
        return REAL(any_function *, symbol)(a, b, c);                                              \
    }
#define OF_SENTRY(flags, pc) pass_buffer(buffer_of(b), flags, pc)
PASSES(ft_in_sentry, "_ZNSi6sentryC1ERSib", OF_SENTRY, TAKES)
PASSES(ft_wide_in_sentry, "_ZNSt13basic_istreamIwSt11char_traitsIwEE6sentryC1ERS2_b", OF_SENTRY,
       TAKES)
PASSES(ft_out_sentry, "_ZNSo6sentryC1ERSo", OF_SENTRY, PUTS)
PASSES(ft_wide_out_sentry, "_ZNSt13basic_ostreamIwSt11char_traitsIwEE6sentryC1ERS2_", OF_SENTRY,
       PUTS)

/* Where these are no inline code: the buffer's own calls, and the whole text of a stream, which is
 * returned where the first argument says. */
#define OF_BUFFER(flags, pc) pass_buffer(a, flags, pc)
#define BUFFER_CALL(name)    "_ZNSt15basic_streambufIcSt11char_traitsIcEE" name
PASSES(ft_buffer_get, BUFFER_CALL("5sgetcEv"), OF_BUFFER, TAKES)
PASSES(ft_buffer_bump, BUFFER_CALL("6sbumpcEv"), OF_BUFFER, TAKES)
PASSES(ft_buffer_next, BUFFER_CALL("6snextcEv"), OF_BUFFER, TAKES)
PASSES(ft_buffer_gets, BUFFER_CALL("5sgetnEPcl"), OF_BUFFER, TAKES)
PASSES(ft_buffer_unget, BUFFER_CALL("7sungetcEv"), OF_BUFFER, TAKES)
PASSES(ft_buffer_left, BUFFER_CALL("8in_availEv"), OF_BUFFER, TAKES)
PASSES(ft_buffer_put, BUFFER_CALL("5sputcEc"), OF_BUFFER, PUTS)
PASSES(ft_buffer_puts, BUFFER_CALL("5sputnEPKcl"), OF_BUFFER, PUTS)

#define TEXT_CALL(class)          "_ZNKSt7__cxx11" class "IcSt11char_traitsIcESaIcEE3strEv"
#define OF_TEXT(flags, pc)        pass_buffer(buffer_of(b), flags, pc)
#define OF_TEXT_BUFFER(flags, pc) pass_buffer(b, flags, pc)
PASSES(ft_text, TEXT_CALL("15basic_stringbuf"), OF_TEXT_BUFFER, TAKES)
PASSES(ft_text_both, TEXT_CALL("18basic_stringstream"), OF_TEXT, TAKES)
PASSES(ft_text_in, TEXT_CALL("19basic_istringstream"), OF_TEXT, TAKES)
PASSES(ft_text_out, TEXT_CALL("19basic_ostringstream"), OF_TEXT, TAKES)

#define SET_CALL(class)                                                                            \
    "_ZNSt7__cxx11" class "IcSt11char_traitsIcESaIcEE3strERKNS_12basic_stringIcS2_S3_EE"
#define OF_SET(flags, pc) pass_buffer(buffer_of(a), flags, pc)
PASSES(ft_set_text, SET_CALL("15basic_stringbuf"), OF_BUFFER, PUTS)
PASSES(ft_set_text_both, SET_CALL("18basic_stringstream"), OF_SET, PUTS)
PASSES(ft_set_text_in, SET_CALL("19basic_istringstream"), OF_SET, PUTS)
PASSES(ft_set_text_out, SET_CALL("19basic_ostringstream"), OF_SET, PUTS)

/* ---- what is taken from a stream into the program's strings and buffers. Told behind the call,
 * which others may have run in. */

typedef struct string { /* bits/basic_string.h */
    char *at;
    size_t n;
    union {
        char small[16];
        size_t room;
    } rest;
} string;

static void took_text(string *to, const void *pc)
{
    ft_rt_settle(3);
    ft_rt_write_range(to, offsetof(string, rest), pc);
    if (to->at != to->rest.small) ft_rt_write_range(&to->rest.room, sizeof to->rest.room, pc);
    ft_rt_write_range(to->at, to->n + 1, pc);
}

static void took_bytes(char *to, size_t n, const void *pc)
{
    if (n) ft_rt_write_range(to, n, pc);
}

/* How much the last call has taken stands behind the stream's table (std::istream). */
static size_t taken(void *stream)
{
    return ((size_t *)stream)[1];
}

#define TAKES_TEXT(name, symbol, took)                                                             \
    void *name(void *stream, void *to, void *c, void *d) __asm__(symbol) __attribute__((weak));    \
    void *name(void *stream, void *to, void *c, void *d)                                           \
    {                                                                                              \
        void *got = REAL(any_four *, symbol)(stream, to, c, d);                                    \
        took;                                                                                      \
        return got;                                                                                \
    }
typedef void *any_four(void *, void *, void *, void *);
#define OF_STREAM_TO_STRING                                                                        \
    "IcSt11char_traitsIcESaIcEERSt13basic_istreamIT_T0_ES7_RNSt7__cxx1112basic_stringIS4_S5_T1_EE"
TAKES_TEXT(ft_word, "_ZStrs" OF_STREAM_TO_STRING, took_text(to, CODE))
TAKES_TEXT(ft_line, "_ZSt7getline" OF_STREAM_TO_STRING, took_text(to, CODE))
TAKES_TEXT(ft_line_to, "_ZSt7getline" OF_STREAM_TO_STRING "S4_", took_text(to, CODE))
TAKES_TEXT(ft_characters, "_ZSt17__istream_extractRSiPcl", took_bytes(to, strlen(to) + 1, CODE))
TAKES_TEXT(ft_read, "_ZNSi4readEPcl", took_bytes(to, taken(stream), CODE))
TAKES_TEXT(ft_read_line, "_ZNSi7getlineEPcl", took_bytes(to, (size_t)c ? strlen(to) + 1 : 0, CODE))
TAKES_TEXT(ft_read_line_to, "_ZNSi7getlineEPclc",
           took_bytes(to, (size_t)c ? strlen(to) + 1 : 0, CODE))

/* ---- std::random_device: the library asks the processor itself, or the system by calls that are
 * not the program's. Weak as below. */

#define DRAW "_ZNSt13random_device9_M_getvalEv"

unsigned ft_draw(void *device) __asm__(DRAW) __attribute__((weak));
unsigned ft_draw(void *device)
{
    return FT_RT_INPUT(FT_INPUT_RANDOM_DEVICE, FT_RT_STAYS,
                       REAL(unsigned (*)(void *), DRAW)(device), NULL, 0);
}

/* ---- threads. A std::thread is its handle: the library clears it behind the join. It is stored
 * here instead, where no other thread goes on between the store and its record; what is no thread
 * to join is left to the library, which throws. Weak as below. */

#define JOIN   "_ZNSt6thread4joinEv"
#define DETACH "_ZNSt6thread6detachEv"

static int join_from(pthread_t handle, const void *pc)
{
    return ft_rt_join(handle, NULL, pc);
}

static int detach_from(pthread_t handle, const void *pc)
{
    (void)pc;
    return pthread_detach(handle);
}

#define LETS_GO(name, symbol, how)                                                                 \
    void name(pthread_t *thread) __asm__(symbol) __attribute__((weak));                            \
    void name(pthread_t *thread)                                                                   \
    {                                                                                              \
        ft_rt_read_range(thread, sizeof *thread, CODE);                                            \
        if (!*thread || how(*thread, CODE)) {                                                      \
            REAL(void (*)(pthread_t *), symbol)(thread);                                           \
            return;                                                                                \
        }                                                                                          \
        ft_rt_write_range(thread, sizeof *thread, CODE);                                           \
        *thread = 0;                                                                               \
    }
LETS_GO(ft_thread_join, JOIN, join_from)
LETS_GO(ft_thread_detach, DETACH, detach_from)

/* ---- what is ready when its thread ends (future): the library stores that, when all that is the
 * thread's own is gone. Unless it is seen, nothing orders who gets the value behind who set it. The
 * layouts are those of std::__at_thread_exit_elt, behind it a std::weak_ptr. Weak as above. */

#define READY_AT_END "_ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv"

typedef struct at_end {
    struct at_end *next;
    void (*call)(void *at_end);
    char *state;
    struct owners {
        const void *table;
        int uses, looks;
    } * owners;
} at_end;

enum { STATUS = 16, READY = 1 }; /* in the state; bits/atomic_futex.h */

static void (*make_ready)(void *);
static __thread const void *ready_from; /* where the thread said so, the last time */

/* No other thread has the future any more: the step is on memory of the thread alone. */
static void say_ready(const at_end *promise)
{
    bool wanted = promise->owners && promise->owners->uses > 0;
    const char *at = wanted ? promise->state + STATUS : (const char *)&promise->owners;
    int32_t value = READY;
    if (!wanted) memcpy(&value, at, sizeof value);
    ft_rt_log_access(FT_RAW_FORM_ATOMIC_WRITE, ready_from, (uintptr_t)at, sizeof value, value, 0);
}

/* The turn goes on: the library stores it before others come. */
static void become_ready(void *promise)
{
    const at_end *its = promise;
    ft_rt_about_access(FT_EVENT_WRITE, ready_from, its->state + STATUS, sizeof(int32_t));
    ft_rt_thread *self = ft_rt_enter();
    if (self) {
        say_ready(its);
        self->inside = false;
    }
    make_ready(promise);
}

void ft_ready_at_end(at_end *promise) __asm__(READY_AT_END) __attribute__((weak));
void ft_ready_at_end(at_end *promise)
{
    REAL(void (*)(at_end *), READY_AT_END)(promise);
    ready_from = CODE;
    make_ready = promise->call;
    promise->call = become_ready;
}

/* ---- exceptions. How many refer to one is counted in the library: who lets go of it, the last of
 * whom frees it, comes after those who did before. Weak: with -static-libstdc++ the program has the
 * library's own. */

#define CURRENT "_ZSt17current_exceptionv"
#define RELEASE "_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv"

#define OF_EXCEPTION(flags, pc) pass_buffer(*(void **)a, flags, pc)
#pragma weak ft_release_exception
PASSES(ft_release_exception, RELEASE, OF_EXCEPTION, TAKES)

/* So is what an error says: all its copies have one text, in front of which its length stands
 * (bits/cow_string.h; an empty one is nobody's), and those of a file system's error their paths. */

enum { TEXT = 8, TEXT_LENGTH = -3, PATHS = 40 };

static void *text_of(void *error)
{
    size_t *text = *(size_t **)((char *)error + TEXT);
    return text[TEXT_LENGTH] ? text : NULL;
}

#define OF_ERROR(flags, pc) pass_buffer(text_of(a), flags, pc)
#define OF_PATHS(flags, pc) pass_buffer(*(void **)((char *)a + PATHS), flags, pc)
#define LETS_GO_OF(name, symbol, of)                                                               \
    void *name(void *, void *, void *) __attribute__((weak));                                      \
    PASSES(name, symbol, of, TAKES)
LETS_GO_OF(ft_runtime_error, "_ZNSt13runtime_errorD1Ev", OF_ERROR)
LETS_GO_OF(ft_runtime_error_base, "_ZNSt13runtime_errorD2Ev", OF_ERROR)
LETS_GO_OF(ft_runtime_error_set, "_ZNSt13runtime_erroraSERKS_", OF_ERROR)
LETS_GO_OF(ft_logic_error, "_ZNSt11logic_errorD1Ev", OF_ERROR)
LETS_GO_OF(ft_logic_error_base, "_ZNSt11logic_errorD2Ev", OF_ERROR)
LETS_GO_OF(ft_logic_error_set, "_ZNSt11logic_erroraSERKS_", OF_ERROR)
#define FILE_ERROR(end) "_ZNSt10filesystem7__cxx1116filesystem_errorD" end "Ev"
LETS_GO_OF(ft_file_error, FILE_ERROR("1"), OF_PATHS)
LETS_GO_OF(ft_file_error_base, FILE_ERROR("2"), OF_PATHS)

/* The exception that is handled; another library than libstdc++ keeps it for itself. */
static void pass_caught(const void *pc)
{
    static void (*current)(void **), (*release)(void **);
    void *caught = NULL;
    if (!current) release = (void (*)(void **))dlsym(RTLD_NEXT, RELEASE);
    if (!current) current = (void (*)(void **))dlsym(RTLD_NEXT, CURRENT);
    if (!current || !release) return;
    current(&caught);
    if (!caught) return;
    pass_buffer(caught, TAKES, pc);
    release(&caught);
}

void __cxa_end_catch(void) __attribute__((weak));
void __cxa_end_catch(void)
{
    pass_caught(CODE);
    REAL(void (*)(void), "__cxa_end_catch")();
}
