/* Certificates of schedule sets: proved for what the search makes, refuted where a set is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cover/certify.h"
#include "cover/search.h"
#include "cover_seeds.h"
#include "oracle/constrained.h"
#include "oracle/foreseen.h"
#include "oracle/mini.h"
#include "oracle/mini_random.h"
#include "schedules/dynamic.h"
#include "unit/cover_merged.h"
#include "unit/cover_mutations.h"
#include "unit/cover_sets.h"

#define L(k) " lock " k "; unlock " k "; "

static ft_schedule_set *search(const ft_program *p, bool prefix, cover_order order,
                               cover_search_counts *counts)
{
    cover_search_options options = {.world = {.prefix = prefix, .order = order, .seed = 3}};
    ft_schedule_set *set = NULL;
    ft_error err = FT_ERROR_INIT;
    if (cover_search(p, &options, &set, counts, &err) != FT_OK) fail_msg("%s", err.message);
    return set;
}

static cover_certificates certify(const ft_program *p, ft_schedule_set *set)
{
    cover_certify_options options = {.max_leaves = 3000};
    cover_certificates found = {0};
    ft_error err = FT_ERROR_INIT;
    if (cover_certify(p, set, &options, &found, &err) != FT_OK) fail_msg("%s", err.message);
    check_merged(p, set, &found);
    return found;
}

static void print_all(const ft_schedule_set *set, const cover_certificates *found)
{
    ft_strbuf out = {0};
    ft_schedule_set_print(set, &out);
    print_message("%s", out.text);
    ft_strbuf_release(&out);
    for (size_t i = 0; i < found->all.len; i++) {
        const cover_certificate *c = &found->all.data[i];
        if (c->answer == COVER_PROVED) continue;
        print_message("%s of schedule %d: %s: %s;", cover_certificate_name(c->kind),
                      (int)c->schedule + 1, cover_answer_name(c->answer), c->text);
        for (uint32_t k = 0; k < c->n_inputs && c->inputs; k++)
            print_message(" %u", (unsigned)c->inputs[k]);
        print_message("\n");
    }
}

/* ---- sets that must be refused, by the certificate that is there for it (golden) ---- */

static void same(ft_schedule_set *set)
{
    (void)set;
}

/* The entry claims to begin with inputs that have the first schedule. */
static void narrow_entry(ft_schedule_set *set)
{
    (void)narrow_init(set, NULL);
}

static void drop_entry(ft_schedule_set *set)
{
    ft_epoch *e = &set->epochs.data[0];
    e->choices.data[e->choices.len - 1].schedule = FT_NO_SCHEDULE;
}

/* The first schedule for all inputs. */
static void widen(ft_schedule_set *set)
{
    ft_epoch *e = &set->epochs.data[0];
    for (size_t i = 0; i < e->choices.len; i++)
        if (e->choices.data[i].term == FT_NO_TERM) e->choices.data[i].schedule = 0;
}

/* All edges between locks of different threads. */
static void drop_lock_edges(ft_schedule_set *set)
{
    ft_schedule *s = &set->epochs.data[0].schedules.data[0];
    for (size_t i = 0; i < s->nodes.len; i++)
        if (s->nodes.data[i].kind == FT_NODE_LOCK) s->nodes.data[i].n_edges = 0;
}

static void drop_signal_edge(ft_schedule_set *set)
{
    ft_schedule *s = &set->epochs.data[0].schedules.data[0];
    for (size_t i = 0; i < s->nodes.len; i++)
        if (s->nodes.data[i].kind == FT_NODE_SIGNAL) s->nodes.data[i].n_edges = 0;
}

/* Only what comes before the first lock. */
static void cut(ft_schedule_set *set)
{
    ft_schedule *s = &set->epochs.data[0].schedules.data[0];
    for (uint32_t i = 0; i < s->nodes.len; i++)
        if (s->nodes.data[i].kind == FT_NODE_LOCK) {
            s->nodes.len = i;
            return;
        }
}

