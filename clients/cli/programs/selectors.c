#include "programs/selectors.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "maker/symbols/local_places.h"
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
    bool locals;      /* some term of the epoch is a local variable */
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
    if (text == FT_NO_ID || !ft_state_place_read(ft_schedule_text_of(set, text), at)) return false;
    if (at->kind != object->kind || at->number != object->number) return false;
    return at->kind == FT_STATE_HEAP ||
           (at->kind == FT_STATE_STACK && at->thread == object->thread &&
            at->frame == object->frame && at->length == object->length &&
            memcmp(at->name, object->name, at->length) == 0);
}

static ft_status cell_of(making *m, const char *place, uint8_t width, unsigned depth,
                         uint32_t *term);

/* An object of the heap or a stack lies where a cell that is known to have its address says. */
static bool pointed_cell(making *m, const ft_state_place *p, uint8_t width, unsigned depth,
                         uint32_t *term)
{
    const ft_epoch *e = epoch_of(m);
    const ft_schedule_set *set = m->from->set;
    making attempt = *m;
    for (size_t i = 0; i < e->cells.len && depth; i++) {
        ft_state_place at;
        ft_error unused = FT_ERROR_INIT;
        uint32_t pointer;
        const char *text = ft_schedule_text_of(set, e->cells.data[i].place);
        attempt.err = &unused;
        if (!is_in_object(set, e->cells.data[i].address, p, &at)) continue;
        if (cell_of(&attempt, text, 64, depth - 1, &pointer) != FT_OK) continue;
        m->locals |= attempt.locals;
        *term = add_cell(m,
                         (ft_constrained_term){.width = width,
                                               .base = FT_CONSTRAINED_IN_OBJECT,
                                               .offset = (int64_t)p->offset - (int64_t)at.offset},
                         pointer);
        return true;
    }
    return false;
}

/* ---- locals ---- */

static const ft_schedule_place *stands_at(const making *m, const ft_state_place *p)
{
    const ft_standing *s = &epoch_of(m)->stands.data[p->thread];
    return p->frame < s->calls.len ? &s->calls.data[s->calls.len - 1 - p->frame] : NULL;
}

static ft_status cannot_locate(const making *m, const ft_state_place *p, const char *place,
                               const char *why)
{
    const ft_schedule_set *set = m->from->set;
    const ft_schedule_place *at = stands_at(m, p);
    ft_strbuf text = {0};
    ft_strbuf_puts(&text, "a local of ");
    ft_strbuf_puts(&text, at ? ft_schedule_text_of(set, at->function) : "a function");
    if (at && at->file != FT_NO_ID)
        ft_strbuf_printf(&text, " (at %s:%u)", ft_schedule_text_of(set, at->file), at->line);
    ft_strbuf_printf(&text, ", which cannot be read in a run (%s); make it a static variable", why);
    ft_status status = cannot(m, place, text.text);
    ft_strbuf_release(&text);
    return status;
}

/* What the set says of the register, or of the stack object; NULL: nothing. */
static const ft_epoch_local *local_of(const making *m, const ft_state_place *p)
{
    const ft_epoch *e = epoch_of(m);
    for (size_t i = 0; i < e->locals.len; i++) {
        ft_state_place at;
        const char *text = ft_schedule_text_of(m->from->set, e->locals.data[i].place);
        bool known = ft_state_place_read(text, &at);
        if (known && at.kind == p->kind && at.thread == p->thread && at.frame == p->frame &&
            at.number == p->number && at.length == p->length &&
            memcmp(at.name, p->name, at.length) == 0)
            return &e->locals.data[i];
    }
    return NULL;
}

/* Which of the frames that stand at that line of the function it is, from the outermost. */
static void count_frames(const making *m, const ft_state_place *p, ft_constrained_term *cell)
{
    const ft_standing *s = &epoch_of(m)->stands.data[p->thread];
    const ft_schedule_place *own = stands_at(m, p);
    for (uint32_t d = 0; d < s->calls.len; d++) {
        const ft_schedule_place *at = &s->calls.data[s->calls.len - 1 - d];
        if (at->function != own->function || at->file != own->file || at->line != own->line)
            continue;
        cell->which += d < p->frame;
        cell->frames++;
    }
}

static bool base_of(uint32_t base, uint32_t *number)
{
    static const struct {
        uint32_t from, to;
    } bases[] = {
#define FT_ROW(symbol, number) {number, FT_CONSTRAINED_##symbol},
        FT_CONSTRAINED_REGISTER_TABLE(FT_ROW)
#undef FT_ROW
            {FT_LOCAL_STACK, FT_CONSTRAINED_RSP},
        {FT_LOCAL_CFA, FT_CONSTRAINED_CFA},
        {FT_LOCAL_ZERO, FT_CONSTRAINED_ZERO}};
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++)
        if (bases[i].from == base) return *number = bases[i].to, true;
    return false;
}

