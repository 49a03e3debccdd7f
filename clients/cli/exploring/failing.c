#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "exploring/exploring.h"

enum { MOST_FAILURES = 64, MOST_TRIES = 400 /* runs that look for the choice that decides */ };

/* ---- which run is the best */

static uint32_t count_preemptions(const ft_x_world *world, ft_x_walk *walk, const ft_x_run *run)
{
    uint32_t preemptions = 0, running = FT_X_THREADS;
    ft_x_walk_begin(walk, world, run);
    for (; ft_x_walk_fits(walk); ft_x_walk_step(walk)) {
        uint32_t thread = run->steps.data[walk->at].thread;
        preemptions += thread != running && ft_x_walk_enables(walk, running);
        running = thread;
    }
    return preemptions;
}

static int compare_picks(const ft_x_pick *a, const ft_x_pick *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (a[i].thread != b[i].thread) return a[i].thread < b[i].thread ? -1 : 1;
        if (a[i].variant != b[i].variant) return a[i].variant < b[i].variant ? -1 : 1;
    }
    return 0;
}

static int compare(const ft_failing *a, const ft_failing *b)
{
    if (a->preemptions != b->preemptions) return a->preemptions < b->preemptions ? -1 : 1;
    if (a->picks.len != b->picks.len) return a->picks.len < b->picks.len ? -1 : 1;
    return compare_picks(a->picks.data, b->picks.data, a->picks.len);
}

static int compare_places(const void *a, const void *b)
{
    return compare(a, b);
}

static ft_failing *find(ft_failing_list *all, uint64_t number)
{
    for (size_t i = 0; i < all->len; i++)
        if (all->data[i].number == number) return &all->data[i];
    if (all->len == MOST_FAILURES) return NULL;
    ft_vec_push(all, (ft_failing){.number = number, .preemptions = UINT32_MAX});
    return &all->data[all->len - 1];
}

static void take_picks(ft_failing *f, const ft_x_run *run)
{
    f->picks.len = 0;
    for (size_t i = 0; i < run->steps.len; i++)
        ft_vec_push(&f->picks, (ft_x_pick){.thread = run->steps.data[i].thread,
                                           .variant = run->steps.data[i].variant});
}

void ft_failing_note(ft_failing_list *all, const ft_native *native, const ft_x_world *world,
                     ft_x_walk *walk, const ft_x_run *run)
{
    const ft_native_failure *failure = ft_native_failure_of(native, run);
    ft_failing *f = failure ? find(all, run->result) : NULL;
    if (!f) return;
    ft_failing now = {.preemptions = count_preemptions(world, walk, run)};
    take_picks(&now, run);
    bool better = compare(&now, f) < 0;
    if (better) {
        ft_vec_release(&f->picks);
        f->picks.data = now.picks.data;
        f->picks.len = now.picks.len;
        f->picks.cap = now.picks.cap;
        f->preemptions = now.preemptions;
    } else {
        ft_vec_release(&now.picks);
    }
}

/* ---- running it again */

static ft_status run_again(const ft_x_executor *executor, const ft_x_pick *picks, size_t n,
                           ft_x_run *run, ft_error *err)
{
    uint32_t slot;
    ft_x_task task = {.prefix = picks, .n = n};
    *run = (ft_x_run){0};
    ft_status status = executor->start(executor->context, 0, &task, err);
    return status ? status : executor->finish(executor->context, &slot, run, err);
}

static void keep_failure(ft_failing *f, const ft_native_failure *failure)
{
    f->failure = *failure;
    f->text = ft_strdup(failure->text ? failure->text : "");
    f->module = ft_strdup(failure->place.module ? failure->place.module : "");
    f->failure.text = f->text;
    f->failure.place.module = f->module;
}

/* ---- the choice that decides: the last one behind which another choice leads to a run that passes
 */

static void print_choice(const ft_x_action *failing, const ft_x_action *passing, size_t step,
                         ft_strbuf *out)
{
    ft_strbuf_printf(out,
                     "step %zu decides: thread %u goes on with %s; where thread %u does (%s), ",
                     step + 1, failing->thread, ft_x_kind_name((ft_x_kind)failing->operation.kind),
                     passing->thread, ft_x_kind_name((ft_x_kind)passing->operation.kind));
    ft_strbuf_puts(out, "the run passes");
}

static bool passes(const ft_x_run *run, size_t step)
{
    return !run->result && run->end == FT_X_DONE && run->steps.len > step;
}

/* Other choices at the step, by runs of their own. True: one leads to a run that passes. */
static ft_status try_others(const ft_x_executor *executor, ft_failing *f, const ft_x_run *failing,
                            size_t step, const ft_x_branch *branches, size_t n, uint32_t *tries,
                            ft_error *err)
{
    ft_status status = FT_OK;
    ft_x_pick mine = f->picks.data[step];
    for (size_t i = 0; i < n && !f->choice.len && status == FT_OK; i++) {
        const ft_x_action *a = &branches[i].action;
        ft_x_run run;
        if (a->thread == mine.thread && a->variant == mine.variant) continue;
        if (++*tries > MOST_TRIES) break;
        f->picks.data[step] = (ft_x_pick){.thread = a->thread, .variant = a->variant};
        status = run_again(executor, f->picks.data, step + 1, &run, err);
        if (status == FT_OK && passes(&run, step))
            print_choice(&failing->steps.data[step], &run.steps.data[step], step, &f->choice);
        ft_x_run_release(&run);
    }
    f->picks.data[step] = mine;
    return status;
}

static ft_status find_choice(const ft_x_executor *executor, ft_failing *f, const ft_x_run *failing,
                             ft_error *err)
{
    ft_x_walk walk = {0};
    uint32_t tries = 0;
    ft_status status = FT_OK;
    for (size_t step = failing->steps.len; step-- > 0 && !f->choice.len && status == FT_OK;) {
        ft_x_branch branches[FT_X_THREADS * 4];
        ft_x_walk_begin(&walk, &executor->world, failing);
        while (walk.at < step && ft_x_walk_fits(&walk)) ft_x_walk_step(&walk);
        size_t n = ft_x_walk_branches(&walk, branches, sizeof branches / sizeof *branches);
        if (walk.at < step || tries > MOST_TRIES) break;
        status = try_others(executor, f, failing, step, branches, n, &tries, err);
    }
    ft_x_walk_release(&walk);
    return status;
}

static ft_status conclude(ft_failing *f, const ft_native *native, const ft_x_executor *executor,
                          ft_error *err)
{
    ft_x_run run;
    ft_status status = run_again(executor, f->picks.data, f->picks.len, &run, err);
    const ft_native_failure *failure = status == FT_OK ? ft_native_failure_of(native, &run) : NULL;
    f->confirmed = failure && run.result == f->number;
    if (f->confirmed) {
        keep_failure(f, failure);
        ft_order_print(native, &run, &f->order);
        status = find_choice(executor, f, &run, err);
    }
    ft_x_run_release(&run);
    return status;
}

ft_status ft_failing_conclude(ft_failing_list *all, const ft_native *native,
                              const ft_x_executor *executor, ft_error *err)
{
    ft_status status = FT_OK;
    if (all->len) qsort(all->data, all->len, sizeof *all->data, compare_places);
    for (size_t i = 0; i < all->len && status == FT_OK; i++)
        status = conclude(&all->data[i], native, executor, err);
    return status;
}
