#include "cover/certify.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/contract.h"
#include "cover/closed.h"
#include "cover/doubts.h"
#include "cover/faults.h"
#include "cover/ordered.h"
#include "cover/question.h"
#include "cover/replay.h"
#include "cover/translate.h"
#include "program/binary.h"
#include "schedules/dynamic.h"

typedef FT_VEC(ft_term) terms;

/* What was found while one schedule was followed. */
typedef struct certifying {
    cover_world world;
    cover_translation translation;
    const cover_certify_options *options;
    ft_schedule_set *set;
    const ft_epoch *epoch;
    uint32_t epoch_number;
    cover_closed closed;
    cover_doubts doubts;
    uint32_t number; /* of the schedule */
    const ft_schedule *schedule;
    ft_schedule_order order;
    ft_map nodes;                        /* thread and number -> node */
    ft_term init;                        /* of the world */
    terms good, of[COVER_CERTIFICATES];  /* conditions of paths that are as they should, or not */
    terms parting;                       /* of those that do a node too early */
    ft_strbuf first[COVER_CERTIFICATES]; /* what is wrong with the first of them */
    ft_sym_place at[COVER_CERTIFICATES][2]; /* and where */
    uint8_t n_at[COVER_CERTIFICATES];
    cover_certificates *found;
    bool late;      /* races of a leaf were not all looked for */
    bool fails;     /* a run under the schedule does */
    ft_error doubt; /* why arrivals could not be compared */
    ft_strbuf text; /* scratch */
} certifying;

/* ---- terms ---- */

static ft_term apply(certifying *c, ft_op op, const ft_term *kids, uint32_t n)
{
    ft_term made = FT_NO_TERM;
    ft_status status = ft_term_apply(c->world.pool, op, kids, n, NULL, &made, NULL);
    assert(status == FT_OK);
    (void)status;
    return made;
}

static ft_term truth(certifying *c, bool value)
{
    return ft_term_literal(c->world.pool, (ft_value){FT_BOOL_SORT, value});
}

static ft_term all_of(certifying *c, const ft_term *all, size_t n)
{
    if (!n) return truth(c, true);
    return n == 1 ? all[0] : apply(c, FT_OP_AND, all, (uint32_t)n);
}

static ft_term any_of(certifying *c, const terms *all)
{
    if (!all->len) return truth(c, false);
    return all->len == 1 ? all->data[0] : apply(c, FT_OP_OR, all->data, (uint32_t)all->len);
}

static ft_term both(certifying *c, ft_term a, ft_term b)
{
    return apply(c, FT_OP_AND, (ft_term[2]){a, b}, 2);
}

static ft_term either(certifying *c, ft_term a, ft_term b)
{
    return apply(c, FT_OP_OR, (ft_term[2]){a, b}, 2);
}

static ft_term negated(certifying *c, ft_term a)
{
    return apply(c, FT_OP_NOT, &a, 1);
}

static ft_term bits64(certifying *c, uint64_t bits)
{
    return ft_term_literal(c->world.pool, (ft_value){{FT_SORT_BITVEC, 64}, bits});
}

static bool is_late(const certifying *c)
{
    const cover_world_options *o = &c->options->world;
    return o->should_stop && o->should_stop(o->context);
}

/* ---- leaves ---- */

static void blame(certifying *c, cover_certificate_kind kind, ft_term condition, const char *format,
                  ...) FT_PRINTF(4, 5);
static void blame(certifying *c, cover_certificate_kind kind, ft_term condition, const char *format,
                  ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (!c->of[kind].len) ft_strbuf_puts(&c->first[kind], text);
    ft_vec_push(&c->of[kind], condition);
}

/* To be called before blame: it keeps the places of the first. */
static void place_blame(certifying *c, cover_certificate_kind kind, const ft_sym_place *place)
{
    if (!c->of[kind].len && c->n_at[kind] < 2) c->at[kind][c->n_at[kind]++] = *place;
}

/* file:line, or the instruction. */
static void print_place(const certifying *c, const ft_sym_place *place, ft_strbuf *out)
{
    const ft_program *p = c->world.program;
    if (place->function == FT_NO_SYMBOL) return ft_strbuf_puts(out, "its end");
    const ft_function *f = ft_program_function(p, place->function);
    const ft_position *at = &f->instructions.data[place->instruction].position;
    if (at->file != FT_NO_FILE)
        ft_strbuf_printf(out, "%s:%u", p->files.names[at->file], at->line);
    else
        ft_strbuf_printf(out, "@%s %u", ft_program_symbol_name(p, place->function),
                         place->instruction);
}

static const char *thread_name(const certifying *c, uint32_t thread)
{
    return ft_schedule_text_of(c->set, c->schedule->threads.data[thread]);
}

