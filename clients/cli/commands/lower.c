/* Sources to a program as data. */
#include "commands.h"
#include "programs/programs.h"
#include "terminal/terminal.h"

ft_exit ft_run_lower(const ft_options *options)
{
    ft_error err = FT_ERROR_INIT;
    if (!options->output) {
        ft_error_set(&err, FT_USAGE,
                     "lower needs -o PROGRAM, the file to write (-: standard output)");
        return ft_fail(NULL, &err);
    }
    ft_status status = ft_lowering_run(options, options->output, NULL, &err);
    if (status == FT_INPUT && !err.message[0]) return FT_EXIT_INPUT; /* it has said why */
    return status ? ft_fail(NULL, &err) : FT_EXIT_CLEAN;
}
