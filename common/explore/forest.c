#include "explore/forest.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/contract.h"

/* A round is long enough that the threads rarely wait at its end, and short enough that work is
 * dealt out soon. */
enum { LANES = 32, FIRST_QUOTA = 8, QUOTA = 64, DEALT = 4, MOST_EVENTS = 4096, MOST_STRAYED = 64 };

/* A subtree that waits. Its first `outer` marks are the way to one that is a part. */
typedef struct open {
    ft_x_subtree name;
    size_t outer;
} open;

/* The executor as the search of one lane sees it: the slots of its thread. */
typedef struct view {
    ft_x_forest *forest;
    uint32_t thread;
} view;

/* A lane: a subtree that is searched, and those that come next. */
typedef struct lane {
    ft_x_tree *tree;
    size_t outer;
    FT_VEC(open) next; /* the last one first */
    view view;
    ft_x_executor executor;
    ft_x_options options;
    ft_x_counts counts; /* of this round */
    uint64_t quota;
    ft_x_subtrees proposed;
    FT_VEC(size_t) outers; /* of those proposed */
    uint64_t met, begun;   /* events of trees that have ended, trees */
    bool incomplete;
    ft_status status;
    ft_error err;
} lane;

struct ft_x_forest {
    const ft_x_executor *executor;
    const ft_x_options *options;
    ft_x_counts *counts;
    lane lanes[LANES]; /* the first n_lanes are used */
    uint32_t n_lanes;
    FT_VEC(open) waiting;
    ft_x_subtrees apart; /* proposals outside of a part */
    ft_x_names keys;     /* of what was proposed */
    pthread_mutex_t mutex;
    uint32_t at;  /* the next lane of the round */
    bool stopped; /* by a callback */
    bool has_begun, incomplete;
    uint64_t quota, most_quota; /* runs of a lane in a round */
    uint64_t most_events;
    ft_x_forest_size size;
};

static uint32_t n_threads(const ft_x_forest *f)
{
    uint32_t n = f->executor->threads;
    return n && f->executor->await ? n : 1;
}

/* ---- the executor, and the callbacks, one at a time */

static ft_status start(void *context, uint32_t slot, const ft_x_task *task, ft_error *err)
{
    const view *v = context;
    const ft_x_executor *e = v->forest->executor;
    pthread_mutex_lock(&v->forest->mutex);
    uint32_t at = v->thread + slot * n_threads(v->forest);
    ft_status status = e->start(e->context, at, task, err);
    pthread_mutex_unlock(&v->forest->mutex);
    return status;
}

static ft_status finish(void *context, uint32_t *slot, ft_x_run *run, ft_error *err)
{
    const view *v = context;
    const ft_x_executor *e = v->forest->executor;
    if (n_threads(v->forest) == 1) return e->finish(e->context, slot, run, err);
    uint32_t at = 0, n = n_threads(v->forest);
    ft_status status = e->await(e->context, v->thread, n, &at, err);
    if (status != FT_OK) return status;
    assert(at % n == v->thread && at < e->width);
    pthread_mutex_lock(&v->forest->mutex);
    status = e->collect(e->context, at, run, err);
    pthread_mutex_unlock(&v->forest->mutex);
    *slot = at / n;
    return status;
}

static uint32_t room(void *context, uint32_t first, uint32_t step)
{
    const view *v = context;
    const ft_x_executor *e = v->forest->executor;
    uint32_t n = n_threads(v->forest);
    return e->room(e->context, v->thread + first * n, step * n);
}

static ft_status state(void *context, const ft_x_pick *picks, size_t n, ft_x_name *name,
                       bool *known, ft_error *err)
{
    const view *v = context;
    const ft_x_executor *e = v->forest->executor;
    pthread_mutex_lock(&v->forest->mutex);
    ft_status status = e->state(e->context, picks, n, name, known, err);
    pthread_mutex_unlock(&v->forest->mutex);
    return status;
}

static uint64_t label(void *context, const ft_x_action *action)
{
    const view *v = context;
    const ft_x_executor *e = v->forest->executor;
    pthread_mutex_lock(&v->forest->mutex);
    uint64_t hash = e->label(e->context, action);
    pthread_mutex_unlock(&v->forest->mutex);
    return hash;
}

