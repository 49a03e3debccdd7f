/* The schedule of a finding: its steps, and how they differ from the observed run. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "report/internal.h"

/* ---- text of a step ------------------------------------------------------------------------- */

static const char *text_of(const json_t *step, const char *member)
{
    return ft_json_text(step, member, NULL);
}

static bool is_kind(const json_t *step, const char *kind)
{
    return strcmp(ft_json_text(step, "kind", ""), kind) == 0;
}

/* `value` or `observed_value`, as its type has it where the record says so. */
static void add_value(const json_t *step, const char *member, const char *display, ft_strbuf *out)
{
    const char *shown = text_of(step, display);
    if (shown)
        ft_view_safe_text(shown, out);
    else
        ft_view_event_text(ft_json_text(step, member, "?"), out);
}

static void add_schedule_value(const json_t *step, ft_strbuf *out)
{
    add_value(step, "value", "display_value", out);
}

static void add_observed_value(const json_t *step, ft_strbuf *out)
{
    add_value(step, "observed_value", "display_observed", out);
}

static void add_departure(const json_t *step, ft_strbuf *out)
{
    const char *value = text_of(step, "value"), *observed = text_of(step, "observed_value");
    if (!json_is_true(json_object_get(step, "departs"))) return;
    if (observed && (!value || strcmp(value, observed) != 0)) {
        ft_strbuf_puts(out, " (observed: ");
        add_observed_value(step, out);
        ft_strbuf_puts(out, ")");
    } else {
        ft_strbuf_puts(out, " (from another write)");
    }
}

/* Where the value of an access belongs in its text: behind the name in "read x (why)"; NULL: it has
 * no such place. */
static const char *place_of_value(const json_t *step, const char *text)
{
    static const char *const WORDS[] = {"read ", "write "};
    const char *object = text_of(step, "object");
    for (size_t i = 0; object && i < sizeof WORDS / sizeof *WORDS; i++) {
        const char *word = strstr(text, WORDS[i]), *name = word ? word + strlen(WORDS[i]) : NULL;
        if (name && strncmp(name, object, strlen(object)) == 0) return name + strlen(object);
    }
    return NULL;
}

static void add_clean(const json_t *step, const char *text, ft_strbuf *out)
{
    if (text_of(step, "display"))
        ft_view_safe_text(text, out);
    else
        ft_view_event_text(text, out);
}

/* One access, with its value in the schedule or in the observed run. The text of a plain one ends
 * in the latter, whose place the value takes. */
static void plain_access(const json_t *step, const char *text, bool of_run, ft_strbuf *out)
{
    const char *place = place_of_value(step, text);
    assert(!place || (place > text && place <= text + strlen(text)));
    bool known = text_of(step, of_run ? "observed_value" : "value") != NULL;
    bool valued = place && strncmp(place, " = ", 3) == 0;
    size_t length = known && place ? (size_t)(place - text) : strlen(text);
    char *stem = ft_strndup(text, length);
    add_clean(step, stem, out);
    free(stem);
    if (!known) return;
    ft_strbuf_puts(out, " = ");
    (of_run ? add_observed_value : add_schedule_value)(step, out);
    if (place && !valued) add_clean(step, place, out);
}

static bool is_plain(const json_t *step, const char *text)
{
    bool plain = is_kind(step, "read") || is_kind(step, "write");
    return plain || (is_kind(step, "assign") && place_of_value(step, text));
}

static const char *people_text(const json_t *step)
{
    return ft_json_text(step, "display",
                        ft_json_text(step, "text", ft_json_text(step, "kind", "?")));
}

static void symbolic(const json_t *step, const char *text, ft_strbuf *out)
{
    const char *value = text_of(step, "value"), *object = text_of(step, "object");
    bool reads = strcmp(ft_json_text(step, "access", ""), "read") == 0;
    add_clean(step, text, out);
    if (!value || !object) return;
    ft_strbuf_puts(out, reads ? "  [read " : "  [");
    ft_view_safe_text(object, out);
    ft_strbuf_puts(out, " = ");
    add_schedule_value(step, out);
    ft_strbuf_puts(out, "]");
}

static char *step_text(const json_t *step)
{
    ft_strbuf out = {0};
    const char *text = people_text(step);
    if (is_plain(step, text))
        plain_access(step, text, false, &out);
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

/* ---- steps ---------------------------------------------------------------------------------- */

static size_t thread_index(ft_finding *finding, const char *name)
{
    for (size_t i = 0; i < finding->threads.len; i++)
        if (strcmp(finding->threads.data[i], name) == 0) return i;
    ft_vec_push(&finding->threads, name);
    return finding->threads.len - 1;
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
                  {"atomicity", "then"}, {"co-enabled", "both"}, {"before", "early"},
                  {"deadlock", "waits"}, {"stuck", "waits"}};
    const char *kind = ft_json_text(json_object_get(witness, "claim"), "kind", "");
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++)
        if (strcmp(labels[i].claim, kind) == 0) return labels[i].label;
    return "then";
}

