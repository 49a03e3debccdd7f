#include "explore/search.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "explore/driver.h"
#include "explore/extensions.h"

enum { NO_NODE = UINT32_MAX, AHEAD = 32 };

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

struct ft_x_tree {
    const ft_x_executor *executor;
    const ft_x_options *options;
    ft_x_counts *counts;
    ft_x_driver *driver;
    ft_unfolding *u;
    ft_extensions *extensions;
    ft_x_object *objects; /* scratch */
    FT_VEC(node) nodes;
    FT_VEC(uint32_t) free_nodes;
    FT_VEC(task) queue; /* the newest first */
    struct started {
        uint32_t node;
        ft_configuration target; /* that the run has to come through */
    } started[AHEAD];            /* by task number modulo AHEAD */
    uint32_t asked;
    FT_VEC(ft_x_pick) prefix;                 /* scratch */
    events list, branch, excluded, following; /* scratch */
    uint32_t first[FT_X_THREADS]; /* by thread: its first step in the run at hand, from 1 */
    bool incomplete;
};

typedef struct ft_x_tree search;

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
    uint32_t none = 0;
    if (s->nodes.data[n].right != NO_NODE) return true;
    if (!ft_unfolding_next_conflict(s->u, s->nodes.data[n].event, &none)) return false;
    if (!alternative(s, n, &j)) return false;
    assert(excludes(s, &j, s->nodes.data[n].event));
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
        assert(p->event != FT_X_NO_EVENT && (was_left || p->right == n));
        if (!p->left_done) return;
        if (branch_right(s, parent) && !s->nodes.data[parent].right_done) return;
        n = parent;
    }
}

/* ---- runs */

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

/* More work to choose from: right subtrees that are known to exist already. With complete
 * alternatives a node in one of them could be settled too soon: what conflicts with D is known when
 * the left subtrees of all that D comes from are done. */
static void branch_early(search *s, uint32_t leaf, uint32_t first)
{
    for (uint32_t n = leaf; n != first && s->queue.len < AHEAD;) {
        n = s->nodes.data[n].parent;
        (void)branch_right(s, n);
    }
}

/* The events of the branch to the node, which is one of the executions of its C. */
static void list_branch(search *s, uint32_t n)
{
    s->branch.len = 0;
    for (; s->nodes.data[n].parent != NO_NODE; n = s->nodes.data[n].parent)
        if (s->nodes.data[n].is_left)
            ft_vec_push(&s->branch, s->nodes.data[s->nodes.data[n].parent].event);
    for (size_t i = 0, k = s->branch.len; i + 1 < k; i++) {
        uint32_t e = s->branch.data[--k];
        s->branch.data[k] = s->branch.data[i];
        s->branch.data[i] = e;
    }
}

/* Where each thread goes on in the run. */
static void list_following(search *s, const ft_x_run *run)
{
    uint32_t newest[FT_X_THREADS] = {0};
    memset(s->first, 0, sizeof s->first);
    ft_vec_reserve(&s->following, run->steps.len + 1);
    for (size_t i = 0; i < run->steps.len; i++) {
        uint32_t t = run->steps.data[i].thread;
        FT_REQUIRE(t < FT_X_THREADS);
        s->following.data[i] = 0;
        if (newest[t])
            s->following.data[newest[t] - 1] = (uint32_t)i + 1;
        else
            s->first[t] = (uint32_t)i + 1;
        newest[t] = (uint32_t)i + 1;
    }
}

/* What the thread stands before when its next step is that one (from 1; 0: it has none). */
static const ft_x_operation *operation_at(const ft_x_run *run, uint32_t thread, uint32_t step)
{
    return step ? &run->steps.data[step - 1].operation : &run->pending[thread];
}

/* The state in which executions begin, with room for all objects of the run. */
static ft_x_state begin_state(search *s, const ft_x_run *run)
{
    const ft_x_world *w = &s->executor->world;
    uint32_t n_initial, n;
    const ft_x_object *initial = ft_unfolding_initial(s->u, &n_initial);
    n = n_initial;
    for (size_t i = 0; i < run->steps.len; i++) {
        const ft_x_operation *o = &run->steps.data[i].operation;
        if (o->object >= n) n = o->object + 1;
        if (o->other >= n) n = o->other + 1;
    }
    s->objects = ft_realloc(s->objects, n + 1, sizeof *s->objects);
    memset(s->objects, 0, (n + 1) * sizeof *s->objects);
    for (uint32_t i = 0; i < n_initial; i++) s->objects[i] = initial[i];
    ft_x_state state = {.objects = s->objects, .n_objects = n + 1, .watches = w->watches};
    for (uint32_t t = 0; t < w->n_threads; t++)
        if (w->first[t].kind == FT_X_NONE) state.ended |= UINT64_C(1) << t;
    return state;
}

