#include "explore/unfolding.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/map.h"
#include "base/memory.h"

typedef struct event {
    uint32_t action;       /* in actions */
    uint32_t before;       /* of its thread */
    uint32_t jump;         /* of its thread, farther before: where to go on from in long threads */
    uint32_t depth;        /* how many of its thread come before */
    uint32_t next;         /* actions + 1; 0: not seen yet */
    uint32_t conflicts;    /* the newest link + 1; 0: none */
    uint32_t clock;        /* the first of its numbers in clocks */
    uint8_t thread, width; /* width: threads that the clock has */
    uint8_t owner;         /* who holds its mutex behind it: thread + 2; 1: nobody; 0: not said */
} event;

/* A set of numbers that are not 0. */
typedef struct pair_set {
    uint64_t *slots;
    size_t len, cap;
} pair_set;

typedef struct link {
    uint32_t event, before; /* before: the next older link + 1 */
} link;

struct ft_unfolding {
    FT_VEC(event) events; /* by number; the first is unused */
    FT_VEC(uint32_t) clocks;
    FT_VEC(ft_x_action) actions; /* without their threads */
    FT_VEC(link) links;
    uint32_t *by_content;        /* by hash: events; 0: a free slot */
    size_t content_cap;          /* of by_content, a power of 2 */
    ft_map by_action;            /* hash of an action -> index */
    ft_map firsts;               /* CREATE -> what the thread stands before: action + 1 */
    pair_set pairs;              /* of conflicts that are kept */
    uint32_t n_threads;          /* of the world */
    uint32_t width;              /* threads that were seen: all numbers are below it */
    uint32_t *first;             /* by thread of the world: action */
    FT_VEC(ft_x_object) initial; /* by object */
    FT_VEC(bool) is_said;        /* by object: it was declared on the way */
    const ft_x_watches *watches;
    ft_x_object *objects; /* scratch */
    uint32_t n_objects;
    FT_VEC(uint32_t) list; /* scratch */
};

static bool is_same_operation(const ft_x_operation *a, const ft_x_operation *b)
{
    return a->kind == b->kind && a->object == b->object && a->other == b->other &&
           a->value == b->value && a->value2 == b->value2;
}

static void see(ft_unfolding *u, const ft_x_operation *o)
{
    bool names_thread = ft_x_kind_class((ft_x_kind)o->kind) == FT_X_THREAD;
    if (names_thread && o->object >= u->width) u->width = o->object + 1;
    if (o->object >= u->n_objects) u->n_objects = o->object + 1;
    if (o->other >= u->n_objects) u->n_objects = o->other + 1;
}

/* The number of the action, whatever its thread. */
static uint32_t number_of(ft_unfolding *u, const ft_x_action *a)
{
    const ft_x_operation *o = &a->operation;
    const uint64_t words[] = {o->kind,
                              (uint64_t)o->object << 32 | o->other,
                              (uint64_t)o->value,
                              (uint64_t)o->value2,
                              a->variant,
                              a->outcome};
    uint64_t key = ft_hash_bytes(words, sizeof words, 1);
    for (;; key++) {
        bool inserted;
        uint64_t *slot = ft_map_slot(&u->by_action, key, u->actions.len, &inserted);
        if (inserted) {
            ft_vec_push(&u->actions, *a);
            u->actions.data[*slot].thread = 0;
            see(u, o);
            return (uint32_t)*slot;
        }
        const ft_x_action *b = &u->actions.data[*slot];
        if (is_same_operation(&b->operation, o) && a->variant == b->variant &&
            a->outcome == b->outcome)
            return (uint32_t)*slot;
    }
}

static uint32_t operation_of(ft_unfolding *u, const ft_x_operation *o)
{
    ft_x_action a = {.operation = *o};
    return number_of(u, &a);
}

