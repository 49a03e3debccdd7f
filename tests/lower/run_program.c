/* usage: run_program PROGRAM            runs it, its lowest thread first; its output and exit code
 *        run_program --explore PROGRAM  every schedule: one line; exit code 1 if one fails
 *        run_program --cover PROGRAM    prints a set of schedules that covers every input
 *
 * For tests/lower/run. Exit code 98: an error of the program, in one line; 99: the file. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cover/search.h"
#include "explore/search.h"
#include "explore/symbolic.h"
#include "program/binary.h"

static ft_program *read_program(const char *path)
{
    ft_error err = FT_ERROR_INIT;
    ft_program *program = NULL;
    ft_strbuf bytes = {0};
    char part[65536];
    FILE *file = fopen(path, "re");
    if (!file) return perror(path), NULL;
    for (size_t n; (n = fread(part, 1, sizeof part, file));) ft_strbuf_add(&bytes, part, n);
    fclose(file);
    if (ft_program_read(bytes.text, bytes.len, &program, &err) != FT_OK)
        fprintf(stderr, "%s:%" PRIu64 ":%" PRIu64 ": %s\n", path, err.line, err.column,
                err.message);
    ft_strbuf_release(&bytes);
    return program;
}

static void write_output(void *context, int32_t descriptor, const void *bytes, size_t n)
{
    (void)context;
    if (write(descriptor, bytes, n) != (ssize_t)n) perror("write");
}

static void print_error(const ft_program *p, const ft_interpreter_error *e)
{
    const ft_function *f =
        e->place.function == FT_NO_SYMBOL ? NULL : ft_program_function(p, e->place.function);
    uint32_t line = f ? f->instructions.data[e->place.instruction].position.line : 0;
    printf("%s in %s, line %" PRIu32 ": %s\n", ft_program_error_name(e->kind),
           f ? ft_program_symbol_name(p, e->place.function) : "?", line, e->message);
}

static int run(const ft_program *p)
{
    uint64_t variants[FT_INTERPRETER_THREADS];
    ft_interpreter_options options = {.races = true, .output = write_output};
    ft_interpreter *m = ft_interpreter_new(p, &options);
    while (ft_interpreter_state_of(m) == FT_INTERPRETER_GOING) {
        uint32_t t = 0;
        while (!ft_interpreter_choices(m, t, variants)) t++;
        ft_interpreter_step(m, t, variants[0]);
    }
    bool exited = ft_interpreter_state_of(m) == FT_INTERPRETER_EXITED;
    int code = exited ? ft_interpreter_exit_code(m) & 255 : 98;
    if (!exited) print_error(p, ft_interpreter_error_of(m));
    ft_interpreter_free(m);
    return code;
}

typedef struct explored {
    const ft_program *program;
    ft_symbolic *symbolic;
    uint64_t failing;
} explored;

static bool note(void *context, const ft_x_run *run, const ft_unfolding *u,
                 const ft_configuration *c)
{
    (void)u, (void)c;
    explored *e = context;
    ft_judgement r = ft_judgement_of(run->result);
    bool fails = r.state != FT_INTERPRETER_EXITED || r.exit_code;
    if (fails && !e->failing++ && r.state != FT_INTERPRETER_EXITED)
        print_error(e->program, ft_symbolic_judged_of(e->symbolic).error);
    return true;
}

static int explore(const ft_program *p)
{
    ft_error err = FT_ERROR_INIT;
    explored e = {p, ft_symbolic_new(p, &(ft_symbolic_options){.races = true}), 0};
    ft_x_executor executor = ft_symbolic_executor(e.symbolic);
    ft_x_options options = {.on_class = note, .context = &e};
    ft_x_counts counts = {0};
    bool finished = false;
    ft_status status = ft_x_search(&executor, &options, &counts, &finished, &err);
    if (status != FT_OK) fprintf(stderr, "%s\n", err.message);
    printf("%s: %" PRIu64 " classes, %" PRIu64 " fail\n", finished ? "every schedule" : "not every",
           counts.classes, e.failing);
    ft_symbolic_free(e.symbolic);
    return status != FT_OK || !finished ? 99 : e.failing ? 1 : 0;
}

static int cover(const ft_program *p)
{
    ft_error err = FT_ERROR_INIT;
    ft_schedule_set *set = NULL;
    cover_search_counts counts;
    ft_strbuf text = {0};
    ft_status status = cover_search(p, &(cover_search_options){0}, &set, &counts, &err);
    if (status == FT_OK) ft_schedule_set_print(set, &text);
    if (status != FT_OK || counts.open)
        fprintf(stderr, "%s\n", status ? err.message : counts.reason);
    fputs(ft_strbuf_text(&text), stdout);
    ft_strbuf_release(&text);
    ft_schedule_set_free(set);
    return status != FT_OK || counts.open ? 99 : 0;
}

int main(int argc, char **argv)
{
    bool explores = argc == 3 && strcmp(argv[1], "--explore") == 0;
    bool covers = argc == 3 && strcmp(argv[1], "--cover") == 0;
    if (argc != (explores || covers ? 3 : 2))
        return fputs("usage: run_program [--explore|--cover] PROGRAM\n", stderr), 2;
    ft_program *program = read_program(argv[argc - 1]);
    if (!program) return 99;
    int code = explores ? explore(program) : covers ? cover(program) : run(program);
    ft_program_free(program);
    return code;
}
