/* The schedule of a replay: `foretell replay` writes it into the file behind the header's page
 * (raw.h), the runtime follows it, and reports there how the run went.
 *
 *   ft_schedule, ft_schedule_entry[steps + finals], ft_schedule_actor[actors],
 *   ft_schedule_site[sites], ft_schedule_module[modules], ft_schedule_input[inputs],
 *   ft_schedule_channel[channels], what the inputs hold
 *
 * An entry names a step (raw.h) by its thread and its number there, counted from 1. The first
 * `steps` entries are done in their order; on its way to one, a thread does the steps before it,
 * which access memory that is not shared. Then the `finals` are reached one after the other.
 *
 * A schedule without entries feeds a recording: threads are scheduled by its seed, and get the
 * inputs.
 */
#ifndef FT_RECORD_SCHEDULE_H
#define FT_RECORD_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "inputs.h"

enum { FT_SCHEDULE_NAME = 120, FT_SCHEDULE_PATH = 1024 };

typedef enum ft_schedule_mode {
    FT_SCHEDULE_DO,      /* the step is done */
    FT_SCHEDULE_TIMEOUT, /* it is done, and the wait before it times out */
    FT_SCHEDULE_STAND,   /* final: the thread stands before the step */
    FT_SCHEDULE_BLOCK    /* final: the thread is blocked in it */
} ft_schedule_mode;

/*  symbol    text for people */
#define FT_SCHEDULE_OUTCOME_TABLE(X)                                                               \
    X(RUNNING, "the program ended before")                                                         \
    X(REACHED, "every step was done, and the state of the finding was reached")                    \
    X(OTHER, "the thread came to something else")                                                  \
    X(BLOCKED, "the thread is blocked")                                                            \
    X(PASSED, "the thread went on where it should have been blocked")                              \
    X(MISSING, "the thread does not exist yet")                                                    \
    X(ENDED, "the thread has ended")                                                               \
    X(EXITED, "the program exits")                                                                 \
    X(LOOSE, "the thread was blocked, but others went on and the program did not get stuck")       \
    X(APART, "both threads stood before the accesses, but these are of different memory")          \
    X(ELSEWHERE, "the thread stands before the access, but of other memory than in the recording") \
    X(TIME, "no progress")                                                                         \
    X(INPUT, "the thread asked for another input than in the recording")                           \
    X(NUMBER, "another file has the number of the descriptor that the call made")
typedef enum ft_schedule_outcome {
#define FT_ROW(symbol, text) FT_SCHEDULE_##symbol##_OUTCOME,
    FT_SCHEDULE_OUTCOME_TABLE(FT_ROW)
#undef FT_ROW
        FT_SCHEDULE_OUTCOMES
} ft_schedule_outcome;

#define FT_SCHEDULE_NONE UINT32_MAX /* unknown kind, module or location; no parent */

typedef enum ft_schedule_ended {
    FT_SCHEDULE_BY_ITSELF,
    FT_SCHEDULE_LATE,    /* it ran until the time limit */
    FT_SCHEDULE_STARVED, /* every thread waited for input that does not come in a replay */
} ft_schedule_ended;

typedef struct ft_schedule {
    uint32_t steps, finals, actors, sites, modules, inputs, channels;
    uint32_t feed; /* 1: the inputs are those of the recording */
    uint32_t
        seconds;    /* without progress, or behind the schedule's end, until the program is ended */
    uint32_t stop;  /* 1: the program ends where the schedule does */
    uint32_t stuck; /* 1: behind the finals the program must come to a deadlock by itself */
    uint32_t meet;  /* 1: the finals are accesses of the same memory, a race */
    /* the last final touches what this actor allocates in that step; step 0: any memory */
    uint32_t block_actor, block_step;
    uint32_t freed; /* 1: that memory must have been freed by then */
    /* written by the runtime */
    uint32_t outcome;      /* ft_schedule_outcome */
    uint32_t at;           /* the entry at which it is */
    uint32_t ended;        /* behind the schedule's end: ft_schedule_ended */
    uint32_t outside;      /* 1: there the program used something outside that a replay lacks */
    uint32_t kind, module; /* OTHER: ft_event_kind and place that were found; INPUT, NUMBER: the
                              ft_input_call */
    uint64_t offset;       /* in that module; the address where the module is not known */
    uint32_t actor, input; /* INPUT, NUMBER: the thread, and which of its inputs, counted from 1;
                              NONE: one that the schedule does not know */
    uint32_t fed, live;    /* recording: inputs that were fed, and those that were not; the first
                              of these is told as above */
} ft_schedule;

typedef struct ft_schedule_entry {
    uint32_t mode;
    uint32_t actor, step;
    uint32_t kind;   /* ft_event_kind; NONE: a compare-and-swap that may fail */
    uint32_t loc;    /* 0: any */
    uint32_t signal; /* whose handler begins with it, or whose wait ends; 0: none */
} ft_schedule_entry;

typedef struct ft_schedule_actor {
    uint32_t parent;              /* actor that creates it; NONE: the first thread */
    uint32_t child;               /* which of its parent's children, counted from 1 */
    uint32_t first_input, inputs; /* where its inputs are */
    uint32_t first_channel, channels;
} ft_schedule_actor;

/* Sorted by module, then by offset. Code of a library may stand for several locations: those of its
 * callers. */
typedef struct ft_schedule_site {
    uint32_t module, loc;
    uint64_t offset;
} ft_schedule_site;

typedef struct ft_schedule_module {
    char name[FT_SCHEDULE_NAME]; /* of the file; the first one is the executable */
    char path[FT_SCHEDULE_PATH]; /* by the runtime: of the file that was loaded, "": none was */
} ft_schedule_module;

/* Offset of its modules from its beginning. */
static inline uint64_t ft_schedule_modules_at(const ft_schedule *s)
{
    return sizeof *s + ((uint64_t)s->steps + s->finals) * sizeof(ft_schedule_entry) +
           s->actors * sizeof(ft_schedule_actor) + s->sites * sizeof(ft_schedule_site);
}

/* Is a module of that path the C library? Memory that it allocates for itself is allocated by
 * whichever thread comes first: that is not a step. n: bytes of the path. */
static inline bool ft_schedule_is_c_library(const char *path, size_t n)
{
    static const char *const names[] = {"libc.so", "libc-", "ld-linux", "ld-2"};
    size_t from = n;
    while (from && path[from - 1] != '/') from--;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i]);
        if (n - from >= length && !strncmp(path + from, names[i], length)) return true;
    }
    return false;
}

#endif