static void leave(certifying *c, const cover_leaf *leaf, ft_term condition)
{
    ft_strbuf node = {0}, place = {0};
    if (leaf->node == FT_NO_ID)
        return blame(c, COVER_CHECK_SCHEDULE, condition,
                     "thread %s ends, where the schedule has no end of it",
                     thread_name(c, leaf->thread));
    uint32_t thread = c->schedule->nodes.data[leaf->node].thread;
    ft_node_print(c->set, c->schedule, leaf->node, &node);
    print_place(c, &leaf->place, &place);
    place_blame(c, COVER_CHECK_SCHEDULE, &leaf->place);
    blame(c, COVER_CHECK_SCHEDULE, condition,
          "thread %s %s at %s, where the schedule has %s (%s:%u)", thread_name(c, thread),
          leaf->kind == COVER_LEAF_STUCK ? "waits" : "stands", place.text, node.text,
          thread_name(c, thread), c->order.number[leaf->node]);
    ft_strbuf_release(&node);
    ft_strbuf_release(&place);
}

/* Is the first access ordered before the second one? */
static bool is_before(const certifying *c, const cover_touch *a, const cover_touch *b)
{
    uint64_t node;
    if (!b->from || !ft_map_get(&c->nodes, (uint64_t)b->thread << 32 | b->from, &node))
        return false;
    return c->order.clocks[node * c->order.threads + a->thread] >= a->to;
}

static ft_term place_of(certifying *c, const cover_touch *t)
{
    return t->term ? t->term : bits64(c, t->at);
}

/* a < b + n and b < a + m, for places that are numbers or terms. */
static ft_term overlap(certifying *c, const cover_touch *a, const cover_touch *b)
{
    if (!a->term && !b->term) return truth(c, a->at < b->at + b->n && b->at < a->at + a->n);
    ft_term x = place_of(c, a), y = place_of(c, b);
    ft_term x_end = apply(c, FT_OP_BVADD, (ft_term[2]){x, bits64(c, a->n)}, 2);
    ft_term y_end = apply(c, FT_OP_BVADD, (ft_term[2]){y, bits64(c, b->n)}, 2);
    return both(c, apply(c, FT_OP_BVULT, (ft_term[2]){x, y_end}, 2),
                apply(c, FT_OP_BVULT, (ft_term[2]){y, x_end}, 2));
}

/* Do accesses to one object conflict, in no order? */
static bool is_race(const certifying *c, const cover_touch *a, const cover_touch *b)
{
    return a->thread != b->thread && (a->writes || b->writes) && !(a->atomic && b->atomic) &&
           !is_before(c, a, b) && !is_before(c, b, a);
}

static void blame_pair(certifying *c, const cover_touch *a, const cover_touch *b, ft_term condition)
{
    ft_term meet = overlap(c, a, b);
    if (meet == truth(c, false)) return;
    ft_strbuf first = {0}, second = {0};
    print_place(c, &a->place, &first);
    print_place(c, &b->place, &second);
    place_blame(c, COVER_CHECK_RACE, &a->place);
    place_blame(c, COVER_CHECK_RACE, &b->place);
    blame(c, COVER_CHECK_RACE, both(c, condition, meet),
          "the accesses at %s (thread %s) and at %s (thread %s) are not ordered", first.text,
          thread_name(c, a->thread), second.text, thread_name(c, b->thread));
    ft_strbuf_release(&first);
    ft_strbuf_release(&second);
}

/* The bytes that the access may be at: of an unknown place all. */
static uint64_t first_byte(const cover_touch *t)
{
    return t->term ? 0 : t->at;
}

static uint64_t end_byte(const cover_touch *t)
{
    return t->term ? UINT64_MAX : t->at + t->n;
}

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* By object and place. Accesses that only their place in the program distinguishes are equal. */
static int compare_touches(const cover_touch *a, const cover_touch *b)
{
    int order = compare(a->object, b->object);
    if (!order) order = compare(first_byte(a), first_byte(b));
    if (!order) order = compare(end_byte(a), end_byte(b));
    if (!order) order = compare(a->n, b->n);
    if (!order) order = compare(a->term, b->term);
    if (!order) order = compare(a->thread, b->thread);
    if (!order) order = compare(a->from, b->from);
    if (!order) order = compare(a->to, b->to);
    if (!order) order = compare(a->writes, b->writes);
    return order ? order : compare(a->atomic, b->atomic);
}

static int by_place(const void *a, const void *b)
{
    const cover_touch *x = *(const cover_touch *const *)a, *y = *(const cover_touch *const *)b;
    int order = compare_touches(x, y);
    return order ? order : (x > y) - (x < y);
}

typedef struct touch_pair {
    const cover_touch *first, *second;
} touch_pair;

