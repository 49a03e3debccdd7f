/* Random programs for proofs for any number of threads (worker/modular): what those follow exactly,
 * and, in the *rich* ones, what they follow widely or refuse. Their states are few. */
#ifndef FT_TESTS_MODULAR_PROGRAMS_H
#define FT_TESTS_MODULAR_PROGRAMS_H

#include "oracle/inputs_text.h"

/* ---- random programs: bytes in atomics, a mutex, sections, loops ---- */

typedef struct maker {
    inputs_text to;
    uint32_t regs[64], n_regs; /* i8, in scope */
    uint32_t claims;           /* assertions that are still to come, of a rich program */
    bool rich;
} maker;

/* Among the objects whose memory the oracle compares. The third is used in sections alone. */
static const char *const CELLS[] = {"a0", "a1", "g0"};

/* A register, or a small number. */
static inline void operand(maker *m, char out[16])
{
    if (m->n_regs && draw(m, 2))
        snprintf(out, 16, "%%r%u", m->regs[draw(m, m->n_regs)]);
    else
        snprintf(out, 16, "%u", draw(m, 4) ? draw(m, 3) : 255);
}

/* Where the instruction does not say the width: before a number. */
static inline const char *width_of(const char *operand)
{
    return operand[0] == '%' ? "" : "i8 ";
}

static inline uint32_t made(maker *m, uint32_t r)
{
    if (m->n_regs < 64) m->regs[m->n_regs++] = r;
    return r;
}

static inline uint32_t condition(maker *m)
{
    static const char *const COMPARE[] = {"eq", "ne", "ult", "ule", "slt", "sle"};
    char a[16], b[16];
    uint32_t c = fresh(m);
    operand(m, a);
    operand(m, b);
    if (m->n_regs) snprintf(a, sizeof a, "%%r%u", m->regs[draw(m, m->n_regs)]);
    put(m, "%%c%u = %s i8 %s, %s", c, COMPARE[draw(m, 6)], a, b);
    return c;
}

static inline void body(maker *m, uint32_t depth);

static inline void choice(maker *m, uint32_t depth)
{
    uint32_t c = condition(m), yes = fresh(m), behind = fresh(m), before = m->n_regs;
    put(m, "branch %%c%u, l%u, l%u", c, yes, behind);
    label(m, yes);
    body(m, depth - 1);
    m->n_regs = before;
    put(m, "jump l%u", behind);
    label(m, behind);
}

/* Goes round until a cell holds a number, or is left at once by a condition. */
static inline void loop(maker *m, uint32_t depth)
{
    uint32_t head = fresh(m), again = fresh(m), behind = fresh(m), r = fresh(m), c = fresh(m);
    uint32_t before = m->n_regs;
    put(m, "jump l%u", head);
    label(m, head);
    put(m, "%%r%u = atomic_load seq_cst i8 @%s", r, CELLS[draw(m, 2)]);
    put(m, "%%c%u = %s i8 %%r%u, %u", c, draw(m, 2) ? "eq" : "ult", r, draw(m, 3));
    put(m, "branch %%c%u, l%u, l%u", c, again, behind);
    label(m, again);
    made(m, r);
    body(m, depth - 1);
    m->n_regs = before;
    put(m, "jump l%u", head);
    label(m, behind);
    made(m, r);
}

static inline void locked(maker *m, uint32_t depth)
{
    uint32_t before = m->n_regs;
    put(m, "lock @m");
    body(m, depth - 1);
    m->n_regs = before;
    put(m, "unlock @m");
}

static inline void section(maker *m)
{
    char a[16];
    uint32_t old = fresh(m), new = fresh(m);
    operand(m, a);
    put(m, "atomic_begin");
    put(m, "%%r%u = load i8 @g0", old);
    if (draw(m, 3) == 0) {
        uint32_t c = fresh(m);
        put(m, "%%c%u = eq i8 %%r%u, %u", c, old, draw(m, 2));
        put(m, "assume %%c%u", c);
    }
    put(m, "%%r%u = add i8 %%r%u, %s", new, old, draw(m, 2) ? "1" : a);
    put(m, "store i8 %%r%u, @g0", draw(m, 4) ? new : old);
    put(m, "atomic_end");
    made(m, old);
    made(m, new);
}

