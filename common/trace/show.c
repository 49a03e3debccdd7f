#include "trace/show.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"

enum {
    MOST_STEPS = 8
}; /* assignments that are followed from a term to where its values are read */

/* An event that assigns a local. */
typedef struct definition {
    uint64_t place; /* thread << 32 | local */
    uint32_t event;
    ft_term term;
} definition;

struct ft_show {
    const ft_trace *trace;
    bool recorded;                  /* its locals are the recorder's */
    bool collected;                 /* definitions holds all of them */
    FT_VEC(definition) definitions; /* ascending by place, then by event */
};

ft_show *ft_show_new(const ft_trace *trace)
{
    FT_REQUIRE(trace);
    ft_show *show = ft_calloc(1, sizeof *show);
    show->trace = trace;
    show->recorded = trace->n_modules > 0;
    return show;
}

void ft_show_free(ft_show *show)
{
    if (!show) return;
    ft_vec_release(&show->definitions);
    free(show);
}

/* ---- where locals come from ------------------------------------------------------------------ */

static uint64_t place_of(uint32_t thread, ft_symbol symbol)
{
    return (uint64_t)thread << 32 | FT_SYM_INDEX(symbol);
}

static int by_place(const void *a, const void *b)
{
    const definition *x = a, *y = b;
    if (x->place != y->place) return x->place < y->place ? -1 : 1;
    return x->event < y->event ? -1 : x->event > y->event;
}

static void collect(ft_show *show)
{
    const ft_trace *trace = show->trace;
    if (show->collected) return;
    show->collected = true;
    for (uint32_t e = 0; e < trace->n_events; e++) {
        if (trace->kind[e] != FT_EVENT_ASSIGN) continue;
        const ft_action *action = ft_trace_action(trace, e);
        for (uint32_t i = 0; i < action->n_assignments; i++) {
            const ft_assignment *one = &action->assignments[i];
            if (!FT_SYM_IS_LOCAL(one->target)) continue;
            definition d = {place_of(trace->thread[e], one->target), e, one->term};
            ft_vec_push(&show->definitions, d);
        }
    }
    if (show->definitions.len)
        qsort(show->definitions.data, show->definitions.len, sizeof(definition), by_place);
}

/* Does whoever comes to `path` pass through the arm `above`? */
static bool is_around(const ft_trace *trace, uint32_t above, uint32_t path)
{
    while (path > above) path = trace->paths[path].parent;
    return path == above;
}

/* The last assignment of the local before e in its thread; NULL: none, or one of several arms. */
static const definition *find_definition(ft_show *show, uint32_t e, ft_symbol symbol)
{
    const ft_trace *trace = show->trace;
    uint64_t place = place_of(trace->thread[e], symbol);
    collect(show);
    size_t low = 0, high = show->definitions.len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const definition *d = &show->definitions.data[middle];
        if (d->place < place || (d->place == place && d->event < e))
            low = middle + 1;
        else
            high = middle;
    }
    const definition *found = low ? &show->definitions.data[low - 1] : NULL;
    if (!found || found->place != place) return NULL;
    assert(found->event < e);
    return is_around(trace, ft_trace_path(trace, found->event), ft_trace_path(trace, e)) ? found
                                                                                         : NULL;
}

/* ---- terms ----------------------------------------------------------------------------------- */

/* A term where it stands: in event e, so many assignments away from what is shown. */
typedef struct standing {
    ft_show *show;
    uint32_t e;
    unsigned steps;
} standing;

static void add_name(void *context, ft_symbol symbol, ft_rank rank, ft_strbuf *out);
static ft_look look_of(void *context, ft_symbol symbol);

static ft_infix names_at(standing *s)
{
    return (ft_infix){.name = add_name, .look = look_of, .context = s};
}

