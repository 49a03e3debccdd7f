#include "cover/question.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/contract.h"

/* ---- conditions on inputs ---- */

typedef struct asking {
    const cover_asked_term *of;
    ft_session *session;
    FT_VEC(ft_expr) constants; /* by symbol; NULL: none yet */
} asking;

static ft_sort sort_of_width(uint8_t width)
{
    return width == 1 ? FT_BOOL_SORT : (ft_sort){FT_SORT_BITVEC, width};
}

static uint8_t width_in_world(const void *world, ft_symbol symbol)
{
    return ft_sym_world_input(((const cover_world *)world)->world, symbol).width;
}

static ft_sort sort_of(const cover_world *w, ft_symbol symbol)
{
    return sort_of_width(width_in_world(w, symbol));
}

static ft_expr constant(void *context, ft_symbol symbol)
{
    asking *a = context;
    while (a->constants.len <= symbol) ft_vec_push(&a->constants, NULL);
    if (!a->constants.data[symbol])
        a->constants.data[symbol] =
            ft_session_constant(a->session, sort_of_width(a->of->width(a->of->context, symbol)));
    return a->constants.data[symbol];
}

static void take_model(asking *a, cover_model *model)
{
    for (uint32_t i = 0; i < a->constants.len; i++)
        if (a->constants.data[i])
            ft_vec_push(model, (cover_input){i, ft_session_bits(a->session, a->constants.data[i])});
}

ft_answer cover_ask_term(const cover_asked_term *of, cover_model *model)
{
    FT_REQUIRE(of && model);
    asking a = {.of = of, .session = ft_session_open(FT_SESSION_VALUES)};
    ft_expr defined = NULL;
    ft_expr formula = ft_session_term(a.session, of->pool, of->condition, constant, &a, &defined);
    ft_lit all[2] = {ft_session_name(a.session, formula), FT_LIT_TRUE};
    ft_answer answer = ft_session_check(a.session, all, 1, of->ms);
    if (answer == FT_ANSWER_SAT) take_model(&a, model);
    ft_session_close(a.session);
    ft_vec_release(&a.constants);
    return answer;
}

ft_answer cover_ask(cover_question *q)
{
    cover_asked_term of = {.pool = q->world->pool,
                           .condition = q->condition,
                           .ms = q->ms,
                           .width = width_in_world,
                           .context = q->world};
    return cover_ask_term(&of, &q->model);
}

void cover_question_release(cover_question *q)
{
    ft_vec_release(&q->model);
}

/* ---- as text ---- */

typedef struct naming {
    const cover_world *world;
    ft_strbuf text;
    FT_VEC(ft_symbol) symbols;
} naming;

static const char *name_of(void *context, ft_symbol symbol)
{
    naming *n = context;
    ft_sym_name in = ft_sym_world_input(n->world->world, symbol);
    ft_strbuf_clear(&n->text);
    ft_strbuf_puts(&n->text, in.name);
    if (in.thread == FT_NO_ID) return n->text.text; /* an unknown: its place */
    ft_strbuf_puts(&n->text, "@");
    cover_world_thread_name(n->world, in.thread, &n->text);
    if (in.n) ft_strbuf_printf(&n->text, ".%" PRIu32, in.n + 1);
    return n->text.text;
}

static void note_symbol(void *context, ft_symbol symbol)
{
    naming *n = context;
    ft_vec_push(&n->symbols, symbol);
}

void cover_question_print(const cover_question *q, const char *what, ft_strbuf *out)
{
    naming n = {.world = q->world};
    ft_scope scope = {NULL, name_of, &n};
    ft_strbuf_printf(out, "; unsat: there is no such thing as %s\n(set-logic QF_BV)\n", what);
    ft_term_symbols(q->world->pool, q->condition, note_symbol, &n);
    for (size_t i = 0; i < n.symbols.len; i++) {
        ft_sort sort = sort_of(q->world, n.symbols.data[i]);
        ft_strbuf_puts(out, "(declare-const ");
        ft_term_print(q->world->pool, ft_term_symbol(q->world->pool, n.symbols.data[i], sort),
                      &scope, out);
        ft_strbuf_puts(out, " ");
        ft_sort_print(sort, out);
        ft_strbuf_puts(out, ")\n");
    }
    ft_strbuf_puts(out, "(assert ");
    ft_term_print(q->world->pool, q->condition, &scope, out);
    ft_strbuf_puts(out, ")\n(check-sat)\n");
    ft_vec_release(&n.symbols);
    ft_strbuf_release(&n.text);
}

