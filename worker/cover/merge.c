/* The ways of one thread between two operations, as few paths: ways that meet again are merged, and
 * a loop that inputs decide the end of is explored from a state that stands for all its rounds.
 *
 * Such a state is the one before the branch that leaves the loop, with unknowns where a round
 * changes content (a loop invariant by widening). From there each way goes round once, and comes
 * back to a state that the first one stands for, or leaves the loop. That it is left at some time
 * is asked of the branch: what it compares has to come nearer in each round. What rounds access,
 * the ways that leave access as well; an access at a place that a round decides is one to all of
 * its object. */
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "cover/faults.h"
#include "cover/walk.h"
#include "symbolic/epoch.h"
#include "symbolic/meet.h"

enum { ROUNDS = 4, WIDENINGS = 12, NESTED = 31, MOST_TOUCHES = 200000 };

static void drop_all(cover_paths *all)
{
    for (size_t i = 0; i < all->len; i++) cover_path_drop(&all->data[i]);
    ft_vec_release(all);
}

static ft_status give_up(walking *w, const char *why)
{
    return ft_error_set(w->err, FT_LIMIT, "%s", why);
}

static ft_term apply(const walking *w, ft_op op, const ft_term *kids, uint32_t n)
{
    ft_term made = FT_NO_TERM;
    ft_status status = ft_term_apply(w->f->world->pool, op, kids, n, NULL, &made, NULL);
    assert(status == FT_OK);
    (void)status;
    return made;
}

/* ---- two paths that meet ---- */

static ft_term all_from(const walking *w, const path *p, size_t from)
{
    ft_term all = ft_term_literal(w->f->world->pool, (ft_value){FT_BOOL_SORT, 1});
    for (size_t i = from; i < p->terms.len; i++)
        all = apply(w, FT_OP_AND, (ft_term[2]){all, p->terms.data[i]}, 2);
    return all;
}

/* The conditions of two ways behind those that they share, in ways[], as one condition. True: they
 * are few. */
static bool merge_terms(const walking *w, path *p, const path *q, ft_term ways[2])
{
    enum { FEW = 2 };
    size_t n = 0, own = p->terms.len, other = q->terms.len;
    while (n < own && n < other && p->terms.data[n] == q->terms.data[n]) n++;
    ways[0] = all_from(w, p, n);
    ways[1] = all_from(w, q, n);
    p->terms.len = n;
    bool both = !cover_fault_is(COVER_FAULT_FIRST_WAY);
    ft_vec_push(&p->terms, both ? apply(w, FT_OP_OR, ways, 2) : ways[0]);
    return n < own && n < other && own + other - 2 * n <= FEW;
}

static bool is_same_touch(const cover_touch *a, const cover_touch *b)
{
    return a->thread == b->thread && a->object == b->object && a->from == b->from &&
           a->to == b->to && a->at == b->at && a->n == b->n && a->term == b->term &&
           a->writes == b->writes && a->atomic == b->atomic;
}

static void add_touch(path *p, size_t from, const cover_touch *t)
{
    for (size_t i = from; i < p->touches.len; i++)
        if (is_same_touch(&p->touches.data[i], t)) return;
    ft_vec_push(&p->touches, *t);
}

static void merge_touches(path *p, const path *q)
{
    size_t n = 0;
    while (n < p->touches.len && n < q->touches.len &&
           is_same_touch(&p->touches.data[n], &q->touches.data[n]))
        n++;
    if (cover_fault_is(COVER_FAULT_LOST_TOUCHES)) return;
    for (size_t i = n; i < q->touches.len; i++) add_touch(p, n, &q->touches.data[i]);
}

static cover_visit *visit_at(path *p, const cover_visit *at)
{
    for (size_t i = 0; i < p->visits.len; i++) {
        cover_visit *v = &p->visits.data[i];
        if (v->thread == at->thread && v->depth == at->depth && v->function == at->function &&
            v->instruction == at->instruction)
            return v;
    }
    ft_vec_push(&p->visits, *at);
    p->visits.data[p->visits.len - 1].n = 0;
    p->visits.data[p->visits.len - 1].conditions = ft_sym_conditions(p->m);
    return &p->visits.data[p->visits.len - 1];
}

