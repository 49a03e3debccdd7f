/* Wrapper functions of a program: `lock(&accounts)` locks a mutex for its caller, `wait(q)` waits
 * for it. All of the program's locking or waiting is then at one location, which cannot tell its
 * findings apart; the call of the wrapper, or the object, can. */
#ifndef FT_CANDIDATE_WRAPPERS_H
#define FT_CANDIDATE_WRAPPERS_H

#include "base/strbuf.h"
#include "order/order.h"
#include "verdict/claim.h"

/* The location of the outermost call that returns with the lock that the event acquires. FT_NO_LOC:
 * another event, or the function that acquires the lock is still active at the release. Paths of
 * calls are compared, not calls. */
uint32_t ft_helper_call(const ft_order *order, uint32_t e);

/* Adds a text that tells the claim from others of its kind at the same locations, for claims of the
 * checks of listed.h; nothing where the locations suffice. Equal for claims of one candidate. */
void ft_helpers_tell(const ft_order *order, const ft_claim *claim, ft_strbuf *out);

#endif
