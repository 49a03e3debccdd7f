/* The search over schedules on programs whose number of classes is known: closed forms, and the
 * table of golden programs that lies beside the repository (FT_GOLDEN_EXPLORING names its file;
 * skipped where it is absent). Every program is held against brute force too where that is small.
 *
 * Programs are written as one text a thread. A letter and a number are an operation on that object:
 *   L U T lock, unlock, try-lock       W3 S3 B3 wait (with mutex 0), signal, broadcast
 *   P V take and post a semaphore      l s=V a=V c load, store V, add V, swap (register 1 to + 1)
 *   r q w v read-lock, read-unlock, write-lock, write-unlock    A E arrive at, leave a barrier of N
 *   J join, X exit, I choose one of two
 * and these are local: G0=V set a variable, <0 register 1 = variable 0, >0=V variable 0 = register
 * 1
 * + V, = register 1 = register 0, [RV ... ] if register R is V, {RV ... } if it is not, ^ back to
 * the thread's begin, nV: register 1 must be V. */
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
#include "oracle/schedules.h"

/* ---- notation */

static const struct letter {
    char letter;
    uint16_t kind;
    uint32_t base; /* the objects of a class have numbers of their own */
} LETTERS[] = {
    {'L', FT_X_LOCK, 0},         {'U', FT_X_UNLOCK, 0},        {'T', FT_X_TRY_LOCK, 0},
    {'W', FT_X_WAIT, 10},        {'S', FT_X_SIGNAL, 10},       {'B', FT_X_BROADCAST, 10},
    {'P', FT_X_TAKE, 12},        {'V', FT_X_POST, 12},         {'l', FT_X_LOAD, 14},
    {'s', FT_X_STORE, 14},       {'a', FT_X_ADD, 14},          {'t', FT_X_STORE, 14},
    {'c', FT_X_SWAP, 14},        {'r', FT_X_READ_LOCK, 18},    {'q', FT_X_READ_UNLOCK, 18},
    {'w', FT_X_WRITE_LOCK, 18},  {'v', FT_X_WRITE_UNLOCK, 18}, {'A', FT_X_ARRIVE, 19},
    {'E', FT_X_LEAVE, 19},       {'J', FT_X_JOIN, 0},          {'X', FT_X_EXIT, 0},
    {'I', FT_X_CHOOSE, 0},       {'G', LOCAL_SET, 0},          {'<', LOCAL_GET, 0},
    {'>', LOCAL_PUT, 0},         {'=', LOCAL_COPY, 0},         {'n', LOCAL_NEED, 0},
    {'[', LOCAL_SKIP_UNLESS, 0}, {'{', LOCAL_SKIP_IF, 0},      {'^', LOCAL_SKIP_IF, 0}};

typedef struct writer {
    schedule_program *p;
    uint32_t thread, open[8], n_open, mark;
} writer;

static void emit(writer *w, ft_x_operation o)
{
    uint32_t *n = &w->p->length[w->thread];
    assert_true(*n < SCHEDULE_CODE);
    w->p->code[w->thread][(*n)++] = o;
}

static void operation(writer *w, const struct letter *l, uint32_t number, int64_t value)
{
    ft_x_operation o = {.kind = l->kind, .object = l->base + number, .value = value};
    switch (l->letter) {
    case 'W':
        emit(w, o);
        o.kind = FT_X_WAKE;
        break;
    case 'A':
    case 'E': /* the number is the barrier's size */
        o = (ft_x_operation){.kind = l->kind, .object = l->base, .value = number, .value2 = 1};
        break;
    case 'c':
        for (int i = 0; i < 2; i++)
            emit(w, (ft_x_operation){.kind = LOCAL_USE, .other = 1, .value = i});
        o.value2 = 1;
        break;
    case 'I':
        o = (ft_x_operation){.kind = l->kind, .value = 2};
        break;
    case '<':
    case '>':
    case '=':
        o.other = 1;
        break;
    case 'n':
        o = (ft_x_operation){.kind = l->kind, .other = 1, .value = number};
        break;
    case '[':
    case '{': /* register and value are two digits */
        o = (ft_x_operation){.kind = l->kind, .other = number / 10, .value = number % 10};
        w->open[w->n_open++] = w->p->length[w->thread];
        break;
    case '^': /* register 3 is always 0 */
        o = (ft_x_operation){
            .kind = l->kind, .other = 3, .value2 = (int64_t)w->mark - w->p->length[w->thread] - 1};
        break;
    default:
        break;
    }
    emit(w, o);
}

static void close_branch(writer *w)
{
    uint32_t at = w->open[--w->n_open];
    w->p->code[w->thread][at].value2 = w->p->length[w->thread] - at - 1;
}

