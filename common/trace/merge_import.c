#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "trace/merge_internal.h"

/* ---- declarations --------------------------------------------------------------------------- */

typedef struct declarer {
    ft_builder *builder;
    const ft_trace *trace;
    const char *name;
    ft_error *err;
} declarer;

static ft_status disagree(const declarer *d, const char *what, const char *object,
                          const char *property)
{
    return ft_error_set(d->err, FT_INPUT, "%s: %s %s has another %s than in the traces before it",
                        d->name, what, object, property);
}

static ft_status declare_variable(const declarer *d, bool local, uint32_t i)
{
    const ft_trace *known = ft_builder_peek(d->builder);
    const ft_intern *table = local ? &d->trace->locals : &d->trace->shared;
    const ft_variable *info = local ? &d->trace->local_info[i] : &d->trace->shared_info[i];
    const char *what = local ? "local" : "variable", *name = table->names[i];
    uint32_t length = table->lengths[i];
    if (ft_intern_find(local ? &known->shared : &known->locals, name, length) != FT_NO_ID)
        return ft_error_set(d->err, FT_INPUT,
                            "%s: %s is a shared variable in one trace and a local in another",
                            d->name, name);
    uint32_t id = local ? ft_builder_local(d->builder, name, length, info->sort)
                        : ft_builder_shared(d->builder, name, length, info->sort);
    const ft_variable *merged = local ? &known->local_info[id] : &known->shared_info[id];
    if (!ft_sort_equal(merged->sort, info->sort)) return disagree(d, what, name, "sort");
    if (!local && info->type != FT_TYPE_NONE)
        ft_builder_shared_type(d->builder, id, (ft_type)info->type);
    if (info->initial == FT_NO_VALUE) return FT_OK;
    uint32_t initial = ft_builder_value(d->builder, d->trace->values[info->initial]);
    if (merged->initial != FT_NO_VALUE && merged->initial != initial)
        return disagree(d, what, name, "initial value");
    (local ? ft_builder_local_initial : ft_builder_shared_initial)(d->builder, id, initial);
    return FT_OK;
}

static ft_status declare_variables(const declarer *d)
{
    ft_status status = FT_OK;
    for (uint32_t i = 0; i < d->trace->shared.len && !status; i++)
        status = declare_variable(d, false, i);
    for (uint32_t i = 0; i < d->trace->locals.len && !status; i++)
        status = declare_variable(d, true, i);
    return status;
}

static ft_status declare_counted(const declarer *d)
{
    const ft_trace *trace = d->trace, *known = ft_builder_peek(d->builder);
    for (uint32_t i = 0; i < trace->locks.len; i++) {
        const char *name = trace->locks.names[i];
        uint32_t id = ft_builder_lock(d->builder, name, trace->locks.lengths[i],
                                      (ft_lock_kind)trace->lock_kind[i]);
        if (known->lock_kind[id] != trace->lock_kind[i]) return disagree(d, "lock", name, "kind");
    }
    for (uint32_t i = 0; i < trace->semaphores.len; i++) {
        const char *name = trace->semaphores.names[i];
        uint32_t id = ft_builder_semaphore(d->builder, name, trace->semaphores.lengths[i],
                                           trace->semaphore_initial[i]);
        if (known->semaphore_initial[id] != trace->semaphore_initial[i])
            return disagree(d, "semaphore", name, "initial count");
    }
    for (uint32_t i = 0; i < trace->barriers.len; i++) {
        const char *name = trace->barriers.names[i];
        uint32_t id = ft_builder_barrier(d->builder, name, trace->barriers.lengths[i],
                                         trace->barrier_count[i]);
        if (known->barrier_count[id] != trace->barrier_count[i])
            return disagree(d, "barrier", name, "count");
    }
    return FT_OK;
}

static uint32_t shared_id(const ft_trace *known, const ft_trace *trace, uint32_t variable)
{
    return ft_intern_find(&known->shared, trace->shared.names[variable],
                          trace->shared.lengths[variable]);
}

