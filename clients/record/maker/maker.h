/* From a raw log to a trace: what never two threads touched is dropped, what is left gets names. */
#ifndef FT_RECORD_MAKER_H
#define FT_RECORD_MAKER_H

#include <stdbool.h>

#include "base/digest.h"
#include "base/status.h"
#include "trace/trace.h"

/* What the recording was, for people and `--json`. */
typedef struct ft_record_summary {
    uint64_t bytes;    /* of the log */
    uint64_t accesses; /* in the log */
    uint64_t kept;     /* of them in the trace, as so many events */
    uint64_t granules; /* pieces of memory of eight bytes that were touched */
    uint64_t external; /* writes by code without hooks, noticed when they were read */
    uint64_t ignored;  /* events in signal handlers and behind the end */
    uint64_t unseen;   /* times that a thread slept in a call the recorder does not know */
    uint32_t cells, threads;
    uint32_t end; /* ft_raw_end */
} ft_record_summary;

/* Makes the trace of the log at `path`. FT_INPUT: not a recording, damaged, or nothing in it. */
ft_status ft_record_make(const char *path, ft_trace **trace, ft_record_summary *summary,
                         ft_error *err) FT_MUST_CHECK;

/* SHA-256 of the file at `path`, by which a trace knows its program; false: it cannot be read. */
bool ft_record_hash(const char *path, char hash[FT_DIGEST_HEX + 1]);

#endif
