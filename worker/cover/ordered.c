#include "cover/ordered.h"

#include <stdlib.h>

#include "base/contract.h"
#include "base/memory.h"

typedef FT_VEC(uint32_t) numbers;

typedef struct ordering {
    const ft_schedule *schedule;
    const ft_schedule_order *order;
    numbers *about;  /* by object: nodes about it, ascending */
    uint32_t *leave; /* by node: the thread's next node if it leaves a barrier; else FT_NO_ID */
    cover_order_question *question;
} ordering;

static void add_about(ordering *o, uint32_t object, uint32_t node)
{
    if (object == FT_NO_ID) return;
    numbers *all = &o->about[object];
    if (!all->len || all->data[all->len - 1] != node) ft_vec_push(all, node);
}

static void list(ordering *o)
{
    const ft_schedule *s = o->schedule;
    uint32_t *next = ft_alloc((s->threads.len + 1) * sizeof *next);
    for (size_t t = 0; t < s->threads.len; t++) next[t] = FT_NO_ID;
    for (uint32_t i = (uint32_t)s->nodes.len; i-- > 0;) {
        uint32_t after = next[s->nodes.data[i].thread];
        bool leaves = after != FT_NO_ID && s->nodes.data[after].kind == FT_NODE_LEAVE;
        o->leave[i] = leaves ? after : FT_NO_ID;
        next[s->nodes.data[i].thread] = i;
    }
    free(next);
    for (uint32_t i = 0; i < s->nodes.len; i++) {
        const ft_node *n = &s->nodes.data[i];
        bool woken = (n->kind == FT_NODE_WAKE || n->kind == FT_NODE_TIMED_WAKE) && !n->timed_out;
        if (n->kind == FT_NODE_LEAVE) continue;
        if (!woken) add_about(o, n->object, i);
        add_about(o, n->other, i);
    }
}

/* Each leaves behind the other's arrival, or neither leaves. */
static bool are_of_one_round(const ordering *o, uint32_t a, uint32_t b)
{
    const ft_schedule *s = o->schedule;
    if (s->nodes.data[a].kind != FT_NODE_ARRIVE || s->nodes.data[b].kind != FT_NODE_ARRIVE)
        return false;
    uint32_t x = o->leave[a], y = o->leave[b];
    if (x == FT_NO_ID || y == FT_NO_ID) return x == y;
    return ft_schedule_is_before(o->order, s, b, x) && ft_schedule_is_before(o->order, s, a, y);
}

static uint32_t count_threads(const ordering *o, const numbers *about)
{
    uint64_t threads = 0;
    _Static_assert(FT_SCHEDULE_THREADS <= 64, "a thread is a bit");
    for (size_t i = 0; i < about->len; i++)
        threads |= UINT64_C(1) << o->schedule->nodes.data[about->data[i]].thread;
    return (uint32_t)__builtin_popcountll(threads);
}

/* The pairs of the i-th node: of each thread the last one before that has to be. What comes before
 * one of these in its thread follows. So does all that comes before one that is not an arrival. */
static void pair_up(ordering *o, const numbers *about, size_t i, uint32_t threads)
{
    uint32_t b = about->data[i];
    const ft_node *nodes = o->schedule->nodes.data;
    uint64_t covered = UINT64_C(1) << nodes[b].thread;
    uint32_t n = 1;
    while (i-- > 0 && n < threads) {
        uint32_t a = about->data[i];
        uint64_t own = UINT64_C(1) << nodes[a].thread;
        bool free_of_order = are_of_one_round(o, a, b);
        if (!(covered & own) && !free_of_order) {
            ft_vec_push(&o->question->pairs, (cover_pair){a, b});
            covered |= own;
            n++;
        }
        if (nodes[a].kind != FT_NODE_ARRIVE) break;
    }
}

static void add_exit(ordering *o, uint32_t exit)
{
    const ft_node *nodes = o->schedule->nodes.data;
    uint64_t covered = UINT64_C(1) << nodes[exit].thread;
    for (uint32_t a = (uint32_t)o->schedule->nodes.len; a-- > 0;) {
        uint64_t own = UINT64_C(1) << nodes[a].thread;
        if (!(covered & own)) ft_vec_push(&o->question->pairs, (cover_pair){a, exit});
        covered |= own;
    }
}

void cover_ordered_pairs(const ft_schedule *s, const ft_schedule_order *order, bool prefix,
                         cover_order_question *question)
{
    FT_REQUIRE(s && order && question && order->n == s->nodes.len);
    ordering o = {.schedule = s, .order = order, .question = question};
    o.about = ft_calloc(s->objects.len + 1, sizeof *o.about);
    o.leave = ft_alloc((s->nodes.len + 1) * sizeof *o.leave);
    list(&o);
    for (size_t k = 0; k < s->objects.len; k++) {
        uint32_t threads = count_threads(&o, &o.about[k]);
        for (size_t i = 0; i < o.about[k].len; i++) pair_up(&o, &o.about[k], i, threads);
        ft_vec_release(&o.about[k]);
    }
    for (uint32_t i = 0; i < s->nodes.len && !prefix; i++)
        if (s->nodes.data[i].kind == FT_NODE_EXIT) add_exit(&o, i);
    free(o.about);
    free(o.leave);
}
