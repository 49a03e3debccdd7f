/* The golden programs of covering schedules: |Σ| with and without prefix schedules. The numbers
 * were counted by hand from the notes' rules (one entry for each class of inputs that synchronise
 * alike, or whose decisions differ), not taken from what is tested here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cover/search.h"
#include "oracle/mini.h"

#define L(k)     " lock " k "; unlock " k "; "
#define FOO      "T { if x == 0 {" L("0") "} else {" L("1") "} } "
#define OWN(x)   "T { if " x " == 0 {" L("0") "} else {" L("1") "} } "
#define IF(x, k) "if " x " {" L(k) "} "

typedef struct row {
    const char *name, *program;
    unsigned entries, schedules;             /* with prefix schedules */
    unsigned whole_entries, whole_schedules; /* without; 0: as with them */
} row;

static const row ROWS[] = {
    {"five threads, one x", "in x:1;" FOO FOO FOO FOO FOO, 2, 2, 0, 0},
    {"two threads, one x", "in x:1;" FOO FOO, 2, 2, 0, 0},
    {"three threads, one x", "in x:1;" FOO FOO FOO, 2, 2, 0, 0},
    {"four threads, one x", "in x:1;" FOO FOO FOO FOO, 2, 2, 0, 0},
    {"two threads, own inputs", "in x:1 y:1;" OWN("x") OWN("y"), 4, 4, 0, 0},
    {"three threads, own inputs", "in x:1 y:1 z:1;" OWN("x") OWN("y") OWN("z"), 8, 8, 0, 0},
    {"four threads, own inputs", "in w:1 x:1 y:1 z:1;" OWN("w") OWN("x") OWN("y") OWN("z"), 16, 16,
     0, 0},
    {"1 lock if", "in a:1; T {" IF("a", "0") "}", 2, 2, 0, 0},
    {"2 locks if", "in a:1 b:1; T {" IF("a", "0") IF("b", "1") "}", 4, 4, 0, 0},
    {"3 locks if", "in a:1 b:1 c:1; T {" IF("a", "0") IF("b", "1") IF("c", "2") "}", 8, 8, 0, 0},
    {"4 locks if",
     "in a:1 b:1 c:1 d:1; T {" IF("a", "0") IF("b", "1") IF("c", "2") IF("d", "3") "}", 16, 16, 0,
     0},
    {"6 locks if",
     "in a:1 b:1 c:1 d:1 e:1 f:1; T {" IF("a", "0") IF("b", "1") IF("c", "2") IF("d", "3")
         IF("e", "0") IF("f", "1") "}",
     64, 64, 0, 0},
    {"3 locks if, three threads",
     "in a:1 b:1 c:1; T {" IF("a", "0") "} T {" IF("b", "1") "} T {" IF("c", "2") "}", 8, 8, 0, 0},
    {"abort between", "in x:1; T { lock 0; if !x { abort; } lock 1; }", 1, 1, 2, 2},
    {"abort behind a lock", "in x:1; T { lock 0; if !x { lock 2; abort; } lock 1; }", 2, 2, 2, 2},
    {"abort last", "in x:1; T {" L("0") "if !x { abort; } }", 1, 1, 2, 2},
    {"x++ and fail, first",
     "in x:2; T { lock 0; if x % 2 != 0 { x = x + 1; } unlock 0; }"
     " T { lock 0; if x % 2 != 0 { abort; } unlock 0; }",
     1, 1, 2, 1},
    {"x++ and fail, second",
     "in x:2; T { lock 0; if x % 2 != 0 { abort; } unlock 0; }"
     " T { lock 0; if x % 2 != 0 { x = x + 1; } unlock 0; }",
     1, 1, 2, 2},
    {"the same sides", "in x:1; T { if x {" L("0") "} else {" L("0") "} }", 2, 2, 0, 0},
    {"computed locks", "in x:1 y:1; T { lock x; unlock x; } T { lock y; unlock y; }", 4, 4, 0, 0},
    {"counting loop", "in n:2; T { _i = 0; while _i < n { _i = _i + 1; } if _i == 2 { lock 0; } }",
     4, 2, 0, 0},
    {"counting loop, then a lock", "in n:2; T { _i = 0; while _i < n { _i = _i + 1; } lock 0; }", 1,
     1, 0, 0},
    {"a loop that does not end", "in x:1; T { if x { while 1 { _a = 1; } } lock 0; }", 1, 1, 0, 0},
    {"locking loop", "in n:2; T { _i = 0; while _i < n {" L("0") "_i = _i + 1; } }", 4, 4, 0, 0},
    {"two locking loops",
     "in n:2 m:2; M { assume n < 3; assume m < 3; create 1; create 2; join 1; join 2; }"
     "T { _i = 0; while _i < n {" L("0") "_i = _i + 1; } }"
                                         "T { _i = 0; while _i < m {" L("0") "_i = _i + 1; } }",
     9, 9, 0, 0},
    {"a b, b a",
     "T { lock 0; lock 1; unlock 1; unlock 0; } T { lock 1; lock 0; unlock 0; unlock 1; }", 1, 1, 0,
     0},
    {"create and join", "in x:2; T { _a = x; } T { _a = x; } T { _a = x; }", 1, 1, 0, 0},
    {"queue of one",
     "in q:1; T { lock 0; while q == 1 { wait 0 0; } q = 1; signal 1; unlock 0; }"
     "T { lock 0; while q == 0 { wait 1 0; } q = 0; signal 0; unlock 0; }",
     2, 2, 0, 0},
};

