/* The inside of the interpreter, for the files of this folder alone. */
#ifndef FT_PROGRAM_INTERPRET_INTERNAL_H
#define FT_PROGRAM_INTERPRET_INTERNAL_H

#include "base/contract.h"
#include "program/interpret/interpreter.h"

/* A register's content. object: a number + 1 in the machine's objects; 0: none. */
typedef struct word {
    uint64_t bits;
    uint32_t object;
} word;

typedef struct memory_object {
    uint64_t base, size;
    unsigned char *bytes;
    uint32_t *pointees;    /* by cell of 8 bytes: the object of the address there; NULL: none */
    struct shadow *shadow; /* by byte, for races; NULL: not accessed yet */
    bool freed, constant, heap;
    uint32_t stack_of; /* thread + 1, of `stack`; 0: none */
} memory_object;

/* The last accesses of one kind to a byte: one, or one for each thread. */
typedef struct epoch {
    uint32_t clock; /* 0: none */
    bool in_section;
    ft_interpreter_place place;
} epoch;

typedef struct accesses {
    epoch last;
    uint32_t thread;
    uint32_t many; /* number + 1 in the machine's `many`, which has all threads'; 0: only `last` */
} accesses;

enum { PLAIN_READ, PLAIN_WRITE, ATOMIC_READ, ATOMIC_WRITE, ACCESS_KINDS };
typedef struct shadow {
    accesses of[ACCESS_KINDS];
} shadow;

typedef struct vector_clock { /* by thread */
    uint32_t of[FT_INTERPRETER_THREADS];
} vector_clock;

enum { SYNC_NEW, SYNC_MUTEX, SYNC_RWLOCK, SYNC_CONDITION, SYNC_SEMAPHORE, SYNC_BARRIER, SYNC_ONCE };

/* A synchronisation object, by its address. */
typedef struct sync_object {
    uint64_t address;
    uint8_t kind, mutex_kind;
    bool destroyed;
    uint32_t owner;   /* thread + 1: of a mutex, the writer, the caller of a once */
    uint64_t count;   /* depth; semaphore's count; arrivals; once: 1 done */
    uint64_t total;   /* of a barrier */
    uint64_t readers; /* bits of threads that hold it to read */
    uint32_t reads[FT_INTERPRETER_THREADS]; /* how often */
    uint64_t waiters, notified;             /* bits; of a barrier: who arrived, who may leave */
    vector_clock released, written;         /* by all; by those that held it to write */
} sync_object;

/* The release sequence at an atomic's address (C11 5.1.2.4): what an acquire takes. */
typedef struct release {
    uint64_t address;
    vector_clock clock;
} release;

typedef struct frame {
    const ft_function *function;
    uint32_t at;        /* the next instruction */
    uint32_t registers; /* first of its registers in the thread's values */
    uint32_t objects;   /* the thread's stack objects when it was called */
    uint64_t once;      /* the flag that its return sets; 0: none */
} frame;

typedef struct interpreted_thread {
    FT_VEC(frame) frames;
    FT_VEC(word) values;
    FT_VEC(uint32_t) stack; /* objects that returns free */
    uint64_t next_base;
    uint32_t *own; /* by object of the program that each thread has: its number + 1 */
    bool exists, begun, failing, ended, detached, joined,
        returned;     /* returned: @main did, and stands before exit */
    bool second;      /* stands before a second half */
    bool stands;      /* at an assumption that does not hold: it has no choice */
    bool circles;     /* it goes round for ever, and has no choice */
    uint64_t changes; /* of memory that is not on its stack, of objects and inputs */
    uint8_t outcome;  /* of the first half: the last to arrive at a barrier */
    word result;
    uint64_t finishes; /* a once whose function has returned: its flag */
    int32_t exit_code;
    vector_clock clock;
    vector_clock pending;       /* releases that relaxed loads read: an acquire fence takes them */
    ft_interpreter_error error; /* failing */
    vector_clock fenced;        /* at the last release fence: relaxed stores release it */
} interpreted_thread;

/* A value of an input that a thread has read. */
typedef struct input_read {
    uint32_t thread, name; /* in the program's texts, or a cell of a loop (FT_LOOP_NAME) */
    uint64_t value;
} input_read;

struct ft_interpreter {
    const ft_program *program;
    ft_interpreter_options options;
    FT_VEC(input_read) inputs;
    FT_VEC(memory_object) objects;
    FT_VEC(interpreted_thread) threads;
    FT_VEC(sync_object) syncs;
    ft_map sync_at; /* address -> number in syncs */
    FT_VEC(release) releases;
    ft_map release_at;
    FT_VEC(epoch) many;      /* FT_INTERPRETER_THREADS each */
    uint32_t *globals;       /* by object of the program: its number */
    ft_map functions;        /* address -> symbol */
    uint64_t *function_base; /* by symbol */
    uint64_t next_global, bytes, instructions;
    uint32_t section; /* thread + 1 of atomic_begin */
    ft_interpreter_state state;
    int32_t exit_code;
    ft_interpreter_error error;
};

/* An error of the instruction: the thread stands before the end of the process. Returns false. */
bool ft_interpreter_fail(ft_interpreter *m, uint32_t t, ft_program_error kind, const char *format,
                         ...) FT_PRINTF(4, 5);