static void add_thread(schedule_program *p, const char *text)
{
    writer w = {.p = p, .thread = p->n_threads++};
    while (*text) {
        char letter = *text++, *end = NULL;
        if (letter == ' ') continue;
        if (letter == '(') {
            w.mark = p->length[w.thread];
            continue;
        }
        if (letter == ']' || letter == '}') {
            close_branch(&w);
            continue;
        }
        size_t i = 0;
        while (i < sizeof LETTERS / sizeof *LETTERS && LETTERS[i].letter != letter) i++;
        assert_true(i < sizeof LETTERS / sizeof *LETTERS);
        uint32_t number = (uint32_t)strtoul(text, &end, 10);
        int64_t value = 0;
        if (*end == '=' && end != text) value = strtoll(end + 1, &end, 10);
        text = end;
        operation(&w, &LETTERS[i], number, value);
    }
}

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
    while (n--) add_thread(&p, text);
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
        add_thread(&p, text);
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
        add_thread(&p, "s0=1");
        snprintf(name, sizeof name, "%u readers, a writer", n);
        expect_count(name, &p, UINT64_C(1) << n, 0);
        for (uint32_t t = 0; t < n && n <= 8; t++) {
            uint32_t next = (t + 1) % n;
            snprintf(text, sizeof text, "L%u L%u U%u U%u", t, next, next, t);
            add_thread(&q, text);
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
        add_thread(&p, "X");
        repeat(text, sizeof text, "s0=1", k);
        add_thread(&p, text);
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

enum { MOST_THREADS = 5 };

/* Turns at a buffer of one place, which variable 0 counts: with `while` around the wait, and with
 * `if` and a look at the count. */
#define PUT(notify)  "L0 ( <0 [11 W0 ^ ] >0=1 " notify " U0 "
#define TAKE(notify) "L0 ( <0 [10 W0 ^ ] >0=-1 " notify " U0 "
#define PUT_ONCE     "L0 <0 [11 W0 ] <0 >0=1 <0 n1 S0 U0 "
#define TAKE_ONCE    "L0 <0 [10 W0 ] <0 >0=-1 <0 n0 S0 U0 "

/* The programs of the table's rows, in its order. In those where a thread fails while others can go
 * on, the end of the process is an action that depends on all others here, so that there are more
 * classes than in the table; whether there is a failure must be the same. */
static const struct row {
    const char *threads[MOST_THREADS];
    int semaphore; /* its initial value */
    bool fails_early;
} ROWS[] = {
    {{"L0 U0", "L0 U0", "L0 U0"}, 0, false},
    {{"L0 U0", "L0 U0", "L0 U0", "L0 U0"}, 0, false},
    {{"L0 U0 L0 U0 L0 U0", "L0 U0 L0 U0 L0 U0"}, 0, false},
    {{"L0 U0 L0 U0 L0 U0", "L0 U0 L0 U0 L0 U0", "L0 U0 L0 U0 L0 U0"}, 0, false},
    {{"L0 U0 L1 U1 L2 U2", "L0 U0 L1 U1 L2 U2", "L0 U0 L1 U1 L2 U2"}, 0, false},
    {{"L0 U0 L0 U0 L0 U0", "L1 U1 L1 U1 L1 U1", "L2 U2 L2 U2 L2 U2"}, 0, false},
    {{"L0 L1 U1 U0", "L1 L0 U0 U1"}, 0, false},
    {{"L2 L0 L1 U1 U0 U2", "L2 L1 L0 U0 U1 U2"}, 0, false},
    {{"L0 L1 U1 U0", "L1 L0 U0 U1"}, 0, false},
    {{"L0 L1 U1 U0", "L1 L2 U2 U1", "L2 L0 U0 U2"}, 0, false},
    {{"L0 L1 U1 U0", "L1 L2 U2 U1", "L2 L3 U3 U2", "L3 L0 U0 U3"}, 0, false},
    {{"L0 L1 U1 U0", "L1 L2 U2 U1", "L0 L2 U2 U0"}, 0, false},
    {{"L0 W0 U0", "S0"}, 0, false},
    {{"L0 W0 U0", "L0 S0 U0"}, 0, false},
    {{"L0 <0 [10 W0 ] U0", "L0 G0=1 U0 S0"}, 0, false},
    {{"L0 <0 [10 W0 ] U0", "L0 <0 [10 W0 ] U0", "L0 G0=1 U0 S0"}, 0, false},
    {{"L0 <0 [10 W0 ] U0", "L0 <0 [10 W0 ] U0", "L0 G0=1 B0 U0"}, 0, false},
    /* A buffer of one place: variable 0 counts; a turn goes on where the place is as it needs it.
     */
    {{PUT("S0") PUT("S0"), TAKE("S0") TAKE("S0")}, 0, false},
    {{PUT("S0") PUT("S0"), TAKE("S0"), TAKE("S0")}, 0, false},
    {{PUT_ONCE PUT_ONCE, TAKE_ONCE, TAKE_ONCE}, 0, true},
    {{PUT("S0"), PUT("S0"), TAKE("S0"), TAKE("S0")}, 0, false},
    {{PUT("B0"), PUT("B0"), TAKE("B0"), TAKE("B0")}, 0, false},
    {{"L0 <0 U0 L0 >0=1 U0", "L0 <0 U0 L0 >0=1 U0", "J0 J1 <0 n2"}, 0, false},
    {{"L0 <0 U0 L0 >0=1 U0", "L0 <0 U0 L0 >0=1 U0", "L0 <0 U0 L0 >0=1 U0", "J0 J1 J2 <0 n3"},
     0,
     false},
    {{"P0 V0", "P0 V0", "P0 V0"}, 1, false},
    {{"P0 V0", "P0 V0", "P0 V0"}, 2, false},
    {{"V0", "V0", "V0", "P0", "P0"}, 0, false},
    {{"V0", "P0", "P0"}, 0, false},
    {{"l0", "l0", "s0=1"}, 0, false},
    {{"l0", "l0", "l0", "s0=1"}, 0, false},
    {{"l0", "l0", "l0", "l0", "s0=1"}, 0, false},
    {{"s0=1", "s0=2", "s0=3"}, 0, false},
    {{"l0 = t0=1", "l0 = t0=1"}, 0, false},
    {{"l0 = t0=1", "l0 = t0=1", "l0 = t0=1"}, 0, false},
    {{"a0=1", "a0=1", "a0=1", "a0=1"}, 0, false},
    {{"l0 = c0 [00 ^ ]", "l0 = c0 [00 ^ ]"}, 0, false},
    {{"l0 = c0 [00 ^ ]", "l0 = c0 [00 ^ ]", "l0 = c0 [00 ^ ]"}, 0, false},
    {{"s0=1 l1", "s1=1 l0"}, 0, false},
    {{"r0 q0", "r0 q0", "w0 v0"}, 0, false},
    {{"r0 q0", "r0 q0", "r0 q0"}, 0, false},
    {{"w0 v0", "w0 v0", "r0 q0"}, 0, false},
    {{"T0 [01 U0 ]", "T0 [01 U0 ]"}, 0, false},
    {{"L0 U0", "T0 [01 U0 ]", "T0 [01 U0 ]"}, 0, false},
    {{"A3 E3", "A3 E3", "A3 E3"}, 0, false},
    {{"A3 E3", "A3 E3"}, 0, false},
    {{"X", "s0=0 s1=1 s2=2"}, 0, false},
    {{"X", "s0=1", "s1=1"}, 0, false},
    {{"L0 I [01 W0 ] U0", "L0 S0 U0"}, 0, false},
    {{"I [01 L0 U0 ]", "I [01 L0 U0 ]"}, 0, false},
    {{"I [01 L0 U0 ]", "I [01 L0 U0 ]", "I [01 L0 U0 ]"}, 0, false},
};

static schedule_program program_of(const struct row *row)
{
    schedule_program p = {0};
    for (int t = 0; t < MOST_THREADS && row->threads[t]; t++) add_thread(&p, row->threads[t]);
    p.initial[12] = row->semaphore;
    return p;
}

/* "| name | schedules | classes | stuck | failing | ends |": false: another line. */
static bool parse_row(char *line, counted *want)
{
    uint64_t numbers[5];
    char *bar = strrchr(line, '|');
    if (line[0] != '|' || !bar) return false;
    for (int i = 4; i >= 0; i--) {
        char *end;
        *bar = 0;
        bar = strrchr(line, '|');
        if (!bar) return false;
        numbers[i] = strtoull(bar + 1 + strspn(bar + 1, " >"), &end, 10);
        if (i > 0 && end == bar + 2) return false;
    }
    *want = (counted){numbers[1], numbers[2], numbers[3]};
    return numbers[1] > 0;
}

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
    char line[1000], name[60];
    size_t row = 0;
    while (fgets(line, sizeof line, file)) {
        counted want;
        if (!parse_row(line, &want)) continue;
        assert_true(row < sizeof ROWS / sizeof *ROWS);
        const struct row *r = &ROWS[row++];
        snprintf(name, sizeof name, "row %u of the table", (unsigned)row);
        schedule_program p = program_of(r);
        if (r->fails_early) want = by_brute_force(&p, &want);
        expect(name, &p, &want);
    }
    fclose(file);
    assert_int_equal(row, sizeof ROWS / sizeof *ROWS);
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