static ft_status declare_blocks(const declarer *d)
{
    const ft_trace *trace = d->trace, *known = ft_builder_peek(d->builder);
    for (uint32_t i = 0; i < trace->blocks.len; i++) {
        const ft_block_cells *cells = &trace->block_cells[i];
        const char *name = trace->blocks.names[i];
        uint32_t *variables = ft_calloc(cells->count, sizeof *variables), matches = 0;
        for (uint32_t c = 0; c < cells->count; c++)
            variables[c] = shared_id(known, trace, cells->variables[c]);
        uint32_t id =
            ft_builder_block(d->builder, name, trace->blocks.lengths[i], variables, cells->count);
        for (uint32_t c = 0; c < cells->count; c++)
            for (uint32_t k = 0; k < known->block_cells[id].count; k++)
                matches += known->block_cells[id].variables[k] == variables[c];
        free(variables);
        if (matches != cells->count || matches != known->block_cells[id].count)
            return disagree(d, "block", name, "set of variables");
    }
    return FT_OK;
}

typedef uint32_t declare_name(ft_builder *builder, const char *name, size_t length);

static void declare_names(const declarer *d, const ft_intern *table, declare_name *declare_one)
{
    for (uint32_t i = 0; i < table->len; i++)
        declare_one(d->builder, table->names[i], table->lengths[i]);
}

ft_status ft_merge_declare(ft_builder *b, const ft_trace *trace, const char *name, ft_error *err)
{
    declarer d = {.builder = b, .trace = trace, .name = name, .err = err};
    declare_names(&d, &trace->threads, ft_builder_thread);
    declare_names(&d, &trace->edges, ft_builder_edge);
    declare_names(&d, &trace->conditions, ft_builder_condition);
    declare_names(&d, &trace->onces, ft_builder_once);
    ft_status status = declare_variables(&d);
    if (!status) status = declare_counted(&d);
    if (!status) status = declare_blocks(&d);
    return status;
}

/* ---- events --------------------------------------------------------------------------------- */

typedef struct importer {
    ft_builder *builder;
    const ft_trace *trace, *merged;
    ft_term *terms;    /* by the trace's terms */
    uint32_t *actions; /* by the trace's actions */
    uint32_t *locations;
    uint32_t *values;
    FT_VEC(ft_term) children;
    FT_VEC(ft_assignment) assignments;
} importer;

static const ft_intern *object_names(const ft_trace *trace, ft_object_class object)
{
    const ft_intern *const TABLES[FT_OBJECT_CLASSES] = {
        [FT_OBJECT_VARIABLE] = &trace->shared,      [FT_OBJECT_LOCK] = &trace->locks,
        [FT_OBJECT_SEMAPHORE] = &trace->semaphores, [FT_OBJECT_THREAD] = &trace->threads,
        [FT_OBJECT_EDGE] = &trace->edges,           [FT_OBJECT_CONDITION] = &trace->conditions,
        [FT_OBJECT_BARRIER] = &trace->barriers,     [FT_OBJECT_ONCE] = &trace->onces,
        [FT_OBJECT_BLOCK] = &trace->blocks};
    return TABLES[object];
}

static uint32_t translate(const ft_intern *from, const ft_intern *to, uint32_t id)
{
    return ft_intern_find(to, from->names[id], from->lengths[id]);
}

static ft_symbol import_symbol(const importer *in, ft_symbol symbol)
{
    uint32_t index = FT_SYM_INDEX(symbol);
    return FT_SYM_IS_LOCAL(symbol)
               ? FT_SYM_LOCAL(translate(&in->trace->locals, &in->merged->locals, index))
               : FT_SYM_SHARED(translate(&in->trace->shared, &in->merged->shared, index));
}

static ft_term import_term(importer *in, ft_term term)
{
    ft_term_pool *pool = ft_builder_terms(in->builder);
    ft_term_node node = ft_term_get(in->trace->terms, term);
    if (node.op == FT_OP_LITERAL)
        return ft_term_literal(pool, (ft_value){.sort = node.sort, .bits = node.bits});
    if (node.op == FT_OP_SYMBOL)
        return ft_term_symbol(pool, import_symbol(in, node.symbol), node.sort);
    in->children.len = 0;
    for (uint32_t i = 0; i < node.n_children; i++)
        ft_vec_push(&in->children, in->terms[node.children[i]]);
    bool indexed =
        node.op == FT_OP_EXTRACT || node.op == FT_OP_ZERO_EXTEND || node.op == FT_OP_SIGN_EXTEND;
    ft_term result = FT_NO_TERM;
    ft_status status = ft_term_apply(pool, node.op, in->children.data, node.n_children,
                                     indexed ? node.index : NULL, &result, NULL);
    assert(status == FT_OK); /* it is well-sorted in the trace it comes from */
    (void)status;
    return result;
}

static void import_terms(importer *in)
{
    uint32_t count = ft_term_pool_count(in->trace->terms);
    in->terms = ft_calloc((size_t)count + 1, sizeof *in->terms);
    for (ft_term term = 1; term <= count; term++) in->terms[term] = import_term(in, term);
}

