/* Reports for people. A finding answers, in this order: the consequence; which thread accesses
 * what, where, with which locks; the schedule; how the observed run differed; how to reproduce it;
 * where to look at it. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "report/internal.h"

/* ---- consequence and accesses
 * ---------------------------------------------------------------------------- */

/* "[1] Data race on x (write-write, predicted)". */
static void head(const ft_view *view, const ft_finding *finding, ft_strbuf *out)
{
    ft_strbuf line = {0};
    ft_strbuf_printf(&line, "[%zu] %s (", finding->number, finding->title);
    if (strcmp(finding->kind, finding->check) != 0) ft_strbuf_printf(&line, "%s, ", finding->kind);
    ft_strbuf_puts(&line, finding->status);
    if (finding->standing != FT_STANDING_NEW)
        ft_strbuf_printf(&line, ", %s", ft_standing_name(finding->standing));
    ft_strbuf_puts(&line, ")");
    ft_view_paint(view, FT_PAINT_BOLD, line.text, out);
    ft_strbuf_puts(out, "\n");
    ft_strbuf_release(&line);
}

static void place(const ft_report_access *access, ft_strbuf *out)
{
    if (access->location)
        ft_view_safe_text(access->location, out);
    else
        ft_strbuf_printf(out, "event %zu", ft_json_count(access->json, "event"));
    if (!access->function) return;
    ft_strbuf_puts(out, " in ");
    ft_view_safe_text(access->function, out);
}

enum { FIELD_THREAD, FIELD_ACCESS, FIELD_PLACE, FIELD_TEXT, FIELD_LOCKS, FIELDS };

static void fill_fields(const ft_report_access *access, ft_strbuf fields[FIELDS])
{
    ft_view_safe_text(access->thread, &fields[FIELD_THREAD]);
    ft_view_safe_text(access->word, &fields[FIELD_ACCESS]);
    place(access, &fields[FIELD_PLACE]);
    ft_view_safe_text(access->text, &fields[FIELD_TEXT]);
    ft_strbuf_puts(&fields[FIELD_LOCKS], access->locks);
}

/* "      25 | q->size--;": the source line, below its place. */
static void source(const ft_report_access *access, ft_strbuf *out)
{
    if (!access->line) return;
    ft_strbuf_printf(out, "      %5zu | ", access->place.line);
    ft_view_safe_text(access->line, out);
    ft_strbuf_puts(out, "\n");
}

static void frames(const ft_report_access *access, ft_strbuf *out)
{
    size_t index, more = ft_json_count(access->json, "more_calls");
    json_t *frame;
    json_array_foreach((json_t *)(uintptr_t)access->stack, index, frame)
    {
        ft_strbuf_puts(out, "      called by ");
        ft_view_safe_text(ft_json_text(frame, "function", "?"), out);
        ft_strbuf_puts(out, " at ");
        ft_view_safe_text(ft_json_text(frame, "location", "?"), out);
        ft_strbuf_puts(out, "\n");
    }
    if (more) ft_strbuf_printf(out, "      and %zu more call%s\n", more, more == 1 ? "" : "s");
}

static void accesses(const ft_finding *finding, ft_strbuf *out)
{
    enum { MOST = 32 };
    ft_strbuf fields[MOST][FIELDS] = {0};
    size_t width[FIELDS] = {0};
    size_t count = finding->accesses.len < MOST ? finding->accesses.len : MOST;
    for (size_t i = 0; i < count; i++) {
        fill_fields(&finding->accesses.data[i], fields[i]);
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
        source(&finding->accesses.data[i], out);
        frames(&finding->accesses.data[i], out);
    }
}

static bool is_first_of_thread(const ft_finding *finding, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (strcmp(finding->accesses.data[i].thread, finding->accesses.data[at].thread) == 0)
            return false;
    return true;
}

