/* Bugs that the recording rules out and the program may have. A read must return what it returned,
 * or what its thread does next is not known: a deadlock of two threads that write something between
 * their locks is not predicted. But the program can be asked: a schedule of its synchronisation
 * alone (model control) that the program follows up to the bug is one that it has.
 *
 * A thread that waited on a condition in the run may find there what it waits for in another
 * schedule, and not wait. A schedule in which it wakes without a signal (POSIX allows that) does
 * the same with the recorded steps. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/contract.h"
#include "commands.h"
#include "findings/findings.h"
#include "report/report.h"
#include "terminal/terminal.h"
#include "test.h"

enum { BUDGET = 20 }; /* seconds for looking, each time */

/* One look for candidates. */
typedef struct search {
    const char *folder;          /* of the witnesses, in the test's own */
    const char *model, *wakeups; /* NULL: the default */
    const char *why;             /* the ordinary check does not find them, for people */
    ft_check checks[3];          /* in the order in which they are tried */
    uint32_t n_checks;
} search;

static const search searches[] = {
    {.folder = "possible",
     .model = "control",
     .why = "because other values than the recorded ones are read on the way",
     .checks = {FT_CHECK_DEADLOCK, FT_CHECK_ORDER, FT_CHECK_RACE},
     .n_checks = 3},
    {.folder = "possible-without-signal",
     .wakeups = "spurious",
     .why = "because a thread waits there for a signal, which it need not do in every schedule",
     .checks = {FT_CHECK_ORDER},
     .n_checks = 1},
};
enum { SEARCHES = sizeof searches / sizeof *searches };

static bool is_asked_for(const ft_options *o, const search *s)
{
    bool any = !o->any_check;
    for (uint32_t i = 0; i < s->n_checks; i++) any |= o->checks[s->checks[i]];
    return any && !(s->wakeups && o->wakeups);
}

/* A user who chose a model, gave a baseline or asked for a document wants that alone; terms
 * say what is computed from other values. */
static bool is_wanted(const ft_options *o)
{
    bool known = o->baselines.len || o->suppressions.len || o->new_since;
    return !known && !o->no_replay && !o->model && !o->symbolic && ft_options_are_for_people(o);
}

/* The report of that check, NULL: there is none. `folder` gets the witnesses. */
static json_t *look(const ft_test *t, const search *s, char *folder)
{
    ft_options options = {.command = FT_COMMAND_CHECK,
                          .model = s->model,
                          .wakeups = s->wakeups,
                          .any_check = true,
                          .budget = BUDGET,
                          .json = true,
                          .quiet = true,
                          .witness_dir = folder,
                          .varied = t->varied,
                          .server = t->options->server,
                          .workers = t->options->workers};
    const bool *checks = t->options->checks, all = !t->options->any_check;
    char *place = ft_test_path(t, "possible.json");
    for (uint32_t i = 0; i < s->n_checks; i++)
        options.checks[s->checks[i]] = all || checks[s->checks[i]];
    options.output = place;
    for (size_t i = 0; i < t->traces.len; i++) ft_vec_push(&options.arguments, t->traces.data[i]);
    bool found = ft_run_check(&options) == FT_EXIT_FINDINGS;
    json_t *report = found ? json_load_file(place, 0, NULL) : NULL;
    unlink(place);
    free(place);
    ft_vec_release(&options.arguments);
    return report;
}

typedef struct attempts {
    ft_test *test;
    ft_view view;
    uint32_t tried, reached;
} attempts;

/* Prints the finding that the program came to. */
static void tell(attempts *a, const ft_report *report, const ft_finding *finding,
                 const char *witness, const char *said)
{
    ft_strbuf out = {0};
    ft_report_finding_text(report, finding, &a->view, &out);
    fputs(ft_strbuf_text(&out), ft_test_out(a->test));
    fprintf(ft_test_out(a->test), "%s: %s\n", witness, said);
    ft_strbuf_release(&out);
}

/* A compare-and-swap that finds another value writes nothing: standing before it is not a race.
 * Where other values are read on the way, another step may have written memory that seems
 * unwritten. */
static bool is_sure(const search *s, const ft_finding *finding)
{
    if (strcmp(finding->check, ft_check_name(FT_CHECK_ORDER)) == 0)
        return !s->model || strcmp(finding->kind, "uninitialised") != 0;
    for (size_t i = 0; i < finding->accesses.len; i++)
        if (strncmp(finding->accesses.data[i].text, "rmw ", 4) == 0) return false;
    return true;
}

/* A cycle of locks stays one; others that wait may be helped from outside, which a replay has not.
 */
