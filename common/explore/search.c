#include "explore/search.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "explore/cutoffs.h"
#include "explore/driver.h"
#include "explore/extensions.h"

enum { NO_NODE = UINT32_MAX, ELSEWHERE = UINT32_MAX - 1, AHEAD = 32 };

/* The children of a node are one event apart from it: left adds e to C, right adds e to D. */
typedef struct node {
    uint32_t parent;
    uint32_t event; /* e; FT_X_NO_EVENT: none yet */
    uint32_t right; /* NO_NODE: none yet; ELSEWHERE: it is not this search's */
    bool is_left;   /* of its parent */
    bool is_shared; /* its left subtree is not this search's alone: right ones are proposed */
    bool left_done, right_done;
} node;

typedef FT_VEC(uint32_t) events;

/* A run that is wanted: from the node along the events (an alternative without C), then on. */
typedef struct task {
    uint32_t node;
    uint32_t fresh; /* of its branch: the last ones, whose extensions were not looked for yet */
    events along;
} task;

struct ft_x_tree {
    const ft_x_executor *executor;
    const ft_x_options *options;
    ft_x_counts *counts;
    ft_x_driver *driver;
    ft_unfolding *u;
    ft_extensions *extensions;
    ft_x_cutoffs *cutoffs; /* NULL: none are wanted */
    ft_x_object *objects;  /* scratch */
    FT_VEC(node) nodes;
    FT_VEC(uint32_t) free_nodes;
    FT_VEC(task) queue;  /* the newest first */
    task started[AHEAD]; /* by task number modulo AHEAD */
    uint32_t asked;
    ft_x_subtree begin;                       /* where the search begins */
    bool has_begun;                           /* the first run has come back */
    bool is_beginning;                        /* it is asked for */
    ft_x_subtrees proposed;                   /* that were not taken yet */
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
        uint32_t t = ft_unfolding_thread(s->u, e);
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

static bool is_cutoff(const search *s, uint32_t e)
{
    return s->cutoffs && ft_x_cutoffs_has(s->cutoffs, e);
}

/* Is there a cutoff in [f] without C? */
static bool passes_cutoff(const search *s, const ft_configuration *c, uint32_t f)
{
    ft_configuration causes = ft_unfolding_causes(s->u, f);
    for (uint32_t t = 0; t < FT_X_THREADS && s->cutoffs; t++)
        for (uint32_t e = causes.last[t]; e && !ft_unfolding_holds(s->u, c, e);
             e = ft_unfolding_before(s->u, e))
            if (is_cutoff(s, e)) return true;
    return false;
}

/* The first event from the one behind *at on that conflicts with d, fits to C and avoids D. */
static uint32_t next_alternative(const search *s, const ft_configuration *c, uint32_t d,
                                 uint32_t *at)
{
    uint32_t f;
    while ((f = ft_unfolding_next_conflict(s->u, d, at)))
        if (avoids_excluded(s, f) && ft_unfolding_fits(s->u, c, f) && !passes_cutoff(s, c, f))
            return f;
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

/* The events of J without C, which is part of it, causes first. */
static events without(const search *s, const ft_configuration *c, const ft_configuration *j)
{
    events along = {0};
    for (uint32_t t = 0; t < ft_unfolding_threads(s->u); t++)
        for (uint32_t e = j->last[t]; e != c->last[t]; e = ft_unfolding_before(s->u, e)) {
            size_t i = along.len;
            ft_vec_push(&along, e);
            for (; i && along.data[i - 1] > e; i--) along.data[i] = along.data[i - 1];
            along.data[i] = e;
        }
    return along;
}

static void enqueue(search *s, uint32_t n, const ft_configuration *c, const ft_configuration *j)
{
    ft_vec_push(&s->queue, (task){.node = n, .along = without(s, c, j)});
}

/* ---- subtrees that others may search (subtree.h) */

static ft_x_mark mark_of(const search *s, uint32_t e, ft_x_mark_kind kind)
{
    ft_x_action a = ft_unfolding_action(s->u, e);
    assert(a.thread < FT_X_THREADS && a.variant <= UINT8_MAX);
    return (ft_x_mark){(uint8_t)kind, (uint8_t)a.thread, (uint8_t)a.variant};
}

static void reverse(ft_x_subtree *way)
{
    for (size_t i = 0, k = way->len; i + 1 < k; i++) {
        ft_x_mark m = way->data[--k];
        way->data[k] = way->data[i];
        way->data[i] = m;
    }
}

/* The way to the node. From now on its ancestors without a right child are shared. */
static ft_x_subtree way_to(search *s, uint32_t n)
{
    ft_x_subtree way = {0};
    for (; s->nodes.data[n].parent != NO_NODE; n = s->nodes.data[n].parent) {
        node *p = &s->nodes.data[s->nodes.data[n].parent];
        bool is_left = s->nodes.data[n].is_left, known = p->right != NO_NODE;
        p->is_shared = p->is_shared || (is_left && !known);
        ft_vec_push(&way, mark_of(s, p->event,
                                  !is_left ? FT_X_AVOIDED
                                  : known  ? FT_X_KNOWN
                                           : FT_X_TAKEN));
    }
    reverse(&way);
    return way;
}

static void add_along(const search *s, ft_x_subtree *way, const events *along)
{
    for (size_t i = 0; i < along->len; i++)
        ft_vec_push(way, mark_of(s, along->data[i], FT_X_ALONG));
}

/* The right subtree of a shared node, which has the alternative J. */
static void propose(search *s, uint32_t n, const ft_configuration *c, const ft_configuration *j)
{
    events along = without(s, c, j);
    ft_x_subtree way = way_to(s, n);
    ft_vec_push(&way, mark_of(s, s->nodes.data[n].event, FT_X_AVOIDED));
    add_along(s, &way, &along);
    ft_vec_push(&s->proposed, way);
    ft_vec_release(&along);
    s->nodes.data[n].right = ELSEWHERE;
    s->nodes.data[n].right_done = true;
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
    if (s->nodes.data[n].is_shared) return propose(s, n, &c, &j), true;
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
static bool go_elsewhere(search *s, uint32_t n, const ft_configuration *c, size_t fresh)
{
    uint32_t enabled[FT_X_THREADS * 4];
    size_t many = ft_extensions_enabled(s->u, c, enabled, sizeof enabled / sizeof *enabled);
    assert(many <= sizeof enabled / sizeof *enabled);
    for (size_t i = 0; i < many; i++) {
        if (is_excluded(s, enabled[i]) || is_cutoff(s, enabled[i])) continue;
        ft_configuration j = *c;
        ft_unfolding_join(s->u, &j, enabled[i]);
        enqueue(s, n, c, &j);
        s->queue.data[s->queue.len - 1].fresh = (uint32_t)fresh;
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

/* The events of the branch to the node (NO_NODE: none), which is one of the executions of its C. */
static void list_branch(search *s, uint32_t n)
{
    s->branch.len = 0;
    for (; n != NO_NODE && s->nodes.data[n].parent != NO_NODE; n = s->nodes.data[n].parent)
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
    uint32_t mutex;
    if (ft_x_mutex_of(o, &mutex)) ft_unfolding_say_owner(s->u, e, state->objects[mutex].owner);
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
static bool list_events(search *s, const task *t, const ft_x_run *run)
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
    for (size_t i = 0; i < t->along.len && whole && run->end != FT_X_INFEASIBLE; i++)
        whole = ft_unfolding_holds(s->u, &c, t->along.data[i]);
    if (!whole && run->end != FT_X_STRAYED) ft_x_driver_stray(s->driver, run, run->steps.len);
    return whole;
}

/* Takes back what a run hung below a node, as if it had not been made. */
static void unhang(search *s, uint32_t n, uint32_t first)
{
    while (n != first) {
        uint32_t parent = s->nodes.data[n].parent;
        recycle(s, n);
        n = parent;
    }
    s->nodes.data[first].event = FT_X_NO_EVENT;
}

/* Hangs the run's events below the node, as far as none is excluded. The first `old` ones are of
 * earlier runs. False: it was interrupted, and the run has to be made again. */
static bool hang(search *s, uint32_t n, const ft_x_run *run, size_t old)
{
    ft_configuration c = configuration(s, n);
    uint32_t first = n;
    size_t i = s->branch.len;
    excluded(s, n);
    bool cut_off = false;
    if (s->cutoffs) ft_x_cutoffs_note(s->cutoffs, s->list.data, run);
    for (; i < run->steps.len && !is_excluded(s, s->list.data[i]); i++) {
        if ((cut_off = is_cutoff(s, s->list.data[i]))) break;
        assert(s->nodes.data[n].event == FT_X_NO_EVENT);
        s->nodes.data[n].event = s->list.data[i];
        c.last[run->steps.data[i].thread] = s->list.data[i];
        n = add_node(s, n, true);
    }
    bool redundant = i < run->steps.len, elsewhere = redundant && go_elsewhere(s, n, &c, i - old);
    if (!elsewhere) ft_extensions_find(s->extensions, &c, s->list.data, i, old);
    if (!elsewhere && ft_extensions_stopped(s->extensions)) return unhang(s, n, first), false;
    s->counts->redundant += redundant && !cut_off;
    s->counts->cut_off += cut_off;
    s->counts->cut -= redundant && run->end == FT_X_CUT; /* by more than the bound */
    if (elsewhere) return true;
    if (!redundant && run->end == FT_X_CUT) s->incomplete = true;
    if (!redundant && (run->end == FT_X_DONE || run->end == FT_X_STUCK))
        ft_x_driver_class(s->driver, run, s->u, &c);
    if (!s->options->complete) branch_early(s, n, first);
    settle(s, n);
    return true;
}

/* ---- the first run */

/* The event with that name in C; FT_X_NO_EVENT: C does not enable one. */
static uint32_t named(search *s, const ft_configuration *c, const ft_x_mark *m)
{
    uint32_t enabled[FT_X_THREADS * 4];
    size_t many = ft_extensions_enabled(s->u, c, enabled, sizeof enabled / sizeof *enabled);
    assert(many <= sizeof enabled / sizeof *enabled);
    for (size_t i = 0; i < many; i++) {
        ft_x_action a = ft_unfolding_action(s->u, enabled[i]);
        if (a.thread == m->thread && a.variant == m->variant) return enabled[i];
    }
    return FT_X_NO_EVENT;
}

/* The nodes on the way to the subtree, in a run that leads there. NO_NODE: it does not. */
static uint32_t make_way(search *s)
{
    ft_configuration c = {{0}};
    uint32_t n = add_node(s, NO_NODE, true);
    for (size_t i = 0, at = 0; i < s->begin.len; i++) {
        const ft_x_mark *m = &s->begin.data[i];
        node *x = &s->nodes.data[n];
        if (m->kind == FT_X_ALONG) break;
        bool is_left = m->kind != FT_X_AVOIDED;
        uint32_t e = is_left ? s->list.data[at++] : named(s, &c, m);
        if (!e) return NO_NODE;
        x->event = e;
        x->left_done = !is_left;
        x->is_shared = m->kind == FT_X_TAKEN;
        x->right_done = m->kind == FT_X_KNOWN;
        x->right = x->right_done ? ELSEWHERE : NO_NODE;
        if (is_left) c.last[m->thread] = e;
        uint32_t child = add_node(s, n, is_left);
        if (!is_left) s->nodes.data[n].right = child;
        n = child;
    }
    return n;
}

static bool follows_marks(const search *s, const ft_x_run *run)
{
    size_t at = 0;
    for (size_t i = 0; i < s->begin.len; i++) {
        const ft_x_mark *m = &s->begin.data[i];
        if (m->kind == FT_X_AVOIDED) continue;
        if (at == run->steps.len) return m->kind == FT_X_ALONG && run->end == FT_X_INFEASIBLE;
        const ft_x_action *a = &run->steps.data[at++];
        if (a->thread != m->thread || a->variant != m->variant) return false;
    }
    return true;
}

static void begin(search *s, const ft_x_run *run)
{
    uint32_t n = NO_NODE;
    s->has_begun = true;
    if (list_events(s, &(task){.node = NO_NODE}, run)) {
        if (follows_marks(s, run)) n = make_way(s);
        if (n == NO_NODE) ft_x_driver_stray(s->driver, run, run->steps.len);
    }
    if (n != NO_NODE) {
        list_branch(s, n);
        if (hang(s, n, run, 0)) return;
        s->has_begun = s->is_beginning = false;
    } else {
        s->incomplete = true;
        s->counts->redundant++;
    }
    s->nodes.len = s->free_nodes.len = 0;
}

/* Threads must leave alone at first what the subtree avoids. */
static void make_first_prefix(search *s, ft_x_task *wanted)
{
    uint32_t depths[FT_X_THREADS] = {0};
    s->prefix.len = 0;
    for (size_t i = 0; i < s->begin.len; i++) {
        const ft_x_mark *m = &s->begin.data[i];
        if (m->kind == FT_X_AVOIDED) {
            wanted->avoid[m->thread] = depths[m->thread] + 1;
            continue;
        }
        depths[m->thread]++;
        ft_vec_push(&s->prefix, (ft_x_pick){.thread = m->thread, .variant = m->variant});
    }
}

/* ---- tasks */

static void take_run(void *context, uint32_t number, const ft_x_run *run)
{
    search *s = context;
    task t = s->started[number % AHEAD];
    s->started[number % AHEAD] = (task){0};
    if (!s->has_begun) {
        begin(s, run);
    } else if (list_events(s, &t, run)) {
        if (!hang(s, t.node, run, s->branch.len - t.fresh)) {
            ft_vec_push(&s->queue, t); /* it has to be made again */
            return;
        }
    } else {
        s->incomplete = true;
        s->counts->redundant++;
        settle(s, t.node);
    }
    ft_vec_release(&t.along);
}

/* The picks of C, in the order of the branch, which is one of its executions; then those along. */
static void make_prefix(search *s, const task *t, ft_x_task *wanted)
{
    list_branch(s, t->node);
    s->prefix.len = 0;
    for (size_t i = 0; i < s->branch.len + t->along.len; i++) {
        uint32_t e = i < s->branch.len ? s->branch.data[i] : t->along.data[i - s->branch.len];
        ft_x_action a = ft_unfolding_action(s->u, e);
        ft_vec_push(&s->prefix, (ft_x_pick){.thread = a.thread, .variant = a.variant});
    }
    excluded(s, t->node);
    for (size_t i = s->excluded.len; i-- > 0;) /* the newest of a thread counts */
        wanted->avoid[ft_unfolding_thread(s->u, s->excluded.data[i])] =
            ft_unfolding_depth(s->u, s->excluded.data[i]) + 1;
}

static bool next_task(void *context, ft_x_task *wanted, uint32_t *number)
{
    search *s = context;
    task t = {.node = NO_NODE};
    if (s->has_begun ? !s->queue.len : s->is_beginning) return false;
    if (s->has_begun) {
        t = s->queue.data[--s->queue.len];
        make_prefix(s, &t, wanted);
    } else {
        make_first_prefix(s, wanted);
        s->is_beginning = true;
    }
    *number = s->asked++;
    s->started[*number % AHEAD] = t;
    wanted->prefix = s->prefix.data;
    wanted->n = s->prefix.len;
    return true;
}

/* Runs that were requested and not started return to the queue. */
static void withdraw(search *s)
{
    uint32_t number;
    while (ft_x_driver_withdraw(s->driver, &number)) {
        s->asked--;
        assert(s->asked == number);
        task t = s->started[number % AHEAD];
        s->started[number % AHEAD] = (task){0};
        if (s->has_begun)
            ft_vec_push(&s->queue, t);
        else
            s->is_beginning = false;
    }
}

/* ---- the whole */

ft_x_tree *ft_x_tree_new(const ft_x_executor *executor, const ft_x_options *options,
                         ft_x_counts *counts, const ft_x_subtree *subtree)
{
    FT_REQUIRE(!subtree || !subtree->len || !options->complete);
    ft_x_tree *s = ft_calloc(1, sizeof *s);
    *s = (ft_x_tree){.executor = executor, .options = options, .counts = counts};
    s->driver = ft_x_driver_new(executor, options, counts);
    s->u = ft_unfolding_new(&executor->world);
    s->extensions =
        ft_extensions_new(s->u, options->generic, options->should_stop, options->context);
    if (options->cutoffs) s->cutoffs = ft_x_cutoffs_new(s->u, executor);
    for (size_t i = 0; subtree && i < subtree->len; i++) ft_vec_push(&s->begin, subtree->data[i]);
    return s;
}

void ft_x_tree_free(ft_x_tree *s)
{
    if (!s) return;
    FT_CHECK(ft_unfolding_is_sound(s->u));
    for (size_t i = 0; i < s->queue.len; i++) ft_vec_release(&s->queue.data[i].along);
    ft_vec_release(&s->queue);
    for (size_t i = 0; i < AHEAD; i++) ft_vec_release(&s->started[i].along);
    ft_vec_release(&s->begin);
    ft_x_subtrees_release(&s->proposed);
    ft_vec_release(&s->nodes);
    ft_vec_release(&s->free_nodes);
    ft_vec_release(&s->prefix);
    ft_vec_release(&s->list);
    ft_vec_release(&s->branch);
    ft_vec_release(&s->excluded);
    ft_vec_release(&s->following);
    free(s->objects);
    ft_extensions_free(s->extensions);
    ft_x_cutoffs_free(s->cutoffs);
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
    if (status == FT_OK) withdraw(s);
    if (status == FT_OK && s->cutoffs) status = ft_x_cutoffs_status(s->cutoffs, err);
    *finished = status == FT_OK && !ft_x_driver_stopped(s->driver) && !s->incomplete;
    assert(!*finished || ft_x_tree_ended(s)); /* every node was decided */
    return status;
}

bool ft_x_tree_ended(const ft_x_tree *s)
{
    return s->has_begun && s->free_nodes.len == s->nodes.len;
}

bool ft_x_tree_is_whole(const ft_x_tree *s)
{
    return !s->incomplete;
}

/* ---- handing back */

static size_t depth_of(const search *s, uint32_t n)
{
    size_t depth = 0;
    for (; s->nodes.data[n].parent != NO_NODE; n = s->nodes.data[n].parent) depth++;
    return depth;
}

/* The task nearest to the root. */
static size_t highest(const search *s)
{
    size_t best = 0, least = SIZE_MAX;
    for (size_t i = 0; i < s->queue.len; i++) {
        size_t depth = depth_of(s, s->queue.data[i].node);
        if (depth >= least) continue;
        least = depth;
        best = i;
    }
    return best;
}

static void hand_back(search *s, size_t i, ft_x_subtrees *to)
{
    task t = s->queue.data[i];
    memmove(&s->queue.data[i], &s->queue.data[i + 1], (--s->queue.len - i) * sizeof t);
    ft_x_subtree way = way_to(s, t.node);
    add_along(s, &way, &t.along);
    ft_vec_push(to, way);
    ft_vec_release(&t.along);
    settle(s, t.node);
}

size_t ft_x_tree_open(const ft_x_tree *s)
{
    return s->has_begun ? s->queue.len : 1;
}

void ft_x_tree_hand_back(ft_x_tree *s, size_t most, ft_x_subtrees *to)
{
    if (!s->has_begun && most) {
        s->has_begun = true;
        ft_vec_push(to, s->begin);
        s->begin = (ft_x_subtree){0};
    }
    for (; most && s->queue.len; most--) hand_back(s, highest(s), to);
    assert(s->queue.len || !most || ft_x_tree_ended(s));
}

void ft_x_tree_proposals(ft_x_tree *s, ft_x_subtrees *to)
{
    for (size_t i = 0; i < s->proposed.len; i++) ft_vec_push(to, s->proposed.data[i]);
    s->proposed.len = 0;
}

size_t ft_x_tree_bytes(const ft_x_tree *s)
{
    return ft_unfolding_bytes(s->u) + ft_extensions_bytes(s->extensions) +
           (s->cutoffs ? ft_x_cutoffs_bytes(s->cutoffs) : 0) + s->nodes.cap * sizeof(node) +
           s->queue.cap * sizeof(task);
}

size_t ft_x_tree_events(const ft_x_tree *s)
{
    return ft_unfolding_events(s->u);
}
