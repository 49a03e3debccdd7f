#include "oracle/foreseen.h"

#include <stdlib.h>

#include "program/flow/loops.h"
#include "schedules/dynamic.h"
#include "schedules/foresee.h"

enum { INPUTS = 4, RUNS = 3, MOST = 300000 };

typedef struct checking {
    const ft_program *program;
    const ft_schedule_set *set;
    ft_loops *loops;
    uint64_t seed, random;
    ft_foreseen_path path;
    foreseen_counts *counts;
} checking;

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 31) * UINT64_C(0x7fb5d329728ea185);
    return x ^ x >> 27;
}

static uint64_t value(void *context, const char *name)
{
    const checking *c = context;
    uint64_t x = c->seed;
    for (; *name; name++) x = mix(x + (unsigned char)*name);
    return x;
}

static bool feed(void *context, const char *name, uint8_t width, uint64_t *to)
{
    (void)width;
    return *to = value(context, name), true;
}

static bool value_of(void *context, const ft_schedule_input *in, const char *name,
                     const char *thread, uint64_t *to)
{
    (void)thread;
    return in->n && feed(context, name, in->width, to);
}

static uint32_t draw(checking *c, uint32_t n)
{
    c->random = c->random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(c->random >> 33) % n;
}

/* Threads in random turns, up to the end of the epoch. */
static void take_turns(checking *c, ft_constrained *run, ft_interpreter *m)
{
    enum { FRUITLESS = 400 };
    for (int fruitless = 0;
         fruitless < FRUITLESS && ft_interpreter_state_of(m) == FT_INTERPRETER_GOING; fruitless++) {
        uint64_t variant;
        uint32_t t = draw(c, ft_interpreter_thread_count(m));
        ft_constrained_look look = ft_constrained_next(run, m, t, &variant);
        if (look != FT_CONSTRAINED_FOLLOWS && look != FT_CONSTRAINED_EXITS) continue;
        (void)ft_constrained_step(run, m, t, variant);
        fruitless = 0;
    }
}

/* A process that ends early may have more than one schedule. */
static const char *judge(const checking *c, const ft_constrained *run, ft_constrained_end end,
                         size_t epoch)
{
    if (epoch >= c->path.len) return "a run has more epochs";
    ft_foreseen wanted = c->path.data[epoch];
    if (run->epoch != wanted.epoch) return "a run has another epoch";
    if (wanted.schedule == FT_NO_SCHEDULE) return "a schedule is not foreseen";
    const ft_schedule *s = &c->set->epochs.data[wanted.epoch].schedules.data[wanted.schedule];
    if (end == FT_CONSTRAINED_DIVERGED || end == FT_CONSTRAINED_STUCK)
        return ft_constrained_end_name(end);
    bool whole = end == FT_CONSTRAINED_SAME || end == FT_CONSTRAINED_EPOCH;
    if (whole && run->schedule != s) return "a run has another schedule";
    if (end == FT_CONSTRAINED_EPOCH || epoch + 1 == c->path.len) return NULL;
    return "a run has fewer epochs";
}

static const char *check_run(checking *c)
{
    ft_constrained run;
    uint32_t thread;
    const char *wrong = NULL;
    ft_interpreter_options how = {.loops = c->loops, .input = feed, .context = c};
    const ft_foreseen first = c->path.data[0];
    if (first.schedule == FT_NO_SCHEDULE) return "no schedule is foreseen";
    ft_interpreter *m = ft_interpreter_new(c->program, &how);
    ft_constrained_init(&run, c->program, c->set,
                        &c->set->epochs.data[0].schedules.data[first.schedule]);
    ft_constrained_end end = FT_CONSTRAINED_EPOCH;
    for (size_t epoch = 0; end == FT_CONSTRAINED_EPOCH && !wrong; epoch++) {
        ft_error err = FT_ERROR_INIT;
        take_turns(c, &run, m);
        end = ft_constrained_end_of(&run, m, &thread);
        wrong = judge(c, &run, end, epoch);
        c->counts->epochs++;
        if (wrong || end != FT_CONSTRAINED_EPOCH) break;
        end = ft_constrained_go_on(&run, m, value_of, c, &err);
        if (end != FT_CONSTRAINED_EPOCH) wrong = ft_constrained_end_name(end);
    }
    c->counts->runs++;
    ft_constrained_release(&run);
    ft_interpreter_free(m);
    return wrong;
}

const char *foreseen_check(const ft_program *program, const ft_schedule_set *set, uint64_t seed,
                           foreseen_counts *counts)
{
    checking c = {.program = program, .set = set, .counts = counts, .random = seed};
    const char *wrong = NULL;
    c.loops = ft_loops_find(program);
    for (int i = 0; i < INPUTS && !wrong; i++) {
        ft_error err = FT_ERROR_INIT;
        c.seed = mix(seed * INPUTS + (uint64_t)i + 1);
        ft_foresee_options how = {.value = value, .context = &c, .most = MOST};
        c.path.len = 0;
        counts->inputs++;
        ft_status status = ft_schedules_foresee(program, set, &how, &c.path, &err);
        counts->endless += status == FT_LIMIT;
        /* a process that ends early may leave open what decides between schedules */
        bool open = status == FT_INPUT && set->prefix;
        if (status != FT_OK && status != FT_LIMIT && !open) wrong = "nothing is foreseen";
        if (status != FT_OK) continue;
        for (int k = 0; k < RUNS && !wrong; k++) wrong = check_run(&c);
    }
    ft_vec_release(&c.path);
    ft_loops_free(c.loops);
    return wrong;
}
