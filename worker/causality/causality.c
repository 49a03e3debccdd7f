#include "causality/causality.h"

#include <stdlib.h>
#include <string.h>

#include "causality/internal.h"

#define MEMO_ANSWERS 500000u
enum { ANSWER_UNKNOWN, ANSWER_SURVIVES, ANSWER_REFUTED };

/* ---- ties of the model --------------------------------------------------------------------- */

#define SEVERAL_WRITERS UINT64_MAX

static uint64_t value_key(uint32_t variable, ft_vid vid)
{
    return (uint64_t)variable << 32 | vid;
}

static void note_writer(ft_causality *c, uint32_t variable, ft_vid vid, uint32_t writer)
{
    bool inserted;
    if (!FT_VID_IS_KNOWN(vid)) return;
    uint64_t *slot = ft_map_slot(&c->only_writer, value_key(variable, vid), writer, &inserted);
    if (!inserted) *slot = SEVERAL_WRITERS;
}

bool ft_causality_has_several_writers(const ft_causality *c, uint32_t variable, ft_vid vid)
{
    uint64_t writer;
    return FT_VID_IS_KNOWN(vid) && ft_map_get(&c->only_writer, value_key(variable, vid), &writer) &&
           writer == SEVERAL_WRITERS;
}

/* Under `maximal` a value that a single write puts into a variable ties its reads to that write. */
static void find_only_writers(ft_causality *c)
{
    ft_access scratch;
    uint32_t count;
    for (uint32_t v = 0; v < c->trace->shared.len; v++)
        note_writer(c, v, ft_run_initial_vid(c->run, v), FT_NO_EVENT);
    for (uint32_t e = 0; e < c->trace->n_events; e++) {
        const ft_access *accesses = ft_trace_accesses(c->trace, e, &scratch, &count);
        for (uint32_t i = 0; i < count; i++)
            if (accesses[i].write)
                note_writer(c, accesses[i].variable, ft_run_vid(c->run, e, i), e);
    }
}

bool ft_causality_tie(const ft_causality *c, uint32_t e, uint32_t i, uint32_t *source)
{
    FT_REQUIRE(e < c->trace->n_events && source);
    ft_access scratch;
    uint32_t count;
    uint64_t writer;
    if (c->problem.model == FT_MODEL_CONTROL || !(c->rules & FT_CAUSALITY_DATA)) return false;
    ft_demand demand = ft_problem_demand(&c->problem, e, i);
    if (demand == FT_DEMAND_SOURCE) *source = ft_run_source(c->run, e, i);
    if (demand == FT_DEMAND_SOURCE) return true;
    if (demand == FT_DEMAND_NOTHING || c->problem.model != FT_MODEL_MAXIMAL) return false;
    uint32_t variable = ft_trace_accesses(c->trace, e, &scratch, &count)[i].variable;
    uint64_t key = value_key(variable, ft_run_vid(c->run, e, i));
    if (!ft_map_get(&c->only_writer, key, &writer)) return false;
    if (writer == SEVERAL_WRITERS && !ft_map_get(&c->settled, (uint64_t)e << 32 | i, &writer))
        return false;
    assert(writer == FT_NO_EVENT || writer < c->trace->n_events);
    *source = (uint32_t)writer;
    return true;
}

/* The latest accesses of a variable, up to the first that the hard order leaves open. */
typedef struct accessed {
    uint32_t write, read; /* the latest, FT_NO_EVENT: none (of reads: since that write) */
    bool several;         /* reads without an order came before `read` */
    bool open;            /* conflicting accesses that the hard order leaves open */
} accessed;

static bool is_behind(const ft_causality *c, uint32_t e, uint32_t earlier)
{
    return earlier == FT_NO_EVENT || c->trace->thread[earlier] == c->trace->thread[e] ||
           ft_order_before(c->order, earlier, e);
}

static void access_by(const ft_causality *c, accessed *a, uint32_t e, bool write)
{
    bool behind_reads = is_behind(c, e, a->read);
    a->open = !is_behind(c, e, a->write) || (write && (a->several || !behind_reads));
    a->several = !write && (a->several || !behind_reads);
    a->read = write ? FT_NO_EVENT : e;
    if (write) a->write = e;
}

