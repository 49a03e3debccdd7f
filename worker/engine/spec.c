#include "engine/spec.h"

#include <stdlib.h>
#include <string.h>

#include "engine/passes.h"

static const char *const PROPERTY_NAMES[] = {
#define FT_ROW(symbol, name, doc) name,
    FT_PROPERTY_TABLE(FT_ROW)
#undef FT_ROW
};

const char *ft_property_kind_name(ft_property_kind kind)
{
    return PROPERTY_NAMES[kind];
}

typedef struct parser {
    ft_trace *trace;
    ft_spec *spec;
    uint32_t property; /* index of the property being read, for messages */
    ft_error *err;
} parser;

static ft_status wrong(parser *p, const char *member, const char *what)
{
    return ft_error_set(p->err, FT_USAGE, "/properties/%u/%s: %s", p->property, member, what);
}

/* ---- members of a property ---- */

static ft_status location_member(parser *p, const json_t *value, const char *member, uint32_t *loc)
{
    const char *text = json_string_value(value);
    if (!text) return wrong(p, member, "must be a location such as \"file.c:12\"");
    for (uint32_t i = 1; i < p->trace->n_locations; i++)
        if (strcmp(p->trace->locations[i].text, text) == 0) {
            *loc = i;
            return FT_OK;
        }
    return ft_error_set(p->err, FT_USAGE, "/properties/%u/%s: no event of the trace is at `%s'",
                        p->property, member, text);
}

/* The same text with another function is another location id: compare texts. */
static bool is_at(const ft_trace *trace, uint32_t e, uint32_t loc)
{
    uint32_t at = trace->loc[e];
    return at == loc ||
           (at != FT_NO_LOC && strcmp(trace->locations[at].text, trace->locations[loc].text) == 0);
}

static ft_status term_member(parser *p, const json_t *property, ft_term *term)
{
    const char *text = json_string_value(json_object_get(property, "term"));
    if (!text) return wrong(p, "term", "must be a Boolean term such as \"(> x 0)\"");
    ft_scope scope = ft_trace_scope(p->trace);
    ft_error inner = FT_ERROR_INIT;
    if (ft_term_parse(p->trace->terms, text, strlen(text), &scope, term, &inner) != FT_OK)
        return ft_error_at(p->err, FT_USAGE, 0, inner.column,
                           "/properties/%u/term: column %llu: %s", p->property,
                           (unsigned long long)inner.column, inner.message);
    if (ft_term_sort(p->trace->terms, *term).kind != FT_SORT_BOOL)
        return wrong(p, "term", "must be of sort Bool");
    return FT_OK;
}

static void add_claim(ft_property *property, ft_claim claim)
{
    ft_vec_push(&property->claims, claim);
}

static ft_status read_assertion(parser *p, const json_t *json, ft_property *property)
{
    const json_t *event = json_object_get(json, "event"), *at = json_object_get(json, "location");
    ft_claim claim = {.kind = FT_CLAIM_CONDITION};
    if (term_member(p, json, &claim.condition) != FT_OK) return FT_USAGE;
    if (!event == !at) return wrong(p, "event", "give either \"event\" or \"location\"");
    if (event) {
        json_int_t number = json_is_integer(event) ? json_integer_value(event) : 0;
        if (number < 1 || number > (json_int_t)p->trace->n_events)
            return wrong(p, "event", "must be an event number of the trace, from 1");
        claim.events[0] = (uint32_t)number - 1;
        add_claim(property, claim);
        return FT_OK;
    }
    uint32_t loc;
    if (location_member(p, at, "location", &loc) != FT_OK) return FT_USAGE;
    for (uint32_t e = 0; e < p->trace->n_events; e++) {
        if (!is_at(p->trace, e, loc)) continue;
        claim.events[0] = e;
        add_claim(property, claim);
    }
    return FT_OK;
}

