#include "proofs/exclusion.h"

#include <stdlib.h>

#include "base/contract.h"
#include "base/map.h"
#include "proofs/levels.h"
#include "proofs/tokens.h"

enum { KEYS = 8, EVENTS_BACK = 64, SECTION_EVENTS = 64, MOST_CHANGES = 8, MOST_THREADS = 1024 };
#define ANYWHERE     UINT32_MAX                    /* to its end */
#define MOST_WORK    ((uint64_t)400 * 1000 * 1000) /* events looked at for levels */
#define MOST_ATOMICS 4000000u                      /* of 20 bytes each */
#define NO_LEVEL     UINT64_MAX

typedef struct span {
    int64_t low, high;
} span;

/* A thread is next somewhere from here to there. */
typedef struct stretch {
    uint32_t thread, from, to;
} stretch;

static void include(span *all, int64_t value)
{
    if (value < all->low) all->low = value;
    if (value > all->high) all->high = value;
}

/* The amounts that each thread adds to a level. */
typedef struct sums {
    uint64_t initial;   /* bits */
    uint32_t leading;   /* levels.h */
    uint32_t *first;    /* [threads + 1] slices of the rest */
    uint32_t *position; /* of a change in its thread */
    int64_t *sum;       /* of the thread's changes up to this one */
    span *to;           /* of `sum`, and of 0 at first, up to here */
    span *from;         /* of `sum`, from here to the thread's end */
    ft_map left;        /* values, from the initial one on, that a change finds and leaves */
} sums;

/* Of a lock, or one atomic access. */
typedef struct section {
    uint32_t key, thread;
    uint32_t first;      /* event */
    uint32_t begin, end; /* positions; the end may be the thread's own */
} section;

struct ft_exclusion {
    const ft_problem *problem;
    const ft_trace *trace;
    const ft_order *order;
    bool idle;
    ft_tokens *tokens;        /* NULL: there are no semaphores */
    FT_VEC(section) sections; /* exclusive ones, by key, thread, and place in it */
    ft_map level_of;          /* key, variable -> index in levels, NO_LEVEL */
    FT_VEC(sums) levels;
    uint32_t *children_first;        /* [threads] each behind those that it forks */
    uint32_t *forked_first, *forked; /* [threads + 1] slices: threads that it forks */
    span *added;                     /* [threads] with all that it forks, for the time being */
    uint64_t work;
};

/* Where one of the claim's threads is. */
typedef struct place {
    uint32_t thread, position; /* of the event that it is next at */
    uint32_t to; /* or of one up to here, with no lock taken or given back in between; ANYWHERE: or
                    of any one behind it */
} place;

/* ---- sections -------------------------------------------------------------------------------- */

/* A key is a lock's number or, for the section that an atomic access is, the number of locks plus
 * the variable's. */
