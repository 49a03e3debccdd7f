/* A recording that follows an order of actions (raw/follow.h): which thread goes on at each hook.
 * Everything but the start is called by the thread with the baton. */
#include <link.h>
#include <string.h>

#include "explore/action.h"
#include "libc/contract.h"
#include "libc/libc.h"
#include "log/log.h"
#include "raw/follow.h"
#include "replay/replay.h"
#include "scheduling/kernel.h"
#include "scheduling/needs.h"
#include "scheduling/scheduling.h"
#include "state/thread.h"
#include "trace/event.h"

#define NOT_LOADED UINTPTR_MAX

bool ft_rt_following;

static struct {
    ft_follow *head;
    const ft_follow_entry *entries;
    const ft_follow_actor *actors;
    const ft_follow_module *modules;
    const ft_follow_range *ranges;
    ft_follow_input *inputs;
    uintptr_t *tied;        /* by object: its address; 0: not known yet */
    uint32_t *later;        /* by entry: the next one of its actor, or the number of entries */
    uint32_t *next;         /* by actor: its next entry */
    uint32_t *visits;       /* by actor: of its next entry's place, since its last one was done */
    ft_rt_thread **threads; /* by actor; NULL: not created yet */
    uintptr_t program_end;  /* the first address behind it */
    uintptr_t *bases;       /* by module; NOT_LOADED: not yet */
    ft_rt_thread *newborn;  /* it was created, and comes to its first action next */
    ft_rt_thread *creator;  /* goes on then */
    ft_rt_thread *last;     /* it did the last action; NULL: none was done */
    const ft_follow_entry **done;    /* by actor: its last one; NULL: none */
    const ft_follow_entry *finished; /* last action of the call at hand; NULL: it has none there */
    uint32_t variant;                /* of the action that was done last */
} order;

/* ---- places */

/* Where the program itself ends, which the dynamic linker has without a name. */
static void find_end(const struct dl_phdr_info *info)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
        if (info->dlpi_phdr[i].p_type == PT_LOAD && end > order.program_end)
            order.program_end = end;
    }
}

static int find_module(struct dl_phdr_info *info, size_t size, void *unused)
{
    if (!*info->dlpi_name && !order.program_end) find_end(info);
    (void)size;
    (void)unused;
    for (uint32_t m = 0; m < order.head->modules; m++)
        if (!strcmp(order.modules[m].path, info->dlpi_name)) order.bases[m] = info->dlpi_addr;
    return 0;
}

static bool is_at(const ft_follow_place *place, const void *pc)
{
    if (place->module == FT_FOLLOW_NONE || !pc) return false;
    if (order.bases[place->module] == NOT_LOADED) dl_iterate_phdr(find_module, NULL);
    uintptr_t base = order.bases[place->module], at = (uintptr_t)pc - 1 - base;
    for (uint32_t i = 0; base != NOT_LOADED && i < place->n; i++) {
        const ft_follow_range *r = &order.ranges[place->first + i];
        if (at >= r->from && at < r->to) return true;
    }
    return false;
}

/* A library makes the call, which a line of its headers stands for in the order. Libraries lie
 * above the program. */
static bool is_inside(const ft_follow_entry *e, const void *pc)
{
    return e->hook == FT_FOLLOW_CALL && (uintptr_t)pc >= order.program_end;
}

static bool is_hook(uint32_t hook, const ft_rt_thread *self)
{
    bool accesses = self->size > 0;
    switch ((ft_follow_hook)hook) {
    case FT_FOLLOW_ANY_HOOK:
        return true;
    case FT_FOLLOW_CALL:
        return !accesses;
    case FT_FOLLOW_READ:
        return accesses && !self->atomic && self->kind != FT_EVENT_WRITE;
    case FT_FOLLOW_WRITE:
        return accesses && !self->atomic && self->kind != FT_EVENT_READ;
    case FT_FOLLOW_ATOMIC:
        return accesses && self->atomic;
    case FT_FOLLOW_ACCESS:
        return accesses;
    }
    return false;
}

