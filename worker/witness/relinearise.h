/* The same steps with fewer context switches, in an order that keeps all dependences. Greedy: a
 * thread runs for as long as it can, then the thread whose next step came first. */
#ifndef FT_WITNESS_RELINEARISE_H
#define FT_WITNESS_RELINEARISE_H

#include "base/contract.h"
#include "order/order.h"

/* steps: a schedule, each thread's steps its first ones in program order. Kept: program order, hard
 * order, the order of conflicting accesses and of the operations on one lock, semaphore, condition,
 * barrier or once object, and of an alloc or free with its block's accesses: out, with room for
 * count, executes to the same state as steps. Linear in the steps, the objects and the switches
 * times the threads. */
void ft_relinearise(const ft_order *order, const uint32_t *steps, uint32_t count, uint32_t *out);

#endif
