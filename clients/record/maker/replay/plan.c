#include "maker/replay/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "maker/order/channels.h"
#include "maker/replay/inputs.h"
#include "maker/symbols/symbols.h"
#include "trace/show.h"

void ft_plan_release(ft_plan *plan)
{
    ft_vec_release(&plan->entries);
    ft_vec_release(&plan->events);
    ft_vec_release(&plan->actors);
    ft_vec_release(&plan->sites);
    ft_vec_release(&plan->modules);
    ft_vec_release(&plan->inputs);
    ft_vec_release(&plan->channels);
}

/* ---- threads: "main", "T1", "T1.1" (names/names.c) */

static uint32_t parent_of(const ft_trace *trace, const char *name, uint32_t *child)
{
    const char *dot = strrchr(name, '.');
    char *end = NULL;
    *child = (uint32_t)strtoul(dot ? dot + 1 : name + 1, &end, 10);
    if (*name != 'T' || !*child || *end) return FT_NO_ID;
    if (dot) return ft_intern_find(&trace->threads, name, (size_t)(dot - name));
    return ft_intern_find(&trace->threads, "main", 4);
}

static ft_status add_actors(const ft_trace *trace, ft_plan *plan, ft_error *err)
{
    for (uint32_t t = 0; t < trace->threads.len; t++) {
        const char *name = trace->threads.names[t];
        ft_schedule_actor actor = {.parent = FT_SCHEDULE_NONE};
        if (strcmp(name, "main") != 0) actor.parent = parent_of(trace, name, &actor.child);
        if (actor.parent == FT_NO_ID && strcmp(name, "main") != 0)
            return ft_error_set(err, FT_INPUT,
                                "thread %s: the trace is not a recording of `foretell record'",
                                name);
        ft_vec_push(&plan->actors, actor);
    }
    return FT_OK;
}