/* The node of a thread's end, and the edges from it. */
static void drop_end(ft_schedule_set *set)
{
    ft_schedule *s = &set->epochs.data[0].schedules.data[0];
    uint32_t end = 0;
    while (s->nodes.data[end].kind != FT_NODE_END) end++;
    for (size_t i = end + 1; i < s->nodes.len; i++) {
        ft_node n = s->nodes.data[i];
        uint32_t *edges = s->edges.data + n.edges, kept = 0;
        for (uint32_t k = 0; k < n.n_edges; k++)
            if (edges[k] != end) edges[kept++] = edges[k] - (edges[k] > end);
        n.n_edges = kept;
        s->nodes.data[i - 1] = n;
    }
    s->nodes.len--;
}

/* It claims to end with a failure. */
static void fail_end(ft_schedule_set *set)
{
    set->epochs.data[0].schedules.data[0].end = FT_SCHEDULE_FAILED;
}

static const struct {
    const char *name, *program;
    cover_order order;
    void (*spoil)(ft_schedule_set *set);
    int refused; /* cover_certificate_kind; -1: none */
} REFUSED[] = {
    {"two entries", "in x:1; T { if x {" L("0") "} else {" L("1") "} }", COVER_ORDER_THREAD, same,
     -1},
    {"an entry taken out", "in x:1; T { if x {" L("0") "} else {" L("1") "} }", COVER_ORDER_THREAD,
     drop_entry, COVER_CHECK_COVER},
    {"an entry for some inputs", "in x:1; T { if x {" L("0") "} else {" L("1") "} }",
     COVER_ORDER_THREAD, narrow_entry, COVER_CHECK_COVER},
    {"a widened constraint", "in x:1; T { if x {" L("0") "} else {" L("1") "} }",
     COVER_ORDER_THREAD, widen, COVER_CHECK_SCHEDULE},
    {"a race on a dropped side",
     "in x:1; var g; T { if x { g = 1; } " L("0") "} T {" L("1") "_a = g; }", COVER_ORDER_THREAD,
     same, COVER_CHECK_RACE},
    {"the same, ordered", "in x:1; var g; T { if x { g = 1; } " L("0") "} T {" L("0") "_a = g; }",
     COVER_ORDER_THREAD, same, -1},
    {"an edge out between sections",
     "var g; T { lock 0; g = g + 1; unlock 0; } T { lock 0; g = g + 1; unlock 0; }",
     COVER_ORDER_THREAD, drop_lock_edges, COVER_CHECK_RACE},
    {"an edge out between empty sections", "T {" L("0") "} T {" L("0") "}", COVER_ORDER_THREAD,
     drop_lock_edges, COVER_CHECK_ORDER},
    {"a lost signal", "T { lock 0; wait 0 0; unlock 0; } T { signal 0; }", COVER_ORDER_THREAD,
     drop_signal_edge, COVER_CHECK_ORDER},
    {"a signal", "T { lock 0; wait 0 0; unlock 0; } T { signal 0; }", COVER_ORDER_THREAD, same, -1},
    {"crossed locks",
     "T {" L("2") "lock 0; lock 1; unlock 1; unlock 0; }"
                  " T { lock 1; lock 0; unlock 0; unlock 1; }",
     COVER_ORDER_TRACE, same, COVER_CHECK_DEADLOCK},
    {"locks in order",
     "T { lock 0; lock 1; unlock 1; unlock 0; } T { lock 1; lock 0; unlock 0; unlock 1; }",
     COVER_ORDER_THREAD, same, -1},
    {"a schedule that ends early", "T {" L("0") "}", COVER_ORDER_THREAD, cut, COVER_CHECK_CLOSED},
    {"a thread without its end", "T {" L("0") "}", COVER_ORDER_THREAD, drop_end,
     COVER_CHECK_SCHEDULE},
    {"a failure that does not happen", "in x:1; T { lock 0; if x { exit 0; } unlock 0; }",
     COVER_ORDER_THREAD, fail_end, COVER_CHECK_SCHEDULE},
    {"a failure for odd x",
     "in x:2; T { lock 0; if x % 2 != 0 { abort; } unlock 0; }"
     " T { lock 0; if x % 2 != 0 { x = x + 1; } unlock 0; }",
     COVER_ORDER_THREAD, same, COVER_CHECK_FAILURE},
    {"none, the other thread first",
     "in x:2; T { lock 0; if x % 2 != 0 { x = x + 1; } unlock 0; }"
     " T { lock 0; if x % 2 != 0 { abort; } unlock 0; }",
     COVER_ORDER_THREAD, same, -1},
    {"a loop that does not end, for some inputs",
     "in x:1; T { if x { while 1 { _a = 1; } } lock 0; }", COVER_ORDER_THREAD, same,
     COVER_CHECK_DIVERGENCE},
    {"the same, for the others",
     "in x:1; T { if !x { while 1 { _a = 1; } } lock 0; } T {" L("1") "}", COVER_ORDER_THREAD, same,
     COVER_CHECK_DIVERGENCE},
    {"with a lock that another thread waits for",
     "in x:1; T { lock 0; if x { while 1 { _a = 1; } } unlock 0; } T {" L("0") "}",
     COVER_ORDER_THREAD, same, COVER_CHECK_DIVERGENCE},
    {"a long loop that ends", "in x:1; T { while _i < 3000 { _i = _i + 1; } if x {" L("0") "} }",
     COVER_ORDER_THREAD, same, -1},
    {"a barrier of two, four threads",
     "bar 0:2; T { barrier 0; } T { barrier 0; } T { barrier 0; } T { barrier 0; }",
     COVER_ORDER_THREAD, same, -1},
};

