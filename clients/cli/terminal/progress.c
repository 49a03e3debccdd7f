#include "base/contract.h"
#include "terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

void ft_progress_init(ft_progress *progress, bool quiet)
{
    const char *term = getenv("TERM");
    *progress = (ft_progress){.quiet = quiet};
    progress->terminal = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
}

static size_t terminal_width(void)
{
    struct winsize window = {0};
    bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col >= 20;
    return known ? window.ws_col : 80;
}

void ft_progress_say(ft_progress *progress, const char *file, const char *state,
                     const char *details)
{
    FT_REQUIRE(file && *state && details);
    assert(!progress->open || progress->terminal);
    if (progress->quiet) return;
    ft_strbuf line = {0};
    ft_strbuf_printf(&line, "%s: %s", file, state);
    if (progress->terminal) {
        if (*details) ft_strbuf_printf(&line, ", %s", details);
        fprintf(stderr, "\r\033[K%.*s", (int)terminal_width() - 1, line.text);
        fflush(stderr);
        progress->open = true;
    } else if (strcmp(ft_strbuf_text(&progress->state), line.text) != 0) {
        fprintf(stderr, "%s\n", line.text);
        ft_strbuf_clear(&progress->state);
        ft_strbuf_puts(&progress->state, line.text);
    }
    ft_strbuf_release(&line);
}

void ft_progress_end(ft_progress *progress)
{
    if (progress->open) fputs("\r\033[K", stderr);
    progress->open = false;
}

void ft_progress_release(ft_progress *progress)
{
    ft_progress_end(progress);
    ft_strbuf_release(&progress->state);
}
