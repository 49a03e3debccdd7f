/* Every state that the steps of one lock's sections come to, one by one: of each thread its step,
 * of each variable its value. They are few where values say who is next (turns, lists, rounds),
 * which sums of levels do not show. Where there are too many states, nothing is refuted. */
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "proofs/stuck/states_internal.h"

enum { MOST_SIGNALS = 64 /* of a step */ };
#define MOST_WORDS  ((size_t)12 * 1000 * 1000) /* of all states */
#define MOST_PLACES ((size_t)16 * 1000 * 1000) /* times threads */
#define MOST_WORK   ((uint64_t)40 * 1000 * 1000)

typedef struct search {
    const ft_stuck *s;
    const ft_steps *steps;
    ft_monitor_states *found;
    uint32_t n_threads;
    uint32_t width; /* words of a state (ft_steps_next) */
    FT_VEC(uint32_t) words;
    FT_VEC(uint32_t) slots; /* hash table: state + 1; 0: free */
    uint32_t n;
    uint64_t work;
    bool given_up;
} search;

/* ---- the set of states ----------------------------------------------------------------------- */

static const uint32_t *state_at(const search *x, uint32_t i)
{
    return x->words.data + (size_t)i * x->width;
}

static uint64_t hash_of(const search *x, const uint32_t *state)
{
    return ft_hash_bytes(state, x->width * sizeof *state, 7);
}

static void put_slot(search *x, uint32_t i)
{
    size_t mask = x->slots.cap - 1, at = hash_of(x, state_at(x, i)) & mask;
    assert(x->slots.cap && (x->slots.cap & mask) == 0);
    while (x->slots.data[at]) at = (at + 1) & mask;
    x->slots.data[at] = i + 1;
}

static void grow_slots(search *x)
{
    size_t cap = x->slots.cap ? 2 * x->slots.cap : 1024;
    free(x->slots.data);
    x->slots.data = ft_calloc(cap, sizeof *x->slots.data);
    x->slots.cap = cap;
    for (uint32_t i = 0; i < x->n; i++) put_slot(x, i);
}

static bool has_state(const search *x, const uint32_t *state)
{
    size_t mask = x->slots.cap - 1, at = hash_of(x, state) & mask;
    for (; x->slots.data[at]; at = (at + 1) & mask)
        if (memcmp(state_at(x, x->slots.data[at] - 1), state, x->width * sizeof *state) == 0)
            return true;
    return false;
}

/* Each thread is at one of its steps or at its end; no more threads are awake at a condition than
 * there are; at most one thread is inside the lock. */
static bool state_is_sound(const search *x, const uint32_t *state)
{
    uint32_t inside = 0;
    for (uint32_t t = 0; t < x->n_threads; t++) {
        if (state[t] > x->steps->first[t + 1] - x->steps->first[t]) return false;
        const ft_step *step = ft_steps_next(x->steps, state, t);
        inside += step ? step->inside : x->steps->ends_inside[t];
    }
    for (uint32_t i = 0; i < x->steps->n_counted; i++)
        if (state[x->steps->first_awake + i] > x->n_threads) return false;
    return inside <= 1;
}

static void add_state(search *x, const uint32_t *state)
{
    FT_CHECK(state_is_sound(x, state));
    if (2 * ((size_t)x->n + 1) > x->slots.cap) grow_slots(x);
    if (has_state(x, state)) return;
    if (x->words.len + x->width > MOST_WORDS) {
        x->given_up = true;
        return;
    }
    ft_vec_reserve(&x->words, x->words.len + x->width);
    memcpy(x->words.data + x->words.len, state, x->width * sizeof *state);
    x->words.len += x->width;
    assert(x->words.len == ((size_t)x->n + 1) * x->width);
    put_slot(x, x->n++);
}

/* ---- steps ----------------------------------------------------------------------------------- */

static bool is_taken(const search *x, const uint32_t *state)
{
    for (uint32_t t = 0; t < x->n_threads; t++) {
        const ft_step *step = ft_steps_next(x->steps, state, t);
        if (step ? step->inside : x->steps->ends_inside[t]) return true;
    }
    return false;
}

/* Nobody else sees it, and the thread goes on whatever the others do: so it may do so at once. */
static bool is_idle_step(const search *x, const uint32_t *state, const ft_step *step)
{
    return step && step->certain && !step->takes && step->acts == 0 &&
           step->asleep == FT_STEPS_AWAKE && ft_steps_are_met(x->steps, state, step);
}