static inline void access_cell(maker *m)
{
    static const char *const UPDATE[] = {"add", "exchange", "sub", "or", "umax", "and"};
    const char *cell = CELLS[draw(m, 2)];
    char a[16], b[16];
    uint32_t r = fresh(m), kind = draw(m, 5);
    operand(m, a);
    operand(m, b);
    if (kind < 2)
        put(m, "atomic_store seq_cst i8 %s, @%s", a, cell);
    else if (kind == 2)
        put(m, "%%r%u = atomic_load seq_cst i8 @%s", made(m, r), cell);
    else if (kind == 3)
        put(m, "%%r%u = atomic_update %s seq_cst i8 @%s, %s", made(m, r), UPDATE[draw(m, 6)], cell,
            a);
    else
        put(m, "%%r%u = atomic_swap seq_cst i8 @%s, %s, %s", made(m, r), cell, a, b);
}

static inline void compute(maker *m)
{
    static const char *const OPS[] = {"add", "sub", "and", "udiv", "mul"};
    char a[16], b[16];
    uint32_t r = fresh(m);
    operand(m, a);
    operand(m, b);
    put(m, "%%r%u = %s i8 %s, %s", r, OPS[draw(m, 5)], a, b);
    made(m, r);
}

/* ---- memory at places, some of which are not known */

/* An address of some bytes, as an operand. */
static inline void place(maker *m, char out[24])
{
    static const char *const PLACES[] = {"@a0", "@a1",   "@tab+1", "@tab+2", "@few",
                                         "@tl", "@tl+1", "@arr",   "@arr+1", "%mine"};
    uint32_t p = fresh(m), i = fresh(m), kind = draw(m, 20);
    char a[16];
    operand(m, a);
    snprintf(out, 24, "%%p%u", p);
    if (kind < 10) {
        snprintf(out, 24, "%s", PLACES[kind]);
    } else if (kind < 16) {
        put(m, "%%b%u = and i8 %s, 1", i, a);
        put(m, "%%i%u = zext i64 %%b%u", i, i);
        put(m, "%%p%u = add i64 @%s, %%i%u", p, draw(m, 2) ? "tab" : "arr", i);
    } else if (kind == 16) {
        put(m, "%%p%u = load i64 @known", p);
    } else if (kind == 17) {
        put(m, "%%p%u = add i64 %%mine, %u", p, 1 + draw(m, 2));
    } else if (kind == 18) {
        uint32_t c = condition(m);
        put(m, "%%p%u = select i64 %%c%u, @a0, @%s", p, c, draw(m, 2) ? "a1" : "tl");
    } else {
        put(m, "%%p%u = atomic_load seq_cst i64 @ptr", p);
    }
}

static inline void at_place(maker *m)
{
    char p[24], a[16];
    uint32_t r = fresh(m), kind = draw(m, 8);
    place(m, p);
    operand(m, a);
    if (kind < 3)
        put(m, "%%r%u = atomic_load seq_cst i8 %s", made(m, r), p);
    else if (kind < 5)
        put(m, "atomic_store seq_cst i8 %s, %s", a, p);
    else if (kind == 5)
        put(m, "call @write(%s, %s%s)", p, width_of(a), a);
    else if (kind == 6)
        put(m, "%%r%u = call i8 @again(%s, %s%s)", made(m, r), p, width_of(a), a);
    else
        put(m, "atomic_store seq_cst i64 %s, @ptr", p);
}

static inline void compare_places(maker *m)
{
    char p[24], q[24];
    uint32_t r = fresh(m);
    place(m, p);
    place(m, q);
    put(m, "%%c%u = eq i64 %s, %s", r, p, draw(m, 4) ? q : "0");
    put(m, "%%r%u = zext i8 %%c%u", r, r);
    made(m, r);
}

