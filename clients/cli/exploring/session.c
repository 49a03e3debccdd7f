#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/contract.h"
#include "exploring/exploring.h"
#include "exploring/rest.h"
#include "terminal/terminal.h"

enum {
    DEFAULT_STEPS = 10000,
    DEFAULT_POLLS = 3,
    MORE_POLLS = 20, /* the C++ library's waits on atomics count to 16 before they sleep */
    MOST_BYTES_SHARE = 4,
    MOST_POINTS = FT_EXPLORING_RACES * 2
};

typedef struct session {
    const ft_options *options;
    ft_exploration *to;
    ft_explorer explorer;
    ft_progress progress;
    double began, shown;
    uint64_t runs, classes;
    uint64_t earlier; /* runs of the interrupted exploration */
    char **argv;
    ft_rest rest;    /* of this exploration, or the one that it goes on with */
    bool is_resumed; /* the stage of the rest has begun before */
} session;

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

/* ---- what happens meanwhile */

static void show(session *s)
{
    enum { EVERY_SO_MANY = 64 };
    double at = s->runs % EVERY_SO_MANY ? 0 : now();
    if (at < s->shown + 0.2) return;
    s->shown = at;
    ft_strbuf details = {0};
    ft_strbuf_printf(&details, "%llu runs, %llu different, %zu failing, %.0f s",
                     (unsigned long long)s->runs, (unsigned long long)s->classes,
                     s->to->failing.len, at - s->began);
    ft_progress_say(&s->progress, s->options->arguments.data[0], "exploring",
                    ft_strbuf_text(&details));
    ft_strbuf_release(&details);
}

/* A run that shows something: to be made again by one that goes on. */
static void keep(session *s, const ft_x_run *run)
{
    ft_kept_run made = {.points = s->explorer.setting};
    for (size_t i = 0; i < run->steps.len; i++)
        ft_vec_push(&made.picks,
                    (ft_x_pick){run->steps.data[i].thread, run->steps.data[i].variant});
    ft_vec_push(&s->rest.kept, made);
}

static bool on_run(void *context, const ft_x_run *run)
{
    session *s = context;
    s->runs++;
    ft_failing_note(&s->to->failing, &s->explorer, run);
    (void)ft_outputs_note(&s->explorer, run);
    if (run->is_news) keep(s, run);
    ft_racing_note(&s->to->racing, &s->explorer, run);
    show(s);
    return true;
}

static bool on_class(void *context, const ft_x_run *run, const ft_unfolding *u,
                     const ft_configuration *c)
{
    (void)run, (void)u, (void)c;
    session *s = context;
    s->classes++;
    return true;
}

static bool should_stop(void *context)
{
    const session *s = context;
    return ft_signals_caught() || s->explorer.outputs.status != FT_OK;
}

/* ---- from options */

static ft_native_options native_options(const session *s)
{
    const ft_options *o = s->options;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    ft_native_options n = ft_native_defaults();
    n.argv = s->argv;
    n.workers = o->workers ? o->workers : cores > 0 ? (uint32_t)cores : 1;
    n.run.max_steps = o->steps ? o->steps : DEFAULT_STEPS;
    n.run.expect_exit = (int32_t)o->expect_exit;
    n.run.keeps_output = 1;
    n.run.spurious = o->wakeups && strcmp(o->wakeups, "spurious") == 0;
    n.run.early = !o->early_limits || strcmp(o->early_limits, "yes") == 0;
    n.run.polls = o->polls ? o->polls : DEFAULT_POLLS;
    if (o->timeout) n.seconds = o->timeout;
    return n;
}

static uint64_t memory_share(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size / MOST_BYTES_SHARE : 0;
}

/* Of --runs, which bounds this exploration alone, as the time does. */
static uint64_t runs_left(const session *s)
{
    uint64_t made = s->runs - s->earlier, most = s->options->runs;
    return most > made ? most - made : 0;
}

