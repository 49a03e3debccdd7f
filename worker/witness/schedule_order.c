#include "witness/schedule_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- their order ----------------------------------------------------------------------------- */

static void add_need(ft_schedules *s, uint32_t at, bool write)
{
    ft_schedule_cell *c = &s->cells[at];
    if (c->epoch != s->cell_epoch) *c = (ft_schedule_cell){.epoch = s->cell_epoch};
    ft_vec_push(&s->needs, ((ft_schedule_need){at, write ? c->accesses : c->writes, write}));
}

static void perform(ft_schedules *s, const ft_schedule_need *needs, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        ft_schedule_cell *c = &s->cells[needs[i].cell];
        if (c->epoch != s->cell_epoch) *c = (ft_schedule_cell){.epoch = s->cell_epoch};
        c->accesses++;
        c->writes += needs[i].write;
    }
}

/* In the order of the schedule, for each busy event. */
void ft_schedules_add_needs(ft_schedules *s, uint32_t busy)
{
    assert(busy < s->n_busy);
    uint32_t e = s->busy[busy], count;
    size_t first = s->needs.len;
    ft_access scratch;
    const ft_access *accesses = ft_trace_accesses(s->trace, e, &scratch, &count);
    for (uint32_t i = 0; i < count; i++)
        if (s->variable_met[accesses[i].variable])
            add_need(s, accesses[i].variable, accesses[i].write);
    if (s->order->section_of[e] != FT_NO_SECTION)
        add_need(s, s->trace->shared.len + s->trace->object[e], true);
    s->need_first[busy] = (uint32_t)first;
    s->need_count[busy] = (uint32_t)(s->needs.len - first);
    perform(s, s->needs.data + first, (uint32_t)(s->needs.len - first));
}

static bool is_in_turn(const ft_schedules *s, uint32_t busy)
{
    for (uint32_t i = 0; i < s->need_count[busy]; i++) {
        ft_schedule_need n = s->needs.data[s->need_first[busy] + i];
        const ft_schedule_cell *c = &s->cells[n.cell];
        uint32_t now = c->epoch != s->cell_epoch ? 0 : n.write ? c->accesses : c->writes;
        if (now != n.before) return false;
    }
    return true;
}

/* ---- in any order that keeps reads-from -------------------------------------------------------
 */

static ft_schedule_value *holding_of(ft_schedules *s, uint32_t variable)
{
    ft_schedule_value *h = &s->holdings[variable];
    if (h->epoch != s->cell_epoch)
        *h = (ft_schedule_value){.epoch = s->cell_epoch, .source = FT_NO_EVENT};
    return h;
}

/* The number of reads to come that return the value of the source. */
static uint32_t *readers_of(ft_schedules *s, uint32_t variable, uint32_t source)
{
    if (source == FT_NO_EVENT) return &holding_of(s, variable)->initial_readers;
    return &s->readers[s->busy_index[source]];
}

/* The reads of t_r are free unless its thread continues. */
static bool is_tied(const ft_schedules *s, uint32_t e, const ft_access *access)
{
    return !access->write && s->variable_met[access->variable] && ft_schedules_is_member(s, e) &&
           s->problem->model != FT_MODEL_CONTROL;
}

static bool accesses_ready(ft_schedules *s, uint32_t e)
{
    ft_access scratch;
    uint32_t count, own = 0;
    const ft_access *accesses = ft_trace_accesses(s->trace, e, &scratch, &count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t v = accesses[i].variable;
        if (!is_tied(s, e, &accesses[i])) continue;
        if (holding_of(s, v)->source != ft_run_source(s->problem->run, e, i)) return false;
        own++;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t v = accesses[i].variable;
        if (!accesses[i].write || !s->variable_met[v]) continue;
        if (*readers_of(s, v, holding_of(s, v)->source) > own) return false;
    }
    return true;
}

/* t_r may be executed. */
static bool is_after(const ft_schedules *s)
{
    return s->lanes[s->trace->thread[s->after]].at > s->order->position[s->after];
}

