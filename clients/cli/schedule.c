/* The schedule of a witness: an interleaving that a person can follow. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "view.h"

enum {
    MOST_COLUMNS = 6, /* threads side by side */
    FOLD_LEAST = 8,   /* shorter stretches are printed */
    EDGE = 2,         /* steps kept on either side of a switch */
    INDENT = 6,       /* of each further thread, where threads are not side by side */
    MOST_INDENTS = 5
};

typedef struct row {
    const json_t *step;
    size_t thread;     /* index of `names` */
    const char *label; /* of a step that comes after the last one: "race"; NULL: its number */
    bool marked;       /* one of the claim's events */
    bool shown;
    bool brief; /* one of a run's steps, of which nothing more is told: never shown */
    char *text; /* what happens, with values; NULL: brief */
    char *where;
} row;

typedef struct plan {
    FT_VEC(row) rows;
    ft_texts names; /* threads in order of appearance */
    size_t where_width;
    FT_VEC(size_t) widths; /* of the threads' columns */
} plan;

/* ---- text of a step ------------------------------------------------------------------------- */

static const char *text_of(const json_t *step, const char *member)
{
    return ft_json_text(step, member, NULL);
}

static bool is_kind(const json_t *step, const char *kind)
{
    return strcmp(ft_json_text(step, "kind", ""), kind) == 0;
}

static void add_departure(const json_t *step, ft_strbuf *out)
{
    const char *value = text_of(step, "value"), *observed = text_of(step, "observed_value");
    if (!json_is_true(json_object_get(step, "departs"))) return;
    if (observed && (!value || strcmp(value, observed) != 0)) {
        ft_strbuf_puts(out, " (observed: ");
        ft_view_safe_text(observed, out);
        ft_strbuf_puts(out, ")");
    } else {
        ft_strbuf_puts(out, " (from another write)");
    }
}

/* A plain access's text ends in the observed value: that of this schedule takes its place. */
static void plain_access(const json_t *step, const char *text, ft_strbuf *out)
{
    const char *value = text_of(step, "value"), *equals = strstr(text, " = ");
    char *stem = ft_strndup(text, value && equals ? (size_t)(equals - text) : strlen(text));
    ft_view_safe_text(stem, out);
    if (value) {
        ft_strbuf_puts(out, " = ");
        ft_view_safe_text(value, out);
    }
    free(stem);
}

static void symbolic(const json_t *step, const char *text, ft_strbuf *out)
{
    const char *value = text_of(step, "value"), *object = text_of(step, "object");
    bool reads = strcmp(ft_json_text(step, "access", ""), "read") == 0;
    ft_view_safe_text(text, out);
    if (!value || !object) return;
    ft_strbuf_puts(out, reads ? "  [read " : "  [");
    ft_view_safe_text(object, out);
    ft_strbuf_puts(out, " = ");
    ft_view_safe_text(value, out);
    ft_strbuf_puts(out, "]");
}

static char *step_text(const json_t *step)
{
    ft_strbuf out = {0};
    const char *text = ft_json_text(step, "text", ft_json_text(step, "kind", "?"));
    if (is_kind(step, "read") || is_kind(step, "write"))
        plain_access(step, text, &out);
    else
        symbolic(step, text, &out);
    add_departure(step, &out);
    return out.text ? ft_strbuf_take(&out) : ft_strdup("");
}

static char *step_where(const json_t *step)
{
    ft_strbuf out = {0};
    const char *location = text_of(step, "location");
    if (location)
        ft_view_safe_text(location, &out);
    else
        ft_strbuf_printf(&out, "event %zu", ft_json_count(step, "event"));
    return out.text ? ft_strbuf_take(&out) : ft_strdup("");
}

/* ---- rows ----------------------------------------------------------------------------------- */

static size_t thread_index(plan *rows, const char *name)
{
    for (size_t i = 0; i < rows->names.len; i++)
        if (strcmp(rows->names.data[i], name) == 0) return i;
    ft_vec_push(&rows->names, name);
    return rows->names.len - 1;
}

