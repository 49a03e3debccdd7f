/* Covering schedules: lowers sources, asks a worker of this process, and prints the schedule set
 * and its certificates (docs/schedules.md). */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "files/files.h"
#include "findings/findings.h"
#include "programs/programs.h"
#include "recorded/recorded.h"
#include "report/certificates.h"
#include "terminal/terminal.h"

/* ---- the question ---- */

static ft_status read_file(const char *path, ft_strbuf *text, ft_error *err)
{
    enum { MOST = 256 << 20 };
    char part[65536];
    FILE *file = fopen(path, "re");
    if (!file) return ft_error_set(err, FT_USAGE, "%s cannot be read: %s", path, strerror(errno));
    for (size_t n; text->len < MOST && (n = fread(part, 1, sizeof part, file)) > 0;)
        ft_strbuf_add(text, part, n);
    bool good = !ferror(file) && text->len < MOST;
    fclose(file);
    return good ? FT_OK : ft_error_set(err, FT_USAGE, "%s cannot be read, or is too large", path);
}

static ft_status add_text(json_t *question, const char *member, const char *path,
                          const ft_strbuf *text, ft_error *err)
{
    json_t *made = json_stringn(ft_strbuf_text(text), text->len);
    if (!made) return ft_error_set(err, FT_INPUT, "%s is not a text in UTF-8", path);
    json_object_set_new(question, member, made);
    return FT_OK;
}

/* Adds the text of a file as a member. */
static ft_status add_file(json_t *question, const char *member, const char *path, ft_error *err)
{
    ft_strbuf text = {0};
    ft_status status = read_file(path, &text, err);
    if (status == FT_OK) status = add_text(question, member, path, &text, err);
    ft_strbuf_release(&text);
    return status;
}

static bool is_order(const char *word)
{
    return strcmp(word, "thread") == 0 || strcmp(word, "trace") == 0 || strcmp(word, "seed") == 0;
}

/* A set, and not a document in JSON or a recording? */
static bool is_set(const char *text)
{
    return strncmp(text, "schedules ", 10) == 0;
}

/* A document that is not a trace of Foretell's, whose first line says what it is. */
static bool is_witness(const char *text)
{
    size_t blank = strspn(text, " \t\r\n");
    const char *end = strchr(text + blank, '\n'), *word = strstr(text, "\"format\"");
    return text[blank] == '{' && !(word && (!end || word < end) && strstr(word, "\"foretell\""));
}

/* The order of a file is the text of a witness or set as it is, and that of a recording as a set.
 */
static ft_status add_file_order(json_t *question, const char *path, ft_error *err)
{
    ft_strbuf text = {0};
    ft_status status = read_file(path, &text, err);
    if (status == FT_OK && !is_set(ft_strbuf_text(&text)) && !is_witness(ft_strbuf_text(&text))) {
        ft_error own = FT_ERROR_INIT;
        ft_strbuf_clear(&text);
        status = ft_recorded_order(path, &text, &own);
        if (status != FT_OK)
            (void)ft_error_set(err, status,
                               "--order: %s is not a witness, a schedule set or a recording: %s",
                               path, own.message);
    }
    if (status == FT_OK) status = add_text(question, "prefer", path, &text, err);
    ft_strbuf_release(&text);
    return status;
}

/* --order: a word, or a file. */
static ft_status add_order(const ft_options *o, json_t *question, ft_error *err)
{
    const char *order = o->schedule_order ? o->schedule_order : o->seed ? "seed" : "thread";
    if (is_order(order)) {
        json_object_set_new(question, "order", json_string(order));
        return FT_OK;
    }
    if (access(order, F_OK) != 0)
        return ft_error_set(err, FT_USAGE,
                            "--order: '%s' is not thread, trace or seed, and there is no file of "
                            "that name",
                            order);
    return add_file_order(question, order, err);
}

static ft_status make_question(const ft_options *o, json_t *question, ft_error *err)
{
    ft_status status = add_order(o, question, err);
    json_object_set_new(question, "seed", json_integer(o->seed));
    if (o->epochs) json_object_set_new(question, "epochs", json_string(o->epochs));
    json_object_set_new(question, "prefix", json_boolean(!o->no_prefix));
    if (o->entries) json_object_set_new(question, "entries", json_integer(o->entries));
    if (o->budget) json_object_set_new(question, "seconds", json_integer(o->budget));
    if (o->smt) json_object_set_new(question, "smt", json_true());
    if (o->loops) json_object_set_new(question, "loops", json_string(o->loops));
    json_t *dynamic = json_array();
    for (size_t i = 0; i < o->dynamic.len; i++)
        json_array_append_new(dynamic, json_string(o->dynamic.data[i]));
    if (o->dynamic.len) json_object_set(question, "dynamic", dynamic);
    json_decref(dynamic);
    if (status == FT_OK && o->schedule_set)
        status = add_file(question, "set", o->schedule_set, err);
    return status;
}

