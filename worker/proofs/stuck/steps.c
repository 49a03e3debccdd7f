/* What threads do in the sections of one lock, cut into steps that may be taken as wholes.
 *
 * A step begins where its thread takes the lock, where it may rest, where it signals without the
 * lock, and at both ends of hard order between threads. Variables are those that nobody writes
 * without the lock, but where hard order has all other accesses before or behind that: so nobody
 * accesses them during the step of such a write, wherever it is done in it.
 *
 * Let each step happen at its cond-wait, if it has one, else at its first event. Then any schedule
 * that comes to a final state is one of whole steps, with the same waiters woken: what a step does
 * to the variables it does with the lock, which nobody takes in between; waits for the lock's
 * conditions come with the lock too, so a signal with the lock finds the same ones asleep anywhere
 * in its section; one without it is a step's first event; two signals may change places, since
 * whom they wake is any. All that is left out (other locks and variables, units of semaphores, time
 * that runs out) would only allow less. */
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "proofs/stuck/states_internal.h"

enum { MOST_EVENTS = 1000 * 1000, MOST_FOLLOWED = 10 * 1000 /* cells */ };

/* A variable that is accessed with the lock. */
typedef struct cell {
    uint32_t variable;
    uint32_t reads, writes; /* with the lock */
    uint32_t outside;       /* last write or alloc without it, FT_NO_EVENT */
    uint32_t begun;         /* first access with the lock, FT_NO_EVENT: none so far */
    uint32_t *last;         /* [threads] + 1: last accesses with the lock; 0: none */
    bool broken, told;
    uint64_t initial; /* bits, where told */
} cell;

typedef struct maker {
    ft_steps *steps;
    const ft_stuck *s;
    const ft_trace *trace;
    const ft_order *order;
    uint32_t lock;
    FT_VEC(cell) cells;
    uint32_t followed; /* of them: those with `last` */
    ft_map cell_of;    /* variable -> index in cells; then, of those that are taken, in steps */
    uint32_t begun[FT_STEPS_VARIABLES]; /* of those that are taken */
    ft_map value_of;                    /* bits -> number */
    bool *ours;                         /* [conditions] all that wait for it give the lock back */
    bool *hurried;                      /* [conditions] some wait's time runs out */
    bool *is_source;                    /* [events] hard order leads from it to another thread */
    FT_VEC(ft_step_act) signals;        /* of the step at hand */
} maker;

/* ---- conditions ------------------------------------------------------------------------------ */

static bool is_inside(const maker *m, uint32_t e)
{
    return ft_order_section_at(m->order, e, m->lock) != FT_NO_SECTION;
}

/* Does the wait release the lock, and acquire it again before anything else? */
static bool gives_back(const maker *m, uint32_t wait)
{
    const ft_trace *trace = m->trace;
    uint32_t release = ft_order_next(m->order, wait), wake, again;
    if (release == FT_NO_EVENT || trace->kind[release] != FT_EVENT_RELEASE ||
        !(trace->flags[release] & FT_FLAG_CONDITION) || trace->object[release] != m->lock ||
        m->order->section_of[release] == FT_NO_SECTION)
        return false;
    wake = ft_order_next(m->order, release);
    if (wake == FT_NO_EVENT) return true;
    again = ft_order_next(m->order, wake);
    return trace->kind[wake] == FT_EVENT_COND_WAKE &&
           (again == FT_NO_EVENT ||
            (ft_order_opens(trace, again) && trace->object[again] == m->lock));
}

static bool find_conditions(maker *m)
{
    bool any = false;
    uint32_t n = m->trace->conditions.len;
    uint8_t *waits = ft_calloc((size_t)n + 1, sizeof *waits);
    memset(m->ours, true, n * sizeof *m->ours);
    for (uint32_t e = 0; e < m->trace->n_events; e++) {
        if (m->trace->kind[e] == FT_EVENT_COND_WAKE && (m->trace->flags[e] & FT_FLAG_FAILED))
            m->hurried[m->trace->object[e]] = true;
        if (m->trace->kind[e] != FT_EVENT_COND_WAIT) continue;
        waits[m->trace->object[e]] = true;
        if (!gives_back(m, e)) m->ours[m->trace->object[e]] = false;
    }
    for (uint32_t c = 0; c < n; c++) {
        m->ours[c] &= waits[c];
        any |= m->ours[c];
    }
    free(waits);
    return any;
}

