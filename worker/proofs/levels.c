#include "proofs/levels.h"

#include <stdlib.h>

#include "base/contract.h"

enum { ACCESSES_BEFORE = 8, EVENTS_BEFORE = 32, MOST_THREADS = 4096 };
#define MOST_SUM                                                                                   \
    ((int64_t)1 << 58) /* of the threads' sums, so that a few of these can be added                \
                        */

/* The value of a variable that a thread has seen, and the section in which it saw it. */
typedef struct known {
    uint32_t section;
    uint64_t bits;
} known;

#define SEVERAL UINT32_MAX /* threads */

typedef struct finder {
    ft_levels *levels;
    const ft_problem *problem;
    const ft_trace *trace;
    const ft_order *order;
    known *known;                /* [levels * threads] */
    bool begun[FT_LEVELS_MOST];  /* a section of the lock has accessed it */
    bool broken[FT_LEVELS_MOST]; /* it is not a level */
    bool told[FT_LEVELS_MOST];   /* `initial` is known */
    uint64_t initial[FT_LEVELS_MOST];
    uint64_t latest[FT_LEVELS_MOST];  /* written in a section */
    uint32_t leading[FT_LEVELS_MOST]; /* writes up to this one come before all other accesses */
    bool led[FT_LEVELS_MOST];         /* it is known which one this is, FT_NO_EVENT: none */
    uint32_t outside[FT_LEVELS_MOST]; /* last write or alloc outside of the lock, FT_NO_EVENT */
    ft_map level_of;                  /* variable -> level */
} finder;

/* ---- which variables ------------------------------------------------------------------------- */

static uint32_t before_in_thread(const ft_order *order, uint32_t e)
{
    return e == FT_NO_EVENT ? e : ft_order_previous(order, e);
}

/* The lock that the cond-wait releases. */
static uint32_t lock_of(const finder *f, uint32_t wait)
{
    uint32_t release = ft_order_next(f->order, wait), section;
    if (release == FT_NO_EVENT || f->trace->kind[release] != FT_EVENT_RELEASE) return UINT32_MAX;
    section = f->order->section_of[release];
    if (!(f->trace->flags[release] & FT_FLAG_CONDITION) || section == FT_NO_SECTION ||
        f->order->sections.data[section].shared)
        return UINT32_MAX;
    return f->trace->object[release];
}

static void add_level(finder *f, uint32_t variable, uint32_t lock)
{
    ft_levels *levels = f->levels;
    bool fresh;
    if (levels->n == FT_LEVELS_MOST) return;
    ft_map_slot(&f->level_of, variable, levels->n, &fresh);
    if (fresh) levels->all[levels->n++] = (ft_level){.variable = variable, .lock = lock};
}

/* Adds the variables that the wait's section accessed last before the wait. */
static void add_levels_of(finder *f, uint32_t wait, uint32_t lock)
{
    ft_access scratch;
    uint32_t count, looked = 0, section = ft_order_section_at(f->order, wait, lock);
    if (section == FT_NO_SECTION) return;
    uint32_t acquire = f->order->sections.data[section].acquire, e = wait;
    for (uint32_t back = 0; back < EVENTS_BEFORE && looked < ACCESSES_BEFORE; back++) {
        e = before_in_thread(f->order, e);
        if (e == FT_NO_EVENT || e == acquire) break;
        const ft_access *accesses = ft_trace_accesses(f->trace, e, &scratch, &count);
        for (uint32_t i = 0; i < count; i++, looked++) add_level(f, accesses[i].variable, lock);
    }
}

static void find_waits(finder *f)
{
    for (uint32_t e = 0; e < f->trace->n_events; e++) {
        if (f->trace->kind[e] != FT_EVENT_COND_WAIT) continue;
        ft_level_wait wait = {.event = e, .condition = f->trace->object[e], .lock = lock_of(f, e)};
        ft_vec_push(&f->levels->waits, wait);
        if (wait.lock != UINT32_MAX) add_levels_of(f, e, wait.lock);
    }
}

/* ---- accesses in sections -------------------------------------------------------------- */

