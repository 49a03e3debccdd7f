/* Shared memory of an exploration: how the search (native/) and the runtime inside the explored
 * program (runtime/exploring/) talk.
 *
 * The explorer makes a memory file without a name, of ft_exploring_bytes(), and starts the program
 * with FT_EXPLORING_VARIABLE naming it. The program runs to its *first choice*: the first creation
 * of a thread, or the end of the process. From there on it serves: each *slot* is one run at a
 * time, and each *server* has every servers-th slot and makes their runs one by one.
 *
 *   slot.state   IDLE     the explorer writes a task (prefix, avoid, threads), then
 *                WANTED   the slot's server will begin a run
 *                RUNNING  the run logs its steps; `n_steps` is the heartbeat
 *                OVER     the log is complete, or the process died; the explorer reads it
 *
 * A hand-over costs more than a short run: so the explorer puts tasks into several slots before it
 * wakes the server (server.wanted), and the server makes all of their runs before it wakes the
 * explorer (server.over, header.overs).
 *
 * Names. Threads and objects have numbers that are the run's own (objects) or the explorer's
 * (threads); the tables of the slot say what they mean by creation: a thread is the k-th that its
 * parent created; an object is a word (ft_exploring_name) that is the same in every run. Nothing
 * here is an address but `pc`, which the table of modules turns into a place.
 *
 * Imports: common/explore. */
#ifndef FT_RECORD_EXPLORING_H
#define FT_RECORD_EXPLORING_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "explore/pick.h"
#include "inputs.h"

/* Another number wherever this file or ft_x_kind changes. */
#define FT_EXPLORING_MAGIC    "FTXPL003"
#define FT_EXPLORING_VARIABLE "FORETELL_EXPLORE" /* environment: the path of the memory file */

enum {
    FT_EXPLORING_MODULES = 64,
    FT_EXPLORING_PATH = 256,
    FT_EXPLORING_TEXT = 256,
    FT_EXPLORING_OBJECTS = 4096, /* that one run may use */
    FT_EXPLORING_WATCHES = 4096, /* rounds of polling in one run, and their attempts */
    FT_EXPLORING_ATTEMPTS = 16384,
    FT_EXPLORING_MOST_WATCHED = 64, /* attempts of one round */
    FT_EXPLORING_OUTPUT = 1 << 20,  /* bytes that are kept of what a run writes */
    FT_EXPLORING_RACES = 256        /* pairs of places that one run reports */
};

/* Grades of making runs; what a run does is the same in each. Later ones are slower. */
#define FT_EXPLORING_GRADE_TABLE(X)                                                                \
    X(REWIND, "rewinding", "threads are contexts of one kernel thread, memory is copied back")     \
    X(FORK, "a fork for each run", "each run is a copy of the process at its first choice")        \
    X(ANEW, "a new process for each run", "the program is started again for each run")
typedef enum ft_exploring_grade {
#define FT_ROW(symbol, name, doc) FT_EXPLORING_##symbol,
    FT_EXPLORING_GRADE_TABLE(FT_ROW)
#undef FT_ROW
        FT_EXPLORING_GRADES
} ft_exploring_grade;

/* Why a run failed. The code: of EXIT the exit code, of SIGNAL its number. */
#define FT_EXPLORING_FAILURE_TABLE(X)                                                              \
    X(NONE, "none", "it did not")                                                                  \
    X(EXIT, "exit code", "the process ended with another code than the expected one")              \
    X(SIGNAL, "signal", "a signal ended the process")                                              \
    X(ASSERT, "assertion", "an assertion failed")                                                  \
    X(LOCK, "lock", "a lock was released by a thread that does not hold it, or the like")          \
    X(MEMORY, "memory", "memory was freed twice, or used after it was freed")                      \
    X(STUCK, "deadlock", "threads wait for each other for ever")                                   \
    X(LIVE_LOCK, "live-lock", "threads poll for ever for what no thread changes")                  \
    X(HANG, "hang", "a thread goes on without end and without an action")                          \
    X(ORACLE, "oracle", "the user's command refuses what the run wrote; found by the explorer")    \
    X(OUTPUT, "output", "it wrote something else than another run; found by the explorer")
