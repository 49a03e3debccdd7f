/* Walks over the claims of groups. */
#include <string.h>

#include "candidate/candidate.h"

typedef struct walk {
    const ft_candidates *c;
    const ft_claim_cut *cut;
    ft_claim_visit visit;
    void *context;
    bool stopped;
    uint64_t seen; /* claims visited and left out */
} walk;

static void visit(walk *w, const ft_claim *claim)
{
    FT_CHECK(ft_claim_is_sound(w->c->trace, claim));
    w->seen++;
    w->stopped = !w->visit(w->context, claim);
}

/* A class, and its first event that is not early for the item. Items mostly come in order, and then
 * that event only moves forward. */
typedef struct class_part {
    const ft_class *class;
    uint32_t event, before; /* the first of them, and how many come before it */
    uint32_t item[2];       /* the item */
} class_part;

static class_part whole(const ft_class *class)
{
    return (class_part){.class = class, .event = class->first};
}

/* To leave claims out takes time as well: the walk may end there. */
static void leave_out(walk *w, uint64_t claims)
{
    w->seen += claims;
    if (claims && !w->stopped) w->stopped = !w->cut->left_out(w->cut->context, claims);
}

static void skip_early(walk *w, class_part *part, const uint32_t item[2])
{
    if (item[0] < part->item[0] || item[1] < part->item[1]) *part = whole(part->class);
    memcpy(part->item, item, sizeof part->item);
    for (; part->before < part->class->count; part->before++) {
        if (!w->cut->early(w->cut->context, item, part->event)) break;
        part->event = w->c->next_event[part->event];
    }
    leave_out(w, part->before);
}

static bool is_late(const walk *w, const uint32_t item[2], uint32_t event)
{
    return w->cut && w->cut->late(w->cut->context, item, event);
}

static void put_event(ft_claim *claim, const uint32_t item[2], uint32_t event)
{
    claim->events[0] = item[0];
    claim->events[1] = event;
    if (claim->kind == FT_CLAIM_ATOMICITY || event > item[0]) return;
    claim->events[0] = event;
    claim->events[1] = item[0];
}

/* The claims of the item with the class. */
static void item_claims(walk *w, ft_claim *claim, const uint32_t item[2], class_part *part)
{
    if (w->cut) skip_early(w, part, item);
    uint32_t event = part->event, i = part->before;
    for (; i < part->class->count && !w->stopped && !is_late(w, item, event); i++) {
        put_event(claim, item, event);
        visit(w, claim);
        event = w->c->next_event[event];
    }
    assert(i <= part->class->count);
    leave_out(w, part->class->count - i);
}

static void pair_claims(walk *w, uint32_t variable, const ft_class *a, const ft_class *b)
{
    ft_claim claim = {.kind = FT_CLAIM_RACE, .events = {0, 0, FT_NO_EVENT}, .variable = variable};
    class_part part = whole(b);
    uint32_t x = a->first;
    for (uint32_t i = 0; i < a->count && !w->stopped; x = w->c->next_event[x], i++)
        item_claims(w, &claim, (uint32_t[]){x, x}, &part);
}

/* The claims of a class with a site of many; with its own one, of each pair once. */
static void site_claims(walk *w, const ft_class *a, const ft_site *own, const ft_site *t)
{
    const ft_segments stretch = {a->segment, a->segment, a->thread};
    ft_open_slice slice;
    uint32_t at = t->first;
    while (ft_candidates_next_open(w->c, &stretch, t, &at, &slice))
        for (uint32_t i = slice.first; i < slice.end; i++) {
            const ft_class *b = &w->c->classes.data[w->c->threaded[i]];
            if (own != t || b > a) pair_claims(w, t->variable, a, b);
            if (w->stopped) return;
        }
}

static void race_claims(walk *w, const ft_block *block)
{
    const ft_candidates *c = w->c;
    const ft_site *s = &c->sites.data[block->left], *t = &c->sites.data[block->right];
    if (t->count >= FT_MANY_CLASSES) {
        for (uint32_t i = s->first; i < s->first + s->count && !w->stopped; i++)
            site_claims(w, &c->classes.data[i], s, t);
        return;
    }
    for (uint32_t i = s->first; i < s->first + s->count; i++)
        for (uint32_t j = s == t ? i + 1 : t->first; j < t->first + t->count; j++) {
            const ft_class *a = &c->classes.data[i], *b = &c->classes.data[j];
            if (ft_candidates_open(c, a, b)) pair_claims(w, s->variable, a, b);
            if (w->stopped) return;
        }
}

static void atomicity_claims(walk *w, const ft_block *block)
{
    const ft_local_pair_class *pair = &w->c->local_pairs.data[block->left];
    class_part part = whole(&w->c->classes.data[block->right]);
    for (uint32_t i = 0; i < pair->count && !w->stopped; i++) {
        const uint32_t *local = w->c->pair_events.data + 2 * ((size_t)pair->first + i);
        ft_claim claim = {.kind = FT_CLAIM_ATOMICITY,
                          .events = {local[0], FT_NO_EVENT, local[1]},
                          .variable = pair->variable,
                          .writes = {pair->write[0], block->remote_write, pair->write[1]}};
        item_claims(w, &claim, local, &part);
    }
}

