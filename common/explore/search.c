#include "explore/search.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "explore/extensions.h"

enum { NO_NODE = UINT32_MAX };

/* The children of a node are one event apart from it: left adds e to C, right adds e to D. */
typedef struct node {
    uint32_t parent;
    uint32_t event; /* e; FT_X_NO_EVENT: none yet */
    uint32_t right; /* NO_NODE: none yet */
    bool is_left;   /* of its parent */
    bool left_done, right_done;
} node;

typedef FT_VEC(uint32_t) events;

/* A run that is wanted: from the node along the events (an alternative without C), then on. */
typedef struct task {
    uint32_t node;
    events along;
} task;

typedef struct search {
    const ft_x_executor *executor;
    const ft_x_options *options;
    ft_x_counts *counts;
    ft_unfolding *u;
    ft_extensions *extensions;
    FT_VEC(node) nodes;
    FT_VEC(uint32_t) free_nodes;
    FT_VEC(task) queue; /* the newest first */
    task *running;      /* by slot */
    uint32_t n_running;
    FT_VEC(ft_x_pick) prefix; /* scratch */
    events list, excluded;    /* scratch */
    ft_x_object *objects;     /* scratch */
    bool stopped, incomplete;
} search;

/* ---- nodes */

static uint32_t add_node(search *s, uint32_t parent, bool is_left)
{
    node made = {.parent = parent, .right = NO_NODE, .is_left = is_left};
    if (s->free_nodes.len) {
        uint32_t n = s->free_nodes.data[--s->free_nodes.len];
        s->nodes.data[n] = made;
        return n;
    }
    ft_vec_push(&s->nodes, made);
    return (uint32_t)s->nodes.len - 1;
}

static ft_configuration configuration(const search *s, uint32_t n)
{
    ft_configuration c = {{0}};
    for (; s->nodes.data[n].parent != NO_NODE; n = s->nodes.data[n].parent) {
        uint32_t e = s->nodes.data[s->nodes.data[n].parent].event;
        if (!s->nodes.data[n].is_left) continue;
        uint32_t t = ft_unfolding_action(s->u, e).thread;
        if (!c.last[t]) c.last[t] = e;
    }
    return c;
}

/* D of the node, the newest first. */
static void excluded(search *s, uint32_t n)
{
    s->excluded.len = 0;
    for (; s->nodes.data[n].parent != NO_NODE; n = s->nodes.data[n].parent)
        if (!s->nodes.data[n].is_left)
            ft_vec_push(&s->excluded, s->nodes.data[s->nodes.data[n].parent].event);
}

static bool is_excluded(const search *s, uint32_t e)
{
    for (size_t i = 0; i < s->excluded.len; i++)
        if (s->excluded.data[i] == e) return true;
    return false;
}

/* ---- alternatives */

/* Does [f] hold none of D (which includes e)? */
static bool avoids_excluded(const search *s, uint32_t f)
{
    ft_configuration causes = ft_unfolding_causes(s->u, f);
    for (size_t i = 0; i < s->excluded.len; i++)
        if (ft_unfolding_holds(s->u, &causes, s->excluded.data[i])) return false;
    return true;
}

/* The first event from the one behind *at on that conflicts with d, fits to C and avoids D. */
static uint32_t next_alternative(const search *s, const ft_configuration *c, uint32_t d,
                                 uint32_t *at)
{
    uint32_t f;
    while ((f = ft_unfolding_next_conflict(s->u, d, at)))
        if (avoids_excluded(s, f) && ft_unfolding_fits(s->u, c, f)) return f;
    return FT_X_NO_EVENT;
}

/* Is some event of the configuration in conflict with d? */
static bool excludes(const search *s, const ft_configuration *c, uint32_t d)
{
    return !ft_unfolding_fits(s->u, c, d);
}

