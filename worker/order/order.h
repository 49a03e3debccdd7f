/* The order that every schedule keeps, and the locks: one streaming pass over the trace. The
 * observed run (run.h) is in this folder too: the value of each access, and the write it came from.
 *
 * Hard order: program order, fork before the child, the child before its join, edge-out before
 * edge-in, the arrivals of a barrier's round before its leaves and before the next round's
 * arrivals, once-end before once-pass. Each segment has a vector clock. A segment is a stretch of
 * one thread's events that hard edges enter only at its start and leave only at its end, so that
 * the hard order puts two segments in order as a whole or not at all.
 *
 * A section is an effective acquire with its release (trace.h, building), exclusive or shared; an
 * event's hold state is the set of sections open at it.
 *
 * Imports: common/base, common/trace. */
#ifndef FT_ORDER_ORDER_H
#define FT_ORDER_ORDER_H

#include "base/contract.h"
#include "trace/trace.h"

#define FT_NO_SECTION UINT32_MAX

typedef struct ft_section {
    uint32_t lock, acquire; /* acquire: event */
    uint32_t release;       /* event, FT_NO_EVENT: never closed */
    uint16_t thread;
    bool shared;        /* a read-write lock held for reading */
    bool waits;         /* a condition wait (FT_FLAG_CONDITION) begins or ends it */
    uint32_t otherwise; /* its release is that of a condition wait in an arm: the section that
                           continues this one where the arm is not taken; else FT_NO_SECTION */
} ft_section;

typedef struct ft_hold {
    uint32_t first, count; /* slice of hold_sections, sorted by lock */
    uint32_t lockset;      /* equal locksets have equal ids; 0: empty */
} ft_hold;

/* A cond-wake. */
typedef struct ft_wake {
    uint32_t wake;
    uint32_t wait;   /* its cond-wait, FT_NO_EVENT: none, and it never happens */
    uint32_t signal; /* the signal or broadcast that woke it in the observed run, where the longest
                        waiter is woken first; FT_NO_EVENT: none did */
} ft_wake;

/* Conditions, barriers and once objects, as the order pass indexes them (order/sync.c). */
typedef struct ft_order_sync {
    FT_VEC(ft_wake) wakes;     /* in observed order */
    ft_map wake_of;            /* cond-wake -> index in wakes */
    uint32_t *condition_first; /* [conditions + 1] slices of signals */
    uint32_t *signals;         /* signals and broadcasts, by condition, in observed order */
    FT_VEC(uint32_t) sources;  /* of events with hard sources beside a fork, join or edge-out */
    ft_map source_slice;       /* event -> first << 32 | count, slice of sources */
    ft_map never;              /* barrier-leaves and once-passes that no schedule reaches */
    uint32_t *once_begin;      /* [onces] its first once-begin, FT_NO_EVENT: none */
    uint32_t *once_end;        /* [onces] its first once-end, likewise */
} ft_order_sync;

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
    FT_VEC(uint32_t) locksets; /* lock << 1 | shared, concatenated */
    FT_VEC(uint32_t) lockset_offset; /* [n_locksets + 1] */
    ft_order_sync sync;
} ft_order;

ft_order *ft_order_new(const ft_trace *trace); /* the trace must outlive it */
void ft_order_free(ft_order *order);           /* accepts NULL */
/* Clocks grow along each thread and count only events that ran earlier; every section has its
 * acquire before its release in one thread; hold states and locksets are those of the open
 * sections. Linear in the trace times the threads, for FT_CHECK. */
bool ft_order_is_sound(const ft_order *order);

/* Below, every event is an event of the trace, and every thread, lock and lockset is its own. */

/* The event before e in its thread, or FT_NO_EVENT. */
uint32_t ft_order_previous(const ft_order *order, uint32_t e);
uint32_t ft_order_next(const ft_order *order, uint32_t e);
uint32_t ft_order_last(const ft_order *order, uint32_t thread); /* FT_NO_EVENT: no events */
/* The events that must come directly before e, beside its predecessor in the thread: its fork if e
 * is a thread's first event (then it is the first of them), the last event of a joined child, the
 * edge-out of an edge-in, the arrivals of a barrier's round, the once-end of a once-pass. Returns
 * how many; *sources is valid until the order is freed. */
uint32_t ft_order_hard_sources(const ft_order *order, uint32_t e, const uint32_t **sources);
/* The event that a blocked join or once-pass waits for: the child's last event or the once-end. It
 * is not a source of the hard order, since the run need not have executed it. FT_NO_EVENT: none. */
uint32_t ft_order_awaited(const ft_order *order, uint32_t e);

/* No schedule executes e: a lock that its thread holds and may not take again, the leave of a
 * barrier's incomplete round, a once-pass without a once-end, a cond-wake without a cond-wait. */
bool ft_order_never(const ft_order *order, uint32_t e);
/* The entry in sync.wakes of the event, a cond-wake. */
const ft_wake *ft_order_wake(const ft_order *order, uint32_t wake);

/* Does a come before b in the hard order? False for a == b. */
bool ft_order_before(const ft_order *order, uint32_t a, uint32_t b);
bool ft_order_segments_before(const ft_order *order, uint32_t a, uint32_t b);

/* Is `a` executed wherever `b` is next in its thread? The sources of b itself are not. */
bool ft_order_before_next(const ft_order *order, uint32_t a, uint32_t b);
/* Is the initialiser of the once object under way in e's thread when e is next there? */
bool ft_order_initialises(const ft_order *order, uint32_t e, uint32_t once);

/* Is `a`, which comes before `e` in the hard order, executed in every schedule that executes e, or
 * has it next in its thread? Not where it is in an arm that e is not in (Wang et al. §8). */
bool ft_order_certain(const ft_trace *trace, uint32_t a, uint32_t e);

/* A lock in both locksets that at least one of them holds exclusively, or UINT32_MAX. */
uint32_t ft_order_common_lock(const ft_order *order, uint32_t lockset_a, uint32_t lockset_b);
/* The section of `lock` that is open at e, or FT_NO_SECTION. */
uint32_t ft_order_section_at(const ft_order *order, uint32_t e, uint32_t lock);
uint32_t ft_order_lockset(const ft_order *order, uint32_t e);

/* True for an acquire or release that changes the lock's state. */
bool ft_order_effective(const ft_trace *trace, uint32_t e);
/* True for an effective acquire or acquire-shared: its section is section_of[e]. */
bool ft_order_opens(const ft_trace *trace, uint32_t e);
/* Does e take a writer-preferring lock for reading, so that it waits while a writer waits, also
 * where its thread reads already? */
bool ft_order_reads_behind(const ft_trace *trace, uint32_t e);
/* ... and is `writer` a request for the same lock that such a reader waits for? */
bool ft_order_waits_behind(const ft_trace *trace, uint32_t e, uint32_t writer);
/* Where a section's release is in an arm that is not taken, the section that ends with the release
 * that counts then, and so on; NULL: no other. all: sections of the order. */
const ft_section *ft_section_otherwise(const ft_section *all, const ft_section *section);
/* May sections of one lock overlap? Two shared ones do. */
bool ft_order_conflict(const ft_section *a, const ft_section *b);

/* For order.c: fill order->sync, and release it. */
void ft_order_sync_init(ft_order *order);
void ft_order_sync_release(ft_order_sync *sync);

#endif