static void check_refused(size_t i)
{
    cover_search_counts counts;
    ft_program *p = mini_program(REFUSED[i].program);
    ft_schedule_set *set = search(p, true, REFUSED[i].order, &counts);
    REFUSED[i].spoil(set);
    cover_certificates found = certify(p, set);
    for (int k = 0; k < COVER_CERTIFICATES; k++) {
        cover_answer answer = cover_certificates_answer(&found, (cover_certificate_kind)k);
        bool should = k == REFUSED[i].refused;
        /* an edge that is missing is one for races and for order */
        bool may = REFUSED[i].refused == COVER_CHECK_RACE && k == COVER_CHECK_ORDER;
        if (should ? answer == COVER_REFUTED : may || answer == COVER_PROVED) continue;
        print_all(set, &found);
        fail_msg("%s: %s is %s", REFUSED[i].name, cover_certificate_name((cover_certificate_kind)k),
                 cover_answer_name(answer));
    }
    cover_certificates_release(&found);
    ft_schedule_set_free(set);
    ft_program_free(p);
}

static void test_cover_refused(void **state)
{
    (void)state;
    const char *only = getenv("FT_CASE");
    for (size_t i = 0; i < sizeof REFUSED / sizeof REFUSED[0]; i++)
        if (!only || strcmp(only, REFUSED[i].name) == 0) check_refused(i);
}

/* A thread leaves the schedule while another one may end the process: the inputs show that. */
static void test_cover_left_beside_a_failure(void **state)
{
    (void)state;
    cover_search_counts counts;
    ft_program *p = mini_program("in x:1; T { if x {" L("0") "} else {" L("1") "} } T { abort; }");
    ft_schedule_set *set = search(p, true, COVER_ORDER_THREAD, &counts);
    widen(set);
    cover_certificates found = certify(p, set);
    assert_int_equal(cover_certificates_answer(&found, COVER_CHECK_SCHEDULE), COVER_REFUTED);
    cover_certificates_release(&found);
    ft_schedule_set_free(set);
    ft_program_free(p);
}

/* ---- mutations of the sets of random programs ---- */

typedef struct mutation_counts {
    unsigned sets, wrong, refuted, unknown;
    unsigned of[N_MUTATIONS][2];
} mutation_counts;

static bool is_refuted(const cover_certificates *found)
{
    for (int k = 0; k < COVER_CHECK_FAILURE; k++)
        if (cover_certificates_answer(found, (cover_certificate_kind)k) == COVER_REFUTED)
            return true;
    return false;
}

/* What the search makes is proved, but for deadlocks that the schedule runs into. */
static void check_whole(const ft_program *p, ft_schedule_set *set, const char *text)
{
    cover_certificates found = certify(p, set);
    for (int k = 0; k < COVER_CHECK_FAILURE; k++) {
        cover_answer answer = cover_certificates_answer(&found, (cover_certificate_kind)k);
        if (answer == COVER_PROVED || answer == COVER_UNKNOWN || k == COVER_CHECK_DEADLOCK)
            continue;
        print_all(set, &found);
        fail_msg("%s is %s\n%s", cover_certificate_name((cover_certificate_kind)k),
                 cover_answer_name(answer), text);
    }
    cover_certificates_release(&found);
}

