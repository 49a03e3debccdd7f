#include "values/fixed.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"
#include "term/term.h"

enum { MOST_VALUES = 16, MOST_SYMBOLS = 4, MOST_ROUNDS = 64, MOST_EVENTS = 1 << 20 };

typedef struct set {
    bool any;
    uint32_t n;
    uint64_t bits[MOST_VALUES];
} set;

/* A condition over one local. */
typedef struct assumed {
    ft_term condition;
    ft_symbol symbol;
} assumed;

/* A local of a thread, where it is assigned once, by a read of a shared variable. */
typedef struct local {
    uint32_t event;    /* the read; FT_NO_EVENT: not such a local */
    uint32_t variable; /* read */
    uint32_t stretch;  /* number, in its thread, of the stretch between waits that the read is in */
    uint32_t first;    /* the local that an earlier read left the same value in; else itself */
    FT_VEC(assumed) assumed; /* in that stretch, of this one or of one that has it as `first` */
} local;

typedef struct finder {
    const ft_problem *problem;
    const ft_trace *trace;
    set *variables; /* the values that each can hold */
    FT_VEC(local) locals;
    ft_map at;      /* thread << 32 | local -> index in locals */
    ft_map latest;  /* thread << 32 | variable -> index of the thread's last read of it, + 1; 0: it
                       has written it since */
    ft_map guarded; /* lockset << 32 | variable -> 1: under these locks no other thread writes it */
    const ft_writes *writes;
    uint32_t first_fork; /* event: before it there is only one thread */
} finder;

/* ---- sets */

static void make_any(set *s)
{
    s->any = true;
    s->n = 0;
}

static bool add(set *s, uint64_t bits)
{
    if (s->any) return false;
    for (uint32_t i = 0; i < s->n; i++)
        if (s->bits[i] == bits) return false;
    if (s->n == MOST_VALUES)
        make_any(s);
    else
        s->bits[s->n++] = bits;
    return true;
}

static bool add_all(set *to, const set *from)
{
    bool fresh = from->any && !to->any;
    if (from->any) make_any(to);
    for (uint32_t i = 0; i < from->n; i++) fresh |= add(to, from->bits[i]);
    return fresh;
}

/* ---- terms over the values of their symbols */

typedef struct valuation {
    const finder *f;
    uint32_t n;
    bool too_many;
    ft_symbol symbols[MOST_SYMBOLS];
    uint64_t bits[MOST_SYMBOLS];
} valuation;

static void add_symbol(void *context, ft_symbol symbol)
{
    valuation *v = context;
    if (v->n == MOST_SYMBOLS)
        v->too_many = true;
    else
        v->symbols[v->n++] = symbol;
}

static bool look_up(void *context, ft_symbol symbol, ft_value *value)
{
    const valuation *v = context;
    uint32_t id = FT_SYM_INDEX(symbol);
    value->sort = FT_SYM_IS_LOCAL(symbol) ? v->f->trace->local_info[id].sort
                                          : v->f->trace->shared_info[id].sort;
    for (uint32_t i = 0; i < v->n; i++) {
        if (v->symbols[i] != symbol) continue;
        value->bits = v->bits[i];
        return true;
    }
    return false;
}

static const local *find_local(const finder *f, uint32_t thread, uint32_t id)
{
    uint64_t at;
    bool known = ft_map_get(&f->at, (uint64_t)thread << 32 | id, &at);
    const local *one = known ? &f->locals.data[at] : NULL;
    return one && one->event != FT_NO_EVENT ? one : NULL;
}

/* The values of the local that satisfy what its thread assumes of it. */
static set values_of_local(const finder *f, const local *one)
{
    set found = f->variables[one->variable];
    const local *first = &f->locals.data[one->first];
    if (found.any) return found;
    for (size_t a = 0; a < first->assumed.len; a++) {
        const assumed *that = &first->assumed.data[a];
        valuation v = {.f = f, .n = 1, .symbols = {that->symbol}};
        uint32_t kept = 0;
        for (uint32_t i = 0; i < found.n; i++) {
            ft_value holds;
            v.bits[0] = found.bits[i];
            bool known =
                ft_term_eval(f->trace->terms, that->condition, look_up, &v, &holds) == FT_EVAL_OK;
            if (!known || holds.bits) found.bits[kept++] = found.bits[i];
        }
        found.n = kept;
    }
    return found;
}

