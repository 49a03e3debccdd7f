/* Exploring by several workers: what a search leaves becomes tasks, and a task goes on with it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "explore/forest.h"
#include "explore/internal.h"

/* Tasks by name; every other one is subtrees with spaces between. */
#define WHOLE "*" /* everything */
#define LEVELS                                                                                     \
    "levels"      /* the first levels of preemptions: the server asks where time runs short        \
                   */
#define END "end" /* nothing is left: the word for the rest */

enum { FIRST_LEVELS = 2 };
static const double LEVELS_SHARE = 0.4; /* of the job's time */

/* What is added up of all tasks: members of ft_x_counts. */
#define COUNTS(X)                                                                                  \
    X(runs)                                                                                        \
    X(classes)                                                                                     \
    X(redundant) X(infeasible) X(discarded) X(stuck) X(cut) X(lingering) X(cut_off) X(strayed)
#define LEVEL_COUNTS(X) X(complete) X(classes) X(of_next) X(samples) X(seen)
#define FLAGS(X)                                                                                   \
    X(bounded) X(left_aside) X(widened) X(counted) X(cutoffs) X(incomplete) X(cut_short)

/* ---- EXPLORED: written ---- */

static json_t *points_of(const ft_points *points)
{
    json_t *all = json_array();
    for (size_t i = 0; i < points->len; i++) {
        const ft_point *p = &points->data[i];
        json_array_append_new(all, json_pack("[I, I, b]", (json_int_t)p->place.function,
                                             (json_int_t)p->place.instruction, p->section));
    }
    return all;
}

static json_t *makers_of(const ft_exploring *x)
{
    json_t *all = json_array();
    for (size_t i = 0; i < x->makers.len; i++)
        json_array_append_new(all, json_pack("[I, I]", (json_int_t)x->makers.data[i].thread,
                                             (json_int_t)x->makers.data[i].child));
    return all;
}

static json_t *explored_of(const ft_exploring *x)
{
    json_t *counts = json_object(), *flags = json_object();
#define FT_ROW(name) json_object_set_new(counts, #name, json_integer((json_int_t)x->counts.name));
    COUNTS(FT_ROW)
#undef FT_ROW
#define FT_ROW(name) json_object_set_new(flags, #name, json_boolean(x->name));
    FLAGS(FT_ROW)
#undef FT_ROW
    json_t *explored =
        json_pack("{s:o, s:o, s:o, s:o, s:I}", "points", points_of(&x->points), "threads",
                  makers_of(x), "counts", counts, "flags", flags, "polls", (json_int_t)x->polls);
    if (x->few_threads)
        json_object_set_new(explored, "few_threads", json_integer((json_int_t)x->few_threads));
    if (x->bound) json_object_set_new(explored, "bound", json_string(x->bound));
    if (x->lingers) json_object_set_new(explored, "lingers", json_string(x->lingers));
    if (x->open) json_object_set_new(explored, "open", json_string(x->open));
    return explored;
}

static json_t *levels_of(const ft_exploring_levels *l)
{
    json_t *levels = json_pack("{s:b}", "every", l->every);
#define FT_ROW(name) json_object_set_new(levels, #name, json_integer((json_int_t)l->name));
    LEVEL_COUNTS(FT_ROW)
#undef FT_ROW
    return levels;
}

/* The search begins anew with further points: what was done does not count. */
static json_t *explored_anew(ft_exploring *x)
{
    for (size_t i = 0; i < x->fresh.len; i++) ft_points_add(&x->points, x->fresh.data[i]);
    x->counts = (ft_x_counts){0};
    x->bounded = x->left_aside = x->incomplete = false;
    free(x->lingers);
    free(x->bound);
    x->lingers = x->bound = NULL;
    return explored_of(x);
}

/* ---- EXPLORED: read ---- */

static ft_status refuse(const char *what, ft_error *err)
{
    return ft_error_set(err, FT_INPUT, "a task of an exploration: %s", what);
}

static bool read_pair(const json_t *from, uint32_t *a, uint32_t *b)
{
    const json_t *first = json_array_get(from, 0), *second = json_array_get(from, 1);
    if (!json_is_integer(first) || !json_is_integer(second)) return false;
    *a = (uint32_t)json_integer_value(first);
    *b = (uint32_t)json_integer_value(second);
    return true;
}

