/* The raw log: what the runtime inside a recorded program writes, and the maker reads meanwhile.
 *
 * The log is one file that `foretell record` creates and the program maps. Its first page says how
 * to record and, while and after the program runs, how far the log goes (`mark`); so it is whole
 * up to there whatever ends the program; with a ring the maker has what is not there any more.
 * Behind that page stand records of whole words of eight bytes, little endian. A record's first
 * byte says what it is:
 *
 *   even   twice an operation; then its operands: u is a varint (LEB128), t text (u length, bytes);
 *          then zeros up to a whole word
 *   odd    an event: an access, or a call of or return from a function
 *
 * Events are most of it, and what they hold is what the hooks have at hand, without any coding:
 * a hook that stores two words costs a few nanoseconds, one that looks at what it stores costs
 * more, above all in branches that no processor foresees.
 *
 * Only one thread runs at a time (runtime/scheduling/baton.c), so the order of the records is the
 * order of the run, and records belong to the thread of the last TURN. */
#ifndef FT_RECORD_RAW_H
#define FT_RECORD_RAW_H

#include <stdbool.h>
#include <stdint.h>

#include "inputs.h"

/* Another number wherever what stands in the file changes, the schedule of a replay included: a
 * program that was built with another one takes no part. */
#define FT_RAW_MAGIC    "FTRAW022"
#define FT_RAW_VARIABLE "FORETELL_RECORD" /* environment: path of the log */

enum { FT_RAW_PAGE = 4096 };

/*  symbol     what ended the recording, for people */
#define FT_RAW_END_TABLE(X)                                                                        \
    X(OPEN, "the program was killed or crashed")                                                   \
    X(EXIT, "the program ended")                                                                   \
    X(DEADLOCK, "the program deadlocked")                                                          \
    X(LIMIT, "the log reached its --limit")                                                        \
    X(DISK, "no space is left where the log is written")                                           \
    X(SITES, "the program has more places than the recorder keeps")                                \
    X(THREADS, "the program has more threads than the recorder keeps")                             \
    X(ASSERT, "an assertion failed")                                                               \
    X(EXEC, "the program became another one (exec)")                                               \
    X(REBUILD, "the program was not built with --symbolic")                                        \
    X(INPUTS, "no thread could go on with the inputs that it was given")                           \
    X(SPACE, "the program has no address space for the recording")                                 \
    X(LIVE_LOCK, "every thread polled values that no thread changed")                              \
    X(ENDLESS, "every thread waited for another thread, or for content that only another thread "  \
               "could send")                                                                       \
    X(LATE, "the program still ran after its --timeout")                                           \
    X(BROKEN, "the recorder found an error of its own")
typedef enum ft_raw_end {
#define FT_RAW_ENUM(symbol, text) FT_RAW_END_##symbol,
    FT_RAW_END_TABLE(FT_RAW_ENUM)
#undef FT_RAW_ENUM
        FT_RAW_ENDS
} ft_raw_end;

/* Why: no space is left, or what it keeps has reached the limit. */
typedef enum ft_raw_full { FT_RAW_FULL_NOT, FT_RAW_FULL_DISK, FT_RAW_FULL_LIMIT } ft_raw_full;

enum { FT_RAW_WANTS = 48 }; /* kept of them */
#define FT_RAW_UNUSED UINT32_MAX
typedef struct ft_raw_want {
    uint32_t process; /* the number of its fork, from 1 */
    uint32_t object;  /* the lock, as its parent knew it; FT_RAW_UNUSED: not used yet there */
    uint32_t class;   /* ft_raw_class */
    uint32_t shared;  /* 1: for reading */
    uint32_t written; /* 1: all of it is there */
    uint64_t address; /* of the lock */
    uint64_t code;    /* return address of the call */
} ft_raw_want;

