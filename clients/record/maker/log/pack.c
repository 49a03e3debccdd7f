#include "maker/log/pack.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"

/* A packed batch begins with one byte for each event: from these bits on, in which way its address,
 * value and site are stored. Behind these bytes come, event by event, the site, the address, the
 * value and, of an update, the value written. So an event's place depends on head bytes alone, and
 * the processor need not wait for the data before it. */
enum { ADDRESS = 0, VALUE = 3, SITE = 6, WAYS = 8, LONGEST = 1 + 4 + 8 + 8 + 8 };

_Static_assert((int)FT_RAW_PACKED_BEHIND >= (int)LONGEST, "the last event may have any length");
_Static_assert((int)FT_RAW_PACKED_MOST >= FT_RAW_BATCH * (int)LONGEST + 8,
               "the last part is stored whole");

static const uint8_t number_bytes[WAYS] = {0, 1, 2, 3, 4, 5, 6, 8};
static const uint8_t site_bytes[] = {0, 2, 4, 0};

static const uint64_t number_masks[WAYS] = {
    0, 0xFF, 0xFFFF, 0xFFFFFF, UINT32_MAX, 0xFFFFFFFFFF, 0xFFFFFFFFFFFF, UINT64_MAX,
};

/* The way to store a number in as many bytes as it has; seven take eight. */
static inline unsigned number_way(uint64_t number)
{
    unsigned bytes = number ? (71 - (unsigned)__builtin_clzll(number)) / 8 : 0;
    return bytes < WAYS ? bytes : WAYS - 1;
}

void ft_raw_packer_open(ft_raw_packer *packer)
{
    *packer = (ft_raw_packer){.last = ft_calloc_sparse(FT_RAW_SITES, sizeof *packer->last)};
}

void ft_raw_packer_close(ft_raw_packer *packer)
{
    free(packer->last);
}

