/* The inside of contexts, for the files of this folder alone.
 *
 * A *node* is a place in the calling context of one thread: its function and the calls that led
 * there. A *symbol* stands for a value that is not known: the newest value of a register of a node,
 * the address of a thread's own object, or what a step reads of memory that nobody has seen. A
 * symbol of an instruction that is executed at most once in an execution is the same in every
 * thread's view; any other belongs to the thread whose context is asked for, so that two executions
 * of one instruction are never taken for one.
 *
 *   terms.c     values, symbols, nodes          shared.c   threads, and what several of them use
 *   facts.c     what holds before a place       ways.c     the calls that lead to a place
 *   rounds.c    barriers                        initial.c  the state at a context, and `never`
 *   memory.c    memory that nobody has seen     run.c, sync.c, locks.c   steps from a context */
#ifndef FT_CONTEXT_INTERNAL_H
#define FT_CONTEXT_INTERNAL_H

#include "base/contract.h"
#include "base/map.h"
#include "base/memory.h"
#include "context/context.h"
#include "context/faults.h"
#include "program/flow/pointers.h"
#include "symbolic/path.h"

#define NO_NODE UINT32_MAX
#define NO_TIME UINT32_MAX
/* Of a label: it is not known by which calls the function is executed, so perhaps not as the
 * thread's own, and perhaps more than once. */
#define CTX_OPEN 512

typedef struct ctx_place {
    uint32_t parent; /* NO_NODE: a thread's function */
    uint32_t label;  /* of roots: whose view */
    uint32_t function, call;
    uint32_t canonical; /* the node that all views share; NO_NODE: it may be executed again */
    uint32_t root;      /* the node of the thread's function */
} ctx_place;

enum { SYMBOL_REGISTER, SYMBOL_OWN_OBJECT, SYMBOL_ROUNDS, SYMBOL_FRESH };

typedef struct ctx_unknown {
    uint32_t node, kind, index;
    uint8_t width;
} ctx_unknown;

/* A stretch of ctx->listed: the symbols of a term. */
typedef struct listing {
    uint32_t first, n, size;
} listing;

/* A visible step of a path: the thread, of those of the context and then of the created ones, and
 * its instruction. */
typedef struct ctx_step {
    uint32_t thread;
    ft_context_point at;
} ctx_step;

/* How often threads of a function may be created, and whether the function is that of one thread
 * alone. */
typedef struct ctx_thread_function {
    uint32_t function;
    uint32_t most;       /* NO_TIME: no bound */
                         /* scratch */
    uint64_t *functions; /* that its threads may execute */
} ctx_thread_function;

struct ft_context {
    const ft_program *program;
    ft_flow *flow;
    ft_term_pool *pool;
    sym_path *path;
    ft_context_options options;
    FT_VEC(ctx_place) nodes;
    ft_map nodes_by_key;
    FT_VEC(ctx_unknown) symbols;
    ft_map symbols_by_key;
    ft_map listings; /* term -> index in listed_of */
    FT_VEC(listing) listed_of;
    FT_VEC(ft_symbol) listed;
    uint64_t *base;      /* by symbol of the program: its address; 0: none */
    uint32_t **block_of; /* by function and register: the block that assigns it */
    uint32_t **place_of; /* by function and instruction: its block */
    uint64_t **makers;   /* by function: registers that a `stack` or `alloc` assigns */
    FT_VEC(ctx_thread_function) roots; /* the first is @main */
    uint64_t **after;                  /* by function: instructions that may follow a create */
    uint64_t *reachable;               /* functions */
    uint64_t *escaped;                 /* abstract objects that several threads may reach */
    uint64_t *kept;                    /* written only where no create has happened */
    uint64_t *written;                 /* by any reachable function */
    uint32_t *owner; /* by abstract object: 1 + the only root that uses it; 0: none */
    uint32_t fresh;
    uint64_t work; /* instructions of facts so far */
    bool recursive_mutexes, checking_mutexes;
    uint64_t *left_locked; /* abstract objects with locks that an ended thread may hold */
    bool left_known;
    /* For tests: explore only the paths that begin with these steps. NULL: all paths. */
    const ctx_step *guide;
    uint32_t n_guide;
    bool followed; /* there is such a path */
};
typedef struct ft_context ctx;

/* ---- terms.c */
bool ctx_uses(const ctx *c, ft_context_pass pass);
ft_term ctx_apply(ctx *c, ft_op op, const ft_term *kids, uint32_t n);
ft_term ctx_two(ctx *c, ft_op op, ft_term a, ft_term b);
ft_term ctx_not(ctx *c, ft_term a);
ft_term ctx_literal(ctx *c, uint8_t width, uint64_t bits); /* width 1: a Bool */
ft_term ctx_choice(ctx *c, ft_term condition, ft_term a, ft_term b);
ft_term ctx_equal(ctx *c, ft_term a, ft_term b);
bool ctx_is_literal(const ctx *c, ft_term t, uint64_t *bits);
/* Of a binary instruction, a width change or a select; FT_NO_TERM: it has no term. */
ft_term ctx_compute(ctx *c, const ft_instruction *in, const ft_term *operands,
                    const uint8_t *widths);