static int by_code(const void *a, const void *b)
{
    const ft_schedule_site *x = a, *y = b;
    if (x->module != y->module) return x->module < y->module ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static void add_places(const ft_trace *trace, ft_plan *plan)
{
    for (uint32_t m = 0; m < trace->n_modules; m++) {
        ft_schedule_module module = {.name = ""};
        snprintf(module.name, sizeof module.name, "%s", trace->modules[m].name);
        ft_vec_push(&plan->modules, module);
    }
    for (uint32_t s = 0; s < trace->n_sites; s++) {
        const ft_code_site *site = &trace->sites[s];
        ft_vec_push(&plan->sites, (ft_schedule_site){site->module, site->loc, site->offset});
    }
    if (plan->sites.len)
        qsort(plan->sites.data, plan->sites.len, sizeof *plan->sites.data, by_code);
}

/* ---- entries */

/* An assignment stands for the access that it was recorded from. One that reaches one of several
 * cells (terms/targets.c) reads all that it may write. */
static uint32_t kind_of_step(const ft_trace *trace, uint32_t e)
{
    const ft_action *action = ft_trace_action(trace, e);
    bool read = false, write = false;
    if (trace->kind[e] != FT_EVENT_ASSIGN) return trace->kind[e];
    if (ft_trace_reaches_one_of(trace, e)) return FT_SCHEDULE_NONE;
    for (uint32_t i = 0; i < action->n_accesses; i++) {
        read |= !action->accesses[i].write;
        write |= action->accesses[i].write;
    }
    return read && write ? FT_EVENT_RMW : write ? FT_EVENT_WRITE : FT_EVENT_READ;
}

/* A use of an object that another thread may destroy (passes/objects.c) stands before the event of
 * the same step that is the use; that one is what the program does. */
static uint32_t deed(const ft_trace *trace, uint32_t e)
{
    uint32_t next = e + 1;
    if (trace->kind[e] != FT_EVENT_READ || next == trace->n_events) return e;
    if (trace->thread[next] != trace->thread[e] || trace->hook[next] != trace->hook[e]) return e;
    switch (ft_event_kind_object((ft_event_kind)trace->kind[next])) {
    case FT_OBJECT_LOCK:
    case FT_OBJECT_SEMAPHORE:
    case FT_OBJECT_CONDITION:
    case FT_OBJECT_BARRIER:
    case FT_OBJECT_ONCE:
        return next;
    case FT_OBJECT_NONE:
    case FT_OBJECT_VARIABLE:
    case FT_OBJECT_THREAD:
    case FT_OBJECT_EDGE:
    case FT_OBJECT_BLOCK:
    case FT_OBJECT_CLASSES:
        break;
    }
    return e;
}

/* The signal that the event takes, 0: none. */
static uint32_t signal_of(const ft_trace *trace, uint32_t e)
{
    enum { SIGNALS = 64 };
    size_t n = sizeof FT_SIGNAL_EDGE - 1;
    if (trace->kind[e] != FT_EVENT_EDGE_IN) return 0;
    const char *name = ft_trace_object_name(trace, e);
    unsigned long number = strncmp(name, FT_SIGNAL_EDGE, n) ? 0 : strtoul(name + n, NULL, 10);
    return number <= SIGNALS ? (uint32_t)number : 0;
}

static void add_entry(ft_plan *plan, const ft_trace *trace, uint32_t e, ft_schedule_mode mode)
{
    FT_REQUIRE(e < trace->n_events);
    ft_vec_push(&plan->entries, (ft_schedule_entry){.mode = mode,
                                                    .actor = trace->thread[e],
                                                    .step = trace->hook[e],
                                                    .kind = kind_of_step(trace, e),
                                                    .loc = trace->loc[e],
                                                    .signal = signal_of(trace, e)});
    ft_vec_push(&plan->events, e);
}

/* Events without a step number, such as external writes, are nothing that the program does. */
static void add_steps(ft_plan *plan, const ft_trace *trace, const ft_witness *witness)
{
    for (uint32_t i = 0; i < witness->n_steps; i++) {
        uint32_t e = witness->steps[i];
        if (!trace->hook[e] || deed(trace, e) != e) continue;
        bool times_out = trace->kind[e] == FT_EVENT_COND_WAKE && trace->flags[e] & FT_FLAG_FAILED;
        add_entry(plan, trace, e, times_out ? FT_SCHEDULE_TIMEOUT : FT_SCHEDULE_DO);
    }
}

/* Is it a compare-and-swap that found what it asked for? */
static bool swapped(const ft_trace *trace, uint32_t e)
{
    const ft_action *action = ft_trace_action(trace, e);
    if (!action) return ft_trace_compares(trace, e);
    return action->guard != FT_NO_TERM && kind_of_step(trace, e) == FT_EVENT_RMW;
}

/* A swap that the claim has between the two accesses reads, whether it succeeds as in the run or
 * not. */
static void let_fail(ft_plan *plan, const ft_trace *trace, const ft_claim *claim)
{
    if (claim->kind != FT_CLAIM_ATOMICITY || claim->writes[1]) return;
    if (!swapped(trace, claim->events[1])) return;
    for (size_t i = 0; i < plan->entries.len; i++)
        if (plan->events.data[i] == claim->events[1]) plan->entries.data[i].kind = FT_SCHEDULE_NONE;
}

static bool is_blocking(const ft_claim *claim)
{
    return claim->kind == FT_CLAIM_DEADLOCK || claim->kind == FT_CLAIM_STUCK;
}

/* A reader of a writer-preferring lock is only kept waiting by a writer that waits already. */
static bool waits_behind(const ft_trace *trace, uint32_t e)
{
    return trace->kind[e] == FT_EVENT_ACQUIRE_SHARED &&
           trace->lock_kind[trace->object[e]] == FT_LOCK_WRITER_PREFERRING;
}

static void add_finals(ft_plan *plan, const ft_trace *trace, const ft_claim *claim)
{
    uint32_t n = ft_claim_events(claim);
    for (int behind = 0; behind < 2; behind++)
        for (uint32_t i = ft_claim_first_final(claim->kind); i < n; i++)
            if (waits_behind(trace, claim->events[i]) == behind)
                add_entry(plan, trace, deed(trace, claim->events[i]),
                          is_blocking(claim) ? FT_SCHEDULE_BLOCK : FT_SCHEDULE_STAND);
}

/* STUCK: every other thread that was started and has an event left is blocked in it (claim.h). */
static void add_stuck(ft_plan *plan, const ft_trace *trace, const ft_witness *witness)
{
    uint32_t n = trace->threads.len, main = ft_intern_find(&trace->threads, "main", 4);
    uint32_t *done = ft_calloc((size_t)n + 1, sizeof *done); /* per thread: events */
    bool *starts = ft_calloc((size_t)n + 1, sizeof *starts);
    if (main != FT_NO_ID) starts[main] = true;
    for (uint32_t i = 0; i < witness->n_steps; i++) {
        uint32_t e = witness->steps[i];
        assert(e < trace->n_events);
        done[trace->thread[e]]++;
        if (trace->kind[e] == FT_EVENT_FORK) starts[trace->object[e]] = true;
    }
    starts[trace->thread[witness->claim.events[0]]] = false; /* it is a final already */
    for (uint32_t e = 0; e < trace->n_events; e++) {
        uint32_t t = trace->thread[e];
        if (done[t]) {
            done[t]--;
        } else if (starts[t] && trace->hook[e]) {
            add_entry(plan, trace, e, FT_SCHEDULE_BLOCK);
            starts[t] = false;
        }
    }
    free(done);
    free(starts);
}

/* A final is not to be passed: what its thread would do together with it (another part of the same
 * access, the read of a copied structure) is left to it. */
static void drop_passed(ft_plan *plan, size_t n_steps)
{
    size_t kept = 0;
    for (size_t i = 0; i < plan->entries.len; i++) {
        ft_schedule_entry *e = &plan->entries.data[i];
        bool passed = false;
        for (size_t f = n_steps; f < plan->entries.len && i < n_steps; f++)
            passed |=
                plan->entries.data[f].actor == e->actor && e->step >= plan->entries.data[f].step;
        if (passed) continue;
        plan->events.data[kept] = plan->events.data[i];
        plan->entries.data[kept++] = *e;
        plan->head.steps += i < n_steps;
    }
    assert(kept >= plan->head.steps);
    plan->entries.len = plan->events.len = kept;
    plan->head.finals = (uint32_t)(kept - plan->head.steps);
}

static ft_status check_finals(const ft_trace *trace, const ft_plan *plan, size_t n_steps,
                              ft_error *err)
{
    for (size_t i = n_steps; i < plan->entries.len; i++)
        if (!plan->entries.data[i].step)
            return ft_error_set(
                err, FT_INPUT, "event %u of the claim is not a step of the program: %s",
                plan->events.data[i] + 1,
                ft_event_kind_name((ft_event_kind)trace->kind[plan->events.data[i]]));
    return FT_OK;
}

/* They are known by their threads and their order there, not by the witness. */
static ft_status add_inputs(const ft_trace *trace, ft_plan *plan, ft_error *err)
{
    ft_inputs inputs;
    ft_status status = ft_inputs_read(trace, &inputs, err);
    for (size_t i = 0; !status && i < inputs.all.len; i++)
        ft_vec_push(&plan->inputs, inputs.all.data[i]);
    for (size_t i = 0; !status && i < inputs.channels.len; i++)
        ft_vec_push(&plan->channels, inputs.channels.data[i]);
    for (size_t t = 0; !status && t < plan->actors.len; t++) {
        assert(inputs.first.data[t] <= inputs.first.data[t + 1]);
        plan->actors.data[t].first_input = inputs.first.data[t];
        plan->actors.data[t].inputs = inputs.first.data[t + 1] - inputs.first.data[t];
        plan->actors.data[t].first_channel = inputs.first_channel.data[t];
        plan->actors.data[t].channels =
            inputs.first_channel.data[t + 1] - inputs.first_channel.data[t];
    }
    plan->contents = trace->inputs;
    plan->n_contents = trace->n_inputs;
    ft_inputs_release(&inputs);
    return status;
}

static ft_status begin_plan(const ft_trace *trace, ft_plan *plan, ft_error *err)
{
    *plan = (ft_plan){.head = {.steps = 0}};
    if (!trace->hook || !trace->n_modules)
        return ft_error_set(err, FT_INPUT,
                            "the trace does not have the program's steps: it was not made by "
                            "`foretell record', or was converted since; record the program again");
    ft_status status = add_actors(trace, plan, err);
    if (!status) status = add_inputs(trace, plan, err);
    if (!status) add_places(trace, plan);
    return status;
}

static void end_plan(ft_plan *plan)
{
    plan->head.actors = (uint32_t)plan->actors.len;
    plan->head.sites = (uint32_t)plan->sites.len;
    plan->head.modules = (uint32_t)plan->modules.len;
    plan->head.inputs = (uint32_t)plan->inputs.len;
    plan->head.channels = (uint32_t)plan->channels.len;
    plan->head.feed = plan->inputs.len > 0;
}

ft_status ft_plan_feed(const ft_trace *trace, ft_plan *plan, ft_error *err)
{
    FT_REQUIRE(trace && plan);
    ft_status status = begin_plan(trace, plan, err);
    end_plan(plan);
    plan->head.feed = 1;
    return status;
}

static bool has_cell(const ft_trace *trace, uint32_t block, uint32_t variable)
{
    const ft_block_cells *cells = &trace->block_cells[block];
    for (uint32_t i = 0; i < cells->count; i++)
        if (cells->variables[i] == variable) return true;
    return false;
}

/* Where another block is there the claim says nothing of it. Under `control` the steps on the way
 * may be done with other pointers than in the recording: an object whose memory is not known is
 * then taken to be another one. */
static void add_block(ft_plan *plan, const ft_trace *trace, const ft_witness *witness)
{
    const ft_claim *claim = &witness->claim;
    bool after = claim->kind == FT_CLAIM_AFTER_FREE;
    if (!after && claim->kind != FT_CLAIM_UNINITIALISED) return;
    plan->head.freed = after && witness->model == FT_MODEL_CONTROL;
    if (plan->head.freed) {
        plan->head.block_actor = FT_SCHEDULE_NONE;
        plan->head.block_step = 1;
    }
    for (uint32_t e = 0; e < trace->n_events; e++) {
        uint32_t block = trace->object[e];
        if (trace->kind[e] != FT_EVENT_ALLOC || !trace->hook[e]) continue;
        bool same = after ? block == trace->object[claim->events[0]]
                          : has_cell(trace, block, claim->variable);
        if (!same) continue;
        plan->head.block_actor = trace->thread[e];
        plan->head.block_step = trace->hook[e];
        return;
    }
}

/* Steps and then finals, each an event that the program does, and none of them twice. */
static bool is_sound(const ft_plan *plan, const ft_trace *trace)
{
    bool *seen = ft_calloc((size_t)trace->n_events + 1, sizeof *seen), sound = true;
    for (size_t i = 0; i < plan->entries.len && sound; i++) {
        const ft_schedule_entry *e = &plan->entries.data[i];
        uint32_t event = plan->events.data[i];
        sound = e->step && e->actor < plan->actors.len && event < trace->n_events && !seen[event];
        if (sound) seen[event] = true;
    }
    free(seen);
    return sound && plan->entries.len == plan->events.len &&
           plan->entries.len == (size_t)plan->head.steps + plan->head.finals;
}

ft_status ft_plan_make(const ft_trace *trace, const ft_witness *witness, ft_plan *plan,
                       ft_error *err)
{
    FT_REQUIRE(trace && witness && plan);
    ft_status status = begin_plan(trace, plan, err);
    if (status) return status;
    add_steps(plan, trace, witness);
    let_fail(plan, trace, &witness->claim);
    size_t n_steps = plan->entries.len;
    add_finals(plan, trace, &witness->claim);
    if (witness->claim.kind == FT_CLAIM_STUCK) add_stuck(plan, trace, witness);
    status = check_finals(trace, plan, n_steps, err);
    if (status) return status;
    drop_passed(plan, n_steps);
    plan->head.stuck = witness->claim.kind == FT_CLAIM_STUCK;
    plan->head.meet = witness->claim.kind == FT_CLAIM_RACE;
    add_block(plan, trace, witness);
    end_plan(plan);
    FT_CHECK(is_sound(plan, trace));
    return FT_OK;
}

bool ft_plan_takes_from_within(const ft_trace *trace, const ft_witness *witness)
{
    static const char *const edges[] = {FT_CONTENT_EDGES};
    FT_REQUIRE(trace && witness);
    for (uint32_t i = 0; i < witness->n_steps; i++) {
        uint32_t e = witness->steps[i];
        if (trace->kind[e] != FT_EVENT_EDGE_IN) continue;
        const char *name = ft_trace_object_name(trace, e);
        for (size_t k = 0; k < sizeof edges / sizeof *edges; k++)
            if (strncmp(name, edges[k], strlen(edges[k])) == 0) return true;
    }
    return false;
}

void ft_plan_print(const ft_plan *plan, ft_strbuf *out)
{
    const struct {
        const void *data;
        size_t size;
    } parts[] = {
        {&plan->head, sizeof plan->head},
        {plan->entries.data, plan->entries.len * sizeof *plan->entries.data},
        {plan->actors.data, plan->actors.len * sizeof *plan->actors.data},
        {plan->sites.data, plan->sites.len * sizeof *plan->sites.data},
        {plan->modules.data, plan->modules.len * sizeof *plan->modules.data},
        {plan->inputs.data, plan->inputs.len * sizeof *plan->inputs.data},
        {plan->channels.data, plan->channels.len * sizeof *plan->channels.data},
        {plan->contents, plan->n_contents},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].size) ft_strbuf_add(out, parts[i].data, parts[i].size);
}

