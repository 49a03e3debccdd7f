#include "explore/plan.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/contract.h"
#include "explore/forest.h"
#include "explore/sampling.h"

/* Which part of the budget is gone when each step ends at the latest. The samples get the rest;
 * a level beyond those of the first step is worth more than they are while it can be finished. */
enum { FIRST_LEVELS = 2 };
static const double FIRST_SHARE = 0.4, TREE_SHARE = 0.7, LEVELS_SHARE = 0.85, WHOLE = 1;

typedef struct exploration {
    const ft_x_executor *executor;
    const ft_x_plan *plan;
    ft_x_outcome *outcome;
    ft_x_options options; /* of the step at hand */
    ft_x_counts counts;   /* of levels and samples */
    ft_x_names classes;
    ft_x_levels *levels;
    ft_x_levels_result reached;
    double began, share;                 /* seconds of the clock; of the step at hand */
    size_t (*bytes)(const void *search); /* of the step at hand; NULL: not asked */
    const void *search;
    uint64_t asks, earlier; /* earlier: runs of the rest */
    bool asked;
    bool every; /* a search ended, and has all */
    bool ended; /* a search ended: it has nothing more to run */
} exploration;

/* ---- budgets */

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static bool is_late(const exploration *x, double share)
{
    return x->plan->seconds > 0 && now() - x->began >= share * x->plan->seconds;
}

static bool is_too_large(exploration *x)
{
    enum { EVERY_SO_MANY = 64 };
    if (!x->bytes || !x->plan->max_bytes || x->asks++ % EVERY_SO_MANY) return false;
    return x->bytes(x->search) > x->plan->max_bytes;
}

static bool should_stop(void *context)
{
    exploration *x = context;
    if (x->plan->should_stop && x->plan->should_stop(x->plan->context)) x->asked = true;
    return x->asked || is_late(x, x->share) || is_too_large(x);
}

/* Without those of the rest. */
static uint64_t runs(const exploration *x)
{
    return x->counts.runs + x->outcome->tree.runs - x->earlier;
}

/* Runs that the step may make, counted as its own counts do; 0: no bound. */
static uint64_t runs_until(const exploration *x, double share, uint64_t others)
{
    uint64_t most = x->earlier + (uint64_t)((double)x->plan->max_runs * share);
    if (!x->plan->max_runs) return 0;
    return most > others ? most - others : 0;
}

/* Is the budget of all steps up to that share gone? */
static bool is_over(const exploration *x, double share)
{
    const ft_x_plan *p = x->plan;
    return x->asked || is_late(x, share) ||
           (p->max_runs && runs(x) >= (uint64_t)((double)p->max_runs * share));
}

static bool pass_run(void *context, const ft_x_run *run)
{
    const exploration *x = context;
    return !x->plan->on_run || x->plan->on_run(x->plan->context, run);
}

static bool pass_class(void *context, const ft_x_run *run, const ft_unfolding *u,
                       const ft_configuration *c)
{
    const exploration *x = context;
    return !x->plan->on_class || x->plan->on_class(x->plan->context, run, u, c);
}

static void pass_stray(void *context, const ft_x_run *run, size_t step)
{
    const exploration *x = context;
    if (x->plan->on_stray) x->plan->on_stray(x->plan->context, run, step);
}

/* ---- steps */

static size_t levels_bytes(const void *search)
{
    return ft_x_levels_bytes(search);
}

static size_t forest_bytes(const void *search)
{
    return (size_t)ft_x_forest_size_of(search).bytes;
}

static ft_status run_levels(exploration *x, uint32_t last, double share, ft_error *err)
{
    if (last > x->plan->preemptions) last = x->plan->preemptions;
    x->share = share;
    x->options.max_runs = runs_until(x, share, x->outcome->tree.runs);
    x->bytes = levels_bytes;
    x->search = x->levels;
    if (is_over(x, share)) return FT_OK;
    ft_status status = ft_x_levels_run(x->levels, last, &x->reached, err);
    x->every = x->reached.all;
    x->ended = x->ended || x->reached.done;
    return status;
}

/* Keeps the open rest of the search for every schedule. */
static void leave(exploration *x, ft_x_forest *forest)
{
    ft_x_rest *rest = x->plan->rest;
    rest->incomplete = rest->incomplete || !ft_x_forest_is_whole(forest);
    ft_x_subtrees_release(&rest->open);
    const ft_x_plan *plan = x->plan;
    if (!plan->drops_rest || !plan->drops_rest(plan->context))
        ft_x_forest_take(forest, &rest->open);
    rest->tree = x->outcome->tree;
    rest->has_begun = !x->ended;
}

