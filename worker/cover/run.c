#include "cover/run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "cover/graph.h"
#include "cover/prefer.h"
#include "program/arrivals.h"
#include "program/flow/loops.h"

/* ---- worlds ---- */

static void follow(void *context, const ft_sym_state *state, const ft_sym_note *note)
{
    cover_world *w = context;
    if (w->follow) w->follow(w->follower, state, note);
}

static bool should_stop(void *context)
{
    const cover_world *w = context;
    return w->should_stop && w->should_stop(w->context);
}

void cover_world_init(cover_world *w, const ft_program *program, const cover_world_options *options)
{
    FT_REQUIRE(w && program && options);
    *w = (cover_world){.program = program,
                       .flow = ft_flow_new(program),
                       .n_threads = 1,
                       .n_roots = 1,
                       .orders_arrivals = ft_program_orders_arrivals(program),
                       .order = options->order,
                       .seed = options->seed,
                       .preference = options->preference,
                       .dynamic = options->dynamic,
                       .max_operations = options->max_operations,
                       .should_stop = options->should_stop,
                       .context = options->context};
    if (!w->max_operations) w->max_operations = 100000;
    if (options->epochs) cover_markers_init(&w->markers, w->flow);
    if (options->loops) w->loops = ft_loops_find(program);
    cover_control_init(&w->control, w->flow, &w->markers, options->prefix);
    w->control.loops = w->loops;
    ft_sym_options own = {.should_stop = should_stop,
                          .follow = follow,
                          .context = w,
                          .loops = w->loops,
                          .handles = true};
    w->world = ft_sym_world_new(program, &own);
    w->pool = ft_sym_world_pool(w->world);
}

void cover_world_release(cover_world *w)
{
    cover_control_release(&w->control);
    cover_markers_release(&w->markers);
    ft_sym_world_free(w->world);
    ft_loops_free(w->loops);
    ft_flow_free(w->flow);
    ft_map_release(&w->children);
}

void cover_world_begin(cover_world *w, uint32_t n)
{
    FT_REQUIRE(n && n <= FT_SYM_THREADS);
    ft_map_release(&w->children);
    w->n_threads = w->n_roots = n;
}

uint32_t cover_world_child(cover_world *w, uint32_t parent, uint32_t nth)
{
    bool fresh;
    uint64_t *slot = ft_map_slot(&w->children, (uint64_t)parent << 32 | nth, w->n_threads, &fresh);
    if (!fresh) return (uint32_t)*slot;
    if (w->n_threads == FT_SYM_THREADS) return *slot = FT_NO_ID, FT_NO_ID;
    w->names[w->n_threads].parent = parent;
    w->names[w->n_threads].nth = nth;
    return w->n_threads++;
}

void cover_world_thread_name(const cover_world *w, uint32_t thread, ft_strbuf *name)
{
    uint32_t chain[FT_SYM_THREADS], n = 0;
    for (; thread >= w->n_roots; thread = w->names[thread].parent)
        chain[n++] = w->names[thread].nth;
    ft_strbuf_printf(name, "%" PRIu32, thread);
    while (n) ft_strbuf_printf(name, ".%u", chain[--n]);
}

uint32_t cover_world_thread(cover_world *w, const char *name)
{
    if (*name < '0' || *name > '9') return FT_NO_ID;
    char *end;
    unsigned long root = strtoul(name, &end, 10);
    if (root >= w->n_roots) return FT_NO_ID;
    uint32_t thread = (uint32_t)root;
    while (*end == '.') {
        unsigned long nth = strtoul(end + 1, &end, 10);
        if (!nth || nth > UINT16_MAX) return FT_NO_ID;
        thread = cover_world_child(w, thread, (uint32_t)nth);
        if (thread == FT_NO_ID) return FT_NO_ID;
    }
    return *end ? FT_NO_ID : thread;
}

bool cover_world_is_tree(const cover_world *w)
{
    return w->dynamic || w->loops;
}

