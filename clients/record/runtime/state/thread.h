/* The runtime's inside: threads, the baton, the log, synchronisation objects.
 *
 * The runtime is linked into the recorded program, so it allocates nothing by malloc, uses nothing
 * of libforetell but headers of tables, and is never instrumented itself.
 *
 * The baton: at most one thread runs at a time, from one hook to the next. A thread that comes to a
 * hook without the baton waits for it. So values are exact and the log needs no lock. Threads that
 * sleep in a system call are *outside*: they gave the baton up (known calls), or the watchdog took
 * it from them (all others). */
#ifndef FT_RECORD_RUNTIME_H
#define FT_RECORD_RUNTIME_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "raw/raw.h"

/* Nobody else's: no detour by a table of addresses, which each hook would take several times. */
#pragma GCC visibility push(hidden)

/* Names that programs give to functions of their own, where they bring what some systems lack:
 * those are the program's, and no hooks. */
#pragma weak mtx_init
#pragma weak mtx_destroy
#pragma weak mtx_lock
#pragma weak mtx_trylock
#pragma weak mtx_timedlock
#pragma weak mtx_unlock
#pragma weak cnd_init
#pragma weak cnd_destroy
#pragma weak cnd_wait
#pragma weak cnd_timedwait
#pragma weak cnd_signal
#pragma weak cnd_broadcast
#pragma weak thrd_create
#pragma weak thrd_join
#pragma weak thrd_detach
#pragma weak thrd_sleep
#pragma weak thrd_yield
#pragma weak call_once
#pragma weak tss_create
#pragma weak open_memstream
#pragma weak getline
#pragma weak getdelim
#pragma weak reallocarray
#pragma weak malloc_usable_size
#pragma weak arc4random
#pragma weak arc4random_buf
#pragma weak arc4random_uniform
#pragma weak pwrite64
#pragma weak pwritev
#pragma weak pwritev64
#pragma weak unlink
#pragma weak unlinkat
#pragma weak remove
#pragma weak rename
#pragma weak renameat
#pragma weak link
#pragma weak symlink
#pragma weak mkdir
#pragma weak mkdirat
#pragma weak rmdir
#pragma weak mkdtemp
#pragma weak mkstemp
#pragma weak mkstemp64
#pragma weak mkostemp
#pragma weak mkostemp64
#pragma weak mkstemps
#pragma weak mkstemps64
#pragma weak mkostemps
#pragma weak mkostemps64
#pragma weak lockf
#pragma weak lockf64
#pragma weak mprotect
#pragma weak pkey_mprotect
#pragma weak pkey_set
#pragma weak madvise
#pragma weak posix_madvise
#pragma weak brk
#pragma weak ftruncate
#pragma weak ftruncate64
#pragma weak truncate
#pragma weak truncate64
#pragma weak fallocate
#pragma weak fallocate64
#pragma weak dlclose
#pragma weak _Fork
#pragma weak clone

enum { FT_RT_THREADS = 4096 }; /* created in all, more end the recording; then at once */

typedef enum ft_rt_state {
    FT_RT_READY,   /* waits for the baton */
    FT_RT_RUNNING, /* has it */
    FT_RT_BLOCKED, /* waits for what `waits_for` says; perhaps until `deadline` */
    FT_RT_OUTSIDE, /* in a system call; comes back by itself */
    FT_RT_DONE
} ft_rt_state;

typedef struct ft_rt_object ft_rt_object;

/* A plain write whose value is read at the thread's next hook, when it has happened. The usual one
 * has its record in the log already, without the value (ft_rt_late); this is of the others, which
 * are ranges or do not lie in eight aligned bytes. */
typedef struct ft_rt_pending {
    uintptr_t address;
    uint64_t size; /* 0: none */
    uint32_t site;
    unsigned size_code; /* of the site */
} ft_rt_pending;

enum { FT_RT_COPY = 256 }; /* bytes */

/* gcc copies a structure as: write hook, read hook of the same size, copy. So such a read hook
 * behind a write hook does not tell which of the two comes first: the read is held until the next
 * hook, and what the written memory holds then says it. Above FT_RT_COPY it is taken for a copy. */
