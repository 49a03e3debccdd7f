/* The raw log: what the runtime inside a recorded program writes, and the maker reads afterwards.
 *
 * The log is one file that `foretell record` creates and the program maps. Its first page says how
 * to record and, while and after the program runs, how far the log goes; so it is whole up to
 * `used` whatever ends the program. Behind that page stand records, each an operation byte and its
 * operands: u is a varint (LEB128), z a zigzag varint, t text (u length, bytes).
 *
 * Only one thread runs at a time (runtime/baton.h), so the order of the records is the order of the
 * run, and records belong to the thread of the last TURN. */
#ifndef FT_RECORD_RAW_H
#define FT_RECORD_RAW_H

#include <stdint.h>

/* Another number wherever what stands in the file changes, the schedule of a replay included: a
 * program that was built with another one takes no part. */
#define FT_RAW_MAGIC    "FTRAW002"
#define FT_RAW_VARIABLE "FORETELL_RECORD" /* environment: path of the log */

enum { FT_RAW_PAGE = 4096 };

/*  symbol     what ended the recording, for people */
#define FT_RAW_END_TABLE(X)                                                                        \
    X(OPEN, "the program was killed or crashed")                                                   \
    X(EXIT, "the program ended")                                                                   \
    X(DEADLOCK, "the program deadlocked")                                                          \
    X(LIMIT, "the log reached its limit")                                                          \
    X(DISK, "no space is left where the log is written")                                           \
    X(SITES, "the program has more places than the recorder keeps")                                \
    X(THREADS, "the program has more threads than the recorder keeps")                             \
    X(ASSERT, "an assertion failed")
typedef enum ft_raw_end {
#define FT_RAW_ENUM(symbol, text) FT_RAW_END_##symbol,
    FT_RAW_END_TABLE(FT_RAW_ENUM)
#undef FT_RAW_ENUM
        FT_RAW_ENDS
} ft_raw_end;

typedef struct ft_raw_header {
    char magic[8];
    /* written by `foretell record` */
    uint64_t limit;  /* bytes of the log, this page included */
    uint64_t seed;   /* of the scheduler; 0: round robin, turns of fixed length */
    uint32_t turn;   /* events in a turn; with a seed, the longest */
    uint32_t replay; /* 1: nothing is recorded, a schedule (raw/schedule.h) follows this page */
    /* written by the runtime */
    uint32_t started; /* 1: the runtime came up */
    uint64_t used;    /* bytes of records behind this page */
    uint32_t end;     /* ft_raw_end */
    uint32_t threads; /* created, the first one included */
    uint64_t ignored; /* events in signal handlers, and after the recording ended */
} ft_raw_header;

/*  symbol      operands  meaning */
#define FT_RAW_TABLE(X)                                                                            \
    X(NOTHING, "", "never written: behind the last record")                                        \
    X(MODULE, "ut", "load address and path of an executable or library")                           \
    X(SITE, "u", "the next site, counted from 0: a return address")                                \
    X(TURN, "u", "the thread whose records follow")                                                \
    X(BEGIN, "uu", "the thread starts: lowest address and size of its stack")                      \
    X(END, "", "the thread ends")                                                                  \
    X(FORK, "uu", "site, child")                                                                   \
    X(JOIN, "uu", "site, child")                                                                   \
    X(OBJECT, "uuu", "the next synchronisation object: ft_raw_class, address, kind or count")      \
    X(SYNC, "uuuu", "ft_event_kind, flags (event.h), object, site")                                \
    X(MARK, "uu", "ft_event_kind without object, site")                                            \
    X(ALLOC, "uuu", "site, address, size")                                                         \
    X(ZERO, "uu", "address, size: memory that begins as zeros")                                    \
    X(MEMORY, "ut", "address, content: memory that begins with it")                                \
    X(FREE, "uu", "site, address")                                                                 \
    X(FAILED, "ut", "site and text of an assertion that failed")                                   \
    X(UNSEEN, "u", "a thread left its turn in a call that the runtime does not know")              \
    X(SWAPPED, "", "the hooks of the thread's next two accesses came in the other order")

/* Accesses: FT_RAW_ACCESS + 8 * form + size code. Operands: site, z address minus the site's last
 * one, then for sizes up to 8 bytes z value (signed) (two for an update: read and written), for
 * size code FT_RAW_RANGE u length and t content, which may be empty: not kept. */
#define FT_RAW_FORM_TABLE(X) X(READ) X(WRITE) X(ATOMIC_READ) X(ATOMIC_WRITE) X(UPDATE)

enum { FT_RAW_ACCESS = 64, FT_RAW_RANGE = 4, FT_RAW_CONTENT = 256 };

typedef enum ft_raw_operation {
#define FT_RAW_ENUM(symbol, operands, meaning) FT_RAW_##symbol,
    FT_RAW_TABLE(FT_RAW_ENUM)
#undef FT_RAW_ENUM
        FT_RAW_OPERATIONS
} ft_raw_operation;

/* A thread's *steps*, in which a replay counts, are its accesses and these records. */
#define FT_RAW_STEPS                                                                               \
    (1u << FT_RAW_BEGIN | 1u << FT_RAW_END | 1u << FT_RAW_FORK | 1u << FT_RAW_JOIN |               \
     1u << FT_RAW_SYNC | 1u << FT_RAW_MARK | 1u << FT_RAW_ALLOC | 1u << FT_RAW_FREE |              \
     1u << FT_RAW_FAILED)

typedef enum ft_raw_form {
#define FT_RAW_ENUM(symbol) FT_RAW_FORM_##symbol,
    FT_RAW_FORM_TABLE(FT_RAW_ENUM)
#undef FT_RAW_ENUM
        FT_RAW_FORMS
} ft_raw_form;

/*  symbol   a name for people */
#define FT_RAW_CLASS_TABLE(X)                                                                      \
    X(MUTEX, "mutex")                                                                              \
    X(RWLOCK, "rwlock")                                                                            \
    X(CONDITION, "condition")                                                                      \
    X(SEMAPHORE, "semaphore")                                                                      \
    X(BARRIER, "barrier")                                                                          \
    X(ONCE, "once")
typedef enum ft_raw_class {
#define FT_RAW_ENUM(symbol, name) FT_RAW_CLASS_##symbol,
    FT_RAW_CLASS_TABLE(FT_RAW_ENUM)
#undef FT_RAW_ENUM
        FT_RAW_CLASSES
} ft_raw_class;

#endif
