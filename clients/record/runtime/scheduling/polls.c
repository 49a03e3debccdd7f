/* Live-locks: every thread polls values that no thread changes.
 *
 * From time to time all records go the long way, through this file, until one of them changes
 * something that another thread could see. As long as none does, the memory that threads share
 * stays as it is, and what a thread does next depends on its own stack alone. A thread whose
 * records come again and again, each with the same content of its stack, is in a loop that it never
 * leaves. (Counters in registers are not seen; the wrapper compiles without optimisation.) If all
 * threads are, or wait for each other without a time limit, the run is ended. */
#include <string.h>
#include <time.h>

#include "libc/contract.h"
#include "libc/libc.h"
#include "log/hot.h"
#include "log/log.h"
#include "log/needs.h"
#include "raw/inputs.h"
#include "raw/raw.h"
#include "scheduling/baton.h"
#include "scheduling/kernel.h"
#include "scheduling/needs.h"
#include "state/thread.h"
#include "trace/event.h"

/* KEYS: different records of a loop, at most; TIMES: it goes round, at least. */
enum { KEYS = 128, TIMES = 4, MS = 1000000, OFTEN = 2000 /* ms */, FIRST = 1000, LONGEST = 8000 };
enum { NEAR = 8192, DEEP = 16384 }; /* bytes of a stack that are looked through, and hashed */

/* A thread's loop. */
typedef struct loop {
    uint32_t epoch; /* of the observation that the rest belongs to */
    uint32_t n;
    uint32_t stacks; /* records with a stack that came again */
    uint64_t keys[KEYS];
} loop;

static struct {
    loop *loops; /* [FT_RT_THREADS] */
    uint32_t epoch;
    bool fresh;         /* a record was new since the last look */
    bool tries, locks;  /* records of these kinds came */
    int64_t since;      /* the last look with a new one, in ms */
    int64_t next, step; /* when to observe again, and how long after that */
} polls;

static int64_t now(void)
{
    struct timespec t;
    FT_REAL(clock_gettime)(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000) + t.tv_nsec / MS;
}

static uint64_t hash(uint64_t h, const void *bytes, size_t n)
{
    const unsigned char *from = bytes;
    for (; n >= sizeof(uint64_t); n -= sizeof(uint64_t), from += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, from, sizeof word);
        h = (h ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        h ^= h >> 29;
    }
    for (; n; n--) h = (h ^ *from++) * UINT64_C(0x100000001B3);
    return h;
}

/* Something changed: there is no live-lock now. */
static void give_up(void)
{
    ft_rt_polling = false;
    polls.next = now() + polls.step;
    if (polls.step < LONGEST) polls.step *= 2;
}

/* ---- records */

/* What a hook that returns to `pc` is called with: the address behind the last place of the stack
 * where that stands; 0: nowhere. */
static uintptr_t stack_of(const ft_rt_thread *self, const void *pc)
{
    uintptr_t found = 0, at = (uintptr_t)__builtin_frame_address(0), end = self->stack_end;
    if (at >= end) return 0; /* another stack, of a signal handler or a coroutine */
    if (end - at > NEAR) end = at + NEAR;
    for (; at + sizeof(uintptr_t) <= end; at += sizeof(uintptr_t))
        if (*(const uintptr_t *)at == (uintptr_t)pc) found = at + sizeof(uintptr_t);
    return found;
}

static loop *loop_of(const ft_rt_thread *self)
{
    loop *l = &polls.loops[self->id];
    if (l->epoch != polls.epoch) *l = (loop){.epoch = polls.epoch};
    return l;
}

/* Counts a record with that content, by code at `pc` (NULL: without a look at the stack). */
static void count(const ft_rt_thread *self, uint64_t key, const void *pc)
{
    loop *l = loop_of(self);
    uintptr_t from = pc ? stack_of(self, pc) : 0, end = self->stack_end;
    if (from && end - from > DEEP) end = from + DEEP;
    if (from) key = hash(key, (const void *)from, end - from);
    for (uint32_t i = 0; i < l->n; i++) {
        if (l->keys[i] != key) continue;
        l->stacks += from != 0;
        return;
    }
    polls.fresh = true;
    if (l->n == KEYS)
        give_up();
    else
        l->keys[l->n++] = key;
}

static bool is_own(const ft_rt_thread *self, uintptr_t address)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    return address > here && address < self->stack_end;
}

void ft_rt_polls_meet_write(uintptr_t address)
{
    if (!is_own(ft_rt_self, address)) give_up();
}

/* An access, a call or a return; false: it changes something. */
static bool meet_event(const ft_rt_thread *self, const uint64_t *word, size_t n)
{
    uint64_t site = word[0] >> FT_RAW_SITE_SHIFT;
    uintptr_t address = word[0] << (64 - FT_RAW_SITE_SHIFT) >> (65 - FT_RAW_SITE_SHIFT);
    if (!site || site >= ft_rt_out.n_sites) return false;
    unsigned code = (unsigned)(ft_rt_out.keys[site] >> FT_RAW_CODE_SHIFT), form = code / 8;
    bool call = code >= FT_RAW_ENTER;
    bool reads = !call && (form == FT_RAW_FORM_READ || form == FT_RAW_FORM_ATOMIC_READ);
    bool same = !call && ft_raw_updates(form) && n == 3 && word[1] == word[2];
    if (!call && !reads && !same && !is_own(self, address)) return false;
    const void *pc = reads || same ? ft_rt_site_pc((uint32_t)site) : NULL;
    count(self, hash(1, word, n * sizeof *word), pc);
    return true;
}