static bool on_run(void *context, const ft_x_run *run)
{
    ft_x_forest *f = context;
    if (!f->options->on_run) return true;
    pthread_mutex_lock(&f->mutex);
    if (!f->options->on_run(f->options->context, run)) f->stopped = true;
    bool goes_on = !f->stopped;
    pthread_mutex_unlock(&f->mutex);
    return goes_on;
}

static bool on_class(void *context, const ft_x_run *run, const ft_unfolding *u,
                     const ft_configuration *c)
{
    ft_x_forest *f = context;
    if (!f->options->on_class) return true;
    pthread_mutex_lock(&f->mutex);
    if (!f->options->on_class(f->options->context, run, u, c)) f->stopped = true;
    bool goes_on = !f->stopped;
    pthread_mutex_unlock(&f->mutex);
    return goes_on;
}

static void on_stray(void *context, const ft_x_run *run, size_t step)
{
    ft_x_forest *f = context;
    if (!f->options->on_stray) return;
    pthread_mutex_lock(&f->mutex);
    f->options->on_stray(f->options->context, run, step);
    pthread_mutex_unlock(&f->mutex);
}

static bool should_stop(void *context)
{
    ft_x_forest *f = context;
    pthread_mutex_lock(&f->mutex);
    const ft_x_options *o = f->options;
    if (o->should_stop && o->should_stop(o->context)) f->stopped = true;
    bool stops = f->stopped;
    pthread_mutex_unlock(&f->mutex);
    return stops;
}

/* ---- a lane's part of a round */

static void end_tree(lane *l)
{
    l->met += ft_x_tree_events(l->tree);
    l->incomplete = l->incomplete || !ft_x_tree_is_whole(l->tree);
    ft_x_tree_free(l->tree);
    l->tree = NULL;
}

static void take_proposals(lane *l)
{
    ft_x_tree_proposals(l->tree, &l->proposed);
    while (l->outers.len < l->proposed.len) ft_vec_push(&l->outers, l->outer);
}

static void begin_tree(lane *l)
{
    open o = l->next.data[--l->next.len];
    l->tree = ft_x_tree_new(&l->executor, &l->options, &l->counts, &o.name);
    l->outer = o.outer;
    l->begun++;
    ft_vec_release(&o.name);
}

static void run_lane(ft_x_forest *f, lane *l, uint32_t thread)
{
    l->view.thread = thread;
    l->options.max_runs = l->quota;
    while (l->status == FT_OK && l->counts.runs < l->quota && (l->tree || l->next.len)) {
        bool finished;
        if (!l->tree) begin_tree(l);
        l->status = ft_x_tree_run(l->tree, &finished, &l->err);
        take_proposals(l);
        if (ft_x_tree_ended(l->tree)) end_tree(l);
        pthread_mutex_lock(&f->mutex);
        if (l->status != FT_OK) f->stopped = true;
        bool stopped = f->stopped;
        pthread_mutex_unlock(&f->mutex);
        if (stopped) return;
    }
}

typedef struct worker {
    ft_x_forest *forest;
    uint32_t thread;
    pthread_t handle;
} worker;

static void *work(void *context)
{
    const worker *w = context;
    ft_x_forest *f = w->forest;
    for (;;) {
        pthread_mutex_lock(&f->mutex);
        uint32_t at = f->at < f->n_lanes && !f->stopped ? f->at++ : LANES;
        pthread_mutex_unlock(&f->mutex);
        if (at == LANES) return NULL;
        run_lane(f, &f->lanes[at], w->thread);
    }
}

/* A thread that cannot be made is one less. */
static void work_together(ft_x_forest *f)
{
    uint32_t n = n_threads(f), made = 1;
    worker *all = ft_calloc(n, sizeof *all);
    for (uint32_t i = 0; i < n; i++) all[i] = (worker){.forest = f, .thread = i};
    f->at = 0;
    while (made < n && !pthread_create(&all[made].handle, NULL, work, &all[made])) made++;
    work(&all[0]);
    while (made-- > 1) pthread_join(all[made].handle, NULL);
    free(all);
}

/* ---- between rounds: in an order that the lanes alone decide */

/* Marks of the name but for those along. */
static size_t way_length(const ft_x_subtree *s)
{
    size_t n = s->len;
    while (n && s->data[n - 1].kind == FT_X_ALONG) n--;
    return n;
}

