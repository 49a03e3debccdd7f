/* Atomicity violations: triplets t_c, t_r, t_c' in one of the five unserialisable patterns, every
 * pair of a transaction's accesses to one variable, not only neighbours (claim.h,
 * ATOMICITY; Wang et al. §5.1). */
#include <stdlib.h>
#include <string.h>

#include "candidate/candidate.h"

typedef struct local_access {
    uint32_t variable, event;
    bool write;
} local_access;

/* The last question about a variable, and its answer: is_guarded. */
typedef struct guard {
    uint32_t lockset, segment;
    bool asked, holds;
} guard;

typedef struct pair_pass {
    ft_candidates *c;
    guard *guards; /* by variable */
    ft_map index;  /* hash of a pair class -> its id, local to one transaction set */
    FT_VEC(local_access) accesses;
    FT_VEC(uint32_t) pair_class; /* of each pair, parallel to c->pair_events / 2 */
    FT_VEC(uint32_t) pairs;      /* 2 events a pair, in order of discovery */
    FT_VEC(uint32_t) locks;      /* scratch of span_of */
    ft_intern spans;             /* sets of locks, as bytes */
    uint64_t budget;
    ft_check check;
} pair_pass;

/* The set of locks held without a break from a to b (the same sections at both), interned. */
static uint32_t span_of(pair_pass *pass, uint32_t a, uint32_t b)
{
    const ft_order *order = pass->c->order;
    ft_hold hold = order->holds.data[order->hold[a]];
    pass->locks.len = 0;
    for (uint32_t i = 0; i < hold.count; i++) {
        uint32_t s = order->hold_sections.data[hold.first + i];
        const ft_section *section = &order->sections.data[s];
        if (ft_order_section_at(order, b, section->lock) == s)
            ft_vec_push(&pass->locks, section->lock << 1 | section->shared);
    }
    if (pass->locks.len == 0) return 0;
    return 1 + ft_intern_add(&pass->spans, (const char *)pass->locks.data,
                             pass->locks.len * sizeof *pass->locks.data);
}

static bool same_pair_class(const ft_local_pair_class *a, const ft_local_pair_class *b)
{
    return a->variable == b->variable && a->thread == b->thread && a->loc[0] == b->loc[0] &&
           a->loc[1] == b->loc[1] && a->segment[0] == b->segment[0] &&
           a->segment[1] == b->segment[1] && a->span == b->span && a->write[0] == b->write[0] &&
           a->write[1] == b->write[1];
}

static uint32_t pair_class_find(pair_pass *pass, const ft_local_pair_class *wanted, uint64_t hash)
{
    ft_candidates *c = pass->c;
    for (;; hash++) {
        bool inserted;
        uint64_t *slot = ft_map_slot(&pass->index, hash, c->local_pairs.len, &inserted);
        if (inserted) ft_vec_push(&c->local_pairs, *wanted);
        if (same_pair_class(&c->local_pairs.data[*slot], wanted)) return (uint32_t)*slot;
    }
}

static uint32_t pair_class_of(pair_pass *pass, const local_access *a, const local_access *b)
{
    const ft_candidates *c = pass->c;
    const ft_order *order = c->order;
    ft_local_pair_class wanted = {.variable = a->variable,
                                  .thread = c->trace->thread[a->event],
                                  .loc = {c->trace->loc[a->event], c->trace->loc[b->event]},
                                  .segment = {order->segment[a->event], order->segment[b->event]},
                                  .span = span_of(pass, a->event, b->event),
                                  .write = {a->write, b->write}};
    return pair_class_find(pass, &wanted, ft_hash_bytes(&wanted, sizeof wanted, 3));
}

static void keep_pair(pair_pass *pass, uint32_t id, const local_access *a, const local_access *b)
{
    assert(a->event < b->event && a->variable == b->variable);
    pass->c->local_pairs.data[id].count++;
    ft_vec_push(&pass->pair_class, id);
    ft_vec_push(&pass->pairs, a->event);
    ft_vec_push(&pass->pairs, b->event);
}

