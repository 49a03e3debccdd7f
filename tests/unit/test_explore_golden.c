/* The search over schedules on programs whose number of classes is known: closed forms, and the
 * table of golden programs that lies beside the repository (FT_GOLDEN_EXPLORING names its file;
 * skipped where it is absent). Every program is held against brute force too where that is small.
 *
 * Their notation is that of oracle/notation.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "explore/search.h"
#include "oracle/notation.h"

/* ---- the comparison */

/* Builds that check more than a release does have less time. */
#if defined FT_CHECKED || defined __SANITIZE_ADDRESS__
enum { MOST_CLASSES = 6000 };
#else
enum { MOST_CLASSES = 120000 };
#endif

typedef struct counted {
    uint64_t classes, stuck, failing;
} counted;

static bool note_failure(void *context, const ft_x_run *run, const ft_unfolding *u,
                         const ft_configuration *c)
{
    (void)u, (void)c;
    ((counted *)context)->failing += run->result != 0;
    return true;
}

static counted search(const char *name, const schedule_program *p, bool complete)
{
    bool finished;
    counted found = {0};
    ft_x_counts counts;
    ft_error err = FT_ERROR_INIT;
    schedule_executor *executor = ft_schedules_executor(p, complete ? 1 : 2, 7);
    ft_x_executor interface = ft_schedules_interface(executor);
    ft_x_options options = {.complete = complete, .on_class = note_failure, .context = &found};
    clock_t start = clock();
    if (ft_x_search(&interface, &options, &counts, &finished, &err) != FT_OK || !finished)
        fail_msg("%s: not finished: %s", name, err.message);
    if (counts.classes >= 1000)
        print_message("%s: %u classes, %u redundant runs, %u events, at most %u of %.0f bytes at a "
                      "time, %.2f s\n",
                      name, (unsigned)counts.classes, (unsigned)counts.redundant,
                      (unsigned)counts.events, (unsigned)counts.most_events,
                      (double)counts.most_bytes / (double)counts.most_events,
                      (double)(clock() - start) / CLOCKS_PER_SEC);
    if (complete) assert_int_equal(counts.redundant, 0);
    if (counts.classes > 20000) /* what is done with is given back */
        assert_true(4 * counts.most_events < counts.events);
    found.classes = counts.classes;
    found.stuck = counts.stuck;
    ft_schedules_executor_free(executor);
    return found;
}

static void expect(const char *name, const schedule_program *p, const counted *want)
{
    for (int complete = 0; complete < (want->classes < 3000 ? 2 : 1); complete++) {
        counted got = search(name, p, complete);
        if (got.classes != want->classes || got.stuck != want->stuck ||
            got.failing != want->failing)
            fail_msg(
                "%s, %s alternatives: expected %u classes, %u stuck, %u failing; got %u, %u, %u",
                name, complete ? "complete" : "partial", (unsigned)want->classes,
                (unsigned)want->stuck, (unsigned)want->failing, (unsigned)got.classes,
                (unsigned)got.stuck, (unsigned)got.failing);
    }
}

/* ---- closed forms */

static schedule_program copies(uint32_t n, const char *text)
{
    schedule_program p = {0};
    while (n--) ft_schedules_add_thread(&p, text);
    return p;
}

static void repeat(char *text, size_t size, const char *part, uint32_t n)
{
    text[0] = 0;
    for (size_t used = 0; n--; used = strlen(text)) snprintf(text + used, size - used, "%s ", part);
}

static uint64_t factorial(uint32_t n)
{
    return n < 2 ? 1 : n * factorial(n - 1);
}

static void expect_count(const char *name, const schedule_program *p, uint64_t classes,
                         uint64_t stuck)
{
    expect(name, p, &(counted){.classes = classes, .stuck = stuck});
}

/* n threads with a section each of one lock: n!; with k sections: (nk)! / (k!)^n. */
static void test_sections(void **state)
{
    (void)state;
    static const uint32_t SIZES[][2] = {{2, 1}, {3, 1}, {4, 1}, {5, 1}, {6, 1}, {7, 1}, {2, 2},
                                        {2, 5}, {2, 7}, {3, 2}, {3, 3}, {4, 2}, {8, 1}, {5, 2}};
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
        uint32_t n = SIZES[i][0], k = SIZES[i][1];
        uint64_t classes = factorial(n * k);
        char text[200], name[50];
        for (uint32_t t = 0; t < n; t++) classes /= factorial(k);
        repeat(text, sizeof text, "L0 U0", k);
        snprintf(name, sizeof name, "%u threads with %u sections", n, k);
        schedule_program p = copies(n, text);
        if (classes <= MOST_CLASSES) expect_count(name, &p, classes, 0);
    }
}

