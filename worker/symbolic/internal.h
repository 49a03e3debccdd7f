/* The inside of symbolic states, for the files of this folder alone. */
#ifndef FT_SYMBOLIC_INTERNAL_H
#define FT_SYMBOLIC_INTERNAL_H

#include "base/contract.h"
#include "base/map.h"
#include "base/memory.h"
#include "program/loops.h"
#include "symbolic/faults.h"
#include "symbolic/follow.h"
#include "symbolic/path.h"
#include "symbolic/state.h"

/* term FT_NO_TERM: the number `bits`. Of width 1 the term is a Bool, else a BitVec of the width.
 * object: a number + 1 in the state's objects; 0: none. */
typedef struct value {
    uint64_t bits;
    ft_term term;
    uint32_t object;
} value;

/* In worlds with `handles`, the object of a thread's number that `create` or `self` gave: this bit,
 * and the number + 1. It is no object. */
#define SYM_HANDLE (UINT32_C(1) << 31)
static inline uint32_t sym_handle(value v)
{
    return (v.object & ~SYM_HANDLE) - 1;
}

/* A byte that is not a number: the part-th of the term's, which has whole bytes. */
typedef struct cell {
    ft_term term; /* FT_NO_TERM: the byte is a number */
    uint32_t part;
} cell;

/* Shared by states; what has one reference may be written. */
typedef struct page {
    uint32_t refs, size;
    uint32_t *pointees; /* by 8 bytes: the object of the address there; NULL: none */
    cell *cells;        /* by byte; NULL: all numbers */
    uint64_t print;     /* the fingerprint, where is_printed */
    bool is_printed;
    unsigned char bytes[];
} page;

typedef struct content {
    uint32_t refs, n;
    page *pages[]; /* NULL: zeros */
} content;

enum { PAGE = 256 };

typedef struct object {
    uint64_t base, size;
    ft_term bytes;    /* its size, where inputs decide it: `size` at most; else FT_NO_TERM */
    content *content; /* NULL: freed */
    bool freed, constant, heap;
    uint32_t stack_of;      /* thread + 1, of `stack`; 0: none */
    ft_sym_place maker;     /* the instruction that made it, of the heap or a stack */
    uint64_t read, written; /* bits of the threads that did */
    uint64_t print;         /* the fingerprint, where is_printed */
    bool is_printed;
} object;

enum { SYNC_NEW, SYNC_MUTEX, SYNC_RWLOCK, SYNC_CONDITION, SYNC_SEMAPHORE, SYNC_BARRIER, SYNC_ONCE };

typedef struct sync_object {
    uint64_t address;
    uint8_t kind, mutex_kind;
    bool destroyed;
    uint32_t owner; /* thread + 1 */
    uint64_t count, total, readers, waiters, notified;
    uint64_t arrived;              /* barrier: of the round, who may leave stands in notified */
    uint8_t reads[FT_SYM_THREADS]; /* how often each thread holds it to read */
} sync_object;

typedef struct frame {
    const ft_function *function;
    uint32_t at, registers, objects; /* as the next instruction, its registers, stack objects */
    uint64_t once;                   /* the flag that its return sets; 0: none */
} frame;

/* Of the instruction at hand: what was decided, in the order in which it asks. */
typedef struct decisions {
    uint32_t n, asked;
    uint64_t of[8];
} decisions;

/* The arms that are open, while the thread stands before a branch. */
typedef struct branch {
    uint32_t n; /* 0: it does not */
    ft_term term[FT_SYM_ARMS];
    uint64_t answer[FT_SYM_ARMS]; /* what the instruction gets: the arm's number, or a value */
} branch;

typedef struct read_count {
    uint32_t name, n; /* in the program's texts */
} read_count;

typedef struct sym_thread {
    FT_VEC(frame) frames;
    FT_VEC(value) values;
    FT_VEC(uint32_t) stack; /* objects that returns free */
    FT_VEC(read_count) inputs;
    uint64_t next_base;
    uint32_t *own; /* by object of the program that each thread has: its number + 1 */
    bool exists, begun, failing, ended, detached, joined, returned, stands, circles;
    uint64_t changes; /* ft_sym_changes */
    bool second;
    uint8_t outcome;
    value result;
    uint64_t finishes;
    value exit_code;
    uint32_t steps;
    ft_sym_clock clock;
    ft_sym_error error;
    decisions decided;
    branch *open;   /* NULL: none */
    uint64_t print; /* the fingerprint, where is_printed */
    bool is_printed;
} sym_thread;

