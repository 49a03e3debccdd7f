/* Inside of log.h: log.c has the ring, what is kept of it, and records, events.c
 * events. Not for others. */
#ifndef FT_RECORD_RAW_LOG_INTERNAL_H
#define FT_RECORD_RAW_LOG_INTERNAL_H

#include "maker/log/log.h"
#include "maker/log/pack.h"

typedef uint64_t ft_raw_word __attribute__((may_alias));

/* A call that a thread is in. */
typedef struct ft_raw_call {
    uint64_t frame;  /* below those of the calls before */
    uint32_t inside; /* where it called or forked last, or did the first that is seen of it: a site;
                        0: nowhere yet */
    uint32_t since;  /* ft_raw_taker.turn when it began */
} ft_raw_call;

typedef struct ft_raw_actor {
    FT_VEC(ft_raw_call) calls;
} ft_raw_actor;

enum { FT_RAW_AHEAD = 4 }; /* batches */

struct ft_raw_log {
    unsigned char *map; /* the file */
    size_t mapped;
    /* with a ring */
    unsigned char *ring;  /* twice, one behind the other */
    unsigned char *store; /* of all that was taken; NULL: there is no ring */
    size_t limit;         /* bytes of the store; the program may write over what the header says */
    size_t memory;        /* bytes of the store that never are the file's */
    size_t unpacked;      /* up to here plain events are kept as they are */
    size_t stored;        /* bytes in it */
    size_t opened;        /* up to here it has huge pages where these are fast; 0: nowhere more */
    size_t spilled;       /* of them up to here are in memory for good, or in the file */
    uint64_t taken;       /* bytes of records */
    const unsigned char *from; /* behind them, in the ring */
    bool live;                 /* what comes next is the ring's, not the store's */
    bool full;                 /* the store has no room */
    int fd;                    /* of the file, -1: without a ring */
    unsigned calls;            /* of ft_raw_log_next */
    ft_raw_packer packer;
    unsigned char *batches[FT_RAW_AHEAD]; /* the last ones in the store, in turns; NULL */
    uint32_t n_batches;
    const unsigned char *start, *at, *end;
    uint32_t thread;
    uint8_t *codes; /* [n_sites], from 1 */
    uint32_t n_sites;
    uint32_t wide_site; /* 0, or WIDE has said it and the address's high part */
    uint64_t wide_address;
    uint64_t range_size;           /* as the last range's record has it */
    FT_VEC(ft_raw_actor *) actors; /* by thread */
    ft_raw_actor *actor;           /* of `thread` */
    bool damaged;
    bool over;                 /* ft_raw_log_pass_over */
    const ft_raw_taker *taker; /* NULL: nobody */
    uint64_t *counts;          /* [FT_RAW_SITES] */
    bool plain;                /* all of the events at hand (ft_raw_is_plain) */
    unsigned char *words;      /* where they are, plain; one that is not: in `events` */
    ft_raw_sum sum;            /* of the events */
    ft_raw_event events[FT_RAW_BATCH];
    unsigned char passing[FT_RAW_BATCH * FT_RAW_PLAIN]; /* plain events that are not kept so */
};

/* Are plain events kept as such? Up to half of the memory while it comes fast, then packed. */
static inline bool ft_raw_log_keeps_plain(const ft_raw_log *log)
{
    return log->live && log->stored < log->unpacked;
}

/* Before more is stored: memory for it, if it is time. */
void ft_raw_log_open_store(ft_raw_log *log);

/* ---- check.c */
bool ft_raw_log_is_sound(const ft_raw_log *log);
/* Does the batch in the store say the same events, and the same sum, as were taken? */
bool ft_raw_log_reads_back(ft_raw_log *log, const unsigned char *batch, size_t bytes,
                           const ft_raw_taken *taken, uint32_t n);

/* ---- events.c */
/* Events up to the next record; a range ends them, and is the record's access: returns where. */
const unsigned char *ft_raw_log_events(ft_raw_log *log, ft_raw_record *record);
/* From their words into log->events. */
void ft_raw_log_decode(ft_raw_log *log, uint32_t n);

#endif