/* ---- orders of nodes ---- */

typedef struct orders {
    const ft_schedule *schedule;
    uint32_t last[FT_SCHEDULE_THREADS]; /* by thread: its last node so far, + 1 */
    FT_VEC(uint32_t) before;            /* the node at hand: those that come directly before it */
} orders;

/* The thread's own node before, and those of edges. */
static void list_before(orders *o, uint32_t node)
{
    const ft_node *n = &o->schedule->nodes.data[node];
    o->before.len = 0;
    if (o->last[n->thread]) ft_vec_push(&o->before, o->last[n->thread] - 1);
    for (uint32_t k = 0; k < n->n_edges; k++)
        ft_vec_push(&o->before, o->schedule->edges.data[n->edges + k]);
    o->last[n->thread] = node + 1;
}

ft_answer cover_order_ask(const cover_order_question *q, cover_pair *pair)
{
    const ft_schedule *s = q->schedule;
    uint32_t n = (uint32_t)s->nodes.len;
    orders o = {.schedule = s};
    ft_session *session = ft_session_open(FT_SESSION_INTEGER);
    FT_VEC(ft_expr) at = {0};
    FT_VEC(ft_lit) wrong = {0};
    for (uint32_t i = 0; i < n; i++) ft_vec_push(&at, ft_session_order_variable(session));
    for (uint32_t i = 0; i < n; i++) {
        list_before(&o, i);
        for (size_t k = 0; k < o.before.len; k++)
            ft_session_imply(session, FT_LIT_TRUE,
                             ft_session_less(session, at.data[o.before.data[k]], at.data[i]));
    }
    for (size_t i = 0; i < q->pairs.len; i++) {
        const cover_pair *p = &q->pairs.data[i];
        ft_vec_push(&wrong, ft_session_name(
                                session, ft_session_less(session, at.data[p->b], at.data[p->a])));
    }
    ft_session_clause(session, wrong.data, (uint32_t)wrong.len);
    ft_answer answer = ft_session_check(session, NULL, 0, q->ms);
    for (size_t i = 0; i < q->pairs.len && answer == FT_ANSWER_SAT; i++)
        if (ft_session_true(session, wrong.data[i])) *pair = q->pairs.data[i];
    ft_session_close(session);
    ft_vec_release(&o.before);
    ft_vec_release(&at);
    ft_vec_release(&wrong);
    return answer;
}

void cover_order_print(const cover_order_question *q, const char *what, ft_strbuf *out)
{
    const ft_schedule *s = q->schedule;
    orders o = {.schedule = s};
    ft_strbuf_printf(out, "; unsat: there is no such thing as %s\n(set-logic QF_IDL)\n", what);
    for (uint32_t i = 0; i < s->nodes.len; i++)
        ft_strbuf_printf(out, "(declare-const n%" PRIu32 " Int)\n", i);
    for (uint32_t i = 0; i < s->nodes.len; i++) {
        list_before(&o, i);
        for (size_t k = 0; k < o.before.len; k++)
            ft_strbuf_printf(out, "(assert (< n%" PRIu32 " n%" PRIu32 "))\n", o.before.data[k], i);
    }
    ft_vec_release(&o.before);
    ft_strbuf_puts(out, "(assert (or false");
    for (size_t i = 0; i < q->pairs.len; i++)
        ft_strbuf_printf(out, " (< n%" PRIu32 " n%" PRIu32 ")", q->pairs.data[i].b,
                         q->pairs.data[i].a);
    ft_strbuf_puts(out, "))\n(check-sat)\n");
}
