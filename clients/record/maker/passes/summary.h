/* The summary of a recording, for people and `--json`: counts, the busiest lines, and warnings. */
#ifndef FT_RECORD_SUMMARY_H
#define FT_RECORD_SUMMARY_H

#include <stdint.h>

#include "maker/terms/summary.h"

enum { FT_RECORD_HOT = 5, FT_RECORD_TEXT = 512 };

/* A line of the program, and how many of the recording's events are there. */
typedef struct ft_record_hot {
    uint32_t loc; /* in the trace */
    uint64_t n;   /* 0: none */
    char place[FT_RECORD_TEXT];
} ft_record_hot;

/* Codes of the trace's notes: */
#define FT_RECORD_FOREIGN  "unseen-order"   /* a library orders threads without being seen */
#define FT_RECORD_NO_CALLS "no-calls"       /* none of the program was compiled for the recorder */
#define FT_RECORD_FORKED   "forked-threads" /* forked processes had threads */
#define FT_RECORD_UNKNOWN  "unknown-object" /* an order is stricter than the program's may be */
#define FT_RECORD_EXPLORED "explored"       /* the run followed a schedule that was explored */
#define FT_RECORD_REFUSED  "refused-cancel" /* threads were not cancelled */
#define FT_RECORD_UNRUN    "never-ran"      /* the program ended before threads had begun */

typedef struct ft_record_summary {
    uint64_t bytes;        /* of the log */
    uint64_t accesses;     /* in the log */
    uint64_t kept;         /* of them in the trace, as so many events */
    uint64_t granules;     /* pieces of memory of eight bytes that were touched */
    uint64_t external;     /* writes by uninstrumented code, noticed when they were read */
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
    char unrun[FT_RECORD_TEXT];   /* likewise */
} ft_record_summary;

#endif