static void local_pair(pair_pass *pass, const local_access *a, const local_access *b)
{
    if (pass->budget == 0) {
        ft_candidates_overflow(pass->c, pass->check);
        return;
    }
    pass->budget--;
    keep_pair(pass, pair_class_of(pass, a, b), a, b);
}

static int by_variable(const void *left, const void *right)
{
    const local_access *a = left, *b = right;
    if (a->variable != b->variable) return a->variable < b->variable ? -1 : 1;
    if (a->event != b->event) return a->event < b->event ? -1 : 1;
    return (int)a->write - (int)b->write;
}

/* ---- many accesses of one variable in one transaction ---------------------------------------- */

static bool all_located(const ft_candidates *c, uint32_t variable)
{
    for (uint32_t k = c->variable_classes[variable]; k < c->variable_classes[variable + 1]; k++)
        if (c->classes.data[k].loc == FT_NO_LOC) return false;
    return true;
}

/* Numbers the accesses by location and kind; returns how many numbers there are. */
static uint32_t number_types(const pair_pass *pass, const local_access *all, uint32_t n,
                             uint32_t *type)
{
    ft_map ids = {0};
    for (uint32_t i = 0; i < n; i++)
        type[i] = (uint32_t)*ft_map_slot(
            &ids, (uint64_t)pass->c->trace->loc[all[i].event] << 1 | all[i].write, ids.len, NULL);
    uint32_t types = (uint32_t)ids.len;
    ft_map_release(&ids);
    return types;
}

/* Of the pairs at two given locations, only those that decide the candidate: if a t_r comes between
 * any pair at these locations, it comes between the last access at the first location before t_r
 * and the first access at the second one after t_r. So for each access the pairs up to the next
 * access of its own type are made, and from there the first of each type. They belong to the same
 * candidates as the others, and a schedule that reaches the others reaches them. */
static void pair_telling(pair_pass *pass, const local_access *all, uint32_t n)
{
    uint32_t *type = ft_alloc(((size_t)n + 1) * sizeof *type);
    uint32_t types = number_types(pass, all, n, type);
    uint32_t *next = ft_alloc((size_t)(n + 1) * types * sizeof *next); /* [place][type] */
    memset(next + (size_t)n * types, 0xff, types * sizeof *next);
    for (uint32_t i = n; i-- > 0;) {
        memcpy(next + (size_t)i * types, next + ((size_t)i + 1) * types, types * sizeof *next);
        next[(size_t)i * types + type[i]] = i;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t again = next[((size_t)i + 1) * types + type[i]];
        for (uint32_t j = i + 1; j < n && j <= again; j++)
            if (all[i].event != all[j].event) local_pair(pass, &all[i], &all[j]);
        for (uint32_t t = 0; again != UINT32_MAX && t < types; t++) {
            uint32_t j = next[((size_t)again + 1) * types + t];
            if (t != type[i] && j != UINT32_MAX) local_pair(pass, &all[i], &all[j]);
        }
    }
    free(type);
    free(next);
}

static void pair_all(pair_pass *pass, const local_access *all, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = i + 1; j < n; j++)
            if (all[i].event != all[j].event) local_pair(pass, &all[i], &all[j]);
}

/* ---- accesses that locks protect from all other threads ---------------------------------------
 */

/* Types of accesses (location and kind) that are counted; with more, each pair is looked at. */
enum { TYPES = 8, FEW = 4 /* accesses of one variable in a transaction */ };

typedef struct typed {
    uint32_t n;            /* types */
    uint32_t loc[TYPES];   /* of each */
    bool write[TYPES];     /* likewise */
    uint32_t first[TYPES]; /* its first access */
    uint64_t pairs[TYPES][TYPES];
} typed;

