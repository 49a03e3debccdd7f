/* A worker at the server's service: it answers the requests of wire/wire.h, one after the other.
 *
 * It keeps the last trace it was sent and the last engine it made, so that batches of one
 * job share an incremental solver.
 *
 * Imports: engine, solve, common/base, common/trace, common/verdict, common/wire. */
#ifndef FT_SERVE_H
#define FT_SERVE_H

#include "base/status.h"

/* Says HELLO on `out`, then serves requests from `in` until it ends between two frames. Blocks.
 * FT_INPUT: the peer does not keep to the protocol. FT_IO: reading or writing failed. What goes
 * wrong with a request (a malformed trace, a job that the trace does not support) is answered with
 * FAILED and is no failure of this call. */
ft_status ft_worker_serve(int in, int out, ft_error *err) FT_MUST_CHECK;

#endif