/* A condition that a branch added, and the step that did. */
typedef struct constraint {
    ft_term term;
    uint32_t thread, step;
} constraint;

/* An input that is open: the n-th that the thread reads of the name. thread FT_NO_ID: an unknown,
 * `name` in the world's places. */
typedef struct sym_input {
    uint32_t thread, name, n; /* name: a text of the program, or of a cell (FT_LOOP_NAME) */
    uint8_t width;
} sym_input;

struct ft_sym_world {
    const ft_program *program;
    ft_sym_options options;
    ft_term_pool *pool;
    sym_path *path;
    ft_map functions;         /* address -> symbol */
    uint64_t *function_base;  /* by symbol */
    ft_map symbols;           /* hash of thread, name, number, width -> symbol */
    FT_VEC(sym_input) inputs; /* by symbol */
    ft_intern places;         /* names of unknowns (epoch.h) */
    ft_map widths;            /* of accesses by object and place: bits for 1, 2, 4 and 8 bytes */
    uint64_t **lives;         /* by function: registers that are read later (arrive.c) */
    uint64_t concretised;
    uint64_t solved; /* questions, when the caller was last asked whether to stop */
    bool has_inputs;
    FT_VEC(ft_term) scratch;
};

/* A lock that a thread holds. */
typedef struct held {
    uint64_t address, count; /* to write, how often */
    uint32_t reads;
} held;

struct ft_sym_mark {
    uint32_t refs;
    FT_VEC(held) held; /* in the order of the state's objects */
    FT_VEC(frame) frames;
    FT_VEC(value) values;
    FT_VEC(uint32_t) stack;
    FT_VEC(read_count) inputs;
    content **contents; /* of the stack's objects */
    decisions decided;
    uint64_t changes, finishes;
    bool begun, second, returned, section;
};

/* At an unknown place of the object (number + 1). */
typedef struct access {
    uint32_t thread, object;
    ft_term offset;
    uint64_t n;
    bool writes;
} access;

struct ft_sym_state {
    ft_sym_world *world;
    FT_VEC(object) objects;
    FT_VEC(sym_thread) threads;
    FT_VEC(sync_object) syncs;
    FT_VEC(constraint) constraints;
    FT_VEC(uint64_t) inputs; /* at hand, by symbol; 0 behind its end */
    FT_VEC(access) accesses;
    uint32_t *globals;
    uint64_t next_global, bytes, instructions;
    uint32_t section, reads;
    ft_sym_end end;
    bool unknown; /* `inputs` may not satisfy the constraints */
    uint32_t old; /* objects that it began with, in the middle; 0: it began with @main */
    value exit_code;
    ft_sym_error error;
};

static inline sym_thread *sym_thread_of(const ft_sym_state *m, uint32_t t)
{
    assert(t < m->threads.len);
    return &m->threads.data[t];
}

/* The name of an input, or of a cell of a loop. */
static inline const char *sym_input_name(const ft_sym_world *w, uint32_t name)
{
    if (!(name & FT_LOOP_NAME)) return w->program->texts.names[name];
    return w->options.loops->cells.data[name & ~FT_LOOP_NAME].name;
}

/* Passes a note on to the follower, if there is one. */
static inline void sym_note(const ft_sym_state *m, const ft_sym_note *note)
{
    const ft_sym_options *o = &m->world->options;
    if (o->follow) o->follow(o->context, m, note);
}

/* ---- state.c */
const ft_instruction *sym_instruction(const ft_sym_state *m, uint32_t t);
ft_sym_place sym_place(const ft_sym_state *m, uint32_t t);
/* An error of the instruction; LIMIT: the run stops. Returns false. */
bool sym_fail(ft_sym_state *m, uint32_t t, ft_program_error kind, const char *format, ...)
    FT_PRINTF(4, 5);

