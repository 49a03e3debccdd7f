/* Random programs for oracle/inputs.h, as text. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/inputs_text.h"

enum { REGISTERS = 24 };

typedef struct maker {
    inputs_text to;
    uint32_t thread, budget;
    uint32_t bytes[REGISTERS], n_bytes; /* registers of 8 bits that are assigned here */
    bool held[2], again[2], wild;       /* again: a thread may retake it; wild: errors are likely */
    bool own;                           /* another thread reads an input */
    bool section;                       /* within an atomic one: nothing visible */
} maker;

static void assigned(maker *m, uint32_t r)
{
    m->bytes[m->n_bytes++ % REGISTERS] = r;
}

/* An operand of 8 bits. */
static const char *byte(maker *m)
{
    static char text[4][24];
    static int turn;
    char *out = text[turn++ % 4];
    uint32_t n = m->n_bytes < REGISTERS ? m->n_bytes : REGISTERS;
    if (n && draw(m, 4))
        snprintf(out, 24, "%%r%" PRIu32, m->bytes[draw(m, n)]);
    else
        snprintf(out, 24, "%" PRIu32, draw(m, 4) ? draw(m, 5) : draw(m, 256));
    return out;
}

/* A condition in a fresh register. */
static uint32_t condition(maker *m)
{
    static const char *const COMPARE[] = {"eq", "ne", "ult", "ule", "slt", "sle"};
    uint32_t c = fresh(m);
    put(m, "%%r%u = %s i8 %s, %s", c, COMPARE[draw(m, 6)], byte(m), byte(m));
    if (draw(m, 5)) return c;
    static const char *const LOGIC[] = {"and", "or", "xor", "add", "sub", "mul", "eq", "ult"};
    uint32_t d = fresh(m), e = fresh(m);
    put(m, "%%r%u = %s i8 %s, %s", d, COMPARE[draw(m, 6)], byte(m), byte(m));
    put(m, "%%r%u = %s i1 %%r%u, %%r%u", e, LOGIC[draw(m, 8)], c, d);
    return e;
}

/* The same where any width may stand: a literal says its own. */
static const char *wide(maker *m)
{
    static char text[2][32];
    static int turn;
    char *out = text[turn++ % 2];
    const char *b = byte(m);
    snprintf(out, 32, "%s%s", *b == '%' ? "" : "i8 ", b);
    return out;
}

static void arithmetic(maker *m)
{
    static const char *const SAFE[] = {"add", "sub", "mul", "and", "or", "xor"};
    static const char *const RISKY[] = {"udiv", "sdiv", "urem", "srem", "shl", "lshr", "ashr"};
    uint32_t r = fresh(m), kind = draw(m, 10);
    if (kind < 5) {
        put(m, "%%r%u = %s i8 %s, %s", r, SAFE[draw(m, 6)], byte(m), byte(m));
    } else if (kind < 7) {
        uint32_t k = draw(m, 7), a = fresh(m), b = fresh(m);
        bool safe = !m->wild || draw(m, 4);
        put(m, "%%r%u = %s i8 %s, %d", a, safe ? "and" : "xor", byte(m), safe ? 127 : 128);
        put(m, "%%r%u = %s i8 %s, %d", b,
            !safe   ? "xor"
            : k < 4 ? "or"
                    : "and",
            byte(m),
            safe    ? (k < 4 ? 1 : 7)
            : k < 4 ? (draw(m, 2) ? 1 : 255)
                    : 8);
        put(m, "%%r%u = %s i8 %%r%u, %%r%u", r, RISKY[k], a, b);
    } else if (kind == 7) {
        uint32_t c = condition(m);
        put(m, "%%r%u = select i8 %%r%u, %s, %s", r, c, byte(m), byte(m));
    } else if (kind == 8) {
        uint32_t w = fresh(m), d = fresh(m);
        put(m, "%%r%u = %s i16 %s", w, draw(m, 2) ? "zext" : "sext", wide(m));
        put(m, "%%r%u = mul i16 %%r%u, %u", d, w, 1 + draw(m, 300));
        put(m, "%%r%u = trunc i8 %%r%u", r, d);
    } else {
        uint32_t c = condition(m);
        put(m, "%%r%u = %s i8 %%r%u", r, draw(m, 2) ? "zext" : "sext", c);
    }
    assigned(m, r);
}

