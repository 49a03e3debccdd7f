/* Events in the log: accesses, calls and returns, their sites, and writes whose value comes later.
 */
#include <sys/mman.h>

#include "libc/contract.h"
#include "libc/libc.h"
#include "log/hot.h"
#include "log/log.h"
#include "log/needs.h"
#include "raw/raw.h"
#include "state/thread.h"
#include "state/writes.h"
#include "trace/event.h"

ft_rt_thread *ft_rt_hot = FT_RT_NO_THREAD;

void ft_rt_sites_start(void)
{
    ft_rt_out.slots = ft_rt_map(FT_RT_SLOTS * sizeof *ft_rt_out.slots);
    ft_rt_out.keys = ft_rt_map(FT_RAW_SITES * sizeof *ft_rt_out.keys);
    assert(ft_rt_out.slots && ft_rt_out.keys);
    ft_rt_out.n_sites = 1;
}

static uint32_t new_site(ft_rt_site_slot *slot, uint64_t key)
{
    if (ft_rt_out.n_sites == FT_RAW_SITES) {
        ft_rt_log_end(FT_RAW_END_SITES);
        return 0;
    }
    uint32_t id = ft_rt_out.n_sites++;
    assert(!slot->key && !ft_rt_out.keys[id]);
    ft_rt_out.keys[id] = key;
    if (ft_rt_logging) ft_rt_log_library((uintptr_t)ft_rt_site_pc(id));
    FT_RT_LOG(SITE, (uintptr_t)ft_rt_site_pc(id), key >> FT_RAW_CODE_SHIFT);
    assert(!slot->key); /* the records above name no site */
    if (id < FT_RT_NARROW)
        *slot = (ft_rt_site_slot){key, (uint64_t)id << FT_RAW_SITE_SHIFT | 1};
    else
        *slot = (ft_rt_site_slot){key | FT_RT_WIDE, id};
    return id;
}

uint32_t ft_rt_site_of(uint64_t key)
{
    ft_rt_site_slot *s = ft_rt_out.slots + (ft_rt_slot(key) - ft_rt_out.slots);
    while (s->key) {
        if (s->key == key) return (uint32_t)(s->word >> FT_RAW_SITE_SHIFT);
        if (s->key == (key | FT_RT_WIDE)) return (uint32_t)s->word;
        if (++s == ft_rt_out.slots + FT_RT_SLOTS) s = ft_rt_out.slots;
    }
    return new_site(s, key);
}

uint32_t ft_rt_site(const void *pc)
{
    FT_REQUIRE(!((uintptr_t)pc >> FT_RAW_CODE_SHIFT));
    return ft_rt_site_of(ft_rt_key(pc, FT_RAW_PLACE));
}

const void *ft_rt_site_pc(uint32_t site)
{
    FT_REQUIRE(site < ft_rt_out.n_sites);
    uint64_t mask = (UINT64_C(1) << FT_RAW_CODE_SHIFT) - 1;
    return (const void *)(uintptr_t)(ft_rt_out.keys[site] & mask);
}

static unsigned code_of(uint32_t site)
{
    assert(site && site < ft_rt_out.n_sites);
    return (unsigned)(ft_rt_out.keys[site] >> FT_RAW_CODE_SHIFT);
}

/* ---- events */

static unsigned char *put_word(unsigned char *at, uint64_t word)
{
    *(uint64_t *)(void *)at = word;
    return at + FT_RAW_WORD;
}

/* Writes the first word of an event; returns its end, with room for `bytes` more; NULL: the
 * recording has ended. */
static unsigned char *open_event(uint32_t site, uint64_t address, size_t bytes)
{
    unsigned char *at = ft_rt_open_record(FT_RAW_LONGEST + bytes);
    uint64_t first = 2 * (address & ~FT_RT_HIGH) + 1;
    if (!at) return NULL;
    if (site < FT_RT_NARROW && !(address & FT_RT_HIGH))
        return put_word(at, first | (uint64_t)site << FT_RAW_SITE_SHIFT);
    *at++ = FT_RAW_WIDE << 1;
    at = ft_rt_put(ft_rt_put(at, site), address >> FT_RAW_ADDRESS_BITS);
    ft_rt_close_record(at);
    return put_word((unsigned char *)ft_rt_out.at, first);
}

