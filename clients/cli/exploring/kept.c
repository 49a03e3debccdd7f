/* Runs that are worth a recording. */
#include <stdlib.h>

#include "base/contract.h"
#include "exploring/exploring.h"

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

int ft_kept_compare(const ft_kept_run *a, const ft_kept_run *b)
{
    if (a->fails != b->fails) return a->fails ? 1 : -1;
    bool apart = a->need == FT_NEEDS_LONG_LIMIT, other = b->need == FT_NEEDS_LONG_LIMIT;
    if (apart != other) return apart ? 1 : -1;
    if (a->points.n != b->points.n) return a->points.n < b->points.n ? -1 : 1;
    if (a->need != b->need) return a->need < b->need ? -1 : 1;
    if (a->preemptions != b->preemptions) return a->preemptions < b->preemptions ? -1 : 1;
    if (a->picks.len != b->picks.len) return a->picks.len < b->picks.len ? -1 : 1;
    return compare_picks(a->picks.data, b->picks.data, a->picks.len);
}

/* Counting preemptions walks the run: not where steps alone decide. */
static bool is_worse(const ft_kept_run *kept, ft_explorer *x, const ft_x_run *run)
{
    bool fails = ft_outcome_of(x, run) != 0;
    if (!kept->picks.len || kept->need == FT_NEEDS_LONG_LIMIT) return false;
    if (fails != kept->fails) return fails;
    if (x->setting.n != kept->points.n) return x->setting.n > kept->points.n;
    return !kept->need && !kept->preemptions && run->steps.len > kept->picks.len;
}

bool ft_kept_note(ft_kept_run *kept, ft_explorer *x, const ft_x_run *run)
{
    if (!run->steps.len || is_worse(kept, x, run)) return false;
    ft_kept_run now = {.fails = ft_outcome_of(x, run) != 0, .points = x->setting};
    now.need = ft_needs_of(x, run);
    now.preemptions = count_preemptions(&x->executor.world, &x->walk, run);
    for (size_t i = 0; i < run->steps.len; i++)
        ft_vec_push(&now.picks, (ft_x_pick){.thread = run->steps.data[i].thread,
                                            .variant = run->steps.data[i].variant});
    bool better = !kept->picks.len || ft_kept_compare(&now, kept) < 0;
    ft_kept_release(better ? kept : &now);
    if (better) *kept = now;
    return better;
}

ft_status ft_kept_run_again(ft_explorer *x, ft_run_setting setting, const ft_x_pick *picks,
                            size_t n, ft_x_run *run, ft_error *err)
{
    uint32_t slot;
    ft_x_task task = {.prefix = picks, .n = n};
    FT_REQUIRE(setting.n <= x->points.len);
    ft_native_polls(x->native, setting.polls);
    ft_native_points(x->native, x->points.data, setting.n, setting.as_one);
    *run = (ft_x_run){0};
    ft_status status = x->executor.start(x->executor.context, 0, &task, err);
    if (status == FT_OK) status = x->executor.finish(x->executor.context, &slot, run, err);
    ft_native_leave_processor(x->native);
    return status;
}

void ft_kept_release(ft_kept_run *kept)
{
    ft_vec_release(&kept->picks);
    ft_strbuf_release(&kept->order);
    *kept = (ft_kept_run){0};
}