/* Adds to J alternatives to excluded events from the i-th on (i counts from the newest). */
static bool find_complete(const search *s, ft_configuration *j, size_t i)
{
    while (i < s->excluded.len && excludes(s, j, s->excluded.data[i])) i++;
    if (i == s->excluded.len) return true;
    uint32_t at = 0, f;
    while ((f = next_alternative(s, j, s->excluded.data[i], &at))) {
        ft_configuration more = *j;
        ft_unfolding_join(s->u, &more, f);
        if (!find_complete(s, &more, i + 1)) continue;
        *j = more;
        return true;
    }
    return false;
}

/* J for the node's right child: C with an alternative to D and e. */
static bool alternative(search *s, uint32_t n, ft_configuration *j)
{
    uint32_t at = 0, e = s->nodes.data[n].event;
    ft_configuration c = configuration(s, n);
    excluded(s, n);
    ft_vec_push(&s->excluded, e);
    /* e is the newest: it is asked first. */
    s->excluded.data[s->excluded.len - 1] = s->excluded.data[0];
    s->excluded.data[0] = e;
    *j = c;
    if (s->options->complete) return find_complete(s, j, 0);
    uint32_t f = next_alternative(s, &c, e, &at);
    if (f) ft_unfolding_join(s->u, j, f);
    return f != FT_X_NO_EVENT;
}

static void enqueue(search *s, uint32_t n, const ft_configuration *c, const ft_configuration *j)
{
    task t = {.node = n};
    size_t many = ft_unfolding_list(s->u, j, NULL, 0);
    ft_vec_reserve(&s->list, many + 1);
    ft_unfolding_list(s->u, j, s->list.data, many);
    for (size_t i = 0; i < many; i++)
        if (!ft_unfolding_holds(s->u, c, s->list.data[i])) ft_vec_push(&t.along, s->list.data[i]);
    ft_vec_push(&s->queue, t);
}

/* Gives the node a right child if there is an alternative now. */
static bool branch_right(search *s, uint32_t n)
{
    ft_configuration j;
    if (s->nodes.data[n].right != NO_NODE) return true;
    if (!alternative(s, n, &j)) return false;
    ft_configuration c = configuration(s, n);
    uint32_t right = add_node(s, n, false);
    s->nodes.data[n].right = right;
    enqueue(s, right, &c, &j);
    return true;
}

/* ---- going back */

static void recycle(search *s, uint32_t n)
{
    ft_vec_push(&s->free_nodes, n);
}

/* The subtree of the node is done: decides its ancestors for good as far as that makes them done.
 */
static void settle(search *s, uint32_t n)
{
    for (;;) {
        uint32_t parent = s->nodes.data[n].parent;
        bool was_left = s->nodes.data[n].is_left;
        recycle(s, n);
        if (parent == NO_NODE) return;
        node *p = &s->nodes.data[parent];
        if (was_left)
            p->left_done = true;
        else
            p->right_done = true;
        if (!p->left_done) return;
        if (branch_right(s, parent) && !s->nodes.data[parent].right_done) return;
        n = parent;
    }
}

/* ---- runs */

static ft_status disagree(const ft_x_action *a, size_t step, const char *why, ft_error *err)
{
    return ft_error_set(err, FT_INTERNAL, "step %zu, %s by thread %u: %s", step + 1,
                        ft_x_kind_name(a->operation.kind), a->thread, why);
}

static bool is_choice(const ft_x_state *state, const ft_x_action *a)
{
    ft_x_choice choices[FT_X_THREADS];
    uint32_t n = ft_x_choices(state, a->thread, &a->operation, choices);
    for (uint32_t i = 0; i < n; i++)
        if (choices[i].variant == a->variant && choices[i].outcome == a->outcome) return true;
    return false;
}

/* What the thread of the i-th step stands before after it. */
static const ft_x_operation *next_operation(const ft_x_run *run, size_t i, uint32_t thread)
{
    for (size_t k = i; k < run->steps.len; k++)
        if (run->steps.data[k].thread == thread) return &run->steps.data[k].operation;
    return &run->pending[thread];
}