static known *known_at(const finder *f, uint32_t level, uint32_t thread)
{
    assert(level < f->levels->n && thread < f->order->n_threads);
    return &f->known[(size_t)level * f->order->n_threads + thread];
}

/* Writes without the lock are the variable's initialisation: all of them come before all sections
 * that access it, whatever the schedule. */
static bool is_initialised(finder *f, uint32_t level, uint32_t e)
{
    uint32_t outside = f->outside[level];
    return outside == FT_NO_EVENT || ft_order_before(f->order, outside, e) ||
           f->trace->thread[outside] == f->trace->thread[e];
}

static void tell_initial(finder *f, uint32_t level, ft_vid vid)
{
    f->told[level] = FT_VID_IS_KNOWN(vid);
    if (f->told[level]) f->initial[level] = ft_run_value(f->problem->run, vid).bits;
}

static void write_outside(finder *f, uint32_t level, uint32_t e, ft_vid vid)
{
    uint32_t last = f->outside[level];
    bool ordered = last == FT_NO_EVENT || ft_order_before(f->order, last, e);
    if (f->begun[level] || !ordered) f->broken[level] = true;
    f->outside[level] = e;
    tell_initial(f, level, vid);
}

static void begin(finder *f, uint32_t level, bool write, ft_vid vid)
{
    if (f->begun[level]) return;
    f->begun[level] = true;
    if (!write && !f->told[level]) tell_initial(f, level, vid);
    f->latest[level] = f->initial[level];
}

/* The bits as they are; count_all counts them from the first ones. */
static void change(finder *f, uint32_t level, uint32_t e, uint32_t section, uint64_t after)
{
    uint32_t thread = f->trace->thread[e];
    const known *k = known_at(f, level, thread);
    bool read = k->section == section, been = k->section != FT_NO_SECTION;
    ft_level_change one = {.event = e,
                           .blind = !read,
                           .memory = (int64_t)(been ? k->bits : f->initial[level]),
                           .before = (int64_t)(read ? k->bits : f->latest[level]),
                           .after = (int64_t)after};
    f->levels->all[level].blind |= one.blind;
    assert(!f->levels->all[level].changes.len ||
           f->levels->all[level].changes.data[f->levels->all[level].changes.len - 1].event <= e);
    ft_vec_push(&f->levels->all[level].changes, one);
    f->latest[level] = after;
}

static void access_inside(finder *f, uint32_t level, uint32_t e, uint32_t i, bool write,
                          uint32_t section)
{
    ft_vid vid = ft_run_vid(f->problem->run, e, i);
    bool certain = FT_VID_IS_KNOWN(vid) && ft_problem_has_value(f->problem, e, i, write);
    if (!certain || !is_initialised(f, level, e)) {
        f->broken[level] = true;
        return;
    }
    uint64_t bits = ft_run_value(f->problem->run, vid).bits;
    begin(f, level, write, vid);
    if (write) change(f, level, e, section, bits);
    *known_at(f, level, f->trace->thread[e]) = (known){section, bits};
}

static bool is_inside(const finder *f, uint32_t level, uint32_t e, uint32_t *section)
{
    uint32_t lock = f->levels->all[level].lock;
    if (lock == FT_LEVEL_ATOMIC) {
        *section = e;
        return f->trace->flags[e] & FT_FLAG_ATOMIC;
    }
    *section = ft_order_section_at(f->order, e, lock);
    return *section != FT_NO_SECTION && !f->order->sections.data[*section].shared;
}

static void access_one(finder *f, uint32_t level, uint32_t e, uint32_t i, bool write)
{
    uint32_t section;
    bool leads = f->leading[level] != FT_NO_EVENT && e <= f->leading[level];
    if (!leads && is_inside(f, level, e, &section))
        access_inside(f, level, e, i, write, section);
    else if (write)
        write_outside(f, level, e, ft_run_vid(f->problem->run, e, i));
}

/* One thread's first writes are initialisation too, under the lock or atomic, where the hard order
 * has them before every access of another thread. */
