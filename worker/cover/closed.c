#include "cover/closed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "cover/faults.h"
#include "symbolic/epoch.h"

ft_status cover_closed_init(cover_closed *closed, cover_world *world, ft_schedule_set *set,
                            ft_error *err)
{
    FT_REQUIRE(closed && world && set);
    *closed = (cover_closed){.world = world, .set = set};
    closed->beginnings = ft_calloc(set->epochs.len + 1, sizeof *closed->beginnings);
    ft_status status = FT_OK;
    for (uint32_t i = 1; i < set->epochs.len && status == FT_OK; i++)
        status = ft_sym_read_epoch(world->world, set, i, &closed->beginnings[i], err);
    return status;
}

void cover_closed_release(cover_closed *closed)
{
    for (size_t i = 0; closed->beginnings && i < closed->set->epochs.len; i++)
        ft_sym_free(closed->beginnings[i]);
    free(closed->beginnings);
}

typedef struct comparing {
    const cover_closed *closed;
    const char *epoch;
    const ft_sym_state *arrival;
    void (*outside)(void *context, ft_term condition, const char *what);
    void *context;
} comparing;

static void differs(void *context, ft_term condition, const char *place)
{
    const comparing *c = context;
    char what[200];
    snprintf(what, sizeof what, "epoch %.60s begins with another content of %.100s", c->epoch,
             place);
    if (!cover_fault_is(COVER_FAULT_INSIDE)) c->outside(c->context, condition, what);
}

static void is_elsewhere(const comparing *c, const char *what)
{
    ft_term always = ft_term_literal(c->closed->world->pool, (ft_value){FT_BOOL_SORT, 1});
    char text[200];
    snprintf(text, sizeof text, "epoch %.60s does not begin where the schedule ends: %.80s",
             c->epoch, what);
    c->outside(c->context, always, text);
}

/* An epoch may know more of its symbols: with the contents that the arrival has. */
static void check_init(const comparing *c, uint32_t epoch)
{
    const ft_epoch *e = &c->closed->set->epochs.data[epoch];
    cover_translation t = {
        .world = c->closed->world, .set = c->closed->set, .epoch = epoch, .arrival = c->arrival};
    if (e->init == FT_NO_TERM) return;
    ft_term holds = cover_to_world(&t, e->init);
    cover_translation_release(&t);
    if (!holds) return is_elsewhere(c, "its init has a symbol without content");
    ft_term fails = FT_NO_TERM;
    ft_status status =
        ft_term_apply(c->closed->world->pool, FT_OP_NOT, &holds, 1, NULL, &fails, NULL);
    assert(status == FT_OK);
    (void)status;
    differs((void *)(uintptr_t)c, fails, "what its init says");
}

/* Threads of the next epoch, by their numbers in the world. False: the schedule binds one that does
 * not exist. */
static bool bind(const cover_closed *closed, const ft_schedule *x, const ft_sym_state *m,
                 uint32_t threads[FT_SYM_THREADS])
{
    for (size_t i = 0; i < x->bound.len; i++) {
        const char *name = ft_schedule_text_of(closed->set, x->threads.data[x->bound.data[i]]);
        threads[i] = cover_world_thread(closed->world, name);
        if (threads[i] == FT_NO_ID || threads[i] >= ft_sym_thread_count(m)) return false;
    }
    return x->bound.len > 0;
}

static bool has_key(const ft_sym_state *beginning, const ft_sym_state *arrival)
{
    ft_strbuf a = {0}, b = {0};
    ft_sym_key(beginning, &a);
    ft_sym_key(arrival, &b);
    bool same = strcmp(a.text, b.text) == 0;
    ft_strbuf_release(&a);
    ft_strbuf_release(&b);
    return same || cover_fault_is(COVER_FAULT_KEYS);
}

ft_status cover_closed_check(const cover_closed *closed, const ft_schedule *x,
                             const ft_sym_state *m,
                             void (*outside)(void *context, ft_term condition, const char *what),
                             void *context, ft_sym_state **kept, ft_error *err)
{
    uint32_t threads[FT_SYM_THREADS], epoch = ft_schedule_epoch_named(closed->set, x->next);
    comparing c = {.closed = closed,
                   .epoch = ft_schedule_text_of(closed->set, x->next),
                   .outside = outside,
                   .context = context};
    FT_REQUIRE(epoch != FT_NO_ID && epoch);
    if (kept) *kept = NULL;
    if (!bind(closed, x, m, threads)) return is_elsewhere(&c, "a thread does not exist"), FT_OK;
    ft_sym_state *arrival = NULL;
    ft_status status = ft_sym_arrive(m, threads, (uint32_t)x->bound.len, &arrival, err);
    if (status == FT_INPUT) return is_elsewhere(&c, err->message), FT_OK;
    if (status != FT_OK) return status;
    c.arrival = arrival;
    if (!has_key(closed->beginnings[epoch], arrival)) {
        is_elsewhere(&c, "threads, objects or addresses are not as there");
    } else {
        ft_sym_differs(closed->beginnings[epoch], arrival, differs, &c);
        check_init(&c, epoch);
        if (kept) *kept = ft_sym_copy(arrival);
    }
    ft_sym_free(arrival);
    return FT_OK;
}