typedef struct ft_rt_held {
    uintptr_t address;
    uint64_t size; /* 0: none */
    uint32_t site;
    unsigned size_code;
    uint64_t value;                    /* of the memory read, at its hook; up to eight bytes */
    uint64_t before;                   /* of the memory of the pending write, at that hook */
    unsigned char content[FT_RT_COPY]; /* the same of other sizes */
    unsigned char content_before[FT_RT_COPY];
} ft_rt_held;

/* The pending write that has its record in the log already, behind the mark. */
typedef struct ft_rt_late {
    uint64_t *value;   /* where its value belongs, NULL: none */
    uintptr_t address; /* of what it writes */
    uint32_t size;     /* a read of that size may be its copy's (ft_rt_held); 0: none may be */
    unsigned size_code;
    uint64_t *held; /* the record of that read; `value` has what was there then. NULL: none */
} ft_rt_late;

/* An atomic read of one byte that found 0. Compiled C++ looks so at the guard of a function's
 * static object before it asks for that (condition.c), and then it is no read of its own: the
 * thread's next hook says which it was. */
typedef struct ft_rt_look {
    uintptr_t address; /* 0: none */
    const void *pc;
} ft_rt_look;

/* An atomic that was read again and again, or changed to what it was (baton.c). */
typedef struct ft_rt_spin {
    uintptr_t address;
    int64_t value;
    int64_t left; /* in that turn, behind the last time */
    uint32_t times;
} ft_rt_spin;

/* What a thread waits for, should it never get it (raw.h, BLOCKED). */
typedef struct ft_rt_request {
    uint32_t kind, flags; /* of the event (trace/event.h) */
    uint32_t target;      /* object or thread */
    uint32_t site;
} ft_rt_request;

typedef struct ft_rt_thread {
    uint32_t id;
    ft_rt_state state;
    uint32_t go;     /* futex: whether the baton was handed over (baton.c) */
    int tid;         /* the kernel's, 0 before it runs */
    int told;        /* as the program knows it: of the recording that it is fed from; 0: not yet */
    int processor;   /* that it has to be on, or FT_RT_ANYWHERE (processor.c) */
    bool leaves;     /* it stays where the program has it, whoever gets the baton */
    bool inside;     /* in the runtime: hooks that happen now (signals) are ignored */
    uint32_t closes; /* calls of dlclose that it is in */
    bool lent; /* inside, in a call that may wait for others: the watchdog may take the baton */
    pthread_t handle;
    uintptr_t stack_end; /* behind its stack, once it runs */
    const void *waits_for;
    ft_rt_request asks;   /* of its last wait */
    uint64_t waits_since; /* order of the waits, for first come, first served */
    uint32_t tries;       /* waits in the call at hand: what it was woken for was gone */
    bool timed, timed_out;
    struct timespec deadline; /* CLOCK_MONOTONIC */
    bool stuck;               /* blocked for ever, and the log says so */
    bool parked;              /* waits for the baton, without a lock */
    bool interrupted;         /* blocked, but up for a signal handler */
    bool broke_off,
        restarts;     /* its last wait ended by one, and by nobody else; goes on behind it */
    uint64_t signals; /* that wait for their handlers: 1 << (number - 1) */
    bool takes;       /* replaying: it is at the step that a handler begins with */
    int64_t left;     /* events left in this turn */
    ft_rt_late late;
    ft_rt_pending pending;
    ft_rt_held held; /* only with a pending write */
    ft_rt_look look;
    ft_rt_spin spin;
    uint32_t ignores; /* regions open whose accesses are no candidates */
    void *(*start)(void *);
    void *argument;
    uint32_t tried; /* site of the last try to join it that found it running, 0: none */
    bool gone;      /* done, and the kernel is done with it too */
    bool masked;    /* all signals are blocked until it starts: those of `mask` again then */
    sigset_t mask;
    uint32_t parent, number, children; /* who created it, as which, and how many it created */
    /* replaying */
    uint32_t actor;            /* its number in the schedule, FT_RT_NOBODY: none */
    uint32_t steps;            /* done (raw.h, FT_RAW_STEPS) */
    uint32_t inputs, passages; /* fed: inputs, and what it did on channels */
    bool live;                 /* it is fed no more */
    bool starves;              /* it asks, without a time limit, who may have nothing any more */
    uint32_t kind;             /* ft_event_kind of the hook at hand, FT_RT_ANY: not known yet */
    const void *pc;            /* its caller, NULL: not known yet */
    uintptr_t address;         /* of the memory that it is about to access */
    uint64_t size;             /* 0: none, or not known */
} ft_rt_thread;