static void floats(maker *m)
{
    static const char *const BINARY[] = {"fadd", "fsub", "fmul", "fdiv", "frem"};
    static const char *const COMPARE[] = {"feq", "flt", "fle", "fnan"};
    uint32_t a = fresh(m), f = fresh(m), g = fresh(m), h = fresh(m), c = fresh(m), r = fresh(m);
    bool narrow = draw(m, 2);
    uint32_t w = narrow ? 32 : 64;
    put(m, "%%r%u = and i8 %s, 3", a, byte(m));
    put(m, "%%r%u = %s i%u %%r%u", f, draw(m, 2) ? "utof" : "stof", w, a);
    put(m, "%%r%u = %s i%u %%r%u, %s", g, BINARY[draw(m, 5)], w, f,
        narrow ? "0x40000000" : "0x4000000000000000");
    put(m, "%%r%u = ftof i%u %%r%u", h, narrow ? 64 : 32, g);
    put(m, "%%r%u = %s i%u %%r%u, %%r%u", c, COMPARE[draw(m, 4)], w, f, g);
    if (draw(m, 2) || !m->wild)
        put(m, "%%r%u = zext i8 %%r%u", r, c);
    else
        put(m, "%%r%u = %s i8 %%r%u", r, draw(m, 2) ? "ftos" : "ftou", h);
    assigned(m, r);
}

/* ---- memory ---- */

/* An object that the thread may access now. */
static const char *place(maker *m)
{
    static char text[24];
    for (int k = 0; k < 2; k++)
        if (m->held[k] && draw(m, 2)) return snprintf(text, sizeof text, "@g%d", k), text;
    if (draw(m, 6) == 0) return "@tl";
    if (m->section && draw(m, 2)) return "@s";
    if (draw(m, 30) == 0) return "@s"; /* by nobody's leave: a race, at some places */
    return snprintf(text, sizeof text, "@own%u", m->thread), text;
}

/* The address of a byte there, at a place that a register says, in a fresh register. */
static uint32_t address(maker *m, const char *object)
{
    uint32_t i = fresh(m), z = fresh(m), p = fresh(m);
    bool wild = m->wild && !draw(m, 6);
    put(m, "%%r%u = and i8 %s, %u", i, byte(m), wild ? 15 : 7);
    put(m, "%%r%u = zext i64 %%r%u", z, i);
    put(m, "%%r%u = add i64 %s, %%r%u", p, object, z);
    return p;
}

static void load_or_store(maker *m)
{
    const char *object = place(m);
    uint32_t r = fresh(m);
    bool unknown = draw(m, 2);
    if (draw(m, 12) == 0 && !unknown) { /* two bytes at once */
        uint32_t w = fresh(m), at = draw(m, 7);
        put(m, "%%r%u = load i16 %s+%u", w, object, at);
        put(m, "%%r%u = trunc i8 %%r%u", r, w);
        put(m, "store i16 %%r%u, %s+%u", w, object, draw(m, 7));
        assigned(m, r);
        return;
    }
    uint32_t p = unknown ? address(m, object) : 0, at = draw(m, 8);
    if (draw(m, 2)) {
        if (unknown)
            put(m, "store i8 %s, %%r%u", byte(m), p);
        else
            put(m, "store i8 %s, %s+%u", byte(m), object, at);
        return;
    }
    if (unknown)
        put(m, "%%r%u = load i8 %%r%u", r, p);
    else
        put(m, "%%r%u = load i8 %s+%u", r, object, at);
    assigned(m, r);
}

