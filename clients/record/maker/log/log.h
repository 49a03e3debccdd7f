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

/* What events that follow each other come to. */
typedef struct ft_raw_sum {
    uint32_t calls;     /* events that are calls and returns; the others are accesses */
    uint32_t left;      /* calls that they return from, of those before them; then */
    uint32_t n_entered; /* calls that they do not return from, outermost first: their sites */
    uint32_t entered[FT_RAW_BATCH];
} ft_raw_sum;

/* What one call of ft_raw_log_next gives: events that follow each other, perhaps with an access of
 * another size behind them (`access`), or, with neither, one record of another operation. */
typedef struct ft_raw_record {
    uint32_t thread; /* whose it is */
    uint32_t n_events;
    const ft_raw_event *events; /* until the next call; NULL: they are passed over; not there
                                   while they are shown (ft_raw_log_show) */
    const ft_raw_sum *sum;      /* what they come to */
    bool access;
    ft_raw_operation operation;
    ft_raw_form form;                   /* of an access */
    uint64_t operands[FT_RAW_OPERANDS]; /* u, in order */
    const unsigned char *text;          /* t, or the content of a range; in the log */
    uint64_t length;                    /* of the text; a range that kept none has 0 */
    uint32_t site;                      /* of an access */
    uint64_t address, size;             /* of an access */
    int64_t value, written;             /* of an access up to 8 bytes; written: of an update */
} ft_raw_record;

/* The access that an event is, as a record. */
void ft_raw_record_of(const ft_raw_event *event, uint32_t thread, ft_raw_record *record);

/* An event as the program writes it, in two words: so it stands in a plain batch (pack.h). */
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

/* Its address in there. */
static inline uint64_t ft_raw_plain_address(uint64_t first)
{
    return first >> 1 & ((UINT64_C(1) << FT_RAW_ADDRESS_BITS) - 1);
}

/* An event of these words; codes: by site. */
static inline ft_raw_event ft_raw_plain_event(uint64_t first, uint64_t value, const uint8_t *codes)
{
    uint32_t site = (uint32_t)(first >> FT_RAW_SITE_SHIFT);
    return (ft_raw_event){.address = ft_raw_plain_address(first),
                          .value = (int64_t)value,
                          .written = (int64_t)value,
                          .site = site,
                          .code = codes[site]};
}

/* What comes next in the log, as far as it is *usual*: reads and writes of up to eight bytes at
 * sites that fit into the first word. Most of a log is these. */
typedef struct ft_raw_run {
    uint32_t thread;
    const uint64_t *at;        /* the next one */
    const uint8_t *codes;      /* by site */
    uint64_t *counts;          /* by site: how many came so far */
    unsigned char *plain;      /* where its words go; */
    const unsigned char *stop; /* there, none is left */
} ft_raw_run;

/* The code of a usual event has no other bits. */
enum { FT_RAW_USUAL = 0x1B };
_Static_assert((8 * (FT_RAW_FORM_UPDATE - 1) | (FT_RAW_RANGE - 1)) == FT_RAW_USUAL &&
                   FT_RAW_FORM_UPDATE == 4 && FT_RAW_RANGE == 4,
               "reads and writes, and sizes up to eight bytes, are below powers of two");

/* The next one; false: what comes is something else. */
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

/* Who looks at events of a log that is followed while they are read: one loop costs less than one
 * behind the other. */
typedef struct ft_raw_taker {
    void *of;
    const uint32_t *turn; /* which turn of the threads it is, as the taker counts them */
    void (*run)(void *of, ft_raw_run *run);                               /* takes what is there */
    void (*other)(void *of, uint32_t thread, const ft_raw_event *access); /* that is not usual */
} ft_raw_taker;

/* The frame of a function, as it points to itself, a site of its code (0: not known yet), and the
 * taker's turn when it began. */
typedef struct ft_raw_frame {
    uint64_t address;
    uint32_t site, since;
} ft_raw_frame;

typedef struct ft_raw_log ft_raw_log;

/* Opens the log at `path`. FT_INPUT: not a log, or no program wrote to it. */
ft_status ft_raw_log_open(const char *path, ft_raw_log **log, ft_error *err) FT_MUST_CHECK;
/* Opens it before the program starts: there is nothing in it at first. Where the limit leaves room
 * for that the program is told to write its records into a ring, from which ft_raw_log_next takes
 * them: the program waits where nobody does. What is taken is kept, packed (pack.h), the first
 * `memory` bytes in memory, the rest in the file, and comes once more after a rewind. Where the
 * file has no room for more, the program is told to stop, and nothing more comes.
 */
ft_status ft_raw_log_follow(const char *path, size_t memory, ft_raw_log **log,
                            ft_error *err) FT_MUST_CHECK;
/* What of this machine's memory a log may have: an eighth, and no more than half a gigabyte. */
size_t ft_raw_log_memory(void);
/* Looks how far a log that is followed goes by now. True: there is more than before. */
bool ft_raw_log_look(ft_raw_log *log);
/* Nobody will take what the program writes from here on: it does not wait for that. */
void ft_raw_log_abandon(ft_raw_log *log);
void ft_raw_log_close(ft_raw_log *log); /* accepts NULL */
const ft_raw_header *ft_raw_log_header(const ft_raw_log *log);

/* Shows events to that one, up to a rewind. */
void ft_raw_log_show(ft_raw_log *log, const ft_raw_taker *taker);
/* The events of the record at hand that were shown; until the next call. */
const ft_raw_event *ft_raw_log_shown(ft_raw_log *log, const ft_raw_record *record);
/* By site: events that came, once all did. */
const uint64_t *ft_raw_log_counts(const ft_raw_log *log);

void ft_raw_log_rewind(ft_raw_log *log);
/* Are events kept in the batches in which they came, so that they come in the same ones again? */
bool ft_raw_log_has_batches(const ft_raw_log *log);
/* After a rewind: true: nobody looks at the events that come next; where the log has batches it
 * gives their sum alone. */
void ft_raw_log_pass_over(ft_raw_log *log, bool over);
/* What comes next. False at the end of what is there; *err is filled where the log is damaged. */
bool ft_raw_log_next(ft_raw_log *log, ft_raw_record *record, ft_error *err);

/* Whose frame that is of the calls which the thread is in, where the log is read so far: the
 * innermost above the address, on its stack. False: it is not known. */
bool ft_raw_log_frame_at(const ft_raw_log *log, uint32_t thread, uint64_t address,
                         ft_raw_frame *frame);

/* Where the thread's calls were made, by now: 0 the innermost one's caller. A site; 0: there is
 * none, or it is not known. */
uint32_t ft_raw_log_caller(const ft_raw_log *log, uint32_t thread, uint32_t i);

const char *ft_raw_end_text(uint32_t end); /* "the program ended" */

#endif
