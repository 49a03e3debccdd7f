/* Accesses, calls and returns in the log (raw/raw.h), and the sites that they come from. */
#include "hot.h"
#include "trace/event.h"

enum { SLOT_BITS = 20, SLOTS = 1 << SLOT_BITS };

ft_rt_thread *ft_rt_hot = FT_RT_NO_THREAD;
static uint32_t *slots; /* by hash of the key: the site, 0: none */

void ft_rt_sites_start(void)
{
    slots = ft_rt_map(SLOTS * sizeof *slots);
    ft_rt_out.sites = ft_rt_map(FT_RAW_SITES * sizeof *ft_rt_out.sites);
    ft_rt_out.n_sites = 1;
}

static ft_raw_site *new_site(uint32_t *slot, uint64_t key)
{
    if (ft_rt_out.n_sites == FT_RAW_SITES) {
        ft_rt_log_end(FT_RAW_END_SITES);
        return NULL;
    }
    ft_raw_site *site = &ft_rt_out.sites[ *slot = ft_rt_out.n_sites++];
    site->key = key;
    FT_RT_LOG(SITE, ft_raw_pc(site), ft_raw_code(site));
    return site;
}

ft_raw_site *ft_rt_site_of(uint64_t key)
{
    for (uint64_t at = (key * 0x9E3779B97F4A7C15u) >> (64 - SLOT_BITS);; at = (at + 1) % SLOTS) {
        if (!slots[at]) return new_site(&slots[at], key);
        if (ft_rt_out.sites[slots[at]].key == key) return &ft_rt_out.sites[slots[at]];
    }
}

uint32_t ft_rt_site(const void *pc)
{
    const ft_raw_site *site = ft_rt_site_of(ft_rt_key(pc, FT_RAW_PLACE));
    return site ? (uint32_t)(site - ft_rt_out.sites) : 0;
}

const void *ft_rt_site_pc(uint32_t site)
{
    return (const void *)(uintptr_t)ft_raw_pc(&ft_rt_out.sites[site]);
}

/* ---- events */

/* Numbers of any alignment. */
typedef uint64_t word __attribute__((aligned(1), may_alias));
typedef uint16_t half __attribute__((aligned(1), may_alias));

static FT_RT_INLINE unsigned char *put_site(unsigned char *at, uint32_t id)
{
    *(half *)at = (uint16_t)id;
    if (FT_RT_LIKELY(id < FT_RAW_WIDE_SITE)) return at + 2;
    *(half *)at = (uint16_t)(id | FT_RAW_WIDE_SITE);
    *(half *)(at + 2) = (uint16_t)(id >> 15);
    return at + 4;
}

/* What is written too much is written over. */
static FT_RT_INLINE unsigned char *put_difference(unsigned char *at, uint64_t difference,
                                                  unsigned *token, unsigned shift)
{
    uint64_t coded = ft_raw_zigzag(difference);
    unsigned code = ft_raw_length_code(coded);
    *(word *)at = coded;
    *token |= code << shift;
    return at + ft_raw_length(code);
}

/* The token's first part: which site it is, and where that is. */
static FT_RT_INLINE unsigned char *put_place(ft_rt_thread *self, unsigned char *at,
                                             ft_raw_site *site, uint64_t address, unsigned *token)
{
    uint32_t id = (uint32_t)(site - ft_rt_out.sites);
    at++;
    if (*self->follows != id) {
        *self->follows = id;
        *token |= FT_RAW_SITE_FOLLOWS;
        at = put_site(at, id);
    }
    self->follows = &site->next;
    if (address == ft_raw_next_address(site)) {
        site->address = address;
        return at;
    }
    at = put_difference(at, address - site->address, token, 3);
    ft_raw_learn_address(site, address);
    return at;
}

/* ft_rt_open_record for one event, where there is nothing special about it. */
static FT_RT_INLINE unsigned char *open_event(void)
{
    uint64_t mark = ft_rt_header->mark;
    uint32_t run = ft_raw_run(mark);
    unsigned char *at = ft_rt_out.start + ft_raw_used(mark);
    if (FT_RT_UNLIKELY(at >= ft_rt_out.enough || run > FT_RAW_EVENT - FT_RAW_ONE))
        return ft_rt_open_record(FT_RAW_LONGEST);
    *at = (unsigned char)(FT_RAW_ONE - 1 + run);
    return at + (run != 0);
}

void ft_rt_emit_other(ft_rt_thread *self, ft_raw_site *site, uint64_t address, uint64_t value,
                      uint64_t written)
{
    unsigned char *first = open_event();
    unsigned token = FT_RAW_EVENT;
    uint64_t last = ft_rt_out.value;
    if (!first) return;
    unsigned char *at = put_place(self, first, site, address, &token);
    ft_rt_out.value = value;
    if (value == ft_raw_next_value(site, last)) {
        site->value = value;
    } else {
        at = put_difference(at, value - site->value, &token, 0);
        ft_raw_learn_value(site, value, last);
    }
    if (FT_RT_UNLIKELY(ft_raw_code(site) / 8 == FT_RAW_FORM_UPDATE)) {
        site->change = written - value;
        at = ft_rt_put(at, ft_raw_zigzag(site->change));
    }
    *first = (unsigned char)token;
    __atomic_store_n(&ft_rt_header->mark, (uint64_t)(at - ft_rt_out.start) << FT_RAW_RUN_BITS,
                     __ATOMIC_RELEASE);
}

