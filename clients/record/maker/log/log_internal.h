/* Shared by the files of log/: log.c has the ring, the store and the records, events.c the events,
 * check.c the checks of FT_CHECKED builds. */
#ifndef FT_RECORD_RAW_LOG_INTERNAL_H
#define FT_RECORD_RAW_LOG_INTERNAL_H

#include "maker/log/log.h"
#include "maker/log/pack.h"

typedef uint64_t ft_raw_word __attribute__((may_alias));

/* A call that a thread is in. Calls are kept outermost first. */
typedef struct ft_raw_call {
    uint64_t frame;  /* below the frames of the calls around it */
    uint32_t inside; /* a site in the function: where it called or forked last, else its first
                        event; 0: it had none yet */
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
    unsigned char *ring;  /* mapped twice, so that a record may go over its end */
    unsigned char *store; /* all records that were taken; NULL: there is no ring */
    size_t limit;    /* bytes of the store: a copy, since the program can overwrite the header */
    size_t memory;   /* bytes of the store that are never in the file */
    size_t unpacked; /* up to here batches are kept plain */
    size_t stored;   /* bytes in it */
    size_t opened;   /* up to here it has huge pages, while these are fast; 0: no more */
    size_t spilled;  /* up to here the store is in memory for good, or in the file */
    uint64_t taken;  /* bytes of records */
    const unsigned char *from; /* the first one not taken, in the ring */
    bool live;                 /* records come from the ring, not from the store */
    bool full;                 /* the store has no room */
    int fd;                    /* of the file, -1: without a ring */
    unsigned calls;            /* of ft_raw_log_next */
    ft_raw_packer packer;
    unsigned char *batches[FT_RAW_AHEAD]; /* the last ones in the store, by number; NULL: none */
    uint32_t n_batches;
    const unsigned char *start, *at, *end;
    uint32_t thread;
    uint8_t *codes; /* [n_sites], from 1 */
    uint32_t n_sites;
    uint32_t wide_site; /* of the next event, from a WIDE record with its high address; 0: none */
    uint64_t wide_address;
    uint64_t range_size;           /* the last range's size word */
    FT_VEC(ft_raw_actor *) actors; /* by thread */
    ft_raw_actor *actor;           /* of `thread` */
    bool damaged;
    bool over;                 /* ft_raw_log_pass_over */
    const ft_raw_taker *taker; /* NULL: nobody */
    uint64_t *counts;          /* [FT_RAW_SITES] */
    bool plain;                /* all events of the batch at hand (ft_raw_is_plain) */
    unsigned char *words;      /* the batch, plain; an event that is not plain is in `events` */
    ft_raw_sum sum;            /* of the events */
    ft_raw_event events[FT_RAW_BATCH];
    unsigned char passing[FT_RAW_BATCH * FT_RAW_PLAIN]; /* `words` of a batch that gets packed */
};

/* Is the next batch kept plain? Up to half of the memory, while fresh memory is fast. */
static inline bool ft_raw_log_keeps_plain(const ft_raw_log *log)
{
    return log->live && log->stored < log->unpacked;
}

/* Gets huge pages for the store's next batch where it needs some. */
void ft_raw_log_open_store(ft_raw_log *log);

/* ---- check.c */
bool ft_raw_log_is_sound(const ft_raw_log *log);
/* Does the batch in the store give the same events and the same sum as were taken? */
bool ft_raw_log_reads_back(ft_raw_log *log, const unsigned char *batch, size_t bytes,
                           const ft_raw_taken *taken, uint32_t n);

/* ---- events.c */
/* Reads a batch of events; a range ends it, and becomes the record's access: returns its place. */
const unsigned char *ft_raw_log_events(ft_raw_log *log, ft_raw_record *record);
/* Decodes the first n of log->words into log->events. */
void ft_raw_log_decode(ft_raw_log *log, uint32_t n);

#endif