/* Goes on after another plan. */
static void take_up(exploration *x)
{
    const ft_x_rest *rest = x->plan->rest;
    x->outcome->tree = rest->tree;
    x->counts = rest->others;
    x->earlier = x->counts.runs + x->outcome->tree.runs;
    x->reached = (ft_x_levels_result){
        .complete = rest->levels, .classes = rest->level_classes, .met = rest->level_classes};
}

static ft_status run_tree(exploration *x, ft_error *err)
{
    x->share = TREE_SHARE;
    x->options.max_runs = runs_until(x, TREE_SHARE, x->counts.runs);
    if (is_over(x, TREE_SHARE)) return FT_OK;
    ft_x_forest *forest = ft_x_forest_new(x->executor, &x->options, &x->outcome->tree);
    ft_x_rest *rest = x->plan->rest;
    bool incomplete = rest && rest->incomplete;
    for (size_t i = 0; rest && i < rest->open.len; i++)
        ft_x_forest_add(forest, &rest->open.data[i], false);
    x->bytes = forest_bytes;
    x->search = forest;
    ft_status status = ft_x_forest_run(forest, &x->every, err);
    ft_x_forest_count(forest, &x->outcome->tree);
    x->every = x->every && !incomplete;
    x->ended = ft_x_forest_ended(forest);
    x->bytes = NULL;
    if (rest && status == FT_OK) leave(x, forest);
    ft_x_forest_free(forest);
    return status;
}

static ft_status run_samples(exploration *x, ft_error *err)
{
    x->share = WHOLE;
    x->options.max_runs = runs_until(x, WHOLE, x->outcome->tree.runs);
    x->bytes = NULL;
    if (is_over(x, WHOLE)) return FT_OK;
    ft_x_samples *samples =
        ft_x_samples_new(x->executor, &x->options, &x->counts, &x->classes, x->plan->seed);
    ft_status status = ft_x_samples_run(samples, 0, err);
    x->outcome->samples = ft_x_samples_taken(samples);
    ft_x_samples_free(samples);
    return status;
}

/* Is there no schedule that another step could still run? */
static bool is_done(const exploration *x)
{
    uint32_t last = x->plan->preemptions;
    bool bounded = last != FT_X_ALL_PREEMPTIONS && x->reached.complete > last;
    return x->ended || bounded || x->asked;
}

static bool has_budget(const exploration *x)
{
    return x->plan->seconds > 0 || x->plan->max_runs;
}

static bool has_rest(const exploration *x)
{
    return x->plan->rest && x->plan->rest->has_begun;
}

static ft_status run_steps(exploration *x, ft_error *err)
{
    bool whole = x->plan->preemptions == FT_X_ALL_PREEMPTIONS, goes_on = has_rest(x);
    ft_status status = FT_OK;
    if (goes_on)
        take_up(x);
    else if (!whole || !x->plan->cutoffs)
        status = run_levels(x, FIRST_LEVELS, whole ? FIRST_SHARE : LEVELS_SHARE, err);
    if (status == FT_OK && !is_done(x) && whole) status = run_tree(x, err);
    if (status == FT_OK && !is_done(x) && !goes_on)
        status = run_levels(x, FT_X_LEVELS, LEVELS_SHARE, err);
    if (status == FT_OK && !is_done(x) && has_budget(x)) status = run_samples(x, err);
    return status;
}

/* ---- what came of it */

static void add_counts(ft_x_counts *total, const ft_x_counts *more)
{
    total->runs += more->runs;
    total->redundant += more->redundant;
    total->stuck += more->stuck;
    total->cut += more->cut;
    total->infeasible += more->infeasible;
    total->discarded += more->discarded;
    total->cut_off += more->cut_off;
    total->lingering += more->lingering;
    total->strayed += more->strayed;
}

static ft_x_cover cover_of(const exploration *x)
{
    const ft_x_counts *total = &x->outcome->total;
    if (!total->runs) return FT_X_COVER_NOTHING;
    if (x->every && !total->cut && !total->strayed) return FT_X_COVER_EVERY;
    if (x->reached.complete && !total->strayed) return FT_X_COVER_LEVELS;
    if (x->ended && total->cut && !total->strayed) return FT_X_COVER_BOUNDED;
    return FT_X_COVER_SAMPLED;
}

static ft_x_stop stop_of(const exploration *x)
{
    if (is_done(x) && !x->asked) return FT_X_STOP_END;
    if (x->asked) return FT_X_STOP_ASKED;
    return x->plan->max_runs && runs(x) >= x->plan->max_runs ? FT_X_STOP_RUNS : FT_X_STOP_TIME;
}

