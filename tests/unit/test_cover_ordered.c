/* check-order: the pairs that it asks about decide the same as all pairs do, on random schedules,
 * and grow with the schedule, not with its square. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cover/certify.h"
#include "cover/ordered.h"
#include "cover/search.h"
#include "oracle/mini.h"

static uint32_t roll(uint64_t *state, uint32_t n)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % n;
}

enum { THREADS = 4, OBJECTS = 3, NODES = 14 };

static void add_edges(ft_schedule *s, ft_node *n, uint64_t *dice)
{
    uint32_t here = (uint32_t)s->nodes.len;
    n->edges = (uint32_t)s->edges.len;
    for (uint32_t i = here; i-- > 0 && here - i < 6;) {
        if (s->nodes.data[i].thread == n->thread || roll(dice, 100) >= 55) continue;
        ft_vec_push(&s->edges, i);
        n->n_edges++;
    }
}

static ft_node random_node(uint64_t *dice)
{
    static const uint8_t KINDS[] = {FT_NODE_LOCK, FT_NODE_UNLOCK,     FT_NODE_ARRIVE,
                                    FT_NODE_WAIT, FT_NODE_TIMED_WAKE, FT_NODE_WAKE,
                                    FT_NODE_EXIT, FT_NODE_ARRIVE,     FT_NODE_BARRIER_DESTROY};
    ft_node n = {.kind = KINDS[roll(dice, sizeof KINDS)],
                 .thread = roll(dice, THREADS),
                 .object = roll(dice, OBJECTS),
                 .other = FT_NO_ID,
                 .peer = FT_NO_ID};
    if (n.kind == FT_NODE_EXIT) n.object = FT_NO_ID;
    if (n.kind == FT_NODE_WAIT || n.kind == FT_NODE_WAKE || n.kind == FT_NODE_TIMED_WAKE)
        n.other = roll(dice, OBJECTS);
    n.timed_out = n.kind == FT_NODE_TIMED_WAKE && roll(dice, 2);
    return n;
}

/* A thread that has arrived at a barrier leaves it next, or does nothing more. */
static ft_schedule random_schedule(uint64_t *dice)
{
    ft_schedule s = {.name = FT_NO_ID, .next = FT_NO_ID};
    uint32_t at[THREADS]; /* the barrier at which the thread is; FT_NO_ID: none */
    for (uint32_t t = 0; t < THREADS; t++) {
        ft_vec_push(&s.threads, 0);
        at[t] = FT_NO_ID;
    }
    for (uint32_t o = 0; o < OBJECTS; o++) ft_vec_push(&s.objects, 0);
    for (int i = 0; i < NODES; i++) {
        ft_node n = random_node(dice);
        if (at[n.thread] != FT_NO_ID) {
            n.kind = FT_NODE_LEAVE;
            n.object = at[n.thread];
            n.other = FT_NO_ID;
            n.timed_out = false;
        }
        at[n.thread] = n.kind == FT_NODE_ARRIVE ? n.object : FT_NO_ID;
        add_edges(&s, &n, dice);
        ft_vec_push(&s.nodes, n);
    }
    return s;
}

/* ---- the definition ---- */

static bool is_about(const ft_node *n, uint32_t object)
{
    bool woken = (n->kind == FT_NODE_WAKE || n->kind == FT_NODE_TIMED_WAKE) && !n->timed_out;
    return n->kind != FT_NODE_LEAVE && ((n->object == object && !woken) || n->other == object);
}

static uint32_t leave_of(const ft_schedule *s, uint32_t arrival)
{
    for (uint32_t i = arrival + 1; i < s->nodes.len; i++)
        if (s->nodes.data[i].thread == s->nodes.data[arrival].thread) return i;
    return FT_NO_ID;
}

static bool are_of_one_round(const ft_schedule *s, const ft_schedule_order *o, uint32_t a,
                             uint32_t b)
{
    if (s->nodes.data[a].kind != FT_NODE_ARRIVE || s->nodes.data[b].kind != FT_NODE_ARRIVE)
        return false;
    uint32_t x = leave_of(s, a), y = leave_of(s, b);
    if (x == FT_NO_ID || y == FT_NO_ID) return x == y;
    return ft_schedule_is_before(o, s, b, x) && ft_schedule_is_before(o, s, a, y);
}

