/* Actions: what threads do to objects, as the search over schedules sees it.
 *
 * A thread stands before an *operation* (kind, object, operands). Carried out in a state it becomes
 * an *action*: the operation with its thread, the variant that was chosen (which waiter a signal
 * wakes, which arm a choice takes) and the outcome that the state gave it (whether an attempt
 * succeeded). Two actions of different threads are *dependent* if their order can matter; actions
 * of one thread always are. Dependence is a table by kinds (action.c); everything else in this
 * folder follows from it and from the states of objects (objects.h). (POR-SE §3.1, notes §1.)
 *
 * Threads, objects and operands are numbers that the executor gives; it names by creation, so that
 * a number means the same in every execution. Thread numbers are below FT_X_THREADS. */
#ifndef FT_EXPLORE_ACTION_H
#define FT_EXPLORE_ACTION_H

#include <stdbool.h>
#include <stdint.h>

enum { FT_X_THREADS = 64 };

/* Classes of objects. */
typedef enum ft_x_class {
    FT_X_NO_OBJECT,
    FT_X_MUTEX,
    FT_X_CONDITION,
    FT_X_SEMAPHORE,
    FT_X_ATOMIC,
    FT_X_RWLOCK,
    FT_X_BARRIER,
    FT_X_ONCE,
    FT_X_CHANNEL,
    FT_X_MEMORY,
    FT_X_THREAD,
    FT_X_PROCESS
} ft_x_class;

/* symbol, name, class of its object, what it is, and its operands where it has any:
 *   other    a second object: the mutex of a wait
 *   value    operands */
#define FT_X_KIND_TABLE(X)                                                                         \
    X(NONE, "none", NO_OBJECT, "no operation: the thread has ended")                               \
    X(CHOOSE, "choose", NO_OBJECT, "one of `value` arms, by an open input")                        \
    X(STEP, "step", NO_OBJECT, "an action that concerns no other thread")                          \
    X(LOCK, "lock", MUTEX, "takes the mutex; waits until it is free")                              \
    X(TRY_LOCK, "try-lock", MUTEX, "takes the mutex if it is free")                                \
    X(UNLOCK, "unlock", MUTEX, "releases the mutex")                                               \
    X(WAIT, "wait", CONDITION, "releases the mutex `other` and begins to wait")                    \
    X(WAKE, "wake", CONDITION, "takes the mutex `other` again, notified or not (its variant)")     \
    X(SIGNAL, "signal", CONDITION, "notifies one waiter (its variant: thread + 1; 0: lost)")       \
    X(BROADCAST, "broadcast", CONDITION, "notifies all waiters (its outcome: their bits)")         \
    X(TAKE, "take", SEMAPHORE, "lowers the semaphore; waits while it is 0")                        \
    X(TRY_TAKE, "try-take", SEMAPHORE, "lowers the semaphore unless it is 0")                      \
    X(COUNT, "count", SEMAPHORE, "looks at the count")                                             \
    X(POST, "post", SEMAPHORE, "raises the semaphore")                                             \
    X(LOAD, "load", ATOMIC, "reads")                                                               \
    X(STORE, "store", ATOMIC, "writes `value`")                                                    \
    X(ADD, "add", ATOMIC, "reads, and writes the sum with `value`")                                \
    X(SWAP, "swap", ATOMIC, "writes `value2` if it reads `value`")                                 \
    X(UPDATE, "update", ATOMIC,                                                                    \
      "reads, and writes what `value2` (FT_X_UPDATE_OF) and `value` say")                          \
    X(READ_LOCK, "read-lock", RWLOCK, "takes the lock for reading")                                \
    X(WRITE_LOCK, "write-lock", RWLOCK, "takes the lock for writing")                              \
    X(TRY_READ_LOCK, "try-read-lock", RWLOCK, "takes the lock for reading if no writer holds it")  \
    X(TRY_WRITE_LOCK, "try-write-lock", RWLOCK, "takes the lock for writing if it is free")        \
    X(QUEUE, "queue", RWLOCK, "begins to wait for writing, before readers that come later")        \
    X(READ_UNLOCK, "read-unlock", RWLOCK, "releases a lock held for reading")                      \
    X(WRITE_UNLOCK, "write-unlock", RWLOCK, "releases a lock held for writing")                    \
    X(ARRIVE, "arrive", BARRIER,                                                                   \
      "arrives at a barrier of `value` threads; `value2` 1: in an order that counts")              \
    X(LEAVE, "leave", BARRIER, "goes on when all of the round have arrived")                       \
    X(ONCE_BEGIN, "once-begin", ONCE, "begins the initialiser, or passes if it is done")           \
    X(ONCE_END, "once-end", ONCE, "the initialiser is done, or (`value` 1) was left undone")       \
    X(SEND, "send", CHANNEL,                                                                       \
      "puts `value` units into a channel of `value2` at most (outcome 1: no reader is left)")      \
    X(TRY_SEND, "try-send", CHANNEL, "puts in what fits of `value` units: its outcome")            \
    X(RECEIVE, "receive", CHANNEL,                                                                 \
      "takes up to `value` units: its outcome; waits for the first, or until no writer is left")   \
    X(TRY_RECEIVE, "try-receive", CHANNEL, "the same; FT_X_WOULD_WAIT where it would wait")        \
    X(TEST, "test", CHANNEL, "looks whether the channel is ready for `value`: bits of ft_x_ready") \
    X(OPEN, "open", CHANNEL, "one more descriptor of the ends `value` (ft_x_ready)")               \
    X(CLOSE, "close", CHANNEL, "one less")                                                         \
    X(READ, "read", MEMORY, "a plain read that is an action, since it races")                      \
    X(WRITE, "write", MEMORY, "the same of a plain write")                                         \
    X(CREATE, "create", THREAD, "starts the thread")                                               \
    X(JOIN, "join", THREAD, "waits for the thread's end")                                          \
    X(TRY_JOIN, "try-join", THREAD, "looks whether the thread has ended")                          \
    X(EXIT, "exit", PROCESS, "ends the process")                                                   \
    X(AWAIT, "await", NO_OBJECT,                                                                   \
      "after a fruitless round (watch.h): waits until one would differ")                           \
    X(READY, "ready", NO_OBJECT, "the same, of a call that waits for one of several channels")     \
    X(LINGER, "linger", NO_OBJECT, "the same; late (variant 1): where no thread can go on at all") \
    X(BRANCH, "branch", NO_OBJECT,                                                                 \
      "one of `value` arms, by a condition on open inputs; of no thread's concern, so that it "    \
      "may "                                                                                       \
      "also be done when the process has ended")

