#include "view.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { PIPE_COLUMNS = 100 };

/* ---- helpers -------------------------------------------------------------------------------- */

const char *ft_json_text(const json_t *json, const char *member, const char *otherwise)
{
    const char *text = json_string_value(json_object_get(json, member));
    return text ? text : otherwise;
}

size_t ft_json_count(const json_t *json, const char *member)
{
    json_int_t value = json_integer_value(json_object_get(json, member));
    return value > 0 ? (size_t)value : 0;
}

void ft_view_init(ft_view *view)
{
    const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
    struct winsize window = {0};
    *view = (ft_view){.columns = PIPE_COLUMNS};
    if (!isatty(STDOUT_FILENO)) return;
    view->color = !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col >= 40)
        view->columns = window.ws_col;
}

void ft_view_paint(const ft_view *view, ft_paint paint, const char *text, ft_strbuf *out)
{
    static const char *const codes[] = {
        [FT_PAINT_PLAIN] = "",
        [FT_PAINT_BOLD] = "\033[1m",
        [FT_PAINT_RED] = "\033[31m",
        [FT_PAINT_YELLOW] = "\033[33m",
    };
    bool painted = view->color && paint != FT_PAINT_PLAIN;
    if (painted) ft_strbuf_puts(out, codes[paint]);
    ft_strbuf_puts(out, text);
    if (painted) ft_strbuf_puts(out, "\033[0m");
}

void ft_view_safe_text(const char *text, ft_strbuf *out)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        ft_strbuf_add(out, c < 0x20 || c == 0x7f ? "?" : text, 1);
    }
}

char *ft_view_witness_path(const ft_view *view, size_t number)
{
    const char *slash = strrchr(view->file, '/');
    const char *base = slash ? slash + 1 : view->file;
    if (strcmp(base, "<stdin>") == 0) base = "stdin";
    ft_strbuf path = {0};
    ft_strbuf_printf(&path, "%s/", view->witness_dir);
    if (view->file_number) ft_strbuf_printf(&path, "%zu-", view->file_number);
    ft_strbuf_printf(&path, "%s.%zu.json", base, number);
    return ft_strbuf_take(&path);
}

/* ---- summary -------------------------------------------------------------------------------- */

static const struct {
    const char *check, *one, *many;
    bool always; /* said even when there are none */
} words[] = {
    {"race", "race", "races", true},
    {"atomicity", "atomicity violation", "atomicity violations", true},
    {"assertion", "assertion failure", "assertion failures", true},
    {"property", "property violation", "property violations", false},
    {"lock", "lock error", "lock errors", false},
    {"deadlock", "deadlock", "deadlocks", false},
    {"order", "order error", "order errors", false},
};
#define N_WORDS (sizeof words / sizeof words[0])

static const char *const verdict_names[] = {"violation", "safe", "bounded", "unknown", "error"};
#define N_VERDICTS (sizeof verdict_names / sizeof verdict_names[0])

static size_t total(const json_t *checks, const char *member)
{
    size_t sum = 0;
    const char *name;
    json_t *counts;
    json_object_foreach((json_t *)(uintptr_t)checks, name, counts) sum +=
        ft_json_count(counts, member);
    return sum;
}

static size_t undecided(const json_t *checks)
{
    return total(checks, "bounded") + total(checks, "unknown") + total(checks, "error") +
           total(checks, "pending");
}

ft_exit ft_view_exit(const json_t *report)
{
    const json_t *checks = json_object_get(report, "checks");
    bool done = strcmp(ft_json_text(report, "state", "done"), "done") == 0;
    if (total(checks, "violation") > 0) return FT_EXIT_FINDINGS;
    return !done || undecided(checks) > 0 ? FT_EXIT_INCOMPLETE : FT_EXIT_CLEAN;
}

/* check NULL: of every check. */
static size_t count_observed(const json_t *report, const char *check)
{
    size_t index, sum = 0;
    json_t *record;
    json_array_foreach(json_object_get(report, "findings"), index, record)
    {
        bool is = (!check || strcmp(ft_json_text(record, "check", ""), check) == 0) &&
                  strcmp(ft_json_text(record, "status", ""), "observed") == 0;
        if (is) sum += ft_json_count(record, "count");
    }
    return sum;
}

