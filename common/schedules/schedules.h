/* Schedule sets (input-covering schedules: Bergan, chapter 3): what a program is constrained to.
 *
 * A set consists of *epochs*, stretches of an execution that begin at given places of the threads.
 * The first begins at the program's entry. A later one says where each thread stands, and what is
 * known of the program's state (3.2.2): which memory there is, who holds which lock, which cells
 * and registers have which content. Other content that matters is an *unknown*, a symbol.
 *
 * An epoch has schedules and a *selector*, a decision tree whose leaves are schedules, over the
 * program's inputs and, in a later epoch, its unknowns. Whoever runs the program under the set
 * evaluates the selector when the epoch begins and enforces the schedule. A leaf without a
 * schedule: no schedule covers these inputs.
 *
 * A schedule is a happens-before graph over synchronisation operations alone. Its nodes stand in
 * the order of one execution, so an edge leads from a smaller number to a larger one. The edges
 * between nodes of different threads are listed; a thread's nodes follow each other. All operations
 * on one object are ordered, but for arrivals of one round of a barrier. A node says which
 * operation it is, on which object, where it stands in the program, and which waiter a signal
 * wakes.
 *
 * Enforcing it: each operation of a thread must match the thread's next node (kind, object, place),
 * and waits for the nodes before it. A thread whose nodes are used up stops before its next
 * operation, its end included: it has come to the epoch's end. The end of the process (kind `exit`)
 * is possible at any moment where `prefix` is set, also where the thread's next node is another
 * one.
 *
 * When all threads have come to the epoch's end, the schedule's next epoch begins. `next` binds its
 * threads to those of the schedule, so that one epoch serves whichever thread stands where
 * (symbolic thread ids, 3.4.1). Threads that are not bound have ended and are nobody's any more.
 *
 * Names, none of which is an address:
 *   thread   "0" the first one; "0.2" the second thread that it created, from 1; "0.2.1" ...
 *            In a later epoch: "2" the one that `stands 2`; "2.1" the first that it creates in the
 *            epoch ...
 *   object   @name+8        a place in a global
 *            0.1@name+8     in that thread's own one
 *            heap:0.1#2+8   in the 2nd object of the heap that thread 0.1 made in the epoch, of
 *                           those that have nodes in this schedule; stack: likewise
 *            heap:#2+8      in an object that is older than the epoch
 *   place    of the state at an epoch's begin: an object's name, where heap:#2 is the object of
 *            that name among the epoch's, and stack:1/0%a+8 what the `stack` instruction with the
 *            result %a has made in frame 0 (the outermost) of thread 1, the newest; #2: the one
 *            before it; or
 *            1/0%i          the register %i of that frame; or
 *            1/result       what thread 1 has returned, which has ended and may still be joined
 * Objects with different names are different objects. A runtime that does not see how objects of
 * the heap and the stack are made binds a name to the address of its first operation.
 *
 * Imports: base, program, program/flow, program/interpret, term. */
#ifndef FT_SCHEDULES_SCHEDULES_H
#define FT_SCHEDULES_SCHEDULES_H

#include "base/map.h"
#include "base/memory.h"
#include "program/program.h"
#include "term/term.h"

enum { FT_SCHEDULE_THREADS = 64 };
#define FT_NO_SCHEDULE UINT32_MAX

/* Operations. The instruction of programs as data (program/instruction.h) and which of its steps:
 * a wait has two, its beginning (which releases the mutex) and `wake`; likewise barriers and once.
 * object: the node has one. peer: it has one: the thread that is created, joined or detached; the
 * waiter that a signal wakes, none where nobody waits.
 *
 * symbol, name, instruction, second step, object, peer, meaning */