/* A stack object has to be memory. Returns whether any place is one. */
static bool add_places(making *m, const ft_local_variable *v, bool in_memory)
{
    static const ft_constrained_how hows[] = {[FT_LOCAL_NOWHERE] = FT_CONSTRAINED_NOWHERE,
                                              [FT_LOCAL_VALUE] = FT_CONSTRAINED_VALUE,
                                              [FT_LOCAL_MEMORY] = FT_CONSTRAINED_MEMORY};
    bool any = false;
    for (size_t i = 0; i < v->places.len; i++) {
        const ft_local_place *p = &v->places.data[i];
        ft_constrained_local l = {
            .from = p->from, .to = p->to, .offset = p->offset, .how = hows[p->kind]};
        bool known = p->kind != FT_LOCAL_NOWHERE && base_of(p->base, &l.base);
        if (!known || (in_memory && p->kind != FT_LOCAL_MEMORY)) l.how = FT_CONSTRAINED_NOWHERE;
        any |= l.how != FT_CONSTRAINED_NOWHERE;
        ft_vec_push(&m->to->locals, l);
    }
    return any;
}

/* NULL: the variable's places are found. */
static const char *find_places(making *m, const ft_state_place *p, uint8_t width,
                               ft_local_variable *v, ft_status *status)
{
    *status = ft_local_places_find(m->from->program, v, m->err);
    if (*status != FT_OK || !v->places.len)
        return "the program's debug information does not have it";
    if (v->size && (p->offset > v->size || v->size - p->offset < (width + 7u) / 8))
        return "the program's variable is smaller";
    if (v->is_ambiguous) return "several variables of that name are declared in one line";
    if (v->is_opaque) return "the compiler keeps it nowhere at that call";
    return NULL;
}

static ft_status named_cell(making *m, const ft_state_place *p, const char *place, uint8_t width,
                            uint32_t *term)
{
    const ft_schedule_set *set = m->from->set;
    const ft_epoch_local *l = local_of(m, p);
    const ft_schedule_place *at = stands_at(m, p);
    if (!l || !at || at->file == FT_NO_ID)
        return cannot_locate(m, p, place, "the set does not say which variable it is");
    ft_local_variable v = {.name = ft_schedule_text_of(set, l->name),
                           .file = ft_schedule_text_of(set, l->file),
                           .line = l->line,
                           .at_file = ft_schedule_text_of(set, at->file),
                           .at_line = at->line,
                           .callee = ""};
    const ft_standing *s = &epoch_of(m)->stands.data[p->thread];
    if (p->frame + 1 < s->calls.len) v.callee = ft_schedule_text_of(set, (at - 1)->function);
    ft_constrained_term cell = {.width = width,
                                .base = FT_CONSTRAINED_IN_FRAME,
                                .thread = p->thread,
                                .offset = p->kind == FT_STATE_STACK ? (int64_t)p->offset : 0,
                                .first_local = (uint32_t)m->to->locals.len};
    ft_status status;
    const char *why = find_places(m, p, width, &v, &status);
    if (!why && !add_places(m, &v, p->kind == FT_STATE_STACK))
        why = "the compiler keeps it nowhere at that line";
    cell.n_locals = (uint32_t)m->to->locals.len - cell.first_local;
    ft_local_places_release(&v);
    if (status != FT_OK) return status;
    if (why) return cannot_locate(m, p, place, why);
    count_frames(m, p, &cell);
    *term = add_cell(m, cell, 0);
    m->locals = true;
    return FT_OK;
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
        if (pointed_cell(m, &p, width, depth, term)) return FT_OK;
        return cannot(m, place, "to which no variable of the program leads");
    case FT_STATE_STACK:
        if (pointed_cell(m, &p, width, depth, term)) return FT_OK;
        break;
    case FT_STATE_REGISTER:
        break;
    case FT_STATE_RESULT:
        *term = add_cell(m,
                         (ft_constrained_term){
                             .width = width, .base = FT_CONSTRAINED_IN_RESULT, .thread = p.thread},
                         0);
        return FT_OK;
    }
    return named_cell(m, &p, place, width, term);
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

/* The terms of the epoch's selector. Children have smaller numbers than their parents. */
static void mark_terms(making *m)
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
}

/* Does the selector depend on what a loop computes? */
static bool needs_loops(const making *m)
{
    const ft_schedule_set *set = m->from->set;
    for (ft_term t = ft_term_pool_count(set->pool); t; t--) {
        ft_term_node node = ft_term_get(set->pool, t);
        if (m->wanted[t] && node.op == FT_OP_SYMBOL && set->inputs.data[node.symbol].loop)
            return true;
    }
    return false;
}

static ft_status make_terms(making *m)
{
    uint32_t n = ft_term_pool_count(m->from->set->pool);
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
    m->locals = false;
    if (m->epoch) mark_terms(m);
    if (m->epoch && needs_loops(m)) {
        made.first_schedule = m->from->first[m->epoch];
        made.n_schedules = (uint32_t)epoch_of(m)->schedules.len;
    } else if (m->epoch) {
        TRY(make_terms(m));
        make_choices(m);
    }
    made.n_terms = (uint32_t)m->to->terms.len - made.first_term;
    made.locals = m->locals;
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
    ft_vec_release(&s->locals);
    ft_vec_release(&s->kids);
    ft_vec_release(&s->choices);
    ft_vec_release(&s->epochs);
}