/* ---- variables ------------------------------------------------------------------------------- */

static void list_cells(maker *m)
{
    ft_access scratch;
    uint32_t count;
    for (uint32_t e = 0; e < m->trace->n_events; e++) {
        const ft_access *accesses = ft_trace_accesses(m->trace, e, &scratch, &count);
        if (!count || !is_inside(m, e)) continue;
        for (uint32_t i = 0; i < count; i++) {
            bool fresh;
            uint64_t *at = ft_map_slot(&m->cell_of, accesses[i].variable, m->cells.len, &fresh);
            if (fresh)
                ft_vec_push(&m->cells, (cell){.variable = accesses[i].variable,
                                              .outside = FT_NO_EVENT,
                                              .begun = FT_NO_EVENT});
            cell *c = &m->cells.data[*at];
            c->reads += !accesses[i].write;
            c->writes += accesses[i].write;
        }
    }
}

static bool comes_before(const maker *m, uint32_t a, uint32_t b)
{
    return a == FT_NO_EVENT || m->trace->thread[a] == m->trace->thread[b] ||
           ft_order_before(m->order, a, b);
}

static void tell(const maker *m, cell *c, ft_vid vid)
{
    c->told = FT_VID_IS_KNOWN(vid);
    if (c->told) c->initial = ft_run_value(m->s->problem->run, vid).bits;
}

static bool come_before(const maker *m, const cell *c, uint32_t e)
{
    for (uint32_t t = 0; c->last && t < m->order->n_threads; t++)
        if (c->last[t] && !comes_before(m, c->last[t] - 1, e)) return false;
    return c->last != NULL;
}

/* A write without the lock must be initialisation, or come between all accesses with the lock, in
 * every schedule. */
static void write_outside(const maker *m, cell *c, uint32_t e, ft_vid vid)
{
    bool begun = c->begun != FT_NO_EVENT;
    if (!comes_before(m, c->outside, e) || (begun && !come_before(m, c, e))) c->broken = true;
    if (begun && !FT_VID_IS_KNOWN(vid)) c->broken = true;
    c->outside = e;
    if (!begun) tell(m, c, vid);
}

static void access_inside(maker *m, cell *c, uint32_t e, uint32_t i, bool write)
{
    ft_vid vid = ft_run_vid(m->s->problem->run, e, i);
    bool certain = ft_problem_has_value(m->s->problem, e, i, write);
    if (!certain || !FT_VID_IS_KNOWN(vid) || !comes_before(m, c->outside, e)) c->broken = true;
    if (c->begun == FT_NO_EVENT) {
        c->begun = e;
        if (!write && !c->told) tell(m, c, vid);
        if (m->followed++ < MOST_FOLLOWED)
            c->last = ft_calloc((size_t)m->order->n_threads, sizeof *c->last);
    }
    if (c->last) c->last[m->trace->thread[e]] = e + 1;
}

static cell *cell_at(const maker *m, uint32_t variable)
{
    uint64_t at;
    return ft_map_get(&m->cell_of, variable, &at) ? &m->cells.data[at] : NULL;
}

static void look_at_access(maker *m, uint32_t e, uint32_t i, const ft_access *access)
{
    cell *c = cell_at(m, access->variable);
    if (!c) return;
    if (is_inside(m, e))
        access_inside(m, c, e, i, access->write);
    else if (access->write)
        write_outside(m, c, e, ft_run_vid(m->s->problem->run, e, i));
}

static void look_at_block(maker *m, uint32_t e)
{
    const ft_block_cells *cells = &m->trace->block_cells[m->trace->object[e]];
    for (uint32_t i = 0; i < cells->count; i++) {
        cell *c = cell_at(m, cells->variables[i]);
        if (c) write_outside(m, c, e, FT_VID_UNKNOWN);
    }
}

static void look_at_cells(maker *m)
{
    ft_access scratch;
    uint32_t count;
    for (size_t i = 0; i < m->cells.len; i++)
        tell(m, &m->cells.data[i],
             ft_run_initial_vid(m->s->problem->run, m->cells.data[i].variable));
    for (uint32_t e = 0; e < m->trace->n_events; e++) {
        const ft_access *accesses = ft_trace_accesses(m->trace, e, &scratch, &count);
        for (uint32_t i = 0; i < count; i++) look_at_access(m, e, i, &accesses[i]);
        if (m->trace->kind[e] == FT_EVENT_ALLOC) look_at_block(m, e);
    }
}