/* ---- what came of it */

static void print_event(const ft_trace *trace, uint32_t e, ft_strbuf *out)
{
    const char *place = ft_trace_location_text(trace, trace->loc[e]);
    ft_show *show = ft_show_new(trace);
    ft_show_event(show, e, out);
    ft_show_free(show);
    if (place) ft_strbuf_printf(out, " at %s", place);
}

enum { SOMEWHERE = 1 << 30 }; /* an address to look the program's code up at */

static void print_place(const ft_trace *trace, const char *program, uint32_t module,
                        uint64_t offset, ft_strbuf *out)
{
    ft_code_place at;
    ft_strbuf_puts(out, " at ");
    ft_symbols *symbols = ft_symbols_new();
    if (!module) ft_symbols_module(symbols, program, SOMEWHERE);
    if (!ft_symbols_place(symbols, SOMEWHERE + offset, out, &at))
        ft_strbuf_printf(out, "%s+0x%llx",
                         module < trace->n_modules ? trace->modules[module].name : "?",
                         (unsigned long long)offset);
    ft_symbols_free(symbols);
}

/* Two accesses of one line look the same. */
static void print_found(const ft_trace *trace, const char *program, const ft_schedule *run,
                        uint32_t expected, ft_strbuf *out)
{
    bool known = run->kind < FT_EVENT_KINDS;
    const char *wanted = ft_trace_location_text(trace, trace->loc[expected]);
    ft_strbuf place = {0};
    if (run->offset) print_place(trace, program, run->module, run->offset, &place);
    bool alike = wanted && place.text && run->kind == trace->kind[expected] &&
                 !strcmp(place.text + strlen(" at "), wanted);
    ft_strbuf_puts(out, alike ? "found another " : "found ");
    ft_strbuf_puts(out, known ? ft_event_kind_name((ft_event_kind)run->kind) : "a call");
    if (place.text) ft_strbuf_puts(out, place.text);
    ft_strbuf_release(&place);
}