/* Two bytes, together and apart. */
static inline void wide(maker *m)
{
    char a[16];
    uint32_t r = fresh(m);
    operand(m, a);
    if (draw(m, 2)) {
        put(m, "%%w%u = atomic_load seq_cst i16 @w", r);
        put(m, "%%r%u = trunc i8 %%w%u", r, r);
        made(m, r);
    } else if (draw(m, 2)) {
        put(m, "atomic_store seq_cst i8 %s, @w+%u", a, draw(m, 2));
    } else {
        put(m, "%%w%u = sext i16 %s%s", r, width_of(a), a);
        put(m, "atomic_store seq_cst i16 %%w%u, @w", r);
    }
}

/* ---- synchronisation of other kinds */

static inline void result(maker *m, uint32_t r)
{
    put(m, "%%r%u = trunc i8 %%w%u", r, r);
    made(m, r);
}

static inline void synchronise(maker *m)
{
    static const char *const CALLS[] = {
        "try_lock @m",       "lock @m2",           "unlock @m2",    "try_lock @m2",
        "timed_lock @m2",    "sem_wait @sem",      "sem_post @sem", "sem_try @sem",
        "sem_count @sem",    "sem_timed @sem",     "read_lock @rw", "write_lock @rw",
        "try_read_lock @rw", "try_write_lock @rw", "rw_unlock @rw", "rw_unlock @rw"};
    uint32_t r = fresh(m);
    put(m, "%%w%u = %s", r, CALLS[draw(m, 16)]);
    result(m, r);
}

/* The body holds one side of a lock. */
static inline void guarded(maker *m, uint32_t depth)
{
    static const char *const PAIRS[][2] = {{"lock @m2", "unlock @m2"},
                                           {"sem_wait @sem", "sem_post @sem"},
                                           {"read_lock @rw", "rw_unlock @rw"},
                                           {"write_lock @rw", "rw_unlock @rw"}};
    uint32_t kind = draw(m, 4), before = m->n_regs, r = fresh(m);
    put(m, "%s", PAIRS[kind][0]);
    body(m, depth - 1);
    m->n_regs = before;
    put(m, "%%w%u = %s", r, PAIRS[kind][1]);
    result(m, r);
}

static inline void wait_for_signal(maker *m)
{
    uint32_t r = fresh(m);
    if (draw(m, 2)) {
        put(m, draw(m, 2) ? "signal @cv" : "broadcast @cv");
        return;
    }
    put(m, "lock @m");
    put(m, "%%w%u = %s @cv, @m", r, draw(m, 3) ? "timed_wait" : "wait");
    result(m, r);
    access_cell(m);
    put(m, "unlock @m");
}

/* ---- values */

static inline void take_input(maker *m, const char *cast)
{
    uint32_t r = fresh(m);
    put(m, "%%w%u = input \"a\" i1", r);
    put(m, "%%r%u = %s i8 %%w%u", made(m, r), cast, r);
}

static inline void compute_more(maker *m)
{
    static const char *const OPS[] = {"xor", "or", "sdiv", "srem", "urem", "shl", "lshr", "ashr"};
    char a[16], b[16];
    uint32_t r = fresh(m), kind = draw(m, 6);
    operand(m, a);
    operand(m, b);
    if (kind == 0) {
        uint32_t c = condition(m);
        put(m, "%%r%u = select i8 %%c%u, %s, %s", r, c, a, b);
    } else if (kind == 1) {
        put(m, "%%w%u = sext i12 %s%s", r, width_of(a), a);
        put(m, "%%v%u = lshr i12 %%w%u, %u", r, r, draw(m, 5));
        put(m, "%%r%u = trunc i8 %%v%u", r, r);
    } else if (kind == 2) {
        take_input(m, draw(m, 2) ? "zext" : "sext");
        return;
    } else {
        put(m, "%%r%u = %s i8 %s, %s", r, OPS[draw(m, 8)], a, b);
    }
    made(m, r);
}

