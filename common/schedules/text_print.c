#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "schedules/schedules.h"

static const char *const ENDS[] = {
#define FT_ROW(symbol, name, meaning) name,
    FT_SCHEDULE_END_TABLE(FT_ROW)
#undef FT_ROW
};

static void print_quoted(const char *text, ft_strbuf *out)
{
    ft_strbuf_puts(out, "\"");
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        if (*c < ' ' || *c == '"' || *c == '\\' || *c == 127)
            ft_strbuf_printf(out, "\\%02x", *c);
        else
            ft_strbuf_add(out, (const char *)c, 1);
    ft_strbuf_puts(out, "\"");
}

static const char *name_of(void *context, ft_symbol symbol)
{
    const ft_schedule_set *set = context;
    return ft_schedule_text_of(set, set->inputs.data[symbol].label);
}

void ft_schedule_term_print(const ft_schedule_set *set, ft_term term, ft_strbuf *out)
{
    ft_scope scope = {NULL, name_of, (void *)(uintptr_t)set};
    ft_term_print(set->pool, term, &scope, out);
}

/* ---- selectors ---- */

static void indent(uint32_t depth, ft_strbuf *out)
{
    enum { MOST = 40 };
    for (uint32_t i = 0; i < depth && i < MOST; i++) ft_strbuf_puts(out, "  ");
}

typedef struct open_choice {
    uint32_t choice, depth;
    bool other; /* the line `else` comes first */
} open_choice;

static void print_selector(const ft_schedule_set *set, const ft_epoch *e, ft_strbuf *out)
{
    FT_VEC(open_choice) open = {0};
    ft_vec_push(&open, (open_choice){0, 0, false});
    while (open.len) {
        open_choice at = open.data[--open.len];
        const ft_choice *c = &e->choices.data[at.choice];
        if (at.other) indent(at.depth - 1, out), ft_strbuf_puts(out, "else\n");
        indent(at.depth, out);
        if (c->term != FT_NO_TERM) {
            ft_strbuf_puts(out, "if ");
            ft_schedule_term_print(set, c->term, out);
            ft_vec_push(&open, (open_choice){c->no, at.depth + 1, true});
            ft_vec_push(&open, (open_choice){c->yes, at.depth + 1, false});
        } else if (c->schedule == FT_NO_SCHEDULE) {
            ft_strbuf_puts(out, "none");
        } else {
            ft_strbuf_printf(out, "take %s",
                             ft_schedule_text_of(set, e->schedules.data[c->schedule].name));
        }
        ft_strbuf_puts(out, "\n");
    }
    ft_vec_release(&open);
}

/* ---- schedules ---- */

void ft_node_print(const ft_schedule_set *set, const ft_schedule *s, uint32_t node, ft_strbuf *out)
{
    const ft_node *n = &s->nodes.data[node];
    const ft_node_row *row = ft_node_row_of((ft_node_kind)n->kind);
    ft_strbuf_puts(out, row->name);
    if (n->object != FT_NO_ID)
        ft_strbuf_printf(out, " %s", ft_schedule_text_of(set, s->objects.data[n->object]));
    if (n->other != FT_NO_ID)
        ft_strbuf_printf(out, " %s", ft_schedule_text_of(set, s->objects.data[n->other]));
    if (n->kind == FT_NODE_SIGNAL) ft_strbuf_puts(out, " wakes");
    if (row->peer)
        ft_strbuf_printf(out, " %s",
                         n->peer == FT_NO_ID ? "nobody"
                                             : ft_schedule_text_of(set, s->threads.data[n->peer]));
    if (n->timed_out) ft_strbuf_puts(out, " timed-out");
}

static bool needs_quotes(const char *name)
{
    for (const unsigned char *c = (const unsigned char *)name; *c; c++)
        if (*c <= ' ' || *c == '"' || *c == '\\' || *c == ';' || *c == 127) return true;
    return !*name;
}

static void print_name(const ft_schedule_set *set, uint32_t text, ft_strbuf *out)
{
    const char *name = ft_schedule_text_of(set, text);
    if (needs_quotes(name))
        print_quoted(name, out);
    else
        ft_strbuf_puts(out, name);
}

static void print_place(const ft_schedule_set *set, const ft_schedule_place *place, ft_strbuf *out)
{
    ft_strbuf_puts(out, "@");
    print_name(set, place->function, out);
    ft_strbuf_printf(out, " %u", place->instruction);
    if (place->file == FT_NO_ID) return;
    ft_strbuf_puts(out, " ");
    print_quoted(ft_schedule_text_of(set, place->file), out);
    ft_strbuf_printf(out, " %u %u", place->line, place->column);
}

