/* The golden files: tests/golden/NAME.ndjson (or .std, .log, .rapidbin, .std.xz) and
 * NAME.expected.json:
 *
 *   {"why": "one sentence",
 *    "properties": [PROPERTY of docs/records.md],                              optional
 *    "wakeups": "any" | "observed" | "spurious",                               default any
 *    "verdicts": {MODEL: {CHECK: {"candidates": n, "violation": [[event, ...], ...],
 *                                  "unknown": n},                             default 0
 *                         "property": ["violation" | "safe", ...]}}}
 *
 * Events are 1-based; a triplet is listed once for each pattern. Checks and models that are not
 * named are not asked. */
#ifndef FT_TEST_GOLDEN_H
#define FT_TEST_GOLDEN_H

#include <jansson.h>

#include "trace/trace.h"
#include "verdict/claim.h"

typedef struct ft_golden {
    char *name;
    ft_trace *trace; /* after ft_observe_run */
    json_t *expected;
} ft_golden;

/* Loads every golden file of `folder` and hands it to `each`; returns how many there are. Fails the
 * process with a message on a file that cannot be read. FT_CASE=NAME in the environment: that file
 * alone. */
unsigned ft_golden_each(const char *folder, void (*each)(void *context, const ft_golden *golden),
                        void *context);

/* Its wake-ups. */
ft_wakeups ft_golden_wakeups(const ft_golden *golden);

/* The text of the violations that a check expects, sorted: "2,5,3 3,5,4"; and of a list of claims.
 * Heap text, caller frees. */
char *ft_golden_expected_text(const json_t *check);
char *ft_golden_claims_text(const ft_claim *claims, size_t count);

#endif