static int by_time(const void *a, const void *b)
{
    const touch_pair *x = a, *y = b;
    int order = (x->second > y->second) - (x->second < y->second);
    return order ? order : (x->first > y->first) - (x->first < y->first);
}

typedef FT_VEC(const cover_touch *) touches;
typedef FT_VEC(touch_pair) touch_pairs;

/* The accesses by place, of equal ones the first. */
static void sort_touches(const cover_leaf *leaf, touches *sorted)
{
    size_t n = 0;
    for (size_t i = 0; i < leaf->n_touches; i++) ft_vec_push(sorted, &leaf->touches[i]);
    if (sorted->len) qsort(sorted->data, sorted->len, sizeof *sorted->data, by_place);
    for (size_t i = 0; i < sorted->len; i++)
        if (!n || compare_touches(sorted->data[n - 1], sorted->data[i]) != 0)
            sorted->data[n++] = sorted->data[i];
    sorted->len = n;
}

static void check_races(certifying *c, const cover_leaf *leaf, ft_term condition)
{
    touches all = {0};
    touch_pairs pairs = {0};
    sort_touches(leaf, &all);
    for (size_t i = 0; i < all.len && !c->late; i++) {
        const cover_touch *a = all.data[i];
        c->late = is_late(c);
        for (size_t k = i + 1; k < all.len; k++) {
            const cover_touch *b = all.data[k];
            if (b->object != a->object || first_byte(b) >= end_byte(a)) break;
            if (is_race(c, a, b))
                ft_vec_push(&pairs, a < b ? (touch_pair){a, b} : (touch_pair){b, a});
        }
    }
    if (pairs.len) qsort(pairs.data, pairs.len, sizeof *pairs.data, by_time);
    for (size_t i = 0; i < pairs.len; i++)
        blame_pair(c, pairs.data[i].first, pairs.data[i].second, condition);
    ft_vec_release(&pairs);
    ft_vec_release(&all);
}

/* An execution that does not end has no schedule to leave: its thread synchronises no more. */
static void blame_endless(certifying *c, const cover_leaf *leaf, ft_term condition)
{
    ft_strbuf place = {0};
    print_place(c, &leaf->place, &place);
    blame(c, COVER_CHECK_DIVERGENCE, condition, "thread %s never leaves the loop at %s",
          leaf->thread == FT_NO_ID ? "without nodes" : thread_name(c, leaf->thread), place.text);
    ft_strbuf_release(&place);
}

static ft_term possible_of(void *context, uint32_t schedule, const bool *known)
{
    certifying *c = context;
    ft_term possible = cover_to_world(
        &c->translation, ft_schedule_possible_condition(c->set, c->epoch_number, schedule, known));
    return possible ? possible : truth(c, true);
}

/* The node waits until no other schedule is possible that does something else there: on this path,
 * in this order, that has to be so already (schedules/dynamic.h). */
static void on_parting(void *context, const cover_parting *parting)
{
    certifying *c = context;
    const ft_schedule *other = &c->epoch->schedules.data[parting->other];
    if (cover_fault_is(COVER_FAULT_AGREE) || parting->possible == truth(c, false)) return;
    ft_term condition = both(c, all_of(c, parting->terms, parting->n_terms), parting->possible);
    ft_strbuf node = {0};
    if (parting->node != FT_NO_ID)
        ft_node_print(c->set, c->schedule, parting->node, &node);
    else
        ft_strbuf_puts(&node, "the schedule's end");
    blame(c, COVER_CHECK_SCHEDULE, condition,
          "at %s schedule %s goes on otherwise, and the inputs that decide between them are not "
          "read yet",
          node.text, ft_schedule_text_of(c->set, other->name));
    ft_vec_push(&c->parting, condition);
    ft_strbuf_release(&node);
}

typedef struct outside {
    certifying *c;
    ft_term condition;
} outside;

static void on_outside(void *context, ft_term condition, const char *what)
{
    const outside *o = context;
    blame(o->c, COVER_CHECK_CLOSED, both(o->c, o->condition, condition), "%s", what);
}

/* The schedule goes on in another epoch, and no thread may stay behind for ever: one that could go
 * on has had a node. */
static void check_arrival(certifying *c, const cover_leaf *leaf, ft_term condition)
{
    outside o = {c, condition};
    ft_error err = FT_ERROR_INIT;
    if (cover_closed_check(&c->closed, c->schedule, leaf->state, on_outside, &o, NULL, &err) !=
            FT_OK &&
        c->doubt.code == FT_OK)
        c->doubt = err;
    if (!leaf->idle || cover_fault_is(COVER_FAULT_PROGRESS)) return;
    ft_strbuf name = {0};
    cover_world_thread_name(&c->world, (uint32_t)__builtin_ctzll(leaf->idle), &name);
    blame(c, COVER_CHECK_DEADLOCK, condition,
          "thread %s could go on, and the schedule has no node of it", name.text);
    ft_strbuf_release(&name);
}

