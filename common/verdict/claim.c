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

bool ft_claim_was_blocked(const ft_trace *trace, const ft_claim *claim)
{
    if (claim->kind != FT_CLAIM_DEADLOCK && claim->kind != FT_CLAIM_STUCK) return false;
    for (uint32_t i = 0; i < ft_claim_events(claim); i++)
        if (!ft_trace_is_blocked(trace, claim->events[i])) return false;
    return true;
}

uint32_t ft_claim_events(const ft_claim *claim)
{
    return claim->kind == FT_CLAIM_DEADLOCK ? claim->n_events : KINDS[claim->kind].events;
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
    static const uint8_t FIRST[FT_CLAIM_KINDS] = {
        [FT_CLAIM_ATOMICITY] = 2, [FT_CLAIM_AFTER_FREE] = 1};
    return FIRST[kind];
}

bool ft_claim_is_unordered(ft_claim_kind kind)
{
    return kind == FT_CLAIM_RACE || kind == FT_CLAIM_DEADLOCK || kind == FT_CLAIM_CO_ENABLED;
}

/* Racing accesses, lock requests and co-enabled events are next at once, in any order: the one
 * whose thread ran last comes first. */
static uint32_t unordered_switches(const ft_trace *trace, const ft_claim *claim, uint32_t last)
{
    uint32_t switches = ft_claim_events(claim) - (last == FT_NO_ID);
    for (uint32_t i = 0; i < ft_claim_events(claim); i++)
        if (trace->thread[claim->events[i]] == last) return switches - 1;
    return switches;
}

uint32_t ft_witness_full_from(const ft_witness *witness)
{
    return witness->n_steps > FT_WITNESS_SHORT ? witness->n_steps - FT_WITNESS_FULL_STEPS : 0;
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
    if (ft_claim_is_unordered(claim->kind))
        return switches + unordered_switches(trace, claim, last);
    for (uint32_t i = ft_claim_first_final(claim->kind); i < ft_claim_events(claim); i++) {
        uint32_t thread = trace->thread[claim->events[i]];
        switches += last != FT_NO_ID && thread != last;
        last = thread;
    }
    return switches;
}