typedef enum ft_x_kind {
#define FT_ROW(symbol, name, class, doc) FT_X_##symbol,
    FT_X_KIND_TABLE(FT_ROW)
#undef FT_ROW
        FT_X_KINDS
} ft_x_kind;

/* Bits of the `value` of operations that wait: LOCK, WAKE, TAKE, READ_LOCK, WRITE_LOCK and JOIN (of
 * READY: of `other`, and TIMED alone).
 * A time limit passes *late* (below), or, EARLY, at any moment. An operation of another kind than
 * WAKE whose limit may pass early is an attempt. */
enum { FT_X_RECURSIVE = 1 /* LOCK, TRY_LOCK */, FT_X_TIMED = 2, FT_X_EARLY = 4, FT_X_SPURIOUS = 8 };
/* READ_LOCK: waits also while a writer is queued. WRITE_LOCK: ends the wait that its QUEUE began.
 */
enum { FT_X_PREFERS_WRITERS = 16 };
/* How a wait ended: the variants of those operations. */
enum { FT_X_IN_TIME, FT_X_TIMED_OUT, FT_X_BY_ITSELF /* WAKE, SPURIOUS */ };

/* How UPDATE makes the new content of the old one and its `value`. The result has the atomic's
 * size in bytes (1, 2, 4, 8), sign-extended. */
typedef enum ft_x_operator {
    FT_X_PLUS,
    FT_X_MINUS,
    FT_X_AND,
    FT_X_OR,
    FT_X_XOR,
    FT_X_NAND,
    FT_X_MAX,
    FT_X_MIN,
    FT_X_UNSIGNED_MAX,
    FT_X_UNSIGNED_MIN
} ft_x_operator;
#define FT_X_UPDATE_OF(operator, bytes) ((int64_t)(operator) * 16 + (int64_t)(bytes))

/* Channels. `value2` of TEST and TRY_SEND: FT_X_ROOM. */
typedef enum ft_x_ready {
    FT_X_READABLE = 1, /* there are units to take, or no writer is left */
    FT_X_WRITABLE = 2, /* there is room, or no reader is left */
    FT_X_ENDED = 4,    /* no writer is left */
    FT_X_BROKEN = 8,   /* no reader is left */
    FT_X_ARRIVALS = 16 /* of TEST: how often something was put in, or the last writer left; above */
} ft_x_ready;
#define FT_X_ARRIVALS_SHIFT 8 /* of the outcome */
#define FT_X_WOULD_WAIT     UINT64_MAX
/* A channel of so many units at most, of which as many as `least` have to fit: it is writable then;
 * fewer are not put in by TRY_SEND, but for the rest of its own. */
#define FT_X_ROOM(capacity, least) ((int64_t)(capacity) << 20 | (int64_t)(least))

typedef struct ft_x_operation {
    uint16_t kind;   /* ft_x_kind */
    uint32_t object; /* of the kind's class; of CREATE, JOIN and TRY_JOIN: the thread */
    uint32_t other;
    int64_t value, value2;
} ft_x_operation;

typedef struct ft_x_action {
    ft_x_operation operation;
    uint16_t thread;
    uint64_t variant; /* which of the operation's choices; 0 where it has one */
    uint64_t outcome; /* what the state made of it: an attempt succeeded (1), bits of waiters */
} ft_x_action;

/* The mutex that the operation takes or releases; false: none. */
bool ft_x_mutex_of(const ft_x_operation *operation, uint32_t *mutex);

const char *ft_x_kind_name(ft_x_kind kind);
ft_x_class ft_x_kind_class(ft_x_kind kind);

/* May the action be done only where no thread can do anything else? Its history is everything. */
bool ft_x_is_late(const ft_x_action *action);

/* Are the actions dependent? Symmetric. */
bool ft_x_dependent(const ft_x_action *a, const ft_x_action *b);

/* May an action that the operation becomes in some state be dependent on the action? True where it
 * cannot be ruled out; false only where it is certain. */
bool ft_x_may_depend(uint32_t thread, const ft_x_operation *operation, const ft_x_action *action);

#endif