static bool is_new_key(ft_x_forest *f, ft_x_name key)
{
    uint32_t *slot = ft_x_names_slot(&f->keys, key);
    bool is_new = !*slot;
    *slot = 1;
    return is_new;
}

static void sort_proposals(ft_x_forest *f, lane *l)
{
    for (size_t i = 0; i < l->proposed.len; i++) {
        ft_x_subtree s = l->proposed.data[i];
        if (!is_new_key(f, ft_x_subtree_key(&s))) {
            ft_vec_release(&s);
        } else if (way_length(&s) <= l->outers.data[i]) {
            ft_vec_push(&f->apart, s);
        } else {
            ft_vec_push(&f->waiting, (open){s, l->outers.data[i]});
        }
    }
    l->proposed.len = l->outers.len = 0;
}

static void hand_back(ft_x_forest *f, lane *l, size_t most)
{
    ft_x_subtrees parts = {0};
    ft_x_tree_hand_back(l->tree, most, &parts);
    for (size_t i = parts.len; i-- > 0;) ft_vec_push(&f->waiting, (open){parts.data[i], l->outer});
    ft_vec_release(&parts);
    take_proposals(l);
    sort_proposals(f, l);
    if (ft_x_tree_ended(l->tree)) end_tree(l);
}

static void add_counts(ft_x_counts *to, ft_x_counts *from)
{
    to->runs += from->runs;
    to->classes += from->classes;
    to->redundant += from->redundant;
    to->stuck += from->stuck;
    to->cut += from->cut;
    to->infeasible += from->infeasible;
    to->discarded += from->discarded;
    to->lingering += from->lingering;
    to->cut_off += from->cut_off;
    to->strayed += from->strayed;
    *from = (ft_x_counts){0};
}

static ft_status settle_round(ft_x_forest *f, ft_error *err)
{
    ft_status status = FT_OK;
    for (uint32_t i = 0; i < f->n_lanes; i++) {
        lane *l = &f->lanes[i];
        add_counts(f->counts, &l->counts);
        sort_proposals(f, l);
        bool large = l->tree && ft_x_tree_events(l->tree) > f->most_events;
        if (large && !f->stopped) hand_back(f, l, SIZE_MAX);
        f->incomplete = f->incomplete || l->incomplete;
        if (l->status == FT_OK || status != FT_OK) continue;
        status = l->status;
        *err = l->err;
    }
    return status;
}

static void measure(ft_x_forest *f)
{
    ft_x_forest_size *z = &f->size;
    z->events = z->all_events = z->subtrees = 0;
    z->bytes = ft_x_names_bytes(&f->keys) + f->waiting.cap * sizeof(open);
    for (size_t i = 0; i < f->waiting.len; i++)
        z->bytes += f->waiting.data[i].name.cap * sizeof(ft_x_mark);
    for (uint32_t i = 0; i < f->n_lanes; i++) {
        const lane *l = &f->lanes[i];
        z->all_events += l->met;
        z->subtrees += l->begun;
        if (!l->tree) continue;
        z->events += ft_x_tree_events(l->tree);
        z->bytes += ft_x_tree_bytes(l->tree);
    }
    z->all_events += z->events;
    if (z->events > z->most_events) z->most_events = z->events;
    if (z->bytes > z->most_bytes) z->most_bytes = z->bytes;
}

static bool is_idle(const lane *l)
{
    return !l->tree && !l->next.len;
}

/* Subtrees that wait go to lanes without any, a few to each. */
static void deal(ft_x_forest *f)
{
    for (uint32_t round = 0; round < DEALT; round++)
        for (uint32_t i = 0; i < f->n_lanes && f->waiting.len; i++) {
            lane *l = &f->lanes[i];
            if (l->tree || l->next.len > round) continue;
            ft_vec_push(&l->next, f->waiting.data[--f->waiting.len]);
        }
}

/* Lanes without work get parts of what the others have. */
static void divide(ft_x_forest *f)
{
    uint32_t idle = 0;
    for (uint32_t i = 0; i < f->n_lanes; i++) idle += is_idle(&f->lanes[i]);
    for (uint32_t i = 0; i < f->n_lanes && f->waiting.len < idle; i++) {
        lane *l = &f->lanes[i];
        if (l->tree && ft_x_tree_open(l->tree) > 1) hand_back(f, l, 1);
    }
    deal(f);
}

