/* Batches of events, as the store keeps them: packed (2 to 7 bytes an event) or plain (16 bytes).
 *
 * Packing predicts: an access is near the one before it at the same site, in address and in value,
 * and is followed by the same site as last time; only differences take bytes. A batch needs nothing
 * of those before it, so that it can be skipped. While fresh memory is cheap, batches are kept
 * plain instead, two words an event, which takes a fraction of the time. */
#ifndef FT_RECORD_RAW_PACK_H
#define FT_RECORD_RAW_PACK_H

#include "maker/log/log.h"

enum {
    FT_RAW_PACKED = 0xFE,                   /* the first byte of a batch */
    FT_RAW_PACKED_BEHIND = 32,              /* bytes behind a packed batch that must be readable */
    FT_RAW_PACKED_MOST = FT_RAW_BATCH * 32, /* bytes written, scratch behind the end included */
    FT_RAW_BATCH_MOST = FT_RAW_PACKED_MOST + FT_RAW_BATCH * 4 + 3 * FT_RAW_WORD
};

/* The last event at a site. */
typedef struct ft_raw_last {
    uint64_t address, value;
    uint32_t next;  /* the site of the event after it */
    uint32_t batch; /* number of its batch */
} ft_raw_last;

typedef struct ft_raw_packer {
    ft_raw_last *last; /* [FT_RAW_SITES] */
    uint32_t batch;
} ft_raw_packer;

void ft_raw_packer_open(ft_raw_packer *packer);
void ft_raw_packer_close(ft_raw_packer *packer);

/* Events as they were taken from the ring. */
typedef struct ft_raw_taken {
    const unsigned char *words; /* two for each, as in a plain batch; the first may be 0: then */
    const ft_raw_event *others; /* the event is here, at the same index */
} ft_raw_taken;

/* Packs n events, at most FT_RAW_BATCH, into FT_RAW_PACKED_MOST bytes; returns the bytes used. */
size_t ft_raw_pack(ft_raw_packer *packer, const ft_raw_taken *taken, uint32_t n, unsigned char *to);
/* Unpacks n events from that many bytes; codes: of the sites below n_sites. False: damaged. */
bool ft_raw_unpack(ft_raw_packer *packer, const unsigned char *from, size_t bytes,
                   const uint8_t *codes, uint32_t n_sites, ft_raw_event *events, uint32_t n);

/* A batch in the store: whole words. */
typedef struct ft_raw_batch {
    uint32_t n; /* events */
    uint32_t calls, left, n_entered;
    bool plain;
    const unsigned char *events, *entered;
    const unsigned char *next; /* a later batch (ft_raw_batch_lead), else this one */
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
/* Writes events and their sum into FT_RAW_BATCH_MOST bytes; returns the bytes used. packer: NULL:
 * plain, and the events are at ft_raw_batch_plain(to) already. */
size_t ft_raw_batch_put(ft_raw_packer *packer, const ft_raw_sum *sum, const ft_raw_taken *taken,
                        uint32_t n, unsigned char *to);
/* Writes into a batch where a later one is, so that the reader can prefetch it; not if it is far. A
 * batch leads to one other. */
void ft_raw_batch_lead(unsigned char *batch, const unsigned char *to);
/* Reads the head of a batch of at most that many bytes. False: damaged. */
bool ft_raw_batch_look(const unsigned char *from, size_t bytes, ft_raw_batch *batch);
/* Its events; codes: of the sites below n_sites. False: damaged. */
bool ft_raw_batch_get(ft_raw_packer *packer, const ft_raw_batch *batch, const uint8_t *codes,
                      uint32_t n_sites, ft_raw_event *events);
/* The sum of its events. False: damaged. */
bool ft_raw_batch_sum(const ft_raw_batch *batch, uint32_t n_sites, ft_raw_sum *sum);

#endif
