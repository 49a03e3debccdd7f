/* The lines for people. */
#include <string.h>

#include "base/contract.h"
#include "exploring/exploring.h"

bool ft_exploration_is_whole(const ft_exploration *x)
{
    return x->outcome.cover == FT_X_COVER_EVERY && !x->races && !x->outcome.total.lingering &&
           !x->lingering && !x->refused && !x->strayed;
}

/* What a reader must know before he takes the word for more than it is. */
static void print_limits(const ft_exploration *x, ft_strbuf *out)
{
    if (x->races)
        ft_strbuf_printf(out, ", apart from what %zu data race%s change%s", x->races,
                         x->races == 1 ? "" : "s", x->races == 1 ? "s" : "");
    if (x->outcome.total.cut && !x->refused)
        ft_strbuf_printf(out, "; %llu runs were ended after %u steps",
                         (unsigned long long)x->outcome.total.cut, x->steps);
    if (x->lingering || x->outcome.total.lingering)
        ft_strbuf_printf(out, ", with at most %u fruitless rounds of %s", x->polls,
                         x->lingering ? x->lingering : "a loop that polls");
    if (x->refused) ft_strbuf_printf(out, "; runs end at %s, which is not explored", x->refused);
    if (x->outcome.total.strayed)
        ft_strbuf_printf(out, "; %llu runs did not repeat themselves%s%s",
                         (unsigned long long)x->outcome.total.strayed, x->strayed ? ": " : "",
                         x->strayed ? x->strayed : "");
}

/* Where a loop's further rounds were not tried, or runs end at a call that is not explored, nothing
 * is called every schedule. */
static void print_cover(const ft_exploration *x, ft_strbuf *out)
{
    static const char EVERY[] = "every schedule";
    ft_strbuf words = {0};
    bool fewer = x->lingering || x->outcome.total.lingering || x->refused;
    ft_x_outcome_print(&x->outcome, &words);
    const char *text = ft_strbuf_text(&words);
    if (fewer && strncmp(text, EVERY, sizeof EVERY - 1) == 0) {
        ft_strbuf_puts(out, "schedules");
        text += sizeof EVERY - 1;
    }
    ft_strbuf_puts(out, text);
    ft_strbuf_release(&words);
}

void ft_exploration_print(const ft_exploration *x, ft_strbuf *out)
{
    static const char *const STOPPED[FT_X_STOPS] = {[FT_X_STOP_RUNS] = " (--runs reached)",
                                                    [FT_X_STOP_TIME] = " (time is up)",
                                                    [FT_X_STOP_ASKED] = " (interrupted)"};
    const ft_x_outcome *o = &x->outcome;
    ft_strbuf_puts(out, "explored: ");
    print_cover(x, out);
    print_limits(x, out);
    if (STOPPED[o->stop]) ft_strbuf_puts(out, STOPPED[o->stop]);
    if (x->failing.len)
        ft_strbuf_printf(out, ": %zu failure%s found", x->failing.len,
                         x->failing.len == 1 ? "" : "s");
    else
        ft_strbuf_puts(out, ": nothing found");
}

void ft_failing_print(const ft_failing *f, ft_strbuf *out)
{
    static const char *const KINDS[FT_EXPLORING_FAILURES] = {
#define FT_ROW(symbol, name, doc) name,
        FT_EXPLORING_FAILURE_TABLE(FT_ROW)
#undef FT_ROW
    };
    FT_REQUIRE(f->failure.kind < FT_EXPLORING_FAILURES);
    bool code = f->failure.kind == FT_EXPLORING_FAILED_EXIT ||
                f->failure.kind == FT_EXPLORING_FAILED_SIGNAL;
    ft_strbuf_puts(out, KINDS[f->failure.kind]);
    if (code) ft_strbuf_printf(out, " %d", f->failure.code);
    if (f->failure.kind == FT_EXPLORING_FAILED_SIGNAL)
        ft_strbuf_printf(out, " (%s)", strsignal(f->failure.code));
    if (f->text && *f->text) ft_strbuf_printf(out, ": %s", f->text);
}