static void on_leaf(void *context, const cover_leaf *leaf)
{
    certifying *c = context;
    c->found->leaves++;
    ft_term condition = all_of(c, leaf->terms, leaf->n_terms);
    if (leaf->kind == COVER_LEAF_DISCARDED || leaf->kind == COVER_LEAF_ROUND) {
        ft_vec_push(&c->good, condition);
        return;
    }
    if (!cover_fault_is(COVER_FAULT_FIRST_PATH) || !c->good.len) check_races(c, leaf, condition);
    if (cover_fault_is(COVER_FAULT_FOLLOWS) && leaf->kind == COVER_LEAF_DIVERGES) {
        ft_vec_push(&c->good, condition);
        return;
    }
    if (leaf->kind == COVER_LEAF_DIVERGES ||
        (leaf->kind == COVER_LEAF_STUCK && leaf->node != FT_NO_ID))
        return leave(c, leaf, condition);
    if (leaf->kind == COVER_LEAF_STUCK)
        return blame(c, COVER_CHECK_SCHEDULE, condition, "nodes are left that nothing lets happen");
    ft_vec_push(&c->good, condition);
    if (leaf->deadlocks && !cover_fault_is(COVER_FAULT_NEVER_STUCK))
        blame(c, COVER_CHECK_DEADLOCK, condition, "threads wait that only each other could wake");
    if (leaf->kind == COVER_LEAF_OPEN && c->schedule->end == FT_SCHEDULE_EPOCH)
        check_arrival(c, leaf, condition);
    else if (leaf->kind == COVER_LEAF_OPEN && !cover_fault_is(COVER_FAULT_CLOSED))
        blame(c, COVER_CHECK_CLOSED, condition,
              "a thread could go on, and no epoch begins where the schedule ends");
    if (leaf->kind == COVER_LEAF_ENDLESS && !cover_fault_is(COVER_FAULT_ENDS))
        blame_endless(c, leaf, condition);
    if (!leaf->fails) return;
    c->fails = true;
    ft_strbuf place = {0};
    print_place(c, &leaf->error.place, &place);
    place_blame(c, COVER_CHECK_FAILURE, &leaf->error.place);
    blame(c, COVER_CHECK_FAILURE, condition, "%s at %s: %s",
          ft_program_error_name(leaf->error.kind), place.text, leaf->error.message);
    ft_strbuf_release(&place);
}

/* ---- answers ---- */

static void release_certificate(cover_certificate *certificate)
{
    free(certificate->text);
    free(certificate->inputs);
    cover_shown_free(certificate->shown);
}

static cover_certificate *add(certifying *c, cover_certificate_kind kind, cover_answer answer,
                              const char *text)
{
    ft_vec_push(&c->found->all,
                (cover_certificate){.kind = kind,
                                    .epoch = (uint32_t)(c->epoch - c->set->epochs.data),
                                    .schedule = c->number,
                                    .answer = answer,
                                    .text = text ? ft_strdup(text) : NULL});
    return &c->found->all.data[c->found->all.len - 1];
}

/* When the time is used up, inputs that refute something are still looked for, shortly: all such
 * questions together take LATE_MS, and each a little. */
enum { DEFAULT_MS = 10000, LATE_MS = 1000, LEAST_MS = 100 };

static uint32_t question_ms(const certifying *c)
{
    uint32_t ms = c->options->question_ms ? c->options->question_ms : DEFAULT_MS;
    if (!c->options->deadline) return is_late(c) && ms > LATE_MS ? LATE_MS : ms;
    double left = c->options->deadline + LATE_MS - ft_now_ms();
    if (left < LEAST_MS) left = LEAST_MS;
    return left < ms ? (uint32_t)left : ms;
}

/* What the inputs refute that the solver names, if they count. */
static const char *refuted_by(const certifying *c, cover_certificate_kind kind)
{
    return c->first[kind].len ? c->first[kind].text : cover_certificate_meaning(kind);
}

static void place(const certifying *c, cover_certificate_kind kind, cover_certificate *to)
{
    memcpy(to->places, c->at[kind], sizeof to->places);
    to->n_places = c->n_at[kind];
}

static void conclude_at_entry(certifying *c, const cover_replay_of *of, cover_certificate *made)
{
    made->shown = cover_replay_at_entry(of);
    if (!made->shown && cover_replay_is_needed(of)) {
        made->text =
            ft_strdup("the inputs that the solver names do not show it in the interpreter");
        return;
    }
    made->answer = COVER_REFUTED;
    made->text = ft_strdup(refuted_by(c, of->kind));
    place(c, of->kind, made);
}

