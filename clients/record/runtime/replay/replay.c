/* Following a schedule (raw/schedule.h): compares each thread's steps with it, and says which
 * thread is next. */
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libc/contract.h"
#include "libc/libc.h"
#include "log/log.h"
#include "log/needs.h"
#include "raw/raw.h"
#include "raw/schedule.h"
#include "replay/needs.h"
#include "replay/progress.h"
#include "replay/replay.h"
#include "scheduling/needs.h"
#include "scheduling/scheduling.h"
#include "state/thread.h"
#include "trace/event.h"

enum { SITES = 1 << 19, MODULES = 256, UNKNOWN_PLACE = UINT32_MAX - 1 };

bool ft_rt_replaying;

/* Where a module is. */
typedef struct place {
    uintptr_t base, end;
    uint32_t module; /* in the schedule, FT_SCHEDULE_NONE: it has no event */
    bool own;        /* of the C library */
} place;

typedef struct memory {
    uintptr_t from, to; /* equal: not known */
} memory;

static struct {
    ft_schedule *schedule;
    const ft_schedule_entry *entries;
    const ft_schedule_actor *actors;
    const ft_schedule_site *sites;
    ft_schedule_module *modules;
    ft_rt_thread **threads; /* by actor, NULL: not created yet */
    uint32_t n;             /* entries */
    place places[MODULES];
    uint32_t n_places;
    unsigned long long adds; /* of libraries, as the dynamic linker counts them */
    uint32_t *known;         /* by site: the first of that code, plus 1; 0: not looked up yet */
    uint32_t seen;           /* by the watchdog */
    time_t since;            /* progress, of whatever kind */
    time_t moved;            /* the schedule */
    time_t starved;          /* not all threads were, by then */
    bool sent;               /* the signal whose handler comes next */
    memory stood[2];         /* where it is that the last finals are before */
    memory block;            /* that the last one touches */
    bool freed;              /* that block was, and no other one is there */
} play;

static const ft_schedule_entry *entry(void)
{
    assert(play.schedule->at < play.n);
    return &play.entries[play.schedule->at];
}

/* ---- places */

static uint32_t module_named(const char *name)
{
    if (!*name) return 0;
    for (uint32_t m = 1; m < play.schedule->modules; m++)
        if (!strncmp(play.modules[m].name, name, FT_SCHEDULE_NAME - 1)) return m;
    return FT_SCHEDULE_NONE;
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* A library that was loaded later has in the recording the name that its links lead to
 * (memory/modules.c). */
static uint32_t module_at(const char *path)
{
    char real[PATH_MAX];
    uint32_t m = module_named(base_of(path));
    return m == FT_SCHEDULE_NONE && realpath(path, real) ? module_named(base_of(real)) : m;
}

static void keep_path(uint32_t m, const char *name)
{
    char path[PATH_MAX];
    if (m == FT_SCHEDULE_NONE || !m || *play.modules[m].path) return;
    if (realpath(name, path)) name = path;
    if (strlen(name) < FT_SCHEDULE_PATH) memcpy(play.modules[m].path, name, strlen(name) + 1);
}

static int find_place(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    (void)data;
    play.adds = info->dlpi_adds;
    if (play.n_places == MODULES || (play.n_places && !*info->dlpi_name)) return 0;
    place *p = &play.places[play.n_places++];
    *p = (place){.base = info->dlpi_addr,
                 .module = module_at(info->dlpi_name),
                 .own = ft_schedule_is_c_library(info->dlpi_name, strlen(info->dlpi_name))};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
        if (info->dlpi_phdr[i].p_type == PT_LOAD && end > p->end) p->end = end;
    }
    keep_path(p->module, info->dlpi_name);
    return 0;
}

static int has_more(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    return info->dlpi_adds != play.adds ? 2 : 1;
}

static const place *known_place(const void *pc)
{
    for (uint32_t i = 0; i < play.n_places; i++)
        if ((uintptr_t)pc >= play.places[i].base && (uintptr_t)pc < play.places[i].end)
            return &play.places[i];
    return NULL;
}

/* Libraries may have been loaded since. */
static const place *place_of(const void *pc)
{
    const place *known = known_place(pc);
    if (known || dl_iterate_phdr(has_more, NULL) != 2) return known;
    play.n_places = 0;
    dl_iterate_phdr(find_place, NULL);
    return known_place(pc);
}

uint64_t ft_rt_place(const void *pc, uint32_t *module)
{
    const place *p = pc ? place_of(pc) : NULL;
    *module = p ? p->module : FT_SCHEDULE_NONE;
    return (uintptr_t)pc - (*module != FT_SCHEDULE_NONE ? p->base : 0);
}

