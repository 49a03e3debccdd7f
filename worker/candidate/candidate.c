#include "candidate/candidate.h"

#include <stdlib.h>
#include <string.h>

/* ---- classes of accesses --------------------------------------------------------------------- */

/* A variable matters if two threads access it and one of the accesses writes. */
static uint8_t *find_contended(const ft_trace *trace)
{
    enum { SEEN = 1, TWO_THREADS = 2, WRITTEN = 4 };
    uint8_t *state = ft_calloc(trace->shared.len, 1);
    uint16_t *owner = ft_calloc(trace->shared.len, sizeof *owner);
    for (uint32_t e = 0; e < trace->n_events; e++) {
        ft_access scratch;
        uint32_t count;
        const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
        for (uint32_t i = 0; i < count; i++) {
            uint8_t *s = &state[accesses[i].variable];
            if (!*s) owner[accesses[i].variable] = trace->thread[e];
            *s |= SEEN | (accesses[i].write ? WRITTEN : 0) |
                  (owner[accesses[i].variable] != trace->thread[e] ? TWO_THREADS : 0);
        }
    }
    for (uint32_t v = 0; v < trace->shared.len; v++)
        state[v] = state[v] == (SEEN | TWO_THREADS | WRITTEN);
    free(owner);
    return state;
}

static bool same_class(const ft_class *a, const ft_class *b)
{
    return a->variable == b->variable && a->loc == b->loc && a->thread == b->thread &&
           a->segment == b->segment && a->lockset == b->lockset && a->only == b->only &&
           a->mode == b->mode;
}

typedef struct class_pass {
    ft_candidates *c;
    ft_map index;
    uint32_t *recent;                  /* direct-mapped cache of class ids + 1, by a cheap hash */
    FT_VEC(uint32_t) events, class_of; /* parallel: accesses in observed order */
} class_pass;

enum { RECENT = 1 << 14 };

static uint32_t class_find(class_pass *pass, const ft_class *wanted)
{
    ft_candidates *c = pass->c;
    uint64_t a = (uint64_t)wanted->variable << 32 | wanted->loc;
    uint64_t b = (uint64_t)wanted->segment << 32 | (wanted->lockset << 3 ^ wanted->mode);
    uint64_t key = a * 0x9e3779b97f4a7c15u ^ b * 0xc2b2ae3d27d4eb4fu;
    key ^= key >> 29;
    uint32_t *recent = &pass->recent[key % RECENT];
    if (*recent && same_class(&c->classes.data[*recent - 1], wanted)) return *recent - 1;
    for (key ^= (uint64_t)wanted->only << 20;; key++) {
        bool inserted;
        uint64_t *slot = ft_map_slot(&pass->index, key, c->classes.len, &inserted);
        if (inserted) ft_vec_push(&c->classes, *wanted);
        if (!same_class(&c->classes.data[*slot], wanted)) continue;
        *recent = (uint32_t)*slot + 1;
        return (uint32_t)*slot;
    }
}

bool ft_candidates_skipped(const ft_candidates *c, uint32_t e)
{
    return c->ignored && c->ignored[c->trace->loc[e]];
}

/* Adds e to the class of each contended variable that it accesses. */
static void class_event(class_pass *pass, uint32_t e, const uint8_t *contended)
{
    ft_candidates *c = pass->c;
    const ft_trace *trace = c->trace;
    ft_access scratch;
    uint32_t count;
    const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t variable = accesses[i].variable;
        bool repeated = false, several = false;
        uint8_t mode = (trace->flags[e] & FT_FLAG_ATOMIC) ? FT_MODE_ATOMIC : 0;
        for (uint32_t j = 0; j < count; j++) {
            if (accesses[j].variable != variable) {
                several = true;
                continue;
            }
            mode |= accesses[j].write ? FT_MODE_WRITE : FT_MODE_READ;
            repeated |= j < i;
        }
        if (repeated || !contended[variable]) continue;
        ft_class wanted = {.variable = variable,
                           .loc = trace->loc[e],
                           .thread = trace->thread[e],
                           .segment = c->order->segment[e],
                           .lockset = ft_order_lockset(c->order, e),
                           .only = several ? e + 1 : 0,
                           .mode = mode};
        uint32_t id = class_find(pass, &wanted);
        c->classes.data[id].count++;
        ft_vec_push(&pass->events, e);
        ft_vec_push(&pass->class_of, id);
    }
}

static void fill_classes(ft_candidates *c, const class_pass *pass)
{
    uint32_t at = 0;
    c->class_events = ft_alloc((pass->events.len + 1) * sizeof *c->class_events);
    for (size_t i = 0; i < c->classes.len; i++) {
        c->classes.data[i].first = at;
        at += c->classes.data[i].count;
        c->classes.data[i].count = 0;
    }
    for (size_t i = 0; i < pass->events.len; i++) {
        ft_class *class = &c->classes.data[pass->class_of.data[i]];
        c->class_events[class->first + class->count++] = pass->events.data[i];
    }
}

