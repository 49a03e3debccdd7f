/* Random programs whose threads poll, for oracle/inputs.h, as text. */
#include <stdio.h>

#include "oracle/inputs_text.h"

typedef struct maker {
    inputs_text to;
    uint32_t thread;
    uint32_t value; /* a register of 8 bits; 0: none */
    bool locks;     /* rounds take locks, and no thread tries one */
} maker;

/* A small number, or what inputs or others decide. */
static const char *byte(maker *m)
{
    static char text[2][24];
    static int turn;
    char *out = text[turn++ % 2];
    if (m->value && draw(m, 4) == 0)
        snprintf(out, 24, "%%r%u", m->value);
    else
        snprintf(out, 24, "%u", draw(m, 3));
    return out;
}

/* Goes on when the atomic has, or has not, the value. */
static void spin(maker *m)
{
    uint32_t top = fresh(m), out = fresh(m), x = fresh(m), c = fresh(m), k = draw(m, 2);
    put(m, "jump l%u", top);
    label(m, top);
    if (draw(m, 4) == 0) put(m, draw(m, 2) ? "yield" : "fence seq_cst");
    put(m, "%%r%u = atomic_load seq_cst i8 @a%u", x, k);
    put(m, "%%r%u = %s i8 %%r%u, %s", c, draw(m, 3) ? "eq" : "ne", x, byte(m));
    put(m, "branch %%r%u, l%u, l%u", c, out, top);
    label(m, out);
    m->value = x;
}

/* Two loads in a round, and sometimes a store of what is there, or to a local object. */
static void spin_long(maker *m)
{
    uint32_t top = fresh(m), out = fresh(m), x = fresh(m), y = fresh(m), c = fresh(m), d = fresh(m),
             more = fresh(m);
    put(m, "jump l%u", top);
    label(m, top);
    if (draw(m, 3) == 0) put(m, "store i8 1, %%local");
    put(m, "%%r%u = atomic_load seq_cst i8 @a0", x);
    put(m, "%%r%u = %s i8 %%r%u, %s", c, draw(m, 2) ? "eq" : "ult", x, byte(m));
    put(m, "branch %%r%u, l%u, l%u", c, out, more);
    label(m, more);
    put(m, "store i8 0, %%local");
    put(m, "%%r%u = atomic_load seq_cst i8 @a1", y);
    put(m, "%%r%u = eq i8 %%r%u, %s", d, y, byte(m));
    put(m, "branch %%r%u, l%u, l%u", d, out, top);
    label(m, out);
}

static void take(maker *m)
{
    uint32_t top = fresh(m), out = fresh(m), x = fresh(m), c = fresh(m), kind = draw(m, 4);
    if (m->locks && kind == 2) kind = 3;
    put(m, "jump l%u", top);
    label(m, top);
    if (kind == 0)
        put(m, "%%r%u = atomic_swap seq_cst i8 @a0, 0, 1", x);
    else if (kind == 1)
        put(m, "%%r%u = atomic_update exchange seq_cst i8 @a0, 1", x);
    else
        put(m, "%%r%u = %s", x, kind == 2 ? "try_lock @m0" : "sem_try @sem");
    put(m, "%%r%u = eq i%d %%r%u, 0", c, kind < 2 ? 8 : 32, x);
    put(m, "branch %%r%u, l%u, l%u", c, out, top);
    label(m, out);
    if (draw(m, 2)) put(m, "store i8 %s, @own%u", byte(m), m->thread);
    if (draw(m, 6) == 0) return; /* it is kept */
    if (kind < 2)
        put(m, "atomic_store seq_cst i8 0, @a0");
    else
        put(m, kind == 2 ? "%%r%u = unlock @m0" : "%%r%u = sem_post @sem", fresh(m));
}

/* A lock that is taken and given back, and the object that it protects. Nested in either order. */
typedef struct hold {
    const char *take, *read, *give, *object, *inner, *inner_end;
} hold;

