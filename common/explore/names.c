#include "explore/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/map.h"

struct ft_x_walked {
    ft_x_name name;
    uint32_t before; /* of its thread, from 1 */
};

/* ---- names */

static uint64_t mix(uint64_t h, uint64_t word, uint64_t factor)
{
    h = (h ^ word) * factor;
    return h ^ h >> 29;
}

/* The halves have factors of their own, so that they do not collide together. */
static ft_x_name mix_name(ft_x_name n, uint64_t word)
{
    return (ft_x_name){mix(n.a, word, UINT64_C(0x9E3779B97F4A7C15)),
                       mix(n.b, word, UINT64_C(0xD1B54A32D192ED03))};
}

static ft_x_name finish_name(ft_x_name n)
{
    return (ft_x_name){ft_hash_u64(n.a), ft_hash_u64(n.b ^ n.a << 1)};
}

/* Adds a thread's last event to the name of a set of them, in any order. */
static void add_last(ft_x_name *sum, uint32_t thread, ft_x_name event)
{
    ft_x_name n = finish_name(mix_name(event, thread + 1));
    sum->a += n.a;
    sum->b += n.b;
}

static ft_x_name action_name(const ft_x_action *a)
{
    const ft_x_operation *o = &a->operation;
    ft_x_name n = {1, 2};
    n = mix_name(n, (uint64_t)o->kind << 32 | a->thread);
    n = mix_name(n, (uint64_t)o->object << 32 | o->other);
    n = mix_name(n, (uint64_t)o->value);
    n = mix_name(n, (uint64_t)o->value2);
    n = mix_name(n, a->variant);
    return mix_name(n, a->outcome);
}

/* ---- sets of names */

static struct ft_x_named *find(const ft_x_names *all, ft_x_name name)
{
    size_t i = name.a & (all->cap - 1);
    while (all->slots[i].value &&
           (all->slots[i].name.a != name.a || all->slots[i].name.b != name.b))
        i = (i + 1) & (all->cap - 1);
    return &all->slots[i];
}

static void grow(ft_x_names *all)
{
    ft_x_names larger = {.cap = all->cap ? 2 * all->cap : 64, .len = all->len};
    larger.slots = ft_calloc(larger.cap, sizeof *larger.slots);
    for (size_t i = 0; i < all->cap; i++)
        if (all->slots[i].value) *find(&larger, all->slots[i].name) = all->slots[i];
    free(all->slots);
    *all = larger;
}

uint32_t *ft_x_names_slot(ft_x_names *all, ft_x_name name)
{
    if (4 * (all->len + 1) > 3 * all->cap) grow(all);
    struct ft_x_named *slot = find(all, name);
    if (!slot->value) all->len++;
    slot->name = name;
    return &slot->value;
}

bool ft_x_names_has(const ft_x_names *all, ft_x_name name)
{
    return all->cap && find(all, name)->value;
}

size_t ft_x_names_bytes(const ft_x_names *all)
{
    return all->cap * sizeof *all->slots;
}

void ft_x_names_release(ft_x_names *all)
{
    free(all->slots);
    *all = (ft_x_names){0};
}

/* ---- walking along a run */

static void see_objects(uint32_t *n, const ft_x_operation *o)
{
    if (o->object >= *n) *n = o->object + 1;
    if (o->other >= *n) *n = o->other + 1;
}

static void see_thread(ft_x_walk *w, uint32_t thread)
{
    FT_REQUIRE(thread < FT_X_THREADS);
    if (thread >= w->n_threads) w->n_threads = thread + 1;
}