static void ranges(maker *m)
{
    uint32_t k = fresh(m), n = fresh(m), to = draw(m, 3), from = to + draw(m, m->wild ? 3 : 1);
    put(m, "%%r%u = and i8 %s, 3", k, byte(m));
    put(m, "%%r%u = zext i64 %%r%u", n, k);
    switch (draw(m, 4)) {
    case 0:
        put(m, "fill @own%u+%u, %s, %%r%u", m->thread, to, byte(m), n);
        break;
    case 1:
        put(m, "move @own%u+%u, @own%u+%u, %%r%u", m->thread, to, m->thread, from, n);
        break;
    case 2:
        put(m, "copy @own%u+%u, @table+%u, %%r%u", m->thread, to, draw(m, 5), n);
        break;
    default:
        put(m, "copy @own%u+%u, @own%u+%u, %%r%u", m->thread, to, m->thread,
            from == to ? to + 3 : from, n);
    }
}

static void objects(maker *m)
{
    uint32_t p = fresh(m), k = fresh(m), s = fresh(m), v = fresh(m), r = fresh(m);
    bool heap = draw(m, 2);
    if (draw(m, m->wild ? 2 : 3) == 0) { /* of an unknown size */
        uint32_t z = fresh(m), o = fresh(m);
        put(m, "%%r%u = and i8 %s, 3", k, byte(m));
        put(m, "%%r%u = zext i64 %%r%u", z, k);
        put(m, "%%r%u = add i64 %%r%u, %d", o, z, m->wild && draw(m, 2) ? 2 : 8);
        put(m, "%%r%u = %s %%r%u", p, heap ? "alloc" : "stack 8", o);
    } else {
        put(m, "%%r%u = %s 8", p, heap ? "alloc" : "stack 8");
    }
    char name[24];
    snprintf(name, sizeof name, "%%r%u", p);
    uint32_t q = address(m, name);
    put(m, "store i8 %s, %%r%u", byte(m), q);
    put(m, "%%r%u = size %%r%u", s, q);
    put(m, "%%r%u = trunc i8 %%r%u", v, s);
    assigned(m, v);
    if (heap && (draw(m, 3) || !m->wild)) put(m, "free %%r%u", p);
    if (heap && m->wild && !draw(m, 8)) put(m, "free %%r%u", draw(m, 2) ? p : q);
    if (heap && m->wild && !draw(m, 8)) {
        put(m, "%%r%u = load i8 %%r%u", r, q);
        assigned(m, r);
    }
}

static void addresses(maker *m)
{
    uint32_t i = fresh(m), z = fresh(m), o = fresh(m), p = fresh(m), q = fresh(m), r = fresh(m);
    bool function = draw(m, 2);
    put(m, "%%r%u = and i8 %s, 1", i, byte(m));
    if (!function && draw(m, 2)) {
        uint32_t c = fresh(m);
        put(m, "%%r%u = eq i8 %%r%u, 1", c, i);
        put(m, "%%r%u = select i64 %%r%u, @own%u+1, @tl", q, c, m->thread);
    } else {
        put(m, "%%r%u = zext i64 %%r%u", z, i);
        put(m, "%%r%u = shl i64 %%r%u, 3", o, z);
        put(m, "%%r%u = add i64 %s, %%r%u", p, function ? "@functions" : "@tables", o);
        put(m, "%%r%u = load i64 %%r%u", q, p);
    }
    if (function)
        put(m, "%%r%u = call_at i8 %%r%u(%s, %s)", r, q, wide(m), wide(m));
    else
        put(m, "%%r%u = load i8 %%r%u", r, q);
    assigned(m, r);
}