static void import_actions(importer *in)
{
    in->actions = ft_calloc(in->trace->n_actions, sizeof *in->actions);
    for (uint32_t i = 0; i < in->trace->n_actions; i++) {
        const ft_action *action = &in->trace->actions[i];
        in->assignments.len = 0;
        for (uint32_t k = 0; k < action->n_assignments; k++)
            ft_vec_push(&in->assignments,
                        (ft_assignment){import_symbol(in, action->assignments[k].target),
                                        in->terms[action->assignments[k].term]});
        in->actions[i] = ft_builder_intern_action(
            in->builder, in->terms[action->guard],
            action->n_assignments ? in->assignments.data : NULL, action->n_assignments);
    }
}

static size_t length_of(const char *text)
{
    return text ? strlen(text) : 0;
}

static uint32_t import_location(ft_builder *b, const ft_location *from)
{
    uint32_t id = ft_builder_location(b, from->text, strlen(from->text), from->function,
                                      length_of(from->function));
    if (from->path)
        ft_builder_source(b, id, from->path, strlen(from->path), from->line, length_of(from->line));
    if (from->asserted) ft_builder_assertion(b, id, from->asserted, strlen(from->asserted));
    return id;
}

static void import_places(importer *in)
{
    in->locations = ft_calloc(in->trace->n_locations, sizeof *in->locations);
    for (uint32_t i = 1; i < in->trace->n_locations; i++)
        in->locations[i] = import_location(in->builder, &in->trace->locations[i]);
    in->values = ft_calloc(in->trace->n_values, sizeof *in->values);
    for (uint32_t i = 1; i < in->trace->n_values; i++)
        in->values[i] = ft_builder_value(in->builder, in->trace->values[i]);
}

static uint32_t import_data(const importer *in, uint32_t e, uint32_t object)
{
    uint32_t data = in->trace->data[e];
    ft_event_kind kind = in->trace->kind[e];
    if (ft_trace_is_symbolic_event(in->trace, e)) return in->actions[data];
    if (kind == FT_EVENT_READ || kind == FT_EVENT_WRITE) return in->values[data];
    if (kind != FT_EVENT_RMW) return 0;
    const ft_update *update = &in->trace->updates[data];
    return ft_builder_intern_update(in->builder, object, in->values[update->read],
                                    in->values[update->written]);
}

static ft_merge_entry import_event(const importer *in, uint32_t e)
{
    const ft_trace *trace = in->trace;
    ft_event_kind kind = trace->kind[e];
    ft_object_class object = ft_event_kind_object(kind);
    uint8_t kept = FT_FLAG_ATOMIC | FT_FLAG_CONDITION | FT_FLAG_TRY;
    if (kind == FT_EVENT_COND_WAKE) kept |= FT_FLAG_FAILED;
    if (ft_event_kind_may_stand_aside(kind) || kind == FT_EVENT_ALLOC) kept |= FT_FLAG_SYNTHETIC;
    ft_merge_entry entry = {.kind = (uint8_t)kind,
                            .flags = trace->flags[e] & kept,
                            .loc = in->locations[trace->loc[e]],
                            .place = FT_NO_EVENT};
    if (object != FT_OBJECT_NONE)
        entry.object = translate(object_names(trace, object), object_names(in->merged, object),
                                 trace->object[e]);
    entry.data = import_data(in, e, entry.object);
    return entry;
}

void ft_merge_import(ft_builder *b, const ft_trace *trace, bool first, ft_merge_list *threads)
{
    importer in = {.builder = b, .trace = trace, .merged = ft_builder_peek(b)};
    import_terms(&in);
    import_actions(&in);
    import_places(&in);
    for (uint32_t e = 0; e < trace->n_events; e++) {
        if (trace->kind[e] == FT_EVENT_RELEASE && trace->flags[e] & FT_FLAG_SYNTHETIC) continue;
        if (ft_trace_is_blocked(trace, e)) continue; /* another run may have come past it */
        uint32_t t = translate(&trace->threads, &in.merged->threads, trace->thread[e]);
        ft_merge_entry entry = import_event(&in, e);
        if (first) entry.place = e;
        ft_vec_push(&threads[t], entry);
    }
    free(in.terms);
    free(in.actions);
    free(in.locations);
    free(in.values);
    ft_vec_release(&in.children);
    ft_vec_release(&in.assignments);
}
