#include <stdlib.h>

#include "base/contract.h"
#include "commands.h"
#include "files/files.h"
#include "terminal/terminal.h"
#include "trace/merge.h"

/* Reads all inputs; how many were read stands in *n. */
static ft_exit read_all(const ft_options *options, ft_trace **traces, uint32_t *n)
{
    for (*n = 0; *n < options->arguments.len; ++*n) {
        ft_error err = FT_ERROR_INIT;
        const char *path = options->arguments.data[*n];
        if (ft_input_trace(path, &traces[*n], NULL, &err)) return ft_fail(path, &err);
    }
    return FT_EXIT_CLEAN;
}

ft_exit ft_run_merge(const ft_options *options)
{
    ft_error err = FT_ERROR_INIT;
    const char *out = options->output ? options->output : "-";
    ft_trace_writer write;
    if (ft_output_choose(options->to, out, "ndjson", &write, &err)) return ft_fail(NULL, &err);
    ft_trace **traces = ft_calloc(options->arguments.len, sizeof(ft_trace *)), *merged = NULL;
    uint32_t n;
    ft_exit code = read_all(options, traces, &n);
    if (code == FT_EXIT_CLEAN) {
        assert(n == options->arguments.len && n >= 2);
        if (ft_trace_merge((const ft_trace *const *)traces, options->arguments.data, n, &merged,
                           &err) ||
            ft_output_trace(merged, write, out, &err))
            code = ft_fail(NULL, &err);
    }
    for (uint32_t i = 0; i < n; i++) ft_trace_free(traces[i]);
    ft_trace_free(merged);
    free(traces);
    return code;
}