static int by_key(const void *left, const void *right)
{
    const section *a = left, *b = right;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    if (a->thread != b->thread) return a->thread < b->thread ? -1 : 1;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

static bool is_atomic(const ft_exclusion *x, uint32_t e)
{
    return ft_event_kind_object(x->trace->kind[e]) == FT_OBJECT_VARIABLE &&
           (x->trace->flags[e] & FT_FLAG_ATOMIC);
}

static uint32_t key_of_atomic(const ft_exclusion *x, uint32_t e)
{
    return (uint32_t)x->trace->locks.len + x->trace->object[e];
}

static void add_section(ft_exclusion *x, const ft_section *its)
{
    const uint32_t *position = x->order->position;
    uint32_t end = its->release == FT_NO_EVENT ? UINT32_MAX : position[its->release];
    section one = {its->lock, its->thread, its->acquire, position[its->acquire], end};
    if (!its->shared) ft_vec_push(&x->sections, one);
}

static void add_atomic(ft_exclusion *x, uint32_t e)
{
    uint32_t position = x->order->position[e];
    section one = {key_of_atomic(x, e), x->trace->thread[e], e, position, position};
    ft_vec_push(&x->sections, one);
}

/* Atomic accesses are sections all of them, or none where they are too many. */
static bool are_few_atomics(const ft_exclusion *x)
{
    uint32_t n = 0;
    for (uint32_t e = 0; e < x->trace->n_events; e++) n += is_atomic(x, e);
    return n <= MOST_ATOMICS;
}

static void sort_sections(ft_exclusion *x)
{
    for (size_t i = 0; i < x->order->sections.len; i++) add_section(x, &x->order->sections.data[i]);
    bool few = are_few_atomics(x);
    for (uint32_t e = 0; few && e < x->trace->n_events; e++)
        if (is_atomic(x, e)) add_atomic(x, e);
    if (x->sections.len) qsort(x->sections.data, x->sections.len, sizeof(section), by_key);
}

static uint32_t parent_of(const ft_exclusion *x, uint32_t thread)
{
    uint32_t fork = x->order->fork_of[thread];
    return fork == FT_NO_EVENT ? x->order->n_threads : x->trace->thread[fork];
}

typedef struct created {
    uint32_t fork, thread;
} created;

/* A fork comes behind that of its thread in the run; threads without one come last. */
static int by_fork(const void *left, const void *right)
{
    const created *a = left, *b = right;
    bool none = a->fork == FT_NO_EVENT;
    if (none != (b->fork == FT_NO_EVENT)) return none ? 1 : -1;
    return (a->fork < b->fork) - (a->fork > b->fork);
}

static void sort_threads(ft_exclusion *x)
{
    uint32_t n = x->order->n_threads, at = 0;
    created *all = ft_alloc(((size_t)n + 1) * sizeof *all);
    for (uint32_t t = 0; t < n; t++) all[t] = (created){x->order->fork_of[t], t};
    qsort(all, n, sizeof *all, by_fork);
    x->children_first = ft_alloc(((size_t)n + 1) * sizeof *x->children_first);
    x->forked_first = ft_alloc(((size_t)n + 1) * sizeof *x->forked_first);
    x->forked = ft_alloc(((size_t)n + 1) * sizeof *x->forked);
    for (uint32_t t = 0; t < n; t++) x->children_first[t] = all[t].thread;
    for (uint32_t t = 0; t < n; t++) {
        x->forked_first[t] = at;
        for (uint32_t child = 0; child < n; child++)
            if (parent_of(x, child) == t) x->forked[at++] = child;
    }
    assert(at <= n);
    x->forked_first[n] = at;
    free(all);
}

/* The last one that the thread has begun there, or NULL. */
static const section *last_section(const ft_exclusion *x, uint32_t key, const place *p)
{
    section want = {.key = key, .thread = p->thread, .begin = p->position};
    size_t low = 0, high = x->sections.len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_key(&x->sections.data[middle], &want) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0) return NULL;
    const section *s = &x->sections.data[low - 1];
    return s->key == key && s->thread == p->thread ? s : NULL;
}

static bool is_open(const section *s, const place *p)
{
    return s->begin < s->end && s->end >= p->position;
}

static uint32_t event_at(const ft_exclusion *x, uint32_t thread, uint32_t position)
{
    assert(x->order->thread_start[thread] + position < x->order->thread_start[thread + 1]);
    return x->order->thread_events[x->order->thread_start[thread] + position];
}

/* ---- levels ---------------------------------------------------------------------------------- */

static void release_sums(sums *s)
{
    free(s->first);
    free(s->position);
    free(s->sum);
    free(s->to);
    free(s->from);
    ft_map_release(&s->left);
}

/* Slices by thread; within them the changes stay in their order. */
static void place_changes(const ft_exclusion *x, const ft_level *level, sums *s)
{
    uint32_t threads = x->order->n_threads, *next = ft_calloc((size_t)threads + 1, sizeof *next);
    for (size_t i = 0; i < level->changes.len; i++)
        s->first[x->trace->thread[level->changes.data[i].event] + 1]++;
    for (uint32_t t = 0; t < threads; t++) s->first[t + 1] += s->first[t];
    for (size_t i = 0; i < level->changes.len; i++) {
        const ft_level_change *c = &level->changes.data[i];
        uint32_t thread = x->trace->thread[c->event], at = s->first[thread] + next[thread]++;
        assert(at < s->first[thread + 1]);
        s->position[at] = x->order->position[c->event];
        assert(at == s->first[thread] || s->position[at - 1] <= s->position[at]);
        s->sum[at] = c->after - c->before + (at > s->first[thread] ? s->sum[at - 1] : 0);
        if (c->after != c->before) ft_map_put(&s->left, (uint64_t)c->before, 0);
    }
    free(next);
}

