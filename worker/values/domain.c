#include "values/domain.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "problem/faults.h"

/* Sources of one trace's reads, combinations of values of one term, symbols in one term. */
enum { MOST_SOURCES = 400000, MOST_ROWS = 4096, MOST_LEAVES = 8, NO_NODE = -1 };

typedef struct leaf {
    ft_symbol symbol;
    uint32_t node;
} leaf;

/* Values flow from node to node: a constant; a union of others (the sources of a read, the
 * assignments of a local); a term over its leaves. */
typedef struct node {
    ft_domain set;
    ft_term term;          /* FT_NO_TERM: a union, or a constant without inputs */
    uint32_t first, count; /* slice of inputs, or of leaves for a term */
    bool writes;           /* a term that is assigned to a shared variable */
    uint64_t time;         /* by event: inputs have earlier times, except writes of other threads */
} node;

struct ft_domains {
    const ft_problem *p;
    const ft_writes *writes;
    FT_VEC(node) nodes;
    FT_VEC(uint32_t) inputs; /* nodes */
    FT_VEC(leaf) leaves;
    ft_map reads;       /* e << 32 | access -> node */
    ft_map assignments; /* e << 32 | assignment -> node */
    ft_map locals;      /* e << 32 | local -> node: its value just before e */
    ft_map plain;       /* e << 32 | variable -> node: a plain write */
    uint32_t *initial;  /* per shared variable: node + 1, 0: none yet */
    uint32_t *last;     /* scratch: per thread */
    uint64_t n_sources;
    bool too_large;
};

/* ---- sets ---- */

static void make_any(ft_domain *set)
{
    free(set->bits);
    *set = (ft_domain){.any = true};
}

static int by_number(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return (a > b) - (a < b);
}

bool ft_domain_is_sound(const ft_domain *set)
{
    for (uint32_t i = 1; !set->any && i < set->count; i++)
        if (set->bits[i - 1] >= set->bits[i]) return false;
    return !set->any || (!set->bits && set->count == 0);
}

static bool holds_all(const ft_domain *set, const uint64_t *bits, uint32_t count)
{
    uint32_t i = 0;
    for (uint32_t k = 0; k < count; k++) {
        while (i < set->count && set->bits[i] < bits[k]) i++;
        if (i == set->count || set->bits[i] != bits[k]) return false;
    }
    return true;
}

/* Adds the values that are new; both are ascending. Returns whether there was any. */
static bool merge(ft_domain *set, const uint64_t *bits, uint32_t count)
{
    if (set->any || holds_all(set, bits, count)) return false;
    uint64_t *all = ft_alloc((set->count + count + 1) * sizeof *all);
    uint32_t i = 0, k = 0, n = 0;
    while (i < set->count || k < count) {
        bool mine = k == count || (i < set->count && set->bits[i] <= bits[k]);
        uint64_t next = mine ? set->bits[i] : bits[k];
        i += i < set->count && set->bits[i] == next;
        k += k < count && bits[k] == next;
        all[n++] = next;
    }
    assert(n > set->count && n <= set->count + count);
    free(set->bits);
    set->bits = all;
    set->count = n;
    FT_CHECK(ft_domain_is_sound(set));
    if (n > FT_DOMAIN_MOST) make_any(set);
    return true;
}

static bool include(ft_domain *set, const ft_domain *other)
{
    if (set->any) return false;
    if (other->any) {
        make_any(set);
        return true;
    }
    return merge(set, other->bits, other->count);
}

/* ---- the graph ---- */

static uint32_t add_node(ft_domains *d, node n)
{
    ft_vec_push(&d->nodes, n);
    return (uint32_t)d->nodes.len - 1;
}

static uint32_t constant(ft_domains *d, bool known, uint64_t bits)
{
    node n = {.set = {.any = !known}};
    if (known) merge(&n.set, &bits, 1);
    return add_node(d, n);
}

static uint32_t of_vid(ft_domains *d, ft_vid vid)
{
    bool known = FT_VID_IS_KNOWN(vid);
    return constant(d, known, known ? ft_run_value(d->p->run, vid).bits : 0);
}

static uint32_t initial_node(ft_domains *d, uint32_t variable)
{
    if (!d->initial[variable])
        d->initial[variable] = of_vid(d, ft_run_initial_vid(d->p->run, variable)) + 1;
    return d->initial[variable] - 1;
}

