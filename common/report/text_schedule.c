/* The schedule of a witness: an interleaving that a person can follow. */
#include <stdlib.h>
#include <string.h>

#include "report/internal.h"

enum {
    MOST_COLUMNS = 6, /* threads side by side */
    FOLD_LEAST = 8,   /* shorter stretches are printed */
    FOLD_LEAST_OF_WAITS = 2,
    EDGE = 2,       /* steps kept on either side of a switch */
    MOST_BLIND = 2, /* folded stretches in a row; more are one line */
    INDENT = 6,     /* of each further thread, where threads are not side by side */
    MOST_INDENTS = 5
};

typedef struct plan {
    const ft_finding *finding;
    bool *shown; /* one for each step */
    size_t where_width;
    FT_VEC(size_t) widths; /* of the threads' columns */
    bool side_by_side;
    bool waits; /* a lost wake-up: the waits, the signals and the flag are all there is to see */
} plan;

/* ---- folding -------------------------------------------------------------------------------- */

static bool is_essential(const ft_report_step *step)
{
    return step->marked || step->departs || step->source;
}

static bool is_of_object(const ft_finding *finding, const ft_report_step *step)
{
    const char *own = ft_json_text(step->json, "object", NULL);
    return finding->object && own && strcmp(own, finding->object) == 0;
}

static bool is_alike(const ft_report_step *one, const ft_report_step *other)
{
    return strcmp(one->where, other->where) == 0 &&
           strcmp(ft_json_text(one->json, "kind", ""), ft_json_text(other->json, "kind", "")) == 0;
}

/* Of a loop's turns the last one says what there is to say: does the thread come to the place again
 * before `to`? */
static bool is_done_again(const plan *p, size_t i, size_t to)
{
    const ft_report_step *steps = p->finding->steps.data;
    for (size_t j = i + 1; j < to; j++)
        if (is_of_object(p->finding, &steps[j]) && is_alike(&steps[i], &steps[j])) return true;
    return false;
}

static bool is_kind(const ft_report_step *step, const char *kind)
{
    return !step->brief && strcmp(ft_json_text(step->json, "kind", ""), kind) == 0;
}

/* Of a lost wake-up: a wait on the condition variable, a signal of it or a broadcast. */
static bool is_wait_or_signal(const plan *p, size_t i)
{
    static const char *const KINDS[] = {"cond-wait", "cond-wake", "signal", "broadcast"};
    const ft_report_step *step = &p->finding->steps.data[i];
    if (step->brief || !is_of_object(p->finding, step)) return false;
    for (size_t k = 0; k < sizeof KINDS / sizeof *KINDS; k++)
        if (is_kind(step, KINDS[k])) return true;
    return false;
}

/* The last access before one of those, in the same thread: of the flag that is waited for. */
static bool is_of_flag(const plan *p, size_t i)
{
    const ft_report_step *steps = p->finding->steps.data;
    bool reads_or_writes = ft_json_text(steps[i].json, "access", NULL) != NULL;
    if (steps[i].brief || !reads_or_writes) return false;
    for (size_t j = i + 1; j < p->finding->steps.len; j++) {
        if (steps[j].thread != steps[i].thread || steps[j].brief) continue;
        if (is_wait_or_signal(p, j)) return true;
        if (ft_json_text(steps[j].json, "access", NULL)) return false;
    }
    return false;
}

static bool is_eventful(const plan *p, size_t i, size_t to)
{
    const ft_report_step *step = &p->finding->steps.data[i];
    if (p->waits) return step->marked || is_wait_or_signal(p, i) || is_of_flag(p, i);
    return is_essential(step) || (is_of_object(p->finding, step) && !is_done_again(p, i, to));
}

/* Marks what is printed of the stretch [from, to) of one thread. */
static void show_stretch(plan *p, size_t from, size_t to, bool full)
{
    const ft_report_step *steps = p->finding->steps.data;
    assert(from < to && to <= p->finding->steps.len);
    size_t edge = p->waits ? 0 : EDGE, least = p->waits ? FOLD_LEAST_OF_WAITS : FOLD_LEAST;
    for (size_t i = from; i < to; i++)
        if (full || i < from + edge || i + edge >= to || is_eventful(p, i, to))
            p->shown[i] = !steps[i].brief;
    for (size_t i = from, end, hidden; i < to; i = end) {
        end = i + 1;
        if (p->shown[i]) continue;
        while (end < to && !p->shown[end]) end++;
        assert(steps[i].thread == steps[end - 1].thread);
        hidden = steps[end - 1].number + steps[end - 1].count - steps[i].number;
        for (size_t j = i; hidden < least && j < end; j++) p->shown[j] = !steps[j].brief;
    }
}

