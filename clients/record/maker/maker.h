/* From a raw log to a trace: what never two threads touched is dropped, what is left gets names. */
#ifndef FT_RECORD_MAKER_H
#define FT_RECORD_MAKER_H

#include <stdbool.h>

#include "base/digest.h"
#include "base/status.h"
#include "maker/annotations/annotations.h"
#include "raw/terms.h"
#include "trace/reader.h"
#include "trace/trace.h"

/* What a recording with terms has. */
typedef struct ft_record_terms {
    bool on;           /* it was made with --symbolic */
    bool damaged;      /* what it says of terms does not fit together */
    uint64_t assigned; /* events that are assignments */
    uint64_t assumed;  /* branches and values held */
    uint64_t asserted;
    uint64_t held[FT_SYM_REASONS]; /* values that fell back to what was seen */
    uint64_t wrong; /* terms that did not give what the program had, and were dropped */
} ft_record_terms;
const char *ft_record_held_reason(unsigned reason); /* for people */

enum { FT_RECORD_HOT = 5, FT_RECORD_TEXT = 512 };

/* A line of the program, and how many of the recording's events are there. */
typedef struct ft_record_hot {
    uint32_t loc; /* in the trace */
    uint64_t n;   /* 0: none */
    char place[FT_RECORD_TEXT];
} ft_record_hot;

/* Code of the note of a trace that says which library orders threads without being seen. */
#define FT_RECORD_FOREIGN "unseen-order"
/* That says that nothing of the program was compiled for the recorder. */
#define FT_RECORD_NO_CALLS "no-calls"

/* That says that forked processes had threads. */
#define FT_RECORD_FORKED "forked-threads"
/* That says that threads were not cancelled. */
#define FT_RECORD_REFUSED "refused-cancel"

/* What the recording was, for people and `--json`. */
typedef struct ft_record_summary {
    uint64_t bytes;        /* of the log */
    uint64_t accesses;     /* in the log */
    uint64_t kept;         /* of them in the trace, as so many events */
    uint64_t granules;     /* pieces of memory of eight bytes that were touched */
    uint64_t external;     /* writes by code without hooks, noticed when they were read */
    uint64_t signals;      /* for which a handler of the program ran */
    uint64_t ignored;      /* events in signal handlers and behind the end */
    uint64_t transactions; /* that the program marked */
    uint64_t unseen;       /* times that a thread slept in a call the recorder does not know */
    ft_record_hot hot[FT_RECORD_HOT]; /* the most first */
    ft_record_terms terms;
    uint32_t cells, threads;
    uint32_t events;              /* of the trace */
    uint32_t end;                 /* ft_raw_end */
    char foreign[FT_RECORD_TEXT]; /* the last such note of the trace, "": none */
    char forked[FT_RECORD_TEXT];  /* likewise */
} ft_record_summary;

/* Makes the trace of the log at `path`. FT_INPUT: not a recording, damaged, or nothing in it. */
ft_status ft_record_make(const char *path, ft_trace **trace, ft_record_summary *summary,
                         ft_error *err) FT_MUST_CHECK;

/* The same while the program runs: begins before it starts, another thread reads meanwhile; ended
 * when it is over. annotations: those that will be applied to the trace, NULL: none; kept up to the
 * end. */
typedef struct ft_recording ft_recording;
ft_recording *ft_record_begin(const char *path, const ft_annotations *annotations);
ft_status ft_record_end(ft_recording *recording, ft_trace **trace, ft_record_summary *summary,
                        ft_error *err) FT_MUST_CHECK; /* frees it, whatever the status */
/* The same of a recording without terms, whose trace nobody wants in memory: it goes into the sink
 * while it is made (trace/binary_stream.h). These words are its command where the log does not say
 * what the program was started with. */
ft_status ft_record_write(ft_recording *recording, const char *const *command, size_t n_command,
                          ft_sink sink, void *context, ft_record_summary *summary,
                          ft_error *err) FT_MUST_CHECK;
void ft_record_drop(ft_recording *recording); /* instead; accepts NULL */

/* SHA-256 of the file at `path`, by which a trace knows its program; false: it cannot be read. */
bool ft_record_hash(const char *path, char hash[FT_DIGEST_HEX + 1]);

#endif