/* The hook's object is the entry's, or may be: both are met the first time. */
static bool is_of_object(const ft_follow_entry *e, uintptr_t address)
{
    if (e->hook == FT_FOLLOW_CALL && e->kind == FT_X_CREATE) return address == FT_RT_CREATES;
    if (e->hook == FT_FOLLOW_CALL && e->kind == FT_X_JOIN) return address == FT_RT_JOINS;
    if (!e->object || !address) return true;
    if (order.tied[e->object]) return order.tied[e->object] == address;
    for (uint32_t o = 1; o <= order.head->objects; o++)
        if (order.tied[o] == address) return false;
    return true;
}

/* ---- turns */

static const ft_follow_entry *next_of(const ft_rt_thread *thread)
{
    if (thread->follows == FT_RT_NOBODY) return NULL;
    uint32_t at = order.next[thread->follows];
    return at < order.head->entries ? &order.entries[at] : NULL;
}

/* Actions in the middle of a call, or behind it, whose hook has no place of its own. */
static bool is_within_call(const ft_follow_entry *e)
{
    static const bool WITHIN[FT_X_KINDS] = {
        [FT_X_WAKE] = true, [FT_X_LEAVE] = true, [FT_X_ONCE_END] = true, [FT_X_STEP] = true};
    return e->kind < FT_X_KINDS && WITHIN[e->kind];
}

static bool polls(const ft_follow_entry *e)
{
    return e->kind == FT_X_AWAIT || e->kind == FT_X_LINGER;
}

static bool is_same_place(const ft_follow_place *a, const ft_follow_place *b)
{
    return a->module == b->module && a->first == b->first;
}

/* A thread that polls waits before the call whose place it has, which is its next action; or, where
 * plain accesses are no actions, in a loop of them, which it is in for sure after some rounds. */
static bool is_on_its_way(const ft_follow_entry *e)
{
    enum { ROUNDS = 100 };
    uint32_t later = order.later[e - order.entries];
    const ft_follow_entry *next = later < order.head->entries ? &order.entries[later] : NULL;
    if (!polls(e)) return false;
    if (next && is_same_place(&next->place, &e->place)) return false;
    return ++order.visits[e->actor] < ROUNDS;
}

static bool has_turn(const ft_follow_entry *e)
{
    return e == &order.entries[order.head->at];
}

static void do_entry(const ft_follow_entry *e)
{
    assert(ft_rt_following && has_turn(e));
    order.next[e->actor] = order.later[e - order.entries];
    order.visits[e->actor] = 0;
    order.done[e->actor] = e;
    order.last = order.threads[e->actor];
    order.variant = e->kind == FT_X_SIGNAL ? e->variant : 0;
    if (++order.head->at == order.head->entries) ft_rt_following = false;
}

/* A write before has its value. */
static void give_way(ft_rt_thread *self)
{
    ft_rt_flush(self);
    ft_rt_give_way(self);
}

static void await_turn(ft_rt_thread *self, const ft_follow_entry *e)
{
    while (ft_rt_following && !has_turn(e)) give_way(self);
    if (ft_rt_following) do_entry(e);
}

/* The first action of a new thread: whoever created it goes on. */
static void stand(ft_rt_thread *self)
{
    if (order.newborn != self) return;
    order.newborn = NULL;
    if (order.creator) give_way(self);
}

/* The thread is one of those that wait for each other when the process ends: where that is next, it
 * goes on into the call in which it waits. */
static bool is_let_go(const ft_rt_thread *t)
{
    if (order.entries[order.head->at].kind != FT_X_EXIT || t->follows == FT_RT_NOBODY) return false;
    return order.actors[t->follows].waits && order.next[t->follows] == order.head->entries;
}