static uint32_t number_of(maker *m, uint64_t bits)
{
    return (uint32_t)*ft_map_slot(&m->value_of, bits, m->value_of.len, NULL);
}

static int by_accesses(const void *left, const void *right)
{
    const cell *a = left, *b = right;
    uint32_t of_a = a->reads + a->writes, of_b = b->reads + b->writes;
    if (of_a != of_b) return of_a < of_b ? 1 : -1;
    return (a->variable > b->variable) - (a->variable < b->variable);
}

/* Takes the variables that are accessed most: they restrict the order of sections most. */
static void take_variables(maker *m)
{
    ft_steps *steps = m->steps;
    ft_map_release(&m->cell_of);
    m->cell_of = (ft_map){0};
    if (m->cells.len) qsort(m->cells.data, m->cells.len, sizeof *m->cells.data, by_accesses);
    for (size_t i = 0; i < m->cells.len && steps->n_variables < FT_STEPS_VARIABLES; i++) {
        const cell *c = &m->cells.data[i];
        if (c->broken || !c->reads || !c->writes) continue;
        ft_map_put(&m->cell_of, c->variable, steps->n_variables);
        m->begun[steps->n_variables] = c->begun;
        steps->initial[steps->n_variables++] =
            c->told ? number_of(m, c->initial) : FT_STEPS_UNKNOWN;
    }
}

/* ---- steps ----------------------------------------------------------------------------------- */

static void find_sources(maker *m)
{
    const uint32_t *sources;
    for (uint32_t e = 0; e < m->trace->n_events; e++) {
        uint32_t count = ft_order_hard_sources(m->order, e, &sources);
        for (uint32_t i = 0; i < count; i++) m->is_source[sources[i]] = true;
    }
}

static bool takes_lock(const maker *m, uint32_t e)
{
    return m->trace->object[e] == m->lock && ft_order_opens(m->trace, e);
}

static bool is_signal(const maker *m, uint32_t e)
{
    uint8_t kind = m->trace->kind[e];
    return (kind == FT_EVENT_SIGNAL || kind == FT_EVENT_BROADCAST) && m->ours[m->trace->object[e]];
}

/* A wait that times out needs no signal, though it may take one from others while it sleeps. */
static bool is_sleep(const maker *m, uint32_t e)
{
    return m->trace->kind[e] == FT_EVENT_COND_WAKE && m->ours[m->trace->object[e]] &&
           !(m->trace->flags[e] & FT_FLAG_FAILED);
}

static bool begins_step(const maker *m, uint32_t e)
{
    const uint32_t *sources;
    uint32_t previous = ft_order_previous(m->order, e);
    if (previous == FT_NO_EVENT || m->is_source[previous] || takes_lock(m, e) || is_sleep(m, e))
        return true;
    if (ft_stuck_possible(m->s, e) || (is_signal(m, e) && !is_inside(m, e))) return true;
    return ft_order_hard_sources(m->order, e, &sources) > 0;
}

/* Does the thread go on there where all that hard order has before it is executed? */
static bool is_certain(const maker *m, uint32_t e)
{
    static const bool OF[FT_EVENT_KINDS] = {
        [FT_EVENT_JOIN] = true, [FT_EVENT_BARRIER_LEAVE] = true};
    const uint32_t *sources;
    if (!ft_stuck_possible(m->s, e)) return true;
    return OF[m->trace->kind[e]] && ft_order_hard_sources(m->order, e, &sources) > 0 &&
           ft_order_awaited(m->order, e) == FT_NO_EVENT && !ft_order_never(m->order, e);
}

static void begin_step(maker *m, uint32_t e)
{
    uint32_t place = (uint32_t)m->steps->all.len - m->steps->first[m->trace->thread[e]];
    ft_step step = {.event = e,
                    .first_act = (uint32_t)m->steps->acts.len,
                    .asleep = is_sleep(m, e) ? m->trace->object[e] : FT_STEPS_AWAKE,
                    .held_to = m->order->position[e],
                    .takes = takes_lock(m, e),
                    .inside = is_inside(m, e),
                    .stuck = ft_stuck_possible(m->s, e),
                    .certain = is_certain(m, e),
                    .next = place + 1,
                    .place = place,
                    .wait_loop = FT_STEPS_NO_COUNT};
    ft_vec_push(&m->steps->all, step);
}

