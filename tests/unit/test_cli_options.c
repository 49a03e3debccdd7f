/* The command line's parsing, and what its tables print. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "options/help.h"
#include "options/options.h"
#include "remote/remote.h"

#define PARSE(options, err, ...) parse(options, err, (char *[]){"foretell", __VA_ARGS__, NULL})

static ft_status parse(ft_options *options, ft_error *err, char **argv)
{
    int argc = 0;
    while (argv[argc]) argc++;
    *err = FT_ERROR_INIT;
    return ft_options_parse(argc, argv, options, err);
}

static void options_and_arguments_mix(void **state)
{
    (void)state;
    ft_options options;
    ft_error err;
    assert_int_equal(PARSE(&options, &err, "check", "a", "--model=ctp", "--check", "race,assertion",
                           "--ignore", "a.c:1", "b", "--ignore=b.c:2", "--json", "--budget", "30"),
                     FT_OK);
    assert_int_equal(options.command, FT_COMMAND_CHECK);
    assert_int_equal(options.arguments.len, 2);
    assert_string_equal(options.arguments.data[1], "b");
    assert_string_equal(options.model, "ctp");
    assert_true(options.checks[FT_CHECK_RACE] && options.checks[FT_CHECK_ASSERTION]);
    assert_false(options.checks[FT_CHECK_ATOMICITY]);
    assert_int_equal(options.ignored.len, 2);
    assert_string_equal(options.ignored.data[1], "b.c:2");
    assert_int_equal(options.budget, 30);
    assert_true(options.json);
    ft_options_release(&options);
}

static void letters_stand_together(void **state)
{
    (void)state;
    ft_options options;
    ft_error err;
    assert_int_equal(PARSE(&options, &err, "check", "-qo", "b", "-fjson", "a"), FT_OK);
    assert_true(options.quiet);
    assert_string_equal(options.output, "b");
    assert_string_equal(options.format, "json");
    assert_int_equal(options.arguments.len, 1);
    ft_options_release(&options);
}

static void dash_is_a_file_and_two_end_the_options(void **state)
{
    (void)state;
    ft_options options;
    ft_error err;
    assert_int_equal(PARSE(&options, &err, "check", "-", "--", "--json"), FT_OK);
    assert_int_equal(options.arguments.len, 2);
    assert_string_equal(options.arguments.data[0], "-");
    assert_string_equal(options.arguments.data[1], "--json");
    assert_false(options.json);
    ft_options_release(&options);
}

static void wrong_usage_names_the_word(void **state)
{
    (void)state;
    static const struct {
        const char *words[4], *named;
    } cases[] = {
        {{"chek", "a"}, "'chek'"},
        {{"check"}, "FILE..."},
        {{"jobs", "extra"}, "foretell jobs"},
        {{"show", "1", "2"}, "JOB"},
        {{"check", "--models", "ctp"}, "'--models'"},
        {{"check", "--model", "sequential", "a"}, "'sequential'"},
        {{"check", "--model=c", "a"}, "'c'"},
        {{"check", "--check", "race,dance", "a"}, "'dance'"},
        {{"check", "--check", "property", "a"}, "'property'"},
        {{"check", "--budget", "0", "a"}, "--budget"},
        {{"check", "--budget", "-3", "a"}, "'-3'"},
        {{"check", "--memory", "0", "a"}, "--memory"},
        {{"check", "--memory", "1G", "a"}, "'1G'"},
        {{"jobs", "--memory", "100"}, "'--memory'"},
        {{"check", "--budget", "3s", "a"}, "'3s'"},
        {{"check", "--budget", "99999999999", "a"}, "--budget"},
        {{"check", "a", "--model"}, "--model"},
        {{"check", "--json=yes", "a"}, "--json"},
        {{"jobs", "--model", "ctp"}, "'--model'"},
        {{"check", "-z", "a"}, "'-z'"},
        {{"check", "-qz", "a"}, "'-qz'"},
        {{"check", "a", "-qo"}, "--output"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *argv[6] = {(char[]){"foretell"}};
        for (size_t w = 0; w < 4 && cases[i].words[w]; w++)
            argv[w + 1] = (char *)(uintptr_t)cases[i].words[w];
        ft_options options;
        ft_error err;
        assert_int_equal(parse(&options, &err, argv), FT_USAGE);
        if (!strstr(err.message, cases[i].named))
            fail_msg("case %zu: \"%s\" does not name %s", i, err.message, cases[i].named);
        ft_options_release(&options);
    }
}

static void help_needs_no_arguments(void **state)
{
    (void)state;
    ft_options options;
    ft_error err;
    assert_int_equal(PARSE(&options, &err, "verify", "-h"), FT_OK);
    assert_true(options.help);
    ft_options_release(&options);
}

static void every_command_has_a_help_with_examples(void **state)
{
    (void)state;
    for (unsigned c = 0; c < FT_COMMANDS; c++) {
        ft_strbuf help = {0}, example = {0};
        ft_help_command((ft_command)c, &help);
        ft_strbuf_printf(&example, "foretell %s", ft_command_name((ft_command)c));
        const char *examples = strstr(help.text, "\nExamples:\n");
        assert_non_null(examples);
        assert_non_null(strstr(examples, example.text));
        assert_non_null(strstr(help.text, "--help"));
        ft_strbuf_release(&help);
        ft_strbuf_release(&example);
    }
}

/* Running texts are broken where a terminal ends; only usages and examples are as they are. */
static void help_fits_a_terminal(void **state)
{
    (void)state;
    for (unsigned c = 0; c <= FT_COMMANDS; c++) {
        ft_strbuf help = {0};
        if (c == FT_COMMANDS)
            ft_help_overview(&help);
        else
            ft_help_command((ft_command)c, &help);
        for (const char *line = help.text; line && strncmp(line, "Examples:", 9) != 0;) {
            size_t length = strcspn(line, "\n");
            bool usage = strncmp(line, "usage:", 6) == 0;
            if (length > 80 && !usage) fail_msg("%zu columns: %.*s", length, (int)length, line);
            line = line[length] ? line + length + 1 : NULL;
        }
        ft_strbuf_release(&help);
    }
}