static ft_rt_thread *next_let_go(void)
{
    for (uint32_t a = 0; a < order.head->actors; a++) {
        ft_rt_thread *t = order.threads[a];
        if (t && is_let_go(t) && t->state == FT_RT_READY) return t;
    }
    return NULL;
}

/* A thread without further entries stays where it stood at the end. */
static void stand_at_end(ft_rt_thread *self, bool on_descriptor, const void *pc)
{
    if (self->follows == FT_RT_NOBODY) return;
    const ft_follow_actor *a = &order.actors[self->follows];
    if (on_descriptor != (a->on_descriptor != 0) || !is_at(&a->place, pc)) return;
    if (!is_hook(a->hook, self)) return;
    stand(self);
    while (ft_rt_following && !is_let_go(self)) give_way(self);
}

static bool is_same_call(const ft_follow_entry *a, const ft_follow_entry *b)
{
    return a->call && a->call == b->call && is_same_place(&a->place, &b->place);
}

/* Further actions of the call on descriptors whose last action was done. A call that looks (poll)
 * is made when all of its looks have their turns, so that it finds what they found. One that moves
 * content is made at its first action, since its reader may have to make room for the rest, and has
 * the others behind it. */
static void await_rest(ft_rt_thread *self, bool looks)
{
    if (self->follows == FT_RT_NOBODY) return;
    for (const ft_follow_entry *e; ft_rt_following && (e = next_of(self));) {
        const ft_follow_entry *before = order.done[self->follows];
        bool moves = e->kind == FT_X_SEND || e->kind == FT_X_RECEIVE;
        if (!before || !is_same_call(before, e) || (looks && moves)) return;
        await_turn(self, e);
    }
}

/* A robust mutex that cannot be used any more is given back by the call that locks it. */
static void await_return(ft_rt_thread *self)
{
    const ft_follow_entry *e = next_of(self), *before = order.done[self->follows];
    bool locks = before->kind == FT_X_LOCK || before->kind == FT_X_TRY_LOCK;
    if (!e || !locks || e->kind != FT_X_UNLOCK || e->hook != FT_FOLLOW_ANY_HOOK) return;
    if (e->place.module != FT_FOLLOW_NONE && is_same_place(&e->place, &before->place))
        await_turn(self, e);
}

/* The action is the look of a call at its object's memory, and the call's own one is next; or one
 * of those that a wide update is explored as, and not the last one. */
static bool is_look_of_call(const ft_follow_entry *e, const ft_rt_thread *self)
{
    const ft_follow_entry *next = next_of(self);
    bool update = self->kind == FT_EVENT_RMW && (e->kind == FT_X_LOAD || e->kind == FT_X_SWAP);
    if (!next || !is_same_place(&next->place, &e->place)) return false;
    if (update && next->kind == FT_X_SWAP) return true;
    return e->kind == FT_X_READ && next->kind != FT_X_READ && next->kind != FT_X_WRITE;
}

void ft_rt_follow_hook(ft_rt_thread *self)
{
    FT_REQUIRE(self == ft_rt_self);
    const void *pc = self->pc;
    bool on_descriptor = self->on_descriptor;
    uintptr_t object = self->size ? self->address : self->object;
    self->pc = NULL;
    self->object = 0;
    self->on_descriptor = false;
    order.finished = NULL;
    if (pc) await_rest(self, false);
    for (const ft_follow_entry *e; pc && ft_rt_following && (e = next_of(self));) {
        bool within = is_within_call(e), fits = (e->call != 0) == on_descriptor;
        bool there = fits && is_hook(e->hook, self) && (is_at(&e->place, pc) || is_inside(e, pc));
        if (!within && (!there || !is_of_object(e, object) || is_on_its_way(e))) return;
        if (!within && e->object) order.tied[e->object] = object;
        stand(self);
        await_turn(self, e);
        if (within || polls(e) || e->kind == FT_X_QUEUE || is_look_of_call(e, self)) continue;
        await_rest(self, true);
        await_return(self);
        order.finished = order.done[self->follows];
        return;
    }
    if (pc && ft_rt_following) stand_at_end(self, on_descriptor, pc);
}