/* The address as a term and a number that is added to it. */
void ctx_split(const ctx *c, ft_term t, ft_term *base, uint64_t *offset);
uint32_t ctx_node(ctx *c, uint32_t parent, uint32_t function, uint32_t call);
uint32_t ctx_root_node(ctx *c, uint32_t label, uint32_t function);
ft_term ctx_symbol(ctx *c, uint32_t node, uint32_t kind, uint32_t index, uint8_t width);
ft_term ctx_register(ctx *c, uint32_t node, uint32_t index);
ft_term ctx_fresh(ctx *c, uint8_t width);
/* The symbol, if a term was made of it. */
bool ctx_register_symbol(ctx *c, uint32_t node, uint32_t index, ft_symbol *symbol);
bool ctx_mentions(ctx *c, ft_term t, ft_symbol symbol);
bool ctx_mentions_below(ctx *c, ft_term t, uint32_t node, uint32_t call);
uint32_t ctx_size(ctx *c, ft_term t);

/* ---- shared.c */
void ctx_find_sharing(ctx *c);
void ctx_release_sharing(ctx *c);
/* May the contents of these objects change under the thread of the root without its doing? */
bool ctx_is_shared(const ctx *c, const uint64_t *objects, uint32_t root_function);
/* Are they as they were when the thread of the root was created, but for its own doing? */
bool ctx_is_handed(const ctx *c, const uint64_t *objects, uint32_t root_function);
bool ctx_steps_by(const ft_function *f, const ft_operand *o, uint32_t parameter, uint64_t *step);
uint32_t ctx_times(const ctx *c, uint32_t function, uint32_t instruction); /* NO_TIME: unknown */
bool ctx_in_circle(const ctx *c, uint32_t function, uint32_t block);
const ctx_thread_function *ctx_root_of(const ctx *c,
                                       uint32_t function); /* NULL: no thread begins there */
uint32_t ctx_trips(const ctx *c, uint32_t function, uint32_t head);
/* A shared object's first content; and where nothing writes to it, its content for ever. */
bool ctx_initial_at(const ctx *c, uint32_t symbol, uint64_t at, uint8_t width, uint64_t *bits);
bool ctx_constant_at(const ctx *c, uint32_t symbol, uint64_t at, uint8_t width, uint64_t *bits);

/* ---- facts.c */
typedef struct fact {
    ft_term at, value;
    uint8_t width;
    const uint64_t *objects;
} fact;

/* ONCE_RUNS: the thread is in the function that the flag's once calls; ONCE_DONE: it is behind such
 * a once. */
enum { HELD_ALONE, HELD_TO_READ, ONCE_RUNS, ONCE_DONE };

typedef struct held {
    ft_term at;
    uint8_t mode;
    bool again;    /* of may-held ones: perhaps more than once */
    uint8_t times; /* of must-held ones: at least so often */
    ft_term when;  /* of must-held ones: if this is true; FT_NO_TERM: in any case */
    const uint64_t *objects;
} held;

/* What holds at a place: registers of all frames, one behind the other (FT_NO_TERM: its symbol),
 * memory, locks, conditions that hold, threads that have ended. */
typedef struct env {
    bool reached;
    uint32_t frame; /* where the newest frame's registers begin */
    FT_VEC(ft_term) registers;
    FT_VEC(fact) heap;
    FT_VEC(held) must, may;
    uint64_t *may_objects; /* a lock in one of them may be held, whose address is not known */
    bool may_any;          /* any lock may be held */
    FT_VEC(ft_term) conditions;
    FT_VEC(ft_term) joined; /* numbers of threads that have ended */
} env;

void env_init(ctx *c, env *e);
void env_copy(ctx *c, env *to, const env *from);
void env_release(env *e);
/* Facts at the entry of @main. */
void env_start(ctx *c, env *e);
/* Nothing is known but that the thread holds no lock; `open`: not even that. */
void env_unknown(ctx *c, env *e, bool open);
/* A new frame behind the others; arguments NULL: unknown. */
void env_enter(ctx *c, env *e, uint32_t node, const ft_term *arguments, uint32_t n);
ft_term env_operand(ctx *c, const env *e, uint32_t node, const ft_operand *o);
/* Facts about the register's value of before are no longer true: its instruction is executed. */
void env_forget(ctx *c, env *e, uint32_t node, uint32_t index);
/* From the entry of the node's function to before the instruction; not reached: no path leads
 * there. */
