/* usage: run_constrained PROGRAM SET SEED [NAME=VALUE]...
 *
 * Runs a program as data (binary) under a set in the interpreter, its threads in random turns,
 * through all epochs. One line: how the run ended, how many epochs it had, and the hash of their
 * schedules that `foretell run` prints for the native program. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/binary.h"
#include "program/flow/loops.h"
#include "schedules/constrained.h"
#include "schedules/dynamic.h"

typedef struct run {
    char **inputs;
    int n_inputs;
    ft_program *program;
    ft_loops *loops; /* that the set may take as functions */
    ft_schedule_set *set;
    uint64_t random, path;
    uint32_t epochs;
} run;

static bool read_file(const char *path, ft_strbuf *text)
{
    char part[65536];
    FILE *file = fopen(path, "re");
    if (!file) return perror(path), false;
    for (size_t n; (n = fread(part, 1, sizeof part, file));) ft_strbuf_add(text, part, n);
    fclose(file);
    return true;
}

static bool feed(void *context, const char *name, uint8_t width, uint64_t *value)
{
    const run *r = context;
    size_t n = strlen(name);
    (void)width;
    *value = 0;
    for (int i = 0; i < r->n_inputs; i++)
        if (strncmp(r->inputs[i], name, n) == 0 && r->inputs[i][n] == '=')
            *value = strtoull(r->inputs[i] + n + 1, NULL, 0);
    return true;
}

static bool value_of(void *context, const ft_schedule_input *in, const char *name,
                     const char *thread, uint64_t *value)
{
    (void)thread;
    return feed(context, name, in->width, value);
}

/* The schedule of the entry has the number 0, those of the epochs behind it follow. */
static void note_schedule(run *r, const ft_constrained *c)
{
    uint64_t number = c->epoch ? 1 : 0;
    for (uint32_t e = 1; e < c->epoch; e++) number += r->set->epochs.data[e].schedules.len;
    if (c->epoch) number += (uint64_t)(c->schedule - r->set->epochs.data[c->epoch].schedules.data);
    if (!r->epochs++) r->path = UINT64_C(14695981039346656037);
    r->path = (r->path ^ (number + 1)) * UINT64_C(1099511628211);
}

static void take_turns(run *r, ft_constrained *c, ft_interpreter *m)
{
    uint32_t fruitless = 0;
    while (ft_interpreter_state_of(m) == FT_INTERPRETER_GOING && fruitless < 1000) {
        uint64_t variant;
        uint32_t n = ft_interpreter_thread_count(m);
        r->random = r->random * UINT64_C(6364136223846793005) + 1442695040888963407;
        uint32_t t = (uint32_t)(r->random >> 33) % n;
        ft_constrained_look look = ft_constrained_next(c, m, t, &variant);
        fruitless++;
        if (look != FT_CONSTRAINED_FOLLOWS && look != FT_CONSTRAINED_EXITS) continue;
        (void)ft_constrained_step(c, m, t, variant);
        fruitless = 0;
    }
}

static int run_all(run *r, ft_error *err)
{
    ft_interpreter_options options = {
        .races = true, .loops = r->loops, .input = feed, .context = r};
    uint32_t schedule, thread;
    ft_constrained c;
    if (ft_schedule_is_tree(r->set, 0)) {
        if (ft_constrained_begin(&c, r->program, r->set, value_of, r, err) != FT_OK) return 99;
    } else {
        if (ft_schedule_select(r->set, 0, value_of, r, &schedule, err) != FT_OK) return 99;
        if (schedule == FT_NO_SCHEDULE) return puts("uncovered"), 3;
        ft_constrained_init(&c, r->program, r->set,
                            &r->set->epochs.data[0].schedules.data[schedule]);
    }
    ft_interpreter *m = ft_interpreter_new(r->program, &options);
    ft_constrained_end end = FT_CONSTRAINED_EPOCH;
    while (end == FT_CONSTRAINED_EPOCH) {
        take_turns(r, &c, m);
        note_schedule(r, &c); /* with dynamic inputs it is known at the end */
        end = ft_constrained_end_of(&c, m, &thread);
        if (end == FT_CONSTRAINED_EPOCH) end = ft_constrained_go_on(&c, m, value_of, r, err);
    }
    bool failed = ft_interpreter_state_of(m) == FT_INTERPRETER_FAILED;
    printf("%s%s: %" PRIu32 " epochs (path %016" PRIx64 ")\n", ft_constrained_end_name(end),
           failed ? ", failed" : "", r->epochs, r->path);
    ft_constrained_release(&c);
    ft_interpreter_free(m);
    return !failed && (end == FT_CONSTRAINED_SAME || end == FT_CONSTRAINED_PREFIX) ? 0 : 1;
}

int main(int argc, char **argv)
{
    ft_strbuf program = {0}, set = {0};
    ft_error err = FT_ERROR_INIT;
    run r = {.inputs = argv + 4, .n_inputs = argc - 4};
    if (argc < 4)
        return fputs("usage: run_constrained PROGRAM SET SEED [NAME=VALUE]...\n", stderr), 2;
    r.random = strtoull(argv[3], NULL, 0);
    int code = 99;
    if (read_file(argv[1], &program) && read_file(argv[2], &set) &&
        ft_program_read(program.text, program.len, &r.program, &err) == FT_OK &&
        ft_schedule_set_read(set.text, set.len, &r.set, &err) == FT_OK)
        r.loops = ft_loops_find(r.program), code = run_all(&r, &err);
    if (err.message[0])
        fprintf(stderr, "%" PRIu64 ":%" PRIu64 ": %s\n", err.line, err.column, err.message);
    ft_loops_free(r.loops);
    ft_program_free(r.program);
    ft_schedule_set_free(r.set);
    ft_strbuf_release(&program);
    ft_strbuf_release(&set);
    return code;
}