/* 0: as many runs as --runs leaves. */
static ft_x_plan plan_of(session *s, double seconds, uint64_t runs)
{
    const ft_options *o = s->options;
    uint64_t left = runs_left(s);
    return (ft_x_plan){.preemptions = o->preemptions ? o->preemptions - 1 : FT_X_ALL_PREEMPTIONS,
                       .max_runs = runs && (!left || runs < left) ? runs : left,
                       .seconds = seconds,
                       .seed = o->seed,
                       .max_bytes = memory_share(),
                       .on_run = on_run,
                       .on_class = on_class,
                       .should_stop = should_stop,
                       .context = s};
}

/* ---- the whole */

static char *copy(const char *text)
{
    return text ? ft_strdup(text) : NULL;
}

/* ---- one part: with one setting of scheduling points */

/* Some runs again from the program's start: where one differs, no strong word is said. */
static ft_status check_sample(session *s, ft_explored_part *part, ft_error *err)
{
    uint32_t checked, differing;
    if (ft_signals_caught()) return FT_OK;
    ft_status status = ft_native_check(s->explorer.native, &checked, &differing, err);
    if (status != FT_OK || !differing) return status;
    part->outcome.total.strayed += differing;
    if (!s->to->strayed)
        s->to->strayed = ft_strdup("made again from the program's start, it did something else");
    return FT_OK;
}

static bool is_same_setting(const ft_run_setting *a, const ft_run_setting *b)
{
    return a->n == b->n && a->as_one == b->as_one && a->polls == b->polls;
}

/* Repeats what the executor saw since the points were set, before the part was interrupted. */
static ft_status look_again(session *s, ft_error *err)
{
    ft_status status = FT_OK;
    ft_explorer *x = &s->explorer;
    for (size_t i = 0; i < s->rest.kept.len && status == FT_OK; i++) {
        ft_x_run run;
        uint32_t slot;
        const ft_kept_run *kept = &s->rest.kept.data[i];
        if (!is_same_setting(&kept->points, &x->setting)) continue;
        ft_x_task task = {.prefix = kept->picks.data, .n = kept->picks.len};
        run = (ft_x_run){0};
        status = x->executor.start(x->executor.context, 0, &task, err);
        if (status == FT_OK) status = x->executor.finish(x->executor.context, &slot, &run, err);
        ft_x_run_release(&run);
    }
    return status;
}

static ft_status explore_part(session *s, double seconds, uint64_t runs, ft_explored_part *part,
                              ft_error *err)
{
    ft_native_place place;
    ft_explorer *x = &s->explorer;
    ft_x_plan plan = plan_of(s, seconds, runs);
    plan.rest = s->rest.stage == FT_STAGE_ROUNDS ? NULL : &s->rest.plan;
    free(part->lingering);
    *part = (ft_explored_part){.points = x->setting};
    s->rest.setting = x->setting;
    ft_native_polls(x->native, x->setting.polls);
    ft_native_points(x->native, x->points.data, x->setting.n, x->setting.as_one);
    ft_status status = s->is_resumed ? look_again(s, err) : FT_OK;
    if (status == FT_OK) status = ft_x_explore(&x->executor, &plan, &part->outcome, err);
    ft_native_leave_processor(x->native);
    if (ft_native_lingering(x->native, 0, &place))
        part->lingering = ft_places_text(&x->places, &place);
    return status == FT_OK ? check_sample(s, part, err) : status;
}

/* ---- budget */

static double earlier(double a, double b)
{
    if (!a || !b) return a ? a : b;
    return a < b ? a : b;
}

static bool has_budget(const session *s, double end)
{
    enum { LEAST_MS = 50 };
    const ft_options *o = s->options;
    return !ft_signals_caught() && (!end || now() < end - LEAST_MS / 1e3) &&
           (!o->runs || runs_left(s));
}

/* ---- more rounds of loops that count their tries */