static void find_spans(const sums *s, uint32_t thread)
{
    span all = {0, 0};
    uint32_t first = s->first[thread], end = s->first[thread + 1];
    for (uint32_t i = first; i < end; i++) {
        include(&all, s->sum[i]);
        s->to[i] = all;
    }
    for (uint32_t i = end; i-- > first;) {
        if (i + 1 == end) all = (span){s->sum[i], s->sum[i]};
        include(&all, s->sum[i]);
        s->from[i] = all;
    }
}

static sums sum_up(const ft_exclusion *x, const ft_level *level)
{
    size_t n = level->changes.len;
    sums s = {.initial = level->initial,
              .leading = level->leading,
              .first = ft_calloc((size_t)x->order->n_threads + 1, sizeof *s.first),
              .position = ft_alloc(n * sizeof *s.position),
              .sum = ft_alloc(n * sizeof *s.sum),
              .to = ft_alloc(n * sizeof *s.to),
              .from = ft_alloc(n * sizeof *s.from)};
    place_changes(x, level, &s);
    for (uint32_t t = 0; t < x->order->n_threads; t++) find_spans(&s, t);
    return s;
}

static uint64_t level_key(uint32_t key, uint32_t variable)
{
    return (uint64_t)key << 32 | variable;
}

static void keep_level(ft_exclusion *x, uint32_t key, const ft_level *level)
{
    if (level->blind || level->changes.len == 0) return;
    FT_REQUIRE(key < x->trace->locks.len + x->trace->shared.len);
    ft_map_put(&x->level_of, level_key(key, level->variable), x->levels.len);
    ft_vec_push(&x->levels, sum_up(x, level));
}

/* The position after the section's last event that is examined, at most the thread's place. */
static uint32_t end_of(const section *s, const place *p)
{
    uint32_t end = s->end == s->begin ? s->end + 1 : s->end;
    if (end > p->position) end = p->position;
    return end - s->begin > SECTION_EVENTS ? s->begin + SECTION_EVENTS : end;
}

/* Of the variables that the section accessed before its thread's place, those not looked at. */
static void add_unknown(ft_exclusion *x, const section *s, const place *p, ft_levels *unknown)
{
    ft_access scratch;
    uint32_t count;
    uint32_t lock = s->key < x->trace->locks.len ? s->key : FT_LEVEL_ATOMIC;
    for (uint32_t at = s->begin; at < end_of(s, p); at++) {
        const ft_access *accesses =
            ft_trace_accesses(x->trace, event_at(x, s->thread, at), &scratch, &count);
        for (uint32_t i = 0; i < count && unknown->n < FT_LEVELS_MOST; i++) {
            uint32_t variable = accesses[i].variable;
            bool fresh;
            ft_map_slot(&x->level_of, level_key(s->key, variable), NO_LEVEL, &fresh);
            if (fresh) unknown->all[unknown->n++] = (ft_level){.variable = variable, .lock = lock};
        }
    }
}

/* Once for each key: its variables differ. */
static void learn(ft_exclusion *x, uint32_t key, const section *a, const place *at_a,
                  const section *b, const place *at_b)
{
    ft_levels unknown = {.n = 0};
    if (x->work > MOST_WORK) return;
    if (a) add_unknown(x, a, at_a, &unknown);
    if (b) add_unknown(x, b, at_b, &unknown);
    if (unknown.n == 0) return;
    x->work += 2 * (uint64_t)x->trace->n_events;
    ft_levels_follow(&unknown, x->problem);
    for (uint32_t i = 0; i < unknown.n; i++) keep_level(x, key, &unknown.all[i]);
    ft_levels_release(&unknown);
}

/* ---- sums of the threads ----------------------------------------------------------------- */

static span plus(span a, span b)
{
    return (span){a.low + b.low, a.high + b.high};
}

/* The thread's first change at the position or behind it. */
static uint32_t change_from(const sums *s, uint32_t thread, uint32_t position)
{
    uint32_t low = s->first[thread], high = s->first[thread + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->position[middle] < position)
            low = middle + 1;
        else
            high = middle;
    }
    assert(low >= s->first[thread] && low <= s->first[thread + 1]);
    return low;
}