ft_unfolding *ft_unfolding_new(const ft_x_world *world)
{
    FT_REQUIRE(world->n_threads > 0 && world->n_threads <= FT_X_THREADS);
    ft_unfolding *u = ft_calloc(1, sizeof *u);
    ft_vec_push(&u->events, (event){0});
    u->n_threads = u->width = world->n_threads;
    u->first = ft_calloc(world->n_threads, sizeof *u->first);
    for (uint32_t t = 0; t < world->n_threads; t++) u->first[t] = operation_of(u, &world->first[t]);
    u->watches = world->watches;
    for (uint32_t i = 0; i < world->n_objects; i++)
        ft_vec_push(&u->initial, (ft_x_object){.value = world->initial[i]});
    if (world->n_objects > u->n_objects) u->n_objects = world->n_objects;
    return u;
}

void ft_unfolding_free(ft_unfolding *u)
{
    if (!u) return;
    ft_vec_release(&u->events);
    ft_vec_release(&u->clocks);
    ft_vec_release(&u->actions);
    ft_vec_release(&u->links);
    ft_vec_release(&u->list);
    free(u->by_content);
    ft_map_release(&u->by_action);
    ft_map_release(&u->firsts);
    free(u->pairs.slots);
    free(u->first);
    ft_vec_release(&u->initial);
    ft_vec_release(&u->is_said);
    free(u->objects);
    free(u);
}

size_t ft_unfolding_events(const ft_unfolding *u)
{
    return u->events.len - 1;
}

size_t ft_unfolding_bytes(const ft_unfolding *u)
{
    const size_t slot = 2 * sizeof(uint64_t) + 1;
    return u->events.cap * sizeof(event) + u->clocks.cap * sizeof(uint32_t) +
           u->actions.cap * sizeof(ft_x_action) + u->links.cap * sizeof(link) +
           u->content_cap * sizeof(uint32_t) + u->pairs.cap * sizeof(uint64_t) +
           (u->by_action.cap + u->firsts.cap) * slot;
}

static const event *get(const ft_unfolding *u, uint32_t e)
{
    FT_REQUIRE(e != FT_X_NO_EVENT && e < u->events.len);
    return &u->events.data[e];
}

ft_x_action ft_unfolding_action(const ft_unfolding *u, uint32_t e)
{
    const event *x = get(u, e);
    ft_x_action a = u->actions.data[x->action];
    a.thread = x->thread;
    return a;
}

const ft_x_operation *ft_unfolding_operation(const ft_unfolding *u, uint32_t e)
{
    return &u->actions.data[get(u, e)->action].operation;
}

ft_configuration ft_unfolding_causes(const ft_unfolding *u, uint32_t e)
{
    const event *x = get(u, e);
    ft_configuration c = {{0}};
    memcpy(c.last, u->clocks.data + x->clock, x->width * sizeof *c.last);
    return c;
}

uint32_t ft_unfolding_before(const ft_unfolding *u, uint32_t e)
{
    return get(u, e)->before;
}

uint32_t ft_unfolding_depth(const ft_unfolding *u, uint32_t e)
{
    return get(u, e)->depth;
}

uint32_t ft_unfolding_thread(const ft_unfolding *u, uint32_t e)
{
    return get(u, e)->thread;
}

static uint32_t last_in_clock(const ft_unfolding *u, const event *x, uint32_t thread)
{
    return thread < x->width ? u->clocks.data[x->clock + thread] : FT_X_NO_EVENT;
}

uint32_t ft_unfolding_last_cause(const ft_unfolding *u, uint32_t e, uint32_t thread)
{
    return last_in_clock(u, get(u, e), thread);
}

bool ft_unfolding_is(const ft_unfolding *u, uint32_t e, const ft_x_action *a)
{
    ft_x_action b = ft_unfolding_action(u, e);
    return a->thread == b.thread && a->variant == b.variant && a->outcome == b.outcome &&
           is_same_operation(&a->operation, &b.operation);
}