/* A later epoch begins with more states than runs have there: whether one of them refutes it is
 * looked for when all else is answered. */
static void put_off(certifying *c, const cover_replay_of *of, ft_term condition,
                    cover_certificate *made)
{
    ft_strbuf text = {0};
    cover_doubt doubt = {.of = *of,
                         .number = c->found->all.len - 1,
                         .text = refuted_by(c, of->kind),
                         .n_places = c->n_at[of->kind]};
    memcpy(doubt.places, c->at[of->kind], sizeof doubt.places);
    if (!is_late(c)) cover_doubts_add(&c->doubts, &doubt, condition);
    made->unconfirmed = true;
    ft_strbuf_printf(&text, "%s, from a state that no run was shown to reach", doubt.text);
    made->text = ft_strbuf_take(&text);
}

/* The solver names inputs: is the certificate refuted by them? */
static void conclude(certifying *c, cover_certificate_kind kind, const cover_question *q)
{
    cover_replay_of of = {.world = &c->world,
                          .set = c->set,
                          .kind = kind,
                          .subject = {c->epoch_number, c->number},
                          .model = q->model.data,
                          .n = q->model.len};
    cover_certificate *made = add(c, kind, COVER_UNKNOWN, NULL);
    made->inputs = cover_model_of_set(&c->translation, q->model.data, q->model.len);
    made->n_inputs = (uint32_t)c->set->inputs.len;
    if (c->epoch_number)
        put_off(c, &of, q->condition, made);
    else
        conclude_at_entry(c, &of, made);
}

/* Under a name for a file that no other question of the set has. */
static void hand_out(certifying *c, cover_certificate_kind kind, const ft_strbuf *question)
{
    ft_strbuf name = {0};
    ft_strbuf_puts(&name, cover_certificate_name(kind));
    if (c->epoch_number)
        ft_strbuf_printf(&name, "-%s", ft_schedule_text_of(c->set, c->epoch->name));
    if (c->number != FT_NO_SCHEDULE)
        ft_strbuf_printf(&name, "-%s", ft_schedule_text_of(c->set, c->schedule->name));
    ft_strbuf_puts(&name, ".smt2");
    c->options->smt(c->options->smt_context, name.text, question->text, question->len);
    ft_strbuf_release(&name);
}

static void print_question(certifying *c, const cover_question *q, cover_certificate_kind kind)
{
    ft_strbuf text = {0};
    if (!c->options->smt) return;
    cover_question_print(q, cover_certificate_meaning(kind), &text);
    hand_out(c, kind, &text);
    ft_strbuf_release(&text);
}

/* Asks whether the condition has an input; one that shows it refutes the certificate. */
static void ask(certifying *c, cover_certificate_kind kind, ft_term condition)
{
    cover_question q = {.world = &c->world, .ms = question_ms(c), .condition = condition};
    ft_answer answer = cover_ask(&q);
    print_question(c, &q, kind);
    if (answer == FT_ANSWER_UNSAT)
        add(c, kind, COVER_PROVED, NULL);
    else if (answer == FT_ANSWER_UNKNOWN)
        add(c, kind, COVER_UNKNOWN, "the solver does not answer in its time");
    else
        conclude(c, kind, &q);
    cover_question_release(&q);
}

/* ---- check-order: positions of nodes as integers, which edges and threads order ---- */

static ft_sym_place place_of_node(const certifying *c, uint32_t node)
{
    const ft_program *p = c->world.program;
    const ft_node *n = &c->schedule->nodes.data[node];
    const char *name = ft_schedule_text_of(c->set, n->function);
    uint32_t symbol = ft_intern_find(&p->names, name, (uint32_t)strlen(name));
    const ft_function *f = symbol == FT_NO_ID ? NULL : ft_program_function(p, symbol);
    if (!f || n->instruction >= f->instructions.len)
        return (ft_sym_place){.function = FT_NO_SYMBOL};
    return (ft_sym_place){.function = symbol, .instruction = n->instruction};
}