/* Is each of the site's accesses of that thread, or ordered with the segment? */
static bool is_ordered_site(const ft_candidates *c, const ft_site *site, uint32_t segment)
{
    const ft_segments at = {segment, segment, c->order->segment_thread[segment]};
    if (site->count >= FT_MANY_CLASSES) return ft_candidates_open_events(c, &at, site) == 0;
    for (uint32_t k = site->first; k < site->first + site->count; k++) {
        const ft_class *other = &c->classes.data[k];
        if (other->thread != at.thread &&
            !ft_order_segments_before(c->order, other->segment, segment) &&
            !ft_order_segments_before(c->order, segment, other->segment))
            return false;
    }
    return true;
}

/* Is every access of the variable by another thread ordered with that segment, or does it hold a
 * lock that excludes one of the lockset's? */
static bool is_guarded(pair_pass *pass, uint32_t variable, uint32_t segment, uint32_t lockset)
{
    const ft_candidates *c = pass->c;
    guard *g = &pass->guards[variable];
    if (g->asked && g->segment == segment && g->lockset == lockset) return g->holds;
    *g = (guard){lockset, segment, true, lockset != 0};
    for (uint32_t s = c->variable_sites[variable]; g->holds && s < c->variable_sites[variable + 1];
         s++) {
        const ft_site *site = &c->sites.data[s];
        g->holds = ft_order_common_lock(c->order, lockset, site->lockset) != UINT32_MAX ||
                   is_ordered_site(c, site, segment);
    }
    return g->holds;
}

/* Are they all made in the same critical sections, and in one segment? */
static bool are_alike(const ft_order *order, const local_access *all, uint32_t n)
{
    uint32_t hold = order->hold[all->event], segment = order->segment[all->event];
    for (uint32_t i = 1; i < n; i++)
        if (order->hold[all[i].event] != hold || order->segment[all[i].event] != segment)
            return false;
    return true;
}

/* TYPES: there are too many. */
static uint32_t type_of(const ft_candidates *c, typed *t, const local_access *all, uint32_t i)
{
    uint32_t loc = c->trace->loc[all[i].event], at = 0;
    while (at < t->n && (t->loc[at] != loc || t->write[at] != all[i].write)) at++;
    if (at < t->n || at == TYPES) return at;
    t->loc[at] = loc;
    t->write[at] = all[i].write;
    t->first[at] = i;
    t->n++;
    return at;
}

static void clear_pairs(typed *t)
{
    for (uint32_t from = 0; from < t->n; from++)
        for (uint32_t to = 0; to < t->n; to++) t->pairs[from][to] = 0;
}

/* How many pairs there are of each two types: those of one event (rmw) are none. */
static bool count_pairs(const ft_candidates *c, typed *t, const local_access *all, uint32_t n)
{
    uint64_t seen[TYPES] = {0};
    t->n = 0;
    for (uint32_t i = 0; i < n; i++)
        if (type_of(c, t, all, i) == TYPES) return false;
    clear_pairs(t);
    for (uint32_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && all[end].event == all[i].event; end++)
            for (uint32_t from = 0; from < t->n; from++)
                t->pairs[from][type_of(c, t, all, end)] += seen[from];
        for (uint32_t k = i; k < end; k++) seen[type_of(c, t, all, k)]++;
    }
    return true;
}

/* The pairs whose first access is of that type, by the second one's type: each with the first of
 * them as sample. */
static void count_from(pair_pass *pass, typed *t, uint32_t from, const local_access *all,
                       uint32_t n)
{
    const local_access *a = &all[t->first[from]];
    for (uint32_t j = t->first[from] + 1; j < n; j++) {
        uint64_t *pairs = &t->pairs[from][type_of(pass->c, t, all, j)];
        if (!*pairs || all[j].event == a->event) continue;
        uint32_t id = pair_class_of(pass, a, &all[j]);
        ft_local_pair_class *class = &pass->c->local_pairs.data[id];
        bool fresh = !class->count;
        assert(*pairs >= fresh);
        class->more += *pairs - fresh;
        if (fresh) keep_pair(pass, id, a, &all[j]);
        *pairs = 0;
    }
}

