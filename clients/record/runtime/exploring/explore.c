/* Turns: which thread goes on at each action. */
#include <string.h>

#include "exploring/needs.h"
#include "exploring/run.h"
#include "libc/contract.h"
#include "libc/libc.h"

struct ft_rt_x_run ft_rt_x;

/* ---- the end of a run */

void ft_rt_x_end_run(ft_x_end end)
{
    ft_exploring_slot *s = ft_rt_x.slot;
    for (uint32_t t = 0; t < FT_X_THREADS; t++) {
        const ft_rt_x_thread *thread = &ft_rt_x.threads[t];
        s->pending[t] = thread->pending;
        s->pending_pc[t] = (uintptr_t)thread->pc;
    }
    if (end == FT_X_DONE && !s->result.failure) ft_rt_x_find_cycle(&s->result);
    uint32_t failure = s->result.failure;
    bool exits = failure == FT_EXPLORING_FAILED_NONE || failure == FT_EXPLORING_FAILED_EXIT ||
                 failure == FT_EXPLORING_FAILED_STUCK;
    ft_rt_world_ends(end == FT_X_DONE && exits);
    s->n_objects = ft_rt_x.n_objects;
    s->end = end;
    __atomic_store_n(&s->is_complete, 1, __ATOMIC_RELEASE);
    ft_rt_x_grade_used->end_run();
}

bool ft_rt_x_has_begun(void)
{
    return ft_rt_x.begun;
}

void ft_rt_x_refuse(const char *call, const void *pc)
{
    if (!ft_rt_x.begun) ft_rt_x_first_choice(ft_rt_x_self);
    ft_exploring_slot *s = ft_rt_x.slot;
    ft_rt_x_copy_text(s->refused, sizeof s->refused, call);
    s->result.pc = (uintptr_t)pc;
    ft_rt_x_end_run(FT_X_CUT);
}

static void stray(const char *why)
{
    ft_exploring_slot *s = ft_rt_x.slot;
    ft_rt_x_copy_text(s->strayed, sizeof s->strayed, why);
    ft_rt_x_end_run(FT_X_STRAYED);
}

/* ---- whose turn it is */

static bool has_ended(void)
{
    for (uint32_t t = 0; t < FT_X_THREADS; t++)
        if (ft_rt_x.threads[t].exists && !ft_rt_x.threads[t].ended) return false;
    return true;
}

/* Where no thread can do anything else. */
static bool can_go_on_late(const ft_rt_x_thread *t)
{
    if (!t->exists || t->ended) return false;
    if (!ft_x_may_be_late(&ft_rt_x.state, t->number, &t->pending)) return false;
    ft_rt_x.choice = (ft_x_choice){.variant = FT_X_TIMED_OUT};
    return true;
}

/* The prefix decides. */
static ft_rt_x_thread *follow(const ft_x_pick *pick)
{
    ft_x_choice choices[FT_X_THREADS];
    if (pick->thread >= FT_X_THREADS || !ft_rt_x.threads[pick->thread].exists)
        stray("a thread of the prefix was not created");
    ft_rt_x_thread *t = &ft_rt_x.threads[pick->thread];
    uint32_t n = ft_x_choices(&ft_rt_x.state, t->number, &t->pending, choices);
    for (uint32_t i = 0; i < n; i++) {
        if (choices[i].variant != pick->variant) continue;
        ft_rt_x.choice = choices[i];
        return t;
    }
    if (!n && pick->variant == FT_X_TIMED_OUT && can_go_on_late(t)) return t;
    stray("a thread of the prefix cannot go on");
    return NULL;
}

static bool can_go_on(const ft_rt_x_thread *t, bool avoid)
{
    ft_x_choice choices[FT_X_THREADS];
    if (!t->exists || t->ended) return false;
    if (avoid && ft_rt_x.slot->avoid[t->number] == t->steps + 1) return false;
    if (!ft_x_choices(&ft_rt_x.state, t->number, &t->pending, choices)) return false;
    ft_rt_x.choice = choices[0];
    return true;
}

/* Few preemptions: the running thread, else the next one that can go on. */
static ft_rt_x_thread *by_itself(ft_rt_x_thread *self)
{
    for (int avoid = 1; avoid >= 0; avoid--)
        for (uint32_t i = 0; i < FT_X_THREADS; i++) {
            ft_rt_x_thread *t = &ft_rt_x.threads[(self->number + i) % FT_X_THREADS];
            if (can_go_on(t, avoid)) return t;
        }
    for (uint32_t i = 0; i < FT_X_THREADS; i++)
        if (can_go_on_late(&ft_rt_x.threads[i])) return &ft_rt_x.threads[i];
    return NULL;
}

ft_rt_x_thread *ft_rt_x_pick(ft_rt_x_thread *self)
{
    uint32_t n = ft_rt_x.slot->n_steps;
    ft_rt_x_thread *next = NULL;
    if (n == ft_rt_x_header->options.max_steps) ft_rt_x_end_run(FT_X_CUT);
    next = n < ft_rt_x.slot->n_prefix ? follow(&ft_rt_x.prefix[n]) : by_itself(self);
    if (!next) ft_rt_x_end_run(has_ended() ? FT_X_DONE : FT_X_STUCK);
    ft_rt_x.running = next;
    ft_rt_x.slot->running = next->number;
    return next;
}