typedef struct ft_raw_header {
    char magic[8];
    /* written by `foretell record` */
    uint64_t limit;  /* bytes of the log, this page included */
    uint64_t seed;   /* of the scheduler; 0: round robin, turns of fixed length */
    uint32_t turn;   /* events in a turn; with a seed, the longest */
    uint32_t replay; /* 1: nothing is recorded, a schedule (raw/schedule.h) follows this page */
    /* written by the runtime */
    uint32_t started;  /* 1: the runtime came up */
    uint64_t mark;     /* bytes of records behind this page */
    uint32_t end;      /* ft_raw_end */
    uint32_t threads;  /* created, the first one included */
    uint64_t ignored;  /* events in signal handlers, and after the recording ended */
    uint64_t signals;  /* for which a handler of the program ran */
    uint32_t symbolic; /* by `foretell record`: 1: terms are wanted (raw/terms.h) */
    uint32_t built;    /* by the runtime: 1: the program was built with --symbolic */
    uint64_t feed;     /* by `foretell record`: bytes behind the limit: a schedule without entries,
                          whose inputs the program is given; 0: it gets its own */
    /* where records are taken while the program runs (maker/log/log.h) */
    uint64_t ring;  /* by the maker: so many bytes behind this page are used again and again, a
                       multiple of FT_RAW_PAGE; 0: each record keeps its place */
    uint64_t taken; /* by the maker: bytes of records that it has */
    uint32_t maker; /* its process */
    uint32_t full;  /* by the maker: it takes no more, ft_raw_full */
    /* by `foretell record`, for the maker: 1: the trace has also what no schedule can change, since
       forks and joins order it (maker/cells/cells.h) */
    uint32_t keeps_ordered;
    /* likewise: 1: what code without hooks hands over orders nothing (maker/order/addresses_read.h)
     */
    uint32_t unordered_hand_overs;
    /* by what the program forked: so many processes made threads, which nobody records */
    uint32_t forked;
    /* by the runtime: so many calls of pthread_cancel were refused */
    uint32_t refused;
    /* by the runtime: 1: the last line that the program printed has no end, as far as it is known
     */
    uint32_t open_line;
    /* by `foretell record`: its process, if only that one would send the program signals: then
       threads that only a signal could let go on wait for ever (scheduling/deadlock.c); else 0 */
    uint32_t alone;
    uint32_t late;   /* by `foretell record`, while the program runs: 1: it is to end now */
    uint32_t openmp; /* by the runtime: 1: libgomp's regions are run by the recorder's threads */
    /* by what the program forked, before it becomes another program: the locks that it waited for,
       which the process that forked it did not hold; each once */
    uint32_t n_wants;
    ft_raw_want wants[FT_RAW_WANTS];
    uint64_t follow; /* by `foretell explore`: bytes behind the feed: the order of actions that the
                        program follows (raw/follow.h); 0: none */
    ft_raw_unset unset[FT_RAW_UNSETS]; /* by the runtime */
} ft_raw_header;

/*  symbol      operands  meaning */
#define FT_RAW_TABLE(X)                                                                            \
    X(NOTHING, "", "never written: behind the last record")                                        \
    X(MODULE, "ut", "load address and path of an executable or library")                           \
    X(SITE, "uu", "the next site, counted from 1: a return address, and its code (below)")         \
    X(TURN, "u", "the thread whose records follow")                                                \
    X(BEGIN, "uu", "the thread starts: lowest address and size of its stack")                      \
    X(END, "", "the thread ends")                                                                  \
    X(FORK, "uu", "site, child")                                                                   \
    X(JOIN, "uuu", "site, child, flags (event.h)")                                                 \
    X(OBJECT, "uuu", "the next synchronisation object: ft_raw_class, address, kind or count")      \
    X(SYNC, "uuuu", "ft_event_kind, flags (event.h), object, site")                                \
    X(MARK, "uu", "ft_event_kind without object, site")                                            \
    X(ALLOC, "uuu", "site, address, size")                                                         \
    X(ZERO, "uu", "address, size: memory that begins as zeros")                                    \
    X(MEMORY, "ut",                                                                                \
      "address, content: memory that begins with it; none behind ALLOC: nobody knows with what")   \
    X(FREE, "uu", "site, address")                                                                 \
    X(FAILED, "ut", "site and text of an assertion that failed")                                   \
    X(UNSEEN, "u", "a thread left its turn in a call that the runtime does not know")              \
    X(SWAPPED, "", "the hooks of the thread's next two accesses came in the other order")          \
    X(WIDE, "uu", "site and what of the address is above its low FT_RAW_ADDRESS_BITS: next event") \
    X(INPUT, "uuuu", "ft_input_call + errno * 256, site, zigzag result, bytes of content")         \
    X(PIECE, "ut", "0, what the input before wrote into memory, or a part of it")                  \
    X(CHANNEL, "uuu", "flags below, channel, site: after what went in before, goes in")            \
    X(BLOCKED, "uuuu", "in a deadlock: ft_event_kind, flags, object or thread, site: what for")    \
    X(TERMS, "ut", "0, and what the thread computed since its last hook (raw/terms.h)")            \
    X(ASSERT, "uu", "site, 1: the assertion held; of programs built with --symbolic alone")        \
    X(IGNORE, "u", "1: the thread's accesses are no candidates from here on, 0: they are again")   \
    X(BENIGN, "uu", "address, size: accesses to that memory are no candidates from here on")       \
    X(INITIALISED, "uu", "site, object: made by a call, while there may be other threads")         \
    X(DESTROYED, "uu", "site, object")                                                             \
    X(RECLAIMED, "uu", "site, object: it lay in the memory of the FREE before")                    \
    X(SHOWN, "ut",                                                                                 \
      "address, content: the thread's own memory, by now, that the next FORK hands on")            \
    X(WHOLE, "uu", "address, size: the thread's last accesses there are one atomic")               \
    X(CONSTANT, "uu", "address, size: memory of a module that nobody may write")                   \
    X(ARGUMENTS, "ut",                                                                             \
      "0, the words that the program was started with, each with a zero behind it")                \
    X(ASSERTED, "ut", "site and source text of an assertion: before the first ASSERT of the site") \
    X(FUNCTION, "uu", "site, child of the FORK before: the function that the child runs")          \
    X(EXPIRED, "uu", "site, nanoseconds: the time limit of the wait there, which passed")          \
    X(DOING, "uuuu",                                                                               \
      "thread, ft_raw_doing, ft_event_kind, site: at the end of a run that ends late")