/* The event of the i-th step; says what its thread, and one that it creates, stand before next.
 * FT_X_NO_EVENT: it cannot be, after what other runs did. */
static uint32_t event_of(search *s, const ft_x_run *run, size_t i, ft_configuration *c,
                         ft_x_state *state)
{
    const ft_x_action *a = &run->steps.data[i];
    const ft_x_operation *o = &a->operation,
                         *next = operation_at(run, a->thread, s->following.data[i]);
    bool creates = o->kind == FT_X_CREATE;
    const ft_x_operation *first =
        creates ? operation_at(run, o->object, s->first[o->object]) : NULL;
    uint32_t e = FT_X_NO_EVENT;
    bool known = run->end != FT_X_INFEASIBLE || i + 1 < run->steps.len; /* what comes next */
    if (i < s->branch.len)
        e = ft_unfolding_is(s->u, s->branch.data[i], a) ? s->branch.data[i] : FT_X_NO_EVENT;
    else if (ft_x_is_choice(state, a))
        e = ft_unfolding_event(s->u, c, a);
    if (!e || (known && !ft_unfolding_say_next(s->u, e, next)) ||
        (creates && !ft_unfolding_say_first(s->u, e, first)))
        return FT_X_NO_EVENT;
    ft_x_apply(state, a);
    if (next->kind == FT_X_NONE) state->ended |= UINT64_C(1) << a->thread;
    if (creates && first->kind == FT_X_NONE) state->ended |= UINT64_C(1) << o->object;
    c->last[a->thread] = e;
    return e;
}

static bool say_initial(search *s, const ft_x_run *run)
{
    for (size_t i = 0; i < run->initial.len; i++)
        if (!ft_unfolding_say_initial(s->u, run->initial.data[i].object,
                                      &run->initial.data[i].state))
            return false;
    return true;
}

/* The run's events, one a step; false: it strayed. */
static bool list_events(search *s, const struct started *t, const ft_x_run *run)
{
    ft_configuration c = {{0}};
    if (!say_initial(s, run)) return ft_x_driver_stray(s->driver, run, 0), false;
    ft_x_state state = begin_state(s, run);
    list_branch(s, t->node);
    list_following(s, run);
    s->list.len = 0;
    for (size_t i = 0; i < run->steps.len; i++) {
        uint32_t e = event_of(s, run, i, &c, &state);
        if (!e) return ft_x_driver_stray(s->driver, run, i), false;
        ft_vec_push(&s->list, e);
    }
    bool whole = s->list.len >= s->branch.len && run->end != FT_X_STRAYED;
    for (uint32_t i = 0; i < FT_X_THREADS && whole && run->end != FT_X_INFEASIBLE; i++)
        whole = !t->target.last[i] || ft_unfolding_holds(s->u, &c, t->target.last[i]);
    if (!whole && run->end != FT_X_STRAYED) ft_x_driver_stray(s->driver, run, run->steps.len);
    return whole;
}

/* Hangs the run's events below the node, as far as none is excluded. */
static void hang(search *s, uint32_t n, const ft_x_run *run)
{
    ft_configuration c = configuration(s, n);
    uint32_t first = n;
    size_t i = s->branch.len, old = i;
    excluded(s, n);
    for (; i < run->steps.len && !is_excluded(s, s->list.data[i]); i++) {
        assert(s->nodes.data[n].event == FT_X_NO_EVENT);
        s->nodes.data[n].event = s->list.data[i];
        c.last[run->steps.data[i].thread] = s->list.data[i];
        n = add_node(s, n, true);
    }
    bool redundant = i < run->steps.len;
    s->counts->redundant += redundant;
    if (redundant && go_elsewhere(s, n, &c)) return;
    ft_extensions_find(s->extensions, &c, s->list.data + old, i - old);
    if (ft_extensions_stopped(s->extensions)) s->incomplete = true;
    if (!redundant && run->end == FT_X_CUT) s->incomplete = true;
    if (!redundant && (run->end == FT_X_DONE || run->end == FT_X_STUCK))
        ft_x_driver_class(s->driver, run, s->u, &c);
    if (!s->options->complete) branch_early(s, n, first);
    settle(s, n);
}

static void take_run(void *context, uint32_t number, const ft_x_run *run)
{
    search *s = context;
    const struct started *t = &s->started[number % AHEAD];
    if (list_events(s, t, run)) return hang(s, t->node, run);
    s->incomplete = true;
    s->counts->redundant++;
    settle(s, t->node);
}

