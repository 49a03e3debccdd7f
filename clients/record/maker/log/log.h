/* The raw log: reads the records that the runtime writes (raw/raw.h), also while the program still
 * runs, and gives them to both passes in the same order.
 *
 * A log that is followed goes through a ring in shared memory: the program waits where the reader
 * falls behind. Records taken from the ring are kept in the *store*, accesses among them packed
 * (pack.h), first in memory and then in the file, so that a rewind gives all of them once more.
 * Accesses, calls and returns are *events*; they come in batches of up to FT_RAW_BATCH of one
 * thread, every other record by itself. The reader follows each thread's calls, so that the frame
 * around an address on its stack is known.
 *
 * Imports: raw, common/base. */
#ifndef FT_RECORD_RAW_LOG_H
#define FT_RECORD_RAW_LOG_H

#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "raw/raw.h"

enum { FT_RAW_OPERANDS = 4, FT_RAW_BATCH = 256 };

/* An access of 1, 2, 4 or 8 bytes, a call (FT_RAW_ENTER) or a return (FT_RAW_LEAVE). */
typedef struct ft_raw_event {
    uint64_t address;
    int64_t value, written; /* written: by an update; else the value */
    uint32_t site;
    uint32_t code; /* of the site (raw.h) */
} ft_raw_event;

/* The calls and returns of a batch of events, summed up. */
typedef struct ft_raw_sum {
    uint32_t calls;     /* events that are calls or returns; the others are accesses */
    uint32_t left;      /* calls entered before the batch that the batch returns from */
    uint32_t n_entered; /* calls entered in the batch that do not return in it, outermost first */
    uint32_t entered[FT_RAW_BATCH]; /* their sites */
} ft_raw_sum;

/* One call of ft_raw_log_next fills this: a batch of events, perhaps followed by an access of
 * another size (`access`); or, with neither, one record of another operation. */
typedef struct ft_raw_record {
    uint32_t thread;
    uint32_t n_events;
    const ft_raw_event *events; /* valid until the next call; NULL: passed over; not filled while a
                                   taker sees the events (ft_raw_log_show) */
    const ft_raw_sum *sum;      /* of the events */
    bool access;
    ft_raw_operation operation;
    ft_raw_form form;                   /* of an access */
    uint64_t operands[FT_RAW_OPERANDS]; /* u, in order */
    const unsigned char *text;          /* t, or the content of a range; in the log */
    uint64_t length;                    /* of the text; 0: a range without content */
    uint32_t site;                      /* of an access */
    uint64_t address, size;             /* of an access */
    int64_t value, written;             /* of an access up to 8 bytes; written: of an update */
} ft_raw_record;

/* Makes a record of an event that is an access. */
void ft_raw_record_of(const ft_raw_event *event, uint32_t thread, ft_raw_record *record);

/* A plain batch (pack.h) has events as the program writes them, in two words each. */
enum { FT_RAW_PLAIN = 2 * FT_RAW_WORD };

static inline void ft_raw_put_plain(unsigned char *to, uint64_t first, uint64_t value)
{
    memcpy(to, &first, sizeof first);
    memcpy(to + FT_RAW_WORD, &value, sizeof value);
}

/* The first word of an event. */
static inline uint64_t ft_raw_first_word(const ft_raw_event *e)
{
    return 1 | e->address << 1 | (uint64_t)e->site << FT_RAW_SITE_SHIFT;
}

/* The address in an event's first word. */
static inline uint64_t ft_raw_plain_address(uint64_t first)
{
    return first >> 1 & ((UINT64_C(1) << FT_RAW_ADDRESS_BITS) - 1);
}

/* The event of two words; codes: by site. */
static inline ft_raw_event ft_raw_plain_event(uint64_t first, uint64_t value, const uint8_t *codes)
{
    uint32_t site = (uint32_t)(first >> FT_RAW_SITE_SHIFT);
    return (ft_raw_event){.address = ft_raw_plain_address(first),
                          .value = (int64_t)value,
                          .written = (int64_t)value,
                          .site = site,
                          .code = codes[site]};
}

/* A run of *usual* events: reads and writes of up to eight bytes at sites that fit into the first
 * word. Most of a log is these. */
typedef struct ft_raw_run {
    uint32_t thread;
    const uint64_t *at;        /* the next one */
    const uint8_t *codes;      /* by site */
    uint64_t *counts;          /* by site: how many came so far */
    unsigned char *plain;      /* where the next one's words are kept */
    const unsigned char *stop; /* the end of that room */
} ft_raw_run;