static void merge_visits(path *p, const path *q)
{
    for (size_t i = 0; i < q->visits.len; i++) {
        cover_visit *v = visit_at(p, &q->visits.data[i]);
        if (v->n < q->visits.data[i].n) v->n = q->visits.data[i].n;
        if (v->conditions > q->visits.data[i].conditions)
            v->conditions = q->visits.data[i].conditions;
    }
}

/* Merges the path with one of the list that it meets, which is taken out of the list. */
static bool meet_one(walking *w, path *p, uint32_t thread, cover_paths *all)
{
    for (size_t i = 0; i < all->len; i++) {
        path *q = &all->data[i];
        if (p->outside != q->outside || !ft_sym_is_alike(p->m, q->m, thread) ||
            ft_sym_compare_rounds(p->m, q->m, thread) != 0)
            continue;
        ft_term ways[2];
        bool few = merge_terms(w, p, q, ways);
        merge_touches(p, q);
        merge_visits(p, q);
        w->at = p;
        ft_sym_merge(p->m, q->m, thread, few ? ways : NULL);
        if (w->f->merged) w->f->merged->met++;
        cover_path_drop(q);
        *q = all->data[--all->len];
        return true;
    }
    return false;
}

static void meet_all(walking *w, path *p, uint32_t thread, cover_paths *all)
{
    while (meet_one(w, p, thread, all)) {
    }
}

/* ---- loops ---- */

static uint32_t block_of(const ft_function *f, uint32_t instruction)
{
    uint32_t b = 0;
    while (instruction - f->blocks.data[b].instructions >= f->blocks.data[b].n_instructions) b++;
    return b;
}

/* The innermost loop around the block; false: there is none. */
static bool find_loop(const walking *w, const ft_function *f, uint32_t block, uint64_t *blocks)
{
    const cover_world *world = w->f->world;
    uint32_t number = world->program->symbols.data[f->symbol].index;
    const ft_graph *graph = ft_flow_graph(world->flow, number);
    uint64_t *own = ft_alloc(graph->words * sizeof *own);
    uint32_t least = UINT32_MAX;
    for (uint32_t head = 0; head < graph->n; head++) {
        uint32_t n = 0;
        if (!ft_graph_loop(graph, f, head, own) || !ft_bits_has(own, block)) continue;
        for (uint32_t i = 0; i < graph->n; i++) n += ft_bits_has(own, i);
        if (n >= least) continue;
        least = n;
        memcpy(blocks, own, graph->words * sizeof *own);
    }
    free(own);
    return least != UINT32_MAX;
}

/* The branch that a thread stands before, if it may leave the innermost loop around it. */
typedef struct leaving {
    cover_visit at;
    bool *inside;  /* by instruction */
    uint32_t stay; /* the arm that stays in the loop */
} leaving;

static bool is_leaving(const walking *w, const path *p, uint32_t thread, leaving *l)
{
    const cover_world *world = w->f->world;
    ft_sym_place place;
    ft_sym_operation o;
    if (!ft_sym_stands_before(p->m, thread, &o) || o.code != FT_CODE_BRANCH || o.arms != 2 ||
        !ft_sym_call(p->m, thread, 0, &place))
        return false;
    const ft_function *f = ft_program_function(world->program, place.function);
    uint32_t number = world->program->symbols.data[f->symbol].index, block, n, depth = 0;
    const ft_graph *graph = ft_flow_graph(world->flow, number);
    uint64_t *blocks = ft_calloc(graph->words + 1, sizeof *blocks);
    block = block_of(f, place.instruction);
    const ft_target *targets = ft_block_targets(f, block, &n);
    bool is = find_loop(w, f, block, blocks) && n == 2 &&
              ft_bits_has(blocks, targets[0].block) != ft_bits_has(blocks, targets[1].block);
    while (is && ft_sym_call(p->m, thread, depth, &(ft_sym_place){0})) depth++;
    if (is) {
        l->stay = ft_bits_has(blocks, targets[0].block) ? 0 : 1;
        l->at = (cover_visit){thread, depth, place.function, place.instruction, 0, 0};
        l->inside = ft_calloc(f->instructions.len + 1, sizeof *l->inside);
        for (uint32_t b = 0; b < graph->n; b++)
            for (uint32_t i = 0; ft_bits_has(blocks, b) && i < f->blocks.data[b].n_instructions;
                 i++)
                l->inside[f->blocks.data[b].instructions + i] = true;
    }
    free(blocks);
    return is;
}