typedef enum ft_exploring_failure {
#define FT_ROW(symbol, name, doc) FT_EXPLORING_FAILED_##symbol,
    FT_EXPLORING_FAILURE_TABLE(FT_ROW)
#undef FT_ROW
        FT_EXPLORING_FAILURES
} ft_exploring_failure;

/* The name of an object: where its memory is from, who made that, which of his it is, and where in
 * it the object lies. A new generation of an object in the same place is another object. */
typedef enum ft_exploring_space {
    FT_EXPLORING_STATIC, /* maker: module; offset from its load address */
    FT_EXPLORING_HEAP,   /* maker: thread; its number-th block; offset in the block */
    FT_EXPLORING_STACK,  /* maker: thread; offset below its thread pointer, or its stack's end */
    FT_EXPLORING_OTHER,  /* offset: an address, the same where the schedule does not move it */
    FT_EXPLORING_MODEL /* of the runtime's own models: maker: thread + 1, or 0; the number is theirs
                        */
} ft_exploring_space;
typedef struct ft_exploring_name {
    uint16_t space, maker;
    uint32_t number;
    uint64_t offset;
    uint32_t generation, class; /* ft_x_class */
} ft_exploring_name;

typedef struct ft_exploring_object {
    ft_exploring_name name;
    ft_x_object initial; /* before the run's first step */
} ft_exploring_object;

/* What an AWAIT, READY or LINGER of the run watches: its `value` is the number of one of these. */
typedef struct ft_exploring_watch {
    uint32_t first, n; /* in the slot's attempts */
} ft_exploring_watch;

typedef struct ft_exploring_thread {
    uint32_t parent, number; /* the number-th child of that thread, from 1; of the first: 0, 0 */
} ft_exploring_thread;

typedef struct ft_exploring_step {
    ft_x_action action; /* objects by the run's numbers, threads by the explorer's */
    uint64_t pc;        /* return address of the call in the program; 0: none */
    /* What the thread had to wait for before: a sleep, or the time limit of its wait that passed */
    uint64_t delay_pc;
    uint32_t delay_ms;
    bool delay_is_limit;
    bool in_call;  /* of a call on a futex, whose actions are of any kind */
    uint32_t call; /* of its thread on modelled descriptors and futexes, from 1: one call may have
                      several actions; 0: before the first such call */
} ft_exploring_step;

typedef struct ft_exploring_module {
    char path[FT_EXPLORING_PATH];
    uint64_t base, from, to; /* load address, and the addresses that it takes */
} ft_exploring_module;

/* How the run failed, if it did. */
typedef struct ft_exploring_result {
    uint32_t failure; /* ft_exploring_failure */
    uint32_t thread;  /* in which */
    int32_t code;
    uint64_t pc;
    char text[FT_EXPLORING_TEXT]; /* of an assertion: its expression */
} ft_exploring_result;

/* Two accesses of one memory, at least one of them a write, that nothing orders. */
typedef struct ft_exploring_race {
    uint64_t pc[2];
    uint16_t thread[2];
    uint8_t writes[2], atomic[2];
    uint32_t size;
    uint64_t address;
} ft_exploring_race;

typedef enum ft_exploring_state {
    FT_EXPLORING_IDLE,
    FT_EXPLORING_WANTED,
    FT_EXPLORING_RUNNING,
    FT_EXPLORING_OVER
} ft_exploring_state;

