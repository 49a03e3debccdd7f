#include "values/chain.h"

#include <stdlib.h>

#include "base/contract.h"
#include "problem/faults.h"

enum { MOST_WRITES = 4096, DEEPEST = 32 };

/* A value: `added`, plus, where `read` is an event, the value that it read of the variable. */
typedef struct linear {
    uint32_t read; /* FT_NO_EVENT: a constant */
    uint64_t added;
} linear;

typedef struct chain {
    const ft_writes *writes;
    const ft_problem *p;
    uint32_t variable;
    ft_sort sort;
    FT_VEC(uint32_t) deltas; /* writes that are increments */
    FT_VEC(uint32_t) reads;  /* likewise: the events that read the value before */
    uint32_t base;           /* the last of the other writes, FT_NO_EVENT: none */
    linear base_value;
    uint64_t sum;
} chain;

static bool add(const chain *c, uint64_t *sum, uint64_t value, bool negative)
{
    if (c->sort.kind == FT_SORT_BITVEC) {
        *sum = negative ? *sum - value : *sum + value;
        if (c->sort.width < 64) *sum &= ((uint64_t)1 << c->sort.width) - 1;
        return true;
    }
    int64_t result;
    bool over = negative ? __builtin_sub_overflow((int64_t)*sum, (int64_t)value, &result)
                         : __builtin_add_overflow((int64_t)*sum, (int64_t)value, &result);
    *sum = (uint64_t)result;
    return !over;
}

static bool linear_of(const chain *c, uint32_t e, ft_term term, int depth, linear *out);

/* The thread's last assignment to the local before e. */
static bool linear_local(const chain *c, uint32_t e, uint32_t local, int depth, linear *out)
{
    FT_REQUIRE(local < c->p->trace->locals.len);
    const ft_trace *trace = c->p->trace;
    for (uint32_t at = ft_order_previous(c->p->order, e); at != FT_NO_EVENT;
         at = ft_order_previous(c->p->order, at)) {
        const ft_action *action = ft_trace_action(trace, at);
        for (uint32_t i = 0; action && i < action->n_assignments; i++)
            if (action->assignments[i].target == FT_SYM_LOCAL(local))
                return ft_trace_path(trace, at) == 0 &&
                       linear_of(c, at, action->assignments[i].term, depth + 1, out);
    }
    uint32_t initial = trace->local_info[local].initial;
    if (initial == FT_NO_VALUE) return false;
    *out = (linear){FT_NO_EVENT, trace->values[initial].bits};
    return true;
}

static bool linear_sum(const chain *c, uint32_t e, const ft_term_node *node, int depth, linear *out)
{
    bool difference = node->op == FT_OP_SUB || node->op == FT_OP_BVSUB;
    linear sum = {FT_NO_EVENT, 0};
    if (difference && node->n_children < 2) return false;
    for (uint32_t i = 0; i < node->n_children; i++) {
        linear child;
        bool negative = difference && i > 0;
        if (!linear_of(c, e, node->children[i], depth + 1, &child)) return false;
        if (child.read != FT_NO_EVENT && (negative || sum.read != FT_NO_EVENT)) return false;
        if (child.read != FT_NO_EVENT) sum.read = child.read;
        if (!add(c, &sum.added, child.added, negative)) return false;
    }
    *out = sum;
    return true;
}

static bool linear_of(const chain *c, uint32_t e, ft_term term, int depth, linear *out)
{
    ft_term_node node = ft_term_get(c->p->trace->terms, term);
    if (depth > DEEPEST || node.sort.kind != c->sort.kind || node.sort.width != c->sort.width)
        return false;
    if (node.op == FT_OP_LITERAL) {
        *out = (linear){FT_NO_EVENT, node.bits};
        return true;
    }
    if (node.op == FT_OP_ADD || node.op == FT_OP_SUB || node.op == FT_OP_BVADD ||
        node.op == FT_OP_BVSUB)
        return linear_sum(c, e, &node, depth, out);
    if (node.op != FT_OP_SYMBOL) return false;
    if (FT_SYM_IS_LOCAL(node.symbol))
        return linear_local(c, e, FT_SYM_INDEX(node.symbol), depth, out);
    *out = (linear){e, 0};
    return node.symbol == c->variable;
}