/* Where the hard order puts all accesses of a variable in order, its reads return the same values
 * in every schedule, and ties add nothing to the hard order. Most of a program's memory is like
 * that. */
static void find_tied(ft_causality *c)
{
    const ft_trace *trace = c->trace;
    uint32_t count, source;
    accessed *variables = ft_alloc(((size_t)trace->shared.len + 1) * sizeof *variables);
    ft_access scratch;
    for (uint32_t v = 0; v < trace->shared.len; v++)
        variables[v] = (accessed){.write = FT_NO_EVENT, .read = FT_NO_EVENT};
    for (uint32_t e = 0; e < trace->n_events; e++) {
        const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t v = accesses[i].variable;
            if (!variables[v].open) access_by(c, &variables[v], e, accesses[i].write);
        }
    }
    for (uint32_t e = 0; e < trace->n_events; e++) {
        const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t v = accesses[i].variable;
            if (variables[v].open && !c->tied[v] && !accesses[i].write)
                c->tied[v] = ft_causality_tie(c, e, i, &source);
        }
    }
    free(variables);
}

/* ---- nodes ---------------------------------------------------------------------------------- */

static void find_shared_locks(ft_causality *c)
{
    const ft_order *order = c->order;
    for (uint32_t l = 0; l < c->trace->locks.len; l++)
        for (uint32_t i = order->lock_first[l] + 1; i < order->lock_first[l + 1]; i++) {
            const ft_section *a = &order->sections.data[order->lock_sections[i - 1]];
            const ft_section *b = &order->sections.data[order->lock_sections[i]];
            if (a->thread != b->thread) c->lock_shared[l] = true;
        }
}

static bool touches_tied(const ft_causality *c, uint32_t e)
{
    ft_access scratch;
    uint32_t count;
    const ft_access *accesses = ft_trace_accesses(c->trace, e, &scratch, &count);
    for (uint32_t i = 0; i < count; i++)
        if (c->tied[accesses[i].variable]) return true;
    return false;
}

static bool is_node(const ft_causality *c, uint32_t e)
{
    static const bool WAKES[FT_EVENT_KINDS] = {
        [FT_EVENT_WAIT] = true,   [FT_EVENT_POST] = true,      [FT_EVENT_COND_WAIT] = true,
        [FT_EVENT_SIGNAL] = true, [FT_EVENT_BROADCAST] = true, [FT_EVENT_COND_WAKE] = true};
    uint32_t section = c->order->section_of[e];
    if (section != FT_NO_SECTION && c->lock_shared[c->order->sections.data[section].lock])
        return true;
    return WAKES[c->trace->kind[e]] || touches_tied(c, e);
}

static void find_nodes(ft_causality *c)
{
    const ft_order *order = c->order;
    uint32_t n = c->trace->n_events, total = 0, count;
    const uint32_t *sources;
    bool *seen = ft_calloc((size_t)n + 1, sizeof *seen);
    for (uint32_t e = 0; e < n; e++) {
        count = ft_order_hard_sources(order, e, &sources);
        seen[e] |= count > 0 || is_node(c, e);
        for (uint32_t i = 0; i < count; i++) seen[sources[i]] = true;
    }
    for (uint32_t e = 0; e < n; e++) total += seen[e];
    c->nodes = ft_alloc(((size_t)total + 1) * sizeof *c->nodes);
    c->node_first = ft_calloc((size_t)order->n_threads + 1, sizeof *c->node_first);
    uint32_t room = total;
    total = 0;
    for (uint32_t t = 0; t < order->n_threads; t++) {
        for (uint32_t i = order->thread_start[t]; i < order->thread_start[t + 1]; i++)
            if (seen[order->thread_events[i]]) c->nodes[total++] = order->thread_events[i];
        c->node_first[t + 1] = total;
    }
    assert(total == room);
    free(seen);
}

/* ---- posts, waits, signals ------------------------------------------------------------------ */

