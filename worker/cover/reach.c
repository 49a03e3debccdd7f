#include "cover/reach.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "cover/closed.h"
#include "cover/constrained.h"
#include "cover/faults.h"
#include "cover/question.h"
#include "symbolic/epoch.h"

/* A symbol of the search's terms: an input or an unknown of the epoch at hand. */
typedef struct named {
    char *thread; /* of an input; NULL: an unknown, whose place is `name` */
    char *name;
    uint32_t n; /* of an input: from 0 */
    uint8_t width;
} named;

typedef struct content {
    ft_symbol symbol; /* an unknown of the next epoch */
    ft_term term;
} content;

/* A path of a schedule that goes on in an epoch. */
typedef struct way {
    ft_term condition; /* under which it is taken, and arrives */
    FT_VEC(content) contents;
    FT_VEC(uint32_t) reads; /* by thread of the next epoch and name of an input: values so far */
} way;

typedef struct followed {
    bool is, whole; /* it was followed; every path that goes on is among its ways */
    FT_VEC(way) ways;
} followed;

struct cover_reach {
    cover_world world;
    ft_schedule_set *set;
    cover_closed closed;
    ft_term_pool *pool;
    FT_VEC(named) symbols;
    ft_map numbers;     /* hash of a symbol -> its number */
    ft_intern inputs;   /* names of the program's inputs */
    followed **follows; /* by epoch and schedule */
};

/* ---- terms ---- */

static ft_term apply(cover_reach *r, ft_op op, const ft_term *kids, uint32_t n)
{
    ft_term made = FT_NO_TERM;
    ft_status status = ft_term_apply(r->pool, op, kids, n, NULL, &made, NULL);
    assert(status == FT_OK);
    (void)status;
    return made;
}

static ft_term truth(cover_reach *r, bool value)
{
    return ft_term_literal(r->pool, (ft_value){FT_BOOL_SORT, value});
}

static ft_term both(cover_reach *r, ft_term a, ft_term b)
{
    return apply(r, FT_OP_AND, (ft_term[2]){a, b}, 2);
}

static ft_term negated(cover_reach *r, ft_term a)
{
    return apply(r, FT_OP_NOT, &a, 1);
}

static bool is_named(const named *s, const char *thread, const char *name, uint32_t n,
                     uint8_t width)
{
    bool same = thread ? s->thread && strcmp(s->thread, thread) == 0 : !s->thread;
    return same && s->n == n && s->width == width && strcmp(s->name, name) == 0;
}

static ft_symbol symbol_of(cover_reach *r, const char *thread, const char *name, uint32_t n,
                           uint8_t width)
{
    uint64_t key = ft_hash_bytes(name, strlen(name), (uint64_t)n << 8 | width);
    if (thread) key = ft_hash_bytes(thread, strlen(thread), key);
    for (;; key++) {
        bool fresh;
        uint64_t *slot = ft_map_slot(&r->numbers, key, r->symbols.len, &fresh);
        if (!fresh && is_named(&r->symbols.data[*slot], thread, name, n, width))
            return (ft_symbol)*slot;
        if (!fresh) continue;
        ft_vec_push(&r->symbols,
                    (named){thread ? ft_strdup(thread) : NULL, ft_strdup(name), n, width});
        return (ft_symbol)(r->symbols.len - 1);
    }
}

static ft_term symbol_term(cover_reach *r, ft_symbol symbol)
{
    uint8_t width = r->symbols.data[symbol].width;
    ft_sort sort = width == 1 ? FT_BOOL_SORT : (ft_sort){FT_SORT_BITVEC, width};
    return ft_term_symbol(r->pool, symbol, sort);
}

/* ---- from a world's terms ---- */

typedef struct importing {
    cover_reach *r;
    const cover_world *world;
    ft_map done;
} importing;

static ft_term import_symbol(void *context, const ft_term_node *node)
{
    importing *i = context;
    ft_sym_name in = ft_sym_world_input(i->world->world, node->symbol);
    if (in.thread == FT_NO_ID)
        return symbol_term(i->r, symbol_of(i->r, NULL, in.name, 0, in.width));
    ft_strbuf thread = {0};
    cover_world_thread_name(i->world, in.thread, &thread);
    ft_symbol symbol = symbol_of(i->r, thread.text, in.name, in.n, in.width);
    ft_strbuf_release(&thread);
    return symbol_term(i->r, symbol);
}

static ft_term import(importing *i, ft_term term)
{
    return cover_copy_term(i->world->pool, i->r->pool, &i->done, import_symbol, i, term);
}

/* ---- the ways of a schedule ---- */

