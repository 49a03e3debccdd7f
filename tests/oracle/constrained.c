#include "oracle/constrained.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/flow/loops.h"
#include "schedules/arrival.h"
#include "schedules/dynamic.h"

enum { MOST_INPUTS = 8, MOST_STATES = 1500, MOST_EPOCHS = 100 /* of one input */ };

typedef struct input {
    const char *name;
    uint8_t width;
    uint64_t value;
} input;

typedef struct state {
    ft_interpreter *m;
    ft_constrained run;
    const ft_schedule *schedule; /* that of the inputs */
    uint32_t *position;          /* by node: when it was done, from 1; 0: not */
    uint32_t steps;
} state;

typedef struct checked {
    const ft_program *program;
    const ft_schedule_set *set;
    const ft_schedule *schedule;
    ft_loops *loops; /* taken as functions; NULL: none */
    input inputs[MOST_INPUTS];
    int n_inputs;
    const ft_interpreter *reads; /* the run that takes a step, or that an epoch begins in */
    uint32_t thread;             /* of it: that takes the step */
    const ft_constrained *next;  /* the run that goes on in another epoch; NULL: it takes a step */
    ft_intern seen;              /* how far the threads are in the epoch at hand */
    ft_intern begun;             /* states in which epochs begin, of the input at hand */
    FT_VEC(state) begins;        /* those that are to be walked from */
    uint32_t states;
    constrained_counts *counts;
    constrained_fault fault;
} checked;

/* A thread's values of a name alternate: where it reads it again, the other bit. */
static bool value_at(const checked *c, const char *name, uint32_t n, uint64_t *value)
{
    for (int i = 0; i < c->n_inputs; i++)
        if (strcmp(c->inputs[i].name, name) == 0)
            return *value = c->inputs[i].value ^ (~n & 1), true;
    return false;
}

static uint32_t reads_of(const ft_interpreter *m, uint32_t thread, const char *name)
{
    uint32_t n = 0;
    uint64_t value;
    while (ft_interpreter_input(m, 0, thread, name, n + 1, &value)) n++;
    return n;
}

static bool feed(void *context, const char *name, uint8_t width, uint64_t *value)
{
    const checked *c = context;
    (void)width;
    return value_at(c, name, reads_of(c->reads, c->thread, name) + 1, value);
}

/* How often the thread of the next epoch has read the name before. */
static uint32_t reads_before(const checked *c, const char *name, const char *thread)
{
    char *end;
    unsigned long root = strtoul(thread, &end, 10);
    if (!c->next || *end || root >= c->next->schedule->bound.len) return 0;
    for (uint32_t t = 0; t < ft_interpreter_thread_count(c->reads); t++)
        if (c->next->names[t] == c->next->schedule->bound.data[root])
            return reads_of(c->reads, t, name);
    return 0;
}

static bool value_of(void *context, const ft_schedule_input *in, const char *name,
                     const char *thread, uint64_t *value)
{
    const checked *c = context;
    return in->n && value_at(c, name, reads_before(c, name, thread) + in->n, value);
}

static void add_input(checked *c, const char *name, uint8_t width)
{
    for (int i = 0; i < c->n_inputs; i++)
        if (strcmp(c->inputs[i].name, name) == 0) return;
    if (c->n_inputs < MOST_INPUTS) c->inputs[c->n_inputs++] = (input){name, width, 0};
}

static void list_inputs(checked *c)
{
    for (size_t f = 0; f < c->program->functions.len; f++) {
        const ft_function *function = &c->program->functions.data[f];
        for (size_t i = 0; i < function->instructions.len; i++) {
            const ft_instruction *in = &function->instructions.data[i];
            if (in->code == FT_CODE_INPUT)
                add_input(c, c->program->texts.names[in->extra], in->width);
        }
    }
}

static bool next_inputs(checked *c)
{
    for (int i = 0; i < c->n_inputs; i++) {
        if (++c->inputs[i].value < UINT64_C(1) << c->inputs[i].width) return true;
        c->inputs[i].value = 0;
    }
    return false;
}