static uint32_t look_up(const void *pc)
{
    const place *p = place_of(pc);
    for (uint32_t i = 0; p && i < play.schedule->sites; i++)
        if (play.sites[i].module == p->module && p->base + play.sites[i].offset == (uintptr_t)pc)
            return i;
    return UNKNOWN_PLACE;
}

/* Is that one of the locations that the code has? */
static bool is_at(const void *pc, uint32_t loc)
{
    uint32_t site = ft_rt_site(pc);
    assert(site < SITES);
    if (!play.known[site]) play.known[site] = look_up(pc) + 1;
    uint32_t first = play.known[site] - 1;
    if (first == UNKNOWN_PLACE) return false;
    const ft_schedule_site *at = &play.sites[first], *end = play.sites + play.schedule->sites;
    for (const ft_schedule_site *s = at; s < end; s++) {
        if (s->module != at->module || s->offset != at->offset) return false;
        if (s->loc == loc) return true;
    }
    return false;
}

/* ---- how it ends */

static void leave_process(int code) __attribute__((noreturn));
static void leave_process(int code)
{
    syscall(SYS_exit_group, code);
    __builtin_unreachable();
}

void ft_rt_give_up(uint32_t outcome)
{
    play.schedule->outcome = outcome;
    ft_rt_environment_tell();
    leave_process(FT_RT_STOPPED);
}

static void found_other(const ft_rt_thread *self) __attribute__((noreturn));
static void found_other(const ft_rt_thread *self)
{
    play.schedule->kind = self->kind;
    play.schedule->offset = ft_rt_place(self->pc, &play.schedule->module);
    ft_rt_give_up(FT_SCHEDULE_OTHER_OUTCOME);
}

static time_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

static bool are_apart(const memory *a, const memory *b)
{
    bool known = a->from < a->to && b->from < b->to;
    return known && (a->from >= b->to || b->from >= a->to);
}

/* The schedule names a memory block that is not allocated yet, or is another one here. */
static bool is_elsewhere(void)
{
    if (!play.schedule->block_step) return false;
    const memory *used = &play.stood[1];
    if (play.schedule->freed && (!play.freed || used->from == used->to)) return true;
    return play.block.from == play.block.to || are_apart(&play.block, used);
}

/* The final steps are reached; from here on the program runs freely. */
static void reached(void)
{
    assert(ft_rt_replaying && play.schedule->at == play.n);
    bool apart = play.schedule->meet && are_apart(&play.stood[0], &play.stood[1]);
    if (apart || is_elsewhere()) {
        play.schedule->at = play.n - 1;
        ft_rt_give_up(apart ? FT_SCHEDULE_APART_OUTCOME : FT_SCHEDULE_ELSEWHERE_OUTCOME);
    }
    bool stuck = play.schedule->stuck;
    play.schedule->outcome = stuck ? FT_SCHEDULE_LOOSE_OUTCOME : FT_SCHEDULE_REACHED_OUTCOME;
    play.since = now();
    ft_rt_replaying = false;
    if (play.schedule->stop && !stuck) leave_process(FT_RT_STOPPED);
}

void ft_rt_replay_deadlock(void)
{
    bool stuck = play.schedule->outcome == FT_SCHEDULE_LOOSE_OUTCOME;
    if (stuck) play.schedule->outcome = FT_SCHEDULE_REACHED_OUTCOME;
}

void ft_rt_replay_exit(void)
{
    if (!ft_rt_replaying) return;
    play.schedule->outcome = FT_SCHEDULE_EXITED_OUTCOME;
    ft_rt_replaying = false;
    ft_rt_environment_tell();
}

/* The handler of a signal comes next, and no thread that could send it goes on: the signal came
 * from outside. */
static void send_from_outside(void)
{
    const ft_schedule_entry *e = entry();
    const ft_rt_thread *t = play.threads[e->actor];
    if (!e->signal || play.sent || !t || t->steps != e->step - 1) return;
    if (ft_rt_signal_waits(t, (int)e->signal)) return;
    play.sent = true;
    syscall(SYS_tgkill, syscall(SYS_getpid), t->tid, e->signal);
}

static bool may_go_on(const ft_rt_thread *t)
{
    switch (t->state) {
    case FT_RT_DONE:
        return false;
    case FT_RT_BLOCKED:
        return t->timed || t->interrupted;
    case FT_RT_OUTSIDE:
        return !t->starves;
    default:
        return true;
    }
}

/* After the schedule's end: all threads wait for each other, or for content that no thread sends.
 */