/* The state in which executions begin, with room for all objects of the run; s->objects is its own.
 */
static ft_x_state begin_state(search *s, const ft_x_run *run)
{
    const ft_x_world *w = &s->executor->world;
    uint32_t n = w->n_objects;
    for (size_t i = 0; i < run->steps.len; i++) {
        const ft_x_operation *o = &run->steps.data[i].operation;
        if (o->object >= n) n = o->object + 1;
        if (o->other >= n) n = o->other + 1;
    }
    s->objects = ft_realloc(s->objects, n + 1, sizeof *s->objects);
    memset(s->objects, 0, (n + 1) * sizeof *s->objects);
    for (uint32_t i = 0; i < w->n_objects; i++) s->objects[i].value = w->initial[i];
    ft_x_state state = {.objects = s->objects, .n_objects = n + 1};
    for (uint32_t t = 0; t < w->n_threads; t++)
        if (w->first[t].kind == FT_X_NONE) state.ended |= UINT64_C(1) << t;
    return state;
}

/* The event of the i-th step, told what its thread, and one that it creates, stand before next. */
static ft_status take_event(search *s, const ft_x_run *run, size_t i, ft_configuration *c,
                            ft_x_state *state, ft_error *err)
{
    const ft_x_action *a = &run->steps.data[i];
    const ft_x_operation *o = &a->operation, *next = next_operation(run, i + 1, a->thread);
    if (!is_choice(state, a)) return disagree(a, i, "the object's state does not allow that", err);
    uint32_t e = ft_unfolding_event(s->u, c, a);
    if (!ft_unfolding_say_next(s->u, e, next) ||
        (o->kind == FT_X_CREATE &&
         !ft_unfolding_say_first(s->u, e, next_operation(run, i + 1, o->object))))
        return disagree(a, i, "the thread goes on otherwise than in an equal run", err);
    ft_x_apply(state, a);
    if (next->kind == FT_X_NONE) state->ended |= UINT64_C(1) << a->thread;
    if (o->kind == FT_X_CREATE && next_operation(run, i + 1, o->object)->kind == FT_X_NONE)
        state->ended |= UINT64_C(1) << o->object;
    c->last[a->thread] = e;
    ft_vec_push(&s->list, e);
    return FT_OK;
}

/* Makes the run's events, in s->list. */
static ft_status take_events(search *s, const ft_x_run *run, ft_error *err)
{
    ft_configuration c = {{0}};
    ft_status status = FT_OK;
    ft_x_state state = begin_state(s, run);
    s->list.len = 0;
    for (size_t i = 0; i < run->steps.len && status == FT_OK; i++) {
        const ft_x_action *a = &run->steps.data[i];
        bool fits =
            a->thread < FT_X_THREADS && (ft_x_kind_class(a->operation.kind) != FT_X_THREAD ||
                                         a->operation.object < FT_X_THREADS);
        status = fits ? take_event(s, run, i, &c, &state, err)
                      : disagree(a, i, "the search serves 64 threads", err);
    }
    return status;
}

/* The run has come to an end that it cannot go beyond: its configuration is maximal. */
static void take_class(search *s, const ft_x_run *run, const ft_configuration *c)
{
    s->counts->classes++;
    s->counts->stuck += run->end == FT_X_STUCK;
    if (s->options->on_class && !s->options->on_class(s->options->context, run, s->u, c))
        s->stopped = true;
}

/* The node's C enables excluded events, and perhaps others: then a run along one of those. */
static bool go_elsewhere(search *s, uint32_t n, const ft_configuration *c)
{
    uint32_t enabled[FT_X_THREADS * 4];
    size_t many = ft_extensions_enabled(s->u, c, enabled, sizeof enabled / sizeof *enabled);
    assert(many <= sizeof enabled / sizeof *enabled);
    for (size_t i = 0; i < many; i++) {
        if (is_excluded(s, enabled[i])) continue;
        ft_configuration j = *c;
        ft_unfolding_join(s->u, &j, enabled[i]);
        enqueue(s, n, c, &j);
        return true;
    }
    return false;
}

