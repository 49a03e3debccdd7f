/* Every planted fault of the search and of certificates (cover/faults.h) is noticed: a set that
 * brute force refutes, or a wrong set that has its certificate. FT_SEEDS=N: give a fault up after
 * so many random programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cover/certify.h"
#include "cover/faults.h"
#include "cover/search.h"
#include "oracle/constrained.h"
#include "oracle/mini.h"
#include "oracle/mini_random.h"
#include "unit/cover_rows.h"
#include "unit/cover_sets.h"

static const char *const NAMES[COVER_FAULTS] = {
#define FT_ROW(symbol, doc) #symbol,
    COVER_FAULT_TABLE(FT_ROW)
#undef FT_ROW
};

static ft_schedule_set *search(const ft_program *p, bool prefix, cover_order order,
                               cover_epochs epochs)
{
    cover_search_options options = {.world = {.prefix = prefix, .order = order}, .epochs = epochs};
    cover_search_counts counts;
    ft_schedule_set *set = NULL;
    ft_error err = FT_ERROR_INIT;
    return cover_search(p, &options, &set, &counts, &err) == FT_OK ? set : NULL;
}

/* Is the set wrong, by brute force? */
static bool is_wrong(const char *text, bool prefix)
{
    constrained_counts counts = {0};
    ft_program *p = mini_program(text);
    ft_schedule_set *set = search(p, prefix, COVER_ORDER_THREAD, COVER_EPOCHS_ONE);
    bool wrong = !set || constrained_check(p, set, &counts).what != NULL;
    ft_schedule_set_free(set);
    ft_program_free(p);
    return wrong;
}

static bool epochs_are_wrong(void)
{
    cover_search_options options = {.world = {.prefix = true, .max_operations = 300},
                                    .epochs = COVER_EPOCHS_MARKERS};
    bool wrong = false;
    for (int i = 0; i < COVER_N_EPOCH_ROWS && !wrong; i++) {
        cover_search_counts counts;
        constrained_counts runs = {0};
        ft_schedule_set *set = NULL;
        ft_error err = FT_ERROR_INIT;
        ft_program *p = mini_program(COVER_EPOCH_ROWS[i].program);
        wrong = cover_search(p, &options, &set, &counts, &err) != FT_OK || counts.open ||
                constrained_check(p, set, &runs).what;
        ft_schedule_set_free(set);
        ft_program_free(p);
    }
    return wrong;
}

static bool search_is_wrong(uint64_t seeds)
{
    for (int i = 0; i < COVER_N_ROWS; i++)
        if (is_wrong(COVER_ROWS[i].program, true) || is_wrong(COVER_ROWS[i].program, false))
            return true;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        ft_strbuf text = {0};
        mini_random(seed, mini_random_features(seed), &text);
        bool wrong = is_wrong(text.text, seed % 2);
        ft_strbuf_release(&text);
        if (wrong) return true;
    }
    return false;
}

/* ---- certificates: wrong sets that each must refute ---- */

static void uncover(ft_schedule_set *set)
{
    ft_epoch *e = &set->epochs.data[0];
    e->choices.data[e->choices.len - 1].schedule = FT_NO_SCHEDULE;
}

static void widen(ft_schedule_set *set)
{
    ft_epoch *e = &set->epochs.data[0];
    for (size_t i = 0; i < e->choices.len; i++)
        if (e->choices.data[i].term == FT_NO_TERM) e->choices.data[i].schedule = 0;
}

static void same(ft_schedule_set *set)
{
    (void)set;
}

static void drop_lock_edges(ft_schedule_set *set)
{
    ft_schedule *s = &set->epochs.data[0].schedules.data[0];
    for (size_t i = 0; i < s->nodes.len; i++)
        if (s->nodes.data[i].kind == FT_NODE_LOCK) s->nodes.data[i].n_edges = 0;
}

static void cut(ft_schedule_set *set)
{
    ft_schedule *s = &set->epochs.data[0].schedules.data[0];
    for (uint32_t i = 0; i < s->nodes.len; i++)
        if (s->nodes.data[i].kind == FT_NODE_LOCK) {
            s->nodes.len = i;
            return;
        }
}

/* The second epoch is said to begin with g = 0. */
static void narrow(ft_schedule_set *set)
{
    for (uint32_t i = 0; i < set->inputs.len; i++) {
        const ft_schedule_input *in = &set->inputs.data[i];
        if (in->epoch != 1 || strcmp(ft_schedule_text_of(set, in->name), "@g+0") != 0) continue;
        ft_sort sort = {FT_SORT_BITVEC, in->width};
        ft_term kids[2] = {ft_term_symbol(set->pool, i, sort),
                           ft_term_literal(set->pool, (ft_value){sort, 0})};
        assert_int_equal(
            ft_term_apply(set->pool, FT_OP_EQ, kids, 2, NULL, &set->epochs.data[1].init, NULL),
            FT_OK);
        return;
    }
    fail_msg("g is not unknown");
}

static void forget_locks(ft_schedule_set *set)
{
    assert_true(set->epochs.data[1].syncs.len > 0);
    set->epochs.data[1].syncs.len = 0;
}

