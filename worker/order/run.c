#include "order/run.h"

#include <stdlib.h>
#include <string.h>

struct ft_run {
    const ft_trace *trace;
    uint32_t *offset; /* [n_events + 1]: first access of each event */
    uint32_t *source;
    ft_vid *vid;
    ft_vid *initial; /* per shared variable */
    FT_VEC(ft_value) values;
    ft_map known;      /* hash of value -> index in values, chained by probing the hash */
    ft_vid *vid_of_id; /* [n_values] of the trace: its vid + 1, 0: not looked for yet;
 NULL: too many for so few events */
    uint32_t unvalued;
    bool symbolic, arms_computed;
};

typedef struct memory {
    ft_vid vid;
    uint32_t writer;
} memory;

typedef struct machine {
    ft_run *run;
    memory *shared;
    ft_map locals; /* thread << 32 | local -> vid */
    uint32_t thread, event;
} machine;

static ft_vid vid_of_value(ft_run *run, ft_value value)
{
    uint64_t key = ft_hash_u64(value.bits ^ ((uint64_t)value.sort.kind << 56) ^
                               ((uint64_t)value.sort.width << 48));
    for (;; key++) {
        bool inserted;
        uint64_t *slot = ft_map_slot(&run->known, key, run->values.len, &inserted);
        if (inserted) {
            ft_vec_push(&run->values, value);
            return (ft_vid)(run->values.len - 1);
        }
        if (ft_value_equal(run->values.data[*slot], value)) return (ft_vid)*slot;
    }
}

/* Of a value that the trace has an id for: most accesses of long traces. */
static ft_vid vid_of_id(ft_run *run, uint32_t id)
{
    if (!run->vid_of_id) return vid_of_value(run, run->trace->values[id]);
    if (!run->vid_of_id[id]) run->vid_of_id[id] = vid_of_value(run, run->trace->values[id]) + 1;
    return run->vid_of_id[id] - 1;
}

static ft_vid unknown_of_write(uint32_t e)
{
    return FT_VID_UNKNOWN | e;
}

/* Initial values and writes share the flag. Events stay below 2^30 in any trace that fits memory,
 * so the upper half of the identities is left to variables. */
static ft_vid unknown_initial(uint32_t variable)
{
    return FT_VID_UNKNOWN | 0x40000000u | variable;
}

static bool lookup(void *context, ft_symbol symbol, ft_value *value)
{
    machine *m = context;
    uint64_t vid;
    if (FT_SYM_IS_LOCAL(symbol)) {
        uint64_t key = (uint64_t)m->thread << 32 | FT_SYM_INDEX(symbol);
        if (!ft_map_get(&m->locals, key, &vid)) {
            uint32_t initial = m->run->trace->local_info[FT_SYM_INDEX(symbol)].initial;
            if (initial == FT_NO_VALUE) return false;
            *value = m->run->trace->values[initial];
            return true;
        }
    } else {
        vid = m->shared[symbol].vid;
    }
    if (!FT_VID_IS_KNOWN(vid)) return false;
    *value = m->run->values.data[vid];
    return true;
}

static ft_vid evaluate(machine *m, uint32_t e, ft_term term)
{
    ft_value value;
    if (ft_term_eval(m->run->trace->terms, term, lookup, m, &value) != FT_EVAL_OK)
        return unknown_of_write(e);
    return vid_of_value(m->run, value);
}

static void note_value(const machine *m, ft_vid vid)
{
    if (FT_VID_IS_KNOWN(vid) || m->run->unvalued != FT_NO_EVENT) return;
    m->run->unvalued = m->event;
}

static void run_read(machine *m, uint32_t variable, uint32_t value, uint32_t at)
{
    ft_run *run = m->run;
    const memory *cell = &m->shared[variable];
    run->source[at] = cell->writer;
    run->vid[at] = value == FT_NO_VALUE ? cell->vid : vid_of_id(run, value);
    note_value(m, run->vid[at]);
}

