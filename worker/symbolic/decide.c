#include <stdlib.h>

#include "symbolic/internal.h"

/* Values of a term that become arms; where there are more, so many of the smallest. */
enum { VALUES = 32, FEW = 4 };

/* ---- inputs ---- */

static uint32_t times_read(sym_thread *th, uint32_t name)
{
    for (size_t i = 0; i < th->inputs.len; i++)
        if (th->inputs.data[i].name == name) return th->inputs.data[i].n++;
    ft_vec_push(&th->inputs, (read_count){name, 1});
    return 0;
}

ft_symbol sym_symbol_of(ft_sym_world *w, sym_input input)
{
    const uint64_t words[] = {input.thread, input.name, input.n, input.width};
    for (uint64_t key = ft_hash_bytes(words, sizeof words, 3);; key++) {
        bool fresh;
        uint64_t *slot = ft_map_slot(&w->symbols, key, w->inputs.len, &fresh);
        if (fresh) {
            sym_path_declare(w->path, (ft_symbol)w->inputs.len, input.width);
            ft_vec_push(&w->inputs, input);
            return (ft_symbol)w->inputs.len - 1;
        }
        const sym_input *i = &w->inputs.data[*slot];
        if (i->thread == input.thread && i->name == input.name && i->n == input.n &&
            i->width == input.width)
            return (ft_symbol)*slot;
    }
}

ft_symbol sym_symbol(ft_sym_state *m, uint32_t t, uint32_t name, uint8_t width)
{
    uint32_t n = times_read(sym_thread_of(m, t), name);
    return sym_symbol_of(m->world, (sym_input){t, name, n, width});
}

static void put_input(ft_sym_state *m, ft_symbol symbol, uint64_t bits)
{
    while (m->inputs.len <= symbol) ft_vec_push(&m->inputs, 0);
    m->inputs.data[symbol] = bits;
}

void sym_take_model(ft_sym_state *m, const sym_reply *reply)
{
    for (uint32_t i = 0; i < reply->n_model; i++)
        put_input(m, reply->model[i].symbol, reply->model[i].bits);
}

static bool holds_now(const ft_sym_state *m, ft_term term)
{
    return !m->unknown && sym_path_holds(m->world->path, term, m->inputs.data, m->inputs.len);
}

/* ---- constraints ---- */

/* The constraints among the thread's causes, in the world's scratch. */
static uint32_t known_to(const ft_sym_state *m, uint32_t t)
{
    const ft_sym_clock *clock = &sym_thread_of(m, t)->clock;
    m->world->scratch.len = 0;
    for (size_t i = 0; i < m->constraints.len; i++) {
        const constraint *c = &m->constraints.data[i];
        assert(c->thread < m->threads.len);
        bool is_cause = c->step <= clock->of[c->thread] || sym_fault_is(SYM_FAULT_ALL_CAUSES);
        if (is_cause && !sym_fault_is(SYM_FAULT_NO_CAUSES))
            ft_vec_push(&m->world->scratch, c->term);
    }
    return (uint32_t)m->world->scratch.len;
}

bool sym_is_implied(ft_sym_state *m, uint32_t t, ft_term term)
{
    uint32_t n = known_to(m, t);
    return sym_path_ask(m->world->path, m->world->scratch.data, n, sym_not(m->world, term))
               .answer == FT_ANSWER_UNSAT;
}

uint32_t sym_all_known(const ft_sym_state *m)
{
    m->world->scratch.len = 0;
    for (size_t i = 0; i < m->constraints.len; i++)
        ft_vec_push(&m->world->scratch, m->constraints.data[i].term);
    return (uint32_t)m->world->scratch.len;
}

static bool is_infeasible(ft_sym_state *m)
{
    m->end = FT_SYM_INFEASIBLE;
    return false;
}