/* clang-format off */
#define FT_NODE_TABLE(X)                                                                           \
    X(BEGIN, "begin", FT_CODES, false, false, false, "the thread's beginning")                     \
    X(END, "end", FT_CODES, true, false, false, "the thread's end")                                \
    X(EXIT, "exit", FT_CODE_EXIT, false, false, false, "the end of the process")                   \
    X(CREATE, "create", FT_CODE_CREATE, false, false, true, "makes the peer")                      \
    X(JOIN, "join", FT_CODE_JOIN, false, false, true, "waits for the peer's end")                  \
    X(DETACH, "detach", FT_CODE_DETACH, false, false, true, "the peer is never joined")            \
    X(MUTEX_INIT, "mutex_init", FT_CODE_MUTEX_INIT, false, true, false, "")                        \
    X(MUTEX_DESTROY, "mutex_destroy", FT_CODE_MUTEX_DESTROY, false, true, false, "")               \
    X(LOCK, "lock", FT_CODE_LOCK, false, true, false, "takes a mutex")                             \
    X(TRY_LOCK, "try_lock", FT_CODE_TRY_LOCK, false, true, false, "takes it if it is free")        \
    X(TIMED_LOCK, "timed_lock", FT_CODE_TIMED_LOCK, false, true, false, "may time out")            \
    X(UNLOCK, "unlock", FT_CODE_UNLOCK, false, true, false, "releases a mutex")                    \
    X(RW_INIT, "rw_init", FT_CODE_RW_INIT, false, true, false, "")                                 \
    X(RW_DESTROY, "rw_destroy", FT_CODE_RW_DESTROY, false, true, false, "")                        \
    X(READ_LOCK, "read_lock", FT_CODE_READ_LOCK, false, true, false, "")                           \
    X(WRITE_LOCK, "write_lock", FT_CODE_WRITE_LOCK, false, true, false, "")                        \
    X(TRY_READ_LOCK, "try_read_lock", FT_CODE_TRY_READ_LOCK, false, true, false, "")               \
    X(TRY_WRITE_LOCK, "try_write_lock", FT_CODE_TRY_WRITE_LOCK, false, true, false, "")            \
    X(RW_UNLOCK, "rw_unlock", FT_CODE_RW_UNLOCK, false, true, false, "")                           \
    X(COND_INIT, "cond_init", FT_CODE_COND_INIT, false, true, false, "")                           \
    X(COND_DESTROY, "cond_destroy", FT_CODE_COND_DESTROY, false, true, false, "")                  \
    X(WAIT, "wait", FT_CODE_WAIT, false, true, false, "begins to wait, and releases the mutex")    \
    X(WAKE, "wake", FT_CODE_WAIT, true, true, false, "returns from the wait, with the mutex")      \
    X(TIMED_WAIT, "timed_wait", FT_CODE_TIMED_WAIT, false, true, false, "as wait")                 \
    X(TIMED_WAKE, "timed_wake", FT_CODE_TIMED_WAIT, true, true, false, "as wake; may time out")    \
    X(SIGNAL, "signal", FT_CODE_SIGNAL, false, true, true, "wakes the peer, or nobody")            \
    X(BROADCAST, "broadcast", FT_CODE_BROADCAST, false, true, false, "wakes all waiters")          \
    X(SEM_INIT, "sem_init", FT_CODE_SEM_INIT, false, true, false, "")                              \
    X(SEM_DESTROY, "sem_destroy", FT_CODE_SEM_DESTROY, false, true, false, "")                     \
    X(SEM_WAIT, "sem_wait", FT_CODE_SEM_WAIT, false, true, false, "")                              \
    X(SEM_TRY, "sem_try", FT_CODE_SEM_TRY, false, true, false, "")                                 \
    X(SEM_TIMED, "sem_timed", FT_CODE_SEM_TIMED, false, true, false, "may time out")               \
    X(SEM_POST, "sem_post", FT_CODE_SEM_POST, false, true, false, "")                              \
    X(SEM_COUNT, "sem_count", FT_CODE_SEM_COUNT, false, true, false, "")                           \
    X(BARRIER_INIT, "barrier_init", FT_CODE_BARRIER_INIT, false, true, false, "")                  \
    X(BARRIER_DESTROY, "barrier_destroy", FT_CODE_BARRIER_DESTROY, false, true, false, "")         \
    X(ARRIVE, "arrive", FT_CODE_BARRIER_WAIT, false, true, false, "arrives at a barrier")          \
    X(LEAVE, "leave", FT_CODE_BARRIER_WAIT, true, true, false, "goes on behind it")                \
    X(ONCE, "once", FT_CODE_ONCE, false, true, false, "begins the call, or finds it done")         \
    X(ONCE_DONE, "once_done", FT_CODE_ONCE, true, true, false, "the call is done")                 \
    X(ATOMIC_LOAD, "atomic_load", FT_CODE_ATOMIC_LOAD, false, true, false, "")                     \
    X(ATOMIC_STORE, "atomic_store", FT_CODE_ATOMIC_STORE, false, true, false, "")                  \
    X(ATOMIC_UPDATE, "atomic_update", FT_CODE_ATOMIC_UPDATE, false, true, false, "")               \
    X(ATOMIC_SWAP, "atomic_swap", FT_CODE_ATOMIC_SWAP, false, true, false, "")