void ft_rt_emit(uint32_t site, uint64_t address, uint64_t value, uint64_t written)
{
    unsigned code = code_of(site);
    unsigned char *at = open_event(site, address, 2 * FT_RAW_WORD);
    if (!at) return;
    if (code < FT_RAW_ENTER) at = put_word(at, value);
    if (ft_raw_updates(code / 8)) at = put_word(at, written);
    ft_rt_close_record(at);
}

/* content NULL: FT_RAW_BLIND */
static void emit_range(uint32_t site, uintptr_t address, uint64_t size, const void *content)
{
    typedef uint64_t __attribute__((aligned(1), may_alias)) word;
    uint64_t bytes = content ? ft_raw_content(size) : 0, i = 0;
    const volatile unsigned char *from = content;
    unsigned char *at = open_event(site, address, FT_RAW_WORD + bytes);
    if (!at) return;
    at = put_word(at, content ? size : size | FT_RAW_BLIND);
    for (; i + FT_RAW_WORD <= bytes; i += FT_RAW_WORD)
        at = put_word(at, *(const volatile word *)(from + i));
    for (; i < bytes; i++) *at++ = from[i];
    ft_rt_close_record(at);
}

/* ---- the long way to them */

bool ft_rt_may_emit(ft_rt_thread *self)
{
    FT_REQUIRE(self == ft_rt_self);
    assert(self->state == FT_RT_RUNNING);
    if (!ft_rt_logging) {
        if (ft_rt_header->end != FT_RAW_END_EXIT) ft_rt_header->ignored++;
        return false;
    }
    if (ft_rt_out.thread != self->id) {
        unsigned char *at = ft_rt_open_record(0); /* writes its TURN */
        if (at) ft_rt_close_record(at);
    }
    assert(!ft_rt_logging || ft_rt_out.thread == self->id);
    if (ft_rt_logging && !self->closes && !ft_rt_polling && !ft_rt_following)
        __atomic_store_n(&ft_rt_hot, self, __ATOMIC_RELEASE);
    return ft_rt_logging;
}

static void replay_access(ft_raw_form form, const void *pc)
{
    static const uint32_t kinds[] = {
        [FT_RAW_FORM_READ] = FT_EVENT_READ,        [FT_RAW_FORM_WRITE] = FT_EVENT_WRITE,
        [FT_RAW_FORM_ATOMIC_READ] = FT_EVENT_READ, [FT_RAW_FORM_ATOMIC_WRITE] = FT_EVENT_WRITE,
        [FT_RAW_FORM_UPDATE] = FT_EVENT_RMW,       [FT_RAW_FORM_COMPARE] = FT_EVENT_RMW,
    };
    ft_rt_replay_step(ft_rt_self, kinds[form], ft_rt_site(pc));
}

void ft_rt_log_access(ft_raw_form form, const void *pc, uintptr_t address, uint32_t size,
                      int64_t value, int64_t written)
{
    if (ft_rt_replaying) {
        replay_access(form, pc);
        return;
    }
    FT_REQUIRE(form < FT_RAW_FORMS);
    FT_REQUIRE(size && size <= 8 && !(size & (size - 1)));
    if (!ft_rt_may_emit(ft_rt_self)) return;
    unsigned code = 8 * (unsigned)form + (unsigned)__builtin_ctz(size);
    uint32_t site = ft_rt_site_of(ft_rt_key(pc, code));
    if (site) ft_rt_emit(site, address, (uint64_t)value, (uint64_t)written);
    bool reads = form == FT_RAW_FORM_ATOMIC_READ;
    if (reads || (form == FT_RAW_FORM_UPDATE && value == written))
        ft_rt_may_spin(ft_rt_self, address, value);
}

void ft_rt_emit_memory(uint32_t site, uintptr_t address, uint64_t size, uint64_t value,
                       const void *content)
{
    if (code_of(site) % 8 == FT_RAW_RANGE)
        emit_range(site, address, size, content);
    else
        ft_rt_emit(site, address, value, 0);
}

/* ---- pending writes */

enum { EVENT = 2, SWAPPED = 1 }; /* words */

/* The held read came before the write. The records write, between, read, rest become between,
 * SWAPPED, read, write, rest. */
