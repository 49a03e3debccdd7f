/* Assertions of the trace: each assert event. */
#include "candidate/candidate.h"

void ft_candidates_assertion(ft_candidates *c)
{
    const ft_trace *trace = c->trace;
    for (uint32_t e = 0; e < trace->n_events; e++) {
        if (trace->kind[e] != FT_EVENT_ASSERT || ft_candidates_skipped(c, e)) continue;
        ft_claim sample = {.kind = FT_CLAIM_ASSERTION, .events = {e, FT_NO_EVENT, FT_NO_EVENT}};
        ft_candidates_account(c, &(ft_claim_block){.check = FT_CHECK_ASSERTION,
                                                   .loc = {trace->loc[e], FT_NO_LOC, FT_NO_LOC},
                                                   .n_locs = 1,
                                                   .reason = FT_REASONS,
                                                   .lock = UINT32_MAX,
                                                   .count = 1,
                                                   .block = {.left = e},
                                                   .sample = &sample});
    }
    FT_CHECK(ft_candidates_add_up(c, FT_CHECK_ASSERTION));
}
