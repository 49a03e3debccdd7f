#include "oracle/mini_random.h"

#include <stdio.h>

typedef struct maker {
    uint64_t state;
    mini_features has;
    ft_strbuf *out;
    int inside, loops, depth; /* inside: the lock that is held, -1: none */
    int locks;                /* operations that are left for the thread */
    int late;                 /* inputs that no thread has read yet */
} maker;

static uint32_t pick(maker *m, uint32_t n)
{
    m->state = m->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(m->state >> 33) % n;
}

static bool chance(maker *m, uint32_t percent)
{
    return pick(m, 100) < percent;
}

#define PICK(m, ...)                                                                               \
    one_of(m, (const char *const[]){__VA_ARGS__},                                                  \
           sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))
static const char *one_of(maker *m, const char *const *all, size_t n)
{
    return all[pick(m, (uint32_t)n)];
}

static void put(maker *m, const char *text)
{
    ft_strbuf_puts(m->out, text);
}

static void shared(maker *m)
{
    if (m->inside == 0 && m->has.arrays && chance(m, 40))
        put(m, PICK(m, "A[0]", "A[1]", "A[x]", "A[y]", "A[_a % 3]"));
    else
        put(m, m->inside == 0 ? "g0" : "g1");
}

static void condition(maker *m)
{
    if (m->inside >= 0 && chance(m, 35)) {
        shared(m);
        if (chance(m, 40)) put(m, " == 1");
        return;
    }
    put(m, PICK(m, "x", "y", "!x", "x != y", "x == 0", "_a", "_b", "_a == _b", "_a || x", "z == 1",
                "z > 1", "_a == 1"));
}

static void value(maker *m)
{
    if (m->inside >= 0 && chance(m, 30)) return shared(m);
    put(m, PICK(m, "0", "1", "x", "y", "_a", "_b", "x + y", "1 - x", "_a + 1", "z"));
}

static void block(maker *m, int n);

static void assign(maker *m)
{
    if (m->inside >= 0 && chance(m, 55))
        shared(m);
    else
        put(m, PICK(m, "_a", "_b"));
    put(m, " = ");
    value(m);
    put(m, "; ");
}

static void branch(maker *m)
{
    put(m, "if ");
    condition(m);
    put(m, " { ");
    m->depth++;
    block(m, 1 + (int)pick(m, 2));
    put(m, "} ");
    if (chance(m, 35)) {
        put(m, "else { ");
        block(m, 1);
        put(m, "} ");
    }
    m->depth--;
}

static void loop(maker *m)
{
    int own = m->loops++;
    ft_strbuf_printf(m->out, "_i%d = 0; while _i%d < ", own, own);
    put(m, PICK(m, "x", "y", "1", "z", "x + y"));
    put(m, " { ");
    m->depth++;
    block(m, 1);
    m->depth--;
    ft_strbuf_printf(m->out, "_i%d = _i%d + 1; } ", own, own);
}

/* A statement of a loop that does not synchronise. */
static void round_statement(maker *m)
{
    if (chance(m, 60)) return assign(m);
    put(m, "if ");
    condition(m);
    put(m, " { ");
    assign(m);
    put(m, chance(m, 50) ? "} " : "} else { _a = _a + 1; } ");
}

/* Counts up to what inputs say; a loop in it once more. */
static void rounds(maker *m, int nested)
{
    int own = m->loops++;
    const char *bound = PICK(m, "z", "x + z", "z", "y + 2");
    ft_strbuf_printf(m->out, "_i%d = 0; while _i%d < %s { ", own, own, bound);
    round_statement(m);
    if (chance(m, 30)) round_statement(m);
    if (nested && chance(m, 25)) rounds(m, nested - 1);
    if (m->inside == 0 && chance(m, 40)) ft_strbuf_printf(m->out, "A[_i%d & 1] = 1; ", own);
    ft_strbuf_printf(m->out, "_i%d = _i%d + 1; } ", own, own);
}

static void wait_or_signal(maker *m)
{
    if (chance(m, 35)) put(m, "g0 = 1; ");
    put(m, PICK(m, "while g0 == 0 { wait 0 0; } ", "signal 0; ", "bcast 0; ", "signal 0; "));
}