/* Addresses in memory, which others overwrite: whose object they mean goes with them. */
static void pointers(maker *m)
{
    uint32_t o = fresh(m), n = fresh(m), d = fresh(m), q = fresh(m), p = fresh(m), r = fresh(m);
    uint32_t at = 8 * draw(m, 2);
    put(m, "%%r%u = mul i64 @own%u, 1", o, m->thread); /* a number without an object */
    put(m, "%%r%u = mul i64 @tl, 1", n);
    put(m, "%%r%u = sub i64 %%r%u, %%r%u", d, n, o);
    put(m, "store i64 @own%u, @slot%u+%u", m->thread, m->thread, at);
    if (!m->section && draw(m, 2)) put(m, "yield");
    if (draw(m, 2)) put(m, "store i8 %s, @slot%u+%u", byte(m), m->thread, 8 - at);
    if (draw(m, 2)) put(m, "store i64 %%r%u, @slot%u+%u", n, m->thread, at);
    put(m, "%%r%u = load i64 @slot%u+%u", q, m->thread, at);
    if (m->wild && draw(m, 4) == 0)
        put(m, "%%r%u = add i64 %%r%u, %%r%u", p, q, d);
    else
        put(m, "%%r%u = add i64 %%r%u, %u", p, q, draw(m, 8));
    put(m, "%%r%u = load i8 %%r%u", r, p);
    assigned(m, r);
}

/* Errors that few programs have. */
static void misuse(maker *m)
{
    uint32_t p = fresh(m), r = fresh(m);
    switch (draw(m, 3)) {
    case 0:
        put(m, "%%r%u = call i64 @escapes()", p);
        break;
    case 1:
        put(m, "store i8 %s, @table+%u", byte(m), draw(m, 8));
        put(m, "%%r%u = add i64 @tl, 1", p);
        break;
    default: /* of bytes that are read together */
        put(m, "store i8 %s, @own%u+2", byte(m), m->thread);
        put(m, "store i8 %s, @own%u+3", byte(m), m->thread);
        put(m, "%%r%u = load i16 @own%u+2", r, m->thread);
        put(m, "%%e%u = eq i16 %%r%u, 258", r, r);
        put(m, "assert \"258\" %%e%u", r);
        return;
    }
    put(m, "%%r%u = load i8 %%r%u", r, p);
    assigned(m, r);
}

/* ---- control ---- */

static void block(maker *m, uint32_t depth);

/* Statements whose registers do not reach behind them. */
static void inner(maker *m, uint32_t depth)
{
    maker before = *m;
    block(m, depth + 1);
    memcpy(m->bytes, before.bytes, sizeof m->bytes);
    m->n_bytes = before.n_bytes;
}

/* Lengths of output are forked into their values: behind it every input has one. */
static void fork_inputs(maker *m, const char *name)
{
    for (uint32_t k = 0; k < m->to.p->n_inputs; k++)
        put(m,
            "%%%slast%u = load i8 @in+%u\n    %%%swide%u = zext i64 %%%slast%u\n"
            "    output 1, @table, %%%swide%u",
            name, k, k, name, k, name, k, name, k);
}

static void leave(maker *m)
{
    char name[24];
    uint32_t c, e;
    if (m->own || draw(m, 2)) {
        put(m, "exit %u", 1 + draw(m, 3));
        return;
    }
    c = condition(m);
    e = fresh(m);
    put(m, "%%r%u = zext i32 %%r%u", e, c);
    snprintf(name, sizeof name, "x%u", e);
    fork_inputs(m, name);
    put(m, "exit %%r%u", e);
}

static void when(maker *m, uint32_t depth)
{
    uint32_t c = condition(m), yes = fresh(m), no = fresh(m), behind = fresh(m);
    put(m, "branch %%r%u, l%u, l%u", c, yes, no);
    label(m, yes);
    if (!m->section && draw(m, 12) == 0) {
        leave(m);
    } else if (m->wild && draw(m, 6) == 0) {
        put(m, "%s", draw(m, 2) ? "fail \"failed\"" : "unreachable");
    } else {
        inner(m, depth);
        put(m, "jump l%u", behind);
    }
    label(m, no);
    if (draw(m, 2)) inner(m, depth);
    put(m, "jump l%u", behind);
    label(m, behind);
}

