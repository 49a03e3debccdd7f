/* usage: native_oracle INTERPRETER SEED COUNT GRADE: random programs (oracle/schedules.h), each run
 * by the interpreter under the native executor and enumerated by the oracle: as many classes, as
 * many of them stuck. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explore/search.h"
#include "native/native.h"
#include "native/program_text.h"
#include "oracle/schedules.h"

/* What the interpreter has no call for, or what a call decides otherwise than the oracle: the C
 * library refuses a writer who asks for its lock again. */
static bool is_fit(schedule_program *p)
{
    for (uint32_t t = 0; t < p->n_threads; t++) {
        uint32_t rwlocks = 0;
        for (uint32_t i = 0; i < p->length[t]; i++) {
            ft_x_operation *o = &p->code[t][i];
            if (o->kind == FT_X_WAKE) o->value &= FT_X_TIMED;
            bool on_rwlock = o->kind >= FT_X_READ_LOCK && o->kind <= FT_X_TRY_WRITE_LOCK;
            if (o->kind == FT_X_QUEUE || (on_rwlock && o->value)) return false;
            rwlocks += o->kind >= FT_X_READ_LOCK && o->kind <= FT_X_TRY_WRITE_LOCK;
            if (o->kind == FT_X_CHOOSE || o->kind == FT_X_READ || o->kind == FT_X_WRITE)
                return false;
            if (o->kind >= FT_X_AWAIT && o->kind < FT_X_KINDS) return false;
            if (o->kind == FT_X_EXIT) return false; /* it may come before a thread is created */
            if (o->kind >= FT_X_SEND && o->kind < FT_X_READ) return false;
        }
        if (rwlocks > 1) return false;
    }
    return true;
}

static bool explore(char *interpreter, char *text, uint32_t grade, ft_x_counts *counts,
                    ft_error *err)
{
    bool finished = false;
    ft_native *native = NULL;
    ft_native_options options = ft_native_defaults();
    char *argv[] = {interpreter, text, NULL};
    options.argv = argv;
    options.run.grade = grade; /* the first that may be used */
    options.run.polls = 1000;  /* the interpreter's calls are all at one place */
    ft_x_options search = {0};
    if (ft_native_open(&options, &native, err) != FT_OK) return false;
    ft_x_executor executor = ft_native_executor(native);
    ft_status status = ft_x_search(&executor, &search, counts, &finished, err);
    ft_native_close(native);
    return status == FT_OK && finished;
}

int main(int argc, char **argv)
{
    if (argc != 5) return 2;
    uint64_t seed = strtoull(argv[2], NULL, 10), classes = 0, stuck = 0;
    uint32_t grade = (uint32_t)strtoul(argv[4], NULL, 10), programs = 0,
             want = (uint32_t)strtoul(argv[3], NULL, 10);
    for (; programs < want; seed++) {
        schedule_program p = ft_schedules_random(seed);
        schedule_classes found = {0};
        if (!is_fit(&p) || !ft_schedules_enumerate(&p, 3000, &found)) continue;
        ft_x_counts counts = {0};
        ft_error err = FT_ERROR_INIT;
        char *text = program_text(&p);
        bool done = explore(argv[1], text, grade, &counts, &err);
        if (!done || counts.classes != found.classes || counts.stuck != found.stuck) {
            ft_strbuf out = {0};
            ft_schedules_print(&p, &out);
            printf("seed %llu: %u classes, %u stuck; the oracle has %u and %u; %s\n%s\n%s\n",
                   (unsigned long long)seed, (unsigned)counts.classes, (unsigned)counts.stuck,
                   (unsigned)found.classes, (unsigned)found.stuck, done ? "" : err.message,
                   ft_strbuf_text(&out), text);
            return 1;
        }
        classes += found.classes;
        stuck += found.stuck;
        programs++;
        free(text);
        ft_schedules_release(&found);
    }
    printf("native: %u programs, %llu classes, %llu stuck, equal\n", programs,
           (unsigned long long)classes, (unsigned long long)stuck);
    return 0;
}