static void conclude(exploration *x)
{
    ft_x_outcome *o = x->outcome;
    if (x->plan->rest) {
        x->plan->rest->others = x->counts;
        x->plan->rest->levels = x->reached.complete;
        x->plan->rest->level_classes = x->reached.classes;
    }
    add_counts(&o->total, &x->counts);
    add_counts(&o->total, &o->tree);
    o->seen = x->classes.len > o->tree.classes ? x->classes.len : o->tree.classes;
    o->total.classes = o->seen;
    o->cover = cover_of(x);
    o->stop = stop_of(x);
    o->classes = o->seen;
    if (o->cover == FT_X_COVER_LEVELS) {
        o->level = x->reached.complete - 1;
        o->classes = x->reached.classes;
        o->of_next = x->reached.met - x->reached.classes;
    }
}

ft_status ft_x_explore(const ft_x_executor *executor, const ft_x_plan *plan, ft_x_outcome *outcome,
                       ft_error *err)
{
    *outcome = (ft_x_outcome){0};
    exploration x = {.executor = executor, .plan = plan, .outcome = outcome, .began = now()};
    x.options = (ft_x_options){.on_run = pass_run,
                               .on_stray = pass_stray,
                               .on_class = pass_class,
                               .context = &x,
                               .should_stop = should_stop,
                               .cutoffs = plan->cutoffs};
    x.levels = ft_x_levels_new(executor, &x.options, &x.counts, &x.classes);
    ft_status status = run_steps(&x, err);
    conclude(&x);
    assert(outcome->cover != FT_X_COVER_EVERY || (x.ended && status == FT_OK));
    ft_x_levels_free(x.levels);
    ft_x_names_release(&x.classes);
    return status;
}

void ft_x_rest_release(ft_x_rest *rest)
{
    ft_x_subtrees_release(&rest->open);
    *rest = (ft_x_rest){0};
}

/* ---- words */

const char *ft_x_cover_name(ft_x_cover cover)
{
    static const char *const NAMES[FT_X_COVERS] = {
#define FT_ROW(symbol, name, doc) name,
        FT_X_COVER_TABLE(FT_ROW)
#undef FT_ROW
    };
    FT_REQUIRE(cover < FT_X_COVERS);
    return NAMES[cover];
}

const char *ft_x_stop_name(ft_x_stop stop)
{
    static const char *const NAMES[FT_X_STOPS] = {
#define FT_ROW(symbol, name, doc) name,
        FT_X_STOP_TABLE(FT_ROW)
#undef FT_ROW
    };
    FT_REQUIRE(stop < FT_X_STOPS);
    return NAMES[stop];
}

static void print_number(uint64_t n, ft_strbuf *out)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
    size_t length = strlen(digits);
    for (size_t i = 0; i < length; i++)
        ft_strbuf_printf(out, i && (length - i) % 3 == 0 ? ",%c" : "%c", digits[i]);
}

static void print_level(const ft_x_outcome *o, ft_strbuf *out)
{
    if (!o->level)
        ft_strbuf_puts(out, "every schedule without a preemption (");
    else
        ft_strbuf_printf(out, "every schedule with at most %u preemption%s (", o->level,
                         o->level == 1 ? "" : "s");
    print_number(o->classes, out);
    ft_strbuf_puts(out, ")");
    if (o->of_next) {
        ft_strbuf_puts(out, ", ");
        print_number(o->of_next, out);
        ft_strbuf_printf(out, " of %u", o->level + 1);
    }
    if (!o->samples) return;
    ft_strbuf_puts(out, ", ");
    print_number(o->samples, out);
    ft_strbuf_puts(out, " random ones");
}

void ft_x_outcome_print(const ft_x_outcome *o, ft_strbuf *out)
{
    static const char *const HEADS[FT_X_COVERS] = {[FT_X_COVER_NOTHING] = "nothing",
                                                   [FT_X_COVER_SAMPLED] = "sampled (",
                                                   [FT_X_COVER_BOUNDED] = "bounded (",
                                                   [FT_X_COVER_EVERY] = "every schedule ("};
    if (o->cover == FT_X_COVER_LEVELS) {
        print_level(o, out);
        return;
    }
    ft_strbuf_puts(out, HEADS[o->cover]);
    if (o->cover == FT_X_COVER_NOTHING) return;
    print_number(o->cover == FT_X_COVER_EVERY ? o->classes : o->seen, out);
    ft_strbuf_puts(out, ")");
}
