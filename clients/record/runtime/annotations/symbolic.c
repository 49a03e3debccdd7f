/* Symbolic notes of programs that are built with --symbolic (symbolic/pass.h): besides the hooks of
 * accesses, such a program calls these functions for each operation on values that it has read.
 *
 * Each thread writes its notes into a buffer of its own, without the baton. The buffer goes into
 * the log at the thread's next hook, before the record of that hook. A value is known by the number
 * of its node (raw/terms.h); 0: the value does not depend on anything that was read. */
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "accesses/accesses.h"
#include "annotations/annotations.h"
#include "libc/contract.h"
#include "libc/libc.h"
#include "log/log.h"
#include "raw/raw.h"
#include "raw/terms.h"
#include "replay/replay.h"
#include "scheduling/needs.h"
#include "scheduling/scheduling.h"
#include "state/thread.h"
#include "trace/event.h"

enum { BUFFER = 1 << 14, LONGEST = 64, ARGUMENTS = 32, EFFECT = 3, FIXED = 8, SEEN = 256 };
enum { EXTERNAL, KNOWN, UNCOUNTED }; /* results of ft_sym_call */

static __thread struct {
    uint32_t made;      /* nodes so far */
    uint32_t used;      /* of the buffer */
    bool busy;          /* a note is being written: a signal handler takes none */
    uint32_t external;  /* calls to code without instrumentation that have not returned */
    const void *guard;  /* the function that `arguments` are for */
    uint32_t n, result; /* of the call at hand */
    uint32_t arguments[ARGUMENTS];
    uintptr_t pc; /* of the last note with one */
} mine;

/* The notes themselves, by the thread's number: in its own memory they would take the room of its
 * stack, which may be as small as the system lets it be. */
static unsigned char *buffers;

static const uint32_t nothing[ARGUMENTS];
static bool is_on;

extern const int foretell_symbolic_build __attribute__((weak));

bool ft_sym_built(void)
{
    return &foretell_symbolic_build != NULL;
}

void ft_sym_start(void)
{
    buffers = ft_rt_map((size_t)FT_RT_THREADS * BUFFER);
    is_on = true;
}

/* ---- notes */

static unsigned char *buffer(void)
{
    assert(buffers && ft_rt_self->id < FT_RT_THREADS);
    return buffers + (size_t)ft_rt_self->id * BUFFER;
}

void ft_sym_flush(void)
{
    if (!mine.used || mine.busy) return;
    uint32_t used = mine.used;
    assert(used <= BUFFER);
    mine.used = 0;
    ft_rt_log_bytes(FT_RAW_TERMS, 0, buffer(), used);
}

static void spill(void)
{
    ft_rt_thread *self = ft_rt_enter_holding();
    if (!self) return;
    ft_rt_flush(self);
    ft_sym_flush();
    self->inside = false;
}

/* Where the next note goes, with room for the longest; NULL: none is taken. */
static unsigned char *begin(void)
{
    if (!is_on || !ft_rt_self || ft_rt_self->inside || mine.busy || !ft_rt_logging) return NULL;
    mine.busy = true;
    while (mine.used > BUFFER - LONGEST) { /* a handler may have filled it again */
        mine.busy = false;
        spill();
        mine.busy = true;
    }
    return buffer() + mine.used;
}

static void end(const unsigned char *at)
{
    assert(mine.busy && at >= buffer() + mine.used && at <= buffer() + BUFFER);
    mine.used = (uint32_t)(at - buffer());
    mine.busy = false;
}

static uint32_t end_node(const unsigned char *at)
{
    end(at);
    return ++mine.made;
}

static unsigned char *put(unsigned char *at, uint64_t value)
{
    for (; value >= 0x80; value >>= 7) *at++ = (unsigned char)(value | 0x80);
    *at++ = (unsigned char)value;
    return at;
}

static unsigned char *put_signed(unsigned char *at, int64_t value)
{
    return put(at, ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0));
}

static unsigned char *put_reference(unsigned char *at, uint32_t id, uint64_t value)
{
    if (id) return put(at, mine.made + 1u - id);
    *at++ = 0;
    return put_signed(at, (int64_t)value);
}