bool ft_unfolding_may_depend(const ft_unfolding *u, uint32_t thread,
                             const ft_x_operation *operation, uint32_t e)
{
    ft_x_action b = ft_unfolding_action(u, e);
    return ft_x_may_depend(thread, operation, &b);
}

/* ---- what threads stand before */

/* The event that creates the thread in the configuration. */
static uint32_t creator(const ft_unfolding *u, const ft_configuration *c, uint32_t thread)
{
    for (uint32_t t = 0; t < u->width; t++)
        for (uint32_t e = c->last[t]; e; e = u->events.data[e].before) {
            const ft_x_operation *o = ft_unfolding_operation(u, e);
            if (o->kind == FT_X_CREATE && o->object == thread) return e;
        }
    return FT_X_NO_EVENT;
}

/* What it was said to stand before: an operation + 1; 0: not seen yet, or not created. */
static uint32_t said_before(const ft_unfolding *u, const ft_configuration *c, uint32_t thread)
{
    uint32_t e = c->last[thread];
    if (e) return u->events.data[e].next;
    if (thread < u->n_threads) return u->first[thread] + 1;
    uint64_t said = 0;
    e = creator(u, c, thread);
    if (e) (void)ft_map_get(&u->firsts, e, &said);
    return (uint32_t)said;
}

ft_x_operation ft_unfolding_pending(const ft_unfolding *u, const ft_configuration *c,
                                    uint32_t thread, bool *known)
{
    FT_REQUIRE(thread < FT_X_THREADS);
    uint32_t said = said_before(u, c, thread);
    *known = said != 0;
    return said ? u->actions.data[said - 1].operation : (ft_x_operation){.kind = FT_X_NONE};
}

uint32_t ft_unfolding_threads(const ft_unfolding *u)
{
    return u->width;
}

bool ft_unfolding_say_next(ft_unfolding *u, uint32_t e, const ft_x_operation *next)
{
    uint32_t said = get(u, e)->next;
    if (said) return is_same_operation(&u->actions.data[said - 1].operation, next);
    u->events.data[e].next = operation_of(u, next) + 1;
    return true;
}

bool ft_unfolding_say_first(ft_unfolding *u, uint32_t e, const ft_x_operation *first)
{
    bool inserted;
    uint64_t said = operation_of(u, first) + UINT64_C(1);
    (void)get(u, e);
    return *ft_map_slot(&u->firsts, e, said, &inserted) == said;
}

/* ---- configurations */

/* Is a the event b, or one of b's thread before it? */
static bool is_along(const ft_unfolding *u, uint32_t a, uint32_t b)
{
    if (!a) return true;
    if (!b) return false;
    uint32_t depth = u->events.data[a].depth;
    while (b > a && u->events.data[b].depth > depth) {
        const event *x = &u->events.data[b];
        b = u->events.data[x->jump].depth >= depth && x->jump ? x->jump : x->before;
    }
    return a == b;
}

bool ft_unfolding_holds(const ft_unfolding *u, const ft_configuration *c, uint32_t e)
{
    return is_along(u, e, c->last[get(u, e)->thread]);
}

bool ft_unfolding_is_history(const ft_unfolding *u, uint32_t e, const ft_configuration *c)
{
    const event *x = get(u, e);
    for (uint32_t t = 0; t < u->width; t++) {
        uint32_t last = t == x->thread ? x->before : last_in_clock(u, x, t);
        if (last != c->last[t]) return false;
    }
    return true;
}

/* Of two configurations that do not exclude each other, each thread goes the farther one's way. */
static void join_clock(const ft_unfolding *u, ft_configuration *c, const event *x)
{
    for (uint32_t t = 0; t < x->width; t++) {
        uint32_t e = u->clocks.data[x->clock + t];
        if (!e) continue;
        uint32_t has = c->last[t];
        if (!has || u->events.data[e].depth > u->events.data[has].depth) c->last[t] = e;
    }
}

