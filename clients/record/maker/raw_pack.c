#include "maker/raw_pack.h"

#include <stdlib.h>
#include <string.h>

/* First of every event a byte: from these bits on, how much is said of what; then of every event
 * what is said. So where the next one's is does not wait for what is there. */
enum { ADDRESS = 0, VALUE = 2, SITE = 4, WRITTEN = 6, WAYS = 4, LONGEST = 1 + 4 + 8 + 8 + 8 };

_Static_assert((int)FT_RAW_PACKED_BEHIND >= (int)LONGEST, "whatever the last byte says");
_Static_assert((int)FT_RAW_PACKED_MOST >= FT_RAW_BATCH * (int)LONGEST + 8,
               "the last part is stored whole");

static const uint8_t address_bytes[WAYS] = {0, 1, 4, 8};
static const uint8_t value_bytes[WAYS] = {0, 1, 5, 8};
static const uint8_t site_bytes[WAYS] = {0, 2, 4, 0};

static const uint64_t address_masks[WAYS] = {0, 0xFF, UINT32_MAX, UINT64_MAX};
static const uint64_t value_masks[WAYS] = {0, 0xFF, (UINT64_C(1) << 40) - 1, UINT64_MAX};

void ft_raw_packer_open(ft_raw_packer *packer)
{
    *packer = (ft_raw_packer){.last = ft_calloc(FT_RAW_SITES, sizeof *packer->last)};
}

void ft_raw_packer_close(ft_raw_packer *packer)
{
    free(packer->last);
}

void ft_raw_packer_start(ft_raw_packer *packer)
{
    ft_raw_packer_close(packer);
    ft_raw_packer_open(packer);
}

static inline uint64_t zigzag(uint64_t difference)
{
    return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

static inline uint64_t zagzig(uint64_t coded)
{
    return coded >> 1 ^ -(coded & 1);
}

static inline void put(unsigned char *at, uint64_t word)
{
    memcpy(at, &word, sizeof word);
}

static inline uint64_t get(const unsigned char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* Each part is stored whole, and what comes next over what is too much of it: no branches. Returns
 * behind it. */
static inline unsigned char *pack_one(ft_raw_last *all, uint32_t before, const ft_raw_event *e,
                                      unsigned char *head, unsigned char *at)
{
    uint32_t site = e->site, predicted = all[before].next;
    ft_raw_last *last = &all[site];
    uint64_t address = zigzag(e->address - last->address);
    uint64_t value = zigzag((uint64_t)e->value - last->value);
    unsigned site_way = (unsigned)(predicted != site) << (site > UINT16_MAX);
    unsigned address_way =
        (unsigned)(address != 0) + (address > UINT8_MAX) + (address > UINT32_MAX);
    unsigned value_way = (unsigned)(value != 0) + (value > UINT8_MAX) + (value >> 40 != 0);
    unsigned updates = e->code / 8 == FT_RAW_FORM_UPDATE;
    last->address = e->address;
    last->value = (uint64_t)e->value;
    all[before].next = site;
    *head = (unsigned char)(site_way << SITE | address_way << ADDRESS | value_way << VALUE |
                            updates << WRITTEN);
    put(at, site);
    at += site_bytes[site_way];
    put(at, address);
    at += address_bytes[address_way];
    put(at, value);
    at += value_bytes[value_way];
    if (updates) put(at, (uint64_t)e->written);
    return at + updates * sizeof e->written;
}

size_t ft_raw_pack(ft_raw_packer *packer, const ft_raw_event *events, uint32_t n, unsigned char *to)
{
    unsigned char *at = to + n;
    uint32_t site = packer->site;
    for (uint32_t i = 0; i < n; i++) {
        at = pack_one(packer->last, site, &events[i], to + i, at);
        site = events[i].site;
    }
    packer->site = site;
    return (size_t)(at - to);
}

static inline uint32_t unpack_site(const unsigned char *at, unsigned way, uint32_t predicted)
{
    if (!way) return predicted;
    return (uint32_t)get(at) & (way == 1 ? UINT16_MAX : UINT32_MAX);
}

/* Returns behind it. */
static inline const unsigned char *unpack_one(ft_raw_last *all, uint32_t site, unsigned head,
                                              const unsigned char *at, ft_raw_event *e)
{
    unsigned address_way = head >> ADDRESS & 3, value_way = head >> VALUE & 3;
    ft_raw_last *last = &all[site];
    const unsigned char *address = at + site_bytes[head >> SITE & 3],
                        *value = address + address_bytes[address_way],
                        *written = value + value_bytes[value_way];
    e->address = last->address + zagzig(get(address) & address_masks[address_way]);
    e->value = (int64_t)(last->value + zagzig(get(value) & value_masks[value_way]));
    e->written = head >> WRITTEN & 1 ? (int64_t)get(written) : e->value;
    e->site = site;
    last->address = e->address;
    last->value = (uint64_t)e->value;
    return written + (head >> WRITTEN & 1) * sizeof e->written;
}

bool ft_raw_unpack(ft_raw_packer *packer, const unsigned char *from, size_t bytes,
                   const uint8_t *codes, uint32_t n_sites, ft_raw_event *events, uint32_t n)
{
    const unsigned char *at = from + n, *stop = from + bytes;
    ft_raw_last *all = packer->last;
    uint32_t before = packer->site;
    for (uint32_t i = 0; i < n; i++) {
        if (at > stop) return false;
        uint32_t site = unpack_site(at, from[i] >> SITE & 3, all[before].next);
        if (site >= n_sites) return false;
        at = unpack_one(all, site, from[i], at, &events[i]);
        events[i].code = codes[site];
        all[before].next = site;
        before = site;
    }
    packer->site = before;
    return at == stop;
}
