/* Functions of a program that do for others what they are called for: `lock(&accounts)`, `wait(q)`.
 * All that the program locks or waits for is then at one location, and that location does not tell
 * its findings apart. */
#ifndef FT_CANDIDATE_WRAPPERS_H
#define FT_CANDIDATE_WRAPPERS_H

#include "base/strbuf.h"
#include "order/order.h"
#include "verdict/claim.h"

/* Of an acquire in a function that returns with the lock: the location of the outermost such call.
 * FT_NO_LOC: another event, or the function that acquires the lock is still there when it is
 * released. Paths of calls are compared, not calls. */
uint32_t ft_helper_call(const ft_order *order, uint32_t e);

/* Adds what tells the claim from others of its kind at its locations, for claims of the checks of
 * listed.h; nothing, where the locations are all. Equal for claims of one candidate. */
void ft_helpers_tell(const ft_order *order, const ft_claim *claim, ft_strbuf *out);

#endif
