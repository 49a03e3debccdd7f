/* The order that no schedule can change, and the locks: one streaming pass over the trace.
 *
 * Hard order: program order, fork before the child, the child before its join, edge-out before
 * edge-in. It is kept as vector clocks per segment: a stretch of a thread's events without a hard
 * edge into it (but at its start) or out of it (but at its end), so that two segments are ordered
 * as wholes or not at all.
 *
 * A section is an effective acquire with its release (design §4, Locks); an event's hold state is
 * the set of sections open at it. */
#ifndef FT_ORDER_ORDER_H
#define FT_ORDER_ORDER_H

#include "trace/trace.h"

#define FT_NO_SECTION UINT32_MAX

typedef struct ft_section {
    uint32_t lock, acquire; /* acquire: event */
    uint32_t release;       /* event, FT_NO_EVENT: never closed */
    uint16_t thread;
    bool waits; /* a condition wait (FT_FLAG_CONDITION) begins or ends it */
} ft_section;

typedef struct ft_hold {
    uint32_t first, count; /* slice of hold_sections, sorted by lock */
    uint32_t lockset;      /* equal locksets have equal ids; 0: empty */
} ft_hold;

typedef struct ft_order {
    const ft_trace *trace;
    uint32_t n_threads;
    uint32_t *thread_start;  /* [n_threads + 1] slices of thread_events */
    uint32_t *thread_events; /* [n_events] grouped by thread, in program order */
    uint32_t *position;      /* [n_events] place within its thread */
    uint32_t *segment;       /* [n_events] */
    uint32_t n_segments;
    uint16_t *segment_thread; /* [n_segments] */
    uint32_t *clock;          /* [n_segments * n_threads] events of each thread that come before */
    uint32_t *fork_of;        /* [n_threads] event that forks it, FT_NO_EVENT */
    ft_map edge_source; /* edge-in event -> its edge-out: the latest of that name before it, or
                           (a broken trace) the first after it */
    uint32_t *hold;     /* [n_events] hold state; the event's own acquire is not yet in it, its
                           own release is */
    FT_VEC(ft_hold) holds;
    FT_VEC(uint32_t) hold_sections;
    FT_VEC(ft_section) sections;
    uint32_t *section_of;      /* [n_events] section that an effective acquire opens or an effective
                                  release closes, else FT_NO_SECTION */
    uint32_t *lock_first;      /* [locks + 1] slices of lock_sections */
    uint32_t *lock_sections;   /* sections by lock, in observed order of their acquires */
    FT_VEC(uint32_t) locksets; /* lock ids, concatenated */
    FT_VEC(uint32_t) lockset_offset; /* [n_locksets + 1] */
} ft_order;

ft_order *ft_order_new(const ft_trace *trace);
void ft_order_free(ft_order *order); /* accepts NULL */

/* The event before e in its thread, or FT_NO_EVENT. */
uint32_t ft_order_previous(const ft_order *order, uint32_t e);
uint32_t ft_order_next(const ft_order *order, uint32_t e);
uint32_t ft_order_last(const ft_order *order, uint32_t thread); /* FT_NO_EVENT: no events */
/* The event of another thread that must come directly before e (its fork if e is a thread's first
 * event, the last event of a joined child, the edge-out of an edge-in): at most two. */
uint32_t ft_order_hard_sources(const ft_order *order, uint32_t e, uint32_t sources[2]);

/* Does a come before b in the hard order? False for a == b. */
bool ft_order_before(const ft_order *order, uint32_t a, uint32_t b);
bool ft_order_segments_before(const ft_order *order, uint32_t a, uint32_t b);

/* A lock in both locksets, or UINT32_MAX. */
uint32_t ft_order_common_lock(const ft_order *order, uint32_t lockset_a, uint32_t lockset_b);
/* The section of `lock` that is open at e, or FT_NO_SECTION. */
uint32_t ft_order_section_at(const ft_order *order, uint32_t e, uint32_t lock);
uint32_t ft_order_lockset(const ft_order *order, uint32_t e);

/* True for an acquire or release that changes the lock's state. */
bool ft_order_effective(const ft_trace *trace, uint32_t e);

#endif