/* Where nothing but rounds was left out, more of them are tried, in a number of runs that depends
 * on nothing but the runs so far, so that the result does not depend on speed or workers. A part
 * that does not end says less than the first one, which then stays. */
static ft_status explore_more_rounds(session *s, double end, ft_explored_part *part, ft_error *err)
{
    enum { TIMES = 10, LEAST = 4000 };
    ft_explored_part more = {0};
    ft_run_setting before = s->explorer.setting;
    uint64_t most = LEAST + TIMES * part->outcome.total.runs;
    if (s->options->polls || part->outcome.stop != FT_X_STOP_END || !part->lingering) return FT_OK;
    if (!has_budget(s, end)) return FT_OK;
    s->explorer.setting.polls = MORE_POLLS;
    ft_status status = explore_part(s, end ? end - now() : 0, most, &more, err);
    bool better = status == FT_OK && more.outcome.stop == FT_X_STOP_END;
    free(better ? part->lingering : more.lingering);
    if (better)
        *part = more;
    else
        s->explorer.setting = before;
    return status;
}

/* ---- the accesses of races as scheduling points */

static void add_point(ft_explorer *x, uint64_t pc)
{
    for (size_t i = 0; i < x->points.len; i++)
        if (x->points.data[i] == pc) return;
    ft_vec_push(&x->points, pc);
}

/* Takes the accesses of the races that were met so far. False: nothing is new in that. */
static bool add_points(ft_explorer *x)
{
    const ft_native_race *races;
    size_t n = ft_native_races(x->native, &races);
    ft_run_setting before = x->setting;
    for (size_t i = 0; i < n; i++)
        for (int side = 0; side < 2; side++)
            if (x->points.len < MOST_POINTS) add_point(x, races[i].race.pc[side]);
    x->setting.n = (uint32_t)x->points.len;
    x->setting.as_one |= ft_native_has_wide_points(x->native);
    return x->setting.n != before.n || x->setting.as_one != before.as_one;
}

/* Until no further race is met, or the budget is gone. */
static ft_status explore_plain(session *s, double end, ft_error *err)
{
    ft_status status = FT_OK;
    ft_explored_part *last = &s->to->sync;
    if (s->is_resumed && s->rest.setting.n) {
        s->explorer.setting = s->rest.setting;
        last = &s->to->plain;
        status = explore_part(s, end ? end - now() : 0, 0, last, err);
    }
    while (status == FT_OK && last->outcome.stop == FT_X_STOP_END && has_budget(s, end)) {
        if (!add_points(&s->explorer)) {
            s->to->plain_is_whole = last != &s->to->sync && s->explorer.points.len < MOST_POINTS;
            break;
        }
        last = &s->to->plain;
        ft_x_rest_release(&s->rest.plan);
        status = explore_part(s, end ? end - now() : 0, 0, last, err);
    }
    return status;
}

/* ---- the whole */

/* "fork starts another process (FILE:LINE)" */
static void take_refused(session *s)
{
    ft_native_place place;
    ft_strbuf text = {0};
    const char *refused = ft_native_refused(s->explorer.native, &place);
    if (!refused) return;
    ft_strbuf_puts(&text, refused);
    if (place.module) {
        ft_strbuf_puts(&text, " (");
        ft_places_print(&s->explorer.places, &place, &text);
        ft_strbuf_puts(&text, ")");
    }
    s->to->refused = ft_strbuf_take(&text);
}

static void take_facts(session *s)
{
    const char *why = "";
    const ft_native *native = s->explorer.native;
    s->to->grade = ft_native_grade(native, &why);
    s->to->why = ft_strdup(why);
    s->to->races = ft_racing_count(&s->explorer);
    s->to->outputs = s->explorer.outputs.different;
    s->to->unjudged = s->explorer.outputs.unjudged;
    take_refused(s);
    if (!s->to->strayed) s->to->strayed = copy(ft_native_strayed(native));
}