static ft_status read_co_enabled(parser *p, const json_t *json, ft_property *property)
{
    const json_t *both = json_object_get(json, "locations");
    uint32_t loc[2];
    if (json_array_size(both) != 2) return wrong(p, "locations", "must be two locations");
    for (size_t i = 0; i < 2; i++)
        if (location_member(p, json_array_get(both, i), "locations", &loc[i]) != FT_OK)
            return FT_USAGE;
    const ft_trace *trace = p->trace;
    for (uint32_t x = 0; x < trace->n_events; x++) {
        if (!is_at(trace, x, loc[0])) continue;
        for (uint32_t y = 0; y < trace->n_events; y++) {
            if (!is_at(trace, y, loc[1]) || trace->thread[x] == trace->thread[y]) continue;
            if (loc[0] == loc[1] && y < x) continue;
            add_claim(property, (ft_claim){.kind = FT_CLAIM_CO_ENABLED,
                                           .events = {x < y ? x : y, x < y ? y : x, FT_NO_EVENT}});
        }
    }
    return FT_OK;
}

static ft_status read_before(parser *p, const json_t *json, ft_property *property)
{
    uint32_t first, then;
    if (location_member(p, json_object_get(json, "first"), "first", &first) != FT_OK ||
        location_member(p, json_object_get(json, "then"), "then", &then) != FT_OK)
        return FT_USAGE;
    for (uint32_t e = 0; e < p->trace->n_events; e++)
        if (is_at(p->trace, e, then))
            add_claim(property, (ft_claim){.kind = FT_CLAIM_BEFORE,
                                           .events = {e, FT_NO_EVENT, FT_NO_EVENT},
                                           .avoid = first});
    return FT_OK;
}

static ft_status read_transaction(parser *p, const json_t *json, ft_property *property)
{
    uint32_t from, to;
    const ft_trace *trace = p->trace;
    if (location_member(p, json_object_get(json, "from"), "from", &from) != FT_OK ||
        location_member(p, json_object_get(json, "to"), "to", &to) != FT_OK)
        return FT_USAGE;
    uint32_t *open = ft_alloc(((size_t)trace->threads.len + 1) * sizeof *open);
    memset(open, 0xff, ((size_t)trace->threads.len + 1) * sizeof *open);
    for (uint32_t e = 0; e < trace->n_events; e++) {
        uint32_t *begin = &open[trace->thread[e]];
        if (*begin != FT_NO_EVENT && is_at(trace, e, to)) {
            ft_vec_push(&property->stretches, (ft_stretch){*begin, e});
            *begin = FT_NO_EVENT;
        }
        if (*begin == FT_NO_EVENT && is_at(trace, e, from)) *begin = e;
    }
    ft_status status = FT_OK;
    for (uint32_t t = 0; t < trace->threads.len; t++)
        if (open[t] != FT_NO_EVENT)
            status = ft_error_set(p->err, FT_USAGE,
                                  "/properties/%u/from: event %u at `%s' has no `%s' after it in "
                                  "thread %s",
                                  p->property, open[t] + 1, trace->locations[from].text,
                                  trace->locations[to].text, ft_trace_thread_name(trace, t));
    free(open);
    return status;
}

static const struct {
    ft_status (*read)(parser *, const json_t *, ft_property *);
    const char *members[5];
} READERS[FT_PROPERTY_KINDS] = {
    [FT_PROPERTY_ASSERTION] = {read_assertion, {"event", "location", "term"}},
    [FT_PROPERTY_CO_ENABLED] = {read_co_enabled, {"locations"}},
    [FT_PROPERTY_BEFORE] = {read_before, {"first", "then"}},
    [FT_PROPERTY_TRANSACTION] = {read_transaction, {"from", "to"}},
};

/* ---- a property ---- */

static char *describe(const json_t *json, const char *kind)
{
    const char *given = json_string_value(json_object_get(json, "name")), *key;
    if (given) return ft_strdup(given);
    ft_strbuf text = {0};
    ft_strbuf_puts(&text, kind);
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)json, key, value)
    {
        if (strcmp(key, "kind") == 0) continue;
        char *dump = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
        ft_strbuf_printf(&text, " %s %s", key, dump ? dump : "?");
        free(dump);
    }
    return ft_strbuf_take(&text);
}

static bool member_known(const char *key, ft_property_kind kind)
{
    if (strcmp(key, "kind") == 0 || strcmp(key, "name") == 0) return true;
    for (size_t i = 0; READERS[kind].members[i]; i++)
        if (strcmp(key, READERS[kind].members[i]) == 0) return true;
    return false;
}

