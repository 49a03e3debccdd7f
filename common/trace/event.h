/* The event kinds: one row each, from which names, readers, printers and documentation come. */
#ifndef FT_TRACE_EVENT_H
#define FT_TRACE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

/* The table that an event's `object` is an index of. */
typedef enum ft_object_class {
    FT_OBJECT_NONE,
    FT_OBJECT_VARIABLE,
    FT_OBJECT_LOCK,
    FT_OBJECT_SEMAPHORE,
    FT_OBJECT_THREAD,
    FT_OBJECT_EDGE,
    FT_OBJECT_CONDITION,
    FT_OBJECT_BARRIER,
    FT_OBJECT_ONCE,
    FT_OBJECT_BLOCK,
    FT_OBJECT_CLASSES
} ft_object_class;

/*  symbol       name           object     one line of documentation */
#define FT_EVENT_TABLE(X)                                                                          \
    X(READ, "read", VARIABLE, "read of a shared variable")                                         \
    X(WRITE, "write", VARIABLE, "write of a shared variable")                                      \
    X(ASSIGN, "assign", NONE,                                                                      \
      "atomic guarded assignment: if the guard holds, all of `set` at once")                       \
    X(ASSUME, "assume", NONE,                                                                      \
      "a condition the thread's path depends on; where it fails, the thread stops")                \
    X(ASSERT, "assert", NONE, "a condition that must hold; where it fails, the program is wrong")  \
    X(FORK, "fork", THREAD, "start of a thread; all of its events come after")                     \
    X(JOIN, "join", THREAD, "wait for a thread; all of its events come before")                    \
    X(BEGIN, "begin", NONE, "first event of a thread")                                             \
    X(END, "end", NONE, "last event of a thread")                                                  \
    X(ACQUIRE, "acquire", LOCK, "take a lock")                                                     \
    X(RELEASE, "release", LOCK, "give a lock back")                                                \
    X(WAIT, "wait", SEMAPHORE, "take one unit of a semaphore; blocks while its count is 0")        \
    X(POST, "post", SEMAPHORE, "give one unit to a semaphore")                                     \
    X(TX_BEGIN, "tx-begin", NONE, "a transaction (meant to be atomic) begins")                     \
    X(TX_END, "tx-end", NONE, "the innermost open transaction ends")                               \
    X(EDGE_OUT, "edge-out", EDGE, "source of a hard order edge")                                   \
    X(EDGE_IN, "edge-in", EDGE, "target of a hard order edge: after the edge-out of that name")    \
    X(ACQUIRE_SHARED, "acquire-shared", LOCK, "take a read-write lock for reading")                \
    X(TRY_FAILED, "try-failed", LOCK,                                                              \
      "an attempt to take a lock that found it held: it must be held there in every schedule")     \
    X(TRY_FAILED_SHARED, "try-failed-shared", LOCK,                                                \
      "an attempt to take a read-write lock for reading that found it held for writing")           \
    X(COND_WAIT, "cond-wait", CONDITION,                                                           \
      "the thread becomes a waiter of a condition variable; it releases its mutex next")           \
    X(COND_WAKE, "cond-wake", CONDITION,                                                           \
      "the thread goes on: a signal or broadcast since its cond-wait woke it, or its time is up")  \
    X(SIGNAL, "signal", CONDITION, "wake one waiter, any; without a waiter it is lost")            \
    X(BROADCAST, "broadcast", CONDITION, "wake all waiters; without a waiter it is lost")          \
    X(BARRIER_ARRIVE, "barrier-arrive", BARRIER, "come to a barrier")                              \
    X(BARRIER_LEAVE, "barrier-leave", BARRIER, "pass it: all arrivals of the round come before")   \
    X(ONCE_BEGIN, "once-begin", ONCE, "the initialiser of a once object starts in this thread")    \
    X(ONCE_END, "once-end", ONCE, "the initialiser is done")                                       \
    X(ONCE_PASS, "once-pass", ONCE, "a call that found it done: after the once-end")               \
    X(RMW, "rmw", VARIABLE, "atomic read-modify-write of a shared variable, with both values")     \
    X(ALLOC, "alloc", BLOCK, "memory of a block of variables is allocated")                        \
    X(FREE, "free", BLOCK, "memory of a block is freed; an access after it is an error")           \
    X(IF, "if", NONE,                                                                              \
      "a condition that chooses an arm: what follows runs where it holds, up to its else")         \
    X(ELSE, "else", NONE, "the then-arm ends; what follows runs where the condition fails")        \
    X(END_IF, "end-if", NONE, "the innermost open if ends")

typedef enum ft_event_kind {
#define FT_EVENT_ENUM(symbol, name, object, doc) FT_EVENT_##symbol,
    FT_EVENT_TABLE(FT_EVENT_ENUM)
#undef FT_EVENT_ENUM
        FT_EVENT_KINDS
} ft_event_kind;

const char *ft_event_kind_name(ft_event_kind kind);
const char *ft_event_kind_doc(ft_event_kind kind);
ft_object_class ft_event_kind_object(ft_event_kind kind);
/* Whether an event of the kind may wait: acquire, acquire-shared, wait, join, cond-wake,
 * barrier-leave, once-pass. */
bool ft_event_kind_waits(ft_event_kind kind);
/* Whether an event of the kind may be no candidate (FT_FLAG_SYNTHETIC): read, write, rmw, assign,
 * assume. */
bool ft_event_kind_may_stand_aside(ft_event_kind kind);
bool ft_event_kind_parse(const char *name, ft_event_kind *kind);

/* Event flags. */
enum {
    FT_FLAG_ATOMIC = 1 << 0,    /* an atomic access: two of them never race */
    FT_FLAG_BLOCKED = 1 << 0,   /* an event that waits (ft_event_kind_waits): the run ended with its
                                   thread waiting there, so that it did not happen and nothing of the
                                   thread comes after it */
    FT_FLAG_SYNTHETIC = 1 << 1, /* a release: added by ingest, not in the input; a read, write, rmw,
                                   assign or assume: no candidate, but it explains values. Such a
                                   write is external, done by code that the tracer does not see and
                                   noticed later, or the user does not want to hear of it
                                   (docs/record.md). An alloc: what the memory begins with is
                                   somebody's content, which nobody told of */
    FT_FLAG_FAILED = 1 << 2,    /* an assert that failed in the observed run, which went on; a
                                   cond-wake whose time was up */
    FT_FLAG_CONDITION = 1 << 3, /* the release or acquire inside a condition wait */
    FT_FLAG_STRANGER = 1 << 4,  /* a lock error without effect: a release by a thread that did not
                                   hold the lock, a second acquire of an error-checking mutex */
    FT_FLAG_NESTED = 1 << 5,    /* inner acquire or release of a recursive lock: no effect */
    FT_FLAG_TRY = 1 << 6,       /* an acquire, wait, cond-wake or join that would not have waited
                                   for ever (an attempt, or a time limit): it asks for nothing;
                                   an rmw: a compare-and-swap, which found what it expected */
    FT_FLAG_PASSED = 1 << 7     /* passed over: in an arm that the observed run did not take
                                   (verdict/checker.h, ft_observe_run) */
};

#endif
