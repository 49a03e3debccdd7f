/* Events of a raw log, packed: what was taken out of a ring is kept like this, in batches. Most
 * accesses of a place in the code are near the one before it there, in address and in value, and
 * most places have the same one behind them each time; only what is otherwise takes bytes. A batch
 * needs nothing of those before it, so that it can be passed over. Where there is room, batches are
 * kept plain instead, two words for each event, which takes a fraction of the time. */
#ifndef FT_RECORD_RAW_PACK_H
#define FT_RECORD_RAW_PACK_H

#include "maker/log/log.h"

enum {
    FT_RAW_PACKED = 0xFE,                   /* the first byte of a batch */
    FT_RAW_PACKED_BEHIND = 32,              /* bytes behind what is packed that must be readable */
    FT_RAW_PACKED_MOST = FT_RAW_BATCH * 32, /* bytes written, what is too much included */
    FT_RAW_BATCH_MOST = FT_RAW_PACKED_MOST + FT_RAW_BATCH * 4 + 3 * FT_RAW_WORD
};

/* What came last, by site. */
typedef struct ft_raw_last {
    uint64_t address, value;
    uint32_t next;  /* the site that came behind it */
    uint32_t batch; /* in which that was */
} ft_raw_last;

typedef struct ft_raw_packer {
    ft_raw_last *last; /* [FT_RAW_SITES] */
    uint32_t batch;
} ft_raw_packer;

void ft_raw_packer_open(ft_raw_packer *packer);
void ft_raw_packer_close(ft_raw_packer *packer);

/* Events as they were taken out of a ring. */
typedef struct ft_raw_taken {
    const unsigned char *words; /* of each: as in a plain batch, or the first one is 0 */
    const ft_raw_event *others; /* then it stands here, at the same place */
} ft_raw_taken;

/* At most FT_RAW_BATCH events into FT_RAW_PACKED_MOST bytes; returns how many it took. */
size_t ft_raw_pack(ft_raw_packer *packer, const ft_raw_taken *taken, uint32_t n, unsigned char *to);
/* The n events of so many bytes; codes: of the sites below n_sites. False: they are not that. */
bool ft_raw_unpack(ft_raw_packer *packer, const unsigned char *from, size_t bytes,
                   const uint8_t *codes, uint32_t n_sites, ft_raw_event *events, uint32_t n);

/* A batch that stands somewhere, in whole words. */
typedef struct ft_raw_batch {
    uint32_t n; /* events */
    uint32_t calls, left, n_entered;
    bool plain;
    const unsigned char *events, *entered;
    const unsigned char *next; /* ft_raw_batch_lead; else the batch itself */
    size_t bytes;              /* of the events */
    size_t whole;              /* of the batch */
} ft_raw_batch;

/* May the event be in a plain batch? */
static inline bool ft_raw_is_plain(const ft_raw_event *e)
{
    return e->site <= UINT16_MAX && !(e->address >> FT_RAW_ADDRESS_BITS) &&
           !ft_raw_updates(e->code / 8);
}

/* Where a batch at `to` has its plain events. */
unsigned char *ft_raw_batch_plain(unsigned char *to);
/* The events and what they come to, into FT_RAW_BATCH_MOST bytes; returns how many it took.
 * packer: NULL: plainly, and they are there. */
size_t ft_raw_batch_put(ft_raw_packer *packer, const ft_raw_sum *sum, const ft_raw_taken *taken,
                        uint32_t n, unsigned char *to);
/* Says in a batch where a later one is, for who fetches that before it comes to it; not if it is
 * far. */
void ft_raw_batch_lead(unsigned char *batch, const unsigned char *to);
/* The batch of at most so many bytes, a word at least. False: it is none. */
bool ft_raw_batch_look(const unsigned char *from, size_t bytes, ft_raw_batch *batch);
/* Its events; codes: of the sites below n_sites. False: it has no such ones. */
bool ft_raw_batch_get(ft_raw_packer *packer, const ft_raw_batch *batch, const uint8_t *codes,
                      uint32_t n_sites, ft_raw_event *events);
/* What its events come to. False: it is no sum of events at those sites. */
bool ft_raw_batch_sum(const ft_raw_batch *batch, uint32_t n_sites, ft_raw_sum *sum);

#endif