static void wrong(checked *c, const char *what)
{
    if (c->fault.what) return;
    c->fault.what = what;
    for (int i = 0; i < c->n_inputs; i++) c->fault.inputs[i] = c->inputs[i].value;
}

/* ---- runs ---- */

static state copy(const checked *c, const state *from)
{
    state s = {.m = ft_interpreter_copy(from->m), .schedule = from->schedule, .steps = from->steps};
    size_t n = (c->schedule->nodes.len + 1) * sizeof *s.position;
    ft_constrained_copy(&s.run, &from->run);
    s.position = ft_alloc(n);
    memcpy(s.position, from->position, n);
    return s;
}

static void drop(state *s)
{
    ft_interpreter_free(s->m);
    ft_constrained_release(&s->run);
    free(s->position);
}

static bool is_about(const ft_node *n, uint32_t object)
{
    if (n->kind == FT_NODE_ARRIVE || n->kind == FT_NODE_LEAVE) return false;
    bool woken = (n->kind == FT_NODE_WAKE || n->kind == FT_NODE_TIMED_WAKE) && !n->timed_out;
    return (n->object == object && !woken) || n->other == object;
}

/* Operations on one object in the order of the schedule. */
static bool is_in_order(const checked *c, const state *s)
{
    const ft_schedule *x = c->schedule;
    for (uint32_t o = 0; o < x->objects.len; o++) {
        uint32_t last = 0;
        bool left = false; /* a node before was not done */
        for (uint32_t i = 0; i < x->nodes.len; i++) {
            if (!is_about(&x->nodes.data[i], o)) continue;
            if (s->position[i] && (left || s->position[i] < last)) return false;
            left = left || !s->position[i];
            if (s->position[i]) last = s->position[i];
        }
    }
    return true;
}

static uint32_t next_of_thread(const ft_schedule *x, uint32_t node)
{
    for (uint32_t i = node + 1; i < x->nodes.len; i++)
        if (x->nodes.data[i].thread == x->nodes.data[node].thread) return i;
    return FT_NO_ID;
}

/* Arrivals of different rounds of a barrier in the order of the schedule. */
static bool rounds_are_in_order(const checked *c, const state *s)
{
    const ft_schedule *x = c->schedule;
    ft_schedule_order order;
    bool good = true;
    ft_schedule_order_init(&order, x);
    for (uint32_t b = 0; b < x->nodes.len; b++)
        for (uint32_t a = 0; a < b && x->nodes.data[b].kind == FT_NODE_ARRIVE; a++) {
            uint32_t leave = next_of_thread(x, a);
            if (x->nodes.data[a].kind != FT_NODE_ARRIVE || leave == FT_NO_ID ||
                x->nodes.data[a].object != x->nodes.data[b].object ||
                ft_schedule_is_before(&order, x, b, leave))
                continue;
            if (s->position[b] && (!s->position[a] || s->position[b] < s->position[a]))
                good = false;
        }
    ft_schedule_order_release(&order);
    return good;
}

/* Could a thread go on behind the schedule's end? */
static bool could_go_on(const state *s)
{
    uint64_t variants[FT_INTERPRETER_THREADS];
    if (ft_interpreter_state_of(s->m) != FT_INTERPRETER_GOING) return false;
    for (uint32_t t = 0; t < ft_interpreter_thread_count(s->m); t++)
        if (ft_interpreter_choices(s->m, t, variants)) return true;
    return false;
}

static bool step(checked *c, ft_constrained *run, ft_interpreter *m, uint32_t thread,
                 uint64_t variant)
{
    c->reads = m;
    c->thread = thread;
    return ft_constrained_step(run, m, thread, variant) != FT_CONSTRAINED_DIVERGES;
}

/* With loops as functions the selector needs what only a run knows: that of one run, to the epoch's
 * end. */