static void fold(plan *p, bool full)
{
    const ft_report_step *steps = p->finding->steps.data;
    for (size_t from = 0, to; from < p->finding->steps.len; from = to) {
        to = from + 1;
        while (to < p->finding->steps.len && steps[to].thread == steps[from].thread) to++;
        show_stretch(p, from, to, full);
    }
}

/* ---- layout --------------------------------------------------------------------------------- */

static void grow(size_t *width, const char *text)
{
    size_t length = strlen(text);
    if (length > *width) *width = length;
}

static void measure(plan *p, size_t columns)
{
    const ft_finding *finding = p->finding;
    for (size_t i = 0; i < finding->threads.len; i++)
        ft_vec_push(&p->widths, strlen(finding->threads.data[i]));
    for (size_t i = 0; i < finding->steps.len; i++) {
        const ft_report_step *step = &finding->steps.data[i];
        if (!p->shown[i]) continue;
        grow(&p->where_width, step->where);
        grow(&p->widths.data[step->thread], step->text);
    }
    size_t width = 12 + p->where_width;
    for (size_t i = 0; i < p->widths.len; i++) width += p->widths.data[i] + 3;
    p->side_by_side = finding->threads.len <= MOST_COLUMNS && width <= columns;
}

/* Where a thread's texts begin, after the place. */
static size_t column_of(const plan *p, size_t thread)
{
    size_t at = 0;
    assert(thread < p->widths.len);
    if (!p->side_by_side) return INDENT * (thread < MOST_INDENTS ? thread : MOST_INDENTS);
    for (size_t i = 0; i < thread; i++) at += p->widths.data[i] + 3;
    return at;
}

static void print_names(const ft_view *view, const plan *p, ft_strbuf *out)
{
    ft_strbuf line = {0};
    ft_strbuf_printf(&line, "    %5s  %-*s", "step", (int)p->where_width, "where");
    for (size_t i = 0; i < p->finding->threads.len; i++) {
        ft_strbuf_puts(&line, i ? "   " : "  ");
        size_t before = line.len;
        ft_view_safe_text(p->finding->threads.data[i], &line);
        assert(line.len - before <= p->widths.data[i]);
        int rest = (int)(p->widths.data[i] - (line.len - before));
        if (i + 1 < p->finding->threads.len) ft_strbuf_printf(&line, "%*s", rest, "");
    }
    ft_view_paint(view, FT_PAINT_BOLD, line.text, out);
    ft_strbuf_puts(out, "\n");
    ft_strbuf_release(&line);
}

static void print_switch(const ft_view *view, const plan *p, size_t i, ft_strbuf *out)
{
    size_t thread = p->finding->steps.data[i].thread;
    ft_strbuf line = {0};
    ft_strbuf_printf(&line, "    %5s  %*s", "", (int)p->where_width, "");
    ft_strbuf_printf(&line, "  %*s%s", (int)column_of(p, thread), "", i ? "--- switch to " : "");
    ft_view_safe_text(p->finding->threads.data[thread], &line);
    ft_strbuf_puts(&line, i ? " ---" : ":");
    ft_view_paint(view, i ? FT_PAINT_YELLOW : FT_PAINT_PLAIN, line.text, out);
    ft_strbuf_puts(out, "\n");
    ft_strbuf_release(&line);
}

static void print_step(const ft_view *view, const plan *p, size_t i, ft_strbuf *out)
{
    const ft_report_step *step = &p->finding->steps.data[i];
    ft_strbuf line = {0};
    char number[24];
    snprintf(number, sizeof number, "%zu", step->number);
    ft_strbuf_printf(&line, " %s %5s  %-*s  %*s%s", step->marked ? "=>" : "  ",
                     step->label ? step->label : number, (int)p->where_width, step->where,
                     (int)column_of(p, step->thread), "", step->text);
    ft_view_paint(view, step->marked ? FT_PAINT_RED : FT_PAINT_PLAIN, line.text, out);
    ft_strbuf_puts(out, "\n");
    ft_strbuf_release(&line);
}