static void add_act(maker *m, ft_step_does does, uint32_t object, uint32_t value)
{
    ft_vec_push(&m->steps->acts, ((ft_step_act){does, object, value}));
    assert(m->steps->all.len > 0);
    m->steps->all.data[m->steps->all.len - 1].acts++;
}

static void note_signal(maker *m, uint32_t e)
{
    bool one = m->trace->kind[e] == FT_EVENT_SIGNAL;
    uint32_t condition = m->trace->object[e];
    ft_vec_push(&m->signals, ((ft_step_act){one ? FT_STEP_SIGNALS : FT_STEP_BROADCASTS, condition,
                                            m->hurried[condition]}));
}

static void add_acts(maker *m, uint32_t e)
{
    ft_access scratch;
    uint32_t count;
    uint64_t variable;
    const ft_access *accesses = ft_trace_accesses(m->trace, e, &scratch, &count);
    if (is_signal(m, e)) note_signal(m, e);
    for (uint32_t i = 0; i < count; i++) {
        if (!ft_map_get(&m->cell_of, accesses[i].variable, &variable)) continue;
        if (!is_inside(m, e) && (!accesses[i].write || e < m->begun[variable])) continue;
        ft_vid vid = ft_run_vid(m->s->problem->run, e, i);
        add_act(m, accesses[i].write ? FT_STEP_WRITES : FT_STEP_READS, (uint32_t)variable,
                number_of(m, ft_run_value(m->s->problem->run, vid).bits));
    }
}

static int by_condition(const void *left, const void *right)
{
    const ft_step_act *a = left, *b = right;
    if (a->object != b->object) return a->object < b->object ? -1 : 1;
    return (a->does == FT_STEP_SIGNALS) - (b->does == FT_STEP_SIGNALS);
}

/* Whom they wake stays asleep or goes on behind the step, so the signals of a step may change
 * places with its accesses and with each other; a broadcast leaves none for a signal. */
static void end_step(maker *m)
{
    if (m->signals.len)
        qsort(m->signals.data, m->signals.len, sizeof *m->signals.data, by_condition);
    for (size_t i = 0; i < m->signals.len; i++) {
        const ft_step_act *signal = &m->signals.data[i];
        add_act(m, signal->does, signal->object, signal->value);
    }
    m->signals.len = 0;
}

static void cut_thread(maker *m, uint32_t thread)
{
    const ft_order *order = m->order;
    for (uint32_t i = order->thread_start[thread]; i < order->thread_start[thread + 1]; i++) {
        uint32_t e = order->thread_events[i];
        if (begins_step(m, e)) {
            end_step(m);
            begin_step(m, e);
        }
        if (is_inside(m, e)) m->steps->all.data[m->steps->all.len - 1].held_to = order->position[e];
        add_acts(m, e);
    }
    end_step(m);
}

static void find_ends(maker *m)
{
    for (uint32_t i = m->order->lock_first[m->lock]; i < m->order->lock_first[m->lock + 1]; i++) {
        const ft_section *section = &m->order->sections.data[m->order->lock_sections[i]];
        if (section->release == FT_NO_EVENT) m->steps->ends_inside[section->thread] = true;
    }
}

/* ---- needs ----------------------------------------------------------------------------------- */

/* How many steps of the thread end within its first `events` events. */
static uint32_t steps_within(const maker *m, uint32_t thread, uint32_t events)
{
    const ft_steps *steps = m->steps;
    uint32_t low = steps->first[thread], high = steps->first[thread + 1];
    if (events == m->order->thread_start[thread + 1] - m->order->thread_start[thread])
        return high - low;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (m->order->position[steps->all.data[middle].event] <= events)
            low = middle + 1;
        else
            high = middle;
    }
    uint32_t begun = low - steps->first[thread];
    assert(low >= steps->first[thread]);
    return begun ? begun - 1 : 0;
}

/* The steps that hard order puts before this one and not before the thread's earlier ones. */
static void find_needs_of(maker *m, ft_step *step, uint32_t *met)
{
    const ft_order *order = m->order;
    uint32_t self = m->trace->thread[step->event];
    const uint32_t *clock = order->clock + (size_t)order->segment[step->event] * order->n_threads;
    step->first_need = (uint32_t)m->steps->needs.len;
    for (uint32_t t = 0; t < order->n_threads; t++) {
        if (t == self || clock[t] <= met[t]) continue;
        assert(clock[t] <= order->thread_start[t + 1] - order->thread_start[t]);
        met[t] = clock[t];
        ft_step_need need = {t, steps_within(m, t, clock[t])};
        if (need.step > 0) ft_vec_push(&m->steps->needs, need);
    }
    step->needs = (uint32_t)m->steps->needs.len - step->first_need;
}