static void cases(maker *m, uint32_t depth)
{
    uint32_t one = fresh(m), two = fresh(m), behind = fresh(m);
    put(m, "switch i8 %s, l%u, 0: l%u, 1: l%u, 3: l%u", byte(m), behind, one, two, one);
    label(m, one);
    inner(m, depth);
    put(m, "jump l%u", behind);
    label(m, two);
    inner(m, depth);
    put(m, "jump l%u", behind);
    label(m, behind);
}

static void loop(maker *m)
{
    uint32_t k = fresh(m), i = fresh(m), c = fresh(m), j = fresh(m), head = fresh(m),
             body = fresh(m), behind = fresh(m), v = fresh(m), w = fresh(m);
    put(m, "%%r%u = and i8 %s, 3", k, byte(m));
    put(m, "jump l%u(i8 0, i8 %u)", head, draw(m, 9));
    ft_strbuf_printf(&m->to.p->text, "  l%u(%%r%u: i8, %%r%u: i8):\n", head, i, v);
    put(m, "%%r%u = ult i8 %%r%u, %%r%u", c, i, k);
    put(m, "branch %%r%u, l%u, l%u", c, body, behind);
    label(m, body);
    put(m, "%%r%u = add i8 %%r%u, 1", j, i);
    put(m, "%%r%u = add i8 %%r%u, %%r%u", w, v, draw(m, 2) ? i : v);
    put(m, "jump l%u(%%r%u, %%r%u)", head, j, w);
    label(m, behind);
    assigned(m, v);
}

static void check(maker *m)
{
    uint32_t c = condition(m), d = fresh(m);
    if (m->wild && draw(m, 3)) {
        put(m, "assert \"checked\" %%r%u", c);
        return;
    }
    put(m, "%%r%u = or i1 %%r%u, %u", d, c, draw(m, 3) == 0);
    put(m, "assume %%r%u", draw(m, 3) ? d : c);
}

/* ---- synchronisation ---- */

static void section(maker *m, uint32_t depth)
{
    uint32_t k = draw(m, 2), r = fresh(m), c = fresh(m), yes = fresh(m), behind = fresh(m);
    if (m->held[k] && draw(m, m->again[k] ? 2 : 8)) return;
    bool was = m->held[k], tries = draw(m, 4) == 0;
    if (tries) {
        put(m, "%%r%u = %s @m%u", r, draw(m, 2) ? "try_lock" : "timed_lock", k);
        put(m, "%%r%u = eq i32 %%r%u, 0", c, r);
        put(m, "branch %%r%u, l%u, l%u", c, yes, behind);
        label(m, yes);
    } else {
        put(m, "lock @m%u", k);
    }
    m->held[k] = true;
    inner(m, depth);
    m->held[k] = was;
    put(m, "unlock @m%u", k);
    if (!tries) return;
    put(m, "jump l%u", behind);
    label(m, behind);
}

static void atomic_section(maker *m, uint32_t depth)
{
    put(m, "atomic_begin");
    m->section = true;
    inner(m, depth < 2 ? 2 : depth);
    m->section = false;
    put(m, "atomic_end");
}

static const char *const ORDERS[] = {"relaxed", "acquire", "release", "acq_rel", "seq_cst"};

static void atomics(maker *m)
{
    static const char *const UPDATES[] = {"exchange", "add",  "sub",  "and",  "or",  "xor",
                                          "nand",     "smax", "smin", "umax", "umin"};
    uint32_t r = fresh(m), k = draw(m, 2);
    switch (draw(m, 4)) {
    case 0:
        put(m, "%%r%u = atomic_load %s i8 @a%u", r, ORDERS[draw(m, 5)], k);
        break;
    case 1:
        put(m, "atomic_store %s i8 %s, @a%u", ORDERS[draw(m, 5)], byte(m), k);
        return;
    case 2:
        put(m, "%%r%u = atomic_update %s %s i8 @a%u, %s", r, UPDATES[draw(m, 11)],
            ORDERS[draw(m, 5)], k, byte(m));
        break;
    default:
        put(m, "%%r%u = atomic_swap %s i8 @a%u, %s, %s", r, ORDERS[draw(m, 5)], k, byte(m),
            byte(m));
    }
    assigned(m, r);
}