/* Numbers of threads and objects, and where each thread goes on. */
static uint32_t survey(ft_x_walk *w, const ft_x_world *world)
{
    const ft_x_run *run = w->run;
    uint32_t n_objects = world->n_objects, newest[FT_X_THREADS] = {0};
    w->n_threads = world->n_threads;
    memset(w->first, 0, sizeof w->first);
    ft_vec_reserve(&w->following, run->steps.len + 1);
    for (size_t i = 0; i < run->steps.len; i++) {
        const ft_x_action *a = &run->steps.data[i];
        see_thread(w, a->thread);
        if (a->operation.kind == FT_X_CREATE) see_thread(w, a->operation.object);
        see_objects(&n_objects, &a->operation);
        w->following.data[i] = 0;
        if (newest[a->thread])
            w->following.data[newest[a->thread] - 1] = (uint32_t)i + 1;
        else
            w->first[a->thread] = (uint32_t)i + 1;
        newest[a->thread] = (uint32_t)i + 1;
    }
    for (uint32_t t = 0; t < w->n_threads; t++) see_objects(&n_objects, &run->pending[t]);
    for (size_t i = 0; i < run->initial.len; i++)
        if (run->initial.data[i].object >= n_objects) n_objects = run->initial.data[i].object + 1;
    return n_objects;
}

/* What the thread stands before when its next step is that one (from 1; 0: it has none). */
static ft_x_operation operation_at(const ft_x_walk *w, uint32_t thread, uint32_t step)
{
    return step ? w->run->steps.data[step - 1].operation : w->run->pending[thread];
}

static void stand_before(ft_x_walk *w, uint32_t thread, uint32_t step)
{
    w->next[thread] = operation_at(w, thread, step);
    if (w->next[thread].kind == FT_X_NONE) w->state.ended |= UINT64_C(1) << thread;
}

void ft_x_walk_begin(ft_x_walk *w, const ft_x_world *world, const ft_x_run *run)
{
    w->run = run;
    w->at = 0;
    uint32_t n_objects = survey(w, world);
    size_t n = run->steps.len + 1;
    if (n > w->cap) w->steps = ft_vec_grow(w->steps, &w->cap, n, sizeof *w->steps);
    if (n * w->n_threads > w->clock_cap)
        w->clocks = ft_vec_grow(w->clocks, &w->clock_cap, n * w->n_threads, sizeof *w->clocks);
    if (n_objects > w->object_cap) {
        free(w->objects);
        w->objects = ft_calloc(n_objects, sizeof *w->objects);
        w->object_cap = n_objects;
    }
    if (n_objects) memset(w->objects, 0, n_objects * sizeof *w->objects);
    for (uint32_t i = 0; i < world->n_objects; i++) w->objects[i].value = world->initial[i];
    for (size_t i = 0; i < run->initial.len; i++)
        w->objects[run->initial.data[i].object] = run->initial.data[i].state;
    w->state =
        (ft_x_state){.objects = w->objects, .n_objects = n_objects, .watches = world->watches};
    memset(w->last, 0, sizeof w->last);
    memset(w->next, 0, sizeof w->next);
    for (uint32_t t = 0; t < world->n_threads; t++) stand_before(w, t, w->first[t]);
}

void ft_x_walk_release(ft_x_walk *w)
{
    free(w->steps);
    free(w->clocks);
    free(w->objects);
    ft_vec_release(&w->following);
    *w = (ft_x_walk){0};
}

static const uint32_t *clock_of(const ft_x_walk *w, uint32_t step)
{
    return w->clocks + (size_t)(step - 1) * w->n_threads;
}

static void join(const ft_x_walk *w, uint32_t *clock, uint32_t step)
{
    const uint32_t *other = clock_of(w, step);
    for (uint32_t t = 0; t < w->n_threads; t++)
        if (other[t] > clock[t]) clock[t] = other[t];
}

/* The history of the action at hand: by thread its last step there. */
static void history(const ft_x_walk *w, const ft_x_action *a, uint32_t *clock)
{
    memset(clock, 0, w->n_threads * sizeof *clock);
    if (w->last[a->thread]) join(w, clock, w->last[a->thread]);
    for (uint32_t t = 0; t < w->n_threads; t++) {
        if (t == a->thread) continue;
        for (uint32_t e = w->last[t]; e > clock[t]; e = w->steps[e - 1].before) {
            if (!ft_x_dependent(a, &w->run->steps.data[e - 1])) continue;
            join(w, clock, e);
            break;
        }
    }
}