static uint64_t key_of(uint32_t e, uint32_t number)
{
    return (uint64_t)e << 32 | number;
}

/* A term's node is made before its inputs are known: first all nodes, then their inputs. */
static uint32_t assignment_node(ft_domains *d, uint32_t e, uint32_t i)
{
    bool inserted;
    uint64_t *slot = ft_map_slot(&d->assignments, key_of(e, i), d->nodes.len, &inserted);
    if (!inserted) return (uint32_t)*slot;
    const ft_assignment *set = &ft_trace_action(d->p->trace, e)->assignments[i];
    return add_node(d, (node){.term = set->term,
                              .writes = !FT_SYM_IS_LOCAL(set->target),
                              .time = 2 * (uint64_t)e + 1});
}

static uint32_t write_node(ft_domains *d, uint32_t w, uint32_t variable)
{
    const ft_trace *trace = d->p->trace;
    const ft_action *action = ft_trace_action(trace, w);
    for (uint32_t i = 0; action && i < action->n_assignments; i++)
        if (action->assignments[i].target == FT_SYM_SHARED(variable))
            return assignment_node(d, w, i);
    bool inserted;
    uint64_t *slot = ft_map_slot(&d->plain, key_of(w, variable), d->nodes.len, &inserted);
    if (!inserted) return (uint32_t)*slot;
    return of_vid(d, ft_run_vid(d->p->run, w, ft_run_find_access(trace, w, variable, true)));
}

/* ---- the sources of a read ---- */

typedef struct place {
    uint32_t e;    /* it reads there */
    uint32_t done; /* this and all that the hard order puts before it is executed; may be e */
} place;

static bool is_done(const ft_domains *d, uint32_t w, place at)
{
    if (at.done == FT_NO_EVENT || w == at.e || !ft_problem_certain(d->p, w, at.e)) return false;
    return w == at.done || ft_order_before(d->p->order, w, at.done);
}

/* For each thread, the last write that is certainly executed at that place. */
static void last_writes(ft_domains *d, place at, uint32_t variable)
{
    const ft_order *order = d->p->order;
    memset(d->last, 0xff, order->n_threads * sizeof *d->last);
    for (uint32_t i = d->writes->first[variable]; i < d->writes->first[variable + 1]; i++) {
        uint32_t w = d->writes->events[i], t = d->p->trace->thread[w];
        if (!is_done(d, w, at)) continue;
        if (d->last[t] == FT_NO_EVENT || order->position[d->last[t]] < order->position[w])
            d->last[t] = w;
    }
}

static bool is_overwritten(const ft_domains *d, uint32_t w)
{
    for (uint32_t t = 0; t < d->p->order->n_threads; t++) {
        if (d->last[t] == FT_NO_EVENT || d->last[t] == w) continue;
        if (w == FT_NO_EVENT || ft_order_before(d->p->order, w, d->last[t])) return true;
    }
    return false;
}

static uint32_t union_of(ft_domains *d, uint32_t e, const uint32_t *inputs, size_t count)
{
    assert(d->inputs.len + count <= UINT32_MAX);
    node n = {.first = (uint32_t)d->inputs.len, .count = (uint32_t)count, .time = 2 * (uint64_t)e};
    for (size_t i = 0; i < count; i++) ft_vec_push(&d->inputs, inputs[i]);
    return add_node(d, n);
}

static uint32_t seen_at(ft_domains *d, place at, uint32_t variable)
{
    FT_VEC(uint32_t) inputs = {0};
    last_writes(d, at, variable);
    if (!is_overwritten(d, FT_NO_EVENT)) {
        uint32_t initial = initial_node(d, variable);
        ft_vec_push(&inputs, initial);
    }
    for (uint32_t i = d->writes->first[variable]; i < d->writes->first[variable + 1]; i++) {
        uint32_t w = d->writes->events[i];
        if (w == at.e || ft_order_before(d->p->order, at.e, w) || ft_problem_never(d->p, w) ||
            is_overwritten(d, w))
            continue;
        uint32_t input = write_node(d, w, variable);
        ft_vec_push(&inputs, input);
    }
    d->n_sources += inputs.len;
    d->too_large |= d->n_sources > MOST_SOURCES;
    uint32_t result = union_of(d, at.e, inputs.data, inputs.len);
    ft_vec_release(&inputs);
    return result;
}

