#include "candidate/listed.h"

#include <stdlib.h>

#include "candidate/wrappers.h"

static const struct {
    const char *name;
    ft_check check;
} KINDS[FT_LISTED_KINDS] = {
#define FT_ROW(symbol, name, check) [FT_LISTED_##symbol] = {name, FT_CHECK_##check},
    FT_LISTED_TABLE(FT_ROW)
#undef FT_ROW
};

const char *ft_listed_kind_name(ft_listed_kind kind)
{
    FT_REQUIRE((unsigned)kind < FT_LISTED_KINDS);
    return KINDS[kind].name;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Puts a hash in place of two locations; its top bits are set, which no location's id has. */
static void fold(uint32_t loc[3], uint64_t hash)
{
    loc[0] = (uint32_t)(hash >> 32) | 0x80000000u;
    loc[1] = (uint32_t)hash | 0x80000000u;
}

/* The key of a group has three locations. Those of a longer cycle are folded into the first two,
 * and so is the text that wrappers.h adds. */
static bool places_of(const ft_candidates *c, const ft_claim *claim, uint32_t loc[3])
{
    uint32_t all[FT_CLAIM_MAX_EVENTS], n = ft_claim_events(claim);
    bool complete = true;
    for (uint32_t i = 0; i < n; i++) {
        all[i] = c->trace->loc[claim->events[i]];
        complete = complete && all[i] != FT_NO_LOC;
    }
    qsort(all, n, sizeof *all, by_number);
    for (uint32_t i = 0; i < 3; i++) loc[i] = i < n ? all[i] : FT_NO_LOC;
    ft_strbuf more = {0};
    ft_helpers_tell(c->order, claim, &more);
    uint64_t hash = ft_hash_bytes(all, n * sizeof *all, n);
    if (more.len && complete)
        fold(loc, ft_hash_bytes(more.text, more.len, hash));
    else if (n > 3)
        fold(loc, hash);
    ft_strbuf_release(&more);
    return complete;
}

void ft_candidates_list_block(ft_candidates *c, ft_listed_kind kind, const ft_claim *claim,
                              ft_reason reason, uint32_t lock, uint64_t count, ft_block block)
{
    FT_REQUIRE((unsigned)kind < FT_LISTED_KINDS);
    uint32_t n = ft_claim_events(claim);
    ft_claim_block claims = {.check = KINDS[kind].check,
                             .kind = (uint8_t)kind,
                             .reason = reason,
                             .lock = lock,
                             .count = count,
                             .block = block,
                             .sample = claim};
    claims.n_locs = places_of(c, claim, claims.loc) ? (n < 3 ? n : 3) : 1;
    ft_candidates_account(c, &claims);
}

void ft_candidates_list(ft_candidates *c, ft_listed_kind kind, const ft_claim *claim,
                        ft_reason reason, uint32_t lock)
{
    for (uint32_t i = 0; i < ft_claim_events(claim); i++)
        if (ft_candidates_skipped(c, claim->events[i])) return;
    if (reason == FT_REASONS && c->look) reason = c->look(c->look_context, claim);
    if (reason == FT_REASONS && c->listed.len >= FT_MAX_LISTED_CLAIMS) {
        ft_candidates_overflow(c, KINDS[kind].check);
        return;
    }
    assert(c->listed.len <= FT_MAX_LISTED_CLAIMS);
    ft_block block = {.left = (uint32_t)c->listed.len};
    if (reason == FT_REASONS) ft_vec_push(&c->listed, *claim);
    ft_candidates_list_block(c, kind, claim, reason, lock, 1, block);
}
