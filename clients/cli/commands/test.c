/* Record, check and replay, in one command. */
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/contract.h"
#include "commands.h"
#include "replay.h"
#include "terminal/terminal.h"
#include "test.h"

static const char TRACE[] = "run.ftb";

/* ---- the folder */

static ft_status make_folder(ft_test *t, ft_error *err)
{
    const char *given = t->options->output, *above = getenv("TMPDIR");
    ft_strbuf name = {0};
    if (given)
        ft_strbuf_puts(&name, given);
    else
        ft_strbuf_printf(&name, "%s/foretell-test-XXXXXX", above && *above ? above : "/tmp");
    t->folder = ft_strbuf_take(&name);
    t->temporary = !given;
    bool made = given ? !mkdir(t->folder, 0777) || errno == EEXIST : mkdtemp(t->folder) != NULL;
    if (made) return FT_OK;
    t->temporary = false;
    return ft_error_set(err, FT_USAGE, "the folder %s cannot be created: %s", t->folder,
                        strerror(errno));
}

char *ft_test_path(const ft_test *t, const char *name)
{
    ft_strbuf path = {0};
    ft_strbuf_printf(&path, "%s/%s", t->folder, name);
    return ft_strbuf_take(&path);
}

static void remove_folder(const ft_test *t)
{
    FT_REQUIRE(t->temporary); /* another folder is the user's */
    DIR *folder = opendir(t->folder);
    for (const struct dirent *one; folder && (one = readdir(folder));) {
        char *path = ft_test_path(t, one->d_name);
        if (one->d_name[0] != '.') unlink(path);
        free(path);
    }
    if (folder) closedir(folder);
    rmdir(t->folder);
}

/* ---- recording */

/* Takes the path. */
static void add_trace(ft_test *t, char *path)
{
    struct stat info;
    if (stat(path, &info) == 0)
        ft_vec_push(&t->traces, path);
    else
        free(path);
}

double ft_test_now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static char *numbered(const ft_test *t, uint32_t number)
{
    char name[32];
    snprintf(name, sizeof name, "run.%u.ftb", number);
    return ft_test_path(t, name);
}

/* Several runs, unless the user chose one. */
static bool is_varied(const ft_options *o)
{
    return !o->runs && !o->seed && !o->turn && !o->inputs_of;
}

/* Traces of an earlier test in the same folder are not this one's. */
static void remove_numbered(const ft_test *t)
{
    for (uint32_t i = 2; i <= FT_TEST_RUNS; i++) {
        char *path = numbered(t, i);
        unlink(path);
        free(path);
    }
}

/* One run that left no trace (it was not even started) says why itself. */
static ft_exit record(ft_test *t)
{
    ft_options options = *t->options;
    char *path = ft_test_path(t, TRACE);
    options.varied = t->varied;
    if (options.varied) options.runs = FT_TEST_RUNS;
    remove_numbered(t);
    options.command = FT_COMMAND_RECORD;
    options.report_follows = ft_options_are_for_people(t->options);
    options.output = path;
    options.to = NULL;
    if (!options.timeout) options.timeout = FT_TEST_TIMEOUT;
    double start = ft_test_now();
    ft_exit code = ft_run_record(&options);
    double took = ft_test_now() - start;
    if (code != FT_EXIT_CLEAN) {
        free(path);
        return code;
    }
    if (options.varied || !options.runs)
        add_trace(t, path);
    else
        free(path);
    for (uint32_t i = options.varied ? 2 : 1; i <= options.runs; i++) add_trace(t, numbered(t, i));
    t->ran = took / (t->traces.len ? (double)t->traces.len : 1);
    return code;
}

/* ---- checking */

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static ft_exit check(const ft_test *t)
{
    FT_REQUIRE(t->traces.len > 0);
    ft_options options = *t->options;
    options.command = FT_COMMAND_CHECK;
    options.output = NULL;
    options.arguments = (ft_texts){0};
    options.one_test = true;
    options.varied = t->varied;
    if (!options.witness_dir) options.witness_dir = t->folder;
    if (!options.name) options.name = base_of(t->options->arguments.data[0]);
    for (size_t i = 0; i < t->traces.len; i++) ft_vec_push(&options.arguments, t->traces.data[i]);
    ft_exit code = ft_run_check(&options);
    ft_vec_release(&options.arguments);
    return code;
}