bool sym_take_arm(ft_sym_state *m, uint32_t t, uint64_t arm)
{
    sym_thread *th = sym_thread_of(m, t);
    FT_REQUIRE(th->open && arm < th->open->n && th->decided.n < 8);
    ft_term term = th->open->term[arm];
    th->decided.of[th->decided.n++] = th->open->answer[arm];
    free(th->open);
    th->open = NULL;
    bool holds = holds_now(m, term) || sym_fault_is(SYM_FAULT_FEASIBLE);
    if (!holds) {
        uint32_t n = sym_all_known(m);
        sym_reply reply = sym_path_ask(m->world->path, m->world->scratch.data, n, term);
        if (reply.answer == FT_ANSWER_UNSAT) return is_infeasible(m);
        if (reply.answer == FT_ANSWER_UNKNOWN) m->unknown = true;
        assert(reply.answer != FT_ANSWER_SAT || reply.n_model); /* else it would hold now */
        if (reply.answer == FT_ANSWER_SAT && !sym_fault_is(SYM_FAULT_OLD_INPUTS))
            sym_take_model(m, &reply);
    }
    ft_vec_push(&m->constraints, (constraint){term, t, th->steps});
    sym_note(m, &(ft_sym_note){.kind = FT_SYM_ARM, .thread = t, .term = term});
    return true;
}

uint64_t ft_sym_likely_arm(const ft_sym_state *m, uint32_t t)
{
    const branch *open = sym_thread_of(m, t)->open;
    FT_REQUIRE(open);
    for (uint32_t i = 0; i < open->n; i++)
        if (holds_now(m, open->term[i])) return i;
    for (uint32_t i = 0; i < open->n; i++)
        if (ft_sym_may_take(m, t, i)) return i;
    return 0;
}

bool ft_sym_may_take(const ft_sym_state *m, uint32_t t, uint64_t arm)
{
    const branch *open = sym_thread_of(m, t)->open;
    FT_REQUIRE(open && arm < open->n);
    if (holds_now(m, open->term[arm])) return true;
    uint32_t n = sym_all_known(m);
    return sym_path_ask(m->world->path, m->world->scratch.data, n, open->term[arm]).answer !=
           FT_ANSWER_UNSAT;
}

/* One slice after the other, so that each is asked for once. */
bool ft_sym_settle(ft_sym_state *m)
{
    bool good = true;
    for (size_t i = 0; i < m->constraints.len && good; i++) {
        ft_term term = m->constraints.data[i].term;
        if (sym_path_holds(m->world->path, term, m->inputs.data, m->inputs.len)) continue;
        uint32_t n = sym_all_known(m);
        sym_reply reply = sym_path_ask(m->world->path, m->world->scratch.data, n, term);
        good = reply.answer == FT_ANSWER_SAT;
        if (good) sym_take_model(m, &reply);
    }
    for (size_t i = 0; i < m->constraints.len && good; i++)
        good = sym_path_holds(m->world->path, m->constraints.data[i].term, m->inputs.data,
                              m->inputs.len);
    m->unknown = !good;
    return good;
}

/* ---- arms ---- */

static bool decided(sym_thread *th, uint64_t *answer)
{
    if (th->decided.asked == th->decided.n) return false;
    *answer = th->decided.of[th->decided.asked++];
    return true;
}

static void decide(sym_thread *th, uint64_t answer)
{
    assert(th->decided.n < 8 && th->decided.asked == th->decided.n);
    th->decided.of[th->decided.n++] = answer;
    th->decided.asked++;
}

static bool is_literal(const ft_sym_state *m, ft_term t, bool *holds)
{
    ft_term_node node = ft_term_get(m->world->pool, t);
    *holds = node.bits;
    return node.op == FT_OP_LITERAL;
}