/* "2 races, 1 atomicity violation predicted": what of each check is predicted, or observed. */
static void say_findings(const json_t *report, bool observed, ft_strbuf *out)
{
    const json_t *checks = json_object_get(report, "checks");
    const char *separator = out->len ? "; " : "";
    size_t said = out->len;
    bool zeros = !observed && count_observed(report, NULL) == 0;
    for (size_t i = 0; i < N_WORDS; i++) {
        const json_t *counts = json_object_get(checks, words[i].check);
        size_t seen = count_observed(report, words[i].check);
        size_t all = ft_json_count(counts, "violation");
        size_t number = observed ? seen : all > seen ? all - seen : 0;
        if (!counts || (number == 0 && !(zeros && words[i].always))) continue;
        ft_strbuf_printf(out, "%s%zu %s", separator, number,
                         number == 1 ? words[i].one : words[i].many);
        separator = ", ";
    }
    bool possible = strcmp(ft_json_text(report, "model", ""), "control") == 0;
    const char *status = observed ? " observed" : possible ? " possible" : " predicted";
    if (out->len > said) ft_strbuf_puts(out, status);
}

static void say_counts(const json_t *report, ft_strbuf *out)
{
    const json_t *checks = json_object_get(report, "checks");
    size_t candidates = total(checks, "candidates");
    ft_strbuf_printf(out, "(model %s, %zu candidate%s", ft_json_text(report, "model", "unknown"),
                     candidates, candidates == 1 ? "" : "s");
    const char *separator = ": ";
    for (size_t i = 0; i < N_VERDICTS; i++) {
        size_t number = total(checks, verdict_names[i]);
        if (!number) continue;
        ft_strbuf_printf(out, "%s%zu %s%s", separator, number, verdict_names[i],
                         i == 0 && number != 1 ? "s" : "");
        separator = ", ";
    }
    size_t pending = total(checks, "pending");
    if (pending) ft_strbuf_printf(out, "%s%zu pending", separator, pending);
    ft_strbuf_puts(out, ")");
}

void ft_view_summary(const ft_view *view, const json_t *report, ft_strbuf *out)
{
    const json_t *checks = json_object_get(report, "checks");
    const char *state = ft_json_text(report, "state", "done");
    ft_strbuf found = {0}, line = {0};
    if (total(checks, "violation") > 0) {
        say_findings(report, false, &found);
        say_findings(report, true, &found);
    } else {
        ft_strbuf_puts(&found, undecided(checks) ? "nothing found, not everything decided,"
                                                 : "no findings");
    }
    ft_strbuf_puts(&line, "foretell: ");
    ft_strbuf_puts(&line, found.text);
    ft_strbuf_puts(&line, " in ");
    ft_view_safe_text(view->file, &line);
    ft_strbuf_puts(&line, " ");
    say_counts(report, &line);
    if (strcmp(state, "done") != 0) ft_strbuf_printf(&line, ", job %s", state);
    ft_view_paint(view, FT_PAINT_BOLD, line.text, out);
    ft_strbuf_puts(out, "\n");
    ft_strbuf_release(&found);
    ft_strbuf_release(&line);
}

/* ---- findings ------------------------------------------------------------------------------- */

static void head(const ft_view *view, const json_t *record, size_t number, ft_strbuf *out)
{
    ft_strbuf line = {0};
    const char *object = ft_json_text(record, "object", NULL);
    const char *name = ft_json_text(record, "name", NULL);
    const char *check = ft_json_text(record, "check", "finding");
    const char *kind = ft_json_text(record, "kind", check);
    ft_strbuf_printf(&line, "[%zu] %s", number, check);
    if (strcmp(kind, check) != 0) ft_strbuf_printf(&line, ", %s", kind);
    if (name) {
        ft_strbuf_puts(&line, ", ");
        ft_view_safe_text(name, &line);
    }
    if (object) {
        ft_strbuf_puts(&line, ", on ");
        ft_view_safe_text(object, &line);
    }
    ft_strbuf_printf(&line, " (%s)", ft_json_text(record, "status", "predicted"));
    ft_view_paint(view, FT_PAINT_BOLD, line.text, out);
    ft_strbuf_puts(out, "\n");
    ft_strbuf_release(&line);
}