void sym_fill(ft_sym_state *m, uint32_t number, const ft_object *o); /* first content */
bool sym_make_globals(ft_sym_state *m);
void sym_thread_release(sym_thread *th);

/* ---- value.c */
static inline value sym_number(uint64_t bits)
{
    return (value){.bits = bits};
}
ft_term sym_apply(ft_sym_world *w, ft_op op, const ft_term *kids, uint32_t n, uint32_t high,
                  uint32_t low);
ft_term sym_literal(ft_sym_world *w, uint8_t width, uint64_t bits); /* width 1: a BitVec too */
ft_term sym_not(ft_sym_world *w, ft_term t);
ft_term sym_and(ft_sym_world *w, ft_term a, ft_term b);
/* The term of the value as a BitVec, also of width 1. */
ft_term sym_bits(ft_sym_world *w, value v, uint8_t width);
ft_term sym_extract(ft_sym_world *w, ft_term bits, uint32_t high, uint32_t low);
value sym_of_bits(ft_sym_world *w, ft_term bits, uint8_t width); /* the other way */
ft_term sym_truth(ft_sym_world *w, value v);                     /* of width 1, as a Bool */
ft_term sym_is(ft_sym_world *w, ft_term bits, uint64_t n);       /* (= bits n) */
value sym_binary(ft_sym_world *w, ft_code code, uint8_t width, value a, value b);
value sym_unary(ft_sym_world *w, ft_code code, uint8_t from, uint8_t width, value a);
value sym_choice(ft_sym_world *w, ft_term condition, value a, value b, uint8_t width);
value sym_update(ft_sym_world *w, ft_update update, uint8_t width, value v, value x);
/* The condition under which a binary instruction goes wrong; FT_NO_TERM: never, or `number` says so
 * for numbers. */
ft_term sym_goes_wrong(ft_sym_world *w, ft_code code, uint8_t width, value a, value b, bool *wrong);
/* Of numbers: floats. False: a conversion that does not fit. */
bool sym_float(ft_code code, uint8_t from, uint8_t width, uint64_t a, uint64_t b, uint64_t *r);
/* The term is known to be *rest modulo 2^result. */
unsigned sym_multiple(const ft_term_pool *pool, ft_term t, uint64_t *rest);
int64_t sym_signed(uint64_t bits, uint8_t width);

/* ---- decide.c: false: the thread stands before a branch, or ended; the instruction is done anew
 * when it goes on, and then gets the answer. It has changed nothing before. */
bool sym_decide(ft_sym_state *m, uint32_t t, const ft_term *arms, uint32_t n, uint32_t *arm);
bool sym_decide_truth(ft_sym_state *m, uint32_t t, ft_term condition, bool *holds);
/* Whether the exit code is the one that is no failure. */
bool sym_decide_exit(ft_sym_state *m, uint32_t t, value code, uint8_t width);
/* Forks a term into its values. */
bool sym_decide_value(ft_sym_state *m, uint32_t t, value v, uint8_t width, uint64_t *bits);
/* Does the term hold wherever the constraints among the thread's causes do? */
bool sym_is_implied(ft_sym_state *m, uint32_t t, ft_term term);
uint32_t sym_all_known(const ft_sym_state *m); /* all constraints, in the world's scratch */
void sym_take_model(ft_sym_state *m, const sym_reply *reply);
bool sym_take_arm(ft_sym_state *m, uint32_t t, uint64_t arm); /* false: infeasible */
ft_symbol sym_symbol_of(ft_sym_world *w, sym_input input);
ft_symbol sym_symbol(ft_sym_state *m, uint32_t t, uint32_t name, uint8_t width);

/* ---- memory.c: false: an error, or as in decide.c */
uint32_t sym_object_new(ft_sym_state *m, uint64_t *next_base, uint64_t size, uint64_t align);
void sym_object_drop(object *o); /* its content */
content *sym_content_share(content *c);
void sym_content_drop(content *c); /* accepts NULL */
bool sym_content_is_equal(const content *a, const content *b);
bool sym_fits(ft_sym_state *m, uint32_t t, uint64_t size);
/* Where an access is. offset FT_NO_TERM: at `at`. */
typedef struct where {
    uint32_t object; /* number + 1 */
    uint64_t at;
    ft_term offset;
} where;
bool sym_find(ft_sym_state *m, uint32_t t, value address, uint64_t n, bool writes, where *w);
bool sym_load(ft_sym_state *m, uint32_t t, value address, uint8_t width, value *result);
/* In two steps, so that an instruction may find all before it changes anything. */
bool sym_find_store(ft_sym_state *m, uint32_t t, value address, uint8_t width, value stored,
                    where *w);