static bool lock_ready(ft_schedules *s, uint32_t e)
{
    uint32_t section = s->order->section_of[e];
    if (section == FT_NO_SECTION || s->trace->kind[e] == FT_EVENT_RELEASE) return true;
    const ft_section *of = &s->order->sections.data[section];
    const ft_schedule_lock *use = ft_schedules_lock(s, of->lock);
    if (use->taken || (!of->shared && use->inside)) return false;
    if (section == use->held) return use->to_close == 0;
    if (section == use->yields) return s->early ? is_after(s) : use->to_close == 1;
    return use->entered == s->need_first[s->busy_index[e]];
}

static bool is_possible(ft_schedules *s, uint32_t busy)
{
    uint32_t e = s->busy[busy];
    if (e == s->only && !is_after(s)) return false;
    return accesses_ready(s, e) && lock_ready(s, e);
}

static void do_accesses(ft_schedules *s, uint32_t e)
{
    ft_access scratch;
    uint32_t count;
    const ft_access *accesses = ft_trace_accesses(s->trace, e, &scratch, &count);
    for (uint32_t i = 0; i < count; i++)
        if (is_tied(s, e, &accesses[i])) {
            uint32_t *left =
                readers_of(s, accesses[i].variable, ft_run_source(s->problem->run, e, i));
            assert(*left > 0);
            --*left;
        }
    for (uint32_t i = 0; i < count; i++)
        if (accesses[i].write && s->variable_met[accesses[i].variable])
            holding_of(s, accesses[i].variable)->source = e;
}

static void do_lock(ft_schedules *s, uint32_t e)
{
    uint32_t section = s->order->section_of[e];
    if (section == FT_NO_SECTION) return;
    const ft_section *of = &s->order->sections.data[section];
    ft_schedule_lock *use = ft_schedules_lock(s, of->lock);
    if (s->trace->kind[e] == FT_EVENT_RELEASE) {
        assert(use->inside > 0 && use->to_close > 0);
        use->inside--;
        use->to_close--;
        use->taken = false;
    } else {
        assert(!use->taken && (of->shared || use->inside == 0)); /* sections do not overlap */
        use->entered += section != use->held && section != use->yields;
        use->inside++;
        use->taken = !of->shared;
    }
}

static void expect_section(ft_schedules *s, uint32_t busy)
{
    uint32_t e = s->busy[busy], section = s->order->section_of[e];
    if (section == FT_NO_SECTION) return;
    ft_schedule_lock *use = ft_schedules_lock(s, s->order->sections.data[section].lock);
    if (s->trace->kind[e] == FT_EVENT_RELEASE)
        use->to_close++;
    else
        s->need_first[busy] = section == use->held || section == use->yields ? 0 : use->expected++;
}

static void expect_readers(ft_schedules *s, uint32_t e)
{
    ft_access scratch;
    uint32_t count;
    const ft_access *accesses = ft_trace_accesses(s->trace, e, &scratch, &count);
    for (uint32_t i = 0; i < count; i++)
        if (is_tied(s, e, &accesses[i]))
            ++*readers_of(s, accesses[i].variable, ft_run_source(s->problem->run, e, i));
}

static void expect_all(ft_schedules *s)
{
    uint32_t last = ft_schedules_last_step(s);
    for (size_t i = 0; i < s->used_locks.len; i++) {
        ft_schedule_lock *use = ft_schedules_lock(s, s->used_locks.data[i]);
        use->expected = use->entered = use->inside = use->to_close = 0;
        use->taken = false;
    }
    for (uint32_t i = 0; i < s->n_busy && s->busy[s->by_time[i]] <= last; i++) {
        uint32_t busy = s->by_time[i];
        s->readers[busy] = 0;
        if (!ft_schedules_is_step(s, s->busy[busy])) continue;
        expect_section(s, busy);
        expect_readers(s, s->busy[busy]);
    }
}

/* ---- greedily ----------------------------------------------------------------------------------
 */