/* Of a robust mutex: its owner has ended; the next one knows; that one did not mend it. */
typedef enum ft_rt_health { FT_RT_SOUND, FT_RT_ABANDONED, FT_RT_TOLD, FT_RT_LOST } ft_rt_health;

struct ft_rt_object {
    uintptr_t address;
    ft_raw_class class;
    uint32_t id;
    uint32_t kind;       /* mutex: PTHREAD_MUTEX_*; barrier: its count */
    ft_rt_thread *owner; /* mutex, rwlock held for writing, once that runs */
    uint32_t count;      /* mutex depth, readers, semaphore's count, arrivals, 1: once is done */
    uint32_t generation; /* barrier: rounds that are full */
    bool robust;
    ft_rt_health health;
    uint64_t *passed; /* once: the threads that have been there, a bit each; NULL: none */
};

extern __thread ft_rt_thread *ft_rt_self; /* NULL: not recorded (before start, after fork) */
extern ft_raw_header *ft_rt_header;       /* NULL: nothing is recorded */
extern bool ft_rt_logging;                /* false: recording ended, the baton goes on */
extern bool ft_rt_replaying;              /* a schedule says who goes on (replay.c) */
/* The thread that may go the short way (hot.h): it has the baton and the log's last TURN, and
 * accesses are recorded; else something that is no thread. */
extern ft_rt_thread *ft_rt_hot;

/* ---- baton.c */
/* Every hook is `if (!ft_rt_enter()) do it plainly; ...; ft_rt_leave();`. enter waits for the
 * baton, writes the pending write and returns the thread; NULL: not recorded, or inside already. */
ft_rt_thread *ft_rt_enter(void);
ft_rt_thread *ft_rt_enter_holding(void); /* the same, but a pending write stays pending */
void ft_rt_go_on(ft_rt_thread *self);    /* after that: writes it */
void ft_rt_leave(ft_rt_thread *self);    /* may hand the baton over: the turn is over */
/* In the midst of a call, which may hold locks that nobody sees: the turn neither ends nor counts.
 * `inside` is cleared to leave. */
ft_rt_thread *ft_rt_enter_within(void);
/* Around a call that the runtime makes and that may wait for such a lock. */
void ft_rt_lend(ft_rt_thread *self);
void ft_rt_take_back(ft_rt_thread *self);
/* Gives the baton up until somebody wakes `what`; false: the deadline (NULL: none) passed first.
 * Ends for a signal handler too: broke_off. */
bool ft_rt_block(ft_rt_thread *self, const void *what, const struct timespec *deadline);
void ft_rt_wake_all(const void *what);
/* Before it takes that: a loop that takes a lock again as soon as it has given it up may have it at
 * the end of each turn. Whoever has waited for it through several goes first. */
void ft_rt_behind_starved(ft_rt_thread *self, const void *what);
void ft_rt_wake_first(const void *what); /* the longest waiter */
/* Around a call that may sleep: the thread is outside. */
void ft_rt_outside(ft_rt_thread *self);
/* pthread_create, called at pc. */
int ft_rt_create_from(pthread_t *handle, const pthread_attr_t *attributes, void *(*start)(void *),
                      void *argument, const void *pc);
void ft_rt_yield(ft_rt_thread *self);
void ft_rt_may_end_turn(ft_rt_thread *self);
/* Behind an atomic access that left the value as it was: the turn is over if the thread seems to
 * wait for another one. */
