/* Declarations that the files of `foretell test` share. */
#ifndef FT_CLI_RUN_TEST_H
#define FT_CLI_RUN_TEST_H

#include <stdio.h>

#include "base/strbuf.h"
#include "options/options.h"

/* Seconds: for a run, by default; without progress, for a schedule that is tried, by default; for
 * all that are tried of what was found, and for all of what is only possible. */
enum { FT_TEST_TIMEOUT = 60, FT_TEST_PATIENCE = 2, FT_TEST_BUDGET = 60 };
enum { FT_TEST_RUNS = 5 };     /* recorded by default, where the first is short */
enum { FT_TEST_REPLAYS = 10 }; /* of what was found; of what is only possible as many */

typedef struct ft_test {
    const ft_options *options;
    char *folder;            /* of the traces and witnesses */
    bool varied;             /* the runs differ by the test's own choice */
    bool temporary;          /* ours: it stays where there is a finding */
    FT_VEC(char *) traces;   /* their paths */
    FT_VEC(char *) places;   /* of what was looked at (ft_test_is_new) */
    double end;              /* of the time for replays, as of ft_test_now */
    uint32_t reached, tried; /* replays */
    double ran;              /* seconds, of one recorded run */
    char *explored;          /* what the exploration came to, one line; NULL: there was none */
    bool skipped;            /* a finding was not replayed: another has its kind and locations */
} ft_test;

/* Heap: a file of the test's folder. */
char *ft_test_path(const ft_test *test, const char *name);
/* Is that the first witness of its kind for its places? */
bool ft_test_is_new(ft_test *test, const char *witness);
/* Drives the program through the witness; what came of it, for people, goes to `said`. outside: as
 * of ft_replay. */
bool ft_test_replay(const ft_test *test, const char *witness, const char *trace, ft_strbuf *said,
                    bool *outside);
/* Removes an earlier test's witnesses: they are not this one's. */
void ft_test_clear(const char *folder);
/* Seconds of a clock that is never set back. */
double ft_test_now(void);
/* Where the test's lines for people go. */
FILE *ft_test_out(const ft_test *test);

/* ---- test_explore.c */

/* Explores further schedules of the program, one run of which took `ran` seconds; traces of those
 * that fail become traces of the test. */
void ft_test_explore(ft_test *test, double ran);
void ft_test_print_explored(const ft_test *test); /* one line, where it explored */

/* ---- test_possible.c */

/* Races, deadlocks and uses after free that only values or waits of the recording rule out are
 * findings where the program comes to them: looks for them, replays them, and prints those. Returns
 * how many. */
uint32_t ft_test_possible(ft_test *test);

#endif
