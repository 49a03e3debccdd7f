/* The interpreter of programs: one execution, step by step, under a schedule and inputs that the
 * caller gives. It checks every access and every use of a lock, and is the judge of what other
 * parts find: it shares no code with them.
 *
 * A thread that has not ended stands before an *operation*: a visible instruction (instruction.h),
 * its beginning, the second half of an instruction of two steps, the return of @main, or the end of
 * the process by an error that it has run into. A *step* carries the operation out and runs the
 * thread up to its next one. A step is possible if the operation has a *choice*: a variant (which
 * waiter a signal notifies, whether a timed wait ends by itself). A thread whose assumption fails
 * stands there for ever, and the others go on: what ends the process then, an error or an exit,
 * ends it as well where the thread has not come to the assumption yet. The interpreter is
 * deterministic: the same program, inputs and steps lead to the same state.
 *
 * Threads have numbers. Those of new ones are part of the schedule (a variant of `create`), so that
 * a thread can have the same number, and its objects the same addresses, in every schedule.
 *
 * Imports: base, program. */
#ifndef FT_PROGRAM_INTERPRET_MACHINE_H
#define FT_PROGRAM_INTERPRET_MACHINE_H

#include "base/strbuf.h"
#include "program/program.h"

struct ft_loops;

enum { FT_INTERPRETER_THREADS = 64 };

/* How far an execution is. */
#define FT_INTERPRETER_STATE_TABLE(X)                                                              \
    X(GOING, "going", "some thread has a choice")                                                  \
    X(EXITED, "exited", "the process has ended, with a code")                                      \
    X(FAILED, "failed", "an error: a finding")                                                     \
    X(DISCARDED, "discarded", "no thread has a choice, and one stands at a failed assumption")     \
    X(STOPPED, "stopped", "a bound of the interpreter, not of the program")
typedef enum ft_interpreter_state {
#define FT_ROW(symbol, name, meaning) FT_INTERPRETER_##symbol,
    FT_INTERPRETER_STATE_TABLE(FT_ROW)
#undef FT_ROW
        FT_INTERPRETER_STATES
} ft_interpreter_state;

const char *ft_interpreter_state_name(ft_interpreter_state state);

/* A place in the program: the instruction's number in its function. */
typedef struct ft_interpreter_place {
    uint32_t function; /* its symbol */
    uint32_t instruction;
} ft_interpreter_place;

/* An access that was carried out. */
typedef struct ft_interpreter_access {
    uint32_t thread;
    ft_interpreter_place place;
    bool writes, atomic;
    uint64_t address, bytes;
    uint8_t width;  /* of the value; 0: of a range of bytes */
    uint64_t value; /* read or written */
} ft_interpreter_access;

typedef struct ft_interpreter_options {
    bool races;                   /* look for races; it makes every access slower */
    uint64_t max_steps;           /* instructions of a step; 0: 10 million */
    uint64_t max_bytes;           /* of all objects; 0: 256 MiB */
    uint32_t max_threads;         /* 0: FT_INTERPRETER_THREADS */
    const struct ft_loops *loops; /* cells of these count among the inputs (program/loops.h) */
    /* The next value of the input; cut to the width. NULL, or false: 0. */
    bool (*input)(void *context, const char *name, uint8_t width, uint64_t *value);
    /* Output to a descriptor. May be NULL. */
    void (*output)(void *context, int32_t descriptor, const void *bytes, size_t length);
    /* Each access to an object that is not constant. May be NULL. */
    void (*access)(void *context, const ft_interpreter_access *access);
    void *context;
} ft_interpreter_options;

/* The next operation of a thread. */
typedef struct ft_interpreter_operation {
    ft_code code;    /* FT_CODES: the thread's beginning; FT_CODE_FAIL: an error; one that is not
                        visible: it goes round in circles there */
    bool second;     /* the second half: a wait's return, a barrier's, a once's */
    bool waits;      /* of a wait's: it has not been notified */
    uint64_t object; /* the address of what it is about; of join and detach: the thread; else 0 */
    uint64_t other;  /* the mutex of a wait; the function of a create; the code of an exit */
    ft_interpreter_place place;
} ft_interpreter_operation;

/* The error that ended the execution, or will: of FAILED, STOPPED and operations FT_CODE_FAIL. */
typedef struct ft_interpreter_error {
    ft_program_error kind;
    uint32_t thread;
    ft_interpreter_place place;
    ft_interpreter_place other; /* of a race: the earlier access */
    uint64_t address; /* of a race: a byte of both accesses; of memory on the heap that was freed:
                         its first byte */
    bool writes;      /* of a race: this access does */
    bool in_section, other_in_section; /* of a race: the access is within an atomic section */
    char message[200];
} ft_interpreter_error;

typedef struct ft_interpreter ft_interpreter;

/* Thread 0 stands before @main's beginning, with the arguments 0 and 0. The program is valid, and
 * outlives the interpreter. */
ft_interpreter *ft_interpreter_new(const ft_program *program,
                                   const ft_interpreter_options *options);
void ft_interpreter_free(ft_interpreter *interpreter); /* accepts NULL */
/* A interpreter of its own in the same state. */
ft_interpreter *ft_interpreter_copy(const ft_interpreter *interpreter);

ft_interpreter_state ft_interpreter_state_of(const ft_interpreter *interpreter);
int32_t ft_interpreter_exit_code(const ft_interpreter *interpreter); /* EXITED */
/* The newest error. */
const ft_interpreter_error *ft_interpreter_error_of(const ft_interpreter *interpreter);
uint32_t ft_interpreter_thread_count(const ft_interpreter *interpreter); /* threads so far */