/* Of the process that was interrupted. */
static void restore_sync(session *s)
{
    ft_explored_part *sync = &s->to->sync;
    sync->outcome = s->rest.sync;
    sync->points = (ft_run_setting){.polls = s->explorer.setting.polls};
    if (s->rest.stage == FT_STAGE_PLAIN) sync->points.polls = s->rest.setting.polls;
    sync->lingering = copy(s->rest.lingering);
}

/* Is the stage's turn? Then the rest is of it from now on. */
static bool enter(session *s, ft_stage stage)
{
    if (s->to->sync.outcome.stop != FT_X_STOP_END) return false;
    if (s->rest.stage == stage) return true;
    s->rest.sync = s->to->sync.outcome;
    s->rest.stage = stage;
    s->rest.setting.n = 0;
    s->is_resumed = false;
    ft_x_rest_release(&s->rest.plan);
    return true;
}

static ft_status explore(session *s, double seconds, double plain, ft_error *err)
{
    ft_explorer *x = &s->explorer;
    double end = seconds ? s->began + seconds : 0;
    ft_status status = FT_OK;
    if (s->rest.stage == FT_STAGE_SYNC)
        status = explore_part(s, seconds, 0, &s->to->sync, err);
    else
        restore_sync(s);
    if (status == FT_OK && s->rest.stage <= FT_STAGE_ROUNDS && enter(s, FT_STAGE_ROUNDS))
        status = explore_more_rounds(s, end, &s->to->sync, err);
    if (plain) end = earlier(end, now() + plain);
    if (status == FT_OK && !s->options->races_only_reported && enter(s, FT_STAGE_PLAIN))
        status = explore_plain(s, end, err);
    take_facts(s);
    if (status == FT_OK) status = ft_outputs_conclude(x, &s->to->failing, err);
    if (status == FT_OK) status = ft_failing_conclude(&s->to->failing, x, err);
    return status == FT_OK ? ft_racing_conclude(&s->to->racing, x, err) : status;
}

/* ---- interrupted, and going on */

static ft_status run_kept(session *s, const ft_kept_run *kept, ft_error *err)
{
    ft_x_run run;
    uint64_t runs = s->runs;
    s->explorer.setting = kept->points;
    ft_status status =
        ft_kept_run_again(&s->explorer, kept->points, kept->picks.data, kept->picks.len, &run, err);
    if (status == FT_OK) (void)on_run(s, &run);
    s->runs = runs;
    ft_x_run_release(&run);
    return status;
}

/* Repeats the kept runs of the interrupted exploration; each is kept again if it shows its failure.
 */
static ft_status run_all_kept(session *s, ft_rest *rest, ft_error *err)
{
    ft_status status = FT_OK;
    ft_run_setting setting = s->explorer.setting;
    for (size_t i = 0; i < rest->kept.len && status == FT_OK; i++)
        status = run_kept(s, &rest->kept.data[i], err);
    s->explorer.setting = setting;
    return status;
}

static ft_status take_up(session *s, ft_error *err)
{
    bool found = false;
    ft_rest rest = {0};
    ft_explorer *x = &s->explorer;
    x->executor = ft_native_executor(x->native);
    if (!s->options->resume) return FT_OK;
    char *digest = ft_rest_digest(s->options);
    ft_status status = ft_rest_load(s->options->resume, digest, &rest, &found, err);
    free(digest);
    if (status != FT_OK || !found) return status;
    if (!ft_native_name_threads(x->native, rest.threads.data, rest.threads.len))
        status = ft_error_set(err, FT_USAGE, "%s has other threads than the program: delete it",
                              s->options->resume);
    ft_outputs_resume(x, rest.outputs.data, rest.outputs.len);
    for (size_t i = 0; i < rest.points.len; i++) ft_vec_push(&x->points, rest.points.data[i]);
    if (status == FT_OK) status = run_all_kept(s, &rest, err);
    s->runs = s->earlier = rest.runs;
    for (size_t i = 0; i < rest.kept.len; i++) ft_kept_release(&rest.kept.data[i]);
    ft_vec_release(&rest.kept);
    rest.kept.data = s->rest.kept.data; /* those that were kept again */
    rest.kept.len = s->rest.kept.len;
    rest.kept.cap = s->rest.kept.cap;
    s->rest = rest;
    s->is_resumed = true;
    return status;
}