static bool is_reached(const ft_test *t, const ft_finding *finding, const char *witness,
                       const char *trace, ft_strbuf *said)
{
    bool outside = false, reached = ft_test_replay(t, witness, trace, said, &outside);
    bool waits = strcmp(finding->check, ft_check_name(FT_CHECK_DEADLOCK)) == 0 &&
                 strcmp(finding->kind, "cycle") != 0;
    return reached && !(waits && outside);
}

static bool goes_on(const attempts *a)
{
    return a->tried < FT_TEST_REPLAYS && ft_test_now() < a->test->end && !ft_signals_caught();
}

/* It may take its time. */
static void say_trying(const attempts *a, const ft_finding *finding)
{
    if (a->test->options->quiet) return;
    if (!a->tried)
        fprintf(
            stderr,
            "foretell: replaying candidates that only the recorded values or waits rule out (at "
            "most %d of them, and %d seconds)\n",
            FT_TEST_REPLAYS, FT_TEST_BUDGET);
    fprintf(stderr, "foretell: replaying candidate %u: %s (%s)\n", a->tried + 1, finding->check,
            finding->kind);
}

static void attempt(attempts *a, const search *s, const ft_report *report,
                    const ft_finding *finding, const char *trace)
{
    ft_strbuf said = {0};
    char *witness = ft_view_witness_path(&a->view, trace, finding->number);
    bool stays = false;
    if (goes_on(a) && is_sure(s, finding) && ft_test_is_new(a->test, witness)) {
        say_trying(a, finding);
        a->tried++;
        stays = is_reached(a->test, finding, witness, trace, &said);
    }
    a->reached += stays;
    assert(a->reached <= a->tried && a->tried <= FT_TEST_REPLAYS);
    if (stays)
        tell(a, report, finding, witness, ft_strbuf_text(&said));
    else
        unlink(witness);
    ft_strbuf_release(&said);
    free(witness);
}

/* They are what the program did: more than possible. */
static void name_status(json_t *report)
{
    size_t p, f;
    json_t *part, *finding, *several = json_object_get(report, "reports");
    json_t *parts = several ? json_incref(several) : json_pack("[O]", report);
    json_array_foreach(parts, p, part)
    {
        json_array_foreach(json_object_get(part, "findings"), f, finding)
            json_object_set_new(finding, "status", json_string("reproduced"));
    }
    json_decref(parts);
}

static void attempt_check(attempts *a, const search *s, const ft_report *report, ft_check check)
{
    for (size_t i = 0; i < report->findings.len; i++) {
        const ft_finding *finding = &report->findings.data[i];
        assert(finding->part < report->parts.len);
        bool there = finding->part < a->test->traces.len;
        bool apart = a->test->varied || report->parts.len < 2;
        a->view.file_number = apart ? 0 : finding->part + 1;
        if (there && finding->number && strcmp(finding->check, ft_check_name(check)) == 0)
            attempt(a, s, report, finding, a->test->traces.data[finding->part]);
    }
}

static void attempt_all(attempts *a, const search *s, json_t *json, const char *folder)
{
    ft_view_init(a->test->options, &a->view);
    a->view.witness_dir = folder;
    a->view.private_server = true;
    name_status(json);
    ft_report *report = ft_report_new(json, NULL);
    for (uint32_t i = 0; i < s->n_checks; i++) attempt_check(a, s, report, s->checks[i]);
    ft_report_free(report);
}

static void search_for(attempts *a, const search *s)
{
    char *folder = ft_test_path(a->test, s->folder);
    ft_test_clear(folder);
    uint32_t before = a->reached;
    json_t *report = mkdir(folder, 0777) && errno != EEXIST ? NULL : look(a->test, s, folder);
    if (report) attempt_all(a, s, report, folder);
    if (a->reached > before)
        fprintf(ft_test_out(a->test),
                "foretell: %u more: not predicted, %s; reached by the program\n",
                a->reached - before, s->why);
    json_decref(report);
    rmdir(folder);
    free(folder);
}

uint32_t ft_test_possible(ft_test *t)
{
    if (!is_wanted(t->options) || !t->traces.len) return 0;
    attempts a = {.test = t};
    t->end = ft_test_now() + FT_TEST_BUDGET;
    for (uint32_t i = 0; i < SEARCHES; i++)
        if (is_asked_for(t->options, &searches[i]) && goes_on(&a)) search_for(&a, &searches[i]);
    if (a.tried && !a.reached && !t->options->quiet)
        fprintf(stderr, "foretell: 0 of %u such candidates reproduced in the program\n", a.tried);
    return a.reached;
}
