/* Candidates of every check, in groups, before and after the cheap pruning passes.
 *
 * A candidate is a group of claims with the same check, kind and unordered source locations (those
 * of listed.h also with what wrappers.h says); with `per_event`, and for claims with an event that
 * has no location, each claim is a group of its own. Claims are never held one by one: a group
 * keeps blocks (a class of left items times a class of right items) that survived, and counts of
 * what was pruned, by reason.
 *
 * Imports: order, common/base, common/verdict. */
#ifndef FT_CANDIDATE_CANDIDATE_H
#define FT_CANDIDATE_CANDIDATE_H

#include "base/contract.h"
#include "order/order.h"
#include "order/run.h"
#include "verdict/claim.h"

/* Groups that each stand for one claim are enumerated up to this many a job; the others are
 * reported as one block, undecided because the budget is used up. */
#define FT_MAX_SINGLE_GROUPS 200000u
/* Pairs of one transaction's accesses that a job examines; the others likewise. Pairs that a lock
 * protects from every other thread are only counted. */
#define FT_MAX_LOCAL_PAIRS 4000000u
/* Where a transaction accesses a variable more often (or, once half of those pairs are used up,
 * much less often), and candidates are groups by location, only the pairs that can decide a
 * candidate are made and counted. */
#ifndef FT_MAX_PAIRED_ACCESSES
#define FT_MAX_PAIRED_ACCESSES 64u
#endif

/* Pairs of classes that a job examines only to count the claims that the hard order alone refutes.
 */
#define FT_MAX_COUNTED_CLASS_PAIRS 2000000u

/* Sites with fewer classes are not worth an index. */
#define FT_MANY_CLASSES 32u

#define FT_RECENT_GROUPS 256u

/* Accesses of one variable that no pass can tell apart. */
typedef struct ft_class {
    uint32_t loc, segment, lockset;
    uint32_t first, count; /* its first event, and how many; the others by next_event */
    uint16_t thread;
    uint8_t mode; /* FT_MODE_* */
} ft_class;
enum {
    FT_MODE_READ = 1,
    FT_MODE_WRITE = 2,
    FT_MODE_ATOMIC = 4,
    FT_MODE_SEVERAL = 8 /* an event of several variables: a class (and a site) of its own */
};

/* Classes of one variable that differ in thread and segment only. */
typedef struct ft_site {
    uint32_t variable, loc, lockset;
    uint32_t only; /* the event + 1 with FT_MODE_SEVERAL, else 0 */
    uint8_t mode;
    uint32_t first, count; /* slice of classes */
    uint64_t events;
    uint64_t threads; /* bit t: a class of thread t; all ones with more than 64 threads */
} ft_site;

/* Two accesses of one transaction instance to one variable that no pass can tell apart. */
typedef struct ft_local_pair_class {
    uint32_t variable, thread;
    uint32_t loc[2], segment[2];
    uint32_t span; /* interned set of the locks held without a break from the first to the second;
                      0: none */
    bool write[2];
    uint32_t first, count; /* slice of pair_events: count pairs of events */
    uint64_t more; /* further pairs: a lock or the hard order keeps every other thread out */
} ft_local_pair_class;

/* Lock requests that no pass can tell apart. */
typedef struct ft_request_class {
    FT_VEC(uint32_t) events;
} ft_request_class;

typedef struct ft_block {
    uint32_t left, right; /* race: sites, without the pairs of classes that are of one thread or
                             ordered; atomicity: pair class, class; assertion: event */
    /* lock, deadlock, order: index in listed, 0; a cycle: its place and length in cycles */
    bool remote_write; /* atomicity: t_r writes */
} ft_block;

typedef struct ft_group {
    ft_check check;
    uint8_t kind;      /* race: 0 read-write, 1 write-write; atomicity: bits 2..0 = writes;
                          lock, deadlock, order: ft_listed_kind */
    uint32_t loc[3];   /* sorted by text; FT_NO_LOC: unused or none */
    uint32_t property; /* index, check PROPERTY */
    uint64_t pairs;    /* claims in the group */
    uint64_t pruned[FT_REASONS];
    uint32_t lock;           /* a lock that refuted a claim, UINT32_MAX */
    bool doubtful;           /* a lock in doubt refuted a claim */
    ft_claim sample;         /* its first claim, for display */
    FT_VEC(ft_block) blocks; /* survivors */
} ft_group;

