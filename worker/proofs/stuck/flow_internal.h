/* Internals of the flow: flow.c has the amounts that threads add to levels, the places where they
 * may be at rest, and the claims; wait_groups.c has the bounds that sleeping threads imply. */
#ifndef FT_PROOFS_STUCK_FLOW_INTERNAL_H
#define FT_PROOFS_STUCK_FLOW_INTERNAL_H

#include "proofs/levels.h"
#include "proofs/stuck/internal.h"

enum {
    FT_FLOW_PAIRS = 16,
    FT_FLOW_MOST = FT_LEVELS_MOST + FT_FLOW_PAIRS /* measures */
};
#define FT_FLOW_FAR      ((int64_t)1 << 62)
#define FT_FLOW_ANYTHING ((ft_flow_span){-FT_FLOW_FAR, FT_FLOW_FAR})
#define FT_FLOW_NOTHING  ((ft_flow_span){FT_FLOW_FAR, -FT_FLOW_FAR})

/* A level, or the difference of two of one lock. */
typedef struct ft_flow_measure {
    uint32_t plus, minus; /* levels; minus: UINT32_MAX: none */
    bool blind;           /* the level is: it has no sum */
} ft_flow_measure;

typedef struct ft_flow_span {
    int64_t low, high;
} ft_flow_span;

/* A thread's writes and changes so far. */
typedef struct ft_flow_doing {
    uint32_t has_written;            /* a bit for each level */
    int64_t written[FT_LEVELS_MOST]; /* last */
    int64_t added[FT_FLOW_MOST];     /* to each measure that is not blind */
} ft_flow_doing;

/* Where a thread may be at rest. */
typedef struct ft_flow_place {
    uint32_t thread, position;
    uint32_t wait;  /* that it sleeps since, an index in levels.waits; UINT32_MAX: it does not */
    uint32_t group; /* of that wait; UINT32_MAX: none */
    ft_flow_doing by_then;
    ft_flow_span
        bounds[FT_FLOW_MOST]; /* of each measure in any final state with the thread there */
} ft_flow_place;

/* Waits for one condition, those that hard order does not set apart from all others. */
typedef struct ft_flow_group {
    uint32_t condition, lock;   /* lock: UINT32_MAX: not one for all waits */
    uint32_t first_wait, waits; /* slice of flow.by_group */
    bool alone;                 /* one thread alone waits */
    uint32_t *from, *to; /* [threads] positions: events that can come behind one of the waits, and
                            before the end of its sleep */
    ft_flow_span last[FT_FLOW_MOST]; /* "last wait", of each measure */
} ft_flow_group;

/* A change of a level, where its thread makes it. */
typedef struct ft_flow_change {
    uint32_t thread, position, level;
    int64_t before, after;
} ft_flow_change;

struct ft_stuck_flow {
    const ft_stuck *s;
    ft_levels levels;
    ft_flow_measure measures[FT_FLOW_MOST];
    int64_t unit[FT_FLOW_MOST]; /* the least that a change adds or takes: what a signal allows */
    uint32_t n;
    FT_VEC(ft_flow_change) changes; /* by thread and position */
    FT_VEC(ft_flow_group) groups;
    FT_VEC(uint32_t) by_group;    /* waits, as indices in levels.waits */
    uint32_t *group_of;           /* [waits] UINT32_MAX: none */
    FT_VEC(ft_flow_place) places; /* by thread and position */
    uint32_t *first;              /* [threads + 1] slices of places */
    uint64_t work;
    bool idle;
};

/* Along a thread. */
typedef struct ft_flow_walk {
    const ft_stuck_flow *flow;
    size_t next; /* change */
} ft_flow_walk;

static inline ft_flow_span ft_flow_intersect(ft_flow_span a, ft_flow_span b)
{
    return (ft_flow_span){a.low > b.low ? a.low : b.low, a.high < b.high ? a.high : b.high};
}

static inline void ft_flow_include(ft_flow_span *all, int64_t value)
{
    if (value < all->low) all->low = value;
    if (value > all->high) all->high = value;
}

static inline bool ft_flow_is_empty(ft_flow_span a)
{
    return a.low > a.high;
}

/* From the thread's event at that position on. */
ft_flow_walk ft_flow_begin(const ft_stuck_flow *flow, uint32_t thread, uint32_t position);
/* Adds the changes of the thread's event there to `now`; call it for each event in turn. */
void ft_flow_go_on(ft_flow_walk *walk, uint32_t thread, uint32_t position, ft_flow_doing *now);

/* wait_groups.c: fills groups, by_group and group_of, then the places' bounds. */
void ft_flow_find_groups(ft_stuck_flow *flow);
void ft_flow_bound_places(ft_stuck_flow *flow);

#endif