static void check_order(certifying *c)
{
    const ft_schedule *s = c->schedule;
    cover_order_question q = {.schedule = s, .ms = question_ms(c)};
    cover_ordered_pairs(s, &c->order, c->set->prefix, &q);
    if (cover_fault_is(COVER_FAULT_ORDERED)) q.pairs.len = 0;
    ft_strbuf text = {0};
    if (c->options->smt) {
        cover_order_print(&q, cover_certificate_meaning(COVER_CHECK_ORDER), &text);
        hand_out(c, COVER_CHECK_ORDER, &text);
        ft_strbuf_clear(&text);
    }
    cover_pair pair;
    ft_answer answer = cover_order_ask(&q, &pair);
    if (answer == FT_ANSWER_SAT) {
        ft_node_print(c->set, s, pair.a, &text);
        ft_strbuf_printf(&text, " (%s:%u) and ", thread_name(c, s->nodes.data[pair.a].thread),
                         c->order.number[pair.a]);
        ft_node_print(c->set, s, pair.b, &text);
        ft_strbuf_printf(&text, " (%s:%u) are not ordered",
                         thread_name(c, s->nodes.data[pair.b].thread), c->order.number[pair.b]);
    } else if (answer == FT_ANSWER_UNKNOWN) {
        ft_strbuf_puts(&text, "the solver does not answer in its time");
    }
    cover_certificate *made = add(c, COVER_CHECK_ORDER,
                                  answer == FT_ANSWER_UNSAT ? COVER_PROVED
                                  : answer == FT_ANSWER_SAT ? COVER_REFUTED
                                                            : COVER_UNKNOWN,
                                  text.len ? text.text : NULL);
    if (answer == FT_ANSWER_SAT) {
        made->places[made->n_places++] = place_of_node(c, pair.a);
        made->places[made->n_places++] = place_of_node(c, pair.b);
    }
    ft_strbuf_release(&text);
    ft_vec_release(&q.pairs);
}

/* ---- one schedule, and all ---- */

static const cover_certificate_kind FROM_LEAVES[] = {
    COVER_CHECK_SCHEDULE, COVER_CHECK_RACE,    COVER_CHECK_DEADLOCK,
    COVER_CHECK_CLOSED,   COVER_CHECK_FAILURE, COVER_CHECK_DIVERGENCE,
};
enum { N_FROM_LEAVES = sizeof FROM_LEAVES / sizeof FROM_LEAVES[0] };

/* A loop that reads shared memory comes back as it was, unless another thread writes that. */
static void doubt_divergence(certifying *c, size_t first)
{
    bool races = false, skipped = c->world.loops && c->world.loops->all.len;
    for (size_t i = first; i < c->found->all.len; i++) {
        cover_certificate *x = &c->found->all.data[i];
        races |= x->kind == COVER_CHECK_RACE && x->answer != COVER_PROVED;
        if (x->kind == COVER_CHECK_DIVERGENCE && x->answer == COVER_PROVED && skipped) {
            x->text = ft_strdup("whether the loops end that are taken as functions is not known");
            x->answer = COVER_UNKNOWN;
        }
        if (x->kind != COVER_CHECK_DIVERGENCE || x->answer != COVER_REFUTED || !races) continue;
        free(x->text);
        x->text = ft_strdup("the program may have a data race");
        x->answer = COVER_UNKNOWN;
    }
}

uint32_t cover_subject_kinds(cover_subject subject,
                             cover_certificate_kind kinds[COVER_CERTIFICATES])
{
    uint32_t n = 0;
    kinds[n++] = subject.schedule == FT_NO_SCHEDULE ? COVER_CHECK_COVER : COVER_CHECK_ORDER;
    for (int i = 0; subject.schedule != FT_NO_SCHEDULE && i < N_FROM_LEAVES; i++)
        kinds[n++] = FROM_LEAVES[i];
    return n;
}

/* The newest answer is not known. */
static void doubt_last(certifying *c, const char *why)
{
    cover_certificate *last = &c->found->all.data[c->found->all.len - 1];
    free(last->text);
    last->text = ft_strdup(why);
    last->answer = COVER_UNKNOWN;
}

/* Another path of a schedule that fails may end the process as well, but not every one. */
static ft_term blame_end(certifying *c)
{
    blame(c, COVER_CHECK_SCHEDULE, truth(c, true),
          "the schedule ends with a failure, and no run under it fails");
    return truth(c, true);
}

/* Of paths that were not all followed nothing is proved; what was found on some may refute. */
static void ask_from_leaves(certifying *c, ft_term domain, const ft_error *err)
{
    size_t first = c->found->all.len;
    for (int i = 0; i < N_FROM_LEAVES; i++) {
        cover_certificate_kind kind = FROM_LEAVES[i];
        bool whole = err->code == FT_OK;
        ft_term wrong = any_of(c, &c->of[kind]);
        if (kind == COVER_CHECK_SCHEDULE && whole) {
            wrong = negated(c, any_of(c, &c->good));
            if (c->parting.len) wrong = either(c, wrong, any_of(c, &c->parting));
            if (c->schedule->end == FT_SCHEDULE_FAILED && !c->fails) wrong = blame_end(c);
        }
        size_t before = c->found->all.len;
        if (whole || c->of[kind].len) ask(c, kind, both(c, domain, wrong));
        bool refuted =
            c->found->all.len > before && c->found->all.data[before].answer == COVER_REFUTED;
        if (whole && kind == COVER_CHECK_CLOSED && c->doubt.code != FT_OK && !refuted) {
            doubt_last(c, c->doubt.message);
            continue;
        }
        if (whole || refuted) continue;
        if (c->found->all.len > before)
            release_certificate(&c->found->all.data[--c->found->all.len]);
        add(c, kind, COVER_UNKNOWN, err->message);
    }
    doubt_divergence(c, first);
}