static void section(maker *m)
{
    bool computed = m->has.computed_locks && chance(m, 30);
    const char *lock = computed ? PICK(m, "x", "_a % 2", "y", "2 + x") : PICK(m, "0", "1", "0");
    m->locks--;
    ft_strbuf_printf(m->out, "lock %s; ", lock);
    m->inside = computed ? -1 : *lock - '0';
    if (m->inside == 0 && m->has.conditions && chance(m, 35)) wait_or_signal(m);
    m->depth++;
    if (computed)
        put(m, "_b = y; "); /* what the lock was computed from must not change inside */
    else
        block(m, 1 + (int)pick(m, 2));
    m->depth--;
    m->inside = -1;
    ft_strbuf_printf(m->out, "unlock %s; ", lock);
}

/* Something else, where a feature asks for it; false: nothing. */
static bool special(maker *m)
{
    if (m->has.rounds && chance(m, 25)) return rounds(m, 1), true;
    uint32_t k = pick(m, 100);
    if (m->has.asserts && k < 8) {
        bool aborts = chance(m, 40);
        put(m, aborts ? "if " : "assert ");
        condition(m);
        put(m, aborts ? " { abort; } " : "; ");
        return true;
    }
    if (m->has.returns && k >= 8 && k < 14 && m->inside < 0) {
        put(m, "if ");
        condition(m);
        put(m, " { ret; } ");
        return true;
    }
    if (m->has.conditions && k >= 14 && k < 18) return put(m, "signal 0; "), true;
    if (m->has.barriers && k >= 18 && k < 26 && m->inside < 0) return put(m, "barrier 0; "), true;
    if (m->has.loops && k >= 26 && k < 36 && m->depth < 2) return loop(m), true;
    if (m->has.late && k >= 44 && k < 64 && m->depth == 0 && m->late) {
        m->late--;
        put(m, "read ");
        put(m, PICK(m, "_a", "_b"));
        put(m, m->late ? " p; " : " q; ");
        return true;
    }
    if (m->has.counting && k >= 64 && m->depth < 2 && m->inside < 0) {
        int own = m->loops++;
        ft_strbuf_printf(m->out, "_i%d = 0; while _i%d < %s { _i%d = _i%d + 1; } _a = _i%d; ", own,
                         own, PICK(m, "x", "z", "x + y", "_b"), own, own, own);
        if (m->locks-- > 0) put(m, "if _a == 1 { lock 1; unlock 1; } ");
        return true;
    }
    if (m->has.endless && k >= 36 && k < 44 && m->depth < 2) {
        put(m, "while ");
        condition(m);
        put(m, " { _b = _b; } ");
        return true;
    }
    return false;
}

static void statement(maker *m)
{
    if (special(m)) return;
    uint32_t k = pick(m, 100);
    if (k < 30 && m->depth < 3)
        branch(m);
    else if (k < 70 && m->inside < 0 && m->locks > 0)
        section(m);
    else
        assign(m);
}

static void block(maker *m, int n)
{
    while (n-- > 0) statement(m);
}

void mini_random(uint64_t seed, mini_features features, ft_strbuf *text)
{
    maker m = {.state = seed * 2 + 1, .has = features, .out = text, .inside = -1};
    uint32_t threads = 2 + (pick(&m, 3) == 0);
    for (int i = 0; i < 4; i++) (void)pick(&m, 2);
    put(&m, "in x:1 y:1 z:2; var g0 g1; arr A 3; ");
    if (features.late) put(&m, "late p:1 q:1; ");
    m.late = 2;
    if (features.barriers) ft_strbuf_printf(text, "bar 0:%u; ", chance(&m, 50) ? 2 : threads);
    if (features.children && chance(&m, 60)) {
        put(&m, "M { create 1; if x { create 2; } ");
        for (uint32_t k = 3; k <= threads; k++) ft_strbuf_printf(text, "create %u; ", k);
        put(&m, "join 1; ");
        put(&m, PICK(&m, "if x { join 2; } ", "", "if y { lock 1; unlock 1; } "));
        put(&m, "} ");
    }
    for (uint32_t k = 0; k < threads; k++) {
        m.locks = threads == 2 ? 3 : 2;
        m.loops = 0;
        m.inside = -1;
        put(&m, "T { ");
        block(&m, 2 + (int)pick(&m, 2));
        put(&m, "} ");
    }
}

mini_features mini_random_features(uint64_t seed)
{
    maker m = {.state = seed ^ 0x9e3779b97f4a7c15u};
    for (int i = 0; i < 4; i++) (void)pick(&m, 2);
    return (mini_features){.arrays = chance(&m, 40),
                           .loops = chance(&m, 40),
                           .asserts = chance(&m, 40),
                           .returns = chance(&m, 40),
                           .computed_locks = chance(&m, 35),
                           .conditions = chance(&m, 35),
                           .barriers = chance(&m, 25),
                           .children = chance(&m, 30)};
}