bool cover_world_is_dynamic(const cover_world *w, const char *input)
{
    for (const char *const *name = w->dynamic; name && *name; name++)
        if (strcmp(*name, "*") == 0 || strcmp(*name, input) == 0) return true;
    return false;
}

void cover_step(cover_world *w, ft_sym_state *m, uint32_t thread, uint64_t variant)
{
    (void)w;
    ft_sym_clock all;
    memset(&all, 255, sizeof all);
    all.of[thread] = ft_sym_steps(m, thread) + 1;
    ft_sym_step(m, thread, variant, &all);
}

/* ---- one path ---- */

typedef struct running {
    cover_world *w;
    ft_sym_state *m;
    cover_trace *trace;
    cover_graph graph;
    uint32_t current;            /* the thread that went last */
    bool later;                  /* the epoch is not the entry */
    bool marked[FT_SYM_THREADS]; /* it has come to a marker: it stops before its next operation */
    uint64_t random, time;
    ft_error *err;
} running;

/* How willingly a thread goes: the lowest first. */
enum { GOES, OVERTAKES, TIMES_OUT, ENDS_PROCESS, NEVER };

static bool may_time_out(const ft_sym_operation *o)
{
    return o->code == FT_CODE_TIMED_LOCK || o->code == FT_CODE_SEM_TIMED ||
           (o->code == FT_CODE_TIMED_WAIT && o->second);
}

/* Has the thread come to the epoch's end? The end of the process belongs to the epoch. */
static bool is_at_marker(const running *r, uint32_t t, const ft_sym_operation *o)
{
    ft_node_kind kind;
    return r->marked[t] && o->code < FT_CODES && o->code != FT_CODE_EXIT &&
           o->code != FT_CODE_FAIL && ft_node_kind_of(o->code, o->second, &kind);
}

static bool takes_something(ft_code code)
{
    return code == FT_CODE_LOCK || code == FT_CODE_READ_LOCK || code == FT_CODE_WRITE_LOCK ||
           code == FT_CODE_SEM_WAIT;
}

/* It would take what a thread that has done nothing in the epoch yet could take instead: if it did
 * in every epoch, that thread would wait for ever. */
static bool overtakes(const running *r, uint32_t t, const ft_sym_operation *o)
{
    uint64_t variants[FT_SYM_THREADS];
    if (!r->later || !r->graph.counts[t] || !takes_something(o->code)) return false;
    for (uint32_t u = 0; u < ft_sym_thread_count(r->m); u++) {
        ft_sym_operation other;
        if (u != t && !r->graph.counts[u] && ft_sym_stands_before(r->m, u, &other) &&
            takes_something(other.code) && other.object == o->object &&
            !is_at_marker(r, u, &other) && ft_sym_choices(r->m, u, variants))
            return true;
    }
    return false;
}

static bool has(const uint64_t *variants, uint32_t n, uint64_t variant)
{
    for (uint32_t i = 0; i < n; i++)
        if (variants[i] == variant) return true;
    return false;
}

static int willingness(running *r, uint32_t t, const cover_wish *wish, ft_sym_operation *o,
                       uint64_t *variant)
{
    uint64_t variants[FT_SYM_THREADS];
    uint32_t n;
    if (!ft_sym_stands_before(r->m, t, o) || !(n = ft_sym_choices(r->m, t, variants))) return NEVER;
    if (is_at_marker(r, t, o)) return NEVER;
    *variant = variants[0];
    if (o->code == FT_CODE_SIGNAL) /* the waiter that waits longest */
        for (uint32_t i = 1; i < n; i++)
            if (r->trace->threads[variants[i] - 1].since < r->trace->threads[*variant - 1].since)
                *variant = variants[i];
    if (o->code == FT_CODE_SIGNAL && wish->peer != FT_NO_ID && has(variants, n, wish->peer + 1))
        *variant = wish->peer + 1;
    if (o->code == FT_CODE_EXIT || o->code == FT_CODE_FAIL) return ENDS_PROCESS;
    if (may_time_out(o) && wish->timed_out && has(variants, n, 1)) return *variant = 1, GOES;
    if (overtakes(r, t, o)) return OVERTAKES;
    return may_time_out(o) && *variant ? TIMES_OUT : GOES;
}