static void find_leading(finder *f, uint32_t level, uint32_t e)
{
    uint32_t last = f->leading[level];
    bool same = last == FT_NO_EVENT || f->trace->thread[last] == f->trace->thread[e];
    if (!f->led[level] && same && f->trace->kind[e] == FT_EVENT_WRITE) {
        f->leading[level] = e;
        return;
    }
    f->led[level] = true;
    if (!same && !ft_order_before(f->order, last, e)) f->leading[level] = FT_NO_EVENT;
}

static void find_initialisation(finder *f)
{
    ft_access scratch;
    uint32_t count;
    uint64_t level;
    for (uint32_t e = 0; e < f->trace->n_events; e++) {
        const ft_access *accesses = ft_trace_accesses(f->trace, e, &scratch, &count);
        for (uint32_t i = 0; i < count; i++)
            if (ft_map_get(&f->level_of, accesses[i].variable, &level))
                find_leading(f, (uint32_t)level, e);
    }
}

/* An allocation makes the block's values unknown. */
static void allocate(finder *f, uint32_t e)
{
    const ft_block_cells *cells = &f->trace->block_cells[f->trace->object[e]];
    uint64_t level;
    for (uint32_t i = 0; i < cells->count; i++)
        if (ft_map_get(&f->level_of, cells->variables[i], &level))
            write_outside(f, (uint32_t)level, e, FT_VID_UNKNOWN);
}

static void look_at_wait(finder *f, ft_level_wait *wait)
{
    uint32_t thread = f->trace->thread[wait->event];
    for (uint32_t level = 0; level < f->levels->n; level++) {
        uint32_t lock = f->levels->all[level].lock;
        const known *k = known_at(f, level, thread);
        if (lock != wait->lock || k->section == FT_NO_SECTION ||
            k->section != ft_order_section_at(f->order, wait->event, lock))
            continue;
        wait->known |= 1u << level;
        wait->at[level] = (int64_t)k->bits;
    }
}

static void follow(finder *f)
{
    ft_access scratch;
    uint32_t count, next = 0;
    uint64_t level;
    for (uint32_t e = 0; e < f->trace->n_events; e++) {
        const ft_access *accesses = ft_trace_accesses(f->trace, e, &scratch, &count);
        for (uint32_t i = 0; i < count; i++)
            if (ft_map_get(&f->level_of, accesses[i].variable, &level))
                access_one(f, (uint32_t)level, e, i, accesses[i].write);
        if (f->trace->kind[e] == FT_EVENT_ALLOC) allocate(f, e);
        if (next < f->levels->waits.len && f->levels->waits.data[next].event == e)
            look_at_wait(f, &f->levels->waits.data[next++]);
    }
}

/* ---- memories of threads ------------------------------------------------------------------- */

/* The values that changes to another value find -> the changes' thread, SEVERAL. */
static void find_finders(const finder *f, const ft_level *level, ft_map *finders)
{
    for (size_t i = 0; i < level->changes.len; i++) {
        const ft_level_change *c = &level->changes.data[i];
        uint32_t thread = f->trace->thread[c->event];
        uint64_t found = (uint64_t)(c->blind ? c->memory : c->before);
        bool fresh;
        if (found == (uint64_t)c->after) continue;
        uint64_t *who = ft_map_slot(finders, found, thread, &fresh);
        if (*who != thread) *who = SEVERAL;
    }
}

/* Where a thread writes without a read in its section, the variable still has the value of the
 * thread's last access (or the initial one), unless another thread changed it in between; the first
 * thread to do so would find that value. Where no change of another thread finds it, there was no
 * such change: by induction over any schedule, for all such writes at once. */
static void follow_memories(finder *f, uint32_t index)
{
    ft_level *level = &f->levels->all[index];
    ft_map finders = {0};
    uint64_t who;
    bool all = level->blind;
    if (all) find_finders(f, level, &finders);
    for (size_t i = 0; i < level->changes.len && all; i++) {
        const ft_level_change *c = &level->changes.data[i];
        if (c->blind)
            all = !ft_map_get(&finders, (uint64_t)c->memory, &who) ||
                  who == f->trace->thread[c->event];
    }
    for (size_t i = 0; i < level->changes.len && all; i++) {
        ft_level_change *c = &level->changes.data[i];
        if (c->blind) c->before = c->memory;
        c->blind = false;
    }
    level->blind &= !all;
    ft_map_release(&finders);
}