static void swap(ft_rt_late *late, uint64_t value)
{
    uint64_t *write = late->value - 1, *read = late->held, *end = ft_rt_out.at;
    uint64_t first = *write, words[EVENT] = {read[0], read[1]};
    assert(write + EVENT <= read && read + EVENT <= end);
    for (uint64_t *at = end; at > read + EVENT; at--) *at = at[-1];
    for (; write + EVENT < read; write++) *write = write[EVENT];
    *write++ = FT_RAW_SWAPPED << 1;
    *write++ = words[0];
    *write++ = words[1];
    *write++ = first;
    *write = value;
    ft_rt_out.at = end + SWAPPED;
}

/* The memory was unmapped with its library: its last content is unknown, and no thread can read it.
 */
static bool is_gone(const ft_rt_thread *self, uintptr_t address, uint64_t size)
{
    uintptr_t page = address & ~(uintptr_t)(FT_RAW_PAGE - 1);
    return self->closes && msync((void *)page, address + size - page, MS_ASYNC);
}

void ft_rt_end_late(ft_rt_thread *self)
{
    ft_rt_late late = self->late;
    if (!late.value) return;
    assert(late.value < ft_rt_out.at && late.size_code <= 3);
    assert(!late.held || (late.held > late.value && late.held < ft_rt_out.at));
    bool gone = is_gone(self, late.address, UINT64_C(1) << late.size_code);
    uint64_t now = gone ? 0 : ft_rt_written(&late);
    self->late.value = self->late.held = NULL;
    if (!ft_rt_logging) return;
    if (late.held && now != *late.value)
        swap(&late, now);
    else
        *late.value = now;
    ft_rt_publish(ft_rt_out.at);
}

static void emit_held(ft_rt_thread *self)
{
    const ft_rt_held *h = &self->held;
    const void *content = h->size <= FT_RT_COPY ? h->content : (const void *)h->address;
    if (h->size) ft_rt_emit_memory(h->site, h->address, h->size, h->value, content);
    self->held.size = 0;
}

/* Did the content of the write's memory change after the hook of the held read? Then the read came
 * first. */
static bool is_copy(const ft_rt_thread *self, const ft_rt_pending *write, uint64_t value)
{
    const unsigned char *now = (const unsigned char *)write->address;
    if (write->size_code != FT_RAW_RANGE) return value != self->held.before;
    if (write->size > FT_RT_COPY) return true;
    for (uint32_t i = 0; i < write->size; i++)
        if (now[i] != self->held.content_before[i]) return true;
    return false;
}

/* Called inside another hook, whose description for the schedule is already set. */
void ft_rt_end_look(ft_rt_thread *self)
{
    ft_rt_look look = self->look;
    uint32_t kind = self->kind;
    const void *pc = self->pc;
    uintptr_t address = self->address;
    uint64_t size = self->size;
    if (!look.address) return;
    self->look.address = 0;
    self->address = look.address;
    self->size = 1;
    ft_rt_log_access(FT_RAW_FORM_ATOMIC_READ, look.pc, look.address, 1, 0, 0);
    self->kind = kind;
    self->pc = pc;
    self->address = address;
    self->size = size;
}

void ft_rt_flush(ft_rt_thread *self)
{
    ft_rt_pending p = self->pending;
    uint64_t value = 0;
    assert(!p.size || !self->late.value); /* one write is pending at most */
    ft_rt_end_look(self);
    if (self->late.value) ft_rt_end_late(self);
    if (!p.size) return;
    self->pending.size = 0;
    if (!ft_rt_may_emit(self)) {
        self->held.size = 0;
        return;
    }
    if (is_gone(self, p.address, p.size)) {
        self->held.size = 0;
        ft_rt_emit_memory(p.site, p.address, p.size, 0, NULL);
        return;
    }
    if (p.size_code != FT_RAW_RANGE) value = ft_rt_value(p.address, p.size_code);
    if (self->held.size && is_copy(self, &p, value)) {
        ft_rt_log(FT_RAW_SWAPPED, NULL, 0);
        emit_held(self);
    }
    ft_rt_emit_memory(p.site, p.address, p.size, value, (const void *)p.address);
    emit_held(self);
    assert(!self->pending.size && !self->held.size && !self->late.value);
}