static bool is_claimed(const json_t *witness, const json_t *step)
{
    const json_t *events = json_object_get(json_object_get(witness, "claim"), "events");
    for (size_t i = 0; i < json_array_size(events); i++)
        if (json_equal(json_array_get(events, i), json_object_get(step, "event"))) return true;
    return false;
}

static const char *final_label(const json_t *witness)
{
    static const struct {
        const char *claim, *label;
    } labels[] = {{"race", "race"},      {"assertion", "fails"}, {"condition", "fails"},
                  {"atomicity", "then"}, {"co-enabled", "both"}, {"before", "early"}};
    const char *kind = ft_json_text(json_object_get(witness, "claim"), "kind", "");
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++)
        if (strcmp(labels[i].claim, kind) == 0) return labels[i].label;
    return "then";
}

static void add_rows(plan *rows, const json_t *witness, const char *member, const char *label)
{
    size_t index;
    json_t *step;
    json_array_foreach(json_object_get(witness, member), index, step)
    {
        row one = {.step = step, .label = label, .marked = label || is_claimed(witness, step)};
        one.thread = thread_index(rows, ft_json_text(step, "thread", "?"));
        one.brief = json_object_get(step, "until") != NULL;
        for (size_t i = ft_json_count(step, "steps"); one.brief && i > 0; i--)
            ft_vec_push(&rows->rows, one);
        if (one.brief) continue;
        one.text = step_text(step);
        one.where = step_where(step);
        ft_vec_push(&rows->rows, one);
    }
}

static void release(plan *rows)
{
    for (size_t i = 0; i < rows->rows.len; i++) {
        free(rows->rows.data[i].text);
        free(rows->rows.data[i].where);
    }
    ft_vec_release(&rows->rows);
    ft_vec_release(&rows->names);
    ft_vec_release(&rows->widths);
}

/* ---- folding -------------------------------------------------------------------------------- */

static bool departs(const row *one)
{
    return json_is_true(json_object_get(one->step, "departs"));
}

static bool is_eventful(const row *one, const char *object)
{
    const char *own = text_of(one->step, "object");
    return one->marked || departs(one) || (object && own && strcmp(own, object) == 0);
}

/* The writes that make reads depart from the observed run are what the reader looks for. */
static void show_sources(plan *rows)
{
    ft_map sources = {0};
    for (size_t i = 0; i < rows->rows.len; i++)
        if (departs(&rows->rows.data[i]))
            ft_map_put(&sources, ft_json_count(rows->rows.data[i].step, "source"), 1);
    for (size_t i = 0; i < rows->rows.len; i++)
        if (ft_map_get(&sources, ft_json_count(rows->rows.data[i].step, "event"), NULL))
            rows->rows.data[i].shown = !rows->rows.data[i].brief;
    ft_map_release(&sources);
}

/* Marks what is printed of the stretch [from, to) of one thread. */
static void show_stretch(plan *rows, size_t from, size_t to, const char *object, bool full)
{
    for (size_t i = from; i < to; i++)
        if (full || i < from + EDGE || i + EDGE >= to || is_eventful(&rows->rows.data[i], object))
            rows->rows.data[i].shown = !rows->rows.data[i].brief;
    for (size_t i = from, end; i < to; i = end) {
        end = i + 1;
        if (rows->rows.data[i].shown) continue;
        while (end < to && !rows->rows.data[end].shown) end++;
        for (size_t j = i; end - i < FOLD_LEAST && j < end; j++)
            rows->rows.data[j].shown = !rows->rows.data[j].brief;
    }
}

static void fold(plan *rows, const char *object, bool full)
{
    show_sources(rows);
    for (size_t from = 0, to; from < rows->rows.len; from = to) {
        to = from + 1;
        while (to < rows->rows.len && rows->rows.data[to].thread == rows->rows.data[from].thread)
            to++;
        show_stretch(rows, from, to, object, full);
    }
}

/* ---- layout --------------------------------------------------------------------------------- */

static void grow(size_t *width, const char *text)
{
    size_t length = strlen(text);
    if (length > *width) *width = length;
}