/* ---- flags that threads take and return
 * ------------------------------------------------------------ */

/* False: the change takes a flag that it has not found free, or changes one that is not held. */
static bool take_or_give(bool *holds, uint64_t free_bits, const ft_level_change *c)
{
    if (!c->blind && c->before == c->after) return true;
    if (!*holds && (c->blind || (uint64_t)c->before != free_bits)) return false;
    *holds = (uint64_t)c->after != free_bits;
    return true;
}

/* Where each thread takes the variable only in a section that found it free (its initial value),
 * and only the thread that took it changes it until it is free again, there is one holder at a
 * time, by induction over any schedule: a holder overwrites its own value, as in the run. */
static void follow_holders(finder *f, uint32_t index)
{
    ft_level *level = &f->levels->all[index];
    bool *holds = ft_calloc((size_t)f->order->n_threads + 1, sizeof *holds);
    bool all = level->blind && f->told[index];
    for (size_t i = 0; i < level->changes.len && all; i++) {
        const ft_level_change *c = &level->changes.data[i];
        all = take_or_give(&holds[f->trace->thread[c->event]], f->initial[index], c);
    }
    for (size_t i = 0; i < level->changes.len && all; i++) level->changes.data[i].blind = false;
    level->blind &= !all;
    free(holds);
}

/* ---- from bits to levels --------------------------------------------------------------------- */

/* Does no value come a second time? Then `places` maps each value to the number of changes that
 * lead to it. */
static bool find_places(const ft_level *level, uint64_t initial, ft_map *places)
{
    bool fresh = !level->blind;
    ft_map_put(places, initial, 0);
    for (size_t i = 0; i < level->changes.len && fresh; i++) {
        const ft_level_change *c = &level->changes.data[i];
        if (c->after != c->before) ft_map_slot(places, (uint64_t)c->after, i + 1, &fresh);
    }
    return fresh;
}

/* places: NULL: values are counted as they are. */
static int64_t count_from(uint64_t initial, const ft_map *places, int64_t bits)
{
    uint64_t place = 0;
    if (!places) return (int64_t)((uint64_t)bits - initial);
    ft_map_get(places, (uint64_t)bits, &place);
    return (int64_t)place;
}

static bool is_near(int64_t value)
{
    return value < MOST_SUM && value > -MOST_SUM;
}

static int64_t size_of(int64_t value)
{
    return value < 0 ? -value : value;
}

/* Does the sum fit of the largest amounts that the threads have added or taken? */
static bool sums_fit(const finder *f, const ft_level *level)
{
    int64_t *now = ft_calloc((size_t)f->order->n_threads + 1, sizeof *now), all = 0;
    int64_t *most = ft_calloc((size_t)f->order->n_threads + 1, sizeof *most);
    for (size_t i = 0; i < level->changes.len && is_near(all); i++) {
        const ft_level_change *c = &level->changes.data[i];
        uint32_t t = f->trace->thread[c->event];
        now[t] += c->after - c->before;
        if (size_of(now[t]) <= most[t]) continue;
        all += size_of(now[t]) - most[t];
        most[t] = size_of(now[t]);
    }
    free(now);
    free(most);
    return is_near(all);
}

/* False: what the changes add does not fit. */
static bool count_changes(finder *f, uint32_t index, const ft_map *places)
{
    ft_levels *levels = f->levels;
    ft_level *level = &levels->all[index];
    uint64_t initial = f->initial[index];
    for (size_t i = 0; i < level->changes.len; i++) {
        ft_level_change *c = &level->changes.data[i];
        c->before = count_from(initial, places, c->before);
        c->after = count_from(initial, places, c->after);
        if (!is_near(c->before) || !is_near(c->after)) return false;
        assert(!places || c->after == c->before || c->after > 0); /* places count upwards */
    }
    for (size_t i = 0; i < levels->waits.len; i++) {
        ft_level_wait *wait = &levels->waits.data[i];
        if (!(wait->known >> index & 1)) continue;
        wait->at[index] = count_from(initial, places, wait->at[index]);
        if (!is_near(wait->at[index])) return false;
    }
    return sums_fit(f, level);
}