/* A local that event e itself reads from the variable. */
static const ft_assignment *reader_of(const finder *f, uint32_t e, ft_symbol variable)
{
    const ft_action *action = ft_trace_action(f->trace, e);
    for (uint32_t i = 0; i < action->n_assignments; i++) {
        const ft_assignment *one = &action->assignments[i];
        ft_term_node node = ft_term_get(f->trace->terms, one->term);
        if (FT_SYM_IS_LOCAL(one->target) && node.op == FT_OP_SYMBOL && node.symbol == variable)
            return one;
    }
    return NULL;
}

static set values_of(const finder *f, uint32_t e, ft_symbol symbol)
{
    uint32_t thread = f->trace->thread[e];
    if (!FT_SYM_IS_LOCAL(symbol)) {
        const ft_assignment *reader = reader_of(f, e, symbol);
        if (!reader) return f->variables[FT_SYM_INDEX(symbol)];
        symbol = reader->target;
    }
    const local *one = find_local(f, thread, FT_SYM_INDEX(symbol));
    return one ? values_of_local(f, one) : (set){.any = true};
}

/* The possible values of the term of event e, over the combinations of its symbols' values. */
static set values_of_term(const finder *f, uint32_t e, ft_term term)
{
    set of[MOST_SYMBOLS], made = {0};
    valuation v = {.f = f};
    uint64_t combinations = 1;
    ft_term_symbols(f->trace->terms, term, add_symbol, &v);
    bool any = v.too_many;
    for (uint32_t i = 0; i < v.n && !any; i++) {
        of[i] = values_of(f, e, v.symbols[i]);
        any = of[i].any;
        combinations *= of[i].n;
    }
    if (any || combinations > MOST_VALUES * MOST_VALUES) return (set){.any = true};
    for (uint64_t c = 0; c < combinations; c++) {
        uint64_t rest = c;
        ft_value value;
        for (uint32_t i = 0; i < v.n; rest /= of[i++].n) v.bits[i] = of[i].bits[rest % of[i].n];
        if (ft_term_eval(f->trace->terms, term, look_up, &v, &value) == FT_EVAL_OK)
            add(&made, value.bits);
        else
            make_any(&made);
    }
    return made;
}

/* ---- what threads read and assume */

static uint32_t local_at(finder *f, uint32_t thread, ft_symbol symbol)
{
    bool fresh;
    uint64_t key = (uint64_t)thread << 32 | FT_SYM_INDEX(symbol);
    uint64_t at = *ft_map_slot(&f->at, key, f->locals.len, &fresh);
    if (fresh) ft_vec_push(&f->locals, (local){.event = FT_NO_EVENT});
    return (uint32_t)at;
}

static bool find_guarded(const finder *f, uint32_t variable, uint32_t lockset)
{
    for (uint32_t i = f->writes->first[variable]; i < f->writes->first[variable + 1]; i++) {
        uint32_t w = f->writes->events[i], other = ft_order_lockset(f->problem->order, w);
        if (w >= f->first_fork &&
            ft_order_common_lock(f->problem->order, lockset, other) == UINT32_MAX)
            return false;
    }
    return true;
}

/* Does event e hold locks under which no other thread writes the variable? */
static bool is_guarded(finder *f, uint32_t e, uint32_t variable)
{
    bool fresh;
    uint32_t lockset = ft_order_lockset(f->problem->order, e);
    uint64_t *known = ft_map_slot(&f->guarded, (uint64_t)lockset << 32 | variable, 0, &fresh);
    if (fresh) *known = find_guarded(f, variable, lockset);
    return *known;
}

/* A read finds what the thread's last read found, if both are in one stretch under such locks. */
static void note_read(finder *f, uint32_t e, uint32_t at)
{
    local *one = &f->locals.data[at];
    uint64_t key = (uint64_t)f->trace->thread[e] << 32 | one->variable;
    uint64_t *latest = ft_map_slot(&f->latest, key, 0, NULL);
    const local *before = *latest ? &f->locals.data[*latest - 1] : NULL;
    bool same = before && before->event != FT_NO_EVENT && before->stretch == one->stretch &&
                is_guarded(f, e, one->variable);
    if (same) one->first = before->first;
    *latest = at + 1;
}

