/* The order by forks and joins: vector clocks whose components are turns, up to which all accesses
 * of another thread are ordered before a thread's next access. */
#include <stdlib.h>

#include "base/contract.h"
#include "maker/cells/cells_internal.h"
#include "trace/event.h"

/* Threads with clocks, which take the square of that in memory. Later threads count as unordered.
 */
enum { MOST_ORDERED = 1024 };

static void grow(clock *c, uint32_t n)
{
    while (c->turns.len < n) ft_vec_push(&c->turns, 0);
}

static void find_least(clock *c)
{
    for (uint32_t class = 0; class < CLASSES; class ++) c->least[class] = UINT32_MAX;
    for (uint32_t t = 0; t < c->turns.len; t++)
        if (c->turns.data[t] < c->least[t % CLASSES]) c->least[t % CLASSES] = c->turns.data[t];
}

static void add_turns(clock *c, const clock *from)
{
    grow(c, (uint32_t)from->turns.len);
    for (uint32_t t = 0; t < from->turns.len; t++)
        if (from->turns.data[t] > c->turns.data[t]) c->turns.data[t] = from->turns.data[t];
}

/* A thread is ordered with itself. */
static void begin(clock *c, uint32_t thread)
{
    grow(c, thread + 1);
    c->turns.data[thread] = UINT32_MAX;
    find_least(c);
}

void ft_cells_order_start(ft_cells *cells)
{
    actor *first = ft_cells_actor_of(cells, 0);
    begin(&first->now, 0);
    begin(&first->began, 0);
}

void ft_cells_order_again(ft_cells *cells)
{
    for (size_t t = 0; t < cells->actors.len; t++) {
        actor *a = &cells->actors.data[t];
        a->now.turns.len = a->began.turns.len = 0;
        a->held = 0;
        a->forked = a->ended = false;
    }
    ft_cells_order_start(cells);
}

bool ft_cells_is_behind(const ft_cells *cells, uint32_t thread, uint32_t other, uint32_t turn)
{
    return ft_cells_order_now(cells, thread, other, turn);
}

void ft_cells_order_release(ft_cells *cells)
{
    for (size_t t = 0; t < cells->actors.len; t++) {
        ft_vec_release(&cells->actors.data[t].now.turns);
        ft_vec_release(&cells->actors.data[t].began.turns);
    }
}

void ft_cells_order_fork(ft_cells *cells, uint32_t parent, uint32_t child)
{
    FT_REQUIRE(parent != child);
    uint32_t last = parent > child ? parent : child;
    ft_cells_actor_of(cells, last);
    actor *a = &cells->actors.data[parent], *c = &cells->actors.data[child];
    a->forked = true;
    if (last >= MOST_ORDERED || !a->now.turns.len || c->now.turns.len) return;
    add_turns(&c->now, &a->now);
    grow(&c->now, parent + 1);
    c->now.turns.data[parent] = cells->turn;
    begin(&c->now, child);
    add_turns(&c->began, &c->now);
    assert(c->now.turns.data[parent] == cells->turn && a->now.turns.len <= c->now.turns.len);
}

/* A join in the critical section in which the thread was forked orders nothing: it would put all
 * that the child did between two accesses of that section, in every schedule. */
void ft_cells_order_join(ft_cells *cells, uint32_t thread, uint32_t child)
{
    if (thread >= MOST_ORDERED || child >= cells->actors.len) return;
    actor *a = &cells->actors.data[thread], *c = &cells->actors.data[child];
    if (!c->ended || !c->now.turns.len || !a->now.turns.len || (a->held && a->forked)) return;
    add_turns(&a->now, &c->now);
    a->now.turns.data[child] = UINT32_MAX;
    find_least(&a->now);
    assert(a->now.turns.data[thread] == UINT32_MAX);
}

void ft_cells_order_sync(ft_cells *cells, uint32_t thread, uint64_t kind)
{
    static const bool enters[FT_EVENT_KINDS] = {
        [FT_EVENT_ACQUIRE] = true, [FT_EVENT_ACQUIRE_SHARED] = true, [FT_EVENT_TX_BEGIN] = true};
    static const bool leaves[FT_EVENT_KINDS] = {
        [FT_EVENT_RELEASE] = true, [FT_EVENT_TX_END] = true};
    actor *a = ft_cells_actor_of(cells, thread);
    if (kind >= FT_EVENT_KINDS) return;
    if (enters[kind] && !a->held++) a->forked = false;
    if (leaves[kind] && a->held) a->held--;
}

bool ft_cells_order_began(const ft_cells *cells, uint32_t thread, uint32_t other, uint32_t turn)
{
    const clock *c = &cells->actors.data[thread].began;
    return thread == other || (other < c->turns.len && turn <= c->turns.data[other]);
}

bool ft_cells_order_class(const ft_cells *cells, uint32_t thread, uint32_t class, uint32_t turn)
{
    const clock *c = &cells->actors.data[thread].now;
    uint32_t n = (uint32_t)cells->actors.len;
    if (n <= class) return true;
    uint32_t newest = n - 1 - (n - 1 - class) % CLASSES;
    return newest < c->turns.len && turn <= c->least[class];
}