static void take_idle_steps(const search *x, uint32_t *state)
{
    for (bool more = true; more;) {
        more = false;
        for (uint32_t t = 0; t < x->n_threads; t++)
            for (; is_idle_step(x, state, ft_steps_next(x->steps, state, t)); more = true)
                state[t] = ft_steps_next(x->steps, state, t)->next;
    }
}

static void settle(const search *x, uint32_t *state)
{
    do take_idle_steps(x, state);
    while (ft_wait_loops_enter(x->steps, state));
    ft_wait_loops_sleep(x->steps, state);
}

/* ---- signals --------------------------------------------------------------------------------- */

static bool sleeps_at(const search *x, const uint32_t *state, uint32_t thread, uint32_t condition)
{
    const ft_step *step = ft_steps_next(x->steps, state, thread);
    return step && step->asleep == condition;
}

static void wake_all(const search *x, uint32_t *state, uint32_t condition, uint32_t self)
{
    for (uint32_t t = 0; t < x->n_threads; t++)
        if (t != self && sleeps_at(x, state, t, condition)) state[t]++;
}

static void act(search *x, uint32_t *state, const ft_step *step, uint32_t from);

static uint32_t count_sleepers(const search *x, const uint32_t *state, const ft_step *step,
                               uint32_t condition, uint32_t from)
{
    uint32_t n = 0, self = x->s->trace->thread[step->event];
    for (uint32_t t = from; t < x->n_threads; t++)
        n += t != self && sleeps_at(x, state, t, condition);
    return n;
}

/* The signals from that act to `end`, all of one condition, wake threads from `from` on: whichever,
 * but in the order of their numbers, since any other wakes the same ones. Those that are not lost
 * must find enough behind the first that they take. The step's own thread is awake, though it may
 * be asleep behind the step. */
static void wake_any(search *x, uint32_t *state, const ft_step *step, uint32_t at, uint32_t end,
                     uint32_t from)
{
    assert(at <= end && end <= step->acts);
    const ft_step_act *signal = &x->steps->acts.data[step->first_act + at];
    uint32_t self = x->s->trace->thread[step->event];
    uint32_t left = at < end ? count_sleepers(x, state, step, signal->object, from) : 0;
    uint32_t wanted = left < end - at ? left : end - at;
    bool may_be_lost = left && signal->value;
    if (!left || may_be_lost) act(x, state, step, end);
    for (uint32_t t = from; left && (may_be_lost || left >= wanted) && !x->given_up; t++) {
        if (t == self || !sleeps_at(x, state, t, signal->object)) continue;
        uint32_t next[FT_STEPS_WIDTH];
        memcpy(next, state, x->width * sizeof *next);
        next[t]++;
        wake_any(x, next, step, at + 1, end, t + 1);
        left--;
    }
}

static uint32_t end_of_signals(const search *x, const ft_step *step, uint32_t from)
{
    const ft_step_act *acts = x->steps->acts.data + step->first_act;
    uint32_t end = from + 1;
    while (end < step->acts && acts[end].does == FT_STEP_SIGNALS &&
           acts[end].object == acts[from].object)
        end++;
    return end;
}

/* Executes the step from that act on; its thread already counts as behind it. */
static void act(search *x, uint32_t *state, const ft_step *step, uint32_t from)
{
    const ft_step_act *acts = x->steps->acts.data + step->first_act;
    for (uint32_t i = from; i < step->acts; i++) {
        uint32_t object = acts[i].object;
        assert(acts[i].does >= FT_STEP_SIGNALS || object < x->steps->n_variables);
        x->given_up |= ++x->work > MOST_WORK;
        switch (acts[i].does) {
        case FT_STEP_READS:
            if (state[x->n_threads + object] != acts[i].value) return;
            break;
        case FT_STEP_WRITES:
            state[x->n_threads + object] = acts[i].value;
            break;
        case FT_STEP_SIGNALS:
            if (ft_wait_loops_wake(x->steps, state, step, &acts[i])) break;
            wake_any(x, state, step, i, end_of_signals(x, step, i), 0);
            return;
        case FT_STEP_BROADCASTS:
            if (ft_wait_loops_wake(x->steps, state, step, &acts[i])) break;
            wake_all(x, state, object, x->s->trace->thread[step->event]);
            break;
        }
    }
    settle(x, state);
    add_state(x, state);
}