/* ---- the values of a local ---- */

static uint32_t initial_local(ft_domains *d, uint32_t local)
{
    uint32_t initial = d->p->trace->local_info[local].initial;
    return constant(d, initial != FT_NO_VALUE, d->p->trace->values[initial].bits);
}

static uint32_t local_at(ft_domains *d, uint32_t e, uint32_t local)
{
    const ft_order *order = d->p->order;
    FT_VEC(uint32_t) inputs = {0};
    bool certain = false;
    uint64_t known;
    if (ft_map_get(&d->locals, key_of(e, local), &known)) return (uint32_t)known;
    for (uint32_t at = ft_order_previous(order, e); at != FT_NO_EVENT && !certain;
         at = ft_order_previous(order, at)) {
        const ft_action *action = ft_trace_action(d->p->trace, at);
        for (uint32_t i = 0; action && i < action->n_assignments; i++) {
            if (action->assignments[i].target != FT_SYM_LOCAL(local)) continue;
            uint32_t input = assignment_node(d, at, i);
            ft_vec_push(&inputs, input);
            certain = ft_problem_certain(d->p, at, e);
        }
    }
    if (!certain) {
        uint32_t initial = initial_local(d, local);
        ft_vec_push(&inputs, initial);
    }
    uint32_t result = union_of(d, e, inputs.data, inputs.len);
    ft_map_put(&d->locals, key_of(e, local), result);
    ft_vec_release(&inputs);
    return result;
}

/* ---- terms ---- */

typedef struct binding {
    ft_domains *d;
    place at;
    bool final; /* shared variables are read in the final state, not by e */
} binding;

static uint32_t read_node(ft_domains *d, uint32_t e, uint32_t variable)
{
    bool inserted;
    uint32_t i = ft_run_find_access(d->p->trace, e, variable, false);
    uint64_t *slot = ft_map_slot(&d->reads, key_of(e, i), 0, &inserted);
    if (!inserted) return (uint32_t)*slot;
    uint32_t read = ft_slice_needs(d->p->slice, e, variable) ? seen_at(d, (place){e, e}, variable)
                                                             : constant(d, false, 0);
    ft_map_put(&d->reads, key_of(e, i), read);
    return read;
}

static void bind(void *context, ft_symbol symbol)
{
    const binding *b = context;
    ft_domains *d = b->d;
    if (d->too_large) return;
    uint32_t variable = FT_SYM_INDEX(symbol);
    uint32_t source = FT_SYM_IS_LOCAL(symbol) ? local_at(d, b->at.e, variable)
                      : b->final              ? seen_at(d, b->at, variable)
                                              : read_node(d, b->at.e, variable);
    ft_vec_push(&d->leaves, (leaf){symbol, source});
}

/* The leaves of a node that is a term. */
static void bind_term(ft_domains *d, uint32_t number, place at, bool final)
{
    binding b = {d, at, final};
    uint32_t first = (uint32_t)d->leaves.len;
    ft_term_symbols(d->p->trace->terms, d->nodes.data[number].term, bind, &b);
    d->nodes.data[number].first = first;
    d->nodes.data[number].count = (uint32_t)d->leaves.len - first;
}

typedef struct row {
    const ft_domains *d;
    const leaf *leaves;
    uint32_t count;
    uint32_t index[MOST_LEAVES];
} row;

static bool look_up(void *context, ft_symbol symbol, ft_value *value)
{
    const row *r = context;
    const ft_trace *trace = r->d->p->trace;
    for (uint32_t i = 0; i < r->count; i++) {
        if (r->leaves[i].symbol != symbol) continue;
        const ft_variable *info = FT_SYM_IS_LOCAL(symbol) ? trace->local_info : trace->shared_info;
        assert(r->index[i] < r->d->nodes.data[r->leaves[i].node].set.count);
        *value = (ft_value){info[FT_SYM_INDEX(symbol)].sort,
                            r->d->nodes.data[r->leaves[i].node].set.bits[r->index[i]]};
        return true;
    }
    return false;
}