/* ---- replaying */

/* The witness's file is named after its trace. */
static const char *trace_of(const ft_test *t, const char *witness)
{
    for (size_t i = 0; i < t->traces.len; i++)
        if (strstr(witness, base_of(t->traces.data[i]))) return t->traces.data[i];
    return NULL;
}

static int is_witness(const struct dirent *one)
{
    size_t n = strlen(one->d_name), ending = strlen(".json");
    return strstr(one->d_name, ".ftb.") && n > ending && !strcmp(one->d_name + n - ending, ".json");
}

FILE *ft_test_out(const ft_test *t)
{
    return ft_options_are_for_people(t->options) ? stdout : stderr;
}

/* Whole seconds of the budget, at least one. */
static uint32_t left(const ft_test *t)
{
    double seconds = t->end - ft_test_now();
    return seconds > 1 ? (uint32_t)seconds : 1;
}

bool ft_test_replay(const ft_test *t, const char *witness, const char *trace, ft_strbuf *said,
                    bool *outside)
{
    ft_options options = {.command = FT_COMMAND_REPLAY,
                          .before = 2,
                          .stop = true,
                          .deadline =
                              t->options->deadline ? t->options->deadline : FT_TEST_PATIENCE,
                          .timeout = left(t),
                          .live_inputs = t->options->live_inputs};
    ft_vec_push(&options.arguments, witness);
    ft_vec_push(&options.arguments, trace);
    for (size_t i = 0; i < t->options->arguments.len; i++)
        ft_vec_push(&options.arguments, t->options->arguments.data[i]);
    bool reached = ft_replay(&options, true, said, outside) == FT_EXIT_CLEAN;
    ft_options_release(&options);
    return reached;
}

static void replay(ft_test *t, const char *witness, const char *trace)
{
    ft_strbuf said = {0};
    if (!t->options->quiet)
        fprintf(stderr, "foretell: replaying %s (finding %u of at most %d, %d seconds in all)\n",
                base_of(witness), t->tried + 1, FT_TEST_REPLAYS, FT_TEST_BUDGET);
    t->tried++;
    t->reached += ft_test_replay(t, witness, trace, &said, NULL);
    assert(t->reached <= t->tried && t->tried <= FT_TEST_REPLAYS);
    if (said.len && !t->options->quiet)
        fprintf(ft_test_out(t), "%s: %s\n", base_of(witness), ft_strbuf_text(&said));
    ft_strbuf_release(&said);
}

static int by_text(const void *a, const void *b)
{
    const char *const *one = a, *const *other = b;
    return strcmp(*one, *other);
}

/* The finding's kind and place: other runs have it too, in any order, and one replay suffices. */
static char *place_of(const char *witness)
{
    json_t *json = json_load_file(witness, 0, NULL), *event;
    const char *kind = "", *location;
    size_t i;
    ft_strbuf place = {0};
    ft_texts locations = {0};
    json_unpack(json, "{s:{s:s}}", "claim", "kind", &kind);
    ft_strbuf_puts(&place, kind);
    json_array_foreach(json_object_get(json, "final"), i, event)
    {
        location = json_string_value(json_object_get(event, "location"));
        ft_vec_push(&locations, location ? location : "?");
    }
    if (locations.len) qsort(locations.data, locations.len, sizeof *locations.data, by_text);
    for (i = 0; i < locations.len; i++) ft_strbuf_printf(&place, " %s", locations.data[i]);
    ft_vec_release(&locations);
    json_decref(json);
    return ft_strbuf_take(&place);
}

bool ft_test_is_new(ft_test *t, const char *witness)
{
    char *place = place_of(witness);
    for (size_t i = 0; i < t->places.len; i++) {
        if (strcmp(t->places.data[i], place) != 0) continue;
        free(place);
        return false;
    }
    ft_vec_push(&t->places, place);
    return true;
}

/* A run that failed is repeated by its seed; nothing more comes of its schedule. */
static bool is_failure(const char *witness)
{
    json_t *json = json_load_file(witness, 0, NULL);
    const char *kind = "";
    json_unpack(json, "{s:{s:s}}", "claim", "kind", &kind);
    bool failure = !strcmp(kind, ft_check_name(FT_CHECK_FAILURE));
    json_decref(json);
    return failure;
}

