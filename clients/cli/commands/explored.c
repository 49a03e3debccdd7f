#include "explored.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/contract.h"
#include "commands.h"
#include "raw/follow.h"

enum { PATIENCE = 20 }; /* seconds for a run */

static bool is_followed(const ft_follow *followed)
{
    return !followed->diverged && followed->at > 0;
}

/* The trace of the run; NULL: the program did something else. */
static char *record(const ft_options *options, const ft_failing *f, const char *folder, size_t n)
{
    ft_follow followed = {0};
    ft_strbuf path = {0}, text = {0};
    ft_strbuf_printf(&path, "%s/explored.%zu.ftb", folder, n);
    ft_strbuf_puts(&text, "the run followed a schedule that foretell explore found: ");
    ft_failing_print(f, &text);
    ft_options one = {.command = FT_COMMAND_RECORD,
                      .arguments = options->arguments,
                      .before = options->before,
                      .output = ft_strbuf_text(&path),
                      .name = ft_strbuf_text(&text),
                      .expect_exit = options->expect_exit,
                      .timeout = options->timeout ? options->timeout : PATIENCE,
                      .quiet = true,
                      .follow = &f->order,
                      .followed = &followed};
    bool made = ft_run_record(&one) == FT_EXIT_CLEAN && is_followed(&followed);
    if (!made) unlink(ft_strbuf_text(&path));
    ft_strbuf_release(&text);
    if (made) return ft_strbuf_take(&path);
    ft_strbuf_release(&path);
    return NULL;
}

static void tell_lost(const ft_failing *f)
{
    ft_strbuf text = {0};
    ft_failing_print(f, &text);
    fprintf(
        stderr,
        "foretell: a schedule that failed (%s) could not be recorded: the program did something "
        "else there\n",
        ft_strbuf_text(&text));
    ft_strbuf_release(&text);
}

size_t ft_explored_record(const ft_options *options, const ft_exploration *x, const char *folder,
                          ft_texts *traces)
{
    size_t lost = 0;
    for (size_t i = 0; i < x->failing.len; i++) {
        const ft_failing *f = &x->failing.data[i];
        char *path = f->confirmed ? record(options, f, folder, i + 1) : NULL;
        lost += !path;
        if (path)
            ft_vec_push(traces, path);
        else
            tell_lost(f);
    }
    return lost;
}