/* If no access of another thread can come between any two of them, the pairs are only counted: a
 * loop in a critical section has a pair for each two of its accesses. False: one can, and nothing
 * is done. */
static bool pair_guarded(pair_pass *pass, const local_access *all, uint32_t n)
{
    const ft_candidates *c = pass->c;
    const ft_order *order = c->order;
    typed t;
    uint32_t lockset = order->holds.data[order->hold[all->event]].lockset;
    if (!are_alike(order, all, n) ||
        !is_guarded(pass, all->variable, order->segment[all->event], lockset) ||
        !count_pairs(c, &t, all, n))
        return false;
    for (uint32_t from = 0; from < t.n; from++) count_from(pass, &t, from, all, n);
    return true;
}

/* Where the budget runs short, only the pairs that decide are made. */
static bool may_tell(const pair_pass *pass, uint32_t n)
{
    return n > (pass->budget > FT_MAX_LOCAL_PAIRS / 2 ? FT_MAX_PAIRED_ACCESSES : FEW);
}

/* The pairs inside the events from `first` to `last` (positions of one thread, inclusive). */
static void transaction(pair_pass *pass, uint32_t thread, uint32_t first, uint32_t last)
{
    ft_candidates *c = pass->c;
    const uint32_t *events = c->order->thread_events + c->order->thread_start[thread];
    pass->accesses.len = 0;
    for (uint32_t at = first; at <= last; at++) {
        ft_access scratch;
        uint32_t count, e = events[at];
        if (ft_candidates_skipped(c, e)) continue;
        const ft_access *accesses = ft_trace_accesses(c->trace, e, &scratch, &count);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t v = accesses[i].variable;
            if (c->variable_classes[v] == c->variable_classes[v + 1]) continue;
            ft_vec_push(&pass->accesses, (local_access){v, e, accesses[i].write});
        }
    }
    if (pass->accesses.len == 0) return;
    qsort(pass->accesses.data, pass->accesses.len, sizeof *pass->accesses.data, by_variable);
    for (size_t i = 0, end; i < pass->accesses.len; i = end) {
        const local_access *all = &pass->accesses.data[i];
        for (end = i + 1; end < pass->accesses.len; end++)
            if (pass->accesses.data[end].variable != all->variable) break;
        uint32_t n_all = (uint32_t)(end - i);
        if (n_all < 2 || pair_guarded(pass, all, n_all)) continue;
        bool telling = may_tell(pass, n_all) && !c->per_event &&
                       pass->check == FT_CHECK_ATOMICITY && all_located(c, all->variable);
        (telling ? pair_telling : pair_all)(pass, all, n_all);
    }
}

/* Moves the pairs found into slices of pair_events, one slice a class. */
static void fill_pairs(pair_pass *pass, size_t first_class)
{
    ft_candidates *c = pass->c;
    size_t base = c->pair_events.len;
    uint32_t at = (uint32_t)(base / 2);
    for (size_t i = first_class; i < c->local_pairs.len; i++) {
        c->local_pairs.data[i].first = at;
        at += c->local_pairs.data[i].count;
        c->local_pairs.data[i].count = 0;
    }
    assert(2 * (size_t)at == base + pass->pairs.len); /* each pair is in one class */
    assert(2 * pass->pair_class.len == pass->pairs.len);
    ft_vec_reserve(&c->pair_events, base + pass->pairs.len);
    c->pair_events.len = base + pass->pairs.len;
    for (size_t i = 0; i < pass->pair_class.len; i++) {
        ft_local_pair_class *class = &c->local_pairs.data[pass->pair_class.data[i]];
        uint32_t *place = c->pair_events.data + 2 * ((size_t) class->first + class->count++);
        place[0] = pass->pairs.data[2 * i];
        place[1] = pass->pairs.data[2 * i + 1];
    }
}