static void creations(const ft_finding *finding, ft_strbuf *out)
{
    for (size_t i = 0; i < finding->accesses.len; i++) {
        const ft_report_access *access = &finding->accesses.data[i];
        if (!access->created || !is_first_of_thread(finding, i)) continue;
        ft_strbuf_puts(out, "    ");
        ft_view_safe_text(access->thread, out);
        ft_strbuf_printf(out, " was %s\n", access->created);
    }
}

/* The values that a program read, on top of its schedule. */
static void inputs(const ft_finding *finding, ft_strbuf *out)
{
    enum { MOST = 20 };
    size_t index;
    json_t *input;
    const json_t *all = json_object_get(json_object_get(finding->record, "witness"), "inputs");
    if (json_array_size(all)) ft_strbuf_puts(out, "\n  Inputs:");
    json_array_foreach((json_t *)(uintptr_t)all, index, input)
    {
        if (index == MOST) break;
        ft_strbuf_puts(out, index ? ", " : " ");
        ft_view_safe_text(ft_json_text(input, "name", "?"), out);
        ft_strbuf_puts(out, " = ");
        ft_view_safe_text(ft_json_text(input, "value", "?"), out);
    }
    if (json_array_size(all) > MOST)
        ft_strbuf_printf(out, " and %zu more", json_array_size(all) - MOST);
    if (json_array_size(all)) ft_strbuf_puts(out, "\n");
}

/* Time limits that pass in the schedule. */
static void limits(const ft_finding *finding, ft_strbuf *out)
{
    size_t index;
    json_t *limit;
    json_array_foreach(json_object_get(finding->record, "limits"), index, limit)
    {
        ft_strbuf_puts(out, "  It needs ");
        ft_view_safe_text(json_string_value(limit) ? json_string_value(limit) : "?", out);
        ft_strbuf_puts(out, " to pass before another thread goes on.\n");
    }
}

/* The other threads that wait when the schedule has ended. */
static void others(const ft_finding *finding, ft_strbuf *out)
{
    size_t index;
    json_t *waiter;
    json_array_foreach(json_object_get(finding->record, "also_waiting"), index, waiter)
    {
        const char *function = ft_json_text(waiter, "function", NULL);
        ft_strbuf_puts(out, "    also waiting: ");
        ft_view_safe_text(ft_json_text(waiter, "thread", "?"), out);
        ft_strbuf_puts(out, "  ");
        ft_view_safe_text(ft_json_text(waiter, "text", "?"), out);
        ft_strbuf_puts(out, "  ");
        ft_view_safe_text(ft_json_text(waiter, "location", "at an unknown place"), out);
        if (function) ft_strbuf_puts(out, " in ");
        if (function) ft_view_safe_text(function, out);
        ft_strbuf_puts(out, "\n");
    }
}

/* ---- the schedule and what to do with it ----------------------------------------------------- */

static void schedule(const ft_view *view, const ft_finding *finding, ft_strbuf *out)
{
    const json_t *witness = json_object_get(finding->record, "witness");
    if (!witness) return;
    inputs(finding, out);
    const json_t *before = json_object_get(witness, "unreduced");
    size_t members = ft_json_count(witness, "members"),
           switches = ft_json_count(witness, "switches");
    ft_strbuf_printf(out, "\n  A schedule that hits it: %zu step%s, %zu context switch%s", members,
                     members == 1 ? "" : "s", switches, switches == 1 ? "" : "es");
    if (ft_json_count(before, "members") > members || ft_json_count(before, "switches") > switches)
        ft_strbuf_printf(out, " (reduced from %zu and %zu)", ft_json_count(before, "members"),
                         ft_json_count(before, "switches"));
    ft_strbuf_puts(out, "\n\n");
    ft_text_schedule(view, finding, out);
    ft_strbuf_puts(out, "\n");
    if (*finding->difference)
        ft_strbuf_printf(out, "  The observed run differs: %s\n", finding->difference);
}