typedef struct ft_exploring_slot {
    uint32_t state; /* ft_exploring_state */
    /* the task, by the explorer */
    uint32_t n_prefix;
    uint32_t avoid[FT_X_THREADS];
    uint32_t n_threads;                        /* that have numbers */
    ft_exploring_thread threads[FT_X_THREADS]; /* by number; the run adds those that it makes */
    /* the run, by the program */
    uint32_t all_threads;
    uint32_t n_objects, n_races;
    uint32_t wide_points; /* 1: an access that is a scheduling point is of several cells */
    uint32_t n_steps;     /* written behind the step itself */
    uint32_t running;     /* the thread that goes on */
    uint32_t is_complete; /* 1: the run wrote its end; 0: its process died: `status` says how, or
                             it was ended because it hangs */
    uint32_t hangs;       /* by the program: 1: a thread went on for too long without an action */
    int32_t status;       /* of wait() */
    uint32_t end;         /* ft_x_end */
    ft_exploring_result result;
    ft_x_operation pending[FT_X_THREADS];
    uint64_t pending_pc[FT_X_THREADS];
    char strayed[FT_EXPLORING_TEXT];  /* of STRAYED: what differed */
    char refused[FT_EXPLORING_TEXT];  /* a call that an exploration does not do; "": none */
    uint32_t output_size;             /* of what the run wrote to standard output */
    char output[FT_EXPLORING_OUTPUT]; /* the first bytes of it */
    uint32_t n_watches, n_attempts;
    ft_exploring_watch watches[FT_EXPLORING_WATCHES];
    ft_x_attempt attempts[FT_EXPLORING_ATTEMPTS]; /* objects by the run's numbers */
    ft_exploring_race races[FT_EXPLORING_RACES];
    ft_exploring_object objects[FT_EXPLORING_OBJECTS];
} ft_exploring_slot;

typedef struct ft_exploring_server {
    uint32_t wanted;  /* futex: raised by the explorer behind tasks that became WANTED */
    uint32_t sleeps;  /* 1: the server may sleep until that changes */
    uint32_t over;    /* futex: raised by the server when it has no task left */
    uint32_t awaited; /* 1: a thread of the explorer may sleep until that changes */
    uint32_t pid;     /* of the process that runs; 0: none */
    uint32_t doomed;  /* by the explorer: 1: that process is being killed, and takes no task */
    uint32_t pace_ns; /* what a run took, of the last ones; 0: none has ended */
    /* the server's own */
    uint32_t next;  /* of its slots: where it looks for a task first */
    uint32_t made;  /* runs since it slept */
    uint64_t since; /* when that was, in ns */
    uint64_t unused[3];
} ft_exploring_server;

/* How runs are made, by the explorer; the same for all. */
typedef struct ft_exploring_options {
    uint32_t grade;         /* ft_exploring_grade: the first that may be used */
    uint32_t max_steps;     /* of a run; more: CUT */
    int32_t expect_exit;    /* the exit code that is not a failure */
    uint32_t spurious;      /* 1: waits for a condition may wake up by themselves */
    uint32_t early;         /* 1: time limits may pass while others can go on */
    uint32_t races;         /* 1: races are looked for */
    uint32_t patience_ms;   /* of processor time, for a run without an action; 0: without end */
    uint32_t keeps_output;  /* 1: what a run writes to standard output is kept */
    uint32_t polls;         /* fruitless rounds of a loop that polls */
    uint32_t n_points;      /* places whose accesses are scheduling points */
    uint32_t points_as_one; /* 1: as if all of them were of one memory */
    uint64_t points[FT_EXPLORING_RACES * 2]; /* return addresses as in ft_exploring_race */
} ft_exploring_options;

