/* Commands that print the program's own texts. */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "options/help.h"

static ft_exit print_text(void (*write)(ft_strbuf *out))
{
    ft_strbuf text = {0};
    write(&text);
    fputs(ft_strbuf_text(&text), stdout);
    ft_strbuf_release(&text);
    return FT_EXIT_CLEAN;
}

ft_exit ft_run_manual(const ft_options *options)
{
    const char *page = options->arguments.len ? options->arguments.data[0] : "markdown";
    if (strcmp(page, "man") == 0) return print_text(ft_help_page);
    if (strcmp(page, "markdown") == 0) return print_text(ft_help_manual);
    fprintf(stderr, "foretell: '%s' is not a page: use markdown or man\n", page);
    return FT_EXIT_INPUT;
}

ft_exit ft_run_version(const ft_options *options)
{
    (void)options;
    printf("foretell %s\n", FT_VERSION);
    return FT_EXIT_CLEAN;
}
