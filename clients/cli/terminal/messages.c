#include <stdio.h>
#include <string.h>

#include "base/contract.h"
#include "terminal.h"

ft_exit ft_exit_worse(ft_exit a, ft_exit b)
{
    static const int badness[] = {
        [FT_EXIT_CLEAN] = 0, [FT_EXIT_INCOMPLETE] = 1, [FT_EXIT_FINDINGS] = 2,
        [FT_EXIT_INPUT] = 3, [FT_EXIT_SERVER] = 4,
    };
    if (a > FT_EXIT_SERVER) return a; /* the exit code of a recorded program */
    FT_REQUIRE(b <= FT_EXIT_SERVER);
    return badness[a] >= badness[b] ? a : b;
}

void ft_print_error(const char *file, const ft_error *err)
{
    FT_REQUIRE(err->code != FT_OK && err->message[0]);
    if (ft_signals_caught()) return;
    if (!file) {
        fprintf(stderr, "foretell: %s\n", err->message);
    } else if (err->line) {
        fprintf(stderr, "%s:%llu:%llu: %s\n", file, (unsigned long long)err->line,
                (unsigned long long)(err->column ? err->column : 1), err->message);
    } else if (err->has_offset) {
        fprintf(stderr, "%s: byte %llu: %s\n", file, (unsigned long long)err->offset, err->message);
    } else {
        fprintf(stderr, "%s: %s\n", file, err->message);
    }
}

ft_exit ft_exit_of(const ft_error *err)
{
    return (ft_exit)ft_status_exit_code(err->code);
}

ft_exit ft_fail(const char *file, const ft_error *err)
{
    bool ours = ft_exit_of(err) == FT_EXIT_SERVER;
    ft_print_error(file && !ours ? ft_shown_path(file) : NULL, err);
    return ft_exit_of(err);
}

const char *ft_shown_path(const char *path)
{
    return strcmp(path, "-") == 0 ? "<stdin>" : path;
}
