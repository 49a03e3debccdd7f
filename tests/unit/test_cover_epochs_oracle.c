/* Sets of several epochs against brute force, on random programs with loops and markers: every run
 * from every state in which an epoch begins follows it, and a set that brute force refutes, one
 * that the search has made or a mutation of it, does not have all six certificates. FT_SEEDS=N,
 * FT_SEED_START=N: which random programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/map.h"
#include "cover/certify.h"
#include "cover/search.h"
#include "cover_seeds.h"
#include "oracle/constrained.h"
#include "oracle/foreseen.h"
#include "oracle/mini.h"
#include "oracle/mini_random.h"
#include "schedules/dynamic.h"

typedef struct tally {
    unsigned programs, epochs, trees, open, racy, proved, mutated, wrong;
    foreseen_counts foreseen;
} tally;

/* A search or a check that asks too often is cut: the same on every machine. */
static bool should_stop(void *context)
{
    enum { MOST = 4000 };
    return ++*(unsigned *)context > MOST;
}

static uint64_t draw(uint64_t *random, uint64_t n)
{
    *random = ft_hash_u64(*random + 1);
    return *random % n;
}

/* Which inputs are known when an epoch begins. */
typedef enum known {
    ALL,   /* all */
    LATE,  /* threads read some; those are given before, like the others */
    READ,  /* those are known when they are read */
    GIVEN, /* and threads end with results, which are joined later */
    LEFT   /* and what loops compute, when they are left: no loop is executed */
} known;

/* What a thread reads first, or first in each round, decides about the next operation. */
static void add_read(uint64_t *random, ft_strbuf *text)
{
    static const char *const READS[] = {
        " read _a p; if _a { lock 1; unlock 1; } ",
        " read _b q; lock 0; g0 = _b; unlock 0; ",
        " lock 1; read _a q; unlock 1; if _a { lock 0; unlock 0; } ",
        " read _a p; if _a == 0 { lock 1; marker; unlock 1; } ",
        " lock 0; g0 = g0 + 1; unlock 0; read _a p; if _a { ret; } ",
    };
    ft_strbuf_puts(text, READS[draw(random, sizeof READS / sizeof READS[0])]);
}

/* Threads end with a shared variable's value, which @main looks at in a later epoch. */
static void add_results(const char *plain, ft_strbuf *text)
{
    const char *threads = strstr(plain, "T {");
    int n = 0, depth = 0;
    for (const char *c = threads; (c = strstr(c, "T {")); c++) n++;
    ft_strbuf_add(text, plain, (size_t)(threads - plain));
    ft_strbuf_puts(text, "M { create 1; create 2; ");
    if (n > 2) ft_strbuf_puts(text, "create 3; ");
    ft_strbuf_puts(text, "marker; lock 1; unlock 1; marker; if got[1] { lock 2; unlock 2; } "
                         "lock 1; unlock 1; if got[2] == x { lock 0; unlock 0; } } ");
    for (const char *c = threads; *c; c++) {
        depth += (*c == '{') - (*c == '}');
        if (*c == '}' && !depth) ft_strbuf_puts(text, "lock 1; _r = g1; unlock 1; give _r; ");
        ft_strbuf_add(text, c, 1);
    }
}

/* Threads go round for ever, some of them, or have markers between their statements. */
static void make_text(uint64_t seed, known kind, ft_strbuf *text)
{
    ft_strbuf plain = {0};
    uint64_t random = seed * 77;
    int depth = 0;
    bool wraps = false;
    mini_features features = mini_random_features(seed);
    features.children = features.endless = features.arrays = features.computed_locks = false;
    features.late = kind == LATE || kind == READ || (kind == LEFT && seed % 4 == 0);
    features.counting = kind == LEFT;
    mini_random(seed, features, &plain);
    if (kind == GIVEN) {
        add_results(plain.text, text);
        return ft_strbuf_release(&plain);
    }
    for (const char *c = plain.text; *c; c++) {
        bool begins = *c == '{' && !depth++;
        if (begins) wraps = draw(&random, 3) == 0;
        if (*c == '}' && !--depth && wraps) ft_strbuf_puts(text, " } ");
        ft_strbuf_add(text, c, 1);
        if (begins && wraps) ft_strbuf_puts(text, " while 1 { ");
        /* a loop that only reads has a state for each value: it never comes back as it was */
        if (begins && wraps && features.late) ft_strbuf_puts(text, "lock 1; unlock 1; ");
        if (begins && features.late && draw(&random, 3)) add_read(&random, text);
        if (*c == ';' && depth && draw(&random, 12) == 0) ft_strbuf_puts(text, " marker; ");
    }
    ft_strbuf_release(&plain);
}

/* `merged`: paths are merged wherever there is more than one. */
static bool holds_with(const ft_program *p, ft_schedule_set *set, bool merged)
{
    unsigned asked = 0;
    cover_certify_options options = {.world = {.should_stop = should_stop, .context = &asked},
                                     .max_leaves = merged ? 1 : 400,
                                     .merged_rounds = 1,
                                     .question_ms = 2000};
    cover_certificates found = {0};
    ft_error err = FT_ERROR_INIT;
    bool all =
        cover_certify(p, set, &options, &found, &err) == FT_OK && cover_certificates_hold(&found);
    cover_certificates_release(&found);
    return all;
}