/* clang-format on */
typedef enum ft_node_kind {
#define FT_ROW(symbol, name, code, second, object, peer, meaning) FT_NODE_##symbol,
    FT_NODE_TABLE(FT_ROW)
#undef FT_ROW
        FT_NODE_KINDS
} ft_node_kind;

typedef struct ft_node_row {
    const char *name, *meaning;
    ft_code code; /* FT_CODES: none */
    bool second, object, peer;
} ft_node_row;

const ft_node_row *ft_node_row_of(ft_node_kind kind);
/* The kind of an instruction's step; false: it is not an operation that schedules order (a fence, a
 * yield). */
bool ft_node_kind_of(ft_code code, bool second, ft_node_kind *kind);

/* How a schedule ends. `discarded`: an assumption fails, the execution does not count. */
#define FT_SCHEDULE_END_TABLE(X)                                                                   \
    X(ENDED, "ended", "all threads have ended, or wait for the process's end")                     \
    X(EXITED, "exited", "the process has ended")                                                   \
    X(FAILED, "failed", "the process has ended with an error")                                     \
    X(BLOCKED, "blocked", "threads wait, and none can go on")                                      \
    X(EPOCH, "epoch", "another epoch begins")                                                      \
    X(DISCARDED, "discarded", "an assumption does not hold")
typedef enum ft_schedule_end {
#define FT_ROW(symbol, name, meaning) FT_SCHEDULE_##symbol,
    FT_SCHEDULE_END_TABLE(FT_ROW)
#undef FT_ROW
        FT_SCHEDULE_ENDS
} ft_schedule_end;

/* Texts are numbers in the set's `texts`; FT_NO_ID: none. */
typedef struct ft_node {
    uint8_t kind;         /* ft_node_kind */
    bool timed_out;       /* of timed_...: it ended by itself */
    uint32_t thread;      /* in the schedule's threads */
    uint32_t object;      /* in the schedule's objects, or FT_NO_ID */
    uint32_t other;       /* of wait and wake: the mutex; else FT_NO_ID */
    uint32_t peer;        /* in the schedule's threads, or FT_NO_ID */
    uint32_t function;    /* text: the name of the function where it stands; begin and end: none */
    uint32_t instruction; /* the instruction's number there */
    uint32_t file;        /* text: the source file, of a model's operation that of its call */
    uint32_t line, column;
    uint32_t edges, n_edges; /* in the schedule's edges: nodes of other threads that come before */
} ft_node;

typedef struct ft_schedule {
    uint32_t name;            /* text */
    uint8_t end;              /* ft_schedule_end */
    uint32_t next;            /* EPOCH: the text with the next epoch's name; else FT_NO_ID */
    FT_VEC(uint32_t) bound;   /* EPOCH: by thread of the next epoch: which of `threads` it is */
    FT_VEC(uint32_t) threads; /* texts: their names, the creator before the created */
    FT_VEC(uint32_t) objects; /* texts: their names */
    FT_VEC(ft_node) nodes;
    FT_VEC(uint32_t) edges;
} ft_schedule;

/* A place in the program as data and, where it is known, in the source. Texts or numbers. */
typedef struct ft_schedule_place {
    uint32_t function, instruction;
    uint32_t file; /* FT_NO_ID: not known */
    uint32_t line, column;
} ft_schedule_place;

/* A node of the selector. */
typedef struct ft_choice {
    ft_term term;      /* FT_NO_TERM: a leaf */
    uint32_t yes, no;  /* in the epoch's choices, larger than its own number */
    uint32_t schedule; /* leaf: in the epoch's schedules, or FT_NO_SCHEDULE */
} ft_choice;

