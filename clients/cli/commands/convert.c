/* Rewrites a trace in another format. */
#include "commands.h"
#include "files/files.h"
#include "terminal/terminal.h"

ft_exit ft_run_convert(const ft_options *options)
{
    ft_error err = FT_ERROR_INIT;
    const char *in = options->arguments.data[0], *out = "-";
    ft_trace_writer write;
    ft_trace *trace = NULL;
    if (options->arguments.len > 1 && options->output) {
        ft_error_set(&err, FT_USAGE, "the output is given twice, as OUT and with -o: give one");
        return ft_fail(NULL, &err);
    }
    if (options->arguments.len > 1) out = options->arguments.data[1];
    if (options->output) out = options->output;
    if (ft_output_choose(options->to, out, NULL, &write, &err)) return ft_fail(NULL, &err);
    if (ft_input_trace(in, &trace, NULL, &err)) return ft_fail(in, &err);
    ft_status status = ft_output_trace(trace, write, out, &err);
    ft_trace_free(trace);
    return status ? ft_fail(NULL, &err) : FT_EXIT_CLEAN;
}
