/* The worker's loop: it answers the server's requests (wire/wire.h), one after the other.
 *
 * It keeps the last trace or program that it received and the last engine that it made, so that the
 * batches of one job share an incremental solver.
 *
 * Imports: context, cover, engine, explore, solve, common/base, common/program, common/trace,
 * common/verdict, common/wire. */
#ifndef FT_SERVE_H
#define FT_SERVE_H

#include "base/status.h"

/* Writes HELLO to `out`, then answers requests from `in` until `in` ends between two frames.
 * Blocks. FT_INPUT: the peer violates the protocol. FT_IO: reading or writing failed. A failure of
 * a request (a malformed trace, a job that the trace does not support) is answered with FAILED and
 * is not a failure of this call. */
ft_status ft_worker_serve(int in, int out, ft_error *err) FT_MUST_CHECK;

#endif
