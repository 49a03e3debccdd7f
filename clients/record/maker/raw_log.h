/* Reading a raw log (raw/raw.h): what the runtime wrote, in its order, also while it still writes.
 */
#ifndef FT_RECORD_RAW_LOG_H
#define FT_RECORD_RAW_LOG_H

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
    const ft_raw_event *events; /* until the next call; NULL: they are passed over */
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

typedef struct ft_raw_log ft_raw_log;

/* Opens the log at `path`. FT_INPUT: not a log, or no program wrote to it. */
ft_status ft_raw_log_open(const char *path, ft_raw_log **log, ft_error *err) FT_MUST_CHECK;
/* Opens it before the program starts: there is nothing in it at first. Where the limit leaves room
 * for that the program is told to write its records into a ring, from which ft_raw_log_next takes
 * them: the program waits where nobody does. What is taken is kept, packed (raw_pack.h), the first
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

void ft_raw_log_rewind(ft_raw_log *log);
/* Are events kept in the batches in which they came, so that they come in the same ones again? */
bool ft_raw_log_has_batches(const ft_raw_log *log);
/* After a rewind: true: nobody looks at the events that come next; where the log has batches it
 * gives their sum alone. */
void ft_raw_log_pass_over(ft_raw_log *log, bool over);
/* What comes next. False at the end of what is there; *err is filled where the log is damaged. */
bool ft_raw_log_next(ft_raw_log *log, ft_raw_record *record, ft_error *err);

const char *ft_raw_end_text(uint32_t end); /* "the program ended" */

#endif
