#include "trace/trace.h"

#include <assert.h>

static void print_access(const ft_trace *trace, uint32_t e, ft_strbuf *out)
{
    ft_strbuf_printf(out, "%s %s", ft_event_kind_name(trace->kind[e]),
                     trace->shared.names[trace->object[e]]);
    if (trace->data[e] == FT_NO_VALUE) return;
    ft_strbuf_puts(out, " = ");
    ft_value_print(trace->values[trace->data[e]], out);
}

static void print_value(const ft_trace *trace, uint32_t value, ft_strbuf *out)
{
    if (value == FT_NO_VALUE)
        ft_strbuf_puts(out, "?");
    else
        ft_value_print(trace->values[value], out);
}

static void print_update(const ft_trace *trace, uint32_t e, ft_strbuf *out)
{
    const ft_update *update = &trace->updates[trace->data[e]];
    ft_strbuf_printf(out, "rmw %s", ft_trace_object_name(trace, e));
    if (update->read == FT_NO_VALUE && update->written == FT_NO_VALUE) return;
    ft_strbuf_puts(out, " = ");
    print_value(trace, update->read, out);
    ft_strbuf_puts(out, " -> ");
    print_value(trace, update->written, out);
}

static void print_assign(const ft_trace *trace, const ft_action *action, const ft_scope *scope,
                         ft_strbuf *out)
{
    if (!action->n_assignments) ft_strbuf_puts(out, "skip");
    for (uint32_t i = 0; i < action->n_assignments; i++) {
        const ft_assignment *one = &action->assignments[i];
        ft_strbuf_printf(out, "%s%s := ", i ? ", " : "", scope->name(scope->context, one->target));
        ft_term_print(trace->terms, one->term, scope, out);
    }
    if (action->guard == FT_NO_TERM) return;
    ft_strbuf_puts(out, " if ");
    ft_term_print(trace->terms, action->guard, scope, out);
}

static void print_action(const ft_trace *trace, uint32_t e, ft_strbuf *out)
{
    ft_scope scope = ft_trace_scope(trace);
    const ft_action *action = ft_trace_action(trace, e);
    if (trace->kind[e] == FT_EVENT_ASSIGN) {
        print_assign(trace, action, &scope, out);
        return;
    }
    ft_strbuf_printf(out, "%s ", ft_event_kind_name(trace->kind[e]));
    ft_term_print(trace->terms, action->guard, &scope, out);
}

void ft_trace_print_event(const ft_trace *trace, uint32_t e, ft_strbuf *out)
{
    assert(e < trace->n_events);
    uint8_t flags = trace->flags[e];
    bool write = trace->kind[e] == FT_EVENT_WRITE;
    if (flags & FT_FLAG_SYNTHETIC && !write && ft_event_kind_may_stand_aside(trace->kind[e]))
        ft_strbuf_puts(out, "ignored ");
    if (trace->kind[e] == FT_EVENT_RMW) {
        print_update(trace, e, out);
        return;
    }
    if (flags & FT_FLAG_ATOMIC && !ft_trace_is_blocked(trace, e)) ft_strbuf_puts(out, "atomic ");
    bool external = write && flags & FT_FLAG_SYNTHETIC;
    if (external) ft_strbuf_puts(out, "external ");
    if (flags & FT_FLAG_TRY) ft_strbuf_puts(out, "try-");
    const char *object = ft_trace_object_name(trace, e);
    if (ft_trace_is_symbolic_event(trace, e))
        print_action(trace, e, out);
    else if (ft_event_kind_object(trace->kind[e]) == FT_OBJECT_VARIABLE)
        print_access(trace, e, out);
    else if (object)
        ft_strbuf_printf(out, "%s %s", ft_event_kind_name(trace->kind[e]), object);
    else
        ft_strbuf_puts(out, ft_event_kind_name(trace->kind[e]));
    if (trace->kind[e] == FT_EVENT_COND_WAKE && (flags & FT_FLAG_FAILED))
        ft_strbuf_puts(out, " (timeout)");
}
