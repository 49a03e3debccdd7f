/* Events in the vocabulary of RAPID, on their way from a reader to the builder.
 *
 * RAPID's text form (reader_std.c) and binary form (reader_rapidbin.c) have the same operations and
 * leave the same questions open: which thread a bare number means, which of several forks starts a
 * thread, whether begin and end enclose threads or transactions, and whether a request was still
 * waiting when the run ended. Only the whole trace answers them, so events are held back until the
 * end. Where the builder gives its events away, only as many are held back as it has room for; they
 * answer for the rest, and where the rest contradicts them the builder is told that it needs all
 * events (ft_builder_need_all). docs/trace-format.md says what is made of each operation. */
#ifndef FT_TRACE_STD_EVENTS_H
#define FT_TRACE_STD_EVENTS_H

#include "trace/trace.h"

/* Operations that are not events of a trace; above every ft_event_kind. */
enum {
    FT_STD_REQUEST = FT_EVENT_KINDS, /* the thread is about to take a lock */
    FT_STD_NOTHING                   /* an operation that orders nothing */
};

typedef struct ft_std_op {
    const char *name;   /* in the text form */
    size_t length;      /* of the name */
    uint32_t kind;      /* ft_event_kind or FT_STD_* */
    bool has_object;    /* the text form has it in parentheses */
    ft_object_class of; /* what the object is; FT_OBJECT_NONE: nothing is made of it */
} ft_std_op;

/* The row's index is the operation's code in the binary form. */
enum { FT_STD_OPS = 10 };
extern const ft_std_op FT_STD_OP[FT_STD_OPS];
#define FT_STD_OP_NAMES "r, w, acq, rel, req, fork, join, begin, end or branch"

enum { FT_STD_THREADS = 1 << 24 }; /* most names of threads */

typedef struct ft_std ft_std;

ft_std *ft_std_new(ft_builder *builder); /* the builder must outlive it */
void ft_std_free(ft_std *std);           /* accepts NULL */
/* The number of a thread's name, interned; FT_STD_THREADS: there are too many. */
uint32_t ft_std_thread(ft_std *std, const char *name, size_t length);
/* Whether one more event fits. */
bool ft_std_has_room(const ft_std *std);
/* Appends an operation. thread, and the object where `of` is FT_OBJECT_THREAD: from ft_std_thread,
 * the two different; else the object is the builder's id. loc: the builder's location. */
void ft_std_add(ft_std *std, const ft_std_op *op, uint32_t thread, uint32_t object, uint32_t loc);
/* After the last one: gives the builder what was held back, and the notes. */
void ft_std_end(ft_std *std);

#endif