void ft_rt_may_spin(ft_rt_thread *self, uintptr_t address, int64_t value);
ft_rt_thread *ft_rt_thread_new(void);         /* ready; NULL: too many */
void ft_rt_thread_starts(ft_rt_thread *self); /* in the new thread: waits for its first turn */
ft_rt_thread *ft_rt_thread_of(pthread_t handle);
ft_rt_thread *ft_rt_thread_at(uint32_t id); /* NULL: there are no so many */
void ft_rt_thread_done(ft_rt_thread *self); /* gives the baton up for good */
void ft_rt_baton_start(void);               /* the first thread, and the watchdog */

/* ---- log.c: all by the thread with the baton */
bool ft_rt_log_open(void);
void ft_rt_log_end(ft_raw_end why); /* the first reason stays */
void ft_rt_tell_line(void);         /* whether the program's output ends in a line's end */
/* Before the first thread is created: what the program's variables hold by now. Code without hooks
 * (getopt, the C++ library's start) wrote it in the first thread, or nobody did. */
void ft_rt_log_variables(void);
void ft_rt_log_loaded(void); /* tells of libraries that are new, before their code runs */
/* Calls `gone` for each library that was told of and is loaded no more, once. */
void ft_rt_log_unloaded(void (*gone)(uintptr_t address, size_t size));
void ft_rt_log_library(uintptr_t pc); /* tells of the library that the code is of, if it is new */
void ft_rt_log(ft_raw_operation operation, const uint64_t *operands, uint32_t n);
void ft_rt_log_bytes(ft_raw_operation operation, uint64_t operand, const void *bytes, size_t n);
/* An access of 1, 2, 4 or 8 bytes from the code at `pc`; written: of an update. */
void ft_rt_log_access(ft_raw_form form, const void *pc, uintptr_t address, uint32_t size,
                      int64_t value, int64_t written);
uint32_t ft_rt_site(const void *pc);     /* for records that name a place */
void ft_rt_flush(ft_rt_thread *self);    /* its pending write or look */
void ft_rt_end_look(ft_rt_thread *self); /* it was a read */