static bool holds(const ft_program *p, ft_schedule_set *set)
{
    bool merged = holds_with(p, set, true);
    return holds_with(p, set, false) || merged;
}

/* ---- mutations ---- */

static ft_schedule *some_schedule(ft_schedule_set *set, uint64_t *random)
{
    ft_epoch *e = &set->epochs.data[draw(random, set->epochs.len)];
    return e->schedules.len ? &e->schedules.data[draw(random, e->schedules.len)] : NULL;
}

static void drop_edges(ft_schedule_set *set, uint64_t *random)
{
    ft_schedule *s = some_schedule(set, random);
    if (s && s->nodes.len) s->nodes.data[draw(random, s->nodes.len)].n_edges = 0;
}

static void change_cell(ft_schedule_set *set, uint64_t *random)
{
    ft_epoch *e = &set->epochs.data[draw(random, set->epochs.len)];
    if (!e->cells.len) return;
    ft_epoch_cell *c = &e->cells.data[draw(random, e->cells.len)];
    if (c->address == FT_NO_ID) c->bits ^= 1;
}

static void drop_cell(ft_schedule_set *set, uint64_t *random)
{
    ft_epoch *e = &set->epochs.data[draw(random, set->epochs.len)];
    if (e->cells.len) e->cells.len--;
}

static void change_entry(ft_schedule_set *set, uint64_t *random)
{
    ft_epoch *e = &set->epochs.data[draw(random, set->epochs.len)];
    ft_choice *c = &e->choices.data[draw(random, e->choices.len)];
    if (c->term == FT_NO_TERM && e->schedules.len)
        c->schedule = (uint32_t)draw(random, e->schedules.len);
}

static void drop_entry(ft_schedule_set *set, uint64_t *random)
{
    ft_epoch *e = &set->epochs.data[draw(random, set->epochs.len)];
    ft_choice *c = &e->choices.data[draw(random, e->choices.len)];
    if (c->term == FT_NO_TERM) c->schedule = FT_NO_SCHEDULE;
}

static void drop_init(ft_schedule_set *set, uint64_t *random)
{
    set->epochs.data[draw(random, set->epochs.len)].init = FT_NO_TERM;
}

/* An unknown is said to be 0. */
static void narrow(ft_schedule_set *set, uint64_t *random)
{
    if (!set->inputs.len) return;
    uint32_t i = (uint32_t)draw(random, set->inputs.len);
    const ft_schedule_input *in = &set->inputs.data[i];
    if (!in->epoch || in->n || in->width == 1) return;
    ft_sort sort = {FT_SORT_BITVEC, in->width};
    ft_term kids[2] = {ft_term_symbol(set->pool, i, sort),
                       ft_term_literal(set->pool, (ft_value){sort, 0})};
    assert_int_equal(
        ft_term_apply(set->pool, FT_OP_EQ, kids, 2, NULL, &set->epochs.data[in->epoch].init, NULL),
        FT_OK);
}

static void other_next(ft_schedule_set *set, uint64_t *random)
{
    ft_schedule *s = some_schedule(set, random);
    const ft_epoch *e = &set->epochs.data[draw(random, set->epochs.len)];
    if (s && s->end == FT_SCHEDULE_EPOCH && e->stands.len == s->bound.len) s->next = e->name;
}

static void forget_syncs(ft_schedule_set *set, uint64_t *random)
{
    set->epochs.data[draw(random, set->epochs.len)].syncs.len = 0;
}

static void cut_last_node(ft_schedule_set *set, uint64_t *random)
{
    ft_schedule *s = some_schedule(set, random);
    if (s && s->nodes.len) s->nodes.len--;
}

static void (*const MUTATIONS[])(ft_schedule_set *set, uint64_t *random) = {
    drop_edges, change_cell, drop_cell,  change_entry, drop_entry,
    drop_init,  narrow,      other_next, forget_syncs, cut_last_node,
};
enum { N_MUTATIONS = sizeof MUTATIONS / sizeof MUTATIONS[0] };

/* ---- programs ---- */

static void complain(const char *text, const ft_schedule_set *set, const constrained_fault *fault,
                     const char *what)
{
    ft_strbuf out = {0};
    ft_schedule_set_print(set, &out);
    printf("%s\n%s", text, out.text); /* a message of cmocka is cut */
    ft_strbuf_release(&out);
    fail_msg("%s: inputs %u %u %u %u, epoch %u: %s: %s", what, (unsigned)fault->inputs[0],
             (unsigned)fault->inputs[1], (unsigned)fault->inputs[2], (unsigned)fault->inputs[3],
             fault->epoch, fault->what, fault->why);
}