/* Claims that are groups of their own, refuted together. */
typedef struct ft_pruned_block {
    ft_check check;
    uint8_t kind; /* of the first of them */
    ft_reason reason;
    uint32_t lock; /* LOCKSET, ATOMIC_SECTION; else UINT32_MAX */
    uint64_t count;
    ft_claim sample;
} ft_pruned_block;

/* The claims of a check that locks alone, and the hard order alone, refute, whichever is applied
 * first (the claims that they leave are the columns lsa and mhb of Kahlon and Wang, table 1). */
typedef struct ft_pass_counts {
    uint64_t claims;
    uint64_t by_locks, by_order; /* refuted by each alone */
    bool order_open; /* claims refuted by locks are missing in by_order: to count them takes more
                        than FT_MAX_COUNTED_CLASS_PAIRS pairs of classes */
} ft_pass_counts;

/* A cheap look at a claim that would be listed: the reason that refutes it; FT_REASONS: none. */
typedef ft_reason (*ft_claim_look)(void *context, const ft_claim *claim);

typedef struct ft_candidates {
    const ft_trace *trace;
    const ft_order *order;
    const ft_run *run;
    bool per_event;
    const uint8_t *ignored; /* per location id, or NULL */
    const uint8_t *doubted; /* per lock, or NULL: 1 where the trace is broken (engine/doubt.h) */
    ft_claim_look look;     /* the caller's, NULL: none */
    void *look_context;
    uint64_t ignored_events;
    FT_VEC(ft_class) classes;
    uint32_t *next_event; /* [n_events] the next event of the class; unset for its last event */
    FT_VEC(ft_site) sites;
    uint32_t *variable_classes; /* [shared + 1] slices of classes */
    uint32_t *variable_sites;   /* [shared + 1] slices of sites */
    uint32_t *threaded;        /* [classes] of each site with FT_MANY_CLASSES the classes, thread by
                                  thread; else not set. NULL: there is none */
    uint64_t *threaded_events; /* [classes] of the slice's classes up to that one, it included */
    FT_VEC(ft_local_pair_class) local_pairs;
    FT_VEC(uint32_t) pair_events; /* 2 a pair */
    FT_VEC(ft_group) groups;
    FT_VEC(ft_pruned_block) pruned;
    FT_VEC(ft_claim) listed;           /* claims of the checks of listed.h */
    FT_VEC(ft_request_class) requests; /* check deadlock */
    FT_VEC(uint32_t) cycles;           /* of request classes, concatenated */
    uint64_t single_groups;            /* enumerated so far */
    uint64_t overflow[FT_CHECKS];      /* claims beyond the limits: undecided */
    ft_pass_counts passes[FT_CHECKS];
    uint64_t counted_class_pairs; /* for passes[].by_order */
    ft_map group_index;
    uint32_t recent[FT_RECENT_GROUPS]; /* group ids + 1, by a cheap hash: neighbours share groups */
} ft_candidates;

/* Without groups yet: the functions below add those of their check. The arguments must outlive
 * them. run: may be NULL where the check `order` is not asked for. */
ft_candidates *ft_candidates_new(const ft_trace *trace, const ft_order *order, const ft_run *run,
                                 bool per_event, const uint8_t *ignored);
void ft_candidates_free(ft_candidates *candidates); /* accepts NULL */
/* Sites and classes partition the accesses. For FT_CHECK: linear in classes and events. */
bool ft_candidates_is_sound(const ft_candidates *candidates);
/* Every claim of the check is counted once: those of its groups, pruned blocks and overflow are all
 * its claims, and each group's claims are those pruned and those that a walk over its blocks
 * visits. For FT_CHECK: groups with many claims are not walked. */
bool ft_candidates_add_up(const ft_candidates *candidates, ft_check check);

/* One file each. Atomicity looks at marked transactions, else at the outermost closed critical
 * sections without a condition wait. */
