/* Threads that poll: one that comes back to a place as it was, and did nothing in between but
 * attempts that changed nothing, would do the same again (explore/watch.h). It stands before AWAIT
 * then; and before LINGER where it does not come back as it was but had the same results for some
 * rounds.
 *
 * A round may also take locks and give them back, or have atomic sections. The memory that it reads
 * there is not watched: AWAIT is then of the round's attempts alone, often of none, and the thread
 * may stand there although it could go on. Nothing is lost: in an execution with such a round all
 * of its steps can be left out, since no other thread can tell (no instruction of the program tries
 * a lock, or waits for one for a time); so the execution without them, which has the same end, is
 * explored as well. A run that ends with such a thread is judged by the interpreter: if the thread
 * could go on, the run is one of those that can be left out, and does not count. */
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "explore/running.h"

enum { VISITS = 64 };

static void forget(poller *p)
{
    for (size_t i = 0; i < p->visits.len; i++) ft_sym_mark_free(p->visits.data[i].mark);
    p->visits.len = 0;
}

static void drop_first(poller *p)
{
    ft_sym_mark_free(p->visits.data[0].mark);
    memmove(p->visits.data, p->visits.data + 1, --p->visits.len * sizeof *p->visits.data);
}

void ft_running_release_polls(running *r)
{
    for (int t = 0; t < FT_X_THREADS; t++) {
        poller *p = r->pollers[t];
        if (!p) continue;
        forget(p);
        ft_vec_release(&p->visits);
        free(p);
        r->pollers[t] = NULL;
    }
}

void ft_running_copy_polls(running *to, const running *from)
{
    for (int t = 0; t < FT_X_THREADS; t++) {
        const poller *p = from->pollers[t];
        if (!p) continue;
        poller *q = to->pollers[t] = ft_calloc(1, sizeof *q);
        q->changes = p->changes;
        q->poll = p->poll;
        q->first = p->first;
        q->holds = p->holds;
        for (size_t i = 0; i < p->visits.len; i++) {
            visit v = p->visits.data[i];
            v.mark = ft_sym_mark_share(v.mark);
            ft_vec_push(&q->visits, v);
        }
    }
}

/* ---- attempts ---- */

static bool is_same_place(const ft_sym_place *a, const ft_sym_place *b)
{
    return a->function == b->function && a->instruction == b->instruction;
}

/* Takes a lock or gives it back. */
static bool is_hold(const ft_sym_operation *o)
{
    static const bool HOLDS[FT_CODES] = {
        [FT_CODE_LOCK] = true,       [FT_CODE_UNLOCK] = true,    [FT_CODE_READ_LOCK] = true,
        [FT_CODE_WRITE_LOCK] = true, [FT_CODE_RW_UNLOCK] = true, [FT_CODE_ATOMIC_BEGIN] = true,
        [FT_CODE_ATOMIC_END] = true,
    };
    return !o->arms && o->code < FT_CODES && HOLDS[o->code];
}

static bool is_held(const visit *v)
{
    return v->attempt.operation.kind == FT_X_NONE;
}

static bool is_content(ft_x_kind kind)
{
    return ft_x_kind_class(kind) == FT_X_ATOMIC;
}

static bool is_attempt(ft_x_kind kind)
{
    return is_content(kind) || kind == FT_X_READ || kind == FT_X_TRY_LOCK ||
           kind == FT_X_TRY_TAKE || kind == FT_X_TRY_READ_LOCK || kind == FT_X_TRY_WRITE_LOCK;
}

/* Neither an attempt nor a change. */
static bool is_nothing(const ft_sym_operation *o)
{
    return !o->arms && (o->code == FT_CODE_YIELD || o->code == FT_CODE_FENCE);
}

/* What the attempt would have for a result now. */
static int64_t result_now(const running *r, const visit *v)
{
    const ft_x_operation *x = &v->attempt.operation;
    ft_sym_operation o = {.object = v->address};
    uint64_t bits = 0;
    if (x->kind == FT_X_READ) return r->objects.data[x->object].content;
    if (!is_content((ft_x_kind)x->kind)) return (int64_t)ft_running_outcome(r, &o, x);
    bool numbers = ft_sym_read(r->m, v->address, v->width / 8u, &bits);
    FT_REQUIRE(numbers);
    return (int64_t)(bits << (64 - v->width)) >> (64 - v->width);
}