/* The number of combinations of the leaves' values; 0: too many, or one leaf can be anything. */
static uint32_t count_rows(const ft_domains *d, const node *n, bool *none)
{
    uint64_t rows = 1;
    *none = false;
    for (uint32_t i = 0; i < n->count; i++)
        *none |= d->nodes.data[d->leaves.data[n->first + i].node].set.count == 0 &&
                 !d->nodes.data[d->leaves.data[n->first + i].node].set.any;
    if (*none || n->count > MOST_LEAVES) return 0;
    for (uint32_t i = 0; i < n->count && rows <= MOST_ROWS; i++) {
        const ft_domain *set = &d->nodes.data[d->leaves.data[n->first + i].node].set;
        rows = set->any ? MOST_ROWS + 1 : rows * set->count;
    }
    return rows > MOST_ROWS ? 0 : (uint32_t)rows;
}

static void next_row(row *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        if (++r->index[i] < r->d->nodes.data[r->leaves[i].node].set.count) return;
        r->index[i] = 0;
    }
}

/* Calls visit for the term's value in every combination. False: the values are not known, or visit
 * returned false. */
static bool each_value(const ft_domains *d, const node *n,
                       bool (*visit)(void *context, uint64_t bits), void *context)
{
    bool none;
    uint32_t rows = count_rows(d, n, &none);
    if (none) return true; /* the term is never computed */
    assert(rows == 0 || n->count <= MOST_LEAVES);
    row r = {.d = d, .leaves = d->leaves.data + n->first, .count = n->count};
    for (uint32_t i = 0; i < rows; i++, next_row(&r)) {
        ft_value value;
        ft_eval_status status = ft_term_eval(d->p->trace->terms, n->term, look_up, &r, &value);
        if (status == FT_EVAL_UNDEFINED) continue;
        if (status != FT_EVAL_OK || !visit(context, value.bits)) return false;
    }
    return rows > 0;
}

typedef FT_VEC(uint64_t) values;

static bool collect(void *context, uint64_t bits)
{
    values *found = context;
    ft_vec_push(found, bits);
    return true;
}

/* ---- the fixpoint ---- */

static bool update_term(ft_domains *d, uint32_t number)
{
    values found = {0};
    node *n = &d->nodes.data[number];
    if (n->set.any) return false;
    bool known = each_value(d, n, collect, &found), grew = true;
    if (!known) {
        make_any(&n->set);
    } else {
        uint32_t kept = 0;
        if (found.len > 0) qsort(found.data, found.len, sizeof *found.data, by_number);
        for (size_t i = 0; i < found.len; i++)
            if (!kept || found.data[i] != found.data[kept - 1]) found.data[kept++] = found.data[i];
        grew = merge(&n->set, found.data, kept);
    }
    ft_vec_release(&found);
    return grew;
}

static bool update(ft_domains *d, uint32_t number)
{
    const node *n = &d->nodes.data[number];
    bool grew = false;
    assert(n->term == FT_NO_TERM || n->first + n->count <= d->leaves.len);
    if (n->term != FT_NO_TERM) return update_term(d, number);
    for (uint32_t i = 0; i < n->count; i++)
        grew |=
            include(&d->nodes.data[number].set, &d->nodes.data[d->inputs.data[n->first + i]].set);
    return grew;
}

static uint32_t input_of(const ft_domains *d, const node *n, uint32_t i)
{
    return n->term != FT_NO_TERM ? d->leaves.data[n->first + i].node : d->inputs.data[n->first + i];
}

typedef struct member {
    uint64_t time;
    uint32_t node;
} member;