void ft_candidates_race(ft_candidates *candidates);
void ft_candidates_atomicity(ft_candidates *candidates);
bool ft_candidates_is_marked(const ft_trace *trace); /* it has marked transactions */
void ft_candidates_assertion(ft_candidates *candidates);
void ft_candidates_lock(ft_candidates *candidates);
void ft_candidates_deadlock(ft_candidates *candidates);
/* forks.c: part of the deadlocks. */
void ft_candidates_forks(ft_candidates *candidates);
/* The edge-out that says where the process waits for the lock, FT_NO_EVENT: none. */
uint32_t ft_forks_wanting(const ft_trace *trace, uint32_t fork, uint32_t lock);
void ft_candidates_order(ft_candidates *candidates);
void ft_candidates_failure(ft_candidates *candidates);
/* Triplets inside the stretch from event `from` to event `to` of one thread, for a property. */
void ft_candidates_transaction(ft_candidates *candidates, uint32_t from, uint32_t to,
                               uint32_t property);

/* The claims that a walk over a group leaves out. Each claim joins an item (an access; of atomicity
 * the two accesses of a transaction; of a cycle each of the other requests) and an event of a
 * class. Among one thread's events, those that are `early` for the item must be the first ones, and
 * those that are `late` for it the last ones. */
typedef struct ft_claim_cut {
    bool (*early)(void *context, const uint32_t item[2], uint32_t event);
    bool (*late)(void *context, const uint32_t item[2], uint32_t event);
    /* called in place of the visits; false: the walk ends there */
    bool (*left_out)(void *context, uint64_t claims);
    void *context;
} ft_claim_cut;

/* Calls visit for each surviving claim of the group until it returns false; always in the same
 * order. cut NULL: nothing is left out. */
typedef bool (*ft_claim_visit)(void *context, const ft_claim *claim);
void ft_candidates_each(const ft_candidates *candidates, const ft_group *group,
                        const ft_claim_cut *cut, ft_claim_visit visit, void *context);

/* ---- for the files of this folder and properties -----------------------------------------------
 */

/* Claims at the same locations that are refuted, or survive, together. */
typedef struct ft_claim_block {
    ft_check check;
    uint8_t kind;      /* as in ft_group */
    uint32_t loc[3];   /* in any order; FT_NO_LOC: unused or none */
    uint32_t n_locs;   /* used */
    uint32_t property; /* as in ft_group */
    ft_reason reason;  /* that refutes them; FT_REASONS: they survive */
    uint32_t lock;     /* that refutes them, else UINT32_MAX */
    uint64_t count;
    ft_block block;         /* which they are */
    const ft_claim *sample; /* one of them; borrowed */
} ft_claim_block;
/* Calls visit for the block's claims until it returns false. */
void ft_candidates_each_of_block(const ft_candidates *candidates, ft_check check,
                                 const ft_block *block, ft_claim_visit visit, void *context);
/* Accounts them to their group. Singles (per_event, or without location) become groups one by one.
 */
void ft_candidates_account(ft_candidates *candidates, const ft_claim_block *claims);
/* A claim beyond the limits. */
void ft_candidates_overflow(ft_candidates *candidates, ft_check check);
/* Two classes of different threads that the hard order leaves open. */
bool ft_candidates_open(const ft_candidates *candidates, const ft_class *a, const ft_class *b);
/* concurrent.c: the classes of a site with FT_MANY_CLASSES that the hard order leaves open to a
 * stretch of a thread, as slices of `threaded`, found without visiting each class. */
typedef struct ft_segments {
    uint32_t first, last;
    uint16_t thread;
} ft_segments;
typedef struct ft_open_slice {
    uint32_t first, end;
} ft_open_slice;
void ft_candidates_index_classes(ft_candidates *candidates);
/* The next slice behind *at (begin with the site's first), of another thread's classes; false:
 * there is none. */
bool ft_candidates_next_open(const ft_candidates *candidates, const ft_segments *stretch,
                             const ft_site *site, uint32_t *at, ft_open_slice *slice);
/* Events of the open classes, and of all those of other threads. */
uint64_t ft_candidates_open_events(const ft_candidates *candidates, const ft_segments *stretch,
                                   const ft_site *site);
uint64_t ft_candidates_other_events(const ft_candidates *candidates, const ft_segments *stretch,
                                    const ft_site *site);
/* triplets.c: adds those of the local pairs from first_pair on. */
void ft_candidates_match_remotes(ft_candidates *candidates, ft_check check, size_t first_pair,
                                 uint32_t property);
/* Is event e at a location that the job ignores, or an external write? Those are no candidates. */
bool ft_candidates_skipped(const ft_candidates *candidates, uint32_t e);

#endif