static const ft_schedule *schedule_of_run(checked *c, const ft_constrained *begin,
                                          const ft_interpreter *at)
{
    ft_constrained run;
    bool any = true;
    ft_interpreter *m = ft_interpreter_copy(at);
    ft_constrained_copy(&run, begin);
    while (any && ft_interpreter_state_of(m) == FT_INTERPRETER_GOING) {
        uint64_t variant = 0, v;
        uint32_t last = FT_NO_ID;
        any = false;
        for (uint32_t t = 0; t < ft_interpreter_thread_count(m) && !any; t++) {
            ft_interpreter_operation o;
            ft_constrained_look look = ft_constrained_next(&run, m, t, &v);
            if (look != FT_CONSTRAINED_FOLLOWS && look != FT_CONSTRAINED_EXITS) continue;
            (void)ft_interpreter_stands_before(m, t, &o);
            any = o.code != FT_CODE_EXIT && o.code != FT_CODE_FAIL;
            last = t;
            variant = v;
        }
        any = last != FT_NO_ID && step(c, &run, m, last, variant);
    }
    const ft_schedule *found = run.schedule;
    ft_interpreter_free(m);
    ft_constrained_release(&run);
    return found;
}

/* The one of a later epoch with dynamic inputs, of which all will be read. NULL: none. */
static const ft_schedule *schedule_of_inputs(checked *c, const ft_constrained *next,
                                             const ft_constrained *before, const ft_interpreter *m)
{
    uint32_t threads[FT_SCHEDULE_THREADS], schedule = FT_NO_SCHEDULE;
    ft_arrival arrival;
    if (!ft_schedule_is_tree(c->set, next->epoch)) return next->schedule;
    if (c->loops) return schedule_of_run(c, next, m);
    for (uint32_t t = 0; t < ft_interpreter_thread_count(m); t++)
        if (next->nth[t] != FT_NO_ID) threads[next->nth[t]] = t;
    c->reads = m;
    c->next = before;
    ft_arrival_init(&arrival, c->program, c->set, next->epoch, m, threads);
    if (ft_arrival_select(&arrival, value_of, c, &schedule, NULL) != FT_OK)
        schedule = FT_NO_SCHEDULE;
    ft_arrival_release(&arrival);
    c->next = NULL;
    return schedule == FT_NO_SCHEDULE ? NULL
                                      : &c->set->epochs.data[next->epoch].schedules.data[schedule];
}

/* The state, and whether values that are read next are the first ones. */
static void key_of(const checked *c, const ft_interpreter *m, ft_strbuf *key)
{
    ft_interpreter_state_bytes(m, key);
    for (uint32_t t = 0; t < ft_interpreter_thread_count(m); t++)
        for (int i = 0; i < c->n_inputs; i++)
            ft_strbuf_puts(key, reads_of(m, t, c->inputs[i].name) % 2 ? "1" : "0");
}

/* The next epoch begins where none of its schedules began as yet. */
static void go_on(checked *c, const state *s)
{
    ft_error err = FT_ERROR_INIT;
    ft_strbuf key = {0};
    uint32_t known = c->begun.len;
    state next = copy(c, s);
    c->reads = s->m;
    c->next = &s->run;
    ft_constrained_end end = ft_constrained_go_on(&next.run, next.m, value_of, c, &err);
    c->next = NULL;
    key_of(c, next.m, &key);
    if (end != FT_CONSTRAINED_EPOCH) {
        wrong(c, ft_constrained_end_name(end));
        snprintf(c->fault.why, sizeof c->fault.why, "%s", err.message);
    } else if (known < MOST_EPOCHS && ft_intern_add(&c->begun, key.text, key.len) == known) {
        next.schedule = schedule_of_inputs(c, &next.run, &s->run, next.m);
        if (next.schedule) {
            free(next.position);
            next.position = ft_calloc(next.schedule->nodes.len + 1, sizeof *next.position);
            next.steps = 0;
            ft_vec_push(&c->begins, next);
            next.m = NULL;
        } else {
            wrong(c, "no schedule of a later epoch covers the inputs");
        }
    }
    if (next.m) drop(&next);
    ft_strbuf_release(&key);
}