static ft_status read_points(ft_exploring *x, const json_t *from, ft_error *err)
{
    size_t i;
    json_t *one;
    json_array_foreach((json_t *)(uintptr_t)from, i, one)
    {
        ft_point p = {.section = json_is_true(json_array_get(one, 2))};
        const ft_function *f = NULL;
        if (read_pair(one, &p.place.function, &p.place.instruction))
            f = ft_program_function(x->program, p.place.function);
        if (!f || p.place.instruction >= f->instructions.len ||
            !ft_program_can_be_point(x->program, p.place, p.section))
            return refuse("a point is not one of the program", err);
        ft_points_add(&x->points, p);
    }
    return FT_OK;
}

static ft_status read_makers(ft_exploring *x, const json_t *from, ft_error *err)
{
    size_t i;
    json_t *one;
    json_array_foreach((json_t *)(uintptr_t)from, i, one)
    {
        ft_symbolic_maker m;
        if (!read_pair(one, &m.thread, &m.child) || m.thread > i || i + 1 >= FT_X_THREADS)
            return refuse("a thread is made by one that is not there", err);
        ft_vec_push(&x->makers, m);
    }
    return FT_OK;
}

static uint64_t count_of(const json_t *from, const char *name)
{
    json_int_t n = json_integer_value(json_object_get(from, name));
    return n > 0 ? (uint64_t)n : 0;
}

/* Numbers and words of all tasks before, for the end. */
static void read_sums(ft_exploring *x, const json_t *explored)
{
    const json_t *counts = json_object_get(explored, "counts"),
                 *flags = json_object_get(explored, "flags"),
                 *levels = json_object_get(explored, "levels");
    const char *open = json_string_value(json_object_get(explored, "open"));
#define FT_ROW(name) x->counts.name = count_of(counts, #name);
    COUNTS(FT_ROW)
#undef FT_ROW
#define FT_ROW(name) x->name = json_is_true(json_object_get(flags, #name));
    FLAGS(FT_ROW)
#undef FT_ROW
#define FT_ROW(name) x->levels.name = count_of(levels, #name);
    LEVEL_COUNTS(FT_ROW)
#undef FT_ROW
    x->levels.every = json_is_true(json_object_get(levels, "every"));
    x->open = open ? ft_strdup(open) : NULL;
    const char *lingers = json_string_value(json_object_get(explored, "lingers"));
    x->lingers = lingers ? ft_strdup(lingers) : NULL;
    const char *bound = json_string_value(json_object_get(explored, "bound"));
    x->bound = bound ? ft_strdup(bound) : NULL;
}

static ft_status read_explored(ft_exploring *x, const json_t *explored, ft_error *err)
{
    ft_status status = read_points(x, json_object_get(explored, "points"), err);
    const json_t *flags = json_object_get(explored, "flags");
    x->widened = json_is_true(json_object_get(flags, "widened"));
    x->counted = json_is_true(json_object_get(flags, "counted"));
    x->cutoffs = x->cutoffs || json_is_true(json_object_get(flags, "cutoffs"));
    if (count_of(explored, "polls")) x->polls = (uint32_t)count_of(explored, "polls");
    x->few_threads = (uint32_t)count_of(explored, "few_threads");
    return status == FT_OK ? read_makers(x, json_object_get(explored, "threads"), err) : status;
}

/* ---- tasks: written ---- */

static int by_length(const void *a, const void *b)
{
    size_t one = ((const ft_x_subtree *)a)->len, other = ((const ft_x_subtree *)b)->len;
    return (one > other) - (one < other);
}

/* So that tasks fit into messages. */
static size_t least_tasks(const ft_x_subtrees *all)
{
    enum { MARK = 6, MOST = 4 << 20 };
    size_t bytes = 0;
    for (size_t i = 0; i < all->len; i++) bytes += all->data[i].len * MARK + 1;
    return bytes / MOST + 1;
}

/* About so many tasks at most, and of the same size: subtrees near the root are large. */
static json_t *tasks_of(ft_x_subtrees *all, size_t most)
{
    json_t *tasks = json_array();
    FT_REQUIRE(most);
    if (most < least_tasks(all)) most = least_tasks(all);
    if (all->len) qsort(all->data, all->len, sizeof *all->data, by_length);
    for (size_t i = 0; i < most && i < all->len; i++) {
        ft_strbuf text = {0};
        for (size_t k = i; k < all->len; k += most) {
            if (text.len) ft_strbuf_puts(&text, " ");
            ft_x_subtree_print(&all->data[k], &text);
        }
        json_array_append_new(tasks, json_string(text.len ? ft_strbuf_text(&text) : WHOLE));
        ft_strbuf_release(&text);
    }
    return tasks;
}