/* The lock of a futex is given back at the end of each call on it. */
ft_rt_followed ft_rt_follow_futex(void)
{
    const ft_follow_entry *last = order.finished;
    order.finished = NULL;
    if (!last || !last->call || last->kind != FT_X_UNLOCK) return FT_RT_NOT_FOLLOWED;
    for (const ft_follow_entry *e = last; e-- > order.entries;) {
        if (e->actor != last->actor) continue;
        if (!is_same_call(e, last)) break;
        if (e->kind == FT_X_WAKE && e->variant == FT_X_TIMED_OUT) return FT_RT_FOLLOWED_LATE;
    }
    return FT_RT_FOLLOWED;
}

void ft_rt_follow_resumed(ft_rt_thread *self)
{
    const ft_follow_entry *e = next_of(self);
    if (e && is_within_call(e) && has_turn(e)) do_entry(e);
}

/* The last half of its last call, where that did not have to wait (the last one to arrive at a
 * barrier). */
static void end_call(ft_rt_thread *self)
{
    for (const ft_follow_entry *e; ft_rt_following && (e = next_of(self)) && is_within_call(e);)
        await_turn(self, e);
}

void ft_rt_follow_call(ft_rt_thread *self, const void *pc)
{
    for (const ft_follow_entry *e; ft_rt_following && (e = next_of(self));) {
        if (e->hook != FT_FOLLOW_ANY_HOOK || !is_at(&e->place, pc)) return;
        await_turn(self, e);
    }
}

/* A thread whose end of the process is not in the order stands before it until the order is done:
 * the run ended otherwise. */
void ft_rt_follow_exit(ft_rt_thread *self)
{
    end_call(self);
    const ft_follow_entry *e = next_of(self);
    while (e && e->kind == FT_X_EXIT && ft_rt_following && (!has_turn(e) || next_let_go()))
        give_way(self);
    if (e && e->kind == FT_X_EXIT) await_turn(self, e);
    if (e || self->follows == FT_RT_NOBODY) return;
    stand(self);
    while (ft_rt_following) give_way(self);
}

void ft_rt_follow_end(ft_rt_thread *self)
{
    end_call(self);
    const ft_follow_entry *e = next_of(self);
    if (e && e->kind == FT_X_UNLOCK && e->place.module == FT_FOLLOW_NONE) await_turn(self, e);
}

/* The new thread, before its function: its first action is to begin, or it never does. */
void ft_rt_follow_begins(ft_rt_thread *self)
{
    const ft_follow_entry *e = next_of(self);
    if (self->follows == FT_RT_NOBODY) return;
    bool begins = e && e->kind == FT_FOLLOW_BEGIN, idle = order.actors[self->follows].idle;
    if (!begins && !idle) return;
    stand(self);
    if (begins) await_turn(self, e);
    while (idle && ft_rt_following) give_way(self);
}

bool ft_rt_follow_input(const ft_rt_thread *self, const char *name, uint64_t *value)
{
    if (!order.head || self->follows == FT_RT_NOBODY) return false;
    for (uint32_t i = 0; i < order.head->inputs; i++) {
        ft_follow_input *one = &order.inputs[i];
        if (one->taken || one->actor != self->follows) continue;
        if (strncmp(one->name, name, sizeof one->name - 1) != 0) continue;
        one->taken = 1;
        order.head->given++;
        *value = one->value;
        return true;
    }
    return false;
}

void ft_rt_follow_created(ft_rt_thread *self, ft_rt_thread *child)
{
    if (child->follows == FT_RT_NOBODY) return;
    order.newborn = child;
    order.creator = self;
    give_way(self);
}

/* A thread that fails ends the process, and is nowhere when its end would be its turn. */
static void diverge(void)
{
    order.head->diverged = order.entries[order.head->at].kind != FT_X_EXIT;
    ft_rt_following = false;
}

