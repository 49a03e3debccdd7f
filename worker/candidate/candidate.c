#include "candidate/candidate.h"
#include "candidate/listed.h"

#include <stdlib.h>
#include <string.h>

void ft_candidates_free(ft_candidates *c)
{
    if (!c) return;
    for (size_t i = 0; i < c->groups.len; i++) ft_vec_release(&c->groups.data[i].blocks);
    ft_vec_release(&c->groups);
    ft_vec_release(&c->listed);
    for (size_t i = 0; i < c->requests.len; i++) ft_vec_release(&c->requests.data[i].events);
    ft_vec_release(&c->requests);
    ft_vec_release(&c->cycles);
    ft_vec_release(&c->classes);
    ft_vec_release(&c->local_pairs);
    ft_vec_release(&c->pair_events);
    ft_vec_release(&c->pruned);
    ft_map_release(&c->group_index);
    free(c->next_event);
    free(c->variable_classes);
    free(c->variable_sites);
    free(c->threaded);
    free(c->threaded_events);
    ft_vec_release(&c->sites);
    free(c);
}

/* ---- groups ---------------------------------------------------------------------------------- */

static void sort_locs(uint32_t loc[3], uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t j = i; j > 0 && loc[j - 1] > loc[j]; j--) {
            uint32_t swap = loc[j];
            loc[j] = loc[j - 1];
            loc[j - 1] = swap;
        }
}

static bool is_group_of(const ft_group *group, const ft_claim_block *claims)
{
    return group->check == claims->check && group->kind == claims->kind &&
           group->property == claims->property && group->loc[0] == claims->loc[0] &&
           group->loc[1] == claims->loc[1] && group->loc[2] == claims->loc[2];
}

/* The group of claims whose locations are sorted. */
static ft_group *group_find(ft_candidates *c, const ft_claim_block *claims)
{
    const uint32_t *loc = claims->loc;
    assert(loc[0] <= loc[1] || claims->n_locs < 2);
    uint32_t *recent =
        &c->recent[(loc[0] * 31 + loc[1] * 7 + loc[2] + claims->kind) % FT_RECENT_GROUPS];
    if (*recent && is_group_of(&c->groups.data[*recent - 1], claims))
        return &c->groups.data[*recent - 1];
    uint64_t words[4] = {(uint64_t)claims->check << 32 | claims->kind,
                         (uint64_t)loc[0] << 32 | loc[1], loc[2], claims->property};
    for (uint64_t key = ft_hash_bytes(words, sizeof words, 7);; key++) {
        bool inserted;
        uint64_t *slot = ft_map_slot(&c->group_index, key, c->groups.len, &inserted);
        size_t at = (size_t)*slot;
        if (inserted) {
            ft_group fresh = {.check = claims->check,
                              .kind = claims->kind,
                              .loc = {loc[0], loc[1], loc[2]},
                              .property = claims->property,
                              .lock = UINT32_MAX,
                              .sample = *claims->sample};
            ft_vec_push(&c->groups, fresh);
        }
        if (!is_group_of(&c->groups.data[at], claims)) continue;
        *recent = (uint32_t)at + 1;
        return &c->groups.data[at];
    }
}

typedef struct single_pass {
    ft_candidates *c;
    ft_group proto;
    uint64_t visited;
} single_pass;

static bool add_single(void *context, const ft_claim *claim)
{
    single_pass *pass = context;
    ft_candidates *c = pass->c;
    pass->visited++;
    if (c->single_groups++ >= FT_MAX_SINGLE_GROUPS) {
        c->overflow[pass->proto.check]++;
        return true;
    }
    ft_group group = pass->proto;
    group.sample = *claim;
    group.pairs = 1;
    ft_vec_push(&c->groups, group);
    return true;
}

static void add_singles(ft_candidates *c, const ft_claim_block *claims)
{
    if (c->single_groups >= FT_MAX_SINGLE_GROUPS) {
        c->overflow[claims->check] += claims->count;
        return;
    }
    single_pass pass = {.c = c,
                        .proto = {.check = claims->check,
                                  .kind = claims->kind,
                                  .loc = {claims->loc[0], claims->loc[1], claims->loc[2]},
                                  .lock = UINT32_MAX}};
    ft_candidates_each_of_block(c, claims->check, &claims->block, add_single, &pass);
    assert(pass.visited == claims->count); /* each claim of the block is counted once */
}

static void count_pruned_singles(ft_candidates *c, const ft_claim_block *claims)
{
    for (size_t i = 0; i < c->pruned.len; i++) {
        ft_pruned_block *p = &c->pruned.data[i];
        if (p->check != claims->check || p->reason != claims->reason || p->lock != claims->lock)
            continue;
        p->count += claims->count;
        return;
    }
    ft_vec_push(&c->pruned, (ft_pruned_block){claims->check, claims->kind, claims->reason,
                                              claims->lock, claims->count, *claims->sample});
}

static void count_passes(ft_pass_counts *passes, ft_reason reason, uint64_t count)
{
    passes->claims += count;
    if (reason == FT_REASON_LOCKSET || reason == FT_REASON_ATOMIC_SECTION)
        passes->by_locks += count;
    if (reason == FT_REASON_MUST_HAPPEN_BEFORE) passes->by_order += count;
}

void ft_candidates_overflow(ft_candidates *c, ft_check check)
{
    FT_REQUIRE((unsigned)check < FT_CHECKS);
    c->overflow[check]++;
    c->passes[check].claims++;
}

static void account_grouped(ft_candidates *c, const ft_claim_block *claims)
{
    ft_group *group = group_find(c, claims);
    group->pairs += claims->count;
    if (claims->reason == FT_REASONS) {
        ft_vec_push(&group->blocks, claims->block);
        return;
    }
    group->pruned[claims->reason] += claims->count;
    assert(group->pruned[claims->reason] <= group->pairs);
    if (claims->lock == UINT32_MAX) return;
    group->lock = claims->lock;
    group->doubtful |= c->doubted && c->doubted[claims->lock];
}

void ft_candidates_account(ft_candidates *c, const ft_claim_block *claims)
{
    FT_REQUIRE(claims->n_locs <= 3 && claims->sample && claims->count > 0);
    FT_REQUIRE((unsigned)claims->check < FT_CHECKS && (unsigned)claims->reason <= FT_REASONS);
    FT_CHECK(ft_claim_is_sound(c->trace, claims->sample));
    ft_claim_block sorted = *claims;
    bool single = c->per_event;
    sort_locs(sorted.loc, sorted.n_locs);
    for (uint32_t i = 0; i < sorted.n_locs; i++) single |= sorted.loc[i] == FT_NO_LOC;
    count_passes(&c->passes[claims->check], claims->reason, claims->count);
    if (claims->check == FT_CHECK_PROPERTY) { /* one group, whatever it is at */
        sorted.loc[0] = sorted.loc[1] = sorted.loc[2] = FT_NO_LOC;
        sorted.kind = 0;
        account_grouped(c, &sorted);
    } else if (!single) {
        account_grouped(c, &sorted);
    } else if (claims->reason == FT_REASONS) {
        add_singles(c, &sorted);
    } else {
        count_pruned_singles(c, &sorted);
    }
}
