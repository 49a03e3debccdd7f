#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "exploring/exploring.h"

enum { MOST_FAILURES = 64, MOST_TRIES = 400 /* runs that look for the choice that decides */ };

/* ---- which run is the best */

static int compare_runs(const void *a, const void *b)
{
    const ft_failing *one = a, *other = b;
    return ft_kept_compare(&one->run, &other->run);
}

static ft_failing *find(ft_failing_list *all, uint64_t number)
{
    for (size_t i = 0; i < all->len; i++)
        if (all->data[i].number == number) return &all->data[i];
    if (all->len == MOST_FAILURES) return NULL;
    ft_vec_push(all, (ft_failing){.number = number});
    return &all->data[all->len - 1];
}

void ft_failing_note(ft_failing_list *all, ft_explorer *x, const ft_x_run *run)
{
    uint64_t outcome = ft_outcome_of(x, run);
    ft_failing *f = outcome ? find(all, outcome) : NULL;
    if (f) ft_kept_note(&f->run, x, run);
}

bool ft_failing_is_apart(const ft_failing *f)
{
    return f->run.need == FT_NEEDS_LONG_LIMIT;
}

/* ---- running it again */

static void keep_failure(ft_failing *f, const ft_native_failure *failure, ft_places *places)
{
    f->failure = *failure;
    f->text = ft_strdup(failure->text ? failure->text : "");
    f->module = ft_strdup(failure->place.module ? failure->place.module : "");
    f->failure.text = f->text;
    f->failure.place.module = f->module;
    if (failure->place.module) f->place = ft_places_text(places, &failure->place);
}

typedef struct failing_run {
    ft_x_run run;
    FT_VEC(uint64_t) pcs; /* of its steps */
} failing_run;

/* ---- the choice that decides: the last one behind which another choice leads to a run that passes
 */

/* "lock at a.c:12"; pc: of the action's call, 0: there is none. */
static void print_action(ft_explorer *x, const ft_x_action *a, uint64_t pc, ft_strbuf *out)
{
    ft_native_place place = ft_native_place_of(x->native, pc);
    ft_strbuf_puts(out, ft_x_kind_name((ft_x_kind)a->operation.kind));
    if (!pc || !place.module) return;
    ft_strbuf_puts(out, " at ");
    ft_places_print(&x->places, &place, out);
}

/* The run that passes is the last one. */
static void print_choice(ft_explorer *x, const failing_run *failing, const ft_x_run *passing,
                         size_t step, ft_strbuf *out)
{
    const ft_x_action *bad = &failing->run.steps.data[step], *good = &passing->steps.data[step];
    ft_strbuf_printf(out, "step %zu decides: thread %u goes on with ", step + 1, bad->thread);
    print_action(x, bad, failing->pcs.data[step], out);
    ft_strbuf_printf(out, "; where thread %u does (", good->thread);
    print_action(x, good, ft_native_step_origin(x->native, step).pc, out);
    ft_strbuf_puts(out, "), the run passes");
}

static bool passes(ft_explorer *x, const ft_x_run *run, size_t step)
{
    return !ft_outcome_of(x, run) && run->end == FT_X_DONE && run->steps.len > step;
}

/* Other choices at the step, by runs of their own. True: one leads to a run that passes. */
static ft_status try_others(ft_explorer *x, ft_failing *f, const failing_run *failing, size_t step,
                            const ft_x_branch *branches, size_t n, uint32_t *tries, ft_error *err)
{
    ft_status status = FT_OK;
    ft_x_pick *picks = f->run.picks.data, mine = picks[step];
    for (size_t i = 0; i < n && !f->choice.len && status == FT_OK; i++) {
        const ft_x_action *a = &branches[i].action;
        ft_x_run run;
        if (a->thread == mine.thread && a->variant == mine.variant) continue;
        if (++*tries > MOST_TRIES) break;
        picks[step] = (ft_x_pick){.thread = a->thread, .variant = a->variant};
        status = ft_kept_run_again(x, f->run.points, picks, step + 1, &run, err);
        if (status == FT_OK && passes(x, &run, step))
            print_choice(x, failing, &run, step, &f->choice);
        ft_x_run_release(&run);
    }
    picks[step] = mine;
    return status;
}

static ft_status find_choice(ft_explorer *x, ft_failing *f, const failing_run *failing,
                             ft_error *err)
{
    ft_x_walk walk = {0};
    uint32_t tries = 0;
    ft_status status = FT_OK;
    for (size_t step = failing->run.steps.len; step-- > 0 && !f->choice.len && status == FT_OK;) {
        ft_x_branch branches[FT_X_THREADS * 4];
        ft_x_walk_begin(&walk, &x->executor.world, &failing->run);
        while (walk.at < step && ft_x_walk_fits(&walk)) ft_x_walk_step(&walk);
        size_t n = ft_x_walk_branches(&walk, branches, sizeof branches / sizeof *branches);
        if (walk.at < step || tries > MOST_TRIES) break;
        status = try_others(x, f, failing, step, branches, n, &tries, err);
    }
    ft_x_walk_release(&walk);
    return status;
}

static void explain(ft_failing *f, ft_explorer *x, const ft_x_run *run)
{
    if (run->result)
        keep_failure(f, ft_native_failure_of(x->native, run), &x->places);
    else
        ft_outputs_explain(x, f, run);
}

static ft_status conclude(ft_failing *f, ft_explorer *x, ft_error *err)
{
    failing_run failing = {0};
    ft_kept_run *kept = &f->run;
    ft_status status =
        ft_kept_run_again(x, kept->points, kept->picks.data, kept->picks.len, &failing.run, err);
    f->confirmed = status == FT_OK && ft_outcome_of(x, &failing.run) == f->number;
    if (f->confirmed) {
        explain(f, x, &failing.run);
        ft_order_print(x->native, &failing.run, &kept->order);
        ft_needs_print(x, &failing.run, &f->needs);
        for (size_t i = 0; i < failing.run.steps.len; i++)
            ft_vec_push(&failing.pcs, ft_native_step_origin(x->native, i).pc);
        status = find_choice(x, f, &failing, err);
    }
    ft_vec_release(&failing.pcs);
    ft_x_run_release(&failing.run);
    return status;
}

ft_status ft_failing_conclude(ft_failing_list *all, ft_explorer *x, ft_error *err)
{
    ft_status status = FT_OK;
    if (all->len) qsort(all->data, all->len, sizeof *all->data, compare_runs);
    for (size_t i = 0; i < all->len && status == FT_OK; i++)
        status = conclude(&all->data[i], x, err);
    return status;
}
