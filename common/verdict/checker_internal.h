/* One execution of one witness, shared by the checker's files: checker.c executes the steps and
 * holds the claims about data, checker_sync.c those about synchronisation and memory. */
#ifndef FT_VERDICT_CHECKER_INTERNAL_H
#define FT_VERDICT_CHECKER_INTERNAL_H

#include "verdict/checker.h"
#include "verdict/machine.h"

typedef FT_VEC(ft_reading_row) reading_rows;
typedef FT_VEC(ft_symbol_value) reading_symbols;

/* One execution of one witness. */
typedef struct ft_checker_run {
    const ft_trace *trace;
    ft_machine *machine;
    const ft_observed *observed;
    const ft_witness *witness;
    const ft_claim *claim;
    uint32_t n_claimed;    /* events of the claim */
    uint32_t full_from;    /* first step from which on the witness file describes all */
    uint32_t step;         /* 0-based; n_steps once all were executed */
    uint32_t stopped;      /* thread with no further step (t_r's), FT_NO_ID: none */
    bool stop_undecided;   /* whether it stops depends on an unknown value */
    uint32_t departed;     /* event whose writes no member may read, FT_NO_EVENT: none; with
                              stop_undecided: if it departs */
    reading_rows *reading; /* or NULL */
    reading_symbols symbols;
    ft_error *err;
} ft_checker_run;

typedef enum ft_decided { NO, YES, UNDECIDED } ft_decided;

/* Refusals: return the status, filled in. */
ft_status ft_checker_refuse(ft_checker_run *run, ft_status code, uint32_t e, const char *why);
ft_status ft_checker_refuse_claim(ft_checker_run *run, const char *why);

/* FT_OK: e is next in its thread; synchronisation lets it go on. */
ft_status ft_checker_next(ft_checker_run *run, uint32_t e);
ft_status ft_checker_ready(ft_checker_run *run, uint32_t e, ft_error *why);
/* Evaluates e in the final state and notes its row; FT_OK if its access of the variable (read or
 * write) takes place, its own reads exempt. */
ft_status ft_checker_final_access(ft_checker_run *run, uint32_t e, uint32_t variable, bool write);
/* Notes the row of an event that accesses nothing. */
void ft_checker_note(ft_checker_run *run, uint32_t e);

/* Can the signals of the schedule have left asleep whoever sleeps at its end? (checker_asleep.c) */
bool ft_checker_signals_explained(ft_checker_run *run);

/* A claim's shape, before the first step, and its final state. */
typedef struct ft_claim_rules {
    ft_status (*shape)(ft_checker_run *run);
    ft_status (*final)(ft_checker_run *run);
} ft_claim_rules;
extern const ft_claim_rules FT_LOCK_ERROR_RULES, FT_DEADLOCK_RULES, FT_STUCK_RULES,
    FT_AFTER_FREE_RULES, FT_UNINITIALISED_RULES;

#endif