static bool linear_write(const chain *c, uint32_t w, linear *out)
{
    const ft_problem *p = c->p;
    const ft_action *action = ft_trace_action(p->trace, w);
    if (!action) {
        uint32_t slot = ft_run_find_access(p->trace, w, c->variable, true);
        ft_vid vid = ft_run_vid(p->run, w, slot);
        if (!FT_VID_IS_KNOWN(vid)) return false;
        *out = (linear){FT_NO_EVENT, ft_run_value(p->run, vid).bits};
        return true;
    }
    for (uint32_t i = 0; i < action->n_assignments; i++)
        if (action->assignments[i].target == FT_SYM_SHARED(c->variable))
            return linear_of(c, w, action->assignments[i].term, 0, out);
    return false;
}

/* With another write of the variable by the same thread in between, the write is not an
 * increment. */
static bool is_own_between(const chain *c, uint32_t read, uint32_t write)
{
    for (uint32_t i = c->writes->first[c->variable]; i < c->writes->first[c->variable + 1]; i++) {
        uint32_t w = c->writes->events[i];
        if (c->p->trace->thread[w] == c->p->trace->thread[write] && w != write &&
            c->p->order->position[w] >= c->p->order->position[read] &&
            c->p->order->position[w] < c->p->order->position[write])
            return true;
    }
    return false;
}

/* Writes are increments or come, with constants, before all increments in the hard order. */
static bool sort_writes(chain *c, uint32_t done, uint32_t next)
{
    const ft_order *order = c->p->order;
    for (uint32_t i = c->writes->first[c->variable]; i < c->writes->first[c->variable + 1]; i++) {
        uint32_t w = c->writes->events[i];
        linear value;
        if (w == next || ft_order_before(order, next, w)) continue;
        if (w != done && !ft_order_before(order, w, done)) return false;
        if (ft_trace_path(c->p->trace, w)) return false; /* it may be passed over */
        if (!linear_write(c, w, &value)) return false;
        if (value.read != FT_NO_EVENT) {
            if (is_own_between(c, value.read, w)) return false;
            assert(order->position[value.read] <= order->position[w] &&
                   c->p->trace->thread[value.read] == c->p->trace->thread[w]);
            ft_vec_push(&c->deltas, w);
            ft_vec_push(&c->reads, value.read);
            if (!add(c, &c->sum, value.added, false)) return false;
            continue;
        }
        if (c->base == FT_NO_EVENT || ft_order_before(order, c->base, w)) {
            c->base = w;
            c->base_value = value;
        } else if (!ft_order_before(order, w, c->base)) {
            return false;
        }
    }
    for (size_t i = 0; c->base != FT_NO_EVENT && i < c->reads.len; i++)
        if (!ft_order_before(order, c->base, c->reads.data[i])) return false;
    assert(c->deltas.len == c->reads.len);
    return c->deltas.len > 0;
}

/* Does every increment read and write in one exclusive section of the lock? */
static bool is_guarded_by(const chain *c, uint32_t lock)
{
    const ft_order *order = c->p->order;
    for (size_t i = 0; i < c->deltas.len; i++) {
        uint32_t section = ft_order_section_at(order, c->deltas.data[i], lock);
        if (section == FT_NO_SECTION || order->sections.data[section].shared) return false;
        if (ft_order_section_at(order, c->reads.data[i], lock) != section) return false;
    }
    return true;
}

static bool is_guarded(const chain *c)
{
    assert(c->deltas.len > 0);
    const ft_order *order = c->p->order;
    bool atomic = true;
    for (size_t i = 0; i < c->deltas.len; i++) atomic &= c->deltas.data[i] == c->reads.data[i];
    if (atomic) return true;
    ft_hold held = order->holds.data[order->hold[c->deltas.data[0]]];
    for (uint32_t i = 0; i < held.count; i++)
        if (is_guarded_by(c, order->sections.data[order->hold_sections.data[held.first + i]].lock))
            return true;
    return false;
}

static bool find_value(chain *c, uint32_t done, uint32_t next, ft_value *value)
{
    if (!sort_writes(c, done, next) || !is_guarded(c)) return false;
    *value = (ft_value){c->sort, c->base_value.added};
    if (c->base == FT_NO_EVENT) {
        ft_vid initial = ft_run_initial_vid(c->p->run, c->variable);
        if (!FT_VID_IS_KNOWN(initial)) return false;
        value->bits = ft_run_value(c->p->run, initial).bits;
    }
    return add(c, &value->bits, c->sum, false);
}