/* The definition that replaces the local in a recorded trace; else NULL. */
static const definition *replacement(const standing *s, ft_symbol symbol)
{
    bool replaced = s->show->recorded && FT_SYM_IS_LOCAL(symbol) && s->steps < MOST_STEPS;
    return replaced ? find_definition(s->show, s->e, symbol) : NULL;
}

static const char *plain_name(const ft_show *show, ft_symbol symbol)
{
    const ft_intern *table = FT_SYM_IS_LOCAL(symbol) ? &show->trace->locals : &show->trace->shared;
    FT_REQUIRE(FT_SYM_INDEX(symbol) < table->len);
    return table->names[FT_SYM_INDEX(symbol)];
}

/* "(a or b)": the variables of an access by a computed address. */
static void add_reachable(const ft_trace *trace, uint32_t e, ft_strbuf *out)
{
    const ft_action *action = ft_trace_action(trace, e);
    bool writes = false, first = true;
    for (uint32_t i = 0; i < action->n_accesses; i++) writes |= action->accesses[i].write;
    for (uint32_t i = 0; i < action->n_accesses; i++) {
        if (action->accesses[i].write != writes) continue;
        ft_strbuf_puts(out, first ? "(" : " or ");
        ft_strbuf_puts(out, trace->shared.names[action->accesses[i].variable]);
        first = false;
    }
    ft_strbuf_puts(out, ")");
}

static void add_name(void *context, ft_symbol symbol, ft_rank rank, ft_strbuf *out)
{
    standing *s = context;
    const definition *d = replacement(s, symbol);
    if (!d) {
        ft_strbuf_puts(out, plain_name(s->show, symbol));
        return;
    }
    if (ft_trace_reaches_one_of(s->show->trace, d->event)) {
        add_reachable(s->show->trace, d->event, out);
        return;
    }
    standing there = {s->show, d->event, s->steps + 1};
    ft_infix names = names_at(&there);
    ft_infix_print(s->show->trace->terms, d->term, &names, rank, out);
}

static ft_look look_of(void *context, ft_symbol symbol)
{
    standing *s = context;
    if (!FT_SYM_IS_LOCAL(symbol))
        return ft_type_look((ft_type)s->show->trace->shared_info[symbol].type);
    const definition *d = replacement(s, symbol);
    if (!d) return FT_LOOK_NONE;
    standing there = {s->show, d->event, s->steps + 1};
    ft_infix names = names_at(&there);
    return ft_infix_look(s->show->trace->terms, d->term, &names);
}

void ft_show_term(ft_show *show, uint32_t e, ft_term term, ft_rank rank, ft_strbuf *out)
{
    FT_REQUIRE(show && e < show->trace->n_events);
    standing at = {show, e, 0};
    ft_infix names = names_at(&at);
    ft_infix_print(show->trace->terms, term, &names, rank, out);
}

void ft_show_value(const ft_show *show, uint32_t variable, ft_value value, ft_strbuf *out)
{
    FT_REQUIRE(show && variable < show->trace->shared.len);
    ft_type_print((ft_type)show->trace->shared_info[variable].type, value, out);
}

/* ---- why a condition is false ---------------------------------------------------------------- */

typedef struct known_symbols {
    const ft_symbol_value *symbols;
    uint32_t n;
} known_symbols;

static bool find_value(void *context, ft_symbol symbol, ft_value *value)
{
    const known_symbols *known = context;
    for (uint32_t i = 0; i < known->n; i++) {
        if (known->symbols[i].symbol != symbol) continue;
        *value = known->symbols[i].value;
        return known->symbols[i].known;
    }
    return false;
}

/* One side of the comparison, as a number. */
static bool add_side(ft_show *show, uint32_t e, ft_term side, ft_look otherwise,
                     known_symbols *known, ft_strbuf *out)
{
    ft_value value;
    standing at = {show, e, 0};
    ft_infix names = names_at(&at);
    if (ft_term_eval(show->trace->terms, side, find_value, known, &value) != FT_EVAL_OK)
        return false;
    ft_look look = ft_infix_look(show->trace->terms, side, &names);
    ft_look_print(look == FT_LOOK_NONE ? otherwise : look, value, out);
    return true;
}

