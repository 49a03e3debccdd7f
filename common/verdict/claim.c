#include "verdict/claim.h"

#include <stdlib.h>

static const struct {
    const char *name;
    uint32_t events;
} KINDS[FT_CLAIM_KINDS] = {
#define FT_ROW(symbol, name, events) [FT_CLAIM_##symbol] = {name, events},
    FT_CLAIM_TABLE(FT_ROW)
#undef FT_ROW
};

const char *ft_claim_kind_name(ft_claim_kind kind)
{
    return KINDS[kind].name;
}

uint32_t ft_claim_kind_events(ft_claim_kind kind)
{
    return KINDS[kind].events;
}

bool ft_pattern_unserialisable(bool first_write, bool remote_write, bool last_write)
{
    return remote_write || (first_write && last_write);
}

void ft_witness_release(ft_witness *witness)
{
    free(witness->steps);
    *witness = (ft_witness){0};
}

uint32_t ft_claim_first_final(ft_claim_kind kind)
{
    return kind == FT_CLAIM_ATOMICITY ? 2 : 0;
}

uint32_t ft_witness_switches(const ft_trace *trace, const ft_witness *witness)
{
    const ft_claim *claim = &witness->claim;
    uint32_t switches = 0, last = FT_NO_ID;
    for (uint32_t i = 0; i < witness->n_steps; i++) {
        uint32_t thread = trace->thread[witness->steps[i]];
        switches += last != FT_NO_ID && thread != last;
        last = thread;
    }
    for (uint32_t i = ft_claim_first_final(claim->kind); i < KINDS[claim->kind].events; i++) {
        uint32_t thread = trace->thread[claim->events[i]];
        switches += last != FT_NO_ID && thread != last;
        last = thread;
    }
    return switches;
}