/* Was it there, and changed nothing since? */
static bool was_here(const running *r, uint32_t t, const ft_sym_place *place)
{
    const poller *p = r->pollers[t];
    if (!p || p->changes != ft_sym_changes(r->m, t)) return false;
    for (size_t i = 0; i < p->visits.len; i++)
        if (is_same_place(&p->visits.data[i].place, place)) return true;
    return false;
}

/* Of a mutex that it tries while it holds it, too: no other thread can tell. Marks cost, and most
 * locks are not taken in rounds: from the second visit on. */
static polled hold(const running *r, uint32_t t, const ft_sym_operation *o)
{
    polled p = {.holds = true, .v = {.place = o->place}};
    if (was_here(r, t, &o->place)) p.v.mark = ft_sym_mark_new(r->m, t);
    return p;
}

polled ft_running_tries(running *r, uint32_t t, const ft_sym_operation *o, const ft_x_operation *x)
{
    polled p = {.tries = !o->arms && is_attempt((ft_x_kind)x->kind)};
    bool own = !o->arms && o->code == FT_CODE_TRY_LOCK && x->kind == FT_X_STEP;
    if (own || (is_hold(o) && !r->c->tries_locks)) return hold(r, t, o);
    if (!p.tries) return p;
    p.v = (visit){.attempt = {.operation = *x}, .address = o->object, .place = o->place};
    if (is_content((ft_x_kind)x->kind)) {
        uint64_t bits = 0;
        const ft_function *f = ft_program_function(r->c->program, o->place.function);
        p.v.width = f->instructions.data[o->place.instruction].width;
        p.tries = ft_sym_read(r->m, o->object, p.v.width / 8u, &bits); /* else an error */
    }
    if (!p.tries) return p;
    p.v.attempt.result = result_now(r, &p.v);
    p.v.mark = ft_sym_mark_new(r->m, t);
    return p;
}

/* ---- rounds ---- */

static poller *poller_of(running *r, uint32_t t)
{
    if (!r->pollers[t]) r->pollers[t] = ft_calloc(1, sizeof *r->pollers[t]);
    return r->pollers[t];
}

/* Did the attempt, whose result is known, change nothing? */
static bool was_vain(const running *r, const visit *v)
{
    ft_x_kind kind = (ft_x_kind)v->attempt.operation.kind;
    if (kind == FT_X_READ) return true;
    if (is_content(kind)) {
        uint64_t bits;
        return ft_sym_read(r->m, v->address, v->width / 8u, &bits) &&
               result_now(r, v) == v->attempt.result;
    }
    return !v->attempt.result;
}

static bool is_same_attempt(const visit *a, const visit *b)
{
    const ft_x_operation *x = &a->attempt.operation, *y = &b->attempt.operation;
    return is_same_place(&a->place, &b->place) && a->attempt.result == b->attempt.result &&
           x->kind == y->kind && x->object == y->object && x->value == y->value &&
           x->value2 == y->value2;
}

/* How many rounds in a row, up to now, ended at this place with the results of the last one, which
 * begins at *first. */
static uint32_t equal_rounds(const poller *p, const ft_sym_place *place, uint32_t *first)
{
    uint32_t rounds = 0, n = (uint32_t)p->visits.len, last = n;
    const visit *all = p->visits.data;
    while (last && !is_same_place(&all[last - 1].place, place)) last--;
    if (!last) return 0;
    *first = last - 1;
    uint32_t length = n - *first;
    for (uint32_t end = n; end >= length; end -= length, rounds++)
        for (uint32_t i = 0; i < length; i++)
            if (!is_same_attempt(&all[end - length + i], &all[*first + i])) return rounds;
    return rounds;
}

static bool comes_before(const ft_sym_place *a, const ft_sym_place *b)
{
    if (b->function == FT_NO_SYMBOL) return true;
    return a->function != b->function ? a->function < b->function : a->instruction < b->instruction;
}