static void print_node(const ft_schedule_set *set, const ft_schedule *s,
                       const ft_schedule_order *order, uint32_t node, ft_strbuf *out)
{
    const ft_node *n = &s->nodes.data[node];
    ft_strbuf_printf(out, "  %s:%u ", ft_schedule_text_of(set, s->threads.data[n->thread]),
                     order->number[node]);
    ft_node_print(set, s, node, out);
    if (n->function != FT_NO_ID) {
        ft_strbuf_puts(out, " at ");
        print_place(set,
                    &(ft_schedule_place){n->function, n->instruction, n->file, n->line, n->column},
                    out);
    }
    for (uint32_t i = 0; i < n->n_edges; i++) {
        uint32_t other = s->edges.data[n->edges + i];
        ft_strbuf_printf(out, "%s %s:%u", i ? "" : " after",
                         ft_schedule_text_of(set, s->threads.data[s->nodes.data[other].thread]),
                         order->number[other]);
    }
    ft_strbuf_puts(out, "\n");
}

static void print_schedule(const ft_schedule_set *set, const ft_schedule *s, ft_strbuf *out)
{
    ft_schedule_order order;
    ft_schedule_order_init(&order, s);
    ft_strbuf_printf(out, "schedule %s %s", ft_schedule_text_of(set, s->name), ENDS[s->end]);
    if (s->next != FT_NO_ID) ft_strbuf_printf(out, " %s", ft_schedule_text_of(set, s->next));
    ft_strbuf_puts(out, "\n");
    for (uint32_t i = 0; i < s->nodes.len; i++) print_node(set, s, &order, i, out);
    if (s->bound.len) ft_strbuf_puts(out, "  next");
    for (size_t i = 0; i < s->bound.len; i++)
        ft_strbuf_printf(out, " %s", ft_schedule_text_of(set, s->threads.data[s->bound.data[i]]));
    if (s->bound.len) ft_strbuf_puts(out, "\n");
    ft_schedule_order_release(&order);
}

/* ---- the state at an epoch's begin ---- */

static void print_standing(const ft_schedule_set *set, const ft_standing *at, size_t thread,
                           ft_strbuf *out)
{
    ft_strbuf_printf(out, "stands %zu %s%s%s", thread,
                     at->kind == FT_STANDING_ENDED ? "ended"
                                                   : ft_node_row_of((ft_node_kind)at->kind)->name,
                     at->detached ? " detached" : "", at->last ? " last" : "");
    for (size_t i = 0; i < at->calls.len; i++) {
        ft_strbuf_puts(out, " at ");
        print_place(set, &at->calls.data[i], out);
    }
    ft_strbuf_puts(out, "\n");
}

static void print_cell(const ft_schedule_set *set, const ft_epoch_cell *cell, ft_strbuf *out)
{
    ft_strbuf_puts(out, "cell ");
    print_name(set, cell->place, out);
    ft_strbuf_printf(out, " %u ", cell->width);
    if (cell->address != FT_NO_ID)
        print_name(set, cell->address, out);
    else
        ft_strbuf_printf(out, "0x%" PRIx64, cell->bits);
    ft_strbuf_puts(out, "\n");
}

static void print_threads(const char *word, uint64_t bits, ft_strbuf *out)
{
    if (!bits) return;
    ft_strbuf_printf(out, " %s", word);
    for (unsigned t = 0; t < FT_SCHEDULE_THREADS; t++)
        if (bits >> t & 1) ft_strbuf_printf(out, " %u", t);
}

static void print_readers(const uint8_t *reads, ft_strbuf *out)
{
    bool any = false;
    for (unsigned t = 0; t < FT_SCHEDULE_THREADS; t++)
        for (unsigned i = 0; i < reads[t]; i++) {
            ft_strbuf_printf(out, "%s %u", any ? "" : " readers", t);
            any = true;
        }
}