/* The command has words for the two files, known here or not. */
static void replay(const ft_finding *finding, const char *witness, const char *trace,
                   ft_strbuf *out)
{
    static const char words[] = "foretell replay WITNESS TRACE ";
    const char *command = ft_json_text(finding->record, "replay", NULL);
    if (!command) return;
    ft_strbuf_puts(out, "  Replay: ");
    if (witness && strncmp(command, words, sizeof words - 1) == 0) {
        ft_strbuf_printf(out, "foretell replay %s %s ", witness, trace);
        command += sizeof words - 1;
    }
    ft_view_safe_text(command, out);
    ft_strbuf_puts(out, "\n");
}

static void reproduce(const ft_view *view, const ft_finding *finding, const char *file,
                      ft_strbuf *out)
{
    bool fetched = finding->id && !view->private_server;
    char *path = view->witness_dir ? ft_view_witness_path(view, file, finding->number) : NULL;
    replay(finding, path, file, out);
    if (json_object_get(finding->record, "witness")) {
        if (path)
            ft_strbuf_printf(out, "  Reproduce: foretell verify %s %s\n", path, file);
        else if (fetched)
            ft_strbuf_printf(out,
                             "  Reproduce: foretell witness %s -o witness.json; "
                             "foretell verify witness.json\n",
                             finding->id);
    }
    free(path);
}

static void look(const ft_view *view, const ft_finding *finding, ft_strbuf *out)
{
    if (!finding->id || view->private_server) return;
    if (view->server)
        ft_strbuf_printf(out, "  Look: %s/#/findings/%s\n", view->server, finding->id);
}

static void print_finding(const ft_view *view, const ft_report *report, const ft_finding *finding,
                          ft_strbuf *out)
{
    head(view, finding, out);
    ft_strbuf_printf(out, "  %s\n  ", finding->danger);
    ft_view_safe_text(finding->message, out);
    ft_strbuf_puts(out, "\n");
    accesses(finding, out);
    others(finding, out);
    limits(finding, out);
    creations(finding, out);
    size_t pairs = ft_json_count(finding->record, "pairs");
    if (pairs > 1)
        ft_strbuf_printf(out, "  One of %zu event combinations at these locations.\n", pairs);
    if (finding->why)
        ft_strbuf_printf(out, "  It is %s: %s\n", ft_standing_name(finding->standing),
                         finding->why);
    schedule(view, finding, out);
    reproduce(view, finding, report->parts.data[finding->part].file, out);
    look(view, finding, out);
    if (*finding->fingerprint) ft_strbuf_printf(out, "  Fingerprint: %s\n", finding->fingerprint);
    ft_strbuf_puts(out, "\n");
}

void ft_report_finding_text(const ft_report *report, const ft_finding *finding, const ft_view *view,
                            ft_strbuf *out)
{
    print_finding(view, report, finding, out);
}

static void print_hidden(const ft_finding *finding, ft_strbuf *out)
{
    if (finding->group != finding->number)
        ft_strbuf_printf(out, "[%zu] the same as [%zu]: ", finding->number, finding->group);
    else if (finding->elsewhere)
        ft_strbuf_printf(out, "[%zu] the same as %s: ", finding->number, finding->elsewhere);
    else
        ft_strbuf_printf(out, "%s: ", ft_standing_name(finding->standing));
    ft_finding_brief(finding, out);
    if (finding->why) ft_strbuf_printf(out, " (%s)", finding->why);
    ft_strbuf_puts(out, "\n");
}

/* ---- the rest -------------------------------------------------------------------------------- */

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

enum { ALIKE = 3 }; /* undecided records of one reason that are listed one by one */

typedef struct alike {
    FT_VEC(uint32_t) reasons; /* of each record */
    FT_VEC(size_t) counts;    /* of each reason */
} alike;