static uint64_t next_random(running *r)
{
    r->random = r->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return r->random >> 33;
}

/* The thread that goes next; false: none can. */
static bool choose(running *r, uint32_t *thread, ft_sym_operation *o, uint64_t *variant)
{
    uint32_t n = ft_sym_thread_count(r->m), from = 0, many = 0;
    uint64_t first = UINT64_MAX;
    int best = NEVER;
    if (r->w->order == COVER_ORDER_THREAD) from = r->current;
    if (r->w->order == COVER_ORDER_TRACE) from = r->current + 1;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t t = (from + i) % n;
        if (r->w->order == COVER_ORDER_THREAD) t = i == 0 ? from : i <= from ? i - 1 : i;
        ft_sym_operation own;
        uint64_t v = 0;
        cover_wish wish = cover_preference_of(r->w->preference, t);
        int how = willingness(r, t, &wish, &own, &v);
        if (how < best) many = 0;
        bool takes =
            how < best || (how == best && how != NEVER && r->w->order == COVER_ORDER_SEED &&
                           next_random(r) % ++many == 0);
        takes |= how == best && how != NEVER && wish.at < first;
        if (how < best) many = 1;
        if (!takes) continue;
        best = how;
        first = wish.at;
        *thread = t;
        *o = own;
        *variant = v;
    }
    return best != NEVER;
}

/* Branches have no alternatives for the inputs at hand. */
static void settle(running *r, uint32_t t)
{
    ft_sym_operation o;
    while (ft_sym_end_of(r->m) == FT_SYM_GOING && ft_sym_stands_before(r->m, t, &o) && o.arms)
        cover_step(r->w, r->m, t, ft_sym_likely_arm(r->m, t));
}

static ft_status refuse(running *r, const ft_sym_operation *o, const char *what)
{
    const ft_program *p = r->w->program;
    return ft_error_set(r->err, FT_UNSUPPORTED, "@%s, instruction %u: %s",
                        ft_program_symbol_name(p, o->place.function), o->place.instruction, what);
}

/* The operation as an entry of the trace and a node of the schedule. */
static ft_status record(running *r, uint32_t t, const ft_sym_operation *o, uint64_t variant)
{
    cover_thread *th = &r->trace->threads[t];
    ft_node_kind kind;
    if (o->code == FT_CODE_ATOMIC_BEGIN)
        return refuse(r, o, "schedule sets have no atomic sections");
    if (o->code == FT_CODES) {
        cover_preference_note(r->w->preference, t, FT_NODE_BEGIN);
        return cover_graph_begin(&r->graph, t), FT_OK;
    }
    if (o->code == FT_CODE_FAIL || (o->code == FT_CODE_EXIT && th->next.instruction == FT_NO_ID)) {
        r->trace->entries.data[th->last - 1].fails = true;
        cover_graph_exit(&r->graph, t, &o->place);
        return FT_OK;
    }
    if (!ft_node_kind_of(o->code, o->second, &kind)) { /* a fence, a yield */
        th->next.instruction = FT_NO_ID;
        return FT_OK;
    }
    if (!cover_graph_takes(&r->graph, kind, o))
        return refuse(r, o, "an operation whose operand is not an object or a thread");
    cover_entry *e = cover_trace_operation(r->trace, t, COVER_OPERATION);
    if (kind == FT_NODE_EXIT) {
        e->fails = true;
        cover_graph_exit(&r->graph, t, &o->place);
        return FT_OK;
    }
    if (kind == FT_NODE_WAIT || kind == FT_NODE_TIMED_WAIT) th->since = ++r->time;
    if (kind == FT_NODE_JOIN || kind == FT_NODE_DETACH) e->peer = (uint32_t)o->object;
    if (kind == FT_NODE_CREATE) e->peer = (uint32_t)variant - 1;
    cover_preference_note(r->w->preference, t, kind);
    cover_graph_add(&r->graph, t, kind, o, variant);
    return FT_OK;
}