static void list_users(ft_users *users, const ft_order *order, uint32_t objects,
                       const bool kinds[FT_EVENT_KINDS])
{
    const ft_trace *trace = order->trace;
    uint32_t *at = ft_calloc((size_t)objects + 2, sizeof *at), *of_object, total = 0;
    for (uint32_t e = 0; e < trace->n_events; e++)
        if (kinds[trace->kind[e]]) at[trace->object[e] + 2]++, total++;
    for (uint32_t o = 0; o < objects; o++) at[o + 2] += at[o + 1];
    of_object = ft_alloc(((size_t)total + 1) * sizeof *of_object);
    for (uint32_t i = 0; i < trace->n_events; i++) {
        uint32_t e = order->thread_events[i];
        if (kinds[trace->kind[e]]) of_object[at[trace->object[e] + 1]++] = e;
    }
    users->first = ft_calloc((size_t)objects + 1, sizeof *users->first);
    users->positions = ft_alloc(((size_t)total + 1) * sizeof *users->positions);
    for (uint32_t o = 0; o < objects; o++) {
        for (uint32_t i = at[o]; i < at[o + 1]; i++) {
            uint32_t thread = trace->thread[of_object[i]];
            users->positions[i] = order->position[of_object[i]];
            if (i == at[o] || trace->thread[of_object[i - 1]] != thread)
                ft_vec_push(&users->threads, (ft_user_thread){thread, i, 0});
            users->threads.data[users->threads.len - 1].count++;
        }
        users->first[o + 1] = (uint32_t)users->threads.len;
    }
    assert(objects == 0 || at[objects] == total);
    free(at);
    free(of_object);
}

static void users_release(ft_users *users)
{
    free(users->first);
    free(users->positions);
    ft_vec_release(&users->threads);
}