static bool is_at(const path *p, const cover_visit *at)
{
    ft_sym_place place;
    ft_sym_operation o;
    if (!ft_sym_stands_before(p->m, at->thread, &o) || !o.arms) return false;
    return !ft_sym_call(p->m, at->thread, at->depth, &place) &&
           ft_sym_call(p->m, at->thread, at->depth - 1, &place) &&
           ft_sym_call(p->m, at->thread, 0, &place) && place.function == at->function &&
           place.instruction == at->instruction;
}

/* ---- does a loop end? ---- */

/* What has to become less: the difference of what a condition to stay compares. FT_NO_TERM: of
 * another kind. `other`: the other way round, for inequalities. */
static ft_term distance(const walking *w, ft_term stay, bool other)
{
    static const struct {
        ft_op op;
        bool swaps;   /* the second one is the smaller one */
        bool negates; /* so does the negation */
    } ROWS[] = {{FT_OP_BVSLT, false, true}, {FT_OP_BVSLE, false, true}, {FT_OP_BVULT, false, true},
                {FT_OP_BVULE, false, true}, {FT_OP_BVSGT, true, false}, {FT_OP_BVSGE, true, false},
                {FT_OP_BVUGT, true, false}, {FT_OP_BVUGE, true, false}};
    const ft_term_pool *pool = w->f->world->pool;
    ft_term_node node = ft_term_get(pool, stay);
    bool negated = node.op == FT_OP_NOT;
    if (negated) node = ft_term_get(pool, node.children[0]);
    if (node.n_children != 2 || ft_term_sort(pool, node.children[0]).kind != FT_SORT_BITVEC)
        return FT_NO_TERM;
    ft_term a = node.children[0], b = node.children[1];
    bool unequal = node.op == (negated ? FT_OP_EQ : FT_OP_DISTINCT);
    if (unequal) return apply(w, FT_OP_BVSUB, (ft_term[2]){other ? a : b, other ? b : a}, 2);
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0] && !other; i++) {
        if (ROWS[i].op != node.op) continue;
        bool swaps = ROWS[i].swaps != negated;
        return apply(w, FT_OP_BVSUB, (ft_term[2]){swaps ? a : b, swaps ? b : a}, 2);
    }
    return FT_NO_TERM;
}

/* Is the distance less, as a number without sign, when a round comes back and goes on? */
static bool comes_nearer(const walking *w, const path *from, const path *back, const leaving *l,
                         bool other)
{
    uint32_t t = l->at.thread;
    ft_term stay[2] = {ft_sym_arm(from->m, t, l->stay), ft_sym_arm(back->m, t, l->stay)};
    ft_term was = distance(w, stay[0], other), is = distance(w, stay[1], other);
    if (!was || !is) return false;
    ft_term less = apply(w, FT_OP_BVULT, (ft_term[2]){is, was}, 2);
    ft_term all[3] = {stay[0], stay[1], apply(w, FT_OP_NOT, &less, 1)};
    ft_sym_state *any = ft_sym_new(w->f->world->world); /* on no way: the question is short */
    bool nearer = ft_sym_ask(any, apply(w, FT_OP_AND, all, 3)) == FT_ANSWER_UNSAT;
    ft_sym_free(any);
    return nearer;
}

static bool ends(const walking *w, const path *from, const cover_paths *back, const leaving *l)
{
    if (cover_fault_is(COVER_FAULT_LOOPS_END)) return true;
    for (int other = 0; other < 2; other++) {
        bool all = true;
        for (size_t i = 0; i < back->len && all; i++)
            all = comes_nearer(w, from, &back->data[i], l, other);
        if (all) return true;
    }
    return false;
}