/* The last thread's nodes of the second epoch are left out. */
static void leave_behind(ft_schedule_set *set)
{
    ft_schedule *s = &set->epochs.data[1].schedules.data[0];
    uint32_t last = (uint32_t)set->epochs.data[1].stands.len - 1, kept = 0;
    for (uint32_t i = 0; i < s->nodes.len; i++)
        if (strtoul(ft_schedule_text_of(set, s->threads.data[s->nodes.data[i].thread]), NULL, 10) !=
            last)
            s->nodes.data[kept++] = s->nodes.data[i];
    assert_true(kept < s->nodes.len);
    s->nodes.len = kept;
}

#define TWO "in x:1; T { if x { lock 0; unlock 0; } else { lock 1; unlock 1; } }"
static const struct {
    const char *program;
    cover_order order;
    void (*spoil)(ft_schedule_set *set);
    cover_certificate_kind kind;
    const char *set; /* written by hand; NULL: the search makes it */
} WRONG[] = {
    {TWO, COVER_ORDER_THREAD, uncover, COVER_CHECK_COVER, NULL},
    {TWO, COVER_ORDER_THREAD, widen, COVER_CHECK_SCHEDULE, NULL},
    {"in x:1; var g; T { if x { g = 1; } lock 0; unlock 0; } T { lock 1; unlock 1; _a = g; }",
     COVER_ORDER_THREAD, same, COVER_CHECK_RACE, NULL},
    {"T { lock 0; unlock 0; } T { lock 0; unlock 0; }", COVER_ORDER_THREAD, drop_lock_edges,
     COVER_CHECK_ORDER, NULL},
    {"T { lock 2; unlock 2; lock 0; lock 1; unlock 1; unlock 0; }"
     " T { lock 1; lock 0; unlock 0; unlock 1; }",
     COVER_ORDER_TRACE, same, COVER_CHECK_DEADLOCK, NULL},
    {"T { lock 0; unlock 0; }", COVER_ORDER_THREAD, cut, COVER_CHECK_CLOSED, NULL},
    {"in x:1; T { if x { while 1 { _a = 1; } } lock 0; }", COVER_ORDER_THREAD, same,
     COVER_CHECK_DIVERGENCE, NULL},
    {"in x:1; var g; T { if x { g = 1; } marker; if g { lock 0; unlock 0; } }", COVER_ORDER_THREAD,
     narrow, COVER_CHECK_CLOSED, NULL},
    {"T { lock 0; marker; unlock 0; }", COVER_ORDER_THREAD, forget_locks, COVER_CHECK_CLOSED, NULL},
    {"T { while 1 { lock 0; unlock 0; } } T { while 1 { lock 1; unlock 1; } }", COVER_ORDER_THREAD,
     leave_behind, COVER_CHECK_DEADLOCK, NULL},
    {COVER_READS_LATE, COVER_ORDER_THREAD, same, COVER_CHECK_SCHEDULE, COVER_PARTS("0.1")},
};

static bool is_accepted(size_t i)
{
    cover_certify_options options = {.max_leaves = 1000};
    cover_certificates found = {0};
    ft_error err = FT_ERROR_INIT;
    ft_program *p = mini_program(WRONG[i].program);
    ft_schedule_set *set = NULL;
    if (!WRONG[i].set)
        set = search(p, true, WRONG[i].order, COVER_EPOCHS_MARKERS);
    else
        assert_int_equal(ft_schedule_set_read(WRONG[i].set, strlen(WRONG[i].set), &set, &err),
                         FT_OK);
    assert_non_null(set);
    WRONG[i].spoil(set);
    assert_int_equal(cover_certify(p, set, &options, &found, &err), FT_OK);
    bool accepted = cover_certificates_answer(&found, WRONG[i].kind) != COVER_REFUTED;
    cover_certificates_release(&found);
    ft_schedule_set_free(set);
    ft_program_free(p);
    return accepted;
}

static bool a_certificate_accepts(void)
{
    for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++)
        if (is_accepted(i)) return true;
    return false;
}

static void test_cover_faults_are_noticed(void **state)
{
    (void)state;
    const char *text = getenv("FT_SEEDS");
    uint64_t seeds = text ? strtoull(text, NULL, 10) : 300;
    unsigned missed = 0;
    for (int f = COVER_FAULT_NONE; f < COVER_FAULTS; f++) {
        cover_fault = (cover_fault_kind)f;
        bool noticed = f >= COVER_FAULT_COVERS ? a_certificate_accepts()
                       : f >= COVER_FAULT_TRIVIAL
                           ? epochs_are_wrong()
                           : search_is_wrong(f == COVER_FAULT_NONE ? 3 : seeds);
        if (f == COVER_FAULT_NONE)
            noticed = noticed || epochs_are_wrong() || a_certificate_accepts();
        if (noticed == (f != COVER_FAULT_NONE)) continue;
        print_message("%s: %s\n", NAMES[f], noticed ? "noticed without a fault" : "MISSED");
        missed++;
    }
    cover_fault = COVER_FAULT_NONE;
    assert_int_equal(missed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cover_faults_are_noticed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