void sym_store_at(ft_sym_state *m, uint32_t t, const where *w, uint8_t width, value stored);
value sym_load_at(const ft_sym_state *m, const where *w, uint8_t width);
bool sym_find_output(ft_sym_state *m, uint32_t t, value address, uint64_t n);
bool sym_copy(ft_sym_state *m, uint32_t t, value to, value from, uint64_t n, bool overlap);
bool sym_fill_bytes(ft_sym_state *m, uint32_t t, value to, value byte, uint64_t n);
bool sym_free_object(ft_sym_state *m, uint32_t t, value address);
void sym_write_number(ft_sym_state *m, uint32_t number, uint64_t offset, const void *bytes,
                      uint64_t n);
void sym_set_pointee(ft_sym_state *m, uint32_t number, uint64_t offset, uint32_t pointee);
/* The value at a place of an object (its number), and what is put there, nothing noted. */
value sym_cell(const ft_sym_state *m, uint32_t number, uint64_t at, uint8_t width);
void sym_set_cell(ft_sym_state *m, uint32_t number, uint64_t at, uint8_t width, value v);
uint64_t sym_width_key(const object *o, uint64_t at); /* in the world's widths */

/* ---- sync.c */
uint32_t sym_sync_choices(const ft_sym_state *m, uint32_t t, uint64_t variants[FT_SYM_THREADS]);
bool sym_sync_waits(const ft_sym_state *m, uint32_t t);
bool sym_sync_step(ft_sym_state *m, uint32_t t, uint64_t variant, bool *stays);
sync_object *sym_sync_at(const ft_sym_state *m, uint64_t address); /* NULL: none yet */
/* Forks what the visible instruction needs as numbers. */
bool sym_sync_ready(ft_sym_state *m, uint32_t t, const ft_instruction *in);
/* Operand i as it was decided. */
uint64_t sym_sync_operand(const ft_sym_state *m, uint32_t t, const ft_instruction *in, uint32_t i);

/* The second operands of the operation that the thread stands before, as they were decided. */
void sym_sync_settle(ft_sym_state *m, uint32_t t);

/* ---- arrive.c */
/* The place of the object as epochs name it, without the offset. */
void sym_object_place(const ft_sym_state *m, uint32_t number, ft_strbuf *place);
/* The same of the object at that index of the thread's stack. */
void sym_stack_place(const ft_sym_state *m, uint32_t thread, size_t at, ft_strbuf *place);
void sym_free_lives(ft_sym_world *w);
/* The registers that are read from the frame's instruction on, as bits, which the caller frees.
 * `calls`: the frame stands at a call. */
uint64_t *sym_live_registers(ft_sym_world *w, const frame *f, bool calls);

/* ---- begin.c */
/* The size of the cell around a byte: the smallest width with which it was accessed. */
uint32_t sym_cell_size(const ft_sym_state *m, const object *o, uint64_t byte);

/* ---- run.c */
value sym_operand(const ft_sym_state *m, uint32_t t, const ft_instruction *in, uint32_t i);
void sym_result(ft_sym_state *m, uint32_t t, const ft_instruction *in, value v);
void sym_call(ft_sym_state *m, uint32_t t, const ft_function *f, const value *arguments, uint32_t n,
              uint64_t once);
bool sym_thread_objects(ft_sym_state *m, uint32_t t);
const ft_function *sym_function_at(ft_sym_state *m, uint32_t t, uint64_t address, uint8_t result,
                                   const uint8_t *widths, uint32_t n);
void sym_run(ft_sym_state *m, uint32_t t);
/* Computes the result of an instruction of the innermost call anew, which decides nothing. */
void sym_do_again(ft_sym_state *m, uint32_t t, uint32_t instruction);

#endif