/* " (320 == 300)", where that says more than the term and the values do. */
static void add_comparison(ft_show *show, uint32_t e, ft_term condition, known_symbols *known,
                           ft_strbuf *out)
{
    const ft_term_pool *pool = show->trace->terms;
    ft_term_node node = ft_term_get(pool, condition);
    bool negated = node.op == FT_OP_NOT;
    if (negated) node = ft_term_get(pool, condition = node.children[0]);
    const char *sign = ft_infix_comparison(pool, condition, negated);
    if (!sign) return;
    ft_strbuf text = {0};
    standing at = {show, e, 0};
    ft_infix names = names_at(&at);
    ft_look left = ft_infix_look(pool, node.children[0], &names),
            right = ft_infix_look(pool, node.children[1], &names);
    ft_strbuf_puts(&text, " (");
    bool whole = add_side(show, e, node.children[0], right, known, &text);
    ft_strbuf_printf(&text, " %s ", sign);
    whole = whole && add_side(show, e, node.children[1], left, known, &text);
    ft_strbuf_puts(&text, ")");
    bool plain = ft_term_get(pool, node.children[0]).n_children == 0 &&
                 ft_term_get(pool, node.children[1]).n_children == 0;
    if (whole && !plain) ft_strbuf_puts(out, text.text);
    ft_strbuf_release(&text);
}

static void add_symbol_value(standing *at, const ft_symbol_value *one, ft_strbuf *out)
{
    ft_strbuf_puts(out, " = ");
    if (FT_SYM_IS_LOCAL(one->symbol))
        ft_look_print(look_of(at, one->symbol), one->value, out);
    else
        ft_show_value(at->show, one->symbol, one->value, out);
}

/* A variable that was read twice is there twice: each with the place of its read. */
static void add_place(standing *at, ft_symbol symbol, ft_strbuf *out)
{
    const ft_trace *trace = at->show->trace;
    const definition *d = replacement(at, symbol);
    const char *text = d ? ft_trace_location_text(trace, trace->loc[d->event]) : NULL;
    if (text) ft_strbuf_printf(out, " at %s", text);
}

static bool is_named_twice(standing *at, const ft_symbol_value *symbols, uint32_t n, uint32_t i)
{
    ft_strbuf one = {0}, other = {0};
    bool twice = false;
    add_name(at, symbols[i].symbol, FT_RANK_CHOICE, &one);
    for (uint32_t k = 0; k < n && !twice; k++) {
        ft_strbuf_clear(&other);
        add_name(at, symbols[k].symbol, FT_RANK_CHOICE, &other);
        twice = k != i && strcmp(ft_strbuf_text(&one), ft_strbuf_text(&other)) == 0;
    }
    ft_strbuf_release(&one);
    ft_strbuf_release(&other);
    return twice;
}

void ft_show_values(ft_show *show, uint32_t e, ft_term condition, const ft_symbol_value *symbols,
                    uint32_t n, ft_strbuf *out)
{
    enum { MOST = 8 };
    FT_REQUIRE(show && e < show->trace->n_events);
    known_symbols known = {symbols, n};
    standing at = {show, e, 0};
    uint32_t shown = 0, most = n < MOST ? n : MOST;
    for (uint32_t i = 0; i < most; i++) {
        if (!symbols[i].known) continue;
        ft_strbuf_puts(out, shown++ ? ", " : " with ");
        add_name(&at, symbols[i].symbol, FT_RANK_CHOICE, out);
        if (is_named_twice(&at, symbols, most, i)) add_place(&at, symbols[i].symbol, out);
        add_symbol_value(&at, &symbols[i], out);
    }
    if (shown) add_comparison(show, e, condition, &known, out);
}