static void index_by_variable(ft_candidates *c)
{
    uint32_t n = c->trace->shared.len;
    uint32_t *first = c->variable_classes = ft_calloc((size_t)n + 2, sizeof *first);
    c->classes_by_variable = ft_alloc((c->classes.len + 1) * sizeof *c->classes_by_variable);
    for (size_t i = 0; i < c->classes.len; i++) first[c->classes.data[i].variable + 2]++;
    for (uint32_t v = 0; v < n; v++) first[v + 2] += first[v + 1];
    for (size_t i = 0; i < c->classes.len; i++)
        c->classes_by_variable[first[c->classes.data[i].variable + 1]++] = (uint32_t)i;
}

ft_candidates *ft_candidates_new(const ft_trace *trace, const ft_order *order, const ft_run *run,
                                 bool per_event, const uint8_t *ignored)
{
    ft_candidates *c = ft_calloc(1, sizeof *c);
    *c = (ft_candidates){
        .trace = trace, .order = order, .run = run, .per_event = per_event, .ignored = ignored};
    uint8_t *contended = find_contended(trace);
    class_pass pass = {.c = c, .recent = ft_calloc(RECENT, sizeof *pass.recent)};
    for (uint32_t e = 0; e < trace->n_events; e++) {
        if (ft_candidates_skipped(c, e))
            c->ignored_events++;
        else
            class_event(&pass, e, contended);
    }
    fill_classes(c, &pass);
    index_by_variable(c);
    ft_vec_release(&pass.events);
    ft_vec_release(&pass.class_of);
    ft_map_release(&pass.index);
    free(pass.recent);
    free(contended);
    return c;
}

void ft_candidates_free(ft_candidates *c)
{
    if (!c) return;
    for (size_t i = 0; i < c->groups.len; i++) ft_vec_release(&c->groups.data[i].blocks);
    ft_vec_release(&c->groups);
    ft_vec_release(&c->classes);
    ft_vec_release(&c->local_pairs);
    ft_vec_release(&c->pair_events);
    ft_vec_release(&c->pruned);
    ft_map_release(&c->group_index);
    free(c->class_events);
    free(c->variable_classes);
    free(c->classes_by_variable);
    free(c);
}

/* ---- groups ---------------------------------------------------------------------------------- */

static int compare_locs(const ft_trace *trace, uint32_t a, uint32_t b)
{
    if (a == b) return 0;
    if (a == FT_NO_LOC || b == FT_NO_LOC) return a == FT_NO_LOC ? 1 : -1;
    return strcmp(trace->locations[a].text, trace->locations[b].text);
}

static void sort_locs(const ft_trace *trace, uint32_t loc[3], uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t j = i; j > 0 && compare_locs(trace, loc[j - 1], loc[j]) > 0; j--) {
            uint32_t swap = loc[j];
            loc[j] = loc[j - 1];
            loc[j - 1] = swap;
        }
}

static bool same_group(const ft_group *group, ft_check check, uint8_t kind, const uint32_t loc[3],
                       uint32_t property)
{
    return group->check == check && group->kind == kind && group->property == property &&
           group->loc[0] == loc[0] && group->loc[1] == loc[1] && group->loc[2] == loc[2];
}

static ft_group *group_find(ft_candidates *c, ft_check check, uint8_t kind, const uint32_t loc[3],
                            uint32_t property, const ft_claim *sample)
{
    uint64_t words[4] = {(uint64_t)check << 32 | kind, (uint64_t)loc[0] << 32 | loc[1], loc[2],
                         property};
    for (uint64_t key = ft_hash_bytes(words, sizeof words, 7);; key++) {
        bool inserted;
        uint64_t *slot = ft_map_slot(&c->group_index, key, c->groups.len, &inserted);
        size_t at = (size_t)*slot;
        if (inserted) {
            ft_group fresh = {.check = check,
                              .kind = kind,
                              .loc = {loc[0], loc[1], loc[2]},
                              .property = property,
                              .lock = UINT32_MAX,
                              .sample = *sample};
            ft_vec_push(&c->groups, fresh);
        }
        if (same_group(&c->groups.data[at], check, kind, loc, property)) return &c->groups.data[at];
    }
}

typedef struct single_pass {
    ft_candidates *c;
    ft_group proto;
    ft_block block;
} single_pass;

static bool add_single(void *context, const ft_claim *claim)
{
    single_pass *pass = context;
    ft_candidates *c = pass->c;
    if (c->single_groups++ >= FT_MAX_SINGLE_GROUPS) {
        c->overflow[pass->proto.check]++;
        return true;
    }
    ft_group group = pass->proto;
    group.sample = *claim;
    group.pairs = 1;
    ft_vec_push(&c->groups, group);
    return true;
}

static void each_of_block(const ft_candidates *c, ft_check check, const ft_block *block,
                          ft_claim_visit visit, void *context);