static void check_mutated(const ft_program *p, ft_schedule_set *set, const char *text, int kind,
                          mutation_counts *counts)
{
    constrained_counts runs = {0};
    constrained_fault fault = constrained_check(p, set, &runs);
    counts->sets++;
    counts->of[kind][0]++;
    if (!fault.what) return;
    cover_certificates found = certify(p, set);
    counts->wrong++;
    counts->of[kind][1]++;
    if (is_refuted(&found)) {
        counts->refuted++;
    } else if (cover_certificates_hold(&found)) {
        print_all(set, &found);
        fail_msg("mutation %d is wrong (%s; inputs %u %u %u) and has all certificates\n%s", kind,
                 fault.what, (unsigned)fault.inputs[0], (unsigned)fault.inputs[1],
                 (unsigned)fault.inputs[2], text);
    } else {
        counts->unknown++;
        if (getenv("FT_CASE")) print_all(set, &found);
    }
    cover_certificates_release(&found);
}

static void test_cover_mutations(void **state)
{
    (void)state;
    uint64_t first = number("FT_SEED_START", 1), n = usual(25, 6);
    mutation_counts counts = {0};
    for (uint64_t seed = first; seed < first + n; seed++) {
        ft_strbuf text = {0};
        cover_search_counts searched;
        dice d = {seed};
        mini_random(seed, mini_random_features(seed), &text);
        ft_program *p = mini_program(text.text);
        ft_schedule_set *whole = search(p, seed % 3 != 0, COVER_ORDER_THREAD, &searched);
        if (!searched.open) check_whole(p, whole, text.text);
        ft_schedule_set_free(whole);
        for (int k = 0; k < N_MUTATIONS && !searched.open; k++) {
            ft_schedule_set *set = search(p, seed % 3 != 0, COVER_ORDER_THREAD, &searched);
            ft_error err = FT_ERROR_INIT;
            if (MUTATIONS[k](set, &d) && ft_schedule_set_validate(set, &err) == FT_OK)
                check_mutated(p, set, text.text, k, &counts);
            ft_schedule_set_free(set);
        }
        ft_program_free(p);
        ft_strbuf_release(&text);
    }
    print_message("mutated sets %u, wrong %u, refuted %u, unknown %u\n", counts.sets, counts.wrong,
                  counts.refuted, counts.unknown);
    assert_int_equal(counts.unknown, 0);
    for (int k = 0; k < N_MUTATIONS; k++)
        print_message("  mutation %d: %u, wrong %u\n", k, counts.of[k][0], counts.of[k][1]);
}

/* ---- loops that do not end: what the certificate says is what brute force says ---- */

static void check_divergence(uint64_t seed, unsigned *proved, unsigned *diverge)
{
    ft_strbuf text = {0};
    cover_search_counts searched;
    constrained_counts runs = {0};
    mini_features features = mini_random_features(seed);
    features.endless = true;
    mini_random(seed, features, &text);
    ft_program *p = mini_program(text.text);
    ft_schedule_set *set = search(p, seed % 3 != 0, (cover_order)(seed % COVER_ORDERS), &searched);
    constrained_fault fault = constrained_check(p, set, &runs);
    cover_certificates found = certify(p, set);
    cover_answer answer = cover_certificates_answer(&found, COVER_CHECK_DIVERGENCE);
    bool endless = runs.ends[FT_CONSTRAINED_ENDLESS_RUN] > 0,
         holds = cover_certificates_hold(&found);
    bool wrong = answer == COVER_REFUTED && !endless && !fault.what && !fault.races;
    if (holds && (fault.what || (answer == COVER_PROVED && endless))) wrong = true;
    if (wrong) {
        print_all(set, &found);
        fail_msg("divergence is %s, brute force: %u runs without an end, %s\n%s",
                 cover_answer_name(answer), (unsigned)runs.ends[FT_CONSTRAINED_ENDLESS_RUN],
                 fault.what ? fault.what : "no fault", text.text);
    }
    *proved += holds && answer == COVER_PROVED;
    *diverge += holds && answer == COVER_REFUTED;
    cover_certificates_release(&found);
    ft_schedule_set_free(set);
    ft_program_free(p);
    ft_strbuf_release(&text);
}