/* ---- actions */

/* Its time limit, if it has one. */
static bool has_passed(const ft_x_action *a)
{
    const ft_x_operation *o = &a->operation;
    bool attempt = o->kind == FT_X_TRY_LOCK || o->kind == FT_X_TRY_TAKE ||
                   o->kind == FT_X_TRY_READ_LOCK || o->kind == FT_X_TRY_WRITE_LOCK ||
                   o->kind == FT_X_TRY_JOIN;
    if (attempt) return (o->value & FT_X_TIMED) && !a->outcome;
    bool early = o->kind == FT_X_WAKE && (o->value & FT_X_EARLY);
    return a->variant == FT_X_TIMED_OUT && o->kind != FT_X_LINGER && (early || ft_x_is_late(a));
}

static void log_step(const ft_x_action *a, const void *pc)
{
    ft_exploring_slot *s = ft_rt_x.slot;
    assert(s->n_steps < ft_rt_x_header->options.max_steps);
    ft_rt_x_thread *t = &ft_rt_x.threads[a->thread];
    bool is_limit = has_passed(a) && t->limit >= t->longest;
    ft_rt_x.steps[s->n_steps] =
        (ft_exploring_step){.action = *a,
                            .pc = (uintptr_t)pc,
                            .call = t->calls,
                            .in_call = t->in_call,
                            .delay_pc = (uintptr_t)(is_limit ? pc : t->slept_at),
                            .delay_ms = t->slept + (has_passed(a) ? t->limit : 0),
                            .delay_is_limit = is_limit};
    t->slept = t->longest = 0;
    __atomic_store_n(&s->n_steps, s->n_steps + 1, __ATOMIC_RELEASE);
}

static ft_x_choice carry_out(ft_rt_x_thread *self)
{
    ft_x_choice choice = ft_rt_x.choice;
    ft_x_action a = {.operation = self->pending,
                     .thread = (uint16_t)self->number,
                     .variant = choice.variant,
                     .outcome = choice.outcome};
    ft_rt_x_attempts(&a.operation);
    if (has_passed(&a)) ft_rt_x_passes((self->limit + INT64_C(1)) * 1000000);
    ft_x_apply(&ft_rt_x.state, &a);
    if (ft_rt_x.begun) {
        log_step(&a, self->pc);
        ft_rt_x_clock_step(&a);
    }
    self->steps += ft_rt_x.begun;
    self->pending = (ft_x_operation){.kind = FT_X_NONE};
    self->limit = 0;
    if (ft_rt_x.state.exited) {
        ft_rt_x.slot->result = self->failure;
        ft_rt_x_end_run(FT_X_DONE);
    }
    return choice;
}

/* Before the first choice there is one thread, which nobody has to wait for. */
static bool is_plain(ft_rt_x_thread *self)
{
    ft_x_choice choices[FT_X_THREADS];
    ft_x_kind kind = (ft_x_kind)self->pending.kind;
    if (ft_rt_x.begun || kind == FT_X_CREATE || kind == FT_X_EXIT) return false;
    if (!ft_x_choices(&ft_rt_x.state, self->number, &self->pending, choices)) return false;
    ft_rt_x.choice = choices[0];
    return true;
}

ft_x_choice ft_rt_x_announce(const ft_x_operation *operation, const void *pc)
{
    ft_rt_x_thread *self = ft_rt_x_self;
    FT_REQUIRE(self && operation->kind != FT_X_NONE);
    self->pending = *operation;
    self->pc = pc;
    if (is_plain(self)) return carry_out(self);
    if (!ft_rt_x.begun) ft_rt_x_first_choice(self);
    if (!self->stands) {
        self->stands = true;
        ft_rt_x_grade_used->hand_over(self, self->creator);
    } else {
        ft_rt_x_thread *next = ft_rt_x_pick(self);
        if (next != self) ft_rt_x_grade_used->hand_over(self, next);
    }
    assert(ft_rt_x.running == self);
    return carry_out(self);
}

void ft_rt_x_call_begins(void)
{
    ft_rt_x_self->calls++;
}

ft_x_choice ft_rt_explore_more(const ft_x_operation *operation, const void *pc)
{
    ft_rt_x_goes_on();
    ft_x_choice choice = ft_rt_x_announce(operation, pc);
    ft_rt_x_attempted(operation, pc, &choice);
    return choice;
}

ft_x_choice ft_rt_explore(const ft_x_operation *operation, const void *pc)
{
    ft_x_operation poll;
    ft_rt_x_uses(operation, pc);
    if (ft_rt_x_polls(operation, pc, &poll)) {
        ft_x_choice choice = ft_rt_x_announce(&poll, pc);
        ft_rt_x_polled(&choice);
    }
    ft_x_choice choice = ft_rt_x_announce(operation, pc);
    ft_rt_x_attempted(operation, pc, &choice);
    return choice;
}