void ft_unfolding_join(const ft_unfolding *u, ft_configuration *c, uint32_t e)
{
    FT_CHECK(ft_unfolding_fits(u, c, e));
    join_clock(u, c, get(u, e));
}

static ft_x_action action_of(const ft_unfolding *u, uint32_t e)
{
    return ft_unfolding_action(u, e);
}

/* Is no event of the thread in c, down to `until`, dependent on the action? */
static bool is_independent(const ft_unfolding *u, uint32_t last, uint32_t until,
                           const ft_x_action *a)
{
    for (uint32_t e = last; e && e != until; e = u->events.data[e].before) {
        ft_x_action b = action_of(u, e);
        if (ft_x_dependent(a, &b)) return false;
    }
    return true;
}

/* Events of c alone and events of [e] alone must be independent: neither is a cause of the other.
 */
bool ft_unfolding_fits(const ft_unfolding *u, const ft_configuration *c, uint32_t e)
{
    const event *x = get(u, e);
    bool more = false;
    for (uint32_t t = 0; t < x->width; t++) {
        uint32_t own = u->clocks.data[x->clock + t];
        if (!is_along(u, own, c->last[t]) && !is_along(u, c->last[t], own)) return false;
        more = more || !is_along(u, own, c->last[t]);
    }
    if (!more) return true;
    for (uint32_t t = 0; t < x->width; t++) {
        for (uint32_t f = u->clocks.data[x->clock + t]; f && !is_along(u, f, c->last[t]);
             f = u->events.data[f].before) {
            ft_x_action a = action_of(u, f);
            for (uint32_t s = 0; s < u->width; s++) {
                if (s == t || !c->last[s]) continue;
                uint32_t shared = last_in_clock(u, x, s);
                if (is_along(u, c->last[s], shared)) continue;
                if (!is_independent(u, c->last[s], shared, &a)) return false;
            }
        }
    }
    return true;
}

size_t ft_unfolding_list(const ft_unfolding *u, const ft_configuration *c, uint32_t *events,
                         size_t room)
{
    size_t n = 0;
    uint32_t heads[FT_X_THREADS], threads = 0;
    for (uint32_t t = 0; t < u->width; t++) {
        if (!c->last[t]) continue;
        heads[threads++] = c->last[t];
        n += u->events.data[c->last[t]].depth + 1;
    }
    if (n > room) return n;
    for (size_t i = n; i-- > 0;) { /* the threads' lists, merged from their ends on */
        uint32_t newest = 0;
        for (uint32_t k = 1; k < threads; k++)
            if (heads[k] > heads[newest]) newest = k;
        events[i] = heads[newest];
        heads[newest] = u->events.data[events[i]].before;
    }
    return n;
}

static bool is_end(const ft_unfolding *u, uint32_t said)
{
    return said && u->actions.data[said - 1].operation.kind == FT_X_NONE;
}

static uint64_t ended_at_start(const ft_unfolding *u)
{
    uint64_t ended = 0;
    for (uint32_t t = 0; t < u->n_threads; t++)
        if (is_end(u, u->first[t] + 1)) ended |= UINT64_C(1) << t;
    return ended;
}

/* The threads that end behind the event. */
static uint64_t ended_by(const ft_unfolding *u, uint32_t e)
{
    const event *x = &u->events.data[e];
    const ft_x_operation *o = ft_unfolding_operation(u, e);
    uint64_t ended = is_end(u, x->next) ? UINT64_C(1) << x->thread : 0, first = 0;
    if (o->kind == FT_X_CREATE && ft_map_get(&u->firsts, e, &first) && is_end(u, (uint32_t)first))
        ended |= UINT64_C(1) << o->object;
    return ended;
}