/* ---- ways ---- */

typedef struct ways {
    walking *w;
    uint32_t thread;
    const leaving *loop; /* whose rounds are explored; NULL: none */
    uint32_t bit;        /* of the loop in `outside` */
    cover_paths open;    /* before a branch */
    cover_paths back;    /* before the branch of the loop again */
    cover_paths out;     /* outside of the loop, or before an operation */
} ways;

static void fork_way(ways *x, path *p)
{
    walking *w = x->w;
    uint64_t variants[FT_SYM_THREADS];
    uint32_t n = ft_sym_choices(p->m, x->thread, variants);
    for (uint32_t i = 0; i < n; i++) {
        if (!ft_sym_may_take(p->m, x->thread, variants[i])) continue;
        path other = cover_path_copy(w, p);
        w->at = &other;
        cover_step(w->f->world, other.m, x->thread, variants[i]);
        if (ft_sym_end_of(other.m) == FT_SYM_GOING) ft_sym_forget(other.m, x->thread);
        ft_vec_push(&x->open, other);
    }
    cover_path_drop(p);
}

/* The path that is least far: others may meet it there. */
static path take_first(cover_paths *open, uint32_t thread)
{
    size_t first = 0;
    for (size_t i = 1; i < open->len; i++) {
        const ft_sym_state *a = open->data[i].m, *b = open->data[first].m;
        int rounds = ft_sym_compare_rounds(a, b, thread);
        if (rounds < 0 || (!rounds && ft_sym_progress(a) < ft_sym_progress(b))) first = i;
    }
    path p = open->data[first];
    open->data[first] = open->data[--open->len];
    return p;
}

static ft_status explore(ways *x);

/* One round from the state that stands for all; *again: it does not stand for those that came back
 * yet, and now does. */
static ft_status go_round(ways *inner, path *from, const leaving *l, ft_symbol first, bool *again)
{
    path start = cover_path_copy(inner->w, from);
    *again = false;
    fork_way(inner, &start);
    ft_status status = explore(inner);
    for (size_t i = 0; status == FT_OK && i < inner->back.len; i++) {
        const path *back = &inner->back.data[i];
        if (!ft_sym_is_alike(from->m, back->m, l->at.thread))
            return give_up(inner->w, "rounds of a loop differ by more than numbers");
        inner->w->at = from;
        *again |= ft_sym_generalise(from->m, back->m, l->at.thread, first);
    }
    if (!*again) return status;
    ft_sym_decide_again(from->m, l->at.thread);
    return is_at(from, &l->at) ? status : give_up(inner->w, "a loop ends by itself");
}

/* What rounds access, whatever round it is. */
static void add_rounds(path *p, size_t from, const cover_paths *back)
{
    for (size_t i = 0; i < back->len; i++)
        for (size_t k = from; k < back->data[i].touches.len; k++) {
            cover_touch t = back->data[i].touches.data[k];
            if (t.term && !cover_fault_is(COVER_FAULT_LAST_PLACE)) {
                t.term = FT_NO_TERM;
                t.at = 0;
                t.n = ft_sym_object_made(back->data[i].m, t.object).size;
            }
            add_touch(p, from, &t);
        }
}

/* Ways out of the loop become open ways of the one around it; those that come back are covered by
 * the state that they come back to. */
static void leave_loop(ways *x, const ways *inner, size_t touches)
{
    walking *w = x->w;
    for (size_t i = 0; i < inner->back.len; i++) {
        const path *p = &inner->back.data[i];
        cover_leaf leaf = {.kind = COVER_LEAF_ROUND,
                           .node = FT_NO_ID,
                           .terms = p->terms.data,
                           .n_terms = p->terms.len};
        w->f->leaf(w->f->context, &leaf);
    }
    for (size_t i = 0; i < inner->out.len; i++) {
        path p = cover_path_copy(w, &inner->out.data[i]);
        p.outside &= ~(UINT32_C(1) << inner->bit);
        if (!cover_fault_is(COVER_FAULT_LOST_ROUNDS)) add_rounds(&p, touches, &inner->back);
        ft_vec_push(&x->open, p);
    }
}

