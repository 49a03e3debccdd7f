/* Explore a program, and report what failed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/contract.h"
#include "commands.h"
#include "explored.h"
#include "exploring/exploring.h"
#include "recorded/recorded.h"
#include "terminal/terminal.h"

enum { DEFAULT_BUDGET = 60 };

/* Everything about one exploration. */
typedef struct explore {
    const ft_options *options;
    ft_exploration found;
    char *folder;   /* of traces and witnesses; NULL before there is one */
    bool temporary; /* ours */
    ft_texts traces;
} explore;

static FILE *out_of(const explore *x)
{
    return ft_options_are_for_people(x->options) ? stdout : stderr;
}

static ft_status make_folder(explore *x, ft_error *err)
{
    const char *given = x->options->output, *above = getenv("TMPDIR");
    ft_strbuf name = {0};
    if (given)
        ft_strbuf_puts(&name, given);
    else
        ft_strbuf_printf(&name, "%s/foretell-explore-XXXXXX", above && *above ? above : "/tmp");
    x->folder = ft_strbuf_take(&name);
    bool made = given ? !mkdir(x->folder, 0777) || errno == EEXIST : mkdtemp(x->folder) != NULL;
    x->temporary = made && !given;
    if (made) return FT_OK;
    return ft_error_set(err, FT_USAGE, "the folder %s cannot be created: %s", x->folder,
                        strerror(errno));
}

static ft_exit check(const explore *x)
{
    ft_options options = *x->options;
    options.command = FT_COMMAND_CHECK;
    options.output = NULL;
    options.arguments = (ft_texts){0};
    options.one_test = true;
    options.workers = 0;
    options.wakeups = NULL;
    if (!options.witness_dir) options.witness_dir = x->folder;
    if (!options.name) options.name = x->options->arguments.data[0];
    for (size_t i = 0; i < x->traces.len; i++) ft_vec_push(&options.arguments, x->traces.data[i]);
    ft_exit code = ft_run_check(&options);
    ft_vec_release(&options.arguments);
    return code;
}

static void print_choices(const explore *x)
{
    for (size_t i = 0; i < x->found.failing.len && !x->options->quiet; i++) {
        const ft_failing *f = &x->found.failing.data[i];
        if (f->unshown) continue;
        ft_strbuf text = {0};
        ft_failing_print(f, &text);
        if (f->needs.len)
            fprintf(out_of(x), "foretell: %s%s: it %s\n", ft_strbuf_text(&text),
                    ft_failing_is_apart(f) ? " (set apart)" : "", ft_strbuf_text(&f->needs));
        if (f->choice.len)
            fprintf(out_of(x), "foretell: %s (%u preemption%s): %s\n", ft_strbuf_text(&text),
                    f->run.preemptions, f->run.preemptions == 1 ? "" : "s",
                    ft_strbuf_text(&f->choice));
        ft_strbuf_release(&text);
    }
}

static void print_outputs(const explore *x)
{
    if (x->found.outputs > 1 && !x->options->deterministic && !x->options->quiet)
        fprintf(out_of(x),
                "foretell: runs that pass write %llu different outputs (--deterministic makes this "
                "a failure)\n",
                (unsigned long long)x->found.outputs);
}

static void print_end(const explore *x)
{
    ft_strbuf line = {0};
    ft_exploration_print(&x->found, &line);
    fprintf(out_of(x), "foretell: %s\n", ft_strbuf_text(&line));
    ft_strbuf_release(&line);
}

static bool is_plain(const char *word)
{
    return *word && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                 "@%+=:,./_-") == strlen(word);
}

static void print_rest(const explore *x)
{
    const ft_options *o = x->options;
    if (!x->found.rest || o->quiet) return;
    fprintf(out_of(x), "foretell: to go on: foretell explore --resume %s (and the same options) --",
            x->found.rest);
    for (size_t i = 0; i < o->arguments.len; i++)
        fprintf(out_of(x), is_plain(o->arguments.data[i]) ? " %s" : " '%s'", o->arguments.data[i]);
    fputc('\n', out_of(x));
}

/* Was a failure met twice, and did the user give nothing that sets findings apart? */
static bool has_failure_that_counts(const explore *x)
{
    const ft_options *o = x->options;
    bool sets_apart = o->any_check || o->any_fail_on || o->fail_on_new || o->ignored.len ||
                      o->suppressions.len || o->baselines.len || o->write_baseline ||
                      o->annotations;
    for (size_t i = 0; i < x->found.failing.len && !sets_apart; i++)
        if (x->found.failing.data[i].confirmed && !x->found.failing.data[i].unshown &&
            !ft_failing_is_apart(&x->found.failing.data[i]))
            return true;
    return false;
}

/* The check of the recordings has found nothing: the failure is not in the trace. */
static ft_exit despite_recording(const explore *x)
{
    if (!has_failure_that_counts(x)) return FT_EXIT_CLEAN;
    if (ft_signals_caught()) return FT_EXIT_INCOMPLETE;
    fputs(
        "foretell: a schedule failed twice, but the check of its recording finds nothing: this is "
        "not reported as a finding\n",
        stderr);
    return FT_EXIT_INCOMPLETE;
}

static ft_exit report(explore *x)
{
    ft_error err = FT_ERROR_INIT;
    ft_exit code = FT_EXIT_CLEAN;
    if (x->found.failing.len || x->found.races) {
        if (make_folder(x, &err)) return ft_fail(NULL, &err);
        size_t lost = ft_explored_record(x->options, &x->found, x->folder, &x->traces);
        if (x->traces.len) code = check(x);
        x->found.races_are_findings = code == FT_EXIT_FINDINGS;
        if (x->traces.len && code == FT_EXIT_CLEAN) code = despite_recording(x);
        if (lost && code == FT_EXIT_CLEAN) code = FT_EXIT_INCOMPLETE;
    }
    ft_inputs_report(x->found.unset, stderr);
    print_choices(x);
    print_outputs(x);
    print_end(x);
    print_rest(x);
    bool ended = ft_exploration_ended(&x->found);
    return code == FT_EXIT_CLEAN && !ended ? FT_EXIT_INCOMPLETE : code;
}

ft_exit ft_run_explore(const ft_options *options)
{
    if (ft_explores_program(options)) return ft_run_explore_program(options);
    ft_error err = FT_ERROR_INIT;
    explore x = {.options = options};
    double seconds = options->explore_budget ? options->explore_budget : DEFAULT_BUDGET;
    ft_signals_relay();
    ft_status status = ft_inputs_give(&options->inputs, &err);
    if (!status) status = ft_exploring_run(options, seconds, 0, &x.found, &err);
    ft_exit code = status ? ft_fail(NULL, &err) : report(&x);
    ft_exploration_release(&x.found);
    if (x.temporary && !x.traces.len) rmdir(x.folder);
    for (size_t i = 0; i < x.traces.len; i++) free((char *)(uintptr_t)x.traces.data[i]);
    ft_vec_release(&x.traces);
    free(x.folder);
    return code;
}