static void measure(plan *rows)
{
    for (size_t i = 0; i < rows->names.len; i++)
        ft_vec_push(&rows->widths, strlen(rows->names.data[i]));
    for (size_t i = 0; i < rows->rows.len; i++) {
        const row *one = &rows->rows.data[i];
        if (!one->shown) continue;
        grow(&rows->where_width, one->where);
        grow(&rows->widths.data[one->thread], one->text);
    }
}

static bool fits(const plan *rows, size_t columns)
{
    size_t width = 12 + rows->where_width;
    for (size_t i = 0; i < rows->widths.len; i++) width += rows->widths.data[i] + 3;
    return rows->names.len <= MOST_COLUMNS && width <= columns;
}

/* Where a thread's texts begin, after the place. */
static size_t column_of(const plan *rows, bool side_by_side, size_t thread)
{
    size_t at = 0;
    if (!side_by_side) return INDENT * (thread < MOST_INDENTS ? thread : MOST_INDENTS);
    for (size_t i = 0; i < thread; i++) at += rows->widths.data[i] + 3;
    return at;
}

static void print_names(const ft_view *view, const plan *rows, ft_strbuf *out)
{
    ft_strbuf line = {0};
    ft_strbuf_printf(&line, "    %5s  %-*s", "step", (int)rows->where_width, "where");
    for (size_t i = 0; i < rows->names.len; i++) {
        ft_strbuf_puts(&line, i ? "   " : "  ");
        size_t before = line.len;
        ft_view_safe_text(rows->names.data[i], &line);
        int rest = (int)(rows->widths.data[i] - (line.len - before));
        if (i + 1 < rows->names.len) ft_strbuf_printf(&line, "%*s", rest, "");
    }
    ft_view_paint(view, FT_PAINT_BOLD, line.text, out);
    ft_strbuf_puts(out, "\n");
    ft_strbuf_release(&line);
}

static void print_switch(const ft_view *view, const plan *rows, bool side_by_side, size_t i,
                         ft_strbuf *out)
{
    const row *one = &rows->rows.data[i];
    ft_strbuf line = {0};
    ft_strbuf_printf(&line, "    %5s  %*s", "", (int)rows->where_width, "");
    ft_strbuf_printf(&line, "  %*s%s", (int)column_of(rows, side_by_side, one->thread), "",
                     i ? "--- switch to " : "");
    ft_view_safe_text(rows->names.data[one->thread], &line);
    ft_strbuf_puts(&line, i ? " ---" : ":");
    ft_view_paint(view, i ? FT_PAINT_YELLOW : FT_PAINT_PLAIN, line.text, out);
    ft_strbuf_puts(out, "\n");
    ft_strbuf_release(&line);
}

static void print_row(const ft_view *view, const plan *rows, bool side_by_side, size_t i,
                      ft_strbuf *out)
{
    const row *one = &rows->rows.data[i];
    ft_strbuf line = {0};
    char number[24];
    snprintf(number, sizeof number, "%zu", i + 1);
    ft_strbuf_printf(&line, " %s %5s  %-*s  %*s%s", one->marked ? "=>" : "  ",
                     one->label ? one->label : number, (int)rows->where_width, one->where,
                     (int)column_of(rows, side_by_side, one->thread), "", one->text);
    ft_view_paint(view, one->marked ? FT_PAINT_RED : FT_PAINT_PLAIN, line.text, out);
    ft_strbuf_puts(out, "\n");
    ft_strbuf_release(&line);
}

static size_t print_fold(const plan *rows, bool side_by_side, size_t from, ft_strbuf *out)
{
    size_t to = from, thread = rows->rows.data[from].thread;
    while (to < rows->rows.len && rows->rows.data[to].thread == thread &&
           !rows->rows.data[to].shown)
        to++;
    ft_strbuf_printf(out, "    %5s  %*s  %*s... %zu more steps of ", "", (int)rows->where_width, "",
                     (int)column_of(rows, side_by_side, thread), "", to - from);
    ft_view_safe_text(rows->names.data[thread], out);
    ft_strbuf_puts(out, "\n");
    return to;
}