static ft_x_name event_name(const ft_x_walk *w, const ft_x_action *a, const uint32_t *clock)
{
    ft_x_name sum = {0, 0}, n = action_name(a);
    for (uint32_t t = 0; t < w->n_threads; t++)
        if (clock[t]) add_last(&sum, t, w->steps[clock[t] - 1].name);
    return finish_name(mix_name(mix_name(n, sum.a), sum.b));
}

bool ft_x_walk_fits(const ft_x_walk *w)
{
    if (w->at == w->run->steps.len) return false;
    const ft_x_action *a = &w->run->steps.data[w->at];
    return w->next[a->thread].kind != FT_X_NONE && ft_x_is_choice(&w->state, a);
}

void ft_x_walk_step(ft_x_walk *w)
{
    assert(w->at < w->run->steps.len);
    const ft_x_action *a = &w->run->steps.data[w->at];
    uint32_t *clock = w->clocks + w->at * w->n_threads;
    history(w, a, clock);
    w->steps[w->at].before = w->last[a->thread];
    w->steps[w->at].name = event_name(w, a, clock);
    w->at++;
    w->last[a->thread] = clock[a->thread] = (uint32_t)w->at;
    w->names[a->thread] = w->steps[w->at - 1].name;
    ft_x_apply(&w->state, a);
    stand_before(w, a->thread, w->following.data[w->at - 1]);
    if (a->operation.kind == FT_X_CREATE)
        stand_before(w, a->operation.object, w->first[a->operation.object]);
}

static ft_x_name sum_of(const ft_x_walk *w, uint32_t but)
{
    ft_x_name sum = {0, 0};
    for (uint32_t t = 0; t < w->n_threads; t++)
        if (w->last[t] && t != but) add_last(&sum, t, w->names[t]);
    return sum;
}

ft_x_name ft_x_walk_name(const ft_x_walk *w)
{
    return sum_of(w, FT_X_THREADS);
}

bool ft_x_walk_enables(const ft_x_walk *w, uint32_t thread)
{
    ft_x_choice choices[FT_X_THREADS];
    if (thread >= w->n_threads) return false;
    return ft_x_choices(&w->state, thread, &w->next[thread], choices) > 0;
}

static void name_branch(const ft_x_walk *w, ft_x_branch *b, const ft_x_action *a)
{
    uint32_t clock[FT_X_THREADS];
    b->action = *a;
    history(w, a, clock);
    b->name = sum_of(w, a->thread);
    add_last(&b->name, a->thread, event_name(w, a, clock));
}

/* Where no thread can do anything else. */
static size_t late_branches(const ft_x_walk *w, ft_x_branch *branches, size_t room)
{
    size_t n = 0;
    for (uint32_t t = 0; t < w->n_threads && !w->state.exited; t++) {
        ft_x_action a = {.operation = w->next[t], .thread = (uint16_t)t, .variant = FT_X_TIMED_OUT};
        if (!ft_x_may_be_late(&w->state, t, &a.operation)) continue;
        if (n < room) name_branch(w, &branches[n], &a);
        n++;
    }
    return n;
}

size_t ft_x_walk_branches(const ft_x_walk *w, ft_x_branch *branches, size_t room)
{
    size_t n = 0;
    ft_x_choice choices[FT_X_THREADS];
    for (uint32_t t = 0; t < w->n_threads; t++) {
        uint32_t many = ft_x_choices(&w->state, t, &w->next[t], choices);
        for (uint32_t k = 0; k < many; k++, n++) {
            ft_x_action a = {.operation = w->next[t],
                             .thread = (uint16_t)t,
                             .variant = choices[k].variant,
                             .outcome = choices[k].outcome};
            if (n < room) name_branch(w, &branches[n], &a);
        }
    }
    return n ? n : late_branches(w, branches, room);
}
