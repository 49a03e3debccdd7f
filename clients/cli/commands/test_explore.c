/* Further schedules of the tested program, as `explore` runs them: those that fail are recorded
 * beside the traces of the test, before these are checked. */
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "explored.h"
#include "terminal/terminal.h"
#include "test.h"

enum { DEFAULT_SECONDS = 10, PLAIN_SHARE = 5 /* of the time, for accesses of races as points */ };

/* Checks that a failing schedule can be a finding of. */
static bool is_wanted(const ft_options *o)
{
    static const ft_check CHECKS[] = {FT_CHECK_FAILURE, FT_CHECK_ASSERTION, FT_CHECK_DEADLOCK,
                                      FT_CHECK_LOCK, FT_CHECK_RACE};
    bool any = !o->any_check;
    for (size_t i = 0; i < sizeof CHECKS / sizeof *CHECKS; i++) any = any || o->checks[CHECKS[i]];
    return any && !o->inputs_of && !ft_signals_caught();
}

static uint32_t seconds_of(const ft_options *o)
{
    return o->explore_seconds ? o->explore_seconds - 1 : DEFAULT_SECONDS;
}

static void say(ft_test *t, const char *text)
{
    ft_strbuf line = {0};
    ft_strbuf_printf(&line, "foretell: %s", text);
    free(t->explored);
    t->explored = ft_strbuf_take(&line);
}

/* A run's exit code says that it passed; its output may still depend on the schedule. */
static void add_outputs(const ft_test *t, const ft_exploration *x, ft_strbuf *line)
{
    if (x->outputs > 1 && !t->options->deterministic)
        ft_strbuf_printf(line, "; runs that pass write %llu different outputs",
                         (unsigned long long)x->outputs);
}

static void take(ft_test *t, ft_exploration *x)
{
    ft_strbuf line = {0};
    ft_texts traces = {0};
    ft_explored_record(t->options, x, t->folder, &traces);
    for (size_t i = 0; i < traces.len; i++)
        ft_vec_push(&t->traces, (char *)(uintptr_t)traces.data[i]);
    ft_vec_release(&traces);
    ft_exploration_print(x, &line);
    add_outputs(t, x, &line);
    say(t, ft_strbuf_text(&line));
    ft_strbuf_release(&line);
}

void ft_test_explore(ft_test *t, double ran)
{
    ft_error err = FT_ERROR_INIT;
    ft_exploration x = {0};
    uint32_t seconds = seconds_of(t->options);
    if (!seconds || !is_wanted(t->options)) return;
    if (ran > seconds) {
        say(t, "not explored: one run takes longer than --explore");
        return;
    }
    ft_options options = *t->options;
    options.runs = options.workers = options.timeout = 0;
    options.wakeups = NULL;
    ft_status status = ft_exploring_run(&options, seconds, (double)seconds / PLAIN_SHARE, &x, &err);
    if (status == FT_OK) {
        take(t, &x);
    } else {
        ft_strbuf text = {0};
        ft_strbuf_printf(&text, "not explored: %s", err.message);
        say(t, ft_strbuf_text(&text));
        ft_strbuf_release(&text);
    }
    ft_exploration_release(&x);
}

void ft_test_print_explored(const ft_test *t)
{
    if (t->explored) fprintf(ft_test_out(t), "%s\n", t->explored);
}