/* k locks, one after the other: (n!)^k; locks of one's own: 1. */
static void test_locks_apart(void **state)
{
    (void)state;
    schedule_program p = copies(3, "L0 U0 L1 U1 L2 U2");
    expect_count("3 locks one after the other", &p, 216, 0);
    p = (schedule_program){0};
    for (int t = 0; t < 5; t++) {
        char text[40];
        snprintf(text, sizeof text, "L%d U%d L%d U%d", t, t, t, t);
        ft_schedules_add_thread(&p, text);
    }
    expect_count("locks of their own", &p, 1, 0);
}

/* n readers and a writer of one atomic: 2^n; n philosophers: 2^n - 1, one of them stuck. */
static void test_powers_of_two(void **state)
{
    (void)state;
    for (uint32_t n = 2; n <= 10; n += 2) {
        schedule_program p = copies(n, "l0"), q = {0};
        char name[40], text[60];
        ft_schedules_add_thread(&p, "s0=1");
        snprintf(name, sizeof name, "%u readers, a writer", n);
        expect_count(name, &p, UINT64_C(1) << n, 0);
        for (uint32_t t = 0; t < n && n <= 8; t++) {
            uint32_t next = (t + 1) % n;
            snprintf(text, sizeof text, "L%u L%u U%u U%u", t, next, next, t);
            ft_schedules_add_thread(&q, text);
        }
        snprintf(name, sizeof name, "%u philosophers", n);
        if (n <= 8) expect_count(name, &q, (UINT64_C(1) << n) - 1, 1);
    }
}

/* The process's end against a thread with k actions: k + 1. n threads that take one lock where an
 * input of their own says so: the sum of C(n, i) i!. */
static void test_ends_and_inputs(void **state)
{
    (void)state;
    for (uint32_t k = 1; k <= 20; k += 6) {
        char text[200];
        schedule_program p = {0};
        ft_schedules_add_thread(&p, "X");
        repeat(text, sizeof text, "s0=1", k);
        ft_schedules_add_thread(&p, text);
        expect_count("the end of the process", &p, k + 1, 0);
    }
    for (uint32_t n = 2; n <= 4; n++) {
        uint64_t sum = 0;
        for (uint32_t i = 0; i <= n; i++) sum += factorial(n) / factorial(n - i);
        schedule_program p = copies(n, "I [01 L0 U0 ]");
        expect_count("locks by inputs", &p, sum, 0);
    }
}

/* ---- the table */

/* The counts under the end of the process as an action of its own. */
static counted by_brute_force(const schedule_program *p, const counted *table)
{
    schedule_classes all;
    assert_true(ft_schedules_enumerate(p, 100000, &all));
    assert_true((all.failing > 0) == (table->failing > 0) && (all.stuck > 0) == (table->stuck > 0));
    ft_schedules_release(&all);
    return (counted){all.classes, all.stuck, all.failing};
}

static void test_table(void **state)
{
    (void)state;
    const char *path = getenv("FT_GOLDEN_EXPLORING");
    if (!path) path = FT_SOURCE_DIR "/../shared/golden/exploring.md";
    FILE *file = fopen(path, "r");
    if (!file) {
        print_message("skipped: no table at %s\n", path);
        skip();
    }
    golden_row r;
    size_t row = 0;
    while (ft_golden_next(file, &row, &r)) {
        counted want = {r.classes, r.stuck, r.failing};
        if (r.fails_early) want = by_brute_force(&r.program, &want);
        expect(r.name, &r.program, &want);
    }
    fclose(file);
    assert_int_equal(row, ft_golden_rows());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sections),      cmocka_unit_test(test_locks_apart),
        cmocka_unit_test(test_powers_of_two), cmocka_unit_test(test_ends_and_inputs),
        cmocka_unit_test(test_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