/* The code of a usual event has no other bits. */
enum { FT_RAW_USUAL = 0x1B };
_Static_assert((8 * (FT_RAW_FORM_UPDATE - 1) | (FT_RAW_RANGE - 1)) == FT_RAW_USUAL &&
                   FT_RAW_FORM_UPDATE == 4 && FT_RAW_RANGE == 4,
               "reads and writes, and sizes up to eight bytes, are below powers of two");

/* Takes the next event; false: it is not a usual one. */
static inline bool ft_raw_run_take(ft_raw_run *run, ft_raw_event *event)
{
    if (run->plain == run->stop) return false;
    uint64_t first = run->at[0], value = run->at[1];
    *event = ft_raw_plain_event(first, value, run->codes);
    if (!(first & 1) || event->code & ~(uint32_t)FT_RAW_USUAL) return false;
    ft_raw_put_plain(run->plain, first, value);
    run->counts[event->site]++;
    run->at += 2;
    run->plain += FT_RAW_PLAIN;
    return true;
}

/* A taker sees the events of a log that is followed while they are read: one loop that reads and
 * counts costs less than two. */
typedef struct ft_raw_taker {
    void *of;
    const uint32_t *turn; /* which turn of the threads it is, as the taker counts them */
    void (*run)(void *of, ft_raw_run *run);                               /* takes usual events */
    void (*other)(void *of, uint32_t thread, const ft_raw_event *access); /* any other access */
} ft_raw_taker;

/* The frame of a call: its frame pointer, a site in the function's code (0: not known yet), and the
 * taker's turn when the call began. */
typedef struct ft_raw_frame {
    uint64_t address;
    uint32_t site, since;
} ft_raw_frame;

typedef struct ft_raw_log ft_raw_log;

/* Opens the log at `path`. FT_INPUT: not a log, or no program wrote to it. */
ft_status ft_raw_log_open(const char *path, ft_raw_log **log, ft_error *err) FT_MUST_CHECK;
/* Opens the log before the program starts, while it is empty. If the limit leaves room, the header
 * tells the program to write its records into a ring, and to wait while the ring is full. Records
 * that were taken are kept in the store, packed (pack.h): the first `memory` bytes in memory, the
 * rest in the file. When the file has no room for more, the header tells the program to stop, and
 * no more records come. */
ft_status ft_raw_log_follow(const char *path, size_t memory, ft_raw_log **log,
                            ft_error *err) FT_MUST_CHECK;
/* Bytes of memory for a log: an eighth of the machine's, at most half a gigabyte. */
size_t ft_raw_log_memory(void);
/* Finds how far the program has written by now. True: further than before. */
bool ft_raw_log_look(ft_raw_log *log);
/* No more records will be taken: the program does not wait for room in the ring any more. */
void ft_raw_log_abandon(ft_raw_log *log);
void ft_raw_log_close(ft_raw_log *log); /* accepts NULL */
const ft_raw_header *ft_raw_log_header(const ft_raw_log *log);

/* The taker sees all events up to a rewind. Before the first record. */
void ft_raw_log_show(ft_raw_log *log, const ft_raw_taker *taker);
/* The record's events, which the taker saw; valid until the next call. */
const ft_raw_event *ft_raw_log_shown(ft_raw_log *log, const ft_raw_record *record);
/* By site: how many events came, once the log is read to its end. */
const uint64_t *ft_raw_log_counts(const ft_raw_log *log);

void ft_raw_log_rewind(ft_raw_log *log);
/* Do events come in the same batches again after a rewind? Only logs with a store keep them. */
bool ft_raw_log_has_batches(const ft_raw_log *log);
/* After a rewind: over: nobody needs the events that come next, so a log with batches gives their
 * sum alone. */
void ft_raw_log_pass_over(ft_raw_log *log, bool over);
/* Reads on. False: at the end of what is written so far, or damaged (then *err is filled). */
bool ft_raw_log_next(ft_raw_log *log, ft_raw_record *record, ft_error *err);

/* Of the calls that the thread is in, where the log is read so far, the innermost one whose frame
 * lies above the address on its stack. False: it is not known. */
bool ft_raw_log_frame_at(const ft_raw_log *log, uint32_t thread, uint64_t address,
                         ft_raw_frame *frame);

/* The call site of the thread's i-th call from the innermost, where the log is read so far; 0:
 * there is none, or it is not known. */
uint32_t ft_raw_log_caller(const ft_raw_log *log, uint32_t thread, uint32_t i);

const char *ft_raw_end_text(uint32_t end); /* "the program ended" */

#endif