static void forget(certifying *c);

/* What was left open where paths were too many holds if it holds of paths that are merged: those
 * stand for more than there is. */
static void ask_merged(certifying *c, cover_following *f, size_t first)
{
    ft_error err = FT_ERROR_INIT;
    if (c->world.loops || is_late(c) || c->schedule->end == FT_SCHEDULE_FAILED) return;
    forget(c);
    c->doubt = (ft_error)FT_ERROR_INIT;
    f->merges = true;
    f->rounds = c->options->merged_rounds;
    f->merged = &c->found->merged;
    f->max_leaves = 0; /* of few paths, as many as there are */
    if (cover_follow_all(f, &err) != FT_OK || c->late) return;
    ft_term good = any_of(c, &c->good), parting = any_of(c, &c->parting);
    for (int i = 0; i < N_FROM_LEAVES; i++) {
        cover_certificate *x = &c->found->all.data[first + (size_t)i];
        assert(x->kind == FROM_LEAVES[i]);
        if (x->answer != COVER_UNKNOWN || is_late(c)) continue;
        if (x->kind == COVER_CHECK_CLOSED && c->doubt.code != FT_OK) continue;
        ft_term wrong = any_of(c, &c->of[x->kind]);
        if (x->kind == COVER_CHECK_SCHEDULE) wrong = either(c, negated(c, good), parting);
        wrong = both(c, f->condition, wrong);
        cover_question q = {.world = &c->world, .ms = question_ms(c), .condition = wrong};
        bool holds = cover_ask(&q) == FT_ANSWER_UNSAT;
        if (holds) print_question(c, &q, x->kind);
        cover_question_release(&q);
        if (!holds) continue;
        free(x->text);
        x->text = NULL;
        x->answer = COVER_PROVED;
    }
}

static void forget(certifying *c)
{
    c->good.len = c->parting.len = 0;
    for (int k = 0; k < COVER_CERTIFICATES; k++) {
        c->of[k].len = 0;
        c->n_at[k] = 0;
        ft_strbuf_clear(&c->first[k]);
    }
}

static void certify_schedule(certifying *c, uint32_t number)
{
    ft_error err = FT_ERROR_INIT;
    c->number = number;
    c->schedule = &c->epoch->schedules.data[number];
    ft_term condition =
        cover_to_world(&c->translation, ft_schedule_condition(c->set, c->epoch_number, number));
    forget(c);
    c->doubt = (ft_error)FT_ERROR_INIT;
    c->fails = false;
    ft_schedule_order_init(&c->order, c->schedule);
    for (uint32_t i = 0; i < c->order.n; i++)
        ft_map_put(&c->nodes,
                   (uint64_t)c->schedule->nodes.data[i].thread << 32 | c->order.number[i], i);
    check_order(c);
    ft_term domain = condition ? both(c, c->init, condition) : truth(c, true);
    cover_following f = {.world = &c->world,
                         .set = c->set,
                         .epoch = c->epoch_number,
                         .schedule = c->schedule,
                         .begin = c->closed.beginnings[c->epoch_number],
                         .condition = domain,
                         .leaf = on_leaf,
                         .part = on_parting,
                         .possible = possible_of,
                         .context = c,
                         .max_leaves = c->options->max_leaves};
    ft_status status = FT_OK;
    if (condition)
        status = cover_follow_all(&f, &err);
    else
        ft_error_set(&err, FT_INPUT, "the selector has an input that the program does not read");
    if (c->late && status == FT_OK) ft_error_set(&err, FT_BUDGET, "the time is used up");
    size_t first = c->found->all.len;
    ask_from_leaves(c, domain, &err);
    if (err.code == FT_LIMIT) ask_merged(c, &f, first);
    ft_map_release(&c->nodes);
    ft_schedule_order_release(&c->order);
}

/* Of a schedule whose turn did not come in time. */
static void skip_schedule(certifying *c, uint32_t number)
{
    static const char WHY[] = "the time is used up";
    c->number = number;
    for (int i = 0; i < N_FROM_LEAVES; i++) add(c, FROM_LEAVES[i], COVER_UNKNOWN, WHY);
    add(c, COVER_CHECK_ORDER, COVER_UNKNOWN, WHY);
}