static void number_reasons(json_t *records, alike *a)
{
    ft_intern names = {0};
    size_t index;
    json_t *record;
    json_array_foreach(records, index, record)
    {
        ft_strbuf name = {0};
        ft_strbuf_printf(&name, "%s %s %s", ft_json_text(record, "verdict", "?"),
                         ft_json_text(record, "check", "?"),
                         ft_json_text(json_object_get(record, "reason"), "text", "?"));
        uint32_t id = ft_intern_add(&names, name.text, name.len);
        ft_strbuf_release(&name);
        if (id == a->counts.len) ft_vec_push(&a->counts, 0);
        a->counts.data[id]++;
        ft_vec_push(&a->reasons, id);
    }
    ft_intern_release(&names);
}

/* Undecided candidates with the same reason are one line: a budget that runs out leaves hundreds.
 */
static void undecided(const ft_view *view, json_t *records, ft_strbuf *out)
{
    alike a = {0};
    bool each = view->explain || view->full;
    size_t index;
    json_t *record;
    number_reasons(records, &a);
    json_array_foreach(records, index, record)
    {
        size_t *count = &a.counts.data[a.reasons.data[index]];
        if (*count == 0) continue;
        other_record(record, out);
        if (each || *count <= ALIKE) continue;
        ft_strbuf_printf(out, "%s: %s, %zu more for the same reason (--explain lists them)\n",
                         ft_json_text(record, "verdict", "?"), ft_json_text(record, "check", "?"),
                         *count - 1);
        *count = 0;
    }
    ft_vec_release(&a.reasons);
    ft_vec_release(&a.counts);
}

/* Does the record stand for all that an exploration did not find? */
static bool is_rest(const json_t *record)
{
    static const char END[] = "|rest";
    const char *key = ft_json_text(record, "key", "");
    size_t n = strlen(key);
    return n >= sizeof END - 1 && strcmp(key + n - (sizeof END - 1), END) == 0;
}

/* How to decide candidates that ran out of time or memory. */
static void advice(const json_t *report, ft_strbuf *out)
{
    static const char *const WIDER[] = {"maximal", "ctp"};
    const char *model = ft_json_text(report, "model", "");
    bool ran_out = false, wider = false, explored = false;
    size_t index;
    json_t *record;
    json_array_foreach(json_object_get(report, "undecided"), index, record)
    {
        const json_t *reason = json_object_get(record, "reason");
        bool late = strcmp(ft_json_text(reason, "pass", ""), "budget") == 0;
        ran_out |= late && !is_rest(record);
        explored |= late && is_rest(record);
    }
    if (explored)
        ft_strbuf_puts(out, "note: the other executions may be explored with more time "
                            "(--explore-budget SECONDS)\n");
    for (size_t i = 0; i < 2; i++) wider |= strcmp(model, WIDER[i]) == 0;
    if (!ran_out) return;
    ft_strbuf_puts(out,
                   "note: candidates that ran out of their budget may be decided with a larger one "
                   "(--subproblem-budget SECONDS, --memory MB)");
    if (wider) ft_strbuf_puts(out, "; --model observed takes less, but looks at fewer schedules");
    ft_strbuf_puts(out, "\n");
}

/* Runs of one program have the same notes, but for what is counted in them. */
static bool is_repeated(const ft_view *view, const char *text)
{
    if (!view->notes) return false;
    uint32_t known = view->notes->len;
    return ft_intern_add(view->notes, text, strlen(text)) < known;
}