static inline void choose_case(maker *m, uint32_t depth)
{
    char a[16];
    uint32_t one = fresh(m), two = fresh(m), behind = fresh(m), before = m->n_regs;
    operand(m, a);
    put(m, "switch i8 %s, l%u, %u: l%u, %u: l%u", a, behind, draw(m, 2), one, 2 + draw(m, 2), two);
    label(m, one);
    body(m, depth - 1);
    m->n_regs = before;
    put(m, "jump l%u", behind);
    label(m, two);
    put(m, "jump l%u", behind);
    label(m, behind);
}

/* An assertion about the newest number. A program has few, so that it seldom fails for two reasons.
 */
static inline void claim(maker *m)
{
    static const char *const CLAIMS[] = {"ne", "ne", "eq", "ule"};
    uint32_t c = fresh(m);
    if (!m->claims || !m->n_regs) return;
    m->claims--;
    put(m, "%%c%u = %s i8 %%r%u, %u", c, CLAIMS[draw(m, 4)], m->regs[m->n_regs - 1], draw(m, 3));
    put(m, "assert \"a\" %%c%u", c);
}

static inline void rich_statement(maker *m, uint32_t depth)
{
    switch (draw(m, depth ? 13 : 10)) {
    case 0:
    case 1:
    case 2:
        at_place(m);
        break;
    case 3:
        compare_places(m);
        break;
    case 4:
        wide(m);
        break;
    case 5:
    case 6:
        synchronise(m);
        break;
    case 7:
        wait_for_signal(m);
        break;
    case 10:
    case 11:
        guarded(m, depth);
        break;
    case 12:
        choose_case(m, depth);
        break;
    default:
        compute_more(m);
    }
}

static inline void statement(maker *m, uint32_t depth)
{
    if (m->rich && draw(m, 4)) {
        uint32_t before = m->n_regs;
        rich_statement(m, depth);
        if (m->n_regs > before && draw(m, 3)) claim(m);
        return;
    }
    switch (draw(m, depth ? 14 : 11)) {
    case 0:
    case 1:
        if (m->rich)
            claim(m);
        else
            put(m, "assert \"a\" %%c%u", condition(m));
        break;
    case 2:
        section(m);
        break;
    case 3:
        compute(m);
        break;
    case 4:
        if (draw(m, 3) == 0) put(m, "assume %%c%u", condition(m));
        break;
    case 11:
        choice(m, depth);
        break;
    case 12:
        loop(m, depth);
        break;
    case 13:
        locked(m, depth);
        break;
    default:
        access_cell(m);
    }
}

static inline void body(maker *m, uint32_t depth)
{
    for (uint32_t n = 1 + draw(m, 3); n; n--) statement(m, depth);
}

static inline void thread(maker *m, uint32_t number)
{
    ft_strbuf_printf(&m->to.p->text, "function @t%u(%%a: i64) -> i64 {\n  l0:\n", number);
    m->n_regs = 0;
    put(m, "%%mine = stack 8 4");
    if (m->rich && draw(m, 2)) take_input(m, "zext");
    if (m->rich && draw(m, 4) == 0) put(m, "atomic_store seq_cst i8 1, %%a");
    if (draw(m, 3) == 0) {
        put(m, "%%r%u = trunc i8 %%a", m->to.next + 1);
        made(m, fresh(m));
    }
    body(m, 2);
    put(m, "return i64 0");
    ft_strbuf_puts(&m->to.p->text, "}\n");
}

/* Two or three threads of one function, made by a loop. */
static inline void make_many(maker *m, uint32_t function)
{
    uint32_t head = fresh(m), next = fresh(m), behind = fresh(m), i = fresh(m), c = fresh(m);
    put(m, "jump l%u(i64 0)", head);
    ft_strbuf_printf(&m->to.p->text, "  l%u(%%i%u: i64):\n", head, i);
    put(m, "%%c%u = ult i64 %%i%u, %u", c, i, 2);
    put(m, "branch %%c%u, l%u, l%u", c, next, behind);
    label(m, next);
    if (m->rich)
        put(m, "%%t%u = create @t%u, %s", next, function, draw(m, 2) ? "@a0" : "%mine");
    else
        put(m, "%%t%u = create @t%u, %%i%u", next, function, i);
    put(m, "%%n%u = add i64 %%i%u, 1", next, i);
    put(m, "jump l%u(%%n%u)", head, next);
    label(m, behind);
}