/* The thread that a wait of its own keeps from its turn: the wait ends by its time limit, or, for a
 * condition, by itself. */
static ft_rt_thread *end_wait(ft_rt_thread *t, const ft_follow_entry *e)
{
    if (!t->timed && e->kind != FT_X_WAKE) return diverge(), NULL;
    ft_rt_wake(t, t->timed);
    return t;
}

/* Its call on a descriptor has not taken effect yet. One that sleeps waits for another thread. */
static bool is_in_call(const ft_rt_thread *t)
{
    return t && t->state == FT_RT_OUTSIDE && t->tid && ft_rt_kernel_state(t->tid, NULL) == 'R';
}

ft_rt_thread *ft_rt_follow_next(void)
{
    ft_rt_thread *first = order.newborn;
    if (first && first->state == FT_RT_OUTSIDE) return NULL;
    if (!first || first->state != FT_RT_READY) first = order.creator;
    if (first == order.creator) order.newborn = order.creator = NULL;
    if (first && first->state == FT_RT_READY) return first;
    if ((first = next_let_go())) return first;
    const ft_follow_entry *e = &order.entries[order.head->at];
    ft_rt_thread *t = order.threads[e->actor];
    if (!t || t->state == FT_RT_DONE) return diverge(), NULL;
    if (t->state == FT_RT_OUTSIDE || is_in_call(order.last)) return NULL;
    return t->state == FT_RT_BLOCKED ? end_wait(t, e) : t;
}

ft_rt_thread *ft_rt_follow_waiter(const void *what)
{
    ft_rt_thread *t = order.variant && order.variant <= order.head->actors
                          ? order.threads[order.variant - 1]
                          : NULL;
    return t && t->state == FT_RT_BLOCKED && t->waits_for == what ? t : NULL;
}

void ft_rt_follow_born(ft_rt_thread *child, const ft_rt_thread *parent)
{
    child->follows = FT_RT_NOBODY;
    for (uint32_t a = 0; a < order.head->actors; a++) {
        bool first = order.actors[a].parent == FT_FOLLOW_NONE;
        bool same = parent ? !first && order.actors[a].parent == parent->follows &&
                                 order.actors[a].child == child->number
                           : first;
        if (!same) continue;
        child->follows = a;
        order.threads[a] = child;
        return;
    }
}

/* ---- the start */

void ft_rt_follow_start(void *content)
{
    assert(!order.head);
    order.head = content;
    order.entries = (const ft_follow_entry *)(order.head + 1);
    order.actors = (const ft_follow_actor *)(order.entries + order.head->entries);
    order.modules = (const ft_follow_module *)(order.actors + order.head->actors);
    order.ranges = (const ft_follow_range *)(order.modules + order.head->modules);
    order.inputs = (ft_follow_input *)(uintptr_t)(order.ranges + order.head->ranges);
    order.tied = ft_rt_map((order.head->objects + 1) * sizeof *order.tied);
    order.later = ft_rt_map(order.head->entries * sizeof *order.later + 1);
    order.next = ft_rt_map(order.head->actors * sizeof *order.next + 1);
    order.visits = ft_rt_map(order.head->actors * sizeof *order.visits + 1);
    order.threads = ft_rt_map(order.head->actors * sizeof *order.threads + 1);
    order.done = ft_rt_map(order.head->actors * sizeof *order.done + 1);
    order.bases = ft_rt_map(order.head->modules * sizeof *order.bases + 1);
    for (uint32_t m = 0; m < order.head->modules; m++) order.bases[m] = NOT_LOADED;
    for (uint32_t a = 0; a < order.head->actors; a++) order.next[a] = order.head->entries;
    for (uint32_t i = order.head->entries; i-- > 0;) {
        order.later[i] = order.next[order.entries[i].actor];
        order.next[order.entries[i].actor] = i;
    }
    dl_iterate_phdr(find_module, NULL);
    ft_rt_following = order.head->entries > 0;
}