static ft_status read_property(parser *p, const json_t *json, ft_property *property)
{
    const char *kind = json_string_value(json_object_get(json, "kind")), *key;
    json_t *value;
    int found = -1;
    for (int i = 0; kind && i < FT_PROPERTY_KINDS; i++)
        if (strcmp(kind, PROPERTY_NAMES[i]) == 0) found = i;
    if (found < 0) return wrong(p, "kind", "must be assertion, co-enabled, before or transaction");
    property->kind = (ft_property_kind)found;
    json_object_foreach((json_t *)(uintptr_t)json, key, value)
    {
        if (!member_known(key, property->kind))
            return wrong(p, key, "is not a member of this kind of property");
    }
    property->name = describe(json, kind);
    return READERS[found].read(p, json, property);
}

static ft_status read_properties(parser *p, const json_t *array)
{
    if (array && !json_is_array(array))
        return ft_error_set(p->err, FT_USAGE, "/properties: must be an array");
    for (size_t i = 0; i < json_array_size(array); i++) {
        ft_property property = {0};
        p->property = (uint32_t)i;
        ft_status status = read_property(p, json_array_get(array, i), &property);
        ft_vec_push(&p->spec->properties, property);
        if (status != FT_OK) return status;
    }
    return FT_OK;
}

/* ---- the rest of the spec ---- */

static ft_status read_checks(parser *p, const json_t *array)
{
    for (int i = 0; i < FT_CHECKS; i++) p->spec->checks[i] = !array && i < FT_CHECKS_NAMED;
    if (array && !json_is_array(array))
        return ft_error_set(p->err, FT_USAGE, "/checks: must be an array of check names");
    for (size_t i = 0; i < json_array_size(array); i++) {
        const char *name = json_string_value(json_array_get(array, i));
        ft_check check;
        if (!name || !ft_check_parse(name, &check) || check >= FT_CHECKS_NAMED)
            return ft_error_set(p->err, FT_USAGE, "/checks/%zu: unknown check `%s'", i,
                                name ? name : "?");
        p->spec->checks[check] = true;
    }
    return FT_OK;
}

static ft_status read_ignored(parser *p, const json_t *array)
{
    if (json_array_size(array) == 0) return FT_OK;
    p->spec->ignored = ft_calloc((size_t)p->trace->n_locations + 1, 1);
    for (size_t i = 0; i < json_array_size(array); i++) {
        const char *text = json_string_value(json_array_get(array, i));
        if (!text) return ft_error_set(p->err, FT_USAGE, "/ignore_locations/%zu: no string", i);
        for (uint32_t loc = 1; loc < p->trace->n_locations; loc++)
            if (strcmp(p->trace->locations[loc].text, text) == 0) p->spec->ignored[loc] = 1;
    }
    return FT_OK;
}

/* A member that must be one of two words; absent: the first. */
static ft_status read_choice(parser *p, const json_t *json, const char *member, const char *first,
                             const char *second, bool *is_second)
{
    const json_t *value = json_object_get(json, member);
    const char *text = value ? json_string_value(value) : first;
    if (!text || (strcmp(text, first) != 0 && strcmp(text, second) != 0))
        return ft_error_set(p->err, FT_USAGE, "/%s: must be \"%s\" or \"%s\"", member, first,
                            second);
    *is_second = strcmp(text, second) == 0;
    return FT_OK;
}

static ft_status read_model(parser *p, const json_t *value)
{
    const char *name = value ? json_string_value(value) : "auto";
    if (name && strcmp(name, "auto") == 0) return FT_OK;
    if (!name || !ft_model_parse(name, &p->spec->model))
        return ft_error_set(p->err, FT_USAGE,
                            "/model: must be auto, observed, maximal, ctp or control, not `%s'",
                            name ? name : "?");
    p->spec->model_given = true;
    return FT_OK;
}

static ft_status read_bound(parser *p, const json_t *value)
{
    const char *text = json_string_value(value);
    if (!value || json_is_null(value)) return FT_OK;
    if (text && strcmp(text, "auto") == 0) {
        p->spec->context_bound.mode = FT_BOUND_AUTO;
        return FT_OK;
    }
    json_int_t switches = json_integer_value(value);
    if (!json_is_integer(value) || switches < 0 || switches > FT_MAX_CONTEXT_BOUND)
        return ft_error_set(p->err, FT_USAGE, "/context_bound: must be auto or 0 to %u",
                            FT_MAX_CONTEXT_BOUND);
    p->spec->context_bound = (ft_context_bound){FT_BOUND_FIXED, (uint32_t)switches};
    return FT_OK;
}

