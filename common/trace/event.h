/* The event kinds: one row each, from which names, readers, printers and documentation come. */
#ifndef FT_TRACE_EVENT_H
#define FT_TRACE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

/* What an event's `object` names. */
typedef enum ft_object_class {
    FT_OBJECT_NONE,
    FT_OBJECT_VARIABLE,
    FT_OBJECT_LOCK,
    FT_OBJECT_SEMAPHORE,
    FT_OBJECT_THREAD,
    FT_OBJECT_EDGE,
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
    X(EDGE_IN, "edge-in", EDGE, "target of a hard order edge: after the edge-out of that name")

typedef enum ft_event_kind {
#define FT_EVENT_ENUM(symbol, name, object, doc) FT_EVENT_##symbol,
    FT_EVENT_TABLE(FT_EVENT_ENUM)
#undef FT_EVENT_ENUM
        FT_EVENT_KINDS
} ft_event_kind;

const char *ft_event_kind_name(ft_event_kind kind);
const char *ft_event_kind_doc(ft_event_kind kind);
ft_object_class ft_event_kind_object(ft_event_kind kind);
bool ft_event_kind_parse(const char *name, ft_event_kind *kind);

/* Event flags. */
enum {
    FT_FLAG_ATOMIC = 1 << 0,    /* an atomic access: two of them never race */
    FT_FLAG_SYNTHETIC = 1 << 1, /* added by ingest (an implied release), not in the input */
    FT_FLAG_FAILED = 1 << 2,    /* an assert that failed in the observed run, which went on */
    FT_FLAG_CONDITION = 1 << 3, /* the release or acquire inside a condition wait */
    FT_FLAG_STRANGER = 1 << 4,  /* a release by a thread that did not hold the lock: no effect */
    FT_FLAG_NESTED = 1 << 5     /* inner acquire or release of a recursive lock: no effect */
};

#endif
