/* Orders between threads that the log implies without a synchronisation object of the program:
 * through pipes and sockets (channels.h), locks inside uninstrumented libraries (library_locks.h)
 * and blocks whose address a thread cannot have read (addresses_read.h).
 *
 * The first pass learns which of them matter, the second adds hard edges to the trace. An edge only
 * takes schedules away, so where the order is not known exactly the stricter one is taken.
 *
 * Imports: raw, common/base, common/trace. */
#ifndef FT_RECORD_MAKER_ORDER_H
#define FT_RECORD_MAKER_ORDER_H

#include "maker/order/addresses_read.h"
#include "maker/order/channels.h"
#include "maker/order/library_locks.h"

#endif