static ft_status go(running *r, uint32_t t, const ft_sym_operation *o, uint64_t variant)
{
    if (o->code == FT_CODE_CREATE) {
        uint32_t child = cover_world_child(r->w, t, ++r->trace->threads[t].created);
        if (child == FT_NO_ID)
            return ft_error_set(r->err, FT_LIMIT, "more than %d threads", FT_SYM_THREADS);
        variant = child + 1;
        if (r->trace->n_threads <= child) r->trace->n_threads = child + 1;
    }
    ft_status status = record(r, t, o, variant);
    if (status != FT_OK) return status;
    cover_step(r->w, r->m, t, variant);
    settle(r, t);
    ft_sym_operation next;
    if (ft_sym_end_of(r->m) == FT_SYM_GOING && !ft_sym_stands_before(r->m, t, &next))
        cover_graph_end(&r->graph, t);
    return FT_OK;
}

static ft_status check_going(running *r)
{
    ft_sym_end end = ft_sym_end_of(r->m);
    const ft_sym_error *e = ft_sym_error_of(r->m);
    if (end == FT_SYM_STOPPED) return ft_error_set(r->err, FT_LIMIT, "%s", e->message);
    if (end == FT_SYM_UNSUPPORTED) return ft_error_set(r->err, FT_UNSUPPORTED, "%s", e->message);
    if (end == FT_SYM_INFEASIBLE || ft_sym_is_unknown(r->m))
        return ft_error_set(r->err, FT_BUDGET, "the solver does not answer in its time");
    if (should_stop(r->w)) return ft_error_set(r->err, FT_BUDGET, "the time is used up");
    if (r->trace->operations.len >= r->w->max_operations)
        return ft_error_set(r->err, FT_LIMIT, "a path has more than %" PRIu64 " operations",
                            r->w->max_operations);
    return FT_OK;
}

/* The thread stands before the end of the process by an instruction that may fail. */
static bool stands_before_failure(const running *r, uint32_t t, const ft_sym_operation *o)
{
    bool ends = o->code == FT_CODE_FAIL || o->code == FT_CODE_EXIT;
    return ends && r->trace->threads[t].next.instruction == FT_NO_ID;
}

/* The operations at which threads stand at the path's end belong to it: inputs that make a thread
 * end instead need its node `end`. */
static void add_attempts(running *r)
{
    ft_sym_operation o;
    bool exited = ft_sym_end_of(r->m) != FT_SYM_GOING;
    for (uint32_t t = 0; t < ft_sym_thread_count(r->m); t++) {
        const cover_thread *th = &r->trace->threads[t];
        if (exited && t == r->current) continue; /* it has ended the process */
        if (!ft_sym_stands_before(r->m, t, &o) || th->frame == FT_NO_ID || o.circles) continue;
        if (stands_before_failure(r, t, &o))
            r->trace->entries.data[th->last - 1].fails = true;
        else if (th->next.instruction != FT_NO_ID || th->operation ||
                 th->begun.instruction != FT_NO_ID)
            cover_trace_operation(r->trace, t, COVER_ATTEMPT);
    }
}

static ft_schedule_end end_of(running *r)
{
    ft_sym_operation o;
    ft_sym_end end = ft_sym_end_of(r->m);
    if (ft_sym_is_discarded(r->m)) return FT_SCHEDULE_DISCARDED;
    if (end == FT_SYM_EXITED) return FT_SCHEDULE_EXITED;
    if (end == FT_SYM_FAILED) return FT_SCHEDULE_FAILED;
    uint64_t variants[FT_SYM_THREADS];
    bool any = false;
    for (uint32_t t = 0; t < ft_sym_thread_count(r->m); t++) {
        bool stands = ft_sym_stands_before(r->m, t, &o);
        any = any || stands;
        if (stands && is_at_marker(r, t, &o) && ft_sym_choices(r->m, t, variants))
            return FT_SCHEDULE_EPOCH;
    }
    return any ? FT_SCHEDULE_BLOCKED : FT_SCHEDULE_ENDED;
}