/* Of long stretches: never less than what the thread adds somewhere on it. */
static span added_on_long(const sums *s, uint32_t next, uint32_t end, int64_t now)
{
    span since = s->from[next], until = s->to[end - 1];
    include(&since, now);
    return (span){since.low > until.low ? since.low : until.low,
                  since.high < until.high ? since.high : until.high};
}

/* By threads that this one forks before the position, with all that those fork. */
static span added_by_forked(const ft_exclusion *x, uint32_t thread, uint32_t position)
{
    span all = {0, 0};
    for (uint32_t i = x->forked_first[thread]; i < x->forked_first[thread + 1]; i++) {
        uint32_t child = x->forked[i];
        if (x->order->position[x->order->fork_of[child]] >= position) continue;
        all = plus(all, x->added[child]);
    }
    return all;
}

/* By the thread and all that it forks, over the places between one change and the next: what it has
 * not yet forked has added nothing. */
static span added_with_forked(const ft_exclusion *x, const sums *s, const stretch *where)
{
    uint32_t thread = where->thread, next = change_from(s, thread, where->from);
    uint32_t end = where->to == ANYWHERE ? s->first[thread + 1] : change_from(s, thread, where->to);
    int64_t now = next > s->first[thread] ? s->sum[next - 1] : 0;
    span all = {INT64_MAX, INT64_MIN};
    if (end > next + MOST_CHANGES)
        return plus(added_on_long(s, next, end, now), added_by_forked(x, thread, ANYWHERE));
    for (uint32_t i = next; i <= end; i++) {
        uint32_t until = i < end ? s->position[i] : where->to;
        span others = added_by_forked(x, thread, until);
        include(&all, now + others.low);
        include(&all, now + others.high);
        if (i < end) now = s->sum[i];
    }
    assert(all.low <= all.high);
    return all;
}

/* By all threads, while this section goes on; the other one's thread is where it is. */
static span added_by_all(ft_exclusion *x, const sums *s, const stretch *mine, const stretch *other,
                         const uint32_t *before)
{
    span all = {0, 0};
    for (uint32_t i = 0; i < x->order->n_threads; i++) {
        uint32_t t = x->children_first[i];
        stretch where = {.thread = t, .from = before[t], .to = ANYWHERE};
        if (t == other->thread) where = *other;
        if (where.from < before[t]) where.from = before[t];
        if (t == mine->thread) where = *mine;
        x->added[t] = added_with_forked(x, s, &where);
        if (x->order->fork_of[t] == FT_NO_EVENT) all = plus(all, x->added[t]);
    }
    return all;
}

/* ---- claims ---------------------------------------------------------------------------------- */

/* The level of the access's variable under that key, and the value that the access found or left;
 * NULL: none. */
static const sums *found_by(const ft_exclusion *x, uint32_t key, uint32_t e, uint32_t i,
                            uint32_t variable, int64_t *found)
{
    uint64_t level;
    ft_vid vid = ft_run_vid(x->problem->run, e, i);
    if (!ft_map_get(&x->level_of, level_key(key, variable), &level) || level == NO_LEVEL ||
        !FT_VID_IS_KNOWN(vid))
        return NULL;
    const sums *s = &x->levels.data[level];
    if (s->leading != FT_NO_EVENT && e <= s->leading) return NULL;
    *found = (int64_t)(ft_run_value(x->problem->run, vid).bits - s->initial);
    return s;
}

/* Does the value of the access show that the other thread was not there? The level right after it
 * is the sum of the amounts that all threads have added. */
static bool access_excludes(ft_exclusion *x, const section *mine, uint32_t e, uint32_t i,
                            uint32_t variable, const stretch *other)
{
    const ft_order *order = x->order;
    const uint32_t *before = order->clock + (size_t)order->segment[mine->first] * order->n_threads;
    uint32_t behind = order->position[e] + 1;
    int64_t found;
    const sums *s = found_by(x, mine->key, e, i, variable, &found);
    if (!s) return false;
    stretch me = {mine->thread, behind, behind};
    if (before[other->thread] > other->to) return true;
    span all = added_by_all(x, s, &me, other, before);
    return found < all.low || found > all.high;
}