static const char *const calls[] = {
#define FT_ROW(symbol, name) name,
    FT_INPUT_CALL_TABLE(FT_ROW)
#undef FT_ROW
};

/* An input that is not the recording's; false: that is not what went wrong. */
static bool explain_input(const ft_plan *plan, const ft_trace *trace, const char *program,
                          const ft_schedule *run, ft_strbuf *out)
{
    bool number = run->outcome == FT_SCHEDULE_NUMBER_OUTCOME;
    if (run->outcome != FT_SCHEDULE_INPUT_OUTCOME && !number) return false;
    if (run->actor >= plan->actors.len || run->kind >= FT_INPUT_CALLS) return false;
    const ft_schedule_actor *actor = &plan->actors.data[run->actor];
    if (!run->input || run->input > actor->inputs) return false;
    const ft_schedule_input *wanted = &plan->inputs.data[actor->first_input + run->input - 1];
    ft_strbuf_printf(out, "thread %s, input %u: expected %s",
                     ft_trace_thread_name(trace, run->actor), run->input, calls[wanted->call]);
    print_place(trace, program, wanted->module, wanted->offset, out);
    if (number) {
        bool told = wanted->call != FT_INPUT_PIPE && wanted->call != FT_INPUT_SOCKETPAIR &&
                    wanted->call != FT_INPUT_FOPEN;
        ft_strbuf_printf(out, " to give descriptor");
        if (told) ft_strbuf_printf(out, " %lld,", (long long)wanted->result);
        ft_strbuf_printf(out, told ? " which is in use" : "s of which one is in use");
        return true;
    }
    ft_strbuf_printf(out, ", found %s", calls[run->kind]);
    print_place(trace, program, run->module, run->offset, out);
    return true;
}

