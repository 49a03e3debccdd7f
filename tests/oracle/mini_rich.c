#include "oracle/mini_rich.h"

#include <stddef.h>
#include <string.h>

/* Which shared places there are, and the guard under which a thread uses them. */
enum guard { LOCK0, LOCK1, READS, WRITES, SEM, ONCE, HEAP };
static const struct {
    enum guard guard;
    bool writes;
    const char *place;
} PLACES[] = {
    {LOCK0, true, "g"},        {LOCK0, true, "A[0]"},    {LOCK0, true, "A[x]"},
    {LOCK0, true, "A[y + z]"}, {LOCK0, true, "*p"},      {LOCK1, true, "h"},
    {LOCK1, true, "a[1]"},     {READS, false, "w"},      {READS, false, "W[x]"},
    {WRITES, true, "w"},       {WRITES, true, "W[y]"},   {WRITES, true, "W[1]"},
    {SEM, true, "s"},          {SEM, true, "S[_a & 1]"}, {ONCE, false, "o"},
    {HEAP, true, "u"},
};
enum { N_PLACES = sizeof PLACES / sizeof PLACES[0] };

typedef struct features {
    bool rw, sems, tries, functions, pointers, barriers, once, atomics, own, exits, loops, waits,
        computed, kinds, races;
} features;

