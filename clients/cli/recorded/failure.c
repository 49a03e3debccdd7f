#include <ctype.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "recorded/recorded.h"
#include "terminal/terminal.h"

/* Ends that say something else of the run than its status does. */
static bool is_told_elsewhere(const ft_run_end *run)
{
    bool aborted = WIFSIGNALED(run->status) && WTERMSIG(run->status) == SIGABRT;
    if (run->end == FT_RAW_END_ASSERT && aborted) return true;
    return run->end == FT_RAW_END_DEADLOCK || run->end == FT_RAW_END_INPUTS ||
           run->end == FT_RAW_END_BROKEN || run->end == FT_RAW_END_SPACE;
}

const char *ft_failure_kind(const ft_run_end *run)
{
    if (ft_signals_caught() || is_told_elsewhere(run)) return NULL;
    if (run->end == FT_RAW_END_LIVE_LOCK) return "live-lock";
    if (run->late || run->end == FT_RAW_END_ENDLESS) return "hang";
    if (WIFSIGNALED(run->status)) return "signal";
    return WEXITSTATUS(run->status) != (int)run->expects ? "exit-code" : NULL;
}

void ft_failure_tell(const ft_run_end *run, ft_strbuf *out)
{
    if (run->end == FT_RAW_END_LIVE_LOCK)
        ft_strbuf_puts(out, "every thread polled values that no thread changed, and was ended "
                            "there");
    else if (run->end == FT_RAW_END_ENDLESS)
        ft_strbuf_puts(out, "every thread waited for another thread, or for content of a "
                            "descriptor that only another thread could send, and was ended there");
    else if (run->late)
        ft_strbuf_printf(out, "still running after %u second%s, and ended there", run->late,
                         run->late == 1 ? "" : "s");
    else
        ft_program_end(run->status, out);
}

static bool is_plain(const char *word)
{
    static const char more[] = "-_./=:,+@%";
    if (!*word) return false;
    for (; *word; word++)
        if (!isalnum((unsigned char)*word) && !strchr(more, *word)) return false;
    return true;
}

/* Between quotes a shell takes all as it is, but for a quote. A control character is shown as '?':
 * notes have none. */
static void quote(const char *word, ft_strbuf *out)
{
    ft_strbuf_puts(out, "'");
    for (; *word; word++)
        if (*word == '\'')
            ft_strbuf_puts(out, "'\\''");
        else
            ft_strbuf_printf(out, "%c", iscntrl((unsigned char)*word) ? '?' : *word);
    ft_strbuf_puts(out, "'");
}

void ft_failure_quote(const char *const *words, size_t n, ft_strbuf *out)
{
    for (size_t i = 0; i < n; i++) {
        ft_strbuf_puts(out, " ");
        if (is_plain(words[i]))
            ft_strbuf_puts(out, words[i]);
        else
            quote(words[i], out);
    }
}