static void add_step(ft_finding *finding, const json_t *witness, const json_t *json,
                     const char *label, size_t number)
{
    ft_report_step step = {.json = json, .label = label, .number = number, .count = 1};
    step.thread = thread_index(finding, ft_json_text(json, "thread", "?"));
    assert(step.thread < finding->threads.len && number > 0);
    step.marked = label || is_claimed(witness, json);
    step.departs = json_is_true(json_object_get(json, "departs"));
    step.brief = json_object_get(json, "until") != NULL;
    if (step.brief) {
        step.count = ft_json_count(json, "steps");
    } else {
        step.text = step_text(json);
        step.where = step_where(json);
        ft_place_parse(text_of(json, "location"), &step.place);
    }
    ft_vec_push(&finding->steps, step);
}

static void add_steps(ft_finding *finding, const json_t *witness, const char *member,
                      const char *label)
{
    size_t index, number = 1;
    json_t *json;
    if (finding->steps.len) {
        const ft_report_step *last = &finding->steps.data[finding->steps.len - 1];
        number = last->number + last->count;
    }
    json_array_foreach(json_object_get(witness, member), index, json)
    {
        add_step(finding, witness, json, label, number);
        number += finding->steps.data[finding->steps.len - 1].count;
    }
}

/* The writes that make reads depart from the observed run are what the reader looks for. */
static void mark_sources(ft_finding *finding)
{
    ft_map sources = {0};
    for (size_t i = 0; i < finding->steps.len; i++)
        if (finding->steps.data[i].departs)
            ft_map_put(&sources, ft_json_count(finding->steps.data[i].json, "source"), 1);
    for (size_t i = 0; i < finding->steps.len; i++) {
        ft_report_step *step = &finding->steps.data[i];
        step->source =
            !step->brief && ft_map_get(&sources, ft_json_count(step->json, "event"), NULL);
    }
    ft_map_release(&sources);
}

/* ---- difference from the observed run ------------------------------------------------------- */

static void name_step(const ft_report_step *step, ft_strbuf *out)
{
    ft_strbuf_puts(out, "\"");
    const char *text = people_text(step->json);
    if (is_plain(step->json, text))
        plain_access(step->json, text, true, out);
    else
        add_clean(step->json, text, out);
    ft_strbuf_puts(out, "\" of ");
    ft_view_safe_text(ft_json_text(step->json, "thread", "?"), out);
    ft_strbuf_printf(out, " (%s)", step->where);
}

static void say_source(const ft_finding *finding, const json_t *step, ft_strbuf *out)
{
    const json_t *source = json_object_get(step, "source");
    for (size_t i = 0; json_is_integer(source) && i < finding->steps.len; i++)
        if (json_equal(json_object_get(finding->steps.data[i].json, "event"), source))
            ft_strbuf_printf(out, ", which step %zu wrote", finding->steps.data[i].number);
}

static bool say_departure(const ft_finding *finding, ft_strbuf *out)
{
    for (size_t i = 0; i < finding->steps.len; i++) {
        const ft_report_step *step = &finding->steps.data[i];
        const char *value = text_of(step->json, "value"),
                   *observed = text_of(step->json, "observed_value");
        if (!step->departs || !value || !observed || strcmp(value, observed) == 0) continue;
        ft_strbuf_puts(out, "there ");
        ft_view_safe_text(ft_json_text(step->json, "thread", "?"), out);
        ft_strbuf_printf(out, " (%s) read ", step->where);
        ft_view_safe_text(ft_json_text(step->json, "object", "it"), out);
        ft_strbuf_puts(out, " = ");
        add_observed_value(step->json, out);
        ft_strbuf_puts(out, "; here it reads ");
        add_schedule_value(step->json, out);
        say_source(finding, step->json, out);
        ft_strbuf_puts(out, ".");
        return true;
    }
    return false;
}

static bool say_order(const ft_finding *finding, ft_strbuf *out)
{
    for (size_t i = 0; i + 1 < finding->steps.len; i++) {
        const ft_report_step *here = &finding->steps.data[i], *next = here + 1;
        if (here->brief || next->brief) continue;
        if (ft_json_count(here->json, "event") < ft_json_count(next->json, "event")) continue;
        ft_strbuf_puts(out, "there ");
        name_step(next, out);
        ft_strbuf_puts(out, " came before ");
        name_step(here, out);
        ft_strbuf_puts(out, ".");
        return true;
    }
    return false;
}