/* Budgets in seconds and mebibytes; what is not said is for the server to choose. */
static void budgets_of_a_job(void **state)
{
    (void)state;
    static const struct {
        const char *option, *value, *spec;
    } rows[] = {
        {"--memory", "300", "{\"memory_mb\":300}"},
        {"--budget", "30", "{\"job_ms\":30000}"},
        {"--subproblem-budget", "2", "{\"subproblem_ms\":2000}"},
        {"--name", "n", "null"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ft_options options;
        ft_error err;
        const char *file;
        json_t *spec;
        char *argv[] = {(char[]){"foretell"},
                        (char[]){"check"},
                        (char *)(uintptr_t)rows[i].option,
                        (char *)(uintptr_t)rows[i].value,
                        (char[]){"a"},
                        NULL};
        assert_int_equal(parse(&options, &err, argv), FT_OK);
        assert_int_equal(ft_job_spec(&options, &spec, &file, &err), FT_OK);
        char *text = json_dumps(json_object_get(spec, "budget"), JSON_COMPACT);
        assert_string_equal(text ? text : "null", rows[i].spec);
        free(text);
        json_decref(spec);
        ft_options_release(&options);
    }
}

/* Worst to best: 4, 2, 1, 3, 0. */
static void worse_exit_codes_win(void **state)
{
    (void)state;
    static const ft_exit worst_first[] = {FT_EXIT_SERVER, FT_EXIT_INPUT, FT_EXIT_FINDINGS,
                                          FT_EXIT_INCOMPLETE, FT_EXIT_CLEAN};
    static const int codes[] = {4, 2, 1, 3, 0};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(worst_first[i], codes[i]);
        for (size_t j = i; j < 5; j++) {
            assert_int_equal(ft_exit_worse(worst_first[i], worst_first[j]), worst_first[i]);
            assert_int_equal(ft_exit_worse(worst_first[j], worst_first[i]), worst_first[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_and_arguments_mix),
        cmocka_unit_test(letters_stand_together),
        cmocka_unit_test(dash_is_a_file_and_two_end_the_options),
        cmocka_unit_test(wrong_usage_names_the_word),
        cmocka_unit_test(help_needs_no_arguments),
        cmocka_unit_test(every_command_has_a_help_with_examples),
        cmocka_unit_test(help_fits_a_terminal),
        cmocka_unit_test(budgets_of_a_job),
        cmocka_unit_test(worse_exit_codes_win),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