static bool is_ready(ft_schedules *s, uint32_t busy)
{
    const uint32_t *sources;
    uint32_t count = ft_order_hard_sources(s->order, s->busy[busy], &sources);
    for (uint32_t i = 0; i < count; i++)
        if (s->order->position[sources[i]] >= s->lanes[s->trace->thread[sources[i]]].at)
            return false;
    return s->any_order ? is_possible(s, busy) : is_in_turn(s, busy);
}

static void execute(ft_schedules *s, uint32_t busy)
{
    if (!s->any_order) {
        perform(s, s->needs.data + s->need_first[busy], s->need_count[busy]);
        return;
    }
    do_accesses(s, s->busy[busy]);
    do_lock(s, s->busy[busy]);
}

static bool has_busy(const ft_schedules *s, uint32_t thread)
{
    const ft_schedule_lane *of = &s->lanes[thread];
    return of->next < s->busy_first[thread + 1] &&
           s->order->position[s->busy[of->next]] < of->steps;
}

/* Executes the thread for as long as it can; returns how many steps that were. */
static uint32_t run_thread(ft_schedules *s, uint32_t thread, uint32_t *out)
{
    ft_schedule_lane *of = &s->lanes[thread];
    uint32_t from = of->at, until = of->steps;
    while (has_busy(s, thread)) {
        if (!is_ready(s, of->next)) {
            until = s->order->position[s->busy[of->next]];
            break;
        }
        execute(s, of->next++);
        if (s->early && s->busy[of->next - 1] == s->after) {
            until = s->order->position[s->after] + 1;
            break;
        }
    }
    assert(from <= until && until <= of->steps);
    of->at = until;
    memcpy(out, s->order->thread_events + s->order->thread_start[thread] + from,
           (until - from) * sizeof *out);
    return until - from;
}

/* The thread whose next step came first among those whose next step can be executed. */
static uint32_t pick(ft_schedules *s)
{
    uint32_t best = UINT32_MAX, best_rank = UINT32_MAX;
    for (size_t i = 0; i < s->live.len; i++) {
        uint32_t t = s->live.data[i];
        uint32_t head = s->order->thread_events[s->order->thread_start[t] + s->lanes[t].at];
        bool first = s->early && t == s->trace->thread[s->only];
        if (s->rank[head] >= best_rank && !first) continue;
        if (has_busy(s, t) && s->busy[s->lanes[t].next] == head && !is_ready(s, s->lanes[t].next))
            continue;
        best = (uint32_t)i;
        best_rank = s->rank[head];
        if (first) return best;
    }
    return best;
}

/* After all needs are added. False: they form a cycle. */
static bool run_all(ft_schedules *s, uint32_t *out, uint32_t *count)
{
    *count = 0;
    s->live.len = 0;
    s->cell_epoch++;
    if (s->any_order) expect_all(s);
    for (uint32_t t = 0; t < s->order->n_threads; t++) {
        s->lanes[t].next = s->busy_first[t];
        s->lanes[t].at = 0;
        if (s->lanes[t].steps) ft_vec_push(&s->live, t);
    }
    while (s->live.len > 0) {
        uint32_t i = pick(s);
        if (i == UINT32_MAX) return false;
        uint32_t t = s->live.data[i];
        *count += run_thread(s, t, out + *count);
        if (s->lanes[t].at == s->lanes[t].steps) s->live.data[i] = s->live.data[--s->live.len];
    }
    return true;
}

bool ft_schedules_run(ft_schedules *s, uint32_t total, ft_witness *witness)
{
    FT_REQUIRE(witness && total <= s->trace->n_events);
    uint32_t *steps = ft_alloc(((size_t)total + 1) * sizeof *steps), count;
    if (!run_all(s, steps, &count)) {
        free(steps);
        return false;
    }
    assert(count == total); /* with each thread's steps in program order: a permutation */
    witness->steps = steps;
    witness->n_steps = count;
    FT_CHECK(ft_witness_is_sound(s->trace, witness));
    return true;
}