static void run_write(machine *m, uint32_t e, uint32_t value, uint32_t at)
{
    ft_run *run = m->run;
    run->source[at] = e;
    run->vid[at] = value == FT_NO_VALUE ? unknown_of_write(e) : vid_of_id(run, value);
    m->shared[run->trace->object[e]] = (memory){run->vid[at], e};
    note_value(m, run->vid[at]);
}

static void run_action(machine *m, uint32_t e, uint32_t at)
{
    ft_run *run = m->run;
    const ft_action *action = ft_trace_action(run->trace, e);
    run->symbolic = true;
    for (uint32_t i = 0; i < action->n_accesses; i++) {
        const ft_access *access = &action->accesses[i];
        run->source[at + i] = access->write ? e : m->shared[access->variable].writer;
        run->vid[at + i] = access->write ? unknown_of_write(e) : m->shared[access->variable].vid;
    }
    ft_vid *results = ft_calloc(action->n_assignments + 1, sizeof *results);
    for (uint32_t i = 0; i < action->n_assignments; i++)
        results[i] = evaluate(m, e, action->assignments[i].term);
    for (uint32_t i = 0; i < action->n_assignments; i++) {
        ft_symbol target = action->assignments[i].target;
        if (FT_SYM_IS_LOCAL(target)) {
            ft_map_put(&m->locals, (uint64_t)m->thread << 32 | FT_SYM_INDEX(target), results[i]);
            continue;
        }
        m->shared[target] = (memory){results[i], e};
        uint32_t slot = ft_run_find_access(run->trace, e, target, true);
        assert(slot < action->n_accesses); /* an action's accesses list its targets */
        run->vid[at + slot] = results[i];
    }
    for (uint32_t i = 0; i < action->n_accesses; i++) note_value(m, run->vid[at + i]);
    free(results);
}

/* An arm that was not taken: nothing was read or written, but it is known what a plain write would
 * write and what was there to be read. */
static void run_passed(machine *m, uint32_t e, uint32_t at)
{
    ft_run *run = m->run;
    const ft_trace *trace = run->trace;
    uint32_t value = trace->kind[e] == FT_EVENT_WRITE ? trace->data[e] : FT_NO_VALUE, count;
    ft_access scratch;
    const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
    for (uint32_t k = 0; k < count; k++) {
        uint32_t i = at + k;
        run->source[i] = accesses[k].write ? e : m->shared[accesses[k].variable].writer;
        run->vid[i] = value == FT_NO_VALUE ? unknown_of_write(e) : vid_of_id(run, value);
        if (value == FT_NO_VALUE && !ft_trace_is_symbolic_event(trace, e))
            run->arms_computed = false;
    }
}

static const uint8_t ACCESSES[FT_EVENT_KINDS] = {
    [FT_EVENT_READ] = 1, [FT_EVENT_WRITE] = 1, [FT_EVENT_RMW] = 2};

static void count_accesses(ft_run *run)
{
    const ft_trace *trace = run->trace;
    uint32_t total = 0;
    run->offset = ft_alloc(((size_t)trace->n_events + 1) * sizeof *run->offset);
    for (uint32_t e = 0; e < trace->n_events; e++) {
        run->offset[e] = total;
        if (ft_trace_is_symbolic_event(trace, e))
            total += trace->actions[trace->data[e]].n_accesses;
        else
            total += ACCESSES[trace->kind[e]];
    }
    run->offset[trace->n_events] = total;
    run->source = ft_alloc(((size_t)total + 1) * sizeof *run->source);
    run->vid = ft_alloc(((size_t)total + 1) * sizeof *run->vid);
}