/* ---- the state in which a later epoch begins ----
 * What is not listed: memory has its first content, heap and stack objects are zero, registers have
 * content that is never read again, threads that have ended have returned 0, synchronisation
 * objects are as if not used yet. */

/* Where a thread stands: before an operation, which may be the second step of one (inside a wait
 * or a barrier), and the calls that led there. */
enum { FT_STANDING_ENDED = FT_NODE_KINDS };
typedef struct ft_standing {
    uint8_t kind; /* ft_node_kind of the operation, or FT_STANDING_ENDED: it can still be joined */
    bool detached;
    bool last;                       /* inside of a barrier: it arrived as the last one */
    FT_VEC(ft_schedule_place) calls; /* the innermost first; ended: none */
} ft_standing;

/* An object of the heap or the stack. */
typedef struct ft_epoch_object {
    uint32_t name; /* text: a place without offset: heap:#1, stack:1/0%a */
    uint64_t size;
    bool freed;
} ft_epoch_object;

/* Content that is known: a number, or the address of an object or function. */
typedef struct ft_epoch_cell {
    uint32_t place;   /* text */
    uint8_t width;    /* bits: 1 to 64; of memory a multiple of 8 */
    uint32_t address; /* text: @g+8, heap:#1+0 ..., thread:1; FT_NO_ID: a number */
    uint64_t bits;    /* of a number */
} ft_epoch_cell;

/* The variable of the source that a register has the value of, or that a stack object is: where a
 * native program has it is known to its debug information. */
typedef struct ft_epoch_local {
    uint32_t place;            /* text: of a register, or of a stack object's begin */
    uint32_t name, file, line; /* texts and a number: of its declaration */
} ft_epoch_local;

/* symbol, name */
#define FT_EPOCH_SYNC_TABLE(X)                                                                     \
    X(MUTEX, "mutex")                                                                              \
    X(RWLOCK, "rwlock")                                                                            \
    X(CONDITION, "condition")                                                                      \
    X(SEMAPHORE, "semaphore")                                                                      \
    X(BARRIER, "barrier")                                                                          \
    X(ONCE, "once")
typedef enum ft_epoch_sync_kind {
#define FT_ROW(symbol, name) FT_EPOCH_SYNC_##symbol,
    FT_EPOCH_SYNC_TABLE(FT_ROW)
#undef FT_ROW
        FT_EPOCH_SYNC_KINDS
} ft_epoch_sync_kind;

/* A synchronisation object. Threads are bits by their number in the epoch. */
typedef struct ft_epoch_sync {
    uint32_t place; /* text: of an object */
    uint8_t kind;   /* ft_epoch_sync_kind */
    uint8_t mutex;  /* ft_mutex_kind */
    bool destroyed;
    uint32_t owner;                     /* of a mutex, the writer, the caller of a once; FT_NO_ID */
    uint64_t count;                     /* how often it is held; a semaphore's; once: 1 done */
    uint64_t total;                     /* threads of a barrier */
    uint64_t waiters, notified;         /* of a condition; of a barrier who may leave is notified */
    uint64_t arrived;                   /* of a barrier: in the round at hand */
    uint8_t reads[FT_SCHEDULE_THREADS]; /* how often each thread holds it to read */
} ft_epoch_sync;

typedef struct ft_epoch {
    uint32_t name;
    FT_VEC(ft_standing) stands; /* by thread; none: the program's entry */
    FT_VEC(ft_epoch_object) objects;
    FT_VEC(ft_epoch_cell) cells;
    FT_VEC(ft_epoch_sync) syncs;
    FT_VEC(ft_epoch_local) locals; /* of some places */
    ft_term init;                  /* and what is known of its symbols; FT_NO_TERM: nothing */
    FT_VEC(ft_choice) choices;     /* the first is the root */
    FT_VEC(ft_schedule) schedules;
} ft_epoch;

/* A symbol of the terms of one epoch; its number in the set is that in terms. A width of 1 is a
 * Bool. It is an input, the n-th value (from 1) of the name that the thread reads from the epoch's
 * begin; or, where n is 0, an unknown: the content of a place when the epoch begins. */