static const char RICH[] = /* objects and functions */
    "object @tab 4 constant { 0: \"\\00\\01\\02\\01\" }\nobject @few 1 { 0: \"\\01\" }\nobject "
    "@arr 4\n"
    "object @tl 2 thread { 0: \"\\01\" }\nobject @w 2 align 2\nobject @m2 40 align 8\n"
    "object @sem 32 align 8\nobject @rw 56 align 8\nobject @cv 48 align 8\nobject @ptr 8 align 8\n"
    "object @known 8 align 8 constant { 0: @a1 }\n"
    "function @write(%p: i64, %v: i8) {\n  l0:\n    %q = stack 8 8\n    store i8 %v, %q\n"
    "    %w = load i8 %q\n    atomic_store seq_cst i8 %w, %p\n    return\n}\n"
    "function @again(%p: i64, %v: i8) -> i8 {\n  l0:\n    %q = stack 8 8\n"
    "    %old = load i8 %q\n    call @write(%p, %v)\n    %w = atomic_load seq_cst i8 %p\n"
    "    store i8 %w, %q\n    %x = sub i8 %w, %old\n    return %x\n}\n";

/* Mutexes of a kind, and numbers of units. */
static inline void initialise(maker *m)
{
    static const char *const KINDS[] = {"normal", "normal", "recursive", "checking"};
    put(m, "%%mine = stack 8 4");
    if (!m->rich) return;
    put(m, "sem_init @sem, %u", draw(m, 3));
    if (draw(m, 2)) put(m, "mutex_init %s @m2", KINDS[draw(m, 4)]);
}

/* Two threads, some of which are waited for. */
static inline void make_two(maker *m)
{
    static const char *const PLACES[] = {"@a0", "@a1", "@arr", "%mine"};
    bool joins = draw(m, 2);
    put(m, "%%first = create @t1, %s", m->rich ? PLACES[draw(m, 4)] : "1");
    if (m->rich && joins && draw(m, 3) == 0) access_cell(m);
    if (m->rich)
        put(m, "%%second = create @t%u, %s", 1 + draw(m, 2), PLACES[draw(m, 4)]);
    else
        put(m, "%%second = create @t2, %u", draw(m, 2));
    if (joins) put(m, "%%joined = join %%first");
    if (joins && draw(m, 2)) put(m, "%%both = join %%second");
}

/* Names of objects as the oracle has them. */
static inline void make_program(uint64_t seed, bool rich, inputs_program *p)
{
    *p = (inputs_program){.n_threads = 3};
    maker m = {.to = {.random = seed * 2654435761u + 17, .p = p}, .claims = 1, .rich = rich};
    bool many = draw(&m, 2);
    if (rich) p->n_inputs = p->bits[0] = 1;
    ft_strbuf_printf(&p->text,
                     "program 1\nobject @a0 1 { 0: \"\\%02x\" }\nobject @a1 1\n"
                     "object @in 8\nobject @g0 8\nobject @g1 8\nobject @s 8\nobject @m 40 align 8\n"
                     "object @own0 8\nobject @own1 8\nobject @own2 8\n",
                     draw(&m, 2));
    if (rich) ft_strbuf_puts(&p->text, RICH);
    thread(&m, 1);
    thread(&m, 2);
    ft_strbuf_puts(&p->text, "function @main() -> i32 {\n  l0:\n");
    m.n_regs = 0;
    initialise(&m);
    if (draw(&m, 2)) access_cell(&m);
    if (many)
        make_many(&m, 1);
    else
        make_two(&m);
    m.n_regs = 0;
    body(&m, 1);
    put(&m, "return i32 0");
    ft_strbuf_puts(&p->text, "}\n");
}

#endif