static void take_step(search *x, const uint32_t *state, uint32_t thread, const ft_step *step)
{
    uint32_t next[FT_STEPS_WIDTH];
    x->work++;
    if (!ft_steps_are_met(x->steps, state, step)) return;
    memcpy(next, state, x->width * sizeof *next);
    next[thread] = step->next;
    act(x, next, step, 0);
}

/* A thread that goes on was awake. */
static void go_on(search *x, const uint32_t *state, uint32_t thread, const ft_step *step)
{
    uint32_t next[FT_STEPS_WIDTH];
    assert(step->wait_loop < x->steps->n_counted);
    memcpy(next, state, x->width * sizeof *next);
    uint32_t *awake = &next[x->steps->first_awake + step->wait_loop];
    if (*awake) --*awake;
    take_step(x, next, thread, step);
}

static void leave(search *x, const uint32_t *state, uint32_t thread)
{
    const ft_step *all = x->steps->all.data + x->steps->first[thread];
    uint32_t place = state[thread], end = x->steps->first[thread + 1] - x->steps->first[thread];
    x->work++;
    if (place + 1 == end || is_taken(x, state)) return;
    if (!all[place + 1].others) go_on(x, state, thread, &all[place + 1]);
    for (uint32_t i = 0; i < all[place + 1].others; i++) {
        const ft_step *other = &all[x->steps->others.data[all[place + 1].first_other + i]];
        if (other->next != place) go_on(x, state, thread, other);
    }
}

static void try_steps(search *x, const uint32_t *state, uint32_t thread)
{
    const ft_step *step = ft_steps_next(x->steps, state, thread), *all;
    x->work++;
    if (ft_wait_loop_at(step, state[thread])) {
        leave(x, state, thread);
        return;
    }
    if (!step || step->asleep != FT_STEPS_AWAKE || (step->takes && is_taken(x, state))) return;
    if (!step->others) take_step(x, state, thread, step);
    all = x->steps->all.data + x->steps->first[thread];
    for (uint32_t i = 0; i < step->others; i++)
        take_step(x, state, thread, &all[x->steps->others.data[step->first_other + i]]);
}

/* ---- final states ---------------------------------------------------------------------------- */

static bool has_lock(const search *x, const uint32_t *state, uint32_t thread, uint32_t lock)
{
    const ft_step *step = ft_steps_next(x->steps, state, thread);
    return step ? ft_order_section_at(x->s->order, step->event, lock) != FT_NO_SECTION
                : ft_stuck_ends_with(x->s, thread, lock);
}

static bool is_free(const search *x, const uint32_t *state, uint32_t lock)
{
    for (uint32_t t = 0; t < x->n_threads; t++)
        if (has_lock(x, state, t, lock)) return false;
    return true;
}

static bool is_unstarted(const search *x, const uint32_t *state, uint32_t thread)
{
    const ft_step *step = ft_steps_next(x->steps, state, thread);
    return state[thread] == 0 && step && !ft_steps_are_met(x->steps, state, step);
}

static bool may_be_stuck(const search *x, const uint32_t *state, uint32_t thread)
{
    const ft_step *step = ft_steps_next(x->steps, state, thread);
    if (!step) return !x->s->cut[thread];
    if (is_unstarted(x, state, thread)) return true;
    if (ft_wait_loop_at(step, state[thread]))
        return state[x->steps->first_awake + step->wait_loop] == 0 ||
               !is_free(x, state, x->steps->lock);
    if (!step->stuck || (step->certain && ft_steps_are_met(x->steps, state, step))) return false;
    return !ft_order_opens(x->s->trace, step->event) ||
           !is_free(x, state, x->s->trace->object[step->event]);
}

static void note_final(search *x, const uint32_t *state)
{
    for (uint32_t t = 0; t < x->n_threads; t++)
        if (!may_be_stuck(x, state, t)) return;
    for (uint32_t t = 0; t < x->n_threads; t++)
        if (ft_steps_next(x->steps, state, t))
            x->found->stuck[x->steps->first[t] + ft_steps_next(x->steps, state, t)->place] = true;
}

/* ---- who is where at once -------------------------------------------------------------------- */