static void notes(const ft_view *view, const json_t *report, ft_strbuf *out)
{
    size_t index;
    json_t *note;
    json_array_foreach(json_object_get(report, "notes"), index, note)
    {
        size_t count = ft_json_count(note, "count"), event = ft_json_count(note, "event");
        const char *text = ft_json_text(note, "text", "?");
        if (!ft_note_is_text(note) || is_repeated(view, text)) continue;
        ft_strbuf_puts(out, "note: ");
        ft_view_safe_text(text, out);
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

static void findings(const ft_view *view, const ft_report *report, const ft_report_part *part,
                     ft_strbuf *out)
{
    for (size_t i = part->first; i < part->first + part->count; i++) {
        const ft_finding *finding = &report->findings.data[i];
        if (finding->standing == FT_STANDING_APART && !view->full) continue;
        if (finding->elsewhere && view->folds && !view->full) continue;
        bool hidden = finding->group != finding->number || finding->elsewhere ||
                      finding->standing == FT_STANDING_SUPPRESSED ||
                      (view->only_new && finding->standing == FT_STANDING_KNOWN);
        if (!hidden || view->full)
            print_finding(view, report, finding, out);
        else
            print_hidden(finding, out);
    }
}

static void apart(const ft_report *report, const ft_report_part *part, ft_strbuf *out)
{
    size_t idle = ft_report_apart(report, part, "deadlock");
    size_t count = ft_report_standing(report, part, FT_STANDING_APART) - idle;
    if (idle)
        ft_strbuf_printf(out,
                         "note: %zu wait%s for work %s set apart: another finding lists %s as "
                         "\"also waiting\"; --apart shows and counts %s\n",
                         idle, idle == 1 ? "" : "s", idle == 1 ? "is" : "are",
                         idle == 1 ? "it" : "them", idle == 1 ? "it" : "them");
    if (!count) return;
    ft_strbuf_printf(
        out,
        "note: %zu atomicity violation%s that the program allows %s set apart: no transaction is "
        "marked; --apart shows and counts %s\n",
        count, count == 1 ? "" : "s", count == 1 ? "is" : "are", count == 1 ? "it" : "them");
}

static void body(const ft_view *view, const ft_report *report, const ft_report_part *part,
                 ft_strbuf *out)
{
    size_t index;
    json_t *record;
    if (!view->listed) findings(view, report, part, out);
    properties(part->json, out);
    undecided(view, json_object_get(part->json, "undecided"), out);
    advice(part->json, out);
    if (view->show_safe)
        json_array_foreach(json_object_get(part->json, "safe"), index, record)
            other_record(record, out);
    if (view->explain) ft_text_explanations(part->json, out);
    notes(view, part->json, out);
    if (!view->full) apart(report, part, out);
    if (view->private_server && !view->witness_dir && part->count)
        ft_strbuf_printf(out,
                         "note: --witness-dir DIR writes a witness file for each finding; "
                         "foretell verify WITNESS %s executes one\n",
                         part->file);
}

void ft_report_list(const ft_report *report, const ft_view *view, ft_strbuf *out)
{
    for (size_t i = 0; i < report->parts.len; i++)
        findings(view, report, &report->parts.data[i], out);
}

/* Everything was decided, and nothing found that is new. */
static bool is_folded(const ft_view *view, const ft_report_part *part)
{
    const json_t *checks = json_object_get(part->json, "checks");
    bool done = strcmp(ft_json_text(part->json, "state", "done"), "done") == 0;
    bool old = view->repeats || !ft_report_total(checks, "violation");
    return view->folds && done && old && !ft_report_undecided(checks);
}

void ft_render_text(const ft_report *report, const ft_view *view, ft_strbuf *out)
{
    for (size_t i = 0; i < report->notes.len && !view->quiet; i++)
        ft_strbuf_printf(out, "note: %s\n", report->notes.data[i]);
    ft_intern printed = {0};
    for (size_t i = 0; i < report->parts.len; i++) {
        ft_view each = *view;
        if (report->parts.len > 1) each.file_number = i + 1;
        if (!each.notes) each.notes = &printed;
        if (!view->quiet) body(&each, report, &report->parts.data[i], out);
        if (!is_folded(view, &report->parts.data[i])) ft_report_summary(report, i, view, out);
    }
    ft_intern_release(&printed);
    ft_report_merged(report, view, out);
}
