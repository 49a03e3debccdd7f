#include "programs/selectors.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "maker/symbols/variables.h"

#define TRY(expression)                                                                            \
    do {                                                                                           \
        ft_status try_status = (expression);                                                       \
        if (try_status != FT_OK) return try_status;                                                \
    } while (0)

typedef struct making {
    ft_selectors *to;
    const ft_selectors_from *from;
    uint32_t epoch;
    uint32_t *number; /* by term of the pool: its number in the epoch, + 1; 0: not made */
    bool *wanted;     /* by term of the pool */
    ft_error *err;
} making;

static const ft_epoch *epoch_of(const making *m)
{
    return &m->from->set->epochs.data[m->epoch];
}

/* ---- places of the program's memory ---- */

static ft_status cannot(const making *m, const char *place, const char *why)
{
    return ft_error_set(m->err, FT_INPUT, "the selector of epoch %s needs %s, %s",
                        ft_schedule_text_of(m->from->set, epoch_of(m)->name), place, why);
}

static uint32_t add_cell(making *m, ft_constrained_term cell, uint32_t object)
{
    cell.kind = FT_CONSTRAINED_TERM_CELL;
    cell.first_kid = (uint32_t)m->to->kids.len;
    cell.n_kids = cell.base == FT_CONSTRAINED_IN_OBJECT;
    if (cell.n_kids) ft_vec_push(&m->to->kids, object);
    ft_vec_push(&m->to->terms, cell);
    return (uint32_t)m->to->terms.len - 1;
}

static ft_status variable_cell(making *m, const ft_state_place *p, const char *place, uint8_t width,
                               uint32_t *term)
{
    ft_strbuf name = {0};
    ft_strbuf_add(&name, p->name, p->length);
    ft_variable v = {.name = name.text, .own = p->kind == FT_STATE_OWN};
    ft_status status = ft_variables_find(m->from->program, &v, 1, m->err);
    if (status == FT_OK && !v.count)
        status = cannot(m, place, "which is not a variable of the program");
    if (status == FT_OK && v.count > 1)
        status = cannot(m, place, "and several variables of the program have that name");
    if (status == FT_OK && (p->offset > v.size || v.size - p->offset < (width + 7u) / 8))
        status = cannot(m, place, "which the variable of the program does not have");
    ft_strbuf_release(&name);
    if (status != FT_OK) return status;
    *term = add_cell(
        m,
        (ft_constrained_term){.width = width,
                              .base = v.own ? FT_CONSTRAINED_IN_THREAD : FT_CONSTRAINED_IN_PROGRAM,
                              .thread = p->thread,
                              .offset = v.address + (int64_t)p->offset},
        0);
    return FT_OK;
}

static bool is_in_object(const ft_schedule_set *set, uint32_t text, const ft_state_place *object,
                         ft_state_place *at)
{
    return text != FT_NO_ID && ft_state_place_read(ft_schedule_text_of(set, text), at) &&
           at->kind == FT_STATE_HEAP && at->number == object->number;
}

static ft_status cell_of(making *m, const char *place, uint8_t width, unsigned depth,
                         uint32_t *term);

/* An object of the heap lies where a cell that is known to have its address says. */
static ft_status heap_cell(making *m, const ft_state_place *p, const char *place, uint8_t width,
                           unsigned depth, uint32_t *term)
{
    const ft_epoch *e = epoch_of(m);
    const ft_schedule_set *set = m->from->set;
    for (size_t i = 0; i < e->cells.len && depth; i++) {
        ft_state_place at, of;
        uint32_t pointer;
        const char *text = ft_schedule_text_of(set, e->cells.data[i].place);
        if (!is_in_object(set, e->cells.data[i].address, p, &at)) continue;
        if (!ft_state_place_read(text, &of) || of.kind == FT_STATE_REGISTER) continue;
        if (cell_of(m, text, 64, depth - 1, &pointer) != FT_OK) continue;
        *term = add_cell(m,
                         (ft_constrained_term){.width = width,
                                               .base = FT_CONSTRAINED_IN_OBJECT,
                                               .offset = (int64_t)p->offset - (int64_t)at.offset},
                         pointer);
        return FT_OK;
    }
    return cannot(m, place, "to which no variable of the program leads");
}

