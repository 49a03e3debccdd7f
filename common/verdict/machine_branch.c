/* Which arms of branches are taken, and what comes next in a thread for it (Wang et al. §8). */
#include "verdict/machine_internal.h"

/* How the if of a path was decided: for this arm of it, or the other. */
typedef enum standing { NOT_RUN, OPEN, THIS_ARM, OTHER_ARM } standing;

static standing standing_of(const ft_machine *m, uint32_t path)
{
    assert(path > 0 && path <= m->trace->n_paths);
    const branch_cell *cell = &m->branches[(path - 1) / 2];
    if (cell->epoch != m->epoch) return NOT_RUN;
    if (cell->open) return OPEN;
    return cell->taken == m->trace->paths[path].taken ? THIS_ARM : OTHER_ARM;
}

bool ft_machine_passed(const ft_machine *m, uint32_t e)
{
    for (uint32_t p = ft_trace_path(m->trace, e); p; p = m->trace->paths[p].parent)
        if (standing_of(m, p) == OTHER_ARM) return true;
    return false;
}

/* Whether e can run (or, with `pass`, can be passed over) under the decisions so far; the choice
 * decides an open if accordingly. A thread has at most one open if, because its next step decides
 * it. */
static bool settle(const ft_machine *m, uint32_t e, bool pass, branch_choice *choice)
{
    const ft_path *paths = m->trace->paths;
    uint32_t open = 0;
    for (uint32_t p = ft_trace_path(m->trace, e); p; p = paths[p].parent) {
        standing now = standing_of(m, p);
        if (now == OTHER_ARM) return pass;
        if (now == OPEN) open = p;
    }
    if (!open) return !pass;
    bool taken = paths[open].taken != pass;
    if (choice->path && (choice->path - 1) / 2 == (open - 1) / 2) return choice->taken == taken;
    *choice = (branch_choice){open, taken};
    return true;
}

/* All events of the thread between its last executed one and `from`, that one included. */
static bool pass_over(const ft_machine *m, uint32_t thread, uint32_t from, branch_choice *choice,
                      uint32_t *obstacle)
{
    uint32_t last = ft_machine_thread(m, thread).last;
    for (uint32_t x = from; x != last; x = m->previous[x]) {
        if (x != FT_NO_EVENT && settle(m, x, true, choice)) continue;
        *obstacle = x;
        return false;
    }
    return true;
}

ft_status ft_machine_reach(const ft_machine *m, uint32_t e, branch_choice *choice, ft_error *why)
{
    uint32_t obstacle;
    *choice = (branch_choice){0};
    if (!settle(m, e, false, choice))
        return ft_error_set(why, FT_INPUT, "it is in an arm that its thread did not take");
    if (pass_over(m, m->trace->thread[e], m->previous[e], choice, &obstacle)) return FT_OK;
    return ft_error_set(why, FT_INPUT, "event %u comes before it in its thread", obstacle + 1);
}

static bool reach_end(const ft_machine *m, uint32_t thread, branch_choice *choice)
{
    uint32_t obstacle;
    *choice = (branch_choice){0};
    return pass_over(m, thread, m->final[thread], choice, &obstacle);
}

bool ft_machine_ended(const ft_machine *m, uint32_t thread)
{
    branch_choice choice;
    return reach_end(m, thread, &choice);
}

static void decide(ft_machine *m, branch_choice choice)
{
    if (!choice.path) return;
    assert(standing_of(m, choice.path) == OPEN); /* an arm that is taken stays taken */
    m->branches[(choice.path - 1) / 2] = (branch_cell){m->epoch, false, choice.taken};
}

void ft_machine_branch(ft_machine *m, uint32_t e)
{
    const ft_trace *trace = m->trace;
    branch_choice choice;
    if (!trace->n_paths) return;
    if (m->branches_open) {
        if (ft_machine_reach(m, e, &choice, NULL) == FT_OK) decide(m, choice);
        if (trace->kind[e] == FT_EVENT_JOIN && reach_end(m, trace->object[e], &choice))
            decide(m, choice);
    }
    if (trace->kind[e] != FT_EVENT_IF) return;
    assert(m->evaluated == e);
    uint32_t arm = ft_trace_arm(trace, e, true);
    bool taken = m->condition != FT_OUTCOME_FALSE;
    m->branches[(arm - 1) / 2] = (branch_cell){m->epoch, m->branches_open, taken};
}

void ft_machine_leave_branches_open(ft_machine *m, bool open)
{
    m->branches_open = open;
}