typedef struct ft_schedule_input {
    uint32_t label;  /* text: its name in terms, different for each of the set */
    uint32_t name;   /* text; of an unknown its place */
    uint32_t thread; /* text; of an unknown FT_NO_ID */
    uint32_t n;
    uint8_t width;
    bool dynamic;   /* an input: known when its thread has read it (dynamic.h) */
    bool loop;      /* the cell of a loop, by its name (program/loops.h); dynamic */
    uint32_t epoch; /* its number; 0: the entry */
} ft_schedule_input;

typedef struct ft_schedule_set {
    ft_intern texts;
    ft_term_pool *pool;
    uint32_t program; /* text: the hash of the program (program/binary.h), or FT_NO_ID */
    bool prefix;      /* the process may end before a schedule is carried out */
    FT_VEC(ft_schedule_place)
    markers; /* where threads may end an epoch: before the operation that
                comes next behind such an instruction */
    FT_VEC(ft_schedule_input) inputs;
    FT_VEC(ft_epoch) epochs; /* the first is the program's entry */
    ft_map labels;   /* of set.c: a label's text -> the last number that was put behind it */
    size_t labelled; /* so many inputs have their labels there */
} ft_schedule_set;

ft_schedule_set *ft_schedule_set_new(void);
void ft_schedule_set_free(ft_schedule_set *set); /* accepts NULL */
uint32_t ft_schedule_text(ft_schedule_set *set, const char *text);
const char *ft_schedule_text_of(const ft_schedule_set *set, uint32_t text); /* "" of FT_NO_ID */
/* Adds an input of the entry; its label is made from its name, and from thread and n where it needs
 * them. */
ft_symbol ft_schedule_add_input(ft_schedule_set *set, const char *name, const char *thread,
                                uint32_t n, uint8_t width);
/* An input (n from 1), or an unknown (n 0: `name` is its place) of any epoch. */
ft_symbol ft_schedule_add_symbol(ft_schedule_set *set, uint32_t epoch, const char *name,
                                 const char *thread, uint32_t n, uint8_t width);
void ft_schedule_release(ft_schedule *schedule);
void ft_epoch_release(ft_epoch *epoch);
/* FT_NO_ID: there is none. */
uint32_t ft_schedule_epoch_named(const ft_schedule_set *set, uint32_t name);

/* A place of the state, read from its text; name points into it. */
typedef enum ft_state_place_kind {
    FT_STATE_GLOBAL,
    FT_STATE_OWN, /* of a thread */
    FT_STATE_HEAP,
    FT_STATE_STACK,
    FT_STATE_REGISTER,
    FT_STATE_RESULT /* of a thread that has ended */
} ft_state_place_kind;
typedef struct ft_state_place {
    ft_state_place_kind kind;
    uint32_t thread, frame; /* OWN, RESULT: thread; STACK, REGISTER: both */
    const char *name;       /* GLOBAL, OWN: the object; STACK, REGISTER: the register */
    size_t length;          /* of the name */
    uint32_t number;        /* HEAP: which; STACK: from 1, the newest */
    uint64_t offset;        /* but of REGISTER and RESULT */
} ft_state_place;
bool ft_state_place_read(const char *text, ft_state_place *place); /* false: it is none */
/* Is it in memory, so that it has an address? */
static inline bool ft_state_place_is_memory(const ft_state_place *place)
{
    return place->kind != FT_STATE_REGISTER && place->kind != FT_STATE_RESULT;
}
/* thread:1, as the content of a cell: the handle of that thread of the epoch. */
bool ft_state_handle_read(const char *text, uint32_t *thread); /* false: it is none */