static bool must_be_ordered(const ft_schedule *s, const ft_schedule_order *o, bool prefix,
                            uint32_t a, uint32_t b)
{
    if (s->nodes.data[a].thread == s->nodes.data[b].thread) return false;
    if (!prefix && s->nodes.data[b].kind == FT_NODE_EXIT) return true;
    if (a > b || are_of_one_round(s, o, a, b)) return false;
    for (uint32_t k = 0; k < OBJECTS; k++)
        if (is_about(&s->nodes.data[a], k) && is_about(&s->nodes.data[b], k)) return true;
    return false;
}

static bool all_are_ordered(const ft_schedule *s, const ft_schedule_order *o, bool prefix)
{
    for (uint32_t a = 0; a < s->nodes.len; a++)
        for (uint32_t b = 0; b < s->nodes.len; b++)
            if (must_be_ordered(s, o, prefix, a, b) && !ft_schedule_is_before(o, s, a, b))
                return false;
    return true;
}

static void test_cover_ordered_pairs(void **state)
{
    (void)state;
    const char *text = getenv("FT_SEEDS");
    uint64_t seeds = text ? strtoull(text, NULL, 10) : 20000, ordered = 0;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        uint64_t dice = seed;
        ft_schedule s = random_schedule(&dice);
        ft_schedule_order order;
        ft_schedule_order_init(&order, &s);
        bool prefix = seed % 2, good = true;
        cover_order_question q = {.schedule = &s, .ms = 10000};
        cover_ordered_pairs(&s, &order, prefix, &q);
        for (size_t i = 0; i < q.pairs.len; i++) {
            const cover_pair *p = &q.pairs.data[i];
            assert_true(must_be_ordered(&s, &order, prefix, p->a, p->b));
            good = good && ft_schedule_is_before(&order, &s, p->a, p->b);
        }
        if (good != all_are_ordered(&s, &order, prefix)) fail_msg("seed %u", (unsigned)seed);
        cover_pair pair;
        if (seed % 200 == 0) /* the solver says the same */
            assert_int_equal(cover_order_ask(&q, &pair), good ? FT_ANSWER_UNSAT : FT_ANSWER_SAT);
        ordered += good;
        ft_vec_release(&q.pairs);
        ft_schedule_order_release(&order);
        ft_schedule_release(&s);
    }
    print_message("%u schedules, %u of them ordered\n", (unsigned)seeds, (unsigned)ordered);
    if (seeds < 1000) return; /* too few for a share */
    assert_true(ordered > seeds / 50 && ordered < seeds);
}

/* 10,000 operations on one lock have all certificates. */
static void test_cover_ten_thousand_nodes(void **state)
{
    (void)state;
    cover_search_options options = {.world = {.prefix = true}, .epochs = COVER_EPOCHS_ONE};
    cover_search_counts counts;
    ft_schedule_set *set = NULL;
    ft_error err = FT_ERROR_INIT;
    ft_program *p =
        mini_program("var g; T { while _i < 2500 { lock 0; g = _i; unlock 0; _i = _i + 1; } }"
                     " T { while _i < 2500 { lock 0; g = _i; unlock 0; _i = _i + 1; } }");
    assert_int_equal(cover_search(p, &options, &set, &counts, &err), FT_OK);
    const ft_schedule *s = &set->epochs.data[0].schedules.data[0];
    assert_true(s->nodes.len > 10000);
    ft_schedule_order order;
    ft_schedule_order_init(&order, s);
    cover_order_question q = {.schedule = s, .ms = 10000};
    cover_ordered_pairs(s, &order, true, &q);
    assert_true(q.pairs.len < 2 * s->nodes.len);
    cover_certificates found = {0};
    cover_certify_options certify = {.max_leaves = 10};
    assert_int_equal(cover_certify(p, set, &certify, &found, &err), FT_OK);
    assert_true(cover_certificates_hold(&found));
    cover_certificates_release(&found);
    ft_vec_release(&q.pairs);
    ft_schedule_order_release(&order);
    ft_schedule_set_free(set);
    ft_program_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cover_ordered_pairs),
                                       cmocka_unit_test(test_cover_ten_thousand_nodes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
