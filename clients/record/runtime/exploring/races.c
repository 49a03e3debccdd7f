/* Races of the run at hand: two accesses of one memory, one of them a write and not both atomic,
 * that nothing orders (clocks.c). A read is looked at before it is ordered behind its write. And
 * uses of freed memory, which stays apart until the run ends.
 *
 * For each eight bytes the last few accesses are kept. They lie in memory that no rewind touches,
 * with the number of their run. */
#include "exploring/run.h"
#include "libc/contract.h"
#include "libc/libc.h"
#include "rewinding/kept.h"

enum { CELLS = 1 << 16, RECORDS = 8, CELL = 8, LONGEST = 1 << 12 /* cells of one range */ };
enum { WRITES = 1, ATOMIC = 2, FREES = 4 };

typedef struct record {
    uint64_t pc;
    uint32_t clock;
    uint8_t thread, mask, flags;
} record;

typedef struct cell {
    uintptr_t address; /* of its first byte */
    uint32_t run, n;   /* run: another one: the cell is free */
    uint8_t written;   /* bytes of the last plain write; 0: there was none */
    record records[RECORDS];
} cell;

static struct shadow {
    uint32_t run, n;
    cell cells[CELLS];
    uint32_t writers[CELLS][FT_X_THREADS]; /* by cell: the clock of the last plain write */
} * shadow;

void ft_rt_x_races_begin(void)
{
    const ft_exploring_options *o = &ft_rt_x_header->options;
    if (!shadow && o->races) shadow = ft_rt_kept(sizeof *shadow);
    if (shadow) shadow->run = 1; /* cells of run 0 are free */
}

void ft_rt_x_races_new_run(void)
{
    if (!shadow) return;
    shadow->run++;
    shadow->n = 0;
}

/* NULL: it is not there (or there is no room). */
static cell *cell_at(uintptr_t address, bool adds)
{
    uint64_t hash = (address / CELL) * UINT64_C(0x9E3779B97F4A7C15);
    for (uint32_t i = (uint32_t)(hash >> 48) % CELLS;; i = (i + 1) % CELLS) {
        cell *c = &shadow->cells[i];
        if (c->run == shadow->run && c->address == address) return c;
        if (c->run == shadow->run) continue;
        if (!adds || shadow->n >= CELLS / 4 * 3) return NULL;
        shadow->n++;
        *c = (cell){.address = address, .run = shadow->run};
        return c;
    }
}

/* ---- reports */

static bool is_known(const ft_exploring_slot *s, uint64_t a, uint64_t b)
{
    for (uint32_t i = 0; i < s->n_races; i++)
        if ((s->races[i].pc[0] == a && s->races[i].pc[1] == b) ||
            (s->races[i].pc[0] == b && s->races[i].pc[1] == a))
            return true;
    return false;
}

static void report(const record *r, const record *now, uintptr_t address)
{
    ft_exploring_slot *s = ft_rt_x.slot;
    if (s->n_races == FT_EXPLORING_RACES || is_known(s, r->pc, now->pc)) return;
    s->races[s->n_races++] =
        (ft_exploring_race){.pc = {r->pc, now->pc},
                            .thread = {r->thread, now->thread},
                            .writes = {(r->flags & WRITES) != 0, (now->flags & WRITES) != 0},
                            .atomic = {(r->flags & ATOMIC) != 0, (now->flags & ATOMIC) != 0},
                            .size = (uint32_t)__builtin_popcount(now->mask),
                            .address = address};
}

/* The stack of a thread that has ended may be another one's now. */
static bool is_of_old_stack(const record *r, uintptr_t address)
{
    const ft_rt_x_thread *was = &ft_rt_x.threads[r->thread], *self = ft_rt_x_self;
    return was->ended && was->pointer == self->pointer && address < self->pointer &&
           self->pointer - address <= self->stack;
}

static bool is_race(const record *r, const record *now, uintptr_t address)
{
    if (r->thread == now->thread || !(r->mask & now->mask)) return false;
    if (!((r->flags | now->flags) & WRITES) || (r->flags & now->flags & ATOMIC)) return false;
    if (r->clock <= ft_rt_x_clock(now->thread, r->thread)) return false;
    return !is_of_old_stack(r, address);
}

/* ---- accesses */

/* Does the new access stand for the old one too? */
static bool covers(const record *now, const record *r)
{
    return r->thread == now->thread && r->flags == now->flags && !(r->mask & ~now->mask);
}

