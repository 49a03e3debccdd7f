/* Runs a program under a set of schedules. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"
#include "programs/constrained.h"
#include "raw/constrained.h"
#include "recorded/recorded.h"
#include "terminal/terminal.h"

extern char **environ;

enum { SIGNALLED = 128 };

typedef struct run {
    const ft_options *options;
    ft_constrained_set *set;
    int fd;
    char *file; /* mapped */
    size_t bytes;
    bool free; /* --uncovered free */
    int status;
} run;

/* ---- the set */

/* The inputs are those that the program will have. */
static uint64_t value_of(void *context, const char *name)
{
    const run *r = context;
    return ft_inputs_value(&r->options->inputs, name);
}

static ft_status read_set(run *r, ft_error *err)
{
    FILE *from = fopen(r->options->schedules, "re");
    char part[65536];
    ft_strbuf text = {0};
    if (!from) return ft_error_set(err, FT_USAGE, "cannot be read: %s", strerror(errno));
    for (size_t n; (n = fread(part, 1, sizeof part, from)) > 0;) ft_strbuf_add(&text, part, n);
    fclose(from);
    const ft_constrained_given given = {value_of, r, r->options->program};
    ft_status status = ft_constrained_open(ft_strbuf_text(&text), text.len, &given, &r->set, err);
    ft_strbuf_release(&text);
    return status;
}

static void print_choice(const run *r)
{
    const char *name = ft_constrained_name(r->set);
    if (!name)
        fprintf(stderr, "foretell: no schedule of %s covers these inputs%s\n",
                r->options->schedules, r->free ? ": the program runs without one" : "");
    else if (ft_constrained_is_stuck(r->set))
        fprintf(stderr, "foretell: schedule %s ends with threads that wait for ever\n", name);
    else if (!r->options->quiet)
        fprintf(stderr, "foretell: schedule %s\n", name);
}

/* ---- the run */

static ft_status make_file(run *r, ft_error *err)
{
    ft_strbuf content = {0};
    char *program = ft_program_find(r->options->arguments.data[0]);
    ft_constrained_way way = {.stops = !r->free, .delays = r->options->delays};
    ft_status status = FT_OK;
    if (!program)
        status = ft_error_set(err, FT_USAGE, "%s cannot be found", r->options->arguments.data[0]);
    if (!status) status = ft_constrained_make(r->set, program, way, &content, err);
    r->fd = status ? -1 : memfd_create("foretell-schedule", 0);
    bool made = r->fd >= 0 && write(r->fd, content.text, content.len) == (ssize_t)content.len;
    r->bytes = content.len;
    void *at =
        made ? mmap(NULL, r->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0) : MAP_FAILED;
    if (at != MAP_FAILED) r->file = at;
    if (!status && !r->file)
        status = ft_error_set(err, FT_IO, "no memory for the schedule: %s", strerror(errno));
    ft_strbuf_release(&content);
    free(program);
    return status;
}

static ft_status start(run *r, ft_error *err)
{
    pid_t child;
    char path[64];
    size_t n = r->options->arguments.len;
    char **argv = ft_calloc(n + 1, sizeof *argv);
    for (size_t i = 0; i < n; i++) argv[i] = ft_strdup(r->options->arguments.data[i]);
    if (r->file) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", r->fd);
        setenv(FT_CONSTRAINED_VARIABLE, path, 1);
    }
    int error = posix_spawnp(&child, argv[0], NULL, NULL, argv, environ);
    while (!error && waitpid(child, &r->status, 0) < 0 && errno == EINTR) continue;
    for (size_t i = 0; i < n; i++) free(argv[i]);
    free(argv);
    if (!error) return FT_OK;
    return ft_error_set(err, FT_USAGE, "%s: could not be started: %s",
                        r->options->arguments.data[0], strerror(error));
}

/* ---- what came of it */

static ft_exit code_of(const run *r)
{
    return (ft_exit)(WIFSIGNALED(r->status) ? SIGNALLED + WTERMSIG(r->status)
                                            : WEXITSTATUS(r->status));
}

static ft_exit report(const run *r, ft_error *err)
{
    const ft_constrained_header *head = (const void *)r->file;
    if (!head->taken)
        return ft_error_set(err, FT_USAGE,
                            "%s was not built with foretell-cc or foretell-c++, or with those of "
                            "another version; build it again with them",
                            r->options->arguments.data[0]),
               ft_fail(NULL, err);
    bool left = head->outcome > FT_CONSTRAINED_FOLLOWED_OUTCOME ||
                (head->outcome == FT_CONSTRAINED_RUNNING_OUTCOME && WIFEXITED(r->status));
    bool kept = ft_constrained_kept(r->file);
    ft_strbuf text = {0};
    ft_constrained_print(r->set, r->file, &text);
    if (head->outcome == FT_CONSTRAINED_BLOCKED_OUTCOME)
        fprintf(stderr, "foretell: the run is blocked: %s\n", ft_strbuf_text(&text));
    else if (left)
        fprintf(stderr, "foretell: the run left the schedule: %s\n", ft_strbuf_text(&text));
    if (!kept) fputs("foretell: operations came in another order than the schedule's\n", stderr);
    if (!left && r->options->delays && !r->options->quiet)
        fprintf(stderr, "foretell: %s\n", ft_strbuf_text(&text));
    ft_strbuf_release(&text);
    return (left && !r->free) || !kept ? FT_EXIT_INCOMPLETE : code_of(r);
}

static void release(run *r)
{
    if (r->file) munmap(r->file, r->bytes);
    if (r->fd >= 0) close(r->fd);
    ft_constrained_close(r->set);
}

ft_exit ft_run_run(const ft_options *options)
{
    ft_error err = FT_ERROR_INIT;
    run r = {.options = options, .fd = -1};
    const char *file = NULL;
    r.free = options->uncovered && strcmp(options->uncovered, "free") == 0;
    ft_status status = FT_OK;
    if (!options->schedules) status = ft_error_set(&err, FT_USAGE, "run needs --schedules SET");
    if (!status) status = ft_inputs_give(&options->inputs, &err);
    if (!status) {
        file = options->schedules;
        status = read_set(&r, &err);
    }
    if (!status) print_choice(&r);
    bool uncovered = !status && !ft_constrained_name(r.set);
    if (!status && !uncovered) status = make_file(&r, &err);
    if (!status && (!uncovered || r.free)) status = start(&r, &err);
    bool said = status == FT_INPUT && !err.message[0]; /* by foretell-lower */
    ft_exit code = said                   ? FT_EXIT_INPUT
                   : status               ? ft_fail(file, &err)
                   : uncovered && !r.free ? FT_EXIT_INCOMPLETE
                   : uncovered            ? code_of(&r)
                                          : report(&r, &err);
    release(&r);
    return code;
}