static void skip_cover(certifying *c)
{
    c->number = FT_NO_SCHEDULE;
    add(c, COVER_CHECK_COVER, COVER_UNKNOWN, "the time is used up");
}

/* The program begins with any input, whatever the entry's init claims. */
static void certify_cover(certifying *c)
{
    c->number = FT_NO_SCHEDULE;
    c->schedule = NULL;
    forget(c);
    ft_term none = cover_to_world(&c->translation,
                                  ft_schedule_condition(c->set, c->epoch_number, FT_NO_SCHEDULE));
    if (none && cover_fault_is(COVER_FAULT_COVERS)) none = truth(c, false);
    if (none)
        ask(c, COVER_CHECK_COVER,
            c->epoch_number ? both(c, c->init, none)
                            : negated(c, both(c, c->init, negated(c, none))));
    else
        add(c, COVER_CHECK_COVER, COVER_UNKNOWN,
            "the selector has an input that the program does not read");
}

ft_status cover_fits(const ft_program *program, const ft_schedule_set *set, ft_error *err)
{
    char hash[FT_DIGEST_HEX + 1];
    ft_program_hash(program, hash);
    if (set->program != FT_NO_ID && strcmp(ft_schedule_text_of(set, set->program), hash) != 0)
        return ft_error_set(err, FT_INPUT,
                            "the set was made for another program: its hash is %s, this one's %s "
                            "(the names of its sources, as they are given, count as well)",
                            ft_schedule_text_of(set, set->program), hash);
    return FT_OK;
}

static bool is_asked(const certifying *c, uint32_t schedule)
{
    const cover_subject *only = c->options->only;
    return !only || (&c->set->epochs.data[only->epoch] == c->epoch && only->schedule == schedule);
}

static bool has_loops(const ft_schedule_set *set)
{
    for (size_t i = 0; i < set->inputs.len; i++)
        if (set->inputs.data[i].loop) return true;
    return false;
}

static void release(certifying *c)
{
    ft_vec_release(&c->good);
    ft_vec_release(&c->parting);
    for (int k = 0; k < COVER_CERTIFICATES; k++) {
        ft_vec_release(&c->of[k]);
        ft_strbuf_release(&c->first[k]);
    }
    ft_strbuf_release(&c->text);
    cover_doubts_release(&c->doubts);
    cover_closed_release(&c->closed);
    cover_translation_release(&c->translation);
    cover_world_release(&c->world);
}

static ft_status certify_epoch(certifying *c, uint32_t number, ft_error *err)
{
    const ft_sym_state *begin = c->closed.beginnings[number];
    c->epoch = &c->set->epochs.data[number];
    c->epoch_number = number;
    cover_world_begin(&c->world, begin ? ft_sym_thread_count(begin) : 1);
    cover_translation_release(&c->translation);
    c->translation = (cover_translation){.world = &c->world, .set = c->set, .epoch = number};
    c->init = truth(c, true);
    if (c->epoch->init != FT_NO_TERM) c->init = cover_to_world(&c->translation, c->epoch->init);
    if (c->init == FT_NO_TERM)
        return ft_error_set(err, FT_INPUT, "init has an input that the program does not read");
    if (is_asked(c, FT_NO_SCHEDULE)) (number && is_late(c) ? skip_cover : certify_cover)(c);
    for (uint32_t i = 0; i < c->epoch->schedules.len; i++)
        if (is_asked(c, i)) (is_late(c) ? skip_schedule : certify_schedule)(c, i);
    return FT_OK;
}

ft_status cover_certify(const ft_program *program, ft_schedule_set *set,
                        const cover_certify_options *options, cover_certificates *certificates,
                        ft_error *err)
{
    FT_REQUIRE(program && set && options && certificates);
    ft_status status = cover_fits(program, set, err);
    if (status != FT_OK) return status;
    certifying c = {.options = options,
                    .set = set,
                    .found = certificates,
                    .doubts = {.options = options->world}};
    c.doubts.options.prefix = set->prefix;
    c.doubts.options.epochs = false;
    c.doubts.options.loops = has_loops(set);
    cover_world_init(&c.world, program, &c.doubts.options);
    status = cover_closed_init(&c.closed, &c.world, set, err);
    for (uint32_t i = 0; status == FT_OK && i < set->epochs.len; i++)
        status = certify_epoch(&c, i, err);
    if (status == FT_OK) cover_doubts_settle(&c.doubts, certificates);
    release(&c);
    return status;
}

void cover_certificates_release(cover_certificates *certificates)
{
    for (size_t i = 0; i < certificates->all.len; i++)
        release_certificate(&certificates->all.data[i]);
    ft_vec_release(&certificates->all);
}