static unsigned char *put_place(unsigned char *at, const void *pc)
{
    *at++ = 0;
    at = put_signed(at, (int64_t)((uintptr_t)pc - mine.pc));
    mine.pc = (uintptr_t)pc;
    return at;
}

static unsigned char fold(uint64_t value)
{
    value ^= value >> 32;
    value ^= value >> 16;
    return (unsigned char)(value ^ value >> 8);
}

static void pin(ft_sym_reason reason, uint32_t id, uint64_t value)
{
    unsigned char *at = id ? begin() : NULL;
    if (!at) return;
    *at++ = FT_SYM_PIN;
    *at++ = (unsigned char)reason;
    at = put_reference(at, id, 0);
    *at++ = fold(value);
    end(at);
}

static void pin_memory(ft_sym_reason reason)
{
    unsigned char *at = begin();
    if (!at) return;
    *at++ = FT_SYM_PIN_MEMORY;
    *at++ = (unsigned char)reason;
    end(at);
}

/* ---- operations */

uint32_t ft_sym_binary(uint32_t operation, uint32_t width, uint32_t a, uint32_t b, uint64_t x,
                       uint64_t y);
uint32_t ft_sym_cast(uint32_t operation, uint32_t from, uint32_t to, uint32_t a);
uint32_t ft_sym_select(uint32_t width, uint32_t c, uint32_t a, uint32_t b, uint64_t holds,
                       uint64_t x, uint64_t y);
uint32_t ft_sym_index(uint32_t base, uint32_t index, uint64_t x, uint64_t y, uint64_t stride);
void ft_sym_branch(uint32_t id, uint32_t taken);
void ft_sym_switch(uint32_t id, uint32_t width, uint64_t value, const uint64_t *cases, uint32_t n);
void ft_sym_assert(uint32_t id, uint32_t holds, const char *expression);
void ft_sym_pin(uint32_t reason, uint32_t id, uint64_t value);
void ft_sym_pin_memory(uint32_t reason);
void ft_sym_pin_range(uint32_t reason, const void *memory, uint64_t size);
void ft_sym_forget(const void *memory, uint64_t size);

uint32_t ft_sym_binary(uint32_t operation, uint32_t width, uint32_t a, uint32_t b, uint64_t x,
                       uint64_t y)
{
    unsigned char *at = a || b ? begin() : NULL;
    if (!at) return 0;
    *at++ = (unsigned char)operation;
    *at++ = (unsigned char)width;
    at = put_reference(at, a, x);
    return end_node(put_reference(at, b, y));
}

uint32_t ft_sym_cast(uint32_t operation, uint32_t from, uint32_t to, uint32_t a)
{
    unsigned char *at = a ? begin() : NULL;
    if (!at) return 0;
    *at++ = (unsigned char)operation;
    *at++ = (unsigned char)from;
    *at++ = (unsigned char)to;
    return end_node(put_reference(at, a, 0));
}

uint32_t ft_sym_select(uint32_t width, uint32_t c, uint32_t a, uint32_t b, uint64_t holds,
                       uint64_t x, uint64_t y)
{
    if (!c) return holds ? a : b;
    unsigned char *at = begin();
    if (!at) return 0;
    *at++ = FT_SYM_ITE;
    *at++ = (unsigned char)width;
    at = put_reference(at, c, holds);
    at = put_reference(at, a, x);
    return end_node(put_reference(at, b, y));
}

uint32_t ft_sym_index(uint32_t base, uint32_t index, uint64_t x, uint64_t y, uint64_t stride)
{
    unsigned char *at = base || index ? begin() : NULL;
    if (!at) return 0;
    *at++ = FT_SYM_INDEX;
    at = put_reference(at, base, x);
    at = put_reference(at, index, y);
    return end_node(put(at, stride));
}

static void branch(uint32_t id, bool taken, const void *pc)
{
    unsigned char *at = id ? begin() : NULL;
    if (!at) return;
    *at++ = taken ? FT_SYM_TAKEN : FT_SYM_PASSED;
    at = put_reference(at, id, 0);
    end(put_place(at, pc));
}