typedef struct ft_exploring_header {
    char magic[8];
    uint64_t layout; /* ft_exploring_layout(): the program was built with the same tables */
    uint32_t servers, slots;
    uint32_t first_processor; /* of the first server; the next one has the next processor */
    uint32_t only_slot; /* 1 + the slot that this process serves, once (ANEW); 0: all, again and
                           again */
    uint32_t explorer;  /* its process */
    ft_exploring_options options;
    /* by the program */
    uint32_t taken;      /* 1: a process serves this file */
    uint32_t asks_input; /* 1: the program reads its standard input, which is a pipe or a socket */
    uint32_t ready; /* futex; 1: it stands at its first choice, and what is below is complete */
    uint32_t grade; /* ft_exploring_grade of its runs */
    char why[FT_EXPLORING_TEXT]; /* it is not the wanted one */
    struct {
        uint64_t runs, spoilt;       /* processes that were replaced, and the runs that they made */
        uint64_t fork_ns;            /* copying the process took that long */
        uint32_t reserve;            /* contexts to make before the first run, if that many help */
        char why[FT_EXPLORING_TEXT]; /* what the first of them left behind */
    } rewinding;
    uint32_t server;      /* its process; of the first one, whose number all report */
    ft_x_operation first; /* the first choice, by the first thread; objects as in slot 0 */
    uint32_t n_modules;
    ft_exploring_module modules[FT_EXPLORING_MODULES];
    ft_raw_unset unset[FT_RAW_UNSETS];
    uint32_t overs;  /* futex: raised with each server's `over` */
    uint32_t sleeps; /* 1: the explorer may sleep until that changes */
} ft_exploring_header;

/* The server's processor, out of those that there are; false: there is one alone. */
static inline bool ft_exploring_processor(const ft_exploring_header *h, uint32_t server,
                                          const cpu_set_t *all, cpu_set_t *one)
{
    uint32_t n = (uint32_t)CPU_COUNT(all), wanted, nth = 0;
    CPU_ZERO(one);
    if (n < 2) return false;
    wanted = (h->first_processor + server) % n;
    for (uint32_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, all) && nth++ == wanted) CPU_SET(cpu, one);
    return true;
}

static inline uint64_t ft_exploring_layout(void)
{
    return (uint64_t)sizeof(ft_exploring_header) << 32 ^ (uint64_t)sizeof(ft_exploring_slot) << 8 ^
           FT_X_KINDS;
}

/* ---- where things are in the file: header, servers, then the slots; behind each its prefix and
 * steps */

static inline size_t ft_exploring_round(size_t bytes)
{
    return (bytes + 4095) / 4096 * 4096;
}

static inline size_t ft_exploring_slot_bytes(uint32_t max_steps)
{
    return ft_exploring_round(sizeof(ft_exploring_slot)) +
           ft_exploring_round(max_steps * sizeof(ft_x_pick)) +
           ft_exploring_round(max_steps * sizeof(ft_exploring_step));
}

static inline size_t ft_exploring_before_slots(uint32_t servers)
{
    return ft_exploring_round(sizeof(ft_exploring_header)) +
           ft_exploring_round(servers * sizeof(ft_exploring_server));
}

static inline size_t ft_exploring_bytes(uint32_t servers, uint32_t slots, uint32_t max_steps)
{
    return ft_exploring_before_slots(servers) + slots * ft_exploring_slot_bytes(max_steps);
}

static inline ft_exploring_server *ft_exploring_server_at(ft_exploring_header *h, uint32_t server)
{
    return (ft_exploring_server *)(void *)((char *)h +
                                           ft_exploring_round(sizeof(ft_exploring_header))) +
           server;
}

static inline ft_exploring_slot *ft_exploring_slot_at(ft_exploring_header *h, uint32_t slot)
{
    return (ft_exploring_slot *)(void *)((char *)h + ft_exploring_before_slots(h->servers) +
                                         slot * ft_exploring_slot_bytes(h->options.max_steps));
}

static inline ft_x_pick *ft_exploring_prefix(ft_exploring_slot *s)
{
    return (ft_x_pick *)(void *)((char *)s + ft_exploring_round(sizeof(ft_exploring_slot)));
}

static inline ft_exploring_step *ft_exploring_steps(ft_exploring_slot *s, uint32_t max_steps)
{
    return (ft_exploring_step *)(void *)((char *)ft_exploring_prefix(s) +
                                         ft_exploring_round(max_steps * sizeof(ft_x_pick)));
}

#endif