static bool is_starved(void)
{
    bool starves = false;
    const ft_rt_thread *t;
    if (ft_rt_replaying || ft_rt_timers || ft_rt_processes) return false;
    for (uint32_t i = 0; (t = ft_rt_thread_at(i)); i++) {
        if (may_go_on(t)) return false;
        if (t->state == FT_RT_OUTSIDE) starves = true;
    }
    return starves;
}

static void look_at_starved(time_t time)
{
    enum { PATIENCE = 2 /* s: a woken thread is still outside for a moment */ };
    if (!is_starved()) play.starved = time;
    if (time - play.starved < PATIENCE) return;
    play.schedule->ended = FT_SCHEDULE_STARVED;
    leave_process(FT_RT_STOPPED);
}

/* A wait that is seen so often, one look behind the other, is not one that is about to end. */
static void look_at_progress(time_t time)
{
    enum { OFTEN = 6, LONGEST = 20 /* s: a thread that polls with sleeps gets nowhere either */ };
    static ft_rt_progress progress;
    static uint32_t over;
    const ft_rt_thread *next = entry()->signal ? NULL : play.threads[entry()->actor];
    if (!next) return;
    over = ft_rt_progress_is_over(next) ? over + 1 : 0;
    if (over >= OFTEN) ft_rt_give_up(FT_SCHEDULE_TIME_OUTCOME);
    bool waits = time - play.moved < LONGEST || (time_t)play.schedule->seconds > LONGEST;
    if (ft_rt_progress_is_made(next, &progress) && waits) play.since = time;
}

void ft_rt_replay_watch(void)
{
    time_t time = now();
    look_at_starved(time);
    if (ft_rt_replaying && play.schedule->at < play.n) look_at_progress(time);
    if (ft_rt_replaying && play.seen != play.schedule->at) {
        play.seen = play.schedule->at;
        play.since = play.moved = time;
        play.sent = false;
    }
    if (ft_rt_replaying && time - play.since >= 1) send_from_outside();
    if (time - play.since < (time_t)play.schedule->seconds) return;
    if (ft_rt_replaying) ft_rt_give_up(FT_SCHEDULE_TIME_OUTCOME);
    play.schedule->ended = FT_SCHEDULE_LATE;
    leave_process(FT_RT_STOPPED);
}

/* ---- whose turn it is */

static bool is_blocked_before(const ft_rt_thread *t, uint32_t step)
{
    return t->state == FT_RT_BLOCKED && !t->timed && t->steps == step - 1;
}

static bool is_done(const ft_schedule_entry *e)
{
    const ft_rt_thread *t = play.threads[e->actor];
    if (!t || e->mode == FT_SCHEDULE_STAND) return false;
    return e->mode == FT_SCHEDULE_BLOCK ? is_blocked_before(t, e->step) : t->steps >= e->step;
}

static void advance(void)
{
    while (play.schedule->at < play.n && is_done(entry())) play.schedule->at++;
    if (play.schedule->at == play.n) reached();
}

static bool fits(const ft_rt_thread *self, const ft_schedule_entry *e)
{
    bool any = self->kind == FT_RT_ANY || e->kind == FT_SCHEDULE_NONE;
    if (!any && self->kind != e->kind) return false;
    return !self->pc || !e->loc || is_at(self->pc, e->loc);
}

/* A hook without a description may not be a step: its record decides. */
static bool stands(ft_rt_thread *self, const ft_schedule_entry *e)
{
    assert(e == entry() && e->mode == FT_SCHEDULE_STAND);
    bool sure = self->kind != FT_RT_ANY;
    if (!sure && (!self->pc || !fits(self, e))) return false;
    if (!fits(self, e)) found_other(self);
    play.stood[0] = play.stood[1];
    play.stood[1].from = self->address;
    play.stood[1].to = self->address + self->size;
    play.schedule->at++;
    return true;
}

bool ft_rt_replay_may(ft_rt_thread *self, bool hook)
{
    FT_REQUIRE(self->state == FT_RT_RUNNING);
    advance();
    if (!ft_rt_replaying) return true;
    const ft_schedule_entry *e = entry();
    if (play.threads[e->actor] != self) return false;
    if (!hook || self->steps != e->step - 1) return true;
    if (e->mode == FT_SCHEDULE_STAND) {
        if (!stands(self, e)) return true;
        advance();
        return !ft_rt_replaying;
    }
    if (self->kind != FT_RT_ANY && !fits(self, e)) found_other(self);
    return true;
}

static bool is_handler_of(int number, uint32_t loc)
{
    const void *pc = ft_rt_signals_handler(number);
    return pc && (!loc || is_at(pc, loc));
}