static void result(maker *m, const char *operation)
{
    uint32_t r = fresh(m), b = fresh(m);
    put(m, "%%r%u = %s", r, operation);
    put(m, "%%r%u = trunc i8 %%r%u", b, r);
    assigned(m, b);
}

static void synchronises(maker *m)
{
    switch (draw(m, 14)) {
    case 0:
        put(m, "%%r%u = sem_wait @sem", fresh(m));
        break;
    case 1:
    case 2:
        put(m, "%%r%u = sem_post @sem", fresh(m));
        break;
    case 3:
        result(m, draw(m, 2) ? "sem_try @sem" : "sem_timed @sem");
        break;
    case 4:
        result(m, "sem_count @sem");
        break;
    case 5:
        if (!m->held[0]) break;
        if (draw(m, 2))
            put(m, "%%r%u = wait @c, @m0", fresh(m));
        else
            result(m, "timed_wait @c, @m0");
        break;
    case 6:
        put(m, "signal @c");
        break;
    case 7:
        put(m, "broadcast @c");
        break;
    case 8:
        result(m, draw(m, 3) == 0 ? "try_write_lock @rw"
                  : draw(m, 2)    ? "try_read_lock @rw"
                                  : "read_lock @rw");
        if (m->wild && draw(m, 2)) put(m, "rw_unlock @rw");
        break;
    case 9:
        put(m, "write_lock @rw");
        put(m, "rw_unlock @rw");
        break;
    case 10:
        put(m, "once @o, @initialises");
        break;
    case 11:
        put(m, draw(m, 2) ? "yield" : "fence seq_cst");
        break;
    case 12: {
        uint32_t s = fresh(m), b = fresh(m);
        put(m, "%%r%u = self", s);
        put(m, "%%r%u = trunc i8 %%r%u", b, s);
        assigned(m, b);
        break;
    }
    default:
        if (m->wild && !draw(m, 3)) put(m, "unlock @m%u", draw(m, 2));
    }
}

static void read_input(maker *m)
{
    uint32_t k = draw(m, m->to.p->n_inputs ? m->to.p->n_inputs : 1), r = fresh(m);
    if (!m->to.p->n_inputs) return;
    put(m, "%%r%u = load i8 @in+%u", r, k);
    assigned(m, r);
}

static void statement(maker *m, uint32_t depth)
{
    switch (draw(m, m->section ? 14 : 24)) {
    case 0:
    case 1:
        arithmetic(m);
        break;
    case 2:
    case 3:
        load_or_store(m);
        break;
    case 4:
    case 5:
        when(m, depth);
        break;
    case 6:
        if (draw(m, 3) == 0)
            cases(m, depth);
        else
            read_input(m);
        break;
    case 7:
        if (draw(m, 2)) loop(m);
        break;
    case 8:
        if (draw(m, 2)) check(m);
        break;
    case 9:
        if (draw(m, 3) == 0)
            floats(m);
        else
            ranges(m);
        break;
    case 10:
        objects(m);
        break;
    case 11:
        if (draw(m, 3))
            addresses(m);
        else if (m->wild && draw(m, 3) == 0)
            misuse(m);
        else
            pointers(m);
        break;
    case 12: {
        uint32_t r = fresh(m);
        put(m, "%%r%u = call i8 @pick(%s, %s)", r, wide(m), wide(m));
        assigned(m, r);
        break;
    }
    case 13:
        if (draw(m, 4) == 0) put(m, "output 1, @own%u, 3", m->thread);
        break;
    case 14:
    case 15:
    case 16:
        section(m, depth);
        break;
    case 17:
    case 18:
    case 19:
        atomics(m);
        break;
    case 20:
        if (draw(m, 2)) atomic_section(m, depth);
        break;
    default:
        synchronises(m);
    }
}

