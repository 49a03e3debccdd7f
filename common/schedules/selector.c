/* Selectors: which schedule they take, which they can take, and when. */
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "schedules/dynamic.h"

/* ---- by values ---- */

typedef struct asked {
    const ft_schedule_set *set;
    ft_schedule_value value;
    void *context;
    bool open;        /* dynamic inputs may be unknown */
    uint32_t missing; /* an input that is not known and has to be, + 1 */
} asked;

static bool look_up(void *context, ft_symbol symbol, ft_value *value)
{
    asked *a = context;
    const ft_schedule_input *in = &a->set->inputs.data[symbol];
    uint64_t bits;
    /* an unknown has no thread: its name is the place */
    if (!a->value(a->context, in, ft_schedule_text_of(a->set, in->name),
                  ft_schedule_text_of(a->set, in->thread), &bits)) {
        if (!a->open || !in->dynamic) a->missing = symbol + 1;
        return false;
    }
    value->sort = in->width == 1 ? FT_BOOL_SORT : (ft_sort){FT_SORT_BITVEC, in->width};
    value->bits = bits & ft_width_mask(in->width);
    return true;
}

/* Does the choice's condition hold? An undefined one does not. */
static ft_eval_status decide(asked *a, const ft_choice *c, bool *holds)
{
    ft_value value = {.bits = 0};
    a->missing = 0;
    ft_eval_status status = ft_term_eval(a->set->pool, c->term, look_up, a, &value);
    *holds = status == FT_EVAL_OK && value.bits;
    return status;
}

static ft_status missing(const asked *a, const ft_epoch *e, ft_error *err)
{
    const ft_schedule_input *in = &a->set->inputs.data[a->missing - 1];
    const char *epoch = ft_schedule_text_of(a->set, e->name);
    const char *name = ft_schedule_text_of(a->set, in->name);
    if (!in->n)
        return ft_error_set(
            err, FT_NOT_FOUND,
            "the selector of epoch %s needs the content of %s, which cannot be read", epoch, name);
    return ft_error_set(err, FT_NOT_FOUND,
                        "the selector of epoch %s needs value %u of input '%s' of thread %s, which "
                        "is not given",
                        epoch, in->n, name, ft_schedule_text_of(a->set, in->thread));
}

ft_status ft_schedule_select(const ft_schedule_set *set, uint32_t epoch, ft_schedule_value value,
                             void *context, uint32_t *schedule, ft_error *err)
{
    FT_REQUIRE(epoch < set->epochs.len);
    const ft_epoch *e = &set->epochs.data[epoch];
    asked a = {set, value, context, false, 0};
    const ft_choice *c = e->choices.data;
    while (c->term != FT_NO_TERM) {
        bool holds;
        if (decide(&a, c, &holds) == FT_EVAL_UNKNOWN) return missing(&a, e, err);
        c = &e->choices.data[holds ? c->yes : c->no];
    }
    *schedule = c->schedule;
    return FT_OK;
}

ft_status ft_schedule_possible(const ft_schedule_set *set, uint32_t epoch, ft_schedule_value value,
                               void *context, bool *possible, ft_error *err)
{
    FT_REQUIRE(epoch < set->epochs.len && value && possible);
    const ft_epoch *e = &set->epochs.data[epoch];
    asked a = {set, value, context, true, 0};
    ft_status status = FT_OK;
    bool *reached = ft_calloc(e->choices.len, sizeof *reached); /* children stand behind */
    memset(possible, 0, e->schedules.len * sizeof *possible);
    reached[0] = true;
    for (size_t i = 0; i < e->choices.len && status == FT_OK; i++) {
        const ft_choice *c = &e->choices.data[i];
        if (!reached[i]) continue;
        if (c->term == FT_NO_TERM) {
            if (c->schedule != FT_NO_SCHEDULE) possible[c->schedule] = true;
            continue;
        }
        bool holds, unknown = decide(&a, c, &holds) == FT_EVAL_UNKNOWN;
        if (unknown && a.missing) status = missing(&a, e, err);
        reached[c->yes] = unknown || holds;
        reached[c->no] = unknown || !holds;
    }
    free(reached);
    return status;
}

/* ---- as conditions ---- */

static ft_term combine(ft_term_pool *pool, ft_op op, ft_term a, ft_term b)
{
    ft_term kids[2] = {a, b}, made = FT_NO_TERM;
    ft_status status = ft_term_apply(pool, op, kids, op == FT_OP_NOT ? 1 : 2, NULL, &made, NULL);
    assert(status == FT_OK);
    (void)status;
    return made;
}

typedef struct knowing {
    const bool *known; /* NULL: all are */
    bool all;
} knowing;

static void note_symbol(void *context, ft_symbol symbol)
{
    knowing *k = context;
    k->all = k->all && k->known[symbol];
}

/* From the leaves up: a choice's condition is (term and that of yes) or (not term and that of no);
 * of a term that is not known, either. */
static ft_term condition(ft_schedule_set *set, uint32_t epoch, uint32_t schedule, const bool *known)
{
    FT_REQUIRE(epoch < set->epochs.len);
    const ft_epoch *e = &set->epochs.data[epoch];
    ft_term *of = ft_alloc((e->choices.len + 1) * sizeof *of);
    for (size_t i = e->choices.len; i-- > 0;) {
        const ft_choice *c = &e->choices.data[i];
        if (c->term == FT_NO_TERM) {
            of[i] = ft_term_literal(set->pool, (ft_value){FT_BOOL_SORT, c->schedule == schedule});
            continue;
        }
        knowing k = {known, true};
        if (known) ft_term_symbols(set->pool, c->term, note_symbol, &k);
        ft_term yes = of[c->yes], no = of[c->no];
        if (k.all) {
            yes = combine(set->pool, FT_OP_AND, c->term, yes);
            ft_term not_term = combine(set->pool, FT_OP_NOT, c->term, FT_NO_TERM);
            no = combine(set->pool, FT_OP_AND, not_term, no);
        }
        of[i] = combine(set->pool, FT_OP_OR, yes, no);
    }
    ft_term root = of[0];
    free(of);
    return root;
}

ft_term ft_schedule_condition(ft_schedule_set *set, uint32_t epoch, uint32_t schedule)
{
    return condition(set, epoch, schedule, NULL);
}

ft_term ft_schedule_possible_condition(ft_schedule_set *set, uint32_t epoch, uint32_t schedule,
                                       const bool *known)
{
    FT_REQUIRE(known);
    return condition(set, epoch, schedule, known);
}