typedef struct following {
    cover_reach *r;
    importing terms;
    const ft_schedule *schedule;
    uint32_t next;
    followed *to;
    ft_term domain, inside; /* inside: the arrival at hand is one that the epoch describes */
} following;

static void on_outside(void *context, ft_term condition, const char *what)
{
    following *f = context;
    (void)what;
    f->inside = both(f->r, f->inside, negated(f->r, import(&f->terms, condition)));
}

static void add_contents(following *f, const ft_sym_state *arrival, way *w)
{
    const ft_schedule_set *set = f->r->set;
    for (size_t i = 0; i < set->inputs.len; i++) {
        const ft_schedule_input *in = &set->inputs.data[i];
        if (in->epoch != f->next || in->n) continue;
        const char *place = ft_schedule_text_of(set, in->name);
        ft_term term = ft_sym_content(arrival, place, in->width);
        if (term == FT_NO_TERM) continue;
        content c = {symbol_of(f->r, NULL, place, 0, in->width), import(&f->terms, term)};
        ft_vec_push(&w->contents, c);
    }
}

static void add_reads(following *f, const ft_sym_state *state, way *w)
{
    for (size_t i = 0; i < f->schedule->bound.len; i++) {
        const char *name =
            ft_schedule_text_of(f->r->set, f->schedule->threads.data[f->schedule->bound.data[i]]);
        uint32_t thread = cover_world_thread(&f->r->world, name);
        for (uint32_t k = 0; k < f->r->inputs.len; k++)
            ft_vec_push(&w->reads, ft_sym_reads(state, thread, f->r->inputs.names[k]));
    }
}

static void on_leaf(void *context, const cover_leaf *leaf)
{
    following *f = context;
    ft_error err = FT_ERROR_INIT;
    ft_sym_state *arrival = NULL;
    if (leaf->kind != COVER_LEAF_OPEN) return;
    f->inside = truth(f->r, true);
    if (cover_closed_check(&f->r->closed, f->schedule, leaf->state, on_outside, f, &arrival,
                           &err) != FT_OK)
        f->to->whole = false;
    if (!arrival) return;
    way w = {.condition = both(f->r, f->domain, f->inside)};
    for (size_t i = 0; i < leaf->n_terms; i++)
        w.condition = both(f->r, w.condition, import(&f->terms, leaf->terms[i]));
    add_contents(f, arrival, &w);
    add_reads(f, leaf->state, &w);
    ft_vec_push(&f->to->ways, w);
    ft_sym_free(arrival);
}

/* The condition under which the epoch takes the schedule, with what its init says. */
static ft_term domain_of(cover_reach *r, uint32_t epoch, uint32_t schedule)
{
    cover_translation t = {.world = &r->world, .set = r->set, .epoch = epoch};
    ft_term init = r->set->epochs.data[epoch].init;
    ft_term domain = cover_to_world(&t, ft_schedule_condition(r->set, epoch, schedule));
    ft_term known = init && domain ? cover_to_world(&t, init) : domain;
    cover_translation_release(&t);
    if (!init || !known) return known;
    ft_term kids[2] = {domain, known}, made = FT_NO_TERM;
    ft_status status = ft_term_apply(r->world.pool, FT_OP_AND, kids, 2, NULL, &made, NULL);
    assert(status == FT_OK);
    (void)status;
    return made;
}

static void follow(cover_reach *r, uint32_t epoch, uint32_t schedule, followed *to)
{
    enum { MOST_PATHS = 2000 };
    ft_error err = FT_ERROR_INIT;
    const ft_sym_state *begin = r->closed.beginnings[epoch];
    cover_world_begin(&r->world, begin ? ft_sym_thread_count(begin) : 1);
    const ft_schedule *x = &r->set->epochs.data[epoch].schedules.data[schedule];
    ft_term domain = domain_of(r, epoch, schedule);
    to->is = true;
    if (!domain) return;
    following f = {.r = r,
                   .terms = {.r = r, .world = &r->world},
                   .schedule = x,
                   .next = ft_schedule_epoch_named(r->set, x->next),
                   .to = to};
    f.domain = import(&f.terms, domain);
    cover_following c = {.world = &r->world,
                         .set = r->set,
                         .schedule = x,
                         .begin = begin,
                         .condition = domain,
                         .leaf = on_leaf,
                         .context = &f,
                         .max_leaves = MOST_PATHS};
    to->whole = true;
    if (cover_follow_all(&c, &err) != FT_OK) to->whole = false;
    ft_map_release(&f.terms.done);
}

/* ---- one step back ---- */

typedef struct stepping {
    cover_reach *r;
    const ft_schedule *schedule; /* of the way */
    const way *way;
} stepping;

