#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/contract.h"
#include "exploring/exploring.h"
#include "maker/symbols/symbols.h"
#include "terminal/terminal.h"

enum { DEFAULT_STEPS = 10000, DEFAULT_POLLS = 3, MOST_BYTES_SHARE = 4 };

typedef struct session {
    const ft_options *options;
    ft_exploration *to;
    ft_native *native;
    ft_x_executor executor;
    ft_x_walk walk;
    ft_progress progress;
    double began, shown;
    uint64_t runs, classes;
    char **argv;
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

static bool on_run(void *context, const ft_x_run *run)
{
    session *s = context;
    s->runs++;
    if (run->result) ft_failing_note(&s->to->failing, s->native, &s->executor.world, &s->walk, run);
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
    (void)context;
    return ft_signals_caught();
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

static ft_x_plan plan_of(session *s, double seconds)
{
    const ft_options *o = s->options;
    return (ft_x_plan){.preemptions = o->preemptions ? o->preemptions - 1 : FT_X_ALL_PREEMPTIONS,
                       .max_runs = o->runs,
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

/* FILE:LINE; without debug information the file and the offset in it. */
static char *place_text(const ft_native_place *place)
{
    ft_strbuf text = {0};
    ft_code_place at;
    ft_symbols *symbols = ft_symbols_new();
    if (place->module) ft_symbols_module(symbols, place->module, 0);
    if (!place->module || !ft_symbols_place(symbols, place->offset + 1, &text, &at)) {
        ft_strbuf_release(&text);
        ft_strbuf_printf(&text, "%s+0x%llx", place->module ? place->module : "?",
                         (unsigned long long)place->offset);
    }
    ft_symbols_free(symbols);
    return ft_strbuf_take(&text);
}

static void take_facts(session *s)
{
    const char *why = "";
    const ft_native_race *races;
    ft_native_place place;
    s->to->grade = ft_native_grade(s->native, &why);
    s->to->why = ft_strdup(why);
    s->to->races = ft_native_races(s->native, &races);
    if (ft_native_lingering(s->native, 0, &place)) s->to->lingering = place_text(&place);
    s->to->refused = copy(ft_native_refused(s->native, &place));
    s->to->strayed = copy(ft_native_strayed(s->native));
}

/* Some runs again from the program's start: where one differs, no strong word is said. */
static ft_status check_sample(session *s, ft_error *err)
{
    uint32_t checked, differing;
    if (ft_signals_caught()) return FT_OK;
    ft_status status = ft_native_check(s->native, &checked, &differing, err);
    if (status != FT_OK || !differing) return status;
    s->to->outcome.total.strayed += differing;
    if (!s->to->strayed)
        s->to->strayed = ft_strdup("made again from the program's start, it did something else");
    return FT_OK;
}

static ft_status explore(session *s, double seconds, ft_error *err)
{
    ft_x_plan plan = plan_of(s, seconds);
    s->executor = ft_native_executor(s->native);
    ft_status status = ft_x_explore(&s->executor, &plan, &s->to->outcome, err);
    if (status == FT_OK)
        status = ft_failing_conclude(&s->to->failing, s->native, &s->executor, err);
    take_facts(s);
    if (status == FT_OK) status = check_sample(s, err);
    return status;
}

ft_status ft_exploring_run(const ft_options *options, double seconds, ft_exploration *exploration,
                           ft_error *err)
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
    exploration->polls = native.run.polls;
    ft_status status = ft_native_open(&native, &s.native, err);
    if (status == FT_OK) status = explore(&s, seconds, err);
    ft_native_close(s.native);
    exploration->seconds = now() - s.began;
    ft_progress_end(&s.progress);
    ft_progress_release(&s.progress);
    ft_x_walk_release(&s.walk);
    for (size_t i = 0; i < n; i++) free(s.argv[i]);
    free(s.argv);
    return status;
}

void ft_exploration_release(ft_exploration *x)
{
    for (size_t i = 0; i < x->failing.len; i++) {
        ft_failing *f = &x->failing.data[i];
        ft_vec_release(&f->picks);
        ft_strbuf_release(&f->order);
        ft_strbuf_release(&f->choice);
        free(f->text);
        free(f->module);
    }
    ft_vec_release(&x->failing);
    free(x->why);
    free(x->refused);
    free(x->lingering);
    free(x->strayed);
    *x = (ft_exploration){0};
}