void ft_sym_branch(uint32_t id, uint32_t taken)
{
    branch(id, taken, __builtin_return_address(0));
}

/* One condition for each case up to the one that was taken would do; a case excludes the others. */
void ft_sym_switch(uint32_t id, uint32_t width, uint64_t value, const uint64_t *cases, uint32_t n)
{
    const void *pc = __builtin_return_address(0);
    uint32_t taken = 0;
    if (!id) return;
    while (taken < n && cases[taken] != value) taken++;
    if (taken < n) {
        branch(ft_sym_binary(FT_SYM_EQ, width, id, 0, value, value), true, pc);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        branch(ft_sym_binary(FT_SYM_EQ, width, id, 0, value, cases[i]), false, pc);
}

void ft_sym_pin(uint32_t reason, uint32_t id, uint64_t value)
{
    pin((ft_sym_reason)reason, id, value);
}

void ft_sym_pin_memory(uint32_t reason)
{
    pin_memory((ft_sym_reason)reason);
}

static void note_range(ft_sym_operation operation, int reason, const void *memory, uint64_t size)
{
    unsigned char *at = begin();
    if (!at) return;
    *at++ = (unsigned char)operation;
    if (reason >= 0) *at++ = (unsigned char)reason;
    at = put(at, (uintptr_t)memory);
    end(put(at, size));
}

void ft_sym_pin_range(uint32_t reason, const void *memory, uint64_t size)
{
    note_range(FT_SYM_PIN_RANGE, (int)reason, memory, size);
}

void ft_sym_forget(const void *memory, uint64_t size)
{
    note_range(FT_SYM_FORGET, -1, memory, size);
}

/* The source text of the assertion at a site, once. */
static void log_expression(uint64_t site, const char *expression)
{
    static unsigned char logged[FT_RAW_SITES / 8];
    unsigned char bit = (unsigned char)(1 << site % 8);
    if (!expression || site >= FT_RAW_SITES || logged[site / 8] & bit) return;
    logged[site / 8] |= bit;
    ft_rt_log_bytes(FT_RAW_ASSERTED, site, expression, strlen(expression));
}

/* A step also where nothing is symbolic, so that steps count alike however the program is run. */
void ft_sym_assert(uint32_t id, uint32_t holds, const char *expression)
{
    const void *pc = __builtin_return_address(0);
    ft_rt_about(FT_EVENT_ASSERT, pc);
    unsigned char *at = id ? begin() : NULL;
    if (at) {
        *at++ = FT_SYM_CHECK;
        end(put_reference(at, id, 0));
    }
    ft_rt_thread *self = ft_rt_enter();
    if (!self) return;
    uint64_t site = ft_rt_site(pc);
    log_expression(site, expression);
    FT_RT_LOG(ASSERT, site, holds);
    ft_rt_leave(self);
}

/* ---- plain accesses: a read is logged before it happens, with the value that it will return */

uint32_t ft_sym_load(const void *address, uint64_t size, uint32_t id);
void ft_sym_load_plain(const void *address, uint64_t size, uint32_t id);
void ft_sym_store(void *address, uint64_t size, uint32_t id, uint32_t value);
void ft_sym_store_table(void *address, const void *table, uint32_t id);

uint32_t ft_sym_load(const void *address, uint64_t size, uint32_t id)
{
    uint32_t node = 0;
    pin(FT_SYM_ADDRESS_REASON, id, (uintptr_t)address);
    unsigned char *at = begin();
    if (at) {
        *at++ = FT_SYM_READ;
        *at++ = (unsigned char)(8 * size);
        node = end_node(at);
    }
    ft_rt_read(address, size, __builtin_return_address(0));
    return node;
}

void ft_sym_load_plain(const void *address, uint64_t size, uint32_t id)
{
    pin(FT_SYM_ADDRESS_REASON, id, (uintptr_t)address);
    ft_rt_read(address, size, __builtin_return_address(0));
}

static void note_store(uint64_t size, uint32_t value)
{
    unsigned char *at = value ? begin() : NULL;
    if (!at) return;
    *at++ = FT_SYM_STORE;
    *at++ = (unsigned char)(8 * size);
    end(put_reference(at, value, 0));
}

void ft_sym_store(void *address, uint64_t size, uint32_t id, uint32_t value)
{
    pin(FT_SYM_ADDRESS_REASON, id, (uintptr_t)address);
    note_store(size, value);
    ft_rt_write(address, size, __builtin_return_address(0));
}

/* Of virtual functions: as __tsan_vptr_update (accesses/access.c). */
void ft_sym_store_table(void *address, const void *table, uint32_t id)
{
    const void *pc = __builtin_return_address(0);
    pin(FT_SYM_ADDRESS_REASON, id, (uintptr_t)address);
    if (*(void *const *)address == table)
        ft_rt_read(address, sizeof table, pc);
    else
        ft_rt_write(address, sizeof table, pc);
}

/* ---- atomic accesses: the mark before the call that does it and logs it (atomic.c) */

uint32_t ft_sym_atomic_load(const void *address, uint64_t size, uint32_t id);
void ft_sym_atomic_store(const void *address, uint64_t size, uint32_t id, uint32_t value);
uint32_t ft_sym_atomic_update(const void *address, uint64_t size, uint32_t id, uint32_t operation,
                              uint32_t value, uint64_t x);
uint32_t ft_sym_atomic_compare(const void *address, uint64_t size, uint32_t id, uint32_t expected,
                               uint64_t x, uint32_t desired, uint64_t y);

static void note_pointer(uint32_t id, uint64_t address)
{
    unsigned char *at = id ? begin() : NULL;
    if (!at) return;
    *at++ = FT_SYM_POINTER;
    at = put_reference(at, id, 0);
    *at++ = fold(address);
    end(at);
}

uint32_t ft_sym_atomic_load(const void *address, uint64_t size, uint32_t id)
{
    note_pointer(id, (uintptr_t)address);
    unsigned char *at = begin();
    if (!at) return 0;
    *at++ = FT_SYM_READ;
    *at++ = (unsigned char)(8 * size);
    return end_node(at);
}

void ft_sym_atomic_store(const void *address, uint64_t size, uint32_t id, uint32_t value)
{
    note_pointer(id, (uintptr_t)address);
    note_store(size, value);
}

uint32_t ft_sym_atomic_update(const void *address, uint64_t size, uint32_t id, uint32_t operation,
                              uint32_t value, uint64_t x)
{
    note_pointer(id, (uintptr_t)address);
    unsigned char *at = begin();
    if (!at) return 0;
    *at++ = FT_SYM_UPDATE;
    *at++ = (unsigned char)operation;
    *at++ = (unsigned char)(8 * size);
    return end_node(put_reference(at, value, x));
}

uint32_t ft_sym_atomic_compare(const void *address, uint64_t size, uint32_t id, uint32_t expected,
                               uint64_t x, uint32_t desired, uint64_t y)
{
    note_pointer(id, (uintptr_t)address);
    unsigned char *at = begin();
    if (!at) return 0;
    *at++ = FT_SYM_COMPARE;
    *at++ = (unsigned char)(8 * size);
    at = put_reference(at, expected, x);
    return end_node(put_reference(at, desired, y));
}

/* ---- ranges */

void *__real_memcpy(void *to, const void *from, size_t size);
void *__real_memmove(void *to, const void *from, size_t size);
void *__real_memset(void *to, int byte, size_t size);
void *ft_sym_memcpy(void *to, const void *from, uint64_t size, uint32_t a, uint32_t b, uint32_t n);
void *ft_sym_memmove(void *to, const void *from, uint64_t size, uint32_t a, uint32_t b, uint32_t n);
void *ft_sym_memset(void *to, uint32_t byte, uint64_t size, uint32_t a, uint32_t b, uint32_t n);

static void copies(void *to, const void *from, uint64_t size, uint32_t a, uint32_t b, uint32_t n,
                   const void *pc)
{
    pin(FT_SYM_ADDRESS_REASON, a, (uintptr_t)to);
    pin(FT_SYM_ADDRESS_REASON, b, (uintptr_t)from);
    pin(FT_SYM_SIZE_REASON, n, size);
    if (!size) return;
    unsigned char *at = begin();
    if (at) {
        *at++ = FT_SYM_COPY;
        end(at);
    }
    ft_rt_read(from, size, pc);
    ft_rt_write(to, size, pc);
}

void *ft_sym_memcpy(void *to, const void *from, uint64_t size, uint32_t a, uint32_t b, uint32_t n)
{
    copies(to, from, size, a, b, n, __builtin_return_address(0));
    return __real_memcpy(to, from, size);
}

void *ft_sym_memmove(void *to, const void *from, uint64_t size, uint32_t a, uint32_t b, uint32_t n)
{
    copies(to, from, size, a, b, n, __builtin_return_address(0));
    return __real_memmove(to, from, size);
}

void *ft_sym_memset(void *to, uint32_t byte, uint64_t size, uint32_t a, uint32_t b, uint32_t n)
{
    pin(FT_SYM_ADDRESS_REASON, a, (uintptr_t)to);
    pin(FT_SYM_SIZE_REASON, n, size);
    if (!size) return to;
    unsigned char *at = b ? begin() : NULL;
    if (at) {
        *at++ = FT_SYM_FILL;
        end(put_reference(at, b, 0));
    }
    ft_rt_write(to, size, __builtin_return_address(0));
    return __real_memset(to, (int)byte, size);
}

/* ---- functions: which ones take node numbers for their arguments */

void ft_sym_register(const void *const *functions, const void *const *end);
uint32_t ft_sym_call(const void *callee, uint32_t n, const uint32_t *ids, const uint64_t *values,
                     uint32_t how);
void ft_sym_look(const void *callee, const void *memory, uint64_t size, const void *object,
                 uint64_t whole);
void ft_sym_look_string(const void *callee, const void *string);
uint32_t ft_sym_result(uint32_t call);
const uint32_t *ft_sym_begin(const void *function, uint32_t n);
void ft_sym_return(const uint32_t *arguments, uint32_t id, uint64_t value);

static struct {
    const void **slots;
    uint64_t used, room; /* room: a power of two */
} known;

static const void **slot_of(const void *function)
{
    uint64_t at = ((uintptr_t)function * 0x9E3779B97F4A7C15u) >> 20;
    for (;; at++) {
        const void **slot = &known.slots[at & (known.room - 1)];
        if (!*slot || *slot == function) return slot;
    }
}

static void make_room(uint64_t n)
{
    const void **old = known.slots;
    uint64_t had = known.room;
    if (2 * (known.used + n) <= had) return;
    known.room = had ? had : 1024;
    while (2 * (known.used + n) > known.room) known.room *= 2;
    known.slots = ft_rt_map(known.room * sizeof *known.slots);
    for (uint64_t i = 0; i < had; i++)
        if (old[i]) *slot_of(old[i]) = old[i];
}

void ft_sym_register(const void *const *functions, const void *const *end)
{
    make_room((uint64_t)(end - functions));
    for (; functions < end; functions++) {
        const void **slot = slot_of(*functions);
        known.used += !*slot;
        *slot = *functions;
    }
}

static void pin_arguments(const uint32_t *ids, const uint64_t *values, uint32_t from, uint32_t n)
{
    for (uint32_t i = from; i < n; i++) pin(FT_SYM_CALL_REASON, ids[i], values[i]);
}

/* how: EFFECT, ft_sym_effect; from bit FIXED on the number of arguments before the variable ones. A
 * function may know the program's memory from another call, so what it is given says nothing. */
uint32_t ft_sym_call(const void *callee, uint32_t n, const uint32_t *ids, const uint64_t *values,
                     uint32_t how)
{
    mine.guard = NULL;
    if (!is_on || !known.room) return UNCOUNTED;
    if (*slot_of(callee)) {
        uint32_t fixed = how >> FIXED;
        pin_arguments(ids, values, fixed, n);
        mine.n = n < fixed ? n : fixed;
        for (uint32_t i = 0; i < mine.n; i++) mine.arguments[i] = ids[i];
        mine.result = 0;
        mine.guard = callee;
        return KNOWN;
    }
    ft_sym_effect effect = (ft_sym_effect)(how & EFFECT);
    if (effect != FT_SYM_SEES_NOTHING) pin_arguments(ids, values, 0, n);
    if (effect == FT_SYM_SEES_MEMORY) {
        pin_memory(FT_SYM_MEMORY_REASON);
        if (is_on && ft_rt_self) spill(); /* logs the last write before it is overwritten */
    }
    mine.external++;
    return EXTERNAL;
}

/* ---- what a function without instrumentation may look at: one of a library, whose own accesses
 * nobody sees (those of the runtime, and of code with hooks, are seen) */

void foretell_ignore_begin(void);
void foretell_ignore_end(void);
extern const char __executable_start, _end;

static bool has_hooks(const void *callee)
{
    uintptr_t at = (uintptr_t)callee;
    bool with_us = at >= (uintptr_t)&__executable_start && at < (uintptr_t)&_end;
    return with_us || !known.room || *slot_of(callee);
}

/* So much can be read there, which may be no pointer. */
static uint64_t copy_readable(void *to, const void *memory, uint64_t size)
{
    struct iovec here = {to, size}, there = {(void *)(uintptr_t)memory, size};
    ssize_t n = process_vm_readv(FT_REAL(getpid)(), &here, 1, &there, 1, 0);
    return n > 0 ? (uint64_t)n : 0;
}

/* Of a number of that size, or of a text up to its end. */
static uint64_t readable(const void *memory, uint64_t size)
{
    char copy[SEEN];
    uint64_t n = copy_readable(copy, memory, size == 1 ? SEEN : size), length = 0;
    if (size > 1) return n == size ? size : 0;
    while (length < n && copy[length]) length++;
    return length < n ? length + 1 : length;
}

/* Reads a number, a text, or the rest of the object that is known to be there. These reads are not
 * part of a finding, since the function may not read there; they only fix the values that the
 * thread finds. No other thread runs until the call. */
void ft_sym_look(const void *callee, const void *memory, uint64_t size, const void *object,
                 uint64_t whole)
{
    if (!memory || has_hooks(callee)) return;
    ft_rt_settle(3);
    uint64_t before = (uint64_t)((const char *)memory - (const char *)object);
    size = !object ? readable(memory, size) : before < whole ? whole - before : 0;
    foretell_ignore_begin();
    ft_rt_read_range(memory, size < SEEN ? size : SEEN, __builtin_return_address(0));
    foretell_ignore_end();
}

/* The same of a std::string, as libstdc++ has it, and of its text. */
void ft_sym_look_string(const void *callee, const void *string)
{
    struct {
        const void *text;
        uint64_t length;
    } is;
    char copy[SEEN];
    if (has_hooks(callee) || copy_readable(&is, string, sizeof is) != sizeof is) return;
    ft_rt_settle(4);
    foretell_ignore_begin();
    ft_rt_read_range(string, sizeof is, __builtin_return_address(0));
    uint64_t n = copy_readable(copy, is.text, is.length < SEEN ? is.length : SEEN);
    ft_rt_read_range(is.text, n, __builtin_return_address(0));
    foretell_ignore_end();
}

uint32_t ft_sym_result(uint32_t call)
{
    mine.guard = NULL;
    if (call == EXTERNAL && mine.external) mine.external--;
    if (call != KNOWN) return 0;
    uint32_t id = mine.result;
    mine.result = 0;
    return id;
}

/* Called by a caller that knows nothing of nodes, a function gets none and gives none. */
const uint32_t *ft_sym_begin(const void *function, uint32_t n)
{
    if (mine.guard != function || !is_on) return nothing;
    mine.guard = NULL;
    for (uint32_t i = mine.n; i < n; i++) mine.arguments[i] = 0;
    return mine.arguments;
}

void ft_sym_return(const uint32_t *arguments, uint32_t id, uint64_t value)
{
    if (arguments != nothing) {
        mine.result = id;
        return;
    }
    mine.result = 0;
    pin(FT_SYM_RETURN_REASON, id, value);
    if (mine.external) pin_memory(FT_SYM_RETURN_REASON);
}