static void locks(const json_t *access, ft_strbuf *out)
{
    const json_t *held = json_object_get(access, "locks");
    if (json_array_size(held) == 0) {
        ft_strbuf_puts(out, "holding no lock");
        return;
    }
    ft_strbuf_puts(out, "holding ");
    for (size_t i = 0; i < json_array_size(held); i++) {
        const char *lock = json_string_value(json_array_get(held, i));
        if (i) ft_strbuf_puts(out, ", ");
        ft_view_safe_text(lock ? lock : "?", out);
    }
}

static void place(const json_t *access, ft_strbuf *out)
{
    const char *function = ft_json_text(access, "function", NULL);
    const char *location = ft_json_text(access, "location", NULL);
    if (location)
        ft_view_safe_text(location, out);
    else
        ft_strbuf_printf(out, "event %zu", ft_json_count(access, "event"));
    if (!function) return;
    ft_strbuf_puts(out, " in ");
    ft_view_safe_text(function, out);
}

enum { FIELD_THREAD, FIELD_ACCESS, FIELD_PLACE, FIELD_TEXT, FIELD_LOCKS, FIELDS };

static void fill_fields(const json_t *access, ft_strbuf fields[FIELDS])
{
    ft_view_safe_text(ft_json_text(access, "thread", "?"), &fields[FIELD_THREAD]);
    ft_view_safe_text(ft_json_text(access, "access", "?"), &fields[FIELD_ACCESS]);
    place(access, &fields[FIELD_PLACE]);
    ft_view_safe_text(ft_json_text(access, "text", ""), &fields[FIELD_TEXT]);
    locks(access, &fields[FIELD_LOCKS]);
}

static void accesses(const json_t *record, ft_strbuf *out)
{
    enum { MOST = 32 };
    const json_t *list = json_object_get(record, "accesses");
    ft_strbuf fields[MOST][FIELDS] = {0};
    size_t width[FIELDS] = {0};
    size_t count = json_array_size(list) < MOST ? json_array_size(list) : MOST;
    for (size_t i = 0; i < count; i++) {
        fill_fields(json_array_get(list, i), fields[i]);
        for (size_t f = 0; f < FIELDS; f++)
            if (fields[i][f].len > width[f]) width[f] = fields[i][f].len;
    }
    for (size_t i = 0; i < count; i++) {
        ft_strbuf_puts(out, "    ");
        for (size_t f = 0; f < FIELDS; f++) {
            bool last = f + 1 == FIELDS;
            ft_strbuf_printf(out, "%-*s%s", last ? 0 : (int)width[f], ft_strbuf_text(&fields[i][f]),
                             last ? "\n" : "  ");
            ft_strbuf_release(&fields[i][f]);
        }
    }
}

static void schedule(const ft_view *view, const json_t *record, ft_strbuf *out)
{
    const json_t *witness = json_object_get(record, "witness");
    if (!witness) return;
    const json_t *before = json_object_get(witness, "unreduced");
    size_t members = ft_json_count(witness, "members"),
           switches = ft_json_count(witness, "switches");
    ft_strbuf_printf(out, "\n  A schedule that hits it: %zu step%s, %zu context switch%s", members,
                     members == 1 ? "" : "s", switches, switches == 1 ? "" : "es");
    if (ft_json_count(before, "members") > members || ft_json_count(before, "switches") > switches)
        ft_strbuf_printf(out, " (reduced from %zu and %zu)", ft_json_count(before, "members"),
                         ft_json_count(before, "switches"));
    ft_strbuf_puts(out, "\n\n");
    ft_view_schedule(view, record, out);
    ft_strbuf_puts(out, "\n");
    ft_view_difference(witness, out);
}

static void where_witness(const ft_view *view, const json_t *record, size_t number, ft_strbuf *out)
{
    const char *finding = ft_json_text(record, "finding", NULL);
    if (!json_object_get(record, "witness")) return;
    if (view->witness_dir) {
        char *path = ft_view_witness_path(view, number);
        ft_strbuf_printf(out, "  Witness: %s (foretell verify %s %s)\n", path, path, view->file);
        free(path);
    } else if (finding && !view->private_server) {
        ft_strbuf_printf(out, "  Witness: foretell witness %s -o witness.json\n", finding);
    }
}