bool ft_plan_explain_live(const ft_plan *plan, const ft_trace *trace, const char *program,
                          const ft_schedule *run, ft_strbuf *out)
{
    if (!run->live || run->kind >= FT_INPUT_CALLS) return false;
    if (run->actor < plan->actors.len && explain_input(plan, trace, program, run, out)) return true;
    if (run->actor < plan->actors.len)
        ft_strbuf_printf(
            out, "thread %s, behind its last input: ", ft_trace_thread_name(trace, run->actor));
    else
        ft_strbuf_puts(out, "a thread that is not there: ");
    ft_strbuf_puts(out, calls[run->kind]);
    print_place(trace, program, run->module, run->offset, out);
    return true;
}

void ft_plan_explain(const ft_plan *plan, const ft_trace *trace, const char *program,
                     const ft_schedule *run, ft_strbuf *out)
{
    static const char *const texts[] = {
#define FT_ROW(symbol, text) text,
        FT_SCHEDULE_OUTCOME_TABLE(FT_ROW)
#undef FT_ROW
    };
    if (run->outcome == FT_SCHEDULE_REACHED_OUTCOME || run->at >= plan->entries.len) {
        ft_strbuf_puts(out, run->outcome < FT_SCHEDULE_OUTCOMES ? texts[run->outcome] : "?");
        return;
    }
    assert(plan->events.len == plan->entries.len);
    if (explain_input(plan, trace, program, run, out)) return;
    uint32_t e = plan->events.data[run->at];
    ft_strbuf_printf(out, "thread %s, step %u (event %u): expected ",
                     ft_trace_thread_name(trace, trace->thread[e]),
                     plan->entries.data[run->at].step, e + 1);
    print_event(trace, e, out);
    ft_strbuf_puts(out, ", ");
    if (run->outcome == FT_SCHEDULE_OTHER_OUTCOME) {
        print_found(trace, program, run, e, out);
    } else {
        ft_strbuf_puts(out, run->outcome < FT_SCHEDULE_OUTCOMES ? texts[run->outcome] : "?");
    }
}
