/* Events of a raw log, packed: what was taken out of a ring is kept like this. Most accesses of a
 * place in the code are near the one before it there, in address and in value, and most places
 * have the same one behind them each time; only what is otherwise takes bytes. */
#ifndef FT_RECORD_RAW_PACK_H
#define FT_RECORD_RAW_PACK_H

#include "maker/raw_log.h"

enum {
    FT_RAW_PACKED_BEHIND = 32,             /* bytes behind what is packed that must be readable */
    FT_RAW_PACKED_MOST = FT_RAW_BATCH * 32 /* bytes written, what is too much included */
};

/* What came last, by site. Who unpacks starts as who packed did, with all zeros. */
typedef struct ft_raw_last {
    uint64_t address, value;
    uint32_t next; /* the site that came behind it */
} ft_raw_last;

typedef struct ft_raw_packer {
    ft_raw_last *last; /* [FT_RAW_SITES] */
    uint32_t site;     /* of the last event */
} ft_raw_packer;

void ft_raw_packer_open(ft_raw_packer *packer);
void ft_raw_packer_start(ft_raw_packer *packer); /* again */
void ft_raw_packer_close(ft_raw_packer *packer);

/* At most FT_RAW_BATCH events into FT_RAW_PACKED_MOST bytes; returns how many it took. */
size_t ft_raw_pack(ft_raw_packer *packer, const ft_raw_event *events, uint32_t n,
                   unsigned char *to);
/* The n events of so many bytes; codes: of the sites below n_sites. False: they are not that. */
bool ft_raw_unpack(ft_raw_packer *packer, const unsigned char *from, size_t bytes,
                   const uint8_t *codes, uint32_t n_sites, ft_raw_event *events, uint32_t n);

#endif