void env_to(ctx *c, env *e, uint32_t node, uint32_t instruction);
/* The thread lets others go on: what they may change is forgotten. */
void env_let_go(ctx *c, env *e, uint32_t node);
/* Of what the thread must hold only those of the two modes are left. */
void env_drop_locks(env *e, uint8_t but, uint8_t and);
/* The thread is in the function that the once calls, or behind it. */
void env_once(ctx *c, env *e, uint32_t node, const ft_instruction *in, uint8_t mode);
void env_unlock(ctx *c, env *e, ft_term at, const uint64_t *objects);
/* Can the two addresses of n and m bytes be proved apart? */
bool ctx_are_apart(const ctx *c, ft_term a, const uint64_t *a_objects, uint64_t n, ft_term b,
                   const uint64_t *b_objects, uint64_t m);

/* ---- ways.c */
enum { MOST_FRAMES_OF_WAY = 24, MOST_WAYS = 48 };

/* A function, and in it the call to the next frame, or the place. */
typedef struct frame_of_way {
    uint32_t function, instruction;
} frame_of_way;

typedef struct call_string {
    frame_of_way frames[MOST_FRAMES_OF_WAY];
    uint32_t n;
    bool open; /* recursion: the calls above the first frame are not known */
} call_string;
typedef FT_VEC(call_string) call_strings;

/* The calls that lead from a thread's function to a place. False: there are more than MOST_WAYS. */
bool ctx_call_strings(const ctx *c, ft_context_point place, call_strings *all);

/* One way in which a thread can be at a place: its creator's calls to the create, then its own. */
typedef struct way {
    call_string own, creator; /* creator.n 0: @main's thread, or one of which no more is known */
} way;
typedef FT_VEC(way) ways;
/* Likewise; call: that leads to the place, or its function is FT_NO_CALL. */
bool ctx_ways(const ctx *c, ft_context_point place, ft_context_point call, ways *all);

/* ---- initial.c */
typedef struct thread_state {
    const way *way;
    uint32_t nodes[MOST_FRAMES_OF_WAY];
    uint32_t registers[MOST_FRAMES_OF_WAY]; /* where each frame's begin in env.registers */
    uint8_t reading;
    env env;
    ft_term number; /* the thread's; FT_NO_TERM: not known */
    bool elsewhere; /* the way's create creates a thread of another function */
} thread_state;

typedef struct claim {
    ft_term term;
    uint8_t pass;
    char text[200];
} claim;

typedef struct initial {
    uint32_t n;
    thread_state threads[FT_CONTEXT_THREADS];
    FT_VEC(claim) claims;
    bool refuted;
    bool absent;     /* there is no such way */
    uint32_t passes; /* of the proof */
    char reason[600];
} initial;

/* Can the threads be there in these ways? Afterwards: initial_release. */
void ctx_begin(ctx *c, const way *const *all, const ft_context_thread *threads, uint32_t n,
               initial *s);
void initial_release(initial *s);
/* The facts before the way's place. False: no path leads there. */
bool ctx_reach(ctx *c, uint32_t label, const way *w, thread_state *t);
ft_term ctx_operand_at(ctx *c, const thread_state *t, uint32_t operand); /* of the place */
const uint64_t *ctx_objects_at(const ctx *c, const thread_state *t, uint32_t operand);
const ft_instruction *ctx_instruction_at(const ctx *c, const thread_state *t);
/* May an ended thread have left a lock in these objects locked? */
bool ctx_is_left_locked(ctx *c, const uint64_t *objects);
/* Can the condition hold with the others? True also where it is not known. */
bool ctx_can_hold(ctx *c, const ft_term *others, uint32_t n, ft_term condition);

/* ---- rounds.c */
/* How many threads the barriers in the abstract object expect; false: not known. */
bool ctx_expected(ctx *c, uint32_t barrier, uint64_t *expected);
/* Do threads that use it pass it equally often: is it one barrier, which at most as many threads
 * use as it expects? */
bool ctx_is_matched(ctx *c, uint32_t barrier);
/* The rounds of the barrier that the thread has completed, 64 bits, and what ties them to its
 * registers; false: not known. */
bool ctx_rounds(ctx *c, uint32_t barrier, const thread_state *t, ft_term *rounds, ft_term *meaning);

/* ---- steps from a context: run.c, memory.c, sync.c, locks.c */
enum { RUNS, BLOCKED, WAITS, WAITS_AT_BARRIER, ENDED };
enum { MOST_DECIDED = 40, MOST_ARMS = 40, MOST_RUNNING = 32, FREE = 0 };
#define STRANGER UINT32_MAX
#define DONE     (UINT32_MAX - 1)