/* The picks of C, in the order of the branch, which is one of its executions; then those along. */
static void make_prefix(search *s, const task *t)
{
    list_branch(s, t->node);
    s->prefix.len = 0;
    for (size_t i = 0; i < s->branch.len + t->along.len; i++) {
        uint32_t e = i < s->branch.len ? s->branch.data[i] : t->along.data[i - s->branch.len];
        ft_x_action a = ft_unfolding_action(s->u, e);
        ft_vec_push(&s->prefix, (ft_x_pick){.thread = a.thread, .variant = a.variant});
    }
}

static bool next_task(void *context, ft_x_task *wanted, uint32_t *number)
{
    search *s = context;
    if (!s->queue.len) return false;
    task t = s->queue.data[--s->queue.len];
    make_prefix(s, &t);
    *number = s->asked++;
    struct started *begun = &s->started[*number % AHEAD];
    *begun = (struct started){.node = t.node};
    for (size_t i = 0; i < t.along.len; i++)
        begun->target.last[ft_unfolding_action(s->u, t.along.data[i]).thread] = t.along.data[i];
    ft_vec_release(&t.along);
    wanted->prefix = s->prefix.data;
    wanted->n = s->prefix.len;
    excluded(s, t.node);
    for (size_t i = s->excluded.len; i-- > 0;) /* the newest of a thread counts */
        wanted->avoid[ft_unfolding_action(s->u, s->excluded.data[i]).thread] =
            ft_unfolding_depth(s->u, s->excluded.data[i]) + 1;
    return true;
}

/* ---- the whole */

ft_x_tree *ft_x_tree_new(const ft_x_executor *executor, const ft_x_options *options,
                         ft_x_counts *counts)
{
    ft_x_tree *s = ft_calloc(1, sizeof *s);
    *s = (ft_x_tree){.executor = executor, .options = options, .counts = counts};
    s->driver = ft_x_driver_new(executor, options, counts);
    s->u = ft_unfolding_new(&executor->world);
    s->extensions = ft_extensions_new(s->u, options->should_stop, options->context);
    ft_vec_push(&s->queue, (task){.node = add_node(s, NO_NODE, true)});
    return s;
}

void ft_x_tree_free(ft_x_tree *s)
{
    if (!s) return;
    FT_CHECK(ft_unfolding_is_sound(s->u));
    for (size_t i = 0; i < s->queue.len; i++) ft_vec_release(&s->queue.data[i].along);
    ft_vec_release(&s->queue);
    ft_vec_release(&s->nodes);
    ft_vec_release(&s->free_nodes);
    ft_vec_release(&s->prefix);
    ft_vec_release(&s->list);
    ft_vec_release(&s->branch);
    ft_vec_release(&s->excluded);
    ft_vec_release(&s->following);
    free(s->objects);
    ft_extensions_free(s->extensions);
    ft_unfolding_free(s->u);
    ft_x_driver_free(s->driver);
    free(s);
}

ft_status ft_x_tree_run(ft_x_tree *s, bool *finished, ft_error *err)
{
    FT_REQUIRE(finished);
    ft_x_way way = {.context = s,
                    .next = next_task,
                    .take = take_run,
                    .ahead = s->options->complete ? 1 : AHEAD};
    ft_status status = ft_x_drive(s->driver, &way, err);
    *finished = status == FT_OK && !ft_x_driver_stopped(s->driver) && !s->incomplete;
    assert(!*finished || ft_x_tree_ended(s)); /* every node was decided */
    return status;
}

bool ft_x_tree_ended(const ft_x_tree *s)
{
    return s->free_nodes.len == s->nodes.len;
}

size_t ft_x_tree_bytes(const ft_x_tree *s)
{
    return ft_unfolding_bytes(s->u) + ft_extensions_bytes(s->extensions) +
           s->nodes.cap * sizeof(node) + s->queue.cap * sizeof(task);
}

size_t ft_x_tree_events(const ft_x_tree *s)
{
    return ft_unfolding_events(s->u);
}

ft_status ft_x_search(const ft_x_executor *executor, const ft_x_options *options,
                      ft_x_counts *counts, bool *finished, ft_error *err)
{
    *counts = (ft_x_counts){0};
    ft_x_tree *s = ft_x_tree_new(executor, options, counts);
    ft_status status = ft_x_tree_run(s, finished, err);
    counts->events = ft_x_tree_events(s);
    counts->bytes = ft_x_tree_bytes(s);
    ft_x_tree_free(s);
    return status;
}