/* Nothing leads from a register of the program as data to where the compiler keeps the variable. */
static ft_status local_cell(making *m, const ft_state_place *p, const char *place)
{
    const ft_epoch *e = epoch_of(m);
    const ft_schedule_set *set = m->from->set;
    ft_strbuf why = {0};
    size_t n = e->stands.data[p->thread].calls.len;
    ft_strbuf_puts(&why, "a local of ");
    if (p->frame < n) {
        const ft_schedule_place *at = &e->stands.data[p->thread].calls.data[n - 1 - p->frame];
        ft_strbuf_puts(&why, ft_schedule_text_of(set, at->function));
        if (at->file != FT_NO_ID)
            ft_strbuf_printf(&why, " (at %s:%u)", ft_schedule_text_of(set, at->file), at->line);
    } else {
        ft_strbuf_puts(&why, "a function");
    }
    ft_strbuf_puts(&why, ", which cannot be read in a run; make it a static variable");
    ft_status status = cannot(m, place, why.text);
    ft_strbuf_release(&why);
    return status;
}

static ft_status cell_of(making *m, const char *place, uint8_t width, unsigned depth,
                         uint32_t *term)
{
    ft_state_place p;
    bool known = ft_state_place_read(place, &p);
    FT_REQUIRE(known);
    switch (p.kind) {
    case FT_STATE_GLOBAL:
    case FT_STATE_OWN:
        return variable_cell(m, &p, place, width, term);
    case FT_STATE_HEAP:
        return heap_cell(m, &p, place, width, depth, term);
    case FT_STATE_STACK:
    case FT_STATE_REGISTER:
        break;
    }
    return local_cell(m, &p, place);
}

/* ---- terms ---- */

static const struct {
    ft_op op;
    ft_constrained_term_kind kind;
} KINDS[] = {
#define ROW(name)                                                                                  \
    {                                                                                              \
        FT_OP_##name, FT_CONSTRAINED_TERM_##name                                                   \
    }
    ROW(LITERAL), ROW(NOT),   ROW(AND),      ROW(OR),      ROW(XOR),         ROW(IMPLIES),
    ROW(ITE),     ROW(EQ),    ROW(DISTINCT), ROW(BVNOT),   ROW(BVNEG),       ROW(BVADD),
    ROW(BVSUB),   ROW(BVMUL), ROW(BVUDIV),   ROW(BVUREM),  ROW(BVSDIV),      ROW(BVSREM),
    ROW(BVAND),   ROW(BVOR),  ROW(BVXOR),    ROW(BVSHL),   ROW(BVLSHR),      ROW(BVASHR),
    ROW(BVULT),   ROW(BVULE), ROW(BVUGT),    ROW(BVUGE),   ROW(BVSLT),       ROW(BVSLE),
    ROW(BVSGT),   ROW(BVSGE), ROW(CONCAT),   ROW(EXTRACT), ROW(ZERO_EXTEND), ROW(SIGN_EXTEND),
#undef ROW
};

static bool kind_of(ft_op op, uint8_t *kind)
{
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
        if (KINDS[i].op == op) return *kind = (uint8_t)KINDS[i].kind, true;
    return false;
}

/* An input is a number by now, an unknown is a cell. */
static ft_status symbol_term(making *m, ft_symbol symbol, uint32_t *term)
{
    enum { POINTERS = 8 };
    const ft_schedule_set *set = m->from->set;
    const ft_schedule_input *in = &set->inputs.data[symbol];
    const char *name = ft_schedule_text_of(set, in->name);
    if (!in->n) return cell_of(m, name, in->width, POINTERS, term);
    ft_constrained_term literal = {.kind = FT_CONSTRAINED_TERM_LITERAL, .width = in->width};
    if (!m->from->value(m->from->context, in, name, ft_schedule_text_of(set, in->thread),
                        &literal.bits))
        return cannot(m, name, "an input that is not given");
    ft_vec_push(&m->to->terms, literal);
    *term = (uint32_t)m->to->terms.len - 1;
    return FT_OK;
}

