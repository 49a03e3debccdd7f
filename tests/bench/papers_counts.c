#include "bench/papers_counts.h"

#include <stdlib.h>
#include <string.h>

#include "causality/causality.h"
#include "order/order.h"

/* Counted event by event and apart from worker/candidate, whose numbers are printed beside. The
 * graph is asked about what locks and order leave: it contains both. */

typedef struct touch {
    uint32_t variable, event;
    bool read, write;
} touch;

typedef struct counting {
    const ft_trace *trace;
    ft_order *order;
    ft_run *run;
    ft_problem problem;
    ft_causality *graph;
    FT_VEC(touch) touches; /* one an event and variable, by variable, then event */
    uint32_t *first;       /* [shared + 1] slices of touches */
    ft_counts counts;
} counting;

static int by_variable(const void *left, const void *right)
{
    const touch *a = left, *b = right;
    if (a->variable != b->variable) return a->variable < b->variable ? -1 : 1;
    return (a->event > b->event) - (a->event < b->event);
}

static void collect(counting *k, uint32_t e)
{
    ft_access scratch;
    uint32_t count;
    size_t start = k->touches.len;
    const ft_access *accesses = ft_trace_accesses(k->trace, e, &scratch, &count);
    for (uint32_t i = 0; i < count; i++) {
        size_t at = start;
        while (at < k->touches.len && k->touches.data[at].variable != accesses[i].variable) at++;
        if (at == k->touches.len)
            ft_vec_push(&k->touches, ((touch){accesses[i].variable, e, false, false}));
        k->touches.data[at].read |= !accesses[i].write;
        k->touches.data[at].write |= accesses[i].write;
    }
}

/* Locks and wake-ups: the paper's graph knows nothing of values. */
static void counting_init(counting *k, const ft_trace *trace, ft_model model)
{
    *k = (counting){.trace = trace, .order = ft_order_new(trace), .run = ft_run_new(trace)};
    k->problem = (ft_problem){.trace = trace, .order = k->order, .run = k->run, .model = model};
    k->graph = ft_causality_new(&k->problem, FT_CAUSALITY_LOCKS | FT_CAUSALITY_WAKES);
    k->first = ft_calloc((size_t)trace->shared.len + 1, sizeof *k->first);
    for (uint32_t e = 0; e < trace->n_events; e++) collect(k, e);
    if (k->touches.len)
        qsort(k->touches.data, k->touches.len, sizeof *k->touches.data, by_variable);
    for (size_t i = 0; i < k->touches.len; i++) k->first[k->touches.data[i].variable + 1]++;
    for (uint32_t v = 0; v < trace->shared.len; v++) k->first[v + 1] += k->first[v];
}

static void counting_release(counting *k)
{
    ft_vec_release(&k->touches);
    free(k->first);
    ft_causality_free(k->graph);
    ft_run_free(k->run);
    ft_order_free(k->order);
}

static void tally(counting *k, bool unlocked, bool open, const ft_claim *claim)
{
    k->counts.total++;
    k->counts.lockset += unlocked;
    k->counts.order += open;
    k->counts.causality += unlocked && open && !ft_causality_refutes(k->graph, claim, NULL);
}

/* ---- races ---- */

static bool conflict_at(const touch *a, const touch *b)
{
    return a->variable == b->variable && (a->write || b->write);
}

/* A pair that conflicts on several variables counts at the first of them. */
static bool is_first_conflict(const counting *k, const touch *a, const touch *b)
{
    ft_access sa, sb;
    uint32_t na, nb;
    const ft_access *xa = ft_trace_accesses(k->trace, a->event, &sa, &na);
    const ft_access *xb = ft_trace_accesses(k->trace, b->event, &sb, &nb);
    for (uint32_t i = 0; i < na; i++)
        for (uint32_t j = 0; j < nb; j++)
            if (xa[i].variable == xb[j].variable && (xa[i].write || xb[j].write) &&
                xa[i].variable < a->variable)
                return false;
    return true;
}

static void count_pair(counting *k, const touch *a, const touch *b)
{
    const ft_order *order = k->order;
    bool atomic = k->trace->flags[a->event] & k->trace->flags[b->event] & FT_FLAG_ATOMIC;
    if (k->trace->thread[a->event] == k->trace->thread[b->event] || atomic || !conflict_at(a, b) ||
        !is_first_conflict(k, a, b))
        return;
    uint32_t lock = ft_order_common_lock(order, ft_order_lockset(order, a->event),
                                         ft_order_lockset(order, b->event));
    bool open =
        !ft_order_before(order, a->event, b->event) && !ft_order_before(order, b->event, a->event);
    ft_claim claim = {.kind = FT_CLAIM_RACE,
                      .events = {a->event, b->event, FT_NO_EVENT},
                      .variable = a->variable};
    tally(k, lock == UINT32_MAX, open, &claim);
}