/* ---- events ---------------------------------------------------------------------------------- */

static void add_known(const ft_show *show, uint32_t variable, uint32_t value, ft_strbuf *out)
{
    if (value == FT_NO_VALUE)
        ft_strbuf_puts(out, "?");
    else
        ft_show_value(show, variable, show->trace->values[value], out);
}

static void show_access(const ft_show *show, uint32_t e, bool valued, ft_strbuf *out)
{
    const ft_trace *trace = show->trace;
    ft_strbuf_printf(out, "%s %s", ft_event_kind_name(trace->kind[e]),
                     trace->shared.names[trace->object[e]]);
    if (!valued || trace->data[e] == FT_NO_VALUE) return;
    ft_strbuf_puts(out, " = ");
    add_known(show, trace->object[e], trace->data[e], out);
}

static void show_update(const ft_show *show, uint32_t e, ft_strbuf *out)
{
    const ft_update *update = &show->trace->updates[show->trace->data[e]];
    uint32_t variable = show->trace->object[e];
    ft_strbuf_printf(out, "rmw %s", show->trace->shared.names[variable]);
    if (update->read == FT_NO_VALUE && update->written == FT_NO_VALUE) return;
    ft_strbuf_puts(out, " = ");
    add_known(show, variable, update->read, out);
    ft_strbuf_puts(out, " -> ");
    add_known(show, variable, update->written, out);
}

/* The one assignment of an event that reads or writes one shared variable and does nothing else, as
 * recorded programs have them; NULL: it is not such an event. */
static const ft_assignment *single_access(const ft_show *show, uint32_t e)
{
    const ft_action *action = ft_trace_action(show->trace, e);
    bool single = show->recorded && show->trace->kind[e] == FT_EVENT_ASSIGN &&
                  action->guard == FT_NO_TERM && action->n_assignments == 1 &&
                  action->n_accesses == 1;
    return single ? &action->assignments[0] : NULL;
}

/* The term that is written; a constant is shown as the value already. */
static void show_single(ft_show *show, uint32_t e, const ft_assignment *one, ft_strbuf *out)
{
    const ft_trace *trace = show->trace;
    const ft_access *access = &ft_trace_action(trace, e)->accesses[0];
    ft_strbuf_printf(out, "%s %s", access->write ? "write" : "read",
                     trace->shared.names[access->variable]);
    if (!access->write || ft_term_get(trace->terms, one->term).op == FT_OP_LITERAL) return;
    ft_strbuf_puts(out, " (");
    ft_show_term(show, e, one->term, FT_RANK_CHOICE, out);
    ft_strbuf_puts(out, ")");
}

static void show_assignments(ft_show *show, uint32_t e, const ft_action *action, ft_strbuf *out)
{
    bool first = true, shared = false;
    for (uint32_t i = 0; i < action->n_assignments; i++)
        shared |= !FT_SYM_IS_LOCAL(action->assignments[i].target);
    for (uint32_t i = 0; i < action->n_assignments; i++) {
        const ft_assignment *one = &action->assignments[i];
        bool local = FT_SYM_IS_LOCAL(one->target), hidden = show->recorded && local;
        if (hidden && shared) continue;
        ft_strbuf_puts(out, first ? "" : ", ");
        if (hidden) ft_strbuf_puts(out, "read ");
        if (!hidden) ft_strbuf_printf(out, "%s := ", plain_name(show, one->target));
        ft_show_term(show, e, one->term, FT_RANK_CHOICE, out);
        first = false;
    }
    if (first) ft_strbuf_puts(out, "skip");
    if (action->guard == FT_NO_TERM) return;
    ft_strbuf_puts(out, " if ");
    ft_show_term(show, e, action->guard, FT_RANK_CHOICE, out);
}