/* So many runs for each lane; with a bound on all runs the last ones are made one by one. */
static void allot(ft_x_forest *f)
{
    uint64_t left = UINT64_MAX, busy = 0;
    const ft_x_options *o = f->options;
    if (o->max_runs) left = o->max_runs > f->counts->runs ? o->max_runs - f->counts->runs : 0;
    for (uint32_t i = 0; i < f->n_lanes; i++) busy += !is_idle(&f->lanes[i]);
    uint64_t each = busy ? left / busy : 0;
    if (each > f->quota) each = f->quota;
    for (uint32_t i = 0; i < f->n_lanes; i++) {
        lane *l = &f->lanes[i];
        l->quota = is_idle(l) ? 0 : each;
        if (each || !left || is_idle(l)) continue;
        l->quota = 1;
        left--;
    }
    f->quota = 2 * f->quota < f->most_quota ? 2 * f->quota : f->most_quota;
}

static bool is_over(const ft_x_forest *f)
{
    const ft_x_options *o = f->options;
    return f->stopped || f->counts->strayed >= MOST_STRAYED ||
           (o->max_runs && f->counts->runs >= o->max_runs);
}

/* ---- the whole */

void ft_x_forest_grain(ft_x_forest *f, uint32_t first, uint32_t later, uint64_t events)
{
    FT_REQUIRE(first && later >= first);
    f->quota = first;
    f->most_quota = later;
    f->most_events = events;
}

static void prepare_lane(ft_x_forest *f, lane *l)
{
    const ft_x_executor *e = f->executor;
    l->view = (view){.forest = f};
    l->executor = (ft_x_executor){.context = &l->view,
                                  .world = e->world,
                                  .width = e->width / n_threads(f),
                                  .start = start,
                                  .finish = finish,
                                  .room = e->room ? room : NULL,
                                  .state = e->state ? state : NULL,
                                  .label = e->label ? label : NULL};
    l->options = (ft_x_options){.generic = f->options->generic,
                                .cutoffs = f->options->cutoffs,
                                .on_run = on_run,
                                .on_class = on_class,
                                .on_stray = on_stray,
                                .should_stop = should_stop,
                                .context = f};
    l->err = (ft_error)FT_ERROR_INIT;
}

ft_x_forest *ft_x_forest_new(const ft_x_executor *executor, const ft_x_options *options,
                             ft_x_counts *counts)
{
    FT_REQUIRE(!options->complete);
    ft_x_forest *f = ft_calloc(1, sizeof *f);
    f->executor = executor;
    f->options = options;
    f->counts = counts;
    ft_x_forest_grain(f, FIRST_QUOTA, QUOTA, MOST_EVENTS);
    f->n_lanes = executor->lanes && executor->lanes < LANES ? executor->lanes : LANES;
    if (options->cutoffs) f->most_events *= LANES / f->n_lanes; /* what was met is not shared */
    FT_REQUIRE(executor->width >= n_threads(f));
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP); /* it is held for little */
    pthread_mutex_init(&f->mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    for (uint32_t i = 0; i < f->n_lanes; i++) prepare_lane(f, &f->lanes[i]);
    return f;
}

static void release_open(open *all, size_t n)
{
    for (size_t i = 0; i < n; i++) ft_vec_release(&all[i].name);
}

void ft_x_forest_free(ft_x_forest *f)
{
    if (!f) return;
    for (uint32_t i = 0; i < f->n_lanes; i++) {
        lane *l = &f->lanes[i];
        ft_x_tree_free(l->tree);
        release_open(l->next.data, l->next.len);
        ft_vec_release(&l->next);
        ft_x_subtrees_release(&l->proposed);
        ft_vec_release(&l->outers);
    }
    release_open(f->waiting.data, f->waiting.len);
    ft_vec_release(&f->waiting);
    ft_x_subtrees_release(&f->apart);
    ft_x_names_release(&f->keys);
    pthread_mutex_destroy(&f->mutex);
    free(f);
}

void ft_x_forest_add(ft_x_forest *f, const ft_x_subtree *subtree, bool is_part)
{
    open o = {.outer = is_part ? way_length(subtree) : 0};
    f->has_begun = true;
    for (size_t i = 0; i < subtree->len; i++) ft_vec_push(&o.name, subtree->data[i]);
    ft_vec_push(&f->waiting, o);
}