void ft_view_finding(const ft_view *view, const json_t *record, size_t number, ft_strbuf *out)
{
    head(view, record, number, out);
    ft_strbuf_puts(out, "  ");
    ft_view_safe_text(ft_json_text(record, "message", "(no description)"), out);
    ft_strbuf_puts(out, "\n");
    accesses(record, out);
    size_t pairs = ft_json_count(record, "pairs");
    if (pairs > 1)
        ft_strbuf_printf(out, "  One of %zu event combinations at these locations.\n", pairs);
    schedule(view, record, out);
    where_witness(view, record, number, out);
    ft_strbuf_puts(out, "\n");
}

static void other_record(const json_t *record, ft_strbuf *out)
{
    const json_t *reason = json_object_get(record, "reason");
    size_t count = ft_json_count(record, "count");
    ft_strbuf_printf(out, "%s: %s", ft_json_text(record, "verdict", "?"),
                     ft_json_text(record, "check", "?"));
    ft_strbuf_puts(out, " ");
    ft_view_safe_text(ft_json_text(record, "message", ft_json_text(record, "key", "")), out);
    if (count > 1) ft_strbuf_printf(out, " (%zu candidates)", count);
    ft_strbuf_printf(out, ": %s, ", ft_json_text(reason, "pass", "?"));
    ft_view_safe_text(ft_json_text(reason, "text", "no reason given"), out);
    ft_strbuf_puts(out, "\n");
}

static void notes(const json_t *report, ft_strbuf *out)
{
    size_t index;
    json_t *note;
    json_array_foreach(json_object_get(report, "notes"), index, note)
    {
        size_t count = ft_json_count(note, "count"), event = ft_json_count(note, "event");
        ft_strbuf_puts(out, "note: ");
        ft_view_safe_text(ft_json_text(note, "text", "?"), out);
        if (event) ft_strbuf_printf(out, " (event %zu)", event);
        if (count > 1) ft_strbuf_printf(out, " (%zu times)", count);
        ft_strbuf_puts(out, "\n");
    }
}

static void properties(const json_t *report, ft_strbuf *out)
{
    size_t index;
    json_t *property;
    json_array_foreach(json_object_get(report, "properties"), index, property)
    {
        const json_t *reason = json_object_get(property, "reason");
        ft_strbuf_puts(out, "property ");
        ft_view_safe_text(ft_json_text(property, "name", ft_json_text(property, "kind", "?")), out);
        ft_strbuf_printf(out, ": %s", ft_json_text(property, "verdict", "undecided"));
        const char *text = ft_json_text(reason, "text", NULL);
        if (text) {
            ft_strbuf_puts(out, ", ");
            ft_view_safe_text(text, out);
        }
        ft_strbuf_puts(out, "\n");
    }
}

static void body(const ft_view *view, const json_t *report, ft_strbuf *out)
{
    size_t index;
    json_t *record;
    properties(report, out);
    json_array_foreach(json_object_get(report, "undecided"), index, record)
        other_record(record, out);
    if (view->show_safe)
        json_array_foreach(json_object_get(report, "safe"), index, record)
            other_record(record, out);
    if (view->explain) ft_view_explanations(report, out);
    notes(report, out);
    if (view->private_server && !view->witness_dir &&
        json_array_size(json_object_get(report, "findings")))
        ft_strbuf_printf(out,
                         "note: --witness-dir DIR writes a witness file for each finding; "
                         "foretell verify WITNESS %s executes one\n",
                         view->file);
}

void ft_view_rest(const ft_view *view, const json_t *report, ft_strbuf *out)
{
    if (!view->quiet) body(view, report, out);
    ft_view_summary(view, report, out);
}

void ft_view_report(const ft_view *view, const json_t *report, ft_strbuf *out)
{
    size_t index;
    json_t *record;
    if (!view->quiet)
        json_array_foreach(json_object_get(report, "findings"), index, record)
            ft_view_finding(view, record, index + 1, out);
    ft_view_rest(view, report, out);
}
