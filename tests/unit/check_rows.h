/* For the checker's tests: a table of witnesses, each with what the checker has to say of it. */
#ifndef FT_TESTS_CHECK_ROWS_H
#define FT_TESTS_CHECK_ROWS_H

#include "tiny_trace.h"

#include "verdict/checker.h"

enum { MOST = 32 };

typedef struct check_row {
    const char *name, *trace;
    ft_model model;
    const char *claim; /* ["spurious" | "pairs" | "bound=N"] "race 1 2" | "assert 1" |
                          "cond 1 (term)" | "atom x RWR 1 2 3" | "co 1 2" | "before 1 location" |
                          "lock 1" | "dead 1 2 ..." | "stuck 1" | "free 1 2" | "uninit x 1";
                          pairs: the wake-ups of the run (FT_WAKEUPS_OBSERVED) */
    const char *steps;
    ft_status status;
    const char *message; /* part of the refusal */
} check_row;

#define OBSERVED FT_MODEL_OBSERVED
#define MAXIMAL  FT_MODEL_MAXIMAL
#define CTP      FT_MODEL_CTP
#define CONTROL  FT_MODEL_CONTROL
#define BAD(m)   FT_INPUT, m
#define OPEN     FT_UNSUPPORTED, "unknown or exceeds 64 bits"

static inline uint32_t find_location(const ft_trace *trace, const char *text)
{
    for (uint32_t i = 1; i < trace->n_locations; i++)
        if (strcmp(trace->locations[i].text, text) == 0) return i;
    return FT_NO_LOC;
}

static inline void parse_atomicity(const ft_trace *trace, char *text, ft_claim *claim)
{
    char *name = strsep(&text, " "), *pattern = strsep(&text, " ");
    claim->variable = ft_intern_find(&trace->shared, name, strlen(name));
    for (int i = 0; i < 3; i++) claim->writes[i] = pattern[i] == 'W';
    assert_int_equal(tiny_numbers(text, claim->events, 3), 3);
}

static inline void parse_claim(ft_trace *trace, const char *text, ft_claim *claim)
{
    static const char *const WORDS[FT_CLAIM_KINDS] = {"race",  "assert", "cond",  "atom",
                                                      "co",    "before", "lock",  "dead",
                                                      "stuck", "free",   "uninit"};
    char *copy = ft_strdup(text), *rest = copy;
    const char *word = strsep(&rest, " ");
    int kind = 0;
    while (strcmp(WORDS[kind], word) != 0) assert_true(++kind < FT_CLAIM_KINDS);
    *claim = (ft_claim){.kind = (ft_claim_kind)kind};
    if (kind == FT_CLAIM_ATOMICITY) {
        parse_atomicity(trace, rest, claim);
    } else if (kind == FT_CLAIM_CONDITION || kind == FT_CLAIM_BEFORE) {
        tiny_numbers(strsep(&rest, " "), claim->events, 1);
        claim->avoid = find_location(trace, rest);
        ft_scope scope = ft_trace_scope(trace);
        if (kind == FT_CLAIM_CONDITION)
            assert_int_equal(
                ft_term_parse(trace->terms, rest, strlen(rest), &scope, &claim->condition, NULL),
                FT_OK);
    } else if (kind == FT_CLAIM_DEADLOCK) {
        claim->n_events = tiny_numbers(rest, claim->events, FT_CLAIM_MAX_EVENTS);
    } else {
        const char *name = kind == FT_CLAIM_UNINITIALISED ? strsep(&rest, " ") : "";
        claim->variable = ft_intern_find(&trace->shared, name, strlen(name));
        assert_int_equal(tiny_numbers(rest, claim->events, 3), ft_claim_events(claim));
    }
    free(copy);
}

static inline const char *parse_options(const char *text, ft_witness *witness)
{
    witness->bound = FT_NO_BOUND;
    witness->wakeups = FT_WAKEUPS_ANY;
    if (strncmp(text, "spurious ", 9) == 0) witness->wakeups = FT_WAKEUPS_SPURIOUS;
    if (strncmp(text, "pairs ", 6) == 0) witness->wakeups = FT_WAKEUPS_OBSERVED;
    if (strncmp(text, "bound=", 6) == 0) witness->bound = (uint32_t)strtoul(text + 6, NULL, 10);
    bool option = witness->wakeups != FT_WAKEUPS_ANY || witness->bound != FT_NO_BOUND;
    return option ? strchr(text, ' ') + 1 : text;
}

static inline bool run_row(const check_row *row)
{
    ft_trace *trace = tiny_trace(row->trace);
    ft_observe_run(trace);
    ft_checker *checker = ft_checker_new(trace);
    uint32_t steps[MOST];
    ft_witness witness = {.bound = FT_NO_BOUND, .model = row->model, .steps = steps};
    witness.n_steps = tiny_numbers(row->steps, steps, MOST);
    parse_claim(trace, parse_options(row->claim, &witness), &witness.claim);
    bool good = true;
    for (int again = 0; again < 2; again++) { /* a checker may be used again */
        ft_error err = FT_ERROR_INIT;
        ft_status status = ft_checker_check(checker, &witness, NULL, &err);
        if (status == row->status && (!row->message || strstr(err.message, row->message))) continue;
        print_error("%s: %s, \"%s\"; expected %s, \"%s\"\n", row->name, ft_status_name(status),
                    err.message, ft_status_name(row->status), row->message ? row->message : "");
        good = false;
    }
    ft_checker_free(checker);
    ft_trace_free(trace);
    return good;
}

#endif