static void block(maker *m, uint32_t depth)
{
    for (uint32_t n = 1 + draw(m, 3); n && depth < 4 && m->budget; n--) {
        m->budget--;
        statement(m, depth);
    }
}

/* ---- the whole ---- */

static const char START[] =
    "program 1\n"
    "object @m0 40 align 8\nobject @m1 40 align 8\nobject @c 48 align 8\nobject @rw 56 align 8\n"
    "object @sem 32 align 8\nobject @o 8 align 8\nobject @b 32 align 8\n"
    "object @g0 8 align 8\nobject @g1 8 align 8\nobject @s 8 align 8\nobject @in 8\n"
    "object @a0 1\nobject @a1 1\nobject @tl 8 align 8 thread { 0: \"\\07\" }\n"
    "object @table 8 constant { 0: \"\\01\\02\\03\\05\\08\\0d\\15\\22\" }\n"
    "object @tables 16 align 8 { 0: @table+1 8: @table+5 }\n"
    "object @functions 16 align 8 { 0: @pick 8: @sum }\n"
    "function @pick(%a: i8, %b: i8) -> i8 {\n  s:\n    %c = ult i8 %a, %b\n"
    "    branch %c, first, second\n  first:\n    return %a\n  second:\n    return %b\n}\n"
    "function @sum(%a: i8, %b: i8) -> i8 {\n  s:\n    %p = stack 8 2\n    store i8 %a, %p\n"
    "    %x = load i8 %p\n    %c = add i8 %x, %b\n    return %c\n}\n"
    "function @escapes() -> i64 {\n  s:\n    %p = stack 8 8\n    return %p\n}\n"
    "function @initialises() {\n  s:\n    %r = atomic_update add seq_cst i8 @a0, 1\n    "
    "return\n}\n";

static void read_inputs(maker *m, uint32_t first, uint32_t behind)
{
    for (uint32_t k = first; k < behind; k++) {
        uint32_t r = fresh(m), b = fresh(m);
        put(m, "%%r%u = input \"%c\" i%u", r, (int)('a' + k), m->to.p->bits[k]);
        put(m, "%%r%u = zext i8 %%r%u", b, r);
        put(m, "store i8 %%r%u, @in+%u", b, k);
        assigned(m, b);
    }
}

/* So that what they hold is compared. */
static void keep_registers(maker *m)
{
    uint32_t n = m->n_bytes < REGISTERS ? m->n_bytes : REGISTERS;
    for (uint32_t k = 0; k < 4 && n && draw(m, 3); k++)
        put(m, "store i8 %%r%u, @own%u+%u", m->bytes[draw(m, n)], m->thread, k);
}

static void thread_function(maker *m, uint32_t own_inputs)
{
    ft_strbuf_printf(&m->to.p->text, "function @t%u(%%argument: i64) -> i64 {\n  start:\n",
                     m->thread);
    m->n_bytes = 0;
    memset(m->held, 0, sizeof m->held);
    if (m->thread == 1) read_inputs(m, m->to.p->n_inputs - own_inputs, m->to.p->n_inputs);
    read_input(m);
    block(m, 0);
    if (draw(m, 2)) block(m, 0);
    keep_registers(m);
    if (m->to.p->n_threads > 2 && draw(m, 6) == 0) put(m, "%%r%u = barrier_wait @b", fresh(m));
    put(m, draw(m, 3) ? "return i64 0" : "end 5");
    ft_strbuf_puts(&m->to.p->text, "}\n");
}

static void end_main(maker *m)
{
    for (uint32_t t = 1; t < m->to.p->n_threads; t++) {
        bool once = !m->wild || draw(m, 8);
        if (!once && draw(m, 2)) put(m, "detach %%thread%u", t);
        put(m, "%%joined%u = join %%thread%u", t, t);
        if (!once) put(m, "%%again%u = join %%thread%u", t, t);
        if (draw(m, 2)) continue;
        put(m, "%%part%u = trunc i8 %%joined%u", t, t); /* its result */
        put(m, "store i8 %%part%u, @own%u+4", t, t);
    }
    static const char *const OBJECTS[] = {"mutex_destroy @m0", "rw_destroy @rw", "cond_destroy @c",
                                          "sem_destroy @sem", "barrier_destroy @b"};
    if (draw(m, 3) == 0) put(m, "%s", OBJECTS[draw(m, 5)]);
    fork_inputs(m, "");
    put(m, "return i32 0");
}