/* An access by a computed address. */
static void show_reaching(ft_show *show, uint32_t e, const ft_action *action, ft_strbuf *out)
{
    bool reads = false, writes = false;
    for (uint32_t i = 0; i < action->n_assignments; i++) {
        bool local = FT_SYM_IS_LOCAL(action->assignments[i].target);
        reads |= local;
        writes |= !local;
    }
    ft_strbuf_puts(out, reads && writes ? "update " : reads ? "read " : "write ");
    add_reachable(show->trace, e, out);
}

static void show_assertion(ft_show *show, uint32_t e, const ft_action *action, ft_strbuf *out)
{
    const char *source = show->trace->locations[show->trace->loc[e]].asserted;
    ft_strbuf_puts(out, "assert(");
    if (source)
        ft_strbuf_puts(out, source);
    else
        ft_show_term(show, e, action->guard, FT_RANK_CHOICE, out);
    ft_strbuf_puts(out, ")");
}

static void show_action(ft_show *show, uint32_t e, ft_strbuf *out)
{
    const ft_action *action = ft_trace_action(show->trace, e);
    const ft_assignment *single = single_access(show, e);
    if (single) {
        show_single(show, e, single, out);
    } else if (show->recorded && ft_trace_reaches_one_of(show->trace, e)) {
        show_reaching(show, e, action, out);
    } else if (show->trace->kind[e] == FT_EVENT_ASSIGN) {
        show_assignments(show, e, action, out);
    } else if (show->trace->kind[e] == FT_EVENT_ASSERT) {
        show_assertion(show, e, action, out);
    } else {
        ft_strbuf_printf(out, "%s ", ft_event_kind_name(show->trace->kind[e]));
        ft_show_term(show, e, action->guard, FT_RANK_CHOICE, out);
    }
}

static void show_prefix(const ft_trace *trace, uint32_t e, ft_strbuf *out)
{
    uint8_t flags = trace->flags[e], kind = trace->kind[e];
    bool aside = (flags & FT_FLAG_SYNTHETIC) && ft_event_kind_may_stand_aside(kind);
    bool atomic = (flags & FT_FLAG_ATOMIC) && kind != FT_EVENT_RMW;
    if (aside && kind != FT_EVENT_WRITE && !ft_trace_reaches_one_of(trace, e))
        ft_strbuf_puts(out, "ignored ");
    if (atomic) ft_strbuf_puts(out, "atomic ");
    if (aside && kind == FT_EVENT_WRITE) ft_strbuf_puts(out, "external ");
}

static bool forks_process(const ft_trace *trace, uint32_t e)
{
    static const char begin[] = FT_EDGE_PROCESS " ";
    if (trace->kind[e] != FT_EVENT_EDGE_OUT) return false;
    const char *name = trace->edges.names[trace->object[e]];
    if (strncmp(name, begin, sizeof begin - 1) != 0) return false;
    name += sizeof begin - 1;
    return name[strspn(name, "0123456789")] == '.';
}

static void print(ft_show *show, uint32_t e, bool valued, ft_strbuf *out)
{
    FT_REQUIRE(show && e < show->trace->n_events);
    const ft_trace *trace = show->trace;
    bool symbolic = ft_trace_is_symbolic_event(trace, e);
    if (forks_process(trace, e)) {
        ft_strbuf_puts(out, "fork a process");
        return;
    }
    if (!symbolic && ft_event_kind_object(trace->kind[e]) != FT_OBJECT_VARIABLE) {
        ft_trace_print_event(trace, e, out);
        return;
    }
    show_prefix(trace, e, out);
    if (symbolic)
        show_action(show, e, out);
    else if (trace->kind[e] == FT_EVENT_RMW)
        show_update(show, e, out);
    else
        show_access(show, e, valued, out);
}

void ft_show_event(ft_show *show, uint32_t e, ft_strbuf *out)
{
    print(show, e, true, out);
}

void ft_show_step(ft_show *show, uint32_t e, ft_strbuf *out)
{
    print(show, e, false, out);
}
