/* Witnesses made readable: members dropped while the violation stays (1-minimal: no single last
 * event of a thread can be dropped), and the rest re-linearised for few context switches. Every
 * change is confirmed by the independent checker. */
#ifndef FT_WITNESS_MINIMISE_H
#define FT_WITNESS_MINIMISE_H

#include "base/contract.h"
#include "order/order.h"
#include "verdict/checker.h"

typedef struct ft_minimised {
    uint32_t members_before, switches_before, members, switches;
    bool complete; /* false: the time ran out before the witness was 1-minimal */
} ft_minimised;

/* witness must have passed the checker; it is replaced in place. budget in milliseconds. */
void ft_minimise(const ft_order *order, ft_checker *checker, ft_witness *witness, double budget_ms,
                 ft_minimised *result);

#endif
