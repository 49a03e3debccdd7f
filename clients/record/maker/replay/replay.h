/* Replays of a recorded program: the inputs that its trace keeps (inputs.h), and the plan, made of
 * a trace and a witness, that the program then follows (plan.h).
 *
 * Imports: order, symbols, raw, common/base, common/trace, common/verdict. */
#ifndef FT_RECORD_MAKER_REPLAY_H
#define FT_RECORD_MAKER_REPLAY_H

#include "maker/replay/inputs.h"
#include "maker/replay/plan.h"

#endif