bool ft_candidates_is_marked(const ft_trace *trace)
{
    FT_REQUIRE(trace);
    return memchr(trace->kind, FT_EVENT_TX_BEGIN, trace->n_events) != NULL;
}

/* Outermost marked transactions: they hold all pairs of the inner ones. */
static void marked_transactions(pair_pass *pass, uint32_t thread)
{
    const ft_order *order = pass->c->order;
    const uint32_t *events = order->thread_events + order->thread_start[thread];
    uint32_t n = order->thread_start[thread + 1] - order->thread_start[thread];
    uint32_t depth = 0, begin = 0;
    for (uint32_t at = 0; at < n; at++) {
        uint8_t kind = pass->c->trace->kind[events[at]];
        if (kind == FT_EVENT_TX_BEGIN && depth++ == 0) begin = at;
        if (kind == FT_EVENT_TX_END && depth > 0 && --depth == 0)
            transaction(pass, thread, begin, at);
    }
    if (depth > 0 && n > 0) transaction(pass, thread, begin, n - 1);
}

/* Outermost closed critical sections without a wait. */
static void section_transactions(pair_pass *pass, uint32_t thread)
{
    const ft_order *order = pass->c->order;
    const ft_trace *trace = pass->c->trace;
    const uint32_t *events = order->thread_events + order->thread_start[thread];
    uint32_t n = order->thread_start[thread + 1] - order->thread_start[thread];
    uint32_t held = 0, begin = 0;
    bool waits = false;
    for (uint32_t at = 0; at < n; at++) {
        uint32_t e = events[at];
        if (order->section_of[e] == FT_NO_SECTION) continue;
        waits |= (trace->flags[e] & FT_FLAG_CONDITION) != 0;
        if (ft_order_opens(trace, e)) {
            if (held++ > 0) continue;
            begin = at;
            waits = (trace->flags[e] & FT_FLAG_CONDITION) != 0;
        } else if (held > 0 && --held == 0 && !waits) {
            transaction(pass, thread, begin, at);
        }
    }
}

static pair_pass pass_of(ft_candidates *c, ft_check check)
{
    return (pair_pass){.c = c,
                       .guards = ft_calloc((size_t)c->trace->shared.len + 1, sizeof(guard)),
                       .budget = FT_MAX_LOCAL_PAIRS,
                       .check = check};
}

static void pass_release(pair_pass *pass)
{
    free(pass->guards);
    ft_map_release(&pass->index);
    ft_vec_release(&pass->accesses);
    ft_vec_release(&pass->pair_class);
    ft_vec_release(&pass->pairs);
    ft_vec_release(&pass->locks);
    ft_intern_release(&pass->spans);
}

void ft_candidates_atomicity(ft_candidates *c)
{
    pair_pass pass = pass_of(c, FT_CHECK_ATOMICITY);
    size_t first = c->local_pairs.len;
    bool marked = ft_candidates_is_marked(c->trace);
    for (uint32_t t = 0; t < c->order->n_threads; t++) {
        if (marked)
            marked_transactions(&pass, t);
        else
            section_transactions(&pass, t);
    }
    fill_pairs(&pass, first);
    ft_candidates_match_remotes(c, pass.check, first, 0);
    pass_release(&pass);
}

void ft_candidates_transaction(ft_candidates *c, uint32_t from, uint32_t to, uint32_t property)
{
    FT_REQUIRE(from <= to && to < c->trace->n_events);
    FT_REQUIRE(c->trace->thread[from] == c->trace->thread[to]);
    pair_pass pass = pass_of(c, FT_CHECK_PROPERTY);
    size_t first = c->local_pairs.len;
    transaction(&pass, c->trace->thread[from], c->order->position[from], c->order->position[to]);
    fill_pairs(&pass, first);
    ft_candidates_match_remotes(c, pass.check, first, property);
    pass_release(&pass);
}