/* Numbers the next batch: entries of `last` with another number are left from earlier ones. */
static uint32_t next_batch(ft_raw_packer *packer)
{
    if (!++packer->batch) {
        memset(packer->last, 0, FT_RAW_SITES * sizeof *packer->last);
        packer->batch = 1;
    }
    return packer->batch;
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

static inline void put_site(unsigned char *at, uint32_t site)
{
    memcpy(at, &site, sizeof site);
}

static inline uint64_t get(const unsigned char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* Each part is stored as a whole word, and the next one over its unused bytes, so that there are no
 * branches but those that nearly always go one way. Returns the end. */
static inline unsigned char *pack_one(ft_raw_last *last, unsigned site_way, uint32_t site,
                                      uint64_t address, uint64_t value, unsigned char *head,
                                      unsigned char *at)
{
    uint64_t moved = zigzag(address - last->address), changed = zigzag(value - last->value);
    unsigned address_way = number_way(moved), value_way = number_way(changed);
    *head = (unsigned char)(site_way << SITE | address_way << ADDRESS | value_way << VALUE);
    last->address = address;
    last->value = value;
    put_site(at, site);
    at += site_bytes[site_way];
    put(at, moved);
    at += number_bytes[address_way];
    put(at, changed);
    return at + number_bytes[value_way];
}

size_t ft_raw_pack(ft_raw_packer *packer, const ft_raw_taken *taken, uint32_t n, unsigned char *to)
{
    FT_REQUIRE(n <= FT_RAW_BATCH);
    unsigned char *at = to + n;
    uint32_t batch = next_batch(packer);
    uint64_t address = 0;
    ft_raw_last *all = packer->last, first = {0}, *before = &first;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t word = get(taken->words + i * FT_RAW_PLAIN),
                 value = get(taken->words + i * FT_RAW_PLAIN + FT_RAW_WORD);
        const ft_raw_event *other = word ? NULL : &taken->others[i];
        uint32_t site = other ? other->site : (uint32_t)(word >> FT_RAW_SITE_SHIFT);
        ft_raw_last *last = &all[site];
        if (last->batch != batch) *last = (ft_raw_last){.address = address, .batch = batch};
        address = other ? other->address : ft_raw_plain_address(word);
        unsigned site_way = (unsigned)(before->next != site) << (site > UINT16_MAX);
        before->next = site;
        before = last;
        at = pack_one(last, site_way, site, address, value, &to[i], at);
        if (other && ft_raw_updates(other->code / 8)) {
            put(at, (uint64_t)other->written);
            at += sizeof other->written;
        }
    }
    assert((size_t)(at - to) <= FT_RAW_PACKED_MOST);
    return (size_t)(at - to);
}

static inline uint32_t unpack_site(const unsigned char *at, unsigned way, uint32_t predicted)
{
    if (!way) return predicted;
    return (uint32_t)get(at) & (way == 1 ? UINT16_MAX : UINT32_MAX);
}

/* All of an event but its site and code, which are set already. Returns the end. */
static inline const unsigned char *unpack_one(ft_raw_last *last, unsigned head,
                                              const unsigned char *at, ft_raw_event *e)
{
    unsigned address_way = head >> ADDRESS & (WAYS - 1), value_way = head >> VALUE & (WAYS - 1);
    const unsigned char *address = at + site_bytes[head >> SITE & 3],
                        *value = address + number_bytes[address_way],
                        *written = value + number_bytes[value_way];
    bool updates = ft_raw_updates(e->code / 8);
    e->address = last->address + zagzig(get(address) & number_masks[address_way]);
    e->value = (int64_t)(last->value + zagzig(get(value) & number_masks[value_way]));
    e->written = updates ? (int64_t)get(written) : e->value;
    last->address = e->address;
    last->value = (uint64_t)e->value;
    return written + updates * sizeof e->written;
}

bool ft_raw_unpack(ft_raw_packer *packer, const unsigned char *from, size_t bytes,
                   const uint8_t *codes, uint32_t n_sites, ft_raw_event *events, uint32_t n)
{
    FT_REQUIRE(n <= FT_RAW_BATCH);
    const unsigned char *at = from + n, *stop = from + bytes;
    uint32_t batch = next_batch(packer);
    ft_raw_last *all = packer->last, first = {0}, *before = &first;
    for (uint32_t i = 0; i < n; i++) {
        if (at > stop) return false;
        uint32_t site = unpack_site(at, from[i] >> SITE & 3, before->next);
        if (site >= n_sites) return false;
        ft_raw_last *last = &all[site];
        if (last->batch != batch)
            *last = (ft_raw_last){.address = i ? events[i - 1].address : 0, .batch = batch};
        events[i].site = site;
        events[i].code = codes[site];
        at = unpack_one(last, from[i], at, &events[i]);
        before->next = site;
        before = last;
    }
    return at == stop;
}

/* ---- batches */

/* A batch begins with two words, with these fields from these bits on (NEXT: words from here to a
 * later batch). Then come the events, the sites of the calls entered in 32 bits each, and zeros up
 * to a whole word. A plain event is as in the log (raw/raw.h), in two words. */
enum {
    EVENTS = 16,
    BYTES = 32,
    NEXT = 48,
    CALLS = 0,
    LEFT = 16,
    ENTERED = 32,
    PLAIN = 48,
    HEAD = 2 * FT_RAW_WORD
};

_Static_assert(FT_RAW_PACKED_MOST <= UINT16_MAX, "the bytes have room");
_Static_assert(FT_RAW_PACKED_MOST >= FT_RAW_BATCH * (int)FT_RAW_PLAIN, "plain ones have room, too");

static size_t size_of(size_t bytes, size_t n_entered)
{
    size_t all = HEAD + bytes + n_entered * sizeof(uint32_t);
    return (all + FT_RAW_WORD - 1) / FT_RAW_WORD * FT_RAW_WORD;
}

static bool get_plain(const ft_raw_batch *batch, const uint8_t *codes, uint32_t n_sites,
                      ft_raw_event *events)
{
    const unsigned char *at = batch->events;
    if (batch->bytes != FT_RAW_PLAIN * (size_t)batch->n) return false;
    for (uint32_t i = 0; i < batch->n; i++, at += FT_RAW_PLAIN) {
        uint64_t first = get(at);
        if (first >> FT_RAW_SITE_SHIFT >= n_sites) return false;
        events[i] = ft_raw_plain_event(first, get(at + FT_RAW_WORD), codes);
    }
    return true;
}

bool ft_raw_batch_get(ft_raw_packer *packer, const ft_raw_batch *batch, const uint8_t *codes,
                      uint32_t n_sites, ft_raw_event *events)
{
    if (batch->plain) return get_plain(batch, codes, n_sites, events);
    return ft_raw_unpack(packer, batch->events, batch->bytes, codes, n_sites, events, batch->n);
}

unsigned char *ft_raw_batch_plain(unsigned char *to)
{
    return to + HEAD;
}

size_t ft_raw_batch_put(ft_raw_packer *packer, const ft_raw_sum *sum, const ft_raw_taken *taken,
                        uint32_t n, unsigned char *to)
{
    FT_REQUIRE(n <= FT_RAW_BATCH && sum->calls <= n && sum->n_entered <= sum->calls);
    size_t bytes = packer ? ft_raw_pack(packer, taken, n, to + HEAD) : FT_RAW_PLAIN * (size_t)n;
    unsigned char *entered = to + HEAD + bytes;
    put(entered + sum->n_entered * sizeof *sum->entered, 0);
    put(to, FT_RAW_PACKED | (uint64_t)n << EVENTS | (uint64_t)bytes << BYTES);
    put(to + FT_RAW_WORD, (uint64_t)sum->calls << CALLS | (uint64_t)sum->left << LEFT |
                              (uint64_t)sum->n_entered << ENTERED | (uint64_t)!packer << PLAIN);
    memcpy(entered, sum->entered, sum->n_entered * sizeof *sum->entered);
    return size_of(bytes, sum->n_entered);
}

void ft_raw_batch_lead(unsigned char *batch, const unsigned char *to)
{
    FT_REQUIRE(to >= batch && (to - batch) % FT_RAW_WORD == 0);
    assert(!(get(batch) >> NEXT)); /* a batch leads to one other */
    size_t words = (size_t)(to - batch) / FT_RAW_WORD;
    if (words <= UINT16_MAX) put(batch, get(batch) | (uint64_t)words << NEXT);
}

bool ft_raw_batch_look(const unsigned char *from, size_t bytes, ft_raw_batch *batch)
{
    if (bytes < HEAD) return false;
    uint64_t head = get(from), sum = get(from + FT_RAW_WORD);
    *batch = (ft_raw_batch){.n = (uint32_t)(head >> EVENTS) & UINT16_MAX,
                            .calls = (uint32_t)(sum >> CALLS) & UINT16_MAX,
                            .left = (uint32_t)(sum >> LEFT) & UINT16_MAX,
                            .n_entered = (uint32_t)(sum >> ENTERED) & UINT16_MAX,
                            .plain = sum >> PLAIN & 1,
                            .events = from + HEAD,
                            .bytes = head >> BYTES & UINT16_MAX,
                            .next = from + (head >> NEXT) * FT_RAW_WORD};
    batch->whole = size_of(batch->bytes, batch->n_entered);
    batch->entered = batch->events + batch->bytes;
    return batch->n <= FT_RAW_BATCH && batch->whole <= bytes;
}

bool ft_raw_batch_sum(const ft_raw_batch *batch, uint32_t n_sites, ft_raw_sum *sum)
{
    if (batch->calls > batch->n || batch->n_entered + batch->left > batch->calls) return false;
    sum->calls = batch->calls;
    sum->left = batch->left;
    sum->n_entered = batch->n_entered;
    memcpy(sum->entered, batch->entered, batch->n_entered * sizeof *sum->entered);
    for (uint32_t i = 0; i < sum->n_entered; i++)
        if (sum->entered[i] >= n_sites) return false;
    return true;
}