/* A second assignment makes it no such local. */
static void note_assignment(finder *f, uint32_t e, const ft_assignment *assignment,
                            uint32_t stretch)
{
    size_t before = f->locals.len;
    uint32_t at = local_at(f, f->trace->thread[e], assignment->target);
    local *one = &f->locals.data[at];
    ft_term_node node = ft_term_get(f->trace->terms, assignment->term);
    bool reads = node.op == FT_OP_SYMBOL && !FT_SYM_IS_LOCAL(node.symbol);
    bool fresh = f->locals.len != before;
    one->event = fresh && reads ? e : FT_NO_EVENT;
    one->stretch = stretch;
    if (!reads) return;
    one->variable = FT_SYM_INDEX(node.symbol);
    one->first = at;
    if (fresh) note_read(f, e, at);
}

static void note_write(finder *f, uint32_t e, uint32_t variable)
{
    ft_map_put(&f->latest, (uint64_t)f->trace->thread[e] << 32 | variable, 0);
}

static void note_assume(finder *f, uint32_t e, uint32_t stretch)
{
    const ft_action *action = ft_trace_action(f->trace, e);
    valuation v = {.f = f};
    uint64_t at;
    ft_term_symbols(f->trace->terms, action->guard, add_symbol, &v);
    if (v.n != 1 || v.too_many || !FT_SYM_IS_LOCAL(v.symbols[0])) return;
    uint64_t key = (uint64_t)f->trace->thread[e] << 32 | FT_SYM_INDEX(v.symbols[0]);
    if (!ft_map_get(&f->at, key, &at)) return;
    local *one = &f->locals.data[at];
    if (one->event != FT_NO_EVENT && one->stretch == stretch)
        ft_vec_push(&f->locals.data[one->first].assumed, (assumed){action->guard, v.symbols[0]});
}

/* Events between which a thread is never at rest. */
static bool goes_on(const ft_trace *trace, uint32_t e)
{
    uint8_t kind = trace->kind[e];
    return ft_event_kind_object((ft_event_kind)kind) == FT_OBJECT_VARIABLE ||
           kind == FT_EVENT_ASSIGN || kind == FT_EVENT_ASSUME || kind == FT_EVENT_ASSERT;
}

static void read_threads(finder *f)
{
    uint32_t *stretches = ft_calloc((size_t)f->trace->threads.len + 1, sizeof *stretches);
    for (uint32_t e = 0; e < f->trace->n_events; e++) {
        uint32_t *stretch = &stretches[f->trace->thread[e]];
        const ft_action *action = ft_trace_action(f->trace, e);
        *stretch += !goes_on(f->trace, e);
        if (f->trace->kind[e] == FT_EVENT_ASSUME) note_assume(f, e, *stretch);
        if (f->trace->kind[e] == FT_EVENT_WRITE || f->trace->kind[e] == FT_EVENT_RMW)
            note_write(f, e, f->trace->object[e]);
        if (f->trace->kind[e] != FT_EVENT_ASSIGN) continue;
        for (uint32_t i = 0; i < action->n_assignments; i++)
            if (FT_SYM_IS_LOCAL(action->assignments[i].target))
                note_assignment(f, e, &action->assignments[i], *stretch);
        for (uint32_t i = 0; i < action->n_assignments; i++)
            if (!FT_SYM_IS_LOCAL(action->assignments[i].target))
                note_write(f, e, FT_SYM_INDEX(action->assignments[i].target));
    }
    free(stretches);
}

/* ---- what variables hold */

/* Initial values, and writes that are not symbolic. Memory that is allocated holds anything. */
static void add_constants(finder *f)
{
    const ft_trace *trace = f->trace;
    const ft_run *run = f->problem->run;
    for (uint32_t v = 0; v < trace->shared.len; v++) {
        ft_vid vid = ft_run_initial_vid(run, v);
        if (FT_VID_IS_KNOWN(vid))
            add(&f->variables[v], ft_run_value(run, vid).bits);
        else
            make_any(&f->variables[v]);
    }
    for (uint32_t e = 0; e < trace->n_events; e++) {
        uint8_t kind = trace->kind[e];
        if (kind == FT_EVENT_ALLOC) {
            const ft_block_cells *cells = &trace->block_cells[trace->object[e]];
            for (uint32_t i = 0; i < cells->count; i++)
                make_any(&f->variables[cells->variables[i]]);
        }
        if (kind != FT_EVENT_WRITE && kind != FT_EVENT_RMW) continue;
        ft_vid vid = ft_run_vid(run, e, kind == FT_EVENT_RMW ? 1 : 0);
        if (FT_VID_IS_KNOWN(vid))
            add(&f->variables[trace->object[e]], ft_run_value(run, vid).bits);
        else
            make_any(&f->variables[trace->object[e]]);
    }
}