ft_x_state ft_unfolding_state(ft_unfolding *u, const ft_configuration *c)
{
    u->objects = ft_realloc(u->objects, u->n_objects + 1, sizeof *u->objects);
    memset(u->objects, 0, (u->n_objects + 1) * sizeof *u->objects);
    for (uint32_t i = 0; i < u->initial.len; i++) u->objects[i] = u->initial.data[i];
    ft_x_state state = {.objects = u->objects,
                        .n_objects = u->n_objects + 1,
                        .ended = ended_at_start(u),
                        .watches = u->watches};
    size_t n = ft_unfolding_list(u, c, NULL, 0);
    ft_vec_reserve(&u->list, n + 1);
    ft_unfolding_list(u, c, u->list.data, n);
    for (size_t i = 0; i < n; i++) {
        ft_x_action a = action_of(u, u->list.data[i]);
        ft_x_apply(&state, &a);
        state.ended |= ended_by(u, u->list.data[i]);
    }
    return state;
}

bool ft_unfolding_say_initial(ft_unfolding *u, uint32_t object, const ft_x_object *state)
{
    while (u->initial.len <= object) ft_vec_push(&u->initial, (ft_x_object){0});
    while (u->is_said.len <= object) ft_vec_push(&u->is_said, false);
    ft_x_object *held = &u->initial.data[object];
    if (object >= u->n_objects) u->n_objects = object + 1;
    if (!u->is_said.data[object]) *held = *state;
    u->is_said.data[object] = true;
    return held->value == state->value && held->waits == state->waits &&
           held->wakes == state->wakes && held->owner == state->owner &&
           held->count == state->count && held->readers == state->readers &&
           held->writers == state->writers;
}

const ft_x_object *ft_unfolding_initial(const ft_unfolding *u, uint32_t *n)
{
    *n = (uint32_t)u->initial.len;
    return u->initial.data;
}

/* ---- events */

static bool is_sound_event(const ft_unfolding *u, uint32_t e)
{
    const event *x = &u->events.data[e];
    if (x->before >= e || x->thread >= x->width) return false;
    if (x->depth != (x->before ? u->events.data[x->before].depth + 1 : 0)) return false;
    if (x->jump > x->before || (x->jump && u->events.data[x->jump].thread != x->thread))
        return false;
    for (uint32_t t = 0; t < x->width; t++) {
        uint32_t f = u->clocks.data[x->clock + t];
        if (t == x->thread ? f != e : f >= e) return false;
        if (!f || f == e) continue;
        if (u->events.data[f].thread != t) return false;
        for (uint32_t s = 0; s < u->events.data[f].width; s++)
            if (!is_along(u, u->clocks.data[u->events.data[f].clock + s], last_in_clock(u, x, s)))
                return false;
    }
    return true;
}

/* The causes of the action in the configuration, without itself. */
static void history(const ft_unfolding *u, const ft_configuration *c, const ft_x_action *a,
                    ft_configuration *h)
{
    *h = (ft_configuration){{0}};
    uint32_t own = c->last[a->thread];
    if (own) join_clock(u, h, &u->events.data[own]);
    for (uint32_t t = 0; t < u->width; t++) {
        if (t == a->thread) continue;
        for (uint32_t e = c->last[t]; e && !is_along(u, e, h->last[t]);
             e = u->events.data[e].before) {
            ft_x_action b = action_of(u, e);
            if (!ft_x_dependent(a, &b)) continue;
            join_clock(u, h, &u->events.data[e]);
            break;
        }
    }
}

static bool is_same(const ft_unfolding *u, uint32_t e, uint32_t action, uint32_t thread,
                    const ft_configuration *h)
{
    const event *x = &u->events.data[e];
    return x->action == action && x->thread == thread && ft_unfolding_is_history(u, e, h);
}

static uint64_t content(uint32_t action, uint32_t thread, const uint32_t *last, uint32_t width)
{
    while (width && !last[width - 1]) width--;
    return ft_hash_bytes(last, width * sizeof *last, (uint64_t)action << 8 | thread);
}