/* True: it was one too many. */
static bool replay_new(ft_test *t, const char *witness, const char *trace)
{
    if (ft_signals_caught() || is_failure(witness)) return false;
    if (!ft_test_is_new(t, witness)) {
        t->skipped |= !t->varied; /* the report has it once */
        return false;
    }
    if (t->tried == FT_TEST_REPLAYS || ft_test_now() >= t->end) return true;
    replay(t, witness, trace);
    return false;
}

/* Those of one trace, in their order. Returns how many there was no time for. */
static int replay_trace(ft_test *t, const char *folder, const char *trace)
{
    struct dirent **found = NULL;
    int n = scandir(folder, &found, is_witness, versionsort), more = 0;
    for (int i = 0; i < n; i++) {
        ft_strbuf path = {0};
        ft_strbuf_printf(&path, "%s/%s", folder, found[i]->d_name);
        if (trace_of(t, found[i]->d_name) == trace)
            more += replay_new(t, ft_strbuf_text(&path), trace);
        ft_strbuf_release(&path);
        free(found[i]);
    }
    free(found);
    return more;
}

static void replay_all(ft_test *t)
{
    const char *folder = t->options->witness_dir ? t->options->witness_dir : t->folder;
    int more = 0;
    t->end = ft_test_now() + FT_TEST_BUDGET;
    for (size_t i = 0; i < t->traces.len; i++) more += replay_trace(t, folder, t->traces.data[i]);
    if (!t->tried) return;
    fprintf(ft_test_out(t), "foretell: %u of %u findings reproduced in the program", t->reached,
            t->tried);
    if (t->skipped)
        fputs("; of the findings of one kind at the same locations, one was replayed",
              ft_test_out(t));
    if (more)
        fprintf(ft_test_out(t),
                "; %d more were not tried: foretell replay WITNESS TRACE -- PROGRAM", more);
    fputs("\n", ft_test_out(t));
}

/* ---- all of it */

void ft_test_clear(const char *folder)
{
    struct dirent **found = NULL;
    int n = scandir(folder, &found, is_witness, NULL);
    for (int i = 0; i < n; i++) {
        ft_strbuf path = {0};
        ft_strbuf_printf(&path, "%s/%s", folder, found[i]->d_name);
        unlink(path.text);
        ft_strbuf_release(&path);
        free(found[i]);
    }
    free(found);
}

ft_exit ft_run_test(const ft_options *options)
{
    ft_error err = FT_ERROR_INIT;
    ft_test t = {.options = options, .varied = is_varied(options)};
    if (options->explore_seconds == 1 && (options->oracle || options->deterministic)) {
        ft_error_set(
            &err, FT_USAGE,
            "--oracle and --deterministic are for explored runs, and --explore 0 has none");
        return ft_fail(NULL, &err);
    }
    if (make_folder(&t, &err)) {
        ft_print_error(NULL, &err);
        free(t.folder);
        return ft_exit_of(&err);
    }
    if (!options->witness_dir) ft_test_clear(t.folder);
    off_t input = lseek(STDIN_FILENO, 0, SEEK_CUR);
    ft_exit code = record(&t);
    if (input >= 0) lseek(STDIN_FILENO, input, SEEK_SET); /* explored runs read it from there too */
    if (code == FT_EXIT_CLEAN) ft_test_explore(&t, t.ran);
    if (code == FT_EXIT_CLEAN && !ft_signals_caught()) code = check(&t);
    bool found = code == FT_EXIT_FINDINGS;
    if (found && !options->no_replay) replay_all(&t);
    bool checked = found || code == FT_EXIT_CLEAN;
    if (checked && !ft_signals_caught() && ft_test_possible(&t)) code = FT_EXIT_FINDINGS;
    found = code == FT_EXIT_FINDINGS;
    if (checked) ft_test_print_explored(&t);
    if (t.temporary && !found) remove_folder(&t);
    for (size_t i = 0; i < t.traces.len; i++) free(t.traces.data[i]);
    for (size_t i = 0; i < t.places.len; i++) free(t.places.data[i]);
    ft_vec_release(&t.traces);
    ft_vec_release(&t.places);
    free(t.explored);
    free(t.folder);
    return code;
}