/* The address of the thread's newest error; false. */
bool ft_interpreter_error_at(ft_interpreter *m, uint32_t t, uint64_t address);
ft_interpreter_place ft_interpreter_place_of(const ft_interpreter *m, uint32_t t);
const ft_instruction *ft_interpreter_instruction(const ft_interpreter *m,
                                                 uint32_t t); /* the next one */

void ft_interpreter_fill_object(ft_interpreter *m, uint32_t number,
                                const ft_object *o); /* first content */

/* ---- memory.c: false: an error ended the execution */
uint32_t ft_memory_new(ft_interpreter *m, uint64_t *next_base, uint64_t size, uint64_t align);
void ft_memory_release(memory_object *o);
bool ft_memory_fits(ft_interpreter *m, uint32_t t, uint64_t size); /* below the limit on bytes? */
/* The object that holds n bytes at the address, and its offset there; checks life and bounds. */
memory_object *ft_memory_at(ft_interpreter *m, uint32_t t, word address, uint64_t n,
                            uint64_t *offset);
bool ft_memory_load(ft_interpreter *m, uint32_t t, word address, uint8_t width, word *result);
bool ft_memory_store(ft_interpreter *m, uint32_t t, word address, uint8_t width, word stored);
bool ft_memory_copy(ft_interpreter *m, uint32_t t, word to, word from, uint64_t n, bool overlap);
bool ft_memory_fill(ft_interpreter *m, uint32_t t, word to, uint8_t byte, uint64_t n);
bool ft_memory_free(ft_interpreter *m, uint32_t t, word address);
bool ft_memory_size(ft_interpreter *m, uint32_t t, word address, uint64_t *size);

/* ---- race.c */
/* An access of the kind to n bytes of the object; false: it races, and the execution ends. */
bool ft_race_access(ft_interpreter *m, uint32_t t, memory_object *o, uint64_t offset, uint64_t n,
                    int kind);
void ft_race_join(vector_clock *into, const vector_clock *from);
void ft_race_tick(ft_interpreter *m, uint32_t t); /* what the thread does from now on is later */
release *ft_race_release_at(ft_interpreter *m, uint64_t address);

/* ---- circles.c: the state of a thread, to see whether it comes back to it */
typedef struct circle circle;
circle *ft_circle_new(const ft_interpreter *m, uint32_t t);
void ft_circle_free(circle *c); /* accepts NULL */
/* Is the thread where it was, as it was? */
bool ft_circle_is_closed(const circle *c, const ft_interpreter *m, uint32_t t);
/* Is all that is not the thread's own the same in both? */
bool ft_circle_leaves(const ft_interpreter *m, const ft_interpreter *as, uint32_t t);
/* Is the memory that is on no stack as it was? */
bool ft_circle_keeps(const ft_interpreter *m, const ft_interpreter *as);

/* ---- value.c: pure arithmetic; an error kind, or FT_ERROR_NONE */
ft_program_error ft_value_binary(ft_code code, uint8_t width, uint64_t a, uint64_t b, uint64_t *r);
ft_program_error ft_value_unary(ft_code code, uint8_t from, uint8_t width, uint64_t a, uint64_t *r);
uint64_t ft_value_update(ft_update update, uint8_t width, uint64_t v, uint64_t x);

/* ---- sync.c */
uint32_t ft_sync_choices(const ft_interpreter *m, uint32_t t,
                         uint64_t variants[FT_INTERPRETER_THREADS]);
/* The thread waits on a condition variable and has not been notified. */
bool ft_sync_waits(const ft_interpreter *m, uint32_t t);
/* Carries out the visible instruction that the thread stands before. False: an error. Sets
 * *stays: a second half follows, before which the thread stands now. */
bool ft_sync_step(ft_interpreter *m, uint32_t t, uint64_t variant, bool *stays);

/* ---- quick.c */
/* Carries out up to `most` of the thread's instructions, as far as they are plain; returns how
 * many. What it leaves is for ft_run. */
uint64_t ft_run_quick(ft_interpreter *m, uint32_t t, uint64_t most);

/* ---- run.c */
/* The address of a symbol for the thread. */
word ft_run_address_of(const ft_interpreter *m, uint32_t t, uint32_t symbol);
/* Which address a sum or mask of two values is (instruction.h). */
uint32_t ft_run_object_of(ft_code code, word a, word b);
word ft_run_operand(const ft_interpreter *m, uint32_t t, const ft_instruction *in, uint32_t i);
void ft_run_result(ft_interpreter *m, uint32_t t, const ft_instruction *in, uint64_t bits,
                   uint32_t object);
/* Calls the function; its registers are new. */
void ft_run_call(ft_interpreter *m, uint32_t t, const ft_function *f, const word *arguments,
                 uint32_t n, uint64_t once);
/* The objects that each thread has of its own, at the start of its addresses. False: an error. */
bool ft_run_thread_objects(ft_interpreter *m, uint32_t t);
/* Runs up to the next visible instruction, the thread's end or an error. */
void ft_run(ft_interpreter *m, uint32_t t);
/* The function at the address, with these widths; NULL: an error. */
const ft_function *ft_run_function_at(ft_interpreter *m, uint32_t t, word address, uint8_t result,
                                      const uint8_t *widths, uint32_t n);

#endif