static size_t print_fold(const plan *p, size_t from, ft_strbuf *out)
{
    const ft_report_step *steps = p->finding->steps.data;
    size_t to = from, thread = steps[from].thread, hidden = 0;
    while (to < p->finding->steps.len && steps[to].thread == thread && !p->shown[to])
        hidden += steps[to++].count;
    assert(to > from);
    ft_strbuf_printf(out, "    %5s  %*s  %*s... %zu more steps of ", "", (int)p->where_width, "",
                     (int)column_of(p, thread), "", hidden);
    ft_view_safe_text(p->finding->threads.data[thread], out);
    ft_strbuf_puts(out, "\n");
    return to;
}

/* Behind the stretches from that one on in which no step is shown; *n: how many there are. */
static size_t pass_blind(const plan *p, size_t from, size_t *n)
{
    const ft_report_step *steps = p->finding->steps.data;
    for (*n = 0; from < p->finding->steps.len; ++*n) {
        size_t to = from;
        while (to < p->finding->steps.len && steps[to].thread == steps[from].thread) {
            if (p->shown[to]) return from;
            to++;
        }
        from = to;
    }
    return from;
}

static void name_threads(const plan *p, size_t from, size_t to, ft_strbuf *out)
{
    size_t n = p->finding->threads.len, left = 0;
    bool *there = ft_calloc(n + 1, sizeof *there);
    for (size_t i = from; i < to; i++) there[p->finding->steps.data[i].thread] = true;
    for (size_t t = 0; t < n; t++) left += there[t];
    for (size_t t = 0; t < n; t++) {
        if (!there[t]) continue;
        ft_view_safe_text(p->finding->threads.data[t], out);
        left--;
        if (left) ft_strbuf_puts(out, left > 1 ? ", " : " and ");
    }
    free(there);
}

/* Fifty folded stretches in a row are one line: each for itself says nothing. */
static void print_blind(const plan *p, size_t from, size_t to, size_t stretches, ft_strbuf *out)
{
    size_t hidden = 0;
    assert(from < to && stretches > MOST_BLIND);
    for (size_t i = from; i < to; i++) hidden += p->finding->steps.data[i].count;
    ft_strbuf_printf(out, "    %5s  ... %zu more steps of ", "", hidden);
    name_threads(p, from, to, out);
    ft_strbuf_printf(out, ", %zu context switches (--full: each)\n", stretches - 1);
}

static void print_steps(const ft_view *view, const plan *p, ft_strbuf *out)
{
    const ft_report_step *steps = p->finding->steps.data;
    if (p->side_by_side) print_names(view, p, out);
    for (size_t i = 0; i < p->finding->steps.len;) {
        size_t stretches = 0;
        bool begins = i == 0 || steps[i].thread != steps[i - 1].thread;
        size_t behind = begins && !view->full ? pass_blind(p, i, &stretches) : i;
        if (stretches > MOST_BLIND) {
            print_blind(p, i, behind, stretches, out);
            i = behind;
            continue;
        }
        bool changed = i > 0 && steps[i].thread != steps[i - 1].thread;
        if (changed || (i == 0 && !p->side_by_side)) print_switch(view, p, i, out);
        if (!p->shown[i]) {
            i = print_fold(p, i, out);
            continue;
        }
        print_step(view, p, i, out);
        i++;
    }
}

void ft_text_schedule(const ft_view *view, const ft_finding *finding, ft_strbuf *out)
{
    FT_REQUIRE(view && finding && out);
    plan p = {.finding = finding, .where_width = strlen("where")};
    p.waits = strcmp(finding->kind, "lost-wakeup") == 0;
    if (finding->steps.len == 0) return;
    p.shown = ft_calloc(finding->steps.len, sizeof *p.shown);
    fold(&p, view->full);
    measure(&p, view->columns);
    assert(p.widths.len == finding->threads.len);
    print_steps(view, &p, out);
    ft_vec_release(&p.widths);
    free(p.shown);
}