static uint32_t creates(const ft_schedule *s, uint32_t thread)
{
    uint32_t n = 0;
    for (size_t i = 0; i < s->nodes.len; i++)
        n += s->nodes.data[i].thread == thread && s->nodes.data[i].kind == FT_NODE_CREATE;
    return n;
}

/* The input of the next epoch as one of the way's own. */
static ft_term earlier_input(stepping *s, const named *in)
{
    char *rest;
    unsigned long root = strtoul(in->thread, &rest, 10), child = 0;
    uint32_t name = ft_intern_find(&s->r->inputs, in->name, strlen(in->name));
    uint32_t before = 0, n_names = s->r->inputs.len;
    if (root >= s->schedule->bound.len || name == FT_NO_ID) return FT_NO_TERM;
    uint32_t thread = s->schedule->bound.data[root];
    if (!*rest) before = s->way->reads.data[root * n_names + name];
    ft_strbuf text = {0};
    ft_strbuf_puts(&text, ft_schedule_text_of(s->r->set, s->schedule->threads.data[thread]));
    if (*rest) {
        child = strtoul(rest + 1, &rest, 10);
        ft_strbuf_printf(&text, ".%lu%s", child + creates(s->schedule, thread), rest);
    }
    ft_symbol symbol = symbol_of(s->r, text.text, in->name, before + in->n, in->width);
    ft_strbuf_release(&text);
    return symbol_term(s->r, symbol);
}

static ft_term step_symbol(void *context, const ft_term_node *node)
{
    stepping *s = context;
    named in = s->r->symbols.data[node->symbol];
    if (in.thread) return earlier_input(s, &in);
    for (size_t i = 0; i < s->way->contents.len; i++)
        if (s->way->contents.data[i].symbol == node->symbol) return s->way->contents.data[i].term;
    return FT_NO_TERM;
}

/* What has to hold before the way, so that the condition does behind it. */
static ft_term step_back(cover_reach *r, const ft_schedule *schedule, const way *w,
                         ft_term condition)
{
    stepping s = {r, schedule, w};
    ft_map done = {0};
    ft_term made = cover_copy_term(r->pool, r->pool, &done, step_symbol, &s, condition);
    ft_map_release(&done);
    return made ? both(r, w->condition, made) : FT_NO_TERM;
}

/* ---- the search ---- */

typedef struct met {
    uint32_t epoch;
    ft_term condition;
} met;

typedef struct searching {
    cover_reach *r;
    const cover_goal *goal;
    FT_VEC(met) met; /* in the order in which they are looked at */
    uint32_t questions;
    bool left_out, found;
} searching;

static uint8_t width_of(const void *context, ft_symbol symbol)
{
    return ((const cover_reach *)context)->symbols.data[symbol].width;
}

static ft_answer ask(searching *s, ft_term condition, cover_model *model)
{
    enum { MS = 1000 };
    cover_asked_term asked = {
        .pool = s->r->pool, .condition = condition, .ms = MS, .width = width_of, .context = s->r};
    if (condition == truth(s->r, false)) return FT_ANSWER_UNSAT;
    s->questions++;
    return cover_ask_term(&asked, model);
}

/* The condition, where none holds that was met in the epoch before. */
static ft_term news(searching *s, uint32_t epoch, ft_term condition)
{
    for (size_t i = 0; i < s->met.len; i++)
        if (s->met.data[i].epoch == epoch)
            condition = both(s->r, condition, negated(s->r, s->met.data[i].condition));
    return condition;
}

static void try_inputs(searching *s, const cover_model *model)
{
    FT_VEC(cover_given) given = {0};
    for (size_t i = 0; i < model->len; i++) {
        const named *in = &s->r->symbols.data[model->data[i].symbol];
        if (in->thread)
            ft_vec_push(&given,
                        (cover_given){in->thread, in->name, in->n, in->width, model->data[i].bits});
    }
    s->found = s->goal->run(s->goal->context, given.data, given.len);
    s->left_out |= !s->found;
    ft_vec_release(&given);
}

static void look_at(searching *s, uint32_t epoch, ft_term condition)
{
    cover_model model = {0};
    ft_answer answer = ask(s, epoch ? news(s, epoch, condition) : condition, &model);
    if (answer == FT_ANSWER_UNKNOWN) s->left_out = true;
    if (answer == FT_ANSWER_SAT && !epoch) try_inputs(s, &model);
    if (answer == FT_ANSWER_SAT && epoch) ft_vec_push(&s->met, (met){epoch, condition});
    ft_vec_release(&model);
}