static void test_cover_divergence(void **state)
{
    (void)state;
    unsigned proved = 0, diverge = 0;
    uint64_t first = number("FT_SEED_START", 1), n = usual(40, 6);
    for (uint64_t seed = first; seed < first + n; seed++) check_divergence(seed, &proved, &diverge);
    print_message("%u programs: all loops end in %u, some do not in %u\n", (unsigned)n, proved,
                  diverge);
    assert_true(n < 40 || (proved && diverge));
}

/* ---- dynamic inputs: a set that has its certificates is followed, whoever reads what when ---- */

static const char *const ALL[] = {"*", NULL};

/* loops: loops as functions, in place of dynamic inputs. */
static ft_schedule_set *search_tree(const ft_program *p, uint64_t seed, bool loops,
                                    cover_search_counts *counts)
{
    cover_search_options options = {.world = {.prefix = seed % 3 != 0,
                                              .order = (cover_order)(seed % COVER_ORDERS),
                                              .seed = 3,
                                              .loops = loops,
                                              .dynamic = loops ? NULL : ALL},
                                    .max_entries = 40};
    ft_schedule_set *set = NULL;
    ft_error err = FT_ERROR_INIT;
    if (cover_search(p, &options, &set, counts, &err) != FT_OK) fail_msg("%s", err.message);
    return set;
}

/* What is foreseen is what runs do. */
static void check_foreseen(const ft_program *p, const ft_schedule_set *set, const char *text)
{
    foreseen_counts counts = {0};
    const char *wrong = foreseen_check(p, set, 1, &counts);
    if (wrong) fail_msg("what is foreseen is wrong: %s\n%s", wrong, text);
}

/* mutated: a set may be refuted by what no run shows (an edge that the program has anyway). */
static void check_dynamic(const ft_program *p, ft_schedule_set *set, const char *text, bool mutated,
                          unsigned *held, unsigned *refused)
{
    constrained_counts runs = {0};
    constrained_fault fault = constrained_check(p, set, &runs);
    cover_certificates found = certify(p, set);
    bool holds = cover_certificates_hold(&found);
    bool refuted = false;
    for (int k = 0; k < COVER_CHECK_FAILURE; k++)
        refuted |= cover_certificates_answer(&found, (cover_certificate_kind)k) == COVER_REFUTED;
    bool deadlocks = cover_certificates_answer(&found, COVER_CHECK_DEADLOCK) == COVER_REFUTED;
    if ((holds && fault.what) ||
        (refuted && !mutated && !fault.what && !fault.races && !deadlocks)) {
        print_all(set, &found);
        fail_msg("brute force: %s (inputs %u %u %u %u %u)\n%s", fault.what ? fault.what : "right",
                 (unsigned)fault.inputs[0], (unsigned)fault.inputs[1], (unsigned)fault.inputs[2],
                 (unsigned)fault.inputs[3], (unsigned)fault.inputs[4], text);
    }
    if (holds && !fault.races) check_foreseen(p, set, text);
    *held += holds;
    *refused += !holds;
    cover_certificates_release(&found);
}

/* Brute force and check-schedule say of the set of a row whether it is right. */
static void expect_parts(const ft_program *p, ft_schedule_set *set, bool right, size_t row)
{
    constrained_counts runs = {0};
    constrained_fault fault = constrained_check(p, set, &runs);
    cover_certificates found = certify(p, set);
    cover_answer answer = cover_certificates_answer(&found, COVER_CHECK_SCHEDULE);
    if (cover_certificates_hold(&found) != right || !fault.what != right ||
        answer != (right ? COVER_PROVED : COVER_REFUTED)) {
        print_all(set, &found);
        fail_msg("row %u; brute force: %s", (unsigned)row, fault.what ? fault.what : "right");
    }
    cover_certificates_release(&found);
}