static void show(const ft_schedule_set *set)
{
    ft_strbuf out = {0};
    ft_schedule_set_print(set, &out);
    print_message("%s", out.text);
    ft_strbuf_release(&out);
}

static void check(const row *r, const ft_program *p, bool prefix, unsigned entries,
                  unsigned schedules)
{
    cover_search_options options = {.world.prefix = prefix};
    cover_search_counts counts;
    ft_schedule_set *set = NULL;
    ft_error err = FT_ERROR_INIT;
    if (cover_search(p, &options, &set, &counts, &err) != FT_OK)
        fail_msg("%s: %s", r->name, err.message);
    if (counts.entries != entries || counts.schedules != schedules || counts.open) {
        show(set);
        fail_msg("%s%s: %u entries, %u schedules, %u open (%s); expected %u, %u", r->name,
                 prefix ? "" : " without prefixes", (unsigned)counts.entries,
                 (unsigned)counts.schedules, (unsigned)counts.open, counts.reason, entries,
                 schedules);
    }
    ft_schedule_set_free(set);
}

/* A loop that does not synchronise as a function: its value is any (golden: the loop as F). */
static void test_cover_loops(void **state)
{
    static const struct {
        const char *program;
        unsigned entries, schedules;
    } LOOPS[] = {
        {"in n:2; T { _i = 0; while _i < n { _i = _i + 1; } if _i == 2 { lock 0; } }", 2, 2},
        {"in n:2; T { _i = 0; while _i < n { _i = _i + 1; } lock 0; }", 1, 1},
        {"in n:2; T { _i = 0; while _i < n {" L("0") "_i = _i + 1; } }", 4, 4},
        {"in n:2; T { while _i < n { _i = _i + 1; } if _i == 2 { lock 0; } while _j < n { _j = _j "
         "+ 1; } if _j { lock 1; } }",
         4, 4},
    };
    (void)state;
    for (size_t i = 0; i < sizeof LOOPS / sizeof LOOPS[0]; i++) {
        cover_search_options options = {.world = {.prefix = true, .loops = true}};
        cover_search_counts counts;
        ft_schedule_set *set = NULL;
        ft_error err = FT_ERROR_INIT;
        ft_program *p = mini_program(LOOPS[i].program);
        if (cover_search(p, &options, &set, &counts, &err) != FT_OK) fail_msg("%s", err.message);
        if (counts.entries != LOOPS[i].entries || counts.schedules != LOOPS[i].schedules) {
            show(set);
            fail_msg("%s: %u entries, %u schedules", LOOPS[i].program, (unsigned)counts.entries,
                     (unsigned)counts.schedules);
        }
        ft_schedule_set_free(set);
        ft_program_free(p);
    }
}

static void test_cover_golden(void **state)
{
    (void)state;
    const char *only = getenv("FT_CASE");
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        const row *r = &ROWS[i];
        if (only && strcmp(only, r->name) != 0) continue;
        ft_program *p = mini_program(r->program);
        check(r, p, true, r->entries, r->schedules);
        if (r->whole_entries) check(r, p, false, r->whole_entries, r->whole_schedules);
        ft_program_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cover_golden),
                                       cmocka_unit_test(test_cover_loops)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