ft_rt_thread *ft_rt_replay_handler(int number)
{
    for (uint32_t i = play.schedule->at; i < play.n; i++) {
        const ft_schedule_entry *e = &play.entries[i];
        ft_rt_thread *t = play.threads[e->actor];
        if (e->kind != FT_EVENT_EDGE_IN || (t && e->step <= t->steps)) continue;
        if (is_handler_of(number, e->loc)) return t;
    }
    return NULL;
}

int ft_rt_replay_handles(const ft_rt_thread *self)
{
    if (!ft_rt_signals_handled()) return 0;
    for (uint32_t i = play.schedule->at; i < play.n; i++) {
        const ft_schedule_entry *e = &play.entries[i];
        if (play.threads[e->actor] != self) continue;
        if (e->step <= self->steps) continue;
        bool next = e->step == self->steps + 1 && e->kind == FT_EVENT_EDGE_IN && e->signal;
        return next && is_handler_of((int)e->signal, e->loc) ? (int)e->signal : 0;
    }
    return 0;
}

ft_rt_thread *ft_rt_replay_next(void)
{
    advance();
    if (!ft_rt_replaying) return NULL;
    const ft_schedule_entry *e = entry();
    ft_rt_thread *t = play.threads[e->actor];
    if (!t) ft_rt_give_up(FT_SCHEDULE_MISSING_OUTCOME);
    if (t->state == FT_RT_DONE) ft_rt_give_up(FT_SCHEDULE_ENDED_OUTCOME);
    if (t->state == FT_RT_OUTSIDE) return NULL;
    if (t->state != FT_RT_BLOCKED) return t;
    int number = ft_rt_replay_handles(t);
    if (number) {
        if (!ft_rt_signal_waits(t, number)) return NULL; /* it is on its way */
        assert(t->waits_for);
        t->interrupted = true;
        t->state = FT_RT_READY;
        return t;
    }
    bool times_out = e->mode == FT_SCHEDULE_TIMEOUT || (t->timed && e->kind != FT_EVENT_COND_WAKE);
    if (!times_out && e->kind != FT_EVENT_COND_WAKE) ft_rt_give_up(FT_SCHEDULE_BLOCKED_OUTCOME);
    ft_rt_wake(t, times_out);
    return t;
}

static bool is_final(const ft_rt_thread *t)
{
    for (uint32_t i = play.schedule->steps; i < play.n; i++)
        if (play.threads[play.entries[i].actor] == t) return true;
    return false;
}

bool ft_rt_replay_ends(void)
{
    const ft_rt_thread *self = ft_rt_self;
    for (uint32_t i = play.schedule->steps; self && i < play.n; i++) {
        const ft_schedule_entry *e = &play.entries[i];
        if (play.threads[e->actor] == self && e->step == self->steps + 1) return true;
    }
    return false;
}

bool ft_rt_replay_times_out(const ft_rt_thread *thread)
{
    for (uint32_t i = play.schedule->at; i < play.n; i++) {
        const ft_schedule_entry *e = &play.entries[i];
        if (play.threads[e->actor] != thread || e->step <= thread->steps) continue;
        return e->mode == FT_SCHEDULE_TIMEOUT;
    }
    return false;
}

ft_rt_thread *ft_rt_replay_waiter(const void *what)
{
    for (uint32_t i = play.schedule->at; i < play.n; i++) {
        const ft_schedule_entry *e = &play.entries[i];
        ft_rt_thread *t = play.threads[e->actor];
        bool wakes = e->kind == FT_EVENT_COND_WAKE && e->mode == FT_SCHEDULE_DO;
        if (wakes && t && t->state == FT_RT_BLOCKED && t->waits_for == what) return t;
    }
    for (uint32_t a = 0; a < play.schedule->actors; a++) {
        ft_rt_thread *t = play.threads[a];
        bool here = t && t->state == FT_RT_BLOCKED && t->waits_for == what;
        if (here && !is_final(t) && !(t->timed && ft_rt_replay_times_out(t))) return t;
    }
    return NULL;
}

/* ---- steps */

void ft_rt_replay_step(ft_rt_thread *self, uint32_t kind, uint32_t site)
{
    FT_REQUIRE(self == ft_rt_self);
    assert(self->state == FT_RT_RUNNING && self->inside);
    self->kind = kind;
    self->pc = site == UINT32_MAX ? NULL : ft_rt_site_pc(site);
    ft_rt_turn(self, true);
    self->kind = FT_RT_ANY;
    self->pc = NULL;
    self->size = 0;
    if (!ft_rt_replaying) return;
    const ft_schedule_entry *e = entry();
    bool here = play.threads[e->actor] == self && self->steps == e->step - 1;
    if (here && e->mode == FT_SCHEDULE_BLOCK) ft_rt_give_up(FT_SCHEDULE_PASSED_OUTCOME);
    self->steps++;
}

