#include "explored.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/contract.h"
#include "commands.h"
#include "exploring/oracle.h"
#include "raw/follow.h"

enum { PATIENCE = 20, ENDLESS = 3 }; /* seconds for a run; for one that does not end */

static bool is_followed(const ft_follow *followed)
{
    return !followed->diverged && followed->at > 0;
}

/* A run that is to be recorded. */
typedef struct recording {
    const ft_kept_run *run;
    const char *found; /* the failure, for people */
    bool endless;
    const ft_output_judge *judge; /* of its output; NULL: nobody */
    int64_t input_at;             /* ft_exploration */
} recording;

/* The trace of the run; NULL: the program did something else. *failed: the recorded run did. */
static char *record(const ft_options *options, const recording *r, const char *folder, size_t n,
                    bool *failed)
{
    uint32_t patience = r->endless ? ENDLESS : PATIENCE;
    ft_follow followed = {0};
    ft_strbuf path = {0}, text = {0};
    ft_strbuf_printf(&path, "%s/explored.%zu.ftb", folder, n);
    ft_strbuf_printf(&text, "the run followed a schedule that foretell explore found: %s",
                     r->found);
    ft_options one = {.command = FT_COMMAND_RECORD,
                      .arguments = options->arguments,
                      .before = options->before,
                      .output = ft_strbuf_text(&path),
                      .name = ft_strbuf_text(&text),
                      .expect_exit = options->expect_exit,
                      .timeout = options->timeout ? options->timeout : patience,
                      .quiet = true,
                      .follow = &r->run->order,
                      .judge = r->judge,
                      .followed = &followed,
                      .went_wrong = failed};
    if (r->input_at >= 0) lseek(STDIN_FILENO, (off_t)r->input_at, SEEK_SET);
    bool made = ft_run_record(&one) == FT_EXIT_CLEAN && is_followed(&followed);
    if (!made) unlink(ft_strbuf_text(&path));
    ft_strbuf_release(&text);
    if (made) return ft_strbuf_take(&path);
    ft_strbuf_release(&path);
    return NULL;
}

/* One more trace; false: it could not be recorded. */
static bool add(const ft_options *options, const recording *r, const char *folder, size_t n,
                ft_texts *traces, bool *failed)
{
    char *path = r->run->order.len ? record(options, r, folder, n, failed) : NULL;
    if (path) return ft_vec_push(traces, path), true;
    fprintf(stderr,
            "foretell: a schedule that was found (%s) could not be recorded: the program did "
            "something else there\n",
            r->found);
    return false;
}

/* Races of runs that pass; a few runs have all of them. */
static void add_races(const ft_options *options, const ft_exploration *x, const char *folder,
                      ft_texts *traces)
{
    size_t n = x->failing.len;
    bool failed = false;
    if (options->any_check && !options->checks[FT_CHECK_RACE]) return;
    for (size_t i = 0; i < x->racing.len; i++) {
        const ft_kept_run *run = &x->racing.data[i].run;
        const recording one = {
            .run = run, .found = "data race", .endless = run->fails, .input_at = x->input_at};
        if (run->order.len) add(options, &one, folder, ++n, traces, &failed);
    }
}

static bool is_endless(const ft_failing *f)
{
    return f->failure.kind == FT_EXPLORING_FAILED_LIVE_LOCK ||
           f->failure.kind == FT_EXPLORING_FAILED_HANG;
}

/* Does such a failure end the program, or show in its output? Then a recording that does not fail
 * does not have it. */
static bool ends_program(const ft_failing *f)
{
    static const bool ENDS[FT_EXPLORING_FAILURES] = {
        [FT_EXPLORING_FAILED_EXIT] = true,   [FT_EXPLORING_FAILED_SIGNAL] = true,
        [FT_EXPLORING_FAILED_ASSERT] = true, [FT_EXPLORING_FAILED_LIVE_LOCK] = true,
        [FT_EXPLORING_FAILED_HANG] = true,   [FT_EXPLORING_FAILED_ORACLE] = true,
        [FT_EXPLORING_FAILED_OUTPUT] = true};
    return f->failure.kind < FT_EXPLORING_FAILURES && ENDS[f->failure.kind];
}

/* False: no recording has the failure. */
static bool add_failing(const ft_options *options, const ft_exploration *x, ft_failing *f,
                        const char *folder, size_t n, ft_texts *traces)
{
    ft_strbuf found = {0};
    bool failed = false, refused = f->failure.kind == FT_EXPLORING_FAILED_ORACLE;
    const ft_output_judge judge = {refused ? options->oracle : NULL,
                                   {ft_strbuf_text(&x->output), x->output.len}};
    ft_failing_print(f, &found);
    if (f->needs.len) ft_strbuf_printf(&found, "; it %s", ft_strbuf_text(&f->needs));
    bool judged = refused || f->failure.kind == FT_EXPLORING_FAILED_OUTPUT;
    const recording one = {&f->run, ft_strbuf_text(&found), is_endless(f), judged ? &judge : NULL,
                           x->input_at};
    bool made = add(options, &one, folder, n, traces, &failed);
    f->unshown = made && ends_program(f) && !failed;
    if (f->unshown)
        fprintf(stderr,
                "foretell: a schedule failed twice (%s), but its recording does not: this is not "
                "reported as a finding\n",
                ft_strbuf_text(&found));
    ft_strbuf_release(&found);
    return made && !f->unshown;
}

size_t ft_explored_record(const ft_options *options, ft_exploration *x, const char *folder,
                          ft_texts *traces)
{
    size_t lost = 0;
    for (size_t i = 0; i < x->failing.len; i++) {
        ft_failing *f = &x->failing.data[i];
        if (!ft_failing_is_apart(f)) lost += !add_failing(options, x, f, folder, i + 1, traces);
    }
    add_races(options, x, folder, traces);
    return lost;
}