/* The state of a thread when a run was ended from outside. */
typedef enum ft_raw_doing {
    FT_RAW_DOING_RUNS,   /* it can go on; its site is that of its last record */
    FT_RAW_DOING_WAITS,  /* for another thread: the event's kind and site are its request's */
    FT_RAW_DOING_SLEEPS, /* in a system call */
    FT_RAW_DOINGS
} ft_raw_doing;

/* Before the first FORK the program's variables are SHOWN too: so far one thread alone had them. */

/* Flags of CHANNEL. PUT: what is put in is no order by itself; a channel where nobody takes, whose
 * records all have this flag, is none. */
enum { FT_RAW_CHANNEL_IN = 1, FT_RAW_CHANNEL_OUT = 2, FT_RAW_CHANNEL_PUT = 4 };
/* The channel of a signal is its number and this: who sends it, arms a timer or sets its handler
 * puts in, each handler that runs and each wait that ends takes out. Its order is not an input.
 * Further kinds of channels without inputs have a number above those of signals: message queues and
 * sets of semaphores by what the system calls them (runtime/process/timers.c). */
#define FT_RAW_CHANNEL_SIGNAL (UINT64_C(1) << 60)
enum {
    FT_RAW_CHANNEL_QUEUE = 1, /* POSIX */
    FT_RAW_CHANNEL_SETS,      /* System V */
    FT_RAW_CHANNEL_MESSAGES,  /* System V */
    FT_RAW_CHANNEL_COUNTED,
    FT_RAW_CHANNEL_LOOKED,
    FT_RAW_CHANNEL_HEALTH,
    FT_RAW_CHANNEL_LOCKED,
    FT_RAW_CHANNEL_RUNS, /* by thread: who found it running puts in, its end takes out */
    /* No order: events that say something. The process of that number is forked; a process, times
       FT_RAW_FORKS, plus a lock, times two, plus 1 where it reads: it waits for the lock there */
    FT_RAW_CHANNEL_FORKS,
    FT_RAW_CHANNEL_WANTS,
    FT_RAW_CHANNEL_KIND_SHIFT = 40
};
#define FT_RAW_CHANNEL_OF(kind, number)                                                            \
    (FT_RAW_CHANNEL_SIGNAL | (uint64_t)(kind) << FT_RAW_CHANNEL_KIND_SHIFT | (number))
#define FT_RAW_FORKS (UINT64_C(1) << 24) /* objects of a program that forks, at most */
/* A semaphore has two, by its object: what changes its count goes into COUNTED, and comes after
 * what went into LOOKED; who only looks at the count (sem_getvalue, a try that fails) does the
 * opposite. So it is with a robust mutex, HEALTH and LOCKED: its owner's end, its being mended or
 * given up change what those are told who lock it. */
/* The channel of a stream or descriptor whose content threads take, one call behind the other. What
 * each gets is an input, their order is none. */
#define FT_RAW_CHANNEL_TAKEN (UINT64_C(1) << 58)

/* The channel of all objects of the kernel whose kind the recorder does not know
 * (inputs/channels.h, FT_RT_FD_TABLE): content may pass from any of them to any other. */
#define FT_RAW_CHANNEL_UNKNOWN ((UINT64_C(1) << 62) | 1)