static void print_rows(const ft_view *view, const plan *rows, ft_strbuf *out)
{
    bool side_by_side = fits(rows, view->columns);
    if (side_by_side) print_names(view, rows, out);
    for (size_t i = 0; i < rows->rows.len;) {
        bool first = i == 0,
             changed = !first && rows->rows.data[i].thread != rows->rows.data[i - 1].thread;
        if (changed || (first && !side_by_side)) print_switch(view, rows, side_by_side, i, out);
        if (!rows->rows.data[i].shown) {
            i = print_fold(rows, side_by_side, i, out);
            continue;
        }
        print_row(view, rows, side_by_side, i, out);
        i++;
    }
}

void ft_view_schedule(const ft_view *view, const json_t *record, ft_strbuf *out)
{
    const json_t *witness = json_object_get(record, "witness");
    plan rows = {.where_width = strlen("where")};
    add_rows(&rows, witness, "steps", NULL);
    add_rows(&rows, witness, "final", final_label(witness));
    fold(&rows, text_of(record, "object"), view->full);
    measure(&rows);
    print_rows(view, &rows, out);
    release(&rows);
}

/* ---- difference from the observed run ------------------------------------------------------- */

static void name_step(const json_t *step, const char *text, ft_strbuf *out)
{
    char *where = step_where(step);
    ft_strbuf_puts(out, "\"");
    ft_view_safe_text(text, out);
    ft_strbuf_puts(out, "\" of ");
    ft_view_safe_text(ft_json_text(step, "thread", "?"), out);
    ft_strbuf_printf(out, " (%s)", where);
    free(where);
}

static void say_source(const plan *rows, const json_t *step, ft_strbuf *out)
{
    const json_t *source = json_object_get(step, "source");
    for (size_t i = 0; json_is_integer(source) && i < rows->rows.len; i++) {
        const row *one = &rows->rows.data[i];
        if (!json_equal(json_object_get(one->step, "event"), source)) continue;
        ft_strbuf_printf(out, ", which step %zu wrote", i + 1);
    }
}

static bool say_departure(const plan *rows, ft_strbuf *out)
{
    for (size_t i = 0; i < rows->rows.len; i++) {
        const json_t *step = rows->rows.data[i].step;
        const char *value = text_of(step, "value"), *observed = text_of(step, "observed_value");
        if (!departs(&rows->rows.data[i]) || !value || !observed || strcmp(value, observed) == 0)
            continue;
        ft_strbuf_puts(out, "  The observed run differs: there ");
        name_step(step, ft_json_text(step, "text", "?"), out);
        ft_strbuf_puts(out, " read ");
        ft_view_safe_text(observed, out);
        ft_strbuf_puts(out, "; here it reads ");
        ft_view_safe_text(value, out);
        say_source(rows, step, out);
        ft_strbuf_puts(out, ".\n");
        return true;
    }
    return false;
}

static bool say_order(const plan *rows, ft_strbuf *out)
{
    for (size_t i = 0; i + 1 < rows->rows.len; i++) {
        const json_t *here = rows->rows.data[i].step, *next = rows->rows.data[i + 1].step;
        if (rows->rows.data[i].brief || rows->rows.data[i + 1].brief) continue;
        if (ft_json_count(here, "event") < ft_json_count(next, "event")) continue;
        ft_strbuf_puts(out, "  The observed run differs: there ");
        name_step(next, ft_json_text(next, "text", "?"), out);
        ft_strbuf_puts(out, " came before ");
        name_step(here, ft_json_text(here, "text", "?"), out);
        ft_strbuf_puts(out, ".\n");
        return true;
    }
    return false;
}

void ft_view_difference(const json_t *witness, ft_strbuf *out)
{
    plan rows = {0};
    add_rows(&rows, witness, "steps", NULL);
    add_rows(&rows, witness, "final", "");
    if (!say_departure(&rows, out) && !say_order(&rows, out) && rows.rows.len > 0)
        ft_strbuf_puts(out, "  The steps come in the observed order; what the run did between them "
                            "is left out.\n");
    release(&rows);
}