static ft_status read_wakeups(parser *p, const json_t *value)
{
    const char *name = json_string_value(value);
    if (!value || json_is_null(value)) return FT_OK;
    if (name && ft_wakeups_parse(name, &p->spec->wakeups)) return FT_OK;
    return ft_error_set(p->err, FT_USAGE, "/wakeups: must be any, observed or spurious, not `%s'",
                        name ? name : "?");
}

static ft_status read_solver(parser *p, const json_t *value)
{
    const char *name = json_string_value(value);
    if (!value || json_is_null(value)) return FT_OK;
    if (name && ft_solver_parse(name, &p->spec->solver)) return FT_OK;
    return ft_error_set(p->err, FT_USAGE, "/solver: must be auto, z3 or order, not `%s'",
                        name ? name : "?");
}

static ft_status read_without(parser *p, const json_t *list)
{
    size_t i;
    json_t *item;
    json_array_foreach((json_t *)list, i, item)
    {
        const char *name = json_string_value(item);
        int pass = 0;
        while (pass < FT_PASSES && strcmp(name ? name : "", ft_pass_get((ft_pass_id)pass)->name))
            pass++;
        if (pass == FT_PASSES || !ft_pass_is_optional((ft_pass_id)pass))
            return ft_error_set(p->err, FT_USAGE,
                                "/without: `%s' is not a pass that can be left out; see "
                                "docs/engine.md",
                                name ? name : "?");
        p->spec->without |= (uint64_t)1 << pass;
    }
    return FT_OK;
}

static ft_status read_budget(parser *p, const json_t *budget)
{
    const json_t *ms = json_object_get(budget, "subproblem_ms");
    p->spec->subproblem_ms = FT_DEFAULT_SUBPROBLEM_MS;
    if (!ms) return FT_OK;
    json_int_t value = json_integer_value(ms);
    if (!json_is_integer(ms) || value < 1 || value > 86400000)
        return ft_error_set(p->err, FT_USAGE, "/budget/subproblem_ms: must be 1 to 86400000");
    p->spec->subproblem_ms = (uint32_t)value;
    return FT_OK;
}

ft_status ft_spec_parse(const json_t *json, ft_trace *trace, ft_spec *spec, ft_error *err)
{
    parser p = {.trace = trace, .spec = spec, .err = err};
    memset(spec, 0, sizeof *spec);
    if (!json_is_object(json)) return ft_error_set(err, FT_USAGE, "the job must be an object");
    ft_status status = read_checks(&p, json_object_get(json, "checks"));
    if (status == FT_OK) status = read_model(&p, json_object_get(json, "model"));
    if (status == FT_OK)
        status = read_choice(&p, json, "per", "location", "event", &spec->per_event);
    if (status == FT_OK)
        status = read_choice(&p, json, "encoding", "default", "literal", &spec->literal);
    if (status == FT_OK) status = read_bound(&p, json_object_get(json, "context_bound"));
    if (status == FT_OK) status = read_wakeups(&p, json_object_get(json, "wakeups"));
    if (status == FT_OK) status = read_solver(&p, json_object_get(json, "solver"));
    if (status == FT_OK) status = read_without(&p, json_object_get(json, "without"));
    if (status == FT_OK && spec->literal && spec->solver == FT_SOLVER_ORDER)
        status = ft_error_set(err, FT_USAGE, "/solver: the literal encoding needs z3");
    if (status == FT_OK) status = read_budget(&p, json_object_get(json, "budget"));
    if (status == FT_OK) status = read_ignored(&p, json_object_get(json, "ignore_locations"));
    if (status == FT_OK) status = read_properties(&p, json_object_get(json, "properties"));
    if (status != FT_OK) ft_spec_release(spec);
    return status;
}

void ft_spec_release(ft_spec *spec)
{
    for (size_t i = 0; i < spec->properties.len; i++) {
        free(spec->properties.data[i].name);
        ft_vec_release(&spec->properties.data[i].claims);
        ft_vec_release(&spec->properties.data[i].stretches);
    }
    ft_vec_release(&spec->properties);
    free(spec->ignored);
    spec->ignored = NULL;
}
