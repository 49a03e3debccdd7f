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
#include "symbolic/meet_faults.h"
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

/* ---- merged paths: what does not hold, and must not be proved of them ---- */

#define OTHER_READS(what) " T { lock 1; unlock 1; _b = " what "; }"
#define L0                " lock 0; unlock 0; "
static const struct {
    const char *program;
    cover_certificate_kind kind;
} MERGED[] = {
    /* what is assigned on two ways, or on many */
    {"in x:1; T { if x { _a = 1; } else { _a = 2; }" L0 "assert _a == 1; }", COVER_CHECK_FAILURE},
    {"in x:1; T { if x { _a = 1; } else { _a = 2; }" L0 "assert _a == 2; }", COVER_CHECK_FAILURE},
    {"in x:1 y:1 z:1; F f { if x { give 1; } if y { give 2; } if z { give 3; } give 4; }"
     " T { _a = f(0);" L0 "assert _a != 1; }",
     COVER_CHECK_FAILURE},
    {"in x:1 y:1 z:1; F f { if x { give 1; } if y { give 2; } if z { give 3; } give 4; }"
     " T { _a = f(0);" L0 "assert _a != 4; }",
     COVER_CHECK_FAILURE},
    {"in x:1 y:1 z:1; F f { if x { give 1; } if y { give 2; } if z { give 3; } give 4; }"
     " T { _a = f(0);" L0 "assert _a != 2; }",
     COVER_CHECK_FAILURE},
    /* a branch whose condition is another one on each way */
    {"in x:1 y:1 z:1; T { if x { _a = y; } else { _a = z; } if _a == 1 { _b = 1; }" L0
     "assert _b == y; }",
     COVER_CHECK_FAILURE},
    {"in x:1 y:1 z:1; T { if x { _a = y; } else { _a = z; } if _a == 1 { _b = 1; }" L0
     "assert _b == z; }",
     COVER_CHECK_FAILURE},
    /* accesses of one way */
    {"in x:1; var g h; T { if x { g = 1; } else { h = 1; }" L0 "}" OTHER_READS("g"),
     COVER_CHECK_RACE},
    {"in x:1; var g h; T { if x { g = 1; } else { h = 1; }" L0 "}" OTHER_READS("h"),
     COVER_CHECK_RACE},
    /* addresses of different objects, in memory and in registers */
    {"in x:1; var g h; T { if x { _p = &g; } else { _p = &h; }" L0 "*_p = 1; }" OTHER_READS("g"),
     COVER_CHECK_RACE},
    {"in x:1; var g h; T { if x { _p = &g; } else { _p = &h; }" L0 "*_p = 1; }" OTHER_READS("h"),
     COVER_CHECK_RACE},
    {"in x:1; var g h; T { _p = pick[x] &g &h;" L0 "*_p = 1; }" OTHER_READS("g"), COVER_CHECK_RACE},
    {"in x:1; var g h; T { _p = pick[x] &g &h;" L0 "*_p = 1; }" OTHER_READS("h"), COVER_CHECK_RACE},
    /* inputs that one way has read */
    {"in x:1 y:1; late p:1; T { if x { read _a p; } if y { _c = 1; } read _b p;" L0
     "if x { assert _a == _b; } }",
     COVER_CHECK_FAILURE},
    {"in x:1 y:1; late p:1; T { if !x { read _a p; } if y { _c = 1; } read _b p;" L0
     "if !x { assert _a == _b; } }",
     COVER_CHECK_FAILURE},
    /* rounds of a loop: content, accesses, places, and whether it ends */
    {"in n:3; T { _i = 0; while _i < n { _i = _i + 1; }" L0 "assert _i != 6; }",
     COVER_CHECK_FAILURE},
    {"in n:3; T { _i = 0; while _i < n { _i = _i + 1; }" L0 "assert n != 7; }",
     COVER_CHECK_FAILURE},
    {"in n:3; var g; T { _i = 0; while _i < n { _i = _i + 1; if _i == 6 { g = 1; } }" L0
     "}" OTHER_READS("g"),
     COVER_CHECK_RACE},
    {"in n:3; arr A 9; T { _j = 0; while _j < n { A[_j] = 1; _j = _j + 1; } assume _j == 7;" L0
     "}" OTHER_READS("A[5]"),
     COVER_CHECK_RACE},
    {"in x:3; T { _i = 5 - x; while _i != 5 { _i = _i + 2; }" L0 "}", COVER_CHECK_DIVERGENCE},
};

static bool is_merged_proof(size_t i)
{
    cover_certify_options options = {.max_leaves = 1, .merged_rounds = 2};
    cover_certificates found = {0};
    ft_error err = FT_ERROR_INIT;
    ft_program *p = mini_program(MERGED[i].program);
    ft_schedule_set *set = search(p, true, COVER_ORDER_THREAD, COVER_EPOCHS_ONE);
    assert_non_null(set);
    assert_int_equal(cover_certify(p, set, &options, &found, &err), FT_OK);
    bool proved = cover_certificates_answer(&found, MERGED[i].kind) == COVER_PROVED;
    cover_certificates_release(&found);
    ft_schedule_set_free(set);
    ft_program_free(p);
    return proved;
}

static bool merging_proves_too_much(void)
{
    for (size_t i = 0; i < sizeof MERGED / sizeof MERGED[0]; i++)
        if (is_merged_proof(i)) return true;
    return false;
}

static unsigned miss(const char *name, bool noticed, bool is)
{
    if (noticed == is) return 0;
    print_message("%s: %s\n", name, noticed ? "noticed without a fault" : "MISSED");
    return 1;
}

static void test_meet_faults_are_noticed(void **state)
{
    static const char *const MEET_NAMES[] = {
#define FT_ROW(symbol, doc) #symbol,
        FT_MEET_FAULT_TABLE(FT_ROW)
#undef FT_ROW
    };
    (void)state;
    unsigned missed = 0;
    for (int f = MEET_FAULT_NONE; f < MEET_FAULTS; f++) {
        meet_fault = (meet_fault_kind)f;
        missed += miss(MEET_NAMES[f], merging_proves_too_much(), f != MEET_FAULT_NONE);
    }
    meet_fault = MEET_FAULT_NONE;
    assert_int_equal(missed, 0);
}

static void test_cover_faults_are_noticed(void **state)
{
    (void)state;
    const char *text = getenv("FT_SEEDS");
    uint64_t seeds = text ? strtoull(text, NULL, 10) : 300;
    unsigned missed = 0;
    for (int f = COVER_FAULT_NONE; f < COVER_FAULTS; f++) {
        cover_fault = (cover_fault_kind)f;
        bool noticed = f >= COVER_FAULT_FIRST_WAY ? merging_proves_too_much()
                       : f >= COVER_FAULT_COVERS  ? a_certificate_accepts()
                       : f >= COVER_FAULT_TRIVIAL
                           ? epochs_are_wrong()
                           : search_is_wrong(f == COVER_FAULT_NONE ? 3 : seeds);
        if (f == COVER_FAULT_NONE)
            noticed = noticed || epochs_are_wrong() || a_certificate_accepts();
        missed += miss(NAMES[f], noticed, f != COVER_FAULT_NONE);
    }
    cover_fault = COVER_FAULT_NONE;
    assert_int_equal(missed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_meet_faults_are_noticed),
                                       cmocka_unit_test(test_cover_faults_are_noticed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