static void keep_best(session *s, const ft_kept_run *best)
{
    ft_kept_run made = {.points = best->points};
    if (!best->picks.len) return;
    for (size_t i = 0; i < best->picks.len; i++) ft_vec_push(&made.picks, best->picks.data[i]);
    ft_vec_push(&s->rest.kept, made);
}

static void keep_outputs(session *s)
{
    const ft_explorer *x = &s->explorer;
    ft_native_output_name *names = ft_calloc(x->outputs.judged.len + 1, sizeof *names);
    size_t n = ft_outputs_names(x, names);
    s->rest.outputs.len = 0;
    for (size_t i = 0; i < n; i++) ft_vec_push(&s->rest.outputs, names[i]);
    free(names);
}

static void complete_rest(session *s)
{
    const ft_exploring_thread *threads;
    size_t n = ft_native_threads(s->explorer.native, &threads);
    s->rest.threads.len = s->rest.points.len = 0;
    for (size_t i = 0; i < n; i++) ft_vec_push(&s->rest.threads, threads[i]);
    for (size_t i = 0; i < s->explorer.points.len; i++)
        ft_vec_push(&s->rest.points, s->explorer.points.data[i]);
    for (size_t i = 0; i < s->to->failing.len; i++) keep_best(s, &s->to->failing.data[i].run);
    for (size_t i = 0; i < s->to->racing.len; i++) keep_best(s, &s->to->racing.data[i].run);
    for (size_t i = 0; i < s->explorer.outputs.n_best; i++)
        keep_best(s, &s->explorer.outputs.best[i].run);
    keep_outputs(s);
    s->rest.runs = s->runs;
    if (s->rest.stage == FT_STAGE_SYNC) return;
    free(s->rest.lingering);
    s->rest.lingering = copy(s->to->sync.lingering);
}

/* A file of its own where the user named none. NULL: there can be none. */
static char *new_file(void)
{
    const char *above = getenv("TMPDIR");
    ft_strbuf name = {0};
    ft_strbuf_printf(&name, "%s/foretell-explore-XXXXXX", above && *above ? above : "/tmp");
    char *path = ft_strbuf_take(&name);
    int file = mkstemp(path);
    if (file >= 0) close(file);
    if (file < 0) free(path);
    return file < 0 ? NULL : path;
}

/* Where the exploration has not ended: what is left, if the user wants it or interrupted it. */
static ft_status leave(session *s, ft_error *err)
{
    const char *given = s->options->resume;
    bool may_go_on = s->options->command == FT_COMMAND_EXPLORE;
    if (ft_exploration_ended(s->to)) {
        if (given) unlink(given);
        return FT_OK;
    }
    if (!may_go_on || (!given && !ft_signals_caught())) return FT_OK;
    s->to->rest = given ? ft_strdup(given) : new_file();
    if (!s->to->rest) return FT_OK;
    complete_rest(s);
    char *digest = ft_rest_digest(s->options);
    ft_status status = ft_rest_save(s->to->rest, digest, &s->rest, err);
    free(digest);
    return status;
}

/* One run, by which a program that reads its input shows it. */
static ft_status try_input(session *s, bool *asks, ft_error *err)
{
    ft_x_run run = {0};
    ft_native *native = s->explorer.native;
    ft_status status = FT_OK;
    if (native && !ft_native_asks_input(native)) {
        s->explorer.executor = ft_native_executor(native);
        status = ft_kept_run_again(&s->explorer, s->explorer.setting, NULL, 0, &run, err);
        ft_x_run_release(&run);
    }
    *asks = ft_native_asks_input(native);
    return status;
}