static void emit_range(ft_rt_thread *self, ft_raw_site *site, uintptr_t address, uint64_t size,
                       const void *content)
{
    unsigned char *first = ft_rt_open_record(FT_RAW_LONGEST + FT_RAW_CONTENT);
    unsigned token = FT_RAW_EVENT;
    if (!first) return;
    unsigned char *at = put_place(self, first, site, address, &token);
    at = ft_rt_put(at, size);
    at = ft_rt_put_bytes(at, content, size <= FT_RAW_CONTENT ? size : 0);
    *first = (unsigned char)token;
    ft_rt_close_record(at);
}

void ft_rt_emit_call(ft_rt_thread *self, uint32_t id, uint32_t *follows)
{
    if (*self->follows == id) {
        ft_rt_count_predicted(self, follows);
        return;
    }
    unsigned char *at = open_event();
    if (!at) return;
    *at = FT_RAW_EVENT | FT_RAW_SITE_FOLLOWS;
    *self->follows = id;
    self->follows = follows;
    ft_rt_close_record(put_site(at + 1, id));
}

/* ---- the long way to them */

bool ft_rt_may_emit(ft_rt_thread *self)
{
    if (!ft_rt_logging) {
        if (ft_rt_header->end != FT_RAW_END_EXIT) ft_rt_header->ignored++;
        return false;
    }
    if (ft_rt_out.thread != self->id) ft_rt_end_run(); /* and writes its TURN */
    if (ft_rt_logging) __atomic_store_n(&ft_rt_hot, self, __ATOMIC_RELEASE);
    return ft_rt_logging;
}

static void replay_access(ft_raw_form form, const void *pc)
{
    static const uint32_t kinds[] = {
        [FT_RAW_FORM_READ] = FT_EVENT_READ,        [FT_RAW_FORM_WRITE] = FT_EVENT_WRITE,
        [FT_RAW_FORM_ATOMIC_READ] = FT_EVENT_READ, [FT_RAW_FORM_ATOMIC_WRITE] = FT_EVENT_WRITE,
        [FT_RAW_FORM_UPDATE] = FT_EVENT_RMW,
    };
    ft_rt_replay_step(ft_rt_self, kinds[form], ft_rt_site(pc));
}

void ft_rt_log_access(ft_raw_form form, const void *pc, uintptr_t address, uint32_t size,
                      int64_t value, int64_t written)
{
    ft_rt_thread *self = ft_rt_self;
    if (ft_rt_replaying) {
        replay_access(form, pc);
        return;
    }
    if (!ft_rt_may_emit(self)) return;
    if (self->moved) ft_rt_follow_calls(self);
    unsigned code = 8 * (unsigned)form + (unsigned)__builtin_ctz(size);
    ft_raw_site *site = ft_rt_site_behind(self->follows, ft_rt_key(pc, code));
    if (!site) return;
    bool same = form != FT_RAW_FORM_UPDATE || (uint64_t)written - (uint64_t)value == site->change;
    if (same)
        ft_rt_emit(self, site, address, (uint64_t)value);
    else
        ft_rt_emit_other(self, site, address, (uint64_t)value, (uint64_t)written);
}

void ft_rt_emit_memory(ft_rt_thread *self, ft_raw_site *site, uintptr_t address, uint64_t size,
                       uint64_t value, const void *content)
{
    if (ft_raw_code(site) % 8 == FT_RAW_RANGE)
        emit_range(self, site, address, size, content);
    else
        ft_rt_emit(self, site, address, value);
}

/* ---- pending writes */

static void emit_held(ft_rt_thread *self)
{
    const ft_rt_held *h = &self->held;
    if (h->size) ft_rt_emit_memory(self, h->site, h->address, h->size, h->value, h->content);
    self->held.size = 0;
}

/* Was the write's memory written after the hook of the held read? Then the read came first. */
static bool is_copy(const ft_rt_thread *self, const ft_rt_pending *write, uint64_t value)
{
    const unsigned char *now = (const unsigned char *)write->address;
    if (ft_raw_code(write->site) % 8 != FT_RAW_RANGE) return value != self->held.before;
    if (write->size > FT_RAW_CONTENT) return true;
    for (uint32_t i = 0; i < write->size; i++)
        if (now[i] != self->held.content_before[i]) return true;
    return false;
}

void ft_rt_flush(ft_rt_thread *self)
{
    ft_rt_pending p = self->pending;
    uint64_t value = 0;
    if (!p.size) return;
    self->pending.size = 0;
    if (!ft_rt_may_emit(self)) {
        self->held.size = 0;
        return;
    }
    unsigned size_code = ft_raw_code(p.site) % 8;
    if (size_code != FT_RAW_RANGE) value = ft_rt_value(p.address, size_code);
    if (self->held.size && is_copy(self, &p, value)) {
        ft_rt_log(FT_RAW_SWAPPED, NULL, 0);
        emit_held(self);
    }
    ft_rt_emit_memory(self, p.site, p.address, p.size, value, (const void *)p.address);
    emit_held(self);
}