static ft_status make_term(making *m, ft_term from)
{
    ft_term_node node = ft_term_get(m->from->set->pool, from);
    uint32_t made;
    if (node.op == FT_OP_SYMBOL) {
        TRY(symbol_term(m, node.symbol, &made));
        m->number[from] = made + 1;
        return FT_OK;
    }
    ft_constrained_term t = {.width = node.sort.kind == FT_SORT_BOOL ? 1 : node.sort.width,
                             .bits = node.bits,
                             .first_kid = (uint32_t)m->to->kids.len,
                             .n_kids = node.n_children};
    if (!kind_of(node.op, &t.kind) || node.sort.kind == FT_SORT_INT)
        return ft_error_set(m->err, FT_UNSUPPORTED,
                            "the selector of epoch %s has '%s', which native runs do not evaluate",
                            ft_schedule_text_of(m->from->set, epoch_of(m)->name),
                            ft_op_name(node.op));
    if (node.op == FT_OP_EXTRACT) t.low = (uint8_t)node.index[1];
    for (uint32_t i = 0; i < node.n_children; i++)
        ft_vec_push(&m->to->kids, m->number[node.children[i]] - 1);
    ft_vec_push(&m->to->terms, t);
    m->number[from] = (uint32_t)m->to->terms.len;
    return FT_OK;
}

/* Children have smaller numbers than their parents. */
static ft_status make_terms(making *m)
{
    const ft_term_pool *pool = m->from->set->pool;
    uint32_t n = ft_term_pool_count(pool);
    const ft_epoch *e = epoch_of(m);
    memset(m->wanted, 0, (n + 1) * sizeof *m->wanted);
    for (size_t i = 0; i < e->choices.len; i++) m->wanted[e->choices.data[i].term] = true;
    for (ft_term t = n; t; t--) {
        ft_term_node node = ft_term_get(pool, t);
        for (uint32_t i = 0; i < node.n_children && m->wanted[t]; i++)
            m->wanted[node.children[i]] = true;
    }
    for (ft_term t = 1; t <= n; t++)
        if (m->wanted[t]) TRY(make_term(m, t));
    return FT_OK;
}

/* ---- choices ---- */

static void make_choices(making *m)
{
    const ft_epoch *e = epoch_of(m);
    uint32_t first = (uint32_t)m->to->choices.len;
    for (size_t i = 0; i < e->choices.len; i++) {
        const ft_choice *c = &e->choices.data[i];
        bool leaf = c->term == FT_NO_TERM, covered = leaf && c->schedule != FT_NO_SCHEDULE;
        ft_vec_push(
            &m->to->choices,
            (ft_constrained_choice){.term = leaf ? FT_CONSTRAINED_NONE : m->number[c->term] - 1,
                                    .yes = first + c->yes,
                                    .no = first + c->no,
                                    .schedule = covered ? m->from->first[m->epoch] + c->schedule
                                                        : FT_CONSTRAINED_NONE});
    }
}

static ft_status make_epoch(making *m)
{
    ft_constrained_epoch made = {.choice = (uint32_t)m->to->choices.len,
                                 .first_term = (uint32_t)m->to->terms.len};
    if (m->epoch) {
        TRY(make_terms(m));
        make_choices(m);
    }
    made.n_terms = (uint32_t)m->to->terms.len - made.first_term;
    ft_vec_push(&m->to->epochs, made);
    return FT_OK;
}

ft_status ft_selectors_make(ft_selectors *selectors, const ft_selectors_from *from, ft_error *err)
{
    uint32_t n = ft_term_pool_count(from->set->pool);
    making m = {.to = selectors, .from = from, .err = err};
    ft_status status = FT_OK;
    m.number = ft_calloc(n + 1, sizeof *m.number);
    m.wanted = ft_calloc(n + 1, sizeof *m.wanted);
    for (m.epoch = 0; m.epoch < from->set->epochs.len && status == FT_OK; m.epoch++)
        status = make_epoch(&m);
    free(m.number);
    free(m.wanted);
    return status;
}

void ft_selectors_release(ft_selectors *s)
{
    ft_vec_release(&s->terms);
    ft_vec_release(&s->kids);
    ft_vec_release(&s->choices);
    ft_vec_release(&s->epochs);
}