/* Each with its key: several tasks may propose it. */
static json_t *proposals_of(const ft_x_subtrees *all)
{
    json_t *list = json_array();
    for (size_t i = 0; i < all->len; i++) {
        ft_strbuf text = {0};
        char key[33];
        ft_x_name name = ft_x_subtree_key(&all->data[i]);
        snprintf(key, sizeof key, "%016" PRIx64 "%016" PRIx64, name.a, name.b);
        ft_x_subtree_print(&all->data[i], &text);
        json_array_append_new(list, json_pack("[s, s]", key, ft_strbuf_text(&text)));
        ft_strbuf_release(&text);
    }
    return list;
}

static void begin_anew(ft_exploring *x, json_t *plan)
{
    json_object_set_new(plan, "explored", explored_anew(x));
    json_object_set_new(plan, "anew", json_true());
    json_object_set_new(plan, "subtrees", json_pack("[s]", WHOLE));
}

static void take_levels(ft_exploring *x)
{
    const ft_x_outcome *o = &x->outcome;
    x->levels = (ft_exploring_levels){
        .samples = o->samples, .seen = o->seen, .every = o->cover == FT_X_COVER_EVERY};
    if (o->cover != FT_X_COVER_LEVELS) return;
    x->levels.complete = o->level + 1;
    x->levels.classes = o->classes;
    x->levels.of_next = o->of_next;
}

bool ft_exploring_hands_back(const ft_exploring *x)
{
    return x->anew || (x->outcome.stop != FT_X_STOP_END && x->outcome.cover != FT_X_COVER_EVERY);
}

void ft_exploring_hand_back(ft_exploring *x, ft_x_subtrees *open, ft_x_subtrees *proposals,
                            json_t *plan)
{
    if (x->anew) {
        begin_anew(x, plan);
        return;
    }
    if (!proposals) { /* of a plan */
        x->counts = x->rest.tree;
        x->incomplete = x->rest.incomplete;
        if (!x->rest.has_begun) ft_vec_push(open, (ft_x_subtree){0});
        take_levels(x);
    }
    json_t *explored = explored_of(x);
    if (!proposals) json_object_set_new(explored, "levels", levels_of(&x->levels));
    json_object_set_new(plan, "explored", explored);
    json_object_set_new(plan, "subtrees", tasks_of(open, x->share.parts));
    if (proposals) json_object_set_new(plan, "proposals", proposals_of(proposals));
}

void ft_exploring_sum_up(ft_exploring *x, json_t *plan)
{
    x->counts = x->outcome.total;
    json_object_set_new(plan, "explored", explored_of(x));
}

/* ---- tasks: done ---- */

static ft_status add_subtrees(ft_x_forest *forest, const char *task, ft_error *err)
{
    ft_status status = FT_OK;
    for (const char *at = task; *at && status == FT_OK;) {
        size_t length = strcspn(at, " ");
        char *name = ft_strndup(at, length);
        ft_x_subtree subtree = {0};
        if (strcmp(name, WHOLE) != 0) status = ft_x_subtree_parse(name, &subtree, err);
        if (status == FT_OK) ft_x_forest_add(forest, &subtree, true);
        ft_vec_release(&subtree);
        free(name);
        at += length + (at[length] == ' ');
    }
    return status;
}

/* The open subtrees are somebody else's from here on, and so are those that were proposed. */
static ft_status search(ft_exploring *x, const char *task, ft_x_subtrees *open,
                        ft_x_subtrees *proposals, ft_error *err)
{
    bool finished = false;
    ft_x_options options = {.on_run = ft_exploring_on_run,
                            .on_class = ft_exploring_on_class,
                            .should_stop = ft_exploring_should_stop,
                            .context = x,
                            .cutoffs = x->cutoffs};
    ft_x_forest *forest = ft_x_forest_new(ft_backend_executor(x->backend), &options, &x->counts);
    ft_status status = add_subtrees(forest, task, err);
    if (status == FT_OK) status = ft_x_forest_run(forest, &finished, err);
    if (status == FT_OK) {
        x->incomplete = !ft_x_forest_is_whole(forest);
        x->cut_short = ft_exploring_must_stop(x);
        ft_x_forest_take(forest, open);
        ft_x_forest_proposals(forest, proposals);
    }
    ft_x_forest_free(forest);
    return status;
}