/* More work for executors that have room: right subtrees that are known to exist already. With
 * complete alternatives a node in one of them could be settled too soon: what conflicts with D is
 * known when the left subtrees of all that D comes from are done. */
static void branch_early(search *s, uint32_t leaf, uint32_t first)
{
    for (uint32_t n = leaf; n != first && s->queue.len < s->executor->width;) {
        n = s->nodes.data[n].parent;
        (void)branch_right(s, n);
    }
}

static uint32_t depth_of(const search *s, uint32_t n)
{
    uint32_t depth = 0;
    for (; s->nodes.data[n].parent != NO_NODE; n = s->nodes.data[n].parent)
        depth += s->nodes.data[n].is_left;
    return depth;
}

/* Hangs the run's events below the node, as far as none is excluded. */
static void take_run(search *s, uint32_t n, const ft_x_run *run)
{
    events list = s->list; /* go_elsewhere and branch_right use the scratch */
    s->list = (events){0};
    ft_configuration c = configuration(s, n);
    uint32_t first = n;
    size_t i = depth_of(s, n);
    excluded(s, n);
    for (; i < list.len && !is_excluded(s, list.data[i]); i++) {
        uint32_t e = list.data[i];
        s->nodes.data[n].event = e;
        c.last[run->steps.data[i].thread] = e;
        uint32_t left = add_node(s, n, true);
        n = left;
    }
    bool elsewhere = i < list.len && go_elsewhere(s, n, &c);
    bool redundant = i < list.len;
    if (elsewhere) {
        s->counts->redundant++;
    } else {
        ft_extensions_find(s->extensions, &c);
        if (run->end == FT_X_CUT) {
            s->counts->cut++;
            s->incomplete = true;
        } else if (redundant) {
            s->counts->redundant++;
        } else {
            take_class(s, run, &c);
        }
        if (!s->options->complete) branch_early(s, n, first);
        settle(s, n);
    }
    ft_vec_release(&s->list);
    s->list = list;
}

/* The picks of C, in the order of the branch, which is one of its executions; then those along. */
static void make_prefix(search *s, const task *t)
{
    s->prefix.len = 0;
    events branch = {0};
    for (uint32_t n = t->node; s->nodes.data[n].parent != NO_NODE; n = s->nodes.data[n].parent)
        if (s->nodes.data[n].is_left)
            ft_vec_push(&branch, s->nodes.data[s->nodes.data[n].parent].event);
    for (size_t i = branch.len + t->along.len; i-- > 0;) {
        uint32_t e =
            i >= t->along.len ? branch.data[i - t->along.len] : t->along.data[t->along.len - 1 - i];
        ft_x_action a = ft_unfolding_action(s->u, e);
        ft_vec_push(&s->prefix, (ft_x_pick){.thread = a.thread, .variant = a.variant});
    }
    ft_vec_release(&branch);
}

static uint32_t step_of(const search *s, uint32_t e)
{
    uint32_t step = 0;
    for (; e; e = ft_unfolding_before(s->u, e)) step++;
    return step;
}

static ft_status start(search *s, uint32_t slot, ft_error *err)
{
    task t = s->queue.data[--s->queue.len];
    make_prefix(s, &t);
    ft_x_task wanted = {.prefix = s->prefix.data, .n = s->prefix.len};
    excluded(s, t.node);
    for (size_t i = s->excluded.len; i-- > 0;)
        wanted.avoid[ft_unfolding_action(s->u, s->excluded.data[i]).thread] =
            step_of(s, s->excluded.data[i]);
    s->running[slot] = t;
    s->n_running++;
    s->counts->runs++;
    return s->executor->start(s->executor->context, slot, &wanted, err);
}