static void forget(ft_levels *levels, uint32_t index)
{
    ft_vec_release(&levels->all[index].changes);
    levels->all[index].changes.len = 0;
    for (size_t i = 0; i < levels->waits.len; i++) levels->waits.data[i].known &= ~(1u << index);
}

/* in_places: where no value comes again, a level is the number of changes. */
static void count_all(finder *f, bool in_places)
{
    for (uint32_t i = 0; i < f->levels->n; i++) {
        ft_map places = {0};
        follow_memories(f, i);
        follow_holders(f, i);
        f->levels->all[i].initial = f->initial[i];
        f->levels->all[i].leading = f->leading[i];
        bool once = in_places && find_places(&f->levels->all[i], f->initial[i], &places);
        if (f->broken[i] || !f->told[i] || !count_changes(f, i, once ? &places : NULL))
            forget(f->levels, i);
        ft_map_release(&places);
    }
}

static void follow_levels(finder *f, bool in_places)
{
    ft_levels *levels = f->levels;
    size_t n = (size_t)levels->n * f->order->n_threads;
    f->known = ft_alloc((n + 1) * sizeof *f->known);
    for (size_t i = 0; i < n; i++) f->known[i].section = FT_NO_SECTION;
    for (uint32_t i = 0; i < levels->n; i++) {
        f->outside[i] = FT_NO_EVENT;
        f->leading[i] = FT_NO_EVENT;
        tell_initial(f, i, ft_run_initial_vid(f->problem->run, levels->all[i].variable));
    }
    find_initialisation(f);
    follow(f);
    count_all(f, in_places);
    free(f->known);
    ft_map_release(&f->level_of);
}

static bool is_served(const ft_problem *problem)
{
    return problem->run && problem->order->n_threads <= MOST_THREADS;
}

bool ft_levels_are_sound(const ft_levels *levels)
{
    if (levels->n > FT_LEVELS_MOST) return false;
    for (uint32_t i = 0; i < levels->n; i++) {
        const ft_level *level = &levels->all[i];
        bool blind = false;
        for (size_t k = 0; k < level->changes.len; k++) {
            blind |= level->changes.data[k].blind;
            if (k > 0 && level->changes.data[k - 1].event > level->changes.data[k].event)
                return false;
        }
        if (blind && !level->blind) return false;
    }
    for (size_t i = 1; i < levels->waits.len; i++)
        if (levels->waits.data[i - 1].event >= levels->waits.data[i].event) return false;
    return true;
}

void ft_levels_find(ft_levels *levels, const ft_problem *problem)
{
    finder f = {
        .levels = levels, .problem = problem, .trace = problem->trace, .order = problem->order};
    FT_REQUIRE(levels->n == 0 && levels->waits.len == 0);
    if (!is_served(problem)) return;
    find_waits(&f);
    follow_levels(&f, true);
    FT_CHECK(ft_levels_are_sound(levels));
}

void ft_levels_follow(ft_levels *levels, const ft_problem *problem)
{
    finder f = {
        .levels = levels, .problem = problem, .trace = problem->trace, .order = problem->order};
    if (!is_served(problem)) return;
    FT_REQUIRE(levels->n <= FT_LEVELS_MOST);
    for (uint32_t i = 0; i < levels->n; i++) ft_map_put(&f.level_of, levels->all[i].variable, i);
    assert(f.level_of.len == levels->n); /* each variable once */
    follow_levels(&f, false);
    FT_CHECK(ft_levels_are_sound(levels));
}

void ft_levels_release(ft_levels *levels)
{
    for (uint32_t i = 0; i < levels->n; i++) ft_vec_release(&levels->all[i].changes);
    ft_vec_release(&levels->waits);
}

const ft_level_wait *ft_levels_wait(const ft_levels *levels, uint32_t event)
{
    size_t low = 0, high = levels->waits.len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (levels->waits.data[middle].event < event)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == levels->waits.len || levels->waits.data[low].event != event) return NULL;
    return &levels->waits.data[low];
}