static bool is_own_memory(uint64_t site)
{
    const place *p = place_of(ft_rt_site_pc((uint32_t)site));
    return p && p->own;
}

static void meet_block(const ft_rt_thread *self, uintptr_t address, uintptr_t size)
{
    memory block = {address, address + size};
    if (!are_apart(&play.block, &block)) play.freed = false;
    if (self->actor != play.schedule->block_actor || self->steps + 1 != play.schedule->block_step)
        return;
    play.block = block;
}

static void lose_block(uintptr_t address)
{
    if (play.block.from < play.block.to && play.block.from == address) play.freed = true;
}

void ft_rt_replay_record(ft_rt_thread *self, ft_raw_operation operation, const uint64_t *operands)
{
    enum { KIND_FIRST = 255, KIND_ANY = 254, NO_SITE = 255 };
    static const struct {
        uint8_t kind, site; /* which operand */
    } rows[FT_RAW_OPERATIONS] = {
        [FT_RAW_BEGIN] = {FT_EVENT_BEGIN, NO_SITE},
        [FT_RAW_END] = {FT_EVENT_END, NO_SITE},
        [FT_RAW_FORK] = {FT_EVENT_FORK, 0},
        [FT_RAW_JOIN] = {FT_EVENT_JOIN, 0},
        [FT_RAW_SYNC] = {KIND_FIRST, 3},
        [FT_RAW_MARK] = {KIND_FIRST, 1},
        [FT_RAW_ALLOC] = {FT_EVENT_ALLOC, 0},
        [FT_RAW_FREE] = {FT_EVENT_FREE, 0},
        [FT_RAW_FAILED] = {FT_EVENT_ASSERT, 0},
        [FT_RAW_ASSERT] = {FT_EVENT_ASSERT, 0},
        [FT_RAW_CHANNEL] = {KIND_ANY, 2},
        [FT_RAW_INITIALISED] = {FT_EVENT_WRITE, 0},
        [FT_RAW_DESTROYED] = {FT_EVENT_FREE, 0},
    };
    if (!self || !(FT_RAW_STEPS >> operation & 1)) return;
    assert(rows[operation].kind); /* each step has a row */
    bool block = operation == FT_RAW_ALLOC || operation == FT_RAW_FREE;
    if (block && is_own_memory(operands[0])) return;
    if (operation == FT_RAW_ALLOC) meet_block(self, operands[1], operands[2]);
    if (operation == FT_RAW_FREE) lose_block(operands[1]);
    uint8_t kind = rows[operation].kind, site = rows[operation].site;
    ft_rt_replay_step(self,
                      kind == KIND_FIRST ? (uint32_t)operands[0]
                      : kind == KIND_ANY ? FT_RT_ANY
                                         : kind,
                      site == NO_SITE ? UINT32_MAX : (uint32_t)operands[site]);
}

void ft_rt_replay_born(ft_rt_thread *child, ft_rt_thread *parent)
{
    uint32_t above = parent ? parent->actor : FT_SCHEDULE_NONE;
    child->actor = FT_RT_NOBODY;
    child->kind = FT_RT_ANY;
    if (parent && above == FT_RT_NOBODY) return;
    for (uint32_t a = 0; a < play.schedule->actors; a++) {
        const ft_schedule_actor *actor = &play.actors[a];
        if (actor->parent != above || (parent && actor->child != child->number)) continue;
        assert(!play.threads[a]); /* a creator numbers each child once */
        child->actor = a;
        play.threads[a] = child;
        return;
    }
}

void ft_rt_replay_start(void *schedule)
{
    assert(!play.schedule);
    play.schedule = schedule;
    play.n = play.schedule->steps + play.schedule->finals;
    play.entries = (const ft_schedule_entry *)(play.schedule + 1);
    play.actors = (const ft_schedule_actor *)(play.entries + play.n);
    play.sites = (const ft_schedule_site *)(play.actors + play.schedule->actors);
    play.modules = (ft_schedule_module *)(uintptr_t)(play.sites + play.schedule->sites);
    play.threads = ft_rt_map(play.schedule->actors * sizeof *play.threads + 1);
    play.known = ft_rt_map(SITES * sizeof *play.known);
    play.since = play.moved = play.starved = now();
    dl_iterate_phdr(find_place, NULL);
    ft_rt_feed_start(play.schedule, play.actors,
                     (const ft_schedule_input *)(play.modules + play.schedule->modules));
}