static bool may_start(search *s)
{
    if (!s->queue.len || s->stopped) return false;
    const ft_x_options *o = s->options;
    if ((o->max_runs && s->counts->runs >= o->max_runs) ||
        (o->should_stop && o->should_stop(o->context)))
        s->stopped = true;
    return !s->stopped;
}

static ft_status finish(search *s, bool *busy, ft_error *err)
{
    uint32_t slot;
    ft_x_run run = {0};
    ft_status status = s->executor->finish(s->executor->context, &slot, &run, err);
    if (status != FT_OK) return status;
    assert(slot < s->executor->width && busy[slot]);
    busy[slot] = false;
    s->n_running--;
    task t = s->running[slot];
    s->running[slot] = (task){0};
    if (run.end == FT_X_STRAYED)
        s->stopped = true;
    else
        status = take_events(s, &run, err);
    if (status == FT_OK && !s->stopped) take_run(s, t.node, &run);
    ft_vec_release(&t.along);
    ft_x_run_release(&run);
    return status;
}

static ft_status run_all(search *s, ft_error *err)
{
    ft_status status = FT_OK;
    bool *busy = ft_calloc(s->executor->width, sizeof *busy);
    while (status == FT_OK && (s->n_running || may_start(s))) {
        for (uint32_t slot = 0; slot < s->executor->width && status == FT_OK; slot++)
            if (!busy[slot] && may_start(s)) {
                busy[slot] = true;
                status = start(s, slot, err);
            }
        if (status == FT_OK && s->n_running) status = finish(s, busy, err);
    }
    free(busy);
    return status;
}

static void release(search *s)
{
    for (size_t i = 0; i < s->queue.len; i++) ft_vec_release(&s->queue.data[i].along);
    for (uint32_t i = 0; i < s->executor->width; i++) ft_vec_release(&s->running[i].along);
    ft_vec_release(&s->queue);
    ft_vec_release(&s->nodes);
    ft_vec_release(&s->free_nodes);
    ft_vec_release(&s->prefix);
    ft_vec_release(&s->list);
    ft_vec_release(&s->excluded);
    free(s->running);
    free(s->objects);
    ft_extensions_free(s->extensions);
    ft_unfolding_free(s->u);
}

ft_status ft_x_search(const ft_x_executor *executor, const ft_x_options *options,
                      ft_x_counts *counts, bool *finished, ft_error *err)
{
    FT_REQUIRE(executor->width > 0 && counts && finished);
    search s = {.executor = executor, .options = options, .counts = counts};
    *counts = (ft_x_counts){0};
    s.u = ft_unfolding_new(&executor->world);
    s.extensions = ft_extensions_new(s.u);
    s.running = ft_calloc(executor->width, sizeof *s.running);
    ft_vec_push(&s.queue, (task){.node = add_node(&s, NO_NODE, true)});
    ft_status status = run_all(&s, err);
    FT_CHECK(ft_unfolding_is_sound(s.u));
    *finished = status == FT_OK && !s.stopped && !s.incomplete;
    assert(!*finished || s.free_nodes.len == s.nodes.len);
    counts->events = ft_unfolding_events(s.u);
    counts->bytes = ft_unfolding_bytes(s.u) + ft_extensions_bytes(s.extensions);
    release(&s);
    return status;
}

/* ---- names */

const char *ft_x_end_name(ft_x_end end)
{
    static const char *const NAMES[FT_X_ENDS] = {
#define FT_ROW(symbol, name, doc) name,
        FT_X_END_TABLE(FT_ROW)
#undef FT_ROW
    };
    FT_REQUIRE(end < FT_X_ENDS);
    return NAMES[end];
}

void ft_x_run_release(ft_x_run *run)
{
    ft_vec_release(&run->steps);
}