static void stand_before(running *r, uint32_t t, ft_x_kind kind, uint32_t first)
{
    ft_x_attempt attempts[VISITS];
    poller *p = r->pollers[t];
    uint32_t n = 0;
    FT_REQUIRE(first < p->visits.len);
    assert(p->poll.kind == FT_X_NONE); /* a poll is carried out before the next round */
    ft_sym_place source = ft_sym_source(r->m, t);
    p->holds = false;
    for (size_t i = first; i < p->visits.len; i++) {
        if (is_held(&p->visits.data[i]))
            p->holds = true;
        else
            attempts[n++] = p->visits.data[i].attempt;
    }
    p->poll = ft_x_watch(r->c->watches, kind, attempts, n);
    p->first = first;
    if (kind == FT_X_LINGER && comes_before(&source, &r->c->lingers)) r->c->lingers = source;
}

/* The thread stands before an instruction that others see. Rounds with locks are not lingered in:
 * most such loops end. */
static void look(running *r, uint32_t t, poller *p, const ft_sym_place *place)
{
    uint32_t first = 0;
    for (uint32_t i = (uint32_t)p->visits.len; i-- > 0;)
        if (is_same_place(&p->visits.data[i].place, place) && p->visits.data[i].mark &&
            ft_sym_is_at(r->m, t, p->visits.data[i].mark))
            return stand_before(r, t, FT_X_AWAIT, i);
    for (size_t i = 0; i < p->visits.len; i++)
        if (is_held(&p->visits.data[i])) return;
    if (equal_rounds(p, place, &first) >= r->c->options.polls)
        stand_before(r, t, FT_X_LINGER, first);
}

void ft_running_tried(running *r, uint32_t t, const ft_sym_operation *o, const ft_x_action *a,
                      polled *tried)
{
    ft_sym_operation next;
    (void)a;
    if (!tried->tries && !tried->holds && !r->pollers[t]) return;
    poller *p = poller_of(r, t);
    uint64_t changes = ft_sym_changes(r->m, t);
    bool keeps = tried->tries ? was_vain(r, &tried->v) : tried->holds || is_nothing(o);
    if (tried->holds || (tried->tries && keeps)) {
        if (p->visits.len == VISITS) drop_first(p);
        ft_vec_push(&p->visits, tried->v);
    } else if (tried->tries) {
        ft_sym_mark_free(tried->v.mark);
    }
    if (!keeps || changes != p->changes) forget(p);
    p->changes = changes;
    bool stands = p->visits.len && ft_sym_end_of(r->m) == FT_SYM_GOING &&
                  ft_sym_stands_before(r->m, t, &next) && !next.arms && !next.stands &&
                  !next.circles && next.code < FT_CODES && next.code != FT_CODE_FAIL;
    if (stands && ft_instruction_row_of(next.code)->effect == FT_EFFECT_VISIBLE)
        look(r, t, p, &next.place);
}

/* ---- polls ---- */

const ft_x_operation *ft_running_poll(const running *r, uint32_t t)
{
    const poller *p = r->pollers[t];
    return p && p->poll.kind != FT_X_NONE ? &p->poll : NULL;
}

bool ft_running_differs(const running *r, uint32_t t)
{
    const poller *p = r->pollers[t];
    for (size_t i = p->first; i < p->visits.len; i++)
        if (!is_held(&p->visits.data[i]) &&
            result_now(r, &p->visits.data[i]) != p->visits.data[i].attempt.result)
            return true;
    return false;
}

bool ft_running_may_poll_on(const running *r)
{
    for (uint32_t t = 0; t < FT_X_THREADS; t++)
        if (ft_running_poll(r, t) && r->pollers[t]->holds) return true;
    return false;
}

void ft_running_polls_on(running *r, uint32_t t, bool late)
{
    poller *p = r->pollers[t];
    FT_REQUIRE(p && p->poll.kind != FT_X_NONE);
    p->poll = (ft_x_operation){.kind = FT_X_NONE};
    if (!late) forget(p); /* after a late one its round goes on */
}