static bool is_endless(running *r)
{
    ft_sym_operation o;
    for (uint32_t t = 0; t < ft_sym_thread_count(r->m); t++)
        if (ft_sym_stands_before(r->m, t, &o) && o.circles) return true;
    return false;
}

static void mark_discarded(running *r)
{
    ft_sym_operation o;
    for (uint32_t t = 0; t < ft_sym_thread_count(r->m); t++)
        if (ft_sym_stands_before(r->m, t, &o) && o.stands)
            r->trace->entries.data[r->trace->threads[t].last - 1].fails = true;
}

static ft_status run(running *r, ft_schedule_end *end)
{
    ft_sym_operation o;
    uint64_t variant;
    ft_status status;
    while ((status = check_going(r)) == FT_OK && ft_sym_end_of(r->m) == FT_SYM_GOING) {
        if (ft_sym_is_discarded(r->m)) break;
        if (!choose(r, &r->current, &o, &variant)) break;
        status = go(r, r->current, &o, variant);
        if (status != FT_OK) return status;
    }
    if (status != FT_OK) return status;
    *end = end_of(r);
    if (*end == FT_SCHEDULE_DISCARDED) mark_discarded(r);
    r->trace->endless = *end != FT_SCHEDULE_EPOCH && is_endless(r);
    if (*end != FT_SCHEDULE_DISCARDED) add_attempts(r);
    return FT_OK;
}

/* A loop that is taken as a function is not executed, and may be the first of another one's body.
 */
static bool loop_is_marked(const cover_world *w, uint32_t number)
{
    const ft_loop *l = &w->loops->all.data[number];
    const ft_block *header = &w->program->functions.data[l->function].blocks.data[l->header];
    return cover_is_marker(&w->markers, l->function, header->instructions);
}

static void follow_run(void *follower, const ft_sym_state *state, const ft_sym_note *note)
{
    running *r = follower;
    cover_trace_follow(r->trace, state, note);
    if (note->kind == FT_SYM_LOOP && loop_is_marked(r->w, note->object))
        r->marked[note->thread] = true;
    if (note->kind != FT_SYM_AT) return;
    uint32_t function = r->w->program->symbols.data[note->place.function].index;
    if (cover_is_marker(&r->w->markers, function, note->place.instruction))
        r->marked[note->thread] = true;
}

ft_status cover_run(cover_world *w, const ft_sym_state *begin, const ft_term *conditions, size_t n,
                    cover_trace *trace, ft_schedule_end *end, ft_sym_state **state, ft_error *err)
{
    FT_REQUIRE(w && trace && end && state);
    running r = {.w = w, .trace = trace, .random = w->seed, .later = begin != NULL, .err = err};
    r.m = begin ? ft_sym_copy(begin) : ft_sym_new(w->world);
    cover_trace_begin(trace, &w->control, r.m);
    cover_graph_init(&r.graph, w, r.m, trace);
    ft_status status = FT_OK;
    for (size_t i = 0; i < n && status == FT_OK; i++) {
        ft_answer answer = ft_sym_assume(r.m, conditions[i]);
        if (answer == FT_ANSWER_UNSAT)
            status = ft_error_set(err, FT_NOT_FOUND, "no input satisfies the conditions");
        if (answer == FT_ANSWER_UNKNOWN)
            status = ft_error_set(err, FT_BUDGET, "the solver does not answer in its time");
    }
    if (status == FT_OK) cover_preference_begin(w->preference, w, r.m);
    w->follow = follow_run;
    w->follower = &r;
    if (status == FT_OK) status = run(&r, end);
    w->follow = NULL;
    cover_graph_release(&r.graph);
    if (status == FT_OK)
        *state = r.m;
    else
        ft_sym_free(r.m);
    return status;
}
