#include "verdict/claim.h"

#include <stdlib.h>

#include "base/contract.h"

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
    FT_REQUIRE(kind < FT_CLAIM_KINDS);
    return KINDS[kind].name;
}

static bool events_are_sound(const ft_trace *trace, const ft_claim *claim)
{
    uint32_t n = ft_claim_events(claim);
    if (n == 0 || n > FT_CLAIM_MAX_EVENTS) return false;
    for (uint32_t i = 0; i < n; i++) {
        if (claim->events[i] >= trace->n_events) return false;
        for (uint32_t k = 0; k < i; k++)
            if (claim->events[k] == claim->events[i]) return false;
    }
    return true;
}

bool ft_claim_is_sound(const ft_trace *trace, const ft_claim *claim)
{
    if ((unsigned)claim->kind >= FT_CLAIM_KINDS || !events_are_sound(trace, claim)) return false;
    if (claim->kind == FT_CLAIM_ATOMICITY &&
        !ft_pattern_unserialisable(claim->writes[0], claim->writes[1], claim->writes[2]))
        return false;
    if (claim->kind == FT_CLAIM_ATOMICITY || claim->kind == FT_CLAIM_UNINITIALISED)
        return claim->variable < trace->shared.len;
    if (claim->kind == FT_CLAIM_CONDITION)
        return claim->condition != FT_NO_TERM &&
               ft_term_sort(trace->terms, claim->condition).kind == FT_SORT_BOOL;
    if (claim->kind == FT_CLAIM_BEFORE)
        return claim->avoid != FT_NO_LOC && claim->avoid < trace->n_locations;
    return true;
}

bool ft_witness_is_sound(const ft_trace *trace, const ft_witness *witness)
{
    bool sound = ft_claim_is_sound(trace, &witness->claim) && witness->model < FT_MODELS &&
                 witness->wakeups < FT_WAKEUPS_KINDS && witness->n_steps <= trace->n_events;
    uint32_t *after = ft_calloc(trace->threads.len, sizeof *after); /* last step's event + 1 */
    for (uint32_t i = 0; sound && i < witness->n_steps; i++) {
        uint32_t e = witness->steps[i];
        sound = e < trace->n_events && e >= after[trace->thread[e]];
        if (sound) after[trace->thread[e]] = e + 1;
    }
    free(after);
    return sound;
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
    FT_REQUIRE(claim->kind < FT_CLAIM_KINDS);
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
    FT_REQUIRE(kind < FT_CLAIM_KINDS);
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
    FT_REQUIRE(ft_claim_events(claim) > 0 && ft_claim_events(claim) <= FT_CLAIM_MAX_EVENTS);
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