static uint64_t content_of(const ft_unfolding *u, uint32_t e)
{
    const event *x = &u->events.data[e];
    uint32_t last[FT_X_THREADS];
    memcpy(last, u->clocks.data + x->clock, x->width * sizeof *last);
    last[x->thread] = x->before;
    return content(x->action, x->thread, last, x->width);
}

static void grow_contents(ft_unfolding *u)
{
    u->content_cap = u->content_cap ? 2 * u->content_cap : 64;
    free(u->by_content);
    u->by_content = ft_calloc(u->content_cap, sizeof *u->by_content);
    for (uint32_t e = 1; e < u->events.len; e++) {
        size_t i = content_of(u, e) & (u->content_cap - 1);
        while (u->by_content[i]) i = (i + 1) & (u->content_cap - 1);
        u->by_content[i] = e;
    }
}

/* As skew-binary numbers have it: few jumps lead to any earlier event of the thread. */
static uint32_t jump_behind(const ft_unfolding *u, uint32_t before)
{
    const event *p = &u->events.data[before];
    if (!before || !p->jump) return before;
    const event *q = &u->events.data[p->jump];
    uint32_t far = q->jump ? u->events.data[q->jump].depth : 0;
    return p->depth - q->depth == q->depth - far && q->jump ? q->jump : before;
}

static uint32_t add_event(ft_unfolding *u, uint32_t thread, uint32_t action,
                          const ft_configuration *h)
{
    uint32_t number = (uint32_t)u->events.len, width = thread + 1u;
    for (uint32_t t = 0; t < u->width; t++)
        if (h->last[t] && t >= width) width = t + 1;
    FT_REQUIRE(u->clocks.len < UINT32_MAX - FT_X_THREADS);
    event x = {.action = action,
               .before = h->last[thread],
               .thread = (uint8_t)thread,
               .width = (uint8_t)width,
               .clock = (uint32_t)u->clocks.len};
    if (x.before) x.depth = u->events.data[x.before].depth + 1;
    x.jump = jump_behind(u, x.before);
    for (uint32_t t = 0; t < width; t++) ft_vec_push(&u->clocks, t == thread ? number : h->last[t]);
    assert(x.before < number);
    ft_vec_push(&u->events, x);
    FT_CHECK(is_sound_event(u, number));
    return number;
}

/* Most actions are what their thread was said to stand before. */
static uint32_t number_behind(ft_unfolding *u, const ft_x_action *a, uint32_t before)
{
    uint32_t said = before ? u->events.data[before].next : 0;
    if (!said || a->variant || a->outcome) return number_of(u, a);
    const ft_x_action *b = &u->actions.data[said - 1];
    return is_same_operation(&a->operation, &b->operation) ? said - 1 : number_of(u, a);
}

/* The event of the action with that history. */
static uint32_t event_with(ft_unfolding *u, const ft_x_action *a, const ft_configuration *h)
{
    uint32_t action = number_behind(u, a, h->last[a->thread]);
    if (4 * u->events.len >= 3 * u->content_cap) grow_contents(u);
    size_t i = content(action, a->thread, h->last, u->width) & (u->content_cap - 1);
    for (; u->by_content[i]; i = (i + 1) & (u->content_cap - 1))
        if (is_same(u, u->by_content[i], action, a->thread, h)) return u->by_content[i];
    u->by_content[i] = add_event(u, a->thread, action, h);
    return u->by_content[i];
}

uint32_t ft_unfolding_event(ft_unfolding *u, const ft_configuration *c, const ft_x_action *a)
{
    FT_REQUIRE(a->thread < FT_X_THREADS && a->operation.kind != FT_X_NONE);
    ft_configuration h;
    if (a->thread >= u->width) u->width = a->thread + 1u;
    history(u, c, a, &h);
    return event_with(u, a, &h);
}