static ft_status summarise(ways *x, path *from, const leaving *l)
{
    walking *w = x->w;
    ft_symbol first = ft_sym_world_inputs(w->f->world->world);
    ways inner = {.w = w, .thread = x->thread, .loop = l, .bit = (uint32_t)w->rounds.len};
    bool again = true;
    ft_status status = FT_OK;
    /* what the first rounds decided is not so in all, and would decide the branch */
    ft_sym_forget_conditions(from->m, visit_at(from, &l->at)->conditions);
    if (inner.bit == NESTED) return give_up(w, "loops are nested too deep");
    ft_vec_push(&w->rounds, (cover_round){x->thread, l->at.depth, l->at.function, l->inside});
    for (int i = 0; again && status == FT_OK; i++) {
        drop_all(&inner.back);
        drop_all(&inner.out);
        inner.back = inner.out = (cover_paths){0};
        status = i < WIDENINGS ? go_round(&inner, from, l, first, &again)
                               : give_up(w, "rounds of a loop differ again and again");
    }
    w->rounds.len--;
    if (status == FT_OK && !ends(w, from, &inner.back, l))
        status = give_up(w, "whether a loop ends is not known");
    if (status == FT_OK && w->f->merged) w->f->merged->summarised++;
    if (status == FT_OK) leave_loop(x, &inner, from->touches.len);
    drop_all(&inner.open);
    drop_all(&inner.back);
    drop_all(&inner.out);
    return status;
}

static ft_status go_on(ways *x, path *p)
{
    leaving l = {0};
    bool leaves = is_leaving(x->w, p, x->thread, &l);
    ft_status status = FT_OK;
    uint32_t rounds = x->w->f->rounds ? x->w->f->rounds : ROUNDS;
    if (leaves && ++visit_at(p, &l.at)->n > rounds) {
        status = summarise(x, p, &l);
        cover_path_drop(p);
    } else {
        fork_way(x, p);
    }
    if (leaves) free(l.inside);
    return status;
}

static ft_status check(const ways *x, const path *p, bool *infeasible)
{
    ft_status status = cover_path_check(x->w, p, infeasible);
    uint64_t n = x->w->f->max_leaves ? x->w->f->max_leaves : 20000;
    if (status == FT_OK && (x->open.len + x->out.len > n || p->touches.len > MOST_TOUCHES))
        return give_up(x->w, "a thread has too many ways between two operations");
    return status;
}

static ft_status explore(ways *x)
{
    ft_status status = FT_OK;
    ft_sym_operation o;
    while (status == FT_OK && x->open.len) {
        path p = take_first(&x->open, x->thread);
        bool infeasible;
        status = check(x, &p, &infeasible);
        if (status != FT_OK || infeasible) {
            cover_path_drop(&p);
            continue;
        }
        meet_all(x->w, &p, x->thread, &x->open);
        bool branches = ft_sym_stands_before(p.m, x->thread, &o) && o.arms;
        bool outside = !branches || (x->loop && p.outside >> x->bit & 1);
        if (outside) {
            meet_all(x->w, &p, x->thread, &x->out);
            ft_vec_push(&x->out, p);
        } else if (x->loop && is_at(&p, &x->loop->at)) {
            ft_vec_push(&x->back, p);
        } else {
            status = go_on(x, &p);
        }
    }
    return status;
}

ft_status cover_merge_ways(walking *w, path *p, uint32_t thread, cover_paths *out)
{
    ways x = {.w = w, .thread = thread};
    ft_sym_forget(p->m, thread);
    ft_vec_push(&x.open, *p);
    ft_status status = explore(&x);
    drop_all(&x.open);
    for (size_t i = 0; i < x.out.len; i++) ft_vec_push(out, x.out.data[i]);
    ft_vec_release(&x.out);
    return status;
}
