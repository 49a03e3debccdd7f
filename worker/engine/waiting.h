/* Threads that wait forever at the end of a schedule (claims of kind STUCK): what happened to the
 * signals that could have woken one, which lock it gave up, and who waits with it. All from the
 * trace and the steps of the witness. */
#ifndef FT_ENGINE_WAITING_H
#define FT_ENGINE_WAITING_H

#include <jansson.h>

#include "order/order.h"
#include "trace/show.h"
#include "verdict/claim.h"

/* "the signal of T1 at a.c:7 woke T2, which waited at a.c:9, and no other will come": of a waiter
 * of a condition variable. */
void ft_waiting_explain(const ft_trace *trace, const ft_witness *witness, ft_strbuf *out);
/* The lock that this waiter gave back when it began to wait, NULL: not known. */
const char *ft_waiting_gave_up(const ft_trace *trace, const ft_witness *witness);

/* The other threads that wait at the end, [WAITER...] of docs/records.md; NULL: none. New
 * reference. */
json_t *ft_waiting_others(const ft_order *order, ft_show *show, const ft_witness *witness);
/* Is the claim's thread one that only waits for work: nobody joins it, while somebody joins another
 * thread that waits as well? That one is the finding. */
bool ft_waiting_is_idle(const ft_order *order, const ft_witness *witness);

#endif