static ft_status search_subtrees(ft_exploring *x, const char *task, json_t **result, ft_error *err)
{
    ft_x_subtrees open = {0}, proposals = {0};
    ft_program *program = ft_exploring_open(x);
    ft_status status = search(x, task, &open, &proposals, err);
    ft_exploring_close(x, program);
    if (status == FT_UNSUPPORTED) {
        ft_exploring_give_way(x, err);
        status = FT_OK;
    }
    if (status == FT_OK) {
        *result = ft_exploring_found(x, false);
        ft_exploring_hand_back(x, &open, &proposals, *result);
    }
    ft_x_subtrees_release(&open);
    ft_x_subtrees_release(&proposals);
    return status;
}

static ft_status search_levels(ft_exploring *x, const json_t *explored, json_t **result,
                               ft_error *err)
{
    ft_program *program = ft_exploring_open(x);
    ft_x_plan plan = {.preemptions = FIRST_LEVELS,
                      .seconds = x->seconds,
                      .on_run = ft_exploring_on_run,
                      .on_class = ft_exploring_on_class,
                      .should_stop = ft_exploring_should_stop,
                      .context = x};
    ft_status status = ft_x_explore(ft_backend_executor(x->backend), &plan, &x->outcome, err);
    ft_exploring_close(x, program);
    if (status == FT_UNSUPPORTED) {
        ft_exploring_give_way(x, err);
        status = FT_OK;
    }
    if (status != FT_OK) return status;
    *result = ft_exploring_found(x, false);
    if (x->anew) {
        begin_anew(x, *result);
        return FT_OK;
    }
    take_levels(x);
    x->levels.samples += count_of(json_object_get(explored, "levels"), "samples");
    x->counts.runs = x->outcome.total.runs;
    json_t *own = explored_of(x);
    json_object_set_new(own, "levels", levels_of(&x->levels));
    json_object_set_new(*result, "explored", own);
    return FT_OK;
}

/* ---- the end ---- */

static ft_x_cover cover_of(const ft_exploring *x)
{
    bool whole = !x->cut_short && !x->incomplete && !x->counts.cut && !x->counts.strayed;
    if (x->levels.every || whole) return FT_X_COVER_EVERY;
    if (x->levels.complete && !x->counts.strayed) return FT_X_COVER_LEVELS;
    if (!x->cut_short && x->counts.cut && !x->counts.strayed) return FT_X_COVER_BOUNDED;
    return FT_X_COVER_SAMPLED;
}

/* What one search by all of them would have come to. */
static void sum_up(ft_exploring *x)
{
    const ft_exploring_levels *l = &x->levels;
    uint64_t seen = l->seen > x->counts.classes ? l->seen : x->counts.classes;
    x->outcome = (ft_x_outcome){.cover = cover_of(x),
                                .stop = x->cut_short ? FT_X_STOP_TIME : FT_X_STOP_END,
                                .classes = seen,
                                .seen = seen,
                                .samples = l->samples,
                                .tree = x->counts,
                                .total = x->counts};
    if (l->every) x->outcome.tree = x->outcome.total = (ft_x_counts){.runs = x->counts.runs};
    if (x->outcome.cover != FT_X_COVER_LEVELS) return;
    x->outcome.level = (uint32_t)l->complete - 1;
    x->outcome.classes = l->classes;
    x->outcome.of_next = l->of_next;
}

static ft_status end(ft_exploring *x, const json_t *explored, json_t **result, ft_error *err)
{
    read_sums(x, explored);
    sum_up(x);
    ft_status status = ft_exploring_conclude(x, result, err);
    if (status == FT_OK) json_object_set_new(*result, "end", json_true());
    return status;
}

ft_status ft_exploring_part(const ft_program *program, const json_t *spec, const json_t *explored,
                            const char *task, ft_exploring_share share,
                            const ft_exploring_progress *progress, json_t **result, ft_error *err)
{
    FT_REQUIRE(program && spec && task && result);
    ft_exploring x = {.program = program, .progress = progress, .share = share};
    ft_status status = ft_exploring_begin(&x, spec, err);
    if (status == FT_OK) status = read_explored(&x, explored, err);
    x.seconds = strcmp(task, LEVELS) == 0 ? x.hard_seconds * LEVELS_SHARE : share.soft_ms / 1e3;
    if (x.share.parts == 0) x.share.parts = 1;
    if (status == FT_OK && strcmp(task, END) == 0)
        status = end(&x, explored, result, err);
    else if (status == FT_OK && strcmp(task, LEVELS) == 0)
        status = search_levels(&x, explored, result, err);
    else if (status == FT_OK)
        status = search_subtrees(&x, task, result, err);
    ft_exploring_release(&x);
    return status;
}