/* Schedules part where an input is read, not before. */
static void test_cover_parts(void **state)
{
    static const struct {
        const char *program, *set;
        bool right;
    } ROWS[] = {{COVER_READS_FIRST, COVER_PARTS("0.1"), true},
                {COVER_OTHER_READS, COVER_PARTS("0"), true},
                {COVER_READS_LATE, COVER_PARTS("0.1"), false}};
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        ft_error err = FT_ERROR_INIT;
        ft_schedule_set *set = NULL;
        ft_program *p = mini_program(ROWS[i].program);
        if (ft_schedule_set_read(ROWS[i].set, strlen(ROWS[i].set), &set, &err) != FT_OK)
            fail_msg("%s", err.message);
        expect_parts(p, set, ROWS[i].right, i);
        ft_schedule_set_free(set);
        ft_program_free(p);
    }
}

/* The set's text with the parts in its second epoch: the lines of the state alone are kept. */
static void part_later(const ft_schedule_set *from, const char *thread, ft_strbuf *out)
{
    ft_strbuf all = {0};
    ft_schedule_set_print(from, &all);
    const char *later = strstr(all.text, "\nepoch e1\n"), *line = strchr(later + 1, '\n') + 1;
    ft_strbuf_puts(out, "schedules 1\nprefix yes\nepoch entry\ntake s\nschedule s epoch e1\n"
                        "  0:1 begin\n  next 0\nepoch e1\n");
    while (strncmp(line, "stands", 6) == 0 || strncmp(line, "cell", 4) == 0 ||
           strncmp(line, "sync", 4) == 0 || strncmp(line, "unknown", 7) == 0) {
        const char *end = strchr(line, '\n') + 1;
        ft_strbuf_add(out, line, (size_t)(end - line));
        line = end;
    }
    ft_strbuf_printf(out, "input p 1 \"p\" %s 1 dynamic\n" COVER_LATER_PARTS, thread);
    ft_strbuf_release(&all);
}

/* The same in an epoch that begins at a marker of @main. */
static void test_cover_later_parts(void **state)
{
#define MAIN " M { marker; create 1; create 2; join 1; join 2; }"
    static const struct {
        const char *program, *thread;
        bool right;
    } ROWS[] = {{COVER_READS_FIRST MAIN, "0.1", true}, {COVER_READS_LATE MAIN, "0.1", false}};
#undef MAIN
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        cover_search_counts counts;
        ft_strbuf text = {0};
        ft_error err = FT_ERROR_INIT;
        ft_schedule_set *from = NULL, *set = NULL;
        ft_program *p = mini_program(ROWS[i].program);
        cover_search_options options = {.world.prefix = true, .epochs = COVER_EPOCHS_MARKERS};
        assert_int_equal(cover_search(p, &options, &from, &counts, &err), FT_OK);
        part_later(from, ROWS[i].thread, &text);
        if (ft_schedule_set_read(text.text, text.len, &set, &err) != FT_OK)
            fail_msg("%u: %s\n%s", (unsigned)err.line, err.message, text.text);
        expect_parts(p, set, ROWS[i].right, i);
        ft_schedule_set_free(from);
        ft_schedule_set_free(set);
        ft_strbuf_release(&text);
        ft_program_free(p);
    }
}

static void check_trees(bool loops)
{
    unsigned held = 0, refused = 0, wrong = 0, right = 0, parted = 0;
    uint64_t first = number("FT_SEED_START", 1), n = usual(loops ? 12 : 40, 6);
    for (uint64_t seed = first; seed < first + n; seed++) {
        ft_strbuf text = {0};
        cover_search_counts counts;
        mini_features features = mini_random_features(seed);
        features.late = !loops;
        features.counting = loops;
        dice d = {seed};
        mini_random(seed, features, &text);
        ft_program *p = mini_program(text.text);
        ft_schedule_set *set = search_tree(p, seed, loops, &counts);
        parted += ft_schedule_is_tree(set, 0);
        if (!counts.open) check_dynamic(p, set, text.text, loops, &held, &refused);
        ft_schedule_set_free(set);
        for (int k = 0; k < N_MUTATIONS && !counts.open; k++) {
            ft_error err = FT_ERROR_INIT;
            set = search_tree(p, seed, loops, &counts);
            if (MUTATIONS[k](set, &d) && ft_schedule_set_validate(set, &err) == FT_OK)
                check_dynamic(p, set, text.text, true, &right, &wrong);
            ft_schedule_set_free(set);
        }
        ft_program_free(p);
        ft_strbuf_release(&text);
    }
    print_message("%u trees; %u sets proved, %u not; of mutated ones %u, %u\n", parted, held,
                  refused, right, wrong);
    assert_true(n < 12 || held > refused);
    assert_true(n < 12 || parted > n / 4);
}

