/* The candidates of each check. Private to the oracle. */
#ifndef FT_TEST_CANDIDATES_H
#define FT_TEST_CANDIDATES_H

#include "oracle/oracle.h"

/* Adds a candidate, not yet answered. */
void ft_oracle_push(ft_oracle_result *result, ft_check check, uint32_t property, ft_claim claim);
/* An access that is no candidate (FT_FLAG_SYNTHETIC). */
bool ft_oracle_ignored(const ft_trace *trace, uint32_t event);
/* Does the event have such an access to the variable? */
bool ft_oracle_accesses(const ft_trace *trace, uint32_t event, uint32_t variable, bool write);

void ft_oracle_add_lock_errors(const ft_trace *trace, ft_oracle_result *result);
void ft_oracle_add_deadlocks(const ft_trace *trace, ft_oracle_result *result);
void ft_oracle_add_order_errors(const ft_trace *trace, ft_oracle_result *result);

#endif
