/* usage: native_golden INTERPRETER MOST [SHARE]: the golden programs (oracle/notation.h) and the
 * closed forms with up to MOST classes, natively: each run by the interpreter under the native
 * executor has as many classes, as many of them stuck and failing, as brute force or the formula
 * says. SHARE: only every SHARE-th program, from a first one that is drawn (FT_SEED: by that).
 * Without the table (FT_GOLDEN_EXPLORING) the closed forms alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/contract.h"
#include "explore/search.h"
#include "native/native.h"
#include "native/program_text.h"
#include "oracle/notation.h"

typedef struct golden {
    char *interpreter;
    uint64_t most, share, at;
    uint64_t programs, classes, wrong, left_out;
} golden;

/* An open input is the core's alone; a thread that ends the process does so in an interpreter whose
 * main thread has actions of its own. */
static bool is_fit(const golden_row *r)
{
    const schedule_program *p = &r->program;
    for (uint32_t t = 0; t < p->n_threads; t++)
        for (uint32_t i = 0; i < p->length[t]; i++)
            if (p->code[t][i].kind == FT_X_CHOOSE || p->code[t][i].kind == FT_X_EXIT) return false;
    return !r->fails_early;
}

static bool count_failure(void *context, const ft_x_run *run, const ft_unfolding *u,
                          const ft_configuration *c)
{
    (void)u, (void)c;
    *(uint64_t *)context += run->result != 0 && run->end == FT_X_DONE;
    return true;
}

static bool explore(golden *g, const schedule_program *p, ft_x_counts *counts, uint64_t *failing,
                    ft_error *err)
{
    bool finished = false;
    ft_native *native = NULL;
    ft_native_options options = ft_native_defaults();
    char *text = program_text(p), *argv[] = {g->interpreter, text, NULL};
    options.argv = argv;
    options.workers = 2;
    options.run.polls = 1000; /* the interpreter's calls are all at one place */
    ft_x_options search = {.on_class = count_failure, .context = failing};
    ft_status status = ft_native_open(&options, &native, err);
    if (status == FT_OK) {
        ft_x_executor executor = ft_native_executor(native);
        status = ft_x_search(&executor, &search, counts, &finished, err);
    }
    ft_native_close(native);
    free(text);
    return status == FT_OK && finished;
}

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static void check(golden *g, const golden_row *r)
{
    ft_x_counts counts = {0};
    ft_error err = FT_ERROR_INIT;
    uint64_t failing = 0;
    if (g->at++ % g->share || r->classes > g->most) return;
    if (!is_fit(r)) {
        g->left_out++;
        return;
    }
    double start = now();
    bool done = explore(g, &r->program, &counts, &failing, &err);
    bool right =
        done && counts.classes == r->classes && counts.stuck == r->stuck && failing == r->failing;
    g->programs++;
    g->classes += counts.classes;
    g->wrong += !right;
    if (!right || r->classes >= 1000)
        printf(
            "%s%s: %llu classes, %llu stuck, %llu failing; expected %llu, %llu, %llu; %.1f s%s%s\n",
            right ? "" : "FAILED  ", r->name, (unsigned long long)counts.classes,
            (unsigned long long)counts.stuck, (unsigned long long)failing,
            (unsigned long long)r->classes, (unsigned long long)r->stuck,
            (unsigned long long)r->failing, now() - start,
            done ? "" : "; not finished: ", err.message);
}

/* ---- closed forms */

static uint64_t factorial(uint32_t n)
{
    return n < 2 ? 1 : n * factorial(n - 1);
}

static void add_copies(schedule_program *p, uint32_t n, const char *part, uint32_t times)
{
    ft_strbuf text = {0};
    while (times--) ft_strbuf_printf(&text, "%s ", part);
    while (n--) ft_schedules_add_thread(p, ft_strbuf_text(&text));
    ft_strbuf_release(&text);
}

/* n threads with k sections of one lock: (nk)! / (k!)^n. */
static void check_sections(golden *g)
{
    static const uint32_t SIZES[][2] = {{5, 1}, {6, 1}, {7, 1}, {2, 5}, {2, 6},
                                        {2, 7}, {2, 8}, {3, 2}, {4, 2}};
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
        golden_row r = {.classes = factorial(SIZES[i][0] * SIZES[i][1])};
        for (uint32_t t = 0; t < SIZES[i][0]; t++) r.classes /= factorial(SIZES[i][1]);
        snprintf(r.name, sizeof r.name, "%u threads with %u sections", SIZES[i][0], SIZES[i][1]);
        add_copies(&r.program, SIZES[i][0], "L0 U0", SIZES[i][1]);
        check(g, &r);
    }
}

/* n readers and a writer of one atomic: 2^n; n philosophers: 2^n - 1, one of them stuck. */
static void check_powers(golden *g)
{
    for (uint32_t n = 5; n <= 14; n++) {
        golden_row r = {.classes = UINT64_C(1) << n},
                   q = {.classes = (UINT64_C(1) << n) - 1, .stuck = 1};
        snprintf(r.name, sizeof r.name, "%u readers, a writer", n);
        add_copies(&r.program, n, "l0", 1);
        ft_schedules_add_thread(&r.program, "s0=1");
        check(g, &r);
        for (uint32_t t = 0; t < n && n < 9; t++) {
            char text[60];
            uint32_t next = (t + 1) % n;
            snprintf(text, sizeof text, "L%u L%u U%u U%u", t, next, next, t);
            ft_schedules_add_thread(&q.program, text);
        }
        snprintf(q.name, sizeof q.name, "%u philosophers", n);
        if (n < 9) check(g, &q);
    }
}

static void check_table(golden *g)
{
    golden_row r;
    size_t row = 0;
    const char *path = getenv("FT_GOLDEN_EXPLORING");
    FILE *table = fopen(path ? path : FT_SOURCE_DIR "/../shared/golden/exploring.md", "r");
    if (!table) return;
    while (ft_golden_next(table, &row, &r)) check(g, &r);
    fclose(table);
    FT_REQUIRE(row == ft_golden_rows());
}

int main(int argc, char **argv)
{
    if (argc < 3) return 2;
    const char *seed = getenv("FT_SEED");
    golden g = {.interpreter = argv[1], .most = strtoull(argv[2], NULL, 10)};
    g.share = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    if (!g.share) return 2;
    g.at = (seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL)) % g.share;
    check_table(&g);
    check_sections(&g);
    check_powers(&g);
    printf("golden: %llu programs, %llu classes natively, %llu wrong, %llu for the core alone\n",
           (unsigned long long)g.programs, (unsigned long long)g.classes,
           (unsigned long long)g.wrong, (unsigned long long)g.left_out);
    return g.wrong != 0;
}