/* Does the variable have that value behind the event? */
static bool is_last_access(const ft_exclusion *x, uint32_t e, const ft_access *access)
{
    return access->write || ft_run_find_access(x->trace, e, access->variable, true) == UINT32_MAX;
}

static bool section_excludes(ft_exclusion *x, const section *s, const place *mine,
                             const stretch *other)
{
    ft_access scratch;
    uint32_t count;
    for (uint32_t at = s->begin; at < end_of(s, mine); at++) {
        uint32_t e = event_at(x, s->thread, at);
        const ft_access *accesses = ft_trace_accesses(x->trace, e, &scratch, &count);
        for (uint32_t i = 0; i < count; i++)
            if (is_last_access(x, e, &accesses[i]) &&
                access_excludes(x, s, e, i, accesses[i].variable, other))
                return true;
    }
    return false;
}

/* The first read of the variable in the section; false: there is none, or the level was that. */
static bool finds_other(const ft_exclusion *x, const section *s, const place *mine,
                        uint32_t variable, int64_t level)
{
    ft_access scratch;
    uint32_t count;
    int64_t found;
    for (uint32_t at = s->begin; at < end_of(s, mine); at++) {
        uint32_t e = event_at(x, s->thread, at);
        const ft_access *accesses = ft_trace_accesses(x->trace, e, &scratch, &count);
        for (uint32_t i = 0; i < count; i++)
            if (accesses[i].variable == variable)
                return !accesses[i].write && found_by(x, s->key, e, i, variable, &found) &&
                       found != level;
    }
    return false;
}

/* Does `first` leave a level that no change finds, so that it stays (references that came to 0),
 * and `second` finds another one? */
static bool stays(const ft_exclusion *x, const section *first, const place *its,
                  const section *second, const place *at)
{
    ft_access scratch;
    uint32_t count;
    int64_t left;
    for (uint32_t p = first->begin; p < end_of(first, its); p++) {
        uint32_t e = event_at(x, first->thread, p);
        const ft_access *accesses = ft_trace_accesses(x->trace, e, &scratch, &count);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t variable = accesses[i].variable;
            const sums *s = found_by(x, first->key, e, i, variable, &left);
            if (s && is_last_access(x, e, &accesses[i]) &&
                !ft_map_get(&s->left, (uint64_t)left, NULL) &&
                finds_other(x, second, at, variable, left))
                return true;
        }
    }
    return false;
}

/* Cannot `first` (NULL: its thread was in none) come before `second`, the last sections of the key
 * that the threads were in when they came to these places? */
static bool is_impossible(ft_exclusion *x, const section *first, const place *its,
                          const section *second, const place *at)
{
    stretch since = {its->thread, its->position, its->to};
    stretch until = {at->thread, 0, second->begin};
    if (first && its->to != ANYWHERE && is_open(first, its)) return true;
    return section_excludes(x, second, at, &since) ||
           (first && (section_excludes(x, first, its, &until) || stays(x, first, its, second, at)));
}

static bool key_excludes(ft_exclusion *x, uint32_t key, const place *a, const place *b)
{
    const section *sa = last_section(x, key, a), *sb = last_section(x, key, b);
    if (!sa && !sb) return false;
    learn(x, key, sa, a, sb, b);
    return (!sa || is_impossible(x, sb, b, sa, a)) && (!sb || is_impossible(x, sa, a, sb, b));
}

static void add_key(uint32_t *keys, uint32_t *n, uint32_t key)
{
    for (uint32_t i = 0; i < *n; i++)
        if (keys[i] == key) return;
    if (*n < KEYS) keys[(*n)++] = key;
}

/* Of the thread's sections around and shortly before the place. */
static void add_keys(const ft_exclusion *x, const place *p, uint32_t *keys, uint32_t *n)
{
    const ft_order *order = x->order;
    ft_hold hold = order->holds.data[order->hold[event_at(x, p->thread, p->position)]];
    for (uint32_t i = 0; i < hold.count; i++)
        add_key(keys, n, order->sections.data[order->hold_sections.data[hold.first + i]].lock);
    for (uint32_t back = 1; back <= EVENTS_BACK && back <= p->position; back++) {
        uint32_t e = event_at(x, p->thread, p->position - back), its = order->section_of[e];
        if (its != FT_NO_SECTION) add_key(keys, n, order->sections.data[its].lock);
        if (is_atomic(x, e)) add_key(keys, n, key_of_atomic(x, e));
    }
}