static const hold HOLDS[] = {
    {"lock @m1", "lock @m1", "unlock @m1", "g0", NULL, NULL},
    {"write_lock @rw", "read_lock @rw", "rw_unlock @rw", "g1", NULL, NULL},
    {"atomic_begin", "atomic_begin", "atomic_end", "s", NULL, NULL},
    {"lock @m1", "lock @m1", "unlock @m1", "g0", "lock @m0", "unlock @m0"},
    {"lock @m0", "lock @m0", "unlock @m0", "g0", "lock @m1", "unlock @m1"},
};
enum { N_HOLDS = sizeof HOLDS / sizeof HOLDS[0] };

static void take_both(maker *m, const hold *h, bool reads)
{
    put(m, "%s", reads ? h->read : h->take);
    if (h->inner) put(m, "%s", h->inner);
}

static void give_both(maker *m, const hold *h)
{
    if (h->inner) put(m, "%s", h->inner_end);
    put(m, "%s", h->give);
}

/* Reads under a lock, or in an atomic section, until the value is there; sometimes writes too. */
static void spin_held(maker *m)
{
    const hold *h = &HOLDS[draw(m, N_HOLDS)];
    uint32_t top = fresh(m), out = fresh(m), x = fresh(m), c = fresh(m), y = fresh(m);
    put(m, "jump l%u", top);
    label(m, top);
    if (draw(m, 4) == 0) put(m, "yield");
    if (draw(m, 6) == 0) put(m, "%%r%u = atomic_load seq_cst i8 @a0", y);
    take_both(m, h, true);
    put(m, "%%r%u = load i8 @%s", x, h->object);
    give_both(m, h);
    put(m, "%%r%u = %s i8 %%r%u, %s", c, draw(m, 3) ? "eq" : "ne", x, byte(m));
    put(m, "branch %%r%u, l%u, l%u", c, out, top);
    label(m, out);
    m->value = x;
}

static void change_held(maker *m)
{
    const hold *h = &HOLDS[draw(m, N_HOLDS)];
    take_both(m, h, false);
    put(m, "store i8 %s, @%s", byte(m), h->object);
    bool section = *h->object == 's';
    if (section || draw(m, 12)) give_both(m, h); /* else it is kept */
}

/* Gives up after some rounds. */
static void count(maker *m)
{
    uint32_t top = fresh(m), more = fresh(m), out = fresh(m), i = fresh(m), j = fresh(m),
             x = fresh(m), c = fresh(m), d = fresh(m), r = fresh(m);
    put(m, "jump l%u(i8 0)", top);
    ft_strbuf_printf(&m->to.p->text, "  l%u(%%r%u: i8):\n", top, i);
    put(m, "%%r%u = atomic_load seq_cst i8 @a%u", x, draw(m, 2));
    put(m, "%%r%u = eq i8 %%r%u, %s", c, x, byte(m));
    put(m, "branch %%r%u, l%u(%%r%u), l%u", c, out, i, more);
    label(m, more);
    put(m, "%%r%u = add i8 %%r%u, 1", j, i);
    put(m, "%%r%u = eq i8 %%r%u, %u", d, j, 1 + draw(m, 6));
    put(m, "branch %%r%u, l%u(%%r%u), l%u(%%r%u)", d, out, j, top, j);
    ft_strbuf_printf(&m->to.p->text, "  l%u(%%r%u: i8):\n", out, r);
    put(m, "store i8 %%r%u, @own%u", r, m->thread);
}

/* Goes round without an action. */
static void circle(maker *m)
{
    uint32_t top = fresh(m), out = fresh(m), x = fresh(m), c = fresh(m);
    put(m, "jump l%u", top);
    label(m, top);
    put(m, "%%r%u = load i8 @own%u", x, m->thread);
    put(m, "%%r%u = eq i8 %%r%u, %s", c, x, byte(m));
    put(m, "branch %%r%u, l%u, l%u", c, out, top);
    label(m, out);
}