/* Newest first; shared by states. */
typedef struct cell {
    const struct cell *before;
    ft_term at, value, more; /* of a barrier: arrived, expected */
    const uint64_t *objects;
    uint32_t holder;      /* of a lock: thread + 1, FREE or STRANGER; of a once: also DONE */
    const uint8_t *reads; /* of a read-write lock, by thread: how often it holds it to read; the
                             last: whether strangers may. NULL: none does */
    uint8_t count;        /* of a mutex: how often its holder holds it */
    uint8_t width;        /* of memory; 0: all of `objects` may have changed */
} cell;

typedef struct running_frame {
    uint32_t node, function, at, registers;
} running_frame;

typedef struct running {
    FT_VEC(running_frame) frames;
    FT_VEC(ft_term) values;
    uint8_t status;
    bool woken;    /* of a wait: notified or late, and not through */
    bool timed;    /* of WAITS: it may go on by itself */
    bool late;     /* it did */
    bool open;     /* nothing is known of the calls above the first frame */
    bool visible;  /* stands before a visible instruction */
    uint32_t root; /* node */
    ft_term queue; /* of WAITS and WAITS_AT_BARRIER */
    const uint64_t *queue_objects;
    ft_term since; /* the order of waits; of those before the context a symbol below 0 */
} running;

typedef struct xstate {
    running threads[MOST_RUNNING];
    uint32_t n, current, decided, asked, branches, returns, waits, followed;
    uint8_t decisions[MOST_DECIDED];
    const cell *memory, *seen, *locks, *rw_locks, *barriers, *semaphores, *onces;
    FT_VEC(ft_term) constraints;
    uint64_t instructions, trace; /* hash of the steps, by thread and place */
    bool ended, dropped, failed;
} xstate;

typedef struct exploration {
    ctx *c;
    const initial *from;
    ft_context_paths *paths;
    ft_arena *arena;
    bool scheduler, full;
    ft_map traces; /* of the paths so far: forks that no step shows make one path */
} exploration;

/* Which arm the path takes; false: it was forked, and each arm has been explored. */
bool x_decide(exploration *x, xstate *s, const ft_term *arms, uint32_t n, uint32_t *arm);
void x_fail(exploration *x, xstate *s, const char *why);
void x_push(exploration *x, const cell **list, cell made);
ft_term x_operand(exploration *x, xstate *s, uint32_t t, const ft_instruction *in, uint32_t i);
const uint64_t *x_objects(exploration *x, xstate *s, uint32_t t, const ft_instruction *in,
                          uint32_t i);
void x_result(xstate *s, uint32_t t, const ft_instruction *in, ft_term v);
void x_enter(exploration *x, xstate *s, uint32_t t, uint32_t function, const ft_term *arguments,
             uint32_t n);
ft_term x_load(exploration *x, xstate *s, ft_term at, uint8_t width, const uint64_t *objects);
void x_store(exploration *x, xstate *s, ft_term at, uint8_t width, ft_term v,
             const uint64_t *objects);
/* Is the access inside of its object? Asked where it is known which that is. */
bool x_inside(exploration *x, xstate *s, ft_term at, uint64_t bytes, const uint64_t *objects);
/* The function that the call, create or once reaches; operand: its address. */
bool x_target(exploration *x, xstate *s, uint32_t t, const ft_instruction *in, uint32_t operand,
              uint32_t *function);
/* Finds the newest cell of the address in a list: *which is it, NULL if none is. */
bool x_find(exploration *x, xstate *s, const cell *list, ft_term at, const uint64_t *objects,
            const cell **which);
/* A mutex that the thread does not hold; false: it waits, or the path was forked. */
bool x_take(exploration *x, xstate *s, uint32_t t, ft_term at, const uint64_t *objects);
void x_give_back(exploration *x, xstate *s, ft_term at, const uint64_t *objects);
bool x_block(xstate *s, uint32_t t); /* false */
void x_wake(xstate *s);              /* threads that are blocked try again */
void x_hold_to_read(exploration *x, cell *lock, uint32_t t);
void x_once_done(exploration *x, xstate *s, ft_term at, const uint64_t *objects);
bool x_mutex(exploration *x, xstate *s, uint32_t t, const ft_instruction *in);
bool x_rw_lock(exploration *x, xstate *s, uint32_t t, const ft_instruction *in);
bool x_once(exploration *x, xstate *s, uint32_t t, const ft_instruction *in);
/* False: the path was forked, the thread waits, or the path has ended. */
bool x_synchronise(exploration *x, xstate *s, uint32_t t, const ft_instruction *in);

void ctx_explore(ctx *c, const initial *s, bool scheduler, ft_context_paths *paths);

#endif