static void run_event(machine *m, uint32_t e, uint32_t at)
{
    const ft_trace *trace = m->run->trace;
    uint32_t data = trace->data[e];
    if (trace->flags[e] & FT_FLAG_PASSED) {
        run_passed(m, e, at);
    } else if (trace->kind[e] == FT_EVENT_READ) {
        run_read(m, trace->object[e], data, at);
    } else if (trace->kind[e] == FT_EVENT_WRITE) {
        run_write(m, e, data, at);
    } else if (trace->kind[e] == FT_EVENT_RMW) {
        run_read(m, trace->object[e], trace->updates[data].read, at);
        run_write(m, e, trace->updates[data].written, at + 1);
    } else if (ft_trace_is_symbolic_event(trace, e)) {
        run_action(m, e, at);
    }
}

ft_run *ft_run_new(const ft_trace *trace)
{
    FT_REQUIRE(trace);
    ft_run *run = ft_calloc(1, sizeof *run);
    run->trace = trace;
    run->unvalued = FT_NO_EVENT;
    run->arms_computed = true;
    count_accesses(run);
    /* A window has few of the values of its whole trace. */
    if (trace->n_values <= trace->n_events)
        run->vid_of_id = ft_calloc((size_t)trace->n_values + 1, sizeof *run->vid_of_id);
    uint32_t n_shared = trace->shared.len;
    machine m = {.run = run, .shared = ft_calloc(n_shared, sizeof *m.shared)};
    run->initial = ft_calloc(n_shared, sizeof *run->initial);
    for (uint32_t v = 0; v < n_shared; v++) {
        uint32_t value = trace->shared_info[v].initial;
        run->initial[v] = value == FT_NO_VALUE ? unknown_initial(v) : vid_of_id(run, value);
        m.shared[v] = (memory){run->initial[v], FT_NO_EVENT};
    }
    for (uint32_t e = 0; e < trace->n_events; e++) {
        m.thread = trace->thread[e];
        m.event = e;
        run_event(&m, e, run->offset[e]);
    }
    free(m.shared);
    ft_map_release(&m.locals);
    free(run->vid_of_id);
    run->vid_of_id = NULL;
    assert(run->offset[0] == 0);
    FT_CHECK(ft_run_is_sound(run, trace));
    return run;
}

void ft_run_free(ft_run *run)
{
    if (!run) return;
    free(run->offset);
    free(run->source);
    free(run->vid);
    free(run->initial);
    ft_vec_release(&run->values);
    ft_map_release(&run->known);
    free(run);
}

uint32_t ft_run_source(const ft_run *run, uint32_t e, uint32_t i)
{
    FT_REQUIRE(e < run->trace->n_events);
    assert(run->offset[e] + i < run->offset[e + 1]);
    return run->source[run->offset[e] + i];
}

ft_vid ft_run_vid(const ft_run *run, uint32_t e, uint32_t i)
{
    FT_REQUIRE(e < run->trace->n_events);
    assert(run->offset[e] + i < run->offset[e + 1]);
    return run->vid[run->offset[e] + i];
}

ft_vid ft_run_initial_vid(const ft_run *run, uint32_t variable)
{
    FT_REQUIRE(variable < run->trace->shared.len);
    return run->initial[variable];
}

ft_value ft_run_value(const ft_run *run, ft_vid vid)
{
    FT_REQUIRE(vid < run->values.len);
    return run->values.data[vid];
}

uint32_t ft_run_find_access(const ft_trace *trace, uint32_t e, uint32_t variable, bool write)
{
    ft_access scratch;
    uint32_t count;
    const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
    for (uint32_t i = 0; i < count; i++)
        if (accesses[i].variable == variable && accesses[i].write == write) return i;
    return UINT32_MAX;
}

bool ft_run_valued(const ft_run *run)
{
    return run->unvalued == FT_NO_EVENT;
}

uint32_t ft_run_unvalued(const ft_run *run)
{
    return run->unvalued;
}

bool ft_run_symbolic(const ft_run *run)
{
    return run->symbolic;
}

bool ft_run_arms_computed(const ft_run *run)
{
    return run->arms_computed;
}
