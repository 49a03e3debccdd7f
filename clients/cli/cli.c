/* The program: from a command line to an exit code. */
#include "cli.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/contract.h"
#include "commands/commands.h"
#include "options/help.h"
#include "terminal/terminal.h"

static ft_exit (*const runs[FT_COMMANDS])(const ft_options *options) = {
    [FT_COMMAND_TEST] = ft_run_test,
    [FT_COMMAND_CHECK] = ft_run_check,
    [FT_COMMAND_SUBMIT] = ft_run_submit,
    [FT_COMMAND_JOBS] = ft_run_jobs,
    [FT_COMMAND_TOP] = ft_run_top,
    [FT_COMMAND_SHOW] = ft_run_show,
    [FT_COMMAND_CANCEL] = ft_run_cancel,
    [FT_COMMAND_WITNESS] = ft_run_witness,
    [FT_COMMAND_VERIFY] = ft_run_verify,
    [FT_COMMAND_CONVERT] = ft_run_convert,
    [FT_COMMAND_MERGE] = ft_run_merge,
    [FT_COMMAND_STATS] = ft_run_stats,
    [FT_COMMAND_INTERVALS] = ft_run_intervals,
    [FT_COMMAND_RECORD] = ft_run_record,
    [FT_COMMAND_REPLAY] = ft_run_replay,
    [FT_COMMAND_DIFF] = ft_run_diff,
    [FT_COMMAND_REVIEW] = ft_run_review,
    [FT_COMMAND_MANUAL] = ft_run_manual,
    [FT_COMMAND_COMPLETION] = ft_run_completion,
    [FT_COMMAND_VERSION] = ft_run_version,
    [FT_COMMAND_EXPLORE] = ft_run_explore,
    [FT_COMMAND_LOWER] = ft_run_lower,
    [FT_COMMAND_RUN] = ft_run_run,
    [FT_COMMAND_CONTEXT] = ft_run_context,
    [FT_COMMAND_COVER] = ft_run_cover,
};

static ft_exit print_overview(void)
{
    ft_strbuf text = {0};
    ft_help_overview(&text);
    fputs(ft_strbuf_text(&text), stdout);
    ft_strbuf_release(&text);
    return FT_EXIT_CLEAN;
}

static bool is_word(const char *word, const char *a, const char *b)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

static ft_exit run(const ft_options *options)
{
    FT_REQUIRE(options->command < FT_COMMANDS);
    if (!options->help) return runs[options->command](options);
    ft_strbuf help = {0};
    ft_help_command(options->command, &help);
    fputs(ft_strbuf_text(&help), stdout);
    ft_strbuf_release(&help);
    return FT_EXIT_CLEAN;
}

/* A file that is opened must not become a standard stream that the caller closed: such a stream is
 * opened in the wrong direction, so that its use is still an error. */
static void hold_standard_streams(void)
{
    static const int modes[] = {O_WRONLY, O_RDONLY, O_RDONLY};
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd]) < 0) return;
}

/* A reader that stops reading (`| head`) is not a failure. */
static bool is_reader_gone(void)
{
    struct pollfd end = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&end, 1, 0) > 0 && (end.revents & POLLERR) != 0;
}

static ft_exit end_output(ft_exit code)
{
    bool lost = fflush(stdout) != 0 || ferror(stdout);
    if (!lost || is_reader_gone() || ft_signals_caught()) return code;
    fprintf(stderr, "foretell: standard output cannot be written\n");
    return ft_exit_worse(code, FT_EXIT_INPUT);
}

int ft_cli_main(int argc, char **argv)
{
    char help[] = "--help", *of_command[] = {argv[0], argc == 3 ? argv[2] : NULL, help, NULL};
    hold_standard_streams();
    if (argc == 2 && (is_word(argv[1], "--help", "-h") || is_word(argv[1], "help", "help")))
        return (int)end_output(print_overview());
    if (argc == 2 && is_word(argv[1], "--version", "-V"))
        return (int)end_output(ft_run_version(NULL));
    if (argc == 3 && is_word(argv[1], "help", "help")) argv = of_command;
    ft_options options;
    ft_error err = FT_ERROR_INIT;
    ft_exit code = FT_EXIT_INPUT;
    ft_status status = ft_options_parse(argc, argv, &options, &err);
    if (status)
        ft_print_error(NULL, &err);
    else
        code = run(&options);
    ft_options_release(&options);
    code = end_output(code);
    ft_signals_reraise();
    return (int)code;
}