static void test_cover_dynamic(void **state)
{
    (void)state;
    check_trees(false);
}

static void test_cover_loops(void **state)
{
    (void)state;
    check_trees(true);
}

/* ---- time ---- */

static bool always(void *context)
{
    (void)context;
    return true;
}

/* Where no time is left nothing about a schedule is proved, and nothing is asked about it. */
static void test_cover_late(void **state)
{
    (void)state;
    cover_search_counts counts;
    ft_error err = FT_ERROR_INIT;
    cover_certificates found = {0};
    ft_program *p = mini_program("T { lock 0; unlock 0; } T { lock 0; unlock 0; }");
    ft_schedule_set *set = search(p, true, COVER_ORDER_THREAD, &counts);
    cover_certify_options options = {.world = {.should_stop = always}};
    assert_int_equal(cover_certify(p, set, &options, &found, &err), FT_OK);
    for (int k = COVER_CHECK_COVER + 1; k < COVER_CERTIFICATES; k++)
        assert_int_equal(cover_certificates_answer(&found, (cover_certificate_kind)k),
                         COVER_UNKNOWN);
    assert_false(cover_certificates_hold(&found));
    assert_int_equal(found.leaves, 0);
    cover_certificates_release(&found);
    ft_schedule_set_free(set);
    ft_program_free(p);
}

static void count_question(void *context, const char *name, const char *text, size_t length)
{
    (void)name, (void)text, (void)length;
    ++*(unsigned *)context;
}

/* Nor about a later epoch: of all questions only the first one is asked. */
static void test_cover_late_epochs(void **state)
{
    (void)state;
    cover_search_options search = {.world = {.prefix = true}, .epochs = COVER_EPOCHS_MARKERS};
    cover_search_counts counts;
    ft_error err = FT_ERROR_INIT;
    cover_certificates found = {0};
    ft_schedule_set *set = NULL;
    unsigned asked = 0;
    ft_program *p = mini_program("in x:1; var g; T { if x { g = 1; } marker; if g {" L("0") "} }");
    assert_int_equal(cover_search(p, &search, &set, &counts, &err), FT_OK);
    assert_true(counts.epochs > 1);
    cover_certify_options options = {
        .world = {.should_stop = always}, .smt = count_question, .smt_context = &asked};
    assert_int_equal(cover_certify(p, set, &options, &found, &err), FT_OK);
    assert_int_equal(asked, 1);
    for (size_t i = 1; i < found.all.len; i++)
        assert_string_equal(found.all.data[i].text, "the time is used up");
    cover_certificates_release(&found);
    ft_schedule_set_free(set);
    ft_program_free(p);
}

/* A search that has no time gives a set that covers nothing, and check-cover says so. */
static void test_cover_late_search(void **state)
{
    (void)state;
    cover_search_options options = {.world = {.prefix = true, .should_stop = always}};
    cover_search_counts counts;
    ft_schedule_set *set = NULL;
    ft_error err = FT_ERROR_INIT;
    ft_program *p = mini_program("T { lock 0; unlock 0; }");
    assert_int_equal(cover_search(p, &options, &set, &counts, &err), FT_OK);
    assert_int_equal(counts.open, 1);
    assert_string_equal(counts.reason, "the time is used up");
    cover_certificates found = certify(p, set);
    assert_int_equal(cover_certificates_answer(&found, COVER_CHECK_COVER), COVER_REFUTED);
    assert_int_equal(set->epochs.data[0].schedules.len, 0);
    cover_certificates_release(&found);
    ft_schedule_set_free(set);
    ft_program_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cover_late),
        cmocka_unit_test(test_cover_late_epochs),
        cmocka_unit_test(test_cover_late_search),
        cmocka_unit_test(test_cover_left_beside_a_failure),
        cmocka_unit_test(test_cover_refused),
        cmocka_unit_test(test_cover_mutations),
        cmocka_unit_test(test_cover_divergence),
        cmocka_unit_test(test_cover_parts),
        cmocka_unit_test(test_cover_later_parts),
        cmocka_unit_test(test_cover_dynamic),
        cmocka_unit_test(test_cover_loops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