static void judge(checked *c, const state *s)
{
    uint32_t thread;
    ft_constrained_end end = ft_constrained_end_of(&s->run, s->m, &thread);
    bool failed = ft_interpreter_state_of(s->m) == FT_INTERPRETER_FAILED;
    ft_program_error error = failed ? ft_interpreter_error_of(s->m)->kind : FT_ERROR_NONE;
    bool race = error == FT_ERROR_RACE;
    c->fault.deadlocks |= error == FT_ERROR_DEADLOCK;
    c->fault.fails |= failed && !race && error != FT_ERROR_DEADLOCK;
    c->counts->runs++;
    c->counts->ends[end]++;
    if (race) {
        c->fault.races = true;
        return;
    }
    if (end == FT_CONSTRAINED_DIVERGED || end == FT_CONSTRAINED_STUCK)
        wrong(c, ft_constrained_end_name(end));
    if (end == FT_CONSTRAINED_PREFIX && !c->set->prefix) wrong(c, "ends before its schedule");
    if (end == FT_CONSTRAINED_SAME && could_go_on(s)) wrong(c, "a thread could go on behind it");
    if (!rounds_are_in_order(c, s)) wrong(c, "rounds of a barrier change places");
    if (!is_in_order(c, s)) wrong(c, "operations on one object change places");
    if (end == FT_CONSTRAINED_EPOCH && !c->fault.what) go_on(c, s);
}

/* How many arrivals at barriers came before the node's. */
static uint8_t arrival_rank(const checked *c, const state *s, uint32_t node)
{
    uint8_t rank = 1;
    for (uint32_t i = 0; i < c->schedule->nodes.len; i++)
        rank = (uint8_t)(rank + (c->schedule->nodes.data[i].kind == FT_NODE_ARRIVE &&
                                 s->position[i] && s->position[i] < s->position[node]));
    return s->position[node] ? rank : 0;
}

/* By thread of the inputs' schedule, while the run may still be of another one. */
static void done_of(const checked *c, const state *s, uint32_t *done)
{
    const ft_schedule *own = s->run.schedule;
    memset(done, 0, FT_SCHEDULE_THREADS * sizeof *done);
    for (uint32_t t = 0; t < c->schedule->threads.len; t++)
        for (uint32_t k = 0; k < own->threads.len; k++)
            if (own->threads.data[k] == c->schedule->threads.data[t]) done[t] = s->run.done[k];
}

/* What was done, and the order of arrivals, is the state of a run without races. */
static bool is_new(checked *c, const state *s)
{
    uint32_t known = c->seen.len;
    ft_strbuf key = {0};
    uint32_t done[FT_SCHEDULE_THREADS];
    done_of(c, s, done);
    ft_strbuf_add(&key, (const char *)done, sizeof done);
    for (uint32_t i = 0; i < c->schedule->nodes.len; i++) {
        char rank =
            (char)(c->schedule->nodes.data[i].kind == FT_NODE_ARRIVE ? arrival_rank(c, s, i) : 0);
        if (c->schedule->nodes.data[i].kind == FT_NODE_ARRIVE) ft_strbuf_add(&key, &rank, 1);
    }
    bool fresh = ft_intern_add(&c->seen, key.text, key.len) == known;
    ft_strbuf_release(&key);
    return fresh;
}

static void take(checked *c, state *s, uint32_t thread, uint64_t variant)
{
    uint32_t before[FT_SCHEDULE_THREADS], after[FT_SCHEDULE_THREADS];
    done_of(c, s, before);
    s->steps++;
    if (!step(c, &s->run, s->m, thread, variant)) wrong(c, "a thread ends before its nodes");
    done_of(c, s, after);
    for (uint32_t t = 0; t < c->schedule->threads.len; t++)
        for (uint32_t k = before[t]; k < after[t]; k++) {
            uint32_t node = ft_schedule_node_of(c->schedule, c->schedule->threads.data[t], k + 1);
            bool exits = ft_interpreter_state_of(s->m) != FT_INTERPRETER_GOING && c->set->prefix;
            if (node != FT_NO_ID)
                s->position[node] = s->steps;
            else if (!exits) /* which needs no node, whatever schedule it will be */
                wrong(c, "it does more than the schedule of its inputs");
        }
}

