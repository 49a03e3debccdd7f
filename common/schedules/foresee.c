#include "schedules/foresee.h"

#include <inttypes.h>

#include "base/contract.h"
#include "program/flow/loops.h"
#include "schedules/constrained.h"
#include "schedules/dynamic.h"

enum { INSTRUCTIONS = 1000000000, OPERATION = 1000 /* instructions that one counts as */ };

typedef struct foreseeing {
    const ft_schedule_set *set;
    const ft_foresee_options *options;
    uint64_t most, operations;
    ft_interpreter *m;
    ft_constrained run;
    uint32_t last; /* the thread that took the last step */
} foreseeing;

/* ---- inputs ---- */

static bool feed(void *context, const char *name, uint8_t width, uint64_t *value)
{
    const ft_foresee_options *o = context;
    (void)width;
    return *value = o->value(o->context, name), true;
}

static bool value_of(void *context, const ft_schedule_input *in, const char *name,
                     const char *thread, uint64_t *value)
{
    (void)thread;
    return in->n && feed(context, name, in->width, value);
}

/* ---- one epoch ---- */

static bool ends_process(const foreseeing *f, uint32_t thread)
{
    ft_interpreter_operation o;
    return ft_interpreter_stands_before(f->m, thread, &o) &&
           (o.code == FT_CODE_EXIT || o.code == FT_CODE_FAIL);
}

static bool is_long(const foreseeing *f)
{
    return ft_interpreter_state_of(f->m) == FT_INTERPRETER_STOPPED ||
           ft_interpreter_instructions(f->m) + f->operations * OPERATION > f->most;
}

static ft_status undecided(const foreseeing *f, ft_error *err)
{
    return ft_error_set(err, FT_INPUT,
                        "with these inputs the program comes to an operation on which the "
                        "schedules of epoch %s differ, and what decides between them is never "
                        "known there",
                        ft_schedule_text_of(f->set, f->set->epochs.data[f->run.epoch].name));
}

/* The thread that goes on, in turns; one that ends the process only where no other can. FT_NO_ID:
 * none can. */
static uint32_t choose(const foreseeing *f, uint64_t *variant)
{
    uint32_t n = ft_interpreter_thread_count(f->m), end = FT_NO_ID;
    uint64_t last = 0;
    for (uint32_t i = 1; i <= n; i++) {
        uint32_t t = (f->last + i) % n;
        ft_constrained_look look = ft_constrained_next(&f->run, f->m, t, variant);
        if (look != FT_CONSTRAINED_FOLLOWS && look != FT_CONSTRAINED_EXITS) continue;
        if (!ends_process(f, t)) return t;
        end = t;
        last = *variant;
    }
    *variant = last;
    return end;
}

/* Up to the end of the epoch at hand. */
static ft_status follow(foreseeing *f, ft_error *err)
{
    uint64_t variant;
    while (ft_interpreter_state_of(f->m) == FT_INTERPRETER_GOING && !is_long(f)) {
        uint32_t t = choose(f, &variant);
        if (t == FT_NO_ID) break;
        if (ends_process(f, t) && ft_constrained_awaits_input(&f->run, f->m))
            return undecided(f, err);
        (void)ft_constrained_step(&f->run, f->m, t, variant);
        f->last = t;
        f->operations++;
    }
    if (!is_long(f)) return FT_OK;
    return ft_error_set(err, FT_LIMIT,
                        "with these inputs the program carries out more than %" PRIu64
                        " instructions or %" PRIu64 " operations, and is not executed further "
                        "than that to find what its loops compute",
                        f->most, f->most / OPERATION);
}

/* FT_NO_SCHEDULE: what was read since the epoch began has left none possible. */
static uint32_t schedule_at_hand(const foreseeing *f)
{
    const ft_epoch *e = &f->set->epochs.data[f->run.epoch];
    uint32_t number = (uint32_t)(f->run.schedule - e->schedules.data);
    FT_REQUIRE(number < e->schedules.len);
    return f->run.possible && !f->run.possible[number] ? FT_NO_SCHEDULE : number;
}

/* ---- all epochs ---- */

/* *done: there is no epoch behind it. */
static ft_status take_epoch(foreseeing *f, ft_foreseen_path *path, bool *done, ft_error *err)
{
    uint32_t thread;
    ft_error why = FT_ERROR_INIT;
    ft_status status = follow(f, err);
    if (status != FT_OK) return status;
    ft_foreseen taken = {f->run.epoch, schedule_at_hand(f)};
    ft_constrained_end end = ft_constrained_end_of(&f->run, f->m, &thread);
    bool waits = end == FT_CONSTRAINED_STUCK || end == FT_CONSTRAINED_ENDLESS_RUN;
    if (waits && ft_constrained_awaits_input(&f->run, f->m)) return undecided(f, err);
    ft_vec_push(path, taken);
    *done = end != FT_CONSTRAINED_EPOCH || taken.schedule == FT_NO_SCHEDULE;
    if (*done) return FT_OK;
    uint32_t next = ft_schedule_epoch_named(f->set, f->run.schedule->next);
    end = ft_constrained_go_on(&f->run, f->m, value_of, (void *)f->options, &why);
    *done = end != FT_CONSTRAINED_EPOCH;
    if (*done) ft_vec_push(path, ((ft_foreseen){next, FT_NO_SCHEDULE}));
    return FT_OK;
}

/* FT_NOT_FOUND: no schedule covers the inputs. */
static ft_status begin(foreseeing *f, const ft_program *program, ft_error *err)
{
    uint32_t schedule;
    void *context = (void *)f->options;
    if (ft_schedule_is_tree(f->set, 0))
        return ft_constrained_begin(&f->run, program, f->set, value_of, context, err);
    ft_status status = ft_schedule_select(f->set, 0, value_of, context, &schedule, err);
    if (status != FT_OK) return status;
    if (schedule == FT_NO_SCHEDULE) return FT_NOT_FOUND;
    ft_constrained_init(&f->run, program, f->set, &f->set->epochs.data[0].schedules.data[schedule]);
    return FT_OK;
}

ft_status ft_schedules_foresee(const ft_program *program, const ft_schedule_set *set,
                               const ft_foresee_options *options, ft_foreseen_path *path,
                               ft_error *err)
{
    FT_REQUIRE(program && set && options && options->value && path);
    foreseeing f = {
        .set = set, .options = options, .most = options->most ? options->most : INSTRUCTIONS};
    size_t before = path->len;
    ft_error why = FT_ERROR_INIT;
    ft_status status = begin(&f, program, &why);
    if (status == FT_NOT_FOUND) {
        ft_vec_push(path, ((ft_foreseen){0, FT_NO_SCHEDULE}));
        return FT_OK;
    }
    if (status != FT_OK) return ft_error_set(err, status, "%s", why.message);
    ft_loops *loops = ft_loops_find(program);
    ft_interpreter_options how = {
        .max_steps = f.most, .loops = loops, .input = feed, .context = (void *)options};
    f.m = ft_interpreter_new(program, &how);
    for (bool done = false; !done && status == FT_OK;) status = take_epoch(&f, path, &done, err);
    if (status != FT_OK) path->len = before;
    ft_interpreter_free(f.m);
    ft_constrained_release(&f.run);
    ft_loops_free(loops);
    return status;
}