/* ---- cycles: one request of each class, those of the first class vary first ---- */

typedef struct cycle_walk {
    walk *w;
    const uint32_t *classes;
    uint64_t below[FT_CLAIM_MAX_EVENTS]; /* by class: choices of all classes before it */
    ft_claim claim;                      /* so far: its last events */
} cycle_walk;

typedef bool (*is_cut)(void *context, const uint32_t item[2], uint32_t event);

/* How many of the requests come before the first for which that is as wanted. */
static size_t first_request(const walk *w, const ft_request_class *class, is_cut cut, bool wanted,
                            uint32_t other)
{
    const uint32_t item[2] = {other, other};
    size_t low = 0, high = class->events.len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (cut(w->cut->context, item, class->events.data[middle]) == wanted)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Those of the i-th class that no request chosen so far leaves out: from *from to *to. */
static void find_part(const cycle_walk *y, const ft_request_class *class, uint32_t i, size_t *from,
                      size_t *to)
{
    const walk *w = y->w;
    for (uint32_t k = i + 1; w->cut && k < y->claim.n_events; k++) {
        size_t open = first_request(w, class, w->cut->early, false, y->claim.events[k]);
        size_t end = first_request(w, class, w->cut->late, true, y->claim.events[k]);
        if (open > *from) *from = open;
        if (end < *to) *to = end;
    }
    if (*from > *to) *from = *to;
    assert(*to <= class->events.len);
}

/* The claims with what was chosen of the classes behind the i-th. */
static void class_claims(cycle_walk *y, uint32_t i)
{
    walk *w = y->w;
    const ft_request_class *class = &w->c->requests.data[y->classes[i]];
    size_t from = 0, to = class->events.len;
    find_part(y, class, i, &from, &to);
    leave_out(w, from * y->below[i]);
    for (size_t r = from; r < to && !w->stopped; r++) {
        y->claim.events[i] = class->events.data[r];
        if (i > 0)
            class_claims(y, i - 1);
        else
            visit(w, &y->claim);
    }
    leave_out(w, (class->events.len - to) * y->below[i]);
}

static void cycle_claims(walk *w, const ft_block *block)
{
    assert(block->right > 1 && block->right <= FT_CLAIM_MAX_EVENTS);
    assert((size_t)block->left + block->right <= w->c->cycles.len);
    cycle_walk y = {.w = w,
                    .classes = w->c->cycles.data + block->left,
                    .below = {1},
                    .claim = {.kind = FT_CLAIM_DEADLOCK, .n_events = block->right}};
    for (uint32_t i = 1; i < block->right; i++)
        y.below[i] = y.below[i - 1] * w->c->requests.data[y.classes[i - 1]].events.len;
    class_claims(&y, block->right - 1);
}

static void each_of_block(walk *w, ft_check check, const ft_block *block)
{
    if (check == FT_CHECK_RACE) {
        race_claims(w, block);
    } else if (check == FT_CHECK_ATOMICITY) {
        atomicity_claims(w, block);
    } else if (block->right) {
        cycle_claims(w, block);
    } else if (check != FT_CHECK_ASSERTION) {
        assert(block->left < w->c->listed.len);
        visit(w, &w->c->listed.data[block->left]);
    } else {
        ft_claim claim = {.kind = FT_CLAIM_ASSERTION,
                          .events = {block->left, FT_NO_EVENT, FT_NO_EVENT}};
        visit(w, &claim);
    }
}

void ft_candidates_each_of_block(const ft_candidates *c, ft_check check, const ft_block *block,
                                 ft_claim_visit visitor, void *context)
{
    FT_REQUIRE(block && visitor);
    walk w = {.c = c, .visit = visitor, .context = context};
    each_of_block(&w, check, block);
}

static uint64_t survivors(const ft_group *group)
{
    uint64_t left = group->pairs;
    for (int i = 0; i < FT_REASONS; i++) left -= group->pruned[i];
    return left;
}

void ft_candidates_each(const ft_candidates *c, const ft_group *group, const ft_claim_cut *cut,
                        ft_claim_visit visitor, void *context)
{
    FT_REQUIRE(group && visitor);
    FT_REQUIRE(!cut || (cut->early && cut->late && cut->left_out));
    walk w = {.c = c, .cut = cut, .visit = visitor, .context = context};
    ft_check shape = group->check == FT_CHECK_PROPERTY ? FT_CHECK_ATOMICITY : group->check;
    if (group->blocks.len == 0) visit(&w, &group->sample); /* a group of its own */
    for (size_t i = 0; i < group->blocks.len && !w.stopped; i++)
        each_of_block(&w, shape, &group->blocks.data[i]);
    assert(w.stopped || group->blocks.len == 0 || w.seen == survivors(group));
}