/* Is the thread's next operation the report of a race? Without prefixes no node is that. */
static bool races_next(const state *s, uint32_t thread)
{
    ft_interpreter_operation o;
    if (!ft_interpreter_stands_before(s->m, thread, &o) || o.code != FT_CODE_FAIL) return false;
    ft_interpreter *m = ft_interpreter_copy(s->m);
    ft_interpreter_step(m, thread, 0);
    bool race = ft_interpreter_error_of(m)->kind == FT_ERROR_RACE;
    ft_interpreter_free(m);
    return race;
}

static void walk(checked *c, state *s)
{
    bool any = false, diverges = false;
    uint64_t variant;
    bool going = ft_interpreter_state_of(s->m) == FT_INTERPRETER_GOING;
    if (c->states++ > MOST_STATES) return;
    for (uint32_t t = 0; going && t < ft_interpreter_thread_count(s->m); t++) {
        ft_constrained_look look = ft_constrained_next(&s->run, s->m, t, &variant);
        diverges |= look == FT_CONSTRAINED_DIVERGES; /* others go on: they may still race */
        if (look == FT_CONSTRAINED_DIVERGES) c->fault.races |= races_next(s, t);
        if (look != FT_CONSTRAINED_FOLLOWS && look != FT_CONSTRAINED_EXITS) continue;
        any = true;
        state next = copy(c, s);
        take(c, &next, t, variant);
        bool exits = ft_interpreter_state_of(next.m) != FT_INTERPRETER_GOING;
        if (exits || is_new(c, &next)) walk(c, &next);
        drop(&next);
    }
    if (!any || diverges) judge(c, s);
}

static void walk_epoch(checked *c, state *s)
{
    c->schedule = s->schedule;
    c->fault.epoch = s->run.epoch;
    c->fault.schedule = (uint32_t)(c->schedule - c->set->epochs.data[s->run.epoch].schedules.data);
    c->counts->epochs++;
    c->states = 0;
    walk(c, s);
    ft_intern_release(&c->seen);
}

static void check_input(checked *c)
{
    ft_error err = FT_ERROR_INIT;
    uint32_t number;
    c->counts->inputs++;
    ft_interpreter_options options = {
        .races = true, .max_steps = 20000, .loops = c->loops, .input = feed, .context = c};
    state s = {.m = ft_interpreter_new(c->program, &options)};
    bool tree = ft_schedule_is_tree(c->set, 0);
    if (tree && ft_constrained_begin(&s.run, c->program, c->set, value_of, c, &err) != FT_OK)
        return ft_interpreter_free(s.m), wrong(c, "no schedule is possible");
    if (tree && c->loops) {
        s.schedule = schedule_of_run(c, &s.run, s.m);
    } else {
        ft_status status = ft_schedule_select(c->set, 0, value_of, c, &number, &err);
        if (status != FT_OK || number == FT_NO_SCHEDULE) {
            wrong(c,
                  status ? "an input of the selector is unknown" : "no schedule covers the inputs");
            if (tree) ft_constrained_release(&s.run);
            return ft_interpreter_free(s.m);
        }
        s.schedule = &c->set->epochs.data[0].schedules.data[number];
    }
    if (!tree) ft_constrained_init(&s.run, c->program, c->set, s.schedule);
    s.position = ft_calloc(s.schedule->nodes.len + 1, sizeof *s.position);
    ft_vec_push(&c->begins, s);
    while (c->begins.len) {
        s = c->begins.data[--c->begins.len];
        if (!c->fault.what) walk_epoch(c, &s);
        drop(&s);
    }
    ft_intern_release(&c->begun);
}

constrained_fault constrained_check(const ft_program *program, const ft_schedule_set *set,
                                    constrained_counts *counts)
{
    checked c = {.program = program, .set = set, .counts = counts};
    list_inputs(&c);
    for (size_t i = 0; i < set->inputs.len && !c.loops; i++)
        if (set->inputs.data[i].loop) c.loops = ft_loops_find(program);
    do check_input(&c);
    while (!c.fault.what && next_inputs(&c));
    ft_vec_release(&c.begins);
    ft_loops_free(c.loops);
    return c.fault;
}