/* The text form: each line an item, in the order of the structures above. The reader and the
 * printer are inverse. Errors have a line and a column.
 *
 *   schedules 1
 *   program 5fe1...                                  ; its hash
 *   prefix yes
 *   marker @work 7 "queue.c" 30 3
 *   input x 32 "x" 0 1                               ; label, width, name, thread, which
 *   loop i 32 "queue.c:9 @take b1 %i" 0.1 1          ; known when the thread has left the loop
 *   input y 8 "y" 0.1 1 dynamic                      ; known when thread 0.1 has read it
 *   epoch entry
 *   init (bvult x #x00000004)
 *   if (= x #x00000000)
 *     take a
 *   else
 *     none                                           ; not covered
 *   schedule a exited
 *     0:1 begin
 *     0:2 create 0.1 at @main 7 "queue.c" 12 3
 *     0.1:1 begin after 0:2
 *     0.1:2 lock @m+0 at @add 1 "queue.c" 4 3
 *     0.2:4 wait @c+0 @m+0 at @take 3
 *     0.1:3 signal @c+0 wakes 0.2 at @add 2 after 0.2:4
 *   schedule b epoch again                           ; the next epoch
 *     0:1 begin
 *     ...
 *     next 0 0.2 0.1                                 ; its threads 0, 1, 2
 *   epoch again
 *   stands 0 wake at @pthread_cond_wait 0 at @main 9 ; inside of a wait
 *   stands 1 lock at @work 7 "queue.c" 30 3
 *   stands 2 ended                                   ; or: ended detached
 *   input y 8 "y" 1 1                                ; thread 1 reads it first from now on
 *   input z 8 "z" 1 1 dynamic                        ; and this; known when it has
 *   unknown n 32 @n+0                                ; label, width, place
 *   object heap:#1 24                                ; its size; or: 24 freed
 *   cell 1/0%i 32 0x5
 *   cell @first+0 64 heap:#1+8
 *   sync @m+0 mutex owner 1 count 1
 *   sync @r+0 rwlock readers 1 1 2                   ; thread 1 holds it twice
 *   local 1/0%i "i" "queue.c" 28                     ; the variable i, declared there
 *   take c                                           ; the selector, as above
 *
 * Other words of a sync: destroyed, total N, waiters THREADS, notified THREADS, arrived THREADS; of
 * a mutex: recursive, checking.
 *
 * A node is called by its thread and its number among the thread's nodes, from 1. */
ft_status ft_schedule_set_read(const char *text, size_t length, ft_schedule_set **set,
                               ft_error *err) FT_MUST_CHECK;
void ft_schedule_set_print(const ft_schedule_set *set, ft_strbuf *out);
/* One node, as in the text form, without the place. */
void ft_node_print(const ft_schedule_set *set, const ft_schedule *schedule, uint32_t node,
                   ft_strbuf *out);
/* A term over the set's inputs, as the text form has it. */
void ft_schedule_term_print(const ft_schedule_set *set, ft_term term, ft_strbuf *out);

/* What the reader refuses and what those who make sets must keep to: numbers in range, trees that
 * are trees, labels and names that are well-formed and different, a thread's nodes from `begin` (in
 * the entry) to `end`, peers that exist, edges from smaller numbers of other threads, terms of the
 * sort Bool over the epoch's own symbols, an `init` of a later epoch over those that are known when
 * it begins, threads of the epoch or made in it, all threads of the
 * next epoch bound to different ones. Whether the program has such places, objects and registers is
 * not known here. */
ft_status ft_schedule_set_validate(const ft_schedule_set *set, ft_error *err) FT_MUST_CHECK;

/* The inputs at hand; false: not known. Of an unknown `name` is the place, `thread` "". */
typedef bool (*ft_schedule_value)(void *context, const ft_schedule_input *input, const char *name,
                                  const char *thread, uint64_t *value);
/* The schedule that the epoch's selector takes; FT_NO_SCHEDULE: none covers the inputs.
 * FT_NOT_FOUND: an input is not known, the error names it. */
ft_status ft_schedule_select(const ft_schedule_set *set, uint32_t epoch, ft_schedule_value value,
                             void *context, uint32_t *schedule, ft_error *err) FT_MUST_CHECK;

/* The condition under which the selector takes the schedule, or FT_NO_SCHEDULE: a Bool term of the
 * set's pool. */
ft_term ft_schedule_condition(ft_schedule_set *set, uint32_t epoch, uint32_t schedule);

/* The order of a schedule: which nodes come before which, through edges and threads. */
typedef struct ft_schedule_order {
    uint32_t n;
    uint32_t *number; /* by node: its number in its thread, from 1 */
    uint32_t *clocks; /* n x threads: how many nodes of the thread come before, itself included */
    uint32_t threads;
} ft_schedule_order;
void ft_schedule_order_init(ft_schedule_order *order, const ft_schedule *schedule);
void ft_schedule_order_release(ft_schedule_order *order);
bool ft_schedule_is_before(const ft_schedule_order *order, const ft_schedule *schedule, uint32_t a,
                           uint32_t b);

#endif