/* A program that reads what passes is started anew, with a file. */
static ft_status open_program(session *s, ft_native_options *options, ft_error *err)
{
    ft_error first = FT_ERROR_INIT;
    bool asks = false, passes = ft_input_passes();
    bool may_wait = s->options->command == FT_COMMAND_EXPLORE;
    options->input_at = ft_input_position();
    ft_status status = ft_native_open(options, &s->explorer.native, &first);
    if (passes && may_wait && (status == FT_OK || s->explorer.native))
        status = try_input(s, &asks, &first);
    if (asks) {
        ft_native_close(s->explorer.native);
        s->explorer.native = NULL;
        first = (ft_error)FT_ERROR_INIT;
        status = ft_input_keep(&first);
        options->input_at = ft_input_position();
        if (status == FT_OK) status = ft_native_open(options, &s->explorer.native, &first);
    }
    s->to->input_at = options->input_at;
    if (status != FT_OK) *err = first;
    return status;
}

/* For recordings that are compared with it. */
static void take_output(session *s)
{
    s->to->output = s->explorer.outputs.other;
    s->explorer.outputs.other = (ft_strbuf){0};
}

ft_status ft_exploring_run(const ft_options *options, double seconds, double plain,
                           ft_exploration *exploration, ft_error *err)
{
    *exploration = (ft_exploration){0};
    session s = {.options = options, .to = exploration, .began = now()};
    size_t n = options->arguments.len;
    FT_REQUIRE(n > 0);
    s.argv = ft_calloc(n + 1, sizeof *s.argv);
    for (size_t i = 0; i < n; i++) s.argv[i] = ft_strdup(options->arguments.data[i]);
    ft_progress_init(&s.progress, options->quiet);
    ft_native_options native = native_options(&s);
    exploration->steps = native.run.max_steps;
    s.explorer.setting.polls = native.run.polls;
    s.explorer.outputs.oracle = options->oracle;
    s.explorer.outputs.deterministic = options->deterministic;
    ft_status status = open_program(&s, &native, err);
    if (status == FT_OK) status = take_up(&s, err);
    if (status == FT_OK) status = explore(&s, seconds, plain, err);
    if (status == FT_OK) status = leave(&s, err);
    if (status == FT_OK) take_output(&s);
    if (s.explorer.native)
        memcpy(exploration->unset, ft_native_unset_inputs(s.explorer.native),
               sizeof exploration->unset);
    ft_native_close(s.explorer.native);
    ft_rest_release(&s.rest);
    exploration->seconds = now() - s.began;
    ft_progress_end(&s.progress);
    ft_progress_release(&s.progress);
    ft_x_walk_release(&s.explorer.walk);
    ft_vec_release(&s.explorer.points);
    ft_places_release(&s.explorer.places);
    ft_outputs_release(&s.explorer.outputs);
    for (size_t i = 0; i < n; i++) free(s.argv[i]);
    free(s.argv);
    return status;
}

void ft_exploration_release(ft_exploration *x)
{
    for (size_t i = 0; i < x->failing.len; i++) {
        ft_failing *f = &x->failing.data[i];
        ft_kept_release(&f->run);
        ft_strbuf_release(&f->choice);
        ft_strbuf_release(&f->needs);
        free(f->text);
        free(f->module);
        free(f->place);
    }
    ft_vec_release(&x->failing);
    for (size_t i = 0; i < x->racing.len; i++) ft_kept_release(&x->racing.data[i].run);
    ft_vec_release(&x->racing);
    free(x->why);
    free(x->refused);
    free(x->sync.lingering);
    free(x->plain.lingering);
    free(x->strayed);
    free(x->rest);
    ft_strbuf_release(&x->output);
    *x = (ft_exploration){0};
}