uint32_t ft_users_below(const ft_users *users, const ft_user_thread *in, uint32_t position)
{
    const uint32_t *at = users->positions + in->first;
    uint32_t low = 0, high = in->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (at[middle] < position)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void find_users(ft_causality *c)
{
    static const bool posts[FT_EVENT_KINDS] = {[FT_EVENT_POST] = true};
    static const bool waits[FT_EVENT_KINDS] = {[FT_EVENT_WAIT] = true};
    static const bool signals[FT_EVENT_KINDS] = {
        [FT_EVENT_SIGNAL] = true, [FT_EVENT_BROADCAST] = true};
    list_users(&c->posts, c->order, c->trace->semaphores.len, posts);
    list_users(&c->waits, c->order, c->trace->semaphores.len, waits);
    list_users(&c->signals, c->order, c->trace->conditions.len, signals);
}

/* ---- life ----------------------------------------------------------------------------------- */

static void allot_stamps(ft_causality *c)
{
    const size_t objects[FT_TRACK_KINDS] = {[FT_TRACK_SECTIONS] = c->trace->locks.len,
                                            [FT_TRACK_WRITES] = c->trace->shared.len,
                                            [FT_TRACK_READS] = c->trace->shared.len};
    size_t threads = (size_t)c->order->n_threads + 1;
    c->lane_of = ft_calloc(threads, sizeof *c->lane_of);
    c->lane_epoch = ft_calloc(threads, sizeof *c->lane_epoch);
    for (int k = 0; k < FT_TRACK_KINDS; k++) {
        c->window.track_of[k] = ft_calloc(objects[k] + 1, sizeof(uint32_t));
        c->window.track_epoch[k] = ft_calloc(objects[k] + 1, sizeof(uint32_t));
    }
}

ft_causality *ft_causality_new(const ft_problem *problem, unsigned rules)
{
    FT_REQUIRE(problem && problem->trace && problem->order && problem->run);
    FT_REQUIRE(!(rules & ~(unsigned)(FT_CAUSALITY_ALL | FT_CAUSALITY_WHOLE)));
    ft_causality *c = ft_calloc(1, sizeof *c);
    c->trace = problem->trace;
    c->order = problem->order;
    c->run = problem->run;
    c->problem = *problem;
    c->rules = rules;
    c->idle = c->trace->broken != FT_NO_EVENT || c->trace->n_paths > 0;
    if (c->idle) return c;
    c->lock_shared = ft_calloc((size_t)c->trace->locks.len + 1, sizeof *c->lock_shared);
    c->tied = ft_calloc((size_t)c->trace->shared.len + 1, sizeof *c->tied);
    if (rules & FT_CAUSALITY_LOCKS) find_shared_locks(c);
    if (problem->model == FT_MODEL_MAXIMAL && (rules & FT_CAUSALITY_DATA)) find_only_writers(c);
    if (problem->model != FT_MODEL_CONTROL && (rules & FT_CAUSALITY_DATA)) find_tied(c);
    if (problem->model == FT_MODEL_MAXIMAL && (rules & FT_CAUSALITY_DATA)) ft_ties_find(c);
    if (c->settled.len) find_tied(c);
    find_nodes(c);
    find_users(c);
    ft_cut_init(c);
    allot_stamps(c);
    FT_CHECK(ft_causality_is_sound(c));
    return c;
}

void ft_causality_free(ft_causality *c)
{
    if (!c) return;
    free(c->node_first);
    free(c->nodes);
    free(c->lock_shared);
    free(c->tied);
    ft_map_release(&c->only_writer);
    ft_map_release(&c->settled);
    users_release(&c->posts);
    users_release(&c->waits);
    users_release(&c->signals);
    ft_cut_release(&c->cut);
    free(c->lane_of);
    free(c->lane_epoch);
    ft_intern_release(&c->memo);
    ft_vec_release(&c->answers);
    ft_causality_window_release(&c->window);
    ft_needs_release(&c->needs);
    free(c);
}

/* ---- claims --------------------------------------------------------------------------------- */

/* How the events of a claim end its prefix (verdict/claim.h). Kinds with a single final event and
 * no other constraint are reached by the observed run itself, as far as order goes. */
typedef struct shape {
    bool known;
    bool executed;   /* the final events could be executed */
    uint8_t members; /* the first so many events are members, in this order */
} shape;
static const shape SHAPES[FT_CLAIM_KINDS] = {
    [FT_CLAIM_RACE] = {.known = true},
    [FT_CLAIM_DEADLOCK] = {.known = true},
    [FT_CLAIM_CO_ENABLED] = {.known = true, .executed = true},
    [FT_CLAIM_ATOMICITY] = {.known = true, .members = 2},
    [FT_CLAIM_AFTER_FREE] = {.known = true, .members = 1}};

bool ft_causality_covers(const ft_causality *c, const ft_claim *claim)
{
    return SHAPES[claim->kind].known && !c->idle;
}

static void add_root(ft_causality_window *w, uint32_t e)
{
    assert(e == FT_NO_EVENT || w->n_roots < sizeof w->roots / sizeof *w->roots);
    if (e != FT_NO_EVENT) w->roots[w->n_roots++] = e;
}

static void shape_window(const ft_causality *c, const ft_claim *claim, ft_causality_window *w)
{
    const shape *s = &SHAPES[claim->kind];
    w->n_finals = w->n_roots = w->n_extras = 0;
    w->executed = s->executed;
    w->remote = claim->kind == FT_CLAIM_ATOMICITY ? claim->events[1] : FT_NO_EVENT;
    assert(s->members <= sizeof w->extras / sizeof *w->extras);
    for (uint32_t i = 0; i < s->members; i++) {
        w->extras[w->n_extras++] = claim->events[i];
        add_root(w, claim->events[i]);
    }
    for (uint32_t i = s->members; i < ft_claim_events(claim); i++) {
        uint32_t final = claim->events[i], previous = ft_order_previous(c->order, final);
        w->finals[w->n_finals++] = final;
        /* Its thread was started: the fork, if the trace has it, is a member. */
        if (previous == FT_NO_EVENT) previous = c->order->fork_of[c->trace->thread[final]];
        add_root(w, previous);
    }
}

static uint32_t first_node_from(const ft_causality *c, uint32_t e)
{
    uint32_t thread = c->trace->thread[e];
    uint32_t low = c->node_first[thread], high = c->node_first[thread + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (c->nodes[middle] < e)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The key of a claim holds all that its graph depends on: its kind, the nodes before its final
 * events, its own members, and the final events themselves where they matter. Equal keys have equal
 * answers. Returns the answer's place: UINT32_MAX if there is no room for it. */
static uint32_t memo_place(ft_causality *c, const ft_claim *claim)
{
    const shape *s = &SHAPES[claim->kind];
    uint32_t key[2 * FT_CLAIM_MAX_EVENTS + 1], n = 0;
    key[n++] = (uint32_t)claim->kind;
    for (uint32_t i = 0; i < ft_claim_events(claim); i++) {
        uint32_t e = claim->events[i];
        bool exact = i < s->members || s->executed;
        key[n++] = c->trace->thread[e];
        key[n++] = exact ? e : first_node_from(c, e);
    }
    const char *bytes = (const char *)key;
    uint32_t place = ft_intern_find(&c->memo, bytes, n * sizeof *key);
    if (place != FT_NO_ID || c->memo.len >= MEMO_ANSWERS) return place;
    ft_vec_push(&c->answers, ANSWER_UNKNOWN);
    assert(c->answers.len == c->memo.len + 1);
    return ft_intern_add(&c->memo, bytes, n * sizeof *key);
}

static bool of_different_threads(const ft_causality *c, const ft_causality_window *w)
{
    for (uint32_t i = 0; i < w->n_finals; i++)
        for (uint32_t j = 0; j < i; j++)
            if (c->trace->thread[w->finals[i]] == c->trace->thread[w->finals[j]]) return false;
    return true;
}

static void build(ft_causality *c, const ft_claim *claim)
{
    ft_causality_window *w = &c->window;
    shape_window(c, claim, w);
    w->refuted = w->abandoned = false;
    w->links.len = 0;
    if (!of_different_threads(c, w)) return;
    ft_causality_window_build(c);
    FT_CHECK(ft_causality_window_is_sound(c));
    c->stats.built++;
    c->stats.abandoned += w->abandoned;
    c->stats.events += w->rows.len;
    c->stats.edges += w->links.len;
    if (w->rows.len > c->stats.max_events) c->stats.max_events = (uint32_t)w->rows.len;
}

static bool has_needs(const ft_causality *c)
{
    return !c->idle && (c->rules & FT_CAUSALITY_DATA) && c->problem.model != FT_MODEL_CONTROL;
}

bool ft_causality_needs(ft_causality *c, uint32_t next, uint32_t e)
{
    FT_REQUIRE(next < c->trace->n_events && e < c->trace->n_events);
    return has_needs(c) && ft_needs_before(c, next, e);
}

/* Without limits, and without a cycle to show. */
bool ft_causality_refutes_at_once(ft_causality *c, const ft_claim *claim)
{
    return SHAPES[claim->kind].known && has_needs(c) &&
           ft_needs_refute(c, claim, SHAPES[claim->kind].members);
}

bool ft_causality_refutes(ft_causality *c, const ft_claim *claim, ft_causality_edges *why)
{
    FT_REQUIRE(c && claim);
    FT_CHECK(ft_claim_is_sound(c->trace, claim));
    if (why) why->len = 0;
    if (!SHAPES[claim->kind].known || c->idle) return false;
    c->stats.asked++;
    if (!why && ft_causality_refutes_at_once(c, claim)) {
        c->stats.refuted++;
        return true;
    }
    uint32_t place = memo_place(c, claim);
    uint8_t answer = place == UINT32_MAX ? ANSWER_UNKNOWN : c->answers.data[place];
    if (answer == ANSWER_UNKNOWN || (answer == ANSWER_REFUTED && why)) {
        build(c, claim);
        answer = c->window.refuted ? ANSWER_REFUTED : ANSWER_SURVIVES;
        if (place != UINT32_MAX) c->answers.data[place] = answer;
        const ft_causality_edges *cycle = &c->window.cycle;
        assert(!c->window.refuted || ft_causality_is_cycle(cycle));
        for (size_t i = 0; c->window.refuted && why && i < cycle->len; i++)
            ft_vec_push(why, cycle->data[i]);
    }
    bool refuted = answer == ANSWER_REFUTED || (why && ft_causality_refutes_at_once(c, claim));
    c->stats.refuted += refuted;
    assert(c->stats.refuted <= c->stats.asked);
    return refuted;
}

void ft_causality_holds(ft_causality *c, const ft_claim *claim, ft_causality_edges *edges)
{
    FT_REQUIRE(c && claim && edges);
    if (!SHAPES[claim->kind].known || c->idle) return;
    build(c, claim);
    if (c->window.refuted) return;
    for (size_t i = 0; i < c->window.links.len; i++) {
        ft_causality_edge edge = c->window.links.data[i].edge;
        if (!ft_order_before(c->order, edge.from, edge.to)) ft_vec_push(edges, edge);
    }
}

const ft_causality_stats *ft_causality_get_stats(const ft_causality *c)
{
    return &c->stats;
}