/* Of the arms those that the thread's causes leave open; true: one alone, *answer. */
static bool one_is_open(ft_sym_state *m, uint32_t t, const ft_term *arms, const uint64_t *answers,
                        uint32_t n, branch *open, uint64_t *answer)
{
    uint32_t known = known_to(m, t);
    open->n = 0;
    for (uint32_t i = 0; i < n; i++) {
        bool holds;
        if (is_literal(m, arms[i], &holds)) {
            if (holds) return open->n = 0, *answer = answers[i], true;
            continue;
        }
        if (!holds_now(m, arms[i]) &&
            sym_path_ask(m->world->path, m->world->scratch.data, known, arms[i]).answer ==
                FT_ANSWER_UNSAT)
            continue;
        open->term[open->n] = arms[i];
        open->answer[open->n++] = answers[i];
    }
    if (sym_fault_is(SYM_FAULT_LAST_ARM) && open->n > 1) open->n--;
    *answer = open->n ? open->answer[0] : 0;
    return open->n == 1;
}

static bool decide_among(ft_sym_state *m, uint32_t t, const ft_term *arms, const uint64_t *answers,
                         uint32_t n, uint64_t *answer)
{
    sym_thread *th = sym_thread_of(m, t);
    branch open;
    FT_REQUIRE(n > 0 && n <= FT_SYM_ARMS);
    if (one_is_open(m, t, arms, answers, n, &open, answer)) {
        if (open.n)
            sym_note(m, &(ft_sym_note){.kind = FT_SYM_ARM, .thread = t, .term = open.term[0]});
        return decide(th, *answer), true;
    }
    if (!open.n) return is_infeasible(m); /* after an answer that the solver left open */
    th->open = ft_alloc(sizeof open);
    *th->open = open;
    sym_note(m, &(ft_sym_note){.kind = FT_SYM_OPEN, .thread = t});
    return false;
}

bool sym_decide(ft_sym_state *m, uint32_t t, const ft_term *arms, uint32_t n, uint32_t *arm)
{
    uint64_t answers[FT_SYM_ARMS], answer;
    if (!decided(sym_thread_of(m, t), &answer)) {
        for (uint32_t i = 0; i < n; i++) answers[i] = i;
        if (!decide_among(m, t, arms, answers, n, &answer)) return false;
    }
    *arm = (uint32_t)answer;
    return true;
}

bool sym_decide_truth(ft_sym_state *m, uint32_t t, ft_term condition, bool *holds)
{
    uint32_t arm;
    ft_term arms[2] = {condition, sym_not(m->world, condition)};
    if (!sym_decide(m, t, arms, 2, &arm)) return false;
    *holds = arm == 0;
    return true;
}

/* Is it the expected one? Of a width that no exit code has it is forked into its values. */
bool sym_decide_exit(ft_sym_state *m, uint32_t t, value code, uint8_t width)
{
    enum { EXIT_BITS = 32 };
    uint64_t expected = (uint32_t)m->world->options.expect_exit, bits;
    bool holds;
    if (!code.term || sym_fault_is(SYM_FAULT_ANY_EXIT)) return true;
    if (width > EXIT_BITS) return sym_decide_value(m, t, code, width, &bits);
    ft_term term = sym_bits(m->world, code, width);
    return sym_decide_truth(m, t, sym_is(m->world, term, expected & ft_width_mask(width)), &holds);
}

bool sym_decide_value(ft_sym_state *m, uint32_t t, value v, uint8_t width, uint64_t *bits)
{
    uint64_t values[VALUES];
    uint32_t n;
    bool more;
    ft_term arms[VALUES];
    if (!v.term) return *bits = v.bits, true;
    if (decided(sym_thread_of(m, t), bits)) return true;
    ft_term term = sym_bits(m->world, v, width);
    uint32_t known = known_to(m, t);
    if (!sym_path_values(m->world->path, m->world->scratch.data, known, term, values, VALUES, FEW,
                         &n, &more)) {
        m->unknown = true;
        return sym_fail(m, t, FT_ERROR_LIMIT, "the solver does not find the values of an operand");
    }
    m->world->concretised += more && !sym_fault_is(SYM_FAULT_UNCOUNTED);
    for (uint32_t i = 0; i < n; i++) arms[i] = sym_is(m->world, term, values[i]);
    return decide_among(m, t, arms, values, n, bits);
}