static bool pair_excluded(ft_exclusion *x, const place *a, const place *b)
{
    uint32_t keys[KEYS], n = 0;
    if (a->thread == b->thread) return false;
    assert(a->position <= a->to && b->position <= b->to);
    ft_tokens_place first = {a->thread, a->position, a->to};
    ft_tokens_place second = {b->thread, b->position, b->to};
    if (x->tokens && ft_tokens_exclude(x->tokens, &first, &second)) return true;
    add_keys(x, a, keys, &n);
    add_keys(x, b, keys, &n);
    for (uint32_t i = 0; i < n; i++)
        if (key_excludes(x, keys[i], a, b)) return true;
    return false;
}

static place next_at(const ft_exclusion *x, uint32_t e)
{
    uint32_t position = x->order->position[e];
    return (place){x->trace->thread[e], position, position};
}

static bool all_next(ft_exclusion *x, const ft_claim *claim)
{
    for (uint32_t i = 0; i < ft_claim_events(claim); i++)
        for (uint32_t k = 0; k < i; k++) {
            place a = next_at(x, claim->events[i]), b = next_at(x, claim->events[k]);
            if (pair_excluded(x, &a, &b)) return true;
        }
    return false;
}

/* The other thread's access comes while this one is somewhere behind its first. */
static bool between(ft_exclusion *x, const ft_claim *claim)
{
    place behind = next_at(x, claim->events[0]), other = next_at(x, claim->events[1]);
    behind.to = x->order->position[claim->events[2]];
    if (behind.to - behind.position > EVENTS_BACK) return false;
    for (uint32_t at = behind.position; at < behind.to; at++)
        if (x->order->section_of[event_at(x, behind.thread, at)] != FT_NO_SECTION) return false;
    behind.position++;
    return pair_excluded(x, &behind, &other);
}

static bool after_free(ft_exclusion *x, const ft_claim *claim)
{
    place freed = next_at(x, claim->events[0]), next = next_at(x, claim->events[1]);
    freed.to = ANYWHERE;
    return pair_excluded(x, &freed, &next);
}

bool ft_exclusion_refutes(ft_exclusion *x, const ft_claim *claim)
{
    FT_REQUIRE(x && claim && (unsigned)claim->kind < FT_CLAIM_KINDS);
    static bool (*const RULES[FT_CLAIM_KINDS])(ft_exclusion *, const ft_claim *) = {
        [FT_CLAIM_RACE] = all_next,         [FT_CLAIM_CO_ENABLED] = all_next,
        [FT_CLAIM_DEADLOCK] = all_next,     [FT_CLAIM_ATOMICITY] = between,
        [FT_CLAIM_AFTER_FREE] = after_free,
    };
    return !x->idle && RULES[claim->kind] && RULES[claim->kind](x, claim);
}

ft_exclusion *ft_exclusion_new(const ft_problem *problem)
{
    FT_REQUIRE(problem);
    const ft_trace *trace = problem->trace;
    ft_exclusion *x = ft_calloc(1, sizeof *x);
    *x = (ft_exclusion){.problem = problem,
                        .trace = trace,
                        .order = problem->order,
                        .idle = !problem->run || trace->n_paths > 0 ||
                                problem->order->n_threads > MOST_THREADS ||
                                trace->broken != FT_NO_EVENT || !ft_problem_follows_run(problem)};
    if (x->idle) return x;
    x->tokens = ft_tokens_new(trace, problem->order);
    sort_sections(x);
    sort_threads(x);
    x->added = ft_calloc((size_t)x->order->n_threads + 1, sizeof *x->added);
    return x;
}

void ft_exclusion_free(ft_exclusion *x)
{
    if (!x) return;
    for (size_t i = 0; i < x->levels.len; i++) release_sums(&x->levels.data[i]);
    ft_vec_release(&x->levels);
    ft_map_release(&x->level_of);
    ft_vec_release(&x->sections);
    ft_tokens_free(x->tokens);
    free(x->children_first);
    free(x->forked_first);
    free(x->forked);
    free(x->added);
    free(x);
}
