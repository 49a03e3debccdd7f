#include <stdlib.h>
#include <string.h>

#include "program/interpret/internal.h"

/* Vector clocks over the execution's own order: an access races with an earlier one of another
 * thread that its thread does not have behind itself, if one of the two writes and one is not
 * atomic. */

void ft_race_join(vector_clock *into, const vector_clock *from)
{
    for (int i = 0; i < FT_INTERPRETER_THREADS; i++)
        if (into->of[i] < from->of[i]) into->of[i] = from->of[i];
}

void ft_race_tick(ft_interpreter *m, uint32_t t)
{
    m->threads.data[t].clock.of[t]++;
}

release *ft_race_release_at(ft_interpreter *m, uint64_t address)
{
    bool fresh;
    uint64_t *number = ft_map_slot(&m->release_at, address, m->releases.len, &fresh);
    if (fresh) ft_vec_push(&m->releases, (release){.address = address});
    return &m->releases.data[*number];
}

static const bool CONFLICTS[ACCESS_KINDS][ACCESS_KINDS] = {
    [PLAIN_READ] = {[PLAIN_WRITE] = true, [ATOMIC_WRITE] = true},
    [PLAIN_WRITE] = {true, true, true, true},
    [ATOMIC_READ] = {[PLAIN_WRITE] = true},
    [ATOMIC_WRITE] = {[PLAIN_READ] = true, [PLAIN_WRITE] = true},
};

/* The earlier access that the thread does not have behind itself; NULL: none. */
static const epoch *unordered(const ft_interpreter *m, uint32_t t, const accesses *a)
{
    const vector_clock *c = &m->threads.data[t].clock;
    if (!a->many) return a->last.clock > c->of[a->thread] ? &a->last : NULL;
    const epoch *all = &m->many.data[(size_t)(a->many - 1) * FT_INTERPRETER_THREADS];
    for (int i = 0; i < FT_INTERPRETER_THREADS; i++)
        if (all[i].clock > c->of[i]) return &all[i];
    return NULL;
}

static void note(ft_interpreter *m, uint32_t t, accesses *a)
{
    epoch now = {m->threads.data[t].clock.of[t], m->section == t + 1,
                 ft_interpreter_place_of(m, t)};
    bool replaces = !a->many && (a->thread == t || !unordered(m, t, a));
    if (replaces) {
        a->last = now;
        a->thread = t;
        return;
    }
    if (!a->many) {
        size_t first = m->many.len;
        for (int i = 0; i < FT_INTERPRETER_THREADS; i++) ft_vec_push(&m->many, (epoch){0});
        a->many = (uint32_t)(first / FT_INTERPRETER_THREADS) + 1;
        m->many.data[first + a->thread] = a->last;
    }
    m->many.data[(size_t)(a->many - 1) * FT_INTERPRETER_THREADS + t] = now;
}

static bool race(ft_interpreter *m, uint32_t t, const epoch *earlier, uint64_t address, bool writes)
{
    epoch other = *earlier;
    ft_interpreter_fail(m, t, FT_ERROR_RACE,
                        "another thread's access is not ordered with this one");
    ft_interpreter_error *e = &m->threads.data[t].error;
    e->other = other.place;
    e->address = address;
    e->writes = writes;
    e->in_section = m->section == t + 1;
    e->other_in_section = other.in_section;
    m->error = *e;
    return false;
}

bool ft_race_access(ft_interpreter *m, uint32_t t, memory_object *o, uint64_t offset, uint64_t n,
                    int kind)
{
    FT_REQUIRE(offset <= o->size && n <= o->size - offset);
    bool writes = kind == PLAIN_WRITE || kind == ATOMIC_WRITE;
    if (!o->shadow && n) o->shadow = ft_calloc(o->size, sizeof *o->shadow);
    for (uint64_t i = offset; i < offset + n; i++) {
        shadow *s = &o->shadow[i];
        for (int k = 0; k < ACCESS_KINDS; k++) {
            const epoch *earlier = CONFLICTS[kind][k] ? unordered(m, t, &s->of[k]) : NULL;
            if (earlier) return race(m, t, earlier, o->base + i, writes);
        }
        note(m, t, &s->of[kind]);
    }
    return true;
}
