/* check-order's question: which pairs of a schedule's nodes have to be ordered so that all
 * operations on one object are (notes on Bergan, §2). Not every pair is listed: one that follows
 * from listed ones and from the order of threads is left out, so that a schedule of n nodes has
 * about n pairs. */
#ifndef FT_COVER_ORDERED_H
#define FT_COVER_ORDERED_H

#include "cover/question.h"

/* Adds the pairs. Arrivals of one round of a barrier are free among each other. Without `prefix`
 * the end of the process has to come behind all nodes. */
void cover_ordered_pairs(const ft_schedule *schedule, const ft_schedule_order *order, bool prefix,
                         cover_order_question *question);

#endif