static void keep(cell *c, const record *now)
{
    uint32_t at = c->n;
    for (uint32_t i = 0; i < c->n && at == c->n; i++)
        if (covers(now, &c->records[i])) at = i;
    if (at == RECORDS) { /* one that is ordered before tells least */
        at = now->clock % RECORDS;
        for (uint32_t i = 0; i < RECORDS; i++)
            if (c->records[i].clock <= ft_rt_x_clock(now->thread, c->records[i].thread)) at = i;
    }
    c->records[at] = *now;
    if (at == c->n) c->n++;
}

static void access_cell(uintptr_t address, const record *now)
{
    cell *c = cell_at(address, true);
    if (!c) return;
    for (uint32_t i = 0; i < c->n; i++) {
        const record *r = &c->records[i];
        if (is_race(r, now, address)) report(r, now, address);
        if (!(r->flags & FREES) || !(r->mask & now->mask) || now->flags & FREES) continue;
        c->n = 0; /* once is enough */
        ft_rt_x_fail(FT_EXPLORING_FAILED_MEMORY, 0, "memory is used after it was freed",
                     (const void *)(uintptr_t)now->pc);
    }
    if (!(now->flags & WRITES) && c->written & now->mask)
        ft_rt_x_clock_read(now->thread, shadow->writers[c - shadow->cells]);
    if (now->flags == WRITES) {
        c->written = now->mask;
        ft_rt_x_clock_write(now->thread, shadow->writers[c - shadow->cells]);
    }
    keep(c, now);
}

static void access(uintptr_t address, size_t size, uint8_t flags, const void *pc)
{
    ft_rt_x_thread *self = ft_rt_x_self;
    record now = {.pc = (uintptr_t)pc,
                  .clock = ft_rt_x_clock(self->number, self->number),
                  .thread = (uint8_t)self->number,
                  .flags = flags};
    uintptr_t end = address + size, at = address & ~(uintptr_t)(CELL - 1);
    for (uint32_t i = 0; at < end && i < LONGEST; at += CELL, i++) {
        uintptr_t from = at < address ? address : at, to = at + CELL < end ? at + CELL : end;
        now.mask = (uint8_t)(((1u << (to - from)) - 1) << (from - at));
        access_cell(at, &now);
    }
}

/* ---- annotations */

enum { BENIGN = 64 };
static struct benign {
    uintptr_t from, to;
} benign[BENIGN];
static uint32_t n_benign;

void ft_rt_x_ignore(bool on)
{
    ft_rt_x_thread *self = ft_rt_x_self;
    self->ignores += on ? 1 : self->ignores ? UINT32_MAX : 0;
}

void ft_rt_x_benign(const volatile void *memory, size_t size)
{
    uintptr_t from = (uintptr_t)memory;
    if (n_benign < BENIGN) benign[n_benign++] = (struct benign){from, from + size};
}

void ft_rt_x_edge_at(uint32_t object, bool gives)
{
    if (ft_rt_x.begun) ft_rt_x_clock_edge(ft_rt_x_self->number, object, gives);
}

void ft_rt_x_edge(const volatile void *what, bool gives)
{
    if (ft_rt_x.begun) ft_rt_x_edge_at(ft_rt_x_object(FT_X_MEMORY, what, 0), gives);
}

static bool is_benign(uintptr_t address)
{
    for (uint32_t i = 0; i < n_benign; i++)
        if (address >= benign[i].from && address < benign[i].to) return true;
    return false;
}

static bool is_watched(const ft_rt_x_thread *self)
{
    return self && shadow && ft_rt_x.begun && !self->ignores;
}

void ft_rt_x_access(const volatile void *address, size_t size, bool writes, const void *pc)
{
    if (!ft_rt_x_self || !ft_rt_x.begun || !size) return;
    ft_rt_x_point(address, size, writes, pc);
    if (is_watched(ft_rt_x_self) && !is_benign((uintptr_t)address))
        access((uintptr_t)address, size, writes ? WRITES : 0, pc);
}

void ft_rt_x_atomic_access(const volatile void *address, size_t size, bool writes, const void *pc)
{
    if (is_watched(ft_rt_x_self))
        access((uintptr_t)address, size, writes ? WRITES | ATOMIC : ATOMIC, pc);
}

void ft_rt_x_freed(const void *memory, size_t size, const void *pc)
{
    if (is_watched(ft_rt_x_self)) access((uintptr_t)memory, size, WRITES | FREES, pc);
}

/* New memory: what was accessed there before was something else. */
void ft_rt_x_fresh(const void *memory, size_t size)
{
    if (!shadow || !ft_rt_x.begun) return;
    uintptr_t at = (uintptr_t)memory & ~(uintptr_t)(CELL - 1), end = (uintptr_t)memory + size;
    for (uint32_t i = 0; at < end && i < LONGEST; at += CELL, i++) {
        cell *c = cell_at(at, false);
        if (c) c->n = c->written = 0;
    }
}