/* False: the thread has ended, or does not exist. */
bool ft_interpreter_stands_before(const ft_interpreter *interpreter, uint32_t thread,
                                  ft_interpreter_operation *operation);
/* The variants with which the thread can go on; returns how many, 0: it waits, or has ended. Of
 * `create` it is 0 alone: the new thread gets the next number; also n + 1 is one where no thread
 * has the number n. */
uint32_t ft_interpreter_choices(const ft_interpreter *interpreter, uint32_t thread,
                                uint64_t variants[FT_INTERPRETER_THREADS]);
/* GOING, and the variant is one of the thread's choices. Returns the state after it; where no
 * thread has a choice then, but some have not ended, that is the error DEADLOCK. A thread that
 * comes back to a place as it was, within a step and without a change, has no choice any more;
 * where one of them is left, the error is LIVE_LOCK. */
ft_interpreter_state ft_interpreter_step(ft_interpreter *interpreter, uint32_t thread,
                                         uint64_t variant);

/* Where each thread that can go on would, alone, come back to where it stands, and change nothing
 * on the way, the execution has ended: by the error LIVE_LOCK. So it has where none of the states
 * that can follow, up to 2,000, is an end or has other memory beside the stacks. Returns the state
 * after it. */
ft_interpreter_state ft_interpreter_settle(ft_interpreter *interpreter);

/* The content of operand i of the instruction that the thread stands before. */
uint64_t ft_interpreter_operand(const ft_interpreter *interpreter, uint32_t thread, uint32_t i);

/* A synchronisation object, as it is now. All 0: there is none at the address. */
typedef struct ft_interpreter_object {
    uint32_t
        owner; /* thread + 1: of a mutex, of a read-write lock the writer, of a once the caller */
    uint64_t count;            /* how often the owner holds it; a semaphore's count; once: 1 done */
    uint64_t total;            /* threads of a barrier */
    uint64_t readers, waiters; /* bits by thread */
    ft_mutex_kind kind;
} ft_interpreter_object;
ft_interpreter_object ft_interpreter_object_at(const ft_interpreter *interpreter, uint64_t address);

/* The thread's places, the innermost first: what it stands before, and the calls that led there. Up
 * to `room` of them; returns how many there are. */
uint32_t ft_interpreter_stack(const ft_interpreter *interpreter, uint32_t thread,
                              ft_interpreter_place *places, uint32_t room);

/* The content of a register in one of the thread's frames; the outermost has the depth 0. */
uint64_t ft_interpreter_register(const ft_interpreter *interpreter, uint32_t thread, uint32_t depth,
                                 uint32_t index);
/* The address that the symbol has for the thread; 0: the thread's own objects are not made yet. */
uint64_t ft_interpreter_symbol_address(const ft_interpreter *interpreter, uint32_t thread,
                                       uint32_t symbol);
/* Objects so far: newer ones have larger numbers (ft_interpreter_location). */
uint32_t ft_interpreter_objects(const ft_interpreter *interpreter);
/* Synchronisation objects so far, and the address of each. */
uint32_t ft_interpreter_syncs(const ft_interpreter *interpreter);
uint64_t ft_interpreter_sync_address(const ft_interpreter *interpreter, uint32_t n);
/* What the thread has returned; false: it has not ended. */
bool ft_interpreter_result(const ft_interpreter *interpreter, uint32_t thread, uint64_t *result);
/* No thread may join it any more. */
bool ft_interpreter_is_unjoinable(const ft_interpreter *interpreter, uint32_t thread);

/* The object that is, or was, at an address. */
typedef struct ft_interpreter_location {
    uint32_t object; /* its number: the same in all executions of one schedule */
    uint32_t symbol; /* FT_NO_SYMBOL: made by `stack` or `alloc` */
    bool heap;
    uint64_t offset, size;
} ft_interpreter_location;
/* False: none. */
bool ft_interpreter_locate(const ft_interpreter *interpreter, uint64_t address,
                           ft_interpreter_location *location);

/* Values of inputs that were read so far. The n-th (from 1) that the thread has read of the input,
 * of those behind the first `skip`; false: it has not yet. */
uint32_t ft_interpreter_reads(const ft_interpreter *interpreter);
bool ft_interpreter_input(const ft_interpreter *interpreter, uint32_t skip, uint32_t thread,
                          const char *name, uint32_t n, uint64_t *value);

uint64_t ft_interpreter_instructions(const ft_interpreter *interpreter); /* carried out so far */
/* Copies n bytes of a live object's memory; false: they are not all in one. For tests. */
bool ft_interpreter_read(const ft_interpreter *interpreter, uint64_t address, size_t n,
                         void *bytes);
/* Appends all that the rest of the execution depends on, but for what races need: equal bytes mean
 * equal states. For tests. */
void ft_interpreter_state_bytes(const ft_interpreter *interpreter, ft_strbuf *bytes);
/* Appends what later races depend on, as far as it can still matter: which earlier accesses, where
 * in the program, are not behind which thread and are behind which object. Where states are equal
 * and these bytes are, what is done next races alike. Needs `races`. */
void ft_interpreter_order_bytes(const ft_interpreter *interpreter, ft_strbuf *bytes);
uint64_t ft_interpreter_address(const ft_interpreter *interpreter,
                                uint32_t symbol); /* of a shared object */

#endif