/* The last step before `end` that does `word` to the finding's object; thread NULL: anybody's. */
static const ft_report_step *last_doing(const ft_finding *finding, size_t end, const char *word,
                                        const char *thread)
{
    while (end-- > 0) {
        const ft_report_step *step = &finding->steps.data[end];
        const char *text = people_text(step->json), *own = ft_json_text(step->json, "thread", "");
        size_t n = strlen(word);
        if (step->brief || strncmp(text, word, n) != 0 || text[n] != ' ') continue;
        if (finding->object && strcmp(text + n + 1, finding->object) != 0) continue;
        if (!thread || strcmp(own, thread) == 0) return step;
    }
    return NULL;
}

static void name_signal(const ft_report_step *signal, ft_strbuf *out)
{
    ft_strbuf_printf(out, "the %s of ",
                     strncmp(people_text(signal->json), "signal", 6) ? "broadcast" : "signal");
    ft_view_safe_text(ft_json_text(signal->json, "thread", "?"), out);
    ft_strbuf_printf(out, " (%s)", signal->where);
}

/* A lost wake-up: the signal comes before the wait, which it woke in the run. */
static bool say_signal(const ft_finding *finding, ft_strbuf *out)
{
    size_t n = finding->steps.len;
    if (strcmp(finding->kind, "lost-wakeup") != 0 || !n) return false;
    const char *own = ft_json_text(finding->steps.data[n - 1].json, "thread", "");
    const ft_report_step *wait = last_doing(finding, n, "cond-wait", own);
    const ft_report_step *signal = last_doing(finding, n, "signal", NULL);
    if (!signal) signal = last_doing(finding, n, "broadcast", NULL);
    if (!wait || !signal || signal > wait) return false;
    if (ft_json_count(wait->json, "event") > ft_json_count(signal->json, "event")) return false;
    ft_strbuf_puts(out, "there ");
    ft_view_safe_text(own, out);
    ft_strbuf_printf(out, " waited (%s) before ", wait->where);
    name_signal(signal, out);
    ft_strbuf_puts(out, "; here the signal comes first.");
    return true;
}

static char *difference(const ft_finding *finding)
{
    ft_strbuf out = {0};
    bool of_program = text_of(json_object_get(finding->record, "witness"), "program") != NULL;
    if (finding->steps.len && !of_program && !say_signal(finding, &out) &&
        !say_departure(finding, &out) && !say_order(finding, &out))
        ft_strbuf_puts(&out, "it has these steps in the same order, and others in between that the "
                             "violation does not need.");
    return out.text ? ft_strbuf_take(&out) : ft_strdup("");
}

void ft_finding_steps(ft_finding *finding)
{
    const json_t *witness = json_object_get(finding->record, "witness");
    add_steps(finding, witness, "steps", NULL);
    add_steps(finding, witness, "final", final_label(witness));
    mark_sources(finding);
    finding->difference = difference(finding);
}

void ft_finding_steps_release(ft_finding *finding)
{
    for (size_t i = 0; i < finding->steps.len; i++) {
        free(finding->steps.data[i].text);
        free(finding->steps.data[i].where);
        free(finding->steps.data[i].place.file);
    }
    ft_vec_release(&finding->steps);
    ft_vec_release(&finding->threads);
    free(finding->difference);
}

/* ---- what is essential ----------------------------------------------------------------------- */

static bool is_lock_step(const ft_report_step *step)
{
    static const char *const KINDS[] = {"acquire", "release", "try", "cond",
                                        "wait",    "fork",    "join"};
    const char *kind = ft_json_text(step->json, "kind", "");
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
        if (strncmp(kind, KINDS[i], strlen(KINDS[i])) == 0) return true;
    return false;
}

/* 0 is kept first. */
static unsigned rank(const ft_finding *finding, size_t i)
{
    const ft_report_step *step = &finding->steps.data[i], *all = finding->steps.data;
    const char *own = text_of(step->json, "object");
    bool first = i == 0 || all[i - 1].thread != step->thread,
         last = i + 1 == finding->steps.len || all[i + 1].thread != step->thread;
    assert(i < finding->steps.len && !step->brief);
    if (step->marked) return 0;
    if (step->departs || step->source) return 1;
    if (finding->object && own && strcmp(own, finding->object) == 0) return 2;
    if (first || last) return 3;
    return is_lock_step(step) ? 4 : 5;
}

void ft_report_essential(const ft_finding *finding, size_t most, bool *keep)
{
    size_t kept = 0;
    FT_REQUIRE(finding && keep);
    for (size_t i = 0; i < finding->steps.len; i++) keep[i] = false;
    for (unsigned wanted = 0; wanted <= 5; wanted++)
        for (size_t i = finding->steps.len; i-- > 0 && kept < most;) {
            if (keep[i] || finding->steps.data[i].brief || rank(finding, i) != wanted) continue;
            keep[i] = true;
            kept++;
        }
    assert(kept <= most && kept <= finding->steps.len);
}