bool ft_chain_value(const ft_problem *p, const ft_writes *writes, uint32_t done, uint32_t next,
                    uint32_t variable, ft_value *value)
{
    FT_REQUIRE(p && writes && value && variable < p->trace->shared.len);
    FT_REQUIRE(done < p->trace->n_events && next < p->trace->n_events);
    chain c = {.writes = writes,
               .p = p,
               .variable = variable,
               .sort = p->trace->shared_info[variable].sort,
               .base = FT_NO_EVENT};
    if (p->model != FT_MODEL_CTP || c.sort.kind == FT_SORT_BOOL) return false;
    if (writes->first[variable + 1] - writes->first[variable] > MOST_WRITES) return false;
    /* The equation would hide these faults. */
    if (ft_fault_is(FT_FAULT_NO_MUTEX) || ft_fault_is(FT_FAULT_NO_BETWEEN) ||
        ft_fault_is(FT_FAULT_NO_JOIN) || ft_fault_is(FT_FAULT_OPEN_SECTION))
        return false;
    bool found = find_value(&c, done, next, value);
    ft_vec_release(&c.deltas);
    ft_vec_release(&c.reads);
    return found;
}

typedef struct final_state {
    const ft_problem *p;
    const ft_writes *writes;
    uint32_t done, next;
} final_state;

static bool look_up(void *context, ft_symbol symbol, ft_value *value)
{
    const final_state *s = context;
    return !FT_SYM_IS_LOCAL(symbol) &&
           ft_chain_value(s->p, s->writes, s->done, s->next, symbol, value);
}

bool ft_chain_proves(const ft_problem *p, const ft_writes *writes, const ft_claim *claim)
{
    FT_REQUIRE(p && writes && claim);
    uint32_t e = claim->events[0], done = ft_order_previous(p->order, e);
    if (claim->kind != FT_CLAIM_ASSERTION && claim->kind != FT_CLAIM_CONDITION) return false;
    if (p->model != FT_MODEL_CTP || done == FT_NO_EVENT) return false;
    ft_term term =
        claim->kind == FT_CLAIM_CONDITION ? claim->condition : ft_trace_action(p->trace, e)->guard;
    final_state state = {p, writes, done, e};
    ft_value value;
    return ft_term_eval(p->trace->terms, term, look_up, &state, &value) == FT_EVAL_OK &&
           value.bits != 0;
}

bool ft_writes_are_sound(const ft_writes *writes, const ft_trace *trace)
{
    if (writes->first[0] != 0) return false;
    for (uint32_t v = 0; v < trace->shared.len; v++) {
        if (writes->first[v] > writes->first[v + 1]) return false;
        for (uint32_t i = writes->first[v]; i < writes->first[v + 1]; i++) {
            uint32_t e = writes->events[i];
            if (e >= trace->n_events || ft_run_find_access(trace, e, v, true) == UINT32_MAX)
                return false;
            if (i > writes->first[v] && writes->events[i - 1] > e) return false;
        }
    }
    return true;
}

void ft_writes_init(ft_writes *writes, const ft_trace *trace)
{
    uint32_t n = trace->shared.len, total = 0, count;
    ft_access scratch;
    uint32_t *first = ft_calloc((size_t)n + 2, sizeof *first);
    for (uint32_t e = 0; e < trace->n_events; e++) {
        const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
        for (uint32_t i = 0; i < count; i++)
            if (accesses[i].write) first[accesses[i].variable + 2]++, total++;
    }
    for (uint32_t v = 0; v < n; v++) first[v + 2] += first[v + 1];
    writes->events = ft_alloc(((size_t)total + 1) * sizeof *writes->events);
    for (uint32_t e = 0; e < trace->n_events; e++) {
        const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
        for (uint32_t i = 0; i < count; i++)
            if (accesses[i].write) writes->events[first[accesses[i].variable + 1]++] = e;
    }
    assert(first[n] == total);
    writes->first = first;
    FT_CHECK(ft_writes_are_sound(writes, trace));
}

void ft_writes_release(ft_writes *writes)
{
    free(writes->first);
    free(writes->events);
    *writes = (ft_writes){0};
}
