/* Order that the causality graph found to hold in every prefix that reaches a claim, handed to the
 * claim's query (causality/causality.h; Kahlon and Wang §3). */
#include "base/contract.h"
#include "causality/causality.h"
#include "encode/partial.h"

/* A t_r that departs from the model is executed by the query, so it is not a member; neither is an
 * event outside the cone. */
static bool is_member(const ft_decider *d, const ft_claim *claim, bool departing, uint32_t e)
{
    FT_REQUIRE(e < d->problem->trace->n_events);
    bool remote = departing && claim->kind == FT_CLAIM_ATOMICITY && e == claim->events[1];
    return !remote && ft_partial_in(d, e);
}

static void hold(ft_decider *d, ft_query *q, uint32_t a, uint32_t b)
{
    assert(a != b); /* the graph is acyclic */
    ft_lit before = ft_partial_before(d, a, b);
    q->impossible |= before == FT_LIT_FALSE;
    if (before == FT_LIT_TRUE || before == FT_LIT_FALSE) return;
    ft_lemma lemma = {.premise = {q->active}, .n_premises = 1, .n_alternatives = 1};
    lemma.alternative[0].a = a;
    lemma.alternative[0].b = b;
    ft_partial_lemma(d, &lemma);
}

void ft_query_causality(ft_decider *d, ft_query *q, const ft_claim *claim, bool departing)
{
    if (!d->problem->causality) return;
    ft_causality_edges edges = {0};
    ft_causality_holds(d->problem->causality, claim, &edges);
    for (size_t i = 0; i < edges.len; i++) {
        const ft_causality_edge *edge = &edges.data[i];
        bool from = is_member(d, claim, departing, edge->from);
        bool to = is_member(d, claim, departing, edge->to);
        if (from) ft_partial_implies(d, q->active, d->member[edge->from]);
        if (to) ft_partial_implies(d, q->active, d->member[edge->to]);
        if (from && to) hold(d, q, edge->from, edge->to);
    }
    ft_vec_release(&edges);
}