static bool add_symbolic(finder *f)
{
    bool fresh = false;
    for (uint32_t e = 0; e < f->trace->n_events; e++) {
        const ft_action *action = ft_trace_action(f->trace, e);
        if (f->trace->kind[e] != FT_EVENT_ASSIGN) continue;
        for (uint32_t i = 0; i < action->n_assignments; i++) {
            const ft_assignment *one = &action->assignments[i];
            if (FT_SYM_IS_LOCAL(one->target)) continue;
            set *variable = &f->variables[FT_SYM_INDEX(one->target)];
            if (variable->any) continue;
            set made = values_of_term(f, e, one->term);
            fresh |= add_all(variable, &made);
        }
    }
    return fresh;
}

/* ---- which events */

static bool is_as_in_run(const finder *f, uint32_t e, const ft_assignment *one)
{
    bool writes = !FT_SYM_IS_LOCAL(one->target);
    ft_term_node node = ft_term_get(f->trace->terms, one->term);
    bool reads = node.op == FT_OP_SYMBOL && !FT_SYM_IS_LOCAL(node.symbol);
    if (!writes && !reads) return true; /* computed: it accesses nothing */
    uint32_t variable = FT_SYM_INDEX(writes ? one->target : node.symbol);
    uint32_t i = ft_run_find_access(f->trace, e, variable, writes);
    ft_vid vid = i == UINT32_MAX ? FT_VID_UNKNOWN : ft_run_vid(f->problem->run, e, i);
    set found = values_of_term(f, e, one->term);
    return FT_VID_IS_KNOWN(vid) && !found.any && found.n == 1 &&
           found.bits[0] == ft_run_value(f->problem->run, vid).bits;
}

static bool is_fixed(const finder *f, uint32_t e)
{
    const ft_action *action = ft_trace_action(f->trace, e);
    if (f->trace->kind[e] != FT_EVENT_ASSIGN || ft_trace_reaches_one_of(f->trace, e)) return false;
    for (uint32_t i = 0; i < action->n_accesses; i++) {
        const ft_access *access = &action->accesses[i];
        if (!access->write && !reader_of(f, e, FT_SYM_SHARED(access->variable))) return false;
    }
    for (uint32_t i = 0; i < action->n_assignments; i++)
        if (!is_as_in_run(f, e, &action->assignments[i])) return false;
    return true;
}

static bool serves(const ft_problem *p)
{
    return p->model == FT_MODEL_CTP && ft_run_symbolic(p->run) && !p->trace->n_paths &&
           p->trace->n_events <= MOST_EVENTS;
}

/* Up to there one thread runs alone, if each of the others is forked; else 0. */
static uint32_t find_first_fork(const ft_trace *trace)
{
    uint32_t first = 0, forks = 0;
    for (uint32_t e = 0; e < trace->n_events; e++) {
        if (trace->kind[e] != FT_EVENT_FORK) continue;
        if (!forks++) first = e;
    }
    return forks + 1 == trace->threads.len ? first : 0;
}

uint64_t *ft_fixed_find(const ft_problem *problem, const ft_writes *writes)
{
    if (!serves(problem)) return NULL;
    const ft_trace *trace = problem->trace;
    finder f = {
        .problem = problem, .trace = trace, .writes = writes, .first_fork = find_first_fork(trace)};
    f.variables = ft_calloc((size_t)trace->shared.len + 1, sizeof *f.variables);
    uint64_t *fixed = ft_calloc((size_t)trace->n_events / 64 + 1, sizeof *fixed);
    uint32_t rounds = 0;
    read_threads(&f);
    add_constants(&f);
    while (rounds < MOST_ROUNDS && add_symbolic(&f)) rounds++;
    for (uint32_t e = 0; e < trace->n_events && rounds < MOST_ROUNDS; e++)
        if (is_fixed(&f, e)) fixed[e / 64] |= UINT64_C(1) << e % 64;
    for (size_t i = 0; i < f.locals.len; i++) ft_vec_release(&f.locals.data[i].assumed);
    ft_vec_release(&f.locals);
    ft_map_release(&f.at);
    ft_map_release(&f.latest);
    ft_map_release(&f.guarded);
    free(f.variables);
    return fixed;
}