void ft_inputs_start(inputs_program *p)
{
    ft_strbuf_puts(&p->text, START);
    for (uint32_t t = 0; t < p->n_threads; t++)
        ft_strbuf_printf(&p->text, "object @own%u 8 align 8\nobject @slot%u 16 align 8\n", t, t);
}

void ft_inputs_random(uint64_t seed, inputs_program *p)
{
    *p = (inputs_program){0};
    maker m = {.to = {.p = p, .random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1}};
    for (int i = 0; i < 3; i++) (void)draw(&m, 2);
    p->n_threads = draw(&m, 5) == 0 ? 1 : draw(&m, 6) == 0 ? 3 : 2;
    p->n_inputs = draw(&m, 8) == 0 ? 0 : 1 + draw(&m, 2) + draw(&m, 2);
    for (uint32_t k = 0; k < p->n_inputs; k++) p->bits[k] = 1 + draw(&m, p->n_inputs > 2 ? 2 : 3);
    m.wild = draw(&m, 2);
    uint32_t own = p->n_threads > 1 && p->n_inputs && draw(&m, 3) == 0;
    m.own = own;
    static const char *const KINDS[] = {"", "normal", "checking", "recursive"};
    uint32_t kinds[2];
    for (uint32_t k = 0; k < 2; k++) {
        kinds[k] = draw(&m, 2) ? draw(&m, 4) : 0;
        m.again[k] = kinds[k] > 1;
    }
    ft_inputs_start(p);
    for (m.thread = 1; m.thread < p->n_threads; m.thread++) {
        m.budget = p->n_threads > 2 ? 5 : 9;
        thread_function(&m, own);
    }
    m.thread = 0;
    m.budget = p->n_threads == 1 ? 16 : 8;
    m.n_bytes = 0;
    memset(m.held, 0, sizeof m.held);
    ft_strbuf_puts(&p->text, "function @main() -> i32 {\n  start:\n");
    for (uint32_t k = 0; k < 2; k++)
        if (kinds[k]) put(&m, "mutex_init %s @m%u", KINDS[kinds[k]], k);
    if (draw(&m, 4) == 0) put(&m, "%s", draw(&m, 2) ? "rw_init @rw" : "cond_init @c");
    put(&m, "sem_init @sem, %u", draw(&m, 2));
    put(&m, "barrier_init @b, 2");
    read_inputs(&m, 0, p->n_inputs - own);
    if (p->n_inputs > own && draw(&m, 4) == 0) { /* a count that an input decides */
        uint32_t r = fresh(&m), k = fresh(&m), z = fresh(&m);
        put(&m, "%%r%u = load i8 @in+0", r);
        put(&m, "%%r%u = and i8 %%r%u, 1", k, r);
        put(&m, "%%r%u = zext i64 %%r%u", z, k);
        put(&m, "sem_init @sem, %%r%u", z);
    }
    if (draw(&m, 4) == 0) block(&m, 0);
    for (uint32_t t = 1; t < p->n_threads; t++) put(&m, "%%thread%u = create @t%u, 0", t, t);
    /* an input that a thread reads is its own until it is joined */
    uint32_t all = p->n_inputs;
    p->n_inputs -= own;
    block(&m, 0);
    if (draw(&m, 2)) block(&m, 0);
    keep_registers(&m);
    p->n_inputs = all;
    end_main(&m);
    ft_strbuf_puts(&p->text, "}\n");
}

void ft_inputs_release(inputs_program *p)
{
    ft_strbuf_release(&p->text);
}
