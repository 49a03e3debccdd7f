/* The lines for people. */
#include <string.h>

#include "base/contract.h"
#include "exploring/exploring.h"

/* Every schedule with those scheduling points, and nothing that was left out. */
static bool is_whole(const ft_exploration *x, const ft_explored_part *part)
{
    return part->outcome.cover == FT_X_COVER_EVERY && !part->outcome.total.lingering &&
           !part->lingering && !x->refused && !part->outcome.total.strayed && !x->unjudged;
}

static bool is_plain_whole(const ft_exploration *x)
{
    return x->plain.points.n && x->plain_is_whole && is_whole(x, &x->plain);
}

bool ft_exploration_is_whole(const ft_exploration *x)
{
    return is_plain_whole(x) || (!x->races && is_whole(x, &x->sync));
}

bool ft_exploration_ended(const ft_exploration *x)
{
    bool plain = !x->plain.points.n || x->plain.outcome.stop == FT_X_STOP_END;
    return x->sync.outcome.stop == FT_X_STOP_END && plain && !x->refused;
}

/* The limits of the word `every schedule`, which a reader must know. */
static void print_limits(const ft_exploration *x, const ft_explored_part *part, ft_strbuf *out)
{
    const ft_x_counts *total = &part->outcome.total;
    if (total->cut && !x->refused)
        ft_strbuf_printf(out, "; %llu runs were ended after %u steps",
                         (unsigned long long)total->cut, x->steps);
    if (part->lingering || total->lingering)
        ft_strbuf_printf(out, ", with at most %u fruitless rounds of %s", part->points.polls,
                         part->lingering ? part->lingering : "a loop that polls");
    if (x->refused) ft_strbuf_printf(out, "; runs end at %s, which is not explored", x->refused);
    if (total->strayed)
        ft_strbuf_printf(out, "; %llu runs did not repeat themselves%s%s",
                         (unsigned long long)total->strayed, x->strayed ? ": " : "",
                         x->strayed ? x->strayed : "");
    if (x->unjudged)
        ft_strbuf_printf(out, "; the output of %llu runs was too long to be judged",
                         (unsigned long long)x->unjudged);
}

/* Where a loop's further rounds were not tried, or runs end at a call that is not explored, nothing
 * is called every schedule. */
static void print_cover(const ft_exploration *x, const ft_explored_part *part, ft_strbuf *out)
{
    static const char EVERY[] = "every schedule";
    ft_strbuf words = {0};
    bool fewer = part->lingering || part->outcome.total.lingering || x->refused;
    ft_x_outcome_print(&part->outcome, &words);
    const char *text = ft_strbuf_text(&words);
    if (fewer && strncmp(text, EVERY, sizeof EVERY - 1) == 0) {
        ft_strbuf_puts(out, "schedules");
        text += sizeof EVERY - 1;
    }
    ft_strbuf_puts(out, text);
    ft_strbuf_release(&words);
}

static void print_races(size_t n, ft_strbuf *out)
{
    ft_strbuf_printf(out, "%zu data race%s", n, n == 1 ? "" : "s");
}

/* With the accesses of races as scheduling points, or without. */
static void print_parts(const ft_exploration *x, ft_strbuf *out)
{
    bool plain = is_plain_whole(x);
    const ft_explored_part *part = plain ? &x->plain : &x->sync;
    print_cover(x, part, out);
    if (plain) {
        ft_strbuf_puts(out, ", with the accesses of ");
        print_races(x->races, out);
        ft_strbuf_puts(out, " as scheduling points");
    } else if (x->races) {
        ft_strbuf_puts(out, ", apart from what ");
        print_races(x->races, out);
        ft_strbuf_puts(out, x->races == 1 ? " changes" : " change");
    }
    print_limits(x, part, out);
    if (plain || !x->plain.points.n) return;
    ft_strbuf_puts(out, "; with the accesses of races as scheduling points: ");
    print_cover(x, &x->plain, out);
    print_limits(x, &x->plain, out);
}

static void print_found(const ft_exploration *x, ft_strbuf *out)
{
    size_t apart = 0, unshown = 0, races = x->races_are_findings ? x->races : 0;
    for (size_t i = 0; i < x->failing.len; i++) {
        apart += ft_failing_is_apart(&x->failing.data[i]);
        unshown += x->failing.data[i].unshown;
    }
    size_t failures = x->failing.len - apart - unshown;
    ft_strbuf_puts(out, ": ");
    if (failures) ft_strbuf_printf(out, "%zu failure%s", failures, failures == 1 ? "" : "s");
    if (failures && races) ft_strbuf_puts(out, ", ");
    if (races) print_races(races, out);
    ft_strbuf_puts(out, failures || races ? " found" : "nothing found");
    if (unshown)
        ft_strbuf_printf(out, ", %zu failure%s that no recording shows", unshown,
                         unshown == 1 ? "" : "s");
    if (apart)
        ft_strbuf_printf(out, ", %zu set apart: a time limit of over five seconds passes early",
                         apart);
}

void ft_exploration_print(const ft_exploration *x, ft_strbuf *out)
{
    static const char *const STOPPED[FT_X_STOPS] = {[FT_X_STOP_RUNS] = " (--runs reached)",
                                                    [FT_X_STOP_TIME] = " (time is up)",
                                                    [FT_X_STOP_ASKED] = " (interrupted)"};
    const ft_explored_part *last = x->plain.points.n ? &x->plain : &x->sync;
    ft_strbuf_puts(out, "explored: ");
    print_parts(x, out);
    if (STOPPED[last->outcome.stop]) ft_strbuf_puts(out, STOPPED[last->outcome.stop]);
    print_found(x, out);
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
    if (f->failure.kind == FT_EXPLORING_FAILED_ORACLE)
        ft_strbuf_printf(out, " (exit code %d)", f->failure.code);
    if (code) ft_strbuf_printf(out, " %d", f->failure.code);
    if (f->failure.kind == FT_EXPLORING_FAILED_SIGNAL)
        ft_strbuf_printf(out, " (%s)", strsignal(f->failure.code));
    if (f->text && *f->text) ft_strbuf_printf(out, ": %s", f->text);
    if (f->place) ft_strbuf_printf(out, " at %s", f->place);
}
