#include "explore/search.h"

#include <stdlib.h>

#include "base/contract.h"
#include "explore/driver.h"
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
    ft_x_driver *driver;
    ft_unfolding *u; /* the driver's */
    ft_extensions *extensions;
    FT_VEC(node) nodes;
    FT_VEC(uint32_t) free_nodes;
    FT_VEC(task) queue;       /* the newest first */
    FT_VEC(ft_x_pick) prefix; /* scratch */
    events list, excluded;    /* scratch */
    bool incomplete;
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

/* Are the first n events those of the configuration? */
static bool is_branch(const search *s, const ft_configuration *c, const uint32_t *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!ft_unfolding_holds(s->u, c, list[i])) return false;
    return ft_unfolding_list(s->u, c, NULL, 0) == n;
}

/* Hangs the run's events below the node, as far as none is excluded. */
static void take_run(void *context, uint32_t n, const ft_x_run *run, const uint32_t *list)
{
    search *s = context;
    ft_configuration c = configuration(s, n);
    uint32_t first = n;
    size_t i = depth_of(s, n);
    FT_CHECK(is_branch(s, &c, list, i));
    excluded(s, n);
    for (; i < run->steps.len && !is_excluded(s, list[i]); i++) {
        assert(s->nodes.data[n].event == FT_X_NO_EVENT);
        s->nodes.data[n].event = list[i];
        c.last[run->steps.data[i].thread] = list[i];
        n = add_node(s, n, true);
    }
    bool redundant = i < run->steps.len;
    s->counts->redundant += redundant;
    if (redundant && go_elsewhere(s, n, &c)) return;
    ft_extensions_find(s->extensions, &c);
    if (!redundant && run->end == FT_X_CUT) s->incomplete = true;
    if (!redundant && run->end != FT_X_CUT) ft_x_driver_class(s->driver, run, &c);
    if (!s->options->complete) branch_early(s, n, first);
    settle(s, n);
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

static bool next_task(void *context, ft_x_task *wanted, uint32_t *number)
{
    search *s = context;
    if (!s->queue.len) return false;
    task t = s->queue.data[--s->queue.len];
    make_prefix(s, &t);
    ft_vec_release(&t.along);
    wanted->prefix = s->prefix.data;
    wanted->n = s->prefix.len;
    excluded(s, t.node);
    for (size_t i = s->excluded.len; i-- > 0;) /* the newest of a thread counts */
        wanted->avoid[ft_unfolding_action(s->u, s->excluded.data[i]).thread] =
            step_of(s, s->excluded.data[i]);
    *number = t.node;
    return true;
}

static void release(search *s)
{
    for (size_t i = 0; i < s->queue.len; i++) ft_vec_release(&s->queue.data[i].along);
    ft_vec_release(&s->queue);
    ft_vec_release(&s->nodes);
    ft_vec_release(&s->free_nodes);
    ft_vec_release(&s->prefix);
    ft_vec_release(&s->list);
    ft_vec_release(&s->excluded);
    ft_extensions_free(s->extensions);
    ft_x_driver_free(s->driver);
}

ft_status ft_x_search(const ft_x_executor *executor, const ft_x_options *options,
                      ft_x_counts *counts, bool *finished, ft_error *err)
{
    FT_REQUIRE(finished);
    search s = {.executor = executor, .options = options, .counts = counts};
    s.driver = ft_x_driver_new(executor, options, counts);
    s.u = ft_x_driver_unfolding(s.driver);
    s.extensions = ft_extensions_new(s.u);
    ft_vec_push(&s.queue, (task){.node = add_node(&s, NO_NODE, true)});
    ft_x_way way = {.context = &s, .next = next_task, .take = take_run};
    ft_status status = ft_x_drive(s.driver, &way, err);
    *finished = status == FT_OK && !ft_x_driver_stopped(s.driver) && !s.incomplete;
    assert(!*finished || s.free_nodes.len == s.nodes.len); /* every node was decided */
    counts->bytes += ft_extensions_bytes(s.extensions);
    release(&s);
    return status;
}