/* Right subtrees that were proposed are somebody's: the names say so, and no key is needed. */
static void mark_known(ft_x_forest *f, ft_x_subtree *s)
{
    ft_x_subtree way = {0};
    for (size_t i = 0; i < s->len; i++) {
        ft_x_mark *m = &s->data[i];
        ft_vec_push(&way, *m);
        if (m->kind != FT_X_TAKEN) continue;
        way.data[i].kind = FT_X_AVOIDED;
        if (ft_x_names_has(&f->keys, ft_x_subtree_key(&way))) m->kind = FT_X_KNOWN;
        way.data[i].kind = FT_X_TAKEN;
    }
    ft_vec_release(&way);
}

void ft_x_forest_take(ft_x_forest *f, ft_x_subtrees *to)
{
    for (uint32_t i = 0; i < f->n_lanes; i++) {
        lane *l = &f->lanes[i];
        if (l->tree) hand_back(f, l, SIZE_MAX);
        while (l->next.len) ft_vec_push(&f->waiting, l->next.data[--l->next.len]);
    }
    if (!f->has_begun) ft_vec_push(&f->waiting, (open){0});
    f->has_begun = true;
    for (size_t i = 0; i < f->waiting.len; i++) {
        mark_known(f, &f->waiting.data[i].name);
        ft_vec_push(to, f->waiting.data[i].name);
    }
    f->waiting.len = 0;
}

void ft_x_forest_proposals(ft_x_forest *f, ft_x_subtrees *to)
{
    for (size_t i = 0; i < f->apart.len; i++) ft_vec_push(to, f->apart.data[i]);
    f->apart.len = 0;
}

ft_status ft_x_forest_run(ft_x_forest *f, bool *finished, ft_error *err)
{
    ft_status status = FT_OK;
    FT_REQUIRE(finished);
    f->stopped = false;
    if (!f->has_begun) ft_vec_push(&f->waiting, (open){0});
    f->has_begun = true;
    while (status == FT_OK && !is_over(f)) {
        divide(f);
        if (ft_x_forest_ended(f)) break;
        allot(f);
        work_together(f);
        status = settle_round(f, err);
        measure(f);
    }
    *finished = status == FT_OK && ft_x_forest_ended(f) && !f->incomplete;
    return status;
}

bool ft_x_forest_ended(const ft_x_forest *f)
{
    bool ended = f->has_begun && !f->waiting.len;
    for (uint32_t i = 0; i < f->n_lanes && ended; i++) ended = is_idle(&f->lanes[i]);
    return ended;
}

static ft_status search_complete(const ft_x_executor *executor, const ft_x_options *options,
                                 ft_x_counts *counts, bool *finished, ft_error *err)
{
    ft_x_tree *tree = ft_x_tree_new(executor, options, counts, NULL);
    ft_status status = ft_x_tree_run(tree, finished, err);
    counts->events = counts->most_events = ft_x_tree_events(tree);
    counts->most_bytes = ft_x_tree_bytes(tree);
    ft_x_tree_free(tree);
    return status;
}

ft_status ft_x_search(const ft_x_executor *executor, const ft_x_options *options,
                      ft_x_counts *counts, bool *finished, ft_error *err)
{
    *counts = (ft_x_counts){0};
    if (options->complete) return search_complete(executor, options, counts, finished, err);
    ft_x_forest *forest = ft_x_forest_new(executor, options, counts);
    ft_status status = ft_x_forest_run(forest, finished, err);
    ft_x_forest_count(forest, counts);
    ft_x_forest_free(forest);
    return status;
}

void ft_x_forest_count(const ft_x_forest *f, ft_x_counts *counts)
{
    counts->events = f->size.all_events;
    counts->most_events = f->size.most_events;
    counts->most_bytes = f->size.most_bytes;
}

bool ft_x_forest_is_whole(const ft_x_forest *f)
{
    bool whole = !f->incomplete;
    for (uint32_t i = 0; i < f->n_lanes && whole; i++)
        whole =
            !f->lanes[i].incomplete && (!f->lanes[i].tree || ft_x_tree_is_whole(f->lanes[i].tree));
    return whole;
}

ft_x_forest_size ft_x_forest_size_of(const ft_x_forest *f)
{
    return f->size;
}