static bool is_over(searching *s)
{
    enum { MOST_CONDITIONS = 64, MOST_QUESTIONS = 400 };
    const cover_world *w = &s->r->world;
    bool late = s->met.len > MOST_CONDITIONS || s->questions > MOST_QUESTIONS ||
                (w->should_stop && w->should_stop(w->context));
    s->left_out |= late;
    return late || s->found;
}

static void step_back_by(searching *s, uint32_t epoch, uint32_t schedule, const met *to)
{
    followed *f = &s->r->follows[epoch][schedule];
    const ft_schedule *x = &s->r->set->epochs.data[epoch].schedules.data[schedule];
    if (x->end != FT_SCHEDULE_EPOCH || ft_schedule_epoch_named(s->r->set, x->next) != to->epoch)
        return;
    if (!f->is) follow(s->r, epoch, schedule, f);
    s->left_out |= !f->whole;
    for (size_t i = 0; i < f->ways.len && !is_over(s); i++) {
        ft_term before = step_back(s->r, x, &f->ways.data[i], to->condition);
        if (before)
            look_at(s, epoch, before);
        else
            s->left_out = true;
    }
}

ft_term cover_reach_import(cover_reach *r, const cover_world *world, ft_term condition)
{
    FT_REQUIRE(r && world);
    importing terms = {.r = r, .world = world};
    ft_term made = import(&terms, condition);
    ft_map_release(&terms.done);
    return made;
}

cover_reached cover_reach_search(cover_reach *r, const cover_goal *goal)
{
    FT_REQUIRE(r && goal && goal->epoch && goal->run);
    searching s = {.r = r, .goal = goal};
    ft_vec_push(&s.met, (met){goal->epoch, goal->condition});
    for (size_t at = 0; at < s.met.len && !is_over(&s); at++) {
        met to = s.met.data[at];
        for (uint32_t e = 0; e < r->set->epochs.len; e++)
            for (uint32_t x = 0; x < r->set->epochs.data[e].schedules.len && !is_over(&s); x++)
                step_back_by(&s, e, x, &to);
    }
    ft_vec_release(&s.met);
    if (s.found) return COVER_REACHED;
    return s.left_out ? COVER_OPEN : COVER_NEVER;
}

/* ---- the whole ---- */

static void note_inputs(cover_reach *r, const ft_program *p)
{
    for (size_t f = 0; f < p->functions.len; f++)
        for (size_t i = 0; i < p->functions.data[f].instructions.len; i++) {
            const ft_instruction *in = &p->functions.data[f].instructions.data[i];
            if (in->code != FT_CODE_INPUT) continue;
            ft_intern_add(&r->inputs, p->texts.names[in->extra], p->texts.lengths[in->extra]);
        }
}

ft_status cover_reach_new(const ft_program *program, ft_schedule_set *set,
                          const cover_world_options *options, cover_reach **reach, ft_error *err)
{
    FT_REQUIRE(program && set && options && reach);
    cover_reach *r = ft_calloc(1, sizeof *r);
    r->set = set;
    r->pool = ft_term_pool_new();
    cover_world_init(&r->world, program, options);
    note_inputs(r, program);
    r->follows = ft_calloc(set->epochs.len + 1, sizeof *r->follows);
    for (size_t e = 0; e < set->epochs.len; e++)
        r->follows[e] = ft_calloc(set->epochs.data[e].schedules.len + 1, sizeof **r->follows);
    ft_status status = cover_closed_init(&r->closed, &r->world, set, err);
    if (status == FT_OK)
        *reach = r;
    else
        cover_reach_free(r);
    return status;
}

static void release_followed(followed *f)
{
    for (size_t i = 0; i < f->ways.len; i++) {
        ft_vec_release(&f->ways.data[i].contents);
        ft_vec_release(&f->ways.data[i].reads);
    }
    ft_vec_release(&f->ways);
}

void cover_reach_free(cover_reach *r)
{
    if (!r) return;
    for (size_t e = 0; e < r->set->epochs.len; e++) {
        for (size_t x = 0; x < r->set->epochs.data[e].schedules.len; x++)
            release_followed(&r->follows[e][x]);
        free(r->follows[e]);
    }
    free(r->follows);
    for (size_t i = 0; i < r->symbols.len; i++) {
        free(r->symbols.data[i].thread);
        free(r->symbols.data[i].name);
    }
    ft_vec_release(&r->symbols);
    ft_map_release(&r->numbers);
    ft_intern_release(&r->inputs);
    cover_closed_release(&r->closed);
    cover_world_release(&r->world);
    ft_term_pool_free(r->pool);
    free(r);
}
