/* Private to the checker's files: the execution of one witness. checker.c executes the steps and
 * decides claims about data, checker_sync.c claims about synchronisation and memory,
 * checker_asleep.c whether signals leave the waiters of a claim asleep. */
#ifndef FT_VERDICT_CHECKER_INTERNAL_H
#define FT_VERDICT_CHECKER_INTERNAL_H

#include "verdict/checker.h"
#include "verdict/machine_internal.h"

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
    uint32_t full_from;    /* ft_witness_full_from */
    uint32_t step;         /* 0-based; n_steps once all were executed */
    uint32_t stopped;      /* thread that may have no further step (t_r's), FT_NO_ID: none */
    bool stop_undecided;   /* an unknown value decides whether it stops */
    uint32_t departed;     /* event whose writes no member may read, FT_NO_EVENT: none; with
                              stop_undecided: it may depart from the model */
    reading_rows *reading; /* or NULL */
    reading_symbols symbols;
    ft_error *err;
} ft_checker_run;

typedef enum ft_decided { NO, YES, UNDECIDED } ft_decided;

/* Refuse the witness: fill the error and return its status. */
ft_status ft_checker_refuse(ft_checker_run *run, ft_status code, uint32_t e, const char *why);
ft_status ft_checker_refuse_claim(ft_checker_run *run, const char *why);

/* FT_OK: e is next in its thread; synchronisation does not block e. */
ft_status ft_checker_next(ft_checker_run *run, uint32_t e);
ft_status ft_checker_ready(ft_checker_run *run, uint32_t e, ft_error *why);
/* Evaluates e in the final state and notes its row; FT_OK if its access of the variable (read or
 * write) takes place, its own reads exempt. */
ft_status ft_checker_final_access(ft_checker_run *run, uint32_t e, uint32_t variable, bool write);
/* Notes the row of an event that accesses nothing. */
void ft_checker_note(ft_checker_run *run, uint32_t e);

/* Can the signals of the schedule have left its last waiters asleep? (checker_asleep.c) */
bool ft_checker_signals_explained(ft_checker_run *run);

/* A claim's shape, before the first step, and its final state. */
typedef struct ft_claim_rules {
    ft_status (*shape)(ft_checker_run *run);
    ft_status (*final)(ft_checker_run *run);
} ft_claim_rules;
extern const ft_claim_rules FT_LOCK_ERROR_RULES, FT_DEADLOCK_RULES, FT_STUCK_RULES,
    FT_AFTER_FREE_RULES, FT_UNINITIALISED_RULES;

#endif