/* ---- files ---- */

static ft_status write_file(const char *path, const json_t *text, ft_error *err)
{
    size_t length = json_string_length(text);
    FILE *file = strcmp(path, "-") == 0 ? stdout : fopen(path, "we");
    if (!file)
        return ft_error_set(err, FT_USAGE, "%s cannot be written: %s", path, strerror(errno));
    bool good = fwrite(json_string_value(text), 1, length, file) == length;
    if (file != stdout && fclose(file)) good = false;
    return good ? FT_OK
                : ft_error_set(err, FT_USAGE, "%s cannot be written: %s", path, strerror(errno));
}

static ft_status write_questions(const char *folder, const json_t *smt, ft_error *err)
{
    const char *name;
    json_t *text;
    ft_status status = FT_OK;
    if (mkdir(folder, 0777) && errno != EEXIST)
        return ft_error_set(err, FT_USAGE, "%s cannot be made: %s", folder, strerror(errno));
    json_object_foreach((json_t *)smt, name, text)
    {
        ft_strbuf path = {0};
        ft_strbuf_printf(&path, "%s/%s", folder, name);
        if (status == FT_OK) status = write_file(path.text, text, err);
        ft_strbuf_release(&path);
    }
    return status;
}

/* Each refuted certificate gets the name of its witness's file as "file". */
static ft_status write_witnesses(const ft_options *o, const json_t *answer, ft_error *err)
{
    size_t i, number = 0;
    json_t *failed;
    ft_view view = {.witness_dir = o->witness_dir};
    ft_status status = FT_OK;
    json_array_foreach(json_object_get(answer, "failed"), i, failed)
    {
        const json_t *witness = json_object_get(failed, "witness");
        if (!witness || status != FT_OK) continue;
        if (!number && mkdir(o->witness_dir, 0777) && errno != EEXIST)
            return ft_error_set(err, FT_USAGE, "the folder %s cannot be created: %s",
                                o->witness_dir, strerror(errno));
        char *path = ft_view_witness_path(&view, o->arguments.data[0], ++number);
        status = ft_output_json(witness, path, err);
        json_object_set_new(failed, "file", json_string(path));
        free(path);
    }
    return status;
}

/* ---- the text ---- */

static const char *member(const json_t *of, const char *name)
{
    const char *text = json_string_value(json_object_get(of, name));
    return text ? text : "";
}

static long long number(const json_t *of, const char *name)
{
    return json_integer_value(json_object_get(of, name));
}

static void print_number(long long n, const char *one, const char *more)
{
    printf("%lld %s", n, n == 1 ? one : more);
}

static void print_counts(const json_t *answer)
{
    const json_t *counts = json_object_get(answer, "counts");
    if (!counts) return;
    print_number(number(counts, "schedules"), "schedule for ", "schedules for ");
    print_number(number(counts, "entries"), "class of inputs, ", "classes of inputs, ");
    if (number(counts, "epochs") > 1) printf("in %lld epochs, ", number(counts, "epochs"));
    print_number(number(counts, "paths"), "path executed\n", "paths executed\n");
    if (json_object_get(answer, "taken")) printf("taken: %s\n", member(answer, "taken"));
    if (!number(counts, "open")) return;
    printf("inputs of ");
    print_number(number(counts, "open"), "class is", "classes are");
    printf(" not covered: %s\n", member(answer, "open"));
}

/* What is said of a certificate that is not proved, without its schedule. */
static void text_of(const json_t *failed, ft_strbuf *text)
{
    ft_strbuf_puts(text, member(failed, "text"));
    ft_certificate_inputs(failed, text);
    if (json_is_true(json_object_get(failed, "replayed"))) ft_strbuf_puts(text, " (executed)");
}

static void print_one(const json_t *failed, const char *text, long long n)
{
    bool has_schedule = json_object_get(failed, "schedule");
    printf("  %s", member(failed, "answer"));
    if (has_schedule) printf(", schedule %s", member(failed, "schedule"));
    if (n > 1) printf(has_schedule ? " and %lld more" : ", %lld times", has_schedule ? n - 1 : n);
    printf(": %s\n", text);
    if (*member(failed, "file")) printf("    witness: %s\n", member(failed, "file"));
}

/* The number of a row's text among the texts of unknown rows, which hundreds may have; FT_NO_ID: it
 * is not such a row. */
static uint32_t unknown_text(const json_t *failed, const char *check, ft_intern *texts,
                             ft_strbuf *text)
{
    ft_strbuf_clear(text);
    text_of(failed, text);
    bool counts = strcmp(member(failed, "check"), check) == 0 &&
                  strcmp(member(failed, "answer"), "unknown") == 0;
    return counts ? ft_intern_add(texts, ft_strbuf_text(text), text->len) : FT_NO_ID;
}