typedef struct maker {
    uint64_t state;
    features has;
    ft_strbuf *out;
    uint32_t held; /* a bit for each guard */
    int function;  /* the function at hand, from 1; functions call those before; 0: a thread */
    int depth, loops, operations;
    bool made; /* _p has an object of the heap */
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

static bool holds(const maker *m, enum guard guard)
{
    return m->held >> guard & 1;
}

/* ---- places ---- */

static bool may_use(const maker *m, int i, bool writes)
{
    if (strcmp(PLACES[i].place, "*p") == 0 && !m->has.pointers) return false;
    return holds(m, PLACES[i].guard) && (PLACES[i].writes || !writes);
}

/* A shared place whose guard is held; NULL: none. With races sometimes another. */
static const char *shared(maker *m, bool writes)
{
    int from = (int)pick(m, N_PLACES);
    if (m->has.races && chance(m, 5)) return PICK(m, "g", "h", "w", "s");
    for (int k = 0; k < N_PLACES; k++) {
        int i = (from + k) % N_PLACES;
        if (may_use(m, i, writes)) return PLACES[i].place;
    }
    return NULL;
}

static const char *own(maker *m)
{
    if (m->made && chance(m, 30)) return "*_p";
    if (m->has.own && chance(m, 25)) return "t";
    if (m->function && chance(m, 40)) return "_arg";
    return PICK(m, "_a", "_b");
}

static void value(maker *m, int depth);

static void number(maker *m)
{
    const char *place = shared(m, false);
    if (place && chance(m, 35)) return put(m, place);
    if (m->has.atomics && chance(m, 20)) return put(m, PICK(m, "a", "b", "fetch[b, 1]"));
    if (chance(m, 35)) return put(m, own(m));
    put(m, PICK(m, "0", "1", "x", "y", "z", "2"));
}

/* Calls of functions that take locks are statements of their own. */
static void value(maker *m, int depth)
{
    uint32_t k = pick(m, 100);
    if (k < 45 || depth > 1) return number(m);
    if (k < 60 && m->has.functions) {
        put(m, m->has.pointers && chance(m, 40) ? "_pf(" : PICK(m, "plus(", "twice("));
        value(m, depth + 1);
        return put(m, ")");
    }
    put(m, "(");
    value(m, depth + 1);
    put(m, PICK(m, " + ", " == ", " != ", " & ", " ^ ", " > "));
    value(m, depth + 1);
    put(m, ")");
}

static void condition(maker *m)
{
    if (chance(m, 45)) return put(m, PICK(m, "x", "y", "!x", "z > 1", "x == y", "z == 2"));
    value(m, 0);
}

/* ---- statements ---- */

static void block(maker *m, int n);

static void assign(maker *m)
{
    const char *place = shared(m, true);
    if (place && chance(m, 60))
        put(m, place);
    else if (m->has.atomics && chance(m, 20))
        put(m, PICK(m, "a", "b"));
    else
        put(m, own(m));
    put(m, " = ");
    value(m, 0);
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
    int own_loop = m->loops++;
    ft_strbuf_printf(m->out, "_i%d = 0; while _i%d < ", own_loop, own_loop);
    put(m, PICK(m, "x", "z", "1", "2", "x + y"));
    put(m, " { ");
    m->depth++;
    block(m, 1);
    m->depth--;
    ft_strbuf_printf(m->out, "_i%d = _i%d + 1; } ", own_loop, own_loop);
}

static void body(maker *m, int n, const char *closing)
{
    m->depth++;
    block(m, n);
    put(m, closing);
    m->depth--;
}

/* Takes, does something, gives back. */
static void section(maker *m, enum guard guard, const char *opening, const char *closing)
{
    m->operations--;
    m->held |= 1u << guard;
    put(m, opening);
    body(m, 1 + (int)pick(m, 2), closing);
    m->held &= ~(1u << guard);
}

/* The same for what may not get it: then nothing, or something else, is done. */
static void attempt(maker *m, enum guard guard, const char *opening, const char *closing)
{
    m->operations--;
    ft_strbuf_printf(m->out, chance(m, 30) ? "_b = %s; if _b == 0 { " : "if %s == 0 { ", opening);
    m->held |= 1u << guard;
    body(m, 1 + (int)pick(m, 2), closing);
    m->held &= ~(1u << guard);
    put(m, "} ");
    if (!chance(m, 30)) return;
    put(m, "else { ");
    body(m, 1, "} ");
}

static void wait_or_signal(maker *m)
{
    if (chance(m, 35)) put(m, "g = 1; ");
    put(m, PICK(m, "while g == 0 { wait 0 0; } ", "signal 0; ", "bcast 0; ",
                "_a = timedwait[0, 0]; ", "if g == 0 { _b = timedwait[0, 0]; } ", "signal 0; "));
}

static void lock_section(maker *m)
{
    if (m->has.waits && !holds(m, LOCK0) && chance(m, 30)) {
        m->operations--;
        put(m, "lock 0; ");
        m->held |= 1u << LOCK0;
        wait_or_signal(m);
        block(m, 1);
        m->held &= ~(1u << LOCK0);
        return put(m, "unlock 0; ");
    }
    if (m->has.tries && chance(m, 40)) {
        if (!holds(m, LOCK0) && chance(m, 60))
            return attempt(m, LOCK0, PICK(m, "try[0]", "timed[0]"), "unlock 0; ");
        if (!holds(m, LOCK1)) return attempt(m, LOCK1, PICK(m, "try[1]", "timed[1]"), "unlock 1; ");
    }
    if (!holds(m, LOCK0) && chance(m, 60)) return section(m, LOCK0, "lock 0; ", "unlock 0; ");
    if (!holds(m, LOCK1)) section(m, LOCK1, "lock 1; ", "unlock 1; ");
}

static void rw_section(maker *m)
{
    if (holds(m, READS) || holds(m, WRITES)) return;
    bool tries = m->has.tries && chance(m, 40);
    bool reads = chance(m, 50);
    if (tries)
        attempt(m, reads ? READS : WRITES, reads ? "tryread[0]" : "trywrite[0]", "rwun 0; ");
    else
        section(m, reads ? READS : WRITES, reads ? "rdlock 0; " : "wrlock 0; ", "rwun 0; ");
}

static void sem_section(maker *m)
{
    if (holds(m, SEM)) return;
    if (m->has.tries && chance(m, 40))
        attempt(m, SEM, PICK(m, "trysem[0]", "timedsem[0]"), "post 0; ");
    else
        section(m, SEM, "take 0; ", "post 0; ");
}

/* A counter without data: also posts without takes, and takes that nothing may end. */
static void count(maker *m)
{
    put(m, PICK(m, "post 1; ", "take 1; ", "post 1; ", "_a = trysem[1]; ", "_b = count[1]; ",
                "if x { post 1; } "));
    m->operations--;
}

static void computed_section(maker *m)
{
    const char *which = PICK(m, "2 + x", "2 + (z & 1)", "3 - y", "2 + (_a & 1)");
    m->operations--;
    ft_strbuf_printf(m->out, "_k = %s; lock _k; ", which);
    if (m->has.kinds && chance(m, 50)) put(m, "_b = locks[2]; if _b == 0 { unlock 2; } ");
    ft_strbuf_puts(m->out, "unlock _k; ");
}

static void kinds(maker *m)
{
    m->operations--;
    put(m, PICK(m, "lock 2; lock 2; unlock 2; unlock 2; ",
                "_a = locks[3]; _b = locks[3]; unlock 3; if _b == 0 { unlock 3; } ",
                "lock 2; if x { lock 2; unlock 2; } unlock 2; "));
}

static void pointers(maker *m)
{
    if (!m->held && m->operations > 0 && chance(m, 35)) {
        m->operations--;
        put(m, PICK(m, "_pl = new; lockp _pl; unlockp _pl; free _pl; ",
                    "_pl = pick[x] r q; lockp _pl; unlockp _pl; ",
                    "if x { _pl = new; lockp _pl; unlockp _pl; } "));
    } else if (!m->made && m->depth == 0 && chance(m, 50)) {
        put(m, "_p = new; *_p = 0; ");
        m->made = true;
    } else if (m->made && m->depth == 0 && chance(m, 30)) {
        put(m, "free _p; ");
        m->made = false;
    } else if (holds(m, LOCK0)) {
        put(m,
            PICK(m, "p = &g; ", "p = &A[x]; ", "p = pick[x] &g &A[1]; ", "p = pick[y] &A[2] p; "));
    } else if (m->made) {
        put(m, "*_p = *_p + 1; ");
    } else {
        put(m, "_pf = pick[z > 1] &plus &twice; ");
    }
}

static void heap_section(maker *m)
{
    if (!holds(m, HEAP)) section(m, HEAP, "lockp q; ", "unlockp q; ");
}

static void atomics(maker *m)
{
    m->operations--;
    put(m, PICK(m, "a = 1; ", "_a = a; ", "_b = fetch[a, 1]; ", "_a = swap[b, 0, 1]; ",
                "if swap[b, 0, 1] == 0 { a = a + 1; } ", "if a == 1 { b = 1; } "));
}

/* Calls a function with sections: outside of sections. */
static void calls(maker *m)
{
    put(m, m->function == 2 || chance(m, 50) ? "_a = inner(" : "call outer(");
    value(m, 1);
    put(m, "); ");
    m->operations--;
}

static void leaves(maker *m)
{
    put(m, "if ");
    condition(m);
    put(m, PICK(m, " { exit 1; } ", " { abort; } ", " { ret; } "));
}

static void check(maker *m)
{
    put(m, "assert ");
    condition(m);
    put(m, "; ");
}

static void barrier(maker *m)
{
    put(m, "barrier 0; ");
    m->operations--;
}

static void once(maker *m)
{
    put(m, "once 0 init; ");
    m->operations--;
    m->held |= 1u << ONCE;
    assign(m);
    m->held &= ~(1u << ONCE);
}

/* What a thread does: how often, which feature asks for it (0: all programs have it), whether it is
 * for the outside of sections, for threads alone, and one of few operations. */
#define IF(feature) (offsetof(features, feature) + 1)
static const struct {
    void (*make)(maker *m);
    uint32_t weight;
    size_t feature;
    bool outside, in_thread, operation;
} ROWS[] = {
    {assign, 24, 0, false, false, false},
    {branch, 18, 0, false, false, false},
    {lock_section, 22, 0, false, false, true},
    {rw_section, 14, IF(rw), false, false, true},
    {sem_section, 12, IF(sems), false, false, true},
    {count, 8, IF(sems), true, false, true},
    {computed_section, 8, IF(computed), true, false, true},
    {kinds, 8, IF(kinds), true, false, true},
    {pointers, 12, IF(pointers), false, true, false},
    {atomics, 12, IF(atomics), false, false, true},
    {calls, 14, IF(functions), true, false, true},
    {leaves, 6, IF(exits), false, false, false},
    {check, 4, IF(exits), false, false, false},
    {barrier, 10, IF(barriers), true, true, true},
    {once, 8, IF(once), true, false, true},
    {loop, 7, IF(loops), false, true, false},
    {heap_section, 10, IF(pointers), false, true, true},
};
enum { N_ROWS = sizeof ROWS / sizeof ROWS[0] };

static bool is_asked(const maker *m, size_t i)
{
    const bool *has = (const bool *)&m->has;
    if (ROWS[i].feature && !has[ROWS[i].feature - 1]) return false;
    if ((ROWS[i].outside && m->held) || (ROWS[i].in_thread && m->function)) return false;
    if (ROWS[i].make == calls && m->function == 1) return false; /* none comes before it */
    if (ROWS[i].make == branch && m->depth > 2) return false;
    if (ROWS[i].make == loop && m->depth > 1) return false;
    return !ROWS[i].operation || (m->depth <= 3 && m->operations > 0);
}

static void statement(maker *m)
{
    uint32_t all = 0;
    for (size_t i = 0; i < N_ROWS; i++) all += is_asked(m, i) ? ROWS[i].weight : 0;
    uint32_t at = pick(m, all);
    for (size_t i = 0; i < N_ROWS; i++) {
        if (!is_asked(m, i)) continue;
        if (at < ROWS[i].weight) return ROWS[i].make(m);
        at -= ROWS[i].weight;
    }
}

static void block(maker *m, int n)
{
    while (n-- > 0) statement(m);
}

/* ---- the whole ---- */

static void functions(maker *m)
{
    put(m, "F plus { give _arg + x; } ");
    put(m, PICK(m, "F twice { if _arg > 1 { give plus(1); } give _arg; } ",
                "F twice { _l = plus(_arg); if _l == y { give 1; } give _l & 1; } "));
    for (m->function = 1; m->function <= 2; m->function++) {
        put(m, m->function == 1 ? "F inner { " : "F outer { ");
        m->operations = 1;
        m->made = false;
        put(m, "_a = _arg; _b = 0; _k = 0; _pf = &plus; ");
        block(m, 2);
        put(m, PICK(m, "give _a; } ", "give x; } ", "if _b { give 1; } give 0; } "));
    }
    m->function = 0;
}

static void main_thread(maker *m, uint32_t threads)
{
    put(m, "M { p = &g; q = new; r = new; ");
    put(m, PICK(m, "", "", "q = pick[y] q r; "));
    for (uint32_t k = 1; k <= threads; k++) {
        if (k > 1 && chance(m, 25))
            put(m, PICK(m, "if x { lock 1; h = 1; unlock 1; } ", "post 1; "));
        ft_strbuf_printf(m->out, "create %u; ", k);
    }
    for (uint32_t k = 1; k <= threads; k++) {
        uint32_t how = pick(m, 10);
        if (how < 7) ft_strbuf_printf(m->out, "join %u; ", k);
        if (how == 7) ft_strbuf_printf(m->out, "detach %u; ", k);
        if (how == 8) ft_strbuf_printf(m->out, "if y { join %u; } else { detach %u; } ", k, k);
    }
    put(m, "} ");
}

static features some(maker *m)
{
    return (features){.rw = chance(m, 35),
                      .sems = chance(m, 35),
                      .tries = chance(m, 45),
                      .functions = chance(m, 50),
                      .pointers = chance(m, 40),
                      .barriers = chance(m, 20),
                      .once = chance(m, 25),
                      .atomics = chance(m, 30),
                      .own = chance(m, 30),
                      .exits = chance(m, 40),
                      .loops = chance(m, 30),
                      .waits = chance(m, 25),
                      .computed = chance(m, 25),
                      .kinds = chance(m, 20),
                      .races = chance(m, 8)};
}

void mini_rich(uint64_t seed, ft_strbuf *text)
{
    maker m = {.state = seed * 2 + 1, .out = text};
    for (int i = 0; i < 4; i++) (void)pick(&m, 2);
    m.has = some(&m);
    uint32_t threads = m.has.barriers ? 2 + pick(&m, 3) : 2 + (pick(&m, 3) == 0);
    put(&m,
        "in x:1 y:1 z:2; var g h w s o u; arr A 4; arr W 2; arr S 2; atom a b; own t; ptr p q r; ");
    put(&m, "sem 0:1; ");
    ft_strbuf_printf(text, "sem 1:%u; bar 0:2; ", pick(&m, 2));
    if (m.has.kinds) put(&m, "mutex 2:recursive; mutex 3:checking; ");
    if (m.has.functions || m.has.pointers) functions(&m);
    if (m.has.once) put(&m, PICK(&m, "O init { o = 1 + x; } ", "O init { if x { o = z; } } "));
    if (m.has.pointers || chance(&m, 30)) {
        main_thread(&m, threads);
    }
    for (uint32_t k = 0; k < threads; k++) {
        m.operations = threads == 2 ? 4 : threads == 3 ? 3 : 2;
        m.loops = 0;
        m.made = false;
        put(&m, "T { ");
        if (m.has.functions || m.has.pointers) put(&m, "_pf = &plus; ");
        block(&m, 2 + (int)pick(&m, 3));
        put(&m, "} ");
    }
}