static void change(maker *m)
{
    static const char *const UPDATES[] = {"add", "exchange", "xor"};
    uint32_t r = fresh(m), k = draw(m, 2);
    if (draw(m, 2))
        put(m, "atomic_store seq_cst i8 %s, @a%u", byte(m), k);
    else
        put(m, "%%r%u = atomic_update %s seq_cst i8 @a%u, %s", r, UPDATES[draw(m, 3)], k, byte(m));
}

static void body(maker *m, uint32_t n, bool counts)
{
    put(m, "%%local = stack 1 1");
    for (; n; n--) {
        uint32_t kind = draw(m, 12);
        if (m->locks && draw(m, 2)) {
            if (kind < 6)
                change_held(m);
            else
                spin_held(m);
        } else if (kind < 5)
            change(m);
        else if (kind < 7)
            spin(m);
        else if (kind == 7)
            spin_long(m);
        else if (kind < 10)
            take(m);
        else if (kind == 10 && counts)
            count(m);
        else if (draw(m, 4) == 0)
            circle(m);
    }
}

static const char START[] =
    "program 1\n"
    "object @m0 40 align 8\nobject @m1 40 align 8\nobject @rw 56 align 8\n"
    "object @sem 32 align 8\n"
    "object @g0 8 align 8\nobject @g1 8 align 8\nobject @s 8 align 8\nobject @in 8\n"
    "object @a0 1\nobject @a1 1\n";

void ft_inputs_random_polls(uint64_t seed, inputs_program *p)
{
    *p = (inputs_program){0};
    maker m = {.to = {.p = p, .random = seed * UINT64_C(0x9e3779b97f4a7c15) + 7}};
    for (int i = 0; i < 3; i++) (void)draw(&m, 2);
    bool counts = draw(&m, 3) == 0;
    m.locks = draw(&m, 2);
    p->n_threads = draw(&m, 4) == 0 ? 3 : 2;
    p->n_inputs = draw(&m, 2);
    for (uint32_t k = 0; k < p->n_inputs; k++) p->bits[k] = 1 + draw(&m, 2);
    ft_strbuf_puts(&p->text, START);
    for (uint32_t t = 0; t < p->n_threads; t++)
        ft_strbuf_printf(&p->text, "object @own%u 8 align 8\n", t);
    for (m.thread = 1; m.thread < p->n_threads; m.thread++) {
        ft_strbuf_printf(&p->text, "function @t%u(%%argument: i64) -> i64 {\n  start:\n", m.thread);
        m.value = 0;
        body(&m, 1 + draw(&m, p->n_threads > 2 ? 2 : 4), counts);
        ft_strbuf_puts(&p->text, "    return i64 0\n}\n");
    }
    m.thread = 0;
    m.value = 0;
    ft_strbuf_puts(&p->text, "function @main() -> i32 {\n  start:\n");
    put(&m, "sem_init @sem, %u", draw(&m, 2));
    if (p->n_inputs) {
        uint32_t r = fresh(&m), b = fresh(&m);
        put(&m, "%%r%u = input \"a\" i%u", r, p->bits[0]);
        put(&m, "%%r%u = zext i8 %%r%u", b, r);
        put(&m, "store i8 %%r%u, @in", b);
        /* every value is an execution of its own, also where threads go round for ever */
        put(&m, "%%wide = zext i64 %%r%u", b);
        put(&m, "output 1, @g0, %%wide");
        m.value = b;
    }
    for (uint32_t t = 1; t < p->n_threads; t++) put(&m, "%%thread%u = create @t%u, 0", t, t);
    body(&m, draw(&m, 4), counts);
    for (uint32_t t = 1; t < p->n_threads; t++) put(&m, "%%joined%u = join %%thread%u", t, t);
    put(&m, "return i32 0");
    ft_strbuf_puts(&p->text, "}\n");
}
