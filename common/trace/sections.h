/* Critical sections: what a thread holds of a lock, from one lock event to the next (trace.h,
 * ft_builder_finish). What normalising a whole trace (normalise.c) and one that goes by (follow.h)
 * share. Not for others. */
#ifndef FT_TRACE_SECTIONS_H
#define FT_TRACE_SECTIONS_H

#include "trace/builder_internal.h"

/* The facts of a lock event that sections need. */
typedef struct ft_lock_event {
    ft_lock_kind lock;
    bool acquire; /* else release */
    bool shared;  /* for reading */
    bool nests;   /* an inner one is counted: recursive locks, readers of a read-write lock */
    bool waits;   /* inside a condition wait: all of the lock's depth at once */
    bool tries;   /* would not have waited */
} ft_lock_event;

typedef struct ft_hold {
    uint32_t depth;  /* how often the lock is held; 0: not */
    uint32_t saved;  /* depth given up by the release of a condition wait */
    uint32_t opened; /* outermost acquire */
    bool shared;     /* held for reading */
} ft_hold;

/* An acquire or release that happened. */
bool ft_lock_event_is(const ft_trace *trace, uint32_t e);
ft_lock_event ft_lock_event_of(const ft_trace *trace, uint32_t e);

/* Follow one; e is its number. They return FT_FLAG_NESTED, FT_FLAG_STRANGER or 0. */
uint8_t ft_hold_acquire(ft_hold *hold, uint32_t e, ft_lock_event event);
uint8_t ft_hold_release(ft_hold *hold, ft_lock_event event);

/* The notes that come of it. */
void ft_sections_note_stranger(ft_builder *builder, uint32_t e, uint32_t thread, uint32_t lock,
                               bool acquire);
/* count: of all such sections, of which the one opened by e is the first. */
void ft_sections_note_unclosed(ft_builder *builder, uint32_t e, uint32_t thread, uint32_t lock,
                               uint32_t count);

#endif