static int by_time(const void *x, const void *y)
{
    const member *a = x, *b = y;
    if (a->time != b->time) return a->time < b->time ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

/* Closes one cycle: other nodes in the order of time, then the writes of shared variables, so that
 * a round carries every value through one more write. A value that a read in the cycle returns
 * flows into a write of the cycle, and has not passed through that write before: no value needs
 * more rounds than there are writes. */
static void close_circle(ft_domains *d, const uint32_t *nodes, size_t count)
{
    uint32_t rounds = 0;
    assert(count > 0);
    if (count == 1) {
        update(d, nodes[0]);
        return;
    }
    member *members = ft_alloc(count * sizeof *members);
    for (size_t i = 0; i < count; i++) {
        members[i] = (member){d->nodes.data[nodes[i]].time, nodes[i]};
        rounds += d->nodes.data[nodes[i]].writes;
    }
    qsort(members, count, sizeof *members, by_time);
    bool grew = true;
    for (uint32_t r = 0; r < rounds && grew; r++) {
        grew = false;
        for (size_t i = 0; i < count; i++)
            if (!d->nodes.data[members[i].node].writes) grew |= update(d, members[i].node);
        for (size_t i = 0; i < count; i++)
            if (d->nodes.data[members[i].node].writes) grew |= update(d, members[i].node);
    }
    free(members);
}

typedef struct frame {
    uint32_t node, next;
} frame;

typedef struct walk {
    ft_domains *d;
    uint32_t *number, *low; /* per node; number 0: not visited */
    uint8_t *open;          /* on the stack */
    uint32_t visited;
    FT_VEC(uint32_t) stack;
    FT_VEC(frame) path;
} walk;

static void enter(walk *w, uint32_t at)
{
    w->number[at] = w->low[at] = ++w->visited;
    w->open[at] = 1;
    ft_vec_push(&w->stack, at);
    ft_vec_push(&w->path, (frame){at, 0});
}

static void leave(walk *w, uint32_t at)
{
    w->path.len--;
    if (w->path.len > 0) {
        uint32_t above = w->path.data[w->path.len - 1].node;
        if (w->low[at] < w->low[above]) w->low[above] = w->low[at];
    }
    if (w->low[at] != w->number[at]) return;
    size_t first = w->stack.len;
    assert(first > 0);
    do {
        assert(first > 0); /* `at` is on the stack */
        w->open[w->stack.data[--first]] = 0;
    } while (w->stack.data[first] != at);
    close_circle(w->d, w->stack.data + first, w->stack.len - first);
    w->stack.len = first;
}

/* Strongly connected components, inputs first (Tarjan, Depth-first search and linear graph
 * algorithms, 1972). */
static void visit_from(walk *w, uint32_t start)
{
    if (w->number[start]) return;
    assert(w->stack.len == 0 && w->path.len == 0);
    enter(w, start);
    while (w->path.len > 0) {
        frame *top = &w->path.data[w->path.len - 1];
        const node *n = &w->d->nodes.data[top->node];
        uint32_t at = top->node;
        if (top->next == n->count) {
            leave(w, at);
            continue;
        }
        uint32_t input = input_of(w->d, n, top->next++);
        assert(input < w->d->nodes.len);
        if (!w->number[input])
            enter(w, input);
        else if (w->open[input] && w->number[input] < w->low[at])
            w->low[at] = w->number[input];
    }
}

/* Nodes before `first` are closed already. */
static void close_all(ft_domains *d, uint32_t first)
{
    size_t n = d->nodes.len;
    walk w = {.d = d,
              .number = ft_calloc(n + 1, sizeof *w.number),
              .low = ft_calloc(n + 1, sizeof *w.low),
              .open = ft_calloc(n + 1, 1)};
    for (uint32_t i = 0; i < first; i++) w.number[i] = UINT32_MAX;
    for (uint32_t i = first; i < n; i++) visit_from(&w, i);
    free(w.number);
    free(w.low);
    free(w.open);
    ft_vec_release(&w.stack);
    ft_vec_release(&w.path);
}

/* ---- life ---- */

/* Binding a term's leaves makes new nodes, terms too; each of these is bound with its own event. */
static void bind_event(ft_domains *d, uint32_t e)
{
    const ft_action *action = ft_trace_action(d->p->trace, e);
    for (uint32_t i = 0; i < action->n_assignments && !d->too_large; i++) {
        uint32_t number = assignment_node(d, e, i);
        bind_term(d, number, (place){e, e}, false);
    }
    for (uint32_t i = 0; i < action->n_accesses && !d->too_large; i++)
        if (!action->accesses[i].write) read_node(d, e, action->accesses[i].variable);
}

ft_domains *ft_domains_new(const ft_problem *problem, const ft_writes *writes)
{
    FT_REQUIRE(problem && writes);
    const ft_trace *trace = problem->trace;
    if (problem->model != FT_MODEL_CTP) return NULL;
    ft_domains *d = ft_calloc(1, sizeof *d);
    d->p = problem;
    d->writes = writes;
    d->initial = ft_calloc((size_t)trace->shared.len + 1, sizeof *d->initial);
    d->last = ft_alloc(((size_t)trace->threads.len + 1) * sizeof *d->last);
    for (uint32_t e = 0; e < trace->n_events && !d->too_large; e++)
        if (ft_trace_action(trace, e)) bind_event(d, e);
    if (d->too_large) {
        ft_domains_free(d);
        return NULL;
    }
    close_all(d, 0);
    return d;
}

void ft_domains_free(ft_domains *d)
{
    if (!d) return;
    for (size_t i = 0; i < d->nodes.len; i++) free(d->nodes.data[i].set.bits);
    ft_vec_release(&d->nodes);
    ft_vec_release(&d->inputs);
    ft_vec_release(&d->leaves);
    ft_map_release(&d->reads);
    ft_map_release(&d->assignments);
    ft_map_release(&d->locals);
    ft_map_release(&d->plain);
    free(d->initial);
    free(d->last);
    free(d);
}

const ft_domain *ft_domains_read(const ft_domains *d, uint32_t e, uint32_t i)
{
    FT_REQUIRE(d && e < d->p->trace->n_events);
    static const ft_domain anything = {.any = true};
    uint64_t number;
    if (!ft_map_get(&d->reads, key_of(e, i), &number)) return &anything;
    assert(number < d->nodes.len);
    return &d->nodes.data[number].set;
}

/* A set that would be empty stays: no schedule executes the event. */
static bool cut_set(ft_domain *set, const ft_domain_filter *filter, uint32_t e, uint32_t i)
{
    uint64_t bits[FT_DOMAIN_MOST];
    uint32_t count = 0;
    if (set->any) {
        count = filter->list(filter->context, e, i, bits);
        if (count == 0) return false;
        *set = (ft_domain){0};
        return merge(set, bits, count);
    }
    for (uint32_t k = 0; k < set->count; k++)
        if (filter->holds(filter->context, e, i, set->bits[k])) bits[count++] = set->bits[k];
    if (count == 0 || count == set->count) return false;
    memcpy(set->bits, bits, count * sizeof *bits);
    set->count = count;
    return true;
}

uint64_t ft_domains_cut(ft_domains *d, const ft_domain_filter *filter, uint64_t *looked)
{
    FT_REQUIRE(d && filter && looked);
    uint64_t cut = 0, number;
    for (uint32_t e = 0; e < d->p->trace->n_events; e++) {
        const ft_action *action = ft_trace_action(d->p->trace, e);
        for (uint32_t i = 0; action && i < action->n_accesses; i++) {
            if (action->accesses[i].write || !ft_map_get(&d->reads, key_of(e, i), &number) ||
                !ft_slice_needs(d->p->slice, e, action->accesses[i].variable))
                continue;
            ++*looked;
            cut += cut_set(&d->nodes.data[number].set, filter, e, i);
            FT_CHECK(ft_domain_is_sound(&d->nodes.data[number].set));
        }
    }
    return cut;
}

/* ---- claims ---- */

static bool is_true(void *context, uint64_t bits)
{
    (void)context;
    return bits != 0;
}

/* The sets would hide these faults. */
static bool is_faulty(void)
{
    return ft_fault_is(FT_FAULT_NO_JOIN) || ft_fault_is(FT_FAULT_NO_BETWEEN) ||
           ft_fault_is(FT_FAULT_NO_BARRIER);
}

bool ft_domains_prove(ft_domains *d, const ft_claim *claim)
{
    FT_REQUIRE(d && claim);
    uint32_t e = claim->events[0], first = (uint32_t)d->nodes.len;
    if (claim->kind != FT_CLAIM_ASSERTION && claim->kind != FT_CLAIM_CONDITION) return false;
    if (is_faulty()) return false;
    ft_term term = claim->kind == FT_CLAIM_CONDITION ? claim->condition
                                                     : ft_trace_action(d->p->trace, e)->guard;
    uint32_t number = add_node(d, (node){.term = term});
    bind_term(d, number, (place){e, ft_order_previous(d->p->order, e)}, true);
    if (d->too_large) return false;
    close_all(d, first);
    return each_value(d, &d->nodes.data[number], is_true, NULL);
}
