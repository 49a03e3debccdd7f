#include "reduce/exclusion.h"

#include <stdlib.h>

#include "base/map.h"
#include "reduce/levels.h"

enum { LOCKS = 8, EVENTS_BACK = 64, SECTION_EVENTS = 64, MOST_CHANGES = 8, MOST_THREADS = 1024 };
#define ANYWHERE  UINT32_MAX                    /* to its end */
#define MOST_WORK ((uint64_t)400 * 1000 * 1000) /* events looked at for levels */
#define NO_LEVEL  UINT64_MAX

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

/* What each thread adds to a level. */
typedef struct sums {
    uint64_t initial;   /* bits */
    uint32_t *first;    /* [threads + 1] slices of the rest */
    uint32_t *position; /* of a change in its thread */
    int64_t *sum;       /* of the thread's changes up to this one */
    span *to;           /* of `sum`, and of 0 at first, up to here */
    span *from;         /* of `sum`, from here to the thread's end */
} sums;

struct ft_exclusion {
    const ft_problem *problem;
    const ft_trace *trace;
    const ft_order *order;
    bool idle;
    uint32_t *sections; /* exclusive ones by lock, thread, and place in it */
    size_t n_sections;
    ft_map level_of; /* lock, variable -> index in levels, NO_LEVEL */
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

typedef struct sorted {
    uint32_t lock, position, section;
    uint16_t thread;
} sorted;

static int by_lock(const void *left, const void *right)
{
    const sorted *a = left, *b = right;
    if (a->lock != b->lock) return a->lock < b->lock ? -1 : 1;
    if (a->thread != b->thread) return a->thread < b->thread ? -1 : 1;
    return (a->position > b->position) - (a->position < b->position);
}

static sorted sorted_of(const ft_exclusion *x, uint32_t section)
{
    const ft_section *s = &x->order->sections.data[section];
    return (sorted){s->lock, x->order->position[s->acquire], section, s->thread};
}

static void sort_sections(ft_exclusion *x)
{
    size_t n = x->order->sections.len;
    sorted *all = ft_alloc((n + 1) * sizeof *all);
    for (uint32_t i = 0; i < n; i++)
        if (!x->order->sections.data[i].shared) all[x->n_sections++] = sorted_of(x, i);
    qsort(all, x->n_sections, sizeof *all, by_lock);
    x->sections = ft_alloc((x->n_sections + 1) * sizeof *x->sections);
    for (size_t i = 0; i < x->n_sections; i++) x->sections[i] = all[i].section;
    free(all);
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
    x->forked_first[n] = at;
    free(all);
}

/* The last one that the thread has begun there, or NULL. */
static const ft_section *last_section(const ft_exclusion *x, uint32_t lock, const place *p)
{
    sorted key = {.lock = lock, .thread = (uint16_t)p->thread, .position = p->position};
    size_t low = 0, high = x->n_sections;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        sorted one = sorted_of(x, x->sections[middle]);
        if (by_lock(&one, &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0) return NULL;
    const ft_section *s = &x->order->sections.data[x->sections[low - 1]];
    return s->lock == lock && s->thread == p->thread ? s : NULL;
}

static bool is_open(const ft_exclusion *x, const ft_section *s, const place *p)
{
    return s->release == FT_NO_EVENT || x->order->position[s->release] >= p->position;
}

static uint32_t event_at(const ft_exclusion *x, uint32_t thread, uint32_t position)
{
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
        s->position[at] = x->order->position[c->event];
        s->sum[at] = c->after - c->before + (at > s->first[thread] ? s->sum[at - 1] : 0);
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
              .first = ft_calloc((size_t)x->order->n_threads + 1, sizeof *s.first),
              .position = ft_alloc(n * sizeof *s.position),
              .sum = ft_alloc(n * sizeof *s.sum),
              .to = ft_alloc(n * sizeof *s.to),
              .from = ft_alloc(n * sizeof *s.from)};
    place_changes(x, level, &s);
    for (uint32_t t = 0; t < x->order->n_threads; t++) find_spans(&s, t);
    return s;
}

static void keep_level(ft_exclusion *x, const ft_level *level)
{
    if (level->blind || level->changes.len == 0) return;
    ft_map_put(&x->level_of, (uint64_t)level->lock << 32 | level->variable, x->levels.len);
    ft_vec_push(&x->levels, sum_up(x, level));
}

/* Of the variables that the section accessed before its thread's place, those not looked at. */
static void add_unknown(ft_exclusion *x, const ft_section *s, const place *p, ft_levels *unknown)
{
    ft_access scratch;
    uint32_t count, from = x->order->position[s->acquire];
    for (uint32_t at = from; at < p->position && at - from < SECTION_EVENTS; at++) {
        uint32_t e = event_at(x, p->thread, at);
        if (e == s->release) break;
        const ft_access *accesses = ft_trace_accesses(x->trace, e, &scratch, &count);
        for (uint32_t i = 0; i < count && unknown->n < FT_LEVELS_MOST; i++) {
            uint32_t variable = accesses[i].variable;
            bool fresh;
            ft_map_slot(&x->level_of, (uint64_t)s->lock << 32 | variable, NO_LEVEL, &fresh);
            if (fresh)
                unknown->all[unknown->n++] = (ft_level){.variable = variable, .lock = s->lock};
        }
    }
}

/* Once for each lock: its variables differ. */
static void learn(ft_exclusion *x, const ft_section *a, const place *at_a, const ft_section *b,
                  const place *at_b)
{
    ft_levels unknown = {.n = 0};
    if (x->work > MOST_WORK) return;
    if (a) add_unknown(x, a, at_a, &unknown);
    if (b) add_unknown(x, b, at_b, &unknown);
    if (unknown.n == 0) return;
    x->work += 2 * (uint64_t)x->trace->n_events;
    ft_levels_follow(&unknown, x->problem);
    for (uint32_t i = 0; i < unknown.n; i++) keep_level(x, &unknown.all[i]);
    ft_levels_release(&unknown);
}

/* ---- what threads have added ----------------------------------------------------------------- */

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

/* Does the access in the section say that the other thread was not there? The level right after it
 * is the sum of what all have added. */
static bool access_excludes(ft_exclusion *x, const ft_section *section, uint32_t e, uint32_t i,
                            uint32_t variable, const stretch *other)
{
    const ft_order *order = x->order;
    const uint32_t *before =
        order->clock + (size_t)order->segment[section->acquire] * order->n_threads;
    uint32_t behind = order->position[e] + 1;
    uint64_t level;
    ft_vid vid = ft_run_vid(x->problem->run, e, i);
    if (!ft_map_get(&x->level_of, (uint64_t)section->lock << 32 | variable, &level) ||
        level == NO_LEVEL || !FT_VID_IS_KNOWN(vid))
        return false;
    const sums *s = &x->levels.data[level];
    int64_t found = (int64_t)(ft_run_value(x->problem->run, vid).bits - s->initial);
    stretch mine = {section->thread, behind, behind};
    if (before[other->thread] > other->to) return true;
    span all = added_by_all(x, s, &mine, other, before);
    return found < all.low || found > all.high;
}

/* Does the variable have that value behind the event? */
static bool is_last_access(const ft_exclusion *x, uint32_t e, const ft_access *access)
{
    return access->write || ft_run_find_access(x->trace, e, access->variable, true) == UINT32_MAX;
}

static bool section_excludes(ft_exclusion *x, const ft_section *s, const place *mine,
                             const stretch *other)
{
    ft_access scratch;
    uint32_t count, from = x->order->position[s->acquire];
    for (uint32_t at = from; at < mine->position && at - from < SECTION_EVENTS; at++) {
        uint32_t e = event_at(x, mine->thread, at);
        if (e == s->release) break;
        const ft_access *accesses = ft_trace_accesses(x->trace, e, &scratch, &count);
        for (uint32_t i = 0; i < count; i++)
            if (is_last_access(x, e, &accesses[i]) &&
                access_excludes(x, s, e, i, accesses[i].variable, other))
                return true;
    }
    return false;
}

/* Cannot `first` (NULL: its thread was in none) come before `second`, the last sections of the lock
 * that the threads were in when they came to these places? */
static bool is_impossible(ft_exclusion *x, const ft_section *first, const place *its,
                          const ft_section *second, const place *at)
{
    const uint32_t *position = x->order->position;
    stretch since = {its->thread, its->position, its->to};
    stretch until = {at->thread, 0, position[second->acquire]};
    if (first && its->to != ANYWHERE && is_open(x, first, its)) return true;
    return section_excludes(x, second, at, &since) ||
           (first && section_excludes(x, first, its, &until));
}

static bool lock_excludes(ft_exclusion *x, uint32_t lock, const place *a, const place *b)
{
    const ft_section *sa = last_section(x, lock, a), *sb = last_section(x, lock, b);
    if (!sa && !sb) return false;
    learn(x, sa, a, sb, b);
    return (!sa || is_impossible(x, sb, b, sa, a)) && (!sb || is_impossible(x, sa, a, sb, b));
}

static void add_lock(uint32_t *locks, uint32_t *n, uint32_t lock)
{
    for (uint32_t i = 0; i < *n; i++)
        if (locks[i] == lock) return;
    if (*n < LOCKS) locks[(*n)++] = lock;
}

/* Of the thread's sections around and shortly before the place. */
static void add_locks(const ft_exclusion *x, const place *p, uint32_t *locks, uint32_t *n)
{
    const ft_order *order = x->order;
    ft_hold hold = order->holds.data[order->hold[event_at(x, p->thread, p->position)]];
    for (uint32_t i = 0; i < hold.count; i++)
        add_lock(locks, n, order->sections.data[order->hold_sections.data[hold.first + i]].lock);
    for (uint32_t back = 1; back <= EVENTS_BACK && back <= p->position; back++) {
        uint32_t section = order->section_of[event_at(x, p->thread, p->position - back)];
        if (section != FT_NO_SECTION) add_lock(locks, n, order->sections.data[section].lock);
    }
}

static bool pair_excluded(ft_exclusion *x, const place *a, const place *b)
{
    uint32_t locks[LOCKS], n = 0;
    if (a->thread == b->thread) return false;
    add_locks(x, a, locks, &n);
    add_locks(x, b, locks, &n);
    for (uint32_t i = 0; i < n; i++)
        if (lock_excludes(x, locks[i], a, b)) return true;
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
    static bool (*const RULES[FT_CLAIM_KINDS])(ft_exclusion *, const ft_claim *) = {
        [FT_CLAIM_RACE] = all_next,         [FT_CLAIM_CO_ENABLED] = all_next,
        [FT_CLAIM_DEADLOCK] = all_next,     [FT_CLAIM_ATOMICITY] = between,
        [FT_CLAIM_AFTER_FREE] = after_free,
    };
    return !x->idle && RULES[claim->kind] && RULES[claim->kind](x, claim);
}

ft_exclusion *ft_exclusion_new(const ft_problem *problem)
{
    const ft_trace *trace = problem->trace;
    ft_exclusion *x = ft_calloc(1, sizeof *x);
    *x = (ft_exclusion){.problem = problem,
                        .trace = trace,
                        .order = problem->order,
                        .idle = !problem->run || trace->n_paths > 0 ||
                                problem->order->n_threads > MOST_THREADS ||
                                trace->broken != FT_NO_EVENT || !ft_problem_follows_run(problem)};
    if (x->idle) return x;
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
    free(x->sections);
    free(x->children_first);
    free(x->forked_first);
    free(x->forked);
    free(x->added);
    free(x);
}