static void print_sync(const ft_schedule_set *set, const ft_epoch_sync *s, ft_strbuf *out)
{
    static const char *const kinds[] = {
#define FT_ROW(symbol, name) name,
        FT_EPOCH_SYNC_TABLE(FT_ROW)
#undef FT_ROW
    };
    ft_strbuf_puts(out, "sync ");
    print_name(set, s->place, out);
    ft_strbuf_printf(out, " %s", kinds[s->kind]);
    if (s->mutex) ft_strbuf_printf(out, " %s", ft_mutex_kind_name((ft_mutex_kind)s->mutex));
    if (s->destroyed) ft_strbuf_puts(out, " destroyed");
    if (s->owner != FT_NO_ID) ft_strbuf_printf(out, " owner %u", s->owner);
    if (s->count) ft_strbuf_printf(out, " count %" PRIu64, s->count);
    if (s->total) ft_strbuf_printf(out, " total %" PRIu64, s->total);
    print_threads("waiters", s->waiters, out);
    print_threads("notified", s->notified, out);
    print_threads("arrived", s->arrived, out);
    print_readers(s->reads, out);
    ft_strbuf_puts(out, "\n");
}

static void print_local(const ft_schedule_set *set, const ft_epoch_local *l, ft_strbuf *out)
{
    ft_strbuf_puts(out, "local ");
    print_name(set, l->place, out);
    ft_strbuf_puts(out, " ");
    print_quoted(ft_schedule_text_of(set, l->name), out);
    ft_strbuf_puts(out, " ");
    print_quoted(ft_schedule_text_of(set, l->file), out);
    ft_strbuf_printf(out, " %u\n", l->line);
}

static void print_inputs(const ft_schedule_set *set, uint32_t epoch, ft_strbuf *out)
{
    for (size_t i = 0; i < set->inputs.len; i++) {
        const ft_schedule_input *in = &set->inputs.data[i];
        if (in->epoch != epoch) continue;
        ft_strbuf_printf(out, "%s %s %u ",
                         in->loop ? "loop"
                         : in->n  ? "input"
                                  : "unknown",
                         ft_schedule_text_of(set, in->label), in->width);
        if (in->n) {
            print_quoted(ft_schedule_text_of(set, in->name), out);
            ft_strbuf_printf(out, " %s %u%s", ft_schedule_text_of(set, in->thread), in->n,
                             in->dynamic && !in->loop ? " dynamic" : "");
        } else {
            print_name(set, in->name, out);
        }
        ft_strbuf_puts(out, "\n");
    }
}

static void print_state(const ft_schedule_set *set, const ft_epoch *e, ft_strbuf *out)
{
    for (size_t i = 0; i < e->stands.len; i++) print_standing(set, &e->stands.data[i], i, out);
    if (e->stands.len) print_inputs(set, (uint32_t)(e - set->epochs.data), out);
    for (size_t i = 0; i < e->objects.len; i++) {
        const ft_epoch_object *o = &e->objects.data[i];
        ft_strbuf_puts(out, "object ");
        print_name(set, o->name, out);
        ft_strbuf_printf(out, " %" PRIu64 "%s\n", o->size, o->freed ? " freed" : "");
    }
    for (size_t i = 0; i < e->cells.len; i++) print_cell(set, &e->cells.data[i], out);
    for (size_t i = 0; i < e->syncs.len; i++) print_sync(set, &e->syncs.data[i], out);
    for (size_t i = 0; i < e->locals.len; i++) print_local(set, &e->locals.data[i], out);
}

static void print_epoch(const ft_schedule_set *set, const ft_epoch *e, ft_strbuf *out)
{
    ft_strbuf_printf(out, "epoch %s\n", ft_schedule_text_of(set, e->name));
    print_state(set, e, out);
    if (e->init != FT_NO_TERM) {
        ft_strbuf_puts(out, "init ");
        ft_schedule_term_print(set, e->init, out);
        ft_strbuf_puts(out, "\n");
    }
    print_selector(set, e, out);
    for (size_t i = 0; i < e->schedules.len; i++) print_schedule(set, &e->schedules.data[i], out);
}

void ft_schedule_set_print(const ft_schedule_set *set, ft_strbuf *out)
{
    FT_REQUIRE(set && out);
    ft_strbuf_puts(out, "schedules 1\n");
    if (set->program != FT_NO_ID)
        ft_strbuf_printf(out, "program %s\n", ft_schedule_text_of(set, set->program));
    ft_strbuf_printf(out, "prefix %s\n", set->prefix ? "yes" : "no");
    for (size_t i = 0; i < set->markers.len; i++) {
        ft_strbuf_puts(out, "marker ");
        print_place(set, &set->markers.data[i], out);
        ft_strbuf_puts(out, "\n");
    }
    print_inputs(set, 0, out);
    for (size_t i = 0; i < set->epochs.len; i++) print_epoch(set, &set->epochs.data[i], out);
}