/* Of the maker alone, by object: who acquires such a lock comes after who released it
 * (maker/order/library_locks.h). */
#define FT_RAW_CHANNEL_SECTIONS (UINT64_C(1) << 56)
/* Likewise, by sixteen bytes: atomics that cover several cells keep their order. */
#define FT_RAW_CHANNEL_UNITS (UINT64_C(1) << 57)

/* A site is a place in the code and what it does, its *code*: for an access 8 * form + size code
 * (size code: 0 to 3 for 1 to 8 bytes, else FT_RAW_RANGE), or one of those behind. */
#define FT_RAW_FORM_TABLE(X) X(READ) X(WRITE) X(ATOMIC_READ) X(ATOMIC_WRITE) X(UPDATE) X(COMPARE)

enum {
    FT_RAW_RANGE = 4,
    FT_RAW_ENTER = 48, /* a call: where it returns to */
    FT_RAW_LEAVE = 49, /* a return from one; the only site of this code is FT_RAW_LEAVE_SITE */
    FT_RAW_PLACE = 50, /* what records name that are no events */
    FT_RAW_CONTENT = 1 << 20, /* bytes of a range */
    FT_RAW_CODE_SHIFT = 56,   /* of a site's key: code above its return address */
    FT_RAW_SITES = 1 << 19,   /* more end the recording */
    FT_RAW_LEAVE_SITE = 1
};

/* The first word of an event: 1, the address from bit 1 on, the site from bit FT_RAW_SITE_SHIFT
 * on; site 0: WIDE before it says both. Of a call or a return the address is the frame of the
 * function, and that is all: which calls a thread is then in is for the reader to find (longjmp
 * leaves functions without a return; the stack grows down, so a frame below the one at hand is
 * gone). Of an access of up to 8 bytes comes its value, a word, sign-extended. Of an update comes
 * also what it wrote; of a range its size, and, up to the size that ft_raw_content gives, the
 * content, then zeros up to a whole word. FT_RAW_BLIND is added to the size of one that has no
 * content whatever its size: nobody looked at it. */
enum {
    FT_RAW_WORD = 8,
    FT_RAW_SITE_SHIFT = 48,
    FT_RAW_ADDRESS_BITS = 47,
    FT_RAW_LONGEST = 64 /* bytes of an event, without a range's content, and what comes before it */
};

#define FT_RAW_BLIND (UINT64_C(1) << 63)

/* Bytes of content that the log has of a range: all or none. What is written is asked for by every
 * later read of a part of it; what is read tells what code without hooks has written there. */
static inline uint64_t ft_raw_content(uint64_t size)
{
    return size <= FT_RAW_CONTENT ? size : 0;
}

typedef enum ft_raw_operation {
#define FT_RAW_ENUM(symbol, operands, meaning) FT_RAW_##symbol,
    FT_RAW_TABLE(FT_RAW_ENUM)
#undef FT_RAW_ENUM
        FT_RAW_OPERATIONS
} ft_raw_operation;

/* A thread's *steps*, in which a replay counts, are its accesses and these records. */
#define FT_RAW_STEP(operation) (UINT64_C(1) << FT_RAW_##operation)
#define FT_RAW_STEPS                                                                               \
    (FT_RAW_STEP(BEGIN) | FT_RAW_STEP(END) | FT_RAW_STEP(FORK) | FT_RAW_STEP(JOIN) |               \
     FT_RAW_STEP(SYNC) | FT_RAW_STEP(MARK) | FT_RAW_STEP(ALLOC) | FT_RAW_STEP(FREE) |              \
     FT_RAW_STEP(FAILED) | FT_RAW_STEP(CHANNEL) | FT_RAW_STEP(BLOCKED) | FT_RAW_STEP(ASSERT) |     \
     FT_RAW_STEP(INITIALISED) | FT_RAW_STEP(DESTROYED))

typedef enum ft_raw_form {
#define FT_RAW_ENUM(symbol) FT_RAW_FORM_##symbol,
    FT_RAW_FORM_TABLE(FT_RAW_ENUM)
#undef FT_RAW_ENUM
        FT_RAW_FORMS
} ft_raw_form;

/* A read and a write in one: COMPARE is a compare-and-swap that took place. */
static inline bool ft_raw_updates(unsigned form)
{
    return form == FT_RAW_FORM_UPDATE || form == FT_RAW_FORM_COMPARE;
}

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

/* Kind of an rwlock. */
enum { FT_RAW_RWLOCK_READERS, FT_RAW_RWLOCK_WRITERS /* waiting writers come before readers */ };

#endif