static uint64_t get(const unsigned char **at)
{
    uint64_t value = 0;
    unsigned shift = 0;
    do value |= (uint64_t)(**at & 0x7f) << shift, shift += 7;
    while (*(*at)++ & 0x80);
    return value;
}

static bool meet_sync(uint64_t kind)
{
    bool tries = kind == FT_EVENT_TRY_FAILED || kind == FT_EVENT_TRY_FAILED_SHARED;
    bool locks =
        kind == FT_EVENT_ACQUIRE || kind == FT_EVENT_ACQUIRE_SHARED || kind == FT_EVENT_RELEASE;
    polls.tries |= tries;
    polls.locks |= locks;
    return tries || locks;
}

static bool meet_record(const ft_rt_thread *self, const unsigned char *at, const unsigned char *end)
{
    const unsigned char *from = at;
    ft_raw_operation operation = (ft_raw_operation)(*at++ >> 1);
    uint64_t first = get(&at), site = 0;
    if (operation == FT_RAW_SITE || operation == FT_RAW_EXPIRED) return true;
    uint64_t call = first & UINT8_MAX; /* above it stands an error number */
    bool sleeps =
        operation == FT_RAW_INPUT && call >= FT_INPUT_SLEEP && call <= FT_INPUT_CLOCK_NANOSLEEP;
    if (!sleeps && (operation != FT_RAW_SYNC || !meet_sync(first))) return false;
    for (int operands = sleeps ? 1 : 3; operands; operands--) site = get(&at);
    count(self, hash(2, from, (size_t)(end - from)),
          site && site < ft_rt_out.n_sites ? ft_rt_site_pc((uint32_t)site) : NULL);
    return true;
}

void ft_rt_polls_meet(const unsigned char *record, const unsigned char *end)
{
    const ft_rt_thread *self = ft_rt_self;
    FT_REQUIRE(self && ft_rt_polling);
    if (*record == FT_RAW_TURN << 1) record += FT_RAW_WORD;
    if (record >= end) return; /* the turn alone */
    bool event = *record & 1;
    bool fine = event ? meet_event(self, (const uint64_t *)(const void *)record,
                                   (size_t)(end - record) / sizeof(uint64_t))
                      : meet_record(self, record, end);
    if (!fine) give_up();
}

/* ---- looks */

bool ft_rt_is_closed(void)
{
    return ft_rt_logging && !ft_rt_header->replay && !ft_rt_header->feed && !ft_rt_timers &&
           !ft_rt_processes && !ft_rt_signals_handled() && !ft_rt_map_shares();
}

/* Does the thread go round in its loop, or wait for one that does? */
static bool is_held(const ft_rt_thread *t, bool *polling)
{
    const loop *l = &polls.loops[t->id];
    if (t->state == FT_RT_DONE) return true;
    if (t->state == FT_RT_BLOCKED) return !t->timed;
    ft_rt_call_kind call = FT_RT_CALL_SLEEP;
    if (t->state == FT_RT_OUTSIDE) call = t->tid ? ft_rt_kernel_call(t->tid) : FT_RT_CALL_OTHER;
    if (call == FT_RT_CALL_WAIT) return true;
    *polling = true;
    return call == FT_RT_CALL_SLEEP && l->epoch == polls.epoch && l->stacks >= TIMES;
}

/* Tries that fail while locks change hands may succeed by luck. */
static bool is_live_lock(void)
{
    bool polling = false;
    if (polls.tries && polls.locks) return false;
    for (uint32_t i = 0; i < ft_rt_baton.n_threads; i++)
        if (!is_held(&ft_rt_baton.threads[i], &polling)) return false;
    return polling;
}

static void observe(int64_t time)
{
    polls.epoch++;
    polls.since = time;
    polls.fresh = polls.tries = polls.locks = false;
    for (uint32_t i = 0; i < ft_rt_baton.n_threads; i++)
        if (polls.loops[i].epoch == polls.epoch) return; /* the counter went round */
    ft_rt_polling = true;
    ft_rt_hot = FT_RT_NO_THREAD;
}

void ft_rt_look_at_polls(void)
{
    int64_t time = now();
    FT_REQUIRE(ft_rt_baton.lock);
    if (!polls.next) {
        polls.next = time + FIRST;
        polls.step = FIRST / 2;
    }
    if (!ft_rt_polling && (time < polls.next || !ft_rt_is_closed())) return;
    if (!polls.loops) polls.loops = ft_rt_map(FT_RT_THREADS * sizeof *polls.loops);
    if (!ft_rt_polling) {
        observe(time);
        return;
    }
    if (!ft_rt_is_closed()) {
        give_up();
    } else if (polls.fresh) {
        polls.fresh = false;
        polls.since = time;
        for (uint32_t i = 0; i < ft_rt_baton.n_threads; i++) polls.loops[i].stacks = 0;
    } else if (time - polls.since >= OFTEN && is_live_lock()) {
        ft_rt_end_overdue(FT_RAW_END_LIVE_LOCK);
    }
}