static void account_singles(ft_candidates *c, ft_check check, uint8_t kind, const uint32_t loc[3],
                            ft_reason reason, uint32_t lock, uint64_t count, ft_block block,
                            const ft_claim *sample)
{
    if (reason == FT_REASONS && c->single_groups >= FT_MAX_SINGLE_GROUPS) {
        c->overflow[check] += count;
        return;
    }
    if (reason == FT_REASONS) {
        single_pass pass = {.c = c,
                            .proto = {.check = check,
                                      .kind = kind,
                                      .loc = {loc[0], loc[1], loc[2]},
                                      .lock = UINT32_MAX},
                            .block = block};
        each_of_block(c, check, &block, add_single, &pass);
        return;
    }
    for (size_t i = 0; i < c->pruned.len; i++) {
        ft_pruned_block *p = &c->pruned.data[i];
        if (p->check != check || p->reason != reason || p->lock != lock) continue;
        p->count += count;
        return;
    }
    ft_vec_push(&c->pruned, (ft_pruned_block){check, reason, lock, count, *sample});
}

void ft_candidates_account(ft_candidates *c, ft_check check, uint8_t kind, const uint32_t loc[3],
                           uint32_t n_locs, uint32_t property, ft_reason reason, uint32_t lock,
                           uint64_t count, ft_block block, const ft_claim *sample)
{
    uint32_t sorted[3] = {loc[0], loc[1], loc[2]};
    bool single = c->per_event;
    sort_locs(c->trace, sorted, n_locs);
    for (uint32_t i = 0; i < n_locs; i++) single |= loc[i] == FT_NO_LOC;
    if (single && check != FT_CHECK_PROPERTY) {
        account_singles(c, check, kind, sorted, reason, lock, count, block, sample);
        return;
    }
    if (check == FT_CHECK_PROPERTY) sorted[0] = sorted[1] = sorted[2] = FT_NO_LOC, kind = 0;
    ft_group *group = group_find(c, check, kind, sorted, property, sample);
    group->pairs += count;
    if (reason == FT_REASONS) {
        ft_vec_push(&group->blocks, block);
        return;
    }
    group->pruned[reason] += count;
    if (lock != UINT32_MAX) group->lock = lock;
}

/* ---- claims of a block ----------------------------------------------------------------------- */

static bool race_claims(const ft_candidates *c, const ft_block *block, ft_claim_visit visit,
                        void *context)
{
    const ft_class *a = &c->classes.data[block->left], *b = &c->classes.data[block->right];
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t j = 0; j < b->count; j++) {
            uint32_t x = c->class_events[a->first + i], y = c->class_events[b->first + j];
            ft_claim claim = {.kind = FT_CLAIM_RACE,
                              .events = {x < y ? x : y, x < y ? y : x, FT_NO_EVENT},
                              .variable = a->variable};
            if (!visit(context, &claim)) return false;
        }
    return true;
}

static bool atomicity_claims(const ft_candidates *c, const ft_block *block, ft_claim_visit visit,
                             void *context)
{
    const ft_local_pair_class *pair = &c->local_pairs.data[block->left];
    const ft_class *remote = &c->classes.data[block->right];
    for (uint32_t i = 0; i < pair->count; i++)
        for (uint32_t j = 0; j < remote->count; j++) {
            const uint32_t *local = c->pair_events.data + 2 * ((size_t)pair->first + i);
            ft_claim claim = {.kind = FT_CLAIM_ATOMICITY,
                              .events = {local[0], c->class_events[remote->first + j], local[1]},
                              .variable = pair->variable,
                              .writes = {pair->write[0], block->remote_write, pair->write[1]}};
            if (!visit(context, &claim)) return false;
        }
    return true;
}

static void each_of_block(const ft_candidates *c, ft_check check, const ft_block *block,
                          ft_claim_visit visit, void *context)
{
    if (check == FT_CHECK_RACE) {
        race_claims(c, block, visit, context);
    } else if (check == FT_CHECK_ATOMICITY) {
        atomicity_claims(c, block, visit, context);
    } else {
        ft_claim claim = {.kind = FT_CLAIM_ASSERTION,
                          .events = {block->left, FT_NO_EVENT, FT_NO_EVENT}};
        visit(context, &claim);
    }
}

typedef struct stop_pass {
    ft_claim_visit visit;
    void *context;
    bool stopped;
} stop_pass;

static bool visit_until_stop(void *context, const ft_claim *claim)
{
    stop_pass *pass = context;
    pass->stopped = !pass->visit(pass->context, claim);
    return !pass->stopped;
}

void ft_candidates_each(const ft_candidates *c, const ft_group *group, ft_claim_visit visit,
                        void *context)
{
    if (group->blocks.len == 0) { /* a group of its own */
        visit(context, &group->sample);
        return;
    }
    stop_pass pass = {.visit = visit, .context = context};
    ft_check shape = group->check == FT_CHECK_PROPERTY ? FT_CHECK_ATOMICITY : group->check;
    for (size_t i = 0; i < group->blocks.len && !pass.stopped; i++)
        each_of_block(c, shape, &group->blocks.data[i], visit_until_stop, &pass);
}