static void print_failed(const json_t *answer, const char *check)
{
    size_t i;
    json_t *failed, *all = json_object_get(answer, "failed");
    ft_intern texts = {0};
    ft_strbuf text = {0};
    FT_VEC(long long) counts = {0};
    json_array_foreach(all, i, failed)
    {
        uint32_t id = unknown_text(failed, check, &texts, &text);
        if (id == counts.len) ft_vec_push(&counts, 0);
        if (id != FT_NO_ID) counts.data[id]++;
    }
    json_array_foreach(all, i, failed)
    {
        if (strcmp(member(failed, "check"), check) != 0) continue;
        uint32_t id = unknown_text(failed, check, &texts, &text);
        long long n = id == FT_NO_ID ? 1 : counts.data[id];
        if (id != FT_NO_ID) counts.data[id] = 0; /* of the others nothing more is printed */
        if (n) print_one(failed, ft_strbuf_text(&text), n);
    }
    ft_vec_release(&counts);
    ft_strbuf_release(&text);
    ft_intern_release(&texts);
}

static void print_checks(const json_t *answer)
{
    size_t i;
    json_t *row;
    bool proved = json_is_true(json_object_get(answer, "proved"));
    json_array_foreach(json_object_get(answer, "checks"), i, row)
    {
        bool assertions = strcmp(member(row, "check"), "assertions") == 0;
        const char *word = member(row, "answer");
        if (assertions && strcmp(word, "proved") == 0) word = "proved under these schedules";
        printf("%-15s %s\n", member(row, "check"), word);
        print_failed(answer, member(row, "check"));
    }
    puts(proved ? "all six certificates hold: every input is covered, under the assumptions of "
                  "docs/schedules.md"
                : "not all six certificates hold: nothing is concluded from the set");
}

static ft_exit code_of(const json_t *answer)
{
    size_t i;
    json_t *row;
    ft_exit code = FT_EXIT_CLEAN;
    json_array_foreach(json_object_get(answer, "checks"), i, row)
    {
        const char *state = member(row, "answer");
        bool found = strcmp(state, "refuted") == 0 || strcmp(state, "diverges") == 0;
        if (found) code = ft_exit_worse(code, FT_EXIT_FINDINGS);
        if (strcmp(state, "unknown") == 0) code = ft_exit_worse(code, FT_EXIT_INCOMPLETE);
    }
    return code;
}

/* ---- the whole ---- */

static ft_status print(const ft_options *o, const json_t *answer, ft_error *err)
{
    ft_status status = FT_OK;
    const json_t *set = json_object_get(answer, "set");
    if (o->output) status = write_file(o->output, set, err);
    if (status == FT_OK && o->witness_dir) status = write_witnesses(o, answer, err);
    if (status == FT_OK && o->smt)
        status = write_questions(o->smt, json_object_get(answer, "smt"), err);
    if (status != FT_OK) return status;
    if (o->json) {
        json_dumpf(answer, stdout, JSON_INDENT(2));
        putchar('\n');
        return FT_OK;
    }
    if (!ft_emit_is_text(o)) return FT_OK;
    if (!o->output && !o->schedule_set) fputs(json_string_value(set), stdout);
    print_counts(answer);
    print_checks(answer);
    return FT_OK;
}

/* The formats that other commands have; *code is theirs then: known findings do not count. */
static ft_status report(const ft_options *o, const json_t *answer, ft_exit *code, const char **file,
                        ft_error *err)
{
    if (!ft_emit_is_wanted(o)) return FT_OK;
    json_t *made = ft_certificates_report(answer);
    ft_status status = ft_emit_answer(o, made, o->arguments.data[0], code, file, err);
    json_decref(made);
    return status;
}

ft_exit ft_run_cover(const ft_options *options)
{
    ft_error err = FT_ERROR_INIT;
    json_t *question = json_object(), *answer = NULL;
    const char *file = NULL;
    ft_status status = make_question(options, question, &err);
    if (status == FT_OK) {
        file = options->arguments.data[0];
        status = ft_worker_ask(options, "--cover", question, &answer, &err);
    }
    const char *wrong = json_string_value(json_object_get(answer, "error"));
    if (status == FT_OK && wrong) status = ft_error_set(&err, FT_INPUT, "%s", wrong);
    if (status == FT_OK) file = NULL;
    if (status == FT_OK) status = print(options, answer, &err);
    ft_exit code = status ? FT_EXIT_INPUT : code_of(answer);
    if (status == FT_OK) status = report(options, answer, &code, &file, &err);
    if (status && (status != FT_INPUT || err.message[0]))
        code = ft_fail(file, &err); /* else foretell-lower has said why */
    json_decref(question);
    json_decref(answer);
    return code;
}
