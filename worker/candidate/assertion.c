/* Assertions of the trace: each assert event (design §4, Assertion). */
#include "candidate/candidate.h"

void ft_candidates_assertion(ft_candidates *c)
{
    const ft_trace *trace = c->trace;
    for (uint32_t e = 0; e < trace->n_events; e++) {
        if (trace->kind[e] != FT_EVENT_ASSERT || ft_candidates_skipped(c, e)) continue;
        ft_claim sample = {.kind = FT_CLAIM_ASSERTION, .events = {e, FT_NO_EVENT, FT_NO_EVENT}};
        ft_candidates_account(c, FT_CHECK_ASSERTION, 0,
                              (uint32_t[3]){trace->loc[e], FT_NO_LOC, FT_NO_LOC}, 1, 0, FT_REASONS,
                              UINT32_MAX, 1, (ft_block){.left = e}, &sample);
    }
}
