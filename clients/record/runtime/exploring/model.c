/* The search and the program must agree on every state, so they share the text of the model. Here
 * it has the runtime's contracts, which never call the program. */
#include "exploring/model.h"

#include "libc/contract.h"

#define FT_BASE_CONTRACT_H

#include "explore/action.c" // NOLINT(bugprone-suspicious-include)
#define bit object_bit
#include "explore/objects.c" // NOLINT(bugprone-suspicious-include)