static void find_needs(maker *m)
{
    uint32_t n = m->order->n_threads, *met = ft_alloc(((size_t)n + 1) * sizeof *met);
    for (uint32_t t = 0; t < n; t++) {
        memset(met, 0, n * sizeof *met);
        for (uint32_t i = m->steps->first[t]; i < m->steps->first[t + 1]; i++)
            find_needs_of(m, &m->steps->all.data[i], met);
    }
    free(met);
}

/* ---- life ------------------------------------------------------------------------------------ */

static bool is_served(const maker *m)
{
    const ft_problem *problem = m->s->problem;
    if (problem->wakeups != FT_WAKEUPS_ANY || !ft_problem_follows_run(problem) || !problem->run ||
        m->order->n_threads > FT_STEPS_THREADS || m->trace->n_events > MOST_EVENTS)
        return false;
    for (uint32_t i = m->order->lock_first[m->lock]; i < m->order->lock_first[m->lock + 1]; i++)
        if (m->order->sections.data[m->order->lock_sections[i]].shared) return false;
    return true;
}

static void make(maker *m)
{
    uint32_t n = m->order->n_threads;
    list_cells(m);
    look_at_cells(m);
    take_variables(m);
    find_sources(m);
    m->steps->first = ft_calloc((size_t)n + 1, sizeof *m->steps->first);
    m->steps->ends_inside = ft_calloc((size_t)n + 1, sizeof *m->steps->ends_inside);
    for (uint32_t t = 0; t < n; t++) {
        cut_thread(m, t);
        m->steps->first[t + 1] = (uint32_t)m->steps->all.len;
    }
    m->steps->first_awake = n + m->steps->n_variables;
    find_ends(m);
    find_needs(m);
    ft_steps_find_loops(m->steps);
    FT_CHECK(ft_steps_are_sound(m->steps));
}

bool ft_steps_are_sound(const ft_steps *steps)
{
    const ft_order *order = steps->s->order;
    for (uint32_t t = 0; t < order->n_threads; t++)
        for (uint32_t i = steps->first[t]; i < steps->first[t + 1]; i++) {
            const ft_step *step = &steps->all.data[i];
            uint32_t count = steps->first[t + 1] - steps->first[t];
            if (steps->s->trace->thread[step->event] != t) return false;
            if (i > steps->first[t] &&
                order->position[step[-1].event] >= order->position[step->event])
                return false;
            if (step->next > count || step->place >= count) return false;
            if (step->first_act + step->acts > steps->acts.len ||
                step->first_need + step->needs > steps->needs.len ||
                step->first_other + step->others > steps->others.len)
                return false;
        }
    return steps->first[order->n_threads] == steps->all.len;
}

ft_steps *ft_steps_new(const ft_stuck *s, uint32_t lock)
{
    maker m = {.s = s, .trace = s->trace, .order = s->order, .lock = lock};
    if (!is_served(&m)) return NULL;
    m.ours = ft_calloc((size_t)s->trace->conditions.len + 1, sizeof *m.ours);
    m.hurried = ft_calloc((size_t)s->trace->conditions.len + 1, sizeof *m.hurried);
    m.is_source = ft_calloc((size_t)s->trace->n_events + 1, sizeof *m.is_source);
    if (find_conditions(&m)) {
        m.steps = ft_calloc(1, sizeof *m.steps);
        m.steps->s = s;
        m.steps->lock = lock;
        make(&m);
    }
    for (size_t i = 0; i < m.cells.len; i++) free(m.cells.data[i].last);
    ft_vec_release(&m.cells);
    ft_vec_release(&m.signals);
    ft_map_release(&m.cell_of);
    ft_map_release(&m.value_of);
    free(m.ours);
    free(m.hurried);
    free(m.is_source);
    return m.steps;
}

void ft_steps_free(ft_steps *steps)
{
    if (!steps) return;
    ft_vec_release(&steps->all);
    ft_vec_release(&steps->acts);
    ft_vec_release(&steps->needs);
    ft_vec_release(&steps->others);
    free(steps->first);
    free(steps->ends_inside);
    free(steps);
}