/* Brute force knows waits that nobody ends as `stuck`; what is wrong is certified by none. */
static void mutate(const char *text, const ft_program *p, const ft_schedule_set *from,
                   uint64_t *random, tally *t)
{
    ft_strbuf out = {0};
    ft_error err = FT_ERROR_INIT;
    ft_schedule_set *set = NULL;
    ft_schedule_set_print(from, &out);
    assert_int_equal(ft_schedule_set_read(out.text, out.len, &set, &err), FT_OK);
    MUTATIONS[draw(random, N_MUTATIONS)](set, random);
    constrained_counts counts = {0};
    if (ft_schedule_set_validate(set, &err) == FT_OK) {
        constrained_fault fault = constrained_check(p, set, &counts);
        t->mutated++;
        t->wrong += fault.what && !fault.races;
        if (fault.what && !fault.races && holds(p, set))
            complain(text, set, &fault, "a wrong set has its certificates");
    }
    ft_schedule_set_free(set);
    ft_strbuf_release(&out);
}

/* What is foreseen is what runs do. */
static void foresee(const char *text, const ft_program *p, const ft_schedule_set *set,
                    uint64_t seed, tally *t)
{
    const char *wrong = foreseen_check(p, set, seed, &t->foreseen);
    constrained_fault fault = {.what = wrong};
    if (wrong) complain(text, set, &fault, "what is foreseen is wrong");
}

static void check(uint64_t seed, known kind, const char *text, tally *t)
{
    static const char *const SOME[] = {"p", "q", NULL}, *const EVERY[] = {"*", NULL};
    bool late = kind == READ || (kind == LEFT && seed % 4 == 0);
    unsigned asked = 0;
    cover_search_options options = {.world = {.prefix = seed % 4 != 0,
                                              .should_stop = should_stop,
                                              .context = &asked,
                                              .order = (cover_order)(seed % COVER_ORDERS),
                                              .seed = seed,
                                              .loops = kind == LEFT,
                                              .dynamic = !late           ? NULL
                                                         : seed % 5 == 0 ? EVERY
                                                                         : SOME,
                                              .max_operations = 300},
                                    .epochs = COVER_EPOCHS_MARKERS,
                                    .max_entries = 60,
                                    .max_epochs = 25};
    cover_search_counts counts;
    constrained_counts runs = {0};
    uint64_t random = seed;
    ft_schedule_set *set = NULL;
    ft_error err = FT_ERROR_INIT;
    ft_program *p = mini_program(text);
    t->programs++;
    if (cover_search(p, &options, &set, &counts, &err) == FT_OK) {
        constrained_fault fault = constrained_check(p, set, &runs);
        t->epochs += (unsigned)counts.epochs;
        for (uint32_t e = 1; e < set->epochs.len; e++) t->trees += ft_schedule_is_tree(set, e);
        t->open += counts.open > 0;
        t->racy += fault.races;
        if (fault.what && !fault.races && !counts.open)
            complain(text, set, &fault, "the search is wrong");
        bool proved = !counts.open && holds(p, set);
        t->proved += proved;
        if (proved && !fault.races) foresee(text, p, set, seed, t);
        if (fault.what && !fault.races && proved) complain(text, set, &fault, "proved and wrong");
        for (int i = 0; i < 2 && proved && counts.epochs > 1; i++) mutate(text, p, set, &random, t);
    }
    ft_schedule_set_free(set);
    ft_program_free(p);
}

static void check_all(known kind)
{
    uint64_t first = number("FT_SEED_START", 1), n = usual(kind == LEFT ? 10 : 25, 5);
    tally t = {0};
    for (uint64_t seed = first; seed < first + n; seed++) {
        ft_strbuf text = {0};
        make_text(seed, kind, &text);
        if (n == 1) print_message("%s\n", text.text);
        /* remainders and products of unknowns of 32 bits take the solver long */
        if (!strpbrk(text.text, "%*")) check(seed, kind, text.text, &t);
        ft_strbuf_release(&text);
    }
    print_message(
        "%u programs, %u epochs, %u trees in later ones, %u not covered, %u racy, %u "
        "proved; %u mutated sets, %u of them wrong; %u runs foreseen, of %u epochs, and %u of %u "
        "inputs not\n",
        t.programs, t.epochs, t.trees, t.open, t.racy, t.proved, t.mutated, t.wrong,
        t.foreseen.runs, t.foreseen.epochs, t.foreseen.endless, t.foreseen.inputs);
}

static void test_epochs_oracle(void **state)
{
    (void)state;
    check_all(ALL);
}

static void test_epochs_late(void **state)
{
    (void)state;
    check_all(LATE);
}

static void test_epochs_dynamic(void **state)
{
    (void)state;
    check_all(READ);
}

static void test_epochs_results(void **state)
{
    (void)state;
    check_all(GIVEN);
}

static void test_epochs_loops(void **state)
{
    (void)state;
    check_all(LEFT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_epochs_oracle), cmocka_unit_test(test_epochs_late),
        cmocka_unit_test(test_epochs_dynamic), cmocka_unit_test(test_epochs_results),
        cmocka_unit_test(test_epochs_loops)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