ft_counts ft_counts_race(const ft_trace *trace, ft_model model)
{
    counting k;
    counting_init(&k, trace, model);
    for (size_t i = 0; i < k.touches.len; i++)
        for (size_t j = i + 1; j < k.first[k.touches.data[i].variable + 1]; j++)
            count_pair(&k, &k.touches.data[i], &k.touches.data[j]);
    counting_release(&k);
    return k.counts;
}

/* ---- atomicity ---- */

/* A lock held without a break from the first event to the second, and by the remote one. */
static bool spans(const counting *k, uint32_t first, uint32_t second, uint32_t remote)
{
    const ft_order *order = k->order;
    for (uint32_t lock = 0; lock < k->trace->locks.len; lock++) {
        uint32_t section = ft_order_section_at(order, first, lock);
        if (section != FT_NO_SECTION && section == ft_order_section_at(order, second, lock) &&
            ft_order_section_at(order, remote, lock) != FT_NO_SECTION)
            return true;
    }
    return false;
}

static void count_patterns(counting *k, const touch *first, const touch *remote,
                           const touch *second)
{
    bool unlocked = !spans(k, first->event, second->event, remote->event);
    bool open = !ft_order_before(k->order, remote->event, first->event) &&
                !ft_order_before(k->order, second->event, remote->event);
    for (int bits = 0; bits < 8; bits++) {
        bool w[3] = {bits & 4, bits & 2, bits & 1};
        if (!(w[0] ? first->write : first->read) || !(w[1] ? remote->write : remote->read) ||
            !(w[2] ? second->write : second->read) || !ft_pattern_unserialisable(w[0], w[1], w[2]))
            continue;
        ft_claim claim = {.kind = FT_CLAIM_ATOMICITY,
                          .events = {first->event, remote->event, second->event},
                          .variable = first->variable,
                          .writes = {w[0], w[1], w[2]}};
        tally(k, unlocked, open, &claim);
    }
}

static void count_remotes(counting *k, const touch *first, const touch *second)
{
    uint16_t thread = k->trace->thread[first->event];
    for (uint32_t i = k->first[first->variable]; i < k->first[first->variable + 1]; i++)
        if (k->trace->thread[k->touches.data[i].event] != thread)
            count_patterns(k, first, &k->touches.data[i], second);
}

/* The touches of one variable by the thread's events from `begin` to `end`, in pairs. */
static void count_transaction(counting *k, uint32_t thread, uint32_t begin, uint32_t end)
{
    for (size_t i = 0; i < k->touches.len; i++) {
        const touch *a = &k->touches.data[i];
        if (k->trace->thread[a->event] != thread || a->event < begin || a->event > end) continue;
        for (size_t j = i + 1; j < k->first[a->variable + 1]; j++) {
            const touch *b = &k->touches.data[j];
            if (k->trace->thread[b->event] == thread && b->event <= end) count_remotes(k, a, b);
        }
    }
}

/* How an event changes the depth of transactions: marked ones, else critical sections. */
static int step_of(const ft_trace *trace, uint32_t e, bool marked)
{
    uint8_t kind = trace->kind[e];
    if (marked) return (kind == FT_EVENT_TX_BEGIN) - (kind == FT_EVENT_TX_END);
    if (!ft_order_effective(trace, e)) return 0;
    return (kind == FT_EVENT_ACQUIRE) - (kind == FT_EVENT_RELEASE);
}

static void count_thread(counting *k, uint32_t thread, bool marked)
{
    const ft_order *order = k->order;
    uint32_t begin = 0;
    int depth = 0;
    bool waits = false;
    for (uint32_t i = order->thread_start[thread]; i < order->thread_start[thread + 1]; i++) {
        uint32_t e = order->thread_events[i];
        int step = step_of(k->trace, e, marked);
        if (step == 0) continue;
        if (step > 0 && depth == 0) {
            begin = e;
            waits = false;
        }
        depth += step;
        waits |= !marked && (k->trace->flags[e] & FT_FLAG_CONDITION);
        if (step < 0 && depth == 0 && !waits) count_transaction(k, thread, begin, e);
    }
}

ft_counts ft_counts_atomicity(const ft_trace *trace, ft_model model)
{
    counting k;
    counting_init(&k, trace, model);
    bool marked = memchr(trace->kind, FT_EVENT_TX_BEGIN, trace->n_events) != NULL;
    for (uint32_t t = 0; t < trace->threads.len; t++) count_thread(&k, t, marked);
    counting_release(&k);
    return k.counts;
}