static void note_places(search *x, const uint32_t *state)
{
    ft_monitor_states *found = x->found;
    uint32_t place[FT_STEPS_THREADS];
    for (uint32_t t = 0; t < x->n_threads; t++) {
        const ft_step *step = ft_steps_next(x->steps, state, t);
        place[t] = step ? step->place : state[t];
    }
    for (uint32_t t = 0; t < x->n_threads; t++) {
        size_t row = ft_states_row(found, t, place[t]);
        for (uint32_t u = 0; u < x->n_threads; u++) {
            if (place[u] < found->low[row + u]) found->low[row + u] = place[u];
            if (place[u] > found->high[row + u]) found->high[row + u] = place[u];
        }
    }
    x->work += (uint64_t)x->n_threads * x->n_threads / 8;
}

static void begin_places(const search *x)
{
    size_t n = (x->steps->all.len + x->n_threads) * x->n_threads;
    if (n > MOST_PLACES) return;
    x->found->low = ft_alloc((n + 1) * sizeof *x->found->low);
    x->found->high = ft_calloc(n + 1, sizeof *x->found->high);
    memset(x->found->low, 0xff, n * sizeof *x->found->low);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void begin(search *x)
{
    uint32_t state[FT_STEPS_WIDTH] = {0};
    for (uint32_t i = 0; i < x->steps->n_variables; i++)
        state[x->n_threads + i] = x->steps->initial[i];
    settle(x, state);
    add_state(x, state);
}

static void visit_all(search *x)
{
    uint32_t state[FT_STEPS_WIDTH];
    begin(x);
    for (uint32_t i = 0; i < x->n && !x->given_up; i++) {
        memcpy(state, state_at(x, i), x->width * sizeof *state); /* the table moves */
        for (uint32_t t = 0; t < x->n_threads; t++) try_steps(x, state, t);
        note_final(x, state);
        if (x->found->low) note_places(x, state);
        x->given_up |= x->work > MOST_WORK;
    }
}

static bool is_served(const ft_steps *steps)
{
    for (size_t i = 0; i < steps->all.len; i++) {
        const ft_step *step = &steps->all.data[i];
        uint32_t signals = 0;
        for (uint32_t k = 0; k < step->acts; k++)
            signals += steps->acts.data[step->first_act + k].does == FT_STEP_SIGNALS;
        if (signals > MOST_SIGNALS || (step->asleep != FT_STEPS_AWAKE && step->acts)) return false;
    }
    return steps->n_variables > 0;
}

/* ---- life ------------------------------------------------------------------------------------ */

static void search_all(ft_monitor_states *found)
{
    search x = {.s = found->steps->s,
                .steps = found->steps,
                .found = found,
                .n_threads = found->steps->s->order->n_threads};
    x.width = x.steps->first_awake + x.steps->n_counted;
    assert(x.width <= FT_STEPS_WIDTH && x.n_threads <= FT_STEPS_THREADS);
    found->stuck = ft_calloc(x.steps->all.len + 1, sizeof *found->stuck);
    begin_places(&x);
    visit_all(&x);
    found->all = !x.given_up;
    ft_vec_release(&x.words);
    ft_vec_release(&x.slots);
}

static void forget(ft_monitor_states *states)
{
    free(states->stuck);
    free(states->low);
    free(states->high);
    states->stuck = NULL;
    states->low = states->high = NULL;
}

static ft_monitor_states *begin_states(const ft_stuck *s, uint32_t lock)
{
    FT_REQUIRE(s && lock < s->trace->locks.len);
    ft_steps *steps = ft_steps_new(s, lock);
    ft_monitor_states *found;
    if (!steps || !is_served(steps)) {
        ft_steps_free(steps);
        return NULL;
    }
    found = ft_calloc(1, sizeof *found);
    found->steps = steps;
    return found;
}

/* States first keep the sleeping threads apart, which refutes more, and merge them where there are
 * too many states. */
ft_monitor_states *ft_monitor_states_new(const ft_stuck *s, uint32_t lock)
{
    ft_monitor_states *found = begin_states(s, lock);
    if (!found) return NULL;
    if (!s->merges) search_all(found);
    if (!found->all && (ft_steps_merge_sleepers(found->steps) || s->merges)) {
        forget(found);
        search_all(found);
    }
    return found;
}

void ft_monitor_states_free(ft_monitor_states *states)
{
    if (!states) return;
    ft_steps_free(states->steps);
    forget(states);
    free(states);
}