#define FT_RT_LOG(operation, ...)                                                                  \
    ft_rt_log(FT_RAW_##operation, (const uint64_t[]){__VA_ARGS__},                                 \
              sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

const void *ft_rt_site_pc(uint32_t site);

/* ---- access.c: the program is about to access that memory in one piece, by code without hooks */
void ft_rt_read_range(const void *memory, size_t size, const void *pc);
void ft_rt_write_range(void *memory, size_t size, const void *pc);
/* The same, of what it moves without a look: what nobody has written stays what nobody has. */
void ft_rt_read_blindly(const void *memory, size_t size, const void *pc);
/* The same, of what leaves the program: nothing that the thread does next depends on it, so who
 * else wrote a long one is not asked. */
void ft_rt_read_outgoing(const void *memory, size_t size, const void *pc);

/* ... and, with the baton: its pending write, if that is of the memory at an address where it has
 * faulted: it has not happened; and back again. */
ft_rt_pending ft_rt_take_pending(ft_rt_thread *self, uintptr_t at);
void ft_rt_put_pending(ft_rt_thread *self, ft_rt_pending taken);

/* ---- strings.c: opens a call that has so many such ranges, so that they are accessed together */
void ft_rt_settle(uint32_t ranges);

/* ---- baton.c, for signals.c */
void ft_rt_get_up(ft_rt_thread *self); /* itself, for its handlers */
void ft_rt_log_deadlocks(void); /* of some threads, which no handler has ended: the program ends */
int ft_rt_other_tid(const ft_rt_thread *self); /* of a thread that is not stuck; 0: there is none */

/* ---- processor.c: where the threads run */
enum { FT_RT_ANYWHERE = -1 };
void ft_rt_processor_start(void);
void ft_rt_processor_follow(ft_rt_thread *self); /* it has got the baton */
/* The watchdog's look; runner: that has the baton and does not sleep, else NULL. */
void ft_rt_processor_watch(ft_rt_thread *runner);
/* Around a call by which the calling thread asks for the processors or starts a process: it has all
 * that the program was given. */
void ft_rt_processor_leave(void);
void ft_rt_processor_return(void);
void ft_rt_processor_in_child(void); /* of fork, which is not recorded */

/* ---- stall.c: every thread has waited for another one that long, and there are handlers */
void ft_rt_stall_tell(const ft_rt_thread *threads, uint32_t n, uint32_t seconds);

/* ---- signals.c */
void ft_rt_signals_start(void);   /* the program has them ignored and blocked as recorded */
bool ft_rt_signals_handled(void); /* the program has handlers: nobody waits for ever for sure */
bool ft_rt_signals_wait(void);    /* of this thread, which it does not block */
bool ft_rt_signal_waits(const ft_rt_thread *thread, int number); /* 0: false */
bool ft_rt_signals_blocked(int number);        /* by this thread, as in a handler that masks it */
const void *ft_rt_signals_handler(int number); /* where its step is, NULL: it has none */
enum { FT_RT_SIGNALS = 65 };
/* Runs those that wait (replaying: that the schedule has now), with the baton and inside before and
 * behind; false: one of them wants the call that it interrupted to end. */
bool ft_rt_signals_deliver(ft_rt_thread *self);

/* The process that the program means by that number: itself or its parent, should it be fed
 * (environment.c). */
pid_t ft_rt_process(pid_t pid);
pid_t ft_rt_task(pid_t tid); /* the same of a thread's */
/* Sent, armed or given a handler (in: false), or handled: what came before comes before that
 * (descriptor.c). With the baton. */
void ft_rt_signal_channel(int number, bool in, const void *pc);
/* The program says so (annotate.c): FT_RAW_CHANNEL_OUT: what came before comes before each later
 * FT_RAW_CHANNEL_IN of that address. */
void ft_rt_meet(const volatile void *what, uint64_t direction, const void *pc);
void ft_rt_signal_taken(int number, const void *pc); /* by who waits for it */

/* ---- assembly.c: the write of inline assembly that the calling thread has at hand. Between its
 * two hooks it has the baton, and is inside. */
typedef struct ft_rt_at_hand {
    uintptr_t address; /* 0: none */
    unsigned kind, size_code;
    bool plain;        /* none of an atomic */
    const void *pc;    /* of the hook before it */
    int64_t before[2]; /* by eight bytes */
} ft_rt_at_hand;
ft_rt_at_hand ft_rt_take_at_hand(void);
/* Inside; the instruction is tried again, unless (false) the handler with that context had the
 * program go on elsewhere. */
bool ft_rt_put_at_hand(ft_rt_at_hand taken, const void *context);
/* Is the calling thread, with that context, between the hook before a read of inline assembly and
 * the read? What the log says it returned must not change there. */
bool ft_rt_reads(const void *context);

/* ---- thread.c */
/* In a process that was just forked: it has the parent's log mapped and none of its threads, so it
 * runs unrecorded. */
void ft_rt_in_child(void);
/* The program has started others, or armed a timer: what they send comes by itself. */
extern bool ft_rt_processes, ft_rt_timers;
/* pthread_join, called from there. */
int ft_rt_join(pthread_t handle, void **result, const void *pc);

bool ft_rt_is_own(const void *pc); /* code of the C library (real.c) */

/* ---- heap.c: memory that begins (and is returned), and that is about to end */
void *ft_rt_made(void *memory, size_t size, bool zeroed, const void *pc);
void *ft_rt_given(void *memory, size_t size, const void *pc); /* by malloc and its like */
/* With the content that it has, which can be read. */
void *ft_rt_mapped(void *memory, size_t size, const void *pc);
void ft_rt_gone(void *memory, size_t size, const void *pc);

/* ---- stdio.c */
void ft_rt_stdio_start(void); /* standard input and output have buffers, none of the heap */

/* ---- libc.c: the C library's own allocator, which all of the program's memory is of, whatever
 * others are loaded */
typedef struct ft_rt_allocator {
    void *(*malloc)(size_t size);
    void *(*calloc)(size_t n, size_t size);
    void *(*realloc)(void *memory, size_t size);
    void *(*memalign)(size_t alignment, size_t size);
    void (*free)(void *memory);
    size_t (*size_of)(void *memory); /* what can be used of a block; found last */
} ft_rt_allocator;
extern ft_rt_allocator ft_rt_own_allocator;
const ft_rt_allocator *ft_rt_find_allocator(void);

static inline const ft_rt_allocator *ft_rt_libc(void)
{
    return ft_rt_own_allocator.size_of ? &ft_rt_own_allocator : ft_rt_find_allocator();
}

/* ---- memory_goes.c */
/* What the calling thread wrote is in the log: memory may go now, unseen. */
void ft_rt_memory_may_go(void);

/* ---- memory_map.c: a call writes into a file, which memory of the program may share. Before it
 * what the file has already is told, behind it what it made longer: nobody could touch that. */
typedef struct ft_rt_file_write {
    dev_t device;
    ino_t file;
    off64_t at, told; /* told: -1: no memory shares it */
} ft_rt_file_write;
ft_rt_file_write ft_rt_file_begin(int fd, off64_t at, size_t n,
                                  const void *pc); /* -1: where fd is */
void ft_rt_file_end(const ft_rt_file_write *w, ssize_t put, const void *pc);
void ft_rt_file_hidden(const void *memory, size_t size); /* it cannot be read any more */

/* ---- libraries.c */
void ft_rt_mapping_gone(const void *memory, size_t size); /* with the baton */
void ft_rt_libraries_begin(const void *pc);               /* some may have been loaded */

/* ---- replay.c: all by the thread with the baton, or with the baton's lock held */
#define FT_RT_NOBODY UINT32_MAX
#define FT_RT_ANY    UINT32_MAX
void ft_rt_replay_start(void *schedule); /* raw/schedule.h */
/* The thread at work comes to its next step, or back from one: true if it may do it. False: the
 * baton is for another one (ft_rt_replay_next). `hook`: it stands before what `kind`, `pc` say. */
bool ft_rt_replay_may(ft_rt_thread *self, bool hook);
/* The thread whose turn it is, if it can go on; NULL: nobody can at the moment. */
ft_rt_thread *ft_rt_replay_next(void);
/* A step of that kind is done, or is done before the thread comes to its next hook. */
void ft_rt_replay_step(ft_rt_thread *self, uint32_t kind, uint32_t site);
void ft_rt_replay_record(ft_rt_thread *self, ft_raw_operation operation, const uint64_t *operands);
void ft_rt_replay_born(ft_rt_thread *child, ft_rt_thread *parent);
/* The signal whose handler the thread has to run next, 0: something else. */
int ft_rt_replay_handles(const ft_rt_thread *self);
/* The thread that handles that signal next, NULL: none. */
ft_rt_thread *ft_rt_replay_handler(int number);
/* The schedule says that its wait ends because its time is up. */
bool ft_rt_replay_times_out(const ft_rt_thread *thread);
/* Which waiter of `what` a signal wakes: the one that the schedule has go on next, else one that is
 * not to sleep at its end, nor until its time is up; NULL: any. */
ft_rt_thread *ft_rt_replay_waiter(const void *what);
/* The next step of the calling thread is one that the witness ends before. Without the baton. */
bool ft_rt_replay_ends(void);
void ft_rt_replay_watch(void);    /* now and then: ends what makes no progress */
void ft_rt_replay_exit(void);     /* the program ends */
void ft_rt_replay_deadlock(void); /* all threads wait for each other */
/* What the hook that begins now is, for the schedule to compare before it is done. */
static inline void ft_rt_about(uint32_t kind, const void *pc)
{
    if (!ft_rt_replaying || !ft_rt_self || ft_rt_self->inside) return;
    ft_rt_self->kind = kind;
    ft_rt_self->pc = pc;
    ft_rt_self->size = 0;
}

static inline void ft_rt_about_access(uint32_t kind, const void *pc, const volatile void *memory,
                                      uint64_t size)
{
    if (!ft_rt_replaying || !ft_rt_self || ft_rt_self->inside) return;
    ft_rt_about(kind, pc);
    ft_rt_self->address = (uintptr_t)memory;
    ft_rt_self->size = size;
}

/* ---- feed.c: threads get the inputs of another run */
enum { FT_RT_STOPPED = 89 }; /* exit status of a program that the runtime ends */
extern bool ft_rt_feeding;
bool ft_rt_feed_records(void); /* and this one is recorded */
/* Does it wait for what nobody will put into a channel unless others go on? */
bool ft_rt_feed_starves(const ft_rt_thread *thread);
void ft_rt_feed_ends(void) __attribute__((noreturn)); /* no thread goes on */

/* ---- baton.c, for replay.c */
void ft_rt_wake(ft_rt_thread *thread, bool timed_out); /* a blocked one, with the lock held */
/* Replaying: waits until it may go on; `hook` as in ft_rt_replay_may. */
void ft_rt_turn(ft_rt_thread *self, bool hook);

/* ---- access.c, for symbolic.c: hooks before a read, whose value is in the log at once, and before
 * a write */
void ft_rt_read(const void *address, uint64_t size, const void *pc);
void ft_rt_write(void *address, uint64_t size, const void *pc);

/* ---- symbolic.c */
bool ft_sym_built(void); /* was anything of the program built with --symbolic? */
void ft_sym_start(void); /* terms are recorded from now on */
void ft_sym_flush(void); /* logs what the calling thread noted */

/* ---- condition.c */
/* The thread reads 1 at that address, by code there: of a guard that is no event but the first
 * time, and then it passes the object; false: it is none. */
bool ft_rt_guard_passed(const ft_rt_thread *self, const volatile void *address, const void *pc);

/* ---- objects.c */
/* The object at an address, made with that kind (or count) when it is not known. */
ft_rt_object *ft_rt_object_at(ft_raw_class class, const void *address, uint32_t kind);
ft_rt_object *ft_rt_object_known(ft_raw_class class, const volatile void *address); /* or NULL */
/* From here on it is another one in the log; its generation is the number that it had, and 1. */
void ft_rt_object_again(ft_rt_object *object);
void ft_rt_object_forget(const void *address, size_t size); /* all in that range */
/* The same of memory that was just freed: the log has it, where the program has several threads. */
void ft_rt_object_reclaim(const void *address, size_t size, uint32_t site);
bool ft_rt_objects_told(void); /* are INITIALISED and DESTROYED told now? */
void ft_rt_object_begins(const ft_rt_object *o, uint32_t site);
void ft_rt_object_ends(const ft_rt_object *o, uint32_t site); /* it is none any more */
ft_rt_object *ft_rt_object_next(size_t *at);                  /* from *at = 0; NULL: no more */

/* ---- real.c: the functions that ours stand in front of */
typedef struct ft_rt_real_one {
    const char *name;
    void *at; /* NULL: not looked up yet */
} ft_rt_real_one;

#define FT_REAL(function)                                                                          \
    ({                                                                                             \
        static ft_rt_real_one real_one                                                             \
            __attribute__((section("ft_real"), used)) = {#function, NULL};                         \
        if (!real_one.at) real_one.at = ft_rt_real(#function);                                     \
        (__typeof__(&function))real_one.at;                                                        \
    })
void ft_rt_real_start(void);        /* looks all of them up, before there are threads */
void *ft_rt_real(const char *name); /* ends the process where there is none */
void ft_rt_say(const char *text);   /* "foretell: text" on standard error, without stdio */

/* Where to map what is the runtime's own: not among what the program maps, whose addresses then are
 * the same recorded and replayed. */
void *ft_rt_away(size_t size);
void *ft_rt_map(size_t size); /* zeroed pages; ends the process where there are none */

/* A site must be known before a record that names it: FT_RT_SITE may write one itself. */
#define FT_RT_SITE ft_rt_site(__builtin_return_address(0))

#pragma GCC visibility pop

#endif
