#include "help.h"

#include <string.h>

/* Columns: of a terminal, of names and arguments in the list of commands, of an option's name. */
enum { WIDTH = 80, NAME = 10, ARGUMENTS = 16, OPTION = 24 };

/* Prints running text from column `margin` on; the caller has printed up to there. */
static void fill(const char *text, size_t margin, ft_strbuf *out)
{
    size_t column = margin;
    while (*text) {
        size_t length = strcspn(text, " ");
        if (column > margin && column + 1 + length > WIDTH) {
            ft_strbuf_printf(out, "\n%*s", (int)margin, "");
            column = margin;
        } else if (column > margin) {
            ft_strbuf_puts(out, " ");
            column++;
        }
        ft_strbuf_add(out, text, length);
        column += length;
        text += length + strspn(text + length, " ");
    }
    ft_strbuf_puts(out, "\n");
}

/* Prints a head, and its text from column `margin` on; a head that is too long ends its line. */
static void describe(const char *head, const char *text, size_t margin, ft_strbuf *out)
{
    size_t length = 2 + strlen(head);
    ft_strbuf_printf(out, "  %s", head);
    if (length < margin)
        ft_strbuf_printf(out, "%*s", (int)(margin - length), "");
    else
        ft_strbuf_printf(out, "\n%*s", (int)margin, "");
    fill(text, margin, out);
}

static void describe_command(ft_command command, ft_strbuf *out)
{
    ft_strbuf head = {0};
    ft_strbuf_printf(&head, "%-*s %s", NAME, ft_command_name(command),
                     ft_command_arguments(command));
    describe(ft_strbuf_text(&head), ft_command_line(command), 2 + NAME + 1 + ARGUMENTS + 1, out);
    ft_strbuf_release(&head);
}

static void describe_option(const ft_option_row *row, ft_strbuf *out)
{
    ft_strbuf head = {0};
    if (row->letter) ft_strbuf_printf(&head, "-%c, ", row->letter);
    ft_strbuf_printf(&head, "--%s%s%s", row->name, row->value ? " " : "",
                     row->value ? row->value : "");
    describe(ft_strbuf_text(&head), row->doc, 2 + OPTION + 1, out);
    ft_strbuf_release(&head);
}

static void describe_exits(ft_strbuf *out)
{
    int code;
    const char *meaning;
    for (size_t i = 0; (meaning = ft_exit_meaning(i, &code)); i++) {
        ft_strbuf_printf(out, "  %d  ", code);
        fill(meaning, 5, out);
    }
}

static void describe_environment(ft_strbuf *out)
{
    const char *name, *meaning;
    for (size_t i = 0; (name = ft_environment_name(i, &meaning)); i++)
        describe(name, meaning, 19, out);
}

const char *ft_help_purpose(void)
{
    return "Foretell reads one passing run of a concurrent program and predicts the bugs that "
           "other schedules of the same events hit, with a schedule for each bug.";
}

void ft_help_overview(ft_strbuf *out)
{
    ft_strbuf_puts(out, "usage: foretell COMMAND [OPTION]... [ARGUMENT]...\n\n");
    fill(ft_help_purpose(), 0, out);
    ft_strbuf_puts(out, "\nCommands:\n");
    for (unsigned i = 0; i < FT_COMMANDS; i++) describe_command((ft_command)i, out);
    ft_strbuf_puts(out, "\nExit codes:\n");
    describe_exits(out);
    ft_strbuf_puts(out, "\nEnvironment:\n");
    describe_environment(out);
    ft_strbuf_puts(out, "\nOptions and examples: foretell COMMAND --help\n");
}

static void indent(const char *lines, ft_strbuf *out)
{
    while (*lines) {
        size_t length = strcspn(lines, "\n");
        ft_strbuf_puts(out, "  ");
        ft_strbuf_add(out, lines, length);
        ft_strbuf_puts(out, "\n");
        lines += length + (lines[length] == '\n');
    }
}

void ft_help_command(ft_command command, ft_strbuf *out)
{
    ft_option_row row;
    const char *arguments = ft_command_arguments(command), *line = ft_command_line(command);
    const char *details = ft_command_details(command);
    ft_strbuf_printf(out, "usage: foretell %s [OPTION]...%s%s\n", ft_command_name(command),
                     *arguments ? " " : "", arguments);
    ft_strbuf_printf(out, "\n%c%s.\n", line[0] - 'a' + 'A', line + 1);
    if (*details) fill(details, 0, out);
    ft_strbuf_puts(out, "\nOptions:\n");
    for (size_t i = 0; ft_options_at(command, i, &row); i++) describe_option(&row, out);
    ft_strbuf_puts(out, "\nExamples:\n");
    indent(ft_command_examples(command), out);
}

