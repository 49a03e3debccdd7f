#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "maker/maker.h"
#include "maker/raw_log.h"
#include "output.h"
#include "program.h"
#include "signals.h"

enum { MANY = 100000, MIB = 1 << 20, DEFAULT_LIMIT = 4096, DEFAULT_TURN = 1000 };

static ft_exit fail(const char *file, const ft_error *err)
{
    ft_print_error(file, err);
    return ft_exit_of(err);
}

/* ---- the log */

static ft_raw_header header_of(const ft_options *options)
{
    ft_raw_header header = {
        .limit = (uint64_t)(options->limit ? options->limit : DEFAULT_LIMIT) * MIB,
        .seed = options->seed,
        .turn = options->turn ? options->turn : DEFAULT_TURN,
    };
    memcpy(header.magic, FT_RAW_MAGIC, sizeof header.magic);
    return header;
}

/* The log lies beside the trace, on the disk that the user chose; it is sparse up to its limit. */
static ft_status make_log(const ft_options *options, const char *out, char **path, ft_error *err)
{
    ft_raw_header header = header_of(options);
    ft_strbuf name = {0};
    ft_strbuf_printf(&name, "%s.log-XXXXXX", out);
    *path = ft_strbuf_take(&name);
    int fd = mkostemp(*path, O_CLOEXEC);
    bool ok = fd >= 0 && write(fd, &header, sizeof header) == sizeof header &&
              ftruncate(fd, (off_t)header.limit) == 0;
    int why = errno;
    if (fd >= 0) close(fd);
    if (ok) return FT_OK;
    if (fd >= 0) unlink(*path);
    return ft_error_set(err, FT_USAGE, "%s: cannot write the recording: %s", out, strerror(why));
}

/* ---- the program */

static int run_program(const ft_options *options, const char *log)
{
    size_t n = options->arguments.len;
    char **argv = ft_calloc(n + 1, sizeof *argv);
    for (size_t i = 0; i < n; i++) argv[i] = ft_strdup(options->arguments.data[i]);
    int status = ft_program_run(argv, FT_RAW_VARIABLE, log);
    for (size_t i = 0; i < n; i++) free(argv[i]);
    free(argv);
    return status;
}

/* ---- the trace */

static void print_summary(const ft_options *options, const ft_trace *trace,
                          const ft_record_summary *s, int status)
{
    ft_strbuf end = {0};
    if (options->quiet) return;
    ft_program_end(status, &end);
    fprintf(stderr, "foretell: recorded %u events of %u threads on %u shared cells in %s\n",
            trace->n_events, s->threads, s->cells, options->output);
    fprintf(stderr, "foretell: %s (%s); %llu accesses seen", ft_raw_end_text(s->end),
            ft_strbuf_text(&end), (unsigned long long)s->accesses);
    /* A short log is mostly what the program's memory held at its start. */
    if (s->accesses >= MANY)
        fprintf(stderr, ", %.1f bytes each in the log", (double)s->bytes / (double)s->accesses);
    fputs("\n", stderr);
    if (s->external)
        fprintf(stderr,
                "foretell: %llu writes by code without hooks were noticed when they were read\n",
                (unsigned long long)s->external);
    if (s->ignored)
        fprintf(stderr, "foretell: %llu events in signal handlers or behind the end are missing\n",
                (unsigned long long)s->ignored);
    ft_strbuf_release(&end);
}

static ft_status check_started(const char *log, const char *program, int status, ft_error *err)
{
    ft_raw_header header;
    int fd = open(log, O_RDONLY | O_CLOEXEC);
    bool read_all = fd >= 0 && read(fd, &header, sizeof header) == sizeof header;
    if (fd >= 0) close(fd);
    if (!read_all) return ft_error_set(err, FT_IO, "%s: the recording is gone", log);
    if (header.started) return FT_OK;
    if (WIFEXITED(status) && WEXITSTATUS(status) == FT_PROGRAM_NOT_STARTED)
        return ft_error_set(err, FT_USAGE, "%s: could not be started", program);
    return ft_error_set(
        err, FT_USAGE,
        "%s: was not built with the recorder, so nothing was recorded: build it with "
        "CC=foretell-cc CXX=foretell-c++",
        program);
}

static ft_status make_trace(const ft_options *options, const char *log, int status, ft_error *err)
{
    ft_trace *trace = NULL;
    ft_record_summary summary;
    ft_trace_writer write = ft_output_writer(options->to, options->output);
    if (!write) write = ft_output_writer("binary", options->output);
    ft_status made = ft_record_make(log, &trace, &summary, err);
    if (made) return made;
    made = ft_output_trace(trace, write, options->output, err);
    if (!made) print_summary(options, trace, &summary, status);
    ft_trace_free(trace);
    return made;
}

ft_exit ft_run_record(const ft_options *options)
{
    ft_error err = FT_ERROR_INIT;
    char *log = NULL;
    if (!options->output) {
        ft_error_set(&err, FT_USAGE, "record needs -o FILE, the trace to write");
        return fail(NULL, &err);
    }
    if (make_log(options, options->output, &log, &err)) {
        free(log);
        return fail(NULL, &err);
    }
    int status = run_program(options, log);
    ft_exit code = FT_EXIT_CLEAN;
    if (check_started(log, options->arguments.data[0], status, &err) ||
        make_trace(options, log, status, &err))
        code = fail(NULL, &err);
    unlink(log);
    free(log);
    ft_signals_reraise();
    return code;
}