uint32_t ft_unfolding_event_of(ft_unfolding *u, const ft_configuration *history,
                               const ft_x_action *a)
{
    FT_REQUIRE(a->thread < u->width && a->operation.kind != FT_X_NONE);
    FT_CHECK(ft_unfolding_is_history(u, ft_unfolding_event(u, history, a), history));
    return event_with(u, a, history);
}

void ft_unfolding_say_owner(ft_unfolding *u, uint32_t e, uint32_t owner)
{
    (void)get(u, e);
    assert(owner <= FT_X_THREADS);
    u->events.data[e].owner = (uint8_t)(owner + 1);
}

bool ft_unfolding_owner(const ft_unfolding *u, uint32_t e, uint32_t *owner)
{
    uint32_t said = get(u, e)->owner;
    if (said) *owner = said - 1;
    return said;
}

uint32_t ft_unfolding_late(ft_unfolding *u, const ft_configuration *c,
                           uint32_t events[FT_X_THREADS])
{
    uint32_t n = 0;
    ft_x_state state = ft_unfolding_state(u, c);
    for (uint32_t t = 0; t < u->width; t++) {
        bool known;
        ft_x_action a = {.thread = (uint16_t)t, .variant = FT_X_TIMED_OUT};
        a.operation = ft_unfolding_pending(u, c, t, &known);
        if (known && ft_x_may_be_late(&state, t, &a.operation))
            events[n++] = ft_unfolding_event(u, c, &a);
    }
    return n;
}

/* ---- conflicts */

bool ft_unfolding_is_cause(const ft_unfolding *u, uint32_t a, uint32_t b)
{
    return is_along(u, a, last_in_clock(u, get(u, b), get(u, a)->thread));
}

static uint64_t *place_of(const pair_set *s, uint64_t pair)
{
    size_t i = ft_hash_u64(pair) & (s->cap - 1);
    while (s->slots[i] && s->slots[i] != pair) i = (i + 1) & (s->cap - 1);
    return &s->slots[i];
}

/* Was it not there? */
static bool add_pair(pair_set *s, uint64_t pair)
{
    if (4 * (s->len + 1) > 3 * s->cap) {
        pair_set larger = {.cap = s->cap ? 2 * s->cap : 64, .len = s->len};
        larger.slots = ft_calloc(larger.cap, sizeof *larger.slots);
        for (size_t i = 0; i < s->cap; i++)
            if (s->slots[i]) *place_of(&larger, s->slots[i]) = s->slots[i];
        free(s->slots);
        *s = larger;
    }
    uint64_t *place = place_of(s, pair);
    if (*place) return false;
    s->len++;
    *place = pair;
    return true;
}

static void add_link(ft_unfolding *u, uint32_t of, uint32_t other)
{
    ft_vec_push(&u->links, (link){.event = other, .before = u->events.data[of].conflicts});
    u->events.data[of].conflicts = (uint32_t)u->links.len;
}

void ft_unfolding_conflict(ft_unfolding *u, uint32_t a, uint32_t b)
{
    FT_REQUIRE(a != b);
    (void)get(u, a), (void)get(u, b);
    FT_CHECK(!ft_unfolding_is_cause(u, a, b) && !ft_unfolding_is_cause(u, b, a));
    uint64_t pair = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
    if (!add_pair(&u->pairs, pair)) return;
    add_link(u, a, b);
    add_link(u, b, a);
}

uint32_t ft_unfolding_next_conflict(const ft_unfolding *u, uint32_t e, uint32_t *at)
{
    uint32_t i = *at ? u->links.data[*at - 1].before : get(u, e)->conflicts;
    *at = i;
    return i ? u->links.data[i - 1].event : FT_X_NO_EVENT;
}

/* ---- the checker */

bool ft_unfolding_is_sound(const ft_unfolding *u)
{
    for (uint32_t e = 1; e < u->events.len; e++)
        if (!is_sound_event(u, e)) return false;
    return true;
}