/* ---- the reference ------------------------------------------------------------------------- */

static void manual_exits(ft_strbuf *out)
{
    int code;
    const char *meaning;
    ft_strbuf_puts(out, "\n## Reference: exit codes\n\n| code | meaning |\n|---|---|\n");
    for (size_t i = 0; (meaning = ft_exit_meaning(i, &code)); i++)
        ft_strbuf_printf(out, "| %d | %s |\n", code, meaning);
    ft_strbuf_puts(out, "\nOf several files the worst code counts: 4, then 2, 1, 3, 0.\n");
}

static void manual_environment(ft_strbuf *out)
{
    const char *name, *meaning;
    ft_strbuf_puts(out, "\n## Reference: environment\n\n| variable | meaning |\n|---|---|\n");
    for (size_t i = 0; (name = ft_environment_name(i, &meaning)); i++)
        ft_strbuf_printf(out, "| `%s` | %s |\n", name, meaning);
}

static void manual_command(ft_command command, ft_strbuf *out)
{
    ft_option_row row;
    const char *name = ft_command_name(command), *line = ft_command_line(command);
    const char *arguments = ft_command_arguments(command), *details = ft_command_details(command);
    ft_strbuf_printf(out, "\n### foretell %s\n\n    foretell %s [OPTION]...%s%s\n\n", name, name,
                     *arguments ? " " : "", arguments);
    ft_strbuf_printf(out, "%c%s.\n\n", line[0] - 'a' + 'A', line + 1);
    if (*details) fill(details, 0, out);
    ft_strbuf_puts(out, *details ? "\n```\n" : "```\n");
    ft_strbuf_puts(out, ft_command_examples(command));
    ft_strbuf_puts(out, "```\n\n");
    ft_strbuf list = {0};
    ft_strbuf_puts(&list, "Options:");
    for (size_t i = 0; ft_options_at(command, i, &row); i++)
        ft_strbuf_printf(&list, "%s `--%s`", i ? "," : "", row.name);
    fill(ft_strbuf_text(&list), 0, out);
    ft_strbuf_release(&list);
}

/* In a cell of a table a bar would end the cell. */
static void add_cell(const char *text, ft_strbuf *out)
{
    for (; *text; text++) {
        if (*text == '|') ft_strbuf_puts(out, "\\");
        ft_strbuf_add(out, text, 1);
    }
}

static void manual_option(const ft_option_row *row, ft_strbuf *out)
{
    const char *separator = "";
    ft_strbuf_puts(out, "| `");
    if (row->letter) ft_strbuf_printf(out, "-%c`, `", row->letter);
    ft_strbuf_printf(out, "--%s%s%s` | ", row->name, row->value ? " " : "",
                     row->value ? row->value : "");
    if (row->commands == ~0u) ft_strbuf_puts(out, "all");
    for (unsigned i = 0; i < FT_COMMANDS && row->commands != ~0u; i++) {
        if (!(row->commands >> i & 1)) continue;
        ft_strbuf_printf(out, "%s%s", separator, ft_command_name((ft_command)i));
        separator = ", ";
    }
    ft_strbuf_puts(out, " | ");
    add_cell(row->doc, out);
    ft_strbuf_puts(out, " |\n");
}

void ft_help_manual(ft_strbuf *out)
{
    ft_option_row row;
    ft_strbuf_puts(out, "## Reference: commands\n\n| command | |\n|---|---|\n");
    for (unsigned i = 0; i < FT_COMMANDS; i++)
        ft_strbuf_printf(out, "| [%s](#foretell-%s) | %s |\n", ft_command_name((ft_command)i),
                         ft_command_name((ft_command)i), ft_command_line((ft_command)i));
    for (unsigned i = 0; i < FT_COMMANDS; i++) manual_command((ft_command)i, out);
    ft_strbuf_puts(out,
                   "\n## Reference: options\n\n| option | commands | meaning |\n|---|---|---|\n");
    for (size_t i = 0; ft_options_at(FT_COMMANDS, i, &row); i++) manual_option(&row, out);
    manual_exits(out);
    manual_environment(out);
}
